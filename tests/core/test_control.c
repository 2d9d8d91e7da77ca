// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A drive's controls: GC on order in every FTL, knobs that move, faults on request, and
 * what the logs say of all that.
 *
 *   test_control [SEED]
 */
#define _GNU_SOURCE
#include <unistd.h>

#include "fault_plan.h"
#include "slate_control.h"
#include "test.h"

#define UNITS_MAX 4096u
#define OVERRIDES_MAX 48u

static struct slate_dev *dev;
static uint64_t now, next, seed = 1;
static uint32_t version[UNITS_MAX], units, unit_bytes;
static bool finished;
static enum ssd_err status;
static uint8_t data[16384];
static char err[SLATE_ERR_BYTES];

static uint64_t word_of(uint64_t unit, uint32_t v, size_t i)
{
	return v ? unit << 40 | (uint64_t)v << 16 | i : 0;
}

static void on_done(void *opaque, struct ftl_io *io)
{
	(void)opaque;
	finished = true;
	status = io->status;
}

static void on_copy(void *opaque, struct ftl_io *io, uint64_t at, void *buf, size_t len)
{
	(void)opaque;
	if (io->op == FTL_WRITE)
		memcpy(buf, data + at, len);
	else if (buf)
		memcpy(data + at, buf, len);
	else
		memset(data + at, 0, len);
}

static const struct ftl_host host = { on_done, on_copy, NULL };

/* NULL-terminated lists, one behind the other. */
static int open_with(const char *record, const char *const *a, const char *const *b)
{
	const char *all[OVERRIDES_MAX];
	struct slate_options o = { .overrides = all, .record = record };
	size_t n = 0;

	while (*a)
		all[n++] = *a++;
	while (b && *b)
		all[n++] = *b++;
	all[n] = NULL;
	*err = 0;
	now = 0;
	next = FTL_IDLE;
	memset(version, 0, sizeof(version));
	if (slate_open(&o, &host, &dev, err)) {
		printf("%s\n", err);
		return -1;
	}
	unit_bytes = slate_unit_bytes(dev);
	units = (uint32_t)(slate_capacity(dev) / unit_bytes);
	SSD_ASSERT(units <= UNITS_MAX && unit_bytes <= sizeof(data));
	return slate_keep_causes(dev);
}

static enum ssd_err run_io(enum ftl_op op, uint32_t unit)
{
	struct ftl_io io = { .op = op, .offset = (uint64_t)unit * unit_bytes,
			     .bytes = op == FTL_FLUSH ? 0 : unit_bytes };

	finished = false;
	slate_submit(dev, now, &io);
	next = slate_step(dev, now);
	while (!finished) {
		SSD_ASSERT(next != FTL_IDLE);
		now = next;
		next = slate_step(dev, now);
	}
	if (io.done_ns > now)
		now = io.done_ns;
	next = slate_step(dev, now);
	return status;
}

static enum ssd_err write_unit(uint32_t unit)
{
	uint64_t *w = (uint64_t *)(void *)data;

	version[unit]++;
	for (size_t i = 0; i < unit_bytes / 8; i++)
		w[i] = word_of(unit, version[unit], i);
	return run_io(FTL_WRITE, unit);
}

static bool reads_right(uint32_t unit)
{
	const uint64_t *w = (const uint64_t *)(const void *)data;

	if (run_io(FTL_READ, unit) != SSD_OK)
		return false;
	for (size_t i = 0; i < unit_bytes / 8; i++)
		if (w[i] != word_of(unit, version[unit], i))
			return false;
	return true;
}

/* Until nothing is left to do. */
static void settle(bool check)
{
	next = slate_step(dev, now);
	for (uint32_t i = 0; next != FTL_IDLE; i++) {
		SSD_ASSERT(i < 1000000);
		now = next;
		next = slate_step(dev, now);
		if (check)
			slate_check(dev);
	}
}

static uint32_t control(uint32_t command, uint32_t a, uint32_t b, uint32_t c, uint32_t *result)
{
	struct slate_order o = { command, { a, b, c } };

	return slate_control(dev, now, &o, result);
}

