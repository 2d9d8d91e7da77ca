/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dac_ops.h - the DAC FTL: read operations, and the queues in which they wait: see dac_ops.c */
#ifndef SLATE_DAC_OPS_H
#define SLATE_DAC_OPS_H

#include "dac.h"

uint32_t dac_op_get(struct dac *d, enum dac_op_kind kind, uint32_t obj);
void dac_op_put(struct dac *d, uint32_t op);
/* Queue the operation at the die that has the object to be read. */
void dac_op_go(struct dac *d, uint32_t op);
/* Read the base of a buffered unit, a part of which was written; then dac_merged() is called. */
void dac_read_merge(struct dac *d, uint32_t unit);
/* Read the reference of a buffered unit; then dac_fetch_done() is called. */
void dac_read_reference(struct dac *d, uint32_t unit);

#endif
