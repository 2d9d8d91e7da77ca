// SPDX-License-Identifier: GPL-2.0-or-later
/* naive_time.c - the times of a group. A channel is a list of all bookings. */
#include <stdlib.h>

#include "naive.h"

static uint64_t book(struct naive_channel *ch, uint64_t earliest_ns, uint64_t len_ns,
		     const struct nand_cmd *c, uint64_t owner)
{
	uint64_t at = earliest_ns;

	if (!len_ns)
		return at;
	for (size_t i = 0; i < ch->count; i++) {
		const struct naive_booking *b = &ch->book[i];

		if (b->start_ns < at + len_ns && b->end_ns > at) {
			at = b->end_ns;	/* a start before the end of this booking would overlap it */
			i = (size_t)-1;
		}
	}
	if (ch->count == ch->room) {
		ch->room = ch->room ? 2 * ch->room : 64;
		ch->book = realloc(ch->book, ch->room * sizeof(*ch->book));
	}
	ch->book[ch->count++] = (struct naive_booking){ at, at + len_ns, c->source, c->owners, owner };
	return at;
}

/* Forget bookings that have ended, because new ones cannot meet them. This keeps long runs fast. */
static void forget(struct naive_channel *ch, uint64_t now_ns)
{
	size_t kept = 0;

	if (ch->count < 256)
		return;
	for (size_t i = 0; i < ch->count; i++)
		if (ch->book[i].end_ns > now_ns)
			ch->book[kept++] = ch->book[i];
	ch->count = kept;
}

/* Is the booking the host's, with namespaces that are known and of which the command has none? */
static bool is_others(const struct nand_cmd *c, const struct naive_booking *b)
{
	return b->source == NAND_SRC_HOST && b->owners && c->owners && (b->owners & c->owners) == 0;
}

/*
 * Who held the bus between `from` and `to`? A gap that was too short is attributed to the booking
 * after it, because without that booking the transfer would have fitted.
 */
static void split_wait(const struct naive_channel *ch, uint64_t from, uint64_t to, uint64_t owner,
		       struct nand_cmd *c)
{
	while (from < to) {
		const struct naive_booking *holder = NULL;
		uint64_t until;

		for (size_t i = 0; i < ch->count; i++)
			if (ch->book[i].end_ns > from && (!holder || ch->book[i].end_ns < holder->end_ns))
				holder = &ch->book[i];
		SSD_ASSERT(holder);
		until = holder->end_ns < to ? holder->end_ns : to;
		if (holder->owner == owner)
			SSD_ASSERT(holder->start_ns <= from);
		else if (holder->source == NAND_SRC_HOST)
			c->wait_host_ns += until - from;
		else
			c->wait_gc_ns += until - from;
		if (holder->owner != owner && is_others(c, holder))
			c->wait_others_ns += until - from;
		from = until;
	}
}

uint64_t naive_bytes(const struct nand_array_config *c, const struct nand_cmd *cmd)
{
	const struct nand_geometry *g = &c->geo;
	uint32_t spare = c->timing.oob_off_bus ? 0 : g->oob_bytes;
	uint32_t n, w = g->page_bytes / g->ecc_word_bytes;

	switch (cmd->op) {
	case NAND_READ:
		n = naive_words(g, cmd->ecc_words);
		if (n == 0)
			return spare;
		return (uint64_t)n * g->ecc_word_bytes + (uint64_t)spare * n / w;
	case NAND_PROGRAM:
		return g->page_bytes + spare;
	case NAND_COPYBACK:
		return cmd->oob ? spare : 0;
	default:
		return 0;
	}
}

static uint64_t transfer_ns(const struct naive *n, const struct nand_cmd *c)
{
	return (naive_bytes(&n->c, c) * n->c.timing.bus_ps_per_byte + 999) / 1000;
}

static uint64_t program_cell_ns(const struct naive *n, const struct nand_cmd *c)
{
	const struct nand_timing *t = &n->c.timing;
	uint32_t type = naive_type(&n->c.geo, c->slc, c->ppn);

	if (c->slc)
		return t->slc_program_ns;
	if (n->c.geo.one_shot)
		return t->program_ns[0];
	return t->program_ns[type] + (uint64_t)type * t->lower_read_ns;
}

static uint64_t page_read_ns(const struct naive *n, ppn_t p)
{
	const struct nand_timing *t = &n->c.timing;

	if (naive_slc(n, p) && t->slc_read_ns)
		return t->slc_read_ns;
	return t->read_ns[naive_type(&n->c.geo, naive_slc(n, p), p)];
}

