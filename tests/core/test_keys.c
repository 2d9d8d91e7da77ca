// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_keys.c - every key of every FTL, drawn from the tables (keys_draw.h), so that no key can be forgotten:
 *
 *   drives   a drive with the drawn settings works: it keeps what was flushed over power cuts, its invariants hold,
 *            and its keys change while it runs. Of a key with named values each one is drawn, of a number two values
 *   online   a drive whose key was changed before the first request does what a drive does that was opened with
 *            this value: nothing that the key determines was left as it was
 *
 * A key that cannot have a value with its FTL stands in a list below, with the reason. test_keys [-s SEED]
 */
#define _GNU_SOURCE
#include "keys_draw.h"
#include "profile_keys.h"
#include "slate_control.h"
#include "slate_power.h"

#define UNITS_MAX 4096u
#define IOS 6u
#define IO_UNITS 24u
#define UNIT_MAX 2048u
#define DRIVES 2u			/* for each key */
#define TRIES 400u

/* ---- drives ------------------------------------------------------------------- */

#define SHAPE "geometry.channels=2", "geometry.chips_per_channel=1", "geometry.dies_per_chip=1", \
	"geometry.planes_per_die=2", "geometry.pages_per_block=16", "geometry.page_bytes=2048", \
	"geometry.oob_bytes=512", "geometry.copyback=yes", "geometry.erase_group_max=2", \
	"geometry.subpage=dma", "timing.read_ns=50000", "timing.program_ns=200000", "timing.erase_ns=1000000", \
	"timing.bus_ps_per_byte=1000", "timing.subread_base_ns=20000", "timing.suspend_ns=1000", \
	"timing.suspends_max=4", "ftl.unit_bytes=2048", "ftl.capacity_mib=1"
#define PAIRS "geometry.bits_per_cell=2", "geometry.paired_loss=yes", "geometry.blocks_per_plane=24"
#define SSDSIM "timing.suspend_ns=0", "timing.suspends_max=0", "ftl.accounting=ssdsim"
#define SHOT "geometry.copyback=no", "geometry.bits_per_cell=2", "geometry.paired_loss=yes", "geometry.one_shot=yes"
#define SAVED "ftl.power_protected=yes", "ftl.hold_up_ns=500000000", "ftl.buffer_units=32"
#define DIRECT "geometry.order=none", "geometry.pb_levels=2", "ftl.buffer_units=0"

