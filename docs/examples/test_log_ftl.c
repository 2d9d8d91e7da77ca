// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The example FTLs: drives of random shapes, as full as possible, are used for six days each. Every
 * read of a random host is checked, check() is called around every call, and every day ends with a
 * power cut at a random command. On some drives programs and erases fail.
 *
 *   test_log_ftl [DRIVE]
 */
#include "direct_rig.h"

#define DRIVES 120u
#define BUFFERED 1000u			/* drives from this number on use buffered_ftl.c */

static struct rig r;

static struct {
	uint64_t rng, until_cut, cut_ns, fails;
	uint32_t permille;		/* permille of programs and erases that fail */
	jmp_buf off;
} medium;

static uint32_t roll(uint32_t n)
{
	return (uint32_t)(rnd(&medium.rng) % n);
}

static enum nand_status on_fault(void *opaque, const struct nand_cmd *c)
{
	(void)opaque;
	if (c->op == NAND_READ || roll(1000) >= medium.permille)
		return NAND_OK;
	medium.fails++;
	return c->op == NAND_ERASE ? NAND_ERASE_FAIL : NAND_PROG_FAIL;
}

static void on_commands(void *opaque, uint64_t now_ns, const struct nand_cmd *c, unsigned int count)
{
	(void)opaque;
	if (medium.until_cut-- > 0)
		return;
	medium.cut_ns = now_ns + roll(3) * (c[count - 1].done_ns - now_ns) / 2;
	longjmp(medium.off, 1);
}

static void day(void)
{
	medium.until_cut = roll(roll(3) ? 3000 : 40);
	if (setjmp(medium.off))
		return;
	SSD_ASSERT(rig_mount(&r) == SSD_OK);
	rig_read_all(&r);
	rig_verify(&r, &r);
	rig_begin_history(&r);
	rig_work(&r, 250);
	medium.cut_ns = r.now_ns;
}

static bool draw(struct rig_shape *s, bool buffered)
{
	*s = (struct rig_shape){
		.name = "drive", .ftl = "log", .tolerance = 255, .urgent = 2, .start = 3 + roll(2),
		.g = { 1 + roll(2), 1, 1, 1 + roll(2), 8 + roll(6), 2 + roll(9), 512u << roll(3), 64, 0,
		       0, 0, 1, 1, NAND_ORDER_ASCENDING, .copyback = roll(3) == 0 },
		.mode = roll(2) ? FTL_GC_SLICED : FTL_GC_BLOCKING, .hot = roll(30),
	};
	s->g.ecc_word_bytes = s->g.page_bytes;
	if (buffered) {
		s->ftl = "buffered";
		s->unit_bytes = 512;
		s->g.page_bytes = s->g.ecc_word_bytes = 512u << (1 + roll(2));
		s->g.pages_per_block = 2 + roll(4);
		s->buffer = s->g.page_bytes / 512 + roll(12);
	}
	s->copyback = s->g.copyback && roll(2);
	s->units = rig_largest(s);
	return s->units && s->units <= RIG_UNITS;
}

static uint64_t collections, fails, retired;

/* Run one drive, drawn from the seed, on which blocks fail and are replaced by spare ones. */
static bool drive(uint64_t seed)
{
	struct nand_hooks hooks = { .fault = on_fault, .done = on_commands };
	struct rig_shape s;

	memset(&medium, 0, sizeof(medium));
	medium.rng = seed * 0x9e3779b97f4a7c15u + 1;
	snprintf(rig_id, sizeof(rig_id), "%" PRIu64, seed);
	if (!draw(&s, seed > BUFFERED))
		return false;
	medium.permille = seed % 3 ? 0 : 1 + roll(10);
	s.g.blocks_per_plane += medium.permille ? 12 : 0;
	rig_make(&r, &s);
	r.rng = medium.rng;
	r.may_fail = medium.permille;
	nand_array_set_hooks(r.ta.a, &hooks);
	for (uint32_t i = 0; i < 6; i++) {
		day();
		collections += r.ops->stats(r.f)->gc_runs;
		retired += r.ops->stats(r.f)->retired_blocks;
		nand_array_power_cut(r.ta.a, medium.cut_ns, rnd(&medium.rng));
		nand_array_power_on(r.ta.a);
	}
	fails += medium.fails;
	rig_free(&r);
	return true;
}

