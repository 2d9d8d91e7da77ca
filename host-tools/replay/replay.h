/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replay.h - shared declarations of slate-replay's files.
 *
 *   main.c      opens the drive and the traces; exit codes
 *   options.c   the command line
 *   engine.c    the loop of a replay: virtual time, streams, requests in flight
 *   rows.c      keeps a stream's rows for later passes; leaves rows out, or changes them
 *   recorded.c  the loop for recordings: repeats the calls and compares the results
 *   place.c     calls ../trace/place.c and prints the replay's messages
 *   progress.c  shows how far the replay is
 *   cuts.c      --cuts: many cuts in one replay, each in a copy of the process
 *   lines.c     reads a file of lines, for --cuts and --lose
 *   lose.c      --lose: the requests that are left out
 *   unflushed.c --unflushed: writes and trims that a cut may take, and what it took
 *   verify.c    --check: compares each sector with its possible contents
 *   shadow.c    the possible contents for traces with content, as hashes
 *   account.c   statistics, the time from which they count, and the time series
 *   zoned.c     writes of drives with zones
 *   csv.c       the CSV file with a line for each request
 *   commands.c  the CSV file with a line for each NAND command
 *   report.c    the JSON;  summary.c  the summary on the screen
 */
#ifndef SLATE_REPLAY_H
#define SLATE_REPLAY_H

#include <signal.h>
#include <stdio.h>

#include "hist.h"
#include "slate.h"
#include "trace.h"
#include "words.h"

#define REPLAY_FAILED 1
#define REPLAY_USAGE 2
#define REPLAY_INTERRUPTED 130
#define REPLAY_STREAMS_MAX 64u
#define REPLAY_SETS_MAX 512u
#define REPLAY_BAD_SHOWN 5u
#define REPLAY_NEVER UINT64_MAX
#define REPLAY_NS_MAX ((uint64_t)1 << 62)	/* limit of arrivals, so that the drive's clock cannot overflow */
#define REPLAY_CHECK_EVERY 100000u	/* FTL_OPS.check() costs O(pages) */

enum replay_loop { REPLAY_CLOSED, REPLAY_OPEN, REPLAY_RECORDED };

enum replay_handles {
	REPLAY_HANDLES_TRACE,		/* a write's placement handle is the row's */
	REPLAY_HANDLES_STREAM,		/* it is the trace's number, from 0 on */
	REPLAY_HANDLES_NONE,		/* it is 0 */
};

struct replay_options {
	const char *profile, *drive, *csv, *json, *record, *record_content;	/* NULL: none; json, csv "-": stdout */
	const char *lose, *cuts, *cuts_run, *commands;	/* NULL: none */
	const char *set[REPLAY_SETS_MAX + 1];	/* in order; if a key occurs twice, the last one counts */
	unsigned int sets;
	const char *name[REPLAY_STREAMS_MAX];	/* names of the traces */
	unsigned int names;
	enum replay_handles handles;
	bool read_back, ephemeral, align_units, common_clock, think, no_flush, wall, check,
	     timeline, user_payload;
	enum replay_loop loop;
	uint32_t qd;			/* queue depth of each stream, closed loop */
	uint64_t speed;			/* speed, multiplied by TRACE_SPEED_ONE */
	uint64_t repeat, limit, warmup;	/* limit 0: no limit */
	uint64_t interval_ns;		/* 0: no time series */
	uint64_t check_every;
	bool cut;			/* cut the drive's power at cut_ns of its clock */
	uint64_t cut_ns, cut_seed;
	bool cut_controller;		/* the cut is SLATE_CUT_CONTROLLER */
	bool until;			/* leave out requests later than until_ns, and flush the drive at the end */
	uint64_t until_ns;
	bool unflushed, survivors;	/* list what the cut may take; count the sectors that it left */
	struct trace_choice rows;
};

struct kept_rows {
	struct trace_row *row;		/* rows of the first pass */
	size_t count, room;
	size_t at;			/* rows returned in this pass */
	uint64_t passes;		/* number of complete passes over these rows */
	bool keeping, complete;
};

