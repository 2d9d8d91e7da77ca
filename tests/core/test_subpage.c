// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test SPREAD's three FTLs (spread.ini's pages and times): schedules of host reads and of
 * reads that complete partial writes, computed by hand, the words that each command requests, and
 * the data. The FTL sees only the words that it requested.
 *
 * A page is 16 KiB in eight words of 2 KiB and holds four units of 4 KiB. The cell phase of
 * n words takes 25 us + 5 us * 2n. It takes 99 us for all eight words, or if only the transfer
 * can be shortened. A transfer takes 1221 ps a byte, rounded up; spare bytes and commands
 * take no time.
 */
#include "gc_policy.h"
#include "ftl.h"
#include "oob.h"
#include "test.h"
#include "words_only.h"

#define MAP 200u
#define BUFFER 2000u
#define OVERHEAD 1000u
#define FRONT (MAP + OVERHEAD)
#define PAGE_CELL 99000u
#define XFER(words) (((words) * 2048ull * 1221 + 999) / 1000)
#define SPREAD(words) (25000u + 10000u * (words) + XFER(words))	/* fewer than eight */
#define WHOLE (PAGE_CELL + XFER(8))
#define DMA(words) (PAGE_CELL + XFER(words))
#define PROGRAM (XFER(8) + 640000u)
#define KIB 1024u
#define UNITS 480u

static struct test_array t;
static struct words_only only;
static struct ftl *f;
static void *mem;
static uint64_t now, next;
static uint8_t content[UNITS * 4096];	/* content that the drive must have */
static uint8_t version;
static struct { uint32_t ppn, words; } asked[64];	/* the reads of host data */
static uint32_t asked_count, done_count;
static struct ftl_io done_io[8];

static void on_done(void *opaque, struct ftl_io *io)
{
	(void)opaque;
	EXPECT_EQ(io->status, SSD_OK);
	done_io[done_count++ % 8] = *io;
}

static void on_copy(void *opaque, struct ftl_io *io, uint64_t at, void *buf, size_t len)
{
	uint8_t *here = content + io->offset + at;

	(void)opaque;
	if (io->op == FTL_WRITE) {
		for (size_t i = 0; i < len; i++)
			here[i] = (uint8_t)(version + (io->offset + at + i) / 512 * 7 + i % 251);
		memcpy(buf, here, len);
	} else {
		EXPECT(buf && !memcmp(buf, here, len));
	}
}

static void on_commands(void *opaque, uint64_t at_ns, const struct nand_cmd *c, unsigned int count)
{
	(void)opaque; (void)at_ns; (void)count;
	if (c->op != NAND_READ || c->source != NAND_SRC_HOST)
		return;
	asked[asked_count].ppn = c->ppn.v;
	asked[asked_count++ % 64].words = c->ecc_words;
}

static void drive(uint32_t channels, enum nand_subpage subpage, uint32_t buffer)
{
	struct nand_array_config a = {
		.geo = { channels, 1, 1, 1, 16, 16, 16384, 128, OOB_BYTES(4), 2048, 0, 1, 1 },
		.timing = { 0, { PAGE_CELL }, { 640000 }, { 3500000 }, 1221, true, 25000, 5000 },
		.physics.disturb_tolerance = 255, .payload = true };
	struct ftl_config c = {
		.capacity_bytes = UNITS * 4096, .unit_bytes = 4096, .buffer_units = buffer,
		.gc_start_blocks = 3, .gc_stop_blocks = 3, .gc_urgent_blocks = 1,
		.gc_slice_pages = 1, .gc_mode = FTL_GC_SLICED, .payload = true, .map_ns = MAP,
		.buffer_ns = BUFFER, .overhead_ns = OVERHEAD, .max_unit_reads = 64,
		.gc_policy = &gc_greedy, .gc_subpage_reads = FTL_WORDS_AUTO,
		.host_subpage_reads = FTL_WORDS_AUTO };
	struct ftl_host host = { on_done, on_copy, NULL };
	struct nand_hooks hooks = { .done = on_commands };
	size_t len;

	a.geo.subpage = subpage;
	test_array_make(&t, &a);
	nand_array_set_hooks(t.a, &hooks);
	len = ftl_footprint(ftl_list[0], &c, &a.geo);
	mem = calloc(1, len);
	SSD_ASSERT(ftl_init(ftl_list[0], mem, len, &c, words_only_make(&only, t.n), &host, &f) == SSD_OK);
	SSD_ASSERT(f->ops->mount(f, 0, &now) == SSD_OK);
	memset(content, 0, sizeof(content));
	version = 0;
	done_count = asked_count = 0;
	next = FTL_IDLE;
}

