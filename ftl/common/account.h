/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * account.h - an I/O has ended: when, over the host link, and into which counters.
 */
#ifndef SLATE_ACCOUNT_H
#define SLATE_ACCOUNT_H

#include "ftl.h"
#include "link.h"

/*
 * The drive's own part ended at done_ns >= now_ns, and io->where says where that time
 * went. Sets done_ns, status and the link's part of the I/O: a write's data crossed it
 * first, a read's do last. link[0]: towards the host.
 */
static inline void ftl_account(struct ftl_stats *all, struct link_way link[2],
			       const struct ftl_config *c, uint64_t now_ns, struct ftl_io *io,
			       uint64_t done_ns, enum ssd_err status)
{
	struct ftl_op_stats *s = &all->op[io->op];
	uint64_t at = done_ns + io->link_ns, ns;

	SSD_ASSERT(done_ns >= now_ns);
	if (c->link_ps_per_byte && io->op == FTL_READ && status == SSD_OK) {
		at = link_move(&link[0], now_ns, at, io->bytes, c->link_ps_per_byte);
		all->link_busy_ns[0] += link_transfer_ns(io->bytes, c->link_ps_per_byte);
	}
	at += c->link_latency_ns;
	io->where.link_ns = at - done_ns;
	ns = at - io->submit_ns;
	SSD_ASSERT(ftl_breakdown_sum(&io->where) == ns);
	io->done_ns = at;
	io->status = status;
	s->ios++;
	s->bytes += io->op == FTL_FLUSH ? 0 : io->bytes;
	s->errors += status != SSD_OK;
	s->lat_sum_ns += ns;
	if (ns < s->lat_min_ns)
		s->lat_min_ns = ns;
	if (ns > s->lat_max_ns)
		s->lat_max_ns = ns;
	ftl_breakdown_add(&s->where, &io->where);
}

/*
 * A part of an I/O of several has ended. The latest decides when it is done and where
 * the time went, the first error what it says. ftl_part_decides(): io->where is the caller's to
 * set; ftl_part_over(): it was the last part.
 */
static inline bool ftl_part_decides(struct ftl_io *io, uint64_t done_ns)
{
	if (done_ns < io->done_ns)
		return false;
	io->done_ns = done_ns;
	return true;
}

static inline bool ftl_part_over(struct ftl_io *io, enum ssd_err status)
{
	if (status != SSD_OK && io->status == SSD_OK)
		io->status = status;
	return --io->pending == 0;
}

/* Both. */
static inline bool ftl_account_part(struct ftl_io *io, uint64_t done_ns,
				    const struct ftl_breakdown *where, enum ssd_err status)
{
	if (ftl_part_decides(io, done_ns))
		ftl_breakdown_set(&io->where, where);
	return ftl_part_over(io, status);
}

#endif
