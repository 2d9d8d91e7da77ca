// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * check.c - checks the invariants of the page FTL. It reads the state and, through nand_ops.peek,
 * the cells, and changes neither.
 *
 *   CHK1  the map and the valid bits agree: every mapped LPN has its own valid
 *         unit, and no unit is valid without being mapped
 *   CHK2  a block's valid count is the number of its valid bits
 *   CHK3  block lists (K1..K3 in blk.h), frontiers (F1..F4 in front.h); a victim is VICTIM
 *   CHK4  the page that holds a mapped unit names its LPN in the OOB, unless it
 *         is being programmed or cannot be read, or a mount has trusted a checkpoint that counts it
 *   CHK5  the buffer: W1 in wbuf.c, W2 in queue.h, W5 and W6 in handles.h; the number of free buffer pages is right
 *   CHK6  P1, P2 in place.c
 *   CHK7  once the buffer is empty, no trimmed LPN is mapped; `trims` is the number of trimmed LPNs
 *   CHK8  busy dies are in the heap, idle ones in both idle sets
 *   CHK9  no I/O waits while no command is under way, unless the drive is read-only or full
 *   CHK10 G1 in gc.c
 *   CHK11 if there is a P2L table, its entry for a mapped unit has the unit's LPN
 *   CHK12 V1 in level.c
 *   CHK13 HEAT1 and HEAT2 in heat.h
 *   CHK14 a block is in the mode that the FTL believes (slc.c)
 *   CHK15 M1, M2 and M4 in map.c; without a frame, a map page on flash is the map of CHK1 and CHK4
 *   CHK16 O1, O2 and O3 in wordline.h
 */
#include "check.h"
#include "p2l.h"
#include "page_ftl.h"

static uint32_t bits_set(const uint8_t *map, uint64_t first, uint64_t end)
{
	uint32_t count = 0;

	for (; first < end && first & 7; first++)
		count += bit_get(map, first);
	for (; first + 8 <= end; first += 8)
		count += (uint32_t)__builtin_popcount(map[first >> 3]);
	for (; first < end; first++)
		count += bit_get(map, first);
	return count;
}

/* The page that check_oob() peeked last; oob is valid if the map is cached. */
struct spare {
	uint32_t ppn;
	enum nand_status is;
	const void *oob;
};

/* Returns whether the unit's page can be read. If reads compare the LPN, its spare area must name it. */
static bool check_oob(const struct page_ftl *f, struct spare *s, uint32_t lpn, uint32_t upn)
{
	bool names = map_needs_spare(f);

	if (upn / f->shape.upp != s->ppn) {	/* LPNs that follow each other often share a page */
		s->ppn = upn / f->shape.upp;
		s->is = f->host.n->ops->peek(f->host.n, (ppn_t){ s->ppn }, NULL, names ? &s->oob : NULL);
	}
	SSD_ASSERT(!names || s->is != NAND_OK || (oob_get_lpn(s->oob, upn % f->shape.upp) & ~OOB_LOST) == lpn ||
		   map_trusts(f, s->ppn));					/* CHK4 */
	return s->is == NAND_OK;
}

/* Returns the number of LPNs whose pages can be read. */
static uint64_t check_entries(const struct page_ftl *f)
{
	uint64_t mapped = 0, readable = 0;
	struct map_look look = { 0 };
	struct spare spare = { .ppn = NONE };

	for (uint32_t lpn = 0; lpn < f->shape.all_lpns; lpn++) {
		uint32_t at = map_peek(f, &look, lpn), upn = at & ~OOB_LOST;

		if (at == NONE)
			continue;
		mapped++;
		SSD_ASSERT(bit_get(f->map.valid, upn));				/* CHK1 */
		SSD_ASSERT(!f->map.p2l || (oob_unit_lpn(p2l_of(f, upn)) & ~OOB_LOST) == lpn);	/* CHK11 */
		readable += check_oob(f, &spare, lpn, upn);
	}
	SSD_ASSERT(mapped == f->map.mapped);
	return readable;
}

static void check_valid(const struct page_ftl *f)
{
	uint64_t valid = 0;

	for (uint64_t b = 0; b < geo_blocks(f->g); b++) {
		uint32_t in_block = bits_set(f->map.valid, b * f->bt.units_per_block,
					     (b + 1) * f->bt.units_per_block);

		SSD_ASSERT(in_block == f->bt.blk[b].valid);			/* CHK2 */
		valid += in_block;
	}
	SSD_ASSERT(valid == f->map.mapped);					/* CHK1 */
}

