// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test the reasons of GC (gc_pick.c), each alone: it is the first that has a victim, it names the right block, it wakes
 * the collector at its time and at no other, its collection is counted under its cause, and then the collector sleeps.
 * Room for map pages is only chosen here, neither woken nor collected. The test fails for a row of gc_reasons[] without
 * a row in cases[].
 *
 * The drive has a plane of 512-byte pages and units, twelve in a block, or four in SLC mode. Units 0 to 47 fill four
 * blocks. Then some units are written again: three of the first block, one of the second.
 */
#include "gc_pick.h"
#include "gc_policy.h"
#include "gc_wake.h"
#include "page_drive.h"
#include "page_ftl.h"

#define UNIT 512u
#define PAGES 12u
#define BLOCKS 24u

static struct ftl_config fc;
static bool program_fails;
static struct page_ftl *p;

static void on_done(void *opaque, struct ftl_io *io)
{
	(void)opaque;
	EXPECT_EQ(io->status, SSD_OK);
}

static void on_copy(void *opaque, struct ftl_io *io, uint64_t at, void *buf, size_t len)
{
	(void)opaque; (void)at;
	if (io->op == FTL_WRITE)
		memset(buf, 0x5a, len);
}

static enum nand_status on_fault(void *opaque, const struct nand_cmd *c)
{
	bool fails = program_fails && c->op == NAND_PROGRAM;

	(void)opaque;
	program_fails &= !fails;
	return fails ? NAND_PROG_FAIL : NAND_OK;
}

static void write_unit(uint32_t unit)
{
	struct ftl_io io = { .op = FTL_WRITE, .offset = (uint64_t)unit * UNIT, .bytes = UNIT };

	f->ops->submit(f, now, &io);
	while (f->ops->inflight(f))
		pass_to(f->ops->step(f, now));
}

static void write_units(uint32_t from, uint32_t to)
{
	for (uint32_t unit = from; unit < to; unit++)
		write_unit(unit);
}

static uint32_t block_of(uint32_t unit)
{
	return map_get(p, unit) / PAGES;
}

static void make(uint32_t blocks, uint32_t units)
{
	static const struct ftl_host host = { on_done, on_copy, NULL };
	static const struct nand_hooks hooks = { .fault = on_fault };
	struct nand_array_config c = {
		.geo = { 1, 1, 1, 1, blocks, PAGES, UNIT, 64, OOB_BYTES(1), UNIT, 0, 1, 3 },
		.timing = { 100, { 50000, 50000, 50000 }, { 200000, 200000, 200000 }, { 1000000 }, 1000,
			    .slc_program_ns = 40000, .slc_read_ns = 20000, .slc_erase_ns = 700000 },
		.physics.disturb_tolerance = 255, .payload = true };

	test_array_make(&t, &c);
	nand_array_set_hooks(t.a, &hooks);
	fc.capacity_bytes = (uint64_t)units * UNIT;
	fc.timing = c.timing;
	mount_page_ftl(&fc, &host);
	p = page_ftl_of(f);
}

static void make_filled(void)
{
	make(BLOCKS, 60);
	write_units(0, 48);
	write_units(0, 3);
	write_unit(12);
}

/* Units 48 to 59 are written again and again, so all blocks but those of units 0 to 47 are erased often. */
static void make_worn(void)
{
	make_filled();
	for (uint32_t i = 0; i < 100; i++)
		write_units(48, 60);
	pass_to(FTL_IDLE);
}

static void make_cache(void)
{
	fc.slc_cache = FTL_SLC_STATIC;
	fc.slc_blocks = 2;
	make(BLOCKS, 60);
	write_units(0, 8);		/* units 0 to 3 are in the first block */
}

/* Writes go to units of five map pages. Only three are in memory, so map pages are evicted and written to flash. */
static void make_map(void)
{
	fc.map_cache_pages = 3;
	make(92, 640);
	for (uint32_t i = 0; i < 60; i++)
		write_unit(i % 5 * 128 + i);
	pass_to(FTL_IDLE);
}

