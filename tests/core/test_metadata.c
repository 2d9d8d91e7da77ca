// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Metadata of logical blocks in the spare area (ftl/page/metadata.h): where they are, and what each way of writing and
 * of reading makes of them. Cuts at every command are test_cut's.
 */
#include "test.h"
#include "timing_drive.h"

#define UNITS 14u
#define SECTORS 8u		/* of a unit */
#define PER_UNIT 128u		/* bytes of metadata of a unit, at most */

static struct ftl *f;
static void *mem;
static size_t len;
static struct ftl_config c;
static uint64_t now, next;
static uint8_t buf[UNITS * SECTORS * (512 + PER_UNIT)];

static void on_done(void *opaque, struct ftl_io *io)
{
	(void)opaque;
	(void)io;
}

static void on_copy(void *opaque, struct ftl_io *io, uint64_t at, void *data, size_t bytes)
{
	(void)opaque;
	test_copy(io, buf + at, data, bytes);
}

static void mount(void)
{
	const struct ftl_host host = { on_done, on_copy, NULL };

	memset(mem, 0, len);
	SSD_ASSERT(ftl_init(ftl_list[0], mem, len, &c, t.n, &host, &f) == SSD_OK);
	SSD_ASSERT(f->ops->mount(f, 0, &now) == SSD_OK);
	f->ops->check(f);
	next = f->ops->step(f, now);
}

static void begin(uint32_t metadata)
{
	struct nand_array_config ac = config(1, 1, 1);

	c = (struct ftl_config){
		.capacity_bytes = UNITS * 4096, .unit_bytes = 4096, .buffer_units = 4, .gc_start_blocks = 4,
		.gc_stop_blocks = 4, .gc_urgent_blocks = 1, .gc_slice_pages = 1, .gc_mode = FTL_GC_SLICED,
		.payload = true, .map_ns = 200, .buffer_ns = 2000, .overhead_ns = 1000, .max_unit_reads = 64,
		.gc_policy = &gc_greedy, .metadata_bytes = metadata,
	};
	ac.geo.oob_bytes = 256;
	ac.geo.oob_kept = ftl_oob_bytes(ftl_list[0], &c, &ac.geo);
	test_array_make(&t, &ac);
	len = ftl_footprint(ftl_list[0], &c, &t.c.geo);
	mem = calloc(1, len);
	mount();
}

static void drive_free(void)
{
	test_array_free(&t);
	free(mem);
}

static void settle(void)
{
	while (next != FTL_IDLE) {
		now = next;
		next = f->ops->step(f, now);
		f->ops->check(f);
	}
}

static enum ssd_err run(struct ftl_io io)
{
	f->ops->submit(f, now, &io);
	next = f->ops->step(f, now);
	while (f->ops->inflight(f)) {
		now = next;
		next = f->ops->step(f, now);
	}
	if (io.done_ns > now) {
		now = io.done_ns;
		next = f->ops->step(f, now);
	}
	return io.status;
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
	EXPECT_EQ(run(range(FTL_WRITE, sector, count, k)), SSD_OK);
}

/* Each of these sectors has this data and metadata, in all bytes. */
static void expect(uint32_t sector, uint32_t count, uint32_t k, uint8_t data, uint8_t first, uint8_t step)
{
	memset(buf, 0xaa, (size_t)count * (512 + k));
	EXPECT_EQ(run(range(FTL_READ, sector, count, k)), SSD_OK);
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
	EXPECT_EQ(run((struct ftl_io){ .op = FTL_FLUSH }), SSD_OK);
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

/* A format with fewer bytes than the drive has room for: the rest of a unit's room is FFh. */
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
	drive_free();
}

/* Never written, trimmed, and written without metadata: FFh. */
static void without_metadata(void)
{
	begin(64);
	expect(0, 16, 8, 0, 0xff, 0);
	put(0, 8, 8, 0x30);
	put(8, 8, 8, 0x40);
	flush();
	EXPECT_EQ(run(range(FTL_TRIM, 0, 8, 0)), SSD_OK);
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

/* Parts of a unit, on flash (false) or in the buffer: each sector keeps what was written with it. */
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
	EXPECT_EQ(run(lose), SSD_OK);
	for (uint32_t round = 0; round < 2; round++) {
		expect(0, 3, 8, 0x10, 0x11, 1);
		EXPECT_EQ(run(range(FTL_READ, 3, 1, 8)), SSD_E_UNCORR);
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

/* GC moves them, and a mount finds them. */
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

/* A page whose program failed is read from the buffer until it is programmed again. */
static bool fails;

static enum nand_status on_fault(void *opaque, const struct nand_cmd *cmd)
{
	(void)opaque;
	if (!fails || cmd->op != NAND_PROGRAM)
		return NAND_OK;
	fails = false;
	return NAND_PROG_FAIL;
}

static void program_fails(void)
{
	const struct nand_hooks hooks = { .fault = on_fault };

	begin(64);
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

/* Metadata come from the spare area's cells. The host gets a wrong bit that ECC has not detected. */
static void a_flipped_bit(void)
{
	const void *o;

	begin(64);
	put(0, 8, 8, 0x10);
	flush();
	EXPECT_EQ(t.n->ops->peek(t.n, (ppn_t){ 0 }, NULL, &o), NAND_OK);
	((uint8_t *)(uintptr_t)o)[16 + 3 * 8 + 5] ^= 0x40;
	EXPECT_EQ(run(range(FTL_READ, 0, 8, 8)), SSD_OK);
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
	RUN(without_metadata);
	RUN(parts_of_units);
	RUN(beside_lost_sectors);
	RUN(copied_and_mounted);
	RUN(program_fails);
	RUN(a_flipped_bit);
	RUN(same_times);
	RUN(settings);
	return test_result();
}
