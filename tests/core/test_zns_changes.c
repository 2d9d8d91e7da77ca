// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test zones that the drive changes itself (ftl/zns): read-only after a failed program, offline after failed erases.
 * The drive reports both states, and both are permanent.
 */
#include "zns.h"
#include "zns_drive.h"

static struct zr second;
static uint64_t cuts;

static struct {
	enum nand_op op;
	uint32_t left;			/* commands of that kind before the one that fails; 0: none fails */
} fail_at;

static enum nand_status on_command(void *opaque, const struct nand_cmd *c)
{
	(void)opaque;
	if (c->op != fail_at.op || !fail_at.left || --fail_at.left)
		return NAND_OK;
	return c->op == NAND_ERASE ? NAND_ERASE_FAIL : NAND_PROG_FAIL;
}

static void begin_failing(const struct zr_shape *s)
{
	struct nand_hooks hooks = { .violation = test_violation, .fault = on_command };

	begin(s);
	nand_array_set_hooks(first.ta.a, &hooks);
	first.may_fail = true;
}

/* The next program of zone 1 fails. When a record has the state, the drive reports it; the state survives cuts. */
static void a_failed_program_makes_a_zone_read_only(void)
{
	begin_failing(&small);
	EXPECT_EQ(status_of(FTL_WRITE, 0, 16, 4), SSD_OK);
	zr_drain(&first);
	fail_at.op = NAND_PROGRAM;
	fail_at.left = 1;
	EXPECT_EQ(status_of(FTL_WRITE, 0, 20, 3), SSD_OK);
	EXPECT_EQ(first.ops->zones(first.f).changes, 0);
	zr_drain(&first);
	EXPECT_EQ(fail_at.left, 0);
	EXPECT_EQ(report(1).state, FTL_ZONE_READONLY);
	EXPECT(report(1).changed);
	EXPECT_EQ(first.ops->zones(first.f).changes, 1);
	first.ops->zone_told(first.f, 1);
	EXPECT(!report(1).changed);
	EXPECT_EQ(status_of(FTL_READ, 0, 16, 7), SSD_OK);	/* from flash and from the buffer */
	for (uint32_t mounts = 0; mounts < 3; mounts++) {
		static const struct { enum ftl_zone_op op; enum ssd_err says; } ops[] = {
			{ FTL_ZONE_OPEN, SSD_E_ZONE_READONLY }, { FTL_ZONE_CLOSE, SSD_E_ZONE_READONLY },
			{ FTL_ZONE_FINISH, SSD_E_ZONE_READONLY }, { FTL_ZONE_RESET, SSD_E_ZONE_STATE },
		};

		for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++)
			EXPECT_EQ(status_of(FTL_TRIM, ops[i].op, 16, 0), ops[i].says);
		EXPECT_EQ(status_of(FTL_WRITE, 0, 23, 1), SSD_E_ZONE_READONLY);
		EXPECT_EQ(report(1).state, FTL_ZONE_READONLY);
		EXPECT_EQ(report(0).state, FTL_ZONE_EMPTY);
		cut_and_mount();
		zr_adopt(&first, &first);
		first.may_fail = true;
		EXPECT_EQ(first.zones.changes, 0);		/* a mount does not report a known state again */
		EXPECT(!report(1).changed);
		EXPECT_EQ(first.zone[1].base.sectors, 4);	/* the sectors that were programmed */
		EXPECT_EQ(first.zone[1].base.tag[3], 1);
	}
	zr_free(&first);
}

/*
 * A plane has eight blocks, five for zones and three spare ones. A reset whose erase fails leaves two, another
 * one leaves one: that zone is offline. It stays so, although a higher zone is empty.
 */
