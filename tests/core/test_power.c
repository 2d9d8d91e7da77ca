// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test power cuts of a drive whose shell continues (slate_power.h): their exact time, the data that are
 * lost, and the result and cost of a mount.
 *
 *   test_power [-n CUTS] [-r ID]
 *
 * The drive has one die, no overheads, 1 ns a byte: a page of 8192 + 256 bytes is on the bus for
 * 8448 ns and in its cell phase for 200000 ns more, so the first program of a drive
 * that writes through runs in (8448, 208448].
 */
#define _GNU_SOURCE
#include <string.h>
#include <unistd.h>

#include "array_impl.h"
#include "slate_control.h"
#include "slate_dev.h"
#include "test.h"

#define UNIT 4096u
#define PAGE (2 * UNIT)
#define BUS_NS 8448u
#define PROGRAM_NS 200000u
#define IOS 64u

static const char *const shape[] = {
	"geometry.channels=1", "geometry.chips_per_channel=1", "geometry.dies_per_chip=1",
	"geometry.planes_per_die=1", "geometry.blocks_per_plane=32", "geometry.pages_per_block=8",
	"geometry.page_bytes=8192", "geometry.oob_bytes=256", "timing.read_ns=50000",
	"timing.program_ns=200000", "timing.erase_ns=1000000", "timing.bus_ps_per_byte=1000",
	"timing.cmd_ns=0", "ftl.overhead_ns=0", "ftl.buffer_ns=0", "ftl.map_ns=0",
	"ftl.capacity_mib=1", "ftl.gc_start_blocks=4", "ftl.gc_stop_blocks=5",
	"drive.name=power test",
};

static struct slate_dev *dev;
static uint64_t now;
static char err[SLATE_ERR_BYTES];
static struct ftl_io ios[IOS];
static uint32_t told[IOS];	/* number of calls of done() for each I/O */
static uint8_t buf[IOS][4 * PAGE];

static void on_done(void *opaque, struct ftl_io *io)
{
	(void)opaque;
	told[io - ios]++;
	EXPECT_EQ(io->status, SSD_OK);
}

static void on_copy(void *opaque, struct ftl_io *io, uint64_t at, void *data, size_t len)
{
	(void)opaque;
	test_copy(io, buf[io - ios] + at, data, len);
}

/* Write the shape as an INI file, which a new drive file needs. */
static void write_profile(const char *path)
{
	FILE *out = fopen(path, "w");

	SSD_ASSERT(out);
	for (size_t i = 0; i < sizeof(shape) / sizeof(*shape); i++) {
		const char *dot = strchr(shape[i], '.');

		fprintf(out, "[%.*s]\n%s\n", (int)(dot - shape[i]), shape[i], dot + 1);
	}
	fclose(out);
}

static char profile[64];

#define EXTRAS 3u

/* Open a drive. extra: up to EXTRAS further settings, then NULL; or NULL. */
static int open_with(const char *const *extra, const char *path, const char *record)
{
	static const struct ftl_host host = { on_done, on_copy, NULL };
	const char *all[sizeof(shape) / sizeof(*shape) + EXTRAS + 1];
	struct slate_options o = { .overrides = all, .backing = path, .record = record,
				   .profile = path ? profile : NULL };
	size_t n = sizeof(shape) / sizeof(*shape);

	memcpy(all, shape, sizeof(shape));
	for (uint32_t i = 0; extra && i < EXTRAS && extra[i]; i++)
		all[n++] = extra[i];
	all[n] = NULL;
	now = 0;
	memset(told, 0, sizeof(told));
	return slate_open(&o, &host, &dev, err);
}

static void make(const char *extra)
{
	const char *const one[EXTRAS] = { extra };

	if (open_with(one, NULL, NULL)) {
		printf("%s\n", err);
		exit(1);
	}
}

static void submit(uint32_t i, enum ftl_op op, uint32_t page, uint8_t value)
{
	ios[i] = (struct ftl_io){ .op = op, .offset = (uint64_t)page * PAGE, .bytes = PAGE };
	if (op == FTL_WRITE)
		memset(buf[i], value, PAGE);
	told[i] = 0;
	slate_submit(dev, now, &ios[i]);
}

