// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz_drive.c - drive files in which some numbers are wrong.
 *
 * Each drive of fuzz_drives.h is made once, used and left with commands in flight. An input
 * names one of them, the seed of the work to come, and changes: a table of the file (SPEC.md),
 * a row, a column, a width, a value, and of how many rows. The head's CRC and its copy are
 * corrected afterwards, and so are the checksums of pages, unless a change affects the checksums or
 * the second table of spare areas. The drive is then opened. It must be refused with a sentence; or
 * every invariant must hold, and it must accept reads, writes, trims, flushes, orders, a power cut
 * and another mount. A failed assertion, an access out of bounds and an I/O that never ends are
 * faults.
 *
 * Input: 1 drive, 1 seed, 1 flags; then for each change 1 table, 1 how, 2 row, 2 column,
 * 2 other row, 4 value. The mutator keeps this form. SLATE_FUZZ_DRIVE=NAME: only drives whose
 * names begin so; the mutator makes no others, so all executions are of theirs.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "array_impl.h"
#include "drive_file.h"
#include "fuzz_drives.h"
#include "port_user.h"
#include "slate.h"
#include "slate_control.h"
#include "slate_dev.h"
#include "slate_power.h"

#define UNIT 1024u
#define HEAD_BYTES 3u
#define CHANGE_BYTES 12u
#define STEPS_MAX 400000u

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned int seed);

static struct base {
	uint8_t *file;			/* file as the drive left it; NULL: not made yet */
	size_t bytes;
	uint32_t *programmed, count;	/* pages that are not erased */
	struct nand_array_config config;
} bases[FUZZ_DRIVES];

static int fd = -1;
static char path[64];
static uint8_t running[1 << 20];	/* target of image_attach() for tables outside the image */

/* Replaces port_user.c: a failed assertion is a fault here, while libslate would continue. */
_Thread_local struct ssd_guard *ssd_guard;

_Noreturn void ssd_assert_failed(const char *expr, const char *file, int line)
{
	fprintf(stderr, "slate: %s:%d: assertion failed: %s\n", file, line, expr);
	abort();
}

/* ---- I/Os: submit one, and wait for all ---------------------------------------- */

static struct slate_dev *dev;
static uint64_t now_ns, dice;
static uint32_t pending;
static uint8_t sink;
static uint64_t opened, refused;	/* drives */

