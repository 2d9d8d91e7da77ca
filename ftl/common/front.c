// SPDX-License-Identifier: GPL-2.0-or-later
/* front.c - see front.h */
#include "front.h"

/*
 * Size of a parity page's spare area behind the units: XOR of the heads, then struct front_parity.
 */
#define KEPT_BYTES(upp) OOB_BYTES(upp)
#define EXTRA_BYTES (OOB_HEAD_BYTES + 4u + 4u + 4u + 2u)

uint32_t front_oob_bytes(const struct front_policy *p, uint32_t upp)
{
	return KEPT_BYTES(upp) + (p->group ? EXTRA_BYTES : 0);
}

bool front_own(const struct front_policy *p, enum ftl_gc_frontier where)
{
	return where == FTL_GC_AUTO ? !p->shared : where == FTL_GC_OWN;
}

/* ---- sequences ------------------------------------------------------------ */

uint32_t front_page_of(const struct front *fr, uint32_t k)
{
	uint32_t w = fr->word_lines;

	switch (fr->sequence) {
	case SEQ_ASCENDING:
		break;
	case SEQ_FPS:
		if (k == 0 || k == 2 * w - 1)
			return k;
		return k & 1 ? k + 1 : k - 1;	/* in turn L((k + 1) / 2) and M(k / 2 - 1) */
	case SEQ_TWO_PHASE:
		return k < w ? 2 * k : 2 * (k - w) + 1;
	}
	return k;
}

uint32_t front_fast_taken(const struct front *fr, uint32_t k)
{
	uint32_t fast = fr->sequence == SEQ_TWO_PHASE ? k : k ? k / 2 + 1 : 0;

	return fast < fr->word_lines ? fast : fr->word_lines;
}

uint32_t front_group_of(const struct front *fr, uint32_t word_line)
{
	return word_line - word_line % fr->group;
}

uint32_t front_group_end(const struct front *fr, uint32_t word_line)
{
	uint32_t end = front_group_of(fr, word_line) + fr->group;

	return end < fr->word_lines ? end : fr->word_lines;
}

/* ---- policies: which slot --------------------------------------------------- */

static bool usable(const struct front *fr, uint32_t plane, uint32_t slot, bool may_open)
{
	return fr->plane[plane].open[slot] != BLK_NONE || may_open;
}

/*
 * Choose a slot by stream. But while few blocks are free, a page that may go to another stream's open block does so,
 * and the plane opens no block for it. So GC needs no more free blocks than with a single slot.
 */
static uint32_t pick_by_stream(const struct front *fr, uint32_t plane, uint32_t first, uint32_t streams,
			       const struct front_ask *q)
{
	const uint32_t *open = fr->plane[plane].open;
	uint32_t slot = first + q->stream, other = FRONT_NONE;

	for (uint32_t i = first; i < first + streams && q->mixes && other == FRONT_NONE; i++)
		if (i != slot && open[i] != BLK_NONE)
			other = i;
	if (open[slot] != BLK_NONE || (q->may_open && (q->plenty || other == FRONT_NONE)))
		return slot;
	return other;
}

static uint32_t page_pick(const struct front *fr, uint32_t plane, const struct front_ask *q)
{
	uint32_t slot = q->who == FRONT_MAP ? front_map_slot(fr) : q->who == FRONT_GC ? fr->copies : FRONT_HOST;

	if (q->who == FRONT_HOST && (q->cache || q->cache_waits))
		return q->cache ? fr->slc : FRONT_NONE;
	if (fr->c.streams > 1 && q->who != FRONT_MAP)
		return pick_by_stream(fr, plane, slot, slot == FRONT_HOST ? fr->c.streams : fr->c.copy_streams, q);
	return usable(fr, plane, slot, q->may_open) ? slot : FRONT_NONE;
}

/* Is the page a copy, and does it go to GC's own block? */
static bool own_copy(const struct front *fr, const struct front_ask *q)
{
	return fr->c.own && q->who == FRONT_GC && !q->idle && !q->mounting;
}

/* Does the slot take pages of this kind? */
static bool serves(const struct front *fr, uint32_t slot, const struct front_ask *q)
{
	return !fr->c.own || q->mounting || (slot == fr->copies) == own_copy(fr, q);
}

