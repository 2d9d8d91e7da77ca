// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * engine.c - the loop: virtual time, streams and requests in flight.
 *
 * Time jumps to whatever comes first: a completion, the drive's own deadline
 * (slate_step()), in open loop an arrival. At one moment the order is: the
 * drive's step if it is due, completions (by time, then by number), new requests,
 * and a step for them.
 *
 *   closed  each stream keeps up to qd requests in flight; after a completion the next request is
 *           submitted at the same moment. Arrival times are ignored, except with think times
 *           (--think): a row with a later time than the previous row is submitted when all earlier
 *           requests of its stream have completed and, after that, the difference between the two
 *           times has passed.
 *   open    a request is submitted at its arrival time, however many are in flight:
 *           streams are merged by time, equal times by stream.
 *
 * A request:  free -> submitted -> (done callback) in the heap -> delivered -> free.
 * Requests come from chunks that are never moved or freed before the end, because
 * the FTL holds pointers to them; so nothing is allocated once the deepest queue
 * has been seen.
 *
 * Invariants: E1 time never decreases. E2 a stream's inflight is the number of its
 * requests that are not free. E3 the done callback does nothing but queue.
 */
#include "replay.h"

#include "slate_power.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(FTL_IDLE == REPLAY_NEVER, "a deadline that never comes");

#ifndef __clang__	/* gcc does not see that engine_close() frees q->data */
#pragma GCC diagnostic ignored "-Wanalyzer-malloc-leak"
#endif

#define CHUNK 256u

struct ready {
	uint64_t done_ns, id;
	struct request *q;
};

struct chunk {
	struct chunk *next;
	struct request request[CHUNK];
};

struct engine {
	struct ready *heap;
	size_t ready, room;
	uint64_t first_ns;		/* heap[0].done_ns; REPLAY_NEVER if the heap is empty */
	uint64_t arrival_ns;		/* open loop: next arrival; or end of a think time; else REPLAY_NEVER */
	struct chunk *chunks;
	struct request *free;
	uint64_t inflight;
};

volatile sig_atomic_t replay_stopped;

/* ---- requests in flight -------------------------------------------------------- */

static SSD_SELDOM void more_requests(struct engine *e)
{
	struct chunk *c = calloc(1, sizeof(*c));

	SSD_ASSERT(c);
	c->next = e->chunks;
	e->chunks = c;
	for (unsigned int i = 0; i < CHUNK; i++) {
		c->request[i].next = e->free;
		e->free = &c->request[i];
	}
}

static struct request *take_free(struct engine *e)
{
	struct request *q;

	if (!e->free)
		more_requests(e);
	q = e->free;
	e->free = q->next;
	e->inflight++;
	return q;
}

void engine_release(struct replay *r, struct request *q)
{
	struct engine *e = r->engine;

	q->next = e->free;
	e->free = q;
	e->inflight--;
}

static bool before(const struct ready *a, const struct ready *b)
{
	return a->done_ns < b->done_ns || (a->done_ns == b->done_ns && a->id < b->id);
}

static SSD_SELDOM void larger_heap(struct engine *e)
{
	e->room = e->room ? 2 * e->room : CHUNK;
	e->heap = realloc(e->heap, e->room * sizeof(*e->heap));
	SSD_ASSERT(e->heap);
}

static void push(struct engine *e, struct request *q)
{
	struct ready one = { q->io.done_ns, q->id, q };
	size_t at = e->ready++;

	if (at == e->room)
		larger_heap(e);
	for (; at && before(&one, &e->heap[(at - 1) / 2]); at = (at - 1) / 2)
		e->heap[at] = e->heap[(at - 1) / 2];
	e->heap[at] = one;
	e->first_ns = e->heap[0].done_ns;
}

static struct request *pop(struct engine *e)
{
	struct request *first = e->heap[0].q;
	struct ready last;
	size_t at = 0;

	if (!--e->ready) {
		e->first_ns = REPLAY_NEVER;
		return first;
	}
	last = e->heap[e->ready];
	for (;;) {
		size_t child = 2 * at + 1;

		if (child + 1 < e->ready && before(&e->heap[child + 1], &e->heap[child]))
			child++;
		if (child >= e->ready || !before(&e->heap[child], &last))
			break;
		e->heap[at] = e->heap[child];
		at = child;
	}
	e->heap[at] = last;
	e->first_ns = e->heap[0].done_ns;
	return first;
}

