// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dac_gc.c - the DAC FTL: GC of a die. A collection reads the victim's pages that have live
 * entries, packs these entries into new pages in the same order, and erases the victim.
 *
 *   NONE -> victim chosen -> (page read -> its entries packed -> a page programmed ...)*
 *        -> the last program says that the victim is collected -> erased, FREE
 *
 * An entry that becomes invalid during the collection is not copied: when the copy is
 * programmed, an entry counts only if the original is still live.
 */
#include "dac_gc.h"
#include "dac_front.h"
#include "dac_pick.h"
#include "dac_store.h"

/* ---- the victim ---------------------------------------------------------------- */

static void stop_gc(struct dac *d, struct dac_die *x)
{
	x->gc_active = false;
	x->turn.gc_credit = 0;
	d->host.stats.gc_ns += d->host.now_ns - x->gc.since_ns;
}

static bool begin(struct dac *d, struct dac_die *x)
{
	struct dac_gc *q = &x->gc;
	uint32_t block = dac_gc_victim(d, x);

	if (block == DAC_NONE) {
		x->no_victim = true;
		x->order = (struct gc_order){ 0 };
		stop_gc(d, x);
		return false;
	}
	x->order.victim = false;
	q->retire = d->bt.blk[block].state == BLK_RETIRE;
	blk_take(&d->bt, block);
	q->victim = block;
	q->page = 0;
	q->copied = q->marked = false;
	d->host.stats.gc_runs++;
	return true;
}

/* ---- what is live in a page ------------------------------------------------------- */

/* Is this entry of page `from` the current one in the maps? */
static bool entry_lives(const struct dac *d, const struct dac_entry *e, uint32_t from)
{
	const struct dac_obj *o;

	if (e->kind == DAC_LINK)
		return e->lpn < d->units && d->maps.link_at[e->lpn] == from && d->maps.unit_seq[e->lpn] == e->seq;
	SSD_ASSERT(e->obj < d->objs.objects);
	o = &d->objs.obj[e->obj];
	return o->refs && o->ppn == from && o->seq == e->seq;
}

static void pack(struct dac_gc *q, const struct dac_entry *e, const uint8_t *content)
{
	q->fill_from[q->fill.count] = q->from;
	dac_fill_add(&q->fill, e, content);
}

/* Pack the entry. Returns false if it does not fit: it is then held until the page is programmed. */
static bool pack_or_hold(struct dac_gc *q, const struct dac_entry *e)
{
	if (!dac_fill_fits(&q->fill, e)) {
		q->held = *e;
		q->has_held = true;
		q->out = DAC_OUT_PACKED;
		return false;
	}
	pack(q, e, q->read + q->walk.content);
	return true;
}

/*
 * Pack the entries of a page that cannot be read. The maps in memory say which entries they were;
 * their content is lost.
 */
static void pack_from_memory(struct dac *d, struct dac_gc *q)
{
	struct dac_entry e;
	uint32_t i = q->walk.at;	/* search position: first objects, then units */

	for (; i < d->objs.objects + d->units; i++) {
		if (i < d->objs.objects) {
			const struct dac_obj *o = &d->objs.obj[i];

			if (!o->refs || o->ppn != q->from)
				continue;
			e = (struct dac_entry){ .seq = o->seq, .lpn = DAC_NONE, .obj = i, .ref = DAC_NONE,
						.kind = DAC_LOST };
			for (uint32_t l = 0; l < d->units; l++)
				if (d->maps.map[l] == i && d->maps.link_at[l] == DAC_NONE)
					e.lpn = l;
		} else {
			uint32_t l = i - d->objs.objects;

			if (d->maps.link_at[l] != q->from)
				continue;
			e = (struct dac_entry){ .seq = d->maps.unit_seq[l], .lpn = l, .obj = DAC_NONE,
						.ref = d->maps.map[l], .ref_seq = d->objs.obj[d->maps.map[l]].seq,
						.kind = DAC_LINK };
		}
		if (!dac_fill_fits(&q->fill, &e)) {
			q->walk.at = i;
			q->out = DAC_OUT_PACKED;
			return;
		}
		pack(q, &e, q->fill.data);	/* a lost entry has no content */
	}
	q->from = DAC_NONE;
}

