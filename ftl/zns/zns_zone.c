// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * zns_zone.c - zones' lines, buffers, and what is durable. A zone's line holds a write until all its data are in
 * the buffer, a commit until the data that it commits are there, a finish until the end is on flash, and a reset
 * until the blocks are erased. A reset begins only when nothing of the zone is under way and no flush or FUA
 * write waits for its data.
 */
#include "zns.h"

void zns_set_state(struct zns *z, struct zns_zone *s, enum ftl_zone_state state)
{
	z->open -= zns_is_open(s);
	z->active -= zns_is_active(s);
	s->state = state;
	if (s->window && !zns_is_open(s) && state != FTL_ZONE_CLOSED) {
		s->window = false;
		z->windows--;
	}
	z->open += zns_is_open(s);
	z->active += zns_is_active(s);
}

/* Change the zone's buffer. A read-only zone is active while it has one. */
static void set_buf(struct zns *z, struct zns_zone *s, uint32_t buf)
{
	z->active -= zns_is_active(s);
	s->buf = buf;
	z->active += zns_is_active(s);
}

/* ---- buffers ---- */

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

static void clear_buf(struct zns *z, uint32_t buf)
{
	z->buf[buf].zone = ZNS_NONE;
	for (uint32_t s = 0; s < z->slots; s++)
		z->buf[buf].cell[s] = (struct zns_cell){ 0 };
}

static bool is_still(const struct zns *z, const struct zns_buf *b)
{
	for (uint32_t s = 0; s < z->slots; s++)
		if (b->cell[s].state == ZNS_FLYING || b->cell[s].logging)
			return false;
	return true;
}

/* Does a part of the buffer have a record in the log, because it was flushed? */
static bool is_logged(const struct zns *z, const struct zns_buf *b)
{
	for (uint32_t s = 0; s < z->slots; s++)
		if (b->cell[s].state != ZNS_EMPTY && b->cell[s].logged)
			return true;
	return false;
}

/* Find a free buffer, or that of a zone whose program failed, if nothing in it was flushed. */
static uint32_t find_buf(const struct zns *z)
{
	for (uint32_t i = 0; i < z->bufs; i++)
		if (z->buf[i].zone == ZNS_NONE)
			return i;
	for (uint32_t i = 0; i < z->bufs; i++)
		if (z->zone[z->buf[i].zone].failed && is_still(z, &z->buf[i]) && !is_logged(z, &z->buf[i]))
			return i;
	return ZNS_NONE;
}

