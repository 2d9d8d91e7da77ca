// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * array.c - the NAND array in memory: rules, cells and timing.
 *
 * Knows cells, dies and channels. Does not know mapping units, hosts, or what
 * OOB bytes mean.
 *
 * A block is a write pointer, an erase count and flags; a page is one byte of
 * state (enum cell), its OOB bytes and, with payload, the number of a buffer
 * in the pool. A die holds the command group that it is executing (`flight`),
 * because a power cut needs to know what to tear.
 *
 *   page    ERASED -> GOOD (program) -> ERASED (erase)
 *           GOOD -> LOST (torn or failed program, torn erase) -> ERASED (erase)
 *   block   good -> torn (an erase was cut short) -> good (erase); good -> bad
 *
 * An erase empties its pages only when the die is next used or looked at
 * (`settle`): until its end a power cut may still find the old data there.
 * Nobody else can see the difference, since the die is busy (R8).
 *
 * Invariants, kept by every call:
 *   A1  pages at or after next_page are ERASED, unless the block is torn;
 *   A2  a page has a pool buffer if and only if it is GOOD and was programmed
 *       with data; no buffer has two owners;
 *   A3  programmed_pages == pages that are not ERASED;
 *   A4  now_ns never decreases.
 */
#include "array.h"

#include "bus.h"
#include "nand_geom.h"

enum cell { CELL_ERASED, CELL_GOOD, CELL_LOST };

#define NO_BUFFER 0xffffffffu
#define MAX_PLANES 8u

struct block {
	uint32_t next_page;		/* A1 */
	uint32_t erases;
	bool bad;
	bool torn;			/* R9 */
};

struct flight {				/* one command under way */
	enum nand_op op;
	ppn_t ppn;
	uint64_t cell_start_ns;		/* cut at or before: no trace */
	uint64_t done_ns;
	uint32_t prev_next_page;	/* PROGRAM: to undo */
	bool failed;
};

struct die {
	uint64_t ready_ns;
	uint32_t count;
	struct flight flight[MAX_PLANES];
};

struct nand_array {
	struct nand base;
	struct nand_timing t;
	struct nand_hooks hooks;
	struct nand_stats stats;
	uint64_t now_ns;		/* A4 */
	bool powered;
	uint32_t pages;			/* derived: all of them, */
	uint32_t die_pages;		/* and of one die */

	struct block *block;
	uint8_t *cells;			/* enum cell, two bits a page */
	uint8_t *oob;
	uint32_t *buffer;		/* pool buffer, per page; NULL: no payload */
	uint8_t *pool;
	uint32_t spare;			/* stack of free buffers, linked through their first bytes */
	uint32_t pool_pages;
	uint32_t pool_high;		/* buffers that were ever used */
	struct die *die;
	struct bus *bus;
};

static struct nand_array *array_of(const struct nand *n)
{
	return ssd_container_of(n, struct nand_array, base);
}

struct nand_array *nand_array_of(struct nand *n)
{
	return array_of(n);
}

