/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * array_impl.h - the array's state, for the files that implement it:
 *
 *   array.c    submit: rules, then time, then effects; statistics
 *   power.c    power cuts
 *   plain.c    a fast path for the most common calls
 *   rules.c    R0 and R3 to R11: may this group be executed?
 *   order.c    R1 and R2: which page of a block may be programmed next
 *   timing.c   when the parts of a group happen
 *   cells.c    the state of pages: erases, disturbance
 *   content.c  what a page holds: payload or forms, checksums
 *   spare.c    spare areas of large drives in memory, packed
 *   physics.c  raw errors, wear and energy
 *   image.c    the layout in memory; validation; copying
 *   image_check.c  checks whether an array can have left an image
 *
 * Dependencies: array.c on all others, power.c on array.c, rules.c on order.c, plain.c and cells.c on
 * content.c, plain.c on bus.c.
 *
 *   page    ERASED -> GOOD or FORM (program) -> ERASED (erase)
 *           GOOD, FORM -> LOST (torn or failed program, torn erase, disturbed,
 *           paired) -> ERASED (erase)
 *   PB      good -> torn (an erase was cut short or failed) -> good (erase)
 *
 * Invariants, kept by every call:
 *   A1  in order ASCENDING, pages at or after a smallest PB's `next` are
 *       ERASED, unless it is torn; FPS, RPS: pages of type t on word lines at
 *       or after wl[t];
 *   A2  with payload, the content of a GOOD or FORM page's unit is at its physical place, or what its
 *       form says (content.c); a FORM page has no stored unit, and a LOST page stored ones only, once
 *       page_lose() has ended; with sums, both of a GOOD or FORM page's checksums are right, unless
 *       something else changed the image;
 *   A3  programmed_pages == pages that are not ERASED;
 *   A4  now_ns never decreases;
 *   A5  the effects of a program or erase that has not ended can be undone from the die's flights:
 *       a program has set its page and moved `next`, an erase has no effect before its end (it then
 *       empties its cells and is counted).
 *
 * If a shell is killed, the image is opened as after a power cut. So flights are written before
 * their effects, and effects at the end of a command (die_settle) can be repeated.
 */
#ifndef SLATE_ARRAY_IMPL_H
#define SLATE_ARRAY_IMPL_H

#include "array.h"
#include "bus.h"
#include "fxp.h"
#include "nand_geom.h"
#include "spare.h"

enum cell { CELL_ERASED, CELL_GOOD, CELL_LOST, CELL_FORM };

enum pb_flag {
	PB_TORN = 1,			/* torn (R9) */
	PB_EDGE_BELOW = 2,		/* its first program disturbs the smallest PB below, */
	PB_EDGE_ABOVE = 4,		/* and the one above */
};

/* ---- the image: little-endian machines, no padding, no pointers ------------ */

struct img_head {
	uint64_t used;			/* not blank: the following fields are valid */
	uint64_t now_ns;		/* time since power-on (A4) */
	uint64_t age_ns;		/* device time before this power-on */
	uint64_t erase_commands;	/* erase commands that ended, over all blocks */
	uint64_t cuts;			/* power cuts so far, used as seed at the next opening */
	uint64_t note[NAND_NOTES];	/* numbers kept for the owner */
	uint8_t own[NAND_OWN_BYTES];	/* and bytes */
};

struct img_flight {			/* one command under way */
	uint32_t ppn;
	uint32_t pb;			/* ERASE: PB; PROGRAM, COPYBACK: disturbance_plan() */
	uint32_t prev_next;		/* PROGRAM: value to restore if it is undone */
	uint32_t failed;
};

struct img_die {
	uint64_t ready_ns;
	uint64_t cell_start_ns;		/* a cut at or before this time leaves no trace */
	uint64_t reads_until_ns;	/* end of the reads of the last suspension */
	uint32_t op;			/* enum nand_op of the flights */
	uint32_t count;			/* number of flights; a read has none */
	uint32_t suspends;
	uint32_t source;
};

struct img_pb {				/* counters of a smallest PB */
	uint32_t erases;
	union {
		uint32_t next;		/* NONE, ASCENDING: above the highest programmed page, */
		uint16_t wl[NAND_TYPES_MAX];	/* FPS, RPS: next word line of each page type */
	};				/* `next` and `wl` count within the smallest PB */
	uint8_t disturbs;
	uint8_t flags;
	uint16_t unused;
};

struct img_age {			/* age of a smallest PB, if errors are modelled */
	uint64_t programmed_ns;		/* first program after its erase; device time */
	uint64_t reads;
};

