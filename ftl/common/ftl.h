/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ftl.h - what a flash translation layer offers its host.
 *
 * Durability, what mount() finds after a power cut:
 *   FTL_PREFIX         some prefix of the writes and trims accepted before it, in
 *                      the order of submit(), that contains everything submitted
 *                      before the last completed flush and every completed FUA
 *                      write. With a write buffer of 0, it contains every
 *                      completed write, but not with FTL_ACCOUNT_SSDSIM. On an array
 *                      for which not_safe() has an answer, less what that names.
 *   FTL_WRITE_THROUGH  of every mapping unit, the last completed write or any
 *                      later one that was submitted to it, whole; less what
 *                      not_safe() names. There is no write buffer; a flush ends when the writes before it have.
 *                      A trim is accepted and changes nothing, as NVMe allows.
 *   FTL_FLUSHED        of every mapping unit, what it held at the last completed
 *                      flush, or after the last completed FUA write to it, or after
 *                      any later write that was submitted to it, whole. A trim
 *                      changes nothing, as above.
 *
 * Completion. The host hears of each I/O exactly once, through
 * ftl_host.done(), called from submit() or step() as soon as the moment of
 * completion is known: io->done_ns, at or after the time of that call. The
 * host delivers it then. A read's bytes are copied before done() is called.
 * Neither callback may call back into the FTL.
 *
 * Order. Concurrent I/Os may complete in any order; a read returns, for every
 * mapping unit, a state of it between its submission and its completion.
 *
 * Memory. The caller supplies footprint() bytes once; no call allocates.
 * Threads. One caller at a time per struct ftl; the core takes no locks.
 */
#ifndef SLATE_FTL_H
#define SLATE_FTL_H

#include "err.h"
#include "ftl_stats.h"
#include "knob.h"
#include "nand.h"

typedef struct { uint32_t v; } lpn_t;	/* logical page: the mapping unit */

#define FTL_IDLE (~(uint64_t)0)	/* step(): nothing to do until the next submit() */
#define FTL_SECTOR_BYTES 512u

struct ftl_io {
	enum ftl_op op;
	bool fua;			/* WRITE */
	uint64_t offset;		/* bytes, sector aligned */
	uint64_t bytes;			/* sector aligned; TRIM: only whole mapping units
					 * inside the range are trimmed; FLUSH: ignored */
	void *host;			/* the shell's own handle */

	uint64_t submit_ns;		/* out */
	uint64_t done_ns;		/* out */
	enum ssd_err status;		/* out */
	struct ftl_breakdown where;	/* out: adds up to done_ns - submit_ns exactly */

	struct ftl_io *next;		/* the FTL's own, as is the rest */
	uint64_t at;			/* bytes handled so far */
	uint64_t seq;			/* WRITE, FLUSH: last log sequence it needs */
	uint64_t gc_mark;		/* stall clock at submission */
	uint64_t first_seq;		/* WRITE: first log sequence that has data of it */
	uint64_t link_ns;		/* WRITE: until its data have arrived */
	uint64_t entered_ns;		/* submit_ns, while an FTL behind cores has its own */
	uint32_t pending;		/* READ: flash reads outstanding or queued */
};

struct ftl_host {
	void (*done)(void *opaque, struct ftl_io *io);
	/*
	 * Move bytes [at, at + len) of the I/O. READ: out of buf to the host.
	 * WRITE: from the host into buf. READ: buf is not to be written to, and
	 * NULL means zeroes. Never called when the FTL keeps no payload.
	 */
	void (*copy)(void *opaque, struct ftl_io *io, uint64_t at, void *buf, size_t len);
	void *opaque;
};

enum ftl_gc_mode {
	FTL_GC_BLOCKING,	/* GC keeps the die until the plane is back over stop */
	FTL_GC_SLICED,		/* host I/O goes first; GC moves gc_slice_pages after each
				 * host program, and one after a read when writes wait */
};

/* NFTL: which spare areas are read to find pages. */
enum ftl_search {
	FTL_SEARCH_NO,		/* nothing */
	FTL_SEARCH_YES,		/* a read in a U-block: those from the newest position to the page; a
				 * merge: those of the U-block's used positions */
	FTL_SEARCH_ALL,		/* a read: as yes; a merge: those of all pages of both blocks */
};

