// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * gc.c - collecting blocks, one victim per plane at a time, or two at once.
 *
 * A plane's collector is woken when fewer than gc_start_blocks are free, a block must
 * be retired, or control.c orders it, and works until gc_stop_blocks are; then, and for blocks
 * that must move because of errors, level.c may name a victim. `gc_run` issues
 * its next command on the plane's idle die:
 *
 *   1  no victim: ask the policy for one
 *   2  a page's worth of valid units in hand, or the last of them: program
 *   3  the next page of the victim with a valid unit: read it
 *   4  nothing valid left: erase the victim (or retire it), but not before
 *      a  `stable` has passed everything that made its units obsolete: until
 *         then a power cut may bring an older version back, and it is here;
 *      b  another block carries a mark at or past everything in the victim:
 *         else mount would miss these pages and end the log too early. If
 *         there is none, an empty page (the carrier) is programmed.
 *
 * A unit keeps the sequence of the host write that made it, however often it
 * moves. The copy is mapped when its program is issued; a unit that the host
 * wrote in between is dropped. Victim and copy are in one plane, so the erase
 * cannot overtake the program.
 *
 * Two victims (parallel_erase; Garrett, Yang, Zhang: IPPBE, ISLPED 2018). With
 * the best block goes the second best, if it has at most second_victim_pages of
 * valid pages: step 3 goes on with its pages, and step 4 erases both with one
 * command, when 4a and 4b hold for both. That keeps the first block from being
 * free for longer, so the urgent reserve is not for it: where there is no room
 * for all copies beside the reserve, the first goes alone, and if room runs out
 * on the way they part (`part`).
 *
 * Copyback (gc_copyback). A page of which every unit is valid, and before which nothing is
 * in hand, is copied inside the chip: one command in place of steps 3 and 2. The copy needs
 * an OOB of its own (order, mark, kind: what mount tells it from its source by), and the
 * chip does not show the old one; so the FTL keeps a P2L in memory that says of each unit
 * what its OOB does. Nobody checks the data on the way: raw errors go along and add up, lost
 * data stay lost.
 *
 * States of a plane's collector (gc.state):
 *   asleep -> active    wake_up(): there is something to collect
 *   active -> waiting   gc_run() could issue no command: the drive is not idle (rests), a flagged
 *                       block has not settled (choose), blocks failed and there is no page for a
 *                       copy (program_or_erase_frontier), or `stable` is behind (4a)
 *   waiting -> active   gc_run(), the next time that its die is idle and GC's turn comes
 *   any -> asleep       go_to_sleep(): enough blocks are free (gc_complete), or no block is worth
 *                       collecting (choose)
 *
 * Invariants:
 *   G1  while gc.victim is set, it is VICTIM; its valid units are on pages at
 *       or after gc.page, or in gc.unit[]. The same of gc.second, with 0
 *       (second_waits) or the last page (not so) for gc.page;
 *   G2  a plane without a victim has a free block, unless blocks were retired.
 */
#include "page_ftl.h"

static bool wanted(const struct page_ftl *f, uint32_t plane, uint32_t free_target)
{
	const struct blk_plane *p = &f->bt.plane[plane];

	return p->free_count < free_target || p->retire_head != BLK_NONE || f->plane[plane].purge;
}

/* May idle GC work now, and is there something for it? */
static bool wanted_idle(const struct page_ftl *f, uint32_t plane)
{
	if (!f->gc.idle_blocks || f->host.now_ns < f->gc.idle_at_ns)
		return false;
	return f->bt.plane[plane].free_count < f->gc.idle_blocks ||
	       (f->fr.c.policy->returns_to_fast && front_some_slow(&f->fr, plane));
}

/* After many power cuts: blocks whose erasing shortens the dead list (mount.c). */
static uint32_t purge_candidate(const struct page_ftl *f, uint32_t plane)
{
	uint32_t first = plane * f->g->blocks_per_plane;

	for (uint32_t b = first; b < first + f->g->blocks_per_plane; b++)
		if (f->bt.blk[b].dead && f->bt.blk[b].state == BLK_FULL &&
		    blk_settled(&f->bt, &f->bt.blk[b]))
			return b;
	return BLK_NONE;
}

