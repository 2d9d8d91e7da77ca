// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test drive files: written data survive a close and a kill at any moment; invalid files are refused and
 * not changed.
 *
 *   test_file [-n KILLS] [-r ID]
 *
 * Kills: a child process works on a drive file and reports through a pipe which units were flushed;
 * it is killed at a random moment of wall-clock time. The parent mounts the file. Every flushed
 * unit must have its flushed version or a later one that was submitted, and the following work may
 * break no rule. An ID has the seed; the moment of the kill depends on the machine.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "drive_file.h"

#define UNIT 4096u
#define UNITS 1200u		/* units of the drive that the test uses */
#define HEAD 16384		/* bytes of the head, and of its copy */
#include "file_host.h"

static const char *const shape[] = {
	"geometry.channels=2", "geometry.chips_per_channel=1", "geometry.dies_per_chip=1",
	"geometry.planes_per_die=1", "geometry.blocks_per_plane=32", "geometry.pages_per_block=16",
	"geometry.page_bytes=8192", "geometry.oob_bytes=256", "timing.read_ns=50000",
	"timing.program_ns=200000", "timing.erase_ns=1000000", "timing.bus_ps_per_byte=1000",
	"ftl.capacity_mib=5", "ftl.buffer_units=16", "ftl.gc_start_blocks=4", "ftl.gc_stop_blocks=5",
	"drive.name=file test",
};

static char dir[] = "/tmp/slate-file-XXXXXX", path[sizeof(dir) + 16], profile[sizeof(dir) + 16];
static void write_profile(void)
{
	const char *section = "";
	FILE *out = fopen(profile, "w");

	for (size_t i = 0; i < sizeof(shape) / sizeof(*shape); i++) {
		const char *dot = strchr(shape[i], '.');

		if (strncmp(section, shape[i], (size_t)(dot - shape[i])))
			fprintf(out, "[%.*s]\n", (int)(dot - shape[i]), shape[i]);
		section = shape[i];
		fprintf(out, "%s\n", dot + 1);
	}
	fclose(out);
}

/* Make version v of a unit: every word contains the version and the place. */
static void stamp(uint32_t unit, uint32_t v, uint8_t *to)
{
	uint32_t *w = (uint32_t *)(void *)to;

	for (uint32_t i = 0; i < UNIT / 8; i++) {
		w[2 * i] = unit + i;
		w[2 * i + 1] = v;
	}
}

/* Returns the version in the data, or UINT32_MAX for other data. 0: never written. */
static uint32_t version(uint32_t unit, const uint8_t *from)
{
	const uint32_t *w = (const uint32_t *)(const void *)from;
	uint32_t v = w[1];

	for (uint32_t i = 0; i < UNIT / 8; i++)
		if (w[2 * i] != (v ? unit + i : 0) || w[2 * i + 1] != v)
			return UINT32_MAX;
	return v;
}

static uint64_t file_hash(void)		/* FNV-1a of the file's head and content */
{
	uint64_t h = 0xcbf29ce484222325u;
	uint8_t buf[65536];
	ssize_t n;
	int fd = open(path, O_RDONLY);

	while (fd >= 0 && (n = read(fd, buf, sizeof(buf))) > 0)
		for (ssize_t i = 0; i < n; i++)
			h = (h ^ buf[i]) * 0x100000001b3u;
	close(fd);
	return h;
}

static uint64_t disk_bytes(void)
{
	struct stat st;

	return stat(path, &st) ? 0 : (uint64_t)st.st_blocks * 512;
}

static void what_was_written_is_there_again(void)
{
	unlink(path);
	if (open_drive(path, profile, false, NULL)) {
		printf("%s\n", err);
		exit(1);
	}
	EXPECT(!slate_was_there(dev));
	stamp(7, 1, page);
	EXPECT_EQ(io(FTL_WRITE, 7), 0);
	EXPECT_EQ(io(FTL_FLUSH, 0), 0);
	slate_close(dev);
	EXPECT_EQ(open_drive(path, NULL, false, NULL), 0);	/* with the settings in the file */
	EXPECT(slate_was_there(dev));
	EXPECT(!strcmp(slate_profile_name(dev), "file test"));
	EXPECT_EQ(io(FTL_READ, 7), 0);
	EXPECT_EQ(version(7, page), 1);
	EXPECT_EQ(io(FTL_READ, 8), 0);
	EXPECT_EQ(version(8, page), 0);
	slate_close(dev);
}

