// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * blk.c - KUnit suites that drive the emulated SSD through the block layer. tests/kunit/guest.sh
 * loads the module once for each suite and plans media faults in between; a power cut comes
 * between blk-before-cut and blk-after-cut, which is in another boot.
 *
 * The oracle is a shadow in memory: each sector written carries its number and the version
 * of its write, and after an operation the sectors around it are read back, too. Times are
 * those of the guest's clock, which is virtual: a write that ends before its page can have
 * been programmed (`program_ns`) did not wait for it.
 */
#include <linux/bio.h>
#include <linux/blkdev.h>
#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/version.h>

#include "suite.h"

#define UNIT 8u			/* sectors of a mapping unit */
#define PAGE 32u		/* sectors of a NAND page, in small.ini */
#define BIO_MAX 256u		/* sectors of the largest bio here */
#define WINDOW 512u		/* sectors covered by the shadow */
#define BUFFER_ORDER 6		/* pages of a buffer: WINDOW sectors */
#define BASE (64u << 11)	/* the window's first sector: 64 MiB */
#define WORKERS 4u

static char *suite = "blk";
module_param(suite, charp, 0444);
MODULE_PARM_DESC(suite, "blk, blk-fault, blk-lost, blk-healed, blk-before-cut or blk-after-cut");
static char *dev = "/dev/nvme0n1";
module_param(dev, charp, 0444);
static ulong program_ns = 640000;
module_param(program_ns, ulong, 0444);
MODULE_PARM_DESC(program_ns, "the profile's timing.program_ns");

static struct block_device *bdev;
static u8 *out, *in;			/* buffers of WINDOW sectors, contiguous */
static u64 shadow[WINDOW];		/* versions; 0: zeroes */
static u64 version;

/* ---- I/O ---------------------------------------------------------------------------- */

/* Transfer `count` sectors of the buffer in one bio. */
static int transfer(blk_opf_t op, sector_t sector, u32 count, u8 *buffer)
{
	struct bio *bio = bio_alloc(bdev, 1, op, GFP_KERNEL);
	int err;

	bio->bi_iter.bi_sector = sector;
	__bio_add_page(bio, virt_to_page(buffer), count << 9, offset_in_page(buffer));
	err = submit_bio_wait(bio);
	bio_put(bio);
	return err;
}

static void stamp(u8 *sector, u64 number, u64 value)
{
	u64 *words = (u64 *)sector;

	for (u32 i = 0; i < 64; i += 2) {
		words[i] = value;
		words[i + 1] = value ? number : 0;
	}
}

static bool is_stamped(const u8 *sector, u64 number, u64 value)
{
	u8 want[512];

	stamp(want, number, value);
	return !memcmp(sector, want, sizeof(want));
}

/* Prepare a write at `at` in the window; the shadow then has the content expected after it. */
static void prepare(u32 at, u32 count)
{
	version++;
	for (u32 i = at; i < at + count; i++) {
		shadow[i] = version;
		stamp(out + (i - at) * 512, BASE + i, version);
	}
}

static int write_at(u32 at, u32 count, blk_opf_t flags)
{
	prepare(at, count);
	return transfer(REQ_OP_WRITE | REQ_SYNC | flags, BASE + at, count, out);
}

/* Return the number of wrong sectors in the window; ~0: they cannot be read. */
static u32 wrong_in(u32 at, u32 count)
{
	u32 wrong = 0;

	for (u32 i = 0; i < count; i += BIO_MAX)
		if (transfer(REQ_OP_READ, BASE + at + i, min(count - i, BIO_MAX), in + i * 512))
			return ~0u;
	for (u32 i = 0; i < count; i++)
		wrong += !is_stamped(in + i * 512, BASE + at + i, shadow[at + i]);
	return wrong;
}

/* Compare `count` sectors at `at`, and a page on each side, with the shadow. */
static u32 wrong_around(u32 at, u32 count)
{
	u32 from = at < PAGE ? 0 : at - PAGE, to = min(at + count + PAGE, WINDOW);

	return wrong_in(from, to - from);
}

static int begin(struct kunit *test)
{
	version = 0;
	memset(shadow, 0, sizeof(shadow));
	for (u32 i = 0; i < WINDOW; i += BIO_MAX) {
		int err = write_at(i, BIO_MAX, 0);

		if (err)
			return err;
	}
	return 0;
}

/* ---- blk: a drive without faults ---------------------------------------------------------- */

