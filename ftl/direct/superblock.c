// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * superblock.c - the Superblock FTL: its configuration, its memory, and the places of host pages.
 * Tables are in sb_state.c, GC in sb_gc.c and sb_plan.c, mounting in sb_mount.c; superblock.h has
 * the shared declarations, the terms and the invariants.
 *
 * A host page goes to its group's OPEN block. When that is full, it goes to a block of the group
 * that has free pages; then to a new block, if the group has fewer than N blocks and more than
 * gc_urgent_blocks are free. Otherwise it waits for GC (sb_gc.c). With superblock_cold the COLD block
 * is the last of these (new_block).
 *
 * Limits. Order none or ascending. One group's writes wait while it is collected.
 */
#include "direct_mount.h"
#include "sb_gc.h"
#include "sb_mount.h"
#include "sb_state.h"
#include "superblock.h"

/* ---- configuration ------------------------------------------------------------- */

static uint32_t groups_of(const struct ftl_config *c, const struct nand_geometry *g)
{
	uint32_t pages = direct_plane_pages(c, g), each = c->superblock_blocks * g->pages_per_block;

	return each ? (pages + each - 1) / each : 1;
}

/*
 * Returns the good blocks that a plane needs for data, GC's target and the reserve. With page mapping
 * it also needs one for the write frontier.
 */
static uint32_t blocks_needed(const struct ftl_config *c, const struct nand_geometry *g)
{
	uint32_t pages = direct_plane_pages(c, g);

	if (c->superblock_blocks)
		return groups_of(c, g) * c->superblock_blocks + c->gc_urgent_blocks + 1;
	return (pages + g->pages_per_block - 1) / g->pages_per_block + c->gc_urgent_blocks + 2;
}

static const char *fault(const struct ftl_config *c, const struct nand_geometry *g)
{
	if (c->superblock_blocks && c->superblock_max_blocks <= c->superblock_blocks)
		return "superblock_max_blocks must be more than superblock_blocks";
	if (!c->superblock_blocks && c->superblock_max_blocks)
		return "superblock_max_blocks must be 0 with superblock_blocks = 0 (page mapping)";
	if (c->superblock_cold && !c->superblock_blocks)
		return "superblock_cold needs superblock_blocks of 1 or more: page mapping has no cold blocks";
	if (c->gc_stop_blocks < c->gc_start_blocks)
		return "gc_stop_blocks must be gc_start_blocks or more";
	if (c->gc_urgent_blocks < 2)
		return "gc_urgent_blocks must be at least 2: one for GC's copies, one for a power cut";
	if (c->pen && !c->pen_merges_max)
		return "pen_merges_max must be at least 1: raise it, or say pen = no";
	if (geo_pages(g) / geo_planes(g) >= 0xfffffff0u)
		return "a plane has too many pages";
	return NULL;
}

/* ---- memory ----------------------------------------------------------------------- */

static uint32_t bytes_for(uint64_t largest)
{
	uint32_t bytes = 1;

	while (bytes < 4 && largest >> 8 * bytes)
		bytes++;
	return bytes;
}

static void sizes(struct sb *s, const struct ftl_config *c, const struct nand_geometry *g)
{
	s->m = c->superblock_blocks;
	s->n = s->m ? c->superblock_max_blocks : g->blocks_per_plane;
	s->groups = groups_of(c, g);
	s->group_pages = s->m ? s->m * g->pages_per_block : direct_plane_pages(c, g);
	/*
	 * Besides N blocks a group may have GC's target, a block for pages that an M-Merge copies out, the block
	 * kept for power cuts, and blocks whose erase a cut interrupted.
	 */
	s->slots = s->m ? s->n + 3 + NAND_ERASE_GROUP_MAX : g->blocks_per_plane;
	s->lblocks = (direct_plane_pages(c, g) + g->pages_per_block - 1) / g->pages_per_block;
	s->parts = c->superblock_map_parts < s->lblocks ? c->superblock_map_parts : s->lblocks;
	s->levels = g->pb_levels;
	s->pb_pages = g->pages_per_block >> g->pb_levels;
	s->map_bytes = bytes_for((uint64_t)s->slots * g->pages_per_block);
	s->map_none = s->map_bytes == 4 ? ~0u : (1u << 8 * s->map_bytes) - 1;
	s->back_bytes = bytes_for((uint64_t)s->group_pages + 1);
	s->free_mark = s->back_bytes == 4 ? ~0u : (1u << 8 * s->back_bytes) - 1;
	s->stale_mark = s->free_mark - 1;
}

