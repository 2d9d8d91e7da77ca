// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test losses of the DAC FTL: blocks that fail until the drive is read-only; unreadable references and
 * pages, and mounts after them; torn erases. No read may return wrong content.
 *
 *   test_dac_loss        every case
 *   test_dac_loss ID     one run of pages_that_cannot_be_read again; ID is what a failing run
 *                        prints: unreadable:REDUCTION:SEED
 */
#include "dac_rig.h"

/* ---- blocks that fail --------------------------------------------------------------- */

/*
 * 13 of 13 objects are shared when a block fails. (11 - 4) * 8 = 56 pages may then be live, and 51
 * are for units and slots, so 5 objects may be shared. The number of shared objects decreases, and
 * new references are made only below 5. The 22 units without references are written again and
 * again.
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
	EXPECT_EQ(drive()->objs.shared, 13);
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
	EXPECT_EQ(drive()->objs.shared_max, 5);
	EXPECT_EQ(drive()->objs.shared, 13);
	EXPECT_EQ(rig_again(&r), SSD_OK);	/* a mount adds none either */
	EXPECT_EQ(drive()->objs.shared, 13);
	overwrite(26, 500);
	for (uint32_t i = 0; i < 9; i++) {	/* 4 are left */
		random_page(i);
		write_io(2 * i + 1);
	}
	flush();
	EXPECT_EQ(drive()->objs.shared, 4);
	half_page(77);
	write_io(26);
	in[0] ^= 1;
	write_io(27);
	half_page(78);
	write_io(28);
	in[0] ^= 1;
	write_io(29);
	flush();
	EXPECT_EQ(drive()->objs.shared, 5);
	EXPECT_EQ(drive()->host.stats.refused_references, 1);
	half_page(13);
	in[UNIT - 1] = 7;
	read_io(25);
	rig_free(&r);
}

/*
 * In the worst case 61 pages are live when only 56 may be: the drive becomes read-only, and no data
 * are lost.
 */
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
	EXPECT_EQ(drive()->objs.room, 56);
	EXPECT_EQ(drive()->die[0].live_pages, 61);
	read_the_worst();
	EXPECT_EQ(rig_again(&r), SSD_OK);
	read_the_worst();
	rig_free(&r);
}

/* A second failed block leaves 48 pages, but 51 are needed. */
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
	EXPECT_EQ(drive()->host.stats.retired_blocks, 2);
	half_page(13);
	in[UNIT - 1] = 7;
	read_io(25);
	rig_free(&r);
}

/* ---- loss ------------------------------------------------------------------------------------------- */

static uint32_t bad_page, bad_too = DAC_NONE;

static enum nand_status lose(void *opaque, const struct nand_cmd *c)
{
	(void)opaque;
	return c->op == NAND_READ && (c->ppn.v == bad_page || c->ppn.v == bad_too) ? NAND_UNCORR : NAND_OK;
}

static enum ssd_err try_read(uint32_t unit)
{
	uint64_t ns;

	return io(FTL_READ, false, unit, &ns);
}

/*
 * Units 1 and 2 refer to unit 0's content, unit 3 refers to none. The page of unit 0 becomes
 * unreadable: 0, 1 and 2 are lost, 3 is not. This stays so over GC and mounts, until each unit is
 * written whole. Writing a part of a lost unit leaves it lost.
 */
