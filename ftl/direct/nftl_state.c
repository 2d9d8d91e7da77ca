// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * nftl_state.c - NFTL's tables and lists: bits of pages, victims, slots of U-blocks. The other parts of NFTL change
 * them through these functions, which know nothing of the write buffer, merges and mounting.
 *
 * Victims are on lists by their number of invalid pages; `high` is an upper bound of that number,
 * so that a choice is O(1), amortized. A pair goes to its list's head, or with another
 * ftl.merge_victim to the end; with lru all pairs are on list 0, in the order of their last
 * overwrites.
 */
#include "nftl.h"
#include "nftl_state.h"

/* ---- pages ------------------------------------------------------------------- */

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

/* Erase a block that no page of the drive needs. */
void nftl_leftover(struct direct *d, uint32_t block)
{
	nftl_forget(d, block, 0, d->g->pages_per_block);
	nftl_of(d)->block[block] = (struct nftl_block){ 0 };
	pool_erase(&d->pool, &d->host, &d->host.survey, block);
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

/* Count the disturbance caused by a program, as the array does. */
void nftl_d_programmed(struct direct *d, uint32_t block, uint32_t k)
{
	if (nftl_of(d)->dis)
		pen_programmed(nftl_dis_of(d, block), d->g->pb_levels, k / nftl_pb_pages(d));
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
