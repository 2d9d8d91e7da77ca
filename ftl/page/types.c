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
#include "page_ftl.h"

static const char *page_not_safe(const struct ftl_config *c, const struct nand_geometry *g)
{
	if (!g->paired_loss || g->bits_per_cell < 2 || g->one_shot || c->power_protected)
		return NULL;
	return "the page FTL backs up no LSB pages: a power cut during the program of an upper page takes "
	       "the lower pages of its word line along, flushed or not";
}

/* ---- settings ------------------------------------------------------------ */

static const struct knob page_rows[] = {
	{ "gc_policy", KNOB_GC_POLICY, offsetof(struct ftl_config, gc_policy), 0, 0, "greedy",
	  "choice of the block to collect: fewest valid units; highest age x (1 - u) / 2u; closed first; "
	  "any; fewest valid units of gc_choices drawn at random; of the gc_window_blocks closed first", NULL },
	FTL_KNOB_ROWS(PAGE_ROWS)
	{ NULL }
};

static const struct knob_table own = { "ftl", page_rows };
/* Settings of `page` alone. */
static const struct knob_table heat_own = FTL_KNOBS("ftl", PAGE_HEAT_ROWS);
static const struct knob_table slc_own = FTL_KNOBS("ftl", PAGE_SLC_ROWS);
static const struct knob_table placement_own = FTL_KNOBS("ftl", PAGE_PLACEMENT_ROWS);
static const struct knob_table map_own = FTL_KNOBS("ftl", PAGE_MAP_ROWS);
static const struct knob_table metadata_own = FTL_KNOBS("ftl", PAGE_METADATA_ROWS);
/* Settings of others. */
static const struct knob_table flex_own = FTL_KNOBS("ftl", PAGE_FLEX_ROWS);
static const struct knob_table backup_own = FTL_KNOBS("ftl", PAGE_BACKUP_ROWS);

#define PAGE_KNOBS \
	&ftl_gc_knobs, &ftl_gc_stop_knobs, &own, &ftl_word_knobs, &ftl_copy_knobs, &ftl_idle_gc_knobs

static const struct knob_table *const page_knobs[] = { PAGE_KNOBS, &ftl_second_victim_knobs, &heat_own, &slc_own,
							&map_own, &placement_own, &metadata_own, NULL };
static const struct knob_table *const parity_knobs[] = { PAGE_KNOBS, &backup_own, NULL };
static const struct knob_table *const rtf_knobs[] = { PAGE_KNOBS, &ftl_rtf_knobs, &backup_own, NULL };
static const struct knob_table *const flex_knobs[] = { PAGE_KNOBS, &ftl_flex_knobs, &flex_own, &backup_own, NULL };

/* ---- the types ----------------------------------------------------------- */

#define FTL_OF_POLICY(type, safe, of_type, shot, not_seen)                                        \
	const struct ftl_ops type##_ftl_ops = {                                                 \
		.name = #type, .policy = &front_##type##_policy, .not_safe = safe, .knobs = of_type, \
		.one_shot = shot, .unseen = not_seen, PAGE_FTL_OPS_COMMON,                      \
	}

FTL_OF_POLICY(page, page_not_safe, page_knobs, true, true);
FTL_OF_POLICY(parity, NULL, parity_knobs, false, false);
FTL_OF_POLICY(rtf, NULL, rtf_knobs, false, false);
FTL_OF_POLICY(flex, NULL, flex_knobs, false, false);