static void a_failed_erase_makes_a_zone_offline(void)
{
	begin_failing(&small);
	for (uint32_t zone = 0; zone < 3; zone++) {
		EXPECT_EQ(status_of(FTL_WRITE, 0, zone * 16, 2), SSD_OK);	/* a page: on the first plane */
		EXPECT_EQ(status_of(FTL_TRIM, FTL_ZONE_FINISH, zone * 16, 0), SSD_OK);
	}
	for (uint32_t zone = 0; zone < 2; zone++) {
		fail_at.op = NAND_ERASE;
		fail_at.left = 1;
		EXPECT_EQ(status_of(FTL_TRIM, FTL_ZONE_RESET, zone * 16, 0), SSD_OK);
		EXPECT_EQ(report(zone).state, zone ? FTL_ZONE_OFFLINE : FTL_ZONE_EMPTY);
		EXPECT_EQ(report(zone).changed, zone == 1);
	}
	EXPECT_EQ(first.ops->zones(first.f).changes, 1);
	for (uint32_t mounts = 0; mounts < 3; mounts++) {
		EXPECT_EQ(status_of(FTL_WRITE, 0, 16, 1), SSD_E_ZONE_OFFLINE);
		EXPECT_EQ(status_of(FTL_TRIM, FTL_ZONE_RESET, 16, 0), SSD_E_ZONE_OFFLINE);
		EXPECT_EQ(status_of(FTL_READ, 0, 31, 1), SSD_E_ZONE_OFFLINE);
		EXPECT_EQ(status_of(FTL_READ, 0, 15, 2), SSD_E_ZONE_OFFLINE);
		EXPECT_EQ(status_of(FTL_READ, 0, 0, 16), SSD_OK);
		cut_and_mount();
		zr_adopt(&first, &first);
		first.may_fail = true;
		for (uint32_t zone = 0; zone < 5; zone++)
			EXPECT_EQ(report(zone).state, zone == 1 ? FTL_ZONE_OFFLINE :
						      zone == 2 ? FTL_ZONE_FULL : FTL_ZONE_EMPTY);
		EXPECT_EQ(first.zones.changes, 0);
	}
	/* The other zones may use an offline zone's blocks. */
	EXPECT_EQ(status_of(FTL_TRIM, FTL_ZONE_RESET, 32, 0), SSD_OK);
	EXPECT_EQ(report(2).state, FTL_ZONE_EMPTY);
	zr_free(&first);
}

/* Write a sector with FUA, so that the log has it, and let the program of its page fail. */
static void fail_a_part(uint32_t zone, uint64_t size)
{
	EXPECT(zr_alone(&first, FTL_WRITE, 0, zone * size, 1, true, NULL, NULL));
	zr_drain(&first);
	fail_at.op = NAND_PROGRAM;
	fail_at.left = 1;
	EXPECT_EQ(status_of(FTL_WRITE, 0, zone * size + 1, 1), SSD_OK);
	zr_drain(&first);
	EXPECT_EQ(report(zone).state, FTL_ZONE_READONLY);
}

/*
 * Two zones may be active. Two zones with a flushed part become read-only; they keep their buffers, and so count as
 * active, until the next mount programs their parts.
 */
static void read_only_zones_are_not_active_after_a_mount(void)
{
	begin_failing(&small);
	for (uint32_t zone = 0; zone < 2; zone++)
		fail_a_part(zone, 16);
	EXPECT_EQ(status_of(FTL_TRIM, FTL_ZONE_OPEN, 32, 0), SSD_E_ZONE_ACTIVE);
	for (uint32_t mounts = 0; mounts < 2; mounts++) {
		cut_and_mount();
		zr_adopt(&first, &first);
		first.may_fail = true;
		for (uint32_t zone = 0; zone < 5; zone++)
			EXPECT_EQ(report(zone).state, zone < 2 ? FTL_ZONE_READONLY : FTL_ZONE_EMPTY);
		for (uint32_t zone = 0; zone < 2; zone++) {
			EXPECT_EQ(first.zone[zone].base.sectors, 1);
			EXPECT_EQ(status_of(FTL_READ, 0, zone * 16, 1), SSD_OK);
		}
		EXPECT_EQ(status_of(FTL_TRIM, FTL_ZONE_OPEN, 32, 0), SSD_OK);
		EXPECT_EQ(status_of(FTL_TRIM, FTL_ZONE_OPEN, 48, 0), SSD_OK);
		EXPECT_EQ(status_of(FTL_TRIM, FTL_ZONE_OPEN, 64, 0), SSD_E_ZONE_ACTIVE);
	}
	zr_free(&first);
}

