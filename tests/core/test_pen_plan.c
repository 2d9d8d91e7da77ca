// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test the M-Merge planner: PEN's figures 10 and 11, every choice of PBs of small trees, and plans
 * executed on the array, where cells disturbed too often lose their data.  test_pen_plan [-n
 * rounds] [-s seed]
 */
#include <string.h>

#include "pen_plan.h"
#include "test.h"

/* ---- figures 10 and 11: 576 pages, L = 6, a copy costs 1 and any erase 10 ---- */

#define LEAVES 64u
#define FIG(leaf) (LEAVES + (leaf))	/* PB number of a smallest PB */

static struct pen_work work;
static struct pen_plan plan;
static struct pen_pages pages[PEN_SMALLEST_MAX];
static struct pen_dis dis[PEN_SMALLEST_MAX];

static const struct pen_model fig = {
	.levels = 6, .tolerance = 1, .copy_cost = 1, .erase_cost = { 10, 10, 10, 10, 10, 10, 10 } };

static void fill(void)
{
	memset(dis, 0, sizeof(dis));
	for (uint32_t s = 0; s < LEAVES; s++)
		pages[s] = (struct pen_pages){ .valid = 9, .refilled = true };
}

static void all_moved(uint32_t pb, uint32_t stay)
{
	uint32_t first = pen_first(6, pb), span = pen_span(6, pb);

	for (uint32_t s = first; s < first + span; s++)
		pages[s] = (struct pen_pages){ .back = 9, .stale = true, .refilled = true };
	pages[first].valid = (uint16_t)stay;
	pages[first].back = (uint16_t)(9 - stay);
}

static void numbers_of_partial_blocks(void)
{
	EXPECT_EQ(pen_first(6, 1), 0);
	EXPECT_EQ(pen_span(6, 1), 64);
	EXPECT_EQ(pen_first(6, 9), 8);
	EXPECT_EQ(pen_span(6, 9), 8);
	EXPECT_EQ(pen_first(6, 14), 48);
	EXPECT_EQ(pen_first(6, 127), 63);
	EXPECT_EQ(pen_span(6, 127), 1);
	EXPECT_EQ(pen_first(0, 1), 0);
	EXPECT_EQ(pen_span(0, 1), 1);
}

static void figure_10(void)
{
	uint64_t merge = 576 + 2 * 10, mmerge;

	fill();
	all_moved(9, 0);
	all_moved(14, 2);
	pen_plan_make(&fig, pages, dis, &work, &plan);
	EXPECT_EQ(plan.count, 2);
	EXPECT_EQ(plan.pb[0], 9);
	EXPECT_EQ(plan.pb[1], 14);
	EXPECT_EQ(plan.out, 2);
	EXPECT_EQ(plan.copies, 146);
	EXPECT_EQ(plan.cost, 146 + 2 * 10);
	mmerge = plan.cost + 10;			/* the U-block */
	EXPECT_EQ(100 * merge / mmerge, 338);		/* 3.38 times */
}

static void carry_out(void)
{
	for (uint32_t i = 0; i < plan.count; i++) {
		uint32_t first = pen_first(6, plan.pb[i]), span = pen_span(6, plan.pb[i]);

		pen_erased(dis, 6, plan.pb[i]);
		for (uint32_t s = first; s < first + span; s++)
			pen_programmed(dis, 6, s);
	}
	for (uint32_t s = 0; s < LEAVES; s++)
		EXPECT(!dis[s].edges && dis[s].disturbs <= 1);
}

/*
 * PB 9 is restored four times: at t1 alone, at t2 with a PB on each side, at t3 alone, at t4 with
 * two on each side.
 */