/*
 * CHK4 with the whole map in memory: each valid unit of a readable page names an LPN that is mapped to it. As there are
 * as many of these units as LPNs whose pages are readable, no LPN is left. In the order of pages, in which packed spare
 * areas are read fastest.
 */
static void check_spares(const struct page_ftl *f, uint64_t readable)
{
	for (uint32_t ppn = 0; ppn < geo_pages(f->g); ppn++) {
		uint32_t first = ppn * f->shape.upp;
		uint32_t valid = bits_set(f->map.valid, first, (uint64_t)first + f->shape.upp);
		const void *oob;

		if (!valid || f->host.n->ops->peek(f->host.n, (ppn_t){ ppn }, NULL, &oob) != NAND_OK)
			continue;
		readable -= valid;
		for (uint32_t i = 0; i < f->shape.upp; i++) {
			uint32_t lpn = oob_get_lpn(oob, i) & ~OOB_LOST;

			SSD_ASSERT(!bit_get(f->map.valid, first + i) ||
				   (lpn < f->shape.all_lpns && (f->map.l2p[lpn] & ~OOB_LOST) == first + i));
		}
	}
	SSD_ASSERT(!readable);
}

static bool in_hand(const struct gc *g, uint32_t upn)
{
	for (uint32_t i = 0; i < g->units; i++)
		if (g->unit[i].upn == upn)
			return true;
	return false;
}

/* Check that pages [0, end) of a victim have been copied. */
static void check_pages_copied(const struct page_ftl *f, const struct gc *g, uint32_t b, uint32_t end)
{
	uint32_t first = b * f->bt.units_per_block;

	for (uint32_t i = 0; i < end * f->shape.upp; i++)
		SSD_ASSERT(!bit_get(f->map.valid, first + i) || in_hand(g, first + i));	/* CHK10 */
}

static void check_copied(const struct page_ftl *f, const struct gc *g)
{
	if (g->victim != BLK_NONE)
		check_pages_copied(f, g, g->victim, g->page);
	if (g->second != BLK_NONE && !g->second_waits)
		check_pages_copied(f, g, g->second, f->g->pages_per_block);
	for (uint32_t b = g->drained; b != BLK_NONE; b = f->bt.blk[b].next) {
		SSD_ASSERT(f->bt.blk[b].state == BLK_VICTIM && gc_is_awake(g) && g->second == BLK_NONE); /* CHK3 */
		check_pages_copied(f, g, b, f->g->pages_per_block);
	}
}

static void check_relocations(const struct page_ftl *f)
{
	for (uint32_t p = 0; p < f->shape.planes; p++) {
		uint32_t flagged = 0;

		for (uint32_t i = 0; i < f->g->blocks_per_plane; i++) {
			const struct blk *k = &f->bt.blk[p * f->g->blocks_per_plane + i];

			flagged += k->relocate;
			SSD_ASSERT(!k->relocate || k->state == BLK_OPEN || k->state == BLK_FULL ||
				   k->state == BLK_RETIRE);			/* CHK12 */
		}
		SSD_ASSERT(flagged == f->plane[p].relocate);			/* CHK12 */
	}
}

static void check_frontiers(const struct page_ftl *f)
{
	uint32_t active = 0;

	blk_check(&f->bt);							/* CHK3 */
	front_check(&f->fr);							/* CHK3 */
	for (uint32_t p = 0; p < f->shape.planes; p++) {
		const struct plane *pl = &f->plane[p];

		SSD_ASSERT(pl->gc.victim == BLK_NONE ||
			   f->bt.blk[pl->gc.victim].state == BLK_VICTIM);	/* CHK3 */
		SSD_ASSERT(pl->gc.second == BLK_NONE ||
			   f->bt.blk[pl->gc.second].state == BLK_VICTIM);	/* CHK3 */
		SSD_ASSERT(pl->gc.second == BLK_NONE || pl->gc.victim != BLK_NONE);	/* CHK3 */
		check_copied(f, &pl->gc);
		active += gc_is_awake(&pl->gc);
	}
	SSD_ASSERT(active == f->gc.awake);
}

