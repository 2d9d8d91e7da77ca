// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test the events of a drive's life (slate_events.h): their order, what their ring holds, worked out by hand, and that
 * they outlive power cuts and the process.
 *
 * The ring has 3992 bytes. An event of n bytes of which the last is not 0 takes n + 4. Its first 24 bytes are its head,
 * with the lengths that NVMe's events have: byte 2, 21, and bytes 22 and 23, what follows the head.
 */
#define _GNU_SOURCE
#include <unistd.h>

#define UNIT 4096u
#define UNITS 1u

#include "array.h"
#include "file_host.h"
#include "slate_dev.h"
#include "slate_events.h"
#include "slate_power.h"

#define RING 3992u

static const char *const settings[] = {
	"geometry.channels=1", "geometry.chips_per_channel=1", "geometry.dies_per_chip=1", "geometry.planes_per_die=1",
	"geometry.blocks_per_plane=32", "geometry.pages_per_block=16", "geometry.page_bytes=4096",
	"geometry.oob_bytes=256", "timing.cmd_ns=100", "timing.read_ns=50000", "timing.program_ns=200000",
	"timing.erase_ns=1000000", "timing.bus_ps_per_byte=1000", "ftl.capacity_mib=1", "ftl.buffer_units=16",
	"ftl.type=page", "drive.name=events",
	NULL
};
static char dir[] = "/tmp/slate-events-XXXXXX", path[64], ini[64];

static void open_again(void)
{
	bool there = dev;

	if (there)
		slate_close(dev);
	if (open_drive(path, there ? NULL : ini, false, there ? NULL : settings)) {
		fprintf(stderr, "%s\n", err);
		exit(1);
	}
}

static uint8_t byte_of(uint32_t number, uint32_t i)
{
	return (uint8_t)(number * 7 + i) | 1;
}

/* Make an event whose last bytes are 0. */
static void make(uint8_t event[SLATE_EVENT_BYTES_MAX], uint32_t number, uint32_t bytes, uint32_t zeroes)
{
	memset(event, 0, SLATE_EVENT_BYTES_MAX);
	for (uint32_t i = 0; i < bytes - zeroes; i++)
		event[i] = byte_of(number, i);
	event[2] = 21;
	event[22] = (uint8_t)(bytes - 24);
	event[23] = (uint8_t)((bytes - 24) >> 8);
}

static void append(uint32_t number, uint32_t bytes, uint32_t zeroes)
{
	uint8_t event[SLATE_EVENT_BYTES_MAX];

	make(event, number, bytes, zeroes);
	slate_append_event(dev, event, bytes);
}

/* Expect exactly the events first to last, each of these bytes. */
static void expect(uint32_t first, uint32_t last, uint32_t bytes, uint32_t zeroes)
{
	static uint8_t all[64 * 1024], one[SLATE_EVENT_BYTES_MAX];
	uint32_t count;
	size_t total = slate_events_bytes(dev, &count);

	EXPECT_EQ(count, last - first + 1);
	EXPECT_EQ(total, (size_t)count * bytes);
	if (total > sizeof(all))
		return;
	slate_get_events(dev, all);
	for (uint32_t k = 0; k < count; k++) {
		make(one, last - k, bytes, zeroes);
		EXPECT(!memcmp(all + (size_t)k * bytes, one, bytes));
	}
}

static void expect_last(uint32_t number, uint32_t bytes, uint32_t zeroes)
{
	static uint8_t all[64 * 1024], one[SLATE_EVENT_BYTES_MAX];
	uint32_t count;

	EXPECT(slate_events_bytes(dev, &count) <= sizeof(all));
	slate_get_events(dev, all);
	make(one, number, bytes, zeroes);
	EXPECT(!memcmp(all, one, bytes));
}

static void expect_used(uint64_t bytes)
{
	EXPECT_EQ(*(uint64_t *)nand_array_own(nand_array_of(dev->nand)) >> 16 & 0xffff, bytes);
}

static void expect_none(void)
{
	uint32_t count = 1;

	EXPECT_EQ(slate_events_bytes(dev, &count), 0);
	EXPECT_EQ(count, 0);
}

