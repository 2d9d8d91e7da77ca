/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * timing_ftl.h - a page FTL on the array of timing_drive.h, for tests of its times.
 */
#ifndef TIMING_FTL_H
#define TIMING_FTL_H

#include "timing_drive.h"

#define MAP 200u
#define BUFFER 2000u
#define OVERHEAD 1000u
#define FRONT (MAP + OVERHEAD)
#define GC_ALL (READ_ALONE + PROG_ALONE + ERASE_ALONE)

static struct ftl *f;
static void *mem;
static uint64_t now, next;
static struct ftl_io done_io[64];
static uint32_t reads_in_row;	/* ftl.reads_in_row of the drive that is opened next; 0: its default, 8 */
static bool capacitors;		/* setting of the next drive */
static uint32_t done_count;

static inline void on_done(void *opaque, struct ftl_io *io)
{
	(void)opaque;
	done_io[done_count++ % 64] = *io;
}

static inline void on_copy(void *opaque, struct ftl_io *io, uint64_t where, void *buf, size_t len)
{
	(void)opaque; (void)io; (void)where;
	if (io->op == FTL_WRITE)
		memset(buf, 1, len);
}

static inline void ftl_make(uint32_t channels, uint32_t chips, uint32_t units, uint32_t buffer,
		     enum ftl_gc_mode gc)
{
	struct ftl_config c = {
		.capacity_bytes = units * 4096ull, .unit_bytes = ways.unit ? ways.unit : 4096,
		.buffer_units = buffer,
		.gc_start_blocks = 4, .gc_stop_blocks = ways.stop ? ways.stop : 4, .gc_mode = gc,
		.gc_urgent_blocks = ways.urgent ? ways.urgent : 1,
		.gc_slice_pages = 1, .multiplane = true, .gc_multiplane = ways.together, .payload = true,
		.map_ns = MAP,
		.buffer_ns = BUFFER, .overhead_ns = OVERHEAD, .max_unit_reads = 64,
		.gc_policy = &gc_greedy, .parallel_erase = ways.pairs,
		.second_victim_pages = ways.second_pages,
		.gc_subpage_reads = ways.subpage ? FTL_WORDS_YES : FTL_WORDS_NO,
		.gc_copyback = ways.gc_copyback, .accounting = ways.accounting,
		.reads_in_row = reads_in_row, .power_protected = capacitors,
	};
	struct ftl_host host = { on_done, on_copy, NULL };
	size_t len;

	make(channels, chips, ways.planes ? ways.planes : 1);
	len = ftl_footprint(ftl_list[0], &c, &t.c.geo);
	mem = calloc(1, len);
	SSD_ASSERT(ftl_init(ftl_list[0], mem, len, &c, t.n, &host, &f) == SSD_OK);
	SSD_ASSERT(f->ops->mount(f, 0, &now) == SSD_OK);
	done_count = 0;
	next = FTL_IDLE;
}

static inline void ftl_free(void)
{
	test_array_free(&t);
	free(mem);
	ways = (struct ways){ 0 };
	capacitors = false;
}

static inline void give(struct ftl_io *io)
{
	f->ops->submit(f, now, io);
	next = f->ops->step(f, now);
}

/* A check costs O(pages), so a case of many requests checks only sometimes. */
static uint32_t checks_every = 1, checks_left;

/* Step until n I/Os in all are reported done, or nothing is left to do. */
static inline void until_done(uint32_t n)
{
	while (done_count < n && next != FTL_IDLE) {
		now = next;
		next = f->ops->step(f, now);
		if (checks_left) {
			checks_left--;
		} else {
			f->ops->check(f);
			checks_left = checks_every - 1;
		}
	}
}

static inline void settle(void)
{
	while (next != FTL_IDLE)
		until_done(~0u);
}

static inline struct ftl_io *last(void)
{
	return &done_io[(done_count - 1) % 64];
}

static inline uint64_t run(enum ftl_op op, uint32_t lpn, uint32_t units)
{
	struct ftl_io io = { .op = op, .offset = lpn * 4096ull, .bytes = units * 4096ull };
	uint32_t before = done_count;

	give(&io);
	until_done(before + 1);
	if (last()->done_ns > now)
		now = last()->done_ns;
	next = f->ops->step(f, now);
	return last()->done_ns - last()->submit_ns;
}

#endif /* TIMING_FTL_H */
