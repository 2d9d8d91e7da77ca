// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test metadata of logical blocks in the spare area (ftl/page/metadata.h): where they are, and what each way of writing
 * and of reading makes of them. test_cut cuts the power at every command.
 */
#include "unit_drive.h"
#include "nand_geom.h"
#include "oob.h"

#define NONE 0xffffffffu
#define PER_UNIT 128u		/* bytes of metadata of a unit, at most */

static uint8_t buf[UNITS * SECTORS * (512 + PER_UNIT)];

static void on_copy(void *opaque, struct ftl_io *io, uint64_t at, void *data, size_t bytes)
{
	(void)opaque;
	test_copy(io, buf + at, data, bytes);
}

static void begin(uint32_t metadata)
{
	struct nand_array_config ac = config(1, 1, 1);

	c = unit_config();
	c.metadata_bytes = metadata;
	ac.geo.oob_bytes = 4096;
	ac.geo.oob_kept = ftl_oob_bytes(ftl_list[0], &c, &ac.geo);
	test_array_make(&t, &ac);
	unit_begin();
}

static struct ftl_io range(enum ftl_op op, uint32_t sector, uint32_t count, uint32_t k)
{
	return (struct ftl_io){ .op = op, .offset = sector * 512ull, .bytes = count * 512ull, .metadata = (uint8_t)k };
}

/* Write sectors of which all bytes are `v`, and their metadata v + 1, v + 2 ... from sector to sector. */
static void put(uint32_t sector, uint32_t count, uint32_t k, uint8_t v)
{
	memset(buf, v, (size_t)count * 512);
	for (uint32_t i = 0; i < count; i++)
		memset(buf + (size_t)count * 512 + (size_t)i * k, v + 1 + (int)i, k);
	EXPECT_EQ(run_io(range(FTL_WRITE, sector, count, k)), SSD_OK);
}

/* Check that all bytes of these sectors have this data and metadata. */
static void expect(uint32_t sector, uint32_t count, uint32_t k, uint8_t data, uint8_t first, uint8_t step)
{
	memset(buf, 0xaa, (size_t)count * (512 + k));
	EXPECT_EQ(run_io(range(FTL_READ, sector, count, k)), SSD_OK);
	for (uint32_t i = 0; i < count; i++) {
		const uint8_t *d = buf + (size_t)i * 512, *m = buf + (size_t)count * 512 + (size_t)i * k;

		EXPECT_EQ(d[0], data);
		EXPECT_EQ(memcmp(d, d + 1, 511), 0);
		for (uint32_t b = 0; b < k; b++)
			EXPECT_EQ(m[b], (uint8_t)(first + i * step));
	}
}

static void flush(void)
{
	EXPECT_EQ(run_io((struct ftl_io){ .op = FTL_FLUSH }), SSD_OK);
	settle();
}

/* Metadata are behind the 16 bytes of the spare area that a page of one unit uses itself. */
static void place(uint32_t k)
{
	const uint8_t *oob;
	const void *o;

	begin(k * SECTORS);
	EXPECT_EQ(t.c.geo.oob_kept, 16 + k * SECTORS);
	put(8, 8, k, 0x10);
	flush();
	EXPECT_EQ(t.n->ops->peek(t.n, (ppn_t){ 0 }, NULL, &o), NAND_OK);
	oob = o;
	EXPECT_EQ(oob[7], 1);		/* LPN 1 */
	for (uint32_t i = 0; i < SECTORS; i++)
		for (uint32_t b = 0; b < k; b++)
			EXPECT_EQ(oob[16 + i * k + b], 0x11 + i);
	expect(8, 8, k, 0x10, 0x11, 1);
	drive_free();
}

static void where_they_are(void)
{
	place(1);
	place(2);
	place(8);
	place(16);
}

/* Find the page on flash with the newest version of the LPN. Returns its spare area. */
static const uint8_t *newest(uint32_t lpn)
{
	const uint8_t *found = NULL;

	for (uint32_t p = 0; p < geo_pages(&t.c.geo); p++) {
		const void *o;

		if (t.n->ops->peek(t.n, (ppn_t){ p }, NULL, &o) != NAND_OK)
			continue;
		if ((oob_get_lpn(o, 0) & ~OOB_LOST) == lpn && (!found || oob_get_seq(o, 0) >= oob_get_seq(found, 0)))
			found = o;
	}
	SSD_ASSERT(found);
	return found;
}

