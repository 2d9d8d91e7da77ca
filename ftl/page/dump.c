// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dump.c - what capacitors do when the power has failed (save.h): the rest of the write buffer is programmed.
 *
 * The pump goes on as ever. The open pages are closed, I/Os are forgotten, and GC issues no command as long as a die
 * is busy: a page that found no room may find it on that die. If no die is busy and pages are left, GC goes on.
 *
 *   running -> saving     begin(): the buffer takes nothing any more
 *   saving -> collecting  page_ftl_save(): pages are left, and no die is busy
 *
 * The buffer is empty when `stable` has reached the last sequence, so a mount finds all that was accepted (DESIGN.md).
 */
#include "dump.h"
#include "page_ftl.h"

struct ftl_save_most page_ftl_save_most(const struct ftl_ops *t, const struct ftl_config *c,
					const struct nand_geometry *g)
{
	return (struct ftl_save_most){
		.pages = c->buffer_units / (g->page_bytes / c->unit_bytes),
		.planes = c->multiplane ? g->planes_per_die : 1,
		.fronts = g->planes_per_die,
		.blocks = front_host_blocks(t->policy, c) + handles_streams(c) - 1 + (c->slc_cache != FTL_SLC_NONE),
		.policy = t->policy,
	};
}

uint32_t page_ftl_unsaved(const struct ftl *base)
{
	const struct page_ftl *f = (const struct page_ftl *)base;

	return f->buf.pages - f->buf.free_count;
}

/*
 * Forget the host's reads. Those in a die's queue are removed; those that wait for a map page are still read, for no
 * I/O.
 */
static void forget_reads(struct page_ftl *f)
{
	f->read.waiting.first = NULL;
	f->read.spans = NULL;
	f->buf.held = false;
	f->read.nobody.pending = UINT32_MAX;
	for (uint32_t die = 0; die < f->shape.dies; die++) {
		struct die *d = &f->die[die];
		uint32_t r = d->first, *link = &d->first;

		while (r != NONE) {
			uint32_t next = f->read.unit[r].next;

			if (f->read.unit[r].io) {
				uread_put(f, r);
			} else {
				*link = d->last = r;
				link = &f->read.unit[r].next;
			}
			r = next;
		}
		*link = NONE;
	}
	for (uint32_t r = 0; r < f->host.c.max_unit_reads + f->read.kept; r++)
		if (f->read.unit[r].io)
			f->read.unit[r].io = &f->read.nobody;
}

static void begin(struct page_ftl *f)
{
	f->saves = f->gc.rests = true;
	host_forget(&f->host);
	f->buf.line.first = f->log.durable.first = f->log.sent.first = NULL;
	forget_reads(f);
	wbuf_seal(f);
	handles_close_others(f);
	wordline_push(f);
	f->turn.kick = true;
}

uint64_t page_ftl_save(struct ftl *base, uint64_t now_ns)
{
	struct page_ftl *f = page_ftl_of(base);

	if (!f->saves)
		begin(f);
	(void)page_ftl_step(base, now_ns);
	if (f->gc.rests && !f->turn.ends.busy && page_ftl_unsaved(base)) {
		f->gc.rests = false;
		f->turn.kick = true;
		(void)page_ftl_step(base, now_ns);
	}
	return page_ftl_unsaved(base) ? next_due_ns(f) : FTL_IDLE;
}
