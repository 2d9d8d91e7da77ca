/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ftl.h - what a flash translation layer offers its host.
 *
 * Durability is what mount() finds after a power cut:
 *   FTL_PREFIX         some prefix of the writes and trims accepted before it, in
 *                      the order of submit(), that contains everything submitted
 *                      before the last completed flush and every completed FUA
 *                      write. With a write buffer of 0, it contains every
 *                      completed write, but not with FTL_ACCOUNT_SSDSIM. On an array for which
 *                      not_safe() returns a sentence, the data that it names are excepted.
 *   FTL_WRITE_THROUGH  of every mapping unit, the last completed write or any later one that was
 *                      submitted to it, whole; the data that not_safe() names are excepted. There
 *                      is no write buffer; a flush ends when the writes before it have. A trim is
 *                      accepted and changes nothing, as NVMe allows.
 *   FTL_FLUSHED        of every mapping unit, what it held at the last completed
 *                      flush, or after the last completed FUA write to it, or after
 *                      any later write that was submitted to it, whole. A trim
 *                      changes nothing, as above.
 * With power_protected (save.h) a completed write or trim is kept as if it had been flushed: with FTL_PREFIX, the
 * content is that of all accepted ones. Writes of at most atomic_bytes() are accepted as a whole.
 * With placement handles, an FTL that promises FTL_PREFIX promises less: of every mapping unit, what
 * it held at the last completed flush or FUA write (of any unit), or after any later write or trim of it.
 * With an arbiter (controller.h), "submitted" means: taken by a core.
 *
 * Completion. The host is notified of each I/O exactly once, through ftl_host.done(), called from
 * submit() or step() as soon as the moment of completion is known: io->done_ns, at or after the
 * time of that call. The host delivers the completion at that time. A read's bytes are copied
 * before done() is called. Neither callback may call back into the FTL.
 *
 * Order. Concurrent I/Os may complete in any order; a read returns, for every
 * mapping unit, a state of it between its submission and its completion.
 *
 * Memory. The caller supplies ftl_footprint() bytes once; no call allocates.
 * Threads. One caller at a time per struct ftl; the core takes no locks.
 */
#ifndef SLATE_FTL_H
#define SLATE_FTL_H

#include "err.h"
#include "ftl_knobs.h"
#include "ftl_stats.h"
#include "nand.h"

typedef struct { uint32_t v; } lpn_t;	/* logical page: the mapping unit */

#define FTL_IDLE (~(uint64_t)0)	/* step(): nothing to do until the next submit() */
#define FTL_SECTOR_BYTES 512u
#define FTL_NAMESPACES 16u	/* namespaces of the host whose waits are told apart (owners.h) */
#define FTL_QUEUES 64u		/* submission queues of the host that an arbiter tells apart */
#define FTL_HANDLES_MAX 128u	/* placement handles */

/*
 * Operations on the zone that `offset` is in. Each counts as the enum ftl_op named below, so that
 * counters, histograms and records need no more kinds of I/O. Only FTLs with zones (ftl_ops.zones)
 * take them.
 */
enum ftl_zone_op {
	FTL_ZONE_NONE,		/* the operation is what `op` says */
	FTL_ZONE_APPEND,	/* WRITE to the zone's write pointer. offset: the zone's first byte */
	FTL_ZONE_OPEN,		/* TRIM, like the others below; bytes is ignored */
	FTL_ZONE_CLOSE, FTL_ZONE_FINISH, FTL_ZONE_RESET,
	FTL_ZONE_REPORT,	/* takes the time of a report and changes nothing; the shell reads zone() when it
				 * ends */
	FTL_ZONE_RETIRE,	/* takes a read-only zone offline; its data are lost */
	FTL_ZONE_OPEN_WINDOW,	/* OPEN, and the zone gets a random write area if it has none */
	FTL_ZONE_COMMIT,	/* commits the random write area up to `bytes` from the zone's first byte, `offset` */
};

/*
 * This part of an I/O crosses the host link. The FTL moves data between host and buffer for all of them
 * (ftl_host.copy()); the shell decides what it does with them.
 */
enum ftl_crossing {
	FTL_CROSS_ALL,		/* command, data and completion */
	FTL_CROSS_COMMAND,	/* no data: a Verify is such a READ, a Write Uncorrectable such a WRITE */
	FTL_CROSS_NOTHING,	/* nothing: the drive itself issued this I/O, as a part of a host's Copy */
};

