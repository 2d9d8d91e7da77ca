/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profile_load.h - loads a profile from a file with one override, and keeps the complaint about it.
 */
#ifndef SLATE_PROFILE_LOAD_H
#define SLATE_PROFILE_LOAD_H

#include "profile_keys.h"
#include "test.h"

static char err[SLATE_ERR_BYTES];
static struct profile p;

static inline int load(const char *path, const char *o)
{
	const char *list[] = { o, NULL };

	return profile_load(&p, path, list, err);
}

#endif
