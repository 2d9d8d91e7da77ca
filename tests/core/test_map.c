// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test the cached map of the page FTL: times of look-ups that hit and miss, computed by hand; the share
 * of misses; memory; settings that are refused; map pages that are lost; drives whose cache changes.
 * Power cuts are in test_cut and test_odd, contents in test_model.
 *
 * The drive has 512-byte pages and units, so a map page has 128 entries. Its array needs 100 ns for
 * a command, 50 us for a read, 200 us for a program, 1 ms for an erase, and 1 ns for each of a
 * page's 512 + 64 bytes on the bus.
 */
#include "ftl.h"
#include "gc_policy.h"
#include "oob.h"
#include "page_ftl.h"
#include "test.h"

#define PER 128u		/* entries of a map page */
#define UNITS 640u		/* of the small drive: five map pages */
#define CELL_READ 50000u
#define BUS (100u + 576u)
#define READ (BUS + CELL_READ)
#define PROG (BUS + 200000u)
#define MAP 200u
#define BUFFER 2000u
#define OVERHEAD 1000u
#define FRONT (MAP + OVERHEAD)

static struct test_array t;
static struct ftl_config fc;
static struct ftl *f;
static void *mem;
static uint64_t now, next;
static struct ftl_io last;
static uint32_t done_count;
static uint32_t tag_of[8192];		/* content written to each unit; 0: nothing */
static uint32_t read_tag;
static uint32_t broken_map_page;	/* reads of this page fail; 0: none */
static bool broken_for_all;		/* it fails for a mount's comparison, too */
static uint32_t programs_to_fail;	/* a bit for each of the next programs of map pages: it fails */

static void on_done(void *opaque, struct ftl_io *io)
{
	(void)opaque;
	last = *io;
	done_count++;
}

static void on_copy(void *opaque, struct ftl_io *io, uint64_t at, void *buf, size_t len)
{
	uint32_t lpn = (uint32_t)((io->offset + at) / 512);

	(void)opaque;
	if (io->op == FTL_WRITE) {
		memset(buf, 0, len);
		memcpy(buf, &tag_of[lpn], 4);
	} else {
		read_tag = 0;
		if (buf)
			memcpy(&read_tag, buf, 4);
	}
}

static enum nand_status on_fault(void *opaque, const struct nand_cmd *c)
{
	(void)opaque;
	if (c->op == NAND_PROGRAM && c->source == NAND_SRC_MAP) {
		bool fails = programs_to_fail & 1;

		programs_to_fail >>= 1;
		return fails ? NAND_PROG_FAIL : NAND_OK;
	}
	return broken_map_page && c->op == NAND_READ && c->ppn.v == broken_map_page &&
	       (broken_for_all || c->source == NAND_SRC_MAP) ?
	       NAND_UNCORR : NAND_OK;
}

static struct nand_array_config array_config(uint32_t blocks)
{
	return (struct nand_array_config){
		.geo = { 1, 1, 1, 1, blocks, 8, 512, 64, OOB_BYTES(1), 512, 0, 1, 1 },
		.timing = { 100, { CELL_READ }, { 200000 }, { 1000000 }, 1000 },
		.physics.disturb_tolerance = 255,
		.payload = true,
	};
}

static struct ftl_config ftl_config(uint32_t units, uint32_t frames)
{
	return (struct ftl_config){
		.capacity_bytes = units * 512ull, .unit_bytes = 512, .gc_start_blocks = 3,
		.gc_stop_blocks = 4, .gc_urgent_blocks = 2, .gc_mode = FTL_GC_SLICED, .gc_slice_pages = 1,
		.payload = true, .map_ns = MAP, .buffer_ns = BUFFER, .overhead_ns = OVERHEAD,
		.max_unit_reads = 64, .gc_policy = &gc_greedy, .map_cache_pages = frames,
	};
}