/* splitmix64 (Steele, Lea, Flood 2014): the cut's coin. */
static uint64_t mix(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static enum cell cell_get(const struct nand_array *a, ppn_t p)
{
	return (enum cell)((a->cells[p.v >> 2] >> (p.v & 3u) * 2u) & 3u);
}

static void cell_set(struct nand_array *a, ppn_t p, enum cell to)
{
	uint32_t shift = (p.v & 3u) * 2u;

	a->cells[p.v >> 2] = (uint8_t)((a->cells[p.v >> 2] & ~(3u << shift)) |
				       (uint32_t)to << shift);
}

/* ---- payload pool ------------------------------------------------------- */

static void *buffer_at(const struct nand_array *a, uint32_t buffer)
{
	return a->pool + (size_t)buffer * a->base.geo.page_bytes;
}

static void page_store(struct nand_array *a, ppn_t p, const void *data)
{
	uint32_t b;

	if (!a->buffer)
		return;
	if (!data) {
		a->buffer[p.v] = NO_BUFFER;
		return;
	}
	if (a->spare != NO_BUFFER) {
		b = a->spare;
		memcpy(&a->spare, buffer_at(a, b), sizeof(a->spare));
	} else {
		SSD_ASSERT(a->pool_high < a->pool_pages);
		b = a->pool_high++;
	}
	memcpy(buffer_at(a, b), data, a->base.geo.page_bytes);
	a->buffer[p.v] = b;
}

static void page_drop(struct nand_array *a, ppn_t p)
{
	if (!a->buffer || a->buffer[p.v] == NO_BUFFER)
		return;
	memcpy(buffer_at(a, a->buffer[p.v]), &a->spare, sizeof(a->spare));
	a->spare = a->buffer[p.v];
	a->buffer[p.v] = NO_BUFFER;
}

static void page_lose(struct nand_array *a, ppn_t p)
{
	page_drop(a, p);
	cell_set(a, p, CELL_LOST);
}

static void page_wipe(struct nand_array *a, ppn_t p)
{
	if (cell_get(a, p) == CELL_ERASED)
		return;
	page_drop(a, p);
	cell_set(a, p, CELL_ERASED);
	a->stats.programmed_pages--;
}

/* ---- rules -------------------------------------------------------------- */

static bool address_ok(const struct nand_array *a, const struct nand_cmd *c)
{
	if ((unsigned int)c->op >= NAND_NOPS || (unsigned int)c->source >= NAND_NSOURCES)
		return false;
	if (c->ppn.v >= a->pages)
		return false;
	return c->op != NAND_ERASE || geo_page_of(&a->base.geo, c->ppn) == 0;
}

/* The rule that one command breaks by itself, or NAND_NRULES. */
static enum nand_rule broken_alone(const struct nand_array *a, const struct nand_cmd *c)
{
	const struct block *b;

	if (c->op == NAND_READ)
		return c->ecc_words == NAND_WHOLE_PAGE || c->ecc_words == NAND_OOB_ONLY ?
			NAND_NRULES : NAND_R7;
	b = &a->block[geo_block_of(&a->base.geo, c->ppn).v];
	switch (c->op) {
	case NAND_PROGRAM:
		if (b->bad)
			return NAND_R3;
		if (b->torn)
			return NAND_R9;
		if (cell_get(a, c->ppn) != CELL_ERASED)
			return NAND_R1;
		if (geo_page_of(&a->base.geo, c->ppn) < b->next_page)
			return NAND_R2;
		return NAND_NRULES;
	case NAND_ERASE:
		if (b->bad)
			return NAND_R3;
		return c->pb == NAND_WHOLE_BLOCK ? NAND_NRULES : NAND_R4;
	case NAND_READ:
	case NAND_NOPS:
		break;
	}
	return NAND_R0;
}

/* R5 and R6: what the commands of one group must be to one another. */
static enum nand_rule broken_together(const struct nand_array *a, const struct nand_cmd *c,
				      unsigned int count)
{
	const struct nand_geometry *g = &a->base.geo;
	uint32_t planes = 0;	/* bitmap within the die */

	for (unsigned int i = 0; i < count; i++) {
		uint32_t plane = geo_plane_of(g, geo_block_of(g, c[i].ppn));
		uint32_t bit = 1u << (plane % g->planes_per_die);

		if (c[i].op != c[0].op)
			return NAND_R6;
		if (c[i].ppn.v / a->die_pages != c[0].ppn.v / a->die_pages)
			return NAND_R6;
		if (planes & bit)
			return c[0].op == NAND_ERASE ? NAND_R5 : NAND_R6;
		planes |= bit;
	}
	return NAND_NRULES;
}

static enum nand_rule broken_rule(const struct nand_array *a, uint64_t now_ns,
				  const struct nand_cmd *c, unsigned int count)
{
	enum nand_rule r;

	if (!a->powered)
		return NAND_R8;
	for (unsigned int i = 0; i < count; i++)
		if (!address_ok(a, &c[i]))
			return NAND_R0;
	if (count > 1) {
		r = broken_together(a, c, count);
		if (r != NAND_NRULES)
			return r;
	}
	if (a->die[c[0].ppn.v / a->die_pages].ready_ns > now_ns)
		return NAND_R8;
	for (unsigned int i = 0; i < count; i++) {
		r = broken_alone(a, &c[i]);
		if (r != NAND_NRULES)
			return r;
	}
	return NAND_NRULES;
}

static void refuse(struct nand_array *a, uint64_t now_ns, enum nand_rule r,
		   struct nand_cmd *c, unsigned int count)
{
	a->stats.violations[r]++;
	for (unsigned int i = 0; i < count; i++) {
		c[i].status = NAND_VIOLATION;
		c[i].page = NULL;
		c[i].start_ns = now_ns;
		c[i].done_ns = now_ns + 1;
		c[i].cell_ns = 0;
		c[i].bus_ns = 0;
		c[i].wait_host_ns = 1;
		c[i].wait_gc_ns = 0;
	}
	if (a->hooks.violation)
		a->hooks.violation(a->hooks.opaque, r, c);
}

/* ---- time --------------------------------------------------------------- */

static uint64_t transfer_ns(const struct nand_array *a, const struct nand_cmd *c)
{
	const struct nand_geometry *g = &a->base.geo;
	uint64_t bytes = 0;

	if (c->op != NAND_ERASE)
		bytes = g->oob_bytes;
	if (c->op == NAND_PROGRAM || (c->op == NAND_READ && c->ecc_words))
		bytes += g->page_bytes;
	return (bytes * a->t.bus_ps_per_byte + 999) / 1000;
}

/* Split done - start: what is neither cell nor own bus time is waiting. */
static void account_time(struct nand_array *a, struct nand_cmd *c, uint64_t cell_ns,
			 uint64_t bus_ns, uint64_t wait_gc_ns)
{
	uint64_t rest = c->done_ns - c->start_ns - cell_ns - bus_ns;

	c->cell_ns = cell_ns;
	c->bus_ns = bus_ns;
	c->wait_gc_ns = wait_gc_ns < rest ? wait_gc_ns : rest;
	c->wait_host_ns = rest - c->wait_gc_ns;
	a->stats.bus_busy_ns[c->source] += bus_ns;
}

static void time_reads(struct nand_array *a, struct bus *bus, uint64_t now_ns,
		       struct nand_cmd *c, unsigned int count)
{
	uint64_t wh = 0, wg = 0, cell_start = now_ns, cell_end;

	for (unsigned int i = 0; i < count; i++)
		cell_start = bus_book(bus, now_ns, cell_start, a->t.cmd_ns, c[i].source,
				      &wh, &wg) + a->t.cmd_ns;
	cell_end = cell_start + a->t.read_ns;
	for (unsigned int i = 0; i < count; i++) {
		uint64_t len = transfer_ns(a, &c[i]);
		uint64_t gc = wg;

		c[i].start_ns = now_ns;
		c[i].done_ns = bus_book(bus, now_ns, cell_end, len, c[i].source, &wh, &gc) + len;
		account_time(a, &c[i], a->t.read_ns, a->t.cmd_ns + len, gc);
	}
}

static void time_programs(struct nand_array *a, struct bus *bus, uint64_t now_ns,
			  struct nand_cmd *c, unsigned int count, uint64_t *cell_start)
{
	uint64_t wh = 0, wg = 0, at = now_ns;

	for (unsigned int i = 0; i < count; i++) {
		uint64_t len = a->t.cmd_ns + transfer_ns(a, &c[i]);

		at = bus_book(bus, now_ns, at, len, c[i].source, &wh, &wg) + len;
	}
	*cell_start = at;
	for (unsigned int i = 0; i < count; i++) {
		c[i].start_ns = now_ns;
		c[i].done_ns = at + a->t.program_ns;
		account_time(a, &c[i], a->t.program_ns, a->t.cmd_ns + transfer_ns(a, &c[i]), wg);
	}
}

static void time_erases(struct nand_array *a, struct bus *bus, uint64_t now_ns,
			struct nand_cmd *c, unsigned int count, uint64_t *cell_start)
{
	uint64_t wh = 0, wg = 0, at = now_ns;

	for (unsigned int i = 0; i < count; i++)
		at = bus_book(bus, now_ns, at, a->t.cmd_ns, c[i].source, &wh, &wg) + a->t.cmd_ns;
	*cell_start = at;
	for (unsigned int i = 0; i < count; i++) {
		c[i].start_ns = now_ns;
		c[i].done_ns = at + a->t.erase_ns;
		account_time(a, &c[i], a->t.erase_ns, a->t.cmd_ns, wg);
	}
}

/* ---- effects ------------------------------------------------------------ */

static void do_read(struct nand_array *a, struct nand_cmd *c, enum nand_status fault)
{
	const struct nand_geometry *g = &a->base.geo;

	c->page = NULL;
	switch (cell_get(a, c->ppn)) {
	case CELL_ERASED:
		c->status = NAND_ERASED;
		return;
	case CELL_LOST:
		c->status = NAND_UNCORR;
		a->stats.uncorrectable++;
		return;
	case CELL_GOOD:
		break;
	}
	c->status = fault;
	if (fault == NAND_UNCORR) {
		a->stats.uncorrectable++;
		return;
	}
	if (c->oob)
		memcpy(c->oob, a->oob + (size_t)c->ppn.v * g->oob_kept, g->oob_kept);
	if (c->ecc_words && a->buffer && a->buffer[c->ppn.v] != NO_BUFFER)
		c->page = buffer_at(a, a->buffer[c->ppn.v]);
}

static void do_program(struct nand_array *a, struct nand_cmd *c, enum nand_status fault,
		       struct flight *f)
{
	const struct nand_geometry *g = &a->base.geo;
	struct block *b = &a->block[geo_block_of(g, c->ppn).v];

	f->prev_next_page = b->next_page;
	b->next_page = geo_page_of(g, c->ppn) + 1;
	cell_set(a, c->ppn, CELL_GOOD);
	a->stats.programmed_pages++;
	c->status = fault;
	c->page = NULL;
	if (fault == NAND_PROG_FAIL) {
		cell_set(a, c->ppn, CELL_LOST);
		a->stats.program_fails++;
		f->failed = true;
		return;
	}
	if (c->oob)
		memcpy(a->oob + (size_t)c->ppn.v * g->oob_kept, c->oob, g->oob_kept);
	page_store(a, c->ppn, c->data);
}

/* The cells are emptied by settle(), at the end of the erase. */
static void do_erase(struct nand_array *a, struct nand_cmd *c, enum nand_status fault,
		     struct flight *f)
{
	struct block *b = &a->block[geo_block_of(&a->base.geo, c->ppn).v];

	c->status = fault;
	c->page = NULL;
	b->erases++;
	a->stats.erase_count_sum++;
	if (b->erases > a->stats.erase_count_max)
		a->stats.erase_count_max = b->erases;
	if (fault == NAND_ERASE_FAIL) {
		a->stats.erase_fails++;
		f->failed = true;
	}
}

static void wipe_block(struct nand_array *a, ppn_t first)
{
	const struct nand_geometry *g = &a->base.geo;
	struct block *b = &a->block[geo_block_of(g, first).v];
	uint32_t end = b->torn ? g->pages_per_block : b->next_page;

	for (uint32_t i = 0; i < end; i++)
		page_wipe(a, (ppn_t){ first.v + i });
	b->next_page = 0;
	b->torn = false;
}

/* The die's last group has ended: what it did is final. */
static void settle(struct nand_array *a, struct die *d)
{
	const struct nand_geometry *g = &a->base.geo;

	for (uint32_t i = 0; i < d->count; i++) {
		const struct flight *f = &d->flight[i];

		if (f->op != NAND_ERASE)
			continue;
		if (f->failed)
			a->block[geo_block_of(g, f->ppn).v].torn = true;
		else
			wipe_block(a, f->ppn);
	}
	d->count = 0;
}

static enum nand_status ask_fault(struct nand_array *a, const struct nand_cmd *c)
{
	return a->hooks.fault ? a->hooks.fault(a->hooks.opaque, c) : NAND_OK;
}

static void array_submit(struct nand *n, uint64_t now_ns, struct nand_cmd *c, unsigned int count)
{
	struct nand_array *a = array_of(n);
	struct die *d;
	struct bus *bus;
	uint64_t cell_start = 0;
	enum nand_rule r;
	uint32_t die;

	SSD_ASSERT(count >= 1 && count <= MAX_PLANES);
	SSD_ASSERT(now_ns >= a->now_ns);	/* A4 */
	a->now_ns = now_ns;

	die = c[0].ppn.v / a->die_pages;
	if (c[0].ppn.v < a->pages) {	/* an ended erase first empties its pages */
		d = &a->die[die];
		if (d->count && d->ready_ns <= now_ns)
			settle(a, d);
	}
	r = broken_rule(a, now_ns, c, count);
	if (SSD_UNLIKELY(r != NAND_NRULES)) {
		refuse(a, now_ns, r, c, count);
		return;
	}
	d = &a->die[die];
	bus = &a->bus[geo_channel_of_die(&n->geo, die)];

	switch (c[0].op) {
	case NAND_READ:
		time_reads(a, bus, now_ns, c, count);
		break;
	case NAND_PROGRAM:
		time_programs(a, bus, now_ns, c, count, &cell_start);
		break;
	case NAND_ERASE:
		time_erases(a, bus, now_ns, c, count, &cell_start);
		break;
	case NAND_NOPS:
		break;
	}
	d->count = count;
	for (unsigned int i = 0; i < count; i++) {
		struct flight *f = &d->flight[i];
		enum nand_status fault = ask_fault(a, &c[i]);

		*f = (struct flight){ c[i].op, c[i].ppn, cell_start, c[i].done_ns, 0, false };
		if (c[i].done_ns > d->ready_ns)
			d->ready_ns = c[i].done_ns;
		a->stats.ops[c[i].op][c[i].source]++;
		if (c[i].op == NAND_READ)
			do_read(a, &c[i], fault);
		else if (c[i].op == NAND_PROGRAM)
			do_program(a, &c[i], fault, f);
		else
			do_erase(a, &c[i], fault, f);
	}
	a->stats.die_busy_ns[c[0].source] += d->ready_ns - now_ns;
	if (a->hooks.done)
		a->hooks.done(a->hooks.opaque, now_ns, c, count);
}

/* ---- power -------------------------------------------------------------- */

static void tear_erase(struct nand_array *a, ppn_t first, uint64_t *coin)
{
	const struct nand_geometry *g = &a->base.geo;
	struct block *b = &a->block[geo_block_of(g, first).v];
	uint32_t whole = (uint32_t)(mix(coin) & 3u);	/* sometimes all pages agree */

	b->torn = true;
	for (uint32_t i = 0; i < g->pages_per_block; i++) {
		ppn_t p = { first.v + i };
		uint32_t fate = whole < 3 ? whole : (uint32_t)(mix(coin) % 3u);

		if (cell_get(a, p) == CELL_ERASED)
			continue;
		if (fate == 1)
			page_lose(a, p);
		else if (fate == 2)
			page_wipe(a, p);
	}
}

static void undo_program(struct nand_array *a, const struct flight *f)
{
	page_wipe(a, f->ppn);
	a->block[geo_block_of(&a->base.geo, f->ppn).v].next_page = f->prev_next_page;
}

static void cut_flight(struct nand_array *a, const struct flight *f, uint64_t at_ns,
		       uint64_t *coin)
{
	if (f->op == NAND_READ || at_ns >= f->done_ns)
		return;
	if (at_ns <= f->cell_start_ns) {
		if (f->op == NAND_PROGRAM)
			undo_program(a, f);
		return;
	}
	if (f->op == NAND_ERASE)
		tear_erase(a, f->ppn, coin);
	else if (mix(coin) & 1u)
		page_lose(a, f->ppn);
}

void nand_array_power_cut(struct nand_array *a, uint64_t at_ns, uint64_t seed)
{
	uint32_t dies = geo_dies(&a->base.geo);

	SSD_ASSERT(at_ns >= a->now_ns);
	for (uint32_t i = 0; i < dies; i++) {
		struct die *d = &a->die[i];

		if (d->ready_ns <= at_ns) {
			settle(a, d);
			continue;
		}
		for (uint32_t k = 0; k < d->count; k++)
			cut_flight(a, &d->flight[k], at_ns, &seed);
		d->count = 0;
	}
	a->powered = false;
}

void nand_array_power_on(struct nand_array *a)
{
	const struct nand_geometry *g = &a->base.geo;

	for (uint32_t i = 0; i < geo_dies(g); i++) {
		settle(a, &a->die[i]);
		a->die[i].ready_ns = 0;
	}
	for (uint32_t i = 0; i < g->channels; i++)
		a->bus[i].count = 0;
	a->now_ns = 0;
	a->powered = true;
}

/* ---- the rest of nand_ops ----------------------------------------------- */

static uint64_t array_die_ready_ns(const struct nand *n, uint32_t die)
{
	return array_of(n)->die[die].ready_ns;
}

static bool array_is_bad(const struct nand *n, pbn_t b)
{
	return array_of(n)->block[b.v].bad;
}

static void array_mark_bad(struct nand *n, pbn_t b)
{
	array_of(n)->block[b.v].bad = true;
}

static uint32_t array_erase_count(const struct nand *n, pbn_t b)
{
	return array_of(n)->block[b.v].erases;
}

static void array_get_stats(const struct nand *n, struct nand_stats *out)
{
	*out = array_of(n)->stats;
}

static void array_reset_stats(struct nand *n)
{
	struct nand_array *a = array_of(n);
	struct nand_stats kept = a->stats;

	memset(&a->stats, 0, sizeof(a->stats));
	a->stats.programmed_pages = kept.programmed_pages;
	a->stats.erase_count_max = kept.erase_count_max;
	a->stats.erase_count_sum = kept.erase_count_sum;
}

static enum nand_status array_peek(const struct nand *n, ppn_t p, const void **data,
				   const void **oob)
{
	const struct nand_array *a = array_of(n);

	if (data)
		*data = NULL;
	if (oob)
		*oob = NULL;
	if (cell_get(a, p) == CELL_ERASED)
		return NAND_ERASED;
	if (cell_get(a, p) == CELL_LOST)
		return NAND_UNCORR;
	if (oob)
		*oob = a->oob + (size_t)p.v * n->geo.oob_kept;
	if (data && a->buffer && a->buffer[p.v] != NO_BUFFER)
		*data = buffer_at(a, a->buffer[p.v]);
	return NAND_OK;
}

static const struct nand_ops array_ops = {
	.submit = array_submit,
	.die_ready_ns = array_die_ready_ns,
	.is_bad = array_is_bad,
	.mark_bad = array_mark_bad,
	.erase_count = array_erase_count,
	.get_stats = array_get_stats,
	.reset_stats = array_reset_stats,
	.peek = array_peek,
};

/* ---- building ----------------------------------------------------------- */

static bool within(uint32_t v, uint32_t low, uint32_t high)
{
	return v >= low && v <= high;
}

int nand_array_validate(const struct nand_array_config *c, const char **why)
{
	const struct nand_geometry *g = &c->geo;

	*why = NULL;
	if (!within(g->channels, 1, 64))
		*why = "channels must be 1 .. 64";
	else if (!within(g->chips_per_channel, 1, 64))
		*why = "chips_per_channel must be 1 .. 64";
	else if (!within(g->dies_per_chip, 1, 16))
		*why = "dies_per_chip must be 1 .. 16";
	else if (!within(g->planes_per_die, 1, MAX_PLANES))
		*why = "planes_per_die must be 1 .. 8";
	else if (!within(g->blocks_per_plane, 4, 1u << 20))
		*why = "blocks_per_plane must be 4 .. 1048576";
	else if (!within(g->pages_per_block, 2, 65536))
		*why = "pages_per_block must be 2 .. 65536";
	else if (!within(g->page_bytes, 512, 65536) || g->page_bytes % 512)
		*why = "page_bytes must be a multiple of 512, 512 .. 65536";
	else if (!within(g->oob_bytes, 1, 65536) || g->oob_kept > g->oob_bytes)
		*why = "oob_bytes must hold what the FTL keeps there; raise oob_bytes";
	else if (g->pb_levels != 0)
		*why = "pb_levels must be 0: this array has no partial erase yet";
	else if (g->erase_group_max != 1)
		*why = "erase_group_max must be 1: this array has no parallel erase yet";
	else if (geo_pages(g) >= 1ull << 31)
		*why = "the array may have at most 2^31 pages; use fewer or larger pages";
	else if (!c->timing.read_ns || !c->timing.program_ns || !c->timing.erase_ns)
		*why = "read, program and erase times must be at least 1 ns";
	else if (c->payload_pages && c->payload_pages != geo_pages(g))
		*why = "the payload pool must hold every page, or none";
	return *why ? SSD_E_INVAL : SSD_OK;
}

static size_t cell_bytes(const struct nand_geometry *g)
{
	return (geo_pages(g) + 3) / 4;
}

static size_t lay_out(struct nand_array *a, struct ssd_arena *m, const struct nand_array_config *c)
{
	const struct nand_geometry *g = &c->geo;
	struct bus_booking *book;
	uint32_t per_channel = 2 * geo_dies_per_channel(g) * g->planes_per_die;
	struct nand_array at;

	at.block = ssd_carve(m, geo_blocks(g), sizeof(*at.block));
	at.cells = ssd_carve(m, cell_bytes(g), 1);
	at.oob = ssd_carve(m, geo_pages(g), g->oob_kept);
	at.buffer = ssd_carve(m, c->payload_pages, sizeof(*at.buffer));
	at.die = ssd_carve(m, geo_dies(g), sizeof(*at.die));
	at.bus = ssd_carve(m, g->channels, sizeof(*at.bus));
	book = ssd_carve(m, (size_t)g->channels * per_channel, sizeof(*book));
	if (a) {
		a->block = at.block;
		a->cells = at.cells;
		a->oob = at.oob;
		a->buffer = c->payload_pages ? at.buffer : NULL;
		a->die = at.die;
		a->bus = at.bus;
		for (uint32_t i = 0; i < g->channels; i++)
			a->bus[i] = (struct bus){ book + (size_t)i * per_channel, 0, per_channel };
	}
	return m->used;
}

size_t nand_array_footprint(const struct nand_array_config *c)
{
	struct ssd_arena m = { NULL, sizeof(struct nand_array) };

	return lay_out(NULL, &m, c);
}

size_t nand_array_pool_bytes(const struct nand_array_config *c)
{
	return (size_t)c->payload_pages * c->geo.page_bytes;
}

struct nand *nand_array_init(void *mem, void *pool, const struct nand_array_config *c)
{
	struct nand_array *a = mem;
	struct ssd_arena m = { mem, sizeof(*a) };
	const char *why;

	SSD_ASSERT(nand_array_validate(c, &why) == SSD_OK);
	SSD_ASSERT(!pool == !c->payload_pages);
	a->base.ops = &array_ops;
	a->base.geo = c->geo;
	a->t = c->timing;
	a->pool = pool;
	a->pool_pages = (uint32_t)c->payload_pages;
	a->pages = (uint32_t)geo_pages(&c->geo);
	a->die_pages = a->pages / geo_dies(&c->geo);
	a->spare = NO_BUFFER;
	a->powered = true;
	lay_out(a, &m, c);
	if (a->buffer)
		memset(a->buffer, 0xff, (size_t)c->payload_pages * sizeof(*a->buffer));
	return &a->base;
}

void nand_array_set_hooks(struct nand_array *a, const struct nand_hooks *h)
{
	a->hooks = *h;
}

void nand_array_copy(struct nand_array *dst, const struct nand_array *src)
{
	const struct nand_geometry *g = &src->base.geo;

	SSD_ASSERT(!memcmp(&dst->base.geo, g, sizeof(*g)) && dst->pool_pages == src->pool_pages);
	dst->t = src->t;
	dst->stats = src->stats;
	dst->now_ns = src->now_ns;
	dst->powered = src->powered;
	dst->spare = src->spare;
	dst->pool_high = src->pool_high;
	memcpy(dst->block, src->block, geo_blocks(g) * sizeof(*dst->block));
	memcpy(dst->cells, src->cells, cell_bytes(g));
	memcpy(dst->oob, src->oob, geo_pages(g) * g->oob_kept);
	memcpy(dst->die, src->die, geo_dies(g) * sizeof(*dst->die));
	for (uint32_t i = 0; i < g->channels; i++) {
		dst->bus[i].count = src->bus[i].count;
		memcpy(dst->bus[i].book, src->bus[i].book,
		       src->bus[i].count * sizeof(*src->bus[i].book));
	}
	if (!src->buffer)
		return;
	memcpy(dst->buffer, src->buffer, geo_pages(g) * sizeof(*dst->buffer));
	memcpy(dst->pool, src->pool, (size_t)src->pool_high * g->page_bytes);
}
