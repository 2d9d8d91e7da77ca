// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * gc_pick.c - why a plane's collector works, and which block it collects next.
 *
 * gc_reasons[] has a row for each reason, in order of priority. A row says whether the reason applies to a plane
 * (is_wanted), which block to collect for it (victim), when it wakes a collector, and under which cause the collection
 * is counted. Each question of GC is answered by these rows:
 *
 *   wake        a reason that wakes now applies, and one that applies has a victim      gc_wake.c
 *   choose      the first reason that applies and has a victim                          gc.c
 *   rest        the collector was woken in idle time, and no reason applies for now     gc.c
 *   go on       a reason for space applies: the block that filled a page stays in hand  gc.c
 *   sleep       no reason applies                                                       gc.c
 *
 * The functions only read the state, with three exceptions: they remove an order that cannot be carried out, note what
 * they learn of the wear, and give up a checkpoint that holds the last blocks (map_yield). gc.c knows which collection
 * is under way.
 */
#include "gc_pick.h"
#include "level.h"
#include "map.h"
#include "page_state.h"
#include "slc.h"

/*
 * Can this many units be copied while `reserve` blocks stay free and a carrier can still be
 * programmed?
 */
static bool room_beside(const struct page_ftl *f, uint32_t plane, uint32_t units, uint32_t reserve)
{
	uint32_t free = f->bt.plane[plane].free_count, slots = f->handles.apart ? f->fr.c.copy_streams : 1;
	uint32_t per = f->g->pages_per_block;
	uint64_t pages = 0;

	SSD_ASSERT(f->line.units);
	for (uint32_t i = f->fr.copies; i < f->fr.copies + slots; i++) {
		uint32_t open = f->fr.plane[plane].open[i];

		pages += open == BLK_NONE ? 0 : per - f->bt.blk[open].next_page;
	}
	if (free > reserve)
		pages += (uint64_t)(free - reserve) * per;
	return pages > (uint64_t)(units + f->line.units - 1) / f->line.units * f->line.pages;
}

bool gc_room_for(const struct page_ftl *f, uint32_t plane, uint32_t units)
{
	return room_beside(f, plane, units, f->gc.urgent_blocks);
}

/* Returns the block of this mode that was put back when some of its units had filled a page, or BLK_NONE. */
static uint32_t begun(const struct page_ftl *f, uint32_t plane, bool slc)
{
	uint32_t b = f->plane[plane].gc.next;

	return b != BLK_NONE && f->bt.blk[b].state == BLK_FULL && f->bt.blk[b].slc == slc &&
	       blk_settled(&f->bt, &f->bt.blk[b]) ? b : BLK_NONE;
}

/*
 * Returns the block in SLC mode to fold, or BLK_NONE. A fold into a static cache frees no block for
 * other copies, so it must not use their reserve.
 */
static uint32_t fold_victim(const struct page_ftl *f, uint32_t plane)
{
	uint32_t b = begun(f, plane, true);

	if (b == BLK_NONE)
		b = blk_slc_oldest(&f->bt, plane);
	return b == BLK_NONE || slc_shares(f) || gc_room_for(f, plane, f->bt.blk[b].valid) ? b : BLK_NONE;
}

/*
 * Choose the block to collect for space: one in SLC mode if that frees a block for every use,
 * otherwise the policy's. A power cut during a collection leaves the copies made so far, and GC may
 * begin again with another victim. So if the plane has no page for all copies of the policy's
 * block, the block with the fewest valid units is next. What is left of the interrupted victim
 * fits, because there was room for its copies.
 */
static uint32_t space_victim(const struct page_ftl *f, uint32_t plane)
{
	uint32_t b = slc_shares(f) && f->bt.plane[plane].slc ? fold_victim(f, plane) : BLK_NONE;

	if (b != BLK_NONE)
		return b;
	b = begun(f, plane, false);
	if (b == BLK_NONE)
		b = gc_policy_pick(&f->host.c, &f->bt, plane, f->line.units);
	if (b == BLK_NONE || room_beside(f, plane, f->bt.blk[b].valid, map_keeps_last(f)))
		return b;
	return gc_fewest_valid(&f->bt, plane, f->line.units);
}

/* ---- the reasons --------------------------------------------------------- */

static bool map_lacks_room(const struct page_ftl *f, uint32_t plane, uint32_t free_target)
{
	(void)free_target;
	return map_needs_room(f, plane);
}

/* Has the plane a block in which a program failed? */
static bool has_failed(const struct page_ftl *f, uint32_t plane, uint32_t free_target)
{
	(void)free_target;
	return f->bt.plane[plane].retire_head != BLK_NONE;
}

