/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * host.h - the side of an FTL that faces the host: how an I/O is accepted, crosses the host link,
 * waits in line and ends, and the counters of I/Os.
 *
 * The struct of each FTL begins with a struct host. Its submit() does the work that is due, and
 * calls host_accept(). The I/O ends then or later by host_part(), host_finish() or host_refuse().
 *
 * Invariants:
 *   H1  `ios` counts the I/Os that were accepted and have not ended;
 *   H2  now_ns never decreases;
 *   H3  the parts of an I/O's time add up to its latency (host_finish() asserts it).
 */
#ifndef SLATE_HOST_H
#define SLATE_HOST_H

#include "ftl.h"
#include "link.h"
#include "owners.h"
#include "survey.h"

struct host {
	struct ftl base;
	struct nand *n;
	struct ftl_config c;
	struct ftl_host shell;		/* is notified of each I/O that ends */
	struct ftl_stats stats;
	struct link_way link[2];	/* [0] towards the host, [1] towards the drive */
	uint64_t now_ns;
	struct owner_book *book;	/* of both directions of the link; NULL: namespaces are not told apart */
	uint32_t ios;
	bool worn;			/* read-only: too few good blocks or sequence numbers are left */
	bool frozen;			/* too few sequence numbers: GC programs no page either */
	struct survey survey;		/* of the mount */
};

static inline struct host *host_of(struct ftl *f)
{
	return ssd_container_of(f, struct host, base);
}

/*
 * Returns the first of the rules for all FTLs that c breaks, as a sentence; NULL: c breaks no rule.
 * unit_bytes is valid.
 */
const char *host_fault(const struct ftl_config *c);
void host_init(struct host *h, const struct ftl_ops *ops, const struct ftl_config *c, struct nand *n,
	       const struct ftl_host *shell);

/* Retire a block for good. */
static inline void host_put_bad(struct host *h, uint32_t block)
{
	h->n->ops->mark_bad(h->n, (pbn_t){ block });
	h->stats.retired_blocks++;
}

/* ---- lists of I/Os, first come, first served ---- */

struct io_list {
	struct ftl_io *first, *last;	/* last is valid only if first is not NULL */
};

static inline void io_list_add(struct io_list *l, struct ftl_io *io)
{
	io->next = NULL;
	if (l->first)
		l->last->next = io;
	else
		l->first = io;
	l->last = io;
}

/* Returns the I/O after this one of the list, or NULL. */
static inline const struct ftl_io *io_list_next(const struct io_list *l, const struct ftl_io *io)
{
	return io == l->last ? NULL : io->next;
}

/* Remove the first I/O; the list is not empty. */
static inline struct ftl_io *io_list_take(struct io_list *l)
{
	struct ftl_io *io = l->first;

	l->first = io->next;
	return io;
}

/*
 * The power has failed: from now on no I/O moves data, and `done` is called at ends in place of the shell's function.
 */
void host_mute(struct host *h, void (*done)(void *opaque, struct ftl_io *io), void *opaque);
/* After a loss of power: forget the I/Os in flight, and report no completion any more. */
void host_forget(struct host *h);

/* ---- an I/O comes ---- */

/* A span is the part of one mapping unit that an I/O covers. */
struct host_span {
	uint32_t unit;
	uint32_t from, bytes;		/* in the unit */
};

/* Returns the span at io->at, which is not the I/O's end. */
static inline struct host_span host_span(const struct ftl_io *io, uint32_t unit_bytes)
{
	uint64_t byte = io->offset + io->at, left = io->bytes - io->at;
	struct host_span s = { .unit = (uint32_t)(byte / unit_bytes), .from = (uint32_t)(byte % unit_bytes) };

	s.bytes = unit_bytes - s.from < left ? unit_bytes - s.from : (uint32_t)left;
	return s;
}

/* Advance the time to now_ns. */
static inline void host_set_time(struct host *h, uint64_t now_ns)
{
	SSD_ASSERT(now_ns >= h->now_ns);	/* H2 */
	h->now_ns = now_ns;
}

/* Returns the bytes that cross the link: data and their metadata. */
static inline uint64_t host_link_bytes(const struct ftl_io *io)
{
	return io->bytes + io->bytes / FTL_SECTOR_BYTES * io->metadata;
}

/*
 * With books: note the wait behind others of an I/O's data, which were ready at ready_ns and have crossed the link at
 * end_ns.
 */
void host_crossed(struct host *h, struct ftl_io *io, uint32_t way, uint64_t ready_ns, uint64_t end_ns);

