// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * nftl_merge.c - Merge and M-Merge, one primitive step after another.
 *
 *   IDLE -> [SEARCH] -> MERGE -> WIPE -> IDLE
 *                    -> [SPACE] -> OUT -> (RESTORE -> BACK) ... -> WIPE -> IDLE   M-Merge
 *   IDLE -> DRAIN -> WIPE -> IDLE, or a merge for want of room                   the write buffer
 *
 * Merge. The map does not change until the last copy has been made; then the new block becomes the
 * D-block, and the pair is empty. So reads are correct at any time. A mount is correct, too: if the
 * new D-block lacks its last copy, it is discarded; otherwise the old blocks are.
 *
 * M-Merge (Liu et al., FAST 2018, section 5.2). The map changes with every copy, in agreement with
 * the sequences on flash: the newest copy of a page copied out is in the U-block, of a page copied
 * back in the D-block. First all pages that must leave the D-block are copied out, then each PB is
 * erased and filled, as pen_plan.h's accounting requires. At the end the U-block holds no newest
 * copy; it is erased and becomes free. If the pages copied out do not fit into the U-block, its
 * largest PB without a valid page is erased first (Algorithm 2; pages from an unfinished PB do not
 * count). A U-block is partially erased at most once, so its smallest PBs are disturbed at most
 * once; with a tolerance of 0 it is never partially erased.
 *
 * A Merge also copies pages whose newest copy is in the write buffer, so that afterwards the buffer has
 * only those of its pages that were written after their copies.
 *
 * Blocks found by a mount are suspect, because their disturbance is unknown; they are merged whole.
 * If a program or a partial erase of an M-Merge fails, a Merge copies the remaining valid pages. If
 * a copy of a Merge fails, the Merge begins again with another block.
 */
#include "direct_ops.h"
#include "nftl.h"
#include "nftl_buffer.h"
#include "nftl_merge.h"
#include "nftl_pair.h"
#include "nftl_state.h"

static uint32_t ppb_of(const struct direct *d)
{
	return d->g->pages_per_block;
}

static struct nftl_gc *gc_of(const struct direct *d, uint32_t plane)
{
	return &nftl_of(d)->plane[plane].gc;
}

static struct nftl_u *gc_u(const struct direct *d, uint32_t plane)
{
	return nftl_u_of(d, plane, gc_of(d, plane)->slot);
}

static struct nftl_pair *gc_pair(const struct direct *d, uint32_t plane)
{
	return nftl_pair_of(d, plane, gc_of(d, plane)->lblock);
}

static uint32_t gc_newest(const struct direct *d, uint32_t plane, uint32_t k)
{
	return nftl_lookup(d, plane, gc_of(d, plane)->lblock * ppb_of(d) + k);
}

static uint32_t valid_pages(const struct direct *d, uint32_t plane)
{
	const struct nftl *s = nftl_of(d);
	uint32_t data = gc_pair(d, plane)->d, n = nftl_count(d, s->valid, gc_u(d, plane)->block);

	n += nftl_buffer_count(d, plane, gc_of(d, plane)->lblock);
	return data == NFTL_NONE ? n : n + nftl_count(d, s->valid, data);
}

static enum direct_next copy(const struct direct *d, uint32_t plane, uint32_t k, uint32_t from,
			     uint32_t to, uint8_t tag, struct direct_step *step)
{
	struct nftl *s = nftl_of(d);

	step->op = DIRECT_COPY;
	step->page = gc_of(d, plane)->lblock * ppb_of(d) + k;
	step->from = from;
	step->to = to;
	step->tag = tag;
	bit_set(s->used, to);
	return DIRECT_STEP;
}

static enum direct_next wipe(uint32_t block, uint32_t pb, struct direct_step *step)
{
	step->op = DIRECT_WIPE;
	step->block[step->count] = block;
	step->pb[step->count++] = pb;
	return DIRECT_STEP;
}

/* ---- the choice of the victim, and of Merge or M-Merge ------------------------------ */

