// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * zns_die.c - gives an idle die its next command: a read (at most reads_in_row in a row while something else waits),
 * else one of the log, else a program or an erase. An erase follows an erase only if there is no program. A die is
 * looked at when its command has ended, and when its `look` is set, because there may be something for it to do.
 */
#include "zns_die.h"
#include "zns_buf.h"
#include "zns_issue.h"
#include "zns_log.h"
#include "zns_read.h"
#include "zns_state.h"
#include "zns_window.h"
#include "zns_zone.h"

/* ---- prepared blocks ---- */

static void prepared(struct zns *z, uint32_t die)
{
	struct zns_die *x = &z->die[die];

	for (uint32_t p = 0; p < z->g->planes_per_die; p++) {
		uint32_t plane = die * z->g->planes_per_die + p, b = z->pool.plane[plane].free_first;

		if (!(x->planes >> p & 1))
			continue;
		z->pool.block[b].needs_erase = false;
		if (x->failed >> p & 1)
			pool_put_bad(&z->pool, &z->host, pool_take(&z->pool, plane));
	}
}

/* ---- programs ---- */

/*
 * Find blocks for the die's pages of a buffer that are ready. Returns a bitmap of planes; *unclean: of those
 * whose block must be erased first.
 */
static uint32_t find_blocks(struct zns *z, uint32_t die, uint32_t buf, uint32_t slot, uint32_t *unclean)
{
	const struct zns_buf *b = &z->buf[buf];
	uint32_t ready = 0;

	*unclean = 0;
	for (uint32_t p = 0; p < z->g->planes_per_die; p++) {
		const struct zns_cell *cell = &b->cell[slot + p];
		uint32_t plane = die * z->g->planes_per_die + p, *block;

		if (cell->state != ZNS_READY)
			continue;
		block = zns_block_of(z, b->zone, cell->page);
		if (*block == ZNS_NONE) {
			if (z->pool.plane[plane].free_first == ZNS_NONE) {
				zns_zone_fails(z, b->zone);
				return 0;
			}
			if (z->pool.block[z->pool.plane[plane].free_first].needs_erase)
				*unclean |= 1u << p;
			else
				*block = pool_take(&z->pool, plane);
		}
		ready |= 1u << p;
	}
	return ready;
}

static void fill_program(struct zns *z, struct nand_cmd *c, const struct zns_buf *b, uint32_t slot, uint8_t *oob)
{
	struct zns_cell *cell = &b->cell[slot];
	const struct zns_oob o = {
		.kind = ZNS_DATA | (cell->end ? ZNS_END : 0), .zone = b->zone, .gen = z->zone[b->zone].gen,
		.page = cell->page, .sectors = (uint16_t)cell->sectors,
	};

	zns_oob_put(oob, &o);
	nand_fill_program(c, NAND_SRC_HOST, zns_ppn(z, *zns_block_of(z, b->zone, cell->page), cell->page), oob);
	c->data = zns_cell_data(z, b, slot);
	cell->state = ZNS_FLYING;
}

static bool program(struct zns *z, uint32_t die, uint32_t buf, uint32_t slot)
{
	struct zns_die *x = &z->die[die];
	const struct zns_buf *b = &z->buf[buf];
	struct nand_cmd c[NAND_PLANES_MAX];
	uint32_t unclean, ready = find_blocks(z, die, buf, slot, &unclean);
	unsigned int count = 0;

	if (!ready)
		return false;
	if (unclean) {
		zns_prepare_planes(z, die, unclean);
		return true;
	}
	for (uint32_t p = 0; p < z->g->planes_per_die; p++)
		if (ready >> p & 1) {
			fill_program(z, &c[count], b, slot + p, z->oob[p]);
			count++;
		}
	z->zone[b->zone].on_flash = true;
	x->planes = ready;
	x->buf = buf;
	x->slot = slot;
	zns_issue(z, die, ZNS_CMD_PROGRAM, c, count);
	x->failed = 0;
	for (uint32_t p = 0, i = 0; p < z->g->planes_per_die; p++)
		if (ready >> p & 1)
			x->failed |= (uint32_t)(c[i++].status == NAND_PROG_FAIL) << p;
	return true;
}

static bool program_go(struct zns *z, uint32_t die)
{
	struct zns_die *x = &z->die[die];
	uint32_t per = z->shape.dies / z->shape.groups, place = zns_die_place(z, die);

	for (uint32_t i = 0; i < z->shape.bufs; i++) {
		uint32_t buf = (x->buf_turn + i) % z->shape.bufs, zone = z->buf[buf].zone;

		if (zone == ZNS_NONE || zone % z->shape.groups != place / per || z->zone[zone].failed)
			continue;
		if (!program(z, die, buf, place % per * z->g->planes_per_die))
			continue;
		x->buf_turn = buf + 1;
		return true;
	}
	return false;
}