static const struct base {
	const char *ftl;
	const char *settings[32];
} bases[] = {
	{ "page", { SHAPE, "ftl.type=page", "geometry.blocks_per_plane=24", "geometry.bits_per_cell=2",
		    "timing.slc_program_ns=100000", "timing.slc_read_ns=20000", "timing.slc_erase_ns=800000" } },
	{ "page", { SHAPE, "ftl.type=page", "geometry.blocks_per_plane=24", "ftl.parallel_erase=yes" } },
	{ "page", { SHAPE, "ftl.type=page", "geometry.blocks_per_plane=40", "ftl.unit_bytes=512",
		    "geometry.pages_per_block=8" } },
	{ "page", { SHAPE, "ftl.type=page", "geometry.blocks_per_plane=24", "geometry.bits_per_cell=2",
		    "timing.slc_program_ns=100000", "timing.slc_read_ns=20000", "timing.slc_erase_ns=800000",
		    "ftl.slc_cache=dynamic", "ftl.slc_blocks=3" } },
	{ "page", { SHAPE, "ftl.type=page", "geometry.page_bytes=512", "geometry.planes_per_die=1",
		    "geometry.blocks_per_plane=80", "ftl.unit_bytes=512", "ftl.map_cache_pages=4" } },
	{ "page", { SHAPE, "ftl.type=page", "geometry.blocks_per_plane=24", SSDSIM } },
	{ "page", { SHAPE, "ftl.type=page", "geometry.blocks_per_plane=24", SAVED } },
	{ "page", { SHAPE, "ftl.type=page", "geometry.blocks_per_plane=24", "ftl.placement_handles=2",
		    "ftl.placement_groups=2", "ftl.buffer_units=16" } },
	{ "page", { SHAPE, "ftl.type=page", "geometry.blocks_per_plane=24", SHOT, "ftl.buffer_units=16" } },
	{ "page", { SHAPE, "ftl.type=page", "geometry.blocks_per_plane=24", SHOT, SAVED } },
	{ "parity", { SHAPE, PAIRS, "ftl.type=parity", SAVED, "geometry.order=fps" } },
	{ "parity", { SHAPE, PAIRS, "ftl.type=parity", SSDSIM, "geometry.order=fps" } },
	{ "rtf", { SHAPE, PAIRS, "ftl.type=rtf", SAVED, "geometry.order=fps", "ftl.active_blocks=2" } },
	{ "rtf", { SHAPE, PAIRS, "ftl.type=rtf", SSDSIM, "geometry.order=fps", "ftl.active_blocks=2" } },
	{ "flex", { SHAPE, PAIRS, "ftl.type=flex", SAVED, "geometry.order=rps" } },
	{ "flex", { SHAPE, PAIRS, "ftl.type=flex", SSDSIM, "geometry.order=rps" } },
	{ "parity", { SHAPE, PAIRS, "ftl.type=parity", "geometry.order=fps" } },
	{ "rtf", { SHAPE, PAIRS, "ftl.type=rtf", "geometry.order=fps", "ftl.active_blocks=2" } },
	{ "flex", { SHAPE, PAIRS, "ftl.type=flex", "geometry.order=rps" } },
	{ "nftl", { SHAPE, DIRECT, "ftl.type=nftl", "geometry.blocks_per_plane=20", "ftl.gc_start_blocks=3" } },
	{ "nftl", { SHAPE, DIRECT, SSDSIM, "ftl.type=nftl", "geometry.blocks_per_plane=20" } },
	{ "superblock", { SHAPE, DIRECT, "ftl.type=superblock", "geometry.blocks_per_plane=20" } },
	{ "superblock", { SHAPE, DIRECT, SSDSIM, "ftl.type=superblock", "geometry.blocks_per_plane=20" } },
	{ "superblock", { SHAPE, DIRECT, "ftl.type=superblock", "geometry.blocks_per_plane=20",
			  "ftl.parallel_erase=yes", "ftl.superblock_blocks=0", "ftl.superblock_max_blocks=0" } },
	{ "dac", { SHAPE, "ftl.type=dac", "geometry.blocks_per_plane=24" } },
	{ "dac", { SHAPE, "ftl.type=dac", "geometry.blocks_per_plane=24", SAVED } },
	{ "dac", { SHAPE, PAIRS, "ftl.type=dac", "geometry.order=rps", "ftl.frontiers=flex" } },
	{ "zns", { SHAPE, "ftl.type=zns", "geometry.blocks_per_plane=20", "ftl.buffer_units=64" } },
	{ "zns", { SHAPE, "ftl.type=zns", "geometry.blocks_per_plane=20", "ftl.buffer_units=64",
		   "ftl.zone_active_max=2", "ftl.zrwa_pages=4" } },
};

#define NBASES (sizeof(bases) / sizeof(*bases))

static const char *const controllers[][3] = {
	{ NULL },
	{ "controller.cores=2", "controller.read_cache_units=64", NULL },
	{ "controller.cores=1", "controller.arbitration=weighted", NULL },
};

/* Begin with a base of the FTL and a controller, chosen at random. Returns false if the FTL has no base. */
static bool begin_drive(struct settings *s, const char *ftl, uint64_t *rng)
{
	const char *const *c = controllers[rnd(rng) % 3];
	uint32_t of_ftl[NBASES], n = 0;

	for (uint32_t i = 0; i < NBASES; i++)
		if (!strcmp(bases[i].ftl, ftl))
			of_ftl[n++] = i;
	if (!n)
		return false;
	begin_settings(s, bases[of_ftl[rnd(rng) % n]].settings);
	for (; *c; c++)
		snprintf(add_setting(s), SETTING_BYTES, "%s", *c);
	s->drawn = s->count;
	return true;
}