static void order_and_reopening(void)
{
	open_again();
	expect_none();
	for (uint32_t i = 1; i <= 5; i++)
		append(i, 60, 20);
	expect(1, 5, 60, 20);
	open_again();
	expect(1, 5, 60, 20);
	EXPECT_EQ(slate_power_cut(dev, now, &(struct slate_cut_plan){ .when = SLATE_CUT_NOW }, err), SSD_OK);
	(void)slate_step(dev, now);
	EXPECT(!slate_powered(dev));
	expect(1, 5, 60, 20);
	append(6, 60, 20);
	expect(1, 6, 60, 20);
	open_again();
	expect(1, 6, 60, 20);
}

/* 62 events of 60 bytes take 62 * 64 = 3968 of 3992 bytes; each further one takes the place of the oldest. */
static void wrap(void)
{
	for (uint32_t i = 1; i <= 500; i++) {
		append(i, 60, 0);
		if (i > 70)
			expect(i - 61, i, 60, 0);
	}
	open_again();
	expect(439, 500, 60, 0);
	append(501, SLATE_EVENT_BYTES_MAX, 0); /* 1028 bytes: 24 are free, and 16 events make way */
	for (uint32_t i = 0; i < 3; i++)
		append(502 + i, SLATE_EVENT_BYTES_MAX, 0);
	expect(502, 504, SLATE_EVENT_BYTES_MAX, 0); /* 3 * 1028; a fourth has no room */
	append(505, 24, 24);			    /* 3 bytes are kept, and 4 say how many */
	expect_used(3 * 1028 + 7);
}

/*
 * Events of 1024 bytes that end with 1000 zeroes take 28 bytes of the ring, which has room for 142 of them. But the sum
 * of their lengths is limited to SLATE_EVENTS_BYTES_MAX, 65024: 63 events have 64512 bytes, and a 64th does not fit. An
 * event of 60 bytes fits beside the 63; another of 1024 takes the place of the oldest.
 */
static void length_of_all(void)
{
	uint32_t count;

	for (uint32_t i = 1; i <= 200; i++)
		append(i, SLATE_EVENT_BYTES_MAX, 1000);
	expect(138, 200, SLATE_EVENT_BYTES_MAX, 1000);
	append(201, 60, 0);
	EXPECT_EQ(slate_events_bytes(dev, &count), 63 * 1024 + 60);
	EXPECT_EQ(count, 64);
	append(202, SLATE_EVENT_BYTES_MAX, 1000);
	EXPECT_EQ(slate_events_bytes(dev, &count), 63 * 1024 + 60);
	EXPECT_EQ(count, 64);
	open_again();
	expect_last(202, SLATE_EVENT_BYTES_MAX, 1000);
}

/* Let the power go while the drive is in use, if it is, and come back. */
static void cut(bool in_use)
{
	struct slate_power power;

	dev->note[SLATE_NOTE_IN_USE] = in_use;
	EXPECT_EQ(slate_power_cut(dev, now, &(struct slate_cut_plan){ .when = SLATE_CUT_NOW }, err), SSD_OK);
	slate_get_power(dev, &power);
	now = power.planned_ns; /* after the mount */
	(void)slate_step(dev, now);
	EXPECT_EQ(slate_power_on(dev, now, err), SSD_OK);
}

static void append_shutdown(uint32_t number)
{
	uint8_t event[SLATE_EVENT_BYTES_MAX];

	make(event, number, 60, 0);
	slate_append_shutdown(dev, event, 60);
}

/*
 * An unsafe shutdown is untold until it has its event, over reopenings too; a drive that is closed in use has had one.
 * A ring that begins has none of earlier ones.
 */
static void shutdowns(void)
{
	EXPECT_EQ(slate_untold_shutdowns(dev), 0);
	cut(true);
	cut(false);
	cut(true);
	EXPECT_EQ(slate_untold_shutdowns(dev), 2);
	append_shutdown(1);
	EXPECT_EQ(slate_untold_shutdowns(dev), 1);
	dev->note[SLATE_NOTE_IN_USE] = 1;
	open_again();
	EXPECT_EQ(slate_untold_shutdowns(dev), 2);
	append_shutdown(2);
	append_shutdown(3);
	expect_last(3, 60, 0);
	EXPECT_EQ(slate_untold_shutdowns(dev), 0);
	open_again();
	EXPECT_EQ(slate_untold_shutdowns(dev), 0);
	dev->note[SLATE_NOTE_UNSAFE] += 1000;
	EXPECT_EQ(slate_untold_shutdowns(dev), RING / 28); /* no more than the room for the shortest events */
	append_shutdown(4);
	EXPECT_EQ(slate_untold_shutdowns(dev), RING / 28 - 1);
	memset(nand_array_own(nand_array_of(dev->nand)), 0, NAND_OWN_BYTES); /* as an earlier build leaves it */
	dev->note[SLATE_NOTE_IN_USE] = 1;
	open_again();
	expect_none();
	EXPECT_EQ(slate_untold_shutdowns(dev), 1);
}