static uint64_t read_cell_ns(const struct naive *n, const struct nand_cmd *c)
{
	const struct nand_geometry *g = &n->c.geo;
	const struct nand_timing *t = &n->c.timing;
	uint32_t words = naive_words(g, c->ecc_words), w = g->page_bytes / g->ecc_word_bytes;
	uint64_t ns = page_read_ns(n, c->ppn);

	if (g->subpage == NAND_SUBPAGE_SPREAD && words >= 1 && words < w)
		ns = t->subread_base_ns +
		     (uint64_t)t->subread_ns_per_kib * words * g->ecc_word_bytes / 1024;
	return ns + (uint64_t)c->retries * t->retry_ns;
}

/* Was the block in SLC mode before the erase that is being submitted? */
static bool was_slc(const struct naive *n, ppn_t p)
{
	const struct nand_geometry *g = &n->c.geo;
	const struct naive_flight *f = &n->die[geo_die_of(g, geo_block_of(g, p))].flight;

	for (unsigned int i = 0; i < f->saved_count; i++)
		if (f->saved[i].block == p.v / g->pages_per_block)
			return f->saved[i].slc;
	return naive_slc(n, p);
}

static uint64_t cell_ns(const struct naive *n, const struct nand_cmd *c)
{
	uint32_t level = 0;

	switch (c->op) {
	case NAND_READ:
		return read_cell_ns(n, c);
	case NAND_PROGRAM:
		return program_cell_ns(n, c);
	case NAND_COPYBACK:
		return page_read_ns(n, c->from) + program_cell_ns(n, c);
	default:
		while (c->pb >> (level + 1))
			level++;
		if (was_slc(n, c->ppn) && n->c.timing.slc_erase_ns)
			return n->c.timing.slc_erase_ns;
		return n->c.timing.erase_ns[level];
	}
}

/* Returns the bus time before the cell phase. An erase names each plane once. */
static uint64_t front_ns(const struct naive *n, const struct nand_cmd *c, unsigned int i)
{
	const struct nand_geometry *g = &n->c.geo;
	uint64_t cmd_ns = n->c.timing.cmd_ns;

	if (c[i].op == NAND_READ)
		return cmd_ns;
	if (c[i].op != NAND_ERASE)
		return cmd_ns + transfer_ns(n, &c[i]);
	for (unsigned int k = 0; k < i; k++)
		if (geo_plane_of(g, geo_block_of(g, c[k].ppn)) == geo_plane_of(g, geo_block_of(g, c[i].ppn)))
			return 0;
	return cmd_ns;
}

static void wait_for(struct nand_cmd *c, enum nand_source source, uint64_t ns)
{
	if (source == NAND_SRC_HOST)
		c->wait_host_ns += ns;
	else
		c->wait_gc_ns += ns;
}

static uint64_t back_ns(const struct naive *n, const struct nand_cmd *c)
{
	return c->op == NAND_READ ? transfer_ns(n, c) : 0;
}

/*
 * The group holds the channel until all of it has ended; others see the source of its first
 * command.
 */
static uint64_t time_held(struct naive *n, struct naive_channel *ch, uint64_t now_ns, struct nand_cmd *c,
			  unsigned int count, uint64_t *cell_start_ns)
{
	uint64_t front = 0, cell = 0, back = 0, from, end;

	for (unsigned int i = 0; i < count; i++) {
		front += front_ns(n, c, i);
		back += back_ns(n, &c[i]);
		if (cell_ns(n, &c[i]) > cell)
			cell = cell_ns(n, &c[i]);
	}
	from = book(ch, now_ns, front + cell + back, &c[0], n->commands);
	*cell_start_ns = from + front;
	end = from + front + cell;
	for (unsigned int i = 0; i < count; i++) {
		end += back_ns(n, &c[i]);
		c[i].start_ns = now_ns;
		c[i].done_ns = end;
		c[i].cell_ns = cell;
		c[i].bus_ns = front_ns(n, c, i) + back_ns(n, &c[i]);
		c[i].wait_host_ns = c[i].wait_gc_ns = c[i].wait_others_ns = 0;
		split_wait(ch, now_ns, from, n->commands, &c[i]);
		for (unsigned int k = 0; k < count; k++) {
			if (k != i)
				wait_for(&c[i], c[k].source, front_ns(n, c, k));
			if (k < i)
				wait_for(&c[i], c[k].source, back_ns(n, &c[k]));
		}
		ch->busy_ns[c[i].source] += c[i].bus_ns;
		n->stats.bus_busy_ns[c[i].source] += c[i].bus_ns;
	}
	ch->busy_ns[c[0].source] += cell;
	n->stats.bus_busy_ns[c[0].source] += cell;
	return end;
}

