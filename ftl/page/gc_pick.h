/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gc_pick.h - why a plane's collector works, and which block it collects next (gc_pick.c) */
#ifndef SLATE_GC_PICK_H
#define SLATE_GC_PICK_H

#include "page_state.h"

/*
 * Can this many units be copied within the plane, while the urgent reserve stays free and one more page, a carrier
 * (gc.c, 4b), can still be programmed?
 */
bool gc_room_for(const struct page_ftl *f, uint32_t plane, uint32_t units);

/* Bits that say when a reason wakes a collector: at any time (gc_wake()), or in idle time (gc_wake_idle()). */
enum { GC_WAKES = 1, GC_WAKES_IDLE = 2, GC_WAKES_EVER = GC_WAKES | GC_WAKES_IDLE };

/* Why GC collects a block of a plane, and which block: a row of gc_reasons[]. */
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

#endif
