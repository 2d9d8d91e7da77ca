// SPDX-License-Identifier: GPL-2.0-or-later
/* spare.c - see spare.h */
#include "spare.h"

#define CELL_BITS (SPARE_CELL_BYTES * 8)
#define CELL_WORDS (SPARE_CELL_BYTES / 8)
#define QUOTIENT_MAX 15u	/* of a Rice code; so many ones are its escape */
#define BYTES5 (((uint64_t)1 << 40) - 1)
#define MEAN_MAX (1u << 26)
#define LITERAL_BITS(units) (4 + SPARE_BYTES(units) * 8)	/* the most that a page takes */
#define NONE UINT32_MAX

enum record { ANY, OWN, RUN, LITERAL };

/* Each has the code 0, 01, 011 or 111, first bit last. */
static const struct { uint8_t code, bits; } record_code[] = { { 0, 1 }, { 1, 2 }, { 3, 3 }, { 7, 3 } };

/* ---- reading the numbers of a spare area ------------------------------------- */

static uint64_t get5(const uint8_t *p)
{
	uint64_t v = 0;

	memcpy(&v, p, 5);
	return v;
}

static uint32_t get4(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, 4);
	return v;
}

static uint32_t get2(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8;
}

static const uint8_t *unit_of(const uint8_t *oob, uint32_t i)
{
	return oob + SPARE_HEAD_BYTES + (size_t)i * SPARE_UNIT_BYTES;
}

/* ---- cells --------------------------------------------------------------------- */

static uint32_t cell_take(const struct spares *k)
{
	struct spare_pool *p = k->pool;
	uint32_t c = p->free;

	if (c) {
		p->free = k->link[c];
	} else {
		c = ++p->used;
		SSD_ASSERT(c < k->cells);
	}
	k->link[c] = 0;
	return c;
}

static uint64_t *word_of(const struct spares *k, const struct spare_at *at)
{
	return k->cell + (size_t)at->cell * CELL_WORDS + at->bit / 64;
}

/* The stream of a block ends at this place from now on. */
static void cut_back(const struct spares *k, struct spare_stream *s, struct spare_at at)
{
	uint32_t next = at.cell ? k->link[at.cell] : s->first;

	if (at.cell) {
		k->link[at.cell] = 0;
		*word_of(k, &at) &= at.bit % 64 ? ~(uint64_t)0 >> (64 - at.bit % 64) : 0;
	} else {
		s->first = 0;
	}
	while (next) {
		uint32_t c = next;

		next = k->link[c];
		k->link[c] = k->pool->free;
		k->pool->free = c;
	}
	s->end = at;
	s->seen = (struct spare_at){ 0 };
}

/* ---- bits of a record ------------------------------------------------------------------------ */

#define RECORD_WORDS 34u	/* a record is shorter, whatever it holds */

struct out {			/* a record that is being made */
	uint64_t *to;		/* where the next 64 bits are stored once there are as many */
	uint64_t last;		/* its bits so far, and how many these are */
	uint32_t bits;
};

struct in {			/* a record that is read */
	const uint8_t *from;
	uint32_t bit;
};

/* Append the n lowest bits of v, 1 .. 57; the others are 0. */
static SSD_ALWAYS void put(struct out *o, uint64_t v, uint32_t n)
{
	o->last |= v << o->bits;
	o->bits += n;
	if (o->bits >= 64) {
		*o->to++ = o->last;
		o->bits -= 64;
		o->last = v >> (n - o->bits);
	}
}

/* Returns at least the next 57 bits, the first in the lowest place. If the record has fewer left, ignore the others. */
static SSD_ALWAYS uint64_t look(const struct in *in)
{
	uint64_t v;

	memcpy(&v, in->from + in->bit / 8, 8);
	return v >> in->bit % 8;
}

static SSD_ALWAYS uint64_t take(struct in *in, uint32_t n)
{
	uint64_t v = look(in) & (((uint64_t)1 << n) - 1);

	in->bit += n;
	return v;
}

/*
 * Store a record at the end of a stream. words: its whole words; the lowest bits of the first one repeat the bits of
 * the stream that precede the record in that word. o has the bits after the whole words.
 */
static inline void append(const struct spares *k, struct spare_at *at, const uint64_t *words, const struct out *o)
{
	uint32_t whole = (uint32_t)(o->to - words), word = at->bit / 64;

	for (uint32_t i = 0; i <= whole; i++, word++) {
		if (word == CELL_WORDS) {
			uint32_t c = cell_take(k);

			k->link[at->cell] = c;
			at->cell = c;
			word = 0;
		}
		k->cell[(size_t)at->cell * CELL_WORDS + word] = i < whole ? words[i] : o->last;
	}
	at->bit = (word - 1) * 64 + o->bits;
}

