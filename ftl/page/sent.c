// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sent.c - SSDSim's accounting (ftl_knobs.h): an unbuffered write ends with its last data transfer, before its pages
 * are programmed.
 *
 * The I/Os wait in log.sent, in the order of their pages. Their times come from the commands that place.c issues.
 */
#include "page_state.h"
#include "sent.h"

bool ends_when_sent(const struct page_ftl *f, const struct ftl_io *io)
{
	return f->host.c.accounting == FTL_ACCOUNT_SSDSIM && !f->host.c.buffer_units &&
	       io->op == FTL_WRITE && !io->fua && io->bytes;
}

void sent_wait(struct page_ftl *f, struct ftl_io *io)
{
	io->seq = f->log.next_seq - 1;
	io_list_add(&f->log.sent, io);
}

/* Note the transfer of a page with data of the I/O. The I/O uses the times of the transfer that ends last. */
static void note_sent(struct ftl_io *io, const struct nand_cmd *c)
{
	uint64_t sent_ns = c->done_ns - c->cell_ns;

	if (sent_ns < io->done_ns)
		return;
	io->done_ns = sent_ns;
	io->where.bus_ns = c->bus_ns;
	io->where.gc_queue_ns = c->wait_gc_ns;
}

static void finish_sent(struct page_ftl *f, uint64_t now_ns, struct ftl_io *io)
{
	struct ftl_breakdown *w = &io->where;
	uint64_t rest = io->done_ns - io->submit_ns;
	uint64_t gc_ns = w->gc_queue_ns + stall_clock(f, now_ns) - io->gc_mark;

	ftl_breakdown_take(&rest, w->bus_ns, &w->bus_ns);
	ftl_breakdown_take(&rest, gc_ns, &w->gc_queue_ns);
	w->host_queue_ns = rest;
	w->buffer_ns = f->host.c.buffer_ns;
	host_end_at(&f->host, io, io->done_ns + w->buffer_ns, SSD_OK);
}

/*
 * Log page seq is issued for the first time. Pages are issued in log order, and therefore in the
 * order of the I/Os.
 */
void sent_page(struct page_ftl *f, uint64_t now_ns, uint64_t seq, const struct nand_cmd *c)
{
	struct ftl_io *half = f->buf.line.first;

	for (struct ftl_io *io = f->log.sent.first; io && io->first_seq <= seq; io = io->next)
		note_sent(io, c);
	if (half && ends_when_sent(f, half) && half->at && half->first_seq <= seq)
		note_sent(half, c);
	while (f->log.sent.first && f->log.sent.first->seq <= seq)
		finish_sent(f, now_ns, io_list_take(&f->log.sent));
}
