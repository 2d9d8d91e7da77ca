/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nand.h - the flash device as an FTL sees it.
 *
 * Addresses are flat: ppn = pbn * pages_per_block + page, and
 *   pbn = ((((channel * chips + chip) * dies + die) * planes) + plane) * blocks + block.
 * Channel, die and plane are derived (nand_geom.h); nobody stores them.
 *
 * Time is ns since power-on, passed in by the caller, never read from a clock,
 * and never decreasing between calls. submit() applies the effect at once and
 * says when it will have finished, so that one code path serves QEMU (arm a
 * timer), a trace replayer (jump) and a fuzzer (any times).
 *
 * A die executes one command group at a time and queues nothing: commands for
 * a busy die are a violation (R8). What waits, waits in the FTL, where
 * priorities are decided. A channel moves one transfer at a time; it is booked
 * first come, first served, and a transfer may use a gap before one that was
 * booked for later.
 *
 *   read     command cycles (bus), cell, transfer out (bus); done when the
 *            transfer ends. The die's page register holds the data until
 *            then, so the die stays busy.
 *   program  command cycles and transfer in (bus), cell; done with the cell.
 *   erase    command cycles (bus), cell.
 *   group    of one die, distinct planes: transfers one after another, in the
 *            order of the commands; cells together, as long as the slowest.
 *
 * Rules. Breaking one is a bug in the FTL: every command of the call gets
 * NAND_VIOLATION, nothing changes, and the violation hook hears the rule:
 *   R0  the address exists and the operation is known;
 *   R1  a page is programmed once between erases;
 *   R2  pages of a block are programmed in ascending order;
 *   R3  a bad block is neither programmed nor erased;
 *   R4  a partial erase names a PB of 1 .. 2^(L+1)-1 (so far only 1, the block);
 *   R5  a parallel erase names distinct blocks of one plane, at most
 *       erase_group_max (so far 1);
 *   R6  a group names one die, distinct planes, one operation;
 *   R7  a sub-page read names existing ECC words (so far: all, or the spare area);
 *   R8  the die is idle and the array has power;
 *   R9  a block whose erase was cut short is erased before it is programmed.
 *
 * Power cut at time T. A command with done_ns <= T is durable. One whose cell
 * phase had not begun by T left no trace. One in between is torn:
 *   program  the page reads NAND_UNCORR or its new data;
 *   erase    each page reads its old data, NAND_UNCORR or NAND_ERASED;
 * which of them, the cut's seed decides, and it stays so.
 *
 * Threads: one caller at a time per array. Memory: the caller's, once.
 */
#ifndef SLATE_NAND_H
#define SLATE_NAND_H

#include "err.h"
#include "port.h"

/* One-member structs: mixing two kinds of address does not compile. */
typedef struct { uint32_t v; } ppn_t;	/* physical page number */
typedef struct { uint32_t v; } pbn_t;	/* physical block number */

struct nand_geometry {
	uint32_t channels;		/* 1 .. 64 */
	uint32_t chips_per_channel;	/* 1 .. 64 */
	uint32_t dies_per_chip;		/* 1 .. 16 */
	uint32_t planes_per_die;	/* 1 .. 8 */
	uint32_t blocks_per_plane;	/* 4 .. 2^20 */
	uint32_t pages_per_block;	/* 2 .. 65536 */
	uint32_t page_bytes;		/* 512 .. 65536, user bytes without OOB */
	uint32_t oob_bytes;		/* spare area per page; it travels with the data */
	uint32_t oob_kept;		/* of these, what the FTL uses and the array stores */
	uint32_t ecc_word_bytes;	/* unit of a sub-page read */
	uint32_t pb_levels;		/* L: a block splits L times; 0: no partial erase */
	uint32_t erase_group_max;	/* blocks of one plane in one erase; 1: no parallel erase */
};

struct nand_timing {			/* all in ns */
	uint32_t cmd_ns;		/* command and address cycles, on the bus */
	uint32_t read_ns;		/* t_R: cell to page register */
	uint32_t program_ns;		/* t_PROG */
	uint32_t erase_ns;		/* t_BERS */
	uint32_t bus_ps_per_byte;	/* picoseconds per byte; OOB bytes travel too */
};

