// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * atomic.c - atomic writes of a drive with capacitors (NVMe's atomic write units).
 *
 * What the buffer has accepted survives a loss of power (save.h). So a write that it accepts as a whole is found as a
 * whole, or not at all if it still waits for room. Writes are accepted one after another, so they are atomic to each
 * other, too.
 *
 * A read looks each unit up when its die executes it. So a write of two of its units waits, at the head of the line,
 * until the read has looked all of them up. The write is `held` then: a read that begins later and has two of its units
 * waits until the write has begun, and so do the reads behind that one. Otherwise a few readers of the same units could
 * hold the write for ever.
 *
 * State: `spans`, the reads of several units of which some were looked up and some were not. A read is on the list from
 * its first look-up (read_units()) to its last (atomic_read_over()).
 *
 * Invariants:
 *   AT1  a write of at most buf.atomic bytes is accepted by one call of accept_write() (which asserts it);
 *   AT2  no read on the list has two units of such a write that has begun after the read's first look-up;
 *   AT3  if a write is held, a read is on the list. So the write goes on when the last of them ends, which sets `kick`.
 *
 * Cost: O(reads on the list) for each atomic write of several units; none for other writes.
 */
#include "atomic.h"
#include "page_state.h"

#define ATOMIC_MAX_BYTES (128u << 10)

/* Returns the pages of the buffer that a write of so many units may take. With handles, it may have to close two. */
static uint32_t pages_of_write(const struct ftl_config *c, uint32_t units, uint32_t upp)
{
	return (units + upp - 1) / upp + (c->placement_handles ? 2 : 0);
}

/*
 * Returns the bytes of the largest atomic write. With capacitors a write is atomic if the buffer accepts it as a whole.
 * It may take a quarter of the buffer, so that waiting for its room costs little, and what can be free while pages are
 * open: one, or one of each handle, and with one_shot those that wait for the last page of their word line. A write
 * that does not begin with a unit touches one more. The size is a power of two also where a unit is none: Linux makes
 * no atomic writes of a drive with another.
 */
uint32_t page_ftl_atomic_bytes(const struct ftl_config *c, const struct nand_geometry *g)
{
	uint32_t unit = c->unit_bytes, upp = g->page_bytes / unit, pages = c->buffer_units / upp;
	uint32_t open = (c->placement_handles ? ftl_handles(c) : 1) + geo_shot_pages(g) - 1, bytes = 0;

	if (!c->power_protected)
		return unit;
	for (uint32_t next = FTL_SECTOR_BYTES; next <= ATOMIC_MAX_BYTES; next *= 2) {
		uint32_t units = (next + unit - 1) / unit;

		if (units > c->buffer_units / 4 || pages_of_write(c, units + 1, upp) + open > pages)
			break;
		bytes = next;
	}
	return bytes > unit ? bytes : unit;
}

/* Do both have two units in common? One of them might then be read before, and one after, a change of both. */
static bool share_two_units(const struct page_ftl *f, const struct ftl_io *a, const struct ftl_io *b)
{
	uint32_t a_from = byte_lpn(f, a->offset), a_to = byte_lpn(f, a->offset + a->bytes - 1);
	uint32_t b_from = byte_lpn(f, b->offset), b_to = byte_lpn(f, b->offset + b->bytes - 1);

	return (a_from > b_from ? a_from : b_from) < (a_to < b_to ? a_to : b_to);
}

static bool has_several_units(const struct page_ftl *f, const struct ftl_io *io)
{
	return io->bytes && byte_lpn(f, io->offset) != byte_lpn(f, io->offset + io->bytes - 1);
}

/* Has the buffer room for the whole write, and is no read between two of its units (AT1, AT2)? */
bool atomic_may_begin(struct page_ftl *f, const struct ftl_io *io)
{
	uint32_t units;

	f->buf.held = false;
	if (io->bytes > f->buf.atomic || !has_several_units(f, io))
		return true;
	units = byte_lpn(f, io->offset + io->bytes - 1) - byte_lpn(f, io->offset) + 1;
	if (f->buf.free_count < pages_of_write(&f->host.c, units, f->shape.upp))
		return false;
	for (const struct ftl_io *r = f->read.spans; r && !f->buf.held; r = r->span_next)
		f->buf.held = share_two_units(f, r, io);
	return !f->buf.held;
}

/*
 * Called before a read looks up its first unit. Puts a read of several units on the list; returns false instead if it
 * must wait for the held write.
 */
bool atomic_read_begins(struct page_ftl *f, struct ftl_io *io)
{
	io->span_next = io->span_last = NULL;
	if (!has_several_units(f, io))
		return true;
	if (f->buf.held && f->buf.line.first && share_two_units(f, io, f->buf.line.first))
		return false;
	io->span_next = f->read.spans;
	if (f->read.spans)
		f->read.spans->span_last = io;
	f->read.spans = io;
	return true;
}

/* The read has looked up all its units, or none: take it off the list. */
void atomic_read_over(struct page_ftl *f, struct ftl_io *io)
{
	if (io->span_last)
		io->span_last->span_next = io->span_next;
	else if (f->read.spans == io)
		f->read.spans = io->span_next;
	else
		return;	/* it was not on the list */
	if (io->span_next)
		io->span_next->span_last = io->span_last;
	f->turn.kick |= f->buf.held;
}
