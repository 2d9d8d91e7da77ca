// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test reads across zones, and random write areas of zones (ftl/zns/zns_window.c), by hand: errors, write pointers,
 * times to the nanosecond, what survives. test_zns runs drives with such areas at random and through power cuts.
 */
#include "zns.h"
#include "zns_drive.h"

#define FRONT 20u			/* map_ns + overhead_ns */
#define BUFFERED (FRONT + 10u)
#define TRANSFER (100u + 1088u)		/* command cycles, a page with its spare area at 1 ns a byte */
#define PROGRAM (TRANSFER + 20000u)
#define PROGRAM2 (2 * TRANSFER + 20000u)	/* of both planes: cells together */

/* The die has two planes, pages of two sectors, blocks of eight pages: zones of 32 sectors, areas of four. */
static const struct zr_shape areas = {
	.g = { 1, 1, 1, 2, 8, 8, 1024, 64, 0, 1024, 0, 1, 1, NAND_ORDER_ASCENDING },
	.zones = 5, .zone_blocks = 1, .active_max = 2, .open_max = 2, .window = 2, .step = 1, .power2 = true,
};

static uint64_t time_of(enum ftl_op op, enum ftl_zone_op zone, uint64_t sector, uint32_t sectors, bool fua)
{
	return zr_alone(&first, op, zone, sector, sectors, fua, NULL, NULL);
}

static enum ssd_err open_area(uint32_t zone)
{
	return status_of(FTL_TRIM, FTL_ZONE_OPEN_WINDOW, zone * 32ull, 0);
}

static enum ssd_err commit(uint32_t zone, uint32_t end)
{
	return status_of(FTL_TRIM, FTL_ZONE_COMMIT, zone * 32ull, end);
}

/* Returns the write pointer in the zone, in sectors. */
static uint32_t pointer(uint32_t zone)
{
	return (uint32_t)((report(zone).wp - report(zone).start) / 512);
}

static void errors(void)
{
	begin(&areas);
	EXPECT_EQ(first.zones.window_max, 2);
	EXPECT_EQ(first.zones.window_bytes, 2048);
	EXPECT_EQ(first.zones.window_step, 1024);
	EXPECT_EQ(commit(0, 2), SSD_E_INVAL);				/* it has no area */
	EXPECT_EQ(status_of(FTL_WRITE, 0, 0, 1), SSD_OK);
	EXPECT_EQ(open_area(0), SSD_E_ZONE_WINDOW);			/* within a page */
	EXPECT_EQ(status_of(FTL_WRITE, 0, 1, 1), SSD_OK);
	EXPECT_EQ(open_area(0), SSD_OK);
	EXPECT_EQ(open_area(0), SSD_OK);
	EXPECT(report(0).window);
	EXPECT_EQ(report(0).state, FTL_ZONE_EXPLICIT);
	EXPECT_EQ(status_of(FTL_WRITE, FTL_ZONE_APPEND, 0, 1), SSD_E_ZONE_OP);
	EXPECT_EQ(status_of(FTL_WRITE, 0, 1, 1), SSD_E_ZONE_WP);	/* before the area */
	EXPECT_EQ(status_of(FTL_WRITE, 0, 9, 2), SSD_E_ZONE_WP);	/* beyond twice the area */
	EXPECT_EQ(commit(0, 2), SSD_E_ZONE_BOUNDARY);
	EXPECT_EQ(commit(0, 7), SSD_E_ZONE_BOUNDARY);
	EXPECT_EQ(commit(0, 3), SSD_E_INVAL);				/* no whole page */
	EXPECT_EQ(pointer(0), 2);
	EXPECT_EQ(status_of(FTL_TRIM, FTL_ZONE_CLOSE, 0, 0), SSD_OK);
	EXPECT(report(0).window);					/* a closed zone keeps it */
	EXPECT_EQ(commit(0, 4), SSD_OK);
	EXPECT_EQ(report(0).state, FTL_ZONE_IMPLICIT);
	EXPECT_EQ(pointer(0), 4);
	EXPECT_EQ(status_of(FTL_TRIM, FTL_ZONE_RESET, 0, 0), SSD_OK);
	EXPECT(!report(0).window);
	EXPECT_EQ(status_of(FTL_TRIM, FTL_ZONE_FINISH, 0, 0), SSD_OK);
	EXPECT_EQ(open_area(0), SSD_E_ZONE_STATE);			/* it is full */
	EXPECT_EQ(commit(0, 2), SSD_E_INVAL);
	zr_free(&first);
	begin(&small);
	EXPECT_EQ(open_area(0), SSD_E_ZONE_WINDOW);			/* the drive has none */
	EXPECT_EQ(first.zones.window_max, 0);
	zr_free(&first);
}

