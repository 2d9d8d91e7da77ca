/* SPDX-License-Identifier: GPL-2.0-or-later */
/* zns_mount_parts.h - a mount reads parts of pages and states of zones from the log (zns_mount_parts.c) */
#ifndef SLATE_ZNS_MOUNT_PARTS_H
#define SLATE_ZNS_MOUNT_PARTS_H

#include "zns_mount.h"

void zns_parts_find(struct zns *z);
/* End zones beyond the maximum of active ones, and commit random write areas beyond their maximum. */
void zns_parts_limit(struct zns *z);
/* Put what the log has of pages into buffers. */
void zns_parts_load(struct zns *z);

#endif
