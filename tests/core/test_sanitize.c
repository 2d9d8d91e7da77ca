// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test sanitize operations (slate_sanitize.h) of each FTL: their times, worked out by hand, a power cut at every kind
 * of moment, and what is left on flash.
 */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "array.h"
#include "sanitize_host.h"

#define BLOCKS 96u
#define OVERWRITE 0x123u	/* overwrite in 2 passes, and invert the pattern between them */
#define PATTERN 0x12345678u

static const struct kind kinds[] = {
	{ "page", { "ftl.type=page", "ftl.buffer_units=16", "ftl.gc_stop_blocks=5" } },
	{ "page, protected, cores", { "ftl.type=page", "ftl.buffer_units=16", "ftl.power_protected=yes",
				      "controller.cores=2", "controller.completion_ns=1000", "ftl.gc_stop_blocks=5" } },
	{ "page, cached map", { "ftl.type=page", "ftl.buffer_units=16", "ftl.unit_bytes=512", "ftl.map_cache_pages=8",
				"geometry.page_bytes=512", "geometry.oob_bytes=64", "geometry.ecc_word_bytes=512",
				"geometry.pages_per_block=64", "ftl.capacity_mib=1", "ftl.gc_stop_blocks=5" } },
	{ "page, one_shot", { "ftl.type=page", "ftl.buffer_units=16", "geometry.one_shot=yes",
			      "geometry.bits_per_cell=2", "ftl.capacity_mib=2", "ftl.gc_stop_blocks=5" } },
	{ "page, handles", { "ftl.type=page", "ftl.buffer_units=16", "ftl.placement_handles=2" } },
	{ "parity", { "ftl.type=parity", "ftl.buffer_units=16", "geometry.order=fps", "geometry.bits_per_cell=2",
		      "ftl.gc_stop_blocks=5" } },
	{ "rtf", { "ftl.type=rtf", "ftl.buffer_units=16", "geometry.order=fps", "geometry.bits_per_cell=2",
		   "ftl.active_blocks=2", "ftl.gc_stop_blocks=5" } },
	{ "flex", { "ftl.type=flex", "ftl.buffer_units=16", "geometry.order=rps", "geometry.bits_per_cell=2",
		    "ftl.gc_stop_blocks=5" } },
	{ "nftl", { "ftl.type=nftl", "ftl.buffer_units=0", "geometry.order=none", "ftl.gc_start_blocks=2",
		    "ftl.gc_urgent_blocks=1" } },
	{ "superblock", { "ftl.type=superblock", "ftl.buffer_units=0", "geometry.order=none",
			  "ftl.superblock_blocks=4", "ftl.superblock_max_blocks=6", "ftl.gc_stop_blocks=5" } },
	{ "dac", { "ftl.type=dac", "ftl.buffer_units=16", "ftl.gc_stop_blocks=5" } },
	{ "zns", { "ftl.type=zns", "ftl.buffer_units=64", "ftl.zone_active_max=4", "ftl.zone_open_max=4" } },
};

static void expect_blank(uint32_t bad, uint32_t order)
{
	const struct slate_sanitize_status s = state();
	uint32_t found = 0, pages = slate_geometry(dev)->pages_per_block;

	EXPECT_EQ(s.state, SLATE_SANITIZE_DONE);
	EXPECT_EQ(s.dw10, order);
	EXPECT_EQ(s.passes, order == OVERWRITE ? 2 : 0);
	EXPECT(s.blank);
	for (uint32_t b = 0; b < BLOCKS; b++) {
		found += dev->nand->ops->is_bad(dev->nand, (pbn_t){ b });
		for (uint32_t p = 0; p < pages && !dev->nand->ops->is_bad(dev->nand, (pbn_t){ b }); p++)
			EXPECT_EQ(dev->nand->ops->peek(dev->nand, (ppn_t){ b * pages + p }, NULL, NULL),
				  NAND_ERASED);
	}
	EXPECT_EQ(found, bad);
}

