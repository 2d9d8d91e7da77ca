/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * owners.h - how long requests of a namespace wait behind those of others.
 *
 * A *clock* belongs to a resource that has one holder at a time: a die, or the log. A holder carries data of one or
 * more namespaces, its owners; a bitmap names them. The clock of namespace n is the time for which the resource had a
 * holder with owners of which n is none. A request reads the clock when it begins to wait and when its wait ends; the
 * difference is its wait behind others. Holders without owners (GC, and programs of the FTL's own pages) do not count.
 *
 * All namespaces have one clock: `owned_ns` counts holders with owners, own_ns[n] those that n owns, and the clock of n
 * is the difference.
 *
 * A *book* belongs to a resource that is taken in advance: a direction of the host link, the controller's memory, a
 * core. It has the spans of time for which requests with an owner hold the resource, now or later. A wait for it begins
 * and ends at known times. Its part that spans of other namespaces cover is the wait behind them.
 *
 * Invariants:
 *   OW1  spans are sorted, not empty, and do not overlap;
 *   OW2  there are at most OWNER_SPANS. One more is left out, and a wait for it counts as one behind the same
 *        namespace;
 *   OW3  no time of a request depends on a book.
 *
 * Cost: O(spans) each time that the resource is taken. A drive with one namespace has no books.
 */
#ifndef SLATE_OWNERS_H
#define SLATE_OWNERS_H

#include "ftl.h"

#define OWNER_SPANS 256u

struct owner_book {
	struct owner_span {
		uint64_t start_ns, end_ns;
		uint32_t owners;
	} span[OWNER_SPANS];
	uint32_t count;
};

/* Returns a bitmap of the namespace that a read or write belongs to (ftl_io.owner); other I/Os have none: 0. */
static inline uint32_t owner_of(const struct ftl_io *io)
{
	return io->op == FTL_READ || io->op == FTL_WRITE ? 1u << io->owner : 0;
}

/*
 * Add the span from start_ns to end_ns, which overlaps none; spans that ended by now_ns are removed. Returns false if
 * the book is full, and the span was left out (OW2).
 */
bool owner_book_add(struct owner_book *k, uint64_t now_ns, uint64_t start_ns, uint64_t end_ns, uint32_t owners);
/* Returns the time between from_ns, at or after the last now_ns, and to_ns in which others than `owners` hold it. */
uint64_t owner_book_others(const struct owner_book *k, uint64_t from_ns, uint64_t to_ns, uint32_t owners);
/* As owner_book_others() from from_ns to start_ns; then add the span. Without owners it does nothing and returns 0. */
uint64_t owner_book_take(struct owner_book *k, uint64_t now_ns, uint64_t from_ns, uint64_t start_ns, uint64_t end_ns,
			 uint32_t owners);

struct owner_clock {
	uint64_t owned_ns, own_ns[FTL_NAMESPACES];	/* without the present holder */
	uint64_t since_ns;
	uint32_t owners;		/* of the present holder */
};

/* Give the resource a new holder at now_ns; the present one released it at ended_ns. */
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
