// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * direct.c - the write-through engine: configuration, life cycle, host I/Os and their accounts, the pump.
 * direct_die.c has the work of dies, direct_ops.c the free blocks and page operations that the other files share,
 * direct_mount.c mounting; direct.h describes the engine.
 *
 * An I/O is split into page operations when it is submitted. Their pool is finite. If it is empty,
 * the rest of the I/O waits in line, and so do all later I/Os, so that pages are queued in the
 * order of submission. A read of a page that was never written is answered at once.
 *
 * A flush ends an epoch: it waits until all writes of its epoch and of earlier ones have ended.
 * Each write, and each of its pages, has the number of its epoch; each waiting flush has a counter
 * of unfinished writes.
 */
#include "direct.h"
#include "direct_die.h"
#include "direct_ops.h"

/* ---- splitting I/Os into page operations -------------------------------------- */

/*
 * SSDSim's accounting: has the page been reported as written, although its program has not ended and it is not mapped
 * yet?
 */
static bool written_soon(const struct direct *d, uint32_t plane, uint32_t lpn)
{
	const struct direct_die *x = &d->die[geo_die_of_plane(d->g, plane)];

	return x->cmd == DIRECT_CMD_PROGRAM && !d->op[x->w.op].io && d->op[x->w.op].lpn == lpn;
}

static bool never_written(const struct direct *d, uint32_t lpn)
{
	uint32_t plane = direct_plane_of_lpn(d, lpn);

	return d->scheme->lookup(d, plane, direct_page_of_lpn(d, lpn)) == DIRECT_NONE &&
	       !written_soon(d, plane, lpn);
}

/*
 * Split an I/O, from io->at on, into page operations and queue them. Returns false if the pool is
 * empty.
 */
static bool queue_pages(struct direct *d, uint64_t now_ns, struct ftl_io *io)
{
	while (io->at < io->bytes) {
		const struct host_span s = host_span(io, d->g->page_bytes);
		uint32_t op;

		if (io->op == FTL_READ && never_written(d, s.unit)) {
			d->host.stats.unwritten_units++;
			if (d->host.c.payload)
				host_copy(&d->host, io, io->at, NULL, s.bytes);
		} else {
			if (d->op_free == DIRECT_NONE)
				return false;
			op = direct_op_get(d);
			d->op[op] = (struct direct_op){ .io = io, .at = io->at, .epoch = io->seq,
							.lpn = s.unit, .from = s.from, .bytes = s.bytes,
							.number = d->ops++ };
			io->pending++;
			if (io->op == FTL_WRITE)
				++*direct_writes_of(d, io->seq);
			direct_enqueue(d, now_ns, op);
		}
		io->at += s.bytes;
	}
	return true;
}

static void taken_apart(struct direct *d, struct ftl_io *io)
{
	bool write = io->op == FTL_WRITE;
	uint64_t epoch = io->seq;

	host_part_now(&d->host, io);
	if (write)
		direct_write_ended(d, epoch);
}

static void line_resume(struct direct *d, uint64_t now_ns)
{
	while (d->line.first && d->op_free != DIRECT_NONE) {
		if (!queue_pages(d, now_ns, d->line.first))
			return;
		taken_apart(d, io_list_take(&d->line));
	}
}

static void begin(struct direct *d, uint64_t now_ns, struct ftl_io *io)
{
	uint64_t unwritten = d->host.stats.unwritten_units, pages;

	if (io->op == FTL_WRITE) {
		io->seq = d->epoch;
		d->epoch_writes++;
	}
	if (d->line.first || !queue_pages(d, now_ns, io)) {
		io_list_add(&d->line, io);
		return;
	}
	pages = io->bytes ? (io->offset + io->bytes - 1) / d->g->page_bytes -
			    io->offset / d->g->page_bytes + 1 : 0;
	if (io->op == FTL_READ)
		d->host.stats.unwritten_reads += !io->ahead && pages &&
						 d->host.stats.unwritten_units - unwritten == pages;
	taken_apart(d, io);
}

static void flush(struct direct *d, struct ftl_io *io)
{
	if (!d->flushes.first && !d->epoch_writes) {
		host_part_now(&d->host, io);
		return;
	}
	io->seq = d->epoch++;
	io->at = d->epoch_writes;
	d->epoch_writes = 0;
	io_list_add(&d->flushes, io);
}