static void plan_pages(const struct direct *d, uint32_t plane)
{
	const struct nftl *s = nftl_of(d);
	const uint16_t *pos = nftl_pos_of(d, plane, gc_of(d, plane)->slot);
	uint32_t data = gc_pair(d, plane)->d, pb = nftl_pb_pages(d);

	for (uint32_t leaf = 0; leaf < 1u << d->g->pb_levels; leaf++) {
		struct pen_pages *p = &s->pages[leaf];

		*p = (struct pen_pages){ 0 };
		for (uint32_t k = leaf * pb; k < (leaf + 1) * pb; k++) {
			uint32_t ppn = direct_ppn(d, data, k);
			bool used = bit_get(s->used, ppn), valid = bit_get(s->valid, ppn);
			bool back = pos[k] != NFTL_NO_POS;

			p->valid += valid;
			p->back += back;
			p->stale |= (used && !valid) || back;
		}
		p->refilled = p->valid + p->back > 0;
	}
}

/* Returns the largest PB of the U-block that is full and has no valid page, or 0. */
static uint32_t largest_invalid_pb(const struct direct *d, const struct nftl_u *u)
{
	const struct nftl *s = nftl_of(d);
	uint32_t levels = d->g->pb_levels, pages = nftl_pb_pages(d);

	if (!d->host.c.disturb_tolerance)
		return 0;
	for (uint32_t pb = 1; pb < 2u << levels; pb++) {
		uint32_t at = pen_first(levels, pb) * pages, end = at + pen_span(levels, pb) * pages;

		while (at < end && end <= u->end && !bit_get(s->valid, direct_ppn(d, u->block, at)))
			at++;
		if (at == end)
			return pb;
	}
	return 0;
}

static uint32_t level_of(uint32_t pb)
{
	return 31u - (uint32_t)__builtin_clz(pb);
}

static uint64_t merge_cost(const struct direct *d, uint32_t plane)
{
	const struct pen_model *m = &nftl_of(d)->model;

	return valid_pages(d, plane) * m->copy_cost + (d->host.c.parallel_erase ? 1 : 2) * m->erase_cost[0];
}

static bool may_restore(const struct direct *d, uint32_t plane)
{
	const struct nftl *s = nftl_of(d);
	uint32_t data = gc_pair(d, plane)->d, log = gc_u(d, plane)->block;

	return d->host.c.pen && data != NFTL_NONE && s->block[data].merges < d->host.c.pen_merges_max &&
	       !s->block[data].retire && !s->block[data].suspect && !s->block[log].retire &&
	       !s->block[log].suspect;
}

/* Algorithm 2: plan an M-Merge, if it is possible and cheaper, in gc->plan and gc->space_*. */
static bool plan(const struct direct *d, uint32_t plane)
{
	struct nftl *s = nftl_of(d);
	struct nftl_gc *gc = gc_of(d, plane);
	const struct nftl_u *u = gc_u(d, plane);
	uint32_t room = ppb_of(d) - u->end;
	uint64_t cost;

	if (!may_restore(d, plane))
		return false;
	plan_pages(d, plane);
	pen_plan_make(&s->model, s->pages, nftl_dis_of(d, gc_pair(d, plane)->d), s->work, &gc->plan);
	cost = gc->plan.cost + s->model.erase_cost[0];
	gc->space_pb = gc->space_at = gc->space_end = 0;
	if (room < gc->plan.out) {
		gc->space_pb = largest_invalid_pb(d, u);
		if (!gc->space_pb)
			return false;
		gc->space_at = pen_first(s->model.levels, gc->space_pb) * nftl_pb_pages(d);
		gc->space_end = gc->space_at +
				pen_span(s->model.levels, gc->space_pb) * nftl_pb_pages(d);
		room += gc->space_end - gc->space_at;
		cost += s->model.erase_cost[level_of(gc->space_pb)];
	}
	return room >= gc->plan.out && cost < merge_cost(d, plane);
}

static void merge_begin(const struct direct *d, uint32_t plane)
{
	struct nftl_gc *gc = gc_of(d, plane);

	gc->phase = NFTL_MERGE;
	gc->at = 0;
	gc->target = NFTL_NONE;
	gc->left = valid_pages(d, plane);
	if (nftl_of(d)->late)
		memset(nftl_of(d)->late + (size_t)plane * ppb_of(d), 0, ppb_of(d));
}

static void choose_way(const struct direct *d, uint32_t plane)
{
	struct nftl_gc *gc = gc_of(d, plane);

	if (!plan(d, plane)) {
		merge_begin(d, plane);
		return;
	}
	gc->at = gc->pb_at = 0;
	gc->phase = gc->space_pb ? NFTL_SPACE : NFTL_OUT;
}

