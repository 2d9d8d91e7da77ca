/* SPDX-License-Identifier: GPL-2.0-or-later */
/* zns_drive.h - the small drive with zones of the hand-written tests. */
#ifndef SLATE_ZNS_DRIVE_H
#define SLATE_ZNS_DRIVE_H

#include "sector_tag.h"
#include "zns_rig.h"

static struct zr first;

/* The drive has one die of two planes, blocks of four pages, and pages of two sectors, so a zone has 16 sectors. */
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

/* Read, also across zones, without the model. Returns the status; tag: of each sector, 0 for zeroes. */
static inline enum ssd_err read_tags(uint64_t sector, uint32_t sectors, uint32_t *tag)
{
	struct zr_io *q = zr_free_io(&first);

	q->io = (struct ftl_io){ .op = FTL_READ, .host = q, .offset = sector * 512, .bytes = sectors * 512ull };
	memset(q->data, 0xee, sectors * 512u);
	q->busy = true;
	q->reported = false;
	first.ops->submit(first.f, first.now_ns, &q->io);
	first.next_ns = first.ops->step(first.f, first.now_ns);
	while (!q->reported) {
		first.now_ns = first.next_ns;
		first.next_ns = first.ops->step(first.f, first.now_ns);
	}
	if (q->io.done_ns > first.now_ns)
		first.now_ns = q->io.done_ns;
	q->busy = false;
	for (uint32_t i = 0; i < sectors && q->io.status == SSD_OK; i++)
		tag[i] = sector_tag_get(q->data + i * 512, sector + i);
	return q->io.status;
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