static bool room_for(const struct page_ftl *f, uint32_t plane, uint32_t units);

/* collect() wants it. */
static bool ordered(const struct page_ftl *f, uint32_t plane)
{
	return gc_order_stands(&f->plane[plane].order, f->bt.plane[plane].free_count);
}

/* What level.c wants, and what was ordered, is in question, too. */
static bool wanted_or_moved(const struct page_ftl *f, uint32_t plane, uint32_t free_target)
{
	return wanted(f, plane, free_target) || f->plane[plane].relocate || f->plane[plane].level ||
	       ordered(f, plane);
}

static uint32_t candidate(struct page_ftl *f, uint32_t plane, uint32_t free_target,
			  enum gc_why *why)
{
	uint32_t b = f->bt.plane[plane].retire_head;

	*why = GC_FOR_SPACE;
	if (b != BLK_NONE && blk_settled(&f->bt, &f->bt.blk[b]))
		return b;
	if (f->plane[plane].purge && f->bt.plane[plane].free_count > f->gc.urgent_blocks) {
		b = purge_candidate(f, plane);
		if (b != BLK_NONE)
			return b;
	}
	if (f->plane[plane].relocate && f->bt.plane[plane].free_count > f->gc.urgent_blocks) {
		b = level_flagged(f, plane);
		*why = GC_FOR_ERRORS;
		if (b != BLK_NONE)
			return b;
	}
	*why = GC_FOR_SPACE;
	if (wanted(f, plane, free_target) || wanted_idle(f, plane))
		return f->host.c.gc_policy->pick(&f->bt, plane, f->shape.upp);
	if (ordered(f, plane)) {
		b = f->host.c.gc_policy->pick(&f->bt, plane, f->shape.upp);
		if (b != BLK_NONE)
			return b;
		f->plane[plane].order = (struct gc_order){ 0 };	/* nothing to win */
	}
	*why = GC_FOR_WEAR;
	b = level_coldest(f, plane);
	return b != BLK_NONE && room_for(f, plane, f->bt.blk[b].valid) ? b : BLK_NONE;
}

static void wake_up(struct page_ftl *f, struct gc *g)
{
	f->gc.awake += !gc_is_awake(g);
	g->state = GC_ACTIVE;
	f->turn.kick = true;
}

void gc_wake(struct page_ftl *f, uint32_t plane)
{
	struct gc *g = &f->plane[plane].gc;
	enum gc_why why;

	if (f->gc.hold || !wanted_or_moved(f, plane, f->host.c.gc_start_blocks))
		return;
	if (gc_is_awake(g)) {
		f->turn.kick |= g->idle;	/* it may rest */
		return;
	}
	if (g->victim == BLK_NONE && candidate(f, plane, f->host.c.gc_start_blocks, &why) == BLK_NONE &&
	    !level_waits(f, plane))
		return;
	g->idle = false;
	wake_up(f, g);
}

/* The drive is idle: collectors that rest or sleep go on, if there is something for them. */
void gc_wake_idle(struct page_ftl *f)
{
	for (uint32_t plane = 0; plane < f->shape.planes; plane++) {
		struct gc *g = &f->plane[plane].gc;
		enum gc_why why;

		if (f->gc.hold || !wanted_idle(f, plane))
			continue;
		if (!gc_is_awake(g) && g->victim == BLK_NONE &&
		    candidate(f, plane, f->host.c.gc_start_blocks, &why) == BLK_NONE)
			continue;
		g->idle |= !gc_is_awake(g);
		wake_up(f, g);
	}
}

/* A collector that is at work only because the drive was idle rests when it is not. */
static bool rests(struct page_ftl *f, uint32_t plane)
{
	struct gc *g = &f->plane[plane].gc;

	if (!g->idle)
		return false;
	if (wanted_or_moved(f, plane, f->host.c.gc_start_blocks)) {
		g->idle = false;
		return false;
	}
	return !wanted_idle(f, plane);
}

static bool some_awake(const struct page_ftl *f, uint32_t die)
{
	uint32_t first = die * f->g->planes_per_die;

	for (uint32_t i = 0; i < f->g->planes_per_die; i++)
		if (gc_is_awake(&f->plane[first + i].gc))
			return true;
	return false;
}