static uint32_t next_live(const struct dac *d, const struct dac_gc *q)
{
	uint32_t page = q->page;

	while (page < d->g->pages_per_block &&
	       !d->live[q->victim * d->g->pages_per_block + page].entries)
		page++;
	return page;
}

/* Unpack the page in q->read until it ends or a page is ready to be programmed. */
static void unpack_page(struct dac *d, struct dac_gc *q)
{
	struct dac_entry e;

	if (!q->read) {
		pack_from_memory(d, q);
		return;
	}
	if (q->oob.kind == DAC_WHOLE) {
		if (entry_lives(d, &q->oob.entry, q->from)) {
			q->out = DAC_OUT_WHOLE;
			q->last = !q->fill.count && next_live(d, q) == d->g->pages_per_block;
		} else {
			q->from = DAC_NONE;
		}
		return;
	}
	if (q->has_held) {
		q->has_held = false;
		if (entry_lives(d, &q->held, q->from) && !pack_or_hold(q, &q->held))
			return;
	}
	for (;;) {
		int more = dac_walk_next(&q->walk, &e);

		SSD_ASSERT(more >= 0);	/* the mount refused pages that it could not parse */
		if (!more)
			break;
		if (entry_lives(d, &e, q->from) && !pack_or_hold(q, &e))
			return;
	}
	q->from = DAC_NONE;
}

/* ---- commands ------------------------------------------------------------------------ */

static void read_page(struct dac *d, struct dac_die *x)
{
	struct dac_gc *q = &x->gc;
	struct nand_cmd c = { .op = NAND_READ, .source = NAND_SRC_GC, .ecc_words = NAND_WHOLE_PAGE,
			      .ppn = { q->victim * d->g->pages_per_block + q->page++ },
			      .oob = d->oob };

	die_command(d->host.n, d->host.now_ns, &c, 1);
	q->from = c.ppn.v;
	q->has_held = false;
	q->read = NULL;
	q->walk.at = 0;
	if (survey_readable(c.status)) {
		SSD_ASSERT(dac_get_oob(d->oob, &q->oob));
		q->read = x->gc_page;
		memcpy(q->read, c.page, d->unit_bytes);
		if (q->oob.kind == DAC_PACKED)
			dac_walk_begin(&q->walk, q->read, d->unit_bytes);
	}
	dac_die_start(d, x, DAC_CMD_GC_READ, c.done_ns);
}

static bool program(struct dac *d, struct dac_die *x)
{
	struct dac_gc *q = &x->gc;
	bool whole = q->out == DAC_OUT_WHOLE;
	struct dac_oob oob = { .kind = whole ? DAC_WHOLE : DAC_PACKED, .collected = DAC_NONE };
	struct nand_cmd c = { .op = NAND_PROGRAM, .source = NAND_SRC_GC, .oob = d->oob };

	c.ppn.v = dac_frontier(d, x, FRONT_GC);
	if (c.ppn.v == DAC_NONE)
		return x->cmd != DAC_IDLE;
	if (whole) {
		oob.entry = q->oob.entry;
		c.data = q->read;
	} else {
		dac_fill_seal(&q->fill);
		c.data = q->fill.data;
	}
	if (q->last)
		oob.collected = q->victim;
	oob.serial = ++d->serial;
	dac_set_oob(d, &oob);
	front_cover(&d->fr, (uint32_t)(x - d->die), c.ppn.v, c.data, d->oob);
	q->to = c.ppn.v;
	die_command(d->host.n, d->host.now_ns, &c, 1);
	q->failed = c.status == NAND_PROG_FAIL;
	d->host.stats.gc_pages++;
	dac_die_start(d, x, DAC_CMD_GC_PROGRAM, c.done_ns);
	die_charge(&x->turn, c.op);
	return true;
}