static void figure_11(void)
{
	fill();
	all_moved(9, 0);
	pen_plan_make(&fig, pages, dis, &work, &plan);		/* t1 */
	EXPECT_EQ(plan.count, 1);
	EXPECT_EQ(plan.pb[0], 9);
	carry_out();
	EXPECT_EQ(dis[7].disturbs, 1);
	EXPECT_EQ(dis[16].disturbs, 1);

	pen_plan_make(&fig, pages, dis, &work, &plan);		/* t2 */
	EXPECT_EQ(plan.count, 3);
	EXPECT_EQ(plan.pb[0], 9);
	EXPECT_EQ(plan.pb[1], FIG(7));
	EXPECT_EQ(plan.pb[2], FIG(16));
	EXPECT_EQ(plan.out, 18);
	EXPECT_EQ(plan.copies - plan.out, 9 + 72 + 9);		/* pages restored */
	carry_out();
	EXPECT_EQ(dis[6].disturbs, 1);
	EXPECT_EQ(dis[7].disturbs, 0);
	EXPECT_EQ(dis[16].disturbs, 0);
	EXPECT_EQ(dis[17].disturbs, 1);

	pen_plan_make(&fig, pages, dis, &work, &plan);		/* t3 */
	EXPECT_EQ(plan.count, 1);
	EXPECT_EQ(plan.copies, 72);
	carry_out();

	pen_plan_make(&fig, pages, dis, &work, &plan);		/* t4 */
	EXPECT_EQ(plan.count, 3);
	EXPECT_EQ(plan.pb[0], 9);
	EXPECT_EQ(plan.pb[1], 35);				/* leaves 6 and 7 */
	EXPECT_EQ(plan.pb[2], 40);				/* 16 and 17 */
	EXPECT_EQ(plan.copies - plan.out, 18 + 72 + 18);
	carry_out();
	EXPECT_EQ(dis[5].disturbs, 1);
	EXPECT_EQ(dis[18].disturbs, 1);
}

static void nothing_to_do(void)
{
	fill();
	pages[5].valid = 6;
	pages[5].back = 3;		/* copied to free pages, so no erase */
	pen_plan_make(&fig, pages, dis, &work, &plan);
	EXPECT_EQ(plan.count, 0);
	EXPECT_EQ(plan.cost, 3);
	EXPECT_EQ(plan.copies, 3);
	EXPECT_EQ(plan.out, 0);
}

/* With a tolerance of 0 no partial erase is possible: the whole block is restored. */
static void no_tolerance(void)
{
	struct pen_model m = fig;

	fill();
	all_moved(9, 0);
	m.tolerance = 0;
	pen_plan_make(&m, pages, dis, &work, &plan);
	EXPECT_EQ(plan.count, 1);
	EXPECT_EQ(plan.pb[0], 1);
	EXPECT_EQ(plan.out, 504);
	EXPECT_EQ(plan.copies, 576 + 504);
}

/*
 * A PB that is not refilled keeps its edges. The middle one of three smallest PBs may then be
 * disturbed from both sides, which is too often for a tolerance of 1. One of them is therefore
 * restored together with its sibling.
 */
static void edges_that_stay(void)
{
	fill();
	for (uint32_t s = 20; s < 23; s++)
		pages[s] = (struct pen_pages){ .stale = true };
	pages[21].valid = 5;
	pages[21].refilled = true;
	dis[23].disturbs = 1;		/* and the right-hand neighbour tolerates no more */
	pen_plan_make(&fig, pages, dis, &work, &plan);
	for (uint32_t i = 0; i < plan.count; i++)
		pen_erased(dis, 6, plan.pb[i]);
	pen_programmed(dis, 6, 21);
	for (uint32_t s = 0; s < LEAVES; s++)
		EXPECT(pen_safe(dis, 6, s, 1));
	dis[23] = (struct pen_dis){ 2, 0 };
	dis[22].edges = PEN_EDGE_ABOVE;
	EXPECT(!pen_safe(dis, 6, 23, 1));
	EXPECT(pen_safe(dis, 6, 23, 255));
	dis[22].edges = 0;
	EXPECT(pen_safe(dis, 6, 23, 1));
}

/* ---- all sets of disjoint PBs of a small tree ---- */

struct search {
	const struct pen_model *m;
	uint32_t leaves;
	uint64_t best;			/* lowest cost of a set that covers all stale PBs */
	uint64_t best_safe;		/* the same, of sets that disturb no PB too often */
};

static uint64_t seed0 = 1;
static uint32_t rounds = 3000;