static uint64_t roll(void)		/* splitmix64 */
{
	uint64_t z = (dice += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static void on_done(void *opaque, struct ftl_io *io)
{
	(void)opaque, (void)io;
	pending--;
}

__attribute__((noreturn)) static void fault(const char *what)
{
	fprintf(stderr, "fuzz_drive: %s\n", what);
	abort();
}

/* Some contents are similar, because DAC needs that: of 4 kinds, two are one pattern with a few other bytes. */
static void on_copy(void *opaque, struct ftl_io *io, uint64_t at, void *buf, size_t len)
{
	static uint8_t pattern[256 * 256];
	uint64_t like = roll();
	uint8_t *b = buf;

	(void)opaque, (void)at;
	if (io->op == FTL_READ) {	/* Reading a byte of each ASan granule finds a buffer that is too short. */
		for (size_t i = 0; b && i < len; i += 8)
			sink ^= b[i];
		sink = b ? sink ^ b[len - 1] : sink;
		return;
	}
	for (size_t i = 0; !pattern[1] && i < sizeof(pattern); i++)
		pattern[i] = (uint8_t)(i * 7 + (i >> 8));
	if (len > sizeof(pattern))
		fault("a copy is longer than a request");
	if ((like & 13) == 12) {	/* a formula that the array keeps (content.c) */
		for (size_t i = 0; i + 8 <= len; i += 8, like += 0x9e3779b97f4a7c15u)
			memcpy(b + i, &like, 8);
	} else if (like & 1) {
		memcpy(b, pattern, len);
		for (size_t i = 3; i < len; i += 64)
			b[i] ^= (uint8_t)(like >> 8);
	} else if (like & 2) {
		for (size_t i = 0; i < len; i++)
			b[i] = (uint8_t)(like >> (i % 57));
	} else {
		memset(b, (uint8_t)(like >> 3), len);
	}
}

static const struct ftl_host host = { on_done, on_copy, NULL };

/* Returns false if the power is off. */
static bool wait_for(uint32_t count)
{
	uint64_t next = slate_step(dev, now_ns);

	for (uint32_t steps = 0; pending > count; steps++) {
		if (!slate_powered(dev)) {
			pending = 0;
			return false;
		}
		if (next == FTL_IDLE || steps == STEPS_MAX)
			fault("an I/O never ends");
		now_ns = next > now_ns ? next : now_ns + 1;
		next = slate_step(dev, now_ns);
	}
	return true;
}

/* Make a request one for zones. Most writes begin at their zone's write pointer. */
static void zone_io(struct ftl_io *io, const struct ftl_zones *zones)
{
	struct ftl_zone z = slate_zone(dev, (uint32_t)(io->offset / zones->size_bytes));
	uint64_t end = z.start + zones->size_bytes;

	if (io->op == FTL_TRIM) {
		io->zone = (uint8_t)(FTL_ZONE_OPEN + roll() % (FTL_ZONE_COMMIT - FTL_ZONE_OPEN + 1));
		io->offset = z.start;
		if (io->zone == FTL_ZONE_COMMIT && roll() % 4)	/* the next page of its random write area */
			io->bytes = z.wp + zones->window_step - z.start;
	} else if (io->op == FTL_WRITE && roll() % 4 == 0) {
		io->zone = FTL_ZONE_APPEND;
		io->offset = z.start;
	} else if (io->op == FTL_WRITE && roll() % 16 && z.wp < end) {
		io->offset = z.wp;
		if (z.window && z.wp + zones->window_bytes < end)
			io->offset += roll() % (zones->window_bytes / 512) * 512;
	}
	if (io->bytes > end - io->offset)
		io->bytes = end - io->offset;
}

static bool one_io(struct ftl_io *io)
{
	struct ftl_zones zones;
	uint64_t capacity = slate_capacity(dev), sectors = capacity / 512, most = 4 * UNIT;
	uint64_t r = roll() % 100;

	*io = (struct ftl_io){ .op = r < 60 ? FTL_WRITE : r < 80 ? FTL_READ : r < 92 ? FTL_TRIM : FTL_FLUSH };
	io->offset = roll() % sectors * 512;
	io->bytes = (1 + roll() % (most / 512)) * 512;
	if (roll() % 2) {
		io->offset = io->offset / UNIT * UNIT;
		io->bytes = (io->bytes + UNIT - 1) / UNIT * UNIT;
	}
	if (io->bytes > capacity - io->offset)
		io->bytes = capacity - io->offset;
	io->fua = io->op == FTL_WRITE && roll() % 16 == 0;
	io->lost = io->op == FTL_WRITE && roll() % 16 == 0;	/* zones, and parts of units, are refused */
	io->crossing = (uint8_t)(roll() % 3);
	if (slate_handles(dev) && io->op == FTL_WRITE)
		io->handle = (uint8_t)(roll() % slate_handles(dev));
	if (slate_zones(dev, &zones))
		zone_io(io, &zones);
	pending++;
	slate_submit(dev, now_ns, io);
	return slate_powered(dev);
}

/* Run up to 4 requests at once. Returns false if the power was cut. */
static bool work(uint32_t count)
{
	struct ftl_io io[4];

	for (uint32_t i = 0; i < count; i++) {
		for (uint32_t k = 0; k < 4; k++)
			if (!one_io(&io[k])) {
				pending = 0;
				return false;
			}
		if (!wait_for(0))
			return false;
	}
	return true;
}

static bool read_all(void)
{
	for (uint64_t at = 0, most = slate_capacity(dev); at < most; at += 64 * UNIT) {
		struct ftl_io io = { .op = FTL_READ, .offset = at, .bytes = 64 * UNIT };

		pending++;
		slate_submit(dev, now_ns, &io);
		if (!wait_for(0))
			return false;
	}
	return true;
}

static void read_logs(void)
{
	for (uint32_t id = 0xd0; id < 0xd8; id++) {
		size_t bytes;
		void *log = slate_log(dev, now_ns, id, &bytes);

		free(log);
	}
}

/* ---- drives to begin with ------------------------------------------------------- */

static int open_drive(const char *profile, const char *const *more, bool ephemeral, char *err)
{
	struct slate_options o = { .profile = profile, .overrides = more, .backing = path,
				   .ephemeral = ephemeral };

	now_ns = 0;
	pending = 0;
	return slate_open(&o, &host, &dev, err);
}

static void find_programmed(struct base *b)
{
	struct nand_array a = { .c = b->config };

	b->programmed = calloc(geo_pages(&b->config.geo), sizeof(*b->programmed));
	a.base.geo = b->config.geo;
	if (nand_array_footprint(&b->config) > sizeof(running))
		fault("an array needs more memory");
	image_attach(&a, running, b->file + DRIVE_FILE_IMAGE_AT);
	for (uint32_t p = 0; p < geo_pages(&b->config.geo); p++)
		if (cell_get(&a, p) != CELL_ERASED)
			b->programmed[b->count++] = p;
}

static void make_base(size_t i)
{
	static struct ftl_io left[8];
	static struct settings s;
	char err[SLATE_ERR_BYTES];
	struct base *b = &bases[i];
	struct profile p;
	uint64_t next;

	fuzz_drive_settings((uint32_t)i, &s);
	if (ftruncate(fd, 0) || open_drive(fuzz_drive_profile(), s.list, false, err) ||
	    profile_load(&p, fuzz_drive_profile(), s.list, err))
		fault(err);
	dice = i;
	work(900);
	for (uint32_t k = 0; k < 8; k++)
		one_io(&left[k]);
	for (uint32_t k = 0; k < 5 && (next = slate_step(dev, now_ns)) != FTL_IDLE; k++)
		now_ns = next;
	b->bytes = (size_t)lseek(fd, 0, SEEK_END);
	b->file = malloc(b->bytes);
	if (pread(fd, b->file, b->bytes, 0) != (ssize_t)b->bytes)
		fault("a drive cannot be read");
	b->config = p.array;
	b->config.sums = true;
	slate_close(dev);
	find_programmed(b);
}

static void print_count(void)
{
	fprintf(stderr, "fuzz_drive: %llu drives opened, %llu refused\n", (unsigned long long)opened,
		(unsigned long long)refused);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc, (void)argv;
	atexit(print_count);
	fd = open("/dev/shm", O_TMPFILE | O_RDWR, 0600);
	if (fd < 0)
		fd = open("/tmp", O_TMPFILE | O_RDWR, 0600);
	if (fd < 0)
		fault("neither /dev/shm nor /tmp takes a file");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return 0;
}

/* ---- changes ------------------------------------------------------------------------ */

struct table {
	uint8_t *at;
	uint32_t rows, bytes;
	bool of_pages;		/* only programmed pages */
};

#define TABLES 14
#define NOT_SEALED 8		/* OOB without new checksums: the FTL finds unreadable pages */
#define SUMS 13

static struct table table_of(const struct base *b, uint8_t *file, uint32_t which)
{
	struct nand_array a = { .c = b->config };
	const struct nand_geometry *g = &b->config.geo;
	uint32_t pbs = (uint32_t)geo_blocks(g) << g->pb_levels, dies = (uint32_t)geo_dies(g);

	a.base.geo = *g;
	image_attach(&a, running, file + DRIVE_FILE_IMAGE_AT);
	const struct table all[TABLES] = {
		{ (uint8_t *)a.head, 1, sizeof(*a.head), false },
		{ (uint8_t *)a.die, dies, sizeof(*a.die), false },
		{ (uint8_t *)a.flight, dies * a.group_max, sizeof(*a.flight), false },
		{ (uint8_t *)a.block, (uint32_t)geo_blocks(g), 4, false },
		{ (uint8_t *)a.pb, pbs, sizeof(*a.pb), false },
		{ a.oob, (uint32_t)geo_pages(g), g->oob_kept, true },
		{ (uint8_t *)a.form, (uint32_t)geo_pages(g), 8 * a.units, true },
		{ a.payload, (uint32_t)geo_pages(g), g->page_bytes, true },
		{ a.oob, (uint32_t)geo_pages(g), g->oob_kept, true },
		{ a.cells, (uint32_t)geo_pages(g) / 4, 1, false },
		{ a.age ? (uint8_t *)a.age : (uint8_t *)a.pb, pbs, 16, false },
		{ a.carried ? a.carried : a.cells, (uint32_t)geo_pages(g) / (a.carried ? 1 : 4), 1, a.carried != NULL },
		{ file + 24, 1, 3000, false },	/* fields and settings */
		{ (uint8_t *)a.sum, (uint32_t)geo_pages(g), sizeof(*a.sum), true },
	};

	return all[which % TABLES];
}

/* Make new bytes of a field from its own and those of another row. */
static void change_field(uint8_t *to, const uint8_t *other, uint32_t width, uint32_t how, uint32_t value)
{
	uint64_t v = 0;

	memcpy(&v, to, width);
	switch (how & 7) {
	case 0: v = value; break;
	case 1: v += (uint64_t)(int64_t)(int32_t)value; break;
	case 2: v = ~(uint64_t)0; break;
	case 3: v = 0; break;
	case 4: memcpy(&v, other, width); break;
	case 5: v ^= (uint64_t)1 << (value & 63) % (8 * width); break;
	case 6: memcpy(&v, other, width); v += (uint64_t)(int64_t)(int8_t)value; break;
	case 7: v = (uint64_t)value << (value & 31); break;
	}
	memcpy(to, &v, width);
}

static void change(const struct base *b, uint8_t *file, const uint8_t *c)
{
	static const uint8_t widths[] = { 1, 2, 4, 5, 8, 4, 1, 8 };
	struct table t = table_of(b, file, c[0]);
	uint32_t how = c[1], row = c[2] | c[3] << 8u, column = c[4] | c[5] << 8u, rows = 1;
	uint32_t other = c[6] | c[7] << 8u, value, width = widths[how >> 3 & 7];

	memcpy(&value, c + 8, 4);
	column %= t.bytes;
	if (width > t.bytes - column)
		width = t.bytes - column;
	if (how >= 192)		/* many rows, or a whole row */
		rows = 1 + (other & 1023);
	for (uint32_t i = 0; i < rows; i++) {
		uint32_t r = (row + i) % (t.of_pages ? b->count : t.rows);
		uint32_t o = (other + i) % (t.of_pages ? b->count : t.rows);

		r = t.of_pages ? b->programmed[r] : r;
		o = t.of_pages ? b->programmed[o] : o;
		if (how >> 6 == 2)	/* all bytes come from the other row */
			memmove(t.at + (size_t)r * t.bytes, t.at + (size_t)o * t.bytes, t.bytes);
		else
			change_field(t.at + (size_t)r * t.bytes + column,
				     t.at + (size_t)o * t.bytes + column, width, how, value);
	}
}

static void seal(const struct base *b, uint8_t *file)
{
	struct nand_array a = { .c = b->config };

	a.base.geo = b->config.geo;
	image_attach(&a, running, file + DRIVE_FILE_IMAGE_AT);
	for (uint32_t p = 0; p < a.pages; p++)
		if (cell_readable(cell_get(&a, p)))
			page_seal(&a, p);
}

static bool chosen(size_t i)
{
	const char *only = getenv("SLATE_FUZZ_DRIVE");
	char name[FUZZ_NAME_BYTES];

	fuzz_drive_name((uint32_t)i, name);
	return !only || !strncmp(name, only, strlen(only));
}

/* Change a setting that may change while the drive runs. Most values are accepted. */
static void change_setting(void)
{
	uint32_t count = 0;
	const struct knob *k;
	char text[64];

	while (ftl_online_knob(dev->ftl->ops, count))
		count++;
	if (!count)
		return;
	k = ftl_online_knob(dev->ftl->ops, (uint32_t)(roll() % count));
	snprintf(text, sizeof(text), "ftl.%s=%u", k->name, (uint32_t)(roll() % (k->high < 64 ? k->high : 64)));
	(void)!slate_set(dev, now_ns, text);
}

/* Something is left of each handle's reclaim unit, and no more than it holds. End some of them. */
static void use_handles(void)
{
	for (uint32_t i = 0; slate_powered(dev) && i < slate_handles(dev); i++) {
		struct ftl_handle h = slate_handle(dev, i);

		if (!h.left_bytes || h.left_bytes > h.unit_bytes)
			fault("what is left of a reclaim unit");
		if (roll() % 4 == 0 && slate_renew_handle(dev, now_ns, i) != h.left_bytes)
			fault("what a handle update returns");
	}
}

static void use(uint8_t flags)
{
	struct slate_order collect = { .command = SLATE_FORCE_GC, .arg = { flags >> 4 } };
	struct slate_cut_plan cut = { .when = SLATE_CUT_NOW, .seed = flags };
	char err[SLATE_ERR_BYTES];
	uint32_t result;

	slate_check(dev);
	read_logs();
	if (flags & 2)
		read_all();
	work(8);
	use_handles();
	if (flags & 4)
		(void)!slate_control(dev, now_ns, &collect, &result);
	if (flags & 4)
		change_setting();
	work(flags & 8 ? 24 : 4);
	slate_check(dev);
	read_logs();
	if (slate_power_cut(dev, now_ns, &cut, err))
		fault(err);
	now_ns++;
	(void)slate_step(dev, now_ns);
	if (slate_powered(dev))
		fault("the power is on after a cut");
	pending = 0;
	if (slate_power_on(dev, now_ns, err))
		return;
	use_handles();
	work(4);
	slate_check(dev);
}

/* Most often change bytes of one change; or give a change a copy, remove one, or change the work to come. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned int seed)
{
	size_t changes = size < HEAD_BYTES ? 0 : (size - HEAD_BYTES) / CHANGE_BYTES, room, at;
	uint8_t *list = data + HEAD_BYTES;

	if (most < HEAD_BYTES + CHANGE_BYTES)
		return LLVMFuzzerMutate(data, size, most);
	if (size < HEAD_BYTES)
		memset(data + size, 0, HEAD_BYTES - size);
	room = (most - HEAD_BYTES) / CHANGE_BYTES;
	changes = changes > room ? room : changes;
	dice = seed;
	while (!chosen(data[0] % FUZZ_DRIVES))
		data[0] = (uint8_t)roll();
	if (!changes || (roll() % 4 == 0 && changes < room)) {
		if (changes)
			memcpy(list + changes * CHANGE_BYTES, list + roll() % changes * CHANGE_BYTES, CHANGE_BYTES);
		else
			memset(list, 0, CHANGE_BYTES);
		changes++;
	} else if (roll() % 8 == 0 && changes > 1) {
		at = roll() % changes--;
		memmove(list + at * CHANGE_BYTES, list + changes * CHANGE_BYTES, CHANGE_BYTES);
	}
	if (roll() % 8 == 0) {
		data[1] = (uint8_t)roll();
		data[2] ^= (uint8_t)(1u << roll() % 8);
	} else {
		at = roll() % changes;
		LLVMFuzzerMutate(list + at * CHANGE_BYTES, CHANGE_BYTES, CHANGE_BYTES);
		if (roll() % 4 == 0)	/* otherwise the table stays the one that libFuzzer chose */
			list[at * CHANGE_BYTES] = (uint8_t)(roll() % TABLES);
	}
	return HEAD_BYTES + changes * CHANGE_BYTES;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t i = size ? data[0] % FUZZ_DRIVES : 0;
	char err[SLATE_ERR_BYTES] = "";
	struct base *b = &bases[i];
	uint8_t *file;
	uint32_t crc;
	bool sealed = true;

	if (size < HEAD_BYTES || !chosen(i))
		return -1;
	if (!b->file)
		make_base(i);
	if (ftruncate(fd, (off_t)b->bytes) || pwrite(fd, b->file, b->bytes, 0) != (ssize_t)b->bytes)
		fault("a drive cannot be written");
	file = mmap(NULL, b->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	for (size_t at = HEAD_BYTES; at + CHANGE_BYTES <= size; at += CHANGE_BYTES) {
		change(b, file, data + at);
		sealed = sealed && data[at] % TABLES != NOT_SEALED && data[at] % TABLES != SUMS;
	}
	if (sealed)
		seal(b, file);
	crc = (uint32_t)crc32(0, file, DRIVE_FILE_HEAD_BYTES - 4);
	memcpy(file + DRIVE_FILE_HEAD_BYTES - 4, &crc, 4);
	memcpy(file + DRIVE_FILE_HEAD_BYTES, file, DRIVE_FILE_HEAD_BYTES);
	munmap(file, b->bytes);
	dice = data[1];
	if (open_drive(NULL, NULL, data[2] & 1, err)) {
		if (!*err)
			fault("a drive is refused without a sentence");
		refused++;
		return 0;
	}
	opened++;
	use(data[2]);
	slate_close(dev);
	return 0;
}
