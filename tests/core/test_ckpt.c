// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test the checkpoint of a cached map (ftl/page/map/ckpt.c): what a mount reads with one, by arithmetic; the same
 * state as without, after random work, at every NAND command from a checkpoint's begin to its end, and at some of the
 * others; with another cache; how old the newest one is on a drive that is never idle. Power cuts of all kinds are in
 * test_cut and test_odd, damaged drives in fuzz_drive.
 *
 * The small drive has one die, blocks of eight 512-byte pages, a unit each, and so 128 entries in a map page. The image
 * has 35 + 18 * blocks + 4 * 2 (a trim bitmap, the dead list) + 9 * map pages bytes, and a page takes 496 of them.
 */
#include "ftl.h"
#include "gc_policy.h"
#include "oob.h"
#include "page_ftl.h"
#include "test.h"

#define PER 128u
#define UNITS 640u		/* five map pages */
#define BLOCKS 92u
#define NEVER (~(uint64_t)0)	/* a period without checkpoints */

struct drive {
	struct test_array t;
	struct ftl *f;
	void *mem;
	uint64_t now, next;
	bool blind;		/* pages of checkpoints cannot be read, apart from their spare areas */
};

static struct drive first, second, third;
static struct ftl_config fc;
static struct shape { uint32_t channels, planes, blocks, page_bytes, units, frames; } shape;
static const struct shape one_die = { 1, 1, BLOCKS, 512, UNITS, 3 };
static uint32_t gc_start = 3;	/* free blocks of a plane */
static bool payload = true;
static uint32_t handles;
static uint64_t rng;
static uint32_t pending;
static enum ssd_err expected = SSD_OK;	/* the status of requests */

static void on_done(void *opaque, struct ftl_io *io)
{
	(void)opaque;
	SSD_ASSERT(io->status == expected);
	io->host = NULL;	/* write_on() may use it again */
	pending--;
}

static void on_copy(void *opaque, struct ftl_io *io, uint64_t at, void *buf, size_t len)
{
	(void)opaque, (void)at;
	if (io->op == FTL_WRITE)
		memset(buf, (int)(rng & 0xff), len);
}

static enum nand_status on_fault(void *opaque, const struct nand_cmd *c)
{
	const struct drive *d = opaque;
	const void *oob = NULL;

	if (!d->blind || c->op != NAND_READ || c->ecc_words == NAND_OOB_ONLY ||
	    d->t.n->ops->peek(d->t.n, c->ppn, NULL, &oob) != NAND_OK)
		return NAND_OK;
	return oob_get_lpn(oob, 0) == page_ftl_of(d->f)->shape.ckpt_lpn ? NAND_UNCORR : NAND_OK;
}

static struct page_ckpt *ckpt_of(const struct drive *d)
{
	return &page_ftl_of(d->f)->cache.ckpt;
}

static void set_hooks(struct drive *d, void (*done)(void *, uint64_t, const struct nand_cmd *, unsigned int))
{
	struct nand_hooks hooks = { .fault = on_fault, .done = done, .opaque = d };

	nand_array_set_hooks(d->t.a, &hooks);
}

static void make(struct drive *d)
{
	struct nand_array_config c = {
		.geo = { shape.channels, 1, 1, shape.planes, shape.blocks, 8, shape.page_bytes, 64,
			 OOB_BYTES(shape.page_bytes / 512) + (handles ? HANDLES_OOB_BYTES : 0), 512, 0, 1, 1 },
		.timing = { 100, { 50000 }, { 200000 }, { 1000000 }, 1000 },
		.physics.disturb_tolerance = 255,
		.payload = payload,
	};

	fc = (struct ftl_config){
		.capacity_bytes = shape.units * 512ull, .unit_bytes = 512, .gc_start_blocks = gc_start,
		.gc_stop_blocks = gc_start + 1, .gc_urgent_blocks = 2, .gc_mode = FTL_GC_SLICED, .gc_slice_pages = 1,
		.payload = payload,
		.max_unit_reads = 64, .gc_policy = &gc_greedy, .map_cache_pages = shape.frames,
		.placement_handles = handles, .placement_groups = 1,
		.buffer_units = 4 * shape.page_bytes / 512, .multiplane = shape.planes > 1, .gc_multiplane = true,
	};
	test_array_make(&d->t, &c);
	d->mem = calloc(1, ftl_footprint(ftl_list[0], &fc, &c.geo) * 2);
	d->blind = false;
	set_hooks(d, NULL);
}

