// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test the Superblock FTL, and page mapping of a plane: schedules computed by hand, compared
 * exactly; disturbance that is ignored; endless power cuts; configurations that are refused.
 *
 * A page has 1024 + 64 bytes at 1 ns a byte. Commands take 100 ns on the bus, a read 5 us in the cells, a
 * program 20 us, an erase 70 us and 5 us less for each level of PBs. Map and firmware take 20 ns an I/O.
 *
 *   test_superblock [cuts:SHAPE:SEED | odd:SEED]
 */
#include "direct_rig.h"

#define FRONT 20u
#define READ (100u + 5000u + 1088u)
#define SPARE (100u + 5000u + 64u)	/* read of a spare area */
#define PROG (100u + 1088u + 20000u)
#define COPY (READ + PROG)
#define ERASE(level) (100u + 70000u - 5000u * (level))

static struct rig r;
static const struct ftl_stats *stats;

static struct rig_shape one_die(uint32_t blocks, uint32_t pages, uint32_t levels, uint32_t units)
{
	return (struct rig_shape){
		.name = "one die", .ftl = "superblock",
		.g = { 1, 1, 1, 1, blocks, pages, 1024, 64, 0, 1024, levels, 1, 1, NAND_ORDER_NONE },
		.units = units, .start = 3, .urgent = 2, .tolerance = 1,
	};
}

static void make(const struct rig_shape *s)
{
	stats = rig_start(&r, s);
}

/* Write one unit alone; returns its latency. */
static uint64_t put(uint32_t unit)
{
	return rig_alone(&r, FTL_WRITE, unit, 1);
}

/* Write `units` units from `unit` on and expect the latency of a program. */
static void put_all(uint32_t unit, uint32_t units)
{
	for (uint32_t i = 0; i < units; i++)
		EXPECT_EQ(put(unit + i), PROG + FRONT);
}

/*
 * A free block found by a mount may be half erased, and is erased before use, unless all blocks are
 * blank.
 */
static void a_used_drive_erases_first(void)
{
	struct rig_shape s = one_die(6, 4, 0, 8);

	s.m = 1;
	s.n = 2;
	make(&s);
	put_all(0, 4);
	EXPECT_EQ(rig_again(&r), SSD_OK);
	EXPECT_EQ(put(4), ERASE(0) + PROG + FRONT);
	EXPECT_EQ(put(5), PROG + FRONT);
	rig_free(&r);
}

static enum nand_status hide_two(void *opaque, const struct nand_cmd *c)
{
	(void)opaque;
	return c->op == NAND_READ && (c->ppn.v == 2 || c->ppn.v == 3) ? NAND_UNCORR : NAND_OK;
}

/*
 * Block 0 has units 0, 1, 1, 0. A mount cannot read the last two; unit 0 is written again; the next
 * mount reads all.
 */
static void a_page_that_comes_back_is_not_the_newest(void)
{
	struct nand_hooks hooks = { .fault = hide_two }, none = { 0 };
	struct rig_shape s = one_die(6, 4, 0, 8);

	s.m = 1;
	s.n = 2;
	make(&s);
	for (uint32_t i = 0; i < 2; i++)
		EXPECT_EQ(rig_write(&r, 2 * i, 2), SSD_OK);
	EXPECT_EQ(rig_write(&r, 2, 2), SSD_OK);
	EXPECT_EQ(rig_write(&r, 0, 2), SSD_OK);
	nand_array_set_hooks(r.ta.a, &hooks);
	EXPECT_EQ(rig_again(&r), SSD_OK);
	EXPECT_EQ(rig_write(&r, 0, 2), SSD_OK);
	nand_array_set_hooks(r.ta.a, &none);
	EXPECT_EQ(rig_again(&r), SSD_OK);
	rig_powered(&r);
	rig_read_all(&r);
	rig_verify(&r, &r);
	rig_free(&r);
}

/* ---- groups ------------------------------------------------------------------- */

/*
 * N blocks without a free page: the one with the fewest valid pages is copied to a new block and
 * erased.
 */
