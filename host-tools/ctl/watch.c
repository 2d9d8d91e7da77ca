// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * watch.c - shows counters repeatedly: on a terminal as one table in place, elsewhere as one line for
 * each interval. Rates are per second of the drive's own time.
 */
#define _GNU_SOURCE
#include "ctl.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct watch {
	uint64_t interval_ms, count;	/* count 0: no limit */
	bool terminal;
};

static int parse(char **words, struct watch *w)
{
	*w = (struct watch){ .interval_ms = 1000, .terminal = isatty(STDOUT_FILENO) };
	for (; *words; words += 2) {
		uint64_t *out = !strcmp(*words, "--interval") ? &w->interval_ms :
				!strcmp(*words, "--count") ? &w->count : NULL;
		int result;

		if (!out)
			return ctl_fail(CTL_USAGE, "watch: unknown argument '%s': expected --interval MS or --count N",
					*words);
		result = ctl_number(*words, words[1], 1, 1000000000, out);
		if (result)
			return result;
	}
	return 0;
}

static void rest(uint64_t ms)
{
	struct timespec t = { .tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000 };

	while (!ctl_stopped && nanosleep(&t, &t) && errno == EINTR)
		;
}

#define SUBTRACT_COUNT(number) now->number -= was->number;
#define SUBTRACT_MIN(number)
#define SUBTRACT_MAX(number)
#define SUBTRACT_LEVEL(number)
#define SUBTRACT_OP(name, kind, says) SUBTRACT_##kind(op[op][SLATE_OP_##name])
#define SUBTRACT_CAUSE(name, says) SUBTRACT_COUNT(op[op][SLATE_OP_##name])
#define SUBTRACT(name, kind, says) SUBTRACT_##kind(nand[SLATE_NAND_##name])

/*
 * Subtract the counters of the previous snapshot. If they were reset in between, keep the new
 * values.
 */
static void subtract(struct ctl_counters *now, const struct ctl_counters *was)
{
	if (now->since_ns != was->since_ns)
		return;
	for (unsigned int op = 0; op < SLATE_WIRE_OPS; op++) {
		FTL_OP_COUNTERS(SUBTRACT_OP)
		FTL_CAUSES(SUBTRACT_CAUSE)
	}
	for (unsigned int i = 0; i < SLATE_FTL_WORDS; i++)
		now->ftl[i] -= was->ftl[i];
	for (unsigned int s = 0; s < SLATE_WIRE_SOURCES; s++)
		for (unsigned int i = 0; i < SLATE_SOURCE_WORDS; i++)
			now->source[s][i] -= was->source[s][i];
	NAND_COUNTERS(SUBTRACT)
}

static double per_s(uint64_t n, uint64_t ns)
{
	return ns ? (double)n * 1e9 / (double)ns : 0;
}

static void mean_us(const uint64_t *op, char out[24])
{
	if (op[SLATE_OP_ios])
		snprintf(out, 24, "%.1f", (double)op[SLATE_OP_latency_sum_ns] / (double)op[SLATE_OP_ios] / 1e3);
	else
		strcpy(out, "-");
}

static void ratio(double v, char out[24])
{
	if (v < 0)
		strcpy(out, "-");
	else
		snprintf(out, 24, "%.3f", v);
}

static void print_line(const struct ctl_counters *n, const struct ctl_derived *d, uint64_t ns, bool first)
{
	const uint64_t *r = n->op[SLATE_WIRE_READ], *w = n->op[SLATE_WIRE_WRITE];
	char mean_r[24], mean_w[24], waf[24];

	mean_us(r, mean_r);
	mean_us(w, mean_w);
	ratio(d->waf, waf);
	if (first)
		printf("%12s %9s %9s %10s %9s %9s %10s %8s %8s\n", "drive s", "reads/s", "MiB/s", "mean us", "writes/s",
		       "MiB/s", "mean us", "WAF", "GC units");
	printf("%12.6f %9.0f %9.1f %10s %9.0f %9.1f %10s %8s %8" PRIu64 "\n", (double)n->at_ns / 1e9,
	       per_s(r[SLATE_OP_ios], ns), per_s(r[SLATE_OP_bytes], ns) / (1 << 20), mean_r,
	       per_s(w[SLATE_OP_ios], ns), per_s(w[SLATE_OP_bytes], ns) / (1 << 20), mean_w, waf,
	       n->ftl[SLATE_FTL_gc_units]);
}

static void print_table(const struct ctl_identity *id, const struct ctl_counters *n, const struct ctl_derived *d,
			uint64_t ns)
{
	char waf[24], raf[24], mean[24];

	fputs("\033[H\033[J", stdout);
	printf("%s (%s FTL), %.6f s of drive time; the last %.3f s\n\n", id->profile, id->ftl, (double)n->at_ns / 1e9,
	       (double)ns / 1e9);
	printf("%-8s %10s %10s %12s %8s\n", "", "per s", "MiB/s", "mean us", "errors");
	for (unsigned int op = 0; op < SLATE_WIRE_OPS; op++) {
		mean_us(n->op[op], mean);
		printf("%-8s %10.0f %10.1f %12s %8" PRIu64 "\n", ctl_op_names[op], per_s(n->op[op][SLATE_OP_ios], ns),
		       per_s(n->op[op][SLATE_OP_bytes], ns) / (1 << 20), mean, n->op[op][SLATE_OP_errors]);
	}
	ratio(d->waf, waf);
	ratio(d->raf, raf);
	printf("\nWAF %s   RAF %s   GC %" PRIu64 " runs, %" PRIu64 " units   erases %" PRIu64 "   uncorrectable %"
	       PRIu64 "   violations %" PRIu64 "\n", waf, raf, n->ftl[SLATE_FTL_gc_runs],
	       n->ftl[SLATE_FTL_gc_units], d->erases, n->nand[SLATE_NAND_uncorrectable], d->violations);
	puts("\nend with Ctrl-C");
}

static int show(struct ctl *c, const struct watch *w, const struct ctl_identity *id, struct ctl_counters *n,
		const struct ctl_counters *was, bool first)
{
	uint64_t from_ns = n->since_ns == was->since_ns ? was->at_ns : n->since_ns;
	struct ctl_derived d;

	subtract(n, was);
	ctl_derive(id, n, &d);
	if (c->json) {
		json_t *o = json_of_counters(id, n);

		json_object_set_new(o, "interval_ns", json_integer((json_int_t)(n->at_ns - from_ns)));
		return json_print(o);
	}
	if (w->terminal)
		print_table(id, n, &d, n->at_ns - from_ns);
	else
		print_line(n, &d, n->at_ns - from_ns, first);
	return fflush(stdout) ? ctl_fail(CTL_FAILED, "standard output cannot be written to") : 0;
}

int watch_run(struct ctl *c, char **words)
{
	struct ctl_counters was, now, interval;
	struct ctl_identity id;
	struct ctl_log log;
	struct watch w;
	int result = parse(words, &w);

	if (!result)
		result = ctl_identity(c, &log, &id);
	if (result)
		return result;
	ctl_free(&log);
	result = ctl_counters(c, &was);
	for (uint64_t i = 0; !result && (!w.count || i < w.count); i++) {
		rest(w.interval_ms);
		if (ctl_stopped)
			return CTL_INTERRUPTED;
		result = ctl_counters(c, &now);
		if (result)
			break;
		interval = now;
		result = show(c, &w, &id, &interval, &was, !i);
		was = now;
	}
	return result;
}
