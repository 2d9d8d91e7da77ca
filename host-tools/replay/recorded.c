// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * recorded.c - replays a recording: makes the same calls at the same times, and compares each answer
 * with the recorded one.
 *
 * The drive's answers within a call are put into `answers`, in order; in the file the recorded answers
 * follow the call. Differences are counted, and the first five are printed. At the end the counts of
 * the array's commands are compared, by operation and source.
 */
#include "replay.h"

#include <inttypes.h>
#include <stdlib.h>

#define SHOWN 5u

struct answers {
	struct request **q;
	size_t count, at, room;
};

void recorded_done(struct replay *r, struct request *q)
{
	struct answers *a = r->answers;

	if (a->count == a->room) {
		a->room = a->room ? 2 * a->room : 64;
		a->q = realloc(a->q, a->room * sizeof(struct request *));
		SSD_ASSERT(a->q);
	}
	a->q[a->count++] = q;
}

static void differ(struct replay *r, const struct trace_row *row, const char *what, uint64_t number,
		   uint64_t recorded, uint64_t now)
{
	if (r->differed++ < SHOWN)
		fprintf(stderr, "slate-replay: %s, line %" PRIu64 ": request %" PRIu64 ": %s was %" PRIu64
			" and is %" PRIu64 "\n", trace_name(r->stream[0].trace), row->line, number, what,
			recorded, now);
}

static void take_answer(struct replay *r, const struct trace_row *row)
{
	struct answers *a = r->answers;
	struct request *q;
	uint64_t latency_ns;

	if (a->at == a->count) {
		differ(r, row, "answered in this call (1: yes)", row->offset, 1, 0);
		return;
	}
	q = a->q[a->at++];
	latency_ns = q->io.done_ns - q->io.submit_ns;
	r->compared++;
	if (q->id != row->offset)
		differ(r, row, "its place among the answers", row->offset, row->offset, q->id);
	else if (latency_ns != row->bytes)
		differ(r, row, "latency, ns,", q->id, row->bytes, latency_ns);
	else if ((int32_t)q->io.status != row->status)
		differ(r, row, "status, negated,", q->id, (uint64_t)-row->status,
			(uint64_t)-(int)q->io.status);
	engine_deliver(r, q);
	engine_release(r, q);
}

/* The next call begins, so the previous one ends: all its completions must have been compared. */
static void end_call(struct replay *r, const struct trace_row *row)
{
	struct answers *a = r->answers;

	for (; a->at < a->count; a->at++) {
		struct request *q = a->q[a->at];

		differ(r, row, "answered in this call (1: yes)", q->id, 0, 1);
		engine_deliver(r, q);
		engine_release(r, q);
	}
	a->at = a->count = 0;
}

static int call(struct replay *r, const struct trace_row *row)
{
	struct request *q;

	if (row->at_ns < r->now_ns || row->at_ns >= REPLAY_NS_MAX)
		return replay_fail(REPLAY_USAGE, "%s, line %" PRIu64 ": time %s: this is no recording",
				   trace_name(r->stream[0].trace), row->line,
				   row->at_ns < r->now_ns ? "goes back" : "is beyond 146 years");
	r->now_ns = row->at_ns;
	account_tick(r, r->now_ns);
	if (row->op == TRACE_STEP) {
		slate_step(r->dev, r->now_ns);
		return 0;
	}
	if (row->op != TRACE_FLUSH && (!row->bytes || (row->offset | row->bytes) % FTL_SECTOR_BYTES ||
				       row->offset + row->bytes > r->capacity))
		return replay_fail(REPLAY_USAGE, "%s, line %" PRIu64 ": no whole sectors of a drive of %"
				   PRIu64 " bytes: this is no recording of it",
				   trace_name(r->stream[0].trace), row->line, r->capacity);
	q = engine_request(r, row, 0);
	q->io.queue = (uint8_t)(row->device % FTL_QUEUES);	/* 0 without arbitration */
	r->stream[0].requests++;
	if (r->verify)
		verify_submit(r->verify, q);
	slate_submit(r->dev, r->now_ns, &q->io);
	return 0;
}

static int compare_ops(struct replay *r)
{
	uint64_t was[TRACE_END_OPS][TRACE_END_SOURCES];
	struct slate_stats *now = malloc(sizeof(*now));

	_Static_assert(TRACE_END_OPS == NAND_NOPS && (int)TRACE_END_SOURCES == NAND_NSOURCES, "trace.h");
	SSD_ASSERT(now);
	slate_get_stats(r->dev, now);
	r->ops_compared = trace_end_ops(r->stream[0].trace, was);
	r->ops_differ = r->ops_compared && memcmp(was, now->nand.ops, sizeof(was));
	free(now);
	if (!r->ops_compared)
		return replay_fail(REPLAY_USAGE, "%s: has no '# end' lines: the recording was cut short",
				   trace_name(r->stream[0].trace));
	return 0;
}

static int follow(struct replay *r)
{
	struct stream *s = &r->stream[0];
	struct trace_row row = { 0 };
	int result;

	account_begin(r, 0);
	while ((result = trace_next(s->trace, &row)) > 0) {
		if (row.op == TRACE_DONE) {
			take_answer(r, &row);
			continue;
		}
		end_call(r, &row);
		result = call(r, &row);
		if (result)
			return result;
		if (replay_stopped)
			return REPLAY_INTERRUPTED;
		if (r->terminal)
			progress_show(r);
	}
	if (result < 0)
		return replay_fail(REPLAY_USAGE, "%s", trace_error(s->trace));
	if (s->bad)
		return replay_fail(REPLAY_FAILED, "%s: has bad rows: it is no whole recording",
				   trace_name(s->trace));
	end_call(r, &row);
	result = compare_ops(r);
	if (r->o.check) {
		slate_check(r->dev);
		r->invariant_checks++;
	}
	account_end(r);
	if (!result && (r->differed || r->ops_differ))
		result = replay_fail(REPLAY_FAILED, "%s: %" PRIu64 " of %" PRIu64 " requests differ; the "
				     "array's commands %s: it is a recording of another drive, or of another "
				     "version of Slate", trace_name(s->trace), r->differed, r->compared,
				     r->ops_differ ? "differ" : "are equal");
	return result;
}

int recorded_run(struct replay *r)
{
	struct answers answers = { 0 };
	int result;

	r->answers = &answers;
	result = follow(r);
	r->answers = NULL;
	free(answers.q);
	return result;
}
