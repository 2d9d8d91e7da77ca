/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nftl_pair.h - NFTL's writes to D- and U-blocks (nftl_pair.c) */
#ifndef SLATE_NFTL_PAIR_H
#define SLATE_NFTL_PAIR_H

#include "nftl.h"

/*
 * These functions do what direct_scheme.place and programmed do, but never use the write buffer. host: the host
 * writes the page; otherwise it is moved from the buffer.
 */
enum direct_room nftl_place_in_pair(struct direct *d, uint32_t plane, uint32_t page, bool host, uint32_t *ppn,
				    uint8_t *tag);
void nftl_pair_written(struct direct *d, uint32_t plane, uint32_t page, uint32_t ppn, bool ok);

#endif
