// SPDX-License-Identifier: GPL-2.0-or-later
/* Test host reads that suspend programs and erases: every time is computed by hand, on one die. */
#include "busy_die.h"

static void make(enum ftl_suspend suspend, enum ftl_gc_mode mode)
{
	busy_die_make(&(struct busy_die){ .planes = 1, .parts = 1, .suspend = suspend, .mode = mode });
}

static void a_read_suspends_a_program(void)
{
	uint64_t end_ns;

	make(FTL_SUSPEND_PROGRAM, FTL_GC_SLICED);
	end_ns = begin_program(1);
	pass_to(now + 10000);
	submit(2, FTL_READ, 0);
	pass_to(FTL_IDLE);
	EXPECT_EQ(latency(2), SUSPEND + READ + FRONT);
	EXPECT_EQ(io[2].where.host_queue_ns, 0);
	EXPECT_EQ(io[2].where.cell_ns, SUSPEND + 50000);
	EXPECT_EQ(io[1].done_ns, end_ns + SUSPEND + READ + RESUME + FRONT);
	EXPECT_EQ(nand_stats().suspends, 1);
	gone();
}

/* With the knob off, or for erases only, the read waits for the program. */
static void without_it_reads_wait(void)
{
	static const enum ftl_suspend no[] = { FTL_SUSPEND_OFF, FTL_SUSPEND_ERASE };

	for (uint32_t i = 0; i < 2; i++) {
		uint64_t end_ns;

		make(no[i], FTL_GC_SLICED);
		end_ns = begin_program(1);
		pass_to(now + 10000);
		submit(2, FTL_READ, 0);
		pass_to(FTL_IDLE);
		EXPECT_EQ(io[2].done_ns, end_ns + READ + FRONT);
		EXPECT_EQ(io[1].done_ns, end_ns + FRONT);
		EXPECT_EQ(nand_stats().suspends, 0);
		gone();
	}
}

/* While data move into the chip nothing can be suspended; the read waits for the cell phase. */
static void a_read_waits_for_the_cells_to_begin(void)
{
	uint64_t begin_ns;

	make(FTL_SUSPEND_ALL, FTL_GC_SLICED);
	begin_ns = now;
	begin_program(1);
	pass_to(now + 1000);
	submit(2, FTL_READ, 0);
	pass_to(FTL_IDLE);
	EXPECT_EQ(io[2].done_ns, begin_ns + CMD + XFER + SUSPEND + READ + FRONT);
	EXPECT_EQ(io[2].where.host_queue_ns, CMD + XFER - 1000);
	gone();
}

/* Two reads suspend one command, one after the other; the third waits until it has ended. */
static void not_more_often_than_suspends_max(void)
{
	uint64_t end_ns, at_ns;

	make(FTL_SUSPEND_ALL, FTL_GC_SLICED);
	end_ns = begin_program(1) + 2 * (SUSPEND + READ + RESUME);
	pass_to(now + 10000);
	at_ns = now;
	for (uint32_t i = 2; i < 5; i++)
		submit(i, FTL_READ, 8 * i);	/* each in another block */
	pass_to(FTL_IDLE);
	EXPECT_EQ(io[2].done_ns, at_ns + SUSPEND + READ + FRONT);
	EXPECT_EQ(io[3].done_ns, at_ns + 2 * (SUSPEND + READ) + FRONT);
	EXPECT_EQ(io[1].done_ns, end_ns + FRONT);
	EXPECT_EQ(io[4].done_ns, end_ns + READ + FRONT);
	EXPECT_EQ(nand_stats().suspends, 2);
	gone();
}

/* A page stays in the buffer until its program has ended, so a read of it needs no flash read. */
static void the_page_being_programmed_is_read_from_the_buffer(void)
{
	make(FTL_SUSPEND_ALL, FTL_GC_SLICED);
	begin_program(1);
	pass_to(now + 10000);
	submit(2, FTL_READ, 1);
	pass_to(FTL_IDLE);
	EXPECT_EQ(latency(2), FRONT);
	EXPECT_EQ(nand_stats().suspends, 0);
	gone();
}

static uint64_t erases(void)
{
	return nand_stats().ops[NAND_ERASE][NAND_SRC_GC];
}

/* Advance to the time at which GC issues its next erase. */
static void pass_to_erase(void)
{
	uint64_t before = erases(), next;

	f->ops->collect(f, now, 0);
	for (next = f->ops->step(f, now); erases() == before; next = f->ops->step(f, now)) {
		SSD_ASSERT(next != FTL_IDLE);
		now = next;
	}
}

/* Test both modes of GC, with the knob set for erases only, or for all. */
static void a_read_suspends_an_erase(void)
{
	for (uint32_t i = 0; i < 6; i++) {
		enum ftl_suspend may = i % 3 == 0 ? FTL_SUSPEND_ERASE :
				       i % 3 == 1 ? FTL_SUSPEND_ALL : FTL_SUSPEND_PROGRAM;
		uint64_t at_ns;

		make(may, i < 3 ? FTL_GC_SLICED : FTL_GC_BLOCKING);
		for (uint32_t unit = 8; unit < 20; unit++) {	/* gives a block without valid pages */
			submit(0, FTL_WRITE, unit);
			pass_to(FTL_IDLE);
		}
		pass_to_erase();
		at_ns = now;
		pass_to(now + 50000);
		submit(2, FTL_READ, 0);
		pass_to(FTL_IDLE);
		if (may == FTL_SUSPEND_PROGRAM)
			EXPECT_EQ(io[2].done_ns, at_ns + CMD + ERASE + READ + FRONT);
		else
			EXPECT_EQ(latency(2), SUSPEND + READ + FRONT);
		EXPECT_EQ(nand_stats().suspends, may != FTL_SUSPEND_PROGRAM);
		gone();
	}
}

int main(void)
{
	RUN(a_read_suspends_a_program);
	RUN(without_it_reads_wait);
	RUN(a_read_waits_for_the_cells_to_begin);
	RUN(not_more_often_than_suspends_max);
	RUN(the_page_being_programmed_is_read_from_the_buffer);
	RUN(a_read_suspends_an_erase);
	return test_result();
}
