// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test word lines of two pages: the page that each choice rule takes, the places of parity pages and
 * copies, and their times.
 */
#include "rps_drive.h"

/* ---- fixed order ------------------------------------------------------------- */

/* 8 pages are programmed in the order L0 L1 M0 L2 M1 L3 M2 M3, one after another: 4 * 20 + 4 * 50 us. */
static void page_ftl_fixed_order(void)
{
	make("page", NAND_ORDER_FPS, 16, 8);
	EXPECT_EQ(d.now, 16 * READ_NS);		/* a mount reads the first page of each block */
	writes(0, 9);
	expect_log("0L0 0L1 0M0 0L2 0M1 0L3 0M2 0M3 1L0");
	EXPECT_EQ(d.log[8].at_ns, 16 * READ_NS + 4 * LSB_NS + 4 * MSB_NS);
	EXPECT_EQ(d.f->ops->stats(d.f)->fast_pages, 5);
	EXPECT_EQ(d.f->ops->stats(d.f)->slow_pages, 4);
	EXPECT_EQ(d.f->ops->stats(d.f)->backup_pages, 0);
	EXPECT(d.ops->not_safe(&d.fc, &d.g));
	destroy();
}

/*
 * A parity page for L0, L1 follows after L1 and before M0; for L2, L3 before M2. Backup block 1 is opened
 * for the first one. Its pages have the fixed order, too.
 */
static void parity_ftl_order(void)
{
	make("parity", NAND_ORDER_FPS, 16, 8);
	writes(0, 14);
	expect_log("0L0 0L1 1L0* 0M0 0L2 0M1 0L3 1L1* 0M2 0M3 "
		   "2L0 2L1 1M0* 2M0 2L2 2M1 2L3 1L2*");
	EXPECT_EQ(d.f->ops->stats(d.f)->backup_pages, 4);
	EXPECT_EQ(d.ta.n->geo.oob_kept, 28 + 9);
	destroy();
}

/*
 * There are three active blocks. The host takes LSB pages while there are any: L0, L1 of each; then MSB pages
 * of the first block until its next page is LSB again. A full block is replaced by block 4.
 */
static void rtf_ftl_order(void)
{
	make("rtf", NAND_ORDER_FPS, 16, 8);
	writes(0, 13);
	expect_log("0L0 0L1 1L0* 2L0 2L1 1L1* 3L0 3L1 1M0* "
		   "0M0 0L2 0M1 0L3 1L2* 0M2 0M3 4L0");
	destroy();
}

/* ---- flex: the choice ---------------------------------------------------------- */

static struct front fr;

static uint32_t choose(enum frontier who, uint32_t busy, bool may_open)
{
	struct front_ask q = { .who = who, .busy_permille = busy, .may_open = may_open, .plenty = may_open };

	return front_flex_policy.pick(&fr, 0, &q);
}

/*
 * Choose a slot for a copy, made because the drive is idle, or with `free` blocks and a reserve of
 * one.
 */
static uint32_t copy_to(bool idle, uint32_t busy, uint32_t free)
{
	struct front_ask q = { .who = FRONT_GC, .busy_permille = busy, .may_open = free > 0,
			       .plenty = free > 1, .idle = idle };

	return front_flex_policy.pick(&fr, 0, &q);
}