static void intra_group(void)
{
	struct rig_shape s = one_die(6, 4, 0, 8);

	s.m = 1;
	s.n = 2;
	make(&s);
	put_all(0, 4);
	put_all(0, 1);
	put_all(0, 1);
	put_all(0, 1);
	put_all(0, 1);
	EXPECT_EQ(stats->gc_runs, 0);
	EXPECT_EQ(put(0), COPY + ERASE(0) + PROG + FRONT);
	EXPECT_EQ(stats->gc_runs, 1);
	EXPECT_EQ(stats->merges, 1);
	EXPECT_EQ(stats->gc_units, 1);
	EXPECT_EQ(stats->gc_blocks, 1);
	put_all(0, 2);
	rig_free(&r);
}

/*
 * There are three groups and seven blocks. Group 0 has two blocks, with 3 valid pages and 1. Group 1 needs a
 * second block when two are free. Group 0 has the most stale pages and is compacted: its emptier
 * block is copied to a new one, and the other fits behind it.
 */
static void inter_group(void)
{
	struct rig_shape s = one_die(7, 4, 0, 12);

	s.m = 1;
	s.n = 2;
	make(&s);
	put_all(0, 4);
	put_all(0, 1);
	put_all(0, 1);
	put_all(0, 1);
	put_all(0, 1);
	put_all(4, 4);
	put_all(8, 4);
	put_all(8, 1);
	EXPECT_EQ(put(4), COPY + ERASE(0) + 3 * COPY + ERASE(0) + PROG + FRONT);
	EXPECT_EQ(stats->gc_runs, 1);
	EXPECT_EQ(stats->merges, 2);
	EXPECT_EQ(stats->gc_units, 4);
	EXPECT_EQ(stats->gc_blocks, 2);
	EXPECT_EQ(r.all.io.where.gc_queue_ns, 4 * COPY + 2 * ERASE(0));
	rig_free(&r);
}

/* Rewrite the first quarter of a block until another block is full. */
static void rewrite_a_quarter(void)
{
	put_all(0, 16);
	put_all(0, 4);
	put_all(0, 4);
	put_all(0, 4);
	put_all(0, 4);
	put_all(16, 16);
	put_all(32, 16);
	put_all(32, 1);
}

/* A merge moves all 16 pages; an M-Merge moves the 4 that were rewritten, into PB 4. */
static void mmerge_of_a_group(void)
{
	struct rig_shape s = one_die(7, 16, 3, 48);

	s.m = 1;
	s.n = 2;
	make(&s);
	rewrite_a_quarter();
	EXPECT_EQ(put(16), 16 * COPY + 2 * ERASE(0) + PROG + FRONT);
	EXPECT_EQ(stats->merges, 2);
	rig_free(&r);

	s.pen = true;
	make(&s);
	rewrite_a_quarter();
	EXPECT_EQ(put(16), ERASE(2) + 4 * COPY + ERASE(0) + PROG + FRONT);
	EXPECT_EQ(stats->merges, 0);
	EXPECT_EQ(stats->mmerges, 1);
	EXPECT_EQ(stats->gc_runs, 1);
	EXPECT_EQ(stats->gc_units, 4);
	EXPECT_EQ(stats->gc_blocks, 2);
	rig_free(&r);
}

/*
 * A page of the quarter that is still valid is copied out and back. The block that must go has
 * `left` free pages; the M-Merge erases `whole` whole blocks.
 */
static void copy_out(uint32_t left, uint32_t whole)
{
	struct rig_shape s = one_die(7, 16, 3, 48);

	s.m = 1;
	s.n = 2;
	s.pen = true;
	make(&s);
	put_all(0, 16);
	put_all(0, 3);
	for (uint32_t i = 0; i < 13 - left; i++)
		put_all(0, 1);
	put_all(16, 16);
	put_all(32, 16);
	put_all(32, 1);
	/* Pages 0, 1 and 2, all of PB 8 and half of PB 9 are stale; their parent is cheaper than both. */
	EXPECT_EQ(put(16), COPY + ERASE(2) + 4 * COPY + whole * ERASE(0) + PROG + FRONT);
	EXPECT_EQ(stats->mmerges, 1);
	EXPECT_EQ(stats->merges, 0);
	EXPECT_EQ(stats->gc_units, 5);
	EXPECT_EQ(stats->gc_blocks, 1 + whole);
	rig_free(&r);
}