/* Fill the memory of all slots, and then the flash, with metadata of units 1 to 4. */
static void fill_slots(uint32_t k)
{
	for (uint32_t u = 1; u <= 4; u++)
		put(u * SECTORS, SECTORS, k, 0xa0);
	flush();
}

static void expect_blank(uint32_t lpn, uint32_t from, uint32_t bytes)
{
	const uint8_t *oob = newest(lpn);

	for (uint32_t i = from; i < bytes; i++)
		EXPECT_EQ(oob[16 + i], 0xff);
}

/* A format has fewer bytes than the drive has room for: the rest of a unit's room is FFh. */
static void fewer_than_there_is_room(void)
{
	const void *o;

	begin(128);
	put(0, 8, 1, 0x20);
	flush();
	EXPECT_EQ(t.n->ops->peek(t.n, (ppn_t){ 0 }, NULL, &o), NAND_OK);
	EXPECT_EQ(((const uint8_t *)o)[16 + 7], 0x28);
	for (uint32_t i = 8; i < 128; i++)
		EXPECT_EQ(((const uint8_t *)o)[16 + i], 0xff);
	expect(0, 8, 1, 0x20, 0x21, 1);
	fill_slots(16);
	put(2, 1, 1, 0x50);		/* with a base from flash */
	flush();
	expect_blank(0, 8, 128);
	expect(0, 2, 1, 0x20, 0x21, 1);
	expect(2, 1, 1, 0x50, 0x51, 1);
	expect(3, 5, 1, 0x20, 0x24, 1);
	drive_free();
}

/* Test the most bytes of a sector that ftl_io.metadata expresses. */
static void as_many_as_there_can_be(void)
{
	begin(255 * SECTORS);
	put(0, 8, 255, 0x10);
	flush();
	fill_slots(255);
	put(2, 1, 255, 0x60);
	flush();
	expect(0, 2, 255, 0x10, 0x11, 1);
	expect(2, 1, 255, 0x60, 0x61, 1);
	expect(3, 5, 255, 0x10, 0x14, 1);
	drive_free();
}

/* Units without metadata have FFh on flash, though slots and spare areas in memory had others' before. */
static void blank_on_flash(void)
{
	struct ftl_io lose = range(FTL_WRITE, 0, 8, 0);

	begin(64);
	put(0, 8, 8, 0x10);
	fill_slots(8);
	EXPECT_EQ(run_io(range(FTL_TRIM, 2 * SECTORS, 8, 0)), SSD_OK);
	flush();
	expect_blank(UNITS, 0, 64);	/* the bitmap of trimmed units */
	fill_slots(8);
	lose.lost = true;
	EXPECT_EQ(run_io(lose), SSD_OK);
	flush();
	expect_blank(0, 0, 64);
	drive_free();
}

/* A read returns FFh as metadata of sectors never written, trimmed, or written without metadata. */
static void without_metadata(void)
{
	begin(64);
	expect(0, 16, 8, 0, 0xff, 0);
	put(0, 8, 8, 0x30);
	put(8, 8, 8, 0x40);
	flush();
	EXPECT_EQ(run_io(range(FTL_TRIM, 0, 8, 0)), SSD_OK);
	expect(0, 8, 8, 0, 0xff, 0);
	put(8, 1, 0, 0x50);		/* one sector without: those of the unit have none any more */
	expect(8, 1, 8, 0x50, 0xff, 0);
	expect(9, 7, 8, 0x40, 0xff, 0);
	flush();
	expect(0, 8, 8, 0, 0xff, 0);
	expect(8, 1, 8, 0x50, 0xff, 0);
	expect(9, 7, 8, 0x40, 0xff, 0);
	drive_free();
}

