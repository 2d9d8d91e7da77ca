// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * zns_mount.c - what flash holds. Each step leaves what the same steps find again, so power may be cut in any of them:
 *
 *   survey   Every spare area is read. It says to which zone and generation a block or record belongs; a zone has the
 *            highest generation of its blocks and records.
 *   claim    Blocks of each zone's generation enter its table. What is older (a half-done reset), or a copy that was
 *            not completed (a half-done repair), is erased.
 *   ends     Let m be the zone's highest readable page. Pages up to m - slots were on flash before m was issued (Z3).
 *            The zone ends at the first later page that cannot be read; an unreadable page before it is lost, an
 *            error to its readers.
 *   parts    What records have of the page at the end, or of a random write area that begins there, returns to the
 *            buffer. The zone is closed; or full, if the page before the end has ZNS_END or the end is the capacity;
 *            or read-only or offline, if a record says so.
 *   repair   A block with programmed or torn pages beyond the end cannot be written on: it is replaced
 *            (zns_repair.c). An offline zone stays as it is, and so does a read-only one, unless a record has a part
 *            of its last page. Then it is repaired and the part programmed as its end, so that the zone needs neither
 *            buffer nor record, and is not active.
 *   limit    A host relies on zone_active_max at all times. A zone that was written to its end, finished or reset is
 *            at once not active for the host, while flash may still have a zone to continue, so a cut can leave too
 *            many. The surplus is ended, zones with most data first, since those that were filled are among them: the
 *            page at the end is programmed with its part, padded, with ZNS_END and ZNS_BY_DRIVE, as NVMe lets a
 *            controller do. This costs no data, but the rest of the capacity until the reset. For the same reason, or
 *            with a smaller setting, areas can be more or larger than the settings allow: the rest is committed.
 *   states   Records say which zones are read-only and offline. Zones for which blocks are missing become offline,
 *            the highest empty ones first.
 *   log      Parts in buffers and states are written to a new block, then a record with a new floor; then old blocks
 *            of the log are erased.
 *
 * Blocks that the mount found blank are erased before use.
 */
#include "zns_log.h"
#include "zns_mount.h"
#include "zns_mount_parts.h"
#include "zns_repair.h"

struct zns_mount *zns_mount_lay_out(const struct zns *z, struct ssd_arena *m, const struct ftl_config *c,
				    const struct nand_geometry *g)
{
	struct zns_mount *t = ssd_carve(m, 1, sizeof(*t));
	struct zns_found *block = ssd_carve(m, geo_blocks(g), sizeof(*block));
	struct zns_found_zone *zone = ssd_carve(m, z->shape.zones, sizeof(*zone));
	struct zns_found_chunk *chunk = ssd_carve(m, z->chunks, sizeof(*chunk));
	struct zns_found_page *window = ssd_carve(m, (size_t)z->shape.zones * z->shape.slots, sizeof(*window));
	uint8_t *page = ssd_carve(m, c->payload ? g->page_bytes : 0, 1);

	if (t) {
		t->block = block;
		t->zone = zone;
		t->chunk = chunk;
		t->window = window;
		t->page = page;
	}
	return t;
}

/* ---- survey ---- */

static int see_data(struct zns *z, uint32_t block, uint32_t page, const struct zns_oob *o)
{
	struct zns_found *b = &z->mount->block[block];
	struct zns_found_zone *s = &z->mount->zone[o->zone];
	uint32_t place = (uint32_t)(zns_block_of(z, o->zone, o->page) - z->table);

	if (zns_plane_at(z, o->zone, o->page % z->shape.slots) != geo_plane_of(z->g, (pbn_t){ block }) ||
	    o->page / z->shape.slots % z->g->pages_per_block != page || b->log ||
	    (b->gen && (b->gen != o->gen || b->place != place)))
		return SSD_E_CORRUPT;
	b->zone = o->zone;
	b->place = place;
	b->gen = o->gen;
	b->high = page + 1;
	if (o->serial > b->serial) {
		b->serial = o->serial;
		b->copied = (uint32_t)o->mark;
	}
	if (o->gen > z->zone[o->zone].gen)
		z->zone[o->zone].gen = o->gen;
	if (!(o->kind & ZNS_END) || o->gen < s->end_gen)
		return SSD_OK;
	s->end_gen = o->gen;
	s->end_page = o->page;
	s->end_sectors = o->sectors;
	s->by_drive = o->kind & ZNS_BY_DRIVE;
	return SSD_OK;
}

/*
 * Note the states of a record. A zone leaves read-only for offline alone, and offline never, so what any record says
 * counts; the newest record has all.
 */
