// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test reclaim groups: which dies have the data of a group, its handles' reclaim units, mounts, a full group, and what
 * is refused. test_cut and test_odd cut the power.
 */
#include "controller.h"
#include "handles_drive.h"

#define GROUPS 2u
#define GROUP_UNIT (UNIT_BYTES / GROUPS)	/* bytes of a reclaim unit: a block of the group's one plane */

static void make_groups(enum ftl_isolation isolation)
{
	make(isolation);
	fc.placement_groups = GROUPS;
	mount_anew();
}

static uint32_t number(uint32_t group, uint32_t handle)
{
	return group * HANDLES + handle;
}

static void expect_group(uint32_t group, uint32_t handle, uint64_t left_pages, uint64_t units)
{
	struct ftl_handle h = f->ops->handle(f, number(group, handle));

	EXPECT_EQ(h.unit_bytes, GROUP_UNIT);
	EXPECT_EQ(h.left_bytes, left_pages * PAGE);
	EXPECT_EQ(h.units, units);
}

/* Returns a bit for each die on which flash has the unit, in a page that may be obsolete. */
static uint32_t dies_with(uint32_t lpn)
{
	uint32_t dies = 0;

	for (uint32_t b = 0; b < geo_blocks(&t.c.geo); b++)
		for (uint32_t p = 0; p < PAGES; p++) {
			const void *oob;

			if (t.n->ops->peek(t.n, geo_ppn(&t.c.geo, (pbn_t){ b }, p), NULL, &oob) != NAND_OK)
				continue;
			for (uint32_t i = 0; i < UPP; i++)
				if (oob_get_lpn(oob, i) == lpn)
					dies |= 1u << geo_die_of(&t.c.geo, (pbn_t){ b });
		}
	return dies;
}

/* Even units are written to group 0, odd ones to group 1. GC, power cuts and mounts leave them there. */
static void data_stay_in_their_group(void)
{
	make_groups(FTL_ISOLATED_PERSISTENTLY);
	for (uint32_t life = 0; life < 4; life++) {
		for (uint32_t i = 0; i < 2000; i++) {
			uint32_t unit = (uint32_t)(rnd(&rng) % LPNS);

			write_units(number(unit % GROUPS, unit % HANDLES), unit, 1, rnd(&rng) % 20 == 0);
		}
		flush();
		EXPECT(f->ops->stats(f)->gc_units > 200);
		EXPECT_EQ(f->ops->stats(f)->stray_pages, 0);
		for (uint32_t unit = 0; unit < LPNS; unit += 7)
			EXPECT(!(dies_with(unit) & ~(1u << unit % GROUPS)));
		EXPECT_EQ(mixed_blocks(true) + mixed_blocks(false), 0);
		nand_array_power_cut(t.a, now, life);
		nand_array_power_on(t.a);
		mount_anew();
	}
	read_all();
	gone();
}

/* Each handle has a reclaim unit in each group, which a mount finds and a renewal ends in that group alone. */
static void each_group_has_its_units(void)
{
	make_groups(FTL_ISOLATED_INITIALLY);
	write_units(number(0, 2), 0, 2 * UPP, false);
	write_units(number(1, 2), 100, 5 * UPP, false);
	write_units(number(1, 0), 200, 9 * UPP, false);
	flush();
	expect_group(0, 2, PAGES - 2, 0);
	expect_group(1, 2, PAGES - 5, 0);
	expect_group(1, 0, PAGES - 1, 1);
	expect_group(0, 0, PAGES, 0);
	EXPECT_EQ(used_blocks(), 1 + 1 + 2);
	EXPECT_EQ(dies_with(3), 1);
	EXPECT_EQ(dies_with(109), 2);
	EXPECT_EQ(dies_with(217), 2);
	nand_array_power_cut(t.a, now, 1);
	nand_array_power_on(t.a);
	mount_anew();
	expect_group(0, 2, PAGES - 2, 0);
	expect_group(1, 2, PAGES - 5, 0);
	expect_group(1, 0, PAGES - 1, 0);
	EXPECT_EQ(f->ops->renew_handle(f, now, number(1, 2)), 3 * PAGE);
	expect_group(1, 2, PAGES, 1);
	expect_group(0, 2, PAGES - 2, 0);
	write_units(number(0, 2), 10, UPP, false);
	write_units(number(1, 2), 120, UPP, false);
	flush();
	EXPECT_EQ(used_blocks(), 1 + 2 + 2);
	gone();
}

