/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * owners.h - how long requests of a namespace wait behind those of others.
 *
 * A clock belongs to a resource that has one holder at a time: a die, or the log. A holder carries data of one or more
 * namespaces, its owners; a bitmap names them. The clock of namespace n is the time for which holders had the resource
 * that have owners, but not n. A request reads the clock when it begins to wait and when its wait ends; the difference
 * is its wait behind others. Holders without owners (GC, and programs of the FTL's own pages) do not count.
 *
 * All namespaces have one clock: `owned_ns` counts holders with owners, own_ns[n] those that n owns, and the clock of n
 * is the difference.
 */
#ifndef SLATE_OWNERS_H
#define SLATE_OWNERS_H

#include "ftl.h"

struct owner_clock {
	uint64_t owned_ns, own_ns[FTL_NAMESPACES];	/* without the present holder */
	uint64_t since_ns;
	uint32_t owners;		/* of the present holder */
};

/* The present holder released the resource at ended_ns, and at now_ns another one takes it. */
static inline void owner_clock_turn(struct owner_clock *k, uint64_t ended_ns, uint64_t now_ns, uint32_t owners)
{
	uint64_t ns = ended_ns - k->since_ns;

	if (k->owners)
		k->owned_ns += ns;
	for (uint32_t left = k->owners; left; left &= left - 1)
		k->own_ns[__builtin_ctz(left)] += ns;
	k->since_ns = now_ns;
	k->owners = owners;
}

/* Returns the clock of namespace n. The present holder releases at ends_ns, which may have passed. */
static inline uint64_t owner_clock_read(const struct owner_clock *k, uint64_t ends_ns, uint64_t now_ns, uint32_t n)
{
	uint64_t until_ns = ends_ns < now_ns ? ends_ns : now_ns;

	return k->owned_ns - k->own_ns[n] + (k->owners && !(k->owners >> n & 1) ? until_ns - k->since_ns : 0);
}

#endif
