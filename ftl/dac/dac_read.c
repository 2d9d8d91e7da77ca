// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dac_read.c - the DAC FTL: reads. A read operation fetches an object: its page and, for a delta, its
 * reference's page after that, unless the reference is in the reference buffer or in the same page.
 * The operation holds a reference count of what it reads. It must hold the delta's reference too,
 * because GC may meanwhile find the delta lost, and a lost object has no reference. An object that is
 * held stays alive, and GC moves objects only within their die, so that the operation is in the right
 * queue.
 *
 * Reads have three sources: the host; a write of a part of a unit (its base); and the engine (a
 * reference, never a delta).
 */
#include "dac_read.h"
#include "dac_ops.h"
#include "dac_store.h"
#include "dac_write.h"

/* ---- contents ------------------------------------------------------------------- */

/* Expand an object's content in the page into out. Returns false if it is lost. */
static bool content(struct dac *d, const uint8_t *page, uint32_t obj, uint8_t *out, uint64_t *engine_ns)
{
	const struct dac_obj *o = &d->objs.obj[obj];
	struct dac_walk w;
	struct dac_entry e;

	if (!page || o->kind == DAC_LOST)
		return false;
	if (o->kind == DAC_RAW) {
		memcpy(out, page, d->unit_bytes);
		return true;
	}
	dac_walk_begin(&w, page, d->unit_bytes);
	do
		SSD_ASSERT(dac_walk_next(&w, &e) == 1);
	while (e.obj != obj || e.seq != o->seq);
	*engine_ns += d->host.c.decompress_ns;
	return xmatch_expand(d->engine.xmatch, page + w.content, e.len, out, d->unit_bytes) == SSD_OK;
}

static void xor_into(struct dac *d, uint8_t *data, const uint8_t *ref)
{
	for (uint32_t i = 0; i < d->unit_bytes; i++)
		data[i] ^= ref[i];
}

/*
 * Get the reference of the delta in o->data. Returns true if the unit is complete or *lost; false if the reference is
 * being read.
 */
static bool resolve(struct dac *d, uint32_t i, const uint8_t *page, bool *lost)
{
	struct dac_op *o = &d->read.op[i];
	uint32_t ref = d->objs.obj[o->obj].ref;
	const uint8_t *ready = dac_cache_get(d, ref);

	if (d->objs.obj[ref].kind == DAC_LOST) {
		*lost = true;
		return true;
	}
	if (!ready && d->objs.obj[ref].ppn == d->objs.obj[o->obj].ppn) {
		*lost = !content(d, page, ref, d->scratch, &o->engine_ns);
		ready = d->scratch;
		if (!*lost)
			dac_cache_put(d, ref, ready);
	}
	if (ready) {
		d->host.stats.reference_hits++;
		if (!*lost)
			xor_into(d, o->data, ready);
		return true;
	}
	d->host.stats.reference_reads++;
	o->reading = ref;
	dac_obj_hold(d, ref);
	dac_op_go(d, i);
	return false;
}

/* ---- ends ------------------------------------------------------------------------- */

static void report(struct dac *d, const struct dac_op *o, bool lost)
{
	const struct ftl_breakdown own = { .cell_ns = o->cell_ns, .bus_ns = o->bus_ns, .other_ns = o->engine_ns };

	host_part_at(&d->host, o->io, d->host.now_ns, o->gc_ns + o->wait_gc_ns, &own,
		     lost ? SSD_E_UNCORR : SSD_OK);
}

static void deliver(struct dac *d, uint32_t i, bool lost)
{
	struct dac_op *o = &d->read.op[i];

	switch ((enum dac_op_kind)o->kind) {
	case DAC_OP_HOST:
		if (!lost)
			host_copy(&d->host, o->io, o->at, o->data + o->from, o->bytes);
		d->read.host_ops--;
		report(d, o, lost);
		break;
	case DAC_OP_MERGE:
		d->read.merges--;
		dac_merged(d, o->unit, lost ? NULL : o->data);
		break;
	case DAC_OP_FETCH:
		if (!lost)
			dac_cache_put(d, o->obj, o->data);
		dac_fetch_done(d, o->unit, lost ? NULL : o->data, o->engine_ns > 0);
		break;
	}
	dac_op_put(d, i);
}

/* Continue or end an operation, a page of which has been read; page is NULL if it cannot be read. */
void dac_read_ended(struct dac *d, uint32_t i, const uint8_t *page)
{
	struct dac_op *o = &d->read.op[i];
	bool own = o->reading == o->obj;
	bool lost = !content(d, page, o->reading, own ? o->data : d->scratch, &o->engine_ns);

	if (!page)		/* content found in the reference buffer serves reads, but no new deltas */
		dac_no_candidate(d, o->reading);
	if (!own && !lost) {
		dac_cache_put(d, o->reading, d->scratch);
		xor_into(d, o->data, d->scratch);
	}
	if (own && !lost && d->objs.obj[o->obj].kind == DAC_DELTA && !resolve(d, i, page, &lost))
		return;
	deliver(d, i, lost);
}

/* ---- reads of the host -------------------------------------------------------------- */

/* Read a part of one unit. Returns false if no operation is free. */
static bool read_part(struct dac *d, struct ftl_io *io, const struct host_span *s)
{
	uint32_t unit = dac_buffered(d, s->unit), i;

	if (unit != DAC_NONE) {
		d->host.stats.buffer_hit_units++;
		if (d->write.buf[unit].lost)
			io->status = SSD_E_UNCORR;
		else
			host_copy(&d->host, io, io->at, d->write.buf[unit].data + s->from, s->bytes);
		io->first_seq = 1;	/* marks that buffer_ns has been charged */
		return true;
	}
	if (d->maps.map[s->unit] == DAC_NONE) {
		d->host.stats.unwritten_units++;
		host_copy(&d->host, io, io->at, NULL, s->bytes);
		return true;
	}
	if (d->maps.map[s->unit] == d->objs.gone) {
		io->status = SSD_E_UNCORR;
		return true;
	}
	if (d->read.host_ops == d->host.c.max_unit_reads)
		return false;
	i = dac_op_get(d, DAC_OP_HOST, d->maps.map[s->unit]);
	d->read.host_ops++;
	d->read.op[i].io = io;
	d->read.op[i].at = io->at;
	d->read.op[i].from = s->from;
	d->read.op[i].bytes = s->bytes;
	io->pending++;
	dac_op_go(d, i);
	return true;
}

static bool take_apart(struct dac *d, struct ftl_io *io)
{
	uint64_t unwritten = d->host.stats.unwritten_units, units = 0;
	bool whole = !io->at;

	for (; io->at < io->bytes; units++) {
		const struct host_span s = host_span(io, d->unit_bytes);

		if (!read_part(d, io, &s))
			return false;
		io->at += s.bytes;
	}
	d->host.stats.unwritten_reads += !io->ahead && whole && units &&
					 d->host.stats.unwritten_units - unwritten == units;
	return true;
}

void dac_read_line(struct dac *d)
{
	while (d->read.line.first) {
		struct ftl_io *io = d->read.line.first;
		struct ftl_breakdown own = { 0 };

		if (!take_apart(d, io))
			return;
		io_list_take(&d->read.line);
		own.buffer_ns = io->first_seq ? d->host.c.buffer_ns : 0;
		host_part_at(&d->host, io, d->host.now_ns, 0, &own, io->status);
	}
}
