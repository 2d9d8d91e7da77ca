/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ckpt_mount.h - a mount by a checkpoint (ckpt_mount.c) */
#ifndef SLATE_CKPT_MOUNT_H
#define SLATE_CKPT_MOUNT_H

#include "mount_state.h"

bool ckpt_find(struct page_mount *s);			/* find a checkpoint and take from it what is unchanged */
bool ckpt_confirm(const struct page_mount *s);		/* has the mount found all that the checkpoint names? */

#endif
