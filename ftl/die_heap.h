/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * die_heap.h - busy dies by the end of their command, then by number.
 *
 * The key lies in the heap, not behind it: an operation touches one or two cache
 * lines, whatever a die has become. Numbers are the caller's; each at most once.
 */
#ifndef SLATE_DIE_HEAP_H
#define SLATE_DIE_HEAP_H

#include "port.h"

struct die_due {
	uint64_t ns;
	uint32_t die;
};

struct die_heap {
	struct die_due *due;	/* one for each die */
	uint32_t count;
};

static inline bool die_sooner(const struct die_due *a, const struct die_due *b)
{
	return a->ns != b->ns ? a->ns < b->ns : a->die < b->die;
}

static inline void die_heap_push(struct die_heap *h, uint64_t ns, uint32_t die)
{
	struct die_due new = { ns, die };
	uint32_t i = h->count++;

	while (i && die_sooner(&new, &h->due[(i - 1) / 2])) {
		h->due[i] = h->due[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	h->due[i] = new;
}

static inline uint32_t die_heap_pop(struct die_heap *h)
{
	uint32_t top = h->due[0].die, i = 0;
	struct die_due last = h->due[--h->count];

	for (;;) {
		uint32_t kid = 2 * i + 1;

		if (kid >= h->count)
			break;
		kid += kid + 1 < h->count && die_sooner(&h->due[kid + 1], &h->due[kid]);
		if (!die_sooner(&h->due[kid], &last))
			break;
		h->due[i] = h->due[kid];
		i = kid;
	}
	h->due[i] = last;
	return top;
}

#endif
