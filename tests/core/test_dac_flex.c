// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test the DAC FTL over word lines (ftl.frontiers): the exact order of pages and times, and the effect
 * of a torn program of an MSB page on the LSB page. test_direct has models, cuts and failing media
 * of such drives.
 *
 * Numbers. One die, 16 blocks of 4 word lines: page 2k of a block is LSB(k), 2k + 1 MSB(k).
 * Times as in test_dac, but of an MSB page: t_R 6000, t_PROG 25000, so 7188 and 26188 ns. The buffer
 * has 16 units: u is 62 permille for one, and over 800 from 13 on.
 */
#include "dac_rig.h"

#define READ_NS 6188u
#define FAST_NS 21188u		/* time to program an LSB page */
#define SLOW_NS 26188u		/* time to program an MSB page */
#define ERASE_NS 70100u
#define IO_NS 20u

static uint32_t idle_permille, blocks = 16, units = 48, buffer = 16;	/* settings of the next begin() */

static const struct ftl_stats *begin(enum ftl_frontiers frontiers, enum ftl_reduction reduction,
				     uint32_t quota)
{
	static struct rig_shape s;

	s = shape;
	s.g = (struct nand_geometry){ 1, 1, 1, 1, blocks, 8, 1024, 64, 0, 1024, 0, 1, 2, NAND_ORDER_RPS,
				      .paired_loss = true };
	if (frontiers == FTL_FRONTIERS_PARITY)
		s.g.order = NAND_ORDER_FPS;
	s.buffer = buffer;
	s.reduction = reduction;
	s.references = 0;
	s.frontiers = frontiers;
	s.quota = quota;
	s.idle_permille = idle_permille;
	s.idle_ns = 50000;
	s.units = units;
	idle_permille = 0;
	blocks = 16;
	units = 48;
	buffer = 16;
	return rig_start(&r, &s);
}

static uint32_t page_of(uint32_t unit)
{
	return drive()->objs.obj[drive()->maps.map[unit]].ppn;
}

static void expect_pages(uint32_t first, const uint32_t *pages, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		EXPECT_EQ(page_of(first + i), pages[i]);
}

static void fuas(uint32_t first, uint32_t count)
{
	for (uint32_t i = first; i < first + count; i++) {
		random_page(i);
		fua(i);
	}
}

/* Write units 16 .. 31 in one write, which fills the buffer at once. */
static void write_sixteen(void)
{
	struct rig_io *q = &r.all;

	q->io = (struct ftl_io){ .op = FTL_WRITE, .fua = true, .offset = 16 * UNIT, .bytes = 16 * UNIT };
	q->reported = false;
	r.ops->submit(r.f, r.now_ns, &q->io);
	while ((r.next_ns = r.ops->step(r.f, r.now_ns)) != FTL_IDLE) {
		r.ops->check(r.f);
		r.now_ns = r.next_ns;
	}
	EXPECT(q->reported);
}

/* ---- the choice of the next page -------------------------------------------------------- */

/*
 * With one unit in the buffer u is under 100, so the host gets MSB pages if there are any. The
 * block's parity page is programmed in block 1, between its last LSB page and its first MSB page;
 * it becomes void when the block's last MSB page is taken.
 */
static void an_idle_host_gets_slow_pages(void)
{
	static const uint32_t pages[] = { 0, 2, 4, 6, 1, 3, 5, 7, 16, 18 };
	const struct ftl_stats *s = begin(FTL_FRONTIERS_FLEX, FTL_REDUCE_NONE, 200);

	for (uint32_t i = 0; i < 10; i++) {
		random_page(i);
		EXPECT_EQ(fua(i), (i < 4 || i > 7 ? FAST_NS : SLOW_NS) + IO_NS);
		EXPECT_EQ(drive()->bt.blk[0].parity, i >= 3 && i < 7 ? 9 : 0);
		EXPECT_EQ(s->backup_pages, i >= 3);
	}
	expect_pages(0, pages, 10);
	EXPECT_EQ(drive()->bt.blk[1].backup, BLK_BACKUP_OPEN);
	for (uint32_t i = 0; i < 10; i++) {
		random_page(i);
		read_io(i);
	}
	rig_free(&r);
}

