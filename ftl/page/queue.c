// SPDX-License-Identifier: GPL-2.0-or-later
/* queue.c - appends buffer pages to the queue, and puts pages back whose program failed (queue.h) */
#include "map.h"
#include "page_owners.h"
#include "page_state.h"
#include "queue.h"

SSD_APART void queue_append(struct page_ftl *f, uint32_t w)
{
	struct wpage *p = &f->buf.page[w];

	queue_join(f, w);
	p->next = NONE;
	p->seq = f->log.next_seq++;
	f->handles.written[w] = f->handles.handle[p->handle].written;
	f->buf.by_seq[p->seq & f->buf.by_seq_mask] = w;
	if (!p->handle)		/* trims are in pages of handle 0 */
		map_trim_closed(f, p->seq);
	if (owners_told(f) && p->seq == f->bt.stable + 1)
		owners_oldest(f);
}

void queue_again(struct page_ftl *f, uint32_t w)
{
	uint32_t *link = &f->buf.first;

	while (*link != NONE && f->buf.page[*link].seq < f->buf.page[w].seq)
		link = &f->buf.page[*link].next;
	f->buf.page[w].state = W_QUEUED;
	f->buf.page[w].next = *link;
	*link = w;
	if (f->buf.page[w].next == NONE)
		f->buf.last = w;
}
