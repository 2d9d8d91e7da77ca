// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dac_die.c - the DAC FTL: the choice of a die's next command, and host pages.
 *
 * A die does one command at a time. Reads go first, but at most eight in a row while a page waits
 * to be programmed or GC is urgent. Sliced GC goes first for gc_slice_pages commands after a host
 * page, and while the host may not take a block; it also uses an idle die. Blocking GC goes before
 * everything. A parity page that the die owes, and a page that a mount rebuilt, are programmed
 * before other pages.
 */
#include "dac.h"

static bool is_gc(enum dac_cmd cmd)
{
	return cmd != DAC_IDLE && cmd != DAC_CMD_READ && cmd != DAC_CMD_PROGRAM && cmd != DAC_CMD_BACKUP;
}

void dac_die_start(struct dac *d, struct dac_die *x, enum dac_cmd cmd, uint64_t until_ns)
{
	SSD_ASSERT(x->cmd == DAC_IDLE);
	x->cmd = cmd;
	die_begin(&d->ends, (uint32_t)(x - d->die), &x->turn, is_gc(cmd), d->host.now_ns, until_ns);
	d->more_to_do = true;
}

uint64_t dac_gc_clock(const struct dac *d, const struct dac_die *x)
{
	return die_gc_clock(&x->turn, is_gc(x->cmd), d->host.now_ns);
}

/* ---- frontiers ------------------------------------------------------------------- */

static uint32_t plane_of(const struct dac *d, const struct dac_die *x)
{
	return (uint32_t)(x - d->die);
}

/* Erase the die's first free block, which may be half erased. */
static void prepare(struct dac *d, struct dac_die *x)
{
	struct nand_cmd c = { .op = NAND_ERASE, .source = NAND_SRC_META, .pb = NAND_WHOLE_BLOCK };

	c.ppn.v = dac_free_of(d, x)->free_head * d->g->pages_per_block;
	die_command(d->host.n, d->host.now_ns, &c, 1);
	x->prepare_failed = c.status == NAND_ERASE_FAIL;
	dac_die_start(d, x, DAC_CMD_PREPARE, c.done_ns);
}

static void prepared(struct dac *d, struct dac_die *x)
{
	uint32_t block = dac_free_of(d, x)->free_head;

	d->bt.blk[block].needs_erase = false;
	if (!x->prepare_failed)
		return;
	blk_take_free(&d->bt, plane_of(d, x));
	dac_gc_wanted(d, x);
	dac_put_bad(d, block);
}

bool dac_prepared(struct dac *d, struct dac_die *x)
{
	if (!d->bt.blk[dac_free_of(d, x)->free_head].needs_erase)
		return true;
	prepare(d, x);
	return false;
}

/*
 * Choose the host's page if host and GC share blocks and fewer than the reserve are free. The host may then use only
 * MSB pages, and only while GC finds no victim: they fill blocks, and full blocks become victims.
 */
static uint32_t ask_scarce(const struct dac *d, uint32_t plane, const struct dac_die *x)
{
	struct front_ask q = { .who = FRONT_GC };
	uint32_t slot = x->no_victim ? d->fr.c.policy->pick(&d->fr, plane, &q) : FRONT_NONE;

	return slot != FRONT_NONE && !front_next_fast(&d->fr, d->fr.plane[plane].open[slot]) ? slot :
											     FRONT_NONE;
}

/* Returns the share of the write buffer that is in use: of its units, or, if it holds compressed data, of its slots. */
static uint32_t busy_permille(const struct dac *d)
{
	uint32_t used = 0;

	if (d->host.c.buffer_units)
		return (uint32_t)((uint64_t)d->buf_used * 1000 / d->host.c.buffer_units);
	for (uint32_t i = 0; i < d->slots; i++)
		used += d->slot[i].state != DAC_S_FREE;
	return used * 1000 / d->slots;
}

/* Ask the frontiers for the slot of the next page; FRONT_NONE: there is none. */
static uint32_t ask_frontier(const struct dac *d, const struct dac_die *x, enum frontier who)
{
	uint32_t reserve = who == FRONT_HOST ? d->urgent : 0, free = dac_free_of(d, x)->free_count;
	struct front_ask q = { .who = who, .may_open = free > reserve };

	if (d->fr.c.policy->shared && free < reserve)
		return ask_scarce(d, plane_of(d, x), x);
	q.busy_permille = busy_permille(d);
	return d->fr.c.policy->pick(&d->fr, plane_of(d, x), &q);
}

/*
 * Take a page of a word line. A block that becomes full may be the first victim for GC, because many
 * blocks may be open.
 */
static uint32_t take_paired(struct dac *d, struct dac_die *x, uint32_t slot, enum frontier who)
{
	uint32_t ppn = front_take_paired(&d->fr, plane_of(d, x), slot, who);

	if (d->bt.blk[dac_block_of(d, ppn)].state == BLK_FULL) {
		x->no_victim = false;
		dac_gc_wanted(d, x);
	}
	return ppn;
}

uint32_t dac_frontier(struct dac *d, struct dac_die *x, enum frontier who)
{
	uint32_t plane = plane_of(d, x), slot;

	if (d->fr.plane[plane].debt != BLK_NONE) {
		(void)dac_backup_turn(d, x);
		return DAC_NONE;
	}
	slot = ask_frontier(d, x, who);
	if (slot == FRONT_NONE)
		return DAC_NONE;
	if (d->fr.plane[plane].open[slot] == BLK_NONE) {
		if (!dac_prepared(d, x))
			return DAC_NONE;
		front_open(&d->fr, plane, slot);
		dac_gc_wanted(d, x);
	}
	return d->fr.plain ? front_take(&d->fr, plane, slot) : take_paired(d, x, slot, who);
}

