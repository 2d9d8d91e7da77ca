// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test the controller's read cache and read-ahead: times computed by hand, which unit gives way, and
 * content after writes and failures. Units 0 to 31 are written and flushed first, four to a page,
 * pages on two dies in turn.
 */
#include "controller.h"
#include "gc_policy.h"
#include "slot_host.h"

#define UNIT 4096u
#define PAGE_UNITS 4u
#define PAGE (PAGE_UNITS * UNIT)
#define OOB 256u
#define LOOKUP 200u
#define COMMAND 1000u
#define COMPLETION 300u
#define BUFFER 2000u
#define FLASH (100 + 50000 + PAGE + OOB)	/* read of a page: command, cell phase, transfer at 1 ns a byte */
#define FIRMWARE (COMMAND + LOOKUP + COMPLETION)
#define IOS 8u
#define WRITTEN 32u

#define NONE 0xffffffffu

static uint32_t last_program;		/* page programmed last */
static uint32_t lost_page;		/* page whose reads fail, or NONE */
static uint8_t metadata;		/* bytes of each sector, of reads and writes */
static uint8_t tag[IOS];		/* of a write in the slot: each byte of its data; of its metadata, plus 100 */
static uint8_t got[IOS][8 * (UNIT + 32)];	/* data of a read in the slot, and metadata behind them */

static void on_copy(void *opaque, struct ftl_io *io, uint64_t at, void *buf, size_t len)
{
	size_t i = (size_t)(ssd_container_of(io, struct slot, io) - slot);

	(void)opaque;
	if (io->op == FTL_WRITE)
		memset(buf, tag[i] + (at < io->bytes ? 0 : 100), len);
	else if (buf)
		memcpy(got[i] + at, buf, len);
	else
		memset(got[i] + at, 0, len);
}

static enum nand_status on_fault(void *opaque, const struct nand_cmd *c)
{
	(void)opaque;
	if (c->op == NAND_PROGRAM)
		last_program = c->ppn.v;
	return c->op == NAND_READ && c->ppn.v == lost_page ? NAND_UNCORR : NAND_OK;
}

static struct slot *submit(uint32_t i, enum ftl_op op, uint64_t sector, uint32_t sectors)
{
	slot[i].io = (struct ftl_io){ .op = op, .offset = sector * 512, .bytes = sectors * 512ull };
	if (op == FTL_READ || op == FTL_WRITE)
		slot[i].io.metadata = metadata;
	(void)submit_slot(i);
	return &slot[i];
}

static void wait_for(const struct slot *s)
{
	while (s->waits)
		SSD_ASSERT(pass_time());
}

/* Write units, each byte of which is the value. */
static void put(uint32_t unit, uint32_t units, uint8_t value)
{
	tag[0] = value;
	wait_for(submit(0, FTL_WRITE, unit * 8ull, units * 8));
}

/* Read units, one I/O, and return its latency. */
static uint64_t get(uint32_t unit, uint32_t units)
{
	struct slot *s = submit(1, FTL_READ, unit * 8ull, units * 8);

	wait_for(s);
	return s->io.done_ns - s->io.submit_ns;
}

static uint64_t flash_reads(void)
{
	struct nand_stats s;

	t.n->ops->get_stats(t.n, &s);
	return s.ops[NAND_READ][NAND_SRC_HOST];
}

