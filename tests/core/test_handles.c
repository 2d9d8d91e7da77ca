// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test placement handles: which blocks hold what, when buffer pages are closed, reclaim units, mounts,
 * and what is refused. test_cut and test_odd cut the power.
 */
#include "controller.h"
#include "handles_drive.h"
#include "page_state.h"

#define SECTOR FTL_SECTOR_BYTES

static void write_sectors(uint32_t handle, uint32_t sector, uint32_t sectors)
{
	run((struct ftl_io){ .op = FTL_WRITE, .offset = (uint64_t)sector * SECTOR, .bytes = (uint64_t)sectors * SECTOR,
			     .handle = (uint8_t)handle });
}

static uint64_t programs(enum nand_source source)
{
	struct nand_stats s;

	t.n->ops->get_stats(t.n, &s);
	return s.ops[NAND_PROGRAM][source];
}

/* ---- isolation ------------------------------------------------------------ */

static void write_at_random(uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t unit = (uint32_t)(rnd(&rng) % LPNS);

		write_units(unit % HANDLES, unit, 1, rnd(&rng) % 20 == 0);
	}
}

static void each_block_has_one_handle(void)
{
	make(FTL_ISOLATED_PERSISTENTLY);
	write_at_random(6000);
	EXPECT(f->ops->stats(f)->gc_units > 1000);
	EXPECT_EQ(mixed_blocks(false), 0);
	EXPECT_EQ(mixed_blocks(true), 0);
	EXPECT_EQ(f->ops->stats(f)->stray_pages, 0);
	read_all();
	gone();
}

static void initially_isolated_copies_are_mixed(void)
{
	make(FTL_ISOLATED_INITIALLY);
	write_at_random(6000);
	EXPECT_EQ(mixed_blocks(false), 0);
	EXPECT(mixed_blocks(true) > 0);
	EXPECT_EQ(f->ops->stats(f)->stray_pages, 0);
	read_all();
	gone();
}

static void copybacks_and_pairs_stay_apart(void)
{
	make(FTL_ISOLATED_PERSISTENTLY);
	fc.gc_copyback = fc.parallel_erase = true;
	fc.second_victim_pages = PAGES;
	fc.gc_stop_blocks = 8;
	fc.gc_start_blocks = 7;
	mount_anew();
	write_at_random(6000);
	EXPECT(f->ops->stats(f)->second_victims > 0);
	EXPECT_EQ(mixed_blocks(true), 0);
	EXPECT_EQ(mixed_blocks(false), 0);
	read_all();
	gone();
}

/* Handles stay isolated after power cuts, because the mount reads each block's handle from flash. */
static void a_mount_keeps_them_apart(void)
{
	make(FTL_ISOLATED_PERSISTENTLY);
	for (uint32_t life = 0; life < 20; life++) {
		write_at_random(300);
		flush();
		nand_array_power_cut(t.a, now, life);
		nand_array_power_on(t.a);
		mount_anew();
		pass_to(FTL_IDLE);
		EXPECT_EQ(mixed_blocks(true) + mixed_blocks(false), 0);
	}
	read_all();
	gone();
}

/* ---- the buffer ----------------------------------------------------------- */

static void interleaved_writes_fill_pages(void)
{
	make(FTL_ISOLATED_INITIALLY);
	for (uint32_t i = 0; i < 12 * HANDLES; i++)
		write_units(i % HANDLES, i, 1, false);
	pass_to(FTL_IDLE);
	EXPECT_EQ(programs(NAND_SRC_HOST), 12 * HANDLES / UPP);
	EXPECT_EQ(f->ops->stats(f)->pad_units, 0);
	gone();
}

static void flush_and_fua_close_all_pages(void)
{
	make(FTL_ISOLATED_INITIALLY);
	for (uint32_t h = 0; h < HANDLES; h++)
		write_units(h, h, 1, false);
	EXPECT_EQ(programs(NAND_SRC_HOST), 0);
	flush();
	EXPECT_EQ(programs(NAND_SRC_HOST), HANDLES);
	for (uint32_t h = 0; h < HANDLES; h++)
		write_units(h, h, 1, h + 1 == HANDLES);
	EXPECT_EQ(programs(NAND_SRC_HOST), 2 * HANDLES);
	gone();
}

