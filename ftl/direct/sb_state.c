// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sb_state.c - the Superblock FTL's tables, lists and heap, which are always changed together. This
 * file has no policy: other files decide which block is taken, emptied or restored. O(1) per page,
 * O(log n) where the heap's order changes; a group's slots are searched when a block joins it.
 */
#include "direct_ops.h"
#include "sb_state.h"
#include "superblock.h"

/* ---- heap of GC's candidates, those with most stale pages first -------------------- */

static uint32_t *heap_at(struct direct *d, uint32_t plane, uint32_t item)
{
	struct sb *s = sb_of(d);

	return sb_page_mapped(s) ? &s->block[item].heap_at : &sb_group_at(s, plane, item)->heap_at;
}

static uint32_t heap_key(const struct direct *d, uint32_t plane, uint32_t item)
{
	return sb_page_mapped(sb_of(d)) ? sb_stale(d, item) : sb_group_stale(d, plane, item);
}

static void heap_set(struct direct *d, uint32_t plane, uint32_t i, uint32_t item)
{
	sb_of(d)->plane[plane].heap[i] = item;
	*heap_at(d, plane, item) = i;
}

/* Move the item at place i of the heap to where its key belongs. */
static void heap_settle(struct direct *d, uint32_t plane, uint32_t i)
{
	struct sb_plane *p = &sb_of(d)->plane[plane];
	uint32_t item = p->heap[i], key = heap_key(d, plane, item), kid;

	for (; i && heap_key(d, plane, p->heap[(i - 1) / 2]) < key; i = (i - 1) / 2)
		heap_set(d, plane, i, p->heap[(i - 1) / 2]);
	for (kid = 2 * i + 1; kid < p->heaped; kid = 2 * i + 1) {
		if (kid + 1 < p->heaped &&
		    heap_key(d, plane, p->heap[kid + 1]) > heap_key(d, plane, p->heap[kid]))
			kid++;
		if (heap_key(d, plane, p->heap[kid]) <= key)
			break;
		heap_set(d, plane, i, p->heap[kid]);
		i = kid;
	}
	heap_set(d, plane, i, item);
}

static void heap_remove(struct direct *d, uint32_t plane, uint32_t i)
{
	struct sb_plane *p = &sb_of(d)->plane[plane];
	uint32_t last = p->heap[--p->heaped];

	*heap_at(d, plane, p->heap[i]) = DIRECT_NONE;
	if (i == p->heaped)
		return;
	heap_set(d, plane, i, last);
	heap_settle(d, plane, i);
}

static bool heap_wanted(const struct direct *d, uint32_t plane, uint32_t item)
{
	const struct sb *s = sb_of(d);
	const struct sb_block *b = &s->block[item];

	if (!sb_page_mapped(s))
		return sb_group_at(s, plane, item)->blocks > s->m;
	return (b->state == SB_PART || b->state == SB_FULL) && !b->failing;
}

static void heap_update(struct direct *d, uint32_t plane, uint32_t item)
{
	uint32_t at = *heap_at(d, plane, item);

	if (!heap_wanted(d, plane, item)) {
		if (at != DIRECT_NONE)
			heap_remove(d, plane, at);
		return;
	}
	if (at == DIRECT_NONE) {
		at = sb_of(d)->plane[plane].heaped++;
		heap_set(d, plane, at, item);
	}
	heap_settle(d, plane, at);
}

static uint32_t plane_of(const struct direct *d, uint32_t block)
{
	return block / d->g->blocks_per_plane;
}

void sb_touch(struct direct *d, uint32_t block)
{
	const struct sb *s = sb_of(d);

	heap_update(d, plane_of(d, block), sb_page_mapped(s) ? block : s->block[block].group);
}

uint32_t sb_stale(const struct direct *d, uint32_t block)
{
	const struct sb_block *b = &sb_of(d)->block[block];

	return d->g->pages_per_block - b->valid - b->free;
}

/* Free pages of victims count as stale, because erasing the block makes them usable again. */
uint32_t sb_group_stale(const struct direct *d, uint32_t plane, uint32_t group)
{
	const struct sb_group *g = sb_group_at(sb_of(d), plane, group);

	return g->blocks * d->g->pages_per_block - g->valid - g->free;
}

bool sb_may_split(const struct direct *d, uint32_t block)
{
	const struct sb_block *b = &sb_of(d)->block[block];

	return !b->suspect && !b->failing && (!b->free || b->partials);
}

/* ---- maps ---------------------------------------------------------------------- */

