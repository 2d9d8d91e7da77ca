// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dac_mount.c - the DAC FTL: mounting.
 *
 *   1  serials   reads each page's spare area, all dies in parallel: finds the highest serial of
 *                each block, and the blocks whose collection was complete (they hold no live data)
 *   2  entries   reads whole pages: finds the entry with the highest sequence of each unit, and
 *                likewise the content of each object; of equal copies the one programmed first
 *                counts
 *   3  needs     computes from the units which objects are live, and all references
 *   4  live      counts live data of pages and blocks, and makes the free lists
 *
 * If the object to which a unit's newest entry refers is not found, it was lost with an unreadable
 * page. The unit is then mapped to d->objs.gone, an object without content. A mount programs and erases
 * nothing, so power may be cut at any time. LSB pages that torn programs of MSB pages destroyed are
 * rebuilt (dac_rescue.c) after step 2, when all readable pages are known.
 */
#include "dac_mount.h"
#include "dac_entries.h"
#include "dac_front.h"
#include "dac_pick.h"
#include "dac_rescue.h"
#include "dac_store.h"

static void skip_bad(struct dac *d)
{
	for (uint32_t b = 0; b < geo_blocks(d->g); b++) {
		if (!d->host.n->ops->is_bad(d->host.n, (pbn_t){ b }))
			continue;
		d->bt.blk[b].state = BLK_BAD;
		d->die[geo_die_of(d->g, (pbn_t){ b })].good_count--;
	}
}

/* ---- 1: serials ---------------------------------------------------------------------- */

static int survey_page(void *ftl, uint32_t block, uint32_t page)
{
	struct dac *d = ftl;
	uint32_t ppn = block * d->g->pages_per_block + page;
	struct dac_block *b = &d->block[block];
	enum nand_status st = survey_oob(&d->host.survey, ppn, d->oob);
	struct dac_oob o;

	if (st == NAND_ERASED)
		return SSD_OK;
	d->bt.blk[block].next_page = page + 1;
	d->bt.blk[block].hurt |= !survey_readable(st);
	if (!survey_readable(st))
		return SSD_OK;
	if (dac_is_parity(d, d->oob))
		return front_note_parity(&d->fr, ppn, d->oob) ? SSD_OK : SSD_E_CORRUPT;
	if (!dac_get_oob(d->oob, &o) || (o.collected != DAC_NONE && o.collected >= geo_blocks(d->g)))
		return SSD_E_CORRUPT;
	if (o.serial > b->last_serial)
		b->last_serial = o.serial;
	if (o.serial > d->serial)
		d->serial = o.serial;
	if (o.collected != DAC_NONE && o.serial > d->block[o.collected].collected_serial)
		d->block[o.collected].collected_serial = o.serial;
	return SSD_OK;
}

/* ---- 2: entries ------------------------------------------------------------------------ */

static int mount_page(void *ftl, uint32_t block, uint32_t page)
{
	struct dac *d = ftl;
	uint32_t ppn = block * d->g->pages_per_block + page;
	struct dac_block *b = &d->block[block];
	const uint8_t *content;
	enum nand_status st;
	struct dac_oob o;

	if (page >= d->bt.blk[block].next_page || d->bt.blk[block].backup ||
	    b->collected_serial > b->last_serial)
		return SSD_OK;
	st = survey_read(&d->host.survey, ppn, NAND_WHOLE_PAGE, d->oob, &content);
	if (st == NAND_ERASED && !d->fr.plain)	/* MSB pages not yet written */
		return SSD_OK;
	if (!survey_readable(st)) {
		d->host.survey.unreadable++;
		return SSD_OK;
	}
	if (!dac_get_oob(d->oob, &o))
		return SSD_E_CORRUPT;
	memcpy(d->scratch, content, d->unit_bytes);
	return dac_mount_entries(d, &o, d->scratch, ppn);
}

/* ---- 3: needs ------------------------------------------------------------------------------ */

static bool may_be_reference(const struct dac *d, uint32_t ref, uint64_t seq)
{
	const struct dac_obj *o = &d->objs.obj[ref];

	return o->ppn != DAC_NONE && o->seq == seq && o->kind != DAC_DELTA;
}

static uint32_t need(struct dac *d, uint32_t obj)
{
	d->objs.obj[obj].refs++;
	return obj;
}

