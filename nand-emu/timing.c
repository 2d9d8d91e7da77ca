// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * timing.c - the times of the parts of a command group. It knows the bus calendar and the profile's
 * times, and changes only the calendar and the commands.
 *
 * Every group has one cell phase, as long as that of its slowest command. The time of each command
 * is the sum of cell time, own bus time and waiting: all time that is neither cell nor own bus time
 * is waiting.
 */
#include "array_impl.h"

static uint32_t spare_bytes(const struct nand_array *a)
{
	return a->c.timing.oob_off_bus ? 0 : a->base.geo.oob_bytes;
}

static uint32_t words_read(const struct nand_array *a, const struct nand_cmd *c)
{
	return c->ecc_words == NAND_WHOLE_PAGE ? a->ecc_words : bits_set(c->ecc_words);
}

static inline uint64_t read_bytes(const struct nand_array *a, const struct nand_cmd *c)
{
	uint32_t n;

	if (SSD_LIKELY(c->ecc_words == NAND_WHOLE_PAGE))
		return a->page_bus_bytes;
	n = words_read(a, c);
	if (n == a->ecc_words)
		return a->page_bus_bytes;
	if (!n)
		return spare_bytes(a);
	return (uint64_t)n * a->base.geo.ecc_word_bytes +
	       (uint64_t)spare_bytes(a) * n / a->ecc_words;
}

static inline uint64_t transfer_ns(const struct nand_array *a, uint64_t bytes)
{
	if (bytes == a->page_bus_bytes)
		return a->page_bus_ns;
	if (!bytes)
		return 0;
	return (bytes * a->c.timing.bus_ps_per_byte + 999) / 1000;
}

static inline uint64_t page_read_ns(const struct nand_timing *t, const struct place *p, uint32_t type)
{
	return p->slc && t->slc_read_ns ? t->slc_read_ns : t->read_ns[type];
}

static inline uint64_t read_cell_ns(const struct nand_array *a, const struct place *p,
			     const struct nand_cmd *c)
{
	const struct nand_timing *t = &a->c.timing;
	uint64_t retries = (uint64_t)c->retries * t->retry_ns;

	if (SSD_UNLIKELY(a->base.geo.subpage == NAND_SUBPAGE_SPREAD)) {
		uint32_t n = words_read(a, c);

		if (n && n < a->ecc_words)
			return t->subread_base_ns + retries + (uint64_t)t->subread_ns_per_kib * n *
			       a->base.geo.ecc_word_bytes / 1024;
	}
	return page_read_ns(t, p, place_type(a, p)) + retries;
}

static inline uint64_t program_cell_ns(const struct nand_array *a, const struct place *p)
{
	uint32_t type = place_type(a, p);

	if (p->slc)
		return a->c.timing.slc_program_ns;
	if (a->base.geo.one_shot)
		return a->c.timing.program_ns[0];
	return a->c.timing.program_ns[type] + (uint64_t)type * a->c.timing.lower_read_ns;
}

static inline uint64_t cell_ns_of(const struct nand_array *a, const struct place *p,
				  const struct nand_cmd *c)
{
	const struct nand_timing *t = &a->c.timing;
	struct place from;

	if (c->op == NAND_READ)
		return read_cell_ns(a, p, c);
	if (c->op == NAND_ERASE)
		return p->slc && t->slc_erase_ns ? t->slc_erase_ns : t->erase_ns[pb_level(c->pb)];
	if (c->op == NAND_PROGRAM)
		return program_cell_ns(a, p);
	from = place_of(a, c->from.v);
	return page_read_ns(t, &from, place_type(a, &from)) + program_cell_ns(a, p);
}

uint64_t user_bytes_read(const struct nand_array *a, const struct nand_cmd *c)
{
	return c->ecc_words == NAND_WHOLE_PAGE ? a->base.geo.page_bytes :
		(uint64_t)words_read(a, c) * a->base.geo.ecc_word_bytes;
}

uint64_t bus_bytes(const struct nand_array *a, const struct nand_cmd *c)
{
	switch (c->op) {
	case NAND_READ:
		return read_bytes(a, c);
	case NAND_PROGRAM:
		return a->page_bus_bytes;
	case NAND_COPYBACK:
		return c->oob ? spare_bytes(a) : 0;
	case NAND_ERASE:
	case NAND_NOPS:
		break;
	}
	return 0;
}

