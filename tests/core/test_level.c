// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test blocks that GC collects to level wear, and because a read was corrected. One die, pages of one
 * unit, four pages a block; commands take 100 ns on the bus, a page 4160 ns, cells 50 us, 200 us
 * and 1 ms.
 */
#include "gc_policy.h"
#include "ftl.h"
#include "oob.h"
#include "test.h"

#define CMD 100u
#define XFER 4160u
#define READ (CMD + 50000u + XFER)
#define PROG (CMD + XFER + 200000u)
#define ERASE (CMD + 1000000u)
#define COPY (READ + PROG)
#define FRONT 1200u
#define PAGES 4u
#define LPNS 20u

static struct test_array t;
static struct ftl *f;
static void *mem;
static uint64_t now, next;
static uint32_t version[LPNS], waiting;
static bool (*corrected)(const struct nand_cmd *c);
static uint32_t host_reads;

static void on_done(void *opaque, struct ftl_io *io)
{
	(void)opaque;
	EXPECT_EQ(io->status, SSD_OK);
	waiting--;
}

static void on_copy(void *opaque, struct ftl_io *io, uint64_t at, void *buf, size_t len)
{
	uint64_t v = io->offset / 4096 << 32 | version[io->offset / 4096];

	(void)opaque; (void)at; (void)len;
	if (io->op == FTL_WRITE) {
		memcpy(buf, &v, sizeof(v));
	} else {
		EXPECT(buf && !memcmp(buf, &v, sizeof(v)));
	}
}

static enum nand_status on_fault(void *opaque, const struct nand_cmd *c)
{
	(void)opaque;
	host_reads += c->op == NAND_READ && c->source == NAND_SRC_HOST;
	return c->op == NAND_READ && corrected && corrected(c) ? NAND_CORRECTED : NAND_OK;
}

static struct nand_array_config array(uint32_t blocks)
{
	return (struct nand_array_config){
		.geo = { 1, 1, 1, 1, blocks, PAGES, 4096, 64, OOB_BYTES(1), 4096, 0, 1, 1 },
		.timing = { CMD, { 50000 }, { 200000 }, { 1000000 }, 1000 },
		.physics.disturb_tolerance = 255, .payload = true };
}

static void mount(const struct ftl_config *c)
{
	static const struct ftl_host host = { on_done, on_copy, NULL };
	size_t len = ftl_footprint(ftl_list[0], c, &t.c.geo);

	mem = calloc(1, len);
	SSD_ASSERT(ftl_init(ftl_list[0], mem, len, c, t.n, &host, &f) == SSD_OK);
	SSD_ASSERT(f->ops->mount(f, 0, &now) == SSD_OK);
	next = f->ops->step(f, now);
}

static struct ftl_config config(uint32_t wl_threshold)
{
	return (struct ftl_config){
		.capacity_bytes = 14 * 4096, .unit_bytes = 4096, .gc_start_blocks = 3, .gc_stop_blocks = 3,
		.gc_urgent_blocks = 1, .gc_mode = FTL_GC_SLICED, .gc_slice_pages = 1, .payload = true,
		.map_ns = 200, .buffer_ns = 2000, .overhead_ns = 1000, .max_unit_reads = 64,
		.gc_policy = &gc_greedy, .wl_threshold = wl_threshold, .relocate = true };
}

static void drive(uint32_t blocks, uint32_t wl_threshold)
{
	struct nand_array_config a = array(blocks);
	struct ftl_config c = config(wl_threshold);
	struct nand_hooks hooks = { .fault = on_fault };

	test_array_make(&t, &a);
	nand_array_set_hooks(t.a, &hooks);
	memset(version, 0, sizeof(version));
	host_reads = waiting = 0;
	mount(&c);
}

static void drive_free(void)
{
	test_array_free(&t);
	free(mem);
	corrected = NULL;
}

static void step(void)
{
	now = next;
	next = f->ops->step(f, now);
	f->ops->check(f);
}

/* Run until no work is left; background work ends by itself. */
static void settle(void)
{
	for (uint32_t i = 0; next != FTL_IDLE; i++) {
		SSD_ASSERT(i < 1000);
		step();
	}
}

