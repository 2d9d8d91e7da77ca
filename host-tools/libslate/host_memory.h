/* SPDX-License-Identifier: GPL-2.0-or-later */
/* host_memory.h - memory of the machine that this process may still take. */
#ifndef SLATE_HOST_MEMORY_H
#define SLATE_HOST_MEMORY_H

#include <stdint.h>

/*
 * Returns the bytes of memory that this process can take before Linux kills a process: what Linux calls available
 * (without swap), or less, if a control group of this process (version 1 or 2, with all groups above it) leaves less.
 * UINT64_MAX: unknown.
 */
uint64_t host_memory_free(void);
/* The same with other folders in place of /proc and /sys/fs/cgroup. */
uint64_t host_memory_free_in(const char *proc, const char *groups);
/* Returns the bytes of a mapping that are not in memory (never touched, or swapped out); 0 if that cannot be known. */
uint64_t host_memory_untouched(void *at, uint64_t bytes);

#endif
