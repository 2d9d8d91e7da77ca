// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * page_owners.c - the page FTL's waits behind other namespaces (owners.h).
 *
 * Each die has a clock, whose holder is the command that the die executes. The log has one, whose holder
 * is the oldest page that is not on flash. Pages go to flash in the order of the log; therefore a write
 * that waits for room in the buffer, or for its data to be durable, waits for that page. The wait for a
 * channel comes from the array (nand_cmd.wait_others_ns).
 *
 * Owners of a read command are the namespace of its I/O, or of the slot whose base it reads; those of a
 * program, of its slots. Hidden units, map pages and GC have none.
 */
#include "page_owners.h"
#include "page_state.h"

void owners_lay_out(struct page_ftl *f, struct ssd_arena *m, const struct ftl_config *c, uint32_t reads)
{
	if (c->namespaces < 2)
		return;
	f->owners.die = ssd_carve(m, f->shape.dies, sizeof(*f->owners.die));
	f->owners.wait = ssd_carve(m, reads, sizeof(*f->owners.wait));
	f->owners.slot = ssd_carve(m, (size_t)f->buf.pages * f->shape.upp, 1);
}

static uint32_t owners_of_page(const struct page_ftl *f, uint32_t w)
{
	const struct wslot *s = &f->buf.slot[w * f->shape.upp];
	uint32_t owners = 0;

	for (uint32_t i = 0; i < f->buf.page[w].used; i++)
		if (s[i].lpn < f->shape.lpns)
			owners |= 1u << f->owners.slot[w * f->shape.upp + i];
	return owners;
}

uint32_t owners_of_read(const struct page_ftl *f, uint32_t r)
{
	const struct uread *u = &f->read.unit[r];

	if (u->io)
		return 1u << u->io->owner;
	return u->slot == NONE ? 0 : 1u << f->owners.slot[u->slot];
}

void owners_of_program(const struct page_ftl *f, const struct die *d, struct nand_cmd *c, uint32_t count)
{
	uint32_t owners = 0;

	for (uint32_t i = 0; i < count; i++)
		if (d->page[i] != NONE)
			owners |= owners_of_page(f, d->page[i]);
	for (uint32_t i = 0; i < count; i++)
		c[i].owners = (uint16_t)owners;
}

/* ---- dies ---- */

static uint64_t die_clock(const struct page_ftl *f, uint32_t die, const struct uread *u)
{
	return u->io ? owner_clock_read(&f->owners.die[die], f->die[die].turn.ready_ns, f->host.now_ns, u->io->owner) :
		       0;
}

void owners_queued(struct page_ftl *f, uint32_t r, uint32_t die, bool fresh)
{
	struct owner_wait *w = &f->owners.wait[r];

	w->mark = die_clock(f, die, &f->read.unit[r]);
	w->ns = fresh ? 0 : w->ns;
}

void owners_moved(struct page_ftl *f, uint32_t r, uint32_t die)
{
	struct owner_wait *w = &f->owners.wait[r];

	w->ns += die_clock(f, die, &f->read.unit[r]) - w->mark;
}

/* A read begins on the die: split its wait behind other namespaces off host_queue_ns. c: its command. */
void owners_read(const struct page_ftl *f, uint32_t die, const struct uread *u, const struct nand_cmd *c)
{
	const struct owner_wait *w = &f->owners.wait[u - f->read.unit];
	struct ftl_breakdown *to = &u->io->where;
	uint64_t rest = to->host_queue_ns - c->wait_host_ns;

	ftl_breakdown_take(&rest, w->ns + die_clock(f, die, u) - w->mark, &to->namespace_queue_ns);
	to->namespace_queue_ns += c->wait_others_ns;
	to->host_queue_ns -= to->namespace_queue_ns;
}

/* ---- the log ---- */

/* The oldest page that is not on flash is another one, or has other owners: let the log's clock have the new holder. */
void owners_oldest(struct page_ftl *f)
{
	uint64_t seq = f->bt.stable + 1, now_ns = f->host.now_ns;
	uint32_t w = f->buf.by_seq[seq & f->buf.by_seq_mask];
	bool there = seq < f->log.next_seq;

	owner_clock_turn(&f->owners.log, now_ns, now_ns, there ? owners_of_page(f, w) : 0);
}

void owners_wrote(struct page_ftl *f, const struct ftl_io *io, uint32_t slot)
{
	f->owners.slot[slot] = io->owner;
	if (f->buf.page[slot / f->shape.upp].seq == f->bt.stable + 1)
		owners_oldest(f);
}

void owners_wait_begins(const struct page_ftl *f, struct ftl_io *io)
{
	io->others_mark = owner_clock_read(&f->owners.log, f->host.now_ns, f->host.now_ns, io->owner);
}

void owners_wait_over(const struct page_ftl *f, struct ftl_io *io, uint64_t *rest)
{
	uint64_t now_ns = f->host.now_ns;

	if (io->op == FTL_WRITE)
		ftl_breakdown_take(rest, owner_clock_read(&f->owners.log, now_ns, now_ns, io->owner) - io->others_mark,
				   &io->where.namespace_queue_ns);
}
