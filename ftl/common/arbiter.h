/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * arbiter.h - which of the host's submission queues a core serves next: NVMe's arbitration
 * (NVM Express base specification 2.0, section 3.4.4).
 *
 *   round robin   the queues that have commands take turns; at a turn up to `arbitration_burst`
 *                 commands of a queue are taken
 *   weighted      urgent queues come before all others; the classes high, medium and low take turns
 *                 of as many commands as their weights; within a class, and among urgent queues,
 *                 queues take turns as above
 *
 * A class whose queues are empty loses its turn, but not what is left of its weight. When each
 * class with commands has used up its weight, all get theirs again.
 *
 * Invariants (arbiter_check):
 *   ARB1  queue q has commands if and only if bit q of exactly one class is set;
 *   ARB2  `count` is the number of commands in all queues.
 *
 * Rejected: a list of commands sorted by class, because a queue's turn depends on what others
 * submit later.
 */
#ifndef SLATE_ARBITER_H
#define SLATE_ARBITER_H

#include "host.h"

enum arbiter_class { ARBITER_URGENT, ARBITER_HIGH, ARBITER_MEDIUM, ARBITER_LOW, ARBITER_CLASSES };

struct arbiter {
	struct io_list queue[FTL_QUEUES];
	struct arbiter_round {
		uint64_t filled;	/* bit q: queue q has commands */
		uint32_t at;		/* queue whose turn it is */
		uint32_t left;		/* commands left of this turn */
		uint32_t credit;	/* commands that the class may still have in this round */
	} round[ARBITER_CLASSES];
	uint32_t turn;			/* class whose turn it is: high, medium or low */
	uint32_t count;
};

/* Add a command to its queue (ftl_io.queue). It must have the priority of the commands that the queue has already. */
void arbiter_add(struct arbiter *a, const struct ftl_config *c, struct ftl_io *io);
/* Take the next command. There must be one (count > 0). */
struct ftl_io *arbiter_take(struct arbiter *a, const struct ftl_config *c);
void arbiter_check(const struct arbiter *a);

#endif
