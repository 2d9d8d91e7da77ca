// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dac.c - the DAC FTL: configuration, life cycle, I/Os and their accounts, the pump.
 *
 * Every call from outside ends in pump(). It handles the commands that have ended, then repeats
 * every step that has become possible (waiting reads and writes, the engine, closing a page, dies)
 * until there is none left. The next event is the end of a die's command or of one of the engine's
 * jobs.
 */
#include "dac.h"
#include "dac_check.h"
#include "dac_die.h"
#include "dac_gc.h"
#include "dac_mount.h"
#include "dac_pick.h"
#include "dac_read.h"
#include "dac_write.h"

/* ---- methods of data reduction that each value of ftl.reduction uses ---------------- */

static const struct dac_mode modes[FTL_NREDUCTIONS] = {
	[FTL_REDUCE_NONE] = { 0 },
	[FTL_REDUCE_DEDUP] = { .fingerprints = true, .links = true },
	[FTL_REDUCE_COMP] = { .compresses = true },
	[FTL_REDUCE_DEDUP_COMP] = { .fingerprints = true, .links = true, .compresses = true },
	[FTL_REDUCE_DAC] = { .fingerprints = true, .deltas = true, .compresses = true },
};

/* ---- the page to program, and its backup ----------------------------------------- */

static const struct front_policy *const fronts[FTL_NFRONTIERS] = {
	[FTL_FRONTIERS_PAGE] = &front_page_policy,
	[FTL_FRONTIERS_PARITY] = &front_parity_policy,
	[FTL_FRONTIERS_RTF] = &front_rtf_policy,
	[FTL_FRONTIERS_FLEX] = &front_flex_policy,
};

/*
 * Returns the free blocks that a die reserves for backup, besides the configured ones (ftl/dac/DESIGN.md):
 * a backup block, a block for the copy of a rebuilt page, a block that such a copy has left nearly
 * empty, and rtf's open blocks beyond two.
 */
static uint32_t backup_reserve(const struct ftl_config *c)
{
	uint32_t more = c->frontiers == FTL_FRONTIERS_RTF && c->active_blocks > 2 ? c->active_blocks - 2 : 0;

	return fronts[c->frontiers]->group ? 3 + more : 0;
}

/* ---- the pump --------------------------------------------------------------------- */

static void wake(struct dac *d)
{
	uint64_t need = d->write.waits.first ? dac_need(d) : 0;

	while (d->write.waits.first && need > d->write.waits.first->seq) {
		struct ftl_io *io = io_list_take(&d->write.waits);
		struct ftl_breakdown w = { .buffer_ns = d->host.now_ns - io->submit_ns,
					   .map_ns = d->host.c.map_ns, .other_ns = d->host.c.overhead_ns };

		host_part(&d->host, io, d->host.now_ns + w.map_ns + w.other_ns, &w, SSD_OK);
	}
}

static bool working(const struct dac *d, const struct dac_job *j)
{
	return j->unit != DAC_NONE && j->done_ns > d->host.now_ns;
}

/*
 * Fail everything that waits: no command runs and no step is possible, because too many blocks have
 * failed.
 */
static void fail_waiting(struct dac *d)
{
	if (d->ends.busy || working(d, &d->engine.hasher) || working(d, &d->engine.packer))
		return;
	if (d->write.waits.first || d->write.writes.first)
		d->host.worn = true;
	while (d->write.waits.first)
		host_refuse(&d->host, io_list_take(&d->write.waits), SSD_E_WORNOUT);
	while (d->write.writes.first)
		host_refuse(&d->host, io_list_take(&d->write.writes), SSD_E_WORNOUT);
}

static void pump(struct dac *d, uint64_t now_ns)
{
	host_set_time(&d->host, now_ns);
	while (die_due_first_ns(&d->ends) <= now_ns)
		dac_die_complete(d, die_due_end(&d->ends));
	do {
		d->more_to_do = false;
		dac_read_line(d);
		dac_write_line(d);
		dac_engine(d);
		dac_close_due(d);
		dac_dispatch(d);
		wake(d);
	} while (d->more_to_do);
	fail_waiting(d);
}

/*
 * Note when the drive becomes idle: no I/O is left, and nothing is on its way to flash except a page
 * that is not full.
 */
static void note_idle(struct dac *d)
{
	if (d->host.ios || d->pages.closed_slots || d->write.queue_first != DAC_NONE)
		d->gc.idle_at_ns = FTL_IDLE;
	else if (d->gc.idle_at_ns == FTL_IDLE)
		d->gc.idle_at_ns = d->host.now_ns + d->host.c.idle_gc_ns;
}