/* Returns an open block whose next page is of the type, or FRONT_NONE. */
static uint32_t slot_of_type(const struct front *fr, uint32_t plane, bool fast,
			     const struct front_ask *q)
{
	const struct front_plane *p = &fr->plane[plane];

	for (uint32_t i = 0; i < fr->slots + FRONT_SPARES; i++)
		if (p->open[i] != BLK_NONE && serves(fr, i, q) && front_next_fast(fr, p->open[i]) == fast)
			return i;
	return FRONT_NONE;
}

/* Choose a slot as `page` does, but first blocks that a mount put into the spare slots. */
static uint32_t parity_pick(const struct front *fr, uint32_t plane, const struct front_ask *q)
{
	uint32_t slot = q->mounting ? slot_of_type(fr, plane, true, q) : FRONT_NONE;

	if (q->mounting && slot == FRONT_NONE)
		slot = slot_of_type(fr, plane, false, q);
	if (slot != FRONT_NONE)
		return slot;
	for (uint32_t i = fr->slots; (q->who == FRONT_HOST || !fr->c.own) && i < fr->slots + FRONT_SPARES; i++)
		if (fr->plane[plane].open[i] != BLK_NONE)
			return i;
	return page_pick(fr, plane, q);
}

static uint32_t empty_slot(const struct front *fr, uint32_t plane, const struct front_ask *q)
{
	for (uint32_t i = 0; i < fr->slots; i++)
		if (fr->plane[plane].open[i] == BLK_NONE && serves(fr, i, q))
			return i;
	return FRONT_NONE;
}

static uint32_t rtf_pick(const struct front *fr, uint32_t plane, const struct front_ask *q)
{
	bool fast = q->who == FRONT_HOST || q->mounting;
	uint32_t slot = slot_of_type(fr, plane, fast, q);

	if (slot != FRONT_NONE)
		return slot;
	if (fast && q->may_open && empty_slot(fr, plane, q) != FRONT_NONE)
		return empty_slot(fr, plane, q);
	slot = slot_of_type(fr, plane, !fast, q);
	if (slot != FRONT_NONE)
		return slot;
	return q->may_open ? empty_slot(fr, plane, q) : FRONT_NONE;
}

static bool copies_as_host(const struct front *fr)
{
	return fr->c.gc_pages == FTL_GC_AS_HOST || fr->c.gc_pages == FTL_GC_AS_HOST_OF_DRIVE;
}

/*
 * Returns the plane whose last_fast counts for this one: itself, or plane 0 if page types alternate over the whole
 * drive.
 */
static struct front_plane *turn_of(const struct front *fr, uint32_t plane)
{
	return &fr->plane[fr->c.gc_pages == FTL_GC_AS_HOST_OF_DRIVE ? 0 : plane];
}

/*
 * Is the next page to be an LSB page? u and q decide this for the host (section 3.3.2); copies in idle times take MSB
 * pages.
 */
static bool flex_wants_fast(const struct front *fr, uint32_t plane, const struct front_ask *q)
{
	if (q->mounting)
		return true;
	if (q->who == FRONT_GC && (q->idle || !copies_as_host(fr)))
		return !q->idle && fr->c.gc_pages == FTL_GC_FAST;
	if (q->busy_permille < fr->c.slow_below_permille)
		return false;
	if (q->busy_permille > fr->c.fast_above_permille && fr->quota > 0)
		return true;
	return !turn_of(fr, plane)->last_fast;
}

static uint32_t flex_pick(const struct front *fr, uint32_t plane, const struct front_ask *q)
{
	bool fast = flex_wants_fast(fr, plane, q), slow_there = usable(fr, plane, FRONT_SLOW, false);
	bool may_open = q->may_open && (q->who == FRONT_HOST || q->plenty);
	uint32_t last = fr->c.own && q->who == FRONT_GC && !q->mounting ? FRONT_COPIES : FRONT_FAST;

	if (own_copy(fr, q))
		return usable(fr, plane, FRONT_COPIES, q->may_open) ? FRONT_COPIES : FRONT_NONE;
	/* A backup block can hold the parity pages of at most this many blocks. The reserves rely on this. */
	if (slow_there && fr->plane[plane].slow_count + fr->c.own >= fr->word_lines)
		fast = false;
	if (fast && usable(fr, plane, FRONT_FAST, may_open))
		return FRONT_FAST;
	if (slow_there)
		return FRONT_SLOW;
	return usable(fr, plane, last, q->may_open) ? last : FRONT_NONE;
}

