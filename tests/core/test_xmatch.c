// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test XMatchPRO: streams derived by hand, bit by bit; random blocks compared with a second coder,
 * written from the description and based on a list; and invalid streams.  test_xmatch [-n rounds]
 * [-s seed]
 */
#include "test.h"
#include "xmatch.h"

#define BLOCK_MAX 16384u
#define ROOM (BLOCK_MAX + BLOCK_MAX / 8)

static uint32_t rounds = 300;
static uint64_t seed0 = 1;
static struct xmatch x;

/* ---- by hand -------------------------------------------------------------- */

/* Convert "10 1" to 0xa0; blanks are ignored. */
static size_t bytes_of(const char *bits, uint8_t *out)
{
	size_t n = 0;

	for (; *bits; bits++) {
		if (*bits == ' ')
			continue;
		if (n % 8 == 0)
			out[n / 8] = 0;
		if (*bits == '1')
			out[n / 8] |= (uint8_t)(0x80 >> n % 8);
		n++;
	}
	return (n + 7) / 8;
}

/* Do these tuples (first byte highest) compress to this stream, and does it expand to them? */
static bool is(const uint32_t *tuple, size_t count, const char *bits)
{
	static uint8_t block[BLOCK_MAX], want[ROOM], got[ROOM], back[BLOCK_MAX];
	size_t len = 4 * count, n = bytes_of(bits, want);

	for (size_t i = 0; i < len; i++)
		block[i] = (uint8_t)(tuple[i / 4] >> (24 - 8 * (i % 4)));
	memset(got, 0xee, sizeof(got));
	if (xmatch_compress(&x, block, len, got, sizeof(got)) != n || memcmp(got, want, n) ||
	    got[n] != 0xee)
		return false;
	return xmatch_expand(&x, got, n, back, len) == SSD_OK && !memcmp(back, block, len);
}

