// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * order.c - R1 and R2: which page of a block may be programmed next.
 *
 * C1 and C2 make the programmed pages of one type a prefix of the word lines,
 * so FPS and RPS need one counter for each type: wl[t] pages of type t are
 * programmed, those of the word lines 0 .. wl[t] - 1.
 */
#include "array_impl.h"

/* Of the type below, what C3 wants before word line k of this one. */
static uint32_t wanted_below(uint32_t k, uint32_t word_lines)
{
	return k + 2 < word_lines ? k + 2 : word_lines;
}

static bool word_line_ok(const struct nand_array *a, const struct img_pb *b, uint32_t page)
{
	const struct nand_geometry *g = &a->base.geo;
	uint32_t t = page_type(a, page), k = fxp_quotient(a->by_types, page);
	uint32_t word_lines = a->pb_pages / g->bits_per_cell;

	if (k != b->wl[t])					/* C1, C2 */
		return false;
	if (t && b->wl[t - 1] < wanted_below(k, word_lines))	/* C3 */
		return false;
	if (g->order == NAND_ORDER_FPS && t + 1 < g->bits_per_cell && k >= 2 &&
	    b->wl[t + 1] < k - 1)				/* C4 */
		return false;
	return true;
}

enum nand_rule order_check(const struct nand_array *a, const struct place *p)
{
	const struct img_pb *b = &a->pb[p->pb];

	if (cell_get(a, p->ppn) != CELL_ERASED)
		return NAND_R1;
	switch (a->base.geo.order) {
	case NAND_ORDER_NONE:
		return NAND_NRULES;
	case NAND_ORDER_ASCENDING:
		return p->pb_page < b->next ? NAND_R2 : NAND_NRULES;
	case NAND_ORDER_FPS:
	case NAND_ORDER_RPS:
		return word_line_ok(a, b, p->page) ? NAND_NRULES : NAND_R2;
	case NAND_NORDERS:
		break;
	}
	return NAND_R2;
}