static void go_to_sleep(struct page_ftl *f, uint32_t plane)
{
	uint32_t die = geo_die_of_plane(f->g, plane);

	f->plane[plane].gc.state = GC_ASLEEP;
	if (!some_awake(f, die))
		f->die[die].turn.gc_credit = 0;
	f->gc.awake--;
}

bool gc_holds_die(const struct page_ftl *f, uint32_t die)
{
	uint32_t first = die * f->g->planes_per_die;

	if (!f->gc.awake || f->host.c.gc_mode != FTL_GC_BLOCKING)
		return false;
	for (uint32_t i = 0; i < f->g->planes_per_die; i++)
		if (f->plane[first + i].gc.state == GC_ACTIVE)
			return true;
	return false;
}

static bool relocates(const struct gc *g)
{
	return g->victim != BLK_NONE && g->corrected;
}

/*
 * Sliced mode: whose turn is it? A program used up a page, so GC may move
 * gc_slice_pages. A read did not: the next read goes first, unless writes wait
 * for free blocks, or data for relocation, which reads that never end would wear
 * out meanwhile; then each read gives way to one copy.
 */
void gc_after_program(struct page_ftl *f, uint32_t die)
{
	f->die[die].turn.gc_credit = f->host.c.gc_slice_pages;
}

void gc_after_read(struct page_ftl *f, uint32_t die)
{
	uint32_t first = die * f->g->planes_per_die;

	for (uint32_t i = 0; i < f->g->planes_per_die && f->gc.awake; i++)
		if (gc_is_awake(&f->plane[first + i].gc) &&
		    (f->bt.plane[first + i].free_count <= f->gc.urgent_blocks ||
		     f->plane[first + i].relocate || relocates(&f->plane[first + i].gc)))
			f->die[die].turn.gc_credit = 1;
}

/* ---- choosing ----------------------------------------------------------- */

static void take_block(struct page_ftl *f, uint32_t plane, uint32_t b)
{
	if (f->bt.blk[b].dead && f->plane[plane].purge)
		f->plane[plane].purge--;
	f->bt.blk[b].dead = false;
	level_forget(f, b);
	blk_take(&f->bt, b);
}

static void take_victim(struct page_ftl *f, uint64_t now_ns, uint32_t plane, uint32_t b,
			enum gc_why why)
{
	struct gc *g = &f->plane[plane].gc;

	g->why = why;
	g->corrected = f->bt.blk[b].relocate;
	g->victim = b;
	g->second = BLK_NONE;
	g->page = 0;
	g->units = g->flying = 0;
	g->since_ns = now_ns;
	g->retire = f->bt.blk[b].state == BLK_RETIRE;
	f->plane[plane].order.victim = false;
	take_block(f, plane, b);
}

/* Can so many units be copied without the reserve, and a carrier be programmed? */
static bool room_for(const struct page_ftl *f, uint32_t plane, uint32_t units)
{
	uint32_t open = f->fr.plane[plane].open[f->fr.copies], free = f->bt.plane[plane].free_count;
	uint32_t per = f->g->pages_per_block, urgent = f->gc.urgent_blocks;
	uint64_t pages = open == BLK_NONE ? 0 : per - f->bt.blk[open].next_page;

	SSD_ASSERT(f->shape.upp);
	if (free > urgent)
		pages += (uint64_t)(free - urgent) * per;
	return pages > (units + f->shape.upp - 1) / f->shape.upp;
}

/* IPPBE: the best of the other blocks, if there is little to copy from it. */
static void take_second(struct page_ftl *f, uint32_t plane)
{
	struct gc *g = &f->plane[plane].gc;
	uint32_t b;

	if (!f->host.c.parallel_erase || g->retire || g->why != GC_FOR_SPACE || g->corrected)
		return;
	b = f->host.c.gc_policy->pick(&f->bt, plane, f->shape.upp);
	if (b == BLK_NONE || f->bt.blk[b].relocate ||
	    f->bt.blk[b].valid > (uint64_t)f->host.c.second_victim_pages * f->shape.upp ||
	    !room_for(f, plane, f->bt.blk[g->victim].valid + f->bt.blk[b].valid))
		return;
	take_block(f, plane, b);
	g->second = b;
	g->second_waits = true;
}

