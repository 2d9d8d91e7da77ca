// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test failures of the medium: programs and erases that fail at random, retired blocks, unreadable
 * pages, used up spare blocks. Content is compared with a tag per unit. The host must get an error,
 * and never a wrong byte. test_fault [SEED]
 */
#include <signal.h>
#include <unistd.h>

#include "gc_policy.h"
#include "ftl.h"
#include "oob.h"
#include "page_ftl.h"
#include "test.h"

#define UNITS 120u
#define UNIT 1024u

static struct test_array t;
static struct ftl *f;
static void *mem;
static uint64_t now, rng, next;
static uint32_t fail_program_permille, fail_erase_permille;
static bool done;
static uint64_t tag[UNITS], newest;
static uint8_t buf[UNITS * UNIT];
static char id[64];

static void on_abort(int sig)
{
	(void)sig;
	(void)!write(2, id, strlen(id));
}

static void on_done(void *opaque, struct ftl_io *io)
{
	(void)opaque; (void)io;
	done = true;
}

static void on_copy(void *opaque, struct ftl_io *io, uint64_t at, void *b, size_t len)
{
	(void)opaque;
	test_copy(io, buf + at, b, len);
}

static enum nand_status on_fault(void *opaque, const struct nand_cmd *c)
{
	(void)opaque;
	if (c->op == NAND_PROGRAM && rnd(&rng) % 1000 < fail_program_permille)
		return NAND_PROG_FAIL;
	if (c->op == NAND_ERASE && rnd(&rng) % 1000 < fail_erase_permille)
		return NAND_ERASE_FAIL;
	return NAND_OK;
}

static uint32_t blocks = 24, dies = 2;
static bool pairs;	/* GC erases two victims at once */

static void make(uint64_t seed, uint32_t buffer)
{
	struct nand_array_config c = {
		.geo = { dies, 1, 1, 1, blocks, 8, 2048, 64, OOB_BYTES(2), 2048, 0, 1 + pairs, 1 },
		.timing = { 100, { 50000 }, { 200000 }, { 1000000 }, 1000 }, .payload = true };
	struct nand_hooks h = { .fault = on_fault };
	struct ftl_config fc = {
		.capacity_bytes = UNITS * UNIT, .unit_bytes = UNIT, .buffer_units = buffer,
		.gc_start_blocks = 4, .gc_stop_blocks = 5, .gc_urgent_blocks = 2,
		.gc_mode = FTL_GC_SLICED, .gc_slice_pages = 2, .multiplane = true, .gc_multiplane = true,
		.payload = true, .map_ns = 1, .buffer_ns = 1, .overhead_ns = 1, .max_unit_reads = 64,
		.gc_policy = &gc_greedy, .parallel_erase = pairs, .second_victim_pages = 8 };
	struct ftl_host host = { on_done, on_copy, NULL };
	size_t len;

	snprintf(id, sizeof(id), "replay: test_fault %" PRIu64 "\n", seed);
	rng = seed;
	test_array_make(&t, &c);
	nand_array_set_hooks(t.a, &h);
	len = ftl_footprint(ftl_list[0], &fc, &c.geo);
	mem = calloc(1, len);
	SSD_ASSERT(ftl_init(ftl_list[0], mem, len, &fc, t.n, &host, &f) == SSD_OK);
	SSD_ASSERT(f->ops->mount(f, 0, &now) == SSD_OK);
	memset(tag, 0, sizeof(tag));
	newest = 0;
	next = FTL_IDLE;
}

static void unmake(void)
{
	test_array_free(&t);
	free(mem);
	fail_program_permille = fail_erase_permille = 0;
}

static enum ssd_err run(struct ftl_io io)
{
	done = false;
	f->ops->submit(f, now, &io);
	while (!done) {
		next = f->ops->step(f, now);
		if (done)
			break;
		SSD_ASSERT(next != FTL_IDLE);	/* no hang */
		now = next;
	}
	if (io.done_ns > now)
		now = io.done_ns;
	f->ops->check(f);
	return io.status;
}

