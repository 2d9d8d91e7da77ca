// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dac_write.c - the DAC FTL: the path of writes from the host to a closed page: the write buffer,
 * the engine and the slots. dac.h has their states.
 *
 * The engine has two modules, each of which does one job at a time (the dissertation's
 * figure 25): one hashes the next unit, at most DAC_AHEAD units after the head of the queue; the
 * other compresses the head of the queue as soon as its reference is available. So references are
 * fetched while other units are compressed. The computation is made when a job begins; its result
 * takes effect when the job ends. Units enter pages in the order in which they entered the buffer.
 *
 * A reference may itself be pending. Then its content is in the buffer, and its page is closed
 * earlier than the page of the delta (D7), or is the same page.
 */
#include "dac_write.h"
#include "dac_ops.h"
#include "dac_store.h"

/* ---- the write buffer -------------------------------------------------------------- */

static uint32_t bucket_of(const struct dac *d, uint32_t lpn)
{
	return (uint32_t)((lpn * 0x9e3779b1ull >> 7) % d->write.buckets);
}

/*
 * Returns the unit's newest version in the buffer, complete or not; DAC_NONE if flash has the
 * newest one.
 */
static uint32_t newest(const struct dac *d, uint32_t lpn)
{
	uint32_t i = d->write.bucket[bucket_of(d, lpn)];

	while (i != DAC_NONE && d->write.buf[i].lpn != lpn)
		i = d->write.buf[i].hash_next;
	/* A later version may have been programmed before an earlier one. */
	return i != DAC_NONE && d->write.buf[i].seq > d->maps.unit_seq[lpn] ? i : DAC_NONE;
}

uint32_t dac_buffered(const struct dac *d, uint32_t lpn)
{
	uint32_t i = newest(d, lpn);

	if (i == DAC_NONE || d->write.buf[i].state != DAC_U_MERGE)
		return i;
	do
		i = d->write.buf[i].hash_next;
	while (i != DAC_NONE && d->write.buf[i].lpn != lpn);
	return i != DAC_NONE && d->write.buf[i].seq > d->maps.unit_seq[lpn] ? i : DAC_NONE;
}

static uint32_t unit_new(struct dac *d, uint32_t lpn)
{
	uint32_t i = d->write.free, k = bucket_of(d, lpn);
	struct dac_unit *u = &d->write.buf[i];
	uint8_t *data = u->data;

	SSD_ASSERT(i != DAC_NONE);
	d->write.free = u->next;
	d->write.used++;
	*u = (struct dac_unit){ .data = data, .lpn = lpn, .next = DAC_NONE, .hash_next = d->write.bucket[k],
				.obj = DAC_NONE, .ref = DAC_NONE, .slot = DAC_NONE, .state = DAC_U_QUEUED };
	u->seq = u->need = ++d->seq;
	d->write.bucket[k] = i;
	if (d->write.queue_first == DAC_NONE)
		d->write.queue_first = i;
	else
		d->write.buf[d->write.queue_last].next = i;
	d->write.queue_last = i;
	d->more_to_do = true;
	return i;
}

void dac_unit_free(struct dac *d, uint32_t i)
{
	uint32_t *at = &d->write.bucket[bucket_of(d, d->write.buf[i].lpn)];

	SSD_ASSERT(d->write.buf[i].state == DAC_U_PACKED);
	while (*at != i)
		at = &d->write.buf[*at].hash_next;
	*at = d->write.buf[i].hash_next;
	d->write.buf[i].state = DAC_U_FREE;
	d->write.buf[i].next = d->write.free;
	d->write.free = i;
	d->write.used--;
	d->more_to_do = true;
}

uint64_t dac_need(const struct dac *d)
{
	uint64_t low = d->write.queue_first != DAC_NONE ? d->write.buf[d->write.queue_first].need : ~(uint64_t)0;

	for (uint32_t i = 0; i < d->pages.slots; i++)
		for (uint32_t k = 0; d->pages.slot[i].state != DAC_S_FREE && k < d->pages.slot[i].fill.count; k++)
			if (d->write.buf[d->pages.slot[i].unit[k]].need < low)
				low = d->write.buf[d->pages.slot[i].unit[k]].need;
	return low;
}

