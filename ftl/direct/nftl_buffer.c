// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * nftl_buffer.c - NFTL: the write buffer of a plane (ftl.write_buffer_blocks).
 *
 * A host write goes to the buffer if its pair has no room for it: the pair is being merged, its
 * U-block is full, or it needs a block and none may be taken. The buffer is a log: its pages are
 * programmed in order, in one block after another, and have the numbers of their writes, so the
 * newest copy of a page is found as before. While the buffer has room, no write waits for a merge.
 *
 * GC empties the buffer. Logical blocks with pages in it form a queue, each once, in the order of
 * the first page that came. GC takes the first one and moves its pages, each to where a host write
 * of it would go now. If there is no room, GC merges first, and continues with the same logical
 * block. A block of the buffer that is full and has no valid page is erased, the oldest first. A
 * later write of a buffered page, or a merge of its logical block, makes the copy invalid, too.
 *
 * write_buffer_blocks are free for the buffer or in it, so it can always grow to this size
 * (unless blocks fail). It never fills if all L logical blocks of a plane are served before it is full: each is served
 * once a round, so between a write and its move there are at most about 2 L merges. After a mount it may have more, if
 * a block returns that an earlier mount could not read; then it takes no block until it has fewer.
 *
 * Invariants: N5 of nftl_mount.c, and
 *   - a page is in the map if and only if the buffer has its newest copy. A write to the pair, a move and a merge take
 *     it out. A host write takes no block while the buffer has pages, so that it does not overtake them;
 *   - a merge copies the newest copy, wherever it is, since an older version with a higher number would be the newest
 *     to a mount. For pages that are written after their copies (`late`) the buffer stays valid;
 *   - free blocks are enough for the buffer to grow to its size (nftl_buffer_left), and one more for a merge;
 *   - GC that finds the buffer empty at its turn ends (overtaken() in nftl_merge.c).
 */
#include "direct_mount.h"
#include "direct_ops.h"
#include "nftl.h"
#include "nftl_buffer.h"
#include "nftl_state.h"

static struct nftl_buffer *buffer_of(const struct direct *d, uint32_t plane)
{
	return &nftl_of(d)->plane[plane].buffer;
}

static uint32_t *entry(const struct direct *d, uint32_t plane, uint32_t page)
{
	const struct nftl *s = nftl_of(d);

	return &s->buffered[(size_t)plane * s->lblocks * d->g->pages_per_block + page];
}

static uint32_t *queued(const struct direct *d, uint32_t plane, uint32_t lblock)
{
	const struct nftl *s = nftl_of(d);

	return &s->queued[(size_t)plane * s->lblocks + lblock];
}

/* Returns the ppn of the page's newest copy if that is in the buffer, or NFTL_NONE. */
uint32_t nftl_buffered(const struct direct *d, uint32_t plane, uint32_t page)
{
	return nftl_of(d)->buffered ? *entry(d, plane, page) : NFTL_NONE;
}

uint32_t nftl_lookup(const struct direct *d, uint32_t plane, uint32_t page)
{
	uint32_t ppn = nftl_buffered(d, plane, page);

	return ppn != NFTL_NONE ? ppn : nftl_lookup_pair(d, plane, page);
}

/* Returns how many blocks the buffer may still take. */
uint32_t nftl_buffer_left(const struct direct *d, uint32_t plane)
{
	uint32_t most = d->host.c.write_buffer_blocks, blocks = buffer_of(d, plane)->blocks;

	return most > blocks ? most - blocks : 0;
}

void nftl_buffer_init(struct direct *d, uint32_t plane)
{
	const struct nftl *s = nftl_of(d);

	*buffer_of(d, plane) = (struct nftl_buffer){ .first = NFTL_NONE, .last = NFTL_NONE,
						     .queue_first = s->lblocks, .queue_last = s->lblocks };
	if (!s->buffered)
		return;
	for (uint32_t i = 0; i < s->lblocks; i++) {
		*queued(d, plane, i) = NFTL_NONE;
		for (uint32_t k = 0; k < d->g->pages_per_block; k++)
			*entry(d, plane, i * d->g->pages_per_block + k) = NFTL_NONE;
	}
}