static void drives_from(uint64_t seed, uint32_t count, uint32_t few_retired)
{
	uint32_t made = 0;

	collections = fails = retired = 0;
	for (uint64_t end = seed + count; seed < end; seed++)
		made += drive(seed);
	printf("# %u drives, %" PRIu64 " collections, %" PRIu64 " failures, %" PRIu64
	       " blocks retired\n", made, collections, fails, retired);
	EXPECT(made > count / 2);
	EXPECT(collections > 10000);
	EXPECT(fails > 100 && retired > few_retired);
}

static void drives(void)
{
	drives_from(1, DRIVES, 100);
}

static void buffered_drives(void)
{
	drives_from(BUFFERED + 1, 2 * DRIVES, 20);	/* only erases that fail retire a block */
}

/* Compare times with those computed by hand, to the nanosecond. A page is 1024 + 64 bytes, at 1 ns a byte. */
static void times(void)
{
	struct rig_shape s = {
		.name = "one die", .ftl = "log", .tolerance = 255, .urgent = 2, .start = 3, .units = 4,
		.g = { 1, 1, 1, 1, 6, 4, 1024, 64, 0, 1024, 0, 1, 1, NAND_ORDER_ASCENDING },
	};
	const uint64_t program = 100 + 1088 + 20000, read = 100 + 5000 + 1088, erase = 100 + 70000;
	const struct ftl_stats *stats = rig_start(&r, &s);

	for (uint32_t i = 0; i < 4; i++)		/* block 0: units 0 .. 3 */
		EXPECT_EQ(rig_alone(&r, FTL_WRITE, i, 1), program + 20);
	EXPECT_EQ(rig_alone(&r, FTL_READ, 2, 1), read + 20);
	for (uint32_t i = 0; i < 4; i++)		/* block 1: unit 0 four times */
		EXPECT_EQ(rig_alone(&r, FTL_WRITE, 0, 1), program + 20);
	for (uint32_t i = 0; i < 8; i++)		/* blocks 2 and 3; two blocks are reserved for GC */
		EXPECT_EQ(rig_alone(&r, FTL_WRITE, 0, 1), program + 20);
	EXPECT_EQ(stats->gc_runs, 0);
	/* Block 1 has no valid page: after its erase there is room. */
	EXPECT_EQ(rig_alone(&r, FTL_WRITE, 1, 1), erase + program + 20);
	EXPECT_EQ(stats->gc_runs, 1);
	EXPECT_EQ(stats->gc_units, 0);
	rig_free(&r);
}

/*
 * Compare times with those computed by hand. A page is 2048 + 64 bytes, of which a write fills half; the buffer takes
 * 10 ns.
 */
static void buffered_times(void)
{
	struct rig_shape s = {
		.name = "one die", .ftl = "buffered", .unit_bytes = 512, .tolerance = 255, .urgent = 2, .start = 3,
		.units = 8, .buffer = 8,
		.g = { 1, 1, 1, 1, 6, 4, 2048, 64, 0, 2048, 0, 1, 1, NAND_ORDER_ASCENDING },
	};
	const uint64_t program = 100 + 2112 + 20000, read = 100 + 5000 + 2112, erase = 100 + 70000;
	const uint64_t front = 20, buffer = 10;
	const struct ftl_stats *stats = rig_start(&r, &s);
	struct nand_stats ns;

	EXPECT_EQ(rig_alone(&r, FTL_WRITE, 0, 1), buffer + front);
	EXPECT_EQ(rig_alone(&r, FTL_READ, 0, 1), front);		/* from the buffer */
	EXPECT_EQ(rig_alone(&r, FTL_FLUSH, 0, 0), erase + program + buffer + front);
	EXPECT_EQ(rig_alone(&r, FTL_FLUSH, 0, 0), buffer + front);	/* everything is on flash */
	EXPECT_EQ(rig_alone(&r, FTL_READ, 0, 1), read + front);
	EXPECT_EQ(rig_alone(&r, FTL_READ, 0, 1), front);		/* the page that was read last */
	EXPECT_EQ(rig_alone(&r, FTL_WRITE, 0, 2), buffer + front);	/* a full page: programmed at once */
	EXPECT_EQ(rig_alone(&r, FTL_FLUSH, 0, 0), buffer + front);
	EXPECT_EQ(rig_alone(&r, FTL_TRIM, 1, 1), buffer + front);	/* zeroes in the buffer, half a page */
	EXPECT_EQ(rig_alone(&r, FTL_FLUSH, 0, 0), program + buffer + front);
	r.ta.n->ops->get_stats(r.ta.n, &ns);
	EXPECT_EQ(ns.ops[NAND_PROGRAM][NAND_SRC_HOST], 3);
	EXPECT_EQ(stats->gc_runs, 0);
	rig_free(&r);
}