const struct front_policy front_page_policy = { "page", SEQ_FPS, 0, false, false, page_pick };
const struct front_policy front_parity_policy = { "parity", SEQ_FPS, 2, false, false, parity_pick };
const struct front_policy front_rtf_policy = { "rtf", SEQ_FPS, 2, true, true, rtf_pick };
const struct front_policy front_flex_policy = { "flex", SEQ_TWO_PHASE, FRONT_WHOLE_BLOCK, true, false,
						flex_pick };

/* ---- configuration ---------------------------------------------------------- */

bool front_by_word_lines(const struct nand_geometry *g)
{
	return g->order == NAND_ORDER_FPS || g->order == NAND_ORDER_RPS;
}

uint32_t front_group(const struct front_policy *policy, const struct nand_geometry *g)
{
	uint32_t word_lines = g->pages_per_block / 2;

	if (!front_by_word_lines(g))
		return 0;
	return policy->group < word_lines ? policy->group : word_lines;
}

uint32_t front_host_blocks(const struct front_policy *policy, const struct ftl_config *c)
{
	return policy->returns_to_fast ? c->active_blocks : policy == &front_flex_policy ? 2 : 1;
}

uint32_t front_parity_most(const struct front_policy *policy, const struct ftl_config *c,
			   const struct nand_geometry *g, uint64_t pages)
{
	uint64_t group = front_group(policy, g), blocks = policy->returns_to_fast ? c->active_blocks : 1;

	if (!group || !pages)
		return 0;
	return (uint32_t)(pages < blocks ? pages : blocks + (pages - blocks) / group);
}

const char *front_fault(const struct front_policy *p, const struct ftl_config *c, const struct nand_geometry *g)
{
	bool flex = p == &front_flex_policy;

	if (front_by_word_lines(g) && g->bits_per_cell != 2)
		return "order must be ascending or none unless bits_per_cell is 2: the FTL knows the order of "
		       "LSB and MSB pages alone";
	if (p == &front_page_policy)
		return NULL;
	if (!front_by_word_lines(g) || (flex && g->order != NAND_ORDER_RPS))
		return flex ? "order must be rps: the FTL writes all LSB pages of a block before its MSB pages" :
			      "order must be fps or rps: the FTL backs up LSB pages before the MSB pages that "
			      "share their cells";
	if (!flex && g->pages_per_block % 4)
		return "pages_per_block must be a multiple of 4: parity pages cover two word lines each";
	if (p == &front_rtf_policy && (!c->active_blocks || c->active_blocks > FRONT_ACTIVE_MAX))
		return "active_blocks must be 1 .. 16";
	if (flex && (c->fast_above_permille > 1000 || c->slow_below_permille > c->fast_above_permille))
		return "slow_below_permille <= fast_above_permille <= 1000 must hold";
	return flex && c->quota_permille > 1000 ? "quota_permille must be at most 1000" : NULL;
}

/* ---- life ------------------------------------------------------------------- */

static uint32_t host_slots(const struct front_config *c)
{
	if (c->policy == &front_rtf_policy)
		return c->active_blocks;
	return c->policy == &front_flex_policy ? FRONT_SLOW + 1 : FRONT_HOST + (c->streams ? c->streams : 1u);
}

uint32_t front_slots(const struct front_config *c)
{
	return host_slots(c) + (c->own ? (c->copy_streams ? c->copy_streams : 1u) : 0) + c->slc;
}

static uint32_t copies_slot(const struct front_config *c)
{
	if (c->own)
		return host_slots(c);
	return c->policy->shared ? FRONT_SLOW : FRONT_HOST;
}