/* Computes separately how often the array would count disturbances, including old edges. */
static bool disturbs_too_often(const struct search *f, const uint32_t *pb, uint32_t n)
{
	uint32_t count[8], owed[8] = { 0 };
	bool hit[8] = { false };

	for (uint32_t s = 0; s < f->leaves; s++)
		count[s] = dis[s].disturbs;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t width = f->leaves, at = 0;

		for (uint32_t bit = 31u - (uint32_t)__builtin_clz(pb[i]); bit-- > 0;) {
			width /= 2;
			at += pb[i] >> bit & 1 ? width : 0;
		}
		for (uint32_t s = at; s < at + width; s++) {
			count[s] = 0;
			hit[s] = false;
		}
		if (at > 0) {
			hit[at - 1] = true;
			if (pages[at].refilled)
				count[at - 1]++;
			else
				owed[at - 1]++;
		}
		if (at + width < f->leaves) {
			hit[at + width] = true;
			if (pages[at + width - 1].refilled)
				count[at + width]++;
			else
				owed[at + width]++;
		}
	}
	for (uint32_t s = 0; s < f->leaves; s++)
		if (hit[s] && count[s] + owed[s] > f->m->tolerance)
			return true;
	return false;
}

static uint64_t cost_of(const struct search *f, const uint32_t *pb, uint32_t n, bool *covers)
{
	bool in[8] = { false };
	uint64_t cost = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t level = 31u - (uint32_t)__builtin_clz(pb[i]);
		uint32_t width = f->leaves >> level, at = (pb[i] - (1u << level)) * width;

		cost += f->m->erase_cost[level];
		for (uint32_t s = at; s < at + width; s++) {
			in[s] = true;
			cost += 2 * f->m->copy_cost * pages[s].valid;
		}
	}
	*covers = true;
	for (uint32_t s = 0; s < f->leaves; s++) {
		cost += f->m->copy_cost * pages[s].back;
		*covers &= in[s] || !pages[s].stale;
	}
	return cost;
}

/* Try each PB from `next` on, unless it overlaps a chosen one. */
static void try_all(struct search *f, uint32_t *pb, uint32_t n, uint32_t next)
{
	bool covers, free = true;

	if (next == 2 * f->leaves) {
		uint64_t cost = cost_of(f, pb, n, &covers);

		if (covers && cost < f->best)
			f->best = cost;
		if (covers && cost < f->best_safe && !disturbs_too_often(f, pb, n))
			f->best_safe = cost;
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t up = next; up; up /= 2)
			free &= up != pb[i];
	try_all(f, pb, n, next + 1);
	if (free) {
		pb[n] = next;
		try_all(f, pb, n + 1, next + 1);
	}
}

static void random_tree(struct pen_model *m, uint64_t *s)
{
	memset(m, 0, sizeof(*m));
	m->levels = (uint32_t)(rnd(s) % 4);
	m->tolerance = rnd(s) % 8 ? (uint32_t)(rnd(s) % 4) : 255;
	m->copy_cost = 1 + rnd(s) % 5;
	for (uint32_t l = 0; l <= m->levels; l++)
		m->erase_cost[l] = 1 + rnd(s) % 40;
	for (uint32_t k = 0; k < 1u << m->levels; k++) {
		pages[k] = (struct pen_pages){ .valid = (uint16_t)(rnd(s) % 5),
					       .back = (uint16_t)(rnd(s) % 3),
					       .stale = rnd(s) % 3 == 0 };
		pages[k].refilled = pages[k].valid + pages[k].back > 0;
		dis[k] = (struct pen_dis){ (uint8_t)(rnd(s) % 3), 0 };
	}
}

static uint32_t dearer;			/* number of plans for which the loop ended above the lowest cost */

static bool one_tree(uint64_t seed)
{
	struct search f = { .best = PEN_NO_PLAN, .best_safe = PEN_NO_PLAN };
	uint32_t pb[8], chosen[8];
	struct pen_model m, loose;
	bool covers;

	random_tree(&m, &seed);
	f.m = &m;
	f.leaves = 1u << m.levels;
	try_all(&f, pb, 0, 1);
	loose = m;
	loose.tolerance = 255;
	pen_plan_make(&loose, pages, dis, &work, &plan);
	if (plan.cost != f.best)
		return false;
	pen_plan_make(&m, pages, dis, &work, &plan);
	for (uint32_t i = 0; i < plan.count; i++)
		chosen[i] = plan.pb[i];
	if (cost_of(&f, chosen, plan.count, &covers) != plan.cost || !covers)
		return false;
	if (m.tolerance < 255 && disturbs_too_often(&f, chosen, plan.count))
		return false;
	dearer += m.tolerance < 255 && plan.cost > f.best_safe;
	return m.tolerance == 255 || plan.cost >= f.best_safe;
}