/* ---- the queue of logical blocks ------------------------------------------------------- */

static void queue_add(struct direct *d, uint32_t plane, uint32_t lblock)
{
	struct nftl_buffer *b = buffer_of(d, plane);
	uint32_t none = nftl_of(d)->lblocks;

	if (*queued(d, plane, lblock) != NFTL_NONE)
		return;
	*queued(d, plane, lblock) = none;
	if (b->queue_first == none)
		b->queue_first = lblock;
	else
		*queued(d, plane, b->queue_last) = lblock;
	b->queue_last = lblock;
}

static uint32_t queue_take(struct direct *d, uint32_t plane)
{
	struct nftl_buffer *b = buffer_of(d, plane);
	uint32_t lblock = b->queue_first;

	b->queue_first = *queued(d, plane, lblock);
	*queued(d, plane, lblock) = NFTL_NONE;
	return lblock;
}

/* Returns how many pages of a logical block have their newest copy in the buffer. */
uint32_t nftl_buffer_count(const struct direct *d, uint32_t plane, uint32_t lblock)
{
	uint32_t n = 0;

	if (!nftl_of(d)->buffered)
		return 0;
	for (uint32_t k = 0; k < d->g->pages_per_block; k++)
		n += *entry(d, plane, lblock * d->g->pages_per_block + k) != NFTL_NONE;
	return n;
}

/* Returns the first logical block that has pages in the buffer, which is not empty. */
uint32_t nftl_buffer_next(struct direct *d, uint32_t plane)
{
	struct nftl_buffer *b = buffer_of(d, plane);

	while (!nftl_buffer_count(d, plane, b->queue_first))
		(void)queue_take(d, plane);
	return b->queue_first;
}

/*
 * The pages of the queue's first logical block were moved: remove it from the queue or, if the host has buffered others
 * since, put it at the end.
 */
void nftl_buffer_drained(struct direct *d, uint32_t plane)
{
	uint32_t lblock = queue_take(d, plane);

	if (nftl_buffer_count(d, plane, lblock))
		queue_add(d, plane, lblock);
}

/* ---- blocks ---------------------------------------------------------------------------- */

static void append_block(struct direct *d, uint32_t plane, uint32_t block)
{
	struct nftl *s = nftl_of(d);
	struct nftl_buffer *b = buffer_of(d, plane);

	s->block[block].next = NFTL_NONE;
	if (b->first == NFTL_NONE)
		b->first = block;
	else
		s->block[b->last].next = block;
	b->last = block;
	b->blocks++;
}

/* Returns the oldest block if it can be erased, or NFTL_NONE. */
uint32_t nftl_buffer_empty(const struct direct *d, uint32_t plane)
{
	const struct nftl_buffer *b = buffer_of(d, plane);
	bool open = b->first == b->last && b->end < d->g->pages_per_block;

	if (b->first == NFTL_NONE || open || nftl_count(d, nftl_of(d)->valid, b->first))
		return NFTL_NONE;
	return b->first;
}

/* Remove the oldest block from the list, so that it can be erased. It must have no valid page. */
uint32_t nftl_buffer_unlink(struct direct *d, uint32_t plane)
{
	struct nftl_buffer *b = buffer_of(d, plane);
	uint32_t block = b->first;

	b->first = nftl_of(d)->block[block].next;
	if (b->first == NFTL_NONE)
		b->last = NFTL_NONE;
	b->blocks--;
	return block;
}

/* ---- pages ------------------------------------------------------------------------------ */

/* Do what direct_scheme.place does; DIRECT_GC means that the buffer is full. */
enum direct_room nftl_buffer_place(struct direct *d, uint32_t plane, uint32_t *ppn)
{
	struct nftl *s = nftl_of(d);
	struct nftl_buffer *b = buffer_of(d, plane);
	enum direct_room room;
	uint32_t block;

