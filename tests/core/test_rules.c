// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Each rule of nand.h: allowed at its limit, refused one step beyond, and a refused command changes
 * nothing.
 */
#include "test.h"

static struct test_array t;
static enum nand_rule heard;
static uint8_t data[4096], oob[16], back_oob[16];

static void on_violation(void *opaque, enum nand_rule rule, const struct nand_cmd *c)
{
	(void)opaque; (void)c;
	heard = rule;
}

static void make(void)
{
	struct nand_array_config c = {
		.geo = { 1, 2, 1, 2, 8, 4, 4096, 64, 16, 4096, 0, 1, 1 },
		.timing = { 100, { 50000 }, { 200000 }, { 1000000 }, 1000 }, .payload = true };
	struct nand_hooks h = { .violation = on_violation };

	test_array_make(&t, &c);
	nand_array_set_hooks(t.a, &h);
}

static struct nand_cmd cmd(enum nand_op op, uint32_t block, uint32_t page)
{
	return (struct nand_cmd){ .op = op, .source = NAND_SRC_HOST, .ecc_words = NAND_WHOLE_PAGE,
				  .pb = NAND_WHOLE_BLOCK, .ppn = geo_ppn(&t.c.geo, (pbn_t){ block }, page),
				  .data = data, .oob = oob };
}

static uint64_t now;

static enum nand_status one(struct nand_cmd c)
{
	nand_submit(t.n, now, &c, 1);
	now = c.done_ns;
	return c.status;
}

static void refused(enum nand_rule rule, struct nand_cmd *c, unsigned int count)
{
	struct nand_stats a, b;

	t.n->ops->get_stats(t.n, &a);
	heard = NAND_NRULES;
	nand_submit(t.n, now, c, count);
	t.n->ops->get_stats(t.n, &b);
	EXPECT_EQ(heard, rule);
	for (unsigned int i = 0; i < count; i++)
		EXPECT_EQ(c[i].status, NAND_VIOLATION);
	EXPECT_EQ(b.violations[rule], a.violations[rule] + 1);
	b.violations[rule]--;
	EXPECT(!memcmp(&a, &b, sizeof(a)));
}

static void refused1(enum nand_rule rule, struct nand_cmd c)
{
	refused(rule, &c, 1);
}

static void data_and_oob_come_back(void)
{
	struct nand_cmd c;

	make();
	memset(data, 0xa5, sizeof(data));
	memset(oob, 0x5a, sizeof(oob));
	EXPECT_EQ(one(cmd(NAND_READ, 0, 0)), NAND_ERASED);
	EXPECT_EQ(one(cmd(NAND_PROGRAM, 0, 0)), NAND_OK);
	c = cmd(NAND_READ, 0, 0);
	c.oob = back_oob;
	nand_submit(t.n, now, &c, 1);
	now = c.done_ns;
	EXPECT_EQ(c.status, NAND_OK);
	EXPECT(!memcmp(data, c.page, sizeof(data)) && !memcmp(oob, back_oob, sizeof(oob)));
	EXPECT_EQ(one(cmd(NAND_ERASE, 0, 0)), NAND_OK);
	EXPECT_EQ(one(cmd(NAND_READ, 0, 0)), NAND_ERASED);
	EXPECT_EQ(t.n->ops->erase_count(t.n, (pbn_t){ 0 }), 1);
	test_array_free(&t);
}

static void r0_addresses_exist(void)
{
	make();
	EXPECT_EQ(one(cmd(NAND_PROGRAM, 31, 3)), NAND_OK);
	refused1(NAND_R0, cmd(NAND_READ, 32, 0));
	refused1(NAND_R0, cmd(NAND_ERASE, 0, 1));	/* not a block's first page */
	refused1(NAND_R0, cmd(NAND_NOPS, 0, 0));
	test_array_free(&t);
}

static void r1_a_page_is_programmed_once(void)
{
	make();
	EXPECT_EQ(one(cmd(NAND_PROGRAM, 0, 0)), NAND_OK);
	refused1(NAND_R1, cmd(NAND_PROGRAM, 0, 0));
	EXPECT_EQ(one(cmd(NAND_ERASE, 0, 0)), NAND_OK);
	EXPECT_EQ(one(cmd(NAND_PROGRAM, 0, 0)), NAND_OK);
	test_array_free(&t);
}