/* A unit is written twice by one handle, then by another: the order of the writes decides. */
static void versions_keep_their_order(void)
{
	make(FTL_ISOLATED_INITIALLY);
	write_units(0, 5, 1, false);
	write_units(0, 5, 1, false);
	EXPECT_EQ(f->ops->stats(f)->coalesced_units, 1);
	write_units(1, 5, 1, false);	/* closes the page of handle 0 */
	pass_to(FTL_IDLE);
	EXPECT_EQ(programs(NAND_SRC_HOST), 1);
	run((struct ftl_io){ .op = FTL_TRIM, .offset = 5 * UNIT, .bytes = UNIT });	/* closes that of handle 1 */
	pass_to(FTL_IDLE);
	EXPECT_EQ(programs(NAND_SRC_HOST), 2);
	write_units(2, 5, 1, false);	/* closes handle 0's, with the bitmap */
	pass_to(FTL_IDLE);
	EXPECT_EQ(programs(NAND_SRC_HOST), 3);
	gone();
}

/* ---- reclaim units ---------------------------------------------------------- */

static void expect_left(uint32_t handle, uint64_t left_bytes, uint64_t units)
{
	struct ftl_handle h = f->ops->handle(f, handle);

	EXPECT_EQ(h.unit_bytes, UNIT_BYTES);
	EXPECT_EQ(h.left_bytes, left_bytes);
	EXPECT_EQ(h.units, units);
}

static void expect_handle(uint32_t handle, uint64_t left_pages, uint64_t units)
{
	expect_left(handle, left_pages * PAGE, units);
}

/* Pages of a sequential write go to the dies in turn. */
static void a_reclaim_unit_is_a_block_of_each_plane(void)
{
	make(FTL_ISOLATED_INITIALLY);
	for (uint32_t i = 0; i < 2 * DIES * PAGES; i++) {
		expect_handle(1, DIES * PAGES - i % (DIES * PAGES), i / (DIES * PAGES));
		write_units(1, i * UPP, UPP, false);
		pass_to(FTL_IDLE);
	}
	expect_handle(1, DIES * PAGES, 2);
	expect_handle(0, DIES * PAGES, 0);
	EXPECT_EQ(f->ops->stats(f)->reclaim_units, 2);
	EXPECT_EQ(used_blocks(), 2 * DIES);
	gone();
}

/* What the host wrote counts at once and by the sector, whether the buffer has it, pads it or overwrites it. */
static void a_unit_counts_what_the_host_wrote(void)
{
	uint64_t left = UNIT_BYTES;

	make(FTL_ISOLATED_INITIALLY);
	for (uint32_t i = 0; i < 10; i++) {
		write_sectors(1, 100 * i, 1 + i);
		left -= (1 + i) * SECTOR;
		expect_left(1, left, 0);
		if (i % 3 == 2)
			flush();
		expect_left(1, left, 0);
	}
	for (uint32_t i = 0; i < 5; i++)	/* in the buffer's open page */
		write_sectors(1, 7, 1);
	left -= 5 * SECTOR;
	write_units(1, 40, 1, true);		/* FUA: the page is padded */
	left -= UNIT;
	expect_left(1, left, 0);
	run((struct ftl_io){ .op = FTL_TRIM, .offset = 40 * UNIT, .bytes = UNIT });
	flush();
	expect_left(1, left, 0);
	expect_left(0, UNIT_BYTES, 0);		/* the bitmap's page is not the host's */
	write_sectors(1, 0, (uint32_t)(left / SECTOR) - 1);
	expect_left(1, SECTOR, 0);
	write_sectors(1, 0, 1);
	expect_left(1, UNIT_BYTES, 1);
	write_sectors(1, 0, (uint32_t)(UNIT_BYTES / SECTOR) + 3);
	expect_left(1, UNIT_BYTES - 3 * SECTOR, 2);
	gone();
}

/* Write one sector with lost content: nothing is written to the unit. */
static void lost_content_takes_nothing(void)
{
	make(FTL_ISOLATED_INITIALLY);
	run((struct ftl_io){ .op = FTL_WRITE, .bytes = SECTOR, .lost = true, .handle = 1 });
	expect_left(1, UNIT_BYTES, 0);
	gone();
}

/* Number of blocks of the host's pages whose units are of two reclaim units, which each have `units` LPNs. */
static uint32_t blocks_across(uint32_t from, uint32_t to, uint32_t units)
{
	uint32_t across = 0;

	for (uint32_t b = 0; b < geo_blocks(&t.c.geo); b++) {
		uint32_t of = LPNS;

		for (uint32_t p = 0; p < PAGES; p++) {
			const void *oob;

			if (t.n->ops->peek(t.n, geo_ppn(&t.c.geo, (pbn_t){ b }, p), NULL, &oob) != NAND_OK)
				continue;
			for (uint32_t i = 0; i < UPP; i++) {
				uint32_t lpn = oob_get_lpn(oob, i);

				if (lpn < from || lpn >= to)
					continue;
				across += of != LPNS && of != (lpn - from) / units;
				of = (lpn - from) / units;
			}
		}
	}
	return across;
}

