// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The FTLs of front.h on arrays of two-page word lines: which page each choice rule
 * takes, where parity pages go, when, and what is rebuilt from them. All on one die of
 * one plane; 512-byte pages that are mapping units; LSB programs take 20 us, MSB
 * programs 50 us, reads 5 and 6 us, erases 70 us, and the bus nothing.
 *
 * Programs are written b.T k in the comments: block, L or M page of word line k.
 */
#include "blk.h"
#include "front.h"
#include "oob.h"
#include "page_ftl.h"
#include "test.h"

#define PAGE 512u
#define LSB_NS 20000u
#define MSB_NS 50000u
#define READ_NS 5000u
#define ERASE_NS 70000u
#define MAX_LOG 400u

struct entry { uint32_t block, page; enum nand_op op; enum nand_source source; uint64_t at_ns; };

static struct {
	struct test_array ta;
	struct nand_geometry g;
	struct ftl_config fc;
	const struct ftl_ops *ops;
	struct ftl *f;
	void *mem;
	uint64_t now;
	struct entry log[MAX_LOG];	/* programs and erases */
	uint32_t count;
	uint32_t done;
	enum ssd_err status;
	uint8_t fill, got[PAGE];
	uint32_t fail_at;		/* this entry of the log fails; 0: none */
	bool no_erases;			/* all of them fail */
	uint32_t programs_left;		/* after so many all fail; 0: none does */
} d;

static void on_command(void *o, uint64_t now_ns, const struct nand_cmd *c, unsigned int count)
{
	(void)o;
	for (unsigned int i = 0; i < count; i++) {
		if (c[i].op == NAND_READ)
			continue;
		SSD_ASSERT(d.count < MAX_LOG);
		d.log[d.count++] = (struct entry){ c[i].ppn.v / d.g.pages_per_block,
						   c[i].ppn.v % d.g.pages_per_block, c[i].op,
						   c[i].source, now_ns };
	}
}

static enum nand_status on_fault(void *o, const struct nand_cmd *c)
{
	(void)o;
	if (c->op == NAND_ERASE)
		return d.no_erases ? NAND_ERASE_FAIL : NAND_OK;
	if (c->op == NAND_PROGRAM && d.programs_left && !--d.programs_left) {
		d.programs_left = 1;
		return NAND_PROG_FAIL;
	}
	return c->op == NAND_PROGRAM && d.fail_at && d.count + 1 == d.fail_at ? NAND_PROG_FAIL : NAND_OK;
}

static void on_done(void *o, struct ftl_io *io)
{
	(void)o;
	d.done++;
	d.status = io->status;
}

static void on_copy(void *o, struct ftl_io *io, uint64_t at, void *buf, size_t len)
{
	(void)o; (void)at;
	if (io->op == FTL_WRITE)
		memset(buf, (int)(uintptr_t)io->host, len);
	else if (buf)
		memcpy(d.got, buf, len);
	else
		memset(d.got, 0, len);
}

static void remount(void)
{
	static const struct ftl_host host = { on_done, on_copy, NULL };
	size_t len = d.ops->footprint(&d.fc, &d.g);

	free(d.mem);
	d.mem = calloc(1, len);
	d.count = 0;
	SSD_ASSERT(d.ops->init(d.mem, len, &d.fc, d.ta.n, &host, &d.f) == SSD_OK);
	SSD_ASSERT(d.f->ops->mount(d.f, 0, &d.now) == SSD_OK);
	d.f->ops->check(d.f);
}

static uint32_t channels = 1;	/* each of one die */

