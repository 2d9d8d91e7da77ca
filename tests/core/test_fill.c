// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test that the host reads, byte for byte, what preconditioning wrote, also from the write buffer. The drive makes and
 * recognises only the ends of its units then (nand-emu/content.c); the test makes all bytes, from the rules: write n,
 * counted from 1, gives a unit at offset o the progression that begins with the first number of splitmix64 from
 * o + (n << 48). Each write of the fill has 32 units, each one after it has a random unit.
 */
#include <unistd.h>

#define UNIT 4096u
#define UNITS 2048u		/* 8 MiB */
#include "file_host.h"

#define STEP 0x9e3779b97f4a7c15u
#define FILL_UNITS 32u

static const char shape[] =
	"[geometry]\nchannels=2\nchips_per_channel=1\ndies_per_chip=1\nplanes_per_die=2\n"
	"blocks_per_plane=18\npages_per_block=24\npage_bytes=8192\noob_bytes=256\nbits_per_cell=3\n"
	"[timing]\nread_ns=50000\nprogram_ns=200000\nerase_ns=1000000\nbus_ps_per_byte=1000\n"
	"[ftl]\ncapacity_mib=8\nbuffer_units=64\ngc_start_blocks=4\ngc_stop_blocks=5\n"
	"[precondition]\nfill_permille=1000\nage_permille=1700\nseed=7\n";

static char ini[64];
static uint32_t version[UNITS];		/* number of the last write of each unit */

static uint64_t mix(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static void expect_writes(uint32_t aged)
{
	uint32_t n = UNITS / FILL_UNITS;
	uint64_t seed = 7;

	for (uint32_t u = 0; u < UNITS; u++)
		version[u] = 1 + u / FILL_UNITS;
	for (uint32_t i = 0; i < aged; i++)
		version[mix(&seed) % UNITS] = ++n;
}

static bool unit_is_right(uint32_t unit)
{
	uint64_t from = (uint64_t)unit * UNIT + ((uint64_t)version[unit] << 48), first = mix(&from);

	for (uint32_t i = 0; i < UNIT / 8; i++) {
		uint64_t word;

		memcpy(&word, page + i * 8, 8);
		if (word != first + i * STEP)
			return false;
	}
	return true;
}

static void expect_drive(const char *const *settings, uint32_t aged)
{
	expect_writes(aged);
	EXPECT_EQ(open_drive(NULL, ini, false, settings), 0);
	for (uint32_t u = 0; u < UNITS; u++) {
		memset(page, 0, UNIT);
		EXPECT_EQ(io(FTL_READ, u), SSD_OK);
		EXPECT(unit_is_right(u));
	}
	slate_check(dev);
	slate_close(dev);
}

#define AGED (UNITS * 17 / 10)		/* age_permille of shape */

static void flash_has_all_bytes(void)
{
	static const char *const filled[] = { "precondition.age_permille=0", NULL };
	static const char *const shot[] = { "geometry.one_shot=yes", NULL };
	static const char *const unbuffered[] = { "ftl.buffer_units=0", NULL };

	expect_drive(NULL, AGED);
	expect_drive(filled, 0);
	expect_drive(shot, AGED);
	expect_drive(unbuffered, AGED);
}

/* Without a volatile write cache a flush leaves a page in the write buffer that is not full: two of its four units. */
static void buffer_has_all_bytes(void)
{
	static const char *const saved[] = { "ftl.power_protected=yes", "geometry.page_bytes=16384",
					     "geometry.oob_bytes=512", "precondition.age_permille=1", NULL };

	expect_drive(saved, 2);
}

/* These types look at the content, or keep it in other units, so all bytes are made. */
static void others_have_all_bytes(void)
{
	static const char *const parity[] = { "ftl.type=parity", "geometry.bits_per_cell=2", "geometry.order=fps",
					      NULL };
	static const char *const metadata[] = { "ftl.metadata_bytes=8", NULL };

	expect_drive(parity, AGED);
	expect_drive(metadata, AGED);
}

/* After preconditioning a unit that the host writes is stored, although its ends are those of a progression. */
static void later_content_is_looked_at(void)
{
	EXPECT_EQ(open_drive(NULL, ini, false, NULL), 0);
	for (uint32_t i = 0; i < UNIT / 8; i++) {
		uint64_t word = 1000 + i * STEP;

		memcpy(page + i * 8, &word, 8);
	}
	page[2000] ^= 1;
	EXPECT_EQ(io(FTL_WRITE, 5), SSD_OK);
	EXPECT_EQ(io(FTL_FLUSH, 0), SSD_OK);
	memset(page, 0, UNIT);
	EXPECT_EQ(io(FTL_READ, 5), SSD_OK);
	EXPECT_EQ(page[2000], (uint8_t)(((1000 + 250 * STEP) & 0xff) ^ 1));
	slate_close(dev);
}

int main(void)
{
	snprintf(ini, sizeof(ini), "/tmp/slate-fill-%d.ini", (int)getpid());
	write_text(ini, shape);
	RUN(flash_has_all_bytes);
	RUN(buffer_has_all_bytes);
	RUN(others_have_all_bytes);
	RUN(later_content_is_looked_at);
	unlink(ini);
	return test_result();
}