/* Returns the length of a collection's lists: the blocks of a group, or of one erase. */
static uint32_t victims_max(const struct sb *s)
{
	return s->m ? s->slots : NAND_ERASE_GROUP_MAX;
}

static void carve(struct sb *s, struct ssd_arena *m, const struct ftl_config *c,
		  const struct nand_geometry *g)
{
	uint64_t blocks = geo_blocks(g), planes = geo_planes(g);
	uint32_t plans = c->pen && s->m ? s->slots : 0;

	s->map = ssd_carve(m, planes * direct_plane_pages(c, g), s->map_bytes);
	s->back = ssd_carve(m, geo_pages(g), s->back_bytes);
	s->slot = ssd_carve(m, s->m ? planes * s->groups * s->slots : 0, sizeof(*s->slot));
	s->block = ssd_carve(m, blocks, sizeof(*s->block));
	s->group = ssd_carve(m, planes * s->groups, sizeof(*s->group));
	s->plane = ssd_carve(m, planes, sizeof(*s->plane));
	s->holder = s->parts ? ssd_carve(m, planes * s->lblocks, sizeof(*s->holder)) : NULL;
	s->part = s->parts ? ssd_carve(m, planes * s->parts, sizeof(*s->part)) : NULL;
	s->dis = c->pen ? ssd_carve(m, blocks << s->levels, sizeof(*s->dis)) : NULL;
	s->work = ssd_carve(m, 1, sizeof(*s->work));
	s->count = ssd_carve(m, s->slots, sizeof(*s->count));
	s->pages = ssd_carve(m, PEN_SMALLEST_MAX, sizeof(*s->pages));
	for (uint32_t p = 0; p < planes; p++) {
		uint32_t *heap = ssd_carve(m, s->m ? s->groups : g->blocks_per_plane, sizeof(*heap));
		uint32_t *victim = ssd_carve(m, victims_max(s), sizeof(*victim));
		uint32_t *plan_block = ssd_carve(m, plans, sizeof(*plan_block));
		struct pen_plan *plan = ssd_carve(m, plans, sizeof(*plan));

		if (!m->base)
			continue;
		s->plane[p].heap = heap;
		s->plane[p].gc = (struct sb_gc){ .victim = victim, .plan_block = plan_block,
						 .plan = plan };
	}
}

static void *lay_out(struct ssd_arena *m, const struct ftl_config *c, const struct nand_geometry *g)
{
	struct sb *s = ssd_carve(m, 1, sizeof(*s)), at = { 0 };

	sizes(&at, c, g);
	carve(&at, m, c, g);
	if (s)
		*s = at;
	return s;
}

/* Returns the cost of copying a page: read, program, and both transfers. */
static uint64_t copy_cost(const struct ftl_config *c, const struct nand_geometry *g)
{
	const struct nand_timing *t = &c->timing;
	uint64_t bytes = g->page_bytes + (t->oob_off_bus ? 0 : g->oob_bytes), sum = 0;

	SSD_ASSERT(g->bits_per_cell);
	for (uint32_t i = 0; i < g->bits_per_cell; i++)
		sum += t->read_ns[i] + t->program_ns[i];
	sum = sum / g->bits_per_cell + t->cmd_ns;
	if (!c->gc_copyback)
		sum += t->cmd_ns + 2 * ((bytes * t->bus_ps_per_byte + 999) / 1000);
	return sum;
}

