// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sb_plan.c - which blocks the Superblock FTL's GC empties, by which method, and at what cost.
 * These functions do not change the drive's state; sb_gc.c does.
 *
 * Merge of a group (its cost is SUPERBLOCK-MERGE-COST in PEN's Algorithm 3): a block's valid pages
 * are copied to the group's free pages, or to a new block, and it is erased. Intra-group GC does this
 * once, inter-group GC until enough blocks are free. The block with the fewest valid pages that fits
 * into the others' free pages is taken first; if no block fits, the one with the fewest valid pages
 * among those with stale pages. So each round removes a block or some stale pages; if it can remove
 * neither, the group has no more blocks than its valid pages need.
 *
 * M-Merge (Algorithm 3). The emptiest blocks, as many as must go, are the U-set; the others
 * are the D-set. Each D-block is planned by itself (pen_plan.h). A page has no fixed place in a
 * group, so `back` is 0. A restored PB gets back as many pages as were copied out of it, and has
 * room for one page of the U-set for each of its stale pages. Pages are copied out to free pages of
 * the U-set, and to a new block if these are too few. The paper restores every PB that has a stale
 * page. To restore a PB for a page or two costs more than it gains. So several plans are made, each
 * with another minimum of stale pages for a smallest PB to be restored (a minimum of 1 is the paper's
 * plan), and the cheapest plan with room for the U-set's valid pages is taken.
 *
 * After intra-group GC the group has free pages, after an M-Merge more of them, so the costs per free
 * page are compared there. W limits both kinds of GC.
 *
 * Page mapping. Pages are not copied back, so the cost of a PB is one copy of each valid page and
 * the erase, and the gain is its stale pages. Candidates are the block with most stale pages, and
 * the PBs of the SB_CANDIDATES blocks at the top of the heap; the one with the lowest cost per page
 * gained is taken. A PB is not a candidate if its pages do not fit into the free pages at hand (a
 * new block for them would have to come from the reserve, and a partial erase frees no block), if a
 * neighbour would be disturbed beyond the tolerance, or after W partial erases of its block.
 */
#include "sb_plan.h"
#include "sb_state.h"
#include "superblock.h"

#define SB_CANDIDATES 7u		/* the heap's first three levels */

uint32_t sb_emptiest(const struct direct *d, uint32_t plane, uint32_t group)
{
	const struct sb *s = sb_of(d);
	uint32_t best = DIRECT_NONE;

	for (uint32_t i = 0; i < s->slots; i++) {
		uint32_t b = sb_slot_block(d, plane, group, i);

		if (b == DIRECT_NONE || s->block[b].state == SB_VICTIM)
			continue;
		if (best == DIRECT_NONE || s->block[b].valid < s->block[best].valid)
			best = b;
	}
	return best;
}

/*
 * A block that fits into the others' free pages is better than one that does not; then a hot block, or
 * one without valid pages, than a cold one; otherwise the one with fewer valid pages is better.
 */
static bool better_victim(const struct sb_count *c, const struct sb_count *best, uint32_t room)
{
	bool fits = c->valid <= room - c->free, best_fits = best->valid <= room - best->free;

	bool cold = c->cold && c->valid, best_cold = best->cold && best->valid;

	if (fits != best_fits)
		return fits;
	return cold != best_cold ? best_cold : c->valid < best->valid;
}

/*
 * Returns the index of the best victim, or n if no block has stale pages or none fits: collecting
 * it would win nothing.
 */
static uint32_t best_victim(const struct sb_count *c, uint32_t n, uint32_t room)
{
	uint32_t best = n;

	for (uint32_t i = 0; i < n; i++) {
		if (c[i].block == DIRECT_NONE || (!c[i].stale && c[i].valid > room - c[i].free))
			continue;
		if (best == n || better_victim(&c[i], &c[best], room))
			best = i;
	}
	return best;
}

/* Count the group's blocks that are not VICTIM, in s->count. */
static uint32_t count_blocks(const struct direct *d, uint32_t plane, uint32_t group)
{
	const struct sb *s = sb_of(d);
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->slots; i++) {
		uint32_t b = sb_slot_block(d, plane, group, i);

		if (b != DIRECT_NONE && s->block[b].state != SB_VICTIM)
			s->count[n++] = (struct sb_count){ b, s->block[b].valid, s->block[b].free,
							   sb_stale(d, b), s->block[b].cold };
	}
	return n;
}

uint32_t sb_victim(const struct direct *d, uint32_t plane, uint32_t group)
{
	const struct sb *s = sb_of(d);
	uint32_t n = count_blocks(d, plane, group);
	uint32_t i = best_victim(s->count, n, sb_group_at(s, plane, group)->free);

	return i < n ? s->count[i].block : DIRECT_NONE;
}

bool sb_fits(const struct direct *d, uint32_t plane, uint32_t group)
{
	const struct sb *s = sb_of(d);
	uint32_t room = sb_group_at(s, plane, group)->free, n = count_blocks(d, plane, group);

	for (uint32_t i = 0; i < n; i++)
		if (s->count[i].valid <= room - s->count[i].free)
			return true;
	return false;
}