/* ---- the host ------------------------------------------------------------------ */

struct request {
	struct ftl_io io;
	bool busy;
	uint8_t data[IO_UNITS * UNIT_MAX];
};

static struct slate_dev *dev;
static uint64_t now, dice, sum;		/* sum: of what the host has seen, with the times */
static uint32_t units, unit_bytes, busy, zone_now;
static uint32_t newest[UNITS_MAX], durable[UNITS_MAX];	/* versions; 0: never written, or reset */
static bool content, failed;		/* content: the drive keeps data; failed: it had a fault */
static struct request request[IOS];

static bool is_accepted(const struct settings *s)
{
	static struct profile p;
	char why[SLATE_ERR_BYTES];

	memset(&p, 0, sizeof(p));
	return !profile_load(&p, NULL, s->list, why);
}

/* Draw a value for key i and for up to `most` other keys. Returns whether the whole is a drive. */
static bool draw_drive(struct settings *s, const struct keys *k, uint32_t i, uint32_t most, uint64_t *rng)
{
	uint32_t others = (uint32_t)(rnd(rng) % (most + 1));

	while (others--)
		draw_setting(k, (uint32_t)(rnd(rng) % k->count), rng, add_setting(s));
	draw_setting(k, i, rng, add_setting(s));
	return is_accepted(s);
}

static char drive[4096];		/* the profile that was drawn; a failure prints it */

static uint32_t roll(uint32_t n)
{
	return (uint32_t)(rnd(&dice) % n);
}

/* The first fault of a drive is printed. */
static void fail(const char *what, uint32_t unit)
{
	if (!failed)
		printf("%s, unit %u:%s\n", what, unit, drive);
	failed = true;
	failures++;
}

static void stamp(uint8_t *at, uint32_t unit, uint32_t version)
{
	uint64_t v = (uint64_t)version << 32 | unit;

	for (uint32_t i = 0; i < unit_bytes; i += 8)
		memcpy(at + i, &v, 8);
}

/* Returns the version of a unit's content. */
static uint32_t version_of(const uint8_t *at, uint32_t unit)
{
	uint64_t v;

	memcpy(&v, at, 8);
	if (memcmp(at, at + 8, unit_bytes - 8) || (v && (uint32_t)v != unit))
		fail("content of no write", unit);
	return (uint32_t)(v >> 32);
}

static void on_done(void *opaque, struct ftl_io *io)
{
	struct request *r = io->host;

	(void)opaque;
	r->busy = false;
	busy--;
	sum = sum * 31 + io->done_ns;
	if (io->status != SSD_OK)
		fail(ssd_strerror(io->status), (uint32_t)(io->offset / unit_bytes));
}

static void on_copy(void *opaque, struct ftl_io *io, uint64_t at, void *buf, size_t len)
{
	struct request *r = io->host;

	(void)opaque;
	test_copy(io, r->data + at, buf, len);
}

static const struct ftl_host host = { on_done, on_copy, NULL };

static void submit(enum ftl_op op, uint32_t unit, uint32_t count, enum ftl_zone_op zone)
{
	struct request *r = request;

	while (r->busy)
		r++;
	r->io = (struct ftl_io){ .op = op, .zone = (uint8_t)zone, .host = r, .queue = (uint8_t)roll(4),
				 .offset = (uint64_t)unit * unit_bytes, .bytes = (uint64_t)count * unit_bytes };
	r->io.priority = r->io.queue;
	if (op == FTL_WRITE)
		for (uint32_t i = 0; i < count; i++)
			stamp(r->data + (size_t)i * unit_bytes, unit + i, ++newest[unit + i]);
	r->busy = true;
	busy++;
	slate_submit(dev, now, &r->io);
}

