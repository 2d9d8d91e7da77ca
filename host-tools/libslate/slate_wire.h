/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slate_wire.h - a drive's vendor log pages and vendor admin commands over NVMe. SPEC.md's part on
 * controls is made from it. It needs only <stdint.h> and the tables of counters, so that programs
 * in a guest can use it without libslate.
 *
 * All numbers are little-endian; structures have no padding except named members. A log's version
 * is increased when an old reader would misread the log. Without a new version, reserved bytes may
 * get a meaning in which 0 is the previous state, groups of counters and entries may grow at their
 * ends (readers use the counts and the entry_bytes in the log), and text or entries may be appended
 * to a log.
 */
#ifndef SLATE_WIRE_H
#define SLATE_WIRE_H

#include <stdint.h>

#include "ftl_counters.h"
#include "nand_counters.h"

/* ---- log pages (Get Log Page, of a namespace) -------------------------------------- */

/* IDs start at 0xd0, because the OCP data centre SSDs use 0xc0 and the following ones. */
enum slate_log_id {
	SLATE_LOG_IDENTITY = 0xd0,	/* identity of the drive, and every setting in force */
	SLATE_LOG_COUNTERS = 0xd1,
	SLATE_LOG_LATENCY = 0xd2,	/* histograms by operation, with causes */
	SLATE_LOG_BLOCKS = 0xd3,	/* blocks by state, summed by plane */
	SLATE_LOG_WEAR = 0xd4,		/* state and erases of every block */
	SLATE_LOG_FAULTS = 0xd5,	/* the fault plan */
	SLATE_LOG_ERROR = 0xd6,		/* reason why the last vendor command was refused */
	SLATE_LOG_SERIES = 0xd7,	/* the same counters for each interval */
	SLATE_LOG_END			/* first unused number */
};

#define SLATE_WIRE_MAGIC 0x474f4c53u	/* "SLOG" */
#define SLATE_WIRE_VERSION 1u
#define SLATE_WIRE_TEXT_BYTES 512u

/*
 * Reading at offset 0 takes a snapshot of a log; reading at another offset continues in
 * the last snapshot of that log (and takes one if there is none), so that the parts of one
 * log fit together. A guest and QMP have separate snapshots. An offset at or beyond
 * `bytes` is an Invalid Field; if only the length goes beyond it, the existing bytes are transferred.
 */
struct slate_log_head {			/* 32 bytes */
	uint32_t magic;
	uint16_t version;		/* version of this log's layout */
	uint16_t id;			/* enum slate_log_id */
	uint64_t bytes;			/* size of the whole log, this head included */
	uint64_t at_ns;			/* time of this log on the drive's clock */
	uint64_t since_ns;		/* time of the last reset on the drive's clock; counters count from then on */
};

enum slate_identity_flag {
	SLATE_ID_WRITE_CACHE = 1,	/* a completed write may be lost until it is flushed */
	SLATE_ID_TRIMS = 2,		/* trimmed units read as zeroes */
	SLATE_ID_COLLECTS = 4,		/* SLATE_FORCE_GC is possible */
	SLATE_ID_BLOCK_STATES = 8,	/* SLATE_LOG_BLOCKS and _WEAR: states and valid units are known */
	SLATE_ID_DRIVE_FILE = 16,	/* the drive has a drive file */
	SLATE_ID_WAS_THERE = 32,	/* the drive was in its file before it was opened */
	SLATE_ID_PAYLOAD = 64,		/* the drive stores the data written */
	SLATE_ID_PROTECTED = 128,	/* capacitors save the write buffer at a loss of power (ftl.power_protected) */
};