static uint32_t *slot_of(const struct sb *s, uint32_t plane, uint32_t group, uint32_t slot)
{
	return &s->slot[((size_t)plane * s->groups + group) * s->slots + slot];
}

uint32_t sb_slot_block(const struct direct *d, uint32_t plane, uint32_t group, uint32_t slot)
{
	const struct sb *s = sb_of(d);
	uint32_t block = direct_first_block(d, plane) + slot;

	if (!sb_page_mapped(s))
		return *slot_of(s, plane, group, slot);
	return s->block[block].state == SB_NONE ? DIRECT_NONE : block;
}

static size_t map_at(const struct direct *d, uint32_t plane, uint32_t page)
{
	return (size_t)plane * d->plane_pages + page;
}

uint32_t sb_map_get(const struct direct *d, uint32_t plane, uint32_t page)
{
	const struct sb *s = sb_of(d);
	uint32_t at = sb_entry_get(s->map, s->map_bytes, map_at(d, plane, page)), block;

	if (at == s->map_none)
		return DIRECT_NONE;
	block = sb_slot_block(d, plane, page / s->group_pages, at / d->g->pages_per_block);
	return direct_ppn(d, block, at % d->g->pages_per_block);
}

static void count_valid(struct direct *d, uint32_t plane, uint32_t ppn, uint32_t back)
{
	struct sb *s = sb_of(d);
	struct sb_block *b = &s->block[ppn / d->g->pages_per_block];
	uint32_t change = sb_is_valid(s, back) ? 1u : ~0u;	/* the second value is -1 */

	sb_back_put(s, ppn, back);
	b->valid += change;
	sb_group_at(s, plane, b->group)->valid += change;
	sb_touch(d, ppn / d->g->pages_per_block);
}

static uint32_t *holder_of(const struct direct *d, uint32_t plane, uint32_t page)
{
	const struct sb *s = sb_of(d);

	return &s->holder[plane * s->lblocks + page / d->g->pages_per_block];
}

uint32_t sb_map_read(const struct direct *d, uint32_t plane, uint32_t page)
{
	const struct sb *s = sb_of(d);
	uint32_t lblock = page / d->g->pages_per_block, *part;

	if (!s->parts)
		return DIRECT_NONE;
	part = &s->part[plane * s->parts + lblock % s->parts];
	if (*part == lblock)
		return DIRECT_NONE;
	*part = lblock;
	return *holder_of(d, plane, page);
}

void sb_map_set(struct direct *d, uint32_t plane, uint32_t page, uint32_t ppn)
{
	struct sb *s = sb_of(d);
	uint32_t was = sb_map_get(d, plane, page), block = ppn / d->g->pages_per_block;

	SSD_ASSERT(s->block[block].group == page / s->group_pages);
	if (was != DIRECT_NONE)
		count_valid(d, plane, was, s->stale_mark);
	sb_entry_put(s->map, s->map_bytes, map_at(d, plane, page),
		     s->block[block].slot * d->g->pages_per_block + ppn % d->g->pages_per_block);
	count_valid(d, plane, ppn, page % s->group_pages);
	if (s->parts)
		*holder_of(d, plane, page) = ppn;
}

/* ---- PART lists, and states ------------------------------------------------------ */

static void part_add(struct direct *d, uint32_t plane, uint32_t block)
{
	struct sb_block *b = &sb_of(d)->block[block];
	struct sb_group *g = sb_group_at(sb_of(d), plane, b->group);

	b->prev = DIRECT_NONE;
	b->next = g->part;
	if (g->part != DIRECT_NONE)
		sb_of(d)->block[g->part].prev = block;
	g->part = block;
}

static void part_remove(struct direct *d, uint32_t plane, uint32_t block)
{
	struct sb_block *b = &sb_of(d)->block[block];

	if (b->prev != DIRECT_NONE)
		sb_of(d)->block[b->prev].next = b->next;
	else
		sb_group_at(sb_of(d), plane, b->group)->part = b->next;
	if (b->next != DIRECT_NONE)
		sb_of(d)->block[b->next].prev = b->prev;
}

/* Change a block's state, except from and to NONE. */
static void set_state(struct direct *d, uint32_t block, enum sb_state to)
{
	uint32_t plane = plane_of(d, block);
	struct sb_block *b = &sb_of(d)->block[block];
	struct sb_group *g = sb_group_at(sb_of(d), plane, b->group);

	if (b->state == SB_PART)
		part_remove(d, plane, block);
	if (b->state == SB_OPEN)
		g->open = DIRECT_NONE;
	if (b->state == SB_COLD)
		g->cold = DIRECT_NONE;
	if (b->state == SB_VICTIM)
		g->free += b->free;
	b->state = (uint8_t)to;
	if (to == SB_PART)
		part_add(d, plane, block);
	if (to == SB_OPEN)
		g->open = block;
	if (to == SB_COLD)
		g->cold = block;
	if (to == SB_OPEN || to == SB_COLD || to == SB_PART)
		b->cold = to == SB_COLD;
	if (to == SB_VICTIM)
		g->free -= b->free;
	sb_touch(d, block);
}

