// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What devices may have beyond read, program and erase: each rule at its edge
 * and one step past it, and times computed by hand.
 */
#include "test.h"

#ifdef TEST_FLOAT
#include <math.h>
#endif

#define CMD 100u
#define READ 50000u
#define PROG 200000u
#define ERASE 1000000u
#define XFER 4096u		/* a page at 1 ns a byte; spare bytes are off the bus */

static struct test_array t;
static uint64_t now;
static enum nand_rule heard;
static uint8_t data[4096], oob[16];

static void on_violation(void *opaque, enum nand_rule rule, const struct nand_cmd *c)
{
	(void)opaque; (void)c;
	heard = rule;
}

static struct nand_array_config plain(void)
{
	return (struct nand_array_config){
		.geo = { .channels = 1, .chips_per_channel = 2, .dies_per_chip = 1, .planes_per_die = 2,
			 .blocks_per_plane = 8, .pages_per_block = 12, .page_bytes = 4096, .oob_bytes = 64,
			 .oob_kept = 16, .ecc_word_bytes = 1024, .erase_group_max = 1, .bits_per_cell = 1 },
		.timing = { .cmd_ns = CMD, .read_ns = { READ, READ, READ },
			    .program_ns = { PROG, PROG, PROG }, .erase_ns = { ERASE, ERASE, ERASE },
			    .bus_ps_per_byte = 1000, .oob_off_bus = true },
		.physics.disturb_tolerance = 255, .payload = true };
}

static void start(const struct nand_array_config *c)
{
	struct nand_hooks h = { .violation = on_violation };

	now = 0;
	test_array_make(&t, c);
	nand_array_set_hooks(t.a, &h);
}

static struct nand_cmd cmd(enum nand_op op, uint32_t block, uint32_t page)
{
	return (struct nand_cmd){ .op = op, .source = NAND_SRC_HOST, .ecc_words = NAND_WHOLE_PAGE,
				  .pb = NAND_WHOLE_BLOCK, .ppn = geo_ppn(&t.c.geo, (pbn_t){ block }, page),
				  .data = data, .oob = oob };
}

/* Submit at `now`; leaves time alone. */
static enum nand_status submit(struct nand_cmd *c, unsigned int count)
{
	heard = NAND_NRULES;
	nand_submit(t.n, now, c, count);
	return c->status;
}

static enum nand_status run(struct nand_cmd c)
{
	enum nand_status s = submit(&c, 1);

	now = c.done_ns;
	return s;
}

static bool same_image(const uint8_t *before)
{
	return !memcmp(before, t.image, nand_array_image_bytes(&t.c));
}

/* Refused by that rule, and nothing changed but the clock (the image's second word). */
static void refused(enum nand_rule rule, struct nand_cmd *c, unsigned int count)
{
	size_t bytes = nand_array_image_bytes(&t.c);
	uint8_t *before = malloc(bytes);

	nand_array_passed(t.a, now);
	for (uint32_t die = 0; die < geo_dies(&t.c.geo); die++)	/* let what has ended settle */
		if (t.n->ops->die_ready_ns(t.n, die) <= now) {
			uint32_t blocks = t.c.geo.planes_per_die * t.c.geo.blocks_per_plane;
			struct nand_cmd r = cmd(NAND_READ, die * blocks, 0);

			r.ecc_words = 1u << 30;
			nand_submit(t.n, now, &r, 1);
		}
	memcpy(before, t.image, bytes);
	submit(c, count);
	EXPECT_EQ(heard, rule);
	for (unsigned int i = 0; i < count; i++)
		EXPECT_EQ(c[i].status, NAND_VIOLATION);
	EXPECT(same_image(before));
	free(before);
}

static void refused1(enum nand_rule rule, struct nand_cmd c)
{
	refused(rule, &c, 1);
}

/* ---- rules ---------------------------------------------------------------- */

static void r4_partial_blocks(void)
{
	struct nand_array_config c = plain();
	struct nand_cmd e;

	c.geo.pb_levels = 2;
	start(&c);
	for (uint32_t pb = 1; pb <= 7; pb++) {
		e = cmd(NAND_ERASE, 0, 0);
		e.pb = pb;
		EXPECT_EQ(run(e), NAND_OK);
	}
	e.pb = 8;
	refused1(NAND_R4, e);
	e.pb = 0;
	refused1(NAND_R4, e);
	test_array_free(&t);
}