struct ftl_io {
	enum ftl_op op;
	bool fua;			/* WRITE: forced unit access */
	uint8_t zone;			/* enum ftl_zone_op */
	bool ahead;			/* READ of the read cache (rcache.h): it does not cross the link */
	uint8_t handle; /* WRITE: placement handle, below ftl_handles(); 0 without any */
	uint8_t queue;			/* the host's submission queue, below FTL_QUEUES (arbiter.h) */
	uint8_t priority;		/* of that queue: enum arbiter_class */
	uint8_t crossing;		/* READ, WRITE: enum ftl_crossing */
	uint8_t owner; /* READ, WRITE: number of the namespace, below FTL_NAMESPACES (owners.h) */
	bool window;			/* out, WRITE: the zone had a random write area at submit() */
	uint8_t metadata;		/* READ, WRITE: bytes of metadata of each 512-byte sector, at most its
					 * share of ftl_config.metadata_bytes; 0: none. copy() moves them as the bytes
					 * behind the data: sector i's begin at bytes + i * metadata */
	bool lost;			/* WRITE of a multiple of ftl_lost_bytes(): its content is lost, so reads end
					 * with SSD_E_UNCORR until all that was lost of what they read is written, or
					 * its units are trimmed. Else as any write; copy() is not called */
	uint64_t offset;		/* first byte, sector aligned */
	uint64_t bytes;			/* sector aligned; TRIM: only whole mapping units
					 * inside the range are trimmed; FLUSH: ignored */
	void *host;			/* handle of the shell, unused by the FTL */

	uint64_t wp; /* out, `window` or FTL_ZONE_COMMIT: the write pointer after it, in its zone */
	uint64_t placed;		/* out, FTL_ZONE_APPEND: first byte written to, known after submit() */
	uint64_t submit_ns;		/* out: time of submit() */
	uint64_t done_ns;		/* out: time of completion */
	enum ssd_err status;		/* out */
	struct ftl_breakdown where;	/* out: adds up to done_ns - submit_ns exactly */

	struct ftl_io *next;		/* list link; this field and those below belong to the FTL */
	struct ftl_io *span_next, *span_last;	/* READ of several units: list of those in flight (page FTL) */
	uint64_t at;			/* bytes handled so far */
	uint64_t seq;			/* WRITE, FLUSH: last log sequence it needs */
	uint64_t gc_mark;		/* stall clock at submission */
	uint64_t link_others_ns;	/* READ, WRITE: wait for the link behind other namespaces */
	uint64_t others_mark;		/* clock of the log (WRITE) or of the cores when the wait for it began */
	uint64_t first_seq;		/* WRITE: first log sequence with data of this I/O */
	uint64_t link_ns;		/* WRITE: time at which all its data have arrived */
	uint64_t map_mark;		/* cached map: stall clock of the map at submission */
	uint64_t entered_ns;		/* time of submission to the controller; submit_ns then belongs to the FTL
					 * behind it. 0 without a controller */
	uint64_t core_others_ns;	/* READ, WRITE: waits for the controller behind other namespaces */
	uint32_t pending;		/* READ: flash reads queued or under way */
};

struct ftl_host {
	void (*done)(void *opaque, struct ftl_io *io);
	/*
	 * Move bytes [at, at + len) of the I/O, or of its metadata, which follow its data. READ: out of buf to the
	 * host. WRITE: from the host into buf. READ: buf is not to be written to, and
	 * NULL means zeroes. Never called when the FTL keeps no payload.
	 */
	void (*copy)(void *opaque, struct ftl_io *io, uint64_t at, void *buf, size_t len);
	void *opaque;
};

enum ftl_durability { FTL_PREFIX, FTL_WRITE_THROUGH, FTL_FLUSHED, FTL_ZONED };

static inline bool ftl_by_words(enum ftl_words w, const struct nand_geometry *g)
{
	return w == FTL_WORDS_YES || (w == FTL_WORDS_AUTO && g->subpage != NAND_SUBPAGE_NONE);
}

struct front_policy;
struct gc_policy;

#define FTL_FIELD_NUMBER(name, ...) uint32_t name;
#define FTL_FIELD_ONLINE(name, ...) uint32_t name;
#define FTL_FIELD_YES_NO(name, ...) bool name;
#define FTL_FIELD_CHOICE(name, type, ...) enum ftl_##type name;