/*
 * Accept an I/O at now_ns: check its range, set the fields that the FTL relies on, and move a
 * write's data over the link. The I/O itself counts as its first part (pending 1), which ends when
 * all other parts have been started.
 */
static inline void host_accept(struct host *h, struct ftl_io *io)
{
	if (io->op == FTL_FLUSH)
		io->offset = io->bytes = 0;
	SSD_ASSERT(!io->zone || h->base.ops->zones);
	SSD_ASSERT(!io->lost || (h->base.ops->writes_lost && io->op == FTL_WRITE &&
				 (io->offset | io->bytes) % ftl_lost_bytes(h->base.ops, &h->c) == 0));
	SSD_ASSERT(io->offset % FTL_SECTOR_BYTES == 0 && io->bytes % FTL_SECTOR_BYTES == 0);
	SSD_ASSERT(io->offset <= h->c.capacity_bytes && io->bytes <= h->c.capacity_bytes - io->offset);
	io->submit_ns = io->done_ns = h->now_ns;
	io->status = SSD_OK;
	io->where = (struct ftl_breakdown){ 0 };
	io->at = io->seq = io->first_seq = io->gc_mark = io->link_ns = io->link_others_ns = 0;
	io->pending = 1;
	h->ios++;
	if (io->op != FTL_WRITE)
		return;
	h->stats.fua_writes += io->fua;
	if (!h->c.link_ps_per_byte || io->crossing != FTL_CROSS_ALL)
		return;
	io->link_ns = link_move(&h->link[1], h->now_ns, h->now_ns, host_link_bytes(io), h->c.link_ps_per_byte) -
		      h->now_ns;
	h->stats.link_to_drive_busy_ns += link_transfer_ns(host_link_bytes(io), h->c.link_ps_per_byte);
	if (SSD_UNLIKELY(h->book))
		host_crossed(h, io, 1, h->now_ns, h->now_ns + io->link_ns);
}

/* Move bytes between the host and buf (struct ftl_host). A write of lost content stores zeroes. */
static inline void host_copy(const struct host *h, struct ftl_io *io, uint64_t at, void *buf, size_t len)
{
	if (SSD_UNLIKELY(io->lost)) {
		SSD_ASSERT(buf);
		memset(buf, 0, len);
		return;
	}
	h->shell.copy(h->shell.opaque, io, at, buf, len);
}

/* ---- an I/O ends ---- */

/* Returns the minimum time of an I/O: mapping look-up and firmware. */
static inline uint64_t host_front_ns(const struct host *h)
{
	return (uint64_t)h->c.map_ns + h->c.overhead_ns;
}

/* Reset the counters of all I/O types. */
static inline void host_no_ops(struct ftl_op_stats op[FTL_NOPS])
{
	memset(op, 0, FTL_NOPS * sizeof(*op));
	for (unsigned int i = 0; i < FTL_NOPS; i++)
		op[i].latency_min_ns = ~(uint64_t)0;
}

/* Count an I/O that has ended. */
static inline void host_count(struct ftl_op_stats *s, const struct ftl_io *io)
{
	uint64_t ns = io->done_ns - io->submit_ns;

	s->ios++;
	s->bytes += io->op == FTL_FLUSH ? 0 : io->bytes;
	s->errors += io->status != SSD_OK;
	s->latency_sum_ns += ns;
	if (ns < s->latency_min_ns)
		s->latency_min_ns = ns;
	if (ns > s->latency_max_ns)
		s->latency_max_ns = ns;
	ftl_breakdown_add(&s->where, &io->where);
}

/* Move a read's data to the host from at_ns on. Returns when they have arrived. */
static inline uint64_t host_link_read(struct host *h, struct ftl_io *io, uint64_t at_ns)
{
	uint64_t end_ns;

	if (!h->c.link_ps_per_byte)
		return at_ns;
	h->stats.link_to_host_busy_ns += link_transfer_ns(host_link_bytes(io), h->c.link_ps_per_byte);
	end_ns = link_move(&h->link[0], h->now_ns, at_ns, host_link_bytes(io), h->c.link_ps_per_byte);
	if (SSD_UNLIKELY(h->book))
		host_crossed(h, io, 0, at_ns, end_ns);
	return end_ns;
}

/* Move the wait for the link behind others from link_ns to namespace_queue_ns: of *w, or of io->where and h->stats. */
void host_divide_link(struct ftl_breakdown *w, const struct ftl_io *io);
void host_divide(struct host *h, struct ftl_io *io);