/* Test the rules of section 3.3.2, with a fast block 1 and slow blocks 2, 3 of 4 word lines. */
static void flex_choice(void)
{
	static uint32_t open[2 + FRONT_SPARES];
	static struct front_plane plane = { .open = open };
	struct blk blk[4] = { { 0 } };
	struct blk_table bt = { .blk = blk };
	struct nand_geometry g = { .pages_per_block = 8 };

	fr = (struct front){ .c = { .policy = &front_flex_policy, .fast_above_permille = 800,
				    .slow_below_permille = 100 }, .g = &g, .bt = &bt, .slots = 2,
			     .word_lines = 4, .sequence = SEQ_TWO_PHASE, .plane = &plane, .quota = 1 };
	for (uint32_t i = 0; i < 2 + FRONT_SPARES; i++)
		plane.open[i] = BLK_NONE;
	plane.open[FRONT_FAST] = 1;
	plane.open[FRONT_SLOW] = 2;
	plane.slow_count = 2;
	for (int fast = 0; fast < 2; fast++) {
		plane.last_fast = fast;
		fr.quota = 1;
		EXPECT_EQ(choose(FRONT_HOST, 801, true), FRONT_FAST);	/* u > 80 %, q > 0 */
		EXPECT_EQ(choose(FRONT_HOST, 99, true), FRONT_SLOW);	/* u < 10 % */
		EXPECT_EQ(choose(FRONT_GC, 801, true), FRONT_SLOW);	/* copies: MSB */
		/* 10 .. 80 %, the ends included: alternate */
		EXPECT_EQ(choose(FRONT_HOST, 800, true), fast ? FRONT_SLOW : FRONT_FAST);
		EXPECT_EQ(choose(FRONT_HOST, 100, true), fast ? FRONT_SLOW : FRONT_FAST);
		fr.quota = 0;						/* u > 80 %, q = 0: alternate */
		EXPECT_EQ(choose(FRONT_HOST, 1000, true), fast ? FRONT_SLOW : FRONT_FAST);
	}
	plane.last_fast = false;
	plane.open[FRONT_FAST] = BLK_NONE;	/* no fast block: a new one, or an MSB page */
	EXPECT_EQ(choose(FRONT_HOST, 500, true), FRONT_FAST);
	EXPECT_EQ(choose(FRONT_HOST, 500, false), FRONT_SLOW);
	plane.slow_count = 4;			/* as many slow blocks as a backup block can name */
	EXPECT_EQ(choose(FRONT_HOST, 1000, true), FRONT_SLOW);
	plane.slow_count = 0;
	plane.open[FRONT_SLOW] = BLK_NONE;	/* no slow block: an LSB page (footnote 2) */
	EXPECT_EQ(choose(FRONT_HOST, 0, true), FRONT_FAST);
	EXPECT_EQ(choose(FRONT_GC, 0, true), FRONT_FAST);
	EXPECT_EQ(choose(FRONT_HOST, 0, false), FRONT_NONE);
}

