// SPDX-License-Identifier: GPL-2.0-or-later
/* zns.c - the table of the FTL: settings, memory, submit, step, reports, check. See zns.h. */
#include "zns.h"
#include "zns_die.h"
#include "zns_host.h"
#include "zns_mount.h"
#include "zns_read.h"
#include "zns_zone.h"

/* ---- arithmetic of the geometry ---- */

static void shape(struct zns *z, const struct ftl_config *c, const struct nand_geometry *g)
{
	uint64_t pages, stripes;

	z->shape.dies = geo_dies(g);
	z->shape.planes = geo_planes(g);
	z->shape.groups = z->shape.dies / zns_zone_dies(c, g);
	z->shape.slots = zns_zone_dies(c, g) * g->planes_per_die;
	z->shape.parts = c->zone_blocks;
	z->shape.rows = z->shape.parts * g->pages_per_block;
	pages = (uint64_t)z->shape.slots * z->shape.rows;
	z->shape.capacity = z->shape.size = pages * g->page_bytes;
	while (c->zone_power2 && z->shape.size & (z->shape.size - 1))
		z->shape.size += z->shape.size & -z->shape.size;
	z->shape.zones = (uint32_t)(c->capacity_bytes / z->shape.size);
	z->chunks = (z->shape.zones + ZNS_CHUNK - 1) / ZNS_CHUNK;
	stripes = (uint64_t)c->buffer_units * c->unit_bytes / ((uint64_t)z->shape.slots * g->page_bytes);
	z->shape.active_max = c->zone_active_max || !stripes ? c->zone_active_max : (uint32_t)stripes - 1;
	if (z->shape.active_max > z->shape.zones)
		z->shape.active_max = z->shape.zones;
	z->shape.bufs = z->shape.active_max + 1;
	z->areas.pages = c->zrwa_pages;
	z->areas.bytes = (uint64_t)c->zrwa_pages * g->page_bytes;
	z->areas.step = (uint64_t)c->zrwa_flush_pages * g->page_bytes;
	z->areas.max = !c->zrwa_pages ? 0 : c->zrwa_zones ? c->zrwa_zones : z->shape.active_max;
	z->shape.open_max = c->zone_open_max && c->zone_open_max < z->shape.active_max ?
		c->zone_open_max : z->shape.active_max;
}

static const char *bad_zones(const struct ftl_config *c, const struct nand_geometry *g)
{
	struct zns z = { 0 };
	uint64_t stripe;

	if (c->unit_bytes < FTL_SECTOR_BYTES || c->unit_bytes > g->page_bytes || g->page_bytes % c->unit_bytes)
		return "unit_bytes must be 512 .. page_bytes and divide it";
	if (c->zone_dies && geo_dies(g) % c->zone_dies)
		return "zone_dies must divide the number of dies";
	if (!c->zone_blocks || c->zone_blocks > g->blocks_per_plane)
		return "zone_blocks must be 1 .. blocks_per_plane";
	shape(&z, c, g);
	stripe = (uint64_t)z.shape.slots * g->page_bytes;
	if (!c->capacity_bytes || c->capacity_bytes % z.shape.size)
		return "capacity_mib must be whole zones: a zone's size is zone_dies (0: all) * planes_per_die * "
		       "zone_blocks * pages_per_block * page_bytes, with zone_power2 rounded up to a power of two";
	if ((uint64_t)(z.shape.zones + z.shape.groups - 1) / z.shape.groups * z.shape.parts + ZNS_SPARE >
	    g->blocks_per_plane)
		return "capacity_mib leaves less than three blocks of a plane for the log and for bad blocks: lower "
		       "it, or add blocks";
	if (!z.shape.active_max || z.shape.bufs * stripe > (uint64_t)c->buffer_units * c->unit_bytes)
		return "buffer_units must hold a page of each plane of a zone for every active zone and one zone more: "
		       "raise it, or lower zone_active_max";
	if (c->zone_open_max > z.shape.active_max)
		return "zone_open_max is more than the zones that may be active (zone_active_max, or with 0 as many as "
		       "buffer_units hold, and at most all zones): lower it, or raise the limit of active zones";
	if (z.chunks + 2 > g->pages_per_block)
		return "capacity_mib has more zones than the log can keep the states of, 32 for each of "
		       "pages_per_block but two: raise zone_blocks or zone_dies, or lower capacity_mib";
	if (z.shape.bufs + z.chunks > g->pages_per_block)
		return "zone_active_max (0: as many as buffer_units hold) plus one for each 32 zones must be less than "
		       "pages_per_block: lower zone_active_max";
	return NULL;
}