/* Smallest PBs of 3 pages: order counts within each. */
static void r2_ascending_within_a_pb(void)
{
	struct nand_array_config c = plain();

	c.geo.pb_levels = 2;
	start(&c);
	EXPECT_EQ(run(cmd(NAND_PROGRAM, 0, 7)), NAND_OK);
	refused1(NAND_R2, cmd(NAND_PROGRAM, 0, 6));
	EXPECT_EQ(run(cmd(NAND_PROGRAM, 0, 5)), NAND_OK);
	EXPECT_EQ(run(cmd(NAND_PROGRAM, 0, 8)), NAND_OK);
	refused1(NAND_R1, cmd(NAND_PROGRAM, 0, 8));
	test_array_free(&t);
}

static void r5_parallel_erase(void)
{
	struct nand_array_config c = plain();
	struct nand_cmd e[5];

	c.geo.erase_group_max = 2;
	start(&c);
	for (uint32_t i = 0; i < 5; i++)
		e[i] = cmd(NAND_ERASE, i < 2 ? i : 6 + i, 0);	/* 0, 1 | 8, 9, 10 */
	EXPECT_EQ(submit(e, 4), NAND_OK);
	now = e[0].done_ns;
	refused(NAND_R5, e, 5);				/* three of the second plane */
	e[1] = e[0];
	refused(NAND_R5, e, 2);				/* one block twice */
	e[1] = cmd(NAND_ERASE, 16, 0);
	refused(NAND_R6, e, 2);				/* another die */
	e[1] = cmd(NAND_PROGRAM, 1, 0);
	refused(NAND_R6, e, 2);				/* another operation */
	test_array_free(&t);
}

static void r7_sub_pages(void)
{
	struct nand_array_config c = plain();
	struct nand_cmd r;

	c.geo.subpage = NAND_SUBPAGE_SPREAD;
	c.timing.subread_base_ns = 20000;
	start(&c);
	EXPECT_EQ(run(cmd(NAND_PROGRAM, 0, 0)), NAND_OK);
	r = cmd(NAND_READ, 0, 0);
	r.ecc_words = 8;
	EXPECT_EQ(run(r), NAND_OK);
	r.ecc_words = 16;
	refused1(NAND_R7, r);
	r.ecc_words = 0x80000001u;
	refused1(NAND_R7, r);
	test_array_free(&t);
	c.geo.subpage = NAND_SUBPAGE_NONE;
	start(&c);
	r.ecc_words = 15;				/* all four: a whole page */
	EXPECT_EQ(run(r), NAND_ERASED);
	r.ecc_words = NAND_OOB_ONLY;
	EXPECT_EQ(run(r), NAND_ERASED);
	r.ecc_words = 7;
	refused1(NAND_R7, r);
	test_array_free(&t);
}

static void r9_torn_partial_block(void)
{
	struct nand_array_config c = plain();
	struct nand_cmd e;

	c.geo.pb_levels = 1;
	start(&c);
	e = cmd(NAND_ERASE, 0, 0);
	e.pb = 3;
	submit(&e, 1);
	nand_array_power_cut(t.a, now + CMD + 5, 3);
	nand_array_power_on(t.a);
	now = 0;
	EXPECT_EQ(run(cmd(NAND_PROGRAM, 0, 5)), NAND_OK);	/* the other half */
	refused1(NAND_R9, cmd(NAND_PROGRAM, 0, 6));
	EXPECT_EQ(run(e), NAND_OK);
	EXPECT_EQ(run(cmd(NAND_PROGRAM, 0, 6)), NAND_OK);
	test_array_free(&t);
}

