/* SPDX-License-Identifier: GPL-2.0-or-later */
/* durable.h - ends flushes, and writes that end only when their data have been programmed (durable.c) */
#ifndef SLATE_PAGE_DURABLE_H
#define SLATE_PAGE_DURABLE_H

#include "page_state.h"

/* The I/O has been accepted: end it when all pages that have a sequence now are programmed, perhaps at once. */
void durable_wait(struct page_ftl *f, uint64_t now_ns, struct ftl_io *io);
/* The loop of durable_process(). */
void durable_end(struct page_ftl *f, uint64_t now_ns, const struct die *last);

/*
 * End the waiting I/Os whose sequence `stable` has reached. last: the die whose program moved `stable`, and whose times
 * become parts of their latencies; NULL: no program has ended.
 */
static inline void durable_process(struct page_ftl *f, uint64_t now_ns, const struct die *last)
{
	if (f->log.durable.first && f->log.durable.first->seq <= f->bt.stable)
		durable_end(f, now_ns, last);
	f->turn.kick |= last && f->gc.awake;	/* GC may have waited for `stable` (gc.c, 4a) */
}

#endif
