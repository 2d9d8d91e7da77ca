// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pen_plan.c - the M-Merge planner. It knows PBs, costs and disturbance. It does not know where
 * pages are copied to, mappings, or time.
 *
 * Each iteration of the loop has four steps:
 *   price     cost[pb] = min(restore(pb), cost[2pb] + cost[2pb + 1]), leaves first
 *             (equation 1); a PB that need not be restored costs only its `back` pages;
 *   choose    walk down from the root to the PBs at which the minimum was taken;
 *   try_out   erase and refill them on a copy of the disturbance counts, in the order of
 *             execution, as the array would;
 *   require   each smallest PB that is disturbed beyond the tolerance must be restored too. If it
 *             is restored already, the PB that was chosen for it is banned, so that a larger one is
 *             chosen instead (neighbours restored one after the other disturb each other once,
 *             which is too often for a tolerance of 0).
 * The loop ends, because flags are never removed, and if all PBs except the block are banned, no PB
 * is disturbed.
 *
 * If it is unknown whether an edge is programmed during the plan (pen_pages.refilled is false), it
 * is assumed to be programmed after it. This is the worst case, because an erase would remove an
 * earlier disturbance.
 */
#include "pen_plan.h"

#define NEEDED 1u	/* a smallest PB that must be restored, or a larger PB that contains one */
#define BANNED 2u	/* may not be restored by itself */
#define SPLIT 4u	/* restoring its halves costs less */
#define CHOSEN 8u

uint32_t pen_first(uint32_t levels, uint32_t pb)
{
	while (pb < 1u << levels)
		pb *= 2;
	return pb - (1u << levels);
}

static uint32_t level_of(uint32_t pb)
{
	return 31u - (uint32_t)__builtin_clz(pb);
}

uint32_t pen_span(uint32_t levels, uint32_t pb)
{
	return 1u << (levels - level_of(pb));
}

void pen_erased(struct pen_dis *dis, uint32_t levels, uint32_t pb)
{
	uint32_t low = pen_first(levels, pb), span = pen_span(levels, pb), high = low + span - 1;

	for (uint32_t s = low; s <= high; s++)
		dis[s] = (struct pen_dis){ 0, 0 };
	if (low > 0)
		dis[low].edges |= PEN_EDGE_BELOW;
	if (high < (1u << levels) - 1)
		dis[high].edges |= PEN_EDGE_ABOVE;
}

static void disturb(struct pen_dis *d)
{
	if (d->disturbs < 255)
		d->disturbs++;
}

void pen_programmed(struct pen_dis *dis, uint32_t levels, uint32_t s)
{
	SSD_ASSERT(s < 1u << levels);
	if (dis[s].edges & PEN_EDGE_BELOW)
		disturb(&dis[s - 1]);
	if (dis[s].edges & PEN_EDGE_ABOVE)
		disturb(&dis[s + 1]);
	dis[s].edges = 0;
}

/* Returns the number of neighbouring edges that will disturb s. */
static uint32_t edges_towards(const struct pen_dis *dis, uint32_t levels, uint32_t s)
{
	uint32_t n = 0;

	if (s > 0 && dis[s - 1].edges & PEN_EDGE_ABOVE)
		n++;
	if (s < (1u << levels) - 1 && dis[s + 1].edges & PEN_EDGE_BELOW)
		n++;
	return n;
}

bool pen_safe(const struct pen_dis *dis, uint32_t levels, uint32_t s, uint32_t tolerance)
{
	uint32_t coming = edges_towards(dis, levels, s);

	return tolerance == 255 || !coming || dis[s].disturbs + coming <= tolerance;
}

static uint64_t restore_cost(const struct pen_model *m, const struct pen_work *w, uint32_t pb)
{
	return m->erase_cost[level_of(pb)] + m->copy_cost * (2ull * w->valid[pb] + w->back[pb]);
}

static void sum_up(const struct pen_model *m, const struct pen_pages *pages, struct pen_work *w)
{
	uint32_t leaves = 1u << m->levels;

	for (uint32_t s = 0; s < leaves; s++) {
		w->valid[leaves + s] = pages[s].valid;
		w->back[leaves + s] = pages[s].back;
		w->flags[leaves + s] = pages[s].stale ? NEEDED : 0;
	}
	for (uint32_t pb = leaves - 1; pb >= 1; pb--) {
		w->valid[pb] = w->valid[2 * pb] + w->valid[2 * pb + 1];
		w->back[pb] = w->back[2 * pb] + w->back[2 * pb + 1];
		w->flags[pb] = 0;
	}
}