uint64_t naive_time(struct naive *n, uint64_t now_ns, uint64_t suspend_ns, struct nand_cmd *c,
		    unsigned int count, uint64_t *cell_start_ns)
{
	const struct nand_geometry *g = &n->c.geo;
	uint32_t die = geo_die_of(g, geo_block_of(g, c[0].ppn));
	struct naive_channel *ch = &n->channel[geo_channel_of_die(g, die)];
	uint64_t begin = now_ns + suspend_ns, at = begin, cell = 0, cell_end;

	forget(ch, now_ns);
	if (n->c.timing.gc_holds_bus && c[0].source == NAND_SRC_GC && c[0].op != NAND_ERASE)
		return time_held(n, ch, now_ns, c, count, cell_start_ns);
	for (unsigned int i = 0; i < count; i++) {
		uint64_t len = front_ns(n, c, i);

		at = book(ch, at, len, &c[i], n->commands + i) + len;
		c[i].bus_ns = len;
		if (cell_ns(n, &c[i]) > cell)
			cell = cell_ns(n, &c[i]);
	}
	*cell_start_ns = at;
	cell_end = at + cell;
	at = cell_end;
	for (unsigned int i = 0; i < count; i++) {
		if (c[i].op == NAND_READ) {
			uint64_t len = transfer_ns(n, &c[i]);

			at = book(ch, at, len, &c[i], n->commands + i) + len;
			c[i].bus_ns += len;
		}
		c[i].start_ns = now_ns;
		c[i].done_ns = at;
		c[i].cell_ns = suspend_ns + cell;
	}
	for (unsigned int i = 0; i < count; i++) {
		c[i].wait_host_ns = c[i].wait_gc_ns = c[i].wait_others_ns = 0;
		split_wait(ch, begin, *cell_start_ns, n->commands + i, &c[i]);
		split_wait(ch, cell_end, c[i].done_ns, n->commands + i, &c[i]);
		ch->busy_ns[c[i].source] += c[i].bus_ns;
		n->stats.bus_busy_ns[c[i].source] += c[i].bus_ns;
	}
	return at;
}

void naive_note_reads(const struct naive *n, struct naive_die *d, const struct nand_cmd *c, unsigned int count)
{
	const struct nand_geometry *g = &n->c.geo;

	for (unsigned int i = 0; i < count; i++)
		d->read_end_ns[geo_plane_of(g, geo_block_of(g, c[i].ppn)) % g->planes_per_die] = c[i].done_ns;
}

void naive_read_beside(struct naive *n, uint64_t now_ns, struct naive_die *d, struct nand_cmd *c, unsigned int count)
{
	uint64_t before = d->ready_ns, cell_start;

	naive_time(n, now_ns, 0, c, count, &cell_start);
	naive_note_reads(n, d, c, count);
	d->ready_ns = naive_reads_end_ns(d);
	d->busy_ns[c[0].source] += d->ready_ns - before;
	n->stats.die_busy_ns[c[0].source] += d->ready_ns - before;
	for (unsigned int i = 0; i < count; i++)
		c[i].resumed_done_ns = 0;
}

void naive_suspend(struct naive *n, uint64_t now_ns, struct naive_die *d, struct nand_cmd *c,
		    unsigned int count)
{
	struct naive_flight *f = &d->flight;
	uint64_t before = f->end_ns, reads_end = naive_reads_end_ns(d), cell_start;

	f->suspends++;
	n->stats.suspends++;
	if (reads_end > now_ns) {	/* other reads suspend it already */
		naive_time(n, now_ns, f->suspended_ns > now_ns ? f->suspended_ns - now_ns : 0, c, count, &cell_start);
		naive_note_reads(n, d, c, count);
		f->end_ns += naive_reads_end_ns(d) - reads_end;
	} else {
		f->suspended_ns = now_ns + n->c.timing.suspend_ns;
		naive_time(n, now_ns, n->c.timing.suspend_ns, c, count, &cell_start);
		naive_note_reads(n, d, c, count);
		f->end_ns += naive_reads_end_ns(d) + n->c.timing.resume_ns - now_ns;
	}
	d->ready_ns = f->end_ns;
	d->busy_ns[c[0].source] += f->end_ns - before;
	n->stats.die_busy_ns[c[0].source] += f->end_ns - before;
	for (unsigned int i = 0; i < count; i++)
		c[i].resumed_done_ns = f->end_ns;
}
