// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * nftl_mount.c - NFTL: mounting, and its invariants.
 *
 * The survey finds, for each block, its logical block, whether it is a D- or a U-block, and its
 * highest sequence. A block without a readable page is free (and erased before use). Then, by
 * logical block:
 *
 *   one D-block alone   it is the D-block.
 *   two D-blocks        a Merge or its erases were interrupted. If the later block (by its highest
 *                       sequence) is complete, it is the D-block, and all others are leftovers;
 *                       otherwise it is itself the leftover. It is complete if it has the page that
 *                       was copied last, or if it has of each page a copy newer than all others.
 *   with a U-block      the newest copy of each page is valid. If the U-block has no valid page (an
 *                       M-Merge or Merge had ended except for its erase), it is a leftover.
 *   two U-blocks        an earlier mount could read no page of one block, and took it for free. The
 *                       later one is the U-block; the pages of the other, though readable again,
 *                       are out of date.
 *
 * Then the pages of the write buffer's blocks are read, in the order of the blocks' highest sequences:
 * those newer than the copies found so far are valid. The rules above do not depend on them: a block
 * that is discarded has no copy that is newer than all others. A block of the buffer without a valid page
 * is a leftover, too.
 *
 * Leftovers are erased at once, before anything is programmed, so there are never more of them than
 * one merge leaves. A half erased leftover is still a leftover, because none of its pages is
 * needed.
 *
 * With partial erases, blocks found by a mount are suspect: an erase of a PB may have been
 * interrupted (rule R9), and disturbances are unknown. They are read, but not programmed, and are
 * merged whole.
 *
 * Invariants (nftl_check):
 *   N1  a USED block is a D-block, a U-block, in the write buffer, the target of a Merge, or to be erased;
 *   N2  at most one copy of each page is valid; it is used, and lookup() returns it;
 *   N3  a pair's number of invalid pages is right and at most `high`, and the pair is on the list
 *       of that number, unless it is being merged;
 *   N4  where disturbance is known, smallest PBs with valid pages are disturbed at most as often as
 *       the tolerance allows; outside of an M-Merge the remaining edges cannot exceed it;
 *   N5  the valid pages of the write buffer's blocks are those of its map, and their logical blocks are
 *       in its queue, once each.
 */
#include "direct_mount.h"
#include "nftl.h"
#include "nftl_buffer.h"
#include "nftl_mount.h"
#include "nftl_state.h"

/* ---- survey ---------------------------------------------------------------------- */

void nftl_mount_page(struct direct *d, uint32_t block, uint32_t in_block,
		     const struct direct_oob *oob)
{
	uint32_t ppb = d->g->pages_per_block, ppn = direct_ppn(d, block, in_block), page;
	struct nftl *s = nftl_of(d);
	struct nftl_block *b = &s->block[block];
	bool is_u, is_w;

	bit_set(s->used, ppn);
	if (!oob)
		return;
	bit_set(s->valid, ppn);
	page = direct_page_of_lpn(d, oob->lpn);
	is_u = oob->tag & NFTL_TAG_U;
	is_w = oob->tag & NFTL_TAG_W;
	b->mixed |= (b->readable && ((b->lblock != page / ppb && !is_w) || b->is_u != is_u || b->is_w != is_w)) ||
		    (!is_u && !is_w && page % ppb != in_block) || (is_w && !s->buffered);
	b->readable = true;
	b->is_u = is_u;
	b->is_w = is_w;
	b->lblock = page / ppb;
	b->last |= (oob->tag & NFTL_TAG_LAST) != 0;
	if (oob->seq > b->seq)
		b->seq = oob->seq;
}

/* ---- one logical block -------------------------------------------------------------- */

/*
 * Returns the D-block or U-block of the chain with the highest sequence; *count receives their
 * number.
 */
static uint32_t latest(const struct direct *d, uint32_t chain, bool is_u, uint32_t *count)
{
	const struct nftl *s = nftl_of(d);
	uint32_t best = NFTL_NONE;

	*count = 0;
	for (uint32_t b = chain; b != NFTL_NONE; b = s->block[b].next) {
		if (s->block[b].is_u != is_u)
			continue;
		++*count;
		if (best == NFTL_NONE || s->block[b].seq > s->block[best].seq)
			best = b;
	}
	return best;
}

