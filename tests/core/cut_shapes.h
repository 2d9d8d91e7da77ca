/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cut_shapes.h - the drives of test_cut: geometry, FTL and settings of each.
 */
#ifndef SLATE_CUT_SHAPES_H
#define SLATE_CUT_SHAPES_H

#include "ftl.h"
#include "gc_policy.h"

struct shape {
	const char *name;
	struct nand_geometry g;
	uint32_t unit, units, buffer_pages;
	enum ftl_gc_mode gc;
	bool multiplane;
	uint32_t hot;	/* two of three requests go to the first `hot` sectors; 0: none */
	uint32_t ways;
	const char *ftl;	/* NULL: page */
	uint32_t quota_permille, idle_gc_permille;
	enum ftl_gc_frontier frontier;
	enum ftl_gc_pages copies;
	const struct gc_policy *policy;	/* NULL: greedy */
	uint32_t map_cache_pages;
	uint64_t draw;		/* seed of the settings that are drawn (drive_draw()); 0: none are */
	const char *drawn_on;	/* name of the shape with the other settings */
};

enum {
	IDLE = 64,	/* GC also works while the drive is idle */
	FIXED = 128,	/* LSB and MSB pages in fixed order, */
	RELAXED = 256,	/* relaxed order; in both orders torn MSB pages destroy LSB pages */
	PAIRS = 1,	/* GC erases two victims in one command */
	WORDS = 2,	/* GC reads the ECC words it moves */
	COPYBACK = 8,	/* GC copies inside the chip */
	SSDSIM = 4,	/* a write ends with its transfer, so that only flushes and FUA are durable */
	LEVEL = 16,	/* wear is levelled to a difference of one erase */
	CORRECTED = 32,	/* reads of every seventh page request relocation */
	CORES = 512,	/* a controller of two cores is in front, */
	CACHE = 32768,	/* with a read cache */
	APART = 2048,	/* hot and cold pages have separate blocks, by count, */
	RECENT = 2097152,	/* or by recency */
	SUSPENDS = 1024,	/* reads suspend programs and erases, twice each at most */
	NEXT = 65536,		/* the parity page of a group is in the channel after the group's */
	SET_ASIDE = 4096,	/* an SLC cache with two blocks of each plane reserved for it */
	SPARE = 8192,		/* an SLC cache that uses free blocks, at most two of each plane */
	HANDLES = 131072,	/* three placement handles; each write names any of them */
	COPIES = 262144,	/* with HANDLES: the copies of each handle have blocks of their own */
	FOLDS = 16384,		/* the host waits for folding while the cache is full */
	QUEUES = 524288,	/* a controller of one core is in front that takes turns among four queues, */
	WEIGHTS = 1048576,	/* by weight, each of another priority */
	METADATA = 4194304,	/* each sector has metadata in the spare area, which name its write */
	CARRIES = 8388608,	/* GC carries units over to its next victim */
	FEW_READS = 16777216,	/* reads of the host have few ureads, so that long ones wait in between */
	SHOT = 33554432,	/* programs of whole word lines, */
	TAKES = 67108864,	/* of which a torn page takes the lower ones along */
	GROUPS = 134217728,	/* with HANDLES: two reclaim groups, which have three handles each */
};

