// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * bench_ftl - host requests a second of CPU time of one thread, through libslate and
 * the page FTL, closed loop: the next request is submitted when the one before is
 * complete. Each line also has the pages programmed for each host page (WAF) and the
 * NAND commands for each request, which is what a request costs.
 *
 *   bench_ftl [-p PROFILE] [-s section.key=value]... WORKLOAD...
 *
 *   rand3M[=N]    N (3,000,000) uniform random 4 KiB writes on a fresh drive
 *   fill1M[=N]    the capacity in 128 KiB writes, then N (1,000,000) random 4 KiB writes
 *   real8=TRACE   a trace ("ns device lba512 sectors op", op 1 reads) eight times, parsed
 *                 into memory before the clock starts; its 1 MiB extents are packed from
 *                 the drive's first byte on, in the order of their first use
 *   churn[=N]     on a drive that is full (precondition.fill_permille of the profile or
 *                 -s): N (1,000,000) random 4 KiB writes
 *
 * PROFILE is tests/bench/rand.ini unless named.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "slate.h"

#define UNIT 4096u
#define EXTENT (1u << 20)
#define OVERRIDES 64u

struct request {
	uint64_t offset;
	uint32_t bytes;
	bool read;
};

struct bench {
	const char *profile;
	const char *overrides[OVERRIDES + 1];
	struct slate_dev *dev;
	uint64_t now_ns, next_ns, rng;
	bool done;
};

static void on_done(void *opaque, struct ftl_io *io)
{
	(void)io;
	((struct bench *)opaque)->done = true;
}

static void on_copy(void *opaque, struct ftl_io *io, uint64_t at, void *buf, size_t len)
{
	(void)opaque; (void)at;
	if (io->op == FTL_WRITE)
		memset(buf, 0x5a, len);
}

