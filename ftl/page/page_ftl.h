/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page_ftl.h - the page-mapping FTL's state, for its own files only.
 *
 * Every accepted write becomes a slot (one mapping unit) of a buffer page. A buffer page gets its
 * log sequence when it is opened, and pages are issued to the array in that order, each to the
 * first idle die in stripe order that has room. So at any moment the log is: done ... (holes: in
 * flight) ... not issued. `stable` is the end of the part without holes. Flush and FUA wait for it,
 * GC erases nothing that a hole could bring back, and every page carries it as its mark, so that
 * mount() finds the same prefix again.
 *
 * Trims are stored in a bitmap (a bit per LPN: "trimmed"). Its units are logical pages above the
 * exported ones, so that GC, mount and the log treat them like data. One more hidden logical page
 * lists the log sequences that an earlier mount declared dead. ftl/page/DESIGN.md argues why this
 * is enough.
 *
 *   page_ftl.c  configuration, life cycle, submit(), step()
 *   wbuf.c      write buffer: accepting, coalescing, trims
 *   read.c      flash reads for the host and for partial writes
 *   front.c     frontiers: which block and page come next, parity pages (front.h)
 *   heat.h      which pages are hot
 *   lost.c      units with lost sectors
 *   metadata.c  metadata of logical blocks in the spare area (metadata.h)
 *   owners.c    waits behind other namespaces
 *   handles.c   placement handles: pages that the host wants apart (handles.h)
 *   slc.c       the SLC cache: who may write to it, and what is folded
 *   place.c     issuing host pages and parity pages, durability
 *   sent.c      ends of writes by SSDSim's accounting
 *   dump.c      a loss of power with capacitors: the rest of the buffer
 *   gc.c        GC: the next command; gc_pick.c: the next block; gc_copy.c: the copies
 *   level.c     which blocks are collected for wear and errors
 *   map.c       the cached map: map pages in flash (map.h, MAP.md); map_mount.c: its part of a mount
 *   ckpt.c      its checkpoint; ckpt_mount.c: a mount by it
 *   mount.c     mounting
 *   rescue.c    the part of a mount that rebuilds lost pages from parity pages
 *   types.c     the FTLs of J. Park's dissertation, chapter 3: other policies of front.h
 *   check.c     invariants
 */
#ifndef SLATE_PAGE_FTL_H
#define SLATE_PAGE_FTL_H

#include "bits.h"
#include "blk.h"
#include "die.h"
#include "front.h"
#include "gc_policy.h"
#include "gc_state.h"
#include "handles.h"
#include "heat.h"
#include "host.h"
#include "fxp.h"
#include "map.h"
#include "metadata.h"
#include "oob.h"
#include "owners.h"

#define NONE 0xffffffffu
#define MAX_PLANES 8u
#define DEAD_RANGE_BYTES 10u
#define HASH_ROOM 4u		/* list heads for each slot: chains longer than one are rare */

/* ---- write buffer ---- */

struct wslot {
	uint32_t lpn;
	uint32_t have;		/* bitmap of the sectors present; complete if all are set */
	uint32_t hash_next;	/* slot number */
	bool hashed;		/* this slot has the newest version of its LPN */
	bool lost;		/* sectors of it are lost (lost.c) */
	bool blanked;		/* a write had no metadata, so the base's do not count (metadata.h) */
	uint8_t stride; /* bytes of metadata of a sector in the last write; 0: it had none, or none came yet */
};

struct wtrim {			/* LPNs trimmed by a slot that holds a bitmap unit; from NONE: no LPN */
	uint32_t from, to;
};

enum wpage_state { W_FREE, W_OPEN, W_QUEUED, W_FLIGHT };

struct wpage {			/* half of a cache line */
	uint64_t seq;
	uint64_t mark;		/* W_FLIGHT: mark that the page carries */
	uint32_t next;		/* free list, or the queue in log order */
	uint32_t ppn;		/* W_FLIGHT */
	uint16_t used;		/* number of slots in use */
	uint16_t bases;		/* number of slots whose base read is outstanding */
	uint8_t state;		/* enum wpage_state */
	uint8_t handle : 7;
	uint8_t ends : 1;	/* handles.c: the last page of a reclaim unit that the host has ended */
	uint16_t pinned;	/* cached map: number of slots whose map pages are pinned */
};

_Static_assert(sizeof(struct wpage) == 32, "struct wpage is half a cache line");

/* ---- reads ---- */