static const char *bad_windows(const struct ftl_config *c, const struct nand_geometry *g)
{
	struct zns z = { 0 };

	if (!c->zrwa_pages && c->zrwa_zones)
		return "zrwa_zones needs zrwa_pages";
	if (!c->zrwa_pages)
		return c->zrwa_flush_pages > 1 ? "zrwa_flush_pages needs zrwa_pages" : NULL;
	shape(&z, c, g);
	if (c->zrwa_pages > z.shape.slots)
		return "zrwa_pages must be at most a page for each plane of a zone, which its write buffer holds";
	if (!c->zrwa_flush_pages || c->zrwa_pages % c->zrwa_flush_pages)
		return "zrwa_flush_pages must divide zrwa_pages";
	if (c->zrwa_zones > z.shape.active_max)
		return "zrwa_zones is more than the zones that may be active (zone_active_max, or with 0 as many as "
		       "buffer_units hold, and at most all zones): lower it, or raise the limit of active zones";
	if ((uint64_t)z.shape.active_max * c->zrwa_pages + z.shape.slots + z.chunks > g->pages_per_block)
		return "zrwa_pages for each active zone (zone_active_max; 0: as many as buffer_units hold), plus a "
		       "page for each plane of a zone, plus one for each 32 zones must be at most pages_per_block, "
		       "since a block of the log keeps them: lower zrwa_pages or zone_active_max";
	return NULL;
}

static const char *fault(const struct ftl_ops *t, const struct ftl_config *c, const struct nand_geometry *g)
{
	const char *why = bad_zones(c, g);

	(void)t;
	if (!why)
		why = bad_windows(c, g);
	if (!why && c->max_unit_reads < 8)
		why = "max_unit_reads must be 8 or more";
	return why;
}

/* ---- memory ---- */

static size_t lay_out(const struct ftl_ops *t, void *mem, const struct ftl_config *c,
		      const struct nand_geometry *g)
{
	struct ssd_arena arena = { mem, sizeof(struct zns) }, *m = &arena;
	struct zns z = { 0 };
	size_t cells;

	(void)t;
	shape(&z, c, g);
	cells = (size_t)z.shape.bufs * z.shape.slots;
	z.zone = ssd_carve(m, z.shape.zones, sizeof(*z.zone));
	z.chunk = ssd_carve(m, z.chunks, sizeof(*z.chunk));
	z.table = ssd_carve(m, (size_t)z.shape.zones * z.shape.parts * z.shape.slots, sizeof(*z.table));
	pool_lay_out(&z.pool, m, g);
	z.plane = ssd_carve(m, z.shape.planes, sizeof(*z.plane));
	z.buf = ssd_carve(m, z.shape.bufs, sizeof(*z.buf));
	z.cells = ssd_carve(m, cells, sizeof(*z.cells));
	z.data = ssd_carve(m, cells, c->payload ? g->page_bytes : 0);
	z.die = ssd_carve(m, z.shape.dies, sizeof(*z.die));
	z.count.online = ssd_carve(m, z.shape.groups, sizeof(*z.count.online));
	z.read.op = ssd_carve(m, c->max_unit_reads, sizeof(*z.read.op));
	die_due_lay_out(&z.ends, m, z.shape.dies);
	z.mount = zns_mount_lay_out(&z, m, c, g);
	if (mem)
		*(struct zns *)mem = z;
	return m->used;
}