/* The page goes to a free page of the block that must go, or to a new block, which is erased, too. */
static void mmerge_copies_out(void)
{
	copy_out(1, 1);
	copy_out(0, 2);
}

/* ---- cold blocks ---------------------------------------------------------------- */

static void cold_drive(uint32_t blocks, uint32_t units, uint32_t m, uint32_t n)
{
	struct rig_shape s = one_die(blocks, 4, 0, units);

	s.m = m;
	s.n = n;
	s.cold = true;
	make(&s);
}

/*
 * As in intra_group() GC first copies one page, here to a cold block. The 3 valid pages of the other block fit into
 * the rest of it, so GC frees that block, too, and the host gets a free one.
 */
static void a_hot_block_is_freed(void)
{
	cold_drive(6, 8, 1, 2);
	put_all(0, 4);
	for (uint32_t i = 0; i < 4; i++)
		put_all(0, 1);
	EXPECT_EQ(put(0), COPY + ERASE(0) + 3 * COPY + ERASE(0) + PROG + FRONT);
	EXPECT_EQ(stats->gc_runs, 2);
	EXPECT_EQ(stats->gc_units, 4);
	put_all(1, 3);
	EXPECT_EQ(put(0), ERASE(0) + PROG + FRONT);	/* the cold block has no valid page */
	rig_free(&r);
}

/*
 * GC empties the block with 2 valid pages into a cold block. The other two have 3 valid pages each, which do not fit
 * into its other 2 pages, so the host gets the cold block.
 */
static void the_host_takes_the_cold_block(void)
{
	cold_drive(8, 8, 2, 3);
	put_all(0, 8);
	put_all(0, 1);
	put_all(4, 1);
	put_all(0, 1);
	put_all(4, 1);
	for (uint32_t i = 0; i < 2; i++) {
		EXPECT_EQ(put(0), 2 * COPY + ERASE(0) + PROG + FRONT);
		put_all(4, 1);
	}
	EXPECT_EQ(stats->gc_runs, 2);
	rig_free(&r);
}

/* The victim is a hot block with 3 valid pages, although a cold block has only 2. */
static void hot_blocks_are_victims_first(void)
{
	cold_drive(8, 8, 2, 3);
	put_all(0, 8);
	for (uint32_t i = 0; i < 2; i++)
		put_all(0, 2);
	EXPECT_EQ(put(0), 4 * COPY + 2 * ERASE(0) + PROG + FRONT);	/* units 2, 3, 0 and 1 are cold */
	put_all(2, 1);
	put_all(4, 1);
	put_all(0, 1);
	EXPECT_EQ(put(0), 3 * COPY + ERASE(0) + PROG + FRONT);
	rig_free(&r);
}

/* GC leaves group 0 one cold block, with a free page. A write takes that page; no other group is collected for it. */
static void no_inter_group_gc_for_a_hot_block(void)
{
	cold_drive(7, 12, 1, 2);
	put_all(0, 3);
	for (uint32_t i = 0; i < 5; i++)
		put_all(0, 1);
	put_all(4, 4);
	put_all(8, 4);
	put_all(8, 1);
	EXPECT_EQ(put(4), COPY + ERASE(0) + 2 * COPY + ERASE(0) + PROG + FRONT);
	put_all(0, 1);
	EXPECT_EQ(stats->gc_runs, 1);
	rig_free(&r);
}

/* Memory has the map of one logical block; the other's is in the spare area of its newest page. */
static void map_parts(void)
{
	struct rig_shape s = one_die(6, 4, 0, 8);

	s.m = 1;
	s.n = 2;
	s.parts = 1;
	make(&s);
	put_all(0, 2);
	put_all(4, 1);		/* the first page of its logical block: there is no part to read */
	EXPECT_EQ(put(0), SPARE + PROG + FRONT);
	EXPECT_EQ(rig_alone(&r, FTL_READ, 1, 1), READ + FRONT);
	EXPECT_EQ(rig_alone(&r, FTL_READ, 4, 1), SPARE + READ + FRONT);
	EXPECT_EQ(stats->search_reads, 2);
	EXPECT_EQ(rig_again(&r), SSD_OK);
	stats = r.ops->stats(r.f);
	EXPECT_EQ(rig_alone(&r, FTL_READ, 4, 1), SPARE + READ + FRONT);
	EXPECT_EQ(stats->search_reads, 1);
	rig_free(&r);
}