/* Returns where the record begins; from there on it is in one piece, if need be in `piece`. */
static inline struct in open_record(const struct spares *k, const struct spare_at *at, uint64_t *piece)
{
	const uint64_t *word = word_of(k, at);
	uint32_t left = CELL_WORDS - at->bit / 64;

	if (left < RECORD_WORDS) {
		memcpy(piece, word, left * sizeof(*piece));
		memcpy(piece + left, k->cell + (size_t)k->link[at->cell] * CELL_WORDS, RECORD_WORDS * sizeof(*piece));
		word = piece;
	}
	return (struct in){ (const uint8_t *)word, at->bit % 64 };
}

/* The next record begins where this one has ended. */
static inline void end_record(const struct spares *k, struct spare_at *at, const struct in *in)
{
	at->bit += in->bit - at->bit % 64;
	if (at->bit >= CELL_BITS) {
		at->bit -= CELL_BITS;
		at->cell = k->link[at->cell];
	}
	at->page++;
}

/* ---- differences: a Rice code ------------------------------------------------------- */

static inline uint32_t rice_bits(uint32_t mean)
{
	return 31u - (uint32_t)__builtin_clz(mean >> 4 | 1);
}

/* One large difference must not make the next ones long. */
static SSD_ALWAYS void learn(uint32_t *mean, uint64_t d)
{
	uint32_t m = *mean >> 4, most = 4 * m + 64;

	d = d < MEAN_MAX ? d : MEAN_MAX;
	*mean += (d < most ? (uint32_t)d : most) - m;
}

/* Append d, or after an escape the number `whole` that the reader needs, of whole_bits bits. */
static SSD_ALWAYS void put_rice(struct out *o, uint32_t *mean, uint64_t d, uint64_t whole, uint32_t whole_bits)
{
	uint32_t bits = rice_bits(*mean);
	uint64_t quotient = d >> bits;

	if (SSD_LIKELY(quotient < QUOTIENT_MAX)) {
		uint64_t ones = ((uint64_t)1 << quotient) - 1, rest = d & (((uint64_t)1 << bits) - 1);

		put(o, ones | rest << (quotient + 1), (uint32_t)quotient + 1 + bits);
	} else {
		put(o, ((uint64_t)1 << QUOTIENT_MAX) - 1, QUOTIENT_MAX);
		put(o, whole, whole_bits);
	}
	learn(mean, d);
}

/* Returns true and *d; or false and *d after an escape, as put_rice() had `whole`. The caller calls learn(). */
static SSD_ALWAYS bool take_rice(struct in *in, uint32_t mean, uint64_t *d, uint32_t whole_bits)
{
	uint32_t bits = rice_bits(mean), quotient;
	uint64_t v = look(in);

	quotient = (uint32_t)__builtin_ctzll(~v | (uint64_t)1 << QUOTIENT_MAX);
	if (SSD_UNLIKELY(quotient == QUOTIENT_MAX)) {
		in->bit += QUOTIENT_MAX;
		*d = take(in, whole_bits);
		return false;
	}
	in->bit += quotient + 1 + bits;
	*d = (uint64_t)quotient << bits | (v >> (quotient + 1) & (((uint64_t)1 << bits) - 1));
	return true;
}

/* A number of at most `bits` bits that mostly grows. */
static SSD_ALWAYS void put_grown(struct out *o, uint32_t *mean, uint64_t *last, uint64_t v, uint32_t bits)
{
	put_rice(o, mean, (v - *last) & BYTES5, v, bits);
	*last = v;
}

static SSD_ALWAYS uint64_t take_grown(struct in *in, uint32_t *mean, uint64_t *last, uint32_t bits)
{
	uint64_t d, v;

	v = take_rice(in, *mean, &d, bits) ? (*last + d) & BYTES5 : d;
	learn(mean, (v - *last) & BYTES5);
	*last = v;
	return v;
}

/* The mark goes up and down: small differences of either sign have small numbers. */
static SSD_ALWAYS uint32_t fold(uint32_t from, uint32_t to)
{
	uint32_t d = (to - from) & 0xffff;

	return d < 0x8000 ? 2 * d : 2 * (0xffff - d) + 1;
}

static SSD_ALWAYS uint32_t unfold(uint32_t from, uint32_t d)
{
	return (d & 1 ? from - d / 2 - 1 : from + d / 2) & 0xffff;
}

static SSD_ALWAYS void put_mark(struct out *o, struct spare_at *at, uint32_t mark)
{
	put_rice(o, &at->mean[MEAN_MARK], fold(at->mark, mark), mark, 16);
	at->mark = mark;
}