static void init(struct direct *d)
{
	struct sb *s = sb_of(d);

	memset(s->map, 0xff, (size_t)d->planes * d->plane_pages * s->map_bytes);
	memset(s->back, 0xff, (size_t)geo_pages(d->g) * s->back_bytes);	/* FREE */
	if (s->m)
		memset(s->slot, 0xff, (size_t)d->planes * s->groups * s->slots * sizeof(*s->slot));
	for (uint32_t b = 0; b < geo_blocks(d->g); b++)
		s->block[b].heap_at = DIRECT_NONE;
	for (uint32_t i = 0; i < d->planes * s->groups; i++)
		s->group[i] = (struct sb_group){ .open = DIRECT_NONE, .cold = DIRECT_NONE,
						 .part = DIRECT_NONE, .heap_at = DIRECT_NONE };
	for (uint32_t i = 0; s->parts && i < d->planes * s->lblocks; i++)
		s->holder[i] = DIRECT_NONE;
	for (uint32_t i = 0; i < d->planes * s->parts; i++)
		s->part[i] = DIRECT_NONE;
	for (uint32_t p = 0; p < d->planes; p++)
		s->plane[p].asked = DIRECT_NONE;
	s->model.levels = s->levels;
	s->model.tolerance = d->host.c.disturb_tolerance;
	s->model.copy_cost = copy_cost(&d->host.c, d->g);
	for (uint32_t l = 0; l <= s->levels; l++)
		s->model.erase_cost[l] = d->host.c.timing.erase_ns[l];
}

/* Returns the number of valid pages of a block. */
static uint32_t valid(const struct direct *d, uint32_t block)
{
	return sb_of(d)->block[block].valid;
}

/* Counts the tables that a drive needs, without those for the checks and statistics of this program. */
static uint64_t map_bytes(const struct direct *d)
{
	const struct sb *s = sb_of(d);
	uint64_t bytes = (uint64_t)d->planes * d->plane_pages * s->map_bytes, part;

	part = sizeof(*s->part) + (uint64_t)d->g->pages_per_block * s->map_bytes;
	if (s->parts)
		bytes = d->planes * (s->lblocks * sizeof(*s->holder) + s->parts * part);
	if (s->m)
		bytes += (uint64_t)d->planes * s->groups * s->slots * sizeof(*s->slot);
	return bytes + geo_pages(d->g) * s->back_bytes;
}

/* ---- host pages ---------------------------------------------------------------------- */

static uint32_t lookup(const struct direct *d, uint32_t plane, uint32_t page)
{
	return sb_map_get(d, plane, page);
}

/* Returns the page whose spare area is read for a map part that is not in memory, as the first and only one. */
static uint32_t search(const struct direct *d, uint32_t plane, uint32_t page, uint32_t i)
{
	return i ? DIRECT_NONE : sb_map_read(d, plane, page);
}

/*
 * Must a host page wait? It must if GC of its group is under way, or if other work goes first: a
 * failing block, an oversize group, or a reserve that failed blocks have reduced.
 */
static bool must_wait(const struct direct *d, uint32_t plane, uint32_t group)
{
	const struct sb *s = sb_of(d);
	const struct sb_plane *p = &s->plane[plane];

	if (p->failing || p->oversize || sb_reserve_due(d, plane))
		return true;
	return !sb_page_mapped(s) && p->gc.stage != SB_GC_IDLE && p->gc.group == group;
}

/*
 * Get a block of the group for the host. It is the COLD block when no other block can become free within
 * the group, and no free block can be had without inter-group GC.
 */
static enum direct_room new_block(struct direct *d, uint32_t plane, uint32_t group)
{
	struct sb *s = sb_of(d);
	const struct sb_group *g = sb_group_at(s, plane, group);
	bool many = g->blocks >= s->n, gc;
	enum direct_room room = DIRECT_FULL;
	uint32_t block;