/* ---- the drive's side ------------------------------------------------------------ */

SSD_HOT void engine_done(void *opaque, struct ftl_io *io)
{
	struct replay *r = opaque;

	if (r->o.loop == REPLAY_RECORDED)
		recorded_done(r, io->host);
	else
		push(r->engine, io->host);
}

void engine_copy(void *opaque, struct ftl_io *io, uint64_t at, void *buf, size_t len)
{
	struct replay *r = opaque;

	const struct request *q = io->host;

	if (r->verify)
		verify_copy(r->verify, q, at, buf, len);
	else if (io->op == FTL_READ && q->data_bytes && buf)
		memcpy(q->data + at, buf, len);
	else if (io->op == FTL_READ && q->data_bytes)
		memset(q->data + at, 0, len);
	else if (io->op == FTL_WRITE && q->data_bytes)
		memcpy(buf, q->data + at, len);
	else if (io->op == FTL_WRITE)
		memset(buf, 0, len);
}

/* ---- streams ---------------------------------------------------------------------- */

static SSD_SELDOM int check_bad(struct replay *r, struct stream *s, bool at_end)
{
	struct trace_counts c;

	if (!s->bad || (!at_end && (r->o.rows.max_bad_permille || s->bad <= REPLAY_BAD_SHOWN)))
		return 0;
	rows_counts(s, &c);
	if ((unsigned __int128)s->bad * 1000 <=
	    (unsigned __int128)r->o.rows.max_bad_permille * (c.rows + c.other_devices + s->bad))
		return 0;
	return -replay_fail(REPLAY_FAILED, "trace %s, read as %s: %llu of %llu rows%s are bad (the first are above) "
			    "and --max-bad allows %llu of 1000: repair them, name the right --format, or allow "
			    "more", trace_name(s->trace), trace_format_names[trace_format(s->trace)],
			    (unsigned long long)s->bad,
			    (unsigned long long)(c.rows + c.other_devices + s->bad), at_end ? "" : " so far",
			    (unsigned long long)r->o.rows.max_bad_permille);
}

/* Returns a time of the trace at that speed, at most REPLAY_NS_MAX. */
static uint64_t at_speed(uint64_t ns, uint64_t speed)
{
	unsigned __int128 t = (unsigned __int128)ns * TRACE_SPEED_ONE / speed;

	return t < REPLAY_NS_MAX ? (uint64_t)t : REPLAY_NS_MAX;
}

/* Returns the arrival of a row on the replay's clock, at most REPLAY_NS_MAX. */
static uint64_t arrival(struct replay *r, struct stream *s, uint64_t at_ns)
{
	uint64_t t, most = REPLAY_NS_MAX - s->pass_ns;

	if (SSD_UNLIKELY(!s->has_origin)) {
		s->has_origin = true;
		s->origin_ns = r->o.cut || r->cuts ? 0 : at_ns;
	}
	if (at_ns >= s->origin_ns) {
		t = at_ns - s->origin_ns;
		if (SSD_UNLIKELY(r->o.speed != TRACE_SPEED_ONE))
			t = at_speed(t, r->o.speed);
		t = (t < most ? t : most) + s->pass_ns;
		if (t >= s->last_ns) {
			s->last_ns = t;
			return t;
		}
	}
	s->backwards++;
	return s->last_ns;
}

static SSD_SELDOM int too_late(const struct stream *s)
{
	return -replay_fail(REPLAY_USAGE, "trace %s, line %llu: the request comes 146 years after the first "
			    "one, or later: repair its time, or leave --open and --think out",
			    trace_name(s->trace), (unsigned long long)s->row.line);
}

/* Begin another pass over the trace. 1: it has begun; 0: there is none; < 0: -exit code. */
static SSD_SELDOM int next_pass(struct replay *r, struct stream *s)
{
	int result = check_bad(r, s, true);
	struct trace_counts c;

	rows_counts(s, &c);
	if (result || !s->passes_left || !c.rows)
		return result;
	s->passes_left--;
	s->pass_ns = s->last_ns;
	if (rows_rewind(s))
		return -replay_fail(REPLAY_USAGE, "%s", trace_error(s->trace));
	return 1;
}