/* The drive has two active zones, of which one may have an area; areas are committed by two pages. */
static void limits(void)
{
	struct zr_shape s = areas;

	s.windows = 1;
	s.step = 2;
	begin(&s);
	EXPECT_EQ(open_area(0), SSD_OK);
	EXPECT_EQ(open_area(1), SSD_E_ZONE_WINDOW);
	EXPECT_EQ(report(1).state, FTL_ZONE_EMPTY);
	EXPECT_EQ(commit(0, 2), SSD_E_INVAL);
	EXPECT_EQ(commit(0, 4), SSD_OK);
	EXPECT_EQ(status_of(FTL_WRITE, 0, 8, 1), SSD_OK);	/* one sector too many: two pages are committed */
	EXPECT_EQ(pointer(0), 8);
	EXPECT_EQ(status_of(FTL_TRIM, FTL_ZONE_FINISH, 0, 0), SSD_OK);
	EXPECT_EQ(open_area(1), SSD_OK);
	EXPECT_EQ(first.ops->stats(first.f)->zone_commits, 1);
	EXPECT_EQ(first.ops->stats(first.f)->zone_implicit_commits, 1);
	EXPECT_EQ(first.ops->stats(first.f)->zone_opens, 2);
	zr_free(&first);
}

/* Near the zone's end the area shrinks, and the last commit makes the zone full. */
static void the_end_of_a_zone(void)
{
	begin(&areas);
	EXPECT_EQ(open_area(0), SSD_OK);
	for (uint32_t at = 0; at < 32; at += 4)
		EXPECT_EQ(status_of(FTL_WRITE, 0, at, 4), SSD_OK);
	EXPECT_EQ(pointer(0), 28);
	EXPECT_EQ(status_of(FTL_WRITE, 0, 31, 2), SSD_E_ZONE_BOUNDARY);
	EXPECT_EQ(commit(0, 33), SSD_E_ZONE_BOUNDARY);
	EXPECT_EQ(commit(0, 32), SSD_OK);
	EXPECT_EQ(report(0).state, FTL_ZONE_FULL);
	EXPECT(!report(0).window);
	EXPECT_EQ(status_of(FTL_READ, 0, 0, 32), SSD_OK);
	zr_free(&first);
}

/* Data that were overwritten before a commit do not reach flash. */
static void overwrites_stay_in_the_buffer(void)
{
	begin(&areas);
	EXPECT_EQ(open_area(0), SSD_OK);
	for (uint32_t i = 0; i < 10; i++)
		EXPECT_EQ(time_of(FTL_WRITE, 0, i % 4, 1, false), BUFFERED);
	EXPECT_EQ(time_of(FTL_READ, 0, 0, 4, false), BUFFERED);
	EXPECT_EQ(pointer(0), 0);
	zr_drain(&first);
	EXPECT_EQ(first.ops->stats(first.f)->host_units, 0);
	EXPECT_EQ(commit(0, 4), SSD_OK);
	zr_drain(&first);
	EXPECT_EQ(first.ops->stats(first.f)->host_units, 4);
	EXPECT_EQ(first.ops->stats(first.f)->meta_units, 0);
	EXPECT_EQ(status_of(FTL_READ, 0, 0, 32), SSD_OK);
	zr_free(&first);
}