static void make_with(uint32_t cache_units, uint32_t ahead_units, uint32_t hit_ns)
{
	static const struct ftl_host host = { on_done, on_copy, NULL };
	static const struct nand_hooks hooks = { .fault = on_fault };
	struct nand_array_config c = {
		.geo = { 2, 1, 1, 1, 16, 8, PAGE, OOB, 0, PAGE, 0, 1, 1 },
		.timing = { 100, { 50000 }, { 200000 }, { 1000000 }, 1000 }, .payload = true };
	struct ftl_config fc = {
		.capacity_bytes = 200 * UNIT, .unit_bytes = UNIT, .buffer_units = 32,
		.gc_start_blocks = 4, .gc_stop_blocks = 5, .gc_urgent_blocks = 2,
		.gc_mode = FTL_GC_SLICED, .gc_slice_pages = 4, .payload = true, .map_ns = LOOKUP,
		.buffer_ns = BUFFER, .overhead_ns = COMMAND, .max_unit_reads = 64, .gc_policy = &gc_greedy,
		.cores = 1, .completion_ns = COMPLETION,
		.metadata_bytes = metadata * 8u, .read_cache_units = cache_units, .read_ahead_units = ahead_units,
		.read_hit_ns = hit_ns };
	size_t bytes;

	memset(slot, 0, sizeof(slot));
	lost_page = NONE;
	now = 0;
	c.geo.oob_kept = ftl_oob_bytes(ftl_list[0], &fc, &c.geo);
	test_array_make(&t, &c);
	nand_array_set_hooks(t.a, &hooks);
	bytes = controller_footprint(ftl_list[0], &fc, &c.geo);
	mem = calloc(1, bytes);
	SSD_ASSERT(controller_init(ftl_list[0], mem, bytes, &fc, t.n, &host, &f) == SSD_OK);
	SSD_ASSERT(f->ops->mount(f, 0, &now) == SSD_OK);
	for (uint32_t unit = 0; unit < WRITTEN; unit++)
		put(unit, 1, (uint8_t)(unit + 1));
	wait_for(submit(0, FTL_FLUSH, 0, 0));
	settle_down();
}

static void make(uint32_t cache_units, uint32_t ahead_units)
{
	make_with(cache_units, ahead_units, 0);
}

/* ---- the cache ---- */

static void a_second_read_costs_no_flash(void)
{
	uint64_t before;

	make(8, 0);
	before = flash_reads();
	EXPECT_EQ(get(5, 1), FIRMWARE + FLASH);
	EXPECT_EQ(got[1][0], 6);
	got[1][0] = 0;
	EXPECT_EQ(get(5, 1), FIRMWARE + BUFFER);
	EXPECT_EQ(slot[1].io.where.buffer_ns, BUFFER);
	EXPECT_EQ(got[1][0], 6);
	EXPECT_EQ(flash_reads() - before, 1);
	EXPECT_EQ(f->ops->stats(f)->read_cache_hits, 1);
	EXPECT_EQ(f->ops->stats(f)->read_ahead_units, 0);
	f->ops->reset_stats(f);
	EXPECT_EQ(f->ops->stats(f)->read_cache_hits, 0);
	done_with_it();
}

/* A hit takes its own time, if one is set; a write still takes the buffer's time. */
static void a_hit_with_a_time_of_its_own(void)
{
	struct slot *s;

	make_with(8, 0, 700);
	EXPECT_EQ(get(5, 1), FIRMWARE + FLASH);
	EXPECT_EQ(get(5, 1), FIRMWARE + 700);
	EXPECT_EQ(slot[1].io.where.buffer_ns, 700);
	s = submit(0, FTL_WRITE, 5 * 8, 8);
	wait_for(s);
	EXPECT_EQ(s->io.done_ns - s->io.submit_ns, FIRMWARE + BUFFER);
	done_with_it();
}

/*
 * A read of sectors of present units is a hit. A read that reaches beyond them goes to the FTL, all
 * of it.
 */
static void parts_of_units(void)
{
	struct slot *s;

	make(8, 0);
	(void)get(4, 2);
	s = submit(1, FTL_READ, 4 * 8 + 7, 2);
	wait_for(s);
	EXPECT_EQ(s->io.done_ns - s->io.submit_ns, FIRMWARE + LOOKUP + BUFFER);
	EXPECT_EQ(got[1][0], 5);
	EXPECT_EQ(got[1][512], 6);
	s = submit(1, FTL_READ, 5 * 8 + 7, 2);
	wait_for(s);
	EXPECT_EQ(s->io.done_ns - s->io.submit_ns, FIRMWARE + LOOKUP + FLASH);
	EXPECT_EQ(got[1][512], 7);
	EXPECT_EQ(get(6, 1), FIRMWARE + FLASH);		/* a read of a part of a unit did not fill the cache */
	done_with_it();
}

