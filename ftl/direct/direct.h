/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * direct.h - the write-through engine: the part shared by FTLs that map whole blocks or groups of
 * blocks. It knows I/Os, dies, queues, time, spare areas and free blocks. It does not know where a
 * page is or goes: that is decided by a *scheme* (struct direct_scheme), a const table of
 * functions, for instance NFTL.
 *
 * Shape. A mapping unit is a NAND page. Consecutive LPNs (runs of stripe_pages of them)
 * go to different planes, channel first, then chip, die and plane (static allocation,
 * as SSDSim's): with stripe_pages = 1, LPN l is page l / planes of the plane that is
 * number l % planes in that order. Planes
 * are independent: each has its own blocks, free list and GC.
 *
 * A die does one command at a time. Per die: a queue of page reads and one of page
 * writes, each first come, first served; reads go first, but at most eight in a row
 * while a write waits. A write of less than a page first reads the rest of the page (its base). So
 * writes to one page end in the order of their submission. There is no write buffer: a write has
 * ended when its last page is programmed. If the scheme has no room for a write, the write waits at
 * the head of its queue until GC has freed some.
 *
 * The scheme generates GC as a sequence of primitive steps (struct direct_step). Blocking GC keeps
 * the die until it is done. Sliced GC goes first while it has credit (die.h); without credit it uses
 * the die when that is idle. A host program gives it credit, and so does a read while a write waits for GC.
 * A step (both commands of a copy) is never interrupted, so a page never changes between its read and its program.
 *
 * Spare area (SPEC.md): LPN, sequence, a tag of the scheme's, "lost". The sequence
 * is a 40-bit count of programs from 1 on, copies included: of two copies of an LPN the one with
 * the higher sequence is the newer. It is written when the program is issued. If the page is torn,
 * the previous copy is therefore the newest.
 *
 * States of a physical block are those of pool.h; USED blocks are the scheme's. A free block that was
 * found by a mount is erased before it is taken (needs_erase), unless that mount found no page at all:
 * such a drive is new.
 *
 * Media failures. If a program fails, the engine notifies the scheme (programmed(), gc_done()) and
 * calls place() again. If an erase fails, it calls gc_done(), and the scheme calls
 * direct_put_bad(). If a page cannot be read, the host gets an error, and copies of the page are
 * marked "lost".
 *
 * Invariants (direct_check):
 *   E1  pool_check();
 *   E2  `ends` holds exactly the dies that execute a command;
 *   E3  an accepted I/O that is not done has a page operation in a queue, in a run or
 *       in flight, or waits in line, or (FLUSH) has writes before it;
 *   E4  the page that lookup() returns is programmed, in a USED block, and its spare area, if it
 *       can be read, has that LPN;
 *   E5  no die is idle while it has work.
 * Cost: O(1) per page operation, O(log dies) per command; memory: a bit per page, 8
 * bytes per block, 48 per page operation of the pool (max_unit_reads), and with
 * payload two pages per die.
 */
#ifndef SLATE_DIRECT_H
#define SLATE_DIRECT_H

#include "bits.h"
#include "die.h"
#include "host.h"
#include "pool.h"
#include "nand_geom.h"

#define DIRECT_NONE 0xffffffffu

/* ---- spare area ---------------------------------------------------------- */

#define DIRECT_OOB_BYTES 10u
#define DIRECT_SEQ_MAX (((uint64_t)1 << 40) - 1)
#define DIRECT_TAG_MAX 0x7fu

/*
 * The bytes are little-endian: 0..3 lpn, 4..8 sequence, 9 tag. Bits 0..6 of the tag are the scheme's; bit
 * 7: the content is lost (a copy of a page that could not be read).
 */
struct direct_oob {
	uint32_t lpn;
	uint64_t seq;
	uint8_t tag;
	bool lost;
};

static inline void direct_oob_put(uint8_t *p, const struct direct_oob *o)
{
	for (unsigned int i = 0; i < 4; i++)
		p[i] = (uint8_t)(o->lpn >> (8 * i));
	for (unsigned int i = 0; i < 5; i++)
		p[4 + i] = (uint8_t)(o->seq >> (8 * i));
	p[9] = (uint8_t)(o->tag | (o->lost ? 0x80u : 0u));
}

static inline void direct_oob_get(const uint8_t *p, struct direct_oob *o)
{
	o->lpn = (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
		 (uint32_t)p[3] << 24;
	o->seq = (uint64_t)p[4] | (uint64_t)p[5] << 8 | (uint64_t)p[6] << 16 |
		 (uint64_t)p[7] << 24 | (uint64_t)p[8] << 32;
	o->tag = p[9] & DIRECT_TAG_MAX;
	o->lost = p[9] >> 7;
}

/* ---- functions of a scheme ---------------------------------------------- */

struct direct;

enum direct_room {
	DIRECT_ROOM,	/* *ppn can be used */
	DIRECT_ERASE,	/* the plane's first free block must be erased first: the engine erases it and asks again */
	DIRECT_GC,	/* place(): run GC in this plane until it ends, then ask again */
	DIRECT_FULL,	/* there is no free block, and GC cannot free one */
};

enum direct_next {
	DIRECT_STEP,	/* execute *step, then call gc_done() */
	DIRECT_PREPARE,	/* as DIRECT_ERASE */
	DIRECT_DONE,	/* this collection has ended, after steps or without any */
	DIRECT_NOTHING,	/* the collection is no longer due: no step was made */
	DIRECT_STUCK,	/* it cannot continue: writes that wait for it fail (SSD_E_NOSPC). The scheme has restored a
			 * state in which every page is found */
};

enum direct_step_op {
	DIRECT_COPY,	/* read `from`, program `to`: READ and PROGRAM, or COPYBACK (gc_copyback) */
	DIRECT_WIPE,	/* erase the `count` blocks (or PBs of blocks) in one command group */
	DIRECT_SEARCH,	/* read the spare area of `from`; its only effect is the time it takes */
};

struct direct_step {
	enum direct_step_op op;
	uint32_t plane;
	uint32_t page;		/* COPY: logical page within the plane */
	uint32_t from, to;	/* ppn */
	uint8_t tag;		/* COPY: tag of the new page */
	uint32_t count;		/* WIPE: 1 .. erase_group_max, distinct blocks of the plane */
	uint32_t block[NAND_ERASE_GROUP_MAX];	/* pbn */
	uint32_t pb[NAND_ERASE_GROUP_MAX];	/* NAND_WHOLE_BLOCK, or a PB */

	bool failed;		/* out, COPY: the program failed, `to` cannot be used again */
	bool erase_failed[NAND_ERASE_GROUP_MAX];	/* out, WIPE */
};

struct direct_scheme {
	/* Returns what ftl_ops.fault returns. The rules of all schemes hold already. The pointer may be NULL. */
	const char *(*fault)(const struct ftl_config *c, const struct nand_geometry *g);
	/* Lay out the scheme's memory: its own struct and tables. s is NULL when memory is only measured. */
	void *(*lay_out)(struct ssd_arena *m, const struct ftl_config *c,
			 const struct nand_geometry *g);
	/* Initialise d->s, which is laid out and zeroed; all blocks are USED and on no list. */
	void (*init)(struct direct *d);

	/* Returns the ppn of a logical page's newest copy, or DIRECT_NONE if it was never written. */
	uint32_t (*lookup)(const struct direct *d, uint32_t plane, uint32_t page);
	/*
	 * Returns the i-th spare area (i = 0, 1 ...) that is read to find the page that lookup()
	 * returns, or DIRECT_NONE when the page is found. NULL: no spare areas are read. Called once for
	 * each i until the page is found; a write of a whole page needs it only with search_whole.
	 */
	uint32_t (*search)(const struct direct *d, uint32_t plane, uint32_t page, uint32_t i);
	bool search_whole;

	/*
	 * Choose where a host write of the page goes. *ppn is programmed at once (and counts as used
	 * from now on), with *tag in its spare area. The map changes in programmed().
	 */
	enum direct_room (*place)(struct direct *d, uint32_t plane, uint32_t page, uint32_t *ppn,
				  uint8_t *tag);
	/* The program of place() ended; ok: ppn is the page's newest copy. */
	void (*programmed)(struct direct *d, uint32_t plane, uint32_t page, uint32_t ppn, bool ok);

	/*
	 * Is GC to begin? In sliced mode the engine asks after each program and each collection. In
	 * both modes it asks for an order (direct_ordered), which requests any collection that
	 * frees pages.
	 */
	bool (*wants_gc)(const struct direct *d, uint32_t plane);
	/* Return the next step of the plane's GC. If there is no victim, choose one. */
	enum direct_next (*gc_next)(struct direct *d, uint32_t plane, struct direct_step *step);
	/*
	 * Free blocks and change the map after a step: it was executed, and its out fields are
	 * set.
	 */
	void (*gc_done)(struct direct *d, uint32_t plane, const struct direct_step *step);

	/*
	 * Mounting. First mount_page() is called for every page that is not erased: block by block,
	 * in each block in ascending order, and planes in parallel. oob is NULL if the page cannot be
	 * read (it is torn or lost). Then mount_plane() is called for each plane. It may read spare
	 * areas again (direct_mount_oob), erases leftovers that could be mistaken for data later
	 * (pool_erase), and passes every good block that it does not keep to
	 * direct_mount_free(). A power cut at any time must not lose data.
	 */
	void (*mount_page)(struct direct *d, uint32_t block, uint32_t in_block,
			   const struct direct_oob *oob);
	int (*mount_plane)(struct direct *d, uint32_t plane) SSD_MUST_CHECK;

	/* Assert the scheme's own invariants. */
	void (*check)(const struct direct *d);
	/* Returns the bytes that its tables take in a drive's memory. */
	uint64_t (*map_bytes)(const struct direct *d);
	/* Returns the number of valid pages of a block. */
	uint32_t (*valid)(const struct direct *d, uint32_t block);
	/* Returns how many good blocks a plane needs: with fewer the drive is read-only (SSD_E_WORNOUT). */
	uint32_t (*blocks_needed)(const struct ftl_config *c, const struct nand_geometry *g);
};

/* ---- the engine's state --------------------------------------------------- */

struct direct_op {			/* an operation on a page or a part of one, of a host I/O */
	struct ftl_io *io;		/* NULL: reported already (FTL_ACCOUNT_SSDSIM) */
	uint64_t at;			/* offset inside the I/O */
	uint64_t gc_mark;		/* GC clock of the die when the operation was queued there */
	uint64_t epoch;			/* WRITE: number of flushes before it */
	uint64_t number;		/* place in the order of submit() */
	uint32_t lpn;
	uint32_t from, bytes;		/* the part of the page, in bytes */
	uint32_t next;
};

enum direct_stage {
	DIRECT_FIND,	/* read spare areas, then the page (READ) or its base (WRITE) */
	DIRECT_PLACE,	/* WRITE: find a place */
	DIRECT_FLIGHT,	/* WRITE: the page is being programmed */
};

struct direct_run {			/* an operation between its commands */
	uint32_t op;			/* or DIRECT_NONE */
	enum direct_stage stage;
	uint32_t ppn;			/* FIND: page to read; FLIGHT: page being programmed */
	uint32_t searched;		/* spare areas read so far */
	bool lost;			/* WRITE: its base could not be read */
	bool copied;			/* WRITE: the host's bytes are in the buffer */
	bool failed;			/* FLIGHT */
	bool waits;			/* waits for GC of its plane */
	uint64_t gc_ns;			/* FLIGHT: time spent waiting for GC until then */
	uint64_t cell_ns, bus_ns, wait_gc_ns;	/* sums of its commands so far */
};

enum direct_cmd {
	DIRECT_IDLE, DIRECT_CMD_READ, DIRECT_CMD_PROGRAM, DIRECT_CMD_PREPARE, DIRECT_CMD_GC_READ,
	DIRECT_CMD_GC,
};

struct direct_die {
	struct die_turn turn;
	enum direct_cmd cmd;
	uint32_t read_first, read_last;	/* queues of direct_op */
	uint32_t write_first, write_last;
	struct direct_run r, w;
	struct direct_step step;	/* GC_READ, GC: step under way */
	bool half_copied;		/* COPY: the page was read but not yet programmed */
	bool step_lost;			/* COPY: the page could not be read */
	uint32_t gc_plane;		/* plane of the die whose GC is next */
	uint32_t gc_active;		/* number of planes with active GC */
	uint32_t prepare;		/* PREPARE: plane of the block */
	bool prepare_failed;
	uint8_t *wdata, *gdata;		/* one page each, with payload: for the write, for GC */
};

struct direct_plane {
	bool gc_active;
	bool stuck;			/* GC cannot continue */
	struct gc_order order;
	uint64_t gc_since_ns;
};

struct direct {
	struct host host;
	const struct nand_geometry *g;
	const struct direct_scheme *scheme;
	void *s;			/* the scheme's struct */
	uint64_t seq;			/* sequence of the next program */

	uint32_t dies, planes;
	uint32_t lpns;			/* exported pages */
	uint32_t plane_pages;		/* exported pages of the plane that has most of them */
	uint32_t needed;		/* good blocks that a plane needs */

	struct direct_op *op;
	uint32_t op_free;
	uint64_t ops;			/* numbers given to operations so far */
	struct io_list line;		/* I/Os not yet split into operations, because the pool was empty */
	struct io_list flushes;
	uint64_t epoch;			/* flushes so far */
	uint64_t epoch_writes;		/* page writes since the last flush that have not ended */

	struct direct_die *die;
	struct direct_plane *plane;
	struct pool pool;
	uint8_t *lost;			/* bit per ppn: the page was programmed with lost content */
	uint32_t *plane_at;		/* the k-th plane in stripe order, */
	uint32_t *order_of;		/* and the place of each plane in it */
	struct die_due ends;		/* end times of the dies' commands */
	uint32_t *due;
	uint8_t oob[DIRECT_OOB_BYTES];
};

static inline struct direct *direct_of(struct ftl *f)
{
	return ssd_container_of(f, struct direct, host.base);
}

static inline uint32_t direct_stripe(const struct ftl_config *c)
{
	return c->stripe_pages ? c->stripe_pages : 1;
}

/*
 * Returns the LPN of a plane's page. LPN l is in chunk l / stripe_pages; chunk c is chunk c / planes of plane number c
 * % planes.
 */
static inline uint32_t direct_lpn(const struct direct *d, uint32_t plane, uint32_t page)
{
	uint32_t s = d->host.c.stripe_pages;

	return s == 1 ? page * d->planes + d->order_of[plane] :
	       (page / s * d->planes + d->order_of[plane]) * s + page % s;
}

static inline uint32_t direct_plane_of_lpn(const struct direct *d, uint32_t lpn)
{
	return d->plane_at[(d->host.c.stripe_pages == 1 ? lpn : lpn / d->host.c.stripe_pages) % d->planes];
}

static inline uint32_t direct_page_of_lpn(const struct direct *d, uint32_t lpn)
{
	uint32_t s = d->host.c.stripe_pages;

	return s == 1 ? lpn / d->planes : lpn / s / d->planes * s + lpn % s;
}

/* Returns the first block (pbn) of a plane. */
static inline uint32_t direct_first_block(const struct direct *d, uint32_t plane)
{
	return plane * d->g->blocks_per_plane;
}

static inline uint32_t direct_ppn(const struct direct *d, uint32_t block, uint32_t in_block)
{
	return block * d->g->pages_per_block + in_block;
}

/* Returns the exported pages of the plane that has the most. */
static inline uint32_t direct_plane_pages(const struct ftl_config *c, const struct nand_geometry *g)
{
	uint32_t stripe = direct_stripe(c);
	uint64_t round = (uint64_t)geo_planes(g) * stripe;

	return (uint32_t)((c->capacity_bytes / g->page_bytes + round - 1) / round * stripe);
}

/* Does an order of collect() request GC in the plane? */
static inline bool direct_ordered(const struct direct *d, uint32_t plane)
{
	return gc_order_stands(&d->plane[plane].order, d->pool.plane[plane].free_count);
}

/* ---- struct ftl_ops of an FTL made of a scheme ---------------------------- */

const char *direct_not_safe(const struct ftl_config *c, const struct nand_geometry *g);
const char *direct_fault(const struct ftl_ops *t, const struct ftl_config *c, const struct nand_geometry *g);
size_t direct_lay_out(const struct ftl_ops *t, void *mem, const struct ftl_config *c,
		      const struct nand_geometry *g);
void direct_begin(struct ftl *f);
void direct_submit(struct ftl *f, uint64_t now_ns, struct ftl_io *io);
uint64_t direct_step(struct ftl *f, uint64_t now_ns);
uint64_t direct_map_bytes(const struct ftl *f);
uint32_t direct_collect(struct ftl *f, uint64_t now_ns, uint32_t free_blocks);
struct ftl_block direct_block_info(const struct ftl *f, pbn_t b);

/* ---- between the engine's files ------------------------------------------- */

/* Is a command one of GC's, or an erase that prepares a block? */
static inline bool direct_is_gc(enum direct_cmd cmd)
{
	return cmd != DIRECT_IDLE && cmd != DIRECT_CMD_READ && cmd != DIRECT_CMD_PROGRAM;
}

/* All schemes share these settings. `auto` for sub-page reads means no here. */
extern const struct knob_table direct_knobs;
extern const struct knob_table direct_pen_knobs;	/* pen_plan.h, for schemes that do M-Merges */
#define DIRECT_KNOBS &ftl_gc_knobs, &direct_knobs, &ftl_word_knobs, &ftl_copy_knobs

/*
 * The members of ftl_ops that are the same for all schemes; each adds name, policy (its struct
 * direct_scheme), knobs and anew.
 */
#define DIRECT_OPS_COMMON \
	.durability = FTL_WRITE_THROUGH, .writes_lost = true, \
	.not_safe = direct_not_safe, \
	.page_oob_bytes = DIRECT_OOB_BYTES, \
	.fault = direct_fault, \
	.lay_out = direct_lay_out, \
	.begin = direct_begin, \
	.find = direct_find, \
	.submit = direct_submit, \
	.step = direct_step, \
	.check = direct_check, \
	HOST_OPS_COMMON, \
	.map_bytes = direct_map_bytes, \
	.collect = direct_collect, \
	.block = direct_block_info

#endif