struct uread {			/* one unit to be read from flash; a cache line */
	struct ftl_io *io;	/* NULL: the read of a slot's base */
	uint32_t slot;
	uint32_t lpn;
	uint32_t from, bytes;	/* part of the unit */
	uint64_t at;		/* offset inside the I/O */
	uint64_t gc_mark;	/* stall clock of the die (gc_clock) when the uread was queued there */
	uint64_t gc_ns;		/* time waited for GC on other dies before that */
	uint64_t map_ns;	/* cached map: time waited for map pages; while waiting, the time of the begin */
	uint32_t next;
};

_Static_assert(sizeof(struct uread) == 64, "struct uread is a cache line");

struct uread_map {		/* cached map: a uread's look-up */
	uint32_t upn;		/* unit address found; valid while its block has been erased `erases` times */
	uint32_t erases;
};

/* ---- dies and planes ---- */

enum die_op { DIE_IDLE, DIE_READ, DIE_PROGRAM, DIE_ERASE_FRONTIER, DIE_BACKUP, DIE_GC, DIE_MAP };

struct die {			/* 128 bytes, so that an index is converted to an address by a shift */
	struct die_turn turn;
	uint64_t cell_ns, bus_ns;	/* DIE_PROGRAM: times of the last page */
	uint8_t op;		/* enum die_op */
	uint32_t first, last;	/* queue of ureads */
	uint32_t start_next;	/* read.c: chain of dies to start; NONE: not on the chain */
	uint32_t bases;		/* DIE_READ: chain of base reads that end with it */
	uint32_t count;		/* DIE_PROGRAM: number of pages under way */
	uint32_t page[MAX_PLANES]; /* DIE_MAP: page[0] is the page, page[1] the frame, or MAP_NONE: a checkpoint's;
					 * DIE_BACKUP: page[1] is the block that it covers */
	uint8_t status[MAX_PLANES];	/* enum nand_status */
	uint32_t plane;		/* DIE_GC, DIE_ERASE_FRONTIER, DIE_BACKUP (page[0]: its page) */
	uint32_t plane_turn;	/* first plane of the die for the next host programs */
	uint32_t gc_plane;	/* plane whose GC has the turn until its victim is done */
	uint32_t stripe_at;	/* the die's place in the stripe */
	uint64_t suspend_at_ns; /* time before which no read may suspend the running command; FTL_IDLE: no read may
				 * suspend it */
};

_Static_assert(sizeof(struct die) == 128, "struct die is two cache lines");

struct plane {
	uint32_t purge;			/* blocks to collect because they hold dead pages */
	uint32_t relocate;		/* flagged blocks (V1 in level.c) */
	bool level;			/* the wear must be compared */
	struct gc_order order;
	struct gc gc;
};

struct dead_range {
	uint64_t after, before;	/* sequences after < s < before are dead */
	uint32_t pages;		/* pages on flash with such sequences, counted by mount */
};

struct lost_page {
	uint32_t ppn;
	bool mark;			/* no readable page settles the sequences that this entry settled */
};

extern const struct ftl_ops page_ftl_ops;	/* the others of ftl_list are in types.c */

/* ---- the parts of struct page_ftl ---- */

struct page_shape {			/* values derived from the configuration once */
	uint32_t upp;			/* units per page */
	struct fxp_div by_upp, by_block_units, by_block_pages, by_die_units;
	uint32_t sectors_mask;		/* value of slot.have for a complete slot */
	uint32_t unit_shift;		/* unit_bytes == 1 << unit_shift; 0: not a power of two */
	uint32_t lpns;			/* exported LPNs */
	uint32_t maps;			/* number of trim bitmap units */
	uint32_t dead_lpn;		/* lpns + maps: the list of dead sequences */
	uint32_t map_lpn;		/* dead_lpn + 1: the first unit of map pages, if there are any */
	uint32_t ckpt_lpn;		/* behind the units of map pages: a page of a checkpoint (ckpt.c) */
	uint32_t all_lpns;		/* map_lpn, or with a cached map ckpt_lpn */
	uint32_t most_lpns;		/* ckpt_lpn + 1: LPNs that may be found on flash */
	uint32_t dies, planes;
};

struct page_map {
	uint32_t *l2p;			/* unit address or NONE; may be combined with OOB_LOST. NULL: the map is
					 * cached (map.h) */
	uint8_t *valid;			/* a bit for each physical unit */
	uint8_t *p2l; /* gc_copyback: the OOB of each physical unit, OOB_UNIT_BYTES; NULL: the OOB
					 * is read */
	uint8_t *trimmed;		/* a bit for each exported LPN, changed in the order of acceptance */
	uint64_t trims;			/* number of bits set in trimmed */
	uint64_t mapped;
};