/* Test the slot that flexFTL chooses for GC's copies, with the blocks of flex_choice(). */
static void flex_copies(void)
{
	static uint32_t open[2 + FRONT_SPARES];
	static struct front_plane plane = { .open = open };
	struct blk blk[4] = { { 0 } };
	struct blk_table bt = { .blk = blk };
	struct nand_geometry g = { .pages_per_block = 8 };

	fr = (struct front){ .c = { .policy = &front_flex_policy, .fast_above_permille = 800,
				    .slow_below_permille = 100, .gc_pages = FTL_GC_FAST }, .g = &g, .bt = &bt,
			     .slots = 2, .word_lines = 4, .sequence = SEQ_TWO_PHASE, .plane = &plane };
	for (uint32_t i = 0; i < 2 + FRONT_SPARES; i++)
		plane.open[i] = BLK_NONE;
	plane.open[FRONT_FAST] = 1;
	plane.open[FRONT_SLOW] = 2;
	plane.slow_count = 1;
	EXPECT_EQ(copy_to(false, 0, 0), FRONT_FAST);		/* at any u and q */
	EXPECT_EQ(copy_to(true, 1000, 9), FRONT_SLOW);		/* idle: MSB */
	plane.open[FRONT_FAST] = BLK_NONE;
	EXPECT_EQ(copy_to(false, 0, 2), FRONT_FAST);		/* a new block, not taken from the reserve ... */
	EXPECT_EQ(copy_to(false, 0, 1), FRONT_SLOW);		/* ... no block beyond the reserve */
	plane.open[FRONT_SLOW] = BLK_NONE;
	EXPECT_EQ(copy_to(false, 0, 1), FRONT_FAST);		/* no other slot is possible */
	EXPECT_EQ(copy_to(true, 0, 1), FRONT_FAST);
	EXPECT_EQ(copy_to(false, 0, 0), FRONT_NONE);

	fr.c.gc_pages = FTL_GC_AS_HOST;
	plane.open[FRONT_FAST] = 1;
	plane.open[FRONT_SLOW] = 2;
	for (int fast = 0; fast < 2; fast++) {
		plane.last_fast = fast;
		fr.quota = 1;
		EXPECT_EQ(copy_to(false, 801, 9), FRONT_FAST);
		EXPECT_EQ(copy_to(false, 99, 9), FRONT_SLOW);
		EXPECT_EQ(copy_to(false, 800, 9), fast ? FRONT_SLOW : FRONT_FAST);
		EXPECT_EQ(copy_to(true, 801, 9), FRONT_SLOW);	/* idle */
		fr.quota = 0;
		EXPECT_EQ(copy_to(false, 801, 9), fast ? FRONT_SLOW : FRONT_FAST);
	}

	fr.c.own = true;					/* copies use only a third block */
	fr.slots = 3;
	fr.copies = FRONT_COPIES;
	plane.open[FRONT_COPIES] = 3;
	fr.quota = 1;
	EXPECT_EQ(copy_to(false, 801, 9), FRONT_COPIES);
	EXPECT_EQ(copy_to(true, 801, 9), FRONT_SLOW);		/* idle */
	EXPECT_EQ(choose(FRONT_HOST, 801, true), FRONT_FAST);
	plane.open[FRONT_COPIES] = BLK_NONE;
	EXPECT_EQ(copy_to(false, 801, 1), FRONT_COPIES);
	EXPECT_EQ(copy_to(false, 801, 0), FRONT_NONE);
	plane.open[FRONT_SLOW] = BLK_NONE;
	EXPECT_EQ(copy_to(true, 801, 1), FRONT_COPIES);		/* no MSB page: no LSB pages of the host */
	plane.open[FRONT_SLOW] = 2;
	plane.slow_count = 3;	/* with the third one: as many slow blocks as a backup block can name */
	EXPECT_EQ(choose(FRONT_HOST, 801, true), FRONT_SLOW);
	plane.slow_count = 2;
	EXPECT_EQ(choose(FRONT_HOST, 801, true), FRONT_FAST);
}

/*
 * The host writes one page at a time without a buffer. One of three buffer pages is in use, so u = 333
 * and the types alternate. At first there is no slow block: L0 .. L3 are programmed, and their parity
 * page. Then follow M0, L0 of a new block, M1, L1 ... The quota q begins at 16 blocks * 4 LSB pages *
 * 30 % = 19; 8 LSB pages take from it, and 4 MSB pages give back.
 */
static void flex_alternates(void)
{
	const void *oob;
	struct front_parity p;

	make("flex", NAND_ORDER_RPS, 16, 8);
	d.fc.quota_permille = 300;
	remount();
	writes(0, 12);
	expect_log("0L0 0L1 0L2 0L3 1L0* 0M0 2L0 0M1 2L1 0M2 2L2 0M3 2L3 1L1*");
	EXPECT_EQ((uint64_t)((struct page_ftl *)d.f)->fr.quota, 19 - 8 + 4);
	EXPECT_EQ(d.ta.n->ops->peek(d.ta.n, (ppn_t){ 8 }, NULL, &oob), NAND_OK);
	p = front_get_parity(&((struct page_ftl *)d.f)->fr, oob);
	EXPECT_EQ(p.block, 0);
	EXPECT_EQ(p.first, 0);
	EXPECT_EQ(p.lost, 0);
	EXPECT_EQ(oob_get_head(oob).kind, OOB_PARITY);
	EXPECT_EQ(oob_get_lpn(oob, 0), 0 ^ 1 ^ 2 ^ 3);	/* spare areas: LPNs 0 .. 3, */
	EXPECT_EQ(oob_get_seq(oob, 0), 1 ^ 2 ^ 3 ^ 4);	/* sequences 1 .. 4 */
	destroy();
}

