// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * direct_mount.c - the write-through engine: mounting, and its invariants.
 *
 *   1  survey   reads each page's spare area, all dies in parallel. The scheme is called for every
 *               page that is not erased. New sequences begin above the highest one found, and above
 *               those that unreadable pages may have (survey_number())
 *   2  planes   the scheme rebuilds its map of each plane, one after another, and erases pages that
 *               could be mistaken for data later
 *
 * Nothing is programmed. After a power cut during a mount, the next mount finds the same state, or
 * one with less to erase. Cost: a spare-area read of every page of the drive, and the scheme's own
 * reads.
 */
#include "direct.h"
#include "direct_mount.h"

bool direct_mount_oob(struct direct *d, uint32_t ppn, struct direct_oob *oob)
{
	if (!survey_readable(survey_read(&d->host.survey, ppn, NAND_OOB_ONLY, d->oob, NULL)))
		return false;
	direct_oob_get(d->oob, oob);
	return true;
}

void direct_mount_free(struct direct *d, uint32_t block)
{
	pool_put_free(&d->pool, block, d->host.survey.anything);
}

static bool plausible(const struct direct *d, uint32_t block, const struct direct_oob *o)
{
	return o->lpn < d->lpns &&
	       direct_plane_of_lpn(d, o->lpn) == geo_plane_of(d->g, (pbn_t){ block });
}

static int survey_page(void *ftl, uint32_t block, uint32_t in_block)
{
	struct direct *d = ftl;
	uint32_t ppn = direct_ppn(d, block, in_block);
	struct direct_oob oob;
	enum nand_status s = survey_oob(&d->host.survey, ppn, d->oob);

	if (s == NAND_ERASED)
		return SSD_OK;
	if (!survey_readable(s)) {
		d->scheme->mount_page(d, block, in_block, NULL);
		return SSD_OK;
	}
	direct_oob_get(d->oob, &oob);
	if (!plausible(d, block, &oob))
		return SSD_E_CORRUPT;
	if (oob.seq >= d->seq)
		d->seq = oob.seq + 1;
	if (oob.lost)
		bit_set(d->lost, ppn);
	d->scheme->mount_page(d, block, in_block, &oob);
	return SSD_OK;
}

int direct_find(struct ftl *f)
{
	struct direct *d = direct_of(f);
	int err;

	pool_find_bad(&d->pool);
	err = survey_pages(&d->host.survey, survey_page, d);
	d->host.worn = d->host.frozen = !survey_number(&d->host.survey, &d->seq, 1);
	for (uint32_t p = 0; p < d->planes && !err; p++) {
		err = d->scheme->mount_plane(d, p);
		if (d->pool.plane[p].good < d->needed)
			d->host.worn = true;
	}
	return err;
}

/* ---- invariants ------------------------------------------------------------------ */

static void check_map(const struct direct *d)
{
	for (uint32_t lpn = 0; lpn < d->lpns; lpn++) {
		uint32_t plane = direct_plane_of_lpn(d, lpn), ppn;
		const void *oob;
		struct direct_oob o;
		enum nand_status s;

		ppn = d->scheme->lookup(d, plane, direct_page_of_lpn(d, lpn));
		if (ppn == DIRECT_NONE)
			continue;
		SSD_ASSERT(geo_plane_of(d->g, geo_block_of(d->g, (ppn_t){ ppn })) == plane);	/* E4 */
		SSD_ASSERT(d->pool.block[ppn / d->g->pages_per_block].state == POOL_USED);	/* E4 */
		s = d->host.n->ops->peek(d->host.n, (ppn_t){ ppn }, NULL, &oob);
		SSD_ASSERT(s != NAND_ERASED);						/* E4 */
		if (s == NAND_UNCORR)
			continue;
		direct_oob_get(oob, &o);
		SSD_ASSERT(o.lpn == lpn && o.seq < d->seq);				/* E4 */
		SSD_ASSERT(o.lost == bit_get(d->lost, ppn));
	}
}

static void check_dies(const struct direct *d)
{
	uint32_t busy = 0, queued = 0, pooled = 0, op;

	for (uint32_t i = 0; i < d->dies; i++) {
		const struct direct_die *x = &d->die[i];

		busy += x->cmd != DIRECT_IDLE;
		for (op = x->read_first; op != DIRECT_NONE; op = d->op[op].next)
			queued++;
		for (op = x->write_first; op != DIRECT_NONE; op = d->op[op].next)
			queued++;
		queued += (x->r.op != DIRECT_NONE) + (x->w.op != DIRECT_NONE);
		SSD_ASSERT(x->cmd != DIRECT_IDLE ||					/* E5 */
			   (x->read_first == DIRECT_NONE && x->write_first == DIRECT_NONE &&
			    x->r.op == DIRECT_NONE && x->w.op == DIRECT_NONE && !x->gc_active));
	}
	for (op = d->op_free; op != DIRECT_NONE; op = d->op[op].next)
		pooled++;
	SSD_ASSERT(busy == d->ends.busy);						/* E2 */
	SSD_ASSERT(queued + pooled == d->host.c.max_unit_reads);			/* E3 */
	SSD_ASSERT(d->host.ios || d->host.c.accounting == FTL_ACCOUNT_SSDSIM || !queued);	/* E3 */
	SSD_ASSERT(!d->host.ios || queued);							/* E3 */
}

void direct_check(const struct ftl *f)
{
	const struct direct *d = (const struct direct *)f;

	pool_check(&d->pool);								/* E1 */
	check_map(d);
	check_dies(d);
	d->scheme->check(d);
}
