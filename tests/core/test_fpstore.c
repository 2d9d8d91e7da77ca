// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test the hash engine of the port, and the store of fingerprints: examples by hand, and random
 * operations compared with a list that is searched completely.  test_fpstore [-n rounds] [-s seed]
 */
#include "fpstore.h"
#include "test.h"

static uint32_t rounds = 100;
static uint64_t seed0 = 1;

/* ---- MD5 ------------------------------------------------------------------ */

static bool md5_is(const char *text, const char *hex)
{
	uint8_t out[16];
	char got[33];

	ssd_md5(text, strlen(text), out);
	for (uint32_t i = 0; i < 16; i++)
		snprintf(got + 2 * i, 3, "%02x", out[i]);
	return !strcmp(got, hex);
}

/* RFC 1321, A.5 */
static void md5(void)
{
	EXPECT(md5_is("", "d41d8cd98f00b204e9800998ecf8427e"));
	EXPECT(md5_is("a", "0cc175b9c0f1b6a831c399e269772661"));
	EXPECT(md5_is("abc", "900150983cd24fb0d6963f7d28e17f72"));
	EXPECT(md5_is("message digest", "f96b697d7cb7938d525a2f31aaf161d0"));
	EXPECT(md5_is("1234567890123456789012345678901234567890123456789012345678901234567890"
		      "1234567890", "57edf4a22be3c955ac49da2e2107b67a"));
}

static void fingerprints(void)
{
	struct fingerprint fp;

	/* A fingerprint is the first four bytes of MD5("abc") or MD5("aaa") = 47bce5c7..., the first the lowest. */
	fingerprint_of("abcaaaabcaaa", 12, &fp);
	EXPECT_EQ(fp.part[0], 0x98500190);
	EXPECT_EQ(fp.part[1], 0xc7e5bc47);
	EXPECT_EQ(fp.part[2], 0x98500190);
	EXPECT_EQ(fp.part[3], 0xc7e5bc47);
}

/* ---- by hand -------------------------------------------------------------- */

struct box {
	void *mem;
	struct fpstore *s;
};

static struct box box_of(uint32_t candidates)
{
	size_t bytes = fpstore_footprint(FP_PARTS * candidates);
	struct box b = { .mem = aligned_alloc(64, (bytes + 63) / 64 * 64) };

	memset(b.mem, 0x5a, bytes);
	b.s = fpstore_init(b.mem, FP_PARTS * candidates);
	return b;
}

#define FP(a, b, c, d) (&(const struct fingerprint){ { a, b, c, d } })

/* Find a candidate and compare its handle and its number of matches; 0: none. */
static bool finds(const struct box *b, const struct fingerprint *fp, uint32_t handle, uint32_t matches)
{
	uint32_t got = 0xdead, n = fpstore_find(b->s, fp, &got);

	fpstore_check(b->s);
	return n == matches && got == (matches ? handle : 0xdead);
}

/* Insert a candidate; none may be evicted. */
static void add(struct box *b, uint32_t handle, const struct fingerprint *fp)
{
	uint32_t evicted = 0xdead;

	EXPECT(!fpstore_insert(b->s, handle, fp, &evicted));
	EXPECT_EQ(evicted, 0xdead);
	fpstore_check(b->s);
}

/* The dissertation's figure 26 looks for a page of 44 41 51 45; page 100 has most of its fingerprints. */
static void the_most_similar(void)
{
	struct box b = box_of(8);

	EXPECT(finds(&b, FP(0x44, 0x41, 0x51, 0x45), 0, 0));
	add(&b, 0x100, FP(0x44, 0x41, 0x51, 0x99));
	add(&b, 0x200, FP(0x44, 0x98, 0x97, 0x45));
	add(&b, 0x300, FP(0x96, 0x95, 0x94, 0x45));
	EXPECT(finds(&b, FP(0x44, 0x41, 0x51, 0x45), 0x100, 3));
	EXPECT(finds(&b, FP(0x44, 0x1, 0x2, 0x45), 0x200, 2));
	EXPECT(finds(&b, FP(0x96, 0x95, 0x94, 0x45), 0x300, 4));
	/* An equal fingerprint at another place is no match. */
	EXPECT(finds(&b, FP(0x41, 0x44, 0x45, 0x51), 0, 0));
	EXPECT_EQ(fpstore_candidates(b.s), 3);
	free(b.mem);
}

