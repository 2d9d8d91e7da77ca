/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gc.h - interface between the files of GC */
#ifndef SLATE_GC_H
#define SLATE_GC_H

#include "page_ftl.h"

/* ---- gc_pick.c ---- */

/* Can this many units be copied while the urgent reserve stays free and a carrier can still be programmed? */
bool gc_room_for(const struct page_ftl *f, uint32_t plane, uint32_t units);
/* May GC work now because the drive is idle, and is there a block to collect? */
bool gc_wanted_idle(const struct page_ftl *f, uint32_t plane);
/*
 * Is a block to be folded, or folded to the end, because the host waits for room in the cache or
 * because the drive is idle?
 */
bool gc_wanted_fold(const struct page_ftl *f, uint32_t plane);
/* Is GC due for want of free blocks, for level.c, or for an order? */
bool gc_wanted_or_moved(const struct page_ftl *f, uint32_t plane, uint32_t free_target);
/* Is GC due for want of free blocks, for an order, or to fold? */
bool gc_wanted_space(const struct page_ftl *f, uint32_t plane);
/* Returns the block whose units fill the page with the last units of the drained blocks, or BLK_NONE. */
uint32_t gc_filler(const struct page_ftl *f, uint32_t plane);
/* Returns the next victim, and why, or BLK_NONE. */
uint32_t gc_candidate(struct page_ftl *f, uint32_t plane, uint32_t free_target, enum gc_why *why);

/* ---- gc.c and gc_copy.c ---- */

/* Make the die busy with this command of the plane's collector. */
void gc_start(struct page_ftl *f, uint32_t plane, enum gc_op op, const struct nand_cmd *c);
/* Returns the source to which the collector's commands are charged. */
enum nand_source gc_source(const struct gc *g);

/* Returns the number of valid units of the drained blocks. After gc_drop_stale() they are the first ones in hand. */
uint32_t gc_drained_units(const struct page_ftl *f, const struct gc *g);
/* Move g->page to the victim's next page with a valid unit. Returns false if there is none. */
bool gc_next_page(struct page_ftl *f, struct gc *g);
/* Cached map: leave a victim that has a page of unknown LPNs as it is. The next mount finds out. */
void gc_abandon(struct page_ftl *f, uint32_t plane);
/* Take the valid units of that page in hand. */
void gc_read_page(struct page_ftl *f, uint64_t now_ns, uint32_t plane);
/* Drop units in hand that the host has written or trimmed since they were read. */
void gc_drop_stale(struct page_ftl *f, struct gc *g);
/* Is the next page to be moved by a copyback? */
bool gc_moves_whole(const struct page_ftl *f, const struct gc *g);
/*
 * Program the first units in hand, or a carrier page without units; or copy back the victim's next
 * page.
 */
void gc_program_page(struct page_ftl *f, uint64_t now_ns, uint32_t plane, uint32_t slot,
		     enum gc_op op);
void gc_program_ended(struct page_ftl *f, uint32_t plane, enum gc_op op);

#endif
