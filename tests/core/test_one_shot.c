// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test the page FTL on flash that programs whole word lines (geometry.one_shot): what a word line takes, when pages
 * wait for others, what pads are counted, and what a power cut inside such a program leaves. Every number is computed
 * by hand from the times below.
 */
#include "gc_policy.h"
#include "page_drive.h"
#include "profile_load.h"
#include "save.h"

#define UNIT 4096u
#define CMD 100u
#define XFER (UNIT + 64u)
#define PROGRAM 900000u		/* of a word line */
#define READ 50000u
#define ERASE 1000000u
#define FRONT 1200u		/* look-up and overhead */
#define SEND (CMD + XFER)
#define LINE 3u			/* pages of a word line; units are pages */
#define IOS 16u

static struct ftl_config fc;
static struct ftl_io io[IOS];
static uint64_t version;	/* of what is written from now on */
static uint64_t read_version[LINE];	/* of what was read of the first units */
static uint32_t fails_at, programs;	/* the program with this number fails; 0: none */

static void on_done(void *opaque, struct ftl_io *one)
{
	(void)opaque;
	EXPECT_EQ(one->status, SSD_OK);
}

/* Writes fill each unit with its number and the version. */
static void on_copy(void *opaque, struct ftl_io *one, uint64_t at, void *buf, size_t len)
{
	(void)opaque;
	for (size_t i = 0; i < len; i += 8) {
		uint64_t unit = (one->offset + at + i) / UNIT, v = version << 32 | unit;

		if (one->op == FTL_WRITE) {
			memcpy((char *)buf + i, &v, 8);
			continue;
		}
		memcpy(&v, (char *)buf + i, 8);
		EXPECT_EQ((uint32_t)v, unit);
		if (unit < LINE)
			read_version[unit] = v >> 32;
	}
}

static enum nand_status on_fault(void *opaque, const struct nand_cmd *c)
{
	(void)opaque;
	return c->op == NAND_PROGRAM && ++programs == fails_at ? NAND_PROG_FAIL : NAND_OK;
}

static void mount_anew(void)
{
	static const struct ftl_host host = { on_done, on_copy, NULL };

	mount_page_ftl(&fc, &host);
}

/* Make a blank drive of one die: twelve blocks a plane, of four word lines of three pages. */
static void make(uint32_t planes, uint32_t buffer_units, bool paired_loss)
{
	struct nand_array_config c = {
		.geo = { 1, 1, 1, planes, 12, 12, UNIT, 64, 16, UNIT, 0, 1, LINE },
		.timing = { CMD, { READ, READ, READ }, { PROGRAM }, { ERASE }, 1000 },
		.payload = true };

	c.geo.one_shot = true;
	c.geo.paired_loss = paired_loss;
	test_array_make(&t, &c);
	fc = (struct ftl_config){
		.capacity_bytes = (uint64_t)60 * UNIT * planes, .unit_bytes = UNIT, .buffer_units = buffer_units,
		.gc_start_blocks = 3, .gc_stop_blocks = 4, .gc_urgent_blocks = 1, .gc_mode = FTL_GC_BLOCKING,
		.gc_slice_pages = 4, .payload = true, .map_ns = 200, .overhead_ns = 1000, .max_unit_reads = 64,
		.multiplane = true, .gc_policy = &gc_greedy, .timing = c.timing };
	version = 1;
	fails_at = programs = 0;
}

static struct ftl_io *submit(uint32_t i, enum ftl_op op, uint32_t unit, uint32_t units)
{
	io[i] = (struct ftl_io){ .op = op, .offset = (uint64_t)unit * UNIT, .bytes = (uint64_t)units * UNIT };
	f->ops->submit(f, now, &io[i]);
	f->ops->check(f);
	return &io[i];
}

/* Submit the I/O, pass the time until the drive has no work left, and return the I/O's latency. */
static uint64_t run(enum ftl_op op, uint32_t unit, uint32_t units)
{
	struct ftl_io *one = submit(0, op, unit, units);

	pass_to(FTL_IDLE);
	if (now < one->done_ns)
		now = one->done_ns;
	return one->done_ns - one->submit_ns;
}

static uint64_t pages_programmed(void)
{
	struct nand_stats s;
	uint64_t sum = 0;

	t.n->ops->get_stats(t.n, &s);
	for (unsigned int i = 0; i < NAND_NSOURCES; i++)
		sum += s.ops[NAND_PROGRAM][i];
	return sum;
}

static void expect_pages(uint64_t programmed, uint64_t host, uint64_t pads, uint64_t flush_pads)
{
	const struct ftl_stats *s = f->ops->stats(f);

	EXPECT_EQ(pages_programmed(), programmed);
	EXPECT_EQ(s->host_units, host);
	EXPECT_EQ(s->pad_units, pads);
	EXPECT_EQ(s->flush_pad_units, flush_pads);
}

/* ---- times --------------------------------------------------------------------- */

