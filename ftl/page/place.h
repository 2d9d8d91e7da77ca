/* SPDX-License-Identifier: GPL-2.0-or-later */
/* place.h - issues host pages from the head of the buffer's queue to idle dies (place.c) */
#ifndef SLATE_PAGE_PLACE_H
#define SLATE_PAGE_PLACE_H

#include "map.h"
#include "page_state.h"
#include "wordline.h"

/* Can the page be issued? It takes no more units, has its base data, and its map entries are in memory. */
static inline bool page_ready(const struct page_ftl *f, uint32_t wpage)
{
	const struct wpage *p = &f->buf.page[wpage];

	return !p->bases && (p->state == W_QUEUED || p->used == f->shape.upp) &&
	       map_ready(f, wpage);
}

/* P1: see place.c. */
static inline bool page_is_near(const struct page_ftl *f, uint32_t wpage)
{
	return f->buf.page[wpage].seq - f->bt.stable <= f->log.ahead_max;
}

/* Can the head of the queue be issued, behind others of its word line or, if there is none, alone? */
static inline bool head_goes(const struct page_ftl *f)
{
	uint32_t w = f->buf.first;

	return w != NONE && page_ready(f, w) && page_is_near(f, w);
}

/* Can the head of the queue be issued, if a die takes it? */
static inline bool next_ready(const struct page_ftl *f)
{
	return head_goes(f) && wordline_ready(f);
}

/* Does the head of the queue wait for a die, or for P1? */
static inline bool head_waits(const struct page_ftl *f)
{
	return f->buf.first != NONE && page_ready(f, f->buf.first) && wordline_ready(f);
}

/* The loop of place_pages(). */
void place_pages_now(struct page_ftl *f, uint64_t now_ns);

/* Issue pages while a die takes them. If all dies are as busy as when the head was found to wait, none does. */
static inline void place_pages(struct page_ftl *f, uint64_t now_ns)
{
	if ((!f->stall.noted || f->turn.ends.busy < f->shape.dies) && (f->stall.by_gc || next_ready(f)))
		place_pages_now(f, now_ns);
}

/* The die's programs of host pages have ended: free the pages, or queue failed ones again, and advance `stable`. */
void place_complete(struct page_ftl *f, struct die *d);

#endif
