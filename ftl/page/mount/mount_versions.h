/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mount_versions.h - steps 3 and 4 of a mount (mount.c): the newest version of each LPN, and trims */
#ifndef SLATE_MOUNT_VERSIONS_H
#define SLATE_MOUNT_VERSIONS_H

#include "mount_state.h"

int mount_versions(struct page_mount *s) SSD_MUST_CHECK;	/* step 3 */
int mount_trims(struct page_mount *s) SSD_MUST_CHECK;		/* step 4; cached map: for entries in memory */

#endif
