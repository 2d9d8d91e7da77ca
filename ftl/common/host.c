// SPDX-License-Identifier: GPL-2.0-or-later
/* host.c - see host.h */
#include "host.h"

#include "save.h"

void host_reset_stats(struct ftl *f)
{
	struct host *h = host_of(f);

	memset(&h->stats, 0, sizeof(h->stats));
	host_no_ops(h->stats.op);
}

void host_init(struct host *h, const struct ftl_ops *ops, const struct ftl_config *c, struct nand *n,
	       const struct ftl_host *shell)
{
	h->base.ops = ops;
	h->n = n;
	h->c = *c;
	h->shell = *shell;
	host_reset_stats(&h->base);
}

const char *host_fault(const struct ftl_config *c)
{
	if (!c->capacity_bytes || c->capacity_bytes % c->unit_bytes)
		return "capacity_bytes must be a multiple of unit_bytes, and not 0";
	if (c->gc_urgent_blocks < 1 || c->gc_urgent_blocks >= c->gc_start_blocks)
		return "gc_urgent_blocks must be 1 .. gc_start_blocks - 1";
	if (!c->gc_slice_pages)
		return "gc_slice_pages must be at least 1";
	return c->max_unit_reads < 8 ? "max_unit_reads must be at least 8" : NULL;
}

uint32_t ftl_oob_bytes(const struct ftl_ops *t, const struct ftl_config *c, const struct nand_geometry *g)
{
	if (t->oob_bytes)
		return t->oob_bytes(t, c, g);
	return t->page_oob_bytes + t->unit_oob_bytes * (g->page_bytes / c->unit_bytes);
}

static const char *array_fault(const struct ftl_ops *t, const struct ftl_config *c, const struct nand_geometry *g)
{
	if (c->timing.plane_reads && !t->plane_reads)
		return "plane_reads must be no: this FTL reads a die by one command at a time; set type = page";
	if (g->one_shot && !t->one_shot)
		return "one_shot must be no: this FTL programs pages singly; set type = page, or describe a word line "
		       "as bits_per_cell programs of a share of its time each";
	if (!t->word_lines && (g->order == NAND_ORDER_FPS || g->order == NAND_ORDER_RPS))
		return "order must be ascending or none: this FTL does not know fps and rps";
	return !t->word_lines && !t->not_safe && g->paired_loss ?
	       "paired_loss must be no: this FTL keeps no copy of paired pages" : NULL;
}

int ftl_validate(const struct ftl_ops *t, const struct ftl_config *c, const struct nand_geometry *g,
		 const char **why)
{
	*why = array_fault(t, c, g);
	if (!*why)
		*why = t->fault(t, c, g);
	if (!*why)
		*why = save_fault(t, c, g);
	if (!*why && g->oob_bytes < ftl_oob_bytes(t, c, g))
		*why = "oob_bytes is too small for this FTL: raise it";
	return *why ? SSD_E_INVAL : SSD_OK;
}

/* Lay out the books of the link, behind the FTL's own memory. */
static struct owner_book *lay_out_books(struct ssd_arena *m, const struct ftl_config *c)
{
	return c->namespaces > 1 ? ssd_carve(m, 2, sizeof(struct owner_book)) : NULL;
}

size_t ftl_footprint(const struct ftl_ops *t, const struct ftl_config *c, const struct nand_geometry *g)
{
	struct ssd_arena m = { NULL, t->lay_out(t, NULL, c, g) };

	(void)lay_out_books(&m, c);
	return m.used;
}

int ftl_init(const struct ftl_ops *t, void *mem, size_t len, const struct ftl_config *c, struct nand *n,
	     const struct ftl_host *host, struct ftl **out)
{
	struct host *h = mem;
	struct ssd_arena m;
	const char *why;

	if (ftl_validate(t, c, &n->geo, &why))
		return SSD_E_INVAL;
	SSD_ASSERT(n->geo.oob_kept >= ftl_oob_bytes(t, c, &n->geo));
	if (len < ftl_footprint(t, c, &n->geo))
		return SSD_E_NOMEM;
	m = (struct ssd_arena){ mem, t->lay_out(t, mem, c, &n->geo) };
	host_init(h, t, c, n, host);
	h->book = lay_out_books(&m, c);
	if (t->begin)
		t->begin(&h->base);
	*out = &h->base;
	return SSD_OK;
}

static void forgotten(void *opaque, struct ftl_io *io)
{
	(void)opaque;
	(void)io;
}

static void not_copied(void *opaque, struct ftl_io *io, uint64_t at, void *buf, size_t len)
{
	(void)opaque;
	(void)io;
	(void)at;
	(void)buf;
	(void)len;
}

