/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * file_host.h - a host of a drive in a file with one request at a time, for tests of drive files.
 * Define before including it: UNIT, the drive's unit size, and UNITS, the number that the test
 * uses.
 */
#ifndef SLATE_FILE_HOST_H
#define SLATE_FILE_HOST_H

#include "slate.h"
#include "test.h"

static struct slate_dev *dev;
static uint8_t page[8 * UNIT];		/* data of the request, at most 8 units */
static uint32_t written[UNITS];		/* version of each unit after the last completed write_unit() */
static char err[SLATE_ERR_BYTES];
static uint64_t now;
static bool finished;
static bool assert_in_copy;		/* let an assertion in the host's callback fail */

static inline void write_text(const char *to, const char *text)
{
	FILE *out = fopen(to, "w");

	SSD_ASSERT(out && fputs(text, out) >= 0 && !fclose(out));
}

static inline void on_done(void *opaque, struct ftl_io *io)
{
	(void)opaque, (void)io;
	finished = true;
}

static inline void on_copy(void *opaque, struct ftl_io *io, uint64_t at, void *buf, size_t len)
{
	(void)opaque;
	SSD_ASSERT(!assert_in_copy);
	test_copy(io, page + at, buf, len);
}

static inline int open_drive(const char *path, const char *profile, bool ephemeral, const char *const *more)
{
	const struct ftl_host host = { on_done, on_copy, NULL };
	struct slate_options o = { .profile = profile, .overrides = more, .backing = path,
				   .ephemeral = ephemeral };

	now = 0;
	*err = 0;
	return slate_open(&o, &host, &dev, err);
}

static inline int request(enum ftl_op op, uint32_t unit, uint32_t count)
{
	struct ftl_io i = { .op = op, .offset = (uint64_t)unit * UNIT, .bytes = (uint64_t)count * UNIT };

	finished = false;
	slate_submit(dev, now, &i);
	while (!finished) {
		uint64_t next = slate_step(dev, now);

		if (finished)
			break;
		if (next == FTL_IDLE) {
			printf("a request never ends\n");
			exit(1);
		}
		now = next;
	}
	if (i.done_ns > now)
		now = i.done_ns;
	return i.status;
}

static inline int io(enum ftl_op op, uint32_t unit)
{
	return request(op, unit, op != FTL_FLUSH);
}

/*
 * Fill `page` with the content of a version: zeroes for version 0, which was never written, a formula that the array
 * keeps for every fourth one, random words for the others.
 */
static inline void content(uint32_t unit, uint32_t version)
{
	uint64_t s = ((uint64_t)unit << 32 | version) + 1;

	for (uint32_t i = 0; i < UNIT / 8; i++) {
		uint64_t v = !version ? 0 : version % 4 == 3 ? s + i * 0x9e3779b97f4a7c15u : rnd(&s);

		memcpy(page + 8 * i, &v, 8);
	}
}

static inline int write_unit(uint32_t unit, uint32_t version)
{
	int status;

	content(unit, version);
	status = io(FTL_WRITE, unit);
	if (status == SSD_OK)
		written[unit] = version;
	return status;
}

/* Does the unit have that version's content? */
static inline bool holds(uint32_t unit, uint32_t version)
{
	uint8_t is[UNIT];

	if (io(FTL_READ, unit) != SSD_OK)
		return false;
	memcpy(is, page, UNIT);
	content(unit, version);
	return !memcmp(is, page, UNIT);
}

static inline void all_is_there(uint32_t units)
{
	for (uint32_t u = 0; u < units; u++)
		EXPECT(holds(u, written[u]));
}

#endif