static void r10_copyback(void)
{
	struct nand_array_config c = plain();
	struct nand_cmd b;
	const void *copy, *spare;

	c.geo.copyback = true;
	start(&c);
	memset(data, 0xa5, sizeof(data));
	data[7] = 1;
	memset(oob, 0x11, sizeof(oob));
	EXPECT_EQ(run(cmd(NAND_PROGRAM, 0, 0)), NAND_OK);
	b = cmd(NAND_COPYBACK, 7, 0);
	b.from = geo_ppn(&c.geo, (pbn_t){ 0 }, 0);
	b.oob = NULL;
	EXPECT_EQ(run(b), NAND_OK);			/* the last block of the plane */
	EXPECT_EQ(t.n->ops->peek(t.n, b.ppn, &copy, &spare), NAND_OK);
	EXPECT(!memcmp(copy, data, 4096) && !memcmp(spare, oob, 16));
	memset(oob, 0x22, sizeof(oob));
	b = cmd(NAND_COPYBACK, 7, 1);
	b.from = geo_ppn(&c.geo, (pbn_t){ 0 }, 0);
	EXPECT_EQ(run(b), NAND_OK);
	EXPECT_EQ(t.n->ops->peek(t.n, b.ppn, &copy, &spare), NAND_OK);
	EXPECT(!memcmp(copy, data, 4096) && !memcmp(spare, oob, 16));
	b = cmd(NAND_COPYBACK, 8, 0);			/* the next plane */
	b.from = geo_ppn(&c.geo, (pbn_t){ 0 }, 0);
	refused1(NAND_R10, b);
	b = cmd(NAND_COPYBACK, 7, 2);
	b.from = geo_ppn(&c.geo, (pbn_t){ 0 }, 1);	/* never programmed */
	refused1(NAND_R10, b);
	b = cmd(NAND_COPYBACK, 7, 0);
	b.from = geo_ppn(&c.geo, (pbn_t){ 0 }, 0);
	refused1(NAND_R1, b);
	test_array_free(&t);
	c.geo.copyback = false;
	start(&c);
	EXPECT_EQ(run(cmd(NAND_PROGRAM, 0, 0)), NAND_OK);
	refused1(NAND_R10, b);
	test_array_free(&t);
}

/* Lost data stay lost. */
/* Something changes a page's byte behind the array's back; checksums are not computed anew. */
static void damage_travels_with_a_copyback(void)
{
	struct nand_array_config c = plain();
	struct nand_stats st;
	struct nand_cmd b, r;

	c.geo.copyback = c.sums = true;
	start(&c);
	memset(data, 0xa5, sizeof(data));
	data[7] = 1;
	EXPECT_EQ(run(cmd(NAND_PROGRAM, 0, 0)), NAND_OK);
	EXPECT_EQ(run(cmd(NAND_READ, 0, 0)), NAND_OK);
	((uint8_t *)t.image)[nand_array_table_bytes(&c) + 4095] ^= 1;	/* of page 0 */
	b = cmd(NAND_COPYBACK, 7, 0);
	b.from = geo_ppn(&c.geo, (pbn_t){ 0 }, 0);
	EXPECT_EQ(run(b), NAND_OK);
	r = cmd(NAND_READ, 7, 0);
	EXPECT_EQ(submit(&r, 1), NAND_UNCORR);
	EXPECT(!r.page);
	EXPECT_EQ(r.done_ns - now, CMD + READ + XFER);		/* as every read */
	now = r.done_ns;
	((uint8_t *)t.image)[nand_array_table_bytes(&c) + 4095] ^= 1;
	EXPECT_EQ(run(cmd(NAND_READ, 0, 0)), NAND_OK);
	r.ecc_words = NAND_OOB_ONLY;
	EXPECT_EQ(run(r), NAND_OK);				/* it has a checksum of its own */
	t.n->ops->get_stats(t.n, &st);
	EXPECT_EQ(st.damaged, 1);
	EXPECT_EQ(st.uncorrectable, 1);
	test_array_free(&t);
}

static void a_copyback_of_nothing_readable(void)
{
	struct nand_array_config c = plain();
	struct nand_cmd p, b;
	uint64_t seed = 0;

	c.geo.copyback = true;
	do {
		start(&c);
		p = cmd(NAND_PROGRAM, 0, 0);
		submit(&p, 1);
		nand_array_power_cut(t.a, p.done_ns - 1, seed++);
		nand_array_power_on(t.a);
		now = 0;
		if (run(cmd(NAND_READ, 0, 0)) == NAND_UNCORR)
			break;
		test_array_free(&t);
	} while (seed < 64);
	EXPECT(seed < 64);
	b = cmd(NAND_COPYBACK, 1, 0);
	b.from = p.ppn;
	EXPECT_EQ(run(b), NAND_OK);
	EXPECT_EQ(run(cmd(NAND_READ, 1, 0)), NAND_UNCORR);
	test_array_free(&t);
}