/* ---- page mapping ---------------------------------------------------------------- */

/*
 * Half of each of four blocks is rewritten. A PB without valid pages is erased, and no page moves.
 */
static void page_mapping_erases_pbs(void)
{
	struct rig_shape s = one_die(8, 16, 3, 64);

	s.pen = true;
	make(&s);
	for (uint32_t b = 0; b < 4; b++)
		put_all(16 * b, 16);
	put_all(0, 8);
	put_all(16, 8);
	put_all(32, 8);
	put_all(48, 8);
	EXPECT_EQ(put(0), ERASE(1) + PROG + FRONT);
	put_all(1, 7);
	EXPECT_EQ(put(16), ERASE(1) + PROG + FRONT);
	EXPECT_EQ(stats->mmerges, 2);
	EXPECT_EQ(stats->merges, 0);
	EXPECT_EQ(stats->gc_units, 0);
	rig_free(&r);
}

static void greedy_moves_pages(void)
{
	struct rig_shape s = one_die(8, 16, 3, 64);

	make(&s);
	for (uint32_t b = 0; b < 4; b++)
		put_all(16 * b, 16);
	put_all(0, 8);
	put_all(16, 8);
	put_all(32, 8);
	put_all(48, 8);
	EXPECT_EQ(put(0), 8 * COPY + ERASE(0) + PROG + FRONT);
	EXPECT_EQ(stats->merges, 1);
	EXPECT_EQ(stats->gc_units, 8);
	rig_free(&r);
}

/* GC erases two blocks without valid pages with one erase command. */
static void two_victims(void)
{
	struct rig_shape s = one_die(8, 4, 0, 16);

	s.g.erase_group_max = 2;
	s.parallel_erase = true;
	make(&s);
	for (uint32_t b = 0; b < 4; b++)
		put_all(4 * b, 4);
	put_all(0, 4);
	put_all(4, 4);
	EXPECT_EQ(put(8), ERASE(0) + PROG + FRONT);
	EXPECT_EQ(stats->second_victims, 1);
	EXPECT_EQ(stats->gc_blocks, 2);
	EXPECT_EQ(stats->gc_runs, 1);
	rig_free(&r);
}

/* A second victim with a valid page is taken only if second_victim_pages allows it. */
static void a_second_victim_with_pages(uint32_t allowed, uint64_t latency, uint32_t victims)
{
	struct rig_shape s = one_die(8, 4, 0, 16);

	s.g.erase_group_max = 2;
	s.parallel_erase = true;
	s.second = allowed;
	make(&s);
	for (uint32_t b = 0; b < 4; b++)
		put_all(4 * b, 4);
	put_all(0, 4);
	put_all(4, 3);
	put_all(8, 1);
	EXPECT_EQ(put(9), latency);
	EXPECT_EQ(stats->second_victims, victims - 1);
	EXPECT_EQ(stats->gc_blocks, victims);
	rig_free(&r);
}

static void the_copy_threshold(void)
{
	a_second_victim_with_pages(0, ERASE(0) + PROG + FRONT, 1);
	a_second_victim_with_pages(1, COPY + ERASE(0) + PROG + FRONT, 2);
}

/*
 * Two victims with one valid page each are erased together if both have at most this number in all.
 */
static void the_threshold_of_both(uint32_t both, uint64_t latency, uint32_t pairs)
{
	struct rig_shape s = one_die(8, 4, 0, 16);

	s.g.erase_group_max = 2;
	s.parallel_erase = true;
	s.second = 4;
	s.both = both;
	make(&s);
	for (uint32_t b = 0; b < 4; b++)
		put_all(4 * b, 4);
	put_all(0, 3);
	put_all(4, 3);
	put_all(8, 2);
	EXPECT_EQ(put(10), latency);
	EXPECT_EQ(stats->second_victims, pairs);
	EXPECT_EQ(stats->gc_blocks, pairs + 1);
	rig_free(&r);
}

