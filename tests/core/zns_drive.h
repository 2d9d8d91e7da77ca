/* SPDX-License-Identifier: GPL-2.0-or-later */
/* zns_drive.h - the small drive with zones of the hand-written tests. */
#ifndef SLATE_ZNS_DRIVE_H
#define SLATE_ZNS_DRIVE_H

#include "zns_rig.h"

static struct zr first;

/* One die of two planes, pages of two sectors, blocks of four pages: zones of 8 pages, 16 sectors. */
static const struct zr_shape small = {
	.g = { 1, 1, 1, 2, 8, 4, 1024, 64, 0, 1024, 0, 1, 1, NAND_ORDER_ASCENDING },
	.zones = 5, .zone_blocks = 1, .active_max = 2, .open_max = 2, .power2 = true,
};

static inline void begin(const struct zr_shape *s)
{
	zr_make(&first, s);
	zr_mount(&first);
}

static inline enum ssd_err status_of(enum ftl_op op, enum ftl_zone_op zone, uint64_t sector, uint32_t sectors)
{
	enum ssd_err status;

	zr_alone(&first, op, zone, sector, sectors, false, &status, NULL);
	return status;
}

static inline struct ftl_zone report(uint32_t zone)
{
	return first.ops->zone(first.f, zone);
}

static inline void cut_and_mount(void)
{
	nand_array_power_cut(first.ta.a, first.now_ns, 1);
	nand_array_power_on(first.ta.a);
	zr_mount(&first);
}

#endif
