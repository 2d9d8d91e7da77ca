// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test which content the array stores and which it keeps as a form (nand-emu/content.c), by the bytes of
 * the image, and that reads, copybacks, torn pages and checksums see the content that was written.
 */
#include "array_impl.h"
#include "test.h"

#define PAGE 12288u		/* three units of 4096 bytes */
#define UNIT 4096u
#define STEP 0x9e3779b97f4a7c15u

static struct test_array t;
static uint64_t now;
static uint8_t data[PAGE], zeroes[PAGE];

static struct nand_array_config config(void)
{
	return (struct nand_array_config){
		.geo = { .channels = 1, .chips_per_channel = 1, .dies_per_chip = 1, .planes_per_die = 1,
			 .blocks_per_plane = 4, .pages_per_block = 8, .page_bytes = PAGE, .oob_bytes = 64,
			 .oob_kept = 16, .ecc_word_bytes = UNIT, .erase_group_max = 1, .bits_per_cell = 1,
			 .copyback = true },
		.timing = { .cmd_ns = 100, .read_ns = { 50000 }, .program_ns = { 200000 },
			    .erase_ns = { 1000000 }, .bus_ps_per_byte = 1000 },
		.physics.disturb_tolerance = 255, .payload = true, .sums = true };
}

static enum nand_status run(struct nand_cmd *c)
{
	nand_submit(t.n, now, c, 1);
	now = c->done_ns;
	return c->status;
}

static enum nand_status program(uint32_t page)
{
	struct nand_cmd c = { .op = NAND_PROGRAM, .ppn = { page }, .data = data };

	return run(&c);
}

static enum nand_status read_page(uint32_t page, const void **out)
{
	struct nand_cmd c = { .op = NAND_READ, .ppn = { page }, .ecc_words = NAND_WHOLE_PAGE };
	enum nand_status s = run(&c);

	*out = c.page;
	return s;
}

static void progression(uint32_t unit, uint64_t first, uint64_t step)
{
	for (uint32_t i = 0; i < UNIT / 8; i++) {
		uint64_t word = first + i * step;

		memcpy(data + unit * UNIT + i * 8, &word, 8);
	}
}

/* Read a page and compare it with data. */
static bool holds(uint32_t page)
{
	const void *is;

	return read_page(page, &is) == NAND_OK && !memcmp(is, data, PAGE);
}

static bool stored(uint32_t page, uint32_t unit)
{
	return memcmp(page_payload(t.a, page) + unit * UNIT, zeroes, UNIT) != 0;
}

/* Program the page with data; the units' forms must be these, and exactly those of form 0 be stored. */
static void expect_forms(uint32_t page, uint64_t a, uint64_t b, uint64_t c)
{
	const uint64_t want[] = { a, b, c };

	EXPECT_EQ(program(page), NAND_OK);
	for (uint32_t u = 0; u < 3; u++) {
		EXPECT_EQ(t.a->form[page * 3 + u], want[u]);
		EXPECT_EQ(stored(page, u), want[u] == 0);
	}
	EXPECT_EQ(cell_get(t.a, page), a && b && c ? CELL_FORM : CELL_GOOD);
	EXPECT(holds(page));
}

static void start(void)
{
	struct nand_array_config c = config();

	test_array_make(&t, &c);
	now = 0;
}

static void formulas_are_not_stored(void)
{
	start();
	progression(0, 257, STEP);
	progression(1, 0xfedcba9876543210u, STEP);
	progression(2, 257 + 512 * STEP, STEP);
	expect_forms(0, 257, 0xfedcba9876543210u, 257 + 512 * STEP);
	memset(data, 0, UNIT);
	memset(data + UNIT, 0xff, UNIT);
	memset(data + 2 * UNIT, 1, UNIT);
	expect_forms(1, 1, 256, 2);
	progression(1, ~(uint64_t)0, STEP);		/* wraps round at its second word */
	expect_forms(2, 1, ~(uint64_t)0, 2);
	test_array_free(&t);
}