/* Fetch the next row of a stream and place it. 1: done; 0: end of the stream; < 0: -exit code. */
static SSD_HOT int stream_fetch(struct replay *r, struct stream *s)
{
	struct trace_row *row = &s->row;
	uint64_t before_ns = s->last_ns;
	int result;

	s->has_row = trace_take_rest(&s->placed, row);
	if (SSD_UNLIKELY(s->has_row)) {
		row->at_ns = r->o.think ? 0 : row->at_ns;	/* at the time of the first part */
		return 1;
	}
	for (;;) {
		result = rows_next(s, row);
		if (SSD_UNLIKELY(s->bad) && result > 0)
			if (check_bad(r, s, false))
				return -REPLAY_FAILED;
		if (result < 0)
			return replay_stopped ? -REPLAY_INTERRUPTED :
			       -replay_fail(REPLAY_USAGE, "%s", trace_error(s->trace));
		if (!result) {
			result = next_pass(r, s);
			if (result <= 0)
				return result;
			continue;
		}
		if (row->op >= TRACE_STEP) {
			s->steps_left_out++;
			continue;
		}
		s->fetched++;
		if (SSD_UNLIKELY(r->filtered || row->handle)) {
			result = rows_filter(r, s, row);
			if (result < 0)
				return result;
			if (!result)
				continue;
		}
		row->at_ns = arrival(r, s, row->at_ns);
		if (SSD_UNLIKELY(r->timed && row->at_ns == REPLAY_NS_MAX))
			return too_late(s);
		if (SSD_UNLIKELY(r->o.think)) {
			s->think_ns = row->at_ns - before_ns;
			row->at_ns = s->think_ns ? REPLAY_NEVER : 0;
		}
		result = place(r, s, row);
		if (result < 0)
			return result;
		if (result)
			break;
	}
	s->has_row = true;
	return 1;
}

/*
 * Fill in a request from a row. The drive sets the fields that are not set here. They are set one by one: for an
 * initialiser of so many bytes compilers use rep stos, which is slow.
 */
SSD_HOT struct request *engine_request(struct replay *r, const struct trace_row *row, uint32_t stream)
{
	static const enum ftl_op ops[] = {
		[TRACE_READ] = FTL_READ, [TRACE_WRITE] = FTL_WRITE,
		[TRACE_TRIM] = FTL_TRIM, [TRACE_FLUSH] = FTL_FLUSH,
	};
	struct request *q = take_free(r->engine);

	_Static_assert((int)TRACE_CROSS_COMMAND == FTL_CROSS_COMMAND &&
		       (int)TRACE_CROSS_NOTHING == FTL_CROSS_NOTHING, "trace.h");
	q->io.op = ops[row->op];
	q->io.fua = row->fua;
	q->io.zone = FTL_ZONE_NONE;
	q->io.ahead = false;
	q->io.handle = row->handle;
	q->io.crossing = row->crossing;
	q->io.lost = row->lost;
	q->io.queue = (uint8_t)(stream % FTL_QUEUES);
	q->io.priority = row->priority;
	q->reset = false;
	q->io.offset = row->offset;
	q->io.bytes = row->bytes;
	q->io.host = q;
	q->op = q->io.op;
	q->offset = row->offset;
	q->bytes = row->bytes;
	q->id = r->submitted++;
	q->stream = stream;
	q->data_bytes = 0;
	if (r->engine->inflight > r->deepest)
		r->deepest = r->engine->inflight;
	return q;
}

/*
 * Copy the data of a write, because the trace may have been read further when the drive reads them.
 */
static int take_content(struct stream *s, struct request *q)
{
	if (q->op != FTL_WRITE || !trace_has_content(s->trace))
		return 0;
	if (q->bytes > q->data_room) {
		free(q->data);
		q->data = malloc(q->bytes);
		SSD_ASSERT(q->data);
		q->data_room = q->bytes;
	}
	q->data_bytes = q->bytes;
	if (trace_read_content(s->trace, s->content_at, q->data, q->bytes))
		return -replay_fail(REPLAY_USAGE, "%s", trace_error(s->trace));
	return 0;
}

static inline void submit_request(struct replay *r, struct stream *s, struct request *q)
{
	s->requests++;
	s->inflight++;
	if (r->verify)
		verify_submit(r->verify, q);
	if (r->unflushed)
		unflushed_submit(r->unflushed, r->now_ns, s->fetched - 1, q);
	slate_submit(r->dev, r->now_ns, &q->io);
}