/* ---- the pump --------------------------------------------------------------- */

static void pump(struct direct *d, uint64_t now_ns)
{
	uint32_t due = 0;

	host_set_time(&d->host, now_ns);
	while (die_due_first_ns(&d->ends) <= now_ns) {
		d->due[due++] = die_due_end(&d->ends);
		direct_die_complete(d, now_ns, d->due[due - 1]);
	}
	for (uint32_t i = 0; i < due; i++)
		direct_die_dispatch(d, now_ns, d->due[i]);
	line_resume(d, now_ns);
}

uint64_t direct_step(struct ftl *f, uint64_t now_ns)
{
	struct direct *d = direct_of(f);

	pump(d, now_ns);
	return die_due_first_ns(&d->ends);	/* FTL_IDLE: no die is busy */
}

void direct_submit(struct ftl *f, uint64_t now_ns, struct ftl_io *io)
{
	struct direct *d = direct_of(f);

	pump(d, now_ns);
	host_accept(&d->host, io);
	if (io->op == FTL_FLUSH)
		flush(d, io);
	else if (io->op != FTL_READ && d->host.worn)
		host_refuse(&d->host, io, SSD_E_WORNOUT);
	else if (io->op == FTL_TRIM)
		host_part_now(&d->host, io);
	else
		begin(d, now_ns, io);
	line_resume(d, now_ns);	/* a write that failed at once has returned its page operation */
}

/* ---- configuration ---------------------------------------------------------- */

const char *direct_not_safe(const struct ftl_config *c, const struct nand_geometry *g)
{
	(void)c;
	if (!g->paired_loss || g->bits_per_cell < 2)
		return NULL;
	return "an FTL that writes through keeps no copy of paired pages: a power cut during the program of an "
	       "upper page takes completed writes in the lower pages of its word line along";
}

const char *direct_fault(const struct ftl_ops *t, const struct ftl_config *c, const struct nand_geometry *g)
{
	const struct direct_scheme *s = t->policy;

	if (c->unit_bytes != g->page_bytes)
		return "unit_bytes must be geometry.page_bytes: this FTL maps whole NAND pages";
	if (host_fault(c))
		return host_fault(c);
	if (c->capacity_bytes / c->unit_bytes > geo_pages(g))
		return "the geometry cannot hold the exported capacity: lower capacity, or add blocks";
	if (c->buffer_units)
		return "buffer_units must be 0: this FTL writes through";
	if (c->gc_subpage_reads == FTL_WORDS_YES)
		return "gc_subpage_reads must be no: this FTL copies whole pages";
	if (c->wl_threshold)
		return "wl_threshold must be 0: this FTL does not level wear";
	if (c->host_subpage_reads == FTL_WORDS_YES)
		return "host_subpage_reads must be no: this FTL maps and reads whole pages";
	if (c->gc_copyback && !g->copyback)
		return "gc_copyback needs geometry.copyback = yes: say so, or gc_copyback = no";
	if (c->parallel_erase && g->erase_group_max < 2)
		return "parallel_erase needs geometry.erase_group_max of 2 or more: raise it, or say "
		       "parallel_erase = no";
	if (g->pages_per_block % direct_stripe(c))
		return "stripe_pages must divide geometry.pages_per_block: set it to 1, or to pages_per_block";
	if (c->pen && !g->pb_levels)
		return "pen needs geometry.pb_levels of 1 or more: raise it, or say pen = no";
	if (s->blocks_needed(c, g) > g->blocks_per_plane)
		return "the geometry cannot hold the exported capacity: lower capacity (or raise "
		       "op_permille), add blocks, or lower gc_start_blocks";
	return s->fault ? s->fault(c, g) : NULL;
}