#define IS(bits, ...) \
	EXPECT(is((const uint32_t[]){ __VA_ARGS__ }, \
		  sizeof((const uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t), bits))

/* Tuples 01 02 03 04, as bits */
#define B1 "00000001 "
#define B2 "00000010 "
#define B3 "00000011 "
#define B4 "00000100 "
#define B9 "00001001 "
#define MISS_1234 "1 " B1 B2 B3 B4

static void misses_and_full_matches(void)
{
	xmatch_init(&x, 64);
	/* Zero is at locations 0 and 1 from the first: of 2, location 0 is "0". Full: "1". */
	IS("0 0 1", 0);
	IS(MISS_1234, 0x01020304);
	/* Of 3 locations (1234, 0, 0) the first has one bit, the others "10" and "11". */
	IS(MISS_1234 "0 0 1", 0x01020304, 0x01020304);
	IS(MISS_1234 "0 10 1", 0x01020304, 0);
	/* (0, 1234, 0): a match moves to the front, and the dictionary does not grow. */
	IS(MISS_1234 "0 10 1 0 10 1", 0x01020304, 0, 0x01020304);
	/* Of 4 locations each has two bits. Zero is at the third. */
	IS(MISS_1234 "1" B4 B3 B2 B1 "0 10 1", 0x01020304, 0x04030201, 0);
}

static void partial_matches(void)
{
	xmatch_init(&x, 64);
	/* One byte differs: the last, the first, the third, the second. */
	IS(MISS_1234 "0 0 010" B9, 0x01020304, 0x01020309);
	IS(MISS_1234 "0 0 000" B9, 0x01020304, 0x09020304);
	IS(MISS_1234 "0 0 001111" B9, 0x01020304, 0x01020904);
	IS(MISS_1234 "0 0 001110" B9, 0x01020304, 0x01090304);
	/* Two neighbours match: the first two, those in the middle, the last two. */
	IS(MISS_1234 "0 0 0010" B9 B9, 0x01020304, 0x01020909);
	IS(MISS_1234 "0 0 001101" B9 B9, 0x01020304, 0x09020309);
	IS(MISS_1234 "0 0 001100" B9 B9, 0x01020304, 0x09090304);
	/* Only the first and third, second and last, or first and last bytes match, or only one: a miss. */
	IS(MISS_1234 "1" B1 B9 B3 B9, 0x01020304, 0x01090309);
	IS(MISS_1234 "1" B9 B2 B9 B4, 0x01020304, 0x09020904);
	IS(MISS_1234 "1" B1 B9 B9 B4, 0x01020304, 0x01090904);
	IS(MISS_1234 "1" B1 B9 B9 B9, 0x01020304, 0x01090909);
	/* A partial match is learnt: (1239, 1234, 0, 0). Full at location 0, then at 1. */
	IS(MISS_1234 "0 0 010" B9 "0 00 1 0 01 1", 0x01020304, 0x01020309, 0x01020309, 0x01020304);
}

/* The better type wins at any location; among equal types the first location. */
static void which_match(void)
{
	xmatch_init(&x, 64);
	/* After (9999, 1234, 0, 0), whose locations have two bits, 1294 differs in the third byte from location 1. */
	IS(MISS_1234 "1" B9 B9 B9 B9 "0 01 001111" B9, 0x01020304, 0x09090909, 0x01020904);
	/* The dictionary is (1204, 1234, 0, 0), then 1203: three bytes match the first, two the second. */
	IS(MISS_1234 "0 0 001111 00000000 0 00 010" B3, 0x01020304, 0x01020004, 0x01020003);
	/* The dictionary is (5234, 1294, 1234, 0, 0). Of 5 locations, k = 3, three have two bits, and two have three.
	 * 1239 shares two bytes with each of the first two tuples, three with the third. */
	IS(MISS_1234 "0 0 001111" B9 "0 01 000 00000101 0 10 010" B9, 0x01020304, 0x01020904,
	   0x05020304, 0x01020309);
}

static void runs(void)
{
	static uint32_t zero[BLOCK_MAX / 4];

	xmatch_init(&x, 64);
	/*
	 * At location 0 of 2, a full match takes 3 bits, a run 1 + 1 + 3 + 8 = 13: from 5 on.
	 * 1234 makes 3 locations, the same with one bit.
	 */
	IS("0 0 1 0 0 1 0 0 1 0 0 1", 0, 0, 0, 0);
	IS("0 0 011 00000101", 0, 0, 0, 0, 0);
	IS(MISS_1234 "0 0 011 00000110", 0x01020304, 0x01020304, 0x01020304, 0x01020304, 0x01020304,
	   0x01020304, 0x01020304);
	/* These are the longest run, one tuple more, and five more. */
	EXPECT(is(zero, 255, "0 0 011 11111111"));
	EXPECT(is(zero, 256, "0 0 011 11111111 0 0 1"));
	EXPECT(is(zero, 260, "0 0 011 11111111 0 0 011 00000101"));
	/*
	 * A page of zeroes is the XOR of two equal pages. Its 1,024 tuples are four runs of
	 * 255, of 13 bits each, and four single tuples of 3 bits each: 64 bits. The 4,096 tuples of
	 * 16 KiB are 16 runs of 255 and one of 16: 221 bits.
	 */
	EXPECT(is(zero, 1024, "0001111111111 0001111111111 0001111111111 0001111111111 "
			      "001 001 001 001"));
	EXPECT_EQ(xmatch_compress(&x, zero, 16384, (uint8_t[28]){ 0 }, 28), 28);
}

static void patterns(void)
{
	const uint32_t a = 0x01020304, b = 0x05060708, c = 0x090a0b0c;
#define A_MISS MISS_1234
#define B_MISS "1 00000101 00000110 00000111 00001000 "
#define C_MISS "1 00001001 00001010 00001011 00001100 "

	xmatch_init(&x, 64);
	/*
	 * a b a b ...: of 4 locations (b, a, 0, 0) always the second, "01". One takes 4 bits, a run
	 * 1 + 2 + 3 + 2 = 8: from 3 on. Its count: 2 = 10, 3 = 11, 4 = 00, 5 = 01.
	 */
	IS(A_MISS B_MISS "0 01 1 0 01 1", a, b, a, b);
	IS(A_MISS B_MISS "0 01 011 11", a, b, a, b, a);
	IS(A_MISS B_MISS "0 01 011 00", a, b, a, b, a, b);
	IS(A_MISS B_MISS "0 01 011 01", a, b, a, b, a, b, a);
	IS(A_MISS B_MISS "0 01 011 01 0 01 1", a, b, a, b, a, b, a, b);
	/* a b c a b c: of 5, k = 3, the third is "10": 4 bits each, a run 8, so from 3 on too. It is
	 * written before what follows: zero is at location 3, "110", the first of the two. */
	IS(A_MISS B_MISS C_MISS "0 10 1 0 10 1 0 110 1", a, b, c, a, b, 0);
	IS(A_MISS B_MISS C_MISS "0 10 011 11 0 110 1", a, b, c, a, b, c, 0);
	/*
	 * Runs at locations 1 and 0 are separate: (b, a) a b b b b b b b is a run of 2 at 1, and
	 * one of 6 at 0.
	 */
	IS(A_MISS B_MISS "0 01 1 0 01 1 0 00 011 00000110", a, b, a, b, b, b, b, b, b, b);
#undef A_MISS
#undef B_MISS
#undef C_MISS
}

/* The smallest dictionary: when a ninth tuple comes, the last one is dropped. */
static void a_full_dictionary(void)
{
	uint32_t t[16];
	uint8_t out[64];

	xmatch_init(&x, 8);
	for (uint32_t i = 0; i < 8; i++)
		t[i] = 0x01010101 * (i + 1);
	/* 2 + 6 = 8 misses fill it, the zeroes fall out at the seventh and eighth. Then the one
	 * first learnt is at location 7 of 8, "111": 8 * 33 + 5 bits = 34 bytes. */
	t[8] = t[0];
	EXPECT_EQ(xmatch_compress(&x, t, 36, out, sizeof(out)), 34);
	EXPECT_EQ(out[33], 0x78);		/* 0 111 1 000 */
	/*
	 * With one more tuple, 0x02.. is at location 7, and 0x01.., which was matched, is in front.
	 * So 0x09.. replaces 0x02.., and a search for 0x02.. is a miss.
	 */
	t[9] = 0x09090909;
	t[10] = t[1];
	EXPECT_EQ(xmatch_compress(&x, t, 44, out, sizeof(out)), (8 * 33 + 5 + 2 * 33 + 7) / 8);
}

/* ---- the second coder ----------------------------------------------------- */

struct naive {
	uint8_t tuple[64][4];
	uint32_t count, max;
	uint32_t run_location, run;
	char bits[BLOCK_MAX * 9 + 1];
	size_t len;
};

/* '=': equal byte. The best is first; types with the same rank are equally good. */
static const struct {
	const char *equal, *code;
	int rank;
} kinds[] = {
	{ "====", "1", 0 }, { "===.", "010", 1 }, { ".===", "000", 2 }, { "==.=", "001111", 3 },
	{ "=.==", "001110", 3 }, { "==..", "0010", 4 }, { ".==.", "001101", 5 }, { "..==", "001100", 5 },
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static void say(struct naive *n, const char *bits)
{
	for (; *bits; bits++)
		n->bits[n->len++] = *bits;
}

static void say_number(struct naive *n, uint32_t v, uint32_t bits)
{
	while (bits--)
		n->bits[n->len++] = "01"[v >> bits & 1];
}

static uint32_t say_location(struct naive *n, uint32_t location)
{
	uint32_t k = 0, shorter;
	size_t before = n->len;

	while (1u << k < n->count)
		k++;
	shorter = (1u << k) - n->count;
	say(n, "0");
	if (location < shorter)
		say_number(n, location, k - 1);
	else
		say_number(n, location + shorter, k);
	return (uint32_t)(n->len - before);
}

static void say_run(struct naive *n)
{
	uint32_t run = n->run, one;

	n->run = 0;
	if (!run)
		return;
	one = say_location(n, n->run_location);
	if (run > 1 && run * (one + 1) > one + 3 + (n->run_location ? 2 : 8)) {
		say(n, "011");
		if (n->run_location)
			say(n, (const char *[]){ "10", "11", "00", "01" }[run - 2]);
		else
			say_number(n, run, 8);
		return;
	}
	say(n, "1");
	while (--run) {
		say_location(n, n->run_location);
		say(n, "1");
	}
}

static bool equals(const uint8_t *a, const uint8_t *b, const char *equal)
{
	for (uint32_t i = 0; i < 4; i++)
		if ((a[i] == b[i]) != (equal[i] == '='))
			return false;
	return true;
}

/* Returns location and kind of the best match; KINDS: none. */
static size_t best(const struct naive *n, const uint8_t *t, uint32_t *location)
{
	for (int rank = 0; rank < 6; rank++)
		for (*location = 0; *location < n->count; ++*location)
			for (size_t k = 0; k < KINDS; k++)
				if (kinds[k].rank == rank &&
				    equals(n->tuple[*location], t, kinds[k].equal))
					return k;
	return KINDS;
}

static void bring_to_front(struct naive *n, const uint8_t *t, uint32_t from)
{
	uint8_t copy[4];

	memcpy(copy, t, 4);
	memmove(n->tuple[1], n->tuple[0], 4 * from);
	memcpy(n->tuple[0], copy, 4);
}

static void naive_tuple(struct naive *n, const uint8_t *t)
{
	uint32_t location;
	size_t k = best(n, t, &location);

	if (k == 0) {
		if (n->run_location != location || n->run == (location ? 5 : 255))
			say_run(n);
		n->run_location = location;
		n->run++;
		bring_to_front(n, n->tuple[location], location);
		return;
	}
	say_run(n);
	if (k < KINDS) {
		say_location(n, location);
		say(n, kinds[k].code);
	} else {
		say(n, "1");
	}
	for (uint32_t i = 0; i < 4; i++)
		if (k == KINDS || kinds[k].equal[i] != '=')
			say_number(n, t[i], 8);
	n->count += n->count < n->max;
	bring_to_front(n, t, n->count - 1);
}

static size_t naive_compress(uint32_t dict, const uint8_t *src, size_t len, uint8_t *out)
{
	static struct naive n;

	memset(&n, 0, sizeof(n));
	n.count = 2;
	n.max = dict;
	for (size_t i = 0; i < len; i += 4)
		naive_tuple(&n, src + i);
	say_run(&n);
	n.bits[n.len] = 0;
	return bytes_of(n.bits, out);
}

/* ---- any block ------------------------------------------------------------ */

/*
 * Make a block of few or many byte values, new or repeated from shortly before, single or in runs.
 */
static void random_block(uint64_t *s, uint8_t *b, size_t len)
{
	uint32_t values = 1u << rnd(s) % 9, fresh = (uint32_t)(rnd(s) % 101);
	uint32_t again = 1 + (uint32_t)(rnd(s) % 100);

	for (size_t i = 0; i < len;) {
		size_t run = 4 * (rnd(s) % 4 ? 1 : 1 + rnd(s) % (rnd(s) % 8 ? 20 : 600));
		size_t period = 4 * (1 + rnd(s) % again);
		bool is_new = i < period || rnd(s) % 100 < fresh;

		for (; run && i < len; run--, i++) {
			b[i] = is_new ? (uint8_t)(rnd(s) % values) : b[i - period];
			if (!is_new && rnd(s) % 50 == 0)
				b[i] = (uint8_t)rnd(s);
		}
	}
}

static size_t random_len(uint64_t *s)
{
	static const uint32_t usual[] = { 512, 1024, 4096, 16384 };

	return rnd(s) % 2 ? 4 * (1 + rnd(s) % 300) : usual[rnd(s) % 4];
}

/* Blocks are allocated with their exact size, so that a sanitizer detects an access beyond it. */
struct block {
	size_t len, packed;
	uint8_t *data, *ref, *stream, *back;
};

static void make(struct block *b, uint64_t *s)
{
	b->len = random_len(s);
	b->data = malloc(b->len);
	b->ref = malloc(b->len);
	b->back = malloc(b->len);
	b->stream = malloc(xmatch_bound(b->len));
	random_block(s, b->data, b->len);
	random_block(s, b->ref, b->len);
	xmatch_init(&x, rnd(s) % 2 ? 64 : 8 + (uint32_t)(rnd(s) % 57));
	b->packed = xmatch_compress(&x, b->data, b->len, b->stream, xmatch_bound(b->len));
}

static void unmake(struct block *b)
{
	free(b->data);
	free(b->ref);
	free(b->back);
	free(b->stream);
}

static bool failed(uint64_t id, const char *what)
{
	printf("%s: test_xmatch -n 1 -s %" PRIu64 "\n", what, id);
	failures++;
	return false;
}

static bool one_block(uint64_t id)
{
	static uint8_t want[ROOM];
	uint64_t s = id * 0x9e3779b97f4a7c15u;
	struct block b;
	bool ok = true;

	make(&b, &s);
	if (!b.packed || b.packed != naive_compress(x.dict, b.data, b.len, want) ||
	    memcmp(b.stream, want, b.packed))
		ok = failed(id, "another stream than by the list");
	else if (xmatch_expand(&x, b.stream, b.packed, b.back, b.len) || memcmp(b.back, b.data, b.len))
		ok = failed(id, "not the same again");
	unmake(&b);
	return ok;
}

static void any_block(void)
{
	for (uint64_t i = 0; i < rounds; i++)
		if (!one_block(seed0 + i))
			return;
}

static bool one_xor(uint64_t id)
{
	uint64_t s = id * 0x9e3779b97f4a7c15u;
	struct block b;
	uint8_t *mixed, *room;
	bool ok = true;

	make(&b, &s);
	mixed = malloc(b.len);
	room = malloc(xmatch_bound(b.len));
	for (size_t i = 0; i < b.len; i++)
		mixed[i] = b.data[i] ^ b.ref[i];
	b.packed = xmatch_compress(&x, mixed, b.len, b.stream, xmatch_bound(b.len));
	if (xmatch_compress_xor(&x, b.data, b.ref, b.len, room, xmatch_bound(b.len)) != b.packed ||
	    memcmp(room, b.stream, b.packed))
		ok = failed(id, "another stream than of the XOR");
	else if (xmatch_expand_xor(&x, room, b.packed, b.ref, b.back, b.len) ||
		 memcmp(b.back, b.data, b.len))
		ok = failed(id, "not the same again by its reference");
	else if (xmatch_expand_xor(&x, room, b.packed, b.ref, b.ref, b.len) ||
		 memcmp(b.ref, b.data, b.len))
		ok = failed(id, "not the same again over its reference");
	free(mixed);
	free(room);
	unmake(&b);
	return ok;
}

static void with_a_reference(void)
{
	for (uint64_t i = 0; i < rounds; i++)
		if (!one_xor(seed0 + i))
			return;
}

/* The stream fits in exactly its size and in no smaller room; nothing is written beyond. */
static void room(void)
{
	for (uint64_t i = 0; i < rounds; i++) {
		uint64_t id = seed0 + i, s = id * 0x9e3779b97f4a7c15u;
		struct block b;
		uint8_t *tight;
		size_t less;

		make(&b, &s);
		tight = malloc(b.packed);
		if (xmatch_compress(&x, b.data, b.len, tight, b.packed) != b.packed ||
		    memcmp(tight, b.stream, b.packed))
			failed(id, "does not fit where it fits");
		free(tight);
		less = rnd(&s) % 2 ? b.packed - 1 : rnd(&s) % b.packed;
		tight = malloc(less ? less : 1);
		if (xmatch_compress(&x, b.data, b.len, tight, less))
			failed(id, "fits where it does not");
		free(tight);
		unmake(&b);
	}
}

/* No byte value repeats at its place, so that all tuples are misses of 33 bits. */
static void the_longest_stream(void)
{
	uint8_t block[256], out[264];

	for (uint32_t i = 0; i < sizeof(block); i += 4) {
		block[i] = (uint8_t)(1 + i / 4);
		block[i + 1] = (uint8_t)(65 + i / 4);
		block[i + 2] = (uint8_t)(129 + i / 4);
		block[i + 3] = (uint8_t)(1 + i / 4);
	}
	xmatch_init(&x, 64);
	EXPECT_EQ(xmatch_bound(256), 264);	/* 64 * 33 = 2112 bits */
	EXPECT_EQ(xmatch_compress(&x, block, 256, out, 264), 264);
	EXPECT_EQ(xmatch_compress(&x, block, 256, out, 263), 0);
	EXPECT_EQ(xmatch_bound(4), 5);
	EXPECT_EQ(xmatch_bound(4096), 4224);
	EXPECT_EQ(xmatch_bound(16384), 16896);
}

/* ---- data that are not valid streams ---------------------------------------- */

/* Expand from a copy of exactly this size. */
static int expand(const uint8_t *src, size_t len, size_t out_len)
{
	uint8_t *copy = malloc(len ? len : 1), *out = malloc(out_len);
	int result;

	memcpy(copy, src, len);
	result = xmatch_expand(&x, copy, len, out, out_len);
	free(copy);
	free(out);
	return result;
}

#define REFUSED(bits, out_len)                                                     \
	do {                                                                       \
		uint8_t s_[64];                                                    \
		size_t n_ = bytes_of(bits, s_);                                    \
		EXPECT(expand(s_, n_, out_len) == SSD_E_CORRUPT);                  \
	} while (0)

#define TAKEN(bits, out_len)                                                       \
	do {                                                                       \
		uint8_t s_[64];                                                    \
		size_t n_ = bytes_of(bits, s_);                                    \
		EXPECT(expand(s_, n_, out_len) == SSD_OK);                         \
	} while (0)

static void what_is_no_stream(void)
{
	xmatch_init(&x, 64);
	TAKEN("0 0 1", 4);
	REFUSED("", 4);
	REFUSED("0 0 1", 8);			/* "00000": a match whose literals are missing */
	REFUSED("0 0 1 00000 00000000", 4);	/* one byte too many */
	REFUSED("0 0 1 00001", 4);		/* the padding is not zero */
	TAKEN("0 0 011 00000101", 20);
	REFUSED("0 0 011 00000101", 16);	/* a run beyond the end of the block ... */
	REFUSED("0 0 011 00000101", 24);	/* ... and one that ends before it */
	REFUSED("0 0 011 00000000", 4);		/* a run of length 0, */
	REFUSED("0 0 011 00000001", 4);		/* and of length 1 */
	TAKEN("0 0 011 00000010", 8);		/* the coder does not write this, but it means 2 */
	TAKEN("0 1 011 10", 8);			/* zeroes at two locations in turn */
	REFUSED("0 1 011 11", 8);
	REFUSED("1 00000001 00000010 00000011", 4);	/* a miss with only three bytes */
	TAKEN(MISS_1234, 4);
	REFUSED(MISS_1234, 8);
}

/*
 * A stream that is cut or longer is refused. With a wrong bit it may be the stream of another
 * block; otherwise it is refused.
 */
static void broken_streams(void)
{
	for (uint64_t i = 0; i < rounds; i++) {
		uint64_t id = seed0 + i, s = id * 0x9e3779b97f4a7c15u;
		struct block b;
		uint8_t *longer;
		size_t cut, bit;
		int result;

		make(&b, &s);
		cut = rnd(&s) % b.packed;
		longer = malloc(b.packed + 1);
		memcpy(longer, b.stream, b.packed);
		longer[b.packed] = (uint8_t)rnd(&s);
		if (expand(b.stream, cut, b.len) != SSD_E_CORRUPT)
			failed(id, "a cut stream is taken");
		if (expand(longer, b.packed + 1, b.len) != SSD_E_CORRUPT)
			failed(id, "a longer stream is taken");
		if (expand(b.stream, b.packed, b.len + 4) != SSD_E_CORRUPT)
			failed(id, "a stream is taken for a larger block");
		bit = rnd(&s) % (8 * b.packed);
		b.stream[bit / 8] ^= (uint8_t)(1 << bit % 8);
		result = xmatch_expand(&x, b.stream, b.packed, b.back, b.len);
		if (result != SSD_OK && result != SSD_E_CORRUPT)
			failed(id, "neither taken nor refused");
		free(longer);
		unmake(&b);
	}
}

static void garbage(void)
{
	for (uint64_t i = 0; i < rounds; i++) {
		uint64_t s = (seed0 + i) * 0x9e3779b97f4a7c15u;
		uint8_t stream[700];
		size_t len = rnd(&s) % sizeof(stream);
		int result;

		random_block(&s, stream, len);
		xmatch_init(&x, 8 + (uint32_t)(rnd(&s) % 57));
		result = expand(stream, len, 4 * (1 + rnd(&s) % 512));
		EXPECT(result == SSD_OK || result == SSD_E_CORRUPT);
	}
}

int main(int argc, char **argv)
{
	test_rounds(argc, argv, &rounds, &seed0);
	RUN(misses_and_full_matches);
	RUN(partial_matches);
	RUN(which_match);
	RUN(runs);
	RUN(patterns);
	RUN(a_full_dictionary);
	RUN(any_block);
	RUN(with_a_reference);
	RUN(room);
	RUN(the_longest_stream);
	RUN(what_is_no_stream);
	RUN(broken_streams);
	RUN(garbage);
	return test_result();
}