/* Returns the number of slots that take LSB pages and therefore have a parity in hand. */
static uint32_t covering_slots(const struct front_config *c)
{
	if (!c->policy->group)
		return 0;
	if (c->policy->word_lines == SEQ_TWO_PHASE)
		return c->own ? FRONT_COPIES + 1 : FRONT_FAST + 1;
	return front_slots(c) + FRONT_SPARES;
}

void front_lay_out(struct front *fr, struct ssd_arena *m, const struct front_config *c,
		   const struct nand_geometry *g)
{
	uint32_t planes = geo_planes(g);

	*fr = (struct front){ .c = *c, .g = g, .slots = front_slots(c), .host_slots = host_slots(c),
			      .copies = copies_slot(c), .covers = covering_slots(c) };
	fr->parity_bytes = (g->page_bytes + KEPT_BYTES(c->units_per_page) + 7) / 8 * 8;
	fr->plane = ssd_carve(m, planes, sizeof(*fr->plane));
	fr->open = ssd_carve(m, (size_t)planes * (fr->slots + FRONT_SPARES), sizeof(*fr->open));
	fr->parity = ssd_carve(m, fr->covers ? (size_t)planes * fr->covers + 1 : 0, fr->parity_bytes);
	if (front_by_word_lines(g)) {
		fr->sequence = c->policy->word_lines;
		fr->word_lines = g->pages_per_block / 2;
		fr->group = front_group(c->policy, g);
	}
	fr->plain = fr->sequence == SEQ_ASCENDING && c->own && c->streams <= 1 && !c->slc && !c->chosen;
	fr->slc = c->slc ? fr->slots - 1 : FRONT_NONE;
	fr->block_pages[0] = g->pages_per_block;
	fr->block_pages[1] = g->pages_per_block / g->bits_per_cell;
	fr->quota_start = (int64_t)(geo_pages(g) / 2 * c->quota_permille / 1000);
	fr->quota = fr->quota_start;
}

void front_init(struct front *fr, const struct nand *n, struct blk_table *bt,
		struct ftl_stats *stats)
{
	fr->n = n;
	fr->stats = stats;
	fr->bt = bt;
	for (uint32_t p = 0; p < geo_planes(fr->g); p++) {
		struct front_plane *pl = &fr->plane[p];

		*pl = (struct front_plane){ .open = fr->open + (size_t)p * (fr->slots + FRONT_SPARES),
					    .debt = BLK_NONE, .backup = BLK_NONE, .slow_last = BLK_NONE,
					    .spent = BLK_NONE };
		for (uint32_t i = 0; i < fr->slots + FRONT_SPARES; i++)
			pl->open[i] = BLK_NONE;
		for (uint32_t i = 0; i < fr->covers; i++)
			front_forget(fr, p, i);
	}
}

/* ---- the quota ---------------------------------------------------------------- */

/* Returns the number of pages by which a block's LSB pages are ahead of its MSB pages. */
static int64_t ahead_of(const struct front *fr, uint32_t b)
{
	uint32_t k = fr->bt->blk[b].next_page, fast = front_fast_taken(fr, k);

	return (int64_t)fast - (int64_t)(k - fast);
}

/* ---- slots --------------------------------------------------------------------- */

static void slow_append(struct front *fr, uint32_t plane, uint32_t b)
{
	struct front_plane *p = &fr->plane[plane];

	fr->bt->blk[b].next = BLK_NONE;
	if (p->open[FRONT_SLOW] == BLK_NONE)
		p->open[FRONT_SLOW] = b;
	else
		fr->bt->blk[p->slow_last].next = b;
	p->slow_last = b;
	p->slow_count++;
}

static bool slow_remove(struct front *fr, uint32_t plane, uint32_t b)
{
	struct front_plane *p = &fr->plane[plane];
	uint32_t *link = &p->open[FRONT_SLOW], before = BLK_NONE;

	while (*link != BLK_NONE && *link != b) {
		before = *link;
		link = &fr->bt->blk[*link].next;
	}
	if (*link == BLK_NONE)
		return false;
	*link = fr->bt->blk[b].next;
	if (p->slow_last == b)
		p->slow_last = before;
	p->slow_count--;
	return true;
}