/* A word line's pages cross the bus one after another, then one program of its cells stores all of them. */
static void a_word_line_takes_its_transfers_and_one_program(void)
{
	make(1, 0, false);
	mount_anew();
	EXPECT_EQ(run(FTL_WRITE, 0, LINE), FRONT + LINE * SEND + PROGRAM);
	EXPECT_EQ(io[0].where.cell_ns, PROGRAM);
	EXPECT_EQ(io[0].where.bus_ns, SEND);
	expect_pages(LINE, LINE, 0, 0);
	EXPECT_EQ(run(FTL_WRITE, 3, 2 * LINE), FRONT + 2 * (LINE * SEND + PROGRAM));	/* one after the other */
	expect_pages(3 * LINE, 3 * LINE, 0, 0);
	gone();
}

/* A die programs a word line of each plane by one command. */
static void planes_program_their_word_lines_together(void)
{
	make(2, 0, false);
	mount_anew();
	EXPECT_EQ(run(FTL_WRITE, 0, 2 * LINE), FRONT + 2 * LINE * SEND + PROGRAM);
	expect_pages(2 * LINE, 2 * LINE, 0, 0);
	EXPECT_EQ(run(FTL_WRITE, 0, LINE + 1), FRONT + 2 * LINE * SEND + PROGRAM);
	expect_pages(4 * LINE, 3 * LINE + 1, LINE - 1, LINE - 1);
	gone();
}

/* An unbuffered write of less than a word line does not wait for other writes: pads cross the bus like data. */
static void an_unbuffered_page_is_padded(void)
{
	make(1, 0, false);
	mount_anew();
	EXPECT_EQ(run(FTL_WRITE, 0, 1), FRONT + LINE * SEND + PROGRAM);
	expect_pages(LINE, 1, 2, 2);
	EXPECT_EQ(run(FTL_READ, 0, 1), FRONT + CMD + READ + XFER);
	gone();
}

/* ---- the buffer ------------------------------------------------------------------ */

static void pages_wait_until_their_word_line_is_full(void)
{
	make(1, 12, false);
	mount_anew();
	EXPECT_EQ(run(FTL_WRITE, 0, 2), FRONT);
	expect_pages(0, 0, 0, 0);
	EXPECT_EQ(run(FTL_READ, 1, 1), FRONT);		/* from the buffer */
	EXPECT_EQ(run(FTL_WRITE, 2, 2), FRONT);
	expect_pages(LINE, LINE, 0, 0);
	EXPECT_EQ(run(FTL_FLUSH, 0, 0), FRONT + LINE * SEND + PROGRAM);
	expect_pages(2 * LINE, 4, 2, 2);
	EXPECT_EQ(run(FTL_FLUSH, 0, 0), FRONT);		/* nothing is left */
	expect_pages(2 * LINE, 4, 2, 2);
	gone();
}

/* FUA writes close what waits before them, too. */
static void a_fua_write_pads_what_is_left(void)
{
	make(1, 12, false);
	mount_anew();
	run(FTL_WRITE, 0, 2);
	io[1] = (struct ftl_io){ .op = FTL_WRITE, .offset = 2 * UNIT, .bytes = UNIT, .fua = true };
	f->ops->submit(f, now, &io[1]);
	pass_to(FTL_IDLE);
	EXPECT_EQ(io[1].done_ns - io[1].submit_ns, FRONT + LINE * SEND + PROGRAM);
	expect_pages(LINE, LINE, 0, 0);
	io[1] = (struct ftl_io){ .op = FTL_WRITE, .offset = 3 * UNIT, .bytes = UNIT, .fua = true };
	f->ops->submit(f, now, &io[1]);
	pass_to(FTL_IDLE);
	expect_pages(2 * LINE, 4, 2, 2);
	gone();
}

/* Capacitors: a flush programs nothing, and what the buffer holds is saved when the power fails. */
static void a_protected_drive_pads_nothing_until_its_power_fails(void)
{
	uint64_t end_ns;

	make(1, 24, false);
	fc.power_protected = true;
	mount_anew();
	run(FTL_WRITE, 0, 4);
	EXPECT_EQ(run(FTL_FLUSH, 0, 0), FRONT);
	expect_pages(LINE, LINE, 0, 0);
	EXPECT_EQ(ftl_save(f, t.n, 0, now, &end_ns), 0);
	EXPECT_EQ(end_ns, now + LINE * SEND + PROGRAM);
	expect_pages(2 * LINE, 4, 2, 0);
	nand_array_power_cut(t.a, end_ns, 1);
	nand_array_power_on(t.a);
	mount_anew();
	run(FTL_READ, 0, 4);
	EXPECT_EQ(f->ops->stats(f)->unwritten_units, 0);
	gone();
}

/* ---- failures and cuts ----------------------------------------------------------- */

/* Write two blocks' worth of units, so that GC runs: it empties the block whose program failed, and retires it. */
static void write_two_blocks(void)
{
	run(FTL_WRITE, LINE, 24);
	EXPECT_EQ(f->ops->stats(f)->retired_blocks, 1);
}

