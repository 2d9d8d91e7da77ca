/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fxp.h - integer arithmetic for the physics: results are equal on every machine, and a kernel can
 * run it.  Q16 means value * 65536. Errors are below 2^-13 of the result.
 */
#ifndef SLATE_FXP_H
#define SLATE_FXP_H

#include "port.h"

#define FXP_ONE 65536

__extension__ typedef unsigned __int128 fxp_wide;

/*
 * Divide by a number known early. The result is exact for every 32-bit n and d >= 1, without a branch. Proof:
 * with n = qd + r and m = (2^64 - 1 - e) / d, e < d, m(n + 1) / 2^64 is (n + 1) / d less at most
 * 2^-32, and more than 0: so it lies in [q, q + 1), as 1 / d > 2^-32.
 */
struct fxp_div {
	uint64_t m;		/* floor((2^64 - 1) / d) */
	uint32_t d;
};

static inline struct fxp_div fxp_div_by(uint32_t d)
{
	return (struct fxp_div){ UINT64_MAX / d, d };
}

static inline uint32_t fxp_quotient(struct fxp_div by, uint32_t n)
{
	return (uint32_t)((fxp_wide)by.m * ((uint64_t)n + 1) >> 64);
}

/* Returns log2(x) in Q16; x >= 1. */
int32_t fxp_log2(uint64_t x);
/* Returns 2^(q / 65536) in Q`frac_bits`, frac_bits <= 62; larger results become UINT64_MAX. */
uint64_t fxp_exp2(int64_t q, unsigned int frac_bits);
/*
 * Returns the smallest k with P(X <= k) > u / 2^32, where X is Poisson of mean / 2^32. The terms are
 * summed up to a mean of 32; beyond, the normal distribution is used.
 */
uint32_t fxp_poisson(uint64_t mean, uint32_t u);
/* Hash two numbers by splitmix64's output function (Steele, Lea, Flood 2014). */
uint64_t fxp_hash(uint64_t seed, uint64_t x);

#endif
