/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wordline.h - flash that programs whole word lines (geometry.one_shot): which pages go together, and when.
 *
 * A program names line.pages pages of each plane: all pages of a word line, or one page on other flash, for which all
 * questions below are answered by a comparison. A group of programs thus has up to planes * line.pages commands. Pages
 * keep their own log sequences and spare areas, so recovery sees pages, and no word lines (DESIGN.md, Whole word
 * lines).
 *
 * The host's pages wait in the buffer's queue until the first line.pages of them can go, or until the first is due: a
 * flush or another caller of wordline_push() does not wait for more, or its program failed before. Then pads take the
 * rest of the word line. GC has units for a word line in hand before it programs them, or no more units come; its pads
 * are pages without units, like carriers.
 *
 * Invariants:
 *   O1  the next page of an open block is the first of a word line;
 *   O2  line.flushed <= line.due < next_seq;
 *   O3  if nothing is under way, the queue's first page is neither due nor one of line.pages pages that can go.
 */
#ifndef SLATE_PAGE_WORDLINE_H
#define SLATE_PAGE_WORDLINE_H

#include "page_state.h"

/* The part of wordline_ready() for flash that programs whole word lines. */
bool wordline_is_complete(const struct page_ftl *f);

/* The queue's first page can be issued: does it need no more pages for its word line? */
static inline bool wordline_ready(const struct page_ftl *f)
{
	return SSD_LIKELY(f->line.pages == 1) || wordline_is_complete(f);
}

/* All pages of the buffer that are closed are due. */
static inline void wordline_push(struct page_ftl *f)
{
	f->line.due = f->log.next_seq - 1;
}

/* Make c the program of a pad at ppn, in the word line of pages of the host. oob: room for its spare area. */
void wordline_pad(struct page_ftl *f, struct nand_cmd *c, uint32_t ppn, uint8_t *oob);
/* Returns why the configuration does not suit flash that programs whole word lines, or NULL. */
const char *wordline_fault(const struct ftl_config *c, const struct nand_geometry *g);

#endif