/* On a drive with zones: check a write, and reset its zone if it begins the zone again. */
static SSD_APART int prepare_zone(struct replay *r, struct stream *s)
{
	struct trace_row row;
	struct request *q;
	int result = zoned_write(r, s, &row);

	if (result <= 0)
		return result;
	q = engine_request(r, &row, s->number);
	q->io.zone = FTL_ZONE_RESET;
	q->reset = true;
	submit_request(r, s, q);
	return 0;
}

static int submit(struct replay *r, struct stream *s)
{
	struct request *q;
	int result = r->zoned && s->row.op == TRACE_WRITE ? prepare_zone(r, s) : 0;

	if (result)
		return result;
	q = engine_request(r, &s->row, s->number);
	result = take_content(s, q);
	if (result)
		return result;
	submit_request(r, s, q);
	if (r->o.check && r->submitted % r->o.check_every == 0) {
		slate_check(r->dev);
		r->invariant_checks++;
	}
	if (r->o.limit && r->submitted >= r->o.limit) {	/* more than the limit if the last write had to reset its
							 * zone */
		for (unsigned int i = 0; i < r->streams; i++)
			r->stream[i].has_row = false;
		return 0;
	}
	return stream_fetch(r, s);
}

static uint64_t next_arrival(const struct replay *r)
{
	uint64_t first = REPLAY_NEVER;

	for (unsigned int i = 0; i < r->streams; i++)
		if (r->stream[i].has_row && r->stream[i].row.at_ns > r->now_ns && r->stream[i].row.at_ns < first)
			first = r->stream[i].row.at_ns;
	return first;
}

/* If no request of the stream is in flight, begin the think time before its next row. */
static void wait_as_recorded(struct replay *r, struct stream *s)
{
	if (s->think_ns && !s->inflight) {
		s->row.at_ns = r->now_ns + s->think_ns;
		s->think_ns = 0;
	}
}

/* Is the stream's next row due? */
static bool is_due(struct replay *r, struct stream *s)
{
	if (!r->timed)
		return s->inflight < r->o.qd;
	if (r->o.loop == REPLAY_OPEN)
		return s->row.at_ns <= r->now_ns;
	wait_as_recorded(r, s);
	return s->row.at_ns <= r->now_ns && s->inflight < r->o.qd;
}

/* Submit the requests that are due. 1: some were submitted; 0: none was due; < 0: -exit code. */
static SSD_HOT int submit_due(struct replay *r)
{
	int fed = 0;

	for (unsigned int i = 0; i < r->streams; i++) {
		struct stream *s = &r->stream[i];

		while (s->has_row && is_due(r, s)) {
			int result = submit(r, s);

			if (result < 0)
				return result;
			fed = 1;
		}
	}
	if (r->timed)
		r->engine->arrival_ns = next_arrival(r);
	return fed;
}

/* ---- completions ------------------------------------------------------------------- */

/* Tell a completion to all but the account. */
static SSD_APART void observe(struct replay *r, struct request *q)
{
	if (r->verify)
		verify_done(r->verify, q);
	if (r->csv)
		csv_row(r->csv, q);
	if (r->unflushed)
		unflushed_done(r->unflushed, q, slate_has_write_cache(r->dev));
}

SSD_HOT void engine_deliver(struct replay *r, struct request *q)
{
	account_done(r, q);
	r->completed++;
	if (SSD_UNLIKELY(r->observed))
		observe(r, q);
	if (!r->warm && r->completed == r->o.warmup) {
		r->warm = true;
		account_begin(r, r->now_ns);
	}
}

static void deliver(struct replay *r)
{
	struct engine *e = r->engine;

	while (e->first_ns <= r->now_ns) {
		struct request *q = pop(e);

		engine_deliver(r, q);
		r->stream[q->stream].inflight--;
		engine_release(r, q);
	}
}

/* ---- the loop -------------------------------------------------------------------------- */

static uint64_t earliest(const struct engine *e, uint64_t deadline_ns)
{
	uint64_t next = e->first_ns < e->arrival_ns ? e->first_ns : e->arrival_ns;

	return deadline_ns < next ? deadline_ns : next;
}

/* Has the power been cut? The requests in flight are then lost, and no more are submitted. */
static bool is_cut(const struct replay *r)
{
	return r->o.cut && !slate_powered(r->dev);
}

/* Is no request in flight? */
static bool is_finished(const struct replay *r)
{
	for (unsigned int i = 0; i < r->streams; i++)
		if (r->stream[i].has_row)
			return false;
	return true;
}