/* Planes fill evenly, however the handles take turns, so a block has data of one reclaim unit. */
static void a_unit_ends_when_it_is_full(void)
{
	uint32_t per = DIES * PAGES;

	make(FTL_ISOLATED_INITIALLY);
	for (uint32_t i = 0; i < 27; i++) {
		write_units(0, 3 * i * UPP, 3 * UPP, false);
		write_units(1, LPNS / 2 + i * UPP, UPP, false);
		if (i % 2)
			pass_to(FTL_IDLE);
		expect_handle(0, per - 3 * (i + 1) % per, 3 * (i + 1) / per);
		expect_handle(1, per - (i + 1) % per, (i + 1) / per);
	}
	flush();
	EXPECT_EQ(f->ops->stats(f)->pad_units, 0);
	EXPECT_EQ(blocks_across(0, LPNS / 2, per * UPP), 0);
	EXPECT_EQ(blocks_across(LPNS / 2, LPNS, per * UPP), 0);
	/* 81 pages are five units and a page, 27 are one and 11 pages. */
	EXPECT_EQ(used_blocks(), 5 * DIES + 1 + 2 * DIES);
	gone();
}

/* The host ends a unit whose data are in the buffer: in an open page, and in pages that wait. They stay with it. */
static void buffered_data_stay_with_their_unit(void)
{
	uint32_t old = 0;

	for (uint32_t units = 1; units <= 9; units++) {
		make(FTL_ISOLATED_INITIALLY);
		for (uint32_t u = 0; u < units; u++) {
			struct ftl_io io = { .op = FTL_WRITE, .offset = u * UNIT, .bytes = UNIT, .handle = 2 };

			f->ops->submit(f, now, &io);
			(void)f->ops->step(f, now);
		}
		EXPECT_EQ(f->ops->renew_handle(f, now, 2), UNIT_BYTES - units * UNIT);
		expect_left(2, UNIT_BYTES, 1);
		EXPECT_EQ(f->ops->renew_handle(f, now, 2), UNIT_BYTES);
		f->ops->check(f);
		for (uint32_t u = 0; u < units; u++)
			write_units(2, 500 + u, 1, false);
		expect_left(2, UNIT_BYTES - units * UNIT, 1);
		flush();
		expect_left(2, UNIT_BYTES - units * UNIT, 1);
		for (uint32_t b = 0; b < geo_blocks(&t.c.geo); b++) {
			bool has[2] = { false, false };

			for (uint32_t p = 0; p < PAGES; p++) {
				const void *oob;

				if (t.n->ops->peek(t.n, geo_ppn(&t.c.geo, (pbn_t){ b }, p), NULL, &oob) != NAND_OK)
					continue;
				for (uint32_t i = 0; i < UPP; i++)
					if (oob_get_lpn(oob, i) < LPNS)
						has[oob_get_lpn(oob, i) >= 500] = true;
			}
			EXPECT(!has[0] || !has[1]);
			old += has[0];
		}
		gone();
	}
	EXPECT_EQ(old, 1 + 1 + 2 * 7);	/* two units fill a page, and the dies take turns */
}

static void a_handle_is_moved_on(void)
{
	make(FTL_ISOLATED_INITIALLY);
	EXPECT_EQ(f->ops->renew_handle(f, now, 2), UNIT_BYTES);	/* nothing is in its unit */
	expect_handle(2, DIES * PAGES, 0);
	write_units(2, 0, 5 * UPP, false);
	pass_to(FTL_IDLE);
	expect_handle(2, DIES * PAGES - 5, 0);
	EXPECT_EQ(f->ops->renew_handle(f, now, 2), UNIT_BYTES - 5 * PAGE);
	expect_handle(2, DIES * PAGES, 1);
	f->ops->check(f);
	write_units(2, 0, UPP, false);
	pass_to(FTL_IDLE);
	expect_handle(2, DIES * PAGES - 1, 1);
	EXPECT_EQ(used_blocks(), DIES + 1);
	write_at_random(6000);		/* what it did not fill is collected */
	read_all();
	gone();
}