void sb_close(struct direct *d, uint32_t block)
{
	set_state(d, block, SB_VICTIM);
}

void sb_reopen(struct direct *d, uint32_t block)
{
	const struct sb_block *b = &sb_of(d)->block[block];
	bool cold = b->cold && sb_group_at(sb_of(d), plane_of(d, block), b->group)->cold == DIRECT_NONE;

	set_state(d, block, !b->free ? SB_FULL : cold ? SB_COLD : SB_PART);
}

/* Mark a block as failing: its free pages do not count any more. */
void sb_failing(struct direct *d, uint32_t block)
{
	struct sb *s = sb_of(d);
	struct sb_block *b = &s->block[block];
	uint32_t plane = plane_of(d, block), first = direct_ppn(d, block, 0);

	if (b->failing)
		return;
	b->failing = true;
	s->plane[plane].failing++;
	for (uint32_t i = 0; i < d->g->pages_per_block; i++)
		if (sb_back_get(s, first + i) == s->free_mark)
			sb_back_put(s, first + i, s->stale_mark);
	if (b->state != SB_VICTIM)
		sb_group_at(s, plane, b->group)->free -= b->free;
	b->free = 0;
	if (b->state != SB_VICTIM)
		set_state(d, block, SB_FULL);
}

/* ---- blocks come and go ------------------------------------------------------------ */

bool sb_attach(struct direct *d, uint32_t plane, uint32_t group, uint32_t block)
{
	struct sb *s = sb_of(d);
	struct sb_group *g = sb_group_at(s, plane, group);
	uint32_t slot = sb_page_mapped(s) ? block - direct_first_block(d, plane) : 0;

	if (!sb_page_mapped(s)) {
		while (slot < s->slots && *slot_of(s, plane, group, slot) != DIRECT_NONE)
			slot++;
		if (slot == s->slots)
			return false;
		*slot_of(s, plane, group, slot) = block;
	}
	s->block[block].group = group;
	s->block[block].slot = slot;
	s->block[block].state = SB_VICTIM;
	if (g->blocks++ == s->n)
		s->plane[plane].oversize++;
	sb_touch(d, block);
	return true;
}

enum direct_room sb_take(struct direct *d, uint32_t plane, uint32_t group, uint32_t reserve,
			 enum sb_state to, uint32_t *block)
{
	struct sb *s = sb_of(d);
	enum direct_room room;

	if (!sb_page_mapped(s) && sb_group_at(s, plane, group)->blocks == s->slots)
		return DIRECT_FULL;
	room = direct_take(d, plane, reserve, block);
	if (room != DIRECT_ROOM)
		return room;
	s->block[*block] = (struct sb_block){ .heap_at = DIRECT_NONE };
	(void)sb_attach(d, plane, group, *block);
	for (uint32_t i = 0; i < d->g->pages_per_block; i++)
		sb_back_put(s, direct_ppn(d, *block, i), s->free_mark);
	s->block[*block].free = d->g->pages_per_block;
	if (s->dis)
		memset(sb_dis(s, *block), 0, sizeof(*s->dis) << s->levels);
	if (to != SB_VICTIM)
		set_state(d, *block, to);
	sb_touch(d, *block);
	return DIRECT_ROOM;
}

void sb_drop(struct direct *d, uint32_t block)
{
	struct sb *s = sb_of(d);
	struct sb_block *b = &s->block[block];
	uint32_t plane = plane_of(d, block), group = b->group;
	struct sb_group *g = sb_group_at(s, plane, group);

	SSD_ASSERT(b->state == SB_VICTIM && !b->valid);
	if (b->failing)
		s->plane[plane].failing--;
	if (--g->blocks == s->n)
		s->plane[plane].oversize--;
	if (!sb_page_mapped(s))
		*slot_of(s, plane, group, b->slot) = DIRECT_NONE;
	b->state = SB_NONE;
	b->free = 0;
	b->failing = false;
	sb_touch(d, block);
}

/* ---- free pages ------------------------------------------------------------------- */