static void pages_of_both(void)
{
	the_threshold_of_both(1, COPY + ERASE(0) + PROG + FRONT, 0);
	the_threshold_of_both(2, 2 * COPY + ERASE(0) + PROG + FRONT, 1);
}

/* ---- disturbance -------------------------------------------------------------------- */

static uint64_t lost_pages(struct rig_shape *s, uint32_t believed)
{
	uint64_t lost = 0;

	s->believed = believed;
	for (uint64_t seed = 1; seed <= 8; seed++) {
		rig_make(&r, s);
		r.may_lose = believed;
		r.rng = seed * 0x9e3779b97f4a7c15u;
		SSD_ASSERT(rig_mount(&r) == SSD_OK);
		rig_work(&r, 1500);
		rig_drain(&r);
		rig_read_all(&r);
		EXPECT(r.ops->stats(r.f)->mmerges > 0);
		lost += r.lost;
		rig_free(&r);
	}
	return lost;
}

static void disturbance(void)
{
	struct rig_shape s = one_die(10, 16, 3, 0);

	s.start = 4;
	s.hot = 20;
	s.pen = true;
	s.m = 2;
	s.n = 4;
	EXPECT_EQ(lost_pages(&s, 0), 0);
	EXPECT(lost_pages(&s, 255) > 0);
	s.cold = true;
	EXPECT_EQ(lost_pages(&s, 0), 0);
	EXPECT(lost_pages(&s, 255) > 0);
	s.cold = false;
	s.m = s.n = 0;
	s.start = 3;
	EXPECT_EQ(lost_pages(&s, 0), 0);
	EXPECT(lost_pages(&s, 255) > 0);
}

/* ---- endless power cuts ----------------------------------------------------------------- */

static struct {
	uint64_t commands, cut_at, cut_ns;
	bool armed;
	jmp_buf off;
} power;

static void on_commands(void *opaque, uint64_t now_ns, const struct nand_cmd *c, unsigned int count)
{
	(void)opaque;
	if (!power.armed || c[0].op == NAND_READ || power.commands++ < power.cut_at)
		return;
	switch (power.cut_at % 3) {
	case 0:
		power.cut_ns = now_ns;
		break;
	case 1:
		power.cut_ns = c[count - 1].done_ns - c[count - 1].cell_ns / 2;
		break;
	default:
		power.cut_ns = c[count - 1].done_ns;
	}
	longjmp(power.off, 1);
}

static void live(void)
{
	power.commands = 0;
	power.cut_at = rnd(&r.rng) % 24;
	power.armed = true;
	if (setjmp(power.off))
		return;
	SSD_ASSERT(rig_mount(&r) == SSD_OK);
	rig_read_all(&r);
	rig_verify(&r, &r);
	rig_begin_history(&r);
	rig_work(&r, 60);
	power.cut_ns = r.now_ns;
}

/* Of 300 runs few reach the end of a merge, and no write may be refused. */
static void lives(const struct rig_shape *s, uint32_t shape, uint64_t seed)
{
	struct nand_hooks hooks = { .done = on_commands };

	snprintf(rig_id, sizeof(rig_id), "cuts:%u:%" PRIu64, shape, seed);
	rig_make(&r, s);
	nand_array_set_hooks(r.ta.a, &hooks);
	r.rng = seed * 0x9e3779b97f4a7c15u;
	SSD_ASSERT(rig_mount(&r) == SSD_OK);
	rig_work(&r, 300);
	rig_drain(&r);
	rig_read_all(&r);
	power.cut_ns = r.now_ns;
	for (uint32_t i = 0; i < test_times(300); i++) {
		power.armed = false;
		nand_array_power_cut(r.ta.a, power.cut_ns, rnd(&r.rng));
		nand_array_power_on(r.ta.a);
		live();
	}
	power.armed = false;
	rig_free(&r);
}