/*
 * The parity page waits for no other program, and the next program waits for it: 4 LSB pages,
 * parity page, MSB page.
 */
static void a_parity_page_comes_first(void)
{
	const struct ftl_stats *s = begin(FTL_FRONTIERS_FLEX, FTL_REDUCE_NONE, 200);
	struct rig_io *q = &r.all;

	q->io = (struct ftl_io){ .op = FTL_WRITE, .fua = true, .bytes = 5 * UNIT };
	q->reported = false;
	r.ops->submit(r.f, r.now_ns, &q->io);
	while ((r.next_ns = r.ops->step(r.f, r.now_ns)) != FTL_IDLE)
		r.now_ns = r.next_ns;
	EXPECT_EQ(q->io.done_ns - q->io.submit_ns, 5 * FAST_NS + SLOW_NS + IO_NS);
	EXPECT_EQ(page_of(4), 1);
	EXPECT_EQ(s->backup_pages, 1);
	rig_free(&r);
}

/*
 * A full buffer takes LSB pages while q is positive: 12 (200 permille of 64) minus 4. Units in the
 * buffer at each program: 16 .. 13, over 800: LSB pages of block 2; 12 .. 2: alternately MSB and
 * LSB pages, of the first slow block; 1: an MSB page.
 */
static void a_full_buffer_gets_fast_pages(void)
{
	static const uint32_t pages[] = { 16, 18, 20, 22, 1, 24, 3, 26, 5, 28, 7, 30, 17, 32, 19, 21 };
	const struct ftl_stats *s = begin(FTL_FRONTIERS_FLEX, FTL_REDUCE_NONE, 200);

	fuas(0, 4);
	EXPECT_EQ(drive()->fr.quota, 8);
	write_sixteen();
	expect_pages(16, pages, 16);
	r.ops->stats(r.f);
	EXPECT_EQ(s->fast_pages, 13);
	EXPECT_EQ(s->slow_pages, 7);
	EXPECT_EQ(drive()->fr.quota, 6);
	EXPECT_EQ(s->backup_pages, 3);
	EXPECT_EQ(drive()->bt.blk[2].parity, 8 + 2 + 1);
	EXPECT_EQ(drive()->bt.blk[3].parity, 8 + 4 + 1);
	rig_free(&r);
}

/*
 * Without buffer_units u is the share of the three slots in use: a third for the first unit, so that it takes an
 * MSB page after four LSB pages; then all, and LSB pages use up q, 8 + 1; then both types in turn.
 */
static void full_slots_get_fast_pages(void)
{
	static const uint32_t pages[] = { 1, 16, 18, 20, 22, 24, 26, 28, 30, 32, 3, 34, 5, 36, 7, 38 };

	buffer = 0;
	begin(FTL_FRONTIERS_FLEX, FTL_REDUCE_NONE, 200);
	fuas(0, 4);
	EXPECT_EQ(drive()->fr.quota, 8);
	write_sixteen();
	expect_pages(16, pages, 16);
	rig_free(&r);
}

/*
 * The quota is negative, 3 - 4, so the types alternate at any utilisation; the last page finds no
 * MSB page.
 */
static void without_quota_types_alternate(void)
{
	static const uint32_t pages[] = { 1, 16, 3, 18, 5, 20, 7, 22, 17, 24, 19, 26, 21, 28, 23, 30 };

	begin(FTL_FRONTIERS_FLEX, FTL_REDUCE_NONE, 50);
	fuas(0, 4);
	EXPECT_EQ(drive()->fr.quota, -1);
	write_sixteen();
	expect_pages(16, pages, 16);
	rig_free(&r);
}