static void other_content_is_stored(void)
{
	start();
	progression(0, 256, STEP);			/* its first word is the form of a byte */
	progression(1, 0, STEP);			/* or of stored bytes */
	progression(2, 1000, STEP + 1);
	expect_forms(0, 0, 0, 0);
	progression(0, 1000, STEP);
	data[UNIT - 1] ^= 1;				/* the last byte differs */
	memset(data + UNIT, 7, UNIT);
	data[2 * UNIT - 1] ^= 1;
	progression(2, 0x0102010201020102u, 0);		/* equal words of two bytes */
	expect_forms(1, 0, 0, 0);
	progression(0, 1000, STEP);
	data[511] ^= 1;					/* in the middle */
	progression(1, 1000, STEP);			/* a formula between stored units */
	expect_forms(2, 0, 1000, 0);
	test_array_free(&t);
}

/* A page register keeps units that it has expanded: pages with some equal units follow each other. */
static void registers_follow(void)
{
	uint8_t want[4][PAGE];
	const void *is;

	start();
	for (uint32_t p = 0; p < 4; p++) {
		progression(0, 1000 + p / 2, STEP);
		memset(data + UNIT, (int)p, UNIT);
		progression(2, p == 1 ? 5000 : 4000, p == 3 ? STEP + 1 : STEP);
		memcpy(want[p], data, PAGE);
		EXPECT_EQ(program(p), NAND_OK);
	}
	for (uint32_t i = 0; i < 32; i++) {
		uint32_t p = i * 7 / 3 & 3;

		EXPECT_EQ(read_page(p, &is), NAND_OK);
		EXPECT(!memcmp(is, want[p], PAGE));
	}
	test_array_free(&t);
}

static void copies_and_erases(void)
{
	struct nand_cmd copy = { .op = NAND_COPYBACK, .ppn = { 8 }, .from = { 0 } };
	struct nand_cmd erase = { .op = NAND_ERASE, .pb = NAND_WHOLE_BLOCK };
	struct test_array other;
	const void *is;

	start();
	progression(0, 1000, STEP);
	memset(data + UNIT, 3, UNIT);
	progression(2, 1000, 3);
	EXPECT_EQ(program(0), NAND_OK);
	EXPECT_EQ(run(&copy), NAND_OK);
	EXPECT(holds(8));
	EXPECT_EQ(t.a->form[24], 1000);
	EXPECT_EQ(t.a->form[25], 4);
	EXPECT_EQ(t.a->form[26], 0);
	EXPECT(!stored(8, 0) && !stored(8, 1) && stored(8, 2));
	test_array_make(&other, &t.c);
	nand_array_copy(other.a, t.a);
	EXPECT_EQ(other.n->ops->peek(other.n, (ppn_t){ 8 }, &is, NULL), NAND_OK);
	EXPECT(!memcmp(is, data, PAGE));
	test_array_free(&other);
	EXPECT_EQ(run(&erase), NAND_OK);
	EXPECT_EQ(read_page(0, &is), NAND_ERASED);
	memset(data, 9, PAGE);
	EXPECT_EQ(program(0), NAND_OK);
	EXPECT_EQ(t.a->form[2], 10);		/* bytes that were stored here before do not show */
	EXPECT(holds(0));
	test_array_free(&t);
}