static void victim(struct direct *d, uint32_t plane)
{
	struct nftl_plane *p = &nftl_of(d)->plane[plane];
	struct nftl_gc *gc = &p->gc;

	gc->slot = gc->want != NFTL_NONE ? gc->want : p->victims[p->high];
	SSD_ASSERT(gc->slot != NFTL_NONE);
	gc->want = NFTL_NONE;
	gc->lblock = gc_u(d, plane)->lblock;
	gc->wipes = gc->at = 0;
	nftl_victim_remove(d, plane, gc->slot);
	gc->phase = NFTL_SEARCH;
}

/*
 * Find the next spare area that a merge reads: those of the U-block's used pages, or of all pages
 * of both blocks.
 */
static bool next_search(const struct direct *d, uint32_t plane, struct direct_step *step)
{
	struct nftl_gc *gc = gc_of(d, plane);
	const struct nftl_u *u = gc_u(d, plane);
	bool all = d->host.c.spare_search == FTL_SEARCH_ALL;
	uint32_t of_u = all ? ppb_of(d) : u->end, data = all ? gc_pair(d, plane)->d : NFTL_NONE;
	uint32_t end = of_u + (data != NFTL_NONE ? ppb_of(d) : 0);

	if (d->host.c.spare_search == FTL_SEARCH_NO || gc->at >= end)
		return false;
	step->op = DIRECT_SEARCH;
	step->from = gc->at < of_u ? direct_ppn(d, u->block, gc->at) : direct_ppn(d, data, gc->at - of_u);
	gc->at++;
	return true;
}

/* ---- blocks without valid pages ---------------------------------------------------- */

static void to_wipe(struct nftl_gc *gc, uint32_t block)
{
	gc->wipe[gc->wipes++] = block;
}

/* Retire a block that failed, without erasing it. */
static void retire(struct direct *d, uint32_t block)
{
	nftl_forget(d, block, 0, ppb_of(d));
	nftl_of(d)->block[block] = (struct nftl_block){ 0 };
	direct_put_bad(d, block);
}

static enum direct_next next_wipe(struct direct *d, uint32_t plane, struct direct_step *step)
{
	struct nftl_gc *gc = gc_of(d, plane);
	uint32_t most = d->host.c.parallel_erase ? 2 : 1;

	while (step->count < most && (gc->wipes || nftl_buffer_empty(d, plane) != NFTL_NONE)) {
		uint32_t b = gc->wipes ? gc->wipe[--gc->wipes] : nftl_buffer_unlink(d, plane);

		if (nftl_of(d)->block[b].retire)
			retire(d, b);
		else
			wipe(b, NAND_WHOLE_BLOCK, step);
	}
	if (step->count)
		return DIRECT_STEP;
	gc->phase = NFTL_IDLE;
	gc->slot = NFTL_NONE;
	return DIRECT_DONE;
}

static void wiped(struct direct *d, const struct direct_step *step)
{
	for (uint32_t i = 0; i < step->count; i++) {
		if (step->erase_failed[i]) {
			retire(d, step->block[i]);
			continue;
		}
		nftl_forget(d, step->block[i], 0, ppb_of(d));
		pool_put_free(&d->pool, step->block[i], false);
	}
}

/* ---- Merge ------------------------------------------------------------------------- */

/* All copies are complete: make the target the D-block, and empty the pair. */
static void merged(struct direct *d, uint32_t plane)
{
	struct nftl *s = nftl_of(d);
	struct nftl_gc *gc = gc_of(d, plane);
	struct nftl_pair *l = gc_pair(d, plane);

	to_wipe(gc, gc_u(d, plane)->block);
	if (l->d != NFTL_NONE)
		to_wipe(gc, l->d);
	for (uint32_t i = 0; i < gc->wipes; i++)
		for (uint32_t k = 0; k < ppb_of(d); k++)
			bit_clear(s->valid, direct_ppn(d, gc->wipe[i], k));
	l->d = gc->target;
	for (uint32_t k = 0; k < ppb_of(d) && l->d != NFTL_NONE; k++) {
		if (!bit_get(s->used, direct_ppn(d, l->d, k)) ||
		    (s->late && s->late[(size_t)plane * ppb_of(d) + k]))
			continue;
		nftl_buffer_drop(d, plane, gc->lblock * ppb_of(d) + k);
		bit_set(s->valid, direct_ppn(d, l->d, k));
	}
	nftl_slot_put(d, plane, gc->slot);
	d->host.stats.merges++;
	gc->phase = NFTL_WIPE;
}