static void finish(void)
{
	uint64_t next = slate_step(dev, now);

	while (busy) {
		SSD_ASSERT(next != FTL_IDLE);
		now = next > now ? next : now + 1;
		next = slate_step(dev, now);
	}
	for (uint32_t i = 0; i < IOS; i++)
		now = request[i].io.done_ns > now ? request[i].io.done_ns : now;
	(void)slate_step(dev, now);
}

static void flush(void)
{
	submit(FTL_FLUSH, 0, 0, FTL_ZONE_NONE);
	finish();
	memcpy(durable, newest, sizeof(durable));
}

/* Let time pass without a request. */
static void rest(uint64_t ns)
{
	uint64_t until = now + ns, next = slate_step(dev, now);

	while (next < until) {
		now = next;
		next = slate_step(dev, now);
	}
	now = until;
	(void)slate_step(dev, now);
}

/* Read everything. Each unit must have a version from the durable to the newest one; it is the newest from now on. */
static void verify(void)
{
	for (uint32_t unit = 0; unit < units; unit += IO_UNITS) {
		uint32_t count = units - unit < IO_UNITS ? units - unit : IO_UNITS;
		const struct request *r = &request[0];

		submit(FTL_READ, unit, count, FTL_ZONE_NONE);
		finish();
		for (uint32_t i = 0; i < count && content; i++) {
			uint32_t v = version_of(r->data + (size_t)i * unit_bytes, unit + i);

			if (v < durable[unit + i] || v > newest[unit + i])
				fail("a version that must not be there", unit + i);
			newest[unit + i] = v;
		}
	}
	memcpy(durable, newest, sizeof(durable));
}

/* ---- work ------------------------------------------------------------------------- */

/* Requests that are under way together have units of their own, because an arbiter may change their order. */
static void write_or_read(uint32_t part)
{
	uint32_t of_part = units / IOS, at = roll(3) ? roll(of_part) : roll(of_part / 8);
	uint32_t count = 1 + roll(roll(4) ? 4 : IO_UNITS);
	bool reads = roll(4) == 0;

	count = count > of_part - at ? of_part - at : count;
	submit(reads ? FTL_READ : FTL_WRITE, part * of_part + at, count, FTL_ZONE_NONE);
}

static void reset_zone(const struct ftl_zone *z)
{
	uint32_t first = (uint32_t)(z->start / unit_bytes);

	submit(FTL_TRIM, first, 0, FTL_ZONE_RESET);
	finish();
	memset(newest + first, 0, z->capacity / unit_bytes * sizeof(*newest));
	memset(durable + first, 0, z->capacity / unit_bytes * sizeof(*durable));
}

/* Zones are written one after the other, and so are requests. */
static void write_zone(const struct ftl_zones *zones)
{
	struct ftl_zone z = slate_zone(dev, zone_now);
	uint32_t count = 1 + roll(IO_UNITS);

	if (z.state == FTL_ZONE_FULL) {
		zone_now = (zone_now + 1) % zones->count;
		z = slate_zone(dev, zone_now);
		if (z.state == FTL_ZONE_FULL)
			reset_zone(&z);
		return;
	}
	count = count * unit_bytes > z.start + z.capacity - z.wp ?
		(uint32_t)((z.start + z.capacity - z.wp) / unit_bytes) : count;
	submit(FTL_WRITE, (uint32_t)(z.wp / unit_bytes), count, FTL_ZONE_NONE);
	finish();
}

static void work(uint32_t rounds)
{
	struct ftl_zones zones;
	bool zoned = slate_zones(dev, &zones);

	for (uint32_t i = 0; i < rounds; i++) {
		for (uint32_t k = 0; k < IOS && zoned; k++)
			write_zone(&zones);
		for (uint32_t k = 0; k < IOS && !zoned; k++)
			write_or_read(k);
		finish();
		if (i % 16 == 15)
			rest(30000000);
	}
}