/* Two pages have the same four fingerprints, and one has a repeated sub-page. */
static void equal_ones(void)
{
	struct box b = box_of(8);

	add(&b, 7, FP(1, 1, 1, 1));
	add(&b, 5, FP(1, 1, 1, 1));
	EXPECT(finds(&b, FP(1, 1, 1, 1), 5, 4));	/* the last used one */
	EXPECT(fpstore_touch(b.s, 7));
	EXPECT(finds(&b, FP(1, 1, 1, 1), 7, 4));
	EXPECT(finds(&b, FP(2, 2, 1, 2), 7, 1));
	add(&b, 6, FP(1, 1, 3, 3));
	EXPECT(finds(&b, FP(1, 1, 9, 9), 6, 2));
	EXPECT(finds(&b, FP(1, 1, 9, 1), 7, 3));
	EXPECT(fpstore_remove(b.s, 7));
	EXPECT(finds(&b, FP(1, 1, 9, 1), 5, 3));
	EXPECT(!fpstore_remove(b.s, 7) && !fpstore_touch(b.s, 7));
	EXPECT(fpstore_remove(b.s, 6) && fpstore_remove(b.s, 5));
	EXPECT(finds(&b, FP(1, 1, 1, 1), 0, 0));
	free(b.mem);
}

/* A limit of 15 fingerprints holds three candidates. The least recently used one is evicted. */
static void least_recently_used(void)
{
	struct box b;
	uint32_t evicted = 0xdead;

	b.mem = aligned_alloc(64, (fpstore_footprint(15) + 63) / 64 * 64);
	b.s = fpstore_init(b.mem, 15);
	add(&b, 1, FP(1, 1, 1, 1));
	add(&b, 2, FP(2, 2, 2, 2));
	add(&b, 3, FP(3, 3, 3, 3));
	EXPECT(fpstore_touch(b.s, 1));
	EXPECT(fpstore_insert(b.s, 4, FP(4, 4, 4, 4), &evicted));
	EXPECT_EQ(evicted, 2);
	EXPECT(finds(&b, FP(2, 2, 2, 2), 0, 0));
	/* Finding a candidate does not count as use. */
	EXPECT(finds(&b, FP(3, 3, 3, 3), 3, 4));
	EXPECT(fpstore_insert(b.s, 2, FP(2, 2, 2, 2), &evicted));
	EXPECT_EQ(evicted, 3);
	EXPECT(fpstore_remove(b.s, 1));
	add(&b, 5, FP(5, 5, 5, 5));
	EXPECT_EQ(fpstore_candidates(b.s), 3);
	free(b.mem);
}

/*
 * Three of the twin's fingerprints are each shared by FPSTORE_SHARED - 1 candidates used later: it
 * is the last one examined, three times. With one more each, it is not found.
 */
static void many_share_one(void)
{
	struct box b = box_of(3 * FPSTORE_SHARED + 1);
	uint32_t handle = 0;

	add(&b, 1000, FP(0, 0, 0, 9));
	for (uint32_t i = 1; i < FPSTORE_SHARED; i++) {
		add(&b, handle++, FP(0, i, i, i));
		add(&b, handle++, FP(i, 0, i, i));
		add(&b, handle++, FP(i, i, 0, i));
	}
	EXPECT(finds(&b, FP(0, 0, 0, 7000), 1000, 3));
	add(&b, 2000, FP(0, 8000, 8000, 8000));
	add(&b, 2001, FP(8000, 0, 8000, 8000));
	EXPECT(finds(&b, FP(0, 0, 0, 7000), 1000, 3));	/* by place 2 */
	add(&b, 2002, FP(8000, 8000, 0, 8000));
	EXPECT(finds(&b, FP(0, 0, 0, 7000), 2002, 1));
	EXPECT(finds(&b, FP(0, 0, 0, 9), 1000, 4));	/* by place 3 */
	EXPECT(fpstore_remove(b.s, 2000));
	EXPECT(finds(&b, FP(0, 0, 0, 7000), 1000, 3));
	free(b.mem);
}

/* A store of one candidate, the smallest size, evicts it for each new one. */
static void a_store_of_one(void)
{
	struct box b = box_of(1);
	uint32_t evicted;

	add(&b, 0xffffffff, FP(1, 2, 3, 4));
	EXPECT(finds(&b, FP(1, 2, 3, 5), 0xffffffff, 3));
	EXPECT(fpstore_insert(b.s, 0, FP(5, 2, 3, 4), &evicted));
	EXPECT_EQ(evicted, 0xffffffff);
	EXPECT(finds(&b, FP(1, 2, 3, 4), 0, 3));
	free(b.mem);
}