/* Mount what the array has. Returns the result of mount(). */
static int power_on(void)
{
	struct ftl_host host = { on_done, on_copy, NULL };
	size_t len = ftl_footprint(ftl_list[0], &fc, &t.c.geo);
	int err;

	free(mem);
	mem = calloc(1, len);
	SSD_ASSERT(ftl_init(ftl_list[0], mem, len, &fc, t.n, &host, &f) == SSD_OK);
	err = f->ops->mount(f, 0, &now);
	if (!err) {
		f->ops->check(f);
		next = f->ops->step(f, now);
	}
	return err;
}

static void power_cut(void)
{
	nand_array_power_cut(t.a, now, 1);
	nand_array_power_on(t.a);
}

static void make(uint32_t units, uint32_t frames, uint32_t blocks)
{
	struct nand_array_config c = array_config(blocks);
	struct nand_hooks hooks = { .fault = on_fault };

	memset(tag_of, 0, sizeof(tag_of));
	broken_map_page = 0;
	broken_for_all = false;
	c.payload = true;
	test_array_make(&t, &c);
	nand_array_set_hooks(t.a, &hooks);
	fc = ftl_config(units, frames);
	SSD_ASSERT(power_on() == SSD_OK);
}

static void drop(void)
{
	test_array_free(&t);
	free(mem);
	mem = NULL;
}

/* Step until nothing is left to do, and to the end of the last I/O. */
static void settle(void)
{
	while (next != FTL_IDLE) {
		now = next;
		next = f->ops->step(f, now);
	}
	if (last.done_ns > now)
		now = last.done_ns;
	next = f->ops->step(f, now);
}

/* Run one I/O until it has ended, and return its latency. settle() ends the background work. */
static uint64_t run(enum ftl_op op, uint32_t lpn, uint32_t units)
{
	struct ftl_io io = { .op = op, .offset = lpn * 512ull, .bytes = units * 512ull };
	uint32_t before = done_count;

	f->ops->submit(f, now, &io);
	next = f->ops->step(f, now);
	while (done_count == before && next != FTL_IDLE) {
		now = next;
		next = f->ops->step(f, now);
	}
	SSD_ASSERT(done_count == before + 1);
	return last.done_ns - last.submit_ns;
}

static uint64_t alone(enum ftl_op op, uint32_t lpn)
{
	static uint32_t tag;
	uint64_t ns;

	if (op == FTL_WRITE)
		tag_of[lpn] = ++tag;
	ns = run(op, lpn, 1);
	settle();
	f->ops->check(f);
	if (op == FTL_READ && last.status == SSD_OK)
		EXPECT_EQ(read_tag, tag_of[lpn]);
	return ns;
}

#define STAT(name) (f->ops->stats(f)->name)

/* ---- times -------------------------------------------------------------------- */

/*
 * The drive has one die and writes unbuffered, one request at a time. Three frames: the fourth map
 * page that a write needs waits until the first was written.
 */
static void times_of_misses(void)
{
	make(UNITS, 3, 92);
	for (uint32_t page = 0; page < 3; page++) {	/* map pages that were never written are not read */
		EXPECT_EQ(alone(FTL_WRITE, page * PER), FRONT + BUFFER + PROG);
		EXPECT_EQ(last.where.map_ns, MAP);
	}
	for (uint32_t page = 3; page < 5; page++) {	/* map pages 0 and 1 are evicted: one program each */
		EXPECT_EQ(alone(FTL_WRITE, page * PER), FRONT + BUFFER + PROG + PROG);
		EXPECT_EQ(last.where.map_ns, MAP + PROG);
		EXPECT_EQ(last.where.host_queue_ns, 0);
	}
	EXPECT_EQ(STAT(map_writes), 2);
	EXPECT_EQ(STAT(map_reads), 0);
	/* Map page 2 is written, map page 0 is read, and then the unit is programmed. */
	EXPECT_EQ(alone(FTL_WRITE, 0), FRONT + BUFFER + PROG + READ + PROG);
	EXPECT_EQ(last.where.map_ns, MAP + PROG + READ);
	EXPECT_EQ(STAT(map_misses), 6);
	EXPECT_EQ(STAT(map_hits), 0);

	EXPECT_EQ(alone(FTL_READ, 0), FRONT + READ);	/* hit */
	EXPECT_EQ(last.where.map_ns, MAP);
	EXPECT_EQ(last.where.cell_ns, CELL_READ);
	EXPECT_EQ(STAT(map_hits), 1);
	/* The look-up misses, and all frames are dirty: map page 3 is written, map page 1 is read, then the unit. */
	EXPECT_EQ(alone(FTL_READ, PER), FRONT + PROG + READ + READ);
	EXPECT_EQ(last.where.map_ns, MAP + PROG + READ);
	/* The look-up misses with a clean frame: the unit's read comes before the program of dirty map page 4. */
	EXPECT_EQ(alone(FTL_READ, 2 * PER), FRONT + READ + READ);
	EXPECT_EQ(last.where.map_ns, MAP + READ);
	EXPECT_EQ(last.where.cell_ns, CELL_READ);
	EXPECT_EQ(last.where.bus_ns, BUS);
	EXPECT_EQ(last.where.host_queue_ns, 0);
	EXPECT_EQ(last.where.gc_queue_ns, 0);
	drop();
}

