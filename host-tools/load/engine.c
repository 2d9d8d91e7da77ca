// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * engine.c - the loop that puts rows of the trace into slots, submits the slots to the
 * ring, and frees them at their completions.
 *
 * A request is submitted as soon as a slot is free and, at the trace's own times, it is
 * due. Its latency is from just before the system call that submits it until its
 * completion was seen. While nothing is due, the thread sleeps; for the last SPIN_NS it
 * polls the clock and the ring.
 *
 * Invariants: (1) a slot is free, or in flight with parts > 0; (2) inflight counts the slots in flight; (3) the ring
 * has room for every part of every slot, so no submission waits for room; (4) the content of a row's write is read from
 * the trace before the next row is.
 */
#define _GNU_SOURCE
#include "load.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define SPIN_NS 100000u			/* maximum by which a sleep may exceed the time asked for */
#define NEVER UINT64_MAX

volatile sig_atomic_t load_stopped;

/* Reads the rows of the trace. */
struct reader {
	struct trace_row row;		/* the row after trace_place(); at_ns counts from load->begin_ns */
	bool has_row;
	uint64_t passes_left;
	uint64_t origin_ns, pass_ns;	/* the trace's time, and this program's time, when this pass began */
	uint64_t last_ns;
	bool has_origin;
	uint64_t taken;			/* rows handed to slots */
};

static uint64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t load_now(const struct load *l)
{
	return clock_ns() - l->begin_ns;
}

/* ---- rows -------------------------------------------------------------------- */

static int check_bad(const struct load *l)
{
	struct trace_counts c;

	trace_get_counts(l->trace, &c);
	if ((unsigned __int128)l->bad * 1000 <=
	    (unsigned __int128)l->o.rows.max_bad_permille * (c.rows + c.other_devices + l->bad))
		return 0;
	return load_fail(LOAD_USAGE, "trace %s, read as %s: %" PRIu64 " of %" PRIu64 " rows are bad (the first are "
			 "above) and --max-bad allows %" PRIu64 " of 1000: repair them, name the right --format, or "
			 "allow more",
			 trace_name(l->trace), trace_format_names[trace_format(l->trace)], l->bad,
			 c.rows + c.other_devices + l->bad, l->o.rows.max_bad_permille);
}

/*
 * Compute the due time of a row on this program's clock: the gaps of the trace, divided by the
 * speed; times never decrease.
 */
static void set_due(struct load *l, struct reader *r)
{
	unsigned __int128 gap;

	if (!r->has_origin) {
		r->origin_ns = r->row.at_ns;
		r->has_origin = true;
	}
	if (r->row.at_ns < r->origin_ns) {
		l->backwards++;
		r->row.at_ns = r->origin_ns;
	}
	gap = (unsigned __int128)(r->row.at_ns - r->origin_ns) * TRACE_SPEED_ONE / l->o.speed;
	r->row.at_ns = r->pass_ns + (gap < NEVER / 4 ? (uint64_t)gap : NEVER / 4);
	if (r->row.at_ns < r->last_ns) {
		l->backwards++;
		r->row.at_ns = r->last_ns;
	}
	r->last_ns = r->row.at_ns;
}

static int refuse(const struct load *l, const struct trace_row *row, const char *what, const char *fix)
{
	return load_fail(LOAD_USAGE, "trace %s, line %" PRIu64 ": %s: %s", trace_name(l->trace), row->line, what,
			 fix);
}

/* Is the row to be submitted? 1: yes; 0: it is skipped; < 0: -exit code. */
static int check_row(struct load *l, struct trace_row *row)
{
	const char *fix;
	char what[120];
	int result;

	if (row->op > TRACE_FLUSH)	/* steps and completions of a recording */
		return 0;
	result = trace_place(&l->place, l->extent, &l->placed, row, &fix);
	if (result < 0) {
		snprintf(what, sizeof(what), "the request ends at byte %" PRIu64 ", and the device has %" PRIu64,
			 row->offset + row->bytes, l->dev.capacity);
		return -refuse(l, row, what, fix);
	}
	if (result && !l->o.writes && (row->op == TRACE_WRITE || row->op == TRACE_TRIM))
		return -refuse(l, row, row->op == TRACE_WRITE ? "it writes" : "it trims",
			       "give --write if what is on the device may be lost");
	if (result && row->op <= TRACE_WRITE && row->bytes > l->o.max_bytes) {
		snprintf(what, sizeof(what), "a request of %" PRIu64 " bytes", row->bytes);
		return -refuse(l, row, what, "give a larger --max-request");
	}
	return result;
}

