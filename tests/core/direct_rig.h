/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * direct_rig.h - a drive of any FTL that promises FTL_WRITE_THROUGH or FTL_FLUSHED, or the part of
 * FTL_PREFIX that FTL_FLUSHED promises, too (with units of a sector); a host that works on it at
 * random, and the oracle: the content of every mapping unit is the last completed write or a later
 * one that was submitted, whole; after a power cut with FTL_FLUSHED, it is the content at the last
 * completed flush or FUA write, or a later one. The test chooses the shape.
 *
 * With `pool` contents are drawn from a few families of pages, which are equal or similar, and
 * compress well or badly. The tag of a write is then the number of its content, and the tag of a
 * sector is a hash of its bytes.
 *
 * A write is a change of each unit that it touches; a trim is a change only with FTL_PREFIX. Every
 * 16th write makes whole units lost (struct ftl_io): their tag is RIG_LOST, also after a write of a part.
 * Sectors contain their number and the tag of their write. `settled` counts the changes of a unit
 * that are certain: its content is at least as new as history[settled - 1], or as base.
 */
#ifndef SLATE_DIRECT_RIG_H
#define SLATE_DIRECT_RIG_H

#include <setjmp.h>

#include "ftl.h"
#include "test.h"

#define RIG_UNITS 192u
#define RIG_PER_UNIT 8u			/* maximum of sectors in a unit */
#define RIG_SECTORS (RIG_UNITS * RIG_PER_UNIT)
#define RIG_IOS 6u
#define RIG_LOST (~0u)			/* tag of a sector whose unit is lost */
#define RIG_HISTORY 512u		/* maximum of a unit's changes between two mounts */

struct rig_shape {
	const char *name;
	const char *ftl;
	struct nand_geometry g;		/* oob_kept is set by the rig */
	uint32_t units;			/* exported units; 0: as many as the FTL accepts */
	uint32_t unit_bytes;		/* 0: page_bytes */
	uint32_t start, urgent;		/* gc_start_blocks, gc_urgent_blocks */
	enum ftl_gc_mode mode;
	uint32_t slice;			/* gc_slice_pages; 0: 2 */
	uint32_t tolerance;		/* tolerance of the array; 255: no disturbance */
	uint32_t believed;		/* tolerance in the FTL's configuration; 0: that of the array */
	bool pen, parallel_erase, copyback;
	enum ftl_search search;
	enum ftl_merge_victim victim;
	uint32_t wbuf;			/* write_buffer_blocks */
	bool in_order;			/* read_priority = no */
	uint32_t m, n;			/* superblock_blocks, superblock_max_blocks */
	bool cold;			/* superblock_cold */
	uint32_t parts;			/* superblock_map_parts */
	uint32_t second;		/* second_victim_pages */
	uint32_t both;			/* pair_pages; 0: no limit */
	uint32_t hot;			/* two of three requests go to the first `hot` units; 0: none */
	uint32_t merges_max;		/* W; 0: 16 */
	uint32_t stripe;		/* stripe_pages */
	enum ftl_accounting accounting;
	uint32_t pool;			/* families of contents; 0: every sector has its own content */
	uint32_t buffer;		/* buffer_units */
	enum ftl_reduction reduction;
	enum ftl_frontiers frontiers;
	uint32_t active;		/* active_blocks */
	uint32_t quota;			/* quota_permille; 0: 50 */
	uint32_t idle_permille, idle_ns;	/* idle_gc_permille, idle_gc_ns */
	uint32_t prints;		/* fingerprints_permille; 0: 1000 */
	uint32_t references;		/* reference_bytes */
	uint32_t hash_ns, compress_ns, decompress_ns;
	uint32_t cache;			/* read_cache_units, half of them for read-ahead; 0: no controller */
};

struct rig_change {
	uint8_t first, count;		/* first sector in the unit, and count */
	uint32_t tag;
};

struct rig_unit {
	uint32_t changes, settled;
	uint32_t flushed;		/* FTL_FLUSHED: settled changes that a cut preserves */
	struct rig_change change[RIG_HISTORY];
};

struct rig_io {
	struct ftl_io io;
	bool busy;			/* accepted and not ended */
	bool reported;
	uint32_t tag;
	uint32_t mark[RIG_UNITS]; /* WRITE, FLUSH: the unit's changes after it; READ: changes settled before it */
	uint8_t *data;
};

struct rig {
	/*
	 * Called before the time advances to until_ns, and after a submission. Returns true if it has advanced the time
	 * itself (rig_pass()). NULL: nothing is called.
	 */
	bool (*moment)(struct rig *r, uint64_t until_ns);
	const struct rig_shape *shape;
	const struct ftl_ops *ops;
	struct nand_array_config ac;
	struct ftl_config fc;
	struct test_array ta;
	struct ftl *f;
	void *mem;
	size_t len;
	uint64_t now_ns, next_ns, rng;
	uint32_t sectors, per;		/* per: sectors in a unit */
	uint32_t tag;
	bool may_fail;			/* writes may fail, because the medium wears out */
	bool may_lose;			/* reads may return SSD_E_UNCORR, which is counted */
	uint64_t lost, refused, reads_checked;

	struct rig_unit unit[RIG_UNITS];
	uint32_t base[RIG_SECTORS];	/* tags of the content before history */
	uint32_t found[RIG_SECTORS];	/* tags found by the last rig_read_all() */
	struct rig_io io[RIG_IOS], all;
	uint32_t busy;
};

/* This says how to run the failing case again; it is printed when an assertion fails. */
extern char rig_id[256];
void rig_replay_hint(const char *program);

extern bool rig_protect;		/* drives have power-loss protection */
/* Advance the time to at_ns. */
void rig_pass(struct rig *r, uint64_t at_ns);

/* Returns the most units that the FTL accepts, or 0 if it refuses the shape. */
uint32_t rig_largest(const struct rig_shape *s);
void rig_make(struct rig *r, const struct rig_shape *s);
void rig_free(struct rig *r);
/* Mount a fresh FTL on the array. The content found is not checked. */
int rig_mount(struct rig *r);
/* Cut the power of the idle drive, and mount it again. */
int rig_again(struct rig *r);
/* Make a rig on a blank array and mount it; returns its statistics. */
const struct ftl_stats *rig_start(struct rig *r, const struct rig_shape *s);
/*
 * Run one I/O of at most 64 whole units of 1024 bytes alone, with check() around every call;
 * returns its latency.
 */
uint64_t rig_alone(struct rig *r, enum ftl_op op, uint32_t unit, uint32_t units);
/* Run random I/O, with check() around every call. */
void rig_work(struct rig *r, uint32_t requests);
/* Run one write to its end. */
enum ssd_err rig_write(struct rig *r, uint32_t sector, uint32_t count);
void rig_drain(struct rig *r);
/* Read all sectors into found[]. */
void rig_read_all(struct rig *r);
/* Check that r->found is possible after the I/O of `host`, a rig of the same shape. */
void rig_verify(struct rig *r, const struct rig *host);
/* Mark completed writes as durable, because the power was not lost. */
void rig_powered(struct rig *r);
/* Start the history with the content found. */
void rig_begin_history(struct rig *r);

#endif
