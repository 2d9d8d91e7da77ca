// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_choices.c - the busy die that ends first, and the block that each GC policy takes. Both are
 * compared with a simple search, and random policies with their probabilities.
 */
#include "gc_policy.h"
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

/* Use few distinct end times, so that many are equal, up to nine times unit_ns from now. */
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
 * Dies end by time, then by number. The number of dies is a power of two or not; times are seconds,
 * or years of virtual time.
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

#define WINDOW 3u
#define CHOICES 3u

static const struct ftl_config settings = { .gc_choices = CHOICES, .gc_window_blocks = WINDOW };

static uint32_t pick(const struct gc_policy *policy, const struct blk_table *t, uint32_t plane, uint32_t upp)
{
	struct ftl_config c = settings;

	c.gc_policy = policy;
	return gc_policy_pick(&c, t, plane, upp);
}

struct table {
	struct nand_geometry g;
	struct blk_table t;
	uint64_t since[BLOCKS];	/* step at which a FULL block got its present number of valid units */
	uint64_t place[BLOCKS];	/* place in the queue, set when it was closed or passed over */
	uint64_t clock;
	void *mem;
};

static void table_make(struct table *x, const struct gc_policy *policy)
{
	struct ssd_arena size = { NULL, 0 }, at = { NULL, 0 };

	*x = (struct table){ .g = { .channels = 1, .chips_per_channel = 1, .dies_per_chip = 1,
				    .planes_per_die = PLANES, .blocks_per_plane = PLANE_BLOCKS,
				    .pages_per_block = PAGES } };
	blk_lay_out(NULL, &size, &x->g, UNITS_PER_PAGE, policy->lists);
	x->mem = calloc(1, size.used);
	at.base = x->mem;
	blk_lay_out(&x->t, &at, &x->g, UNITS_PER_PAGE, policy->lists);
	blk_init(&x->t);
}

static bool solid(const struct table *x, uint32_t b)
{
	return x->t.blk[b].valid > UNITS - UNITS_PER_PAGE;
}

static bool eligible(const struct table *x, uint32_t b)
{
	return x->t.blk[b].state == BLK_FULL && !solid(x, b) && x->t.blk[b].last_order <= x->t.stable;
}

typedef bool better_fn(const struct table *x, uint32_t a, uint32_t b);

static uint32_t best_of(const struct table *x, uint32_t plane, better_fn *better)
{
	uint32_t best = BLK_NONE;

	for (uint32_t b = plane * PLANE_BLOCKS; b < (plane + 1) * PLANE_BLOCKS; b++)
		if (eligible(x, b) && (best == BLK_NONE || better(x, b, best)))
			best = b;
	return best;
}

/* The block with the fewest valid units is taken; among equals, the one that reached this number last. */
static bool greedy_is_better(const struct table *x, uint32_t a, uint32_t b)
{
	const struct blk *ka = &x->t.blk[a], *kb = &x->t.blk[b];

	return ka->valid < kb->valid || (ka->valid == kb->valid && x->since[a] > x->since[b]);
}

static uint32_t greedy(struct table *x, uint32_t plane)
{
	return best_of(x, plane, greedy_is_better);
}

/* The score is age (1 - u) / 2u, multiplied out; a block without a valid unit costs nothing. */
static bool pays_more(const struct table *x, uint32_t a, uint32_t b)
{
	uint64_t va = x->t.blk[a].valid, vb = x->t.blk[b].valid;
	uint64_t age_a = x->clock + 1 - x->since[a], age_b = x->clock + 1 - x->since[b];

	if (!va && !vb)
		return age_a > age_b;
	return age_a * (UNITS - va) * vb > age_b * (UNITS - vb) * va ||
	       (age_a * (UNITS - va) * vb == age_b * (UNITS - vb) * va && va < vb);
}

static uint32_t cost_benefit(struct table *x, uint32_t plane)
{
	return best_of(x, plane, pays_more);
}

/* Returns the FULL block of the plane with the lowest place above `after`, or BLK_NONE. */
static uint32_t next_placed(const struct table *x, uint32_t plane, uint64_t after)
{
	uint32_t first = BLK_NONE;

	for (uint32_t b = plane * PLANE_BLOCKS; b < (plane + 1) * PLANE_BLOCKS; b++)
		if (x->t.blk[b].state == BLK_FULL && x->place[b] > after &&
		    (first == BLK_NONE || x->place[b] < x->place[first]))
			first = b;
	return first;
}