/* The map page of a unit that was never written is not in memory: a look-up reads it and finds no address. */
static void unwritten_unit_costs_a_map_read(void)
{
	make(UNITS, 3, 92);
	for (uint32_t page = 0; page < 5; page++)
		alone(FTL_WRITE, page * PER);
	for (uint32_t page = 2; page < 5; page++)	/* now no frame is dirty */
		alone(FTL_READ, (page % 3) * PER);
	for (uint32_t i = 0; i < 2; i++)
		alone(FTL_READ, 4 * PER);
	EXPECT_EQ(run(FTL_READ, 3 * PER + 1, 1), FRONT + READ);
	EXPECT_EQ(last.where.map_ns, MAP + READ);
	EXPECT_EQ(last.where.cell_ns, 0);
	settle();
	drop();
}

/*
 * Reads in order, one at a time, with three frames: only the first waits for its map page, because the read in the
 * middle of each has the next one loaded behind it. Random reads elsewhere load nothing ahead.
 */
static void a_sequence_waits_for_one_map_page(void)
{
	uint64_t reads, misses;

	make(UNITS, 3, 92);
	for (uint32_t lpn = 0; lpn < UNITS; lpn++)
		alone(FTL_WRITE, lpn);
	for (uint32_t i = 0; i < 2 * 5; i++)	/* then all frames are clean, and hold the last map pages */
		alone(FTL_READ, i % 5 * PER);
	reads = STAT(map_reads);
	misses = STAT(map_misses);
	for (uint32_t lpn = 0; lpn < UNITS; lpn++) {
		EXPECT_EQ(alone(FTL_READ, lpn), FRONT + READ + (lpn ? 0 : READ));
		EXPECT_EQ(STAT(map_reads) - reads, 1 + (lpn + PER / 2) / PER - (lpn + PER / 2 >= UNITS));
	}
	EXPECT_EQ(STAT(map_misses) - misses, 1);
	for (uint32_t page = 0; page < 5; page++) {	/* the frames hold 2 to 4; each load evicts the next of them */
		alone(FTL_READ, page * PER + PER / 2 - 1);
		alone(FTL_READ, page * PER + PER / 2 + 1);
	}
	EXPECT_EQ(STAT(map_reads) - reads, 5 + 5);
	drop();
}

/* ---- the share of misses -------------------------------------------------------- */

#define M 40u			/* map pages */
#define FRAMES 10u
#define LOOKS 20000u

/* This independent model of LRU is a list of map pages. */
static bool model_hits(uint32_t *list, uint32_t page)
{
	uint32_t at = 0;
	bool hit;

	while (at < FRAMES && list[at] != page)
		at++;
	hit = at < FRAMES;
	if (!hit)
		at = FRAMES - 1;
	memmove(list + 1, list, at * sizeof(*list));
	list[0] = page;
	return hit;
}