/* Call the drive at every time that it asks for, up to `end`, as a shell does. */
static void run_until(uint64_t end)
{
	uint64_t next = slate_step(dev, now);

	while (next != FTL_IDLE && next <= end) {
		EXPECT(next > now);
		now = next;
		next = slate_step(dev, now);
	}
	if (end != FTL_IDLE)
		now = end;
}

static uint8_t read_page(uint32_t page)
{
	submit(IOS - 1, FTL_READ, page, 0);
	while (!told[IOS - 1]) {
		uint64_t next = slate_step(dev, now);

		if (told[IOS - 1])
			break;
		SSD_ASSERT(next != FTL_IDLE);
		now = next;
	}
	if (ios[IOS - 1].done_ns > now)
		now = ios[IOS - 1].done_ns;
	for (uint32_t i = 1; i < PAGE; i++)
		EXPECT_EQ(buf[IOS - 1][i], buf[IOS - 1][0]);
	return buf[IOS - 1][0];
}

static void plan(enum slate_cut_when when, uint64_t value, uint64_t seed)
{
	const struct slate_cut_plan p = { when, value, seed };

	EXPECT_EQ(slate_power_cut(dev, now, &p, err), SSD_OK);
}

static struct slate_power power(void)
{
	struct slate_power p;

	slate_get_power(dev, &p);
	return p;
}

static void power_on(uint64_t at)
{
	now = at;
	EXPECT_EQ(slate_power_on(dev, now, err), SSD_OK);
	slate_check(dev);
}

/* One page is written at 0 and the power cut at T. */
static void cut_one_write(uint64_t at, uint64_t seed)
{
	make("ftl.buffer_units=0");
	plan(SLATE_CUT_AT_NS, at, seed);
	submit(0, FTL_WRITE, 3, 7);
	EXPECT(slate_step(dev, now) <= at);
	run_until(FTL_IDLE);
	EXPECT_EQ(now, at);
	EXPECT(!slate_powered(dev));
	EXPECT_EQ(power().cuts, 1);
	EXPECT_EQ(power().cut_ns, at);
	EXPECT_EQ(slate_inflight(dev), 0);
}

static void to_the_nanosecond(void)
{
	static const struct { uint64_t at; uint32_t lost, torn, undone; } cases[] = {
		{ 1, 1, 0, 1 }, { BUS_NS, 1, 0, 1 },		/* the cell phase has not begun */
		{ BUS_NS + 1, 1, 1, 0 }, { BUS_NS + PROGRAM_NS - 1, 1, 1, 0 },	/* the cell phase is under way */
		{ BUS_NS + PROGRAM_NS, 0, 0, 0 },		/* the program has ended */
	};
	uint32_t whole = 0;

	for (uint32_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		for (uint64_t seed = 0; seed < 16; seed++) {
			uint8_t found;

			cut_one_write(cases[i].at, seed);
			EXPECT_EQ(power().lost_ios, cases[i].lost);
			EXPECT_EQ(power().torn[NAND_PROGRAM], cases[i].torn);
			EXPECT_EQ(power().undone[NAND_PROGRAM], cases[i].undone);
			EXPECT_EQ(power().torn[NAND_ERASE] + power().undone[NAND_ERASE], 0);
			power_on(cases[i].at);
			EXPECT_EQ(told[0], cases[i].lost ? 0 : 1);	/* a lost I/O is never reported */
			found = read_page(3);
			EXPECT(found == 0 || found == 7);
			if (cases[i].undone)
				EXPECT_EQ(found, 0);
			if (!cases[i].lost)
				EXPECT_EQ(found, 7);
			whole += cases[i].torn && found == 7;
			slate_close(dev);
		}
	}
	EXPECT(whole > 0 && whole < 32);	/* a torn page is either whole or lost */
}

/*
 * A mount reads the spare area of each block's first page, and all once more if any page was
 * written.
 */