static SSD_ALWAYS uint32_t take_mark(struct in *in, struct spare_at *at)
{
	uint64_t d;
	uint32_t mark = take_rice(in, at->mean[MEAN_MARK], &d, 16) ? unfold(at->mark, (uint32_t)d) : (uint32_t)d;

	learn(&at->mean[MEAN_MARK], fold(at->mark, mark));
	at->mark = mark;
	return mark;
}

/* ---- addresses ------------------------------------------------------------------------ */

/*
 * The codes 0 .. addresses - 1, and one more as escape. The first short_codes of them have address_bits bits, the
 * others one more.
 */
static SSD_ALWAYS void put_address(struct out *o, const struct spares *k, uint32_t v)
{
	uint64_t code = v < k->addresses ? v : k->addresses;

	if (code < k->short_codes) {
		put(o, code, k->address_bits);
	} else {
		code += k->short_codes;
		put(o, code >> 1 | (code & 1) << k->address_bits, k->address_bits + 1);
	}
	if (v >= k->addresses)
		put(o, v, 32);
}

static SSD_ALWAYS uint32_t take_address(struct in *in, const struct spares *k)
{
	uint64_t v = look(in), code = v & (((uint64_t)1 << k->address_bits) - 1);

	in->bit += k->address_bits;
	if (code >= k->short_codes) {
		in->bit++;
		code = (code << 1 | (v >> k->address_bits & 1)) - k->short_codes;
	}
	return code < k->addresses ? (uint32_t)code : (uint32_t)take(in, 32);
}

/* ---- records --------------------------------------------------------------------------- */

static inline enum record kind_of(const struct spares *k, const uint8_t *oob, uint64_t order)
{
	uint32_t first = get4(unit_of(oob, 0));
	bool run = true, own = true;

	for (uint32_t i = 0; i < k->units; i++) {
		uint64_t seq = get5(unit_of(oob, i) + 4);

		if (seq > order)
			return LITERAL;
		own &= seq == order;
		run &= get4(unit_of(oob, i)) == first + i;
	}
	return own ? run ? RUN : OWN : ANY;
}

/* Returns the bits of a sequence that is not above the order. */
static inline uint32_t seq_bits(uint64_t order)
{
	return 64u - (uint32_t)__builtin_clzll(order | 1);
}

static inline void put_record(struct out *o, const struct spares *k, struct spare_at *at, const uint8_t *oob,
			      enum record kind)
{
	uint64_t order = get5(oob);
	uint32_t bits = seq_bits(order);

	put(o, record_code[kind].code, record_code[kind].bits);
	put_grown(o, &at->mean[MEAN_ORDER], &at->order, order, 40);
	put_mark(o, at, get2(oob + 5));
	for (uint32_t i = 0; i < (kind == RUN ? 1 : k->units); i++) {
		put_address(o, k, get4(unit_of(oob, i)));
		if (kind == ANY)
			put_grown(o, &at->mean[MEAN_SEQ], &at->seq, get5(unit_of(oob, i) + 4), bits);
	}
	if (kind != ANY)
		at->seq = order;
}

static SSD_SELDOM void put_literal(struct out *o, const struct spares *k, const uint8_t *oob)
{
	put(o, record_code[LITERAL].code | 1 << 3, 4);
	for (uint32_t i = 0; i < SPARE_BYTES(k->units); i++)
		put(o, oob[i], 8);
}

static SSD_SELDOM void take_literal(struct in *in, const struct spares *k, uint8_t *oob)
{
	if (!take(in, 1))
		memset(oob, 0xff, SPARE_BYTES(k->units));
	else
		for (uint32_t i = 0; i < SPARE_BYTES(k->units); i++)
			oob[i] = (uint8_t)take(in, 8);
}

static inline void take_units(struct in *in, const struct spares *k, struct spare_at *at, uint8_t *oob,
			      enum record kind)
{
	uint64_t order = take_grown(in, &at->mean[MEAN_ORDER], &at->order, 40), seq = order;
	uint32_t mark = take_mark(in, at), bits = seq_bits(order), address = 0;

	memcpy(oob, &order, 5);
	memcpy(oob + 5, &mark, 2);
	for (uint32_t i = 0; i < k->units; i++) {
		uint8_t *unit = oob + SPARE_HEAD_BYTES + (size_t)i * SPARE_UNIT_BYTES;

		address = kind == RUN && i ? address + 1 : take_address(in, k);
		if (kind == ANY)
			seq = take_grown(in, &at->mean[MEAN_SEQ], &at->seq, bits);
		memcpy(unit, &address, 4);
		memcpy(unit + 4, &seq, 5);
	}
	at->seq = seq;
}