/*
 * Uniform random reads: a look-up hits with the probability FRAMES / M, independent of all before.
 * So of N look-ups N (1 - FRAMES / M) miss, with the variance N p (1 - p): 15000, sigma 61.2.
 */
static void uniform_reads_miss_by_arithmetic(void)
{
	uint64_t hits = 0, before_hits, before_misses, rng = 12345;
	uint32_t list[FRAMES], looks = test_times(LOOKS);

	make(M * PER, FRAMES, 720);
	for (uint32_t page = 0; page < M; page++)
		alone(FTL_WRITE, page * PER + page);
	for (uint32_t page = 0; page < 2 * M; page++)	/* writes all that is dirty, then fills the frames in order */
		alone(FTL_READ, page % M * PER + page % M);
	for (uint32_t i = 0; i < FRAMES; i++)
		list[i] = M - 1 - i;
	before_hits = STAT(map_hits);
	before_misses = STAT(map_misses);
	for (uint32_t i = 0; i < looks; i++) {
		uint32_t page = (uint32_t)(rnd(&rng) % M);
		bool hit = model_hits(list, page);

		hits += hit;
		EXPECT_EQ(run(FTL_READ, page * PER + page, 1), FRONT + READ + (hit ? 0 : READ));
		settle();
	}
	EXPECT_EQ(STAT(map_hits) - before_hits, hits);
	EXPECT_EQ(STAT(map_misses) - before_misses, looks - hits);
	if (looks == LOOKS)
		EXPECT(looks - hits > 15000 - 5 * 62 && looks - hits < 15000 + 5 * 62);
	drop();
}

/* ---- memory ------------------------------------------------------------------------ */

static void footprint_shrinks_by_the_entries(void)
{
	struct nand_geometry g = { 2, 1, 1, 1, 40000, 64, 4096, 128, OOB_BYTES(1), 4096, 0, 1, 1 };
	struct ftl_config c = ftl_config(1, 0);
	uint64_t units = 4000000, frame = 4096 + sizeof(struct map_frame) + 64 + 8;
	uint64_t pages = (units + 1023) / 1024, blocks = 80000, bitmaps = (units + 32767) / 32768;
	uint64_t whole, more, small, large, fixed, image;
	const char *why;

	c.unit_bytes = 4096;
	c.capacity_bytes = units * 4096;
	SSD_ASSERT(ftl_validate(ftl_list[0], &c, &g, &why) == SSD_OK);
	whole = ftl_footprint(ftl_list[0], &c, &g);
	/*
	 * A read has a pointer, four numbers of 8 bytes and five of 4, which is 60 bytes, aligned to 8. With the
	 * cache there are two numbers of 4 more; without it a read has no such memory.
	 */
	c.max_unit_reads += 640;
	more = ftl_footprint(ftl_list[0], &c, &g);
	EXPECT_EQ(more - whole, 640 * 64);
	c.max_unit_reads -= 640;
	c.map_cache_pages = 64;
	SSD_ASSERT(ftl_validate(ftl_list[0], &c, &g, &why) == SSD_OK);
	small = ftl_footprint(ftl_list[0], &c, &g);
	c.map_cache_pages = 64 + 640;
	large = ftl_footprint(ftl_list[0], &c, &g);
	EXPECT_EQ(large - small, 640 * frame);
	/*
	 * Without the cache there are 4 bytes for each unit. With it there are for each map page a
	 * frame's number and an address, 4 bytes each, two bits, and what a mount notes, three numbers of 8 bytes; for
	 * each block a number of 8 bytes and a bit; and the 16 bytes for each of 64 reads of
	 * the host and 4 of the buffer. A checkpoint has 18 bytes for each block, 4 for each trim bitmap and the dead
	 * list, 9 for each map page and 35 more, in parts of 4080, and a mount notes 4 bytes for each block. A trim
	 * that the map owes has a bit for each unit. Tables begin at multiples of 64.
	 */
	image = (35 + blocks * 18 + (bitmaps + 1) * 4 + pages * 9 + 4079) / 4080 * 4080 + blocks * 4;
	fixed = pages * 32 + pages / 4 + blocks * 8 + blocks / 8 + 68 * 16 + image + units / 8;
	EXPECT(whole - small > units * 4 - 64 * frame - fixed - 18 * 64);
	EXPECT(whole - small < units * 4 - 64 * frame - fixed + 18 * 64);
}