struct slate_log_identity {		/* 256 bytes, followed by settings and knobs */
	struct slate_log_head head;
	uint64_t capacity_bytes;
	uint32_t unit_bytes;		/* mapping unit */
	uint32_t page_bytes, oob_bytes, pages_per_block, blocks_per_plane, planes_per_die;
	uint32_t dies_per_chip, chips_per_channel, channels;
	uint32_t bits_per_cell, pb_levels, ecc_word_bytes;
	uint32_t flags;			/* enum slate_identity_flag */
	uint32_t endurance;		/* reliability.endurance; 0: no wear */
	uint32_t buffer_units;
	uint32_t settings_at, settings_bytes;	/* place of the "section.key=value" lines in the log */
	uint32_t knobs_at, knobs_bytes;	/* place of the names that SLATE_ADM_SET accepts, one a line */
	uint32_t reserved;
	uint64_t map_bytes;		/* size of the mapping tables; 0: not reported */
	char profile[64];		/* NUL-padded */
	char ftl[16];			/* ftl.type */
	/* losses of power in use, ever; after how many of them capacitors saved the write buffer, or did not */
	uint64_t unsafe_shutdowns, saved, unsaved;
	uint8_t reserved2[24];
};

/* The n-th row of the tables of ftl_counters.h and nand_counters.h is the n-th number of its group. */
#define SLATE_OP_ID(name, ...) SLATE_OP_##name,
#define SLATE_FTL_ID(name, ...) SLATE_FTL_##name,
#define SLATE_SOURCE_ID(name, ...) SLATE_SOURCE_##name,
#define SLATE_NAND_ID(name, ...) SLATE_NAND_##name,
#define SLATE_CAUSE_ID(name, ...) SLATE_CAUSE_##name,
enum slate_op_counter { FTL_OP_COUNTERS(SLATE_OP_ID) FTL_CAUSES(SLATE_OP_ID) SLATE_OP_WORDS };
enum slate_ftl_counter { FTL_COUNTERS(SLATE_FTL_ID) SLATE_FTL_WORDS };
enum slate_source_counter {
	NAND_COMMAND_COUNTERS(SLATE_SOURCE_ID) NAND_SOURCE_COUNTERS(SLATE_SOURCE_ID) SLATE_SOURCE_WORDS
};
enum slate_nand_counter { NAND_COUNTERS(SLATE_NAND_ID) SLATE_NAND_WORDS };
enum slate_wire_cause { FTL_CAUSES(SLATE_CAUSE_ID) SLATE_WIRE_CAUSES };

enum slate_wire_op { SLATE_WIRE_READ, SLATE_WIRE_WRITE, SLATE_WIRE_TRIM, SLATE_WIRE_FLUSH, SLATE_WIRE_OPS };
#define SLATE_WIRE_SOURCE_ID(ID, ...) SLATE_WIRE_SOURCE_##ID,
enum slate_wire_source { NAND_SOURCES(SLATE_WIRE_SOURCE_ID) SLATE_WIRE_SOURCES };
#define SLATE_WIRE_RULES 12u		/* R0 .. R11 of nand.h */

struct slate_log_counters {		/* 64 bytes, followed by the groups of 64-bit numbers */
	struct slate_log_head head;
	uint32_t ops, op_words;		/* group 1: ops times op_words */
	uint32_t ftl_words;		/* group 2 */
	uint32_t sources, source_words;	/* group 3 */
	uint32_t rules;			/* group 4: violations of each rule */
	uint32_t nand_words;		/* group 5 */
	uint32_t reserved;
};

struct slate_latency_entry {		/* 112 bytes; one bucket that has I/Os */
	uint32_t op;			/* enum slate_wire_op */
	uint32_t reserved;
	uint64_t from_ns, below_ns;	/* limits of the bucket; ~0: no upper limit */
	uint64_t ios;
	uint64_t cause_ns[SLATE_WIRE_CAUSES];	/* sums over these I/Os */
};

struct slate_log_latency {		/* 48 bytes, then entries by op, then by bucket */
	struct slate_log_head head;
	uint32_t entries, entry_bytes;
	uint32_t causes;
	uint32_t reserved;
};

enum slate_block_state {
	SLATE_BLOCK_USED,		/* in use; the FTL reports no further state */
	SLATE_BLOCK_FREE,
	SLATE_BLOCK_OPEN,
	SLATE_BLOCK_FULL,
	SLATE_BLOCK_VICTIM,		/* being collected, or about to be retired */
	SLATE_BLOCK_BAD,
	SLATE_BLOCK_STATES
};