/* Expect that the drive is empty and works. */
static void expect_usable(void)
{
	memset(version, 0, sizeof(version));
	for (uint32_t u = 0; u < units; u++)
		EXPECT(reads_right(u));
	slate_check(dev);
	use(7);
	for (uint32_t u = 0; u < units; u++)
		EXPECT(reads_right(u));
	slate_check(dev);
}

static void counts(uint32_t *erases)
{
	for (uint32_t b = 0; b < BLOCKS; b++)
		erases[b] = dev->nand->ops->erase_count(dev->nand, (pbn_t){ b });
}

static void refusals(void)
{
	uint32_t result;

	EXPECT_EQ(run_io(FTL_READ, 0), SSD_E_BUSY);
	EXPECT_EQ(run_io(FTL_WRITE, 0), SSD_E_BUSY);
	EXPECT_EQ(run_io(FTL_FLUSH, 0), SSD_OK);
	EXPECT_EQ(run_io(FTL_TRIM, 0), SSD_E_BUSY);
	EXPECT_EQ(slate_sanitize(dev, now, 1, 0), SSD_E_BUSY);
	EXPECT_EQ(control(SLATE_FORCE_GC, 0, 0, 0, &result), SLATE_REFUSED);
	EXPECT(says("is being sanitized"));
	EXPECT_EQ(slate_set(dev, now, "ftl.gc_slice_pages=7"), SLATE_REFUSED);
	EXPECT(says("is being sanitized"));
}

/* The logs that a shell reads at any time exist during an operation, too. */
static void logs(void)
{
	size_t bytes;

	for (uint32_t id = SLATE_LOG_IDENTITY; id < SLATE_LOG_END; id++)
		free(slate_log(dev, now, id, &bytes));
}

static void exact(const struct kind *k)
{
	uint32_t before[BLOCKS], after[BLOCKS];
	uint64_t start, erases;

	if (open_with(NULL, shape, k->more))
		exit(1);
	EXPECT_EQ(state().state, SLATE_SANITIZE_NEVER);
	EXPECT(zoned() || state().blank);
	use(1);
	EXPECT(!state().blank);
	EXPECT_EQ(state().erase_ns, ROWS * (uint64_t)ROW_NS);
	counts(before);
	erases = stats()->nand.ops[NAND_ERASE][NAND_SRC_META];
	start = now;
	EXPECT_EQ(slate_sanitize(dev, now, BLOCK_ERASE, 0), SSD_OK);
	run_until(start + ROW_NS / 2);
	EXPECT_EQ(state().row, 0);
	refusals();
	logs();
	run_until(start + 10 * (uint64_t)ROW_NS);
	EXPECT_EQ(state().row, 10);
	EXPECT_EQ(state().state, SLATE_SANITIZE_RUNNING);
	run_to_end();
	EXPECT_EQ(now - start, ROWS * (uint64_t)ROW_NS);
	if (!zoned())
		expect_blank(0, BLOCK_ERASE);
	counts(after);
	for (uint32_t b = 0; b < BLOCKS; b++)
		EXPECT_EQ(after[b], before[b] + 1);
	EXPECT_EQ(stats()->nand.ops[NAND_ERASE][NAND_SRC_META], erases + BLOCKS);
	expect_usable();
	slate_close(dev);
}

/* A request that is under way ends as usual; the operation waits for it. */
static void waits(const struct kind *k)
{
	struct ftl_io io = { .op = FTL_READ, .bytes = 4096 };

	if (open_with(NULL, shape, k->more))
		exit(1);
	use(1);
	finished = false;
	slate_submit(dev, now, &io);
	(void)slate_step(dev, now);
	EXPECT(slate_inflight(dev) || finished);	/* some FTLs report a read before its time */
	EXPECT_EQ(slate_sanitize(dev, now, BLOCK_ERASE, 0), SSD_OK);
	run_to_end();
	EXPECT(finished && status == SSD_OK);
	expect_usable();
	slate_close(dev);
}