static enum direct_next merge_target(struct direct *d, uint32_t plane)
{
	struct nftl *s = nftl_of(d);
	struct nftl_gc *gc = gc_of(d, plane);

	switch (direct_take(d, plane, 0, &gc->target)) {
	case DIRECT_ROOM:
		s->block[gc->target] = (struct nftl_block){ 0 };
		if (s->dis)
			memset(nftl_dis_of(d, gc->target), 0, sizeof(*s->dis) << d->g->pb_levels);
		return DIRECT_STEP;
	case DIRECT_ERASE:
		return DIRECT_PREPARE;
	case DIRECT_GC:
	case DIRECT_FULL:
		break;
	}
	gc_u(d, plane)->invalid = nftl_invalid(d, plane, gc->slot);
	nftl_victim_add(d, plane, gc->slot);
	gc->phase = NFTL_IDLE;
	gc->slot = NFTL_NONE;
	return DIRECT_STUCK;
}

static enum direct_next next_merge(struct direct *d, uint32_t plane, struct direct_step *step)
{
	struct nftl_gc *gc = gc_of(d, plane);
	enum direct_next next;
	uint32_t k;

	if (!gc->left) {
		merged(d, plane);
		return next_wipe(d, plane, step);
	}
	if (gc->target == NFTL_NONE) {
		next = merge_target(d, plane);
		if (next != DIRECT_STEP)
			return next;
	}
	while (gc_newest(d, plane, gc->at) == NFTL_NONE)
		gc->at++;
	k = gc->at++;
	return copy(d, plane, k, gc_newest(d, plane, k), direct_ppn(d, gc->target, k),
		    gc->left == 1 ? NFTL_TAG_LAST : 0, step);
}

static void merge_copied(struct direct *d, uint32_t plane, bool failed)
{
	struct nftl_gc *gc = gc_of(d, plane);

	gc->left--;
	if (!failed)
		return;
	retire(d, gc->target);
	merge_begin(d, plane);
}

/* ---- M-Merge ------------------------------------------------------------------------ */

/* Find the next page in [at, to) that must be copied out of the D-block. */
static bool next_valid(const struct direct *d, uint32_t plane, uint32_t to)
{
	const struct nftl *s = nftl_of(d);
	struct nftl_gc *gc = gc_of(d, plane);
	uint32_t data = gc_pair(d, plane)->d;

	while (gc->at < to && !bit_get(s->valid, direct_ppn(d, data, gc->at)))
		gc->at++;
	return gc->at < to;
}

static uint32_t pb_begin(const struct direct *d, uint32_t pb)
{
	return pen_first(d->g->pb_levels, pb) * nftl_pb_pages(d);
}

static uint32_t pb_end(const struct direct *d, uint32_t pb)
{
	return pb_begin(d, pb) + pen_span(d->g->pb_levels, pb) * nftl_pb_pages(d);
}

static enum direct_next next_restore(struct direct *d, uint32_t plane, struct direct_step *step);

static enum direct_next next_out(struct direct *d, uint32_t plane, struct direct_step *step)
{
	struct nftl_gc *gc = gc_of(d, plane);
	struct nftl_u *u = gc_u(d, plane);

	for (; gc->pb_at < gc->plan.count; gc->pb_at++, gc->at = 0) {
		uint32_t pb = gc->plan.pb[gc->pb_at], k, to;

		if (gc->at < pb_begin(d, pb))
			gc->at = pb_begin(d, pb);
		if (!next_valid(d, plane, pb_end(d, pb)))
			continue;
		k = gc->at++;
		to = u->end < ppb_of(d) ? u->end++ : gc->space_at++;
		SSD_ASSERT(to < ppb_of(d) && gc->space_at <= gc->space_end);
		return copy(d, plane, k, direct_ppn(d, gc_pair(d, plane)->d, k),
			    direct_ppn(d, u->block, to), NFTL_TAG_U, step);
	}
	gc->pb_at = 0;
	return next_restore(d, plane, step);
}

static enum direct_next next_restore(struct direct *d, uint32_t plane, struct direct_step *step)
{
	struct nftl_gc *gc = gc_of(d, plane);