/* Unpack the record of page at->page. */
static void take_record(const struct spares *k, struct spare_at *place, uint8_t *oob)
{
	uint64_t piece[2 * RECORD_WORDS];
	struct spare_at at = *place;	/* a copy, so that it can be in registers */
	struct in in = open_record(k, &at, piece);
	enum record kind = (enum record)__builtin_ctzll(~look(&in) | 1 << LITERAL);

	in.bit += record_code[kind].bits;
	if (SSD_LIKELY(kind != LITERAL))
		take_units(&in, k, &at, oob, kind);
	else
		take_literal(&in, k, oob);
	end_record(k, &at, &in);
	*place = at;
}

/* ---- streams ----------------------------------------------------------------------------- */

/* Move the stream's place for reads to the record of this page, which the stream has, and return the place. */
static struct spare_at *go_to(struct spares *k, struct spare_stream *s, uint32_t page)
{
	if (page < s->seen.page || !s->seen.cell)
		s->seen = (struct spare_at){ .cell = s->first };
	while (s->seen.page < page) {
		k->held_ppn = NONE;
		take_record(k, &s->seen, k->held);
	}
	return &s->seen;
}

void spares_drop(struct spares *k, uint32_t block, uint32_t page)
{
	struct spare_stream *s = &k->stream[block];

	k->held_ppn = NONE;
	if (page < s->end.page)
		cut_back(k, s, page ? *go_to(k, s, page) : (struct spare_at){ 0 });
}

/* Append the record of page s->end.page; oob: NULL if it was skipped. */
static void add_page(const struct spares *k, struct spare_stream *s, const uint8_t *oob)
{
	uint64_t words[RECORD_WORDS];
	struct spare_at at = s->end;
	uint32_t before = at.bit % 64;
	struct out begin = { words, before ? *word_of(k, &at) : 0, before }, o = begin;
	enum record kind = oob ? kind_of(k, oob, get5(oob)) : LITERAL;

	if (SSD_LIKELY(kind != LITERAL))
		put_record(&o, k, &at, oob, kind);
	if (SSD_UNLIKELY(kind == LITERAL || (uint32_t)(o.to - words) * 64 + o.bits - before > LITERAL_BITS(k->units))) {
		at = s->end;
		o = begin;
		if (oob)
			put_literal(&o, k, oob);
		else
			put(&o, record_code[LITERAL].code, 4);
	}
	append(k, &at, words, &o);
	at.page++;
	s->end = at;
}

void spares_put(struct spares *k, uint32_t block, uint32_t page, const void *oob)
{
	struct spare_stream *s = &k->stream[block];
	uint8_t own[SPARE_BYTES(SPARE_UNITS_MAX)];

	if (!oob)
		oob = memset(own, 0xff, sizeof(own));
	if (SSD_UNLIKELY(page < s->end.page)) {
		oob = memmove(own, oob, SPARE_BYTES(k->units));	/* it may be k->held */
		spares_drop(k, block, page);
	}
	k->held_ppn = NONE;
	if (!s->first)
		s->end.cell = s->first = cell_take(k);
	while (s->end.page < page)
		add_page(k, s, NULL);
	add_page(k, s, oob);
}

const void *spares_get(struct spares *k, uint32_t block, uint32_t page)
{
	struct spare_stream *s = &k->stream[block];
	uint32_t ppn = block * k->block_pages + page;

	if (k->held_ppn == ppn)
		return k->held;
	if (page >= s->end.page) {
		k->held_ppn = NONE;
		return memset(k->held, 0xff, sizeof(k->held));
	}
	take_record(k, go_to(k, s, page), k->held);
	k->held_ppn = ppn;
	return k->held;
}

uint32_t spares_cells(uint64_t blocks, uint32_t block_pages, uint32_t units)
{
	uint64_t bits = (uint64_t)block_pages * LITERAL_BITS(units);

	return (uint32_t)(blocks * (bits / CELL_BITS + 1) + 1);
}

void spares_begin(struct spares *k, uint64_t blocks, uint32_t block_pages, uint32_t units, uint32_t addresses)
{
	k->units = units;
	k->block_pages = block_pages;
	k->cells = spares_cells(blocks, block_pages, units);
	k->addresses = addresses;
	k->address_bits = 31u - (uint32_t)__builtin_clz(addresses + 1);
	k->short_codes = (uint32_t)(((uint64_t)2 << k->address_bits) - addresses - 1);
	k->held_ppn = NONE;
}

void spares_copy(struct spares *to, const struct spares *from, uint64_t blocks)
{
	size_t cells = (size_t)from->pool->used + 1;

	*to->pool = *from->pool;
	memcpy(to->stream, from->stream, blocks * sizeof(*to->stream));
	memcpy(to->link, from->link, cells * sizeof(*to->link));
	memcpy(to->cell, from->cell, cells * SPARE_CELL_BYTES);
	to->held_ppn = NONE;
}
