// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * zns_window.c - random write areas (NVMe: ZRWA). A zone's area is its pages from the write pointer on; they are in
 * the zone's buffer, where the host writes to them in any order and overwrites them. When they are committed, they
 * are programmed like other pages, and the write pointer follows them. DESIGN.md has what is durable.
 *
 * The area has whole pages, at most one for each slot. So each of its pages has a cell, and only needs to wait
 * until the page one stripe before it is on flash (Z3), which has been committed by then. A page that was never
 * written is committed as zeroes. A write beyond the area commits in steps, each when the pages before it are
 * complete. A commit moves the write pointer and ends at once; the programs follow. A closed zone keeps its area; a
 * full, empty or read-only one has none.
 */
#include "zns_window.h"
#include "zns_buf.h"

/* ---- errors and write pointers ---- */

enum ssd_err zns_window_open(struct zns *z, struct zns_zone *s)
{
	enum ssd_err err;

	if (!s->window && (s->wp % z->g->page_bytes || z->areas.count >= z->areas.max))
		return SSD_E_ZONE_WINDOW;
	err = zns_open_zone(z, s, FTL_ZONE_EXPLICIT);
	if (err)
		return err;
	z->areas.count += !s->window;
	s->window = true;
	return SSD_OK;
}

enum ssd_err zns_window_commit(struct zns *z, struct zns_zone *s, struct ftl_io *io)
{
	enum ssd_err err;

	if (!s->window)
		return SSD_E_INVAL;
	if (io->bytes <= s->wp || io->bytes > s->wp + z->areas.bytes || io->bytes > z->shape.capacity)
		return SSD_E_ZONE_BOUNDARY;
	if ((io->bytes - s->wp) % z->areas.step && io->bytes != z->shape.capacity)
		return SSD_E_INVAL;
	err = zns_open_zone(z, s, FTL_ZONE_IMPLICIT);
	if (err)
		return err;
	io->seq = ++z->seq;
	io->wp = s->wp = io->bytes;
	if (s->wp == z->shape.capacity)
		zns_set_state(z, s, FTL_ZONE_FULL);
	return SSD_OK;
}

/*
 * Returns the error of a host's write to the area, or SSD_OK. A write begins in the area, and ends beyond it by at most
 * the area's size.
 */
enum ssd_err zns_window_write(const struct zns *z, const struct zns_zone *s, const struct ftl_io *io)
{
	uint64_t at = io->offset % z->shape.size;

	if (io->zone == FTL_ZONE_APPEND)
		return SSD_E_ZONE_OP;
	if (at < s->wp || at + io->bytes > s->wp + 2 * z->areas.bytes)
		return SSD_E_ZONE_WP;
	return at + io->bytes > z->shape.capacity ? SSD_E_ZONE_BOUNDARY : SSD_OK;
}

uint64_t zns_window_wp(const struct zns *z, const struct zns_zone *s, uint64_t end)
{
	uint64_t beyond = end > s->wp + z->areas.bytes ? end - s->wp - z->areas.bytes : 0;

	return s->wp + (beyond + z->areas.step - 1) / z->areas.step * z->areas.step;
}

/* ---- in the line ---- */

/* Returns the cell of a page of the area, or NULL if it must wait. */
static struct zns_cell *window_cell(struct zns *z, uint32_t zone, uint32_t page)
{
	struct zns_zone *s = &z->zone[zone];
	struct zns_buf *b;
	struct zns_cell *c;

	if (s->buf == ZNS_NONE && zns_buf_take(z, zone) == ZNS_NONE)
		return NULL;
	b = &z->buf[s->buf];
	c = &b->cell[page % z->shape.slots];
	if (c->state == ZNS_FILLING && c->page == page)
		return c;
	if (c->state != ZNS_EMPTY)
		return NULL;		/* Z3 */
	if (!s->filled && zns_is_drained(z, s))
		s->gen = ++z->number;
	*c = (struct zns_cell){ .state = ZNS_FILLING, .window = true, .page = page,
				.sectors = z->g->page_bytes / FTL_SECTOR_BYTES };
	if (z->host.c.payload)
		memset(zns_cell_data(z, b, page % z->shape.slots), 0, z->g->page_bytes);
	return c;
}

/* Commit the area up to `end`. Returns false if a cell is not free. */
static bool commit(struct zns *z, uint32_t zone, uint64_t end, uint64_t seq)
{
	struct zns_zone *s = &z->zone[zone];

	while (s->filled < end) {
		struct zns_cell *c = window_cell(z, zone, (uint32_t)(s->filled / z->g->page_bytes));

		if (!c)
			return false;
		zns_cell_takes(c, seq);
		s->last_seq = seq ? seq : s->last_seq;
		s->filled += z->g->page_bytes;
		zns_cell_ready(z, zone, c);
	}
	return true;
}

bool zns_window_move(struct zns *z, uint32_t zone, struct ftl_io *io)
{
	struct zns_zone *s = &z->zone[zone];

	while (io->op == FTL_WRITE && io->at < io->bytes) {
		uint64_t at = io->offset % z->shape.size + io->at, page = at / z->g->page_bytes;
		struct zns_cell *c;

		/* First commit what the write commits of the pages before this one. */
		if (!commit(z, zone, page * z->g->page_bytes < io->wp ? page * z->g->page_bytes : io->wp, io->seq))
			return false;
		c = window_cell(z, zone, (uint32_t)page);
		if (!c)
			return false;
		(void)zns_cell_write(z, s, c, io, (uint32_t)(at % z->g->page_bytes));
	}
	return commit(z, zone, io->wp, io->seq);
}

bool zns_window_end(struct zns *z, uint32_t zone)
{
	const struct zns_zone *s = &z->zone[zone];
	uint64_t end = 0;

	for (uint32_t i = 0; s->buf != ZNS_NONE && i < z->shape.slots; i++) {
		const struct zns_cell *c = &z->buf[s->buf].cell[i];

		if (c->state == ZNS_FILLING && c->window && (c->page + 1ull) * z->g->page_bytes > end)
			end = (c->page + 1ull) * z->g->page_bytes;
	}
	return commit(z, zone, end, 0);
}

void zns_window_release(struct zns *z, uint32_t buf)
{
	struct zns_cell *cell = z->buf[buf].cell;
	uint32_t first = ZNS_NONE;

	for (uint32_t i = 0; i < z->shape.slots; i++)
		if ((cell[i].state == ZNS_READY || cell[i].state == ZNS_FLYING) && cell[i].page < first)
			first = cell[i].page;
	for (uint32_t i = 0; i < z->shape.slots; i++)
		if (cell[i].state == ZNS_KEPT && cell[i].page < first)
			zns_cell_done(z, buf, i);
}