/* The first victim's pages are copied: exchange the victims. False: there is no second one. */
static bool turn_to_second(struct gc *g)
{
	uint32_t first = g->victim;

	if (g->second == BLK_NONE || !g->second_waits)
		return false;
	g->victim = g->second;
	g->second = first;
	g->second_waits = false;
	g->page = 0;
	return true;
}

/*
 * No room for the copies of both: go on with the first alone. What is in hand
 * of either is read again; the map still says that it is there.
 */
static bool part(struct page_ftl *f, struct gc *g)
{
	uint32_t other = g->second;

	if (other == BLK_NONE)
		return false;
	if (!g->second_waits) {
		other = g->victim;
		g->victim = g->second;
	}
	blk_close(&f->bt, other);
	g->second = BLK_NONE;
	g->units = 0;
	g->page = 0;
	return true;
}

static bool choose(struct page_ftl *f, uint64_t now_ns, uint32_t plane)
{
	enum gc_why why;
	uint32_t b = candidate(f, plane, f->host.c.gc_stop_blocks, &why);

	if (b == BLK_NONE) {
		if (!level_waits(f, plane))
			go_to_sleep(f, plane);	/* woken again when the host lacks room */
		return false;
	}
	take_victim(f, now_ns, plane, b, why);
	take_second(f, plane);
	return true;
}

/* ---- copying ------------------------------------------------------------ */

static uint32_t unit_addr(const struct page_ftl *f, uint32_t b, uint32_t page)
{
	return geo_ppn(f->g, (pbn_t){ b }, page).v * f->shape.upp;
}

/* The next page of the victim worth reading; false: none. */
static bool next_page(struct page_ftl *f, struct gc *g)
{
	uint32_t first = g->victim * f->bt.units_per_block, end = first + f->bt.units_per_block;
	uint32_t upn = bit_next(f->map.valid, first + g->page * f->shape.upp, end);

	g->page = upn < end ? fxp_quotient(f->shape.by_upp, upn - first) : f->g->pages_per_block;
	return upn < end;
}

static void start(struct page_ftl *f, uint32_t plane, enum gc_op op, const struct nand_cmd *c)
{
	uint32_t die = geo_die_of_plane(f->g, plane);

	SSD_ASSERT(c->status != NAND_VIOLATION);
	f->plane[plane].gc.op = op;
	f->plane[plane].gc.status = c->status;
	f->die[die].plane = plane;
	die_start(f, die, DIE_GC, c->done_ns);
	die_charge(&f->die[die].turn, c->op);
}

/* The LPN of a unit whose OOB cannot be read. O(LPNs), and rare. */
static uint32_t search_lpn(const struct page_ftl *f, uint32_t upn)
{
	for (uint32_t lpn = 0; lpn < f->shape.all_lpns; lpn++)
		if ((f->map.l2p[lpn] & ~OOB_LOST) == upn)
			return lpn;
	SSD_ASSERT(!"a valid unit that nobody maps");
	return NONE;
}

static void gather(struct page_ftl *f, struct gc *g, const uint8_t *oob, bool lost,
		   const uint8_t *page)
{
	uint32_t first = unit_addr(f, g->victim, g->page);

	g->bytes = page || (g->units && g->bytes);
	for (uint32_t i = 0; i < f->shape.upp; i++) {
		struct gc_unit *u = &g->unit[g->units];

		if (!bit_get(f->map.valid, first + i))
			continue;
		u->upn = first + i;
		if (lost) {	/* the sequence is gone too; stable is past it */
			u->lpn = search_lpn(f, u->upn) | OOB_LOST;
			u->seq = f->bt.stable;
		} else {
			u->lpn = oob_get_lpn(oob, i);
			u->seq = oob_get_seq(oob, i);
			SSD_PREFETCH(&f->map.l2p[u->lpn & ~OOB_LOST]);
		}
		if (page)
			memcpy(g->data + (size_t)g->units * f->host.c.unit_bytes,
			       page + (size_t)i * f->host.c.unit_bytes, f->host.c.unit_bytes);
		g->units++;
	}
	g->page++;
}

