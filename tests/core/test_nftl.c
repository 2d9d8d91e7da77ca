// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test NFTL, also with PEN, on the drive of nftl_drive.h: schedules computed by hand and compared exactly, and states
 * that must survive a mount. test_gftl has its write buffer.
 */
#include "nftl_drive.h"

/* ---- the places of pages, and times ----------------------------------------- */

static void d_block_then_u_block(void)
{
	struct rig_shape s = one_die(8, 4, 0, 20);

	make(&s);
	EXPECT_EQ(put(0), PROG + FRONT);	/* takes a D-block */
	EXPECT_EQ(r.all.io.where.gc_queue_ns, 0);
	EXPECT_EQ(r.all.io.where.cell_ns, 20000);
	EXPECT_EQ(r.all.io.where.bus_ns, 1188);
	EXPECT_EQ(put(3), PROG + FRONT);		/* its own place in it */
	EXPECT_EQ(put(1), PROG + FRONT);
	EXPECT_EQ(put(0), PROG + FRONT);	/* takes a U-block */
	EXPECT_EQ(put(0), PROG + FRONT);
	EXPECT_EQ(io(FTL_READ, 0, 1), READ + FRONT);
	EXPECT_EQ(io(FTL_READ, 2, 1), FRONT);		/* never written */
	EXPECT_EQ(io(FTL_READ, 0, 4), 3 * READ + FRONT);
	EXPECT_EQ(io(FTL_TRIM, 0, 4), FRONT);
	EXPECT_EQ(io(FTL_FLUSH, 0, 0), FRONT);
	EXPECT_EQ(stats->host_units, 5);
	EXPECT_EQ(stats->unwritten_units, 2);
	EXPECT_EQ(stats->unwritten_reads, 1);
	EXPECT_EQ(stats->gc_runs, 0);
	rig_free(&r);
}

static void an_ascending_d_block_takes_no_lower_page(void)
{
	struct rig_shape s = one_die(8, 4, 0, 20);

	s.g.order = NAND_ORDER_ASCENDING;
	make(&s);
	EXPECT_EQ(put(1), PROG + FRONT);
	EXPECT_EQ(put(2), PROG + FRONT);
	EXPECT_EQ(put(0), PROG + FRONT);	/* to its place in the D-block, above */
	EXPECT_EQ(put(3), PROG + FRONT);		/* above */
	rig_free(&r);
}

static void spare_areas_are_searched_from_the_newest(void)
{
	struct rig_shape s = one_die(8, 4, 0, 20);

	s.search = FTL_SEARCH_YES;
	make(&s);
	put(0);
	put(1);
	put(0);		/* U: 0 */
	EXPECT_EQ(io(FTL_READ, 0, 1), SPARE + READ + FRONT);
	put(1);		/* the U-block holds 0 and 1 */
	EXPECT_EQ(io(FTL_READ, 0, 1), 2 * SPARE + READ + FRONT);
	EXPECT_EQ(io(FTL_READ, 1, 1), SPARE + READ + FRONT);
	put(2);		/* to the D-block */
	EXPECT_EQ(io(FTL_READ, 2, 1), READ + FRONT);
	EXPECT_EQ(stats->search_reads, 4);
	rig_free(&r);
}

/* With stripe_pages = 4 and two planes, units 0..3 and 8..11 are in one plane, 4..7 in the other. */
static void a_stripe_of_a_block(void)
{
	struct rig_shape s = one_die(8, 4, 0, 16);
	uint64_t two, four;

	make(&s);
	two = io(FTL_WRITE, 0, 2);
	four = io(FTL_WRITE, 4, 4);
	EXPECT(four > two);
	rig_free(&r);
	s.g.channels = 2;
	s.units = 32;
	s.stripe = 4;
	make(&s);
	EXPECT_EQ(io(FTL_WRITE, 8, 4), four);		/* one after another in one plane */
	EXPECT_EQ(io(FTL_WRITE, 2, 4), two);		/* two in each plane */
	EXPECT_EQ(get(2), SSD_OK);
	EXPECT_EQ(stats->host_units, 8);
	rig_free(&r);
}

