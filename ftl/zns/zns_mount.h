/* SPDX-License-Identifier: GPL-2.0-or-later */
/* zns_mount.h - mounts a drive with zones (zns_mount.c); what a mount has found on flash */
#ifndef SLATE_ZNS_MOUNT_H
#define SLATE_ZNS_MOUNT_H

#include "zns.h"

struct zns_found {			/* of a block */
	uint32_t zone, place;		/* DATA: place in the table */
	uint64_t gen;			/* 0 although `used` is not 0: no page can be read */
	uint64_t serial;		/* highest; RECORD: lowest */
	uint32_t copied;		/* pages of a complete copy */
	uint32_t used, high;		/* 1 + last page that is not blank; 1 + last one that can be read */
	bool log, resets;		/* RECORD; some are resets */
	uint32_t live;			/* log: number of its records of parts and states that are still needed */
};

struct zns_found_zone {
	uint64_t note;			/* highest generation of a record */
	uint64_t end_gen;
	uint32_t end_page, end_sectors;
	uint32_t part_ppn, part_sectors;	/* part of the page at the end, or ZNS_NONE */
	uint64_t part_serial;
	uint32_t windows;		/* pages at the end or after it that the log has (zns_mount.window) */
	bool broken;			/* a record has it, blocks are missing, or a program failed: read-only */
	bool read_only, offline;	/* a record has this state */
	bool by_drive;			/* a mount has ended it */
};

struct zns_found_chunk {
	uint64_t serial;		/* of the newest record of its states, 0: none */
	uint32_t block;			/* block of that record */
};

struct zns_found_page {
	uint64_t serial;		/* of its newest record, 0: none */
	uint32_t page, ppn;		/* number within the zone; of the record */
};

struct zns_mount {
	struct zns_found *block;
	struct zns_found_zone *zone;
	struct zns_found_chunk *chunk;
	struct zns_found_page *window;	/* zone * slots + page % slots: pages of random write areas */
	uint8_t *page;
	uint64_t newest;		/* serial of the newest record */
	uint32_t newest_block;
	bool logs;			/* there are blocks of the log */
};

static inline bool zns_found_full(const struct zns *z, const struct zns_zone *s)
{
	return s->ended || s->filled == z->shape.capacity;
}

struct zns_mount *zns_mount_lay_out(const struct zns *z, struct ssd_arena *m, const struct ftl_config *c,
			const struct nand_geometry *g);
int zns_find(struct ftl *f);

#endif