uint32_t front_open(struct front *fr, uint32_t plane, uint32_t slot)
{
	uint32_t b = slot == fr->slc ? blk_take_slc(fr->bt, plane) : blk_take_free(fr->bt, plane);

	SSD_ASSERT(fr->plane[plane].open[slot] == BLK_NONE);
	fr->plane[plane].open[slot] = b;
	return b;
}

void front_put(struct front *fr, uint32_t plane, uint32_t slot, uint32_t b)
{
	fr->bt->blk[b].state = BLK_OPEN;
	if (fr->word_lines)
		fr->quota -= ahead_of(fr, b);
	if (fr->sequence == SEQ_TWO_PHASE && slot == FRONT_SLOW) {
		slow_append(fr, plane, b);
		return;
	}
	SSD_ASSERT(fr->plane[plane].open[slot] == BLK_NONE);
	fr->plane[plane].open[slot] = b;
}

static uint32_t slot_holding(const struct front *fr, uint32_t plane, uint32_t b)
{
	for (uint32_t i = 0; i < fr->slots + FRONT_SPARES; i++)
		if (fr->plane[plane].open[i] == b)
			return i;
	return FRONT_NONE;
}

void front_drop(struct front *fr, uint32_t b)
{
	uint32_t plane = geo_plane_of(fr->g, (pbn_t){ b }), slot = slot_holding(fr, plane, b);
	struct front_plane *p = &fr->plane[plane];
	bool here = slot != FRONT_NONE || p->debt == b;

	if (fr->sequence == SEQ_TWO_PHASE && slow_remove(fr, plane, b)) {
		here = true;
	} else if (slot != FRONT_NONE) {
		p->open[slot] = BLK_NONE;
		if (slot < fr->covers)
			front_forget(fr, plane, slot);
	}
	if (p->debt == b) {
		p->debt = BLK_NONE;
		if (p->debt_slot < fr->covers)
			front_forget(fr, plane, p->debt_slot);
	}
	if (fr->word_lines && here)
		fr->quota += ahead_of(fr, b);
}

/*
 * An LSB page of word line w was taken. Depending on the policy, the block becomes
 * slow, or its plane owes a parity page.
 */
static void took_fast(struct front *fr, uint32_t plane, uint32_t slot, uint32_t b, uint32_t w)
{
	struct front_plane *p = &fr->plane[plane];

	fr->quota--;
	fr->stats->fast_pages++;
	if (fr->group && w + 1 == front_group_end(fr, w)) {
		SSD_ASSERT(p->debt == BLK_NONE);
		p->debt = b;
		p->debt_slot = slot;
	}
	if (fr->sequence == SEQ_TWO_PHASE && slot == FRONT_FAST && w + 1 == fr->word_lines) {
		p->open[FRONT_FAST] = BLK_NONE;
		slow_append(fr, plane, b);
	}
}

static void took_slow(struct front *fr, uint32_t plane, uint32_t slot, uint32_t b, uint32_t w)
{
	struct front_plane *p = &fr->plane[plane];

	fr->quota++;
	fr->stats->slow_pages++;
	if (fr->group && w + 1 == front_group_end(fr, w)) {
		if (fr->c.backup_ahead)
			p->spent = b;
		else
			front_void(fr, b);
	}
	if (fr->bt->blk[b].next_page < fr->g->pages_per_block)
		return;
	if (fr->sequence == SEQ_TWO_PHASE && slot == FRONT_SLOW)
		slow_remove(fr, plane, b);
	else
		p->open[slot] = BLK_NONE;
	blk_close(fr->bt, b);
}

uint32_t front_take_paired(struct front *fr, uint32_t plane, uint32_t slot, enum frontier who)
{
	struct front_plane *p = &fr->plane[plane];
	uint32_t b = p->open[slot], page;

	SSD_ASSERT(b != BLK_NONE && p->debt == BLK_NONE && !p->paying);
	if (p->spent != BLK_NONE)	/* the plane's last program has ended */
		front_void(fr, p->spent);
	p->spent = BLK_NONE;
	page = front_page_of(fr, fr->bt->blk[b].next_page++);
	if (who == FRONT_HOST || copies_as_host(fr))
		turn_of(fr, plane)->last_fast = !(page & 1);
	if (page & 1)
		took_slow(fr, plane, slot, b, page / 2);
	else
		took_fast(fr, plane, slot, b, page / 2);
	return geo_ppn(fr->g, (pbn_t){ b }, page).v;
}

