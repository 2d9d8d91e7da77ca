// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * records - make durable records by one way of the system's calls, and check afterwards that they are there.
 *
 *   records work  WHERE WAY SEED REPORT   until the power is cut
 *   records check WHERE WAY SEED DURABLE  after it; the file DURABLE has the numbers reported before the cut
 *
 * Record n has 1 to 8 KiB, a function of the seed and n. WHERE is a directory; with atomic and split it may be a block
 * device, or for check an image. After a record's calls have succeeded, "n T\n" is written to REPORT; T is the
 * time-stamp counter, in virtual time the drive's clock in ns. What the calls promise is in cuts/calls.sh.
 *
 *   fsync, fdatasync, odsync, osync, dsync   append the record to the file "log" (odsync, osync: a file opened with
 *                             O_DSYNC, O_SYNC; dsync: RWF_DSYNC)
 *   rename    write the record to "new", fsync it, rename it to "fN", N = n mod 8, fsync the directory
 *   replace   the same without fsync of the directory; the record must be whole, and need not be the last one
 *   lazy      the same without any fsync; likewise
 *   atomic    write 16 KiB with RWF_ATOMIC, O_DIRECT and RWF_DSYNC at one of 64 places of "log", or of the block device
 *   split     the same without RWF_ATOMIC: the write under way at the cut may be there in part
 *
 * On zonefs (WHERE has seq/0) the first five append record n, of 1 to 4 blocks, to seq/N, N = n mod 4, with O_DIRECT. A
 * file without room for a record is first truncated to 0, which resets its zone.
 *
 * Exit status of check: 1 a record that was reported is missing; 2 one is there in part; 4 an error.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#ifndef RWF_ATOMIC
#define RWF_ATOMIC 0x40
#endif
#define RECORD_MAX 8192u
#define ATOM 16384u
#define SECTOR 512u
#define PLACES 64u
#define NAMES 8u
#define ZONES 4u
#define BLOCK 4096u

enum { GOOD, LOST, TORN, FAILED = 4 };
enum way { FSYNC, FDATASYNC, ODSYNC, OSYNC, DSYNC, RENAME, REPLACE, LAZY, ATOMIC, SPLIT, WAYS };

static const char *const names[WAYS] = { "fsync", "fdatasync", "odsync", "osync", "dsync", "rename", "replace", "lazy",
					 "atomic", "split" };

static const int flags[WAYS] = { [ODSYNC] = O_DSYNC, [OSYNC] = O_SYNC, [ATOMIC] = O_DIRECT, [SPLIT] = O_DIRECT };

static uint64_t seed;
static enum way way;
static bool zonefs;
static uint8_t *buf, *want;		/* ATOM bytes, aligned for O_DIRECT */

static void die(const char *what)
{
	fprintf(stderr, "records: %s: %s\n", what, strerror(errno));
	exit(FAILED);
}

static int say(int status, const char *what, uint64_t n)
{
	printf("record %llu %s\n", (unsigned long long)n, what);
	return status;
}