static void r11_one_shot(void)
{
	struct nand_array_config c = plain();
	struct nand_cmd w[6];

	c.geo.bits_per_cell = 3;
	c.geo.one_shot = true;
	start(&c);
	for (uint32_t i = 0; i < 6; i++)
		w[i] = cmd(NAND_PROGRAM, i < 3 ? 0 : 8, i % 3);
	refused(NAND_R11, w, 1);
	refused(NAND_R11, w, 2);
	refused(NAND_R11, w + 1, 3);
	EXPECT_EQ(submit(w, 6), NAND_OK);		/* a word line of each plane */
	EXPECT_EQ(w[5].done_ns - w[5].start_ns, 6 * (CMD + XFER) + PROG);
	now = w[0].done_ns;
	for (uint32_t i = 0; i < 3; i++) {
		w[i] = cmd(NAND_PROGRAM, 0, 3 + i);
		w[3 + i] = cmd(NAND_PROGRAM, 1, i);	/* the same plane */
	}
	refused(NAND_R6, w, 6);
	w[1] = w[0];
	refused(NAND_R11, w, 3);
	test_array_free(&t);
}

/* ---- suspension ------------------------------------------------------------- */

static struct nand_array_config suspending(uint32_t max)
{
	struct nand_array_config c = plain();

	c.timing.suspend_ns = 2000;
	c.timing.resume_ns = 3000;
	c.timing.suspends_max = max;
	c.geo.erase_group_max = 2;
	return c;
}

static void a_read_suspends_an_erase(void)
{
	struct nand_array_config c = suspending(2);
	struct nand_cmd e, r;
	struct nand_stats s;
	const uint64_t took = 2000 + CMD + READ + XFER;

	start(&c);
	EXPECT_EQ(run(cmd(NAND_PROGRAM, 1, 0)), NAND_OK);
	e = cmd(NAND_ERASE, 0, 0);
	EXPECT_EQ(submit(&e, 1), NAND_OK);
	now += CMD - 1;					/* the cell phase has not begun */
	refused1(NAND_R8, cmd(NAND_READ, 1, 0));
	now++;
	refused1(NAND_R8, cmd(NAND_READ, 0, 3));	/* the block being erased */
	refused1(NAND_R8, cmd(NAND_PROGRAM, 1, 1));	/* only reads suspend */
	now += 300000;
	r = cmd(NAND_READ, 1, 0);
	EXPECT_EQ(submit(&r, 1), NAND_OK);
	EXPECT_EQ(r.done_ns - now, took);
	EXPECT_EQ(r.cell_ns, 2000 + READ);
	EXPECT_EQ(r.resumed_done_ns, e.done_ns + took + 3000);
	EXPECT_EQ(t.n->ops->die_ready_ns(t.n, 0), r.resumed_done_ns);
	now = r.done_ns - 1;
	refused1(NAND_R8, cmd(NAND_READ, 1, 0));	/* until the reads have ended */
	now++;
	r = cmd(NAND_READ, 1, 0);
	EXPECT_EQ(submit(&r, 1), NAND_OK);		/* the second: the last */
	EXPECT_EQ(r.resumed_done_ns, e.done_ns + 2 * (took + 3000));
	now = r.done_ns;
	refused1(NAND_R8, cmd(NAND_READ, 1, 0));
	now = r.resumed_done_ns;
	EXPECT_EQ(run(cmd(NAND_READ, 1, 0)), NAND_OK);	/* idle: no suspension */
	t.n->ops->get_stats(t.n, &s);
	EXPECT_EQ(s.suspends, 2);
	test_array_free(&t);
}

static void a_suspended_program_can_still_tear(void)
{
	struct nand_array_config c = suspending(1);
	uint32_t lost = 0;

	for (uint64_t seed = 0; seed < 32; seed++) {
		struct nand_cmd p, r;

		start(&c);
		EXPECT_EQ(run(cmd(NAND_PROGRAM, 1, 0)), NAND_OK);
		p = cmd(NAND_PROGRAM, 0, 0);
		submit(&p, 1);
		now += CMD + XFER + PROG / 2;
		refused1(NAND_R8, cmd(NAND_READ, 0, 0));	/* the page being programmed */
		r = cmd(NAND_READ, 1, 0);
		EXPECT_EQ(submit(&r, 1), NAND_OK);
		nand_array_power_cut(t.a, p.done_ns + 1, seed);	/* it would have been done */
		nand_array_power_on(t.a);
		now = 0;
		lost += run(cmd(NAND_READ, 0, 0)) == NAND_UNCORR;
		test_array_free(&t);
	}
	EXPECT(lost > 4 && lost < 28);
}