struct img_sum {			/* checksums of a page that is GOOD or FORM: CRC-32C, xor sum_place() */
	uint32_t oob;			/* of the oob_kept bytes */
	uint32_t content;		/* of its stored units, and its forms unless all units are stored */
};

#define BLOCK_BAD 1u
#define BLOCK_SLC 2u			/* programmed in SLC mode since its last erase */

/* ---- the running array ------------------------------------------------------ */

struct busy {
	uint64_t ns[NAND_NSOURCES];
};

struct nand_array {
	struct nand base;
	struct nand_array_config c;
	struct nand_hooks hooks;
	struct nand_stats stats;
	bool powered;
	bool plain;			/* result of plain_possible() at present */
	bool bads;			/* some block is BLOCK_BAD */
	bool slcs;			/* the array has SLC mode, or some block is BLOCK_SLC */
	bool from_outside;		/* set by nand_array_from_outside() */
	bool ends_suffice;		/* set by nand_array_ends_suffice() */

	uint32_t pages;			/* derived from the geometry: pages of the array, */
	uint32_t pb_pages;		/* pages of a smallest PB, */
	uint32_t pbs;			/* smallest PBs of a block, */
	uint32_t unit_bytes;		/* units in which content is kept (content.c): their size, */
	uint32_t units;			/* their number in a page, */
	uint32_t ecc_words;		/* ECC words of a page, */
	uint32_t all_words;		/* mask with a bit for each of them, */
	bool energy;			/* any of the profile's energies is not 0, */
	uint32_t group_max;		/* maximum number of flights of a die, */
	uint64_t page_bus_bytes;	/* bytes transferred for a whole page, */
	uint64_t page_bus_ns;		/* and the time of that transfer, */
	uint64_t spare_bus_bytes;	/* the same for a spare area alone */
	uint64_t spare_bus_ns;
	struct fxp_div by_block_pages, by_plane_blocks, by_planes, by_channel_dies, by_types,
		by_pb_pages, by_die_pages, by_channel_pages;

	struct img_head *head;		/* start of the image */
	struct img_die *die;
	struct img_flight *flight;	/* group_max flights for each die */
	uint32_t *block;		/* flags of each block: BLOCK_BAD */
	struct img_pb *pb;
	struct img_age *age;		/* NULL: errors are not modelled */
	uint8_t *carried;		/* errors carried by copybacks; NULL: no copyback or no errors */
	uint8_t *cells;			/* enum cell, two bits a page */
	uint8_t *oob;			/* NULL: spare areas are packed, in `spares` */
	uint8_t *old_fill;		/* with payload: byte of each FORM page in a file of format 2, else unused */
	struct img_sum *sum;		/* NULL: no checksums */
	uint8_t *payload;		/* NULL: no payload */
	uint64_t *form;			/* with payload: the form of each unit of each page */

	struct bus *bus;		/* bookings of each channel */
	struct busy *bus_busy, *die_busy;
	uint64_t *plane_read_ns;	/* with plane_reads: end of each plane's last read, */
	uint64_t *suspended_ns;		/* and time at which each die's last suspension lets reads begin */
	uint8_t *reg;			/* page registers, a page for each plane */
	uint64_t *reg_form;		/* forms of the registers' units */
	struct spares spares;
};

struct place {				/* location of a page */
	uint32_t ppn, page, block, plane, die;
	uint32_t pb;			/* smallest PB, numbered over the whole array */
	uint32_t pb_page;		/* page within that PB */
	bool slc;			/* the block is in SLC mode, or is programmed in it now */
};

static inline struct place place_of(const struct nand_array *a, uint32_t ppn)
{
	struct place p;

	p.ppn = ppn;
	p.block = fxp_quotient(a->by_block_pages, ppn);
	p.page = ppn - p.block * a->by_block_pages.d;
	p.plane = fxp_quotient(a->by_plane_blocks, p.block);
	p.die = fxp_quotient(a->by_planes, p.plane);
	p.slc = a->slcs && a->block[p.block] & BLOCK_SLC;
	if (a->pbs == 1) {
		p.pb = p.block;
		p.pb_page = p.page;
	} else {
		uint32_t k = fxp_quotient(a->by_pb_pages, p.page);

		p.pb = p.block * a->pbs + k;
		p.pb_page = p.page - k * a->pb_pages;
	}
	return p;
}

static inline uint32_t page_type(const struct nand_array *a, uint32_t page)
{
	return a->by_types.d > 1 ? page - fxp_quotient(a->by_types, page) * a->by_types.d : 0;
}

static inline uint32_t place_type(const struct nand_array *a, const struct place *p)
{
	return p->slc ? 0 : page_type(a, p->page);
}

static inline uint32_t word_line(const struct nand_array *a, const struct place *p)
{
	return p->slc ? p->page : fxp_quotient(a->by_types, p->page);
}