/* ---- accepting writes ------------------------------------------------------------------- */

static uint64_t sectors(uint32_t from, uint32_t bytes)
{
	uint32_t first = from / FTL_SECTOR_BYTES, count = bytes / FTL_SECTOR_BYTES;

	return (count == 64 ? ~(uint64_t)0 : ((uint64_t)1 << count) - 1) << first;
}

static void part_done(struct dac *d, struct ftl_io *io)
{
	struct ftl_breakdown w = { .buffer_ns = d->host.now_ns - io->submit_ns + d->host.c.buffer_ns,
				   .map_ns = d->host.c.map_ns, .other_ns = d->host.c.overhead_ns };

	host_part(&d->host, io, io->submit_ns + w.buffer_ns + w.map_ns + w.other_ns, &w, SSD_OK);
}

void dac_merged(struct dac *d, uint32_t i, const uint8_t *base)
{
	struct dac_unit *u = &d->write.buf[i];
	struct ftl_io *io = u->io;

	for (uint32_t k = 0; base && k < d->unit_bytes / FTL_SECTOR_BYTES; k++)
		if (!(u->known >> k & 1))
			memcpy(u->data + k * FTL_SECTOR_BYTES, base + k * FTL_SECTOR_BYTES,
			       FTL_SECTOR_BYTES);
	u->lost = !base;
	u->state = DAC_U_QUEUED;
	u->io = NULL;
	d->more_to_do = true;
	part_done(d, io);
}

/*
 * Get the part of a unit that a write leaves unchanged. Returns true if a flash read was started
 * for it.
 */
static bool fill_base(struct dac *d, uint32_t i, uint32_t older)
{
	struct dac_unit *u = &d->write.buf[i];

	if (older != DAC_NONE) {
		memcpy(u->data, d->write.buf[older].data, d->unit_bytes);
		u->lost = d->write.buf[older].lost;
	} else if (d->maps.map[u->lpn] == DAC_NONE) {
		memset(u->data, 0, d->unit_bytes);
	} else if (d->maps.map[u->lpn] == d->objs.gone) {
		u->lost = true;
	} else {
		return true;
	}
	return false;
}

/* Write a part of one unit into the buffer. Returns false if that is not possible now. */
static bool write_part(struct dac *d, struct ftl_io *io, const struct host_span *s)
{
	bool part = s->bytes < d->unit_bytes, merge = false;
	uint32_t older = newest(d, s->unit), i = older;

	if (older != DAC_NONE && d->write.buf[older].state == DAC_U_MERGE)
		return false;
	if (part && older == DAC_NONE && d->maps.map[s->unit] != DAC_NONE && d->read.merges == DAC_MERGES)
		return false;
	if (older != DAC_NONE && d->write.buf[older].state == DAC_U_QUEUED) {
		d->write.buf[i].seq = ++d->seq;
		d->host.stats.coalesced_units++;
	} else {
		if (d->write.free == DAC_NONE)
			return false;
		i = unit_new(d, s->unit);
		merge = part && fill_base(d, i, older);
	}
	if (!part)
		d->write.buf[i].lost = io->lost;
	host_copy(&d->host, io, io->at, d->write.buf[i].data + s->from, s->bytes);
	if (merge) {
		d->write.buf[i].state = DAC_U_MERGE;
		d->write.buf[i].io = io;
		d->write.buf[i].known = sectors(s->from, s->bytes);
		io->pending++;
		dac_read_merge(d, i);
	}
	return true;
}

static bool take_in(struct dac *d, struct ftl_io *io)
{
	while (io->at < io->bytes) {
		const struct host_span s = host_span(io, d->unit_bytes);

		if (!d->host.c.buffer_units && d->write.queue_first != DAC_NONE)
			return false;
		if (!write_part(d, io, &s))
			return false;
		io->at += s.bytes;
		d->more_to_do = true;
	}
	return true;
}

static void wait_for_programs(struct dac *d, struct ftl_io *io)
{
	io->seq = d->seq;
	io_list_add(&d->write.waits, io);
	d->more_to_do = true;
}

/* Must the I/O's data be programmed before it ends? Capacitors make the buffer as durable as flash. */
static bool waits_for_flash(const struct dac *d, const struct ftl_io *io)
{
	return (io->op == FTL_FLUSH || io->fua) && (!d->host.c.power_protected || io == &d->save.own_flush);
}

