// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * zns_zone.c - executes the operations in zones' lines, and ends what waits for durable data. A zone's line holds a
 * write until all its data are in the buffer, a commit until the data that it commits are there, a finish until the end
 * is on flash, and a reset until the blocks are erased. A reset begins only when nothing of the zone is under way and
 * no flush or FUA write waits for its data.
 *
 * Flushes report a loss once: each that covers lost data fails if it was submitted before another one, of all that the
 * zone had taken, has ended with the error. A later flush ends well if all else is on flash; with controller cores also
 * one that the controller gets while a core still delivers that error.
 */
#include "zns_zone.h"
#include "zns_buf.h"
#include "zns_log.h"
#include "zns_state.h"
#include "zns_window.h"

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
	c = &z->buf[s->buf].cell[page % z->shape.slots];
	if (s->filled % z->g->page_bytes)
		return c;
	if (c->state != ZNS_EMPTY)
		return NULL;		/* Z3 */
	*c = (struct zns_cell){ .state = ZNS_FILLING, .page = page };
	if (!s->filled)
		s->gen = ++z->number;
	return c;
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
	s->ended = s->ended || s->filled == z->shape.capacity;
	if (s->ended)
		return true;
	c = open_cell(z, zone);
	if (!c)
		return false;
	if (z->host.c.payload)
		memset(zns_cell_data(z, &z->buf[s->buf], c->page % z->shape.slots) +
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
	uint64_t want = z->flush_seq > s->want_seq ? z->flush_seq : s->want_seq, first = zns_buf_first(z, s);

	return !s->failed && first && first <= want;
}

/* Returns the lowest serial of the buffer's records, which are needed until the zone's reset is recorded. */
static uint64_t first_logged(const struct zns *z, const struct zns_zone *s)
{
	uint64_t first = UINT64_MAX;

	for (uint32_t i = 0; s->buf != ZNS_NONE && i < z->shape.slots; i++) {
		const struct zns_cell *c = &z->buf[s->buf].cell[i];

		if (c->state != ZNS_EMPTY && c->logged && c->logged < first)
			first = c->logged;
	}
	return first;
}

static bool reset_on(struct zns *z, uint32_t zone, struct ftl_io *io, const struct zns_die *last)
{
	struct zns_zone *s = &z->zone[zone];

	if (s->phase != ZNS_WRITING || (s->buf != ZNS_NONE && !zns_buf_is_still(z, &z->buf[s->buf])) || is_wanted(z, s))
		return false;
	z->count.lost -= s->failed && s->dropped_seq;
	s->dropped_seq = zns_buf_first(z, s);
	s->note = first_logged(z, s);
	zns_buf_drop(z, s);
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

static void refuse_line(struct zns *z, struct zns_zone *s, enum ssd_err why)
{
	while (s->line.first && s->line.first->zone != FTL_ZONE_RESET && s->line.first->zone != FTL_ZONE_RETIRE)
		host_refuse(&z->host, io_list_take(&s->line), why);
}

/* ---- retire ---- */

/*
 * Take a zone offline at the host's order. It keeps what it has until a record has the new state; then its buffer is
 * free, and its blocks are erased.
 */
static bool retire_on(struct zns *z, uint32_t zone, struct ftl_io *io, const struct zns_die *last)
{
	struct zns_zone *s = &z->zone[zone];

	if (s->state == FTL_ZONE_OFFLINE) {
		(void)io_list_take(&s->line);
		end_waiting(z, io, last, SSD_OK);
		return true;
	}
	if (s->phase != ZNS_WRITING || (s->buf != ZNS_NONE && !zns_buf_is_still(z, &z->buf[s->buf])))
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
	z->count.lined -= had && !s->line.first;
	if (zns_is_drained(z, s))
		zns_buf_drop(z, s);
}

/* A program of the zone failed: make it read-only, unless a reset of it waits already. */
void zns_zone_fails(struct zns *z, uint32_t zone)
{
	struct zns_zone *s = &z->zone[zone];
	bool had = s->line.first;

	s->failed = z->recheck = true;
	s->phase = ZNS_WRITING;
	refuse_line(z, s, SSD_E_ZONE_READONLY);
	z->count.lined -= had && !s->line.first;
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
	for (uint32_t i = 0; s->buf != ZNS_NONE && i < z->shape.slots; i++) {
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
	for (uint32_t i = 0; z->count.lined && i < z->shape.zones; i++)
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
	for (uint32_t i = 0; z->count.lost && i < z->shape.zones; i++) {
		const struct zns_zone *s = &z->zone[i];

		if (s->failed && s->dropped_seq && s->dropped_seq <= io->seq && !is_told(s, io))
			return true;
	}
	return false;
}

/*
 * Note that a flush ends with an error at done_ns. It has reported the loss of each failed zone of which it covers all
 * data; no zone has lost data that came after its failure.
 */
static void tell_lost(struct zns *z, const struct ftl_io *io, uint64_t done_ns)
{
	for (uint32_t i = 0; i < z->shape.zones; i++) {
		struct zns_zone *s = &z->zone[i];

		if (s->failed && !s->told_ns && s->last_seq <= io->seq)
			s->told_ns = done_ns;
	}
}

static bool is_durable(const struct zns *z, const struct ftl_io *io, bool *failed)
{
	if (io->op == FTL_WRITE)
		return zone_is_durable(z, &z->zone[zns_zone_of(z, io->offset)], io->seq, failed);
	for (uint32_t i = 0; i < z->shape.bufs; i++) {
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
	z->count.lined--;
}

/*
 * Fail the resets and retirements that wait for the log, which has no room. Their zones can no longer be read, although
 * flash still has the data. Zones whose resets waited for a record to become offline are offline without one.
 */
static void fail_resets(struct zns *z)
{
	while (z->log.resets != ZNS_NONE && !z->log.busy) {
		struct zns_zone *s = &z->zone[z->log.resets];

		z->log.resets = s->next;
		fail_line(z, s);
		s->failed = true;
		z->count.lost += s->dropped_seq != 0;
		zns_set_state(z, s, FTL_ZONE_READONLY);
		zns_tell(z, s);
	}
	for (uint32_t i = 0; z->count.lined && i < z->shape.zones; i++)
		if (z->zone[i].phase == ZNS_LEAVING && z->zone[i].line.first->zone == FTL_ZONE_RETIRE) {
			fail_line(z, &z->zone[i]);
		} else if (z->zone[i].phase == ZNS_LEAVING) {
			zns_leave(z, &z->zone[i]);
			zns_tell(z, &z->zone[i]);
			line_go(z, i, NULL);
		}
}

void zns_go_on(struct zns *z, const struct zns_die *last)
{
	z->recheck = false;
	if (z->durable.first)
		durable_go(z, last);
	for (uint32_t i = 0; i < z->shape.bufs; i++)
		if (z->buf[i].zone != ZNS_NONE)
			line_go(z, z->buf[i].zone, last);
	for (uint32_t i = 0; z->count.lined && i < z->shape.zones; i++)
		if (z->zone[i].line.first && z->zone[i].buf == ZNS_NONE && !z->zone[i].waits)
			line_go(z, i, last);
	while (z->waiting_first != ZNS_NONE && zns_buf_find(z) != ZNS_NONE) {
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
	z->count.lined += alone;
	if (alone)
		line_go(z, zone, NULL);
}