static void bios_of_every_size(struct kunit *test)
{
	for (u32 count = 1; count <= BIO_MAX; count++) {
		u32 at = PAGE + count * 7 % PAGE;

		KUNIT_ASSERT_EQ(test, write_at(at, count, 0), 0);
		KUNIT_ASSERT_EQ_MSG(test, wrong_around(at, count), 0, "%u sectors at %u", count, at);
	}
}

static void bios_at_every_sector_of_a_page(struct kunit *test)
{
	static const u32 counts[] = { 1, UNIT - 1, UNIT, UNIT + 1, PAGE, PAGE + 1 };

	for (u32 at = 2 * PAGE; at < 3 * PAGE; at++)
		for (u32 i = 0; i < ARRAY_SIZE(counts); i++) {
			KUNIT_ASSERT_EQ(test, write_at(at, counts[i], 0), 0);
			KUNIT_ASSERT_EQ_MSG(test, wrong_around(at, counts[i]), 0, "%u sectors at %u", counts[i], at);
		}
}

/* Make a bio of pieces of 1 to 7 sectors, each at another place of its own memory page. */
static struct bio *bio_in_pieces(blk_opf_t op, u32 at, u8 *buffer, u32 *sectors)
{
	struct bio *bio = bio_alloc(bdev, 16, op, GFP_KERNEL);

	*sectors = 0;
	bio->bi_iter.bi_sector = BASE + at;
	for (u32 i = 0; i < 16; i++) {
		u32 count = 1 + i % 7, place = i * 5 % (UNIT - count + 1);

		__bio_add_page(bio, virt_to_page(buffer + i * PAGE_SIZE), count << 9, place << 9);
		*sectors += count;
	}
	return bio;
}

static u8 *piece_of(u8 *buffer, u32 sector)
{
	for (u32 i = 0, first = 0; i < 16; i++) {
		u32 count = 1 + i % 7, place = i * 5 % (UNIT - count + 1);

		if (sector < first + count)
			return buffer + i * PAGE_SIZE + (place + sector - first) * 512;
		first += count;
	}
	return NULL;
}

static void bios_of_many_segments(struct kunit *test)
{
	for (u32 at = PAGE; at < 2 * PAGE; at += 3) {
		u32 sectors, wrong = 0;
		struct bio *bio = bio_in_pieces(REQ_OP_WRITE | REQ_SYNC, at, out, &sectors);

		version++;
		for (u32 i = 0; i < sectors; i++) {
			shadow[at + i] = version;
			stamp(piece_of(out, i), BASE + at + i, version);
		}
		KUNIT_EXPECT_EQ(test, submit_bio_wait(bio), 0);
		bio_put(bio);
		KUNIT_ASSERT_EQ(test, wrong_around(at, sectors), 0);
		bio = bio_in_pieces(REQ_OP_READ, at, in, &sectors);
		KUNIT_EXPECT_EQ(test, submit_bio_wait(bio), 0);
		bio_put(bio);
		for (u32 i = 0; i < sectors; i++)
			wrong += !is_stamped(piece_of(in, i), BASE + at + i, version);
		KUNIT_ASSERT_EQ(test, wrong, 0);
	}
}

static u64 since(u64 *mark)
{
	u64 now = ktime_get_ns(), past = now - *mark;

	*mark = now;
	return past;
}

/*
 * A write ends in the buffer. A flush after it waits for the flash, and the next flush waits for
 * nothing.
 */
static void a_flush_waits_for_what_was_written(struct kunit *test)
{
	u64 mark;

	for (u32 i = 0; i < 8; i++) {
		KUNIT_ASSERT_EQ(test, blkdev_issue_flush(bdev), 0);
		mark = ktime_get_ns();
		KUNIT_ASSERT_EQ(test, write_at(i * 11, UNIT, 0), 0);
		KUNIT_EXPECT_LT(test, since(&mark), program_ns);
		KUNIT_ASSERT_EQ(test, blkdev_issue_flush(bdev), 0);
		KUNIT_EXPECT_GT(test, since(&mark), program_ns);
		KUNIT_ASSERT_EQ(test, blkdev_issue_flush(bdev), 0);
		KUNIT_EXPECT_LT(test, since(&mark), program_ns);
		KUNIT_EXPECT_EQ(test, wrong_around(i * 11, UNIT), 0);
	}
}