/* The ECC words in which the page's valid units lie. */
static uint32_t words_wanted(const struct page_ftl *f, uint32_t first_upn)
{
	uint32_t unit = f->host.c.unit_bytes, word = f->g->ecc_word_bytes, words = 0;

	if (!f->gc.by_words)
		return NAND_WHOLE_PAGE;
	for (uint32_t i = 0; i < f->shape.upp; i++)
		if (bit_get(f->map.valid, first_upn + i))
			for (uint32_t w = i * unit / word; w * word < (i + 1) * unit; w++)
				words |= 1u << w;
	return words;
}

/* Whose commands are these? */
static enum nand_source source(const struct gc *g)
{
	return g->why == GC_FOR_SPACE ? NAND_SRC_GC : NAND_SRC_WL;
}

static void read_page(struct page_ftl *f, uint64_t now_ns, uint32_t plane)
{
	struct gc *g = &f->plane[plane].gc;
	uint32_t first = unit_addr(f, g->victim, g->page);
	struct nand_cmd c;

	nand_fill_read(&c, source(g), fxp_quotient(f->shape.by_upp, first), words_wanted(f, first), f->oob);
	nand_submit(f->n, now_ns, &c, 1);
	start(f, plane, GC_READ, &c);
	gather(f, g, f->oob, c.status == NAND_UNCORR || c.status == NAND_ERASED, c.page);
}

/* Forget units in hand that the host has written or trimmed since. */
static void drop_stale(struct page_ftl *f, struct gc *g)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < g->units; i++) {
		const struct gc_unit *u = &g->unit[i];
		bool mapped = (f->map.l2p[u->lpn & ~OOB_LOST] & ~OOB_LOST) == u->upn;

		SSD_ASSERT(mapped == bit_get(f->map.valid, u->upn));	/* the OOB named it rightly */
		if (!mapped)
			continue;
		if (kept != i) {
			g->unit[kept] = *u;
			if (g->bytes)
				memcpy(g->data + (size_t)kept * f->host.c.unit_bytes,
				       g->data + (size_t)i * f->host.c.unit_bytes, f->host.c.unit_bytes);
		}
		kept++;
	}
	g->units = kept;
}

/* Is the next page one for a copyback? */
static bool page_moves_whole(const struct page_ftl *f, const struct gc *g)
{
	uint32_t first = unit_addr(f, g->victim, g->page);

	if (!f->host.c.gc_copyback || g->units || g->why != GC_FOR_SPACE || g->corrected)
		return false;
	for (uint32_t i = 0; i < f->shape.upp; i++)
		if (!bit_get(f->map.valid, first + i))
			return false;
	return true;
}

/* Take its units in hand, without their bytes. */
static void gather_from_p2l(struct page_ftl *f, struct gc *g)
{
	uint32_t first = unit_addr(f, g->victim, g->page);
	uint32_t end = (g->victim + 1) * f->bt.units_per_block;
	uint32_t next = bit_next(f->map.valid, first + f->shape.upp, end);

	g->bytes = false;
	g->units = f->shape.upp;
	for (uint32_t i = 0; i < f->shape.upp; i++) {
		const uint8_t *unit = p2l_of(f, first + i);

		g->unit[i] = (struct gc_unit){ .lpn = oob_unit_lpn(unit), .upn = first + i,
					       .seq = oob_unit_seq(unit) };
		SSD_ASSERT((f->map.l2p[g->unit[i].lpn & ~OOB_LOST] & ~OOB_LOST) == first + i);
	}
	SSD_PREFETCH(p2l_of(f, first) + 128);
	if (next < end)
		SSD_PREFETCH(&f->map.l2p[oob_unit_lpn(p2l_of(f, next)) & ~OOB_LOST]);
}

/* Program the first units in hand, or none: a carrier. Or copy the victim's next page. */
static void program_page(struct page_ftl *f, uint64_t now_ns, uint32_t plane, uint32_t slot,
			 enum gc_op op)
{
	struct gc *g = &f->plane[plane].gc;
	struct oob_head h = { .order = f->bt.issued, .mark = f->bt.stable, .kind = OOB_GC };
	bool hidden = false;
	struct nand_cmd c;
	struct blk *b;