	if (b->last == NFTL_NONE || b->end == d->g->pages_per_block) {
		if (!nftl_buffer_left(d, plane))
			return DIRECT_GC;
		room = direct_take(d, plane, 1, &block);	/* the last free block is kept for a merge */
		if (room != DIRECT_ROOM)
			return room == DIRECT_FULL ? DIRECT_GC : room;
		s->block[block] = (struct nftl_block){ .is_w = true };
		append_block(d, plane, block);
		b->end = 0;
	}
	*ppn = direct_ppn(d, b->last, b->end++);
	bit_set(s->used, *ppn);
	return DIRECT_ROOM;
}

/* Drop the buffer's copy of a page, which is no longer the newest. Returns false if there is none. */
bool nftl_buffer_drop(struct direct *d, uint32_t plane, uint32_t page)
{
	struct nftl *s = nftl_of(d);
	uint32_t ppn = nftl_buffered(d, plane, page);

	if (ppn == NFTL_NONE)
		return false;
	bit_clear(s->valid, ppn);
	*entry(d, plane, page) = NFTL_NONE;
	buffer_of(d, plane)->pages--;
	return true;
}

/* Drop the pair's copy of a page, which is no longer the newest. Returns false if there is none. */
static bool drop_from_pair(struct direct *d, uint32_t plane, uint32_t page)
{
	uint32_t ppb = d->g->pages_per_block, lblock = page / ppb;
	const struct nftl_pair *l = nftl_pair_of(d, plane, lblock);
	uint32_t ppn = nftl_lookup_pair(d, plane, page);

	if (ppn == NFTL_NONE)
		return false;
	bit_clear(nftl_of(d)->valid, ppn);
	if (l->u != NFTL_NONE)
		nftl_pos_of(d, plane, l->u)[page % ppb] = NFTL_NO_POS;
	if (l->u != NFTL_NONE && !nftl_merging(d, plane, lblock))
		nftl_one_more_invalid(d, plane, l->u);
	return true;
}

/*
 * The program of a page in the buffer ended: map it. If its logical block is being merged, and the page was copied
 * already, the copy is out of date; if it was not and is new, there is one more page to copy.
 */
void nftl_buffer_written(struct direct *d, uint32_t plane, uint32_t page, uint32_t ppn, bool ok)
{
	struct nftl *s = nftl_of(d);
	struct nftl_buffer *b = buffer_of(d, plane);
	struct nftl_gc *gc = &s->plane[plane].gc;
	uint32_t ppb = d->g->pages_per_block;
	bool known;

	if (!ok) {
		s->block[ppn / ppb].retire = true;
		b->end = ppb;
		return;
	}
	known = nftl_buffer_drop(d, plane, page) || drop_from_pair(d, plane, page);
	*entry(d, plane, page) = ppn;
	bit_set(s->valid, ppn);
	b->pages++;
	queue_add(d, plane, page / ppb);
	if (gc->phase != NFTL_MERGE || gc->lblock != page / ppb)
		return;
	if (page % ppb < gc->at)
		s->late[(size_t)plane * ppb + page % ppb] = true;
	else
		gc->left += !known;
}

/* ---- mount ------------------------------------------------------------------------------ */

/* Insert a block into the list by its highest sequence. */
static void insert(struct direct *d, uint32_t plane, uint32_t block)
{
	struct nftl *s = nftl_of(d);
	struct nftl_buffer *b = buffer_of(d, plane);
	uint32_t at = NFTL_NONE, next = b->first;

	while (next != NFTL_NONE && s->block[next].seq < s->block[block].seq) {
		at = next;
		next = s->block[next].next;
	}
	if (next == NFTL_NONE) {
		append_block(d, plane, block);
		return;
	}
	s->block[block].next = next;
	if (at == NFTL_NONE)
		b->first = block;
	else
		s->block[at].next = block;
	b->blocks++;
}

