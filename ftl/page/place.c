// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * place.c - the places of host pages, and the time from which they count as durable.
 *
 * The head of the queue goes to the first idle die in stripe order with room;
 * with multiplane, the pages behind it fill the die's other planes. Pages are
 * issued strictly in log order. The map changes when a page is issued; the
 * buffer keeps its data until it is programmed, so a failed program is simply
 * issued again, with the same sequence, to another block.
 *
 * Invariants:
 *   P1  issued - stable < ring size, so that ended[] has a bit for every page past stable, and the
 *       difference fits into the OOB's mark;
 *   P2  stable <= issued < next_seq;
 *   P3  a host frontier takes a free block only while more than gc_urgent_blocks are free, or to
 *       issue a page again; the other blocks are reserved for GC. If host and GC share frontiers
 *       (front.h), the host takes no page while fewer blocks are free and GC can collect one;
 *   P4  a plane that owes a parity page (front.h) programs nothing else before it; with the backup
 *       block on another die, nothing until that die has programmed it.
 */
#include "page_ftl.h"

/* ---- frontiers ---------------------------------------------------------- */

/* Returns the number of free blocks that pages of this kind must leave. */
static inline uint32_t reserve_of(const struct page_ftl *f, enum frontier which)
{
	uint32_t head = f->buf.first, reserve = f->gc.urgent_blocks;

	/* A page whose program failed delays `stable`, and GC waits for `stable` (4a). */
	if (head != NONE && f->buf.page[head].seq <= f->bt.issued)
		reserve = 0;
	if (which == FRONT_GC)
		reserve = f->cache.frames > 0;	/* the last free block is for copies of map pages */
	else if (which == FRONT_MAP || f->gc.hold)
		reserve = 0;
	return reserve;
}

static inline bool may_open(const struct page_ftl *f, uint32_t plane, enum frontier which)
{
	return f->bt.plane[plane].free_count > reserve_of(f, which);
}

/*
 * Are most units of the page to be placed next rarely written (heat.h)? A page without units counts
 * as cold.
 */
static bool is_cold(const struct page_ftl *f, uint32_t plane, enum frontier which)
{
	const struct gc *g = &f->plane[plane].gc;
	uint32_t w = f->buf.first, units, hot = 0;

	if (which == FRONT_GC) {
		units = g->units < f->shape.upp ? g->units : f->shape.upp;
		for (uint32_t i = 0; i < units; i++)
			hot += heat_is_hot(&f->heat, g->unit[i].lpn & ~OOB_LOST);
	} else {
		units = w == NONE ? 0 : f->buf.page[w].used;
		for (uint32_t i = 0; i < units; i++)
			hot += heat_is_hot(&f->heat, f->buf.slot[w * f->shape.upp + i].lpn);
	}
	return 2 * hot < units || !units;
}

static uint32_t stream_of(const struct page_ftl *f, uint32_t plane, enum frontier which)
{
	if (f->heat.byte)
		return is_cold(f, plane, which);
	return f->handles.count ? handles_stream(f, plane, which) : 0;
}

/* Placement handles: may the plane open the handle's next block? A page to be issued again does not wait. */
static inline bool is_in_turn(const struct page_ftl *f, uint32_t plane, enum frontier which, uint32_t reserve)
{
	return !f->handles.count || which != FRONT_HOST || reserve < f->gc.urgent_blocks || handles_in_turn(f, plane);
}

/* Returns the slot for the next page, or NONE. */
static SSD_APART uint32_t ask_policy(struct page_ftl *f, uint32_t plane, enum frontier which)
{
	uint32_t free = f->bt.plane[plane].free_count, reserve = reserve_of(f, which);
	bool copy = which == FRONT_GC, apart = f->handles.count;
	struct front_ask q = { .who = which, .may_open = free > reserve && is_in_turn(f, plane, which, reserve),
			       .mounting = f->gc.hold,
			       .plenty = free > f->gc.urgent_blocks || (copy && apart),
			       .stream = stream_of(f, plane, which),
			       .mixes = !apart || copy || reserve < f->gc.urgent_blocks,
			       .idle = copy && f->plane[plane].gc.idle };
	const struct front_plane *p = &f->fr.plane[plane];

	if (!f->fr.c.own && free < reserve && gc_is_awake(&f->plane[plane].gc))	/* P3 */
		return NONE;
	if (front_waits(&f->fr, plane) || (p->debt != BLK_NONE && p->backup == BLK_NONE && !free))	/* P4 */
		return NONE;
	if (f->fr.slc != FRONT_NONE && which == FRONT_HOST) {
		q.cache = slc_has_room(f, plane);
		q.cache_waits = !q.cache && slc_waits(f, plane);
	}
	q.busy_permille = (uint32_t)((uint64_t)(f->buf.pages - f->buf.free_count) * 1000 / f->buf.pages);
	return f->fr.c.policy->pick(&f->fr, plane, &q);
}

