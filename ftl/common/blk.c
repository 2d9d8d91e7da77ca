// SPDX-License-Identifier: GPL-2.0-or-later
/* blk.c - see blk.h */
#include "blk.h"

size_t blk_lay_out(struct blk_table *t, struct ssd_arena *m, const struct nand_geometry *g,
		   uint32_t units_per_page, enum blk_lists lists)
{
	uint32_t planes = geo_planes(g), buckets = g->pages_per_block * units_per_page + 1;
	struct blk *blk = ssd_carve(m, geo_blocks(g), sizeof(*blk));
	struct blk_plane *plane = ssd_carve(m, planes, sizeof(*plane));
	uint32_t *bucket = ssd_carve(m, (size_t)planes * buckets, sizeof(*bucket));
	bool aged = lists == BLK_AGED_BUCKETS;
	uint32_t *oldest = ssd_carve(m, aged ? (size_t)planes * buckets : 0, sizeof(*oldest));

	if (t) {
		SSD_ASSERT(plane && bucket);	/* If there is a table, its memory must exist as well. */
		t->geo = g;
		t->units_per_block = buckets - 1;
		t->by_plane_blocks = fxp_div_by(g->blocks_per_plane);
		t->blk = blk;
		t->plane = plane;
		t->oldest = aged ? oldest : NULL;
		t->queue = lists == BLK_QUEUE;
		for (uint32_t i = 0; i < planes; i++)
			plane[i].bucket = bucket + (size_t)i * buckets;
	}
	return m->used;
}

void blk_init(struct blk_table *t)
{
	uint32_t planes = geo_planes(t->geo);

	memset(t->blk, 0, geo_blocks(t->geo) * sizeof(*t->blk));
	for (uint64_t b = 0; b < geo_blocks(t->geo); b++)
		t->blk[b].state = BLK_VICTIM;
	for (uint32_t p = 0; p < planes; p++) {
		struct blk_plane *pl = &t->plane[p];

		pl->free_head = pl->free_tail = pl->retire_head = BLK_NONE;
		pl->changed = pl->slc_full = (struct blk_ends){ BLK_NONE, BLK_NONE };
		pl->free_count = pl->aside = pl->slc = 0;
		pl->low = 0;
		for (uint32_t v = 0; v <= t->units_per_block; v++)
			pl->bucket[v] = BLK_NONE;
	}
	t->issued = 0;
	t->stable = 0;
}

static inline struct blk_plane *plane_of(const struct blk_table *t, uint32_t b)
{
	return &t->plane[fxp_quotient(t->by_plane_blocks, b)];
}

/* Insert a block at the head of a list, without a branch, because whether the list is empty is unpredictable. */
static inline void list_push(const struct blk_table *t, uint32_t *head, uint32_t b)
{
	uint32_t next = *head;

	t->blk[ssd_pick(next != BLK_NONE, next, b)].prev = b;
	t->blk[b].prev = BLK_NONE;
	t->blk[b].next = next;
	*head = b;
}

static inline void list_remove(const struct blk_table *t, uint32_t *head, uint32_t b)
{
	uint32_t prev = t->blk[b].prev, next = t->blk[b].next;

	*head = (uint32_t)ssd_pick(prev == BLK_NONE, next, *head);
	t->blk[ssd_pick(prev != BLK_NONE, prev, b)].next = next;	/* its own link: the write changes nothing */
	t->blk[ssd_pick(next != BLK_NONE, next, b)].prev = prev;
}

/* ---- FULL blocks: changed ones, buckets ------------------------------------ */

/*
 * Append a FULL block to the list of changed blocks or, if it is in SLC mode, to the list of FULL blocks in that mode.
 */
static inline void append(const struct blk_table *t, struct blk_ends *list, uint32_t b, bool slc)
{
	struct blk *k = &t->blk[b];

	k->changed = !slc;
	k->stays = true;
	k->prev = list->last;
	k->next = BLK_NONE;
	if (list->last == BLK_NONE) {
		list->first = b;
	} else {
		t->blk[list->last].next = b;
		t->blk[list->last].stays = slc || t->queue;
	}
	list->last = b;
}

/* Returns where the table stores the last block of the bucket for this number of valid units. */
static inline uint32_t *oldest_of(const struct blk_table *t, const struct blk_plane *pl, uint32_t valid)
{
	return &t->oldest[(size_t)(pl - t->plane) * (t->units_per_block + 1) + valid];
}