static void drop(struct drive *d)
{
	test_array_free(&d->t);
	free(d->mem);
}

/*
 * Mount, and begin nothing else: GC may begin with another command, since it does not know the marks of a
 * checkpoint's block.
 */
static void mount_only(struct drive *d, uint64_t period)
{
	struct ftl_host host = { on_done, on_copy, NULL };
	size_t len = ftl_footprint(ftl_list[0], &fc, &d->t.c.geo);

	memset(d->mem, 0, len);
	SSD_ASSERT(ftl_init(ftl_list[0], d->mem, len, &fc, d->t.n, &host, &d->f) == SSD_OK);
	ckpt_of(d)->period = period;
	SSD_ASSERT(d->f->ops->mount(d->f, 0, &d->now) == SSD_OK);
	ckpt_of(d)->period = period;
	d->f->ops->check(d->f);
}

static void mount(struct drive *d, uint64_t period)
{
	mount_only(d, period);
	d->next = d->f->ops->step(d->f, d->now);
}

static void settle(struct drive *d)
{
	while (d->next != FTL_IDLE) {
		d->now = d->next;
		d->next = d->f->ops->step(d->f, d->now);
	}
	SSD_ASSERT(!pending);
}

static void run(struct drive *d, enum ftl_op op, uint32_t lpn, uint32_t units)
{
	static struct ftl_io io;

	io = (struct ftl_io){ .op = op, .offset = lpn * 512ull, .bytes = units * 512ull };
	pending++;
	d->f->ops->submit(d->f, d->now, &io);
	d->next = d->f->ops->step(d->f, d->now);
	while (pending) {
		SSD_ASSERT(d->next != FTL_IDLE);
		d->now = d->next;
		d->next = d->f->ops->step(d->f, d->now);
	}
}

static uint64_t meta_reads(const struct drive *d)
{
	struct nand_stats s;

	d->t.n->ops->get_stats(d->t.n, &s);
	return s.ops[NAND_READ][NAND_SRC_META];
}

static uint64_t reads_of_a_mount(struct drive *d)
{
	uint64_t before = meta_reads(d);

	nand_array_power_cut(d->t.a, d->now, 1);
	nand_array_power_on(d->t.a);
	mount(d, NEVER);
	return meta_reads(d) - before;
}

/* Write five units in five map pages, and read until no frame is dirty. Then write a checkpoint. */
static void five_units_and_a_checkpoint(struct drive *d)
{
	fc.buffer_units = 0;
	mount(d, NEVER);
	for (uint32_t page = 0; page < 5; page++) {
		run(d, FTL_WRITE, page * PER, 1);
		settle(d);
	}
	for (uint32_t page = 0; page < 3; page++) {
		run(d, FTL_READ, page * PER, 1);
		settle(d);
	}
	ckpt_of(d)->period = 5;
	run(d, FTL_READ, 0, 1);
	settle(d);
	EXPECT(ckpt_of(d)->held[0] != BLK_NONE);
	EXPECT_EQ(ckpt_of(d)->pages, (35 + 18 * BLOCKS + 4 * 2 + 9 * 5 + 495) / 496);
}

/* ---- what a mount reads ---------------------------------------------------------- */

/*
 * A mount reads the first page of each block, and the checkpoint's pages. Then the survey reads one erased page of each
 * block: the one behind what is written in the blocks of units, of map pages and of the checkpoint, and the first one
 * of the others. Each map page is read twice, to load it and to compare.
 *
 * Then a unit is written, and its map page is not: the mount reads that unit's page, too. So the map page has a tail.
 * To find what changed, the mount loads it, reads the tail (two pages of one block, one of them erased) and the unit's
 * old page, to see which is newer, and loads the map page again to compare. To keep the changed entry, it repeats all
 * of these reads but the last.
 */
