// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The DAC FTL: exact times, exact bytes, and what is lost when a page is. Models, power cuts
 * and failing media are test_direct's.
 *
 * Numbers. A unit and page has 1024 bytes and 64 spare ones, a bus byte takes 1 ns, commands
 * 100 ns, t_R 5000, t_PROG 20000; so a read takes 100 + 5000 + 1088 = 6188 ns and a program
 * 100 + 1088 + 20000 = 21188. An I/O pays 10 for the map, 10 for firmware, 10 for the
 * buffer. The engine: 400 to hash, 900 to compress, 600 to expand.
 */
#include "dac.h"
#include "direct_rig.h"

#define UNIT 1024u
#define READ_NS 6188u
#define PROGRAM_NS 21188u
#define IO_NS 20u		/* map and firmware */
#define HASH_NS 400u
#define COMPRESS_NS 900u
#define EXPAND_NS 600u

static struct rig r;
static uint8_t in[UNIT], out[UNIT];

static const struct rig_shape shape = {
	"dac", "dac", { 1, 1, 1, 1, 12, 8, 1024, 64, 0, 1024, 0, 1, 1 },
	.units = 48, .start = 2, .urgent = 1, .tolerance = 255, .buffer = 8,
	.reduction = FTL_REDUCE_DAC, .references = 4 * UNIT,
	.hash_ns = HASH_NS, .compress_ns = COMPRESS_NS, .decompress_ns = EXPAND_NS,
};

/* ---- a drive, and one I/O on it ---------------------------------------------------- */

static const struct ftl_stats *start(enum ftl_reduction reduction, uint32_t references)
{
	static struct rig_shape s;

	s = shape;
	s.reduction = reduction;
	s.references = references;
	return rig_start(&r, &s);
}

static struct dac *drive(void)
{
	return dac_of(r.f);
}

/* Until nothing moves any more; `in` or `out` is the data. */
static enum ssd_err io(enum ftl_op op, bool fua, uint32_t unit, uint64_t *ns)
{
	struct rig_io *q = &r.all;
	uint8_t *kept = q->data;

	q->io = (struct ftl_io){ .op = op, .fua = fua, .offset = (uint64_t)unit * UNIT, .bytes = UNIT };
	q->reported = false;
	q->data = op == FTL_WRITE ? in : out;
	r.may_lose = true;
	r.ops->submit(r.f, r.now_ns, &q->io);
	r.ops->check(r.f);
	for (r.next_ns = r.ops->step(r.f, r.now_ns); r.next_ns != FTL_IDLE;
	     r.next_ns = r.ops->step(r.f, r.now_ns)) {
		r.now_ns = r.next_ns;
		r.ops->check(r.f);
	}
	q->data = kept;
	EXPECT(q->reported);
	*ns = q->io.done_ns - q->io.submit_ns;
	EXPECT_EQ(ftl_breakdown_sum(&q->io.where), *ns);
	if (q->io.done_ns > r.now_ns)
		r.now_ns = q->io.done_ns;
	return q->io.status;
}

static uint64_t write_io(uint32_t unit)
{
	uint64_t ns;

	EXPECT_EQ(io(FTL_WRITE, false, unit, &ns), SSD_OK);
	return ns;
}

static uint64_t fua(uint32_t unit)
{
	uint64_t ns;

	EXPECT_EQ(io(FTL_WRITE, true, unit, &ns), SSD_OK);
	return ns;
}

static uint64_t flush(void)
{
	uint64_t ns;

	EXPECT_EQ(io(FTL_FLUSH, false, 0, &ns), SSD_OK);
	return ns;
}

/* And it must be what `in` is. */
static uint64_t read_io(uint32_t unit)
{
	uint64_t ns;

	EXPECT_EQ(io(FTL_READ, false, unit, &ns), SSD_OK);
	EXPECT(!memcmp(in, out, UNIT));
	return ns;
}

/* ---- contents: random bytes do not compress, text does -------------------------------- */

static void random_page(uint64_t seed)
{
	seed = seed * 0x9e3779b97f4a7c15u + 1;
	for (uint32_t i = 0; i < UNIT; i++)
		in[i] = (uint8_t)(rnd(&seed) >> 32);
}

/* Half of each sub-page random, half zeroes: compresses, and is like no other seed's. */
static void half_page(uint64_t seed)
{
	random_page(seed);
	for (uint32_t i = 0; i < 4; i++)
		memset(in + i * UNIT / 4 + UNIT / 8, 0, UNIT / 8);
}

/* Units from `first` on with random pages, at random: every block is collected sooner or later. */
static void overwrite(uint32_t first, uint32_t times)
{
	uint64_t dice = 7;

	for (uint32_t i = 0; i < times; i++) {
		random_page(10 + i);
		write_io(first + (uint32_t)(rnd(&dice) % (48 - first)));
	}
	flush();
}

static const uint8_t *flash(uint32_t ppn)
{
	const void *data = NULL;

	EXPECT_EQ(r.ta.n->ops->peek(r.ta.n, (ppn_t){ ppn }, &data, NULL), NAND_OK);
	return data;
}

/* ---- exact times -------------------------------------------------------------------------- */

static void a_write_ends_in_the_buffer(void)
{
	const struct ftl_stats *s = start(FTL_REDUCE_DAC, 0);

	half_page(1);
	EXPECT_EQ(write_io(3), IO_NS + 10);
	EXPECT_EQ(read_io(3), IO_NS + 10);
	EXPECT_EQ(s->buffer_hit_units, 1);
	EXPECT_EQ(s->host_pages, 0);
	EXPECT_EQ(flush(), PROGRAM_NS + IO_NS);		/* the engine was done long ago */
	EXPECT_EQ(flush(), IO_NS);
	EXPECT_EQ(s->host_pages, 1);
	EXPECT_EQ(s->comp_units, 1);
	EXPECT_EQ(read_io(3), READ_NS + EXPAND_NS + IO_NS);
	rig_free(&r);
}