static void a_mount_finds_open_blocks(void)
{
	make(FTL_ISOLATED_INITIALLY);
	for (uint32_t h = 0; h < HANDLES; h++)
		write_units(h, 20 * h, (h + 3) * UPP, false);
	flush();
	EXPECT_EQ(used_blocks(), HANDLES * DIES);
	nand_array_power_cut(t.a, now, 1);
	nand_array_power_on(t.a);
	mount_anew();
	for (uint32_t h = 0; h < HANDLES; h++)
		expect_handle(h, DIES * PAGES - (h + 3), 0);
	for (uint32_t h = 0; h < HANDLES; h++)
		write_units(h, 20 * h, 3 * UPP, false);
	flush();
	EXPECT_EQ(used_blocks(), HANDLES * DIES);
	gone();
}

/* A mount finds how far a unit is, with blocks of it that are full, and none of the unit before. */
static void a_mount_finds_full_blocks(void)
{
	for (uint32_t pages = 1; pages <= 3 * DIES * PAGES; pages++) {
		uint32_t left = DIES * PAGES - pages % (DIES * PAGES);

		make(FTL_ISOLATED_INITIALLY);
		for (uint32_t i = 0; i < pages; i++)
			write_units(1, i * UPP, UPP, false);
		flush();
		nand_array_power_cut(t.a, now, 1);
		nand_array_power_on(t.a);
		mount_anew();
		expect_handle(1, left, 0);
		for (uint32_t i = 0; i < left; i++)
			write_units(1, (pages + i) * UPP, UPP, false);
		flush();
		expect_handle(1, DIES * PAGES, 1);
		EXPECT_EQ(used_blocks() % DIES, 0);
		EXPECT_EQ(blocks_across(0, LPNS, DIES * PAGES * UPP), 0);
		gone();
	}
}

static void cut_and_mount(void)
{
	nand_array_power_cut(t.a, now, 1);
	nand_array_power_on(t.a);
	mount_anew();
}

/* After a flush and a cut exactly that is left of each unit which was left before, whatever was padded and trimmed. */
static void a_mount_finds_what_the_host_wrote(void)
{
	uint64_t sectors[HANDLES] = { 0 };

	make(FTL_ISOLATED_INITIALLY);
	for (uint32_t life = 0; life < 40; life++) {
		for (uint32_t i = 0; i < 1 + life; i++) {
			uint32_t h = (uint32_t)(rnd(&rng) % HANDLES), count = 1 + (uint32_t)(rnd(&rng) % 12);

			write_sectors(h, (uint32_t)(rnd(&rng) % (i % 2 ? 64 : LPNS)), count);
			sectors[h] += count;
			if (rnd(&rng) % 8 == 0)
				run((struct ftl_io){ .op = FTL_TRIM, .offset = 500 * UNIT, .bytes = 600 * UNIT });
		}
		flush();
		cut_and_mount();
		for (uint32_t h = 0; h < HANDLES; h++)
			expect_left(h, UNIT_BYTES - sectors[h] * SECTOR % UNIT_BYTES, 0);
	}
	gone();
}

/* Program the first page of a block as a stranger would: of this stream and handle, with so many sectors written. */
static void program_page(uint32_t block, uint8_t stream, uint8_t handle, uint64_t sectors)
{
	struct oob_head h = { .order = block, .mark = block, .kind = OOB_HOST };
	uint8_t data[PAGE] = { 0 }, oob[OOB_BYTES(UPP) + 7];
	struct nand_cmd c;

	oob_put_head(oob, &h);
	for (uint32_t i = 0; i < UPP; i++)
		oob_put_unit(oob, i, OOB_NO_LPN, block);
	oob[OOB_BYTES(UPP)] = stream;
	oob[OOB_BYTES(UPP) + 1] = handle;
	oob_put5(oob + OOB_BYTES(UPP) + 2, sectors);
	nand_fill_program(&c, NAND_SRC_HOST, block * PAGES, oob);
	c.data = data;
	nand_submit(t.n, now, &c, 1);
	SSD_ASSERT(c.status == NAND_OK);
	now = c.done_ns;
}