static void mounting_costs(void)
{
	const uint64_t oob_read_ns = 50000 + 256;

	cut_one_write(BUS_NS, 1);
	power_on(BUS_NS + 1000);
	EXPECT_EQ(power().on_ns, BUS_NS + 1000);
	EXPECT_EQ(power().mount_ops[NAND_READ], 32);
	EXPECT_EQ(power().ready_ns, BUS_NS + 1000 + 32 * oob_read_ns);
	slate_close(dev);

	/* The mount reads the first page of 31 blank blocks, and two pages of the written one: twice. */
	cut_one_write(BUS_NS + PROGRAM_NS, 1);
	power_on(BUS_NS + PROGRAM_NS);
	EXPECT_EQ(power().mount_ops[NAND_READ], 66);
	EXPECT_EQ(power().mount_ops[NAND_PROGRAM] + power().mount_ops[NAND_ERASE], 0);
	EXPECT_EQ(power().ready_ns, BUS_NS + PROGRAM_NS + 66 * oob_read_ns);
	/* A request before the end of the mount begins at that end: a page's read and transfer. */
	now += 10;
	submit(1, FTL_READ, 3, 0);
	run_until(power().ready_ns + 50000 + BUS_NS);
	EXPECT_EQ(told[1], 1);
	EXPECT_EQ(ios[1].submit_ns, power().ready_ns);
	EXPECT_EQ(ios[1].done_ns, power().ready_ns + 50000 + BUS_NS);
	EXPECT_EQ(buf[1][0], 7);
	/* A cut planned within a mount occurs at its end. */
	plan(SLATE_CUT_NOW, 0, 0);
	run_until(FTL_IDLE);
	power_on(now + 5);
	plan(SLATE_CUT_AT_NS, now + 1, 0);
	EXPECT_EQ(power().planned_ns, power().ready_ns);
	EXPECT_EQ(slate_step(dev, now), power().ready_ns);
	EXPECT_EQ(slate_step(dev, power().ready_ns), FTL_IDLE);
	EXPECT_EQ(power().cuts, 3);
	EXPECT_EQ(power().cut_ns, power().ready_ns);
	slate_close(dev);
}

/* Three pages are programmed one after another: the second one's program ends at 2 * 208448. */
static void after_commands(void)
{
	make("ftl.buffer_units=0");
	plan(SLATE_CUT_AFTER_COMMANDS, 2, 0);
	EXPECT_EQ(power().planned_ns, FTL_IDLE);
	for (uint32_t i = 0; i < 3; i++)
		submit(i, FTL_WRITE, i, (uint8_t)(i + 1));
	run_until(BUS_NS + PROGRAM_NS);
	EXPECT_EQ(power().planned_ns, 2 * (BUS_NS + PROGRAM_NS));
	run_until(FTL_IDLE);
	EXPECT_EQ(now, 2 * (BUS_NS + PROGRAM_NS));
	EXPECT_EQ(power().lost_ios, 1);
	EXPECT_EQ(told[0] + told[1], 2);
	power_on(now);
	EXPECT_EQ(read_page(0), 1);
	EXPECT_EQ(read_page(1), 2);
	EXPECT_EQ(read_page(2), 0);
	slate_close(dev);
}

static bool mark(const char *label)
{
	char padded[SLATE_LABEL_BYTES] = { 0 };

	memcpy(padded, label, strlen(label));
	EXPECT_EQ(slate_mark(dev, now, SLATE_MARK_POINT, padded), SSD_OK);
	return slate_power_mark(dev, now, padded);
}

/* The first mark with the label counts; the plan has no time before. A program of a page ends at 208448. */
static void after_mark(void)
{
	const struct slate_cut_plan p = { SLATE_CUT_AFTER_MARK, BUS_NS + 1, 0, .label = "0123456789abcdef" };

	make("ftl.buffer_units=0");
	EXPECT_EQ(slate_power_cut(dev, now, &p, err), SSD_OK);
	EXPECT(power().planned);
	EXPECT_EQ(power().planned_ns, FTL_IDLE);
	EXPECT(!mark("0123456789abcde"));
	submit(0, FTL_WRITE, 0, 1);
	run_until(1000000);
	EXPECT(mark("0123456789abcdef"));
	EXPECT_EQ(power().planned_ns, 1000000 + BUS_NS + 1);
	submit(1, FTL_WRITE, 1, 2);
	run_until(1000001);
	EXPECT(!mark("0123456789abcdef"));
	run_until(FTL_IDLE);
	EXPECT_EQ(power().cut_ns, 1000000 + BUS_NS + 1);
	EXPECT_EQ(power().torn[NAND_PROGRAM], 1);
	EXPECT_EQ(told[0], 1);
	EXPECT_EQ(told[1], 0);
	power_on(now);
	EXPECT_EQ(read_page(0), 1);
	EXPECT(!mark("0123456789abcdef"));	/* the plan is done */
	EXPECT_EQ(slate_power_cut(dev, now, &p, err), SSD_OK);
	plan(SLATE_CUT_NEVER, 0, 0);
	EXPECT(!mark("0123456789abcdef"));
	slate_close(dev);
}

