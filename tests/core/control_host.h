/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * control_host.h - a host of a drive in memory with one request at a time, for tests of its
 * controls and logs: content by unit and version, orders, and a drive of one die whose times are
 * easy to add.
 */
#ifndef SLATE_CONTROL_HOST_H
#define SLATE_CONTROL_HOST_H

#include "slate_control.h"
#include "test.h"

#define UNITS_MAX 4096u
#define OVERRIDES_MAX 48u

static struct slate_dev *dev;
static uint64_t now, next;
static uint32_t version[UNITS_MAX], units, unit_bytes;
static bool finished;
static enum ssd_err status;
static uint8_t data[16384];
static char err[SLATE_ERR_BYTES];

static inline uint64_t word_of(uint64_t unit, uint32_t v, size_t i)
{
	return v ? unit << 40 | (uint64_t)v << 16 | i : 0;
}

static inline void on_done(void *opaque, struct ftl_io *io)
{
	(void)opaque;
	finished = true;
	status = io->status;
}

static inline void on_copy(void *opaque, struct ftl_io *io, uint64_t at, void *buf, size_t len)
{
	(void)opaque;
	test_copy(io, data + at, buf, len);
}

static const struct ftl_host host = { on_done, on_copy, NULL };

/* Open a drive with both lists of settings, which are NULL-terminated. */
static inline int open_with(const char *record, const char *const *a, const char *const *b)
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

static inline enum ssd_err run_io(enum ftl_op op, uint32_t unit)
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

static inline enum ssd_err write_unit(uint32_t unit)
{
	uint64_t *w = (uint64_t *)(void *)data;

	version[unit]++;
	for (size_t i = 0; i < unit_bytes / 8; i++)
		w[i] = word_of(unit, version[unit], i);
	return run_io(FTL_WRITE, unit);
}

static inline bool reads_right(uint32_t unit)
{
	const uint64_t *w = (const uint64_t *)(const void *)data;

	if (run_io(FTL_READ, unit) != SSD_OK)
		return false;
	for (size_t i = 0; i < unit_bytes / 8; i++)
		if (w[i] != word_of(unit, version[unit], i))
			return false;
	return true;
}

/* Run until no work is left. */
static inline void settle(bool check)
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

static inline uint32_t control(uint32_t command, uint32_t a, uint32_t b, uint32_t c, uint32_t *result)
{
	struct slate_order o = { command, { a, b, c } };

	return slate_control(dev, now, &o, result);
}

static inline uint32_t collect(uint32_t free_blocks)
{
	uint32_t working = 0;

	EXPECT_EQ(control(SLATE_FORCE_GC, free_blocks, 0, 0, &working), SLATE_DONE);
	return working;
}

static inline struct slate_stats *stats(void)
{
	static struct slate_stats s;

	slate_get_stats(dev, &s);
	return &s;
}

static inline bool says(const char *part)
{
	if (strstr(slate_why(dev), part))
		return true;
	printf("said: %s\n", slate_why(dev));
	return false;
}

#define CMD 100u
#define XFER 4160u
#define READ (CMD + 50000u + XFER)
#define PROG (CMD + XFER + 200000u)
#define ERASE (CMD + 1000000u)

/* The drive has 12 blocks of 4 pages of one unit, and exports 16 units. */
static const char *const tiny[] = {
	"geometry.channels=1", "geometry.chips_per_channel=1", "geometry.dies_per_chip=1",
	"geometry.planes_per_die=1", "geometry.blocks_per_plane=12", "geometry.pages_per_block=4",
	"geometry.page_bytes=4096", "geometry.oob_bytes=64", "timing.cmd_ns=100", "timing.read_ns=50000",
	"timing.program_ns=200000", "timing.erase_ns=1000000", "timing.bus_ps_per_byte=1000",
	"ftl.op_permille=2000", "ftl.buffer_units=0", "ftl.gc_start_blocks=3", "ftl.gc_stop_blocks=3",
	"ftl.gc_urgent_blocks=1", "drive.name=tiny", NULL
};

/* Fill block 0 with units 0 .. 3, of which only 3 stays valid, and block 1 with units 0, 1, 2, 4. */
static inline void make_stale(void)
{
	static const uint32_t order[] = { 0, 1, 2, 3, 0, 1, 2, 4 };

	for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++)
		EXPECT_EQ(write_unit(order[i]), SSD_OK);
	settle(true);
}

static inline struct slate_plane_entry *blocks(void **log, uint32_t *planes)
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

#endif