/* Blocks at the front that free no page go to the end, unless no block frees one. */
static void pass_over(struct table *x, uint32_t plane)
{
	bool some = false;

	for (uint32_t b = plane * PLANE_BLOCKS; b < (plane + 1) * PLANE_BLOCKS; b++)
		some |= x->t.blk[b].state == BLK_FULL && !solid(x, b);
	for (uint32_t b; some && solid(x, b = next_placed(x, plane, 0));)
		x->place[b] = ++x->clock;
}

static uint32_t of_the_first(struct table *x, uint32_t plane, uint32_t window)
{
	uint32_t best = BLK_NONE, seen = 0;

	pass_over(x, plane);
	for (uint32_t b = next_placed(x, plane, 0); b != BLK_NONE && (seen < window || best == BLK_NONE);
	     b = next_placed(x, plane, x->place[b]), seen++)
		if (eligible(x, b) && (best == BLK_NONE || x->t.blk[b].valid < x->t.blk[best].valid))
			best = b;
	return best;
}

static uint32_t fifo(struct table *x, uint32_t plane)
{
	return of_the_first(x, plane, 1);
}

static uint32_t windowed(struct table *x, uint32_t plane)
{
	return of_the_first(x, plane, WINDOW);
}

/* Close a VICTIM with a new content; add or remove units of a FULL block, or take it. */
static void change(struct table *x, uint32_t b, uint64_t how)
{
	struct blk *k = &x->t.blk[b];

	if (k->state == BLK_VICTIM) {
		k->valid = (uint32_t)(how >> 32) % (UNITS + 1);
		k->last_order = how % 3;
		x->place[b] = ++x->clock;
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
	k->last_inval = x->since[b];
}

static void picks_as(const struct gc_policy *policy, uint32_t (*plainest)(struct table *x, uint32_t plane))
{
	struct table x;
	uint64_t s = 1;

	table_make(&x, policy);
	x.t.stable = 1;		/* a third of the blocks is not settled */
	for (uint32_t step = 0; step < test_times(60000); step++) {
		uint64_t r = rnd(&s);

		/* in runs the same few blocks change again and again */
		change(&x, (uint32_t)(step / 64 * 7 + (r >> 40) % 5) % BLOCKS, rnd(&s));
		if (r % 16 == 0) {
			uint32_t plane = (uint32_t)(r >> 8) % PLANES;

			x.t.issued = x.clock;
			EXPECT_EQ(pick(policy, &x.t, plane, UNITS_PER_PAGE), plainest(&x, plane));
		}
		if (r % 64 == 1)
			blk_check(&x.t);
	}
	free(x.mem);
}

static void greedy_takes_the_fewest_valid(void)
{
	picks_as(&gc_greedy, greedy);
}

static void cost_benefit_takes_what_pays_most(void)
{
	picks_as(&gc_cost_benefit, cost_benefit);
}

static void fifo_takes_the_first_closed(void)
{
	picks_as(&gc_fifo, fifo);
}

static void windowed_takes_the_fewest_valid_of_the_first(void)
{
	picks_as(&gc_windowed, windowed);
}

/*
 * Six of the plane's eleven blocks can be drawn, with 0 .. 5 valid units. Of d drawn with
 * replacement the least has at least r with probability ((6 - r) / 6)^d. 60,000 drawings: four
 * standard deviations of a count are 4 sqrt(60,000 p (1 - p)) <= 490.
 */
static void draws_as(const struct gc_policy *policy, uint32_t d)
{
	uint32_t counts[6] = { 0 }, picks = 60000;
	struct table x;

	table_make(&x, policy);
	for (uint32_t i = 0; i < PLANE_BLOCKS; i++) {
		uint32_t b = PLANE_BLOCKS + i;

		x.t.blk[b].valid = i < 6 ? i : UNITS;
		x.t.blk[b].last_order = i == 10;	/* not settled */
		blk_close(&x.t, b);
	}
	EXPECT_EQ(pick(policy, &x.t, 0, UNITS_PER_PAGE), BLK_NONE);
	for (x.t.issued = 1; x.t.issued <= picks; x.t.issued++) {
		uint32_t b = pick(policy, &x.t, 1, UNITS_PER_PAGE);

		EXPECT_EQ(b, pick(policy, &x.t, 1, UNITS_PER_PAGE));
		EXPECT(b >= PLANE_BLOCKS && b < PLANE_BLOCKS + 6);
		counts[b - PLANE_BLOCKS]++;
	}
	for (uint32_t r = 0; r < 6; r++) {
		double p = 0, q = 0;

		p = (6 - r) / 6.0;
		q = (5 - r) / 6.0;
		for (uint32_t i = 1; i < d; i++) {
			p *= (6 - r) / 6.0;
			q *= (5 - r) / 6.0;
		}
		EXPECT(counts[r] > picks * (p - q) - 490 && counts[r] < picks * (p - q) + 490);
	}
	free(x.mem);
}

static void random_takes_each_equally_often(void)
{
	draws_as(&gc_random, 1);
}

static void d_choices_takes_the_least_of_some(void)
{
	draws_as(&gc_d_choices, CHOICES);
}

/* One block in 4,096 frees a page: drawing ends after a limit, and the plane is searched. */
static void a_rare_block_is_found(void)
{
	struct nand_geometry g = { .channels = 1, .chips_per_channel = 1, .dies_per_chip = 1,
				   .planes_per_die = 1, .blocks_per_plane = 4096, .pages_per_block = PAGES };
	struct ssd_arena size = { NULL, 0 }, at = { NULL, 0 };
	struct blk_table t;

	blk_lay_out(NULL, &size, &g, 1, BLK_QUEUE);
	at.base = calloc(1, size.used);
	blk_lay_out(&t, &at, &g, 1, BLK_QUEUE);
	blk_init(&t);
	for (uint32_t b = 0; b < 4096; b++) {
		t.blk[b].valid = b == 1234 ? PAGES - 1 : PAGES;
		blk_close(&t, b);
	}
	for (t.issued = 0; t.issued < 100; t.issued++) {
		EXPECT_EQ(pick(&gc_random, &t, 0, 1), 1234);
		EXPECT_EQ(pick(&gc_d_choices, &t, 0, 1), 1234);
		EXPECT_EQ(pick(&gc_fifo, &t, 0, 1), 1234);
	}
	EXPECT_EQ(blk_empty(&t, 0), BLK_NONE);
	free(at.base);
}

/*
 * A mount closes blocks by number. The queue is then ordered by their last writes, and equal ones
 * by number.
 */
static void a_mount_orders_the_queue(void)
{
	static const uint64_t order[PLANE_BLOCKS] = { 9, 3, 3, 7, 1, 0, 8, 3, 2, 9, 5 };
	static const uint32_t sorted[PLANE_BLOCKS] = { 5, 4, 8, 1, 2, 7, 10, 3, 6, 0, 9 };
	struct table x;

	table_make(&x, &gc_fifo);
	x.t.stable = 9;
	for (uint32_t b = 0; b < PLANE_BLOCKS; b++) {
		x.t.blk[b].valid = 1;
		x.t.blk[b].last_order = order[b];
		blk_close(&x.t, b);
	}
	blk_sort_closed(&x.t, false);
	blk_check(&x.t);
	for (uint32_t i = 0; i < PLANE_BLOCKS; i++) {
		EXPECT_EQ(pick(&gc_fifo, &x.t, 0, UNITS_PER_PAGE), sorted[i]);
		blk_take(&x.t, sorted[i]);
		blk_check(&x.t);
	}
	free(x.mem);
}

/* A block without a valid unit is found even if the policy names another block. */
static void an_empty_block_is_found(void)
{
	for (uint32_t i = 0; gc_policies[i]; i++) {
		struct table x;

		table_make(&x, gc_policies[i]);
		for (uint32_t b = 0; b < PLANE_BLOCKS; b++) {
			x.t.blk[b].valid = b == 4 || b == 6 ? 0 : 5;
			x.t.blk[b].last_order = b == 4;	/* not settled */
			blk_close(&x.t, b);
		}
		EXPECT_EQ(blk_empty(&x.t, 0), 6);
		EXPECT_EQ(blk_empty(&x.t, 1), BLK_NONE);
		free(x.mem);
	}
}

int main(void)
{
	RUN(dies_end_in_order);
	RUN(greedy_takes_the_fewest_valid);
	RUN(cost_benefit_takes_what_pays_most);
	RUN(fifo_takes_the_first_closed);
	RUN(windowed_takes_the_fewest_valid_of_the_first);
	RUN(random_takes_each_equally_often);
	RUN(d_choices_takes_the_least_of_some);
	RUN(a_rare_block_is_found);
	RUN(a_mount_orders_the_queue);
	RUN(an_empty_block_is_found);
	return test_result();
}
