/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * map.h - where each unit is: the map, for the floors above.
 *
 * The map is whole, a table in memory; or it is cached: map pages in flash, of which frames hold some in memory (map.c,
 * MAP.md). Each function here serves both, and decides inline what needs no map page. So no caller asks which map there
 * is. Functions whose names end in _cached are for the files of this folder.
 *
 *   entries    map_get(), unit_map(), unit_unmap(), unit_may_exist(), map_trim()
 *   reads      map_locate(), map_upn_of(), map_arrived(), map_loaded()
 *   the host   map_ready(), map_unpin(): the map pages of a buffer page are pinned in the order of the log (map_pump)
 *   GC         map_gc_pin(), map_gc_release(), map_copied()
 *   room       map_reserve_blocks(), map_needs_room(), map_victim(), map_yield()
 *   writing    map_has_writes(), map_write(), map_written()
 *   life       map_lay_out(), map_init(), map_check(); mount/ has the functions of a mount in map_own.h. The steps of
 *              a mount differ, so each row of its tables says which map it serves (map_kind())
 */
#ifndef SLATE_PAGE_MAP_H
#define SLATE_PAGE_MAP_H

#include "page_state.h"

struct map_look;

static inline bool map_is_cached(const struct page_ftl *f)
{
	return SSD_UNLIKELY(!f->map.l2p);
}

/* The kinds of map, as bits: for tables of which some rows serve one kind alone. */
enum map_kind { MAP_WHOLE = 1, MAP_CACHED = 2, MAP_ANY = MAP_WHOLE | MAP_CACHED };

static inline enum map_kind map_kind(const struct page_ftl *f)
{
	return map_is_cached(f) ? MAP_CACHED : MAP_WHOLE;
}

/* ---- entries ------------------------------------------------------------------ */

uint32_t *map_cached(const struct page_ftl *f, uint32_t lpn);
bool map_holds_cached(const struct page_ftl *f, uint32_t lpn);
void unit_unmap_cached(struct page_ftl *f, uint32_t lpn, uint64_t seq);
void unit_map_cached(struct page_ftl *f, uint32_t lpn, uint32_t upn, uint32_t b, uint64_t seq);

/* Are all entries in memory, at any time? */
static inline bool map_holds_all(const struct page_ftl *f)
{
	return !map_is_cached(f);
}

/* Is the LPN's entry in memory? */
static inline bool map_holds(const struct page_ftl *f, uint32_t lpn)
{
	return !map_is_cached(f) || map_holds_cached(f, lpn);
}

/* Returns the LPN's entry, which is in memory. */
static inline uint32_t *map_entry(const struct page_ftl *f, uint32_t lpn)
{
	return map_is_cached(f) ? map_cached(f, lpn) : &f->map.l2p[lpn];
}

/*
 * Returns where the LPN's data are on flash, with the bit OOB_LOST if they were lost, or NONE if the host never wrote
 * them. Call it only while map_holds(lpn).
 */
static inline uint32_t map_get(const struct page_ftl *f, uint32_t lpn)
{
	return *map_entry(f, lpn);
}

/* Fetch the LPN's entry into the processor's cache, because it is needed soon. */
static inline void map_prefetch(const struct page_ftl *f, uint32_t lpn)
{
	if (!map_is_cached(f))
		SSD_PREFETCH(&f->map.l2p[lpn]);
}

static inline const struct wslot *map_slots_ahead(const struct page_ftl *f, uint64_t seq)
{
	return &f->buf.slot[f->buf.by_seq[seq & f->buf.by_seq_mask] * f->shape.upp];
}

/*
 * Prefetch for the pages that are issued next, in the order of their sequences: first their map entries, then the
 * accounts of the units in these entries. A prefetch is a hint, so no branch tests whether a next page exists; without
 * one, the slots of an earlier page are prefetched. (Always inline: GCC 12 removes the call of a function that only
 * prefetches.)
 */
static SSD_ALWAYS void map_prefetch_ahead(const struct page_ftl *f, uint64_t seq)
{
	const struct wslot *later = map_slots_ahead(f, seq + 12), *soon = map_slots_ahead(f, seq + 6);
	const uint32_t *l2p = f->map.l2p;

	for (uint32_t i = 0, upp = map_is_cached(f) ? 0 : f->shape.upp; i < upp; i++) {
		uint32_t upn = l2p[soon[i].lpn] & ~OOB_LOST;

		SSD_PREFETCH(&l2p[later[i].lpn]);
		upn = upn != (NONE & ~OOB_LOST) ? upn : 0;
		SSD_PREFETCH(&f->map.valid[upn >> 3]);
		SSD_PREFETCH(&f->bt.blk[upn_block(f, upn)]);
	}
}