/*
 * The same on two planes, blocks 0 .. 15 and 16 .. 31, u = 250. Where the types alternate over the drive and pages
 * go to the planes in turn, one plane gets LSB pages alone while the other has MSB pages left, and then the reverse.
 * A parity page follows the last LSB page of its block.
 */
static void flex_alternates_by_plane_or_drive(void)
{
	channels = 2;
	make("flex", NAND_ORDER_RPS, 16, 8);
	d.fc.quota_permille = 300;
	remount();
	writes(0, 16);
	expect_log("0L0 16L0 0L1 16L1 0L2 16L2 0L3 1L0* 16L3 17L0* 0M0 16M0 2L0 18L0 0M1 16M1 2L1 18L1");
	destroy();
	make("flex", NAND_ORDER_RPS, 16, 8);
	d.fc.quota_permille = 300;
	d.fc.gc_pages = FTL_GC_AS_HOST_OF_DRIVE;
	remount();
	writes(0, 24);
	expect_log("0L0 16L0 0L1 16L1 0L2 16L2 0L3 1L0* 16L3 17L0* 0M0 18L0 0M1 18L1 0M2 18L2 0M3 18L3 "
		   "17L1* 2L0 16M0 2L1 16M1 2L2 16M2 2L3 1L1* 16M3");
	destroy();
	channels = 1;
}

/*
 * Two channels have one die and 16 blocks each, u = 250. Block 0's parity page goes to block 17, on the other die,
 * while 0L3 is programmed there; block 16's goes to block 1. The eleventh page of block 0's die is that block's last
 * MSB page, so the block's parity page is invalid when the die programs its twelfth, 2L3. The parity page of 2L3
 * follows in block 17.
 */
static void flex_backs_up_in_the_next_channel(void)
{
	struct page_ftl *f;
	const void *oob;

	channels = 2;
	make("flex", NAND_ORDER_RPS, 16, 8);
	d.fc.quota_permille = 300;
	d.fc.backup_channel = FTL_BACKUP_NEXT;
	remount();
	f = (struct page_ftl *)d.f;
	writes(0, 12);
	expect_log("0L0 16L0 0L1 16L1 0L2 16L2 0L3 17L0* 16L3 1L0* 0M0 16M0 2L0 18L0");
	EXPECT_EQ(d.log[7].at_ns, d.log[6].at_ns);
	EXPECT_EQ(d.log[9].at_ns, d.log[8].at_ns);
	EXPECT_EQ(d.log[8].at_ns, d.log[6].at_ns + LSB_NS);
	EXPECT_EQ(d.ta.n->ops->peek(d.ta.n, (ppn_t){ 17 * 8 }, NULL, &oob), NAND_OK);
	EXPECT_EQ(front_get_parity(&f->fr, oob).block, 0);
	EXPECT_EQ(oob_get_lpn(oob, 0), 0 ^ 2 ^ 4 ^ 6);
	writes(12, 9);
	EXPECT_EQ(f->bt.blk[0].next_page, 8);
	EXPECT_EQ(f->bt.blk[0].parity, 17 * 8 + 1);
	EXPECT_EQ(f->bt.blk[17].live, 1);
	writes(21, 2);
	EXPECT_EQ(f->bt.blk[0].parity, 0);
	EXPECT_EQ(f->bt.blk[2].parity, 17 * 8 + 2 + 1);
	EXPECT_EQ(f->bt.blk[17].live, 1);
	destroy();
	channels = 1;
}

/*
 * One write fills the buffer of 10 pages. A page leaves it when it is programmed, so the use u is
 * 1000, 900, 800 ... permille at the programs. The quota is 16 * 4 * 10 % = 6 LSB pages: the first
 * pages are LSB (L), as there is no slow block before the fourth. The following alternate with MSB
 * pages: M, L, M, L. At u = 200 and 100, which are below 250, they are MSB: M, M.
 */