/*
 * Retire the block of a failed program. Its content stays readable and is moved when there is room.
 */
void dac_retire(struct dac *d, struct dac_die *x, uint32_t ppn)
{
	uint32_t block = dac_block_of(d, ppn);

	front_drop(&d->fr, block);
	blk_retire(&d->bt, block);
	x->no_victim = false;
	dac_gc_wanted(d, x);
}

/* ---- host pages ------------------------------------------------------------------- */

/* Are all slots that were closed up to number `after` on flash? */
static bool is_on_flash(const struct dac *d, uint64_t after)
{
	for (uint32_t i = 0; after && i < d->slots; i++)
		if (d->slot[i].state >= DAC_S_CLOSED && d->slot[i].closed <= after)
			return false;
	return true;
}

/* Returns the oldest closed slot that may be programmed now. */
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
	return x->live_pages < dac_die_room(d, x) && ask_frontier(d, x, FRONT_HOST) != FRONT_NONE;
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
	dac_set_oob(d, &oob);
	front_cover(&d->fr, plane_of(d, x), ppn, s->fill.data, d->oob);
	die_command(d->host.n, d->host.now_ns, &c, 1);
	s->state = DAC_S_FLIGHT;
	d->closed_slots--;
	s->ppn = ppn;
	s->failed = c.status == NAND_PROG_FAIL;
	x->slot = slot;
	x->flight = true;
	x->turn.reads_in_row = 0;
	if (d->host.c.gc_mode == FTL_GC_SLICED)
		x->turn.gc_credit = d->host.c.gc_slice_pages;
	d->rr = (uint32_t)(x - d->die + 1) % d->dies;
	d->host.stats.host_pages++;
	dac_die_start(d, x, DAC_CMD_PROGRAM, c.done_ns);
}

/* The unit's version is on flash: change the map, unless the map already has a later version. */
static void map_programmed(struct dac *d, const struct dac_entry *e, uint32_t unit, uint32_t ppn)
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
	d->host.stats.host_units++;
	dac_unit_free(d, unit);
}

static void programmed(struct dac *d, struct dac_die *x)
{
	struct dac_slot *s = &d->slot[x->slot];

	x->flight = false;
	if (s->failed) {
		s->state = DAC_S_CLOSED;
		d->closed_slots++;
		dac_retire(d, x, s->ppn);
		return;
	}
	for (uint32_t i = 0; i < s->fill.count; i++)
		map_programmed(d, &s->fill.entry[i], s->unit[i], s->ppn);
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
	d->more_to_do = true;
}

static void read_go(struct dac *d, struct dac_die *x)
{
	struct dac_op *o = &d->op[x->read_first];
	struct nand_cmd c = { .op = NAND_READ, .source = NAND_SRC_HOST, .ecc_words = NAND_WHOLE_PAGE,
			      .ppn = { d->obj[o->reading].ppn } };

	SSD_ASSERT(c.ppn.v != DAC_NONE);
	x->op = x->read_first;
	x->read_first = o->next;
	x->turn.reads_in_row++;
	o->gc_ns += dac_gc_clock(d, x) - o->gc_mark;
	die_command(d->host.n, d->host.now_ns, &c, 1);
	o->cell_ns += c.cell_ns;
	o->bus_ns += c.bus_ns;
	o->wait_gc_ns += c.wait_gc_ns;
	x->page = survey_readable(c.status) ? c.page : dac_rebuilt(d, c.ppn.v);
	dac_die_start(d, x, DAC_CMD_READ, c.done_ns);
}

/* ---- the die's turn ---------------------------------------------------------------------- */

void dac_die_complete(struct dac *d, uint32_t die)
{
	struct dac_die *x = &d->die[die];
	enum dac_cmd cmd = x->cmd;

	x->cmd = DAC_IDLE;
	d->more_to_do = true;
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
	case DAC_CMD_BACKUP:
		dac_backup_complete(d, x);
		return;
	case DAC_CMD_RESCUE:
		dac_rescue_complete(d, x);
		return;
	case DAC_IDLE:
		break;
	}
	SSD_ASSERT(!"an idle die ended a command");
}

static bool program_go(struct dac *d, struct dac_die *x, uint32_t slot)
{
	uint32_t ppn = dac_frontier(d, x, FRONT_HOST);

	if (ppn != DAC_NONE)
		program(d, x, slot, ppn);
	return x->cmd != DAC_IDLE;
}

static bool gc_go(struct dac *d, struct dac_die *x)
{
	return x->gc_active && dac_gc_turn(d, x);
}

static void turn(struct dac *d, struct dac_die *x)
{
	bool held = x->lost != DAC_NONE && !d->host.frozen;
	bool owes = d->fr.plane[plane_of(d, x)].debt != BLK_NONE && !d->host.frozen;
	uint32_t slot = !held && d->closed_slots && has_room(d, x) ? ready_slot(d) : DAC_NONE;
	bool blocking = d->host.c.gc_mode == FTL_GC_BLOCKING;
	bool due = x->gc_active && (blocking || x->turn.gc_credit || dac_free_of(d, x)->free_count <= d->urgent);
	bool enough = die_reads_enough(&x->turn, &d->host.c) && (due || held || owes || slot != DAC_NONE);

	if (blocking && gc_go(d, x))
		return;
	if (x->read_first != DAC_NONE && !enough) {
		read_go(d, x);
		return;
	}
	x->turn.reads_in_row = 0;
	if ((held && dac_rescue_turn(d, x)) || (owes && dac_backup_turn(d, x)))
		return;
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