/* A write of a part of a page also reads its base. */
static void a_part_of_a_page(void)
{
	struct rig_shape s = one_die(8, 4, 0, 20);
	uint64_t begin;

	s.search = FTL_SEARCH_YES;
	make(&s);
	EXPECT_EQ(rig_write(&r, 0, 1), SSD_OK);		/* the rest of the page is zeroes */
	EXPECT_EQ(stats->merge_reads, 0);
	begin = r.now_ns;
	EXPECT_EQ(rig_write(&r, 1, 1), SSD_OK);
	EXPECT_EQ(r.now_ns - begin, READ + PROG + FRONT);
	begin = r.now_ns;
	EXPECT_EQ(rig_write(&r, 1, 1), SSD_OK);		/* the base is in the U-block */
	EXPECT_EQ(r.now_ns - begin, SPARE + READ + PROG + FRONT);
	EXPECT_EQ(stats->merge_reads, 2);
	rig_read_all(&r);
	EXPECT_EQ(r.found[0], 1);
	EXPECT_EQ(r.found[1], 3);
	rig_free(&r);
}

static void neighbours_are_on_different_channels(void)
{
	struct rig_shape s = one_die(8, 4, 0, 40);

	s.g.channels = 2;
	make(&s);
	EXPECT_EQ(io(FTL_WRITE, 0, 2), PROG + FRONT);
	EXPECT_EQ(io(FTL_WRITE, 0, 8), 4 * PROG + FRONT);
	EXPECT_EQ(io(FTL_READ, 0, 2), READ + FRONT);
	rig_free(&r);
}

static void ssdsim_ends_a_write_with_its_transfer(void)
{
	struct rig_shape s = one_die(8, 4, 0, 20);

	s.accounting = FTL_ACCOUNT_SSDSIM;
	make(&s);
	EXPECT_EQ(put(0), 1188 + FRONT);
	EXPECT_EQ(put(1), 1188 + FRONT);
	EXPECT_EQ(r.all.io.where.cell_ns, 0);
	rig_free(&r);
}

/* The write has ended, so its data can be read, although the map changes only when the program ends. */
static void ssdsim_reads_what_is_being_programmed(void)
{
	struct rig_shape s = one_die(8, 4, 0, 20);
	struct rig_io *q = &r.io[0], *later = &r.io[1];

	s.accounting = FTL_ACCOUNT_SSDSIM;
	make(&s);
	memset(q->data, 0x5a, 1024);
	memset(later->data, 0, 1024);
	q->io = (struct ftl_io){ .op = FTL_WRITE, .host = q, .bytes = 1024 };
	later->io = (struct ftl_io){ .op = FTL_READ, .host = later, .bytes = 1024 };
	q->reported = later->reported = false;
	r.ops->submit(r.f, r.now_ns, &q->io);
	while (!q->reported)
		r.now_ns = r.ops->step(r.f, r.now_ns);
	r.now_ns = q->io.done_ns;
	r.ops->submit(r.f, r.now_ns, &later->io);
	while ((r.next_ns = r.ops->step(r.f, r.now_ns)) != FTL_IDLE) {
		r.ops->check(r.f);
		r.now_ns = r.next_ns;
	}
	EXPECT_EQ(later->io.done_ns - later->io.submit_ns, 20000 + READ);
	EXPECT(!memcmp(later->data, q->data, 1024));
	EXPECT_EQ(stats->unwritten_units, 0);
	rig_free(&r);
}

