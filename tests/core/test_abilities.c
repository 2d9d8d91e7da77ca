// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test abilities of devices beyond read, program and erase: each rule at its limit and one step beyond
 * it, and times computed by hand.
 */
#include "abilities_array.h"

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

/* The order applies within each smallest PB, of 3 pages. */
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
	refused(NAND_R5, e, 5);				/* three blocks of the second plane */
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
	EXPECT_EQ(run(cmd(NAND_PROGRAM, 0, 5)), NAND_OK);	/* the other half of the block */
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

/* A byte of a page is changed from outside the array; checksums are not computed again. */
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
	EXPECT_EQ(r.done_ns - now, CMD + READ + XFER);		/* like every read */
	now = r.done_ns;
	((uint8_t *)t.image)[nand_array_table_bytes(&c) + 4095] ^= 1;
	EXPECT_EQ(run(cmd(NAND_READ, 0, 0)), NAND_OK);
	r.ecc_words = NAND_OOB_ONLY;
	EXPECT_EQ(run(r), NAND_OK);				/* the spare area has its own checksum */
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
	EXPECT_EQ(submit(&r, 1), NAND_OK);		/* the second and last suspension */
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
		nand_array_power_cut(t.a, p.done_ns + 1, seed);	/* without the cut it would have completed */
		nand_array_power_on(t.a);
		now = 0;
		lost += run(cmd(NAND_READ, 0, 0)) == NAND_UNCORR;
		test_array_free(&t);
	}
	EXPECT(lost > 4 && lost < 28);
}

/* ---- times ------------------------------------------------------------------ */

/* A copyback transfers no page, and spare bytes only if they are new. */
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

/* Two dies are on one channel: a copyback leaves the bus free for the other die's read. */
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
	EXPECT_EQ(r.done_ns - now, CMD + CMD + READ + XFER);	/* the read waits for its command cycles */
	EXPECT_EQ(r.wait_host_ns, CMD);
	test_array_free(&t);
}

/*
 * Sub-page reads of two planes: the cell phase is that of the slower one, and each transfer has its
 * own size.
 */
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

/* With TLC each page type has its own times, and a program may first read the lower pages. */
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

/* Pages of one repeated byte are stored as that byte; all bytes read back. */
static void pages_of_one_byte(void)
{
	struct nand_array_config c = plain();

	start(&c);
	for (uint32_t p = 0; p < 12; p++) {
		memset(data, (int)(p * 21), sizeof(data));
		data[4095] = (uint8_t)(p * 21 + (p & 1));	/* every second page is not of one byte */
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
	return test_result();
}