static uint32_t collect(uint32_t free_blocks)
{
	uint32_t working = 0;

	EXPECT_EQ(control(SLATE_FORCE_GC, free_blocks, 0, 0, &working), SLATE_DONE);
	return working;
}

static struct slate_stats *stats(void)
{
	static struct slate_stats s;

	slate_get_stats(dev, &s);
	return &s;
}

static bool says(const char *part)
{
	if (strstr(slate_why(dev), part))
		return true;
	printf("said: %s\n", slate_why(dev));
	return false;
}

/* ---- one die, by hand -------------------------------------------------------- */

#define CMD 100u
#define XFER 4160u
#define READ (CMD + 50000u + XFER)
#define PROG (CMD + XFER + 200000u)
#define ERASE (CMD + 1000000u)

/* 12 blocks of 4 pages of one unit; 16 units. */
static const char *const tiny[] = {
	"geometry.channels=1", "geometry.chips_per_channel=1", "geometry.dies_per_chip=1",
	"geometry.planes_per_die=1", "geometry.blocks_per_plane=12", "geometry.pages_per_block=4",
	"geometry.page_bytes=4096", "geometry.oob_bytes=64", "timing.cmd_ns=100", "timing.read_ns=50000",
	"timing.program_ns=200000", "timing.erase_ns=1000000", "timing.bus_ps_per_byte=1000",
	"ftl.op_permille=2000", "ftl.buffer_units=0", "ftl.gc_start_blocks=3", "ftl.gc_stop_blocks=3",
	"ftl.gc_urgent_blocks=1", "drive.name=tiny", NULL
};

/* Block 0: units 0 .. 3, of which 3 is valid; block 1: 0, 1, 2, 4. */
static void make_stale(void)
{
	static const uint32_t order[] = { 0, 1, 2, 3, 0, 1, 2, 4 };

	for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++)
		EXPECT_EQ(write_unit(order[i]), SSD_OK);
	settle(true);
}

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
	EXPECT_EQ(now - begin, READ + PROG + ERASE);	/* unit 3 moves, block 0 goes */
	EXPECT_EQ(stats()->ftl.gc_runs, 1);
	EXPECT_EQ(stats()->ftl.gc_units, 1);
	EXPECT_EQ(stats()->nand.ops[NAND_ERASE][NAND_SRC_GC], 1);
	EXPECT_EQ(collect(0), 0);			/* block 1 is all valid */
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
	/* 10 of 12 blocks are free: nothing to do. 11 asked: block 0 goes, its unit is in block 2. */
	EXPECT_EQ(collect(10), 0);
	EXPECT_EQ(collect(11), 1);
	settle(true);
	EXPECT_EQ(stats()->ftl.gc_runs, 1);
	/* Nothing can be won, so it is forgotten: a new stale block stays. */
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
	EXPECT_EQ(write_unit(2), SSD_OK);	/* once more, in another block */
	settle(true);
	EXPECT_EQ(stats()->nand.program_fails, 1);
	for (uint32_t i = 0; i < 16; i++)
		EXPECT_EQ(write_unit(i), SSD_OK);
	settle(true);
	EXPECT_EQ(stats()->nand.program_fails, 1);	/* it has been, */
	EXPECT_EQ(stats()->ftl.retired_blocks, 1);	/* and the block went when it could be emptied */
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
 * ECC corrects 8 bits, more than 4 are worth moving, each retry (10 us) helps raw errors
 * only. Unit 0 is page 0 of block 0.
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
	const uint64_t plain = READ + 1200;	/* look-up and firmware */
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
	EXPECT_EQ(read_ns(3), plain + 2 * 10000);	/* 9 bits: two retries in vain */
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
	EXPECT_EQ(stats()->nand.corrected, 1);	/* GC's read: what it copies is right again */
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