static void a_flush_waits_for_programs(void)
{
	struct rig_shape s = one_die(8, 4, 0, 20);
	struct rig_io *q = &r.io[0], *fl = &r.io[1], *late = &r.io[2];

	s.accounting = FTL_ACCOUNT_SSDSIM;
	make(&s);
	put(0);
	q->io = (struct ftl_io){ .op = FTL_WRITE, .host = q, .offset = 1024, .bytes = 2048 };
	fl->io = (struct ftl_io){ .op = FTL_FLUSH, .host = fl };
	late->io = (struct ftl_io){ .op = FTL_WRITE, .host = late, .offset = 3072, .bytes = 1024 };
	q->reported = fl->reported = late->reported = false;
	r.ops->submit(r.f, r.now_ns, &q->io);
	r.ops->submit(r.f, r.now_ns, &fl->io);
	r.ops->submit(r.f, r.now_ns, &late->io);
	while ((r.next_ns = r.ops->step(r.f, r.now_ns)) != FTL_IDLE)
		r.now_ns = r.next_ns;
	EXPECT_EQ(q->io.done_ns - q->io.submit_ns, PROG + 1188 + FRONT);
	EXPECT_EQ(fl->io.done_ns - fl->io.submit_ns, 2 * PROG + FRONT);
	EXPECT_EQ(late->io.done_ns - late->io.submit_ns, 2 * PROG + 1188 + FRONT);
	rig_free(&r);
}

/* ---- Merge -------------------------------------------------------------------- */

/* Fill the D-block, and the U-block with unit 0; returns the latency of the next write. */
static uint64_t merge_latency(const struct rig_shape *s)
{
	make(s);
	for (uint32_t i = 0; i < 4; i++)
		put(i);
	for (uint32_t i = 0; i < 4; i++)
		put(0);
	EXPECT_EQ(stats->gc_runs, 0);
	return put(0);
}

static void a_full_u_block_is_merged(void)
{
	struct rig_shape s = one_die(8, 4, 0, 20);
	uint64_t gc = 4 * COPY + 2 * ERASE(0);

	EXPECT_EQ(merge_latency(&s), gc + PROG + FRONT);
	EXPECT_EQ(r.all.io.where.gc_queue_ns, gc);
	EXPECT_EQ(stats->gc_ns, gc);
	EXPECT_EQ(stats->gc_runs, 1);
	EXPECT_EQ(stats->merges, 1);
	EXPECT_EQ(stats->gc_units, 4);
	EXPECT_EQ(stats->gc_blocks, 2);
	rig_free(&r);
	s.search = FTL_SEARCH_YES;
	EXPECT_EQ(merge_latency(&s), 4 * SPARE + gc + PROG + FRONT);
	EXPECT_EQ(stats->search_reads, 4);
	rig_free(&r);
}

static void two_blocks_in_one_erase(void)
{
	struct rig_shape s = one_die(8, 4, 0, 20);

	s.parallel_erase = true;
	s.g.erase_group_max = 2;
	EXPECT_EQ(merge_latency(&s), 4 * COPY + ERASE(0) + PROG + FRONT);
	EXPECT_EQ(stats->gc_blocks, 2);
	rig_free(&r);
}

static void merge_by_copyback(void)
{
	struct rig_shape s = one_die(8, 4, 0, 20);

	s.copyback = s.g.copyback = true;
	EXPECT_EQ(merge_latency(&s),
		  4 * (100 + 64 + 25000) + 2 * ERASE(0) + PROG + FRONT);
	rig_free(&r);
}

/* No pair is below the threshold: the pair with the most invalid pages is merged. */
static void an_unpaired_block_takes_the_best_victim(void)
{
	struct rig_shape s = one_die(8, 4, 0, 16);
	uint64_t ns;

	make(&s);
	for (uint32_t i = 0; i < 16; i++)
		put(i);		/* 4 D-blocks; 4 free, of which 2 may be taken */
	put(0);
	put(4);
	put(4);
	ns = put(8);		/* pair 4 .. 7 has 2 invalid pages, pair 0 .. 3 has 1 */
	EXPECT_EQ(ns, 4 * COPY + 2 * ERASE(0) + PROG + FRONT);
	EXPECT_EQ(stats->merges, 1);
	EXPECT_EQ(io(FTL_WRITE, 0, 1), PROG + FRONT);	/* its U-block still exists */
	rig_free(&r);
}