struct page_buf {			/* wbuf.c */
	struct wslot *slot;
	struct wtrim *trim;		/* trimmed LPNs of each slot */
	struct wpage *page;
	uint8_t *data;
	uint32_t *bad;			/* bitmap of the lost sectors of each slot with `lost` */
	bool losses;			/* since the mount, some slot had `lost` set */
	uint32_t pages, free, free_count;
	uint32_t first, last;		/* the queue of pages to be issued, in log order */
	uint32_t open;			/* page being filled, the last in the queue; or NONE */
	uint32_t *by_seq;		/* page of each sequence from the queue's head on */
	uint32_t by_seq_mask;
	uint32_t *hash;
	uint32_t hash_mask;
	struct io_list line;		/* I/Os that wait for room */
	uint32_t atomic;		/* atomic_bytes() if more than a unit, otherwise 0 */
	bool held;			/* the first in line is an atomic write that waits for reads alone */
};

struct page_log {			/* place.c: order and durability */
	uint64_t next_seq;
	uint64_t goes_on;		/* level.c: page that lets copies settle, while it has not been issued */
	uint64_t *ended;		/* a bit for each s & ring_mask, s > stable: page s has been programmed */
	uint64_t *ring;			/* mount: ring[s & mask] is the last such s that was found */
	uint32_t ring_mask;
	uint32_t ahead_max;		/* P1: maximum distance of the issued sequence from stable */
	struct io_list durable;		/* I/Os that wait for stable */
	struct io_list sent;		/* SSDSim's accounting: I/Os that wait for their data transfer */
	uint32_t carrier;		/* full block with the highest mark */
	struct dead_range *dead;
	uint32_t dead_count, dead_max;
};

/* The head of the queue waits for a die. */
struct page_stall {
	uint64_t gc_ns, since_ns;
	bool by_gc;
	bool noted;			/* note_stall() was called since a die began or ended a command */
};

struct page_turn {			/* the command of each die, and when it ends */
	uint32_t *stripe;		/* die numbers in stripe order */
	uint32_t stripe_at;
	uint64_t *idle, *idle_stripe;	/* a bit for each idle die, by number and by place in the stripe */
	struct die_due ends;		/* end times of the busy dies */
	uint32_t *due;
	bool kick;			/* an idle die has new work */
	bool changed;			/* the result of begin_all() was changed from outside */
	bool watched;			/* die_start_watched() sees each command */
};

struct page_gc {			/* gc.c: state shared by all planes */
	uint32_t awake;			/* number of planes whose collector is awake */
	uint32_t urgent_blocks;		/* free blocks that the host may not use: gc_urgent_blocks, and one for
					 * parity pages */
	uint32_t idle_blocks;		/* per plane: idle GC starts when fewer are free; 0: never */
	uint64_t idle_at_ns;		/* time from which on idle GC may work; FTL_IDLE: the drive is not idle */
	bool idle_work;			/* there may be work in idle times: idle GC, or folding */
	bool hold;			/* mount: the dead list is not durable yet */
	bool rests;			/* after a loss of power: only programs of the buffer begin */
	bool by_words;			/* read single ECC words instead of whole pages */
};

struct page_read {			/* read.c */
	struct uread *unit;
	struct uread_map *map;		/* the look-up of each uread; NULL: the whole map is in memory */
	uint32_t free, free_count;
	uint32_t kept;			/* free ureads that reads of the host may not take */
	struct io_list waiting;		/* reads with units not yet queued */
	struct ftl_io *spans;		/* with buf.atomic: reads of several units that have looked up some of them */
	struct ftl_io nobody;		/* after a loss of power: the I/O of reads that nobody waits for */
	uint8_t *oob;			/* NULL: commands need no spare area */
	bool bare;			/* commands move no content: no payload, and the whole map is in memory */
	bool by_words;			/* as in struct page_gc */
	bool suspends;			/* reads of the host suspend some commands */
};

struct owner_wait {			/* of a uread */
	uint64_t mark;			/* clock of the die when the uread was queued there */
	uint64_t ns;			/* time waited for others on other dies before that */
};

struct page_owners {			/* owners.c */
	struct owner_clock *die;	/* NULL: namespaces are not told apart */
	struct owner_clock log;
	struct owner_wait *wait;
	uint8_t *slot;			/* namespace of each slot */
};

