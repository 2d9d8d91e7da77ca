/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * die_due.h - busy dies by the end of their command, then by number.
 *
 * A tree of minima over the dies' own keys: key[1] is the minimum of all, key[i] the smallest of
 * key[4i] to key[4i + 3], and key[leaves + die] the die's own key. A key is the end of the
 * command, in ns since `epoch_ns`, and the die's number in its lowest 16 bits; an idle die's key is
 * DIE_IDLE_NS. A change of a key takes log4(leaves) steps, and the first die is known without a
 * search. The number of steps is constant, and no step has a branch that the processor could
 * mispredict. (A heap has two or three unpredictable branches a command; it was three times as
 * slow.)
 *
 * 48 bits of ns are three days. If a command ends later than three days after the epoch, the epoch
 * is moved to a day and a half before that end.
 */
#ifndef SLATE_DIE_DUE_H
#define SLATE_DIE_DUE_H

#include "port.h"

#define DIE_IDLE_NS (~(uint64_t)0)
#define DIE_DUE_BITS 16u
#define DIE_DUE_RANGE_NS ((uint64_t)1 << (64 - DIE_DUE_BITS))

struct die_due {
	uint64_t *key;		/* 2 * leaves */
	uint64_t first_ns;	/* time of key[1]; DIE_IDLE_NS: no die is busy */
	uint64_t epoch_ns;
	uint32_t leaves;	/* least power of four that gives each die a leaf; at most 2^16 */
	uint32_t busy;
};

static inline void die_due_lay_out(struct die_due *t, struct ssd_arena *m, uint32_t dies)
{
	SSD_ASSERT(dies <= 1u << DIE_DUE_BITS);
	t->leaves = 1;
	while (t->leaves < dies)
		t->leaves *= 4;
	t->key = ssd_carve(m, (size_t)t->leaves * 2, sizeof(*t->key));
}

static inline void die_due_init(struct die_due *t)
{
	for (uint32_t i = 0; i < 2 * t->leaves; i++)
		t->key[i] = DIE_IDLE_NS;
	t->first_ns = DIE_IDLE_NS;
	t->epoch_ns = 0;
	t->busy = 0;
}

static inline uint64_t die_due_first_ns(const struct die_due *t)
{
	return t->first_ns;
}

static inline uint64_t die_due_least(const uint64_t four[4])
{
	uint64_t a = four[0] < four[1] ? four[0] : four[1], b = four[2] < four[3] ? four[2] : four[3];

	return a < b ? a : b;
}

static inline void die_due_set(struct die_due *t, uint32_t die, uint64_t key)
{
	uint64_t *at = t->key;

	for (uint64_t i = (uint64_t)t->leaves + die; i > 1; i >>= 2) {
		at[i] = key;
		key = die_due_least(at + (i & ~(uint64_t)3));
	}
	at[1] = key;
	t->first_ns = (t->epoch_ns + (key >> DIE_DUE_BITS)) | -(uint64_t)(key == DIE_IDLE_NS);
}

/*
 * Move the epoch to half of the keys' range before ns. All busy dies end later than that, as do all
 * commands that begin later.
 */
static SSD_SELDOM void die_due_move_epoch(struct die_due *t, uint64_t ns)
{
	uint64_t to_ns = ns - DIE_DUE_RANGE_NS / 2;

	SSD_ASSERT(ns > t->epoch_ns && t->first_ns >= to_ns);
	for (uint32_t i = 1; i < 2 * t->leaves; i++)
		if (t->key[i] != DIE_IDLE_NS)
			t->key[i] -= (to_ns - t->epoch_ns) << DIE_DUE_BITS;
	t->epoch_ns = to_ns;
}

/* Make an idle die busy until ns. No command takes a day (nand.h). */
static inline void die_due_start(struct die_due *t, uint32_t die, uint64_t ns)
{
	if (SSD_UNLIKELY(ns - t->epoch_ns >= DIE_DUE_RANGE_NS))
		die_due_move_epoch(t, ns);
	die_due_set(t, die, (ns - t->epoch_ns) << DIE_DUE_BITS | die);
	t->busy++;
}

/* Change the time of a busy die to ns. */
static inline void die_due_move(struct die_due *t, uint32_t die, uint64_t ns)
{
	die_due_set(t, die, DIE_IDLE_NS);
	t->busy--;
	die_due_start(t, die, ns);
}

/* Take the busy die that ends first; it is idle afterwards. */
static inline uint32_t die_due_end(struct die_due *t)
{
	uint32_t die = t->key[1] & ((1u << DIE_DUE_BITS) - 1);

	die_due_set(t, die, DIE_IDLE_NS);
	t->busy--;
	return die;
}

#endif
