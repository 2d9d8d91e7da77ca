// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * nftl.c - NFTL: the place of each page, the place for each write, and the next victim.
 *
 * The drive has in memory the D-block and the U-block's slot of each logical block, a valid bit per
 * page, and a table for each U-block with the place of each page's newest copy. With
 * ftl.spare_search that last table is assumed to exist only on flash: to read a page from a U-block
 * of which `end` positions are used, and whose newest copy is at `pos`, the spare areas of
 * positions end - 1 down to pos are read first; a merge first reads those of 0 .. end - 1. A page
 * whose newest copy is in the D-block needs no such read, because its valid bit is in memory.
 *
 * Victims are on lists by their number of invalid pages; `high` is an upper bound of that number,
 * so that a choice is O(1), amortized. A pair goes to its list's head, or with another
 * ftl.merge_victim to the end; with lru all pairs are on list 0, in the order of their last
 * overwrites.
 *
 * Writes to a logical block that is being merged wait for the end, or go to the write buffer.
 */
#include "nftl.h"

/* ---- bits ------------------------------------------------------------------- */

static bool any_used(const struct nftl *s, uint32_t from, uint32_t to)
{
	for (; from < to && from & 7; from++)
		if (bit_get(s->used, from))
			return true;
	for (; from + 8 <= to; from += 8)
		if (s->used[from >> 3])
			return true;
	for (; from < to; from++)
		if (bit_get(s->used, from))
			return true;
	return false;
}

/* Count the bits of a block in a bitmap. */
uint32_t nftl_count(const struct direct *d, const uint8_t *map, uint32_t block)
{
	uint32_t at = direct_ppn(d, block, 0), to = at + d->g->pages_per_block, n = 0;

	for (; at < to && at & 7; at++)
		n += bit_get(map, at);
	for (; at + 8 <= to; at += 8)
		n += (uint32_t)__builtin_popcount(map[at >> 3]);
	for (; at < to; at++)
		n += bit_get(map, at);
	return n;
}

/* Clear the state of pages that were erased. */
void nftl_forget(struct direct *d, uint32_t block, uint32_t from, uint32_t count)
{
	struct nftl *s = nftl_of(d);

	for (uint32_t i = from; i < from + count; i++) {
		bit_clear(s->used, direct_ppn(d, block, i));
		bit_clear(s->valid, direct_ppn(d, block, i));
	}
}

/* ---- victims ------------------------------------------------------------------ */

uint32_t nftl_invalid(const struct direct *d, uint32_t plane, uint32_t slot)
{
	const struct nftl *s = nftl_of(d);
	const struct nftl_u *u = nftl_u_of(d, plane, slot);
	uint32_t data = nftl_pair_of(d, plane, u->lblock)->d;
	uint32_t n = nftl_count(d, s->used, u->block) - nftl_count(d, s->valid, u->block);

	if (data != NFTL_NONE)
		n += nftl_count(d, s->used, data) - nftl_count(d, s->valid, data);
	return n;
}

/* Returns the list of victims to which a pair belongs. */
static uint32_t list_of(const struct direct *d, const struct nftl_u *u)
{
	return d->host.c.merge_victim == FTL_VICTIM_LRU ? 0 : u->invalid;
}

void nftl_victim_add(struct direct *d, uint32_t plane, uint32_t slot)
{
	struct nftl_plane *p = &nftl_of(d)->plane[plane];
	struct nftl_u *u = nftl_u_of(d, plane, slot);
	uint32_t list = list_of(d, u);
	bool first = d->host.c.merge_victim == FTL_VICTIM_NEWEST || p->victims[list] == NFTL_NONE;

	u->prev = first ? NFTL_NONE : p->last[list];
	u->next = first ? p->victims[list] : NFTL_NONE;
	if (u->next != NFTL_NONE)
		nftl_u_of(d, plane, u->next)->prev = slot;
	else
		p->last[list] = slot;
	if (first)
		p->victims[list] = slot;
	else
		nftl_u_of(d, plane, u->prev)->next = slot;
	if (list > p->high)
		p->high = list;
}

void nftl_victim_remove(struct direct *d, uint32_t plane, uint32_t slot)
{
	struct nftl_plane *p = &nftl_of(d)->plane[plane];
	struct nftl_u *u = nftl_u_of(d, plane, slot);

	if (u->prev != NFTL_NONE)
		nftl_u_of(d, plane, u->prev)->next = u->next;
	else
		p->victims[list_of(d, u)] = u->next;
	if (u->next != NFTL_NONE)
		nftl_u_of(d, plane, u->next)->prev = u->prev;
	else
		p->last[list_of(d, u)] = u->prev;
	while (p->high && p->victims[p->high] == NFTL_NONE)
		p->high--;
}