struct page_lost {			/* rebuilt pages, kept during a mount or on a read-only drive (rescue.c) */
	struct lost_page *page;
	uint8_t *data;			/* content of each: page and spare area */
	uint32_t count, max;
};

struct page_ftl {
	struct host host;
	const struct nand_geometry *g;
	bool extras;			/* a feature of extras_on() is on, or `losses`; hot code tests this first */
	struct page_shape shape;
	struct page_map map;
	struct page_cache cache;
	struct blk_table bt;
	struct front fr;
	struct page_buf buf;
	struct page_log log;
	struct page_stall stall;
	struct die *die;
	struct plane *plane;
	struct page_turn turn;
	struct page_gc gc;
	struct page_read read;
	struct page_lost lost;
	struct page_heat heat;
	struct page_handles handles;
	struct page_owners owners;
	struct page_metadata metadata;
	uint64_t good_blocks;
	uint64_t need_blocks;		/* good blocks below which the drive is read-only */
	bool full;			/* no more pages can be programmed */
	bool saves;			/* the power has failed (save.h) */
	uint32_t oob_len;		/* bytes kept of each page's spare area */
	uint8_t *scratch;		/* scratch memory of one page */
	uint8_t *oob;			/* spare areas of MAX_PLANES pages, OOB_BYTES each */
};

static inline struct page_ftl *page_ftl_of(struct ftl *f)
{
	return ssd_container_of(f, struct page_ftl, host.base);
}

/* ---- small questions ---- */

static inline uint64_t next_due_ns(const struct page_ftl *f)
{
	return die_due_first_ns(&f->turn.ends);
}

static inline uint32_t byte_lpn(const struct page_ftl *f, uint64_t byte)
{
	return (uint32_t)(f->shape.unit_shift ? byte >> f->shape.unit_shift : byte / f->host.c.unit_bytes);
}

static inline bool is_trimmed(const struct page_ftl *f, uint32_t lpn)
{
	return f->map.trims && bit_get(f->map.trimmed, lpn);
}

static inline void trim_set(struct page_ftl *f, uint32_t lpn)
{
	f->map.trims += !bit_get(f->map.trimmed, lpn);
	bit_set(f->map.trimmed, lpn);
}

static inline void trim_clear(struct page_ftl *f, uint32_t lpn)
{
	f->map.trims -= bit_get(f->map.trimmed, lpn);
	bit_clear(f->map.trimmed, lpn);
}

static inline uint8_t *p2l_of(const struct page_ftl *f, uint32_t upn)
{
	return f->map.p2l + (size_t)upn * OOB_UNIT_BYTES;
}

static inline uint32_t upn_block(const struct page_ftl *f, uint32_t upn)
{
	return fxp_quotient(f->shape.by_block_units, upn);
}

static inline uint32_t upn_die(const struct page_ftl *f, uint32_t upn)
{
	return fxp_quotient(f->shape.by_die_units, upn);
}

static inline uint32_t lpns_per_map(const struct page_ftl *f)
{
	return f->host.c.unit_bytes * 8;
}

static inline uint8_t *slot_data(const struct page_ftl *f, uint32_t slot)
{
	return f->buf.data + (size_t)slot * f->host.c.unit_bytes;
}

/* Returns NULL without metadata. Integers are added, because arithmetic on a null pointer is undefined. */
static inline uint8_t *metadata_of_slot(const struct page_ftl *f, uint32_t slot)
{
	return (uint8_t *)((uintptr_t)f->metadata.slot + (size_t)slot * f->metadata.bytes);
}

static inline uint64_t gc_clock(const struct die *d, uint64_t now_ns)
{
	return die_gc_clock(&d->turn, d->op == DIE_GC, now_ns);
}

/* Returns the time during which GC kept the head of the queue from being issued. */
static inline uint64_t stall_clock(const struct page_ftl *f, uint64_t now_ns)
{
	return f->stall.gc_ns + (f->stall.by_gc ? now_ns - f->stall.since_ns : 0);
}

/* ---- mapping ---- */

/* map.c */
uint32_t *map_cached(const struct page_ftl *f, uint32_t lpn);
void map_changed(struct page_ftl *f, uint32_t lpn, uint64_t seq);	/* the LPN's entry has changed */
bool map_holds(const struct page_ftl *f, uint32_t lpn);

static inline bool map_is_cached(const struct page_ftl *f)
{
	return SSD_UNLIKELY(!f->map.l2p);
}

/* Returns the look-up of a uread of the pool. The map is cached. */
static inline struct uread_map *uread_map_of(const struct page_ftl *f, const struct uread *u)
{
	return &f->read.map[u - f->read.unit];
}