/* A FUA write waits for its own program, and a bio with REQ_PREFLUSH for earlier writes. */
static void fua_and_preflush(struct kunit *test)
{
	u64 mark;

	for (u32 i = 0; i < 8; i++) {
		KUNIT_ASSERT_EQ(test, blkdev_issue_flush(bdev), 0);
		mark = ktime_get_ns();
		KUNIT_ASSERT_EQ(test, write_at(i * 11, UNIT, REQ_FUA), 0);
		KUNIT_EXPECT_GT(test, since(&mark), program_ns);
		KUNIT_ASSERT_EQ(test, blkdev_issue_flush(bdev), 0);
		KUNIT_EXPECT_LT(test, since(&mark), program_ns);
		KUNIT_ASSERT_EQ(test, write_at(200 + i * 11, 1, 0), 0);
		since(&mark);
		KUNIT_ASSERT_EQ(test, write_at(i * 11, 3, REQ_PREFLUSH), 0);
		KUNIT_EXPECT_GT(test, since(&mark), program_ns);
		KUNIT_ASSERT_EQ(test, write_at(i * 11, 3, REQ_PREFLUSH | REQ_FUA), 0);
		KUNIT_EXPECT_EQ(test, wrong_in(0, WINDOW), 0);
	}
}

static void discards(struct kunit *test)
{
	static const struct { u32 at, count; } ranges[] = {
		{ PAGE, PAGE }, { 3 * PAGE, UNIT }, { 5 * PAGE + 8, 3 * UNIT }, { 8 * PAGE, 4 * PAGE } };

	for (u32 k = 0; k < ARRAY_SIZE(ranges); k++) {
		u32 at = ranges[k].at, count = ranges[k].count;

		KUNIT_ASSERT_EQ(test, blkdev_issue_discard(bdev, BASE + at, count, GFP_KERNEL), 0);
		memset(&shadow[at], 0, count * sizeof(*shadow));
		KUNIT_ASSERT_EQ(test, wrong_around(at, count), 0);
		KUNIT_ASSERT_EQ(test, write_at(at + 1, 2, 0), 0);	/* part of a discarded unit */
		KUNIT_ASSERT_EQ(test, wrong_around(at, count), 0);
	}
}

/*
 * Discard parts of units: each sector keeps its content or becomes zeroes, and no sector beside them
 * changes.
 */
static void discards_of_parts(struct kunit *test)
{
	for (u32 at = 2 * PAGE + 1; at < 3 * PAGE; at += 5) {
		u32 count = 1 + at % 23, other = 0;

		KUNIT_ASSERT_EQ(test, blkdev_issue_discard(bdev, BASE + at, count, GFP_KERNEL), 0);
		KUNIT_ASSERT_EQ(test, transfer(REQ_OP_READ, BASE + at, count, in), 0);
		for (u32 i = 0; i < count; i++) {
			if (is_stamped(in + i * 512, BASE + at + i, 0))
				shadow[at + i] = 0;
			other += !is_stamped(in + i * 512, BASE + at + i, shadow[at + i]);
		}
		KUNIT_EXPECT_EQ(test, other, 0);
		KUNIT_ASSERT_EQ(test, wrong_around(at, count), 0);
	}
}

/* Write zeroes by the command Write Zeroes: the flag excludes other ways. */
static void write_zeroes(struct kunit *test)
{
	KUNIT_ASSERT_GT(test, bdev_write_zeroes_sectors(bdev), 0);
	for (u32 at = PAGE; at < 2 * PAGE; at += 3) {
		u32 count = 1 + at * 5 % 90;

		KUNIT_ASSERT_EQ(test, blkdev_issue_zeroout(bdev, BASE + at, count, GFP_KERNEL,
							    BLKDEV_ZERO_NOFALLBACK), 0);
		memset(&shadow[at], 0, count * sizeof(*shadow));
		KUNIT_ASSERT_EQ_MSG(test, wrong_around(at, count), 0, "%u sectors at %u", count, at);
		KUNIT_ASSERT_EQ(test, write_at(at + count / 2, 40, 0), 0);
	}
}

static void beyond_the_end(struct kunit *test)
{
	sector_t end = bdev_nr_sectors(bdev);

	KUNIT_EXPECT_EQ(test, transfer(REQ_OP_READ, end - 1, 1, in), 0);
	KUNIT_EXPECT_EQ(test, transfer(REQ_OP_READ, end, 1, in), -EIO);
	KUNIT_EXPECT_EQ(test, transfer(REQ_OP_WRITE, end - 1, 2, out), -EIO);
	KUNIT_EXPECT_EQ(test, wrong_in(0, WINDOW), 0);
}

/* ---- blk: many at once ------------------------------------------------------------------ */

static atomic_t on_the_way, errors;
static struct completion all_done;

