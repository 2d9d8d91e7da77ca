/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nftl_drive.h - a drive with NFTL and its times. A page is 1024 + 64 bytes at 1 ns a byte. Commands take 100 ns on
 * the bus, a read 5 us in the cells, a program 20 us, an erase 70 us and 5 us less for each level of PBs. Map and
 * firmware take 20 ns an I/O. A block that a mount found is erased before use.
 */
#ifndef SLATE_NFTL_DRIVE_H
#define SLATE_NFTL_DRIVE_H

#include "direct_rig.h"

#define FRONT 20u
#define READ (100u + 5000u + 1088u)
#define SPARE (100u + 5000u + 64u)
#define PROG (100u + 1088u + 20000u)
#define COPY (READ + PROG)
#define ERASE(level) (100u + 70000u - 5000u * (level))

static struct rig r;
static const struct ftl_stats *stats;

static inline struct rig_shape one_die(uint32_t blocks, uint32_t pages, uint32_t levels, uint32_t units)
{
	return (struct rig_shape){
		.name = "one die", .ftl = "nftl",
		.g = { 1, 1, 1, 1, blocks, pages, 1024, 64, 0, 1024, levels, 1, 1, NAND_ORDER_NONE },
		.units = units, .start = 2, .urgent = 1, .tolerance = 255,
	};
}

static inline void make(const struct rig_shape *s)
{
	stats = rig_start(&r, s);
}

static inline uint64_t io(enum ftl_op op, uint32_t unit, uint32_t units)
{
	return rig_alone(&r, op, unit, units);
}

static inline uint64_t put(uint32_t unit)
{
	return io(FTL_WRITE, unit, 1);
}

static inline enum ssd_err get(uint32_t unit)
{
	io(FTL_READ, unit, 1);
	return r.all.io.status;
}

#endif