static void wake_idle(struct dac *d, uint64_t now_ns)
{
	d->host.now_ns = now_ns;
	for (uint32_t i = 0; i < d->dies; i++)
		dac_gc_wanted(d, &d->die[i]);
}

static uint64_t step(struct ftl *f, uint64_t now_ns)
{
	struct dac *d = dac_of(f);
	uint64_t next;

	SSD_ASSERT(now_ns >= d->host.now_ns);
	if (d->gc.idle_blocks && now_ns >= d->gc.idle_at_ns)
		wake_idle(d, now_ns);
	pump(d, now_ns);
	if (d->gc.idle_blocks)
		note_idle(d);
	next = die_due_first_ns(&d->ends);	/* FTL_IDLE: no die is busy */
	if (d->gc.idle_at_ns > now_ns && d->gc.idle_at_ns < next)
		next = d->gc.idle_at_ns;
	if (working(d, &d->engine.hasher) && d->engine.hasher.done_ns < next)
		next = d->engine.hasher.done_ns;
	if (working(d, &d->engine.packer) && d->engine.packer.done_ns < next)
		next = d->engine.packer.done_ns;
	return next;
}

static void submit(struct ftl *f, uint64_t now_ns, struct ftl_io *io)
{
	struct dac *d = dac_of(f);

	d->gc.idle_at_ns = FTL_IDLE;
	pump(d, now_ns);
	host_accept(&d->host, io);
	if (io->op == FTL_READ)
		io_list_add(&d->read.line, io);
	else if (io->op != FTL_FLUSH && d->host.worn)
		host_refuse(&d->host, io, SSD_E_WORNOUT);
	else if (io->op == FTL_TRIM)
		host_part_now(&d->host, io);
	else
		io_list_add(&d->write.writes, io);
	pump(d, now_ns);
}

/* ---- a loss of power ----------------------------------------------------------------- */

static void save_told(void *opaque, struct ftl_io *io)
{
	struct dac *d = opaque;

	if (io != &d->save.own_flush)
		return;
	d->save.ended = true;
	d->save.done = io->status == SSD_OK;
}

/*
 * The power has failed: save as by a flush of the drive's own. Of what the host has submitted, only accepted writes go
 * on.
 */
static uint64_t save(struct ftl *f, uint64_t now_ns)
{
	struct dac *d = dac_of(f);
	uint64_t next;

	if (!d->save.on) {
		d->save.on = true;
		memcpy(d->save.kept, d->host.stats.op, sizeof(d->save.kept));
		host_mute(&d->host, save_told, d);
		d->read.line.first = d->write.writes.first = NULL;
		d->save.own_flush = (struct ftl_io){ .op = FTL_FLUSH };
		host_accept(&d->host, &d->save.own_flush);
		io_list_add(&d->write.writes, &d->save.own_flush);
	}
	next = step(f, now_ns);
	memcpy(d->host.stats.op, d->save.kept, sizeof(d->save.kept));
	return d->save.ended ? FTL_IDLE : next;
}

static uint32_t unsaved(const struct ftl *f)
{
	const struct dac *d = (const struct dac *)f;

	return d->save.done ? 0 : d->write.used;
}

/* ---- configuration ------------------------------------------------------------------ */

static uint32_t oob_bytes(const struct ftl_ops *t, const struct ftl_config *c, const struct nand_geometry *g)
{
	const struct front_policy *p = fronts[c->frontiers];

	(void)t;
	(void)g;
	return p->group ? front_oob_bytes(p, DAC_OOB_UNITS) : DAC_OOB_BYTES;
}

static uint32_t slots_of(const struct nand_geometry *g)
{
	return geo_dies(g) + 2;
}

/* Returns the units of the write buffer. Without buffer_units: those that the slots can hold, and one in the engine. */
static uint32_t pool_of(const struct ftl_config *c, const struct nand_geometry *g)
{
	return c->buffer_units ? c->buffer_units : slots_of(g) * dac_entries_max(g->page_bytes) + 1;
}

/*
 * Without buffer_units, each slot collects units for one page, which may be left to program; the unit that the
 * reduction engine works on may need one more.
 */