#define SLATE_NOT_TOLD 0xffffffffu	/* valid_units */

struct slate_plane_entry {		/* 72 bytes */
	uint32_t channel, chip, die, plane;	/* each is numbered within the one before */
	uint32_t blocks;
	uint32_t state[SLATE_BLOCK_STATES];	/* number of blocks in each state */
	uint32_t erases_min, erases_max;	/* erases of a block's most erased smallest PB, without bad blocks */
	uint32_t reserved;
	uint64_t erases_sum;		/* sum of the same numbers */
	uint64_t valid_units;		/* valid if SLATE_ID_BLOCK_STATES is set */
};

struct slate_log_blocks {		/* 48 bytes, then the planes in order */
	struct slate_log_head head;
	uint32_t planes, entry_bytes;
	uint32_t units_per_block;
	uint32_t reserved;
};

struct slate_wear_entry {		/* 16 bytes */
	uint32_t erases;		/* erases of its most erased smallest PB */
	uint32_t valid_units;		/* or SLATE_NOT_TOLD */
	uint8_t state;			/* enum slate_block_state */
	uint8_t reserved[7];
};

struct slate_log_wear {			/* 48 bytes, then the blocks in order */
	struct slate_log_head head;
	uint32_t blocks, entry_bytes;
	uint32_t blocks_per_plane;
	uint32_t reserved;
};

enum slate_fault_kind {
	SLATE_FAULT_PROGRAM = 1,	/* the n-th program (copybacks count) from now on fails, */
	SLATE_FAULT_ERASE = 2,		/* the n-th erase */
	SLATE_FAULT_FLIP = 3,		/* bits of each ECC word of a page are wrong, until its cells are erased */
};

#define SLATE_ANY_DIE 0xffffffffu

struct slate_fault_entry {		/* 32 bytes */
	uint32_t kind;			/* enum slate_fault_kind */
	uint32_t die;			/* PROGRAM, ERASE: number of the die in the drive, or SLATE_ANY_DIE */
	uint64_t left;			/* PROGRAM, ERASE: number of operations until it fails; 0: it has failed.
					 * FLIP: 1 in force; 0 its cells were erased */
	uint32_t ppn;			/* FLIP: page; PROGRAM, ERASE: page that failed (for a block its first) */
	uint32_t bits;			/* FLIP: wrong bits in each ECC word */
	uint32_t hits;			/* number of commands affected */
	uint32_t reserved;
};

#define SLATE_FAULTS_MAX 32u

struct slate_log_faults {		/* 48 bytes, followed by entries in the order of creation */
	struct slate_log_head head;
	uint32_t entries, entry_bytes;
	uint32_t room;			/* number of further entries that fit */
	uint32_t reserved;
};

struct slate_log_error {		/* 560 bytes */
	struct slate_log_head head;
	uint32_t opcode, command;	/* of the last refused command; opcode 0: no command was refused */
	uint32_t status;		/* its completion status: type << 8 | code */
	uint32_t refused;		/* number of refused commands */
	char text[SLATE_WIRE_TEXT_BYTES];	/* NUL-padded: the fault and the fix */
};

/*
 * A row of SLATE_LOG_SERIES has what was counted in one interval, as 64-bit words. SLATE_WIRE_OPS
 * times SLATE_SERIES_OP_COUNTERS (an I/O counts when the drive knows its end), then
 * SLATE_SERIES_DRIVE_COUNTERS, then for each die and each channel how long the commands that
 * were given to it occupy it, then for each of the host's processors how long it was busy.
 */
/* A row is X(name, kind, sentence). The FTL_CAUSES follow these rows. */
#define SLATE_SERIES_OP_COUNTERS(X) \
	X(ios, COUNT, "I/Os that ended.") \
	X(bytes, COUNT, "Their bytes.") \
	X(latency_sum_ns, COUNT, "Their latencies, summed.") \
	X(latency_max_ns, MAX, "The longest latency.")