/* The fixed order is L0 L1 M0 L2 M1 L3 M2 M3, with a parity page for each two LSB pages. */
static void parity_keeps_the_fixed_order(void)
{
	static const uint32_t pages[] = { 0, 2, 1, 4, 3, 6, 5, 7 };
	const struct ftl_stats *s = begin(FTL_FRONTIERS_PARITY, FTL_REDUCE_NONE, 50);

	fuas(0, 8);
	expect_pages(0, pages, 8);
	EXPECT_EQ(s->backup_pages, 2);
	rig_free(&r);
}

static uint64_t slow_copies, fast_copies;

/* GC takes an LSB page only if no block is slow. If it is the last of its block (page 6), that block is slow now. */
static void on_copy(void *opaque, uint64_t now_ns, const struct nand_cmd *c, unsigned int count)
{
	uint32_t page = c->ppn.v % 8;

	(void)opaque, (void)now_ns, (void)count;
	if (c->op != NAND_PROGRAM || c->source != NAND_SRC_GC)
		return;
	slow_copies += page & 1;
	fast_copies += !(page & 1);
	if (!(page & 1))
		EXPECT_EQ(drive()->fr.plane[0].slow_count, page == 6);
}

/* GC programs an LSB page only if no block has an MSB page next. */
static void copies_take_slow_pages(void)
{
	const struct ftl_stats *s = begin(FTL_FRONTIERS_FLEX, FTL_REDUCE_NONE, 200);
	struct nand_hooks hooks = { .done = on_copy };
	uint64_t dice = 5;

	nand_array_set_hooks(r.ta.a, &hooks);
	slow_copies = fast_copies = 0;
	for (uint32_t i = 0; i < 3000; i++) {
		random_page(i);
		write_io((uint32_t)(rnd(&dice) % 48));
	}
	flush();
	EXPECT(slow_copies > 100 && fast_copies > 10);
	EXPECT_EQ(slow_copies + fast_copies, s->gc_pages);
	EXPECT_EQ(s->op[FTL_WRITE].errors, 0);
	rig_free(&r);
}

/*
 * All invalid pages are in slow blocks. Of 14 blocks six are full of live pages, one is the backup
 * block with two pages left, 7 are free. The host, which gets only LSB pages, writes one unit
 * twelve times, which takes three blocks. The third block's parity page takes a block, too, so that
 * 3 blocks are free, fewer than the 1 + 3 that are kept. GC finds no victim. So the host gets the
 * MSB pages of the first slow block, 8; when they are used up, GC collects that block, and copies
 * its live pages to the MSB pages of the next slow block.
 */
static void dead_pages_in_slow_blocks(void)
{
	const struct ftl_stats *s;

	blocks = 14;
	units = 53;
	s = begin(FTL_FRONTIERS_FLEX, FTL_REDUCE_NONE, 300);
	fuas(0, 48);
	EXPECT_EQ(drive()->bt.plane[0].free_count, 7);
	drive()->fr.c.fast_above_permille = drive()->fr.c.slow_below_permille = 0;
	for (uint32_t i = 0; i < 12; i++)
		fuas(48, 1);
	EXPECT_EQ(drive()->bt.plane[0].free_count, 3);
	EXPECT_EQ(drive()->fr.plane[0].slow_count, 3);
	for (uint32_t i = 0; i < 4; i++) {	/* first versions of these units, so no page becomes invalid */
		EXPECT_EQ(s->gc_runs, 0);
		fuas(49 + i, 1);
		if (i < 3)
			EXPECT_EQ(page_of(49 + i), 8 * 8 + 2 * i + 1);
	}
	EXPECT_EQ(s->gc_runs, 1);
	for (uint32_t i = 0; i < 4; i++)
		EXPECT_EQ(page_of(49 + i), 9 * 8 + 2 * i + 1);
	for (uint32_t i = 0; i < 53; i++) {
		random_page(i);
		read_io(i);
	}
	rig_free(&r);
}

/*
 * Half of the 16 blocks must be free when the drive is idle. 65 writes to eight units fill eight
 * blocks and one page, so 7 are free (two backup blocks were opened and released). GC alone starts
 * with fewer, 2 + 3. 50000 ns after the last program idle GC takes a block without live data, and
 * erases it.
 */
