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
	}
	return "unknown error";
}