static void programmed(struct zns *z, struct zns_die *x)
{
	uint32_t zone = z->buf[x->buf].zone;

	for (uint32_t p = 0; p < z->g->planes_per_die; p++) {
		struct zns_cell *cell = &z->buf[x->buf].cell[x->slot + p];

		if (!(x->planes >> p & 1))
			continue;
		if (!(x->failed >> p & 1)) {
			cell->state = ZNS_KEPT;
			if (!cell->window)
				zns_cell_done(z, x->buf, x->slot + p);
			continue;
		}
		cell->state = ZNS_READY;
		z->pool.block[*zns_block_of(z, zone, cell->page)].failing = true;
	}
	zns_window_release(z, x->buf);
	if (x->failed)
		zns_zone_fails(z, zone);
}

/* ---- the erases of resets ---- */

static bool erase_zone(struct zns *z, uint32_t die, uint32_t zone, uint32_t slot)
{
	struct zns_die *x = &z->die[die];
	uint32_t block[NAND_PLANES_MAX];

	for (uint32_t part = 0; part < z->shape.parts; part++) {
		x->planes = 0;
		for (uint32_t p = 0; p < z->g->planes_per_die; p++) {
			block[p] = *zns_block_at(z, zone, part, slot + p);
			x->planes |= (uint32_t)(block[p] != ZNS_NONE) << p;
		}
		if (!x->planes)
			continue;
		x->zone = zone;
		x->slot = slot;
		x->part = part;
		zns_issue_erases(z, die, ZNS_CMD_ERASE, block);
		return true;
	}
	return false;
}

static bool erase_go(struct zns *z, uint32_t die)
{
	uint32_t per = z->shape.dies / z->shape.groups, place = zns_die_place(z, die);

	for (uint32_t zone = z->erasing; zone != ZNS_NONE; zone = z->zone[zone].next)
		if (zone % z->shape.groups == place / per &&
		    erase_zone(z, die, zone, place % per * z->g->planes_per_die))
			return true;
	return false;
}

static void erased(struct zns *z, struct zns_die *x)
{
	for (uint32_t p = 0; p < z->g->planes_per_die; p++) {
		uint32_t *block = zns_block_at(z, x->zone, x->part, x->slot + p);

		if (!(x->planes >> p & 1))
			continue;
		zns_put_erased(z, *block, x->failed >> p & 1);
		*block = ZNS_NONE;
		z->zone[x->zone].erases--;
	}
	if (!z->zone[x->zone].erases)
		zns_zone_erased(z, x->zone);
}

/* ---- turns ---- */

/* Begin something on an idle die. Returns false if there is nothing to do. */
static bool go(struct zns *z, uint32_t die)
{
	struct zns_die *x = &z->die[die];

	if (x->read_first != ZNS_NONE && !die_reads_enough(&x->turn, &z->host.c))
		return zns_read_go(z, die);
	if (zns_log_go(z, die))
		return true;
	if (x->erased ? program_go(z, die) || erase_go(z, die) : erase_go(z, die) || program_go(z, die))
		return true;
	x->turn.reads_in_row = 0;
	return x->read_first != ZNS_NONE && zns_read_go(z, die);
}

static void run(struct zns *z)
{
	bool again = true;

	while (again) {
		again = false;
		for (uint32_t die = 0; die < z->shape.dies; die++) {
			struct zns_die *x = &z->die[die];

			if (!x->look || x->cmd != ZNS_IDLE)
				continue;
			again = true;
			x->look = false;
			while (x->cmd == ZNS_IDLE && go(z, die))
				;
		}
	}
}

static void end_command(struct zns *z, uint32_t die)
{
	struct zns_die *x = &z->die[die];
	enum zns_cmd cmd = x->cmd;

	x->cmd = ZNS_IDLE;
	x->look = true;
	switch (cmd) {
	case ZNS_CMD_PROGRAM:
		programmed(z, x);
		break;
	case ZNS_CMD_ERASE:
		erased(z, x);
		break;
	case ZNS_CMD_PREPARE:
		prepared(z, die);
		break;
	case ZNS_CMD_RECORD:
	case ZNS_CMD_LOG_ERASE:
		zns_log_ended(z, x, cmd);
		break;
	case ZNS_CMD_READ:
	case ZNS_IDLE:
		return;
	}
	zns_go_on(z, x);
}

/* Do all that can be done now. */
void zns_settle(struct zns *z)
{
	do {
		if (z->recheck)
			zns_go_on(z, NULL);
		run(z);
	} while (zns_read_on(z) || z->recheck);
}

void zns_pump(struct zns *z, uint64_t now_ns)
{
	host_set_time(&z->host, now_ns);
	while (die_due_first_ns(&z->ends) <= now_ns)
		end_command(z, die_due_end(&z->ends));
	zns_settle(z);
}
