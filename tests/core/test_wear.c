// SPDX-License-Identifier: GPL-2.0-or-later
/* Test raw bit errors by the published formula, the effects of ECC and retries, and wear. */
#include "abilities_array.h"

#ifdef TEST_FLOAT
#include <math.h>
#endif

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

/* In words of 1,024 bytes, 8192 bits * 1.48e-3 = 12 errors occur on fresh cells, on average. */
static void raw_errors_follow_the_formula(void)
{
	struct nand_array_config c = ageing();
	uint64_t fresh = 0, old = 0;

	c.geo.ecc_word_bytes = 4096;		/* one word a page: raw_bits is the page's count */
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
/* Compute the paper's table in floating point, for the 32768 bits of a page. */
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

/* Check each term of the formula with settings in which it is large. */
static void each_term_of_the_formula(void)
{
	struct nand_array_config c = ageing();
	const uint64_t hour = 3600ull * 1000000000;

	c.geo.copyback = false;
	c.geo.ecc_word_bytes = 4096;
	c.geo.pages_per_block = 1024;
	c.physics.ecc_bits = c.physics.relocate_bits = 60000;
	start(&c);
	nand_array_age(t.a, 5000 * hour);	/* time before the program has no effect */
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
	run(cmd(NAND_ERASE, 0, 0));		/* reads and hours restart */
	for (uint32_t p = 0; p < 1024; p++)
		run(cmd(NAND_PROGRAM, 0, p));
	close_to(mean_errors(1024), expected_errors(1501, 0, 0.5));
	test_array_free(&t);
}
#endif

/* If the terms add up to more errors than bits, all bits are wrong. */
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

/* Errors that a copyback carried to a page are gone after its erase. */
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
		EXPECT(second > first);			/* the page's own errors are added */
		first = second;
	}
	test_array_free(&t);
}

/* The wear is Weibull with scale 50 and shape 8: blocks die between some 20 and 65 erases. */
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
		EXPECT_EQ(run(cmd(NAND_ERASE, b, 0)), NAND_ERASE_FAIL);	/* every later erase fails, too */
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
