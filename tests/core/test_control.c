// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test a drive's controls: ordered GC in every FTL, settings that change online, ordered faults.
 * test_control [SEED]
 */
#define _GNU_SOURCE
#include <unistd.h>

#include "control_host.h"
#include "fault_plan.h"

static uint64_t seed = 1;	/* seed of the random cases */

/* ---- one die, by hand -------------------------------------------------------- */

static void one_victim_takes_its_time(void)
{
	uint64_t begin;

	if (open_with(NULL, tiny, NULL))
		return;
	EXPECT_EQ(units, 16);
	make_stale();
	begin = now;
	EXPECT_EQ(stats()->ftl.gc_runs, 0);
	EXPECT_EQ(collect(0), 1);
	EXPECT_EQ(slate_step(dev, now), begin + READ);
	settle(true);
	EXPECT_EQ(now - begin, READ + PROG + ERASE);	/* unit 3 is moved, and block 0 is erased */
	EXPECT_EQ(stats()->ftl.gc_runs, 1);
	EXPECT_EQ(stats()->ftl.gc_units, 1);
	EXPECT_EQ(stats()->nand.ops[NAND_ERASE][NAND_SRC_GC], 1);
	EXPECT_EQ(collect(0), 0);			/* all pages of block 1 are valid */
	EXPECT_EQ(slate_step(dev, now), FTL_IDLE);
	for (uint32_t u = 0; u < 5; u++)
		EXPECT(reads_right(u));
	slate_close(dev);
}

static void an_order_ends_when_it_is_fulfilled(void)
{
	if (open_with(NULL, tiny, NULL))
		return;
	make_stale();
	/*
	 * 10 of 12 blocks are free, so there is nothing to do. An order for 11: block 0 is erased,
	 * and its unit is in block 2.
	 */
	EXPECT_EQ(collect(10), 0);
	EXPECT_EQ(collect(11), 1);
	settle(true);
	EXPECT_EQ(stats()->ftl.gc_runs, 1);
	/* No page can be freed, so the order is dropped: a block that becomes stale later stays. */
	EXPECT_EQ(write_unit(0), SSD_OK);
	settle(true);
	EXPECT_EQ(stats()->ftl.gc_runs, 1);
	EXPECT_EQ(collect(0), 1);
	settle(true);
	EXPECT_EQ(stats()->ftl.gc_runs, 2);
	slate_close(dev);
}

static void bad_orders(void)
{
	uint32_t result;

	if (open_with(NULL, tiny, NULL))
		return;
	EXPECT_EQ(control(SLATE_FORCE_GC, 12, 0, 0, &result), SLATE_INVALID_FIELD);
	EXPECT(says("12 free blocks are asked for, and a plane has 12"));
	EXPECT_EQ(control(0, 0, 0, 0, &result), SLATE_INVALID_FIELD);
	EXPECT(says("no such command"));
	EXPECT_EQ(control(SLATE_POWER_CUT, 0, 0, 0, &result), SLATE_UNSUPPORTED);
	slate_close(dev);
}

/* ---- faults -------------------------------------------------------------------- */

static void the_nth_program_fails(void)
{
	uint32_t at = 9;

	if (open_with(NULL, tiny, NULL))
		return;
	EXPECT_EQ(control(SLATE_FAULT_ADD, SLATE_FAULT_PROGRAM, 3, SLATE_ANY_DIE, &at), SLATE_DONE);
	EXPECT_EQ(at, 0);
	for (uint32_t i = 0; i < 2; i++)
		EXPECT_EQ(write_unit(i), SSD_OK);
	EXPECT_EQ(stats()->nand.program_fails, 0);
	EXPECT_EQ(write_unit(2), SSD_OK);	/* again, in another block */
	settle(true);
	EXPECT_EQ(stats()->nand.program_fails, 1);
	for (uint32_t i = 0; i < 16; i++)
		EXPECT_EQ(write_unit(i), SSD_OK);
	settle(true);
	EXPECT_EQ(stats()->nand.program_fails, 1);	/* the fault has occurred, */
	EXPECT_EQ(stats()->ftl.retired_blocks, 1);	/* and the block was retired after it was emptied */
	for (uint32_t i = 0; i < 16; i++)
		EXPECT(reads_right(i));
	slate_close(dev);
}

