// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test the times of a drive with power-loss protection (save.h), worked out by hand; what it tells; what is refused.
 * test_save has the losses of power at every command.
 *
 * The drive has one die and no overheads. A page of 8192 + 256 bytes, two units, is on the bus for 8448 ns and in its
 * cell phase for 200000 ns more.
 */
#define _GNU_SOURCE
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "slate_control.h"
#include "slate_dev.h"
#include "test.h"

#define UNIT 4096u
#define PAGE_NS 208448u		/* a page's program with its transfer */
#define IOS 16u

static const char *const shape[] = {
	"geometry.channels=1", "geometry.chips_per_channel=1", "geometry.dies_per_chip=1",
	"geometry.planes_per_die=1", "geometry.blocks_per_plane=32", "geometry.pages_per_block=8",
	"geometry.page_bytes=8192", "geometry.oob_bytes=256", "timing.read_ns=50000",
	"timing.program_ns=200000", "timing.erase_ns=1000000", "timing.bus_ps_per_byte=1000",
	"timing.cmd_ns=0", "ftl.overhead_ns=0", "ftl.buffer_ns=700", "ftl.map_ns=0",
	"ftl.capacity_mib=1", "ftl.gc_start_blocks=4", "ftl.gc_stop_blocks=5", "ftl.buffer_units=8",
	"ftl.power_protected=yes", "drive.name=protected test",
};

static struct slate_dev *dev;
static uint64_t now;
static char err[SLATE_ERR_BYTES];
static const char *also[5];	/* further settings of a drive, beside those of `shape`; a NULL ends them */
static struct ftl_io ios[IOS];
static uint32_t told[IOS];	/* number of calls of done() for each I/O */
static uint8_t buf[IOS][UNIT];
static char path[48], profile[64];

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

static int open_with(const char *extra, const char *backing)
{
	static const struct ftl_host host = { on_done, on_copy, NULL };
	const char *all[sizeof(shape) / sizeof(*shape) + sizeof(also) / sizeof(*also) + 2];
	struct slate_options o = { .overrides = all, .backing = backing,
				   .profile = backing ? profile : NULL };
	size_t n = sizeof(shape) / sizeof(*shape);

	memcpy(all, shape, sizeof(shape));
	for (size_t i = 0; i < sizeof(also) / sizeof(*also) && also[i]; i++)
		all[n++] = also[i];
	all[n++] = extra;
	all[n] = NULL;
	now = 0;
	return slate_open(&o, &host, &dev, err);
}

static void make(const char *extra)
{
	if (open_with(extra, NULL)) {
		printf("%s\n", err);
		exit(1);
	}
}

static void submit(uint32_t i, enum ftl_op op, uint32_t unit, uint8_t value)
{
	ios[i] = (struct ftl_io){ .op = op, .offset = (uint64_t)unit * UNIT, .bytes = UNIT, .fua = value == 77 };
	if (op == FTL_WRITE)
		memset(buf[i], value, UNIT);
	told[i] = 0;
	slate_submit(dev, now, &ios[i]);
}

static void run_until(uint64_t end)
{
	uint64_t next = slate_step(dev, now);

	while (next != FTL_IDLE && next <= end) {
		now = next;
		next = slate_step(dev, now);
	}
	if (end != FTL_IDLE)
		now = end;
}

static uint8_t read_unit(uint32_t unit)
{
	submit(IOS - 1, FTL_READ, unit, 0);
	while (!told[IOS - 1]) {
		now = slate_step(dev, now);
		SSD_ASSERT(now != FTL_IDLE);
	}
	now = ios[IOS - 1].done_ns > now ? ios[IOS - 1].done_ns : now;
	for (uint32_t i = 1; i < UNIT; i++)
		EXPECT_EQ(buf[IOS - 1][i], buf[IOS - 1][0]);
	return buf[IOS - 1][0];
}

static struct slate_power power(void)
{
	struct slate_power p;

