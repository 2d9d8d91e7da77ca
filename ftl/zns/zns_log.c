// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * zns_log.c - the log: parts of pages that are to be durable, resets, and which zones are read-only or
 * offline. One record is under way at a time. The next one is the first of: a part that is still needed
 * and is in the oldest of several blocks; states that are in this block, or new; a reset; a part that a
 * flush or FUA write waits for.
 *
 *   L1  serials in block[i] are first[i] or higher, and lower than first[i + 1];
 *   L2  the oldest block is erased only when no record in it is needed, and the record on flash with the
 *       highest floor has first[1] or more;
 *   L3  the last page that the log can get takes only a record after which the oldest block is not needed. This
 *       record permits its erase.
 *
 * Room. A record carries the `floor`: records with a lower serial count no more. Parts and states that are needed in
 * the oldest block are programmed again from memory before it is erased. So a block must have more pages than there
 * are active zones and sets of 32 zones. The log must keep at most the area of each active zone, the states, and a
 * stripe of one zone whose program failed, which must fit into a block. (If more zones fail before the next mount, the
 * log may have too little room.) If more records must leave the oldest block than the log can get pages, the drive is
 * read-only.
 */
#include "zns_log.h"
#include "zns_issue.h"
#include "zns_state.h"

bool zns_log_is_open(const struct zns *z)
{
	return z->log.count && z->log.page < z->g->pages_per_block;
}

/* Is a record of this page in the log's oldest block? It is needed until the page is on flash. */
static bool in_oldest(const struct zns *z, const struct zns_cell *c)
{
	return c->state != ZNS_EMPTY && c->logged && c->logged < z->log.first[1];
}

/* What is recorded next. */
struct want {
	uint32_t chunk;			/* chunk whose states are to be recorded, or ZNS_NONE */
	uint32_t zone;			/* zone whose reset is to be recorded, or ZNS_NONE */
	uint32_t buf, slot;		/* if both are ZNS_NONE: the buffered page whose part is to be recorded */
};

static bool is_part(const struct want *w, uint32_t buf, uint32_t slot)
{
	return w && w->chunk == ZNS_NONE && w->zone == ZNS_NONE && w->buf == buf && w->slot == slot;
}

/*
 * Is the oldest block still needed when `now` is recorded elsewhere (NULL: nothing is)? A log without room keeps all
 * its blocks, since zones whose resets have failed have given their buffers up.
 */
static bool oldest_needed(const struct zns *z, const struct want *now)
{
	if (z->stuck)
		return true;
	for (uint32_t i = 0; i < z->shape.bufs; i++)
		for (uint32_t s = 0; z->buf[i].zone != ZNS_NONE && s < z->shape.slots; s++)
			if (in_oldest(z, &z->buf[i].cell[s]) && !is_part(now, i, s))
				return true;
	for (uint32_t zone = z->erasing; zone != ZNS_NONE; zone = z->zone[zone].next)
		if (z->zone[zone].note < z->log.first[1])
			return true;
	for (uint32_t zone = z->log.resets; zone != ZNS_NONE; zone = z->zone[zone].next)
		if (z->zone[zone].note < z->log.first[1] && !(now && now->chunk == ZNS_NONE && now->zone == zone))
			return true;
	for (uint32_t i = 0; i < z->chunks; i++)
		if (z->chunk[i].serial && z->chunk[i].serial < z->log.first[1] && !(now && now->chunk == i))
			return true;
	return false;
}

/* Will a record of the oldest block be needed no more, without another record? */
static bool oldest_empties(const struct zns *z)
{
	for (uint32_t i = 0; i < z->shape.bufs; i++)
		for (uint32_t s = 0; z->buf[i].zone != ZNS_NONE && s < z->shape.slots; s++)
			if (in_oldest(z, &z->buf[i].cell[s]) && z->buf[i].cell[s].state != ZNS_FILLING &&
			    !z->zone[z->buf[i].zone].failed)
				return true;
	for (uint32_t zone = z->erasing; zone != ZNS_NONE; zone = z->zone[zone].next)
		if (z->zone[zone].note < z->log.first[1])
			return true;
	return false;
}