/* Run one I/O alone, and the work that follows from it; returns its latency. */
static uint64_t run(enum ftl_op op, uint32_t lpn)
{
	struct ftl_io io = { .op = op, .offset = lpn * 4096ull, .bytes = 4096 };

	version[lpn] += op == FTL_WRITE;
	waiting = 1;
	f->ops->submit(f, now, &io);
	next = f->ops->step(f, now);
	while (waiting)
		step();
	settle();
	return io.done_ns - io.submit_ns;
}

static uint32_t erases(uint32_t block)
{
	return t.n->ops->erase_count(t.n, (pbn_t){ block });
}

static void write_first(uint32_t lpns)
{
	for (uint32_t lpn = 0; lpn < lpns; lpn++)
		run(FTL_WRITE, lpn);
}

static void expect_content(uint32_t lpns)
{
	for (uint32_t lpn = 0; lpn < lpns; lpn++)
		run(FTL_READ, lpn);
}

static struct nand_stats array_stats(void)
{
	struct nand_stats s;

	t.n->ops->get_stats(t.n, &s);
	return s;
}

static const struct ftl_stats *stats(void)
{
	return f->ops->stats(f);
}

/* ---- wear ----------------------------------------------------------------------- */

/*
 * LPNs 0 to 7 fill blocks 0 and 1. LPN 8, which is written again and again, fills the others in turn.
 * From the 13th write on, each block that is opened leaves two free, so GC erases a block: of equal
 * victims it takes the one that became equal last, which is the block filled just before. This gives 4,
 * 5, 6, 7, 4 ...; blocks 2 and 3 stay full of old versions. At the 45th write block 5 is opened and block
 * 4 is erased for the third time. With threshold 2 that is one erase too many, because block 0 has none:
 * the four pages of block 0 move to a new frontier of GC, the most worn free block, 4 (6 and 7 have 2).
 */
static void the_first_move(void)
{
	static const uint32_t before[8] = { 0, 0, 0, 0, 2, 2, 2, 2 }, after[8] = { 1, 0, 0, 0, 3, 2, 2, 2 };
	struct nand_stats s;
	uint64_t began;

	drive(8, 2);
	write_first(8);
	for (uint32_t i = 0; i < 44; i++)
		run(FTL_WRITE, 8);
	for (uint32_t b = 0; b < 8; b++)
		EXPECT_EQ(erases(b), before[b]);
	EXPECT_EQ(stats()->wl_runs, 0);
	began = now;
	run(FTL_WRITE, 8);
	/* the write, GC's erase of block 4, then four copies and the erase of block 0 */
	EXPECT_EQ(now - began, PROG + ERASE + PAGES * COPY + ERASE);
	for (uint32_t b = 0; b < 8; b++)
		EXPECT_EQ(erases(b), after[b]);
	EXPECT_EQ(stats()->wl_runs, 1);
	EXPECT_EQ(stats()->wl_units, PAGES);
	EXPECT_EQ(stats()->gc_units, 0);
	s = array_stats();
	EXPECT_EQ(s.ops[NAND_READ][NAND_SRC_WL], PAGES);
	EXPECT_EQ(s.ops[NAND_PROGRAM][NAND_SRC_WL], PAGES);
	EXPECT_EQ(s.ops[NAND_ERASE][NAND_SRC_WL], 1);
	EXPECT_EQ(s.die_busy_ns[NAND_SRC_WL], PAGES * COPY + ERASE);
	EXPECT_EQ(s.user_read_bytes[NAND_SRC_WL], PAGES * 4096);
	EXPECT_EQ(s.ops[NAND_ERASE][NAND_SRC_GC], stats()->gc_runs);
	expect_content(9);
	drive_free();
}

/* Returns the largest less the smallest erase count of all blocks, and their sum in *sum. */
static uint32_t spread(uint32_t *sum)
{
	uint32_t low = ~0u, high = 0;

	*sum = 0;
	for (uint32_t b = 0; b < 8; b++) {
		*sum += erases(b);
		low = erases(b) < low ? erases(b) : low;
		high = erases(b) > high ? erases(b) : high;
	}
	return high - low;
}

/*
 * 300 such writes fill 75 blocks. The first three blocks need no GC, so there are 72 erases, without levelling 18 of
 * each of four blocks. With levelling one more block is erased for each four units moved. The erase counts of two
 * blocks differ at most by the threshold and one.
 */