static void begin(struct ftl *f)
{
	struct zns *z = zns_of(f);

	z->g = &z->host.n->geo;
	z->log.resets = z->erasing = z->waiting_first = ZNS_NONE;
	z->read.op_free = ZNS_NONE;
	memset(z->table, 0xff, (size_t)z->shape.zones * z->shape.parts * z->shape.slots * sizeof(*z->table));
	for (uint32_t i = 0; i < z->shape.zones; i++) {
		z->zone[i] = (struct zns_zone){ .state = FTL_ZONE_EMPTY, .buf = ZNS_NONE, .next = ZNS_NONE };
		z->count.online[i % z->shape.groups]++;
	}
	pool_init(&z->pool, z->host.n);
	for (uint32_t i = 0; i < z->shape.bufs; i++)
		z->buf[i] = (struct zns_buf){ .zone = ZNS_NONE, .cell = z->cells + (size_t)i * z->shape.slots,
			.data = z->data + (size_t)i * z->shape.slots * z->g->page_bytes };
	for (uint32_t i = 0; i < z->shape.dies; i++)
		z->die[i].read_first = ZNS_NONE;
	for (uint32_t i = 0; i < z->host.c.max_unit_reads; i++) {
		z->read.op[i].next = z->read.op_free;
		z->read.op_free = i;
	}
	die_due_init(&z->ends);
}

/* ---- the host's calls ---- */

static uint64_t step(struct ftl *f, uint64_t now_ns)
{
	struct zns *z = zns_of(f);

	zns_pump(z, now_ns);
	return die_due_first_ns(&z->ends);	/* FTL_IDLE: no die is busy */
}

static void submit(struct ftl *f, uint64_t now_ns, struct ftl_io *io)
{
	struct zns *z = zns_of(f);

	zns_pump(z, now_ns);
	host_accept(&z->host, io);
	if (io->op == FTL_READ) {
		zns_submit_read(z, io);
	} else if (io->op == FTL_TRIM && !io->zone) {
		host_part_now(&z->host, io);
	} else {
		if (io->op == FTL_FLUSH)
			zns_submit_flush(z, io);
		else
			zns_submit_zone(z, io);
		zns_go_on(z, NULL);
	}
	zns_settle(z);
}

/* ---- reports ---- */

static struct ftl_zones zones(const struct ftl *f)
{
	const struct zns *z = (const struct zns *)f;

	return (struct ftl_zones){ .count = z->shape.zones, .open_max = z->shape.open_max,
				   .active_max = z->shape.active_max,
				   .size_bytes = z->shape.size, .changes = z->count.changes, .window_max = z->areas.max,
				   .cross_reads = z->host.c.zone_cross_reads,
				   .window_bytes = z->areas.bytes, .window_step = z->areas.step };
}

static struct ftl_zone zone(const struct ftl *f, uint32_t number)
{
	const struct zns *z = (const struct zns *)f;
	const struct zns_zone *s = &z->zone[number];
	uint64_t start = number * z->shape.size;

	SSD_ASSERT(number < z->shape.zones);
	return (struct ftl_zone){ .start = start, .capacity = z->shape.capacity, .wp = start + s->wp, .state = s->state,
				  .ended = s->by_drive && s->state == FTL_ZONE_FULL, .changed = s->changed,
				  .window = s->window };
}

static void zone_told(struct ftl *f, uint32_t number)
{
	zns_of(f)->zone[number].changed = false;
}

static uint64_t map_bytes(const struct ftl *f)
{
	const struct zns *z = (const struct zns *)f;

	return (uint64_t)z->shape.zones * z->shape.parts * z->shape.slots * sizeof(*z->table);
}

static struct ftl_block block(const struct ftl *f, pbn_t b)
{
	return pool_info(&((const struct zns *)f)->pool, b.v, 0);
}

/* ---- check ---- */

static void check_block_used(const struct zns *z, uint32_t b, uint32_t *used)
{
	SSD_ASSERT(z->pool.block[b].state == POOL_USED);	/* Z1 */
	++*used;
}

static void check_blocks(const struct zns *z)
{
	uint32_t used = 0, found = 0;

	for (size_t i = 0; i < (size_t)z->shape.zones * z->shape.parts * z->shape.slots; i++)
		if (z->table[i] != ZNS_NONE)
			check_block_used(z, z->table[i], &used);
	for (uint32_t i = 0; i < z->log.count; i++)
		check_block_used(z, z->log.block[i], &used);
	for (uint32_t b = 0; b < geo_blocks(z->g); b++)
		found += z->pool.block[b].state == POOL_USED;
	SSD_ASSERT(used == found || z->host.worn);		/* Z1; a drive without a log keeps old log blocks */
}

