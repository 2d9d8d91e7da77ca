// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wbuf.c - the write buffer: where writes and trims are accepted.
 *
 * I/Os are accepted in the order of submission. If there is no room for an I/O, it waits in line,
 * and so do all later ones. If a unit is written again while its page is still open, it is
 * overwritten in place. After a power cut the result is the same as for two writes, because a page
 * is programmed whole or not at all. If its page is closed, the newer version gets its own slot,
 * because the content after a power cut must be a prefix of the writes.
 *
 * The rest of a partially written unit comes from the newest version in the buffer, or is zeroes
 * (never written, trimmed), or is read from flash: then a base read is queued, and the page is not
 * issued before it ends.
 *
 * With power_protected writes of some units are atomic: they are accepted as a whole (atomic.c).
 *
 * Invariants:
 *   W1  hash finds exactly the slots with hashed set, one per LPN at most;
 *   W3  a bitmap slot in the open page equals the trimmed bits of its region.
 *
 * With placement handles each handle has an open page, which is not in the queue, and buf.open is the one of the
 * handle that the I/O names (W4 to W6 in handles.h). Trims and all hidden pages are written as by handle 0. queue.h
 * has invariant W2.
 */
#include "atomic.h"
#include "durable.h"
#include "lost.h"
#include "map.h"
#include "page_owners.h"
#include "page_state.h"
#include "queue.h"
#include "read.h"
#include "sent.h"
#include "wbuf.h"
#include "wordline.h"

static inline void hash_remove(struct page_ftl *f, uint32_t slot)
{
	uint32_t *link = wbuf_hash_head(f, f->buf.slot[slot].lpn);

	if (!f->buf.slot[slot].hashed)
		return;
	while (*link != slot)
		link = &f->buf.slot[*link].hash_next;
	*link = f->buf.slot[slot].hash_next;
	f->buf.slot[slot].hashed = false;
}

void wbuf_init(struct page_ftl *f)
{
	for (uint32_t i = 0; i <= f->buf.hash_mask; i++)
		f->buf.hash[i] = NONE;
	for (uint32_t i = 0; i <= f->buf.by_seq_mask; i++)
		f->buf.by_seq[i] = 0;
	for (uint32_t i = 0; i < f->buf.pages * f->shape.upp; i++)
		f->buf.slot[i] = (struct wslot){ 0 };
	f->buf.free = NONE;
	for (uint32_t i = f->buf.pages; i-- > 0;) {
		f->buf.page[i].state = W_FREE;
		f->buf.page[i].next = f->buf.free;
		f->buf.free = i;
	}
	f->buf.free_count = f->buf.pages;
	f->buf.first = f->buf.last = f->buf.open = NONE;
}

static SSD_ALWAYS bool open_page(struct page_ftl *f)
{
	uint32_t w = f->buf.free;
	struct wpage *p;

	if (w == NONE)
		return false;
	wbuf_seal(f);
	p = &f->buf.page[w];
	f->buf.free = p->next;
	f->buf.free_count--;
	f->buf.open = w;
	if (SSD_UNLIKELY(f->extras) && f->handles.count) {
		*p = (struct wpage){ .seq = UINT64_MAX, .state = W_OPEN };
		handles_began(f, w);
		return true;
	}
	queue_join(f, w);
	*p = (struct wpage){ .seq = f->log.next_seq++, .next = NONE, .state = W_OPEN };
	f->buf.by_seq[p->seq & f->buf.by_seq_mask] = w;
	return true;
}

/* With handles: close the open page if it is full, so that it gets its sequence and may be issued. */
static inline void seal_full(struct page_ftl *f)
{
	if (SSD_UNLIKELY(f->extras) && f->handles.count && f->buf.open != NONE &&
	    f->buf.page[f->buf.open].used == f->shape.upp)
		wbuf_seal(f);
}

bool wbuf_next_page(struct page_ftl *f)
{
	if (f->buf.open == NONE && !open_page(f))
		return false;
	wbuf_seal(f);
	return true;
}

/* The page has been programmed: free its buffer room. */
void wbuf_release(struct page_ftl *f, uint32_t w)
{
	for (uint32_t i = 0; i < f->buf.page[w].used; i++)
		hash_remove(f, w * f->shape.upp + i);
	f->buf.page[w].state = W_FREE;
	f->buf.page[w].next = f->buf.free;
	f->buf.free = w;
	f->buf.free_count++;
}