/* ---- page mapping ---------------------------------------------------------------- */

struct choice {
	uint32_t block, pb;
	uint64_t cost;
	uint32_t won;			/* pages won */
};

/* Take a candidate that costs strictly less per page won, so that the first of equals stays. */
static void consider(struct choice *best, uint32_t block, uint32_t pb, uint64_t cost, uint32_t won)
{
	if (won && cost * best->won < best->cost * won)
		*best = (struct choice){ block, pb, cost, won };
}

/* Count the valid and stale pages of each smallest PB. */
static void count_pages(const struct direct *d, uint32_t block)
{
	const struct sb *s = sb_of(d);

	for (uint32_t i = 0; i < 1u << s->levels; i++) {
		uint32_t ppn = direct_ppn(d, block, i * s->pb_pages);

		s->pages[i] = (struct pen_pages){ 0 };
		for (uint32_t k = 0; k < s->pb_pages; k++) {
			uint32_t back = sb_back_get(s, ppn + k);

			s->pages[i].valid += sb_is_valid(s, back);
			s->pages[i].back += back == s->stale_mark;	/* counts stale pages until the plan is made */
		}
	}
}

static bool neighbours_bear_it(const struct sb *s, uint32_t block, uint32_t pb)
{
	uint32_t first = pen_first(s->levels, pb), last = first + pen_span(s->levels, pb) - 1;
	uint32_t t = s->model.tolerance;

	memcpy(s->work->after, sb_dis(s, block), sizeof(*s->dis) << s->levels);
	pen_erased(s->work->after, s->levels, pb);
	return (!first || pen_safe(s->work->after, s->levels, first - 1, t)) &&
	       (last + 1 == 1u << s->levels || pen_safe(s->work->after, s->levels, last + 1, t)) &&
	       pen_safe(s->work->after, s->levels, first, t) &&
	       pen_safe(s->work->after, s->levels, last, t);
}

static void consider_pbs(const struct direct *d, uint32_t block, uint32_t room,
			 struct choice *best)
{
	const struct sb *s = sb_of(d);

	count_pages(d, block);
	for (uint32_t pb = 2; pb < 2u << s->levels; pb++) {
		uint32_t first = pen_first(s->levels, pb), span = pen_span(s->levels, pb);
		uint32_t level = 31u - (uint32_t)__builtin_clz(pb), valid = 0, stale = 0;

		for (uint32_t i = first; i < first + span; i++) {
			valid += s->pages[i].valid;
			stale += s->pages[i].back;
		}
		if (valid <= room && stale && neighbours_bear_it(s, block, pb))
			consider(best, block, pb,
				 s->model.erase_cost[level] + valid * s->model.copy_cost, stale);
	}
}

bool sb_plan_page_mapping(struct direct *d, uint32_t plane, uint32_t *block, uint32_t *pb)
{
	const struct sb *s = sb_of(d);
	const struct sb_plane *p = &s->plane[plane];
	uint32_t free = sb_group_at(s, plane, 0)->free;
	bool pen = d->host.c.pen;
	struct choice best;

	if (!p->heaped || !sb_stale(d, p->heap[0]))
		return false;
	best.block = p->heap[0];
	best.pb = NAND_WHOLE_BLOCK;
	best.won = sb_stale(d, best.block);
	best.cost = s->model.erase_cost[0] + s->block[best.block].valid * s->model.copy_cost;
	if (d->pool.plane[plane].free_count < d->host.c.gc_urgent_blocks)
		pen = false;		/* the caller asked for an erase of whole blocks */
	for (uint32_t i = 0; pen && i < SB_CANDIDATES && i < p->heaped; i++) {
		const struct sb_block *b = &s->block[p->heap[i]];

		if (sb_may_split(d, p->heap[i]) && b->partials < d->host.c.pen_merges_max)
			consider_pbs(d, p->heap[i], free - b->free, &best);
	}
	*block = best.block;
	*pb = best.pb;
	return true;
}

/* ---- groups: merge ------------------------------------------------------------------ */

struct outcome {
	uint64_t cost;
	uint64_t free;			/* free pages of the group afterwards, including those of erased blocks */
};

/*
 * Compute the copies and erases that it takes to empty victims until the group has lost `must_go` blocks,
 * or one victim in intra-group GC.
 */
static struct outcome merge_outcome(const struct direct *d, uint32_t plane, uint32_t must_go)
{
	const struct sb *s = sb_of(d);
	uint32_t group = s->plane[plane].gc.group, pages = d->g->pages_per_block;
	uint32_t room = sb_group_at(s, plane, group)->free, n = count_blocks(d, plane, group);
	uint32_t left = n, i;
	struct outcome o = { 0, 0 };

