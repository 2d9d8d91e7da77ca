// SPDX-License-Identifier: GPL-2.0-or-later
/* report.c - prints the results of slate-load, as text or as JSON. */
#include "load.h"
#include "plural.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <string.h>

static const struct {
	const char *name, *head;
	uint32_t millionths;
} percentiles[] = {
	{ "p50_ns", "50 %", 500000 }, { "p90_ns", "90 %", 900000 }, { "p99_ns", "99 %", 990000 },
	{ "p999_ns", "99.9 %", 999000 },
};
#define NPERCENTILES (sizeof(percentiles) / sizeof(percentiles[0]))

bool report_fell_short(const struct load *l)
{
	return l->o.open && (unsigned __int128)l->account.late * 1000 >
			    (unsigned __int128)l->o.late_permille * l->submitted;
}

static double seconds(const struct load *l)
{
	return (double)l->account.end_ns / 1e9;
}

static double per_s(uint64_t n, uint64_t ns)
{
	return ns ? (double)n * 1e9 / (double)ns : 0;
}

static void print_text(const struct load *l)
{
	const struct load_account *a = &l->account;

	printf("%s on %s (%s, %u bytes a block); %s\n", trace_name(l->trace), l->o.device,
	       l->dev.passthrough ? "NVMe passthrough" : "io_uring", l->dev.block_bytes,
	       l->o.open ? "at the trace's times" : "closed loop");
	printf("%" PRIu64 " request%s in %.6f s, at most %u in flight", l->completed, plural(l->completed), seconds(l),
	       l->deepest);
	if (l->placed.folded)
		printf(", %" PRIu64 " folded", l->placed.folded);
	if (l->placed.scaled)
		printf(", %" PRIu64 " scaled from %" PRIu64 " bytes", l->placed.scaled, l->extent);
	if (l->placed.moved)
		printf(", %" PRIu64 " moved down from across the end", l->placed.moved);
	if (l->placed.clipped)
		printf(", %" PRIu64 " trim%s clipped to the drive or extent", l->placed.clipped,
		       plural(l->placed.clipped));
	if (l->placed.split)
		printf(", %" PRIu64 " trim%s split at the end", l->placed.split, plural(l->placed.split));
	if (l->placed.trims_left_out)
		printf(", %" PRIu64 " trim%s left out, covering no whole unit", l->placed.trims_left_out,
		       plural(l->placed.trims_left_out));
	if (l->placed.aligned)
		printf(", %" PRIu64 " widened to blocks (trims: shrunk)", l->placed.aligned);
	if (l->placed.zero_size)
		printf(", %" PRIu64 " of no bytes left out", l->placed.zero_size);
	if (l->bad)
		printf(", %" PRIu64 " bad row%s", l->bad, plural(l->bad));
	printf("\n%-6s %10s %10s %10s %10s", "us", "requests", "MiB", "per s", "mean");
	for (size_t i = 0; i < NPERCENTILES; i++)
		printf(" %10s", percentiles[i].head);
	printf(" %10s %7s\n", "max", "errors");
	for (unsigned int op = 0; op < LOAD_NOPS; op++) {
		const struct hist *h = &a->hist[op];

		if (!h->count)
			continue;
		printf("%-6s %10" PRIu64 " %10.1f %10.0f %10.1f", load_op_name(op), h->count,
		       (double)a->bytes[op] / (1 << 20), per_s(h->count, a->end_ns),
		       (double)h->sum_ns / (double)h->count / 1e3);
		for (size_t i = 0; i < NPERCENTILES; i++)
			printf(" %10.1f", (double)hist_percentile(h, percentiles[i].millionths) / 1e3);
		printf(" %10.1f %7" PRIu64 "\n", (double)h->max_ns / 1e3, a->errors[op]);
	}
	if (l->o.open)
		printf("asked for %.0f requests/s, submitted %.0f; late by more than %" PRIu64 " us: %" PRIu64
		       ", worst %.1f us\n", per_s(l->submitted, a->last_due_ns),
		       per_s(l->submitted, a->last_submit_ns), l->o.late_ns / 1000, a->late,
		       (double)a->worst_late_ns / 1e3);
}

static json_t *count(uint64_t v)
{
	return json_integer((json_int_t)v);
}