static inline void add_wait(struct bus_waits *w, enum nand_source source, uint64_t ns)
{
	if (source == NAND_SRC_HOST)
		w->host_ns += ns;
	else
		w->gc_ns += ns;
}

/*
 * Set the times of a command. waits: time for which it waited for other commands and for its group; own_ns of it is the
 * command's own transfers, which do not count as waiting.
 */
static inline void finish(struct nand_array *a, struct nand_cmd *c, uint32_t channel,
			  uint64_t cell_ns, const struct bus_waits *waits, uint64_t own_ns)
{
	c->cell_ns = cell_ns;
	c->bus_ns = own_ns;
	c->wait_host_ns = waits->host_ns;
	c->wait_gc_ns = waits->gc_ns;
	c->wait_others_ns = a->bus[channel].others_ns;
	if (c->source == NAND_SRC_HOST)
		c->wait_host_ns -= own_ns;
	else
		c->wait_gc_ns -= own_ns;
	a->bus_busy[channel].ns[c->source] += own_ns;
}

/*
 * Book len_ns for c. Add to w the time that c waits for the bus, and the time that the next
 * commands wait for it.
 */
static inline uint64_t book(struct bus *bus, uint64_t now_ns, uint64_t at_ns, uint64_t len_ns,
			    const struct nand_cmd *c, struct bus_waits *w)
{
	uint64_t from = bus_book(bus, now_ns, at_ns, len_ns, c->user, w);

	add_wait(w, c->source, len_ns);
	return from + len_ns;
}

/* Returns how long a read that begins on the die now waits until its group, if it has one, is suspended. */
static inline uint64_t suspension_ns(const struct nand_array *a, uint64_t now_ns, uint32_t die)
{
	const struct img_die *d = &a->die[die];

	if (!d->count)
		return 0;
	if (!die_reads(d, now_ns))
		return a->c.timing.suspend_ns;
	return a->suspended_ns[die] > now_ns ? a->suspended_ns[die] - now_ns : 0;
}

static void time_reads(struct nand_array *a, const struct place *at, uint32_t channel,
		       uint64_t now_ns, struct nand_cmd *c, unsigned int count)
{
	struct bus_waits w = { 0, 0 };
	struct bus *bus = &a->bus[channel];
	uint64_t suspend_ns = suspension_ns(a, now_ns, at[0].die);
	uint64_t cell_ns = 0, to = now_ns + suspend_ns;
	uint32_t cmd_ns = a->c.timing.cmd_ns;

	for (unsigned int i = 0; i < count; i++) {
		uint64_t one = read_cell_ns(a, &at[i], &c[i]);

		cell_ns = one > cell_ns ? one : cell_ns;
		to = book(bus, now_ns, to, cmd_ns, &c[i], &w);
	}
	to += cell_ns;
	for (unsigned int i = 0; i < count; i++) {
		uint64_t len = transfer_ns(a, read_bytes(a, &c[i]));

		to = book(bus, now_ns, to, len, &c[i], &w);
		c[i].start_ns = now_ns;
		c[i].done_ns = to;
		finish(a, &c[i], channel, suspend_ns + cell_ns, &w, cmd_ns + len);
	}
}

static void time_programs(struct nand_array *a, const struct place *at, uint32_t channel,
			  uint64_t now_ns, struct nand_cmd *c, unsigned int count,
			  uint64_t *cell_start_ns)
{
	struct bus_waits w = { 0, 0 };
	struct bus *bus = &a->bus[channel];
	uint64_t cell_ns = 0, own_ns = a->c.timing.cmd_ns + a->page_bus_ns, to = now_ns;

	for (unsigned int i = 0; i < count; i++) {
		uint64_t one = program_cell_ns(a, &at[i]);

		cell_ns = one > cell_ns ? one : cell_ns;
		to = book(bus, now_ns, to, own_ns, &c[i], &w);
	}
	*cell_start_ns = to;
	for (unsigned int i = 0; i < count; i++) {
		c[i].start_ns = now_ns;
		c[i].done_ns = to + cell_ns;
		finish(a, &c[i], channel, cell_ns, &w, own_ns);
	}
}