/* Cut the power `after` ns after the begin, and sometimes once more. Rows that have ended are not repeated. */
static void cut(const struct kind *k, uint64_t after)
{
	uint64_t start, row = after ? (after - 1) / ROW_NS : 0;
	uint32_t zones;

	if (open_with(NULL, shape, k->more))
		exit(1);
	use(after);
	zones = zone_count();
	EXPECT_EQ(slate_sanitize(dev, now, BLOCK_ERASE, 0), SSD_OK);
	start = now;
	cut_and_on(start + after);
	EXPECT(slate_is_sanitizing(dev));
	EXPECT_EQ(state().row, row);
	EXPECT_EQ(zone_count(), zones);
	refusals();
	logs();
	if (after % 3 == 0 && row + 2 < ROWS) {
		cut_and_on(now + ROW_NS + ROW_NS / 3);
		row++;
		EXPECT_EQ(state().row, row);
	}
	start = now;
	run_to_end();
	EXPECT_EQ(now - start, (ROWS - row) * ROW_NS);
	if (!zoned())
		expect_blank(0, BLOCK_ERASE);
	expect_usable();
	cut_and_on(now + 100);
	EXPECT(!slate_is_sanitizing(dev));
	EXPECT_EQ(state().state, SLATE_SANITIZE_DONE);
	slate_close(dev);
}

static void cuts(const struct kind *k)
{
	cut(k, 0);
	cut(k, 1);
	cut(k, 200);
	for (uint64_t i = 1; i < ROWS; i += 7) {
		cut(k, i * ROW_NS - 1);
		cut(k, i * ROW_NS);
		cut(k, i * ROW_NS + 1);
	}
	for (uint64_t at = 333333; at < ROWS * (uint64_t)ROW_NS; at += 5345678)
		cut(k, at);
	cut(k, ROWS * (uint64_t)ROW_NS);
}

static struct slate_power power(void)
{
	struct slate_power p;

	slate_get_power(dev, &p);
	return p;
}

/* The power is cut while the operation waits for a request, which is lost; with capacitors, the buffer is saved. */
static void cut_in_wait(const struct kind *k)
{
	struct ftl_io io = { .op = FTL_READ, .bytes = 4096 };
	bool waiting;

	if (open_with(NULL, shape, k->more))
		exit(1);
	use(1);
	if (!zoned())
		EXPECT_EQ(write_unit(0), SSD_OK);
	settle(false);
	finished = false;
	slate_submit(dev, now, &io);
	EXPECT_EQ(slate_sanitize(dev, now, BLOCK_ERASE, 0), SSD_OK);
	(void)slate_step(dev, now);
	waiting = !finished;
	EXPECT_EQ(dev->sanitizing, waiting ? SLATE_SANITIZE_WAITS : SLATE_SANITIZE_ERASES);
	EXPECT(waiting || !dev->profile.ftl.power_protected);
	cut_and_on(now + 500);
	EXPECT_EQ(finished, !waiting);
	EXPECT_EQ(power().lost_ios, waiting);
	EXPECT(slate_is_sanitizing(dev));
	EXPECT_EQ(state().row, 0);
	run_to_end();
	if (!zoned())
		expect_blank(0, BLOCK_ERASE);
	expect_usable();
	slate_close(dev);
}

/* Sanitize with a cut planned. It falls into the mount at the end, and occurs when that has ended. */
static void cut_mount(const struct kind *k, enum slate_cut_when when, uint64_t value, uint64_t mount_ns)
{
	struct slate_cut_plan plan = { when, value, 3 };
	uint64_t end;

	if (open_with(NULL, shape, k->more))
		exit(1);
	use(1);
	end = now + ROWS * (uint64_t)ROW_NS;
	plan.value += when == SLATE_CUT_AT_NS ? end : BLOCKS;
	EXPECT_EQ(slate_power_cut(dev, now, &plan, err), SSD_OK);
	EXPECT_EQ(slate_sanitize(dev, now, BLOCK_ERASE, 0), SSD_OK);
	run_until(end);
	EXPECT(slate_powered(dev));
	EXPECT_EQ(power().planned_ns, end + mount_ns);
	EXPECT_EQ(next, end + mount_ns);
	run_until(end + mount_ns);
	EXPECT(!slate_powered(dev));
	EXPECT_EQ(power().cut_ns, end + mount_ns);
	now += 5000;
	EXPECT_EQ(slate_power_on(dev, now, err), SSD_OK);
	EXPECT(!slate_is_sanitizing(dev));
	EXPECT_EQ(state().state, SLATE_SANITIZE_DONE);
	expect_usable();
	slate_close(dev);
}