static void cut_shapes(uint32_t only, uint64_t seed)
{
	struct rig_shape s[6];

	for (uint32_t i = 0; i < 6; i++)
		s[i] = one_die(10, 16, 3, 0);
	s[0].m = 2;
	s[0].n = 4;
	s[0].start = s[1].start = 4;
	s[0].pen = s[2].pen = true;
	s[1].m = 2;
	s[1].n = 3;
	s[2].hot = 24;
	s[3].g.pb_levels = 4;		/* a PB is one page */
	s[3].g.order = NAND_ORDER_ASCENDING;
	s[4] = s[0];
	s[5] = s[1];
	s[4].cold = s[5].cold = true;
	for (uint32_t i = 0; i < 6; i++) {
		s[i].name = "cuts";
		if (only == ~0u || only == i)
			lives(&s[i], i, seed);
	}
}

static void cuts_without_end(void)
{
	for (uint64_t seed = 1; seed <= test_times(4); seed++)
		cut_shapes(~0u, seed);
}

/* ---- odd drives ------------------------------------------------------------------------- */

static uint32_t roll(uint64_t *s, uint32_t n)
{
	return (uint32_t)(rnd(s) % n);
}

static struct rig_shape odd_shape(uint64_t *s)
{
	static const uint32_t page_bytes[] = { 512, 1024, 2048, 4096 };
	uint32_t levels = roll(s, 5), smallest = 1 + roll(s, levels > 2 ? 2 : 5);
	uint32_t planes = 1 + roll(s, 2), bytes = page_bytes[roll(s, 4)];
	struct rig_shape x = {
		.name = "odd", .ftl = "superblock",
		.g = { 1, 1 + roll(s, 2), 1, planes, 9, smallest << levels, bytes, 64, 0,
		       roll(s, 2) ? bytes : 512, levels, 1 + roll(s, 3), 1,
		       roll(s, 2) ? NAND_ORDER_NONE : NAND_ORDER_ASCENDING, .copyback = roll(s, 2) },
		.urgent = 2 + roll(s, 2), .mode = roll(s, 2) ? FTL_GC_SLICED : FTL_GC_BLOCKING,
		.tolerance = roll(s, 4) ? roll(s, 4) : 255, .m = roll(s, 4), .merges_max = 1 + roll(s, 8),
		.second = roll(s, 20), .accounting = roll(s, 6) ? FTL_ACCOUNT_DEVICE : FTL_ACCOUNT_SSDSIM,
	};

	if (x.g.pages_per_block < 2)
		x.g.pages_per_block = 2;
	x.g.blocks_per_plane += roll(s, 5);
	while (x.g.blocks_per_plane > 7 && x.g.pages_per_block * x.g.blocks_per_plane *
	       x.g.planes_per_die * x.g.chips_per_channel > RIG_UNITS)
		x.g.blocks_per_plane--;
	x.start = x.urgent + 1 + roll(s, 3);
	x.n = x.m ? x.m + 1 + roll(s, 3) : 0;
	x.pen = levels && roll(s, 3);
	x.parallel_erase = x.g.erase_group_max > 1 && roll(s, 2);
	x.copyback = x.g.copyback && roll(s, 2);
	x.hot = roll(s, 30);
	x.cold = x.m && roll(s, 2);
	x.parts = roll(s, 4);
	return x;
}

/* Run a drive for six days, each ended by a cut. */
static bool odd_drive(uint64_t seed)
{
	uint64_t s = seed * 0x9e3779b97f4a7c15u + 1;
	struct rig_shape x = odd_shape(&s);

	if (x.g.pages_per_block * x.g.blocks_per_plane * geo_planes(&x.g) > RIG_UNITS + 32)
		return false;
	snprintf(rig_id, sizeof(rig_id), "odd:%" PRIu64, seed);
	rig_make(&r, &x);
	r.rng = s;
	for (uint32_t day = 0; day < 6; day++) {
		SSD_ASSERT(rig_mount(&r) == SSD_OK);
		rig_read_all(&r);
		rig_verify(&r, &r);
		rig_begin_history(&r);
		rig_work(&r, 50 + roll(&s, 250));
		nand_array_power_cut(r.ta.a, r.now_ns, rnd(&s));
		nand_array_power_on(r.ta.a);
	}
	rig_free(&r);
	return true;
}