/* FUA waits for everything: hash, compression, program. Raw: no place is left for a header. */
static void a_fua_write_pays_for_the_engine(void)
{
	const struct ftl_stats *s = start(FTL_REDUCE_DAC, 0);

	half_page(1);
	EXPECT_EQ(fua(0), HASH_NS + COMPRESS_NS + PROGRAM_NS + IO_NS);
	random_page(2);
	EXPECT_EQ(fua(1), HASH_NS + COMPRESS_NS + PROGRAM_NS + IO_NS);
	EXPECT_EQ(s->raw_units, 1);
	EXPECT_EQ(read_io(1), READ_NS + IO_NS);		/* nothing to expand */
	rig_free(&r);
	start(FTL_REDUCE_COMP, 0);
	EXPECT_EQ(fua(1), COMPRESS_NS + PROGRAM_NS + IO_NS);
	rig_free(&r);
	start(FTL_REDUCE_NONE, 0);
	EXPECT_EQ(fua(1), PROGRAM_NS + IO_NS);
	EXPECT_EQ(read_io(1), READ_NS + IO_NS);
	rig_free(&r);
}

/*
 * Two units in one write: hashed at 0 .. 400 and 400 .. 800, compressed at 400 .. 1300 and
 * 1300 .. 2200; then one page.
 */
static void the_engine_hashes_while_it_compresses(void)
{
	const struct ftl_stats *s = start(FTL_REDUCE_DAC, 0);
	struct rig_io *q = &r.all;

	memset(q->data, 'a', UNIT);
	memset(q->data + UNIT, 'b', UNIT);
	q->io = (struct ftl_io){ .op = FTL_WRITE, .fua = true, .bytes = 2 * UNIT };
	q->reported = false;
	r.ops->submit(r.f, r.now_ns, &q->io);
	while ((r.next_ns = r.ops->step(r.f, r.now_ns)) != FTL_IDLE)
		r.now_ns = r.next_ns;
	EXPECT(q->reported);
	EXPECT_EQ(q->io.done_ns - q->io.submit_ns, HASH_NS + 2 * COMPRESS_NS + PROGRAM_NS + IO_NS);
	EXPECT_EQ(s->comp_units, 2);
	EXPECT_EQ(s->host_pages, 1);
	rig_free(&r);
}

/*
 * Unit 1 differs from unit 0 in its last byte: three sub-pages match. Its reference is read and
 * expanded (it is compressed), then the XOR is compressed. A read of it reads two pages; once
 * the reference buffer has the reference, one.
 */
static void a_reference_is_read_once(void)
{
	const struct ftl_stats *s = start(FTL_REDUCE_DAC, 4 * UNIT);

	half_page(1);
	fua(0);
	in[UNIT - 1] = 7;
	EXPECT_EQ(fua(1), HASH_NS + READ_NS + EXPAND_NS + COMPRESS_NS + PROGRAM_NS + IO_NS);
	EXPECT_EQ(s->delta_units, 1);
	EXPECT_EQ(s->reference_reads, 1);
	EXPECT_EQ(s->reference_hits, 0);
	EXPECT_EQ(read_io(1), READ_NS + EXPAND_NS + IO_NS);
	EXPECT_EQ(s->reference_hits, 1);
	in[UNIT - 1] = 8;
	EXPECT_EQ(fua(2), HASH_NS + COMPRESS_NS + PROGRAM_NS + IO_NS);
	EXPECT_EQ(s->reference_hits, 2);
	EXPECT_EQ(s->reference_reads, 1);
	rig_free(&r);

	s = start(FTL_REDUCE_DAC, 0);	/* no reference buffer */
	half_page(1);
	fua(0);
	in[UNIT - 1] = 7;
	fua(1);
	EXPECT_EQ(read_io(1), 2 * READ_NS + 2 * EXPAND_NS + IO_NS);
	EXPECT_EQ(s->reference_reads, 2);
	rig_free(&r);
}

/* Both in one page: no extra read, but two expansions. */
static void a_reference_in_the_same_page_costs_no_read(void)
{
	const struct ftl_stats *s = start(FTL_REDUCE_DAC, 0);

	half_page(1);
	write_io(0);
	in[UNIT - 1] = 7;
	write_io(1);		/* its reference is in the write buffer: a hit */
	EXPECT_EQ(flush(), PROGRAM_NS + IO_NS);
	EXPECT_EQ(s->host_pages, 1);
	EXPECT_EQ(s->delta_units, 1);
	EXPECT_EQ(read_io(1), READ_NS + 2 * EXPAND_NS + IO_NS);
	EXPECT_EQ(s->reference_hits, 2);
	EXPECT_EQ(s->reference_reads, 0);
	rig_free(&r);
}

/* The reference buffer holds two: what was used longest ago goes. */
static void the_reference_buffer_is_lru(void)
{
	const struct ftl_stats *s = start(FTL_REDUCE_DAC, 2 * UNIT);

	for (uint32_t i = 0; i < 3; i++) {	/* units 0, 2, 4: references; 1, 3, 5: deltas */
		half_page(i + 1);
		fua(2 * i);
		in[UNIT - 1] = 7;
		fua(2 * i + 1);
	}
	EXPECT_EQ(s->reference_reads, 3);	/* the buffer has those of 3 and 5 */
	half_page(2);
	in[UNIT - 1] = 7;
	EXPECT_EQ(read_io(3), READ_NS + EXPAND_NS + IO_NS);	/* now that of 3 was used last */
	half_page(1);
	in[UNIT - 1] = 7;
	EXPECT_EQ(read_io(1), 2 * READ_NS + 2 * EXPAND_NS + IO_NS);	/* takes the place of 5's */
	half_page(2);
	in[UNIT - 1] = 7;
	EXPECT_EQ(read_io(3), READ_NS + EXPAND_NS + IO_NS);
	half_page(3);
	in[UNIT - 1] = 7;
	EXPECT_EQ(read_io(5), 2 * READ_NS + 2 * EXPAND_NS + IO_NS);
	EXPECT_EQ(s->reference_reads, 5);
	EXPECT_EQ(s->reference_hits, 2);
	rig_free(&r);
}

