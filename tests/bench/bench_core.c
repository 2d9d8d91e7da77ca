// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * bench_core - how fast the core runs, as host requests a second of CPU time of one thread, and its
 * memory per page. Closed loop: the next request is submitted when the previous one is
 * acknowledged. Prints "name value unit" lines.
 *
 *   bench_core [REQUESTS]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "array.h"
#include "gc_policy.h"
#include "nand_geom.h"
#include "oob.h"
#include "ftl.h"

struct drive {
	struct nand_array_config c;
	struct ftl_config fc;
	struct nand *n;
	struct ftl *f;
	void *mem, *image, *ftl_mem;
	uint64_t now_ns, rng;
	size_t table_bytes;
};

static uint8_t page[16384];
static bool done;

static void on_done(void *opaque, struct ftl_io *io)
{
	(void)opaque; (void)io;
	done = true;
}

static void on_copy(void *opaque, struct ftl_io *io, uint64_t at, void *buf, size_t len)
{
	(void)opaque; (void)at;
	if (io->op == FTL_WRITE)
		memcpy(buf, page, len);
	else if (buf)
		memcpy(page, buf, len);
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static uint64_t rnd(uint64_t *s)
{
	*s ^= *s << 13;
	*s ^= *s >> 7;
	*s ^= *s << 17;
	return *s;
}

static void make(struct drive *d, bool payload, uint32_t page_bytes, uint32_t blocks)
{
	uint32_t upp = page_bytes / 4096;
	struct ftl_host host = { on_done, on_copy, NULL };
	const char *why;
	size_t array, tables, ftl;

	memset(d, 0, sizeof(*d));
	d->c.geo = (struct nand_geometry){ 8, 2, 1, 2, blocks, 64, page_bytes, 64 * upp,
					   OOB_BYTES(upp), page_bytes, 0, 1, 1 };
	d->c.timing = (struct nand_timing){ 300, { 75000 }, { 1500000 }, { 3800000 }, 1250 };
	d->c.payload = payload;
	d->fc = (struct ftl_config){
		.unit_bytes = 4096, .buffer_units = 1024, .gc_start_blocks = 26 * blocks / 512,
		.gc_stop_blocks = 26 * blocks / 512 + 1, .gc_urgent_blocks = 2, .gc_mode = FTL_GC_SLICED,
		.gc_slice_pages = 4, .multiplane = true, .payload = payload, .map_ns = 200,
		.buffer_ns = 2000, .overhead_ns = 1000, .max_unit_reads = 4096, .gc_policy = &gc_greedy };
	d->fc.capacity_bytes = geo_pages(&d->c.geo) * page_bytes * 1000 / 1150 / 4096 * 4096;
	if (ftl_validate(ftl_list[0], &d->fc, &d->c.geo, &why) || nand_array_validate(&d->c, &why)) {
		fprintf(stderr, "bench_core: %s\n", why);
		exit(1);
	}
	array = nand_array_footprint(&d->c);
	tables = nand_array_table_bytes(&d->c);
	ftl = ftl_footprint(ftl_list[0], &d->fc, &d->c.geo);
	d->table_bytes = array + tables + ftl - (size_t)d->fc.buffer_units * 4096;
	d->mem = calloc(1, array);
	d->ftl_mem = calloc(1, ftl);
	d->image = calloc(1, nand_array_image_bytes(&d->c));
	d->n = nand_array_init(d->mem, d->image, &d->c);
	if (ftl_init(ftl_list[0], d->ftl_mem, ftl, &d->fc, d->n, &host, &d->f) ||
	    d->f->ops->mount(d->f, 0, &d->now_ns))
		exit(1);
	d->rng = 88172645463325252u;
}

static void unmake(struct drive *d)
{
	free(d->mem);
	free(d->image);
	free(d->ftl_mem);
}

static void run(struct drive *d, enum ftl_op op, uint64_t offset, uint64_t bytes)
{
	struct ftl_io io = { .op = op, .offset = offset, .bytes = bytes };
	uint64_t next;

	done = false;
	d->f->ops->submit(d->f, d->now_ns, &io);
	while (!done) {
		next = d->f->ops->step(d->f, d->now_ns);
		if (!done)
			d->now_ns = next;
	}
	while (d->now_ns < io.done_ns) {	/* events due before the host continues */
		next = d->f->ops->step(d->f, d->now_ns);
		d->now_ns = next < io.done_ns ? next : io.done_ns;
	}
}

static void report(const char *what, uint64_t n, double s, const struct drive *d)
{
	const struct ftl_stats *st = d->f->ops->stats(d->f);

	printf("%-34s %10.0f requests/s   (%" PRIu64 " requests, %" PRIu64 " blocks collected)\n", what,
	       (double)n / s, n, st->gc_runs);
	fflush(stdout);
}

static void workload(const char *name, bool payload, uint64_t n)
{
	struct drive d;
	uint64_t units;
	char what[64];
	double t;

	make(&d, payload, 4096, 512);
	units = d.fc.capacity_bytes / 4096;
	t = seconds();
	for (uint64_t at = 0; at < d.fc.capacity_bytes; at += 131072)
		run(&d, FTL_WRITE, at, d.fc.capacity_bytes - at < 131072 ? d.fc.capacity_bytes - at : 131072);
	snprintf(what, sizeof(what), "fill 128 KiB, %s", name);
	report(what, d.fc.capacity_bytes / 131072, seconds() - t, &d);
	t = seconds();
	for (uint64_t i = 0; i < n; i++)
		run(&d, FTL_WRITE, rnd(&d.rng) % units * 4096, 4096);
	snprintf(what, sizeof(what), "random 4 KiB writes + GC, %s", name);
	report(what, n, seconds() - t, &d);
	t = seconds();
	for (uint64_t i = 0; i < n; i++)
		run(&d, FTL_READ, rnd(&d.rng) % units * 4096, 4096);
	snprintf(what, sizeof(what), "random 4 KiB reads, %s", name);
	report(what, n, seconds() - t, &d);
	unmake(&d);
}

static void metadata(uint32_t page_bytes)
{
	struct drive d;

	make(&d, true, page_bytes, 512);
	printf("metadata, %2u KiB pages, payload kept %10.2f bytes per 4 KiB of flash\n", page_bytes / 1024,
	       (double)d.table_bytes * 4096 / ((double)geo_pages(&d.c.geo) * page_bytes));
	unmake(&d);
	make(&d, false, page_bytes, 512);
	printf("metadata, %2u KiB pages, payload-free %10.2f bytes per 4 KiB of flash\n", page_bytes / 1024,
	       (double)d.table_bytes * 4096 / ((double)geo_pages(&d.c.geo) * page_bytes));
	unmake(&d);
}

int main(int argc, char **argv)
{
	uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 3000000;

	workload("payload-free", false, n);
	workload("with payload", true, n / 4);
	metadata(4096);
	metadata(16384);
	return 0;
}