static void make(const char *ftl, enum nand_order order, uint32_t blocks, uint32_t pages)
{
	struct nand_array_config c = { .geo = { channels, 1, 1, 1, blocks, pages, PAGE, 64, 0, PAGE, 0, 1, 2, order,
						.paired_loss = true },
		.timing = { 0, { READ_NS, 6000 }, { LSB_NS, MSB_NS }, { ERASE_NS }, 0 },
		.physics.disturb_tolerance = 255, .payload = true };
	struct nand_hooks hooks = { .done = on_command, .fault = on_fault };
	const char *why;
	size_t i = 0;

	memset(&d, 0, sizeof(d));
	while (strcmp(ftl_list[i]->name, ftl))
		i++;
	d.ops = ftl_list[i];
	d.fc = (struct ftl_config){ .capacity_bytes = 24 * PAGE, .unit_bytes = PAGE, .gc_start_blocks = 4,
		.gc_stop_blocks = 4, .gc_urgent_blocks = 2, .gc_mode = FTL_GC_SLICED, .gc_slice_pages = 1,
		.payload = true, .max_unit_reads = 64, .gc_policy = &gc_greedy, .active_blocks = 3,
		.fast_above_permille = 800, .slow_below_permille = 100, .quota_permille = 50 };
	c.geo.oob_kept = d.ops->oob_bytes(&d.fc, &c.geo);
	if (d.ops->validate(&d.fc, &c.geo, &why)) {
		printf("%s\n", why);
		abort();
	}
	d.g = c.geo;
	test_array_make(&d.ta, &c);
	nand_array_set_hooks(d.ta.a, &hooks);
	remount();
}

static void destroy(void)
{
	test_array_free(&d.ta);
	free(d.mem);
}

/* Step until so many I/Os are done. */
static void until(uint32_t done)
{
	while (d.done < done) {
		uint64_t next = d.f->ops->step(d.f, d.now);

		SSD_ASSERT(next != FTL_IDLE || d.done >= done);
		if (d.done < done)
			d.now = next;
		d.f->ops->check(d.f);
	}
}

static struct ftl_io the_io;

static void start(enum ftl_op op, uint32_t lpn, uint8_t value)
{
	the_io = (struct ftl_io){ .op = op, .offset = (uint64_t)lpn * PAGE,
				  .bytes = op == FTL_FLUSH ? 0 : PAGE, .host = (void *)(uintptr_t)value };
	d.f->ops->submit(d.f, d.now, &the_io);
}

static void io(enum ftl_op op, uint32_t lpn, uint8_t value)
{
	uint32_t want = d.done + 1;

	start(op, lpn, value);
	until(want);
}

/* Until the die is idle: what follows a write without being asked for. */
static void rest(void)
{
	for (uint64_t next = d.f->ops->step(d.f, d.now); next != FTL_IDLE;
	     next = d.f->ops->step(d.f, d.now)) {
		d.now = next;
		d.f->ops->check(d.f);
	}
}

static void expect_content(uint32_t lpn, uint8_t value)
{
	io(FTL_READ, lpn, 0);
	EXPECT_EQ(d.status, SSD_OK);
	EXPECT_EQ(d.got[0], value);
	EXPECT_EQ(d.got[PAGE - 1], value);
}

/* The log, as "block.Tk" with * for parity pages, e for GC. */
static void expect_log(const char *want)
{
	char got[4096] = "";

	for (uint32_t i = 0; i < d.count; i++) {
		const struct entry *e = &d.log[i];
		const char *mark = e->source == NAND_SRC_BACKUP ? "*" : e->source == NAND_SRC_GC ? "g" : "";

		if (e->op == NAND_ERASE)
			snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%ux", i ? " " : "", e->block);
		else
			snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%u%c%u%s", i ? " " : "",
				 e->block, e->page & 1 ? 'M' : 'L', e->page / 2, mark);
	}
	if (strcmp(got, want)) {
		printf("programs: %s\nexpected: %s\n", got, want);
		failures++;
	}
}

static void writes(uint32_t from, uint32_t count)
{
	for (uint32_t i = from; i < from + count; i++)
		io(FTL_WRITE, i % 24, (uint8_t)(i + 1));
	rest();
}

/* ---- fixed order ------------------------------------------------------------- */

