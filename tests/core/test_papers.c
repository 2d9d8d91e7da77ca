// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test the papers' worked examples and tables, on the array:
 *   PEN     Liu et al., FAST 2018: PB numbering (4.3), Table 1, Figure 11
 *   IPPBE   ISLPED 2018: several blocks of a plane in one erase time, linear energy
 *   RPS     large-capacity NAND dissertation, 3.1: program orders, paired pages
 *   SPREAD  the same, chapter 4: Table 3
 */
#include "test.h"

static struct test_array t;
static uint64_t now;
static uint8_t page[16384];

static void start(const struct nand_array_config *c)
{
	now = 0;
	test_array_make(&t, c);
}

static struct nand_cmd command(enum nand_op op, uint32_t block, uint32_t p)
{
	return (struct nand_cmd){ .op = op, .source = NAND_SRC_HOST, .ecc_words = NAND_WHOLE_PAGE,
				  .pb = NAND_WHOLE_BLOCK,
				  .ppn = geo_ppn(&t.c.geo, (pbn_t){ block }, p), .data = page };
}

static enum nand_status run(struct nand_cmd *c, unsigned int count)
{
	nand_submit(t.n, now, c, count);
	for (unsigned int i = 0; i < count; i++)
		if (c[i].done_ns > now)
			now = c[i].done_ns;
	return c->status;
}

static enum nand_status do_one(enum nand_op op, uint32_t block, uint32_t p)
{
	struct nand_cmd c = command(op, block, p);

	return run(&c, 1);
}

static void stamp(uint32_t p, uint32_t version)
{
	for (uint32_t i = 0; i < t.c.geo.page_bytes / 4; i++)
		((uint32_t *)(void *)page)[i] = p * 1000 + version + i;
}

/* ---- PEN ------------------------------------------------------------------ */

static struct nand_array_config pen(uint32_t tolerance)
{
	return (struct nand_array_config){
		.geo = { 1, 1, 1, 1, 4, 576, 512, 64, 16, 512, 6, 1, 1, NAND_ORDER_NONE },
		.timing = { 0, { 70000 }, { 900000 },
			    { 10000000, 9950000, 9790000, 9620000, 9480000, 9370000, 9270000 }, 0 },
		.physics = { .seed = 1, .disturb_tolerance = tolerance }, .payload = true };
}

static uint64_t partial_erase(uint32_t block, uint32_t pb)
{
	struct nand_cmd c = command(NAND_ERASE, block, 0);

	c.pb = pb;
	EXPECT_EQ(run(&c, 1), NAND_OK);
	return c.done_ns - c.start_ns;
}

/* PB i of level l is one of 2^l; the leaves of L = 6 have 9 pages. */
static void pen_pb_numbers(void)
{
	static const struct { uint32_t pb, first, pages; } example[] = {
		{ 1, 0, 576 }, { 2, 0, 288 }, { 3, 288, 288 }, { 5, 144, 144 }, { 6, 288, 144 },
		{ 8, 0, 72 }, { 9, 72, 72 }, { 14, 432, 72 }, { 15, 504, 72 }, { 64, 0, 9 },
		{ 127, 567, 9 },
	};
	struct nand_array_config c = pen(255);

	for (size_t i = 0; i < sizeof(example) / sizeof(*example); i++) {
		uint32_t empty = 0, wrong = 0;

		start(&c);
		for (uint32_t p = 0; p < 576; p++)
			EXPECT_EQ(do_one(NAND_PROGRAM, 0, p), NAND_OK);
		partial_erase(0, example[i].pb);
		for (uint32_t p = 0; p < 576; p++) {
			bool inside = p >= example[i].first && p < example[i].first + example[i].pages;
			bool erased = do_one(NAND_READ, 0, p) == NAND_ERASED;

			empty += erased;
			wrong += erased != inside;
		}
		EXPECT_EQ(empty, example[i].pages);
		EXPECT_EQ(wrong, 0);
		test_array_free(&t);
	}
}