/* ---- settings ---------------------------------------------------------------------- */

static void expect_refused(const struct ftl_config *c, const struct nand_geometry *g, uint32_t type, const char *word)
{
	const char *why = NULL;

	EXPECT_EQ(ftl_validate(ftl_list[type], c, g, &why), SSD_E_INVAL);
	EXPECT(why && !strncmp(why, "map_cache_pages", 15) && strstr(why, word));
	if (why && !strstr(why, word))
		printf("# refused with: %s\n", why);
}

static void refused_by_name(void)
{
	struct nand_geometry g = array_config(92).geo;
	struct ftl_config c = ftl_config(UNITS, 3);
	const char *why;

	SSD_ASSERT(ftl_validate(ftl_list[0], &c, &g, &why) == SSD_OK);
	c.map_cache_pages = 2;
	expect_refused(&c, &g, 0, "too small");
	c.map_cache_pages = 6;
	expect_refused(&c, &g, 0, "larger than the map");
	c.map_cache_pages = 5;
	SSD_ASSERT(ftl_validate(ftl_list[0], &c, &g, &why) == SSD_OK);
	c.gc_frontier = FTL_GC_SHARED;
	expect_refused(&c, &g, 0, "gc_frontier");
	c.gc_frontier = FTL_GC_AUTO;
	c.hot_cold = FTL_HOT_COLD_COUNT;
	expect_refused(&c, &g, 0, "hot_cold");
	c.hot_cold = FTL_HOT_COLD_OFF;
	g.erase_group_max = 2;
	c.parallel_erase = true;
	expect_refused(&c, &g, 0, "parallel_erase");
	c.parallel_erase = false;
	g.copyback = true;
	c.gc_copyback = true;
	expect_refused(&c, &g, 0, "gc_copyback");
	c.gc_copyback = false;
	g.bits_per_cell = 2;
	g.order = NAND_ORDER_FPS;
	expect_refused(&c, &g, 0, "order");
}

/* ---- map pages come from flash ------------------------------------------------------- */

/*
 * A map page that cannot be read: look-ups of its units fail, others do not, and writes are refused.
 * The next mount finds everything by the spare areas.
 */
static void lost_map_page(void)
{
	make(UNITS, 3, 92);
	for (uint32_t page = 0; page < 5; page++)
		alone(FTL_WRITE, page * PER);
	broken_map_page = page_ftl_of(f)->cache.hidden[page_ftl_of(f)->shape.map_lpn - UNITS];	/* map page 0 */
	SSD_ASSERT(broken_map_page != NONE);
	for (uint32_t i = 0; i < 2; i++) {
		EXPECT_EQ(run(FTL_READ, 1, 1), FRONT + (i ? 0 : PROG) + READ);
		settle();
		EXPECT_EQ(last.status, SSD_E_UNCORR);
	}
	for (uint32_t page = 4; page; page--) {
		alone(FTL_READ, page * PER);
		EXPECT_EQ(last.status, SSD_OK);
	}
	run(FTL_WRITE, 4 * PER, 1);
	EXPECT_EQ(last.status, SSD_E_NOSPC);
	settle();
	power_cut();
	broken_map_page = 0;
	SSD_ASSERT(power_on() == SSD_OK);
	for (uint32_t page = 0; page < 5; page++)
		alone(FTL_READ, page * PER);
	drop();
}