/* Choose the plane of the log's next block: the one with most spare blocks. ZNS_NONE: there is none. */
static uint32_t choose_plane(const struct zns *z)
{
	uint32_t best = ZNS_NONE, most = 0;

	if (z->log.count == ZNS_LOG_BLOCKS)
		return ZNS_NONE;
	for (uint32_t i = 1; i <= z->shape.planes; i++) {
		uint32_t plane = (z->log.plane + i) % z->shape.planes, spare = zns_spare(z, plane);

		if (!z->pool.plane[plane].free_count || spare <= z->plane[plane].logs + most)
			continue;
		most = spare - z->plane[plane].logs;
		best = plane;
	}
	return best;
}

static uint32_t plane_of(const struct zns *z, uint32_t block)
{
	return geo_plane_of(z->g, (pbn_t){ block });
}

/*
 * Returns the plane of this record, which is next. ZNS_NONE: it must wait, or there will never be
 * room.
 */
static uint32_t next_plane(const struct zns *z, const struct want *w)
{
	const struct zns_log *l = &z->log;

	if (!zns_log_is_open(z))
		return choose_plane(z);
	if (l->count > 1 && l->page + 1 == z->g->pages_per_block && oldest_needed(z, w) &&
	    choose_plane(z) == ZNS_NONE)
		return ZNS_NONE;	/* L3 */
	return plane_of(z, l->block[l->count - 1]);
}

/* ---- what is next ---- */

static bool part_wanted(const struct zns *z, const struct zns_buf *b, const struct zns_cell *c)
{
	const struct zns_zone *s = &z->zone[b->zone];
	uint64_t want = z->flush_seq > s->want_seq ? z->flush_seq : s->want_seq;

	return c->state == ZNS_FILLING && !s->failed && c->first_seq && c->first_seq <= want;
}

static bool part_to_save(const struct zns *z, const struct zns_buf *b, const struct zns_cell *c)
{
	return in_oldest(z, c) && (c->state == ZNS_FILLING || z->zone[b->zone].failed);
}

typedef bool part_fn(const struct zns *z, const struct zns_buf *b, const struct zns_cell *c);

static bool find_part(const struct zns *z, part_fn *wanted, struct want *w)
{
	for (uint32_t i = 0; i < z->shape.bufs; i++) {
		const struct zns_buf *b = &z->buf[(z->log.turn + i) % z->shape.bufs];

		for (uint32_t s = 0; b->zone != ZNS_NONE && s < z->shape.slots; s++)
			if (wanted(z, b, &b->cell[s])) {
				*w = (struct want){ .buf = (uint32_t)(b - z->buf), .slot = s, .zone = ZNS_NONE,
						    .chunk = ZNS_NONE };
				return true;
			}
	}
	return false;
}

static bool find_states(const struct zns *z, struct want *w)
{
	for (uint32_t i = 0; i < z->chunks; i++) {
		const struct zns_chunk *c = &z->chunk[i];

		if (!c->due && !(c->serial && z->log.count > 1 && c->serial < z->log.first[1]))
			continue;
		*w = (struct want){ .chunk = i, .zone = ZNS_NONE };
		return true;
	}
	return false;
}

static bool wanted(const struct zns *z, struct want *w)
{
	if ((z->log.count > 1 && find_part(z, part_to_save, w)) || find_states(z, w))
		return true;
	w->chunk = ZNS_NONE;
	w->zone = z->log.resets;
	return w->zone != ZNS_NONE || (z->durable.first && find_part(z, part_wanted, w));
}

static bool may_erase(const struct zns *z)
{
	const struct zns_log *l = &z->log;

	return l->count > 1 && !l->erasing && l->floor >= l->first[1] && !oldest_needed(z, NULL);	/* L2 */
}

/* Let the log's die look whether there is something for the log to do. */
void zns_log_look(struct zns *z)
{
	struct want w;
	uint32_t plane;

	if (may_erase(z))
		z->die[plane_of(z, z->log.block[0]) / z->g->planes_per_die].look = true;
	if (z->log.busy || !wanted(z, &w))
		return;
	plane = next_plane(z, &w);
	if (plane != ZNS_NONE)
		z->die[plane / z->g->planes_per_die].look = true;
	else if (!z->log.erasing && !may_erase(z) && (z->log.count < 2 || !oldest_empties(z)))
		z->stuck = z->host.worn = true;
}