static _Noreturn void fail(const char *what, const char *detail)
{
	fprintf(stderr, "bench_ftl: %s%s\n", what, detail);
	exit(1);
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static uint64_t rnd(struct bench *b)	/* xorshift64 (Marsaglia 2003) */
{
	b->rng ^= b->rng << 13;
	b->rng ^= b->rng >> 7;
	b->rng ^= b->rng << 17;
	return b->rng;
}

static void open_drive(struct bench *b)
{
	struct slate_options o = { .profile = b->profile, .overrides = b->overrides, .zeroes = true };
	struct ftl_host host = { on_done, on_copy, b };
	char err[SLATE_ERR_BYTES];

	if (slate_open(&o, &host, &b->dev, err))
		fail(err, "");
	b->now_ns = 0;
	b->next_ns = slate_step(b->dev, 0);
	b->rng = 88172645463325252u;
}

/* Run one request to its completion; the time is then that of its completion. */
static void run(struct bench *b, enum ftl_op op, uint64_t offset, uint64_t bytes)
{
	struct ftl_io io = { .op = op, .offset = offset, .bytes = bytes };

	b->done = false;
	slate_submit(b->dev, b->now_ns, &io);
	b->next_ns = slate_step(b->dev, b->now_ns);
	while (!b->done || b->next_ns <= io.done_ns) {
		b->now_ns = b->next_ns;
		b->next_ns = slate_step(b->dev, b->now_ns);
	}
	if (io.status != SSD_OK)
		fail("a request failed: ", ssd_strerror(io.status));
	b->now_ns = io.done_ns;
}

static void report(const struct bench *b, const char *what, uint64_t requests, double s)
{
	struct slate_stats st;
	uint64_t commands = 0, pages = 0;

	slate_get_stats(b->dev, &st);
	for (unsigned int op = 0; op < NAND_NOPS; op++)
		for (unsigned int src = 0; src < NAND_NSOURCES; src++) {
			commands += st.nand.ops[op][src];
			if (op == NAND_PROGRAM || op == NAND_COPYBACK)
				pages += st.nand.ops[op][src];
		}
	printf("%-8s %10.0f requests/s %8.1f ns/request   WAF %.3f, %.3f commands/request, %" PRIu64
	       " blocks collected, %.1f s of device time\n", what, (double)requests / s,
	       s * 1e9 / (double)requests,
	       st.ftl.host_units ? (double)pages / (double)st.ftl.host_units : 0,
	       (double)commands / (double)requests, st.ftl.gc_runs, (double)b->now_ns / 1e9);
	fflush(stdout);
	slate_close(b->dev);
}

static void random_writes(struct bench *b, uint64_t n)
{
	uint64_t units = slate_capacity(b->dev) / UNIT;

	for (uint64_t i = 0; i < n; i++)
		run(b, FTL_WRITE, rnd(b) % units * UNIT, UNIT);
}

static void bench_rand(struct bench *b, const char *what, uint64_t n)
{
	double t;

	open_drive(b);
	t = seconds();
	random_writes(b, n);
	report(b, what, n, seconds() - t);
}

static void bench_fill(struct bench *b, uint64_t n)
{
	uint64_t at, step, fills = 0;
	double t;

	open_drive(b);
	t = seconds();
	for (at = 0; at < slate_capacity(b->dev); at += step, fills++) {
		step = slate_capacity(b->dev) - at < 131072 ? slate_capacity(b->dev) - at : 131072;
		run(b, FTL_WRITE, at, step);
	}
	random_writes(b, n);
	report(b, "fill1M", fills + n, seconds() - t);
}

/* ---- a trace -------------------------------------------------------------- */

struct extents {
	uint64_t *from;		/* the trace's extent that is packed at each place */
	uint32_t *slot;		/* hash: index + 1 */
	uint32_t count, max, mask;
};

static uint64_t packed(struct extents *x, uint64_t extent)
{
	uint32_t h = (uint32_t)(extent * 0x9e3779b97f4a7c15u >> 40) & x->mask;

	while (x->slot[h] && x->from[x->slot[h] - 1] != extent)
		h = (h + 1) & x->mask;
	if (!x->slot[h]) {
		if (x->count == x->max)
			fail("the trace touches more than the drive's capacity", "");
		x->from[x->count++] = extent;
		x->slot[h] = x->count;
	}
	return x->slot[h] - 1;
}

/* A request ends at the end of an extent; the rest becomes another request. */
static uint64_t read_trace(struct bench *b, const char *path, struct request **out)
{
	struct extents x = { .max = (uint32_t)(slate_capacity(b->dev) / EXTENT), .mask = 0x1ffff };
	uint64_t n = 0, room = 1 << 16, lba, sectors;
	struct request *all = malloc(room * sizeof(*all));
	FILE *in = fopen(path, "r");
	char line[128];
	unsigned int op;

	if (!in)
		fail("cannot read the trace (unpacked text is expected): ", path);
	x.from = calloc(x.max, sizeof(*x.from));
	x.slot = calloc((size_t)x.mask + 1, sizeof(*x.slot));
	if (!all || !x.from || !x.slot || x.max > x.mask / 2)
		fail("no memory for the trace, or a drive too large for it: ", path);
	while (fgets(line, sizeof(line), in)) {
		uint64_t at, end;

		if (sscanf(line, "%*u %*u %" SCNu64 " %" SCNu64 " %u", &lba, &sectors, &op) != 3)
			fail("not a line \"ns device lba512 sectors op\": ", line);
		for (at = lba * 512, end = at + sectors * 512; at < end;) {
			uint64_t left = EXTENT - at % EXTENT, bytes = end - at < left ? end - at : left;

			if (n == room && !(all = realloc(all, (room *= 2) * sizeof(*all))))
				fail("no memory for the trace: ", path);
			all[n++] = (struct request){ packed(&x, at / EXTENT) * EXTENT + at % EXTENT,
						     (uint32_t)bytes, op == 1 };
			at += bytes;
		}
	}
	fclose(in);
	free(x.from);
	free(x.slot);
	*out = all;
	return n;
}

static void bench_real(struct bench *b, const char *path)
{
	struct request *all;
	uint64_t n;
	double t;

	open_drive(b);
	n = read_trace(b, path, &all);
	t = seconds();
	for (unsigned int times = 0; times < 8; times++)
		for (uint64_t i = 0; i < n; i++)
			run(b, all[i].read ? FTL_READ : FTL_WRITE, all[i].offset, all[i].bytes);
	report(b, "real8", 8 * n, seconds() - t);
	free(all);
}

static void workload(struct bench *b, char *arg)
{
	char *value = strchr(arg, '=');

	if (value)
		*value++ = '\0';
	if (!strcmp(arg, "rand3M"))
		bench_rand(b, arg, value ? strtoull(value, NULL, 10) : 3000000);
	else if (!strcmp(arg, "churn"))
		bench_rand(b, arg, value ? strtoull(value, NULL, 10) : 1000000);
	else if (!strcmp(arg, "fill1M"))
		bench_fill(b, value ? strtoull(value, NULL, 10) : 1000000);
	else if (!strcmp(arg, "real8") && value)
		bench_real(b, value);
	else
		fail("no such workload (rand3M, fill1M, churn, real8=TRACE): ", arg);
}

int main(int argc, char **argv)
{
	struct bench b = { .profile = "tests/bench/rand.ini" };
	unsigned int n = 0;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "-p") && i + 1 < argc)
			b.profile = argv[++i];
		else if (!strcmp(argv[i], "-s") && i + 1 < argc && n < OVERRIDES)
			b.overrides[n++] = argv[++i];
		else
			workload(&b, argv[i]);
	}
	return 0;
}