static void drive_free(void)
{
	words_only_free(&only);
	test_array_free(&t);
	free(mem);
}

static void give(struct ftl_io *io)
{
	version += 101;
	f->ops->submit(f, now, io);
	next = f->ops->step(f, now);
}

static void until_done(uint32_t n)
{
	while (done_count < n && next != FTL_IDLE) {
		now = next;
		next = f->ops->step(f, now);
		f->ops->check(f);
	}
	EXPECT_EQ(done_count, n);
}

/* Run an I/O alone; returns its latency. */
static uint64_t run(enum ftl_op op, uint64_t offset, uint64_t bytes)
{
	struct ftl_io io = { .op = op, .offset = offset, .bytes = bytes };
	uint32_t before = done_count;

	asked_count = 0;
	give(&io);
	until_done(before + 1);
	if (io.done_ns > now)
		now = io.done_ns;
	next = f->ops->step(f, now);
	return io.done_ns - io.submit_ns;
}

static uint64_t host_bytes(void)
{
	struct nand_stats s;

	t.n->ops->get_stats(t.n, &s);
	return s.user_read_bytes[NAND_SRC_HOST];
}

/* Read units of the first page alone; compare the latency and the words read. */
static void expect_read(uint64_t offset, uint64_t bytes, uint64_t latency, uint32_t words)
{
	EXPECT_EQ(run(FTL_READ, offset, bytes), latency + FRONT);
	EXPECT_EQ(asked_count, 1);
	EXPECT_EQ(asked[0].words, words);
}

/* ---- Table 3 ------------------------------------------------------------------ */

/* Compare with the table's latencies in us. 2.5 us for 2 KiB is 1221 ps a byte, rounded up. */
static void table_3_for_the_host(void)
{
	static const struct { uint32_t kib, us_tenth, ns; } row[] = {
		{ 2, 375, 37501 }, { 4, 500, 50002 }, { 6, 625, 62502 }, { 8, 750, 75003 },
		{ 10, 875, 87504 }, { 12, 1000, 100004 }, { 14, 1125, 112505 }, { 16, 1190, 119005 } };
	uint64_t before;

	drive(1, NAND_SUBPAGE_SPREAD, 0);
	run(FTL_WRITE, 0, 16 * KIB);
	for (uint32_t i = 0; i < 8; i++) {
		EXPECT_EQ(row[i].ns / 100, row[i].us_tenth);
		before = host_bytes();
		expect_read(0, row[i].kib * KIB, row[i].ns, (1u << (row[i].kib / 2)) - 1);
		EXPECT_EQ(host_bytes() - before, row[i].kib * KIB);	/* RAF 1 */
	}
	drive_free();
}

/* Read any part of a page: exactly its words are read. */
static void words_that_a_request_touches(void)
{
	drive(1, NAND_SUBPAGE_SPREAD, 0);
	run(FTL_WRITE, 0, 16 * KIB);
	expect_read(14 * KIB, 2 * KIB, SPREAD(1), 0x80);
	expect_read(0, 512, SPREAD(1), 0x01);
	expect_read(2 * KIB, 512, SPREAD(1), 0x02);
	expect_read(3 * 512, 1 * KIB, SPREAD(2), 0x03);		/* across two words */
	expect_read(7 * 512, 1 * KIB, SPREAD(2), 0x06);		/* and two units */
	expect_read(2 * KIB, 12 * KIB, SPREAD(6), 0x7e);
	expect_read(512, 15 * KIB + 512, WHOLE, 0xff);
	drive_free();
}

/* pageFTL, dmaFTL and spFTL get the same requests; the profiles differ in one line. */
static void three_ftls(enum nand_subpage subpage, uint64_t small, uint64_t large, uint32_t bytes)
{
	uint64_t before;

	drive(1, subpage, 0);
	run(FTL_WRITE, 0, 16 * KIB);
	before = host_bytes();
	EXPECT_EQ(run(FTL_READ, 2 * KIB, 2 * KIB), small + FRONT);
	EXPECT_EQ(host_bytes() - before, bytes);
	EXPECT_EQ(run(FTL_READ, 0, 16 * KIB), large + FRONT);
	drive_free();
}