size_t direct_lay_out(const struct ftl_ops *t, void *mem, const struct ftl_config *c,
		      const struct nand_geometry *g)
{
	struct ssd_arena arena = { mem, sizeof(struct direct) }, *m = &arena;
	struct direct *d = mem, at = { .scheme = t->policy, .dies = geo_dies(g), .planes = geo_planes(g) };
	size_t page = c->payload ? g->page_bytes : 0;
	uint8_t *buffers;

	at.op = ssd_carve(m, c->max_unit_reads, sizeof(*at.op));
	at.die = ssd_carve(m, at.dies, sizeof(*at.die));
	at.plane = ssd_carve(m, at.planes, sizeof(*at.plane));
	pool_lay_out(&at.pool, m, g);
	at.lost = ssd_carve(m, (geo_pages(g) + 7) / 8, 1);
	at.plane_at = ssd_carve(m, at.planes, sizeof(*at.plane_at));
	at.order_of = ssd_carve(m, at.planes, sizeof(*at.order_of));
	die_due_lay_out(&at.ends, m, at.dies);
	at.due = ssd_carve(m, at.dies, sizeof(*at.due));
	buffers = ssd_carve(m, (size_t)at.dies * 2, page);
	at.s = at.scheme->lay_out(m, c, g);
	if (d) {
		*d = at;
		for (uint32_t i = 0; i < d->dies && page; i++) {
			d->die[i].wdata = buffers + 2 * i * page;
			d->die[i].gdata = buffers + (2 * i + 1) * page;
		}
	}
	return m->used;
}

/* Order the planes for striping: channel first, then chip, die and plane. */
static void make_stripe(struct direct *d)
{
	const struct nand_geometry *g = d->g;
	uint32_t k = 0;

	for (uint32_t plane = 0; plane < g->planes_per_die; plane++)
		for (uint32_t die = 0; die < g->dies_per_chip; die++)
			for (uint32_t chip = 0; chip < g->chips_per_channel; chip++)
				for (uint32_t ch = 0; ch < g->channels; ch++, k++) {
					uint32_t at = (ch * g->chips_per_channel + chip) * g->dies_per_chip + die;

					d->plane_at[k] = at * g->planes_per_die + plane;
					d->order_of[d->plane_at[k]] = k;
				}
}

static void make_pool(struct direct *d)
{
	d->op_free = DIRECT_NONE;
	for (uint32_t i = d->host.c.max_unit_reads; i-- > 0;)
		direct_op_put(d, i);
}

void direct_begin(struct ftl *f)
{
	struct direct *d = direct_of(f);
	const struct ftl_config *c = &d->host.c;

	d->host.c.stripe_pages = direct_stripe(c);
	d->g = &d->host.n->geo;
	d->lpns = (uint32_t)(c->capacity_bytes / c->unit_bytes);
	d->plane_pages = direct_plane_pages(c, d->g);
	d->seq = 1;
	d->needed = d->scheme->blocks_needed(c, d->g);
	make_stripe(d);
	make_pool(d);
	die_due_init(&d->ends);
	for (uint32_t i = 0; i < d->dies; i++) {
		struct direct_die *x = &d->die[i];

		x->read_first = x->write_first = DIRECT_NONE;
		x->r.op = x->w.op = DIRECT_NONE;
	}
	pool_init(&d->pool, d->host.n);
	d->scheme->init(d);
}

/* ---- ops -------------------------------------------------------------------- */

uint64_t direct_map_bytes(const struct ftl *f)
{
	const struct direct *d = (const struct direct *)f;

	return d->scheme->map_bytes(d);
}

/* ---- controls ---------------------------------------------------------------- */

uint32_t direct_collect(struct ftl *f, uint64_t now_ns, uint32_t free_blocks)
{
	struct direct *d = direct_of(f);
	uint32_t working = 0;

	pump(d, now_ns);
	for (uint32_t plane = 0; plane < d->planes; plane++) {
		d->plane[plane].order = gc_order_of(free_blocks);
		working += direct_order_gc(d, now_ns, plane);
	}
	for (uint32_t die = 0; die < d->dies; die++)
		direct_die_dispatch(d, now_ns, die);
	return working;
}

struct ftl_block direct_block_info(const struct ftl *f, pbn_t b)
{
	const struct direct *d = (const struct direct *)f;
	bool used = d->pool.block[b.v].state == POOL_USED;

	return pool_info(&d->pool, b.v, used ? d->scheme->valid(d, b.v) : 0);
}

/* ---- settings ------------------------------------------------------------ */

const struct knob_table direct_knobs = FTL_KNOBS("ftl", DIRECT_ROWS);
const struct knob_table direct_pen_knobs = FTL_KNOBS("ftl", DIRECT_PEN_ROWS);
