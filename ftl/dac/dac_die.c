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
#include "dac_die.h"
#include "dac_front.h"
#include "dac_gc.h"
#include "dac_pick.h"
#include "dac_read.h"
#include "dac_rescue.h"
#include "dac_store.h"
#include "dac_write.h"

/* ---- host pages ------------------------------------------------------------------- */

/* Are all slots that were closed up to number `after` on flash? */
static bool is_on_flash(const struct dac *d, uint64_t after)
{
	for (uint32_t i = 0; after && i < d->pages.slots; i++)
		if (d->pages.slot[i].state >= DAC_S_CLOSED && d->pages.slot[i].closed <= after)
			return false;
	return true;
}

/* Returns the oldest closed slot that may be programmed now. */
static uint32_t ready_slot(const struct dac *d)
{
	uint32_t best = DAC_NONE;

	for (uint32_t i = 0; i < d->pages.slots; i++)
		if (d->pages.slot[i].state == DAC_S_CLOSED &&
		    (best == DAC_NONE || d->pages.slot[i].closed < d->pages.slot[best].closed) &&
		    is_on_flash(d, d->pages.slot[i].after))
			best = i;
	return best;
}

static bool has_room(const struct dac *d, const struct dac_die *x)
{
	return x->live_pages < dac_die_room(d, x) && dac_ask_frontier(d, x, FRONT_HOST) != FRONT_NONE;
}

static void program(struct dac *d, struct dac_die *x, uint32_t slot, uint32_t ppn)
{
	struct dac_slot *s = &d->pages.slot[slot];
	struct dac_oob oob = { .kind = s->raw ? DAC_WHOLE : DAC_PACKED, .serial = ++d->serial,
			       .collected = DAC_NONE };
	struct nand_cmd c = { .op = NAND_PROGRAM, .source = NAND_SRC_HOST, .ppn = { ppn },
			      .data = s->fill.data, .oob = d->oob };

	if (s->raw)
		oob.entry = s->fill.entry[0];
	dac_set_oob(d, &oob);
	front_cover(&d->fr, dac_plane_of(d, x), ppn, s->fill.data, d->oob);
	die_command(d->host.n, d->host.now_ns, &c, 1);
	s->state = DAC_S_FLIGHT;
	d->pages.closed_slots--;
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
	bool newer = e->seq > d->maps.unit_seq[e->lpn];

	if (e->kind == DAC_LINK) {
		if (newer) {
			dac_live_add(d, ppn, dac_cost(DAC_LINK, 0, d->unit_bytes));
			dac_map_set(d, e->lpn, e->ref, ppn, e->seq);
		} else {
			dac_unshare(d, e->ref);
		}
	} else {
		struct dac_obj *o = &d->objs.obj[e->obj];

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
	struct dac_slot *s = &d->pages.slot[x->slot];

	x->flight = false;
	if (s->failed) {
		s->state = DAC_S_CLOSED;
		d->pages.closed_slots++;
		dac_retire(d, x, s->ppn);
		return;
	}
	for (uint32_t i = 0; i < s->fill.count; i++)
		map_programmed(d, &s->fill.entry[i], s->unit[i], s->ppn);
	s->state = DAC_S_FREE;
}

/* ---- reads --------------------------------------------------------------------------- */

static void read_go(struct dac *d, struct dac_die *x)
{
	struct dac_op *o = &d->read.op[x->read_first];
	struct nand_cmd c = { .op = NAND_READ, .source = NAND_SRC_HOST, .ecc_words = NAND_WHOLE_PAGE,
			      .ppn = { d->objs.obj[o->reading].ppn } };

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
		dac_prepare_complete(d, x);
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
	bool owes = d->fr.plane[dac_plane_of(d, x)].debt != BLK_NONE && !d->host.frozen;
	uint32_t slot = !held && d->pages.closed_slots && has_room(d, x) ? ready_slot(d) : DAC_NONE;
	bool blocking = d->host.c.gc_mode == FTL_GC_BLOCKING;
	bool due = x->gc_active && (blocking || x->turn.gc_credit || dac_free_of(d, x)->free_count <= d->gc.urgent);
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