/*
 * A row is X(name, kind, value, sentence). The value is a term in slate_series.c, of the drive d and its
 * statistics s. A COUNT is the growth in the interval, a LEVEL the value at its end. Rows behind
 * free_blocks are of features that most drives lack: tools leave out those that are 0 throughout.
 */
#define SLATE_SERIES_DRIVE_COUNTERS(X) \
	X(host_units, COUNT, s->ftl.host_units, "Units programmed for the host.") \
	X(gc_units, COUNT, s->ftl.gc_units, "Units moved by GC.") \
	X(wl_units, COUNT, s->ftl.wl_units, "Units moved to level wear and to relocate.") \
	X(pad_units, COUNT, s->ftl.pad_units, "Units programmed without content.") \
	X(meta_units, COUNT, s->ftl.meta_units, "Units programmed for the FTL itself.") \
	X(gc_runs, COUNT, s->ftl.gc_runs, "GC runs.") \
	X(nand_reads, COUNT, commands(s, NAND_READ), "Pages read.") \
	X(nand_programs, COUNT, commands(s, NAND_PROGRAM) + commands(s, NAND_COPYBACK), \
	  "Pages programmed, copybacks included.") \
	X(nand_erases, COUNT, commands(s, NAND_ERASE), "Blocks erased, whole or in part.") \
	X(free_blocks, LEVEL, free_blocks(d), "Free blocks; ~0 if the FTL does not report them.") \
	X(suspends, COUNT, s->nand.suspends, "Suspensions of programs and erases.") \
	X(link_to_host_busy_ns, COUNT, s->ftl.link_to_host_busy_ns, "Time for which the host link sent to the host.") \
	X(link_to_drive_busy_ns, COUNT, s->ftl.link_to_drive_busy_ns, "Time for which it sent to the drive.") \
	X(core_busy_ns, COUNT, s->ftl.core_busy_ns, "Busy time of the controller's cores, summed.") \
	X(dram_busy_ns, COUNT, s->ftl.dram_busy_ns, "Time for which data crossed the controller's memory.") \
	X(read_cache_hits, COUNT, s->ftl.read_cache_hits, "Reads that the controller's read cache answered.") \
	X(read_ahead_units, COUNT, s->ftl.read_ahead_units, "Units read ahead into the read cache.") \
	X(map_hits, COUNT, s->ftl.map_hits, "Cached map: look-ups that found their map page in memory.") \
	X(map_misses, COUNT, s->ftl.map_misses, "Cached map: look-ups that did not.") \
	X(slc_pages, COUNT, s->ftl.slc_pages, "Pages programmed for the host in SLC mode.") \
	X(slc_direct_pages, COUNT, s->ftl.slc_direct_pages, "Pages programmed for the host past the SLC cache.") \
	X(slc_fold_units, COUNT, s->ftl.slc_fold_units, "Units folded out of the SLC cache.")

#define SLATE_SERIES_ID(name, ...) SLATE_SERIES_##name,
enum slate_series_op_counter {
	SLATE_SERIES_OP_COUNTERS(SLATE_SERIES_ID) FTL_CAUSES(SLATE_SERIES_ID) SLATE_SERIES_OP_WORDS
};
enum slate_series_drive_counter { SLATE_SERIES_DRIVE_COUNTERS(SLATE_SERIES_ID) SLATE_SERIES_DRIVE_WORDS };

#define SLATE_SERIES_ROWS_MAX 512u	/* if the series has this many rows, pairs are joined and the interval
					 * doubles */

struct slate_log_series {		/* 80 bytes, then the rows */
	struct slate_log_head head;
	uint64_t interval_ns;
	uint32_t rows, row_bytes;	/* the last row is the current interval */
	uint32_t ops, op_words, drive_words;
	uint32_t dies, channels;
	uint32_t processors;		/* 0: unknown */
	uint32_t reserved[2];
};