void dac_write_line(struct dac *d)
{
	while (d->write.writes.first) {
		struct ftl_io *io = d->write.writes.first;

		if (io->op == FTL_WRITE && !take_in(d, io))
			return;
		io_list_take(&d->write.writes);
		if (waits_for_flash(d, io))
			wait_for_programs(d, io);
		else
			part_done(d, io);
	}
}

/* ---- slots ------------------------------------------------------------------------------- */

static uint32_t slot_free(const struct dac *d)
{
	for (uint32_t i = 0; i < d->pages.slots; i++)
		if (d->pages.slot[i].state == DAC_S_FREE)
			return i;
	return DAC_NONE;
}

static void close_slot(struct dac *d, uint32_t i)
{
	struct dac_slot *s = &d->pages.slot[i];

	if (!s->raw)
		dac_fill_seal(&s->fill);
	s->closed = ++d->pages.closed;
	s->state = DAC_S_CLOSED;
	d->pages.closed_slots++;
	if (d->pages.open == i)
		d->pages.open = DAC_NONE;
	d->more_to_do = true;
}

static void slot_begin(struct dac *d, uint32_t i, bool raw)
{
	struct dac_slot *s = &d->pages.slot[i];

	dac_fill_begin(&s->fill);
	s->after = 0;
	s->raw = raw;
	s->state = DAC_S_OPEN;
}

/* Make the slot wait until the reference's slot is on flash. */
static void wait_for_slot(struct dac *d, struct dac_slot *s, uint32_t ref)
{
	const struct dac_obj *o = &d->objs.obj[ref];
	const struct dac_slot *r;

	if (o->ppn != DAC_NONE)
		return;
	r = &d->pages.slot[d->write.buf[o->unit].slot];
	SSD_ASSERT(d->write.buf[o->unit].state == DAC_U_PACKED);
	if (r != s && r->closed > s->after)
		s->after = r->closed;
}

static void packed(struct dac *d, uint32_t unit, uint32_t slot)
{
	struct dac_unit *u = &d->write.buf[unit];
	struct dac_slot *s = &d->pages.slot[slot];

	s->unit[s->fill.count - 1] = unit;
	SSD_ASSERT(d->write.queue_first == unit);
	d->write.queue_first = u->next;
	u->state = DAC_U_PACKED;
	u->slot = slot;
	d->more_to_do = true;
}

/* Does a flush or a FUA write wait for the open page, to which no older unit can be added any more? */
static bool is_waited_for(const struct dac *d)
{
	uint64_t first = d->write.queue_first == DAC_NONE ? ~(uint64_t)0 : d->write.buf[d->write.queue_first].need;
	uint64_t oldest;

	if (d->pages.open == DAC_NONE)
		return false;
	oldest = d->write.buf[d->pages.slot[d->pages.open].unit[0]].need;
	for (const struct ftl_io *io = d->write.waits.first; io; io = io->next)
		if (oldest <= io->seq && first > io->seq)
			return true;
	return false;
}

static void close_for_flush(struct dac *d)
{
	const struct dac_fill *f = &d->pages.slot[d->pages.open].fill;

	d->host.stats.flush_pages++;
	d->host.stats.flush_empty_bytes += f->content - f->head;
	close_slot(d, d->pages.open);
}

/*
 * Place a raw unit in a slot by itself. Returns false if no slot is free. A page that a flush waits for is closed
 * first, so that this one does not go before it.
 */
static bool place_raw(struct dac *d, uint32_t unit)
{
	uint32_t i = slot_free(d);

	if (i == DAC_NONE)
		return false;
	if (is_waited_for(d))
		close_for_flush(d);
	slot_begin(d, i, true);
	memcpy(d->pages.slot[i].fill.data, d->write.buf[unit].data, d->unit_bytes);
	d->pages.slot[i].fill.entry[d->pages.slot[i].fill.count++] = d->engine.packed;
	packed(d, unit, i);
	close_slot(d, i);
	return true;
}