static const struct zr_shape three = {
	.g = { 1, 1, 1, 2, 8, 8, 1024, 64, 0, 1024, 0, 1, 1, NAND_ORDER_ASCENDING },
	.zones = 5, .zone_blocks = 1, .active_max = 3, .open_max = 3, .power2 = true,
};

/*
 * Three zones may be active, so there are four buffers. Zone 0 is read-only with a flushed part. Zones 1 and 2
 * become full with a stripe in their buffers each, and zones 3 and 4 begin meanwhile: the last one has to wait.
 */
static void a_flushed_part_keeps_its_buffer(void)
{
	begin_failing(&three);
	for (uint32_t zone = 1; zone < 3; zone++)
		EXPECT_EQ(status_of(FTL_WRITE, 0, zone * 32, 28), SSD_OK);
	fail_a_part(0, 32);
	for (uint32_t zone = 1; zone < 3; zone++) {
		EXPECT_EQ(status_of(FTL_WRITE, 0, zone * 32 + 28, 4), SSD_OK);
		EXPECT_EQ(report(zone).state, FTL_ZONE_FULL);
		EXPECT_EQ(status_of(FTL_WRITE, 0, (zone + 2) * 32, 1), SSD_OK);
	}
	for (uint32_t mounts = 0; mounts < 2; mounts++) {
		EXPECT_EQ(status_of(FTL_READ, 0, 0, 1), SSD_OK);
		cut_and_mount();
		zr_adopt(&first, &first);
		first.may_fail = true;
		EXPECT_EQ(first.zone[0].base.sectors, 1);
	}
	zr_free(&first);
}

static void lose_sectors_at(uint64_t sector)
{
	fail_at.op = NAND_PROGRAM;
	fail_at.left = 1;
	EXPECT_EQ(status_of(FTL_WRITE, 0, sector, 3), SSD_OK);
	zr_drain(&first);
}

static void lose_sectors(uint32_t zone, uint64_t size)
{
	lose_sectors_at(zone * size);
	EXPECT_EQ(report(zone).state, FTL_ZONE_READONLY);
}

static enum ssd_err flush(void)
{
	return status_of(FTL_FLUSH, 0, 0, 0);
}

/* Each flush that is submitted before the first one has reported the loss reports it, too; later ones work. */
static void flushes_report_a_loss_once(void)
{
	begin_failing(&small);
	lose_sectors(1, 16);
	for (uint32_t i = 0; i < 2; i++)
		zr_submit(&first, FTL_FLUSH, 0, 0, 0, false);
	zr_drain(&first);
	EXPECT_EQ(first.failed, 2);
	EXPECT_EQ(flush(), SSD_OK);
	EXPECT_EQ(status_of(FTL_WRITE, 0, 0, 3), SSD_OK);
	EXPECT_EQ(flush(), SSD_OK);
	EXPECT_EQ(status_of(FTL_TRIM, FTL_ZONE_FINISH, 0, 0), SSD_OK);
	EXPECT_EQ(status_of(FTL_READ, 0, 16, 3), SSD_OK);	/* from the buffer, until the power is cut */
	lose_sectors(2, 16);
	EXPECT_EQ(flush(), SSD_E_ZONE_READONLY);
	EXPECT_EQ(flush(), SSD_OK);
	cut_and_mount();
	zr_adopt(&first, &first);
	EXPECT_EQ(first.zone[0].base.sectors, 3);
	EXPECT_EQ(first.zone[1].base.sectors, 0);
	EXPECT_EQ(flush(), SSD_OK);
	zr_free(&first);
}

/*
 * A zone fails with data from before a flush and from after it in its buffer. Both are lost: the flush reports an error
 * for the first, and the next flush for the others.
 */