static void the_next_erase_fails(void)
{
	struct slate_log_faults *l;
	struct slate_fault_entry *e;
	size_t bytes;
	uint32_t at;

	if (open_with(NULL, tiny, NULL))
		return;
	make_stale();
	EXPECT_EQ(control(SLATE_FAULT_ADD, SLATE_FAULT_ERASE, 1, 0, &at), SLATE_DONE);
	EXPECT_EQ(collect(0), 1);
	settle(true);
	EXPECT_EQ(stats()->nand.erase_fails, 1);
	EXPECT_EQ(stats()->ftl.retired_blocks, 1);
	l = slate_log(dev, now, SLATE_LOG_FAULTS, &bytes);
	EXPECT_EQ(bytes, 48 + 32);
	EXPECT_EQ(l->entries, 1);
	EXPECT_EQ(l->room, 31);
	e = (struct slate_fault_entry *)(void *)(l + 1);
	EXPECT_EQ(e->kind, SLATE_FAULT_ERASE);
	EXPECT_EQ(e->left, 0);
	EXPECT_EQ(e->hits, 1);
	EXPECT_EQ(e->ppn, 0);
	free(l);
	slate_close(dev);
}

/*
 * ECC corrects 8 bits, and more than 4 request relocation; a retry (10 us) reduces only raw errors.
 * Unit 0 is page 0 of block 0.
 */
static const char *const ecc[] = {
	"reliability.ecc_bits=8", "reliability.relocate_bits=4", "reliability.retries_max=2",
	"reliability.retry_permille=500", "timing.retry_ns=10000", "ftl.relocate=no", NULL
};

static uint64_t read_ns(uint32_t unit)
{
	uint64_t begin = now;

	(void)run_io(FTL_READ, unit);
	return now - begin;
}

static void flipped_bits_meet_ecc(void)
{
	const uint64_t plain = READ + 1200;	/* includes look-up and firmware */
	uint32_t at;

	if (open_with(NULL, tiny, ecc))
		return;
	make_stale();
	EXPECT_EQ(control(SLATE_FAULT_ADD, SLATE_FAULT_FLIP | 4 << 16, 3, 0, &at), SLATE_DONE);
	EXPECT_EQ(read_ns(3), plain);
	EXPECT_EQ(stats()->nand.corrected, 0);
	EXPECT_EQ(control(SLATE_FAULT_ADD, SLATE_FAULT_FLIP | 1 << 16, 3, 0, &at), SLATE_DONE);
	EXPECT_EQ(read_ns(3), plain);		/* 5 bits */
	EXPECT_EQ(stats()->nand.corrected, 1);
	EXPECT(reads_right(3));
	EXPECT_EQ(control(SLATE_FAULT_ADD, SLATE_FAULT_FLIP | 4 << 16, 3, 0, &at), SLATE_DONE);
	EXPECT_EQ(read_ns(3), plain + 2 * 10000);	/* 9 bits: two retries without success */
	EXPECT_EQ(status, SSD_E_UNCORR);
	EXPECT_EQ(stats()->nand.retries, 2);
	EXPECT_EQ(stats()->nand.uncorrectable, 1);
	EXPECT_EQ(control(SLATE_FAULT_CLEAR, 0, 0, 0, &at), SLATE_DONE);
	EXPECT(reads_right(3));
	slate_close(dev);
}

static void an_erase_ends_flips(void)
{
	struct slate_fault_entry *e;
	struct slate_log_faults *l;
	size_t bytes;
	uint32_t at;

	if (open_with(NULL, tiny, ecc))
		return;
	make_stale();
	EXPECT_EQ(control(SLATE_FAULT_ADD, SLATE_FAULT_FLIP | 5 << 16, 3, 0, &at), SLATE_DONE);
	EXPECT_EQ(collect(0), 1);
	settle(true);
	EXPECT_EQ(stats()->nand.corrected, 1);	/* GC's read; the copy has no wrong bits */
	EXPECT(reads_right(3));
	EXPECT_EQ(stats()->nand.corrected, 1);
	l = slate_log(dev, now, SLATE_LOG_FAULTS, &bytes);
	e = (struct slate_fault_entry *)(void *)(l + 1);
	EXPECT_EQ(e->left, 0);
	EXPECT_EQ(e->hits, 1);
	EXPECT_EQ(e->bits, 5);
	free(l);
	slate_close(dev);
}

