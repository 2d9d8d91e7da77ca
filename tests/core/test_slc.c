// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test SLC mode and the SLC cache: what each page takes, where the cliff in the bandwidth is, what
 * folding gives back. Every number is computed by hand from the times below.
 */
#include "gc_policy.h"
#include "page_drive.h"
#include "profile_load.h"

#define UNIT 4096u
#define CMD 100u
#define XFER (UNIT + 64u)
#define PROGRAM 200000u		/* of each page of a TLC word line */
#define READ 50000u
#define ERASE 1000000u
#define SLC_PROGRAM 40000u
#define SLC_READ 20000u
#define SLC_ERASE 700000u
#define FRONT 1200u		/* look-up and overhead */
#define SEND (CMD + XFER)
#define SLC_PAGES 4u		/* of a block of twelve */
#define IOS 64u

static struct ftl_config fc;
static struct ftl_io io[IOS];

static void on_done(void *opaque, struct ftl_io *one)
{
	(void)opaque;
	EXPECT_EQ(one->status, SSD_OK);
}

/* Writes fill each unit with its number plus one; reads must return it. */
static void on_copy(void *opaque, struct ftl_io *one, uint64_t at, void *buf, size_t len)
{
	(void)opaque;
	for (size_t i = 0; i < len; i += 8) {
		uint64_t unit = 1 + (one->offset + at + i) / UNIT;

		if (one->op == FTL_WRITE)
			memcpy((char *)buf + i, &unit, 8);
		else
			EXPECT(buf && !memcmp((char *)buf + i, &unit, 8));
	}
}

static void mount_anew(void)
{
	static const struct ftl_host host = { on_done, on_copy, NULL };

	mount_page_ftl(&fc, &host);
}

static void lose_power(void)
{
	nand_array_power_cut(t.a, now, 1);
	nand_array_power_on(t.a);
}

/* Make a blank drive of TLC: twelve blocks a plane, of twelve pages, four in SLC mode. */
static void make(uint32_t channels, uint32_t chips, uint32_t planes, enum ftl_slc_cache cache, uint32_t blocks)
{
	struct nand_array_config c = {
		.geo = { channels, chips, 1, planes, 12, 12, UNIT, 64, 16, UNIT, 0, 1, 3 },
		.timing = { CMD, { READ, READ, READ }, { PROGRAM, PROGRAM, PROGRAM }, { ERASE }, 1000,
			    .slc_program_ns = SLC_PROGRAM, .slc_read_ns = SLC_READ, .slc_erase_ns = SLC_ERASE },
		.payload = true };

	test_array_make(&t, &c);
	fc = (struct ftl_config){
		.capacity_bytes = (uint64_t)64 * UNIT * channels * chips * planes, .unit_bytes = UNIT,
		.gc_start_blocks = 3, .gc_stop_blocks = 4, .gc_urgent_blocks = 1, .gc_mode = FTL_GC_BLOCKING,
		.gc_slice_pages = 4, .payload = true, .map_ns = 200, .overhead_ns = 1000, .max_unit_reads = 64,
		.multiplane = true, .gc_policy = &gc_greedy, .slc_cache = cache, .slc_blocks = blocks,
		.timing = c.timing };
}

static struct ftl_io *submit(uint32_t i, enum ftl_op op, uint32_t unit, uint32_t units)
{
	io[i] = (struct ftl_io){ .op = op, .offset = (uint64_t)unit * UNIT, .bytes = (uint64_t)units * UNIT };
	f->ops->submit(f, now, &io[i]);
	return &io[i];
}

/* Write units one after another, without idle time. */
static void write_units(uint32_t from, uint32_t to)
{
	for (uint32_t unit = from; unit < to; unit++)
		submit(unit - from, FTL_WRITE, unit, 1);
	while (f->ops->inflight(f)) {
		uint64_t next = f->ops->step(f, now);

		if (next == FTL_IDLE)
			break;
		now = next;
		f->ops->check(f);
	}
}

static void expect_pages(uint64_t slc, uint64_t direct)
{
	EXPECT_EQ(f->ops->stats(f)->slc_pages, slc);
	EXPECT_EQ(f->ops->stats(f)->slc_direct_pages, direct);
}

static uint32_t blocks_in_slc_mode(void)
{
	uint32_t count = 0;

	for (uint32_t b = 0; b < geo_blocks(&t.c.geo); b++)
		count += t.n->ops->is_slc(t.n, (pbn_t){ b });
	return count;
}