/* ---- exact bytes ------------------------------------------------------------------------------ */

/*
 * Three units, all zeroes: 256 tuples are a run of 255 (13 bits: 0, location 0, 011, count 255) and
 * one full match (3 bits: 0, location 0, type 1), together 2 bytes:
 *   0 0 011 11111111 0 0 1 = 00011111 11111001 = 1f f9.
 * The first is stored so. The others equal it: their XOR is zeroes as well.
 */
static void bytes_of_a_packed_page(void)
{
	static const uint8_t head[] = {
		3, 0,
		/* unit 5, sequence 1, object 0, compressed, 2 bytes */
		5, 0, 0, 0,  1, 0, 0, 0, 0,  0, 0, 0, 0,  DAC_COMP,  2, 0,
		/* unit 6, sequence 2, object 1, a delta, 2 bytes; of object 0, sequence 1 */
		6, 0, 0, 0,  2, 0, 0, 0, 0,  1, 0, 0, 0,  DAC_DELTA,  2, 0,  0, 0, 0, 0,  1, 0, 0, 0, 0,
		/* unit 7, sequence 3, object 2 */
		7, 0, 0, 0,  3, 0, 0, 0, 0,  2, 0, 0, 0,  DAC_DELTA,  2, 0,  0, 0, 0, 0,  1, 0, 0, 0, 0,
	};
	static const uint8_t tail[] = { 0x1f, 0xf9, 0x1f, 0xf9, 0x1f, 0xf9 };
	const struct ftl_stats *s = start(FTL_REDUCE_DAC, 0);

	memset(in, 0, UNIT);
	write_io(5);
	write_io(6);
	write_io(7);
	flush();
	EXPECT(!memcmp(flash(0), head, sizeof(head)));
	EXPECT(!memcmp(flash(0) + UNIT - sizeof(tail), tail, sizeof(tail)));
	for (uint32_t i = sizeof(head); i < UNIT - sizeof(tail); i++)
		EXPECT_EQ(flash(0)[i], 0);
	EXPECT_EQ(s->comp_bytes, 2);
	EXPECT_EQ(s->delta_bytes, 4);
	EXPECT_EQ(drive()->live[0].bytes, 16 + 2 + 2 * (25 + 2));
	read_io(7);
	rig_free(&r);
}

/* A link has 25 bytes and no content: 40 of them, 2 + 40 * 25 = 1002 bytes, fill a page. */
static void links_fill_a_page(void)
{
	const struct ftl_stats *s = start(FTL_REDUCE_DEDUP, 4 * UNIT);

	random_page(1);
	for (uint32_t unit = 0; unit < 42; unit++)
		write_io(unit);
	flush();
	EXPECT_EQ(s->raw_units, 1);
	EXPECT_EQ(s->link_units, 41);
	EXPECT(s->host_pages >= 3);	/* raw; the buffer holds 8 units, so pages are closed early */
	for (uint32_t unit = 0; unit < 42; unit++)
		EXPECT_EQ(read_io(unit), READ_NS + IO_NS);	/* of the one object, at once */
	EXPECT_EQ(drive()->shared, 1);
	random_page(2);
	for (uint32_t unit = 0; unit < 41; unit++)
		fua(unit);
	random_page(1);
	read_io(41);			/* its content was unit 0's once */
	rig_free(&r);
}

/*
 * A page is closed by what does not fit any more. Of half_page() 128 tuples are random: 33 bits
 * each, but for the odd partial match, 528 bytes. With 16 for the entry that is more than half
 * of the 1022 that a page has beside its count, so each page gets one.
 */
static void a_page_is_closed_when_it_is_full(void)
{
	const struct ftl_stats *s = start(FTL_REDUCE_COMP, 0);

	for (uint32_t i = 0; i < 4; i++) {
		half_page(i);
		write_io(i);
	}
	EXPECT_EQ(s->host_pages, 3);	/* the fourth is open */
	EXPECT_EQ(s->comp_units, 4);
	flush();
	EXPECT_EQ(s->host_pages, 4);
	rig_free(&r);
}

/* ---- policy --------------------------------------------------------------------------------------- */

/* What a compressed reference is needed for is never a reference itself. */
static void a_delta_is_no_reference(void)
{
	const struct ftl_stats *s = start(FTL_REDUCE_DAC, 0);

	half_page(1);
	fua(0);
	in[0] ^= 1;			/* the first sub-page differs */
	fua(1);
	EXPECT_EQ(s->delta_units, 1);
	in[300] ^= 1;			/* and the second: 2 match unit 0, 3 would match unit 1 */
	fua(2);
	EXPECT_EQ(s->delta_units, 2);
	EXPECT_EQ(drive()->obj[drive()->map[2]].ref, drive()->map[0]);
	EXPECT_EQ(drive()->obj[drive()->map[1]].ref, drive()->map[0]);
	rig_free(&r);
}

/* Dedup wants all four; a similar unit is stored by itself. */
static void dedup_takes_equal_units_only(void)
{
	const struct ftl_stats *s = start(FTL_REDUCE_DEDUP_COMP, 0);

	half_page(1);
	fua(0);
	in[0] ^= 1;
	fua(1);
	EXPECT_EQ(s->comp_units, 2);
	fua(2);				/* equals unit 1: read, compared, linked */
	EXPECT_EQ(s->link_units, 1);
	EXPECT_EQ(s->reference_reads, 1);
	EXPECT_EQ(drive()->map[2], drive()->map[1]);
	EXPECT_EQ(drive()->shared, 1);
	rig_free(&r);
}

/*
 * 12 blocks of 8 pages, 2 + 2 of them kept: 64 pages. 48 units and 3 slots leave 13 objects that
 * others may refer to. Of 20 pairs the others are stored alone.
 */