static int next_pass(struct load *l, struct reader *r)
{
	if (!r->passes_left || (!r->last_ns && !r->taken))	/* an empty trace cannot be repeated */
		return 0;
	r->passes_left--;
	r->pass_ns = r->last_ns;
	r->has_origin = false;
	if (trace_rewind(l->trace))
		return -load_fail(LOAD_FAILED, "%s", trace_error(l->trace));
	return 1;
}

/* Fetch the next row: 1: there is one; 0: end; < 0: -exit code. */
static int fetch(struct load *l, struct reader *r)
{
	if (trace_take_rest(&l->placed, &r->row)) {
		set_due(l, r);
		return 1;
	}
	for (;;) {
		int result = trace_next(l->trace, &r->row);

		if (result < 0)
			return load_stopped ? -LOAD_INTERRUPTED :
			       -load_fail(LOAD_FAILED, "%s", trace_error(l->trace));
		if (!l->o.rows.max_bad_permille && l->bad && check_bad(l))
			return -LOAD_USAGE;
		if (!result) {
			if (check_bad(l))
				return -LOAD_USAGE;
			result = next_pass(l, r);
			if (result <= 0)
				return result;
			continue;
		}
		result = check_row(l, &r->row);
		if (result < 0)
			return result;
		if (!result)
			continue;
		set_due(l, r);
		return 1;
	}
}

static int refill(struct load *l, struct reader *r)
{
	int result;

	if (r->has_row || (l->o.limit && r->taken == l->o.limit) || load_stopped)
		return 0;
	result = fetch(l, r);
	r->has_row = result > 0;
	return result < 0 ? -result : 0;
}

/* ---- what a write holds ---------------------------------------------------------- */

/* Fill the buffer with bytes that no other request writes and that cannot be compressed. */
static void fill_incompressible(struct slot *s)
{
	uint64_t *word = (uint64_t *)s->buffer, x = (s->number + 1) * 0x9e3779b97f4a7c15u;

	for (uint64_t i = 0; i < s->row.bytes / sizeof(*word); i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		word[i] = x;
	}
}

static int fill_buffer(struct load *l, struct slot *s)
{
	if (s->row.op != TRACE_WRITE)
		return 0;
	if (!trace_has_content(l->trace)) {
		fill_incompressible(s);
		return 0;
	}
	if (!trace_read_content(l->trace, 0, s->buffer, s->row.bytes))
		return 0;
	return load_fail(LOAD_FAILED, "%s", trace_error(l->trace));
}

/* ---- the ring ---------------------------------------------------------------------- */

static int take_slot(struct load *l, struct reader *r)
{
	struct slot *s = l->free;
	int result;

	s->row = r->row;
	s->number = r->taken;
	s->status = 0;
	result = fill_buffer(l, s);
	if (result)
		return result;
	l->free = s->next;
	command_prepare(l, s);
	s->submit_ns = NEVER;
	r->taken++;
	r->has_row = false;
	l->inflight++;
	l->deepest = l->inflight > l->deepest ? l->inflight : l->deepest;
	return 0;
}

static void account_submit(struct load *l, struct slot *s, uint64_t now_ns)
{
	uint64_t late_ns;

	if (!l->o.open)
		s->row.at_ns = now_ns;
	s->submit_ns = now_ns;
	late_ns = now_ns > s->row.at_ns ? now_ns - s->row.at_ns : 0;
	l->account.late += late_ns > l->o.late_ns;
	l->account.late_sum_ns += late_ns;
	if (late_ns > l->account.worst_late_ns)
		l->account.worst_late_ns = late_ns;
	l->account.last_due_ns = s->row.at_ns;
	l->account.last_submit_ns = now_ns;
	l->submitted++;
}