/* ---- commands ---- */

/* Fill the fields of the record of a chunk's states. */
void zns_states_of(const struct zns *z, uint32_t chunk, struct zns_oob *o)
{
	o->kind = ZNS_STATES;
	o->zone = chunk * ZNS_CHUNK;
	o->gen = o->page = 0;
	for (uint32_t i = 0; i < ZNS_CHUNK && o->zone + i < z->shape.zones; i++) {
		const struct zns_zone *s = &z->zone[o->zone + i];

		o->gen |= (uint32_t)(s->state == FTL_ZONE_READONLY && s->phase != ZNS_LEAVING) << i;
		o->page |= (uint32_t)(s->state == FTL_ZONE_OFFLINE || s->phase == ZNS_LEAVING) << i;
	}
}

static void take_block(struct zns *z, uint32_t plane)
{
	struct zns_log *l = &z->log;

	l->first[l->count] = ++z->number;
	l->block[l->count++] = pool_take(&z->pool, plane);
	l->page = 0;
	l->plane = plane;
	z->plane[plane].logs++;
}

static void fill_states(struct zns *z, const struct want *w, struct zns_oob *o)
{
	struct zns_log *l = &z->log;

	zns_states_of(z, w->chunk, o);
	l->read_only = (uint32_t)o->gen;
	l->offline = o->page;
	z->chunk[w->chunk].due = false;
}

static void fill_reset(struct zns *z, const struct want *w, struct zns_oob *o)
{
	o->zone = w->zone;
	o->gen = ++z->number;
	z->log.record_gen = o->gen;
}

static void fill_part(struct zns *z, const struct want *w, struct zns_oob *o)
{
	const struct zns_buf *b = &z->buf[w->buf];
	struct zns_cell *cell = &b->cell[w->slot];
	struct zns_log *l = &z->log;

	o->kind = cell->window ? ZNS_WINDOW : ZNS_RECORD;
	o->zone = b->zone;
	o->gen = z->zone[b->zone].gen;
	o->page = cell->page;
	l->sectors = z->zone[b->zone].failed ? cell->logged_sectors : cell->sectors;
	o->sectors = (uint16_t)l->sectors;
	cell->logging = true;
	z->zone[b->zone].on_flash = true;
	l->turn = w->buf + 1;
}

static void record(struct zns *z, uint32_t die, const struct want *w)
{
	struct zns_log *l = &z->log;
	struct zns_oob o = { .kind = ZNS_RECORD, .serial = ++z->number };
	uint32_t block = l->block[l->count - 1];
	struct nand_cmd c;

	l->record_floor = l->first[l->count > 1 && !oldest_needed(z, w)];
	o.mark = l->record_floor;
	nand_fill_program(&c, NAND_SRC_META, block * z->g->pages_per_block + l->page++, z->oob[0]);
	if (w->chunk != ZNS_NONE) {
		fill_states(z, w, &o);
	} else if (w->zone != ZNS_NONE) {
		fill_reset(z, w, &o);
	} else {
		fill_part(z, w, &o);
		c.data = zns_cell_data(z, &z->buf[w->buf], w->slot);
	}
	zns_oob_put(z->oob[0], &o);
	l->busy = true;
	l->chunk = w->chunk;
	l->buf = w->buf;
	l->slot = w->slot;
	l->zone = w->zone;
	l->record_serial = o.serial;
	zns_issue(z, die, ZNS_CMD_RECORD, &c, 1);
	z->die[die].failed = c.status == NAND_PROG_FAIL;
}

static void erase_oldest(struct zns *z, uint32_t die)
{
	struct nand_cmd c = { .op = NAND_ERASE, .source = NAND_SRC_META, .pb = NAND_WHOLE_BLOCK,
			      .ppn = geo_ppn(z->g, (pbn_t){ z->log.block[0] }, 0) };

	z->log.erasing = true;
	zns_issue(z, die, ZNS_CMD_LOG_ERASE, &c, 1);
	z->die[die].failed = c.status == NAND_ERASE_FAIL;
}