	if (many)
		s->plane[plane].asked = group;
	gc = sb_wants_gc(d, plane);
	if (gc && (g->cold == DIRECT_NONE || (many && sb_intra_due(d, plane))))
		return DIRECT_GC;
	if (!gc && (!many || g->cold == DIRECT_NONE))
		room = sb_take(d, plane, group, d->host.c.gc_urgent_blocks, SB_OPEN, &block);
	if (room != DIRECT_FULL || g->cold == DIRECT_NONE)
		return room;
	sb_warm(d, plane, group);
	return DIRECT_ROOM;
}

static enum direct_room place(struct direct *d, uint32_t plane, uint32_t page, uint32_t *ppn,
			      uint8_t *tag)
{
	struct sb *s = sb_of(d);
	uint32_t group = page / s->group_pages;
	enum direct_room room;

	if (must_wait(d, plane, group))
		return DIRECT_GC;
	if (!sb_ready(d, plane, group, false)) {
		room = new_block(d, plane, group);
		if (room != DIRECT_ROOM)
			return room;
	}
	*ppn = sb_place(d, plane, group, false);
	*tag = s->block[*ppn / d->g->pages_per_block].partials ? SB_TAG_PARTIAL : 0;
	return DIRECT_ROOM;
}

static void programmed(struct direct *d, uint32_t plane, uint32_t page, uint32_t ppn, bool ok)
{
	if (ok)
		sb_map_set(d, plane, page, ppn);
	else
		sb_failing(d, ppn / d->g->pages_per_block);
}

static const struct direct_scheme scheme = {
	.fault = fault,
	.lay_out = lay_out,
	.init = init,
	.lookup = lookup,
	.search = search,
	.search_whole = true,
	.place = place,
	.programmed = programmed,
	.wants_gc = sb_wants_gc,
	.gc_next = sb_gc_next,
	.gc_done = sb_gc_done,
	.mount_page = sb_mount_page,
	.mount_plane = sb_mount_plane,
	.check = sb_check,
	.map_bytes = map_bytes,
	.valid = valid,
	.blocks_needed = blocks_needed,
};

/* ---- ops ------------------------------------------------------------------------------ */

static const struct knob_table own = FTL_KNOBS("ftl", SUPERBLOCK_ROWS);
static const struct knob_table *const knobs[] = {
	DIRECT_KNOBS, &ftl_gc_stop_knobs, &direct_pen_knobs, &ftl_second_victim_knobs, &own, NULL
};
/* GC compares the free blocks with its bounds when it may begin (sb_gc.c). */
static const struct ftl_anew anew[] = {
	{ FTL_AT_USE, NULL }, { FTL_ANEW_GC_START, NULL }, { FTL_ANEW_GC_STOP, NULL }, { FTL_FIXED, NULL }
};

/*
 * Returns the pages that never have room for the host's data. Only page mapping chooses among all blocks. The empty
 * part of the host's frontier counts as free when GC begins (sb_gc.c), so half a block fewer is free.
 */
static struct ftl_kept kept(const struct ftl_ops *t, const struct ftl_config *c, const struct nand_geometry *g)
{
	uint64_t of_plane = (uint64_t)geo_planes(g) * g->pages_per_block;

	(void)t;
	if (c->superblock_blocks)
		return (struct ftl_kept){ 0 };
	return (struct ftl_kept){
		.free_pages = of_plane * (c->gc_start_blocks + c->gc_stop_blocks - 1) / 2,
		.open_pages = of_plane * 2,	/* the host's and GC's */
	};
}

const struct ftl_ops superblock_ftl_ops = {
	.name = "superblock",
	.policy = &scheme,
	.knobs = knobs,
	.anew = anew,
	.kept = kept,
	DIRECT_OPS_COMMON,
};