static void cuts_in_mount(const struct kind *k)
{
	uint64_t mount_ns, commands = 0;

	if (open_with(NULL, shape, k->more))
		exit(1);
	use(1);
	EXPECT_EQ(slate_sanitize(dev, now, BLOCK_ERASE, 0), SSD_OK);
	run_to_end();
	mount_ns = dev->ready_ns - now;
	for (unsigned int op = 0; op < NAND_NOPS; op++)
		commands += power().mount_ops[op];
	slate_close(dev);
	EXPECT(mount_ns > 1 && commands);
	cut_mount(k, SLATE_CUT_AT_NS, 1, mount_ns);
	cut_mount(k, SLATE_CUT_AT_NS, mount_ns / 2, mount_ns);
	cut_mount(k, SLATE_CUT_AT_NS, mount_ns, mount_ns);
	cut_mount(k, SLATE_CUT_AFTER_COMMANDS, 1, mount_ns);
	cut_mount(k, SLATE_CUT_AFTER_COMMANDS, (commands + 1) / 2, mount_ns);
}

/*
 * A cut by commands during the erases. The second die of a channel gets its commands 200 ns after the first, which
 * ends before the row does.
 */
static void cut_by_commands(void)
{
	static const char *const two[] = { "geometry.dies_per_chip=2", "ftl.type=page", "ftl.gc_stop_blocks=5", NULL };
	const struct slate_cut_plan plan = { SLATE_CUT_AFTER_COMMANDS, 2, 1 };
	uint64_t start;

	if (open_with(NULL, shape, two))
		exit(1);
	use(1);
	start = now;
	EXPECT_EQ(slate_power_cut(dev, now, &plan, err), SSD_OK);
	EXPECT_EQ(slate_sanitize(dev, now, BLOCK_ERASE, 0), SSD_OK);
	EXPECT_EQ(slate_step(dev, now), start + ROW_NS);
	EXPECT_EQ(dev->sanitize_next_ns - dev->skipped_ns, start + ROW_NS + 200);
	now = start + ROW_NS;
	EXPECT_EQ(slate_step(dev, now), FTL_IDLE);
	EXPECT(!slate_powered(dev));
	EXPECT_EQ(power().cut_ns, start + ROW_NS);
	slate_close(dev);
}

/* A write ends the drive's being blank, even if nothing is on flash, until the next operation; a trim does not. */
static void written(const struct kind *k)
{
	if (open_with(NULL, shape, k->more))
		exit(1);
	if (!zoned()) {
		EXPECT_EQ(run_io(FTL_TRIM, 0), SSD_OK);
		settle(false);
		EXPECT(state().blank || dev->profile.ftl.map_cache_pages);	/* such a map is on flash */
		for (int round = 0; round < 2; round++) {
			EXPECT_EQ(write_unit(0), SSD_OK);
			EXPECT(!state().blank);
			cut_and_on(now + 1);
			EXPECT(!state().blank);
			EXPECT_EQ(slate_sanitize(dev, now, BLOCK_ERASE, 0), SSD_OK);
			run_to_end();
			expect_blank(0, BLOCK_ERASE);
		}
	}
	slate_close(dev);
}