static void flex_by_utilisation(void)
{
	struct ftl_io w = { .op = FTL_WRITE, .bytes = 10 * PAGE, .host = (void *)7 };

	make("flex", NAND_ORDER_RPS, 16, 8);
	d.fc.buffer_units = 10;
	d.fc.quota_permille = 100;
	d.fc.slow_below_permille = 250;		/* the last two pages have u = 200 and 100 */
	remount();
	d.f->ops->submit(d.f, d.now, &w);
	until(1);
	rest();
	expect_log("0L0 0L1 0L2 0L3 1L0* 0M0 2L0 0M1 2L1 0M2 0M3");
	destroy();
}

/*
 * The burst is the same, u is above u_high = 100 except for the last page, and q = 16 * 4 * 62 / 1000
 * = 3. Three LSB pages reduce q to 0, so the types alternate from now on. An MSB page would be next, but
 * there is no slow block, so L3 is taken (q = -1), and the block's parity page is programmed. M0 (q = 0),
 * L (q = -1), M (q = 0), L and M follow. At u = 100 the types alternate, too, so the last page is L.
 */
static void flex_quota_runs_out(void)
{
	struct ftl_io w = { .op = FTL_WRITE, .bytes = 10 * PAGE, .host = (void *)7 };

	make("flex", NAND_ORDER_RPS, 16, 8);
	d.fc.buffer_units = 10;
	d.fc.quota_permille = 62;
	d.fc.fast_above_permille = 100;
	d.fc.slow_below_permille = 50;		/* u is always above both, but for the last page */
	remount();
	EXPECT_EQ((uint64_t)((struct page_ftl *)d.f)->fr.quota, 3);
	d.f->ops->submit(d.f, d.now, &w);
	until(1);
	rest();
	expect_log("0L0 0L1 0L2 0L3 1L0* 0M0 2L0 0M1 2L1 0M2 2L2");
	EXPECT_EQ((uint64_t)((struct page_ftl *)d.f)->fr.quota, (uint64_t)(int64_t)(3 - 7 + 3));
	destroy();
}

/* ---- idle GC ------------------------------------------------------------------------ */

/*
 * LPNs 0 .. 7 are written twice, to 0L0 .. 0L3 1L0* 0M0 2L0 0M1 2L1 0M2 2L2 0M3 2L3 1L1* 2M0 3L0 2M1
 * 3L1. In block 0 the pages 0M2 and 0M3 are valid. A read 10 us after the last write's end takes 5 us.
 * 30 us after the read the drive counts as idle: GC reads an MSB page (6 us) and programs 2M2, reads the
 * next and programs 2M3, and erases block 0.
 */
static void idle_gc_takes_slow_pages(void)
{
	uint64_t idle;

	make("flex", NAND_ORDER_RPS, 16, 8);
	d.fc.idle_gc_permille = 1000;
	d.fc.idle_gc_ns = 30000;
	remount();
	for (uint32_t i = 0; i < 16; i++)
		io(FTL_WRITE, i % 8, (uint8_t)(i + 1));
	EXPECT_EQ(d.f->ops->step(d.f, d.now), d.now + 30000);
	d.now += 10000;
	d.f->ops->step(d.f, d.now);
	start(FTL_READ, 5, 0);			/* 3L0 */
	idle = d.now + READ_NS + 30000;
	rest();
	expect_log("0L0 0L1 0L2 0L3 1L0* 0M0 2L0 0M1 2L1 0M2 2L2 0M3 2L3 1L1* 2M0 3L0 2M1 3L1 "
		   "2M2g 2M3g 0x");
	EXPECT_EQ(d.log[18].at_ns, idle + 6000);
	EXPECT_EQ(d.log[19].at_ns, idle + 6000 + MSB_NS + 6000);
	EXPECT_EQ(d.log[20].at_ns, idle + 2 * (6000 + MSB_NS));
	for (uint32_t i = 0; i < 8; i++)
		expect_content(i, (uint8_t)(i + 9));
	destroy();
}