static void a_flush_reports_what_it_covers(void)
{
	begin_failing(&small);
	fail_at.op = NAND_PROGRAM;
	fail_at.left = 1;
	zr_submit(&first, FTL_WRITE, 0, 16, 2, false);
	zr_submit(&first, FTL_FLUSH, 0, 0, 0, false);
	zr_submit(&first, FTL_WRITE, 0, 18, 1, false);
	zr_drain(&first);
	EXPECT_EQ(first.failed, 1);
	EXPECT_EQ(report(1).state, FTL_ZONE_READONLY);
	EXPECT_EQ(flush(), SSD_E_ZONE_READONLY);
	EXPECT_EQ(flush(), SSD_OK);
	zr_free(&first);
}

/*
 * As in a_flushed_part_keeps_its_buffer(), but nothing of zone 0 was flushed, so zone 4 takes its buffer. One flush
 * reports the loss: a flush before that (told = 0), or else the first one after it.
 */
static void a_loss_with_the_buffer_is_reported_once(void)
{
	for (int told = 0; told < 2; told++) {
		begin_failing(&three);
		for (uint32_t zone = 1; zone < 3; zone++)
			EXPECT_EQ(status_of(FTL_WRITE, 0, zone * 32, 28), SSD_OK);
		lose_sectors(0, 32);
		if (told) {
			EXPECT_EQ(flush(), SSD_E_ZONE_READONLY);
			EXPECT_EQ(flush(), SSD_OK);
		}
		for (uint32_t zone = 1; zone < 3; zone++) {
			EXPECT_EQ(status_of(FTL_WRITE, 0, zone * 32 + 28, 4), SSD_OK);
			EXPECT_EQ(status_of(FTL_WRITE, 0, (zone + 2) * 32, 1), SSD_OK);
		}
		zr_drain(&first);
		EXPECT_EQ(status_of(FTL_READ, 0, 0, 3), SSD_E_UNCORR);
		EXPECT_EQ(flush(), told ? SSD_OK : SSD_E_ZONE_READONLY);
		EXPECT_EQ(flush(), SSD_OK);
		zr_free(&first);
	}
}

static uint32_t free_blocks(void)
{
	uint32_t n = 0;

	for (uint32_t b = 0; b < geo_blocks(&small.g); b++)
		n += first.ops->block(first.f, (pbn_t){ b }).state == FTL_BLOCK_FREE;
	return n;
}

/*
 * Zone 0 is reset with data that are only in the buffer, and again with a program under way that fails. Neither
 * counts as a loss, before or after zone 1 loses data.
 */
static void dropped_data_are_no_loss(void)
{
	begin_failing(&small);
	EXPECT_EQ(status_of(FTL_WRITE, 0, 0, 1), SSD_OK);
	EXPECT_EQ(status_of(FTL_TRIM, FTL_ZONE_RESET, 0, 0), SSD_OK);
	fail_at.op = NAND_PROGRAM;
	fail_at.left = 1;
	zr_submit(&first, FTL_WRITE, 0, 0, 2, false);
	zr_submit(&first, FTL_TRIM, FTL_ZONE_RESET, 0, 0, false);
	zr_drain(&first);
	EXPECT_EQ(fail_at.left, 0);
	lose_sectors(1, 16);
	EXPECT_EQ(status_of(FTL_TRIM, FTL_ZONE_RETIRE, 16, 0), SSD_OK);
	EXPECT_EQ(flush(), SSD_E_ZONE_READONLY);
	EXPECT_EQ(flush(), SSD_OK);
	zr_free(&first);
}

/*
 * The host takes a read-only zone offline: the record is programmed, and then its two blocks are erased. The state
 * survives cuts, and the blocks are other zones' from then on.
 */