/* A trim whose map page cannot be read is not pursued: the drive becomes idle after one read. */
static void trim_of_a_lost_map_page(void)
{
	uint32_t steps = 0;

	make(UNITS, 3, 92);
	for (uint32_t page = 0; page < 5; page++)
		alone(FTL_WRITE, page * PER);
	broken_map_page = page_ftl_of(f)->cache.hidden[page_ftl_of(f)->shape.map_lpn - UNITS];	/* map page 0 */
	run(FTL_TRIM, 0, 1);
	EXPECT_EQ(last.status, SSD_OK);
	for (; next != FTL_IDLE && steps < 1000; steps++) {
		now = next;
		next = f->ops->step(f, now);
	}
	EXPECT(steps < 1000);
	EXPECT_EQ(STAT(map_reads), 1);
	f->ops->check(f);
	drop();
}

/*
 * A mount that cannot read map page 0 finds its entries by the spare areas. all: every read of the page fails,
 * also the one that compares it with flash. Otherwise only one read fails: a trim needs the map page, which was
 * not in memory when the power was cut.
 */
static void mount_without(bool all, bool trim)
{
	make(UNITS, 3, 92);
	for (uint32_t page = 0; page < 5; page++)
		for (uint32_t i = 0; i < 2; i++)
			alone(FTL_WRITE, page * PER + i);
	if (trim) {
		tag_of[0] = 0;
		run(FTL_TRIM, 0, 1);
		run(FTL_FLUSH, 0, 0);
	}
	broken_map_page = page_ftl_of(f)->cache.hidden[page_ftl_of(f)->shape.map_lpn - UNITS];
	broken_for_all = all;
	power_cut();
	EXPECT_EQ(power_on(), SSD_OK);
	settle();
	for (uint32_t page = 0; page < 5; page++) {
		alone(FTL_READ, page * PER);
		EXPECT_EQ(last.status, SSD_OK);
		alone(FTL_WRITE, page * PER + 1);
		EXPECT_EQ(last.status, SSD_OK);
	}
	drop();
}

static void mount_without_a_map_page(void)
{
	mount_without(true, false);
	mount_without(true, true);
	mount_without(false, true);
}

/* ---- what a mount reads ------------------------------------------------------------------ */

static uint64_t reads_of_a_mount(void)
{
	struct nand_stats before, after;

	power_cut();
	t.n->ops->get_stats(t.n, &before);
	SSD_ASSERT(power_on() == SSD_OK);
	t.n->ops->get_stats(t.n, &after);
	EXPECT_EQ(after.ops[NAND_PROGRAM][NAND_SRC_MAP], before.ops[NAND_PROGRAM][NAND_SRC_MAP]);
	return after.ops[NAND_READ][NAND_SRC_META] - before.ops[NAND_READ][NAND_SRC_META];
}

/*
 * There is no checkpoint: the mount has looked for one in the first page of each block. (With one: test_ckpt.c.)
 * Five units of five map pages lie in one block, the map pages in another: the survey reads six pages of each, one of
 * them erased, and one of each other block. Each map page is read twice, to load and to compare, and each unit
 * once more, to see that it is the one that the map page names.
 *
 * Then one unit is written again, and its map page is not. The survey finds one page more. Twice, to find the entry and
 * to keep it, the mount reads the map page, its old unit, the blocks with host page 3 or later (the survey's 7 + 6
 * pages), and the old unit again to see which is newer. Between these two times it reads the map page to compare it.
 */
static void a_mount_reads_the_tail(void)
{
	uint64_t survey = 92 + 6 + 6 + 90, again = 1 + 1 + 7 + 6 + 1;

	make(UNITS, 3, 92);
	for (uint32_t page = 0; page < 5; page++)
		alone(FTL_WRITE, page * PER);
	for (uint32_t page = 0; page < 3; page++)	/* now no frame is dirty */
		alone(FTL_READ, page * PER);
	EXPECT_EQ(STAT(map_writes), 5);
	EXPECT_EQ(reads_of_a_mount(), survey + 5 * 2 + 5);
	EXPECT_EQ(reads_of_a_mount(), survey + 5 * 2 + 5);
	alone(FTL_WRITE, 0);
	EXPECT_EQ(reads_of_a_mount(), survey + 1 + 4 * 2 + 4 + again + 1 + again);
	alone(FTL_READ, 0);
	drop();
}

/* ---- a cache that changes --------------------------------------------------------------- */

