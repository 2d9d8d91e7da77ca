/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gc_state.h - the state of a plane's collector. gc.c has its states and invariants. */
#ifndef SLATE_GC_STATE_H
#define SLATE_GC_STATE_H

#include "blk.h"

/* A collector's command, in the order in which those of a die go when its planes act together (gc.c). */
enum gc_op { GC_READ, GC_PROGRAM, GC_COPYBACK, GC_CARRIER, GC_ERASE, GC_NOTHING };

struct gc_unit {
	uint32_t lpn;		/* LPN, perhaps with OOB_LOST */
	uint32_t upn;		/* address of the unit in the map, unless it was superseded */
	uint32_t from;		/* while the unit is being programmed: its previous address */
	uint64_t seq;
};

enum gc_why { GC_FOR_SPACE, GC_FOR_WEAR, GC_FOR_ERRORS };

enum gc_state {			/* gc.c says which function makes each change */
	GC_ASLEEP,		/* nothing to collect */
	GC_ACTIVE,
	GC_WAITING,		/* no command could be issued at the last call */
};

struct gc {
	enum gc_state state;
	bool idle;		/* GC works in the host's idle time, and stops when the host is busy */
	uint32_t victim;	/* block being copied, or BLK_NONE */
	uint32_t drained;	/* first of the blocks of which all pages have been read (blk.next), or BLK_NONE */
	uint32_t next;		/* next victim: a block that only filled a page of drained blocks, or BLK_NONE */
	uint8_t erased;		/* number of drained blocks that are being erased by one command */
	bool alone;		/* the next page gets units of the drained blocks only: a filler's did not fit */
	uint32_t second;	/* block that is erased together with the victim, or BLK_NONE */
	bool second_waits;	/* its pages are copied next; false: they have been copied */
	uint32_t page;		/* next page of the victim to examine */
	uint32_t units;		/* number of units in unit[], at most a program's and a page's */
	uint32_t flying;	/* number of units being programmed: the first in hand, or behind them (copyback) */
	struct gc_unit *fly;	/* the first of these */
	bool retire;		/* the victim becomes BAD, not FREE */
	bool bytes;		/* data[] has content; without payload only for hidden pages */
	uint32_t target;	/* block being programmed */
	enum gc_why why;	/* why the victim was chosen */
	bool of_map;		/* the victim holds map pages */
	uint64_t map_mark;	/* mark of the map page that is being copied; 0 if it is a data page */
	uint32_t pins;		/* cached map: number of frames in pin[], at most a page's units */
	uint32_t *pin;
	bool corrected;		/* the victim was flagged (level.c), even if it was chosen for another reason */
	enum gc_op op;
	enum nand_status status, second_status;	/* of several programs: the first failure */
	uint64_t mark;		/* mark of the page being programmed */
	uint64_t since_ns;
	struct gc_unit *unit;
	uint8_t *data;
	uint8_t *metadata;	/* of each unit; NULL: pages have none */
};

/* Returns a block that is being collected, or BLK_NONE. */
static inline uint32_t gc_block(const struct gc *g)
{
	return g->victim != BLK_NONE ? g->victim : g->drained;
}

static inline bool gc_is_awake(const struct gc *g)
{
	return g->state != GC_ASLEEP;
}

#endif