/* The drive announces a completion before its time: the shell cancels it if the power is cut in between. */
static void told_and_lost(void)
{
	make("ftl.buffer_units=16");
	submit(0, FTL_WRITE, 0, 1);
	submit(1, FTL_FLUSH, 0, 0);
	run_until(1);
	plan(SLATE_CUT_AT_NS, BUS_NS + PROGRAM_NS - 1, 0);
	run_until(FTL_IDLE);
	EXPECT(!told[1] || ios[1].done_ns > now);
	slate_close(dev);
}

static void off(void)
{
	make("ftl.buffer_units=0");
	plan(SLATE_CUT_NOW, 0, 0);
	EXPECT(slate_powered(dev));
	EXPECT_EQ(slate_step(dev, now), FTL_IDLE);
	EXPECT(!slate_powered(dev));
	now = 10;
	submit(0, FTL_WRITE, 0, 1);
	EXPECT_EQ(slate_step(dev, now), FTL_IDLE);
	EXPECT_EQ(slate_inflight(dev), 0);
	EXPECT_EQ(told[0], 0);
	slate_check(dev);
	power_on(1000);
	EXPECT_EQ(read_page(0), 0);
	slate_close(dev);
}

/* If a shell calls late, the drive's work is late, but the cut is on time. */
static void called_late(void)
{
	make("ftl.buffer_units=0");
	plan(SLATE_CUT_AT_NS, BUS_NS + 1, 0);
	submit(0, FTL_WRITE, 0, 1);
	EXPECT_EQ(slate_step(dev, 10 * PROGRAM_NS), FTL_IDLE);
	EXPECT_EQ(power().cut_ns, BUS_NS + 1);
	EXPECT_EQ(power().torn[NAND_PROGRAM], 1);
	slate_close(dev);
}

static void refused(enum slate_cut_when when, uint64_t value, const char *word)
{
	const struct slate_cut_plan p = { when, value, 0 };

	EXPECT_EQ((int64_t)slate_power_cut(dev, now, &p, err), (int64_t)SSD_E_INVAL);
	EXPECT(strstr(err, word));
}

static void plans(void)
{
	char path[] = "/tmp/slate-power-XXXXXX";
	int fd = mkstemp(path);

	make("ftl.buffer_units=0");
	run_until(500);
	refused(SLATE_CUT_AT_NS, 499, "at 499 ns, and the drive's clock is at 500 ns already");
	refused(SLATE_CUT_AFTER_COMMANDS, 0, "after 0 commands");
	refused(SLATE_CUT_AT_NS, SLATE_CUT_NS_MAX + 1, "the latest moment is 1152921504606846976 ns");
	refused(SLATE_CUT_AT_NS, UINT64_C(1) << 63, "the latest moment");
	refused(SLATE_CUT_AFTER_MARK, SLATE_CUT_NS_MAX + 1, "after 1152921504606846977 ns, and the latest");
	refused(SLATE_CUT_AT_NS, UINT64_MAX, "the latest moment");
	plan(SLATE_CUT_AT_NS, SLATE_CUT_NS_MAX, 0);
	EXPECT_EQ(slate_step(dev, now), SLATE_CUT_NS_MAX);
	plan(SLATE_CUT_NEVER, 0, 0);
	EXPECT(!power().planned);
	plan(SLATE_CUT_AT_NS, 600, 0);		/* a later plan replaces this one */
	plan(SLATE_CUT_AT_NS, 700, 0);
	refused(SLATE_CUT_AT_NS, 1, "already");	/* but a refused plan changes nothing */
	EXPECT_EQ(power().planned_ns, 700);
	plan(SLATE_CUT_NEVER, 0, 0);
	EXPECT(!power().planned);
	EXPECT_EQ(slate_step(dev, 1000), FTL_IDLE);
	EXPECT(slate_powered(dev));
	now = 1000;
	plan(SLATE_CUT_NOW, 0, 0);
	run_until(FTL_IDLE);
	refused(SLATE_CUT_NOW, 0, "no power already");
	slate_close(dev);

	SSD_ASSERT(fd >= 0 && !open_with(NULL, NULL, path));
	refused(SLATE_CUT_NOW, 0, "a recording cannot tell");
	SSD_ASSERT(slate_end_record(dev, false));
	slate_close(dev);
	close(fd);
	unlink(path);
}

