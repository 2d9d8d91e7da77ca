// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test zones (ftl/zns). By hand: write pointers, errors, limits, times to the nanosecond. At random, on drives
 * of random shapes: every answer, report and read is compared with a model; power cuts before, inside and
 * after every command, some with a second one in the mount or the work after it; failing programs and erases.
 *
 *   test_zns [-n REQUESTS]
 *   test_zns KIND:DRIVE:REQUESTS[:COMMAND:WHEN]	as the last line of a failure says
 */
#include <signal.h>
#include <unistd.h>

#include "zns.h"
#include "zns_drive.h"

static struct zr second, third;
static char id[128];
static uint32_t requests = 120;

static uint64_t sum_left[FTL_NZONE_STATES], sum_retired, sum_worn;	/* zones by their last state */
static uint64_t sum_reads, sum_resets, sum_finishes, sum_refused, sum_failed, sum_cuts, sum_faults, sum_commits;

static struct {
	bool on;
	uint64_t command;
	int when;
} only;

static void on_abort(int sig)
{
	(void)sig;
	fflush(stdout);
	if (write(2, "replay: test_zns ", 17) == 17 && write(2, id, strlen(id)) > 0)
		(void)!write(2, "\n", 1);
}

/* ---- by hand ---- */

#define FRONT 20u			/* map_ns + overhead_ns */
#define BUFFERED (FRONT + 10u)
#define TRANSFER (100u + 1088u)		/* command cycles, a page with its spare area at 1 ns a byte */
#define PROGRAM (TRANSFER + 20000u)
#define PROGRAM2 (2 * TRANSFER + 20000u)	/* of both planes: cells together */
#define ERASE2 (2 * 100u + 70000u)
#define READ (TRANSFER + 5000u)

static uint64_t time_of(enum ftl_op op, enum ftl_zone_op zone, uint64_t sector, uint32_t sectors, bool fua)
{
	return zr_alone(&first, op, zone, sector, sectors, fua, NULL, NULL);
}

static void pointers_and_errors(void)
{
	uint64_t placed;

	begin(&small);
	EXPECT_EQ(first.zones.count, 5);
	EXPECT_EQ(first.zones.size_bytes, 8192);
	EXPECT_EQ(report(1).start, 8192);
	EXPECT_EQ(report(1).capacity, 8192);
	EXPECT_EQ(status_of(FTL_WRITE, 0, 16, 3), SSD_OK);
	EXPECT_EQ(report(1).wp, 8192 + 3 * 512);
	EXPECT_EQ(report(1).state, FTL_ZONE_IMPLICIT);
	EXPECT_EQ(status_of(FTL_WRITE, 0, 16, 1), SSD_E_ZONE_WP);
	EXPECT_EQ(status_of(FTL_WRITE, 0, 20, 1), SSD_E_ZONE_WP);
	EXPECT_EQ(status_of(FTL_WRITE, 0, 19, 14), SSD_E_ZONE_BOUNDARY);
	EXPECT_EQ(status_of(FTL_WRITE, FTL_ZONE_APPEND, 17, 1), SSD_E_INVAL);
	zr_alone(&first, FTL_WRITE, FTL_ZONE_APPEND, 16, 2, false, NULL, &placed);
	EXPECT_EQ(placed, 19);
	EXPECT_EQ(status_of(FTL_WRITE, 0, 21, 11), SSD_OK);
	EXPECT_EQ(report(1).state, FTL_ZONE_FULL);
	EXPECT_EQ(status_of(FTL_WRITE, FTL_ZONE_APPEND, 16, 1), SSD_E_ZONE_FULL);
	EXPECT_EQ(status_of(FTL_TRIM, FTL_ZONE_OPEN, 16, 0), SSD_E_ZONE_STATE);
	EXPECT_EQ(status_of(FTL_TRIM, FTL_ZONE_CLOSE, 0, 0), SSD_E_ZONE_STATE);
	EXPECT_EQ(status_of(FTL_TRIM, FTL_ZONE_RESET, 16, 0), SSD_OK);
	EXPECT_EQ(report(1).state, FTL_ZONE_EMPTY);
	EXPECT_EQ(report(1).wp, 8192);
	EXPECT_EQ(status_of(FTL_READ, 0, 16, 16), SSD_OK);	/* the rig compares: zeroes */
	EXPECT(!first.zones.cross_reads);
	zr_free(&first);
}

