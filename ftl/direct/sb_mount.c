// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sb_mount.c - what the Superblock FTL finds on flash.
 *
 * 1. Each readable page claims its logical page. Of two claims the one with the higher
 *    sequence wins. Sequences are not kept, for they would take more memory than the map:
 *    a block has the range of its own, and whether they ascend; only where two blocks'
 *    ranges overlap (blocks that were partially erased, mostly) are spare areas read again.
 * 2. Blocks without a valid page are free. In a group they are erased at once, so that
 *    a group's leftovers, and with them its slots, do not add up over mounts.
 * 3. Of the others, which erased pages may be programmed, and what is known of
 *    disturbance?
 *
 * On 3. GC erases nothing that holds a valid page. So a smallest PB with a valid page
 * was not cut in an erase, and its edges have been programmed: its erased pages are
 * as good as before the cut, and programming them disturbs no page. Of a smallest PB
 * without one nothing is known if its block may have been partially erased. It has not if
 *   - no page says so (SB_TAG_PARTIAL), and
 *   - the used pages are the block's first h, without a gap, and
 *   - they are not what a partial erase of the block's end would leave: no PB that ends
 *     with the block begins at or below h and above the last valid page.
 * That suffices because a block is partially erased for the first time only when all its
 * pages have been programmed (sb_may_split): an erase that ended leaves a gap or the
 * block's end, one that was cut leaves either, or pages that cannot be read, or changes
 * nothing. Such a block goes on where it was. If, besides, all its pages can be read, its
 * cells have never been disturbed. Any other block is suspect: smallest PBs without valid
 * pages count as stale, and it is erased as a whole only.
 *
 * So a cut costs GC's target at most the half of a block, and that only if at least half
 * of it had been filled; what was to be moved is then half done, and the next target, cut
 * likewise, would hold all of it. One block in reserve beyond GC's own outlasts any number
 * of cuts.
 */
#include "superblock.h"

static uint32_t group_of(const struct direct *d, const struct direct_oob *oob)
{
	return direct_page_of_lpn(d, oob->lpn) / sb_of(d)->group_pages;
}

void sb_mount_page(struct direct *d, uint32_t block, uint32_t in_block,
		   const struct direct_oob *oob)
{
	struct sb *s = sb_of(d);
	struct sb_block *b = &s->block[block];
	uint32_t ppn = direct_ppn(d, block, in_block);

	if (!oob) {
		b->torn = true;
		sb_back_put(s, ppn, s->stale_mark);
		return;
	}
	if (!b->claimed) {
		b->claimed = true;
		b->group = group_of(d, oob);
		b->seq_min = b->seq_max = oob->seq;
	}
	b->mixed |= b->group != group_of(d, oob);
	b->unsorted |= oob->seq < b->seq_max;
	b->tagged |= oob->tag & SB_TAG_PARTIAL;
	if (oob->seq < b->seq_min)
		b->seq_min = oob->seq;
	if (oob->seq > b->seq_max)
		b->seq_max = oob->seq;
	sb_back_put(s, ppn, direct_page_of_lpn(d, oob->lpn) % s->group_pages);
}

static bool read_newer(struct direct *d, uint32_t a, uint32_t b)
{
	struct direct_oob x, y;

	if (!direct_mount_oob(d, a, &x))
		return false;
	return !direct_mount_oob(d, b, &y) || x.seq > y.seq;
}

/* Is the copy of a page at address a newer than the copy at b? */
static bool newer(struct direct *d, uint32_t a, uint32_t b)
{
	const struct sb_block *x = &sb_of(d)->block[a / d->g->pages_per_block];
	const struct sb_block *y = &sb_of(d)->block[b / d->g->pages_per_block];

	if (x == y && !x->unsorted)
		return a > b;
	if (x != y && x->seq_min > y->seq_max)
		return true;
	if (x != y && x->seq_max < y->seq_min)
		return false;
	return read_newer(d, a, b);
}