static const struct shape shapes[] = {
	{ "one die", { 1, 1, 1, 1, 12, 4, 512, 64, 16, 512, 0, 1, 1 }, 512, 18, 2, FTL_GC_SLICED, false, 0 },
	{ "two channels", { 2, 1, 1, 1, 10, 4, 512, 64, 16, 512, 0, 1, 1 }, 512, 26, 4, FTL_GC_SLICED, false, 0 },
	{ "packed", { 2, 1, 1, 1, 10, 4, 1024, 64, 25, 1024, 0, 1, 1 }, 512, 52, 4, FTL_GC_SLICED, false, 0 },
	{ "partial units", { 2, 1, 1, 1, 10, 4, 2048, 64, 25, 2048, 0, 1, 1 }, 1024, 52, 4, FTL_GC_BLOCKING, false, 0 },
	{ "planes", { 1, 1, 1, 2, 10, 4, 1024, 64, 25, 1024, 0, 1, 1 }, 512, 52, 4, FTL_GC_SLICED, true, 0 },
	{ "four planes", { 1, 1, 1, 4, 10, 4, 1024, 64, 25, 1024, 0, 1, 1 }, 512, 104, 4, FTL_GC_SLICED, true, 0 },
	{ "hot", { 2, 2, 1, 1, 10, 2, 512, 64, 16, 512, 0, 1, 1 }, 512, 9, 8, FTL_GC_SLICED, false, 2 },
	{ "unbuffered", { 2, 2, 1, 1, 10, 4, 1024, 64, 25, 1024, 0, 1, 1 }, 512, 110, 0, FTL_GC_SLICED, false, 0 },
	{ "pairs", { 2, 1, 1, 1, 10, 4, 1024, 64, 25, 1024, 0, 2, 1 }, 512, 44, 4, FTL_GC_SLICED, false, 0, PAIRS },
	{ "pairs, hot", { 2, 2, 1, 1, 10, 2, 512, 64, 16, 512, 0, 2, 1 }, 512, 9, 8, FTL_GC_SLICED, false, 2, PAIRS },
	{ "words", { 2, 1, 1, 1, 10, 4, 2048, 64, 43, 1024, 0, 1, 1 }, 512, 88, 4, FTL_GC_SLICED, false, 0, WORDS },
	{ "sent", { 2, 2, 1, 1, 10, 4, 1024, 64, 25, 1024, 0, 1, 1 }, 512, 110, 0, FTL_GC_SLICED, false, 0, SSDSIM },
	{ "pairs, words, sent", { 1, 1, 1, 2, 12, 4, 2048, 64, 43, 512, 0, 2, 1 }, 512, 88, 0, FTL_GC_BLOCKING, true, 0,
	  PAIRS | WORDS | SSDSIM },
	{ "copyback", { 2, 1, 1, 1, 10, 4, 1024, 64, 25, 1024, 0, 1, 1 }, 512, 52, 4,
	  FTL_GC_SLICED, false, 0, COPYBACK },
	{ "pairs, copyback", { 2, 1, 1, 1, 10, 4, 512, 64, 16, 512, 0, 2, 1 }, 512, 22, 4, FTL_GC_SLICED, false, 0,
	  PAIRS | COPYBACK },
	{ "flex", { 1, 1, 1, 1, 16, 8, 512, 64, 0, 512, 0, 1, 2 }, 512, 56, 4,
	  FTL_GC_SLICED, false, 0, RELAXED, "flex", 200 },
	{ "flex, dies", { 2, 1, 1, 1, 14, 8, 1024, 64, 0, 1024, 0, 1, 2 }, 512, 130, 4, FTL_GC_SLICED, false, 0,
	  RELAXED | IDLE, "flex", 100, 600 },
	{ "flex, planes", { 1, 1, 1, 2, 14, 8, 1024, 64, 0, 512, 0, 1, 2 }, 512, 120, 4, FTL_GC_BLOCKING, true, 0,
	  RELAXED | WORDS, "flex", 50 },
	{ "flex, unbuffered, hot", { 2, 1, 1, 1, 14, 6, 512, 64, 0, 512, 0, 1, 2 }, 512, 40, 0, FTL_GC_SLICED, false, 3,
	  RELAXED, "flex", 0 },
	{ "parity", { 1, 1, 1, 1, 16, 8, 512, 64, 0, 512, 0, 1, 2 }, 512, 56, 4,
	  FTL_GC_SLICED, false, 0, FIXED, "parity" },
	{ "parity, dies", { 2, 1, 1, 1, 16, 4, 1024, 64, 0, 1024, 0, 1, 2 }, 512, 70, 4, FTL_GC_SLICED, false, 0,
	  FIXED | IDLE, "parity", 0, 600 },
	{ "parity, planes", { 1, 1, 1, 2, 14, 8, 512, 64, 0, 512, 0, 1, 2 }, 512, 100, 4, FTL_GC_BLOCKING, true, 0,
	  RELAXED, "parity" },
	{ "rtf", { 1, 1, 1, 1, 22, 8, 512, 64, 0, 512, 0, 1, 2 }, 512, 56, 4,
	  FTL_GC_SLICED, false, 0, FIXED | IDLE, "rtf", 0, 200 },
	{ "rtf, dies", { 2, 1, 1, 1, 22, 4, 1024, 64, 0, 1024, 0, 1, 2 }, 512, 80, 4,
	  FTL_GC_SLICED, false, 0, FIXED, "rtf" },
	{ "flex, next channel", { 2, 1, 1, 1, 14, 8, 1024, 64, 0, 1024, 0, 1, 2 }, 512, 130, 4, FTL_GC_SLICED, false, 0,
	  RELAXED | IDLE | NEXT, "flex", 100, 600 },
	{ "flex, next channel, planes", { 3, 1, 1, 2, 14, 6, 512, 64, 0, 512, 0, 1, 2 }, 512, 160, 0,
	  FTL_GC_BLOCKING, true, 5, RELAXED | NEXT, "flex", 200, 0, FTL_GC_OWN },
	{ "parity, next channel", { 2, 1, 1, 1, 16, 4, 1024, 64, 0, 1024, 0, 1, 2 }, 512, 70, 4,
	  FTL_GC_SLICED, false, 0, FIXED | IDLE | NEXT, "parity", 0, 600 },
	{ "parity, next channel, shared", { 2, 1, 1, 2, 14, 4, 512, 64, 0, 512, 0, 1, 2 }, 512, 100, 4,
	  FTL_GC_BLOCKING, true, 6, FIXED | NEXT, "parity", 0, 0, FTL_GC_SHARED },
	{ "rtf, next channel", { 2, 1, 1, 1, 22, 4, 1024, 64, 0, 1024, 0, 1, 2 }, 512, 80, 4, FTL_GC_SLICED, false, 0,
	  FIXED | NEXT, "rtf" },
	{ "shared", { 1, 1, 1, 2, 10, 4, 1024, 64, 25, 1024, 0, 2, 1 }, 512, 44, 4, FTL_GC_SLICED, true, 0, PAIRS,
	  NULL, 0, 0, FTL_GC_SHARED },
	{ "shared, parity", { 2, 1, 1, 1, 16, 4, 1024, 64, 0, 1024, 0, 1, 2 }, 512, 70, 4, FTL_GC_SLICED, false, 0,
	  FIXED | IDLE, "parity", 0, 600, FTL_GC_SHARED },
	{ "own, flex", { 2, 1, 1, 1, 16, 8, 1024, 64, 0, 1024, 0, 1, 2 }, 512, 130, 4, FTL_GC_SLICED, false, 0,
	  RELAXED | IDLE, "flex", 100, 600, FTL_GC_OWN },
	{ "own, flex, hot", { 1, 1, 1, 1, 16, 6, 512, 64, 0, 512, 0, 1, 2 }, 512, 34, 0, FTL_GC_BLOCKING, false, 3,
	  RELAXED, "flex", 50, 0, FTL_GC_OWN },
	{ "own, rtf", { 1, 1, 1, 1, 22, 8, 512, 64, 0, 512, 0, 1, 2 }, 512, 56, 4, FTL_GC_SLICED, false, 0,
	  FIXED | IDLE, "rtf", 0, 200, FTL_GC_OWN },
	{ "fast copies, flex", { 1, 1, 1, 1, 16, 8, 512, 64, 0, 512, 0, 1, 2 }, 512, 56, 4, FTL_GC_SLICED, false, 0,
	  RELAXED, "flex", 200, 0, FTL_GC_AUTO, FTL_GC_FAST },
	{ "levelled", { 1, 1, 1, 1, 12, 4, 512, 64, 16, 512, 0, 1, 1 }, 512, 18, 2, FTL_GC_SLICED, false, 4, LEVEL },
	{ "levelled, packed", { 2, 1, 1, 1, 10, 4, 1024, 64, 25, 1024, 0, 1, 1 }, 512, 52, 4, FTL_GC_BLOCKING, false, 8,
	  LEVEL },
	{ "corrected", { 2, 1, 1, 1, 10, 4, 1024, 64, 25, 1024, 0, 1, 1 }, 512, 52, 4, FTL_GC_SLICED, false, 0,
	  CORRECTED },
	{ "all that moves", { 1, 1, 1, 2, 10, 4, 1024, 64, 25, 512, 0, 2, 1 }, 512, 24, 4, FTL_GC_SLICED, true, 4,
	  PAIRS | WORDS | COPYBACK | LEVEL | CORRECTED },
	{ "cores", { 2, 1, 1, 1, 10, 4, 1024, 64, 25, 1024, 0, 1, 1 }, 512, 52, 4,
	  FTL_GC_SLICED, false, 0, CORES },
	{ "read cache", { 2, 1, 1, 1, 10, 4, 1024, 64, 25, 1024, 0, 1, 1 }, 512, 52, 4,
	  FTL_GC_SLICED, false, 0, CORES | CACHE },
	{ "cores, unbuffered", { 2, 2, 1, 1, 10, 4, 1024, 64, 25, 1024, 0, 1, 1 }, 512, 110, 0,
	  FTL_GC_SLICED, false, 0, CORES },
	{ "suspended", { 2, 1, 1, 1, 10, 4, 1024, 64, 25, 1024, 0, 1, 1 }, 512, 52, 4,
	  FTL_GC_SLICED, false, 0, SUSPENDS },
	{ "suspended, planes", { 1, 1, 1, 2, 10, 4, 1024, 64, 25, 1024, 0, 1, 1 }, 512, 52, 4,
	  FTL_GC_BLOCKING, true, 0, SUSPENDS | CORES },
	{ "suspended, flex", { 1, 1, 1, 1, 16, 8, 512, 64, 0, 512, 0, 1, 2 }, 512, 56, 4,
	  FTL_GC_SLICED, false, 0, RELAXED | SUSPENDS, "flex", 200 },
	{ "pairs, planes", { 1, 1, 1, 2, 12, 4, 1024, 64, 25, 1024, 0, 2, 1 }, 512, 52, 4,
	  FTL_GC_BLOCKING, true, 0, PAIRS },
	{ "cost-benefit", { 2, 1, 1, 1, 10, 4, 1024, 64, 25, 1024, 0, 1, 1 }, 512, 52, 4, FTL_GC_SLICED, false, 0, 0,
	  .policy = &gc_cost_benefit },
	{ "fifo", { 2, 1, 1, 1, 10, 4, 1024, 64, 25, 1024, 0, 1, 1 }, 512, 52, 4, FTL_GC_SLICED, false, 0, 0,
	  .policy = &gc_fifo },
	{ "fifo, unbuffered, hot", { 2, 2, 1, 1, 10, 2, 512, 64, 16, 512, 0, 1, 1 }, 512, 9, 0,
	  FTL_GC_BLOCKING, false, 2, 0, .policy = &gc_fifo },
	{ "random, pairs", { 1, 1, 1, 2, 10, 4, 1024, 64, 25, 1024, 0, 2, 1 }, 512, 44, 4,
	  FTL_GC_SLICED, true, 0, PAIRS,
	  .policy = &gc_random },
	{ "d-choices, copyback", { 1, 1, 1, 1, 12, 4, 512, 64, 16, 512, 0, 1, 1 }, 512, 18, 2, FTL_GC_SLICED, false, 0,
	  COPYBACK, .policy = &gc_d_choices },
	{ "windowed, levelled", { 1, 1, 1, 1, 12, 4, 512, 64, 16, 512, 0, 1, 1 }, 512, 18, 2,
	  FTL_GC_SLICED, false, 4, LEVEL,
	  .policy = &gc_windowed },
	{ "flex, fifo", { 1, 1, 1, 1, 16, 8, 512, 64, 0, 512, 0, 1, 2 }, 512, 56, 4,
	  FTL_GC_SLICED, false, 0, RELAXED, "flex", 200, .policy = &gc_fifo },
	{ "parity, random", { 1, 1, 1, 1, 16, 8, 512, 64, 0, 512, 0, 1, 2 }, 512, 56, 4,
	  FTL_GC_SLICED, false, 0, FIXED, "parity", .policy = &gc_random },
	{ "apart, shared", { 2, 1, 1, 1, 12, 4, 512, 64, 16, 512, 0, 1, 1 }, 512, 26, 4,
	  FTL_GC_SLICED, false, 6, APART, NULL, 0, 0, FTL_GC_SHARED },
	{ "apart, own", { 1, 1, 1, 2, 14, 4, 1024, 64, 25, 1024, 0, 2, 1 }, 512, 52, 4, FTL_GC_BLOCKING, true, 10,
	  APART | PAIRS },
	{ "apart, recency", { 2, 1, 1, 1, 12, 4, 512, 64, 16, 512, 0, 1, 1 }, 512, 26, 4,
	  FTL_GC_SLICED, false, 6, RECENT, NULL, 0, 0, FTL_GC_SHARED },
	{ "apart, unbuffered", { 2, 2, 1, 1, 12, 4, 1024, 64, 25, 1024, 0, 1, 1 }, 512, 90, 0,
	  FTL_GC_SLICED, false, 12, APART, NULL, 0, 0, FTL_GC_SHARED, .policy = &gc_fifo },
	{ "slc static", { 1, 1, 1, 1, 12, 6, 512, 64, 16, 512, 0, 1, 3 }, 512, 24, 2, FTL_GC_SLICED, false, 0,
	  SET_ASIDE },
	{ "slc static, folds", { 2, 1, 1, 1, 12, 6, 1024, 64, 25, 1024, 0, 1, 3 }, 512, 70, 4,
	  FTL_GC_SLICED, false, 0, SET_ASIDE | FOLDS },
	{ "slc static, idle", { 1, 1, 1, 2, 12, 8, 1024, 64, 25, 1024, 0, 1, 4 }, 512, 90, 4,
	  FTL_GC_BLOCKING, true, 0, SET_ASIDE | IDLE, NULL, 0, 400 },
	{ "slc dynamic", { 1, 1, 1, 1, 12, 6, 512, 64, 16, 512, 0, 1, 3 }, 512, 24, 2, FTL_GC_SLICED, false, 0, SPARE },
	{ "slc dynamic, folds, hot", { 2, 1, 1, 1, 12, 4, 1024, 64, 25, 1024, 0, 1, 2 }, 512, 50, 0,
	  FTL_GC_BLOCKING, false, 6, SPARE | FOLDS },
	{ "slc dynamic, idle, planes", { 1, 1, 1, 2, 12, 6, 1024, 64, 25, 1024, 0, 2, 3 }, 512, 60, 4,
	  FTL_GC_SLICED, true, 0, SPARE | FOLDS | IDLE | PAIRS | LEVEL | CORRECTED, NULL, 0, 600 },
	{ "slc static, copyback", { 2, 1, 1, 1, 12, 6, 1024, 64, 25, 1024, 0, 1, 3 }, 512, 60, 4,
	  FTL_GC_SLICED, false, 0, SET_ASIDE | FOLDS | COPYBACK | SUSPENDS, .frontier = FTL_GC_SHARED },
	{ "slc dynamic, fifo", { 2, 1, 1, 1, 12, 6, 1024, 64, 25, 1024, 0, 1, 3 }, 512, 60, 4,
	  FTL_GC_SLICED, false, 0, SPARE | SSDSIM, .policy = &gc_fifo },
	{ "cached", { 1, 1, 1, 1, 92, 8, 512, 64, 16, 512, 0, 1, 1 }, 512, 640, 4,
	  FTL_GC_SLICED, false, 0, .map_cache_pages = 3 },
	{ "cached, planes, unbuffered", { 1, 1, 1, 2, 64, 8, 512, 64, 16, 512, 0, 1, 1 }, 512, 850, 0,
	  FTL_GC_BLOCKING, true, 0, .map_cache_pages = 4 },
	{ "cached, hot", { 1, 1, 1, 1, 74, 8, 512, 64, 16, 512, 0, 1, 1 }, 512, 500, 8,
	  FTL_GC_SLICED, false, 140, .map_cache_pages = 3 },
	{ "cached, packed", { 1, 1, 1, 1, 110, 8, 1024, 64, 25, 512, 0, 1, 1 }, 512, 1400, 4,
	  FTL_GC_SLICED, false, 0, WORDS, .map_cache_pages = 5 },
	{ "cached, suspended", { 2, 1, 1, 1, 48, 8, 512, 64, 16, 512, 0, 1, 1 }, 512, 600, 4,
	  FTL_GC_SLICED, false, 0, SUSPENDS | CORES | CORRECTED, .map_cache_pages = 4 },
	{ "handles", { 1, 1, 1, 1, 16, 4, 512, 64, 17, 512, 0, 1, 1 }, 512, 20, 6, FTL_GC_SLICED, false, 0, HANDLES },
	{ "handles, packed", { 2, 1, 1, 1, 16, 4, 1024, 64, 26, 1024, 0, 1, 1 }, 512, 64, 6,
	  FTL_GC_BLOCKING, false, 0, HANDLES },
	{ "handles of copies", { 1, 1, 1, 2, 18, 4, 1024, 64, 26, 1024, 0, 2, 1 }, 512, 64, 6,
	  FTL_GC_SLICED, true, 0, HANDLES | COPIES | PAIRS },
	{ "handles, partial units", { 2, 1, 1, 1, 14, 4, 2048, 64, 26, 2048, 0, 1, 1 }, 1024, 64, 5,
	  FTL_GC_SLICED, false, 6, HANDLES | COPIES | CORES | COPYBACK, .policy = &gc_fifo },
	{ "handles, cached", { 1, 1, 1, 1, 96, 8, 512, 64, 17, 512, 0, 1, 1 }, 512, 640, 6,
	  FTL_GC_SLICED, false, 0, HANDLES, .map_cache_pages = 3 },
	{ "handles of copies, cached", { 2, 1, 1, 1, 54, 8, 512, 64, 17, 512, 0, 1, 1 }, 512, 600, 6,
	  FTL_GC_SLICED, false, 0, HANDLES | COPIES | SUSPENDS | CORES | CORRECTED, .map_cache_pages = 4 },
	{ "groups", { 2, 1, 1, 1, 18, 4, 1024, 64, 26, 1024, 0, 1, 1 }, 512, 64, 8,
	  FTL_GC_SLICED, false, 0, HANDLES | GROUPS },
	{ "groups of copies, planes", { 2, 1, 1, 2, 20, 4, 1024, 64, 26, 1024, 0, 2, 1 }, 512, 150, 9,
	  FTL_GC_BLOCKING, true, 20, HANDLES | GROUPS | COPIES | PAIRS },
	{ "groups, cached", { 2, 1, 1, 1, 58, 8, 512, 64, 17, 512, 0, 1, 1 }, 512, 600, 9,
	  FTL_GC_SLICED, false, 0, HANDLES | GROUPS | SUSPENDS | CORRECTED, .map_cache_pages = 4 },
	{ "rtf, cost-benefit", { 1, 1, 1, 1, 22, 8, 512, 64, 0, 512, 0, 1, 2 }, 512, 56, 4, FTL_GC_SLICED, false, 0,
	  FIXED | IDLE, "rtf", 0, 200, .policy = &gc_cost_benefit },
	{ "metadata", { 2, 1, 1, 1, 10, 4, 1024, 64, 25, 1024, 0, 1, 1 }, 512, 52, 4,
	  FTL_GC_SLICED, false, 0, METADATA },
	{ "metadata, partial units", { 2, 1, 1, 1, 10, 4, 2048, 64, 25, 2048, 0, 1, 1 }, 1024, 52, 4,
	  FTL_GC_BLOCKING, false, 0, METADATA | CORES | CACHE },
	{ "metadata, planes, words", { 1, 1, 1, 2, 12, 4, 2048, 128, 25, 1024, 0, 2, 1 }, 1024, 52, 4,
	  FTL_GC_SLICED, true, 6, METADATA | PAIRS | WORDS | LEVEL | CORRECTED },
	{ "metadata, slc", { 2, 1, 1, 1, 12, 6, 1024, 64, 25, 1024, 0, 1, 3 }, 512, 70, 4,
	  FTL_GC_SLICED, false, 0, METADATA | SET_ASIDE | FOLDS },
	{ "metadata, cached", { 1, 1, 1, 1, 110, 8, 1024, 64, 25, 512, 0, 1, 1 }, 512, 1400, 4,
	  FTL_GC_SLICED, false, 0, METADATA | WORDS, .map_cache_pages = 5 },
	{ "metadata, handles", { 2, 1, 1, 1, 14, 4, 2048, 64, 26, 2048, 0, 1, 1 }, 1024, 64, 5,
	  FTL_GC_SLICED, false, 6, METADATA | HANDLES | COPIES, .policy = &gc_fifo },
	{ "queues", { 2, 1, 1, 1, 10, 4, 1024, 64, 25, 1024, 0, 1, 1 }, 512, 52, 4,
	  FTL_GC_SLICED, false, 0, QUEUES },
	{ "queues, weighted, hot", { 2, 1, 1, 1, 10, 4, 1024, 64, 25, 1024, 0, 1, 1 }, 512, 52, 4,
	  FTL_GC_BLOCKING, false, 4, QUEUES | WEIGHTS },
	{ "carried", { 1, 1, 1, 1, 14, 6, 2048, 64, 43, 512, 0, 1, 1 }, 512, 150, 4, FTL_GC_SLICED, false, 0, CARRIES },
	{ "carried, eight units", { 1, 1, 1, 1, 12, 4, 4096, 128, 79, 512, 0, 1, 1 }, 512, 180, 4,
	  FTL_GC_BLOCKING, false, 0, CARRIES, .policy = &gc_cost_benefit },
	{ "carried, pairs, planes", { 1, 1, 1, 2, 12, 4, 2048, 64, 43, 512, 0, 2, 1 }, 512, 88, 4,
	  FTL_GC_SLICED, true, 20, CARRIES | PAIRS | WORDS | CORRECTED },
	{ "carried, fifo, copyback", { 2, 1, 1, 1, 14, 6, 2048, 64, 43, 2048, 0, 1, 1 }, 512, 280, 4,
	  FTL_GC_SLICED, false, 0, CARRIES | COPYBACK, .policy = &gc_fifo },
	{ "carried, shared, idle", { 1, 1, 1, 1, 12, 4, 2048, 64, 43, 512, 0, 1, 1 }, 512, 90, 4,
	  FTL_GC_SLICED, false, 0, CARRIES | IDLE, NULL, 0, 500, FTL_GC_SHARED, .policy = &gc_random },
	{ "carried, parity", { 1, 1, 1, 1, 16, 4, 2048, 64, 0, 512, 0, 1, 2 }, 512, 90, 4,
	  FTL_GC_SLICED, false, 0, CARRIES | FIXED, "parity" },
	{ "carried, rtf", { 1, 1, 1, 1, 20, 4, 2048, 64, 0, 512, 0, 1, 2 }, 512, 90, 4,
	  FTL_GC_SLICED, false, 0, CARRIES | FIXED | IDLE, "rtf", 0, 200 },
	{ "carried, flex", { 1, 1, 1, 1, 16, 4, 2048, 64, 0, 512, 0, 1, 2 }, 512, 90, 4,
	  FTL_GC_SLICED, false, 0, CARRIES | RELAXED | IDLE, "flex", 200, 400 },
	{ "carried, slc static", { 1, 1, 1, 1, 16, 6, 2048, 64, 43, 512, 0, 1, 3 }, 512, 150, 4,
	  FTL_GC_SLICED, false, 20, CARRIES | SET_ASIDE | FOLDS | IDLE, NULL, 0, 400 },
	{ "carried, slc dynamic", { 1, 1, 1, 1, 16, 6, 2048, 64, 43, 512, 0, 1, 3 }, 512, 160, 4,
	  FTL_GC_SLICED, false, 20, CARRIES | SPARE | FOLDS },
	{ "carried, apart", { 1, 1, 1, 1, 18, 6, 2048, 64, 43, 512, 0, 1, 1 }, 512, 180, 4,
	  FTL_GC_SLICED, false, 40, CARRIES | APART },
	{ "carried, handles", { 1, 1, 1, 1, 22, 6, 2048, 64, 44, 512, 0, 1, 1 }, 512, 180, 6,
	  FTL_GC_SLICED, false, 0, CARRIES | HANDLES | COPIES },
	{ "one shot", { 1, 1, 1, 1, 12, 12, 512, 64, 16, 512, 0, 1, 3 }, 512, 54, 6,
	  FTL_GC_SLICED, false, 0, SHOT | TAKES },
	{ "one shot, packed", { 2, 1, 1, 1, 10, 12, 1024, 64, 25, 1024, 0, 1, 3 }, 512, 150, 8,
	  FTL_GC_SLICED, false, 0, SHOT },
	{ "one shot, partial units", { 2, 1, 1, 1, 10, 8, 2048, 64, 25, 2048, 0, 1, 2 }, 1024, 104, 8,
	  FTL_GC_BLOCKING, false, 0, SHOT | TAKES },
	{ "one shot, planes", { 1, 1, 1, 2, 10, 12, 1024, 64, 25, 1024, 0, 1, 3 }, 512, 150, 12,
	  FTL_GC_SLICED, true, 0, SHOT | TAKES },
	{ "one shot, four planes", { 1, 1, 1, 4, 10, 16, 512, 64, 16, 512, 0, 1, 4 }, 512, 200, 16,
	  FTL_GC_SLICED, true, 0, SHOT },
	{ "one shot, hot", { 2, 2, 1, 1, 10, 6, 512, 64, 16, 512, 0, 1, 3 }, 512, 27, 8,
	  FTL_GC_SLICED, false, 6, SHOT | TAKES },
	{ "one shot, unbuffered", { 2, 2, 1, 1, 10, 8, 1024, 64, 25, 1024, 0, 1, 2 }, 512, 200, 0,
	  FTL_GC_SLICED, false, 0, SHOT | TAKES },
	{ "one shot, pairs, words, sent", { 1, 1, 1, 2, 12, 12, 2048, 64, 43, 512, 0, 2, 3 }, 512, 260, 0,
	  FTL_GC_BLOCKING, true, 0, SHOT | TAKES | PAIRS | WORDS | SSDSIM },
	{ "one shot, pairs, shared", { 1, 1, 1, 2, 10, 12, 1024, 64, 25, 1024, 0, 2, 3 }, 512, 130, 8,
	  FTL_GC_SLICED, true, 0, SHOT | PAIRS, NULL, 0, 0, FTL_GC_SHARED },
	{ "one shot, levelled", { 2, 1, 1, 1, 10, 6, 1024, 64, 25, 1024, 0, 1, 3 }, 512, 52, 6,
	  FTL_GC_BLOCKING, false, 8, SHOT | TAKES | LEVEL | CORRECTED },
	{ "one shot, suspended", { 2, 1, 1, 1, 10, 8, 1024, 64, 25, 1024, 0, 1, 2 }, 512, 104, 6,
	  FTL_GC_SLICED, false, 0, SHOT | TAKES | SUSPENDS | CORES | CACHE },
	{ "one shot, carried, idle", { 1, 1, 1, 1, 14, 18, 2048, 64, 43, 512, 0, 1, 3 }, 512, 450, 8,
	  FTL_GC_SLICED, false, 20, SHOT | TAKES | CARRIES | IDLE, NULL, 0, 500, .policy = &gc_cost_benefit },
	{ "one shot, metadata, fifo", { 2, 1, 1, 1, 10, 8, 2048, 64, 25, 2048, 0, 1, 2 }, 1024, 104, 8,
	  FTL_GC_SLICED, false, 0, SHOT | METADATA, .policy = &gc_fifo },
	{ "one shot, queues", { 2, 1, 1, 1, 10, 8, 1024, 64, 25, 1024, 0, 1, 2 }, 512, 104, 6,
	  FTL_GC_SLICED, false, 0, SHOT | QUEUES },
	{ "queues, unbuffered", { 2, 2, 1, 1, 10, 4, 1024, 64, 25, 1024, 0, 1, 1 }, 512, 110, 0,
	  FTL_GC_SLICED, false, 0, QUEUES },
};

#endif
