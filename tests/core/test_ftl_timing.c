// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test times of the page FTL on the array of timing_drive.h. Schedules are computed by hand and compared
 * exactly, except in one case, which says so.
 */
#include "timing_ftl.h"

static void ftl_single_requests(void)
{
	ftl_make(1, 1, 14, 4, FTL_GC_SLICED);
	EXPECT_EQ(run(FTL_READ, 0, 1), FRONT);			/* never written */
	EXPECT_EQ(last()->where.map_ns, MAP);
	EXPECT_EQ(run(FTL_WRITE, 0, 1), BUFFER + FRONT);
	EXPECT_EQ(run(FTL_READ, 0, 1), BUFFER + FRONT);		/* still in the buffer */
	settle();
	EXPECT_EQ(run(FTL_READ, 0, 1), READ_ALONE + FRONT);
	EXPECT_EQ(last()->where.cell_ns, READ);
	EXPECT_EQ(last()->where.bus_ns, CMD + XFER);
	EXPECT_EQ(run(FTL_FLUSH, 0, 0), FRONT);
	ftl_free();
}

static void ftl_unbuffered_write_ends_with_its_program(void)
{
	ftl_make(1, 1, 14, 0, FTL_GC_SLICED);
	EXPECT_EQ(run(FTL_WRITE, 0, 1), PROG_ALONE + BUFFER + FRONT);
	EXPECT_EQ(last()->where.cell_ns, PROG);
	EXPECT_EQ(last()->where.bus_ns, CMD + XFER);
	EXPECT_EQ(last()->where.buffer_ns, BUFFER);
	ftl_free();
}

static void ftl_two_dies_on_a_channel(void)
{
	ftl_make(1, 2, 14, 0, FTL_GC_SLICED);
	/* the transfers are at 0..4260 and 4260..8520, and the cell phases are parallel */
	EXPECT_EQ(run(FTL_WRITE, 0, 2), 2 * (CMD + XFER) + PROG + BUFFER + FRONT);
	settle();
	EXPECT_EQ(run(FTL_READ, 0, 2), READ_ALONE + XFER + FRONT);
	EXPECT_EQ(last()->where.host_queue_ns, XFER);	/* 100 for the command, 4060 for the data */
	ftl_free();
}

static void ftl_two_channels(void)
{
	ftl_make(2, 1, 14, 0, FTL_GC_SLICED);
	EXPECT_EQ(run(FTL_WRITE, 0, 2), PROG_ALONE + BUFFER + FRONT);
	settle();
	EXPECT_EQ(run(FTL_READ, 0, 2), READ_ALONE + FRONT);
	ftl_free();
}

/* Fourteen reads and a write wait for a die: the write's program comes after reads_in_row of the reads. */
static void ftl_reads_in_a_row(void)
{
	static const uint32_t settings[][2] = { { 0, 8 }, { 1, 1 }, { 3, 3 }, { 13, 13 }, { 14, 14 }, { 65536, 14 } };

	for (uint32_t i = 0; i < sizeof(settings) / sizeof(*settings); i++) {
		struct ftl_io write = { .op = FTL_WRITE, .offset = 4096, .bytes = 4096 }, read[14];

		reads_in_row = settings[i][0];
		ftl_make(1, 1, 14, 0, FTL_GC_SLICED);
		(void)run(FTL_WRITE, 0, 1);
		settle();
		for (uint32_t k = 0; k < 14; k++) {
			read[k] = (struct ftl_io){ .op = FTL_READ, .bytes = 4096 };
			give(&read[k]);
			if (!k)
				give(&write);
		}
		settle();
		EXPECT_EQ(write.done_ns - write.submit_ns, settings[i][1] * READ_ALONE + PROG_ALONE + BUFFER + FRONT);
		EXPECT_EQ(read[13].done_ns - read[13].submit_ns,
			  14 * READ_ALONE + (settings[i][1] < 14 ? PROG_ALONE : 0) + FRONT);
		ftl_free();
	}
	reads_in_row = 0;
}

