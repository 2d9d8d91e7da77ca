/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dac.h - the DAC FTL: writes are deduplicated, compressed, or compressed against a
 * similar unit, and packed into pages (J. Park, "Performance and Lifetime Optimizations
 * for Large-Capacity NAND Storage Systems", Seoul National University 2019, chapter 5).
 * ftl/dac/DESIGN.md explains the design, and why the drive cannot run out of space or lose flushed
 * data.
 *
 * This header has the state, dac_page.h the layout of pages. Each file has a header of its own, and calls only files
 * that stand above it here:
 *
 *   dac_pick.c     when GC is due, and its victim
 *   dac_store.c    objects, the map, what is live, blocks; the reference buffer
 *   dac_front.c    the page that a die programs next; parity pages
 *   dac_ops.c      read operations and their queues
 *   dac_write.c    the write buffer, the engine, pages being filled
 *   dac_read.c     reads: of units for the host and for parts, of references
 *   dac_gc.c       GC of a die
 *   dac_entries.c  entries that a mount finds
 *   dac_rescue.c   pages destroyed by torn programs
 *   dac_die.c      chooses the next command of a die; host pages
 *   dac_mount.c    mounting;  dac_check.c  the invariants
 *   dac.c          configuration, life cycle, I/Os, the pump
 *
 * A unit (a NAND page's worth of bytes) is mapped to an object, or never written. An object is
 * *pending* while its content is only in the write buffer (ppn DAC_NONE).
 *
 * States of a buffered unit:
 *   FREE -> MERGE    a part of it was written: its base is being read
 *   FREE -> QUEUED   the unit is whole; MERGE -> QUEUED when its base was read. May be overwritten
 *        -> HASHING  the engine computes its fingerprints
 *        -> FETCH    its reference is being read
 *        -> READY    it waits for the engine; units are taken in order
 *        -> PACKING  the engine compresses; or no page has room yet
 *        -> PACKED   it is in a slot; FREE when the slot is programmed
 * of a slot (a host page):
 *   FREE -> OPEN (packed pages, one at most) -> CLOSED -> FLIGHT -> FREE
 * With buffer_units = 0 a write is accepted when no unit is before PACKED, so only the open slot and those on
 * their way to flash hold data, and nothing is overwritten in the buffer.
 * Blocks and frontiers are those of blk.h and front.h, which treat a die as one plane here: `fold`
 * is the geometry in which a die has one plane. The number of valid units of a block counts its
 * pages with live data. After a mount no block is written further: every block with data counts as
 * full.
 *
 * Invariants (dac_check.c):
 *   D1  an object's refs are the units mapped to it, the objects and buffered units that
 *       refer to it, and the read operations that hold it; its shares those of these that
 *       are links, objects and buffered units; d->objs.shared counts objects with shares
 *   D2  a reference is no delta and no link, and is not pending if what refers to it is
 *       on flash
 *   D3  a page's live entries and bytes are those of the objects and links that the tables in
 *       memory place there; if the page can be read, it has their entries
 *   D4  a block's live bytes and valid pages, and a die's live pages, are the sums over their
 *       pages; no FREE or BAD block has any
 *   D5  good_count counts a die's blocks that are not BAD
 *   D6  every buffered unit that is not FREE and not PACKED is in the queue, in order of
 *       `need`; PACKED ones are in one slot's entries
 *   D7  every reference of a slot's entries is programmed, or in a slot that was closed earlier
 *   D8  the heap holds exactly the dies that execute a command
 *   D9  a candidate in the fingerprint store is a raw or compressed object
 *   D10 the number of shared objects is at most shared_max, or at most the number that there was
 *       when a block failed or at the mount; live and in-flight pages are at most those that units,
 *       slots and shared objects need
 *   D11 the block of a rebuilt page still has its parity page
 *
 * Memory: 24 bytes a unit, 48 an object, 8 a page, 96 a block; a page for each unit of the
 * write buffer and each read under way; fingerprints and reference buffer as configured.
 */
#ifndef SLATE_DAC_H
#define SLATE_DAC_H

#include "dac_page.h"
#include "die.h"
#include "fpstore.h"
#include "front.h"
#include "host.h"
#include "nand_geom.h"
#include "xmatch.h"

#define DAC_AHEAD 8u		/* maximum of units that the engine processes ahead */
#define DAC_MERGES 4u		/* maximum of bases being read */

/* What the mode of reduction tries on a unit (dac.c). */
struct dac_mode {
	bool fingerprints;	/* search for references */
	bool links;		/* store only a link if an object has equal content */
	bool deltas;		/* compress against a similar object */
	bool compresses;
};

struct dac_obj {
	uint64_t seq;
	uint32_t ppn;		/* DAC_NONE: pending, or free */
	uint32_t ref;		/* DELTA: object of the reference */
	uint32_t refs, shares;	/* reference counts (D1); refs 0: the object is free */
	uint32_t unit;		/* pending: the buffered unit; free: the next free one */
	uint32_t cached;	/* place in the reference buffer, or DAC_NONE */
	uint16_t len;
	uint8_t kind;		/* RAW, COMP, DELTA, LOST */
	bool candidate;		/* in the fingerprint store */
};

struct dac_live {			/* live entries of a page */
	uint16_t entries, bytes;
};

struct dac_block {			/* a block's data beyond those in struct blk */
	uint32_t live_bytes;
	uint64_t last_serial;		/* mount: highest serial in the block */
	uint64_t collected_serial;	/* mount: serial of the page that records that the block may be erased */
};

enum dac_unit_state {
	DAC_U_FREE, DAC_U_MERGE, DAC_U_QUEUED, DAC_U_HASHING, DAC_U_FETCH, DAC_U_READY, DAC_U_PACKING,
	DAC_U_PACKED,
};

struct dac_unit {
	uint64_t seq;			/* sequence of its latest version */
	uint64_t need;			/* sequence of its first version, for which flushes wait */
	uint64_t known;			/* MERGE: bitmap of the sectors that the host has written */
	struct ftl_io *io;		/* MERGE: the I/O that waits for it */
	uint8_t *data;			/* content of the unit */
	uint8_t *ref_data;		/* content of ref, if it was read from flash; part of d->engine.fetched */
	uint32_t lpn;
	uint32_t next, hash_next;	/* queue or free list; chain of its bucket, newest first */
	uint32_t obj;			/* object, valid from HASHING on (without fingerprints: from PACKING on) */
	uint32_t ref;			/* shared object, or DAC_NONE */
	uint32_t slot;			/* PACKED: the slot */
	uint8_t state;
	bool lost;
	bool expand;			/* the reference was read from flash in compressed form */
	struct fingerprint print;
};

enum dac_slot_state { DAC_S_FREE, DAC_S_OPEN, DAC_S_CLOSED, DAC_S_FLIGHT };

struct dac_slot {
	struct dac_fill fill;
	uint32_t *unit;			/* unit of each entry */
	uint64_t closed;		/* number in order of closing */
	uint64_t after;			/* slots closed up to this number are programmed first */
	uint32_t ppn;			/* FLIGHT: the page being programmed */
	uint8_t state;
	bool raw, failed;
};

enum dac_op_kind { DAC_OP_HOST, DAC_OP_MERGE, DAC_OP_FETCH };

struct dac_op {				/* a read operation under way */
	struct ftl_io *io;		/* HOST */
	uint64_t at;			/* HOST: offset inside the I/O */
	uint64_t gc_mark;		/* GC clock of the die when the operation was queued there */
	uint64_t gc_ns;			/* time spent waiting for GC before that */
	uint64_t cell_ns, bus_ns, wait_gc_ns, engine_ns;
	uint8_t *data;			/* one page: the unit, or its XOR with the reference */
	uint32_t from, bytes;		/* HOST: part of the unit */
	uint32_t unit;			/* MERGE, FETCH */
	uint32_t obj;			/* object, held by a reference */
	uint32_t reading;		/* object being read: obj, then its reference, which is held as well */
	uint32_t next;
	uint8_t kind;
};

enum dac_cmd {
	DAC_IDLE, DAC_CMD_READ, DAC_CMD_PROGRAM, DAC_CMD_PREPARE, DAC_CMD_GC_READ, DAC_CMD_GC_PROGRAM,
	DAC_CMD_GC_ERASE, DAC_CMD_BACKUP, DAC_CMD_RESCUE,
};

enum dac_gc_out { DAC_OUT_NONE, DAC_OUT_PACKED, DAC_OUT_WHOLE };

struct dac_gc {
	uint32_t victim;		/* block, or DAC_NONE */
	uint32_t page;			/* next page to examine */
	uint8_t *read;			/* the page being unpacked; NULL: it cannot be read */
	uint32_t from;			/* ppn of that page, or DAC_NONE */
	struct dac_oob oob;		/* spare area of that page */
	struct dac_walk walk;
	struct dac_entry held;		/* next entry, which did not fit into the page */
	bool has_held;
	struct dac_fill fill;
	uint32_t *fill_from;		/* ppn of each entry */
	enum dac_gc_out out;		/* kind of page to be programmed, or being programmed */
	bool last;			/* the page in `out` records that the victim may be erased */
	bool copied, marked;		/* some entry was copied; the erasable victim was recorded */
	bool retire;			/* a program failed in the victim: it will be retired */
	bool failed, erase_failed;
	uint32_t to;			/* ppn of the program under way */
	uint64_t since_ns;
};

struct dac_die {
	struct die_turn turn;
	enum dac_cmd cmd;
	uint32_t op;			/* READ */
	uint32_t slot;			/* PROGRAM: the slot */
	const uint8_t *page;		/* READ: content read, or NULL */
	uint32_t read_first, read_last;
	uint32_t good_count;
	uint32_t live_pages;
	bool flight;			/* a host page is being programmed */
	bool gc_active;
	bool no_victim; /* GC found no victim, and no entry of this die has become invalid since */
	struct gc_order order;
	bool prepare_failed;
	uint8_t *gc_page;
	struct dac_gc gc;
	uint32_t parity;		/* BACKUP, RESCUE: ppn of the program under way, */
	bool parity_failed;
	uint32_t lost;			/* ppn of a rebuilt page, or DAC_NONE */
	uint8_t *lost_page;		/* content of that page, followed by its spare area */
};

struct dac_job {
	uint32_t unit;		/* unit number, or DAC_NONE */
	uint64_t done_ns;
};

struct dac_cached {
	uint32_t obj;
	uint32_t prev, next;		/* LRU */
	uint8_t *data;
};

/* The write buffer. */
struct dac_write {
	struct dac_unit *buf;
	uint32_t pool, free, used;	/* pool: units of the write buffer */
	uint32_t queue_first, queue_last;
	uint32_t *bucket, buckets;
	struct io_list writes;		/* writes that wait for room in the buffer, and flushes */
	struct io_list waits;		/* flushes and FUA writes that wait for programs */
};

/* Host pages that are being filled or programmed. */
struct dac_pages {
	struct dac_slot *slot;
	uint32_t slots;
	uint32_t open;			/* the open slot, or DAC_NONE */
	uint64_t closed;		/* slots closed so far */
	uint32_t closed_slots;		/* how many slots are CLOSED at this moment */
};

struct dac_engine {
	struct dac_job hasher, packer;
	struct dac_entry packed;	/* for the unit that the packer has: how it will be stored in a page */
	uint8_t *packed_data;
	uint8_t *fetched;		/* DAC_AHEAD pages of reference contents */
	uint32_t fetched_used;		/* bitmap of the pages of `fetched` in use */
	struct xmatch *xmatch;
};

/* Read operations. */
struct dac_read {
	struct dac_op *op;
	uint32_t free, host_ops, merges;
	struct io_list line;		/* reads that wait for an operation */
};

/* What may be a reference, and the reference buffer. */
struct dac_refs {
	struct fpstore *prints;
	struct dac_cached *cached;
	uint32_t caches, cached_used, lru_first, lru_last;	/* lru_first: used last */
};

struct dac_objs {
	struct dac_obj *obj;
	uint32_t objects, free;
	uint32_t gone;			/* object that replaces objects which were lost altogether */
	uint64_t room;			/* pages that may be live or in flight, summed over dies */
	uint32_t shared, shared_max;
	uint32_t shared_most;		/* the greater of shared_max and the number of shared objects when that was
					 * set */
	uint32_t *check_refs, *check_shares;	/* scratch memory of dac_check() */
};

/* The maps, by unit. */
struct dac_maps {
	uint32_t *map, *link_at;	/* object of each unit; page of the link entry, or DAC_NONE */
	uint64_t *unit_seq;		/* 0: never written */
	uint64_t *unit_ref_seq;		/* mount: sequence of the reference of the unit's newest entry */
};

/* Numbers of free blocks of a die. */
struct dac_bounds {
	uint32_t reserve;		/* kept for backup */
	uint32_t start, stop, urgent;	/* the configured limits plus the reserve */
	uint32_t idle_blocks;		/* below this number GC works in idle times */
	uint64_t idle_at_ns;		/* time from which on the drive counts as idle, or FTL_IDLE */
};

/* After a loss of power (save.h). */
struct dac_save {
	bool on, ended, done;
	struct ftl_io own_flush;
	struct ftl_op_stats kept[FTL_NOPS];	/* counters at the loss of power; later I/Os do not count */
};

struct dac {
	struct host host;
	const struct nand_geometry *g;
	const struct dac_mode *mode;
	uint64_t seq;			/* last sequence given to a version of a unit */
	uint64_t serial;		/* last serial given to a page */
	bool more_to_do;		/* a step may have become possible */
	uint32_t dies, units, unit_bytes;

	struct dac_maps maps;
	struct dac_objs objs;
	struct dac_refs refs;
	struct dac_live *live;
	struct nand_geometry fold;	/* a die as one plane */
	struct blk_table bt;
	struct front fr;
	struct dac_block *block;
	struct dac_die *die;
	struct die_due ends;
	uint32_t rr;			/* number of the die that is asked first */
	struct dac_bounds gc;

	struct dac_write write;
	struct dac_pages pages;
	struct dac_engine engine;
	struct dac_read read;
	struct dac_save save;

	uint8_t *scratch;		/* scratch memory of one page */
	uint8_t *oob;			/* scratch memory of one spare area */
	uint32_t oob_len;
	uint8_t *rebuilt;		/* mount: a page and its spare area */
};

static inline struct dac *dac_of(struct ftl *f)
{
	return ssd_container_of(f, struct dac, host.base);
}

static inline uint32_t dac_block_of(const struct dac *d, uint32_t ppn)
{
	return ppn / d->g->pages_per_block;
}

static inline struct dac_die *dac_die_of_page(const struct dac *d, uint32_t ppn)
{
	return &d->die[geo_die_of(d->g, (pbn_t){ dac_block_of(d, ppn) })];
}

/* Returns the number of a die, which blk.h and front.h take for a plane. */
static inline uint32_t dac_plane_of(const struct dac *d, const struct dac_die *x)
{
	return (uint32_t)(x - d->die);
}

static inline uint32_t dac_object_cost(const struct dac *d, const struct dac_obj *o)
{
	return dac_cost(o->kind, o->len, d->unit_bytes);
}

static inline struct blk_plane *dac_free_of(const struct dac *d, const struct dac_die *x)
{
	return &d->bt.plane[x - d->die];
}

/* Returns the host pages that a die may have, live and in flight. */
static inline uint64_t dac_die_room(const struct dac *d, const struct dac_die *x)
{
	uint32_t kept = d->gc.start + 2;

	return x->good_count > kept ? (uint64_t)(x->good_count - kept) * d->g->pages_per_block : 0;
}

/* Encode the spare area of the next program into d->oob. */
static inline void dac_set_oob(struct dac *d, const struct dac_oob *o)
{
	memset(d->oob, 0xff, d->oob_len);
	dac_put_oob(d->oob, o);
}

/* Returns the content of a page that cannot be read but was rebuilt, or NULL. */
static inline const uint8_t *dac_rebuilt(const struct dac *d, uint32_t ppn)
{
	const struct dac_die *x = dac_die_of_page(d, ppn);

	return x->lost == ppn ? x->lost_page : NULL;
}

#endif