static bool open_drive(const struct settings *s, uint64_t seed)
{
	struct slate_options o = { .overrides = s->list };
	char err[SLATE_ERR_BYTES] = "";

	*drive = '\0';
	for (uint32_t i = s->type; i < s->count; i++)
		snprintf(drive + strlen(drive), sizeof(drive) - strlen(drive), " %s", s->text[i]);
	now = busy = zone_now = 0;
	failed = false;
	sum = 0;
	dice = seed;
	memset(newest, 0, sizeof(newest));
	memset(durable, 0, sizeof(durable));
	memset(request, 0, sizeof(request));
	if (slate_open(&o, &host, &dev, err)) {
		fail(err, 0);
		return false;
	}
	unit_bytes = slate_unit_bytes(dev);
	units = (uint32_t)(slate_capacity(dev) / unit_bytes);
	SSD_ASSERT(units <= UNITS_MAX && unit_bytes <= UNIT_MAX);
	content = !strstr(drive, "ftl.payload=no");
	return true;
}

/* ---- drives with any values ---------------------------------------------------------- */

/* What was drawn of an FTL's keys: numbers as a sum, names as bits. */
static struct drawn {
	uint64_t first;
	bool any, varies;
	uint32_t names;
	bool moved;			/* changed while a drive ran */
} drawn[KEYS_MAX];

/* Values that an FTL refuses on every drive; "": it accepts one number at most. */
static const struct {
	const char *ftl, *key, *value;
} never[] = {
	/* nftl, superblock and dac map whole pages, and have reads of whole pages alone. */
	{ "nftl", "unit_bytes", "" }, { "superblock", "unit_bytes", "" }, { "dac", "unit_bytes", "" },
	{ "nftl", "gc_subpage_reads", "yes" }, { "nftl", "host_subpage_reads", "yes" },
	{ "superblock", "gc_subpage_reads", "yes" }, { "superblock", "host_subpage_reads", "yes" },
	{ "dac", "gc_subpage_reads", "yes" }, { "dac", "host_subpage_reads", "yes" },
	/* nftl and superblock have no write buffer, and so nothing to save; zns saves nothing. */
	{ "nftl", "buffer_units", "" }, { "nftl", "power_protected", "yes" }, { "nftl", "hold_up_ns", "" },
	{ "superblock", "buffer_units", "" }, { "superblock", "power_protected", "yes" },
	{ "superblock", "hold_up_ns", "" }, { "zns", "power_protected", "yes" }, { "zns", "hold_up_ns", "" },
	/* Parity pages need the content of what is copied, and these FTLs collect one block of a plane at a time. */
	{ "parity", "gc_copyback", "yes" }, { "parity", "parallel_erase", "yes" },
	{ "rtf", "gc_copyback", "yes" }, { "rtf", "parallel_erase", "yes" },
	{ "flex", "gc_copyback", "yes" }, { "flex", "parallel_erase", "yes" },
	/* dac compresses data. A drive with zones has no read cache. */
	{ "dac", "payload", "no" }, { "zns", "read_cache_units", "" }, { "zns", "read_ahead_units", "" },
	{ "zns", "read_hit_ns", "" },
};

static bool is_never(const struct keys *k, uint32_t i, const char *value)
{
	for (size_t n = 0; n < sizeof(never) / sizeof(*never); n++)
		if (!strcmp(never[n].ftl, k->ops->name) && !strcmp(never[n].key, k->knob[i]->name) &&
		    !strcmp(never[n].value, value))
			return true;
	return false;
}

static bool is_covered(const struct keys *k, uint32_t i)
{
	uint32_t names = names_of(k->knob[i]);

	return names ? drawn[i].names == (1u << names) - 1 : drawn[i].varies;
}

/* Returns the value of the key that was drawn last, or NULL. */
static const char *value_of(const struct settings *s, const char *section, const char *name)
{
	char key[SETTING_BYTES];
	size_t len = (size_t)snprintf(key, sizeof(key), "%s.%s=", section, name);

	for (uint32_t n = s->count; n > s->drawn; n--)
		if (!strncmp(s->text[n - 1], key, len))
			return s->text[n - 1] + len;
	return NULL;
}