static void read_units(uint32_t from, uint32_t to)
{
	for (uint32_t unit = from; unit < to; unit++) {
		submit(0, FTL_READ, unit, 1);
		pass_to(now + READ + 3 * SEND);
	}
}

/* ---- the array ------------------------------------------------------------ */

static enum nand_status command(enum nand_op op, uint32_t ppn, bool slc, uint64_t cell_ns)
{
	struct nand_cmd c = { .op = op, .ppn = { ppn }, .slc = slc, .pb = NAND_WHOLE_BLOCK,
			      .ecc_words = NAND_WHOLE_PAGE };

	nand_submit(t.n, now, &c, 1);
	now = c.done_ns;
	EXPECT_EQ(c.cell_ns, cell_ns);
	return c.status;
}

static void expect_refused(enum nand_rule rule, enum nand_op op, uint32_t ppn, bool slc)
{
	struct nand_stats before, after;

	t.n->ops->get_stats(t.n, &before);
	EXPECT_EQ(command(op, ppn, slc, 0), NAND_VIOLATION);
	t.n->ops->get_stats(t.n, &after);
	EXPECT_EQ(after.violations[rule], before.violations[rule] + 1);
}

static void a_block_keeps_its_mode_until_it_is_erased(void)
{
	make(1, 1, 1, FTL_SLC_NONE, 0);
	now = 1;
	for (uint32_t page = 0; page < SLC_PAGES; page++)
		EXPECT_EQ(command(NAND_PROGRAM, page, true, SLC_PROGRAM), NAND_OK);
	expect_refused(NAND_R0, NAND_PROGRAM, SLC_PAGES, true);
	expect_refused(NAND_R2, NAND_PROGRAM, SLC_PAGES, false);
	EXPECT_EQ(command(NAND_READ, 3, false, SLC_READ), NAND_OK);
	EXPECT_EQ(command(NAND_READ, SLC_PAGES, false, SLC_READ), NAND_ERASED);
	EXPECT_EQ(command(NAND_PROGRAM, 12, false, PROGRAM), NAND_OK);
	expect_refused(NAND_R2, NAND_PROGRAM, 13, true);
	EXPECT_EQ(command(NAND_READ, 12, false, READ), NAND_OK);
	EXPECT_EQ(blocks_in_slc_mode(), 1);
	EXPECT_EQ(command(NAND_ERASE, 0, false, SLC_ERASE), NAND_OK);
	EXPECT_EQ(command(NAND_ERASE, 12, false, ERASE), NAND_OK);
	EXPECT_EQ(command(NAND_PROGRAM, SLC_PAGES, false, PROGRAM), NAND_OK);
	EXPECT_EQ(blocks_in_slc_mode(), 0);
	test_array_free(&t);
}

static void no_mode_no_slc_program(void)
{
	struct nand_array_config c;

	make(1, 1, 1, FTL_SLC_NONE, 0);
	c = t.c;
	test_array_free(&t);
	c.timing.slc_program_ns = c.timing.slc_read_ns = c.timing.slc_erase_ns = 0;
	test_array_make(&t, &c);
	now = 1;
	expect_refused(NAND_R0, NAND_PROGRAM, 0, true);
	EXPECT_EQ(command(NAND_PROGRAM, 0, false, PROGRAM), NAND_OK);
	test_array_free(&t);
}

static void a_cut_before_the_first_program_leaves_no_mode(void)
{
	struct nand_cmd c = { .op = NAND_PROGRAM, .ppn = { 0 }, .slc = true };

	make(1, 1, 1, FTL_SLC_NONE, 0);
	nand_submit(t.n, 1, &c, 1);
	EXPECT_EQ(blocks_in_slc_mode(), 1);
	now = 1 + SEND;		/* all data have arrived, and the cells are as before */
	lose_power();
	EXPECT_EQ(blocks_in_slc_mode(), 0);
	now = 1;
	EXPECT_EQ(command(NAND_PROGRAM, 0, false, PROGRAM), NAND_OK);
	test_array_free(&t);
}

/* ---- the cliff -------------------------------------------------------------- */

/*
 * Two channels of two dies of two planes. A round is a group of two pages on each die. Its pages cross
 * the channel one after another, then both are programmed: a die takes a group every 2 * SEND + the
 * program. The second die of a channel begins 2 * SEND later than the first, and stays that far behind.
 */
