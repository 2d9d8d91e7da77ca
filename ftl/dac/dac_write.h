/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dac_write.h - the DAC FTL: the write buffer, the engine, pages being filled: see dac_write.c */
#ifndef SLATE_DAC_WRITE_H
#define SLATE_DAC_WRITE_H

#include "dac.h"

/* Returns the newest buffered version of a unit that reads may use, or DAC_NONE. */
uint32_t dac_buffered(const struct dac *d, uint32_t lpn);
/* Move the host's waiting writes into the write buffer, as far as it has room. */
void dac_write_line(struct dac *d);
void dac_merged(struct dac *d, uint32_t unit, const uint8_t *base);	/* content: NULL if it is lost */
void dac_fetch_done(struct dac *d, uint32_t unit, const uint8_t *content, bool expanded);
void dac_engine(struct dac *d);
void dac_close_due(struct dac *d);
void dac_unit_free(struct dac *d, uint32_t unit);
/* Returns the lowest `need` of the units that are not on flash, or ~0 if there are none. */
uint64_t dac_need(const struct dac *d);

#endif