static uint32_t failed_victim(struct page_ftl *f, uint32_t plane)
{
	uint32_t b = f->bt.plane[plane].retire_head;

	return blk_settled(&f->bt, &f->bt.blk[b]) ? b : BLK_NONE;
}

/* Has the plane blocks with dead pages, whose erase shortens the dead list? So only after many power cuts (mount.c). */
static bool has_dead(const struct page_ftl *f, uint32_t plane, uint32_t free_target)
{
	(void)free_target;
	return f->plane[plane].purge;
}

static uint32_t dead_victim(struct page_ftl *f, uint32_t plane)
{
	uint32_t first = plane * f->g->blocks_per_plane;

	if (f->bt.plane[plane].free_count <= f->gc.urgent_blocks)
		return BLK_NONE;
	for (uint32_t b = first; b < first + f->g->blocks_per_plane; b++)
		if (f->bt.blk[b].dead && f->bt.blk[b].state == BLK_FULL &&
		    blk_settled(&f->bt, &f->bt.blk[b]))
			return b;
	return BLK_NONE;
}

static bool has_flagged(const struct page_ftl *f, uint32_t plane, uint32_t free_target)
{
	(void)free_target;
	return f->plane[plane].relocate;
}

static uint32_t flagged_victim(struct page_ftl *f, uint32_t plane)
{
	return f->bt.plane[plane].free_count > f->gc.urgent_blocks ? level_flagged(f, plane) : BLK_NONE;
}

/*
 * Has the plane too few free blocks, or does a failed block or one with dead pages wait for GC? Until such a block has
 * settled and can be collected, GC collects another one.
 */
static bool lacks_blocks(const struct page_ftl *f, uint32_t plane, uint32_t free_target)
{
	return f->bt.plane[plane].free_count < free_target + map_reserve_blocks(f) ||
	       has_failed(f, plane, free_target) || has_dead(f, plane, free_target);
}

/* Is a collector of another plane of the die awake, whose plane has fewer than gc_stop_blocks free? */
static SSD_APART bool another_lacks_blocks(const struct page_ftl *f, uint32_t plane)
{
	uint32_t planes = f->g->planes_per_die, first = plane - plane % planes;

	for (uint32_t p = first; p < first + planes; p++)
		if (p != plane && gc_is_awake(&f->plane[p].gc) && lacks_blocks(f, p, f->host.c.gc_stop_blocks))
			return true;
	return false;
}

/*
 * Returns the number of free blocks at which the collector ends. With gc_multiplane the collectors of a die end
 * together. Planes need different numbers of victims to reach gc_stop_blocks, so the last collector would collect its
 * last victims alone. Therefore it ends at gc_start_blocks.
 */
uint32_t gc_ends_at(const struct page_ftl *f, uint32_t plane)
{
	return f->gc.together && !another_lacks_blocks(f, plane) ? f->host.c.gc_start_blocks : f->host.c.gc_stop_blocks;
}

static bool is_idle_time(const struct page_ftl *f)
{
	return f->host.now_ns >= f->gc.idle_at_ns;
}

static bool idle_lacks_blocks(const struct page_ftl *f, uint32_t plane, uint32_t free_target)
{
	(void)free_target;
	if (!f->gc.idle_blocks || !is_idle_time(f))
		return false;
	return f->bt.plane[plane].free_count < f->gc.idle_blocks ||
	       (f->fr.c.policy->returns_to_fast && front_some_slow(&f->fr, plane));
}

/* Returns space_victim(). If there is none and free blocks are few, gives up a checkpoint to have one. */
static uint32_t victim_or_yield(struct page_ftl *f, uint32_t plane)
{
	uint32_t b = space_victim(f, plane);

	if (b == BLK_NONE && f->bt.plane[plane].free_count <= f->gc.urgent_blocks && map_yield(f, plane))
		b = space_victim(f, plane);
	return b;
}

/* Does the host wait for room in the plane's SLC cache? */
static bool cache_is_full(const struct page_ftl *f, uint32_t plane, uint32_t free_target)
{
	(void)free_target;
	return slc_pressed(f, plane);
}

/* In idle time: has the plane a block to fold, or is its collector folding one? */
static bool idle_can_fold(const struct page_ftl *f, uint32_t plane, uint32_t free_target)
{
	uint32_t b = gc_block(&f->plane[plane].gc);

	(void)free_target;
	return f->bt.plane[plane].slc && f->gc.idle_work && is_idle_time(f) &&
	       ((b != BLK_NONE && f->bt.blk[b].slc) || fold_victim(f, plane) != BLK_NONE);
}