static void reads_by_arithmetic(void)
{
	uint64_t fixed = BLOCKS + 4 + (BLOCKS - 3) + 3;

	shape = one_die;
	make(&first);
	five_units_and_a_checkpoint(&first);
	EXPECT_EQ(reads_of_a_mount(&first), fixed + 5 * 2);
	EXPECT(ckpt_of(&first)->held[0] != BLK_NONE);
	EXPECT_EQ(reads_of_a_mount(&first), fixed + 5 * 2);
	run(&first, FTL_WRITE, 0, 1);
	settle(&first);
	EXPECT_EQ(reads_of_a_mount(&first), fixed + 1 + 4 * 2 + 2 * (1 + 2 + 1) + 1);
	first.blind = true;	/* the same without a checkpoint: one page of it is tried */
	EXPECT_EQ(reads_of_a_mount(&first), BLOCKS + 1 +	/* the first pages and the attempt */
					    7 + 6 + 5 + (BLOCKS - 3) +	/* the survey */
					    4 * 2 + 4 +		/* map pages, and the units that they name */
					    2 * (1 + 1 + 7 + 6 + 5 + 1) + 1);
	EXPECT_EQ(ckpt_of(&first)->held[0], BLK_NONE);
	drop(&first);
}

/* ---- the same state as after a survey ------------------------------------------------------ */

static uint32_t entry_of(const struct page_ftl *p, uint32_t lpn)
{
	uint32_t at;
	const void *data = NULL;

	if (map_holds(p, lpn))
		return *map_entry(p, lpn);
	at = *map_entry(p, p->shape.map_lpn + lpn / p->cache.per * p->shape.upp);
	if (at == NONE)
		return NONE;
	SSD_ASSERT(p->host.n->ops->peek(p->host.n, (ppn_t){ at / p->shape.upp }, &data, NULL) == NAND_OK);
	return ((const uint32_t *)data)[lpn % p->cache.per];
}

/* Returns the sequence of the unit's version there. */
static uint64_t version_at(const struct page_ftl *p, uint32_t lpn, uint32_t at)
{
	const void *oob = NULL;

	SSD_ASSERT(at != NONE && p->host.n->ops->peek(p->host.n, (ppn_t){ at / p->shape.upp }, NULL, &oob) == NAND_OK);
	SSD_ASSERT(oob_get_lpn(oob, at % p->shape.upp) == lpn);
	return oob_get_seq(oob, at % p->shape.upp);
}

/*
 * The versions are the same. If a mount wrote the dead list, GC may have begun, with different commands, since it does
 * not know the marks in a checkpoint's block; otherwise all else is the same, too. Returns false if that was not
 * compared.
 */
static bool expect_same(const struct page_ftl *a, const struct page_ftl *b, bool wrote)
{
	uint32_t bytes = (uint32_t)geo_pages(a->g) * a->shape.upp / 8;

	for (uint32_t lpn = 0; lpn < (wrote ? a->shape.map_lpn : a->shape.all_lpns); lpn++) {
		uint32_t at = entry_of(a, lpn), other = entry_of(b, lpn);

		SSD_ASSERT(at == other || (wrote && version_at(a, lpn, at) == version_at(b, lpn, other)));
	}
	SSD_ASSERT(!memcmp(a->map.trimmed, b->map.trimmed, a->shape.lpns / 8));
	SSD_ASSERT(a->map.mapped == b->map.mapped && a->map.trims == b->map.trims);
	SSD_ASSERT(a->log.dead_count >= b->log.dead_count);
	if (wrote)
		return false;
	SSD_ASSERT(!memcmp(a->map.valid, b->map.valid, bytes));
	for (uint32_t i = 0; i < geo_blocks(a->g); i++) {
		const struct blk *k = &a->bt.blk[i], *l = &b->bt.blk[i];

		SSD_ASSERT(k->valid == l->valid);
		SSD_ASSERT(!k->valid || (k->next_page == l->next_page && k->last_order == l->last_order &&
					 k->map == l->map && k->copies == l->copies));
	}
	for (uint32_t i = 0; i < (a->fr.slots + FRONT_SPARES) * a->shape.planes; i++)
		SSD_ASSERT(a->fr.plane[i % a->shape.planes].open[i / a->shape.planes] ==
			   b->fr.plane[i % a->shape.planes].open[i / a->shape.planes]);
	return true;
}

static uint64_t programs_of(const struct drive *d)
{
	struct nand_stats s;
	uint64_t sum = 0;

	d->t.n->ops->get_stats(d->t.n, &s);
	for (uint32_t i = 0; i < NAND_NSOURCES; i++)
		sum += s.ops[NAND_PROGRAM][i];
	return sum;
}

static uint64_t compared, in_full, with_ckpt, commands;