static void bad_faults(void)
{
	uint32_t at;

	if (open_with(NULL, tiny, NULL))
		return;
	EXPECT_EQ(control(SLATE_FAULT_ADD, 0, 1, 0, &at), SLATE_INVALID_FIELD);
	EXPECT(says("no such kind"));
	EXPECT_EQ(control(SLATE_FAULT_ADD, SLATE_FAULT_ERASE, 0, 0, &at), SLATE_INVALID_FIELD);
	EXPECT(says("at least 1"));
	EXPECT_EQ(control(SLATE_FAULT_ADD, SLATE_FAULT_PROGRAM, 1, 1, &at), SLATE_INVALID_FIELD);
	EXPECT(says("no such die"));
	EXPECT_EQ(control(SLATE_FAULT_ADD, SLATE_FAULT_FLIP | 1 << 16, 48, 0, &at), SLATE_INVALID_FIELD);
	EXPECT(says("no such page"));
	EXPECT_EQ(control(SLATE_FAULT_ADD, SLATE_FAULT_FLIP, 0, 0, &at), SLATE_INVALID_FIELD);
	EXPECT(says("how many bits"));
	for (uint32_t i = 0; i < SLATE_FAULTS_MAX; i++) {
		EXPECT_EQ(control(SLATE_FAULT_ADD, SLATE_FAULT_ERASE, 1000, SLATE_ANY_DIE, &at), SLATE_DONE);
		EXPECT_EQ(at, i);
	}
	EXPECT_EQ(control(SLATE_FAULT_ADD, SLATE_FAULT_ERASE, 1, SLATE_ANY_DIE, &at), SLATE_NO_ROOM);
	EXPECT_EQ(control(SLATE_FAULT_CLEAR, 0, 0, 0, &at), SLATE_DONE);
	EXPECT_EQ(control(SLATE_FAULT_ADD, SLATE_FAULT_ERASE, 1, SLATE_ANY_DIE, &at), SLATE_DONE);
	EXPECT_EQ(at, 0);
	slate_close(dev);
}

/* A partial erase removes the flips of its PB, and a copyback copies them. */
static void flips_go_with_cells(void)
{
	const struct nand_geometry g = { .channels = 1, .chips_per_channel = 1, .dies_per_chip = 1,
					 .planes_per_die = 1, .blocks_per_plane = 4,
					 .pages_per_block = 8, .pb_levels = 2 };
	struct nand_cmd c = { .op = NAND_ERASE, .ppn = { 8 }, .pb = 6 };	/* pages 12 and 13 */
	struct fault_plan p = { .count = 0 };

	for (uint32_t page = 11; page < 15; page++) {
		struct fault f = { FAULT_FLIP, 0, 1, { page }, page, 0 };

		EXPECT(fault_plan_add(&p, &f));
	}
	EXPECT_EQ(fault_plan_ask(&p, &g, &c), NAND_OK);
	EXPECT_EQ(fault_plan_flips(&p, (ppn_t){ 11 }), 11);
	EXPECT_EQ(fault_plan_flips(&p, (ppn_t){ 12 }), 0);
	EXPECT_EQ(fault_plan_flips(&p, (ppn_t){ 13 }), 0);
	EXPECT_EQ(fault_plan_flips(&p, (ppn_t){ 14 }), 14);
	c = (struct nand_cmd){ .op = NAND_COPYBACK, .from = { 14 }, .ppn = { 20 } };
	EXPECT_EQ(fault_plan_ask(&p, &g, &c), NAND_OK);
	EXPECT_EQ(fault_plan_flips(&p, (ppn_t){ 14 }), 0);
	EXPECT_EQ(fault_plan_flips(&p, (ppn_t){ 20 }), 14);
}

/* ---- knobs ----------------------------------------------------------------------- */

static void knobs_move(void)
{
	char *more = NULL;

	if (open_with(NULL, tiny, NULL))
		return;
	EXPECT(strstr(slate_settings(dev), "ftl.gc_slice_pages=4\n"));
	EXPECT_EQ(slate_set(dev, now, "ftl.gc_slice_pages=7"), SLATE_DONE);
	EXPECT(strstr(slate_settings(dev), "ftl.gc_slice_pages=7\n"));
	/* GC begins when fewer than 11 of 12 blocks are free; 10 are free now. */
	make_stale();
	EXPECT_EQ(stats()->ftl.gc_runs, 0);
	EXPECT_EQ(slate_set(dev, now, "ftl.gc_stop_blocks=11"), SLATE_DONE);
	settle(true);
	EXPECT_EQ(stats()->ftl.gc_runs, 0);
	EXPECT_EQ(slate_set(dev, now, "ftl.gc_start_blocks=11"), SLATE_DONE);
	settle(true);
	EXPECT_EQ(stats()->ftl.gc_runs, 1);
	for (uint32_t u = 0; u < 5; u++)
		EXPECT(reads_right(u));
	free(more);
	slate_close(dev);
}

