// SPDX-License-Identifier: GPL-2.0-or-later
/* Test spare areas in few bits (spare.h): their bytes come back, and records are as long as their fields. */
#include "spare.h"
#include "test.h"

#define PAGES 300u
#define BLOCKS 3u
#define UNITS_MAX SPARE_UNITS_MAX

static void make(struct spares *k, uint32_t block_pages, uint32_t units, uint32_t addresses)
{
	memset(k, 0, sizeof(*k));
	spares_begin(k, BLOCKS, block_pages, units, addresses);
	k->pool = calloc(1, sizeof(*k->pool));
	k->stream = calloc(BLOCKS, sizeof(*k->stream));
	k->link = calloc(k->cells, sizeof(*k->link));
	k->cell = calloc(k->cells, SPARE_CELL_BYTES);
}

static void drop_all(struct spares *k)
{
	free(k->pool);
	free(k->stream);
	free(k->link);
	free(k->cell);
}

static void head(uint8_t *oob, uint64_t order, uint32_t mark)
{
	memcpy(oob, &order, 5);
	memcpy(oob + 5, &mark, 2);
}

static void unit(uint8_t *oob, uint32_t i, uint32_t address, uint64_t seq)
{
	memcpy(oob + SPARE_HEAD_BYTES + i * SPARE_UNIT_BYTES, &address, 4);
	memcpy(oob + SPARE_HEAD_BYTES + i * SPARE_UNIT_BYTES + 4, &seq, 5);
}

static void records_have_the_bits_of_their_fields(void)
{
	uint8_t oob[SPARE_BYTES(2)];
	struct spares k;

	/* 8 addresses and the escape are 9 codes: the first 16 - 9 = 7 have 3 bits, the others 4. */
	make(&k, PAGES, 1, 8);
	head(oob, 1, 0);
	unit(oob, 0, 5, 1);
	spares_put(&k, 0, 0, oob);
	EXPECT_EQ(k.stream[0].end.bit, 3 + 2 + 1 + 3);		/* RUN, order + 1, mark + 0, address 5 */
	head(oob, 4, 1);
	unit(oob, 0, 7, 4);
	spares_put(&k, 0, 1, oob);
	EXPECT_EQ(k.stream[0].end.bit, 9 + 3 + 4 + 3 + 4);	/* RUN, + 3, + 1 (folded: 2), address 7 */
	unit(oob, 0, 7, 5);					/* a sequence above the order */
	spares_put(&k, 0, 3, oob);
	EXPECT_EQ(k.stream[0].end.bit, 23 + 4 + 4 + 16 * 8);	/* page 2, skipped: 4 bits; page 3, LITERAL */
	drop_all(&k);

	make(&k, PAGES, 2, 8);
	head(oob, 100, 0);
	unit(oob, 0, 6, 50);
	unit(oob, 1, 0, 53);
	spares_put(&k, 1, 0, oob);
	/*
	 * ANY; order + 100: 15 ones and 40 bits; mark; 2 addresses; sequence + 50: 15 ones and 7 bits, as 100 has.
	 * The mean is now 50 sixteenths, so one bit of + 3 follows its quotient of 1: 2 bits.
	 */
	EXPECT_EQ(k.stream[1].end.bit, 1 + 55 + 1 + 2 * 3 + 22 + 3);
	drop_all(&k);
}

/* With 2^k codes all have the same bits, the escape, too: it and 32 bits are an address above. */
static void addresses_above_come_back(void)
{
	static const uint32_t found[] = { 6, 7, 8, 0x80000001, UINT32_MAX, 0 };
	uint8_t oob[SPARE_BYTES(1)];
	struct spares k;

	make(&k, PAGES, 1, 7);
	for (uint32_t i = 0; i < 6; i++) {
		head(oob, 1, 0);
		unit(oob, 0, found[i], 1);
		spares_put(&k, 0, i, oob);
		EXPECT(!memcmp(spares_get(&k, 0, i), oob, sizeof(oob)));
	}
	/* RUN, order + 1, mark; then five times order + 0; six addresses of 3 bits, four of them with 32 more */
	EXPECT_EQ(k.stream[0].end.bit, 3 + 2 + 1 + 5 * (3 + 1 + 1) + 6 * 3 + 4 * 32);
	drop_all(&k);
}

/* ---- anything against a plain table ---- */

static uint8_t mirror[BLOCKS][PAGES][SPARE_BYTES(UNITS_MAX)];
static uint32_t ends[BLOCKS];
static uint64_t seed, order, seq;

static uint64_t draw(uint64_t n)
{
	return rnd(&seed) % n;
}

