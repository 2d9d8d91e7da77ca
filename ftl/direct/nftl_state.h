/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nftl_state.h - NFTL's bits of pages, lists of victims, and slots of U-blocks (nftl_state.c) */
#ifndef SLATE_NFTL_STATE_H
#define SLATE_NFTL_STATE_H

#include "nftl.h"

uint32_t nftl_count(const struct direct *d, const uint8_t *map, uint32_t block);
void nftl_forget(struct direct *d, uint32_t block, uint32_t from, uint32_t count);
void nftl_leftover(struct direct *d, uint32_t block);
uint32_t nftl_lookup_pair(const struct direct *d, uint32_t plane, uint32_t page);
void nftl_d_programmed(struct direct *d, uint32_t block, uint32_t k);
uint32_t nftl_invalid(const struct direct *d, uint32_t plane, uint32_t slot);
void nftl_victim_add(struct direct *d, uint32_t plane, uint32_t slot);
void nftl_victim_remove(struct direct *d, uint32_t plane, uint32_t slot);
void nftl_one_more_invalid(struct direct *d, uint32_t plane, uint32_t slot);
uint32_t nftl_slot_get(struct direct *d, uint32_t plane, uint32_t lblock, uint32_t block);
void nftl_slot_put(struct direct *d, uint32_t plane, uint32_t slot);

#endif