static int see_states(struct zns *z, uint32_t block, const struct zns_oob *o)
{
	struct zns_mount *t = z->mount;
	struct zns_found_chunk *c = &t->chunk[o->zone / ZNS_CHUNK];

	if (o->zone % ZNS_CHUNK || o->gen > UINT32_MAX || o->sectors)
		return SSD_E_CORRUPT;
	for (uint32_t i = 0; i < ZNS_CHUNK; i++) {
		bool read_only = o->gen >> i & 1, offline = o->page >> i & 1;

		if (!read_only && !offline)
			continue;
		if (o->zone + i >= z->shape.zones || (read_only && offline))
			return SSD_E_CORRUPT;
		t->zone[o->zone + i].read_only |= read_only;
		t->zone[o->zone + i].offline |= offline;
	}
	if (o->serial < c->serial)
		return SSD_OK;
	if (c->serial)
		t->block[c->block].live--;
	*c = (struct zns_found_chunk){ o->serial, block };
	t->block[block].live++;
	return SSD_OK;
}

static int see_record(struct zns *z, uint32_t block, const struct zns_oob *o)
{
	struct zns_mount *t = z->mount;
	struct zns_found *b = &t->block[block];
	bool states = (o->kind & ZNS_KIND_MASK) == ZNS_STATES;

	if (b->gen || (o->zone >= z->shape.zones && (states || o->zone != ZNS_NONE)))
		return SSD_E_CORRUPT;
	if (!b->log || o->serial < b->serial)
		b->serial = o->serial;
	b->log = t->logs = true;
	if (o->mark > z->log.floor)
		z->log.floor = o->mark;
	if (o->serial >= t->newest) {
		t->newest = o->serial;
		t->newest_block = block;
	}
	if (states)
		return see_states(z, block, o);
	if (o->zone == ZNS_NONE)
		return SSD_OK;
	b->resets |= !o->sectors;
	if (o->gen > t->zone[o->zone].note)
		t->zone[o->zone].note = o->gen;
	return SSD_OK;
}

static int visit(void *ftl, uint32_t block, uint32_t page)
{
	struct zns *z = ftl;
	enum nand_status status = survey_oob(&z->host.survey, block * z->g->pages_per_block + page, z->oob[0]);
	struct zns_oob o;
	uint8_t kind;

	if (status == NAND_ERASED)
		return SSD_OK;
	z->mount->block[block].used = page + 1;
	if (!survey_readable(status))
		return SSD_OK;
	o = zns_oob_get(z->oob[0]);
	kind = o.kind & ZNS_KIND_MASK;
	if (o.gen > z->number && kind != ZNS_STATES)
		z->number = o.gen;
	if (o.serial > z->number)
		z->number = o.serial;
	if (o.sectors > z->g->page_bytes / FTL_SECTOR_BYTES)
		return SSD_E_CORRUPT;
	if (kind == ZNS_RECORD || kind == ZNS_STATES || kind == ZNS_WINDOW)
		return see_record(z, block, &o);
	if (kind != ZNS_DATA || o.zone >= z->shape.zones || o.page >= z->shape.slots * z->shape.rows || !o.gen)
		return SSD_E_CORRUPT;
	return see_data(z, block, page, &o);
}

/* ---- claim ---- */

static bool is_complete(const struct zns_found *b)
{
	return !b->serial || b->high >= b->copied;
}

/* Two blocks are copies of one: is a the copy that counts? */
static bool is_better(const struct zns_found *a, const struct zns_found *b)
{
	if (is_complete(a) != is_complete(b))
		return is_complete(a);
	return is_complete(a) ? a->serial > b->serial : a->high > b->high;
}

static void claim(struct zns *z, uint32_t block)
{
	const struct zns_found *b = &z->mount->block[block];
	uint32_t *at;

	if (b->log)
		return;
	if (!b->used) {
		pool_put_free(&z->pool, block, z->host.survey.anything);
		return;
	}
	if (!b->gen || b->gen < z->zone[b->zone].gen || b->gen < z->mount->zone[b->zone].note ||
	    z->mount->zone[b->zone].offline) {
		pool_erase(&z->pool, &z->host, &z->host.survey, block);
		return;
	}
	at = &z->table[b->place];
	if (*at == ZNS_NONE) {
		*at = block;
	} else if (is_better(b, &z->mount->block[*at])) {
		pool_erase(&z->pool, &z->host, &z->host.survey, *at);
		*at = block;
	} else {
		pool_erase(&z->pool, &z->host, &z->host.survey, block);
	}
}

static void claim_all(struct zns *z)
{
	pool_find_bad(&z->pool);
	for (uint32_t i = 0; i < geo_blocks(z->g); i++)
		if (z->pool.block[i].state != POOL_BAD)
			claim(z, i);
	for (uint32_t i = 0; i < z->shape.zones; i++)
		if (z->mount->zone[i].note > z->zone[i].gen)
			z->zone[i].gen = z->mount->zone[i].note;
}

