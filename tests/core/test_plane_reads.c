// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test independent plane reads (timing.plane_reads): every time is computed by hand, on one die of two planes. XFER is
 * longer than CMD, so of two reads that begin together the second one's transfer waits for the first one's.
 */
#include "busy_die.h"

static void make(bool plane_reads, enum ftl_suspend suspend, uint32_t row)
{
	busy_die_make(&(struct busy_die){ .planes = 2, .parts = 1, .plane_reads = plane_reads, .suspend = suspend,
					  .mode = FTL_GC_SLICED, .row = row });
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

static uint64_t busy_ns(void)
{
	return nand_stats().die_busy_ns[NAND_SRC_HOST];
}

/* Submit two reads, of the index-th unit of plane 0 (io[2]) and of plane 1 (io[3]). */
static void read_both(uint32_t index)
{
	submit(2, FTL_READ, unit_in(0, index));
	submit(3, FTL_READ, unit_in(1, index));
}

/* Read two pages of plane 0, io[2] and io[3], then one of plane 1, io[4], which passes the second. */
static void read_past(void)
{
	submit(2, FTL_READ, unit_in(0, 0));
	submit(3, FTL_READ, unit_in(0, 1));
	submit(4, FTL_READ, unit_in(1, 0));
	pass_to(FTL_IDLE);
}

static void planes_are_read_at_once(void)
{
	for (uint32_t on = 0; on < 2; on++) {
		uint64_t before;

		make(on, FTL_SUSPEND_OFF, 0);
		before = busy_ns();
		read_both(0);
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
	read_past();
	EXPECT_EQ(latency(2), READ + FRONT);
	EXPECT_EQ(latency(4), READ + XFER + FRONT);
	/* begins when the first ends, and its command cycles wait for the transfer of the other plane's page */
	EXPECT_EQ(latency(3), READ + XFER + READ + FRONT);
	gone();
}

/* All units of an I/O in a page are one command, also if it passes another read in the queue. */
static void a_page_is_read_once(void)
{
	uint64_t before;

	busy_die_make(&(struct busy_die){ .planes = 2, .parts = 2, .plane_reads = true, .mode = FTL_GC_SLICED });
	before = nand_stats().ops[NAND_READ][NAND_SRC_HOST];
	read_past();
	EXPECT_EQ(nand_stats().ops[NAND_READ][NAND_SRC_HOST] - before, 3);
	EXPECT_EQ(latency(4), READ + XFER + FRONT);
	EXPECT_EQ(latency(3), READ + XFER + READ + FRONT);
	gone();
}

/* Reads that wait when the die is idle begin together, too. */
static void waiting_reads_begin_together(void)
{
	uint64_t end_ns;

	make(true, FTL_SUSPEND_OFF, 0);
	end_ns = begin_program(63);
	pass_to(now + 10000);
	read_both(1);
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
	read_both(0);
	begin_program(63);	/* when the reads have ended */
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
	read_both(0);
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
	end_ns = begin_program(63);
	pass_to(now + 10000);
	read_both(1);
	pass_to(FTL_IDLE);
	EXPECT_EQ(latency(2), SUSPEND + READ + FRONT);
	EXPECT_EQ(latency(3), SUSPEND + READ + XFER + FRONT);
	EXPECT_EQ(io[1].done_ns, end_ns + SUSPEND + READ + XFER + RESUME + FRONT);
	EXPECT_EQ(nand_stats().suspends, 2);
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