	slate_get_power(dev, &p);
	return p;
}

static void cut_at(uint64_t at)
{
	const struct slate_cut_plan p = { SLATE_CUT_AT_NS, at, 1 };

	EXPECT_EQ(slate_power_cut(dev, now, &p, err), SSD_OK);
	run_until(at);
	EXPECT(!slate_powered(dev));
}

/* Flush and FUA end at the speed of the buffer, and close no page: a flush at once, a write after buffer_ns. */
static void flush_costs_nothing(void)
{
	struct slate_stats s;

	make(NULL);
	EXPECT(!slate_has_write_cache(dev));
	submit(0, FTL_WRITE, 5, 1);
	submit(1, FTL_FLUSH, 0, 0);
	submit(2, FTL_WRITE, 6, 77);	/* FUA */
	submit(3, FTL_FLUSH, 0, 0);
	submit(4, FTL_WRITE, 7, 2);
	run_until(700);
	EXPECT_EQ(told[0] + told[1] + told[2] + told[3] + told[4], 5);
	EXPECT_EQ(ios[0].done_ns, 700);
	EXPECT_EQ(ios[1].done_ns, 0);
	EXPECT_EQ(ios[2].done_ns, 700);
	EXPECT_EQ(ios[3].done_ns, 0);
	run_until(FTL_IDLE);
	slate_get_stats(dev, &s);
	EXPECT_EQ(s.ftl.pad_units, 0);
	EXPECT_EQ(s.ftl.host_units, 2);	/* the third unit waits for the rest of its page */
	slate_close(dev);
	make("ftl.power_protected=no");
	EXPECT(slate_has_write_cache(dev));
	submit(0, FTL_WRITE, 5, 1);
	submit(1, FTL_FLUSH, 0, 0);
	run_until(FTL_IDLE);
	EXPECT_EQ(ios[1].done_ns, PAGE_NS);
	slate_close(dev);
}

/*
 * Five units at time 0: two pages and a half, of which the first is being programmed when the power fails at 100000.
 * The capacitors let it end at 208448, and program the second and, padded, the third.
 */
static void times_of_a_save(void)
{
	struct slate_health h;

	make(NULL);
	for (uint32_t i = 0; i < 5; i++)
		submit(i, FTL_WRITE, 10 + i, (uint8_t)(20 + i));
	run_until(50000);
	for (uint32_t i = 0; i < 5; i++)
		EXPECT_EQ(told[i], 1);
	submit(5, FTL_READ, 200, 0);		/* it is lost with its host */
	cut_at(100000);
	EXPECT_EQ(power().save.ns, 3 * PAGE_NS - 100000);
	EXPECT_EQ(power().save.ops[NAND_PROGRAM], 2);
	EXPECT_EQ(power().save.ops[NAND_READ] + power().save.ops[NAND_ERASE] + power().save.ops[NAND_COPYBACK], 0);
	EXPECT_EQ(power().save.left_pages, 0);
	EXPECT_EQ(power().torn[NAND_PROGRAM] + power().undone[NAND_PROGRAM], 0);
	slate_get_health(dev, &h);
	EXPECT_EQ(h.unsafe_shutdowns, 1);
	EXPECT_EQ(h.saved, 1);
	EXPECT_EQ(h.unsaved, 0);
	now = 200000;			/* the capacitors still work */
	EXPECT_EQ(slate_power_on(dev, now, err), SSD_OK);
	EXPECT_EQ(power().on_ns, 3 * PAGE_NS);
	EXPECT(power().ready_ns > 3 * PAGE_NS);
	slate_check(dev);
	for (uint32_t i = 0; i < 5; i++)
		EXPECT_EQ(read_unit(10 + i), 20 + i);
	EXPECT(now > power().ready_ns);
	slate_close(dev);
}