static void limits(void)
{
	struct zr_shape s = small;

	s.open_max = 1;
	begin(&s);
	EXPECT_EQ(first.zones.open_max, 1);
	EXPECT_EQ(first.zones.active_max, 2);
	EXPECT_EQ(status_of(FTL_WRITE, 0, 0, 1), SSD_OK);
	EXPECT_EQ(status_of(FTL_WRITE, 0, 16, 1), SSD_OK);	/* closes zone 0 */
	EXPECT_EQ(report(0).state, FTL_ZONE_CLOSED);
	EXPECT_EQ(status_of(FTL_WRITE, 0, 32, 1), SSD_E_ZONE_ACTIVE);
	EXPECT_EQ(status_of(FTL_TRIM, FTL_ZONE_OPEN, 16, 0), SSD_OK);
	EXPECT_EQ(status_of(FTL_WRITE, 0, 1, 1), SSD_E_ZONE_OPEN);	/* an explicit one is not closed */
	EXPECT_EQ(status_of(FTL_TRIM, FTL_ZONE_CLOSE, 16, 0), SSD_OK);
	EXPECT_EQ(status_of(FTL_WRITE, 0, 1, 1), SSD_OK);
	EXPECT_EQ(status_of(FTL_TRIM, FTL_ZONE_FINISH, 16, 0), SSD_OK);
	EXPECT_EQ(status_of(FTL_WRITE, 0, 32, 1), SSD_OK);
	zr_free(&first);
}

static void times(void)
{
	uint64_t began;

	begin(&small);
	EXPECT_EQ(time_of(FTL_WRITE, FTL_ZONE_APPEND, 0, 1, false), BUFFERED);
	EXPECT_EQ(time_of(FTL_READ, 0, 0, 1, false), BUFFERED);		/* from the buffer */
	/* A page is full, and of the next one a part goes to the log; there is one die. */
	EXPECT_EQ(time_of(FTL_WRITE, 0, 1, 2, true), 2 * PROGRAM + BUFFERED);
	zr_drain(&first);
	EXPECT_EQ(time_of(FTL_TRIM, FTL_ZONE_RESET, 0, 0, false), PROGRAM + 100 + 70000 + FRONT);
	/* There are two stripes: the second is in the buffer when the first is on flash. */
	began = first.now_ns;
	EXPECT_EQ(time_of(FTL_WRITE, 0, 0, 8, false), PROGRAM2 + BUFFERED);
	EXPECT_EQ(time_of(FTL_FLUSH, 0, 0, 0, false), began + 2 * PROGRAM2 + FRONT - (began + PROGRAM2 + BUFFERED));
	EXPECT_EQ(time_of(FTL_READ, 0, 0, 2, false), READ + FRONT);
	EXPECT_EQ(time_of(FTL_FLUSH, 0, 0, 0, false), FRONT);
	/* A finish programs one page without data, which marks the end of the zone. */
	EXPECT_EQ(time_of(FTL_TRIM, FTL_ZONE_FINISH, 0, 0, false), PROGRAM + FRONT);
	EXPECT_EQ(time_of(FTL_TRIM, FTL_ZONE_FINISH, 0, 0, false), FRONT);
	/* A reset programs a record in the log, then erases the zone's two blocks, one in each plane, together. */
	EXPECT_EQ(time_of(FTL_TRIM, FTL_ZONE_RESET, 0, 0, false), PROGRAM + ERASE2 + FRONT);
	EXPECT_EQ(time_of(FTL_TRIM, FTL_ZONE_RESET, 0, 0, false), FRONT);	/* it is empty */
	EXPECT_EQ(time_of(FTL_TRIM, FTL_ZONE_OPEN, 0, 0, false), FRONT);
	EXPECT_EQ(time_of(FTL_TRIM, FTL_ZONE_REPORT, 0, 0, false), FRONT);
	EXPECT_EQ(report(0).state, FTL_ZONE_EXPLICIT);
	zr_free(&first);
}

/* What was done is counted, and what was refused is not. */
static void counters(void)
{
	const struct ftl_stats *s;

	begin(&small);
	s = first.ops->stats(first.f);
	EXPECT_EQ(status_of(FTL_WRITE, FTL_ZONE_APPEND, 0, 1), SSD_OK);
	EXPECT_EQ(status_of(FTL_WRITE, FTL_ZONE_APPEND, 1, 1), SSD_E_INVAL);
	EXPECT_EQ(status_of(FTL_WRITE, 0, 1, 1), SSD_OK);
	EXPECT_EQ(status_of(FTL_TRIM, FTL_ZONE_OPEN, 0, 0), SSD_OK);
	EXPECT_EQ(status_of(FTL_TRIM, FTL_ZONE_CLOSE, 0, 0), SSD_OK);
	EXPECT_EQ(status_of(FTL_TRIM, FTL_ZONE_CLOSE, 0, 0), SSD_OK);
	EXPECT_EQ(status_of(FTL_TRIM, FTL_ZONE_CLOSE, 16, 0), SSD_E_ZONE_STATE);	/* it is empty */
	EXPECT_EQ(status_of(FTL_TRIM, FTL_ZONE_FINISH, 0, 0), SSD_OK);
	EXPECT_EQ(status_of(FTL_TRIM, FTL_ZONE_OPEN, 0, 0), SSD_E_ZONE_STATE);
	for (int i = 0; i < 3; i++)
		EXPECT_EQ(status_of(FTL_TRIM, FTL_ZONE_RESET, 0, 0), SSD_OK);
	EXPECT_EQ(status_of(FTL_TRIM, FTL_ZONE_REPORT, 0, 0), SSD_OK);
	EXPECT_EQ(s->zone_appends, 1);
	EXPECT_EQ(s->zone_opens, 1);
	EXPECT_EQ(s->zone_closes, 2);
	EXPECT_EQ(s->zone_finishes, 1);
	EXPECT_EQ(s->zone_resets, 3);
	EXPECT_EQ(s->zone_reports, 1);
	zr_free(&first);
}