/* Write parts of a unit, on flash (false) or in the buffer: each sector keeps what was written with it. */
static void parts(bool buffered)
{
	begin(64);
	put(0, 8, 8, 0x10);
	if (!buffered)
		flush();
	put(2, 3, 8, 0x60);
	for (uint32_t round = 0; round < 2; round++) {
		expect(0, 2, 8, 0x10, 0x11, 1);
		expect(2, 3, 8, 0x60, 0x61, 1);
		expect(5, 3, 8, 0x10, 0x16, 1);
		flush();
	}
	put(13, 1, 8, 0x70);		/* of a unit that was never written */
	expect(8, 5, 8, 0, 0xff, 0);
	expect(13, 1, 8, 0x70, 0x71, 1);
	expect(14, 2, 8, 0, 0xff, 0);
	put(14, 2, 8, 0x20);
	flush();
	expect(8, 5, 8, 0, 0xff, 0);
	expect(13, 1, 8, 0x70, 0x71, 1);
	expect(14, 2, 8, 0x20, 0x21, 1);
	drive_free();
}

static void parts_of_units(void)
{
	parts(false);
	parts(true);
}

/* A lost sector leaves the metadata of the others as they are, and is whole again when it is written. */
static void beside_lost_sectors(void)
{
	struct ftl_io lose = range(FTL_WRITE, 3, 1, 0);

	lose.lost = true;
	begin(64);
	put(0, 8, 8, 0x10);
	flush();
	EXPECT_EQ(run_io(lose), SSD_OK);
	for (uint32_t round = 0; round < 2; round++) {
		expect(0, 3, 8, 0x10, 0x11, 1);
		EXPECT_EQ(run_io(range(FTL_READ, 3, 1, 8)), SSD_E_UNCORR);
		expect(4, 4, 8, 0x10, 0x15, 1);
		flush();
	}
	put(3, 1, 8, 0x80);
	flush();
	expect(0, 3, 8, 0x10, 0x11, 1);
	expect(3, 1, 8, 0x80, 0x81, 1);
	expect(4, 4, 8, 0x10, 0x15, 1);
	drive_free();
}

/* The die programs other units, so a base that is read now is pending until settle(). */
static struct ftl_io others, behind;

static void keep_busy(void)
{
	others = range(FTL_WRITE, 10 * SECTORS, SECTORS, 8);
	behind = (struct ftl_io){ .op = FTL_FLUSH };
	f->ops->submit(f, now, &others);
	f->ops->submit(f, now, &behind);
	next = f->ops->step(f, now);
}

/*
 * A read is submitted, then a write of sector 2 (data and metadata 55h), of which k bytes of metadata are taken. The
 * read ends before the write's base is there. Both have the sector from the write and others from flash; k = 0: none
 * of the unit has metadata.
 */
static void reads_beside(uint32_t k, bool loses)
{
	struct ftl_io read = range(FTL_READ, 0, loses ? 3 : 8, 8), write = range(FTL_WRITE, 2, 1, k);
	struct ftl_io lose = range(FTL_WRITE, 3, 1, 0);
	uint32_t count = loses ? 3 : 8;

	begin(64);
	put(0, 8, 8, 0x10);
	flush();
	memset(buf, 0x55, sizeof(buf));
	keep_busy();
	f->ops->submit(f, now, &read);
	f->ops->submit(f, now, &write);
	lose.lost = true;
	if (loses)
		f->ops->submit(f, now, &lose);
	memset(buf, 0xee, sizeof(buf));
	next = f->ops->step(f, now);
	settle();
	EXPECT_EQ(read.status, SSD_OK);
	for (uint32_t i = 0; i < count; i++) {
		EXPECT_EQ(buf[i * 512], i == 2 ? 0x55 : 0x10);
		for (uint32_t b = 0; b < 8; b++)
			EXPECT_EQ(buf[count * 512 + i * 8 + b], !k ? 0xff : i == 2 ? 0x55 : 0x11 + i);
	}
	drive_free();
}

static void reads_while_a_base_is_pending(void)
{
	reads_beside(8, false);
	reads_beside(0, false);
	reads_beside(8, true);
	reads_beside(0, true);
}

/*
 * Sector 0 is written without metadata, which blanks those of the whole unit; then sector 1 with metadata. Sectors 2 to
 * 7 end without metadata, also if the unit's old content (the base) is read only after both writes (pending).
 */
