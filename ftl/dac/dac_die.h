/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dac_die.h - the DAC FTL: the choice of the next command of a die: see dac_die.c */
#ifndef SLATE_DAC_DIE_H
#define SLATE_DAC_DIE_H

#include "dac.h"

void dac_die_complete(struct dac *d, uint32_t die);
/* Give the idle dies commands. */
void dac_dispatch(struct dac *d);

#endif
