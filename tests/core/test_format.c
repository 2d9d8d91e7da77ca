// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test drive files of format 2, which has no forms (SPEC.md, "What may change"). Such a file is made of one
 * of the present format, whose pages are all stored or filled with one byte.
 */
#define _GNU_SOURCE
#include <zlib.h>

#include "drive_bytes.h"

static const char *const settings[] = { "ftl.type=page", "ftl.buffer_units=16", NULL };
static char dir[] = "/tmp/slate-format-XXXXXX";

static uint64_t hash(void)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (size_t i = 0; i < map_bytes; i++)
		h = (h ^ map[i]) * 0x100000001b3u;
	return h;
}

#define FILLED 0x5a		/* byte of the units that are filled with one */

/* Make a drive whose pages are all either stored or filled with one byte, as format 2 has them. */
static void make_old_content(void)
{
	unlink(path);
	memset(written, 0, sizeof(written));
	EXPECT_EQ(open_drive(path, ini, false, settings), 0);
	for (uint32_t u = 0; u < 300; u++)
		EXPECT_EQ(write_unit(u, 1 + u % 2), SSD_OK);
	for (uint32_t u = 300; u < 400; u++) {
		memset(page, FILLED, UNIT);
		EXPECT_EQ(io(FTL_WRITE, u), SSD_OK);
	}
	EXPECT_EQ(io(FTL_FLUSH, 0), SSD_OK);
	slate_close(dev);
}

/* Turn the file into one of format 2, with `more` bytes behind its end; damage: the filled page of this number. */
static void downgrade(uint32_t more, uint32_t damage)
{
	uint64_t bytes;
	uint32_t version = 2, crc, filled = 0;

	look_with(settings);
	for (uint32_t p = 0; p < is.pages; p++)
		if (cell_get(&is, p) == CELL_FORM) {
			EXPECT(is.form[p] >= 1 && is.form[p] <= 256);
			is.old_fill[p] = (uint8_t)(is.form[p] - 1);
			is.sum[p].content = ssd_crc32c(0, &is.old_fill[p], 1) ^ p * 0x9e3779b1u;
			if (is.old_fill[p] == FILLED && filled++ == damage)
				is.old_fill[p]++;
		}
	bytes = (uint64_t)((uint8_t *)is.form - (uint8_t *)is.head);
	for (uint32_t i = 0; i < 2; i++) {
		uint8_t *head = map + i * DRIVE_FILE_HEAD_BYTES;

		memcpy(head + 8, &version, 4);
		memcpy(head + 16, &bytes, 8);
		crc = (uint32_t)crc32(0, head, DRIVE_FILE_HEAD_BYTES - 4);
		memcpy(head + DRIVE_FILE_HEAD_BYTES - 4, &crc, 4);
	}
	munmap(map, map_bytes);
	EXPECT_EQ(truncate(path, (off_t)(DRIVE_FILE_IMAGE_AT + bytes)), 0);	/* the forms are lost */
	EXPECT_EQ(truncate(path, (off_t)(DRIVE_FILE_IMAGE_AT + bytes + more)), 0);
}

static void expect_old_content(uint32_t uncorrectable)
{
	uint32_t lost = 0;

	for (uint32_t u = 0; u < 300; u++)
		EXPECT(holds(u, 1 + u % 2));
	for (uint32_t u = 300; u < 400; u++) {
		memset(page, 0, UNIT);
		if (io(FTL_READ, u) == SSD_E_UNCORR)
			lost++;
		else
			EXPECT(page[0] == FILLED && !memcmp(page, page + 1, UNIT - 1));
	}
	EXPECT_EQ(lost, uncorrectable);
}

/* A file of format 2 is read, ephemeral without a change; else it becomes one of format 3. */
static void a_file_of_format_2(void)
{
	static const struct { uint32_t more, damage, lost; } cases[] = {
		{ 0, UINT32_MAX, 0 }, { 0, 7, 1 }, { 100, UINT32_MAX, 0 },	/* 100: an interrupted upgrade */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint32_t version;
		uint64_t before;

		make_old_content();
		downgrade(cases[i].more, cases[i].damage);
		look_with(settings);
		before = hash();
		EXPECT_EQ(open_drive(path, NULL, true, NULL), 0);
		expect_old_content(cases[i].lost);
		slate_close(dev);
		EXPECT_EQ(hash(), before);
		munmap(map, map_bytes);
		for (uint32_t again = 0; again < 2; again++) {
			EXPECT_EQ(open_drive(path, NULL, false, NULL), 0);
			expect_old_content(cases[i].lost);
			slate_close(dev);
		}
		look_with(settings);
		memcpy(&version, map + 8, 4);
		EXPECT_EQ(version, 3);
		EXPECT(!memcmp(map, map + DRIVE_FILE_HEAD_BYTES, DRIVE_FILE_HEAD_BYTES));
		EXPECT_EQ(map_bytes, (uint64_t)((uint8_t *)(is.form + is.pages) - map));
		munmap(map, map_bytes);
	}
	make_old_content();
	downgrade(1 << 20, UINT32_MAX);
	for (int ephemeral = 0; ephemeral < 2; ephemeral++) {
		EXPECT_EQ(open_drive(path, NULL, ephemeral, NULL), SSD_E_CORRUPT);
		EXPECT(strstr(err, "it was cut or grew") != NULL);
	}
}

int main(void)
{
	if (!mkdtemp(dir))
		return 1;
	snprintf(path, sizeof(path), "%s/drive.slate", dir);
	snprintf(ini, sizeof(ini), "%s/p.ini", dir);
	write_text(ini, shape);
	RUN(a_file_of_format_2);
	unlink(path);
	unlink(ini);
	rmdir(dir);
	return test_result();
}
