/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_drive.h - a page FTL of 14 units of 4 KiB on the array of timing_drive.h, of which one request at a time is
 * executed. A test sets the configuration `c` (from unit_config()) and the array, calls unit_begin(), and has its own
 * on_copy().
 */
#ifndef SLATE_UNIT_DRIVE_H
#define SLATE_UNIT_DRIVE_H

#include "timing_drive.h"

#define UNITS 14u
#define SECTORS 8u		/* of a unit */

static struct ftl *f;
static void *mem;
static size_t len;
static struct ftl_config c;
static uint64_t now, next;

/* Move bytes of a request between the test's buffer and the drive, as ftl_host.copy does. */
static void on_copy(void *opaque, struct ftl_io *io, uint64_t at, void *buf, size_t bytes);

static inline void on_done(void *opaque, struct ftl_io *io)
{
	(void)opaque;
	(void)io;
}

static inline struct ftl_config unit_config(void)
{
	return (struct ftl_config){
		.capacity_bytes = UNITS * 4096, .unit_bytes = 4096, .buffer_units = 4, .gc_start_blocks = 4,
		.gc_stop_blocks = 4, .gc_urgent_blocks = 1, .gc_slice_pages = 1, .gc_mode = FTL_GC_SLICED,
		.payload = true, .map_ns = 200, .buffer_ns = 2000, .overhead_ns = 1000, .max_unit_reads = 64,
		.gc_policy = &gc_greedy,
	};
}

static inline void mount(void)
{
	const struct ftl_host host = { on_done, on_copy, NULL };

	memset(mem, 0, len);
	SSD_ASSERT(ftl_init(ftl_list[0], mem, len, &c, t.n, &host, &f) == SSD_OK);
	SSD_ASSERT(f->ops->mount(f, 0, &now) == SSD_OK);
	f->ops->check(f);
	next = f->ops->step(f, now);
}

/* The array is made. */
static inline void unit_begin(void)
{
	len = ftl_footprint(ftl_list[0], &c, &t.c.geo);
	mem = calloc(1, len);
	mount();
}

static inline void drive_free(void)
{
	test_array_free(&t);
	free(mem);
	ways = (struct ways){ 0 };
}

static inline void settle(void)
{
	while (next != FTL_IDLE) {
		now = next;
		next = f->ops->step(f, now);
		f->ops->check(f);
	}
}

/* Execute a request; returns its status when it has ended. */
static inline enum ssd_err run_io(struct ftl_io io)
{
	f->ops->submit(f, now, &io);
	next = f->ops->step(f, now);
	while (f->ops->inflight(f)) {
		now = next;
		next = f->ops->step(f, now);
	}
	if (io.done_ns > now) {
		now = io.done_ns;
		next = f->ops->step(f, now);
	}
	return io.status;
}

#endif
