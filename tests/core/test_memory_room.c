// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Memory runs out while a drive without a file, with memory.overcommit, grows (slate_room.c): writes fail with
 * SSD_E_NOSPC, reads, trims and flushes do not, erased blocks give their memory back, and writes succeed again when
 * there is memory. A drive that fits when it is opened, or holds all of its memory, is never refused.
 *
 * What the shell still wants (memory_wanted) is more than any machine has, or nothing, so the test itself takes no
 * memory. What the machine and its control groups leave (host_memory.c) is read from folders that the test makes.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host_memory.h"
#include "slate_dev.h"

#define UNIT 4096u
#define UNITS 4096u		/* 16 MiB */
#include "file_host.h"

#define MIB (1ull << 20)
#define BLOCK_PAGES 16u
#define PAGE_BYTES 8192u
#define BLOCKS 200u

static const char *const keys[] = {
	"geometry.channels=1", "geometry.chips_per_channel=1", "geometry.dies_per_chip=1", "geometry.planes_per_die=1",
	"geometry.blocks_per_plane=200", "geometry.pages_per_block=16", "geometry.page_bytes=8192",
	"geometry.oob_bytes=256", "timing.read_ns=50000", "timing.program_ns=200000", "timing.erase_ns=1000000",
	"timing.bus_ps_per_byte=1000", "ftl.capacity_mib=16", "ftl.buffer_units=16", "ftl.gc_start_blocks=60",
	"ftl.gc_stop_blocks=61", "memory.overcommit=yes", NULL
};

#define ALL (UINT64_MAX / 2)	/* more than any machine has */
static uint64_t wanted_bytes;

static uint64_t wanted(void *opaque, bool exact)
{
	(void)opaque, (void)exact;
	return wanted_bytes;
}

/* Open a drive that fits beside what the shell wants, or does not. */
static void open_in_memory(bool fits)
{
	const struct ftl_host host = { on_done, on_copy, NULL };
	struct slate_options o = { .overrides = keys, .memory_wanted = wanted };

	now = 0;
	wanted_bytes = fits ? 0 : ALL;
	memset(written, 0, sizeof(written));
	EXPECT_EQ(slate_open(&o, &host, &dev, err), 0);
	wanted_bytes = 0;
}

static uint32_t write_until_refused(uint32_t version)
{
	uint32_t n = 0;

	while (n < UNITS && write_unit(n, version) == SSD_OK)
		n++;
	return n;
}

/*
 * The drive looks once 4 MiB, 32 blocks, have memory, which is when the first page of the 32nd is stored: 31 blocks of
 * 32 units are full then. As many units as the write buffer has may follow.
 */
static void writes_fail_until_there_is_memory(void)
{
	struct slate_stats stats;
	uint32_t n;

	open_in_memory(false);
	wanted_bytes = ALL;
	n = write_until_refused(1);
	EXPECT(n > 31 * 32 && n <= 31 * 32 + 2 + 16);
	EXPECT_EQ(write_unit(0, 2), SSD_E_NOSPC);
	EXPECT_EQ(write_unit(1, 2), SSD_E_NOSPC);
	EXPECT_EQ(io(FTL_FLUSH, 0), SSD_OK);
	EXPECT_EQ(io(FTL_TRIM, UNITS - 1), SSD_OK);
	all_is_there(UNITS);
	EXPECT_EQ(slate_refused(dev), 3);
	slate_get_stats(dev, &stats);
	EXPECT_EQ(stats.ftl.op[FTL_WRITE].errors, 3);
	EXPECT_EQ(stats.ftl.op[FTL_WRITE].ios, n);	/* those that the drive served */
	EXPECT_EQ(stats.ftl.op[FTL_READ].errors + stats.ftl.op[FTL_TRIM].errors + stats.ftl.op[FTL_FLUSH].errors, 0);
	wanted_bytes = 0;
	for (n = 3; write_unit(0, 3) != SSD_OK; n++)	/* after 64 refused writes the next one looks again */
		;
	EXPECT_EQ(n, 64);
	EXPECT_EQ(write_until_refused(4), UNITS);
	all_is_there(UNITS);
	slate_close(dev);
}

static void a_drive_that_fits_is_not_watched(void)
{
	open_in_memory(true);
	wanted_bytes = ALL;
	EXPECT_EQ(write_until_refused(1), UNITS);
	EXPECT_EQ(slate_refused(dev), 0);
	slate_close(dev);
}

/* Overwriting takes no memory once each block has some. */
static void a_drive_that_holds_all_is_not_refused(void)
{
	open_in_memory(false);
	for (uint32_t version = 1; dev->memory.holes; version++)
		EXPECT_EQ(write_until_refused(version), UNITS);
	wanted_bytes = ALL;
	EXPECT_EQ(write_until_refused(20), UNITS);
	EXPECT_EQ(write_until_refused(21), UNITS);
	EXPECT_EQ(slate_refused(dev), 0);
	all_is_there(UNITS);
	slate_close(dev);
}

static bool is_blank(uint32_t block)
{
	const void *data, *oob;

	for (uint32_t i = 0; i < BLOCK_PAGES; i++)
		if (dev->nand->ops->peek(dev->nand, (ppn_t){ block * BLOCK_PAGES + i }, &data, &oob) != NAND_ERASED)
			return false;
	return true;
}