static bool place_packed(struct dac *d, uint32_t unit)
{
	if (d->pages.open != DAC_NONE && !dac_fill_fits(&d->pages.slot[d->pages.open].fill, &d->engine.packed))
		close_slot(d, d->pages.open);
	if (d->pages.open == DAC_NONE) {
		uint32_t i = slot_free(d);

		if (i == DAC_NONE)
			return false;
		slot_begin(d, i, false);
		d->pages.open = i;
	}
	dac_fill_add(&d->pages.slot[d->pages.open].fill, &d->engine.packed, d->engine.packed_data);
	packed(d, unit, d->pages.open);
	if (d->engine.packed.ref != DAC_NONE)
		wait_for_slot(d, &d->pages.slot[d->pages.open], d->engine.packed.ref);
	return true;
}

/* Is a closed page on its way to flash? Its program will free room in the buffer. */
static bool has_page_in_flight(const struct dac *d)
{
	for (uint32_t i = 0; i < d->pages.slots; i++)
		if (d->pages.slot[i].state >= DAC_S_CLOSED)
			return true;
	return false;
}

/* Would a die take one more page now? Pages that are closed go first. */
static bool is_die_free(const struct dac *d)
{
	return d->dies - d->ends.busy > d->pages.closed_slots;
}

/*
 * Close the open page early if a flush waits for an entry in it and no more of its entries can be added, or if writes
 * wait for room and no other event can free any. While no die could take it, later units still fill the page of a
 * flush.
 */
void dac_close_due(struct dac *d)
{
	bool stuck = d->write.writes.first && d->write.queue_first == DAC_NONE && d->write.free == DAC_NONE &&
		     !has_page_in_flight(d);

	if (is_waited_for(d) && is_die_free(d))
		close_for_flush(d);
	else if (d->pages.open != DAC_NONE && stuck)
		close_slot(d, d->pages.open);
}

/* ---- references ------------------------------------------------------------------------------ */

/* Find the most similar stored unit that the mode can use. */
static uint32_t find_reference(struct dac *d, const struct dac_unit *u)
{
	uint32_t ref, matches = fpstore_find(d->refs.prints, &u->print, &ref);

	if (!matches || (!d->mode->deltas && matches < FP_PARTS))
		return DAC_NONE;
	if (!dac_may_share(d, ref)) {
		d->host.stats.refused_references++;
		return DAC_NONE;
	}
	return ref;
}

/* Returns the reference's content if it is in memory, or NULL if it must be read. */
static const uint8_t *cached_content(struct dac *d, uint32_t ref)
{
	const struct dac_obj *o = &d->objs.obj[ref];

	return o->ppn == DAC_NONE ? d->write.buf[o->unit].data : dac_cache_get(d, ref);
}

static void fetched_get(struct dac *d, struct dac_unit *u, const uint8_t *content)
{
	uint32_t i = 0;

	while (d->engine.fetched_used >> i & 1)
		i++;
	SSD_ASSERT(i < DAC_AHEAD);
	d->engine.fetched_used |= 1u << i;
	u->ref_data = d->engine.fetched + (size_t)i * d->unit_bytes;
	memcpy(u->ref_data, content, d->unit_bytes);
}

static void fetched_put(struct dac *d, struct dac_unit *u)
{
	if (u->ref_data)
		d->engine.fetched_used &= ~(1u << (u->ref_data - d->engine.fetched) / d->unit_bytes);
	u->ref_data = NULL;
}

static void without_reference(struct dac *d, struct dac_unit *u)
{
	if (u->ref != DAC_NONE)
		dac_unshare(d, u->ref);
	u->ref = DAC_NONE;
	fetched_put(d, u);
}

void dac_fetch_done(struct dac *d, uint32_t unit, const uint8_t *content, bool expanded)
{
	struct dac_unit *u = &d->write.buf[unit];

	if (content)
		fetched_get(d, u, content);
	else
		without_reference(d, u);
	u->expand = expanded;
	u->state = DAC_U_READY;
	d->more_to_do = true;
}

static void hashed(struct dac *d, uint32_t unit)
{
	struct dac_unit *u = &d->write.buf[unit];
	const uint8_t *content;

	u->ref = find_reference(d, u);
	u->state = DAC_U_READY;
	if (u->ref == DAC_NONE) {
		dac_candidate(d, u->obj, &u->print);
		return;
	}
	dac_share(d, u->ref);
	SSD_ASSERT(fpstore_touch(d->refs.prints, u->ref));
	content = cached_content(d, u->ref);
	if (content) {
		d->host.stats.reference_hits++;
		fetched_get(d, u, content);
		return;
	}
	u->state = DAC_U_FETCH;
	dac_read_reference(d, unit);
}