static void ftl_a_full_buffer_waits_for_a_program(void)
{
	uint64_t start;

	ftl_make(1, 1, 14, 2, FTL_GC_SLICED);
	start = now;
	EXPECT_EQ(run(FTL_WRITE, 0, 1), BUFFER + FRONT);
	now = start;		/* reset the times, because now cannot go back: */
	now = last()->done_ns;
	EXPECT_EQ(run(FTL_WRITE, 1, 1), BUFFER + FRONT);
	/* both buffer pages are in use; the first program ends at 204260 */
	EXPECT_EQ(run(FTL_WRITE, 2, 1), PROG_ALONE - 2 * (BUFFER + FRONT) + BUFFER + FRONT);
	EXPECT_EQ(last()->where.gc_queue_ns, 0);
	ftl_free();
}

/*
 * Fourteen LPNs in four blocks; in block 0 only LPN 3 is still valid. The 17th write opens the
 * fifth of eight blocks, so three stay free. GC of block 0 begins when it is programmed: a read, a
 * program and an erase. No other block is worth collecting.
 */
static void fill_to_the_brink(void)
{
	for (uint32_t lpn = 0; lpn < 12; lpn++)
		run(FTL_WRITE, lpn, 1);
	run(FTL_WRITE, 0, 1);
	run(FTL_WRITE, 1, 1);
	run(FTL_WRITE, 2, 1);
	run(FTL_WRITE, 12, 1);
	settle();
}

static void ftl_blocking_gc(void)
{
	struct ftl_io w = { .op = FTL_WRITE, .offset = 13 * 4096, .bytes = 4096 };
	struct ftl_io r = { .op = FTL_READ, .offset = 4 * 4096, .bytes = 4096 };
	uint32_t n;

	ftl_make(1, 1, 14, 0, FTL_GC_BLOCKING);
	fill_to_the_brink();
	EXPECT_EQ(f->ops->stats(f)->gc_runs, 0);
	n = done_count;
	give(&w);
	now += 10000;
	give(&r);
	until_done(n + 2);
	/* the rest of the program, the whole collection, then the read itself */
	EXPECT_EQ(last()->op, FTL_READ);
	EXPECT_EQ(last()->done_ns - last()->submit_ns,
		  PROG_ALONE - 10000 + GC_ALL + READ_ALONE + FRONT);
	EXPECT_EQ(last()->where.host_queue_ns, PROG_ALONE - 10000);
	EXPECT_EQ(last()->where.gc_queue_ns, GC_ALL);
	settle();
	EXPECT_EQ(f->ops->stats(f)->gc_runs, 1);
	EXPECT_EQ(f->ops->stats(f)->gc_units, 1);
	EXPECT_EQ(f->ops->stats(f)->gc_ns, GC_ALL);
	ftl_free();
}

static void ftl_sliced_gc(void)
{
	struct ftl_io w = { .op = FTL_WRITE, .offset = 13 * 4096, .bytes = 4096 };
	struct ftl_io r1 = { .op = FTL_READ, .offset = 4 * 4096, .bytes = 4096 };
	struct ftl_io r2 = { .op = FTL_READ, .offset = 5 * 4096, .bytes = 4096 };
	struct ftl_io r3 = { .op = FTL_READ, .offset = 6 * 4096, .bytes = 4096 };
	uint32_t n;

	ftl_make(1, 1, 14, 0, FTL_GC_SLICED);
	fill_to_the_brink();
	n = done_count;
	give(&w);
	now += 10000;
	give(&r1);
	give(&r2);
	give(&r3);
	until_done(n + 2);	/* after the write GC has a turn of one copy; then comes r1 */
	EXPECT_EQ(last()->done_ns - last()->submit_ns,
		  PROG_ALONE - 10000 + READ_ALONE + PROG_ALONE + READ_ALONE + FRONT);
	EXPECT_EQ(last()->where.gc_queue_ns, READ_ALONE + PROG_ALONE);
	until_done(n + 3);	/* no block is urgently needed: r2 and r3 precede the erase */
	EXPECT_EQ(last()->where.gc_queue_ns, READ_ALONE + PROG_ALONE);
	EXPECT_EQ(last()->where.host_queue_ns, PROG_ALONE - 10000 + READ_ALONE);
	until_done(n + 4);
	EXPECT_EQ(last()->where.gc_queue_ns, READ_ALONE + PROG_ALONE);
	EXPECT_EQ(last()->where.host_queue_ns, PROG_ALONE - 10000 + 2 * READ_ALONE);
	EXPECT_EQ(f->ops->stats(f)->gc_runs, 0);
	settle();
	EXPECT_EQ(f->ops->stats(f)->gc_runs, 1);
	ftl_free();
}