static int ring_failed(int error)
{
	return load_fail(LOAD_FAILED, "io_uring: %s", strerror(-error));
}

/* Submit all requests that are due and have a slot, in one system call. */
static int submit_due(struct load *l, struct reader *r)
{
	struct slot *fresh[64];
	unsigned int n = 0;
	uint64_t now_ns;
	int result;

	while (l->free && n < sizeof(fresh) / sizeof(fresh[0])) {
		result = refill(l, r);
		if (result)
			return result;
		if (!r->has_row || (l->o.open && r->row.at_ns > load_now(l)))
			break;
		fresh[n] = l->free;
		result = take_slot(l, r);
		if (result)
			return result;
		n++;
	}
	if (!n)
		return 0;
	now_ns = load_now(l);
	for (unsigned int i = 0; i < n; i++)
		account_submit(l, fresh[i], now_ns);
	while (io_uring_sq_ready(&l->ring)) {
		result = io_uring_submit(&l->ring);
		if (result < 0 && result != -EINTR)
			return ring_failed(result);
	}
	return 0;
}

static void tell_error(struct load *l, const struct slot *s)
{
	char buf[64];

	if (l->account.shown++ < LOAD_BAD_SHOWN)
		fprintf(stderr, "slate-load: %s of %" PRIu64 " bytes at %" PRIu64 " (line %" PRIu64 "): %s\n",
			load_op_name(s->row.op), s->row.bytes, s->row.offset, s->row.line,
			command_error(s->status, buf, sizeof(buf)));
}

static void end_request(struct load *l, struct slot *s, uint64_t now_ns)
{
	struct load_account *a = &l->account;
	uint64_t latency_ns = now_ns - s->submit_ns;

	hist_add(&a->hist[s->row.op], latency_ns);
	a->bytes[s->row.op] += s->row.op == TRACE_FLUSH ? 0 : s->row.bytes;
	a->end_ns = now_ns;
	if (s->status) {
		a->errors[s->row.op]++;
		tell_error(l, s);
	}
	latlog_add(l, s, latency_ns);
	l->completed++;
	l->inflight--;
	s->next = l->free;
	l->free = s;
}

/* Handle the completions that have arrived. Returns false if there were none. */
static bool take_completions(struct load *l)
{
	struct io_uring_cqe *cqe;
	unsigned int head, seen = 0;
	uint64_t now_ns = 0;

	io_uring_for_each_cqe(&l->ring, head, cqe) {
		struct slot *s = io_uring_cqe_get_data(cqe);
		int status = command_status(l, s, cqe);

		if (!seen++)
			now_ns = load_now(l);
		if (status && !s->status)
			s->status = status;
		if (!--s->parts)
			end_request(l, s, now_ns);
	}
	io_uring_cq_advance(&l->ring, seen);
	return seen;
}

/* Sleep until a completion arrives, or until until_ns is so near that polling is better. */
static int sleep_until(struct load *l, uint64_t until_ns)
{
	struct __kernel_timespec t;
	struct io_uring_cqe *cqe;
	uint64_t now_ns = load_now(l);
	int result;

	if (until_ns != NEVER && until_ns < now_ns + SPIN_NS)
		return 0;
	if (until_ns == NEVER) {
		result = io_uring_wait_cqe(&l->ring, &cqe);
	} else {
		until_ns -= now_ns + SPIN_NS;
		t.tv_sec = (int64_t)(until_ns / 1000000000u);
		t.tv_nsec = (int64_t)(until_ns % 1000000000u);
		result = io_uring_wait_cqe_timeout(&l->ring, &cqe, &t);
	}
	return result && result != -EINTR && result != -ETIME ? ring_failed(result) : 0;
}

int engine_run(struct load *l)
{
	struct reader r = { .passes_left = l->o.repeat - 1 };
	int result = refill(l, &r);

	if (result)
		return result;
	l->begin_ns = clock_ns();
	for (;;) {
		uint64_t due_ns = NEVER;

		result = submit_due(l, &r);
		if (result)
			break;
		if (take_completions(l))
			continue;
		if (load_stopped)	/* wait for the requests in flight; submit no more */
			r.has_row = false;
		if (l->free && r.has_row) {
			if (!l->o.open)
				continue;
			due_ns = r.row.at_ns;
		}
		if (due_ns == NEVER && !l->inflight)
			break;
		result = sleep_until(l, due_ns);
		if (result)
			break;
	}
	return result ? result : load_stopped ? LOAD_INTERRUPTED : 0;
}

