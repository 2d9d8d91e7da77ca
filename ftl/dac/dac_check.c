// SPDX-License-Identifier: GPL-2.0-or-later
/* dac_check.c - the DAC FTL: asserts its numbered invariants (dac.h). */
#include "dac_check.h"

/* D1: count all references to objects, and compare. */
static void need(const struct dac *d, uint32_t obj, bool share)
{
	SSD_ASSERT(obj < d->objs.objects && d->objs.obj[obj].refs);
	d->objs.check_refs[obj]++;
	d->objs.check_shares[obj] += share;
}

static void count_buffered(const struct dac *d)
{
	for (uint32_t i = 0; i < d->write.pool; i++) {
		const struct dac_unit *u = &d->write.buf[i];

		if (u->state == DAC_U_FREE)
			continue;
		if (u->obj != DAC_NONE) {
			need(d, u->obj, false);
			SSD_ASSERT(d->objs.obj[u->obj].unit == i && d->objs.obj[u->obj].ppn == DAC_NONE);
		}
		if (u->ref != DAC_NONE)
			need(d, u->ref, true);
	}
	for (uint32_t i = 0; i < d->pages.slots; i++)
		for (uint32_t k = 0; d->pages.slot[i].state != DAC_S_FREE && k < d->pages.slot[i].fill.count; k++)
			if (d->pages.slot[i].fill.entry[k].kind == DAC_LINK)
				need(d, d->pages.slot[i].fill.entry[k].ref, true);
}

static void check_objects(const struct dac *d)
{
	uint32_t shared = 0, ops = d->host.c.max_unit_reads + DAC_AHEAD + DAC_MERGES;

	memset(d->objs.check_refs, 0, d->objs.objects * sizeof(*d->objs.check_refs));
	memset(d->objs.check_shares, 0, d->objs.objects * sizeof(*d->objs.check_shares));
	need(d, d->objs.gone, false);
	for (uint32_t l = 0; l < d->units; l++)
		if (d->maps.map[l] != DAC_NONE)
			need(d, d->maps.map[l], d->maps.link_at[l] != DAC_NONE);
	for (uint32_t i = 0; i < d->objs.objects; i++)
		if (d->objs.obj[i].refs && d->objs.obj[i].ref != DAC_NONE)
			need(d, d->objs.obj[i].ref, true);
	for (uint32_t i = 0; i < ops; i++)
		if (d->read.op[i].obj != DAC_NONE) {
			need(d, d->read.op[i].obj, false);
			if (d->read.op[i].reading != d->read.op[i].obj)
				need(d, d->read.op[i].reading, false);
		}
	count_buffered(d);
	for (uint32_t i = 0; i < d->objs.objects; i++) {
		const struct dac_obj *o = &d->objs.obj[i], *r = o->ref == DAC_NONE ? NULL : &d->objs.obj[o->ref];

		SSD_ASSERT(o->refs == d->objs.check_refs[i] && o->shares == d->objs.check_shares[i]);	/* D1 */
		SSD_ASSERT(!r || r->kind != DAC_DELTA);						/* D2 */
		SSD_ASSERT(!r || o->ppn == DAC_NONE || r->ppn != DAC_NONE || o->ref == d->objs.gone);	/* D2 */
		SSD_ASSERT(!o->candidate || (o->refs && o->kind <= DAC_COMP));			/* D9 */
		SSD_ASSERT(o->cached == DAC_NONE || d->refs.cached[o->cached].obj == i);
		shared += o->shares > 0;
	}
	SSD_ASSERT(shared == d->objs.shared);							/* D1 */
}

/* ---- D3, D4: what is live where ------------------------------------------------------ */

static bool lives(const struct dac *d, const struct dac_entry *e, uint32_t ppn)
{
	const struct dac_obj *o;

	if (e->kind == DAC_LINK)
		return d->maps.link_at[e->lpn] == ppn && d->maps.unit_seq[e->lpn] == e->seq;
	o = &d->objs.obj[e->obj];
	if (!o->refs || o->ppn != ppn || o->seq != e->seq)
		return false;
	SSD_ASSERT(o->kind == e->kind && o->len == e->len);					/* D3 */
	SSD_ASSERT(o->kind != DAC_DELTA || o->ref == e->ref || o->ref == d->objs.gone);		/* D3 */
	return true;
}

static void check_flash(const struct dac *d, uint32_t ppn)
{
	uint32_t entries = 0, bytes = 0;
	const void *data, *oob;
	struct dac_walk w;
	struct dac_entry e;
	struct dac_oob o;

	if (!d->live[ppn].entries ||
	    !survey_readable(d->host.n->ops->peek(d->host.n, (ppn_t){ ppn }, &data, &oob)))
		return;
	SSD_ASSERT(dac_get_oob(oob, &o));
	if (o.kind == DAC_WHOLE) {
		if (lives(d, &o.entry, ppn)) {
			entries = 1;
			bytes = d->unit_bytes;
		}
	} else {
		for (dac_walk_begin(&w, data, d->unit_bytes); dac_walk_next(&w, &e) == 1;)
			if (lives(d, &e, ppn)) {
				entries++;
				bytes += dac_cost(e.kind, e.len, d->unit_bytes);
			}
	}
	SSD_ASSERT(entries == d->live[ppn].entries && bytes == d->live[ppn].bytes);		/* D3 */
}