static void write_at_random(uint32_t count, uint64_t *rng)
{
	for (uint32_t i = 0; i < count; i++)
		alone(FTL_WRITE, (uint32_t)(rnd(rng) % UNITS));
}

static void read_everything(void)
{
	for (uint32_t lpn = 0; lpn < UNITS; lpn++)
		alone(FTL_READ, lpn);
}

/*
 * The same drive with another cache, or with none, after each power cut: from 0 to 3 frames all map
 * pages are stale, from 5 to 3 more than there are frames.
 */
static void another_cache_after_each_cut(void)
{
	static const uint32_t frames[] = { 0, 3, 5, 3, 0, 4, 5, 0, 5, 3 };
	uint64_t rng = 77;

	make(UNITS, 0, 92);
	for (uint32_t i = 0; i < sizeof(frames) / sizeof(*frames); i++) {
		fc.map_cache_pages = frames[i];
		SSD_ASSERT(power_on() == SSD_OK);
		read_everything();
		write_at_random(300, &rng);
		power_cut();
	}
	SSD_ASSERT(power_on() == SSD_OK);
	read_everything();
	drop();
}

/*
 * Five map pages are stale and there are three frames, so the mount writes three map pages. A program
 * fails, whichever of them it is; or two do.
 */
static void programs_of_a_mount_fail(void)
{
	static const uint32_t fails[] = { 1, 2, 4, 5, 12 };

	for (uint32_t i = 0; i < sizeof(fails) / sizeof(*fails); i++) {
		make(UNITS, 0, 92);
		for (uint32_t page = 0; page < 5; page++)
			alone(FTL_WRITE, page * PER);
		power_cut();
		fc.map_cache_pages = 3;
		programs_to_fail = fails[i];
		SSD_ASSERT(power_on() == SSD_OK);
		EXPECT_EQ(programs_to_fail, 0);
		read_everything();
		drop();
	}
}

/* ---- without payload ----------------------------------------------------------------------- */

struct sums { uint64_t now, hits, misses, reads, writes, copies, gc; };

static struct sums random_run(bool payload)
{
	struct nand_array_config c = array_config(92);
	uint64_t rng = 99;
	struct sums s;

	make(UNITS, 3, 92);
	drop();
	c.payload = payload;
	test_array_make(&t, &c);
	fc.payload = payload;
	SSD_ASSERT(power_on() == SSD_OK);
	page_ftl_of(f)->cache.ckpt.period = ~(uint64_t)0;
	for (uint32_t i = 0; i < 3000; i++) {
		run(rnd(&rng) % 3 ? FTL_WRITE : rnd(&rng) % 8 ? FTL_READ : FTL_TRIM, (uint32_t)(rnd(&rng) % UNITS), 1);
		settle();
	}
	f->ops->check(f);
	s = (struct sums){ now, STAT(map_hits), STAT(map_misses), STAT(map_reads), STAT(map_writes),
			   STAT(map_copies), STAT(gc_units) };
	drop();
	return s;
}

/*
 * A drive without payload keeps the content of its map pages, so it has the same times and counts. Both drives take no
 * checkpoints, because these need payload.
 */
static void without_payload(void)
{
	struct sums with = random_run(true), without = random_run(false);

	EXPECT(!memcmp(&with, &without, sizeof(with)));
	EXPECT(with.reads && with.writes && with.copies && with.gc);
}

int main(void)
{
	RUN(times_of_misses);
	RUN(unwritten_unit_costs_a_map_read);
	RUN(a_sequence_waits_for_one_map_page);
	RUN(uniform_reads_miss_by_arithmetic);
	RUN(footprint_shrinks_by_the_entries);
	RUN(refused_by_name);
	RUN(lost_map_page);
	RUN(trim_of_a_lost_map_page);
	RUN(mount_without_a_map_page);
	RUN(a_mount_reads_the_tail);
	RUN(another_cache_after_each_cut);
	RUN(programs_of_a_mount_fail);
	RUN(without_payload);
	return test_result();
}