/* A reset of four dies on two channels takes as long as that of one die. */
static void dies_are_erased_in_parallel(void)
{
	struct zr_shape s = small;

	s.g.channels = s.g.dies_per_chip = 2;
	begin(&s);
	EXPECT_EQ(first.capacity, 64);
	EXPECT_EQ(status_of(FTL_WRITE, 0, 0, 64), SSD_OK);
	zr_drain(&first);
	/* Two dies share a channel: the command cycles of the second follow those of the first. */
	EXPECT_EQ(time_of(FTL_TRIM, FTL_ZONE_RESET, 0, 0, false), PROGRAM + 200 + ERASE2 + FRONT);
	zr_free(&first);
}

/* A mount finds what a cut leaves of parts, ends and resets. */
static void flash_says_where_zones_end(void)
{
	begin(&small);
	EXPECT_EQ(status_of(FTL_WRITE, 0, 0, 3), SSD_OK);		/* a page and a half: the half is lost */
	EXPECT_EQ(status_of(FTL_WRITE, 0, 16, 3), SSD_OK);
	zr_drain(&first);
	cut_and_mount();
	EXPECT_EQ(report(0).wp, 2 * 512);
	EXPECT_EQ(report(0).state, FTL_ZONE_CLOSED);
	zr_adopt(&first, &first);
	EXPECT_EQ(status_of(FTL_WRITE, 0, 2, 1), SSD_OK);
	EXPECT_EQ(status_of(FTL_FLUSH, 0, 0, 0), SSD_OK);
	EXPECT_EQ(status_of(FTL_TRIM, FTL_ZONE_FINISH, 16, 0), SSD_OK);
	cut_and_mount();
	EXPECT_EQ(report(0).wp, 3 * 512);				/* the flushed half is there */
	EXPECT_EQ(report(1).state, FTL_ZONE_FULL);
	zr_adopt(&first, &first);
	EXPECT_EQ(status_of(FTL_TRIM, FTL_ZONE_RESET, 0, 0), SSD_OK);
	cut_and_mount();
	EXPECT_EQ(report(0).state, FTL_ZONE_EMPTY);
	zr_free(&first);
}

/*
 * Two dies with a zone each, four pages of two sectors for each plane. Zones 0 and 2 on the first die are written to
 * the end and so are not active any more, but not on flash yet. Zones 1 and 3 on the second die have a page each.
 * Flash then has four zones to continue, of which two may be active.
 */
static const struct zr_shape two_dies = {
	.g = { 2, 1, 1, 2, 8, 4, 1024, 64, 0, 1024, 0, 1, 1, NAND_ORDER_ASCENDING },
	.zones = 10, .zone_dies = 1, .zone_blocks = 1, .active_max = 2, .open_max = 2, .power2 = true,
};

static uint32_t most_any, most_active, most_ended;

static void count_after_cut(void *opaque, uint64_t now_ns, const struct nand_cmd *c, unsigned int count)
{
	(void)opaque;
	for (int when = 0; when < 3; when++) {
		uint32_t any, active, ended = 0;

		test_lose_power(&second.ta, &first.ta, test_cut_time(now_ns, &c[count - 1], when), 1);
		zr_mount(&second);
		active = zr_active(&second, &any);
		most_any = any > most_any ? any : most_any;
		most_active = active > most_active ? active : most_active;
		for (uint32_t i = 0; i < two_dies.zones; i++) {
			const struct ftl_zone z = second.ops->zone(second.f, i);

			EXPECT_EQ(z.changed, z.ended);
			ended += z.ended;
		}
		EXPECT_EQ(second.ops->zones(second.f).changes, ended);
		most_ended = ended > most_ended ? ended : most_ended;
		zr_verify(&second, &first);
		sum_cuts++;
	}
}