static void pen_table_1(void)
{
	struct nand_array_config c = pen(255);

	start(&c);
	EXPECT_EQ(partial_erase(0, 1), 10000000);
	EXPECT_EQ(partial_erase(0, 3), 9950000);
	EXPECT_EQ(partial_erase(0, 4), 9790000);
	EXPECT_EQ(partial_erase(0, 15), 9620000);
	EXPECT_EQ(partial_erase(0, 16), 9480000);
	EXPECT_EQ(partial_erase(0, 63), 9370000);
	EXPECT_EQ(partial_erase(0, 127), 9270000);
	test_array_free(&t);
}

/* Copy all pages out, then erase and rewrite one PB after the other. */
static uint32_t restore(const uint32_t *pbs, uint32_t count)
{
	static uint8_t kept[576][512];
	uint32_t lost = 0, copies = 0;

	for (uint32_t p = 0; p < 576; p++) {
		struct nand_cmd c = command(NAND_READ, 0, p);

		lost += run(&c, 1) != NAND_OK;
		if (c.page)
			memcpy(kept[p], c.page, 512);
	}
	EXPECT_EQ(lost, 0);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t level = 31 - (uint32_t)__builtin_clz(pbs[i]), pages = 576u >> level;
		uint32_t first = (pbs[i] - (1u << level)) * pages;

		partial_erase(0, pbs[i]);
		for (uint32_t p = first; p < first + pages; p++, copies++) {
			memcpy(page, kept[p], 512);
			EXPECT_EQ(do_one(NAND_PROGRAM, 0, p), NAND_OK);
		}
	}
	return copies;
}

static uint32_t lost_pages(uint32_t first, uint32_t pages)
{
	uint32_t lost = 0;

	for (uint32_t p = first; p < first + pages; p++) {
		struct nand_cmd c = command(NAND_READ, 0, p);

		stamp(p, 0);
		lost += run(&c, 1) == NAND_UNCORR || memcmp(c.page, page, 512);
	}
	return lost;
}

static void fill_block(void)
{
	for (uint32_t p = 0; p < 576; p++) {
		stamp(p, 0);
		EXPECT_EQ(do_one(NAND_PROGRAM, 0, p), NAND_OK);
	}
}

/*
 * This is figure 11 with tolerance 1. PB 9 is pages 72 .. 143; its neighbours are the leaves
 * 71 (63 .. 71) and 80 (144 .. 152), theirs 70 and 81.
 */
static void pen_figure_11(void)
{
	static const uint32_t t1[] = { 9 }, t2[] = { 9, 71, 80 }, t4[] = { 9, 71, 80, 70, 81 };
	struct nand_array_config c = pen(1);
	struct nand_stats s;

	start(&c);
	fill_block();
	EXPECT_EQ(restore(t1, 1), 72);
	EXPECT_EQ(lost_pages(0, 576), 0);
	EXPECT_EQ(restore(t2, 3), 9 + 72 + 9);
	EXPECT_EQ(lost_pages(0, 576), 0);
	EXPECT_EQ(restore(t1, 1), 72);
	EXPECT_EQ(lost_pages(0, 576), 0);
	EXPECT_EQ(restore(t4, 5), 9 + 9 + 72 + 9 + 9);
	EXPECT_EQ(lost_pages(0, 576), 0);
	t.n->ops->get_stats(t.n, &s);
	EXPECT_EQ(s.disturb_lost, (2 + 4) * 9);	/* 71, 80; then 71, 80, 70, 81: copied out and rewritten */
	EXPECT_EQ(s.partial_erases, 10);
	EXPECT_EQ(s.page_erases, 4 * 72 + 6 * 9);
	test_array_free(&t);
}

/*
 * An FTL that ignores the rule loses the data that the second and the fourth restoration disturb.
 */