/* ---- IPPBE ---------------------------------------------------------------- */

/*
 * Ten LPNs are in four blocks. Valid are LPN 3 in block 0, LPNs 6 and 7 in block 1, and at least three
 * LPNs in each other block. The 17th write opens the fifth of eight blocks. GC takes a sixth for
 * the copies and needs four free blocks, so both blocks must be collected. Returns how long a read
 * waited that came meanwhile.
 */
static uint64_t two_victims(uint32_t second_pages, uint32_t urgent)
{
	static const uint32_t again[] = { 0, 1, 2, 4, 5, 8 };
	struct ftl_io w = { .op = FTL_WRITE, .offset = 4 * 4096, .bytes = 4096 };
	struct ftl_io r = { .op = FTL_READ, .offset = 8 * 4096, .bytes = 4096 };
	uint32_t n;

	ways.pairs = true;
	ways.second_pages = second_pages;
	ways.urgent = urgent;
	ftl_make(1, 1, 10, 0, FTL_GC_BLOCKING);
	for (uint32_t lpn = 0; lpn < 10; lpn++)
		run(FTL_WRITE, lpn, 1);
	for (uint32_t i = 0; i < 6; i++)
		run(FTL_WRITE, again[i], 1);
	settle();
	EXPECT_EQ(f->ops->stats(f)->gc_runs, 0);
	t.n->ops->reset_stats(t.n);
	n = done_count;
	give(&w);
	now += 10000;
	give(&r);
	until_done(n + 2);
	EXPECT_EQ(last()->op, FTL_READ);
	settle();
	return last()->where.gc_queue_ns;
}

#define COPY (READ_ALONE + PROG_ALONE)

static void two_victims_one_erase(void)
{
	struct nand_stats s;

	EXPECT_EQ(two_victims(2, 1), 3 * COPY + ERASE_ALONE);
	t.n->ops->get_stats(t.n, &s);
	EXPECT_EQ(f->ops->stats(f)->gc_runs, 1);
	EXPECT_EQ(f->ops->stats(f)->second_victims, 1);
	EXPECT_EQ(f->ops->stats(f)->gc_blocks, 2);
	EXPECT_EQ(f->ops->stats(f)->gc_units, 3);
	EXPECT_EQ(f->ops->stats(f)->gc_ns, 3 * COPY + ERASE_ALONE);
	EXPECT_EQ(s.ops[NAND_ERASE][NAND_SRC_GC], 2);
	EXPECT_EQ(s.parallel_erases, 1);
	EXPECT_EQ(s.die_busy_ns[NAND_SRC_GC], 3 * COPY + ERASE_ALONE);
	ftl_free();
}

/* The same blocks are collected one after the other. */
static void expect_two_calls(uint32_t second_pages, uint32_t urgent)
{
	struct nand_stats s;

	EXPECT_EQ(two_victims(second_pages, urgent), 3 * COPY + 2 * ERASE_ALONE);
	t.n->ops->get_stats(t.n, &s);
	EXPECT_EQ(f->ops->stats(f)->gc_runs, 2);
	EXPECT_EQ(f->ops->stats(f)->second_victims, 0);
	EXPECT_EQ(f->ops->stats(f)->gc_blocks, 2);
	EXPECT_EQ(f->ops->stats(f)->gc_units, 3);
	EXPECT_EQ(f->ops->stats(f)->gc_ns, 3 * COPY + 2 * ERASE_ALONE);
	EXPECT_EQ(s.ops[NAND_ERASE][NAND_SRC_GC], 2);
	EXPECT_EQ(s.parallel_erases, 0);
	ftl_free();
}

static void a_second_victim_over_the_threshold_waits_its_turn(void)
{
	expect_two_calls(1, 1);
}