/* Returns the LPN's entry. If the map is cached, its map page is in memory. */
static inline uint32_t *map_entry(const struct page_ftl *f, uint32_t lpn)
{
	return map_is_cached(f) ? map_cached(f, lpn) : &f->map.l2p[lpn];
}

/* Returns where the metadata of a page's unit i begin in its spare area. */
static inline size_t metadata_in_page(const struct page_ftl *f, uint32_t i)
{
	return f->metadata.at + (size_t)i * f->metadata.bytes;
}

/* Is there a map page or a page of a checkpoint to write? */
static inline bool map_has_writes(const struct page_ftl *f)
{
	return map_is_cached(f) && (f->cache.writes || f->cache.ckpt.state == CKPT_WRITE);
}

/* Is the unit on flash, trimmed or not? If its map page is not in memory, it may be. */
static inline bool unit_may_exist(const struct page_ftl *f, uint32_t lpn)
{
	return map_is_cached(f) ? !map_holds(f, lpn) || *map_cached(f, lpn) != NONE : f->map.l2p[lpn] != NONE;
}

/* The unit at upn is obsolete. seq: the sequence that makes it so, 0 for a move. */
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

/* map_unit.c: these functions do the same as unit_unmap() and unit_map(), for a cached map. */
void unit_unmap_cached(struct page_ftl *f, uint32_t lpn, uint64_t seq);
void unit_map_cached(struct page_ftl *f, uint32_t lpn, uint32_t upn, uint32_t b, uint64_t seq);

/* Unmap the unit's old version. seq is the sequence that makes it obsolete, 0 for a move. */
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

/* ---- between the files ---- */

/* space.c */
uint32_t space_bitmaps(const struct ftl_config *c);
uint32_t space_urgent_blocks(const struct front_policy *policy, const struct ftl_config *c);
uint64_t space_blocks_needed(const struct front_policy *policy, const struct ftl_config *c,
			     const struct nand_geometry *g);
struct ftl_kept page_ftl_kept(const struct ftl_ops *t, const struct ftl_config *c, const struct nand_geometry *g);

/* atomic.c */
uint32_t page_ftl_atomic_bytes(const struct ftl_config *c, const struct nand_geometry *g);
bool atomic_may_begin(struct page_ftl *f, const struct ftl_io *io);
bool atomic_read_begins(struct page_ftl *f, struct ftl_io *io);
void atomic_read_over(struct page_ftl *f, struct ftl_io *io);
void atomic_resume(struct page_ftl *f, uint64_t now_ns);

/* page_ftl.c */
const char *page_ftl_fault(const struct ftl_ops *t, const struct ftl_config *c, const struct nand_geometry *g);
uint32_t page_ftl_oob_bytes(const struct ftl_ops *t, const struct ftl_config *c, const struct nand_geometry *g);
size_t page_ftl_lay_out(const struct ftl_ops *t, void *mem, const struct ftl_config *c,
			const struct nand_geometry *g);
void page_ftl_begin(struct ftl *base);
/* These members of struct ftl_ops are the same for all page FTLs. Their policy is a struct front_policy. */
#define PAGE_FTL_OPS_COMMON                                                                 \
	.durability = FTL_PREFIX, .word_lines = true, .writes_lost = true, .loses_sectors = true, \
	.oob_bytes = page_ftl_oob_bytes, .fault = page_ftl_fault, .kept = page_ftl_kept,    \
	.atomic_bytes = page_ftl_atomic_bytes,                                              \
	.lay_out = page_ftl_lay_out, .begin = page_ftl_begin,                               \
	.find = page_ftl_find, .submit = page_ftl_submit,                                   \
	.step = page_ftl_step, .save = page_ftl_save, .unsaved = page_ftl_unsaved,          \
	.check = page_ftl_check, HOST_OPS_COMMON,                                           \
	.map_bytes = page_ftl_map_bytes, .collect = page_ftl_collect,                       \
	.reconfigure = page_ftl_reconfigure, .block = page_ftl_block,                       \
	.handle = page_ftl_handle, .renew_handle = page_ftl_renew_handle
void page_ftl_submit(struct ftl *base, uint64_t now_ns, struct ftl_io *io);
uint64_t page_ftl_step(struct ftl *base, uint64_t now_ns);
uint64_t page_ftl_map_bytes(const struct ftl *base);

/* dump.c */
uint64_t page_ftl_save(struct ftl *base, uint64_t now_ns);
uint32_t page_ftl_unsaved(const struct ftl *base);

