// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test the DAC FTL: exact times, exact bytes, and references between objects. test_dac_loss tests the
 * effects of lost pages and blocks; test_direct has models, power cuts and failing media.
 *
 * Numbers. A unit and page has 1024 bytes and 64 spare ones, a bus byte takes 1 ns, commands
 * 100 ns, t_R 5000, t_PROG 20000; so a read takes 100 + 5000 + 1088 = 6188 ns and a program
 * 100 + 1088 + 20000 = 21188. An I/O pays 10 for the map, 10 for firmware, 10 for the
 * buffer. The engine: 400 to hash, 900 to compress, 600 to expand.
 */
#include "dac_rig.h"

#define READ_NS 6188u
#define PROGRAM_NS 21188u
#define IO_NS 20u		/* map and firmware */

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
	EXPECT_EQ(flush(), PROGRAM_NS + IO_NS);		/* the engine finished long before */
	EXPECT_EQ(flush(), IO_NS);
	EXPECT_EQ(s->host_pages, 1);
	EXPECT_EQ(s->comp_units, 1);
	EXPECT_EQ(read_io(3), READ_NS + EXPAND_NS + IO_NS);
	rig_free(&r);
}

/*
 * A FUA write waits for hash, compression and program. Raw content fills the page, so there is no
 * header.
 */