/* ---- where copies go --------------------------------------------------------------------- */

/*
 * The plane has 8 blocks, and GC starts when fewer than 4 are free. LPNs 0 .. 15 are written to blocks 0
 * and 1, and then LPNs 0 .. 5 and 8 .. 13 again, so that each block has two valid pages, 3L and 3M. LPNs
 * 16 .. 20 fill block 3 and open block 4, so that 3 are free. Of the two equal blocks GC takes block 1,
 * which got its number of valid pages last. If GC has its own block, it opens block 5 for the copies (2
 * are free), erases block 1 (3 are free) and must collect block 0, too. If the copies go to the host's
 * block 4, the two copies of block 1 are enough.
 */
static void two_of_each_block_are_valid(enum ftl_gc_frontier where)
{
	make("page", NAND_ORDER_ASCENDING, 8, 8);
	d.fc.gc_frontier = where;
	remount();
	for (uint32_t i = 0; i < 33; i++)
		io(FTL_WRITE, i < 22 ? i % 16 : i < 28 ? i - 14 : i - 12, (uint8_t)(i + 1));
	rest();
}

#define FOUR_BLOCKS "0L0 0M0 0L1 0M1 0L2 0M2 0L3 0M3 1L0 1M0 1L1 1M1 1L2 1M2 1L3 1M3 "      \
		    "2L0 2M0 2L1 2M1 2L2 2M2 2L3 2M3 3L0 3M0 3L1 3M1 3L2 3M2 3L3 3M3 "

static void page_ftl_copies_to_its_own_block(void)
{
	for (int i = 0; i < 2; i++) {
		two_of_each_block_are_valid(i ? FTL_GC_OWN : FTL_GC_AUTO);
		writes(21, 1);
		expect_log(FOUR_BLOCKS "4L0 5L0g 5M0g 1x 5L1g 5M1g 0x 4M0");
		destroy();
	}
}

static void page_ftl_copies_to_the_hosts_block(void)
{
	two_of_each_block_are_valid(FTL_GC_SHARED);
	writes(21, 1);
	expect_log(FOUR_BLOCKS "4L0 4M0g 4L1g 1x 4M1");
	for (uint32_t i = 0; i < 21; i++)
		expect_content(i, (uint8_t)(i < 6 ? i + 17 : i < 8 ? i + 1 : i < 14 ? i + 15 :
					     i < 16 ? i + 1 : i + 13));
	nand_array_power_cut(d.ta.a, d.now, 1);		/* the mount continues the shared block */
	nand_array_power_on(d.ta.a);
	remount();
	writes(22, 1);
	expect_log("4L2");
	destroy();
}

/*
 * LPNs 0 .. 11 are written as in flex_alternates: block 0 is full, backup block 1 has two pages, and
 * block 2 has its LSB pages. Then LPN 0 goes to 2M0, and LPN 1 to 3L0, which opens the fourth of 12
 * blocks. GC, with 9 as its threshold, takes block 0. Its valid pages, in the order of the pages, are
 * 0M0, 0M1, 0L2, 0M2, 0L3 and 0M3.
 */
static void six_pages_of_the_first_block_are_valid(enum ftl_gc_frontier where, enum ftl_gc_pages pages)
{
	make("flex", NAND_ORDER_RPS, 12, 8);
	d.fc.gc_start_blocks = d.fc.gc_stop_blocks = 9;
	d.fc.slow_below_permille = 0;
	d.fc.gc_frontier = where;
	d.fc.gc_pages = pages;
	remount();
	for (uint32_t i = 0; i < 14; i++)
		io(FTL_WRITE, i % 12, (uint8_t)(i + 1));
	rest();
}