/* control.c */
extern const char *const page_ftl_online[], *const pairs_ftl_online[], *const flex_ftl_online[];
void page_ftl_plan_idle(struct page_ftl *f);	/* by idle_gc_permille */
uint32_t page_ftl_collect(struct ftl *base, uint64_t now_ns, uint32_t free_blocks);
void page_ftl_reconfigure(struct ftl *base, uint64_t now_ns, const struct ftl_config *c);
struct ftl_block page_ftl_block(const struct ftl *base, pbn_t b);

/* lost.c */
void lost_slot(struct page_ftl *f, uint32_t slot, uint32_t bits);	/* these sectors of the slot are lost */
void lost_written(struct page_ftl *f, const struct ftl_io *io, uint32_t slot, uint32_t bits);
void lost_begin(struct page_ftl *f);	/* before the first slot with lost sectors */
uint32_t lost_bits(const struct page_ftl *f, const uint8_t *unit);
const uint8_t *lost_sector(const uint8_t *unit, uint32_t bad, uint32_t i);
void lost_encode(struct page_ftl *f, uint32_t w);
void lost_decode(struct page_ftl *f, uint32_t slot);
void lost_decode_pages(struct page_ftl *f, const uint32_t *page, uint32_t count);
bool lost_give(struct page_ftl *f, const struct uread *u, uint32_t slot, const uint8_t *unit, const uint8_t *metadata,
	       uint32_t bad);

/* owners.c: the functions after owners_lay_out() are called only if owners_told(). */
void owners_lay_out(struct page_ftl *f, struct ssd_arena *m, const struct ftl_config *c, uint32_t reads);
uint32_t owners_of_read(const struct page_ftl *f, uint32_t r);
void owners_of_program(const struct page_ftl *f, const struct die *d, struct nand_cmd *c, uint32_t count);
void owners_queued(struct page_ftl *f, uint32_t r, uint32_t die, bool fresh);
void owners_moved(struct page_ftl *f, uint32_t r, uint32_t die);
void owners_read(const struct page_ftl *f, uint32_t die, const struct uread *u, const struct nand_cmd *c);
void owners_oldest(struct page_ftl *f);
void owners_wrote(struct page_ftl *f, const struct ftl_io *io, uint32_t slot);
void owners_wait_begins(const struct page_ftl *f, struct ftl_io *io);
void owners_wait_over(const struct page_ftl *f, struct ftl_io *io, uint64_t *rest);

static inline bool owners_told(const struct page_ftl *f)
{
	return SSD_UNLIKELY(f->owners.die != NULL);
}

/* page_ftl.c: die_start() calls this with suspension, or if namespaces are told apart. */
void die_start_watched(struct page_ftl *f, uint32_t die, const struct nand_cmd *c);

/* Mark an idle die as executing `op`. c: the command, or the last one of a group. */
static inline void die_start(struct page_ftl *f, uint32_t die, enum die_op op, const struct nand_cmd *c)
{
	struct die *d = &f->die[die];

	SSD_ASSERT(d->op == DIE_IDLE);
	d->op = (uint8_t)op;
	d->suspend_at_ns = FTL_IDLE;
	if (SSD_UNLIKELY(f->turn.watched))
		die_start_watched(f, die, c);
	die_begin(&f->turn.ends, die, &d->turn, op == DIE_GC, f->host.now_ns, c->done_ns);
	f->stall.noted = false;
	word_clear(f->turn.idle, die);
	word_clear(f->turn.idle_stripe, d->stripe_at);
}

/* Returns the head of the LPN's hash list. Consecutive LPNs, as in a request, share a cache line. */
static inline uint32_t *wbuf_hash_head(const struct page_ftl *f, uint32_t lpn)
{
	return &f->buf.hash[(lpn ^ (lpn >> 10) * 0x9e3779b1u) & f->buf.hash_mask];
}

/* Returns the slot with the newest version, or NONE. s: the first slot of its list. */
static inline uint32_t wbuf_find_from(const struct page_ftl *f, uint32_t s, uint32_t lpn)
{
	while (s != NONE && f->buf.slot[s].lpn != lpn)
		s = f->buf.slot[s].hash_next;
	return s;
}

static inline uint32_t wbuf_find(const struct page_ftl *f, uint32_t lpn)
{
	return wbuf_find_from(f, *wbuf_hash_head(f, lpn), lpn);
}