static void an_ephemeral_drive_leaves_the_file_alone(void)
{
	uint64_t before = file_hash();

	for (uint32_t round = 0; round < 2; round++) {
		EXPECT_EQ(open_drive(path, NULL, true, NULL), 0);
		EXPECT_EQ(io(FTL_READ, 7), 0);
		EXPECT_EQ(version(7, page), 1);
		stamp(7, 2, page);
		EXPECT_EQ(io(FTL_WRITE, 7), 0);
		EXPECT_EQ(io(FTL_FLUSH, 0), 0);
		slate_close(dev);
	}
	EXPECT_EQ(open_drive(path, NULL, true, NULL), 0);
	for (uint32_t k = 2; k < 6; k++)	/* GC erases blocks and frees disk space */
		for (uint32_t i = 0; i < UNITS; i++) {
			stamp(i, k, page);
			EXPECT_EQ(io(FTL_WRITE, i), 0);
		}
	slate_close(dev);
	EXPECT_EQ(file_hash(), before);
}

static void timing_may_differ(void)
{
	const char *const slow[] = { "timing.read_ns=60000", NULL };

	EXPECT_EQ(open_drive(path, profile, true, slow), 0);
	slate_close(dev);
}

static void refused(const char *from, bool ephemeral, const char *const *overrides,
		    const char *says)
{
	uint64_t before = file_hash();

	if (!open_drive(path, from, ephemeral, overrides)) {
		printf("opened, expected: %s\n", says);
		failures++;
		slate_close(dev);
		return;
	}
	if (!strstr(err, says)) {
		printf("said: %s\nexpected: %s\n", err, says);
		failures++;
	}
	EXPECT_EQ(file_hash(), before);
}

static void wrong_geometry_is_refused(void)
{
	const char *const four[] = { "geometry.channels=4", NULL };
	const char *const smaller[] = { "ftl.capacity_mib=4", NULL };

	refused(profile, false, four, "was made with geometry.channels = 2, profile file test says 4");
	refused(profile, true, smaller, "was made with the exported capacity = 10240");
}

/* The message names the setting from which the bytes of a spare area follow. */
static void metadata_keep_their_size(void)
{
	const char *const made[] = { "ftl.metadata_bytes=16", NULL };
	const char *const other[] = { "ftl.metadata_bytes=32", NULL };

	unlink(path);
	EXPECT_EQ(open_drive(path, profile, false, made), 0);
	slate_close(dev);
	refused(profile, false, other, "was made with ftl.metadata_bytes = 16, profile file test says 32");
	EXPECT_EQ(open_drive(path, profile, false, made), 0);
	slate_close(dev);
	unlink(path);
}

/*
 * A file keeps the size of superblocks, because it determines which blocks belong together. Partial
 * erases may be switched.
 */