/* ---- ends ---- */

/* Returns the zone's highest readable page + 1. Sets *any if the zone has blocks. */
static uint32_t highest(const struct zns *z, uint32_t zone, bool *any)
{
	uint32_t most = 0;

	*any = false;
	for (uint32_t part = 0; part < z->shape.parts; part++)
		for (uint32_t slot = 0; slot < z->shape.slots; slot++) {
			uint32_t b = *zns_block_at(z, zone, part, slot), high;

			if (b == ZNS_NONE)
				continue;
			*any = true;
			high = z->mount->block[b].high;
			if (high && (part * z->g->pages_per_block + high - 1) * z->shape.slots + slot + 1 > most)
				most = (part * z->g->pages_per_block + high - 1) * z->shape.slots + slot + 1;
		}
	return most;
}

/* Returns the zone's first page that cannot be read, of those that Z3 does not guarantee (`ends` above). */
static uint32_t find_end(struct zns *z, uint32_t zone, uint32_t most)
{
	uint32_t page = most > z->shape.slots ? most - z->shape.slots : 0;
	struct zns_oob o;

	for (; page < most; page++) {
		uint32_t block = *zns_block_of(z, zone, page);

		if (block == ZNS_NONE || !zns_found_oob(z, zns_ppn(z, block, page), &o))
			break;
	}
	return page;
}

static void end_zone(struct zns *z, uint32_t zone)
{
	struct zns_zone *s = &z->zone[zone];
	const struct zns_found_zone *f = &z->mount->zone[zone];
	uint32_t most = highest(z, zone, &s->on_flash), end = find_end(z, zone, most);

	s->filled = (uint64_t)end * z->g->page_bytes;
	if (end && f->end_gen == s->gen && f->end_page + 1 == end) {
		s->ended = true;
		s->by_drive = f->by_drive;
		s->filled -= z->g->page_bytes - (uint64_t)f->end_sectors * FTL_SECTOR_BYTES;
	}
}

/* ---- log ---- */

/* Take a block for the log. Returns false if there is none. */
static bool new_log_block(struct zns *z)
{
	struct zns_log *l = &z->log;

	for (uint32_t i = 0; l->count < ZNS_LOG_BLOCKS && i < z->shape.planes; i++) {
		uint32_t plane = (l->plane + 1 + i) % z->shape.planes, b = zns_found_fresh(z, plane);

		if (b == ZNS_NONE)
			continue;
		l->first[l->count] = ++z->number;
		l->block[l->count++] = b;
		l->page = 0;
		l->plane = plane;
		z->plane[plane].logs++;
		return true;
	}
	return false;
}

/* Write a record; it is on flash when the mount continues. */
static bool write_record(struct zns *z, struct zns_oob *o, const uint8_t *data)
{
	struct zns_log *l = &z->log;
	struct nand_cmd c;

	do {
		uint32_t block;

		if (!zns_log_is_open(z) && !new_log_block(z))
			return false;
		block = l->block[l->count - 1];
		o->serial = ++z->number;
		zns_oob_put(z->oob[0], o);
		nand_fill_program(&c, NAND_SRC_META, block * z->g->pages_per_block + l->page++, z->oob[0]);
		c.data = data;
		survey_command(&z->host.survey, &c);
		z->host.survey.now_ns = c.done_ns;
		z->pool.block[block].failing |= c.status == NAND_PROG_FAIL;
	} while (c.status == NAND_PROG_FAIL);
	return true;
}

static bool write_parts(struct zns *z)
{
	for (uint32_t i = 0; i < z->shape.bufs; i++) {
		struct zns_buf *b = &z->buf[i];

		for (uint32_t s = 0; b->zone != ZNS_NONE && s < z->shape.slots; s++) {
			struct zns_cell *cell = &b->cell[s];
			struct zns_oob o = { .kind = cell->window ? ZNS_WINDOW : ZNS_RECORD, .zone = b->zone,
					     .gen = z->zone[b->zone].gen,
					     .page = cell->page, .sectors = (uint16_t)cell->sectors,
					     .mark = z->log.floor };

			if (cell->state == ZNS_EMPTY)
				continue;
			if (!write_record(z, &o, zns_cell_data(z, b, s)))
				return false;
			cell->logged = o.serial;
			cell->logged_sectors = cell->sectors;
		}
	}
	return true;
}

static bool has_left(const struct zns_zone *s)
{
	return s->state == FTL_ZONE_READONLY || s->state == FTL_ZONE_OFFLINE;
}

static bool any_has_left(const struct zns *z)
{
	for (uint32_t i = 0; i < z->shape.zones; i++)
		if (has_left(&z->zone[i]))
			return true;
	return false;
}