static void a_cut_leaves_no_more_active_zones(void)
{
	struct nand_hooks hooks = { .violation = test_violation, .done = count_after_cut };

	zr_make(&second, &two_dies);
	begin(&two_dies);
	nand_array_set_hooks(first.ta.a, &hooks);
	most_any = most_active = most_ended = 0;
	zr_submit(&first, FTL_WRITE, 0, 0, 16, false);
	zr_submit(&first, FTL_WRITE, 0, 32, 16, false);
	EXPECT_EQ(zr_alone(&first, FTL_WRITE, 0, 16, 2, true, NULL, NULL), PROGRAM + BUFFERED);
	EXPECT_EQ(zr_alone(&first, FTL_WRITE, 0, 48, 2, true, NULL, NULL), PROGRAM + BUFFERED);
	zr_drain(&first);
	EXPECT_EQ(most_any, 4);
	EXPECT_EQ(most_active, 2);
	EXPECT_EQ(most_ended, 2);
	zr_free(&first);
	zr_free(&second);
}

/* The log has a sector of each of four zones: two are ended with it, and the others continue. */
static void more_parts_than_buffers(void)
{
	uint8_t oob[ZNS_OOB_BYTES], page[1024] = { 0 };
	uint32_t any;

	zr_make(&first, &small);
	for (uint32_t i = 0; i < 4; i++) {
		struct zns_oob o = { .kind = ZNS_RECORD, .zone = i, .gen = 1 + i, .serial = 10 + i, .sectors = 1 };
		uint64_t word = (uint64_t)7 << 32 | i * 16;	/* as the rig stamps sector 16 i */
		struct nand_cmd c;

		zns_oob_put(oob, &o);
		for (uint32_t at = 0; at < 512; at += 8)
			memcpy(page + at, &word, 8);
		nand_fill_program(&c, NAND_SRC_HOST, i, oob);
		c.data = page;
		nand_submit(first.ta.n, i * 1000000, &c, 1);
		SSD_ASSERT(c.status == NAND_OK);
	}
	nand_array_power_cut(first.ta.a, 9000000, 1);
	nand_array_power_on(first.ta.a);
	for (uint32_t mounts = 0; mounts < 2; mounts++) {
		zr_mount(&first);
		zr_adopt(&first, &first);
		EXPECT_EQ(zr_active(&first, &any), 2);
		for (uint32_t i = 0; i < 4; i++) {
			EXPECT_EQ(report(i).state, i < 2 ? FTL_ZONE_FULL : FTL_ZONE_CLOSED);
			EXPECT_EQ(first.zone[i].base.sectors, 1);
			EXPECT_EQ(first.zone[i].base.tag[0], 7);
		}
		nand_array_power_cut(first.ta.a, first.now_ns, 1);
		nand_array_power_on(first.ta.a);
	}
	zr_free(&first);
}

/* Mount a drive that has these spare areas on its first page (data) and on page `at` (record). */
static int mount_with(const struct zns_oob *data, const struct zns_oob *record, uint32_t at)
{
	struct ftl_host host = { 0 };
	uint8_t oob[ZNS_OOB_BYTES], page[1024] = { 0 };
	struct nand_cmd c;
	uint64_t now;
	int err;

	zr_make(&first, &small);
	for (uint32_t i = 0; i < 2; i++) {
		zns_oob_put(oob, i ? record : data);
		nand_fill_program(&c, NAND_SRC_HOST, i * at, oob);
		c.data = page;
		nand_submit(first.ta.n, i * 1000000, &c, 1);
		SSD_ASSERT(c.status == NAND_OK);
	}
	memset(first.mem, 0, first.len);
	SSD_ASSERT(ftl_init(first.ops, first.mem, first.len, &first.fc, first.ta.n, &host, &first.f) == SSD_OK);
	err = first.ops->mount(first.f, 2000000, &now);
	zr_free(&first);
	return err;
}

/* The log's block, with `record`, is the second block. */
static int mount_of(const struct zns_oob *data, const struct zns_oob *record)
{
	return mount_with(data, record, small.g.pages_per_block);
}

/* A block has pages of a zone or of the log, in either order. */
static void data_and_records_in_a_block(void)
{
	struct zns_oob data = { .kind = ZNS_DATA, .gen = 1, .sectors = 2 };
	struct zns_oob record = { .kind = ZNS_RECORD, .zone = 1, .gen = 2, .serial = 3, .sectors = 1 };

	EXPECT_EQ(mount_with(&data, &record, 1), SSD_E_CORRUPT);
	data.page = small.g.planes_per_die;	/* the second page of its block */
	EXPECT_EQ(mount_with(&record, &data, 1), SSD_E_CORRUPT);
}

/*
 * A page has two sectors. An image is refused in which the last page, or the part of a page, has
 * more.
 */
static void more_sectors_than_a_page_has(void)
{
	struct zns_oob end = { .kind = ZNS_DATA | ZNS_END, .gen = 1, .sectors = 2 };
	struct zns_oob part = { .kind = ZNS_RECORD, .gen = 1, .serial = 2, .page = 1, .sectors = 2 };

	EXPECT_EQ(mount_of(&end, &part), SSD_OK);
	end.sectors = 3;
	EXPECT_EQ(mount_of(&end, &part), SSD_E_CORRUPT);
	end.kind = ZNS_DATA;
	end.sectors = 2;
	EXPECT_EQ(mount_of(&end, &part), SSD_OK);
	part.sectors = 3;
	EXPECT_EQ(mount_of(&end, &part), SSD_E_CORRUPT);
}

