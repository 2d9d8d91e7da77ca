/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * err.h - operating errors, which a caller must handle. They are negative, so that a function may
 * return a count or an error. The values are fixed, because traces and logs contain them. Only
 * qemu-patches/ translates them into NVMe status.
 *
 * A broken precondition is not an error but fails an SSD_ASSERT(). Failures of the medium are
 * values of enum nand_status.
 */
#ifndef SLATE_ERR_H
#define SLATE_ERR_H

enum ssd_err {
	SSD_OK = 0,
	SSD_E_INVAL = -1,	/* bad configuration or range from the caller */
	SSD_E_NOMEM = -2,	/* the memory passed by the caller is too small */
	SSD_E_NOSPC = -3,	/* no free page, and none can be reclaimed */
	SSD_E_UNCORR = -4,	/* data lost: more errors than ECC corrects */
	SSD_E_CORRUPT = -5,	/* on-flash metadata contradicts itself */
	SSD_E_NOFORMAT = -6,	/* nothing to mount */
	SSD_E_WORNOUT = -7,	/* spare blocks exhausted: the drive is read-only */
	SSD_E_POWER = -8,	/* the array has lost power */
	/* These are errors of zones (ftl.h, enum ftl_zone_op). NVMe has a status for each. */
	SSD_E_ZONE_WP = -9,	/* a write that does not begin at its zone's write pointer */
	SSD_E_ZONE_BOUNDARY = -10,	/* a write beyond its zone's capacity */
	SSD_E_ZONE_FULL = -11,
	SSD_E_ZONE_READONLY = -12,
	SSD_E_ZONE_OFFLINE = -13,
	SSD_E_ZONE_STATE = -14,	/* an operation that the zone's state does not allow */
	SSD_E_ZONE_OPEN = -15,	/* too many open zones */
	SSD_E_ZONE_ACTIVE = -16,	/* too many active zones */
	SSD_E_ZONE_WINDOW = -17,	/* the zone can get no random write area now */
	SSD_E_ZONE_OP = -18,	/* an append to a zone with a random write area */
	SSD_E_BUSY = -19,	/* the drive is being sanitized */
};

const char *ssd_strerror(int err);

#endif