static bool write_states(struct zns *z)
{
	for (uint32_t i = 0; i < z->chunks; i++) {
		struct zns_oob o = { .mark = z->log.floor };

		zns_states_of(z, i, &o);
		if (!o.gen && !o.page)
			continue;
		if (!write_record(z, &o, NULL))
			return false;
		z->chunk[i] = (struct zns_chunk){ .serial = o.serial };
	}
	for (uint32_t i = 0; i < z->shape.zones; i++)
		z->zone[i].noted = has_left(&z->zone[i]);
	return true;
}

/*
 * Erase old blocks of the log. early: only blocks that this mount does not need, which have no reset, no
 * needed part or state, and not the newest record (it has the floor). Without this the log would grow if
 * the power were cut in one mount after another.
 */
static void erase_log(struct zns *z, bool early)
{
	for (uint32_t b = 0; b < geo_blocks(z->g); b++) {
		struct zns_found *f = &z->mount->block[b];

		if (!f->log || (early && (f->resets || f->live || b == z->mount->newest_block)))
			continue;
		f->log = false;
		pool_erase(&z->pool, &z->host, &z->host.survey, b);
	}
}

static bool renew_log(struct zns *z)
{
	struct zns_oob o = { .kind = ZNS_RECORD, .zone = ZNS_NONE };

	if (!z->mount->logs && !any_has_left(z))
		return true;
	erase_log(z, true);
	z->host.survey.now_ns = z->host.survey.ready_ns;
	if (!write_parts(z) || !write_states(z) || (!z->log.count && !new_log_block(z)))
		return false;
	o.mark = z->log.first[0];
	if (!write_record(z, &o, NULL))
		return false;
	z->log.floor = o.mark;
	erase_log(z, false);
	return true;
}

/* ---- states ---- */

static void take_offline(struct zns *z, uint32_t zone)
{
	z->zone[zone].state = FTL_ZONE_OFFLINE;
	z->count.online[zone % z->shape.groups]--;
}

static void set_state(struct zns *z, uint32_t zone)
{
	const struct zns_found_zone *f = &z->mount->zone[zone];
	struct zns_zone *s = &z->zone[zone];

	s->wp = s->filled;
	s->noted = f->read_only || f->offline;
	if (f->offline)
		take_offline(z, zone);
	else if (f->broken)
		s->state = FTL_ZONE_READONLY;
	else if (zns_found_full(z, s))
		s->state = FTL_ZONE_FULL;
	else if (s->filled || f->windows)
		s->state = FTL_ZONE_CLOSED;
	s->window = s->state == FTL_ZONE_CLOSED && f->windows;
	z->areas.count += s->window;
	s->failed = s->state == FTL_ZONE_READONLY;
	if (s->failed && !s->noted)
		zns_tell(z, s);
	z->count.active += zns_is_active(s);
}

static bool lacks_blocks(const struct zns *z, uint32_t group)
{
	for (uint32_t slot = 0; slot < z->shape.slots; slot++)
		if (zns_spare(z, zns_plane_at(z, group, slot)) + 1 < ZNS_SPARE)
			return true;
	return false;
}

/* Take the highest empty zones offline, as many as lack blocks. */
static void set_offline(struct zns *z)
{
	for (uint32_t i = z->shape.zones; i-- > 0;) {
		if (z->zone[i].state != FTL_ZONE_EMPTY || !lacks_blocks(z, i % z->shape.groups))
			continue;
		take_offline(z, i);
		zns_tell(z, &z->zone[i]);
	}
}

static void restore(struct zns *z)
{
	struct zns_found_zone *f = z->mount->zone;

	claim_all(z);
	for (uint32_t i = 0; i < z->shape.zones; i++)
		end_zone(z, i);
	zns_parts_find(z);
	for (uint32_t i = 0; i < z->shape.zones; i++)
		f[i].broken = (f[i].read_only && !f[i].offline) ||
			      (!zns_found_full(z, &z->zone[i]) && !zns_found_repair(z, i));
	zns_parts_limit(z);
	zns_parts_load(z);
	for (uint32_t i = 0; i < z->shape.zones; i++) {
		z->zone[i].on_flash &= z->zone[i].filled || z->zone[i].ended || f[i].windows;
		set_state(z, i);
	}
}

int zns_find(struct ftl *f)
{
	struct zns *z = zns_of(f);
	int err = survey_pages(&z->host.survey, visit, z);

	if (err)
		return err;
	z->host.worn = z->host.frozen = !survey_number(&z->host.survey, &z->number, ZNS_NUMBERS);
	restore(z);
	set_offline(z);
	if (!renew_log(z))
		z->host.worn = z->stuck = true;
	return SSD_OK;
}