/* Numbers of other drives: a handle that this one lacks is ignored, and of more sectors than a unit has 128 are one. */
static void a_mount_bears_any_numbers(void)
{
	make(FTL_ISOLATED_INITIALLY);
	program_page(1, 255, 255, 77);
	program_page(2, 3, HANDLES, 78);
	program_page(3, 2, 2, ((uint64_t)1 << 40) - 1);
	mount_anew();
	f->ops->check(f);
	expect_handle(0, DIES * PAGES, 0);
	expect_handle(1, DIES * PAGES, 0);
	expect_left(2, SECTOR, 0);
	write_units(2, 0, UPP, false);
	expect_left(2, UNIT_BYTES - PAGE + SECTOR, 1);
	flush();
	cut_and_mount();
	f->ops->check(f);
	expect_left(2, UNIT_BYTES - PAGE + SECTOR, 0);
	read_all();
	gone();
}

/* No page says that the host has ended a unit, only the pages that follow. */
static void a_cut_undoes_an_update_without_writes(void)
{
	make(FTL_ISOLATED_INITIALLY);
	write_units(1, 0, 5 * UPP, false);
	flush();
	EXPECT_EQ(f->ops->renew_handle(f, now, 1), UNIT_BYTES - 5 * PAGE);
	expect_handle(1, DIES * PAGES, 1);
	cut_and_mount();
	expect_handle(1, DIES * PAGES - 5, 0);
	EXPECT_EQ(f->ops->renew_handle(f, now, 1), UNIT_BYTES - 5 * PAGE);
	write_units(1, 20, UPP, false);
	flush();
	cut_and_mount();
	expect_handle(1, DIES * PAGES - 1, 0);
	write_units(1, 30, 1, false);			/* the update closes its page */
	EXPECT_EQ(f->ops->renew_handle(f, now, 1), UNIT_BYTES - PAGE - UNIT);
	flush();
	cut_and_mount();
	expect_left(1, UNIT_BYTES - PAGE - UNIT, 0);
	gone();
}

/*
 * A checkpoint says what is written of each unit: the mount reads few of the pages that it trusts, here not the newest
 * ones of handle 2. The map has 9000 entries of 4 bytes, so 18 units, and 8 of them are in memory.
 */
static void a_mount_by_a_checkpoint_finds_it(void)
{
	uint32_t units = 9000;

	make_blocks(FTL_ISOLATED_INITIALLY, 400);
	fc.capacity_bytes = (uint64_t)units * UNIT;
	fc.map_cache_pages = 8;
	mount_anew();
	write_units(2, 0, 3 * UPP + 1, false);
	flush();
	for (uint32_t i = 0; i < 4000; i++)
		write_units(i % 2, 100 + (uint32_t)(rnd(&rng) % 4000), UPP, false);
	flush();
	cut_and_mount();
	EXPECT(page_ftl_of(f)->cache.ckpt.held[0] != BLK_NONE);
	expect_handle(0, DIES * PAGES - 2000 % (DIES * PAGES), 0);
	expect_handle(1, DIES * PAGES - 2000 % (DIES * PAGES), 0);
	expect_left(2, UNIT_BYTES - 3 * PAGE - UNIT, 0);
	read_all();
	gone();
}

/* As many handles as a profile may have, each with its blocks, also after a power cut. */
static void there_are_128_handles(void)
{
	make_blocks(FTL_ISOLATED_PERSISTENTLY, 2 * FTL_HANDLES_MAX + 60);
	fc.placement_handles = FTL_HANDLES_MAX;
	fc.buffer_units = (FTL_HANDLES_MAX + 2) * UPP;
	mount_anew();
	for (uint32_t i = 0; i < 4 * LPNS; i++)
		write_units(i % LPNS % FTL_HANDLES_MAX, i % LPNS, 1, false);
	for (uint32_t h = 0; h < FTL_HANDLES_MAX; h++) {
		uint32_t units = 4 * (LPNS / FTL_HANDLES_MAX + (h < LPNS % FTL_HANDLES_MAX));

		expect_left(h, UNIT_BYTES - (uint64_t)units * UNIT % UNIT_BYTES, units * UNIT / UNIT_BYTES);
	}
	flush();
	EXPECT_EQ(f->ops->stats(f)->stray_pages, 0);
	read_all();
	nand_array_power_cut(t.a, now, 1);
	nand_array_power_on(t.a);
	mount_anew();
	for (uint32_t b = 0; b < geo_blocks(&t.c.geo); b++) {
		uint32_t handle = FTL_HANDLES_MAX;

		for (uint32_t p = 0; p < PAGES; p++) {
			const void *oob;

			if (t.n->ops->peek(t.n, geo_ppn(&t.c.geo, (pbn_t){ b }, p), NULL, &oob) != NAND_OK)
				continue;
			for (uint32_t i = 0; i < UPP; i++) {
				uint32_t lpn = oob_get_lpn(oob, i);

				EXPECT(lpn >= LPNS || handle == FTL_HANDLES_MAX || handle == lpn % FTL_HANDLES_MAX);
				handle = lpn < LPNS ? lpn % FTL_HANDLES_MAX : handle;
			}
		}
	}
	read_all();
	gone();
}