/* has_room() of a plane without an open block, or whose policy is asked. */
static SSD_APART bool could_open(struct page_ftl *f, uint32_t plane, enum frontier which)
{
	if (f->fr.plain)
		return may_open(f, plane, which);
	if (f->bt.plane[plane].free_count < f->gc.urgent_blocks)
		gc_wake(f, plane);	/* P3: check whether GC has work */
	return ask_policy(f, plane, which) != NONE;
}

static inline bool has_room(struct page_ftl *f, uint32_t plane, enum frontier which)
{
	return SSD_LIKELY(f->fr.plain && f->fr.plane[plane].open[which] != BLK_NONE) || could_open(f, plane, which);
}

/*
 * Erase the frontier's next block. A block found by a mount may be half erased and is erased before
 * use.
 */
static void erase_frontier(struct page_ftl *f, uint64_t now_ns, uint32_t plane, uint32_t b)
{
	uint32_t die = geo_die_of_plane(f->g, plane);
	struct nand_cmd c = { .op = NAND_ERASE, .source = NAND_SRC_META,
			      .pb = NAND_WHOLE_BLOCK,
			      .ppn = geo_ppn(f->g, (pbn_t){ b }, 0) };

	die_command(f->host.n, now_ns, &c, 1);
	f->die[die].plane = plane;
	f->die[die].status[0] = (uint8_t)c.status;
	die_start(f, die, DIE_ERASE_FRONTIER, &c);
}

enum room frontier_spare_block(struct page_ftl *f, uint64_t now_ns, uint32_t plane, uint32_t *b)
{
	if (f->bt.plane[plane].free_count <= f->gc.urgent_blocks)
		return ROOM_NONE;
	if (f->bt.blk[f->bt.plane[plane].free_head].needs_erase) {
		erase_frontier(f, now_ns, plane, f->bt.plane[plane].free_head);
		return ROOM_BUSY;
	}
	*b = blk_take_free(&f->bt, plane);
	f->bt.blk[*b].state = BLK_VICTIM;
	f->cache.ckpt.trusted[*b] = 0;
	return ROOM_READY;
}

/* Open the free list's first block in the slot, or begin to erase it if it needs an erase. */
static enum room open_frontier(struct page_ftl *f, uint64_t now_ns, uint32_t plane,
			       enum frontier which, uint32_t slot)
{
	uint32_t b;

	if (which == FRONT_GC)
		level_free_block(f, plane);
	b = f->bt.plane[plane].free_head;
	if (f->bt.blk[b].needs_erase) {
		erase_frontier(f, now_ns, plane, b);
		return ROOM_BUSY;
	}
	front_open(&f->fr, plane, slot);
	if (map_is_cached(f))
		f->cache.ckpt.trusted[b] = 0;
	if (SSD_UNLIKELY(f->handles.count))
		handles_opened(f, b, slot);
	gc_wake(f, plane);
	return ROOM_READY;
}

/*
 * Write the parity page that the plane owes, or make room for it, on the idle die of its backup
 * block. ROOM_NONE: there is no free block.
 */
static enum room pay_debt(struct page_ftl *f, uint64_t now_ns, uint32_t plane)
{
	struct front_plane *p = &f->fr.plane[plane];
	uint32_t at = front_backup_plane(&f->fr, plane), head = f->bt.plane[at].free_head;
	uint32_t die = geo_die_of_plane(f->g, at);
	struct front_parity what;
	struct nand_cmd c;