static void price(const struct pen_model *m, struct pen_work *w)
{
	uint32_t leaves = 1u << m->levels;

	for (uint32_t pb = 2 * leaves - 1; pb >= 1; pb--) {
		uint64_t halves = PEN_NO_PLAN;

		w->flags[pb] &= (uint8_t)~(SPLIT | CHOSEN);
		if (pb < leaves) {
			uint64_t low = w->cost[2 * pb], high = w->cost[2 * pb + 1];

			w->flags[pb] |= (w->flags[2 * pb] | w->flags[2 * pb + 1]) & NEEDED;
			halves = low == PEN_NO_PLAN || high == PEN_NO_PLAN ? PEN_NO_PLAN : low + high;
		}
		if (!(w->flags[pb] & NEEDED))
			w->cost[pb] = m->copy_cost * w->back[pb];
		else if (w->flags[pb] & BANNED)
			w->cost[pb] = PEN_NO_PLAN;
		else
			w->cost[pb] = restore_cost(m, w, pb);
		if (halves < w->cost[pb]) {
			w->cost[pb] = halves;
			w->flags[pb] |= SPLIT;
		}
	}
}

static void choose(const struct pen_model *m, struct pen_work *w, struct pen_plan *plan)
{
	uint32_t end = 2u << m->levels;

	plan->cost = w->cost[1];
	plan->count = plan->out = 0;
	w->flags[1] |= CHOSEN;
	for (uint32_t pb = 1; pb < end; pb++) {
		if (!(w->flags[pb] & CHOSEN))
			continue;
		if (w->flags[pb] & SPLIT) {
			w->flags[pb] &= (uint8_t)~CHOSEN;
			w->flags[2 * pb] |= CHOSEN;
			w->flags[2 * pb + 1] |= CHOSEN;
		} else if (w->flags[pb] & NEEDED) {
			plan->pb[plan->count++] = (uint16_t)pb;
			plan->out += w->valid[pb];
		} else {
			w->flags[pb] &= (uint8_t)~CHOSEN;
		}
	}
	plan->copies = 2 * plan->out + w->back[1];
}

static void try_out(const struct pen_model *m, const struct pen_pages *pages,
		    const struct pen_dis *dis, struct pen_work *w, const struct pen_plan *plan)
{
	memcpy(w->after, dis, sizeof(*dis) << m->levels);
	for (uint32_t i = 0; i < plan->count; i++) {
		uint32_t first = pen_first(m->levels, plan->pb[i]);
		uint32_t span = pen_span(m->levels, plan->pb[i]);

		pen_erased(w->after, m->levels, plan->pb[i]);
		for (uint32_t s = first; s < first + span; s++)
			if (pages[s].refilled)
				pen_programmed(w->after, m->levels, s);
	}
}

/* Returns the PB of the plan that contains smallest PB s, or 0. */
static uint32_t chosen_for(const struct pen_model *m, const struct pen_work *w, uint32_t s)
{
	uint32_t pb = (1u << m->levels) + s;

	while (pb && !(w->flags[pb] & CHOSEN))
		pb /= 2;
	return pb;
}

/*
 * Has smallest PB s been disturbed, or may it yet be disturbed, more often than the tolerance
 * allows?
 */
static bool corrupted(const struct pen_model *m, const struct pen_dis *dis,
		      const struct pen_work *w, uint32_t s, bool restored)
{
	uint32_t coming = edges_towards(w->after, m->levels, s);
	bool hit = restored ? w->after[s].disturbs > 0 : w->after[s].disturbs > dis[s].disturbs;

	return (hit || coming) && w->after[s].disturbs + coming > m->tolerance;
}

static bool require_disturbed(const struct pen_model *m, const struct pen_dis *dis, struct pen_work *w)
{
	uint32_t leaves = 1u << m->levels;
	bool any = false;

	for (uint32_t s = 0; s < leaves; s++) {
		uint32_t pb = chosen_for(m, w, s);

		if (!corrupted(m, dis, w, s, pb != 0))
			continue;
		if (pb)
			w->flags[pb] |= BANNED;
		else
			w->flags[leaves + s] |= NEEDED;
		any = true;
	}
	return any;
}

void pen_plan_make(const struct pen_model *m, const struct pen_pages *pages,
		   const struct pen_dis *dis, struct pen_work *w, struct pen_plan *plan)
{
	SSD_ASSERT(m->levels <= NAND_PB_LEVELS_MAX);
	sum_up(m, pages, w);
	do {
		price(m, w);
		choose(m, w, plan);
		if (m->tolerance == 255 || !plan->count)
			return;
		try_out(m, pages, dis, w, plan);
	} while (require_disturbed(m, dis, w));
}