/* Fields of FTL_ROWS are settings; ftl_knobs.h explains them. */
struct ftl_config {
	uint64_t capacity_bytes;	/* exported bytes; a multiple of unit_bytes */
	uint32_t namespaces; /* that a host may create, up to FTL_NAMESPACES. If more than one, waits behind
					 * others are told apart: for cores, memory and link, and on page, parity, rtf
					 * and flex for dies, channels and buffer */
	uint32_t link_ps_per_byte;	/* host link, each direction; 0: unlimited */
	uint32_t link_latency_ns;	/* latency added to every I/O for command and completion */
	const struct gc_policy *gc_policy;	/* see gc_policy.h */
	FTL_ROWS(FTL_FIELD_NUMBER, FTL_FIELD_ONLINE, FTL_FIELD_YES_NO, FTL_FIELD_CHOICE)
	/* Times from the data sheet. They are used only for plans; the array computes the actual times. */
	struct nand_timing timing;
	uint32_t disturb_tolerance;	/* disturbances that a smallest PB bears; 255: cells are never disturbed */
};

struct ftl;

enum ftl_block_state {
	FTL_BLOCK_USED,		/* in use; the FTL reports no further state */
	FTL_BLOCK_FREE, FTL_BLOCK_OPEN, FTL_BLOCK_FULL,
	FTL_BLOCK_VICTIM,	/* being collected, or about to be retired */
	FTL_BLOCK_BAD,
	FTL_NBLOCK_STATES
};

struct ftl_block {
	enum ftl_block_state state;
	uint32_t valid_units;
};

/*
 * How many pages, on average, have no room for the host's data at the moment when GC chooses a block. slate-profile.c
 * computes the effective over-provisioning from them.
 */
struct ftl_kept {
	uint64_t free_pages;	/* in free blocks and blocks of parity pages, and what SLC mode takes: without units */
	uint64_t open_pages;	/* in open blocks, half full on average */
	uint64_t own_pages;	/* filled with the FTL's own units: bitmaps, lists, the map */
};

/* The most that save() may have to program. */
struct ftl_save_most {
	uint64_t pages;		/* of the write buffer */
	uint32_t planes;	/* of a die that one command programs */
	uint32_t fronts;	/* frontiers of a die */
	uint32_t blocks;	/* open blocks of a frontier that the host's pages may go to */
	const struct front_policy *policy;	/* of the frontiers: how many parity pages come beside `pages` */
};

enum ftl_zone_state {
	FTL_ZONE_EMPTY, FTL_ZONE_IMPLICIT, FTL_ZONE_EXPLICIT, FTL_ZONE_CLOSED, FTL_ZONE_FULL,
	FTL_ZONE_READONLY, FTL_ZONE_OFFLINE,
	FTL_NZONE_STATES
};

struct ftl_zone {
	uint64_t start, capacity;	/* bytes */
	uint64_t wp;			/* next byte to be written; of no meaning if FULL, READONLY or OFFLINE */
	enum ftl_zone_state state;
	bool ended;			/* FULL: a mount has ended the zone, not the host */
	bool window;			/* the zone has a random write area (ZRWA), which begins at wp */
	bool changed;			/* the drive has changed the state, and zone_told() was not called since */
};

struct ftl_handle {
	uint64_t unit_bytes;		/* size of a reclaim unit's flash */
	uint64_t left_bytes;		/* that the host may write before the next unit begins; not 0 */
	uint64_t units;			/* reclaim units begun since the mount, the first not counted */
};

struct ftl_zones {
	uint32_t count, open_max, active_max;
	uint64_t size_bytes;		/* from one zone's start to the next */
	uint64_t changes;		/* how often a zone became `changed`, from the last mount on */
	uint32_t window_max;		/* zones that may have a random write area; 0: there are none */
	bool cross_reads;		/* zone_cross_reads */
	uint64_t window_bytes, window_step;	/* size of such an area; unit of commits */
};

/* A row says how an FTL computes anew what settings of this kind determine. */
struct ftl_anew {
	enum ftl_recompute what;	/* FTL_FIXED: the end of the rows */
	void (*compute)(struct ftl *f);	/* NULL: nothing is kept, and the next step() asks again */
};

static inline uint32_t ftl_groups(const struct ftl_config *c)
{
	return c->placement_groups > 1 ? c->placement_groups : 1;
}

/* Returns the number of placement handles of all groups. Handle h of group g is number g * placement_handles + h. */
static inline uint32_t ftl_handles(const struct ftl_config *c)
{
	return c->placement_handles * ftl_groups(c);
}