static void a_fua_write_pays_for_the_engine(void)
{
	const struct ftl_stats *s = start(FTL_REDUCE_DAC, 0);

	half_page(1);
	EXPECT_EQ(fua(0), HASH_NS + COMPRESS_NS + PROGRAM_NS + IO_NS);
	random_page(2);
	EXPECT_EQ(fua(1), HASH_NS + COMPRESS_NS + PROGRAM_NS + IO_NS);
	EXPECT_EQ(s->raw_units, 1);
	EXPECT_EQ(read_io(1), READ_NS + IO_NS);		/* raw content is not expanded */
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
 * Two units in one write are hashed at 0 .. 400 and 400 .. 800, and compressed at 400 .. 1300 and
 * 1300 .. 2200. Then one page is programmed.
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
 * Unit 1 differs from unit 0 in its last byte, so three sub-pages match. Its reference is read and
 * expanded, because it is compressed; then the XOR is compressed. A read of unit 1 reads two pages,
 * or one when the reference is in the reference buffer.
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

/* Unit and reference are in one page: no extra read, but two expansions. */
static void a_reference_in_the_same_page_costs_no_read(void)
{
	const struct ftl_stats *s = start(FTL_REDUCE_DAC, 0);

	half_page(1);
	write_io(0);
	in[UNIT - 1] = 7;
	write_io(1);		/* its reference is in the write buffer, which counts as a hit */
	EXPECT_EQ(flush(), PROGRAM_NS + IO_NS);
	EXPECT_EQ(s->host_pages, 1);
	EXPECT_EQ(s->delta_units, 1);
	EXPECT_EQ(read_io(1), READ_NS + 2 * EXPAND_NS + IO_NS);
	EXPECT_EQ(s->reference_hits, 2);
	EXPECT_EQ(s->reference_reads, 0);
	rig_free(&r);
}

/* Submit an I/O of one unit, whose content is in `in`, at the present time. */
static void begin(struct rig_io *q, enum ftl_op op, bool fua, uint32_t unit)
{
	q->io = (struct ftl_io){ .op = op, .fua = fua, .offset = (uint64_t)unit * UNIT, .bytes = UNIT,
				 .host = q };
	q->reported = false;
	if (op == FTL_WRITE)
		memcpy(q->data, in, UNIT);
	r.ops->submit(r.f, r.now_ns, &q->io);
	r.ops->check(r.f);
}

/* Let the drive work until at_ns, or until nothing is left to do. */
static void work_until(uint64_t at_ns)
{
	for (uint64_t next = r.ops->step(r.f, r.now_ns); next != FTL_IDLE && next <= at_ns;
	     next = r.ops->step(r.f, r.now_ns)) {
		r.now_ns = next;
		r.ops->check(r.f);
	}
	if (at_ns != FTL_IDLE)
		r.now_ns = at_ns;
}

/* Fill a unit's content with one byte, so that it compresses to a few bytes, and many units fit into a page. */
static void same_bytes(uint8_t value)
{
	memset(in, value, UNIT);
}

/* Write unit 0, which does not compress, and work for 2000 ns: a die programs its page. Later units compress. */
static const struct ftl_stats *start_with_a_raw_page(void)
{
	const struct ftl_stats *s = start(FTL_REDUCE_DAC, 0);
	const uint64_t t = r.now_ns;

	random_page(2);
	begin(&r.io[0], FTL_WRITE, true, 0);
	work_until(t + 2000);
	same_bytes('a');
	return s;
}

/*
 * The only die programs a raw page from 1300 to 22,488. Flushes of units 1 and 2, which are compressed at
 * 2000 + 1300 and 4000 + 1300, wait for it anyway, so both units go into one page.
 */
static void a_page_is_filled_until_a_die_can_take_it(void)
{
	const struct ftl_stats *s = start_with_a_raw_page();
	const uint64_t t = r.now_ns - 2000, raw_ns = t + HASH_NS + COMPRESS_NS + PROGRAM_NS;

	begin(&r.io[1], FTL_WRITE, false, 1);
	begin(&r.io[2], FTL_FLUSH, false, 0);
	work_until(t + 4000);
	same_bytes('b');
	begin(&r.io[3], FTL_WRITE, true, 2);
	work_until(FTL_IDLE);
	EXPECT_EQ(r.io[0].io.done_ns, raw_ns + IO_NS);
	EXPECT_EQ(r.io[2].io.done_ns, raw_ns + PROGRAM_NS + IO_NS);
	EXPECT_EQ(r.io[3].io.done_ns, raw_ns + PROGRAM_NS + IO_NS);
	EXPECT_EQ(s->host_pages, 2);
	EXPECT_EQ(s->flush_pages, 1);
	read_io(2);
	same_bytes('a');
	read_io(1);
	rig_free(&r);
}

/* As above, but unit 2 does not compress and fills a page alone. The page for which a flush waits goes first. */
static void no_later_page_overtakes_a_flush(void)
{
	const struct ftl_stats *s = start_with_a_raw_page();
	const uint64_t t = r.now_ns - 2000, raw_ns = t + HASH_NS + COMPRESS_NS + PROGRAM_NS;

	begin(&r.io[1], FTL_WRITE, true, 1);
	work_until(t + 4000);
	random_page(3);
	begin(&r.io[2], FTL_WRITE, false, 2);
	work_until(t + 8000);
	same_bytes('b');
	begin(&r.io[3], FTL_WRITE, true, 3);
	work_until(FTL_IDLE);
	EXPECT_EQ(r.io[1].io.done_ns, raw_ns + PROGRAM_NS + IO_NS);
	EXPECT_EQ(r.io[3].io.done_ns, raw_ns + 3 * PROGRAM_NS + IO_NS);
	EXPECT_EQ(s->host_pages, 4);
	EXPECT_EQ(s->flush_pages, 2);
	rig_free(&r);
}

/* What a flush leaves empty is counted: all but the head, an entry and its content. */
static void empty_bytes_of_a_flush_are_counted(void)
{
	const struct ftl_stats *s = start(FTL_REDUCE_DAC, 0);

	same_bytes('a');
	write_io(0);
	flush();
	EXPECT_EQ(s->flush_pages, 1);
	EXPECT_EQ(s->flush_empty_bytes, UNIT - 2 - 16 - s->comp_bytes);
	flush();
	EXPECT_EQ(s->flush_pages, 1);
	random_page(1);
	fua(1);		/* raw: the page is full */
	EXPECT_EQ(s->flush_pages, 1);
	rig_free(&r);
}

/* The reference buffer holds two references; the least recently used one is replaced. */
static void the_reference_buffer_is_lru(void)
{
	const struct ftl_stats *s = start(FTL_REDUCE_DAC, 2 * UNIT);

	for (uint32_t i = 0; i < 3; i++) {	/* units 0, 2, 4 are references; 1, 3, 5 are deltas */
		half_page(i + 1);
		fua(2 * i);
		in[UNIT - 1] = 7;
		fua(2 * i + 1);
	}
	EXPECT_EQ(s->reference_reads, 3);	/* the buffer has the references of 3 and 5 */
	half_page(2);
	in[UNIT - 1] = 7;
	EXPECT_EQ(read_io(3), READ_NS + EXPAND_NS + IO_NS);	/* the reference of 3 is now the last used */
	half_page(1);
	in[UNIT - 1] = 7;
	EXPECT_EQ(read_io(1), 2 * READ_NS + 2 * EXPAND_NS + IO_NS);	/* replaces the reference of 5 */
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
 * Three units of zeroes. 256 tuples are a run of 255 (13 bits: 0, location 0, 011, count 255) and
 * one full match (3 bits: 0, location 0, type 1), together 2 bytes: 0 0 011 11111111 0 0 1 =
 * 00011111 11111001 = 1f f9. The first unit is stored in this form. The others equal it, and their
 * XOR is zeroes as well.
 */
static void bytes_of_a_packed_page(void)
{
	static const uint8_t head[] = {
		3, 0,
		/* unit 5, sequence 1, object 0, compressed, 2 bytes */
		5, 0, 0, 0,  1, 0, 0, 0, 0,  0, 0, 0, 0,  DAC_COMP,  2, 0,
		/* unit 6, sequence 2, object 1, a delta of 2 bytes against object 0, sequence 1 */
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

/* A link has 25 bytes and no content. 40 of them, 2 + 40 * 25 = 1002 bytes, fill a page. */
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
		EXPECT_EQ(read_io(unit), READ_NS + IO_NS);	/* every unit has the one object, which needs no
								 * expansion */
	EXPECT_EQ(drive()->objs.shared, 1);
	random_page(2);
	for (uint32_t unit = 0; unit < 41; unit++)
		fua(unit);
	random_page(1);
	read_io(41);			/* it had unit 0's content */
	rig_free(&r);
}

/*
 * An entry that does not fit any more closes the page. The content of half_page() has 128 random
 * tuples of 33 bits each, except for an occasional partial match, so it takes 528 bytes, and 16
 * more for its entry. A page has 1022 bytes besides its count, so only one such entry fits.
 */
static void a_page_is_closed_when_it_is_full(void)
{
	const struct ftl_stats *s = start(FTL_REDUCE_COMP, 0);

	for (uint32_t i = 0; i < 4; i++) {
		half_page(i);
		write_io(i);
	}
	EXPECT_EQ(s->host_pages, 3);	/* the fourth page is open */
	EXPECT_EQ(s->comp_units, 4);
	flush();
	EXPECT_EQ(s->host_pages, 4);
	rig_free(&r);
}

/* ---- a buffer of compressed data ------------------------------------------------------------------ */

static const struct ftl_stats *start_compressed(enum ftl_reduction reduction)
{
	static struct rig_shape s;

	s = shape;
	s.reduction = reduction;
	s.buffer = 0;			/* and buffer_ns = 0 */
	return rig_start(&r, &s);
}

/* Submit three writes of unit 3 at the same time. Returns the latency of the last one. */
static uint64_t write_three_versions(void)
{
	struct rig_io *q = r.io;

	for (uint32_t i = 0; i < 3; i++) {
		half_page(i + 1);
		memcpy(q[i].data, in, UNIT);
		q[i].io = (struct ftl_io){ .op = FTL_WRITE, .offset = 3 * UNIT, .bytes = UNIT, .host = &q[i] };
		q[i].reported = false;
		r.ops->submit(r.f, r.now_ns, &q[i].io);
	}
	while ((r.next_ns = r.ops->step(r.f, r.now_ns)) != FTL_IDLE) {
		r.now_ns = r.next_ns;
		r.ops->check(r.f);
	}
	EXPECT(q[0].reported && q[1].reported && q[2].reported);
	EXPECT_EQ(ftl_breakdown_sum(&q[2].io.where), q[2].io.done_ns - q[2].io.submit_ns);
	return q[2].io.done_ns - q[2].io.submit_ns;
}

/*
 * The engine takes the first version at once. The second waits for it in the buffer, and the third replaces
 * the second there. Without buffer_units the third waits for two compressions, and all three are stored, in a
 * page each, as two do not fit into one.
 */
static void only_compressed_data_wait_in_the_buffer(void)
{
	const struct ftl_stats *s = start(FTL_REDUCE_COMP, 0);

	EXPECT_EQ(write_three_versions(), IO_NS + 10);
	flush();
	EXPECT_EQ(s->comp_units, 2);
	EXPECT_EQ(s->coalesced_units, 1);
	EXPECT_EQ(s->host_pages, 2);
	rig_free(&r);
	s = start_compressed(FTL_REDUCE_COMP);
	EXPECT_EQ(write_three_versions(), 2 * COMPRESS_NS + IO_NS);
	flush();
	EXPECT_EQ(s->comp_units, 3);
	EXPECT_EQ(s->coalesced_units, 0);
	EXPECT_EQ(s->host_pages, 3);
	read_io(3);
	EXPECT(!memcmp(out, in, UNIT));
	rig_free(&r);
}

/* The raw unit is written at once. Of 41 links 40 fill the page, and the last one closes it. */
static void a_page_of_compressed_data_fills_up(void)
{
	const struct ftl_stats *s = start_compressed(FTL_REDUCE_DEDUP);

	random_page(1);
	for (uint32_t unit = 0; unit < 41; unit++)
		write_io(unit);
	EXPECT_EQ(s->host_pages, 1);
	write_io(41);
	EXPECT_EQ(s->host_pages, 2);
	flush();
	EXPECT_EQ(s->host_pages, 3);
	EXPECT_EQ(s->link_units, 41);
	rig_free(&r);
}

/* ---- policy --------------------------------------------------------------------------------------- */

/* An object that is stored against a reference is never a reference itself. */
static void a_delta_is_no_reference(void)
{
	const struct ftl_stats *s = start(FTL_REDUCE_DAC, 0);

	half_page(1);
	fua(0);
	in[0] ^= 1;			/* the first sub-page differs */
	fua(1);
	EXPECT_EQ(s->delta_units, 1);
	in[300] ^= 1;			/* and the second: 2 sub-pages match unit 0, 3 would match unit 1 */
	fua(2);
	EXPECT_EQ(s->delta_units, 2);
	EXPECT_EQ(drive()->objs.obj[drive()->maps.map[2]].ref, drive()->maps.map[0]);
	EXPECT_EQ(drive()->objs.obj[drive()->maps.map[1]].ref, drive()->maps.map[0]);
	rig_free(&r);
}

/* Dedup needs all four fingerprints equal; a similar unit is stored alone. */
static void dedup_takes_equal_units_only(void)
{
	const struct ftl_stats *s = start(FTL_REDUCE_DEDUP_COMP, 0);

	half_page(1);
	fua(0);
	in[0] ^= 1;
	fua(1);
	EXPECT_EQ(s->comp_units, 2);
	fua(2);				/* it equals unit 1: read, compared, linked */
	EXPECT_EQ(s->link_units, 1);
	EXPECT_EQ(s->reference_reads, 1);
	EXPECT_EQ(drive()->maps.map[2], drive()->maps.map[1]);
	EXPECT_EQ(drive()->objs.shared, 1);
	rig_free(&r);
}

/* The store has room for eight fingerprints, those of two units. With a third unit it forgets the first one written. */
static void fingerprints_by_number(void)
{
	const struct ftl_stats *s = start(FTL_REDUCE_DAC, 0);

	r.fc.fingerprints = 8;
	EXPECT_EQ(rig_mount(&r), SSD_OK);
	for (uint32_t i = 0; i < 3; i++) {
		half_page(i + 1);
		write_io(i);
	}
	half_page(3);
	write_io(3);
	EXPECT_EQ(s->delta_units, 1);
	half_page(1);			/* stored alone and added again; unit 1 is removed */
	write_io(4);
	EXPECT_EQ(s->comp_units, 4);
	half_page(2);
	write_io(5);
	EXPECT_EQ(s->comp_units, 5);
	EXPECT_EQ(s->delta_units, 1);
	rig_free(&r);
}

/*
 * 12 blocks of 8 pages, of which 2 + 2 are reserved: 64 pages. 48 units and 3 slots leave room for
 * 13 shared objects. Of 20 pairs the last ones are stored alone.
 */
static void shared_objects_are_limited(void)
{
	const struct ftl_stats *s = start(FTL_REDUCE_DAC, 0);

	EXPECT_EQ(drive()->objs.shared_max, 13);
	for (uint32_t i = 0; i < 20; i++) {
		half_page(i + 1);
		write_io(2 * i);
		in[UNIT - 1] = 7;
		write_io(2 * i + 1);
	}
	EXPECT_EQ(s->delta_units, 13);
	EXPECT_EQ(s->refused_references, 7);
	EXPECT_EQ(drive()->objs.shared, 13);
	rig_free(&r);
}

/*
 * The worst case: 13 references that no unit maps any more, each for one unit that equals it in a
 * quarter and takes most of a page, and 35 units that do not compress. 61 of 96 pages are live; 64
 * may be live or in flight. The 35 units are overwritten again and again.
 */
static void the_worst_case_fits(void)
{
	const struct ftl_stats *s = start(FTL_REDUCE_DAC, 0);
	uint64_t dice = 3;

	fill_to_the_worst();
	EXPECT_EQ(s->delta_units, 13);
	EXPECT(s->delta_bytes > 13 * 500);		/* no two of them share a page */
	for (uint32_t i = 0; i < 3000; i++)
		EXPECT_EQ(write_the_worst(i, &dice), SSD_OK);
	flush();
	EXPECT_EQ(drive()->objs.shared, 13);
	EXPECT_EQ(drive()->die[0].live_pages, 61);
	EXPECT_EQ(s->op[FTL_WRITE].errors, 0);
	read_the_worst();
	rig_free(&r);
}

/*
 * The unit of the reference gets another content. GC moves the reference, which no unit maps any
 * more.
 */
static void a_reference_outlives_its_unit(void)
{
	const struct ftl_stats *s = start(FTL_REDUCE_DAC, 0);
	uint32_t ref, was;

	half_page(1);
	fua(0);
	in[UNIT - 1] = 7;
	fua(1);
	ref = drive()->maps.map[0];
	was = drive()->objs.obj[ref].ppn;
	random_page(3);
	fua(0);
	overwrite(2, 200);
	EXPECT(s->gc_runs > 10);
	EXPECT(drive()->maps.map[0] != ref && drive()->objs.obj[ref].ppn != was);
	EXPECT_EQ(drive()->objs.obj[ref].refs, 1);
	half_page(1);
	in[UNIT - 1] = 7;
	read_io(1);
	EXPECT_EQ(rig_again(&r), SSD_OK);	/* a mount finds it as well */
	read_io(1);
	EXPECT_EQ(drive()->objs.shared, 1);
	random_page(1);
	fua(1);					/* the last reference to it is gone */
	EXPECT_EQ(drive()->objs.shared, 0);
	rig_free(&r);
}

/* ---- configuration --------------------------------------------------------------------------------------- */

static void no_payload(struct ftl_config *c, struct nand_geometry *g) { (void)g; c->payload = false; }
static void small_units(struct ftl_config *c, struct nand_geometry *g) { (void)g; c->unit_bytes = 512; }
static void ssdsim(struct ftl_config *c, struct nand_geometry *g) { (void)g; c->accounting = FTL_ACCOUNT_SSDSIM; }
static void low_stop(struct ftl_config *c, struct nand_geometry *g) { (void)g; c->gc_stop_blocks = 1; }
static void pairs(struct ftl_config *c, struct nand_geometry *g) { (void)c; g->paired_loss = true; }
static void fps(struct ftl_config *c, struct nand_geometry *g) { (void)c; g->order = NAND_ORDER_FPS; }
static void few_blocks(struct ftl_config *c, struct nand_geometry *g) { (void)c; g->blocks_per_plane = 10; }
static void small_oob(struct ftl_config *c, struct nand_geometry *g) { (void)c; g->oob_bytes = 25; }

static void few_prints(struct ftl_config *c, struct nand_geometry *g) { (void)g; c->fingerprints = 3; }
static void wear(struct ftl_config *c, struct nand_geometry *g) { (void)g; c->wl_threshold = 5; }
static void words(struct ftl_config *c, struct nand_geometry *g) { (void)g; c->host_subpage_reads = FTL_WORDS_YES; }

static void what_it_cannot_do_is_refused(void)
{
	start(FTL_REDUCE_DAC, 0);
	refused(no_payload, "payload must be yes");
	refused(small_units, "unit_bytes must be geometry.page_bytes");
	refused(ssdsim, "accounting must be device");
	refused(low_stop, "gc_stop_blocks must be at least gc_start_blocks");
	refused(pairs, "paired_loss must be no");
	refused(fps, "order must be ascending or none");
	refused(few_blocks, "the geometry cannot hold");	/* (10 - 4) * 8 = 48 < 48 + 3 + 1 */
	refused(wear, "wl_threshold must be 0");
	refused(words, "host_subpage_reads must be auto or no");
	refused(small_oob, "oob_bytes is too small");
	refused(few_prints, "fingerprints must be 0, or 4 .. 2^30");
	rig_free(&r);
}

int main(void)
{
	rig_replay_hint("test_dac");
	RUN(a_write_ends_in_the_buffer);
	RUN(a_fua_write_pays_for_the_engine);
	RUN(the_engine_hashes_while_it_compresses);
	RUN(a_reference_is_read_once);
	RUN(a_reference_in_the_same_page_costs_no_read);
	RUN(a_page_is_filled_until_a_die_can_take_it);
	RUN(no_later_page_overtakes_a_flush);
	RUN(empty_bytes_of_a_flush_are_counted);
	RUN(the_reference_buffer_is_lru);
	RUN(bytes_of_a_packed_page);
	RUN(links_fill_a_page);
	RUN(a_page_is_closed_when_it_is_full);
	RUN(only_compressed_data_wait_in_the_buffer);
	RUN(a_page_of_compressed_data_fills_up);
	RUN(a_delta_is_no_reference);
	RUN(dedup_takes_equal_units_only);
	RUN(fingerprints_by_number);
	RUN(shared_objects_are_limited);
	RUN(the_worst_case_fits);
	RUN(a_reference_outlives_its_unit);
	RUN(what_it_cannot_do_is_refused);
	return test_result();
}