	if (gc->pb_at < gc->plan.count) {
		gc->phase = NFTL_RESTORE;
		return wipe(gc_pair(d, plane)->d, gc->plan.pb[gc->pb_at], step);
	}
	to_wipe(gc, gc_u(d, plane)->block);
	nftl_slot_put(d, plane, gc->slot);
	nftl_of(d)->block[gc_pair(d, plane)->d].merges++;
	d->host.stats.mmerges++;
	gc->phase = NFTL_WIPE;
	return next_wipe(d, plane, step);
}

/*
 * Copy back the pages of the PB that was erased. After the last PB, copy the other pages of the
 * block.
 */
static enum direct_next next_back(struct direct *d, uint32_t plane, struct direct_step *step)
{
	struct nftl_gc *gc = gc_of(d, plane);
	const uint16_t *pos = nftl_pos_of(d, plane, gc->slot);
	bool last = gc->pb_at + 1 == gc->plan.count;
	uint32_t end = pb_end(d, gc->plan.pb[gc->pb_at]), k;

	for (; gc->at < end; gc->at++) {
		if (pos[gc->at] == NFTL_NO_POS)
			continue;
		k = gc->at++;
		return copy(d, plane, k, gc_newest(d, plane, k),
			    direct_ppn(d, gc_pair(d, plane)->d, k), 0, step);
	}
	SSD_ASSERT(!last || !nftl_count(d, nftl_of(d)->valid, gc_u(d, plane)->block));
	gc->pb_at++;
	return next_restore(d, plane, step);
}

static void copied_out(struct direct *d, uint32_t plane, const struct direct_step *step)
{
	struct nftl *s = nftl_of(d);
	struct nftl_u *u = gc_u(d, plane);

	if (step->failed) {
		s->block[u->block].retire = u->closed = true;
		merge_begin(d, plane);
		return;
	}
	bit_clear(s->valid, step->from);
	bit_set(s->valid, step->to);
	nftl_pos_of(d, plane, gc_of(d, plane)->slot)[step->page % ppb_of(d)] =
		(uint16_t)(step->to % ppb_of(d));
}

static void copied_back(struct direct *d, uint32_t plane, const struct direct_step *step)
{
	struct nftl *s = nftl_of(d);
	uint32_t data = gc_pair(d, plane)->d, k = step->page % ppb_of(d);

	nftl_d_programmed(d, data, k);
	if (step->failed) {
		s->block[data].retire = true;
		merge_begin(d, plane);
		return;
	}
	bit_clear(s->valid, step->from);
	bit_set(s->valid, step->to);
	nftl_pos_of(d, plane, gc_of(d, plane)->slot)[k] = NFTL_NO_POS;
}

static void made_space(struct direct *d, uint32_t plane, bool failed)
{
	struct nftl *s = nftl_of(d);
	struct nftl_gc *gc = gc_of(d, plane);
	struct nftl_u *u = gc_u(d, plane);

	u->closed = true;	/* its positions are no longer filled in log order */
	if (failed) {
		s->block[u->block].retire = true;
		merge_begin(d, plane);
		return;
	}
	nftl_forget(d, u->block, gc->space_at, gc->space_end - gc->space_at);
	gc->phase = NFTL_OUT;
}

static void restored(struct direct *d, uint32_t plane, bool failed)
{
	struct nftl_gc *gc = gc_of(d, plane);
	uint32_t data = gc_pair(d, plane)->d, pb = gc->plan.pb[gc->pb_at];

	if (failed) {
		nftl_of(d)->block[data].retire = true;
		merge_begin(d, plane);
		return;
	}
	nftl_forget(d, data, pb_begin(d, pb), pb_end(d, pb) - pb_begin(d, pb));
	pen_erased(nftl_dis_of(d, data), d->g->pb_levels, pb);
	gc->phase = NFTL_BACK;
	gc->at = pb_begin(d, pb);
}

/* ---- the write buffer ------------------------------------------------------------------ */

/*
 * Is the collection no longer due? While another plane of the die had the turn, a host write may have
 * replaced the last page of the buffer.
 */
static bool overtaken(const struct direct *d, uint32_t plane)
{
	const struct direct_run *w = &d->die[geo_die_of_plane(d->g, plane)].w;
	bool waits = w->op != DIRECT_NONE && w->waits && direct_plane_of_lpn(d, d->op[w->op].lpn) == plane;

	return nftl_of(d)->buffered && !waits && !d->scheme->wants_gc(d, plane);
}

