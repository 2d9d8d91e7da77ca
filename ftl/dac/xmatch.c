// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * xmatch.c - see xmatch.h
 *
 * It knows tuples, the dictionary and code words. It does not know pages or the purpose of the
 * stream.
 *
 * Method. The dictionary is a list of tuples, the one used last in front. A tuple is looked up
 * in it; of all locations the one with the best match type is used, of several the first.
 *   full match:     the tuple moves to the front;
 *   partial match:  bytes that differ follow as literals; the new tuple goes to the front;
 *   miss:           all four bytes are literals; the tuple goes to the front.
 * Going to the front moves the others back by one, and the last falls out when the
 * dictionary is full.
 *
 * Code words, the first bit is the highest of the first byte:
 *   0 LOCATION TYPE LITERALS     a match
 *   0 LOCATION 011 COUNT         COUNT full matches in a row at the same location: 8 bits at
 *                                location 0, 2 .. 255; at others, where a pattern of some
 *                                tuples repeats, 2 bits: 2 = 10, 3 = 11, 4 = 00, 5 = 01
 *   1 BYTE BYTE BYTE BYTE        a miss
 * LOCATION is a phased binary code: of N locations in use and k = ceil(log2 N), the first
 * 2^k - N have k - 1 bits, the others k: location + 2^k - N. TYPE is one of types[] below.
 *
 * Sources. The papers give the method, the phased binary code, and static Huffman codes for the
 * types. The code words, the order of types, the second location (see below), and the counts of
 * runs are those of the authors' own VHDL ("xmatchpro" on OpenCores, LGPL); facts were taken from
 * it, but no code. This implementation leaves out tuples of less than four bytes at the ends of
 * words (the "vw" variant), the delay of the dictionary by a tuple (due to the VHDL's pipeline),
 * CRC, and the padding to 64 bits. It writes single codes where they take no more bits than a run,
 * which is its own choice.
 *
 * At first there are two locations in use, both zero, as in the VHDL. So 4 KiB of zeroes are 4
 * runs of 255 tuples of 13 bits, and 4 tuples of 3 bits: 64 bits. The dissertation gives 24 bytes
 * for such a page, and does not explain the figure. (Four sub-pages of 48 bits would give it: a
 * miss of 33 bits, and a run of 15 bits with a location of 6 bits and no type.)
 *
 * The dictionary. A tuple stays in its slot; order[] says which slot is at which location, from
 * order[front] on. A slot that moves to the front is written at order[front - 1]; when the array's
 * beginning is reached, all entries move to its end. For compressing, holds[] has a set of slots
 * for each byte value at each place: a bit for each slot whose tuple has that byte there. A match
 * is thus the AND of two to four words, and no tuples are compared. Expanding needs no holds[].
 *
 * Invariants:
 *   XM1  2 <= count <= dict; order[front .. front + count) are 0 .. count - 1, each once;
 *   XM2  compressing: bit s of holds[i][b] says that s < count and tuple[s] has byte b at place i;
 *   XM3  compressing and expanding have the same tuples at the same locations after every code word,
 *        because both change the dictionary only by to_front() and push().
 *
 * Cost: 8.7 KiB of scratch. Compressing clears 8 KiB for each block; a tuple takes four look-ups,
 * a search of up to 64 bytes for its location, and eight changes of words to enter the dictionary.
 */
#include "xmatch.h"

#define FIRST_COUNT 2u
#define MISS_BITS 33u
#define RUN_ZERO_MAX 255u
#define RUN_MAX 5u
#define RUN_CODE 3u
#define RUN_CODE_BITS 3u

enum match { FULL, MATCH_012, MATCH_123, MATCH_013, MATCH_023, MATCH_01, MATCH_12, MATCH_23, MISS };

/*
 * The types of matches, the one with the fewest bits first. A name says which of a tuple's four bytes match, from 0 on.
 * 013 and 023 take as many bits, and so do 12 and 23.
 */
static const struct {
	uint8_t code, bits;
	uint8_t literal_bits;
	/* The literals are (tuple >> high & high_mask) << low_bits | (tuple & low_mask). */
	uint8_t high, low_bits;
	uint16_t high_mask, low_mask;
} types[] = {
	/* clang-format off */
	[FULL]      = { 1, 1, 0, 0, 0, 0, 0 },
	[MATCH_012] = { 2, 3, 8, 0, 0, 0, 0xff },
	[MATCH_123] = { 0, 3, 8, 24, 0, 0xff, 0 },
	[MATCH_013] = { 15, 6, 8, 8, 0, 0xff, 0 },
	[MATCH_023] = { 14, 6, 8, 16, 0, 0xff, 0 },
	[MATCH_01]  = { 2, 4, 16, 0, 0, 0, 0xffff },
	[MATCH_12]  = { 13, 6, 16, 24, 8, 0xff, 0xff },
	[MATCH_23]  = { 12, 6, 16, 16, 0, 0xffff, 0 },
	/* clang-format on */
};

static uint8_t byte_at(uint32_t tuple, uint32_t place)
{
	return (uint8_t)(tuple >> (24 - 8 * place));
}

static uint32_t load(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void store(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 24);
	p[1] = (uint8_t)(v >> 16);
	p[2] = (uint8_t)(v >> 8);
	p[3] = (uint8_t)v;
}

/* ---- the dictionary ------------------------------------------------------- */

void xmatch_init(struct xmatch *x, uint32_t dict)
{
	SSD_ASSERT(dict >= XMATCH_DICT_MIN && dict <= XMATCH_DICT_MAX);
	memset(x, 0, sizeof(*x));
	x->dict = dict;
}

static void reset(struct xmatch *x)
{
	SSD_ASSERT(x->dict >= XMATCH_DICT_MIN && x->dict <= XMATCH_DICT_MAX);
	x->count = FIRST_COUNT;
	x->tuple[0] = x->tuple[1] = 0;
	x->front = XMATCH_ORDER - XMATCH_DICT_MAX;
	x->order[x->front] = 0;
	x->order[x->front + 1] = 1;
}

static uint32_t slot_at(const struct xmatch *x, uint32_t location)
{
	return x->order[x->front + location];
}

static void to_front(struct xmatch *x, uint32_t location)
{
	uint8_t *order = x->order + x->front, slot = order[location];

	memmove(order + 1, order, location);
	order[0] = slot;
}

/*
 * Insert a new tuple at the front and return its slot. If the dictionary is full, it reuses the
 * slot of the dropped tuple.
 */
static uint32_t push(struct xmatch *x)
{
	uint32_t slot = x->count < x->dict ? x->count++ : slot_at(x, x->dict - 1);

	if (!x->front) {
		x->front = XMATCH_ORDER - XMATCH_DICT_MAX;
		memcpy(x->order + x->front, x->order, XMATCH_DICT_MAX);
	}
	x->order[--x->front] = (uint8_t)slot;
	return slot;
}

/* Returns the k of LOCATION: the bits that hold any location in use. */
static uint32_t location_bits(const struct xmatch *x)
{
	return 32 - (uint32_t)__builtin_clz(x->count - 1);
}

/* ---- compressing ---------------------------------------------------------- */

struct writer {
	uint8_t *to;
	size_t left;
	uint64_t bits;		/* its lowest `held` bits are not written yet */
	uint32_t held;		/* < 32 between calls */
	bool full;
};

struct run {
	uint32_t location;
	uint32_t count;		/* full matches not coded yet */
};

/* Write the low `bits` bits of code, at most 33; its other bits are 0. */
static void put(struct writer *w, uint64_t code, uint32_t bits)
{
	w->bits = w->bits << bits | code;
	w->held += bits;
	while (w->held >= 32) {		/* twice if a miss follows 31 bits */
		w->held -= 32;
		if (w->left < 4) {
			w->full = true;
			return;
		}
		store(w->to, (uint32_t)(w->bits >> w->held));
		w->to += 4;
		w->left -= 4;
	}
}

/* Write the last bits, filled with zeroes to a whole byte. */
static void put_rest(struct writer *w)
{
	uint32_t bytes = (w->held + 7) / 8;

	if (bytes > w->left) {
		w->full = true;
		return;
	}
	w->bits <<= 8 * bytes - w->held;
	for (uint32_t i = 0; i < bytes; i++)
		*w->to++ = (uint8_t)(w->bits >> (8 * (bytes - 1 - i)));
	w->left -= bytes;
}

struct code {
	uint64_t bits;
	uint32_t count;
};

static void append(struct code *c, uint32_t bits, uint32_t count)
{
	c->bits = c->bits << count | bits;
	c->count += count;
}

/* Returns the code of a match's location, with the 0 in front of it. */
static struct code location_code(const struct xmatch *x, uint32_t location)
{
	uint32_t k = location_bits(x), shorter = (1u << k) - x->count;

	return location < shorter ? (struct code){ location, k } :
				    (struct code){ location + shorter, k + 1 };
}

static void put_run(struct xmatch *x, struct writer *w, struct run *r)
{
	struct code single, all;

	if (!r->count)
		return;
	single = all = location_code(x, r->location);
	append(&single, types[FULL].code, types[FULL].bits);
	append(&all, RUN_CODE, RUN_CODE_BITS);
	append(&all, r->location ? r->count & 3 : r->count, r->location ? 2 : 8);
	if (r->count == 1 || r->count * single.count <= all.count)
		for (; r->count; r->count--)
			put(w, single.bits, single.count);
	else
		put(w, all.bits, all.count);
	r->count = 0;
}

static void full_match(struct xmatch *x, struct writer *w, struct run *r, uint32_t location)
{

	if (r->count && (r->location != location || r->count == (location ? RUN_MAX : RUN_ZERO_MAX)))
		put_run(x, w, r);
	r->location = location;
	r->count++;
	if (location)
		to_front(x, location);
}

/*
 * Returns the slots with the best type of match. If two types are equally good, *type is the first,
 * and *second gets the slots of the other.
 */
static uint64_t candidates(const struct xmatch *x, uint32_t tuple, enum match *type, uint64_t *second)
{
	uint64_t h0 = x->holds[0][byte_at(tuple, 0)], h1 = x->holds[1][byte_at(tuple, 1)];
	uint64_t h2 = x->holds[2][byte_at(tuple, 2)], h3 = x->holds[3][byte_at(tuple, 3)];
	uint64_t h01 = h0 & h1, h12 = h1 & h2, h23 = h2 & h3;

	*second = 0;
	if (h01 & h23)
		return *type = FULL, h01 & h23;
	if (h01 & h2)
		return *type = MATCH_012, h01 & h2;
	if (h12 & h3)
		return *type = MATCH_123, h12 & h3;
	if ((h01 & h3) | (h0 & h23))
		return *type = MATCH_013, *second = h0 & h23, (h01 & h3) | *second;
	if (h01)
		return *type = MATCH_01, h01;
	if (h12 | h23)
		return *type = MATCH_12, *second = h23, h12 | h23;
	return *type = MISS, 0;
}

/* Load eight bytes, the first as the lowest. */
static uint64_t load_order(const uint8_t *p)
{
	return (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 | (uint64_t)p[3] << 24 |
	       (uint64_t)p[4] << 32 | (uint64_t)p[5] << 40 | (uint64_t)p[6] << 48 | (uint64_t)p[7] << 56;
}

#define EACH(byte) ((uint64_t)(byte) * 0x0101010101010101u)

static uint32_t location_of(const struct xmatch *x, uint32_t slot)
{
	const uint8_t *at = x->order + x->front;
	uint64_t other, is;

	for (;; at += 8) {
		other = load_order(at) ^ EACH(slot);
		is = (other - EACH(1)) & ~other & EACH(0x80);	/* in this mask only the lowest byte is exact */
		if (is)
			return (uint32_t)(at - (x->order + x->front)) + (uint32_t)__builtin_ctzll(is) / 8;
	}
}

/* Returns the first location of these slots, of which there is at least one. */
static uint32_t first_location(const struct xmatch *x, uint64_t slots)
{
	uint32_t location = 0;

	if (!(slots & (slots - 1)))
		return location_of(x, (uint32_t)__builtin_ctzll(slots));
	while (!(slots >> slot_at(x, location) & 1))
		location++;
	return location;
}

static void flip(struct xmatch *x, uint32_t slot)
{
	uint32_t tuple = x->tuple[slot];

	x->holds[0][byte_at(tuple, 0)] ^= (uint64_t)1 << slot;
	x->holds[1][byte_at(tuple, 1)] ^= (uint64_t)1 << slot;
	x->holds[2][byte_at(tuple, 2)] ^= (uint64_t)1 << slot;
	x->holds[3][byte_at(tuple, 3)] ^= (uint64_t)1 << slot;
}

static void learn(struct xmatch *x, uint32_t tuple)
{
	bool evicts = x->count == x->dict;
	uint32_t slot = push(x);

	if (evicts)
		flip(x, slot);
	x->tuple[slot] = tuple;
	flip(x, slot);
}

static void partial_match(struct xmatch *x, struct writer *w, uint32_t tuple, enum match type,
			  uint32_t location)
{
	struct code c = location_code(x, location);

	append(&c, types[type].code, types[type].bits);
	append(&c, (tuple >> types[type].high & types[type].high_mask) << types[type].low_bits |
		   (tuple & types[type].low_mask), types[type].literal_bits);
	put(w, c.bits, c.count);
}

static void compress_tuple(struct xmatch *x, struct writer *w, struct run *r, uint32_t tuple)
{
	enum match type;
	uint64_t second, slots;
	uint32_t location;

	if (tuple == x->tuple[slot_at(x, 0)]) {		/* most tuples of a XOR are zero */
		full_match(x, w, r, 0);
		return;
	}
	slots = candidates(x, tuple, &type, &second);
	if (type == MISS) {
		put_run(x, w, r);
		put(w, (uint64_t)1 << 32 | tuple, MISS_BITS);
		learn(x, tuple);
		return;
	}
	location = first_location(x, slots);
	if (type == FULL) {
		full_match(x, w, r, location);
		return;
	}
	put_run(x, w, r);
	if (second >> slot_at(x, location) & 1)
		type++;
	partial_match(x, w, tuple, type, location);
	learn(x, tuple);
}

static size_t compress(struct xmatch *x, const uint8_t *src, const uint8_t *ref, size_t len,
		       void *dst, size_t room)
{
	struct writer w = { .to = dst, .left = room };
	struct run r = { 0, 0 };

	SSD_ASSERT(len && len % XMATCH_TUPLE_BYTES == 0);
	reset(x);
	memset(x->holds, 0, sizeof(x->holds));
	flip(x, 0);
	flip(x, 1);
	for (size_t i = 0; i < len && !w.full; i += XMATCH_TUPLE_BYTES)
		compress_tuple(x, &w, &r, load(src + i) ^ (ref ? load(ref + i) : 0));
	put_run(x, &w, &r);
	if (!w.full)
		put_rest(&w);
	return w.full ? 0 : room - w.left;
}

size_t xmatch_bound(size_t len)
{
	/* A match takes 29 bits at most, a run less than its tuples' single codes. */
	return (len / XMATCH_TUPLE_BYTES * MISS_BITS + 7) / 8;
}

size_t xmatch_compress(struct xmatch *x, const void *src, size_t len, void *dst, size_t room)
{
	return compress(x, src, NULL, len, dst, room);
}

size_t xmatch_compress_xor(struct xmatch *x, const void *src, const void *ref, size_t len, void *dst,
			   size_t room)
{
	return compress(x, src, ref, len, dst, room);
}

/* ---- expanding ------------------------------------------------------------ */

/* A reader reads the bits of a stream. Beyond the end it reads zeroes and counts them. */
struct reader {
	const uint8_t *from, *end;
	uint64_t bits;		/* left-aligned */
	uint32_t held;		/* bits of the stream, 57 or more after fill() */
	uint32_t beyond;	/* zero bytes read beyond its end */
};

static void fill(struct reader *r)
{
	if (r->end - r->from >= 8 && r->held <= 56) {
		uint32_t bytes = (64 - r->held) / 8;
		uint64_t next = (uint64_t)load(r->from) << 32 | load(r->from + 4);

		r->bits |= next >> (64 - 8 * bytes) << (64 - r->held - 8 * bytes);
		r->from += bytes;
		r->held += 8 * bytes;
		return;
	}
	while (r->held <= 56) {
		if (r->from < r->end)
			r->bits |= (uint64_t)*r->from++ << (56 - r->held);
		else
			r->beyond++;
		r->held += 8;
	}
}

/* Returns the next `count` bits, 1 to 32, without taking them. */
static uint32_t peek(const struct reader *r, uint32_t count)
{
	return (uint32_t)(r->bits >> (64 - count));
}

static void drop(struct reader *r, uint32_t count)
{
	r->bits <<= count;
	r->held -= count;
}

static uint32_t get(struct reader *r, uint32_t count)
{
	uint32_t v = peek(r, count);

	drop(r, count);
	return v;
}

/* Is this the end of the stream? The bits that are left must be zeroes that fill its last byte. */
static bool at_end(const struct reader *r)
{
	uint32_t left = r->held - 8 * r->beyond;	/* wraps to a huge value if more was read than there is */

	return r->from == r->end && left < 8 && !r->bits;
}

static uint32_t get_location(const struct xmatch *x, struct reader *r)
{
	uint32_t k = location_bits(x), shorter = (1u << k) - x->count, v = 0;

	if (k > 1)
		v = peek(r, k - 1);
	if (v < shorter) {
		if (k > 1)
			drop(r, k - 1);
		return v;
	}
	return get(r, k) - shorter;
}

/* Returns the type of match, or MISS if a run follows. */
static enum match get_type(struct reader *r)
{
	uint32_t bits = peek(r, 6);
	enum match type;

	if (bits >> 5)
		type = FULL;
	else if (bits >> 3 == RUN_CODE)
		return drop(r, RUN_CODE_BITS), MISS;
	else if (bits >> 3 == types[MATCH_012].code)
		type = MATCH_012;
	else if (bits >> 3 == types[MATCH_123].code)
		type = MATCH_123;
	else if (bits >> 2 == types[MATCH_01].code)
		type = MATCH_01;
	else	/* 11aa */
		type = (const enum match[]){ MATCH_23, MATCH_12, MATCH_023, MATCH_013 }[bits & 3];
	drop(r, types[type].bits);
	return type;
}

static uint32_t get_run(struct reader *r, uint32_t location)
{
	uint32_t count;

	if (!location)
		return get(r, 8);
	count = get(r, 2);
	return count < 2 ? count + 4 : count;
}

static uint32_t get_literals(struct reader *r, enum match type, uint32_t tuple)
{
	uint32_t v = get(r, types[type].literal_bits);
	uint32_t high = types[type].high_mask, low = types[type].low_mask;

	tuple &= ~(high << types[type].high | low);
	return tuple | (v >> types[type].low_bits & high) << types[type].high | (v & low);
}

static void learn_it(struct xmatch *x, uint32_t tuple)
{
	x->tuple[push(x)] = tuple;
}

/* Expand one code word. Returns the number of tuples, each at *location (0: not a code word). */
static uint32_t expand_word(struct xmatch *x, struct reader *r, uint32_t *location)
{
	enum match type;
	uint32_t run;

	fill(r);
	*location = 0;
	if (get(r, 1)) {
		learn_it(x, get(r, 32));
		return 1;
	}
	*location = get_location(x, r);
	type = get_type(r);
	if (type == FULL)
		return 1;
	if (type == MISS) {
		run = get_run(r, *location);
		return run < 2 ? 0 : run;
	}
	learn_it(x, get_literals(r, type, x->tuple[slot_at(x, *location)]));
	*location = 0;
	return 1;
}

static int expand(struct xmatch *x, const uint8_t *src, size_t len, const uint8_t *ref, uint8_t *dst,
		  size_t out_len)
{
	struct reader r = { .from = src, .end = src + len };
	uint32_t location, count;

	SSD_ASSERT(out_len && out_len % XMATCH_TUPLE_BYTES == 0);
	reset(x);
	for (size_t at = 0; at < out_len;) {
		count = expand_word(x, &r, &location);
		if (!count || count > (out_len - at) / XMATCH_TUPLE_BYTES)
			return SSD_E_CORRUPT;
		for (; count; count--, at += XMATCH_TUPLE_BYTES) {
			if (location)
				to_front(x, location);
			store(dst + at, x->tuple[slot_at(x, 0)] ^ (ref ? load(ref + at) : 0));
		}
	}
	return at_end(&r) ? SSD_OK : SSD_E_CORRUPT;
}

int xmatch_expand(struct xmatch *x, const void *src, size_t len, void *dst, size_t out_len)
{
	return expand(x, src, len, NULL, dst, out_len);
}

int xmatch_expand_xor(struct xmatch *x, const void *src, size_t len, const void *ref, void *dst,
		      size_t out_len)
{
	return expand(x, src, len, ref, dst, out_len);
}