static void the_least_recently_used_unit_gives_way(void)
{
	make(3, 0);
	(void)get(0, 1);
	(void)get(8, 1);
	(void)get(16, 1);
	EXPECT_EQ(get(0, 1), FIRMWARE + BUFFER);
	EXPECT_EQ(get(24, 1), FIRMWARE + FLASH);	/* in place of 8 */
	EXPECT_EQ(get(0, 1), FIRMWARE + BUFFER);
	EXPECT_EQ(get(16, 1), FIRMWARE + BUFFER);
	EXPECT_EQ(get(8, 1), FIRMWARE + FLASH);		/* in place of 24 */
	EXPECT_EQ(get(24, 1), FIRMWARE + FLASH);
	done_with_it();
}

static void writes_and_trims_remove(void)
{
	make(8, 0);
	(void)get(0, 2);
	put(0, 1, 0x77);
	EXPECT_EQ(get(1, 1), FIRMWARE + BUFFER);
	(void)get(0, 1);
	EXPECT_EQ(got[1][0], 0x77);
	tag[0] = 0x55;
	wait_for(submit(0, FTL_WRITE, 7, 1));		/* one sector */
	(void)get(0, 1);
	EXPECT_EQ(got[1][0], 0x77);
	EXPECT_EQ(got[1][7 * 512], 0x55);
	(void)get(0, 1);
	wait_for(submit(0, FTL_TRIM, 0, 8));
	(void)get(0, 1);
	EXPECT_EQ(got[1][0], 0);
	done_with_it();
}

/* A write reaches the FTL while a read of the same unit is at the flash: its content is not kept. */
static void a_write_during_a_read(void)
{
	struct slot *r;

	make(8, 0);
	r = submit(2, FTL_READ, 9 * 8, 8);
	for (uint64_t until = now + 2 * FIRMWARE; now < until;)
		now = f->ops->step(f, now) < until ? f->ops->step(f, now) : until;
	EXPECT(r->io.done_ns > now);
	put(9, 1, 0x66);
	wait_for(r);
	(void)get(9, 1);
	EXPECT_EQ(got[1][0], 0x66);
	done_with_it();
}

/* ---- read-ahead ---- */

/*
 * Four units ahead, one read at a time. The read of unit 1 is the sequence's second, so units 2 and
 * 3, to the end of the page, are read behind it on the same die. The read of unit 2 waits for them:
 * it begins when unit 1's read has ended, and its page's read lasts FLASH from then on, less the
 * completion of unit 1's read, which came first. Unit 3 is there. With it, the next page is read
 * on the other die, from the end of the command on.
 */
static void a_sequence_is_read_ahead(void)
{
	uint64_t before, third;

	make(16, 4);
	before = flash_reads();
	EXPECT_EQ(get(0, 1), FIRMWARE + FLASH);
	EXPECT_EQ(f->ops->stats(f)->read_ahead_units, 0);
	EXPECT_EQ(get(1, 1), FIRMWARE + FLASH);
	EXPECT_EQ(f->ops->stats(f)->read_ahead_units, 2);
	third = get(2, 1);
	EXPECT_EQ(third, FLASH + BUFFER);
	EXPECT_EQ(slot[1].io.where.host_queue_ns, third - FIRMWARE - BUFFER);
	EXPECT_EQ(got[1][0], 3);
	EXPECT_EQ(get(3, 1), FIRMWARE + BUFFER);
	EXPECT_EQ(got[1][0], 4);
	EXPECT_EQ(f->ops->stats(f)->read_ahead_units, 6);
	EXPECT_EQ(get(4, 1), FLASH);
	EXPECT_EQ(got[1][0], 5);
	EXPECT_EQ(get(5, 1), FIRMWARE + BUFFER);
	EXPECT_EQ(flash_reads() - before, 4);
	EXPECT_EQ(f->ops->stats(f)->op[FTL_READ].ios, 6);
	EXPECT_EQ(f->ops->stats(f)->op[FTL_READ].bytes, 6 * UNIT);
	done_with_it();
}

