/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test.h - the little that the core's tests share: named cases, exact
 * comparison, a seeded generator, and an array built from numbers.
 */
#ifndef SLATE_TEST_H
#define SLATE_TEST_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "array.h"
#include "nand_geom.h"

/* One counter, of however many files a program is made. */
__attribute__((weak)) int failures;

#define EXPECT_EQ(got, want)                                                               \
	do {                                                                               \
		uint64_t got_ = (uint64_t)(got), want_ = (uint64_t)(want);                 \
		if (got_ != want_) {                                                       \
			printf("%s:%d: %s = %" PRIu64 ", expected %" PRIu64 "\n",          \
			       __FILE__, __LINE__, #got, got_, want_);                     \
			failures++;                                                        \
		}                                                                          \
	} while (0)

#define EXPECT(cond)                                                                       \
	do {                                                                               \
		if (!(cond)) {                                                             \
			printf("%s:%d: expected %s\n", __FILE__, __LINE__, #cond);         \
			failures++;                                                        \
		}                                                                          \
	} while (0)

#define RUN(fn)                                                                            \
	do {                                                                               \
		int before_ = failures;                                                    \
		fn();                                                                      \
		printf("%s %s\n", failures == before_ ? "ok" : "not ok", #fn);             \
	} while (0)

static inline int test_result(void)
{
	return failures ? 1 : 0;
}

/* xorshift64* (Vigna 2016): equal seeds give equal tests everywhere. */
static inline uint64_t rnd(uint64_t *s)
{
	*s ^= *s >> 12;
	*s ^= *s << 25;
	*s ^= *s >> 27;
	return *s * 0x2545f4914f6cdd1du;
}

struct test_array {
	struct nand_array_config c;
	struct nand *n;
	struct nand_array *a;
	void *mem, *image;
};

static inline void test_array_make(struct test_array *t, const struct nand_array_config *c)
{
	const char *why;

	t->c = *c;
	if (nand_array_validate(c, &why)) {
		printf("bad test geometry: %s\n", why);
		exit(1);
	}
	t->mem = calloc(1, nand_array_footprint(c));
	t->image = calloc(1, nand_array_image_bytes(c));
	t->n = nand_array_init(t->mem, t->image, c);
	t->a = nand_array_of(t->n);
}

static inline void test_array_free(struct test_array *t)
{
	free(t->mem);
	free(t->image);
}

#endif