static void wipe(struct dac *d, struct dac_die *x)
{
	struct dac_gc *q = &x->gc;
	struct nand_cmd c = { .op = NAND_ERASE, .source = NAND_SRC_GC, .pb = NAND_WHOLE_BLOCK };

	c.ppn.v = q->victim * d->g->pages_per_block;
	die_command(d->host.n, d->host.now_ns, &c, 1);
	q->erase_failed = c.status == NAND_ERASE_FAIL;
	d->host.stats.gc_blocks++;
	dac_die_start(d, x, DAC_CMD_GC_ERASE, c.done_ns);
	die_charge(&x->turn, c.op);
}

static void end_collection(struct dac *d, struct dac_die *x, bool bad)
{
	uint32_t block = x->gc.victim;

	x->gc.victim = DAC_NONE;
	if (bad)
		dac_put_bad(d, block);
	else
		dac_put_free(d, block, false);
	d->more_to_do = true;
	if (!dac_gc_due(d, x, d->gc.stop))
		stop_gc(d, x);
}

/* ---- ends of commands -------------------------------------------------------------------- */

static void object_moved(struct dac *d, const struct dac_entry *e, uint32_t to)
{
	struct dac_obj *o = &d->objs.obj[e->obj];
	uint32_t from = o->ppn, before = dac_object_cost(d, o), ref = DAC_NONE;

	if (e->kind == DAC_LOST && o->kind != DAC_LOST) {
		ref = o->ref;
		o->ref = DAC_NONE;
		o->kind = DAC_LOST;
		o->len = 0;
		dac_no_candidate(d, e->obj);
		dac_cache_drop(d, e->obj);
	}
	o->ppn = to;
	dac_live_add(d, to, dac_object_cost(d, o));
	dac_live_sub(d, from, before);
	if (ref != DAC_NONE)
		dac_unshare(d, ref);
}

void dac_moved(struct dac *d, const struct dac_entry *e, uint32_t from, uint32_t to)
{
	uint32_t bytes = dac_cost(DAC_LINK, 0, d->unit_bytes);

	if (!entry_lives(d, e, from))
		return;
	d->host.stats.gc_units++;
	if (e->kind != DAC_LINK) {
		object_moved(d, e, to);
		return;
	}
	d->maps.link_at[e->lpn] = to;
	dac_live_add(d, to, bytes);
	dac_live_sub(d, from, bytes);
}

static void programmed(struct dac *d, struct dac_die *x)
{
	struct dac_gc *q = &x->gc;

	if (q->failed) {
		dac_retire(d, x, q->to);
		return;		/* try again in another place */
	}
	q->copied = true;
	q->marked = q->last;
	if (q->out == DAC_OUT_WHOLE) {
		dac_moved(d, &q->oob.entry, q->from, q->to);
		q->from = DAC_NONE;
	} else {
		for (uint32_t i = 0; i < q->fill.count; i++)
			dac_moved(d, &q->fill.entry[i], q->fill_from[i], q->to);
		dac_fill_begin(&q->fill);
	}
	q->out = DAC_OUT_NONE;
	q->last = false;
}

void dac_gc_complete(struct dac *d, struct dac_die *x, enum dac_cmd cmd)
{
	if (cmd == DAC_CMD_GC_PROGRAM)
		programmed(d, x);
	else if (cmd == DAC_CMD_GC_ERASE)
		end_collection(d, x, x->gc.erase_failed);
}

/* ---- its turn ------------------------------------------------------------------------------- */

/* All pages of the victim have been read: program the last page; the block can then be erased. */
static bool finish(struct dac *d, struct dac_die *x)
{
	struct dac_gc *q = &x->gc;

	if (q->fill.count || (q->copied && !q->marked)) {
		q->out = DAC_OUT_PACKED;
		q->last = true;
		return program(d, x);
	}
	if (q->retire)
		end_collection(d, x, true);
	else
		wipe(d, x);
	return true;
}

bool dac_gc_turn(struct dac *d, struct dac_die *x)
{
	struct dac_gc *q = &x->gc;

	if (q->victim == DAC_NONE && !begin(d, x))
		return false;
	if (q->out == DAC_OUT_NONE && q->from != DAC_NONE)
		unpack_page(d, q);
	if (q->out != DAC_OUT_NONE)
		return program(d, x);
	q->page = next_live(d, q);
	if (q->page < d->g->pages_per_block) {
		read_page(d, x);
		return true;
	}
	return finish(d, x);
}