/* An idle drive has nothing to save: the array loses its power at once. */
static void nothing_to_save(void)
{
	struct slate_health h;

	make(NULL);
	submit(0, FTL_WRITE, 1, 9);
	submit(1, FTL_WRITE, 2, 9);
	run_until(FTL_IDLE);
	EXPECT_EQ(now, PAGE_NS);
	slate_shut_down(dev);
	cut_at(300000);
	EXPECT_EQ(power().save.ns, 0);
	EXPECT_EQ(power().save.ops[NAND_PROGRAM], 0);
	slate_get_health(dev, &h);
	EXPECT_EQ(h.unsafe_shutdowns + h.saved + h.unsaved, 0);
	slate_close(dev);
}

/*
 * Energy for 1,133,792 ns: a program, an erase of 100,000 ns, and four programs with their transfers. Four programs
 * fail after the first page's, so at 1,143,792 ns, within the sixth program, the capacitors are empty, and three pages
 * of four are lost.
 */
static void energy_is_used_up(void)
{
	struct slate_order fault = { .command = SLATE_FAULT_ADD, .arg = { SLATE_FAULT_PROGRAM, 1, SLATE_ANY_DIE } };
	struct slate_health h;
	uint32_t result;

	also[0] = "timing.erase_ns=100000";
	make("ftl.hold_up_ns=1133792");
	for (uint32_t i = 2; i < 6; i++) {
		fault.arg[1] = i;
		EXPECT_EQ(slate_control(dev, now, &fault, &result), SLATE_DONE);
	}
	for (uint32_t i = 0; i < 8; i++)
		submit(i, FTL_WRITE, 10 + i, (uint8_t)(20 + i));
	cut_at(10000);
	EXPECT_EQ(power().save.ns, 1133792);
	EXPECT_EQ(power().save.ops[NAND_PROGRAM], 5);
	EXPECT_EQ(power().save.left_pages, 3);
	EXPECT_EQ(power().torn[NAND_PROGRAM], 1);
	slate_get_health(dev, &h);
	EXPECT_EQ(h.unsafe_shutdowns, 1);
	EXPECT_EQ(h.saved, 0);
	EXPECT_EQ(h.unsaved, 1);
	EXPECT_EQ(slate_power_on(dev, 10000, err), SSD_OK);
	EXPECT_EQ(power().on_ns, 1143792);
	EXPECT_EQ(read_unit(10), 20);
	EXPECT_EQ(read_unit(11), 21);
	for (uint32_t i = 4; i < 8; i++)
		EXPECT_EQ(read_unit(10 + i), 0);
	slate_close(dev);
	also[0] = NULL;
}

/*
 * A page has two units. An atomic write takes at most a quarter of the buffer and 128 KiB; one page of the buffer may
 * be open, and a write of n units may touch n + 1.
 */
static void atomic_writes(void)
{
	static const struct { const char *setting; uint32_t units; } want[] = {
		{ "ftl.buffer_units=4", 1 }, { "ftl.buffer_units=8", 2 }, { "ftl.buffer_units=15", 2 },
		{ "ftl.buffer_units=16", 4 }, { "ftl.buffer_units=127", 16 }, { "ftl.buffer_units=128", 32 },
		{ "ftl.buffer_units=4096", 32 }, { "ftl.power_protected=no", 1 },
	};

	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		struct slate_sizes s;

		make(want[i].setting);
		slate_get_sizes(dev, &s);
		EXPECT_EQ(s.atomic, want[i].units * UNIT);
		slate_close(dev);
	}
}

/* A page has two units. The size of atomic writes is a power of two also where a unit is none. */
static void atomic_writes_of_odd_units(void)
{
	static const struct { uint32_t unit, buffer_units, bytes; } want[] = {
		{ 512, 8, 1024 }, { 1536, 4, 1536 }, { 1536, 8, 2048 }, { 6144, 11, 8192 }, { 6144, 12, 16384 },
		{ 6144, 32, 32768 }, { 6144, 87, 65536 }, { 6144, 88, 131072 }, { 6144, 4096, 131072 },
	};

	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		struct ftl_config c = { .unit_bytes = want[i].unit, .buffer_units = want[i].buffer_units,
					.power_protected = true };
		struct nand_geometry g = { .page_bytes = 2 * want[i].unit };

		EXPECT_EQ(ftl_list[0]->atomic_bytes(&c, &g), want[i].bytes);
		c.power_protected = false;
		EXPECT_EQ(ftl_list[0]->atomic_bytes(&c, &g), want[i].unit);
	}
}