/* Pages are read whole and in order: with eight units ahead all but the first two reads are hits. */
static void pages_in_order(void)
{
	make(32, 8);
	for (uint32_t page = 0; page < WRITTEN / PAGE_UNITS; page++) {
		(void)get(page * PAGE_UNITS, PAGE_UNITS);
		for (uint32_t u = 0; u < PAGE_UNITS; u++)
			EXPECT_EQ(got[1][u * UNIT], page * PAGE_UNITS + u + 1);
	}
	EXPECT_EQ(f->ops->stats(f)->read_cache_hits, WRITTEN / PAGE_UNITS - 2);
	done_with_it();
}

/* The end of the drive is the end of what is read ahead. */
static void at_the_end_of_the_drive(void)
{
	make(16, 8);
	(void)get(196, 1);
	(void)get(197, 1);
	settle_down();
	EXPECT_EQ(f->ops->stats(f)->read_ahead_units, 2);
	EXPECT_EQ(get(198, 2), FIRMWARE + LOOKUP + BUFFER);
	EXPECT_EQ(f->ops->stats(f)->unwritten_reads, 2);	/* without the read-ahead, and without the hit */
	done_with_it();
}

/*
 * Sectors in order: two flash reads for the first two, and a third for the whole of the unit in which they
 * end and for the rest of its page. All others are hits.
 */
static void sectors_in_order(void)
{
	uint64_t before;

	make(16, 4);
	before = flash_reads();
	for (uint32_t sector = 0; sector < 2 * 8; sector++) {
		wait_for(submit(1, FTL_READ, sector, 1));
		EXPECT_EQ(got[1][0], sector / 8 + 1);
		settle_down();
	}
	EXPECT_EQ(flash_reads() - before, 3);
	EXPECT_EQ(f->ops->stats(f)->read_cache_hits, 14);
	EXPECT_EQ(f->ops->stats(f)->read_ahead_units, 4);
	done_with_it();
}

/*
 * Three sequences run at once on one die, with a cache of six units. The second read of the first, unit 1,
 * begins at once and gives way. Units 2, 3, 9 to 11 and 17 wait for the die and fill the cache, so that
 * 18 and 19 are not read ahead. Unit 19 is read ahead at the third sequence's next read.
 */
static void no_read_ahead_without_room(void)
{
	uint64_t before;

	make(6, 4);
	before = flash_reads();
	for (uint32_t i = 0; i < 3; i++)
		(void)get(8 * i, 1);
	for (uint32_t i = 0; i < 3; i++)
		submit(1 + i, FTL_READ, (8 * i + 1) * 8ull, 8);
	settle_down();
	EXPECT_EQ(flash_reads() - before, 3 + 3 + 2);
	EXPECT_EQ(f->ops->stats(f)->read_ahead_units, 4);
	(void)get(18, 1);
	settle_down();
	EXPECT_EQ(flash_reads() - before, 8 + 2);
	EXPECT_EQ(f->ops->stats(f)->read_ahead_units, 5);
	EXPECT_EQ(get(19, 1), FIRMWARE + BUFFER);
	done_with_it();
}

/*
 * Reads of two pages with one page ahead: no read finds all of its units, and each page that was read ahead is
 * read again. The three reads take two flash reads each, and one is read ahead after the second and third.
 */
static void read_ahead_shorter_than_the_reads(void)
{
	uint64_t before;

	make(32, 4);
	before = flash_reads();
	for (uint32_t i = 0; i < 3; i++) {
		(void)get(8 * i, 8);
		settle_down();
	}
	EXPECT_EQ(flash_reads() - before, 3 * 2 + 2);
	EXPECT_EQ(f->ops->stats(f)->read_cache_hits, 0);
	EXPECT_EQ(f->ops->stats(f)->read_ahead_units, 2 * PAGE_UNITS);
	done_with_it();
}

/*
 * No data are read ahead for reads in mixed order. If the reads of two sequences alternate, data
 * are read ahead for both.
 */
static void sequences_beside_each_other(void)
{
	make(32, 4);
	for (uint32_t i = 0; i < 8; i++)
		(void)get(i * 7 % 32, 1);
	EXPECT_EQ(f->ops->stats(f)->read_ahead_units, 0);
	done_with_it();
	make(32, 4);
	for (uint32_t i = 0; i < 2; i++) {
		(void)get(i, 1);
		(void)get(16 + i, 1);
	}
	settle_down();
	EXPECT_EQ(f->ops->stats(f)->read_ahead_units, 4);
	EXPECT_EQ(get(2, 2), FIRMWARE + LOOKUP + BUFFER);
	EXPECT_EQ(get(18, 2), FIRMWARE + LOOKUP + BUFFER);
	done_with_it();
}