/*
 * End an I/O whose part in the drive ended at done_ns >= now_ns; io->where holds the parts of that time. Sets done_ns,
 * status and the link's part: a write's data crossed the link before, a read's data cross it now.
 */
static inline void host_finish(struct host *h, struct ftl_io *io, uint64_t done_ns, enum ssd_err status)
{
	uint64_t at = done_ns + io->link_ns;

	SSD_ASSERT(done_ns >= h->now_ns);
	if (io->op == FTL_READ && status == SSD_OK && !io->ahead && io->crossing == FTL_CROSS_ALL)
		at = host_link_read(h, io, at);
	if (io->crossing != FTL_CROSS_NOTHING)
		at += h->c.link_latency_ns;
	io->where.link_ns = at - done_ns;
	SSD_ASSERT(ftl_breakdown_sum(&io->where) == at - io->submit_ns);	/* H3 */
	io->done_ns = at;
	io->status = status;
	host_count(&h->stats.op[io->op], io);
	if (SSD_UNLIKELY(h->book))	/* last, because compilers keep the parts in registers until here */
		host_divide(h, io);
	h->ios--;
	h->shell.done(h->shell.opaque, io);
}

/*
 * A part of an I/O with several parts (pending) has ended at done_ns. Returns true if that is later than all before it;
 * then the caller sets io->where. The part that ends last decides the completion time, the first error the status.
 */
static inline bool host_part_decides(struct ftl_io *io, uint64_t done_ns)
{
	if (done_ns < io->done_ns)
		return false;
	io->done_ns = done_ns;
	return true;
}

/* End a part. Returns true if it was the last one. */
static inline bool host_part_over(struct ftl_io *io, enum ssd_err status)
{
	if (status != SSD_OK && io->status == SSD_OK)
		io->status = status;
	return --io->pending == 0;
}

/* End a part as host_part_decides() and host_part_over() do; the last part ends the I/O. */
static inline void host_part(struct host *h, struct ftl_io *io, uint64_t done_ns,
			     const struct ftl_breakdown *where, enum ssd_err status)
{
	if (host_part_decides(io, done_ns))
		ftl_breakdown_set(&io->where, where);
	if (host_part_over(io, status))
		host_finish(h, io, io->done_ns, io->status);
}

/* Do as host_finish() does, but the look-up and the firmware begin at at_ns; io->where holds the time until then. */
void host_end_at(struct host *h, struct ftl_io *io, uint64_t at_ns, enum ssd_err status);

/*
 * End the I/O: mapping look-up and firmware (spent_ns) begin now. The time so far that io->where does not
 * hold was a wait: a read waited for other I/O, any other I/O for the buffer.
 */
void host_end(struct host *h, struct ftl_io *io, uint64_t spent_ns, enum ssd_err status);

/*
 * End a part whose data were found at at_ns; look-up and firmware begin then. *own has the times of its
 * own that passed before (cell_ns, bus_ns) and that follow (buffer_ns; other_ns beside the firmware). The
 * rest was waiting, gc_ns of it at most for GC, and otherwise for other host I/O.
 */
void host_part_at(struct host *h, struct ftl_io *io, uint64_t at_ns, uint64_t gc_ns,
		  const struct ftl_breakdown *own, enum ssd_err status);

/* End a part now. Until now it waited for other host I/O. */
void host_part_now(struct host *h, struct ftl_io *io);

/* Fail an I/O that has no other part under way. Until now it waited for the buffer. */
void host_refuse(struct host *h, struct ftl_io *io, enum ssd_err why);

/* ---- entries of struct ftl_ops ---- */

/* Begins the survey, calls find(), and ends the mount when all commands have ended. */
int host_mount(struct ftl *f, uint64_t now_ns, uint64_t *ready_ns) SSD_MUST_CHECK;
const struct ftl_stats *host_stats(const struct ftl *f);
void host_reset_stats(struct ftl *f);
uint32_t host_inflight(const struct ftl *f);
bool host_read_only(const struct ftl *f);
/* Takes the settings that may change, and computes anew what those that differ determine, by ftl_ops.anew. */
void host_reconfigure(struct ftl *f, uint64_t now_ns, const struct ftl_config *c);
#define HOST_OPS_COMMON .mount = host_mount, .stats = host_stats, .reset_stats = host_reset_stats, \
	.inflight = host_inflight, .read_only = host_read_only, .reconfigure = host_reconfigure

#endif
