// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The disk of a drive file is full: writes fail with SSD_E_NOSPC, written data stay, the file can
 * be opened again, and writes succeed again when there is room. No store may raise SIGBUS, which
 * would end this program.
 *
 * The disk is a tmpfs of 6 MiB in a mount namespace of this process, so that it disappears with the
 * process; another file, the ballast, takes the rest of its room. The test is skipped if it may not
 * mount.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "drive_file.h"

#define UNIT 4096u
#define UNITS 2048u		/* 8 MiB */
#include "file_host.h"

#define DISK (6u << 20)

static const char shape[] =
	"[geometry]\nchannels=1\nchips_per_channel=1\ndies_per_chip=1\nplanes_per_die=1\n"
	"blocks_per_plane=100\npages_per_block=16\npage_bytes=8192\noob_bytes=256\n"
	"[timing]\nread_ns=50000\nprogram_ns=200000\nerase_ns=1000000\nbus_ps_per_byte=1000\n"
	"[ftl]\ncapacity_mib=8\nbuffer_units=16\ngc_start_blocks=4\ngc_stop_blocks=5\n";
static const char *const overcommit[] = { "memory.overcommit=yes", NULL };
static const char *const small[] = { "geometry.blocks_per_plane=32", "ftl.capacity_mib=2", NULL };

static char dir[] = "/tmp/slate-full-XXXXXX", path[64], ballast[64], ini[64], copy[64];

/* Write units from `first` on, as many as possible; returns their number. */
static uint32_t write_until_full(uint32_t first, uint32_t version)
{
	uint32_t n = 0;

	while (first + n < UNITS && write_unit(first + n, version) == SSD_OK)
		n++;
	return n;
}

/* Fill the disk except for `left` bytes. */
static void take_room(uint64_t left)
{
	int fd = open(ballast, O_WRONLY | O_CREAT, 0600);
	off_t at = lseek(fd, 0, SEEK_END);
	uint64_t step = 1 << 20;

	while (step >= 4096) {
		if (fallocate(fd, 0, at, (off_t)step))
			step /= 2;
		else
			at += (off_t)step;
	}
	EXPECT_EQ(ftruncate(fd, at - (off_t)left), 0);
	close(fd);
}

static void give_room(void)
{
	unlink(ballast);
}

static void forget(void)
{
	unlink(path);
	unlink(copy);
	give_room();
	memset(written, 0, sizeof(written));
}

static uint64_t disk_bytes(void)
{
	struct stat st;

	return stat(path, &st) ? 0 : (uint64_t)st.st_blocks * 512;
}

/* The drive is larger than the disk, and the disk becomes full. */
static void a_large_drive_fills_the_disk(void)
{
	uint32_t n;

	forget();
	take_room(2u << 20);
	EXPECT_EQ(open_drive(path, ini, false, overcommit), 0);
	n = write_until_full(0, 1);
	EXPECT(n > 100 && n < (2u << 20) / UNIT);
	EXPECT_EQ(write_unit(0, 2), SSD_E_NOSPC);
	EXPECT_EQ(io(FTL_FLUSH, 0), SSD_OK);		/* room was reserved for accepted writes */
	EXPECT_EQ(io(FTL_TRIM, UNITS - 1), SSD_OK);
	all_is_there(n + 8);
	slate_close(dev);
	EXPECT_EQ(open_drive(path, NULL, false, NULL), 0);
	EXPECT_EQ(write_unit(0, 2), SSD_E_NOSPC);
	all_is_there(n + 8);
	give_room();
	EXPECT(write_until_full(n, 1) > 100);
	EXPECT_EQ(io(FTL_FLUSH, 0), SSD_OK);
	all_is_there(UNITS);
	slate_close(dev);
	EXPECT_EQ(open_drive(path, NULL, false, NULL), 0);
	all_is_there(UNITS);
	slate_close(dev);
}

/* There was room for the whole drive when it was opened, and other files take it. */
static void others_fill_the_disk(void)
{
	forget();
	EXPECT_EQ(open_drive(path, ini, false, small), 0);
	for (uint32_t u = 0; u < 128; u++)		/* fills whole blocks */
		EXPECT_EQ(write_unit(u, 1), SSD_OK);
	EXPECT_EQ(io(FTL_FLUSH, 0), SSD_OK);
	take_room(0);
	EXPECT(write_until_full(128, 1) <= 64);		/* free space is checked at least every 64 writes */
	EXPECT_EQ(write_unit(0, 2), SSD_E_NOSPC);
	all_is_there(256);
	give_room();
	EXPECT_EQ(io(FTL_FLUSH, 0), SSD_OK);
	for (uint32_t k = 2; k < 6; k++)		/* GC erases blocks and frees disk space */
		for (uint32_t u = 0; u < 512; u++)
			EXPECT_EQ(write_unit(u, k), SSD_OK);
	EXPECT_EQ(io(FTL_FLUSH, 0), SSD_OK);
	all_is_there(512);
	slate_close(dev);
	EXPECT_EQ(open_drive(path, NULL, false, NULL), 0);
	all_is_there(512);
	slate_close(dev);
}

