/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sb_gc.h - the Superblock FTL's GC, as steps (sb_gc.c) */
#ifndef SLATE_SB_GC_H
#define SLATE_SB_GC_H

#include "superblock.h"

/* Is there a collection to begin or to continue? */
bool sb_wants_gc(const struct direct *d, uint32_t plane);
/* Is GC due within the group in which a write last found no page? */
bool sb_intra_due(const struct direct *d, uint32_t plane);
/* Are fewer blocks free than the reserve, and can GC free one? */
bool sb_reserve_due(const struct direct *d, uint32_t plane);
enum direct_next sb_gc_next(struct direct *d, uint32_t plane, struct direct_step *step);
void sb_gc_done(struct direct *d, uint32_t plane, const struct direct_step *step);

#endif