enum nand_status {
	NAND_OK,
	NAND_CORRECTED,			/* data good, relocate soon */
	NAND_ERASED,			/* read of an unprogrammed page */
	NAND_UNCORR,			/* data lost */
	NAND_PROG_FAIL,			/* retire the block */
	NAND_ERASE_FAIL,		/* retire the block */
	NAND_VIOLATION,			/* a rule was broken: nothing was done */
};

enum nand_op { NAND_READ, NAND_PROGRAM, NAND_ERASE, NAND_NOPS };

/* Who asked: for accounting and attribution, never for logic. */
enum nand_source {
	NAND_SRC_HOST, NAND_SRC_GC, NAND_SRC_WL, NAND_SRC_META, NAND_SRC_BACKUP,
	NAND_NSOURCES
};

#define NAND_WHOLE_PAGE 0xffffffffu	/* nand_cmd.ecc_words: every word, and the spare area */
#define NAND_OOB_ONLY 0u		/* the spare area alone */
#define NAND_WHOLE_BLOCK 1u		/* nand_cmd.pb: the root of the PB tree */

struct nand_cmd {
	enum nand_op op;
	enum nand_source source;
	ppn_t ppn;			/* READ, PROGRAM; ERASE: first page of the block */
	uint32_t ecc_words;		/* READ: bitmap of wanted ECC words, or NAND_OOB_ONLY */
	uint32_t pb;			/* ERASE: PB index */
	const void *data;		/* PROGRAM: page_bytes; NULL keeps no payload */
	void *oob;			/* oob_kept bytes, or NULL */

	enum nand_status status;	/* out */
	const void *page;		/* out, READ: page_bytes in the die's page register, good
					 * until the next command for the die; NULL: nothing
					 * readable, or programmed without payload */
	uint64_t start_ns;		/* out: the die began (always now_ns) */
	uint64_t done_ns;		/* out: always > now_ns */
	uint64_t cell_ns;		/* out: these four add up to done_ns - start_ns */
	uint64_t bus_ns;		/* out: own command cycles and transfers */
	uint64_t wait_host_ns;		/* out: waiting for the bus, held by host I/O */
	uint64_t wait_gc_ns;		/* out: waiting for the bus, held by anything else */
};

enum nand_rule {
	NAND_R0, NAND_R1, NAND_R2, NAND_R3, NAND_R4,
	NAND_R5, NAND_R6, NAND_R7, NAND_R8, NAND_R9, NAND_NRULES
};

struct nand_stats {
	uint64_t ops[NAND_NOPS][NAND_NSOURCES];	/* pages; ERASE: blocks */
	uint64_t violations[NAND_NRULES];
	uint64_t uncorrectable;		/* reads that returned NAND_UNCORR */
	uint64_t program_fails, erase_fails;
	uint64_t die_busy_ns[NAND_NSOURCES];	/* summed over dies */
	uint64_t bus_busy_ns[NAND_NSOURCES];	/* summed over channels */
	uint64_t programmed_pages;	/* now, in the whole array */
	uint64_t erase_count_max, erase_count_sum;	/* over all blocks */
};

struct nand;

struct nand_ops {
	/* Commands of one call start together: count > 1 is a multi-plane group. */
	void (*submit)(struct nand *n, uint64_t now_ns, struct nand_cmd *cmds, unsigned int count);
	/* When the die's current command ends; <= now: idle. */
	uint64_t (*die_ready_ns)(const struct nand *n, uint32_t die);
	bool (*is_bad)(const struct nand *n, pbn_t b);
	void (*mark_bad)(struct nand *n, pbn_t b);
	uint32_t (*erase_count)(const struct nand *n, pbn_t b);
	void (*get_stats)(const struct nand *n, struct nand_stats *out);
	void (*reset_stats)(struct nand *n);
	/* What a cell holds, without a command or time: for checkers, not for FTLs. */
	enum nand_status (*peek)(const struct nand *n, ppn_t p, const void **data, const void **oob);
};

/* Embedded in the implementation's struct; ssd_container_of() leads back. */
struct nand {
	const struct nand_ops *ops;
	struct nand_geometry geo;
};

static inline void nand_submit(struct nand *n, uint64_t now_ns, struct nand_cmd *cmds,
			       unsigned int count)
{
	n->ops->submit(n, now_ns, cmds, count);
}

#endif