/* All pairs have one invalid page each. Pairs 0 .. 3 reached that number first, pairs 4 .. 7 last. */
static void of_equal_pairs(enum ftl_merge_victim victim, uint32_t merged, uint32_t kept)
{
	struct rig_shape s = one_die(8, 4, 0, 16);

	s.victim = victim;
	make(&s);
	for (uint32_t i = 0; i < 16; i++)
		put(i);
	put(0);
	put(4);
	EXPECT_EQ(put(8), 4 * COPY + 2 * ERASE(0) + PROG + FRONT);
	EXPECT_EQ(put(kept), PROG + FRONT);
	EXPECT_EQ(put(merged), 4 * COPY + 2 * ERASE(0) + PROG + FRONT);
	rig_free(&r);
}

/* Pair 4 .. 7 was overwritten once, long ago, and pair 0 .. 3 twice since. */
static void the_least_recent_pair(enum ftl_merge_victim victim, uint32_t kept)
{
	struct rig_shape s = one_die(8, 4, 0, 16);

	s.victim = victim;
	make(&s);
	for (uint32_t i = 0; i < 16; i++)
		put(i);
	put(4);
	put(0);
	put(0);
	EXPECT_EQ(put(8), 4 * COPY + 2 * ERASE(0) + PROG + FRONT);
	EXPECT_EQ(put(kept), PROG + FRONT);
	rig_free(&r);
}

static void which_pair_is_merged(void)
{
	of_equal_pairs(FTL_VICTIM_NEWEST, 4, 0);
	of_equal_pairs(FTL_VICTIM_OLDEST, 0, 4);
	of_equal_pairs(FTL_VICTIM_LRU, 0, 4);
	the_least_recent_pair(FTL_VICTIM_NEWEST, 4);
	the_least_recent_pair(FTL_VICTIM_OLDEST, 4);
	the_least_recent_pair(FTL_VICTIM_LRU, 0);
}

/*
 * A U-block and a D-block of four pages each are full: they have eight spare areas, of which one block's are
 * not read.
 */
static void a_merge_reads_all_spare_areas(void)
{
	struct rig_shape s = one_die(8, 4, 0, 16);

	s.search = FTL_SEARCH_ALL;
	make(&s);
	put(0);
	for (uint32_t i = 0; i < 4; i++)
		put(0);
	EXPECT_EQ(put(0), 8 * SPARE + COPY + 2 * ERASE(0) + PROG + FRONT);
	EXPECT_EQ(stats->search_reads, 8);
	rig_free(&r);
}

/*
 * Two writes, and a read of their die later_ns after them, which executes after the first or after
 * both.
 */
static void reads_in_order(bool in_order, uint64_t later_ns, uint64_t programs)
{
	struct rig_shape s = one_die(8, 4, 0, 16);
	struct rig_io *a = &r.io[0];

	s.in_order = in_order;
	make(&s);
	put(8);
	for (uint32_t i = 0; i < 3; i++) {
		a[i].io = (struct ftl_io){ .op = i < 2 ? FTL_WRITE : FTL_READ, .host = &a[i],
					   .offset = (i < 2 ? i : 8) * 1024, .bytes = 1024 };
		a[i].reported = false;
		r.now_ns += i == 2 ? later_ns : 0;
		r.ops->submit(r.f, r.now_ns, &a[i].io);
	}
	while ((r.next_ns = r.ops->step(r.f, r.now_ns)) != FTL_IDLE)
		r.now_ns = r.next_ns;
	EXPECT_EQ(a[2].io.done_ns - a[2].io.submit_ns, programs * PROG - later_ns + READ + FRONT);
	rig_free(&r);
}

static void reads_overtake_writes(void)
{
	for (uint64_t later_ns = 0; later_ns < 2; later_ns++) {
		reads_in_order(false, later_ns, 1);
		reads_in_order(true, later_ns, 2);
	}
}