/*
 * Units 2 and 3 are read ahead, and 2 is now in another page, which cannot be read any more. The
 * read of unit 3 waits for the read-ahead, which fails; then the FTL reads unit 3 alone.
 */
static void a_failed_read_ahead_fails_no_other_read(void)
{
	struct slot *bad, *good;

	make(16, 4);
	put(2, 1, 0x44);
	wait_for(submit(0, FTL_FLUSH, 0, 0));
	settle_down();
	lost_page = last_program;
	(void)get(0, 1);
	submit(4, FTL_READ, 8, 8);
	good = submit(3, FTL_READ, 3 * 8, 8);
	bad = submit(2, FTL_READ, 2 * 8, 8);
	settle_down();
	EXPECT_EQ(good->io.status, SSD_OK);
	EXPECT_EQ(got[3][0], 4);
	EXPECT_EQ(bad->io.status, SSD_E_UNCORR);
	done_with_it();
}

/* Check that a read of the slot got this in each byte of its data, and of its metadata. */
static void expect_got(uint32_t sectors, uint8_t value)
{
	for (uint32_t i = 0; i < sectors * (512 + 4); i++)
		SSD_ASSERT(got[1][i] == value + (i < sectors * 512 ? 0 : 100));
	memset(got[1], 0, sizeof(got[1]));
}

static void metadata_are_cached(void)
{
	metadata = 4;
	make(16, 4);
	EXPECT_EQ(get(5, 1), FIRMWARE + FLASH);
	expect_got(8, 6);
	EXPECT_EQ(get(5, 1), FIRMWARE + BUFFER);
	expect_got(8, 6);
	wait_for(submit(1, FTL_READ, 5 * 8 + 3, 2));
	expect_got(2, 6);
	EXPECT_EQ(f->ops->stats(f)->read_cache_hits, 2);
	(void)get(16, 1);
	(void)get(17, 1);		/* reads the rest of its page ahead, with metadata */
	settle_down();
	EXPECT_EQ(f->ops->stats(f)->read_ahead_units, 2);
	memset(got[1], 0, sizeof(got[1]));
	EXPECT_EQ(get(18, 1), FIRMWARE + BUFFER);
	expect_got(8, 19);
	put(5, 1, 77);
	wait_for(submit(0, FTL_FLUSH, 0, 0));
	settle_down();
	(void)get(5, 1);
	expect_got(8, 77);
	EXPECT_EQ(get(5, 1), FIRMWARE + BUFFER);
	expect_got(8, 77);
	metadata = 0;			/* reads without metadata do not hit units with them */
	EXPECT_EQ(get(5, 1), FIRMWARE + FLASH);
	EXPECT_EQ(get(5, 1), FIRMWARE + BUFFER);	/* the first of these reads has replaced the entry */
	EXPECT_EQ(got[1][8 * 512 - 1], 77);
	metadata = 4;
	memset(got[1], 0, sizeof(got[1]));
	EXPECT_EQ(get(5, 1), FIRMWARE + FLASH);
	expect_got(8, 77);
	EXPECT_EQ(get(5, 1), FIRMWARE + BUFFER);
	expect_got(8, 77);
	metadata = 0;
	done_with_it();
}

int main(void)
{
	RUN(a_second_read_costs_no_flash);
	RUN(a_hit_with_a_time_of_its_own);
	RUN(parts_of_units);
	RUN(the_least_recently_used_unit_gives_way);
	RUN(writes_and_trims_remove);
	RUN(a_write_during_a_read);
	RUN(a_sequence_is_read_ahead);
	RUN(pages_in_order);
	RUN(at_the_end_of_the_drive);
	RUN(sectors_in_order);
	RUN(read_ahead_shorter_than_the_reads);
	RUN(no_read_ahead_without_room);
	RUN(sequences_beside_each_other);
	RUN(a_failed_read_ahead_fails_no_other_read);
	RUN(metadata_are_cached);
	return test_result();
}