/* Make the profile, and a name for a drive file. */
static void begin_file(void)
{
	FILE *out;
	int fd;

	snprintf(path, sizeof(path), "/tmp/slate-protected-XXXXXX");
	fd = mkstemp(path);
	SSD_ASSERT(fd >= 0);
	close(fd);
	unlink(path);
	snprintf(profile, sizeof(profile), "%s.ini", path);
	out = fopen(profile, "w");
	SSD_ASSERT(out);
	for (size_t i = 0; i < sizeof(shape) / sizeof(*shape); i++) {
		const char *dot = strchr(shape[i], '.');

		fprintf(out, "[%.*s]\n%s\n", (int)(dot - shape[i]), shape[i], dot + 1);
	}
	fclose(out);
}

static void open_file(const char *extra)
{
	if (open_with(extra, path)) {
		printf("%s\n", err);
		exit(1);
	}
}

static void end_file(void)
{
	unlink(path);
	unlink(profile);
}

/* Closing a drive file is a loss of power: what was written without a flush is there at the next opening. */
static void closed_without_a_flush(void)
{
	struct slate_health h;

	begin_file();
	for (uint32_t round = 0; round < 3; round++) {
		open_file(NULL);
		for (uint32_t i = 0; i < 3 * round; i++)
			EXPECT_EQ(read_unit(10 + i), 40 + i);
		slate_get_health(dev, &h);
		EXPECT_EQ(h.unsafe_shutdowns, round);
		EXPECT_EQ(h.saved, round);
		for (uint32_t i = 3 * round; i < 3 * round + 3; i++)
			submit(i, FTL_WRITE, 10 + i, (uint8_t)(40 + i));
		run_until(now + 1000);
		slate_close(dev);
	}
	end_file();
}

/* Call in another process, then close the drive; returns how that ended and puts the start of its stderr into said. */
static int close_and_hear(void (*call)(void), char said[512])
{
	int ends[2], status;
	size_t n = 0;
	ssize_t got;
	pid_t pid;

	SSD_ASSERT(!pipe(ends));
	fflush(stdout);
	pid = fork();
	SSD_ASSERT(pid >= 0);
	if (!pid) {
		call();
		dup2(ends[1], STDERR_FILENO);
		slate_close(dev);
		_exit(test_result());
	}
	close(ends[1]);
	while (n < 511 && (got = read(ends[0], said + n, 511 - n)) > 0)
		n += (size_t)got;
	said[n] = '\0';
	close(ends[0]);
	SSD_ASSERT(waitpid(pid, &status, 0) == pid);
	return status;
}

static void open_only(void)
{
	open_file(NULL);
}

/* The mount ends after its last command began. */
static void closed_at_once(void)
{
	char said[512];

	begin_file();
	for (uint32_t round = 0; round < 2; round++) {
		EXPECT_EQ(close_and_hear(open_only, said), 0);
		EXPECT_EQ(said[0], 0);
	}
	end_file();
}

static void use_up_energy(void)
{
	struct slate_order fault = { .command = SLATE_FAULT_ADD, .arg = { SLATE_FAULT_PROGRAM, 1, SLATE_ANY_DIE } };
	uint32_t result;

	also[0] = "timing.erase_ns=100000";
	open_file("ftl.hold_up_ns=1133792");
	for (uint32_t i = 2; i < 6; i++) {
		fault.arg[1] = i;
		EXPECT_EQ(slate_control(dev, now, &fault, &result), SLATE_DONE);
	}
	for (uint32_t i = 0; i < 8; i++)
		submit(i, FTL_WRITE, 10 + i, (uint8_t)(20 + i));
	run_until(10000);
}