	if (f->fr.plane[at].backup == BLK_NONE) {
		if (head == BLK_NONE)
			return ROOM_NONE;
		if (f->bt.blk[head].needs_erase) {
			erase_frontier(f, now_ns, at, head);
			return ROOM_BUSY;
		}
		front_open_backup(&f->fr, at);
		gc_wake(f, at);
	}
	nand_fill_program(&c, NAND_SRC_BACKUP, 0, f->oob);
	what = front_owed(&f->fr, plane);
	c.data = front_backup(&f->fr, plane, p->debt_slot, &what, &c.ppn.v, f->oob);
	die_command(f->host.n, now_ns, &c, 1);
	f->die[die].plane = plane;
	f->die[die].status[0] = (uint8_t)c.status;
	f->die[die].page[0] = c.ppn.v;
	f->die[die].page[1] = p->debt;
	p->paying = f->fr.c.backup_ahead;
	f->host.stats.backup_pages++;
	die_start(f, die, DIE_BACKUP, &c);
	return ROOM_BUSY;
}

/* No page of block b needs its parity page any more. */
void parity_void(struct page_ftl *f, uint32_t b)
{
	if (!f->fr.plain)
		front_void(&f->fr, b);
}

void backup_ended(struct page_ftl *f, struct die *d)
{
	struct front_plane *p = &f->fr.plane[d->plane];
	uint32_t b = d->page[1];

	SSD_ASSERT(p->debt == b || p->paying);
	p->paying = false;
	if (d->status[0] != NAND_OK)
		front_backup_failed(&f->fr, d->page[0]);
	else if (p->debt == b)
		front_backed_up(&f->fr, d->plane, b, d->page[0]);
	else	/* its last LSB page failed meanwhile */
		front_backup_unused(&f->fr, d->page[0]);
	gc_wake(f, d->plane);
	if (f->fr.c.backup_ahead) {
		gc_wake(f, front_backup_plane(&f->fr, d->plane));
		f->turn.kick = true;	/* the plane has waited, and its die may be idle */
	}
}

/* Write a parity page on the idle die at once, if a plane owes one that goes there. */
bool backup_now(struct page_ftl *f, uint64_t now_ns, uint32_t die)
{
	uint32_t first = die * f->g->planes_per_die;

	for (uint32_t i = 0; i < f->g->planes_per_die; i++) {
		uint32_t plane = front_backed_plane(&f->fr, first + i);

		if (f->fr.plane[plane].debt != BLK_NONE && pay_debt(f, now_ns, plane) == ROOM_BUSY)
			return true;
	}
	return false;
}

/*
 * The die has begun a program whose pages may be the last LSB pages of groups. Write their parity
 * pages now, during the program, on other dies that are idle. A busy die does so when it becomes
 * idle.
 */
void backup_beside_now(struct page_ftl *f, uint64_t now_ns, uint32_t die)
{
	uint32_t first = die * f->g->planes_per_die;

	for (uint32_t i = 0; i < f->g->planes_per_die; i++) {
		uint32_t at = geo_die_of_plane(f->g, front_backup_plane(&f->fr, first + i));

		if (f->fr.plane[first + i].debt != BLK_NONE && f->die[at].op == DIE_IDLE)
			(void)pay_debt(f, now_ns, first + i);
	}
}

SSD_APART uint32_t frontier_take_paired(struct page_ftl *f, uint32_t plane, uint32_t slot, enum frontier which)
{
	f->turn.kick |= f->fr.plane[plane].spent != BLK_NONE;	/* another die may get a free block */
	return front_take_paired(&f->fr, plane, slot, which);
}

enum room frontier_room_now(struct page_ftl *f, uint64_t now_ns, uint32_t plane, enum frontier which,
			    uint32_t *slot)
{
	if (f->fr.plain)
		return may_open(f, plane, which) ? open_frontier(f, now_ns, plane, which, *slot) :
						ROOM_NONE;
	if (front_waits(&f->fr, plane))			/* P4 */
		return ROOM_NONE;
	if (f->fr.plane[plane].debt != BLK_NONE)
		return pay_debt(f, now_ns, plane);
	*slot = ask_policy(f, plane, which);
	if (*slot == NONE)
		return ROOM_NONE;
	if (f->fr.plane[plane].open[*slot] != BLK_NONE)
		return ROOM_READY;
	return open_frontier(f, now_ns, plane, which, *slot);
}