/* Make a drive with one page, cut its power, and let it mount. */
static void write_and_cut(void)
{
	make("ftl.buffer_units=0");
	submit(0, FTL_WRITE, 0, 1);
	run_until(BUS_NS + PROGRAM_NS);
	plan(SLATE_CUT_NOW, 0, 0);
	run_until(FTL_IDLE);
	power_on(now);
}

/* A cut planned during a mount takes effect when the mount ends; orders succeed until then. */
static void orders_while_mounting(void)
{
	const struct slate_order collect = { .command = SLATE_FORCE_GC };
	uint32_t planes;

	write_and_cut();
	EXPECT(power().ready_ns > now);
	plan(SLATE_CUT_NOW, 0, 0);
	EXPECT_EQ(power().planned_ns, power().ready_ns);
	EXPECT_EQ(slate_set(dev, now, "ftl.gc_slice_pages=8"), SLATE_DONE);
	EXPECT_EQ(slate_control(dev, now, &collect, &planes), SLATE_DONE);
	EXPECT(slate_powered(dev));
	run_until(FTL_IDLE);
	EXPECT_EQ(power().cut_ns, power().ready_ns);
	EXPECT(!slate_powered(dev));
	slate_close(dev);
}

/* Counters continue over a cut, and a mark's interval includes both sides of it. */
static void statistics(void)
{
	struct slate_stats s;
	static const char label[SLATE_LABEL_BYTES] = "both sides";
	struct slate_mark m;

	write_and_cut();
	submit(1, FTL_WRITE, 1, 1);
	run_until(power().ready_ns + BUS_NS + PROGRAM_NS);
	slate_get_stats(dev, &s);
	EXPECT_EQ(s.ftl.op[FTL_WRITE].ios, 2);
	EXPECT_EQ(s.ftl.op[FTL_WRITE].latency_sum_ns, 2 * (BUS_NS + PROGRAM_NS));
	EXPECT_EQ(s.ftl.op[FTL_WRITE].latency_min_ns, BUS_NS + PROGRAM_NS);
	EXPECT_EQ(s.ftl.mounts, 1);
	EXPECT_EQ(s.nand.ops[NAND_PROGRAM][NAND_SRC_HOST], 2);
	EXPECT_EQ(s.nand.ops[NAND_READ][NAND_SRC_META], 66);
	EXPECT_EQ(slate_mark(dev, now, SLATE_MARK_POINT, label), SSD_OK);
	slate_get_mark(dev, 0, &m, &s);
	EXPECT_EQ(s.ftl.op[FTL_WRITE].ios, 2);
	slate_get_stats(dev, &s);
	EXPECT_EQ(s.ftl.op[FTL_WRITE].ios, 2);
	slate_close(dev);
}

/* ---- many cuts ---------------------------------------------------------------- */

#define PAGES 100u

static const char *const drives[][EXTRAS] = {
	{ "ftl.buffer_units=16" }, { "ftl.buffer_units=0" },
	{ "ftl.buffer_units=16", "ftl.gc_mode=blocking" },
};

/* Check the page's content, which must be the one that was kept or one of those sent later. */
static uint8_t found_one_of(uint32_t p, uint8_t kept, const uint8_t *later, uint32_t sent)
{
	uint8_t found = read_page(p);
	bool good = found == kept;

	for (uint32_t k = 0; k < sent; k++)
		good = good || found == later[k];
	EXPECT(good);
	return found;
}

/* A drive may hold this after a cut. */
static struct {
	uint8_t value[PAGES];		/* found after the last cut, and flushed */
	uint8_t at_flush[PAGES];	/* last version submitted before this round's flush */
	uint8_t later[PAGES][IOS + 1];	/* submitted in this round, in order */
	uint32_t sent[PAGES];		/* number of versions in `later` */
	uint32_t flush;			/* number of the I/O that flushes; IOS: no flush in this round */
} model;

