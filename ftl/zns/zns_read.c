// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * zns_read.c - reads. A read is split at pages. What is in a buffer or was not written is answered at
 * once; the rest waits in its die's queue. The die looks up again where a page is before it reads it,
 * because the zone may have been reset in between. A slot's die never changes.
 */
#include "zns_read.h"
#include "zns_issue.h"

enum place { NOTHING, BUFFER, FLASH };

struct part {
	uint32_t zone, page;
	uint64_t from;			/* offset in the page */
	uint32_t bytes;			/* up to the page's end at most */
	uint32_t written;		/* of them, that were written */
};

/* Returns the part of the I/O from `at` on, up to the end of the page or zone. A zone may end within a page. */
static struct part part_at(const struct zns *z, const struct ftl_io *io, uint64_t at)
{
	uint64_t offset = io->offset + at, in_zone = offset % z->shape.size, left = io->bytes - at;
	struct part p = { .zone = zns_zone_of(z, offset), .page = (uint32_t)(in_zone / z->g->page_bytes),
			  .from = in_zone % z->g->page_bytes };
	uint64_t filled = z->zone[p.zone].filled;
	const struct zns_cell *cell;

	p.bytes = (uint32_t)(z->g->page_bytes - p.from);
	if (left > z->shape.size - in_zone)
		left = z->shape.size - in_zone;
	if (p.bytes > left)
		p.bytes = (uint32_t)left;
	if (filled > in_zone)
		p.written = (uint32_t)(filled - in_zone < p.bytes ? filled - in_zone : p.bytes);
	cell = filled > in_zone ? NULL : zns_cell_of(z, &z->zone[p.zone], p.page);
	if (cell && cell->window)
		p.written = p.bytes;	/* in the random write area */
	return p;
}

static enum place place_of(const struct zns *z, const struct part *p)
{
	if (!p->written)
		return NOTHING;
	return zns_cell_of(z, &z->zone[p->zone], p->page) ? BUFFER : FLASH;
}

/* Give the host a part: from `page`, or zeroes. */
static void give(struct zns *z, struct ftl_io *io, uint64_t at, const struct part *p, const uint8_t *page)
{
	uint32_t written = page ? p->written : 0;

	if (!z->host.c.payload)
		return;
	if (written)
		host_copy(&z->host, io, at, (void *)(uintptr_t)(page + p->from), written);
	if (written < p->bytes)
		host_copy(&z->host, io, at + written, NULL, p->bytes - written);
}

/* Answer a part that needs no flash. */
static void give_now(struct zns *z, struct ftl_io *io, uint64_t at, const struct part *p, enum place place)
{
	const struct zns_zone *s = &z->zone[p->zone];
	uint32_t units = (p->bytes + z->host.c.unit_bytes - 1) / z->host.c.unit_bytes;

	if (SSD_UNLIKELY(s->state == FTL_ZONE_OFFLINE) && io->status == SSD_OK)
		io->status = SSD_E_ZONE_OFFLINE;	/* it was not when the read was submitted */
	if (place == BUFFER) {
		give(z, io, at, p, zns_cell_data(z, &z->buf[s->buf], p->page % z->shape.slots));
		z->host.stats.buffer_hit_units += units;
	} else {
		give(z, io, at, p, NULL);
		z->host.stats.unwritten_units += units;
	}
}

static bool queue(struct zns *z, struct ftl_io *io, const struct part *p)
{
	uint32_t die = zns_plane_at(z, p->zone, p->page % z->shape.slots) / z->g->planes_per_die, o = z->read.op_free;
	struct zns_die *x = &z->die[die];

	if (o == ZNS_NONE)
		return false;
	z->read.op_free = z->read.op[o].next;
	z->read.op[o] = (struct zns_op){ .io = io, .at = io->at, .bytes = p->bytes, .next = ZNS_NONE,
				    .gc_mark = die_gc_clock(&x->turn, x->cmd == ZNS_CMD_PREPARE ||
							    x->cmd == ZNS_CMD_LOG_ERASE, z->host.now_ns) };
	if (x->read_first == ZNS_NONE)
		x->read_first = o;
	else
		z->read.op[x->read_last].next = o;
	x->read_last = o;
	x->look = true;
	io->pending++;
	return true;
}