static void odd_drives(void)
{
	uint32_t made = 0;

	for (uint64_t seed = 1; seed <= test_times(300); seed++)
		made += odd_drive(seed);
	printf("# %u odd drives\n", made);
	EXPECT(made > test_times(300) / 3 * 2);
}

/* ---- configurations that are refused -------------------------------------------------------- */

static void refused(struct ftl_config c, const struct nand_geometry *g, const char *word)
{
	const char *why = NULL;

	EXPECT_EQ(ftl_validate(r.ops, &c, g, &why), SSD_E_INVAL);
	EXPECT(why && strstr(why, word));
	if (why && !strstr(why, word))
		printf("%s: no word of %s\n", why, word);
}

static void configurations(void)
{
	struct rig_shape s = one_die(10, 16, 3, 64);
	struct ftl_config c;

	s.m = 2;
	s.n = 3;
	make(&s);
	c = r.fc;
	c.superblock_max_blocks = 2;
	refused(c, &s.g, "superblock_max_blocks");
	c = r.fc;
	c.superblock_blocks = 0;
	refused(c, &s.g, "superblock_max_blocks");
	c = r.fc;
	c.superblock_blocks = c.superblock_max_blocks = 0;
	c.superblock_cold = true;
	refused(c, &s.g, "superblock_cold");
	c = r.fc;
	c.gc_urgent_blocks = 1;
	refused(c, &s.g, "gc_urgent_blocks");
	c = r.fc;
	c.gc_stop_blocks = 2;
	refused(c, &s.g, "gc_stop_blocks");
	c = r.fc;
	c.pen = true;
	c.pen_merges_max = 0;
	refused(c, &s.g, "pen_merges_max");
	c = r.fc;
	c.capacity_bytes = 7 * 16 * 1024;	/* four groups of 2, and 3 blocks */
	refused(c, &s.g, "capacity");
	rig_free(&r);
}

/* The tables have two bytes for an entry of a group, or one where that is enough. */
static void table_bytes(void)
{
	struct rig_shape s = one_die(10, 16, 3, 64);

	s.m = 2;
	s.n = 3;
	make(&s);
	/* The drive has 64 logical pages, slots of two groups, and 160 physical pages of groups of 32. */
	EXPECT_EQ(r.ops->map_bytes(r.f), 64 + 2 * (3 + 7) * 4 + 160);
	rig_free(&r);
	s.parts = 1;
	make(&s);
	/* In place of 64 entries: 4 holders, and one part, which has its number and 16 entries. */
	EXPECT_EQ(r.ops->map_bytes(r.f), 4 * 4 + 4 + 16 + 2 * (3 + 7) * 4 + 160);
	rig_free(&r);
	s.parts = 0;
	s = one_die(20, 16, 3, 192);
	make(&s);
	EXPECT_EQ(r.ops->map_bytes(r.f), 192 * 2 + 320);
	rig_free(&r);
}

int main(int argc, char **argv)
{
	uint32_t shape;
	uint64_t seed;

	rig_replay_hint("test_superblock");
	if (argc == 2 && sscanf(argv[1], "cuts:%u:%" SCNu64, &shape, &seed) == 2) {
		cut_shapes(shape, seed);
		return test_result();
	}
	if (argc == 2 && sscanf(argv[1], "odd:%" SCNu64, &seed) == 1) {
		(void)odd_drive(seed);
		return test_result();
	}
	RUN(a_used_drive_erases_first);
	RUN(a_page_that_comes_back_is_not_the_newest);
	RUN(intra_group);
	RUN(inter_group);
	RUN(mmerge_of_a_group);
	RUN(mmerge_copies_out);
	RUN(a_hot_block_is_freed);
	RUN(the_host_takes_the_cold_block);
	RUN(hot_blocks_are_victims_first);
	RUN(no_inter_group_gc_for_a_hot_block);
	RUN(map_parts);
	RUN(page_mapping_erases_pbs);
	RUN(greedy_moves_pages);
	RUN(two_victims);
	RUN(the_copy_threshold);
	RUN(pages_of_both);
	RUN(disturbance);
	RUN(cuts_without_end);
	RUN(odd_drives);
	RUN(configurations);
	RUN(table_bytes);
	return test_result();
}