struct ftl_ops {
	const char *name;
	enum ftl_durability durability;
	bool writes_lost;	/* takes writes of lost content (struct ftl_io) */
	bool loses_sectors;	/* of single sectors, if flash keeps content; else of whole mapping units */
	/*
	 * Returns NULL, or a sentence that says which flushed data a power cut may destroy on this
	 * array. If the pointer is NULL, an FTL without word_lines refuses arrays with paired_loss.
	 */
	const char *(*not_safe)(const struct ftl_config *c, const struct nand_geometry *g);
	bool word_lines;	/* knows pages that share cells: the orders fps and rps, and paired_loss */
	bool one_shot;		/* programs whole word lines, if the array does so */
	bool unseen;		/* never looks at the content of whole units of 4096 bytes that it stores */
	bool plane_reads;	/* reads planes of a die independently, if the array does so */
	const void *policy;	/* how this FTL differs from others of its engine, which knows the type */
	/* The functions below are called by ftl_oob_bytes() to ftl_init(), with this table as `t`. */
	/* Spare bytes that a page needs, and each mapping unit in it; not used if there is oob_bytes(). */
	uint32_t page_oob_bytes, unit_oob_bytes;
	uint32_t (*oob_bytes)(const struct ftl_ops *t, const struct ftl_config *c, const struct nand_geometry *g);
	/* Returns NULL, or a sentence that names a knob and says which value it must have. */
	const char *(*fault)(const struct ftl_ops *t, const struct ftl_config *c, const struct nand_geometry *g);
	/*
	 * Returns the largest size of writes that are atomic, unit_bytes or a power of two above it: after a loss of
	 * power all of the write is found or nothing, and a read sees all of it or nothing. If the member is NULL or
	 * returns unit_bytes, a write that touches one unit is atomic.
	 */
	uint32_t (*atomic_bytes)(const struct ftl_config *c, const struct nand_geometry *g);
	/*
	 * Returns the pages without room for the host's data. If the member is NULL or open_pages is 0, GC does not
	 * choose among all full blocks, so the drive has no effective over-provisioning.
	 */
	struct ftl_kept (*kept)(const struct ftl_ops *t, const struct ftl_config *c, const struct nand_geometry *g);
	/*
	 * Divide the memory at mem: the FTL's struct, which begins with a struct host (host.h), and its
	 * tables. Returns the bytes; if mem is NULL, it does nothing else.
	 */
	size_t (*lay_out)(const struct ftl_ops *t, void *mem, const struct ftl_config *c,
			  const struct nand_geometry *g);
	/*
	 * Set the state before the mount. The memory is divided and otherwise zeroed, and struct host is set. NULL:
	 * that is all.
	 */
	void (*begin)(struct ftl *f);
	/*
	 * Find what flash holds, from OOB alone; a blank array mounts as an empty drive. It runs
	 * its NAND commands one after another from now_ns on and sets *ready_ns to the time when
	 * the drive accepts I/O.
	 */
	int (*mount)(struct ftl *f, uint64_t now_ns, uint64_t *ready_ns) SSD_MUST_CHECK;
	/* The FTL's part of host_mount() (host.h), whose survey has begun. */
	int (*find)(struct ftl *f) SSD_MUST_CHECK;
	void (*submit)(struct ftl *f, uint64_t now_ns, struct ftl_io *io);
	/*
	 * Do what is due at now_ns; returns the time of the next call, which is
	 * later than now_ns. Calling early or late is safe; late calls cost latency.
	 */
	uint64_t (*step)(struct ftl *f, uint64_t now_ns);
	/*
	 * With power_protected, step() after a loss of power (save.h). The first call is at the time of the last
	 * step(): I/Os under way are forgotten, so that neither done() nor copy() is called any more, and the write
	 * buffer is closed and programmed. Returns the time of the next call, or FTL_IDLE when nothing of the buffer
	 * is left or can be programmed. NULL: the FTL has no buffer that could be saved.
	 */
	uint64_t (*save)(struct ftl *f, uint64_t now_ns);
	/* Not NULL if save is not. */
	struct ftl_save_most (*save_most)(const struct ftl_ops *t, const struct ftl_config *c,
					  const struct nand_geometry *g);
	/* Returns the pages of the write buffer that are not programmed. */
	uint32_t (*unsaved)(const struct ftl *f);
	/* Assert every numbered invariant. O(pages); tests call it around every step. */
	void (*check)(const struct ftl *f);
	const struct ftl_stats *(*stats)(const struct ftl *f);
	void (*reset_stats)(struct ftl *f);
	/* Returns the bytes that its mapping tables would take in the memory of a real drive. */
	uint64_t (*map_bytes)(const struct ftl *f);
	/* Returns the number of I/Os accepted and not yet reported as done. */
	uint32_t (*inflight)(const struct ftl *f);
	/* Does the drive refuse all writes until it is made anew? NULL: never. */
	bool (*read_only)(const struct ftl *f);

