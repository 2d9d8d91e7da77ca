// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test that a drive with namespaces has their table at all times, during a sanitize operation and after it, also if the
 * drive cannot write it.
 */
#include "sanitize_host.h"

static const struct kind with_namespaces = {
	"namespaces", { "ftl.type=page", "ftl.buffer_units=16", "ftl.gc_stop_blocks=5", "drive.namespaces=4" }
};

/* Does the last unit have a record of these bytes, and zeroes behind it? */
static bool has_record(uint8_t byte)
{
	bool same = run_io(FTL_READ, units - 1) == SSD_OK;

	for (uint32_t i = 0; i < unit_bytes; i++)
		same &= data[i] == (i < SLATE_RECORD_BYTES ? byte : 0);
	return same;
}

static void keep(uint8_t byte)
{
	uint8_t record[SLATE_RECORD_BYTES];

	memset(record, byte, sizeof(record));
	slate_keep_record(dev, byte ? record : NULL);
}

/*
 * During a sanitize operation, and after it, past cuts of the power, the record can be read; other units cannot be read
 * during the operation. With byte 0 there is no record, and its unit reads as zeroes, like all others.
 */
static void keeps_record(uint8_t byte)
{
	open_used(&with_namespaces);
	keep(byte);
	EXPECT_EQ(slate_sanitize(dev, now, BLOCK_ERASE, 0), SSD_OK);
	EXPECT(has_record(byte));
	cut_and_on(now + 7 * ROW_NS + 5);
	EXPECT(has_record(byte));
	EXPECT_EQ(run_io(FTL_READ, units - 2), SSD_E_BUSY);
	run_to_end();
	EXPECT_EQ(state().state, SLATE_SANITIZE_DONE);
	EXPECT(state().blank);
	for (int i = 0; i < 2; i++) {
		memset(version, 0, sizeof(version));
		for (uint32_t u = 0; u < units - 1; u++)
			EXPECT(reads_right(u));
		EXPECT(has_record(byte));
		cut_and_on(now + 1000);
	}
	slate_close(dev);
}

/*
 * So many blocks become bad that the drive takes no writes: the record cannot be written, and the drive goes on
 * answering with the one that it has, past a power cut, and past a write that fails.
 */
static void unwritten_record(void)
{
	static const struct kind full = {
		"full", { "ftl.type=page", "ftl.buffer_units=16", "ftl.gc_stop_blocks=5", "drive.namespaces=4",
			  "ftl.capacity_mib=4" }
	};
	uint32_t result;

	if (open_with(NULL, shape, full.more))
		exit(1);
	keep(0x5a);
	for (uint32_t i = 1; i <= SLATE_FAULTS_MAX; i++)
		EXPECT_EQ(control(SLATE_FAULT_ADD, SLATE_FAULT_ERASE, i, 0, &result), SLATE_DONE);
	EXPECT_EQ(slate_sanitize(dev, now, BLOCK_ERASE, 0), SSD_OK);
	run_to_end();
	for (int i = 0; i < 2; i++) {
		EXPECT_EQ(state().state, SLATE_SANITIZE_FAILED);
		EXPECT(has_record(0x5a));
		EXPECT_EQ(run_io(FTL_WRITE, units - 1), SSD_E_WORNOUT);
		EXPECT(has_record(0x5a));
		EXPECT_EQ(run_io(FTL_FLUSH, 0), SSD_OK);
		cut_and_on(now + 1000);
	}
	slate_close(dev);
}

/* The record in the head of a drive whose operation failed is the current one until the host writes the next. */
static void written_after_all(void)
{
	uint32_t result;

	if (open_with(NULL, shape, with_namespaces.more))
		exit(1);
	keep(0x5a);
	EXPECT_EQ(control(SLATE_FAULT_ADD, SLATE_FAULT_ERASE, 1, 0, &result), SLATE_DONE);
	EXPECT_EQ(slate_sanitize(dev, now, BLOCK_ERASE, 0), SSD_OK);
	run_to_end();
	EXPECT_EQ(state().state, SLATE_SANITIZE_FAILED);
	EXPECT(has_record(0x5a));
	keep(0x77);
	cut_and_on(now + 1000);
	EXPECT(has_record(0x77));
	EXPECT_EQ(write_unit(0), SSD_OK);
	EXPECT(has_record(0x77));
	EXPECT_EQ(write_unit(units - 1), SSD_OK);
	EXPECT(reads_right(units - 1));
	cut_and_on(now + 1);
	EXPECT(reads_right(units - 1));
	slate_close(dev);
}

int main(void)
{
	RUN_AS("a record", keeps_record(0x5a));
	RUN_AS("no record", keeps_record(0));
	RUN(unwritten_record);
	RUN(written_after_all);
	return test_result();
}