/* A merge in slices: a write waits for at most two of its copies. */
static void a_sliced_merge_bounds_what_waits(void)
{
	struct rig_shape s = one_die(8, 4, 0, 16);
	struct rig_io *a = &r.io[0], *b = &r.io[1];

	s.mode = FTL_GC_SLICED;
	make(&s);
	for (uint32_t i = 0; i < 10; i++)
		put(i);
	for (uint32_t i = 0; i < 3; i++)
		put(0);
	a->io = (struct ftl_io){ .op = FTL_WRITE, .host = a, .bytes = 1024 };	/* fills the U-block */
	b->io = (struct ftl_io){ .op = FTL_WRITE, .host = b, .offset = 10 * 1024, .bytes = 1024 };
	a->reported = b->reported = false;
	r.ops->submit(r.f, r.now_ns, &a->io);
	r.ops->submit(r.f, r.now_ns, &b->io);
	while ((r.next_ns = r.ops->step(r.f, r.now_ns)) != FTL_IDLE)
		r.now_ns = r.next_ns;
	EXPECT_EQ(a->io.done_ns - a->io.submit_ns, PROG + FRONT);
	EXPECT_EQ(b->io.done_ns - b->io.submit_ns, PROG + 2 * COPY + PROG + FRONT);
	EXPECT_EQ(stats->merges, 1);		/* the rest of the merge ran without host I/O */
	EXPECT_EQ(put(0), PROG + FRONT);
	rig_free(&r);
}

/* ---- PEN ------------------------------------------------------------------------ */

static struct rig_shape pen_shape(void)
{
	struct rig_shape s = one_die(8, 32, 4, 32);	/* smallest PBs of two pages */

	s.pen = true;
	s.tolerance = 1;
	return s;
}

/*
 * Write units 8 .. 15, which are PB 5, repeatedly until the U-block is full; returns the latency of
 * the next write.
 */
static uint64_t round_of_pb_5(void)
{
	for (uint32_t i = 0; i < 31; i++)
		put(8 + i % 8);
	return put(15);
}

static void pen_fill(const struct rig_shape *s)
{
	make(s);
	for (uint32_t i = 0; i < 32; i++)
		put(i);
	put(8);			/* the first write of a round */
}

/*
 * Figure 11 of the paper at a smaller size: the same PB is restored four times. At t2 one smallest
 * PB on each side is restored as well, at t4 two.
 */
static void pen_figure_11(void)
{
	const uint64_t t1 = ERASE(2) + 8 * COPY + ERASE(0);
	const uint64_t t2 = ERASE(1) + (4 + 8 + 4) * COPY + ERASE(2) + 2 * ERASE(4) + ERASE(0);
	const uint64_t t4 = ERASE(1) + (8 + 8 + 8) * COPY + ERASE(2) + 2 * ERASE(3) + ERASE(0);
	struct rig_shape s = pen_shape();
	struct nand_stats ns;

	pen_fill(&s);
	EXPECT_EQ(round_of_pb_5(), t1 + PROG + FRONT);
	EXPECT_EQ(stats->mmerges, 1);
	EXPECT_EQ(stats->gc_units, 8);
	EXPECT_EQ(round_of_pb_5(), t2 + PROG + FRONT);
	EXPECT_EQ(round_of_pb_5(), t1 + PROG + FRONT);
	EXPECT_EQ(round_of_pb_5(), t4 + PROG + FRONT);
	EXPECT_EQ(stats->mmerges, 4);
	EXPECT_EQ(stats->merges, 0);
	for (uint32_t i = 0; i < 32; i++)
		EXPECT_EQ(get(i), SSD_OK);
	r.ta.n->ops->get_stats(r.ta.n, &ns);
	EXPECT_EQ(ns.disturb_lost, 8);	/* the PBs next to PB 5, which were copied out before, at t2 and t4 */
	rig_free(&r);
}

