// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * lines.c - reads the files of options that have a line for each item (--lose, --cuts).
 */
#define _GNU_SOURCE
#include "replay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int lines_read(const char *option, const char *path, int (*take)(void *opaque, const char *text), void *opaque)
{
	FILE *in = fopen(path, "re");
	char *text = NULL;
	size_t room = 0;
	int result = 0;

	if (!in)
		return replay_fail(REPLAY_USAGE, "%s %s: %s: name a file", option, path, strerror(errno));
	while (!result && getline(&text, &room, in) >= 0)
		result = take(opaque, text);
	if (!result && ferror(in))
		result = replay_fail(REPLAY_USAGE, "%s %s: it cannot be read", option, path);
	free(text);
	fclose(in);
	return result;
}