/* Read the sequences of the D-block's pages into s->seq; 0: the page has none. */
static void read_d(struct direct *d, uint32_t block)
{
	struct nftl *s = nftl_of(d);
	struct direct_oob oob;

	for (uint32_t k = 0; k < d->g->pages_per_block; k++) {
		uint32_t ppn = direct_ppn(d, block, k);

		s->seq[k] = 0;
		if (bit_get(s->valid, ppn) && direct_mount_oob(d, ppn, &oob))
			s->seq[k] = oob.seq;
	}
}

static bool complete(struct direct *d, uint32_t chain, uint32_t block)
{
	struct nftl *s = nftl_of(d);
	uint32_t ppb = d->g->pages_per_block;
	struct direct_oob oob;

	if (s->block[block].last)
		return true;
	read_d(d, block);
	for (uint32_t b = chain; b != NFTL_NONE; b = s->block[b].next)
		for (uint32_t i = 0; i < ppb && b != block; i++)
			if (bit_get(s->valid, direct_ppn(d, b, i)) &&
			    direct_mount_oob(d, direct_ppn(d, b, i), &oob) &&
			    oob.seq > s->seq[direct_page_of_lpn(d, oob.lpn) % ppb])
				return false;
	return true;
}

/* Keep only `block` of the chain, or all blocks except it; discard the others. */
static uint32_t keep(struct direct *d, uint32_t chain, uint32_t block, bool it)
{
	struct nftl *s = nftl_of(d);
	uint32_t kept = NFTL_NONE, next;

	for (uint32_t b = chain; b != NFTL_NONE; b = next) {
		next = s->block[b].next;
		if ((b == block) != it) {
			nftl_leftover(d, b);
			continue;
		}
		s->block[b].next = kept;
		kept = b;
	}
	return kept;
}

/* Returns the chain's U-block other than `u`, if there is one. */
static uint32_t other_u(const struct direct *d, uint32_t chain, uint32_t block)
{
	const struct nftl *s = nftl_of(d);

	while (chain == block || !s->block[chain].is_u)
		chain = s->block[chain].next;
	return chain;
}

static uint32_t drop_leftovers(struct direct *d, uint32_t chain)
{
	uint32_t count, last = latest(d, chain, true, &count);

	for (; count > 1; count--)
		chain = keep(d, chain, other_u(d, chain, last), false);
	last = latest(d, chain, false, &count);
	while (count > 1) {
		chain = keep(d, chain, last, complete(d, chain, last));
		last = latest(d, chain, false, &count);
	}
	return chain;
}

/* Find the newest copies of a pair's pages; s->seq holds the D-block's sequences. */
static void read_u(struct direct *d, uint32_t plane, uint32_t slot)
{
	struct nftl *s = nftl_of(d);
	struct nftl_u *u = nftl_u_of(d, plane, slot);
	uint16_t *pos = nftl_pos_of(d, plane, slot);
	uint32_t ppb = d->g->pages_per_block, data = nftl_pair_of(d, plane, u->lblock)->d;
	struct direct_oob oob;

	for (uint32_t i = 0; i < ppb; i++) {
		uint32_t ppn = direct_ppn(d, u->block, i), k;

		if (bit_get(s->used, ppn))
			u->end = i + 1;
		if (!bit_get(s->valid, ppn))
			continue;
		bit_clear(s->valid, ppn);
		if (!direct_mount_oob(d, ppn, &oob))
			continue;
		k = direct_page_of_lpn(d, oob.lpn) % ppb;
		if (oob.seq < s->seq[k])
			continue;
		if (pos[k] != NFTL_NO_POS)
			bit_clear(s->valid, direct_ppn(d, u->block, pos[k]));
		else if (data != NFTL_NONE)
			bit_clear(s->valid, direct_ppn(d, data, k));
		pos[k] = (uint16_t)i;
		s->seq[k] = oob.seq;
		bit_set(s->valid, ppn);
	}
}

static void take_pair(struct direct *d, uint32_t plane, uint32_t lblock, uint32_t log)
{
	struct nftl *s = nftl_of(d);
	struct nftl_pair *l = nftl_pair_of(d, plane, lblock);
	uint32_t slot = nftl_slot_get(d, plane, lblock, log);
	struct nftl_u *u = nftl_u_of(d, plane, slot);

	if (l->d != NFTL_NONE)
		read_d(d, l->d);
	else
		memset(s->seq, 0, d->g->pages_per_block * sizeof(*s->seq));
	read_u(d, plane, slot);
	u->closed = s->block[log].suspect;
	if (!nftl_count(d, s->valid, log)) {
		nftl_slot_put(d, plane, slot);
		nftl_leftover(d, log);
		return;
	}
	u->invalid = nftl_invalid(d, plane, slot);
	nftl_victim_add(d, plane, slot);
}