/* A partial erase takes the flips of its PB, a copyback takes them along. */
static void flips_go_with_cells(void)
{
	const struct nand_geometry g = { .channels = 1, .chips_per_channel = 1, .dies_per_chip = 1,
					 .planes_per_die = 1, .blocks_per_plane = 4,
					 .pages_per_block = 8, .pb_levels = 2 };
	struct nand_cmd c = { .op = NAND_ERASE, .ppn = { 8 }, .pb = 6 };	/* pages 12, 13 */
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
	/* GC begins when fewer than 11 of 12 blocks are free: now they are 10. */
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
	EXPECT(says("ftl.buffer_units does not change while a drive runs: of page these do: "
		    "ftl.gc_start_blocks, ftl.gc_stop_blocks"));
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
	"ftl.capacity_mib=3", "ftl.gc_stop_blocks=5", NULL	/* = start: GC stops where it began */
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
};

static struct slate_plane_entry *blocks(void **log, uint32_t *planes)
{
	struct slate_log_blocks *l;
	size_t bytes;

	l = slate_log(dev, now, SLATE_LOG_BLOCKS, &bytes);
	EXPECT_EQ(bytes, l->head.bytes);
	EXPECT_EQ(bytes, sizeof(*l) + l->planes * sizeof(struct slate_plane_entry));
	*log = l;
	*planes = l->planes;
	return (struct slate_plane_entry *)(void *)(l + 1);
}

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
	EXPECT_EQ(all, planes * e->blocks);	/* each block is in one state */
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

/* One victim in each plane, or die; then as many as can be won. */
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
	write_some(rng, units / 4);		/* the host goes on meanwhile */
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

/* Orders, knobs and faults at any moment: nothing is lost but what the faults say. */
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

/* ---- logs --------------------------------------------------------------------------- */

static const uint64_t *group(const struct slate_log_counters *l, unsigned int n)
{
	const uint64_t *w = (const uint64_t *)(const void *)(l + 1);
	const uint32_t words[] = { l->ops * l->op_words, l->ftl_words, l->sources * l->source_words,
				   l->rules, l->nand_words };

	for (unsigned int i = 1; i < n; i++)
		w += words[i - 1];
	return w;
}

static void counters_are_those_of_the_drive(void)
{
	const struct slate_stats *s;
	struct slate_log_counters *l;
	size_t bytes;

	if (open_with(NULL, tiny, NULL))
		return;
	make_stale();
	(void)collect(0);
	settle(true);
	EXPECT(reads_right(3));
	EXPECT(reads_right(9));		/* never written */
	l = slate_log(dev, now, SLATE_LOG_COUNTERS, &bytes);
	EXPECT_EQ(bytes, 64 + 8 * (4 * 14 + 41 + 5 * 11 + 12 + 20));
	EXPECT_EQ(l->head.magic, 0x474f4c53);
	EXPECT_EQ(l->head.bytes, bytes);
	EXPECT_EQ(l->head.at_ns, now);
	EXPECT_EQ(l->head.since_ns, 0);
	s = stats();
	EXPECT_EQ(group(l, 1)[SLATE_OP_WORDS * SLATE_WIRE_WRITE + SLATE_OP_ios], 8);
	EXPECT_EQ(group(l, 1)[SLATE_OP_WORDS * SLATE_WIRE_WRITE + SLATE_OP_cell_ns], 8 * 200000);
	EXPECT_EQ(group(l, 1)[SLATE_OP_latency_max_ns], READ + 1200);
	EXPECT_EQ(group(l, 1)[SLATE_OP_latency_min_ns], 1200);
	EXPECT_EQ(group(l, 1)[SLATE_OP_WORDS * SLATE_WIRE_TRIM + SLATE_OP_latency_min_ns], 0);
	EXPECT_EQ(group(l, 2)[SLATE_FTL_unwritten_reads], 1);
	EXPECT_EQ(group(l, 2)[SLATE_FTL_gc_units], 1);
	EXPECT_EQ(group(l, 2)[SLATE_FTL_link_to_drive_busy_ns], s->ftl.link_busy_ns[1]);
	EXPECT_EQ(group(l, 3)[SLATE_SOURCE_reads], 1);
	EXPECT_EQ(group(l, 3)[SLATE_SOURCE_WORDS + SLATE_SOURCE_erases], 1);
	EXPECT_EQ(group(l, 3)[SLATE_SOURCE_WORDS + SLATE_SOURCE_die_busy_ns], READ + PROG + ERASE);
	EXPECT_EQ(group(l, 5)[SLATE_NAND_programmed_pages], 5);
	EXPECT_EQ(group(l, 5)[SLATE_NAND_page_erases], 4);
	EXPECT_EQ(group(l, 5)[SLATE_NAND_page_erases_sq], s->nand.page_erases_sq);
	free(l);
	slate_close(dev);
}