static void times(void)
{
	begin(&areas);
	EXPECT_EQ(time_of(FTL_TRIM, FTL_ZONE_OPEN_WINDOW, 0, 0, false), FRONT);
	EXPECT_EQ(time_of(FTL_WRITE, 0, 2, 1, true), PROGRAM + BUFFERED);	/* FUA programs page 1 to the log */
	EXPECT_EQ(time_of(FTL_FLUSH, 0, 0, 0, false), FRONT);
	EXPECT_EQ(time_of(FTL_WRITE, 0, 3, 1, false), BUFFERED);
	EXPECT_EQ(time_of(FTL_WRITE, 0, 0, 1, false), BUFFERED);
	/* Pages 0 and 1 are programmed one after the other on the one die. */
	EXPECT_EQ(time_of(FTL_FLUSH, 0, 0, 0, false), 2 * PROGRAM + FRONT);
	EXPECT_EQ(time_of(FTL_TRIM, FTL_ZONE_COMMIT, 0, 4, false), FRONT);	/* the programs go on ... */
	EXPECT_EQ(time_of(FTL_FLUSH, 0, 0, 0, false), PROGRAM2);		/* ... since FRONT ago */
	/* Of a write of four pages the first two are committed as the others come, and these wait for their places. */
	EXPECT_EQ(time_of(FTL_WRITE, 0, 4, 8, false), PROGRAM2 + BUFFERED);
	EXPECT_EQ(pointer(0), 8);
	EXPECT_EQ(first.ops->stats(first.f)->zone_implicit_commits, 1);
	EXPECT_EQ(time_of(FTL_TRIM, FTL_ZONE_FINISH, 0, 0, false), PROGRAM2 + PROGRAM + FRONT);
	zr_free(&first);
}

/* The second commit is of two pages that were never written, and waits for their places; a flush waits for it, too. */
static void a_commit_waits(void)
{
	begin(&areas);
	EXPECT_EQ(open_area(0), SSD_OK);
	EXPECT_EQ(status_of(FTL_WRITE, 0, 0, 4), SSD_OK);
	zr_submit(&first, FTL_TRIM, FTL_ZONE_COMMIT, 0, 4, false);
	zr_submit(&first, FTL_TRIM, FTL_ZONE_COMMIT, 0, 8, false);
	EXPECT_EQ(pointer(0), 8);
	EXPECT_EQ(time_of(FTL_FLUSH, 0, 0, 0, false), 2 * PROGRAM2 + FRONT);
	zr_free(&first);
}

/* Flushed pages of an area are there after a cut, with the area; a hole in it stays one. */
static void what_was_flushed_survives(void)
{
	begin(&areas);
	EXPECT_EQ(status_of(FTL_WRITE, 0, 0, 2), SSD_OK);
	EXPECT_EQ(open_area(0), SSD_OK);
	EXPECT_EQ(status_of(FTL_WRITE, 0, 5, 1), SSD_OK);
	EXPECT_EQ(status_of(FTL_FLUSH, 0, 0, 0), SSD_OK);
	EXPECT_EQ(status_of(FTL_WRITE, 0, 2, 1), SSD_OK);		/* not flushed */
	EXPECT_EQ(open_area(1), SSD_OK);				/* nothing in it is flushed */
	EXPECT_EQ(status_of(FTL_WRITE, 0, 32, 1), SSD_OK);
	for (uint32_t mounts = 0; mounts < 3; mounts++) {
		cut_and_mount();
		zr_verify(&first, &first);
		zr_adopt(&first, &first);
		EXPECT_EQ(report(0).state, FTL_ZONE_CLOSED);
		EXPECT(report(0).window);
		EXPECT_EQ(pointer(0), 2);
		EXPECT(first.zone[0].base.tag[5]);
		EXPECT(!first.zone[0].base.tag[2] && !first.zone[0].base.tag[3] && !first.zone[0].base.tag[4]);
		EXPECT_EQ(report(1).state, FTL_ZONE_EMPTY);
		EXPECT(!report(1).window);
	}
	EXPECT_EQ(status_of(FTL_WRITE, 0, 3, 3), SSD_OK);		/* over the page that the log has */
	EXPECT_EQ(commit(0, 6), SSD_OK);
	EXPECT_EQ(status_of(FTL_FLUSH, 0, 0, 0), SSD_OK);
	cut_and_mount();
	zr_verify(&first, &first);
	zr_adopt(&first, &first);
	EXPECT(!report(0).window);					/* nothing is behind the write pointer */
	EXPECT_EQ(pointer(0), 6);
	EXPECT_EQ(open_area(0), SSD_OK);
	EXPECT_EQ(status_of(FTL_READ, 0, 0, 32), SSD_OK);
	zr_free(&first);
}