static void copy_file(void)
{
	static uint8_t buf[65536];
	int from = open(path, O_RDONLY), to = open(copy, O_RDWR | O_CREAT | O_TRUNC, 0600);
	struct stat st;
	ssize_t n;

	EXPECT_EQ(fstat(from, &st), 0);
	EXPECT_EQ(ftruncate(to, st.st_size), 0);
	for (off_t at = 0; (n = pread(from, buf, sizeof(buf), at)) > 0; at += n)
		for (ssize_t i = 0; i < n; i += 4096) {
			size_t len = n - i < 4096 ? (size_t)(n - i) : 4096;

			if (buf[i] || memcmp(buf + i, buf + i + 1, len - 1))
				EXPECT_EQ(pwrite(to, buf + i, len, at + i), len);
		}
	close(from);
	close(to);
}

/* I/Os that were accepted while there was room are programmed when there is none. */
static void pages_wait_in_memory(void)
{
	struct slate_dev *first;

	forget();
	EXPECT_EQ(open_drive(path, ini, false, small), 0);
	for (uint32_t u = 0; u < 32; u++)		/* fills a block */
		EXPECT_EQ(write_unit(u, 1), SSD_OK);
	EXPECT_EQ(io(FTL_FLUSH, 0), SSD_OK);
	EXPECT_EQ(write_unit(32, 1), SSD_OK);		/* half a page, in the write buffer */
	take_room(0);
	EXPECT_EQ(io(FTL_FLUSH, 0), SSD_E_NOSPC);
	EXPECT_EQ(io(FTL_FLUSH, 0), SSD_E_NOSPC);
	EXPECT_EQ(write_unit(1, 2), SSD_E_NOSPC);
	EXPECT_EQ(io(FTL_TRIM, 40), SSD_E_NOSPC);
	all_is_there(40);
	give_room();
	copy_file();					/* the state that a killed process would leave */
	first = dev;
	EXPECT(open_drive(copy, NULL, false, NULL) != SSD_OK);
	EXPECT(strstr(err, "ended while the disk was full") != NULL);
	dev = first;
	now = 1000000000;
	EXPECT_EQ(io(FTL_FLUSH, 0), SSD_OK);
	copy_file();
	all_is_there(40);
	slate_close(dev);
	EXPECT_EQ(open_drive(copy, NULL, false, NULL), 0);
	all_is_there(40);
	slate_close(dev);
}

/* On a tmpfs reading a hole takes room. The data written stay in memory, which is enough. */
static void an_ephemeral_drive_needs_no_room(void)
{
	uint64_t before;

	forget();
	EXPECT_EQ(open_drive(path, ini, false, small), 0);
	for (uint32_t u = 0; u < 100; u++)
		EXPECT_EQ(write_unit(u, 1), SSD_OK);
	EXPECT_EQ(io(FTL_FLUSH, 0), SSD_OK);
	slate_close(dev);
	take_room(0);
	before = disk_bytes();
	EXPECT_EQ(open_drive(path, NULL, true, NULL), 0);
	EXPECT_EQ(write_until_full(100, 2), 0);
	EXPECT_EQ(io(FTL_FLUSH, 0), SSD_OK);
	all_is_there(110);
	slate_close(dev);
	EXPECT_EQ(disk_bytes(), before);
}

static void no_room_for_the_tables(void)
{
	forget();
	take_room(40960);
	EXPECT_EQ(open_drive(path, ini, false, overcommit), SSD_E_NOSPC);
	EXPECT(strstr(err, "free some") != NULL);
	EXPECT_EQ(access(path, F_OK), -1);
}

/* The content of preconditioning takes no room (nand-emu/content.c), so a drive larger than the disk can be filled. */
static void filling_takes_no_room(void)
{
	const char *const fill[] = { "memory.overcommit=yes", "precondition.fill_permille=1000", NULL };

	forget();
	EXPECT_EQ(open_drive(path, ini, false, fill), 0);
	EXPECT(disk_bytes() < 1u << 20);
	EXPECT_EQ(write_unit(5, 1), SSD_OK);
	EXPECT_EQ(io(FTL_FLUSH, 0), SSD_OK);
	EXPECT(holds(5, 1));
	slate_close(dev);
}

/* The disk has less room than accepted writes may need. */
static void no_room_to_fill_it(void)
{
	const char *const fill[] = { "memory.overcommit=yes", "precondition.fill_permille=1000", NULL };

	forget();
	take_room(256u << 10);
	EXPECT_EQ(open_drive(path, ini, false, fill), SSD_E_NOSPC);
	EXPECT(strstr(err, "the disk is full") != NULL);
	EXPECT_EQ(access(path, F_OK), -1);
}

static bool make_disk(void)
{
	char size[32];

	snprintf(size, sizeof(size), "size=%u", DISK);
	return !unshare(CLONE_NEWNS) && !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
	       !mount("tmpfs", dir, "tmpfs", 0, size);
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);

	if (!mkdtemp(dir))
		return 1;
	if (!make_disk()) {
		printf("ok full_disk # SKIP a tmpfs cannot be mounted here: run the test as root\n");
		rmdir(dir);
		return 0;
	}
	snprintf(path, sizeof(path), "%s/drive.slate", dir);
	snprintf(copy, sizeof(copy), "%s/copy.slate", dir);
	snprintf(ballast, sizeof(ballast), "%s/ballast", dir);
	snprintf(ini, sizeof(ini), "%s/p.ini", dir);
	write_text(ini, shape);
	RUN(a_large_drive_fills_the_disk);
	RUN(others_fill_the_disk);
	RUN(pages_wait_in_memory);
	RUN(an_ephemeral_drive_needs_no_room);
	RUN(no_room_for_the_tables);
	RUN(filling_takes_no_room);
	RUN(no_room_to_fill_it);
	umount2(dir, MNT_DETACH);
	rmdir(dir);
	return test_result();
}