static SSD_APART void unlink_slc(const struct blk_table *t, struct blk_plane *pl, uint32_t b)
{
	struct blk *k = &t->blk[b];

	if (pl->slc_full.last == b)
		pl->slc_full.last = k->prev;
	list_remove(t, &pl->slc_full.first, b);
	k->stays = false;
}

/*
 * Remove a full block from the list that it is in: that of blocks with as many valid units, or that of changed blocks.
 * The list is chosen by an index, not a branch, because a processor could not predict which one it is.
 */
static SSD_HOT void unlink_full(const struct blk_table *t, uint32_t b)
{
	struct blk_plane *pl = plane_of(t, b);
	struct blk *k = &t->blk[b];
	uint32_t *head[2] = { &pl->bucket[k->valid], &pl->changed.first };

	if (SSD_UNLIKELY(k->slc)) {
		unlink_slc(t, pl, b);
		return;
	}
	list_remove(t, head[k->changed], b);
	if (SSD_UNLIKELY(pl->changed.last == b)) {
		pl->changed.last = k->prev;
		if (k->prev != BLK_NONE)
			t->blk[k->prev].stays = true;
	}
	if (t->oldest && !k->changed && k->next == BLK_NONE)
		*oldest_of(t, pl, k->valid) = k->prev;
	k->changed = k->stays = false;
}

SSD_HOT void blk_change(const struct blk_table *t, uint32_t b, uint32_t valid)
{
	unlink_full(t, b);
	t->blk[b].valid = valid;
	append(t, &plane_of(t, b)->changed, b, false);
}

void blk_sort_changed(const struct blk_table *t, struct blk_plane *pl)
{
	uint32_t b = pl->changed.first;

	while (b != BLK_NONE) {
		struct blk *k = &t->blk[b];
		uint32_t next = k->next;

		k->changed = k->stays = false;
		list_push(t, &pl->bucket[k->valid], b);
		if (t->oldest && k->next == BLK_NONE)
			*oldest_of(t, pl, k->valid) = b;
		if (k->valid < pl->low)
			pl->low = k->valid;
		b = next;
	}
	pl->changed = (struct blk_ends){ BLK_NONE, BLK_NONE };
}

/* Merge two lists in order into one. If two blocks are equal, those of list `a` come first. */
static uint32_t merge(const struct blk_table *t, uint32_t a, uint32_t b)
{
	uint32_t head, *to = &head;

	while (a != BLK_NONE && b != BLK_NONE) {
		uint32_t *from = t->blk[b].last_order < t->blk[a].last_order ? &b : &a;

		*to = *from;
		to = &t->blk[*from].next;
		*from = *to;
	}
	*to = a != BLK_NONE ? a : b;
	return head;
}

/* Sort a list by the blocks' order, by merging: sorted[i] is a sorted list of 2^i blocks, or empty. */
static uint32_t sort_by_order(const struct blk_table *t, uint32_t head)
{
	uint32_t sorted[32], list = BLK_NONE;

	for (uint32_t i = 0; i < 32; i++)
		sorted[i] = BLK_NONE;
	while (head != BLK_NONE) {
		uint32_t i = 0;

		list = head;
		head = t->blk[list].next;
		t->blk[list].next = BLK_NONE;
		for (; sorted[i] != BLK_NONE; i++) {
			list = merge(t, sorted[i], list);
			sorted[i] = BLK_NONE;
		}
		sorted[i] = list;
	}
	list = BLK_NONE;
	for (uint32_t i = 0; i < 32; i++)
		list = merge(t, sorted[i], list);
	return list;
}

void blk_sort_closed(const struct blk_table *t, bool slc)
{
	for (uint32_t p = 0; p < geo_planes(t->geo); p++) {
		struct blk_ends *list = slc ? &t->plane[p].slc_full : &t->plane[p].changed;
		uint32_t b = sort_by_order(t, list->first), next;

		*list = (struct blk_ends){ BLK_NONE, BLK_NONE };
		for (; b != BLK_NONE; b = next) {
			next = t->blk[b].next;
			append(t, list, b, slc);
		}
	}
}

/* Remove the first block from the free list, which has one. */
static uint32_t open_free(const struct blk_table *t, struct blk_plane *pl)
{
	uint32_t b = pl->free_head;

	pl->free_head = t->blk[b].next;
	if (pl->free_head == BLK_NONE)
		pl->free_tail = BLK_NONE;
	t->blk[b].state = BLK_OPEN;
	return b;
}