static void begin(struct direct *d, uint32_t plane)
{
	const struct nftl_buffer *b = &nftl_of(d)->plane[plane].buffer;
	struct nftl_gc *gc = gc_of(d, plane);

	if (!b->pages && nftl_buffer_empty(d, plane) == NFTL_NONE) {
		victim(d, plane);
		return;
	}
	gc->wipes = gc->at = 0;
	gc->lblock = b->pages ? nftl_buffer_next(d, plane) : NFTL_NONE;
	gc->phase = b->pages ? NFTL_DRAIN : NFTL_WIPE;
}

/* Move the buffered pages of a logical block to where a host write of them would go; merge if there is no room. */
static enum direct_next next_drain(struct direct *d, uint32_t plane, struct direct_step *step)
{
	struct nftl_gc *gc = gc_of(d, plane);
	uint32_t page, from, to, k;
	uint8_t tag = 0;

	for (; gc->at < ppb_of(d); gc->at++) {
		page = gc->lblock * ppb_of(d) + gc->at;
		from = nftl_buffered(d, plane, page);
		if (from == NFTL_NONE)
			continue;
		switch (nftl_place_in_pair(d, plane, page, false, &to, &tag)) {
		case DIRECT_ROOM:
			k = gc->at++;
			return copy(d, plane, k, from, to, tag, step);
		case DIRECT_ERASE:
			return DIRECT_PREPARE;
		case DIRECT_GC:
			victim(d, plane);
			return nftl_gc_next(d, plane, step);
		case DIRECT_FULL:
			gc->phase = NFTL_IDLE;
			return DIRECT_STUCK;
		}
	}
	nftl_buffer_drained(d, plane);
	gc->lblock = NFTL_NONE;
	gc->phase = NFTL_WIPE;
	return next_wipe(d, plane, step);
}

static void moved(struct direct *d, uint32_t plane, const struct direct_step *step)
{
	nftl_pair_written(d, plane, step->page, step->to, !step->failed);
	if (step->failed)
		gc_of(d, plane)->at = step->page % ppb_of(d);
}

/* ---- the generator -------------------------------------------------------------------- */

enum direct_next nftl_gc_next(struct direct *d, uint32_t plane, struct direct_step *step)
{
	struct nftl_gc *gc = gc_of(d, plane);

	if (gc->phase == NFTL_IDLE && overtaken(d, plane))
		return DIRECT_NOTHING;
	if (gc->phase == NFTL_IDLE)
		begin(d, plane);
	if (gc->phase == NFTL_SEARCH) {
		if (next_search(d, plane, step))
			return DIRECT_STEP;
		choose_way(d, plane);
	}
	switch (gc->phase) {
	case NFTL_MERGE:
		return next_merge(d, plane, step);
	case NFTL_SPACE:
		return wipe(gc_u(d, plane)->block, gc->space_pb, step);
	case NFTL_OUT:
		return next_out(d, plane, step);
	case NFTL_RESTORE:
		return next_restore(d, plane, step);
	case NFTL_BACK:
		return next_back(d, plane, step);
	case NFTL_WIPE:
		return next_wipe(d, plane, step);
	case NFTL_DRAIN:
		return next_drain(d, plane, step);
	case NFTL_IDLE:
	case NFTL_SEARCH:
		break;
	}
	SSD_ASSERT(!"a merge without a way");
	return DIRECT_STUCK;
}

void nftl_gc_done(struct direct *d, uint32_t plane, const struct direct_step *step)
{
	switch (gc_of(d, plane)->phase) {
	case NFTL_SEARCH:
		return;
	case NFTL_MERGE:
		merge_copied(d, plane, step->failed);
		return;
	case NFTL_SPACE:
		made_space(d, plane, step->erase_failed[0]);
		return;
	case NFTL_OUT:
		copied_out(d, plane, step);
		return;
	case NFTL_RESTORE:
		restored(d, plane, step->erase_failed[0]);
		return;
	case NFTL_BACK:
		copied_back(d, plane, step);
		return;
	case NFTL_WIPE:
		wiped(d, step);
		return;
	case NFTL_DRAIN:
		moved(d, plane, step);
		return;
	case NFTL_IDLE:
		break;
	}
	SSD_ASSERT(!"a step that no merge asked for");
}
