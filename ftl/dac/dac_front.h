/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dac_front.h - the DAC FTL: starts the commands of a die, and finds the page that it programs next: see dac_front.c */
#ifndef SLATE_DAC_FRONT_H
#define SLATE_DAC_FRONT_H

#include "dac.h"

void dac_die_start(struct dac *d, struct dac_die *x, enum dac_cmd cmd, uint64_t until_ns);
uint64_t dac_gc_clock(const struct dac *d, const struct dac_die *x);
/*
 * The erase that dac_prepared() began has ended: the die's first free block may be used or, if it failed, is retired.
 */
void dac_prepare_complete(struct dac *d, struct dac_die *x);
/* Ask the frontiers for the slot of the next page; FRONT_NONE: there is none. */
uint32_t dac_ask_frontier(const struct dac *d, const struct dac_die *x, enum frontier who);
/*
 * Take the next page of a frontier. Returns DAC_NONE if there is none, or if a block is being prepared
 * for it (the die is then busy for `source`).
 */
uint32_t dac_frontier(struct dac *d, struct dac_die *x, enum frontier who);
bool dac_prepared(struct dac *d, struct dac_die *x);
void dac_retire(struct dac *d, struct dac_die *x, uint32_t ppn);	/* Retire the block, because its program
									 * failed. */

/* ---- parity pages ---- */

/*
 * Execute a command of the die that programs a page to guard others: note the page and whether it failed, and count it.
 */
void dac_program_backup(struct dac *d, struct dac_die *x, struct nand_cmd *c, enum dac_cmd cmd);
/* Write the parity page that the die owes. Returns false if there is no block for it. */
bool dac_backup_turn(struct dac *d, struct dac_die *x);
void dac_backup_complete(struct dac *d, struct dac_die *x);
/* Mount: is this the spare area of a parity page? */
bool dac_is_parity(const struct dac *d, const uint8_t *oob);

#endif