static void compare_at(uint64_t at_ns, uint64_t seed)
{
	uint64_t before;

	second.blind = false;
	test_lose_power(&second.t, &first.t, at_ns, seed);
	before = programs_of(&second);
	mount_only(&second, NEVER);
	test_lose_power(&third.t, &first.t, at_ns, seed);
	third.blind = true;
	mount_only(&third, NEVER);
	SSD_ASSERT(ckpt_of(&third)->held[0] == BLK_NONE);
	in_full += expect_same(page_ftl_of(second.f), page_ftl_of(third.f), programs_of(&second) != before);
	with_ckpt += ckpt_of(&second)->held[0] != BLK_NONE;
	compared++;
}

static void each_command(void *opaque, uint64_t now_ns, const struct nand_cmd *c, unsigned int count)
{
	(void)opaque;
	commands++;
	if (c->op == NAND_READ || (ckpt_of(&first)->state == CKPT_NONE && commands % 16))
		return;
	for (int when = 0; when < 3; when++)
		compare_at(test_cut_time(now_ns, &c[count - 1], when), commands * 0x9e3779b97f4a7c15u + (uint64_t)when);
}

static void random_work(struct drive *d, uint32_t requests)
{
	static struct ftl_io io[3];

	for (uint32_t i = 0; i < requests; i += 3) {
		for (uint32_t k = 0; k < 3; k++) {
			uint64_t dice = rnd(&rng) % 16;
			uint32_t lpn = (uint32_t)(rnd(&rng) % (rnd(&rng) % 2 ? shape.units : 40));
			uint32_t most = shape.units - lpn < 4 ? shape.units - lpn : 4;

			io[k] = (struct ftl_io){ .op = dice < 12 ? FTL_WRITE : dice < 14 ? FTL_TRIM : FTL_FLUSH,
						 .offset = lpn * 512ull, .bytes = (1 + rnd(&rng) % most) * 512 };
			pending++;
			d->f->ops->submit(d->f, d->now, &io[k]);
		}
		d->next = d->f->ops->step(d->f, d->now);
		while (pending) {
			d->now = d->next;
			d->next = d->f->ops->step(d->f, d->now);
		}
		if (i % 7 == 0)
			settle(d);
	}
	settle(d);
}

/*
 * A checkpoint is due every 60 programmed pages. Each is compared with the survey from its begin to its end, and so are
 * some mounts after further work, with GC and trims, up to the next one.
 */
static void as_without(const struct shape *s)
{
	shape = *s;
	make(&first);
	make(&second);
	make(&third);
	compared = in_full = with_ckpt = commands = 0;
	rng = 2026;
	mount(&first, 60);
	set_hooks(&first, each_command);
	random_work(&first, test_times(1500));
	printf("# %" PRIu64 " mounts compared, %" PRIu64 " of them in full, %" PRIu64 " by a checkpoint, %" PRIu64
	       " GC calls\n", compared, in_full, with_ckpt, first.f->ops->stats(first.f)->gc_runs);
	EXPECT(in_full > compared / 2);
	EXPECT(with_ckpt > compared / 2);
	EXPECT(test_times(100) < 100 || first.f->ops->stats(first.f)->gc_runs);
	drop(&first);
	drop(&second);
	drop(&third);
}

static const struct shape two_dies = { 2, 1, 48, 512, 600, 4 };
static const struct shape planes = { 1, 2, 96, 1024, 2000, 7 };

/* ---- another cache --------------------------------------------------------------------- */

/* Checkpoints stay valid if a mount changes the size of the map's cache, or has the whole map in memory. */
static void another_cache(void)
{
	static const uint32_t sizes[] = { 5, 3, 0, 4, 0, 0, 3 };

	shape = one_die;
	make(&first);
	make(&second);
	make(&third);
	compared = with_ckpt = 0;
	rng = 7;
	mount(&first, 60);
	random_work(&first, 300);
	for (uint32_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		fc.map_cache_pages = sizes[i];
		nand_array_power_cut(first.t.a, first.now, 1);
		nand_array_power_on(first.t.a);
		mount(&first, 60);
		random_work(&first, 150);
		if (sizes[i])
			compare_at(first.now, i);
	}
	EXPECT_EQ(compared, 4);
	EXPECT_EQ(with_ckpt, 4);
	drop(&first);
	drop(&second);
	drop(&third);
}

/* ---- what a mount did not look at ----------------------------------------------------------- */

/*
 * An entry that names another LPN's unit, as in a damaged drive file: its read is a media error.
 */