/* NFTL: which pair is merged when a write needs a block. */
enum ftl_merge_victim {
	FTL_VICTIM_NEWEST,	/* most invalid pages; of equals the one that came to it last */
	FTL_VICTIM_OLDEST,	/* most invalid pages; of equals the one that came to it first */
	FTL_VICTIM_LRU,		/* the one whose last overwrite is longest ago */
};

enum ftl_accounting {
	FTL_ACCOUNT_DEVICE,	/* a write has ended when it is programmed, or buffered; GC holds
				 * the channel for its transfers */
	FTL_ACCOUNT_SSDSIM,	/* as SSDSim counts: an unbuffered write has ended when its data are
				 * in the chip; GC holds the channel for the whole of a copy's read,
				 * and of its program (nand_timing.gc_holds_bus). For comparing with
				 * figures that were counted so: a power cut takes completed writes
				 * that were not flushed. FUA and flush wait as ever */
};

/* Does the FTL ask for the ECC words it wants, or for whole pages? What that saves, the array says. */
enum ftl_words {
	FTL_WORDS_NO,
	FTL_WORDS_YES,		/* refused where the array reads whole pages only */
	FTL_WORDS_AUTO,		/* yes where the array can */
};

static inline bool ftl_by_words(enum ftl_words w, const struct nand_geometry *g)
{
	return w == FTL_WORDS_YES || (w == FTL_WORDS_AUTO && g->subpage != NAND_SUBPAGE_NONE);
}

/* Which commands a read of the host suspends, where the array can (timing.suspend_ns). */
enum ftl_suspend { FTL_SUSPEND_OFF, FTL_SUSPEND_ERASE, FTL_SUSPEND_PROGRAM, FTL_SUSPEND_ALL };

/* Where GC's copies go: where the published FTL puts them; blocks of their own; the host's. */
enum ftl_gc_frontier { FTL_GC_AUTO, FTL_GC_OWN, FTL_GC_SHARED };

/* page: are pages that are written often kept apart from the others? */
enum ftl_hot_cold {
	FTL_HOT_COLD_OFF,
	FTL_HOT_COLD_COUNT,	/* as ftl/page/heat.h counts */
};

/* flex: which pages of the shared blocks take them, idle times apart. */
enum ftl_gc_pages {
	FTL_GC_SLOW,		/* MSB */
	FTL_GC_FAST,		/* LSB, while free blocks are above the reserve */
	FTL_GC_AS_HOST,		/* as the host's: by utilisation and quota */
};

enum ftl_durability { FTL_PREFIX, FTL_WRITE_THROUGH, FTL_FLUSHED };

enum ftl_reduction {		/* DAC: what is tried on a unit */
	FTL_REDUCE_NONE, FTL_REDUCE_DEDUP, FTL_REDUCE_COMP, FTL_REDUCE_DEDUP_COMP, FTL_REDUCE_DAC,
	FTL_NREDUCTIONS
};

enum ftl_frontiers {		/* DAC: which page of a block comes next, and what is backed up: front.h */
	FTL_FRONTIERS_PAGE, FTL_FRONTIERS_PARITY, FTL_FRONTIERS_RTF, FTL_FRONTIERS_FLEX,
	FTL_NFRONTIERS
};

struct gc_policy;

