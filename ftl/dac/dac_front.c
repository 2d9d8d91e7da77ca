// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dac_front.c - the DAC FTL: the next page that a die programs. front.h decides which page comes next and which parity
 * page is owed; this file erases a free block whose erase was interrupted, programs parity pages, and retires blocks.
 * It starts commands, and knows neither what a page holds nor who asks for it.
 */
#include "dac_front.h"
#include "dac_pick.h"
#include "dac_store.h"

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

/* ---- free blocks ---------------------------------------------------------------- */

/*
 * Erase the first free block of the die once more before it is used: power may have failed during its erase, and cells
 * that are half erased must not be programmed.
 */
static void prepare(struct dac *d, struct dac_die *x)
{
	struct nand_cmd c = { .op = NAND_ERASE, .source = NAND_SRC_META, .pb = NAND_WHOLE_BLOCK };

	c.ppn.v = dac_free_of(d, x)->free_head * d->g->pages_per_block;
	die_command(d->host.n, d->host.now_ns, &c, 1);
	x->prepare_failed = c.status == NAND_ERASE_FAIL;
	dac_die_start(d, x, DAC_CMD_PREPARE, c.done_ns);
}

void dac_prepare_complete(struct dac *d, struct dac_die *x)
{
	uint32_t block = dac_free_of(d, x)->free_head;

	d->bt.blk[block].needs_erase = false;
	if (!x->prepare_failed)
		return;
	blk_take_free(&d->bt, dac_plane_of(d, x));
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

/* ---- parity pages ---------------------------------------------------------------- */

void dac_program_backup(struct dac *d, struct dac_die *x, struct nand_cmd *c, enum dac_cmd cmd)
{
	die_command(d->host.n, d->host.now_ns, c, 1);
	x->parity = c->ppn.v;
	x->parity_failed = c->status == NAND_PROG_FAIL;
	d->host.stats.backup_pages++;
	dac_die_start(d, x, cmd, c->done_ns);
}

bool dac_backup_turn(struct dac *d, struct dac_die *x)
{
	struct nand_cmd c = { .op = NAND_PROGRAM, .source = NAND_SRC_BACKUP, .oob = d->oob };
	const struct front_plane *p = &d->fr.plane[dac_plane_of(d, x)];
	struct front_parity what = front_owed(&d->fr, dac_plane_of(d, x));

	if (p->backup == BLK_NONE) {
		if (!dac_free_of(d, x)->free_count)
			return false;
		if (!dac_prepared(d, x))
			return true;
		front_open_backup(&d->fr, dac_plane_of(d, x));
		dac_gc_wanted(d, x);
	}
	c.data = front_backup(&d->fr, dac_plane_of(d, x), p->debt_slot, &what, &c.ppn.v, d->oob);
	dac_program_backup(d, x, &c, DAC_CMD_BACKUP);
	return true;
}

void dac_backup_complete(struct dac *d, struct dac_die *x)
{
	uint32_t plane = dac_plane_of(d, x);

	if (x->parity_failed)
		front_backup_failed(&d->fr, x->parity);
	else
		front_backed_up(&d->fr, plane, d->fr.plane[plane].debt, x->parity);
	dac_gc_wanted(d, x);
}

/* Does the spare area belong to a parity page? It then has a block number where a page of data has only ones. */
bool dac_is_parity(const struct dac *d, const uint8_t *oob)
{
	return d->fr.group && front_get_parity(&d->fr, oob).block != BLK_NONE;
}

/* ---- frontiers ------------------------------------------------------------------- */

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
		return (uint32_t)((uint64_t)d->write.used * 1000 / d->host.c.buffer_units);
	for (uint32_t i = 0; i < d->pages.slots; i++)
		used += d->pages.slot[i].state != DAC_S_FREE;
	return used * 1000 / d->pages.slots;
}

uint32_t dac_ask_frontier(const struct dac *d, const struct dac_die *x, enum frontier who)
{
	uint32_t reserve = who == FRONT_HOST ? d->gc.urgent : 0, free = dac_free_of(d, x)->free_count;
	struct front_ask q = { .who = who, .may_open = free > reserve };

	if (d->fr.c.policy->shared && free < reserve)
		return ask_scarce(d, dac_plane_of(d, x), x);
	q.busy_permille = busy_permille(d);
	return d->fr.c.policy->pick(&d->fr, dac_plane_of(d, x), &q);
}

/*
 * Take the next page of a slot, by word lines. If this fills a block, look for a victim again: with many open blocks it
 * may be the first full one.
 */
static uint32_t take_paired(struct dac *d, struct dac_die *x, uint32_t slot, enum frontier who)
{
	uint32_t ppn = front_take_paired(&d->fr, dac_plane_of(d, x), slot, who);

	if (d->bt.blk[dac_block_of(d, ppn)].state == BLK_FULL) {
		x->no_victim = false;
		dac_gc_wanted(d, x);
	}
	return ppn;
}

uint32_t dac_frontier(struct dac *d, struct dac_die *x, enum frontier who)
{
	uint32_t plane = dac_plane_of(d, x), slot;

	if (d->fr.plane[plane].debt != BLK_NONE) {
		(void)dac_backup_turn(d, x);
		return DAC_NONE;
	}
	slot = dac_ask_frontier(d, x, who);
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
