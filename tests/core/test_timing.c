// SPDX-License-Identifier: GPL-2.0-or-later
/* Test schedules of the array computed by hand, compared exactly. */
#include "timing_drive.h"

static uint8_t page[2][4096], oob[2][64];

static struct nand_cmd cmd(enum nand_op op, uint32_t block, uint32_t pg)
{
	return (struct nand_cmd){ .op = op, .source = NAND_SRC_HOST, .ecc_words = NAND_WHOLE_PAGE,
				  .pb = NAND_WHOLE_BLOCK, .ppn = geo_ppn(&t.c.geo, (pbn_t){ block }, pg),
				  .data = page[0], .oob = oob[0] };
}

static uint64_t at(uint64_t now, enum nand_op op, uint32_t block, uint32_t pg)
{
	struct nand_cmd c = cmd(op, block, pg);

	nand_submit(t.n, now, &c, 1);
	EXPECT(c.status != NAND_VIOLATION);
	EXPECT_EQ(c.cell_ns + c.bus_ns + c.wait_host_ns + c.wait_gc_ns, c.done_ns - c.start_ns);
	return c.done_ns;
}

static void one_die(void)
{
	make(1, 1, 1);
	EXPECT_EQ(at(0, NAND_PROGRAM, 0, 0), 204260);
	EXPECT_EQ(at(204260, NAND_READ, 0, 0), 204260 + 54260);
	EXPECT_EQ(at(300000, NAND_ERASE, 0, 0), 300000 + 1000100);
	test_array_free(&t);
}

static void reads_of_two_dies_share_the_channel(void)
{
	struct nand_cmd c;

	make(1, 2, 1);
	EXPECT_EQ(at(0, NAND_READ, 0, 0), 54260);
	c = cmd(NAND_READ, 8, 0);	/* the second die's first block */
	nand_submit(t.n, 0, &c, 1);
	/* command 100..200, cell to 50200, the bus is taken until 54260 */
	EXPECT_EQ(c.done_ns, 54260 + 4160);
	EXPECT_EQ(c.cell_ns, 50000);
	EXPECT_EQ(c.bus_ns, 4260);
	EXPECT_EQ(c.wait_host_ns, 100 + 4060);
	EXPECT_EQ(c.wait_gc_ns, 0);
	test_array_free(&t);
}

static void waiting_behind_gc_is_told_apart(void)
{
	struct nand_cmd c;

	make(1, 2, 1);
	c = cmd(NAND_PROGRAM, 0, 0);
	c.source = NAND_SRC_GC;
	nand_submit(t.n, 0, &c, 1);	/* holds the bus 0..4260 */
	c = cmd(NAND_READ, 8, 0);
	nand_submit(t.n, 1000, &c, 1);
	EXPECT_EQ(c.done_ns, 4260 + 54260);
	EXPECT_EQ(c.wait_gc_ns, 3260);
	EXPECT_EQ(c.wait_host_ns, 0);
	test_array_free(&t);
}

static void a_program_uses_the_gap_before_a_reads_data(void)
{
	make(1, 2, 1);
	EXPECT_EQ(at(0, NAND_READ, 0, 0), 54260);		/* bus 0..100, 50100..54260 */
	EXPECT_EQ(at(10, NAND_PROGRAM, 8, 0), 100 + 204260);	/* bus 100..4360 */
	test_array_free(&t);
}

static void a_gap_too_small_is_left(void)
{
	make(1, 2, 1);
	EXPECT_EQ(at(0, NAND_READ, 0, 0), 54260);
	/* from 46000 there are 4100 ns before the data, and 4260 are needed */
	EXPECT_EQ(at(46000, NAND_PROGRAM, 8, 0), 54260 + 204260);
	test_array_free(&t);
}

static void two_channels_do_not_meet(void)
{
	make(2, 1, 1);
	EXPECT_EQ(at(0, NAND_PROGRAM, 0, 0), 204260);
	EXPECT_EQ(at(0, NAND_PROGRAM, 8, 0), 204260);
	test_array_free(&t);
}

static void planes_share_bus_and_cell_time(void)
{
	struct nand_cmd c[2];

	make(1, 1, 2);
	c[0] = cmd(NAND_PROGRAM, 0, 0);
	c[1] = cmd(NAND_PROGRAM, 8, 0);
	nand_submit(t.n, 0, c, 2);
	EXPECT_EQ(c[0].done_ns, 2 * 4260 + 200000);
	EXPECT_EQ(c[1].done_ns, 2 * 4260 + 200000);
	c[0] = cmd(NAND_READ, 0, 0);
	c[1] = cmd(NAND_READ, 8, 0);
	nand_submit(t.n, 300000, c, 2);
	EXPECT_EQ(c[0].done_ns, 300000 + 200 + 50000 + 4160);
	EXPECT_EQ(c[1].done_ns, 300000 + 200 + 50000 + 2 * 4160);
	c[0] = cmd(NAND_ERASE, 0, 0);
	c[1] = cmd(NAND_ERASE, 8, 0);
	nand_submit(t.n, 400000, c, 2);
	EXPECT_EQ(c[1].done_ns, 400000 + 200 + 1000000);
	test_array_free(&t);
}