/* A block whose erase fails is bad from then on, and the operation fails. The next operation skips the block. */
static void failure(const struct kind *k)
{
	uint32_t result;

	if (open_with(NULL, shape, k->more))
		exit(1);
	use(1);
	EXPECT_EQ(control(SLATE_FAULT_ADD, SLATE_FAULT_ERASE, 1, 0, &result), SLATE_DONE);
	EXPECT_EQ(slate_sanitize(dev, now, BLOCK_ERASE, 0), SSD_OK);
	run_to_end();
	EXPECT_EQ(state().state, SLATE_SANITIZE_FAILED);
	EXPECT(!state().blank);
	EXPECT_EQ(control(SLATE_FAULT_CLEAR, 0, 0, 0, &result), SLATE_DONE);
	memset(version, 0, sizeof(version));
	for (uint32_t u = 0; u < units; u++)
		EXPECT(reads_right(u));
	use(3);
	EXPECT_EQ(slate_sanitize(dev, now, BLOCK_ERASE, 0), SSD_OK);
	run_to_end();
	if (!zoned())
		expect_blank(1, BLOCK_ERASE);
	expect_usable();
	slate_close(dev);
}

/* ---- overwriting -------------------------------------------------------------------------- */

/* Time of a row: its erases, then its pages, one after another. */
static uint64_t overwrite_row_ns(void)
{
	const struct nand_geometry *g = slate_geometry(dev);

	return ROW_NS + g->pages_per_block * (2 * (100ull + g->page_bytes + g->oob_bytes)) +
	       g->pages_per_block / (g->one_shot ? g->bits_per_cell : 1) * 200000ull;
}

/* Does each page of the row have this word, and nothing else? */
static bool row_has(uint32_t row, uint32_t word)
{
	uint32_t pages = slate_geometry(dev)->pages_per_block, bytes = slate_geometry(dev)->page_bytes;
	bool same = true;

	for (uint32_t b = row; b < BLOCKS; b += ROWS)
		for (uint32_t p = 0; p < pages; p++) {
			const void *at;
			const uint32_t *words;

			if (dev->nand->ops->peek(dev->nand, (ppn_t){ b * pages + p }, &at, NULL) != NAND_OK)
				return false;
			words = at;
			for (uint32_t i = 0; i < bytes / 4; i++)
				same &= words[i] == word;
		}
	return same;
}

static bool row_is_erased(uint32_t row)
{
	uint32_t pages = slate_geometry(dev)->pages_per_block;
	bool erased = true;

	for (uint32_t b = row; b < BLOCKS; b += ROWS)
		for (uint32_t p = 0; p < pages; p++)
			erased &= dev->nand->ops->peek(dev->nand, (ppn_t){ b * pages + p }, NULL, NULL) == NAND_ERASED;
	return erased;
}

/* Of two passes, the first has the complement, and the second, which erases each row again, the pattern. */
static void overwrite(const struct kind *k)
{
	uint64_t start, row_ns, last_ns, programs;
	uint32_t before[BLOCKS], after[BLOCKS];

	open_used(k);
	row_ns = overwrite_row_ns();
	last_ns = row_ns + ROW_NS;
	counts(before);
	programs = stats()->nand.ops[NAND_PROGRAM][NAND_SRC_META];
	start = now;
	EXPECT_EQ(state().overwrite_ns, 15 * ROWS * row_ns + ROWS * last_ns);
	EXPECT_EQ(slate_sanitize(dev, now, OVERWRITE, PATTERN), SSD_OK);
	run_until(start + 5 * row_ns);
	EXPECT_EQ(state().row, 5);
	EXPECT_EQ(state().rows, 2 * ROWS);
	EXPECT_EQ(state().passes, 0);
	refusals();
	for (uint32_t row = 0; row < 5; row++)
		EXPECT(row_has(row, ~PATTERN));
	start += ROWS * row_ns;
	run_until(start - 1);
	EXPECT_EQ(state().passes, 0);
	run_until(start + 3 * last_ns + row_ns - 1);
	EXPECT_EQ(state().row, ROWS + 3);
	EXPECT_EQ(state().passes, 1);
	for (uint32_t row = 0; row < ROWS; row++)
		EXPECT(row < 3 ? row_is_erased(row) : row_has(row, row == 3 ? PATTERN : ~PATTERN));
	run_to_end();
	EXPECT_EQ(now - start, ROWS * last_ns);
	if (!zoned())
		expect_blank(0, OVERWRITE);
	counts(after);
	for (uint32_t b = 0; b < BLOCKS; b++)
		EXPECT_EQ(after[b], before[b] + 3);
	EXPECT_EQ(stats()->nand.ops[NAND_PROGRAM][NAND_SRC_META],
		  programs + (uint64_t)2 * BLOCKS * slate_geometry(dev)->pages_per_block);
	expect_usable();
	slate_close(dev);
}