static void a_reset_counts_from_here(void)
{
	struct slate_log_counters *l;
	struct slate_log_latency *lat;
	size_t bytes;
	uint32_t result;
	uint64_t at;

	if (open_with(NULL, tiny, NULL))
		return;
	make_stale();
	at = now;
	EXPECT_EQ(control(SLATE_RESET_COUNTERS, 0, 0, 0, &result), SLATE_DONE);
	EXPECT(reads_right(4));
	l = slate_log(dev, now, SLATE_LOG_COUNTERS, &bytes);
	EXPECT_EQ(l->head.since_ns, at);
	EXPECT_EQ(group(l, 1)[SLATE_OP_ios], 1);
	EXPECT_EQ(group(l, 1)[SLATE_OP_WORDS * SLATE_WIRE_WRITE + SLATE_OP_ios], 0);
	EXPECT_EQ(group(l, 5)[SLATE_NAND_programmed_pages], 8);	/* a level */
	free(l);
	lat = slate_log(dev, now, SLATE_LOG_LATENCY, &bytes);
	EXPECT_EQ(lat->entries, 1);
	free(lat);
	slate_close(dev);
}

static void latency_has_its_causes(void)
{
	const uint64_t want[2][SLATE_WIRE_CAUSES] = {
		/* cell, bus, host queue, GC, buffer, map, other, link */
		{ 50000, CMD + XFER, 0, 0, 0, 200, 1000, 0 },
		{ 8 * 200000, 8 * (CMD + XFER), 0, 0, 8 * 2000, 8 * 200, 8 * 1000, 0 },
	};
	struct slate_latency_entry *e;
	struct slate_log_latency *l;
	size_t bytes;

	if (open_with(NULL, tiny, NULL))
		return;
	make_stale();
	EXPECT(reads_right(4));
	l = slate_log(dev, now, SLATE_LOG_LATENCY, &bytes);
	EXPECT_EQ(l->entries, 2);
	EXPECT_EQ(bytes, 48 + 2 * 96);
	e = (struct slate_latency_entry *)(void *)(l + 1);
	for (unsigned int i = 0; i < 2; i++) {
		uint64_t sum = 0;

		EXPECT_EQ(e[i].op, i);
		EXPECT_EQ(e[i].ios, i ? 8 : 1);
		for (unsigned int c = 0; c < SLATE_WIRE_CAUSES; c++) {
			EXPECT_EQ(e[i].cause_ns[c], want[i][c]);
			sum += e[i].cause_ns[c];
		}
		EXPECT(e[i].from_ns <= sum / e[i].ios && sum / e[i].ios < e[i].below_ns);
	}
	free(l);
	slate_close(dev);
}

struct seen_buckets {
	uint32_t count;
	uint64_t ios, floor_ns[4];
};

static void see_bucket(void *opaque, uint64_t floor_ns, uint64_t ios)
{
	struct seen_buckets *s = opaque;

	if (s->count < 4)
		s->floor_ns[s->count] = floor_ns;
	s->count++;
	s->ios += ios;
}

static struct seen_buckets buckets_of(uint32_t mark, enum ftl_op op)
{
	struct seen_buckets s = { 0 };

	slate_each_bucket(dev, mark, op, see_bucket, &s);
	return s;
}