	while (left > n - must_go && (i = best_victim(s->count, n, room)) < n) {
		struct sb_count *c = &s->count[i];

		room -= c->free;
		for (; room < c->valid; room += pages)
			left++;			/* a new target block: all targets but the last are full */
		room -= c->valid;
		left--;
		o.cost += s->model.erase_cost[0] + c->valid * s->model.copy_cost;
		c->block = DIRECT_NONE;
		if (!s->plane[plane].gc.compact)
			break;
	}
	o.free = room + (uint64_t)(n > left ? n - left : 0) * pages;
	return o;
}

/* ---- groups: M-Merge ------------------------------------------------------------------ */

/* Close the emptiest blocks and make them GC's victims. */
static uint32_t choose_u_set(struct direct *d, uint32_t plane, uint32_t must_go)
{
	struct sb_gc *gc = &sb_of(d)->plane[plane].gc;
	uint32_t valid = 0;

	gc->victims = 0;
	while (gc->victims < must_go) {
		uint32_t b = sb_emptiest(d, plane, gc->group);

		gc->victim[gc->victims++] = b;
		valid += sb_of(d)->block[b].valid;
		sb_close(d, b);
	}
	return valid;
}

static void undo_u_set(struct direct *d, uint32_t plane)
{
	struct sb_gc *gc = &sb_of(d)->plane[plane].gc;

	for (uint32_t i = 0; i < gc->victims; i++)
		sb_reopen(d, gc->victim[i]);
	gc->victims = 0;
}

/* Plan the restoration of the smallest PBs with `worth` stale pages or more, and count what it wins. */
static uint32_t plan_block(const struct direct *d, uint32_t block, uint32_t worth,
			   struct pen_plan *plan)
{
	const struct sb *s = sb_of(d);
	uint32_t won = 0;

	count_pages(d, block);
	for (uint32_t i = 0; i < 1u << s->levels; i++) {
		s->pages[i].stale = s->pages[i].back >= worth;
		s->pages[i].back = 0;
	}
	pen_plan_make(&s->model, s->pages, sb_dis(s, block), s->work, plan);
	count_pages(d, block);
	for (uint32_t i = 0; i < plan->count; i++) {
		uint32_t first = pen_first(s->levels, plan->pb[i]);

		for (uint32_t k = 0; k < pen_span(s->levels, plan->pb[i]); k++)
			won += s->pages[first + k].back;
	}
	return won;
}

/* Plan all D-blocks; the plans go to gc's plans. Returns false if they cannot be carried out. */
static bool plan_all(struct direct *d, uint32_t plane, uint32_t worth, uint32_t moved,
		     struct outcome *o)
{
	struct sb *s = sb_of(d);
	struct sb_gc *gc = &s->plane[plane].gc;
	const struct sb_group *g = sb_group_at(s, plane, gc->group);
	uint32_t room = g->free, out = 0, spare = 0;

	for (uint32_t i = 0; i < gc->victims; i++)
		spare += s->block[gc->victim[i]].free;
	o->cost = moved * s->model.copy_cost + gc->victims * s->model.erase_cost[0];
	gc->plans = 0;
	for (uint32_t i = 0; i < s->slots; i++) {
		uint32_t b = sb_slot_block(d, plane, gc->group, i);
		struct pen_plan *plan = &gc->plan[gc->plans];

		if (b == DIRECT_NONE || s->block[b].state == SB_VICTIM || !sb_may_split(d, b))
			continue;
		room += plan_block(d, b, worth, plan);
		if (!plan->count)
			continue;
		o->cost += plan->cost;
		out += plan->out;
		gc->plan_block[gc->plans++] = b;
	}
	if (out > spare)	/* a new block takes the rest */
		o->cost += s->model.erase_cost[0];
	o->free = room - moved + (uint64_t)gc->victims * d->g->pages_per_block;
	return gc->plans && room >= moved && out <= spare + d->g->pages_per_block;
}

static bool cheaper(const struct sb_gc *gc, const struct outcome *mm, const struct outcome *merge)
{
	if (gc->compact)
		return mm->cost < merge->cost;
	return mm->cost * merge->free < merge->cost * mm->free;
}

bool sb_plan_mmerge(struct direct *d, uint32_t plane, uint32_t must_go)
{
	struct sb *s = sb_of(d);
	struct sb_gc *gc = &s->plane[plane].gc;
	struct outcome merge = merge_outcome(d, plane, must_go), mm, best = { PEN_NO_PLAN, 0 };
	uint32_t moved = choose_u_set(d, plane, must_go), best_worth = 0;

	for (uint32_t worth = s->pb_pages; worth; worth /= 2) {
		if (!plan_all(d, plane, worth, moved, &mm) || mm.cost >= best.cost)
			continue;
		best = mm;
		best_worth = worth;
	}
	if (best_worth && cheaper(gc, &best, &merge)) {
		(void)plan_all(d, plane, best_worth, moved, &mm);
		return true;
	}
	gc->plans = 0;
	undo_u_set(d, plane);
	return false;
}
