// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * nftl.c - NFTL: the scheme, which asks its parts; reads, and the configuration.
 *
 * The drive has in memory the D-block and the U-block's slot of each logical block, a valid bit per
 * page, and a table for each U-block with the place of each page's newest copy. With
 * ftl.spare_search that last table is assumed to exist only on flash: to read a page from a U-block
 * of which `end` positions are used, and whose newest copy is at `pos`, the spare areas of
 * positions end - 1 down to pos are read first; a merge first reads those of 0 .. end - 1. A page
 * whose newest copy is in the D-block needs no such read, because its valid bit is in memory.
 */
#include "direct_mount.h"
#include "nftl.h"
#include "nftl_buffer.h"
#include "nftl_merge.h"
#include "nftl_mount.h"
#include "nftl_pair.h"
#include "nftl_state.h"

/* ---- reads and writes --------------------------------------------------------- */

static uint32_t search(const struct direct *d, uint32_t plane, uint32_t page, uint32_t i)
{
	uint32_t ppb = d->g->pages_per_block;
	const struct nftl_pair *l = nftl_pair_of(d, plane, page / ppb);
	const struct nftl_u *u;
	uint32_t pos;

	if (!d->host.c.spare_search || l->u == NFTL_NONE || nftl_buffered(d, plane, page) != NFTL_NONE)
		return NFTL_NONE;
	u = nftl_u_of(d, plane, l->u);
	pos = nftl_pos_of(d, plane, l->u)[page % ppb];
	if (pos == NFTL_NO_POS || pos + i >= u->end)
		return NFTL_NONE;
	return direct_ppn(d, u->block, u->end - 1 - i);
}

static enum direct_room place(struct direct *d, uint32_t plane, uint32_t page, uint32_t *ppn,
			      uint8_t *tag)
{
	enum direct_room room = nftl_place_in_pair(d, plane, page, true, ppn, tag);

	if (room != DIRECT_GC || !d->host.c.write_buffer_blocks)
		return room;
	*tag = NFTL_TAG_W;
	return nftl_buffer_place(d, plane, ppn);
}

static void programmed(struct direct *d, uint32_t plane, uint32_t page, uint32_t ppn, bool ok)
{
	if (nftl_of(d)->block[ppn / d->g->pages_per_block].is_w)
		nftl_buffer_written(d, plane, page, ppn, ok);
	else
		nftl_pair_written(d, plane, page, ppn, ok);
}

/* ---- configuration ------------------------------------------------------------------- */

static uint32_t lblocks_of(const struct ftl_config *c, const struct nand_geometry *g)
{
	return (direct_plane_pages(c, g) + g->pages_per_block - 1) / g->pages_per_block;
}

/* Returns the good blocks that a plane needs: D-blocks, a U-block, a merge target, and the write buffer. */
static uint32_t blocks_needed(const struct ftl_config *c, const struct nand_geometry *g)
{
	return lblocks_of(c, g) + 2 + c->write_buffer_blocks;
}

static uint32_t host_reserve(const struct ftl_config *c)
{
	return c->gc_mode == FTL_GC_SLICED ? c->gc_urgent_blocks : c->gc_start_blocks;
}

static bool wants_gc(const struct direct *d, uint32_t plane)
{
	const struct nftl_plane *p = &nftl_of(d)->plane[plane];
	uint32_t start = d->host.c.gc_start_blocks + nftl_buffer_left(d, plane);

	if (p->gc.phase != NFTL_IDLE)
		return false;
	if (p->buffer.pages || nftl_buffer_empty(d, plane) != NFTL_NONE)
		return true;
	return p->pairs && (p->gc.want != NFTL_NONE || d->pool.plane[plane].free_count <= start ||
			    direct_ordered(d, plane));
}

static void *lay_out(struct ssd_arena *m, const struct ftl_config *c, const struct nand_geometry *g)
{
	uint32_t planes = geo_planes(g), ppb = g->pages_per_block, lists = 2 * ppb + 1;
	size_t bits = (geo_pages(g) + 7) / 8, leaves = (size_t)1 << g->pb_levels;
	struct nftl *s = ssd_carve(m, 1, sizeof(*s)), at = { .lblocks = lblocks_of(c, g) };
	uint32_t *victims, *last;

	at.slots = g->blocks_per_plane / 2 < at.lblocks ? g->blocks_per_plane / 2 : at.lblocks;
	at.host_reserve = host_reserve(c);
	at.pair = ssd_carve(m, (size_t)planes * at.lblocks, sizeof(*at.pair));
	at.u = ssd_carve(m, (size_t)planes * at.slots, sizeof(*at.u));
	at.pos = ssd_carve(m, (size_t)planes * at.slots * ppb, sizeof(*at.pos));
	at.block = ssd_carve(m, geo_blocks(g), sizeof(*at.block));
	at.plane = ssd_carve(m, planes, sizeof(*at.plane));
	at.used = ssd_carve(m, bits, 1);
	at.valid = ssd_carve(m, bits, 1);
	at.chain = ssd_carve(m, at.lblocks, sizeof(*at.chain));
	at.seq = ssd_carve(m, ppb, sizeof(*at.seq));
	victims = ssd_carve(m, (size_t)planes * lists, sizeof(*victims));
	last = ssd_carve(m, (size_t)planes * lists, sizeof(*last));
	if (c->pen) {
		at.dis = ssd_carve(m, geo_blocks(g) * leaves, sizeof(*at.dis));
		at.pages = ssd_carve(m, leaves, sizeof(*at.pages));
		at.work = ssd_carve(m, 1, sizeof(*at.work));
	}
	if (c->write_buffer_blocks) {
		at.buffered = ssd_carve(m, (size_t)planes * at.lblocks * ppb, sizeof(*at.buffered));
		at.queued = ssd_carve(m, (size_t)planes * at.lblocks, sizeof(*at.queued));
		at.late = ssd_carve(m, (size_t)planes * ppb, sizeof(*at.late));
	}
	if (s) {
		*s = at;
		for (uint32_t p = 0; p < planes; p++) {
			s->plane[p].victims = victims + (size_t)p * lists;
			s->plane[p].last = last + (size_t)p * lists;
		}
	}
	return s;
}