/* Make a mounted drive whose program with this number, from 1 on, fails. */
static void make_failing(uint32_t number)
{
	static const struct nand_hooks hooks = { .fault = on_fault };

	make(1, 12, false);
	nand_array_set_hooks(t.a, &hooks);
	mount_anew();
	fails_at = number;
}

/* The page whose program failed goes to another block at once, with pads beside it. */
static void a_failed_page_does_not_wait_for_others(void)
{
	make_failing(2);
	run(FTL_WRITE, 0, LINE);
	expect_pages(2 * LINE, LINE + 1, 2, 0);
	write_two_blocks();
	run(FTL_READ, 0, LINE);
	for (uint32_t i = 0; i < LINE; i++)
		EXPECT_EQ(read_version[i], 1);
	gone();
}

/* A pad's program fails: its block is retired, and nothing is lost. */
static void a_failed_pad_retires_its_block(void)
{
	make_failing(3);
	run(FTL_WRITE, 0, 1);
	run(FTL_FLUSH, 0, 0);
	expect_pages(LINE, 1, 2, 2);
	write_two_blocks();
	run(FTL_READ, 0, 1);
	EXPECT_EQ(read_version[0], 1);
	gone();
}

/*
 * Version 1 of a word line is flushed, and the power fails at_ns after version 2 was issued. Returns how many units
 * have version 2 after the mount; they are the first ones, and the others have version 1.
 */
static uint32_t units_after_cut(bool paired_loss, uint64_t at_ns, uint64_t seed)
{
	uint32_t found = 0;

	make(1, 12, paired_loss);
	mount_anew();
	run(FTL_WRITE, 0, LINE);
	run(FTL_FLUSH, 0, 0);
	version = 2;
	submit(0, FTL_WRITE, 0, LINE);
	nand_array_power_cut(t.a, now + at_ns, seed);
	nand_array_power_on(t.a);
	mount_anew();
	run(FTL_READ, 0, LINE);
	while (found < LINE && read_version[found] == 2)
		found++;
	for (uint32_t i = found; i < LINE; i++)
		EXPECT_EQ(read_version[i], 1);
	gone();
	return found;
}

static void a_cut_leaves_a_prefix_of_the_word_line(void)
{
	uint32_t seen[2] = { 0 };

	EXPECT_EQ(units_after_cut(true, LINE * SEND, 1), 0);	/* the cells are as before */
	EXPECT_EQ(units_after_cut(true, LINE * SEND + PROGRAM, 1), LINE);
	for (uint64_t seed = 0; seed < 64; seed++) {
		uint32_t all = units_after_cut(true, LINE * SEND + PROGRAM / 2, seed);

		EXPECT(all == 0 || all == LINE);	/* a torn page takes the lower ones along */
		seen[0] |= 1u << all;
		seen[1] |= 1u << units_after_cut(false, LINE * SEND + PROGRAM / 2, seed);
	}
	EXPECT_EQ(seen[0], 1u << 0 | 1u << LINE);
	EXPECT_EQ(seen[1], (1u << (LINE + 1)) - 1);	/* each page is torn or not */
}

/* ---- refusals --------------------------------------------------------------------- */

static void expect_refusal(const char *o, const char *says)
{
	EXPECT(load("nand-emu/profiles/tlc-shot-small.ini", o) != 0);
	EXPECT(strstr(err, says));
	if (!strstr(err, says))
		printf("# %s\n", err);
}

static void what_does_not_go_together_is_refused(void)
{
	EXPECT(!load("nand-emu/profiles/tlc-shot-small.ini", NULL));
	EXPECT(p.array.geo.one_shot);
	EXPECT(!load("nand-emu/profiles/tlc-shot-small.ini", "geometry.paired_loss=yes"));
	expect_refusal("ftl.type=dac", "one_shot must be no: this FTL programs pages singly; set type = page");
	expect_refusal("ftl.type=parity", "one_shot must be no: this FTL programs pages singly");
	expect_refusal("ftl.placement_handles=2", "placement_handles must be 0 with one_shot");
	expect_refusal("ftl.hot_cold=count", "hot_cold must be off with one_shot");
	expect_refusal("ftl.map_cache_pages=200", "map_cache_pages must be 0 with one_shot");
	expect_refusal("ftl.buffer_units=23", "buffer_units must be 0 or hold at least two word lines");
	EXPECT(!load("nand-emu/profiles/tlc-shot-small.ini", "ftl.buffer_units=24"));
	expect_refusal("timing.slc_program_ns=100000", "slc_program_ns must be 0");
}

int main(void)
{
	RUN(a_word_line_takes_its_transfers_and_one_program);
	RUN(planes_program_their_word_lines_together);
	RUN(an_unbuffered_page_is_padded);
	RUN(pages_wait_until_their_word_line_is_full);
	RUN(a_fua_write_pads_what_is_left);
	RUN(a_protected_drive_pads_nothing_until_its_power_fails);
	RUN(a_failed_page_does_not_wait_for_others);
	RUN(a_failed_pad_retires_its_block);
	RUN(a_cut_leaves_a_prefix_of_the_word_line);
	RUN(what_does_not_go_together_is_refused);
	return test_result();
}