static void all_plans_of_small_trees(void)
{
	for (uint32_t i = 0; i < rounds; i++)
		if (!one_tree(seed0 + i)) {
			printf("tree: test_pen_plan -n 1 -s %" PRIu64 "\n", seed0 + i);
			failures++;
		}
	printf("# %u of %u plans are dearer than the best that disturbs none too often\n", dearer,
	       rounds);
	EXPECT(dearer * 10 <= rounds);
}

/* ---- on the array ---- */

#define P 24u				/* pages of a block */
#define L 3u
#define SMALLEST (P >> L)

/*
 * Block 0 holds page k of a logical block at page k. Updates go to block 1 in the order of arrival;
 * block 2 takes pages that are copied out. Each page's spare area has its version.
 */
static struct test_array t;
static uint64_t now, hits;
static uint32_t version[P], at[P];	/* version: 0: never written; at: place of its valid copy */
static bool used[P];			/* the page of block 0 is programmed */
static uint32_t log_next, out_next;

static enum nand_status run(struct nand_cmd *c)
{
	c->source = NAND_SRC_GC;
	c->ecc_words = NAND_WHOLE_PAGE;
	nand_submit(t.n, now, c, 1);
	now = c->done_ns;
	return c->status;
}

static void write_page(uint32_t ppn, uint32_t k)
{
	uint32_t oob[2] = { k, version[k] };
	struct nand_cmd c = { .op = NAND_PROGRAM, .ppn = { ppn }, .oob = oob };

	if (ppn < P) {
		hits += (uint32_t)__builtin_popcount(dis[ppn / SMALLEST].edges);
		pen_programmed(dis, L, ppn / SMALLEST);
		used[ppn] = true;
	}
	EXPECT_EQ(run(&c), NAND_OK);
	at[k] = ppn;
}

static void erase(uint32_t block, uint32_t pb)
{
	struct nand_cmd c = { .op = NAND_ERASE, .ppn = { block * P }, .pb = pb };

	EXPECT_EQ(run(&c), NAND_OK);
	if (block)
		return;
	pen_erased(dis, L, pb);
	for (uint32_t k = pen_first(L, pb) * SMALLEST, n = pen_span(L, pb) * SMALLEST; n--; k++)
		used[k] = false;
}

/* Returns the number of pages that read wrongly. */
static uint32_t lost_pages(void)
{
	uint32_t lost = 0;

	for (uint32_t k = 0; k < P; k++) {
		uint32_t oob[2];
		struct nand_cmd c = { .op = NAND_READ, .ppn = { at[k] }, .oob = oob };

		if (version[k])
			lost += run(&c) != NAND_OK || oob[0] != k || oob[1] != version[k];
	}
	return lost;
}

static void describe(void)
{
	for (uint32_t s = 0; s < 1u << L; s++)
		pages[s] = (struct pen_pages){ 0 };
	for (uint32_t k = 0; k < P; k++) {
		struct pen_pages *p = &pages[k / SMALLEST];

		p->stale |= used[k] && at[k] != k;
		if (!version[k])
			continue;
		p->refilled = true;
		if (at[k] == k)
			p->valid++;
		else
			p->back++;
	}
}

static void restore(uint32_t pb, const uint32_t *home)
{
	erase(0, pb);
	for (uint32_t k = pen_first(L, pb) * SMALLEST, n = pen_span(L, pb) * SMALLEST; n--; k++)
		if (version[k] && home[k])
			write_page(k, k);
}

static void merge_in_place(const struct pen_model *m)
{
	uint32_t home[P] = { 0 }, out = 0, copies = 0;

	describe();
	pen_plan_make(m, pages, dis, &work, &plan);
	for (uint32_t i = 0; i < plan.count; i++) {
		uint32_t k = pen_first(L, plan.pb[i]) * SMALLEST;

		for (uint32_t n = pen_span(L, plan.pb[i]) * SMALLEST; n--; k++) {
			home[k] = 1;
			if (!version[k] || at[k] != k)
				continue;
			write_page(2 * P + out_next++, k);
			out++;
		}
	}
	EXPECT_EQ(plan.out, out);
	for (uint32_t i = 0; i < plan.count; i++)
		restore(plan.pb[i], home);
	for (uint32_t k = 0; k < P; k++) {
		copies += home[k] && version[k];
		if (version[k] && at[k] != k && m->tolerance < 255)
			copies++;
		if (version[k] && at[k] != k)
			write_page(k, k);
	}
	if (m->tolerance < 255)
		EXPECT_EQ(plan.copies, copies + out);
}