void frontier_erased(struct page_ftl *f, uint32_t plane, enum nand_status status)
{
	uint32_t b = f->bt.plane[plane].free_head;

	if (status == NAND_OK) {
		f->bt.blk[b].needs_erase = false;
		return;
	}
	blk_take_free(&f->bt, plane);
	f->bt.blk[b].state = BLK_VICTIM;
	block_lost(f, b);
}

/* A program failed in the block: it is not written further, and GC empties it. */
void block_failed(struct page_ftl *f, uint32_t b)
{
	if (f->bt.blk[b].state == BLK_RETIRE)
		return;
	front_drop(&f->fr, b);
	blk_retire(&f->bt, b);
	gc_wake(f, geo_plane_of(f->g, (pbn_t){ b }));
}

/* Retire a VICTIM without valid units. */
void block_lost(struct page_ftl *f, uint32_t b)
{
	host_put_bad(&f->host, b);
	parity_void(f, b);
	blk_forget_slc(&f->bt, b);
	f->bt.blk[b] = (struct blk){ .state = BLK_BAD };
	f->good_blocks--;
	f->host.worn = f->good_blocks < f->need_blocks;
}

void carrier_offer(struct page_ftl *f, uint32_t b, uint64_t mark)
{
	struct blk *k = &f->bt.blk[b];

	if (mark > k->mark)
		k->mark = mark;
	if (f->log.carrier == BLK_NONE || k->mark >= f->bt.blk[f->log.carrier].mark)
		f->log.carrier = b;
}

/* ---- issuing ------------------------------------------------------------ */

static SSD_ALWAYS bool die_has_room(struct page_ftl *f, uint32_t die)
{
	uint32_t first = die * f->g->planes_per_die;

	for (uint32_t i = 0; i < f->g->planes_per_die; i++)
		if (has_room(f, first + i, FRONT_HOST))
			return true;
	return false;
}

static void wake_planes(struct page_ftl *f, uint32_t die)
{
	for (uint32_t i = 0; i < f->g->planes_per_die; i++)
		gc_wake(f, die * f->g->planes_per_die + i);
}

/* Returns the first idle die at or after this place of the stripe that has room, or NONE. */
static uint32_t pick_between(struct page_ftl *f, uint32_t from, uint32_t to)
{
	for (uint32_t at = word_next(f->turn.idle_stripe, to, from); at < to;
	     at = word_next(f->turn.idle_stripe, to, at + 1)) {
		uint32_t die = f->turn.stripe[at];

		if (gc_holds_die(f, die))
			continue;
		if (!die_has_room(f, die)) {
			wake_planes(f, die);
			continue;
		}
		f->turn.stripe_at = at;
		return die;
	}
	return NONE;
}

/* Returns the die for the head of the queue, or NONE. */
static uint32_t pick_die(struct page_ftl *f)
{
	uint32_t from = f->turn.stripe_at, die;
	uint32_t at = word_next_around(f->turn.idle_stripe, f->shape.dies, from);

	if (at == f->shape.dies)
		return NONE;
	die = f->turn.stripe[at];
	if (SSD_LIKELY(f->fr.plain && !gc_holds_die(f, die) && die_has_room(f, die))) {
		f->turn.stripe_at = at;
		return die;
	}
	die = pick_between(f, from, f->shape.dies);
	return die != NONE ? die : pick_between(f, 0, from);
}

/* Does the page wait for other planes of its handle, although the die has a free block? */
static SSD_APART bool waits_for_turn(const struct page_ftl *f, uint32_t die)
{
	uint32_t first = die * f->g->planes_per_die;

	for (uint32_t plane = first; plane < first + f->g->planes_per_die; plane++)
		if (may_open(f, plane, FRONT_HOST) && !handles_in_turn(f, plane))
			return true;
	return false;
}

static bool kept_by_gc(struct page_ftl *f, uint32_t die)
{
	if (f->die[die].op != DIE_IDLE || gc_holds_die(f, die))
		return f->die[die].op == DIE_GC || f->die[die].op == DIE_IDLE;
	return !die_has_room(f, die) && !(f->handles.count && waits_for_turn(f, die));
}