static void a_read_only_zone_is_retired(void)
{
	uint32_t before;

	begin_failing(&small);
	EXPECT_EQ(status_of(FTL_WRITE, 0, 16, 4), SSD_OK);
	zr_drain(&first);
	EXPECT_EQ(status_of(FTL_TRIM, FTL_ZONE_RETIRE, 16, 0), SSD_E_ZONE_STATE);
	EXPECT_EQ(status_of(FTL_TRIM, FTL_ZONE_RETIRE, 0, 0), SSD_E_ZONE_STATE);
	lose_sectors_at(20);
	EXPECT_EQ(report(1).state, FTL_ZONE_READONLY);
	before = free_blocks();
	EXPECT_EQ(status_of(FTL_TRIM, FTL_ZONE_RETIRE, 16, 0), SSD_OK);
	EXPECT_EQ(report(1).state, FTL_ZONE_OFFLINE);
	EXPECT_EQ(first.ops->zones(first.f).changes, 1);	/* of read-only alone: the host knows of the rest */
	EXPECT_EQ(status_of(FTL_READ, 0, 16, 1), SSD_E_ZONE_OFFLINE);
	EXPECT_EQ(flush(), SSD_E_ZONE_READONLY);		/* sectors 20 to 22 are lost */
	EXPECT_EQ(flush(), SSD_OK);
	zr_drain(&first);
	EXPECT_EQ(free_blocks(), before + 1);			/* its other block is bad: its program failed */
	for (uint32_t mounts = 0; mounts < 3; mounts++) {
		EXPECT_EQ(status_of(FTL_TRIM, FTL_ZONE_RETIRE, 16, 0), SSD_OK);
		EXPECT_EQ(status_of(FTL_TRIM, FTL_ZONE_RETIRE, 32, 0), SSD_E_ZONE_STATE);
		EXPECT_EQ(status_of(FTL_TRIM, FTL_ZONE_RESET, 16, 0), SSD_E_ZONE_OFFLINE);
		for (uint32_t zone = 0; zone < 5; zone++)
			EXPECT_EQ(report(zone).state, zone == 1 ? FTL_ZONE_OFFLINE : FTL_ZONE_EMPTY);
		cut_and_mount();
		zr_adopt(&first, &first);
		first.may_fail = true;
		EXPECT_EQ(first.zones.changes, 0);
	}
	EXPECT_EQ(first.ops->stats(first.f)->zone_retirements, 0);
	zr_free(&first);
}

/* A read waits for its die while the zone's blocks are erased: it fails, and does not return zeroes. */
static void a_read_is_overtaken_by_a_retirement(void)
{
	begin_failing(&small);
	EXPECT_EQ(status_of(FTL_WRITE, 0, 16, 4), SSD_OK);
	lose_sectors_at(20);
	for (uint32_t i = 0; i < 24; i++)
		zr_submit(&first, FTL_READ, 0, 16, 1, false);
	zr_submit(&first, FTL_TRIM, FTL_ZONE_RETIRE, 16, 0, false);
	for (uint32_t i = 0; i < 24; i++)
		zr_submit(&first, FTL_READ, 0, 16, 1, false);
	zr_drain(&first);
	EXPECT_EQ(report(1).state, FTL_ZONE_OFFLINE);
	EXPECT(first.failed > 0 && first.failed < 48);
	zr_free(&first);
}

/*
 * Cut the power before, in and after each command of a retirement. The zone is read-only with what flash has, or
 * offline, and the latter once the host was told.
 */
#define SEEDS 8
static uint32_t retired_cuts[2];
static bool retired;

static void cut_retirement(void *opaque, uint64_t now_ns, const struct nand_cmd *c, unsigned int count)
{
	(void)opaque;
	for (int i = 0; i < 3 * SEEDS; i++) {
		enum ftl_zone_state state;

		test_lose_power(&second.ta, &first.ta, test_cut_time(now_ns, &c[count - 1], i % 3), ++cuts);
		zr_mount(&second);
		state = second.ops->zone(second.f, 1).state;
		EXPECT(state == FTL_ZONE_OFFLINE || (state == FTL_ZONE_READONLY && !retired));
		retired_cuts[state == FTL_ZONE_OFFLINE]++;
		zr_adopt(&second, &first);
		EXPECT_EQ(second.zone[1].base.sectors, state == FTL_ZONE_READONLY ? 4 : 0);
		second.ops->check(second.f);
	}
}

