// SPDX-License-Identifier: GPL-2.0-or-later
/* Test word lines of two pages: the effects of power cuts and failing pages, and what is rebuilt. */
#include "rps_drive.h"

/* ---- power ------------------------------------------------------------------------ */

static uint64_t lost_by_last_cut;

/*
 * Cut the power in the middle of the current MSB program. Returns true if the LSB page is lost as
 * well.
 */
static bool cut(uint64_t seed)
{
	struct nand_stats s;

	nand_array_power_cut(d.ta.a, d.now + MSB_NS / 2, seed);
	nand_array_power_on(d.ta.a);
	d.ta.n->ops->get_stats(d.ta.n, &s);
	d.ta.n->ops->reset_stats(d.ta.n);
	lost_by_last_cut = s.paired_lost;
	remount();
	return s.paired_lost;
}

/*
 * Section 3.1.2: 0L0 and 0L1 hold LPNs 0 and 1, flushed. Power is lost while 0M0 is programmed with
 * LPN 2. LPN 0 may be lost as well, but no other data.
 */
static void page_ftl_loses_the_paired_page(void)
{
	uint32_t lost = 0, seed;

	for (seed = 0; seed < 8; seed++) {
		bool gone;

		make("page", NAND_ORDER_FPS, 16, 8);
		writes(0, 2);
		io(FTL_FLUSH, 0, 0);
		start(FTL_WRITE, 2, 3);
		gone = cut(seed);
		lost += gone;
		expect_content(0, gone ? 0 : 1);
		expect_content(1, 2);
		expect_content(2, gone ? 0 : 3);
		destroy();
	}
	EXPECT(lost > 0 && lost < seed);
}

/*
 * With parity, block 0 is held, and its lost page is written to block 2, which is erased first, as every
 * blank block is after a cut. Programs after the parity page 1L0 in its block could destroy it, so a new
 * parity page, which leaves out the lost page, goes to block 3. Then block 0 is written further: 0L2.
 */
static void parity_ftl_rebuilds(void)
{
	uint32_t lost = 0;

	for (uint64_t seed = 0; seed < 8; seed++) {
		bool gone;

		make("parity", NAND_ORDER_FPS, 16, 8);
		writes(0, 2);
		start(FTL_WRITE, 2, 3);
		gone = cut(seed);
		lost += gone;
		expect_log(gone ? "2x 2L0 3x 3L0*" : "");
		expect_content(0, 1);
		expect_content(1, 2);
		expect_content(2, gone ? 0 : 3);
		d.count = 0;
		writes(3, 1);
		expect_log("0L2");
		destroy();
	}
	EXPECT(lost > 0);
}

/*
 * 0L0 .. 0L3 and their parity page are programmed, and 0M0 is torn. The rebuilt page goes to an LSB page
 * of a new block, and a second parity page covers 0L1 .. 0L3. Block 0 is continued with 0M1, because the
 * last page was LSB. If 0M1 is torn, too, the other three pages of block 0 can still be read.
 */
static void flex_rebuilds(void)
{
	uint32_t lost = 0, twice = 0;

	for (uint64_t seed = 0; seed < 32; seed++) {
		bool gone, again;

		make("flex", NAND_ORDER_RPS, 16, 8);
		writes(0, 4);
		start(FTL_WRITE, 4, 5);
		gone = cut(seed);
		lost += gone;
		expect_log(gone ? "2x 2L0 1L1*" : "");
		start(FTL_WRITE, 5, 6);
		until(0);
		again = gone && cut(seed * 7 + 1);
		twice += again;
		if (gone)
			expect_log(again ? "2L1 1L2*" : "");
		for (uint32_t i = 0; i < 4; i++)
			expect_content(i, (uint8_t)(i + 1));
		if (!gone || again)
			expect_content(4, gone ? 0 : 5);
		destroy();
	}
	EXPECT(lost > 0 && twice > 0);
}

/* A mount reads the LSB pages of a fast block, so that the next parity page covers them, too. */
static void flex_covers_what_was_written_before_a_mount(void)
{
	const void *oob;

	make("flex", NAND_ORDER_RPS, 16, 8);
	writes(0, 2);
	nand_array_power_cut(d.ta.a, d.now, 1);
	nand_array_power_on(d.ta.a);
	remount();
	writes(2, 2);
	expect_log("0L2 0L3 1x 1L0*");
	EXPECT_EQ(d.ta.n->ops->peek(d.ta.n, (ppn_t){ 8 }, NULL, &oob), NAND_OK);
	EXPECT_EQ(oob_get_lpn(oob, 0), 0 ^ 1 ^ 2 ^ 3);
	destroy();
}

