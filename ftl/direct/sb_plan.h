/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sb_plan.h - chooses what the Superblock FTL's GC collects: M-Merge or merge, and what to restore (sb_plan.c) */
#ifndef SLATE_SB_PLAN_H
#define SLATE_SB_PLAN_H

#include "superblock.h"

/*
 * Page mapping: choose the block or PB that costs least per page won. Returns false if there is no
 * stale page.
 */
bool sb_plan_page_mapping(struct direct *d, uint32_t plane, uint32_t *block, uint32_t *pb);
/*
 * Plan an M-Merge of a group that is to lose `must_go` blocks. If it is possible and cheaper, set gc's
 * plans and victims and return true.
 */
bool sb_plan_mmerge(struct direct *d, uint32_t plane, uint32_t must_go);
/* Returns the group's block with the fewest valid pages that is not yet VICTIM, or DIRECT_NONE. */
uint32_t sb_emptiest(const struct direct *d, uint32_t plane, uint32_t group);
/*
 * Returns the block that a merge empties next. Returns DIRECT_NONE if the group has no more blocks
 * than its pages need.
 */
uint32_t sb_victim(const struct direct *d, uint32_t plane, uint32_t group);
/* Do the valid pages of any block fit into the free pages of the group's other blocks? */
bool sb_fits(const struct direct *d, uint32_t plane, uint32_t group);

#endif