static void check_live(const struct dac *d)
{
	uint32_t per_die = d->g->blocks_per_plane * d->g->planes_per_die, objects = 0, listed = 0;

	for (uint32_t i = 0; i < d->dies; i++) {
		uint32_t live_pages = 0, good = 0;

		for (uint32_t b = i * per_die; b < (i + 1) * per_die; b++) {
			const struct blk *k = &d->bt.blk[b];
			uint32_t pages = 0, bytes = 0;

			for (uint32_t p = 0; p < d->g->pages_per_block; p++) {
				const struct dac_live *l = &d->live[b * d->g->pages_per_block + p];

				pages += l->entries > 0;
				bytes += l->bytes;
				listed += l->entries;
				check_flash(d, b * d->g->pages_per_block + p);
			}
			SSD_ASSERT(k->valid == pages && d->block[b].live_bytes == bytes);	/* D4 */
			SSD_ASSERT(!pages || (k->state != BLK_FREE && k->state != BLK_BAD));	/* D4 */
			SSD_ASSERT((k->state == BLK_BAD) == d->host.n->ops->is_bad(d->host.n, (pbn_t){ b }));
			live_pages += pages;
			good += k->state != BLK_BAD;
		}
		SSD_ASSERT(d->die[i].live_pages == live_pages && d->die[i].good_count == good);	/* D4, D5 */
	}
	for (uint32_t i = 0; i < d->objs.objects; i++)
		objects += d->objs.obj[i].refs && d->objs.obj[i].ppn != DAC_NONE;
	for (uint32_t l = 0; l < d->units; l++)
		objects += d->maps.link_at[l] != DAC_NONE;
	SSD_ASSERT(objects == listed);								/* D3 */
}

/* ---- D6, D7: the buffer and the slots --------------------------------------------------- */

static void check_buffer(const struct dac *d)
{
	uint32_t waiting = 0, queued = 0, in_slots = 0, in_pages = 0;
	uint64_t need_before = 0;

	for (uint32_t i = 0; i < d->write.pool; i++) {
		waiting += d->write.buf[i].state != DAC_U_FREE && d->write.buf[i].state != DAC_U_PACKED;
		in_pages += d->write.buf[i].state == DAC_U_PACKED;
	}
	for (uint32_t i = d->write.queue_first; i != DAC_NONE; i = d->write.buf[i].next, queued++) {
		SSD_ASSERT(d->write.buf[i].need > need_before && d->write.buf[i].seq >= d->write.buf[i].need);	/* D6 */
		need_before = d->write.buf[i].need;
	}
	for (uint32_t i = 0; i < d->pages.slots; i++)
		for (uint32_t k = 0; d->pages.slot[i].state != DAC_S_FREE && k < d->pages.slot[i].fill.count; k++) {
			const struct dac_entry *e = &d->pages.slot[i].fill.entry[k];
			const struct dac_unit *u = &d->write.buf[d->pages.slot[i].unit[k]], *r;

			in_slots++;
			SSD_ASSERT(u->state == DAC_U_PACKED && u->slot == i);			/* D6 */
			if (e->ref == DAC_NONE || d->objs.obj[e->ref].ppn != DAC_NONE)
				continue;
			r = &d->write.buf[d->objs.obj[e->ref].unit];
			SSD_ASSERT(r->state == DAC_U_PACKED);					/* D7 */
			SSD_ASSERT(r->slot == i || d->pages.slot[r->slot].closed <= d->pages.slot[i].after);	/* D7 */
		}
	SSD_ASSERT(waiting == queued && in_slots == in_pages);					/* D6 */
	SSD_ASSERT(d->write.used == waiting + in_pages);
}

void dac_check(const struct ftl *f)
{
	const struct dac *d = (const struct dac *)f;
	uint32_t busy = 0, candidates = 0, closed = 0;
	uint64_t live = 0;

	check_objects(d);
	check_live(d);
	blk_check(&d->bt);
	front_check(&d->fr);
	check_buffer(d);
	for (uint32_t i = 0; i < d->dies; i++) {
		busy += d->die[i].cmd != DAC_IDLE;
		if (d->die[i].lost != DAC_NONE)							/* D11 */
			SSD_ASSERT(d->bt.blk[dac_block_of(d, d->die[i].lost)].parity);
		live += d->die[i].live_pages + d->die[i].flight;
	}
	for (uint32_t i = 0; i < d->pages.slots; i++)
		closed += d->pages.slot[i].state == DAC_S_CLOSED;
	SSD_ASSERT(closed == d->pages.closed_slots);
	SSD_ASSERT(busy == d->ends.busy);							/* D8 */
	for (uint32_t i = 0; i < d->objs.objects; i++)
		candidates += d->objs.obj[i].candidate;
	SSD_ASSERT(candidates == fpstore_candidates(d->refs.prints));				/* D9 */
	SSD_ASSERT(d->objs.shared <= d->objs.shared_most);						/* D10 */
	SSD_ASSERT(live <= (uint64_t)d->units + d->pages.slots + d->objs.shared_most + d->dies +
		   d->host.c.max_unit_reads);							/* D10 */
}