static void pen_disturbance_loses_data(void)
{
	static const uint32_t nine[] = { 9 }, near[] = { 9, 71, 80 };
	struct nand_array_config c = pen(1);
	const void *now_holds;

	start(&c);
	fill_block();
	restore(nine, 1);
	restore(nine, 1);
	EXPECT_EQ(lost_pages(63, 9), 9);
	EXPECT_EQ(lost_pages(144, 9), 9);
	EXPECT_EQ(lost_pages(0, 576), 18);
	stamp(63, 0);				/* its bits have flipped */
	EXPECT_EQ(t.n->ops->peek(t.n, (ppn_t){ 63 }, &now_holds, NULL), NAND_UNCORR);
	EXPECT(memcmp(now_holds, page, 512) != 0);
	test_array_free(&t);

	start(&c);
	fill_block();
	restore(nine, 1);
	restore(near, 3);
	restore(nine, 1);
	restore(near, 3);			/* restore(near, 3), without 70 and 81 */
	EXPECT_EQ(lost_pages(54, 9), 9);
	EXPECT_EQ(lost_pages(153, 9), 9);
	EXPECT_EQ(lost_pages(0, 576), 18);
	test_array_free(&t);
}

static void pen_tolerance_is_exact(void)
{
	static const uint32_t nine[] = { 9 };

	for (uint32_t tolerance = 0; tolerance < 4; tolerance++) {
		struct nand_array_config c = pen(tolerance);

		start(&c);
		fill_block();
		for (uint32_t i = 0; i < tolerance; i++)
			restore(nine, 1);
		EXPECT_EQ(lost_pages(0, 576), 0);
		restore(nine, 1);
		EXPECT_EQ(lost_pages(0, 576), 18);
		test_array_free(&t);
	}
}

/* ---- IPPBE ---------------------------------------------------------------- */

static struct nand_array_config ippbe(uint32_t levels)
{
	return (struct nand_array_config){
		.geo = { 2, 2, 1, 2, 8, 64, 2048, 64, 16, 2048, levels, 2, 1, NAND_ORDER_NONE },
		.timing = { 200, { 75000 }, { 1500000 }, { 3800000, 3700000, 3600000 }, 25000 },
		.energy = { { 2100 }, { 12300 }, { 22500, 22500, 22500 }, 0 },
		.physics.disturb_tolerance = 255 };
}

static uint64_t erase_energy(void)
{
	struct nand_stats s;

	t.n->ops->get_stats(t.n, &s);
	return s.energy_nj[NAND_ERASE][NAND_SRC_HOST];
}

static void ippbe_one_time_linear_energy(void)
{
	struct nand_array_config c = ippbe(0);
	struct nand_cmd e[4];
	struct nand_stats s;

	start(&c);
	e[0] = command(NAND_ERASE, 3, 0);
	EXPECT_EQ(run(e, 1), NAND_OK);
	EXPECT_EQ(e[0].done_ns - e[0].start_ns, 200 + 3800000);
	EXPECT_EQ(erase_energy(), 22500);
	e[0] = command(NAND_ERASE, 3, 0);		/* two blocks of one plane */
	e[1] = command(NAND_ERASE, 6, 0);
	EXPECT_EQ(run(e, 2), NAND_OK);
	EXPECT_EQ(e[1].done_ns - e[1].start_ns, 200 + 3800000);
	EXPECT_EQ(erase_energy(), 3 * 22500);
	e[2] = command(NAND_ERASE, 8 + 1, 0);	/* and two of the other plane */
	e[3] = command(NAND_ERASE, 8 + 2, 0);
	EXPECT_EQ(run(e, 4), NAND_OK);
	EXPECT_EQ(e[3].done_ns - e[3].start_ns, 2 * 200 + 3800000);
	EXPECT_EQ(erase_energy(), 7 * 22500);
	t.n->ops->get_stats(t.n, &s);
	EXPECT_EQ(s.parallel_erases, 1 + 2);
	EXPECT_EQ(s.ops[NAND_ERASE][NAND_SRC_HOST], 7);
	test_array_free(&t);
}

