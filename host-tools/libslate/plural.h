/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ending of a noun behind a number, for all texts of the tools.
 */
#ifndef SLATE_PLURAL_H
#define SLATE_PLURAL_H

#include <stdint.h>

/* Return the ending: 1 request, 2 requests. */
static inline const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

#endif