static void mixed(bool pending)
{
	struct ftl_io without = range(FTL_WRITE, 0, 1, 0), with = range(FTL_WRITE, 1, 1, 8);

	begin(64);
	put(0, 8, 8, 0x10);
	flush();
	memset(buf, 0x55, sizeof(buf));
	if (pending)
		keep_busy();
	f->ops->submit(f, now, &without);
	if (!pending) {
		next = f->ops->step(f, now);
		settle();
	}
	f->ops->submit(f, now, &with);
	next = f->ops->step(f, now);
	settle();
	flush();
	expect(0, 1, 8, 0x55, 0xff, 0);
	expect(1, 1, 8, 0x55, 0x55, 0);
	expect(2, 6, 8, 0x10, 0xff, 0);
	drive_free();
}

static void with_and_without(void)
{
	mixed(false);
	mixed(true);
}

/*
 * Two partial writes of unit 0 while its base is pending, of sector 0 with k bytes of metadata and of another sector. A
 * write between them closes the page, so the second has a slot of its own that begins as a copy of the first's.
 */
static void two_slots(uint32_t k, struct ftl_io second)
{
	struct ftl_io first = range(FTL_WRITE, 0, 1, k), between = range(FTL_WRITE, 5 * SECTORS, SECTORS, 8);

	begin(64);
	put(0, 8, 8, 0x10);
	flush();
	memset(buf, 0x55, sizeof(buf));
	keep_busy();
	f->ops->submit(f, now, &first);
	f->ops->submit(f, now, &between);
	f->ops->submit(f, now, &second);
	EXPECT_EQ(f->ops->stats(f)->coalesced_units, 0);
	next = f->ops->step(f, now);
	settle();
	flush();
}

static void slots_with_pending_bases(void)
{
	struct ftl_io lose = range(FTL_WRITE, 1, 1, 0);

	two_slots(0, range(FTL_WRITE, 1, 1, 8));
	expect(0, 1, 8, 0x55, 0xff, 0);
	expect(1, 1, 8, 0x55, 0x55, 0);
	expect(2, 6, 8, 0x10, 0xff, 0);
	drive_free();
	lose.lost = true;
	two_slots(8, lose);
	expect(0, 1, 8, 0x55, 0x55, 0);
	expect(2, 6, 8, 0x10, 0x13, 1);
	drive_free();
}

/* GC moves metadata with its units, and a mount finds it. */
static void copied_and_mounted(void)
{
	begin(64);
	for (uint32_t u = 0; u < 8; u++)
		put(u * SECTORS, SECTORS, 8, (uint8_t)(u * 16));
	for (uint32_t i = 0; i < 60; i++)
		put((8 + i % 6) * SECTORS, SECTORS, 8, (uint8_t)i);
	flush();
	EXPECT(f->ops->stats(f)->gc_units >= 8);
	for (uint32_t round = 0; round < 2; round++) {
		for (uint32_t u = 0; u < 8; u++)
			expect(u * SECTORS, SECTORS, 8, (uint8_t)(u * 16), (uint8_t)(u * 16 + 1), 1);
		for (uint32_t i = 54; i < 60; i++)
			expect((8 + i % 6) * SECTORS, SECTORS, 8, (uint8_t)i, (uint8_t)(i + 1), 1);
		nand_array_power_cut(t.a, now, 1);
		nand_array_power_on(t.a);
		mount();
	}
	drive_free();
}

static bool fails;			/* the next program */
static uint32_t unreadable;		/* a page */

static enum nand_status on_fault(void *opaque, const struct nand_cmd *cmd)
{
	(void)opaque;
	if (cmd->op == NAND_READ)
		return cmd->ppn.v == unreadable ? NAND_UNCORR : NAND_OK;
	if (!fails || cmd->op != NAND_PROGRAM)
		return NAND_OK;
	fails = false;
	return NAND_PROG_FAIL;
}

/* A page whose program failed is read from the buffer until it is programmed again. */
static void program_fails(void)
{
	const struct nand_hooks hooks = { .fault = on_fault };

	begin(64);
	unreadable = NONE;
	nand_array_set_hooks(t.a, &hooks);
	put(0, 8, 8, 0x10);
	flush();
	fails = true;
	put(0, 8, 8, 0x20);
	put(8, 8, 8, 0x30);
	expect(0, 8, 8, 0x20, 0x21, 1);
	flush();
	EXPECT(!fails);
	expect(0, 8, 8, 0x20, 0x21, 1);
	expect(8, 8, 8, 0x30, 0x31, 1);
	drive_free();
}

