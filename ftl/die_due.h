/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * die_due.h - busy dies by the end of their command, then by number.
 *
 * A tree of minima over the dies' own times: ns[1] is the earliest and die[1] whose it is;
 * ns[i], die[i] are those of the earlier of 2i and 2i + 1, and ns[leaves + die] is the die's own,
 * DIE_IDLE_NS while it is idle. To change one takes log2(leaves) steps; who is first is known at
 * once, which counts, for all that a moment brings waits for it. The number of steps depends on
 * nothing, and no step has a branch that a processor could guess wrong (of a heap's two or
 * three a command, half are: that made it three times as dear).
 */
#ifndef SLATE_DIE_DUE_H
#define SLATE_DIE_DUE_H

#include "port.h"

#define DIE_IDLE_NS (~(uint64_t)0)

struct die_due {
	uint64_t *ns;		/* 2 * leaves */
	uint32_t *die;
	uint32_t leaves;	/* a power of two */
	uint32_t busy;
};

static inline void die_due_lay_out(struct die_due *t, struct ssd_arena *m, uint32_t dies)
{
	t->leaves = 1;
	while (t->leaves < dies)
		t->leaves *= 2;
	t->ns = ssd_carve(m, (size_t)t->leaves * 2, sizeof(*t->ns));
	t->die = ssd_carve(m, (size_t)t->leaves * 2, sizeof(*t->die));
}

static inline void die_due_init(struct die_due *t)
{
	for (uint32_t i = 0; i < 2 * t->leaves; i++) {
		t->ns[i] = DIE_IDLE_NS;
		t->die[i] = i < t->leaves ? 0 : i - t->leaves;
	}
	t->busy = 0;
}

static inline uint64_t die_due_first_ns(const struct die_due *t)
{
	return t->ns[1];
}

/* ns is not 0. */
static inline void die_due_set(struct die_due *t, uint32_t die, uint64_t ns)
{
	uint64_t *time = t->ns, i = (uint64_t)t->leaves + die;
	uint32_t *who = t->die;

	for (; i > 1; i >>= 1) {
		uint64_t beside_ns = time[i ^ 1];
		uint32_t beside = who[i ^ 1];
		bool earlier = SSD_EITHER(beside_ns <= ns + (i & 1) - 1);	/* of equals the left one */

		time[i] = ns;
		who[i] = die;
		ns = earlier ? beside_ns : ns;
		die = earlier ? beside : die;
	}
	time[1] = ns;
	who[1] = die;
}

/* An idle die is busy until ns. */
static inline void die_due_start(struct die_due *t, uint32_t die, uint64_t ns)
{
	die_due_set(t, die, ns);
	t->busy++;
}

/* The first of the busy dies, idle from now on. */
static inline uint32_t die_due_end(struct die_due *t)
{
	uint32_t die = t->die[1];

	die_due_set(t, die, DIE_IDLE_NS);
	t->busy--;
	return die;
}

#endif