static void expect_copies(const char *want)
{
	char all[1024];

	snprintf(all, sizeof(all), "0L0 0L1 0L2 0L3 1L0* 0M0 2L0 0M1 2L1 0M2 2L2 0M3 2L3 1L1* 2M0 3L0 %s", want);
	expect_log(all);
	for (uint32_t i = 0; i < 12; i++)
		expect_content(i, (uint8_t)(i < 2 ? i + 13 : i + 1));
	destroy();
}

/* Block 2 is full after three copies; the other three go to the fast block. */
static void flex_copies_to_slow_pages(void)
{
	six_pages_of_the_first_block_are_valid(FTL_GC_AUTO, FTL_GC_SLOW);
	expect_copies("2M1g 2M2g 2M3g 3L1g 3L2g 3L3g 1L2* 0x");
}

/* Copies take the fast block's last three pages, a parity page, and a new fast block. */
static void flex_copies_to_fast_pages(void)
{
	six_pages_of_the_first_block_are_valid(FTL_GC_SHARED, FTL_GC_FAST);
	expect_copies("3L1g 3L2g 3L3g 1L2* 4L0g 4L1g 4L2g 0x");
}

/* Copies alternate between types, and the host's last page was 3L0. */
static void flex_copies_as_the_host_writes(void)
{
	six_pages_of_the_first_block_are_valid(FTL_GC_AUTO, FTL_GC_AS_HOST);
	expect_copies("2M1g 3L1g 2M2g 3L2g 2M3g 3L3g 1L2* 0x");
}

/* Copies go to block 4 in both phases; the host's next page is 2M1. A mount finds block 4 and the host's again. */
static void flex_copies_to_its_own_block(void)
{
	const struct page_ftl *f;

	six_pages_of_the_first_block_are_valid(FTL_GC_OWN, FTL_GC_FAST);
	writes(12, 1);
	nand_array_power_cut(d.ta.a, d.now, 1);
	nand_array_power_on(d.ta.a);
	uint32_t count = d.count;
	remount();
	EXPECT_EQ(d.count, 0);		/* no parity page is missing */
	f = (const struct page_ftl *)d.f;
	EXPECT_EQ(f->fr.plane[0].open[FRONT_FAST], 3);
	EXPECT_EQ(f->fr.plane[0].open[FRONT_SLOW], 2);
	EXPECT_EQ(f->fr.plane[0].open[FRONT_COPIES], 4);
	EXPECT_EQ(f->bt.blk[4].next_page, 6);
	EXPECT_EQ(f->fr.plane[0].slow_count, 1);
	d.count = count;
	expect_copies("4L0g 4L1g 4L2g 4L3g 1L2* 4M0g 4M1g 0x 2M1");
}

/*
 * Writes are those of rtf_ftl_order, but 2L0 and 2L1 are LPNs 0 and 1 again. 4L0 opens the fifth of 17
 * blocks, so GC, with 13 as its threshold, copies six pages of block 0. With a block of its own it copies
 * to block 5, in fixed order, with parity pages. In shared blocks only the MSB pages 2M0 and 3M0 may be
 * taken, and the other copies go to the first block, 4.
 */
static void rtf_writes(enum ftl_gc_frontier where)
{
	make("rtf", NAND_ORDER_FPS, 17, 8);
	d.fc.gc_start_blocks = d.fc.gc_stop_blocks = 13;
	d.fc.gc_frontier = where;
	remount();
	for (uint32_t i = 0; i < 13; i++)
		io(FTL_WRITE, i == 2 || i == 3 ? i - 2 : i, (uint8_t)(i + 1));
	rest();
}

#define RTF "0L0 0L1 1L0* 2L0 2L1 1L1* 3L0 3L1 1M0* 0M0 0L2 0M1 0L3 1L2* 0M2 0M3 4L0 "