static void bad_knobs(void)
{
	if (open_with(NULL, tiny, NULL))
		return;
	EXPECT_EQ(slate_set(dev, now, ""), SLATE_REFUSED);
	EXPECT(says("'' is no setting: give ftl.key=value"));
	EXPECT_EQ(slate_set(dev, now, "ftl.gc_slice_pages"), SLATE_REFUSED);
	EXPECT(says("give ftl.key=value"));
	EXPECT_EQ(slate_set(dev, now, "ftl.buffer_units=8"), SLATE_REFUSED);
	EXPECT(says("ftl.buffer_units cannot be set while the drive runs: with ftl.type = page these can: "
		    "ftl.reads_in_row, ftl.gc_start_blocks, ftl.gc_slice_pages, ftl.gc_stop_blocks"));
	EXPECT_EQ(slate_set(dev, now, "ftl.fast_above_permille=8"), SLATE_REFUSED);
	EXPECT_EQ(slate_set(dev, now, "ftl.gc_slice_pages=0"), SLATE_REFUSED);
	EXPECT(says("1 .. 65536"));
	EXPECT_EQ(slate_set(dev, now, "ftl.gc_start_blocks=1"), SLATE_REFUSED);
	EXPECT_EQ(slate_set(dev, now, "ftl.gc_stop_blocks=12"), SLATE_REFUSED);
	EXPECT(says("gc_start_blocks <= gc_stop_blocks < blocks_per_plane"));
	EXPECT(strstr(slate_settings(dev), "ftl.gc_slice_pages=4\n"));
	EXPECT(strstr(slate_settings(dev), "ftl.gc_stop_blocks=3\n"));
	slate_close(dev);
}

/* The numbers of an arbiter move with any FTL; its kind does not. */
static void arbiters_move(void)
{
	static const char *const weighted[] = { "controller.cores=1", "controller.arbitration=weighted", NULL };

	if (open_with(NULL, tiny, weighted))
		return;
	EXPECT_EQ(slate_set(dev, now, "controller.weight_high=5"), SLATE_DONE);
	EXPECT_EQ(slate_set(dev, now, "controller.arbitration_burst=65536"), SLATE_DONE);
	EXPECT_EQ(slate_arbitration(dev).high, 5);
	EXPECT_EQ(slate_arbitration(dev).burst, 65536);
	EXPECT(strstr(slate_settings(dev), "controller.weight_high=5\n"));
	EXPECT_EQ(slate_set(dev, now, "controller.weight_low=257"), SLATE_REFUSED);
	EXPECT(says("1 .. 256"));
	EXPECT_EQ(slate_set(dev, now, "controller.arbitration=fifo"), SLATE_REFUSED);
	EXPECT(says("is no setting: give ftl.key=value, or the arbiter's controller.arbitration_burst or "
		    "weight_high, _medium or _low"));
	EXPECT_EQ(slate_set(dev, now, "controller.weight_low"), SLATE_REFUSED);
	EXPECT_EQ(slate_arbitration(dev).low, 1);
	slate_close(dev);
	if (open_with(NULL, tiny, NULL))
		return;
	EXPECT_EQ(slate_set(dev, now, "controller.weight_high=5"), SLATE_REFUSED);
	slate_close(dev);
}

static void not_while_calls_are_recorded(void)
{
	char path[] = "/tmp/slate-control-XXXXXX";
	int fd = mkstemp(path);
	uint32_t result;

	SSD_ASSERT(fd >= 0);
	close(fd);
	if (open_with(path, tiny, NULL))
		return;
	EXPECT_EQ(control(SLATE_FORCE_GC, 0, 0, 0, &result), SLATE_REFUSED);
	EXPECT(says("being recorded"));
	EXPECT_EQ(control(SLATE_FAULT_ADD, SLATE_FAULT_ERASE, 1, 0, &result), SLATE_REFUSED);
	EXPECT_EQ(slate_set(dev, now, "ftl.gc_slice_pages=7"), SLATE_REFUSED);
	EXPECT_EQ(control(SLATE_RESET_COUNTERS, 0, 0, 0, &result), SLATE_DONE);
	slate_close(dev);
	unlink(path);
}

