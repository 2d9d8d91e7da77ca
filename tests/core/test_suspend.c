// SPDX-License-Identifier: GPL-2.0-or-later
/* Test host reads that suspend programs and erases: every time is computed by hand, on one die. */
#include "gc_policy.h"
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

/* Make a drive on which units 0 .. 63 are on flash, and the die is idle. */
static void make(enum ftl_suspend suspend, enum ftl_gc_mode mode)
{
	static const struct ftl_host host = { on_done, on_copy, NULL };
	struct nand_array_config c = {
		.geo = { 1, 1, 1, 1, 16, 8, UNIT, 64, 16, UNIT, 0, 1, 1 },
		.timing = { CMD, { 50000 }, { PROGRAM }, { ERASE }, 1000, .suspend_ns = SUSPEND,
			    .resume_ns = RESUME, .suspends_max = SUSPENDS },
		.payload = true };
	struct ftl_config fc = {
		.capacity_bytes = 64 * UNIT, .unit_bytes = UNIT, .buffer_units = 8,
		.gc_start_blocks = 3, .gc_stop_blocks = 4, .gc_urgent_blocks = 2, .gc_mode = mode,
		.gc_slice_pages = 4, .payload = true, .map_ns = 200, .buffer_ns = 0, .overhead_ns = 1000,
		.max_unit_reads = 64, .suspend = suspend, .timing = c.timing };

	test_array_make(&t, &c);
	fc.gc_policy = &gc_greedy;
	mount_page_ftl(&fc, &host);
	for (uint32_t unit = 0; unit < 64; unit++) {
		submit(0, FTL_WRITE, unit);
		pass_to(FTL_IDLE);
	}
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

/* Begin a program at `now`, and a flush after it, which shows when it ended. */
static uint64_t begin_program(void)
{
	submit(0, FTL_WRITE, 1);
	submit(1, FTL_FLUSH, 0);
	return now + CMD + XFER + PROGRAM;
}

static void a_read_suspends_a_program(void)
{
	uint64_t end_ns;

	make(FTL_SUSPEND_PROGRAM, FTL_GC_SLICED);
	end_ns = begin_program();
	pass_to(now + 10000);
	submit(2, FTL_READ, 0);
	pass_to(FTL_IDLE);
	EXPECT_EQ(latency(2), SUSPEND + READ + FRONT);
	EXPECT_EQ(io[2].where.host_queue_ns, 0);
	EXPECT_EQ(io[2].where.cell_ns, SUSPEND + 50000);
	EXPECT_EQ(io[1].done_ns, end_ns + SUSPEND + READ + RESUME + FRONT);
	EXPECT_EQ(suspends(), 1);
	gone();
}

/* With the knob off, or for erases only, the read waits for the program. */
static void without_it_reads_wait(void)
{
	static const enum ftl_suspend no[] = { FTL_SUSPEND_OFF, FTL_SUSPEND_ERASE };

	for (uint32_t i = 0; i < 2; i++) {
		uint64_t end_ns;

		make(no[i], FTL_GC_SLICED);
		end_ns = begin_program();
		pass_to(now + 10000);
		submit(2, FTL_READ, 0);
		pass_to(FTL_IDLE);
		EXPECT_EQ(io[2].done_ns, end_ns + READ + FRONT);
		EXPECT_EQ(io[1].done_ns, end_ns + FRONT);
		EXPECT_EQ(suspends(), 0);
		gone();
	}
}

/* While data move into the chip nothing can be suspended; the read waits for the cell phase. */
static void a_read_waits_for_the_cells_to_begin(void)
{
	uint64_t begin_ns;

	make(FTL_SUSPEND_ALL, FTL_GC_SLICED);
	begin_ns = now;
	begin_program();
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
	end_ns = begin_program() + 2 * (SUSPEND + READ + RESUME);
	pass_to(now + 10000);
	at_ns = now;
	for (uint32_t i = 2; i < 5; i++)
		submit(i, FTL_READ, 8 * i);	/* each in another block */
	pass_to(FTL_IDLE);
	EXPECT_EQ(io[2].done_ns, at_ns + SUSPEND + READ + FRONT);
	EXPECT_EQ(io[3].done_ns, at_ns + 2 * (SUSPEND + READ) + FRONT);
	EXPECT_EQ(io[1].done_ns, end_ns + FRONT);
	EXPECT_EQ(io[4].done_ns, end_ns + READ + FRONT);
	EXPECT_EQ(suspends(), 2);
	gone();
}

/* A page stays in the buffer until its program has ended, so a read of it needs no flash read. */
static void the_page_being_programmed_is_read_from_the_buffer(void)
{
	make(FTL_SUSPEND_ALL, FTL_GC_SLICED);
	begin_program();
	pass_to(now + 10000);
	submit(2, FTL_READ, 1);
	pass_to(FTL_IDLE);
	EXPECT_EQ(latency(2), FRONT);
	EXPECT_EQ(suspends(), 0);
	gone();
}

static uint64_t erases(void)
{
	struct nand_stats s;

	t.n->ops->get_stats(t.n, &s);
	return s.ops[NAND_ERASE][NAND_SRC_GC];
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
		EXPECT_EQ(suspends(), may != FTL_SUSPEND_PROGRAM);
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