/* The drive is mounted with smaller areas, and with fewer: the rest is committed. */
static void a_mount_with_other_keys(void)
{
	begin(&areas);
	EXPECT_EQ(open_area(0), SSD_OK);
	EXPECT_EQ(open_area(1), SSD_OK);
	EXPECT_EQ(status_of(FTL_WRITE, 0, 3, 1), SSD_OK);
	EXPECT_EQ(status_of(FTL_WRITE, 0, 35, 1), SSD_OK);
	EXPECT_EQ(status_of(FTL_FLUSH, 0, 0, 0), SSD_OK);
	first.fc.zrwa_pages = 1;
	cut_and_mount();
	EXPECT_EQ(pointer(0), 2);
	EXPECT_EQ(pointer(1), 2);
	EXPECT(report(0).window && report(1).window);
	first.fc.zrwa_zones = 1;
	cut_and_mount();
	EXPECT(report(0).window && !report(1).window);
	EXPECT_EQ(pointer(0), 2);
	EXPECT_EQ(pointer(1), 4);
	first.fc.zrwa_pages = first.fc.zrwa_zones = 0;
	cut_and_mount();
	EXPECT(!report(0).window);
	EXPECT_EQ(pointer(0), 4);
	EXPECT_EQ(report(0).state, FTL_ZONE_CLOSED);
	zr_adopt(&first, &first);
	EXPECT(first.zone[0].base.tag[3] && first.zone[1].base.tag[3]);
	zr_free(&first);
}

static enum nand_status fail_programs(void *opaque, const struct nand_cmd *c)
{
	return *(bool *)opaque && c->op == NAND_PROGRAM && c->source == NAND_SRC_HOST ? NAND_PROG_FAIL : NAND_OK;
}

/* A program of a committed page fails: what was flushed can be read, also after a cut. */
static void a_program_fails(void)
{
	bool fails = false;
	struct nand_hooks hooks = { .violation = test_violation, .fault = fail_programs, .opaque = &fails };

	begin(&areas);
	nand_array_set_hooks(first.ta.a, &hooks);
	EXPECT_EQ(open_area(0), SSD_OK);
	EXPECT_EQ(status_of(FTL_WRITE, 0, 0, 4), SSD_OK);
	EXPECT_EQ(status_of(FTL_FLUSH, 0, 0, 0), SSD_OK);
	fails = first.may_fail = true;
	zr_submit(&first, FTL_TRIM, FTL_ZONE_COMMIT, 0, 2, false);
	zr_drain(&first);
	EXPECT_EQ(report(0).state, FTL_ZONE_READONLY);
	EXPECT(!report(0).window);
	EXPECT_EQ(status_of(FTL_READ, 0, 0, 4), SSD_OK);
	fails = false;
	for (uint32_t mounts = 0; mounts < 2; mounts++) {
		cut_and_mount();
		EXPECT_EQ(report(0).state, FTL_ZONE_READONLY);
		zr_adopt(&first, &first);
		EXPECT_EQ(first.zone[0].base.tag[0], 1);
		EXPECT_EQ(first.zone[0].base.tag[3], 1);
	}
	zr_free(&first);
}

static struct zr second;
static uint32_t cuts;

static void verify_after_cut(void *opaque, uint64_t now_ns, const struct nand_cmd *c, unsigned int count)
{
	(void)opaque;
	for (int when = 0; when < 3; when++) {
		test_lose_power(&second.ta, &first.ta, test_cut_time(now_ns, &c[count - 1], when), 1);
		zr_mount(&second);
		zr_verify(&second, &first);
		cuts++;
	}
}