/* Begin the log's next command on this idle die: an erase, or a record. Returns false if there is none for it. */
bool zns_log_go(struct zns *z, uint32_t die)
{
	struct want w = { 0 };
	uint32_t plane;

	if (may_erase(z) && plane_of(z, z->log.block[0]) / z->g->planes_per_die == die) {
		erase_oldest(z, die);
		return true;
	}
	if (z->log.busy || !wanted(z, &w))
		return false;
	plane = next_plane(z, &w);
	if (plane == ZNS_NONE || plane / z->g->planes_per_die != die)
		return false;
	if (!zns_log_is_open(z)) {
		if (zns_prepare(z, plane))
			return true;
		take_block(z, plane);
		zns_log_look(z);
		if (!wanted(z, &w))
			return false;
	}
	record(z, die, &w);
	return true;
}

static void oldest_erased(struct zns *z, bool failed)
{
	struct zns_log *l = &z->log;
	uint32_t block = l->block[0];

	z->plane[plane_of(z, block)].logs--;
	zns_put_erased(z, block, failed);
	l->count--;
	l->erasing = false;
	memmove(l->block, l->block + 1, l->count * sizeof(*l->block));
	memmove(l->first, l->first + 1, l->count * sizeof(*l->first));
}

/* A reset's record is on flash: give the zone its new generation, and begin to erase its blocks. */
static void reset_noted(struct zns *z)
{
	struct zns_log *l = &z->log;
	uint32_t zone = l->zone;

	SSD_ASSERT(l->resets == zone);
	l->resets = z->zone[zone].next;
	z->zone[zone].gen = l->record_gen;
	zns_erase_zone(z, zone, l->record_serial);
}

static void part_noted(struct zns *z)
{
	struct zns_cell *cell = &z->buf[z->log.buf].cell[z->log.slot];

	if (!cell->logging)
		return;			/* the whole page has reached flash, so the record is not needed */
	cell->logging = false;
	cell->logged = z->log.record_serial;
	if (!z->zone[z->buf[z->log.buf].zone].failed || cell->logged_sectors != z->log.sectors)
		cell->first_seq = cell->since_seq;
	cell->logged_sectors = z->log.sectors;
	cell->since_seq = 0;
	z->host.stats.meta_units += z->g->page_bytes / z->host.c.unit_bytes;
}

/* A record of zone states is on flash: note that flash has the states of its chunk. */
static void states_noted(struct zns *z)
{
	const struct zns_log *l = &z->log;

	z->chunk[l->chunk].serial = l->record_serial;
	for (uint32_t i = 0; i < ZNS_CHUNK; i++)
		if ((l->read_only | l->offline) >> i & 1)
			zns_zone_noted(z, l->chunk * ZNS_CHUNK + i, l->offline >> i & 1);
}

/* A record's program failed: let the record be written again, to the next page. */
static void record_failed(struct zns *z)
{
	struct zns_log *l = &z->log;

	z->pool.block[l->block[l->count - 1]].failing = true;
	if (l->chunk != ZNS_NONE) {
		z->chunk[l->chunk].due = true;
	} else if (l->zone == ZNS_NONE) {
		z->buf[l->buf].cell[l->slot].logging = false;
		z->buf[l->buf].cell[l->slot].since_seq = 0;
	}
}

void zns_log_ended(struct zns *z, struct zns_die *x, enum zns_cmd cmd)
{
	struct zns_log *l = &z->log;

	if (cmd == ZNS_CMD_LOG_ERASE) {
		oldest_erased(z, x->failed);
		return;
	}
	l->busy = false;
	if (x->failed) {
		record_failed(z);
		return;
	}
	if (l->record_floor > l->floor)
		l->floor = l->record_floor;
	if (l->chunk != ZNS_NONE)
		states_noted(z);
	else if (l->zone == ZNS_NONE)
		part_noted(z);
	else
		reset_noted(z);
}

/* Queue the record of a reset. */
void zns_log_reset(struct zns *z, uint32_t zone)
{
	struct zns_log *l = &z->log;

	z->zone[zone].next = ZNS_NONE;
	if (l->resets == ZNS_NONE)
		l->resets = zone;
	else
		z->zone[l->last_reset].next = zone;
	l->last_reset = zone;
	zns_log_look(z);
}