static void shared_objects_are_limited(void)
{
	const struct ftl_stats *s = start(FTL_REDUCE_DAC, 0);

	EXPECT_EQ(drive()->shared_max, 13);
	for (uint32_t i = 0; i < 20; i++) {
		half_page(i + 1);
		write_io(2 * i);
		in[UNIT - 1] = 7;
		write_io(2 * i + 1);
	}
	EXPECT_EQ(s->delta_units, 13);
	EXPECT_EQ(s->refused_references, 7);
	EXPECT_EQ(drive()->shared, 13);
	rig_free(&r);
}

/* Like the random page 100 + i in a quarter only. */
static void quarter_page(uint32_t i)
{
	uint8_t quarter[UNIT / 4];

	random_page(100 + i);
	memcpy(quarter, in, sizeof(quarter));
	random_page(200 + i);
	memcpy(in, quarter, sizeof(quarter));
}

static void fill_to_the_worst(void)
{
	for (uint32_t i = 0; i < 13; i++) {
		random_page(100 + i);
		write_io(i);
		quarter_page(i);
		write_io(13 + i);
	}
}

static void read_the_worst(void)
{
	for (uint32_t i = 0; i < 13; i++) {
		quarter_page(i);
		read_io(13 + i);
	}
}

/* One of the 35, the first time each in turn. */
static enum ssd_err write_the_worst(uint32_t i, uint64_t *dice)
{
	uint32_t unit = i < 35 ? i : (uint32_t)(rnd(dice) % 35);
	uint64_t ns;

	random_page(1000 + i);
	return io(FTL_WRITE, false, unit < 13 ? unit : unit + 13, &ns);
}

/*
 * As full as it can be: 13 references that no unit has any more, each for one unit that is
 * like it in a quarter and takes most of a page, and 35 units that do not compress. 61 pages
 * are live, of 96; 64 may be, with those in flight. The 35 are overwritten without end.
 */
static void the_worst_case_fits(void)
{
	const struct ftl_stats *s = start(FTL_REDUCE_DAC, 0);
	uint64_t dice = 3;

	fill_to_the_worst();
	EXPECT_EQ(s->delta_units, 13);
	EXPECT(s->delta_bytes > 13 * 500);		/* no two in a page */
	for (uint32_t i = 0; i < 3000; i++)
		EXPECT_EQ(write_the_worst(i, &dice), SSD_OK);
	flush();
	EXPECT_EQ(drive()->shared, 13);
	EXPECT_EQ(drive()->die[0].live_pages, 61);
	EXPECT_EQ(s->op[FTL_WRITE].errors, 0);
	read_the_worst();
	rig_free(&r);
}

/*
 * 13 objects are shared, of 13, and one block fails: (11 - 4) * 8 = 56 pages may be live, 51 are
 * for units and slots, so 5 may be shared. What is shared already is left to run down, and
 * only then are there new references; the 22 units without any are written on and on.
 */
static uint32_t erase_fails;

static enum nand_status fail_erases(void *opaque, const struct nand_cmd *c)
{
	(void)opaque;
	return c->op == NAND_ERASE && erase_fails && erase_fails-- ? NAND_ERASE_FAIL : NAND_OK;
}

static void share_all(void)
{
	for (uint32_t i = 0; i < 13; i++) {
		half_page(i + 1);
		write_io(2 * i);
		in[UNIT - 1] = 7;
		write_io(2 * i + 1);
	}
	flush();
	EXPECT_EQ(drive()->shared, 13);
}

static void a_failed_block_ends_no_writes(void)
{
	const struct nand_hooks hooks = { .fault = fail_erases };
	const struct ftl_stats *s = start(FTL_REDUCE_DAC, 0);

	share_all();
	erase_fails = 1;
	nand_array_set_hooks(r.ta.a, &hooks);
	overwrite(26, 500);
	EXPECT_EQ(s->retired_blocks, 1);
	EXPECT_EQ(drive()->shared_max, 5);
	EXPECT_EQ(drive()->shared, 13);
	EXPECT_EQ(rig_again(&r), SSD_OK);	/* nor does a mount */
	EXPECT_EQ(drive()->shared, 13);
	overwrite(26, 500);
	for (uint32_t i = 0; i < 9; i++) {	/* 4 are left */
		random_page(i);
		write_io(2 * i + 1);
	}
	flush();
	EXPECT_EQ(drive()->shared, 4);
	half_page(77);
	write_io(26);
	in[0] ^= 1;
	write_io(27);
	half_page(78);
	write_io(28);
	in[0] ^= 1;
	write_io(29);
	flush();
	EXPECT_EQ(drive()->shared, 5);
	EXPECT_EQ(drive()->stats.refused_references, 1);
	half_page(13);
	in[UNIT - 1] = 7;
	read_io(25);
	rig_free(&r);
}

/* In the worst case 61 pages are live when only 56 may be: read-only, and nothing is lost. */
static void the_worst_case_and_a_failed_block(void)
{
	const struct nand_hooks hooks = { .fault = fail_erases };
	enum ssd_err err = SSD_OK;
	uint64_t dice = 3;

	start(FTL_REDUCE_DAC, 0);
	r.may_fail = true;
	fill_to_the_worst();
	for (uint32_t i = 0; i < 1000; i++)
		EXPECT_EQ(write_the_worst(i, &dice), SSD_OK);
	flush();
	erase_fails = 1;
	nand_array_set_hooks(r.ta.a, &hooks);
	for (uint32_t i = 1000; i < 1500 && err == SSD_OK; i++)
		err = write_the_worst(i, &dice);
	EXPECT_EQ(err, SSD_E_WORNOUT);
	EXPECT_EQ(drive()->room, 56);
	EXPECT_EQ(drive()->die[0].live_pages, 61);
	read_the_worst();
	EXPECT_EQ(rig_again(&r), SSD_OK);
	read_the_worst();
	rig_free(&r);
}

