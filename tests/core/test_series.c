// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_series.c - a drive's counters by interval (slate_series.c). Rows are computed by hand; rows
 * add up to the counters; calls without work and reads of logs change no row; rows are joined.
 */
#include <stdlib.h>
#include <string.h>

#include "slate_control.h"
#include "test.h"

#define MS 1000000ull
#define WRITE(name) (SLATE_WIRE_WRITE * SLATE_SERIES_OP_WORDS + SLATE_SERIES_##name)
#define READ(name) (SLATE_WIRE_READ * SLATE_SERIES_OP_WORDS + SLATE_SERIES_##name)
#define DRIVE(name) (SLATE_WIRE_OPS * SLATE_SERIES_OP_WORDS + SLATE_SERIES_##name)
#define DIE0 (SLATE_WIRE_OPS * SLATE_SERIES_OP_WORDS + SLATE_SERIES_DRIVE_WORDS)

static const char *const tiny[] = {
	"geometry.channels=1", "geometry.chips_per_channel=1", "geometry.dies_per_chip=1",
	"geometry.planes_per_die=1", "geometry.blocks_per_plane=12", "geometry.pages_per_block=4",
	"geometry.page_bytes=4096", "geometry.oob_bytes=64", "timing.cmd_ns=0", "timing.read_ns=50000",
	"timing.program_ns=200000", "timing.erase_ns=1000000", "timing.bus_ps_per_byte=0",
	"ftl.op_permille=2000", "ftl.buffer_units=0", "ftl.gc_start_blocks=3", "ftl.gc_stop_blocks=3",
	"ftl.gc_urgent_blocks=1", "ftl.map_ns=0", "ftl.overhead_ns=0", "ftl.buffer_ns=0",
	"ftl.payload=no", "drive.name=tiny", NULL
};

static struct slate_dev *dev;
static uint64_t now;
static uint32_t done;
static struct slate_log_series *series;

static void on_done(void *opaque, struct ftl_io *io)
{
	(void)opaque;
	EXPECT_EQ(io->status, SSD_OK);
	done++;
}

static void open_tiny(void)
{
	static const struct ftl_host host = { on_done, NULL, NULL };
	static char err[SLATE_ERR_BYTES];
	struct slate_options o = { .overrides = tiny };

	now = 0;
	done = 0;
	SSD_ASSERT(!slate_open(&o, &host, &dev, err));
}

/* Run an I/O from `at` until it is done. */
static void run(enum ftl_op op, uint64_t at, uint32_t unit)
{
	struct ftl_io io = { .op = op, .offset = unit * 4096ull, .bytes = 4096 };
	uint32_t before = done;
	uint64_t next;

	now = at;
	slate_submit(dev, now, &io);
	while ((next = slate_step(dev, now)) != FTL_IDLE)
		now = next;
	EXPECT_EQ(done, before + 1);
}

static void take(void)
{
	size_t bytes;

	free(series);
	series = slate_log(dev, now, SLATE_LOG_SERIES, &bytes);
	EXPECT_EQ(series->head.bytes, bytes);
	EXPECT_EQ(bytes, sizeof(*series) + (uint64_t)series->rows * series->row_bytes);
}

static uint64_t at(uint32_t row, uint32_t word)
{
	return ((uint64_t *)(void *)(series + 1))[row * (series->row_bytes / 8) + word];
}

static uint64_t sum(uint32_t word)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < series->rows; i++)
		n += at(i, word);
	return n;
}

static void rows_by_hand(void)
{
	open_tiny();
	EXPECT_EQ(slate_keep_series(dev, 0), SSD_OK);
	run(FTL_WRITE, 100, 0);
	run(FTL_WRITE, MS - 1, 1);		/* programmed in row 0, ends in row 1 */
	run(FTL_READ, 3 * MS, 0);
	take();
	EXPECT_EQ(series->interval_ns, MS);
	EXPECT_EQ(series->rows, 4);		/* [0, 1), [1, 2), [2, 3), [3 .. */
	EXPECT_EQ(series->dies, 1);
	EXPECT_EQ(series->channels, 1);
	for (uint32_t row = 0; row < 2; row++) {
		EXPECT_EQ(at(row, WRITE(ios)), 1);
		EXPECT_EQ(at(row, WRITE(bytes)), 4096);
		EXPECT_EQ(at(row, WRITE(latency_sum_ns)), 200000);
		EXPECT_EQ(at(row, WRITE(latency_max_ns)), 200000);
		EXPECT_EQ(at(row, WRITE(cell_ns)), 200000);
		EXPECT_EQ(at(row, DRIVE(host_units)), 2 - 2 * row);
		EXPECT_EQ(at(row, DRIVE(nand_programs)), 2 - 2 * row);
		EXPECT_EQ(at(row, DIE0), 400000 - 400000 * row);
	}
	for (uint32_t word = 0; word < series->row_bytes / 8; word++)
		EXPECT_EQ(at(2, word), word == DRIVE(free_blocks) ? 11 : 0);
	EXPECT_EQ(at(3, READ(ios)), 1);
	EXPECT_EQ(at(3, READ(latency_max_ns)), 50000);
	EXPECT_EQ(at(3, DRIVE(nand_reads)), 1);
	EXPECT_EQ(at(3, DIE0), 50000);
	slate_close(dev);
}

