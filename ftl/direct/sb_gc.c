// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sb_gc.c - the Superblock FTL's GC: which collection is due, and its steps, one NAND operation
 * after another (direct.h). The map is correct between any two steps, so a collection may end after
 * any of them: its blocks are then reopened, and the remaining work is found again later.
 *
 * The first of these collections is due:
 *   1  a failing block is emptied and retired;
 *   2  a group of more than N blocks (after a power cut, or because of a failing block) is
 *      compacted;
 *   3  intra-group GC, of a group whose N blocks have no free page left for the host: its
 *      emptiest block is merged ("1 PBMT" in PEN's Table 1: until one block is free);
 *   4  inter-group GC, when fewer than gc_start_blocks are free and until gc_stop_blocks
 *      are: the group with most stale pages, of those with more than M blocks, is compacted
 *      to M. Without such a group GC can free no block, and free blocks are given out down to the
 *      reserve (gc_urgent_blocks).
 * With page mapping 2 and 3 do not occur, and 4 takes the block, or the partial block, that
 * sb_plan_page_mapping() chooses; free blocks are then counted in pages.
 *
 * Stages. A merge passes MOVE -> WIPE -> NEXT, repeatedly while a group to compact has too many
 * blocks. An M-Merge begins with further stages: OUT -> RESTORE -> FILL -> RESTORE ... -> MOVE.
 * While a group is collected, the host's writes to it wait. With page mapping they continue, but
 * only GC takes blocks from the reserve.
 */
#include "direct_ops.h"
#include "sb_gc.h"
#include "sb_plan.h"
#include "sb_state.h"
#include "superblock.h"

/* ---- which collection is due --------------------------------------------------------- */

static uint64_t free_pages(const struct direct *d, uint32_t plane)
{
	const struct sb *s = sb_of(d);
	uint64_t pages = (uint64_t)d->pool.plane[plane].free_count * d->g->pages_per_block;

	return pages + (sb_page_mapped(s) ? sb_group_at(s, plane, 0)->free : 0);
}

static bool few_free(const struct direct *d, uint32_t plane)
{
	const struct sb_plane *p = &sb_of(d)->plane[plane];
	uint32_t want = p->collecting ? d->host.c.gc_stop_blocks : d->host.c.gc_start_blocks;

	return free_pages(d, plane) < (uint64_t)want * d->g->pages_per_block;
}

static bool may_win(const struct direct *d, uint32_t plane)
{
	const struct sb_plane *p = &sb_of(d)->plane[plane];

	return p->heaped && (!sb_page_mapped(sb_of(d)) || sb_stale(d, p->heap[0]));
}

bool sb_reserve_due(const struct direct *d, uint32_t plane)
{
	return d->pool.plane[plane].free_count < d->host.c.gc_urgent_blocks && few_free(d, plane) &&
	       may_win(d, plane);
}

/*
 * Was a group refused a page, and does it still have no page for the host, although it has as many
 * blocks as it may have? A COLD block's free pages are for GC, while another block's valid pages fit
 * there: then GC frees that block for the host.
 */
bool sb_intra_due(const struct direct *d, uint32_t plane)
{
	const struct sb *s = sb_of(d);
	uint32_t group = s->plane[plane].asked;
	const struct sb_group *g;

	if (group == DIRECT_NONE)
		return false;
	g = sb_group_at(s, plane, group);
	if (g->blocks < s->n)
		return false;
	if (g->cold == DIRECT_NONE)
		return !g->free;
	return g->free == s->block[g->cold].free && sb_fits(d, plane, group);
}

bool sb_wants_gc(const struct direct *d, uint32_t plane)
{
	const struct sb_plane *p = &sb_of(d)->plane[plane];

	return p->gc.stage != SB_GC_IDLE || p->failing || p->oversize || sb_intra_due(d, plane) ||
	       ((few_free(d, plane) || direct_ordered(d, plane)) && may_win(d, plane));
}

/* ---- beginning a collection ----------------------------------------------------------- */

static uint32_t group_max(const struct direct *d)
{
	return d->host.c.parallel_erase ? d->g->erase_group_max : 1;
}

static void move_begin(struct sb_gc *gc)
{
	gc->stage = SB_GC_MOVE;
	gc->at = gc->cursor = 0;
}

static void add_victim(struct direct *d, struct sb_gc *gc, uint32_t block)
{
	gc->victim[gc->victims++] = block;
	sb_close(d, block);
}

/*
 * Choose another victim if the pages of all victims fit into the free pages and new blocks. A group
 * may take one new block, because its slots are few. Page mapping may take all free blocks but the
 * last, which is kept for recovery from a power cut.
 */
static uint32_t second_victim(const struct direct *d, uint32_t plane, const struct sb_gc *gc)
{
	const struct sb *s = sb_of(d);
	const struct sb_plane *p = &s->plane[plane];
	uint32_t best = DIRECT_NONE, blocks = 1;
	uint64_t room, valid = 0;

	if (sb_page_mapped(s) && d->pool.plane[plane].free_count > 2)
		blocks = d->pool.plane[plane].free_count - 1;
	if (!sb_page_mapped(s))
		best = sb_victim(d, plane, gc->group);
	else if (p->heaped && sb_stale(d, p->heap[0]))
		best = p->heap[0];
	if (best == DIRECT_NONE || s->block[best].valid > d->host.c.second_victim_pages)
		return DIRECT_NONE;
	for (uint32_t i = 0; i < gc->victims; i++)
		valid += s->block[gc->victim[i]].valid;
	if (valid + s->block[best].valid > d->host.c.pair_pages)
		return DIRECT_NONE;
	room = sb_group_at(s, plane, gc->group)->free - s->block[best].free +
	       (uint64_t)blocks * d->g->pages_per_block;
	return valid + s->block[best].valid <= room ? best : DIRECT_NONE;
}

/* Begin a merge of whole blocks, of which `may_go` may be erased at once. */
static void merge_begin(struct direct *d, uint32_t plane, uint32_t block, uint32_t may_go)
{
	struct sb_gc *gc = &sb_of(d)->plane[plane].gc;

	gc->victims = 0;
	gc->pb = NAND_WHOLE_BLOCK;
	add_victim(d, gc, block);
	while (gc->victims < group_max(d) && gc->victims < may_go) {
		uint32_t next = second_victim(d, plane, gc);

		if (next == DIRECT_NONE)
			break;
		add_victim(d, gc, next);
		d->host.stats.second_victims++;
	}
	move_begin(gc);
	d->host.stats.merges++;
}

static void mmerge_begin(struct direct *d, uint32_t plane)
{
	struct sb_gc *gc = &sb_of(d)->plane[plane].gc;

	for (uint32_t i = 0; i < gc->plans; i++)
		sb_close(d, gc->plan_block[i]);
	gc->pb = NAND_WHOLE_BLOCK;
	gc->plan_at = gc->pb_at = gc->cursor = 0;
	gc->stage = SB_GC_OUT;
	sb_group_at(sb_of(d), plane, gc->group)->mmerges++;
	d->host.stats.mmerges++;
}

/* Begin a collection in which the group gives up one block (intra-group GC) or all beyond M. */
static void group_begin(struct direct *d, uint32_t plane)
{
	struct sb *s = sb_of(d);
	struct sb_gc *gc = &s->plane[plane].gc;
	struct sb_group *g = sb_group_at(s, plane, gc->group);
	uint32_t must_go = gc->compact ? g->blocks - s->m : 1, block;

	if (d->host.c.pen && g->mmerges < d->host.c.pen_merges_max && sb_plan_mmerge(d, plane, must_go)) {
		mmerge_begin(d, plane);
		return;
	}
	block = sb_victim(d, plane, gc->group);
	SSD_ASSERT(block != DIRECT_NONE);
	g->mmerges = 0;
	merge_begin(d, plane, block, must_go);
}

static void page_mapping_begin(struct direct *d, uint32_t plane)
{
	struct sb_gc *gc = &sb_of(d)->plane[plane].gc;
	uint32_t block, pb;

	(void)sb_plan_page_mapping(d, plane, &block, &pb);
	if (pb == NAND_WHOLE_BLOCK) {
		merge_begin(d, plane, block, group_max(d));
		return;
	}
	gc->victims = 0;
	gc->pb = pb;
	add_victim(d, gc, block);
	move_begin(gc);
	gc->cursor = pen_first(sb_of(d)->levels, pb) * sb_of(d)->pb_pages;
	d->host.stats.mmerges++;
}

static uint32_t find_failing(const struct direct *d, uint32_t plane)
{
	uint32_t b = direct_first_block(d, plane);

	while (sb_of(d)->block[b].state == SB_NONE || !sb_of(d)->block[b].failing)
		b++;
	return b;
}

static uint32_t find_oversize(const struct direct *d, uint32_t plane)
{
	uint32_t group = 0;

	while (sb_group_at(sb_of(d), plane, group)->blocks <= sb_of(d)->n)
		group++;
	return group;
}

/* Begin the collection that is due. Returns false if there is none. */
static bool gc_begin(struct direct *d, uint32_t plane)
{
	struct sb *s = sb_of(d);
	struct sb_plane *p = &s->plane[plane];
	struct sb_gc *gc = &p->gc;

	gc->compact = false;
	if (p->failing) {
		uint32_t b = find_failing(d, plane);

		gc->group = s->block[b].group;
		merge_begin(d, plane, b, 1);
		return true;
	}
	if (p->oversize || sb_intra_due(d, plane)) {
		gc->compact = p->oversize;
		gc->group = p->oversize ? find_oversize(d, plane) : p->asked;
		group_begin(d, plane);
		return true;
	}
	p->collecting |= few_free(d, plane);
	if ((!few_free(d, plane) && !direct_ordered(d, plane)) || !may_win(d, plane))
		return false;
	if (sb_page_mapped(s)) {
		gc->group = 0;
		page_mapping_begin(d, plane);
		return true;
	}
	gc->compact = true;
	gc->group = p->heap[0];
	group_begin(d, plane);
	return true;
}

/* Reopen the blocks under way; the rest of the work is found again later. */
static void reopen_victims(struct direct *d, uint32_t plane)
{
	struct sb *s = sb_of(d);
	struct sb_gc *gc = &s->plane[plane].gc;

	for (uint32_t i = 0; i < gc->victims; i++)
		sb_reopen(d, gc->victim[i]);
	for (uint32_t i = 0; i < gc->plans; i++)
		if (s->block[gc->plan_block[i]].state == SB_VICTIM)
			sb_reopen(d, gc->plan_block[i]);
	gc->victims = gc->plans = 0;
	gc->stage = SB_GC_IDLE;
}

/* ---- steps ----------------------------------------------------------------------------- */

static void copy(const struct direct *d, struct direct_step *step, uint32_t from, uint32_t to)
{
	const struct sb *s = sb_of(d);
	const struct sb_block *b = &s->block[from / d->g->pages_per_block];

	step->op = DIRECT_COPY;
	step->page = b->group * s->group_pages + sb_back_get(s, from);
	step->from = from;
	step->to = to;
	step->tag = s->block[to / d->g->pages_per_block].partials ? SB_TAG_PARTIAL : 0;
}

/* Find the block's next valid page in [gc->cursor, end): its ppn, or DIRECT_NONE. */
static uint32_t next_valid(const struct direct *d, struct sb_gc *gc, uint32_t block, uint32_t end)
{
	const struct sb *s = sb_of(d);

	for (; gc->cursor < end; gc->cursor++) {
		uint32_t ppn = direct_ppn(d, block, gc->cursor);

		if (sb_is_valid(s, sb_back_get(s, ppn)))
			return ppn;
	}
	return DIRECT_NONE;
}

/* Find the next valid page in all victims. */
static uint32_t next_to_move(const struct direct *d, struct sb_gc *gc)
{
	const struct sb *s = sb_of(d);
	uint32_t end = d->g->pages_per_block;

	if (gc->pb != NAND_WHOLE_BLOCK)
		end = (pen_first(s->levels, gc->pb) + pen_span(s->levels, gc->pb)) * s->pb_pages;
	for (; gc->at < gc->victims; gc->at++, gc->cursor = 0) {
		uint32_t ppn = next_valid(d, gc, gc->victim[gc->at], end);

		if (ppn != DIRECT_NONE)
			return ppn;
	}
	return DIRECT_NONE;
}

/*
 * The result of a stage: a step is ready, the next stage follows, a block must be erased first,
 * there is no room, or there is no work.
 */
enum turn { TURN_STEP, TURN_ON, TURN_PREPARE, TURN_FULL, TURN_NOTHING };

static enum turn turn_of(enum direct_room r)
{
	return r == DIRECT_ERASE ? TURN_PREPARE : TURN_FULL;
}

static enum turn turn_move(struct direct *d, uint32_t plane, struct direct_step *step)
{
	struct sb_gc *gc = &sb_of(d)->plane[plane].gc;
	uint32_t from = next_to_move(d, gc), block;
	enum direct_room room;

	if (from == DIRECT_NONE) {
		gc->stage = SB_GC_WIPE;
		return TURN_ON;
	}
	if (!sb_ready(d, plane, gc->group, true)) {
		room = sb_take(d, plane, gc->group, 0, d->host.c.superblock_cold ? SB_COLD : SB_OPEN, &block);
		if (room != DIRECT_ROOM)
			return turn_of(room);
	}
	copy(d, step, from, sb_place(d, plane, gc->group, true));
	return TURN_STEP;
}

static enum turn turn_wipe(struct direct *d, uint32_t plane, struct direct_step *step)
{
	struct sb_gc *gc = &sb_of(d)->plane[plane].gc;

	if (!gc->victims) {
		gc->stage = SB_GC_NEXT;
		return TURN_ON;
	}
	step->op = DIRECT_WIPE;
	step->count = gc->victims < group_max(d) ? gc->victims : group_max(d);
	for (uint32_t i = 0; i < step->count; i++) {
		step->block[i] = gc->victim[gc->victims - 1 - i];
		step->pb[i] = gc->pb;
	}
	return TURN_STEP;
}

static uint32_t pb_end(const struct sb *s, uint32_t pb)
{
	return (pen_first(s->levels, pb) + pen_span(s->levels, pb)) * s->pb_pages;
}

/* Find the next page to copy out in all plans. */
static uint32_t next_out(const struct direct *d, struct sb_gc *gc)
{
	const struct sb *s = sb_of(d);

	for (; gc->plan_at < gc->plans; gc->plan_at++, gc->pb_at = 0)
		for (; gc->pb_at < gc->plan[gc->plan_at].count; gc->pb_at++, gc->cursor = 0) {
			uint32_t pb = gc->plan[gc->plan_at].pb[gc->pb_at], ppn;
			uint32_t first = pen_first(s->levels, pb) * s->pb_pages;

			if (gc->cursor < first)
				gc->cursor = first;
			ppn = next_valid(d, gc, gc->plan_block[gc->plan_at], pb_end(s, pb));
			if (ppn != DIRECT_NONE)
				return ppn;
		}
	return DIRECT_NONE;
}

/* Use a free page of the victims, which are erased in the end. Returns its ppn, or DIRECT_NONE. */
static uint32_t use_victim(struct direct *d, const struct sb_gc *gc)
{
	for (uint32_t i = 0; i < gc->victims; i++) {
		struct sb_block *b = &sb_of(d)->block[gc->victim[i]];
		uint32_t ppn = b->free ? sb_use(d, gc->victim[i], b->cursor, d->g->pages_per_block) : DIRECT_NONE;

		if (ppn == DIRECT_NONE)
			continue;
		b->cursor = ppn % d->g->pages_per_block + 1;
		return ppn;
	}
	return DIRECT_NONE;
}

static enum turn turn_out(struct direct *d, uint32_t plane, struct direct_step *step)
{
	struct sb_gc *gc = &sb_of(d)->plane[plane].gc;
	uint32_t from = next_out(d, gc), to;
	enum direct_room room;

	if (from == DIRECT_NONE) {
		gc->stage = SB_GC_RESTORE;
		gc->plan_at = gc->pb_at = gc->at = gc->cursor = 0;
		return TURN_ON;
	}
	to = use_victim(d, gc);
	if (to == DIRECT_NONE) {
		uint32_t block;

		room = sb_take(d, plane, gc->group, 0, SB_VICTIM, &block);
		if (room != DIRECT_ROOM)
			return turn_of(room);
		gc->victim[gc->victims++] = block;
		return TURN_ON;
	}
	copy(d, step, from, to);
	return TURN_STEP;
}

static enum turn turn_restore(struct direct *d, uint32_t plane, struct direct_step *step)
{
	struct sb_gc *gc = &sb_of(d)->plane[plane].gc;

	if (gc->plan_at < gc->plans && gc->pb_at == gc->plan[gc->plan_at].count) {
		sb_reopen(d, gc->plan_block[gc->plan_at++]);
		gc->pb_at = 0;
	}
	if (gc->plan_at == gc->plans) {
		gc->plans = 0;
		move_begin(gc);
		return TURN_ON;
	}
	step->op = DIRECT_WIPE;
	step->count = 1;
	step->block[0] = gc->plan_block[gc->plan_at];
	step->pb[0] = gc->plan[gc->plan_at].pb[gc->pb_at];
	return TURN_STEP;
}

static enum turn turn_fill(struct direct *d, uint32_t plane, struct direct_step *step)
{
	struct sb *s = sb_of(d);
	struct sb_gc *gc = &s->plane[plane].gc;
	uint32_t pb = gc->plan[gc->plan_at].pb[gc->pb_at], from = next_to_move(d, gc);
	uint32_t first = pen_first(s->levels, pb) * s->pb_pages, to = DIRECT_NONE;

	if (from != DIRECT_NONE)
		to = sb_use(d, gc->plan_block[gc->plan_at], first, pb_end(s, pb));
	if (to == DIRECT_NONE) {
		gc->stage = SB_GC_RESTORE;
		gc->pb_at++;
		return TURN_ON;
	}
	copy(d, step, from, to);
	return TURN_STEP;
}

/* ---- the generator --------------------------------------------------------------------- */

static enum turn turn(struct direct *d, uint32_t plane, struct direct_step *step)
{
	struct sb *s = sb_of(d);
	struct sb_gc *gc = &s->plane[plane].gc;

	switch (gc->stage) {
	case SB_GC_IDLE:
		return gc_begin(d, plane) ? TURN_ON : TURN_NOTHING;
	case SB_GC_OUT:
		return turn_out(d, plane, step);
	case SB_GC_RESTORE:
		return turn_restore(d, plane, step);
	case SB_GC_FILL:
		return turn_fill(d, plane, step);
	case SB_GC_MOVE:
		return turn_move(d, plane, step);
	case SB_GC_WIPE:
		return turn_wipe(d, plane, step);
	case SB_GC_NEXT:
		gc->ended = !gc->compact || sb_group_at(s, plane, gc->group)->blocks <= s->m;
		gc->stage = SB_GC_IDLE;
		if (!gc->ended)
			group_begin(d, plane);
		return TURN_ON;
	}
	SSD_ASSERT(!"unknown stage of GC");
	return TURN_FULL;
}

enum direct_next sb_gc_next(struct direct *d, uint32_t plane, struct direct_step *step)
{
	struct sb_plane *p = &sb_of(d)->plane[plane];

	p->gc.ended = false;
	for (;;) {
		switch (turn(d, plane, step)) {
		case TURN_STEP:
			return DIRECT_STEP;
		case TURN_ON:
			if (!p->gc.ended)
				continue;
			p->collecting &= few_free(d, plane);
			return DIRECT_DONE;
		case TURN_PREPARE:
			return DIRECT_PREPARE;
		case TURN_FULL:
			reopen_victims(d, plane);
			return DIRECT_STUCK;
		case TURN_NOTHING:
			return DIRECT_NOTHING;	/* the host made the victim its open block */
		}
	}
}

/*
 * A failed block stops an M-Merge, because it must be emptied first. A plan may have been carried
 * out in part; it is then the plan of this block. The block is not programmed again, so its edges
 * disturb no PB.
 */
static void block_failed(struct direct *d, uint32_t plane, uint32_t block)
{
	struct sb_gc *gc = &sb_of(d)->plane[plane].gc;

	sb_failing(d, block);
	if (gc->plans)
		reopen_victims(d, plane);
}

static void copied(struct direct *d, uint32_t plane, const struct direct_step *step)
{
	if (step->failed)
		block_failed(d, plane, step->to / d->g->pages_per_block);
	else
		sb_map_set(d, plane, step->page, step->to);
}

static void gone(struct direct *d, uint32_t block, bool failed)
{
	bool bad = failed || sb_of(d)->block[block].failing;

	sb_drop(d, block);
	if (bad)
		direct_put_bad(d, block);
	else
		pool_put_free(&d->pool, block, false);
}

static void restored(struct direct *d, uint32_t plane, uint32_t block, uint32_t pb, bool failed)
{
	if (failed) {
		block_failed(d, plane, block);
		return;
	}
	sb_erased(d, block, pb);
	if (sb_of(d)->plane[plane].gc.stage == SB_GC_RESTORE)
		sb_of(d)->plane[plane].gc.stage = SB_GC_FILL;
}

static void wiped(struct direct *d, uint32_t plane, const struct direct_step *step)
{
	struct sb_gc *gc = &sb_of(d)->plane[plane].gc;
	bool restoring = gc->stage == SB_GC_RESTORE;

	if (step->pb[0] != NAND_WHOLE_BLOCK || restoring) {
		restored(d, plane, step->block[0], step->pb[0], step->erase_failed[0]);
		if (restoring)
			return;
		gc->victims = 0;
		sb_reopen(d, step->block[0]);
		return;
	}
	gc->victims -= step->count;
	for (uint32_t i = 0; i < step->count; i++)
		gone(d, step->block[i], step->erase_failed[i]);
}

void sb_gc_done(struct direct *d, uint32_t plane, const struct direct_step *step)
{
	if (step->op == DIRECT_COPY)
		copied(d, plane, step);
	else
		wiped(d, plane, step);
}