static void a_small_read_of_three_ftls(void)
{
	three_ftls(NAND_SUBPAGE_NONE, WHOLE, WHOLE, 16384);		/* 119.0 us */
	three_ftls(NAND_SUBPAGE_DMA, DMA(1), WHOLE, 2048);		/* 101.5 us */
	three_ftls(NAND_SUBPAGE_SPREAD, SPREAD(1), WHOLE, 2048);	/*  37.5 us */
}

/* ---- Figure 21 ---------------------------------------------------------------- */

#define F0 (0xf0u * 4 * KIB)

/* F0h .. F3h are written together, then F1h and F2h again, at different times. */
static void figure_21_written(uint32_t channels, enum nand_subpage subpage)
{
	drive(channels, subpage, 0);
	run(FTL_WRITE, F0, 16 * KIB);
	run(FTL_WRITE, F0 + 4 * KIB, 4 * KIB);
	run(FTL_WRITE, F0 + 8 * KIB, 4 * KIB);
}

/* A read of 16 KiB from F0h takes a command for F0h and F3h, one for F1h, and one for F2h. */
static void figure_21(uint32_t channels, enum nand_subpage subpage, uint64_t latency, uint32_t bytes)
{
	bool words = subpage != NAND_SUBPAGE_NONE;
	uint64_t before;

	figure_21_written(channels, subpage);
	before = host_bytes();
	EXPECT_EQ(run(FTL_READ, F0, 16 * KIB), latency + FRONT);
	EXPECT_EQ(asked_count, 3);
	EXPECT_EQ(asked[0].words, words ? 0xc3 : NAND_WHOLE_PAGE);	/* the first and the last unit */
	EXPECT_EQ(asked[1].words, words ? 0x03 : NAND_WHOLE_PAGE);
	EXPECT_EQ(asked[2].words, words ? 0x03 : NAND_WHOLE_PAGE);
	EXPECT_EQ(host_bytes() - before, bytes);
	drive_free();
}

static void figure_21_on_one_die(void)
{
	figure_21(1, NAND_SUBPAGE_SPREAD, SPREAD(4) + 2 * SPREAD(2), 16384);
	figure_21(1, NAND_SUBPAGE_DMA, DMA(4) + 2 * DMA(2), 16384);
	figure_21(1, NAND_SUBPAGE_NONE, 3 * WHOLE, 3 * 16384);
}

/* Each page has its own die and channel: F3h must be queued in time for F0h's command. */
static void figure_21_on_three_dies(void)
{
	figure_21(3, NAND_SUBPAGE_SPREAD, SPREAD(4), 16384);
	figure_21(3, NAND_SUBPAGE_DMA, DMA(4), 16384);
	figure_21(3, NAND_SUBPAGE_NONE, WHOLE, 3 * 16384);
}

/* Two I/Os are in the queue of one die: each has its own commands, in the order of arrival. */
static void two_requests_do_not_share(void)
{
	struct ftl_io a = { .op = FTL_READ, .offset = F0, .bytes = 4 * KIB };
	struct ftl_io b = { .op = FTL_READ, .offset = F0 + 12 * KIB, .bytes = 4 * KIB };
	uint64_t start;

	figure_21_written(1, NAND_SUBPAGE_SPREAD);
	start = now;
	done_count = 0;
	asked_count = 0;
	give(&a);
	give(&b);
	until_done(2);
	EXPECT_EQ(asked_count, 2);
	EXPECT_EQ(asked[0].words, 0x03);
	EXPECT_EQ(asked[1].words, 0xc0);
	EXPECT_EQ(a.done_ns - start, SPREAD(2) + FRONT);
	EXPECT_EQ(b.done_ns - start, 2 * SPREAD(2) + FRONT);
	EXPECT_EQ(b.where.host_queue_ns, SPREAD(2));
	drive_free();
}

/* A unit in the buffer is not read, and the other units of the page still come in one command. */
static void what_the_buffer_holds_is_not_asked_for(void)
{
	drive(1, NAND_SUBPAGE_SPREAD, 16);
	run(FTL_WRITE, 0, 16 * KIB);
	run(FTL_FLUSH, 0, 0);
	run(FTL_WRITE, 4 * KIB, 4 * KIB);	/* stays in the open page */
	expect_read(0, 16 * KIB, SPREAD(6), 0xf3);
	drive_free();
}