/*
 * Three blocks are free. Two are reserved, which leaves one: its four pages hold three copies and a
 * carrier.
 */
static void a_second_victim_is_not_copied_to_the_reserve(void)
{
	EXPECT_EQ(two_victims(2, 2), 3 * COPY + ERASE_ALONE);
	ftl_free();
	expect_two_calls(2, 3);
}

/* ---- GC that reads ECC words ---------------------------------------------- */

static uint32_t words_read;

static void note_words(void *opaque, uint64_t at_ns, const struct nand_cmd *c, unsigned int count)
{
	(void)opaque; (void)at_ns; (void)count;
	if (c->op == NAND_READ && c->source == NAND_SRC_GC)
		words_read = c->ecc_words;
}

/*
 * Do as fill_to_the_brink() does, with pages of four units. The 17th write overwrites the units from and from +
 * 1 of the last valid page of block 0. Returns the time of its GC.
 */
static uint64_t gc_of_half_a_page(enum nand_subpage subpage, uint32_t from)
{
	struct nand_hooks hooks = { .done = note_words };
	struct ftl_io w = { .op = FTL_WRITE, .offset = 3 * 4096 + from * 1024, .bytes = 2048 };

	ways.subpage = subpage;
	ways.unit = 1024;
	ftl_make(1, 1, 13, 0, FTL_GC_BLOCKING);
	nand_array_set_hooks(t.a, &hooks);
	fill_to_the_brink();
	t.n->ops->reset_stats(t.n);
	give(&w);
	settle();
	EXPECT_EQ(f->ops->stats(f)->gc_runs, 1);
	EXPECT_EQ(f->ops->stats(f)->gc_units, 2);
	return f->ops->stats(f)->gc_ns;
}

static void gc_reads_the_words_it_moves(void)
{
	struct nand_stats s;

	EXPECT_EQ(gc_of_half_a_page(NAND_SUBPAGE_NONE, 0), GC_ALL);
	EXPECT_EQ(words_read, NAND_WHOLE_PAGE);
	ftl_free();
	/* two of four words cross the bus, and half of the spare area */
	EXPECT_EQ(gc_of_half_a_page(NAND_SUBPAGE_DMA, 0),
		  CMD + READ + 2048 + 32 + PROG_ALONE + ERASE_ALONE);
	EXPECT_EQ(words_read, 0xc);
	t.n->ops->get_stats(t.n, &s);
	EXPECT_EQ(s.read_bytes, 2048 + 32);
	EXPECT_EQ(s.subpage_reads, 1);
	ftl_free();
	EXPECT_EQ(gc_of_half_a_page(NAND_SUBPAGE_SPREAD, 1),
		  CMD + 10000 + 2 * 5000 + 2048 + 32 + PROG_ALONE + ERASE_ALONE);
	EXPECT_EQ(words_read, 0x9);
	ftl_free();
}

/* ---- GC that copies inside the chip ----------------------------------------- */

#define COPYBACK_ALONE (CMD + 64 + READ + PROG)	/* the copy's own spare area crosses the bus */

static uint32_t failures_left;

static enum nand_status fail_copybacks(void *opaque, const struct nand_cmd *c)
{
	(void)opaque;
	if (c->op != NAND_COPYBACK || !failures_left)
		return NAND_OK;
	failures_left--;
	return NAND_PROG_FAIL;
}

/* Run fill_to_the_brink() and the 17th write; returns the statistics of its GC of LPN 3. */
static struct nand_stats gc_by_copyback(uint32_t fail)
{
	struct nand_hooks hooks = { .fault = fail_copybacks };
	struct ftl_io w = { .op = FTL_WRITE, .offset = 13 * 4096, .bytes = 4096 };
	struct nand_stats s;

	failures_left = fail;
	ways.gc_copyback = true;
	ftl_make(1, 1, 14, 0, FTL_GC_BLOCKING);
	nand_array_set_hooks(t.a, &hooks);
	fill_to_the_brink();
	t.n->ops->reset_stats(t.n);
	give(&w);
	settle();
	EXPECT_EQ(run(FTL_READ, 3, 1), READ_ALONE + FRONT);
	EXPECT_EQ(last()->status, SSD_OK);
	t.n->ops->get_stats(t.n, &s);
	EXPECT_EQ(s.ops[NAND_READ][NAND_SRC_GC], 0);
	EXPECT_EQ(s.ops[NAND_PROGRAM][NAND_SRC_GC], 0);
	return s;
}