static uint32_t resident_pages(uint32_t block)
{
	uint8_t *payload = (uint8_t *)slate_image(dev) + nand_array_table_bytes(&dev->profile.array);
	uint64_t bytes = (uint64_t)BLOCK_PAGES * PAGE_BYTES;
	uintptr_t from = ((uintptr_t)payload + block * bytes + 4095) / 4096 * 4096;
	uintptr_t to = ((uintptr_t)payload + (block + 1) * bytes) / 4096 * 4096;
	unsigned char there[BLOCK_PAGES * PAGE_BYTES / 4096 + 1];
	uint32_t n = 0;

	EXPECT_EQ(mincore((void *)from, to - from, there), 0);
	for (uint64_t i = 0; i < (to - from) / 4096; i++)
		n += there[i] & 1;
	return n;
}

/* 128 blocks of data and 32 of new versions leave 40 free, so GC has erased some, and others were never written to. */
static void erased_blocks_give_memory_back(void)
{
	uint32_t blanks = 0;

	open_in_memory(false);
	EXPECT_EQ(write_until_refused(1), UNITS);
	for (uint32_t u = 0; u < 1024; u++)
		EXPECT_EQ(write_unit(u * 3, 2), SSD_OK);
	EXPECT(dev->memory.holes > 0);
	wanted_bytes = ALL;
	dev->memory.grown = UNITS * UNIT;	/* the next write looks */
	EXPECT_EQ(write_unit(0, 5), SSD_E_NOSPC);
	for (uint32_t b = 0; b < BLOCKS; b++)
		if (dev->nand->ops->erase_count(dev->nand, (pbn_t){ b }) && is_blank(b)) {
			EXPECT_EQ(resident_pages(b), 0);
			blanks++;
		}
	EXPECT(blanks >= 1);
	all_is_there(UNITS);
	slate_close(dev);
}

/* ---- what the machine leaves ------------------------------------------------ */

static char root[] = "/tmp/slate-memory-XXXXXX";

/* Make a file, and its folders, below the root. */
static void make(const char *name, const char *text)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", root, name);
	for (char *at = path + strlen(root) + 1; (at = strchr(at, '/')); at++) {
		*at = '\0';
		EXPECT(!mkdir(path, 0700) || errno == EEXIST);
		*at = '/';
	}
	write_text(path, text);
}

static uint64_t left_on(const char *machine)
{
	char proc[64], groups[64];

	snprintf(proc, sizeof(proc), "%s/%s/proc", root, machine);
	snprintf(groups, sizeof(groups), "%s/%s/cgroup", root, machine);
	return host_memory_free_in(proc, groups);
}

static void without_groups_the_machine_alone(void)
{
	EXPECT_EQ(left_on("none"), UINT64_MAX);
	make("plain/proc/meminfo", "MemTotal:  2048000 kB\nMemFree: 1 kB\nMemAvailable:   1024000 kB\n");
	EXPECT_EQ(left_on("plain"), 1024000ull << 10);
	make("plain/proc/self/cgroup", "0::/\n");
	EXPECT_EQ(left_on("plain"), 1024000ull << 10);
	make("plain/proc/self/cgroup", "4:memory:\nnonsense\n1:cpu:/a\n");
	EXPECT_EQ(left_on("plain"), 1024000ull << 10);
}

static void groups_of_version_2(void)
{
	make("v2/proc/meminfo", "MemAvailable:   1024000 kB\n");
	make("v2/proc/self/cgroup", "0::/a/b\n");
	make("v2/cgroup/a/b/memory.max", "max\n");
	make("v2/cgroup/a/b/memory.current", "1048576\n");
	EXPECT_EQ(left_on("v2"), 1024000ull << 10);
	make("v2/cgroup/a/memory.max", "104857600\n");			/* 100 MiB, of which 70 are used, 30 by files */
	make("v2/cgroup/a/memory.current", "73400320\n");
	make("v2/cgroup/a/memory.stat", "anon 1\ninactive_file 20971520\nactive_file 10485760\n");
	EXPECT_EQ(left_on("v2"), 60 * MIB);
	make("v2/cgroup/a/b/memory.max", "2097152\n");
	EXPECT_EQ(left_on("v2"), 1 * MIB);
	make("v2/cgroup/a/b/memory.max", "1\n");
	EXPECT_EQ(left_on("v2"), 0);
}

static void groups_of_version_1(void)
{
	make("v1/proc/meminfo", "MemAvailable:   1024000 kB\n");
	make("v1/proc/self/cgroup", "9:memoryless:/a\n4:cpu,memory:/a\n0::/\n");
	make("v1/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
	make("v1/cgroup/memory/memory.usage_in_bytes", "1\n");
	EXPECT_EQ(left_on("v1"), 1024000ull << 10);
	make("v1/cgroup/memory/a/memory.limit_in_bytes", "10485760\n");
	make("v1/cgroup/memory/a/memory.usage_in_bytes", "5242880\n");
	make("v1/cgroup/memory/a/memory.stat", "inactive_file 7\ntotal_inactive_file 1048576\n");
	EXPECT_EQ(left_on("v1"), 6 * MIB);
}

/* The paths are the machine's, and only the container's own group is mounted. */
static void a_container_sees_its_group_alone(void)
{
	make("box/proc/self/cgroup", "0::/system/box\n");
	make("box/cgroup/memory.max", "3145728\n");
	make("box/cgroup/memory.current", "1048576\n");
	EXPECT_EQ(left_on("box"), 2 * MIB);
}

int main(void)
{
	char command[64];

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!mkdtemp(root))
		return 1;
	RUN(writes_fail_until_there_is_memory);
	RUN(a_drive_that_fits_is_not_watched);
	RUN(a_drive_that_holds_all_is_not_refused);
	RUN(erased_blocks_give_memory_back);
	RUN(without_groups_the_machine_alone);
	RUN(groups_of_version_2);
	RUN(groups_of_version_1);
	RUN(a_container_sees_its_group_alone);
	snprintf(command, sizeof(command), "rm -rf %s", root);
	return system(command) || test_result();
}
