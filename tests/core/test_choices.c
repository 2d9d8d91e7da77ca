// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_choices.c - who is next: the busy die that ends first, the block that greedy GC takes.
 * Both against the plainest way to find out.
 */
#include "blk.h"
#include "die_due.h"
#include "test.h"

#define DIES_MAX 37u

/* ---- dies ------------------------------------------------------------------- */

static uint32_t first_busy(const uint64_t *ends, uint32_t dies)
{
	uint32_t first = 0;

	for (uint32_t i = 1; i < dies; i++)
		if (ends[i] < ends[first])
			first = i;
	return first;
}

/* Ends of few values, so that many are equal, up to nine times unit_ns from now. */
static void some_dies(uint32_t dies, uint64_t unit_ns, uint64_t seed)
{
	uint64_t ends[DIES_MAX], s = seed, now_ns = 0;
	struct ssd_arena size = { NULL, 0 }, at = { NULL, 0 };
	struct die_due t;
	uint32_t busy = 0;
	void *mem;

	die_due_lay_out(&t, &size, dies);
	mem = calloc(1, size.used);
	at.base = mem;
	die_due_lay_out(&t, &at, dies);
	die_due_init(&t);
	for (uint32_t i = 0; i < dies; i++)
		ends[i] = DIE_IDLE_NS;
	for (uint32_t step = 0; step < test_times(5000); step++) {
		uint32_t die = (uint32_t)(rnd(&s) >> 32) % dies, first = first_busy(ends, dies);

		EXPECT_EQ(die_due_first_ns(&t), ends[first]);
		EXPECT_EQ(t.busy, busy);
		if (ends[die] == DIE_IDLE_NS) {
			ends[die] = now_ns + (1 + (rnd(&s) >> 32) % 9) * unit_ns;
			die_due_start(&t, die, ends[die]);
			busy++;
		} else {
			now_ns = ends[first];
			EXPECT_EQ(die_due_end(&t), first);
			ends[first] = DIE_IDLE_NS;
			busy--;
		}
	}
	free(mem);
}

/*
 * By time, then by number; numbers of dies that are powers of two, and are not; seconds, and
 * years of virtual time.
 */
static void dies_end_in_order(void)
{
	static const uint32_t dies[] = { 1, 2, 3, 16, 17, DIES_MAX };

	for (uint32_t i = 0; i < sizeof(dies) / sizeof(*dies); i++)
		for (uint64_t unit_ns = 1; unit_ns < UINT64_MAX / 1000000; unit_ns *= 60)
			some_dies(dies[i], unit_ns, i + 1);
}

/* ---- blocks ----------------------------------------------------------------- */

#define PLANES 2u
#define PLANE_BLOCKS 11u
#define BLOCKS (PLANES * PLANE_BLOCKS)
#define PAGES 4u
#define UNITS_PER_PAGE 2u
#define UNITS (PAGES * UNITS_PER_PAGE)

struct table {
	struct nand_geometry g;
	struct blk_table t;
	uint64_t since[BLOCKS];	/* a FULL block has as many valid units as now */
	uint64_t clock;
	void *mem;
};

static void table_make(struct table *x)
{
	struct ssd_arena size = { NULL, 0 }, at = { NULL, 0 };

	x->g = (struct nand_geometry){ .channels = 1, .chips_per_channel = 1, .dies_per_chip = 1,
				       .planes_per_die = PLANES, .blocks_per_plane = PLANE_BLOCKS,
				       .pages_per_block = PAGES };
	x->clock = 0;
	blk_lay_out(NULL, &size, &x->g, UNITS_PER_PAGE);
	x->mem = calloc(1, size.used);
	at.base = x->mem;
	blk_lay_out(&x->t, &at, &x->g, UNITS_PER_PAGE);
	blk_init(&x->t);
}

/* The fewest valid units; of equals, the last to get there; a page must be won. */
static uint32_t greedy(const struct table *x, uint32_t plane)
{
	uint32_t best = BLK_NONE;

	for (uint32_t b = plane * PLANE_BLOCKS; b < (plane + 1) * PLANE_BLOCKS; b++) {
		const struct blk *k = &x->t.blk[b];

		if (k->state != BLK_FULL || k->valid > UNITS - UNITS_PER_PAGE || k->last_order > x->t.stable)
			continue;
		if (best == BLK_NONE || k->valid < x->t.blk[best].valid ||
		    (k->valid == x->t.blk[best].valid && x->since[b] > x->since[best]))
			best = b;
	}
	return best;
}

/* A VICTIM gets a content and is closed; a FULL block gains or loses units, or is taken. */
static void change(struct table *x, uint32_t b, uint64_t how)
{
	struct blk *k = &x->t.blk[b];

	if (k->state == BLK_VICTIM) {
		k->valid = (uint32_t)(how >> 32) % (UNITS + 1);
		k->last_order = how % 3;
		blk_close(&x->t, b);
	} else if (how % 8 == 0) {
		blk_take(&x->t, b);
	} else if (how % 8 == 1) {
		blk_retire(&x->t, b);
		blk_take(&x->t, b);
	} else if (how % 8 == 2 && k->valid < UNITS) {
		blk_valid_add(&x->t, b);
	} else if (k->valid) {
		blk_valid_sub(&x->t, b);
	} else {
		return;
	}
	x->since[b] = ++x->clock;
}

static void of_equals_the_last_to_get_there(void)
{
	struct table x;
	uint64_t s = 1;

	table_make(&x);
	x.t.stable = 1;		/* a third of the blocks is not to be had */
	for (uint32_t step = 0; step < test_times(60000); step++) {
		uint64_t r = rnd(&s);

		/* Runs: the same few blocks again and again. */
		change(&x, (uint32_t)(step / 64 * 7 + (r >> 40) % 5) % BLOCKS, rnd(&s));
		if (r % 16 == 0) {
			uint32_t plane = (uint32_t)(r >> 8) % PLANES;

			EXPECT_EQ(gc_greedy.pick(&x.t, plane, UNITS_PER_PAGE), greedy(&x, plane));
		}
		if (r % 64 == 1)
			blk_check(&x.t);
	}
	free(x.mem);
}

int main(void)
{
	RUN(dies_end_in_order);
	RUN(of_equals_the_last_to_get_there);
	return test_result();
}
