/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bus.h - the calendar of one channel.
 *
 * A command books its transfers when it is submitted, some of them for later
 * (a read's data move when the cell is done). The calendar is the sorted list
 * of bookings that have not ended; a new one takes the first gap that is long
 * enough. First come, first served: a booking never moves. In memory the list is a window in an
 * array of twice the size: ended bookings are dropped at its front, and when it reaches the end of
 * the array, it is moved back to the beginning.
 *
 * Invariants:
 *   B1  bookings are sorted, not empty, and do not overlap;
 *   B2  the array is large enough: a die has one command group of at most planes_per_die commands
 *       with two bookings each, and ended bookings are dropped first.
 *
 * Ended bookings may stay in the window for a while. They have no effect, and a check after each
 * booking would be a branch that processors often mispredict.
 *
 * Cost: O(bookings under way), at most 2 x planes x dies of the channel.
 */
#ifndef SLATE_BUS_H
#define SLATE_BUS_H

#include "nand.h"

struct bus_booking {
	uint64_t start_ns;
	uint64_t end_ns;
	struct nand_user user;
};

struct bus {
	struct bus_booking *book;	/* first booking of the window */
	uint64_t last_ns;		/* end of the last booking, which may have ended and been dropped */
	uint32_t count;
	uint32_t max;
	uint64_t others_ns;		/* host_ns behind other owners, of all waits since the caller set it to 0 */
	struct bus_booking *room;	/* memory for BUS_ROOM(max) bookings */
};

#define BUS_SPARE 4u		/* elements after the room that are read but not used */
#define BUS_ROOM(max) (2u * (max))

static inline void bus_clear(struct bus *b)
{
	b->book = b->room;
	b->count = 0;
	b->last_ns = 0;
}

/* Transfers waited for these times behind bookings of host I/O, and behind all others. */
struct bus_waits {
	uint64_t host_ns, gc_ns;
};

/* Book as bus_book() does, if the booking may not be the last or the window must move first. */
uint64_t bus_book_between(struct bus *b, uint64_t now_ns, uint64_t earliest_ns, uint64_t len_ns,
			  struct nand_user user, struct bus_waits *waits);

/*
 * Book len_ns at or after earliest_ns, which is not before now_ns; now_ns never decreases from call
 * to call. Returns the start and adds the time spent waiting to *waits.
 */
static inline uint64_t bus_book(struct bus *b, uint64_t now_ns, uint64_t earliest_ns,
				uint64_t len_ns, struct nand_user user,
				struct bus_waits *waits)
{
	struct bus_booking *next;

	if (!len_ns)
		return earliest_ns;
	if (b->last_ns <= now_ns) {	/* all bookings have ended */
		b->book = b->room;
		b->count = 0;
	}
	next = b->book + b->count;
	if (SSD_LIKELY(b->last_ns <= earliest_ns) && b->count < b->max &&
	    next < b->room + BUS_ROOM(b->max)) {
		*next = (struct bus_booking){ earliest_ns, earliest_ns + len_ns, user };
		b->last_ns = earliest_ns + len_ns;
		b->count++;
		return earliest_ns;
	}
	return bus_book_between(b, now_ns, earliest_ns, len_ns, user, waits);
}

#endif