/* Without inversion each pass has the pattern, and so has the first of an odd number; 0 passes are 16. */
static void first_pass(const struct kind *k, uint32_t order, uint32_t passes, uint32_t word)
{
	open_used(k);
	EXPECT_EQ(slate_sanitize(dev, now, order, PATTERN), SSD_OK);
	EXPECT_EQ(state().rows, passes * ROWS);
	run_until(now + overwrite_row_ns() - 1);
	EXPECT(row_has(0, word));
	slate_close(dev);
}

/*
 * Cut the power in a row, or a pass, before it ends: the row is erased and programmed anew. `left`: rows of both passes
 * that have not ended, with the last pass's.
 */
static void cut_overwrite(const struct kind *k, uint32_t rows, uint64_t more_ns)
{
	uint64_t row_ns, last_ns, start, left = rows < ROWS ? ROWS - rows : 0;
	uint32_t left_of_last = rows < ROWS ? ROWS : 2 * ROWS - rows;

	open_used(k);
	row_ns = overwrite_row_ns();
	last_ns = row_ns + ROW_NS;
	EXPECT_EQ(slate_sanitize(dev, now, OVERWRITE, PATTERN), SSD_OK);
	cut_and_on(now + (rows < ROWS ? rows * row_ns : ROWS * row_ns + (rows - ROWS) * last_ns) + more_ns);
	EXPECT(slate_is_sanitizing(dev));
	EXPECT_EQ(state().row, rows);
	EXPECT_EQ(state().dw10, OVERWRITE);
	start = now;
	run_until(start + row_ns - 1);
	EXPECT(row_has(rows % ROWS, rows < ROWS ? ~PATTERN : PATTERN));
	run_to_end();
	EXPECT_EQ(now - start, left * row_ns + left_of_last * last_ns);
	if (!zoned())
		expect_blank(0, OVERWRITE);
	expect_usable();
	slate_close(dev);
}

/* A program fails: the block becomes bad, and the operation fails when all others have been overwritten. */
static void overwrite_fails(const struct kind *k)
{
	uint32_t result, bad = 0;

	open_used(k);
	EXPECT_EQ(control(SLATE_FAULT_ADD, SLATE_FAULT_PROGRAM, 7, 0, &result), SLATE_DONE);
	EXPECT_EQ(slate_sanitize(dev, now, OVERWRITE, PATTERN), SSD_OK);
	run_to_end();
	EXPECT_EQ(state().state, SLATE_SANITIZE_FAILED);
	EXPECT_EQ(state().passes, 2);
	for (uint32_t b = 0; b < BLOCKS; b++)
		bad += dev->nand->ops->is_bad(dev->nand, (pbn_t){ b });
	EXPECT_EQ(bad, 1);
	slate_close(dev);
}

static void overwrites(const struct kind *k)
{
	overwrite(k);
	first_pass(k, 0x013, 1, PATTERN);
	first_pass(k, 0x023, 2, PATTERN);
	first_pass(k, 0x133, 3, PATTERN);
	first_pass(k, 0x003, 16, PATTERN);
	first_pass(k, 0x103, 16, ~PATTERN);
	cut_overwrite(k, 0, 1);
	cut_overwrite(k, 5, ROW_NS + 100000);	/* the first program is torn */
	cut_overwrite(k, 23, ROW_NS + 1);
	cut_overwrite(k, 26, ROW_NS / 2);
	cut_overwrite(k, 47, ROW_NS + 300000);
	overwrite_fails(k);
}

