/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nftl_mount.h - what NFTL's mount makes of flash, and NFTL's invariants (nftl_mount.c) */
#ifndef SLATE_NFTL_MOUNT_H
#define SLATE_NFTL_MOUNT_H

#include "nftl.h"

void nftl_mount_page(struct direct *d, uint32_t block, uint32_t in_block,
		     const struct direct_oob *oob);
int nftl_mount_plane(struct direct *d, uint32_t plane) SSD_MUST_CHECK;
void nftl_check(const struct direct *d);

#endif