static uint32_t need_shared(struct dac *d, uint32_t obj)
{
	if (!d->objs.obj[obj].shares++)
		d->objs.shared++;
	return need(d, obj);
}

/*
 * Count what the unit needs. An object with the unit's own sequence belongs to that unit alone: if a second unit names
 * it, the tables are damaged.
 */
static int need_of_unit(struct dac *d, uint32_t lpn)
{
	uint32_t obj = d->maps.map[lpn];
	struct dac_obj *o = &d->objs.obj[obj];

	if (d->maps.link_at[lpn] != DAC_NONE) {
		if (!may_be_reference(d, obj, d->maps.unit_ref_seq[lpn]))
			obj = d->objs.gone;
		d->maps.map[lpn] = need_shared(d, obj);
		return SSD_OK;
	}
	if (o->ppn == DAC_NONE || o->seq != d->maps.unit_seq[lpn]) {
		d->maps.map[lpn] = need(d, d->objs.gone);
		return SSD_OK;
	}
	if (o->refs > o->shares)
		return SSD_E_CORRUPT;
	need(d, obj);
	if (o->kind == DAC_DELTA)
		o->ref = need_shared(d, may_be_reference(d, o->ref, d->maps.unit_ref_seq[lpn]) ? o->ref : d->objs.gone);
	return SSD_OK;
}

/* ---- 4: live --------------------------------------------------------------------------------- */

static void settle_objects(struct dac *d)
{
	d->objs.free = DAC_NONE;
	for (uint32_t i = d->objs.objects; i-- > 0;) {
		struct dac_obj *o = &d->objs.obj[i];

		if (o->refs) {
			if (o->ppn != DAC_NONE)
				dac_live_add(d, o->ppn, dac_object_cost(d, o));
			continue;
		}
		*o = (struct dac_obj){ .ppn = DAC_NONE, .ref = DAC_NONE, .unit = d->objs.free,
				       .cached = DAC_NONE };
		d->objs.free = i;
	}
	for (uint32_t l = 0; l < d->units; l++)
		if (d->maps.link_at[l] != DAC_NONE)
			dac_live_add(d, d->maps.link_at[l], dac_cost(DAC_LINK, 0, d->unit_bytes));
}

static void settle_blocks(struct dac *d)
{
	for (uint32_t b = 0; b < geo_blocks(d->g); b++) {
		if (d->bt.blk[b].state == BLK_BAD)
			continue;
		if (d->bt.blk[b].backup && !d->bt.blk[b].live)	/* a backup block without a valid parity page */
			dac_put_free(d, b, true);
		else if (d->bt.blk[b].backup)
			d->bt.blk[b].state = BLK_OPEN;
		else if (!d->bt.blk[b].next_page)	/* looks erased, but may be half erased on a used drive */
			dac_put_free(d, b, d->serial > 0);
		else
			blk_close(&d->bt, b);
	}
}

int dac_find(struct ftl *f)
{
	struct dac *d = dac_of(f);
	bool enough;
	int err;

	skip_bad(d);
	err = survey_pages(&d->host.survey, survey_page, d);
	if (!err)
		err = survey_pages(&d->host.survey, mount_page, d);
	if (!err)
		err = dac_rebuild(d);
	if (err)
		return err;
	enough = survey_number(&d->host.survey, &d->seq, dac_entries_max(d->unit_bytes));
	enough &= survey_number(&d->host.survey, &d->serial, 1);
	d->host.frozen = !enough;
	d->objs.gone = d->objs.objects - 1;	/* an object id that is never stored on flash */
	d->objs.obj[d->objs.gone] = (struct dac_obj){ .ppn = DAC_NONE, .ref = DAC_NONE, .refs = 1, .unit = DAC_NONE,
					    .cached = DAC_NONE, .kind = DAC_LOST };
	for (uint32_t l = 0; l < d->units && !err; l++)
		if (d->maps.unit_seq[l])
			err = need_of_unit(d, l);
	if (err)
		return err;
	settle_objects(d);
	dac_keep_rebuilt(d);
	d->host.now_ns = d->host.survey.ready_ns;
	settle_blocks(d);
	dac_count_room(d);
	d->host.worn |= d->host.frozen;
	for (uint32_t i = 0; i < d->dies; i++)
		dac_gc_wanted(d, &d->die[i]);
	return SSD_OK;
}