static enum ssd_err write_unit(uint32_t lpn)
{
	enum ssd_err e;

	newest++;
	for (uint32_t i = 0; i < UNIT; i += 8)
		memcpy(buf + i, &newest, 8);
	e = run((struct ftl_io){ .op = FTL_WRITE, .offset = lpn * UNIT, .bytes = UNIT });
	if (e == SSD_OK)
		tag[lpn] = newest;
	return e;
}

static void check_unit(uint32_t lpn)
{
	uint64_t v;

	EXPECT_EQ(run((struct ftl_io){ .op = FTL_READ, .offset = lpn * UNIT, .bytes = UNIT }), SSD_OK);
	for (uint32_t i = 0; i < UNIT; i += 8) {
		memcpy(&v, buf + i, 8);
		SSD_ASSERT(v == tag[lpn]);
	}
}

static void check_all(void)
{
	for (uint32_t lpn = 0; lpn < UNITS; lpn++)
		check_unit(lpn);
}

static uint64_t the_seed = 1;

static void failing_programs_and_erases_lose_nothing(void)
{
	uint64_t failed = 0, retired = 0;

	for (uint64_t s = the_seed; s < the_seed + 20; s++) {
		struct nand_stats ns;

		make(s, s % 2 ? 8 : 0);
		fail_program_permille = 3;
		fail_erase_permille = 10;
		for (uint32_t i = 0; i < 1500; i++) {
			enum ssd_err e = write_unit((uint32_t)(rnd(&rng) % UNITS));

			if (e != SSD_OK) {
				EXPECT_EQ(e, SSD_E_WORNOUT);
				break;
			}
		}
		fail_program_permille = fail_erase_permille = 0;
		check_all();
		t.n->ops->get_stats(t.n, &ns);
		failed += ns.program_fails + ns.erase_fails;
		retired += f->ops->stats(f)->retired_blocks;
		unmake();
	}
	EXPECT(failed >= 40);
	EXPECT(retired >= 40);
}

static void a_worn_out_drive_turns_read_only(void)
{
	enum ssd_err e = SSD_OK;
	uint32_t writes = 0;

	make(the_seed, 8);
	for (uint32_t lpn = 0; lpn < UNITS; lpn++)
		EXPECT_EQ(write_unit(lpn), SSD_OK);
	fail_erase_permille = 300;
	while (e == SSD_OK && writes++ < 100000)
		e = write_unit((uint32_t)(rnd(&rng) % UNITS));
	EXPECT_EQ(e, SSD_E_WORNOUT);
	check_all();
	EXPECT(run((struct ftl_io){ .op = FTL_FLUSH }) == SSD_OK);
	EXPECT(run((struct ftl_io){ .op = FTL_TRIM, .bytes = UNIT }) == SSD_E_WORNOUT);
	unmake();
}

/* No erase succeeds: there must be no crash and no hang, and flushed data must survive. */
static void a_drive_that_cannot_erase_says_so(void)
{
	enum ssd_err e = SSD_OK;
	uint32_t writes = 0;

	make(the_seed, 0);
	for (uint32_t lpn = 0; lpn < UNITS; lpn++)
		EXPECT_EQ(write_unit(lpn), SSD_OK);
	fail_erase_permille = 1000;
	while (e == SSD_OK && writes++ < 100000)
		e = write_unit(UNITS - 1);
	EXPECT(e == SSD_E_NOSPC || e == SSD_E_WORNOUT);
	for (uint32_t lpn = 0; lpn < UNITS - 1; lpn++)
		check_unit(lpn);
	unmake();
}

static void a_drive_that_cannot_program_says_so(void)
{
	enum ssd_err e = SSD_OK;
	uint32_t writes = 0;

	make(the_seed, 0);
	fail_program_permille = 1000;
	while (e == SSD_OK && writes++ < 10000)
		e = write_unit(1);
	EXPECT(e == SSD_E_NOSPC || e == SSD_E_WORNOUT);
	unmake();
}

/*
 * The program of one page fails 100 times while the other die goes on. When it succeeds, `stable` passes all pages that
 * ended meanwhile, wherever in the ring of ended pages they are.
 */