/* 1,024 buckets an octave: a read of 55,460 ns is in one that is 32 ns wide. */
static void histograms_of_marks_add_up(void)
{
	static const char label[SLATE_LABEL_BYTES] = "a job";
	const uint64_t read_ns = READ + 200 + 1000;
	struct seen_buckets all, first, second;

	if (open_with(NULL, tiny, NULL))
		return;
	make_stale();
	EXPECT_EQ(slate_mark(dev, now, SLATE_MARK_BEGIN, label), SSD_OK);
	EXPECT(reads_right(4));
	EXPECT(reads_right(4));
	EXPECT_EQ(slate_mark(dev, now, SLATE_MARK_END, label), SSD_OK);
	EXPECT_EQ(buckets_of(0, FTL_READ).count, 0);
	EXPECT_EQ(buckets_of(0, FTL_WRITE).ios, 8);
	first = buckets_of(1, FTL_READ);
	EXPECT_EQ(first.count, 1);
	EXPECT_EQ(first.ios, 2);
	EXPECT_EQ(first.floor_ns[0], read_ns / 32 * 32);
	EXPECT_EQ(buckets_of(1, FTL_WRITE).count, 0);
	EXPECT(reads_right(4));
	EXPECT_EQ(slate_mark(dev, now, SLATE_MARK_POINT, label), SSD_OK);
	second = buckets_of(2, FTL_READ);
	EXPECT_EQ(second.ios, 1);
	all = buckets_of(SLATE_NO_MARK, FTL_READ);
	EXPECT_EQ(all.count, 1);
	EXPECT_EQ(all.ios, 3);
	slate_reset_stats(dev);
	EXPECT_EQ(buckets_of(SLATE_NO_MARK, FTL_READ).count, 0);
	EXPECT_EQ(buckets_of(SLATE_NO_MARK, FTL_WRITE).count, 0);
	EXPECT(reads_right(4));
	EXPECT_EQ(buckets_of(SLATE_NO_MARK, FTL_READ).ios, 1);
	slate_close(dev);
}

static void blocks_and_wear(void)
{
	struct slate_plane_entry *e;
	struct slate_wear_entry *b;
	struct slate_log_wear *w;
	uint32_t planes;
	size_t bytes;
	void *log;

	if (open_with(NULL, tiny, NULL))
		return;
	make_stale();
	e = blocks(&log, &planes);
	EXPECT_EQ(planes, 1);
	EXPECT_EQ(e->blocks, 12);
	EXPECT_EQ(e->state[SLATE_BLOCK_FREE], 10);
	EXPECT_EQ(e->state[SLATE_BLOCK_FULL], 2);
	EXPECT_EQ(e->valid_units, 5);
	free(log);
	(void)collect(0);
	settle(true);
	e = blocks(&log, &planes);
	EXPECT_EQ(e->state[SLATE_BLOCK_FREE], 10);
	EXPECT_EQ(e->state[SLATE_BLOCK_FULL], 1);
	EXPECT_EQ(e->state[SLATE_BLOCK_OPEN], 1);
	EXPECT_EQ(e->erases_min, 0);
	EXPECT_EQ(e->erases_max, 1);
	EXPECT_EQ(e->erases_sum, 1);
	free(log);
	w = slate_log(dev, now, SLATE_LOG_WEAR, &bytes);
	EXPECT_EQ(bytes, 48 + 12 * 16);
	EXPECT_EQ(w->blocks, 12);
	b = (struct slate_wear_entry *)(void *)(w + 1);
	EXPECT_EQ(b[0].erases, 1);
	EXPECT_EQ(b[0].state, SLATE_BLOCK_FREE);
	EXPECT_EQ(b[1].valid_units, 4);
	EXPECT_EQ(b[2].state, SLATE_BLOCK_OPEN);
	EXPECT_EQ(b[2].valid_units, 1);
	free(w);
	slate_close(dev);
}

