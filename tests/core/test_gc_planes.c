// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test GC of a die's planes: which commands it gives together, and when it begins and ends. Schedules are computed by
 * hand and compared exactly.
 */
#include "timing_ftl.h"

/* Times of commands of several planes: bus times add up, cell times do not. */
#define READ_PLANES(n) ((n) * (CMD + XFER) + READ)
#define PROG_PLANES(n) ((n) * (CMD + XFER) + PROG)
#define ERASE_PLANES(n) ((n) * CMD + ERASE)

/*
 * Fill the drive as fill_to_the_brink() in test_ftl_timing.c does, but by requests of a page for each plane, which one
 * command programs. So the blocks of each plane are like those of the single plane in that test. Three requests write
 * pages of block 0 again; the third of them begins at last_lpn.
 */
static void fill_planes(uint32_t planes, bool together, uint32_t last_lpn)
{
	ways.planes = planes;
	ways.together = together;
	ftl_make(1, 1, 14 * planes, 0, FTL_GC_BLOCKING);
	for (uint32_t lpn = 0; lpn < 12; lpn++)
		run(FTL_WRITE, lpn * planes, planes);
	run(FTL_WRITE, 0, planes);
	run(FTL_WRITE, planes, planes);
	run(FTL_WRITE, last_lpn, planes);
	run(FTL_WRITE, 12 * planes, planes);
	settle();
	EXPECT_EQ(f->ops->stats(f)->gc_runs, 0);
	t.n->ops->reset_stats(t.n);
}

/*
 * Submit a write of one page in each of `written` planes, at which GC begins, and a read 10 us later. Returns how many
 * ns the read waits for GC.
 */
static uint64_t wait_for_gc(uint32_t written)
{
	struct ftl_io w = { .op = FTL_WRITE, .offset = 13ull * ways.planes * 4096, .bytes = 4096ull * written };
	struct ftl_io r = { .op = FTL_READ, .offset = 11ull * ways.planes * 4096, .bytes = 4096 };
	uint32_t n = done_count;

	give(&w);
	now += 10000;
	give(&r);
	until_done(n + 2);
	EXPECT_EQ(last()->op, FTL_READ);
	EXPECT_EQ(last()->where.host_queue_ns, PROG_PLANES(written) - 10000);
	n = (uint32_t)last()->where.gc_queue_ns;
	settle();
	return n;
}

static uint64_t gc_of_planes(uint32_t planes, bool together, uint32_t last_lpn)
{
	fill_planes(planes, together, last_lpn);
	return wait_for_gc(planes);
}

static void expect_planes_together(uint32_t planes)
{
	uint64_t all = READ_PLANES(planes) + PROG_PLANES(planes) + ERASE_PLANES(planes);
	struct nand_stats s;

	EXPECT_EQ(gc_of_planes(planes, true, 2 * planes), all);
	t.n->ops->get_stats(t.n, &s);
	EXPECT_EQ(f->ops->stats(f)->gc_runs, planes);
	EXPECT_EQ(f->ops->stats(f)->gc_units, planes);
	EXPECT_EQ(f->ops->stats(f)->gc_ns, planes * all);
	for (enum nand_op op = NAND_READ; op <= NAND_ERASE; op++)
		EXPECT_EQ(s.ops[op][NAND_SRC_GC], planes);
	EXPECT_EQ(s.die_busy_ns[NAND_SRC_GC], all);
	ftl_free();
}

static void gc_of_planes_works_together(void)
{
	expect_planes_together(1);
	expect_planes_together(2);
	expect_planes_together(4);
	EXPECT_EQ(gc_of_planes(2, false, 4), 2 * GC_ALL);	/* one after another */
	ftl_free();
	/* LPNs 5 and 6: the third page of plane 0 and the fourth of plane 1 stay valid in block 0 */
	EXPECT_EQ(gc_of_planes(2, true, 5), READ_PLANES(2) + PROG_PLANES(2) + ERASE_PLANES(2));
	ftl_free();
}

/*
 * Test how many planes GC collects (runs) if it ends at `stop` free blocks. GC begins below 4. The 17th write goes to
 * plane 0 alone; then plane 0 has 3 free blocks, and plane 1 has 4.
 */
static void expect_runs(uint32_t stop, bool together, uint32_t runs)
{
	ways.stop = stop;
	fill_planes(2, together, 4);
	EXPECT_EQ(wait_for_gc(1), runs == 2 ? READ_PLANES(2) + PROG_PLANES(2) + ERASE_PLANES(2) : GC_ALL);
	EXPECT_EQ(f->ops->stats(f)->gc_runs, runs);
	ftl_free();
}

/*
 * GC that ends at 5 free blocks has work in plane 1, which is then woken with plane 0 (two runs). If it ends at 4, or
 * planes work apart, plane 0 works alone.
 */
static void gc_of_planes_begins_together(void)
{
	expect_runs(5, true, 2);
	expect_runs(4, true, 1);
	expect_runs(5, false, 1);
	expect_runs(4, false, 1);
}

/*
 * Test how many blocks (runs) and units GC collects in plane 0 while plane 1 has nothing to collect.
 * GC begins below 4 free blocks, and its copies have a block of their own. Even LPNs are in plane 0. Pages of plane 0
 * are written again, by turns to both planes, so plane 1 has nothing to collect. Plane 0 then has a block with one
 * valid page and two blocks with two.
 */
static void expect_alone(bool together, uint32_t runs, uint32_t units)
{
	static const uint32_t again[] = { 0, 2, 4, 8, 16, 18 };

	ways.planes = 2;
	ways.together = together;
	ways.stop = 5;
	ftl_make(1, 1, 28, 0, FTL_GC_BLOCKING);
	for (uint32_t lpn = 0; lpn < 26; lpn += 2)
		run(FTL_WRITE, lpn, 2);
	for (uint32_t i = 0; i < 6; i++)
		run(FTL_WRITE, again[i], 1);
	settle();
	EXPECT_EQ(f->ops->stats(f)->gc_runs, 0);
	run(FTL_WRITE, 10, 1);
	settle();
	EXPECT_EQ(f->ops->stats(f)->gc_runs, runs);
	EXPECT_EQ(f->ops->stats(f)->gc_units, units);
	ftl_free();
}

/* A collector that works alone ends at 4 free blocks. If planes do not work together, it ends at 5. */
static void gc_of_planes_ends_together(void)
{
	expect_alone(true, 2, 3);
	expect_alone(false, 3, 5);
}

/*
 * LPNs 7 and 8 are written again. Then block 0 of plane 0 has two valid pages (LPNs 4 and 6), and its block 1 has
 * three, without LPN 8. Block 0 of plane 1 has one (LPN 5). Plane 1 waits with its erase until plane 0 has made its
 * second copy. Plane 0 then collects block 1 alone.
 */
static void gc_of_planes_waits_with_the_erase(void)
{
	EXPECT_EQ(gc_of_planes(2, true, 7), READ_PLANES(2) + PROG_PLANES(2) + READ_ALONE + PROG_ALONE +
					   ERASE_PLANES(2) + 3 * (READ_ALONE + PROG_ALONE) + ERASE_ALONE);
	EXPECT_EQ(f->ops->stats(f)->gc_runs, 3);
	EXPECT_EQ(f->ops->stats(f)->gc_units, 6);
	ftl_free();
}

int main(void)
{
	RUN(gc_of_planes_works_together);
	RUN(gc_of_planes_begins_together);
	RUN(gc_of_planes_ends_together);
	RUN(gc_of_planes_waits_with_the_erase);
	return test_result();
}