static void superblocks_keep_their_size(void)
{
	const char *const made[] = { "ftl.type=superblock", "ftl.unit_bytes=8192", "ftl.buffer_units=0",
				     "ftl.superblock_blocks=2", "ftl.superblock_max_blocks=3", NULL };
	const char *const other[] = { "ftl.type=superblock", "ftl.unit_bytes=8192", "ftl.buffer_units=0",
				      "ftl.superblock_blocks=1", "ftl.superblock_max_blocks=3", NULL };
	const char *const more[] = { "ftl.type=superblock", "ftl.unit_bytes=8192", "ftl.buffer_units=0",
				     "ftl.superblock_blocks=2", "ftl.superblock_max_blocks=4", NULL };
	const char *const striped[] = { "ftl.type=superblock", "ftl.unit_bytes=8192", "ftl.buffer_units=0",
					"ftl.superblock_blocks=2", "ftl.superblock_max_blocks=3",
					"ftl.stripe_pages=2", NULL };

	unlink(path);
	EXPECT_EQ(open_drive(path, profile, false, made), 0);
	memset(page, 0x5a, UNIT);
	EXPECT_EQ(io(FTL_WRITE, 7), 0);
	slate_close(dev);
	refused(profile, false, other, "was made with ftl.superblock_blocks = 2, profile file test says 1");
	refused(profile, false, more, "was made with ftl.superblock_max_blocks = 3");
	refused(profile, false, striped, "was made with ftl.stripe_pages (0 is as 1) = 0");
	refused(profile, false, NULL, "was made with geometry.oob_kept (by ftl.type and ftl.placement_handles) = 10");
	EXPECT_EQ(open_drive(path, profile, false, made), 0);
	memset(page, 0, UNIT);
	EXPECT_EQ(io(FTL_READ, 7), 0);
	EXPECT_EQ(page[0], 0x5a);
	EXPECT_EQ(page[UNIT - 1], 0x5a);
	slate_close(dev);
	unlink(path);
}

/* A file of NFTL keeps the size of the write buffer, because with none a mount does not know its blocks. */
static void write_buffers_keep_their_size(void)
{
	const char *const made[] = { "ftl.type=nftl", "ftl.unit_bytes=8192", "ftl.buffer_units=0",
				     "ftl.gc_mode=sliced", "ftl.write_buffer_blocks=2", NULL };
	const char *const none[] = { "ftl.type=nftl", "ftl.unit_bytes=8192", "ftl.buffer_units=0",
				     "ftl.gc_mode=sliced", NULL };

	unlink(path);
	EXPECT_EQ(open_drive(path, profile, false, made), 0);
	slate_close(dev);
	refused(profile, false, none, "was made with ftl.write_buffer_blocks = 2, profile file test says 0");
	EXPECT_EQ(open_drive(path, profile, false, made), 0);
	slate_close(dev);
	unlink(path);
}

static void two_users_are_refused(void)
{
	struct slate_dev *first;

	EXPECT_EQ(open_drive(path, NULL, false, NULL), 0);
	first = dev;
	if (!open_drive(path, NULL, false, NULL) || !strstr(err, "another program has it open"))
		failures++;
	if (!open_drive(path, NULL, true, NULL) || !strstr(err, "another program has it open"))
		failures++;
	slate_close(first);
	EXPECT_EQ(open_drive(path, NULL, true, NULL), 0);	/* several readers are allowed */
	first = dev;
	EXPECT_EQ(open_drive(path, NULL, true, NULL), 0);
	slate_close(dev);
	slate_close(first);
}

static int open_recording(const char *drive, const char *record, const char *content)
{
	const struct ftl_host host = { on_done, on_copy, NULL };
	const struct slate_options o = { .profile = profile, .backing = drive, .record = record,
					 .record_content = content };

	return slate_open(&o, &host, &dev, err);
}

/* Expect that no recording is made over a file that is open, and that nothing is left of an attempt. */
static void no_recording(const char *drive, const char *record, const char *content, const char *name)
{
	char want[SLATE_ERR_BYTES];

	snprintf(want, sizeof(want), "%s: is a drive file or a recording that is open: name another file", name);
	EXPECT_EQ(open_recording(drive, record, content), SSD_E_INVAL);
	EXPECT(strstr(err, want) != NULL);
}

/*
 * Returns the version that the drive has of a unit whose content the host changes from 1 to 2 while the write waits
 * for two others, which fill the write buffer.
 */