static struct ftl_save_most save_most(const struct ftl_ops *t, const struct ftl_config *c,
				      const struct nand_geometry *g)
{
	(void)t;
	return (struct ftl_save_most){
		.pages = c->buffer_units ? c->buffer_units : slots_of(g) + 1,
		.planes = 1,
		.fronts = 1,
		.blocks = front_host_blocks(fronts[c->frontiers], c),
		.policy = fronts[c->frontiers],
	};
}

/* Returns the number of pages that may be live or in flight, summed over dies. */
static uint64_t room_of(const struct ftl_config *c, const struct nand_geometry *g)
{
	uint64_t per_die = (uint64_t)g->blocks_per_plane * g->planes_per_die;
	uint64_t kept = (uint64_t)c->gc_start_blocks + backup_reserve(c) + 2;

	return per_die > kept ? (per_die - kept) * g->pages_per_block * geo_dies(g) : 0;
}

static const char *refused_knob(const struct ftl_config *c)
{
	if (!c->payload)
		return "payload must be yes: what this FTL stores follows from what is written; set it, "
		       "or choose another FTL";
	if (c->accounting != FTL_ACCOUNT_DEVICE)
		return "accounting must be device: this FTL has a write buffer, and pages of many units";
	if (c->gc_copyback)
		return "gc_copyback must be no: this FTL packs pages anew when it moves them";
	if (c->gc_subpage_reads == FTL_WORDS_YES)
		return "gc_subpage_reads must be auto or no: this FTL reads whole pages";
	if (c->host_subpage_reads == FTL_WORDS_YES)
		return "host_subpage_reads must be auto or no: this FTL reads whole pages";
	if (c->wl_threshold)
		return "wl_threshold must be 0: this FTL does not level wear";
	if (c->parallel_erase)
		return "parallel_erase must be no: this FTL collects one block at a time";
	if (c->pen)
		return "pen must be no: this FTL erases whole blocks";
	return NULL;
}

/* Returns why a configuration does not suit its frontiers, or NULL. */
static const char *refused_frontiers(const struct ftl_config *c, const struct nand_geometry *g)
{
	const char *fault = front_fault(fronts[c->frontiers], c, g);

	if (fault)
		return fault;
	if (c->frontiers == FTL_FRONTIERS_PAGE)
		return g->paired_loss ? "paired_loss must be no: this FTL keeps no copy of a page whose pair is "
					"programmed; or set frontiers = parity, rtf or flex" : NULL;
	if (c->frontiers == FTL_FRONTIERS_FLEX && g->pages_per_block < 4)
		return "pages_per_block must be at least 4: with frontiers = flex a block has two word lines or more";
	return NULL;
}

static const char *refused_geometry(const struct ftl_config *c, const struct nand_geometry *g)
{
	if (g->page_bytes > DAC_PAGE_BYTES_MAX)
		return "page_bytes must be at most 32768 for this FTL";
	if (geo_pages(g) > 1u << 30)
		return "blocks_per_plane is too large: this FTL takes at most 2^30 pages; use fewer blocks";
	return refused_frontiers(c, g);
}

static const char *refused_number(const struct ftl_config *c, const struct nand_geometry *g)
{
	uint64_t need = c->capacity_bytes / c->unit_bytes + slots_of(g);

	if (c->unit_bytes != g->page_bytes)
		return "unit_bytes must be geometry.page_bytes: this FTL maps pages, and packs them";
	if (host_fault(c))
		return host_fault(c);
	if (c->gc_stop_blocks < c->gc_start_blocks)
		return "gc_stop_blocks must be at least gc_start_blocks";
	if (c->idle_gc_permille > 1000)
		return "idle_gc_permille must be at most 1000";
	if (c->fingerprints_permille < 1 || c->fingerprints_permille > 1000)
		return "fingerprints_permille must be 1 .. 1000";
	if (c->fingerprints && (c->fingerprints < FP_PARTS || c->fingerprints > FPSTORE_MAX))
		return "fingerprints must be 0, or 4 .. 2^30: a unit has four";
	if (room_of(c, g) < need + (modes[c->reduction].fingerprints ? 1 : 0))
		return "the geometry cannot hold the exported capacity: lower capacity (or raise "
		       "op_permille), add blocks, or lower gc_start_blocks";
	return NULL;
}

static const char *fault(const struct ftl_ops *t, const struct ftl_config *c, const struct nand_geometry *g)
{
	const char *why = refused_knob(c);

	(void)t;
	SSD_ASSERT(c->reduction < FTL_NREDUCTIONS && c->frontiers < FTL_NFRONTIERS);
	if (!why)
		why = refused_geometry(c, g);
	return why ? why : refused_number(c, g);
}

