// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * main.c - slate-replay: replays traces on an emulated SSD without a guest. docs/replay.md is the
 * description for users; replay.h lists the files.  Exit status: 0; 1 the replay failed, or a check
 * failed; 2 bad input; 130 interrupted. A failed or interrupted replay leaves no file.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "plural.h"
#include "replay.h"
#include "slate_power.h"

int replay_fail(int status, const char *fmt, ...)
{
	va_list ap;

	fputs("slate-replay: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return status;
}

double replay_clock_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Returns the processor time of this process since it began. */
double replay_cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- opening --------------------------------------------------------------------- */

static void on_bad(void *opaque, const char *name, uint64_t line, const char *why)
{
	struct stream *s = opaque;

	s->bad++;
	if (s->bad_shown < REPLAY_BAD_SHOWN) {
		s->bad_shown++;
		fprintf(stderr, "slate-replay: %s:%" PRIu64 ": bad row: %s\n", name, line, why);
	}
}

static int open_traces(struct replay *r)
{
	char err[TRACE_ERR_BYTES];

	for (unsigned int i = 0; i < r->o.names; i++) {
		struct stream *s = &r->stream[i];
		struct trace_options o = r->o.rows.options;

		o.untimed = r->o.loop == REPLAY_CLOSED && !r->o.think;
		o.bad = on_bad;
		o.opaque = s;
		s->number = i;
		s->passes_left = r->o.repeat - 1;
		if (trace_open(&s->trace, r->o.name[i], &o, err))
			return replay_fail(REPLAY_USAGE, "%s", err);
		r->streams++;
		r->has_content = r->has_content || trace_has_content(s->trace);
	}
	return 0;
}

static bool on_progress(void *opaque, uint64_t done, uint64_t all)
{
	struct replay *r = opaque;
	double t = replay_clock_s();

	if (r->terminal && t - r->shown_s > 0.2 && done) {
		r->shown_s = t;
		fprintf(stderr, "\r\033[Kpreconditioning: %.0f %%, %.0f s left",
			100.0 * (double)done / (double)all,
			(t - r->begin_s) * (double)(all - done) / (double)done);
	}
	return !replay_stopped;
}

/* Collect the overrides: those of a recording, of this program, and of the user, in this order. */
static int gather_sets(const struct replay *r, const char **set, size_t room)
{
	const char *const *kept = r->o.loop == REPLAY_RECORDED ? trace_settings(r->stream[0].trace) : NULL;
	size_t n = 0;

	if (r->o.loop == REPLAY_RECORDED && !kept)
		return replay_fail(REPLAY_USAGE, "%s: has no '# set' lines: it is no recording",
				   trace_name(r->stream[0].trace));
	for (; kept && *kept && n < room - r->o.sets - 2; kept++)
		set[n++] = *kept;
	if (r->o.check || (r->has_content && !r->o.user_payload))
		set[n++] = "ftl.payload=yes";
	else if (!r->o.drive && !r->o.user_payload)
		set[n++] = "ftl.payload=no";
	for (unsigned int i = 0; i < r->o.sets; i++)
		set[n++] = r->o.set[i];
	set[n] = NULL;
	return 0;
}

static bool payload_refused(const struct replay_options *o)
{
	for (unsigned int i = 0; o->check && i < o->sets; i++)
		if (!strcmp(o->set[i], "ftl.payload=no"))
			return true;
	return false;
}

static int open_drive(struct replay *r)
{
	const struct ftl_host host = { engine_done, engine_copy, r };
	const char *set[REPLAY_SETS_MAX + 512];
	const struct slate_options o = {
		.profile = r->o.profile, .overrides = set, .backing = r->o.drive,
		.ephemeral = r->o.ephemeral, .zeroes = true, .record = r->o.record,
		.record_content = r->o.record_content,
		.progress = on_progress, .opaque = r,
	};
	char err[SLATE_ERR_BYTES];
	int result;

	if (payload_refused(&r->o))
		return replay_fail(REPLAY_USAGE, "--check needs the data (ftl.payload=yes): leave "
				   "--set ftl.payload=no out");
	if (r->o.loop == REPLAY_RECORDED && trace_was_mounted(r->stream[0].trace) && !r->o.drive)
		return replay_fail(REPLAY_USAGE, "%s: was recorded on a drive file: name a copy of it, as it "
				   "was before, with --drive", trace_name(r->stream[0].trace));
	if (r->has_content && r->o.align_units)
		return replay_fail(REPLAY_USAGE, "--align unit: would write bytes that a trace with content does "
				   "not have: leave it out");
	if (r->o.survivors && !r->has_content)
		return replay_fail(REPLAY_USAGE, "--survivors: %s: does not say what is written, so what was there "
				   "before looks like it: use a content trace, or gen: with content=",
				   trace_name(r->stream[0].trace));
	result = gather_sets(r, set, sizeof(set) / sizeof(set[0]));
	if (result)
		return result;
	result = slate_open(&o, &host, &r->dev, err);
	if (!result && r->o.cut)
		result = engine_plan_cut(r, err);
	if (r->terminal)
		fputs("\r\033[K", stderr);
	if (replay_stopped)
		return REPLAY_INTERRUPTED;
	if (result && r->o.loop == REPLAY_RECORDED && !r->o.sets && !r->o.drive)
		return replay_fail(REPLAY_USAGE, "%s: its '# set' lines describe no drive (%s): the recording's "
				   "head is damaged: record again", trace_name(r->stream[0].trace), err);
	if (result)
		return replay_fail(REPLAY_USAGE, "%s", err);
	r->capacity = slate_capacity(r->dev);
	r->unit_bytes = slate_unit_bytes(r->dev);
	zoned_open(r);
	if (r->zoned && r->o.loop == REPLAY_RECORDED)
		return replay_fail(REPLAY_USAGE, "%s: --recorded repeats the calls on a drive without zones, since no "
				   "others can be recorded, and this drive has zones (ftl.type = zns): take the "
				   "recording's FTL, or leave --recorded out", trace_name(r->stream[0].trace));
	trace_place_init(&r->place, r->o.rows.beyond, r->capacity, r->unit_bytes,
			 r->o.align_units ? r->unit_bytes : FTL_SECTOR_BYTES);
	return 0;
}

static bool is_stdout(const char *path)
{
	return path && !strcmp(path, "-");
}

/* Check before the replay that the file can be written. */
static int check_json(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;
	char dir[4096] = ".";
	struct stat st;

	if (!path || is_stdout(path))
		return 0;
	if (slash)
		snprintf(dir, sizeof(dir), "%.*s", (int)(slash - path) + 1, path);
	if ((!stat(path, &st) && S_ISDIR(st.st_mode)) || access(dir, W_OK | X_OK))
		return replay_fail(REPLAY_USAGE, "--json %s: is no file in a directory that can be written to: "
				   "name another", path);
	return 0;
}

static int open_all(struct replay *r)
{
	int result = check_json(r->o.json);

	if (!result)
		result = open_traces(r);
	if (!result)
		result = open_drive(r);
	for (unsigned int i = 0; !result && i < r->streams && r->o.rows.beyond == TRACE_BEYOND_SCALE; i++)
		result = place_find_extent(r, &r->stream[i]);
	if (!result && r->o.check) {
		r->verify = verify_open(r, !slate_was_there(r->dev));
		result = r->verify ? 0 : REPLAY_FAILED;
	}
	if (!result && r->o.lose) {
		r->lose = lose_open(r->o.lose);
		result = r->lose ? 0 : REPLAY_USAGE;
	}
	if (!result && r->o.cuts) {
		r->cuts = cuts_open(r->o.cuts);
		result = r->cuts ? 0 : REPLAY_USAGE;
	}
	if (!result && r->o.unflushed) {
		r->unflushed = unflushed_open();
		result = r->unflushed ? 0 : REPLAY_FAILED;
	}
	if (!result && r->o.csv) {
		r->csv = csv_open(r->o.csv, slate_cores(r->dev) > 0);
		result = r->csv ? 0 : REPLAY_USAGE;
	}
	if (!result && r->o.commands) {
		r->commands = commands_open(r->o.commands, r->dev);
		result = r->commands ? 0 : REPLAY_USAGE;
	}
	r->timed = r->o.loop == REPLAY_OPEN || r->o.think;
	r->filtered = r->o.until || r->lose || r->o.no_flush || r->o.handles != REPLAY_HANDLES_TRACE;
	r->observed = r->verify || r->csv || r->unflushed;
	return result ? result : engine_open(r);
}

/* ---- the end --------------------------------------------------------------------- */

static void tell_wall(const struct replay *r, double wall_s)
{
	double cpu_s = replay_cpu_s() - r->begin_cpu_s;
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	fprintf(stderr, "slate-replay: %" PRIu64 " request%s in %.2f s (%.0f requests/s), %.2f s of CPU, %ld MiB\n",
		r->completed, plural(r->completed), wall_s, wall_s > 0 ? (double)r->completed / wall_s : 0, cpu_s,
		u.ru_maxrss >> 10);
}

/* Was all of the drive filled? Then its sectors without data were trimmed. */
static bool was_full(const struct replay *r)
{
	return strstr(slate_settings(r->dev), "precondition.fill_permille=1000\n");
}

/*
 * Warn about reads of pages that were never written. They cost only a look-up, so their latencies
 * do not describe a drive with data.
 */
static void tell_unwritten(const struct replay *r)
{
	struct slate_stats *s = malloc(sizeof(*s));
	uint64_t reads, unwritten;

	SSD_ASSERT(s);
	slate_get_stats(r->dev, s);
	reads = s->ftl.op[FTL_READ].ios;
	unwritten = s->ftl.unwritten_reads;
	free(s);
	if (unwritten)
		fprintf(stderr, "slate-replay: note: %" PRIu64 " of %" PRIu64 " read%s found only sectors that were "
			"%s, and took no flash read%s\n", unwritten, reads, plural(reads),
			was_full(r) ? "trimmed since the drive was filled" : "never written",
			was_full(r) ? "" : ": --fill 100 writes the drive first");
}

static void tell_devices(const struct replay *r)
{
	struct trace_counts c;

	for (unsigned int i = 0; i < r->streams; i++) {
		const struct trace *t = r->stream[i].trace;

		rows_counts(&r->stream[i], &c);
		if (!c.rows && c.other_devices)
			fprintf(stderr, "slate-replay: note: %s has no request of that --device: 'slate trace info' "
				"lists its devices\n", trace_name(t));
		else if (!c.rows && c.other)
			fprintf(stderr, "slate-replay: note: %s has no request: its lines are read as %s, and all are "
				"comments or other events: --format and --blk-action choose others\n",
				trace_name(t), trace_format_names[trace_format(t)]);
		if (trace_many_devices(t))
			fprintf(stderr, "slate-replay: note: %s has requests of several devices, and all went to "
				"one drive: --device chooses one\n", trace_name(t));
	}
}

static void tell_notes(const struct replay *r)
{
	uint64_t errors = 0;

	tell_devices(r);
	tell_unwritten(r);
	for (unsigned int op = 0; op < FTL_NOPS; op++)
		errors += r->account.errors[op];
	if (slate_ignores_flush(r->dev))
		fputs("slate-replay: note: THE DRIVE LIES: it ignores flushes and FUA (drive.ignore_flush = yes): "
		      "a loss of power takes data that it called durable\n", stderr);
	if (errors)
		fprintf(stderr, "slate-replay: note: the drive failed %" PRIu64 " request%s\n", errors, plural(errors));
	if (r->o.warmup && !r->warm)
		fprintf(stderr, "slate-replay: note: the warm-up of %" PRIu64 " request%s was not over after "
			"%" PRIu64 ": everything is counted\n", r->o.warmup, plural(r->o.warmup), r->completed);
}

static int tell_wrong(const struct replay *r)
{
	struct verified v = { 0 };

	if (r->verify)
		verify_get(r->verify, &v);
	if (!v.wrong)
		return 0;
	return replay_fail(REPLAY_FAILED, "--check: %" PRIu64 " of %" PRIu64 " sectors read were wrong: "
			   "the FTL lost or mixed up data", v.wrong, v.sectors);
}

/* Requests that the host had no room for never reached the drive: its figures, images and recordings are void. */
static int had_room(const struct replay *r)
{
	uint64_t n = slate_refused(r->dev);

	if (!n)
		return 0;
	return replay_fail(REPLAY_FAILED, "%" PRIu64 " request%s had no room on the host's disk or in its memory, so "
			   "the results are void: free disk space or memory, or use a smaller drive", n, plural(n));
}

static int report(struct replay *r, double wall_s)
{
	int result = 0;

	if (r->csv)
		result = csv_close(r->csv, true);
	r->csv = NULL;
	if (!result && r->commands) {
		result = commands_close(r->commands, true);
		r->commands = NULL;
	}
	if (!result && !slate_end_record(r->dev, true))
		result = REPLAY_FAILED;
	if (!result && r->o.json)
		result = report_json(r, wall_s);
	if (!result && !is_stdout(r->o.json) && !is_stdout(r->o.csv)) {
		summary_print(r);
		if (fflush(stdout) || ferror(stdout))
			result = replay_fail(REPLAY_FAILED, "standard output cannot be written to: free some "
					     "space, or send it elsewhere");
	}
	tell_notes(r);
	tell_wall(r, wall_s);
	if (!result && r->o.read_back)
		result = engine_read_back(r);
	if (!result)
		result = tell_wrong(r);
	return result ? result : had_room(r);
}

static void close_all(struct replay *r)
{
	if (r->csv)
		csv_close(r->csv, false);
	if (r->commands)
		commands_close(r->commands, false);
	if (r->dev)
		(void)slate_end_record(r->dev, false);
	slate_close(r->dev);
	engine_close(r);
	verify_close(r->verify);
	zoned_close(r->zoned);
	lose_close(r->lose);
	cuts_close(r->cuts);
	unflushed_close(r->unflushed);
	for (unsigned int i = 0; i < r->streams; i++) {
		rows_end(&r->stream[i]);
		trace_close(r->stream[i].trace);
	}
	free(r->account.at_begin);
	free(r->account.row);
	free(r->account.timeline);
}

static void on_signal(int number)
{
	(void)number;
	replay_stopped = 1;
}

static void catch_signals(void)
{
	const struct sigaction stop = { .sa_handler = on_signal };
	const struct sigaction ignore = { .sa_handler = SIG_IGN };

	sigaction(SIGINT, &stop, NULL);
	sigaction(SIGTERM, &stop, NULL);
	sigaction(SIGHUP, &stop, NULL);
	sigaction(SIGPIPE, &ignore, NULL);
}

int main(int argc, char **argv)
{
	static struct replay r = {
		.o = { .qd = 1, .speed = TRACE_SPEED_ONE, .repeat = 1, .check_every = REPLAY_CHECK_EVERY,
		       .rows.options.device = TRACE_ANY_DEVICE },
	};
	int result = replay_options_parse(&r.o, argc, argv), recorded = 0;

	if (result)
		return result;
	r.terminal = isatty(STDERR_FILENO);
	r.begin_s = replay_clock_s();
	r.warm = !r.o.warmup;
	catch_signals();
	result = open_all(&r);
	r.begin_s = replay_clock_s();
	r.begin_cpu_s = replay_cpu_s();
	if (!result)
		result = r.o.loop == REPLAY_RECORDED ? recorded_run(&r) : engine_run(&r);
	if (r.terminal)
		fputs("\r\033[K", stderr);
	if (replay_stopped || result == REPLAY_INTERRUPTED) {
		result = REPLAY_INTERRUPTED;
		fputs("slate-replay: interrupted; nothing is left behind\n", stderr);
	} else if (!result || r.differed || r.ops_differ) {	/* a difference is also a result */
		recorded = result;
		if (!r.o.cut)
			slate_shut_down(r.dev);
		result = report(&r, replay_clock_s() - r.begin_s);
		result = result ? result : recorded;
	}
	close_all(&r);
	return result;
}