/* A torn page of formulas has the content with 8 flipped bits (ecc_bits = 0); equal places flip back. */
static void a_torn_page_is_stored(void)
{
	struct nand_cmd c = { .op = NAND_PROGRAM, .ppn = { 0 }, .data = data };
	uint32_t flipped = 0;
	const void *is;

	start();
	progression(0, 1000, STEP);
	progression(1, 2000, STEP);
	memset(data + 2 * UNIT, 0, UNIT);
	for (uint64_t seed = 0; cell_get(t.a, 0) != CELL_LOST; seed++) {
		if (seed) {
			test_array_free(&t);
			start();
		}
		nand_submit(t.n, 0, &c, 1);
		nand_array_power_cut(t.a, c.done_ns - 1000, seed);
	}
	EXPECT_EQ(t.n->ops->peek(t.n, (ppn_t){ 0 }, &is, NULL), NAND_UNCORR);
	for (uint32_t i = 0; i < PAGE; i++)
		flipped += (uint32_t)__builtin_popcount(((const uint8_t *)is)[i] ^ data[i]);
	EXPECT(flipped > 0 && flipped <= 8 && flipped % 2 == 0);
	EXPECT(t.a->form[0] == 0 && t.a->form[1] == 0 && t.a->form[2] == 0);
	test_array_free(&t);
}

/* A changed form, a changed stored unit and exchanged forms are found by the checksum. */
static void damage_is_found(void)
{
	uint64_t *form;
	const void *is;

	start();
	progression(0, 1000, STEP);
	progression(1, 2000, STEP);
	progression(2, 2000, 5);
	EXPECT_EQ(program(0), NAND_OK);
	form = t.a->form;
	form[0] ^= 1u << 20;
	EXPECT_EQ(read_page(0, &is), NAND_UNCORR);
	form[0] = 2000;
	form[1] = 1000;
	EXPECT_EQ(read_page(0, &is), NAND_UNCORR);
	form[0] = 1000;
	form[1] = 0;
	EXPECT_EQ(read_page(0, &is), NAND_UNCORR);
	form[1] = 2000;
	page_payload(t.a, 0)[2 * UNIT + 77] ^= 4;
	EXPECT_EQ(read_page(0, &is), NAND_UNCORR);
	page_payload(t.a, 0)[2 * UNIT + 77] ^= 4;
	page_payload(t.a, 0)[77] ^= 4;		/* no unit is stored here */
	EXPECT(holds(0));
	test_array_free(&t);
}

static void units_divide_the_page(void)
{
	static const uint32_t sizes[][2] = { { 512, 512 }, { 1536, 512 }, { 2048, 2048 }, { 2560, 512 },
					     { 4096, 4096 }, { 16384, 4096 }, { 18432, 2048 }, { 65536, 4096 } };
	struct nand_array_config c = config();

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		c.geo.page_bytes = sizes[i][0];
		c.geo.ecc_word_bytes = sizes[i][0];
		test_array_make(&t, &c);
		EXPECT_EQ(t.a->unit_bytes, sizes[i][1]);
		EXPECT_EQ(t.a->units, sizes[i][0] / sizes[i][1]);
		test_array_free(&t);
	}
}

/* What a read returned stays while others are peeked at: a check may look at any page at any time. */
static void peek_has_its_own_register(void)
{
	const void *is, *other;

	start();
	progression(0, 257, STEP);
	progression(1, 258, STEP);
	progression(2, 259, STEP);
	EXPECT_EQ(program(0), NAND_OK);
	memset(data, 7, PAGE);
	EXPECT_EQ(program(1), NAND_OK);
	EXPECT_EQ(read_page(1, &is), NAND_OK);
	EXPECT_EQ(t.n->ops->peek(t.n, (ppn_t){ 0 }, &other, NULL), NAND_OK);
	EXPECT(is != other);
	EXPECT(!memcmp(is, data, PAGE));
	progression(0, 257, STEP);
	EXPECT(!memcmp(other, data, UNIT));
	test_array_free(&t);
}

int main(void)
{
	RUN(formulas_are_not_stored);
	RUN(other_content_is_stored);
	RUN(registers_follow);
	RUN(copies_and_erases);
	RUN(a_torn_page_is_stored);
	RUN(damage_is_found);
	RUN(units_divide_the_page);
	RUN(peek_has_its_own_register);
	return test_result();
}
