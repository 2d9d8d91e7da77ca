/* SPDX-License-Identifier: GPL-2.0-or-later */
/* handles_drive.h - the drive of test_handles and test_groups: two dies, three placement handles. */
#ifndef SLATE_HANDLES_DRIVE_H
#define SLATE_HANDLES_DRIVE_H

#include "gc_policy.h"
#include "map.h"
#include "oob.h"
#include "page_drive.h"

#define UNIT 2048u
#define PAGE 4096u
#define UPP 2u
#define PAGES 8u		/* of a block */
#define DIES 2u			/* of one plane each */
#define UNIT_BYTES ((uint64_t)DIES * PAGES * PAGE)	/* of a reclaim unit */
#define HANDLES 3u
#define LPNS 1200u

static struct ftl_config fc;
static uint64_t rng;

static inline void on_done(void *opaque, struct ftl_io *io)
{
	(void)opaque;
	EXPECT_EQ(io->status, SSD_OK);
}

/* Writes fill each unit with its number plus one; reads must return it, or zeroes. */
static inline void on_copy(void *opaque, struct ftl_io *io, uint64_t at, void *buf, size_t len)
{
	(void)opaque;
	for (size_t i = 0; i < len; i += 8) {
		uint64_t unit = 1 + (io->offset + at + i) / UNIT;

		if (io->op == FTL_WRITE)
			memcpy((char *)buf + i, &unit, 8);
		else
			EXPECT(!buf || !memcmp((char *)buf + i, &unit, 8));
	}
}

static inline void mount_anew(void)
{
	static const struct ftl_host host = { on_done, on_copy, NULL };

	mount_page_ftl(&fc, &host);
}

static inline void make_blocks(enum ftl_isolation isolation, uint32_t blocks_per_plane)
{
	struct nand_array_config c = {
		.geo = { DIES, 1, 1, 1, blocks_per_plane, PAGES, PAGE, 64, OOB_BYTES(UPP) + 7, PAGE, 0, 2, 1,
			 .copyback = true },
		.timing = { 100, { 50000 }, { 200000 }, { 1000000 }, 1000 }, .payload = true };

	test_array_make(&t, &c);
	fc = (struct ftl_config){
		.capacity_bytes = (uint64_t)LPNS * UNIT, .unit_bytes = UNIT, .buffer_units = 12 * UPP,
		.gc_start_blocks = 3, .gc_stop_blocks = 4, .gc_urgent_blocks = 2, .gc_mode = FTL_GC_SLICED,
		.gc_slice_pages = 4, .payload = true, .max_unit_reads = 64, .multiplane = true, .gc_multiplane = true,
		.gc_policy = &gc_greedy, .placement_handles = HANDLES, .placement_isolation = isolation };
	rng = 1;
	mount_anew();
}

static inline void make(enum ftl_isolation isolation)
{
	make_blocks(isolation, 52);
}

static inline void run(struct ftl_io io)
{
	f->ops->submit(f, now, &io);
	while (f->ops->inflight(f)) {
		uint64_t next = f->ops->step(f, now);

		SSD_ASSERT(next != FTL_IDLE || !f->ops->inflight(f));
		now = next != FTL_IDLE ? next : now;
	}
}

static inline void write_units(uint32_t handle, uint32_t unit, uint32_t units, bool fua)
{
	run((struct ftl_io){ .op = FTL_WRITE, .offset = (uint64_t)unit * UNIT, .bytes = (uint64_t)units * UNIT,
			     .handle = (uint8_t)handle, .fua = fua });
}

static inline void flush(void)
{
	run((struct ftl_io){ .op = FTL_FLUSH });
	pass_to(FTL_IDLE);
}

static inline void read_all(void)
{
	run((struct ftl_io){ .op = FTL_READ, .bytes = fc.capacity_bytes });
}

static inline uint64_t used_blocks(void)
{
	uint64_t used = 0;

	for (uint32_t b = 0; b < geo_blocks(&t.c.geo); b++)
		used += f->ops->block(f, (pbn_t){ b }).state != FTL_BLOCK_FREE;
	return used;
}

/*
 * LPN n is written by handle n % HANDLES. Returns the number of blocks with units of more than one,
 * among those that have no copies (copies false), or those that have (true).
 */
static inline uint32_t mixed_blocks(bool copies)
{
	uint32_t mixed = 0;

	for (uint32_t b = 0; b < geo_blocks(&t.c.geo); b++) {
		uint32_t seen = 0;
		bool has = false;

		for (uint32_t p = 0; p < PAGES; p++) {
			const void *oob;

			if (t.n->ops->peek(t.n, geo_ppn(&t.c.geo, (pbn_t){ b }, p), NULL, &oob) != NAND_OK)
				continue;
			has |= oob_get_head(oob).kind == OOB_GC;
			for (uint32_t i = 0; i < UPP; i++)
				if (oob_get_lpn(oob, i) < LPNS)
					seen |= 1u << oob_get_lpn(oob, i) % HANDLES;
		}
		mixed += has == copies && (seen & (seen - 1));
	}
	return mixed;
}

static inline void refused(const char *words)
{
	const char *why = "accepted";

	EXPECT(ftl_validate(ftl_list[0], &fc, &t.c.geo, &why) == SSD_E_INVAL);
	if (!strstr(why, words))
		printf("%s\n", why);
	EXPECT(strstr(why, words));
}

#endif
