/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dac_mount.h - the DAC FTL: mounting: see dac_mount.c */
#ifndef SLATE_DAC_MOUNT_H
#define SLATE_DAC_MOUNT_H

#include "dac.h"

int dac_find(struct ftl *f) SSD_MUST_CHECK;

#endif