	nand_fill_program(&c, source(g), 0, f->oob);
	if (op == GC_COPYBACK) {
		gather_from_p2l(f, g);
		c.op = NAND_COPYBACK;
		c.from = geo_ppn(f->g, (pbn_t){ g->victim }, g->page);
	}
	c.ppn.v = frontier_take(f, plane, slot, FRONT_GC);
	g->target = fxp_quotient(f->shape.by_block_pages, c.ppn.v);
	b = &f->bt.blk[g->target];
	b->last_order = f->bt.issued;
	b->moved |= g->corrected;
	oob_put_head(f->oob, &h);
	g->flying = g->units < f->shape.upp ? g->units : f->shape.upp;
	g->mark = h.mark;
	for (uint32_t i = 0; i < f->shape.upp; i++) {
		struct gc_unit *u = &g->unit[i];

		if (i >= g->flying) {
			oob_put_unit(f->oob, i, OOB_NO_LPN, 0);
			f->host.stats.pad_units++;
			continue;
		}
		u->from = u->upn;
		u->upn = c.ppn.v * f->shape.upp + i;
		unit_map(f, u->lpn, u->upn, 0);
		oob_put_unit(f->oob, i, u->lpn, u->seq);
		if (f->map.p2l)
			oob_copy_unit(p2l_of(f, u->upn), f->oob, i);
		hidden |= (u->lpn & ~OOB_LOST) >= f->shape.lpns;
	}
	*(g->why == GC_FOR_SPACE ? &f->host.stats.gc_units : &f->host.stats.wl_units) += g->flying;
	c.data = op != GC_COPYBACK && (f->host.c.payload || hidden) ? g->data : NULL;
	if (!f->fr.plain)
		front_cover(&f->fr, plane, c.ppn.v, c.data, f->oob);
	nand_submit(f->n, now_ns, &c, 1);
	start(f, plane, op, &c);
}

/* The program failed: the units stay in hand, and readers find them in the victim. */
static void take_back(struct page_ftl *f, struct gc *g)
{
	for (uint32_t i = 0; i < g->flying; i++) {
		struct gc_unit *u = &g->unit[i];

		if ((f->map.l2p[u->lpn & ~OOB_LOST] & ~OOB_LOST) == u->upn)
			unit_map(f, u->lpn, u->from, 0);
		u->upn = u->from;
	}
	g->flying = 0;
}

static void program_ended(struct page_ftl *f, uint32_t plane, enum gc_op op)
{
	struct gc *g = &f->plane[plane].gc;
	uint32_t rest = g->units - g->flying, b = g->target;

	if (g->status != NAND_OK) {
		block_failed(f, b);
		take_back(f, g);
		if (op == GC_COPYBACK)
			g->units = 0;	/* their bytes are not in hand: the page is copied again */
		return;
	}
	if (op == GC_COPYBACK)
		g->page++;
	carrier_offer(f, b, g->mark);
	memmove(g->unit, g->unit + g->flying, rest * sizeof(*g->unit));
	if (g->bytes)
		memmove(g->data, g->data + (size_t)g->flying * f->host.c.unit_bytes,
			(size_t)rest * f->host.c.unit_bytes);
	g->units = rest;
	g->flying = 0;
}

/* ---- erasing ------------------------------------------------------------ */

static bool going(const struct gc *g, uint32_t b)
{
	return b == g->victim || b == g->second;
}

/* Rule 4a: has `stable` passed all that made the block's units obsolete? */
static bool settled_for_good(const struct page_ftl *f, uint32_t b)
{
	return f->bt.stable >= f->bt.blk[b].last_inval && f->bt.stable >= f->bt.blk[b].last_order;
}

static bool keeps_marks(const struct blk *b)
{
	return b->state == BLK_FULL || (b->state == BLK_OPEN && b->backup == BLK_DATA);
}

/* Rule 4b: does a block that stays carry a mark past all of those that go? */
static bool carried_elsewhere(struct page_ftl *f, const struct gc *g)
{
	uint64_t need = f->bt.blk[g->victim].last_order;

	if (g->second != BLK_NONE && f->bt.blk[g->second].last_order > need)
		need = f->bt.blk[g->second].last_order;
	if (f->log.carrier != BLK_NONE && !going(g, f->log.carrier) &&
	    f->bt.blk[f->log.carrier].mark >= need)
		return true;
	for (uint32_t p = 0; p < f->shape.planes; p++)
		for (unsigned int i = 0; i < FRONTIERS; i++) {
			uint32_t b = f->fr.plane[p].open[i];

			if (b != BLK_NONE && !going(g, b) && f->bt.blk[b].mark >= need) {
				f->log.carrier = b;
				return true;
			}
		}
	for (uint32_t b = 0; b < geo_blocks(f->g); b++)	/* seldom: the other way is a page */
		if (!going(g, b) && f->bt.blk[b].mark >= need && keeps_marks(&f->bt.blk[b])) {
			f->log.carrier = b;
			return true;
		}
	return false;
}