/* ---- the choice of kind and content ----------------------------------------------------------- */

static bool equal_to_reference(const struct dac *d, const struct dac_unit *u)
{
	return u->ref != DAC_NONE && !memcmp(u->data, u->ref_data, d->unit_bytes);
}

static uint16_t try_compress(struct dac *d, const struct dac_unit *u, enum dac_kind kind)
{
	uint32_t room = dac_room(kind, d->unit_bytes);

	d->engine.packer.done_ns += d->host.c.compress_ns;
	if (kind == DAC_DELTA)
		return (uint16_t)xmatch_compress_xor(d->engine.xmatch, u->data, u->ref_data, d->unit_bytes,
						     d->engine.packed_data, room);
	return (uint16_t)xmatch_compress(d->engine.xmatch, u->data, d->unit_bytes, d->engine.packed_data, room);
}

/*
 * Choose the kind and content to store, and put the result into d->engine.packed. The engine's time is
 * charged.
 */
static void reduce(struct dac *d, struct dac_unit *u)
{
	struct dac_entry *e = &d->engine.packed;

	*e = (struct dac_entry){ .seq = u->seq, .lpn = u->lpn, .obj = u->obj, .ref = DAC_NONE,
				 .kind = DAC_RAW };
	d->engine.packer.done_ns = d->host.now_ns + (u->expand ? d->host.c.decompress_ns : 0);
	if (u->lost) {
		e->kind = DAC_LOST;
		return;
	}
	if (d->mode->links && equal_to_reference(d, u)) {
		e->kind = DAC_LINK;
	} else if (d->mode->deltas && u->ref != DAC_NONE) {
		e->len = try_compress(d, u, DAC_DELTA);
		e->kind = e->len ? DAC_DELTA : DAC_RAW;
	}
	if (e->kind == DAC_RAW && d->mode->compresses) {
		e->len = try_compress(d, u, DAC_COMP);
		e->kind = e->len ? DAC_COMP : DAC_RAW;
	}
	if (dac_refers(e->kind)) {
		e->ref = u->ref;
		e->ref_seq = d->objs.obj[u->ref].seq;
	}
}

static void count(struct dac *d, const struct dac_unit *u)
{
	const struct dac_entry *e = &d->engine.packed;
	struct ftl_stats *s = &d->host.stats;

	s->raw_units += e->kind == DAC_RAW;
	s->comp_units += e->kind == DAC_COMP;
	s->delta_units += e->kind == DAC_DELTA;
	s->link_units += e->kind == DAC_LINK;
	if (e->kind == DAC_COMP)
		s->comp_bytes += e->len;
	if (e->kind != DAC_DELTA)
		return;
	s->delta_bytes += e->len;
	if (d->host.c.count_plain) {
		uint32_t n = (uint32_t)xmatch_compress(d->engine.xmatch, u->data, d->unit_bytes, d->scratch,
						       d->unit_bytes);

		s->plain_bytes += n ? n : d->unit_bytes;
	}
}

/* The engine has finished the unit: set its object and reference from the entry. */
static void set_object(struct dac *d, uint32_t unit)
{
	struct dac_unit *u = &d->write.buf[unit];
	struct dac_entry *e = &d->engine.packed;
	struct dac_obj *o;

	count(d, u);
	fetched_put(d, u);
	if (e->kind == DAC_LINK) {	/* the unit's reference to u->ref now belongs to its map entry */
		dac_obj_put(d, u->obj);
		e->obj = u->obj = DAC_NONE;
		u->ref = DAC_NONE;
		return;
	}
	o = &d->objs.obj[u->obj];
	o->kind = e->kind;
	o->len = e->len;
	if (e->kind == DAC_DELTA)
		o->ref = e->ref;	/* o takes over the reference to it */
	else if (u->ref != DAC_NONE)
		dac_unshare(d, u->ref);
	u->ref = DAC_NONE;
	if (d->mode->fingerprints && !o->candidate && e->kind <= DAC_COMP)
		dac_candidate(d, u->obj, &u->print);
}