/* ---- times ------------------------------------------------------------------ */

/* Copyback: no transfer; with new spare bytes those alone. */
static void copyback_times(void)
{
	struct nand_array_config c = plain();
	struct nand_cmd b;

	c.geo.copyback = true;
	c.timing.oob_off_bus = false;
	start(&c);
	EXPECT_EQ(run(cmd(NAND_PROGRAM, 0, 0)), NAND_OK);
	b = cmd(NAND_COPYBACK, 1, 0);
	b.from = geo_ppn(&c.geo, (pbn_t){ 0 }, 0);
	b.oob = NULL;
	submit(&b, 1);
	EXPECT_EQ(b.done_ns - now, CMD + READ + PROG);
	EXPECT_EQ(b.bus_ns, CMD);
	now = b.done_ns;
	b = cmd(NAND_COPYBACK, 1, 1);
	b.from = geo_ppn(&c.geo, (pbn_t){ 0 }, 0);
	submit(&b, 1);
	EXPECT_EQ(b.done_ns - now, CMD + 64 + READ + PROG);
	EXPECT_EQ(b.bus_ns, CMD + 64);
	test_array_free(&t);
}

/* Two dies on one channel: a copyback leaves the bus to the other die's read. */
static void a_copyback_leaves_the_bus_alone(void)
{
	struct nand_array_config c = plain();
	struct nand_cmd b, r;

	c.geo.copyback = true;
	start(&c);
	EXPECT_EQ(run(cmd(NAND_PROGRAM, 0, 0)), NAND_OK);
	EXPECT_EQ(run(cmd(NAND_PROGRAM, 16, 0)), NAND_OK);
	b = cmd(NAND_COPYBACK, 1, 0);
	b.from = geo_ppn(&c.geo, (pbn_t){ 0 }, 0);
	submit(&b, 1);
	r = cmd(NAND_READ, 16, 0);
	submit(&r, 1);
	EXPECT_EQ(r.done_ns - now, CMD + CMD + READ + XFER);	/* behind its command cycles */
	EXPECT_EQ(r.wait_host_ns, CMD);
	test_array_free(&t);
}

/* Sub-page reads of two planes: cells as the slower, transfers by their own size. */
static void sub_page_group_times(void)
{
	struct nand_array_config c = plain();
	struct nand_cmd r[2];

	c.geo.subpage = NAND_SUBPAGE_SPREAD;
	c.timing.subread_base_ns = 20000;
	c.timing.subread_ns_per_kib = 3000;
	start(&c);
	EXPECT_EQ(run(cmd(NAND_PROGRAM, 0, 0)), NAND_OK);
	EXPECT_EQ(run(cmd(NAND_PROGRAM, 8, 0)), NAND_OK);
	r[0] = cmd(NAND_READ, 0, 0);
	r[1] = cmd(NAND_READ, 8, 0);
	r[0].ecc_words = 4;		/* 20 + 3 us, 1 KiB */
	r[1].ecc_words = 11;		/* 20 + 9 us, 3 KiB */
	submit(r, 2);
	EXPECT_EQ(r[0].done_ns - now, 2 * CMD + 29000 + 1024);
	EXPECT_EQ(r[1].done_ns - now, 2 * CMD + 29000 + 1024 + 3072);
	EXPECT_EQ(r[1].wait_host_ns, CMD + 1024);
	test_array_free(&t);
}

/* TLC: types have times of their own, and a program may read what lies below first. */
static void page_type_times(void)
{
	static const uint32_t reads[] = { 40000, 60000, 90000 }, programs[] = { 100000, 300000, 700000 };
	struct nand_array_config c = plain();
	struct nand_stats s;

	c.geo.bits_per_cell = 3;
	memcpy(c.timing.read_ns, reads, sizeof(reads));
	memcpy(c.timing.program_ns, programs, sizeof(programs));
	c.timing.lower_read_ns = 5000;
	start(&c);
	for (uint32_t p = 0; p < 6; p++) {
		struct nand_cmd w = cmd(NAND_PROGRAM, 0, p), r = cmd(NAND_READ, 0, p);

		submit(&w, 1);
		EXPECT_EQ(w.done_ns - now, CMD + XFER + programs[p % 3] + p % 3 * 5000);
		now = w.done_ns;
		submit(&r, 1);
		EXPECT_EQ(r.done_ns - now, CMD + reads[p % 3] + XFER);
		now = r.done_ns;
	}
	t.n->ops->get_stats(t.n, &s);
	EXPECT_EQ(s.lower_reads, 2 * (0 + 1 + 2));
	test_array_free(&t);
}