/* Compute the costs in ns of all steps on an idle bus. */
static void make_model(struct direct *d)
{
	struct pen_model *m = &nftl_of(d)->model;
	const struct nand_timing *t = &d->host.c.timing;
	uint64_t bytes = d->g->page_bytes + (t->oob_off_bus ? 0 : d->g->oob_bytes);
	uint64_t transfer = d->host.c.gc_copyback ? 0 : (bytes * t->bus_ps_per_byte + 999) / 1000;

	m->levels = d->g->pb_levels;
	m->tolerance = d->host.c.disturb_tolerance;
	SSD_ASSERT(d->g->bits_per_cell);
	for (uint32_t type = 0; type < d->g->bits_per_cell; type++)
		m->copy_cost += t->read_ns[type] + t->program_ns[type];
	m->copy_cost = m->copy_cost / d->g->bits_per_cell + 2 * transfer;
	for (uint32_t level = 0; level <= m->levels; level++)
		m->erase_cost[level] = t->erase_ns[level];
}

static void init(struct direct *d)
{
	struct nftl *s = nftl_of(d);

	make_model(d);
	for (uint32_t i = 0; i < d->planes * s->lblocks; i++)
		s->pair[i] = (struct nftl_pair){ NFTL_NONE, NFTL_NONE };
	for (uint32_t plane = 0; plane < d->planes; plane++) {
		struct nftl_plane *p = &s->plane[plane];

		p->gc.slot = p->gc.want = p->gc.target = NFTL_NONE;
		p->free_slots = NFTL_NONE;
		for (uint32_t i = s->slots; i-- > 0;) {
			*nftl_u_of(d, plane, i) = (struct nftl_u){ .block = NFTL_NONE,
								   .next = p->free_slots };
			p->free_slots = i;
		}
		for (uint32_t i = 0; i <= 2 * d->g->pages_per_block; i++)
			p->victims[i] = NFTL_NONE;
		nftl_buffer_init(d, plane);
	}
}

/* Returns the number of valid pages of a block. */
static uint32_t valid(const struct direct *d, uint32_t block)
{
	return nftl_count(d, nftl_of(d)->valid, block);
}

/* Counts the block map, the U-blocks' tables, a valid and a used bit per page, and the write buffer's map and queue. */
static uint64_t map_bytes(const struct direct *d)
{
	const struct nftl *s = nftl_of(d);
	uint64_t lblocks = (uint64_t)d->planes * s->lblocks;
	uint64_t buffer = s->buffered ? lblocks * sizeof(*s->buffered) * (d->g->pages_per_block + 1ull) : 0;

	return lblocks * sizeof(*s->pair) + buffer +
	       (uint64_t)d->planes * s->slots * (sizeof(*s->u) + 2ull * d->g->pages_per_block) +
	       (geo_pages(d->g) + 7) / 8 * 2;
}

static const char *fault(const struct ftl_config *c, const struct nand_geometry *g)
{
	if (g->pages_per_block >= NFTL_NO_POS)
		return "pages_per_block must be less than 65535: NFTL's tables have 16 bits";
	if (c->write_buffer_blocks && c->gc_mode != FTL_GC_SLICED)
		return "write_buffer_blocks needs gc_mode = sliced: its pages are moved between host writes";
	if (c->write_buffer_blocks && c->pen)
		return "write_buffer_blocks must be 0 with pen: M-Merge does not know the buffer";
	if (lblocks_of(c, g) + host_reserve(c) + 1 > g->blocks_per_plane)
		return "gc_start_blocks leaves no block for a U-block (gc_urgent_blocks, with gc_mode = "
		       "sliced): lower it or the capacity, or add blocks";
	if (lblocks_of(c, g) + host_reserve(c) + 1 + c->write_buffer_blocks > g->blocks_per_plane)
		return "write_buffer_blocks leaves no block for a U-block: lower it or the capacity, or add blocks";
	return NULL;
}

static const struct direct_scheme nftl_scheme = {
	.fault = fault,
	.lay_out = lay_out,
	.init = init,
	.lookup = nftl_lookup,
	.search = search,
	.place = place,
	.programmed = programmed,
	.wants_gc = wants_gc,
	.gc_next = nftl_gc_next,
	.gc_done = nftl_gc_done,
	.mount_page = nftl_mount_page,
	.mount_plane = nftl_mount_plane,
	.check = nftl_check,
	.map_bytes = map_bytes,
	.valid = valid,
	.blocks_needed = blocks_needed,
};

static const struct knob_table own = FTL_KNOBS("ftl", NFTL_ROWS);
static const struct knob_table *const knobs[] = { DIRECT_KNOBS, &direct_pen_knobs, &own, NULL };
/* gc_start_blocks is fixed: with gc_mode = blocking it is the reserve (host_reserve()). */
static const struct ftl_anew anew[] = { { FTL_AT_USE, NULL }, { FTL_FIXED, NULL } };

const struct ftl_ops nftl_ops = {
	.name = "nftl",
	.policy = &nftl_scheme,
	.knobs = knobs,
	.anew = anew,
	DIRECT_OPS_COMMON,
};