static int take_lblock(struct direct *d, uint32_t plane, uint32_t lblock, uint32_t chain)
{
	struct nftl *s = nftl_of(d);
	struct nftl_pair *l = nftl_pair_of(d, plane, lblock);
	uint32_t log = NFTL_NONE;

	chain = drop_leftovers(d, chain);
	for (uint32_t b = chain; b != NFTL_NONE; b = s->block[b].next) {
		uint32_t *where = s->block[b].is_u ? &log : &l->d;

		if (*where != NFTL_NONE)
			return SSD_E_CORRUPT;
		*where = b;
		s->block[b].suspect = d->g->pb_levels > 0;
	}
	if (log == NFTL_NONE)
		return SSD_OK;
	if (s->plane[plane].free_slots == NFTL_NONE)
		return SSD_E_CORRUPT;
	take_pair(d, plane, lblock, log);
	return SSD_OK;
}

/* ---- a plane --------------------------------------------------------------------------- */

int nftl_mount_plane(struct direct *d, uint32_t plane)
{
	struct nftl *s = nftl_of(d);
	uint32_t first = direct_first_block(d, plane), end = first + d->g->blocks_per_plane;
	int err = SSD_OK;

	for (uint32_t i = 0; i < s->lblocks; i++)
		s->chain[i] = NFTL_NONE;
	for (uint32_t b = first; b < end; b++) {
		struct nftl_block *k = &s->block[b];

		if (d->pool.block[b].state == POOL_BAD)
			continue;
		if (k->mixed || (k->readable && k->lblock >= s->lblocks))
			return SSD_E_CORRUPT;
		if (k->readable && k->is_w)
			continue;
		if (k->readable) {
			k->next = s->chain[k->lblock];
			s->chain[k->lblock] = b;
			continue;
		}
		nftl_forget(d, b, 0, d->g->pages_per_block);
		direct_mount_free(d, b);
	}
	for (uint32_t i = 0; i < s->lblocks && !err; i++)
		err = take_lblock(d, plane, i, s->chain[i]);
	if (!err && s->buffered)
		nftl_mount_buffer(d, plane);
	return err;
}

/* ---- invariants ---------------------------------------------------------------------------- */

static bool in_gc(const struct direct *d, uint32_t plane, uint32_t block)
{
	const struct nftl_gc *gc = &nftl_of(d)->plane[plane].gc;
	const struct direct_die *x = &d->die[geo_die_of_plane(d->g, plane)];
	bool erasing = gc->phase == NFTL_WIPE && x->cmd == DIRECT_CMD_GC && x->step.plane == plane;

	if (gc->phase == NFTL_IDLE)
		return false;
	for (uint32_t i = 0; i < gc->wipes; i++)
		if (gc->wipe[i] == block)
			return true;
	for (uint32_t i = 0; i < x->step.count && erasing; i++)
		if (x->step.block[i] == block)
			return true;
	return gc->phase == NFTL_MERGE && gc->target == block;
}

static void check_block(const struct direct *d, uint32_t plane, uint32_t block, bool mapped)
{
	SSD_ASSERT((d->pool.block[block].state == POOL_USED) == (mapped || in_gc(d, plane, block)));
}

static void check_dis(const struct direct *d, uint32_t block, bool merging)
{
	const struct nftl *s = nftl_of(d);
	const struct pen_dis *dis = s->dis ? nftl_dis_of(d, block) : NULL;
	uint32_t pb = nftl_pb_pages(d), tolerance = d->host.c.disturb_tolerance;

	if (!dis || tolerance == 255 || s->block[block].suspect || s->block[block].retire)
		return;
	for (uint32_t k = 0; k < d->g->pages_per_block; k++) {
		if (!bit_get(s->valid, direct_ppn(d, block, k)))
			continue;
		SSD_ASSERT(dis[k / pb].disturbs <= tolerance);				/* N4 */
		SSD_ASSERT(merging || pen_safe(dis, d->g->pb_levels, k / pb, tolerance));
	}
}

