/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dac_rescue.h - the DAC FTL: pages that torn programs destroyed: see dac_rescue.c */
#ifndef SLATE_DAC_RESCUE_H
#define SLATE_DAC_RESCUE_H

#include "dac.h"

/* Program the die's rebuilt page again. Returns false if that was not possible. */
bool dac_rescue_turn(struct dac *d, struct dac_die *x);
void dac_rescue_complete(struct dac *d, struct dac_die *x);
/* Mount: rebuild pages that a torn program destroyed; their entries go to dac_mount_entries(). */
int dac_rebuild(struct dac *d) SSD_MUST_CHECK;
/* Mount: keep the rebuilt pages with live entries in memory. */
void dac_keep_rebuilt(struct dac *d);

#endif
