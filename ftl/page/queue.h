/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * queue.h - the queue of buffer pages that are to be issued, in log order. wbuf.c fills it, place.c empties it.
 *
 * Invariant:
 *   W2  the queue holds the W_OPEN and W_QUEUED pages in ascending sequence,
 *       and only its last may be W_OPEN. (With handles it has no W_OPEN page.)
 */
#ifndef SLATE_PAGE_QUEUE_H
#define SLATE_PAGE_QUEUE_H

#include "page_state.h"

/* Append page w. The caller sets its `next` to NONE. */
static inline void queue_join(struct page_ftl *f, uint32_t w)
{
	f->buf.page[ssd_pick(f->buf.first == NONE, w, f->buf.last)].next = w;
	f->buf.first = (uint32_t)ssd_pick(f->buf.first == NONE, w, f->buf.first);
	f->buf.last = w;
}

/* Remove the first page. */
static inline void queue_take(struct page_ftl *f)
{
	uint32_t w = f->buf.first;

	f->buf.first = f->buf.page[w].next;
	if (f->buf.first == NONE)
		f->buf.last = NONE;
	if (f->buf.open == w)
		f->buf.open = NONE;
}

void queue_append(struct page_ftl *f, uint32_t w);	/* with handles: give page w the next sequence, append it */
/* The program of page w failed: put the page back by its sequence, so before all pages that were never issued. */
void queue_again(struct page_ftl *f, uint32_t w);

#endif
