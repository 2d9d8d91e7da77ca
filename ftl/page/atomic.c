// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * atomic.c - atomic writes of a drive with capacitors (NVMe's atomic write units).
 *
 * What the buffer has accepted survives a loss of power (save.h). So a write that it accepts as a whole is found as a
 * whole, or not at all if it still waits for room. Writes are accepted one after another, so they are atomic to each
 * other, too. A read looks each unit up when its die executes it; so a write of two of its units waits until the
 * read has them. It waits at the head of the line: no later write overtakes it. Reads wait for no write.
 *
 * State: a list of the reads under way that have several units; a read is on it from read_begin() until its last unit
 * was read. Cost: O(reads on the list) for each atomic write of several units; none for others.
 */
#include "page_ftl.h"

#define ATOMIC_MAX_BYTES (128u << 10)

/* Returns the pages of the buffer that a write of so many units may take. With handles, it may have to close two. */
static uint32_t pages_of_write(const struct ftl_config *c, uint32_t units, uint32_t upp)
{
	return (units + upp - 1) / upp + (c->placement_handles ? 2 : 0);
}

/*
 * With capacitors a write is atomic if the buffer accepts it as a whole. It may take a quarter of the buffer, so that
 * waiting for its room costs little, and what can be free while pages are open: one, or one of each handle. A write
 * that does not begin with a unit touches one more.
 */
uint32_t page_ftl_atomic_bytes(const struct ftl_config *c, const struct nand_geometry *g)
{
	uint32_t upp = g->page_bytes / c->unit_bytes, pages = c->buffer_units / upp;
	uint32_t open = c->placement_handles ? c->placement_handles : 1, units = ATOMIC_MAX_BYTES / c->unit_bytes;

	if (!c->power_protected)
		return c->unit_bytes;
	while (units > 1 && (units > c->buffer_units / 4 || pages_of_write(c, units + 1, upp) + open > pages))
		units /= 2;
	return units * c->unit_bytes;
}

/*
 * The write has not begun. If it is to be atomic (ftl_ops.atomic_bytes), it begins when the buffer has room for all of
 * it, and no read under way has two of its units: one might be read before, the other after it.
 */
bool atomic_may_begin(const struct page_ftl *f, const struct ftl_io *io)
{
	uint32_t first = byte_lpn(f, io->offset), last = io->bytes ? byte_lpn(f, io->offset + io->bytes - 1) : first;

	if (io->bytes > f->buf.atomic || first == last)
		return true;
	if (f->buf.free_count < pages_of_write(&f->host.c, last - first + 1, f->shape.upp))
		return false;
	for (const struct ftl_io *r = f->read.spans; r; r = r->span_next) {
		uint32_t from = byte_lpn(f, r->offset), to = byte_lpn(f, r->offset + r->bytes - 1);

		if ((from > first ? from : first) < (to < last ? to : last))
			return false;
	}
	return true;
}

/* The read has all its data, so that a write may change the units (atomic_may_begin()). */
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
}

void atomic_read_begins(struct page_ftl *f, struct ftl_io *io)
{
	io->span_next = io->span_last = NULL;
	if (!io->bytes || byte_lpn(f, io->offset) == byte_lpn(f, io->offset + io->bytes - 1))
		return;
	io->span_next = f->read.spans;
	if (f->read.spans)
		f->read.spans->span_last = io;
	f->read.spans = io;
}