void nftl_one_more_invalid(struct direct *d, uint32_t plane, uint32_t slot)
{
	nftl_victim_remove(d, plane, slot);
	nftl_u_of(d, plane, slot)->invalid++;
	nftl_victim_add(d, plane, slot);
}

/* ---- slots --------------------------------------------------------------------- */

uint32_t nftl_slot_get(struct direct *d, uint32_t plane, uint32_t lblock, uint32_t block)
{
	struct nftl_plane *p = &nftl_of(d)->plane[plane];
	uint32_t slot = p->free_slots;
	struct nftl_u *u;

	SSD_ASSERT(slot != NFTL_NONE);
	u = nftl_u_of(d, plane, slot);
	p->free_slots = u->next;
	p->pairs++;
	*u = (struct nftl_u){ .block = block, .lblock = lblock };
	for (uint32_t k = 0; k < d->g->pages_per_block; k++)
		nftl_pos_of(d, plane, slot)[k] = NFTL_NO_POS;
	nftl_pair_of(d, plane, lblock)->u = slot;
	return slot;
}

/* Free a slot of U-blocks that is on no list of victims. */
void nftl_slot_put(struct direct *d, uint32_t plane, uint32_t slot)
{
	struct nftl_plane *p = &nftl_of(d)->plane[plane];
	struct nftl_u *u = nftl_u_of(d, plane, slot);

	nftl_pair_of(d, plane, u->lblock)->u = NFTL_NONE;
	*u = (struct nftl_u){ .block = NFTL_NONE, .next = p->free_slots };
	p->free_slots = slot;
	p->pairs--;
	if (p->gc.want == slot)
		p->gc.want = NFTL_NONE;
}

/* ---- reads ----------------------------------------------------------------------- */

uint32_t nftl_lookup(const struct direct *d, uint32_t plane, uint32_t page)
{
	uint32_t ppn = nftl_buffered(d, plane, page);

	return ppn != NFTL_NONE ? ppn : nftl_lookup_pair(d, plane, page);
}

/* Returns the newest copy if it is in the D-block or the U-block, or NFTL_NONE. */
uint32_t nftl_lookup_pair(const struct direct *d, uint32_t plane, uint32_t page)
{
	uint32_t ppb = d->g->pages_per_block, k = page % ppb;
	const struct nftl_pair *l = nftl_pair_of(d, plane, page / ppb);
	const struct nftl *s = nftl_of(d);

	if (l->u != NFTL_NONE) {
		uint32_t pos = nftl_pos_of(d, plane, l->u)[k];

		if (pos != NFTL_NO_POS)
			return direct_ppn(d, nftl_u_of(d, plane, l->u)->block, pos);
	}
	if (l->d != NFTL_NONE && bit_get(s->valid, direct_ppn(d, l->d, k)))
		return direct_ppn(d, l->d, k);
	return NFTL_NONE;
}

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

/* ---- writes ------------------------------------------------------------------------ */

/* Do the array's order and R9 allow page k of the D-block to be programmed? */
static bool place_in_d(const struct direct *d, uint32_t block, uint32_t k)
{
	const struct nftl *s = nftl_of(d);
	uint32_t pb = nftl_pb_pages(d), at = direct_ppn(d, block, k);
	uint32_t end = direct_ppn(d, block, (k / pb + 1) * pb);

	if (s->block[block].retire || s->block[block].suspect)
		return false;
	return d->g->order == NAND_ORDER_NONE ? !bit_get(s->used, at) : !any_used(s, at, end);
}

/* Take a D- or U-block. A write of the host's takes none before the pages of the write buffer have theirs. */
static enum direct_room take_block(struct direct *d, uint32_t plane, bool host, uint32_t *block)
{
	struct nftl *s = nftl_of(d);
	const struct nftl_plane *p = &s->plane[plane];
	enum direct_room room;

	if (host && p->buffer.pages)
		return DIRECT_GC;
	room = direct_take(d, plane, s->host_reserve + nftl_buffer_left(d, plane), block);
	if (room == DIRECT_FULL && (p->pairs || (host && p->gc.phase != NFTL_IDLE)))
		return DIRECT_GC;
	if (room == DIRECT_FULL)
		room = direct_take(d, plane, 1, block);	/* the last free block is kept for a merge */
	if (room == DIRECT_ROOM) {
		s->block[*block] = (struct nftl_block){ 0 };
		if (s->dis)
			memset(nftl_dis_of(d, *block), 0, sizeof(*s->dis) << d->g->pb_levels);
	}
	return room;
}