/* Returns the first sequence of the zone's data that are not on flash, or 0 if all are. */
static uint64_t first_in_buf(const struct zns *z, const struct zns_zone *s)
{
	uint64_t first = 0;

	for (uint32_t i = 0; s->buf != ZNS_NONE && i < z->slots; i++) {
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
static void take_away(struct zns *z, struct zns_zone *s)
{
	for (uint32_t i = 0; s->buf != ZNS_NONE && i < z->slots; i++) {
		const struct zns_cell *c = &z->buf[s->buf].cell[i];
		uint64_t end = (c->page + 1ull) * z->g->page_bytes;

		if (c->state != ZNS_EMPTY && c->window && end > s->filled)
			s->filled = end;
	}
	s->dropped_seq = first_in_buf(z, s);
	z->lost += s->dropped_seq != 0;
	set_buf(z, s, ZNS_NONE);
}

/* Give a zone a buffer. ZNS_NONE: there is none; the zone waits for one. */
uint32_t zns_buf_take(struct zns *z, uint32_t zone)
{
	uint32_t buf = find_buf(z);

	if (buf == ZNS_NONE) {
		wait_for_buf(z, zone);
		return ZNS_NONE;
	}
	if (z->buf[buf].zone != ZNS_NONE)
		take_away(z, &z->zone[z->buf[buf].zone]);
	clear_buf(z, buf);
	z->buf[buf].zone = zone;
	set_buf(z, &z->zone[zone], buf);
	return buf;
}

bool zns_is_drained(const struct zns *z, const struct zns_zone *s)
{
	for (uint32_t i = 0; s->buf != ZNS_NONE && i < z->slots; i++)
		if (z->buf[s->buf].cell[i].state != ZNS_EMPTY)
			return false;
	return true;
}

static void drop_buf(struct zns *z, struct zns_zone *s)
{
	if (s->buf == ZNS_NONE)
		return;
	clear_buf(z, s->buf);
	set_buf(z, s, ZNS_NONE);
}

void zns_cell_done(struct zns *z, uint32_t buf, uint32_t slot)
{
	z->buf[buf].cell[slot] = (struct zns_cell){ 0 };
	z->host.stats.host_units += z->g->page_bytes / z->host.c.unit_bytes;
}

/* ---- writes ---- */

/*
 * Complete an I/O that had to wait for flash. last is the die whose command ended the wait, or NULL if
 * that is unknown; the cell and bus time of that command are charged to the I/O.
 */
static void end_waiting(struct zns *z, struct ftl_io *io, const struct zns_die *last, enum ssd_err status)
{
	uint64_t rest = z->host.now_ns - io->submit_ns;
	struct ftl_breakdown *w = &io->where;

	if (last) {
		ftl_breakdown_take(&rest, last->cell_ns, &w->cell_ns);
		ftl_breakdown_take(&rest, last->bus_ns, &w->bus_ns);
	}
	w->host_queue_ns = rest;
	w->buffer_ns = io->op == FTL_WRITE ? z->host.c.buffer_ns : 0;
	host_end_at(&z->host, io, z->host.now_ns + w->buffer_ns, status);
}

static void end_buffered(struct zns *z, struct ftl_io *io)
{
	uint64_t at_ns = z->host.now_ns + z->host.c.buffer_ns;

	io->where = (struct ftl_breakdown){ .buffer_ns = at_ns - io->submit_ns };
	host_end_at(&z->host, io, at_ns, SSD_OK);
}

/* Returns the cell of the zone's next byte, or NULL if it must wait. */
static struct zns_cell *open_cell(struct zns *z, uint32_t zone)
{
	struct zns_zone *s = &z->zone[zone];
	uint32_t page = (uint32_t)(s->filled / z->g->page_bytes);
	struct zns_cell *c;

	if (s->buf == ZNS_NONE && zns_buf_take(z, zone) == ZNS_NONE)
		return NULL;
	c = &z->buf[s->buf].cell[page % z->slots];
	if (s->filled % z->g->page_bytes)
		return c;
	if (c->state != ZNS_EMPTY)
		return NULL;		/* Z3 */
	*c = (struct zns_cell){ .state = ZNS_FILLING, .page = page };
	if (!s->filled)
		s->gen = ++z->number;
	return c;
}

void zns_cell_ready(struct zns *z, uint32_t zone, struct zns_cell *c)
{
	c->state = ZNS_READY;
	z->die[zns_plane_at(z, zone, c->page % z->slots) / z->g->planes_per_die].look = true;
}

uint32_t zns_cell_write(struct zns *z, struct zns_zone *s, struct zns_cell *c, struct ftl_io *io, uint32_t from)
{
	uint32_t bytes = z->g->page_bytes - from;

	if (bytes > io->bytes - io->at)
		bytes = (uint32_t)(io->bytes - io->at);
	if (z->host.c.payload)
		host_copy(&z->host, io, io->at, zns_cell_data(z, &z->buf[s->buf], c->page % z->slots) + from, bytes);
	zns_cell_takes(c, io->seq);
	s->last_seq = io->seq;
	io->at += bytes;
	return bytes;
}

/*
 * Move as much of a write into the buffer as there is room for. Returns true if the whole write was
 * moved.
 */
static bool move_data(struct zns *z, uint32_t zone, struct ftl_io *io)
{
	struct zns_zone *s = &z->zone[zone];

	while (io->at < io->bytes) {
		uint32_t from = (uint32_t)(s->filled % z->g->page_bytes), bytes;
		struct zns_cell *c = open_cell(z, zone);

		if (!c)
			return false;
		bytes = zns_cell_write(z, s, c, io, from);
		c->sectors += bytes / FTL_SECTOR_BYTES;
		s->filled += bytes;
		if (from + bytes == z->g->page_bytes)
			zns_cell_ready(z, zone, c);
	}
	return true;
}

static bool write_on(struct zns *z, uint32_t zone, struct ftl_io *io)
{
	if (io->window ? !zns_window_move(z, zone, io) : !move_data(z, zone, io))
		return false;
	(void)io_list_take(&z->zone[zone].line);
	if (!io->fua) {
		end_buffered(z, io);
		return true;
	}
	z->zone[zone].want_seq = io->seq;
	io_list_add(&z->durable, io);
	return true;
}

static bool commit_on(struct zns *z, uint32_t zone, struct ftl_io *io, const struct zns_die *last)
{
	if (!zns_window_move(z, zone, io))
		return false;
	(void)io_list_take(&z->zone[zone].line);
	end_waiting(z, io, last, SSD_OK);
	return true;
}

/* ---- finish ---- */

/* Mark the end. Returns false if the cell is not free. */
static bool mark_end(struct zns *z, uint32_t zone)
{
	struct zns_zone *s = &z->zone[zone];
	struct zns_cell *c;

	if (!zns_window_end(z, zone))
		return false;
	s->ended = s->ended || s->filled == z->capacity;
	if (s->ended)
		return true;
	c = open_cell(z, zone);
	if (!c)
		return false;
	if (z->host.c.payload)
		memset(zns_cell_data(z, &z->buf[s->buf], c->page % z->slots) +
		       (size_t)c->sectors * FTL_SECTOR_BYTES, 0,
		       z->g->page_bytes - (size_t)c->sectors * FTL_SECTOR_BYTES);
	c->end = s->ended = true;
	zns_cell_ready(z, zone, c);
	return true;
}

static bool finish_on(struct zns *z, uint32_t zone, struct ftl_io *io, const struct zns_die *last)
{
	struct zns_zone *s = &z->zone[zone];

	if (!mark_end(z, zone))
		return false;
	s->phase = ZNS_ENDING;
	if (!zns_is_drained(z, s))
		return false;
	s->phase = ZNS_WRITING;
	(void)io_list_take(&s->line);
	end_waiting(z, io, last, SSD_OK);
	return true;
}

/* ---- reset ---- */

/* Does an accepted flush or FUA write wait for data of the zone? */
static bool is_wanted(const struct zns *z, const struct zns_zone *s)
{
	uint64_t want = z->flush_seq > s->want_seq ? z->flush_seq : s->want_seq, first = first_in_buf(z, s);

	return !s->failed && first && first <= want;
}

/* Returns the lowest serial of the buffer's records, which are needed until the zone's reset is recorded. */
static uint64_t first_logged(const struct zns *z, const struct zns_zone *s)
{
	uint64_t first = UINT64_MAX;

	for (uint32_t i = 0; s->buf != ZNS_NONE && i < z->slots; i++) {
		const struct zns_cell *c = &z->buf[s->buf].cell[i];

		if (c->state != ZNS_EMPTY && c->logged && c->logged < first)
			first = c->logged;
	}
	return first;
}

static bool reset_on(struct zns *z, uint32_t zone, struct ftl_io *io, const struct zns_die *last)
{
	struct zns_zone *s = &z->zone[zone];

	if (s->phase != ZNS_WRITING || (s->buf != ZNS_NONE && !is_still(z, &z->buf[s->buf])) || is_wanted(z, s))
		return false;
	z->lost -= s->failed && s->dropped_seq;
	s->dropped_seq = first_in_buf(z, s);
	s->note = first_logged(z, s);
	drop_buf(z, s);
	s->filled = 0;
	s->ended = s->failed = false;
	s->told_ns = 0;
	if (s->on_flash) {
		s->phase = ZNS_NOTING;
		zns_log_reset(z, zone);
		return false;
	}
	s->dropped_seq = 0;
	(void)io_list_take(&s->line);
	end_waiting(z, io, last, SSD_OK);
	return true;
}

/* Are there enough good blocks for all zones that are not offline? */
static bool has_spare(const struct zns *z, uint32_t zone)
{
	for (uint32_t slot = 0; slot < z->slots; slot++)
		if (zns_spare(z, zns_plane_at(z, zone, slot)) + 1 < ZNS_SPARE)
			return false;
	return true;
}

static void refuse_line(struct zns *z, struct zns_zone *s, enum ssd_err why)
{
	while (s->line.first && s->line.first->zone != FTL_ZONE_RESET && s->line.first->zone != FTL_ZONE_RETIRE)
		host_refuse(&z->host, io_list_take(&s->line), why);
}

/* The last block of a zone that is being reset is erased. */
void zns_zone_erased(struct zns *z, uint32_t zone)
{
	struct zns_zone *s = &z->zone[zone];
	uint32_t *link = &z->erasing;

	while (*link != zone)
		link = &z->zone[*link].next;
	*link = s->next;
	s->phase = ZNS_WRITING;
	s->on_flash = false;
	if (s->state == FTL_ZONE_OFFLINE) {	/* its blocks are spare ones now */
		z->online[zone % z->groups]--;
		return;
	}
	s->dropped_seq = 0;
	if (has_spare(z, zone))
		return;
	s->phase = ZNS_LEAVING;
	z->online[zone % z->groups]--;
	z->chunk[zone / ZNS_CHUNK].due = true;
}

static void leave(struct zns *z, struct zns_zone *s)
{
	s->phase = ZNS_WRITING;
	zns_set_state(z, s, FTL_ZONE_OFFLINE);
}

void zns_zone_noted(struct zns *z, uint32_t zone, bool offline)
{
	struct zns_zone *s = &z->zone[zone];
	uint32_t buf = s->buf;

	if (!s->noted)
		zns_tell(z, s);
	s->noted = true;
	if (!offline || s->phase != ZNS_LEAVING)
		return;
	if (buf != ZNS_NONE) {		/* of a zone that the host retires */
		take_away(z, s);
		clear_buf(z, buf);
	}
	leave(z, s);
	if (s->line.first->zone != FTL_ZONE_RETIRE)
		return;			/* a reset has erased the blocks */
	s->filled = 0;
	zns_erase_zone(z, zone, UINT64_MAX);
}

/* ---- retire ---- */

/* The zone keeps what it has until a record has the new state; then its buffer is free, and its blocks are erased. */
static bool retire_on(struct zns *z, uint32_t zone, struct ftl_io *io, const struct zns_die *last)
{
	struct zns_zone *s = &z->zone[zone];

	if (s->state == FTL_ZONE_OFFLINE) {
		(void)io_list_take(&s->line);
		end_waiting(z, io, last, SSD_OK);
		return true;
	}
	if (s->phase != ZNS_WRITING || (s->buf != ZNS_NONE && !is_still(z, &z->buf[s->buf])))
		return false;
	s->phase = ZNS_LEAVING;
	z->chunk[zone / ZNS_CHUNK].due = true;
	zns_log_look(z);
	return false;
}

/* ---- lines ---- */

static bool line_step(struct zns *z, uint32_t zone, const struct zns_die *last)
{
	struct zns_zone *s = &z->zone[zone];
	struct ftl_io *io = s->line.first;

	if (io->zone == FTL_ZONE_RETIRE)
		return retire_on(z, zone, io, last);
	if (s->state == FTL_ZONE_OFFLINE && io->zone != FTL_ZONE_RESET) {
		host_refuse(&z->host, io_list_take(&s->line), SSD_E_ZONE_OFFLINE);
		return true;
	}
	if (io->zone == FTL_ZONE_RESET)
		return reset_on(z, zone, io, last);
	if (io->zone == FTL_ZONE_FINISH)
		return finish_on(z, zone, io, last);
	if (io->zone == FTL_ZONE_COMMIT)
		return commit_on(z, zone, io, last);
	return write_on(z, zone, io);
}

static void line_go(struct zns *z, uint32_t zone, const struct zns_die *last)
{
	struct zns_zone *s = &z->zone[zone];
	bool had = s->line.first;

	while (s->line.first && line_step(z, zone, last))
		;
	z->lined -= had && !s->line.first;
	if (zns_is_drained(z, s))
		drop_buf(z, s);
}

/* A program of the zone failed: it is read-only, unless a reset of it waits already. */
void zns_zone_fails(struct zns *z, uint32_t zone)
{
	struct zns_zone *s = &z->zone[zone];
	bool had = s->line.first;

	s->failed = z->recheck = true;
	s->phase = ZNS_WRITING;
	refuse_line(z, s, SSD_E_ZONE_READONLY);
	z->lined -= had && !s->line.first;
	if (s->line.first || s->state == FTL_ZONE_READONLY)
		return;
	zns_set_state(z, s, FTL_ZONE_READONLY);
	z->chunk[zone / ZNS_CHUNK].due = true;
}

/* ---- durability ---- */

/*
 * Are the zone's data up to seq settled: on flash, or lost because a program of them failed
 * (*failed)?
 */
static bool zone_is_durable(const struct zns *z, const struct zns_zone *s, uint64_t seq, bool *failed)
{
	for (uint32_t i = 0; s->buf != ZNS_NONE && i < z->slots; i++) {
		const struct zns_cell *c = &z->buf[s->buf].cell[i];

		if (c->state == ZNS_EMPTY || !c->first_seq || c->first_seq > seq)
			continue;
		if (!s->failed || c->state == ZNS_FLYING)
			return false;
		*failed = true;
	}
	return true;
}

/* Does a write or commit that was submitted up to seq still wait for room in a buffer? */
static bool line_has(const struct zns *z, uint64_t seq)
{
	for (uint32_t i = 0; z->lined && i < z->zones; i++)
		for (const struct ftl_io *io = z->zone[i].line.first; io; io = io->next)
			if (io->seq && io->seq <= seq)
				return true;
	return false;
}

/*
 * Was the flush io submitted after another flush, which covered all data that the failed zone lost, had ended with an
 * error? With a controller, the time at which the controller got io counts.
 */
static bool is_told(const struct zns_zone *s, const struct ftl_io *io)
{
	return s->told_ns && (io->entered_ns ? io->entered_ns : io->submit_ns) >= s->told_ns;
}

/* Are data that the flush covers lost with the buffer of a failed zone, and not told? */
static bool has_lost(const struct zns *z, const struct ftl_io *io)
{
	for (uint32_t i = 0; z->lost && i < z->zones; i++) {
		const struct zns_zone *s = &z->zone[i];

		if (s->failed && s->dropped_seq && s->dropped_seq <= io->seq && !is_told(s, io))
			return true;
	}
	return false;
}

/*
 * A flush ends with an error at done_ns. It has reported the loss of each failed zone of which it covers all data;
 * no zone has lost data that came after its failure.
 */
static void tell_lost(struct zns *z, const struct ftl_io *io, uint64_t done_ns)
{
	for (uint32_t i = 0; i < z->zones; i++) {
		struct zns_zone *s = &z->zone[i];

		if (s->failed && !s->told_ns && s->last_seq <= io->seq)
			s->told_ns = done_ns;
	}
}

static bool is_durable(const struct zns *z, const struct ftl_io *io, bool *failed)
{
	if (io->op == FTL_WRITE)
		return zone_is_durable(z, &z->zone[zns_zone_of(z, io->offset)], io->seq, failed);
	for (uint32_t i = 0; i < z->bufs; i++) {
		const struct zns_zone *s = z->buf[i].zone != ZNS_NONE ? &z->zone[z->buf[i].zone] : NULL;
		bool lost = false;

		if (s && !zone_is_durable(z, s, io->seq, &lost))
			return false;
		*failed |= lost && !is_told(s, io);
	}
	*failed |= has_lost(z, io);
	/* Data that a reset took from the buffer are settled when the reset is. */
	for (uint32_t i = z->log.resets; i != ZNS_NONE; i = z->zone[i].next)
		if (z->zone[i].dropped_seq && z->zone[i].dropped_seq <= io->seq)
			return false;
	return !line_has(z, io->seq);
}

/* End the I/Os that wait for flash and whose data are there. */
static void durable_go(struct zns *z, const struct zns_die *last)
{
	struct io_list all = z->durable;

	z->durable.first = NULL;
	while (all.first) {
		struct ftl_io *io = io_list_take(&all);
		bool failed = false;

		if (is_durable(z, io, &failed)) {
			if (failed && io->op == FTL_FLUSH)
				tell_lost(z, io, z->host.now_ns + host_front_ns(&z->host) + z->host.c.link_latency_ns);
			end_waiting(z, io, last, failed ? SSD_E_ZONE_READONLY : SSD_OK);
		} else if (z->stuck) {
			end_waiting(z, io, last, SSD_E_WORNOUT);
		} else {
			io_list_add(&z->durable, io);
		}
	}
}

static void fail_line(struct zns *z, struct zns_zone *s)
{
	s->phase = ZNS_WRITING;
	end_waiting(z, io_list_take(&s->line), NULL, SSD_E_WORNOUT);
	while (s->line.first)
		host_refuse(&z->host, io_list_take(&s->line), SSD_E_WORNOUT);
	z->lined--;
}

/*
 * The log has no room, so resets and retirements that wait for it fail. Their zones can no longer be read, although
 * flash still has the data. Zones whose resets waited for a record to become offline are offline without one.
 */
static void fail_resets(struct zns *z)
{
	while (z->log.resets != ZNS_NONE && !z->log.busy) {
		struct zns_zone *s = &z->zone[z->log.resets];

		z->log.resets = s->next;
		fail_line(z, s);
		s->failed = true;
		z->lost += s->dropped_seq != 0;
		zns_set_state(z, s, FTL_ZONE_READONLY);
		zns_tell(z, s);
	}
	for (uint32_t i = 0; z->lined && i < z->zones; i++)
		if (z->zone[i].phase == ZNS_LEAVING && z->zone[i].line.first->zone == FTL_ZONE_RETIRE) {
			fail_line(z, &z->zone[i]);
		} else if (z->zone[i].phase == ZNS_LEAVING) {
			leave(z, &z->zone[i]);
			zns_tell(z, &z->zone[i]);
			line_go(z, i, NULL);
		}
}

void zns_go_on(struct zns *z, const struct zns_die *last)
{
	z->recheck = false;
	if (z->durable.first)
		durable_go(z, last);
	for (uint32_t i = 0; i < z->bufs; i++)
		if (z->buf[i].zone != ZNS_NONE)
			line_go(z, z->buf[i].zone, last);
	for (uint32_t i = 0; z->lined && i < z->zones; i++)
		if (z->zone[i].line.first && z->zone[i].buf == ZNS_NONE && !z->zone[i].waits)
			line_go(z, i, last);
	while (z->waiting_first != ZNS_NONE && find_buf(z) != ZNS_NONE) {
		uint32_t zone = z->waiting_first;

		z->waiting_first = z->zone[zone].next;
		z->zone[zone].waits = false;
		line_go(z, zone, last);
	}
	if (z->durable.first)
		durable_go(z, last);
	zns_log_look(z);
	if (SSD_UNLIKELY(z->stuck)) {
		fail_resets(z);
		durable_go(z, last);
	}
}

void zns_join(struct zns *z, uint32_t zone, struct ftl_io *io)
{
	struct zns_zone *s = &z->zone[zone];
	bool alone = !s->line.first;

	io_list_add(&s->line, io);
	z->lined += alone;
	if (alone)
		line_go(z, zone, NULL);
}
