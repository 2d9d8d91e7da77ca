// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * types.c - the page-mapping FTLs, each a policy of front.h: `page`, and those of
 * J. Park, "Performance and Lifetime Optimizations for Large-Capacity NAND Storage
 * Systems" (dissertation, Seoul National University, 2019), chapter 3.
 *
 *   page    on ascending arrays, and as the paper's pageFTL where LSB and MSB pages have
 *           an order: without backup, so an MSB program that is cut short takes the LSB
 *           page of its word line along, flushed or not
 *   parity  fixed order; a parity page for each two LSB pages, before their MSB pages
 *   rtf     the same with several active blocks, "return to fast"
 *   flex    relaxed order, two phases; a parity page a block
 */
#include "ftl_knobs.h"
#include "page_ftl.h"

static const char *page_not_safe(const struct ftl_config *c, const struct nand_geometry *g)
{
	(void)c;
	if (!g->paired_loss || g->bits_per_cell < 2)
		return NULL;
	return "the page FTL backs up no LSB pages: a power cut during the program of an upper page takes "
	       "the lower pages of its word line along, flushed or not";
}

/* ---- settings ------------------------------------------------------------ */

static const char *const gc_frontiers[] = {
	[FTL_GC_AUTO] = "auto", [FTL_GC_OWN] = "own", [FTL_GC_SHARED] = "shared", NULL
};
static const char *const gc_pages[] = {
	[FTL_GC_SLOW] = "slow", [FTL_GC_FAST] = "fast", [FTL_GC_AS_HOST] = "host", NULL
};
static const char *const backup_channels[] = { [FTL_BACKUP_SAME] = "same", [FTL_BACKUP_NEXT] = "next", NULL };
static const char *const hot_colds[] = {
	[FTL_HOT_COLD_OFF] = "off", [FTL_HOT_COLD_COUNT] = "count", [FTL_HOT_COLD_RECENCY] = "recency", NULL
};
static const char *const slc_caches[] = {
	[FTL_SLC_NONE] = "none", [FTL_SLC_STATIC] = "static", [FTL_SLC_DYNAMIC] = "dynamic", NULL
};
static const char *const slc_fulls[] = { [FTL_SLC_DIRECT] = "direct", [FTL_SLC_FOLD] = "fold", NULL };
static const char *const isolations[] = {
	[FTL_ISOLATED_INITIALLY] = "initially", [FTL_ISOLATED_PERSISTENTLY] = "persistently", NULL
};
static const char *const suspends[] = {
	[FTL_SUSPEND_OFF] = "off", [FTL_SUSPEND_ERASE] = "erase", [FTL_SUSPEND_PROGRAM] = "program",
	[FTL_SUSPEND_ALL] = "all", NULL
};

static const struct knob page_rows[] = {
	{ "gc_policy", KNOB_GC_POLICY, offsetof(struct ftl_config, gc_policy), 0, 0, "greedy",
	  "choice of the block to collect: fewest valid units; highest age x (1 - u) / 2u; closed first; "
	  "any; fewest valid units of gc_choices drawn at random; of the gc_window_blocks closed first", NULL },
	FTL_KNOB(gc_choices, 1, 1024, "10", "d-choices: blocks drawn"),
	FTL_KNOB(gc_window_blocks, 1, 1 << 20, "64", "windowed-greedy: blocks of a plane among which it chooses"),
	FTL_KNOB(wl_threshold, 0, 1 << 20, "0",
	  "static wear levelling: allowed difference in erases between a plane's most worn free "
	  "block and least worn full block; 0: none"),
	FTL_KNOB_BOOL(relocate, "yes",
	  "collect a block after a host read with more than relocate_bits raw errors; a block that "
	  "relocation filled, after as many such reads as it has pages"),
	FTL_KNOB_IS(gc_frontier, gc_frontiers, "auto",
	  "GC copies to its own blocks or to the host's; auto, as published: own for page and parity, "
	  "shared for rtf and flex, whose idle GC always uses the host's"),
	FTL_KNOB_IS(suspend, suspends, "off",
		    "which commands a read of the host suspends; needs `timing.suspend_ns`; how often one "
		    "command: `timing.suspends_max`"),
	FTL_KNOB_BOOL(multiplane, "yes", "program the planes of a die together"),
	FTL_KNOB_LAST
};

/* Settings of `page` alone, too. */
static const struct knob slc_rows[] = {
	FTL_KNOB_IS(slc_cache, slc_caches, "none",
		    "the host first writes to blocks with one bit per cell: slc_blocks of each plane, set aside; or "
		    "free blocks beyond gc_stop_blocks, at most slc_blocks. GC folds them into the others, also when "
		    "the drive is idle if idle_gc_permille is not 0. Needs `timing.slc_program_ns`"),
	FTL_KNOB(slc_blocks, 0, 1 << 20, "0", "blocks of a plane in SLC mode, at most"),
	FTL_KNOB_IS(slc_full, slc_fulls, "direct",
		    "while the cache is full, the host writes past it; or waits until GC has folded a block"),
	FTL_KNOB_LAST
};

