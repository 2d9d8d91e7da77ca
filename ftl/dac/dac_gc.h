/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dac_gc.h - the DAC FTL: GC of a die: see dac_gc.c */
#ifndef SLATE_DAC_GC_H
#define SLATE_DAC_GC_H

#include "dac.h"

/* Make one step for an idle die. Returns false if none was possible. */
bool dac_gc_turn(struct dac *d, struct dac_die *x);
void dac_gc_complete(struct dac *d, struct dac_die *x, enum dac_cmd cmd);
/* If the entry is live in page `from`, move it to page `to` in the maps. */
void dac_moved(struct dac *d, const struct dac_entry *e, uint32_t from, uint32_t to);

#endif
