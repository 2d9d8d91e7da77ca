/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nftl_merge.h - the two merges of NFTL, Merge and M-Merge, as steps of its GC (nftl_merge.c says what they do) */
#ifndef SLATE_NFTL_MERGE_H
#define SLATE_NFTL_MERGE_H

#include "nftl.h"

enum direct_next nftl_gc_next(struct direct *d, uint32_t plane, struct direct_step *step);
void nftl_gc_done(struct direct *d, uint32_t plane, const struct direct_step *step);

#endif