/* Note the values that were drawn. Returns whether one of them is new. */
static bool note(const struct keys *k, const struct settings *s)
{
	bool is_new = false;

	for (uint32_t i = 0; i < k->count; i++) {
		const char *value = value_of(s, k->section[i], k->knob[i]->name);
		struct drawn *d = &drawn[i], before = *d;

		if (!value)
			continue;
		for (uint32_t n = 0; n < names_of(k->knob[i]); n++)
			d->names |= (uint32_t)!strcmp(value, name_of(k->knob[i], n)) << n;
		d->varies |= d->any && d->first != strtoull(value, NULL, 10);
		if (!d->any)
			d->first = strtoull(value, NULL, 10);
		d->any = true;
		is_new |= before.names != d->names || before.varies != d->varies || !before.any;
	}
	return is_new;
}

static void all_were_drawn(const struct keys *k)
{
	const struct knob *online;

	for (uint32_t i = 0; i < k->count; i++) {
		const struct knob *row = k->knob[i];

		for (uint32_t n = 0; n < names_of(row); n++)
			if ((drawn[i].names >> n & 1) == is_never(k, i, name_of(row, n))) {
				printf("%s: %s=%s %s\n", k->ops->name, row->name, name_of(row, n),
				       drawn[i].names >> n & 1 ? "is accepted: take it off the list" : "was not drawn");
				failures++;
			}
		if (!names_of(row) && drawn[i].varies == is_never(k, i, "")) {
			printf("%s: %s: %s\n", k->ops->name, row->name,
			       drawn[i].varies ? "two values: take it off the list" : "no two values were drawn");
			failures++;
		}
		for (uint32_t n = 0; (online = ftl_online_knob(k->ops, n)); n++)
			if (online == row && !drawn[i].moved) {
				printf("%s: %s did not change while a drive ran\n", k->ops->name, row->name);
				failures++;
			}
	}
}

/*
 * Set one of the keys that may change while the drive runs to a drawn value. The drive may refuse the value, but must
 * say why.
 */
static void change_a_key(const struct keys *k, uint64_t *rng)
{
	uint32_t n = 0, i = 0;
	char text[SETTING_BYTES];
	const struct knob *row;

	while (ftl_online_knob(k->ops, n))
		n++;
	if (!n)
		return;
	row = ftl_online_knob(k->ops, (uint32_t)(rnd(rng) % n));
	while (k->knob[i] != row)
		i++;
	draw_setting(k, i, rng, text);
	if (slate_set(dev, now, text) == SLATE_DONE)
		drawn[i].moved = true;
	else if (!strlen(slate_why(dev)))
		fail(text, 0);
	(void)slate_step(dev, now);
}

static void cut_and_mount(void)
{
	struct slate_cut_plan cut = { .when = SLATE_CUT_NOW, .seed = (uint32_t)rnd(&dice) };
	char err[SLATE_ERR_BYTES] = "";

	if (slate_power_cut(dev, now, &cut, err))
		fail(err, 0);
	(void)slate_step(dev, ++now);
	if (slate_power_on(dev, ++now, err)) {
		fail(err, 0);
		return;
	}
	verify();
	slate_check(dev);
}

static void live(const struct keys *k, uint64_t *rng)
{
	for (uint32_t life = 0; life < 2; life++) {
		for (uint32_t i = 0; i < 4; i++) {
			work(8 + roll(24));
			change_a_key(k, rng);
		}
		flush();
		slate_check(dev);
		verify();
		work(1 + roll(20));
		if (content)	/* without data on flash, most FTLs do not mount */
			cut_and_mount();
	}
}

static void draw_all(const struct ftl_ops *ops, uint64_t seed)
{
	static struct settings s;
	struct keys k;
	uint64_t rng = seed * 0x9e3779b97f4a7c15u + 1;

	keys_of(&k, ops);
	memset(drawn, 0, sizeof(drawn));
	for (uint32_t i = 0; i < k.count; i++)
		for (uint32_t made = 0, tries = 0; (made < DRIVES || !is_covered(&k, i)) && tries < TRIES; tries++) {
			(void)begin_drive(&s, ops->name, &rng);
			if (!draw_drive(&s, &k, i, 6, &rng) || (!note(&k, &s) && made >= DRIVES))
				continue;
			made++;
			if (!open_drive(&s, rnd(&rng)))
				continue;
			live(&k, &rng);
			slate_close(dev);
		}
	all_were_drawn(&k);
}

