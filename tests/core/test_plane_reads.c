// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test independent plane reads (timing.plane_reads): every time is computed by hand, on one die of two planes. XFER is
 * longer than CMD, so of two reads that begin together the second one's transfer waits for the first one's.
 */
#include "gc_policy.h"
#include "map.h"
#include "page_drive.h"

#define UNIT 4096u
#define FRONT 1200u
#define CMD 100u
#define XFER (UNIT + 64u)
#define READ (CMD + 50000u + XFER)
#define PROGRAM 200000u		/* cell phase, after CMD + XFER */
#define ERASE 1000000u		/* cell phase, after CMD */
#define SUSPEND 5000u
#define RESUME 3000u
#define SUSPENDS 2u
#define PLANES 2u

static struct ftl_io io[8];
static uint32_t reported;

static void on_done(void *opaque, struct ftl_io *one)
{
	(void)opaque; (void)one;
	reported++;
}

static void on_copy(void *opaque, struct ftl_io *one, uint64_t at, void *buf, size_t len)
{
	(void)opaque; (void)at;
	if (one->op == FTL_WRITE)
		memset(buf, 0x5a, len);
}

static struct ftl_io *submit(uint32_t i, enum ftl_op op, uint32_t unit)
{
	io[i] = (struct ftl_io){ .op = op, .offset = (uint64_t)unit * UNIT, .bytes = UNIT };
	f->ops->submit(f, now, &io[i]);
	f->ops->check(f);
	return &io[i];
}

/*
 * Make a drive on which units 0 .. 63 of UNIT bytes, a page each, are on flash, and the die is idle. row: reads before
 * a waiting program; parts: mapping units of a page
 */
static void make_of(bool plane_reads, enum ftl_suspend suspend, uint32_t row, uint32_t parts)
{
	static const struct ftl_host host = { on_done, on_copy, NULL };
	struct nand_array_config c = {
		.geo = { 1, 1, 1, PLANES, 16, 8, UNIT, 64, 16, UNIT, 0, 1, 1 },
		.timing = { CMD, { 50000 }, { PROGRAM }, { ERASE }, 1000, .suspend_ns = SUSPEND,
			    .resume_ns = RESUME, .suspends_max = SUSPENDS, .plane_reads = plane_reads },
		.payload = true };
	struct ftl_config fc = {
		.capacity_bytes = 64 * UNIT, .unit_bytes = UNIT / parts, .buffer_units = 8 * parts,
		.gc_start_blocks = 3, .gc_stop_blocks = 4, .gc_urgent_blocks = 2, .gc_mode = FTL_GC_SLICED,
		.gc_slice_pages = 4, .payload = true, .map_ns = 200, .buffer_ns = 0, .overhead_ns = 1000,
		.max_unit_reads = 64, .suspend = suspend, .reads_in_row = row, .timing = c.timing };

	c.geo.oob_kept = ftl_oob_bytes(&page_ftl_ops, &fc, &c.geo);
	test_array_make(&t, &c);
	fc.gc_policy = &gc_greedy;
	mount_page_ftl(&fc, &host);
	for (uint32_t unit = 0; unit < 64; unit++) {
		submit(0, FTL_WRITE, unit);
		pass_to(FTL_IDLE);
	}
}

static void make(bool plane_reads, enum ftl_suspend suspend, uint32_t row)
{
	make_of(plane_reads, suspend, row, 1);
}

/* Returns the index-th unit that is on flash in the plane. */
static uint32_t unit_in(uint32_t plane, uint32_t index)
{
	for (uint32_t unit = 0; unit < 64; unit++) {
		uint32_t upp = page_ftl_of(f)->shape.upp;
		struct uread r = { .lpn = unit * upp };
		uint32_t block = map_upn_of(page_ftl_of(f), &r) / upp / 8;	/* of 8 pages */

		if (block / 16 == plane && !index--)
			return unit;
	}
	SSD_ASSERT(!"no such unit");
	return 0;
}

static uint64_t suspends(void)
{
	struct nand_stats s;

	t.n->ops->get_stats(t.n, &s);
	return s.suspends;
}

static uint64_t latency(uint32_t i)
{
	return io[i].done_ns - io[i].submit_ns;
}

static uint64_t busy_ns(void)
{
	struct nand_stats s;

	t.n->ops->get_stats(t.n, &s);
	return s.die_busy_ns[NAND_SRC_HOST];
}

static void planes_are_read_at_once(void)
{
	for (uint32_t on = 0; on < 2; on++) {
		uint64_t before;

		make(on, FTL_SUSPEND_OFF, 0);
		before = busy_ns();
		submit(2, FTL_READ, unit_in(0, 0));
		submit(3, FTL_READ, unit_in(1, 0));
		pass_to(FTL_IDLE);
		EXPECT_EQ(latency(2), READ + FRONT);
		EXPECT_EQ(latency(3), (on ? READ + XFER : 2 * READ) + FRONT);
		EXPECT_EQ(io[3].where.host_queue_ns, on ? XFER : READ);
		EXPECT_EQ(busy_ns() - before, on ? READ + XFER : 2 * READ);
		gone();
	}
}