static uint64_t failing_page;
static uint32_t failures_left;

static enum nand_status fail_page(void *opaque, const struct nand_cmd *c)
{
	(void)opaque;
	if (c->op != NAND_PROGRAM || c->source != NAND_SRC_HOST || !failures_left ||
	    oob_get_head(c->oob).order != failing_page)
		return NAND_OK;
	failures_left--;
	return NAND_PROG_FAIL;
}

static void others_pass_a_page_that_fails_for_long(void)
{
	struct nand_hooks h = { .fault = fail_page };

	blocks = 150;
	for (failing_page = 64; failing_page <= 127; failing_page += 21) {
		make(the_seed, 8);
		nand_array_set_hooks(t.a, &h);
		failures_left = 100;
		for (uint32_t i = 0; i < 500; i++)
			EXPECT_EQ(write_unit(i % UNITS), SSD_OK);
		EXPECT_EQ(failures_left, 0);
		EXPECT_EQ(run((struct ftl_io){ .op = FTL_FLUSH }), SSD_OK);
		check_all();
		unmake();
	}
	blocks = 24;
}

/* GC's program fails: a read of the unit before it is programmed again still returns its data. */
static uint32_t gc_programs, failing_gc_program;
static bool gc_program_failed;

static enum nand_status fail_gc_program(void *opaque, const struct nand_cmd *c)
{
	(void)opaque;
	if (c->op != NAND_PROGRAM || c->source != NAND_SRC_GC || ++gc_programs != failing_gc_program)
		return NAND_OK;
	gc_program_failed = true;
	return NAND_PROG_FAIL;
}

static void reads_survive_a_failing_gc_program(void)
{
	struct nand_hooks h = { .fault = fail_gc_program };

	blocks = 12;	/* few blocks, so that victims hold valid units */
	for (failing_gc_program = 1; failing_gc_program < 40; failing_gc_program++) {
		gc_programs = 0;
		gc_program_failed = false;
		make(the_seed, 8);
		nand_array_set_hooks(t.a, &h);
		for (uint32_t i = 0; i < 1200 && !gc_program_failed; i++)
			EXPECT_EQ(write_unit((uint32_t)(rnd(&rng) % UNITS)), SSD_OK);
		EXPECT(gc_program_failed);
		/*
		 * all at once while it is under way: some are served before it is programmed again
		 */
		EXPECT_EQ(run((struct ftl_io){ .op = FTL_READ, .bytes = UNITS * UNIT }), SSD_OK);
		for (uint32_t lpn = 0; lpn < UNITS; lpn++) {
			uint64_t v;

			memcpy(&v, buf + lpn * UNIT, 8);
			EXPECT_EQ(v, tag[lpn]);
		}
		unmake();
	}
	blocks = 24;
}

/*
 * The n-th erase fails, for many n: alone, as the first of a pair, as the second. That block is
 * retired, the other one of the pair becomes free, and no data are lost.
 */
static uint32_t erases, failing_erase, group_of_failed, place_of_failed;

static enum nand_status fail_erase(void *opaque, const struct nand_cmd *c)
{
	(void)opaque;
	return c->op == NAND_ERASE && ++erases == failing_erase ? NAND_ERASE_FAIL : NAND_OK;
}

static void note_failed(void *opaque, uint64_t at_ns, const struct nand_cmd *c, unsigned int count)
{
	(void)opaque; (void)at_ns;
	for (unsigned int i = 0; i < count; i++)
		if (c[i].status == NAND_ERASE_FAIL) {
			group_of_failed = count;
			place_of_failed = i;
		}
}