bool front_some_slow(const struct front *fr, uint32_t plane)
{
	const struct front_ask q = { .who = FRONT_GC, .idle = true };

	return slot_of_type(fr, plane, false, &q) != FRONT_NONE;
}

/* ---- parity in hand --------------------------------------------------------------- */

static uint8_t *in_hand(const struct front *fr, uint32_t plane, uint32_t slot)
{
	SSD_ASSERT(slot <= fr->covers && fr->covers);
	if (slot == fr->covers)		/* the slot is that of a mount, not of the policy */
		return fr->parity + (size_t)geo_planes(fr->g) * fr->covers * fr->parity_bytes;
	return fr->parity + ((size_t)plane * fr->covers + slot) * fr->parity_bytes;
}

static void xor_bytes(uint8_t *to, const uint8_t *from, size_t len)
{
	for (; len >= 8; len -= 8, to += 8, from += 8) {
		uint64_t a, b;

		memcpy(&a, to, 8);
		memcpy(&b, from, 8);
		a ^= b;
		memcpy(to, &a, 8);
	}
	for (; len; len--)
		*to++ ^= *from++;
}

void front_forget(struct front *fr, uint32_t plane, uint32_t slot)
{
	memset(in_hand(fr, plane, slot), 0, fr->parity_bytes);
}

void front_xor(struct front *fr, uint32_t plane, uint32_t slot, const void *data, const uint8_t *oob)
{
	uint8_t *p = in_hand(fr, plane, slot);

	if (data)
		xor_bytes(p, data, fr->g->page_bytes);
	xor_bytes(p + fr->g->page_bytes, oob, KEPT_BYTES(fr->c.units_per_page));
}

void front_cover(struct front *fr, uint32_t plane, uint32_t ppn, const void *data, const uint8_t *oob)
{
	const struct front_plane *p = &fr->plane[plane];
	uint32_t b = ppn / fr->g->pages_per_block;

	if (!fr->group || (ppn % fr->g->pages_per_block) & 1)
		return;
	front_xor(fr, plane, p->debt == b ? p->debt_slot : slot_holding(fr, plane, b), data, oob);
}

/* ---- backup blocks -------------------------------------------------------------------- */

static uint32_t backup_room(const struct front *fr)
{
	return fr->sequence == SEQ_TWO_PHASE ? fr->word_lines : fr->g->pages_per_block;
}

/*
 * Release a backup block that is full and has no valid parity page. The program that made the last
 * parity page invalid may not have begun yet, so a later command of the die erases or retires the
 * block.
 */
static void release_backup(struct front *fr, uint32_t bb)
{
	struct blk *k = &fr->bt->blk[bb];

	if (k->live || k->backup == BLK_BACKUP_OPEN)
		return;
	if (k->backup == BLK_BACKUP_FAILED) {
		blk_retire(fr->bt, bb);
		return;
	}
	k->state = BLK_VICTIM;
	blk_put_free(fr->bt, bb, true);
}

void front_void(struct front *fr, uint32_t b)
{
	struct blk *k = &fr->bt->blk[b];
	uint32_t bb;

	if (!k->parity)
		return;
	bb = (k->parity - 1) / fr->g->pages_per_block;
	k->parity = 0;
	SSD_ASSERT(fr->bt->blk[bb].live);
	fr->bt->blk[bb].live--;
	release_backup(fr, bb);
}

void front_open_backup(struct front *fr, uint32_t plane)
{
	struct front_plane *p = &fr->plane[plane];

	SSD_ASSERT(p->backup == BLK_NONE);
	p->backup = blk_take_free(fr->bt, plane);
	fr->bt->blk[p->backup].backup = BLK_BACKUP_OPEN;
}