static void r2_pages_ascend(void)
{
	make();
	EXPECT_EQ(one(cmd(NAND_PROGRAM, 0, 0)), NAND_OK);
	EXPECT_EQ(one(cmd(NAND_PROGRAM, 0, 2)), NAND_OK);	/* skipping is allowed */
	refused1(NAND_R2, cmd(NAND_PROGRAM, 0, 1));
	EXPECT_EQ(one(cmd(NAND_PROGRAM, 0, 3)), NAND_OK);
	test_array_free(&t);
}

static void r3_bad_blocks_are_left_alone(void)
{
	make();
	EXPECT_EQ(one(cmd(NAND_PROGRAM, 5, 0)), NAND_OK);
	t.n->ops->mark_bad(t.n, (pbn_t){ 5 });
	EXPECT_EQ(one(cmd(NAND_READ, 5, 0)), NAND_OK);	/* reading it is allowed */
	refused1(NAND_R3, cmd(NAND_PROGRAM, 5, 1));
	refused1(NAND_R3, cmd(NAND_ERASE, 5, 0));
	test_array_free(&t);
}

static void r4_r7_what_this_array_lacks(void)
{
	struct nand_cmd c;

	make();
	c = cmd(NAND_ERASE, 0, 0);
	c.pb = 2;
	refused1(NAND_R4, c);
	c = cmd(NAND_READ, 0, 0);
	c.ecc_words = 2;	/* pages have one ECC word */
	refused1(NAND_R7, c);
	test_array_free(&t);
}

static void r5_r6_groups(void)
{
	struct nand_cmd c[2];

	make();
	c[0] = cmd(NAND_PROGRAM, 0, 0);
	c[1] = cmd(NAND_PROGRAM, 8, 1);		/* the other plane; the page number may differ */
	nand_submit(t.n, now, c, 2);
	EXPECT_EQ(c[0].status + c[1].status, 2 * NAND_OK);
	now = c[1].done_ns;
	c[0] = cmd(NAND_PROGRAM, 0, 1);
	c[1] = cmd(NAND_PROGRAM, 1, 0);		/* one plane twice */
	refused(NAND_R6, c, 2);
	c[1] = cmd(NAND_PROGRAM, 16, 0);	/* another die */
	refused(NAND_R6, c, 2);
	c[1] = cmd(NAND_READ, 8, 0);		/* another operation */
	refused(NAND_R6, c, 2);
	c[0] = cmd(NAND_ERASE, 0, 0);
	c[1] = cmd(NAND_ERASE, 1, 0);		/* a parallel erase */
	refused(NAND_R5, c, 2);
	test_array_free(&t);
}

static void r8_a_busy_die_takes_nothing(void)
{
	struct nand_cmd c;

	make();
	c = cmd(NAND_PROGRAM, 0, 0);
	nand_submit(t.n, now, &c, 1);
	now = c.done_ns - 1;
	refused1(NAND_R8, cmd(NAND_READ, 0, 0));
	EXPECT_EQ(one(cmd(NAND_READ, 16, 0)), NAND_ERASED);	/* the other die is idle */
	now = c.done_ns > now ? c.done_ns : now;
	EXPECT_EQ(one(cmd(NAND_READ, 0, 0)), NAND_OK);
	nand_array_power_cut(t.a, now, 1);
	refused1(NAND_R8, cmd(NAND_READ, 0, 0));
	nand_array_power_on(t.a);
	now = 0;
	EXPECT_EQ(one(cmd(NAND_READ, 0, 0)), NAND_OK);
	test_array_free(&t);
}

static void r9_a_half_erased_block_is_erased_again(void)
{
	struct nand_cmd c;

	make();
	EXPECT_EQ(one(cmd(NAND_PROGRAM, 0, 0)), NAND_OK);
	c = cmd(NAND_ERASE, 0, 0);
	nand_submit(t.n, now, &c, 1);
	nand_array_power_cut(t.a, c.done_ns - 1, 7);
	nand_array_power_on(t.a);
	now = 0;
	refused1(NAND_R9, cmd(NAND_PROGRAM, 0, 1));
	EXPECT_EQ(one(cmd(NAND_ERASE, 0, 0)), NAND_OK);
	EXPECT_EQ(one(cmd(NAND_PROGRAM, 0, 0)), NAND_OK);
	test_array_free(&t);
}