static uint32_t changed_while_written(const char *recording)
{
	const struct ftl_host host = { on_done, on_copy, NULL };
	const struct slate_options o = { .profile = profile, .record_content = recording };
	struct ftl_io i[3] = { { .op = FTL_WRITE, .offset = 16 * UNIT, .bytes = 8 * UNIT },
			       { .op = FTL_WRITE, .offset = 24 * UNIT, .bytes = 8 * UNIT },
			       { .op = FTL_WRITE, .offset = 5 * UNIT, .bytes = UNIT } };
	uint32_t is;

	now = 0;
	EXPECT_EQ(slate_open(&o, &host, &dev, err), SSD_OK);
	stamp(5, 1, page);
	for (uint32_t n = 0; n < 3; n++)
		slate_submit(dev, now, &i[n]);
	stamp(5, 2, page);
	while (slate_inflight(dev))
		now = slate_step(dev, now);
	EXPECT_EQ(io(FTL_FLUSH, 0), SSD_OK);
	EXPECT_EQ(io(FTL_READ, 5), SSD_OK);
	is = version(5, page);
	slate_close(dev);
	return is;
}

/* A drive reads the host's data when its buffer has room; a recorded one when it records them. */
static void what_is_recorded_is_written(void)
{
	char recording[sizeof(dir) + 16];

	snprintf(recording, sizeof(recording), "%s/content", dir);
	EXPECT_EQ(changed_while_written(NULL), 2);
	EXPECT_EQ(changed_while_written(recording), 1);
	unlink(recording);
}

/* A recording whose name is that of an open drive or recording is refused: it would replace that file at its end. */
static void a_recording_replaces_nothing_open(void)
{
	char other[sizeof(dir) + 16], same[sizeof(dir) + 16], part[sizeof(dir) + 16];
	struct slate_dev *first;

	snprintf(other, sizeof(other), "%s/r", dir);
	snprintf(same, sizeof(same), "%s/./r", dir);
	snprintf(part, sizeof(part), "%s/r.part", dir);
	unlink(path);
	EXPECT_EQ(open_drive(path, profile, false, NULL), SSD_OK);
	EXPECT_EQ(write_unit(3, 1), SSD_OK);
	EXPECT_EQ(io(FTL_FLUSH, 0), SSD_OK);
	first = dev;
	no_recording(NULL, path, NULL, path);
	slate_close(first);
	no_recording(path, path, NULL, path);
	no_recording(path, NULL, path, path);
	EXPECT_EQ(link(path, part), 0);
	no_recording(path, other, NULL, part);
	no_recording(path, NULL, other, part);
	unlink(part);
	no_recording(path, other, same, "r.part");
	EXPECT_EQ(access(part, F_OK), -1);
	EXPECT_EQ(mkfifo(part, 0600), 0);
	EXPECT_EQ(open_recording(path, other, NULL), SSD_E_INVAL);
	unlink(part);
	write_text(part, "left by a killed process");
	write_text(other, "an older recording");
	EXPECT_EQ(open_recording(path, other, NULL), SSD_OK);
	EXPECT(holds(3, 1));
	slate_close(dev);
	EXPECT_EQ(access(part, F_OK), -1);
	unlink(other);
}

/* Without a profile the program waited for a writer of the pipe. */
static void a_pipe_is_refused(void)
{
	unlink(path);
	EXPECT_EQ(mkfifo(path, 0600), 0);
	for (int k = 0; k < 2; k++) {
		EXPECT_EQ(open_drive(path, k ? profile : NULL, false, NULL), SSD_E_INVAL);
		EXPECT(strstr(err, "is not a plain file; name one") != NULL);
	}
	unlink(path);
}

static void patch(off_t at, uint8_t flip)
{
	int fd = open(path, O_RDWR);
	uint8_t b = 0;

	EXPECT_EQ(pread(fd, &b, 1, at), 1);
	b ^= flip;
	EXPECT_EQ(pwrite(fd, &b, 1, at), 1);
	close(fd);
}