const void *front_backup(struct front *fr, uint32_t plane, uint32_t slot,
			 const struct front_parity *what, uint32_t *ppn, uint8_t *oob)
{
	uint32_t b = fr->plane[front_backup_plane(fr, plane)].backup;
	struct blk *bb = &fr->bt->blk[b];
	const uint8_t *hand = in_hand(fr, plane, slot), *spare = hand + fr->g->page_bytes;
	struct oob_head h = { .order = ++fr->backup_seq, .mark = fr->backup_seq, .kind = OOB_PARITY };
	uint8_t *p = oob + KEPT_BYTES(fr->c.units_per_page);

	*ppn = geo_ppn(fr->g, (pbn_t){ b }, front_page_of(fr, bb->next_page++)).v;
	memcpy(oob, spare, KEPT_BYTES(fr->c.units_per_page));
	memcpy(p, spare, OOB_HEAD_BYTES);
	oob_put_head(oob, &h);
	p += OOB_HEAD_BYTES;
	oob_put4(p, what->block);
	oob_put4(p + 4, fr->n->ops->erase_count(fr->n, (pbn_t){ what->block }));
	oob_put4(p + 8, what->first);
	p[12] = (uint8_t)what->lost;
	p[13] = (uint8_t)(what->lost >> 8);
	return hand;
}

struct front_parity front_get_parity(const struct front *fr, const uint8_t *oob)
{
	const uint8_t *p = oob + KEPT_BYTES(fr->c.units_per_page) + OOB_HEAD_BYTES;

	return (struct front_parity){ .block = oob_unit_lpn(p), .erases = oob_unit_lpn(p + 4),
				      .first = oob_unit_lpn(p + 8), .seq = oob_get_head(oob).order,
				      .lost = p[12] | (uint32_t)p[13] << 8 };
}

static bool sound_parity(const struct front *fr, uint32_t ppn, const struct front_parity *p)
{
	return p->seq <= OOB_SEQ_LAST && p->block < geo_blocks(fr->g) && p->lost <= fr->group &&
	       p->first < fr->word_lines && p->first == front_group_of(fr, p->first) &&
	       front_backup_plane(fr, geo_plane_of(fr->g, (pbn_t){ p->block })) ==
	       geo_plane_of(fr->g, (pbn_t){ ppn / fr->g->pages_per_block });
}

bool front_note_parity(struct front *fr, uint32_t ppn, const uint8_t *oob)
{
	struct front_parity p;
	struct blk *k;

	fr->bt->blk[ppn / fr->g->pages_per_block].backup = BLK_BACKUP_FULL;
	if (!fr->group)
		return false;
	p = front_get_parity(fr, oob);
	if (!sound_parity(fr, ppn, &p))
		return false;
	if (p.seq > fr->backup_seq)
		fr->backup_seq = p.seq;
	if (p.erases != fr->n->ops->erase_count(fr->n, (pbn_t){ p.block }))
		return true;
	k = &fr->bt->blk[p.block];
	if (k->parity && p.seq < k->parity_seq)
		return true;
	k->parity = ppn + 1;
	k->parity_seq = p.seq;
	return true;
}

void front_xor_kept(const struct front *fr, uint8_t *oob, const uint8_t *parity_oob)
{
	uint32_t kept = KEPT_BYTES(fr->c.units_per_page);

	xor_bytes(oob, parity_oob + kept, OOB_HEAD_BYTES);
	xor_bytes(oob + OOB_HEAD_BYTES, parity_oob + OOB_HEAD_BYTES, kept - OOB_HEAD_BYTES);
}

struct front_parity front_owed(const struct front *fr, uint32_t plane)
{
	uint32_t b = fr->plane[plane].debt;
	uint32_t taken = front_fast_taken(fr, fr->bt->blk[b].next_page);

	return (struct front_parity){ .block = b, .first = front_group_of(fr, taken - 1),
				      .lost = fr->bt->blk[b].lost };
}

/* If the backup block at ppn has taken its last page, mark it as full. */
static void maybe_full(struct front *fr, uint32_t bb)
{
	if (fr->bt->blk[bb].next_page < backup_room(fr))
		return;
	fr->bt->blk[bb].backup = BLK_BACKUP_FULL;
	fr->plane[geo_plane_of(fr->g, (pbn_t){ bb })].backup = BLK_NONE;
}