/*
 * Give the unit a slot of the open page, as the newest of its hash list. head: the list's
 * (wbuf_hash_head()); old: the slot with the last version (wbuf_find()), or NONE. Returns NONE if there
 * is no room.
 */
static inline uint32_t new_slot(struct page_ftl *f, uint32_t lpn, uint32_t *head, uint32_t old)
{
	uint32_t s;

	if (f->buf.open == NONE || f->buf.page[f->buf.open].used == f->shape.upp)
		if (!open_page(f))
			return NONE;
	if (old != NONE)
		hash_remove(f, old);
	s = f->buf.open * f->shape.upp + f->buf.page[f->buf.open].used++;
	f->buf.slot[s] = (struct wslot){ .lpn = lpn, .hash_next = *head, .hashed = true };
	*head = s;
	return s;
}

static inline bool in_open_page(const struct page_ftl *f, uint32_t slot)
{
	return slot != NONE && f->buf.open != NONE && slot - f->buf.open * f->shape.upp < f->shape.upp;
}

/* ---- writes ---- */

static inline uint32_t sector_bits(uint32_t from, uint32_t bytes)
{
	uint32_t count = bytes / FTL_SECTOR_BYTES;
	uint32_t ones = count == 32 ? ~0u : (1u << count) - 1;

	return ones << (from / FTL_SECTOR_BYTES);
}

/* W3: a trimmed LPN is written again: update the open page's bitmap slot. */
static void untrim(struct page_ftl *f, uint32_t lpn)
{
	uint32_t per = lpns_per_map(f), s;

	trim_clear(f, lpn);
	s = wbuf_find(f, f->shape.lpns + lpn / per);
	if (in_open_page(f, s))
		bit_clear(slot_data(f, s), lpn % per);
}

/* Read the data around a partial write into its new slot. Without payload they are not needed. */
static SSD_APART void find_base(struct page_ftl *f, uint64_t now_ns, uint32_t slot, uint32_t old)
{
	struct wslot *s = &f->buf.slot[slot];

	if (old != NONE) {
		if (f->host.c.payload)
			memcpy(slot_data(f, slot), slot_data(f, old), f->host.c.unit_bytes);
		s->have = f->buf.slot[old].have;
		s->lost = f->buf.slot[old].lost;
		f->buf.bad[slot] = f->buf.bad[old];
	} else if (is_trimmed(f, s->lpn) || !unit_may_exist(f, s->lpn)) {
		if (f->host.c.payload)
			memset(slot_data(f, slot), 0, f->host.c.unit_bytes);
		s->have = f->shape.sectors_mask;
	}
	if (f->metadata.bytes)
		metadata_begin_slot(f, slot, old);
	if (s->have != f->shape.sectors_mask) {
		f->buf.page[slot / f->shape.upp].bases++;
		read_base(f, now_ns, slot);
	}
}

/* Note lost sectors, metadata and owners of the I/O's next sectors, which are in the slot. */
static SSD_APART void note_slot(struct page_ftl *f, struct ftl_io *io, uint32_t slot)
{
	struct host_span s = host_span(io, f->host.c.unit_bytes);

	lost_written(f, io, slot, sector_bits(s.from, s.bytes));
	if (f->metadata.bytes)
		metadata_written(f, io, slot, s.from, s.bytes);
	if (owners_told(f))
		owners_wrote(f, io, slot);
}

/* Write one unit, or a part of one. Returns false if there is no room. */
static inline bool write_unit(struct page_ftl *f, uint64_t now_ns, struct ftl_io *io, uint32_t lpn,
			      uint32_t from, uint32_t bytes)
{
	uint32_t *head = wbuf_hash_head(f, lpn), old = wbuf_find_from(f, *head, lpn), s = old;
	bool whole = bytes == f->host.c.unit_bytes;

	if (SSD_UNLIKELY(f->extras) && f->handles.count)
		handles_close_older(f, lpn, old);
	if (in_open_page(f, old)) {
		f->host.stats.coalesced_units++;
	} else {
		s = new_slot(f, lpn, head, old);
		if (s == NONE)
			return false;
		map_prefetch(f, lpn);
		if (!whole)
			find_base(f, now_ns, s, old);
	}
	if (SSD_UNLIKELY(f->extras) && (f->buf.losses || f->metadata.bytes || owners_told(f)))
		note_slot(f, io, s);
	if (f->host.c.payload)
		host_copy(&f->host, io, io->at, slot_data(f, s) + from, bytes);
	f->buf.slot[s].have |= whole ? f->shape.sectors_mask : sector_bits(from, bytes);
	if (is_trimmed(f, lpn))
		untrim(f, lpn);
	return true;
}

