/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dac_check.h - the DAC FTL: the invariants: see dac_check.c */
#ifndef SLATE_DAC_CHECK_H
#define SLATE_DAC_CHECK_H

#include "dac.h"

void dac_check(const struct ftl *f);

#endif