/* A second failed block leaves 48 pages, and 51 are needed. */
static void worn_out_when_units_do_not_fit(void)
{
	const struct nand_hooks hooks = { .fault = fail_erases };
	enum ssd_err err = SSD_OK;
	uint64_t ns;

	start(FTL_REDUCE_DAC, 0);
	r.may_fail = true;
	share_all();
	erase_fails = 2;
	nand_array_set_hooks(r.ta.a, &hooks);
	for (uint32_t i = 0; i < 500 && err == SSD_OK; i++) {
		random_page(100 + i);
		err = io(FTL_WRITE, false, 26 + i % 22, &ns);
	}
	EXPECT_EQ(err, SSD_E_WORNOUT);
	EXPECT_EQ(drive()->stats.retired_blocks, 2);
	half_page(13);
	in[UNIT - 1] = 7;
	read_io(25);
	rig_free(&r);
}

/* The unit that had the reference gets another content; GC moves the reference, which is nobody's now. */
static void a_reference_outlives_its_unit(void)
{
	const struct ftl_stats *s = start(FTL_REDUCE_DAC, 0);
	uint32_t ref, was;

	half_page(1);
	fua(0);
	in[UNIT - 1] = 7;
	fua(1);
	ref = drive()->map[0];
	was = drive()->obj[ref].ppn;
	random_page(3);
	fua(0);
	overwrite(2, 200);
	EXPECT(s->gc_runs > 10);
	EXPECT(drive()->map[0] != ref && drive()->obj[ref].ppn != was);
	EXPECT_EQ(drive()->obj[ref].refs, 1);
	half_page(1);
	in[UNIT - 1] = 7;
	read_io(1);
	EXPECT_EQ(rig_again(&r), SSD_OK);	/* and a mount finds it */
	read_io(1);
	EXPECT_EQ(drive()->shared, 1);
	random_page(1);
	fua(1);					/* nobody needs it any more */
	EXPECT_EQ(drive()->shared, 0);
	rig_free(&r);
}

/* ---- loss ------------------------------------------------------------------------------------------- */

static uint32_t bad_page;

static enum nand_status lose(void *opaque, const struct nand_cmd *c)
{
	(void)opaque;
	return c->op == NAND_READ && c->ppn.v == bad_page ? NAND_UNCORR : NAND_OK;
}

static enum ssd_err try_read(uint32_t unit)
{
	uint64_t ns;

	return io(FTL_READ, false, unit, &ns);
}

/*
 * Units 1 and 2 refer to unit 0's content, unit 3 to nothing. The page of unit 0 cannot be read
 * any more: 0, 1 and 2 are lost, 3 is not; through GC and mounts, until each is
 * written whole. A part of a lost unit leaves it lost.
 */
static void a_lost_reference_loses_what_refers_to_it(void)
{
	const struct nand_hooks hooks = { .fault = lose };
	struct rig_io *q = &r.all;

	start(FTL_REDUCE_DAC, 0);
	half_page(1);
	fua(0);
	bad_page = drive()->obj[drive()->map[0]].ppn;
	for (uint32_t i = 1; i < 3; i++) {
		in[UNIT - 1] = (uint8_t)i;
		fua(i);
	}
	half_page(9);
	fua(3);
	nand_array_set_hooks(r.ta.a, &hooks);
	for (uint32_t unit = 0; unit < 3; unit++)
		EXPECT_EQ(try_read(unit), SSD_E_UNCORR);
	read_io(3);
	overwrite(4, 200);
	EXPECT_EQ(drive()->obj[drive()->map[0]].kind, DAC_LOST);
	EXPECT(drive()->obj[drive()->map[0]].ppn != bad_page);
	bad_page = DAC_NONE;			/* were it still asked, it would answer now */
	EXPECT_EQ(rig_again(&r), SSD_OK);
	for (uint32_t unit = 0; unit < 3; unit++)
		EXPECT_EQ(try_read(unit), SSD_E_UNCORR);
	half_page(9);
	read_io(3);
	q->io = (struct ftl_io){ .op = FTL_WRITE, .fua = true, .offset = UNIT, .bytes = UNIT / 2 };
	q->reported = false;
	r.ops->submit(r.f, r.now_ns, &q->io);
	while ((r.next_ns = r.ops->step(r.f, r.now_ns)) != FTL_IDLE)
		r.now_ns = r.next_ns;
	EXPECT_EQ(try_read(1), SSD_E_UNCORR);	/* half of it is still not known */
	half_page(5);
	fua(1);
	read_io(1);
	EXPECT_EQ(try_read(0), SSD_E_UNCORR);
	EXPECT_EQ(try_read(2), SSD_E_UNCORR);
	EXPECT_EQ(rig_again(&r), SSD_OK);
	EXPECT_EQ(try_read(0), SSD_E_UNCORR);
	read_io(1);
	rig_free(&r);
}

/*
 * Unit 1 refers to object A, and is written anew into page Y; A's id is given to another
 * content. Then Y cannot be read: a mount finds the old entry of unit 1, which names A's id and
 * the sequence that A had. It must not take the other content for A.
 */
static void an_id_used_anew_is_not_the_old_one(enum ftl_reduction reduction)
{
	const struct nand_hooks hooks = { .fault = lose };
	const struct ftl_stats *s = start(reduction, 0);
	uint32_t a;

	half_page(1);
	fua(0);
	a = drive()->map[0];
	in[UNIT - 1] = reduction == FTL_REDUCE_DAC;
	fua(1);
	EXPECT_EQ(s->delta_units + s->link_units, 1);
	random_page(3);
	fua(0);
	random_page(2);
	fua(1);
	bad_page = drive()->obj[drive()->map[1]].ppn;
	half_page(4);
	fua(2);
	EXPECT_EQ(drive()->map[2], a);
	nand_array_set_hooks(r.ta.a, &hooks);
	EXPECT_EQ(rig_again(&r), SSD_OK);
	EXPECT_EQ(try_read(1), SSD_E_UNCORR);
	read_io(2);
	bad_page = DAC_NONE;			/* it is erased, and as good as new */
	overwrite(4, 200);			/* what is known of unit 1 is kept */
	EXPECT_EQ(rig_again(&r), SSD_OK);
	EXPECT_EQ(try_read(1), SSD_E_UNCORR);
	fua(1);
	read_io(1);
	rig_free(&r);
}