/*
 * All pages name group 0. Of its 52 blocks, 2 are reserved, 3 open for handles and 1 for copies, and GC needs a page of
 * each other block, so it holds 46 * (7 * 2 + 1) = 690 units. Its share of 1200 units, the trim bitmap and the dead
 * list is 601. The limit is (601 + 690) / 2 = 645. Units are counted each 13 pages, an eighth of 104 blocks: with
 * pages 14, 27 and so on. Page 326 is the first of these with 645 units or more, 652. The next pages go to group 1.
 */
static void a_full_group_gives_way(void)
{
	uint32_t of_group = 326, pages = 400;

	make_groups(FTL_ISOLATED_INITIALLY);
	for (uint32_t i = 0; i < pages; i++)
		write_units(number(0, 1), i * UPP, UPP, false);
	flush();
	for (uint32_t i = 0; i < pages; i++)
		EXPECT_EQ(dies_with(i * UPP), i < of_group ? 1 : 2);
	EXPECT_EQ(f->ops->stats(f)->stray_pages, pages - of_group);
	expect_group(0, 1, PAGES, pages / PAGES);
	expect_group(1, 1, PAGES, 0);
	/* Page 401 is the trim bitmap's, and with page 404 the count finds room again. */
	run((struct ftl_io){ .op = FTL_TRIM, .bytes = 200 * UNIT });
	flush();
	for (uint32_t i = 0; i < 5; i++)
		write_units(number(0, 1), (pages + i) * UPP, UPP, false);
	flush();
	for (uint32_t i = 0; i < 5; i++)
		EXPECT_EQ(dies_with((pages + i) * UPP), i < 3 ? 2 : 1);
	gone();
}

/*
 * As above, page 327 and the later ones go to group 1. They count as the unit of the handle that they name, also after
 * a mount, and the same handle of group 1 has its own unit. An update ends the former alone.
 */
static void a_full_group_has_its_units(void)
{
	uint32_t pages = 403;

	make_groups(FTL_ISOLATED_INITIALLY);
	write_units(number(1, 1), 1100, UPP, false);
	for (uint32_t i = 0; i < pages; i++)
		write_units(number(0, 1), i * UPP, UPP, false);
	flush();
	EXPECT(f->ops->stats(f)->stray_pages > 70);
	for (uint32_t life = 0; life < 2; life++) {
		expect_group(0, 1, PAGES - 3, life ? 0 : pages / PAGES);
		expect_group(1, 1, PAGES - 1, 0);
		nand_array_power_cut(t.a, now, 1);
		nand_array_power_on(t.a);
		mount_anew();
	}
	for (uint32_t units = 0; units < 4; units++) {	/* the last page is full, or waits in the buffer half full */
		uint64_t left = (PAGES - (units ? 0 : 3)) * PAGE - units * UNIT;

		write_units(number(0, 1), 2 * pages, units, false);
		EXPECT_EQ(f->ops->renew_handle(f, now, number(0, 1)), left);
		f->ops->check(f);
		expect_group(0, 1, PAGES, units + 1);
		expect_group(1, 1, PAGES - 1, 0);
		EXPECT_EQ(f->ops->renew_handle(f, now, number(0, 1)), GROUP_UNIT);	/* of an empty unit */
	}
	flush();
	for (uint32_t i = 1; i < PAGES; i++)
		write_units(number(1, 1), 1100 + i * UPP, UPP, false);
	expect_group(1, 1, PAGES, 1);
	expect_group(0, 1, PAGES, 4);
	read_all();
	gone();
}

