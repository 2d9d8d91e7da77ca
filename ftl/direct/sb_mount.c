// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sb_mount.c - the mount of the Superblock FTL.
 *
 * 1. Each readable page claims its logical page. Of two claims the one with the higher
 *    sequence wins. The sequences of all pages would take more memory than the map, so only the
 *    range of each block's sequences is stored, and whether they ascend. Where the ranges of two
 *    blocks overlap (mostly blocks that were partially erased), spare areas are read again.
 * 2. Blocks without a valid page are free. In a group they are erased at once, so that
 *    a group's leftovers, and with them its slots, do not add up over mounts.
 * 3. For each other block, determine which erased pages may be programmed, and whether its
 *    disturbance is known.
 *
 * On step 3. GC never erases a PB with a valid page. So no erase of a smallest PB with a valid page
 * was interrupted, and its edges have been programmed: its erased pages may be programmed, which
 * disturbs no page. Of a smallest PB without a valid page nothing is known if its block may have
 * been partially erased. It was not partially erased if
 *   - no page has the tag SB_TAG_PARTIAL, and
 *   - the used pages are the block's first h, without a gap, and
 *   - they are not what a partial erase of the block's end would leave: no PB that ends
 *     with the block begins at or below h and above the last valid page.
 * These conditions suffice, because a block is partially erased for the first time only when all
 * its pages have been programmed (sb_may_split). A complete partial erase leaves a gap, or erased
 * pages at the block's end; an interrupted one leaves the same, or unreadable pages, or changes
 * nothing. A block that was not partially erased is written further. If all its pages can be read
 * as well, its cells have never been disturbed. Any other block is suspect: smallest PBs without
 * valid pages count as stale, and it is erased as a whole only.
 *
 * So a power cut makes at most half of GC's target block unusable, and only if at least half of it
 * had been filled. At least half of the pages have then been moved, and the next target can hold
 * the others even if a cut makes half of it unusable, too. One block in reserve beyond GC's own is
 * therefore enough for any number of cuts.
 */
#include "direct_mount.h"
#include "sb_mount.h"
#include "sb_state.h"
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

static void resume_block(struct direct *d, uint32_t block)
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

static void free_empty(struct direct *d, uint32_t block)
{
	sb_drop(d, block);
	if (sb_page_mapped(sb_of(d)))
		direct_mount_free(d, block);
	else
		pool_erase(&d->pool, &d->host, &d->host.survey, block);
}

int sb_mount_plane(struct direct *d, uint32_t plane)
{
	struct sb *s = sb_of(d);
	uint32_t first = direct_first_block(d, plane), end = first + d->g->blocks_per_plane;

	for (uint32_t b = first; b < end; b++) {
		if (d->pool.block[b].state == POOL_BAD)
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
			resume_block(d, b);
		else
			free_empty(d, b);
	}
	return SSD_OK;
}