static void ids_used_anew(void)
{
	an_id_used_anew_is_not_the_old_one(FTL_REDUCE_DAC);
	an_id_used_anew_is_not_the_old_one(FTL_REDUCE_DEDUP_COMP);
}

/*
 * Unit 0's page cannot be read any more, and a read has seen that. Its content is in the reference
 * buffer; but what is written now must not depend on it.
 */
static void what_cannot_be_read_is_no_reference(void)
{
	const struct nand_hooks hooks = { .fault = lose };
	const struct ftl_stats *s = start(FTL_REDUCE_DAC, 4 * UNIT);

	half_page(1);
	fua(0);
	in[UNIT - 1] = 7;
	fua(1);
	bad_page = drive()->obj[drive()->map[0]].ppn;
	nand_array_set_hooks(r.ta.a, &hooks);
	EXPECT_EQ(try_read(0), SSD_E_UNCORR);
	read_io(1);			/* thanks to the reference buffer */
	in[UNIT - 1] = 9;
	fua(2);
	EXPECT_EQ(s->delta_units, 1);
	EXPECT_EQ(rig_again(&r), SSD_OK);
	read_io(2);
	EXPECT_EQ(try_read(1), SSD_E_UNCORR);
	rig_free(&r);
}

/*
 * A read of a delta waits for its reference's die when GC finds the delta's page unreadable, which
 * the read got just before. The reference has nobody else; the read gives what was written. Until
 * GC comes at that moment the page stays as it was; if that was too late, all begins anew.
 */
static struct {
	uint32_t page;
	bool was_read, rotten;
	bool went;		/* it became lost before the read had its reference */
} delta;
static struct rig_io busy_io[32];

static enum nand_status rot(void *opaque, const struct nand_cmd *c)
{
	(void)opaque;
	if (c->op != NAND_READ || c->ppn.v != delta.page)
		return NAND_OK;
	delta.was_read |= c->source == NAND_SRC_HOST;
	delta.rotten |= delta.was_read && c->source == NAND_SRC_GC;
	return delta.rotten ? NAND_UNCORR : NAND_OK;
}

static void begin_io(struct rig_io *q, enum ftl_op op, uint32_t unit)
{
	if (op == FTL_WRITE)
		memcpy(q->data, in, UNIT);
	q->io = (struct ftl_io){ .op = op, .host = q, .offset = (uint64_t)unit * UNIT, .bytes = UNIT };
	q->reported = false;
	r.ops->submit(r.f, r.now_ns, &q->io);
	r.ops->check(r.f);
}

/* Six writes, 14 reads of the reference's die, then the delta; to its end. */
static void read_the_delta(uint64_t *dice)
{
	struct dac *d = drive();
	const struct dac_obj *o = &d->obj[d->map[1]];
	struct dac_die *die = dac_die_of_page(d, d->obj[o->ref].ppn);
	uint32_t k = 0;

	delta.page = o->ppn;
	delta.was_read = false;
	for (; k < 6; k++) {
		random_page(rnd(dice));
		begin_io(&busy_io[k], FTL_WRITE, 4 + (uint32_t)(rnd(dice) % 68));
	}
	for (uint32_t u = 2; u < 72 && k < 20; u++)
		if (d->map[u] != DAC_NONE && dac_buffered(d, u) == DAC_NONE &&
		    dac_die_of_page(d, d->obj[d->map[u]].ppn) == die)
			begin_io(&busy_io[k++], FTL_READ, u);
	begin_io(&busy_io[k], FTL_READ, 1);
	while ((r.next_ns = r.ops->step(r.f, r.now_ns)) != FTL_IDLE) {
		r.now_ns = r.next_ns;
		r.ops->check(r.f);
		if (busy_io[k].reported)
			delta.was_read = false;
		else
			delta.went |= d->obj[d->map[1]].kind == DAC_LOST;
	}
	EXPECT_EQ(busy_io[k].io.status, SSD_OK);
	half_page(1);
	in[UNIT - 1] = 7;
	EXPECT(!memcmp(busy_io[k].data, in, UNIT));
}

static void a_read_keeps_its_reference(void)
{
	const struct nand_hooks hooks = { .fault = rot };
	static struct rig_shape s;
	uint64_t dice = 3;

	s = shape;
	s.g.channels = 2;
	s.g.blocks_per_plane = 9;
	s.units = 72;
	s.mode = FTL_GC_SLICED;
	s.references = s.hash_ns = s.compress_ns = s.decompress_ns = 0;
	rig_start(&r, &s);
	for (uint32_t i = 0; i < 32; i++)
		busy_io[i].data = malloc(UNIT);
	memset(&delta, 0, sizeof(delta));
	delta.rotten = true;
	for (uint32_t i = 0; i < 1000 && !delta.went; i++) {
		if (delta.rotten) {
			nand_array_set_hooks(r.ta.a, &(struct nand_hooks){ 0 });
			half_page(1);
			fua(0);
			in[UNIT - 1] = 7;
			fua(1);
			random_page(5);
			fua(0);
			delta.rotten = false;
			nand_array_set_hooks(r.ta.a, &hooks);
		}
		read_the_delta(&dice);
	}
	EXPECT(delta.went);
	EXPECT_EQ(try_read(1), SSD_E_UNCORR);
	for (uint32_t i = 0; i < 32; i++)
		free(busy_io[i].data);
	rig_free(&r);
}

/*
 * Unit 1 had a link to unit 0's object; then 13 others get shared, all that may be. The page with
 * the newer unit 1 cannot be read at a mount: the old link counts again, and 14 are shared. Writes
 * go on, without new references until it is 12.
 */
