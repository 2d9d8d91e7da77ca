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
	(void)c;
	if (!g->paired_loss || g->bits_per_cell < 2)
		return NULL;
	return "the page FTL backs up no LSB pages: a power cut during the program of an upper page takes "
	       "the lower pages of its word line along, flushed or not";
}

#define PAGE_KEYS                                                                               \
	"gc_policy", "gc_choices", "gc_window_blocks", "gc_copyback", "gc_subpage_reads",         \
	"host_subpage_reads", "wl_threshold",                                                     \
	"relocate", "parallel_erase", "second_victim_pages", "gc_frontier", "idle_gc_permille",   \
	"idle_gc_ns", "accounting", "multiplane", "suspend"

static const char *const page_keys[] = { PAGE_KEYS, "hot_cold", NULL };
static const char *const parity_keys[] = { PAGE_KEYS, NULL };
static const char *const rtf_keys[] = { PAGE_KEYS, "active_blocks", NULL };
static const char *const flex_keys[] = {
	PAGE_KEYS, "fast_above_permille", "slow_below_permille", "quota_permille", "gc_pages", NULL
};

#define FTL_OF_POLICY(type, safe, of_type, knobs)                                               \
	static uint32_t type##_oob_bytes(const struct ftl_config *c, const struct nand_geometry *g) \
	{                                                                                       \
		return front_oob_bytes(&front_##type##_policy, g->page_bytes / c->unit_bytes);   \
	}                                                                                       \
	static int type##_validate(const struct ftl_config *c, const struct nand_geometry *g,    \
				   const char **why)                                            \
	{                                                                                       \
		return page_ftl_validate_with(&front_##type##_policy, c, g, why);                \
	}                                                                                       \
	static size_t type##_footprint(const struct ftl_config *c, const struct nand_geometry *g) \
	{                                                                                       \
		return page_ftl_footprint_with(&front_##type##_policy, c, g);                    \
	}                                                                                       \
	static int type##_init(void *mem, size_t len, const struct ftl_config *c, struct nand *n, \
			       const struct ftl_host *host, struct ftl **out)                   \
	{                                                                                       \
		return page_ftl_init_with(&type##_ftl_ops, &front_##type##_policy, mem, len, c,  \
					  n, host, out);                                        \
	}                                                                                       \
	const struct ftl_ops type##_ftl_ops = {                                                 \
		.name = #type, .oob_bytes = type##_oob_bytes, .validate = type##_validate,        \
		.footprint = type##_footprint, .init = type##_init, .not_safe = safe,            \
		.keys = of_type, .online = knobs, PAGE_FTL_OPS_COMMON,                                           \
	}

extern const struct ftl_ops parity_ftl_ops, rtf_ftl_ops, flex_ftl_ops;

FTL_OF_POLICY(page, page_not_safe, page_keys, page_ftl_online);
FTL_OF_POLICY(parity, NULL, parity_keys, page_ftl_online);
FTL_OF_POLICY(rtf, NULL, rtf_keys, page_ftl_online);
FTL_OF_POLICY(flex, NULL, flex_keys, flex_ftl_online);