	/*
	 * Settings besides ftl_common_knobs: a list of tables that ends with NULL, or NULL
	 * (ftl_knobs.h). A profile that sets a key of another FTL is refused.
	 */
	const struct knob_table *const *knobs;

	/* Controls. A pointer is NULL if the FTL does not have the control. */
	/*
	 * Order GC until each plane (DAC: die) has free_blocks free blocks or no more can be freed;
	 * 0: one victim in each. GC takes its normal time. A new order replaces the previous one.
	 * Returns the number of planes in which GC works now; the caller then calls step().
	 */
	uint32_t (*collect)(struct ftl *f, uint64_t now_ns, uint32_t free_blocks);
	/* What the FTL can compute anew while it runs, ending with FTL_FIXED; NULL: no setting can change. */
	const struct ftl_anew *anew;
	/*
	 * Take the settings of c that may change online (ftl_online_knob()). It has been validated and needs no more
	 * memory. The caller then calls step().
	 */
	void (*reconfigure)(struct ftl *f, uint64_t now_ns, const struct ftl_config *c);
	struct ftl_block (*block)(const struct ftl *f, pbn_t b);
	/* Zones; the pointers are NULL if the FTL has none. zone_told(): the host knows that the drive changed it. */
	struct ftl_zones (*zones)(const struct ftl *f);
	struct ftl_zone (*zone)(const struct ftl *f, uint32_t zone);
	void (*zone_told)(struct ftl *f, uint32_t zone);
	/*
	 * Placement handles; both pointers are NULL if the FTL has none. handle() returns the state of a
	 * handle below ftl_handles(). renew_handle() ends its reclaim unit: data accepted before stay with
	 * it, later ones go to a new one. Returns the bytes that the old one could still have taken.
	 */
	struct ftl_handle (*handle)(const struct ftl *f, uint32_t handle);
	uint64_t (*renew_handle)(struct ftl *f, uint64_t now_ns, uint32_t handle);
};

/* Returns the i-th setting of [ftl] that may change while this FTL runs, or NULL if there are no more. */
const struct knob *ftl_online_knob(const struct ftl_ops *t, uint32_t i);
/* Returns the number of spare bytes of a page that the FTL needs. */
uint32_t ftl_oob_bytes(const struct ftl_ops *t, const struct ftl_config *c, const struct nand_geometry *g);
/* Returns SSD_OK, or SSD_E_INVAL with *why pointing at a sentence that names the knob. */
int ftl_validate(const struct ftl_ops *t, const struct ftl_config *c, const struct nand_geometry *g,
		 const char **why) SSD_MUST_CHECK;
/* Returns the bytes of memory that the FTL needs. The configuration is valid. */
size_t ftl_footprint(const struct ftl_ops *t, const struct ftl_config *c, const struct nand_geometry *g);
/*
 * Initialise the FTL in mem, which is zeroed. Returns an error if the configuration is not valid or the
 * memory too small.
 */
int ftl_init(const struct ftl_ops *t, void *mem, size_t len, const struct ftl_config *c, struct nand *n,
	     const struct ftl_host *host, struct ftl **out) SSD_MUST_CHECK;

/* Offset and length of a write with ftl_io.lost are multiples of this many bytes; 0: the FTL refuses such writes. */
static inline uint32_t ftl_lost_bytes(const struct ftl_ops *t, const struct ftl_config *c)
{
	return !t->writes_lost ? 0 : t->loses_sectors && c->payload ? FTL_SECTOR_BYTES : c->unit_bytes;
}

/*
 * This is the first member of every implementation's struct. Behind a controller with a read cache it is the
 * first member of a struct host (host.h), whose link the cache's answers cross.
 */
struct ftl {
	const struct ftl_ops *ops;
};

/*
 * The table has all FTLs and ends with NULL (ftl_list.c). It is constant: there are no constructors and no
 * registration.
 */
extern const struct ftl_ops *const ftl_list[];

#endif
