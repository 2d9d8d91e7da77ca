// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cells.c - the state of pages, and its changes by erases and disturbance. It uses neither time nor dies
 * nor rules.
 */
#include "array_impl.h"

/* Empty cells [from, to) of one byte; returns how many were programmed. */
static uint32_t wipe_in_byte(uint8_t *cells, uint32_t from, uint32_t to)
{
	uint32_t mask = ((1u << 2 * (to - from)) - 1) << 2 * from;
	uint32_t held = *cells & mask;

	*cells = (uint8_t)(*cells & ~mask);
	return bits_set((held | held >> 1) & 0x55u);
}

static uint32_t wipe_cells(struct nand_array *a, uint32_t ppn, uint32_t n)
{
	uint32_t held = 0, at = ppn, end = ppn + n;

	while (at < end) {
		uint8_t *byte = a->cells + (at >> 2);
		uint64_t word;

		if (!(at & 3u) && end - at >= 32) {
			memcpy(&word, byte, 8);
			word = (word | word >> 1) & 0x5555555555555555u;
			held += bits_set((uint32_t)word) + bits_set((uint32_t)(word >> 32));
			memset(byte, 0, 8);
			at += 32;
		} else {
			uint32_t from = at & 3u, to = end - at + from < 4 ? end - at + from : 4;

			held += wipe_in_byte(byte, from, to);
			at += to - from;
		}
	}
	return held;
}

static bool any_stored(const struct nand_array *a, uint32_t ppn, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		enum cell k = cell_get(a, ppn + i);

		if (k == CELL_GOOD || k == CELL_LOST)
			return true;
	}
	return false;
}

void pages_wipe(struct nand_array *a, uint32_t ppn, uint32_t n)
{
	bool give_back = a->payload && a->hooks.discard && any_stored(a, ppn, n);

	a->stats.programmed_pages -= wipe_cells(a, ppn, n);
	if (a->carried)
		memset(a->carried + ppn, 0, n);
	if (SSD_UNLIKELY(!a->oob) && n == a->by_block_pages.d)
		spares_drop(&a->spares, fxp_quotient(a->by_block_pages, ppn), 0);
	if (give_back)
		a->hooks.discard(a->hooks.opaque,
				 (uint64_t)(page_payload(a, ppn) - (uint8_t *)a->head),
				 (uint64_t)n * a->base.geo.page_bytes);
}

void nand_array_discard_blank(struct nand_array *a)
{
	uint64_t bytes = (uint64_t)a->pb_pages * a->base.geo.page_bytes;

	if (!a->payload || !a->hooks.discard)
		return;
	for (uint32_t ppn = 0; ppn < a->pages; ppn += a->pb_pages)
		if (!any_stored(a, ppn, a->pb_pages))
			a->hooks.discard(a->hooks.opaque,
					 (uint64_t)(page_payload(a, ppn) - (uint8_t *)a->head), bytes);
}

static void count_erase(struct nand_array *a, struct img_pb *b)
{
	a->stats.page_erases += a->pb_pages;
	a->stats.page_erases_sq += (2ull * b->erases + 1) * a->pb_pages;
	b->erases++;
	if (b->erases > a->stats.erase_count_max)
		a->stats.erase_count_max = b->erases;
}

/* End an erase: cells are empty, counters restart, and a partial erase leaves edges. */
void pb_erase(struct nand_array *a, uint32_t block, uint32_t pb)
{
	uint32_t first = pb_first(a, pb), span = pb_span(a, pb);
	uint32_t low = block * a->pbs + first / a->pb_pages, high = low + span / a->pb_pages - 1;
	uint32_t ppn = block * a->by_block_pages.d + first;

	for (uint32_t s = low; s <= high; s++) {
		struct img_pb *b = &a->pb[s];

		count_erase(a, b);
		memset(b->wl, 0, sizeof(b->wl));
		b->disturbs = 0;
		b->flags = 0;
		if (a->age)
			a->age[s] = (struct img_age){ 0, 0 };
	}
	if (low > block * a->pbs)
		a->pb[low].flags |= PB_EDGE_BELOW;
	if (high < (block + 1) * a->pbs - 1)
		a->pb[high].flags |= PB_EDGE_ABOVE;
	a->block[block] &= ~BLOCK_SLC;
	pages_wipe(a, ppn, span);
}

/* Set the number of disturbances since the last erase to `times`; a repetition changes nothing. */
static void disturb(struct nand_array *a, uint32_t s, uint32_t times)
{
	struct img_pb *b = &a->pb[s];
	uint32_t first = s * a->pb_pages;	/* PBs tile the array */

	a->stats.disturbs++;
	b->disturbs = (uint8_t)times;
	if (times <= a->c.physics.disturb_tolerance)
		return;
	for (uint32_t i = 0; i < a->pb_pages; i++) {
		enum cell k = cell_get(a, first + i);

		if (!cell_readable(k))
			continue;
		page_lose(a, first + i);
		a->stats.disturb_lost++;
	}
}

static uint32_t one_more(const struct nand_array *a, uint32_t s)
{
	uint32_t times = a->pb[s].disturbs;

	return times < 255 ? times + 1 : times;
}

uint32_t disturbance_plan(const struct nand_array *a, const struct place *p)
{
	uint8_t flags = a->pb[p->pb].flags;
	uint32_t plan = 0;

	if (a->c.physics.disturb_tolerance == 255)
		return 0;
	if (flags & PB_EDGE_BELOW)
		plan |= one_more(a, p->pb - 1);
	if (flags & PB_EDGE_ABOVE)
		plan |= one_more(a, p->pb + 1) << 8;
	return plan;
}

void disturb_neighbours(struct nand_array *a, const struct place *p, uint32_t plan)
{
	struct img_pb *b = &a->pb[p->pb];

	if (!(b->flags & (PB_EDGE_BELOW | PB_EDGE_ABOVE)))
		return;
	if (b->flags & PB_EDGE_BELOW && plan & 255)
		disturb(a, p->pb - 1, plan & 255);
	if (b->flags & PB_EDGE_ABOVE && plan >> 8)
		disturb(a, p->pb + 1, plan >> 8);
	image_order();
	b->flags &= (uint8_t)~(PB_EDGE_BELOW | PB_EDGE_ABOVE);
}