/* ---- every FTL ------------------------------------------------------------------------ */

static const char *const shape[] = {
	"geometry.channels=2", "geometry.chips_per_channel=1", "geometry.dies_per_chip=1",
	"geometry.planes_per_die=2", "geometry.blocks_per_plane=24", "geometry.pages_per_block=16",
	"geometry.page_bytes=4096", "geometry.oob_bytes=256", "timing.read_ns=50000",
	"timing.program_ns=200000", "timing.erase_ns=1000000", "timing.bus_ps_per_byte=1000",
	"ftl.capacity_mib=3", "ftl.gc_stop_blocks=5", NULL	/* equal to gc_start_blocks: GC stops at the level
								 * at which it began */
};

struct kind {
	const char *name;
	const char *more[12];
};

static const struct kind kinds[] = {
	{ "page", { "ftl.type=page", "ftl.buffer_units=16" } },
	{ "page, IPPBE", { "ftl.type=page", "ftl.buffer_units=16", "ftl.parallel_erase=yes",
			   "geometry.erase_group_max=2" } },
	{ "page, blocking", { "ftl.type=page", "ftl.buffer_units=0", "ftl.gc_mode=blocking" } },
	{ "parity", { "ftl.type=parity", "ftl.buffer_units=16", "geometry.order=fps",
		      "geometry.bits_per_cell=2" } },
	{ "rtf", { "ftl.type=rtf", "ftl.buffer_units=16", "geometry.order=fps",
		   "geometry.bits_per_cell=2", "ftl.active_blocks=2" } },
	{ "flex", { "ftl.type=flex", "ftl.buffer_units=16", "geometry.order=rps",
		    "geometry.bits_per_cell=2" } },
	{ "nftl, sliced", { "ftl.type=nftl", "ftl.buffer_units=0", "geometry.order=none",
			    "ftl.gc_start_blocks=2", "ftl.gc_stop_blocks=2", "ftl.gc_urgent_blocks=1" } },
	{ "nftl, blocking", { "ftl.type=nftl", "ftl.buffer_units=0", "geometry.order=none",
			      "ftl.gc_mode=blocking", "ftl.gc_start_blocks=2", "ftl.gc_stop_blocks=2",
			      "ftl.gc_urgent_blocks=1" } },
	{ "superblock, sliced", { "ftl.type=superblock", "ftl.buffer_units=0", "geometry.order=none",
				  "ftl.superblock_blocks=4", "ftl.superblock_max_blocks=6" } },
	{ "superblock, blocking", { "ftl.type=superblock", "ftl.buffer_units=0", "geometry.order=none",
				    "ftl.gc_mode=blocking", "ftl.superblock_blocks=4",
				    "ftl.superblock_max_blocks=6" } },
	{ "superblock, page mapping", { "ftl.type=superblock", "ftl.buffer_units=0",
					"geometry.order=none", "ftl.superblock_blocks=0",
					"ftl.superblock_max_blocks=0" } },
	{ "dac", { "ftl.type=dac", "ftl.buffer_units=16" } },
	{ "dac, compressed buffer", { "ftl.type=dac", "ftl.buffer_units=0" } },
};

static uint32_t free_blocks(void)
{
	uint32_t planes, sum = 0, all = 0;
	void *log;
	struct slate_plane_entry *e = blocks(&log, &planes);

	for (uint32_t p = 0; p < planes; p++) {
		sum += e[p].state[SLATE_BLOCK_FREE];
		for (uint32_t s = 0; s < SLATE_BLOCK_STATES; s++)
			all += e[p].state[s];
	}
	EXPECT_EQ(all, planes * e->blocks);	/* each block has exactly one state */
	free(log);
	return sum;
}

static void write_some(uint64_t *rng, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		EXPECT_EQ(write_unit((uint32_t)(rnd(rng) % units)), SSD_OK);
	EXPECT_EQ(run_io(FTL_FLUSH, 0), SSD_OK);
	settle(false);
}

static void all_right(void)
{
	for (uint32_t u = 0; u < units; u++)
		EXPECT(reads_right(u));
}