static void an_entry_that_lies(void)
{
	struct page_ftl *p;
	uint32_t right;

	shape = one_die;
	make(&first);
	five_units_and_a_checkpoint(&first);
	p = page_ftl_of(first.f);
	run(&first, FTL_READ, PER, 1);
	run(&first, FTL_READ, 0, 1);
	settle(&first);
	SSD_ASSERT(map_holds(p, 0) && map_holds(p, PER));
	right = *map_entry(p, 0);
	*map_entry(p, 0) = *map_entry(p, PER);
	expected = SSD_E_UNCORR;
	run(&first, FTL_READ, 0, 1);
	expected = SSD_OK;
	run(&first, FTL_READ, PER, 1);
	run(&first, FTL_READ, 2 * PER, 1);
	*map_entry(p, 0) = right;
	run(&first, FTL_READ, 0, 1);
	settle(&first);
	first.f->ops->check(first.f);
	drop(&first);
}

/* ---- a drive that is never idle --------------------------------------------------------------- */

#define DEPTH 16u

static struct ftl_io ring[DEPTH];

/* Submit a write of one random unit when fewer than DEPTH are under way. */
static void write_on(struct drive *d)
{
	uint32_t i = 0;

	while (pending >= DEPTH) {
		SSD_ASSERT(d->next != FTL_IDLE);
		d->now = d->next;
		d->next = d->f->ops->step(d->f, d->now);
	}
	while (ring[i].host)
		i++;
	ring[i] = (struct ftl_io){ .op = FTL_WRITE, .offset = rnd(&rng) % shape.units * 512, .bytes = 512, .host = d };
	pending++;
	d->f->ops->submit(d->f, d->now, &ring[i]);
	d->next = d->f->ops->step(d->f, d->now);
}

struct watch {
	uint32_t held;		/* first block of the newest complete checkpoint, or BLK_NONE */
	uint32_t lost;		/* checkpoints that GC took */
	uint64_t t0, oldest;	/* pages programmed before t0 of that one; highest number since, at any moment */
};

static void watch(struct watch *w, const struct drive *d)
{
	const struct page_ckpt *c = ckpt_of(d);

	w->lost += w->held != BLK_NONE && c->held[0] == BLK_NONE;
	if (c->held[0] != w->held && c->held[0] != BLK_NONE)
		w->t0 = c->begun_at;
	w->held = c->held[0];
	if (programs_of(d) - w->t0 > w->oldest)
		w->oldest = programs_of(d) - w->t0;
}

/*
 * All units are written in order, and then overwritten at random without a pause, many times: GC never reaches its
 * target. No checkpoint is lost, and at any moment the newest complete one is younger than two periods.
 */
static void never_idle(const struct shape *s, uint32_t start, uint64_t period)
{
	struct watch w = { .held = BLK_NONE };

	shape = *s;
	gc_start = start;
	make(&first);
	mount(&first, period);
	for (uint32_t i = 0; i < 2 * shape.units; i++) {
		run(&first, FTL_WRITE, i % shape.units, 1);
		watch(&w, &first);
	}
	rng = 5;
	while (programs_of(&first) < 100 * period) {
		write_on(&first);
		watch(&w, &first);
	}
	printf("# at most %" PRIu64 " pages of a period of %" PRIu64 "\n", w.oldest, period);
	EXPECT_EQ(w.lost, 0);
	EXPECT(w.oldest < 2 * period);
	gc_start = 3;
}

/*
 * After a power cut the mount reads the first page of each block, the checkpoint, the tail and its end in each block;
 * it loads and compares each map page. For map pages with a tail it reads the tail and the older units for each window
 * of as many map pages as there are frames, and all of this once more for those that it keeps.
 */
static void mount_it(uint64_t period)
{
	uint64_t blocks = geo_blocks(&first.t.c.geo), tail = 2 * period, maps = (shape.units + PER - 1) / PER;
	uint64_t windows = (maps + shape.frames - 1) / shape.frames, reads = reads_of_a_mount(&first);

	pending = 0;	/* what was under way is lost with the power */
	memset(ring, 0, sizeof(ring));
	printf("# %" PRIu64 " reads\n", reads);
	EXPECT(ckpt_of(&first)->held[0] != BLK_NONE);
	EXPECT(reads < 2 * blocks + ckpt_of(&first)->pages + tail + maps +
		       2 * (maps + windows * (tail + blocks) + tail));
}

