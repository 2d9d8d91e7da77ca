/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page_state.h - the page-mapping FTL's state, for its own files only.
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
 *   page_owners.c  waits behind other namespaces
 *   p2l.h       the spare areas of all units in memory, for copyback
 *   handles.c   placement handles: pages that the host wants apart (handles.h)
 *   slc.c       the SLC cache: who may write to it, and what is folded
 *   queue.c     the queue of pages to be issued
 *   frontier.c  the pages that a plane programs next, and parity pages (frontier.h)
 *   wordline.c  flash that programs whole word lines: which pages go together (wordline.h)
 *   place.c     issuing host pages
 *   dies.c      marks dies as busy; decides whether GC or the host has a die's next command
 *   durable.c   ends of flushes, and of writes that wait for their programs
 *   sent.c      ends of writes by SSDSim's accounting
 *   dump.c      a loss of power with capacitors: the rest of the buffer
 *   gc.c        GC: the next commands; gc_wake.c: when they begin; gc_pick.c: why, and the next block;
 *               gc_copy.c: the copies
 *   level.c     which blocks are collected for wear and errors
 *   map.c       the cached map: map pages in flash (map.h, MAP.md); map_write.c: their programs; map_mount.c:
 *               its part of a mount
 *   ckpt.c      its checkpoint; ckpt_mount.c: a mount by it
 *   mount.c     mounting
 *   rescue.c    the part of a mount that rebuilds lost pages from parity pages
 *   types.c     the FTLs of J. Park's dissertation, chapter 3: other policies of front.h
 *   check.c     invariants
 */
#ifndef SLATE_PAGE_STATE_H
#define SLATE_PAGE_STATE_H

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
#include "map_state.h"
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
	bool lost;		/* some sectors of the unit are lost (lost.c) */
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
	uint32_t next;		/* the next page of the free list, or of the queue in log order */
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

struct die {			/* 256 bytes, so that an index is converted to an address by a shift */
	struct die_turn turn;
	uint64_t cell_ns, bus_ns;	/* DIE_PROGRAM: times of the last page */
	uint8_t op;		/* enum die_op */
	uint32_t first, last;	/* queue of ureads */
	uint32_t start_next;	/* read.c: chain of dies to start; NONE: not on the chain */
	uint32_t bases;		/* DIE_READ: chain of base reads that end with it */
	uint32_t count;		/* DIE_PROGRAM: number of pages under way */
	uint32_t plane;		/* DIE_GC: any of its planes; DIE_ERASE_FRONTIER, DIE_BACKUP (page[0]: its page) */
	uint32_t plane_turn;	/* first plane of the die for the next host programs */
	uint32_t gc_plane;	/* plane whose GC has the first turn until its victim is done */
	uint32_t stripe_at;	/* the die's place in the stripe */
	uint64_t suspend_at_ns; /* time before which no read may suspend the running command; FTL_IDLE: no read may
				 * suspend it */
	/*
	 * DIE_PROGRAM: each command's page of the buffer, or NONE: a pad (wordline.h); DIE_MAP: page[0] is the page,
	 * page[1] the frame, or MAP_NONE: a checkpoint's; DIE_BACKUP: page[1] is the block that it covers
	 */
	uint32_t page[NAND_GROUP_MAX + 1];
	uint8_t status[NAND_GROUP_MAX];	/* enum nand_status */
};

_Static_assert(sizeof(struct die) == 256, "struct die is four cache lines");

struct plane {
	uint32_t purge;			/* blocks to collect because they hold dead pages */
	uint32_t relocate;		/* flagged blocks (V1 in level.c) */
	bool level;			/* the wear must be compared */
	uint64_t read_end_ns;		/* with plane_reads: end of the plane's last read of the host */
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

struct page_buf {			/* wbuf.c */
	struct wslot *slot;
	struct wtrim *trim;		/* for each slot, the LPNs that it trims */
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
	bool held;			/* `line` begins with an atomic write that has room and waits for reads */
};

struct page_line {			/* wordline.h */
	uint32_t pages;			/* of a plane that one program names: with one_shot a word line's, else 1 */
	uint32_t units;			/* of these pages */
	uint64_t due;			/* pages up to this sequence do not wait until their word line is full */
	uint64_t flushed;		/* the same, because of a flush, a FUA write or an unbuffered write */
};

struct page_log {			/* place.c, durable.c: order and durability */
	uint64_t next_seq;
	uint64_t goes_on;		/* gc_wake.c: sequence of the page that lets copies settle; until it is issued,
					 * collectors wait for it */
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
	struct die_due ends;		/* the dies that execute a command, by when it ends */
	uint32_t *due;
	bool kick;			/* an idle die has new work */
	bool changed;			/* the result of begin_all() was changed from outside */
	bool watched;			/* die_start_watched() sees each command */
};

struct page_gc {			/* gc.c: state shared by all planes */
	void (*wake)(struct page_ftl *f, uint32_t plane);	/* gc_wake(), for files below GC */
	uint32_t awake;			/* number of planes whose collector is awake */
	uint32_t urgent_blocks;		/* free blocks that the host may not use: gc_urgent_blocks, and one for
					 * parity pages */
	uint32_t idle_blocks;		/* per plane: idle GC starts when fewer are free; 0: never */
	uint64_t idle_at_ns;		/* time from which on idle GC may work; FTL_IDLE: the drive is not idle */
	bool idle_work;			/* there may be work in idle times: idle GC, or folding */
	bool hold;			/* mount: the dead list is not durable yet */
	bool rests;			/* after a loss of power: only programs of the buffer begin */
	bool by_words;			/* read single ECC words instead of whole pages */
	bool together;			/* the collectors of a die's planes issue their commands together */
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
	bool suspends;			/* a busy die may begin a read: it suspends a command, or is beside reads */
	bool beside;			/* timing.plane_reads: each plane of a die may have a read of its own */
};

struct owner_wait {			/* of a uread */
	uint64_t mark;			/* clock of the die when the uread was queued there */
	uint64_t ns;			/* time waited for others on other dies before that */
};

struct page_owners {			/* page_owners.c */
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
	struct page_line line;
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
	uint8_t *oob;			/* spare areas of the pages of `cmd`, OOB_BYTES each */
	struct nand_cmd *cmd;		/* commands of one die that start together, as many as it can have */
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

/*
 * Returns the metadata of a slot; NULL: pages have none. Integers are added, because arithmetic on a null pointer is
 * undefined.
 */
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

/* Returns where the metadata of a page's unit i begin in its spare area. */
static inline size_t metadata_in_page(const struct page_ftl *f, uint32_t i)
{
	return f->metadata.at + (size_t)i * f->metadata.bytes;
}

/* Set the metadata in a page's spare area to FFh: none of its units has any. */
static inline void metadata_blank(const struct page_ftl *f, uint8_t *oob)
{
	memset(oob + metadata_in_page(f, 0), 0xff, (size_t)f->shape.upp * f->metadata.bytes);
}

/* Returns the content of a page that a mount rebuilt and did not write again yet, or NULL. */
static inline const uint8_t *rebuilt_page(const struct page_ftl *f, uint32_t ppn)
{
	for (uint32_t i = 0; i < f->lost.count; i++)
		if (f->lost.page[i].ppn == ppn)
			return f->lost.data + (size_t)i * (f->g->page_bytes + f->oob_len);
	return NULL;
}

#endif