static void damage_is_refused(void)
{
	struct stat st;

	patch(0, 1);
	patch(HEAD, 1);
	refused(NULL, false, NULL, "is no drive file");
	refused(profile, false, NULL, "is no drive file");
	patch(0, 1);
	patch(40, 4);
	refused(NULL, false, NULL, "its head and the copy of it are damaged");
	patch(HEAD, 1);
	patch(40, 4);
	EXPECT_EQ(stat(path, &st), 0);
	EXPECT_EQ(truncate(path, st.st_size - 1), 0);
	refused(NULL, false, NULL, "it was cut or grew");
	EXPECT_EQ(truncate(path, 100), 0);
	refused(profile, false, NULL, "its head and the copy of it are damaged");
	EXPECT_EQ(unlink(path), 0);
	refused(NULL, false, NULL, "No such file or directory; give a profile too");
	refused(profile, true, NULL, "No such file or directory");
	EXPECT_EQ(mkdir(path, 0700), 0);
	EXPECT(open_drive(path, profile, false, NULL) != 0);
	EXPECT_EQ(rmdir(path), 0);
}

/* A page of one repeated byte takes no disk space, nor do unwritten and erased pages. */
static void the_file_is_sparse(void)
{
	uint64_t blank, filled;

	unlink(path);
	EXPECT_EQ(open_drive(path, profile, false, NULL), 0);
	blank = disk_bytes();
	memset(page, 0xee, UNIT);
	for (uint32_t i = 0; i < 600; i++)
		EXPECT_EQ(io(FTL_WRITE, i), 0);
	EXPECT_EQ(io(FTL_FLUSH, 0), 0);
	EXPECT(disk_bytes() - blank < 64 << 10);
	for (uint32_t i = 0; i < 600; i++) {
		stamp(i, 1, page);
		EXPECT_EQ(io(FTL_WRITE, i), 0);
	}
	EXPECT_EQ(io(FTL_FLUSH, 0), 0);
	filled = disk_bytes();
	EXPECT(filled - blank >= 600 * UNIT && filled - blank < 600 * UNIT + (256 << 10));
	for (uint32_t k = 0; k < 6; k++)	/* GC erases blocks */
		for (uint32_t i = 0; i < UNITS; i++) {
			memset(page, (int)k, UNIT);
			EXPECT_EQ(io(FTL_WRITE, i), 0);
		}
	EXPECT_EQ(io(FTL_FLUSH, 0), 0);
	EXPECT(disk_bytes() - blank < 600 * UNIT / 4);
	slate_close(dev);
}

/* Fill and overwrite a drive, then read it at once, or after a week without power. */
static void an_idle_drive_ages(void)
{
	static const char *const idle[] = { "reliability.idle_hours=0", "reliability.idle_hours=168" };
	const char *o[] = { "precondition.fill_permille=1000", "precondition.age_permille=3000",
			    "reliability.rber=powerlaw", "reliability.eps=1e-9",
			    "reliability.alpha=1e-12", "reliability.k=1", "reliability.beta=1e-5",
			    "reliability.m=0", "reliability.n=1", "reliability.gamma=1e-12",
			    "reliability.p=1", "reliability.q=1", "reliability.ecc_bits=40",
			    "reliability.relocate_bits=40", NULL, NULL };
	const size_t last = sizeof(o) / sizeof(*o) - 2;

	for (uint32_t i = 0; i < 2; i++) {
		uint32_t lost = 0;

		unlink(path);
		o[last] = idle[i];
		if (open_drive(path, profile, false, o)) {
			printf("%s\n", err);
			failures++;
			return;
		}
		for (uint32_t u = 0; u < UNITS; u++)
			lost += io(FTL_READ, u) == SSD_E_UNCORR;
		EXPECT(i ? lost > UNITS * 9 / 10 : !lost);	/* 65536 bits * 1.7e-3 = 110 errors */
		slate_close(dev);
	}
}

/* ---- kills ------------------------------------------------------------------ */

struct shared {			/* results of the child, in memory that outlives it */
	volatile uint32_t ready;
	volatile uint32_t flushed[UNITS], submitted[UNITS];
};