static void the_cliff_is_where_the_cache_ends(void)
{
	uint32_t pages = 8, rounds = 3 * SLC_PAGES;		/* three blocks of each plane */
	uint64_t begin, fast = 2 * SEND + SLC_PROGRAM, slow = 2 * SEND + PROGRAM, end;

	make(2, 2, 2, FTL_SLC_STATIC, 3);
	mount_anew();
	begin = now;
	for (uint32_t i = 0; i < 20; i++)
		submit(i, FTL_WRITE, i * pages, pages);
	pass_to(FTL_IDLE);
	end = begin + 2 * SEND + FRONT;
	for (uint32_t i = 0; i < 20; i++) {
		end += i < rounds ? fast : slow;
		EXPECT_EQ(io[i].done_ns, end);
	}
	expect_pages((uint64_t)rounds * pages, (20 - rounds) * (uint64_t)pages);
	EXPECT_EQ(f->ops->stats(f)->slc_pages * UNIT, 8u * 3 * SLC_PAGES * UNIT);	/* planes, blocks, pages */
	read_units(0, 20 * pages);
	gone();
}

/* If writes do not end, each block in SLC mode is folded when the next is needed. */
static void folding_sets_the_pace_of_a_full_cache(void)
{
	uint64_t page = SEND + SLC_PROGRAM;
	uint64_t fold = SLC_PAGES * (SEND + SLC_READ + SEND + PROGRAM) + CMD + SLC_ERASE, end;

	make(1, 1, 1, FTL_SLC_STATIC, 2);
	fc.slc_full = FTL_SLC_FOLD;
	mount_anew();
	end = now + FRONT;
	for (uint32_t i = 0; i < 24; i++)
		submit(i, FTL_WRITE, i, 1);
	pass_to(FTL_IDLE);
	for (uint32_t i = 0; i < 24; i++) {
		end += page + (i >= 2 * SLC_PAGES && i % SLC_PAGES == 0 ? fold : 0);
		EXPECT_EQ(io[i].done_ns, end);
	}
	expect_pages(24, 0);
	EXPECT_EQ(f->ops->stats(f)->slc_fold_units, 16);
	EXPECT_EQ(f->ops->stats(f)->slc_erases, 4);
	read_units(0, 24);
	gone();
}

/* ---- size ------------------------------------------------------------------- */

static void idle_time_gives_a_static_cache_back(void)
{
	make(1, 1, 1, FTL_SLC_STATIC, 3);
	fc.idle_gc_permille = 1;
	fc.idle_gc_ns = 1000000;
	mount_anew();
	for (uint32_t i = 0; i < 4; i++) {
		write_units(16 * i, 16 * i + 16);
		expect_pages(12 * (i + 1), 4 * (i + 1));
		pass_to(FTL_IDLE);
		EXPECT_EQ(f->ops->stats(f)->slc_erases, 3 * (i + 1));
		EXPECT_EQ(f->ops->stats(f)->slc_fold_units, 12 * (i + 1));
		EXPECT_EQ(blocks_in_slc_mode(), 0);
	}
	read_units(0, 64);
	gone();
}

/*
 * Blocks are opened in SLC mode while more than four are free, at most five. First 12 are free. Of
 * 24 units, 20 go to the cache and 4 past it; folded, they lie in two blocks of copies beside the
 * host's, so 9 are free. After 28 more, 40 units lie in four blocks of copies: 7 are free, and only
 * three can be opened.
 */
static void a_dynamic_cache_shrinks_as_the_drive_fills(void)
{
	make(1, 1, 1, FTL_SLC_DYNAMIC, 5);
	fc.capacity_bytes = 72 * UNIT;
	fc.idle_gc_permille = 1;
	fc.idle_gc_ns = 1000000;
	mount_anew();
	write_units(0, 24);
	expect_pages(20, 4);
	pass_to(FTL_IDLE);
	EXPECT_EQ(f->ops->stats(f)->slc_fold_units, 20);
	write_units(24, 52);
	expect_pages(40, 12);
	pass_to(FTL_IDLE);
	EXPECT_EQ(f->ops->stats(f)->slc_fold_units, 40);
	EXPECT_EQ(blocks_in_slc_mode(), 0);
	write_units(52, 72);
	expect_pages(52, 20);
	read_units(0, 72);
	gone();
}

static void a_mount_continues_the_cache(void)
{
	make(1, 1, 1, FTL_SLC_STATIC, 3);
	mount_anew();
	write_units(0, 6);
	expect_pages(6, 0);
	lose_power();
	mount_anew();
	write_units(6, 16);
	expect_pages(6, 4);
	read_units(0, 16);
	gone();
}