static void gc_copies_inside_the_chip(void)
{
	struct nand_stats s = gc_by_copyback(0);

	EXPECT_EQ(s.ops[NAND_COPYBACK][NAND_SRC_GC], 1);
	EXPECT_EQ(f->ops->stats(f)->gc_runs, 1);
	EXPECT_EQ(f->ops->stats(f)->gc_units, 1);
	EXPECT_EQ(f->ops->stats(f)->gc_ns, COPYBACK_ALONE + ERASE_ALONE);
	ftl_free();
}

/* The copy is repeated in the next block, and the block with the failed one is retired. */
static void a_failed_copyback_is_made_again(void)
{
	struct nand_stats s = gc_by_copyback(1);

	EXPECT_EQ(s.ops[NAND_COPYBACK][NAND_SRC_GC], 2);
	EXPECT_EQ(s.program_fails, 1);
	EXPECT_EQ(f->ops->stats(f)->gc_units, 2);
	EXPECT_EQ(f->ops->stats(f)->retired_blocks, 0);
	for (uint32_t lpn = 4; lpn < 8; lpn++)	/* GC is asked again for the next frontier */
		run(FTL_WRITE, lpn, 1);
	settle();
	EXPECT_EQ(f->ops->stats(f)->retired_blocks, 1);
	ftl_free();
}

/* ---- SSDSim's accounting: a write ends with its transfer ------------------- */

static void ssdsim_make(uint32_t chips, uint32_t units)
{
	ways.accounting = FTL_ACCOUNT_SSDSIM;
	ways.held = true;
	ftl_make(1, chips, units, 0, FTL_GC_BLOCKING);
}

static void ssdsim_write_ends_with_its_transfer(void)
{
	ssdsim_make(1, 14);
	EXPECT_EQ(run(FTL_WRITE, 0, 1), CMD + XFER + BUFFER + FRONT);
	EXPECT_EQ(last()->where.bus_ns, CMD + XFER);
	EXPECT_EQ(last()->where.cell_ns, 0);
	EXPECT_EQ(last()->where.buffer_ns, BUFFER);
	/* the die is busy until its program ends, and the next command waits for that */
	EXPECT_EQ(run(FTL_WRITE, 1, 1), PROG_ALONE - BUFFER - FRONT + BUFFER + FRONT);
	EXPECT_EQ(last()->where.host_queue_ns, PROG_ALONE - (CMD + XFER) - (BUFFER + FRONT));
	/* a flush waits for both: the second began when the first ended */
	EXPECT_EQ(run(FTL_FLUSH, 0, 0), PROG - (BUFFER + FRONT) + FRONT);
	ftl_free();
}

static void ssdsim_writes_of_two_chips(void)
{
	ssdsim_make(2, 14);
	EXPECT_EQ(run(FTL_WRITE, 0, 2), 2 * (CMD + XFER) + BUFFER + FRONT);
	EXPECT_EQ(last()->where.host_queue_ns, CMD + XFER);
	ftl_free();
}

/* Five pages are written with room for three: the write ends with the last page's transfer. */
static void ssdsim_write_larger_than_the_staging_room(void)
{
	ssdsim_make(1, 14);
	EXPECT_EQ(run(FTL_WRITE, 0, 5), 4 * PROG_ALONE + CMD + XFER + BUFFER + FRONT);
	EXPECT_EQ(last()->where.host_queue_ns, 4 * PROG_ALONE);
	ftl_free();
}

static void ssdsim_fua_waits_for_the_program(void)
{
	struct ftl_io io = { .op = FTL_WRITE, .bytes = 4096, .fua = true };

	ssdsim_make(1, 14);
	give(&io);
	until_done(1);
	EXPECT_EQ(last()->done_ns - last()->submit_ns, PROG_ALONE + BUFFER + FRONT);
	ftl_free();
}

