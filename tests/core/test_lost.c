// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test units with lost sectors (ftl/page/lost.c): in the buffer, on flash, after GC and after a mount. Cuts at every
 * command are in test_cut, random work is in test_model.
 */
#include "sector_tag.h"
#include "unit_drive.h"

static uint8_t data[UNITS * SECTORS * 512];

static void on_copy(void *opaque, struct ftl_io *io, uint64_t at, void *buf, size_t bytes)
{
	(void)opaque;
	test_copy(io, data + io->offset + at, buf, bytes);
}

static void begin(bool words)
{
	ways.subpage = words ? NAND_SUBPAGE_DMA : NAND_SUBPAGE_NONE;
	c = unit_config();
	c.host_subpage_reads = c.gc_subpage_reads = words ? FTL_WORDS_YES : FTL_WORDS_NO;
	make(1, 1, 1);
	unit_begin();
}

static enum ssd_err run(enum ftl_op op, uint32_t sector, uint32_t count, bool lost)
{
	return run_io((struct ftl_io){ .op = op, .offset = sector * 512ull, .bytes = count * 512ull, .lost = lost });
}

/* Write sectors with tags that name them. */
static void fill(uint32_t sector, uint32_t count)
{
	for (uint32_t i = sector; i < sector + count; i++)
		sector_tag_put(data + (size_t)i * 512, i, i + 1);
	EXPECT_EQ(run(FTL_WRITE, sector, count, false), SSD_OK);
}

static void lose(uint32_t sector, uint32_t count)
{
	EXPECT_EQ(run(FTL_WRITE, sector, count, true), SSD_OK);
}

/* Check that only these sectors of the unit (a bitmap) are lost: each alone, and the unit as a whole. */
static void expect_lost(uint32_t unit, uint32_t bits)
{
	for (uint32_t i = 0; i < SECTORS; i++) {
		uint32_t at = unit * SECTORS + i;

		memset(data + (size_t)at * 512, 0xee, 512);
		EXPECT_EQ(run(FTL_READ, at, 1, false), bits >> i & 1 ? SSD_E_UNCORR : SSD_OK);
		EXPECT_EQ(data[(size_t)at * 512] == 0xee, bits >> i & 1);
		if (!(bits >> i & 1))
			EXPECT_EQ(sector_tag_get(data + (size_t)at * 512, at), at + 1);
	}
	EXPECT_EQ(run(FTL_READ, unit * SECTORS, SECTORS, false), bits ? SSD_E_UNCORR : SSD_OK);
}

static const uint32_t sets[] = { 0x01, 0x08, 0x80, 0x81, 0x7e, 0xfe, 0x7f, 0xff };

static void lose_bits(uint32_t unit, uint32_t bits)
{
	for (uint32_t i = 0; i < SECTORS; i++)
		if (bits >> i & 1)
			lose(unit * SECTORS + i, 1);
}

static void expect_sets(void)
{
	for (uint32_t i = 0; i < 8; i++)
		expect_lost(i, sets[i]);
}

/* Units 0 to 7 lose the sectors of sets[], from the buffer (false) or as parts of what is on flash (true). */
static void lost_sectors(bool on_flash, bool words)
{
	begin(words);
	for (uint32_t i = 0; i < 8; i++) {
		fill(i * SECTORS, SECTORS);
		if (on_flash)
			settle();
		lose_bits(i, sets[i]);
		expect_lost(i, sets[i]);
	}
	EXPECT_EQ(run(FTL_FLUSH, 0, 0, false), SSD_OK);
	settle();
	expect_sets();
	for (uint32_t i = 0; i < 40; i++)	/* GC moves all of it */
		fill((8 + i % 6) * SECTORS, SECTORS);
	settle();
	EXPECT(f->ops->stats(f)->gc_units >= 8);
	expect_sets();
	EXPECT_EQ(run(FTL_FLUSH, 0, 0, false), SSD_OK);
	settle();
	nand_array_power_cut(t.a, now, 1);
	nand_array_power_on(t.a);
	mount();
	expect_sets();
	for (uint32_t i = 0; i < 8; i++) {	/* sector by sector they are whole again */
		for (uint32_t k = 0; k < SECTORS; k++)
			if (sets[i] >> k & 1)
				fill(i * SECTORS + k, 1);
		expect_lost(i, 0);
		settle();
		expect_lost(i, 0);
	}
	drive_free();
}