/* A record of states names a chunk, only zones that exist, and only one state of each. */
static void states_that_cannot_be(void)
{
	const struct zns_oob data = { .kind = ZNS_DATA, .gen = 1, .sectors = 2 };
	const struct zns_oob good = { .kind = ZNS_STATES, .gen = 1, .serial = 3, .page = 16 };
	struct zns_oob bad[] = { good, good, good, good, good, good };

	EXPECT_EQ(mount_of(&data, &good), SSD_OK);
	bad[0].zone = 1;
	bad[1].zone = ZNS_NONE;
	bad[2].page = 32;
	bad[3].page = 1;
	bad[4].gen = 1ull << 32;
	bad[5].sectors = 1;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		EXPECT_EQ(mount_of(&data, &bad[i]), SSD_E_CORRUPT);
}

static void bad_settings(void)
{
	struct zr_shape s = small;

	EXPECT(!zr_refusal(&s));
	s.zones = 6;
	EXPECT(zr_refusal(&s) && strstr(zr_refusal(&s), "capacity_mib leaves"));
	s = small;
	s.g.dies_per_chip = 3;
	s.zone_dies = 2;
	EXPECT(zr_refusal(&s) && strstr(zr_refusal(&s), "zone_dies"));
	s = small;
	s.open_max = 3;
	EXPECT(zr_refusal(&s) && strstr(zr_refusal(&s), "zone_open_max is more than the zones that may be active"));
	s = small;
	s.active_max = s.open_max = 4;
	EXPECT(zr_refusal(&s) && strstr(zr_refusal(&s), "pages_per_block"));
	/* 40 zones need two records of states, besides the page that the log keeps back and one for data. */
	s = (struct zr_shape){
		.g = { 1, 1, 1, 1, 44, 3, 1024, 64, 0, 1024, 0, 1, 1, NAND_ORDER_ASCENDING },
		.zones = 40, .zone_blocks = 1, .active_max = 1, .open_max = 1,
	};
	EXPECT(zr_refusal(&s) && strstr(zr_refusal(&s), "capacity_mib has more zones"));
	s.g.pages_per_block = 4;
	EXPECT(!zr_refusal(&s));
	s = small;
	s.g.bits_per_cell = 2;
	s.g.order = NAND_ORDER_FPS;
	EXPECT(zr_refusal(&s) && strstr(zr_refusal(&s), "order"));
}

/* ---- at random ---- */

#define WINDOWS 1000000u	/* drives with higher seeds have random write areas */

/* Blocks have more pages, so that the log can keep the areas of all zones with a buffer. */
static void draw_windows(struct zr_shape *s, uint64_t rng)
{
	uint32_t slots = (s->zone_dies ? s->zone_dies : geo_dies(&s->g)) * s->g.planes_per_die, most;

	s->active_max = s->open_max = s->active_max > 3 ? 3 : s->active_max;
	s->g.pages_per_block = slots + 1 + s->active_max * (1 + (uint32_t)(rnd(&rng) % slots));
	most = (s->g.pages_per_block - 1 - slots) / s->active_max;
	s->window = 1 + (uint32_t)(rnd(&rng) % most);
	s->step = s->window % 2 || rnd(&rng) % 2 ? 1 : s->window / (1 + (uint32_t)(rnd(&rng) % 2));
	s->windows = (uint32_t)(rnd(&rng) % (s->active_max + 1));
}

static bool draw(struct zr_shape *s, uint64_t seed)
{
	uint64_t rng = seed * 0x9e3779b97f4a7c15u + 1;
#define ROLL(n) ((uint32_t)(rnd(&rng) % (n)))
	*s = (struct zr_shape){
		.g = { 1 + ROLL(2), 1 + ROLL(2), 1 + ROLL(2), 1 + ROLL(3), 6 + ROLL(4), 3 + ROLL(5), 512u << ROLL(3),
		       64, 0, 0, 0, 1, 1, ROLL(2) ? NAND_ORDER_ASCENDING : NAND_ORDER_NONE },
		.zone_blocks = 1 + (ROLL(4) == 0), .power2 = ROLL(2),
	};
	s->g.ecc_word_bytes = s->g.page_bytes;
	s->zone_dies = ROLL(2) ? 0 : 1 + ROLL(geo_dies(&s->g));
	if (s->zone_dies && geo_dies(&s->g) % s->zone_dies)
		s->zone_dies = 1;
	s->active_max = 1 + ROLL(s->g.pages_per_block < 6 ? s->g.pages_per_block - 2 : 4);	/* see bad_zones() */
	s->zones = (s->g.blocks_per_plane - 3) / s->zone_blocks *
		   (s->zone_dies ? geo_dies(&s->g) / s->zone_dies : 1);
	if (s->zones > 24)
		s->zones = 24;
	if (s->active_max > s->zones)
		s->active_max = s->zones;
	s->open_max = 1 + ROLL(s->active_max);
	if (seed > WINDOWS)
		draw_windows(s, rng);
#undef ROLL
	return s->zones && (uint64_t)(s->zone_dies ? s->zone_dies : geo_dies(&s->g)) * s->g.planes_per_die *
		s->zone_blocks * s->g.pages_per_block * s->g.page_bytes / 512 <= ZR_SECTORS / 2 && !zr_refusal(s);
}

