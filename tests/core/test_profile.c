// SPDX-License-Identifier: GPL-2.0-or-later
/* Profiles: the shipped ones load, and each kind of bad one names what is wrong. */
#include "profile.h"
#include "test.h"

#include <unistd.h>

static char err[SLATE_ERR_BYTES];
static struct profile p;

static int load(const char *path, const char *o)
{
	const char *list[] = { o, NULL };

	return profile_load(&p, path, list, err);
}

static void shipped_profiles_load(void)
{
	EXPECT_EQ(load("nand-emu/profiles/small.ini", NULL), 0);
	EXPECT_EQ(p.ftl.capacity_bytes, 256u << 20);
	EXPECT_EQ(p.array.geo.oob_kept, 7 + 4 * 9);
	EXPECT_EQ(load("nand-emu/profiles/default.ini", NULL), 0);
	EXPECT_EQ(geo_pages(&p.array.geo), 4ull * 2 * 1 * 2 * 64 * 256);
	EXPECT_EQ(p.ftl.capacity_bytes, ((4ull << 30) * 1000 / 1125) & ~4095ull);
}

static void overrides_win(void)
{
	EXPECT_EQ(load("nand-emu/profiles/small.ini", "ftl.gc_mode=blocking"), 0);
	EXPECT_EQ(p.ftl.gc_mode, FTL_GC_BLOCKING);
}

static void expect_error(const char *path, const char *o, const char *says)
{
	int result = load(path, o);

	EXPECT(result < 0);
	if (!strstr(err, says)) {
		printf("'%s' does not say '%s'\n", err, says);
		failures++;
	}
}

static void bad_overrides_are_named(void)
{
	const char *small = "nand-emu/profiles/small.ini";

	expect_error(small, "ftl.gc_mode=often", "ftl.gc_mode = 'often': must be blocking or sliced");
	expect_error(small, "ftl.nothing=1", "no such key: ftl.nothing; [ftl] has: type unit_bytes");
	expect_error(small, "nothing.ftl=1", "no such section: [nothing]");
	expect_error(small, "gc_mode", "write it as section.key=value");
	expect_error(small, "timing.read_ns=0", "timing.read_ns = '0': must be a whole number, 1 ..");
	expect_error(small, "timing.read_ns=-5", "timing.read_ns = '-5'");
	expect_error(small, "timing.read_ns=99us", "timing.read_ns = '99us'");
	expect_error(small, "ftl.capacity_mib=310", "cannot hold the exported capacity");
	expect_error(small, "ftl.unit_bytes=5000", "unit_bytes must be");
	expect_error(small, "geometry.oob_bytes=16", "oob_bytes is too small");
	expect_error(small, "ftl.gc_urgent_blocks=5", "gc_urgent_blocks must be");
	expect_error(small, "ftl.buffer_units=7", "buffer_units must be 0 or hold");
	expect_error("nand-emu/profiles/none.ini", NULL, "none.ini: No such file or directory");
}

static void expect_file_error(const char *text, const char *says)
{
	char path[] = "/tmp/slate-profile-XXXXXX";
	int fd = mkstemp(path);

	EXPECT(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
	expect_error(path, NULL, says);
	unlink(path);
}

static void bad_files_are_named(void)
{
	expect_file_error("[geometry]\nchannels = x\n", ":2: geometry.channels = 'x': must be");
	expect_file_error("[geometry]\nchannel = 2\n", ":2: no such key: geometry.channel;");
	expect_file_error("[geometry]\nchannels = 2\nchannels = 2\n", ":3: geometry.channels is given twice");
	expect_file_error("hello\n", ":1: not an INI line");
	expect_file_error("[geometry]\nchannels = 2\n", "geometry.chips_per_channel is missing");
	expect_file_error("", "geometry.channels is missing; add it to [geometry], 1 .. 64");
}

static void settings_are_complete(void)
{
	char text[4096];

	EXPECT_EQ(load("nand-emu/profiles/small.ini", NULL), 0);
	EXPECT(profile_print(&p, text, sizeof(text)) == strlen(text));
	EXPECT(strstr(text, "drive.name=small\n"));
	EXPECT(strstr(text, "ftl.gc_mode=sliced\n"));
	EXPECT(strstr(text, "timing.program_ns=640000\n"));
}

int main(void)
{
	RUN(shipped_profiles_load);
	RUN(overrides_win);
	RUN(bad_overrides_are_named);
	RUN(bad_files_are_named);
	RUN(settings_are_complete);
	return test_result();
}