/* Write as much of the I/O as there is room for. Returns true if all of it was written. */
static inline bool accept_write(struct page_ftl *f, uint64_t now_ns, struct ftl_io *io)
{
	uint64_t byte = io->offset + io->at;
	uint32_t lpn = byte_lpn(f, byte);
	uint32_t from = (uint32_t)(byte - (uint64_t)lpn * f->host.c.unit_bytes);

	if (SSD_UNLIKELY(f->buf.atomic) && !io->at && !atomic_may_begin(f, io))
		return false;
	for (; io->at < io->bytes; lpn++, from = 0) {
		uint32_t bytes = f->host.c.unit_bytes - from;

		if (bytes > io->bytes - io->at)
			bytes = (uint32_t)(io->bytes - io->at);
		if (!write_unit(f, now_ns, io, lpn, from, bytes)) {
			SSD_ASSERT(!io->at || io->bytes > f->buf.atomic);	/* AT1 */
			return false;
		}
		if (!io->at) {
			io->first_seq = f->buf.page[f->buf.open].seq;
			io->done_ns = 0;
		}
		if (SSD_UNLIKELY(f->extras) && f->handles.count)
			handles_wrote(f, io, bytes);
		seal_full(f);
		io->at += bytes;
	}
	return true;
}

/* ---- trims ---- */

/* Get a slot for a hidden logical page; the caller sets its content. */
uint32_t wbuf_hidden_slot(struct page_ftl *f, uint32_t lpn)
{
	uint32_t s = wbuf_find(f, lpn);

	if (!in_open_page(f, s)) {
		s = new_slot(f, lpn, wbuf_hash_head(f, lpn), s);
		if (s == NONE)
			return NONE;
		f->buf.slot[s].have = f->shape.sectors_mask;
		f->buf.trim[s] = (struct wtrim){ NONE, 0 };
	}
	return s;
}

static bool anything_there(const struct page_ftl *f, uint32_t from, uint32_t to)
{
	bool buffered = f->buf.free_count < f->buf.pages;

	for (uint32_t lpn = from; lpn < to; lpn++)
		if (!is_trimmed(f, lpn) &&
		    (unit_may_exist(f, lpn) || (buffered && wbuf_find(f, lpn) != NONE)))
			return true;
	return false;
}

static void forget_buffered(struct page_ftl *f, uint32_t from, uint32_t to)
{
	for (uint32_t s = 0; s < f->buf.pages * f->shape.upp; s++)
		if (f->buf.slot[s].hashed && f->buf.slot[s].lpn >= from && f->buf.slot[s].lpn < to)
			hash_remove(f, s);
}

void wbuf_trim_bits(const struct page_ftl *f, uint32_t map, uint8_t *to)
{
	uint64_t first = (uint64_t)map * f->host.c.unit_bytes;
	uint64_t total = ((uint64_t)f->shape.lpns + 7) / 8;
	uint64_t bytes = total - first < f->host.c.unit_bytes ? total - first : f->host.c.unit_bytes;

	memcpy(to, f->map.trimmed + first, bytes);
	memset(to + bytes, 0, f->host.c.unit_bytes - bytes);
}