/*
 * There are two chips. In their blocks 0 only LPNs 6 and 7 are valid. The write opens the first
 * chip's fifth block, and GC begins when it is programmed. A read of the second chip comes 1000 ns
 * later. It waits until GC's read has ended, and gets the channel before GC's program, which finds
 * no gap of its length before the read's data.
 */
static void ssdsim_gc_keeps_the_channel(void)
{
	struct ftl_io w = { .op = FTL_WRITE, .offset = 26 * 4096, .bytes = 4096 };
	struct ftl_io r = { .op = FTL_READ, .offset = 9 * 4096, .bytes = 4096 };
	uint64_t begin;

	ssdsim_make(2, 28);
	for (uint32_t lpn = 0; lpn < 24; lpn++)
		run(FTL_WRITE, lpn, 1);
	for (uint32_t lpn = 0; lpn < 6; lpn++)
		run(FTL_WRITE, lpn, 1);
	run(FTL_WRITE, 24, 1);
	run(FTL_WRITE, 25, 1);
	settle();
	EXPECT_EQ(f->ops->stats(f)->gc_runs, 0);
	give(&w);
	begin = now = now + PROG_ALONE;
	next = f->ops->step(f, now);
	now += 1000;
	give(&r);
	EXPECT_EQ(last()->op, FTL_READ);
	EXPECT_EQ(last()->done_ns, begin + 2 * READ_ALONE + FRONT);
	EXPECT_EQ(last()->where.gc_queue_ns, READ_ALONE - 1000);
	EXPECT_EQ(last()->where.host_queue_ns, 0);
	settle();
	EXPECT_EQ(f->ops->stats(f)->gc_runs, 1);
	EXPECT_EQ(f->ops->stats(f)->gc_units, 1);
	EXPECT_EQ(f->ops->stats(f)->gc_ns, GC_ALL + READ_ALONE);
	ftl_free();
}

/*
 * Uniform random writes at 85 % utilisation: every plane of the die must get its turn of GC. The
 * figure is measured, not computed; it guards against changes of the policy.
 */
static void planes_take_turns_in_gc(void)
{
	struct nand_array_config c = {
		.geo = { 1, 1, 1, 4, 64, 16, 4096, 64, 16, 4096, 0, 1, 1 },
		.timing = { CMD, { READ }, { PROG }, { ERASE }, 1000 } };
	struct ftl_config fc = {
		.capacity_bytes = 3480 * 4096ull, .unit_bytes = 4096, .buffer_units = 16,
		.gc_start_blocks = 4, .gc_stop_blocks = 4, .gc_urgent_blocks = 2,
		.gc_mode = FTL_GC_SLICED, .gc_slice_pages = 4, .multiplane = true, .max_unit_reads = 64,
		.gc_policy = &gc_greedy };
	struct ftl_host host = { on_done, on_copy, NULL };
	uint64_t seed = 1, moved;
	size_t len = ftl_footprint(ftl_list[0], &fc, &c.geo);

	checks_every = 61;
	test_array_make(&t, &c);
	mem = calloc(1, len);
	SSD_ASSERT(ftl_init(ftl_list[0], mem, len, &fc, t.n, &host, &f) == SSD_OK);
	SSD_ASSERT(f->ops->mount(f, 0, &now) == SSD_OK);
	next = FTL_IDLE;
	for (uint32_t i = 0; i < 3480; i++)
		run(FTL_WRITE, i, 1);
	for (uint32_t i = 0; i < 20000; i++)
		run(FTL_WRITE, (uint32_t)(rnd(&seed) % 3480), 1);
	moved = f->ops->stats(f)->gc_units;
	for (uint32_t i = 0; i < 20000; i++)
		run(FTL_WRITE, (uint32_t)(rnd(&seed) % 3480), 1);
	moved = f->ops->stats(f)->gc_units - moved;
	/*
	 * 4096 pages; 2 of 64 blocks are reserved and 2 open, so OP is 10 %, and 4 to 5 pages are
	 * moved for each write
	 */
	EXPECT_EQ(moved, 53948);	/* 122258 when the first plane always went first */
	checks_every = 1;
	ftl_free();
}

