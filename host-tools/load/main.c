// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * main.c - slate-load: replays a trace on a block device. docs/slate-load.md is the description for
 * users; load.h lists the files.  Exit status: 0; 1 requests failed, or the requested rate was not
 * reached; 2 bad input; 130 interrupted.
 */
#define _GNU_SOURCE
#include "load.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

int load_fail(int status, const char *fmt, ...)
{
	va_list args;

	fflush(stdout);
	fputs("slate-load: ", stderr);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	return status;
}

const char *load_op_name(unsigned int op)
{
	static const char *const names[LOAD_NOPS] = { "read", "write", "trim", "flush" };

	return names[op];
}

static void on_bad(void *opaque, const char *name, uint64_t line, const char *why)
{
	struct load *l = opaque;

	if (l->bad++ < LOAD_BAD_SHOWN)
		fprintf(stderr, "slate-load: %s:%" PRIu64 ": bad row: %s\n", name, line, why);
}

static int open_trace(struct load *l)
{
	char err[TRACE_ERR_BYTES];

	l->o.rows.options.untimed = !l->o.open;
	l->o.rows.options.bad = on_bad;
	l->o.rows.options.opaque = l;
	if (trace_open(&l->trace, l->o.trace, &l->o.rows.options, err))
		return load_fail(LOAD_USAGE, "%s", err);
	return 0;
}

static int open_all(struct load *l)
{
	char err[TRACE_ERR_BYTES];
	int result = open_trace(l);

	if (!result)
		result = device_open(l);
	if (result)
		return result;
	trace_place_init(&l->place, l->o.rows.beyond, l->dev.capacity / l->dev.block_bytes * l->dev.block_bytes,
			 l->dev.block_bytes, l->dev.block_bytes);
	l->extent = l->o.rows.scale_bytes;
	if (l->o.rows.beyond == TRACE_BEYOND_SCALE && !l->extent &&
	    trace_find_extent(l->trace, &l->o.rows.options, &load_stopped, &l->extent, err))
		return load_fail(LOAD_USAGE, "%s", err);
	if (l->o.log)
		result = latlog_open(l);
	return result ? result : engine_open(l);
}

/* Print warnings that affect how the summary must be read. */
static int tell_wrong(const struct load *l)
{
	const struct load_account *a = &l->account;
	uint64_t errors = 0;
	int result = 0;

	if (trace_many_devices(l->trace))
		fprintf(stderr, "slate-load: note: %s has requests of several devices, and all went to one: "
			"--device chooses one\n", trace_name(l->trace));
	for (unsigned int op = 0; op < LOAD_NOPS; op++)
		errors += a->errors[op];
	if (errors)
		result = load_fail(LOAD_FAILED, "%" PRIu64 " of %" PRIu64 " requests failed", errors, l->completed);
	if (report_fell_short(l))
		result = load_fail(LOAD_FAILED, "FELL SHORT: the trace asks for %.0f requests/s, and %.0f were "
				   "submitted; %.1f %% of them more than %" PRIu64 " us late, the worst %.1f ms. These "
				   "latencies are not the trace's: give a lower --speed, a larger --depth, or a faster "
				   "drive", (double)l->submitted * 1e9 / (double)(a->last_due_ns ? a->last_due_ns : 1),
				   (double)l->submitted * 1e9 / (double)(a->last_submit_ns ? a->last_submit_ns : 1),
				   (double)a->late * 100 / (double)l->submitted, l->o.late_ns / 1000,
				   (double)a->worst_late_ns / 1e6);
	return result;
}

static void on_signal(int number)
{
	(void)number;
	load_stopped = 1;
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

static int finish(struct load *l, int result)
{
	bool keep = !result || result == LOAD_INTERRUPTED;
	int logged = latlog_close(l, keep), told = 0;

	if (result == LOAD_INTERRUPTED)
		fputs("slate-load: interrupted; this is what was done until then\n", stderr);
	if (keep && l->completed)
		told = report(l);
	if (!result)
		result = tell_wrong(l);
	return result ? result : logged ? logged : told;
}

int main(int argc, char **argv)
{
	static struct load l = {
		.o = { .speed = TRACE_SPEED_ONE, .repeat = 1, .late_ns = 1000000, .late_permille = 10,
		       .max_bytes = 1u << 20, .rows.options.device = TRACE_ANY_DEVICE },
		.dev = { .fd = -1, .guard_fd = -1 },
	};
	int result = load_options_parse(&l.o, argc, argv);

	if (result)
		return result;
	if (l.o.show)
		return latlog_show(l.o.show);
	for (unsigned int op = 0; op < LOAD_NOPS; op++)
		hist_clear(&l.account.hist[op]);
	catch_signals();
	result = open_all(&l);
	if (!result)
		result = engine_run(&l);
	if (load_stopped && result != LOAD_FAILED)
		result = LOAD_INTERRUPTED;
	result = finish(&l, result);
	engine_close(&l);
	device_close(&l);
	trace_close(l.trace);
	return result;
}