struct stream {
	struct trace *trace;
	struct kept_rows kept;
	unsigned int number;
	struct trace_row row;		/* next row, placed on the drive; at_ns is its arrival on the replay's clock */
	bool has_row;
	uint64_t fetched;		/* requests of the trace until now, those that are left out included */
	uint64_t content_at;		/* --lose: offset of `row` in the content that the trace has of the write */
	uint64_t passes_left;		/* number of passes after this one */
	uint64_t origin_ns;		/* origin of the trace's clock */
	bool has_origin;
	uint64_t pass_ns;		/* time on the replay's clock at the beginning of this pass */
	uint64_t last_ns;		/* arrival of the previous row */
	uint64_t think_ns;		/* closed loop: think time before the next row, 0: none. The row's at_ns is
					 * "never" until the think time begins, then its end */
	uint64_t extent;		/* end of the trace, for SCALE */
	uint32_t inflight;
	uint64_t requests, bad, backwards, steps_left_out, flushes_left_out;
	uint64_t bad_shown;
	struct trace_placed placed;
};

struct request {
	struct ftl_io io;
	enum ftl_op op;			/* operation as requested; io belongs to the FTL while it is submitted */
	uint64_t offset, bytes;
	uint64_t id;
	uint32_t stream;
	bool reset;			/* TRIM: of a zone */
	uint32_t version;		/* verify: version, of a WRITE or TRIM */
	uint32_t *lower;		/* verify: READ: a version for each sector */
	size_t lower_room;
	unsigned char *data;		/* content of a WRITE, if the trace has it */
	size_t data_bytes, data_room;	/* data_bytes 0: the trace has no content, and a read's data are not kept */
	struct request *older, *newer;	/* shadow: list of reads in flight, in the order of submission */
	struct request *next;		/* free list */
};

struct interval {
	uint64_t at_ns;			/* time of submission on the replay's clock */
	uint64_t ios[FTL_NOPS], bytes[FTL_NOPS], lat_sum_ns[FTL_NOPS], lat_max_ns[FTL_NOPS];
	uint64_t programs, reads, erases, gc_runs, gc_units;
};

/* An account holds the statistics from since_ns on. */
struct account {
	uint64_t since_ns, last_ns;	/* time of the last completion */
	uint64_t idle_ns;		/* time at which the drive had finished the work begun by then */
	struct hist hist[FTL_NOPS];
	uint64_t bytes[FTL_NOPS], errors[FTL_NOPS];
	struct ftl_breakdown where[FTL_NOPS];	/* sums of the latencies' parts */
	uint64_t completed;
	/* for the time series */
	uint64_t interval_ns, interval_end_ns;
	struct interval now;
	struct slate_stats *at_begin;	/* counters at the beginning of the interval */
	struct interval *row;
	size_t rows, room;
	struct slate_log_series *timeline;	/* NULL: not requested, or not complete yet */
};

struct verify;
struct csv;
struct commands;
struct zoned;

struct replay {
	struct replay_options o;
	struct slate_dev *dev;
	uint64_t capacity, unit_bytes;
	struct trace_place place;	/* grains are sectors or mapping units */
	struct stream stream[REPLAY_STREAMS_MAX];
	unsigned int streams;
	struct account account;
	struct verify *verify;		/* NULL: no --check */
	struct csv *csv;		/* NULL: none */
	struct commands *commands;	/* NULL: no --commands */
	struct zoned *zoned;		/* NULL: the drive has no zones */
	struct lose *lose;		/* NULL: no --lose */
	struct cuts *cuts;		/* NULL: no --cuts */
	struct unflushed *unflushed;	/* NULL: no --unflushed */
	uint64_t now_ns, submitted, completed;
	uint64_t deepest;		/* most requests in flight */
	uint64_t invariant_checks;
	uint64_t lost;			/* requests in flight at the cut */
	bool timed;			/* requests wait for the times of their rows: open loop, or think times */
	bool filtered;			/* an option may leave rows out, or change them (rows_filter()) */
	bool observed;			/* each completion is told to others than the account (observe()) */
	bool warm;			/* the warm-up is over */
	bool has_content;		/* a trace has the content of writes */
	bool terminal;
	double begin_s, shown_s, begin_cpu_s;
	uint32_t looked;		/* calls of progress_show() */
	/* used for TRACE_RECORDED */
	struct answers *answers;
	uint64_t compared, differed;
	bool ops_compared, ops_differ;
	struct engine *engine;
};

extern volatile sig_atomic_t replay_stopped;

