/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nftl_buffer.h - GFTL's write buffer (nftl_buffer.c) */
#ifndef SLATE_NFTL_BUFFER_H
#define SLATE_NFTL_BUFFER_H

#include "nftl.h"

uint32_t nftl_buffered(const struct direct *d, uint32_t plane, uint32_t page);
uint32_t nftl_lookup(const struct direct *d, uint32_t plane, uint32_t page);
uint32_t nftl_buffer_left(const struct direct *d, uint32_t plane);
void nftl_buffer_init(struct direct *d, uint32_t plane);
enum direct_room nftl_buffer_place(struct direct *d, uint32_t plane, uint32_t *ppn);
void nftl_buffer_written(struct direct *d, uint32_t plane, uint32_t page, uint32_t ppn, bool ok);
bool nftl_buffer_drop(struct direct *d, uint32_t plane, uint32_t page);
uint32_t nftl_buffer_count(const struct direct *d, uint32_t plane, uint32_t lblock);
uint32_t nftl_buffer_next(struct direct *d, uint32_t plane);
void nftl_buffer_drained(struct direct *d, uint32_t plane);
uint32_t nftl_buffer_empty(const struct direct *d, uint32_t plane);
uint32_t nftl_buffer_unlink(struct direct *d, uint32_t plane);
void nftl_mount_buffer(struct direct *d, uint32_t plane);
void nftl_check_buffer(const struct direct *d, uint32_t plane);

#endif