/* Let GC's read of page 0 fail. */
static enum nand_status on_gc_read(void *opaque, const struct nand_cmd *c)
{
	(void)opaque;
	return c->op == NAND_READ && c->source == NAND_SRC_GC && !c->ppn.v ? NAND_UNCORR : NAND_OK;
}

/* Test that GC does not erase a block with units that it cannot read, and collects other blocks. */
static void buffered_unreadable(void)
{
	struct nand_hooks hooks = { .fault = on_gc_read };
	struct rig_shape s = {
		.name = "one die", .ftl = "buffered", .unit_bytes = 512, .tolerance = 255, .urgent = 2, .start = 3,
		.units = 64, .buffer = 8,
		.g = { 1, 1, 1, 1, 10, 4, 2048, 64, 0, 2048, 0, 1, 1, NAND_ORDER_ASCENDING },
	};
	const struct ftl_stats *stats = rig_start(&r, &s);

	r.rng = 5;
	nand_array_set_hooks(r.ta.a, &hooks);
	for (uint32_t i = 0; i < 8; i++)		/* block 0: two writes a page */
		rig_alone(&r, FTL_WRITE, i, 1);
	for (uint32_t i = 2; i < 8; i++)		/* only its first page stays valid, so GC soon takes it */
		rig_alone(&r, FTL_WRITE, i, 1);
	for (uint32_t i = 8; i < 32; i++)
		rig_alone(&r, FTL_WRITE, i, 1);
	for (uint32_t i = 0; i < 400; i++) {		/* 50 blocks of a drive with 10 */
		rig_alone(&r, FTL_WRITE, 2 + (uint32_t)(rnd(&r.rng) % 30), 1);
		EXPECT_EQ(r.all.io.status, SSD_OK);
	}
	EXPECT(stats->gc_runs >= 40);
	rig_alone(&r, FTL_READ, 0, 2);			/* the host can read the page */
	EXPECT_EQ(r.all.io.status, SSD_OK);
	rig_free(&r);
}

static void refused(void)
{
	struct rig_shape s = {
		.name = "one die", .ftl = "log", .tolerance = 255, .urgent = 2, .start = 3, .units = 4,
		.g = { 1, 1, 1, 1, 6, 4, 1024, 64, 0, 1024, 0, 1, 1, NAND_ORDER_ASCENDING },
	};
	struct ftl_config c;
	const char *why;

	rig_start(&r, &s);
	c = r.fc;
	c.gc_urgent_blocks = 1;
	EXPECT_EQ(ftl_validate(r.ops, &c, &s.g, &why), SSD_E_INVAL);
	EXPECT(why && strstr(why, "gc_urgent_blocks"));
	c = r.fc;
	c.capacity_bytes = 5 * 1024;			/* two reserved blocks, three that must be free, one open
							 * block, and one that GC gains */
	EXPECT_EQ(ftl_validate(r.ops, &c, &s.g, &why), SSD_E_INVAL);
	EXPECT(why && strstr(why, "capacity"));
	rig_free(&r);
}

int main(int argc, char **argv)
{
	rig_replay_hint("test_log_ftl");
	if (argc == 2) {
		(void)drive(strtoull(argv[1], NULL, 10));
		return test_result();
	}
	RUN(times);
	RUN(buffered_times);
	RUN(buffered_unreadable);
	RUN(refused);
	RUN(drives);
	RUN(buffered_drives);
	return test_result();
}