/*
 * May the unit be on flash, trimmed or not? If its map page is not in memory, this is unknown, and the answer is true.
 */
static inline bool unit_may_exist(const struct page_ftl *f, uint32_t lpn)
{
	return map_is_cached(f) ? !map_holds(f, lpn) || *map_cached(f, lpn) != NONE : f->map.l2p[lpn] != NONE;
}

/*
 * Record that flash unit upn holds obsolete data. seq: the log sequence of the write or trim that replaced them; 0 if
 * GC only moved them.
 */
static inline void unit_invalid(struct page_ftl *f, uint32_t upn, uint64_t seq)
{
	uint32_t b = upn_block(f, upn);

	SSD_ASSERT(bit_get(f->map.valid, upn));
	bit_clear(f->map.valid, upn);
	blk_valid_sub(&f->bt, b);
	if (seq > f->bt.blk[b].last_inval)
		f->bt.blk[b].last_inval = seq;
	f->map.mapped--;
}

/* Make the old version of unit lpn obsolete. seq: as for unit_invalid(). */
static inline void unit_unmap(struct page_ftl *f, uint32_t lpn, uint64_t seq)
{
	uint32_t upn;

	if (map_is_cached(f)) {
		unit_unmap_cached(f, lpn, seq);
		return;
	}
	upn = f->map.l2p[lpn];
	if (upn == NONE)
		return;
	f->map.l2p[lpn] = NONE;
	unit_invalid(f, upn & ~OOB_LOST, seq);
}

/* Map lpn, which may carry OOB_LOST, to upn, which lies in block b. */
static inline void unit_map_in(struct page_ftl *f, uint32_t lpn, uint32_t upn, uint32_t b, uint64_t seq)
{
	uint32_t old;

	if (map_is_cached(f)) {
		unit_map_cached(f, lpn, upn, b, seq);
		return;
	}
	old = f->map.l2p[lpn & ~OOB_LOST];
	if (old != NONE)
		unit_invalid(f, old & ~OOB_LOST, seq);
	f->map.l2p[lpn & ~OOB_LOST] = upn | (lpn & OOB_LOST);
	f->map.mapped++;
	bit_set(f->map.valid, upn);
	blk_valid_add(&f->bt, b);
}

static inline void unit_map(struct page_ftl *f, uint32_t lpn, uint32_t upn, uint64_t seq)
{
	unit_map_in(f, lpn, upn, upn_block(f, upn), seq);
}

/*
 * Unmap the LPNs of [from, to) with a bit in `bits`, whose first one is `base`; seq: the sequence of the page with the
 * bitmap. Entries that are not in memory change later.
 */
void map_trim(struct page_ftl *f, uint32_t from, uint32_t to, const uint8_t *bits, uint32_t base, uint64_t seq);

/*
 * A trim was accepted. seq: the sequence of the buffer page with its bitmap; UINT64_MAX: the page is an open one of a
 * placement handle, which gets its sequence when it is closed.
 */
static inline void map_trim_accepted(struct page_ftl *f, uint64_t seq)
{
	f->cache.trim_seq = seq;
}

/* A buffer page that may have the last trim's bitmap has been closed. seq: the sequence that it got. */
static inline void map_trim_closed(struct page_ftl *f, uint64_t seq)
{
	if (f->cache.trim_seq == UINT64_MAX)
		f->cache.trim_seq = seq;
}

/* May trimmed LPNs have entries although their bitmaps are durable? */
static inline bool map_trims_later(const struct page_ftl *f)
{
	return map_is_cached(f);
}

/* ---- reads ---------------------------------------------------------------------- */

enum map_answer map_locate_cached(struct page_ftl *f, uint64_t now_ns, uint32_t r);
bool map_stands(const struct page_ftl *f, const struct uread *u);	/* is the unit where it was found? */

/*
 * Look the uread's unit up. With the whole map in memory, reads are queued only for units that exist, so it is found.
 */