uint32_t blk_take_free(struct blk_table *t, uint32_t plane)
{
	struct blk_plane *pl = &t->plane[plane];

	if (pl->free_head == BLK_NONE)
		return BLK_NONE;
	--*(pl->free_count ? &pl->free_count : &pl->aside);
	return open_free(t, pl);
}

uint32_t blk_take_slc(struct blk_table *t, uint32_t plane)
{
	struct blk_plane *pl = &t->plane[plane];
	uint32_t *count = t->aside_max ? &pl->aside : &pl->free_count, b;

	SSD_ASSERT(*count);
	--*count;
	b = open_free(t, pl);
	t->blk[b].slc = true;
	pl->slc++;
	return b;
}

void blk_forget_slc(const struct blk_table *t, uint32_t b)
{
	plane_of(t, b)->slc -= t->blk[b].slc;
	t->blk[b].slc = false;
}

void blk_set_aside(const struct blk_table *t, uint32_t plane)
{
	struct blk_plane *pl = &t->plane[plane];

	while (pl->slc + pl->aside < t->aside_max && pl->free_count > t->aside_keep) {
		pl->free_count--;
		pl->aside++;
	}
}

void blk_put_free(struct blk_table *t, uint32_t b, bool needs_erase)
{
	struct blk_plane *pl = plane_of(t, b);
	struct blk *k = &t->blk[b];
	bool slc = k->slc;

	SSD_ASSERT(k->state == BLK_VICTIM && !k->valid);
	blk_forget_slc(t, b);
	*k = (struct blk){ .state = BLK_FREE, .needs_erase = needs_erase, .next = BLK_NONE };
	if (pl->free_tail == BLK_NONE)
		pl->free_head = b;
	else
		t->blk[pl->free_tail].next = b;
	pl->free_tail = b;
	if (slc && pl->slc + pl->aside < t->aside_max)
		pl->aside++;
	else
		pl->free_count++;
	if (t->aside_max)
		blk_set_aside(t, (uint32_t)(pl - t->plane));
}

void blk_free_first(struct blk_table *t, uint32_t plane, uint32_t b)
{
	struct blk_plane *pl = &t->plane[plane];
	uint32_t before = pl->free_head;

	if (before == b)
		return;
	while (t->blk[before].next != b)
		before = t->blk[before].next;
	t->blk[before].next = t->blk[b].next;
	if (pl->free_tail == b)
		pl->free_tail = before;
	t->blk[b].next = pl->free_head;
	pl->free_head = b;
}

void blk_close(struct blk_table *t, uint32_t b)
{
	SSD_ASSERT(t->blk[b].state == BLK_OPEN || t->blk[b].state == BLK_VICTIM);
	t->blk[b].state = BLK_FULL;
	if (SSD_UNLIKELY(t->blk[b].slc))
		append(t, &plane_of(t, b)->slc_full, b, true);
	else
		append(t, &plane_of(t, b)->changed, b, false);
}

void blk_take(struct blk_table *t, uint32_t b)
{
	if (t->blk[b].state == BLK_FULL) {
		unlink_full(t, b);
	} else {
		SSD_ASSERT(t->blk[b].state == BLK_RETIRE);
		list_remove(t, &plane_of(t, b)->retire_head, b);
	}
	t->blk[b].state = BLK_VICTIM;
}

void blk_retire(struct blk_table *t, uint32_t b)
{
	if (t->blk[b].state == BLK_FULL)
		unlink_full(t, b);
	else
		SSD_ASSERT(t->blk[b].state == BLK_OPEN);
	t->blk[b].state = BLK_RETIRE;
	list_push(t, &plane_of(t, b)->retire_head, b);
}

/* Returns the first settled block without valid units, in a list from block b on, or BLK_NONE. */
static uint32_t empty_from(const struct blk_table *t, uint32_t b)
{
	while (b != BLK_NONE && (t->blk[b].valid || !blk_settled(t, &t->blk[b])))
		b = t->blk[b].next;
	return b;
}

uint32_t blk_slc_oldest(const struct blk_table *t, uint32_t plane)
{
	uint32_t b = t->plane[plane].slc_full.first;

	while (b != BLK_NONE && !blk_settled(t, &t->blk[b]))
		b = t->blk[b].next;
	return b;
}