static void an_old_link_comes_back(void)
{
	const struct nand_hooks hooks = { .fault = lose };

	start(FTL_REDUCE_DEDUP_COMP, 0);
	half_page(1);
	fua(0);
	fua(1);
	random_page(500);
	fua(1);
	bad_page = drive()->obj[drive()->map[1]].ppn;
	for (uint32_t i = 1; i < 14; i++) {
		half_page(i + 1);
		write_io(2 * i);
		write_io(2 * i + 1);
	}
	flush();
	EXPECT_EQ(drive()->shared, 13);
	nand_array_set_hooks(r.ta.a, &hooks);
	EXPECT_EQ(rig_again(&r), SSD_OK);
	EXPECT_EQ(drive()->shared, 14);
	half_page(1);
	read_io(1);
	overwrite(28, 500);
	EXPECT_EQ(drive()->shared, 14);
	EXPECT_EQ(drive()->stats.op[FTL_WRITE].errors, 0);
	half_page(1);
	read_io(1);
	rig_free(&r);
}

/*
 * Unit 0 was written twice and flushed each time, and GC has moved its first content, which unit 1
 * refers to. The page of the second cannot be read at a mount, which cannot know what it was,
 * nor whether its program ended. What it finds of unit 0 is the first content.
 */
static void an_older_version_comes_back(void)
{
	const struct nand_hooks hooks = { .fault = lose };
	uint32_t ref, was;

	start(FTL_REDUCE_DAC, 0);
	half_page(1);
	fua(0);
	ref = drive()->map[0];
	was = drive()->obj[ref].ppn;
	in[UNIT - 1] = 7;
	fua(1);
	random_page(3);
	fua(0);
	overwrite(2, 200);
	EXPECT(drive()->obj[ref].ppn != was);
	bad_page = drive()->obj[drive()->map[0]].ppn;
	nand_array_set_hooks(r.ta.a, &hooks);
	EXPECT_EQ(try_read(0), SSD_E_UNCORR);
	EXPECT_EQ(rig_again(&r), SSD_OK);
	half_page(1);
	read_io(0);
	in[UNIT - 1] = 7;
	read_io(1);
	rig_free(&r);
}

/*
 * The newest page, unit 0's second content, cannot be read at one mount and can at the next.
 * Between them unit 0 got a third, which is what counts: its numbers are above all there ever were.
 */
static void numbers_are_given_once(void)
{
	const struct nand_hooks hooks = { .fault = lose };
	uint64_t seq, serial;

	start(FTL_REDUCE_DAC, 0);
	half_page(1);
	fua(0);
	half_page(2);
	fua(0);
	seq = drive()->seq;
	serial = drive()->serial;
	bad_page = drive()->obj[drive()->map[0]].ppn;
	nand_array_set_hooks(r.ta.a, &hooks);
	EXPECT_EQ(rig_again(&r), SSD_OK);
	half_page(1);
	read_io(0);
	half_page(3);
	fua(0);
	EXPECT(drive()->seq > seq && drive()->serial > serial);
	bad_page = DAC_NONE;
	EXPECT_EQ(rig_again(&r), SSD_OK);
	read_io(0);
	rig_free(&r);
}

/*
 * Power is lost in the middle of GC's erase while no block is free: some pages of the victim are
 * what they were, others are not. Its live data is in another block, whose last page says so; were
 * the victim's pages taken for live, no block could be collected without a free one.
 */
static bool erasing_without_a_free_block(const struct dac_die *x)
{
	return x->cmd == DAC_CMD_GC_ERASE && !x->free_count && x->gc.copied;
}

/* Was the victim half erased? */
static bool a_torn_erase_of_the_last_block(uint64_t seed)
{
	static struct rig twin;
	struct dac_die *x;
	uint64_t ns, dice = seed;
	bool cut = false, partly;

	start(FTL_REDUCE_DAC, 0);
	x = &drive()->die[0];
	rig_make(&twin, r.shape);
	for (uint32_t i = 0; i < 3000 && !cut; i++) {
		random_page(rnd(&dice));
		begin_io(&r.all, FTL_WRITE, i < 48 ? i : (uint32_t)(rnd(&dice) % 48));
		while ((r.next_ns = r.ops->step(r.f, r.now_ns)) != FTL_IDLE) {
			if (i > 200 && erasing_without_a_free_block(x)) {
				rig_lose_power(&twin, &r, (r.now_ns + x->ready_ns) / 2, seed);
				cut = true;
				break;
			}
			r.now_ns = r.next_ns;
		}
	}
	EXPECT(cut);
	rig_free(&r);
	r = twin;
	r.may_fail = true;
	EXPECT_EQ(rig_mount(&r), SSD_OK);
	partly = !drive()->die[0].free_count;	/* else no page of the victim is left */
	for (uint32_t i = 0; i < 48; i++) {
		random_page(i);
		EXPECT_EQ(io(FTL_WRITE, true, i, &ns), SSD_OK);
	}
	rig_free(&r);
	return partly;
}

static void torn_erases(void)
{
	uint32_t partly = 0;

	for (uint64_t seed = 1; seed <= 30; seed++)
		partly += a_torn_erase_of_the_last_block(seed);
	EXPECT(partly > 10);
}

/*
 * Pages at random that cannot be read from their program to their erase: what a read gives
 * is right, or an error, all the time; a unit that is written whole is as good as new.
 */
static struct {
	uint64_t rng, reads;
	uint8_t bad[12 * 8];
} medium;
static uint64_t medium_reads, medium_lost;	/* of all runs */

static enum nand_status wear_out(void *opaque, const struct nand_cmd *c)
{
	(void)opaque;
	if (c->op == NAND_PROGRAM)
		medium.bad[c->ppn.v] = rnd(&medium.rng) % 60 == 0;
	if (c->op != NAND_READ || !medium.bad[c->ppn.v])
		return NAND_OK;
	medium.reads++;
	return NAND_UNCORR;
}