static inline enum map_answer map_locate(struct page_ftl *f, uint64_t now_ns, uint32_t r)
{
	return map_is_cached(f) ? map_locate_cached(f, now_ns, r) : MAP_FOUND;
}

/* Returns the look-up of a uread of the pool. The map is cached. */
static inline struct uread_map *uread_map_of(const struct page_ftl *f, const struct uread *u)
{
	return &f->read.map[u - f->read.unit];
}

/* Returns the address of the uread's unit; NONE if the unit is not where it was found any more: locate it again. */
static inline uint32_t map_upn_of(const struct page_ftl *f, const struct uread *u)
{
	if (!map_is_cached(f))
		return f->map.l2p[u->lpn];
	if (u->lpn < f->shape.lpns)
		return map_stands(f, u) ? uread_map_of(f, u)->upn : NONE;
	return *map_cached(f, u->lpn);
}

/*
 * Must a read compare the LPN in the unit's spare area? A mount may have trusted pages that it did not read, and those
 * of a damaged drive file may be wrong. Nor can the LPN of an unreadable unit be searched for.
 */
static inline bool map_needs_spare(const struct page_ftl *f)
{
	return map_is_cached(f);
}

/*
 * A read of the map page whose first unit has this LPN has been issued. page: the content, which the array gives at
 * once; lost: the page cannot be read. map_loaded() follows when the command ends.
 */
void map_arrived(struct page_ftl *f, uint32_t lpn, const uint8_t *page, bool lost);
/* The command that read this map page has ended: look-ups that waited for the page go on. */
void map_loaded(struct page_ftl *f, uint64_t now_ns, uint32_t lpn);

/* Returns the number of ureads that are kept for reads of map pages: one for each frame. */
static inline uint32_t map_ureads(const struct page_ftl *f)
{
	return f->cache.frames;
}

/* ---- the host --------------------------------------------------------------------- */

void map_pump_cached(struct page_ftl *f, uint64_t now_ns);
bool map_ready_cached(const struct page_ftl *f, uint32_t wpage);
void map_unpin_cached(struct page_ftl *f, uint32_t wpage);
uint64_t map_clock(const struct page_ftl *f, uint64_t now_ns);

/* Begin what has become possible. */
static inline void map_pump(struct page_ftl *f, uint64_t now_ns)
{
	if (map_is_cached(f))
		map_pump_cached(f, now_ns);
}

/* Are the map entries of all units in this page of the write buffer in memory, and pinned? */
static inline bool map_ready(const struct page_ftl *f, uint32_t wpage)
{
	return !map_is_cached(f) || map_ready_cached(f, wpage);
}

/* Unpin the map pages of a buffer page that has been programmed. */
static inline void map_unpin(struct page_ftl *f, uint32_t wpage)
{
	if (map_is_cached(f))
		map_unpin_cached(f, wpage);
}

/* The I/O begins to wait: note how long the head of the queue has waited for the map so far. */
static inline void map_wait_begins(const struct page_ftl *f, uint64_t now_ns, struct ftl_io *io)
{
	if (map_is_cached(f))
		io->map_mark = map_clock(f, now_ns);
}

/* Split the wait for the map off the rest of the I/O's time. */
static inline void map_wait_over(const struct page_ftl *f, uint64_t now_ns, const struct ftl_io *io, uint64_t *rest,
				 uint64_t *wait)
{
	if (map_is_cached(f))
		ftl_breakdown_take(rest, map_clock(f, now_ns) - io->map_mark, wait);
}

/* Has a map page been lost, so that the host may write nothing more? */
static inline bool map_is_lost(const struct page_ftl *f)
{
	return f->cache.lost;
}

/* Does the host wait for a checkpoint? */
static inline bool map_holds_host(const struct page_ftl *f)
{
	return f->cache.ckpt.hold;
}

/* ---- collectors ------------------------------------------------------------------- */

enum map_pins { MAP_PINNED, MAP_PINS_WAIT, MAP_DISAGREES };
enum map_pins map_gc_pin_cached(struct page_ftl *f, uint64_t now_ns, struct gc *g);
void map_gc_release(struct page_ftl *f, struct gc *g);
/* Set the head of a copied map page, or of a carrier, of g. Returns the sequence of its units. */
uint64_t map_copied(struct page_ftl *f, const struct gc *g, struct oob_head *h);