static void either_erase_of_a_pair_may_fail(void)
{
	struct nand_hooks h = { .fault = fail_erase, .done = note_failed };
	uint32_t first = 0, second = 0;

	pairs = true;
	for (failing_erase = 1; failing_erase <= 40; failing_erase++) {
		const struct ftl_stats *s;
		struct nand_stats ns;

		make(the_seed, failing_erase % 2 ? 8 : 0);
		nand_array_set_hooks(t.a, &h);
		erases = group_of_failed = place_of_failed = 0;
		for (uint32_t i = 0; i < 2000; i++)
			EXPECT_EQ(write_unit((uint32_t)(rnd(&rng) % UNITS)), SSD_OK);
		while ((next = f->ops->step(f, now)) != FTL_IDLE)
			now = next;	/* no erase is under way */
		s = f->ops->stats(f);
		t.n->ops->get_stats(t.n, &ns);
		EXPECT_EQ(ns.erase_fails, 1);
		EXPECT_EQ(s->retired_blocks, 1);
		EXPECT_EQ(s->gc_blocks + 1, ns.ops[NAND_ERASE][NAND_SRC_GC]);
		EXPECT_EQ(s->second_victims, ns.parallel_erases);
		EXPECT_EQ(s->gc_runs + s->second_victims, ns.ops[NAND_ERASE][NAND_SRC_GC]);
		first += group_of_failed == 2 && place_of_failed == 0;
		second += group_of_failed == 2 && place_of_failed == 1;
		check_all();
		unmake();
	}
	EXPECT(first >= 3 && second >= 3);
	pairs = false;
}

static ppn_t lost_ppn;

static enum nand_status lose_page(void *opaque, const struct nand_cmd *c)
{
	(void)opaque;
	return c->op == NAND_READ && c->ppn.v == lost_ppn.v ? NAND_UNCORR : NAND_OK;
}

/* The units of an unreadable page return an error, also after GC moved them. */
static void an_uncorrectable_page_stays_an_error(void)
{
	struct nand_hooks h = { .fault = lose_page };
	uint32_t errors = 0, rounds;

	make(the_seed, 8);
	for (uint32_t lpn = 0; lpn < UNITS; lpn++)
		EXPECT_EQ(write_unit(lpn), SSD_OK);
	EXPECT_EQ(run((struct ftl_io){ .op = FTL_FLUSH }), SSD_OK);
	lost_ppn.v = 3;
	nand_array_set_hooks(t.a, &h);
	for (rounds = 0; rounds < 2; rounds++) {
		errors = 0;
		for (uint32_t lpn = 0; lpn < UNITS; lpn++) {
			enum ssd_err e = run((struct ftl_io){ .op = FTL_READ, .offset = lpn * UNIT,
							      .bytes = UNIT });
			EXPECT(e == SSD_OK || e == SSD_E_UNCORR);
			errors += e == SSD_E_UNCORR;
		}
		EXPECT_EQ(errors, 2);
		for (uint32_t i = 0; i < 1200; i++)	/* GC moves all other units */
			EXPECT_EQ(write_unit(i % 2 ? 110 + i % 10 : 100 + i % 7), SSD_OK);
	}
	unmake();
}

/* A partial write to lost data must not make the rest valid. */
static void a_partial_write_does_not_heal(void)
{
	struct nand_hooks h = { .fault = lose_page };
	struct ftl_io half = { .op = FTL_WRITE, .bytes = 512 }, all = { .op = FTL_READ, .bytes = UNIT };
	uint32_t lpn = UNITS;

	make(the_seed, 8);
	for (uint32_t i = 0; i < UNITS; i++)
		EXPECT_EQ(write_unit(i), SSD_OK);
	EXPECT_EQ(run((struct ftl_io){ .op = FTL_FLUSH }), SSD_OK);
	lost_ppn.v = 3;
	nand_array_set_hooks(t.a, &h);
	for (uint32_t i = 0; i < UNITS && lpn == UNITS; i++) {
		all.offset = (uint64_t)i * UNIT;
		if (run(all) == SSD_E_UNCORR)
			lpn = i;
	}
	EXPECT(lpn < UNITS);
	half.offset = all.offset;
	EXPECT_EQ(run(half), SSD_OK);
	EXPECT_EQ(run((struct ftl_io){ .op = FTL_FLUSH }), SSD_OK);
	EXPECT(run(all) == SSD_E_UNCORR);
	EXPECT_EQ(write_unit(lpn), SSD_OK);	/* a whole write heals the unit */
	EXPECT_EQ(run((struct ftl_io){ .op = FTL_FLUSH }), SSD_OK);
	check_unit(lpn);
	unmake();
}