static void wear_narrows(void)
{
	uint32_t sum;

	drive(8, 0);
	write_first(8);
	for (uint32_t i = 0; i < 300; i++)
		run(FTL_WRITE, 8);
	for (uint32_t b = 0; b < 8; b++)
		EXPECT_EQ(erases(b), b < 4 ? 0 : 18);
	EXPECT_EQ(stats()->wl_runs, 0);
	drive_free();

	drive(8, 2);
	write_first(8);
	for (uint32_t i = 0; i < 300; i++) {
		run(FTL_WRITE, 8);
		EXPECT(spread(&sum) <= 3);
	}
	EXPECT_EQ(stats()->wl_units, 28);
	EXPECT_EQ(sum, 72 + 28 / PAGES);
	expect_content(9);
	drive_free();
}

/* ---- errors ----------------------------------------------------------------------- */

static bool of_host_in_block_0(const struct nand_cmd *c)
{
	return c->source == NAND_SRC_HOST && c->ppn.v < PAGES;
}

static bool every_read(const struct nand_cmd *c)
{
	(void)c;
	return true;
}

/* The read ends as usual; then its block is copied and erased, and no work is left. */
static void expect_block_0_moves(void)
{
	struct nand_stats s;
	uint64_t began = now;

	corrected = of_host_in_block_0;
	EXPECT_EQ(run(FTL_READ, 2), READ + FRONT);
	EXPECT_EQ(now - began, READ + PAGES * COPY + ERASE);
	EXPECT_EQ(stats()->relocations, 1);
	EXPECT_EQ(stats()->wl_units, PAGES);
	EXPECT_EQ(stats()->gc_runs, 0);
	s = array_stats();
	EXPECT_EQ(s.ops[NAND_READ][NAND_SRC_WL], PAGES);
	EXPECT_EQ(s.ops[NAND_PROGRAM][NAND_SRC_WL], PAGES);
	EXPECT_EQ(s.ops[NAND_COPYBACK][NAND_SRC_WL], 0);
	EXPECT_EQ(s.ops[NAND_ERASE][NAND_SRC_WL], 1);
	EXPECT_EQ(erases(0), 1);
	expect_content(8);
	EXPECT_EQ(stats()->relocations, 1);
}

static void a_corrected_block_moves(void)
{
	drive(16, 0);
	write_first(8);
	expect_block_0_moves();
	drive_free();
}

/*
 * A read always waits, so the die is never idle. Nevertheless one command of GC follows each read. The
 * first read flags the block. Four reads follow, each with a copy, and then a fifth with the erase. The
 * sixth begins when the erase has ended.
 */
static void reads_without_end_do_not_keep_a_block(void)
{
	struct ftl_io io[2] = { { .op = FTL_READ, .bytes = 4096 }, { .op = FTL_READ, .bytes = 4096 } };
	uint32_t reads = 0;

	drive(16, 0);
	write_first(8);
	corrected = of_host_in_block_0;
	waiting = 2;
	for (uint32_t i = 0; i < 2; i++)
		f->ops->submit(f, now, &io[i]);
	next = f->ops->step(f, now);
	while (!stats()->relocations && reads < 100) {
		step();
		while (waiting < 2) {	/* they end in turn */
			struct ftl_io *next_io = &io[reads++ % 2];

			*next_io = (struct ftl_io){ .op = FTL_READ, .bytes = 4096 };
			waiting++;
			f->ops->submit(f, now, next_io);
			next = f->ops->step(f, now);
		}
	}
	EXPECT_EQ(stats()->relocations, 1);
	EXPECT_EQ(stats()->wl_units, PAGES);
	EXPECT_EQ(host_reads, 6);
	while (waiting)
		step();
	settle();
	drive_free();
}

/* A copyback would copy the errors. */
static void not_by_copyback(void)
{
	struct nand_array_config a = array(16);
	struct ftl_config c = config(0);
	struct nand_hooks hooks = { .fault = on_fault };

	a.geo.copyback = c.gc_copyback = true;
	test_array_make(&t, &a);
	nand_array_set_hooks(t.a, &hooks);
	memset(version, 0, sizeof(version));
	mount(&c);
	write_first(8);
	expect_block_0_moves();
	drive_free();
}

