// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * zns_buf.c - changes zones' states, limits how many zones are open and active, and gives zones their buffers.
 * zns_host.c and zns_zone.c decide when.
 */
#include "zns_buf.h"

/* ---- states ---- */

void zns_set_state(struct zns *z, struct zns_zone *s, enum ftl_zone_state state)
{
	z->count.open -= zns_is_open(s);
	z->count.active -= zns_is_active(s);
	s->state = state;
	if (s->window && !zns_is_open(s) && state != FTL_ZONE_CLOSED) {
		s->window = false;
		z->areas.count--;
	}
	z->count.open += zns_is_open(s);
	z->count.active += zns_is_active(s);
}

static void close_oldest(struct zns *z)
{
	struct zns_zone *oldest = NULL;

	for (uint32_t i = 0; i < z->shape.zones; i++)
		if (z->zone[i].state == FTL_ZONE_IMPLICIT && (!oldest || z->zone[i].opened < oldest->opened))
			oldest = &z->zone[i];
	if (oldest)
		zns_set_state(z, oldest, FTL_ZONE_CLOSED);
}

/* Open a zone that is empty, closed or open. */
enum ssd_err zns_open_zone(struct zns *z, struct zns_zone *s, enum ftl_zone_state as)
{
	if (zns_is_open(s)) {
		if (as == FTL_ZONE_EXPLICIT)
			zns_set_state(z, s, as);
		return SSD_OK;
	}
	if (s->state == FTL_ZONE_EMPTY && z->count.active >= z->shape.active_max)
		return SSD_E_ZONE_ACTIVE;
	if (z->count.open == z->shape.open_max)
		close_oldest(z);
	if (z->count.open == z->shape.open_max)
		return SSD_E_ZONE_OPEN;
	zns_set_state(z, s, as);
	s->opened = ++z->count.opened;
	return SSD_OK;
}

/* ---- buffers ---- */

/* Change the zone's buffer. A read-only zone is active while it has one. */
static void set_buf(struct zns *z, struct zns_zone *s, uint32_t buf)
{
	z->count.active -= zns_is_active(s);
	s->buf = buf;
	z->count.active += zns_is_active(s);
}

static void wait_for_buf(struct zns *z, uint32_t zone)
{
	struct zns_zone *s = &z->zone[zone];

	if (s->waits)
		return;
	s->waits = true;
	s->next = ZNS_NONE;
	if (z->waiting_first == ZNS_NONE)
		z->waiting_first = zone;
	else
		z->zone[z->waiting_last].next = zone;
	z->waiting_last = zone;
}

void zns_buf_clear(struct zns *z, uint32_t buf)
{
	z->buf[buf].zone = ZNS_NONE;
	for (uint32_t s = 0; s < z->shape.slots; s++)
		z->buf[buf].cell[s] = (struct zns_cell){ 0 };
}

bool zns_buf_is_still(const struct zns *z, const struct zns_buf *b)
{
	for (uint32_t s = 0; s < z->shape.slots; s++)
		if (b->cell[s].state == ZNS_FLYING || b->cell[s].logging)
			return false;
	return true;
}

/* Does a part of the buffer have a record in the log, because it was flushed? */
static bool is_logged(const struct zns *z, const struct zns_buf *b)
{
	for (uint32_t s = 0; s < z->shape.slots; s++)
		if (b->cell[s].state != ZNS_EMPTY && b->cell[s].logged)
			return true;
	return false;
}

/* Find a free buffer, or that of a zone whose program failed, if nothing in it was flushed. */
uint32_t zns_buf_find(const struct zns *z)
{
	for (uint32_t i = 0; i < z->shape.bufs; i++)
		if (z->buf[i].zone == ZNS_NONE)
			return i;
	for (uint32_t i = 0; i < z->shape.bufs; i++)
		if (z->zone[z->buf[i].zone].failed && zns_buf_is_still(z, &z->buf[i]) && !is_logged(z, &z->buf[i]))
			return i;
	return ZNS_NONE;
}

/* Returns the first sequence of the zone's data that are not on flash, or 0 if all are. */
uint64_t zns_buf_first(const struct zns *z, const struct zns_zone *s)
{
	uint64_t first = 0;

	for (uint32_t i = 0; s->buf != ZNS_NONE && i < z->shape.slots; i++) {
		const struct zns_cell *c = &z->buf[s->buf].cell[i];

		if (c->state != ZNS_EMPTY && c->first_seq && (!first || c->first_seq < first))
			first = c->first_seq;
	}
	return first;
}

/*
 * Take the buffer from a failed zone. Data that are only in the buffer are lost: flushes report the loss
 * (is_told()), and reads of them fail. So that reads of a lost random write area fail, too, `filled` is
 * set to its end.
 */
void zns_buf_take_away(struct zns *z, struct zns_zone *s)
{
	for (uint32_t i = 0; s->buf != ZNS_NONE && i < z->shape.slots; i++) {
		const struct zns_cell *c = &z->buf[s->buf].cell[i];
		uint64_t end = (c->page + 1ull) * z->g->page_bytes;

		if (c->state != ZNS_EMPTY && c->window && end > s->filled)
			s->filled = end;
	}
	s->dropped_seq = zns_buf_first(z, s);
	z->count.lost += s->dropped_seq != 0;
	set_buf(z, s, ZNS_NONE);
}

/* Give a zone a buffer. ZNS_NONE: there is none; the zone waits for one. */
uint32_t zns_buf_take(struct zns *z, uint32_t zone)
{
	uint32_t buf = zns_buf_find(z);

	if (buf == ZNS_NONE) {
		wait_for_buf(z, zone);
		return ZNS_NONE;
	}
	if (z->buf[buf].zone != ZNS_NONE)
		zns_buf_take_away(z, &z->zone[z->buf[buf].zone]);
	zns_buf_clear(z, buf);
	z->buf[buf].zone = zone;
	set_buf(z, &z->zone[zone], buf);
	return buf;
}

bool zns_is_drained(const struct zns *z, const struct zns_zone *s)
{
	for (uint32_t i = 0; s->buf != ZNS_NONE && i < z->shape.slots; i++)
		if (z->buf[s->buf].cell[i].state != ZNS_EMPTY)
			return false;
	return true;
}

void zns_buf_drop(struct zns *z, struct zns_zone *s)
{
	if (s->buf == ZNS_NONE)
		return;
	zns_buf_clear(z, s->buf);
	set_buf(z, s, ZNS_NONE);
}

void zns_cell_done(struct zns *z, uint32_t buf, uint32_t slot)
{
	z->buf[buf].cell[slot] = (struct zns_cell){ 0 };
	z->host.stats.host_units += z->g->page_bytes / z->host.c.unit_bytes;
}

void zns_cell_ready(struct zns *z, uint32_t zone, struct zns_cell *c)
{
	c->state = ZNS_READY;
	z->die[zns_plane_at(z, zone, c->page % z->shape.slots) / z->g->planes_per_die].look = true;
}

uint32_t zns_cell_write(struct zns *z, struct zns_zone *s, struct zns_cell *c, struct ftl_io *io, uint32_t from)
{
	uint32_t bytes = z->g->page_bytes - from;

	if (bytes > io->bytes - io->at)
		bytes = (uint32_t)(io->bytes - io->at);
	if (z->host.c.payload)
		host_copy(&z->host, io, io->at,
			  zns_cell_data(z, &z->buf[s->buf], c->page % z->shape.slots) + from, bytes);
	zns_cell_takes(c, io->seq);
	s->last_seq = io->seq;
	io->at += bytes;
	return bytes;
}