static int begin(struct replay *r)
{
	uint64_t origin = REPLAY_NEVER;
	int result;

	for (unsigned int i = 0; i < r->streams; i++) {
		rows_begin(r, &r->stream[i]);
		result = stream_fetch(r, &r->stream[i]);
		if (result < 0)
			return -result;
		if (r->stream[i].has_origin && r->stream[i].origin_ns < origin)
			origin = r->stream[i].origin_ns;
	}
	for (unsigned int i = 0; r->o.common_clock && i < r->streams; i++) {
		struct stream *s = &r->stream[i];
		unsigned __int128 first_ns;

		if (!s->has_row)
			continue;
		first_ns = (unsigned __int128)(s->origin_ns - origin) * TRACE_SPEED_ONE / r->o.speed +
			   s->row.at_ns;
		if (r->o.loop == REPLAY_OPEN && first_ns >= REPLAY_NS_MAX)
			return -too_late(s);
		s->row.at_ns = (uint64_t)first_ns;
		s->origin_ns = origin;
		s->last_ns = s->row.at_ns;
	}
	account_begin(r, 0);
	return 0;
}

/* Make the cuts of --cuts that come before the next event, or at its time. */
static int make_cuts(struct replay *r, uint64_t next_ns)
{
	int result = 0;

	while (!result && cuts_next_ns(r->cuts) != REPLAY_NEVER && cuts_next_ns(r->cuts) <= next_ns)
		result = cuts_make(r);
	return result;
}

/*
 * The host has ended: let the drive finish the work that it has begun (programs of its buffer, GC).
 */
static int let_drive_end(struct replay *r, uint64_t deadline_ns)
{
	int result = make_cuts(r, deadline_ns);

	while (!result && deadline_ns != FTL_IDLE) {
		r->now_ns = deadline_ns;
		account_tick(r, r->now_ns);
		deadline_ns = slate_step(r->dev, r->now_ns);
		result = make_cuts(r, deadline_ns);
	}
	return result;
}

/*
 * Handle all events at now_ns. Returns the same values as submit_due(). Only a completion or an
 * arrival makes a submission possible.
 */
static int run_moment(struct replay *r, uint64_t *deadline_ns)
{
	struct engine *e = r->engine;

	if (r->now_ns >= r->account.interval_end_ns)
		account_tick(r, r->now_ns);
	while (*deadline_ns <= r->now_ns) {
		uint64_t next_ns = slate_step(r->dev, r->now_ns);

		*deadline_ns = next_ns;
		if (next_ns < e->first_ns && next_ns < e->arrival_ns && next_ns < r->account.interval_end_ns &&
		    (!r->cuts || next_ns < cuts_next_ns(r->cuts)) && !replay_stopped)
			r->now_ns = next_ns;	/* a deadline of the drive: no request is due */
	}
	if (e->first_ns > r->now_ns && e->arrival_ns > r->now_ns)
		return 0;
	deliver(r);
	if (r->terminal)
		progress_show(r);
	return submit_due(r);
}

/* The power has been cut: the requests in flight never end. */
static void lose_requests(struct replay *r)
{
	struct engine *e = r->engine;

	commands_end(r->commands);
	deliver(r);
	r->lost = e->inflight;
	e->ready = 0;
	e->first_ns = e->arrival_ns = REPLAY_NEVER;
	account_end(r);
}

int engine_plan_cut(struct replay *r, char err[SLATE_ERR_BYTES])
{
	const struct slate_cut_plan plan = {
		.when = SLATE_CUT_AT_NS, .value = r->o.cut_ns, .seed = r->o.cut_seed,
		.what = r->o.cut_controller ? SLATE_CUT_CONTROLLER : SLATE_CUT_POWER,
	};

	return slate_power_cut(r->dev, r->now_ns, &plan, err);
}

int engine_cut(struct replay *r)
{
	char err[SLATE_ERR_BYTES];

	if (engine_plan_cut(r, err))
		return replay_fail(REPLAY_FAILED, "%s", err);
	r->now_ns = r->o.cut_ns;
	slate_step(r->dev, r->now_ns);
	SSD_ASSERT(is_cut(r));
	lose_requests(r);
	return 0;
}

