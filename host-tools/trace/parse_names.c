// SPDX-License-Identifier: GPL-2.0-or-later
/* parse_names.c - numbers for the names of files and volumes. */
#include "parse.h"

#include <stdlib.h>

static bool same_name(const char *kept, const char *word, size_t len)
{
	return strlen(kept) == len && !memcmp(kept, word, len);
}

bool parse_name(struct parse *p, const char *word, size_t len, uint64_t *number)
{
	for (uint32_t i = 0; i < p->files; i++) {
		if (same_name(p->file[i], word, len)) {
			*number = i;
			return true;
		}
	}
	if (p->files == PARSE_FILES_MAX || len >= PARSE_NAME_MAX || memchr(word, 0, len))
		return false;
	p->file[p->files] = strndup(word, len);
	if (!p->file[p->files])
		return false;
	*number = p->files++;
	return true;
}