/* The same host I/O loses data with an FTL that assumes no disturbance. */
static void ignoring_disturbance_loses_data(void)
{
	struct rig_shape s = pen_shape();
	uint32_t lost = 0;

	s.believed = 255;
	pen_fill(&s);
	r.may_lose = true;
	EXPECT_EQ(round_of_pb_5(), ERASE(2) + 8 * COPY + ERASE(0) + PROG + FRONT);
	EXPECT_EQ(round_of_pb_5(), ERASE(2) + 8 * COPY + ERASE(0) + PROG + FRONT);
	for (uint32_t i = 0; i < 32; i++)
		lost += get(i) == SSD_E_UNCORR;
	EXPECT_EQ(lost, 4);
	EXPECT_EQ(get(6), SSD_E_UNCORR);
	EXPECT_EQ(get(7), SSD_E_UNCORR);
	EXPECT_EQ(get(16), SSD_E_UNCORR);
	EXPECT_EQ(get(17), SSD_E_UNCORR);
	rig_free(&r);
}

/* After W M-Merges of a block comes a Merge. */
static void pen_merges_in_between(void)
{
	struct rig_shape s = pen_shape();

	s.tolerance = 255;
	s.merges_max = 2;
	pen_fill(&s);
	for (uint32_t i = 0; i < 6; i++)
		round_of_pb_5();
	EXPECT_EQ(stats->mmerges, 4);
	EXPECT_EQ(stats->merges, 2);
	rig_free(&r);
}

/* A Merge is cheaper if most of the block must be copied out and back. */
static void pen_prefers_a_cheaper_merge(void)
{
	struct rig_shape s = pen_shape();

	pen_fill(&s);
	for (uint32_t i = 0; i < 31; i++)
		put((4 * i + 1) % 32);		/* a page of every other smallest PB */
	put(0);
	EXPECT_EQ(stats->mmerges, 0);
	EXPECT_EQ(stats->merges, 1);
	EXPECT_EQ(stats->gc_units, 32);
	rig_free(&r);
}

/* Pairs found by a mount are merged whole, and their U-blocks take no more pages. */
static void pen_after_a_mount(void)
{
	struct rig_shape s = pen_shape();

	pen_fill(&s);
	EXPECT_EQ(rig_again(&r), SSD_OK);
	put(8);
	EXPECT_EQ(stats->merges, 1);
	round_of_pb_5();
	EXPECT_EQ(stats->mmerges, 1);
	rig_free(&r);
}

/*
 * A free block found by a mount may be half erased: it is erased before use, unless all blocks are
 * blank.
 */
static void a_used_drive_erases_first(void)
{
	struct rig_shape s = one_die(8, 4, 0, 20);

	make(&s);
	EXPECT_EQ(put(0), PROG + FRONT);
	EXPECT_EQ(rig_again(&r), SSD_OK);
	EXPECT_EQ(put(4), ERASE(0) + PROG + FRONT);
	EXPECT_EQ(put(5), PROG + FRONT);
	rig_free(&r);
}

/* ---- media failures --------------------------------------------------------------- */

static uint32_t bad_page;

static enum nand_status lose_one(void *opaque, const struct nand_cmd *c)
{
	(void)opaque;
	return c->op == NAND_READ && c->source == NAND_SRC_GC && c->ppn.v == bad_page ? NAND_UNCORR :
										      NAND_OK;
}

/* A page that GC cannot read stays lost after a copy, a mount, and a partial write. */
static void a_lost_page_stays_lost(void)
{
	struct nand_hooks hooks = { .fault = lose_one }, none = { 0 };
	struct rig_shape s = one_die(8, 4, 0, 20);

	make(&s);
	r.may_lose = true;
	for (uint32_t i = 0; i < 4; i++)
		put(i);
	bad_page = 2;		/* page of the first block */
	nand_array_set_hooks(r.ta.a, &hooks);
	for (uint32_t i = 0; i < 5; i++)
		put(0);
	nand_array_set_hooks(r.ta.a, &none);
	EXPECT_EQ(stats->merges, 1);
	EXPECT_EQ(get(1), SSD_OK);
	EXPECT_EQ(get(2), SSD_E_UNCORR);
	nand_array_power_cut(r.ta.a, r.now_ns, 1);
	nand_array_power_on(r.ta.a);
	SSD_ASSERT(rig_mount(&r) == SSD_OK);
	EXPECT_EQ(get(2), SSD_E_UNCORR);
	EXPECT_EQ(rig_write(&r, 4, 1), SSD_OK);
	EXPECT_EQ(get(2), SSD_E_UNCORR);
	EXPECT_EQ(rig_write(&r, 4, 2), SSD_OK);
	EXPECT_EQ(get(2), SSD_OK);
	rig_free(&r);
}