static uint64_t mix(uint64_t z)			/* splitmix64 */
{
	z += 0x9e3779b97f4a7c15u;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static uint32_t size_of(uint64_t n)
{
	if (zonefs)
		return BLOCK * (1 + (uint32_t)(mix(seed ^ n) % (ATOM / BLOCK)));
	return way >= ATOMIC ? ATOM : 1024 + (uint32_t)(mix(seed ^ n) % (RECORD_MAX - 1023));
}

/* Fill the buffer with record n, whose first 8 bytes are its number. */
static void fill(uint64_t n, uint8_t *to)
{
	uint32_t bytes = size_of(n);

	for (uint32_t i = 0; i < bytes; i += 8) {
		uint64_t word = i ? mix(seed + n * 0x10001u + i) : n;

		memcpy(to + i, &word, bytes - i < 8 ? bytes - i : 8);
	}
}

static uint32_t place_of(uint64_t n)
{
	return (uint32_t)(mix(n ^ (seed << 20)) % PLACES);
}

static bool is_folder(const char *where)
{
	struct stat st;

	return !stat(where, &st) && S_ISDIR(st.st_mode);
}

static int open_log(const char *where, bool make)
{
	bool device = !is_folder(where);
	int how, fd;

	if (!device && chdir(where))
		die(where);
	zonefs = !device && !access("seq/0", F_OK);
	if (zonefs && way < RENAME)
		return -1;
	how = (make ? O_RDWR | flags[way] : O_RDONLY) | (make && !device ? O_CREAT : 0);
	fd = open(device ? where : "log", how, 0644);
	if (fd < 0 && (make || errno != ENOENT))
		die("log");
	return fd;
}

static void sync_folder(void)
{
	int fd = open(".", O_RDONLY | O_DIRECTORY);

	if (fd < 0 || fsync(fd) || close(fd))
		die("fsync of the directory");
}

static void write_all(int fd, uint32_t bytes, uint64_t at, int rwf)
{
	struct iovec v = { buf, bytes };

	if (pwritev2(fd, &v, 1, (off_t)at, rwf) != (ssize_t)bytes)
		die("write");
}

static void append(int fd, uint64_t n, uint64_t *end)
{
	write_all(fd, size_of(n), *end, way == DSYNC ? RWF_DSYNC : 0);
	*end += size_of(n);
	if ((way == FSYNC && fsync(fd)) || (way == FDATASYNC && fdatasync(fd)))
		die("fsync");
}

/*
 * Open the first ZONES zone files of the mounted zonefs, with the flags `how` of open(). Returns the size of a zone in
 * bytes.
 */
static uint64_t open_zones(int fds[ZONES], int how)
{
	struct stat st;

	for (uint32_t at = 0; at < ZONES; at++) {
		char name[16];

		snprintf(name, sizeof(name), "seq/%u", at);
		fds[at] = open(name, how);
		if (fds[at] < 0)
			die(name);
	}
	if (fstat(fds[0], &st))
		die("seq/0");
	return (uint64_t)st.st_blocks * SECTOR;
}

static void append_zone(uint64_t n)
{
	static uint64_t room, ends[ZONES];
	static int fds[ZONES];
	uint64_t *end = &ends[n % ZONES];
	int fd;

	if (!room)
		room = open_zones(fds, O_RDWR | O_DIRECT | flags[way]);
	fd = fds[n % ZONES];
	if (*end + size_of(n) > room) {
		if (ftruncate(fd, 0))
			die("truncate");
		*end = 0;
	}
	append(fd, n, end);
}

static void put_file(uint64_t n)
{
	char name[8];
	int fd = open("new", O_WRONLY | O_CREAT | O_TRUNC, 0644);

	if (fd < 0)
		die("new");
	write_all(fd, size_of(n), 0, 0);
	if ((way != LAZY && fsync(fd)) || close(fd))
		die("fsync");
	snprintf(name, sizeof(name), "f%u", (unsigned int)(n % NAMES));
	if (rename("new", name))
		die("rename");
	if (way == RENAME)
		sync_folder();
}

/* Allocate the places, so that no write to them changes the file's size or extents. */
static void make_places(int fd, bool device)
{
	memset(buf, 0, ATOM);
	for (uint32_t at = 0; at < PLACES; at++)
		write_all(fd, ATOM, (uint64_t)at * ATOM, 0);
	if (fsync(fd))
		die("fsync");
	if (!device)
		sync_folder();
}

static _Noreturn void work(const char *where, const char *report)
{
	int out = open(report, O_WRONLY | O_APPEND | O_NOCTTY), fd = open_log(where, true);
	uint64_t end = 0;
	char line[64];

	if (out < 0)
		die(report);
	if (way >= ATOMIC)
		make_places(fd, !is_folder(where));
	else if (!zonefs)
		sync_folder();
	for (uint64_t n = 1;; n++) {
		int len;

		fill(n, buf);
		if (zonefs)
			append_zone(n);
		else if (way < RENAME)
			append(fd, n, &end);
		else if (way < ATOMIC)
			put_file(n);
		else
			write_all(fd, ATOM, (uint64_t)place_of(n) * ATOM, RWF_DSYNC | (way == ATOMIC ? RWF_ATOMIC : 0));
		len = snprintf(line, sizeof(line), "%llu %llu\n", (unsigned long long)n, __builtin_ia32_rdtsc());
		if (write(out, line, (size_t)len) != len)
			die(report);
	}
}

/* Returns the last number that was reported; 0: there is none. */
static uint64_t last_reported(const char *durable)
{
	FILE *in = fopen(durable, "r");
	unsigned long long n = 0;

	if (!in)
		die(durable);
	while (fscanf(in, "%llu", &n) == 1)
		;
	fclose(in);
	return n;
}

/* Compare bytes of the buffer with record n. */
static bool is_record(uint64_t n, ssize_t bytes)
{
	fill(n, want);
	return bytes == (ssize_t)size_of(n) && !memcmp(buf, want, (size_t)bytes);
}

/* Check that all reported records are in the log, one after another. The one after them may be there in part. */
static int check_log(int fd, uint64_t last)
{
	for (uint64_t n = 1; n <= last; n++) {
		ssize_t got = fd < 0 ? 0 : read(fd, buf, size_of(n));

		if (got < (ssize_t)size_of(n))
			return say(LOST, "is not there, and was durable", n);
		if (!is_record(n, got))
			return say(TORN, "is not what was written", n);
	}
	return GOOD;
}

/* Check that a file of zonefs has each fourth record from `first` to `last`, then at most a part of record `next`. */
static int check_zone(int fd, uint64_t first, uint64_t last, uint64_t next)
{
	struct stat st;
	off_t at = 0;
	size_t more;

	if (fstat(fd, &st))
		die("seq");
	for (uint64_t n = first; n <= last; at += size_of(n), n += ZONES) {
		ssize_t got = pread(fd, buf, size_of(n), at);

		if (got < (ssize_t)size_of(n))
			return say(LOST, "is not there, and was durable", n);
		if (!is_record(n, got))
			return say(TORN, "is not what was written", n);
	}
	more = (size_t)(st.st_size - at);
	if (more > (next ? size_of(next) : 0))
		return say(TORN, "was the last one, and its file goes on", last);
	if (!more)
		return GOOD;
	fill(next, want);
	if (pread(fd, buf, more, at) != (ssize_t)more || memcmp(buf, want, more))
		return say(TORN, "was being written, and is something else", next);
	return GOOD;
}

/*
 * Check that each file of zonefs has the records reported since it last began again. Record last + 1 may be there in
 * part, and its file may have begun again for it.
 */
static int check_zones(uint64_t last)
{
	uint64_t first[ZONES] = { 0 }, ends[ZONES] = { 0 }, room;
	int fds[ZONES];

	room = open_zones(fds, O_RDONLY);
	for (uint64_t n = 1; n <= last; n++) {
		uint64_t *end = &ends[n % ZONES];

		if (!first[n % ZONES] || *end + size_of(n) > room) {
			first[n % ZONES] = n;
			*end = 0;
		}
		*end += size_of(n);
	}
	for (uint64_t n = last + 1; n <= last + ZONES; n++) {	/* each file's next record */
		uint64_t from = first[n % ZONES] ? first[n % ZONES] : n, next = n == last + 1 ? n : 0;
		bool again = ends[n % ZONES] + size_of(n) > room;
		int found;

		if (again && next && !check_zone(fds[n % ZONES], n, last, n))
			continue;
		found = check_zone(fds[n % ZONES], from, last, again ? 0 : next);
		if (found)
			return found;
	}
	return GOOD;
}

/*
 * Check that each file has one whole record, at least as new as the one reported if the way of writing promises that.
 */
static int check_files(uint64_t last)
{
	for (uint64_t k = 0; k < NAMES; k++) {
		uint64_t newest = last < k ? 0 : last - (last - k) % NAMES, found = 0;
		char name[8];
		ssize_t got;
		int fd;

		snprintf(name, sizeof(name), "f%u", (unsigned int)k);
		fd = open(name, O_RDONLY);
		if (fd < 0 && way == RENAME && newest)
			return say(LOST, "is not there, and was durable", newest);
		if (fd < 0)
			continue;
		got = read(fd, buf, ATOM);
		close(fd);
		if (got >= 8)
			memcpy(&found, buf, 8);
		if (!found || found % NAMES != k || !is_record(found, got))
			return say(TORN, "is a file without a whole record", newest);
		if (way == RENAME && found < newest)
			return say(LOST, "is not there, and was durable", newest);
	}
	return GOOD;
}

/* Is each sector of the place, read into the buffer, that of record n or that of `next`, whose write was under way? */
static bool is_between(uint64_t n, uint64_t next)
{
	static uint8_t after[ATOM];

	memset(want, 0, ATOM);
	if (n)
		fill(n, want);
	fill(next, after);
	for (uint32_t i = 0; i < ATOM; i += SECTOR)
		if (memcmp(buf + i, want + i, SECTOR) && memcmp(buf + i, after + i, SECTOR))
			return false;
	return true;
}

static int check_places(int fd, uint64_t last)
{
	static uint64_t newest[PLACES];

	if (fd < 0 || !last)
		return last ? LOST : GOOD;
	for (uint64_t n = 1; n <= last; n++)
		newest[place_of(n)] = n;
	for (uint32_t at = 0; at < PLACES; at++) {
		uint64_t found;

		if (pread(fd, buf, ATOM, (off_t)at * ATOM) != ATOM)
			return say(LOST, "cannot be read", newest[at]);
		if (way == SPLIT && at == place_of(last + 1) && is_between(newest[at], last + 1))
			continue;
		memcpy(&found, buf, 8);
		memset(want, 0, ATOM);
		if (found ? !is_record(found, ATOM) : memcmp(buf, want, ATOM) != 0)
			return say(TORN, "is there in part", found);
		if (found < newest[at])
			return say(LOST, "is not there, and was durable", newest[at]);
	}
	return GOOD;
}

static int check(const char *where, const char *durable)
{
	uint64_t last = last_reported(durable);
	int fd = open_log(where, false);

	if (zonefs && way < RENAME)
		return check_zones(last);
	if (way < RENAME)
		return check_log(fd, last);
	return way < ATOMIC ? check_files(last) : check_places(fd, last);
}

int main(int argc, char **argv)
{
	if (argc != 6) {
		fputs("usage: records work|check WHERE WAY SEED FILE\n", stderr);
		return FAILED;
	}
	for (way = 0; way < WAYS && strcmp(names[way], argv[3]); way++)
		;
	if (way == WAYS) {
		fprintf(stderr, "records: there is no way %s\n", argv[3]);
		return FAILED;
	}
	seed = strtoull(argv[4], NULL, 10);
	buf = aligned_alloc(4096, ATOM);
	want = aligned_alloc(4096, ATOM);
	if (!buf || !want)
		die("memory");
	if (!strcmp(argv[1], "work"))
		work(argv[2], argv[5]);
	return check(argv[2], argv[5]);
}