static const ppn_t *hidden;	/* unreadable pages */
static uint32_t hidden_count;

static enum nand_status hide_pages(void *opaque, const struct nand_cmd *c)
{
	(void)opaque;
	for (uint32_t i = 0; i < hidden_count; i++)
		if (c->op == NAND_READ && c->ppn.v == hidden[i].v)
			return NAND_UNCORR;
	return NAND_OK;
}

static void mount_again(uint32_t hide)
{
	static const struct ftl_host host = { on_done, on_copy, NULL };
	struct nand_hooks h = { .fault = hide_pages };
	struct ftl_config fc = ((struct page_ftl *)f)->host.c;
	size_t len = ftl_footprint(ftl_list[0], &fc, &t.c.geo);

	hidden_count = hide;
	nand_array_set_hooks(t.a, &h);
	nand_array_power_cut(t.a, now, 1);
	nand_array_power_on(t.a);
	memset(mem, 0, len);
	SSD_ASSERT(ftl_init(ftl_list[0], mem, len, &fc, t.n, &host, &f) == SSD_OK);
	SSD_ASSERT(f->ops->mount(f, 0, &now) == SSD_OK);
	f->ops->check(f);
}

/* Write units 0 and 1, which fill one page. */
static void write_page(uint32_t ppn)
{
	const void *oob;

	EXPECT_EQ(write_unit(0), SSD_OK);
	EXPECT_EQ(write_unit(1), SSD_OK);
	EXPECT_EQ(run((struct ftl_io){ .op = FTL_FLUSH }), SSD_OK);
	EXPECT_EQ(t.n->ops->peek(t.n, (ppn_t){ ppn }, NULL, &oob), NAND_OK);
	EXPECT_EQ(oob_get_lpn(oob, 0), 0);
}

static uint64_t order_of(uint32_t ppn)
{
	const void *oob;

	EXPECT_EQ(t.n->ops->peek(t.n, (ppn_t){ ppn }, NULL, &oob), NAND_OK);
	return oob_get_head(oob).order;
}

/*
 * The newest page, ppn 1 with number 2, is unreadable at the first mount, which reads number 1. The
 * second mount can read neither it nor ppn 2, written in between. The third reads all. 2^20 plus
 * twice the number of unreadable pages are skipped, so the page written last always has the highest
 * number.
 */
static void a_page_that_comes_back_is_not_the_newest(void)
{
	static const ppn_t pages[] = { { 1 }, { 2 } };

	hidden = pages;
	dies = 1;
	blocks = 32;
	make(the_seed, 8);
	write_page(0);
	write_page(1);
	mount_again(1);
	write_page(2);
	EXPECT_EQ(order_of(2), 1 + (1 << 20) + 2 + 1);
	mount_again(0);
	check_unit(0);
	check_unit(1);
	mount_again(2);
	write_page(3);
	EXPECT_EQ(order_of(3), 1 + (1 << 20) + 4 + 1);
	mount_again(0);
	check_unit(0);
	check_unit(1);
	EXPECT_EQ(order_of(3), ((struct page_ftl *)f)->bt.issued);
	unmake();
	dies = 2;
	blocks = 24;
}

/* A page has a number near the end of 40 bits: all of the drive can be read, but not written. */
static void a_drive_without_numbers_is_read_only(void)
{
	uint8_t data[2 * UNIT] = { 7 }, oob[OOB_BYTES(2)];
	struct nand_cmd c;

	for (int late = 0; late < 2; late++) {
		struct oob_head h = { .order = OOB_SEQ_MAX - (1ull << 32) + (uint64_t)late };

		h.mark = h.order;
		make(the_seed, 8);
		oob_put_head(oob, &h);
		oob_put_unit(oob, 0, 5, h.order);
		oob_put_unit(oob, 1, OOB_NO_LPN, h.order);
		nand_fill_program(&c, NAND_SRC_HOST, 8, oob);
		c.data = data;
		nand_submit(t.n, now, &c, 1);
		SSD_ASSERT(c.status == NAND_OK);
		now = c.done_ns;
		mount_again(0);
		EXPECT_EQ(run((struct ftl_io){ .op = FTL_READ, .offset = 5 * UNIT, .bytes = UNIT }), SSD_OK);
		EXPECT_EQ(buf[0], 7);
		EXPECT_EQ(write_unit(0), late ? SSD_E_WORNOUT : SSD_OK);
		EXPECT_EQ(run((struct ftl_io){ .op = FTL_FLUSH }), SSD_OK);
		unmake();
	}
}

