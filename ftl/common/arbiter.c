// SPDX-License-Identifier: GPL-2.0-or-later
/* arbiter.c - see arbiter.h */
#include "arbiter.h"

_Static_assert(FTL_QUEUES == 64, "arbiter_round.filled has a bit for each queue");

void arbiter_add(struct arbiter *a, const struct ftl_config *c, struct ftl_io *io)
{
	unsigned int of = c->arbitration == FTL_ARBITRATION_WEIGHTED ? io->priority : ARBITER_HIGH;

	SSD_ASSERT(io->queue < FTL_QUEUES && of < ARBITER_CLASSES);
	for (unsigned int i = 0; i < ARBITER_CLASSES; i++)
		if (a->round[i].filled >> io->queue & 1)
			of = i;
	io_list_add(&a->queue[io->queue], io);
	a->round[of].filled |= (uint64_t)1 << io->queue;
	a->count++;
}

/* Returns the next filled queue after r->at, in a circle. */
static uint32_t next_queue(const struct arbiter_round *r)
{
	uint64_t later = r->at + 1 < FTL_QUEUES ? r->filled >> (r->at + 1) << (r->at + 1) : 0;

	return (uint32_t)__builtin_ctzll(later ? later : r->filled);
}

static struct ftl_io *take_of(struct arbiter *a, const struct ftl_config *c, struct arbiter_round *r)
{
	struct ftl_io *io;

	if (!r->left || !(r->filled >> r->at & 1)) {
		r->at = next_queue(r);
		r->left = c->arbitration_burst;
	}
	r->left--;
	io = io_list_take(&a->queue[r->at]);
	if (!a->queue[r->at].first)
		r->filled &= ~((uint64_t)1 << r->at);
	a->count--;
	return io;
}

static uint32_t weight(const struct ftl_config *c, uint32_t of)
{
	return of == ARBITER_HIGH ? c->weight_high : of == ARBITER_MEDIUM ? c->weight_medium : c->weight_low;
}

/* Returns the class whose turn it is: it has commands and credit. A class below urgent must have commands. */
static uint32_t next_class(struct arbiter *a, const struct ftl_config *c)
{
	for (;;) {
		for (uint32_t i = 0; i < ARBITER_CLASSES - 1; i++) {
			uint32_t of = ARBITER_HIGH + (a->turn - ARBITER_HIGH + i) % (ARBITER_CLASSES - 1);

			if (a->round[of].filled && a->round[of].credit)
				return of;
		}
		for (uint32_t of = ARBITER_HIGH; of < ARBITER_CLASSES; of++)
			a->round[of].credit = weight(c, of);
		a->turn = ARBITER_HIGH;
	}
}

struct ftl_io *arbiter_take(struct arbiter *a, const struct ftl_config *c)
{
	SSD_ASSERT(a->count);
	if (a->round[ARBITER_URGENT].filled)
		return take_of(a, c, &a->round[ARBITER_URGENT]);
	if (c->arbitration == FTL_ARBITRATION_ROUND_ROBIN)
		return take_of(a, c, &a->round[ARBITER_HIGH]);
	if (!a->turn)
		a->turn = ARBITER_HIGH;
	a->turn = next_class(a, c);
	a->round[a->turn].credit--;
	return take_of(a, c, &a->round[a->turn]);
}

void arbiter_check(const struct arbiter *a)
{
	uint32_t count = 0;

	for (uint32_t q = 0; q < FTL_QUEUES; q++) {
		uint32_t classes = 0;

		for (uint32_t i = 0; i < ARBITER_CLASSES; i++)
			classes += a->round[i].filled >> q & 1;
		SSD_ASSERT(classes == (a->queue[q].first ? 1 : 0));	/* ARB1 */
		for (const struct ftl_io *io = a->queue[q].first; io; io = io_list_next(&a->queue[q], io))
			count++;
	}
	SSD_ASSERT(count == a->count);	/* ARB2 */
}
