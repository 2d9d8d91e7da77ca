// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * bench_gc - the cost of GC for write-through FTLs, in virtual time: the figures of
 * docs/results/bench/superblock.md, equal on any machine. The drive is filled in order, then rewritten by one
 * workload, one write after another; only the second half of these writes is counted.
 *
 *   bench_gc -p PROFILE [-s section.key=value]... [-n PAGES]
 *
 * Workloads, of N (60,000) pages: `uniform` single pages anywhere; `hot` four of five
 * of them in a fifth of the drive; `runs` 1 to 128 pages in order, anywhere; `files` 64 pages
 * that begin at a multiple of 64, four of five in a fifth of the drive.
 *
 * A line: WAF (pages programmed / written), the mean time of a page's write, pages moved and
 * time of GC per 1000 pages written, merges, M-Merges.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "slate.h"

#define OVERRIDES 64u

struct bench {
	struct slate_dev *dev;
	uint64_t now_ns, rng, pages, page_bytes;
	bool done;
};

static void on_done(void *opaque, struct ftl_io *io)
{
	(void)io;
	((struct bench *)opaque)->done = true;
}

static uint64_t rnd(struct bench *b)	/* xorshift64* (Vigna 2016) */
{
	b->rng ^= b->rng >> 12;
	b->rng ^= b->rng << 25;
	b->rng ^= b->rng >> 27;
	return b->rng * 0x2545f4914f6cdd1du;
}

static void write_pages(struct bench *b, uint64_t page, uint64_t count)
{
	struct ftl_io io = { .op = FTL_WRITE, .offset = page * b->page_bytes,
			     .bytes = count * b->page_bytes };

	b->done = false;
	slate_submit(b->dev, b->now_ns, &io);
	while (!b->done) {
		uint64_t next = slate_step(b->dev, b->now_ns);

		if (!b->done)
			b->now_ns = next;
	}
	if (io.status != SSD_OK) {
		fprintf(stderr, "bench_gc: a write failed: %s\n", ssd_strerror(io.status));
		exit(1);
	}
	if (io.done_ns > b->now_ns)
		b->now_ns = io.done_ns;
}

static uint64_t somewhere(struct bench *b, bool hot)
{
	return rnd(b) % (hot && rnd(b) % 5 ? b->pages / 5 : b->pages);
}

/* Run the workload; returns the number of pages written. */
static uint64_t one(struct bench *b, const char *workload)
{
	uint64_t page, count = 1;

	if (!strcmp(workload, "runs")) {
		page = somewhere(b, false);
		count = 1 + rnd(b) % 128;
	} else if (!strcmp(workload, "files")) {
		page = somewhere(b, true) / 64 * 64;
		count = 64;
	} else {
		page = somewhere(b, !strcmp(workload, "hot"));
	}
	if (count > b->pages - page)
		count = b->pages - page;
	write_pages(b, page, count);
	return count;
}

static void run(const struct slate_options *o, const char *workload, uint64_t n)
{
	struct bench b = { .rng = 1 };
	const struct ftl_host host = { .done = on_done, .opaque = &b };
	struct slate_stats was, is;
	char err[SLATE_ERR_BYTES];
	uint64_t written = 0, before_ns, moved;
	double k;

	if (slate_open(o, &host, &b.dev, err)) {
		fprintf(stderr, "bench_gc: %s\n", err);
		exit(1);
	}
	b.page_bytes = slate_unit_bytes(b.dev);
	b.pages = slate_capacity(b.dev) / b.page_bytes;
	for (uint64_t page = 0; page < b.pages; page += 16)
		write_pages(&b, page, b.pages - page < 16 ? b.pages - page : 16);
	while (written < n / 2)
		written += one(&b, workload);
	slate_get_stats(b.dev, &was);
	before_ns = b.now_ns;
	written = 0;
	while (written < n / 2)
		written += one(&b, workload);
	slate_get_stats(b.dev, &is);
	moved = is.ftl.gc_units - was.ftl.gc_units;
	k = (double)written / 1000;
	printf("%-8s WAF %6.3f  write %8.1f us  moved %7.1f  GC %8.2f ms  merges %6" PRIu64
	       "  M-Merges %6" PRIu64 "\n", workload, 1 + (double)moved / (double)written,
	       (double)(b.now_ns - before_ns) / k / 1e6, (double)moved / k,
	       (double)(is.ftl.gc_ns - was.ftl.gc_ns) / k / 1e6, is.ftl.merges - was.ftl.merges,
	       is.ftl.mmerges - was.ftl.mmerges);
	slate_close(b.dev);
}

int main(int argc, char **argv)
{
	static const char *const workloads[] = { "uniform", "hot", "runs", "files" };
	const char *overrides[OVERRIDES + 2] = { "ftl.payload=no" };
	struct slate_options o = { .overrides = overrides };
	uint64_t n = 60000;
	uint32_t set = 1;

	for (int i = 1; i < argc; i += 2) {
		if (i + 1 == argc || strlen(argv[i]) != 2 || !strchr("psn", argv[i][1]) || set > OVERRIDES) {
			fprintf(stderr, "usage: bench_gc -p PROFILE [-s section.key=value]... [-n PAGES]\n");
			return 2;
		}
		if (argv[i][1] == 'p')
			o.profile = argv[i + 1];
		else if (argv[i][1] == 's')
			overrides[set++] = argv[i + 1];
		else
			n = strtoull(argv[i + 1], NULL, 10);
	}
	for (size_t i = 0; i < sizeof(workloads) / sizeof(*workloads); i++)
		run(&o, workloads[i], n);
	return 0;
}
