// SPDX-License-Identifier: GPL-2.0-or-later
/* handles.c - see handles.h */
#include "page_ftl.h"

/* ---- configuration ------------------------------------------------------ */

uint32_t handles_streams(const struct ftl_config *c)
{
	if (c->hot_cold)
		return 2;
	return c->placement_handles ? c->placement_handles : 1;
}

uint32_t handles_copy_streams(const struct ftl_config *c)
{
	return c->hot_cold || c->placement_isolation == FTL_ISOLATED_PERSISTENTLY ? handles_streams(c) : 1;
}

const char *handles_fault(const struct front_policy *policy, const struct ftl_config *c,
			  const struct nand_geometry *g)
{
	uint64_t pages = c->buffer_units / (g->page_bytes / c->unit_bytes);

	if (!c->placement_handles)
		return NULL;
	if (c->placement_handles > FTL_HANDLES_MAX)
		return "placement_handles must be at most 8";
	if (policy != &front_page_policy || g->order == NAND_ORDER_FPS || g->order == NAND_ORDER_RPS)
		return "placement_handles must be 0: the FTL chooses open blocks by their LSB and MSB pages; set "
		       "type = page and order = ascending or none";
	if (c->gc_frontier == FTL_GC_SHARED)
		return "gc_frontier must be own with placement_handles: copies would go to the blocks of a handle";
	if (c->hot_cold)
		return "hot_cold must be off with placement_handles: the host says which pages are kept apart";
	if (c->slc_cache != FTL_SLC_NONE)
		return "slc_cache must be none with placement_handles: the cache takes pages of all handles alike";
	if (c->map_cache_pages)
		return "map_cache_pages must be 0 with placement_handles: changes of map pages are ordered by "
		       "sequences, which open buffer pages do not have yet";
	if (pages < c->placement_handles + 2)
		return "buffer_units is too small: it must hold a NAND page for each of placement_handles and two "
		       "more; raise buffer_units or lower placement_handles";
	return NULL;
}

void handles_init(struct page_ftl *f)
{
	struct page_handles *h = &f->handles;

	h->count = f->host.c.placement_handles;
	h->apart = h->count && handles_copy_streams(&f->host.c) > 1;
	for (uint32_t i = 0; i < FTL_HANDLES_MAX; i++)
		h->open[i] = NONE;
}

void handles_mounted(struct page_ftl *f)
{
	for (uint32_t i = 0; i < f->handles.count; i++) {
		f->handles.blocks[i] = 0;
		for (uint32_t plane = 0; plane < f->shape.planes; plane++)
			f->handles.blocks[i] += f->fr.plane[plane].open[FRONT_HOST + i] != BLK_NONE;
	}
}

/* ---- the write buffer --------------------------------------------------- */

void handles_select(struct page_ftl *f, uint32_t handle)
{
	struct page_handles *h = &f->handles;

	SSD_ASSERT(handle < h->count);
	h->open[h->current] = f->buf.open;
	h->current = handle;
	f->buf.open = h->open[handle];
	h->open[handle] = NONE;
}

static void close_page(struct page_ftl *f, uint32_t w)
{
	f->handles.open[f->buf.page[w].handle] = NONE;
	f->buf.page[w].state = W_QUEUED;
	wbuf_queue(f, w);
}

void handles_close_others(struct page_ftl *f)
{
	for (uint32_t i = 0; i < f->handles.count; i++)
		if (f->handles.open[i] != NONE)
			close_page(f, f->handles.open[i]);
}

/* Close the slot's page if it is another handle's open one. */
static void close_page_of(struct page_ftl *f, uint32_t slot)
{
	uint32_t w = slot == NONE ? NONE : slot / f->shape.upp;

	if (w != NONE && w != f->buf.open && f->buf.page[w].state == W_OPEN)
		close_page(f, w);
}

void handles_close_older(struct page_ftl *f, uint32_t lpn, uint32_t old)
{
	close_page_of(f, old);
	if (is_trimmed(f, lpn))
		close_page_of(f, wbuf_find(f, f->shape.lpns + lpn / lpns_per_map(f)));
}

void handles_close_region(struct page_ftl *f, uint32_t map)
{
	for (uint32_t i = 0; i < f->handles.count; i++) {
		uint32_t w = f->handles.open[i];
		bool in = false;

		for (uint32_t s = 0; w != NONE && s < f->buf.page[w].used; s++)
			in |= f->buf.slot[w * f->shape.upp + s].lpn / lpns_per_map(f) == map;
		if (in)
			close_page(f, w);
	}
}

