// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dac_die.c - the DAC FTL: what a die does next, and host pages.
 *
 * A die does one command at a time. Reads go first, at most eight in a row while a page
 * waits to be programmed or GC is urgent. Sliced GC goes first for gc_slice_pages
 * commands after a host page, and while the host may not have a block; and it uses an idle die.
 * Blocking GC goes before everything.
 */
#include "dac.h"

void dac_command(struct dac *d, struct nand_cmd *c)
{
	nand_submit(d->n, d->now_ns, c, 1);
	SSD_ASSERT(c->status != NAND_VIOLATION);
}

void dac_die_start(struct dac *d, struct dac_die *x, enum dac_cmd cmd, uint64_t until_ns)
{
	SSD_ASSERT(x->cmd == DAC_IDLE && until_ns > d->now_ns);
	x->cmd = cmd;
	x->ready_ns = until_ns;
	if (cmd != DAC_CMD_READ && cmd != DAC_CMD_PROGRAM)
		x->gc_ns += until_ns - d->now_ns;
	die_heap_push(&d->heap, until_ns, (uint32_t)(x - d->die));
	d->stirred = true;
}

uint64_t dac_gc_clock(const struct dac *d, const struct dac_die *x)
{
	bool gc_now = x->cmd != DAC_IDLE && x->cmd != DAC_CMD_READ && x->cmd != DAC_CMD_PROGRAM &&
		      x->ready_ns > d->now_ns;

	return x->gc_ns - (gc_now ? x->ready_ns - d->now_ns : 0);
}

/* ---- frontiers ------------------------------------------------------------------- */

/* The die's first free block may be half erased. */
static void prepare(struct dac *d, struct dac_die *x, enum nand_source source)
{
	struct nand_cmd c = { .op = NAND_ERASE, .source = source, .pb = NAND_WHOLE_BLOCK };

	c.ppn.v = x->free_first * d->g->pages_per_block;
	dac_command(d, &c);
	x->prepare_failed = c.status == NAND_ERASE_FAIL;
	dac_die_start(d, x, DAC_CMD_PREPARE, c.done_ns);
}

static void take(struct dac *d, struct dac_die *x, uint32_t *block)
{
	struct dac_block *b = &d->block[x->free_first];

	*block = x->free_first;
	x->free_first = b->next;
	x->free_count--;
	b->state = DAC_B_OPEN;
	b->next_page = 0;
	dac_gc_wanted(d, x);
}

static void prepared(struct dac *d, struct dac_die *x)
{
	uint32_t block = x->free_first;

	d->block[block].needs_erase = false;
	if (!x->prepare_failed)
		return;
	take(d, x, &block);
	dac_put_bad(d, block);
}

uint32_t dac_frontier(struct dac *d, struct dac_die *x, uint32_t *block, uint32_t reserve,
		      enum nand_source source)
{
	if (*block == DAC_NONE) {
		if (x->free_count <= reserve)
			return DAC_NONE;
		if (d->block[x->free_first].needs_erase) {
			prepare(d, x, source);
			return DAC_NONE;
		}
		take(d, x, block);
	}
	return *block * d->g->pages_per_block + d->block[*block].next_page;
}

/* The program of the frontier's page has ended. */
void dac_advance(struct dac *d, uint32_t *frontier, uint32_t ppn)
{
	struct dac_block *b = &d->block[*frontier];

	SSD_ASSERT(ppn == *frontier * d->g->pages_per_block + b->next_page);
	if (++b->next_page < d->g->pages_per_block)
		return;
	b->state = DAC_B_FULL;
	*frontier = DAC_NONE;
}

/* It failed: what the block holds stays readable, and is moved when there is room. */
void dac_retire(struct dac *d, struct dac_die *x, uint32_t *frontier, uint32_t ppn)
{
	struct dac_block *b = &d->block[*frontier];

	SSD_ASSERT(ppn == *frontier * d->g->pages_per_block + b->next_page);
	b->state = DAC_B_FULL;
	b->retire = true;
	x->retiring++;
	*frontier = DAC_NONE;
	x->no_victim = false;
	dac_gc_wanted(d, x);
}

