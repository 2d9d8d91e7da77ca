// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * direct_ops.c - the resources that the files of the write-through engine share: free blocks, dies, page operations,
 * and the counters of unfinished writes on which flushes wait (direct.c). Each function takes or returns one.
 */
#include "direct.h"
#include "direct_ops.h"

enum direct_room direct_take(struct direct *d, uint32_t plane, uint32_t reserve, uint32_t *block)
{
	const struct pool_plane *p = &d->pool.plane[plane];

	if (p->free_count <= reserve)
		return DIRECT_FULL;
	if (d->pool.block[p->free_first].needs_erase)
		return DIRECT_ERASE;
	*block = pool_take(&d->pool, plane);
	return DIRECT_ROOM;
}

void direct_put_bad(struct direct *d, uint32_t block)
{
	pool_put_bad(&d->pool, &d->host, block);
	d->host.worn |= pool_plane_of(&d->pool, block)->good < d->needed;
}

void direct_die_start(struct direct *d, uint32_t die, enum direct_cmd cmd, uint64_t until_ns)
{
	struct direct_die *x = &d->die[die];

	SSD_ASSERT(x->cmd == DIRECT_IDLE);
	x->cmd = cmd;
	die_begin(&d->ends, die, &x->turn, direct_is_gc(cmd), d->host.now_ns, until_ns);
}

uint32_t direct_op_get(struct direct *d)
{
	uint32_t op = d->op_free;

	d->op_free = d->op[op].next;
	return op;
}

void direct_op_put(struct direct *d, uint32_t op)
{
	d->op[op].next = d->op_free;
	d->op_free = op;
}

uint64_t *direct_writes_of(struct direct *d, uint64_t epoch)
{
	struct ftl_io *f = d->flushes.first;

	if (epoch == d->epoch)
		return &d->epoch_writes;
	while (f->seq != epoch)
		f = f->next;
	return &f->at;
}

void direct_write_ended(struct direct *d, uint64_t epoch)
{
	--*direct_writes_of(d, epoch);
	while (d->flushes.first && !d->flushes.first->at)
		host_part_now(&d->host, io_list_take(&d->flushes));
}