/* Trim units [from, to) of one bitmap region. Returns false if there is no room. */
static bool trim_units(struct page_ftl *f, uint32_t from, uint32_t to)
{
	uint32_t map = from / lpns_per_map(f), s;
	struct wtrim *t;

	if (!anything_there(f, from, to))
		return true;
	if (SSD_UNLIKELY(f->handles.count))
		handles_close_region(f, map);
	s = wbuf_hidden_slot(f, f->shape.lpns + map);
	if (s == NONE)
		return false;
	forget_buffered(f, from, to);
	for (uint32_t lpn = from; lpn < to; lpn++)
		trim_set(f, lpn);
	wbuf_trim_bits(f, map, slot_data(f, s));
	t = &f->buf.trim[s];
	if (t->from == NONE || from < t->from)
		t->from = from;
	if (to > t->to)
		t->to = to;
	map_trim_accepted(f, f->buf.page[s / f->shape.upp].seq);
	f->host.stats.trimmed_units += to - from;
	seal_full(f);
	return true;
}

static bool accept_trim(struct page_ftl *f, struct ftl_io *io)
{
	uint32_t unit = f->host.c.unit_bytes, per = lpns_per_map(f);
	uint32_t end = (uint32_t)((io->offset + io->bytes) / unit);
	uint32_t lpn = (uint32_t)((io->offset + unit - 1) / unit) + (uint32_t)io->at;

	while (lpn < end) {	/* io->at counts units in this loop */
		uint32_t stop = (lpn / per + 1) * per;

		if (stop > end)
			stop = end;
		if (!trim_units(f, lpn, stop))
			return false;
		io->at += stop - lpn;
		lpn = stop;
	}
	return true;
}

/* ---- the line of waiting I/Os ---- */

/* Close all open pages, so that they are programmed now. */
static void close_pages(struct page_ftl *f)
{
	if (f->buf.open != NONE)
		f->host.stats.flush_pad_units += f->shape.upp - f->buf.page[f->buf.open].used;
	wbuf_seal(f);
	handles_close_others(f);
	wordline_push(f);
	f->line.flushed = f->line.due;
}

static void finish_buffered(struct page_ftl *f, uint64_t now_ns, struct ftl_io *io)
{
	uint64_t waited = now_ns - io->submit_ns;
	uint64_t gc = stall_clock(f, now_ns) - io->gc_mark, move_ns;

	ftl_breakdown_take(&waited, gc, &io->where.gc_queue_ns);
	if (owners_told(f))
		owners_wait_over(f, io, &waited);
	move_ns = io->op == FTL_FLUSH ? 0 : f->host.c.buffer_ns;
	io->where.buffer_ns = waited + move_ns;
	host_end_at(&f->host, io, now_ns + move_ns, SSD_OK);
}

static bool accept(struct page_ftl *f, uint64_t now_ns, struct ftl_io *io)
{
	if (SSD_UNLIKELY(f->extras) && f->handles.count)
		handles_select(f, io->op == FTL_WRITE ? io->handle : 0);
	switch (io->op) {
	case FTL_WRITE:
		return accept_write(f, now_ns, io);
	case FTL_TRIM:
		return accept_trim(f, io);
	case FTL_FLUSH:
		return true;
	case FTL_READ:
	case FTL_NOPS:
		break;
	}
	SSD_ASSERT(!"only writes, trims and flushes stand in line");
	return true;
}

/* Must the I/O's data be programmed before it ends? Capacitors make the buffer as durable as flash. */
static inline bool waits_for_flash(const struct page_ftl *f, const struct ftl_io *io)
{
	return !f->host.c.buffer_units || ((io->op == FTL_FLUSH || io->fua) && !f->host.c.power_protected);
}

SSD_HOT void line_process(struct page_ftl *f, uint64_t now_ns)
{
	while (f->buf.line.first) {
		struct ftl_io *io = f->buf.line.first;
		bool durable;

		if (!accept(f, now_ns, io))
			return;
		io_list_take(&f->buf.line);
		durable = waits_for_flash(f, io);
		if (durable && (io->op == FTL_FLUSH || io->fua || !f->buf.line.first))
			close_pages(f);
		if (durable && ends_when_sent(f, io))
			sent_wait(f, io);
		else if (durable)
			durable_wait(f, now_ns, io);
		else
			finish_buffered(f, now_ns, io);
	}
}

void line_join(struct page_ftl *f, uint64_t now_ns, struct ftl_io *io)
{
	bool alone = !f->buf.line.first;

	if (owners_told(f))
		owners_wait_begins(f, io);
	io_list_add(&f->buf.line, io);
	if (alone)
		line_process(f, now_ns);
}