/* Write half a unit, or read a page, without waiting for it. */
static void begin(struct ftl_io *io, enum ftl_op op, uint32_t sector, uint32_t bytes)
{
	*io = (struct ftl_io){ .op = op, .offset = sector * FTL_SECTOR_BYTES, .bytes = bytes };
	memset(buf, (int)newest, bytes);
	f->ops->submit(f, now, io);
	next = f->ops->step(f, now);
}

/*
 * Units 0, 1 are on die 0, 2, 3 on die 1, 4, 5 and 8, 9 on die 0 again. While die 0 reads unit 8,
 * the first half of unit 0 is written, and after a read of unit 4 once more: two bases with a
 * read between them. The page of the first write is programmed on die 1 during the second
 * read, and fails; so the second base finds a page in the map that cannot be read, of which
 * the buffer still has the content. The other half, flushed long ago, survives all that.
 */
static void a_base_of_a_page_whose_program_failed(void)
{
	struct ftl_io io[6];

	make(9, 16);
	for (uint32_t lpn = 0; lpn < 12; lpn++)
		EXPECT_EQ(write_unit(lpn), SSD_OK);
	EXPECT_EQ(run((struct ftl_io){ .op = FTL_FLUSH }), SSD_OK);
	newest = 0xaa;
	begin(&io[0], FTL_READ, 16, UNIT);
	begin(&io[1], FTL_WRITE, 0, FTL_SECTOR_BYTES);
	begin(&io[2], FTL_FLUSH, 0, 0);
	begin(&io[3], FTL_READ, 8, UNIT);
	fail_program_permille = 1000;
	newest = 0xbb;
	begin(&io[4], FTL_WRITE, 0, FTL_SECTOR_BYTES);
	begin(&io[5], FTL_FLUSH, 0, 0);
	while (next != FTL_IDLE) {
		struct nand_stats s;

		now = next;
		next = f->ops->step(f, now);
		t.n->ops->get_stats(t.n, &s);
		if (s.program_fails)
			fail_program_permille = 0;
		f->ops->check(f);
	}
	EXPECT_EQ(run((struct ftl_io){ .op = FTL_READ, .bytes = UNIT }), SSD_OK);
	EXPECT_EQ(buf[0], 0xbb);
	EXPECT_EQ(buf[FTL_SECTOR_BYTES - 1], 0xbb);
	memcpy(&newest, buf + FTL_SECTOR_BYTES, sizeof(newest));
	EXPECT_EQ(newest, tag[0]);
	unmake();
}

int main(int argc, char **argv)
{
	signal(SIGABRT, on_abort);
	if (argc == 2)
		the_seed = strtoull(argv[1], NULL, 10);
	RUN(failing_programs_and_erases_lose_nothing);
	RUN(a_worn_out_drive_turns_read_only);
	RUN(a_drive_that_cannot_erase_says_so);
	RUN(a_drive_that_cannot_program_says_so);
	RUN(others_pass_a_page_that_fails_for_long);
	RUN(reads_survive_a_failing_gc_program);
	RUN(either_erase_of_a_pair_may_fail);
	RUN(an_uncorrectable_page_stays_an_error);
	RUN(a_partial_write_does_not_heal);
	RUN(a_page_that_comes_back_is_not_the_newest);
	RUN(a_drive_without_numbers_is_read_only);
	RUN(a_base_of_a_page_whose_program_failed);
	return test_result();
}
