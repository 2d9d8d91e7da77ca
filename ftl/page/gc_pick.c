// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * gc_pick.c - why a plane's collector works, and which block it collects next.
 *
 * It answers gc.c's questions about the plane's blocks. It changes nothing but orders that cannot be
 * carried out, and a checkpoint that holds the last blocks (ckpt_yield). gc.c knows what is under way.
 */
#include "gc.h"

/*
 * Can this many units be copied while `reserve` blocks stay free and a carrier can still be
 * programmed?
 */
static bool room_beside(const struct page_ftl *f, uint32_t plane, uint32_t units, uint32_t reserve)
{
	uint32_t free = f->bt.plane[plane].free_count, slots = f->handles.apart ? f->fr.c.copy_streams : 1;
	uint32_t per = f->g->pages_per_block;
	uint64_t pages = 0;

	SSD_ASSERT(f->shape.upp);
	for (uint32_t i = f->fr.copies; i < f->fr.copies + slots; i++) {
		uint32_t open = f->fr.plane[plane].open[i];

		pages += open == BLK_NONE ? 0 : per - f->bt.blk[open].next_page;
	}
	if (free > reserve)
		pages += (uint64_t)(free - reserve) * per;
	return pages > (units + f->shape.upp - 1) / f->shape.upp;
}

bool gc_room_for(const struct page_ftl *f, uint32_t plane, uint32_t units)
{
	return room_beside(f, plane, units, f->gc.urgent_blocks);
}

static bool wanted(const struct page_ftl *f, uint32_t plane, uint32_t free_target)
{
	const struct blk_plane *p = &f->bt.plane[plane];

	return p->free_count < free_target + f->cache.reserve || p->retire_head != BLK_NONE || f->plane[plane].purge;
}

/* May GC work now because the drive is idle, and is there a block to collect? */
bool gc_wanted_idle(const struct page_ftl *f, uint32_t plane)
{
	if (!f->gc.idle_blocks || f->host.now_ns < f->gc.idle_at_ns)
		return false;
	return f->bt.plane[plane].free_count < f->gc.idle_blocks ||
	       (f->fr.c.policy->returns_to_fast && front_some_slow(&f->fr, plane));
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
 * Is a block to be folded, or folded to the end, because the host waits for room in the cache or
 * because the drive is idle?
 */
bool gc_wanted_fold(const struct page_ftl *f, uint32_t plane)
{
	uint32_t b = gc_block(&f->plane[plane].gc);

	if (!f->bt.plane[plane].slc)
		return false;
	if (slc_pressed(f, plane))
		return true;
	return f->gc.idle_work && f->host.now_ns >= f->gc.idle_at_ns &&
	       ((b != BLK_NONE && f->bt.blk[b].slc) || fold_victim(f, plane) != BLK_NONE);
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
		b = f->host.c.gc_policy->pick(&f->bt, plane, f->shape.upp);
	if (b == BLK_NONE || room_beside(f, plane, f->bt.blk[b].valid, f->cache.frames > 0))
		return b;
	return gc_fewest_valid(&f->bt, plane, f->shape.upp);
}

/* After many power cuts: returns a block whose erase shortens the dead list (mount.c). */
static uint32_t purge_candidate(const struct page_ftl *f, uint32_t plane)
{
	uint32_t first = plane * f->g->blocks_per_plane;

	for (uint32_t b = first; b < first + f->g->blocks_per_plane; b++)
		if (f->bt.blk[b].dead && f->bt.blk[b].state == BLK_FULL &&
		    blk_settled(&f->bt, &f->bt.blk[b]))
			return b;
	return BLK_NONE;
}

/* Does an order of collect() request GC in this plane? */
static bool ordered(const struct page_ftl *f, uint32_t plane)
{
	return gc_order_stands(&f->plane[plane].order, f->bt.plane[plane].free_count);
}

/* Is GC due for one of these reasons, for level.c, or for an order? */
bool gc_wanted_or_moved(const struct page_ftl *f, uint32_t plane, uint32_t free_target)
{
	return wanted(f, plane, free_target) || f->plane[plane].relocate || f->plane[plane].level ||
	       ordered(f, plane) || slc_pressed(f, plane);
}

uint32_t gc_candidate(struct page_ftl *f, uint32_t plane, uint32_t free_target, enum gc_why *why)
{
	uint32_t b = f->cache.frames && map_needs_room(f, plane) ? map_victim(f, plane) : BLK_NONE;

	*why = GC_FOR_SPACE;
	if (b != BLK_NONE)
		return b;
	b = f->bt.plane[plane].retire_head;
	if (b != BLK_NONE && blk_settled(&f->bt, &f->bt.blk[b]))
		return b;
	if (f->plane[plane].purge && f->bt.plane[plane].free_count > f->gc.urgent_blocks) {
		b = purge_candidate(f, plane);
		if (b != BLK_NONE)
			return b;
	}
	if (f->plane[plane].relocate && f->bt.plane[plane].free_count > f->gc.urgent_blocks) {
		b = level_flagged(f, plane);
		*why = GC_FOR_ERRORS;
		if (b != BLK_NONE)
			return b;
	}
	*why = GC_FOR_SPACE;
	if (wanted(f, plane, free_target) || gc_wanted_idle(f, plane)) {
		b = space_victim(f, plane);
		if (b == BLK_NONE && map_is_cached(f) && f->bt.plane[plane].free_count <= f->gc.urgent_blocks &&
		    ckpt_yield(f, plane))
			b = space_victim(f, plane);
		if (b != BLK_NONE || !f->bt.plane[plane].slc)
			return b;
	}
	if (gc_wanted_fold(f, plane)) {
		b = fold_victim(f, plane);
		if (b != BLK_NONE)
			return b;
	}
	if (ordered(f, plane)) {
		b = space_victim(f, plane);
		if (b != BLK_NONE)
			return b;
		f->plane[plane].order = (struct gc_order){ 0 };	/* no page can be freed */
	}
	*why = GC_FOR_WEAR;
	b = level_coldest(f, plane);
	return b != BLK_NONE && gc_room_for(f, plane, f->bt.blk[b].valid) ? b : BLK_NONE;
}

bool gc_wanted_space(const struct page_ftl *f, uint32_t plane)
{
	return wanted(f, plane, f->host.c.gc_stop_blocks) || gc_wanted_idle(f, plane) || ordered(f, plane) ||
	       gc_wanted_fold(f, plane);
}

uint32_t gc_filler(const struct page_ftl *f, uint32_t plane)
{
	uint32_t first = f->plane[plane].gc.drained, b = f->bt.blk[first].slc ? fold_victim(f, plane) : BLK_NONE;
	uint32_t drained = 0;
	const struct blk *k;

	for (uint32_t i = first; i != BLK_NONE; i = f->bt.blk[i].next)
		drained++;
	if (b == BLK_NONE)
		b = space_victim(f, plane);
	if (b == BLK_NONE || drained >= f->shape.upp)
		return BLK_NONE;
	k = &f->bt.blk[b];
	if (k->dead || k->relocate || k->map || (f->handles.apart && k->stream != f->bt.blk[first].stream))
		return BLK_NONE;
	return b;
}