/* ---- host pages ------------------------------------------------------------------- */

/* Is everything on flash that was closed up to number `after`? */
static bool is_on_flash(const struct dac *d, uint64_t after)
{
	for (uint32_t i = 0; after && i < d->slots; i++)
		if (d->slot[i].state >= DAC_S_CLOSED && d->slot[i].closed <= after)
			return false;
	return true;
}

/* The oldest page that may be programmed now. */
static uint32_t ready_slot(const struct dac *d)
{
	uint32_t best = DAC_NONE;

	for (uint32_t i = 0; i < d->slots; i++)
		if (d->slot[i].state == DAC_S_CLOSED &&
		    (best == DAC_NONE || d->slot[i].closed < d->slot[best].closed) &&
		    is_on_flash(d, d->slot[i].after))
			best = i;
	return best;
}

static bool has_room(const struct dac *d, const struct dac_die *x)
{
	return x->live_pages < dac_die_room(d, x) &&
	       (x->host_block != DAC_NONE || x->free_count > d->c.gc_urgent_blocks);
}

static void program(struct dac *d, struct dac_die *x, uint32_t slot, uint32_t ppn)
{
	struct dac_slot *s = &d->slot[slot];
	struct dac_oob oob = { .kind = s->raw ? DAC_WHOLE : DAC_PACKED, .serial = ++d->serial,
			       .collected = DAC_NONE };
	struct nand_cmd c = { .op = NAND_PROGRAM, .source = NAND_SRC_HOST, .ppn = { ppn },
			      .data = s->fill.data, .oob = d->oob };

	if (s->raw)
		oob.entry = s->fill.entry[0];
	dac_put_oob(d->oob, &oob);
	dac_command(d, &c);
	s->state = DAC_S_FLIGHT;
	d->closed_slots--;
	s->ppn = ppn;
	s->failed = c.status == NAND_PROG_FAIL;
	x->slot = slot;
	x->flight = true;
	x->reads_in_row = 0;
	if (d->c.gc_mode == FTL_GC_SLICED)
		x->gc_credit = d->c.gc_slice_pages;
	d->rr = (uint32_t)(x - d->die + 1) % d->dies;
	d->stats.host_pages++;
	dac_die_start(d, x, DAC_CMD_PROGRAM, c.done_ns);
}

/* The unit's version is on flash: the map changes, unless a later one is there already. */
static void landed(struct dac *d, const struct dac_entry *e, uint32_t unit, uint32_t ppn)
{
	bool newer = e->seq > d->unit_seq[e->lpn];

	if (e->kind == DAC_LINK) {
		if (newer) {
			dac_live_add(d, ppn, dac_cost(DAC_LINK, 0, d->unit_bytes));
			dac_map_set(d, e->lpn, e->ref, ppn, e->seq);
		} else {
			dac_unshare(d, e->ref);
		}
	} else {
		struct dac_obj *o = &d->obj[e->obj];

		o->ppn = ppn;
		o->unit = DAC_NONE;
		dac_live_add(d, ppn, dac_object_cost(d, o));
		if (newer)
			dac_map_set(d, e->lpn, e->obj, DAC_NONE, e->seq);
		else
			dac_obj_put(d, e->obj);
	}
	d->stats.host_units++;
	dac_unit_free(d, unit);
}

static void programmed(struct dac *d, struct dac_die *x)
{
	struct dac_slot *s = &d->slot[x->slot];

	x->flight = false;
	if (s->failed) {
		s->state = DAC_S_CLOSED;
		d->closed_slots++;
		dac_retire(d, x, &x->host_block, s->ppn);
		return;
	}
	dac_advance(d, &x->host_block, s->ppn);
	for (uint32_t i = 0; i < s->fill.count; i++)
		landed(d, &s->fill.entry[i], s->unit[i], s->ppn);
	s->state = DAC_S_FREE;
}

/* ---- reads --------------------------------------------------------------------------- */

