// SPDX-License-Identifier: GPL-2.0-or-later
/* wordline.c - one-shot flash: which pages of the host fill a word line together, and when pads do (wordline.h) */
#include "place.h"
#include "wordline.h"

/* Pages up to this sequence do not wait for others: they are due, or were issued before and their programs failed. */
static uint64_t due_seq(const struct page_ftl *f)
{
	return f->line.due > f->bt.issued ? f->line.due : f->bt.issued;
}

/*
 * A due page that waits for its base data is waited for, since the read ends without the pages before it. Any other
 * page that cannot go is not: it may wait for these.
 */
bool wordline_is_complete(const struct page_ftl *f)
{
	uint32_t w = f->buf.first, count = 0;
	uint64_t due = due_seq(f);

	while (w != NONE && count < f->line.pages && page_ready(f, w) && (!count || page_is_near(f, w))) {
		w = f->buf.page[w].next;
		count++;
	}
	if (count == f->line.pages)
		return true;
	if (w != NONE && f->buf.page[w].seq <= due && f->buf.page[w].bases)
		return false;
	return count && f->buf.page[f->buf.first].seq <= due;
}

/*
 * A pad has no units, and order and mark 0: it is no page of the log, settles nothing, and does not make its block one
 * of GC's.
 */
void wordline_pad(struct page_ftl *f, struct nand_cmd *c, uint32_t ppn, uint8_t *oob)
{
	const struct oob_head h = { .kind = OOB_HOST };

	nand_fill_program(c, NAND_SRC_HOST, ppn, oob);
	oob_put_head(oob, &h);
	for (uint32_t i = 0; i < f->shape.upp; i++)
		oob_put_unit(oob, i, OOB_NO_LPN, 0);
	metadata_blank(f, oob);
	f->host.stats.pad_units += f->shape.upp;
}

const char *wordline_fault(const struct ftl_config *c, const struct nand_geometry *g)
{
	uint32_t upp = g->page_bytes / c->unit_bytes;

	if (!g->one_shot)
		return NULL;
	if (c->buffer_units && c->buffer_units < 2 * upp * g->bits_per_cell)
		return "buffer_units must be 0 or hold at least two word lines with one_shot: a program takes all "
		       "pages of one";
	if (c->placement_handles)
		return "placement_handles must be 0 with one_shot: the pages of a handle do not wait for a full word "
		       "line yet; or set one_shot = no";
	if (c->hot_cold)
		return "hot_cold must be off with one_shot: pages of a word line are not chosen by their heat yet; or "
		       "set one_shot = no";
	if (c->map_cache_pages)
		return "map_cache_pages must be 0 with one_shot: map pages are programmed one at a time; or set "
		       "one_shot = no";
	return NULL;
}
