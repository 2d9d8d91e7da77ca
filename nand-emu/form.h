/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * form.h - progressions of 64-bit words: content that a drive makes itself, and that the array does not
 * store (content.c). Each word is `step` more than the word before it, modulo 2^64.
 */
#ifndef SLATE_FORM_H
#define SLATE_FORM_H

#include "port.h"

#define FORM_STEP 0x9e3779b97f4a7c15u	/* 2^64 divided by the golden ratio */
#define FORM_ALIGN 512u			/* both functions take multiples of so many bytes */

/* Two words: of longer vectors gcc 12 keeps some on the stack unless it may use AVX. */
typedef uint64_t form_words __attribute__((vector_size(16), aligned(1), may_alias));

static inline void form_make(void *to, uint32_t bytes, uint64_t first, uint64_t step)
{
	form_words want = { first, first + step }, then = { first + 2 * step, first + 3 * step };
	form_words next = { 4 * step, 4 * step };
	form_words *at = to, *end = at + bytes / sizeof(*at);

	for (; at < end; at += 2, want += next, then += next) {
		at[0] = want;
		at[1] = then;
	}
}

/* Make only the ends: the first two words and the last one. */
static inline void form_make_ends(void *to, uint32_t bytes, uint64_t first, uint64_t step)
{
	const uint64_t second = first + step, last = first + (bytes / 8 - 1) * step;

	memcpy(to, &first, 8);
	memcpy((char *)to + 8, &second, 8);
	memcpy((char *)to + bytes - 8, &last, 8);
}

static inline bool form_ends_are(const void *data, uint32_t bytes, uint64_t first, uint64_t step)
{
	uint64_t word[2], last;

	memcpy(word, data, 16);
	memcpy(&last, (const char *)data + bytes - 8, 8);
	return word[0] == first && word[1] == first + step && last == first + (bytes / 8 - 1) * step;
}

static inline bool form_is(const void *data, uint32_t bytes, uint64_t first, uint64_t step)
{
	form_words want = { first, first + step }, then = { first + 2 * step, first + 3 * step };
	form_words next = { 4 * step, 4 * step };
	const form_words *at = data, *end = at + bytes / sizeof(*at);

	while (at < end) {
		form_words differ = { 0, 0 };

		for (uint32_t i = 0; i < FORM_ALIGN / sizeof(*at); i += 2, at += 2, want += next, then += next)
			differ |= (at[0] ^ want) | (at[1] ^ then);
		if (differ[0] | differ[1])
			return false;
	}
	return true;
}

#endif