/*
 * One die with capacitors: a page has four units of 1 KiB, and the buffer 16 pages, so writes of up to 16 units are
 * atomic. Units 0 to 3 are on flash. At `now` the program of units 4 to 7 has begun.
 */
static void make_atomic(void)
{
	static struct ftl_io filler;

	ways.unit = 1024;
	capacitors = true;
	ftl_make(1, 1, 14, 64, FTL_GC_SLICED);
	(void)run(FTL_WRITE, 0, 1);
	settle();
	now += 10 * PROG_ALONE;
	filler = (struct ftl_io){ .op = FTL_WRITE, .offset = 4096, .bytes = 4096 };
	give(&filler);
	done_count = 0;
}

/* Returns an I/O of `units` units of 1 KiB. */
static struct ftl_io units_of(enum ftl_op op, uint32_t unit, uint32_t units)
{
	return (struct ftl_io){ .op = op, .offset = unit * 1024ull, .bytes = units * 1024ull };
}

/* An atomic write waits for an earlier read of its units, which waits for the die. Later reads see the write. */
static void atomic_write_waits_for_a_read(void)
{
	struct ftl_io before = units_of(FTL_READ, 0, 2), write = units_of(FTL_WRITE, 0, 2);
	struct ftl_io after = units_of(FTL_READ, 0, 2), other = units_of(FTL_READ, 2, 1);

	make_atomic();
	give(&before);
	give(&write);
	give(&after);
	give(&other);
	settle();
	EXPECT_EQ(done_count, 4);
	EXPECT_EQ(before.done_ns - before.submit_ns, PROG_ALONE + READ_ALONE + FRONT);
	EXPECT_EQ(write.done_ns - write.submit_ns, PROG_ALONE + BUFFER + FRONT);
	EXPECT_EQ(after.done_ns - after.submit_ns, PROG_ALONE + BUFFER + FRONT);
	EXPECT_EQ(other.done_ns - other.submit_ns, PROG_ALONE + 2 * READ_ALONE + FRONT);
	ftl_free();
}

/* Both units of the read are written one by one, so it ends without a command, and no command follows. */
static void atomic_write_after_a_read_from_the_buffer(void)
{
	struct ftl_io read = units_of(FTL_READ, 0, 2), write = units_of(FTL_WRITE, 0, 2);
	struct ftl_io one = units_of(FTL_WRITE, 0, 1), two = units_of(FTL_WRITE, 1, 1);

	make_atomic();
	give(&read);
	give(&one);
	give(&two);
	give(&write);
	EXPECT_EQ(done_count, 2);
	settle();
	EXPECT_EQ(done_count, 4);
	EXPECT_EQ(one.done_ns - one.submit_ns, BUFFER + FRONT);
	EXPECT_EQ(read.done_ns - read.submit_ns, PROG_ALONE + BUFFER + FRONT);
	EXPECT_EQ(write.done_ns - write.submit_ns, PROG_ALONE + BUFFER + FRONT);
	ftl_free();
}

int main(void)
{
	RUN(ftl_single_requests);
	RUN(ftl_unbuffered_write_ends_with_its_program);
	RUN(ftl_two_dies_on_a_channel);
	RUN(ftl_two_channels);
	RUN(ftl_reads_in_a_row);
	RUN(ftl_a_full_buffer_waits_for_a_program);
	RUN(ftl_blocking_gc);
	RUN(ftl_sliced_gc);
	RUN(two_victims_one_erase);
	RUN(a_second_victim_over_the_threshold_waits_its_turn);
	RUN(a_second_victim_is_not_copied_to_the_reserve);
	RUN(gc_reads_the_words_it_moves);
	RUN(gc_copies_inside_the_chip);
	RUN(a_failed_copyback_is_made_again);
	RUN(ssdsim_write_ends_with_its_transfer);
	RUN(ssdsim_writes_of_two_chips);
	RUN(ssdsim_write_larger_than_the_staging_room);
	RUN(ssdsim_fua_waits_for_the_program);
	RUN(ssdsim_gc_keeps_the_channel);
	RUN(planes_take_turns_in_gc);
	RUN(atomic_write_waits_for_a_read);
	RUN(atomic_write_after_a_read_from_the_buffer);
	return test_result();
}