uint32_t sb_use(struct direct *d, uint32_t block, uint32_t from, uint32_t end)
{
	struct sb *s = sb_of(d);
	struct sb_block *b = &s->block[block];
	uint32_t first = direct_ppn(d, block, 0), page = from;

	while (page < end && sb_back_get(s, first + page) != s->free_mark)
		page++;
	if (page == end)
		return DIRECT_NONE;
	sb_back_put(s, first + page, s->stale_mark);
	b->free--;
	if (b->state != SB_VICTIM)
		sb_group_at(s, plane_of(d, block), b->group)->free--;
	if (s->dis)
		pen_programmed(sb_dis(s, block), s->levels, page / s->pb_pages);
	return first + page;
}

bool sb_ready(struct direct *d, uint32_t plane, uint32_t group, bool gc)
{
	struct sb_group *g = sb_group_at(sb_of(d), plane, group);

	if (gc && g->cold != DIRECT_NONE)
		return true;
	if (g->open == DIRECT_NONE && g->part != DIRECT_NONE)
		set_state(d, g->part, SB_OPEN);
	return g->open != DIRECT_NONE;
}

void sb_warm(struct direct *d, uint32_t plane, uint32_t group)
{
	struct sb_group *g = sb_group_at(sb_of(d), plane, group);

	SSD_ASSERT(g->open == DIRECT_NONE && g->cold != DIRECT_NONE);
	set_state(d, g->cold, SB_OPEN);
}

uint32_t sb_place(struct direct *d, uint32_t plane, uint32_t group, bool gc)
{
	struct sb_group *g = sb_group_at(sb_of(d), plane, group);
	uint32_t block = gc && g->cold != DIRECT_NONE ? g->cold : g->open, ppn;
	struct sb_block *b = &sb_of(d)->block[block];

	ppn = sb_use(d, block, b->cursor, d->g->pages_per_block);
	SSD_ASSERT(ppn != DIRECT_NONE);
	b->cursor = ppn % d->g->pages_per_block + 1;
	if (!b->free)
		set_state(d, block, SB_FULL);
	else
		sb_touch(d, block);
	return ppn;
}

void sb_erased(struct direct *d, uint32_t block, uint32_t pb)
{
	struct sb *s = sb_of(d);
	struct sb_block *b = &s->block[block];
	uint32_t page = pen_first(s->levels, pb) * s->pb_pages;
	uint32_t end = page + pen_span(s->levels, pb) * s->pb_pages;

	SSD_ASSERT(b->state == SB_VICTIM);
	pen_erased(sb_dis(s, block), s->levels, pb);
	b->partials++;
	if (page < b->cursor)
		b->cursor = page;
	for (; page < end; page++) {
		uint32_t ppn = direct_ppn(d, block, page), back = sb_back_get(s, ppn);

		SSD_ASSERT(!sb_is_valid(s, back));
		b->free += back == s->stale_mark;
		sb_back_put(s, ppn, s->free_mark);
	}
	sb_touch(d, block);
}

/* ---- invariants ------------------------------------------------------------------ */

static bool may_have_free(const struct sb_block *b)
{
	return b->state == SB_OPEN || b->state == SB_COLD || b->state == SB_PART || b->state == SB_VICTIM;
}

static void check_pages(const struct direct *d, uint32_t plane, uint32_t block)
{
	const struct sb *s = sb_of(d);
	const struct sb_block *b = &s->block[block];
	uint32_t valid = 0, free = 0;
	bool was_free = false;

	for (uint32_t i = 0; i < d->g->pages_per_block; i++) {
		uint32_t ppn = direct_ppn(d, block, i), back = sb_back_get(s, ppn);
		bool is_free = back == s->free_mark;

		SSD_ASSERT(is_free || !was_free || i % s->pb_pages == 0);		/* SB6 */
		was_free = is_free;
		free += is_free;
		valid += sb_is_valid(s, back);
		SSD_ASSERT(!is_free || i >= b->cursor);
		SSD_ASSERT(!sb_is_valid(s, back) ||					/* SB1 */
			   sb_map_get(d, plane, b->group * s->group_pages + back) == ppn);
	}
	SSD_ASSERT(valid == b->valid && free == b->free);				/* SB1 */
	SSD_ASSERT(!free || may_have_free(b));						/* SB2 */
	SSD_ASSERT(b->state == SB_VICTIM || !may_have_free(b) || free);			/* SB2 */
	SSD_ASSERT(!b->cold || (d->host.c.superblock_cold && b->state != SB_OPEN &&	/* SB9 */
				b->state != SB_PART));
	if (!s->dis || b->failing || b->suspect || b->state == SB_VICTIM)
		return;
	for (uint32_t i = 0; i < 1u << s->levels; i++)
		SSD_ASSERT(pen_safe(sb_dis(s, block), s->levels, i, s->model.tolerance));	/* SB7 */
}

