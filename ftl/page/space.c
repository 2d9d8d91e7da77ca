// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * space.c - how many blocks and units a configuration needs beside the exported ones. space_blocks_needed() counts
 * those without which the configuration is refused, page_ftl_kept() those that never have room for the host's data
 * (the effective over-provisioning).
 *
 * These functions read settings and geometry, and no state.
 */
#include "handles.h"
#include "map.h"
#include "page_state.h"
#include "space.h"

/* Returns the units that the bitmaps of trimmed units take. */
uint32_t space_bitmaps(const struct ftl_config *c)
{
	uint64_t lpns = c->capacity_bytes / c->unit_bytes, per = (uint64_t)c->unit_bytes * 8;

	return (uint32_t)((lpns + per - 1) / per);
}

/* Returns the free blocks of a plane that only GC may open. An FTL with parity pages reserves one more for them. */
uint32_t space_urgent_blocks(const struct front_policy *policy, const struct ftl_config *c)
{
	return c->gc_urgent_blocks + (policy->group > 0);
}

/* Returns the open blocks of a plane: frontiers, the backup block in use and the one before it. */
static uint32_t open_blocks(const struct front_policy *policy, const struct ftl_config *c)
{
	const struct front_config fc = { .policy = policy, .active_blocks = c->active_blocks,
					 .own = front_own(policy, c->gc_frontier),
					 .streams = handles_streams(c), .copy_streams = handles_copy_streams(c) };

	return front_slots(&fc) + (policy->group ? 2 : 0);
}

/*
 * Returns the blocks of a plane that the SLC cache takes from other uses. A dynamic cache takes only
 * its open block.
 */
static uint32_t slc_blocks(const struct ftl_config *c)
{
	return c->slc_cache == FTL_SLC_STATIC ? c->slc_blocks : c->slc_cache == FTL_SLC_DYNAMIC;
}

uint64_t space_units(const struct ftl_config *c, const struct nand_geometry *g)
{
	uint64_t units = c->capacity_bytes / c->unit_bytes + space_bitmaps(c) + 1;

	return units + (c->map_cache_pages ? (uint64_t)map_pages_of(c, g) * (g->page_bytes / c->unit_bytes) : 0);
}

/* Returns the units of a block that are left if GC cannot free one page (with one_shot a word line) of it. */
uint64_t space_block_units(const struct ftl_config *c, const struct nand_geometry *g)
{
	return (uint64_t)(g->pages_per_block - geo_shot_pages(g)) * (g->page_bytes / c->unit_bytes) + 1;
}

uint32_t space_kept_blocks(const struct front_policy *policy, const struct ftl_config *c,
			   const struct nand_geometry *g)
{
	uint32_t for_map = c->map_cache_pages ? map_reserve(c, g) + 1 : 0;	/* one is open */

	return space_urgent_blocks(policy, c) + open_blocks(policy, c) + slc_blocks(c) + for_map;
}

/*
 * Returns the good blocks that the exported units need. They hold all exported and hidden units and,
 * in each block, one page (with one_shot a word line) that GC cannot free; each plane also needs the
 * urgent reserve and the open blocks.
 */
uint64_t space_blocks_needed(const struct front_policy *policy, const struct ftl_config *c,
			     const struct nand_geometry *g)
{
	uint64_t per_block = space_block_units(c, g);

	return (space_units(c, g) + per_block - 1) / per_block +
	       (uint64_t)geo_planes(g) * space_kept_blocks(policy, c, g);
}

/*
 * Returns the pages that never have room for the host's data. GC begins when gc_start_blocks - 1 blocks are free and
 * ends at gc_stop_blocks, so it chooses its last victim when gc_stop_blocks - 1 are free; the average of the two is
 * taken. A block in SLC mode holds one bit of each cell.
 */
struct ftl_kept page_ftl_kept(const struct ftl_ops *t, const struct ftl_config *c, const struct nand_geometry *g)
{
	const struct front_policy *policy = t->policy;
	uint64_t planes = geo_planes(g), of_plane = planes * g->pages_per_block, upp = g->page_bytes / c->unit_bytes;
	uint32_t backup = policy->group ? 2 : 0, lost_bits = g->bits_per_cell - 1;
	uint64_t own = space_bitmaps(c) + 1ull + (c->map_cache_pages ? (uint64_t)map_pages_of(c, g) * upp : 0);
	uint64_t slc = c->slc_cache == FTL_SLC_STATIC ? of_plane * c->slc_blocks * lost_bits / g->bits_per_cell : 0;
	uint32_t open = open_blocks(policy, c) - backup + (c->slc_cache != FTL_SLC_NONE) + (c->map_cache_pages > 0);

	return (struct ftl_kept){
		.free_pages = of_plane * (c->gc_start_blocks + c->gc_stop_blocks - 2) / 2 + slc +
			      of_plane * (map_reserve(c, g) + backup),
		.open_pages = of_plane * open,
		.own_pages = (own + upp - 1) / upp,
	};
}
