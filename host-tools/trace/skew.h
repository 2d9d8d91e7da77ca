/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * skew.h - which places of a drive the requests of a generator go to.
 *
 * uniform  each of n places is equally likely
 * hot      a share of the requests goes to the first places, a share of all; both shares in per cent
 * zipf     the place of rank r, 1 .. n, has a probability in proportion to r^-theta
 *
 * Ranks are spread over the places by a fixed permutation of 0 .. n - 1, whatever the seed, so that
 * runs with other seeds have the same hot places and other requests.
 *
 * Zipf ranks are drawn by rejection (J. von Neumann, 1951) below a staircase: ranks 1 to 7 are steps
 * of their own, and from 8 on each octave has eight steps of equal width. A step is as high as its first
 * rank is likely. A rank of the step is kept with the probability r^-theta / first^-theta, so the
 * distribution is exact but for the rounding of the powers: relative errors below 2^-26, in integers, so
 * that each machine draws the same ranks. A draw takes at most 1.13^theta tries on average.
 */
#ifndef SLATE_TRACE_SKEW_H
#define SLATE_TRACE_SKEW_H

#include <stdbool.h>
#include <stdint.h>

enum { SKEW_STEPS = 7 + 8 * 61 };	/* of 2^64 ranks */
#define SKEW_THETA_MAX 5000u		/* thousandths */

enum skew_kind { SKEW_UNIFORM, SKEW_HOT, SKEW_ZIPF };

struct skew {
	enum skew_kind kind;
	uint32_t theta;			/* ZIPF: in thousandths, 1 .. SKEW_THETA_MAX */
	uint32_t hot_space, hot_requests;	/* HOT: in per cent, 1 .. 99 */
	uint64_t places;
	uint64_t hot_places;
	uint64_t below[SKEW_STEPS];	/* ZIPF: weights of the steps up to each, itself included */
	unsigned int steps;
};

/* A source of random numbers of 64 bits. */
typedef uint64_t skew_draw(void *opaque);

/* Prepare to draw from so many places, at least 1; kind and its numbers are set. */
void skew_begin(struct skew *s, uint64_t places);
/* Do what skew_next() does, unless the kind is UNIFORM. */
uint64_t skew_next_uneven(const struct skew *s, skew_draw *draw, void *opaque);

/* Draw a place, 0 .. places - 1. UNIFORM takes one random number. */
static inline uint64_t skew_next(const struct skew *s, skew_draw *draw, void *opaque)
{
	return s->kind == SKEW_UNIFORM ? draw(opaque) % s->places : skew_next_uneven(s, draw, opaque);
}

#endif
