// SPDX-License-Identifier: GPL-2.0-or-later
/* map_size.c - how large the parts of the map are, and their state before a mount. */
#include "map.h"
#include "map_own.h"
#include "page_state.h"

static uint32_t entries_of(const struct nand_geometry *g)
{
	return g->page_bytes / (uint32_t)sizeof(uint32_t);
}

uint32_t map_pages_of(const struct ftl_config *c, const struct nand_geometry *g)
{
	uint64_t lpns = c->capacity_bytes / c->unit_bytes;

	return (uint32_t)((lpns + entries_of(g) - 1) / entries_of(g));
}

/*
 * Returns the least number of frames (M4): each collector and the host pin the map pages of a page's units, and a read
 * pins one.
 */
uint32_t map_frames_min(const struct nand_geometry *g, uint32_t upp)
{
	return (geo_planes(g) + 1) * upp + 1;
}

/*
 * Returns the blocks of a plane for its map pages: as many as they fill, one that is open, and one for
 * copies of a block of map pages; see MAP.md.
 */
uint32_t map_reserve(const struct ftl_config *c, const struct nand_geometry *g)
{
	uint32_t of_plane = (map_pages_of(c, g) + geo_planes(g) - 1) / geo_planes(g);

	return c->map_cache_pages ? (of_plane + g->pages_per_block - 1) / g->pages_per_block + 2 : 0;
}

static void lay_out_cache(struct page_ftl *f, struct ssd_arena *m, const struct ftl_config *c,
			  const struct nand_geometry *g)
{
	struct page_cache *k = &f->cache;
	uint32_t upp = g->page_bytes / c->unit_bytes;

	k->frames = c->map_cache_pages;
	k->pages = map_pages_of(c, g);
	k->per = entries_of(g);
	k->reserve = map_reserve(c, g);
	k->frame = ssd_carve(m, k->frames, sizeof(*k->frame));
	k->entry = ssd_carve(m, k->frames, g->page_bytes);
	k->frame_of = ssd_carve(m, k->pages, sizeof(*k->frame_of));
	k->hidden = ssd_carve(m, f->shape.all_lpns - f->shape.lpns, sizeof(*k->hidden));
	if (!c->payload)
		k->store = ssd_carve(m, k->pages, g->page_bytes);
	k->due = ssd_carve(m, word_count(k->pages), sizeof(*k->due));
	k->owed = ssd_carve(m, ((uint64_t)f->shape.lpns + 7) / 8 + BIT_NEXT_SPARE, 1);
	k->stale = ssd_carve(m, word_count(k->pages), sizeof(*k->stale));
	k->found = ssd_carve(m, k->pages, sizeof(*k->found));
	k->first_order = ssd_carve(m, geo_blocks(g), sizeof(*k->first_order));
	k->next_of_die = ssd_carve(m, geo_dies(g), sizeof(*k->next_of_die));
	k->with_hidden = ssd_carve(m, word_count(geo_blocks(g)), sizeof(*k->with_hidden));
	k->loads_max = k->frames - map_frames_min(g, upp) + 1;
	k->host_max = upp + k->loads_max / 2;
	k->loads_max -= k->loads_max / 2;
	ckpt_lay_out(f, m, g, ftl_handles(c));
}

void map_lay_out(struct page_ftl *f, struct ssd_arena *m, const struct ftl_config *c, const struct nand_geometry *g)
{
	if (c->map_cache_pages)
		lay_out_cache(f, m, c, g);
	else
		f->map.l2p = ssd_carve(m, f->shape.all_lpns, sizeof(*f->map.l2p));
	f->map.valid = ssd_carve(m, (geo_pages(g) * f->shape.upp + 7) / 8 + BIT_NEXT_SPARE, 1);
	f->map.p2l = c->gc_copyback ? ssd_carve(m, geo_pages(g) * f->shape.upp, OOB_UNIT_BYTES) : NULL;
	f->map.trimmed = ssd_carve(m, ((uint64_t)f->shape.lpns + 7) / 8 + (c->map_cache_pages ? BIT_NEXT_SPARE : 0), 1);
}

uint64_t map_memory_bytes(const struct page_ftl *f)
{
	const struct page_cache *k = &f->cache;

	if (!map_is_cached(f))
		return (uint64_t)f->shape.all_lpns * sizeof(*f->map.l2p);
	return (uint64_t)k->frames * f->g->page_bytes + (uint64_t)k->pages * sizeof(*k->frame_of) +
	       (uint64_t)(f->shape.all_lpns - f->shape.lpns) * sizeof(*k->hidden);
}

void map_init(struct page_ftl *f, const struct map_above *above)
{
	struct page_cache *k = &f->cache;

	if (!map_is_cached(f)) {
		memset(f->map.l2p, 0xff, f->shape.all_lpns * sizeof(*f->map.l2p));	/* NONE */
		return;
	}
	k->above = above;
	k->by_per = fxp_div_by(k->per);
	k->first = k->last = NONE;
	k->pin_seq = 1;
	for (uint32_t i = 0; i < k->pages; i++)
		k->frame_of[i] = MAP_NONE;
	for (uint32_t i = 0; i < f->shape.all_lpns - f->shape.lpns; i++)
		k->hidden[i] = NONE;
	for (uint32_t b = 0; b < geo_blocks(f->g); b++)
		k->first_order[b] = OOB_SEQ_MAX;
	for (uint32_t i = 0; i < 4; i++)
		k->list[i] = (struct map_list){ MAP_NONE, MAP_NONE };
	for (uint32_t i = 0; i < k->frames; i++)
		k->frame[i] = (struct map_frame){ .page = MAP_NONE, .first = NONE, .last = NONE };
	map_empty(f);
	ckpt_init(f);
}