static void rtf_copies(void)
{
	rtf_writes(FTL_GC_OWN);
	expect_log(RTF "5L0g 5L1g 1M1* 5M0g 5L2g 5M1g 5L3g 1L3* 0x");
	destroy();
	rtf_writes(FTL_GC_AUTO);
	expect_log(RTF "2M0g 3M0g 4L1g 1M1* 4M0g 4L2g 4M1g 0x");
	destroy();
}

/* ---- configurations that are refused -------------------------------------------------- */

static void expect_refused(const char *sentence)
{
	const char *why = "";

	EXPECT_EQ(ftl_validate(d.ops, &d.fc, &d.g, &why), SSD_E_INVAL);
	EXPECT(!strncmp(why, sentence, strlen(sentence)));
}

static void refusals(void)
{
	make("flex", NAND_ORDER_RPS, 16, 8);
	d.g.order = NAND_ORDER_FPS;
	expect_refused("order must be rps: ");
	d.g.order = NAND_ORDER_RPS;
	d.g.bits_per_cell = 3;
	expect_refused("order must be ascending or none unless bits_per_cell is 2");
	d.g.bits_per_cell = 2;
	d.g.oob_bytes = 36;
	expect_refused("oob_bytes is too small for this FTL: raise it");
	d.g.oob_bytes = 64;
	d.fc.slow_below_permille = 801;
	expect_refused("slow_below_permille <= fast_above_permille");
	d.fc.slow_below_permille = 100;
	d.fc.gc_copyback = d.g.copyback = true;
	expect_refused("gc_copyback must be no: parity pages");
	d.fc.gc_copyback = false;
	d.fc.hot_cold = FTL_HOT_COLD_COUNT;
	expect_refused("hot_cold must be off: this FTL chooses open blocks by their LSB and MSB pages");
	d.fc.hot_cold = FTL_HOT_COLD_OFF;
	d.fc.backup_channel = FTL_BACKUP_NEXT;
	expect_refused("backup_channel must be same: the array has one channel");
	d.fc.backup_channel = FTL_BACKUP_SAME;
	d.fc.gc_policy = &gc_d_choices;
	expect_refused("gc_choices must be at least 1");
	d.fc.gc_policy = &gc_windowed;
	expect_refused("gc_window_blocks must be at least 1");
	d.fc.gc_policy = &gc_greedy;
	d.fc.gc_urgent_blocks = 3;
	expect_refused("gc_start_blocks must be at least gc_urgent_blocks + 2");
	destroy();
	make("rtf", NAND_ORDER_FPS, 16, 8);
	d.fc.active_blocks = 17;
	expect_refused("active_blocks must be 1 .. 16");
	d.fc.active_blocks = 3;
	d.g.pages_per_block = 6;
	expect_refused("pages_per_block must be a multiple of 4");
	d.g.pages_per_block = 8;
	d.g.order = NAND_ORDER_ASCENDING;
	expect_refused("order must be fps or rps");
	destroy();
	make("page", NAND_ORDER_FPS, 16, 8);
	d.fc.hot_cold = FTL_HOT_COLD_COUNT;
	d.fc.gc_copyback = d.g.copyback = true;
	expect_refused("gc_copyback must be no with hot_cold");
	destroy();
}

int main(void)
{
	RUN(page_ftl_fixed_order);
	RUN(parity_ftl_order);
	RUN(rtf_ftl_order);
	RUN(flex_choice);
	RUN(flex_copies);
	RUN(flex_alternates);
	RUN(flex_alternates_by_plane_or_drive);
	RUN(flex_backs_up_in_the_next_channel);
	RUN(flex_by_utilisation);
	RUN(flex_quota_runs_out);
	RUN(idle_gc_takes_slow_pages);
	RUN(page_ftl_copies_to_its_own_block);
	RUN(page_ftl_copies_to_the_hosts_block);
	RUN(flex_copies_to_slow_pages);
	RUN(flex_copies_to_fast_pages);
	RUN(flex_copies_as_the_host_writes);
	RUN(flex_copies_to_its_own_block);
	RUN(rtf_copies);
	RUN(refusals);
	return test_result();
}