static void count_run(struct page_ftl *f, const struct gc *g, uint64_t now_ns)
{
	switch (g->why) {
	case GC_FOR_SPACE:
		f->host.stats.gc_runs++;
		f->host.stats.gc_ns += now_ns - g->since_ns;
		break;
	case GC_FOR_WEAR:
		f->host.stats.wl_runs++;
		break;
	case GC_FOR_ERRORS:
		f->host.stats.relocations++;
		break;
	}
}

static void victim_done(struct page_ftl *f, uint64_t now_ns, uint32_t plane)
{
	struct gc *g = &f->plane[plane].gc;

	f->die[geo_die_of_plane(f->g, plane)].gc_plane = (plane + 1) % f->g->planes_per_die;
	if (f->log.carrier != BLK_NONE && going(g, f->log.carrier))
		f->log.carrier = BLK_NONE;
	count_run(f, g, now_ns);
	g->victim = g->second = BLK_NONE;
}

static struct nand_cmd erase_of(const struct page_ftl *f, const struct gc *g, uint32_t b)
{
	return (struct nand_cmd){ .op = NAND_ERASE, .source = source(g), .pb = NAND_WHOLE_BLOCK,
				  .ppn = geo_ppn(f->g, (pbn_t){ b }, 0) };
}

static void erase_victim(struct page_ftl *f, uint64_t now_ns, uint32_t plane)
{
	struct gc *g = &f->plane[plane].gc;
	struct nand_cmd c[2] = { erase_of(f, g, g->victim) };
	unsigned int count = 1;

	if (g->second != BLK_NONE)
		c[count++] = erase_of(f, g, g->second);
	nand_submit(f->n, now_ns, c, count);
	start(f, plane, GC_ERASE, c);
	g->second_status = c[count - 1].status;
}

static void erased(struct page_ftl *f, uint32_t plane, uint32_t b, enum nand_status status)
{
	f->plane[plane].level = f->host.c.wl_threshold;
	if (status == NAND_OK) {
		f->host.stats.gc_blocks += f->plane[plane].gc.why == GC_FOR_SPACE;
		parity_void(f, b);
		blk_put_free(&f->bt, b, false);
	} else {
		block_lost(f, b);
	}
}

static void erase_ended(struct page_ftl *f, uint64_t now_ns, uint32_t plane)
{
	struct gc *g = &f->plane[plane].gc;
	uint32_t b = g->victim, second = g->second;

	victim_done(f, now_ns, plane);
	erased(f, plane, b, g->status);
	if (second != BLK_NONE) {
		f->host.stats.second_victims++;
		erased(f, plane, second, g->second_status);
	}
}

/* ---- the collector's turn ------------------------------------------------ */

enum turn {
	TURN_USED,	/* the die executes a command */
	TURN_PASSED,	/* no command can be issued now */
	TURN_AGAIN,	/* the victim has changed: ask again */
};

/*
 * No page for a copy, because blocks failed: put the victim back and take one
 * that only needs an erase, if there is one. Nothing in hand is lost: the map
 * still says that it is in the victim.
 */
static bool change_victim(struct page_ftl *f, uint64_t now_ns, uint32_t plane)
{
	struct gc *g = &f->plane[plane].gc;
	uint32_t empty = f->host.c.gc_policy->pick(&f->bt, plane, f->shape.upp);

	if (!f->bt.blk[g->victim].valid || empty == BLK_NONE || f->bt.blk[empty].valid)
		return false;
	if (g->retire) {
		f->bt.blk[g->victim].state = BLK_OPEN;
		blk_retire(&f->bt, g->victim);
	} else {
		blk_close(&f->bt, g->victim);
	}
	take_victim(f, now_ns, plane, empty, GC_FOR_SPACE);
	return true;
}