void dac_enqueue(struct dac *d, uint32_t op, uint32_t ppn)
{
	struct dac_die *x = dac_die_of_page(d, ppn);

	d->op[op].gc_mark = dac_gc_clock(d, x);
	d->op[op].next = DAC_NONE;
	if (x->read_first == DAC_NONE)
		x->read_first = op;
	else
		d->op[x->read_last].next = op;
	x->read_last = op;
	d->stirred = true;
}

static void read_go(struct dac *d, struct dac_die *x)
{
	struct dac_op *o = &d->op[x->read_first];
	struct nand_cmd c = { .op = NAND_READ, .source = NAND_SRC_HOST, .ecc_words = NAND_WHOLE_PAGE,
			      .ppn = { d->obj[o->reading].ppn } };

	SSD_ASSERT(c.ppn.v != DAC_NONE);
	x->op = x->read_first;
	x->read_first = o->next;
	x->reads_in_row++;
	o->gc_ns += dac_gc_clock(d, x) - o->gc_mark;
	dac_command(d, &c);
	o->cell_ns += c.cell_ns;
	o->bus_ns += c.bus_ns;
	o->wait_gc_ns += c.wait_gc_ns;
	x->page = dac_readable(c.status) ? c.page : NULL;
	dac_die_start(d, x, DAC_CMD_READ, c.done_ns);
}

/* ---- the die's turn ---------------------------------------------------------------------- */

void dac_die_complete(struct dac *d, uint32_t die)
{
	struct dac_die *x = &d->die[die];
	enum dac_cmd cmd = x->cmd;

	x->cmd = DAC_IDLE;
	d->stirred = true;
	switch (cmd) {
	case DAC_CMD_READ:
		dac_read_ended(d, x->op, x->page);
		return;
	case DAC_CMD_PROGRAM:
		programmed(d, x);
		return;
	case DAC_CMD_PREPARE:
		prepared(d, x);
		return;
	case DAC_CMD_GC_READ:
	case DAC_CMD_GC_PROGRAM:
	case DAC_CMD_GC_ERASE:
		dac_gc_complete(d, x, cmd);
		return;
	case DAC_IDLE:
		break;
	}
	SSD_ASSERT(!"an idle die ended a command");
}

static bool program_go(struct dac *d, struct dac_die *x, uint32_t slot)
{
	uint32_t ppn = dac_frontier(d, x, &x->host_block, d->c.gc_urgent_blocks, NAND_SRC_META);

	if (ppn != DAC_NONE)
		program(d, x, slot, ppn);
	return x->cmd != DAC_IDLE;
}

static bool gc_go(struct dac *d, struct dac_die *x)
{
	if (!x->gc_active || !dac_gc_turn(d, x))
		return false;
	if (x->gc_credit)
		x->gc_credit--;
	return true;
}

static void turn(struct dac *d, struct dac_die *x)
{
	uint32_t slot = d->closed_slots && has_room(d, x) ? ready_slot(d) : DAC_NONE;
	bool blocking = d->c.gc_mode == FTL_GC_BLOCKING;
	bool due = x->gc_active && (blocking || x->gc_credit ||
				    x->free_count <= d->c.gc_urgent_blocks);
	bool enough = x->reads_in_row >= DAC_READS_IN_ROW && (due || slot != DAC_NONE);

	if (blocking && gc_go(d, x))
		return;
	if (x->read_first != DAC_NONE && !enough) {
		read_go(d, x);
		return;
	}
	x->reads_in_row = 0;
	if (due && gc_go(d, x))
		return;
	if (slot != DAC_NONE && program_go(d, x, slot))
		return;
	if (x->read_first != DAC_NONE)
		read_go(d, x);
	else
		(void)gc_go(d, x);
}

void dac_dispatch(struct dac *d)
{
	for (uint32_t i = 0, first = d->rr; i < d->dies; i++) {
		struct dac_die *x = &d->die[(first + i) % d->dies];

		if (x->cmd == DAC_IDLE)
			turn(d, x);
	}
}