/* ---- content ------------------------------------------------------------------ */

/* Pages of one byte are kept as that byte; all bytes read back. */
static void pages_of_one_byte(void)
{
	struct nand_array_config c = plain();

	start(&c);
	for (uint32_t p = 0; p < 12; p++) {
		memset(data, (int)(p * 21), sizeof(data));
		data[4095] = (uint8_t)(p * 21 + (p & 1));	/* every other is not of one */
		EXPECT_EQ(run(cmd(NAND_PROGRAM, 0, p)), NAND_OK);
	}
	for (uint32_t round = 0; round < 2; round++)
		for (uint32_t p = 0; p < 12; p++) {
			struct nand_cmd r = cmd(NAND_READ, 0, p);

			submit(&r, 1);
			now = r.done_ns;
			memset(data, (int)(p * 21), sizeof(data));
			data[4095] = (uint8_t)(p * 21 + (p & 1));
			EXPECT(r.page && !memcmp(r.page, data, sizeof(data)));
		}
	test_array_free(&t);
}

/* ---- errors and wear ------------------------------------------------------------ */

static struct nand_array_config ageing(void)
{
	struct nand_array_config c = plain();

	/* Table of the FAST 2019 paper, 72-layer TLC: log2 and exponents in Q16 */
	c.physics = (struct nand_physics){
		.seed = 7, .disturb_tolerance = 255, .rber_on = true,
		.eps_log2 = -616051, .alpha_log2 = -2048381, .k = 134349, .beta_log2 = -914809,
		.m = 9175, .n = 35389, .gamma_log2 = -1834889, .p = 21627, .q = 112067,
		.ecc_bits = 40, .relocate_bits = 30, .retries_max = 3, .retry_permille = 600 };
	c.timing.retry_ns = 60000;
	c.geo.copyback = true;
	return c;
}

static struct nand_cmd read_back(uint32_t block, uint32_t page)
{
	struct nand_cmd r = cmd(NAND_READ, block, page);

	submit(&r, 1);
	now = r.done_ns;
	return r;
}

/* 1,024-byte words: 8192 bits * 1.48e-3 = 12 errors on fresh cells, on average. */
static void raw_errors_follow_the_formula(void)
{
	struct nand_array_config c = ageing();
	uint64_t fresh = 0, old = 0;

	c.geo.ecc_word_bytes = 4096;		/* one word a page: raw_bits is its count */
	c.geo.pages_per_block = 2048;
	c.geo.copyback = false;
	c.physics.ecc_bits = 1000;
	c.physics.relocate_bits = 1000;
	start(&c);
	run(cmd(NAND_ERASE, 0, 0));
	for (uint32_t p = 0; p < 2048; p++)
		EXPECT_EQ(run(cmd(NAND_PROGRAM, 0, p)), NAND_OK);
	for (uint32_t p = 0; p < 2048; p++)
		fresh += read_back(0, p).raw_bits;
	/* 32768 bits * (1.48e-3 + 3.9e-10 + some 6e-7) = 48.5 a page */
	EXPECT(fresh > 1024 * 95 && fresh < 1024 * 99);
	nand_array_age(t.a, 1000ull * 3600 * 1000000000);	/* 6.28e-5 * 1000^0.54 = 2.62e-3 */
	for (uint32_t p = 0; p < 2048; p++)
		old += read_back(0, p).raw_bits;
	EXPECT(old > 2048 * 131 && old < 2048 * 138);		/* 32768 * 4.10e-3 = 134.3 */
	test_array_free(&t);
}

#ifdef TEST_FLOAT
/* Table of the paper, in floating point; 32768 bits a page. */
static double expected_errors(double cycles, double hours, double reads)
{
	return 32768 * (1.48e-3 + 3.90e-10 * pow(cycles, 2.05) +
			6.28e-5 * pow(cycles, 0.14) * pow(hours, 0.54) +
			3.73e-9 * pow(cycles, 0.33) * pow(reads, 1.71));
}

static double mean_errors(uint32_t pages)
{
	uint64_t sum = 0;

	for (uint32_t p = 0; p < pages; p++)
		sum += read_back(0, p).raw_bits;
	return (double)sum / pages;
}