/* Returns a spare area of one of many kinds, mostly what an FTL writes. */
static const uint8_t *any_oob(uint32_t units, uint32_t addresses)
{
	static uint8_t oob[SPARE_BYTES(UNITS_MAX)];
	uint32_t kind = (uint32_t)draw(64), first = (uint32_t)draw(addresses);

	order += kind == 0 ? draw(1ull << 39) : kind == 1 ? (uint64_t)-1000 : draw(300);
	order &= (1ull << 40) - 1;
	head(oob, order, kind == 2 ? (uint32_t)draw(65536) : 0x4000 + (uint32_t)draw(30));
	for (uint32_t i = 0; i < units; i++) {
		uint32_t address = kind < 16 ? first + i : kind == 16 ? UINT32_MAX : (uint32_t)draw(addresses + 2);

		seq += kind == 17 ? (uint64_t)draw(1u << 30) - (1u << 29) : draw(900);
		if (seq > order && kind != 18)
			seq = order / 2;
		seq &= (1ull << 40) - 1;
		unit(oob, i, address, kind < 32 ? order : seq);
	}
	for (uint32_t i = 0; kind == 19 && i < sizeof(oob); i++)
		oob[i] = (uint8_t)draw(256);
	return kind == 20 ? NULL : oob;
}

static void put_any(struct spares *k, uint32_t addresses)
{
	uint32_t block = (uint32_t)draw(BLOCKS), page = ends[block], bytes = SPARE_BYTES(k->units);
	const uint8_t *oob = any_oob(k->units, addresses);

	if (!draw(50))
		page += (uint32_t)draw(5);
	if (page && !draw(80))
		page -= (uint32_t)draw(page < 9 ? page : 9);
	if (page >= PAGES || !draw(2000)) {
		spares_drop(k, block, 0);
		memset(mirror[block], 0xff, sizeof(mirror[block]));
		ends[block] = 0;
		return;
	}
	if (page < ends[block])
		memset(mirror[block][page], 0xff, sizeof(mirror[block][0]) * (PAGES - page));
	spares_put(k, block, page, oob);
	if (oob)
		memcpy(mirror[block][page], oob, bytes);
	ends[block] = page + 1;
}

static bool same(struct spares *k, uint32_t block, uint32_t page)
{
	return !memcmp(spares_get(k, block, page), mirror[block][page], SPARE_BYTES(k->units));
}

static void any_bytes_come_back(void)
{
	for (uint32_t units = 1; units <= UNITS_MAX; units += units < 5 ? 1 : 11) {
		uint32_t addresses = 1 + units * units * units * 1021, wrong = 0;
		struct spares k, copy;

		seed = units;
		order = seq = 0;
		make(&k, PAGES, units, addresses);
		make(&copy, PAGES, units, addresses);
		memset(mirror, 0xff, sizeof(mirror));
		memset(ends, 0, sizeof(ends));
		for (uint32_t i = 0; i < test_times(60000); i++) {
			put_any(&k, addresses);
			if (i % 8 == 0)
				wrong += !same(&k, (uint32_t)draw(BLOCKS), (uint32_t)draw(PAGES));
			if (i % 1000)
				continue;
			spares_copy(&copy, &k, BLOCKS);
			for (uint32_t b = 0; b < BLOCKS; b++)
				for (uint32_t p = 0; p < PAGES; p++)
					wrong += !same(&k, b, p) + !same(&copy, b, p);
		}
		EXPECT_EQ(wrong, 0);
		drop_all(&k);
		drop_all(&copy);
	}
}

/* When a block's records are dropped, all cells of the pool that had them are free, and the next block takes these. */
static void cells_are_used_again(void)
{
	uint8_t oob[SPARE_BYTES(4)];
	struct spares k;
	uint32_t used = 0;

	make(&k, PAGES, 4, 8);
	memset(oob, 0xff, sizeof(oob));
	for (uint32_t round = 0; round < 5; round++) {
		for (uint32_t p = 0; p < PAGES; p++)
			spares_put(&k, round % BLOCKS, p, oob);
		used = round ? used : k.pool->used;
		EXPECT_EQ(k.pool->used, used);
		spares_drop(&k, round % BLOCKS, 0);
	}
	drop_all(&k);
}

/* The most that blocks can take: every record is LITERAL. */
static void the_pool_is_large_enough(void)
{
	uint8_t oob[SPARE_BYTES(4)];
	struct spares k;

	make(&k, PAGES, 4, 8);
	memset(oob, 0, sizeof(oob));
	unit(oob, 0, 1, 1);
	for (uint32_t b = 0; b < BLOCKS; b++)
		for (uint32_t p = 0; p < PAGES; p++)
			spares_put(&k, b, p, oob);
	/* 300 records of 4 + 43 * 8 bits are 104,400 bits: 26 cells of 4096 a block */
	EXPECT_EQ(k.pool->used, BLOCKS * 26);
	EXPECT_EQ(k.cells, BLOCKS * 26 + 1);
	drop_all(&k);
}

int main(void)
{
	RUN(records_have_the_bits_of_their_fields);
	RUN(addresses_above_come_back);
	RUN(any_bytes_come_back);
	RUN(cells_are_used_again);
	RUN(the_pool_is_large_enough);
	return test_result();
}