static void add_up(const struct zr *r)
{
	sum_reads += r->reads_checked;
	sum_resets += r->resets;
	sum_finishes += r->finishes;
	sum_commits += r->commits;
	sum_refused += r->refused;
	sum_failed += r->failed;
}

static void model(uint64_t seed, uint32_t ops)
{
	struct zr_shape s;

	if (!draw(&s, seed))
		return;
	snprintf(id, sizeof(id), "m:%" PRIu64 ":%u", seed, ops);
	begin(&s);
	first.rng = seed * 0x9e3779b97f4a7c15u + 7;
	zr_work(&first, ops);
	zr_drain(&first);
	add_up(&first);
	zr_free(&first);
}

/* Run a test on so many drives without random write areas, and on as many with them. */
static void each(void (*run)(uint64_t seed, uint32_t ops), uint64_t drives, uint32_t ops)
{
	for (uint64_t seed = 1; seed <= test_times(drives); seed++) {
		run(seed, ops);
		run(WINDOWS + seed, ops);
	}
}

static void model_of_many_drives(void)
{
	each(model, 60, 10 * requests);
	printf("# %" PRIu64 " reads compared, %" PRIu64 " resets, %" PRIu64 " finishes, %" PRIu64 " commits, %" PRIu64
	       " refusals\n", sum_reads, sum_resets, sum_finishes, sum_commits, sum_refused);
	EXPECT(requests < 100 || (sum_reads && sum_resets && sum_finishes && sum_commits && sum_refused));
}

/* ---- cuts ---- */

struct cutter {
	uint64_t command, stop_at;
	bool writes;			/* count programs and erases alone: most of a mount's commands are reads */
	int stop_when;
	uint64_t cut_ns;
	jmp_buf out;
};

static struct cutter outer, inner;

static void stop(void *opaque, uint64_t now_ns, const struct nand_cmd *c, unsigned int count)
{
	(void)opaque;
	if ((inner.writes && c[0].op == NAND_READ) || inner.command++ != inner.stop_at)
		return;
	inner.cut_ns = test_cut_time(now_ns, &c[count - 1], inner.stop_when);
	longjmp(inner.out, 1);
}

/* Cut the second drive again, in its mount or the work after it, and check what the third finds. */
static void cut_again(uint64_t seed)
{
	struct nand_hooks stopping = { .violation = test_violation, .done = stop };
	struct nand_hooks none = { .violation = test_violation };
	static const struct zr *volatile oracle;

	inner = (struct cutter){ .writes = rnd(&seed) % 2, .stop_when = (int)(rnd(&seed) % 3) };
	inner.stop_at = rnd(&seed) % (inner.writes ? 24 : rnd(&seed) % 2 ? 120 : 600);
	oracle = &first;
	nand_array_set_hooks(second.ta.a, &stopping);
	if (!setjmp(inner.out)) {
		zr_mount(&second);
		zr_adopt(&second, &first);
		second.rng = seed | 1;
		oracle = &second;
		zr_work(&second, 40);
		nand_array_set_hooks(second.ta.a, &none);
		return;
	}
	nand_array_set_hooks(second.ta.a, &none);
	test_lose_power(&third.ta, &second.ta, inner.cut_ns, seed);
	zr_mount(&third);
	zr_verify(&third, oracle);
	sum_cuts++;
}

static void every_cut(void *opaque, uint64_t now_ns, const struct nand_cmd *c, unsigned int count)
{
	uint64_t command = outer.command++;

	(void)opaque;
	if (only.on && command != only.command)
		return;
	for (int when = 0; when < 3; when++) {
		uint64_t at = test_cut_time(now_ns, &c[count - 1], when);
		uint64_t seed = command * 0x9e3779b97f4a7c15u + (uint64_t)when + 1;
		size_t len = strlen(id);

		if ((c[0].op == NAND_READ && when) || (only.on && when != only.when))
			continue;
		snprintf(id + len, sizeof(id) - len, ":%" PRIu64 ":%d", command, when);
		test_lose_power(&second.ta, &first.ta, at, seed);
		zr_mount(&second);
		zr_verify(&second, &first);
		sum_cuts++;
		test_lose_power(&second.ta, &first.ta, at, seed);
		cut_again(seed);
		id[len] = 0;
	}
}