static void one_ended(struct bio *bio)
{
	if (bio->bi_status)
		atomic_inc(&errors);
	bio_put(bio);
	if (atomic_dec_and_test(&on_the_way))
		complete(&all_done);
}

/* Submit every sector of the window as its own bio, all at once. */
static void sectors_at_once(struct kunit *test, blk_opf_t op, u8 *buffer)
{
	struct blk_plug plug;

	atomic_set(&on_the_way, WINDOW);
	atomic_set(&errors, 0);
	init_completion(&all_done);
	blk_start_plug(&plug);
	for (u32 i = 0; i < WINDOW; i++) {
		u32 at = i * 197 % WINDOW;		/* not in order */
		struct bio *bio = bio_alloc(bdev, 1, op | REQ_NOMERGE, GFP_KERNEL);

		bio->bi_iter.bi_sector = BASE + at;
		bio->bi_end_io = one_ended;
		__bio_add_page(bio, virt_to_page(buffer + at * 512), 512, offset_in_page(buffer + at * 512));
		submit_bio(bio);
	}
	blk_finish_plug(&plug);
	wait_for_completion(&all_done);
	KUNIT_EXPECT_EQ(test, atomic_read(&errors), 0);
}

static void a_bio_of_each_sector_at_once(struct kunit *test)
{
	u32 wrong = 0;

	prepare(0, WINDOW);
	sectors_at_once(test, REQ_OP_WRITE, out);
	KUNIT_EXPECT_EQ(test, wrong_in(0, WINDOW), 0);
	memset(in, 0xff, WINDOW * 512);
	sectors_at_once(test, REQ_OP_READ, in);
	for (u32 i = 0; i < WINDOW; i++)
		wrong += !is_stamped(in + i * 512, BASE + i, version);
	KUNIT_EXPECT_EQ(test, wrong, 0);
}

struct worker {
	struct completion done;
	u32 number, wrong;
	int err;
};

/* A worker's sectors are in every WORKERS-th unit, so that workers share pages. */
static int work(void *data)
{
	struct worker *w = data;
	u8 *mine = (u8 *)__get_free_page(GFP_KERNEL);
	u64 last[WINDOW / UNIT / WORKERS] = { 0 };

	for (u32 i = 0; i < 200 && mine && !w->err; i++) {
		u32 slot = i * 7 % ARRAY_SIZE(last);
		u32 at = (slot * WORKERS + w->number) * UNIT;

		if (last[slot]) {
			w->err = transfer(REQ_OP_READ, BASE + at, UNIT, mine);
			for (u32 k = 0; k < UNIT; k++)
				w->wrong += !is_stamped(mine + k * 512, BASE + at + k, last[slot]);
		}
		last[slot] = (u64)(w->number + 1) << 32 | i;
		for (u32 k = 0; k < UNIT; k++)
			stamp(mine + k * 512, BASE + at + k, last[slot]);
		w->err = w->err ?: transfer(REQ_OP_WRITE | (i % 16 ? 0 : REQ_FUA), BASE + at, UNIT, mine);
		if (i % 50 == 49)
			w->err = w->err ?: blkdev_issue_flush(bdev);
	}
	free_page((unsigned long)mine);
	kthread_complete_and_exit(&w->done, 0);
}

static void several_submitters(struct kunit *test)
{
	static struct worker workers[WORKERS];

	for (u32 i = 0; i < WORKERS; i++) {
		workers[i] = (struct worker){ .number = i };
		init_completion(&workers[i].done);
		KUNIT_ASSERT_FALSE(test, IS_ERR(kthread_run(work, &workers[i], "submitter%u", i)));
	}
	for (u32 i = 0; i < WORKERS; i++)
		wait_for_completion(&workers[i].done);
	for (u32 i = 0; i < WORKERS; i++) {
		KUNIT_EXPECT_EQ(test, workers[i].err, 0);
		KUNIT_EXPECT_EQ(test, workers[i].wrong, 0);
	}
}

static struct kunit_case well[] = {
	KUNIT_CASE(bios_of_every_size),
	KUNIT_CASE(bios_at_every_sector_of_a_page),
	KUNIT_CASE(bios_of_many_segments),
	KUNIT_CASE(a_flush_waits_for_what_was_written),
	KUNIT_CASE(fua_and_preflush),
	KUNIT_CASE(discards),
	KUNIT_CASE(discards_of_parts),
	KUNIT_CASE(write_zeroes),
	KUNIT_CASE(beyond_the_end),
	KUNIT_CASE(a_bio_of_each_sector_at_once),
	KUNIT_CASE(several_submitters),
	{}
};