static void settle_claims(struct direct *d, uint32_t plane, uint32_t block)
{
	struct sb *s = sb_of(d);

	for (uint32_t i = 0; i < d->g->pages_per_block; i++) {
		uint32_t ppn = direct_ppn(d, block, i), claim = sb_back_get(s, ppn), page, was;

		if (!sb_is_valid(s, claim))
			continue;
		page = s->block[block].group * s->group_pages + claim;
		was = sb_map_get(d, plane, page);
		if (was != DIRECT_NONE && !newer(d, ppn, was))
			sb_back_put(s, ppn, s->stale_mark);
		else
			sb_map_set(d, plane, page, ppn);
	}
}

/* Can a partial erase, completed or interrupted, have left the block in this state? */
static bool may_be_split(const struct direct *d, uint32_t block)
{
	const struct sb *s = sb_of(d);
	uint32_t pages = d->g->pages_per_block, used = 0, behind_valid = 0, ends = 0;

	for (uint32_t i = 0; i < pages; i++) {
		uint32_t back = sb_back_get(s, direct_ppn(d, block, i));

		if (back == s->free_mark)
			continue;
		used++;
		ends = i + 1;
		if (sb_is_valid(s, back))
			behind_valid = i + 1;
	}
	if (s->block[block].tagged || ends != used)
		return true;
	for (uint32_t level = 1; level <= s->levels; level++) {
		uint32_t begins = pages - (pages >> level);

		if (used < pages && behind_valid <= begins && begins <= used)
			return true;
	}
	return false;
}

/* Mark as stale the smallest PBs without a valid page, and the FREE pages below a used page of their PB. */
static void distrust_pbs(struct direct *d, uint32_t block)
{
	struct sb *s = sb_of(d);

	for (uint32_t i = 0; i < 1u << s->levels; i++) {
		uint32_t first = direct_ppn(d, block, i * s->pb_pages), valid = 0, used = 0;

		for (uint32_t k = 0; k < s->pb_pages; k++) {
			uint32_t back = sb_back_get(s, first + k);

			valid += sb_is_valid(s, back);
			if (back != s->free_mark)
				used = k + 1;
		}
		for (uint32_t k = 0; k < (valid ? used : s->pb_pages); k++)
			if (sb_back_get(s, first + k) == s->free_mark)
				sb_back_put(s, first + k, s->stale_mark);
	}
}

static void take_up(struct direct *d, uint32_t block)
{
	struct sb *s = sb_of(d);
	struct sb_block *b = &s->block[block];
	bool split = may_be_split(d, block);

	b->suspect = split || b->torn;
	if (split)
		distrust_pbs(d, block);
	for (uint32_t i = 0; i < d->g->pages_per_block; i++)
		b->free += sb_back_get(s, direct_ppn(d, block, i)) == s->free_mark;
	sb_reopen(d, block);
}

static void let_go(struct direct *d, uint32_t block)
{
	sb_drop(d, block);
	if (sb_page_mapped(sb_of(d)))
		direct_mount_free(d, block);
	else
		direct_mount_erase(d, block);
}

int sb_mount_plane(struct direct *d, uint32_t plane)
{
	struct sb *s = sb_of(d);
	uint32_t first = direct_first_block(d, plane), end = first + d->g->blocks_per_plane;

	for (uint32_t b = first; b < end; b++) {
		if (d->block[b].state == DIRECT_BAD)
			continue;
		if (!s->block[b].claimed)
			direct_mount_free(d, b);
		else if (s->block[b].mixed || !sb_attach(d, plane, s->block[b].group, b))
			return SSD_E_CORRUPT;
	}
	for (uint32_t b = first; b < end; b++)
		if (s->block[b].state == SB_VICTIM)
			settle_claims(d, plane, b);
	for (uint32_t b = first; b < end; b++) {
		if (s->block[b].state != SB_VICTIM)
			continue;
		if (s->block[b].valid)
			take_up(d, b);
		else
			let_go(d, b);
	}
	return SSD_OK;
}