static void storm_flush(uint32_t io)
{
	submit(io, FTL_FLUSH, 0, 0);
	memcpy(model.at_flush, model.value, sizeof(model.value));
	for (uint32_t p = 0; p < PAGES; p++)
		if (model.sent[p])
			model.at_flush[p] = model.later[p][model.sent[p] - 1];
	model.flush = io;
}

/* Submit up to n I/Os, perhaps with a flush, until the power is cut. */
static void storm_submit(uint64_t *rng, uint32_t n)
{
	for (uint32_t i = 0; i < n && slate_powered(dev); i++) {
		uint32_t p = (uint32_t)(rnd(rng) % PAGES);
		uint8_t v = (uint8_t)rnd(rng);

		if (model.flush == IOS && rnd(rng) % 8 == 0) {
			storm_flush(i);
			continue;
		}
		submit(i, FTL_WRITE, p, v);
		model.later[p][model.sent[p]++] = v;
		if (rnd(rng) % 2)
			run_until(now + rnd(rng) % PROGRAM_NS);
		if (now >= power().planned_ns)
			break;
	}
	run_until(FTL_IDLE);
	EXPECT(!slate_powered(dev));
}

/*
 * Mount, compare every page with its possible contents, and flush, because a second cut could
 * otherwise undo what was found.
 */
static void storm_mount(uint64_t *rng)
{
	bool flushed;

	now = power().cut_ns + rnd(rng) % 1000;
	power_on(now);
	flushed = model.flush < IOS && told[model.flush] && ios[model.flush].done_ns <= power().cut_ns;
	for (uint32_t p = 0; p < PAGES; p++)
		model.value[p] = found_one_of(p, flushed ? model.at_flush[p] : model.value[p], model.later[p],
					      model.sent[p]);
	submit(0, FTL_FLUSH, 0, 0);
	run_until(now + 100 * PROGRAM_NS);
	EXPECT_EQ(told[0], 1);
}

/* One drive goes through many cuts at random nanoseconds: each round writes and flushes some pages until it is cut. */
static void storm(uint64_t seed, uint32_t cuts, const char *path)
{
	const char *const *extra = drives[seed % (sizeof(drives) / sizeof(*drives))];
	uint32_t worst = 0, before = (uint32_t)failures;
	uint64_t rng = seed * 2654435761u + 1;

	if (open_with(extra, path, NULL)) {
		printf("%s\n", err);
		exit(1);
	}
	memset(model.value, 0, sizeof(model.value));
	for (uint32_t c = 0; c < cuts && (uint32_t)failures == before; c++) {
		uint32_t n = 1 + (uint32_t)(rnd(&rng) % 40);
		uint64_t span = (uint64_t)n * (BUS_NS + PROGRAM_NS);

		memset(told, 0, sizeof(told));
		memset(model.sent, 0, sizeof(model.sent));
		model.flush = IOS;
		if (now < power().ready_ns)
			now = power().ready_ns;
		plan(SLATE_CUT_AT_NS, now + 1 + rnd(&rng) % span, rnd(&rng));
		storm_submit(&rng, n);
		worst += power().lost_ios;
		storm_mount(&rng);
	}
	EXPECT_EQ(power().cuts, cuts);
	EXPECT(worst > 0);
	if ((uint32_t)failures != before)
		printf("replay: test_power -n %u -r %" PRIu64 "\n", cuts, seed);
	slate_close(dev);
}

static uint32_t storm_cuts = 150;
static uint64_t only;