/* ---- blocks --------------------------------------------------------------- */

uint32_t handles_stream(const struct page_ftl *f, uint32_t plane, enum frontier which)
{
	uint32_t victim = f->plane[plane].gc.victim, w = f->buf.first;

	if (which == FRONT_GC)
		return f->handles.apart && victim != BLK_NONE ? f->bt.blk[victim].stream : 0;
	return w == NONE ? 0 : f->buf.page[w].handle;
}

void handles_opened(struct page_ftl *f, uint32_t b, uint32_t slot)
{
	uint32_t stream = front_stream(&f->fr, slot), *blocks = &f->handles.blocks[stream];

	f->bt.blk[b].stream = stream;
	if (slot >= f->fr.copies)
		return;
	if (*blocks == f->shape.planes) {
		f->handles.units[stream]++;
		f->host.stats.reclaim_units++;
		*blocks = 0;
	}
	++*blocks;
}

void handles_took(struct page_ftl *f, uint32_t b, uint32_t stream, uint8_t *oob)
{
	f->host.stats.stray_pages += f->bt.blk[b].stream != stream;
	oob[OOB_BYTES(f->shape.upp)] = (uint8_t)f->bt.blk[b].stream;
}

/* A drive may have been written with more handles; their blocks then count as those of the first. */
uint32_t handles_found(const struct page_ftl *f, const uint8_t *oob)
{
	uint32_t stream = oob[OOB_BYTES(f->shape.upp)];

	return stream < f->handles.count ? stream : 0;
}

/* ---- what the host sees ---------------------------------------------------- */

static uint64_t left_pages(const struct page_ftl *f, uint32_t handle)
{
	uint64_t left = (uint64_t)(f->shape.planes - f->handles.blocks[handle]) * f->g->pages_per_block;

	for (uint32_t plane = 0; plane < f->shape.planes; plane++)
		left += front_left(&f->fr, f->fr.plane[plane].open[FRONT_HOST + handle]);
	return left;
}

struct ftl_handle page_ftl_handle(const struct ftl *base, uint32_t handle)
{
	const struct page_ftl *f = (const struct page_ftl *)base;

	SSD_ASSERT(handle < f->handles.count);
	return (struct ftl_handle){
		.unit_bytes = (uint64_t)f->shape.planes * f->g->pages_per_block * f->g->page_bytes,
		.left_bytes = left_pages(f, handle) * f->g->page_bytes,
		.units = f->handles.units[handle],
	};
}

uint64_t page_ftl_renew_handle(struct ftl *base, uint64_t now_ns, uint32_t handle)
{
	struct page_ftl *f = page_ftl_of(base);
	uint64_t left;

	(void)page_ftl_step(base, now_ns);
	left = page_ftl_handle(base, handle).left_bytes;
	if (!f->handles.blocks[handle])
		return left;	/* the reclaim unit is still empty */
	for (uint32_t plane = 0; plane < f->shape.planes; plane++) {
		uint32_t b = f->fr.plane[plane].open[FRONT_HOST + handle];

		if (b == BLK_NONE)
			continue;
		front_drop(&f->fr, b);
		blk_close(&f->bt, b);
		gc_wake(f, plane);
	}
	f->handles.units[handle]++;
	f->handles.blocks[handle] = 0;
	f->host.stats.reclaim_units++;
	f->turn.changed = true;
	return left;
}

void handles_check(const struct page_ftl *f)
{
	const struct page_handles *h = &f->handles;
	uint32_t open = 0;

	for (uint32_t w = 0; h->count && w < f->buf.pages; w++)
		open += f->buf.page[w].state == W_OPEN;
	open -= h->count && f->buf.open != NONE;
	SSD_ASSERT(!h->count || h->open[h->current] == NONE);			/* W6 */
	for (uint32_t i = 0; i < h->count; i++) {
		uint32_t w = i == h->current ? f->buf.open : h->open[i];

		open -= h->open[i] != NONE;
		SSD_ASSERT(h->blocks[i] <= f->shape.planes);
		if (w == NONE)
			continue;
		SSD_ASSERT(f->buf.page[w].state == W_OPEN && f->buf.page[w].handle == i &&
			   f->buf.page[w].used < f->shape.upp);			/* W5 */
	}
	SSD_ASSERT(!open);							/* W5 */
}