static uint32_t victim_to_fold(struct page_ftl *f, uint32_t plane)
{
	return fold_victim(f, plane);
}

/* Is an order of page_ftl_collect() not yet carried out in this plane? */
static bool is_ordered(const struct page_ftl *f, uint32_t plane, uint32_t free_target)
{
	(void)free_target;
	return gc_order_stands(&f->plane[plane].order, f->bt.plane[plane].free_count);
}

static uint32_t ordered_victim(struct page_ftl *f, uint32_t plane)
{
	uint32_t b = space_victim(f, plane);

	if (b == BLK_NONE)
		f->plane[plane].order = (struct gc_order){ 0 };	/* no page can be freed */
	return b;
}

static bool wear_is_unknown(const struct page_ftl *f, uint32_t plane, uint32_t free_target)
{
	(void)free_target;
	return f->plane[plane].level;
}

static uint32_t cold_victim(struct page_ftl *f, uint32_t plane)
{
	uint32_t b = level_coldest(f, plane);

	return b != BLK_NONE && gc_room_for(f, plane, f->bt.blk[b].valid) ? b : BLK_NONE;
}

const struct gc_reason gc_reasons[] = {
	{ "map pages lack room", map_lacks_room, map_victim, GC_WAKES, false, GC_FOR_SPACE },
	{ "failed blocks", has_failed, failed_victim, GC_WAKES, false, GC_FOR_SPACE },
	{ "dead pages", has_dead, dead_victim, GC_WAKES, false, GC_FOR_SPACE },
	{ "flagged blocks", has_flagged, flagged_victim, GC_WAKES, false, GC_FOR_ERRORS },
	{ "few free blocks", lacks_blocks, victim_or_yield, GC_WAKES, true, GC_FOR_SPACE },
	{ "few free blocks in idle time", idle_lacks_blocks, victim_or_yield, GC_WAKES_IDLE, true, GC_FOR_SPACE },
	{ "full SLC cache", cache_is_full, victim_to_fold, GC_WAKES | GC_WAKES_IDLE, false, GC_FOR_SPACE },
	{ "SLC cache in idle time", idle_can_fold, victim_to_fold, GC_WAKES_IDLE, false, GC_FOR_SPACE },
	{ "order", is_ordered, ordered_victim, GC_WAKES, false, GC_FOR_SPACE },
	{ "wear", wear_is_unknown, cold_victim, GC_WAKES, false, GC_FOR_WEAR },
	{ NULL }
};

bool gc_is_wanted(const struct page_ftl *f, uint32_t plane, uint32_t free_target, unsigned int wakes)
{
	for (const struct gc_reason *r = gc_reasons; r->name; r++)
		if (r->wakes & wakes && r->is_wanted(f, plane, free_target))
			return true;
	return false;
}

bool gc_wants_space(const struct page_ftl *f, uint32_t plane)
{
	for (const struct gc_reason *r = gc_reasons; r->name; r++)
		if (r->why == GC_FOR_SPACE && r->is_wanted(f, plane, gc_ends_at(f, plane)))
			return true;
	return false;
}

const struct gc_reason *gc_reason(struct page_ftl *f, uint32_t plane, uint32_t free_target, uint32_t *victim)
{
	for (const struct gc_reason *r = gc_reasons; r->name; r++) {
		if (!r->is_wanted(f, plane, free_target))
			continue;
		*victim = r->victim(f, plane);
		if (*victim != BLK_NONE)
			return r;
		if (r->last && !f->bt.plane[plane].slc && r->is_wanted(f, plane, f->host.c.gc_start_blocks))
			return NULL;
	}
	return NULL;
}

/* ---- a filler ------------------------------------------------------------- */

uint32_t gc_filler(const struct page_ftl *f, uint32_t plane)
{
	uint32_t first = f->plane[plane].gc.drained, b = f->bt.blk[first].slc ? fold_victim(f, plane) : BLK_NONE;
	uint32_t drained = 0;
	const struct blk *k;

	for (uint32_t i = first; i != BLK_NONE; i = f->bt.blk[i].next)
		drained++;
	if (b == BLK_NONE)
		b = space_victim(f, plane);
	if (b == BLK_NONE || drained >= f->line.units)
		return BLK_NONE;
	k = &f->bt.blk[b];
	if (k->dead || k->relocate || k->map || (f->handles.apart && k->stream != f->bt.blk[first].stream))
		return BLK_NONE;
	return b;
}