/* ---- the engine ------------------------------------------------------------------------------------ */

static void own_object(struct dac *d, uint32_t unit)
{
	struct dac_unit *u = &d->write.buf[unit];

	u->obj = dac_obj_new(d, u->seq);
	d->objs.obj[u->obj].unit = unit;
}

static void begin_hash(struct dac *d, uint32_t unit)
{
	struct dac_unit *u = &d->write.buf[unit];

	own_object(d, unit);
	u->state = DAC_U_HASHING;
	fingerprint_of(u->data, d->unit_bytes, &u->print);
	d->engine.hasher.unit = unit;
	d->engine.hasher.done_ns = d->host.now_ns + d->host.c.hash_ns;
	d->more_to_do = true;
}

static void begin_pack(struct dac *d, uint32_t unit)
{
	struct dac_unit *u = &d->write.buf[unit];

	if (u->obj == DAC_NONE)
		own_object(d, unit);
	if (u->ref != DAC_NONE && d->objs.obj[u->ref].kind == DAC_LOST)	/* the reference was lost after its content
									 * was fetched */
		without_reference(d, u);
	u->state = DAC_U_PACKING;
	d->engine.packer.unit = unit;
	reduce(d, u);
	d->more_to_do = true;
}

/* Returns the first unit that may be hashed, or DAC_NONE. */
static uint32_t next_to_hash(const struct dac *d)
{
	uint32_t i = d->write.queue_first;

	for (uint32_t n = 0; i != DAC_NONE && n < DAC_AHEAD; n++, i = d->write.buf[i].next) {
		if (d->write.buf[i].state == DAC_U_MERGE)
			return DAC_NONE;
		if (d->write.buf[i].state == DAC_U_QUEUED)
			return d->write.buf[i].lost ? DAC_NONE : i;
	}
	return DAC_NONE;
}

/* Returns the first unit of the queue if it is ready to be compressed, or DAC_NONE. */
static uint32_t next_to_pack(const struct dac *d)
{
	uint32_t i = d->write.queue_first;
	const struct dac_unit *u = &d->write.buf[i == DAC_NONE ? 0 : i];
	bool plain = u->state == DAC_U_QUEUED && (!d->mode->fingerprints || u->lost);

	return i != DAC_NONE && (u->state == DAC_U_READY || plain) ? i : DAC_NONE;
}

/* End a job of the packer. Returns false if the unit waits for a slot. */
static bool end_pack(struct dac *d)
{
	bool raw = d->engine.packed.kind == DAC_RAW;
	uint32_t unit = d->engine.packer.unit;

	if (slot_free(d) == DAC_NONE &&
	    (raw || d->pages.open == DAC_NONE ||
	     !dac_fill_fits(&d->pages.slot[d->pages.open].fill, &d->engine.packed))) {
		if (!raw && d->pages.open != DAC_NONE)
			close_slot(d, d->pages.open);
		return false;
	}
	set_object(d, unit);
	SSD_ASSERT(raw ? place_raw(d, unit) : place_packed(d, unit));
	d->engine.packer.unit = DAC_NONE;
	d->more_to_do = true;
	return true;
}

static bool run_hasher(struct dac *d)
{
	uint32_t unit = d->engine.hasher.unit;

	if (unit == DAC_NONE) {
		unit = d->mode->fingerprints ? next_to_hash(d) : DAC_NONE;
		if (unit != DAC_NONE)
			begin_hash(d, unit);
		return unit != DAC_NONE;
	}
	if (d->engine.hasher.done_ns > d->host.now_ns)
		return false;
	d->engine.hasher.unit = DAC_NONE;
	hashed(d, unit);
	return true;
}

static bool run_packer(struct dac *d)
{
	uint32_t unit;

	if (d->engine.packer.unit != DAC_NONE)
		return d->engine.packer.done_ns <= d->host.now_ns && end_pack(d);
	unit = next_to_pack(d);
	if (unit != DAC_NONE)
		begin_pack(d, unit);
	return unit != DAC_NONE;
}

void dac_engine(struct dac *d)
{
	while (run_hasher(d) | run_packer(d))
		;
}
