// SPDX-License-Identifier: GPL-2.0-or-later
/* skew.c - see skew.h. */
#include "skew.h"

#define SINGLES 7u		/* steps of one rank */
#define ONE ((uint64_t)1 << 31)	/* 1.0 of powers and probabilities */
#define LN2 2977044472u		/* ln 2, of 2^32 */

static unsigned int bits_of(uint64_t v)	/* position of the highest 1 */
{
	return 63 - (unsigned int)__builtin_clzll(v);
}

/* Return log2 of v, at least 1, in units of 2^-32: each squaring of the mantissa gives one bit. */
static uint64_t log2_of(uint64_t v)
{
	unsigned int whole = bits_of(v);
	uint64_t m = whole > 31 ? v >> (whole - 31) : v << (31 - whole), out = whole;

	for (unsigned int i = 0; i < 32; i++) {
		m = m * m >> 31;
		out = out << 1 | m >> 32;
		m >>= m >> 32;
	}
	return out;
}

/* Return 2^-x in units of 1 / ONE; x has units of 2^-32. It is the series of exp(-y), y = x ln 2 of x's fraction. */
static uint64_t power_of_half(uint64_t x)
{
	uint64_t y = (x & 0xffffffff) * LN2 >> 32, r = ONE;

	if (x >> 32 > 31)
		return 0;
	for (uint64_t n = 14; n; n--)
		r = ONE - (y * r / n >> 32);
	return r >> (x >> 32);
}

/* Return the first rank of a step. Of step `steps` it is the rank behind the last one. */
static uint64_t first_rank(unsigned int step)
{
	unsigned int k = step - SINGLES;

	return step < SINGLES ? step + 1 : (uint64_t)(8 + k % 8) << k / 8;
}

/* Return the step of a rank. */
static unsigned int step_of(uint64_t rank)
{
	unsigned int octave = bits_of(rank);

	if (rank <= SINGLES)
		return (unsigned int)rank - 1;
	return SINGLES + (octave - 3) * 8 + (unsigned int)(rank >> (octave - 3)) % 8;
}

/* Return log2 of rank^theta in units of 2^-32. */
static uint64_t log2_power(const struct skew *s, uint64_t rank)
{
	return log2_of(rank) * s->theta / 1000;
}

/* Return log2 of how many ranks a step has. */
static unsigned int log2_width(unsigned int step)
{
	return step < SINGLES ? 0 : (step - SINGLES) / 8;
}

static void begin_zipf(struct skew *s)
{
	uint64_t highest = 0, sum = 0;

	s->steps = step_of(s->places) + 1;
	/* A step weighs width * first^-theta. The heaviest weighs ONE; bias keeps the logarithms above 0. */
	for (unsigned int i = 0; i < s->steps; i++) {
		uint64_t bias = (uint64_t)SKEW_THETA_MAX * 64 / 1000 << 32;
		uint64_t weight = bias + ((uint64_t)log2_width(i) << 32) - log2_power(s, first_rank(i));

		s->below[i] = weight;
		highest = weight > highest ? weight : highest;
	}
	for (unsigned int i = 0; i < s->steps; i++) {
		sum += power_of_half(highest - s->below[i]);
		s->below[i] = sum;
	}
}

void skew_begin(struct skew *s, uint64_t places)
{
	s->places = places;
	if (s->kind == SKEW_HOT) {
		s->hot_places = places / 100 * s->hot_space + places % 100 * s->hot_space / 100;
		s->hot_places += !s->hot_places;
	}
	if (s->kind == SKEW_ZIPF)
		begin_zipf(s);
}

/* Map 0 .. places - 1 one to one onto itself: mix the bits that the numbers have until the result is one of them. */
static uint64_t spread(const struct skew *s, uint64_t v)
{
	unsigned int bits = s->places > 1 ? bits_of(s->places - 1) + 1 : 1;
	uint64_t mask = bits < 64 ? ((uint64_t)1 << bits) - 1 : UINT64_MAX;

	do {
		for (unsigned int round = 0; round < 2; round++) {
			v = (v * 0x9e3779b97f4a7c15u + 0x7f4a7c15u) & mask;
			v ^= v >> (bits + 1) / 2;
		}
	} while (v >= s->places);
	return v;
}

static unsigned int find_step(const struct skew *s, uint64_t at)
{
	unsigned int low = 0, high = s->steps - 1;

	while (low < high) {
		unsigned int middle = (low + high) / 2;

		if (at < s->below[middle])
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static uint64_t draw_rank(const struct skew *s, skew_draw *draw, void *opaque)
{
	for (;;) {
		unsigned int step = find_step(s, draw(opaque) % s->below[s->steps - 1]);
		uint64_t first = first_rank(step);
		uint64_t rank = first + (draw(opaque) & (((uint64_t)1 << log2_width(step)) - 1));

		if (rank <= s->places &&
		    (rank == first || draw(opaque) % ONE < power_of_half(log2_power(s, rank) - log2_power(s, first))))
			return rank;
	}
}

uint64_t skew_next_uneven(const struct skew *s, skew_draw *draw, void *opaque)
{
	uint64_t cold = s->places - s->hot_places;

	if (s->kind == SKEW_ZIPF)
		return spread(s, draw_rank(s, draw, opaque) - 1);
	if (!cold || draw(opaque) % 100 < s->hot_requests)
		return draw(opaque) % s->hot_places;
	return s->hot_places + draw(opaque) % cold;
}