/* ---- configuration ------------------------------------------------------------------ */

static enum nand_status hide_block_3(void *opaque, const struct nand_cmd *c)
{
	(void)opaque;
	return c->op == NAND_READ && c->ppn.v / 4 == 3 ? NAND_UNCORR : NAND_OK;
}

static void write_units(uint32_t from, uint32_t count, uint32_t step)
{
	for (uint32_t i = 0; i < count; i++)
		EXPECT_EQ(rig_write(&r, 2 * (from + i * step), 2), SSD_OK);
}

/*
 * D-block 0 and U-block 1 are merged into block 2; then page 0 is written twice to U-block 3, with
 * the highest numbers. A mount cannot read block 3 and takes it for a free block. Page 0 goes to
 * block 0, which is erased first. Its number must be above those in block 3, which the next mount
 * reads.
 */
static void a_block_that_comes_back_is_not_the_newest(void)
{
	struct nand_hooks hooks = { .fault = hide_block_3 }, none = { 0 };
	struct rig_shape s = one_die(8, 4, 0, 20);
	enum nand_status st;

	make(&s);
	write_units(0, 4, 1);
	write_units(0, 6, 0);
	EXPECT_EQ(stats->merges, 1);
	st = r.ta.n->ops->peek(r.ta.n, (ppn_t){ 13 }, NULL, NULL);
	EXPECT_EQ(st, NAND_OK);
	nand_array_set_hooks(r.ta.a, &hooks);
	EXPECT_EQ(rig_again(&r), SSD_OK);
	write_units(0, 1, 0);
	nand_array_set_hooks(r.ta.a, &none);
	EXPECT_EQ(rig_again(&r), SSD_OK);
	rig_powered(&r);
	rig_read_all(&r);
	rig_verify(&r, &r);
	rig_free(&r);
}

static void expect_refused(const struct rig_shape *s, void (*spoil)(struct ftl_config *,
								   struct nand_geometry *),
			   const char *begins)
{
	struct ftl_config c;
	struct nand_geometry g;
	const char *why = "";

	rig_make(&r, s);
	c = r.fc;
	g = r.ac.geo;
	spoil(&c, &g);
	EXPECT_EQ(ftl_validate(r.ops, &c, &g, &why), SSD_E_INVAL);
	if (!why || strncmp(why, begins, strlen(begins))) {
		printf("not '%s': '%s'\n", begins, why ? why : "");
		failures++;
	}
	rig_free(&r);
}

static void half_units(struct ftl_config *c, struct nand_geometry *g)
{
	(void)g;
	c->unit_bytes = 512;
}

static void a_buffer(struct ftl_config *c, struct nand_geometry *g)
{
	(void)g;
	c->buffer_units = 16;
}

static void pen_without_pbs(struct ftl_config *c, struct nand_geometry *g)
{
	(void)g;
	c->pen = true;
}

static void parallel_without_a_group(struct ftl_config *c, struct nand_geometry *g)
{
	(void)g;
	c->parallel_erase = true;
}

static void copyback_without_it(struct ftl_config *c, struct nand_geometry *g)
{
	(void)g;
	c->gc_copyback = true;
}

static void subpages(struct ftl_config *c, struct nand_geometry *g)
{
	(void)g;
	c->gc_subpage_reads = true;
}

