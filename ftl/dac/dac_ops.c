// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dac_ops.c - the DAC FTL: read operations, and the queues of dies in which they wait. An operation holds a reference
 * count of what it reads, so that the object stays alive. dac_read.c says what follows when a page was read.
 */
#include "dac_ops.h"
#include "dac_front.h"
#include "dac_store.h"

uint32_t dac_op_get(struct dac *d, enum dac_op_kind kind, uint32_t obj)
{
	uint32_t i = d->read.free;
	struct dac_op *o = &d->read.op[i];
	uint8_t *data = o->data;

	SSD_ASSERT(i != DAC_NONE);
	d->read.free = o->next;
	*o = (struct dac_op){ .data = data, .obj = obj, .reading = obj, .unit = DAC_NONE, .kind = kind };
	dac_obj_hold(d, obj);
	return i;
}

void dac_op_put(struct dac *d, uint32_t i)
{
	if (d->read.op[i].reading != d->read.op[i].obj)
		dac_obj_put(d, d->read.op[i].reading);
	dac_obj_put(d, d->read.op[i].obj);
	d->read.op[i].obj = DAC_NONE;
	d->read.op[i].next = d->read.free;
	d->read.free = i;
	d->more_to_do = true;
}

static void enqueue(struct dac *d, uint32_t op, uint32_t ppn)
{
	struct dac_die *x = dac_die_of_page(d, ppn);

	d->read.op[op].gc_mark = dac_gc_clock(d, x);
	d->read.op[op].next = DAC_NONE;
	if (x->read_first == DAC_NONE)
		x->read_first = op;
	else
		d->read.op[x->read_last].next = op;
	x->read_last = op;
	d->more_to_do = true;
}

void dac_op_go(struct dac *d, uint32_t i)
{
	enqueue(d, i, d->objs.obj[d->read.op[i].reading].ppn);
}

void dac_read_merge(struct dac *d, uint32_t unit)
{
	uint32_t i = dac_op_get(d, DAC_OP_MERGE, d->maps.map[d->write.buf[unit].lpn]);

	d->read.op[i].unit = unit;
	d->read.merges++;
	d->host.stats.merge_reads++;
	dac_op_go(d, i);
}

void dac_read_reference(struct dac *d, uint32_t unit)
{
	uint32_t i = dac_op_get(d, DAC_OP_FETCH, d->write.buf[unit].ref);

	d->read.op[i].unit = unit;
	d->host.stats.reference_reads++;
	dac_op_go(d, i);
}