/* Print "slate-replay: ..." on stderr and return status. */
int replay_fail(int status, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
double replay_clock_s(void);
double replay_cpu_s(void);

/* options.c. Returns 0 or an exit code; it has printed the error. --help ends the program. */
int replay_options_parse(struct replay_options *o, int argc, char **argv);

/* engine.c. Returns 0 or an exit code; it has printed the error. */
int engine_run(struct replay *r);
/* Callbacks of the drive; opaque is the replay. */
void engine_done(void *opaque, struct ftl_io *io);
void engine_copy(void *opaque, struct ftl_io *io, uint64_t at, void *buf, size_t len);
/*
 * Read and check everything that was written, without counting it. Returns 0 or an exit code; it
 * has printed the error.
 */
int engine_read_back(struct replay *r);
int engine_open(struct replay *r);
/* Plan the cut that the options describe. Returns what slate_power_cut() does. */
int engine_plan_cut(struct replay *r, char err[SLATE_ERR_BYTES]);
/* Cut the power at o.cut_ns, before which nothing else is due. Returns 0, or an exit code after printing the error. */
int engine_cut(struct replay *r);
void engine_close(struct replay *r);
/* Complete a request whose time has come. */
void engine_deliver(struct replay *r, struct request *q);
struct request *engine_request(struct replay *r, const struct trace_row *row, uint32_t stream);
void engine_release(struct replay *r, struct request *q);
/*
 * Submit a request that no statistics count, and wait for it. data: room for row->bytes of a read's content; NULL: the
 * content is not kept. The caller releases the request.
 */
struct request *engine_one(struct replay *r, const struct trace_row *row, void *data);

/* rows.c */
void rows_begin(const struct replay *r, struct stream *s);
int rows_next(struct stream *s, struct trace_row *row);		/* like trace_next() */
/*
 * Apply the options that may leave a row out, or change it. 1: it is to be submitted; 0: it is left out; < 0: -exit
 * code, and it has printed the error.
 */
int rows_filter(struct replay *r, struct stream *s, struct trace_row *row);
int rows_rewind(struct stream *s);				/* like trace_rewind() */
void rows_counts(const struct stream *s, struct trace_counts *out);	/* like trace_get_counts() */
void rows_progress(const struct stream *s, uint64_t *done, uint64_t *all);	/* like trace_progress() */
void rows_end(struct stream *s);

/* recorded.c */
int recorded_run(struct replay *r);
void recorded_done(struct replay *r, struct request *q);

/* place.c: place() returns 1: placed; 0: skipped (and counted); < 0: -exit code. */
int place(struct replay *r, struct stream *s, struct trace_row *row);
int place_find_extent(struct replay *r, struct stream *s);

/* account.c */
void account_begin(struct replay *r, uint64_t now_ns);
void account_tick(struct replay *r, uint64_t now_ns);	/* ends an interval if its time has come */
void account_done(struct replay *r, const struct request *q);
void account_end(struct replay *r);

/* verify.c */
struct verify *verify_open(struct replay *r, bool known_zeroes);
void verify_close(struct verify *v);
void verify_submit(struct verify *v, struct request *q);
void verify_done(struct verify *v, struct request *q);
void verify_copy(struct verify *v, const struct request *q, uint64_t at, void *buf, size_t len);
/*
 * Find the next range of at most 128 KiB with a written sector, from *at on. Returns false if there
 * is none.
 */
bool verify_next_written(const struct verify *v, uint64_t *at, uint64_t *bytes);
struct verified {
	uint64_t sectors, unknown, wrong;
};
void verify_get(const struct verify *v, struct verified *out);

/*
 * shadow.c: hashes of the possible contents of a sector, by the versions of verify.c. shadow_new()
 * returns NULL if there is no memory.
 */
struct shadow;
struct shadow *shadow_open(uint64_t sectors);
void shadow_close(struct shadow *s);
uint64_t shadow_hash(const void *sector);
/* Note that a write of this sector is submitted as version `version`, over version `newest` (0: none). */
void shadow_write(struct shadow *s, uint64_t sector, uint32_t newest, uint32_t version, uint64_t hash);
/* Version `completed` is stored: reads from number `next_id` on must return it or a newer one. */
void shadow_completed(struct shadow *s, uint64_t sector, uint32_t completed, uint64_t next_id);
/* May a read return content with this hash, of one of the versions lower .. newest? */
bool shadow_allows(const struct shadow *s, uint64_t sector, uint32_t newest, uint32_t lower,
		   uint64_t hash);
void shadow_read_begins(struct shadow *s, struct request *q);
void shadow_read_ends(struct shadow *s, struct request *q);

/*
 * zoned.c. zoned_write() checks the stream's next row, a write. 0: submit it; 1: submit *reset first; < 0: -exit
 * code, and it has printed the error.
 */
void zoned_open(struct replay *r);
void zoned_close(struct zoned *z);
int zoned_write(struct replay *r, const struct stream *s, struct trace_row *reset);

/*
 * lines.c: call take() for each line of an option's file. It returns 0, or an exit code after printing the error, which
 * ends the reading. Returns likewise.
 */
int lines_read(const char *option, const char *path, int (*take)(void *opaque, const char *text), void *opaque);

/*
 * lose.c. The file of --lose has a line NUMBER for each request that is left out, and a line NUMBER FROM TO for each
 * write of which only the bytes FROM <= i < TO happen. NUMBER is that of the request in the trace, from 0 on; the
 * numbers rise. lose_open() reads the file, and returns NULL after an error, which it has printed.
 */
struct lose *lose_open(const char *path);
void lose_close(struct lose *l);
/*
 * Apply the file to `row`, which the stream fetched last. Returns 1: submit the row, whose offset and bytes may be
 * changed to a part of the write; 0: leave it out; < 0: -exit code, and it has printed the error.
 */
int lose_row(struct replay *r, struct stream *s, struct trace_row *row);
/*
 * Check that a trace of `requests` requests has had all requests that the file names. Returns 0, or an exit code after
 * an error, which it has printed.
 */
int lose_check(const struct lose *l, uint64_t requests);

/*
 * cuts.c. The file of --cuts has a line NS SEED IMAGE for each cut, and the times do not fall. cuts_open() reads it,
 * and returns NULL after an error, which it has printed.
 */
struct cuts *cuts_open(const char *path);
void cuts_close(struct cuts *c);
/* Returns the time of the next cut; REPLAY_NEVER: there is none, also if c is NULL. */
uint64_t cuts_next_ns(const struct cuts *c);
/*
 * Make the next cut in a copy of the process. The caller has handled all events before its time. Returns 0, or an exit
 * code after printing the error.
 */
int cuts_make(struct replay *r);

/*
 * unflushed.c: the list of writes and trims that NVMe does not promise to be durable. They have not completed, or have
 * completed without FUA, and no flush that was submitted after that has completed. On a drive without a volatile write
 * cache all completed ones are durable.
 */
struct unflushed;
struct unflushed *unflushed_open(void);
void unflushed_close(struct unflushed *u);
/* A request is submitted: append it if it is a write or trim. number: that of the request in the trace, from 0 on. */
void unflushed_submit(struct unflushed *u, uint64_t now_ns, uint64_t number, const struct request *q);
/*
 * A request has completed: remove from the list the writes and trims that are durable by it. cached: the drive has a
 * volatile write cache, so that only a flush or FUA makes them so.
 */
void unflushed_done(struct unflushed *u, const struct request *q, bool cached);
/*
 * Mount the drive after the cut, and count the sectors of each write in the list that have the write's content. Returns
 * 0, or an exit code after an error, which it has printed.
 */
int unflushed_look(struct replay *r);
struct one_unflushed {
	uint64_t number;		/* of the request in the trace, from 0 on */
	enum ftl_op op;
	uint64_t offset, bytes, submit_ns;
	uint64_t done_ns;		/* REPLAY_NEVER: in flight */
	uint64_t there;			/* sectors with the write's content after the cut */
};
/* Get entry i of the list, in the order of submission. Returns false if there are no more. */
bool unflushed_get(const struct unflushed *u, size_t i, struct one_unflushed *out);
/* Returns a hash of what unflushed_look() read from all sectors of the writes in the list. */
uint64_t unflushed_state(const struct unflushed *u);

/* csv.c. On an error, which it has printed, csv_open() returns NULL and csv_close() an exit code (else 0). */
struct csv *csv_open(const char *path, bool cores);	/* cores: the controller has cores */
void csv_row(struct csv *c, const struct request *q);
int csv_close(struct csv *c, bool keep);

/*
 * commands.c. commands_open() begins the file and watches the drive's commands until commands_end(). On an error, which
 * they have printed, commands_open() returns NULL, and commands_close() an exit code (else 0).
 */
struct commands *commands_open(const char *path, struct slate_dev *dev);
void commands_end(struct commands *c);	/* also if c is NULL */
int commands_close(struct commands *c, bool keep);

/* progress.c: show how far the replay is, if it is time. */
void progress_show(struct replay *r);

/* report.c */
int report_json(struct replay *r, double wall_s);
/*
 * Write a JSON file with the sections "power" (of a cut) and "gc" alone. It reads nothing from the trace, so a copy of
 * the process may call it. Returns 0, or an exit code after printing the error.
 */
int report_cut(const struct replay *r, const char *path);
/* summary.c */
void summary_print(struct replay *r);

static inline const char *replay_op_name(unsigned int op)
{
	static const char *const names[FTL_NOPS] = { "read", "write", "trim", "flush" };

	return names[op];
}

#endif
