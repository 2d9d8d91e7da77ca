// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * zns_mount_parts.c - a mount's steps for pages that flash has in the log alone: the part of the page at a zone's
 * end, or pages of its random write area, which begins there. They return to the buffer, or go to their places
 * if there are too many.
 */
#include "zns_buf.h"
#include "zns_mount.h"
#include "zns_mount_parts.h"
#include "zns_repair.h"

static struct zns_found_page *window_at(const struct zns *z, uint32_t zone, uint32_t page)
{
	return &z->mount->window[(size_t)zone * z->shape.slots + page % z->shape.slots];
}

static void count_live(struct zns *z, uint32_t ppn, int by)
{
	z->mount->block[ppn / z->g->pages_per_block].live += (uint32_t)by;
}

static uint32_t end_page(const struct zns *z, uint32_t zone)
{
	return (uint32_t)(z->zone[zone].filled / z->g->page_bytes);
}

/* ---- find ---- */

static void see_part(struct zns *z, uint32_t ppn, const struct zns_oob *o)
{
	struct zns_found_zone *f = &z->mount->zone[o->zone];

	if ((uint64_t)o->page * z->g->page_bytes != z->zone[o->zone].filled)
		return;
	if (o->sectors < f->part_sectors || (o->sectors == f->part_sectors && o->serial < f->part_serial))
		return;
	if (f->part_ppn != ZNS_NONE)
		count_live(z, f->part_ppn, -1);
	count_live(z, ppn, 1);
	f->part_ppn = ppn;
	f->part_sectors = o->sectors;
	f->part_serial = o->serial;
}

static void see_window(struct zns *z, uint32_t ppn, const struct zns_oob *o)
{
	struct zns_found_page *w = window_at(z, o->zone, o->page);
	uint32_t end = end_page(z, o->zone);

	if (o->page < end || o->page - end >= z->shape.slots || o->page >= z->shape.slots * z->shape.rows ||
	    o->serial < w->serial)
		return;
	if (w->serial)
		count_live(z, w->ppn, -1);
	z->mount->zone[o->zone].windows += !w->serial;
	count_live(z, ppn, 1);
	*w = (struct zns_found_page){ o->serial, o->page, ppn };
}

static void drop_windows(struct zns *z, uint32_t zone)
{
	for (uint32_t slot = 0; slot < z->shape.slots; slot++) {
		struct zns_found_page *w = window_at(z, zone, slot);

		if (w->serial)
			count_live(z, w->ppn, -1);
		*w = (struct zns_found_page){ 0 };
	}
	z->mount->zone[zone].windows = 0;
}

static void find_in(struct zns *z, uint32_t ppn)
{
	struct zns_oob o;
	bool window;

	if (!zns_found_oob(z, ppn, &o) || o.zone >= z->shape.zones || !o.sectors || o.serial < z->log.floor)
		return;
	window = (o.kind & ZNS_KIND_MASK) == ZNS_WINDOW;
	if ((!window && o.kind != ZNS_RECORD) || z->mount->zone[o.zone].offline || o.gen != z->zone[o.zone].gen ||
	    zns_found_full(z, &z->zone[o.zone]))
		return;
	if (window)
		see_window(z, ppn, &o);
	else
		see_part(z, ppn, &o);
}

void zns_parts_find(struct zns *z)
{
	uint32_t ppb = z->g->pages_per_block;

	for (uint32_t i = 0; i < z->shape.zones; i++)
		z->mount->zone[i].part_ppn = ZNS_NONE;
	for (uint32_t b = 0; b < geo_blocks(z->g); b++)
		for (uint32_t page = 0; z->mount->block[b].log && page < z->mount->block[b].used; page++)
			find_in(z, b * ppb + page);
	/* If the log has the incomplete page at the end, the zone got its area later, with no durable data yet. */
	for (uint32_t i = 0; i < z->shape.zones; i++)
		if (z->mount->zone[i].part_ppn != ZNS_NONE && z->mount->zone[i].windows)
			drop_windows(z, i);
}

/* ---- to their places ---- */

/* Returns 1 + the last page that the log has of the zone's random write area. */
static uint32_t window_end(const struct zns *z, uint32_t zone)
{
	uint32_t end = 0;

	for (uint32_t slot = 0; slot < z->shape.slots; slot++) {
		const struct zns_found_page *w = window_at(z, zone, slot);

		if (w->serial && w->page + 1 > end)
			end = w->page + 1;
	}
	return end;
}