static void close_to(double got, double want)
{
	if (fabs(got / want - 1) > 0.02) {
		printf("mean %.2f errors a page, expected %.2f\n", got, want);
		failures++;
	}
}

/* Every term of the formula, each at a place where it weighs. */
static void each_term_of_the_formula(void)
{
	struct nand_array_config c = ageing();
	const uint64_t hour = 3600ull * 1000000000;

	c.geo.copyback = false;
	c.geo.ecc_word_bytes = 4096;
	c.geo.pages_per_block = 1024;
	c.physics.ecc_bits = c.physics.relocate_bits = 60000;
	start(&c);
	nand_array_age(t.a, 5000 * hour);	/* before the program: of no account */
	for (uint32_t i = 0; i < 1500; i++)
		run(cmd(NAND_ERASE, 0, 0));
	for (uint32_t p = 0; p < 1024; p++)
		run(cmd(NAND_PROGRAM, 0, p));
	close_to(mean_errors(1024), expected_errors(1500, 0, 0.5));
	nand_array_age(t.a, 300 * hour);
	close_to(mean_errors(1024), expected_errors(1500, 300, 1.5));
	for (uint32_t i = 0; i < 600; i++)
		mean_errors(1024);
	close_to(mean_errors(1024), expected_errors(1500, 300, 602.5));
	run(cmd(NAND_ERASE, 0, 0));		/* reads and hours begin anew */
	for (uint32_t p = 0; p < 1024; p++)
		run(cmd(NAND_PROGRAM, 0, p));
	close_to(mean_errors(1024), expected_errors(1501, 0, 0.5));
	test_array_free(&t);
}
#endif

/* More than every bit wrong stays every bit wrong, whatever the terms add up to. */
static void errors_saturate(void)
{
	struct nand_array_config c = ageing();
	uint32_t last = 0;

	c.geo.copyback = false;
	c.geo.ecc_word_bytes = 4096;
	c.physics.ecc_bits = c.physics.relocate_bits = 60000;
	c.physics.alpha_log2 = -65536;		/* 0.5 * cycles^8 */
	c.physics.k = 8 * 65536;
	start(&c);
	for (uint32_t i = 0; i < 40; i++) {
		uint32_t bits;

		run(cmd(NAND_ERASE, 0, 0));
		run(cmd(NAND_PROGRAM, 0, 0));
		bits = read_back(0, 0).raw_bits;
		EXPECT(bits >= last && bits > 16000 && bits < 34000);
		last = bits > 32000 ? 32000 : 0;
	}
	test_array_free(&t);
}

/* Errors that a copyback brought are gone with the page. */
static void an_erase_forgets_what_travelled(void)
{
	struct nand_array_config c = ageing();
	uint32_t bits[2];

	c.physics.ecc_bits = 254;
	for (uint32_t travelled = 0; travelled < 2; travelled++) {
		struct nand_cmd b;

		start(&c);
		run(cmd(NAND_ERASE, 0, 0));
		run(cmd(NAND_ERASE, 1, 0));
		EXPECT_EQ(run(cmd(NAND_PROGRAM, 0, 0)), NAND_OK);
		b = cmd(NAND_COPYBACK, 1, 0);
		b.from = geo_ppn(&c.geo, (pbn_t){ 0 }, 0);
		if (travelled)
			EXPECT_EQ(run(b), NAND_OK);
		run(cmd(NAND_ERASE, 1, 0));
		EXPECT_EQ(run(cmd(NAND_PROGRAM, 1, 0)), NAND_OK);
		bits[travelled] = read_back(1, 0).raw_bits;
		test_array_free(&t);
	}
	EXPECT_EQ(bits[0], bits[1]);
}

