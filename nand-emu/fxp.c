// SPDX-License-Identifier: GPL-2.0-or-later
/* fxp.c - see fxp.h */
#include "fxp.h"

#define LOG2_E 94548			/* Q16 */

int32_t fxp_log2(uint64_t x)
{
	unsigned int top = 63u - (unsigned int)__builtin_clzll(x);
	uint64_t y = x << (63 - top);	/* so that 1 <= y < 2 in Q63 */
	int32_t log = (int32_t)top * FXP_ONE;

	for (int32_t bit = FXP_ONE / 2; bit; bit /= 2) {	/* squaring doubles the logarithm */
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
	int64_t whole = q >> 16;	/* rounds down, as required */
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

/* middle[i] is the quantile of the normal distribution at (64 + i) / 128, in Q16; above the last one ... */
static const int32_t middle[64] = {
	0, 1283, 2567, 3852, 5139, 6427, 7718, 9012, 10310, 11611,
	12917, 14228, 15545, 16869, 18199, 19536, 20882, 22237, 23601, 24976,
	26362, 27759, 29170, 30594, 32032, 33487, 34958, 36446, 37954, 39482,
	41032, 42605, 44203, 45828, 47482, 49166, 50884, 52637, 54428, 56262,
	58140, 60067, 62048, 64087, 66191, 68364, 70616, 72954, 75389, 77933,
	80600, 83408, 86377, 89536, 92917, 96565, 100540, 104924, 109834, 115453,
	122076, 130248, 141156, 158437,
};
/* ... at 1 - 2^-(7 + i). */
static const int32_t tail[27] = {
	158437, 174330, 189113, 202983, 216085, 228531, 240408, 251785, 262719, 273257,
	283438, 293295, 302857, 312148, 321190, 330000, 338597, 346994, 355204, 363239,
	371111, 378827, 386397, 393829, 401130, 408306, 415364,
};

static int64_t between(int32_t low, int32_t high, uint64_t part, unsigned int bits)
{
	return low + (((int64_t)high - low) * (int64_t)part >> bits);
}

static int64_t normal_quantile(uint32_t u)
{
	bool low = u < 0x80000000u;
	uint32_t up = low ? ~u : u, rest = ~up;		/* the upper half is computed by symmetry */
	uint32_t i = (up >> 25) - 64;
	int64_t z;

	if (i < 63) {
		z = between(middle[i], middle[i + 1], up & 0x1ffffff, 25);
	} else {
		uint32_t zeroes = (uint32_t)__builtin_clz(rest | 1u), bits = 31 - zeroes;

		z = between(tail[zeroes - 6], tail[zeroes - 7], (rest | 1u) - (1u << bits), bits);
	}
	return low ? -z : z;
}

#define SUMMED_UP_TO (32ull << 32)

/* Sum the terms one by one; mean <= SUMMED_UP_TO. */
static uint32_t poisson_sum(uint64_t mean, uint32_t u)
{
	uint64_t want = (uint64_t)u << 30;	/* probability in Q62 */
	uint64_t term = fxp_exp2(-(int64_t)(mean * LOG2_E >> 32), 62), sum = term;
	uint32_t k = 0;

	while (sum <= want && k < 256) {
		k++;
		term = (uint64_t)((fxp_wide)term * mean >> 32) / k;	/* k times a term is below 4 */
		sum += term;
	}
	return k;
}

/*
 * Returns the quantile by the normal distribution, corrected by the first terms for skew and for steps
 * of 1 (Cornish and Fisher 1938).
 */
static uint32_t poisson_normal(uint64_t mean, uint32_t u)
{
	uint64_t root = fxp_exp2((fxp_log2(mean) - 32 * FXP_ONE) / 2, 16);
	int64_t z = normal_quantile(u);
	int64_t k = (int64_t)(mean >> 16) + (z * (int64_t)root >> 16) +
		    ((z * z >> 16) - FXP_ONE) / 6 + FXP_ONE / 2;

	return k > 0 ? (uint32_t)(k >> 16) : 0;
}

uint32_t fxp_poisson(uint64_t mean, uint32_t u)
{
	uint32_t least, k;

	if (mean <= SUMMED_UP_TO)
		return poisson_sum(mean, u);
	least = poisson_sum(SUMMED_UP_TO, u);	/* so that the result never decreases where the two methods meet */
	k = poisson_normal(mean, u);
	return k > least ? k : least;
}

uint64_t fxp_hash(uint64_t seed, uint64_t x)
{
	uint64_t z = seed + x * 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}
