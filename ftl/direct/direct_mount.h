/* SPDX-License-Identifier: GPL-2.0-or-later */
/* direct_mount.h - mounts a drive of the write-through engine, and checks its invariants */
#ifndef SLATE_DIRECT_MOUNT_H
#define SLATE_DIRECT_MOUNT_H

#include "direct.h"

int direct_find(struct ftl *f) SSD_MUST_CHECK;	/* ftl_ops.find */
void direct_check(const struct ftl *f);		/* ftl_ops.check */

/* For mount_plane(): read a spare area. Returns false if it is erased or cannot be read. */
bool direct_mount_oob(struct direct *d, uint32_t ppn, struct direct_oob *oob);
/* For mount_plane(): make a block FREE, because no page of it is kept. */
void direct_mount_free(struct direct *d, uint32_t block);

#endif