static void errors_are_corrected_retried_or_too_many(void)
{
	struct nand_array_config c = ageing();
	uint32_t seen[NAND_VIOLATION + 1] = { 0 }, retried = 0;

	start(&c);
	run(cmd(NAND_ERASE, 0, 0));
	for (uint32_t p = 0; p < 12; p++)
		EXPECT_EQ(run(cmd(NAND_PROGRAM, 0, p)), NAND_OK);
	for (uint32_t step = 0; step < 40; step++) {
		uint32_t bits = 0;

		for (uint32_t p = 0; p < 12; p++) {
			struct nand_cmd r = read_back(0, p), again = read_back(0, p);

			EXPECT_EQ(r.raw_bits, again.raw_bits);
			EXPECT_EQ(r.cell_ns, READ + r.retries * 60000);
			EXPECT_EQ(r.retries > 0, r.raw_bits > 40);
			if (r.status == NAND_OK)
				EXPECT(r.raw_bits <= 30);
			if (r.status == NAND_UNCORR)
				EXPECT(r.retries == 3 && !r.page);
			seen[r.status]++;
			retried += r.status == NAND_CORRECTED && r.retries;
			bits += r.raw_bits;
		}
		nand_array_age(t.a, (uint64_t)step * step * 40 * 3600 * 1000000000);
	}
	EXPECT(seen[NAND_OK] && seen[NAND_CORRECTED] && seen[NAND_UNCORR] && retried);
	EXPECT_EQ(seen[NAND_OK] + seen[NAND_CORRECTED] + seen[NAND_UNCORR], 480);
	test_array_free(&t);
}

static void errors_travel_with_a_copyback(void)
{
	struct nand_array_config c = ageing();
	uint32_t first, second;

	c.physics.ecc_bits = 254;
	start(&c);
	run(cmd(NAND_ERASE, 0, 0));
	run(cmd(NAND_ERASE, 1, 0));
	EXPECT_EQ(run(cmd(NAND_PROGRAM, 0, 0)), NAND_OK);
	first = read_back(0, 0).raw_bits;
	EXPECT(first > 0);
	for (uint32_t p = 0; p < 3; p++) {
		struct nand_cmd b = cmd(NAND_COPYBACK, 1, p);

		b.from = p ? geo_ppn(&c.geo, (pbn_t){ 1 }, p - 1) : geo_ppn(&c.geo, (pbn_t){ 0 }, 0);
		EXPECT_EQ(run(b), NAND_OK);
		second = read_back(1, p).raw_bits;
		EXPECT(second > first);			/* its own on top */
		first = second;
	}
	test_array_free(&t);
}

/* Weibull with scale 50 and shape 8: blocks die between some 20 and 65 erases. */
static void blocks_wear_out(void)
{
	struct nand_array_config c = plain();
	uint32_t least = 1000, most = 0, sum = 0;

	c.geo.blocks_per_plane = 64;
	c.physics.endurance = 50;
	c.physics.wear_shape = 8;
	start(&c);
	for (uint32_t b = 0; b < 256; b++) {
		uint32_t erases = 0;

		while (run(cmd(NAND_ERASE, b, 0)) == NAND_OK)
			erases++;
		EXPECT_EQ(run(cmd(NAND_ERASE, b, 0)), NAND_ERASE_FAIL);	/* and stays so */
		EXPECT_EQ(t.n->ops->erase_count(t.n, (pbn_t){ b }), erases);
		refused1(NAND_R9, cmd(NAND_PROGRAM, b, 0));
		sum += erases;
		least = erases < least ? erases : least;
		most = erases > most ? erases : most;
	}
	EXPECT(least >= 15 && least < 40 && most > 55 && most < 70);
	EXPECT(sum > 256 * 45 && sum < 256 * 49);	/* mean 50 * Gamma(1 + 1/8) = 47.1, floored */
	test_array_free(&t);
}

int main(void)
{
	RUN(r2_ascending_within_a_pb);
	RUN(r4_partial_blocks);
	RUN(r5_parallel_erase);
	RUN(r7_sub_pages);
	RUN(r9_torn_partial_block);
	RUN(r10_copyback);
	RUN(damage_travels_with_a_copyback);
	RUN(a_copyback_of_nothing_readable);
	RUN(r11_one_shot);
	RUN(a_read_suspends_an_erase);
	RUN(a_suspended_program_can_still_tear);
	RUN(copyback_times);
	RUN(a_copyback_leaves_the_bus_alone);
	RUN(sub_page_group_times);
	RUN(page_type_times);
	RUN(pages_of_one_byte);
	RUN(raw_errors_follow_the_formula);
#ifdef TEST_FLOAT
	RUN(each_term_of_the_formula);
#endif
	RUN(errors_saturate);
	RUN(an_erase_forgets_what_travelled);
	RUN(errors_are_corrected_retried_or_too_many);
	RUN(errors_travel_with_a_copyback);
	RUN(blocks_wear_out);
	return test_result();
}