static void check_pair(const struct direct *d, uint32_t plane, uint32_t lblock)
{
	const struct nftl *s = nftl_of(d);
	const struct nftl_pair *l = nftl_pair_of(d, plane, lblock);
	const struct nftl_u *u = l->u == NFTL_NONE ? NULL : nftl_u_of(d, plane, l->u);
	const struct nftl_gc *gc = &s->plane[plane].gc;
	uint32_t in_u = 0;

	for (uint32_t k = 0; k < d->g->pages_per_block; k++) {
		uint32_t pos = u ? nftl_pos_of(d, plane, l->u)[k] : NFTL_NO_POS;
		bool in_d = l->d != NFTL_NONE && bit_get(s->valid, direct_ppn(d, l->d, k));

		SSD_ASSERT((pos != NFTL_NO_POS) + in_d +
			   (nftl_buffered(d, plane, lblock * d->g->pages_per_block + k) != NFTL_NONE) <= 1); /* N2 */
		SSD_ASSERT(!in_d || bit_get(s->used, direct_ppn(d, l->d, k)));		/* N2 */
		if (pos == NFTL_NO_POS)
			continue;
		in_u++;
		SSD_ASSERT(bit_get(s->valid, direct_ppn(d, u->block, pos)) &&
			   bit_get(s->used, direct_ppn(d, u->block, pos)));		/* N2 */
	}
	SSD_ASSERT(!u || in_u == nftl_count(d, s->valid, u->block));			/* N2 */
	if (l->d != NFTL_NONE)
		check_dis(d, l->d, gc->phase != NFTL_IDLE && gc->lblock == lblock);
}

/* Is a used page of the pair neither valid nor invalid yet, because its program has not ended? */
static bool in_flight(const struct direct *d, uint32_t plane, const struct nftl_u *u)
{
	const struct direct_die *x = &d->die[geo_die_of_plane(d->g, plane)];
	bool moving = nftl_of(d)->plane[plane].gc.phase == NFTL_DRAIN && x->step.plane == plane &&
		      (x->cmd == DIRECT_CMD_GC_READ || x->cmd == DIRECT_CMD_GC || x->half_copied);
	uint32_t block = (moving ? x->step.to : x->w.ppn) / d->g->pages_per_block;

	return (moving || x->cmd == DIRECT_CMD_PROGRAM) &&
	       (block == u->block || block == nftl_pair_of(d, plane, u->lblock)->d);
}

static void check_victims(const struct direct *d, uint32_t plane)
{
	const struct nftl_plane *p = &nftl_of(d)->plane[plane];
	uint32_t listed = 0;
	bool merging = p->gc.phase != NFTL_IDLE && p->gc.phase != NFTL_WIPE && p->gc.phase != NFTL_DRAIN;
	bool lru = d->host.c.merge_victim == FTL_VICTIM_LRU;

	for (uint32_t i = 0; i <= 2 * d->g->pages_per_block; i++)
		for (uint32_t at = p->victims[i]; at != NFTL_NONE;
		     at = nftl_u_of(d, plane, at)->next) {
			listed++;
			SSD_ASSERT(i <= p->high);					/* N3 */
			SSD_ASSERT(i == (lru ? 0 : nftl_u_of(d, plane, at)->invalid));	/* N3 */
			SSD_ASSERT(nftl_invalid(d, plane, at) ==
				   nftl_u_of(d, plane, at)->invalid +
				   in_flight(d, plane, nftl_u_of(d, plane, at)));	/* N3 */
			SSD_ASSERT(nftl_u_of(d, plane, at)->next != NFTL_NONE || p->last[i] == at);
		}
	SSD_ASSERT(listed + merging == p->pairs);					/* N3 */
}

void nftl_check(const struct direct *d)
{
	const struct nftl *s = nftl_of(d);

	for (uint32_t plane = 0; plane < d->planes; plane++) {
		uint32_t first = direct_first_block(d, plane), mapped = 0, used = 0;

		for (uint32_t i = 0; i < s->lblocks; i++) {
			const struct nftl_pair *l = nftl_pair_of(d, plane, i);

			check_pair(d, plane, i);
			if (l->d != NFTL_NONE)
				check_block(d, plane, l->d, true);			/* N1 */
			if (l->u != NFTL_NONE)
				check_block(d, plane, nftl_u_of(d, plane, l->u)->block, true);
			mapped += (l->d != NFTL_NONE) + (l->u != NFTL_NONE);
		}
		for (uint32_t b = first; b < first + d->g->blocks_per_plane; b++)
			used += d->pool.block[b].state == POOL_USED && !in_gc(d, plane, b);
		nftl_check_buffer(d, plane);
		mapped += s->plane[plane].buffer.blocks;
		SSD_ASSERT(used == mapped);						/* N1 */
		check_victims(d, plane);
	}
}