static void note_stall(struct page_ftl *f, uint64_t now_ns, bool stalled)
{
	f->stall.gc_ns = stall_clock(f, now_ns);
	f->stall.since_ns = now_ns;
	f->stall.noted = stalled;
	f->stall.by_gc = stalled && kept_by_gc(f, f->turn.stripe[f->turn.stripe_at]);
}

static void apply_trims(struct page_ftl *f, uint32_t slot, uint64_t seq)
{
	const struct wtrim *t = &f->buf.trim[slot];
	uint32_t base = (f->buf.slot[slot].lpn - f->shape.lpns) * lpns_per_map(f);
	const uint8_t *bits = slot_data(f, slot);

	if (t->from == NONE)
		return;
	if (map_is_cached(f)) {
		map_trim(f, t->from, t->to, bits, base, seq);
		return;
	}
	for (uint32_t lpn = t->from; lpn < t->to; lpn++)
		if (bit_get(bits, lpn - base))
			unit_unmap(f, lpn, seq);
}

static inline const struct wslot *slots_ahead(const struct page_ftl *f, uint64_t seq)
{
	return &f->buf.slot[f->buf.by_seq[seq & f->buf.by_seq_mask] * f->shape.upp];
}

/*
 * Pages are issued in the order of their sequences, so the data of the next pages can be prefetched:
 * first their map entries, then the accounts of the units in these entries. A prefetch is a hint, so
 * no branch tests whether a next page exists; without one, the slots of an earlier page are
 * prefetched. (Always inline: GCC 12 removes the call of a function that only prefetches.)
 */
static SSD_ALWAYS void prefetch_ahead(const struct page_ftl *f, uint64_t seq)
{
	const struct wslot *later = slots_ahead(f, seq + 12), *soon = slots_ahead(f, seq + 6);
	const uint32_t *l2p = f->map.l2p;

	for (uint32_t i = 0, upp = f->shape.upp; i < upp; i++) {
		uint32_t upn = l2p[soon[i].lpn] & ~OOB_LOST;

		SSD_PREFETCH(&l2p[later[i].lpn]);
		upn = upn != (NONE & ~OOB_LOST) ? upn : 0;
		SSD_PREFETCH(&f->map.valid[upn >> 3]);
		SSD_PREFETCH(&f->bt.blk[upn_block(f, upn)]);
	}
}

/* Apply bitmap units after all units of their page have been mapped. */
static SSD_APART void apply_trims_of(struct page_ftl *f, uint32_t w)
{
	const struct wpage *p = &f->buf.page[w];

	for (uint32_t i = 0; i < p->used; i++)
		if (f->buf.slot[w * f->shape.upp + i].lpn >= f->shape.lpns)
			apply_trims(f, w * f->shape.upp + i, p->seq);
}

static SSD_APART void note_heat(struct page_ftl *f, uint32_t w)
{
	for (uint32_t i = 0; i < f->buf.page[w].used; i++)
		heat_written(&f->heat, f->buf.slot[w * f->shape.upp + i].lpn);
}

/* gc_copyback: keep the OOB of the page's units. */
static SSD_APART void keep_p2l(struct page_ftl *f, uint32_t ppn, uint32_t units, const uint8_t *oob)
{
	for (uint32_t i = 0; i < units; i++)
		oob_copy_unit(p2l_of(f, ppn * f->shape.upp + i), oob, i);
}

/* Do what a page that goes to ppn needs beside its units (extras_on). */
static SSD_APART void page_extras(struct page_ftl *f, uint32_t w, uint32_t ppn, uint8_t *oob, bool again)
{
	struct wpage *p = &f->buf.page[w];

	if (f->map.p2l)
		keep_p2l(f, ppn, p->used, oob);
	if (f->buf.losses)
		lost_encode(f, w);
	if (f->heat.byte && !again)
		note_heat(f, w);
	if (f->handles.count)
		handles_took(f, fxp_quotient(f->shape.by_block_pages, ppn), p->handle, oob);
	if (SSD_UNLIKELY(p->ends) && !again)
		handles_end_unit(f, p->handle);
	if (f->metadata.bytes)
		metadata_to_page(f, w, oob);
}