/*
 * Each zone has a page on flash, and a flushed one in the log's first block, which is full. A write to zone 0 begins
 * the second block, and the pages are on their way there when zones 1 to 3 are reset: the first block is needed until
 * flash has the records of all these resets.
 */
static void records_of_zones_that_are_reset(void)
{
	struct nand_hooks hooks = { .violation = test_violation, .done = verify_after_cut };
	struct zr_shape s = areas;

	s.active_max = s.open_max = 4;
	s.window = 1;
	zr_make(&second, &s);
	begin(&s);
	nand_array_set_hooks(first.ta.a, &hooks);
	cuts = 0;
	for (uint32_t zone = 0; zone < 4; zone++) {
		EXPECT_EQ(status_of(FTL_WRITE, 0, zone * 32ull, 2), SSD_OK);
		zr_drain(&first);
		EXPECT_EQ(open_area(zone), SSD_OK);
		EXPECT_EQ(status_of(FTL_WRITE, 0, zone * 32ull + 2, 1), SSD_OK);
	}
	EXPECT_EQ(status_of(FTL_FLUSH, 0, 0, 0), SSD_OK);
	for (uint32_t i = 0; i < 4; i++)
		EXPECT_EQ(time_of(FTL_WRITE, 0, 2, 1, true), PROGRAM + BUFFERED);
	zr_submit(&first, FTL_WRITE, 0, 3, 1, true);
	for (uint32_t zone = 1; zone < 4; zone++)
		zr_submit(&first, FTL_TRIM, FTL_ZONE_RESET, zone * 32ull, 0, false);
	zr_drain(&first);
	/* Cuts meet programs of pages, of records of them (two move) and of resets; and erases of the log, of zones. */
	EXPECT_EQ(cuts, 3 * (4 + 4 + 4 + 2 + 3 + 1 + 3));
	zr_free(&first);
	zr_free(&second);
}

/*
 * A stripe has a page of each of two dies. In zone 0's area the first page is a hole, and the second is written with
 * FUA and then committed, while the log is busy, so it is programmed to its place. This ends before the program of the
 * first, because three other programs are before that on its die. The FUA write ends with the first page.
 */
static void a_page_counts_with_those_before_it(void)
{
	struct nand_hooks hooks = { .violation = test_violation, .done = verify_after_cut };
	struct zr_shape s = areas;

	s.g.channels = 2;
	s.g.planes_per_die = 1;
	s.g.pages_per_block = 16;
	s.active_max = s.open_max = 5;
	zr_make(&second, &s);
	begin(&s);
	nand_array_set_hooks(first.ta.a, &hooks);
	cuts = 0;
	EXPECT_EQ(first.size, 64);
	EXPECT_EQ(status_of(FTL_TRIM, FTL_ZONE_OPEN_WINDOW, 0, 0), SSD_OK);
	for (uint32_t zone = 1; zone < 4; zone++)
		EXPECT_EQ(status_of(FTL_WRITE, 0, zone * 64ull, 2), SSD_OK);
	zr_submit(&first, FTL_WRITE, 0, 4 * 64, 1, true);
	zr_submit(&first, FTL_WRITE, 0, 2, 1, true);
	zr_submit(&first, FTL_TRIM, FTL_ZONE_COMMIT, 0, 4, false);
	zr_drain(&first);
	EXPECT_EQ(cuts, 3 * (3 + 1 + 2));
	EXPECT_EQ(status_of(FTL_READ, 0, 0, 4), SSD_OK);
	zr_free(&first);
	zr_free(&second);
}

static void bad_settings(void)
{
	struct zr_shape s = areas;

	EXPECT(!zr_refusal(&s));
	s.window = 3;
	EXPECT(zr_refusal(&s) && strstr(zr_refusal(&s), "zrwa_pages must be at most a page for each plane"));
	s = areas;
	s.step = 0;
	EXPECT(zr_refusal(&s) && strstr(zr_refusal(&s), "zrwa_flush_pages"));
	s.step = 3;
	EXPECT(zr_refusal(&s) && strstr(zr_refusal(&s), "zrwa_flush_pages"));
	s = areas;
	s.windows = 3;
	EXPECT(zr_refusal(&s) && strstr(zr_refusal(&s), "zrwa_zones is more"));
	s.window = 0;
	EXPECT(zr_refusal(&s) && strstr(zr_refusal(&s), "zrwa_zones needs zrwa_pages"));
	s.windows = 0;
	s.step = 1;
	EXPECT(!zr_refusal(&s));
	s.step = 2;
	EXPECT(zr_refusal(&s) && strstr(zr_refusal(&s), "zrwa_flush_pages needs zrwa_pages"));
	s = areas;
	s.active_max = s.open_max = 3;
	EXPECT(zr_refusal(&s) && strstr(zr_refusal(&s), "since a block of the log keeps them"));
}