static enum direct_room place_in_u(struct direct *d, uint32_t plane, uint32_t lblock, bool host,
				   uint32_t *ppn)
{
	struct nftl_plane *p = &nftl_of(d)->plane[plane];
	struct nftl_pair *l = nftl_pair_of(d, plane, lblock);
	enum direct_room room;
	struct nftl_u *u;
	uint32_t block;

	if (l->u == NFTL_NONE && p->free_slots == NFTL_NONE)
		return DIRECT_GC;
	if (l->u == NFTL_NONE) {
		room = take_block(d, plane, host, &block);
		if (room != DIRECT_ROOM)
			return room;
		nftl_slot_get(d, plane, lblock, block);
		nftl_u_of(d, plane, l->u)->invalid = nftl_invalid(d, plane, l->u);
		nftl_victim_add(d, plane, l->u);
	}
	u = nftl_u_of(d, plane, l->u);
	if (u->closed || u->end == d->g->pages_per_block) {
		p->gc.want = l->u;
		return DIRECT_GC;
	}
	*ppn = direct_ppn(d, u->block, u->end++);
	return DIRECT_ROOM;
}

enum direct_room nftl_place_in_pair(struct direct *d, uint32_t plane, uint32_t page, bool host, uint32_t *ppn,
				    uint8_t *tag)
{
	struct nftl *s = nftl_of(d);
	uint32_t ppb = d->g->pages_per_block, lblock = page / ppb, k = page % ppb;
	struct nftl_pair *l = nftl_pair_of(d, plane, lblock);
	enum direct_room room;

	if (nftl_merging(d, plane, lblock))
		return DIRECT_GC;
	if (l->d == NFTL_NONE && l->u == NFTL_NONE) {
		room = take_block(d, plane, host, &l->d);
		if (room != DIRECT_ROOM)
			return room;
	}
	if (l->d != NFTL_NONE && nftl_lookup_pair(d, plane, page) == NFTL_NONE &&
	    place_in_d(d, l->d, k)) {
		*ppn = direct_ppn(d, l->d, k);
		*tag = 0;
	} else {
		room = place_in_u(d, plane, lblock, host, ppn);
		if (room != DIRECT_ROOM)
			return room;
		*tag = NFTL_TAG_U;
	}
	bit_set(s->used, *ppn);
	return DIRECT_ROOM;
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

/* Count the disturbance caused by a program, as the array does. */
void nftl_d_programmed(struct direct *d, uint32_t block, uint32_t k)
{
	if (nftl_of(d)->dis)
		pen_programmed(nftl_dis_of(d, block), d->g->pb_levels, k / nftl_pb_pages(d));
}

static void d_written(struct direct *d, uint32_t plane, uint32_t lblock, uint32_t k, bool ok)
{
	struct nftl *s = nftl_of(d);
	struct nftl_pair *l = nftl_pair_of(d, plane, lblock);

	nftl_d_programmed(d, l->d, k);
	if (ok) {
		nftl_buffer_drop(d, plane, lblock * d->g->pages_per_block + k);
		bit_set(s->valid, direct_ppn(d, l->d, k));
		return;
	}
	s->block[l->d].retire = true;
	if (l->u != NFTL_NONE)
		nftl_one_more_invalid(d, plane, l->u);
}

static void u_written(struct direct *d, uint32_t plane, uint32_t lblock, uint32_t k, uint32_t ppn,
		      bool ok)
{
	struct nftl *s = nftl_of(d);
	struct nftl_pair *l = nftl_pair_of(d, plane, lblock);
	struct nftl_u *u = nftl_u_of(d, plane, l->u);
	uint32_t page = lblock * d->g->pages_per_block + k, old = nftl_lookup_pair(d, plane, page);

	if (!ok) {
		s->block[u->block].retire = true;
		u->closed = true;
		nftl_one_more_invalid(d, plane, l->u);
		return;
	}
	if (!nftl_buffer_drop(d, plane, page) && old != NFTL_NONE) {
		bit_clear(s->valid, old);
		nftl_one_more_invalid(d, plane, l->u);
	}
	nftl_pos_of(d, plane, l->u)[k] = (uint16_t)(ppn % d->g->pages_per_block);
	bit_set(s->valid, ppn);
	if (u->end == d->g->pages_per_block && d->host.c.gc_mode == FTL_GC_SLICED &&
	    s->plane[plane].gc.want == NFTL_NONE)
		s->plane[plane].gc.want = l->u;
}

void nftl_pair_written(struct direct *d, uint32_t plane, uint32_t page, uint32_t ppn, bool ok)
{
	uint32_t ppb = d->g->pages_per_block, lblock = page / ppb;

	if (ppn / ppb == nftl_pair_of(d, plane, lblock)->d)
		d_written(d, plane, lblock, page % ppb, ok);
	else
		u_written(d, plane, lblock, page % ppb, ppn, ok);
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
static const char *const online[] = {
	"gc_slice_pages", "reads_in_row", NULL
};

const struct ftl_ops nftl_ops = {
	.name = "nftl",
	.policy = &nftl_scheme,
	.knobs = knobs,
	.online = online,
	DIRECT_OPS_COMMON,
};