/* The case of energy_is_used_up() at a close: the user is told of the three pages. */
static void closed_with_too_little_energy(void)
{
	char said[512], expected[512];

	begin_file();
	EXPECT_EQ(close_and_hear(use_up_energy, said), 0);
	snprintf(expected, sizeof(expected), "slate: drive file %s: the capacitors' energy or the free blocks did "
		 "not suffice at the close: 3 pages of the write buffer are lost\n", path);
	EXPECT(!strcmp(said, expected));
	end_file();
}

static void fails(void *d, uint64_t now_ns, const struct nand_cmd *cmds, unsigned int count)
{
	(void)d;
	(void)now_ns;
	(void)cmds;
	SSD_ASSERT(!count);
}

static void prepare_to_fail(void)
{
	open_file(NULL);
	submit(0, FTL_WRITE, 10, 40);
	run_until(now + 1000);
	slate_set_hooks(dev, fails);
}

/* If this process made the drive, a failed assertion during the save is a fault of the program, so it aborts. */
static void assertion_at_the_close(void)
{
	char said[512];

	begin_file();
	EXPECT(WIFSIGNALED(close_and_hear(prepare_to_fail, said)));
	EXPECT(strstr(said, "assertion failed"));
	EXPECT(!strstr(said, "contradicts itself"));
	end_file();
	begin_file();
	open_file(NULL);
	slate_close(dev);
	EXPECT_EQ(close_and_hear(prepare_to_fail, said), 0);
	EXPECT(strstr(said, "contradicts itself"));
	EXPECT(!strstr(said, "suffice"));
	end_file();
}

/* A save that did not end has no counts: they began as minus those of all commands before it. */
static void assertion_during_a_save(void)
{
	const struct slate_cut_plan p = { SLATE_CUT_AT_NS, 10000000, 1 };

	begin_file();
	open_file(NULL);
	slate_close(dev);
	open_file(NULL);
	for (uint32_t i = 0; i < 8; i++)
		submit(i, FTL_WRITE, 10 + i, 40);
	run_until(9990000);
	submit(0, FTL_WRITE, 10, 41);
	EXPECT_EQ(slate_power_cut(dev, now, &p, err), SSD_OK);
	slate_set_hooks(dev, fails);
	run_until(10000000);
	EXPECT(!slate_powered(dev));
	EXPECT_EQ(power().cuts, 1);
	EXPECT_EQ(power().save.ns, 0);
	EXPECT_EQ(power().save.left_pages, 0);
	for (unsigned int op = 0; op < NAND_NOPS; op++)
		EXPECT_EQ(power().save.ops[op], 0);
	slate_close(dev);
	end_file();
}

/* An erase (1000000) and four programs of 200000 are the least energy for eight units, two a page, on one die. */
static void refusals(void)
{
	static const struct { const char *set, *says; } bad[] = {
		{ "ftl.hold_up_ns=2833791", "set hold_up_ns to 0, or raise it to 2833792 or more" },
		{ "ftl.buffer_units=0", "power_protected must be no with buffer_units = 0" },
	};

	for (uint32_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		EXPECT_EQ(open_with(bad[i].set, NULL), SSD_E_INVAL);
		EXPECT(strstr(err, bad[i].says));
	}
	make("ftl.hold_up_ns=2833792");
	slate_close(dev);
	also[0] = "timing.erase_ns=1000000000";
	EXPECT_EQ(open_with("ftl.hold_up_ns=1000000000", NULL), SSD_E_INVAL);
	EXPECT(strstr(err, ", since raising it cannot help: 2000833792 ns would be needed"));
	also[0] = NULL;
}

