/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sb_state.h - the Superblock FTL's tables, lists and heap: maps pages, and moves blocks between states (sb_state.c) */
#ifndef SLATE_SB_STATE_H
#define SLATE_SB_STATE_H

#include "superblock.h"

/* Returns the block of a slot, or DIRECT_NONE. */
uint32_t sb_slot_block(const struct direct *d, uint32_t plane, uint32_t group, uint32_t slot);
/* Returns the flash page (ppn) with the newest copy of a logical page of the plane, or DIRECT_NONE. */
uint32_t sb_map_get(const struct direct *d, uint32_t plane, uint32_t page);
/*
 * Map parts: bring the page's part into memory. Returns the page whose spare area is read for that, or
 * DIRECT_NONE if the part was there or no page of its logical block was written.
 */
uint32_t sb_map_read(const struct direct *d, uint32_t plane, uint32_t page);
/* Make ppn the page's newest copy. It lies in a block of the page's group. */
void sb_map_set(struct direct *d, uint32_t plane, uint32_t page, uint32_t ppn);
/* Make a free block one of the group's blocks, in the given state. */
enum direct_room sb_take(struct direct *d, uint32_t plane, uint32_t group, uint32_t reserve,
			 enum sb_state to, uint32_t *block);
/* Give a block a slot of the group. Returns false if all slots are in use. */
bool sb_attach(struct direct *d, uint32_t plane, uint32_t group, uint32_t block);
/* Take a block in state VICTIM, which must have no valid page left, out of its group. */
void sb_drop(struct direct *d, uint32_t block);
/* sb_close() makes a block that is OPEN, PART or FULL a VICTIM; sb_reopen() reverses this. */
void sb_close(struct direct *d, uint32_t block);
void sb_reopen(struct direct *d, uint32_t block);
void sb_failing(struct direct *d, uint32_t block);
/* Open a block of the group that has a FREE page, for GC or the host. Returns false if it has none. */
bool sb_ready(struct direct *d, uint32_t plane, uint32_t group, bool gc);
/* Let the host write to the group's COLD block. It has no other free pages. */
void sb_warm(struct direct *d, uint32_t plane, uint32_t group);
/* Use the lowest FREE page of a block in [from, end). Returns its ppn, or DIRECT_NONE. */
uint32_t sb_use(struct direct *d, uint32_t block, uint32_t from, uint32_t end);
/* Use the group's next free page. sb_ready() must have returned true. */
uint32_t sb_place(struct direct *d, uint32_t plane, uint32_t group, bool gc);
/* PB pb of a VICTIM was erased: make its pages FREE. */
void sb_erased(struct direct *d, uint32_t block, uint32_t pb);
uint32_t sb_stale(const struct direct *d, uint32_t block);
/* May a part of the block be erased? Only if all its pages have been programmed; sb_mount.c says why. */
bool sb_may_split(const struct direct *d, uint32_t block);
uint32_t sb_group_stale(const struct direct *d, uint32_t plane, uint32_t group);
/* Update the item's place in the heap after its state or counts changed. */
void sb_touch(struct direct *d, uint32_t block);
void sb_check(const struct direct *d);

#endif