/* Read the spare areas of a block of the buffer. Pages that are newer than the copies found so far become valid. */
static void read_block(struct direct *d, uint32_t plane, uint32_t block)
{
	struct nftl *s = nftl_of(d);
	struct direct_oob oob, other;

	buffer_of(d, plane)->end = 0;
	for (uint32_t i = 0; i < d->g->pages_per_block; i++) {
		uint32_t ppn = direct_ppn(d, block, i), page, old;

		if (bit_get(s->used, ppn))
			buffer_of(d, plane)->end = i + 1;
		if (!bit_get(s->valid, ppn))
			continue;
		bit_clear(s->valid, ppn);
		if (!direct_mount_oob(d, ppn, &oob))
			continue;
		page = direct_page_of_lpn(d, oob.lpn);
		old = nftl_lookup(d, plane, page);
		if (old == NFTL_NONE || !direct_mount_oob(d, old, &other) || other.seq < oob.seq)
			nftl_buffer_written(d, plane, page, ppn, true);
	}
	if (s->block[block].suspect)
		buffer_of(d, plane)->end = d->g->pages_per_block;
}

/* Mount the plane's write buffer, whose pairs are known. Blocks without a valid page are leftovers. */
void nftl_mount_buffer(struct direct *d, uint32_t plane)
{
	struct nftl *s = nftl_of(d);
	struct nftl_buffer *b = buffer_of(d, plane);
	uint32_t first = direct_first_block(d, plane), block, next;

	for (uint32_t i = first; i < first + d->g->blocks_per_plane; i++) {
		if (d->pool.block[i].state != POOL_USED || !s->block[i].is_w)
			continue;
		s->block[i].suspect = d->g->pb_levels > 0;
		insert(d, plane, i);
	}
	for (block = b->first; block != NFTL_NONE; block = s->block[block].next)
		read_block(d, plane, block);
	block = b->first;
	b->first = b->last = NFTL_NONE;
	b->blocks = 0;
	for (; block != NFTL_NONE; block = next) {
		next = s->block[block].next;
		if (nftl_count(d, s->valid, block)) {
			append_block(d, plane, block);
			continue;
		}
		nftl_leftover(d, block);
		if (next == NFTL_NONE)
			b->end = d->g->pages_per_block;	/* the last block left is not the one that was open */
	}
}

/* ---- invariants ---------------------------------------------------------------------------- */

void nftl_check_buffer(const struct direct *d, uint32_t plane)
{
	const struct nftl *s = nftl_of(d);
	const struct nftl_buffer *b = buffer_of(d, plane);
	uint32_t blocks = 0, valid = 0, mapped = 0, in_queue = 0, left = 0;

	for (uint32_t i = b->first; i != NFTL_NONE; i = s->block[i].next, blocks++) {
		SSD_ASSERT(d->pool.block[i].state == POOL_USED && s->block[i].is_w);		/* N1 */
		SSD_ASSERT(s->block[i].next != NFTL_NONE || i == b->last);
		valid += nftl_count(d, s->valid, i);
	}
	SSD_ASSERT(blocks == b->blocks && valid == b->pages);					/* N5 */
	if (!s->buffered)
		return;
	for (uint32_t i = b->queue_first; i != s->lblocks; i = *queued(d, plane, i))
		in_queue++;
	for (uint32_t i = 0; i < s->lblocks; i++) {
		uint32_t n = nftl_buffer_count(d, plane, i);

		mapped += n;
		left += *queued(d, plane, i) != NFTL_NONE;
		SSD_ASSERT(!n || *queued(d, plane, i) != NFTL_NONE);				/* N5 */
	}
	SSD_ASSERT(mapped == b->pages && in_queue == left);					/* N5 */
	for (uint32_t page = 0; page < s->lblocks * d->g->pages_per_block; page++) {
		uint32_t ppn = *entry(d, plane, page);

		SSD_ASSERT(ppn == NFTL_NONE || (bit_get(s->valid, ppn) && bit_get(s->used, ppn)));	/* N5 */
	}
}