/* Make the calls that a shell may make on a drive without an FTL. */
static void ask_everything(uint64_t written)
{
	struct slate_stats *s = malloc(sizeof(*s));
	struct slate_health health;
	struct slate_sizes sizes;
	size_t bytes;

	SSD_ASSERT(s);
	slate_get_stats(dev, s);
	EXPECT_EQ(s->ftl.op[FTL_WRITE].ios, written);
	EXPECT_EQ(s->ftl.op[FTL_TRIM].latency_min_ns, UINT64_MAX);
	for (uint32_t id = SLATE_LOG_IDENTITY; id < SLATE_LOG_END; id++) {
		void *log = slate_log(dev, now, id, &bytes);

		EXPECT(log && bytes >= sizeof(struct slate_log_head));
		free(log);
	}
	slate_get_health(dev, &health);
	EXPECT_EQ(health.power_cycles, 2);
	slate_get_sizes(dev, &sizes);
	EXPECT_EQ(sizes.write_granularity, PAGE);
	EXPECT(!slate_trims(dev));
	EXPECT_EQ(slate_map_bytes(dev), 0);
	EXPECT(!strcmp(slate_ftl_name(dev), "nftl"));
	EXPECT_EQ(slate_inflight(dev), 0);
	EXPECT_EQ(slate_step(dev, now), FTL_IDLE);
	submit(2, FTL_WRITE, 3, 8);
	EXPECT_EQ(told[2], 0);
	free(s);
}

static void stay_off(uint64_t written)
{
	EXPECT(slate_power_on(dev, ++now, err) != SSD_OK);
	EXPECT(strstr(err, "does not mount after a power cut"));
	EXPECT(!slate_powered(dev));
	ask_everything(written);
}

/*
 * A page's spare area is made to hold twice its number, which no drive writes, so the mount fails
 * at once.
 */
static void mount_fails(void)
{
	static const char *const through[EXTRAS] = { "ftl.type=nftl", "ftl.unit_bytes=8192", "ftl.buffer_units=0" };
	static const char label[SLATE_LABEL_BYTES] = "off";
	struct nand_array *a;
	uint8_t was;

	EXPECT_EQ(open_with(through, NULL, NULL), SSD_OK);
	a = nand_array_of(dev->nand);
	submit(0, FTL_WRITE, 3, 7);
	run_until(FTL_IDLE);
	plan(SLATE_CUT_NOW, 0, 0);
	run_until(now);
	EXPECT(!slate_powered(dev));
	was = a->oob[3];
	for (uint32_t page = 0; page < 256; page++)
		a->oob[page * a->base.geo.oob_kept + 3] = 0xff;
	stay_off(1);
	stay_off(1);
	dev->profile.ftl.gc_start_blocks += 1000;
	stay_off(1);
	dev->profile.ftl.gc_start_blocks -= 1000;
	EXPECT_EQ(slate_control(dev, now, &(struct slate_order){ .command = SLATE_RESET_COUNTERS },
				&(uint32_t){ 0 }), SLATE_REFUSED);
	EXPECT_EQ(slate_control(dev, now, &(struct slate_order){ .command = SLATE_FAULT_CLEAR },
				&(uint32_t){ 0 }), SLATE_DONE);
	EXPECT_EQ(slate_mark(dev, now, SLATE_MARK_POINT, label), SSD_OK);
	for (uint32_t page = 0; page < 256; page++)
		a->oob[page * a->base.geo.oob_kept + 3] = was;
	power_on(now);
	EXPECT_EQ(read_page(3), 7);
	slate_close(dev);
}

static void many_cuts(void)
{
	char dir[] = "/tmp/slate-power-XXXXXX", path[sizeof(dir) + 8];

	SSD_ASSERT(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/drive", dir);
	snprintf(profile, sizeof(profile), "%s/ini", dir);
	write_profile(profile);
	for (uint64_t seed = 0; seed < 6; seed++)
		if (!only || seed == only - 1) {
			storm(seed, storm_cuts, seed < 3 ? NULL : path);
			unlink(path);
		}
	unlink(profile);
	rmdir(dir);
}

int main(int argc, char **argv)
{
	for (int c; (c = getopt(argc, argv, "n:r:")) >= 0;) {
		if (c == 'n')
			storm_cuts = (uint32_t)strtoul(optarg, NULL, 10);
		else if (c == 'r')
			only = strtoull(optarg, NULL, 10) + 1;
		else
			return 2;
	}
	RUN(to_the_nanosecond);
	RUN(mounting_costs);
	RUN(after_commands);
	RUN(after_mark);
	RUN(told_and_lost);
	RUN(off);
	RUN(called_late);
	RUN(plans);
	RUN(orders_while_mounting);
	RUN(statistics);
	RUN(mount_fails);
	RUN(many_cuts);
	return test_result();
}