/* GC cannot read a page: its copy has no metadata. */
static void a_lost_page_is_copied(void)
{
	const struct nand_hooks hooks = { .fault = on_fault };

	begin(64);
	unreadable = 0;
	nand_array_set_hooks(t.a, &hooks);
	put(0, 8, 8, 0x10);		/* in page 0 */
	for (uint32_t i = 0; i < 40 && !f->ops->stats(f)->gc_units; i++) {
		put((1 + i % 13) * SECTORS, SECTORS, 8, (uint8_t)i);
		flush();
	}
	EXPECT(f->ops->stats(f)->gc_units > 0);
	EXPECT(oob_get_lpn(newest(0), 0) == OOB_LOST);
	expect_blank(0, 0, 64);
	drive_free();
}

/* Metadata come from the spare area's cells. The host gets a wrong bit that ECC has not detected. */
static void a_flipped_bit(void)
{
	const void *o;

	begin(64);
	put(0, 8, 8, 0x10);
	flush();
	EXPECT_EQ(t.n->ops->peek(t.n, (ppn_t){ 0 }, NULL, &o), NAND_OK);
	((uint8_t *)(uintptr_t)o)[16 + 3 * 8 + 5] ^= 0x40;
	EXPECT_EQ(run_io(range(FTL_READ, 0, 8, 8)), SSD_OK);
	for (uint32_t i = 0; i < 64; i++)
		EXPECT_EQ(buf[8 * 512 + i], (0x11 + i / 8) ^ (i == 3 * 8 + 5 ? 0x40 : 0));
	drive_free();
}

/* With room for metadata, an I/O without them takes the same times as on a drive without. */
static void same_times(void)
{
	uint64_t end[2];

	for (uint32_t k = 0; k < 2; k++) {
		begin(k * 64);
		for (uint32_t i = 0; i < 60; i++)
			put(i % 14 * SECTORS, 1 + i % 8, 0, (uint8_t)i);
		flush();
		expect(4 * SECTORS, 1, 0, 46, 0, 0);
		end[k] = now;
		drive_free();
	}
	EXPECT_EQ(end[0], end[1]);
}

static const char *fault_of(const char *type, struct ftl_config fc, uint32_t oob_bytes)
{
	struct nand_geometry g = config(1, 1, 1).geo;
	const char *why = NULL;
	size_t i = 0;

	while (strcmp(ftl_list[i]->name, type) != 0)
		i++;
	g.oob_bytes = oob_bytes;
	g.copyback = true;
	if (!strcmp(type, "parity"))
		g.order = NAND_ORDER_RPS;
	return ftl_validate(ftl_list[i], &fc, &g, &why) ? why : "";
}

static void settings(void)
{
	struct ftl_config bad;

	begin(64);
	EXPECT_EQ(strcmp(fault_of("page", c, 80), ""), 0);
	EXPECT_EQ(strcmp(fault_of("page", c, 79), "oob_bytes is too small for this FTL: raise it"), 0);
	bad = c;
	bad.metadata_bytes = 60;
	EXPECT_EQ(strncmp(fault_of("page", bad, 256), "metadata_bytes must be a multiple", 33), 0);
	bad = c;
	bad.gc_copyback = true;
	EXPECT_EQ(strncmp(fault_of("page", bad, 256), "metadata_bytes must be 0 with gc_copyback", 41), 0);
	EXPECT_EQ(strncmp(fault_of("parity", c, 256), "metadata_bytes must be 0: parity pages", 38), 0);
	drive_free();
}

int main(void)
{
	RUN(where_they_are);
	RUN(fewer_than_there_is_room);
	RUN(as_many_as_there_can_be);
	RUN(blank_on_flash);
	RUN(without_metadata);
	RUN(parts_of_units);
	RUN(beside_lost_sectors);
	RUN(reads_while_a_base_is_pending);
	RUN(with_and_without);
	RUN(slots_with_pending_bases);
	RUN(copied_and_mounted);
	RUN(program_fails);
	RUN(a_lost_page_is_copied);
	RUN(a_flipped_bit);
	RUN(same_times);
	RUN(settings);
	return test_result();
}
