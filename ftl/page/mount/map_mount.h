/* SPDX-License-Identifier: GPL-2.0-or-later */
/* map_mount.h - the steps of a mount that a cached map has (map_mount.c) */
#ifndef SLATE_MAP_MOUNT_H
#define SLATE_MAP_MOUNT_H

#include "mount_state.h"

int map_mount_begin(struct page_mount *s) SSD_MUST_CHECK;	/* before the survey; s->trusts: find a checkpoint */
int map_mount_find(struct page_mount *s) SSD_MUST_CHECK;	/* steps 3 to 5 of mount.c: entries, trims, counts */
int map_mount_settle(struct page_mount *s) SSD_MUST_CHECK;	/* make the map pages agree with what was found */
/* Count the entries [from, to) as valid (step 5). Returns SSD_E_CORRUPT if a block of parity pages has mapped ones. */
int map_mount_count(struct page_ftl *f, uint32_t from, uint32_t to) SSD_MUST_CHECK;

#endif