static enum nand_status fail_host_programs(void *opaque, const struct nand_cmd *c)
{
	return *(bool *)opaque && c->op == NAND_PROGRAM && c->source == NAND_SRC_HOST ? NAND_PROG_FAIL : NAND_OK;
}

/* Another zone takes the buffer of a failed one: what was in its area alone cannot be read, also behind `filled`. */
static void a_buffer_that_is_taken(void)
{
	bool fails = false;
	const struct nand_hooks hooks = { .violation = test_violation, .fault = fail_host_programs, .opaque = &fails };
	uint32_t tag[4];

	begin(&areas);
	nand_array_set_hooks(first.ta.a, &hooks);
	EXPECT_EQ(open_area(0), SSD_OK);
	EXPECT_EQ(status_of(FTL_WRITE, 0, 0, 4), SSD_OK);
	fails = first.may_fail = true;
	zr_submit(&first, FTL_TRIM, FTL_ZONE_COMMIT, 0, 2, false);
	zr_drain(&first);
	fails = false;
	EXPECT_EQ(report(0).state, FTL_ZONE_READONLY);
	EXPECT_EQ(read_tags(0, 4, tag), SSD_OK);	/* from the buffer */
	for (uint32_t zone = 1; zone < 4; zone++)
		zr_submit(&first, FTL_WRITE, 0, zone * 32, 32, false);
	zr_drain(&first);
	for (uint32_t i = 0; i < 4; i++)
		EXPECT_EQ(read_tags(i, 1, tag), SSD_E_UNCORR);
	EXPECT_EQ(read_tags(4, 4, tag), SSD_OK);	/* never written */
	EXPECT_EQ(tag[0] | tag[1] | tag[2] | tag[3], 0);
	first.ops->check(first.f);
	zr_free(&first);
}

/* The size of a zone is not a number of pages: its last page would reach into the next zone. */
static void reads_across_zones(void)
{
	static const struct zr_shape odd = {
		.g = { 1, 1, 1, 2, 8, 4, 1536, 64, 0, 1536, 0, 1, 1, NAND_ORDER_ASCENDING },
		.zones = 5, .zone_blocks = 1, .active_max = 2, .open_max = 2, .power2 = true,
	};
	uint32_t tag[14];

	begin(&odd);
	EXPECT_EQ(first.size, 32);	/* of 24 sectors, in 8 pages of 3 */
	EXPECT_EQ(first.capacity, 24);
	EXPECT_EQ(status_of(FTL_WRITE, 0, 32, 6), SSD_OK);
	for (uint32_t before = 0; before <= 8; before++) {
		EXPECT_EQ(read_tags(32 - before, 14, tag), SSD_OK);
		for (uint32_t i = 0; i < 14; i++)
			EXPECT_EQ(tag[i], i >= before && i < before + 6);	/* the first write has tag 1 */
	}
	zr_free(&first);
}

int main(void)
{
	RUN(errors);
	RUN(limits);
	RUN(the_end_of_a_zone);
	RUN(overwrites_stay_in_the_buffer);
	RUN(times);
	RUN(a_commit_waits);
	RUN(what_was_flushed_survives);
	RUN(a_mount_with_other_keys);
	RUN(a_program_fails);
	RUN(a_buffer_that_is_taken);
	RUN(records_of_zones_that_are_reset);
	RUN(a_page_counts_with_those_before_it);
	RUN(bad_settings);
	RUN(reads_across_zones);
	return test_result();
}
