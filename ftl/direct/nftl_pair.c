// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * nftl_pair.c - NFTL: where a page goes in its logical block's D-block or U-block, and what a program
 * there changes.
 *
 * Writes to a logical block that is being merged wait for the end, or go to the write buffer.
 */
#include "direct_ops.h"
#include "nftl.h"
#include "nftl_buffer.h"
#include "nftl_pair.h"
#include "nftl_state.h"

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