int engine_run(struct replay *r)
{
	struct engine *e = r->engine;
	uint64_t deadline_ns = REPLAY_NEVER;
	int result = begin(r), fed;

	if (result)
		return result;
	if (r->o.cut || r->cuts)	/* a cut may precede the first request */
		deadline_ns = slate_step(r->dev, 0);
	for (fed = submit_due(r); fed >= 0; fed = run_moment(r, &deadline_ns)) {
		uint64_t next_ns;

		if (fed)
			deadline_ns = slate_step(r->dev, r->now_ns);
		if ((!e->inflight && is_finished(r)) || is_cut(r))
			break;
		if (replay_stopped)
			return REPLAY_INTERRUPTED;
		next_ns = earliest(e, deadline_ns);
		SSD_ASSERT(next_ns != REPLAY_NEVER && next_ns >= r->now_ns);	/* E1 */
		if (SSD_UNLIKELY(r->cuts)) {
			result = make_cuts(r, next_ns);
			if (result)
				return result;
		}
		r->now_ns = next_ns;
	}
	if (fed < 0)
		return -fed;
	if (is_cut(r)) {
		lose_requests(r);
		return r->o.survivors ? unflushed_look(r) : 0;
	}
	if (r->lose && !r->o.until && lose_check(r->lose, r->stream[0].fetched))
		return REPLAY_USAGE;
	if (r->o.until) {
		slate_shut_down(r->dev);	/* then a drive with ignore_flush executes the flush */
		engine_release(r, engine_one(r, &(struct trace_row){ .op = TRACE_FLUSH }, NULL));
		r->submitted--;			/* the flush is not a request of the trace */
		deadline_ns = slate_step(r->dev, r->now_ns);	/* it has let time pass */
	}
	for (unsigned int i = 0; r->o.limit && i < r->streams; i++)	/* streams that --limit ended early */
		if (check_bad(r, &r->stream[i], true))
			return REPLAY_FAILED;
	result = let_drive_end(r, deadline_ns);
	if (result)
		return result;
	if (r->o.check) {
		slate_check(r->dev);
		r->invariant_checks++;
	}
	account_end(r);
	return r->o.survivors ? unflushed_look(r) : 0;
}

struct request *engine_one(struct replay *r, const struct trace_row *row, void *data)
{
	struct request *q = engine_request(r, row, 0);
	struct engine *e = r->engine;

	if (data && q->data_room < row->bytes) {
		free(q->data);
		q->data = malloc(row->bytes);
		SSD_ASSERT(q->data);
		q->data_room = row->bytes;
	}
	q->data_bytes = data ? row->bytes : 0;
	if (r->verify)
		verify_submit(r->verify, q);
	slate_submit(r->dev, r->now_ns, &q->io);
	for (;;) {
		uint64_t deadline_ns = slate_step(r->dev, r->now_ns);

		if (e->first_ns <= r->now_ns)
			break;
		r->now_ns = earliest(e, deadline_ns);
		SSD_ASSERT(r->now_ns != REPLAY_NEVER);
	}
	q = pop(e);
	if (r->verify)
		verify_done(r->verify, q);
	if (data)
		memcpy(data, q->data, row->bytes);
	return q;
}

int engine_read_back(struct replay *r)
{
	struct trace_row row = { .op = TRACE_READ };
	struct verified before, after;

	verify_get(r->verify, &before);
	for (; verify_next_written(r->verify, &row.offset, &row.bytes); row.offset += row.bytes) {
		engine_release(r, engine_one(r, &row, NULL));
		if (replay_stopped)
			return REPLAY_INTERRUPTED;
	}
	verify_get(r->verify, &after);
	fprintf(stderr, "slate-replay: read back: %llu sectors, %llu wrong\n",
		(unsigned long long)(after.sectors - before.sectors),
		(unsigned long long)(after.wrong - before.wrong));
	return 0;
}

int engine_open(struct replay *r)
{
	r->engine = calloc(1, sizeof(*r->engine));
	SSD_ASSERT(r->engine);
	r->engine->first_ns = r->engine->arrival_ns = REPLAY_NEVER;
	return 0;
}

void engine_close(struct replay *r)
{
	struct engine *e = r->engine;

	while (e && e->chunks) {
		struct chunk *c = e->chunks;

		e->chunks = c->next;
		for (unsigned int i = 0; i < CHUNK; i++) {
			free(c->request[i].lower);
			free(c->request[i].data);
		}
		free(c);
	}
	if (e)
		free(e->heap);
	free(e);
	r->engine = NULL;
}