/*
 * The drive has 8 blocks, two of which are the urgent reserve. LPNs 0 .. 11 are written to blocks 0 .. 2, and
 * 0, 1, 2, 4, 5, 6, 8, 9 again to 3 and 4. So only LPN 3 is valid in block 0, and LPN 7 in block 1. LPN 12
 * opens block 5: two blocks are free, and GC wants three. It takes block 1, which became equal last, while
 * reads flag block 0. The copy of LPN 7 opened block 6, so two blocks are free when block 1 has been erased.
 * These are the reserve, which relocation must not use. Block 0 is therefore collected for space, and counted
 * as such.
 */
static void a_flagged_block_that_gc_wants_for_space(void)
{
	static const uint32_t again[] = { 0, 1, 2, 4, 5, 6, 8, 9 };
	struct nand_array_config a = array(8);
	struct ftl_config c = config(0);
	struct nand_hooks hooks = { .fault = on_fault };
	struct ftl_io w = { .op = FTL_WRITE, .offset = 12 * 4096, .bytes = 4096 };
	struct ftl_io first = { .op = FTL_READ, .offset = 3 * 4096, .bytes = 4096 };

	c.gc_urgent_blocks = 2;
	test_array_make(&t, &a);
	nand_array_set_hooks(t.a, &hooks);
	memset(version, 0, sizeof(version));
	mount(&c);
	write_first(12);
	for (uint32_t i = 0; i < 8; i++)
		run(FTL_WRITE, again[i]);
	EXPECT_EQ(stats()->gc_runs, 0);
	corrected = of_host_in_block_0;
	version[12]++;
	waiting = 1;
	f->ops->submit(f, now, &w);
	next = f->ops->step(f, now);
	while (waiting)
		step();
	f->ops->submit(f, now, &first);		/* two reads flag it once (V1) */
	run(FTL_READ, 3);
	corrected = NULL;
	EXPECT_EQ(erases(0), 1);
	EXPECT_EQ(erases(1), 1);
	EXPECT_EQ(stats()->gc_runs, 2);
	EXPECT_EQ(stats()->gc_units, 2);
	EXPECT_EQ(stats()->relocations, 0);
	EXPECT_EQ(stats()->wl_units, 0);
	EXPECT_EQ(array_stats().ops[NAND_ERASE][NAND_SRC_WL], 0);
	expect_content(13);
	drive_free();
}

/* With relocate = no the same read causes no relocation. */
static void nothing_moves_if_it_is_not_to(void)
{
	struct nand_array_config a = array(16);
	struct ftl_config c = config(0);
	struct nand_hooks hooks = { .fault = on_fault };
	uint64_t began;

	c.relocate = false;
	test_array_make(&t, &a);
	nand_array_set_hooks(t.a, &hooks);
	memset(version, 0, sizeof(version));
	mount(&c);
	write_first(8);
	corrected = of_host_in_block_0;
	began = now;
	run(FTL_READ, 2);
	EXPECT_EQ(now - began, READ);
	EXPECT_EQ(stats()->relocations, 0);
	EXPECT_EQ(erases(0), 0);
	drive_free();
}

/* A block that is being written is closed, and its two pages are copied. */
static void an_open_block_is_closed(void)
{
	uint64_t began;

	drive(16, 0);
	write_first(2);
	corrected = of_host_in_block_0;
	began = now;
	run(FTL_READ, 0);
	EXPECT_EQ(now - began, READ + 2 * COPY + ERASE);
	EXPECT_EQ(stats()->relocations, 1);
	EXPECT_EQ(stats()->wl_units, 2);
	EXPECT_EQ(erases(0), 1);
	for (uint32_t lpn = 2; lpn < 9; lpn++)
		run(FTL_WRITE, lpn);
	expect_content(9);
	EXPECT_EQ(stats()->relocations, 1);
	drive_free();
}

/*
 * Cells are so worn that every read is corrected. The host's block moves at the first read. A block
 * that relocation wrote moves after four corrected reads: at reads 1, 5 and 9 of twelve. (A write
 * before each lets the copies settle.) GC's reads do not count.
 */