/* ---- against a list ------------------------------------------------------- */

#define LIST_MAX 400u

/* The model is a list with the candidate used last in front. */
static struct {
	uint32_t handle;
	struct fingerprint fp;
} list[LIST_MAX];
static uint32_t list_count;

static uint32_t list_at(uint32_t handle)
{
	uint32_t i = 0;

	while (i < list_count && list[i].handle != handle)
		i++;
	return i;
}

static void list_remove(uint32_t i)
{
	memmove(list + i, list + i + 1, (--list_count - i) * sizeof(list[0]));
}

static void list_front(uint32_t handle, const struct fingerprint *fp)
{
	struct fingerprint copy = *fp;

	memmove(list + 1, list, list_count++ * sizeof(list[0]));
	list[0].handle = handle;
	list[0].fp = copy;
}

/* Only the first FPSTORE_SHARED candidates of each fingerprint may be found. */
static uint32_t list_find(const struct fingerprint *fp, uint32_t *handle)
{
	uint32_t seen[FP_PARTS] = { 0 }, most = 0;

	for (uint32_t i = 0; i < list_count; i++) {
		uint32_t matches = 0;
		bool counts = false;

		for (uint32_t k = 0; k < FP_PARTS; k++)
			if (list[i].fp.part[k] == fp->part[k]) {
				matches++;
				counts |= seen[k]++ < FPSTORE_SHARED;
			}
		if (counts && matches > most) {
			most = matches;
			*handle = list[i].handle;
		}
	}
	return most;
}

static bool same_insert(struct box *b, uint32_t max, uint32_t handle, const struct fingerprint *fp)
{
	bool full = list_count == max;
	uint32_t want = full ? list[list_count - 1].handle : 0xdead, got = 0xdead;

	if (full)
		list_count--;
	list_front(handle, fp);
	return fpstore_insert(b->s, handle, fp, &got) == full && got == want;
}

static bool same_find(const struct box *b, const struct fingerprint *fp)
{
	uint32_t want = 0xdead, got = 0xdead;

	return list_find(fp, &want) == fpstore_find(b->s, fp, &got) && want == got;
}

static bool one_step(struct box *b, uint64_t *s, uint32_t max, uint32_t values)
{
	uint32_t handle = (uint32_t)(rnd(s) % (2 * max)) * 0x10001, at = list_at(handle);
	bool there = at < list_count;
	struct fingerprint fp;

	for (uint32_t k = 0; k < FP_PARTS; k++)
		fp.part[k] = (uint32_t)(rnd(s) % values) << rnd(s) % 2 * 24;
	switch (rnd(s) % 8) {
	case 0:
		if (there)
			list_remove(at);
		return fpstore_remove(b->s, handle) == there;
	case 1:
	case 2:
		if (there) {
			fp = list[at].fp;
			list_remove(at);
			list_front(handle, &fp);
		}
		return fpstore_touch(b->s, handle) == there;
	case 3:
	case 4:
	case 5:
		return same_find(b, &fp);
	default:
		return there || same_insert(b, max, handle, &fp);
	}
}

static bool one_life(uint64_t id)
{
	uint64_t s = id * 0x9e3779b97f4a7c15u;
	uint32_t max = 1 + (uint32_t)(rnd(&s) % (rnd(&s) % 2 ? 20 : LIST_MAX));
	uint32_t values = 1 + (uint32_t)(rnd(&s) % (rnd(&s) % 2 ? 6 : 600)), steps = 4000;
	struct box b = box_of(max);
	bool ok = true;

	list_count = 0;
	for (uint32_t i = 0; ok && i < steps; i++) {
		ok = one_step(&b, &s, max, values) && fpstore_candidates(b.s) == list_count;
		if (i % 64 == 0)
			fpstore_check(b.s);
	}
	fpstore_check(b.s);
	free(b.mem);
	return ok;
}

static void lives(void)
{
	for (uint64_t i = 0; i < rounds; i++)
		if (!one_life(seed0 + i)) {
			printf("a difference: test_fpstore -n 1 -s %" PRIu64 "\n", seed0 + i);
			failures++;
			return;
		}
}

int main(int argc, char **argv)
{
	test_rounds(argc, argv, &rounds, &seed0);
	RUN(md5);
	RUN(fingerprints);
	RUN(the_most_similar);
	RUN(equal_ones);
	RUN(least_recently_used);
	RUN(many_share_one);
	RUN(a_store_of_one);
	RUN(lives);
	return test_result();
}