/* ---- what brings the reasons about ------------------------------------------ */

/* Leave the plane one free block, and no open one for map pages. */
static void cause_map_room(void)
{
	uint32_t open = p->fr.plane[0].open[FRONT_MAP];

	if (open != BLK_NONE) {
		front_drop(&p->fr, open);
		blk_close(&p->bt, open);
	}
	p->bt.plane[0].free_count = 1;
}

static void cause_failed(void)
{
	program_fails = true;
	write_unit(50);
}

static void cause_dead(void)
{
	p->bt.blk[block_of(13)].dead = true;
	p->plane[0].purge = 1;
}

static void cause_flagged(void)
{
	level_corrected(p, block_of(13));
}

/* Of 24 blocks four are full and one is open, so 19 are free: let GC begin below 20. */
static void cause_few(void)
{
	EXPECT_EQ(p->bt.plane[0].free_count, 19);
	p->host.c.gc_start_blocks = p->host.c.gc_stop_blocks = 20;
}

static void begin_idle_time(void)
{
	p->gc.idle_work = true;
	p->gc.idle_at_ns = now;
}

static void cause_few_idle(void)
{
	p->gc.idle_blocks = 20;
	begin_idle_time();
}

static void cause_full_cache(void)
{
	p->host.c.slc_full = FTL_SLC_FOLD;
}

static void cause_order(void)
{
	p->plane[0].order = gc_order_of(0);
}

static void cause_wear(void)
{
	p->host.c.wl_threshold = 1;
	p->plane[0].level = true;
}

/* ---- the rows ----------------------------------------------------------------- */

/* The block with unit 3, the block with unit 13, and the block that the host writes. */
static uint32_t kept_block, other_block, open_block;

struct reason_case {
	const char *name;
	void (*make)(void);
	void (*cause)(void);
	const uint32_t *victim;		/* NULL: any full block of map pages */
	bool at_any_time, in_idle_time;
	enum gc_why why;
};

static const struct reason_case cases[] = {
	{ "map pages lack room", make_map, cause_map_room, NULL, true, false, GC_FOR_SPACE },
	{ "failed blocks", make_filled, cause_failed, &open_block, true, false, GC_FOR_SPACE },
	{ "dead pages", make_filled, cause_dead, &other_block, true, false, GC_FOR_SPACE },
	{ "flagged blocks", make_filled, cause_flagged, &other_block, true, false, GC_FOR_ERRORS },
	{ "few free blocks", make_filled, cause_few, &kept_block, true, false, GC_FOR_SPACE },
	{ "few free blocks in idle time", make_filled, cause_few_idle, &kept_block, false, true, GC_FOR_SPACE },
	{ "full SLC cache", make_cache, cause_full_cache, &kept_block, true, true, GC_FOR_SPACE },
	{ "SLC cache in idle time", make_cache, begin_idle_time, &kept_block, false, true, GC_FOR_SPACE },
	{ "order", make_filled, cause_order, &kept_block, true, false, GC_FOR_SPACE },
	{ "wear", make_worn, cause_wear, &kept_block, true, false, GC_FOR_WEAR },
};

#define CASES (sizeof(cases) / sizeof(*cases))

static const struct reason_case *case_of(const char *name)
{
	for (uint32_t i = 0; i < CASES; i++)
		if (!strcmp(cases[i].name, name))
			return &cases[i];
	return NULL;
}

/* Returns how many collections for this cause have ended. */
static uint64_t runs(enum gc_why why)
{
	const struct ftl_stats *s = f->ops->stats(f);

	switch (why) {
	case GC_FOR_SPACE:
		return s->gc_runs;
	case GC_FOR_WEAR:
		return s->wl_runs;
	case GC_FOR_ERRORS:
		return s->relocations;
	}
	return 0;
}

static bool is_wanted(bool idle)
{
	return gc_is_wanted(p, 0, p->host.c.gc_start_blocks, idle ? GC_WAKES_IDLE : GC_WAKES);
}