/* Fill the buffer of a page with what the log has of the page at the zone's end. Returns its sectors. */
static uint32_t collect(struct zns *z, uint32_t zone)
{
	const struct zns_found_zone *f = &z->mount->zone[zone];
	const struct zns_found_page *w = window_at(z, zone, end_page(z, zone));
	uint32_t all = z->g->page_bytes / FTL_SECTOR_BYTES, sectors = f->windows ? all : f->part_sectors;
	struct nand_cmd c;

	if (z->host.c.payload)
		memset(z->mount->page, 0, z->g->page_bytes);
	if (f->windows ? !w->serial : f->part_ppn == ZNS_NONE)
		return f->windows ? all : 0;
	nand_fill_read(&c, NAND_SRC_META, f->windows ? w->ppn : f->part_ppn, NAND_WHOLE_PAGE, z->oob[0]);
	survey_command(&z->host.survey, &c);
	if (c.page)
		memcpy(z->mount->page, c.page, (size_t)sectors * FTL_SECTOR_BYTES);
	return sectors;
}

/* Program the page at the zone's end, with these flags. Returns false if there is no block or its program fails. */
static bool program_page(struct zns *z, uint32_t zone, uint8_t flags)
{
	struct zns_found_zone *f = &z->mount->zone[zone];
	uint32_t page = end_page(z, zone), *at = zns_block_of(z, zone, page);
	struct zns_found_page *w = window_at(z, zone, page);
	struct zns_oob o = { .kind = ZNS_DATA | flags, .zone = zone, .gen = z->zone[zone].gen, .page = page };
	struct nand_cmd c;

	if (*at == ZNS_NONE)
		*at = zns_found_fresh(z, zns_plane_at(z, zone, page % z->shape.slots));
	if (*at == ZNS_NONE)
		return false;
	o.sectors = (uint16_t)collect(z, zone);
	zns_oob_put(z->oob[0], &o);
	nand_fill_program(&c, NAND_SRC_META, zns_ppn(z, *at, page), z->oob[0]);
	c.data = z->host.c.payload ? z->mount->page : NULL;
	survey_command(&z->host.survey, &c);
	z->host.survey.now_ns = c.done_ns;	/* the program ends before the page leaves the log */
	z->pool.block[*at].failing |= c.status == NAND_PROG_FAIL;
	if (c.status != NAND_OK)
		return false;
	z->zone[zone].filled += (uint64_t)o.sectors * FTL_SECTOR_BYTES;
	if (f->windows && w->serial) {
		count_live(z, w->ppn, -1);
		f->windows--;
		*w = (struct zns_found_page){ 0 };
	} else if (f->part_ppn != ZNS_NONE) {
		count_live(z, f->part_ppn, -1);
		f->part_ppn = ZNS_NONE;
	}
	return true;
}

/* Program the pages before `end`; the last one has these flags. */
static bool put_pages(struct zns *z, uint32_t zone, uint32_t end, uint8_t flags)
{
	z->zone[zone].on_flash = true;
	z->host.survey.now_ns = z->host.survey.ready_ns;	/* repairs have ended */
	for (uint32_t page = end_page(z, zone); page < end; page++)
		if (!program_page(z, zone, page + 1 == end ? flags : 0))
			return false;
	return true;
}

/* End the zone; parts and pages leave the log. */
static bool put_end(struct zns *z, uint32_t zone)
{
	uint32_t end = z->mount->zone[zone].windows ? window_end(z, zone) : end_page(z, zone) + 1;

	z->zone[zone].ended = put_pages(z, zone, end, ZNS_END | ZNS_BY_DRIVE);
	return z->zone[zone].ended;
}

/* ---- limits ---- */

static bool is_unfinished(const struct zns *z, uint32_t zone)
{
	const struct zns_zone *s = &z->zone[zone];
	const struct zns_found_zone *f = &z->mount->zone[zone];

	return !zns_found_full(z, s) && !f->broken && (s->filled || f->part_ppn != ZNS_NONE || f->windows);
}

/* Returns the unfinished zone with the most data if there are more than may be active, or ZNS_NONE. */
static uint32_t find_surplus(const struct zns *z)
{
	uint32_t count = 0, most = ZNS_NONE;

	for (uint32_t i = 0; i < z->shape.zones; i++) {
		if (!is_unfinished(z, i))
			continue;
		count++;
		if (most == ZNS_NONE || z->zone[i].filled > z->zone[most].filled)
			most = i;
	}
	return count > z->shape.active_max ? most : ZNS_NONE;
}