/*
 * Pin the map pages of the units to program. MAP_DISAGREES: they name other units, which happens only in a damaged
 * drive file.
 */
static inline enum map_pins map_gc_pin(struct page_ftl *f, uint64_t now_ns, struct gc *g)
{
	return map_is_cached(f) ? map_gc_pin_cached(f, now_ns, g) : MAP_PINNED;
}

/* Does `valid`, the unit's bit, agree with its entry? If the entry is not in memory, it does. */
static inline bool map_agrees(const struct page_ftl *f, uint32_t lpn, uint32_t upn, bool valid)
{
	return map_is_cached(f) || valid == ((f->map.l2p[lpn] & ~OOB_LOST) == upn);
}

/* Does the block hold pages of the map, whose copies are to go to a block of their own? */
static inline bool map_owns(const struct page_ftl *f, uint32_t b)
{
	return map_is_cached(f) && f->bt.blk[b].map;
}

/* ---- room for map pages --------------------------------------------------------------- */

bool map_needs_room_cached(const struct page_ftl *f, uint32_t plane);
bool ckpt_yield(struct page_ftl *f, uint32_t plane);
/* Returns a block to collect if map pages have no room, or BLK_NONE. */
uint32_t map_victim(struct page_ftl *f, uint32_t plane);

/* Returns the free blocks of a plane that only map pages may use. */
static inline uint32_t map_reserve_blocks(const struct page_ftl *f)
{
	return f->cache.reserve;
}

/* Is the last free block of a plane for copies of map pages? */
static inline bool map_keeps_last(const struct page_ftl *f)
{
	return f->cache.frames > 0;
}

/* Has the plane too few free blocks for the map to write its pages there, so that GC must make room first? */
static inline bool map_needs_room(const struct page_ftl *f, uint32_t plane)
{
	return map_is_cached(f) && map_needs_room_cached(f, plane);
}

/* Give the checkpoints up if one has a block in this plane. Returns false if none has. */
static inline bool map_yield(struct page_ftl *f, uint32_t plane)
{
	return map_is_cached(f) && ckpt_yield(f, plane);
}

/* Note that a free block is taken: what the checkpoint says of it is not to be trusted any more. */
static inline void map_block_taken(struct page_ftl *f, uint32_t b)
{
	if (map_is_cached(f))
		f->cache.ckpt.trusted[b] = 0;
}

/* ---- writing --------------------------------------------------------------------------- */

void map_let_go(struct page_ftl *f);	/* give up the checkpoint that is being taken */

/* Is there a map page or a page of a checkpoint to write? */
static inline bool map_has_writes(const struct page_ftl *f)
{
	return map_is_cached(f) && (f->cache.writes || f->cache.ckpt.state == CKPT_WRITE);
}

bool map_write(struct page_ftl *f, uint64_t now_ns, uint32_t die);	/* begin a map page's program on the idle die */
/* The program of a map page has ended. Returns true if its block carries the mark *mark now. */
bool map_written(struct page_ftl *f, const struct die *d, uint64_t *mark);

/* ---- life ------------------------------------------------------------------------------- */

uint32_t map_pages_of(const struct ftl_config *c, const struct nand_geometry *g);
uint32_t map_frames_min(const struct nand_geometry *g, uint32_t upp);
uint32_t map_reserve(const struct ftl_config *c, const struct nand_geometry *g);
void map_lay_out(struct page_ftl *f, struct ssd_arena *m, const struct ftl_config *c, const struct nand_geometry *g);
void map_init(struct page_ftl *f, const struct map_above *above);
/* Returns the bytes of memory that the map takes; valid bits and trim bits are not counted. */
uint64_t map_memory_bytes(const struct page_ftl *f);

/* ---- checks ----------------------------------------------------------------------------- */

/* Shows the entries of one map page at a time. */
struct map_look {
	uint32_t first, end;		/* LPNs that `at` has */
	const uint32_t *at;		/* their entries; NULL: no unit of these LPNs was ever written */
};

/* Returns the LPN's entry, in memory or on flash. */
uint32_t map_peek(const struct page_ftl *f, struct map_look *k, uint32_t lpn);
void map_check(const struct page_ftl *f);
bool map_trusts(const struct page_ftl *f, uint32_t ppn);	/* has the mount not read the page? */

#endif
