/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * array.h - the NAND array in memory: the implementation of nand.h, and the calls that only its owner
 * (a shell or a test) may use: to build it, cut its power, plan faults and copy it.
 *
 * It has two pieces of memory. `mem` is the running array: statistics, bus calendars, hooks. The
 * *image* is everything that flash holds, with the commands in flight: cells, OOB, wear, payload. The
 * image has no pointers, so it may be a mapped file. If a shell is killed at any instruction,
 * init() opens the image as after a power cut (an erase that was just ending may count twice in its
 * blocks' wear, and the time since power-on twice in its age). An image of zeroes is a blank array.
 *
 * Layout of the image (SPEC.md), each part aligned to 4096 bytes, in this order: head, dies, flights,
 * blocks, smallest PBs, (with errors) their ages and (with copyback) the errors that copybacks
 * copied, page states, OOB; with payload: a gap of a byte per page (format 2 of the file had a table
 * there), with sums the checksums, then the pages at their physical place, and the forms of their
 * units (content.c). In a sparse file or lazily mapped memory a unit takes room among the pages only
 * when it is programmed with content that no formula makes.
 *
 * Footprint: a page takes 2 bits and oob_kept bytes, or less if spare areas are packed (+ 8 for each unit with payload,
 * + 8 with sums, + 1 with copyback and errors); a smallest PB 16 bytes, with errors 32; a block 4, packed 132.
 */
#ifndef SLATE_ARRAY_H
#define SLATE_ARRAY_H

#include "nand.h"

struct nand_array;

struct nand_array_config {
	struct nand_geometry geo;
	struct nand_timing timing;
	struct nand_energy energy;
	struct nand_physics physics;
	bool payload;			/* keep the content of pages */
	bool sums;			/* keep checksums of content and OOB (cells.c) */
	bool owners;			/* tell owners apart (nand_cmd.wait_others_ns) */
	/*
	 * 0: spare areas are kept byte for byte. Else they are packed (spare.h), which takes less memory and more
	 * time, and most addresses in them are below this. nand_array_packs() must allow it.
	 */
	uint32_t packed_addresses;
};

/* Calls from the array to its owner. Any pointer may be NULL. */
struct nand_hooks {
	void *opaque;
	/* A rule was broken. */
	void (*violation)(void *opaque, enum nand_rule rule, const struct nand_cmd *cmd);
	/*
	 * The array calls this before each command takes effect. Returns NAND_OK, or the failure to simulate:
	 * NAND_PROG_FAIL (PROGRAM, COPYBACK), NAND_ERASE_FAIL (ERASE), NAND_UNCORR or
	 * NAND_CORRECTED (READ).
	 */
	enum nand_status (*fault)(void *opaque, const struct nand_cmd *cmd);
	/*
	 * Returns the number of wrong bits in each ECC word of a page, in addition to its raw
	 * errors. Called for each read of a page that holds data; ecc_bits decides whether they can
	 * be corrected. A retry does not reduce them.
	 */
	uint32_t (*flips)(void *opaque, ppn_t page);
	/* The array calls this function after the commands of a submit() took effect. */
	void (*done)(void *opaque, uint64_t now_ns, const struct nand_cmd *cmds,
		     unsigned int count);
	/*
	 * The array calls this before a page's content is stored at this offset of the image, so that the owner can
	 * reserve memory first.
	 */
	void (*reserve)(void *opaque, uint64_t offset);
	/*
	 * `bytes` bytes of the image from offset on are no longer used (pages of an erased block): the
	 * owner may free their memory. They need not read as zeroes afterwards.
	 */
	void (*discard)(void *opaque, uint64_t offset, uint64_t bytes);
};

/* Returns SSD_OK, or SSD_E_INVAL with *why naming the field, the range and the fix. */
int nand_array_validate(const struct nand_array_config *c, const char **why) SSD_MUST_CHECK;
/* Can this array's spare areas be packed? */
bool nand_array_packs(const struct nand_array_config *c);
/* These functions return the bytes of mem, and of the image. */
size_t nand_array_footprint(const struct nand_array_config *c);
size_t nand_array_image_bytes(const struct nand_array_config *c);
/* Return the bytes of the image before the payload, and behind it (0 without payload). They are always used. */
size_t nand_array_table_bytes(const struct nand_array_config *c);
size_t nand_array_form_bytes(const struct nand_array_config *c);
/*
 * Turn a checked image of format 2 into one of the present format: the bytes of pages filled with one byte
 * become forms. The image already has its new size, with zeroes at the end. A repetition changes nothing.
 */
void nand_array_upgrade(const struct nand_array_config *c, void *image);
/*
 * Return SSD_E_CORRUPT if an array of that config cannot have left this image; *why names the table
 * and the fault. A shell calls it before it uses an image from a file. It checks every number of
 * the tables. The FTL checks what the FTL wrote (OOB, pages).
 */
int nand_array_check_image(const struct nand_array_config *c, const void *image,
			   const char **why) SSD_MUST_CHECK;
/*
 * Make an array. mem: footprint() zeroed bytes. image: image_bytes() bytes, zeroed or left by an array of the same
 * config (geometry, payload and sums; timing may differ). A used image is treated as if its power
 * had been cut at the last time passed to submit() or nand_array_passed(). The array is powered, at
 * time 0.
 */
struct nand *nand_array_init(void *mem, void *image, const struct nand_array_config *c);
/* Do the same with hooks, which are set before that power cut is processed, because it may store pages. */
struct nand *nand_array_take_up(void *mem, void *image, const struct nand_array_config *c,
				const struct nand_hooks *h);
struct nand_array *nand_array_of(struct nand *n);
/*
 * Declare that the image came from a file that other programs may have written. Its OOB may contradict
 * its cells, and an FTL that relies on the OOB then programs pages that cannot be programmed. From
 * here on such a program (R1, R2, R9) fails with NAND_PROG_FAIL, as a page fails, and also counts as a
 * violation.
 */
void nand_array_from_outside(struct nand_array *a);

/*
 * While `suffice` is set, a unit of content whose first two words and whose last one are those of a progression by
 * FORM_STEP (form.h) is taken for that progression, whatever is between. Reads return all of it.
 */
void nand_array_ends_suffice(struct nand_array *a, bool suffice);

void nand_array_set_hooks(struct nand_array *a, const struct nand_hooks *h);
const struct nand_hooks *nand_array_hooks(const struct nand_array *a);

/* Commands under way are counted by operation. Reads are not counted, because they change nothing. */
struct nand_in_flight {
	uint32_t begun[NAND_NOPS];	/* commands in their cell phase, which a cut would tear */
	uint32_t waiting[NAND_NOPS];	/* commands before their cell phase, of which a cut leaves no trace */
};
/* Count the commands that a power cut at at_ns would interrupt. */
void nand_array_in_flight(const struct nand_array *a, uint64_t at_ns, struct nand_in_flight *out);
/*
 * Cut the power at at_ns >= the last submit's now_ns. seed selects the content of torn cells.
 * Afterwards every submit is a violation of R8 until power_on().
 */
void nand_array_power_cut(struct nand_array *a, uint64_t at_ns, uint64_t seed);
/*
 * Let the controller lose its memory at at_ns >= the last submit's now_ns, while the array keeps its power. Commands in
 * their cell phase end, so no page is torn; commands before it leave no trace. Afterwards the array is as after a power
 * cut, until nand_array_power_on(). The image does not record which of the two a cut is, so if the shell is killed in
 * this call, the image is taken up as after a power cut at at_ns, which may tear those pages.
 */
void nand_array_controller_lost(struct nand_array *a, uint64_t at_ns);
/*
 * Turn the power on: every die is idle, and time restarts at 0. An array that is powered loses its
 * power first.
 */
void nand_array_power_on(struct nand_array *a);
/* Returns the number of power cuts in the image's life; the end of a killed shell counts as one. */
uint64_t nand_array_cuts(const struct nand_array *a);
/* An image keeps these numbers for the owner of the array; they are 0 at first. */
#define NAND_NOTES 7u
uint64_t *nand_array_notes(struct nand_array *a);
/* It also keeps these bytes, aligned to 8, which are 0 at first. The array does not check them. */
#define NAND_OWN_BYTES 4000u
void *nand_array_own(struct nand_array *a);
/*
 * Tell the array that time has advanced to now_ns. Commands that end by then count as ended, also
 * if the image is opened again after its shell was killed. A shell calls this before it reports a
 * completion.
 */
void nand_array_passed(struct nand_array *a, uint64_t now_ns);
uint64_t nand_array_now_ns(const struct nand_array *a); /* the time of the last submit() or nand_array_passed() */
/* Advance the drive's age by ns without power: dies are idle, and retention errors accumulate. */
void nand_array_age(struct nand_array *a, uint64_t ns);

/* Call the discard hook for every smallest PB without programmed pages. */
void nand_array_discard_blank(struct nand_array *a);

/* Return the time that the die (channel) was busy for `source` since the last reset of statistics. */
uint64_t nand_array_die_busy_ns(const struct nand_array *a, uint32_t die, enum nand_source s);
uint64_t nand_array_bus_busy_ns(const struct nand_array *a, uint32_t channel, enum nand_source s);

/*
 * Make dst (same config, own memory) equal to src, including commands in flight. The hooks of dst
 * stay.
 */
void nand_array_copy(struct nand_array *dst, const struct nand_array *src);

#endif