/* Compute the times of erases and copybacks. */
static void time_changes(struct nand_array *a, const struct place *at, uint32_t channel,
			 uint64_t now_ns, struct nand_cmd *c, unsigned int count,
			 uint64_t *cell_start_ns)
{
	struct bus_waits w = { 0, 0 };
	struct bus *bus = &a->bus[channel];
	uint64_t own[NAND_GROUP_MAX], cell_ns = 0, to = now_ns;
	uint32_t planes = 0;		/* bitmap of the planes that an erase has named so far */

	for (unsigned int i = 0; i < count; i++) {
		uint64_t one = cell_ns_of(a, &at[i], &c[i]);
		uint32_t bit = 1u << (at[i].plane - at[i].die * a->by_planes.d);

		cell_ns = one > cell_ns ? one : cell_ns;
		own[i] = a->c.timing.cmd_ns + transfer_ns(a, bus_bytes(a, &c[i]));
		if (c[i].op == NAND_ERASE && planes & bit)
			own[i] = 0;	/* its transfers are booked with the first command of its plane */
		planes |= bit;
		to = book(bus, now_ns, to, own[i], &c[i], &w);
	}
	*cell_start_ns = to;
	for (unsigned int i = 0; i < count; i++) {
		c[i].start_ns = now_ns;
		c[i].done_ns = to + cell_ns;
		finish(a, &c[i], channel, cell_ns, &w, own[i]);
	}
}

/* Set the times of GC's commands with gc_holds_bus: one booking from the first command cycle to the end. */
static void time_held(struct nand_array *a, const struct place *where, uint32_t channel,
		      uint64_t now_ns, struct nand_cmd *c, unsigned int count,
		      uint64_t *cell_start_ns)
{
	struct bus_waits w = { 0, 0 };
	uint64_t cmd_ns = a->c.timing.cmd_ns, move[NAND_GROUP_MAX], moves = 0, cell_ns = 0, at;
	bool reads = c[0].op == NAND_READ;

	for (unsigned int i = 0; i < count; i++) {
		uint64_t one = cell_ns_of(a, &where[i], &c[i]);

		cell_ns = one > cell_ns ? one : cell_ns;
		move[i] = transfer_ns(a, bus_bytes(a, &c[i]));
		moves += move[i];
	}
	at = bus_book(&a->bus[channel], now_ns, now_ns, count * cmd_ns + moves + cell_ns,
		      c->user, &w);
	a->bus_busy[channel].ns[c[0].source] += cell_ns;
	at += count * cmd_ns + (reads ? 0 : moves);
	if (cell_start_ns)
		*cell_start_ns = at;
	at += cell_ns;
	for (unsigned int i = 0; i < count; i++)
		add_wait(&w, c[i].source, cmd_ns + (reads ? 0 : move[i]));
	for (unsigned int i = 0; i < count; i++) {
		if (reads) {
			add_wait(&w, c[i].source, move[i]);
			at += move[i];
		}
		c[i].start_ns = now_ns;
		c[i].done_ns = at;
		finish(a, &c[i], channel, cell_ns, &w, cmd_ns + move[i]);
	}
}

void time_group(struct nand_array *a, uint64_t now_ns, const struct place *at, struct nand_cmd *c,
		unsigned int count, uint64_t *cell_start_ns)
{
	uint32_t channel = fxp_quotient(a->by_channel_dies, at[0].die);

	a->bus[channel].others_ns = 0;
	if (a->c.timing.gc_holds_bus && c[0].source == NAND_SRC_GC && c[0].op != NAND_ERASE)
		time_held(a, at, channel, now_ns, c, count, cell_start_ns);
	else if (c[0].op == NAND_READ)
		time_reads(a, at, channel, now_ns, c, count);
	else if (c[0].op == NAND_PROGRAM)
		time_programs(a, at, channel, now_ns, c, count, cell_start_ns);
	else
		time_changes(a, at, channel, now_ns, c, count, cell_start_ns);
}
