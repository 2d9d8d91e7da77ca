// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test every pair of commands, one after the other at the same moment, on two dies of one
 * channel, on one die, and on two planes of one die. The times were computed by
 * hand from
 *
 *                 bus before   cells     bus after
 *   read             100        50000       1024     a page of 512 bytes at 2 ns
 *   sub-page         100        30000        512     one of its two ECC words
 *   program         1124       200000          -
 *   erase            100      1000000          -
 *   partial erase    100       900000          -
 *   copyback         100       250000          -     50000 + 200000
 */
#include "test.h"

enum kind { READ, SUB, PROGRAM, ERASE, PARTIAL, COPYBACK, KINDS };

static const char *const names[KINDS] = { "read", "sub-page", "program", "erase", "partial", "copyback" };

static struct test_array t;
static uint64_t now;
static uint8_t data[512];

static void make(void)
{
	struct nand_array_config c = {
		.geo = { .channels = 1, .chips_per_channel = 2, .dies_per_chip = 1, .planes_per_die = 2,
			 .blocks_per_plane = 4, .pages_per_block = 4, .page_bytes = 512, .oob_bytes = 16,
			 .oob_kept = 16, .ecc_word_bytes = 256, .pb_levels = 1, .erase_group_max = 1,
			 .bits_per_cell = 1, .subpage = NAND_SUBPAGE_SPREAD, .copyback = true },
		.timing = { .cmd_ns = 100, .read_ns = { 50000 }, .program_ns = { 200000 },
			    .erase_ns = { 1000000, 900000 }, .bus_ps_per_byte = 2000,
			    .oob_off_bus = true, .subread_base_ns = 30000 },
		.physics.disturb_tolerance = 255, .payload = true };

	test_array_make(&t, &c);
	now = 0;
	for (uint32_t plane = 0; plane < 4; plane++) {		/* something to read and copy */
		struct nand_cmd p = { .op = NAND_PROGRAM, .ppn = geo_ppn(&c.geo, (pbn_t){ plane * 4 }, 0),
				      .data = data };

		nand_submit(t.n, now, &p, 1);
		now = p.done_ns;
	}
}

static struct nand_cmd command(enum kind k, uint32_t plane)
{
	static const enum nand_op ops[KINDS] = { NAND_READ, NAND_READ, NAND_PROGRAM, NAND_ERASE,
						 NAND_ERASE, NAND_COPYBACK };
	const struct nand_geometry *g = &t.c.geo;
	uint32_t block = plane * 4, page = k == PROGRAM || k == COPYBACK;

	if (k == ERASE || k == PARTIAL || k == COPYBACK)
		block++;
	if (k == COPYBACK)
		page = 0;
	return (struct nand_cmd){ .op = ops[k], .source = NAND_SRC_HOST,
				  .ecc_words = k == SUB ? 1 : NAND_WHOLE_PAGE,
				  .pb = k == PARTIAL ? 3 : 1, .ppn = geo_ppn(g, (pbn_t){ block }, page),
				  .from = geo_ppn(g, (pbn_t){ plane * 4 }, 0), .data = data };
}

static void expect(const char *where, enum kind a, enum kind b, uint64_t got, uint64_t want)
{
	if (got == want)
		return;
	printf("%s: %s, then %s: %" PRIu64 ", expected %" PRIu64 "\n", where, names[a], names[b], got,
	       want);
	failures++;
}