static void child(struct shared *s, uint64_t seed)
{
	uint32_t tried[UNITS];

	if (open_drive(path, NULL, false, NULL))
		_exit(3);
	memcpy(tried, (const void *)s->submitted, sizeof(tried));
	s->ready = 1;
	for (;;) {
		uint32_t n = (uint32_t)(rnd(&seed) % 24) + 1;

		for (uint32_t k = 0; k < n; k++) {
			uint32_t u = (uint32_t)(rnd(&seed) % UNITS);

			stamp(u, ++tried[u], page);
			s->submitted[u] = tried[u];
			if (io(FTL_WRITE, u))
				_exit(4);
		}
		if (io(FTL_FLUSH, 0))
			_exit(5);
		for (uint32_t u = 0; u < UNITS; u++)
			s->flushed[u] = tried[u];
	}
}

static bool check_drive(struct shared *s, uint64_t id)
{
	if (open_drive(path, NULL, false, NULL)) {
		printf("kill %" PRIu64 ": %s\n", id, err);
		return false;
	}
	for (uint32_t u = 0; u < UNITS; u++) {
		int status = io(FTL_READ, u);
		uint32_t v;

		if (status) {
			printf("kill %" PRIu64 ": unit %u: a read fails (%d)\n", id, u, status);
			return false;
		}
		v = version(u, page);
		if (v < s->flushed[u] || v > s->submitted[u]) {
			printf("kill %" PRIu64 ": unit %u: version %u, flushed %u, submitted %u\n", id, u,
			       v, s->flushed[u], s->submitted[u]);
			return false;
		}
		s->submitted[u] = v;	/* the present content stays */
		s->flushed[u] = v;
	}
	io(FTL_FLUSH, 0);
	slate_close(dev);
	return true;
}

static bool kill_once(struct shared *s, uint64_t id)
{
	uint64_t seed = id * 0x9e3779b97f4a7c15u | 1;
	int status;
	pid_t pid;

	s->ready = 0;
	fflush(stdout);
	pid = fork();
	if (!pid)
		child(s, seed ^ 0x5555);
	while (!s->ready && !waitpid(pid, &status, WNOHANG))
		usleep(200);
	usleep((useconds_t)(rnd(&seed) % 20000));
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	if (!WIFSIGNALED(status)) {
		printf("kill %" PRIu64 ": the child ended by itself (%d)\n", id, WEXITSTATUS(status));
		return false;
	}
	return check_drive(s, id);
}

static void killed(uint64_t from, uint64_t kills)
{
	struct shared *s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
				-1, 0);
	uint64_t i;

	unlink(path);
	if (open_drive(path, profile, false, NULL)) {
		printf("not ok killed: %s\n", err);
		failures++;
		return;
	}
	slate_close(dev);
	for (i = 0; i < kills; i++)
		if (!kill_once(s, from + i)) {
			printf("not ok killed: replay with -r %" PRIu64 "\n", from + i);
			failures++;
			return;
		}
	printf("ok killed %" PRIu64 " times\n", kills);
}

int main(int argc, char **argv)
{
	uint64_t kills = 60, from = 1;

	for (int i = 1; i + 1 < argc; i += 2) {
		if (!strcmp(argv[i], "-n"))
			kills = strtoull(argv[i + 1], NULL, 10);
		if (!strcmp(argv[i], "-r"))
			from = strtoull(argv[i + 1], NULL, 10);
	}
	if (!mkdtemp(dir))
		return 1;
	snprintf(path, sizeof(path), "%s/drive.slate", dir);
	snprintf(profile, sizeof(profile), "%s/p.ini", dir);
	write_profile();
	RUN(what_was_written_is_there_again);
	RUN(an_ephemeral_drive_leaves_the_file_alone);
	RUN(timing_may_differ);
	RUN(wrong_geometry_is_refused);
	RUN(two_users_are_refused);
	RUN(damage_is_refused);
	RUN(a_recording_replaces_nothing_open);
	RUN(a_pipe_is_refused);
	RUN(the_file_is_sparse);
	RUN(an_idle_drive_ages);
	RUN(what_is_recorded_is_written);
	RUN(metadata_keep_their_size);
	RUN(superblocks_keep_their_size);
	RUN(write_buffers_keep_their_size);
	killed(from, kills);
	unlink(path);
	unlink(profile);
	rmdir(dir);
	return test_result();
}
