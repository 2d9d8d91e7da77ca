/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * zns.h - a zoned FTL: zones of whole blocks, written in order, erased by resets. DESIGN.md beside this file has
 * the layout and what is durable.
 *
 * This header has the state. Each file has a header of its own, and calls only files that stand above it here:
 *
 *   zns_issue.c   commands of an idle die
 *   zns_buf.c     buffers, and the states of zones;  zns_window.c  random write areas
 *   zns_state.c   what an erase or a record changes in a zone
 *   zns_log.c     the log: parts of pages, pages of random write areas, resets
 *   zns_zone.c    zones' lines, durability
 *   zns_host.c    operations of the host: states, limits, errors
 *   zns_read.c    reads
 *   zns_die.c     dies: whose turn it is; programs, erases
 *   zns_mount.c   what flash holds; zns_mount_parts.c: of pages that are in the log; zns_repair.c:
 *                 blocks that it replaces
 *   zns.c         the table: settings, memory, submit, step, reports, check
 *
 * A zone has two sides. `state` and `wp` are the host's: they change when an operation is submitted.
 * Writes, finishes and resets then stand in the zone's line, and the other fields follow when their
 * turn comes: `filled` bytes are in the buffer or on flash.
 *
 * A cell is a page of a zone's buffer, one for each slot:
 *   EMPTY -> FILLING (host's bytes) -> READY (full, or the end) -> FLYING (programmed) -> EMPTY, and
 *   FLYING -> READY after a failure, where it stays until the zone is reset.
 * A page of a random write area (`window`) is FILLING until it is committed, and after FLYING it is KEPT until
 * all pages of the zone before it are on flash.
 *
 * Invariants (zns_check):
 *   Z1  pool_check(); a block in the table of a zone or in the log is USED and in no other place;
 *   Z2  good - zone_blocks * (zones that are not offline) of a plane is its number of spare blocks;
 *   Z3  a page is issued only when the page one stripe before it is on flash;
 *   Z4  FILLING are only the page that is being filled, which has filled % page_bytes bytes, or else pages of the
 *       random write area, which begins at `filled`, the start of a page;
 *   Z5  open <= open_max zones are open; active are open, closed, or read-only with a buffer. No zone is
 *       activated while active >= active_max, and a mount ends zones beyond that. So a buffer is always free or
 *       of a zone that is not active, and such a zone's line ends with the last byte, a finish or a reset: its
 *       buffer becomes free;
 *   Z6  a zone with a cell that is not EMPTY has a buffer, and the buffer names it;
 *   Z7  areas.count <= areas.max zones have a random write area, and all these are open or closed.
 *
 * Cost: 4 bytes a block for the table, 8 for the block; a stripe for each buffer; 128 a zone, and 16 for
 *       each of its slots for the mount.
 */
#ifndef SLATE_ZNS_H
#define SLATE_ZNS_H

#include "die.h"
#include "host.h"
#include "pool.h"
#include "nand_geom.h"
#include "oob.h"

#define ZNS_NONE 0xffffffffu
#define ZNS_LOG_BLOCKS 4u
#define ZNS_SPARE 3u		/* spare blocks of a plane: two for the log, one for a repair */
#define ZNS_NUMBERS 3u		/* numbers that a page uses at most (survey_number()) */
#define ZNS_CHUNK 32u		/* zones whose states are in one record */

/* ---- spare area ---- */

#define ZNS_OOB_BYTES 26u

enum zns_kind { ZNS_DATA = 1, ZNS_RECORD = 2, ZNS_STATES = 3, ZNS_WINDOW = 32, ZNS_KIND_MASK = 35,
		ZNS_END = 4, ZNS_LOST = 8,
		ZNS_BY_DRIVE = 16 };	/* with ZNS_END: a mount has ended the zone */

/*
 * The spare area has 26 bytes, little-endian: 0 kind and flags, 1..4 zone, 5..9 generation, 10..14 serial, 15..19 mark,
 * 20..23 page, 24..25 sectors.
 *
 *             DATA                                       RECORD
 *   zone      the page's zone                            the zone, or ZNS_NONE: only the mark counts
 *   gen       generation of the zone                     likewise; a reset begins a new one
 *   serial    of the block: 0, or that of a copy         of the record
 *   mark      of a copy: pages that it has when complete the floor
 *   page      number within the zone                     page of which this is a part; resets: 0
 *   sectors   sectors with data                          sectors of the page that are here; resets: 0
 *
 * STATES is a RECORD of a chunk of zones: zone is the first of them, bit i of gen says that zone + i is
 * read-only, bit i of page that it is offline. A zone leaves read-only for offline alone, and offline never.
 *
 * WINDOW is a RECORD of a whole page, which is or was in the zone's random write area.
 */
struct zns_oob {
	uint8_t kind;
	uint16_t sectors;
	uint32_t zone, page;
	uint64_t gen, serial, mark;
};

static inline void zns_oob_put(uint8_t *p, const struct zns_oob *o)
{
	p[0] = o->kind;
	oob_put4(p + 1, o->zone);
	oob_put5(p + 5, o->gen);
	oob_put5(p + 10, o->serial);
	oob_put5(p + 15, o->mark);
	oob_put4(p + 20, o->page);
	p[24] = (uint8_t)o->sectors;
	p[25] = (uint8_t)(o->sectors >> 8);
}

static inline struct zns_oob zns_oob_get(const uint8_t *p)
{
	return (struct zns_oob){
		.kind = p[0], .zone = oob_unit_lpn(p + 1), .gen = oob_get5(p + 5), .serial = oob_get5(p + 10),
		.mark = oob_get5(p + 15), .page = oob_unit_lpn(p + 20), .sectors = (uint16_t)(p[24] | p[25] << 8),
	};
}

/* ---- state ---- */

struct zns_plane {
	uint32_t logs;			/* blocks of the log */
};

enum zns_phase {
	ZNS_WRITING,		/* the line's first I/O is next */
	ZNS_ENDING,		/* it is a finish: the end is marked, the buffer empties */
	ZNS_NOTING,		/* it is a reset: its record waits for the log or is being programmed */
	ZNS_ERASING,		/* it is a reset: its blocks are being erased */
	ZNS_LEAVING,		/* a reset has found too few blocks, or the host retires the zone: OFFLINE when a record
				 * of it is on flash */
};

struct zns_zone {
	enum ftl_zone_state state;
	uint64_t wp;			/* bytes from the zone's start */
	uint64_t opened;		/* order in which zones were opened */
	struct io_list line;
	enum zns_phase phase;
	uint64_t filled;		/* bytes */
	uint64_t gen;			/* generation of what is on flash */
	uint64_t note;			/* ERASING: serial of the reset's record; OFFLINE: ~0, none is needed; NOTING:
					 * lowest serial of records of the zone that are needed until then, or ~0 */
	uint64_t dropped_seq;		/* NOTING, failed: first sequence of data that left the buffer and are
					 * not on flash, 0: none */
	uint64_t last_seq;		/* of the data in the buffer or on flash */
	uint64_t told_ns;		/* failed: later flushes do not report its lost data again; 0: all do */
	uint64_t want_seq;		/* data up to this sequence are to be durable */
	uint32_t buf;			/* or ZNS_NONE */
	uint32_t next;			/* lists of resets and of zones that wait for a buffer */
	uint32_t erases;		/* ERASING: blocks that are left */
	bool on_flash;			/* a page of the zone's present generation is on flash */
	bool ended;			/* the end is marked */
	bool failed;			/* a program failed */
	bool waits;			/* for a buffer */
	bool noted;			/* READONLY, OFFLINE: a record on flash has the state */
	bool by_drive;			/* FULL: a mount has ended the zone */
	bool changed;			/* ftl_zone.changed */
	bool window;			/* the zone has a random write area (ZRWA) */
};

struct zns_chunk {			/* ZNS_CHUNK zones */
	uint64_t serial;		/* serial of the newest record of its states, which stays in the log; 0: none */
	bool due;			/* its record is to be written */
};

enum zns_cell_state { ZNS_EMPTY, ZNS_FILLING, ZNS_READY, ZNS_FLYING, ZNS_KEPT };

struct zns_cell {
	enum zns_cell_state state;
	bool end;
	bool window;			/* the page is or was in a random write area */
	bool logging;			/* its record is under way */
	uint32_t page;			/* number within the zone */
	uint32_t sectors;		/* with data */
	uint64_t first_seq;		/* first sequence of what is not durable; 0: all is */
	uint64_t since_seq;		/* first sequence of what came after the record under way */
	uint64_t logged;		/* serial of its record, 0: none */
	uint32_t logged_sectors;	/* of that record */
};

struct zns_buf {
	uint32_t zone;			/* or ZNS_NONE */
	struct zns_cell *cell;		/* a cell for each slot */
	uint8_t *data;
};

enum zns_cmd { ZNS_IDLE, ZNS_CMD_READ, ZNS_CMD_PROGRAM, ZNS_CMD_ERASE, ZNS_CMD_PREPARE, ZNS_CMD_RECORD,
	       ZNS_CMD_LOG_ERASE };

struct zns_op {			/* a read of a page or a part of one */
	struct ftl_io *io;
	uint64_t at;			/* offset within the I/O */
	uint64_t gc_mark;
	uint32_t next;
	uint32_t bytes;
};

struct zns_die {
	struct die_turn turn;
	enum zns_cmd cmd;
	uint32_t read_first, read_last;
	uint32_t buf, zone;		/* PROGRAM; ERASE */
	uint32_t slot;			/* PROGRAM, ERASE: slot of the die's first plane */
	uint32_t planes;		/* bitmap of the command's planes */
	uint32_t failed;		/* likewise */
	uint32_t block;			/* PREPARE, LOG_ERASE */
	uint32_t part;			/* ERASE: which of the slot's blocks */
	uint64_t cell_ns, bus_ns;	/* of the command */
	uint32_t buf_turn;		/* buffer that is asked first for a program */
	bool erased;			/* the last command was an erase */
	bool look;			/* there may be something to do */
};

struct zns_log {
	uint32_t block[ZNS_LOG_BLOCKS];	/* oldest first; the last one is written */
	uint64_t first[ZNS_LOG_BLOCKS];	/* serials from here on are in the block */
	uint32_t count;
	uint32_t page;			/* next page of the last block */
	uint64_t floor;			/* of the records on flash */
	uint64_t record_floor;		/* of the record under way */
	uint64_t record_serial, record_gen;
	/*
	 * The record that is being programmed has one of these: states of zones, a reset, or a part of a
	 * buffered page.
	 */
	uint32_t chunk;			/* chunk whose states it has; ZNS_NONE: it has no states */
	uint32_t read_only, offline;	/* those states, by zone of the chunk */
	uint32_t zone;			/* zone that is reset; ZNS_NONE: the record is of a part of a page */
	uint32_t buf, slot, sectors;	/* that page in the buffer, and its sectors */
	bool busy;			/* a record is being programmed */
	bool erasing;			/* the oldest block is being erased */
	uint32_t plane;			/* plane of the last block taken */
	uint32_t resets, last_reset;	/* zones in NOTING, by zns_zone.next */
	uint32_t turn;
};

struct zns_mount;

struct zns_shape {
	uint32_t dies, planes, zones, groups;
	uint32_t slots, rows, parts;	/* of a zone */
	uint64_t capacity, size;	/* of a zone, bytes */
	uint32_t bufs, open_max, active_max;	/* bufs: active_max + 1 */
};

/* Random write areas. */
struct zns_areas {
	uint32_t pages;			/* of an area, at most slots; 0: there are none */
	uint64_t bytes, step;		/* size of an area; unit of commits */
	uint32_t max, count;		/* zones that may have one, and that have one */
};

struct zns_reads {
	struct zns_op *op;
	uint32_t op_free;
	struct io_list line;		/* reads that found no room in the pool */
};

/* Numbers of zones. */
struct zns_count {
	uint32_t open, active;
	uint32_t lined;			/* with a line */
	uint32_t lost;			/* failed ones that lost buffered data (dropped_seq is set) */
	uint32_t *online;		/* by group of dies: those that are not offline */
	uint64_t opened;
	uint64_t changes;		/* ftl_zones.changes */
};

struct zns {
	struct host host;
	const struct nand_geometry *g;
	struct zns_shape shape;
	struct zns_areas areas;
	struct zns_count count;

	struct zns_zone *zone;
	struct zns_chunk *chunk;
	uint32_t chunks;
	uint32_t *table;		/* (zone * parts + part) * slots + slot: block or ZNS_NONE */
	struct pool pool;
	struct zns_plane *plane;
	struct zns_buf *buf;
	struct zns_die *die;
	struct die_due ends;

	struct zns_reads read;
	struct io_list durable;		/* flushes and FUA writes that wait */

	struct zns_log log;
	uint64_t number;		/* last generation or serial given */
	uint64_t seq;			/* of the last write submitted */
	uint64_t flush_seq;		/* data up to this sequence are to be durable */
	uint32_t waiting_first, waiting_last;	/* zones that wait for a buffer */
	uint32_t erasing;		/* zones in ERASING */
	bool recheck;			/* a zone has failed: zns_go_on() is due */
	bool stuck;			/* the log has no room: what waits for it fails */
	struct zns_mount *mount;
	struct zns_cell *cells;
	uint8_t *data;
	uint8_t oob[NAND_PLANES_MAX][ZNS_OOB_BYTES + 6];
};

static inline struct zns *zns_of(struct ftl *f)
{
	return ssd_container_of(f, struct zns, host.base);
}

/* ---- addresses ---- */

static inline uint32_t zns_zone_dies(const struct ftl_config *c, const struct nand_geometry *g)
{
	return c->zone_dies ? c->zone_dies : geo_dies(g);
}

/* Returns a zone's k-th die: dies of different channels follow each other, and groups take turns. */
static inline uint32_t zns_die_at(const struct zns *z, uint32_t zone, uint32_t k)
{
	uint32_t i = zone % z->shape.groups * (z->shape.dies / z->shape.groups) + k;

	return i % z->g->channels * geo_dies_per_channel(z->g) + i / z->g->channels;
}

/* Returns the place of a die in zns_die_at()'s order, over all groups. */
static inline uint32_t zns_die_place(const struct zns *z, uint32_t die)
{
	uint32_t per = geo_dies_per_channel(z->g);

	return die % per * z->g->channels + die / per;
}

static inline uint32_t zns_plane_at(const struct zns *z, uint32_t zone, uint32_t slot)
{
	uint32_t planes = z->g->planes_per_die;

	return zns_die_at(z, zone, slot / planes) * planes + slot % planes;
}

static inline uint32_t *zns_block_at(const struct zns *z, uint32_t zone, uint32_t part, uint32_t slot)
{
	return &z->table[((size_t)zone * z->shape.parts + part) * z->shape.slots + slot];
}

/* Returns the entry for the block of page `page` of a zone. */
static inline uint32_t *zns_block_of(const struct zns *z, uint32_t zone, uint32_t page)
{
	return zns_block_at(z, zone, page / z->shape.slots / z->g->pages_per_block, page % z->shape.slots);
}

static inline uint32_t zns_ppn(const struct zns *z, uint32_t block, uint32_t page)
{
	return block * z->g->pages_per_block + page / z->shape.slots % z->g->pages_per_block;
}

static inline uint32_t zns_zone_of(const struct zns *z, uint64_t offset)
{
	return (uint32_t)(offset / z->shape.size);
}

static inline uint32_t zns_spare(const struct zns *z, uint32_t plane)
{
	uint32_t group = zns_die_place(z, plane / z->g->planes_per_die) / (z->shape.dies / z->shape.groups);
	uint32_t used = z->count.online[group] * z->shape.parts;

	return z->pool.plane[plane].good > used ? z->pool.plane[plane].good - used : 0;
}

static inline uint8_t *zns_cell_data(const struct zns *z, const struct zns_buf *b, uint32_t slot)
{
	return z->host.c.payload ? b->data + (size_t)slot * z->g->page_bytes : NULL;
}

static inline bool zns_is_active(const struct zns_zone *s)
{
	return s->state == FTL_ZONE_IMPLICIT || s->state == FTL_ZONE_EXPLICIT || s->state == FTL_ZONE_CLOSED ||
	       (s->state == FTL_ZONE_READONLY && s->buf != ZNS_NONE);
}

static inline bool zns_is_open(const struct zns_zone *s)
{
	return s->state == FTL_ZONE_IMPLICIT || s->state == FTL_ZONE_EXPLICIT;
}

/* Returns the cell of a page if it has the page's data, or NULL. */
static inline struct zns_cell *zns_cell_of(const struct zns *z, const struct zns_zone *s, uint32_t page)
{
	struct zns_cell *c = s->buf == ZNS_NONE ? NULL : &z->buf[s->buf].cell[page % z->shape.slots];

	return c && c->state != ZNS_EMPTY && c->page == page ? c : NULL;
}

/* Note that data with this sequence have come into the cell. */
static inline void zns_cell_takes(struct zns_cell *c, uint64_t seq)
{
	c->first_seq = c->first_seq ? c->first_seq : seq;
	if (c->logging && !c->since_seq)
		c->since_seq = seq;
}

/* Mark the zone's state as changed by the drive itself, so that the shell can tell the host. */
static inline void zns_tell(struct zns *z, struct zns_zone *s)
{
	s->changed = true;
	z->count.changes++;
}

void zns_check(const struct ftl *f);	/* zns.c */

#endif