static void fewer_handles_find_all_data(void)
{
	make(FTL_ISOLATED_PERSISTENTLY);
	write_at_random(3000);
	flush();
	nand_array_power_cut(t.a, now, 1);
	nand_array_power_on(t.a);
	fc.placement_handles = 1;
	mount_anew();
	read_all();
	for (uint32_t i = 0; i < 2000; i++)
		write_units(0, (uint32_t)(rnd(&rng) % LPNS), 1, false);
	read_all();
	gone();
}

/* ---- settings ---------------------------------------------------------------- */

static void bad_settings_are_refused(void)
{
	struct ftl_config good;
	struct nand_geometry g;

	make(FTL_ISOLATED_PERSISTENTLY);
	good = fc;
	g = t.c.geo;
	fc.gc_frontier = FTL_GC_SHARED;
	refused("gc_frontier must be own with placement_handles");
	fc = good;
	fc.hot_cold = FTL_HOT_COLD_COUNT;
	refused("hot_cold must be off with placement_handles");
	fc = good;
	fc.buffer_units = (HANDLES + 2) * UPP - 1;
	refused("buffer_units is too small: it must hold a NAND page for each of placement_handles and two more");
	fc.buffer_units++;
	EXPECT(ftl_validate(ftl_list[0], &fc, &g, &(const char *){ NULL }) == SSD_OK);
	fc.buffer_units = 0;
	refused("buffer_units is too small");
	fc = good;
	fc.capacity_bytes = (uint64_t)(2 * 52 - DIES * (2 + HANDLES + HANDLES)) * ((PAGES - 1) * UPP + 1) * UNIT;
	refused("placement_handles is too much");
	fc.capacity_bytes -= 2 * (uint64_t)UNIT;	/* the trim bitmap and the dead list */
	EXPECT(ftl_validate(ftl_list[0], &fc, &g, &(const char *){ NULL }) == SSD_OK);
	fc = good;
	fc.placement_handles = FTL_HANDLES_MAX + 1;
	fc.buffer_units = 1000;
	refused("placement_handles must be at most 128");
	fc = good;
	t.c.geo.oob_bytes = 14 + 9 * UPP - 1;
	refused("oob_bytes is too small for this FTL");
	EXPECT_EQ(ftl_oob_bytes(ftl_list[0], &fc, &t.c.geo), 14 + 9 * UPP);
	t.c.geo = g;
	t.c.geo.bits_per_cell = 2;
	t.c.geo.order = NAND_ORDER_FPS;
	refused("placement_handles must be 0: the FTL chooses open blocks by their LSB and MSB pages");
	t.c.geo.order = NAND_ORDER_ASCENDING;
	fc.timing.slc_program_ns = 1000;
	fc.slc_cache = FTL_SLC_DYNAMIC;
	fc.slc_blocks = 1;
	refused("slc_cache must be none with placement_handles");
	t.c.geo = g;
	gone();
}

int main(void)
{
	RUN(each_block_has_one_handle);
	RUN(initially_isolated_copies_are_mixed);
	RUN(copybacks_and_pairs_stay_apart);
	RUN(a_mount_keeps_them_apart);
	RUN(interleaved_writes_fill_pages);
	RUN(flush_and_fua_close_all_pages);
	RUN(versions_keep_their_order);
	RUN(a_reclaim_unit_is_a_block_of_each_plane);
	RUN(a_unit_counts_what_the_host_wrote);
	RUN(lost_content_takes_nothing);
	RUN(a_unit_ends_when_it_is_full);
	RUN(buffered_data_stay_with_their_unit);
	RUN(a_handle_is_moved_on);
	RUN(a_mount_finds_open_blocks);
	RUN(a_mount_finds_full_blocks);
	RUN(a_mount_finds_what_the_host_wrote);
	RUN(a_mount_bears_any_numbers);
	RUN(a_cut_undoes_an_update_without_writes);
	RUN(a_mount_by_a_checkpoint_finds_it);
	RUN(there_are_128_handles);
	RUN(fewer_handles_find_all_data);
	RUN(bad_settings_are_refused);
	return test_result();
}
