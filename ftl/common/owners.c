// SPDX-License-Identifier: GPL-2.0-or-later
/* owners.c - the books of owners.h */
#include "owners.h"

static void forget(struct owner_book *k, uint64_t now_ns)
{
	uint32_t ended = 0;

	while (ended < k->count && k->span[ended].end_ns <= now_ns)
		ended++;
	k->count -= ended;
	memmove(k->span, k->span + ended, k->count * sizeof(*k->span));
}

bool owner_book_add(struct owner_book *k, uint64_t now_ns, uint64_t start_ns, uint64_t end_ns, uint32_t owners)
{
	struct owner_span *s;
	uint32_t i;

	forget(k, now_ns);
	for (i = k->count; i && k->span[i - 1].start_ns >= end_ns; i--)
		;
	s = &k->span[i];
	SSD_ASSERT(start_ns < end_ns && (!i || s[-1].end_ns <= start_ns));	/* OW1 */
	if (i && s[-1].end_ns == start_ns && s[-1].owners == owners) {
		s[-1].end_ns = end_ns;
		return true;
	}
	if (k->count == OWNER_SPANS)
		return false;						/* OW2 */
	memmove(s + 1, s, (k->count - i) * sizeof(*s));
	*s = (struct owner_span){ start_ns, end_ns, owners };
	k->count++;
	return true;
}

uint64_t owner_book_others(const struct owner_book *k, uint64_t from_ns, uint64_t to_ns, uint32_t owners)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < k->count && k->span[i].start_ns < to_ns; i++) {
		const struct owner_span *s = &k->span[i];
		uint64_t start_ns = s->start_ns > from_ns ? s->start_ns : from_ns;
		uint64_t end_ns = s->end_ns < to_ns ? s->end_ns : to_ns;

		if (!(s->owners & owners) && start_ns < end_ns)
			ns += end_ns - start_ns;
	}
	return ns;
}

uint64_t owner_book_take(struct owner_book *k, uint64_t now_ns, uint64_t from_ns, uint64_t start_ns, uint64_t end_ns,
			 uint32_t owners)
{
	uint64_t ns = 0;

	if (!owners)
		return 0;
	if (from_ns < start_ns)
		ns = owner_book_others(k, from_ns, start_ns, owners);
	if (start_ns < end_ns)
		(void)owner_book_add(k, now_ns, start_ns, end_ns, owners);
	return ns;
}