void wbuf_init(struct page_ftl *f);
uint32_t wbuf_hidden_slot(struct page_ftl *f, uint32_t lpn);	/* returns a complete slot; NONE: no room */
void wbuf_trim_bits(const struct page_ftl *f, uint32_t map, uint8_t *to);	/* as they are at this moment */
void wbuf_queue(struct page_ftl *f, uint32_t wpage);	/* give the page its sequence, and append it to the queue */
/* Close the open page, so that it takes no more units. */
static inline void wbuf_seal(struct page_ftl *f)
{
	if (f->buf.open == NONE)
		return;
	f->buf.page[f->buf.open].state = W_QUEUED;
	if (SSD_UNLIKELY(f->extras) && f->handles.count)
		wbuf_queue(f, f->buf.open);
	f->buf.open = NONE;
}

bool wbuf_next_page(struct page_ftl *f);	/* seals the page, which is open or empty; false: no room */
void wbuf_release(struct page_ftl *f, uint32_t wpage);
void line_join(struct page_ftl *f, uint64_t now_ns, struct ftl_io *io);
void line_process(struct page_ftl *f, uint64_t now_ns);

/* read.c */
void read_init(struct page_ftl *f);
void read_begin(struct page_ftl *f, uint64_t now_ns, struct ftl_io *io);
bool read_resume(struct page_ftl *f, uint64_t now_ns);	/* false: there is nothing to do */
void read_base(struct page_ftl *f, uint64_t now_ns, uint32_t slot);
/* The die's command continues, but its time in turn.ends has come: a read may suspend the command now. */
void read_may_suspend(struct page_ftl *f, uint64_t now_ns, uint32_t die);
bool read_issue(struct page_ftl *f, uint64_t now_ns, uint32_t die);
void read_bases_arrived(struct page_ftl *f, struct die *d);	/* bases, or a map page */

/* A uread has its unit's address now: queue it on the die. */
void uread_located(struct page_ftl *f, uint64_t now_ns, uint32_t r);
void uread_put(struct page_ftl *f, uint32_t r);	/* the unit's read has ended, or is forgotten */
/* The uread's unit was never written: end it. */
void uread_unwritten(struct page_ftl *f, uint64_t now_ns, uint32_t r);
void uread_failed(struct page_ftl *f, uint64_t now_ns, uint32_t r, enum ssd_err status);
/* Read a map page. */
void read_map(struct page_ftl *f, uint64_t now_ns, uint32_t lpn);

/* place.c */
enum room { ROOM_NONE, ROOM_BUSY, ROOM_READY };
enum room frontier_room_now(struct page_ftl *f, uint64_t now_ns, uint32_t plane, enum frontier which,
			    uint32_t *slot);

/*
 * Make sure that the slot has a page. This may start an erase or a parity page on the plane's idle
 * die (ROOM_BUSY); the caller then calls again after that command.
 */
static inline enum room frontier_room(struct page_ftl *f, uint64_t now_ns, uint32_t plane,
				      enum frontier which, uint32_t *slot)
{
	*slot = which;
	if (SSD_LIKELY(f->fr.plain && f->fr.plane[plane].open[which] != BLK_NONE))
		return ROOM_READY;
	return frontier_room_now(f, now_ns, plane, which, slot);
}

uint32_t frontier_take_paired(struct page_ftl *f, uint32_t plane, uint32_t slot, enum frontier which);

/* Take the next page of the slot's block, after frontier_room() returned ROOM_READY. */
static inline uint32_t frontier_take(struct page_ftl *f, uint32_t plane, uint32_t slot,
				     enum frontier which)
{
	if (which == FRONT_GC)
		f->bt.blk[f->fr.plane[plane].open[slot]].copies = true;
	else if (which == FRONT_MAP)
		f->bt.blk[f->fr.plane[plane].open[slot]].map = true;
	if (SSD_UNLIKELY(f->fr.sequence != SEQ_ASCENDING))
		return frontier_take_paired(f, plane, slot, which);
	return front_take(&f->fr, plane, slot);
}

/* Take a free block of the plane that the host could take, and put it into state VICTIM. It may be erased first. */
enum room frontier_spare_block(struct page_ftl *f, uint64_t now_ns, uint32_t plane, uint32_t *b);
void frontier_erased(struct page_ftl *f, uint32_t plane, enum nand_status status);
bool backup_now(struct page_ftl *f, uint64_t now_ns, uint32_t die);	/* a plane owes a parity page for the die */
void backup_beside_now(struct page_ftl *f, uint64_t now_ns, uint32_t die);