/* Collect one victim in each plane or die, then as many as can be freed. */
static void collects(const struct kind *k, uint64_t *rng)
{
	uint64_t runs;
	uint32_t working, before;
	int failed = failures;

	if (open_with(NULL, shape, k->more)) {
		failures++;
		return;
	}
	write_some(rng, 3 * units);
	runs = stats()->ftl.gc_runs;
	before = free_blocks();
	working = collect(0);
	EXPECT(working > 0);
	settle(true);
	EXPECT_EQ(stats()->ftl.gc_runs, runs + working);
	EXPECT(free_blocks() >= before);
	all_right();

	EXPECT(collect(23) > 0);
	write_some(rng, units / 4);		/* the host writes meanwhile */
	EXPECT(collect(23) <= 4);
	settle(true);
	EXPECT(free_blocks() > before);
	EXPECT_EQ(collect(23), 0);
	all_right();
	EXPECT_EQ(stats()->nand.violations[NAND_R1], 0);
	if (failures != failed)
		printf("not ok collects: %s, seed %" PRIu64 "\n", k->name, seed);
	slate_close(dev);
}

static void every_ftl_collects_on_order(void)
{
	uint64_t rng = seed * 0x9e3779b97f4a7c15u + 1;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		collects(&kinds[i], &rng);
}

/* Orders, knobs and faults at random times: only data hit by faults may be lost. */
static void storm(const struct kind *k, uint64_t *rng)
{
	static const char *const knobs[] = { "ftl.gc_slice_pages=1", "ftl.gc_slice_pages=9",
		"ftl.gc_stop_blocks=7", "ftl.gc_stop_blocks=5", "ftl.wl_threshold=3", "ftl.idle_gc_permille=300",
		"ftl.idle_gc_permille=0", "ftl.wl_threshold=0", "ftl.hash_ns=100" };
	int failed = failures;
	uint32_t result;

	if (open_with(NULL, shape, k->more)) {
		failures++;
		return;
	}
	for (uint32_t i = 0; i < 4 * units; i++) {
		uint32_t dice = (uint32_t)(rnd(rng) % 64);

		EXPECT_EQ(write_unit((uint32_t)(rnd(rng) % units)), SSD_OK);
		if (dice < 2)
			(void)collect((uint32_t)(rnd(rng) % 24));
		else if (dice == 2)
			(void)!slate_set(dev, now, knobs[rnd(rng) % (sizeof(knobs) / sizeof(*knobs))]);
		else if (dice == 3 && i % 16 == 0 && stats()->ftl.retired_blocks < 3)
			(void)!control(SLATE_FAULT_ADD, 1 + (uint32_t)(rnd(rng) % 2), 1 + (uint32_t)(rnd(rng) % 50),
				       SLATE_ANY_DIE, &result);
		else if (dice == 4)
			EXPECT_EQ(control(SLATE_FAULT_CLEAR, 0, 0, 0, &result), SLATE_DONE);
		next = slate_step(dev, now);
		if (dice < 8)
			slate_check(dev);
	}
	EXPECT_EQ(run_io(FTL_FLUSH, 0), SSD_OK);
	settle(false);
	slate_check(dev);
	all_right();
	for (uint32_t r = 0; r < NAND_NRULES; r++)
		EXPECT_EQ(stats()->nand.violations[r], 0);
	if (failures != failed)
		printf("not ok storm: %s, seed %" PRIu64 "\n", k->name, seed);
	slate_close(dev);
}

static void orders_at_any_moment(void)
{
	uint64_t rng = seed * 0x9e3779b97f4a7c15u + 7;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		storm(&kinds[i], &rng);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		seed = strtoull(argv[1], NULL, 0);
	RUN(one_victim_takes_its_time);
	RUN(an_order_ends_when_it_is_fulfilled);
	RUN(bad_orders);
	RUN(the_nth_program_fails);
	RUN(the_next_erase_fails);
	RUN(flipped_bits_meet_ecc);
	RUN(an_erase_ends_flips);
	RUN(bad_faults);
	RUN(flips_go_with_cells);
	RUN(knobs_move);
	RUN(bad_knobs);
	RUN(arbiters_move);
	RUN(not_while_calls_are_recorded);
	RUN(every_ftl_collects_on_order);
	RUN(orders_at_any_moment);
	return test_result();
}
