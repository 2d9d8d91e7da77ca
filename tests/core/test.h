/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test.h - functions shared by the core's tests: named cases, exact comparison, a seeded generator,
 * and an array built from numbers.
 *
 * A test is a program whose main() runs its cases one after the other. It has two shells: a
 * process that prints TAP, and a suite of KUnit in a Linux kernel (tests/kunit), where main() is
 * called once to list the cases and then once for each of them. So main() uses the drive only in
 * RUN and RUN_AS, and its other statements may be executed several times.
 */
#ifndef SLATE_TEST_H
#define SLATE_TEST_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "array.h"
#include "ftl.h"
#include "nand_geom.h"

/* All files of a program share this counter. */
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

#ifdef __KERNEL__
/* tests/kunit/core.c: returns true if this case is to run. */
bool test_begins(const char *name);
void test_ends(const char *name, int new_failures);
/*
 * Returns the number of rounds for a test that runs n in a process; fewer in a kernel, because its
 * processor is emulated.
 */
uint32_t test_times(uint32_t n);
#else
#define TEST_FLOAT	/* floating point numbers are available */

static inline bool test_begins(const char *name)
{
	(void)name;
	return true;
}

static inline void test_ends(const char *name, int new_failures)
{
	printf("%s %s\n", new_failures ? "not ok" : "ok", name);
	fflush(stdout);
}

/* A run of long tests is shorter if the environment's TEST_PERCENT (1 to 100) is below 100. */
static inline uint32_t test_times(uint32_t n)
{
	static uint32_t percent;

	if (!percent) {
		const char *text = getenv("TEST_PERCENT");

		percent = text ? (uint32_t)strtoul(text, NULL, 10) : 100;
		if (!percent || percent > 100) {
			fprintf(stderr, "TEST_PERCENT=%s: give a number from 1 to 100\n", text);
			exit(2);
		}
	}
	n = (uint32_t)((uint64_t)n * percent / 100);
	return n ? n : 1;
}
#endif

#define RUN_AS(name, call)                                                                 \
	do {                                                                               \
		const char *name_ = (name);                                                \
		int before_ = failures;                                                    \
		if (test_begins(name_)) {                                                  \
			call;                                                              \
			test_ends(name_, failures - before_);                              \
		}                                                                          \
	} while (0)

#define RUN(fn) RUN_AS(#fn, fn())

static inline int test_result(void)
{
	return failures ? 1 : 0;
}

/* Parse the arguments of a random test: -n ROUNDS, -s SEED of the first. */
static inline void test_rounds(int argc, char **argv, uint32_t *rounds, uint64_t *seed)
{
	for (int i = 1; i + 1 < argc; i += 2) {
		if (!strcmp(argv[i], "-n"))
			*rounds = (uint32_t)strtoul(argv[i + 1], NULL, 0);
		else if (!strcmp(argv[i], "-s"))
			*seed = strtoull(argv[i + 1], NULL, 0);
	}
}

/* Copy data from or to a request's buffer; zeroes if the drive has none. */
static inline void test_copy(const struct ftl_io *io, uint8_t *data, void *buf, size_t len)
{
	if (io->op == FTL_WRITE)
		memcpy(buf, data, len);
	else if (buf)
		memcpy(data, buf, len);
	else
		memset(data, 0, len);
}

/*
 * Before a read its buffer is filled with this byte, so that sectors that the drive did not deliver
 * can be told: their units are lost, and the read must end with SSD_E_UNCORR.
 */
#define TEST_UNREAD 0xee

static inline bool test_unread(const uint8_t *sector)
{
	return sector[0] == TEST_UNREAD && !memcmp(sector, sector + 1, FTL_SECTOR_BYTES - 1);
}

/* Returns the CPU time of this program, for rates. */
static inline uint64_t test_cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static inline uint64_t test_per_second(uint64_t count, uint64_t ns)
{
	return count * 1000000 / (ns / 1000 + 1);
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

/* Make `to` the array that `from` would be without power since at_ns. Both have the same geometry. */
static inline void test_lose_power(struct test_array *to, const struct test_array *from, uint64_t at_ns,
				   uint64_t seed)
{
	nand_array_copy(to->a, from->a);
	nand_array_power_cut(to->a, at_ns, seed);
	nand_array_power_on(to->a);
}

/* Returns the time of a cut before a command (when = 0), in its cell phase (1) or at its end (2). */
static inline uint64_t test_cut_time(uint64_t now_ns, const struct nand_cmd *c, int when)
{
	return when == 0 ? now_ns : when == 1 ? c->done_ns - c->cell_ns / 2 - 1 : c->done_ns;
}

/* This hook ends the test. */
static inline void test_violation(void *opaque, enum nand_rule rule, const struct nand_cmd *c)
{
	(void)opaque;
	printf("rule R%d is broken by operation %d of page %u\n", (int)rule, (int)c->op, c->ppn.v);
	SSD_ASSERT(!"a rule of the array");
}

#endif
