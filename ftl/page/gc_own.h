/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gc_own.h - interface between the files of GC: reasons and victims (gc_pick.c), waking and sleeping (gc_wake.c), the
 * commands that copy units (gc_copy.c). gc.c calls all of them.
 */
#ifndef SLATE_GC_OWN_H
#define SLATE_GC_OWN_H

#include "page_state.h"

/* ---- gc_pick.c ---- */

/*
 * Can this many units be copied within the plane, while the urgent reserve stays free and one more page, a carrier
 * (gc.c, 4b), can still be programmed?
 */
bool gc_room_for(const struct page_ftl *f, uint32_t plane, uint32_t units);

/* Bits that say when a reason wakes a collector: at any time (gc_wake()), or in idle time (gc_wake_idle()). */
enum { GC_WAKES = 1, GC_WAKES_IDLE = 2, GC_WAKES_EVER = GC_WAKES | GC_WAKES_IDLE };

/* A reason to collect a block of a plane: a row of gc_reasons[]. */
struct gc_reason {
	const char *name;	/* NULL ends the table */
	/* Does the reason apply to the plane, if `free_target` blocks are to be free? */
	bool (*is_wanted)(const struct page_ftl *f, uint32_t plane, uint32_t free_target);
	/* Returns the block to collect, or BLK_NONE. The reason must apply. */
	uint32_t (*victim)(struct page_ftl *f, uint32_t plane);
	unsigned int wakes;	/* when it wakes a collector: a sum of the bits above */
	/*
	 * If it applies at gc_start_blocks and has no victim, the rows below count only on planes with blocks in SLC
	 * mode. With more free blocks than that, up to gc_stop_blocks, the rows below do count: one of them may have
	 * woken the collector (gc_wake()), which would otherwise find no victim, sleep, and be woken without end.
	 */
	bool last;
	enum gc_why why;	/* the cause under which the collection is counted */
};

extern const struct gc_reason gc_reasons[];	/* in order of priority */

/* Does a reason apply that wakes a collector at one of these times, if `free_target` blocks are to be free? */
bool gc_is_wanted(const struct page_ftl *f, uint32_t plane, uint32_t free_target, unsigned int wakes);
/* Returns the number of free blocks at which the plane's collector ends: gc_stop_blocks or gc_start_blocks. */
uint32_t gc_ends_at(const struct page_ftl *f, uint32_t plane);
/* Does a reason apply for which GC frees pages (GC_FOR_SPACE), until gc_ends_at() blocks are free? */
bool gc_wants_space(const struct page_ftl *f, uint32_t plane);
/* Returns the first reason that applies and has a victim, and sets *victim; or NULL. */
const struct gc_reason *gc_reason(struct page_ftl *f, uint32_t plane, uint32_t free_target, uint32_t *victim);
/* Returns the block whose units fill the page with the last units of the drained blocks (gc.c, step 3), or BLK_NONE. */
uint32_t gc_filler(const struct page_ftl *f, uint32_t plane);

/* ---- gc_wake.c ---- */

/*
 * A flagged block (level.c) that GC filled with copies settles only when a later host page is issued. If the plane has
 * such a block and no page waits to be issued, close the open buffer page for that, or an empty one. Returns true while
 * that page has not been issued: the collector stays awake for the block.
 */
bool gc_waits_for_page(struct page_ftl *f, uint32_t plane);
/* Put the plane's collector to sleep. */
void gc_sleep(struct page_ftl *f, uint32_t plane);

/* ---- gc_copy.c ---- */

/*
 * Commands of collectors of one die that start together. They have one operation, and each plane has one
 * command, two erases, or with one_shot the programs of a word line.
 */
struct gc_group {
	uint32_t count;
	uint32_t plane[NAND_GROUP_MAX];	/* plane of each command; those of a plane are adjacent */
	struct nand_cmd *c;
};

/* Append a command of the plane's collector to the group, and return it. */
struct nand_cmd *gc_add(struct page_ftl *f, struct gc_group *w, uint32_t plane, enum gc_op op);
/* Issue the group on the idle die. */
void gc_issue(struct page_ftl *f, uint64_t now_ns, uint32_t die, struct gc_group *w);
/* Returns the source to which the collector's commands are charged. */
enum nand_source gc_source(const struct gc *g);

/* Returns the number of valid units of the drained blocks. After gc_drop_stale() they are the first ones in hand. */
uint32_t gc_drained_units(const struct page_ftl *f, const struct gc *g);
/* Move g->page to the victim's next page with a valid unit. Returns false if there is none. */
bool gc_next_page(struct page_ftl *f, struct gc *g);
/* Remove the first drained block from the list, and return it. */
uint32_t gc_take_drained(struct page_ftl *f, struct gc *g);
/*
 * Cached map: a page of the victim cannot be read, or names other LPNs than the map. Give up the collection, and leave
 * its blocks as they are, out of use, until the next mount.
 */
void gc_abandon(struct page_ftl *f, uint32_t plane);
/* Add a read of page g->page of the victim. When it is issued, the page's valid units are taken in hand. */
void gc_read_page(struct page_ftl *f, struct gc_group *w, uint32_t plane);
/* Drop units in hand that the host has written or trimmed since they were read. */
void gc_drop_stale(struct page_ftl *f, struct gc *g);
/* Is page g->page of the victim to be moved by a copyback? */
bool gc_moves_whole(const struct page_ftl *f, const struct gc *g);
/*
 * Add the program of the first units in hand, or of a carrier page without units, or the copyback of the
 * victim's next page. With one_shot a program takes a word line.
 */
void gc_program_page(struct page_ftl *f, struct gc_group *w, uint32_t plane, uint32_t slot, enum gc_op op);
/*
 * The program or copyback of the plane's collector has ended: remove its units from those in hand or, if it failed,
 * keep them.
 */
void gc_program_ended(struct page_ftl *f, uint32_t plane, enum gc_op op);

#endif