/* ---- vendor admin commands (of a namespace) ------------------------------------------ */

/* Bits 1:0 of an opcode are the direction of its data: 0 none, 1 to the drive. */
enum slate_admin {
	SLATE_ADM_MARK = 0xc0,		/* CDW10 kind (0 point, 1 begin, 2 end), CDW12..15 label */
	SLATE_ADM_CONTROL = 0xc4,	/* CDW12 enum slate_control, CDW13..15 arguments */
	SLATE_ADM_SET = 0xc1,		/* data: "ftl.key=value", CDW10 its 32-bit words, NUL-padded */
};

enum slate_control {
	SLATE_RESET_COUNTERS = 1,	/* counters, latency and marks restart */
	/*
	 * CDW13 n: collect until each plane (DAC: each die) has n free blocks or no more can be
	 * freed; 0: one victim in each. It continues in device time, as background GC does. The
	 * command completes at once; DW0 is the number of planes with work to do.
	 */
	SLATE_FORCE_GC = 2,
	/*
	 * CDW13 kind | bits << 16; CDW14 n (1: the next operation), or FLIP: ppn; CDW15 die or
	 * SLATE_ANY_DIE (FLIP: 0). DW0: the entry's number in the log.
	 */
	SLATE_FAULT_ADD = 3,
	SLATE_FAULT_CLEAR = 4,		/* remove all entries, and the wrong bits that they gave to pages */
	/*
	 * CDW13 enum slate_wire_cut_when | enum slate_wire_cut_then << 8; CDW14, CDW15 low and high
	 * half of n or t.
	 */
	SLATE_POWER_CUT = 5,
	SLATE_POWER_CUT_CANCEL = 6,	/* cancels a planned cut */
};

enum slate_wire_cut_when {
	SLATE_WIRE_CUT_NOW,
	SLATE_WIRE_CUT_AFTER,		/* n NAND commands from now on */
	SLATE_WIRE_CUT_AT_NS,		/* time t on the drive's clock */
};

enum slate_wire_cut_then { SLATE_WIRE_VANISH, SLATE_WIRE_RESET, SLATE_WIRE_SHUTDOWN };

/*
 * A refused command gets this status, type << 8 | code: Invalid Field if a number makes no sense, Invalid
 * Namespace if there is no such namespace, Invalid Opcode if the drive is not Slate's, or one of
 * these (type 1, command specific). SLATE_LOG_ERROR has the reason in words, also for Invalid
 * Field.
 */
enum slate_status {
	SLATE_INVALID_FIELD = 0x002,
	SLATE_REFUSED = 0x1c0,		/* the value is not allowed, or not allowed now */
	SLATE_UNSUPPORTED = 0x1c1,	/* the drive does not support it */
	SLATE_NO_ROOM = 0x1c2,		/* the fault plan is full */
};

#if defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
_Static_assert(sizeof(struct slate_log_head) == 32, "SPEC.md");
_Static_assert(sizeof(struct slate_log_identity) == 256, "SPEC.md");
_Static_assert(sizeof(struct slate_log_counters) == 64, "SPEC.md");
_Static_assert(sizeof(struct slate_latency_entry) == 112, "SPEC.md");
_Static_assert(sizeof(struct slate_log_latency) == 48, "SPEC.md");
_Static_assert(sizeof(struct slate_plane_entry) == 72, "SPEC.md");
_Static_assert(sizeof(struct slate_log_blocks) == 48, "SPEC.md");
_Static_assert(sizeof(struct slate_wear_entry) == 16, "SPEC.md");
_Static_assert(sizeof(struct slate_log_wear) == 48, "SPEC.md");
_Static_assert(sizeof(struct slate_fault_entry) == 32, "SPEC.md");
_Static_assert(sizeof(struct slate_log_faults) == 48, "SPEC.md");
_Static_assert(sizeof(struct slate_log_error) == 560, "SPEC.md");
_Static_assert(sizeof(struct slate_log_series) == 80, "SPEC.md");
#endif

#endif