static void cuts(uint64_t seed, uint32_t ops)
{
	struct nand_hooks hooks = { .violation = test_violation, .done = every_cut };
	struct zr_shape s;

	if (!draw(&s, seed))
		return;
	snprintf(id, sizeof(id), "c:%" PRIu64 ":%u", seed, ops);
	outer = (struct cutter){ 0 };
	zr_make(&second, &s);
	zr_make(&third, &s);
	begin(&s);
	first.rng = seed * 0x9e3779b97f4a7c15u + 7;
	nand_array_set_hooks(first.ta.a, &hooks);
	zr_work(&first, ops);
	add_up(&first);
	zr_free(&first);
	zr_free(&second);
	zr_free(&third);
}

static void cuts_at_every_command(void)
{
	sum_cuts = 0;
	each(cuts, 12, requests);
	cuts(19, requests);	/* a mount is cut that ends a zone: the zone's repair must have ended before */
	printf("# %" PRIu64 " cuts survived\n", sum_cuts);
	EXPECT(sum_cuts > 0);
}

/* ---- failing media ---- */

static struct {
	uint64_t rng;
	uint32_t permille;		/* of the programs that fail */
	uint32_t erase_permille;
} medium;

static enum nand_status on_fault(void *opaque, const struct nand_cmd *c)
{
	uint32_t permille = c->op == NAND_ERASE ? medium.erase_permille : medium.permille;

	(void)opaque;
	if (c->op == NAND_READ || rnd(&medium.rng) % 1000 >= permille)
		return NAND_OK;
	sum_faults++;
	return c->op == NAND_ERASE ? NAND_ERASE_FAIL : NAND_PROG_FAIL;
}

static void failing(uint64_t seed, uint32_t ops)
{
	struct nand_hooks hooks = { .violation = test_violation, .fault = on_fault };
	struct zr_shape s;

	if (!draw(&s, seed))
		return;
	s.g.blocks_per_plane += 8;
	snprintf(id, sizeof(id), "f:%" PRIu64 ":%u", seed, ops);
	medium.rng = seed * 0xbf58476d1ce4e5b9u + 1;
	medium.permille = medium.erase_permille = 2 + (uint32_t)(seed % 20);
	zr_make(&first, &s);
	nand_array_set_hooks(first.ta.a, &hooks);
	first.rng = seed * 0x9e3779b97f4a7c15u + 7;
	first.may_fail = true;
	for (uint32_t day = 0; day < 4; day++) {
		zr_mount(&first);
		if (day) {
			zr_verify(&first, &first);
			zr_check_left(&first, &first);
		}
		zr_adopt(&first, &first);
		first.may_fail = true;
		zr_work(&first, ops);
		zr_note_left(&first);
		nand_array_power_cut(first.ta.a, first.now_ns, rnd(&medium.rng));
		nand_array_power_on(first.ta.a);
	}
	for (uint32_t i = 0; i < s.zones; i++)
		sum_left[first.left[i]]++;
	sum_retired += first.retirements;
	add_up(&first);
	zr_free(&first);
}

/* Cut before, in and after each command of a drive whose medium fails. */
static void cut_failing(void *opaque, uint64_t now_ns, const struct nand_cmd *c, unsigned int count)
{
	uint64_t command = outer.command++;

	(void)opaque;
	if (c[0].op == NAND_READ || (only.on && command != only.command))
		return;
	zr_note_left(&first);
	for (int when = 0; when < 3; when++) {
		size_t len = strlen(id);

		if (only.on && when != only.when)
			continue;
		snprintf(id + len, sizeof(id) - len, ":%" PRIu64 ":%d", command, when);
		test_lose_power(&second.ta, &first.ta, test_cut_time(now_ns, &c[count - 1], when), command + 1);
		zr_mount(&second);
		zr_verify(&second, &first);
		zr_check_left(&second, &first);
		sum_cuts++;
		id[len] = 0;
	}
}

static void failing_cuts(uint64_t seed, uint32_t ops)
{
	struct nand_hooks hooks = { .violation = test_violation, .fault = on_fault, .done = cut_failing };
	struct zr_shape s;

	if (!draw(&s, seed))
		return;
	snprintf(id, sizeof(id), "g:%" PRIu64 ":%u", seed, ops);
	outer = (struct cutter){ 0 };
	medium.rng = seed * 0xbf58476d1ce4e5b9u + 1;
	medium.permille = (uint32_t)(seed % 40);
	medium.erase_permille = 250;
	zr_make(&second, &s);
	begin(&s);
	nand_array_set_hooks(first.ta.a, &hooks);
	first.rng = seed * 0x9e3779b97f4a7c15u + 7;
	first.may_fail = true;
	zr_work(&first, ops);
	for (uint32_t i = 0; i < s.zones; i++)
		sum_left[first.left[i]]++;
	sum_retired += first.retirements;
	zr_free(&first);
	zr_free(&second);
}