/* Change the word that says where the events are, or an event's length: all are given up. */
static void damage(void)
{
	static const uint64_t begun = 1 << 15;
	static const uint64_t places[] = { begun | RING, begun | (RING + 1) << 16, begun | 1 << 16, 64 << 16,
					   UINT64_MAX };

	static const uint16_t lengths[] = { 59, 61, 0 };

	for (uint32_t i = 0; i < 5; i++) {
		append(1, 60, 0);
		*(uint64_t *)nand_array_own(nand_array_of(dev->nand)) = places[i];
		open_again();
		expect_none();
	}
	for (uint32_t i = 0; i < 3; i++) {
		append(1, 60, 0);
		((uint16_t *)nand_array_own(nand_array_of(dev->nand)))[4 + i % 2] = lengths[i];
		open_again();
		expect_none();
	}
	for (uint32_t i = 0; i < 64; i++)
		append(i, 24 + 257, 257); /* takes 28 bytes of the ring */
	for (uint32_t i = 0; i < 64; i++) {
		uint8_t *event = (uint8_t *)nand_array_own(nand_array_of(dev->nand)) + 8 + i * 28;

		memcpy(event, (uint16_t[]){ SLATE_EVENT_BYTES_MAX }, 2);
		memcpy(event + 4 + 22, (uint16_t[]){ SLATE_EVENT_BYTES_MAX - 24 }, 2);
	}
	open_again(); /* 64 events of 1024 bytes: more than SLATE_EVENTS_BYTES_MAX */
	expect_none();
	append(1, 60, 20);
	((uint16_t *)nand_array_own(nand_array_of(dev->nand)))[4] = 61; /* the event itself says 60 */
	open_again();
	expect_none();
	*(uint64_t *)nand_array_own(nand_array_of(dev->nand)) = 1 << 15 | (dev->note[SLATE_NOTE_UNSAFE] + 1) << 32;
	open_again(); /* more shutdowns told than there were */
	EXPECT_EQ(slate_untold_shutdowns(dev), 0);
	append(9, 60, 0);
	expect(9, 9, 60, 0);
}

/*
 * 512 bytes are lent: 3480 are left, with room for 54 events of 64 bytes. They are given back when the drive is opened
 * and no sanitize operation is under way.
 */
static void lent(void)
{
	uint8_t *bytes, all[SLATE_LENT_BYTES];

	memset(all, 0xa5, sizeof(all));
	for (uint32_t i = 1; i <= 100; i++)
		append(i, 60, 0);
	expect(39, 100, 60, 0);
	EXPECT(!slate_events_lent(dev));
	bytes = slate_events_lend(dev);
	memcpy(bytes, all, sizeof(all));
	expect(47, 100, 60, 0);
	for (uint32_t i = 101; i <= 170; i++) {
		append(i, 60, 0);
		expect(i - 53, i, 60, 0);
	}
	EXPECT(slate_events_lend(dev) == bytes && slate_events_lent(dev) == bytes);
	EXPECT(!memcmp(bytes, all, sizeof(all)));
	open_again();
	EXPECT(!slate_events_lent(dev));
	expect(117, 170, 60, 0);
	for (uint32_t i = 171; i <= 200; i++)
		append(i, 60, 0);
	expect(139, 200, 60, 0);
}

int main(void)
{
	SSD_ASSERT(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/drive", dir);
	snprintf(ini, sizeof(ini), "%s/profile.ini", dir);
	write_text(ini, "[drive]\n");
	RUN(order_and_reopening);
	RUN(wrap);
	RUN(length_of_all);
	RUN(shutdowns);
	RUN(damage);
	RUN(lent);
	slate_close(dev);
	unlink(path);
	unlink(ini);
	rmdir(dir);
	return test_result();
}