static void fps(struct ftl_config *c, struct nand_geometry *g)
{
	(void)c;
	g->order = NAND_ORDER_FPS;
}

static void a_high_threshold(struct ftl_config *c, struct nand_geometry *g)
{
	(void)g;
	c->gc_start_blocks = 3;
}

static void too_large(struct ftl_config *c, struct nand_geometry *g)
{
	(void)g;
	c->capacity_bytes = 30 * 1024;
}

static void a_write_buffer(struct ftl_config *c, struct nand_geometry *g)
{
	(void)g;
	c->write_buffer_blocks = 1;
}

static void a_write_buffer_with_pen(struct ftl_config *c, struct nand_geometry *g)
{
	c->write_buffer_blocks = 1;
	c->gc_mode = FTL_GC_SLICED;
	g->pages_per_block = 8;
	g->pb_levels = 1;
	c->pen = true;
}

static void a_large_write_buffer(struct ftl_config *c, struct nand_geometry *g)
{
	(void)g;
	c->write_buffer_blocks = 1;
	c->gc_mode = FTL_GC_SLICED;
	c->gc_start_blocks = c->gc_stop_blocks = 3;
	c->gc_urgent_blocks = 2;
}

static void a_stripe_across_blocks(struct ftl_config *c, struct nand_geometry *g)
{
	(void)g;
	c->stripe_pages = 3;
}

static void what_it_refuses(void)
{
	struct rig_shape s = one_die(8, 4, 0, 20);

	expect_refused(&s, half_units, "unit_bytes must be geometry.page_bytes");
	expect_refused(&s, a_buffer, "buffer_units must be 0");
	expect_refused(&s, pen_without_pbs, "pen needs geometry.pb_levels");
	expect_refused(&s, parallel_without_a_group, "parallel_erase needs geometry.erase_group_max");
	expect_refused(&s, copyback_without_it, "gc_copyback needs geometry.copyback");
	expect_refused(&s, subpages, "gc_subpage_reads must be no");
	expect_refused(&s, fps, "order must be ascending or none");
	expect_refused(&s, a_high_threshold, "gc_start_blocks leaves no block for a U-block");
	expect_refused(&s, a_write_buffer, "write_buffer_blocks needs gc_mode = sliced");
	expect_refused(&s, a_write_buffer_with_pen, "write_buffer_blocks must be 0 with pen");
	expect_refused(&s, a_large_write_buffer, "write_buffer_blocks leaves no block for a U-block");
	expect_refused(&s, a_stripe_across_blocks, "stripe_pages must divide geometry.pages_per_block");
	expect_refused(&s, too_large, "the geometry cannot hold the exported capacity");
}

int main(void)
{
	RUN(d_block_then_u_block);
	RUN(an_ascending_d_block_takes_no_lower_page);
	RUN(spare_areas_are_searched_from_the_newest);
	RUN(a_stripe_of_a_block);
	RUN(a_part_of_a_page);
	RUN(neighbours_are_on_different_channels);
	RUN(ssdsim_ends_a_write_with_its_transfer);
	RUN(ssdsim_reads_what_is_being_programmed);
	RUN(a_flush_waits_for_programs);
	RUN(a_full_u_block_is_merged);
	RUN(two_blocks_in_one_erase);
	RUN(merge_by_copyback);
	RUN(an_unpaired_block_takes_the_best_victim);
	RUN(which_pair_is_merged);
	RUN(a_merge_reads_all_spare_areas);
	RUN(reads_overtake_writes);
	RUN(a_sliced_merge_bounds_what_waits);
	RUN(pen_figure_11);
	RUN(ignoring_disturbance_loses_data);
	RUN(pen_merges_in_between);
	RUN(pen_prefers_a_cheaper_merge);
	RUN(pen_after_a_mount);
	RUN(a_used_drive_erases_first);
	RUN(a_lost_page_stays_lost);
	RUN(a_block_that_comes_back_is_not_the_newest);
	RUN(what_it_refuses);
	return test_result();
}
