/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sb_mount.h - what the Superblock FTL's mount makes of flash (sb_mount.c) */
#ifndef SLATE_SB_MOUNT_H
#define SLATE_SB_MOUNT_H

#include "superblock.h"

void sb_mount_page(struct direct *d, uint32_t block, uint32_t in_block,
		   const struct direct_oob *oob);
int sb_mount_plane(struct direct *d, uint32_t plane) SSD_MUST_CHECK;

#endif