/* The row gives the time at which the second of two commands on two dies ends. The first one is never delayed. */
static void a_shared_channel(void)
{
	static const uint64_t first[KINDS] = { 51124, 30612, 201124, 1000100, 900100, 250100 };
	static const uint64_t second[KINDS][KINDS] = {
		/* The first command is a read. The other's data wait for the read's data: 50100 .. 51124 */
		{ 52148, 30712, 201224, 1000200, 900200, 250200 },
		/* The first command is a sub-page read, whose data move at 30100 .. 30612. */
		{ 51224, 31124, 201224, 1000200, 900200, 250200 },
		/* program: 1124 ns on the bus */
		{ 52248, 31736, 202248, 1001224, 901224, 251224 },
		/* erase, partial erase, copyback: only their command cycles */
		{ 51224, 30712, 201224, 1000200, 900200, 250200 },
		{ 51224, 30712, 201224, 1000200, 900200, 250200 },
		{ 51224, 30712, 201224, 1000200, 900200, 250200 },
	};

	for (enum kind a = READ; a < KINDS; a++)
		for (enum kind b = READ; b < KINDS; b++) {
			struct nand_cmd x, y;

			make();
			x = command(a, 0);
			y = command(b, 2);
			nand_submit(t.n, now, &x, 1);
			nand_submit(t.n, now, &y, 1);
			expect("channel, the first", a, b, x.done_ns - now, first[a]);
			expect("channel, the second", a, b, y.done_ns - now, second[a][b]);
			expect("channel, parts", a, b, y.cell_ns + y.bus_ns + y.wait_host_ns + y.wait_gc_ns,
			       second[a][b]);
			test_array_free(&t);
		}
}

/*
 * One die: the second command is refused a ns before the first one ends. From then on it takes the
 * same time as alone.
 */
static void a_shared_die(void)
{
	static const uint64_t alone[KINDS] = { 51124, 30612, 201124, 1000100, 900100, 250100 };

	for (enum kind a = READ; a < KINDS; a++)
		for (enum kind b = READ; b < KINDS; b++) {
			struct nand_cmd x, y;

			make();
			x = command(a, 0);
			y = command(b, 1);
			nand_submit(t.n, now, &x, 1);
			nand_submit(t.n, x.done_ns - 1, &y, 1);
			expect("die, too early", a, b, y.status, NAND_VIOLATION);
			y = command(b, 1);
			nand_submit(t.n, x.done_ns, &y, 1);
			expect("die", a, b, y.done_ns - x.done_ns, alone[b]);
			EXPECT(y.status != NAND_VIOLATION);
			test_array_free(&t);
		}
}

/* Two planes in one group need equal operations: one cell phase, two bus transfers. */
static void shared_planes(void)
{
	static const uint64_t both[KINDS][2] = {	/* end of the first and the second command */
		{ 51224, 52248 },	/* 2 x 100, 50000, then 1024 each */
		{ 30712, 31224 },
		{ 202248, 202248 },	/* 2 x 1124 on the bus, 200000 in the cells */
		{ 1000200, 1000200 },
		{ 900200, 900200 },
		{ 250200, 250200 },
	};
	static const enum nand_op same[KINDS] = { NAND_READ, NAND_READ, NAND_PROGRAM, NAND_ERASE,
						  NAND_ERASE, NAND_COPYBACK };

	for (enum kind a = READ; a < KINDS; a++)
		for (enum kind b = READ; b < KINDS; b++) {
			struct nand_cmd c[2];

			make();
			c[0] = command(a, 0);
			c[1] = command(b, 1);
			nand_submit(t.n, now, c, 2);
			if (a == b) {
				expect("planes, the first", a, b, c[0].done_ns - now, both[a][0]);
				expect("planes, the second", a, b, c[1].done_ns - now, both[a][1]);
			} else if (same[a] != same[b]) {
				expect("planes", a, b, c[1].status, NAND_VIOLATION);
			}
			test_array_free(&t);
		}
}

/* Sub-page reads of different sizes in one group share the cell phase of the slower one, and have own transfers. */
static void shared_planes_of_unlike_sizes(void)
{
	struct nand_cmd c[2];

	make();
	c[0] = command(SUB, 0);
	c[1] = command(READ, 1);
	nand_submit(t.n, now, c, 2);
	EXPECT_EQ(c[0].done_ns - now, 200 + 50000 + 512);
	EXPECT_EQ(c[1].done_ns - now, 200 + 50000 + 512 + 1024);
	test_array_free(&t);
	make();
	c[0] = command(PARTIAL, 0);
	c[1] = command(ERASE, 1);
	nand_submit(t.n, now, c, 2);
	EXPECT_EQ(c[0].done_ns - now, 200 + 1000000);
	EXPECT_EQ(c[1].done_ns - now, 200 + 1000000);
	test_array_free(&t);
}

int main(void)
{
	RUN(a_shared_channel);
	RUN(a_shared_die);
	RUN(shared_planes);
	RUN(shared_planes_of_unlike_sizes);
	return test_result();
}