/* The power is lost after the last LSB page, before its parity page: the mount writes it. */
static void flex_pays_at_mount(void)
{
	make("flex", NAND_ORDER_RPS, 16, 8);
	writes(0, 3);
	start(FTL_WRITE, 3, 4);
	nand_array_power_cut(d.ta.a, d.now + LSB_NS, 1);
	nand_array_power_on(d.ta.a);
	remount();
	expect_log("1x 1L0*");
	for (uint32_t i = 0; i < 4; i++)
		expect_content(i, (uint8_t)(i + 1));
	destroy();
}

/* ---- no room for what was rebuilt ------------------------------------------------------ */

static void lose_power(void)
{
	nand_array_power_cut(d.ta.a, d.now, 1);
	nand_array_power_on(d.ta.a);
	remount();
}

/* Check that the drive is read-only: reads and flushes work, a write does not, and a mount programs nothing. */
static void expect_read_only(const uint8_t *content, uint32_t count)
{
	for (int life = 0; life < 3; life++) {
		uint64_t changes = d.count;

		for (uint32_t i = 0; i < count; i++)
			expect_content(i, content[i]);
		io(FTL_FLUSH, 0, 0);
		EXPECT_EQ(d.status, SSD_OK);
		io(FTL_WRITE, 9, 9);
		EXPECT_EQ(d.status, SSD_E_WORNOUT);
		io(FTL_TRIM, 1, 0);
		EXPECT_EQ(d.status, SSD_E_WORNOUT);
		rest();
		EXPECT_EQ(d.count, changes);
		lose_power();
	}
}

/*
 * As in flex_rebuilds, but no block can be erased before it is used: 14 of 16 fail (0 holds the data,
 * 1 their parity page). If 0L0 is lost, there is no page for it; the mount starts again, reads the
 * 5 pages of block 0 twice and the other pages, and the drive is read-only: LPN 0 is read from memory.
 */
static void a_worn_drive_comes_up(void)
{
	static const uint8_t want[] = { 1, 2, 3, 4 };
	uint32_t lost = 0;

	for (uint64_t seed = 0; seed < 16; seed++) {
		bool gone;

		make("flex", NAND_ORDER_RPS, 16, 8);
		writes(0, 4);
		io(FTL_FLUSH, 0, 0);
		start(FTL_WRITE, 4, 5);
		d.no_erases = true;
		gone = cut(seed);
		lost += gone;
		if (gone) {
			EXPECT_EQ(d.count, 14);
			EXPECT_EQ(d.f->ops->stats(d.f)->retired_blocks, 14);
			EXPECT_EQ(d.f->ops->stats(d.f)->mounts, 1);
			expect_read_only(want, 4);
		}
		destroy();
	}
	EXPECT(lost > 0);
}

static enum ssd_err read_sector(uint32_t sector)
{
	struct ftl_io one = { .op = FTL_READ, .offset = (uint64_t)sector * FTL_SECTOR_BYTES,
			      .bytes = FTL_SECTOR_BYTES };
	uint32_t want = d.done + 1;

	d.f->ops->submit(d.f, d.now, &one);
	until(want);
	return d.status;
}

/* Do as in a_worn_drive_comes_up, but with sector 1 of LPN 0 declared lost. Sector 0 is read from memory. */
static void a_worn_drive_keeps_what_is_left_of_a_unit(void)
{
	uint32_t gone = 0;

	for (uint64_t seed = 0; seed < 16; seed++) {
		struct ftl_io lost = { .op = FTL_WRITE, .lost = true, .offset = FTL_SECTOR_BYTES,
				       .bytes = FTL_SECTOR_BYTES };

		make("flex", NAND_ORDER_RPS, 16, 8);
		d.f->ops->submit(d.f, d.now, &lost);
		until(1);
		rest();
		writes(1, 3);
		io(FTL_FLUSH, 0, 0);
		rest();
		start(FTL_WRITE, 4, 5);
		d.no_erases = true;
		if (cut(seed)) {
			gone++;
			EXPECT_EQ(read_sector(0), SSD_OK);
			EXPECT_EQ(read_sector(1), SSD_E_UNCORR);
			io(FTL_WRITE, 9, 9);
			EXPECT_EQ(d.status, SSD_E_WORNOUT);
		}
		destroy();
	}
	EXPECT(gone > 0);
}

/*
 * Two dies: LPNs 0, 2, 4, 6 in 0L0 .. 0L3, and 1, 3, 5, 7 in 16L0 .. 16L3 of die 1. Both MSB pages
 * are torn, and their LSB pages are lost: LPNs 0 and 1. Then one program succeeds, and all others
 * fail in every block. The first mount therefore writes one of the pages again, and keeps the other
 * in memory.
 */