/* ---- blk-fault: a program is planned to fail ---------------------------------------------- */

/* The drive writes a page again elsewhere if its program fails; the host sees no error. */
static void a_failed_program_is_not_seen(struct kunit *test)
{
	for (u32 at = 0; at + PAGE <= WINDOW; at += PAGE)
		KUNIT_ASSERT_EQ(test, write_at(at, PAGE, at % (4 * PAGE) ? 0 : REQ_FUA), 0);
	KUNIT_ASSERT_EQ(test, blkdev_issue_flush(bdev), 0);
	KUNIT_EXPECT_EQ(test, wrong_in(0, WINDOW), 0);
}

static struct kunit_case fault[] = { KUNIT_CASE(a_failed_program_is_not_seen), {} };

/* ---- blk-lost, blk-healed: a page that cannot be read --------------------------------------- */

#define SEARCHED (2u << 11)	/* sectors from the drive's first on, among which the page is */

/* Return the number of units that end with a medium error; other errors give ~0. */
static u32 lost_units(sector_t *first)
{
	u32 lost = 0;

	for (sector_t at = 0; at < SEARCHED; at += UNIT) {
		int err = transfer(REQ_OP_READ, at, UNIT, in);

		if (err && err != -ENODATA)
			return ~0u;
		if (err && !lost++)
			*first = at;
	}
	return lost;
}

/* Exactly the units of one page fail, each alone, and every bio with one of them. */
static void a_lost_page_is_a_medium_error(struct kunit *test)
{
	sector_t first = 0;

	KUNIT_ASSERT_EQ(test, lost_units(&first), PAGE / UNIT);
	KUNIT_EXPECT_EQ(test, transfer(REQ_OP_READ, first, 1, in), -ENODATA);
	KUNIT_EXPECT_EQ(test, transfer(REQ_OP_READ, first + UNIT - 1, 1, in), -ENODATA);
	KUNIT_EXPECT_EQ(test, transfer(REQ_OP_READ, first, BIO_MAX, in), -ENODATA);
	KUNIT_EXPECT_EQ(test, transfer(REQ_OP_READ, first, 1, in), -ENODATA);	/* and again */
}

/* A unit that is written again can be read; the other units of the page are unchanged. */
static void writing_heals(struct kunit *test)
{
	sector_t first = 0;

	KUNIT_ASSERT_EQ(test, lost_units(&first), PAGE / UNIT);
	for (u32 i = 0; i < UNIT; i++)
		stamp(out + i * 512, first + i, 77);
	KUNIT_EXPECT_EQ(test, transfer(REQ_OP_WRITE | REQ_FUA, first, UNIT, out), 0);
	KUNIT_EXPECT_EQ(test, transfer(REQ_OP_READ, first, UNIT, in), 0);
	KUNIT_EXPECT_EQ(test, memcmp(in, out, UNIT * 512), 0);
	KUNIT_EXPECT_EQ(test, lost_units(&first), PAGE / UNIT - 1);
}

static struct kunit_case lost[] = {
	KUNIT_CASE(a_lost_page_is_a_medium_error), KUNIT_CASE(writing_heals), {} };

/* The fault plan was cleared, so no unit fails. */
static void nothing_is_lost(struct kunit *test)
{
	sector_t first = 0;

	KUNIT_EXPECT_EQ(test, lost_units(&first), 0);
}

static struct kunit_case healed[] = { KUNIT_CASE(nothing_is_lost), {} };

/* ---- blk-before-cut, blk-after-cut -------------------------------------------------------------- */

#define PIECE (2 * UNIT)	/* sectors of each write: slot 0, 5, 10, ... of the window */
#define SLOTS (WINDOW / PIECE)
#define WRITES_MAX 4000u	/* limit of the writes; the cut comes long before */

static u32 slot_of(u64 write)
{
	return (u32)(write * 5 % SLOTS);
}

/*
 * Write until the power is cut; each eighth write has FUA or is followed by a flush. The numbers of
 * the last durable write and of the last write are logged.
 */