/* ---- a drive file --------------------------------------------------------------------------- */

static char dir[] = "/tmp/slate-sanitize-XXXXXX", path[64], ini[64];

static void put_setting(FILE *out, const char *s)
{
	const char *dot = strchr(s, '.');

	fprintf(out, "[%.*s]\n%s\n", (int)(dot - s), s, dot + 1);
}

/* Does the kind have a value of its own for this setting? */
static bool own_value(const struct kind *k, const char *setting)
{
	size_t key = strcspn(setting, "=") + 1;

	for (const char *const *s = k->more; *s; s++)
		if (!strncmp(*s, setting, key))
			return true;
	return false;
}

static void write_profile(const struct kind *k)
{
	FILE *out = fopen(ini, "w");

	SSD_ASSERT(out);
	for (const char *const *s = shape; *s; s++)
		if (!own_value(k, *s))
			put_setting(out, *s);
	for (const char *const *s = k->more; *s; s++)
		put_setting(out, *s);
	fclose(out);
}

static void open_file(bool new_drive)
{
	const struct slate_options o = { .profile = new_drive ? ini : NULL, .backing = path };

	if (slate_open(&o, &host, &dev, err)) {
		printf("%s\n", err);
		exit(1);
	}
	now = 0;
	unit_bytes = slate_unit_bytes(dev);
	units = (uint32_t)(slate_capacity(dev) / unit_bytes);
}

/* The shell is killed in the middle: the next one ends the operation before it uses the drive. */
static void killed(const struct kind *k, uint32_t order, uint32_t row)
{
	uint32_t *before = mmap(NULL, BLOCKS * sizeof(*before), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
				0);
	uint32_t after[BLOCKS], erases = order == OVERWRITE ? 3 : 1;
	int how;
	pid_t child;

	SSD_ASSERT(before != MAP_FAILED);
	unlink(path);
	write_profile(k);
	fflush(stdout);
	child = fork();
	SSD_ASSERT(child >= 0);
	if (!child) {
		failures = 0;
		open_file(true);
		use(1);
		counts(before);
		EXPECT_EQ(slate_sanitize(dev, now, order, PATTERN), SSD_OK);
		run_until(now + row * (order == OVERWRITE ? overwrite_row_ns() : ROW_NS) + 1000);
		fflush(stdout);
		_exit(failures ? 1 : 0);
	}
	SSD_ASSERT(waitpid(child, &how, 0) == child);
	EXPECT(WIFEXITED(how) && !WEXITSTATUS(how));
	open_file(false);
	EXPECT(!slate_is_sanitizing(dev));
	if (!zoned())
		expect_blank(0, order);
	counts(after);
	for (uint32_t b = 0; b < BLOCKS; b++)	/* the row that was interrupted may be erased twice */
		EXPECT(after[b] == before[b] + erases ||
		       (b % ROWS == row && after[b] == before[b] + erases + 1));
	munmap(before, BLOCKS * sizeof(*before));
	expect_usable();
	slate_close(dev);
	open_file(false);
	EXPECT_EQ(state().state, SLATE_SANITIZE_DONE);
	EXPECT_EQ(state().dw10, order);
	EXPECT(!state().blank);
	slate_close(dev);
}

static void whole(const struct kind *k)
{
	exact(k);
	waits(k);
	cut_in_wait(k);
	cuts(k);
	cuts_in_mount(k);
	written(k);
	failure(k);
	killed(k, BLOCK_ERASE, 0);
	killed(k, BLOCK_ERASE, 11);
	overwrites(k);
	killed(k, OVERWRITE, 11);
}

int main(void)
{
	SSD_ASSERT(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/drive", dir);
	snprintf(ini, sizeof(ini), "%s/profile.ini", dir);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		RUN_AS(kinds[i].name, whole(&kinds[i]));
	RUN(cut_by_commands);
	unlink(path);
	unlink(ini);
	rmdir(dir);
	return test_result();
}