/* End the part of the I/O that divided it: the others are answered or in a queue. first_seq is set by a buffer hit. */
static void split_done(struct zns *z, struct ftl_io *io)
{
	const struct ftl_breakdown own = { .buffer_ns = io->first_seq ? z->host.c.buffer_ns : 0 };

	z->host.stats.unwritten_reads += io->pending == 1 && !io->first_seq && io->bytes;
	host_part_at(&z->host, io, z->host.now_ns, 0, &own, SSD_OK);
}

/* Split the I/O into reads. Returns false if the pool is empty before its end: it goes on from io->at then. */
static bool split(struct zns *z, struct ftl_io *io)
{
	while (io->at < io->bytes) {
		const struct part p = part_at(z, io, io->at);
		enum place place = place_of(z, &p);

		if (place == FLASH && !queue(z, io, &p))
			return false;
		if (place != FLASH)
			give_now(z, io, io->at, &p, place);
		io->first_seq |= place == BUFFER;
		io->at += p.bytes;
	}
	split_done(z, io);
	return true;
}

static bool is_offline(const struct zns *z, const struct ftl_io *io)
{
	for (uint64_t at = io->offset - io->offset % z->shape.size; at < io->offset + io->bytes; at += z->shape.size)
		if (z->zone[zns_zone_of(z, at)].state == FTL_ZONE_OFFLINE)
			return true;
	return false;
}

void zns_submit_read(struct zns *z, struct ftl_io *io)
{
	if (SSD_UNLIKELY(is_offline(z, io)))
		host_refuse(&z->host, io, SSD_E_ZONE_OFFLINE);
	else if (z->read.line.first || !split(z, io))
		io_list_add(&z->read.line, io);
}

static struct zns_op take_op(struct zns *z, struct zns_die *x)
{
	uint32_t o = x->read_first;
	const struct zns_op op = z->read.op[o];

	x->read_first = op.next;
	z->read.op[o].next = z->read.op_free;
	z->read.op_free = o;
	return op;
}

/* Report a part that its die has begun to read, because its end is known. */
static void report(struct zns *z, const struct zns_op *op, const struct nand_cmd *c, uint64_t gc_ns,
		   enum ssd_err status)
{
	const struct ftl_breakdown own = { .cell_ns = c->cell_ns, .bus_ns = c->bus_ns };

	host_part_at(&z->host, op->io, c->done_ns, gc_ns + c->wait_gc_ns, &own, status);
}

/* Read the first page of the die's queue. Returns true: there was one. */
bool zns_read_go(struct zns *z, uint32_t die)
{
	struct zns_die *x = &z->die[die];
	const struct zns_op op = take_op(z, x);
	const struct part p = part_at(z, op.io, op.at);
	uint64_t gc_ns = die_gc_clock(&x->turn, false, z->host.now_ns) - op.gc_mark;
	enum place place = place_of(z, &p);
	uint32_t block = *zns_block_of(z, p.zone, p.page);
	struct nand_cmd c;
	bool good;

	if (place != FLASH) {	/* its zone was reset since */
		give_now(z, op.io, op.at, &p, place);
		host_part_now(&z->host, op.io);
		return true;
	}
	if (block == ZNS_NONE) {	/* its buffer was given away */
		struct ftl_io *io = op.io;

		io->status = SSD_E_UNCORR;
		give(z, io, op.at, &p, NULL);
		host_part_now(&z->host, io);
		return true;
	}
	nand_fill_read(&c, NAND_SRC_HOST, zns_ppn(z, block, p.page), NAND_WHOLE_PAGE, z->oob[0]);
	zns_issue(z, die, ZNS_CMD_READ, &c, 1);
	x->turn.reads_in_row++;
	good = survey_readable(c.status) && !(z->oob[0][0] & ZNS_LOST);
	give(z, op.io, op.at, &p, good ? c.page : NULL);
	report(z, &op, &c, gc_ns, good ? SSD_OK : SSD_E_UNCORR);
	return true;
}

/* Continue with reads that found no room in the pool. Returns true if a part was queued or answered. */
bool zns_read_on(struct zns *z)
{
	struct ftl_io *io = z->read.line.first, *next;
	uint64_t before;

	if (!io || z->read.op_free == ZNS_NONE)
		return false;
	before = io->at;
	next = io->next;
	(void)io_list_take(&z->read.line);
	if (split(z, io))
		return true;
	io->next = next;
	z->read.line.first = io;
	if (!next)
		z->read.line.last = io;
	return io->at != before;
}
