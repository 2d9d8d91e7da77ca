// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dac_entries.c - the DAC FTL: what an entry found by a mount changes in the maps. Of the entries of a unit, and of an
 * object, the one with the highest sequence counts, of equal ones that which was programmed first.
 */
#include "dac_entries.h"

static uint64_t serial_of(struct dac *d, uint32_t ppn)
{
	struct dac_oob o;

	return survey_readable(survey_read(&d->host.survey, ppn, NAND_OOB_ONLY, d->oob, NULL)) &&
	       dac_get_oob(d->oob, &o) ? o.serial : 0;
}

/* Does the entry in page ppn replace an equal entry in page old? It does if it was programmed first. */
static bool programmed_before(struct dac *d, uint64_t serial, uint32_t old)
{
	return serial < serial_of(d, old);
}

static void mount_object(struct dac *d, const struct dac_entry *e, uint32_t ppn, uint64_t serial)
{
	struct dac_obj *o = &d->objs.obj[e->obj];

	if (o->ppn != DAC_NONE) {
		if (e->seq < o->seq || (e->seq == o->seq && e->kind == DAC_LOST))
			return;
		if (e->seq == o->seq && o->kind != DAC_LOST &&
		    !programmed_before(d, serial, o->ppn))
			return;
	}
	o->seq = e->seq;
	o->ppn = ppn;
	o->ref = e->ref;
	o->len = e->len;
	o->kind = e->kind;
}

static void mount_unit(struct dac *d, const struct dac_entry *e, uint32_t ppn, uint64_t serial)
{
	bool link = e->kind == DAC_LINK;

	if (e->lpn == DAC_NONE || e->seq < d->maps.unit_seq[e->lpn])
		return;
	if (e->seq == d->maps.unit_seq[e->lpn]) {
		if (link && programmed_before(d, serial, d->maps.link_at[e->lpn]))
			d->maps.link_at[e->lpn] = ppn;
		if (e->kind == DAC_DELTA)
			d->maps.unit_ref_seq[e->lpn] = e->ref_seq;
		return;
	}
	d->maps.unit_seq[e->lpn] = e->seq;
	d->maps.unit_ref_seq[e->lpn] = e->ref_seq;
	d->maps.map[e->lpn] = link ? e->ref : e->obj;
	d->maps.link_at[e->lpn] = link ? ppn : DAC_NONE;
}

static int mount_entry(struct dac *d, const struct dac_entry *e, uint32_t ppn, uint64_t serial)
{
	bool link = e->kind == DAC_LINK;

	if ((e->lpn >= d->units && (e->lpn != DAC_NONE || link)) || !e->seq ||
	    (!link && e->obj >= d->objs.objects - 1) ||
	    (dac_refers(e->kind) && e->ref >= d->objs.objects - 1))
		return SSD_E_CORRUPT;
	if (e->seq > d->seq)
		d->seq = e->seq;
	if (!link)
		mount_object(d, e, ppn, serial);
	mount_unit(d, e, ppn, serial);
	return SSD_OK;
}

int dac_mount_entries(struct dac *d, const struct dac_oob *o, const uint8_t *page, uint32_t ppn)
{
	struct dac_walk w;
	struct dac_entry e;
	int more, err = SSD_OK;

	if (o->kind == DAC_WHOLE)
		return mount_entry(d, &o->entry, ppn, o->serial);
	dac_walk_begin(&w, page, d->unit_bytes);
	while ((more = dac_walk_next(&w, &e)) > 0 && !err)
		err = mount_entry(d, &e, ppn, o->serial);
	return more < 0 ? more : err;
}