/* ---- opening --------------------------------------------------------------------------- */

static int open_slots(struct load *l)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (l->o.max_bytes + page - 1) / page * page;

	l->buffer_bytes = room;
	l->slots = calloc(l->o.depth, sizeof(*l->slots));
	l->buffers_bytes = room * l->o.depth;
	l->buffers = mmap(NULL, l->buffers_bytes, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (!l->slots || l->buffers == MAP_FAILED) {
		l->buffers = NULL;
		return load_fail(LOAD_FAILED, "no memory for %u buffers of %zu bytes: give a smaller --closed, "
				 "--depth or --max-request", l->o.depth, room);
	}
	for (uint32_t i = l->o.depth; i--;) {
		l->slots[i] = (struct slot){ .buffer = l->buffers + i * room, .index = i, .next = l->free };
		l->free = &l->slots[i];
	}
	return 0;
}

static int register_all(struct load *l)
{
	static const char too_little[] = ": raise the limit of locked memory (ulimit -l), or give a smaller "
					 "--max-request, --closed or --depth";
	struct iovec *v = calloc(l->o.depth, sizeof(*v));
	int result;

	if (!v)
		return load_fail(LOAD_FAILED, "no memory");
	for (uint32_t i = 0; i < l->o.depth; i++)
		v[i] = (struct iovec){ l->slots[i].buffer, l->buffer_bytes };
	result = io_uring_register_buffers(&l->ring, v, l->o.depth);
	free(v);
	if (result)
		return load_fail(LOAD_FAILED, "%u buffers of %" PRIu64 " bytes cannot be registered: %s%s", l->o.depth,
				 l->o.max_bytes, strerror(-result), result == -ENOMEM ? too_little : "");
	result = io_uring_register_files(&l->ring, &l->dev.fd, 1);
	return result ? ring_failed(result) : 0;
}

int engine_open(struct load *l)
{
	struct trace_row write = { .op = TRACE_WRITE, .bytes = l->o.max_bytes };
	struct trace_row trim = { .op = TRACE_TRIM, .bytes = l->dev.capacity };
	uint32_t parts = command_parts(l, &write), parts_of_trim = command_parts(l, &trim);
	uint64_t entries = (uint64_t)l->o.depth * (parts > parts_of_trim ? parts : parts_of_trim);
	unsigned int flags = l->dev.passthrough ? IORING_SETUP_SQE128 | IORING_SETUP_CQE32 : 0;
	int result;

	if (entries > LOAD_RING_MAX)
		return load_fail(LOAD_USAGE, "%u requests of %" PRIu64 " bytes take %" PRIu64 " commands of %u bytes "
				 "at once, and a ring has %u: give a smaller --closed, --depth or --max-request",
				 l->o.depth, l->o.max_bytes, entries, l->dev.part_bytes, LOAD_RING_MAX);
	result = open_slots(l);
	if (result)
		return result;
	result = io_uring_queue_init((unsigned int)entries, &l->ring, flags);
	if (result)
		return load_fail(LOAD_FAILED, "io_uring: %s%s", strerror(-result), result == -ENOSYS ?
				 ": this kernel has none" : result == -EINVAL ?
				 ": this kernel has no passthrough (Linux 5.19): use the block device" : "");
	l->ring_open = true;
	prctl(PR_SET_TIMERSLACK, 1);
	return register_all(l);
}

void engine_close(struct load *l)
{
	if (l->ring_open) {
		/* The kernel frees a ring some time later, and until then the device would still be in use. */
		(void)io_uring_unregister_files(&l->ring);
		(void)io_uring_unregister_buffers(&l->ring);
		io_uring_queue_exit(&l->ring);
	}
	if (l->buffers)
		munmap(l->buffers, l->buffers_bytes);
	free(l->slots);
}
