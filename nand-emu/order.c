// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * order.c - R2 by word lines: which page of a block may be programmed next. R1 and
 * the plain orders are in rules.c.
 *
 * C1 and C2 make the programmed pages of one type a prefix of the word lines,
 * so FPS and RPS need one counter for each type: wl[t] pages of type t are
 * programmed, those of the word lines 0 .. wl[t] - 1.
 */
#include "array_impl.h"

/* Returns how many pages of the type below C3 requires before word line k of this type. */
static uint32_t wanted_below(uint32_t k, uint32_t word_lines)
{
	return k + 2 < word_lines ? k + 2 : word_lines;
}

bool order_allows_word_line(const struct nand_array *a, const struct place *p)
{
	const struct nand_geometry *g = &a->base.geo;
	const struct img_pb *b = &a->pb[p->pb];
	uint32_t t = place_type(a, p), k = word_line(a, p);
	uint32_t word_lines = a->pb_pages / g->bits_per_cell;

	if (k != b->wl[t])					/* C1, C2 */
		return false;
	if (t && b->wl[t - 1] < wanted_below(k, word_lines))	/* C3 */
		return false;
	if (g->order == NAND_ORDER_FPS && !p->slc && t + 1 < g->bits_per_cell && k >= 2 &&
	    b->wl[t + 1] < k - 1)				/* C4 */
		return false;
	return true;
}
