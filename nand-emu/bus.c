// SPDX-License-Identifier: GPL-2.0-or-later
/* bus.c - see bus.h */
#include "bus.h"

/*
 * Returns how long a transfer that could begin at earliest_ns waits until at_ns behind bookings of host I/O whose
 * owners differ from its own. The transfer has owners, and is not booked yet.
 */
static SSD_APART uint64_t behind_others(const struct bus *b, uint64_t earliest_ns, uint64_t at_ns, uint32_t owners)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; earliest_ns < at_ns; i++) {
		const struct bus_booking *k = &b->book[i];

		if (k->end_ns <= earliest_ns)
			continue;
		if (k->user.source == NAND_SRC_HOST && k->user.owners && !(k->user.owners & owners))
			ns += k->end_ns - earliest_ns;
		earliest_ns = k->end_ns;
	}
	return ns;
}

/* Make room for one more booking after the window. */
static inline void make_room(struct bus *b)
{
	SSD_ASSERT(b->count < b->max);	/* B2 */
	if (b->book + b->count == b->room + BUS_ROOM(b->max)) {
		memmove(b->room, b->book, b->count * sizeof(*b->book));
		b->book = b->room;
	}
}

/*
 * Drop bookings that have ended. Their number is unpredictable, so four at a time are compared
 * without a branch.
 */
static inline void drop_ended(struct bus *b, uint64_t now_ns)
{
	uint32_t ended;

	do {
		ended = 0;
		for (uint32_t i = 0; i < 4; i++)
			ended += (i < b->count) & (b->book[i].end_ns <= now_ns);
		b->book += ended;
		b->count -= ended;
	} while (SSD_UNLIKELY(ended == 4));
}

uint64_t bus_book_between(struct bus *b, uint64_t now_ns, uint64_t earliest_ns, uint64_t len_ns,
			  struct nand_user user, struct bus_waits *waits)
{
	uint64_t at = earliest_ns;
	uint32_t i;

	drop_ended(b, now_ns);
	make_room(b);
	for (i = 0; i < b->count; i++) {
		const struct bus_booking *k = &b->book[i];

		if (k->end_ns <= at)
			continue;
		if (k->start_ns >= at + len_ns)
			break;
		if (k->user.source == NAND_SRC_HOST)
			waits->host_ns += k->end_ns - at;
		else
			waits->gc_ns += k->end_ns - at;
		at = k->end_ns;
	}
	if (SSD_UNLIKELY(user.owners))
		b->others_ns += behind_others(b, earliest_ns, at, user.owners);
	memmove(b->book + i + 1, b->book + i, (b->count - i) * sizeof(*b->book));
	b->book[i] = (struct bus_booking){ at, at + len_ns, user };
	b->count++;
	b->last_ns = b->book[b->count - 1].end_ns;
	return at;
}