/* If one command erases a different PB in each block, it takes as long as the slowest of them. */
static void ippbe_with_partial_erase(void)
{
	struct nand_array_config c = ippbe(2);
	struct nand_cmd e[2];

	start(&c);
	for (uint32_t p = 0; p < 64; p++) {
		EXPECT_EQ(do_one(NAND_PROGRAM, 0, p), NAND_OK);
		EXPECT_EQ(do_one(NAND_PROGRAM, 1, p), NAND_OK);
	}
	e[0] = command(NAND_ERASE, 0, 0);
	e[1] = command(NAND_ERASE, 1, 0);
	e[0].pb = 3;		/* pages 32 .. 63 */
	e[1].pb = 4;		/* pages 0 .. 15 */
	EXPECT_EQ(run(e, 2), NAND_OK);
	EXPECT_EQ(e[0].done_ns - e[0].start_ns, 200 + 3700000);
	EXPECT_EQ(do_one(NAND_READ, 0, 31), NAND_OK);
	EXPECT_EQ(do_one(NAND_READ, 0, 32), NAND_ERASED);
	EXPECT_EQ(do_one(NAND_READ, 1, 15), NAND_ERASED);
	EXPECT_EQ(do_one(NAND_READ, 1, 16), NAND_OK);
	test_array_free(&t);
}

/* ---- RPS ------------------------------------------------------------------ */

static struct nand_array_config rps(enum nand_order order)
{
	return (struct nand_array_config){
		.geo = { 1, 1, 1, 1, 4, 16, 512, 64, 16, 512, 0, 1, 2, order, .paired_loss = true },
		.timing = { 0, { 30000, 60000 }, { 600000, 2000000 }, { 2000000 }, 0 },
		.payload = true };
}

/*
 * Program a sequence of pages such as "L0 L1 M0"; returns how many are accepted before the first
 * refusal.
 */
static uint32_t taken(enum nand_order order, const char *sequence)
{
	struct nand_array_config c = rps(order);
	uint32_t n = 0;

	start(&c);
	for (const char *s = sequence; *s; s += *s == ' ') {
		bool upper = *s == 'M';
		uint32_t k = (uint32_t)strtoul(s + 1, (char **)(uintptr_t)&s, 10);

		if (do_one(NAND_PROGRAM, 0, 2 * k + upper) != NAND_OK)
			break;
		n++;
	}
	test_array_free(&t);
	return n;
}

#define FPS_ORDER "L0 L1 M0 L2 M1 L3 M2 L4 M3 L5 M4 L6 M5 L7 M6 M7"
#define RPS_FULL "L0 L1 L2 L3 L4 L5 L6 L7 M0 M1 M2 M3 M4 M5 M6 M7"
#define RPS_HALF "L0 L1 L2 L3 M0 L4 M1 L5 M2 L6 M3 L7 M4 M5 M6 M7"

static void rps_program_orders(void)
{
	EXPECT_EQ(taken(NAND_ORDER_FPS, FPS_ORDER), 16);
	EXPECT_EQ(taken(NAND_ORDER_RPS, FPS_ORDER), 16);
	EXPECT_EQ(taken(NAND_ORDER_RPS, RPS_FULL), 16);
	EXPECT_EQ(taken(NAND_ORDER_RPS, RPS_HALF), 16);
	EXPECT_EQ(taken(NAND_ORDER_FPS, RPS_FULL), 2);	/* C4: MSB(0) before LSB(2) */
	EXPECT_EQ(taken(NAND_ORDER_FPS, RPS_HALF), 2);
}

/* Each constraint refuses a case that the others allow. */
static void rps_each_constraint(void)
{
	EXPECT_EQ(taken(NAND_ORDER_RPS, "L1"), 0);		/* C1 */
	EXPECT_EQ(taken(NAND_ORDER_RPS, "L0 L1 L2 L3 M1"), 4);	/* C2 */
	EXPECT_EQ(taken(NAND_ORDER_RPS, "L0 M0"), 1);		/* C3 */
	EXPECT_EQ(taken(NAND_ORDER_RPS, "L0 L1 M0 M1"), 3);	/* C3 */
	EXPECT_EQ(taken(NAND_ORDER_FPS, "L0 L1 M0 L2 L3"), 4);	/* C4 */
	EXPECT_EQ(taken(NAND_ORDER_RPS, "L0 L1 M0 L2 L3"), 5);
}

