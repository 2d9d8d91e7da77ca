/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * err.h - operating errors, which a caller must handle. They are negative, so that a function may
 * return a count or an error. The values are fixed, because traces and logs contain them. Only
 * qemu-patches/ translates them into NVMe status.
 *
 * A broken precondition is not an error but fails an SSD_ASSERT(). What the medium did is told by enum
 * nand_status.
 */
#ifndef SLATE_ERR_H
#define SLATE_ERR_H

enum ssd_err {
	SSD_OK = 0,
	SSD_E_INVAL = -1,	/* configuration or range: the caller's input */
	SSD_E_NOMEM = -2,	/* the memory handed in is too small */
	SSD_E_NOSPC = -3,	/* no free page and nothing to reclaim */
	SSD_E_UNCORR = -4,	/* data lost: beyond ECC */
	SSD_E_CORRUPT = -5,	/* on-flash metadata contradicts itself */
	SSD_E_NOFORMAT = -6,	/* nothing to mount */
	SSD_E_WORNOUT = -7,	/* spare blocks exhausted: read-only from here */
	SSD_E_POWER = -8,	/* the array has lost power */
};

const char *ssd_strerror(int err);

#endif