/* ---- memory ------------------------------------------------------------------------------ */

static uint32_t fingerprints_of(const struct dac *d, const struct ftl_config *c)
{
	uint64_t all = c->fingerprints_permille == 1000 ? d->objs.objects : d->units;
	uint64_t limit = c->fingerprints ? c->fingerprints
					 : all * FP_PARTS * c->fingerprints_permille / 1000;

	if (limit > FPSTORE_MAX)
		limit = FPSTORE_MAX;
	return limit < FP_PARTS ? FP_PARTS : (uint32_t)limit;
}

static void *fill_out(struct dac_fill *f, void *at, uint32_t bytes, struct dac_entry *entry)
{
	*f = (struct dac_fill){ .data = at, .entry = entry, .bytes = bytes };
	return (uint8_t *)at + bytes;
}

/* Lay out the arrays whose members have one page of memory each. */
static size_t lay_out_pages(struct dac *at, struct ssd_arena *m, const struct ftl_config *c, bool use)
{
	uint32_t most = dac_entries_max(at->unit_bytes), ops = c->max_unit_reads + DAC_AHEAD + DAC_MERGES;
	size_t fills = (size_t)at->pages.slots + at->dies, unit = at->unit_bytes;
	uint8_t *pages = ssd_carve(m, fills + at->dies + at->write.pool + ops + at->refs.caches + DAC_AHEAD + 2,
				   unit);
	struct dac_entry *entry = ssd_carve(m, fills * most, sizeof(*entry));
	uint32_t *unit_of = ssd_carve(m, fills * most, sizeof(*unit_of));

	if (!use)
		return m->used;
	for (uint32_t i = 0; i < at->pages.slots; i++, entry += most, unit_of += most) {
		pages = fill_out(&at->pages.slot[i].fill, pages, at->unit_bytes, entry);
		at->pages.slot[i].unit = unit_of;
	}
	for (uint32_t i = 0; i < at->dies; i++, entry += most, unit_of += most, pages += unit) {
		pages = fill_out(&at->die[i].gc.fill, pages, at->unit_bytes, entry);
		dac_fill_begin(&at->die[i].gc.fill);
		at->die[i].gc.fill_from = unit_of;
		at->die[i].gc_page = pages;
	}
	for (uint32_t i = 0; i < at->write.pool; i++, pages += unit)
		at->write.buf[i].data = pages;
	for (uint32_t i = 0; i < ops; i++, pages += unit)
		at->read.op[i].data = pages;
	for (uint32_t i = 0; i < at->refs.caches; i++, pages += unit)
		at->refs.cached[i].data = pages;
	at->engine.fetched = pages;
	at->scratch = pages + DAC_AHEAD * unit;
	at->engine.packed_data = at->scratch + unit;
	return m->used;
}

/* Returns the geometry in which a die is one plane; pbn and therefore ppn are unchanged. */
static struct nand_geometry fold_of(const struct nand_geometry *g)
{
	struct nand_geometry f = *g;

	f.blocks_per_plane *= f.planes_per_die;
	f.planes_per_die = 1;
	return f;
}

static struct front_config front_config_of(const struct ftl_config *c)
{
	return (struct front_config){
		.policy = fronts[c->frontiers], .units_per_page = DAC_OOB_UNITS,
		.active_blocks = c->active_blocks, .fast_above_permille = c->fast_above_permille,
		.slow_below_permille = c->slow_below_permille, .quota_permille = c->quota_permille,
		.own = front_own(fronts[c->frontiers], FTL_GC_AUTO),
	};
}

/*
 * Returns the pages that never have room for the host's data. All planes of a die share their free blocks. The block of
 * parity pages in use and the one before it hold no units.
 */
static struct ftl_kept kept(const struct ftl_ops *t, const struct ftl_config *c, const struct nand_geometry *g)
{
	const struct front_config fc = front_config_of(c);
	uint64_t of_die = (uint64_t)geo_dies(g) * g->pages_per_block;
	uint32_t backup = fc.policy->group ? 2 : 0;

	(void)t;
	return (struct ftl_kept){
		.free_pages = of_die * (c->gc_start_blocks + c->gc_stop_blocks - 2) / 2 +
			      of_die * (backup_reserve(c) + backup),
		.open_pages = of_die * front_slots(&fc),
	};
}

