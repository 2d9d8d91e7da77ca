// SPDX-License-Identifier: GPL-2.0-or-later
/* host.c - see host.h */
#include "host.h"

void host_reset_stats(struct ftl *f)
{
	struct host *h = host_of(f);

	memset(&h->stats, 0, sizeof(h->stats));
	host_no_ops(h->stats.op);
}

void host_init(struct host *h, const struct ftl_ops *ops, const struct ftl_config *c,
	       const struct ftl_host *shell)
{
	h->base.ops = ops;
	h->c = *c;
	h->shell = *shell;
	host_reset_stats(&h->base);
}

void host_part_now(struct host *h, struct ftl_io *io)
{
	const struct ftl_breakdown w = { .host_queue_ns = h->now_ns - io->submit_ns,
					 .map_ns = h->c.map_ns, .other_ns = h->c.overhead_ns };

	host_part(h, io, h->now_ns + host_front_ns(h), &w, SSD_OK);
}

void host_refuse(struct host *h, struct ftl_io *io, enum ssd_err why)
{
	io->where = (struct ftl_breakdown){ .buffer_ns = h->now_ns - io->submit_ns };
	host_finish(h, io, h->now_ns, why);
}

const struct ftl_stats *host_stats(const struct ftl *f)
{
	return &((const struct host *)f)->stats;
}

uint32_t host_inflight(const struct ftl *f)
{
	return ((const struct host *)f)->ios;
}