static inline bool programs(const struct nand_cmd *c)
{
	return c->op == NAND_PROGRAM || c->op == NAND_COPYBACK;
}

/* Is a read of the die under way, alone or while it suspends a group? */
static inline bool die_reads(const struct img_die *d, uint64_t now_ns)
{
	return now_ns < (d->count ? d->reads_until_ns : d->ready_ns);
}

/* Returns the number of pages of a block in SLC mode, which has one for each word line. */
static inline uint32_t slc_pages(const struct nand_array *a)
{
	return a->base.geo.pages_per_block / a->base.geo.bits_per_cell;
}

static inline struct img_flight *flights_of(const struct nand_array *a, uint32_t die)
{
	return a->flight + (size_t)die * a->group_max;
}

static inline enum cell cell_get(const struct nand_array *a, uint32_t ppn)
{
	return (enum cell)((a->cells[ppn >> 2] >> (ppn & 3u) * 2u) & 3u);
}

static inline void cell_set(struct nand_array *a, uint32_t ppn, enum cell to)
{
	uint32_t shift = (ppn & 3u) * 2u;

	a->cells[ppn >> 2] = (uint8_t)((a->cells[ppn >> 2] & ~(3u << shift)) | (uint32_t)to << shift);
}

static inline bool cell_readable(enum cell k)
{
	return k == CELL_GOOD || k == CELL_FORM;
}

/* Returns the place of a page's content; only with payload. */
static inline uint8_t *page_payload(const struct nand_array *a, uint32_t ppn)
{
	return a->payload + (size_t)ppn * a->base.geo.page_bytes;
}

/* Returns a page's spare area, valid until the next call. */
static inline const void *oob_of(struct nand_array *a, uint32_t ppn)
{
	uint32_t block;

	if (SSD_LIKELY(a->oob != NULL))
		return a->oob + (size_t)ppn * a->base.geo.oob_kept;
	block = fxp_quotient(a->by_block_pages, ppn);
	return spares_get(&a->spares, block, ppn - block * a->by_block_pages.d);
}

/* Mark an erased page as programmed. */
static inline void page_mark(struct nand_array *a, uint32_t ppn, enum cell to)
{
	cell_set(a, ppn, to);
	a->stats.programmed_pages++;
}

/* Count bits without calling the compiler's library. */
static inline uint32_t bits_set(uint32_t v)
{
	v -= v >> 1 & 0x55555555u;
	v = (v & 0x33333333u) + (v >> 2 & 0x33333333u);
	return ((v + (v >> 4)) & 0x0f0f0f0fu) * 0x01010101u >> 24;
}

/* Keep the compiler from moving stores to the image across this point. */
static inline void image_order(void)
{
	__asm__ volatile("" ::: "memory");
}

static inline uint64_t device_age_ns(const struct nand_array *a)
{
	return a->head->age_ns + a->head->now_ns;
}

/* Returns the level of partial block pb: 0 is the whole block. */
static inline uint32_t pb_level(uint32_t pb)
{
	return 31u - (uint32_t)__builtin_clz(pb);
}

/* Returns the number of pages of partial block pb. */
static inline uint32_t pb_span(const struct nand_array *a, uint32_t pb)
{
	return a->base.geo.pages_per_block >> pb_level(pb);
}

/* Returns the first page of partial block pb, counted in the block. */
static inline uint32_t pb_first(const struct nand_array *a, uint32_t pb)
{
	return (pb - (1u << pb_level(pb))) * pb_span(a, pb);
}

/* Does the order of pages count each page type for itself (order.c)? */
static inline bool by_word_line(const struct nand_array *a)
{
	return a->base.geo.order == NAND_ORDER_FPS || a->base.geo.order == NAND_ORDER_RPS;
}

/*
 * Returns the counter that a program of p increments: that of the PB, or that of the PB's pages of
 * one type.
 */
static inline uint32_t order_next(const struct nand_array *a, const struct place *p)
{
	const struct img_pb *b = &a->pb[p->pb];

	return by_word_line(a) ? b->wl[place_type(a, p)] : b->next;
}

static inline void order_set_next(struct nand_array *a, const struct place *p, uint32_t next)
{
	if (by_word_line(a))
		a->pb[p->pb].wl[place_type(a, p)] = (uint16_t)next;
	else
		a->pb[p->pb].next = next;
}

static inline void order_advance(struct nand_array *a, const struct place *p)
{
	uint32_t next = order_next(a, p);

	if (by_word_line(a))
		order_set_next(a, p, next + 1);
	else if (p->pb_page >= next)
		order_set_next(a, p, p->pb_page + 1);
}