struct ftl_config {
	uint64_t capacity_bytes;	/* exported; a multiple of unit_bytes */
	uint32_t unit_bytes;		/* mapping unit: 512 .. page_bytes, divides it */
	uint32_t buffer_units;		/* write buffer; 0: a write completes when durable */
	uint32_t gc_start_blocks;	/* per plane: GC starts when fewer are free ... */
	uint32_t gc_stop_blocks;	/* ... and stops when this many are */
	uint32_t gc_urgent_blocks;	/* at or under: no host program in this plane */
	enum ftl_gc_mode gc_mode;
	uint32_t gc_slice_pages;	/* of GC after a host program of the die: see die.h */
	bool multiplane;		/* group host programs over the planes of a die */
	bool payload;			/* keep host bytes; false: mapping and OOB only */
	uint32_t map_ns;		/* one mapping look-up; with cores, of each unit */
	uint32_t buffer_ns;		/* host data into or out of the buffer, per I/O */
	uint32_t overhead_ns;		/* firmware and host interface, per I/O */
	uint32_t link_ps_per_byte;	/* host link, each direction; 0: none */
	uint32_t link_latency_ns;	/* added to every I/O: command there, completion back */
	uint32_t cores;			/* that execute map_ns, overhead_ns and completion_ns, see
					 * controller.h; 0: as many as there is work */
	uint32_t completion_ns;		/* of a core's time, per I/O; 0 without cores */
	uint32_t max_unit_reads;	/* flash reads queued at once (a pool); >= 8 */
	const struct gc_policy *gc_policy;	/* gc_policy.h */
	uint32_t gc_choices;		/* d-choices: d, blocks drawn at random */
	uint32_t gc_window_blocks;	/* windowed-greedy: of a plane's blocks, so many closed first */

	bool gc_copyback;		/* GC copies inside the chip */
	enum ftl_words gc_subpage_reads;	/* GC reads only the ECC words that hold valid units */
	enum ftl_words host_subpage_reads;	/* host reads, and reads that complete a partial
						 * write, only those that are wanted */
	uint32_t wl_threshold;		/* static wear levelling: erases by which a plane's most worn
					 * free block may exceed its least worn full one; 0: none */
	bool relocate;			/* blocks of which a read said NAND_CORRECTED are collected */
	bool parallel_erase;		/* IPPBE: GC takes a second victim of the plane and erases
					 * both at once ... */
	uint32_t second_victim_pages;	/* ... if at most so many of its pages are valid */
	uint32_t pair_pages;		/* superblock: ... and at most so many of both victims' */
	bool pen;			/* PEN: M-Merge by partial erases */
	uint32_t pen_merges_max;	/* W: M-Merges of a block between two merges */
	uint32_t superblock_blocks;	/* M: logical blocks of a superblock; 0: one superblock a
					 * plane, that is page mapping */
	uint32_t superblock_max_blocks;	/* N: physical blocks of one at most; 0 with M = 0 */
	enum ftl_search spare_search;
	enum ftl_merge_victim merge_victim;
	bool read_priority;		/* FTL_WRITE_THROUGH: reads overtake the writes of their die */
	uint32_t stripe_pages;		/* FTL_WRITE_THROUGH: so many consecutive pages in one plane, then
					 * the next; 1 .. pages_per_block, divides it */
	enum ftl_accounting accounting;
	enum ftl_suspend suspend;	/* page, parity, rtf, flex */
	/* FTLs of the large-capacity NAND dissertation, chapter 3 (front.h) */
	uint32_t active_blocks;		/* rtf: of a plane */
	uint32_t fast_above_permille;	/* flex: of the write buffer in use, above: LSB pages ... */
	uint32_t slow_below_permille;	/* ... below: MSB pages */
	uint32_t quota_permille;	/* flex: of all LSB pages, so many ahead of the MSB pages */
	enum ftl_gc_frontier gc_frontier;	/* page, parity, rtf, flex */
	enum ftl_gc_pages gc_pages;	/* flex */
	enum ftl_hot_cold hot_cold;	/* page */
	uint32_t idle_gc_permille;	/* of a plane's blocks: with fewer free, GC works when the
					 * drive is idle; 0: never. page, parity, rtf, flex */
	uint32_t idle_gc_ns;		/* idle: so long since no I/O and no full buffer page is left */

	enum ftl_reduction reduction;	/* DAC */
	enum ftl_frontiers frontiers;	/* DAC: as the FTL of that name */
	uint32_t fingerprints_permille;	/* kept, of those of the whole capacity; 1000: all */
	uint32_t fingerprints;		/* kept, if not 0: a number instead; a unit has four */
	uint32_t reference_bytes;	/* reference buffer */
	uint32_t hash_ns;		/* engine: fingerprints of a unit, */
	uint32_t compress_ns;		/* and each attempt to compress one; */
	uint32_t decompress_ns;		/* each expansion, of reads, too */
	bool count_plain;		/* count what plain compression would have given (plain_bytes) */
	/* Data sheet, for plans only; the array keeps the time. */
	struct nand_timing timing;
	uint32_t disturb_tolerance;	/* of the smallest PB; 255: cells are never disturbed */
};