/* Each group in turn is asked for more than its share, and GC works in both. No data are lost, no write fails. */
static void groups_take_turns_to_overflow(void)
{
	make_groups(FTL_ISOLATED_PERSISTENTLY);
	for (uint32_t i = 0; i < 12000; i++)
		write_units(number(i / 3000 % GROUPS, i % HANDLES), (uint32_t)(rnd(&rng) % LPNS), 1, false);
	EXPECT(f->ops->stats(f)->stray_pages > 0);
	read_all();
	flush();
	nand_array_power_cut(t.a, now, 1);
	nand_array_power_on(t.a);
	mount_anew();
	read_all();
	gone();
}

/* What a drive with one group has written is found by one with two, which goes on with it, and the reverse. */
static void groups_may_change(void)
{
	make(FTL_ISOLATED_PERSISTENTLY);
	for (uint32_t life = 0; life < 4; life++) {
		fc.placement_groups = 1 + life % GROUPS;
		mount_anew();
		for (uint32_t i = 0; i < 3000; i++)
			write_units(i % ftl_handles(&fc), (uint32_t)(rnd(&rng) % LPNS), 1, false);
		read_all();
		flush();
		nand_array_power_cut(t.a, now, life);
		nand_array_power_on(t.a);
	}
	mount_anew();
	read_all();
	gone();
}

static uint32_t to_fail;

static enum nand_status fail_in_die_0(void *opaque, const struct nand_cmd *c)
{
	(void)opaque;
	if (c->op != NAND_PROGRAM || geo_die_of(&t.c.geo, (pbn_t){ c->ppn.v / PAGES }) || !to_fail)
		return NAND_OK;
	to_fail--;
	return NAND_PROG_FAIL;
}

/*
 * Twelve programs of group 0 fail, one after the other, and take the blocks that are kept for GC's copies. Pages go to
 * group 1 until the host has made a block of group 0 empty; no write fails. The drive has more than twice the blocks
 * that its 500 units need.
 */
static void a_group_without_free_blocks_is_left(void)
{
	struct nand_hooks hooks = { .fault = fail_in_die_0 };
	uint32_t units = 500;

	make_groups(FTL_ISOLATED_INITIALLY);
	fc.capacity_bytes = (uint64_t)units * UNIT;
	mount_anew();
	nand_array_set_hooks(t.a, &hooks);
	for (uint32_t i = 0; i < 6000; i++) {
		uint32_t unit = (uint32_t)(rnd(&rng) % units);

		if (i == 3000)
			to_fail = 12;
		write_units(number(unit % GROUPS, unit % HANDLES), unit, 1, rnd(&rng) % 20 == 0);
	}
	EXPECT_EQ(to_fail, 0);
	EXPECT(f->ops->stats(f)->stray_pages > 12);
	read_all();
	gone();
}

static void bad_groups_are_refused(void)
{
	struct ftl_config good;

	make(FTL_ISOLATED_PERSISTENTLY);
	good = fc;
	fc.placement_groups = 3;
	refused("placement_groups must divide the number of dies");
	fc.placement_groups = 2;
	fc.buffer_units = (2 * HANDLES + 2) * UPP - 1;
	refused("buffer_units is too small");
	fc.buffer_units++;
	EXPECT(ftl_validate(ftl_list[0], &fc, &t.c.geo, &(const char *){ NULL }) == SSD_OK);
	fc.namespaces = 1;
	refused("placement_groups must be 1 with drive.namespaces");
	fc = good;
	fc.placement_groups = 2;
	fc.placement_handles = FTL_HANDLES_MAX / 2 + 1;
	refused("placement_groups is too much: with placement_handles in each group there must be at most 128");
	fc.placement_handles = 0;
	refused("placement_groups must be 1 without placement_handles");
	fc = good;
	gone();
}

int main(void)
{
	RUN(data_stay_in_their_group);
	RUN(each_group_has_its_units);
	RUN(a_full_group_gives_way);
	RUN(a_full_group_has_its_units);
	RUN(groups_take_turns_to_overflow);
	RUN(groups_may_change);
	RUN(a_group_without_free_blocks_is_left);
	RUN(bad_groups_are_refused);
	return test_result();
}
