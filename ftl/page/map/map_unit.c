// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * map_unit.c - the cached map's part of GC: it pins the map pages that copies change, gives copied map pages their
 * heads, and names the block to collect if map pages lack room.
 */
#include "map.h"
#include "map_own.h"
#include "page_state.h"

/* ---- collectors ------------------------------------------------------------------------ */

static bool agrees(const struct page_ftl *f, const struct gc *g)
{
	for (uint32_t i = 0; i < g->units && i < f->shape.upp; i++) {
		uint32_t lpn = g->unit[i].lpn & ~OOB_LOST;

		if ((g->of_map && lpn < f->shape.map_lpn) || (*map_cached(f, lpn) & ~OOB_LOST) != g->unit[i].upn)
			return false;
	}
	return true;
}

enum map_pins map_gc_pin_cached(struct page_ftl *f, uint64_t now_ns, struct gc *g)
{
	if (!map_gc_ready(f, now_ns, g))
		return MAP_PINS_WAIT;
	return agrees(f, g) ? MAP_PINNED : MAP_DISAGREES;
}

/* Apart from trims that are due, is the map page's content on flash up to date? */
static bool is_current(const struct page_ftl *f, uint32_t page)
{
	uint32_t i = f->cache.frame_of[page];
	const struct map_frame *fr = &f->cache.frame[i == MAP_NONE ? 0 : i];

	return i == MAP_NONE || (!fr->dirty && !fr->host_pins && !fr->gc_pins && fr->state != FRAME_WRITING);
}

uint64_t map_copied(struct page_ftl *f, const struct gc *g, struct oob_head *h)
{
	uint32_t page = g->units ? (g->unit[0].lpn - f->shape.map_lpn) / f->shape.upp : 0;

	f->cache.seq++;		/* a copy by GC counts as a new version, so that it is later than its source */
	if (!g->units)
		return f->cache.seq;
	f->host.stats.map_copies++;
	if (is_current(f, page)) {	/* M5 */
		h->kind = OOB_MAP;
	} else if (g->map_mark && h->order - g->map_mark <= OOB_MARK_MAX) {
		h->kind = OOB_MAP;	/* a snapshot that is not up to date keeps its mark if there is room for it */
		h->mark = g->map_mark;
	}
	f->cache.found[page].seq = f->cache.seq;
	return f->cache.seq;
}

/* ---- room ------------------------------------------------------------------------------- */

static uint32_t emptiest(const struct page_ftl *f, uint32_t plane)
{
	uint32_t first = plane * f->g->blocks_per_plane, best = BLK_NONE;

	for (uint32_t b = first; b < first + f->g->blocks_per_plane; b++) {
		const struct blk *k = &f->bt.blk[b];

		if (k->map && k->state == BLK_FULL && blk_settled(&f->bt, k) &&
		    k->valid + f->shape.upp <= f->bt.units_per_block &&
		    (best == BLK_NONE || k->valid < f->bt.blk[best].valid))
			best = b;
	}
	return best;
}

uint32_t map_victim(struct page_ftl *f, uint32_t plane)
{
	uint32_t b = emptiest(f, plane);

	return b == BLK_NONE && ckpt_yield(f, plane) ? emptiest(f, plane) : b;
}