uint32_t blk_empty(const struct blk_table *t, uint32_t plane)
{
	struct blk_plane *pl = &t->plane[plane];
	uint32_t b = pl->changed.first;

	if (!t->queue) {
		blk_sort_changed(t, pl);
		b = pl->bucket[0];
	}
	b = empty_from(t, b);
	return b == BLK_NONE && !t->aside_max ? empty_from(t, pl->slc_full.first) : b;
}

/* K4. Returns the number of FULL blocks in SLC mode. */
static uint32_t check_slc(const struct blk_table *t, uint32_t plane)
{
	const struct blk_plane *pl = &t->plane[plane];
	uint32_t first = plane * t->geo->blocks_per_plane, before = BLK_NONE, full = 0, all = 0, listed = 0;

	for (uint32_t b = first; b < first + t->geo->blocks_per_plane; b++) {
		all += t->blk[b].slc;
		full += t->blk[b].slc && t->blk[b].state == BLK_FULL;
		SSD_ASSERT(!t->blk[b].slc || (t->blk[b].state != BLK_FREE && t->blk[b].state != BLK_BAD));
	}
	for (uint32_t b = pl->slc_full.first; b != BLK_NONE; before = b, b = t->blk[b].next, listed++)
		SSD_ASSERT(t->blk[b].slc && t->blk[b].state == BLK_FULL && t->blk[b].prev == before &&
			   t->blk[b].stays && !t->blk[b].changed);
	SSD_ASSERT(pl->slc_full.last == before && listed == full && all == pl->slc);
	SSD_ASSERT(!pl->aside || pl->slc + pl->aside <= t->aside_max);
	return full;
}

void blk_check(const struct blk_table *t)
{
	uint32_t on_lists = 0, full = 0;

	for (uint32_t p = 0; p < geo_planes(t->geo); p++) {
		const struct blk_plane *pl = &t->plane[p];
		uint32_t free = 0;

		for (uint32_t b = pl->free_head; b != BLK_NONE; b = t->blk[b].next, free++)
			SSD_ASSERT(t->blk[b].state == BLK_FREE);	/* K1 */
		SSD_ASSERT(free == pl->free_count + pl->aside);		/* K1 */
		on_lists += check_slc(t, p);
		for (uint32_t v = 0; v <= t->units_per_block; v++)
			for (uint32_t b = pl->bucket[v]; b != BLK_NONE; b = t->blk[b].next) {
				SSD_ASSERT(t->blk[b].state == BLK_FULL);	/* K2 */
				SSD_ASSERT(t->blk[b].valid == v && !t->blk[b].changed);	/* K2 */
				SSD_ASSERT(v >= pl->low && !t->queue);		/* K3, K2 */
				SSD_ASSERT(!t->oldest || t->blk[b].next != BLK_NONE ||
					   *oldest_of(t, pl, v) == b);		/* K2 */
				on_lists++;
			}
	}
	for (uint32_t p = 0; p < geo_planes(t->geo); p++) {
		const struct blk_plane *pl = &t->plane[p];
		uint32_t before = BLK_NONE;

		for (uint32_t b = pl->changed.first; b != BLK_NONE; before = b, b = t->blk[b].next) {
			const struct blk *k = &t->blk[b];

			SSD_ASSERT(k->state == BLK_FULL && k->changed);		/* K2 */
			SSD_ASSERT(k->prev == before && k->stays == (t->queue || b == pl->changed.last));
			on_lists++;
		}
		SSD_ASSERT(pl->changed.last == before);
	}
	for (uint64_t b = 0; b < geo_blocks(t->geo); b++)
		full += t->blk[b].state == BLK_FULL;
	SSD_ASSERT(full == on_lists);	/* K2 */
}

struct ftl_block blk_info(const struct blk_table *t, uint32_t block)
{
	static const enum ftl_block_state shown[] = {
		[BLK_FREE] = FTL_BLOCK_FREE, [BLK_OPEN] = FTL_BLOCK_OPEN, [BLK_FULL] = FTL_BLOCK_FULL,
		[BLK_RETIRE] = FTL_BLOCK_VICTIM, [BLK_VICTIM] = FTL_BLOCK_VICTIM,
		[BLK_BAD] = FTL_BLOCK_BAD,
	};

	return (struct ftl_block){ shown[t->blk[block].state], t->blk[block].valid };
}