static json_t *op_object(const struct load *l, unsigned int op)
{
	const struct hist *h = &l->account.hist[op];
	json_t *o = json_object();

	json_object_set_new(o, "requests", count(h->count));
	json_object_set_new(o, "bytes", count(l->account.bytes[op]));
	json_object_set_new(o, "errors", count(l->account.errors[op]));
	json_object_set_new(o, "latency_sum_ns", count(h->sum_ns));
	json_object_set_new(o, "min_ns", count(h->count ? h->min_ns : 0));
	json_object_set_new(o, "max_ns", count(h->max_ns));
	for (size_t i = 0; i < NPERCENTILES; i++)
		json_object_set_new(o, percentiles[i].name, count(hist_percentile(h, percentiles[i].millionths)));
	return o;
}

static json_t *make_json(const struct load *l)
{
	const struct load_account *a = &l->account;
	json_t *o = json_object(), *ops = json_object(), *t = json_object(), *late = json_object();
	char sha256[TRACE_SHA256_CHARS];

	json_object_set_new(o, "slate_load", json_integer(1));
	json_object_set_new(o, "device", json_string(l->o.device));
	json_object_set_new(o, "engine", json_string(l->dev.passthrough ? "nvme-passthrough" : "io_uring"));
	json_object_set_new(o, "capacity_bytes", count(l->dev.capacity));
	json_object_set_new(o, "block_bytes", count(l->dev.block_bytes));
	json_object_set_new(o, "loop", json_string(l->o.open ? "open" : "closed"));
	json_object_set_new(o, "depth", count(l->o.depth));
	json_object_set_new(o, "speed", json_real((double)l->o.speed / TRACE_SPEED_ONE));
	json_object_set_new(t, "name", json_string(trace_name(l->trace)));
	json_object_set_new(t, "format", json_string(trace_format_names[trace_format(l->trace)]));
	if (trace_sha256(l->trace, sha256))
		json_object_set_new(t, "sha256", json_string(sha256));
	json_object_set_new(t, "bad", count(l->bad));
	json_object_set_new(t, "backwards", count(l->backwards));
	json_object_set_new(t, "zero_size", count(l->placed.zero_size));
	json_object_set_new(t, "aligned", count(l->placed.aligned));
	json_object_set_new(t, "folded", count(l->placed.folded));
	json_object_set_new(t, "scaled", count(l->placed.scaled));
	json_object_set_new(t, "moved", count(l->placed.moved));
	json_object_set_new(t, "clipped", count(l->placed.clipped));
	json_object_set_new(t, "split", count(l->placed.split));
	json_object_set_new(t, "trims_left_out", count(l->placed.trims_left_out));
	json_object_set_new(o, "trace", t);
	json_object_set_new(o, "requests", count(l->completed));
	json_object_set_new(o, "duration_ns", count(a->end_ns));
	json_object_set_new(o, "fixed_commands", count(a->fixed));
	json_object_set_new(o, "deepest", count(l->deepest));
	for (unsigned int op = 0; op < LOAD_NOPS; op++)
		json_object_set_new(ops, load_op_name(op), op_object(l, op));
	json_object_set_new(o, "ops", ops);
	json_object_set_new(late, "limit_ns", count(l->o.late_ns));
	json_object_set_new(late, "requests", count(l->o.open ? a->late : 0));
	json_object_set_new(late, "worst_ns", count(a->worst_late_ns));
	json_object_set_new(late, "sum_ns", count(a->late_sum_ns));
	json_object_set_new(late, "last_due_ns", count(a->last_due_ns));
	json_object_set_new(late, "last_submit_ns", count(a->last_submit_ns));
	json_object_set_new(late, "fell_short", json_boolean(report_fell_short(l)));
	json_object_set_new(o, "late", late);
	return o;
}

static int write_json(const struct load *l)
{
	bool to_stdout = !strcmp(l->o.json, "-");
	json_t *o = make_json(l);
	FILE *f = to_stdout ? stdout : fopen(l->o.json, "we");
	bool bad = !f || json_dumpf(o, f, JSON_INDENT(2)) || fputc('\n', f) == EOF || fflush(f);
	int error = errno;

	json_decref(o);
	if (f && !to_stdout && fclose(f))
		bad = true;
	return bad ? load_fail(LOAD_FAILED, "--json %s: %s: name a file that can be written", l->o.json,
			       strerror(error)) : 0;
}

int report(struct load *l)
{
	int result = l->o.json ? write_json(l) : 0;

	if (l->o.json && !strcmp(l->o.json, "-"))
		return result;
	print_text(l);
	if (fflush(stdout) || ferror(stdout))
		result = load_fail(LOAD_FAILED, "standard output cannot be written to: free some space, or send "
				   "it elsewhere");
	return result;
}