static size_t lay_out(const struct ftl_ops *t, void *mem, const struct ftl_config *c,
		      const struct nand_geometry *g)
{
	struct ssd_arena arena = { mem, sizeof(struct dac) }, *m = &arena;
	struct dac *d = mem;
	const struct front_config fc = front_config_of(c);
	uint32_t rebuilt = fc.policy->group ? geo_dies(g) + 1 : 0;
	struct dac at = { .dies = geo_dies(g), .pages.slots = slots_of(g), .unit_bytes = g->page_bytes,
			  .write.pool = pool_of(c, g) };
	uint64_t pages = geo_pages(g);

	at.fold = fold_of(g);
	at.units = (uint32_t)(c->capacity_bytes / c->unit_bytes);
	at.objs.objects = (uint32_t)pages + at.units + at.write.pool + c->max_unit_reads + 16;
	at.refs.caches = c->reference_bytes / g->page_bytes;
	at.write.buckets = at.write.pool;
	at.maps.map = ssd_carve(m, at.units, sizeof(*at.maps.map));
	at.maps.link_at = ssd_carve(m, at.units, sizeof(*at.maps.link_at));
	at.maps.unit_seq = ssd_carve(m, at.units, sizeof(*at.maps.unit_seq));
	at.maps.unit_ref_seq = ssd_carve(m, at.units, sizeof(*at.maps.unit_ref_seq));
	at.objs.obj = ssd_carve(m, at.objs.objects, sizeof(*at.objs.obj));
	at.objs.check_refs = ssd_carve(m, at.objs.objects, sizeof(*at.objs.check_refs));
	at.objs.check_shares = ssd_carve(m, at.objs.objects, sizeof(*at.objs.check_shares));
	at.live = ssd_carve(m, pages, sizeof(*at.live));
	at.block = ssd_carve(m, geo_blocks(g), sizeof(*at.block));
	at.die = ssd_carve(m, at.dies, sizeof(*at.die));
	die_due_lay_out(&at.ends, m, at.dies);
	at.write.buf = ssd_carve(m, at.write.pool, sizeof(*at.write.buf));
	at.write.bucket = ssd_carve(m, at.write.buckets, sizeof(*at.write.bucket));
	at.pages.slot = ssd_carve(m, at.pages.slots, sizeof(*at.pages.slot));
	at.read.op = ssd_carve(m, c->max_unit_reads + DAC_AHEAD + DAC_MERGES, sizeof(*at.read.op));
	at.refs.cached = ssd_carve(m, at.refs.caches, sizeof(*at.refs.cached));
	at.engine.xmatch = ssd_carve(m, 1, sizeof(*at.engine.xmatch));
	at.refs.prints = ssd_carve(m, fpstore_footprint(fingerprints_of(&at, c)), 1);
	blk_lay_out(d ? &at.bt : NULL, m, &at.fold, 1, BLK_BUCKETS);
	front_lay_out(&at.fr, m, &fc, &at.fold);
	at.oob_len = oob_bytes(t, c, g);
	at.oob = ssd_carve(m, 1, at.oob_len);
	at.rebuilt = ssd_carve(m, rebuilt, g->page_bytes + at.oob_len);
	lay_out_pages(&at, m, c, d);
	if (d) {
		*d = at;
		d->bt.geo = d->fr.g = &d->fold;
	}
	return m->used;
}

static void make_lists(struct dac *d)
{
	uint32_t ops = d->host.c.max_unit_reads + DAC_AHEAD + DAC_MERGES;

	d->objs.free = d->write.free = d->read.free = d->pages.open = DAC_NONE;
	d->write.queue_first = d->refs.lru_first = d->refs.lru_last = DAC_NONE;
	d->engine.hasher.unit = d->engine.packer.unit = DAC_NONE;
	for (uint32_t i = d->objs.objects; i-- > 0; d->objs.free = i)
		d->objs.obj[i] = (struct dac_obj){ .ppn = DAC_NONE, .ref = DAC_NONE, .unit = d->objs.free,
					      .cached = DAC_NONE };
	for (uint32_t i = d->write.pool; i-- > 0; d->write.free = i)
		d->write.buf[i].next = d->write.free;
	for (uint32_t i = ops; i-- > 0; d->read.free = i) {
		d->read.op[i].next = d->read.free;
		d->read.op[i].obj = DAC_NONE;
	}
	for (uint32_t i = 0; i < d->write.buckets; i++)
		d->write.bucket[i] = DAC_NONE;
	for (uint32_t i = 0; i < d->units; i++)
		d->maps.map[i] = d->maps.link_at[i] = DAC_NONE;
}