static void check_group(const struct direct *d, uint32_t plane, uint32_t group)
{
	const struct sb *s = sb_of(d);
	const struct sb_group *g = sb_group_at(s, plane, group);
	uint32_t blocks = 0, valid = 0, free = 0, open = 0, part = 0, listed = 0;

	for (uint32_t i = 0; i < s->slots; i++) {
		uint32_t block = sb_slot_block(d, plane, group, i);
		const struct sb_block *b = &s->block[block];

		if (block == DIRECT_NONE)
			continue;
		SSD_ASSERT(b->group == group && b->slot == i && b->state != SB_NONE);	/* SB2 */
		SSD_ASSERT(d->pool.block[block].state == POOL_USED);
		blocks++;
		valid += b->valid;
		free += b->state == SB_VICTIM ? 0 : b->free;
		open += b->state == SB_OPEN;
		part += b->state == SB_PART;
		SSD_ASSERT(b->state != SB_OPEN || g->open == block);			/* SB3 */
		SSD_ASSERT((b->state == SB_COLD) == (g->cold == block));		/* SB3 */
	}
	for (uint32_t b = g->part; b != DIRECT_NONE; b = s->block[b].next, listed++)
		SSD_ASSERT(s->block[b].state == SB_PART && s->block[b].group == group);	/* SB3 */
	SSD_ASSERT(blocks == g->blocks && valid == g->valid && free == g->free);	/* SB2 */
	SSD_ASSERT(open == (g->open != DIRECT_NONE) && listed == part);			/* SB3 */
}

static void check_plane(const struct direct *d, uint32_t plane)
{
	const struct sb *s = sb_of(d);
	const struct sb_plane *p = &s->plane[plane];
	uint32_t first = direct_first_block(d, plane), failing = 0, oversize = 0, wanted = 0;
	uint32_t items = sb_page_mapped(s) ? d->g->blocks_per_plane : s->groups;

	for (uint32_t block = first; block < first + d->g->blocks_per_plane; block++) {
		failing += s->block[block].state != SB_NONE && s->block[block].failing;
		if (s->block[block].state != SB_NONE)
			check_pages(d, plane, block);
	}
	for (uint32_t i = 0; i < s->groups; i++) {
		oversize += sb_group_at(s, plane, i)->blocks > s->n;
		check_group(d, plane, i);
	}
	for (uint32_t i = 0; i < items; i++)
		wanted += heap_wanted(d, plane, sb_page_mapped(s) ? first + i : i);
	SSD_ASSERT(wanted == p->heaped);						/* SB4 */
	for (uint32_t i = 0; i < p->heaped; i++) {
		SSD_ASSERT(heap_wanted(d, plane, p->heap[i]));				/* SB4 */
		SSD_ASSERT(!i || heap_key(d, plane, p->heap[(i - 1) / 2]) >=
				 heap_key(d, plane, p->heap[i]));			/* SB4 */
	}
	SSD_ASSERT(failing == p->failing && oversize == p->oversize);			/* SB5 */
}

static void check_holder(const struct direct *d, uint32_t plane, uint32_t lblock)
{
	const struct sb *s = sb_of(d);
	uint32_t ppn = s->holder[plane * s->lblocks + lblock], page;

	if (ppn == DIRECT_NONE)
		return;
	SSD_ASSERT(sb_is_valid(s, sb_back_get(s, ppn)));				/* SB8 */
	page = s->block[ppn / d->g->pages_per_block].group * s->group_pages + sb_back_get(s, ppn);
	SSD_ASSERT(page / d->g->pages_per_block == lblock);				/* SB8 */
}

static void check_map(const struct direct *d, uint32_t plane)
{
	const struct sb *s = sb_of(d);

	for (uint32_t page = 0; page < d->plane_pages; page++) {
		uint32_t ppn = sb_map_get(d, plane, page);

		SSD_ASSERT(ppn == DIRECT_NONE ||					/* SB1 */
			   sb_back_get(s, ppn) == page % s->group_pages);
		SSD_ASSERT(ppn == DIRECT_NONE || !s->parts ||				/* SB8 */
			   *holder_of(d, plane, page) != DIRECT_NONE);
	}
	for (uint32_t l = 0; s->parts && l < s->lblocks; l++)
		check_holder(d, plane, l);
}

void sb_check(const struct direct *d)
{
	for (uint32_t plane = 0; plane < d->planes; plane++) {
		check_plane(d, plane);
		check_map(d, plane);
	}
}