/*
 * Test that the reason wakes the collector at its times and at no other, and leave it awake. A collector that was woken
 * in idle time rests when idle time is over.
 */
static void wake(const struct reason_case *k)
{
	struct gc *g = &p->plane[0].gc;
	uint64_t idle_at_ns = p->gc.idle_at_ns;

	EXPECT_EQ(is_wanted(false), k->at_any_time);
	EXPECT_EQ(is_wanted(true), k->in_idle_time);
	gc_wake(p, 0);
	EXPECT_EQ(gc_is_awake(g), k->at_any_time);
	gc_wake_idle(p);
	EXPECT(gc_is_awake(g));
	EXPECT_EQ(g->idle, !k->at_any_time);
	if (k->at_any_time)
		return;
	p->gc.idle_at_ns = FTL_IDLE;
	EXPECT(!gc_run(p, now, 0));
	EXPECT_EQ(g->state, GC_WAITING);
	p->gc.idle_at_ns = idle_at_ns;
}

/* Step the drive until the victim is collected and the collector sleeps. It counts as a run of k->why alone. */
static void collect(const struct reason_case *k, uint32_t victim)
{
	uint32_t erases = t.n->ops->erase_count(t.n, (pbn_t){ victim }), b;
	uint64_t before[3];

	for (uint32_t why = 0; why < 3; why++)
		before[why] = runs((enum gc_why)why);
	p->turn.kick = true;
	for (uint64_t next = f->ops->step(f, now); next != FTL_IDLE; next = f->ops->step(f, now)) {
		now = next;
		if (runs(k->why) != before[k->why])
			break;
	}
	f->ops->check(f);
	for (uint32_t why = 0; why < 3; why++)
		EXPECT_EQ(runs((enum gc_why)why), before[why] + (why == k->why));
	EXPECT(p->bt.blk[victim].state == BLK_BAD || t.n->ops->erase_count(t.n, (pbn_t){ victim }) == erases + 1);
	pass_to(FTL_IDLE);
	EXPECT(!gc_is_awake(&p->plane[0].gc));
	EXPECT(!gc_reason(p, 0, p->host.c.gc_start_blocks, &b));
}

static void goes(const struct gc_reason *r)
{
	const struct reason_case *k = case_of(r->name);
	uint32_t b = BLK_NONE;

	EXPECT(k);
	if (!k)
		return;
	fc = (struct ftl_config){
		.unit_bytes = UNIT, .gc_start_blocks = 3, .gc_stop_blocks = 3, .gc_urgent_blocks = 1,
		.gc_mode = FTL_GC_SLICED, .gc_slice_pages = 1, .payload = true, .max_unit_reads = 64,
		.gc_policy = &gc_greedy, .relocate = true };
	k->make();
	EXPECT(!gc_reason(p, 0, fc.gc_start_blocks, &b));
	if (k->victim) {
		kept_block = block_of(3);
		other_block = block_of(13);
		open_block = p->fr.plane[0].open[FRONT_HOST];
	}
	p->gc.hold = true;	/* the collector must not be woken yet */
	k->cause();
	p->gc.hold = false;
	EXPECT(gc_reason(p, 0, p->host.c.gc_start_blocks, &b) == r);
	EXPECT_EQ(r->why, k->why);
	if (k->victim) {
		EXPECT_EQ(b, *k->victim);
		wake(k);
		collect(k, b);
	} else {
		EXPECT(is_wanted(false));
		EXPECT(p->bt.blk[b].map && p->bt.blk[b].state == BLK_FULL);
	}
	gone();
}

static void every_row_is_a_reason(void)
{
	uint32_t rows = 0;

	while (gc_reasons[rows].name)
		rows++;
	EXPECT_EQ(rows, CASES);
}

int main(void)
{
	RUN(every_row_is_a_reason);
	for (const struct gc_reason *r = gc_reasons; r->name; r++)
		RUN_AS(r->name, goes(r));
	return test_result();
}