static void writing_until_the_power_goes(struct kunit *test)
{
	u64 durable = 0;
	int err = 0;

	version = 0;
	while (!err && version < WRITES_MAX) {
		bool eighth = version % 8 == 7, fua = version % 16 == 15;

		err = write_at(slot_of(version + 1) * PIECE, PIECE, 0);
		if (!err && eighth && !fua)
			err = blkdev_issue_flush(bdev);
		if (!err && eighth && fua)		/* FUA makes only this write durable, so the flush comes
							 * first */
			err = write_at(slot_of(version + 1) * PIECE, PIECE, REQ_PREFLUSH | REQ_FUA);
		if (!err && eighth)
			durable = version;
	}
	KUNIT_EXPECT_NE(test, err, 0);
	KUNIT_EXPECT_GT(test, durable, SLOTS);
	kunit_info(test, "durable=%llu written=%llu\n", durable, version);
}

static struct kunit_case before_cut[] = { KUNIT_CASE(writing_until_the_power_goes), {} };

static ulong durable;
module_param(durable, ulong, 0444);
static ulong written;
module_param(written, ulong, 0444);
MODULE_PARM_DESC(written, "what blk-before-cut said, for blk-after-cut");

/* Return the number of the last write to this slot among the first `most` writes. */
static u64 last_to(u32 slot, u64 most)
{
	while (most && slot_of(most) != slot)
		most--;
	return most;
}

/*
 * Each unit is whole, belongs to its slot, and is at least as new as the last durable write to it.
 */
static void what_was_durable_is_there(struct kunit *test)
{
	u32 newer = 0;

	KUNIT_ASSERT_GT(test, durable, SLOTS);
	for (u32 slot = 0; slot < SLOTS; slot++) {
		KUNIT_ASSERT_EQ(test, transfer(REQ_OP_READ, BASE + slot * PIECE, PIECE, in), 0);
		for (u32 i = 0; i < PIECE; i++) {
			u64 got = *(u64 *)(in + i / UNIT * UNIT * 512), least = last_to(slot, durable);

			KUNIT_ASSERT_TRUE(test, is_stamped(in + i * 512, BASE + slot * PIECE + i, got));
			KUNIT_ASSERT_EQ(test, slot_of(got), slot);
			KUNIT_ASSERT_GE(test, got, least);
			KUNIT_ASSERT_LE(test, got, written);
			newer += got > least;
		}
	}
	kunit_info(test, "%u sectors are newer than they must be\n", newer);
}

static struct kunit_case after_cut[] = { KUNIT_CASE(what_was_durable_is_there), {} };

/* ---- the module ----------------------------------------------------------------------------------- */

static struct kunit_suite suites[] = {
	{ .name = "blk", .init = begin, .test_cases = well },
	{ .name = "blk-fault", .init = begin, .test_cases = fault },
	{ .name = "blk-lost", .test_cases = lost },
	{ .name = "blk-healed", .test_cases = healed },
	{ .name = "blk-before-cut", .init = begin, .test_cases = before_cut },
	{ .name = "blk-after-cut", .test_cases = after_cut },
};

static struct kunit_suite *find(const char *name)
{
	for (u32 i = 0; i < ARRAY_SIZE(suites); i++)
		if (!strcmp(suites[i].name, name))
			return &suites[i];
	return NULL;
}

/* Linux 6.9 and later open a block device as a file. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 9, 0)
static struct file *opened;

static int open_drive(void)
{
	opened = bdev_file_open_by_path(dev, BLK_OPEN_READ | BLK_OPEN_WRITE, NULL, NULL);
	if (IS_ERR(opened))
		return PTR_ERR(opened);
	bdev = file_bdev(opened);
	return 0;
}

static void close_drive(void)
{
	bdev_fput(opened);
}
#else
#define MODE (FMODE_READ | FMODE_WRITE)

static int open_drive(void)
{
	bdev = blkdev_get_by_path(dev, MODE, NULL);
	return PTR_ERR_OR_ZERO(bdev);
}

static void close_drive(void)
{
	blkdev_put(bdev, MODE);
}
#endif

static int __init blk_init(void)
{
	struct kunit_suite *chosen = find(suite);
	int err;

	if (!chosen)
		return -EINVAL;
	out = (u8 *)__get_free_pages(GFP_KERNEL, BUFFER_ORDER);
	in = (u8 *)__get_free_pages(GFP_KERNEL, BUFFER_ORDER);
	err = open_drive();
	if (out && in && !err)
		suite_run(chosen);
	free_pages((unsigned long)out, BUFFER_ORDER);
	free_pages((unsigned long)in, BUFFER_ORDER);
	if (!err)
		close_drive();
	return err;
}

static void __exit blk_exit(void)
{
}

module_init(blk_init);
module_exit(blk_exit);
MODULE_DESCRIPTION("KUnit suites through the block layer");
MODULE_LICENSE("GPL");