static void sectors_are_lost(void)
{
	lost_sectors(false, false);
	lost_sectors(true, false);
	lost_sectors(false, true);
	lost_sectors(true, true);
}

/* A sector of the host that reads like a record of lost sectors is data. */
static void data_are_no_record(void)
{
	uint8_t record[512];
	const void *page, *oob;

	begin(false);
	fill(0, SECTORS);
	lose(3, 1);
	EXPECT_EQ(run(FTL_FLUSH, 0, 0, false), SSD_OK);
	settle();
	EXPECT_EQ(t.n->ops->peek(t.n, (ppn_t){ 1 }, &page, &oob), NAND_OK);
	memcpy(record, page, sizeof(record));
	EXPECT_EQ(memcmp(record, "SLOST-S1", 8), 0);
	memcpy(data + 8 * 512, record, sizeof(record));
	EXPECT_EQ(run(FTL_WRITE, 8, 1, false), SSD_OK);	/* in a unit that has lost nothing, and in one that has */
	memcpy(data + 16 * 512, record, sizeof(record));
	EXPECT_EQ(run(FTL_WRITE, 16, 1, false), SSD_OK);
	lose(18, 1);
	EXPECT_EQ(run(FTL_FLUSH, 0, 0, false), SSD_OK);
	settle();
	for (uint32_t at = 8; at <= 16; at += 8) {
		memset(data + (size_t)at * 512, 0, 512);
		EXPECT_EQ(run(FTL_READ, at, 1, false), SSD_OK);
		EXPECT_EQ(memcmp(data + (size_t)at * 512, record, 512), 0);
	}
	EXPECT_EQ(run(FTL_READ, 11, 1, false), SSD_OK);
	EXPECT_EQ(run(FTL_READ, 18, 1, false), SSD_E_UNCORR);
	EXPECT_EQ(run(FTL_READ, 19, 1, false), SSD_OK);
	drive_free();
}

/* A trim takes the marks, too; a lost part of an unwritten unit leaves zeroes beside it. */
static void units_without_content(void)
{
	begin(false);
	fill(0, SECTORS);
	lose(5, 1);
	EXPECT_EQ(run(FTL_TRIM, 0, SECTORS, false), SSD_OK);
	EXPECT_EQ(run(FTL_READ, 0, SECTORS, false), SSD_OK);
	lose(5, 2);
	for (uint32_t round = 0; round < 2; round++) {
		data[4 * 512] = 1;
		EXPECT_EQ(run(FTL_READ, 4, 1, false), SSD_OK);
		EXPECT_EQ(data[4 * 512], 0);
		EXPECT_EQ(run(FTL_READ, 6, 1, false), SSD_E_UNCORR);
		EXPECT_EQ(run(FTL_FLUSH, 0, 0, false), SSD_OK);
		settle();
	}
	drive_free();
}

/* An FTL takes lost writes of single sectors, or of whole units. */
static void what_can_be_lost(void)
{
	static const struct { const char *name; uint32_t with, without; } want[] = {
		{ "page", 512, 4096 }, { "flex", 512, 4096 }, { "superblock", 4096, 4096 }, { "dac", 4096, 4096 },
		{ "zns", 0, 0 },
	};

	for (size_t k = 0; k < sizeof(want) / sizeof(*want); k++)
		for (size_t i = 0; ftl_list[i]; i++) {
			struct ftl_config without = { .unit_bytes = 4096 }, with = without;

			if (strcmp(ftl_list[i]->name, want[k].name) != 0)
				continue;
			with.payload = true;
			EXPECT_EQ(ftl_lost_bytes(ftl_list[i], &with), want[k].with);
			EXPECT_EQ(ftl_lost_bytes(ftl_list[i], &without), want[k].without);
		}
}

int main(void)
{
	RUN(sectors_are_lost);
	RUN(data_are_no_record);
	RUN(units_without_content);
	RUN(what_can_be_lost);
	return test_result();
}