static void identity_and_errors(void)
{
	struct slate_log_identity *l;
	struct slate_log_error *x;
	size_t bytes;

	if (open_with(NULL, tiny, NULL))
		return;
	l = slate_log(dev, now, SLATE_LOG_IDENTITY, &bytes);
	EXPECT_EQ(l->capacity_bytes, 65536);
	EXPECT_EQ(l->pages_per_block, 4);
	EXPECT(!strcmp(l->profile, "tiny") && !strcmp(l->ftl, "page"));
	EXPECT_EQ(l->flags, SLATE_ID_TRIMS | SLATE_ID_COLLECTS | SLATE_ID_BLOCK_STATES | SLATE_ID_PAYLOAD);
	EXPECT_EQ(l->settings_bytes, strlen(slate_settings(dev)));
	EXPECT(!memcmp((char *)l + l->settings_at, slate_settings(dev), l->settings_bytes));
	EXPECT(!strncmp((char *)l + l->knobs_at, "ftl.gc_start_blocks\nftl.gc_stop_blocks\n", 39));
	EXPECT_EQ(l->head.bytes, bytes);
	free(l);
	x = slate_log(dev, now, SLATE_LOG_ERROR, &bytes);
	EXPECT_EQ(bytes, 560);
	EXPECT_EQ(x->opcode, 0);
	free(x);
	EXPECT_EQ(slate_set(dev, now, "ftl.x=1"), SLATE_REFUSED);
	x = slate_log(dev, now, SLATE_LOG_ERROR, &bytes);
	EXPECT_EQ(x->opcode, SLATE_ADM_SET);
	EXPECT_EQ(x->status, SLATE_REFUSED);
	EXPECT_EQ(x->refused, 1);
	EXPECT(!strcmp(x->text, slate_why(dev)));
	free(x);
	EXPECT(!slate_log(dev, now, SLATE_LOG_IDENTITY - 1, &bytes));
	EXPECT(!slate_log(dev, now, SLATE_LOG_END, &bytes));
	slate_close(dev);
}

/* 12 blocks, 4 of them the capacity's; endurance 2: after 8 erases of 12 blocks 33 %. */
static void health(void)
{
	static const char *const wear[] = { "reliability.endurance=2", "reliability.wear_shape=64", NULL };
	struct slate_health h;
	struct slate_sizes z;
	uint32_t at;

	if (open_with(NULL, tiny, wear))
		return;
	slate_get_sizes(dev, &z);
	EXPECT_EQ(z.atomic, 4096);
	EXPECT_EQ(z.write_granularity, 4096);
	EXPECT_EQ(z.write_optimal, 4096);
	slate_get_health(dev, &h);
	EXPECT_EQ(h.used_percent, 0);
	EXPECT_EQ(h.spare_percent, 100);
	EXPECT_EQ(h.power_cycles, 1);
	make_stale();
	EXPECT_EQ(control(SLATE_FAULT_ADD, SLATE_FAULT_FLIP | 1 << 16, 3, 0, &at), SLATE_DONE);
	EXPECT_EQ(run_io(FTL_READ, 3), SSD_E_UNCORR);
	EXPECT_EQ(control(SLATE_FAULT_CLEAR, 0, 0, 0, &at), SLATE_DONE);
	EXPECT_EQ(control(SLATE_FAULT_ADD, SLATE_FAULT_ERASE, 1, 0, &at), SLATE_DONE);
	(void)collect(0);
	settle(true);
	slate_get_health(dev, &h);
	EXPECT_EQ(h.media_errors, 1);
	EXPECT_EQ(h.spare_percent, 7 * 100 / 8);
	EXPECT_EQ(h.used_percent, 0);
	slate_close(dev);
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
	RUN(not_while_calls_are_recorded);
	RUN(every_ftl_collects_on_order);
	RUN(orders_at_any_moment);
	RUN(counters_are_those_of_the_drive);
	RUN(a_reset_counts_from_here);
	RUN(latency_has_its_causes);
	RUN(histograms_of_marks_add_up);
	RUN(blocks_and_wear);
	RUN(identity_and_errors);
	RUN(health);
	return test_result();
}
