/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sanitize_host.h - a drive for tests of sanitize operations, and steps that they have in common.
 *
 * The drive has two channels of one die with two planes of 24 blocks. In each row the commands of a die's two planes
 * follow each other on its channel, 100 ns each, and then the die erases for 1000000 ns; the other die does the same at
 * the same time. A byte takes 1 ns on the channel, and a program 200000 ns. So a step of an overwrite, which programs a
 * page in each plane, takes 2 * (100 + page_bytes + oob_bytes) + 200000 ns.
 */
#ifndef SLATE_SANITIZE_HOST_H
#define SLATE_SANITIZE_HOST_H

#include "control_host.h"
#include "slate_dev.h"
#include "slate_sanitize.h"

#define ROWS 24u
#define ROW_NS 1000200u
#define BLOCK_ERASE 0xa2u		/* Dword 10: block erase; bits that it ignores */

static const char *const shape[] = {
	"geometry.channels=2", "geometry.chips_per_channel=1", "geometry.dies_per_chip=1",
	"geometry.planes_per_die=2", "geometry.blocks_per_plane=24", "geometry.pages_per_block=16",
	"geometry.page_bytes=4096", "geometry.oob_bytes=256", "timing.cmd_ns=100", "timing.read_ns=50000",
	"timing.program_ns=200000", "timing.erase_ns=1000000", "timing.bus_ps_per_byte=1000",
	"ftl.capacity_mib=3", "drive.name=sanitize test", NULL
};

struct kind {
	const char *name;
	const char *more[12];
};

static inline uint32_t zone_count(void)
{
	struct ftl_zones z;

	return slate_zones(dev, &z) ? z.count : 0;
}

static inline bool zoned(void)
{
	return zone_count();
}

/* Write all units in order and, without zones, more of them at random. Wait until the drive is idle. */
static inline void use(uint64_t seed)
{
	uint32_t more = zoned() ? 0 : units;

	for (uint32_t u = 0; u < units; u++)
		EXPECT_EQ(write_unit(u), SSD_OK);
	for (uint32_t i = 0; i < more; i++)
		EXPECT_EQ(write_unit((uint32_t)(rnd(&seed) % units)), SSD_OK);
	EXPECT_EQ(run_io(FTL_FLUSH, 0), SSD_OK);
	settle(false);
}

static inline struct slate_sanitize_status state(void)
{
	struct slate_sanitize_status s;

	slate_sanitize_status(dev, &s);
	return s;
}

static inline void run_until(uint64_t end)
{
	next = slate_step(dev, now);
	while (next != FTL_IDLE && next <= end) {
		now = next;
		next = slate_step(dev, now);
	}
	now = end;
}

static inline void run_to_end(void)
{
	while (slate_is_sanitizing(dev)) {
		next = slate_step(dev, now);
		if (!slate_is_sanitizing(dev))
			break;
		SSD_ASSERT(next != FTL_IDLE && next > now);
		now = next;
	}
}

static inline void cut_and_on(uint64_t at)
{
	const struct slate_cut_plan plan = { SLATE_CUT_AT_NS, at, at };

	EXPECT_EQ(slate_power_cut(dev, now, &plan, err), SSD_OK);
	run_until(at);
	(void)slate_step(dev, now);
	EXPECT(!slate_powered(dev));
	EXPECT(!slate_is_sanitizing(dev));
	now += 5000;
	EXPECT_EQ(slate_power_on(dev, now, err), SSD_OK);
}

static inline void open_used(const struct kind *k)
{
	if (open_with(NULL, shape, k->more))
		exit(1);
	use(1);
}

#endif