static inline void backup_beside(struct page_ftl *f, uint64_t now_ns, uint32_t die)
{
	if (SSD_UNLIKELY(f->fr.c.backup_ahead))
		backup_beside_now(f, now_ns, die);
}

void backup_ended(struct page_ftl *f, struct die *d);
void parity_void(struct page_ftl *f, uint32_t b);
static inline bool page_ready(const struct page_ftl *f, uint32_t wpage)
{
	const struct wpage *p = &f->buf.page[wpage];

	return !p->bases && (p->state == W_QUEUED || p->used == f->shape.upp) &&
	       (!map_is_cached(f) || map_ready(f, wpage));
}

/* Is there a page to issue, and a die for it? */
static inline bool next_ready(const struct page_ftl *f)
{
	uint32_t w = f->buf.first;

	return w != NONE && page_ready(f, w) && f->buf.page[w].seq - f->bt.stable <= f->log.ahead_max;	/* P1 */
}

void place_pages_now(struct page_ftl *f, uint64_t now_ns);

/* Issue the pages that can be issued. If the same dies are busy as before, no page can. */
static inline void place_pages(struct page_ftl *f, uint64_t now_ns)
{
	if ((!f->stall.noted || f->turn.ends.busy < f->shape.dies) && (f->stall.by_gc || next_ready(f)))
		place_pages_now(f, now_ns);
}

void place_complete(struct page_ftl *f, struct die *d);
void durable_wait(struct page_ftl *f, uint64_t now_ns, struct ftl_io *io);
void durable_end(struct page_ftl *f, uint64_t now_ns, const struct die *last);

/* End all I/Os that wait for `stable`. last: the die whose program moved `stable`. */
static inline void durable_process(struct page_ftl *f, uint64_t now_ns, const struct die *last)
{
	if (f->log.durable.first && f->log.durable.first->seq <= f->bt.stable)
		durable_end(f, now_ns, last);
	f->turn.kick |= last && f->gc.awake;	/* GC may have waited for it */
}

void block_failed(struct page_ftl *f, uint32_t b);
void block_lost(struct page_ftl *f, uint32_t b);
void carrier_offer(struct page_ftl *f, uint32_t b, uint64_t mark);

/* sent.c */
bool ends_when_sent(const struct page_ftl *f, const struct ftl_io *io);
void sent_wait(struct page_ftl *f, struct ftl_io *io);
void sent_page(struct page_ftl *f, uint64_t now_ns, uint64_t seq, const struct nand_cmd *c);

/* gc.c */
void gc_wake_idle(struct page_ftl *f);
void gc_wake(struct page_ftl *f, uint32_t plane);
bool gc_run(struct page_ftl *f, uint64_t now_ns, uint32_t plane);
void gc_complete(struct page_ftl *f, uint64_t now_ns, struct die *d);
bool gc_holds_die(const struct page_ftl *f, uint32_t die);
void gc_after_read(struct page_ftl *f, uint32_t die);
void gc_after_program(struct page_ftl *f, uint32_t die);

/* slc.c */
void slc_set_aside(struct page_ftl *f);
bool slc_has_room(const struct page_ftl *f, uint32_t plane);	/* for a page of the host */
bool slc_waits(struct page_ftl *f, uint32_t plane);	/* it has none, and the host waits for folding */
bool slc_pressed(const struct page_ftl *f, uint32_t plane);	/* must GC fold a block so that the host goes on? */

/* Does GC of blocks in SLC mode free blocks for every use? */
static inline bool slc_shares(const struct page_ftl *f)
{
	return !f->bt.aside_max;
}

/* level.c */
uint32_t level_flagged(const struct page_ftl *f, uint32_t plane);	/* a block to relocate, or BLK_NONE */
uint32_t level_coldest(struct page_ftl *f, uint32_t plane);	/* a block for wear levelling, or BLK_NONE; call
								 * again after the next erase */
void level_free_block(struct page_ftl *f, uint32_t plane);	/* GC's frontier opens a free block */
void level_corrected(struct page_ftl *f, uint32_t b);		/* a read of block b was corrected */
void level_forget(struct page_ftl *f, uint32_t b);		/* block b becomes a victim */
bool level_waits(struct page_ftl *f, uint32_t plane); /* a flagged block settles soon: a page is written for that */

/* mount.c */
int page_ftl_find(struct ftl *base);
const uint8_t *mount_rebuilt_unit(const struct page_ftl *f, uint32_t upn);	/* read-only drive: the unit's
										 * content, or NULL */

/* check.c */
void page_ftl_check(const struct ftl *base);

#endif
