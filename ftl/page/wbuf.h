/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wbuf.h - the write buffer: accepts writes, trims and flushes in order, and collects units to pages (wbuf.c) */
#ifndef SLATE_PAGE_WBUF_H
#define SLATE_PAGE_WBUF_H

#include "page_state.h"
#include "queue.h"

/* Returns the head of the LPN's hash list. Consecutive LPNs, as in a request, share a cache line. */
static inline uint32_t *wbuf_hash_head(const struct page_ftl *f, uint32_t lpn)
{
	return &f->buf.hash[(lpn ^ (lpn >> 10) * 0x9e3779b1u) & f->buf.hash_mask];
}

/* Returns the slot with the newest version of the LPN, or NONE. s: first slot of its hash list. */
static inline uint32_t wbuf_find_from(const struct page_ftl *f, uint32_t s, uint32_t lpn)
{
	while (s != NONE && f->buf.slot[s].lpn != lpn)
		s = f->buf.slot[s].hash_next;
	return s;
}

/* Returns the slot with the newest version of the LPN, or NONE. */
static inline uint32_t wbuf_find(const struct page_ftl *f, uint32_t lpn)
{
	return wbuf_find_from(f, *wbuf_hash_head(f, lpn), lpn);
}

void wbuf_init(struct page_ftl *f);
uint32_t wbuf_hidden_slot(struct page_ftl *f, uint32_t lpn);	/* returns its slot, to be filled; NONE: no room */
/* Write the trim bits of region `map`, as they are at this moment, to the unit at `to`. */
void wbuf_trim_bits(const struct page_ftl *f, uint32_t map, uint8_t *to);
/* Close the open page, so that it takes no more units. */
static inline void wbuf_seal(struct page_ftl *f)
{
	if (f->buf.open == NONE)
		return;
	f->buf.page[f->buf.open].state = W_QUEUED;
	if (SSD_UNLIKELY(f->extras) && f->handles.count)
		queue_append(f, f->buf.open);
	f->buf.open = NONE;
}

/* Close the open page, or an empty one if none is open. Returns false if no page of the buffer is free for that. */
bool wbuf_next_page(struct page_ftl *f);
void wbuf_release(struct page_ftl *f, uint32_t wpage);	/* the page has been programmed: free it */
/* Put a write, trim or flush at the end of the line, and accept it if it is the first and there is room. */
void line_join(struct page_ftl *f, uint64_t now_ns, struct ftl_io *io);
/* Accept I/Os from the head of the line while there is room. */
void line_process(struct page_ftl *f, uint64_t now_ns);

#endif