static void check_buf(const struct zns *z, uint32_t buf)
{
	const struct zns_buf *b = &z->buf[buf];
	const struct zns_zone *s = b->zone == ZNS_NONE ? NULL : &z->zone[b->zone];

	SSD_ASSERT(!s || s->buf == buf);			/* Z6 */
	for (uint32_t i = 0; i < z->shape.slots; i++) {
		const struct zns_cell *c = &b->cell[i];

		if (c->state == ZNS_EMPTY)
			continue;
		SSD_ASSERT(s && c->page % z->shape.slots == i);	/* Z6 */
		SSD_ASSERT(c->page + z->shape.slots >= (s->filled + z->g->page_bytes - 1) / z->g->page_bytes);	/* Z3 */
		SSD_ASSERT(c->state != ZNS_KEPT || c->window);
		if (c->state == ZNS_FILLING && c->window)	/* Z4 */
			SSD_ASSERT(s->filled % z->g->page_bytes == 0 && c->page >= s->filled / z->g->page_bytes &&
				   c->page < s->filled / z->g->page_bytes +
					     (s->failed ? z->shape.slots : z->areas.pages));
		else if (c->state == ZNS_FILLING)
			SSD_ASSERT(c->page == s->filled / z->g->page_bytes &&
				   c->sectors * (uint64_t)FTL_SECTOR_BYTES == s->filled % z->g->page_bytes);
	}
}

void zns_check(const struct ftl *f)
{
	const struct zns *z = (const struct zns *)f;
	uint32_t open = 0, closed = 0, active = 0, lined = 0, windows = 0;

	pool_check(&z->pool);				/* Z1 */
	check_blocks(z);
	for (uint32_t i = 0; i < z->shape.bufs; i++)
		check_buf(z, i);
	for (uint32_t i = 0; i < z->shape.zones; i++) {
		const struct zns_zone *s = &z->zone[i];

		open += s->state == FTL_ZONE_IMPLICIT || s->state == FTL_ZONE_EXPLICIT;
		closed += s->state == FTL_ZONE_CLOSED;
		active += zns_is_active(s);
		lined += s->line.first != NULL;
		windows += s->window;
		SSD_ASSERT(!s->window || zns_is_open(s) || s->state == FTL_ZONE_CLOSED);	/* Z7 */
		SSD_ASSERT(s->buf == ZNS_NONE || z->buf[s->buf].zone == i);	/* Z6 */
		SSD_ASSERT(s->filled <= z->shape.capacity && s->wp <= z->shape.capacity);
		SSD_ASSERT(!s->noted || s->state == FTL_ZONE_READONLY || s->state == FTL_ZONE_OFFLINE);
		SSD_ASSERT(s->line.first || s->failed || s->ended || s->state == FTL_ZONE_OFFLINE ||
			   s->filled == s->wp || z->host.worn);
	}
	SSD_ASSERT(windows == z->areas.count && windows <= z->areas.max);		/* Z7 */
	SSD_ASSERT(open == z->count.open && active == z->count.active && lined == z->count.lined);
	SSD_ASSERT(open <= z->shape.open_max && open + closed <= z->shape.active_max);	/* Z5 */
}

/* ---- the table ---- */

static const struct knob_table zone_knobs = FTL_KNOBS("ftl", ZNS_ROWS);
static const struct knob_table *const knobs[] = { &zone_knobs, NULL };

const struct ftl_ops zns_ftl_ops = {
	.name = "zns", .durability = FTL_ZONED, .knobs = knobs,
	.page_oob_bytes = ZNS_OOB_BYTES, .fault = fault, .lay_out = lay_out, .begin = begin, .find = zns_find,
	.submit = submit, .step = step, .check = zns_check, .map_bytes = map_bytes, .block = block,
	.zones = zones, .zone = zone, .zone_told = zone_told, HOST_OPS_COMMON,
};