static void only_the_spare_area_travels_when_no_data_are_wanted(void)
{
	struct nand_cmd c;

	make(1, 1, 1);
	c = cmd(NAND_READ, 0, 0);
	c.ecc_words = NAND_OOB_ONLY;
	nand_submit(t.n, 0, &c, 1);
	EXPECT_EQ(c.done_ns, 100 + 50000 + 64);
	test_array_free(&t);
}

/* ---- SSDSim's accounting: GC holds the channel ---------------------------- */

static uint64_t by_gc(uint64_t when, enum nand_op op, uint32_t block, uint32_t pg)
{
	struct nand_cmd c = cmd(op, block, pg);

	c.source = NAND_SRC_GC;
	c.from = geo_ppn(&t.c.geo, (pbn_t){ block }, 0);
	nand_submit(t.n, when, &c, 1);
	EXPECT(c.status != NAND_VIOLATION);
	return c.done_ns;
}

static void expect_wait_behind_gc(uint64_t when, uint64_t until)
{
	struct nand_cmd c = cmd(NAND_READ, 8, 0);

	nand_submit(t.n, when, &c, 1);
	EXPECT_EQ(c.done_ns, until + READ_ALONE);
	EXPECT_EQ(c.wait_gc_ns, until - when);
	EXPECT_EQ(c.wait_host_ns, 0);
	EXPECT_EQ(c.bus_ns, CMD + XFER);
}

static void gc_holds_the_channel_during_its_cells(void)
{
	struct nand_stats s;

	ways.held = ways.copyback = true;
	make(1, 2, 1);
	EXPECT_EQ(by_gc(0, NAND_PROGRAM, 0, 0), PROG_ALONE);
	expect_wait_behind_gc(1000, PROG_ALONE);
	EXPECT_EQ(by_gc(1000000, NAND_READ, 0, 0), 1000000 + READ_ALONE);
	expect_wait_behind_gc(1000000, 1000000 + READ_ALONE);
	EXPECT_EQ(by_gc(2000000, NAND_COPYBACK, 0, 1), 2000000 + CMD + 64 + READ + PROG);
	expect_wait_behind_gc(2000000, 2000000 + CMD + 64 + READ + PROG);
	/* an erase does not hold the channel: the read waits only for its command cycles */
	EXPECT_EQ(by_gc(3000000, NAND_ERASE, 1, 0), 3000000 + ERASE_ALONE);
	expect_wait_behind_gc(3000000, 3000000 + CMD);
	t.n->ops->get_stats(t.n, &s);
	EXPECT_EQ(s.bus_busy_ns[NAND_SRC_GC],
		  PROG_ALONE + READ_ALONE + CMD + 64 + READ + PROG + CMD);
	EXPECT_EQ(s.bus_busy_ns[NAND_SRC_HOST], 4 * (CMD + XFER));
	test_array_free(&t);
	ways = (struct ways){ 0 };
}

static void gc_wants_a_gap_for_all_of_it(void)
{
	struct nand_cmd c;

	ways.held = true;
	make(1, 2, 1);
	EXPECT_EQ(at(0, NAND_READ, 0, 0), READ_ALONE);	/* bus 0..100, 50100..54260 */
	c = cmd(NAND_READ, 8, 0);
	c.source = NAND_SRC_GC;
	nand_submit(t.n, 10, &c, 1);
	EXPECT_EQ(c.done_ns, 2 * READ_ALONE);		/* the 50000 ns before its data are not used */
	EXPECT_EQ(c.wait_host_ns, READ_ALONE - 10);
	EXPECT_EQ(c.cell_ns, READ);
	EXPECT_EQ(at(100000, NAND_PROGRAM, 0, 0), 2 * READ_ALONE + PROG_ALONE);
	test_array_free(&t);
	ways = (struct ways){ 0 };
}

int main(void)
{
	RUN(one_die);
	RUN(reads_of_two_dies_share_the_channel);
	RUN(waiting_behind_gc_is_told_apart);
	RUN(a_program_uses_the_gap_before_a_reads_data);
	RUN(a_gap_too_small_is_left);
	RUN(two_channels_do_not_meet);
	RUN(planes_share_bus_and_cell_time);
	RUN(only_the_spare_area_travels_when_no_data_are_wanted);
	RUN(gc_holds_the_channel_during_its_cells);
	RUN(gc_wants_a_gap_for_all_of_it);
	return test_result();
}