static void make_dies(struct dac *d)
{
	blk_init(&d->bt);
	front_init(&d->fr, d->host.n, &d->bt, &d->host.stats);
	for (uint32_t i = 0; i < d->dies; i++) {
		struct dac_die *x = &d->die[i];

		x->read_first = x->lost = DAC_NONE;
		x->lost_page = d->rebuilt + (size_t)(i + 1) * (d->unit_bytes + d->oob_len);
		x->gc.victim = x->gc.from = DAC_NONE;
		x->good_count = d->g->blocks_per_plane * d->g->planes_per_die;
	}
}

static void begin(struct ftl *f)
{
	struct dac *d = dac_of(f);
	const struct ftl_config *c = &d->host.c;

	die_due_init(&d->ends);
	d->g = &d->host.n->geo;
	d->mode = &modes[c->reduction];
	d->gc.reserve = backup_reserve(c);
	d->gc.start = c->gc_start_blocks + d->gc.reserve;
	d->gc.stop = c->gc_stop_blocks + d->gc.reserve;
	d->gc.urgent = c->gc_urgent_blocks + d->gc.reserve;
	d->gc.idle_blocks = (uint32_t)((uint64_t)d->fold.blocks_per_plane * c->idle_gc_permille / 1000);
	d->gc.idle_at_ns = FTL_IDLE;
	d->refs.prints = fpstore_init(d->refs.prints, fingerprints_of(d, c));
	xmatch_init(d->engine.xmatch, XMATCH_DICT_DEFAULT);
	make_lists(d);
	make_dies(d);
}

/* ---- ops -------------------------------------------------------------------------------------- */

static uint64_t map_bytes(const struct ftl *f)
{
	const struct dac *d = (const struct dac *)f;

	return (uint64_t)d->units * (sizeof(*d->maps.map) + sizeof(*d->maps.link_at) + sizeof(*d->maps.unit_seq)) +
	       (uint64_t)d->objs.objects * sizeof(*d->objs.obj) + geo_pages(d->g) * sizeof(*d->live);
}

/* Order GC of every die. A die that has nothing to collect drops the order. */
static uint32_t collect(struct ftl *f, uint64_t now_ns, uint32_t free_blocks)
{
	struct dac *d = dac_of(f);
	uint32_t working = 0;

	pump(d, now_ns);
	for (uint32_t i = 0; i < d->dies; i++)
		d->die[i].order = gc_order_of(free_blocks);
	for (uint32_t i = 0; i < d->dies; i++)
		dac_gc_wanted(d, &d->die[i]);
	pump(d, now_ns);
	for (uint32_t i = 0; i < d->dies; i++) {
		working += d->die[i].gc_active;
		if (!d->die[i].gc_active)
			d->die[i].order = (struct gc_order){ 0 };
	}
	return working;
}

static const struct knob_table own = FTL_KNOBS("ftl", DAC_ROWS);
/* Sub-page reads: `auto` means no for this FTL. */
static const struct knob_table *const knobs[] = {
	&ftl_gc_knobs, &ftl_gc_stop_knobs, &own, &ftl_word_knobs, &ftl_idle_gc_knobs, &ftl_rtf_knobs, &ftl_flex_knobs,
	NULL
};
static void stop_anew(struct ftl *f)
{
	struct dac *d = dac_of(f);

	d->gc.stop = d->host.c.gc_stop_blocks + d->gc.reserve;
}

/* gc_start_blocks is fixed: the shares of dies, slots and names follow from it. */
static const struct ftl_anew anew[] = {
	{ FTL_AT_USE, NULL }, { FTL_ANEW_GC_STOP, stop_anew }, { FTL_FIXED, NULL }
};

static struct ftl_block block_info(const struct ftl *f, pbn_t b)
{
	return blk_info(&((const struct dac *)f)->bt, b.v);
}

const struct ftl_ops dac_ftl_ops = {
	.name = "dac",
	.durability = FTL_FLUSHED,
	.word_lines = true,
	.writes_lost = true,
	.oob_bytes = oob_bytes,
	.fault = fault,
	.kept = kept,
	.lay_out = lay_out,
	.begin = begin,
	.find = dac_find,
	.submit = submit,
	.step = step,
	.save = save,
	.save_most = save_most,
	.unsaved = unsaved,
	.check = dac_check,
	HOST_OPS_COMMON,
	.map_bytes = map_bytes,
	.collect = collect,
	.knobs = knobs,
	.anew = anew,
	.block = block_info,
};