static void cuts_of_a_retirement(void)
{
	struct nand_hooks hooks = { .violation = test_violation, .fault = on_command, .done = cut_retirement };

	cuts = 0;
	retired = false;
	zr_make(&second, &small);
	begin_failing(&small);
	EXPECT_EQ(status_of(FTL_WRITE, 0, 16, 4), SSD_OK);
	zr_drain(&first);
	lose_sectors_at(20);
	nand_array_set_hooks(first.ta.a, &hooks);
	EXPECT_EQ(status_of(FTL_TRIM, FTL_ZONE_RETIRE, 16, 0), SSD_OK);
	retired = true;
	zr_drain(&first);
	EXPECT(status_of(FTL_WRITE, 0, 0, 4) == SSD_OK);
	zr_drain(&first);
	EXPECT_EQ(cuts, 3 * 3 * SEEDS);		/* the record, the erase, and the program of another zone */
	EXPECT(retired_cuts[0] > SEEDS && retired_cuts[0] < 2 * SEEDS);	/* a torn record may count */
	zr_free(&first);
	zr_free(&second);
}

/* Cut the power before, in and after each program and erase, and check the states that a mount finds. */
static void cut_here(void *opaque, uint64_t now_ns, const struct nand_cmd *c, unsigned int count)
{
	(void)opaque;
	if (c[0].op == NAND_READ)
		return;
	zr_note_left(&first);
	for (int when = 0; when < 3; when++) {
		test_lose_power(&second.ta, &first.ta, test_cut_time(now_ns, &c[count - 1], when), ++cuts);
		zr_mount(&second);
		zr_verify(&second, &first);
		zr_check_left(&second, &first);
	}
}

/*
 * Zones 0 and 39 are read-only, so two records have states, since each covers 32 zones. Writes that end within a
 * page move the log through its blocks four times, and both records stay in it.
 */
static void states_move_with_the_log(void)
{
	static const struct zr_shape many = {
		.g = { 1, 1, 1, 1, 44, 8, 1024, 64, 0, 1024, 0, 1, 1, NAND_ORDER_ASCENDING },
		.zones = 40, .zone_blocks = 1, .active_max = 4, .open_max = 4, .power2 = true,
	};
	struct nand_hooks hooks = { .violation = test_violation, .fault = on_command, .done = cut_here };
	const struct ftl_stats *s;

	cuts = 0;
	zr_make(&second, &many);
	begin_failing(&many);
	nand_array_set_hooks(first.ta.a, &hooks);
	s = first.ops->stats(first.f);
	for (uint32_t zone = 0; zone < 40; zone += 39) {
		fail_at.op = NAND_PROGRAM;
		fail_at.left = 1;
		EXPECT_EQ(status_of(FTL_WRITE, 0, zone * 16, 2), SSD_OK);
		zr_drain(&first);
		zr_note_left(&first);
		EXPECT_EQ(first.left[zone], FTL_ZONE_READONLY);
	}
	for (uint32_t i = 0; i < 40; i++)
		EXPECT_EQ(zr_alone(&first, FTL_WRITE, 0, 16 * (1 + i / 16) + i % 16, 1, true, NULL, NULL) > 0, true);
	EXPECT(s->meta_units >= 20);
	EXPECT(cuts > 100);
	zr_free(&first);
	zr_free(&second);
}

int main(void)
{
	RUN(a_failed_program_makes_a_zone_read_only);
	RUN(a_failed_erase_makes_a_zone_offline);
	RUN(read_only_zones_are_not_active_after_a_mount);
	RUN(a_flushed_part_keeps_its_buffer);
	RUN(flushes_report_a_loss_once);
	RUN(a_flush_reports_what_it_covers);
	RUN(a_loss_with_the_buffer_is_reported_once);
	RUN(dropped_data_are_no_loss);
	RUN(a_read_only_zone_is_retired);
	RUN(a_read_is_overtaken_by_a_retirement);
	RUN(cuts_of_a_retirement);
	RUN(states_move_with_the_log);
	return test_result();
}