void front_backed_up(struct front *fr, uint32_t plane, uint32_t b, uint32_t ppn)
{
	struct front_plane *p = &fr->plane[plane];
	uint32_t bb = ppn / fr->g->pages_per_block;

	front_void(fr, b);
	fr->bt->blk[b].parity = ppn + 1;
	fr->bt->blk[b].lost = 0;
	fr->bt->blk[bb].live++;
	maybe_full(fr, bb);
	if (p->debt == b) {
		p->debt = BLK_NONE;
		front_forget(fr, plane, p->debt_slot);
	}
}

void front_backup_failed(struct front *fr, uint32_t ppn)
{
	uint32_t bb = ppn / fr->g->pages_per_block;

	fr->bt->blk[bb].backup = BLK_BACKUP_FAILED;
	fr->plane[geo_plane_of(fr->g, (pbn_t){ bb })].backup = BLK_NONE;
	release_backup(fr, bb);
}

void front_backup_unused(struct front *fr, uint32_t ppn)
{
	uint32_t bb = ppn / fr->g->pages_per_block;

	maybe_full(fr, bb);
	release_backup(fr, bb);
}

/* ---- invariants ------------------------------------------------------------------------- */

static void check_block(const struct front *fr, uint32_t plane, uint32_t b, int64_t *quota)
{
	const struct blk *k = &fr->bt->blk[b];
	uint32_t fast, w;

	SSD_ASSERT(k->state == BLK_OPEN && k->backup == BLK_DATA);		/* F1 */
	if (!fr->word_lines)
		return;
	*quota -= ahead_of(fr, b);
	fast = front_fast_taken(fr, k->next_page);
	w = k->next_page - fast;						/* word line of the next MSB page */
	if (fr->group && fast && w < fast && front_group_end(fr, w) <= fast)
		SSD_ASSERT(k->parity || fr->plane[plane].debt == b);		/* F3 */
}

static uint32_t check_plane(const struct front *fr, uint32_t plane, int64_t *quota)
{
	const struct front_plane *p = &fr->plane[plane];
	uint32_t open = 0, slow = 0;

	for (uint32_t i = 0; i < fr->slots + FRONT_SPARES; i++) {
		uint32_t b = p->open[i];

		if (b == BLK_NONE || (fr->sequence == SEQ_TWO_PHASE && i == FRONT_SLOW))
			continue;
		check_block(fr, plane, b, quota);
		SSD_ASSERT(fr->sequence != SEQ_ASCENDING || front_left(fr, b));		/* F5 */
		SSD_ASSERT(fr->bt->blk[b].slc == (i == fr->slc));			/* F6 */
		open++;
	}
	for (uint32_t b = p->open[FRONT_SLOW]; fr->sequence == SEQ_TWO_PHASE && b != BLK_NONE;
	     b = fr->bt->blk[b].next, slow++) {
		check_block(fr, plane, b, quota);
		SSD_ASSERT(fr->bt->blk[b].next_page >= fr->word_lines);		/* F1 */
	}
	SSD_ASSERT(slow == p->slow_count);					/* F1 */
	return open + slow;
}

void front_check(const struct front *fr)
{
	uint64_t open = 0, backups = 0, live = 0, parities = 0;
	int64_t quota = fr->quota_start;

	for (uint32_t p = 0; p < geo_planes(fr->g); p++)
		open += check_plane(fr, p, &quota);
	for (uint64_t b = 0; b < geo_blocks(fr->g); b++) {
		const struct blk *k = &fr->bt->blk[b];

		open -= k->state == BLK_OPEN && k->backup == BLK_DATA;
		backups += k->backup == BLK_BACKUP_OPEN;
		live += k->live;
		if (!k->parity)
			continue;
		parities++;
		SSD_ASSERT(fr->bt->blk[(k->parity - 1) / fr->g->pages_per_block].live);	/* F2 */
	}
	SSD_ASSERT(!open);							/* F1 */
	SSD_ASSERT(live == parities);						/* F2 */
	for (uint32_t p = 0; p < geo_planes(fr->g); p++)
		backups -= fr->plane[p].backup != BLK_NONE;
	SSD_ASSERT(!backups);							/* F1 */
	SSD_ASSERT(!fr->word_lines || quota == fr->quota);			/* F4 */
}
