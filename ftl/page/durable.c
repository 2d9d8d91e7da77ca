// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * durable.c - ends flushes, and writes that end only when their data have been programmed.
 *
 * Such an I/O waits in log.durable, in log order, until `stable` reaches the highest sequence that a page had when the
 * I/O was accepted. place.c advances `stable`; then the pump ends the I/Os that waited for it.
 */
#include "durable.h"
#include "map.h"
#include "page_owners.h"
#include "page_state.h"

void durable_wait(struct page_ftl *f, uint64_t now_ns, struct ftl_io *io)
{
	io->seq = f->log.next_seq - 1;
	io_list_add(&f->log.durable, io);
	durable_process(f, now_ns, NULL);
}

/*
 * Complete a flush, or a write with FUA, whose data are on flash now, and say what it waited for. last: the die whose
 * program ended the wait; NULL: it did not wait for one.
 */
static void finish_durable(struct page_ftl *f, uint64_t now_ns, struct ftl_io *io,
			   const struct die *last)
{
	struct ftl_breakdown *w = &io->where;
	uint64_t rest = now_ns - io->submit_ns;

	if (last) {
		ftl_breakdown_take(&rest, last->cell_ns, &w->cell_ns);
		ftl_breakdown_take(&rest, last->bus_ns, &w->bus_ns);
	}
	ftl_breakdown_take(&rest, stall_clock(f, now_ns) - io->gc_mark, &w->gc_queue_ns);
	map_wait_over(f, now_ns, io, &rest, &w->map_ns);
	if (owners_told(f))
		owners_wait_over(f, io, &rest);
	w->host_queue_ns = rest;
	w->buffer_ns = io->op == FTL_FLUSH ? 0 : f->host.c.buffer_ns;
	w->map_ns += f->host.c.map_ns;
	w->other_ns = f->host.c.overhead_ns;
	host_finish(&f->host, io, now_ns + w->buffer_ns + host_front_ns(&f->host), SSD_OK);
}

void durable_end(struct page_ftl *f, uint64_t now_ns, const struct die *last)
{
	while (f->log.durable.first && f->log.durable.first->seq <= f->bt.stable)
		finish_durable(f, now_ns, io_list_take(&f->log.durable), last);
}