/* Fill the rest of the page with empty units. */
static SSD_APART void pad(struct page_ftl *f, const struct wpage *p, uint8_t *oob)
{
	for (uint32_t i = p->used; i < f->shape.upp; i++)
		oob_put_unit(oob, i, OOB_NO_LPN, p->seq);
	f->host.stats.pad_units += f->shape.upp - p->used;
}

/*
 * The page is about to be programmed at ppn: set its OOB, the map and the counters. Returns true if
 * it has hidden units.
 */
static inline bool page_goes(struct page_ftl *f, uint32_t w, uint32_t ppn, uint8_t *oob)
{
	struct wpage *p = &f->buf.page[w];
	uint64_t seq = p->seq;
	bool again = seq <= f->bt.issued;	/* its earlier program failed */
	struct oob_head h = { .order = seq, .mark = f->bt.stable, .kind = OOB_HOST };
	uint32_t block = fxp_quotient(f->shape.by_block_pages, ppn);
	struct blk *b = &f->bt.blk[block];
	const struct wslot *s = &f->buf.slot[w * f->shape.upp];
	uint32_t hidden = 0, used = p->used;

	if (!map_is_cached(f))
		prefetch_ahead(f, seq);
	oob_put_head(oob, &h);
	for (uint32_t i = 0; i < used; i++, s++) {
		uint32_t lpn = s->lpn, tag = lpn | (s->lost ? OOB_LOST : 0), upn = ppn * f->shape.upp + i;

		hidden += lpn >= f->shape.lpns;
		oob_put_unit(oob, i, tag, seq);
		if (!again || (*map_entry(f, lpn) & ~OOB_LOST) == p->ppn * f->shape.upp + i)
			unit_map_in(f, tag, upn, block, seq);
	}
	f->host.stats.host_units += used - hidden;
	if (SSD_UNLIKELY(f->extras))
		page_extras(f, w, ppn, oob, again);
	if (SSD_UNLIKELY(used < f->shape.upp))
		pad(f, p, oob);
	if (SSD_UNLIKELY(hidden)) {
		f->host.stats.meta_units += hidden;
		if (!again)
			apply_trims_of(f, w);
	}
	if (seq > b->last_order)
		b->last_order = seq;
	if (!again)
		f->bt.issued = seq;
	p->ppn = ppn;
	p->mark = h.mark;
	p->state = W_FLIGHT;
	return hidden;
}

static inline void queue_pop(struct page_ftl *f)
{
	uint32_t w = f->buf.first;

	f->buf.first = f->buf.page[w].next;
	if (f->buf.first == NONE)
		f->buf.last = NONE;
	if (f->buf.open == w)
		f->buf.open = NONE;
}

/* ---- issuing, a die at a time --------------------------------------------- */

/*
 * May a page of this plane join a group that has a page at ppn? It may not if the plane needs
 * another command first. By word lines, all pages of a group have one type, because their program
 * times must be equal. All pages are in SLC mode, or none is.
 */
static bool joins(struct page_ftl *f, uint32_t plane, uint32_t ppn, bool slc)
{
	uint32_t head = f->bt.plane[plane].free_head, slot = FRONT_HOST, b;

	if (!f->fr.plain) {
		if (f->fr.plane[plane].debt != BLK_NONE)
			return false;
		slot = ask_policy(f, plane, FRONT_HOST);
		if (slot == NONE || (slot == f->fr.slc) != slc)
			return false;
	}
	b = f->fr.plane[plane].open[slot];
	if (front_left(&f->fr, b))
		return !f->fr.word_lines || front_next_fast(&f->fr, b) == !(ppn & 1);
	return (slc || may_open(f, plane, FRONT_HOST)) && !f->bt.blk[head].needs_erase &&
	       (!f->fr.word_lines || !(ppn & 1));
}