void host_mute(struct host *h, void (*done)(void *opaque, struct ftl_io *io), void *opaque)
{
	h->shell = (struct ftl_host){ done, not_copied, opaque };
}

void host_forget(struct host *h)
{
	host_mute(h, forgotten, NULL);
	h->ios = 0;
}

int host_mount(struct ftl *f, uint64_t now_ns, uint64_t *ready_ns)
{
	struct host *h = host_of(f);
	int err;

	survey_begin(&h->survey, h->n, now_ns);
	err = f->ops->find(f);
	h->stats.mounts += !err;
	*ready_ns = h->now_ns = h->survey.ready_ns;
	return err;
}

void host_crossed(struct host *h, struct ftl_io *io, uint32_t way, uint64_t ready_ns, uint64_t end_ns)
{
	uint64_t start_ns = end_ns - link_transfer_ns(host_link_bytes(io), h->c.link_ps_per_byte);

	io->link_others_ns = owner_book_take(&h->book[way], h->now_ns, ready_ns, start_ns, end_ns, owner_of(io));
}

void host_divide_link(struct ftl_breakdown *w, const struct ftl_io *io)
{
	w->link_ns -= io->link_others_ns;
	w->namespace_queue_ns += io->link_others_ns;
}

void host_divide(struct host *h, struct ftl_io *io)
{
	host_divide_link(&io->where, io);
	host_divide_link(&h->stats.op[io->op].where, io);
}

void host_end_at(struct host *h, struct ftl_io *io, uint64_t at_ns, enum ssd_err status)
{
	io->where.map_ns = h->c.map_ns;
	io->where.other_ns = h->c.overhead_ns;
	host_finish(h, io, at_ns + host_front_ns(h), status);
}

void host_end(struct host *h, struct ftl_io *io, uint64_t spent_ns, enum ssd_err status)
{
	uint64_t *waited = io->op == FTL_READ ? &io->where.host_queue_ns : &io->where.buffer_ns;

	*waited += h->now_ns + spent_ns - io->submit_ns - ftl_breakdown_sum(&io->where);
	host_end_at(h, io, h->now_ns + spent_ns, status);
}

void host_part_at(struct host *h, struct ftl_io *io, uint64_t at_ns, uint64_t gc_ns,
		  const struct ftl_breakdown *own, enum ssd_err status)
{
	uint64_t waited = at_ns - io->submit_ns - own->cell_ns - own->bus_ns;
	uint64_t end_ns = at_ns + own->buffer_ns + own->other_ns + host_front_ns(h);
	struct ftl_breakdown w = *own;

	w.gc_queue_ns = gc_ns < waited ? gc_ns : waited;
	w.host_queue_ns = waited - w.gc_queue_ns;
	w.map_ns = h->c.map_ns;
	w.other_ns += h->c.overhead_ns;
	host_part(h, io, end_ns, &w, status);
}

void host_part_now(struct host *h, struct ftl_io *io)
{
	host_part_at(h, io, h->now_ns, 0, &(struct ftl_breakdown){ 0 }, SSD_OK);
}

void host_refuse(struct host *h, struct ftl_io *io, enum ssd_err why)
{
	io->where = (struct ftl_breakdown){ .buffer_ns = h->now_ns - io->submit_ns };
	host_finish(h, io, h->now_ns, why);
}

const struct ftl_stats *host_stats(const struct ftl *f)
{
	return &((const struct host *)f)->stats;
}

uint32_t host_inflight(const struct ftl *f)
{
	return ((const struct host *)f)->ios;
}

bool host_read_only(const struct ftl *f)
{
	return ((const struct host *)f)->worn;
}

/* Copy the setting of a row. Returns whether it changes. */
static bool take_setting(struct ftl_config *to, const struct ftl_config *from, const struct knob *k)
{
	uint32_t *own = (uint32_t *)(void *)((uint8_t *)to + k->at);
	const uint32_t *new = (const uint32_t *)(const void *)((const uint8_t *)from + k->at);
	bool changes = *own != *new;

	SSD_ASSERT(k->type == KNOB_U32);	/* ONLINE rows are numbers (ftl_knobs.h) */
	*own = *new;
	return changes;
}

void host_reconfigure(struct ftl *f, uint64_t now_ns, const struct ftl_config *c)
{
	const struct knob *k;
	bool anew[FTL_NRECOMPUTED] = { false };

	(void)f->ops->step(f, now_ns);
	for (uint32_t i = 0; (k = ftl_online_knob(f->ops, i)); i++)
		anew[k->anew] |= take_setting(&host_of(f)->c, c, k);
	for (const struct ftl_anew *a = f->ops->anew; a && a->what != FTL_FIXED; a++)
		if (anew[a->what] && a->compute)
			a->compute(f);
}
