// SPDX-License-Identifier: GPL-2.0-or-later
/* map_check.c - the map as a check sees it: all entries, also those on flash; and CHK15 (check.c) of the frames. */
#include "map_own.h"

/*
 * Returns the unit address at which the content of this map page can be read. upn: its address in the directory. When
 * GC copies a map page, the directory names the copy from the begin of its program on. If this program is going to
 * fail, only the source of the copy has the content until the program has ended.
 */
static uint32_t readable_version(const struct page_ftl *f, uint32_t lpn, uint32_t upn)
{
	for (uint32_t plane = 0; plane < f->shape.planes; plane++) {
		const struct gc *g = &f->plane[plane].gc;

		for (uint32_t i = 0; i < g->flying; i++)
			if (g->status != NAND_OK && g->fly[i].lpn == lpn && g->fly[i].upn == upn)
				return g->fly[i].from;
	}
	return upn;
}

/* Look at the LPN's map page: in memory, or else on flash. */
static void look_at(const struct page_ftl *f, struct map_look *k, uint32_t lpn)
{
	uint32_t page = lpn / f->cache.per, upn, first = f->shape.map_lpn + page * f->shape.upp;
	const void *data = NULL;

	k->first = page * f->cache.per;
	k->end = k->first + f->cache.per < f->shape.lpns ? k->first + f->cache.per : f->shape.lpns;
	k->at = NULL;
	if (map_holds(f, lpn)) {
		k->at = map_entry(f, k->first);
		return;
	}
	upn = *map_entry(f, first);
	if (upn != NONE)
		upn = readable_version(f, first, upn);
	if (upn != NONE && f->host.n->ops->peek(f->host.n, (ppn_t){ upn / f->shape.upp }, &data, NULL) == NAND_OK)
		k->at = f->cache.store ? (const void *)(f->cache.store + (size_t)page * f->g->page_bytes) : data;
}

uint32_t map_peek(const struct page_ftl *f, struct map_look *k, uint32_t lpn)
{
	if (!map_is_cached(f) || lpn >= f->shape.lpns)
		return *map_entry(f, lpn);
	if (lpn < k->first || lpn >= k->end)
		look_at(f, k, lpn);
	return k->at ? k->at[lpn - k->first] : NONE;
}

void map_check(const struct page_ftl *f)
{
	const struct page_cache *k = &f->cache;
	uint32_t held = 0, by_host = 0, loads = 0, listed = 0;

	for (uint32_t i = 0; i < k->pages; i++)
		if (k->frame_of[i] != MAP_NONE) {
			SSD_ASSERT(k->frame[k->frame_of[i]].page == i);		/* CHK15 */
			held++;
		}
	for (uint32_t i = 0; i < k->frames; i++) {
		const struct map_frame *fr = &k->frame[i];
		bool free = fr->state == FRAME_READY && !fr->host_pins && !fr->gc_pins;

		held -= fr->page != MAP_NONE;
		by_host += fr->host_pins > 0;
		loads += fr->for_read;
		SSD_ASSERT(free == (fr->list != ON_NONE));			/* CHK15 */
		SSD_ASSERT(!free || fr->list == ON_WRITE || fr->dirty == (fr->list == ON_DIRTY)); /* CHK15 */
		SSD_ASSERT(fr->list != ON_WRITE || fr->dirty);			/* CHK15 */
	}
	for (uint32_t l = ON_CLEAN; l <= ON_WRITE && k->frames; l++)
		for (uint32_t i = k->list[l].newest; i != MAP_NONE; i = k->frame[i].next, listed++)
			SSD_ASSERT(k->frame[i].list == l);			/* CHK15 */
	for (uint32_t i = 0; i < k->frames; i++)
		listed -= k->frame[i].list != ON_NONE;
	SSD_ASSERT(!held && !listed);						/* CHK15 */
	SSD_ASSERT(by_host == k->host_frames && by_host <= k->host_max);	/* CHK15 */
	SSD_ASSERT(loads == k->loads && loads <= k->loads_max);			/* CHK15 */
}

bool map_trusts(const struct page_ftl *f, uint32_t ppn)
{
	return map_is_cached(f) &&
	       ppn % f->g->pages_per_block < f->cache.ckpt.trusted[ppn / f->g->pages_per_block];
}
