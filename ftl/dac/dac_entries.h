/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dac_entries.h - the DAC FTL: entries that a mount finds: see dac_entries.c */
#ifndef SLATE_DAC_ENTRIES_H
#define SLATE_DAC_ENTRIES_H

#include "dac.h"

/*
 * Mount: take the entries of a page, or the one of a spare area, into the maps. page: the content of a page that is no
 * DAC_WHOLE.
 */
int dac_mount_entries(struct dac *d, const struct dac_oob *o, const uint8_t *page, uint32_t ppn) SSD_MUST_CHECK;

#endif