/* A drive without a cache reads what one with it wrote, and GC for space takes these blocks first. */
static void a_drive_without_a_cache_folds_what_it_finds(void)
{
	make(1, 1, 1, FTL_SLC_STATIC, 3);
	mount_anew();
	write_units(0, 6);
	lose_power();
	fc.slc_cache = FTL_SLC_NONE;
	mount_anew();
	write_units(6, 16);
	expect_pages(0, 0);
	EXPECT_EQ(blocks_in_slc_mode(), 2);
	EXPECT_EQ(f->ops->collect(f, now, 12), 1);
	pass_to(FTL_IDLE);
	EXPECT_EQ(blocks_in_slc_mode(), 0);
	EXPECT_EQ(f->ops->stats(f)->slc_fold_units, 6);
	EXPECT_EQ(f->ops->stats(f)->slc_erases, 2);
	read_units(0, 16);
	gone();
}

/* ---- bad input ---------------------------------------------------------------- */

static void expect_refusal(const char *profile, const char *set, const char *const *more, const char *says)
{
	const char *list[8] = { set };
	char path[128];

	for (size_t i = 0; more && more[i]; i++)
		list[i + 1] = more[i];
	snprintf(path, sizeof(path), "nand-emu/profiles/%s.ini", profile);
	EXPECT(profile_load(&p, path, list, err) != 0);
	EXPECT(strstr(err, says));
	if (!strstr(err, says))
		printf("# %s\n", err);
}

static void bad_caches_are_refused_by_name(void)
{
	static const char *const blocks[] = { "ftl.slc_blocks=2", NULL };
	static const char *const hot[] = { "ftl.hot_cold=count", NULL };
	static const char *const page[] = { "ftl.type=page", NULL };
	static const char *const fast[] = { "ftl.type=page", "ftl.slc_blocks=2", "timing.slc_program_ns=100000", NULL };

	EXPECT(!load("nand-emu/profiles/tlc-slc-small.ini", NULL));
	expect_refusal("znand-small", "ftl.slc_cache=static", blocks, "the cells have one bit");
	expect_refusal("qlc-small", "ftl.slc_cache=dynamic", blocks, "the array has no SLC mode");
	expect_refusal("rps-small", "ftl.slc_cache=static", blocks, "slc_cache");
	expect_refusal("rps-small", "ftl.slc_cache=static", fast, "blocks in SLC mode in ascending order");
	expect_refusal("rps-small", "ftl.map_cache_pages=60", page, "set order = ascending and type = page");
	expect_refusal("superblock-small", "ftl.slc_cache=static", blocks, "slc_cache");
	expect_refusal("tlc-slc-small", "ftl.slc_blocks=0", NULL, "slc_blocks must be at least 1");
	expect_refusal("tlc-slc-small", "ftl.slc_blocks=1000", NULL, "slc_blocks is too much: of a plane's blocks");
	expect_refusal("tlc-slc-small", "ftl.slc_cache=static", NULL, "slc_blocks is too much: the exported capacity");
	expect_refusal("tlc-slc-small", "ftl.slc_cache=dynamic", hot, "slc_cache must be none with hot_cold");
	expect_refusal("tlc-slc-small", "ftl.map_cache_pages=40", NULL, "map_cache_pages must be 0 with slc_cache");
	expect_refusal("tlc-slc-small", "timing.slc_program_ns=0", NULL, "the array has no SLC mode");
	expect_refusal("tlc-small", "timing.slc_read_ns=1", NULL, "slc_read_ns and slc_erase_ns must be 0");
	expect_refusal("tlc-slc-small", "geometry.pb_levels=1", NULL, "slc_program_ns must be 0");
}

int main(void)
{
	RUN(a_block_keeps_its_mode_until_it_is_erased);
	RUN(no_mode_no_slc_program);
	RUN(a_cut_before_the_first_program_leaves_no_mode);
	RUN(the_cliff_is_where_the_cache_ends);
	RUN(folding_sets_the_pace_of_a_full_cache);
	RUN(idle_time_gives_a_static_cache_back);
	RUN(a_dynamic_cache_shrinks_as_the_drive_fills);
	RUN(a_mount_continues_the_cache);
	RUN(a_drive_without_a_cache_folds_what_it_finds);
	RUN(bad_caches_are_refused_by_name);
	return test_result();
}