static void never_idle_and_mounted(const struct shape *s, uint64_t period)
{
	never_idle(s, 3, period);
	mount_it(period);
	drop(&first);
}

/* GC never reaches its target of free blocks, but takes the checkpoint's only if the host has no room. */
static void target_out_of_reach(void)
{
	static const struct shape tight = { 1, 1, BLOCKS, 512, UNITS, 4 };

	never_idle(&tight, 8, 512);
	nand_array_power_cut(first.t.a, first.now, 1);
	pending = 0;
	memset(ring, 0, sizeof(ring));
	drop(&first);
}

static const struct shape full_die = { 1, 1, 400, 512, 2900, 12 };
static const struct shape four_dies = { 4, 1, 100, 512, 2700, 12 };

/* ---- a trim that is written over ---------------------------------------------------------- */

/*
 * A unit is trimmed while its map page is not in memory, and at once written again, by another handle, whose page then
 * stays open. The bitmap of the trim is issued, and the map page is loaded for it. By then the unit is not trimmed any
 * more, but a checkpoint must not name its old version: the mount finds a trim from before the checkpoint, and would
 * not look whether it is newer than the entry.
 */
static void a_trim_that_is_written_over(void)
{
	static struct ftl_io trim = { .op = FTL_TRIM, .bytes = 512 };
	static struct ftl_io again = { .op = FTL_WRITE, .bytes = 512, .handle = 1 };
	const struct page_ftl *p;

	shape = (struct shape){ 1, 1, 256, 1024, 2560, 5 };	/* ten map pages of 256 entries */
	handles = 2;
	make(&first);
	mount(&first, NEVER);
	for (uint32_t page = 0; page < 10; page++) {
		run(&first, FTL_WRITE, page * 256, 2);
		settle(&first);
	}
	EXPECT(!map_holds(page_ftl_of(first.f), 0));
	pending = 2;
	first.f->ops->submit(first.f, first.now, &trim);
	first.f->ops->submit(first.f, first.now, &again);
	first.next = first.f->ops->step(first.f, first.now);
	settle(&first);
	EXPECT(map_holds(page_ftl_of(first.f), 0));
	ckpt_of(&first)->period = 5;
	run(&first, FTL_READ, 256, 1);
	ckpt_of(&first)->period = NEVER;	/* no second one */
	settle(&first);
	EXPECT(ckpt_of(&first)->held[0] != BLK_NONE);
	nand_array_power_cut(first.t.a, first.now, 1);
	nand_array_power_on(first.t.a);
	mount(&first, NEVER);
	p = page_ftl_of(first.f);
	EXPECT(ckpt_of(&first)->held[0] != BLK_NONE);
	EXPECT(is_trimmed(p, 0));
	EXPECT_EQ(entry_of(p, 0), NONE);
	EXPECT(entry_of(p, 1) != NONE);
	handles = 0;
	drop(&first);
}

/* ---- without payload -------------------------------------------------------------------- */

/* The array keeps no checkpoint, so none is written: all commands are those of a drive without. */
static void none_without_payload(void)
{
	struct nand_stats with, without;

	shape = one_die;
	payload = false;
	make(&first);
	make(&second);
	mount(&first, 60);
	mount(&second, NEVER);
	rng = 11;
	random_work(&first, 600);
	rng = 11;
	random_work(&second, 600);
	first.t.n->ops->get_stats(first.t.n, &with);
	second.t.n->ops->get_stats(second.t.n, &without);
	EXPECT(programs_of(&second) > 10 * 60);
	for (uint32_t source = 0; source < NAND_NSOURCES; source++)
		for (uint32_t op = 0; op < NAND_NOPS; op++)
			EXPECT_EQ(with.ops[op][source], without.ops[op][source]);
	payload = true;
	drop(&first);
	drop(&second);
}

int main(void)
{
	RUN(reads_by_arithmetic);
	RUN(a_trim_that_is_written_over);
	RUN_AS("as without, one die", as_without(&one_die));
	RUN_AS("as without, two dies", as_without(&two_dies));
	RUN_AS("as without, planes of two units a page", as_without(&planes));
	RUN(another_cache);
	RUN(an_entry_that_lies);
	RUN_AS("never idle, one die", never_idle_and_mounted(&full_die, 300));
	RUN_AS("never idle, four dies", never_idle_and_mounted(&four_dies, 600));
	RUN(target_out_of_reach);
	RUN(none_without_payload);
	return test_result();
}