static void cuts_while_the_medium_fails(void)
{
	sum_cuts = sum_left[FTL_ZONE_READONLY] = sum_left[FTL_ZONE_OFFLINE] = sum_retired = 0;
	each(failing_cuts, 12, requests);
	printf("# %" PRIu64 " cuts survived; %" PRIu64 " zones read-only, %" PRIu64 " offline, %" PRIu64 " retired\n",
	       sum_cuts, sum_left[FTL_ZONE_READONLY], sum_left[FTL_ZONE_OFFLINE], sum_retired);
	EXPECT(requests < 100 || (sum_cuts && sum_left[FTL_ZONE_READONLY] && sum_left[FTL_ZONE_OFFLINE]));
}

static void programs_and_erases_fail(void)
{
	sum_failed = sum_faults = sum_retired = 0;
	each(failing, 60, requests);
	printf("# %" PRIu64 " failures, %" PRIu64 " operations refused for them, %" PRIu64 " zones retired\n",
	       sum_faults, sum_failed, sum_retired);
	EXPECT(requests < 100 || (sum_faults > 0 && sum_failed > 0 && sum_retired > 0));
}

/*
 * Each request must end although the log has little room: it keeps as many records as a block has pages, or one fewer,
 * and gets no other block than it has. Programs fail, so some records take several pages.
 */
static void tight(uint64_t seed, uint32_t ops)
{
	struct nand_hooks hooks = { .violation = test_violation, .fault = on_fault };
	uint32_t pages = seed > WINDOWS || seed % 2 ? 8 : 4;
	struct zr_shape s = {
		.g = { 1, 1, 1, 1 + seed / 2 % 2, pages == 8 ? 12 : 8, pages, 1024, 64, 0, 1024, 0, 1, 1,
		       NAND_ORDER_ASCENDING },
		.zones = pages + 1, .zone_blocks = 1, .active_max = pages - 2, .open_max = pages - 2, .power2 = true,
	};

	if (seed > WINDOWS) {
		s.step = 1;
		s.window = seed % 2 ? 1 : s.g.planes_per_die;
		s.active_max = s.open_max = (pages - 1 - s.g.planes_per_die) / s.window;
	}

	snprintf(id, sizeof(id), "t:%" PRIu64 ":%u", seed, ops);
	medium.rng = seed * 0xbf58476d1ce4e5b9u + 1;
	medium.permille = 10 + (uint32_t)(seed % 5) * 20;
	medium.erase_permille = 50 + (uint32_t)(seed % 3) * 100;
	begin(&s);
	nand_array_set_hooks(first.ta.a, &hooks);
	first.rng = seed * 0x9e3779b97f4a7c15u + 7;
	first.may_fail = true;
	for (uint32_t i = 0; i < 8; i++) {
		zr_work(&first, ops / 8);
		zr_drain(&first);
	}
	sum_worn += first.ops->read_only(first.f);
	if (!first.ops->read_only(first.f))	/* else states may have no record */
		zr_note_left(&first);
	cut_and_mount();
	zr_verify(&first, &first);
	zr_check_left(&first, &first);
	zr_free(&first);
}

static void a_log_without_spare_blocks(void)
{
	sum_worn = 0;
	each(tight, 1000, 400);
	printf("# %" PRIu64 " drives became read-only\n", sum_worn);
}

int main(int argc, char **argv)
{
	uint64_t seed;
	char kind;
	int n;

	signal(SIGABRT, on_abort);
	n = argc == 2 ? sscanf(argv[1], "%c:%" SCNu64 ":%u:%" SCNu64 ":%d", &kind, &seed, &requests, &only.command,
			       &only.when) : 0;
	if (n >= 3) {
		only.on = n == 5;
		(kind == 'm' ? model : kind == 'c' ? cuts : kind == 'g' ? failing_cuts : kind == 't' ? tight : failing)(
			seed, requests);
		return test_result();
	}
	if (argc == 3 && !strcmp(argv[1], "-n"))
		requests = (uint32_t)strtoul(argv[2], NULL, 10);
	RUN(pointers_and_errors);
	RUN(limits);
	RUN(times);
	RUN(counters);
	RUN(dies_are_erased_in_parallel);
	RUN(flash_says_where_zones_end);
	RUN(a_cut_leaves_no_more_active_zones);
	RUN(more_parts_than_buffers);
	RUN(data_and_records_in_a_block);
	RUN(more_sectors_than_a_page_has);
	RUN(states_that_cannot_be);
	RUN(bad_settings);
	RUN(model_of_many_drives);
	RUN(cuts_at_every_command);
	RUN(a_log_without_spare_blocks);
	RUN(programs_and_erases_fail);
	RUN(cuts_while_the_medium_fails);
	return test_result();
}