/* The page c has its data: set and count the mode of its block, and add it to its parity page. */
static SSD_APART void join_block(struct page_ftl *f, uint32_t plane, uint32_t slot, struct nand_cmd *c, uint8_t *oob)
{
	if (f->fr.slc != FRONT_NONE) {
		c->slc = slot == f->fr.slc;
		++*(c->slc ? &f->host.stats.slc_pages : &f->host.stats.slc_direct_pages);
	}
	if (!f->fr.plain)
		front_cover(&f->fr, plane, c->ppn.v, c->data, oob);
}

/* The die has begun a program. first_seq: the first sequence that had not been issued before. */
static SSD_APART void program_extras(struct page_ftl *f, uint64_t now_ns, uint32_t die, const struct nand_cmd *c,
				     uint64_t first_seq)
{
	struct die *d = &f->die[die];

	if (f->buf.losses)
		lost_decode_pages(f, d->page, d->count);
	for (uint32_t i = 0; i < d->count && f->host.c.accounting == FTL_ACCOUNT_SSDSIM; i++)
		if (f->buf.page[d->page[i]].seq >= first_seq)
			sent_page(f, now_ns, f->buf.page[d->page[i]].seq, &c[i]);
	backup_beside(f, now_ns, die);
}

/* Program pages from the head of the queue, which is ready, in all planes of an idle die. */
static SSD_HOT void program_die(struct page_ftl *f, uint64_t now_ns, uint32_t die)
{
	struct die *d = &f->die[die];
	uint32_t planes = f->g->planes_per_die, most = f->host.c.multiplane ? planes : 1;
	uint32_t first = die * planes, count = 0;
	struct nand_cmd c[MAX_PLANES];
	const struct nand_cmd *last;
	uint64_t first_seq = f->bt.issued + 1;
	uint8_t *oob = f->oob;

	for (uint32_t i = 0; i < planes && count < most && (!i || next_ready(f)); i++) {
		uint32_t turn = d->plane_turn + i;
		uint32_t plane = first + (turn < planes ? turn : turn - planes);
		uint32_t w = f->buf.first, slot;
		enum room room;

		if (count && !joins(f, plane, c[0].ppn.v, c[0].slc))
			continue;
		room = frontier_room(f, now_ns, plane, FRONT_HOST, &slot);
		if (room == ROOM_BUSY)
			return;
		if (room == ROOM_NONE)
			continue;
		queue_pop(f);
		nand_fill_program(&c[count], NAND_SRC_HOST,
				  frontier_take(f, plane, slot, FRONT_HOST), oob);
		if (page_goes(f, w, c[count].ppn.v, oob) || f->host.c.payload)
			c[count].data = slot_data(f, w * f->shape.upp);
		if (SSD_UNLIKELY(f->extras))
			join_block(f, plane, slot, &c[count], oob);
		d->page[count++] = w;
		oob += f->oob_len;
	}
	SSD_ASSERT(count);
	d->plane_turn += count;
	if (d->plane_turn >= planes)
		d->plane_turn -= planes;
	d->turn.reads_in_row = 0;
	gc_after_program(f, die);
	if (SSD_UNLIKELY(f->extras) && owners_told(f))
		owners_of_program(f, d, c, count);
	nand_submit(f->host.n, now_ns, c, count);
	d->count = count;
	for (uint32_t i = 0; i < count; i++) {
		SSD_ASSERT(c[i].status != NAND_VIOLATION);
		d->status[i] = (uint8_t)c[i].status;
	}
	last = &c[count - 1];
	d->cell_ns = last->cell_ns;
	d->bus_ns = last->bus_ns;
	die_start(f, die, DIE_PROGRAM, last);
	if (SSD_UNLIKELY(f->extras))
		program_extras(f, now_ns, die, c, first_seq);
}

SSD_HOT void place_pages_now(struct page_ftl *f, uint64_t now_ns)
{
	while (next_ready(f)) {
		bool busy = f->turn.ends.busy == f->shape.dies;
		uint32_t die = busy ? NONE : pick_die(f);

		if (die == NONE) {
			note_stall(f, now_ns, true);
			break;
		}
		program_die(f, now_ns, die);
		f->turn.stripe_at = f->turn.stripe_at + 1 < f->shape.dies ? f->turn.stripe_at + 1 : 0;
	}
	if (f->stall.by_gc && !next_ready(f))
		note_stall(f, now_ns, false);
}