/* ---- a changed key is an opened one -------------------------------------------------------- */

/* Returns a number of all that the host and the array have seen of the same work. */
static uint64_t trace_of(const struct settings *s, const char *then, uint64_t seed)
{
	struct slate_stats stats;
	uint64_t of_all;

	if (!open_drive(s, seed))
		return 0;
	if (then && slate_set(dev, now, then) != SLATE_DONE)
		fail(slate_why(dev), 0);
	work(80);
	flush();
	rest(50000000);
	slate_get_stats(dev, &stats);
	of_all = sum;
	for (size_t i = 0; i + 8 <= sizeof(stats.nand); i += 8) {
		uint64_t v;

		memcpy(&v, (const uint8_t *)&stats.nand + i, 8);
		of_all = of_all * 31 + v;
	}
	slate_close(dev);
	return of_all;
}

/* Compare a drive opened with a value of the key and one that gets it later; first find a value that matters. */
static void changes_like_opening(const struct keys *k, uint32_t i, uint64_t *rng)
{
	static struct settings one, other;
	uint32_t tries = 0, compared = 0;

	for (; tries < TRIES && !compared; tries++) {
		uint64_t seed = rnd(rng), opened;

		(void)begin_drive(&one, k->ops->name, rng);
		if (!draw_drive(&one, k, i, 4, rng))
			continue;
		other = one;
		for (uint32_t n = 0; n < other.count; n++)
			other.list[n] = other.text[n];
		draw_setting(k, i, rng, other.text[other.count - 1]);
		if (!strcmp(one.text[one.count - 1], other.text[other.count - 1]) || !is_accepted(&other))
			continue;
		opened = trace_of(&other, NULL, seed);
		if (opened == trace_of(&one, NULL, seed))
			continue;
		compared++;
		if (trace_of(&one, other.text[other.count - 1], seed) != opened)
			fail("differs from a drive opened with the value", 0);
	}
	if (!compared) {
		printf("%s: no value of %s matters\n", k->ops->name, k->knob[i]->name);
		failures++;
	}
}

static void change_all(const struct ftl_ops *ops, uint64_t seed)
{
	uint64_t rng = seed * 0x9e3779b97f4a7c15u + 3;
	const struct knob *row;
	struct keys k;

	keys_of(&k, ops);
	for (uint32_t i = 0; i < k.count; i++)
		for (uint32_t n = 0; (row = ftl_online_knob(ops, n)); n++)
			if (row == k.knob[i])
				changes_like_opening(&k, i, &rng);
}

/* Every FTL of the list has a base, and each base is a drive. */
static void every_ftl_has_a_base(void)
{
	static struct settings s;
	uint64_t rng = 1;

	for (size_t i = 0; ftl_list[i]; i++)
		if (!begin_drive(&s, ftl_list[i]->name, &rng)) {
			printf("%s has no base\n", ftl_list[i]->name);
			failures++;
		}
	for (size_t i = 0; i < NBASES; i++) {
		begin_settings(&s, bases[i].settings);
		if (open_drive(&s, 1))
			slate_close(dev);
	}
}

int main(int argc, char **argv)
{
	uint64_t seed = 1;
	uint32_t rounds = 1;
	char name[64];

	test_rounds(argc, argv, &rounds, &seed);
	RUN(every_ftl_has_a_base);
	for (size_t i = 0; ftl_list[i]; i++) {
		snprintf(name, sizeof(name), "drives of %s", ftl_list[i]->name);
		RUN_AS(name, draw_all(ftl_list[i], seed));
		snprintf(name, sizeof(name), "online keys of %s", ftl_list[i]->name);
		RUN_AS(name, change_all(ftl_list[i], seed));
	}
	return test_result();
}
