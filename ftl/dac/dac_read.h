/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dac_read.h - the DAC FTL: reads of the host, of bases and of references: see dac_read.c */
#ifndef SLATE_DAC_READ_H
#define SLATE_DAC_READ_H

#include "dac.h"

/* Begin the operations of waiting reads. */
void dac_read_line(struct dac *d);
/* Continue or end an operation whose page has been read; NULL: it cannot be read. */
void dac_read_ended(struct dac *d, uint32_t op, const uint8_t *page);

#endif