static void host_write(uint64_t *s, uint32_t tolerance)
{
	uint32_t k = (uint32_t)(rnd(s) % P);

	version[k]++;
	if (!used[k] && pen_safe(dis, L, k / SMALLEST, tolerance))
		write_page(k, k);
	else
		write_page(P + log_next++, k);
}

static void array_make(uint32_t tolerance, uint64_t seed)
{
	struct nand_array_config c = {
		.geo = { .channels = 1, .chips_per_channel = 1, .dies_per_chip = 1, .planes_per_die = 1,
			 .blocks_per_plane = 4, .pages_per_block = P, .page_bytes = 512, .oob_bytes = 16,
			 .oob_kept = 8, .ecc_word_bytes = 512, .pb_levels = L, .erase_group_max = 1,
			 .bits_per_cell = 1, .order = NAND_ORDER_NONE },
		.timing = { .read_ns = { 70 }, .program_ns = { 900 },
			    .erase_ns = { 10000, 9950, 9790, 9620 } },
		.physics = { .seed = seed, .disturb_tolerance = tolerance } };

	test_array_make(&t, &c);
	now = hits = 0;
	log_next = out_next = 0;
	memset(version, 0, sizeof(version));
	memset(used, 0, sizeof(used));
	memset(dis, 0, sizeof(dis));
}

/* Simulate a logical block; returns the number of pages that it lost. */
static uint64_t a_life(uint64_t seed, uint32_t tolerance, bool careful)
{
	struct pen_model m = { .levels = L, .tolerance = careful ? tolerance : 255,
			       .copy_cost = 970, .erase_cost = { 10000, 9950, 9790, 9620 } };
	struct nand_stats st;
	uint64_t lost = 0;

	array_make(tolerance, seed);
	for (uint32_t merges = 0; merges < 12; merges++) {
		uint32_t writes = 1 + (uint32_t)(rnd(&seed) % P);

		while (writes-- && log_next < P)
			host_write(&seed, m.tolerance);
		merge_in_place(&m);
		lost += lost_pages();
		erase(1, 1);
		erase(2, 1);
		log_next = out_next = 0;
		for (uint32_t s = 0; careful && s < 1u << L; s++)
			EXPECT(pen_safe(dis, L, s, tolerance));
	}
	t.n->ops->get_stats(t.n, &st);
	EXPECT_EQ(st.disturbs, hits);
	for (uint32_t r = 0; r < NAND_NRULES; r++)
		EXPECT_EQ(st.violations[r], 0);
	test_array_free(&t);
	return lost;
}

static void lives(bool careful, uint32_t tolerances, uint64_t *lost)
{
	for (uint32_t i = 0; i < (rounds + 9) / 10; i++) {
		int before = failures;
		uint64_t n = a_life(seed0 + i, (seed0 + i) % tolerances, careful);

		*lost += n;
		if ((careful && n) || failures != before) {
			printf("life: %" PRIu64 " pages lost: test_pen_plan -n 1 -s %" PRIu64 "\n", n,
			       seed0 + i);
			failures++;
			return;
		}
	}
}

static void plans_lose_nothing(void)
{
	uint64_t lost = 0;

	lives(true, 4, &lost);
	EXPECT_EQ(lost, 0);
}

/* The same simulations lose pages with plans that ignore disturbance. */
static void careless_plans_lose_pages(void)
{
	uint64_t lost = 0;

	lives(false, 2, &lost);
	printf("# %" PRIu64 " pages lost where disturbance is ignored\n", lost);
	EXPECT(lost > 0 || rounds < 100);
}

int main(int argc, char **argv)
{
	test_rounds(argc, argv, &rounds, &seed0);
	RUN(numbers_of_partial_blocks);
	RUN(figure_10);
	RUN(figure_11);
	RUN(nothing_to_do);
	RUN(no_tolerance);
	RUN(edges_that_stay);
	RUN(all_plans_of_small_trees);
	RUN(plans_lose_nothing);
	RUN(careless_plans_lose_pages);
	return test_result();
}