static void check_buffer(const struct page_ftl *f)
{
	uint32_t free = 0;
	uint64_t last = 0, trims = 0;

	for (uint32_t s = 0; s < f->buf.pages * f->shape.upp; s++)
		if (f->buf.slot[s].hashed)
			SSD_ASSERT(wbuf_find(f, f->buf.slot[s].lpn) == s);		/* CHK5 */
	for (uint32_t w = 0; w < f->buf.pages; w++)
		free += f->buf.page[w].state == W_FREE;
	SSD_ASSERT(free == f->buf.free_count);					/* CHK5 */
	for (uint32_t w = f->buf.first; w != NONE; w = f->buf.page[w].next) {
		SSD_ASSERT(f->buf.page[w].seq > last);				/* CHK5 */
		SSD_ASSERT(f->buf.page[w].state == W_QUEUED ||
			   (f->buf.page[w].state == W_OPEN && w == f->buf.open));
		last = f->buf.page[w].seq;
	}
	for (uint32_t i = 0; i < (f->shape.lpns + 7) / 8; i++)
		for (uint32_t bits = f->map.trimmed[i]; bits; bits &= bits - 1, trims++)
			SSD_ASSERT(free != f->buf.pages || map_trims_later(f) ||
				   map_get(f, 8 * i + (uint32_t)__builtin_ctz(bits)) == NONE);	/* CHK7 */
	SSD_ASSERT(trims == f->map.trims);						/* CHK7 */
}

static void check_dies(const struct page_ftl *f)
{
	uint32_t busy = 0;

	for (uint32_t d = 0; d < f->shape.dies; d++) {
		bool idle = f->die[d].op == DIE_IDLE;

		busy += !idle;
		SSD_ASSERT((word_next(f->turn.idle, f->shape.dies, d) == d) == idle);	/* CHK8 */
		SSD_ASSERT((word_next(f->turn.idle_stripe, f->shape.dies, f->die[d].stripe_at) ==
			    f->die[d].stripe_at) == idle);			/* CHK8 */
	}
	SSD_ASSERT(busy == f->turn.ends.busy);					/* CHK8 */
	SSD_ASSERT(busy || !f->host.ios || f->full);					/* CHK9 */
}

/* Check that each page issued after `stable` is under way, waits to be issued again, or is marked as ended. */
static void check_ended(const struct page_ftl *f)
{
	uint64_t ended = 0, open = 0;

	for (uint32_t i = 0; i < word_count(f->log.ring_mask + 1); i++)
		ended += (uint32_t)__builtin_popcountll(f->log.ended[i]);
	for (uint32_t w = 0; w < f->buf.pages; w++)
		open += f->buf.page[w].state != W_FREE && f->buf.page[w].seq <= f->bt.issued;
	SSD_ASSERT(ended + open == f->bt.issued - f->bt.stable);		/* CHK6 */
}

static void check_modes(const struct page_ftl *f)
{
	for (uint32_t b = 0; b < geo_blocks(f->g); b++)
		if ((f->bt.blk[b].state == BLK_OPEN || f->bt.blk[b].state == BLK_FULL) && f->bt.blk[b].next_page)
			/* CHK14 */
			SSD_ASSERT(f->bt.blk[b].slc == f->host.n->ops->is_slc(f->host.n, (pbn_t){ b }));
}

static void check_heat(const struct page_ftl *f)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; f->heat.byte && i < f->heat.regions; i++) {
		sum += f->heat.recency ? 0 : f->heat.byte[i];
		SSD_ASSERT(!f->heat.recency || heat_age(&f->heat, i) <= HEAT_AGE_MAX);	/* CHK13 */
	}
	SSD_ASSERT(sum == f->heat.sum);						/* CHK13 */
}

static void check_lines(const struct page_ftl *f)
{
	for (uint32_t b = 0; b < geo_blocks(f->g); b++)
		if (f->bt.blk[b].state == BLK_OPEN)
			SSD_ASSERT(f->bt.blk[b].next_page % f->line.pages == 0);	/* CHK16 */
	SSD_ASSERT(f->line.flushed <= f->line.due && f->line.due < f->log.next_seq);	/* CHK16 */
	SSD_ASSERT(f->turn.ends.busy || f->full || f->turn.changed || !head_waits(f));	/* CHK16 */
}

void page_ftl_check(const struct ftl *base)
{
	const struct page_ftl *f = page_ftl_of((struct ftl *)(uintptr_t)base);
	uint64_t readable = check_entries(f);

	check_valid(f);
	if (map_holds_all(f))
		check_spares(f, readable);
	check_frontiers(f);
	check_relocations(f);
	check_buffer(f);
	check_dies(f);
	check_heat(f);
	check_modes(f);
	check_lines(f);
	map_check(f);
	check_ended(f);
	handles_check(f);							/* CHK5 */
	SSD_ASSERT(!f->buf.held || (f->buf.line.first && f->read.spans));	/* AT3 */
	SSD_ASSERT(f->bt.stable <= f->bt.issued && f->bt.issued < f->log.next_seq);	/* CHK6 */
	SSD_ASSERT(f->bt.issued - f->bt.stable <= f->log.ring_mask);		/* CHK6 */
}