static void gc_works_in_idle_times(void)
{
	const struct ftl_stats *s;
	uint64_t from;

	idle_permille = 500;
	s = begin(FTL_FRONTIERS_FLEX, FTL_REDUCE_NONE, 200);
	EXPECT_EQ(drive()->gc.idle_blocks, 8);
	for (uint32_t i = 0; i < 65; i++) {
		struct rig_io *q = &r.all;

		q->io = (struct ftl_io){ .op = FTL_WRITE, .fua = true, .offset = i % 8 * UNIT, .bytes = UNIT };
		q->reported = false;
		r.ops->submit(r.f, r.now_ns, &q->io);
		while (!q->reported)
			r.now_ns = r.next_ns = r.ops->step(r.f, r.now_ns);
		r.now_ns = q->io.done_ns;
	}
	EXPECT_EQ(drive()->bt.plane[0].free_count, 7);
	EXPECT_EQ(s->gc_runs, 0);
	from = r.now_ns;
	while (drive()->bt.plane[0].free_count < 8 && r.next_ns != FTL_IDLE) {
		EXPECT_EQ(s->gc_runs, r.now_ns > from + 50000 - IO_NS);
		r.next_ns = r.ops->step(r.f, r.now_ns);
		r.ops->check(r.f);
		if (r.next_ns != FTL_IDLE)
			r.now_ns = r.next_ns;
	}
	EXPECT_EQ(r.now_ns - from, 50000 - IO_NS + ERASE_NS);
	EXPECT_EQ(s->gc_runs, 1);
	EXPECT_EQ(s->gc_pages, 0);
	EXPECT_EQ(r.ops->step(r.f, r.now_ns), FTL_IDLE);
	rig_free(&r);
}

/* ---- LSB pages destroyed by a torn MSB page --------------------------------------------- */

/*
 * Cut the next write's program in its middle, with a seed for which its LSB page `lost` is
 * destroyed as well. Then mount the drive again.
 */
static void tear(uint32_t unit, uint32_t lost)
{
	static struct rig twin;
	bool gone = false;

	random_page(999);
	r.all.io = (struct ftl_io){ .op = FTL_WRITE, .fua = true, .offset = (uint64_t)unit * UNIT,
				    .bytes = UNIT };
	r.all.reported = false;
	memcpy(r.all.data, in, UNIT);
	r.ops->submit(r.f, r.now_ns, &r.all.io);
	while (drive()->die[0].cmd != DAC_CMD_PROGRAM)
		r.now_ns = r.ops->step(r.f, r.now_ns);
	EXPECT_EQ(drive()->pages.slot[drive()->die[0].slot].ppn, lost + 1);
	rig_make(&twin, r.shape);
	for (uint64_t seed = 1; seed <= 40 && !gone; seed++) {
		test_lose_power(&twin.ta, &r.ta, drive()->die[0].turn.ready_ns - 10000, seed);
		gone = twin.ta.n->ops->peek(twin.ta.n, (ppn_t){ lost }, NULL, NULL) == NAND_UNCORR;
	}
	EXPECT(gone);
	rig_free(&r);
	r = twin;
	EXPECT_EQ(rig_mount(&r), SSD_OK);
}

/* Compare all units, now and after another mount. */
static void expect_units(uint32_t count, void (*content)(uint32_t))
{
	for (int again = 0; again < 2; again++) {
		for (uint32_t i = 0; i < count; i++) {
			content(i);
			read_io(i);
		}
		EXPECT_EQ(drive()->die[0].lost, DAC_NONE);
		EXPECT_EQ(rig_again(&r), SSD_OK);
		EXPECT_EQ(drive()->die[0].lost, DAC_NONE);
	}
}

static void one_and_its_deltas(uint32_t i)
{
	if (i > 1) {
		random_page(i);
		return;
	}
	half_page(1);
	if (i)
		in[UNIT - 1] = 7;
}