static void a_worn_drive_comes_up_half_made_good(void)
{
	static const uint8_t want[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	struct ftl_io two = { .op = FTL_WRITE, .offset = 8 * PAGE, .bytes = 2 * PAGE };
	uint32_t both = 0;

	for (uint64_t seed = 0; seed < 64; seed++) {
		channels = 2;
		make("flex", NAND_ORDER_RPS, 16, 8);
		channels = 1;
		writes(0, 8);
		io(FTL_FLUSH, 0, 0);
		d.f->ops->submit(d.f, d.now, &two);
		d.programs_left = 2;
		if (cut(seed) && lost_by_last_cut == 2) {
			both++;
			EXPECT_EQ(d.log[2].op, NAND_PROGRAM);	/* each die erases a block first */
			expect_read_only(want, 8);
		}
		destroy();
	}
	EXPECT(both > 0);
}

/* Write until the erase of block 1 is under way, and cut the power in the middle of it. */
static void cut_the_erase_of_block_1(uint64_t seed)
{
	const struct entry *last = d.log;
	uint32_t done = d.done, begun = 0;

	while (last->op != NAND_ERASE || last->block != 1) {
		uint64_t next;

		if (d.done == done + begun)
			start(FTL_WRITE, 11 + begun++ % 13, 99);
		next = d.f->ops->step(d.f, d.now);
		d.f->ops->check(d.f);
		if (next != FTL_IDLE && d.done < done + begun)
			d.now = next;
		last = &d.log[d.count - 1];
	}
	nand_array_power_cut(d.ta.a, last->at_ns + ERASE_NS / 2, seed);
	nand_array_power_on(d.ta.a);
}

static enum nand_status lsb_page(uint32_t block, uint32_t word_line)
{
	return d.ta.n->ops->peek(d.ta.n, (ppn_t){ block * 8 + 2 * word_line }, NULL, NULL);
}

/*
 * LPNs 0 to 3 are in 0L0 .. 0L3, and 1L0 is their parity page; the last MSB page of the block, 0M3, is
 * torn, and 0L3 is lost. The mount writes LPN 3 to 2L3, the last LSB page of block 2, whose parity page
 * is 1L1. In 1L2 is the one that covers block 0 without 0L3; no parity page of block 0 counts then.
 * When block 2 is full as well, block 1 is erased. A cut leaves 1L0, but not 1L2. The next mount
 * rebuilds 0L3 again, though LPN 3 is elsewhere, and erases block 1 before it programs a page of it.
 */
static void flex_erases_a_torn_backup_block(void)
{
	uint32_t cases = 0;

	for (uint64_t seed = 0; seed < 256; seed++) {
		make("flex", NAND_ORDER_RPS, 16, 8);
		writes(0, 10);
		start(FTL_WRITE, 10, 11);
		if (!cut(seed)) {
			destroy();
			continue;
		}
		expect_log("2L3 1L1* 1L2*");
		cut_the_erase_of_block_1(seed);
		cases += lsb_page(1, 0) == NAND_OK && lsb_page(1, 2) != NAND_OK &&
			 (lsb_page(1, 1) == NAND_ERASED || lsb_page(1, 2) == NAND_ERASED ||
			  lsb_page(1, 3) == NAND_ERASED);
		remount();	/* the array checks R9 */
		for (uint32_t i = 0; i < 10; i++)
			expect_content(i, (uint8_t)(i + 1));
		destroy();
	}
	EXPECT(cases > 0);
}

/* ---- the medium -------------------------------------------------------------------- */

/* The first parity page fails. It is written to another backup block before the first MSB page. */
static void a_parity_page_fails(void)
{
	make("flex", NAND_ORDER_RPS, 16, 8);
	d.fail_at = 5;
	writes(0, 5);
	expect_log("0L0 0L1 0L2 0L3 1L0* 2L0* 0M0");
	EXPECT_EQ(d.f->ops->stats(d.f)->retired_blocks, 1);
	EXPECT(d.ta.n->ops->is_bad(d.ta.n, (pbn_t){ 1 }));
	destroy();
}

/*
 * The first MSB page fails. Its block is emptied and retired, and the page is written to another
 * block.
 */
static void a_slow_page_fails(void)
{
	make("flex", NAND_ORDER_RPS, 16, 8);
	d.fail_at = 6;
	writes(0, 10);	/* GC is woken when the next block is opened */
	for (uint32_t i = 0; i < 10; i++)
		expect_content(i, (uint8_t)(i + 1));
	EXPECT(d.ta.n->ops->is_bad(d.ta.n, (pbn_t){ 0 }));
	EXPECT_EQ(d.f->ops->stats(d.f)->retired_blocks, 1);
	destroy();
}

int main(void)
{
	RUN(page_ftl_loses_the_paired_page);
	RUN(parity_ftl_rebuilds);
	RUN(flex_rebuilds);
	RUN(flex_covers_what_was_written_before_a_mount);
	RUN(flex_pays_at_mount);
	RUN(a_worn_drive_comes_up);
	RUN(a_worn_drive_keeps_what_is_left_of_a_unit);
	RUN(a_worn_drive_comes_up_half_made_good);
	RUN(flex_erases_a_torn_backup_block);
	RUN(a_parity_page_fails);
	RUN(a_slow_page_fails);
	return test_result();
}
