// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dac_pick.c - the DAC FTL: when GC of a die is due, and which block it collects. It changes no block.
 *
 * The victim is the full block with the fewest live bytes, of those whose live pages can be
 * merged into fewer pages than a block has. A block with a failed program comes before all
 * others. It will be retired and yields no free block, so that one with live entries is
 * collected only while two blocks and the reserve for backups are free. While the die has a
 * page that a mount rebuilt, only a block without live entries can be a victim, because
 * nothing may be programmed then. A choice costs
 * O(blocks of the die) and, for each candidate, O(pages of a block).
 */
#include "dac_pick.h"

/*
 * Returns an upper bound of the pages that hold the block's live entries after GC, which merges
 * neighbouring pages by next fit.
 */
static uint32_t pages_after(const struct dac *d, uint32_t block)
{
	uint32_t pages = 0, room = 0;

	for (uint32_t i = 0; i < d->g->pages_per_block; i++) {
		const struct dac_live *l = &d->live[block * d->g->pages_per_block + i];

		if (!l->entries)
			continue;
		if (l->bytes == d->unit_bytes) {	/* a raw unit fills a page */
			pages++;
		} else if (l->bytes <= room) {
			room -= l->bytes;
		} else {
			pages++;
			room = d->unit_bytes - DAC_HEAD_BYTES - l->bytes;
		}
	}
	return pages;
}

static bool is_better_victim(const struct dac *d, uint32_t block, uint32_t best, uint32_t free_count)
{
	const struct blk *k = &d->bt.blk[block];

	if (k->state == BLK_RETIRE)
		return !k->valid || free_count >= 2 + d->gc.reserve;
	if (k->state != BLK_FULL)
		return false;
	if (best != DAC_NONE && (d->bt.blk[best].state == BLK_RETIRE ||
				 d->block[best].live_bytes <= d->block[block].live_bytes))
		return false;
	return k->valid < d->g->pages_per_block ||
	       pages_after(d, block) < d->g->pages_per_block;
}

uint32_t dac_gc_victim(const struct dac *d, const struct dac_die *x)
{
	uint32_t per_die = d->g->blocks_per_plane * d->g->planes_per_die;
	uint32_t first = (uint32_t)(x - d->die) * per_die, best = DAC_NONE;

	for (uint32_t b = first; b < first + per_die; b++)
		if (!(d->bt.blk[b].valid && x->lost != DAC_NONE) &&
		    is_better_victim(d, b, best, dac_free_of(d, x)->free_count))
			best = b;
	return best;
}

static bool has_retired(const struct dac *d, const struct dac_die *x)
{
	const struct blk_plane *p = dac_free_of(d, x);

	for (uint32_t b = p->retire_head; b != BLK_NONE; b = d->bt.blk[b].next)
		if (p->free_count >= 2 + d->gc.reserve || !d->bt.blk[b].valid)
			return true;
	return false;
}

/* May GC work because the drive is idle, and is there a block to collect? */
static bool due_idle(const struct dac *d, const struct dac_die *x)
{
	if (!d->gc.idle_blocks || d->host.now_ns < d->gc.idle_at_ns)
		return false;
	return dac_free_of(d, x)->free_count < d->gc.idle_blocks ||
	       (d->fr.c.policy->returns_to_fast && front_some_slow(&d->fr, (uint32_t)(x - d->die)));
}

bool dac_gc_due(const struct dac *d, const struct dac_die *x, uint32_t wanted)
{
	uint32_t free_blocks = dac_free_of(d, x)->free_count;

	return free_blocks < wanted || gc_order_stands(&x->order, free_blocks) || has_retired(d, x) ||
	       due_idle(d, x);
}

void dac_gc_wanted(struct dac *d, struct dac_die *x)
{
	if (d->host.frozen || x->gc_active || x->no_victim || !dac_gc_due(d, x, d->gc.start))
		return;
	x->gc_active = true;
	x->gc.since_ns = d->host.now_ns;
	d->more_to_do = true;
}