static enum turn program_or_erase_frontier(struct page_ftl *f, uint64_t now_ns, uint32_t plane,
					   enum gc_op op)
{
	uint32_t slot;

	switch (frontier_room(f, now_ns, plane, FRONT_GC, &slot)) {
	case ROOM_READY:
		program_page(f, now_ns, plane, slot, op);
		return TURN_USED;
	case ROOM_BUSY:
		return TURN_USED;
	case ROOM_NONE:
		break;
	}
	if (part(f, &f->plane[plane].gc) || change_victim(f, now_ns, plane))
		return TURN_AGAIN;
	return TURN_PASSED;	/* G2 is broken: blocks failed; a free one may come back */
}

/* All valid units of the victims are elsewhere. */
static enum turn erase_or_retire(struct page_ftl *f, uint64_t now_ns, uint32_t plane)
{
	struct gc *g = &f->plane[plane].gc;

	SSD_ASSERT(!f->bt.blk[g->victim].valid);
	SSD_ASSERT(g->second == BLK_NONE || !f->bt.blk[g->second].valid);
	if (!settled_for_good(f, g->victim) ||
	    (g->second != BLK_NONE && !settled_for_good(f, g->second)))		/* 4a */
		return TURN_PASSED;
	if (!carried_elsewhere(f, g))						/* 4b */
		return program_or_erase_frontier(f, now_ns, plane, GC_CARRIER);
	if (g->retire) {
		uint32_t victim = g->victim;

		victim_done(f, now_ns, plane);
		block_lost(f, victim);
		return TURN_AGAIN;
	}
	erase_victim(f, now_ns, plane);
	return TURN_USED;
}

static enum turn turn(struct page_ftl *f, uint64_t now_ns, uint32_t plane)
{
	struct gc *g = &f->plane[plane].gc;
	bool more;

	if (rests(f, plane) || (g->victim == BLK_NONE && !choose(f, now_ns, plane)))
		return TURN_PASSED;
	drop_stale(f, g);
	if (g->units >= f->shape.upp && g->second == BLK_NONE)
		return program_or_erase_frontier(f, now_ns, plane, GC_PROGRAM);
	more = next_page(f, g) || (turn_to_second(g) && next_page(f, g));
	if (more && g->second != BLK_NONE &&
	    !room_for(f, plane, f->bt.blk[g->victim].valid + f->bt.blk[g->second].valid)) {
		part(f, g);
		more = next_page(f, g);
	}
	if (g->units >= f->shape.upp || (g->units && !more))
		return program_or_erase_frontier(f, now_ns, plane, GC_PROGRAM);
	if (more && page_moves_whole(f, g))
		return program_or_erase_frontier(f, now_ns, plane, GC_COPYBACK);
	if (more) {
		read_page(f, now_ns, plane);
		return TURN_USED;
	}
	return erase_or_retire(f, now_ns, plane);
}

/* One command on the plane's idle die; false: none could be issued. */
bool gc_run(struct page_ftl *f, uint64_t now_ns, uint32_t plane)
{
	struct gc *g = &f->plane[plane].gc;
	enum turn now;

	g->state = GC_ACTIVE;
	do
		now = turn(f, now_ns, plane);
	while (now == TURN_AGAIN);
	if (now == TURN_PASSED && gc_is_awake(g))
		g->state = GC_WAITING;
	return now == TURN_USED;
}

void gc_complete(struct page_ftl *f, uint64_t now_ns, struct die *d)
{
	uint32_t plane = d->plane;
	enum gc_op op = f->plane[plane].gc.op;

	f->plane[plane].gc.op = GC_NOTHING;
	switch (op) {
	case GC_READ:
		break;
	case GC_PROGRAM:
	case GC_COPYBACK:
	case GC_CARRIER:
		program_ended(f, plane, op);
		break;
	case GC_ERASE:
		erase_ended(f, now_ns, plane);
		if (!wanted_or_moved(f, plane, f->host.c.gc_stop_blocks) && !wanted_idle(f, plane))
			go_to_sleep(f, plane);
		break;
	case GC_NOTHING:
		SSD_ASSERT(!"GC ended nothing");
	}
}
