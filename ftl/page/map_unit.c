// SPDX-License-Identifier: GPL-2.0-or-later
/* map_unit.c - the cached map: changes of entries in memory, and room for map pages. */
#include "page_ftl.h"

void unit_unmap_cached(struct page_ftl *f, uint32_t lpn, uint64_t seq)
{
	uint32_t *at = map_cached(f, lpn), upn = *at;

	if (upn == NONE)
		return;
	*at = NONE;
	unit_invalid(f, upn & ~OOB_LOST, seq);
	map_changed(f, lpn, seq);
}

void unit_map_cached(struct page_ftl *f, uint32_t lpn, uint32_t upn, uint32_t b, uint64_t seq)
{
	unit_unmap_cached(f, lpn & ~OOB_LOST, seq);
	*map_cached(f, lpn & ~OOB_LOST) = upn | (lpn & OOB_LOST);
	f->map.mapped++;
	bit_set(f->map.valid, upn);
	blk_valid_add(&f->bt, b);
	map_changed(f, lpn & ~OOB_LOST, seq);
}

bool map_gc_agrees(const struct page_ftl *f, const struct gc *g)
{
	for (uint32_t i = 0; i < g->units && i < f->shape.upp; i++) {
		uint32_t lpn = g->unit[i].lpn & ~OOB_LOST;

		if ((g->of_map && lpn < f->shape.map_lpn) || (*map_cached(f, lpn) & ~OOB_LOST) != g->unit[i].upn)
			return false;
	}
	return true;
}

/* A frontier of map pages leaves the last free block to the copies of a block of map pages. */
bool map_needs_room(const struct page_ftl *f, uint32_t plane)
{
	return f->fr.plane[plane].open[FRONT_MAP] == BLK_NONE && f->bt.plane[plane].free_count < 2;
}

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