static void a_lost_reference_loses_what_refers_to_it(void)
{
	const struct nand_hooks hooks = { .fault = lose };
	struct rig_io *q = &r.all;

	start(FTL_REDUCE_DAC, 0);
	half_page(1);
	fua(0);
	bad_page = drive()->objs.obj[drive()->maps.map[0]].ppn;
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
	EXPECT_EQ(drive()->objs.obj[drive()->maps.map[0]].kind, DAC_LOST);
	EXPECT(drive()->objs.obj[drive()->maps.map[0]].ppn != bad_page);
	bad_page = DAC_NONE;			/* the page would be readable now if it were read */
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
	EXPECT_EQ(try_read(1), SSD_E_UNCORR);	/* half of its content is still unknown */
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
 * Unit 1 refers to object A, and is written again into page Y; A's id is given to another content.
 * Then Y becomes unreadable: a mount finds the old entry of unit 1, with A's id and the sequence
 * that A had. It must not take the other content for A.
 */
static void an_id_used_anew_is_not_the_old_one(enum ftl_reduction reduction)
{
	const struct nand_hooks hooks = { .fault = lose };
	const struct ftl_stats *s = start(reduction, 0);
	uint32_t a;

	half_page(1);
	fua(0);
	a = drive()->maps.map[0];
	in[UNIT - 1] = reduction == FTL_REDUCE_DAC;
	fua(1);
	EXPECT_EQ(s->delta_units + s->link_units, 1);
	random_page(3);
	fua(0);
	random_page(2);
	fua(1);
	bad_page = drive()->objs.obj[drive()->maps.map[1]].ppn;
	half_page(4);
	fua(2);
	EXPECT_EQ(drive()->maps.map[2], a);
	nand_array_set_hooks(r.ta.a, &hooks);
	EXPECT_EQ(rig_again(&r), SSD_OK);
	EXPECT_EQ(try_read(1), SSD_E_UNCORR);
	read_io(2);
	bad_page = DAC_NONE;			/* it has been erased, and is readable again */
	overwrite(4, 200);			/* the state of unit 1 is kept */
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
 * Unit 0's page becomes unreadable, and a read has found that. Its content is in the reference
 * buffer, but new data must not depend on it.
 */
static void what_cannot_be_read_is_no_reference(void)
{
	const struct nand_hooks hooks = { .fault = lose };
	const struct ftl_stats *s = start(FTL_REDUCE_DAC, 4 * UNIT);

	half_page(1);
	fua(0);
	in[UNIT - 1] = 7;
	fua(1);
	bad_page = drive()->objs.obj[drive()->maps.map[0]].ppn;
	nand_array_set_hooks(r.ta.a, &hooks);
	EXPECT_EQ(try_read(0), SSD_E_UNCORR);
	read_io(1);			/* served from the reference buffer */
	in[UNIT - 1] = 9;
	fua(2);
	EXPECT_EQ(s->delta_units, 1);
	EXPECT_EQ(rig_again(&r), SSD_OK);
	read_io(2);
	EXPECT_EQ(try_read(1), SSD_E_UNCORR);
	rig_free(&r);
}

/*
 * A read of a delta has the delta's page and waits for its reference's die. Then GC finds the
 * delta's page unreadable. Only the read still needs the reference, and it returns what was
 * written. Until GC runs at that moment the page stays readable; if GC was too late, the test
 * starts again.
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

/*
 * Submit six writes, 14 reads of the reference's die, then the read of the delta, and run it to its
 * end.
 */
static void read_the_delta(uint64_t *dice)
{
	struct dac *d = drive();
	const struct dac_obj *o = &d->objs.obj[d->maps.map[1]];
	struct dac_die *die = dac_die_of_page(d, d->objs.obj[o->ref].ppn);
	uint32_t k = 0;

	delta.page = o->ppn;
	delta.was_read = false;
	for (; k < 6; k++) {
		random_page(rnd(dice));
		begin_io(&busy_io[k], FTL_WRITE, 4 + (uint32_t)(rnd(dice) % 68));
	}
	for (uint32_t u = 2; u < 72 && k < 20; u++)
		if (d->maps.map[u] != DAC_NONE && dac_buffered(d, u) == DAC_NONE &&
		    dac_die_of_page(d, d->objs.obj[d->maps.map[u]].ppn) == die)
			begin_io(&busy_io[k++], FTL_READ, u);
	begin_io(&busy_io[k], FTL_READ, 1);
	while ((r.next_ns = r.ops->step(r.f, r.now_ns)) != FTL_IDLE) {
		r.now_ns = r.next_ns;
		r.ops->check(r.f);
		if (busy_io[k].reported)
			delta.was_read = false;
		else
			delta.went |= d->objs.obj[d->maps.map[1]].kind == DAC_LOST;
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
 * Unit 1 had a link to unit 0's object. Then 13 other objects become shared, the maximum. A mount
 * cannot read the page with the newer unit 1: the old link is valid again, and 14 are shared.
 * Writes continue without new references until the number is 12.
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
	bad_page = drive()->objs.obj[drive()->maps.map[1]].ppn;
	for (uint32_t i = 1; i < 14; i++) {
		half_page(i + 1);
		write_io(2 * i);
		write_io(2 * i + 1);
	}
	flush();
	EXPECT_EQ(drive()->objs.shared, 13);
	nand_array_set_hooks(r.ta.a, &hooks);
	EXPECT_EQ(rig_again(&r), SSD_OK);
	EXPECT_EQ(drive()->objs.shared, 14);
	half_page(1);
	read_io(1);
	overwrite(28, 500);
	EXPECT_EQ(drive()->objs.shared, 14);
	EXPECT_EQ(drive()->host.stats.op[FTL_WRITE].errors, 0);
	half_page(1);
	read_io(1);
	rig_free(&r);
}

/*
 * Unit 0 was written twice and flushed each time, and GC has moved its first content, to which unit
 * 1 refers. A mount cannot read the page of the second content. It cannot know what that page held,
 * nor whether its program ended. It finds the first content of unit 0.
 */
static void an_older_version_comes_back(void)
{
	const struct nand_hooks hooks = { .fault = lose };
	uint32_t ref, was;

	start(FTL_REDUCE_DAC, 0);
	half_page(1);
	fua(0);
	ref = drive()->maps.map[0];
	was = drive()->objs.obj[ref].ppn;
	in[UNIT - 1] = 7;
	fua(1);
	random_page(3);
	fua(0);
	overwrite(2, 200);
	EXPECT(drive()->objs.obj[ref].ppn != was);
	bad_page = drive()->objs.obj[drive()->maps.map[0]].ppn;
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
 * The newest page, unit 0's second content, is unreadable at one mount and readable at the next. In
 * between unit 0 got a third content, which must win: its numbers are above all earlier ones.
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
	bad_page = drive()->objs.obj[drive()->maps.map[0]].ppn;
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

static uint32_t page_of_unit(uint32_t unit)
{
	return drive()->objs.obj[drive()->maps.map[unit]].ppn;
}

/*
 * The same page is unreadable at two mounts, and at the second so is the page written between them.
 * Data written after the second must win. A page has up to 63 sequences. A mount skips twice as many
 * for each unreadable page: 63 when it reads the spare area, and 63 when it reads the content.
 */
static void numbers_are_given_once_by_two_mounts(void)
{
	const struct nand_hooks hooks = { .fault = lose };
	uint64_t seq, serial, most = dac_entries_max(UNIT);

	EXPECT_EQ(most, (UNIT - 2) / 16);
	start(FTL_REDUCE_DAC, 0);
	half_page(1);
	fua(0);
	seq = drive()->seq;
	serial = drive()->serial;
	half_page(2);
	fua(0);
	bad_page = page_of_unit(0);
	nand_array_set_hooks(r.ta.a, &hooks);
	EXPECT_EQ(rig_again(&r), SSD_OK);
	EXPECT_EQ(drive()->seq, seq + (1 << 20) + 2 * 2 * most);
	EXPECT_EQ(drive()->serial, serial + (1 << 20) + 2 * 2);
	half_page(3);
	fua(0);
	bad_too = page_of_unit(0);
	EXPECT_EQ(rig_again(&r), SSD_OK);
	EXPECT_EQ(drive()->seq, seq + (1 << 20) + 2 * 4 * most);
	EXPECT_EQ(drive()->serial, serial + (1 << 20) + 2 * 4);
	half_page(1);
	read_io(0);
	half_page(4);
	fua(0);
	bad_page = bad_too = DAC_NONE;
	EXPECT_EQ(rig_again(&r), SSD_OK);
	read_io(0);
	rig_free(&r);
}

/*
 * Power is lost during GC's erase while no block is free: some pages of the victim are unchanged,
 * others are not. Its live data are in another block, whose last page records it. If the victim's
 * pages were taken for live, no block could be collected without a free block.
 */
static bool erasing_without_a_free_block(const struct dac_die *x)
{
	return x->cmd == DAC_CMD_GC_ERASE && !drive()->bt.plane[0].free_count && x->gc.copied;
}

/* Returns whether the victim was half erased. */
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
				test_lose_power(&twin.ta, &r.ta, (r.now_ns + x->turn.ready_ns) / 2, seed);
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
	partly = !drive()->bt.plane[0].free_count;	/* otherwise no page of the victim is left */
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
 * Random pages are unreadable from their program to their erase. A read always returns the right
 * data or an error. A unit that is written whole is readable again.
 */
static struct {
	uint64_t rng, reads;
	uint8_t bad[12 * 8];
} medium;
static uint64_t medium_reads, medium_lost;	/* counts over all runs */

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
	for (uint64_t seed = 1; seed <= test_times(3); seed++)
		for (unsigned int k = 0; k < FTL_NREDUCTIONS; k++)
			unreadable_pages((enum ftl_reduction)k, seed);
	printf("# %" PRIu64 " reads of unreadable pages, %" PRIu64 " reads of the host's failed\n", medium_reads,
	       medium_lost);
	EXPECT(medium_reads > 100 * test_times(3) && medium_lost > 50 * test_times(3));
}

int main(int argc, char **argv)
{
	unsigned int reduction;
	uint64_t seed;

	rig_replay_hint("test_dac_loss");
	if (argc == 2) {
		if (sscanf(argv[1], "unreadable:%u:%" SCNu64, &reduction, &seed) != 2 ||
		    reduction >= FTL_NREDUCTIONS) {
			fprintf(stderr, "%s: not an ID, which a failing run prints\n", argv[1]);
			return 2;
		}
		unreadable_pages((enum ftl_reduction)reduction, seed);
		return test_result();
	}
	RUN(a_failed_block_ends_no_writes);
	RUN(the_worst_case_and_a_failed_block);
	RUN(worn_out_when_units_do_not_fit);
	RUN(a_lost_reference_loses_what_refers_to_it);
	RUN(ids_used_anew);
	RUN(what_cannot_be_read_is_no_reference);
	RUN(a_read_keeps_its_reference);
	RUN(an_old_link_comes_back);
	RUN(an_older_version_comes_back);
	RUN(numbers_are_given_once);
	RUN(numbers_are_given_once_by_two_mounts);
	RUN(torn_erases);
	RUN(pages_that_cannot_be_read);
	return test_result();
}
