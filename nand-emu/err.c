// SPDX-License-Identifier: GPL-2.0-or-later
/* err.c - names of enum ssd_err, in a separate file so that a port can omit them. */
#include "err.h"

const char *ssd_strerror(int err)
{
	switch ((enum ssd_err)err) {
	case SSD_OK:		return "no error";
	case SSD_E_INVAL:	return "invalid configuration or range";
	case SSD_E_NOMEM:	return "not enough memory";
	case SSD_E_NOSPC:	return "no free page and nothing to reclaim";
	case SSD_E_UNCORR:	return "uncorrectable: data lost";
	case SSD_E_CORRUPT:	return "on-flash metadata contradicts itself";
	case SSD_E_NOFORMAT:	return "nothing to mount";
	case SSD_E_WORNOUT:	return "spare blocks exhausted: read-only";
	case SSD_E_POWER:	return "no power";
	case SSD_E_ZONE_WP:	return "the write does not begin at its zone's write pointer";
	case SSD_E_ZONE_BOUNDARY:	return "the write goes beyond its zone's capacity";
	case SSD_E_ZONE_FULL:	return "the zone is full";
	case SSD_E_ZONE_READONLY:	return "the zone is read-only";
	case SSD_E_ZONE_OFFLINE:	return "the zone is offline";
	case SSD_E_ZONE_STATE:	return "the zone's state does not allow the operation";
	case SSD_E_ZONE_OPEN:	return "too many zones are open";
	case SSD_E_ZONE_ACTIVE:	return "too many zones are active";
	case SSD_E_ZONE_WINDOW:	return "the zone can get no random write area now";
	case SSD_E_ZONE_OP:	return "the zone has a random write area, so it takes no append";
	case SSD_E_BUSY:	return "the drive is being sanitized";
	}
	return "unknown error";
}