static void unreadable_pages(enum ftl_reduction reduction, uint64_t seed)
{
	const struct nand_hooks hooks = { .fault = wear_out };
	struct rig_shape s = shape;

	snprintf(rig_id, sizeof(rig_id), "unreadable:%d:%" PRIu64, (int)reduction, seed);
	s.reduction = reduction;
	s.pool = 8;
	s.units = 40;
	rig_make(&r, &s);
	r.rng = seed;
	r.may_lose = true;
	memset(&medium, 0, sizeof(medium));
	medium.rng = seed * 0x9e3779b97f4a7c15u;
	SSD_ASSERT(rig_mount(&r) == SSD_OK);
	nand_array_set_hooks(r.ta.a, &hooks);
	rig_work(&r, 3000);
	rig_drain(&r);
	rig_powered(&r);
	rig_read_all(&r);
	rig_verify(&r, &r);
	medium_reads += medium.reads;
	medium_lost += r.lost;
	SSD_ASSERT(r.reads_checked > 300);
	nand_array_set_hooks(r.ta.a, &(struct nand_hooks){ 0 });
	rig_begin_history(&r);
	for (uint32_t unit = 0; unit < 40; unit++)
		EXPECT_EQ(rig_write(&r, unit * 2, 2), SSD_OK);
	r.may_lose = false;
	rig_read_all(&r);
	rig_powered(&r);
	rig_verify(&r, &r);
	rig_free(&r);
}

static void pages_that_cannot_be_read(void)
{
	for (uint64_t seed = 1; seed <= 3; seed++)
		for (unsigned int k = 0; k < FTL_NREDUCTIONS; k++)
			unreadable_pages((enum ftl_reduction)k, seed);
	printf("# %" PRIu64 " reads of unreadable pages, %" PRIu64 " reads of the host's failed\n", medium_reads,
	       medium_lost);
	EXPECT(medium_reads > 300 && medium_lost > 150);
}

/* ---- configuration --------------------------------------------------------------------------------------- */

static void refused(void (*change)(struct ftl_config *, struct nand_geometry *), const char *says)
{
	struct ftl_config c = r.fc;
	struct nand_geometry g = r.ac.geo;
	const char *why = NULL;

	change(&c, &g);
	EXPECT_EQ(r.ops->validate(&c, &g, &why), SSD_E_INVAL);
	if (!why || strncmp(why, says, strlen(says))) {
		printf("'%s' does not begin with '%s'\n", why ? why : "", says);
		failures++;
	}
}

static void no_payload(struct ftl_config *c, struct nand_geometry *g) { (void)g; c->payload = false; }
static void small_units(struct ftl_config *c, struct nand_geometry *g) { (void)g; c->unit_bytes = 512; }
static void no_buffer(struct ftl_config *c, struct nand_geometry *g) { (void)g; c->buffer_units = 0; }
static void ssdsim(struct ftl_config *c, struct nand_geometry *g) { (void)g; c->accounting = FTL_ACCOUNT_SSDSIM; }
static void low_stop(struct ftl_config *c, struct nand_geometry *g) { (void)g; c->gc_stop_blocks = 1; }
static void pairs(struct ftl_config *c, struct nand_geometry *g) { (void)c; g->paired_loss = true; }
static void fps(struct ftl_config *c, struct nand_geometry *g) { (void)c; g->order = NAND_ORDER_FPS; }
static void few_blocks(struct ftl_config *c, struct nand_geometry *g) { (void)c; g->blocks_per_plane = 10; }
static void small_oob(struct ftl_config *c, struct nand_geometry *g) { (void)c; g->oob_bytes = 25; }

static void wear(struct ftl_config *c, struct nand_geometry *g) { (void)g; c->wl_threshold = 5; }
static void words(struct ftl_config *c, struct nand_geometry *g) { (void)g; c->host_subpage_reads = FTL_WORDS_YES; }

static void what_it_cannot_do_is_refused(void)
{
	start(FTL_REDUCE_DAC, 0);
	refused(no_payload, "payload must be yes");
	refused(small_units, "unit_bytes must be geometry.page_bytes");
	refused(no_buffer, "buffer_units must be at least 1");
	refused(ssdsim, "accounting must be device");
	refused(low_stop, "gc_stop_blocks must be at least gc_start_blocks");
	refused(pairs, "paired_loss must be no");
	refused(fps, "order must be ascending or none");
	refused(few_blocks, "the geometry cannot hold");	/* (10 - 4) * 8 = 48 < 48 + 3 + 1 */
	refused(wear, "wl_threshold must be 0");
	refused(words, "host_subpage_reads must be auto or no");
	refused(small_oob, "oob_bytes is too small");
	rig_free(&r);
}

/* unreadable:REDUCTION:SEED, as a failing run prints it, runs that again. */
int main(int argc, char **argv)
{
	unsigned int reduction;
	uint64_t seed;

	rig_replay_hint("test_dac");
	if (argc == 2) {
		if (sscanf(argv[1], "unreadable:%u:%" SCNu64, &reduction, &seed) != 2 ||
		    reduction >= FTL_NREDUCTIONS) {
			fprintf(stderr, "%s: not an ID, which a failing run prints\n", argv[1]);
			return 2;
		}
		unreadable_pages((enum ftl_reduction)reduction, seed);
		return test_result();
	}
	RUN(a_write_ends_in_the_buffer);
	RUN(a_fua_write_pays_for_the_engine);
	RUN(the_engine_hashes_while_it_compresses);
	RUN(a_reference_is_read_once);
	RUN(a_reference_in_the_same_page_costs_no_read);
	RUN(the_reference_buffer_is_lru);
	RUN(bytes_of_a_packed_page);
	RUN(links_fill_a_page);
	RUN(a_page_is_closed_when_it_is_full);
	RUN(a_delta_is_no_reference);
	RUN(dedup_takes_equal_units_only);
	RUN(shared_objects_are_limited);
	RUN(the_worst_case_fits);
	RUN(a_failed_block_ends_no_writes);
	RUN(the_worst_case_and_a_failed_block);
	RUN(worn_out_when_units_do_not_fit);
	RUN(a_reference_outlives_its_unit);
	RUN(a_lost_reference_loses_what_refers_to_it);
	RUN(ids_used_anew);
	RUN(what_cannot_be_read_is_no_reference);
	RUN(a_read_keeps_its_reference);
	RUN(an_old_link_comes_back);
	RUN(an_older_version_comes_back);
	RUN(numbers_are_given_once);
	RUN(torn_erases);
	RUN(pages_that_cannot_be_read);
	RUN(what_it_cannot_do_is_refused);
	return test_result();
}