/* The second read of a plane waits for the first; one of the other plane passes it in the queue. */
static void a_plane_reads_one_page_at_a_time(void)
{
	make(true, FTL_SUSPEND_OFF, 0);
	submit(2, FTL_READ, unit_in(0, 0));
	submit(3, FTL_READ, unit_in(0, 1));
	submit(4, FTL_READ, unit_in(1, 0));
	pass_to(FTL_IDLE);
	EXPECT_EQ(latency(2), READ + FRONT);
	EXPECT_EQ(latency(4), READ + XFER + FRONT);
	/* begins when the first ends, and its command cycles wait for the transfer of the other plane's page */
	EXPECT_EQ(latency(3), READ + XFER + READ + FRONT);
	gone();
}

/* All units of an I/O in a page are one command, also if it passes another read in the queue. */
static void a_page_is_read_once(void)
{
	struct nand_stats before, after;

	make_of(true, FTL_SUSPEND_OFF, 0, 2);
	t.n->ops->get_stats(t.n, &before);
	submit(2, FTL_READ, unit_in(0, 0));
	submit(3, FTL_READ, unit_in(0, 1));
	submit(4, FTL_READ, unit_in(1, 0));
	pass_to(FTL_IDLE);
	t.n->ops->get_stats(t.n, &after);
	EXPECT_EQ(after.ops[NAND_READ][NAND_SRC_HOST] - before.ops[NAND_READ][NAND_SRC_HOST], 3);
	EXPECT_EQ(latency(4), READ + XFER + FRONT);
	EXPECT_EQ(latency(3), READ + XFER + READ + FRONT);
	gone();
}

/* Reads that wait when the die is idle begin together, too. */
static void waiting_reads_begin_together(void)
{
	uint64_t end_ns;

	make(true, FTL_SUSPEND_OFF, 0);
	submit(0, FTL_WRITE, 63);
	end_ns = now + CMD + XFER + PROGRAM;
	pass_to(now + 10000);
	submit(2, FTL_READ, unit_in(0, 1));
	submit(3, FTL_READ, unit_in(1, 1));
	pass_to(FTL_IDLE);
	EXPECT_EQ(io[2].done_ns, end_ns + READ + FRONT);
	EXPECT_EQ(io[3].done_ns, end_ns + READ + XFER + FRONT);
	gone();
}

/* After reads_in_row reads a waiting program has the next turn, though a plane is idle before. */
static void reads_do_not_starve_a_program(void)
{
	uint64_t at_ns, end_ns;

	make(true, FTL_SUSPEND_OFF, 2);
	at_ns = now;
	submit(2, FTL_READ, unit_in(0, 0));
	submit(3, FTL_READ, unit_in(1, 0));
	submit(0, FTL_WRITE, 63);
	submit(1, FTL_FLUSH, 0);
	pass_to(now + READ + 1);
	submit(4, FTL_READ, unit_in(0, 1));
	pass_to(FTL_IDLE);
	end_ns = at_ns + READ + XFER + CMD + XFER + PROGRAM;
	EXPECT_EQ(io[1].done_ns, end_ns + FRONT);
	EXPECT_EQ(io[4].done_ns, end_ns + READ + FRONT);
	gone();
}

/* Without a program that waits they go on. */
static void reads_go_on_if_nothing_else_waits(void)
{
	uint64_t at_ns;

	make(true, FTL_SUSPEND_OFF, 2);
	at_ns = now;
	submit(2, FTL_READ, unit_in(0, 0));
	submit(3, FTL_READ, unit_in(1, 0));
	pass_to(now + READ + 1);
	submit(4, FTL_READ, unit_in(0, 1));
	pass_to(FTL_IDLE);
	/* command cycles wait for the transfer of the other plane's page */
	EXPECT_EQ(io[4].done_ns, at_ns + READ + XFER + READ + FRONT);
	gone();
}

/* Two reads suspend a program together: the second takes no suspension of its own. */
static void two_reads_suspend_one_program(void)
{
	uint64_t end_ns;

	make(true, FTL_SUSPEND_ALL, 0);
	submit(0, FTL_WRITE, 63);
	submit(1, FTL_FLUSH, 0);
	end_ns = now + CMD + XFER + PROGRAM;
	pass_to(now + 10000);
	submit(2, FTL_READ, unit_in(0, 1));
	submit(3, FTL_READ, unit_in(1, 1));
	pass_to(FTL_IDLE);
	EXPECT_EQ(latency(2), SUSPEND + READ + FRONT);
	EXPECT_EQ(latency(3), SUSPEND + READ + XFER + FRONT);
	EXPECT_EQ(io[1].done_ns, end_ns + SUSPEND + READ + XFER + RESUME + FRONT);
	EXPECT_EQ(suspends(), 2);
	gone();
}

int main(void)
{
	RUN(planes_are_read_at_once);
	RUN(a_plane_reads_one_page_at_a_time);
	RUN(a_page_is_read_once);
	RUN(waiting_reads_begin_together);
	RUN(reads_do_not_starve_a_program);
	RUN(reads_go_on_if_nothing_else_waits);
	RUN(two_reads_suspend_one_program);
	return test_result();
}