/* ---- partial writes ------------------------------------------------------------- */

static uint64_t merged(void)
{
	return f->ops->stats(f)->merge_read_bytes;
}

/* Half a unit is written: the other half is one word. The rest of the page is programmed empty. */
static void a_partial_write_reads_what_it_lacks(void)
{
	drive(1, NAND_SUBPAGE_SPREAD, 0);
	run(FTL_WRITE, 0, 16 * KIB);
	EXPECT_EQ(run(FTL_WRITE, 0, 2 * KIB), SPREAD(1) + PROGRAM + BUFFER + FRONT);
	EXPECT_EQ(asked[0].words, 0x02);
	EXPECT_EQ(f->ops->stats(f)->merge_reads, 1);
	EXPECT_EQ(merged(), 2048);
	/* a sector in the middle of a word leaves some of both words to read */
	EXPECT_EQ(run(FTL_WRITE, 12 * KIB + 512, 512), SPREAD(2) + PROGRAM + BUFFER + FRONT);
	EXPECT_EQ(asked[0].words, 0xc0);
	EXPECT_EQ(merged(), 2048 + 4096);
	EXPECT_EQ(run(FTL_READ, 0, 4 * KIB), SPREAD(2) + FRONT);	/* and the content is right */
	EXPECT_EQ(run(FTL_READ, 12 * KIB, 4 * KIB), SPREAD(2) + FRONT);
	drive_free();
}

/* The end of one unit and the beginning of the next are in one page: one command. */
static void bases_in_a_page_share_a_command(enum nand_subpage subpage, uint64_t base, uint32_t bytes)
{
	drive(1, subpage, 0);
	run(FTL_WRITE, 0, 16 * KIB);
	EXPECT_EQ(run(FTL_WRITE, 2 * KIB, 4 * KIB), base + PROGRAM + BUFFER + FRONT);
	EXPECT_EQ(asked_count, 1);
	EXPECT_EQ(f->ops->stats(f)->merge_reads, 1);
	EXPECT_EQ(merged(), bytes);
	run(FTL_READ, 0, 16 * KIB);
	drive_free();
}

static void a_write_across_two_units(void)
{
	bases_in_a_page_share_a_command(NAND_SUBPAGE_SPREAD, SPREAD(2), 4096);	/* words 0 and 3 */
	bases_in_a_page_share_a_command(NAND_SUBPAGE_DMA, DMA(2), 4096);
	bases_in_a_page_share_a_command(NAND_SUBPAGE_NONE, WHOLE, 16384);
}

/*
 * While the die reads something else, the rest of the unit is written, so that no read is needed.
 */
static void a_base_that_is_not_needed_any_more(void)
{
	struct ftl_io read = { .op = FTL_READ, .offset = 4 * KIB, .bytes = 4 * KIB };
	struct ftl_io half = { .op = FTL_WRITE, .bytes = 2 * KIB };
	struct ftl_io rest = { .op = FTL_WRITE, .offset = 2 * KIB, .bytes = 2 * KIB };
	struct ftl_io flush = { .op = FTL_FLUSH };
	uint64_t start;

	drive(1, NAND_SUBPAGE_SPREAD, 16);
	run(FTL_WRITE, 0, 16 * KIB);
	run(FTL_FLUSH, 0, 0);
	start = now;
	asked_count = 0;
	give(&read);
	give(&half);
	give(&rest);
	give(&flush);
	until_done(6);
	EXPECT_EQ(asked_count, 1);
	EXPECT_EQ(f->ops->stats(f)->merge_reads, 0);
	EXPECT_EQ(flush.done_ns - start, SPREAD(2) + PROGRAM + FRONT);
	run(FTL_READ, 0, 16 * KIB);
	drive_free();
}

int main(void)
{
	RUN(table_3_for_the_host);
	RUN(words_that_a_request_touches);
	RUN(a_small_read_of_three_ftls);
	RUN(figure_21_on_one_die);
	RUN(figure_21_on_three_dies);
	RUN(two_requests_do_not_share);
	RUN(what_the_buffer_holds_is_not_asked_for);
	RUN(a_partial_write_reads_what_it_lacks);
	RUN(a_write_across_two_units);
	RUN(a_base_that_is_not_needed_any_more);
	return test_result();
}