/* rules.c: the caller has checked the addresses and settled what has ended. */
/* May these commands begin on a busy die: as reads that suspend its group, or beside other reads? */
bool may_interpose(const struct nand_array *a, uint64_t now_ns, const struct place *at,
		   const struct nand_cmd *c, unsigned int count);
enum nand_rule rule_broken(const struct nand_array *a, uint64_t now_ns, const struct place *at,
			   const struct nand_cmd *c, unsigned int count);

/* order.c: does R2 allow a program of this erased page, where the order is FPS or RPS? */
bool order_allows_word_line(const struct nand_array *a, const struct place *p);

/*
 * timing.c: set the times of a group that starts now. The errors and retries of reads are already
 * known.
 */
void time_group(struct nand_array *a, uint64_t now_ns, const struct place *at, struct nand_cmd *c,
		unsigned int count, uint64_t *cell_start_ns);
/* Returns the bytes that a command moves over the bus. */
uint64_t user_bytes_read(const struct nand_array *a, const struct nand_cmd *c);	/* of a READ */
uint64_t bus_bytes(const struct nand_array *a, const struct nand_cmd *c);

/*
 * plain.c: can it execute calls of this array? If so, it executes a call or passes it on to
 * array_submit_any().
 */
bool plain_possible(const struct nand_array *a);
void plain_read(struct nand_array *a, uint64_t now_ns, struct nand_cmd *c);	/* one page */
void plain_read_planes(struct nand_array *a, uint64_t now_ns, struct nand_cmd *c, unsigned int count);
void plain_program(struct nand_array *a, uint64_t now_ns, struct nand_cmd *c, unsigned int count);
/* array.c: make the effects of the die's last group final, after it has ended. */
void die_settle(struct nand_array *a, uint32_t die);
/* array.c: mark the smallest PBs that partial block `pb` of the block covers as torn. */
void pb_tear(struct nand_array *a, uint32_t block, uint32_t pb);
/* array.c: execute any call. */
void array_submit_any(struct nand_array *a, uint64_t now_ns, struct nand_cmd *c, unsigned int count);
/* physics.c: add the energy of a command that took effect; called only if the profile has energies. */
void count_energy(struct nand_array *a, const struct nand_cmd *c, uint32_t type);

/* content.c */
/* Store a page's content; its OOB is already stored. Without payload, call only page_mark(). */
void page_store(struct nand_array *a, uint32_t ppn, const void *data);
const void *page_content(struct nand_array *a, const struct place *p);
/* Copy a page's content and, with oob_too, its OOB with the checksum; else the caller has stored a new OOB. */
void page_copy(struct nand_array *a, uint32_t to, uint32_t from, bool oob_too);
/* Copy the content of a page that is not ERASED, also between two arrays of one geometry. */
void page_copy_content(struct nand_array *dst, uint32_t to, const struct nand_array *src, uint32_t from);
/*
 * With sums, for a page that is GOOD or FORM: do its OOB and, if requested, its content match their
 * checksums?
 */
bool page_matches(const struct nand_array *a, uint32_t ppn, bool content);
/*
 * Upgrade an image of format 2: give each unit of a FORM page the form of the byte that format 2 kept for the page. A
 * page that did not match its checksum still does not.
 */
void page_upgrade(struct nand_array *a, uint32_t ppn);
/* Compute the checksums of a page that is GOOD or FORM. */
void page_seal(struct nand_array *a, uint32_t ppn);
/* Destroy the page's data: bits flip, and reads report an error. */
void page_lose(struct nand_array *a, uint32_t ppn);

/* cells.c */
/* Empty n pages from ppn on, and discard their content. */
void pages_wipe(struct nand_array *a, uint32_t ppn, uint32_t n);
void pb_erase(struct nand_array *a, uint32_t block, uint32_t pb);
/*
 * Compute the number of disturbances that the PBs below and above will have had after a program of
 * p; 0: it does not disturb that PB. The flight stores absolute counts, so that a repetition
 * changes nothing.
 */
uint32_t disturbance_plan(const struct nand_array *a, const struct place *p);
void disturb_neighbours(struct nand_array *a, const struct place *p, uint32_t plan);

/* physics.c */
void read_errors(struct nand_array *a, const struct place *p, struct nand_cmd *c, uint32_t flips);
bool wear_fails(const struct nand_array *a, uint32_t block, uint32_t erases, enum nand_op op);

/* image.c. image_look() only locates the tables for reading; it writes nothing to the image. */
void image_look(struct nand_array *a, const struct nand_array_config *c, const void *image);
void image_attach(struct nand_array *a, void *mem, void *image);
/* Recount the levels of the statistics, and find out whether there are bad blocks. */
void image_count(struct nand_array *a);

#endif