/*
 * Page 0 has a compressed unit, page 2 one that is stored against it; the program of page 1 is torn, which
 * destroys page 0. For the rescue the die begins to erase block 2, because a free block may be half erased
 * after a mount; block 1 is the backup block. Then the die serves a read. It reads the lost page from flash,
 * which fails, and finds the unit in memory. Then the page is programmed again, and block 1 becomes free.
 */
static void a_reference_is_rescued(void)
{
	begin(FTL_FRONTIERS_FLEX, FTL_REDUCE_DAC, 200);
	for (uint32_t i = 0; i < 4; i++) {
		one_and_its_deltas(i);
		fua(i);
	}
	EXPECT_EQ(drive()->host.stats.delta_units, 1);
	tear(4, 0);
	EXPECT_EQ(drive()->die[0].lost, 0);
	EXPECT_EQ(drive()->bt.blk[0].parity, 9);
	half_page(1);
	EXPECT_EQ(read_io(0), ERASE_NS + READ_NS + EXPAND_NS + IO_NS);
	EXPECT_EQ(drive()->die[0].lost, DAC_NONE);
	EXPECT_EQ(page_of(0), 16);
	EXPECT_EQ(drive()->host.stats.backup_pages, 1);
	EXPECT_EQ(drive()->bt.blk[1].state, BLK_FREE);
	expect_units(4, one_and_its_deltas);
	EXPECT_EQ(drive()->maps.map[4], DAC_NONE);		/* the torn write was not flushed */
	rig_free(&r);
}

static void all_the_same_but_two(uint32_t i)
{
	random_page(i < 2 ? 1 : i);
}

/* Page 2 holds only the link of unit 1; the program of page 3 is torn. */
static void a_link_is_rescued(void)
{
	begin(FTL_FRONTIERS_FLEX, FTL_REDUCE_DEDUP, 200);
	for (uint32_t i = 0; i < 5; i++) {
		all_the_same_but_two(i);
		fua(i);
	}
	EXPECT_EQ(drive()->host.stats.link_units, 1);
	EXPECT_EQ(drive()->maps.link_at[1], 2);
	tear(5, 2);
	EXPECT_EQ(drive()->die[0].lost, 2);
	flush();
	EXPECT_EQ(drive()->maps.link_at[1], 16);
	EXPECT_EQ(drive()->maps.map[1], drive()->maps.map[0]);
	expect_units(5, all_the_same_but_two);
	rig_free(&r);
}

/* A write waits for the rescue: an erase, the copy, then its own page in the next LSB page. */
static void a_rescue_goes_before_writes(void)
{
	begin(FTL_FRONTIERS_FLEX, FTL_REDUCE_NONE, 200);
	fuas(0, 4);
	tear(4, 0);
	random_page(7);
	EXPECT_EQ(fua(7), ERASE_NS + 2 * FAST_NS + IO_NS);
	EXPECT_EQ(page_of(0), 16);
	EXPECT_EQ(page_of(7), 18);
	rig_free(&r);
}

/* Pages without live entries are not programmed again. */
static void what_is_dead_is_not_rescued(void)
{
	begin(FTL_FRONTIERS_FLEX, FTL_REDUCE_NONE, 200);
	fuas(0, 4);
	random_page(9);
	fua(0);				/* the old version, in page 0, is dead; the new one is in page 1 */
	fua(5);				/* page 3 */
	EXPECT_EQ(page_of(0), 1);
	tear(6, 4);			/* page 5; unit 2 is in page 4 */
	EXPECT_EQ(drive()->die[0].lost, 4);
	random_page(2);
	read_io(2);
	rig_free(&r);

	begin(FTL_FRONTIERS_FLEX, FTL_REDUCE_NONE, 200);
	fuas(0, 5);			/* unit 4: page 1 */
	random_page(9);
	fua(1);				/* page 3; page 2, its pair, is dead */
	rig_again(&r);
	EXPECT_EQ(drive()->die[0].lost, DAC_NONE);
	EXPECT_EQ(drive()->host.stats.backup_pages, 0);
	random_page(9);
	read_io(1);
	rig_free(&r);
}

