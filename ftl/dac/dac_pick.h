/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dac_pick.h - the DAC FTL: when GC of a die is due, and which block it collects: see dac_pick.c */
#ifndef SLATE_DAC_PICK_H
#define SLATE_DAC_PICK_H

#include "dac.h"

/* Begins GC of the die if there is a reason, unless it works already or has no victim. */
void dac_gc_wanted(struct dac *d, struct dac_die *x);
/* Is there a reason for GC? It wants `wanted` free blocks. */
bool dac_gc_due(const struct dac *d, const struct dac_die *x, uint32_t wanted);
/* Returns the block to collect, or DAC_NONE. */
uint32_t dac_gc_victim(const struct dac *d, const struct dac_die *x);

#endif