static void finish(struct zns *z, uint32_t zone)
{
	struct zns_zone *s = &z->zone[zone];

	z->mount->zone[zone].broken = !put_end(z, zone);
	if (z->mount->zone[zone].broken)
		return;
	s->by_drive = true;
	zns_tell(z, s);
}

/* Let the zone keep the last `pages` pages of its random write area; the mount commits those before them. */
static void keep_pages(struct zns *z, uint32_t zone, uint32_t pages)
{
	uint32_t end = window_end(z, zone);

	if (end > end_page(z, zone) + pages)
		z->mount->zone[zone].broken = !put_pages(z, zone, end - pages, 0);
}

void zns_parts_limit(struct zns *z)
{
	uint32_t zone, windows = 0;

	while ((zone = find_surplus(z)) != ZNS_NONE)
		finish(z, zone);
	for (zone = 0; zone < z->shape.zones; zone++) {
		if (!z->mount->zone[zone].windows || !is_unfinished(z, zone))
			continue;
		keep_pages(z, zone, windows < z->areas.max ? z->areas.pages : 0);
		windows += z->mount->zone[zone].windows != 0;
	}
}

/* ---- buffers ---- */

/* Returns how many broken zones may have a buffer. They count as active then, so each active zone can have one. */
static uint32_t room_for_broken(const struct zns *z)
{
	uint32_t room = z->shape.active_max;

	for (uint32_t i = 0; i < z->shape.zones; i++)
		room -= room && is_unfinished(z, i);
	return room;
}

static void load_page(struct zns *z, uint32_t zone, uint32_t ppn, const struct zns_cell *as)
{
	uint32_t slot = as->page % z->shape.slots, buf = z->zone[zone].buf;
	struct nand_cmd c;
	uint8_t *to;

	nand_fill_read(&c, NAND_SRC_META, ppn, NAND_WHOLE_PAGE, z->oob[0]);
	survey_command(&z->host.survey, &c);
	to = zns_cell_data(z, &z->buf[buf], slot);
	SSD_ASSERT(!c.page || to);	/* only an array with payload returns content */
	if (c.page)
		memcpy(to, c.page, z->g->page_bytes);
	z->buf[buf].cell[slot] = *as;
	if (as->sectors < z->g->page_bytes / FTL_SECTOR_BYTES || as->window)
		return;
	z->buf[buf].cell[slot].state = ZNS_READY;
	z->die[zns_plane_at(z, zone, slot) / z->g->planes_per_die].look = true;
}

static void load_windows(struct zns *z, uint32_t zone)
{
	for (uint32_t slot = 0; slot < z->shape.slots; slot++) {
		const struct zns_found_page *w = window_at(z, zone, slot);

		if (w->serial)
			load_page(z, zone, w->ppn, &(struct zns_cell){
					.state = ZNS_FILLING, .window = true, .page = w->page,
					.sectors = z->g->page_bytes / FTL_SECTOR_BYTES });
	}
}

/*
 * Put into a buffer what the log has of the zone. Data of a read-only zone are programmed behind its pages instead, so
 * that it needs neither a buffer nor the log. If that fails for too many zones, reads of these data fail.
 */
static void load(struct zns *z, uint32_t zone, uint32_t *room)
{
	const struct zns_found_zone *f = &z->mount->zone[zone];
	struct zns_zone *s = &z->zone[zone];
	uint32_t page = end_page(z, zone), buf;

	if ((f->part_ppn == ZNS_NONE && !f->windows) || f->offline ||
	    (f->read_only && zns_found_repair(z, zone) && put_end(z, zone)))
		return;
	if (!f->windows)
		s->filled += (uint64_t)f->part_sectors * FTL_SECTOR_BYTES;
	s->on_flash = true;
	if (f->broken && !*room)
		return;
	*room -= f->broken;
	buf = zns_buf_take(z, zone);
	SSD_ASSERT(buf != ZNS_NONE);
	if (f->windows)
		load_windows(z, zone);
	else
		load_page(z, zone, f->part_ppn, &(struct zns_cell){ .state = ZNS_FILLING, .page = page,
				.sectors = f->part_sectors });
}

void zns_parts_load(struct zns *z)
{
	uint32_t room = room_for_broken(z);

	for (uint32_t i = 0; i < 2 * z->shape.zones; i++)	/* broken ones last */
		if (z->mount->zone[i % z->shape.zones].broken == (i >= z->shape.zones))
			load(z, i % z->shape.zones, &room);
}
