// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * host_memory.c - memory of the machine that this process may still take. See host_memory.h.
 *
 * A control group's memory counts against its own limit and those of all groups above it. Page cache (inactive_file,
 * active_file) counts as free, because Linux reclaims it before it kills a process. In a container /proc/self/cgroup
 * may have the host's paths, which do not exist below the mount; the mount's root is then the container's own group.
 */
#define _GNU_SOURCE
#include "host_memory.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define PATH_BYTES 4352

struct names {			/* a version's files; the rows of stat have the whole group's file pages */
	const char *limit, *usage, *inactive, *active;
};

static const struct names version1 = { "memory.limit_in_bytes", "memory.usage_in_bytes",
				       "total_inactive_file", "total_active_file" };
static const struct names version2 = { "memory.max", "memory.current", "inactive_file", "active_file" };

/* Read the number of the row that begins with this word (""; the first word is the number). */
static bool number_in(const char *folder, const char *file, const char *word, uint64_t *out)
{
	char path[PATH_BYTES], line[256];
	size_t length = strlen(word);
	bool found = false;
	FILE *in;

	if (snprintf(path, sizeof(path), "%s/%s", folder, file) >= (int)sizeof(path))
		return false;
	in = fopen(path, "r");
	if (!in)
		return false;
	while (!found && fgets(line, sizeof(line), in))
		found = !strncmp(line, word, length) && (!length || line[length] == ' ') &&
			sscanf(line + length, "%" SCNu64, out) == 1;
	fclose(in);
	return found;
}

/* Returns what a group leaves; without a limit ("max"), or without such files, UINT64_MAX. */
static uint64_t left_in(const char *group, const struct names *names)
{
	uint64_t limit, usage, inactive = 0, active = 0;

	if (!number_in(group, names->limit, "", &limit) || !number_in(group, names->usage, "", &usage))
		return UINT64_MAX;
	(void)!number_in(group, "memory.stat", names->inactive, &inactive);
	(void)!number_in(group, "memory.stat", names->active, &active);
	usage -= usage < inactive + active ? usage : inactive + active;
	return limit > usage ? limit - usage : 0;
}

/* Returns the least that a group and those above it leave. */
static uint64_t least_of(const char *root, char *path, const struct names *names)
{
	char group[PATH_BYTES];
	uint64_t least = UINT64_MAX, left;

	for (;;) {
		if (snprintf(group, sizeof(group), "%s%s", root, path) >= (int)sizeof(group))
			return least;
		left = left_in(group, names);
		least = left < least ? left : least;
		if (!*path)
			return least;
		*strrchr(path, '/') = '\0';
	}
}

static bool has_word(const char *list, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = list; (at = strstr(at, word)); at += length)
		if ((at == list || at[-1] == ',') && (!at[length] || at[length] == ','))
			return true;
	return false;
}

/* Returns the least that the groups of a row of /proc/self/cgroup (number:controllers:path) leave. */
static uint64_t left_of_row(char *row, const char *groups)
{
	char *list = strchr(row, ':'), *path = list ? strchr(list + 1, ':') : NULL;
	char root[PATH_BYTES];

	if (!path || path[1] != '/')
		return UINT64_MAX;
	*path++ = '\0';
	path[strcspn(path, "\n")] = '\0';
	if (!strcmp(path, "/"))
		*path = '\0';
	if (!list[1])
		return least_of(groups, path, &version2);
	if (!has_word(list + 1, "memory") || snprintf(root, sizeof(root), "%s/memory", groups) >= (int)sizeof(root))
		return UINT64_MAX;
	return least_of(root, path, &version1);
}

uint64_t host_memory_free_in(const char *proc, const char *groups)
{
	char path[PATH_BYTES], row[PATH_BYTES];
	uint64_t free_bytes = UINT64_MAX, left, kib;
	FILE *in;

	if (number_in(proc, "meminfo", "MemAvailable:", &kib))
		free_bytes = kib << 10;
	if (snprintf(path, sizeof(path), "%s/self/cgroup", proc) >= (int)sizeof(path))
		return free_bytes;
	in = fopen(path, "r");
	while (in && fgets(row, sizeof(row), in)) {
		left = left_of_row(row, groups);
		free_bytes = left < free_bytes ? left : free_bytes;
	}
	if (in)
		fclose(in);
	return free_bytes;
}

uint64_t host_memory_free(void)
{
	return host_memory_free_in("/proc", "/sys/fs/cgroup");
}

uint64_t host_memory_untouched(void *at, uint64_t bytes)
{
	const uint64_t page = 4096;
	unsigned char there[1024];
	uint64_t untouched = 0;

	for (uint64_t from = 0; from < bytes; from += sizeof(there) * page) {
		uint64_t n = bytes - from < sizeof(there) * page ? bytes - from : sizeof(there) * page;

		if (mincore((char *)at + from, n, there) < 0)
			return 0;
		for (uint64_t i = 0; i * page < n; i++)
			untouched += there[i] & 1 ? 0 : page;
	}
	return untouched;
}
