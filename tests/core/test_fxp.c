// SPDX-License-Identifier: GPL-2.0-or-later
/* Test the physics' integer functions, compared with floating point. */
#include "fxp.h"
#include "test.h"

#ifdef TEST_FLOAT
#include <math.h>
#endif

static void division_is_exact(void)
{
	uint64_t s = 1;

	for (uint32_t i = 0; i < test_times(2000000); i++) {
		uint32_t d = (uint32_t)(rnd(&s) >> (32 + rnd(&s) % 32)), n = (uint32_t)rnd(&s);

		d += !d;
		if (i % 3 == 0)
			n = n / d * d - (i & 1);	/* values at the edges */
		if (fxp_quotient(fxp_div_by(d), n) != n / d) {
			EXPECT_EQ(fxp_quotient(fxp_div_by(d), n), n / d);
			return;
		}
	}
}

#ifdef TEST_FLOAT
static void logarithms_and_powers(void)
{
	for (double x = 1; x < 1e19; x *= 1.37) {
		double want = log2((double)(uint64_t)x);

		EXPECT(fabs(fxp_log2((uint64_t)x) / 65536.0 - want) < 3e-5);
	}
	for (int32_t q = -30 * 65536; q < 20 * 65536; q += 4241)
		EXPECT(fabs((double)fxp_exp2(q, 40) / pow(2, 40 + q / 65536.0) - 1) < 1e-3);
	EXPECT_EQ(fxp_exp2(0, 48), 1ull << 48);
	EXPECT_EQ(fxp_exp2(3 * 65536, 48), 8ull << 48);
	EXPECT_EQ(fxp_exp2(64 * 65536, 48), UINT64_MAX);
	EXPECT_EQ(fxp_exp2(-200 * 65536, 48), 0);
}

static uint32_t quantile(double mean, double u)
{
	double term = exp(-mean), sum = term;
	uint32_t k = 0;

	while (sum <= u && k < 5000) {
		term *= mean / ++k;
		sum += term;
	}
	return k;
}

/*
 * The result is within one of the exact quantile, or equal to it in the range that is summed,
 * except for rounding; it never decreases.
 */
static void poisson_quantiles(void)
{
	uint32_t off = 0;

	for (uint32_t i = 1; i < 400; i++) {
		uint32_t u = (uint32_t)(i / 400.0 * 4294967296.0), last = 0;

		for (double mean = 0.01; mean < 600; mean *= 1.05) {
			uint32_t got = fxp_poisson((uint64_t)(mean * 4294967296.0), u);
			uint32_t want = quantile(mean, u / 4294967296.0);

			EXPECT(got + 1 >= want && got <= want + 1);
			EXPECT(got >= last);
			off += mean < 32 && got != want;
			last = got;
		}
	}
	EXPECT(off < 100);	/* off is the number of differences in 65,000 */
}
#endif

int main(void)
{
	RUN(division_is_exact);
#ifdef TEST_FLOAT
	RUN(logarithms_and_powers);
	RUN(poisson_quantiles);
#endif
	return test_result();
}