/* ---- the end of a program ----------------------------------------------- */

/* Queue the page again, in log order, before all pages that were never issued. */
static void queue_again(struct page_ftl *f, uint32_t w)
{
	uint32_t *link = &f->buf.first;

	while (*link != NONE && f->buf.page[*link].seq < f->buf.page[w].seq)
		link = &f->buf.page[*link].next;
	f->buf.page[w].state = W_QUEUED;
	f->buf.page[w].next = *link;
	*link = w;
	if (f->buf.page[w].next == NONE)
		f->buf.last = w;
}

/*
 * Advance `stable` over the pages after it that have ended. It handles a word of bits at a time,
 * because the number of pages that one program releases is unpredictable.
 */
static inline void settle_prefix(struct page_ftl *f)
{
	uint32_t bit;

	do {
		uint64_t *word, ones;

		bit = (uint32_t)(f->bt.stable + 1) & f->log.ring_mask;
		word = &f->log.ended[bit >> 6];
		bit &= 63;
		ones = *word >> bit;
		f->bt.stable += (uint32_t)__builtin_ctzll(~ones | (uint64_t)1 << 63) + !~ones;
		*word ^= (ones & ~(ones + 1)) << bit;	/* the bits below may belong to the ring's end */
		bit = (uint32_t)(f->bt.stable + 1) & 63;
	} while (SSD_UNLIKELY(!bit && f->log.ended[((f->bt.stable + 1) & f->log.ring_mask) >> 6] & 1));
}

static void page_done(struct page_ftl *f, uint32_t w)
{
	struct wpage *p = &f->buf.page[w];

	carrier_offer(f, fxp_quotient(f->shape.by_block_pages, p->ppn), p->mark);
	word_set(f->log.ended, (uint32_t)p->seq & f->log.ring_mask);
	if (map_is_cached(f))
		map_unpin(f, w);
	wbuf_release(f, w);
}

SSD_HOT void place_complete(struct page_ftl *f, struct die *d)
{
	for (uint32_t i = d->count; i-- > 0;) {	/* backwards: failed pages keep their order in the queue */
		uint32_t w = d->page[i];

		if (d->status[i] == NAND_OK) {
			page_done(f, w);
			continue;
		}
		block_failed(f, fxp_quotient(f->shape.by_block_pages, f->buf.page[w].ppn));
		queue_again(f, w);
	}
	settle_prefix(f);
	if (owners_told(f))
		owners_oldest(f);
}

/* ---- durability --------------------------------------------------------- */

void durable_wait(struct page_ftl *f, uint64_t now_ns, struct ftl_io *io)
{
	io->seq = f->log.next_seq - 1;
	io_list_add(&f->log.durable, io);
	durable_process(f, now_ns, NULL);
}

/* last: the die whose program ended the wait. */
static void finish_durable(struct page_ftl *f, uint64_t now_ns, struct ftl_io *io,
			   const struct die *last)
{
	struct ftl_breakdown *w = &io->where;
	uint64_t rest = now_ns - io->submit_ns;

	if (last) {
		ftl_breakdown_take(&rest, last->cell_ns, &w->cell_ns);
		ftl_breakdown_take(&rest, last->bus_ns, &w->bus_ns);
	}
	ftl_breakdown_take(&rest, stall_clock(f, now_ns) - io->gc_mark, &w->gc_queue_ns);
	if (map_is_cached(f))
		ftl_breakdown_take(&rest, map_clock(f, now_ns) - io->map_mark, &w->map_ns);
	if (owners_told(f))
		owners_wait_over(f, io, &rest);
	w->host_queue_ns = rest;
	w->buffer_ns = io->op == FTL_FLUSH ? 0 : f->host.c.buffer_ns;
	w->map_ns += f->host.c.map_ns;
	w->other_ns = f->host.c.overhead_ns;
	host_finish(&f->host, io, now_ns + w->buffer_ns + host_front_ns(&f->host), SSD_OK);
}

void durable_end(struct page_ftl *f, uint64_t now_ns, const struct die *last)
{
	while (f->log.durable.first && f->log.durable.first->seq <= f->bt.stable)
		finish_durable(f, now_ns, io_list_take(&f->log.durable), last);
}
