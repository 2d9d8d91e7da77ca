// SPDX-License-Identifier: GPL-2.0-or-later
/* fxp.c - see fxp.h */
#include "fxp.h"

#define LOG2_E 94548			/* Q16 */

int32_t fxp_log2(uint64_t x)
{
	unsigned int top = 63u - (unsigned int)__builtin_clzll(x);
	uint64_t y = x << (63 - top);	/* 1 <= y < 2 in Q63 */
	int32_t log = (int32_t)top * FXP_ONE;

	for (int32_t bit = FXP_ONE / 2; bit; bit /= 2) {	/* squaring doubles the log */
		fxp_wide square = (fxp_wide)y * y >> 63;

		if (square >> 64) {
			log += bit;
			y = (uint64_t)(square >> 1);
		} else {
			y = (uint64_t)square;
		}
	}
	return log;
}

/* 2^(2^-i) - 1 in Q62, i = 1 .. 16. */
static const uint64_t roots[16] = {
	0x1a827999fcef3242, 0x0c1bf828c6dc54b7, 0x05cae0f1f545eb73, 0x02d561b3e6243d8a,
	0x0166c34c5615d0eb, 0x00b268f9de0183b9, 0x0058f6a7ecccd5b6, 0x002c6be96af2fb58,
	0x0016321b687027a8, 0x000b18178ba33b14, 0x00058bce410147e8, 0x0002c5d7bff71dae,
	0x000162e807ee7e5b, 0x0000b1730df6a524, 0x000058b9497b8151, 0x00002c5c955dd701,
};

uint64_t fxp_exp2(int64_t q, unsigned int frac_bits)
{
	int64_t whole = q >> 16;	/* rounds down, as it must */
	uint32_t part = (uint32_t)(q & 0xffff);
	uint64_t y = 1ull << 62;
	int64_t shift;

	for (unsigned int i = 0; i < 16; i++)
		if (part & (0x8000u >> i))
			y += (uint64_t)((fxp_wide)y * roots[i] >> 62);
	shift = whole + (int64_t)frac_bits - 62;
	if (shift > 0)
		return shift > 1 || y >> 63 ? UINT64_MAX : y << 1;
	return shift <= -64 ? 0 : y >> -shift;
}

/* Quantiles of the normal distribution in Q16 at (64 + i) / 128; the last, at 1, is cut off at 4. */
static const int32_t normal[65] = {
	0, 1283, 2567, 3852, 5139, 6427, 7718, 9012, 10310, 11611,
	12917, 14228, 15545, 16869, 18199, 19536, 20882, 22237, 23601, 24976,
	26362, 27759, 29170, 30594, 32032, 33487, 34958, 36446, 37954, 39482,
	41032, 42605, 44203, 45828, 47482, 49166, 50884, 52637, 54428, 56262,
	58140, 60067, 62048, 64087, 66191, 68364, 70616, 72954, 75389, 77933,
	80600, 83408, 86377, 89536, 92917, 96565, 100540, 104924, 109834, 115453,
	122076, 130248, 141156, 158437, 262144,
};

static int64_t normal_quantile(uint32_t u)
{
	bool low = u < 0x80000000u;
	uint32_t up = low ? ~u : u;		/* the upper half, by symmetry */
	uint32_t i = (up >> 25) - 64, part = up & 0x1ffffff;
	int64_t z = normal[i] + (((int64_t)normal[i + 1] - normal[i]) * part >> 25);

	return low ? -z : z;
}

uint32_t fxp_poisson(uint64_t mean, uint32_t u)
{
	uint64_t term, sum, want = (uint64_t)u << 30;	/* probabilities in Q62 */
	int64_t k;

	if (mean >> 37) {		/* 32 and more: mean + z * sqrt(mean) */
		uint64_t root = fxp_exp2((fxp_log2(mean) - 32 * FXP_ONE) / 2, 16);

		k = (int64_t)(mean >> 16) + (normal_quantile(u) * (int64_t)root >> 16);
		return k > 0 ? (uint32_t)(k >> 16) : 0;
	}
	term = fxp_exp2(-(int64_t)(mean * LOG2_E >> 32), 62);
	sum = term;
	for (k = 0; sum <= want && k < 256; ) {
		k++;
		term = (uint64_t)((fxp_wide)term * mean / (uint64_t)k >> 32);
		sum += term;
	}
	return (uint32_t)k;
}

uint64_t fxp_hash(uint64_t seed, uint64_t x)
{
	uint64_t z = seed + x * 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}