/* 8 pages: L0 L1 M0 L2 M1 L3 M2 M3, one after another: 4 * 20 + 4 * 50 us. */
static void page_ftl_fixed_order(void)
{
	make("page", NAND_ORDER_FPS, 16, 8);
	EXPECT_EQ(d.now, 16 * READ_NS);		/* mount: the first page of each block */
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
 * A parity page for L0, L1 when L1 is written, before M0; for L2, L3 before M2. Backup
 * block 1 is opened for the first: its pages too go in fixed order.
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
 * Three active blocks. The host takes LSB pages while there are any: L0, L1 of each; then
 * MSB pages of the first until its next is LSB again. A full block makes room for block 4.
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

/* A copy; only because the drive is idle, or with `free` blocks of a reserve of one. */
static uint32_t copy_to(bool idle, uint32_t busy, uint32_t free)
{
	struct front_ask q = { .who = FRONT_GC, .busy_permille = busy, .may_open = free > 0,
			       .plenty = free > 1, .idle = idle };

	return front_flex_policy.pick(&fr, 0, &q);
}

/* All of section 3.3.2, with a fast block 1 and slow blocks 2, 3 of 4 word lines. */
static void flex_choice(void)
{
	static struct front_plane plane;
	struct blk blk[4] = { { 0 } };
	struct blk_table bt = { .blk = blk };
	struct nand_geometry g = { .pages_per_block = 8 };

	fr = (struct front){ .c = { .policy = &front_flex_policy, .fast_above_permille = 800,
				    .slow_below_permille = 100 }, .g = &g, .bt = &bt, .slots = 2,
			     .word_lines = 4, .sequence = SEQ_TWO_PHASE, .plane = &plane, .quota = 1 };
	for (uint32_t i = 0; i < FRONT_SLOTS_MAX; i++)
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

/* Where copies go, with the same blocks. */
static void flex_copies(void)
{
	static struct front_plane plane;
	struct blk blk[4] = { { 0 } };
	struct blk_table bt = { .blk = blk };
	struct nand_geometry g = { .pages_per_block = 8 };

	fr = (struct front){ .c = { .policy = &front_flex_policy, .fast_above_permille = 800,
				    .slow_below_permille = 100, .gc_pages = FTL_GC_FAST }, .g = &g, .bt = &bt,
			     .slots = 2, .word_lines = 4, .sequence = SEQ_TWO_PHASE, .plane = &plane };
	for (uint32_t i = 0; i < FRONT_SLOTS_MAX; i++)
		plane.open[i] = BLK_NONE;
	plane.open[FRONT_FAST] = 1;
	plane.open[FRONT_SLOW] = 2;
	plane.slow_count = 1;
	EXPECT_EQ(copy_to(false, 0, 0), FRONT_FAST);		/* whatever u and q */
	EXPECT_EQ(copy_to(true, 1000, 9), FRONT_SLOW);		/* idle: MSB */
	plane.open[FRONT_FAST] = BLK_NONE;
	EXPECT_EQ(copy_to(false, 0, 2), FRONT_FAST);		/* a new block beside the reserve ... */
	EXPECT_EQ(copy_to(false, 0, 1), FRONT_SLOW);		/* ... not of it */
	plane.open[FRONT_SLOW] = BLK_NONE;
	EXPECT_EQ(copy_to(false, 0, 1), FRONT_FAST);		/* but if there is nothing else */
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

	fr.c.own = true;					/* a third block, and nothing else */
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
	EXPECT_EQ(copy_to(true, 801, 1), FRONT_COPIES);		/* no MSB page: not the host's LSB pages */
	plane.open[FRONT_SLOW] = 2;
	plane.slow_count = 3;	/* and the third: as many as a backup block can name */
	EXPECT_EQ(choose(FRONT_HOST, 801, true), FRONT_SLOW);
	plane.slow_count = 2;
	EXPECT_EQ(choose(FRONT_HOST, 801, true), FRONT_FAST);
}

/*
 * One write at a time without a buffer: one of three buffer pages, u = 333, so it
 * alternates. No slow block at first: L0 .. L3, and their parity page. Then M0, L0 of a
 * new block, M1, L1 ... q: 16 blocks * 4 LSB pages * 30 % = 19; -8 LSB, +4 MSB.
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
 * A buffer of 10 pages, written in one go. Pages leave when they are programmed, so u is
 * 1000, 900, 800 ... at the programs. q = 16 * 4 * 10 % = 6: two LSB pages, then alternate,
 * but there is no slow block before the fourth. Then, last LSB and u = 600: M, L, M, L; at
 * u = 200 and 100, below 250: M, M.
 */
static void flex_by_utilisation(void)
{
	struct ftl_io w = { .op = FTL_WRITE, .bytes = 10 * PAGE, .host = (void *)7 };

	make("flex", NAND_ORDER_RPS, 16, 8);
	d.fc.buffer_units = 10;
	d.fc.quota_permille = 100;
	d.fc.slow_below_permille = 250;		/* the last two pages: u = 200, 100 */
	remount();
	d.f->ops->submit(d.f, d.now, &w);
	until(1);
	rest();
	expect_log("0L0 0L1 0L2 0L3 1L0* 0M0 2L0 0M1 2L1 0M2 0M3");
	destroy();
}

/*
 * The same burst with u above u_high = 100 but for the last page, and q = 16 * 4 * 62 / 1000
 * = 3: L L L, and q is 0. Alternate: MSB wanted, no slow block, so L3 (q = -1). Its parity
 * page; M0 (q = 0), L (q = -1), M (q = 0), L, M and, u = 100, alternate: L.
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

/* ---- power ------------------------------------------------------------------------ */

static uint64_t lost_by_last_cut;

/* In the middle of the MSB program under way; true: it took the LSB page along. */
static bool cut(uint64_t seed)
{
	struct nand_stats s;

	nand_array_power_cut(d.ta.a, d.now + MSB_NS / 2, seed);
	nand_array_power_on(d.ta.a);
	d.ta.n->ops->get_stats(d.ta.n, &s);
	d.ta.n->ops->reset_stats(d.ta.n);
	lost_by_last_cut = s.paired_lost;
	remount();
	return s.paired_lost;
}

/*
 * Section 3.1.2: 0L0 and 0L1 hold LPNs 0 and 1, flushed; power is lost while 0M0 is programmed
 * with LPN 2. That takes LPN 0 along, or it does not; nothing else.
 */
static void page_ftl_loses_the_paired_page(void)
{
	uint32_t lost = 0, seed;

	for (seed = 0; seed < 8; seed++) {
		bool gone;

		make("page", NAND_ORDER_FPS, 16, 8);
		writes(0, 2);
		io(FTL_FLUSH, 0, 0);
		start(FTL_WRITE, 2, 3);
		gone = cut(seed);
		lost += gone;
		expect_content(0, gone ? 0 : 1);
		expect_content(1, 2);
		expect_content(2, gone ? 0 : 3);
		destroy();
	}
	EXPECT(lost > 0 && lost < seed);
}

/*
 * The same with parity: block 0 is held, so what it lost goes to block 2, which is erased first
 * (after a cut every blank block is). Programs after the parity page 1L0 could take that along,
 * so a new one, without the lost page, goes to block 3. Then block 0 is written on: 0L2.
 */
static void parity_ftl_rebuilds(void)
{
	uint32_t lost = 0;

	for (uint64_t seed = 0; seed < 8; seed++) {
		bool gone;

		make("parity", NAND_ORDER_FPS, 16, 8);
		writes(0, 2);
		start(FTL_WRITE, 2, 3);
		gone = cut(seed);
		lost += gone;
		expect_log(gone ? "2x 2L0 3x 3L0*" : "");
		expect_content(0, 1);
		expect_content(1, 2);
		expect_content(2, gone ? 0 : 3);
		d.count = 0;
		writes(3, 1);
		expect_log("0L2");
		destroy();
	}
	EXPECT(lost > 0);
}

/*
 * 0L0 .. 0L3 and their parity page, and a torn 0M0. The rebuilt page goes to an LSB page of a
 * new block; a second parity page covers 0L1 .. 0L3; block 0 goes on with 0M1, for the last
 * page was LSB. That torn, too, the other three of block 0 are still there.
 */
static void flex_rebuilds(void)
{
	uint32_t lost = 0, twice = 0;

	for (uint64_t seed = 0; seed < 32; seed++) {
		bool gone, again;

		make("flex", NAND_ORDER_RPS, 16, 8);
		writes(0, 4);
		start(FTL_WRITE, 4, 5);
		gone = cut(seed);
		lost += gone;
		expect_log(gone ? "2x 2L0 1L1*" : "");
		start(FTL_WRITE, 5, 6);
		until(0);
		again = gone && cut(seed * 7 + 1);
		twice += again;
		if (gone)
			expect_log(again ? "2L1 1L2*" : "");
		for (uint32_t i = 0; i < 4; i++)
			expect_content(i, (uint8_t)(i + 1));
		if (!gone || again)
			expect_content(4, gone ? 0 : 5);
		destroy();
	}
	EXPECT(lost > 0 && twice > 0);
}

/* A mount reads the LSB pages of a fast block, and the parity page covers those before it, too. */
static void flex_covers_what_was_written_before_a_mount(void)
{
	const void *oob;

	make("flex", NAND_ORDER_RPS, 16, 8);
	writes(0, 2);
	nand_array_power_cut(d.ta.a, d.now, 1);
	nand_array_power_on(d.ta.a);
	remount();
	writes(2, 2);
	expect_log("0L2 0L3 1x 1L0*");
	EXPECT_EQ(d.ta.n->ops->peek(d.ta.n, (ppn_t){ 8 }, NULL, &oob), NAND_OK);
	EXPECT_EQ(oob_get_lpn(oob, 0), 0 ^ 1 ^ 2 ^ 3);
	destroy();
}

/* Power lost after the last LSB page, before its parity page: the mount writes it. */
static void flex_pays_at_mount(void)
{
	make("flex", NAND_ORDER_RPS, 16, 8);
	writes(0, 3);
	start(FTL_WRITE, 3, 4);
	nand_array_power_cut(d.ta.a, d.now + LSB_NS, 1);
	nand_array_power_on(d.ta.a);
	remount();
	expect_log("1x 1L0*");
	for (uint32_t i = 0; i < 4; i++)
		expect_content(i, (uint8_t)(i + 1));
	destroy();
}

/* ---- no room for what was rebuilt ------------------------------------------------------ */

static void lose_power(void)
{
	nand_array_power_cut(d.ta.a, d.now, 1);
	nand_array_power_on(d.ta.a);
	remount();
}

/* Read-only: reads and flushes work, a write does not, and after a mount's try nothing is programmed. */
static void expect_read_only(const uint8_t *content, uint32_t count)
{
	for (int life = 0; life < 3; life++) {
		uint64_t changes = d.count;

		for (uint32_t i = 0; i < count; i++)
			expect_content(i, content[i]);
		io(FTL_FLUSH, 0, 0);
		EXPECT_EQ(d.status, SSD_OK);
		io(FTL_WRITE, 9, 9);
		EXPECT_EQ(d.status, SSD_E_WORNOUT);
		io(FTL_TRIM, 1, 0);
		EXPECT_EQ(d.status, SSD_E_WORNOUT);
		rest();
		EXPECT_EQ(d.count, changes);
		lose_power();
	}
}

/*
 * As in flex_rebuilds, but no block can be erased before it is used: 14 of 16 fail (0 holds the data,
 * 1 their parity page). Where 0L0 is lost, there is no page for it; the mount begins anew, reads the
 * 5 pages of block 0 twice and what else there is, and the drive is read-only: LPN 0 is read from memory.
 */
static void a_worn_drive_comes_up(void)
{
	static const uint8_t want[] = { 1, 2, 3, 4 };
	uint32_t lost = 0;

	for (uint64_t seed = 0; seed < 16; seed++) {
		bool gone;

		make("flex", NAND_ORDER_RPS, 16, 8);
		writes(0, 4);
		io(FTL_FLUSH, 0, 0);
		start(FTL_WRITE, 4, 5);
		d.no_erases = true;
		gone = cut(seed);
		lost += gone;
		if (gone) {
			EXPECT_EQ(d.count, 14);
			EXPECT_EQ(d.f->ops->stats(d.f)->retired_blocks, 14);
			EXPECT_EQ(d.f->ops->stats(d.f)->mounts, 1);
			expect_read_only(want, 4);
		}
		destroy();
	}
	EXPECT(lost > 0);
}

/*
 * Two dies: LPNs 0, 2, 4, 6 in 0L0 .. 0L3, and 1, 3, 5, 7 in 16L0 .. 16L3 of die 1. Both MSB pages are
 * torn, and both took their LSB pages along: LPNs 0 and 1. Then one program works, the next all fail,
 * whatever the block. So the first mount finds a new place for one of them, and keeps the other in memory.
 */
static void a_worn_drive_comes_up_half_made_good(void)
{
	static const uint8_t want[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	struct ftl_io two = { .op = FTL_WRITE, .offset = 8 * PAGE, .bytes = 2 * PAGE };
	uint32_t both = 0;

	for (uint64_t seed = 0; seed < 64; seed++) {
		channels = 2;
		make("flex", NAND_ORDER_RPS, 16, 8);
		channels = 1;
		writes(0, 8);
		io(FTL_FLUSH, 0, 0);
		d.f->ops->submit(d.f, d.now, &two);
		d.programs_left = 2;
		if (cut(seed) && lost_by_last_cut == 2) {
			both++;
			EXPECT_EQ(d.log[2].op, NAND_PROGRAM);	/* each die erases a block first */
			expect_read_only(want, 8);
		}
		destroy();
	}
	EXPECT(both > 0);
}

/* ---- the medium -------------------------------------------------------------------- */

/* The first parity page fails: it goes to another backup block, before the first MSB page. */
static void a_parity_page_fails(void)
{
	make("flex", NAND_ORDER_RPS, 16, 8);
	d.fail_at = 5;
	writes(0, 5);
	expect_log("0L0 0L1 0L2 0L3 1L0* 2L0* 0M0");
	EXPECT_EQ(d.f->ops->stats(d.f)->retired_blocks, 1);
	EXPECT(d.ta.n->ops->is_bad(d.ta.n, (pbn_t){ 1 }));
	destroy();
}

/* The first MSB page fails: its block is emptied and retired, the page goes elsewhere. */
static void a_slow_page_fails(void)
{
	make("flex", NAND_ORDER_RPS, 16, 8);
	d.fail_at = 6;
	writes(0, 10);	/* GC wakes when the next block is opened */
	for (uint32_t i = 0; i < 10; i++)
		expect_content(i, (uint8_t)(i + 1));
	EXPECT(d.ta.n->ops->is_bad(d.ta.n, (pbn_t){ 0 }));
	EXPECT_EQ(d.f->ops->stats(d.f)->retired_blocks, 1);
	destroy();
}

/* ---- idle GC ------------------------------------------------------------------------ */

/*
 * LPNs 0 .. 7 twice: 0L0 .. 0L3 1L0* 0M0 2L0 0M1 2L1 0M2 2L2 0M3 2L3 1L1* 2M0 3L0 2M1 3L1.
 * Of block 0, 0M2 and 0M3 are valid. A read 10 us after the last write's end takes 5 us; 30 us
 * after it the drive is idle: GC reads an MSB page (6 us), programs 2M2, again, 2M3; erases 0.
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
 * 8 blocks, GC below 4 free ones. LPNs 0 .. 15 in blocks 0 and 1, then 0 .. 5 and 8 .. 13 anew:
 * two valid pages are left of each, the last ones: 3L, 3M. LPNs 16 .. 20 fill block 3 and open
 * block 4, so 3 are free. Of equals, block 1 got there last. With its own block GC opens 5 for
 * the copies (2 free), erases 1 (3), and wants 0, too. In the host's block 4 two copies do.
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
		expect_content(i, (uint8_t)(i < 6 ? i + 17 : i < 8 ? i + 1 : i < 14 ? i + 15 : i < 16 ? i + 1 : i + 13));
	nand_array_power_cut(d.ta.a, d.now, 1);		/* and that is the block which is gone on with */
	nand_array_power_on(d.ta.a);
	remount();
	writes(22, 1);
	expect_log("4L2");
	destroy();
}

/*
 * As in flex_alternates, LPNs 0 .. 11: block 0 is full, backup block 1 has two pages, block 2 its
 * LSB pages. Then 0 to 2M0, and 1 to 3L0, the fourth of 12 blocks, so GC, with 9 as its threshold,
 * takes block 0. In the order of the pages are valid 0M0, 0M1, 0L2, 0M2, 0L3, 0M3.
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

/* Block 2 is full after three; the other three are the fast block's. */
static void flex_copies_to_slow_pages(void)
{
	six_pages_of_the_first_block_are_valid(FTL_GC_AUTO, FTL_GC_SLOW);
	expect_copies("2M1g 2M2g 2M3g 3L1g 3L2g 3L3g 1L2* 0x");
}

/* The fast block's last three, a parity page, and a new fast block. */
static void flex_copies_to_fast_pages(void)
{
	six_pages_of_the_first_block_are_valid(FTL_GC_SHARED, FTL_GC_FAST);
	expect_copies("3L1g 3L2g 3L3g 1L2* 4L0g 4L1g 4L2g 0x");
}

/* They alternate, and the host's last page was 3L0. */
static void flex_copies_as_the_host_writes(void)
{
	six_pages_of_the_first_block_are_valid(FTL_GC_AUTO, FTL_GC_AS_HOST);
	expect_copies("2M1g 3L1g 2M2g 3L2g 2M3g 3L3g 1L2* 0x");
}

/* Block 4, in both phases; the host's next is 2M1. A mount finds block 4 and the host's again. */
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
 * As in rtf_ftl_order, but 2L0 and 2L1 are LPNs 0 and 1 again. 4L0 opens the fifth of 17 blocks: GC,
 * with 13 as its threshold, copies six pages of block 0. Own: to block 5, in fixed order, with its
 * parity pages. Shared: MSB pages are 2M0 and 3M0 alone; the rest goes to the first block, 4.
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

/* ---- what is refused ------------------------------------------------------------------ */

static void expect_refused(const char *sentence)
{
	const char *why = "";

	EXPECT_EQ(d.ops->validate(&d.fc, &d.g, &why), SSD_E_INVAL);
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
	expect_refused("oob_bytes is too small: 28 + 9 ");
	d.g.oob_bytes = 64;
	d.fc.slow_below_permille = 801;
	expect_refused("slow_below_permille <= fast_above_permille");
	d.fc.slow_below_permille = 100;
	d.fc.gc_copyback = d.g.copyback = true;
	expect_refused("gc_copyback must be no: parity pages");
	d.fc.gc_copyback = false;
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
}

int main(void)
{
	RUN(page_ftl_fixed_order);
	RUN(parity_ftl_order);
	RUN(rtf_ftl_order);
	RUN(flex_choice);
	RUN(flex_copies);
	RUN(flex_alternates);
	RUN(flex_by_utilisation);
	RUN(flex_quota_runs_out);
	RUN(page_ftl_loses_the_paired_page);
	RUN(parity_ftl_rebuilds);
	RUN(flex_rebuilds);
	RUN(flex_covers_what_was_written_before_a_mount);
	RUN(flex_pays_at_mount);
	RUN(a_worn_drive_comes_up);
	RUN(a_worn_drive_comes_up_half_made_good);
	RUN(a_parity_page_fails);
	RUN(a_slow_page_fails);
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
