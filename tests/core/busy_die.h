/* SPDX-License-Identifier: GPL-2.0-or-later */
/* busy_die.h - a drive of one die for tests of reads that begin while the die is busy; times are computed by hand */
#ifndef SLATE_TEST_BUSY_DIE_H
#define SLATE_TEST_BUSY_DIE_H

#include "gc_policy.h"
#include "map.h"
#include "page_drive.h"

#define UNIT 4096u		/* bytes of a page */
#define FRONT 1200u
#define CMD 100u
#define XFER (UNIT + 64u)
#define READ (CMD + 50000u + XFER)
#define PROGRAM 200000u		/* ns in which the cells change, after those of command and transfer (CMD + XFER) */
#define ERASE 1000000u		/* ns in which the cells change, after those of the command (CMD) */
#define SUSPEND 5000u
#define RESUME 3000u
#define SUSPENDS 2u

struct busy_die {
	uint32_t planes, parts;		/* parts: mapping units of a page */
	bool plane_reads;
	enum ftl_suspend suspend;
	enum ftl_gc_mode mode;
	uint32_t row;			/* reads before a waiting program; 0: the default */
};

static struct ftl_io io[8];

static void on_done(void *opaque, struct ftl_io *one)
{
	(void)opaque; (void)one;
}

static void on_copy(void *opaque, struct ftl_io *one, uint64_t at, void *buf, size_t len)
{
	(void)opaque; (void)at;
	if (one->op == FTL_WRITE)
		memset(buf, 0x5a, len);
}

/* Submit io[i], which concerns the UNIT bytes of page `unit` of the drive's addresses. */
static struct ftl_io *submit(uint32_t i, enum ftl_op op, uint32_t unit)
{
	io[i] = (struct ftl_io){ .op = op, .offset = (uint64_t)unit * UNIT, .bytes = UNIT };
	f->ops->submit(f, now, &io[i]);
	f->ops->check(f);
	return &io[i];
}

/* Make a drive of 64 pages of UNIT bytes, all written and on flash, whose die is idle. */
static void busy_die_make(const struct busy_die *d)
{
	static const struct ftl_host host = { on_done, on_copy, NULL };
	struct nand_array_config c = {
		.geo = { 1, 1, 1, d->planes, 16, 8, UNIT, 64, 16, UNIT, 0, 1, 1 },
		.timing = { CMD, { 50000 }, { PROGRAM }, { ERASE }, 1000, .suspend_ns = SUSPEND,
			    .resume_ns = RESUME, .suspends_max = SUSPENDS, .plane_reads = d->plane_reads },
		.payload = true };
	struct ftl_config fc = {
		.capacity_bytes = 64 * UNIT, .unit_bytes = UNIT / d->parts, .buffer_units = 8 * d->parts,
		.gc_start_blocks = 3, .gc_stop_blocks = 4, .gc_urgent_blocks = 2, .gc_mode = d->mode,
		.gc_slice_pages = 4, .payload = true, .map_ns = 200, .buffer_ns = 0, .overhead_ns = 1000,
		.max_unit_reads = 64, .suspend = d->suspend, .reads_in_row = d->row, .timing = c.timing };

	c.geo.oob_kept = ftl_oob_bytes(&page_ftl_ops, &fc, &c.geo);
	test_array_make(&t, &c);
	fc.gc_policy = &gc_greedy;
	mount_page_ftl(&fc, &host);
	for (uint32_t unit = 0; unit < 64; unit++) {
		submit(0, FTL_WRITE, unit);
		pass_to(FTL_IDLE);
	}
}

static struct nand_stats nand_stats(void)
{
	struct nand_stats s;

	t.n->ops->get_stats(t.n, &s);
	return s;
}

static uint64_t latency(uint32_t i)
{
	return io[i].done_ns - io[i].submit_ns;
}

/* Begin a program of the drive's page `unit` now, and a flush after it, which shows when it ended. */
static uint64_t begin_program(uint32_t unit)
{
	submit(0, FTL_WRITE, unit);
	submit(1, FTL_FLUSH, 0);
	return now + CMD + XFER + PROGRAM;
}

#endif