static void it_ends_when_all_reads_are_corrected(void)
{
	drive(16, 0);
	write_first(8);
	corrected = every_read;
	for (uint32_t i = 1; i <= 12; i++) {
		run(FTL_WRITE, 8);
		run(FTL_READ, 0);
		EXPECT_EQ(stats()->relocations, (i + 3) / 4);
	}
	EXPECT_EQ(stats()->wl_units, 3 * PAGES);
	EXPECT_EQ(host_reads, 12);
	corrected = NULL;
	expect_content(9);
	drive_free();
}

/*
 * The same without writes. A block that relocation wrote has the order of the last host page, so it
 * cannot move before a later host page: an empty page is programmed, at reads 5 and 9.
 */
static void it_ends_without_host_writes(void)
{
	drive(16, 0);
	write_first(8);
	corrected = every_read;
	for (uint32_t i = 1; i <= 12; i++) {
		uint64_t began = now, moves = i % 4 == 1;

		run(FTL_READ, 0);
		EXPECT_EQ(now - began, READ + moves * (PAGES * COPY + ERASE) + (moves && i > 1) * PROG);
		EXPECT_EQ(stats()->relocations, (i + 3) / 4);
		EXPECT_EQ(stats()->pad_units, (i - 1) / 4);
	}
	EXPECT_EQ(stats()->wl_units, 3 * PAGES);
	EXPECT_EQ(array_stats().ops[NAND_PROGRAM][NAND_SRC_HOST], 8 + 2);
	corrected = NULL;
	expect_content(8);
	drive_free();
}

/*
 * Retention follows the model and table of the FAST 2019 paper (nand.h). A page of 32768 bits has 48.5 raw
 * errors when fresh, 134 after 1,000 hours; more than 100 request relocation. Each block is
 * collected after its corrected reads, one of the host and four of GC, and is then as good as new.
 */
static void pages_that_lay_for_long(void)
{
	struct nand_array_config a = array(16);
	struct ftl_config c = config(0);

	a.physics = (struct nand_physics){
		.seed = 7, .disturb_tolerance = 255, .rber_on = true,
		.eps_log2 = -616051, .alpha_log2 = -2048381, .k = 134349, .beta_log2 = -914809,
		.m = 9175, .n = 35389, .gamma_log2 = -1834889, .p = 21627, .q = 112067,
		.ecc_bits = 200, .relocate_bits = 100 };
	test_array_make(&t, &a);
	memset(version, 0, sizeof(version));
	now = 0;
	for (uint32_t b = 0; b < 16; b++) {	/* cells that were never erased do not age */
		struct nand_cmd e = { .op = NAND_ERASE, .source = NAND_SRC_META, .pb = NAND_WHOLE_BLOCK,
				      .ppn = geo_ppn(&a.geo, (pbn_t){ b }, 0) };

		nand_submit(t.n, now, &e, 1);
		now = e.done_ns;
	}
	nand_array_power_cut(t.a, now, 1);
	nand_array_power_on(t.a);
	mount(&c);
	write_first(8);
	expect_content(8);
	EXPECT_EQ(array_stats().corrected, 0);
	nand_array_age(t.a, 1000ull * 3600 * 1000000000);
	run(FTL_READ, 0);
	EXPECT_EQ(array_stats().corrected, 5);
	EXPECT_EQ(stats()->relocations, 1);
	for (uint32_t lpn = 0; lpn < 4; lpn++)
		run(FTL_READ, lpn);
	EXPECT_EQ(array_stats().corrected, 5);
	run(FTL_READ, 7);
	EXPECT_EQ(array_stats().corrected, 10);
	EXPECT_EQ(stats()->relocations, 2);
	expect_content(8);
	EXPECT_EQ(array_stats().corrected, 10);
	EXPECT_EQ(array_stats().uncorrectable, 0);
	drive_free();
}

int main(void)
{
	RUN(the_first_move);
	RUN(wear_narrows);
	RUN(a_corrected_block_moves);
	RUN(reads_without_end_do_not_keep_a_block);
	RUN(not_by_copyback);
	RUN(a_flagged_block_that_gc_wants_for_space);
	RUN(nothing_moves_if_it_is_not_to);
	RUN(an_open_block_is_closed);
	RUN(it_ends_when_all_reads_are_corrected);
	RUN(it_ends_without_host_writes);
	RUN(pages_that_lay_for_long);
	return test_result();
}