/* The same I/Os have the same results with and without log reads and steps in between. */
static void a_log_changes_no_row(void)
{
	struct slate_log_series *first = NULL;

	for (int looks = 0; looks < 2; looks++) {
		open_tiny();
		EXPECT_EQ(slate_keep_series(dev, 0), SSD_OK);
		for (uint32_t i = 0; i < 40; i++) {
			run(FTL_WRITE, i * 1700000, i % 7);
			for (uint32_t j = 0; looks && j < 3; j++) {
				take();
				(void)slate_step(dev, now + j * 20000);
			}
		}
		take();
		if (!looks) {
			first = series;
			series = NULL;
		}
		slate_close(dev);
	}
	EXPECT_EQ(series->rows, first->rows);
	EXPECT(!memcmp(series + 1, first + 1, (size_t)series->rows * series->row_bytes));
	free(first);
}

static void rows_are_joined(void)
{
	struct slate_stats s;

	open_tiny();
	EXPECT_EQ(slate_keep_series(dev, 0), SSD_OK);
	for (uint32_t i = 0; i < 1000; i++)
		run(i % 3 ? FTL_WRITE : FTL_READ, i * 5 * MS, i % 5);
	take();
	EXPECT_EQ(series->interval_ns, 16 * MS);	/* 4995 ms in fewer than 512 */
	EXPECT_EQ(series->rows, 4995 / 16 + 1);
	slate_get_stats(dev, &s);
	EXPECT_EQ(sum(READ(ios)), 334);
	EXPECT_EQ(sum(WRITE(ios)), 666);
	EXPECT_EQ(sum(WRITE(latency_sum_ns)), s.ftl.op[FTL_WRITE].latency_sum_ns);
	EXPECT_EQ(sum(WRITE(gc_queue_ns)), s.ftl.op[FTL_WRITE].where.gc_queue_ns);
	EXPECT_EQ(sum(DRIVE(gc_units)), s.ftl.gc_units);
	EXPECT_EQ(sum(DRIVE(gc_runs)), s.ftl.gc_runs);
	EXPECT(s.ftl.gc_runs > 0);
	EXPECT_EQ(sum(DRIVE(nand_erases)), s.nand.ops[NAND_ERASE][NAND_SRC_GC]);
	EXPECT_EQ(sum(DIE0), slate_die_busy_ns(dev, 0, NAND_SRC_HOST) + slate_die_busy_ns(dev, 0, NAND_SRC_GC));
	slate_close(dev);
}

static void a_reset_begins_anew(void)
{
	struct slate_order o = { SLATE_RESET_COUNTERS, { 0 } };
	uint32_t result;

	open_tiny();
	EXPECT_EQ(slate_keep_series(dev, 0), SSD_OK);
	run(FTL_WRITE, 0, 0);
	now = 7 * MS / 2;
	EXPECT_EQ(slate_control(dev, now, &o, &result), SLATE_DONE);
	run(FTL_READ, now, 0);
	take();
	EXPECT_EQ(series->head.since_ns, 7 * MS / 2);
	EXPECT_EQ(series->rows, 1);
	EXPECT_EQ(sum(WRITE(ios)), 0);
	EXPECT_EQ(sum(READ(ios)), 1);
	slate_close(dev);
}

/* Events while the machine is stopped end no row, because they depend on the host's time. */
static void a_standing_machine_ends_no_row(void)
{
	open_tiny();
	EXPECT_EQ(slate_keep_series(dev, 0), SSD_OK);
	slate_machine_stands(dev, true);
	run(FTL_WRITE, 5 * MS, 0);
	take();
	EXPECT_EQ(series->rows, 1);
	slate_close(dev);
	open_tiny();			/* a drive without a series */
	run(FTL_WRITE, 5 * MS, 0);
	take();
	EXPECT_EQ(series->rows, 0);
	slate_close(dev);
}

int main(void)
{
	RUN(rows_by_hand);
	RUN(a_log_changes_no_row);
	RUN(rows_are_joined);
	RUN(a_reset_begins_anew);
	RUN(a_standing_machine_ends_no_row);
	free(series);
	return test_result();
}
