/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mount.h - mounts a drive (mount.c) */
#ifndef SLATE_MOUNT_H
#define SLATE_MOUNT_H

#include "page_state.h"

int page_ftl_find(struct ftl *base);	/* ftl_ops.find */

#endif