static void rps_latencies(void)
{
	struct nand_array_config c = rps(NAND_ORDER_RPS);
	struct nand_cmd p;

	start(&c);
	p = command(NAND_PROGRAM, 0, 0);
	EXPECT_EQ((run(&p, 1), p.cell_ns), 600000);
	p = command(NAND_PROGRAM, 0, 2);
	run(&p, 1);
	p = command(NAND_PROGRAM, 0, 1);
	EXPECT_EQ((run(&p, 1), p.cell_ns), 2000000);
	p = command(NAND_READ, 0, 0);
	EXPECT_EQ((run(&p, 1), p.cell_ns), 30000);
	p = command(NAND_READ, 0, 1);
	EXPECT_EQ((run(&p, 1), p.cell_ns), 60000);
	test_array_free(&t);
}

/* Section 3.1.2: a power cut during MSB(0) destroys LSB(0) as well, and no other page. */
static void rps_a_torn_msb_takes_its_lsb(void)
{
	uint32_t torn = 0;

	for (uint64_t seed = 0; seed < 32; seed++) {
		struct nand_array_config c = rps(NAND_ORDER_RPS);
		struct nand_cmd p;
		enum nand_status msb, lsb;

		start(&c);
		for (uint32_t k = 0; k < 8; k++)
			EXPECT_EQ(do_one(NAND_PROGRAM, 0, 2 * k), NAND_OK);
		p = command(NAND_PROGRAM, 0, 1);
		nand_submit(t.n, now, &p, 1);
		nand_array_power_cut(t.a, now + 1000000, seed);
		nand_array_power_on(t.a);
		now = 0;
		msb = do_one(NAND_READ, 0, 1);
		lsb = do_one(NAND_READ, 0, 0);
		EXPECT(msb == lsb && (msb == NAND_OK || msb == NAND_UNCORR));
		torn += msb == NAND_UNCORR;
		for (uint32_t k = 1; k < 8; k++)
			EXPECT_EQ(do_one(NAND_READ, 0, 2 * k), NAND_OK);
		test_array_free(&t);
	}
	EXPECT(torn > 4 && torn < 28);
}

/* ---- SPREAD --------------------------------------------------------------- */

static void spread_table_3(void)
{
	static const uint32_t want[] = { 37500, 50000, 62500, 75000, 87500, 100000, 112500, 119000 };
	struct nand_array_config c = {
		.geo = { 1, 1, 1, 1, 4, 4, 16384, 64, 16, 2048, 0, 1, 1, NAND_ORDER_ASCENDING,
			 NAND_SUBPAGE_SPREAD },
		.timing = { .read_ns = { 99000 }, .program_ns = { 640000 }, .erase_ns = { 3500000 },
			    .bus_ps_per_byte = 1221, .oob_off_bus = true, .subread_base_ns = 25000,
			    .subread_ns_per_kib = 5000 } };
	struct nand_cmd r;

	start(&c);
	EXPECT_EQ(do_one(NAND_PROGRAM, 0, 0), NAND_OK);
	for (uint32_t mask = 1; mask < 256; mask++) {
		uint32_t n = (uint32_t)__builtin_popcount(mask);

		r = command(NAND_READ, 0, 0);
		r.ecc_words = mask;
		EXPECT_EQ(run(&r, 1), NAND_OK);
		EXPECT_EQ((r.done_ns - r.start_ns + 50) / 100 * 100, want[n - 1]);	/* rounded to 0.1 us */
	}
	test_array_free(&t);
	c.geo.subpage = NAND_SUBPAGE_DMA;	/* t_R does not change */
	start(&c);
	EXPECT_EQ(do_one(NAND_PROGRAM, 0, 0), NAND_OK);
	r = command(NAND_READ, 0, 0);
	r.ecc_words = 0x11;
	EXPECT_EQ(run(&r, 1), NAND_OK);
	EXPECT_EQ((r.done_ns - r.start_ns + 50) / 100 * 100, 99000 + 5000);
	test_array_free(&t);
}

int main(void)
{
	RUN(pen_pb_numbers);
	RUN(pen_table_1);
	RUN(pen_figure_11);
	RUN(pen_disturbance_loses_data);
	RUN(pen_tolerance_is_exact);
	RUN(ippbe_one_time_linear_energy);
	RUN(ippbe_with_partial_erase);
	RUN(rps_program_orders);
	RUN(rps_each_constraint);
	RUN(rps_latencies);
	RUN(rps_a_torn_msb_takes_its_lsb);
	RUN(spread_table_3);
	return test_result();
}
