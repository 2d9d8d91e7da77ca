/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bits.h - bitmaps: bit_*() of bytes, which may be content of pages, and word_*() of 64-bit words, for
 * sets in which the next member is searched.
 */
#ifndef SLATE_BITS_H
#define SLATE_BITS_H

#include "port.h"

static inline bool bit_get(const uint8_t *map, uint64_t i)
{
	return map[i >> 3] >> (i & 7) & 1;
}

static inline void bit_set(uint8_t *map, uint64_t i)
{
	map[i >> 3] |= (uint8_t)(1u << (i & 7));
}

static inline void bit_clear(uint8_t *map, uint64_t i)
{
	map[i >> 3] &= (uint8_t)~(1u << (i & 7));
}

#define BIT_NEXT_SPARE 8u	/* bytes after a bitmap that bit_next() may read */

/* Returns the first set bit in [from, to), or `to`. */
static inline uint32_t bit_next(const uint8_t *map, uint32_t from, uint32_t to)
{
	while (from < to) {
		uint64_t word;

		memcpy(&word, map + (from >> 3), 8);	/* little-endian, as the array's image */
		word >>= from & 7;
		if (word) {
			from += (uint32_t)__builtin_ctzll(word);
			return from < to ? from : to;
		}
		from = (from & ~7u) + 64;
	}
	return to;
}

static inline uint32_t word_count(uint32_t bits)
{
	return (bits + 63) / 64;
}

static inline void word_set(uint64_t *map, uint32_t i)
{
	map[i >> 6] |= (uint64_t)1 << (i & 63);
}

static inline void word_clear(uint64_t *map, uint32_t i)
{
	map[i >> 6] &= ~((uint64_t)1 << (i & 63));
}

/* Returns the number of the first set bit at or after `from`, or `bits` if there is none. */
static inline uint32_t word_next(const uint64_t *map, uint32_t bits, uint32_t from)
{
	uint32_t w = from >> 6;
	uint64_t rest;

	if (from >= bits)
		return bits;
	rest = map[w] >> (from & 63) << (from & 63);
	while (!rest && ++w < word_count(bits))
		rest = map[w];
	return rest ? w * 64 + (uint32_t)__builtin_ctzll(rest) : bits;
}

/*
 * Do the same as word_next(), but return the first set bit before `from` if there is none after it. A
 * bitmap of one word needs no branch.
 */
static inline uint32_t word_next_around(const uint64_t *map, uint32_t bits, uint32_t from)
{
	uint64_t rest;
	uint32_t at;

	if (bits <= 64) {
		rest = map[0] >> from << from;
		rest = ssd_pick(rest, rest, map[0]);
		return rest ? (uint32_t)__builtin_ctzll(rest) : bits;
	}
	at = word_next(map, bits, from);
	return at < bits ? at : word_next(map, bits, 0);
}

#endif