/* The program of the copy is cut as well: all pages that the rescue needs still exist. */
static void a_rescue_that_is_cut_begins_anew(void)
{
	static struct rig twin;
	bool torn = false;

	begin(FTL_FRONTIERS_FLEX, FTL_REDUCE_NONE, 200);
	fuas(0, 4);
	tear(4, 0);
	while (drive()->die[0].cmd != DAC_CMD_RESCUE)
		r.now_ns = r.ops->step(r.f, r.now_ns);
	rig_make(&twin, r.shape);
	for (uint64_t seed = 1; seed <= 40 && !torn; seed++) {
		test_lose_power(&twin.ta, &r.ta, drive()->die[0].turn.ready_ns - 10000, seed);
		torn = twin.ta.n->ops->peek(twin.ta.n, (ppn_t){ 16 }, NULL, NULL) == NAND_UNCORR;
	}
	EXPECT(torn);
	rig_free(&r);
	r = twin;
	EXPECT_EQ(rig_mount(&r), SSD_OK);
	EXPECT_EQ(drive()->die[0].lost, 0);
	for (uint32_t i = 0; i < 4; i++) {
		random_page(i);
		read_io(i);
	}
	EXPECT_EQ(page_of(0), 24);	/* block 3, because block 2 has a torn page */
	rig_free(&r);
}

/* ---- configuration -------------------------------------------------------------------------- */

static void fps(struct ftl_config *c, struct nand_geometry *g) { (void)c; g->order = NAND_ORDER_FPS; }
static void page(struct ftl_config *c, struct nand_geometry *g) { (void)g; c->frontiers = FTL_FRONTIERS_PAGE; }
static void tlc(struct ftl_config *c, struct nand_geometry *g) { (void)c; g->bits_per_cell = 3; }
static void short_blocks(struct ftl_config *c, struct nand_geometry *g) { (void)c; g->pages_per_block = 2; }
static void small_oob(struct ftl_config *c, struct nand_geometry *g) { (void)c; g->oob_bytes = 54; }
static void marks(struct ftl_config *c, struct nand_geometry *g) { (void)g; c->slow_below_permille = 801; }
static void few_blocks(struct ftl_config *c, struct nand_geometry *g) { (void)c; g->blocks_per_plane = 12; }

static void parity_of(struct ftl_config *c, struct nand_geometry *g)
{
	c->frontiers = FTL_FRONTIERS_PARITY;
	g->order = NAND_ORDER_ASCENDING;
}

static void what_it_cannot_do_is_refused(void)
{
	begin(FTL_FRONTIERS_FLEX, FTL_REDUCE_DAC, 50);
	refused(fps, "order must be rps");
	refused(page, "paired_loss must be no");
	refused(tlc, "order must be ascending or none unless bits_per_cell is 2");
	refused(short_blocks, "pages_per_block must be at least 4");
	refused(small_oob, "oob_bytes is too small for this FTL: raise it");
	refused(marks, "slow_below_permille");
	refused(few_blocks, "the geometry cannot hold the exported capacity");
	refused(parity_of, "order must be fps or rps");
	rig_free(&r);
}

int main(void)
{
	snprintf(rig_id, sizeof(rig_id), "(no seed)");
	rig_replay_hint("test_dac_flex");
	RUN(an_idle_host_gets_slow_pages);
	RUN(a_parity_page_comes_first);
	RUN(a_full_buffer_gets_fast_pages);
	RUN(full_slots_get_fast_pages);
	RUN(without_quota_types_alternate);
	RUN(parity_keeps_the_fixed_order);
	RUN(copies_take_slow_pages);
	RUN(dead_pages_in_slow_blocks);
	RUN(gc_works_in_idle_times);
	RUN(a_reference_is_rescued);
	RUN(a_link_is_rescued);
	RUN(a_rescue_goes_before_writes);
	RUN(what_is_dead_is_not_rescued);
	RUN(a_rescue_that_is_cut_begins_anew);
	RUN(what_it_cannot_do_is_refused);
	return test_result();
}