/* Settings of `page` alone. */
static const struct knob heat_rows[] = {
	FTL_KNOB_IS(hot_cold, hot_colds, "off",
		    "hot LPNs have blocks of their own for pages and copies: count: those written more often than the "
		    "mean; recency: those last written while the host wrote half as much as the capacity (noted in "
		    "at most 2^20 regions, a byte each). A plane keeps one more block open (two with gc_frontier "
		    "own). Not with gc_copyback"),
	FTL_KNOB_LAST
};

static const struct knob placement_rows[] = {
	FTL_KNOB(placement_handles, 0, FTL_HANDLES_MAX, "0",
		 "placement handles that a write may name (NVMe's FDP): each has blocks of its own, one of them open "
		 "in each plane. 0: off. A drive cannot change between 0 and more"),
	FTL_KNOB_IS(placement_isolation, isolations, "initially",
		    "GC copies data of all handles to the same blocks; or those of each handle to blocks of its own, "
		    "one of them open in each plane"),
	FTL_KNOB_LAST
};

static const struct knob map_rows[] = {
	FTL_KNOB(map_cache_pages, 0, 1 << 20, "0",
		 "map pages in memory, of page_bytes / 4 entries each; others are read from flash when they are "
		 "needed. 0: the whole map is in memory, and flash has none of it"),
	FTL_KNOB_LAST
};

static const struct knob metadata_rows[] = {
	FTL_KNOB(metadata_bytes, 0, 4096, "0",
		 "bytes of each mapping unit for the metadata of logical blocks, in the page's spare area, which must "
		 "have room for them (geometry.oob_bytes). With units of 4 KiB, blocks of 512 + 8 bytes need 64, of "
		 "512 + 16 128, of 4096 + 8 8, of 4096 + 16 16. 0: metadata are stored behind the namespace's data"),
	FTL_KNOB_LAST
};

static const struct knob flex_rows[] = {
	FTL_KNOB_IS(gc_pages, gc_pages, "slow",
	  "in shared blocks, copies take MSB pages; LSB pages; or are placed like the host's. Idle "
	  "GC takes MSB pages"),
	FTL_KNOB_LAST
};

static const struct knob backup_rows[] = {
	FTL_KNOB_IS(backup_channel, backup_channels, "same",
	  "parity pages go to the plane of the pages that they cover; or to the same plane of the next channel, "
	  "which programs them meanwhile. A drive keeps its setting"),
	FTL_KNOB_LAST
};

static const struct knob_table own = { "ftl", page_rows }, flex_own = { "ftl", flex_rows },
	heat_own = { "ftl", heat_rows }, slc_own = { "ftl", slc_rows }, map_own = { "ftl", map_rows },
	placement_own = { "ftl", placement_rows }, metadata_own = { "ftl", metadata_rows },
	backup_own = { "ftl", backup_rows };

#define PAGE_KNOBS &own, &ftl_word_knobs, &ftl_copy_knobs, &ftl_second_victim_knobs, &ftl_idle_gc_knobs

static const struct knob_table *const page_knobs[] = { PAGE_KNOBS, &heat_own, &slc_own, &map_own,
							&placement_own, &metadata_own, NULL };
static const struct knob_table *const parity_knobs[] = { PAGE_KNOBS, &backup_own, NULL };
static const struct knob_table *const rtf_knobs[] = { PAGE_KNOBS, &ftl_rtf_knobs, &backup_own, NULL };
static const struct knob_table *const flex_knobs[] = { PAGE_KNOBS, &ftl_flex_knobs, &flex_own, &backup_own, NULL };

/* ---- the types ----------------------------------------------------------- */

#define FTL_OF_POLICY(type, safe, of_type, moving)                                                \
	const struct ftl_ops type##_ftl_ops = {                                                 \
		.name = #type, .policy = &front_##type##_policy, .not_safe = safe, .knobs = of_type, \
		.online = moving, PAGE_FTL_OPS_COMMON,                                          \
	}

FTL_OF_POLICY(page, page_not_safe, page_knobs, page_ftl_online);
FTL_OF_POLICY(parity, NULL, parity_knobs, page_ftl_online);
FTL_OF_POLICY(rtf, NULL, rtf_knobs, page_ftl_online);
FTL_OF_POLICY(flex, NULL, flex_knobs, flex_ftl_online);