struct ftl;

enum ftl_block_state {
	FTL_BLOCK_USED,		/* it does not tell how */
	FTL_BLOCK_FREE, FTL_BLOCK_OPEN, FTL_BLOCK_FULL,
	FTL_BLOCK_VICTIM,	/* being collected, or to be given up */
	FTL_BLOCK_BAD,
	FTL_NBLOCK_STATES
};

struct ftl_block {
	enum ftl_block_state state;
	uint32_t valid_units;
};

struct ftl_ops {
	const char *name;
	enum ftl_durability durability;
	/*
	 * NULL, or a sentence on what a power cut may take along on this array although it was
	 * flushed. NULL: no such array is accepted.
	 */
	const char *(*not_safe)(const struct ftl_config *c, const struct nand_geometry *g);
	/* Spare bytes of a page that it keeps. */
	uint32_t (*oob_bytes)(const struct ftl_config *c, const struct nand_geometry *g);
	/* SSD_OK or SSD_E_INVAL with *why pointing at a sentence that names the knob. */
	int (*validate)(const struct ftl_config *c, const struct nand_geometry *g,
			const char **why) SSD_MUST_CHECK;
	size_t (*footprint)(const struct ftl_config *c, const struct nand_geometry *g);
	int (*init)(void *mem, size_t len, const struct ftl_config *c, struct nand *n,
		    const struct ftl_host *host, struct ftl **out) SSD_MUST_CHECK;
	/*
	 * Find what flash holds, from OOB alone; a blank array mounts as an empty
	 * drive. Runs its NAND commands one after another from now_ns on and says
	 * in *ready_ns when the drive accepts I/O.
	 */
	int (*mount)(struct ftl *f, uint64_t now_ns, uint64_t *ready_ns) SSD_MUST_CHECK;
	void (*submit)(struct ftl *f, uint64_t now_ns, struct ftl_io *io);
	/*
	 * Do what is due at now_ns; returns the time of the next call, which is
	 * later than now_ns. Calling early or late is safe; late calls cost latency.
	 */
	uint64_t (*step)(struct ftl *f, uint64_t now_ns);
	/* Assert every numbered invariant. O(pages); tests call it around every step. */
	void (*check)(const struct ftl *f);
	const struct ftl_stats *(*stats)(const struct ftl *f);
	void (*reset_stats)(struct ftl *f);
	/* Bytes that its mapping tables would take in a drive's memory. */
	uint64_t (*map_bytes)(const struct ftl *f);
	/* I/Os accepted and not yet reported done. */
	uint32_t (*inflight)(const struct ftl *f);

	/*
	 * Its settings beside ftl_common_knobs: tables that end with NULL, or NULL (ftl_knobs.h). A
	 * profile that sets a key of other FTLs is refused.
	 */
	const struct knob_table *const *knobs;

	/* Controls. Each is NULL if the FTL does not have it. */
	/*
	 * Order GC until each plane (DAC: die) has free_blocks free blocks, or no more can be freed;
	 * 0: one victim in each. GC takes its normal time. An order replaces the one before it.
	 * Returns in how many planes GC works now; step() is due.
	 */
	uint32_t (*collect)(struct ftl *f, uint64_t now_ns, uint32_t free_blocks);
	/* Fields of struct ftl_config that reconfigure() takes; NULL-terminated. */
	const char *const *online;
	/*
	 * c has been validated, needs no more memory, and differs only in the fields of `online`.
	 * step() is due.
	 */
	void (*reconfigure)(struct ftl *f, uint64_t now_ns, const struct ftl_config *c);
	struct ftl_block (*block)(const struct ftl *f, pbn_t b);
};

/* Settings that every FTL reads. */
extern const struct knob_table ftl_common_knobs;

/* First member of every implementation's struct. */
struct ftl {
	const struct ftl_ops *ops;
};

/* NULL-terminated, const, in ftl_list.c: no constructors, no registration. */
extern const struct ftl_ops *const ftl_list[];

#endif