/*
 * The least energy that is accepted: time for an erase of 1,000,000 ns that is under way, one of each block that may
 * be opened, and what follows. A page takes 8448 ns on the bus and 200,000 in its cell phase.
 */
static void least_energy(void)
{
	static const struct { const char *also[5]; uint32_t ns; } least[] = {
		/* one program on each of four dies: four pages pass the channel, the last is programmed */
		{ { "geometry.chips_per_channel=4" }, 2000000 + 4 * 8448 + 200000 },
		/* a bus 20 times slower, two rounds of four pages each: the channel has more to do than a die */
		{ { "geometry.chips_per_channel=4", "timing.bus_ps_per_byte=20000", "ftl.buffer_units=16" },
		  2000000 + 8 * 168960 + 200000 },
		/* four pages on a die of two planes: a command programs two pages at once, or (multiplane=no) one */
		{ { "geometry.planes_per_die=2" }, 3000000 + 2 * (2 * 8448 + 200000) },
		{ { "geometry.planes_per_die=2", "ftl.multiplane=no" }, 3000000 + 4 * (8448 + 200000) },
		/* a word line of three pages is one program: two of them for six pages */
		{ { "geometry.bits_per_cell=3", "geometry.one_shot=yes", "geometry.pages_per_block=24",
		    "ftl.buffer_units=12" },
		  2000000 + 2 * (3 * 8448 + 200000) },
		/* four LSB pages require two parity pages, which may need an erase of their own block first */
		{ { "geometry.bits_per_cell=2", "geometry.order=fps", "geometry.paired_loss=yes", "ftl.type=parity" },
		  3000000 + (4 + 2) * (8448 + 200000) },
		/* without a buffer: the pages of three slots, and one of the unit in the engine */
		{ { "ftl.type=dac", "ftl.unit_bytes=8192", "ftl.buffer_units=0", "ftl.reference_bytes=65536" },
		  2000000 + 4 * (8448 + 200000) },
		/* four open blocks, each with an LSB page without its parity page: one for each of four pages */
		{ { "geometry.bits_per_cell=2", "geometry.order=fps", "geometry.paired_loss=yes", "ftl.type=rtf",
		    "ftl.active_blocks=4" }, 6000000 + (4 + 4) * (8448 + 200000) },
		/* twelve buffered pages may all be of one reclaim group: it has one die of four, or two */
		{ { "geometry.chips_per_channel=4", "ftl.placement_handles=1", "ftl.placement_groups=4",
		    "ftl.buffer_units=24" }, 3000000 + 12 * (8448 + 200000) },
		{ { "geometry.chips_per_channel=4", "ftl.placement_handles=1", "ftl.placement_groups=2",
		    "ftl.buffer_units=24" }, 2000000 + 6 * (8448 + 200000) + 8448 },
	};

	for (size_t i = 0; i < sizeof(least) / sizeof(*least); i++) {
		char set[40], says[40];

		snprintf(says, sizeof(says), "or raise it to %u or more", least[i].ns);
		memcpy(also, least[i].also, sizeof(also));
		for (uint32_t less = 0; less < 2; less++) {
			snprintf(set, sizeof(set), "ftl.hold_up_ns=%u", least[i].ns - less);
			EXPECT_EQ(open_with(set, NULL), less ? SSD_E_INVAL : SSD_OK);
			if (less)
				EXPECT(strstr(err, says));
			else
				slate_close(dev);
		}
	}
	memset(also, 0, sizeof(also));
}

int main(void)
{
	RUN(flush_costs_nothing);
	RUN(times_of_a_save);
	RUN(nothing_to_save);
	RUN(energy_is_used_up);
	RUN(atomic_writes);
	RUN(atomic_writes_of_odd_units);
	RUN(closed_without_a_flush);
	RUN(closed_at_once);
	RUN(closed_with_too_little_energy);
	RUN(assertion_at_the_close);
	RUN(assertion_during_a_save);
	RUN(refusals);
	RUN(least_energy);
	return test_result();
}
