// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dac_rescue.c - the DAC FTL on word lines: LSB pages that a torn program of an MSB page destroyed.
 * dac_front.c programs the parity pages from which this file rebuilds them.
 *
 * Effect of a power cut. A die executes one program at a time, so at most one word line of each die
 * is affected. If the torn page is an MSB page of data, the parity page of its group was programmed
 * earlier, in another block. All LSB pages of the group were programmed in the same power cycle,
 * because no block is written further after a mount. So the parity page covers all of them.
 *
 *   rebuild   done by the mount when all readable pages are known. If a block has a parity page
 *             made since its last erase, and exactly one LSB page of the group is unreadable and
 *             its MSB page is torn, the page is rebuilt as the XOR of the others. Its entries count
 *             as those of any page, but an equal entry in a readable page is preferred
 *   keep      a rebuilt page with live entries stays in memory and is read from there; the parity
 *             page of its block stays on flash
 *   rescue    the page is programmed again before the die programs anything else. So after a
 *             further cut either the page can be rebuilt again, or its copy exists; and a die never
 *             has two such pages
 *
 * A rescue takes an LSB page of a fresh block. Pages that were rescued before, or whose units have
 * newer versions, may be rebuilt at every mount until their block is erased; they have no live
 * entries then.
 *
 * Cost: a page of memory for each die. To rebuild a page, a mount reads the group of its block.
 */
#include "dac_rescue.h"
#include "dac_entries.h"
#include "dac_front.h"
#include "dac_gc.h"
#include "dac_pick.h"

/* ---- rebuild ------------------------------------------------------------------------ */

static void xor_into(uint8_t *to, const uint8_t *from, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		to[i] ^= from[i];
}

/*
 * Rebuild in `page` the block's LSB page that a torn program destroyed. Returns its ppn, or
 * DAC_NONE.
 */
static uint32_t rebuild(struct dac *d, uint32_t block, uint8_t *page)
{
	uint32_t first_page = block * d->g->pages_per_block, lost = DAC_NONE, missing = 0;
	uint8_t *oob = page + d->unit_bytes;
	struct front_parity p;
	const uint8_t *in;

	memset(page, 0, d->unit_bytes + d->oob_len);
	if (!survey_readable(survey_read(&d->host.survey, d->bt.blk[block].parity - 1, NAND_WHOLE_PAGE, d->oob, &in)))
		return DAC_NONE;
	p = front_get_parity(&d->fr, d->oob);
	xor_into(page, in, d->unit_bytes);
	front_xor_kept(&d->fr, oob, d->oob);
	for (uint32_t w = p.first; w < front_group_end(&d->fr, p.first); w++) {
		if (!survey_readable(survey_read(&d->host.survey, first_page + 2 * w, NAND_WHOLE_PAGE, d->oob, &in))) {
			lost = first_page + 2 * w;
			missing++;
			continue;
		}
		xor_into(page, in, d->unit_bytes);
		xor_into(oob, d->oob, OOB_BYTES(DAC_OOB_UNITS));
	}
	if (missing != 1 || p.lost ||
	    survey_read(&d->host.survey, lost + 1, NAND_WHOLE_PAGE, d->oob, &in) != NAND_UNCORR)
		return DAC_NONE;
	return lost;
}

static bool may_have_lost(const struct dac *d, uint32_t block)
{
	const struct blk *k = &d->bt.blk[block];
	const struct dac_block *b = &d->block[block];

	return k->parity && k->hurt && !k->backup && k->state != BLK_BAD &&
	       b->collected_serial <= b->last_serial;
}

int dac_rebuild(struct dac *d)
{
	int err = SSD_OK;

	for (uint32_t b = 0; b < geo_blocks(d->g) && !err; b++) {
		uint32_t ppn = may_have_lost(d, b) ? rebuild(d, b, d->rebuilt) : DAC_NONE;
		struct dac_oob o;

		if (ppn == DAC_NONE)
			continue;
		if (!dac_get_oob(d->rebuilt + d->unit_bytes, &o))
			return SSD_E_CORRUPT;
		d->bt.blk[b].torn = true;
		if (o.serial > d->serial)
			d->serial = o.serial;
		o.serial = ~(uint64_t)0;	/* any equal entry that can be read is preferred */
		err = dac_mount_entries(d, &o, d->rebuilt, ppn);
	}
	return err;
}

void dac_keep_rebuilt(struct dac *d)
{
	for (uint32_t b = 0; b < geo_blocks(d->g); b++) {
		struct blk *k = &d->bt.blk[b];
		struct dac_die *x = &d->die[geo_die_of(d->g, (pbn_t){ b })];
		uint32_t ppn = k->torn ? rebuild(d, b, d->rebuilt) : DAC_NONE;

		if (ppn == DAC_NONE || !d->live[ppn].entries || x->lost != DAC_NONE) {
			k->parity = 0;
			continue;
		}
		x->lost = ppn;
		memcpy(x->lost_page, d->rebuilt, d->unit_bytes + d->oob_len);
		d->bt.blk[(k->parity - 1) / d->g->pages_per_block].live++;
	}
}

/* ---- rescue --------------------------------------------------------------------------- */

static void over(struct dac *d, struct dac_die *x)
{
	front_void(&d->fr, dac_block_of(d, x->lost));
	x->lost = DAC_NONE;
	x->no_victim = false;
	dac_gc_wanted(d, x);
	d->more_to_do = true;
}

static struct dac_oob lost_oob(const struct dac *d, const struct dac_die *x)
{
	struct dac_oob o;

	SSD_ASSERT(dac_get_oob(x->lost_page + d->unit_bytes, &o));
	return o;
}

bool dac_rescue_turn(struct dac *d, struct dac_die *x)
{
	struct nand_cmd c = { .op = NAND_PROGRAM, .source = NAND_SRC_BACKUP, .data = x->lost_page,
			      .oob = d->oob };
	struct dac_oob o = lost_oob(d, x);

	if (!d->live[x->lost].entries) {
		over(d, x);
		return false;
	}
	c.ppn.v = dac_frontier(d, x, FRONT_GC);
	if (c.ppn.v == DAC_NONE)
		return x->cmd != DAC_IDLE;
	o.serial = ++d->serial;
	o.collected = DAC_NONE;		/* the named block has been erased since */
	dac_set_oob(d, &o);
	front_cover(&d->fr, dac_plane_of(d, x), c.ppn.v, c.data, d->oob);
	dac_program_backup(d, x, &c, DAC_CMD_RESCUE);
	return true;
}

void dac_rescue_complete(struct dac *d, struct dac_die *x)
{
	struct dac_oob o = lost_oob(d, x);
	struct dac_walk w;
	struct dac_entry e;

	if (x->parity_failed) {
		dac_retire(d, x, x->parity);
		return;
	}
	if (o.kind == DAC_WHOLE) {
		dac_moved(d, &o.entry, x->lost, x->parity);
	} else {
		dac_walk_begin(&w, x->lost_page, d->unit_bytes);
		while (dac_walk_next(&w, &e) == 1)
			dac_moved(d, &e, x->lost, x->parity);
	}
	over(d, x);
}