/* ---- power cuts --------------------------------------------------------- */

static enum nand_status after_cut(enum nand_op op, int64_t from_start, int64_t from_done, uint64_t seed)
{
	struct nand_cmd c;
	enum nand_status st;

	make();
	now = 0;
	if (op == NAND_ERASE)
		one(cmd(NAND_PROGRAM, 0, 0));
	c = cmd(op, 0, 0);
	nand_submit(t.n, now, &c, 1);
	nand_array_power_cut(t.a, from_done ? (uint64_t)((int64_t)c.done_ns + from_done + 1)
					    : (uint64_t)((int64_t)now + from_start), seed);
	nand_array_power_on(t.a);
	st = t.n->ops->peek(t.n, (ppn_t){ 0 }, NULL, NULL);
	test_array_free(&t);
	return st;
}

static void a_cut_program_is_absent_torn_or_done(void)
{
	unsigned int lost = 0, good = 0;

	EXPECT_EQ(after_cut(NAND_PROGRAM, 0, 0, 1), NAND_ERASED);
	EXPECT_EQ(after_cut(NAND_PROGRAM, 100 + 4160, 0, 1), NAND_ERASED);	/* data transferred, cells unchanged */
	EXPECT_EQ(after_cut(NAND_PROGRAM, 0, -1, 1), NAND_OK);			/* at done_ns */
	for (uint64_t seed = 0; seed < 64; seed++) {
		enum nand_status st = after_cut(NAND_PROGRAM, 100 + 4160 + 1, 0, seed);

		lost += st == NAND_UNCORR;
		good += st == NAND_OK;
		EXPECT_EQ(after_cut(NAND_PROGRAM, 0, -2, seed), st);	/* only the seed decides */
	}
	EXPECT_EQ(lost + good, 64);
	EXPECT(lost > 10 && good > 10);
}

static void a_cut_erase_is_absent_torn_or_done(void)
{
	unsigned int seen[NAND_VIOLATION] = { 0 };

	EXPECT_EQ(after_cut(NAND_ERASE, 100, 0, 1), NAND_OK);		/* not begun: old data */
	EXPECT_EQ(after_cut(NAND_ERASE, 0, -1, 1), NAND_ERASED);
	for (uint64_t seed = 0; seed < 64; seed++)
		seen[after_cut(NAND_ERASE, 500000, 0, seed)]++;
	EXPECT_EQ(seen[NAND_OK] + seen[NAND_UNCORR] + seen[NAND_ERASED], 64);
	EXPECT(seen[NAND_OK] > 5 && seen[NAND_UNCORR] > 5 && seen[NAND_ERASED] > 5);
}

static void memory_follows_programmed_pages(void)
{
	struct nand_array_config big = {
		.geo = { 1, 1, 1, 1, 1024, 64, 4096, 64, 16, 4096, 0, 1, 1 },
		.timing = { 100, { 50000 }, { 200000 }, { 1000000 }, 1000 }, .payload = true };

	/* two bits of state, 16 OOB bytes and a gap of one per page; 20 per block; 8 per unit of content */
	EXPECT(nand_array_table_bytes(&big) < 65536ull * 73 / 4);
	EXPECT_EQ(nand_array_form_bytes(&big), 65536ull * 8);
	EXPECT_EQ(nand_array_image_bytes(&big), nand_array_table_bytes(&big) + 65536ull * (4096 + 8));
	big.payload = false;
	EXPECT(nand_array_table_bytes(&big) < 65536ull * 69 / 4);
	EXPECT_EQ(nand_array_form_bytes(&big), 0);
}

int main(void)
{
	RUN(data_and_oob_come_back);
	RUN(r0_addresses_exist);
	RUN(r1_a_page_is_programmed_once);
	RUN(r2_pages_ascend);
	RUN(r3_bad_blocks_are_left_alone);
	RUN(r4_r7_what_this_array_lacks);
	RUN(r5_r6_groups);
	RUN(r8_a_busy_die_takes_nothing);
	RUN(r9_a_half_erased_block_is_erased_again);
	RUN(a_cut_program_is_absent_torn_or_done);
	RUN(a_cut_erase_is_absent_torn_or_done);
	RUN(memory_follows_programmed_pages);
	return test_result();
}
