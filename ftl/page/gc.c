// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * gc.c - garbage collection: one victim per plane at a time, or two together.
 *
 * A plane's collector works as long as there is a reason (gc_reasons[] in gc_pick.c), such as fewer than
 * gc_start_blocks free blocks; once awake, it works until enough are free (gc_ends_at). `gc_run` issues the next
 * commands of a die's planes; `find_next` says which command of a plane comes next:
 *
 *   1  if there is no victim, take that of the first reason that has one
 *   2  if a page's worth of valid units is in hand, program them
 *   3  if a page of the victim still has a valid unit, read the next such page. If none has, the
 *      victim is drained: its last units, less than a page, are in hand. Another block becomes the
 *      victim, so that its first units fill their page (a filler). If there is no such block, the
 *      rest of the page stays empty (pad_units)
 *   4  if no drained block has a valid unit, erase them (or retire them), but not before
 *      a  `stable` has passed all sequences that made their units obsolete: until then a power cut
 *         may make an older version valid again, which is in such a block;
 *      b  another block carries a mark at or past all sequences in the block: else a mount would
 *         not find these pages and would end the log too early. If no block does, an empty page
 *         (the carrier) is programmed.
 *
 * A unit keeps the sequence of the host write that made it, however often it
 * moves. The copy is mapped when its program is issued; a unit that the host
 * wrote in between is dropped. Victim and copy are in one plane, so the erase
 * cannot overtake the program.
 *
 * Drained blocks. Only one page is programmed between the choice of a filler and the erase of the
 * drained blocks, as if that page had been programmed without it, so no more room is needed. If no
 * more blocks are wanted after the erase, the filler is put back, with a few valid units less, and is
 * the next victim when GC works again. All blocks in hand are collected for
 * space, and none is flagged, to be retired or of map pages, if there is more than one (is_plain). A
 * power cut leaves full blocks, as if GC had been interrupted in each.
 *
 * With one_shot a program takes a word line (wordline.h): read "word line" for the page that is programmed in steps 2
 * and 3 and below. If one of its pages fails, all its units are programmed again.
 *
 * Two victims (parallel_erase; Garrett, Yang, Zhang: IPPBE, ISLPED 2018). The second best block is
 * collected together with the best one if it has at most second_victim_pages valid pages: step 3
 * continues with its pages, and step 4 erases both blocks with one command when 4a and 4b hold for
 * both. The first block is therefore free later than it would be alone. So the copies for a second
 * victim must not use the urgent reserve: if there is no room for all copies beside the reserve,
 * the first block is collected alone, and if room runs out during the collection, the other block
 * is released (`release_other`).
 *
 * Groups (gc_multiplane). Commands of one kind of a die's collectors start together, in the order of enum gc_op.
 * Collectors that can issue none (they wait for 4a, a parity page or map pages) do not count, so no collector waits for
 * one that cannot go on. 4a and 4b are checked for each block before each group. Two blocks that are erased together
 * cannot both rely on the other's mark (4b): a carrier found by search is FULL or OPEN, so it is not being erased, and
 * only one carrier is noted (log.carrier). If the noted one is in the group, its own erase needs another block, whose
 * mark is at or past the noted one's last sequence, and so serves both. A power cut may tear a page or an erase in each
 * plane; each has its own reserve, and the victims still have all units.
 *
 * Copyback (gc_copyback). A page of which every unit is valid is copied inside the chip, unless a
 * drained block waits for its last units: one command in place of steps 3 and 2. The copy needs its own
 * OOB, because a mount distinguishes it from its source by order, mark and kind, and the chip does
 * not return the old OOB. So the FTL keeps a P2L table in memory with the OOB of each unit. ECC
 * does not check the data: raw errors are copied and accumulate, lost data stay lost.
 *
 * States of a plane's collector (gc.state):
 *   asleep -> active    gc_wake(): there is something to collect
 *   active -> waiting   pass(): no command can be issued: the drive is not idle (idle_work_rests), a
 *                       flagged block has not settled (choose), blocks failed and there is no page
 *                       for a copy (program_or_erase_frontier), or `stable` is behind (4a)
 *   waiting -> active   add_op(), the next time that its die is idle and GC's turn comes
 *   any -> asleep       gc_sleep(): enough blocks are free (gc_complete), or no block is worth
 *                       collecting (choose)
 *
 * Invariants:
 *   G1  while gc.victim is set, that block is in state VICTIM; its valid units are on pages at or
 *       after gc.page, or in gc.unit[]. The same holds for gc.second, with page 0 (if second_waits)
 *       or the end of the block (otherwise) in place of gc.page;
 *   G2  a plane without a victim has a free block, unless blocks were retired;
 *   G3  drained blocks are in state VICTIM; all their valid units are in gc.unit[], before those of
 *       gc.victim. A collector that is asleep has none.
 */
#include "frontier.h"
#include "gc.h"
#include "gc_copy.h"
#include "gc_pick.h"
#include "gc_wake.h"
#include "level.h"
#include "map.h"
#include "page_state.h"

/*
 * Put a collector to rest if it works only because the drive was idle, and the drive is no longer
 * idle.
 */
static SSD_APART bool idle_work_rests(struct page_ftl *f, uint32_t plane)
{
	if (gc_is_wanted(f, plane, f->host.c.gc_start_blocks, GC_WAKES)) {
		f->plane[plane].gc.idle = false;
		return false;
	}
	return !gc_is_wanted(f, plane, f->host.c.gc_start_blocks, GC_WAKES_IDLE);
}

/* ---- choosing victims ---------------------------------------------------- */

static void take_block(struct page_ftl *f, uint32_t plane, uint32_t b)
{
	if (f->bt.blk[b].dead && f->plane[plane].purge)
		f->plane[plane].purge--;
	f->bt.blk[b].dead = false;
	if (f->plane[plane].gc.next == b)
		f->plane[plane].gc.next = BLK_NONE;
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
	g->of_map = map_owns(f, b);
	g->second = g->drained = BLK_NONE;
	g->alone = false;
	g->page = 0;
	g->units = 0;
	g->since_ns = now_ns;
	g->retire = f->bt.blk[b].state == BLK_RETIRE;
	f->plane[plane].order.victim = false;
	take_block(f, plane, b);
}

/* IPPBE: choose a second victim if it has few pages to copy. */
static void take_second(struct page_ftl *f, uint32_t plane)
{
	struct gc *g = &f->plane[plane].gc;
	uint32_t b;

	if (!f->host.c.parallel_erase || g->retire || g->why != GC_FOR_SPACE || g->corrected ||
	    f->bt.blk[g->victim].slc)
		return;
	b = gc_policy_pick(&f->host.c, &f->bt, plane, f->line.units);
	if (b == BLK_NONE || f->bt.blk[b].relocate ||
	    (f->handles.apart && f->bt.blk[b].stream != f->bt.blk[g->victim].stream) ||
	    f->bt.blk[b].valid > (uint64_t)f->host.c.second_victim_pages * f->shape.upp ||
	    !gc_room_for(f, plane, f->bt.blk[g->victim].valid + f->bt.blk[b].valid))
		return;
	take_block(f, plane, b);
	g->second = b;
	g->second_waits = true;
}

/*
 * The first victim's pages have been copied: exchange the two victims. Returns false if there is no
 * second one.
 */
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
 * There is no room for the copies of both victims: continue with the first alone. Units in hand of
 * either victim are read again; in the map they are still in their block.
 */
static bool release_other(struct page_ftl *f, struct gc *g)
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
	uint32_t b;
	const struct gc_reason *r = gc_reason(f, plane, gc_ends_at(f, plane), &b);

	if (!r) {
		if (!gc_waits_for_page(f, plane))
			gc_sleep(f, plane);	/* gc_wake() wakes it when a reason applies again */
		return false;
	}
	take_victim(f, now_ns, plane, b, r->why);
	take_second(f, plane);
	return true;
}

/* ---- drained blocks ------------------------------------------------------ */

/* Append the block to the list of drained ones. */
static void add_drained(const struct page_ftl *f, struct gc *g, uint32_t b)
{
	uint32_t *link = &g->drained;

	while (*link != BLK_NONE)
		link = &f->bt.blk[*link].next;
	*link = b;
	f->bt.blk[b].next = BLK_NONE;
}

/* All pages of the victims have been read: put the victims on the list of drained blocks. */
static void drain(const struct page_ftl *f, struct gc *g)
{
	add_drained(f, g, g->victim);
	if (g->second != BLK_NONE)
		add_drained(f, g, g->second);
	g->victim = g->second = BLK_NONE;
}

/* May blocks of this kind be in hand together with others? */
static bool is_plain(const struct gc *g)
{
	return g->why == GC_FOR_SPACE && !g->corrected && !g->of_map && !g->retire;
}

/* Choose a block whose units fill the page that the last units of the drained blocks begin. */
static bool choose_filler(struct page_ftl *f, uint32_t plane)
{
	struct gc *g = &f->plane[plane].gc;
	uint32_t b = is_plain(g) && !g->alone ? gc_filler(f, plane) : BLK_NONE;

	if (b == BLK_NONE)
		return false;
	g->victim = b;
	g->page = 0;
	take_block(f, plane, b);
	return true;
}

/*
 * Put back the block that was to fill a page, if there is one: it is the next victim. Its units in
 * hand are still in it.
 */
static void put_back_filler(struct page_ftl *f, struct gc *g)
{
	if (g->victim != BLK_NONE) {
		blk_close(&f->bt, g->victim);
		g->next = g->victim;
		g->victim = BLK_NONE;
	}
	g->units = gc_drained_units(f, g);
}

/* ---- erasing ------------------------------------------------------------ */

/* Returns the block that is erased by one command with the first drained one, or BLK_NONE. */
static uint32_t erased_beside(const struct page_ftl *f, const struct gc *g)
{
	return f->host.c.parallel_erase ? f->bt.blk[g->drained].next : BLK_NONE;
}

/* Rule 4a: has `stable` passed all sequences that made the block's units obsolete? */
static bool settled_for_good(const struct page_ftl *f, uint32_t b)
{
	return f->bt.stable >= f->bt.blk[b].last_inval && f->bt.stable >= f->bt.blk[b].last_order;
}

static bool keeps_marks(const struct blk *b)
{
	return b->state == BLK_FULL || (b->state == BLK_OPEN && b->backup == BLK_DATA);
}

/* Rule 4b: does a block other than b and c, which are to be erased, carry a mark that covers their sequences? */
static bool carried_elsewhere(struct page_ftl *f, uint32_t b, uint32_t c)
{
	uint64_t need = f->bt.blk[b].last_order;
	uint32_t at = f->log.carrier;

	if (c != BLK_NONE && f->bt.blk[c].last_order > need)
		need = f->bt.blk[c].last_order;
	if (at != BLK_NONE && at != b && at != c && f->bt.blk[at].mark >= need)
		return true;
	for (uint32_t p = 0; p < f->shape.planes; p++)
		for (unsigned int i = 0; i < FRONTIERS; i++) {
			at = f->fr.plane[p].open[i];
			if (at != BLK_NONE && at != b && at != c && f->bt.blk[at].mark >= need) {
				f->log.carrier = at;
				return true;
			}
		}
	for (at = 0; at < geo_blocks(f->g); at++)	/* rare: otherwise the mark is carried by a new page */
		if (at != b && at != c && f->bt.blk[at].mark >= need && keeps_marks(&f->bt.blk[at])) {
			f->log.carrier = at;
			return true;
		}
	return false;
}

static void count_run(struct page_ftl *f, struct gc *g, uint64_t now_ns)
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
	g->since_ns = now_ns;
}

static void victim_done(struct page_ftl *f, uint64_t now_ns, uint32_t plane)
{
	f->die[geo_die_of_plane(f->g, plane)].gc_plane = (plane + 1) % f->g->planes_per_die;
	count_run(f, &f->plane[plane].gc, now_ns);
}

static struct nand_cmd erase_of(const struct page_ftl *f, const struct gc *g, uint32_t b)
{
	return (struct nand_cmd){ .op = NAND_ERASE, .source = (uint16_t)gc_source(g), .pb = NAND_WHOLE_BLOCK,
				  .ppn = geo_ppn(f->g, (pbn_t){ b }, 0) };
}

/* Add the erase of the first drained block, and of one beside it, unless the group has no room for both. */
static bool erase_drained(struct page_ftl *f, struct gc_group *w, uint32_t plane)
{
	struct gc *g = &f->plane[plane].gc;
	uint32_t beside = erased_beside(f, g), erased = 1 + (beside != BLK_NONE);

	if (w->count + erased > MAX_PLANES)
		return false;
	g->erased = (uint8_t)erased;
	*gc_add(f, w, plane, GC_ERASE) = erase_of(f, g, g->drained);
	if (beside != BLK_NONE)
		*gc_add(f, w, plane, GC_ERASE) = erase_of(f, g, beside);
	return true;
}

static void erased(struct page_ftl *f, uint32_t plane, uint32_t b, enum nand_status status)
{
	f->plane[plane].level = f->host.c.wl_threshold;
	if (status == NAND_OK) {
		f->host.stats.gc_blocks += f->plane[plane].gc.why == GC_FOR_SPACE;
		f->host.stats.slc_erases += f->bt.blk[b].slc;
		parity_void(f, b);
		blk_put_free(&f->bt, b, false);
	} else {
		block_lost(f, b);
	}
}

static void erase_ended(struct page_ftl *f, uint64_t now_ns, uint32_t plane)
{
	struct gc *g = &f->plane[plane].gc;

	victim_done(f, now_ns, plane);
	erased(f, plane, gc_take_drained(f, g), g->status);
	if (g->erased > 1) {
		f->host.stats.second_victims++;
		erased(f, plane, gc_take_drained(f, g), g->second_status);
	}
}

/*
 * The erases of the die's planes have ended. If GC needs more space, collect the filler (the block in g->victim whose
 * units filled the last page); otherwise put the filler back. Sleep if no reason applies.
 */
static void go_on_or_sleep(struct page_ftl *f, uint32_t plane)
{
	struct gc *g = &f->plane[plane].gc;

	if (g->drained != BLK_NONE)
		return;
	if (!gc_wants_space(f, plane)) {
		put_back_filler(f, g);
	} else if (g->victim != BLK_NONE) {
		f->plane[plane].order.victim = false;
		take_second(f, plane);
	}
	if (!gc_is_wanted(f, plane, gc_ends_at(f, plane), GC_WAKES_EVER))
		gc_sleep(f, plane);
}

/* ---- the collector's turn ------------------------------------------------ */

enum turn {
	TURN_USED,	/* the die executes a command, or is to */
	TURN_PASSED,	/* no command can be issued now */
	TURN_AGAIN,	/* the victim has changed: call again */
	TURN_LATER,	/* the command cannot start together with those that the die is to execute */
};

static void put_back(struct page_ftl *f, const struct gc *g, uint32_t b)
{
	if (g->retire) {
		f->bt.blk[b].state = BLK_OPEN;
		blk_retire(&f->bt, b);
	} else {
		blk_close(&f->bt, b);
	}
}

/* Put back all blocks in hand. Their units in hand are not lost, because the map says that they are still there. */
static void put_back_all(struct page_ftl *f, struct gc *g)
{
	map_gc_release(f, g);
	if (g->victim != BLK_NONE)
		put_back(f, g, g->victim);
	while (g->drained != BLK_NONE)
		put_back(f, g, gc_take_drained(f, g));
}

/*
 * There is no page for a copy, because blocks failed. Put the victim back and take one that only
 * needs an erase, if there is one.
 */
static bool change_victim(struct page_ftl *f, uint64_t now_ns, uint32_t plane)
{
	struct gc *g = &f->plane[plane].gc;
	uint32_t empty = blk_empty(&f->bt, plane);

	if (empty == BLK_NONE && map_yield(f, plane))
		empty = blk_empty(&f->bt, plane);
	if ((g->victim == BLK_NONE && !gc_drained_units(f, g)) || empty == BLK_NONE)
		return false;
	put_back_all(f, g);
	take_victim(f, now_ns, plane, empty, GC_FOR_SPACE);
	return true;
}

/*
 * If map pages lack room, put the victim back and take a block of map pages. Its copies need no other
 * map pages in memory.
 */
static bool change_to_map_victim(struct page_ftl *f, uint64_t now_ns, uint32_t plane)
{
	struct gc *g = &f->plane[plane].gc;
	uint32_t b = g->of_map || g->retire || !map_needs_room(f, plane) ? BLK_NONE : map_victim(f, plane);

	if (b == BLK_NONE)
		return false;
	put_back_all(f, g);
	take_victim(f, now_ns, plane, b, GC_FOR_SPACE);
	return true;
}

static enum frontier target_of(const struct gc *g)
{
	return g->of_map ? FRONT_MAP : FRONT_GC;
}

/* May the units in hand be programmed? If not, *turn is set. */
static bool map_allows(struct page_ftl *f, uint64_t now_ns, uint32_t plane, enum turn *turn)
{
	struct gc *g = &f->plane[plane].gc;
	enum map_pins pins;

	pins = map_gc_pin(f, now_ns, g);
	if (pins == MAP_PINS_WAIT) {
		*turn = change_to_map_victim(f, now_ns, plane) ? TURN_AGAIN : TURN_PASSED;
	} else if (pins == MAP_DISAGREES) {
		gc_abandon(f, plane);
		*turn = TURN_AGAIN;
	}
	return pins == MAP_PINNED;
}

static SSD_HOT enum turn program_or_erase_frontier(struct page_ftl *f, uint64_t now_ns, uint32_t plane,
					   enum gc_op op, struct gc_group *w)
{
	struct gc *g = &f->plane[plane].gc;
	enum turn turn = TURN_USED;
	uint32_t slot;

	if (op == GC_PROGRAM && !map_allows(f, now_ns, plane, &turn))
		return turn;
	if (front_waits(&f->fr, plane))
		return TURN_PASSED;
	if (w->count && !frontier_joins(f, plane, target_of(g), &w->c[0]))
		return TURN_LATER;
	switch (frontier_room(f, now_ns, plane, target_of(g), &slot)) {
	case ROOM_READY:
		gc_program_page(f, w, plane, slot, op);
		return TURN_USED;
	case ROOM_BUSY:
		SSD_ASSERT(!w->count);
		return TURN_USED;
	case ROOM_NONE:
		break;
	}
	if (g->drained != BLK_NONE && g->victim != BLK_NONE) {
		put_back_filler(f, g);
		g->alone = true;
		return TURN_AGAIN;
	}
	if (release_other(f, g) || change_victim(f, now_ns, plane) || change_to_map_victim(f, now_ns, plane))
		return TURN_AGAIN;
	return TURN_PASSED;	/* blocks failed, so that G2 does not hold; a free block may come later */
}

/* The drained blocks have no valid unit: erase or retire them. Returns false if *op is not known yet. */
static bool erase_or_retire(struct page_ftl *f, uint64_t now_ns, uint32_t plane, enum gc_op *op)
{
	struct gc *g = &f->plane[plane].gc;
	uint32_t b = g->drained, beside = erased_beside(f, g);

	if (!settled_for_good(f, b) || (beside != BLK_NONE && !settled_for_good(f, beside))) {	/* 4a */
		*op = GC_NOTHING;
	} else if (!carried_elsewhere(f, b, beside)) {						/* 4b */
		*op = g->units ? GC_PROGRAM : GC_CARRIER;
	} else if (g->retire) {
		victim_done(f, now_ns, plane);
		block_lost(f, gc_take_drained(f, g));
		return false;
	} else {
		*op = GC_ERASE;
	}
	return true;
}

/* Set *op to the collector's next command, or GC_NOTHING. Returns false if the victim has changed: call again. */
static SSD_ALWAYS bool find_next(struct page_ftl *f, uint64_t now_ns, uint32_t plane, enum gc_op *op)
{
	struct gc *g = &f->plane[plane].gc;
	bool more;

	*op = GC_NOTHING;
	if (g->idle && idle_work_rests(f, plane))
		return true;
	if (g->units)
		gc_drop_stale(f, g);
	if (g->drained != BLK_NONE && !gc_drained_units(f, g))
		return erase_or_retire(f, now_ns, plane, op);
	if (g->victim == BLK_NONE && !(g->drained == BLK_NONE ? choose(f, now_ns, plane) : choose_filler(f, plane))) {
		*op = g->units ? GC_PROGRAM : GC_NOTHING;
		return true;
	}
	*op = GC_PROGRAM;
	if (g->units >= f->line.units && g->second == BLK_NONE)
		return true;
	more = gc_next_page(f, g) || (turn_to_second(g) && gc_next_page(f, g));
	if (more && g->second != BLK_NONE &&
	    !gc_room_for(f, plane, f->bt.blk[g->victim].valid + f->bt.blk[g->second].valid)) {
		release_other(f, g);
		more = gc_next_page(f, g);
	}
	if (g->units >= f->line.units)
		return true;
	if (!more) {
		drain(f, g);
		return false;
	}
	*op = gc_moves_whole(f, g) ? GC_COPYBACK : GC_READ;
	return true;
}

/* This collector has no command to issue now. If it is awake, mark it as waiting. */
static void pass(struct page_ftl *f, struct gc *g, bool waited)
{
	if (gc_is_awake(g))
		g->state = GC_WAITING;
	if (!waited && f->host.c.slc_full == FTL_SLC_FOLD)
		f->turn.kick = true;	/* slc_waits() asks again */
}

/* Find the collector's next command. If it can issue none now, it sleeps or waits, and this returns GC_NOTHING. */
static SSD_ALWAYS enum gc_op next_op(struct page_ftl *f, uint64_t now_ns, uint32_t plane)
{
	struct gc *g = &f->plane[plane].gc;
	bool waited = g->state == GC_WAITING;
	enum gc_op op;

	while (!find_next(f, now_ns, plane, &op))
		;
	if (op == GC_NOTHING)
		pass(f, g, waited);
	return op;
}

/*
 * Add command op of the plane's collector to the group w of commands that the die is to execute together. In place of a
 * program the die may have to erase the block that the program's frontier opens.
 */
static SSD_ALWAYS enum turn add_op(struct page_ftl *f, uint64_t now_ns, uint32_t plane, enum gc_op op,
				   struct gc_group *w)
{
	struct gc *g = &f->plane[plane].gc;
	enum turn turn = TURN_USED;

	if (op == GC_READ)
		gc_read_page(f, w, plane);
	else if (op == GC_ERASE)
		turn = erase_drained(f, w, plane) ? TURN_USED : TURN_LATER;
	else
		turn = program_or_erase_frontier(f, now_ns, plane, op, w);
	if (turn == TURN_PASSED)
		pass(f, g, g->state == GC_WAITING);
	else if (turn != TURN_AGAIN)
		g->state = GC_ACTIVE;
	return turn;
}

/* Issue the collector's next command. Returns false if none was possible. */
static SSD_ALWAYS bool run_alone(struct page_ftl *f, uint64_t now_ns, uint32_t die, uint32_t plane)
{
	struct gc_group w;
	enum gc_op op;

	w.count = 0;
	w.c = f->cmd;
	do
		op = next_op(f, now_ns, plane);
	while (op != GC_NOTHING && add_op(f, now_ns, plane, op, &w) == TURN_AGAIN);
	if (w.count)
		gc_issue(f, now_ns, die, &w);
	return f->die[die].op != DIE_IDLE;
}

/*
 * Returns the plane of the die that has the i-th turn. Each plane has the first turn for one victim. If one plane
 * always came first, the others could not collect, and the host's data would accumulate in that plane.
 */
static uint32_t plane_in_turn(const struct page_ftl *f, uint32_t die, uint32_t i)
{
	uint32_t planes = f->g->planes_per_die, turn = f->die[die].gc_plane + i;

	return die * planes + (turn < planes ? turn : turn - planes);
}

/* Returns the first kind of command, in the order of enum gc_op, that one of these collectors needs next. */
static enum gc_op first_kind(const enum gc_op *next, uint32_t count)
{
	enum gc_op kind = GC_NOTHING;

	for (uint32_t i = 0; i < count; i++)
		if (next[i] < kind)
			kind = next[i];
	return kind;
}

static SSD_APART SSD_HOT enum gc_op next_of_plane(struct page_ftl *f, uint64_t now_ns, uint32_t plane)
{
	return next_op(f, now_ns, plane);
}

/*
 * Add command op of the plane's collector to the group w. Returns a command if one of the plane can still be issued in
 * this turn of the die: another one if the victim has changed, or op, for a later group; else GC_NOTHING.
 */
static enum gc_op add_to_group(struct page_ftl *f, uint64_t now_ns, uint32_t plane, enum gc_op op, struct gc_group *w)
{
	switch (add_op(f, now_ns, plane, op, w)) {
	case TURN_AGAIN:
		return next_of_plane(f, now_ns, plane);
	case TURN_LATER:
		return op;
	case TURN_USED:
	case TURN_PASSED:
		break;
	}
	return GC_NOTHING;
}

/* Issue the next commands of the collectors that are awake, as far as they are of one kind. */
static SSD_APART SSD_HOT bool run_together(struct page_ftl *f, uint64_t now_ns, uint32_t die)
{
	uint32_t planes = f->g->planes_per_die, plane[MAX_PLANES];
	enum gc_op next[MAX_PLANES], kind;
	struct gc_group w;

	w.c = f->cmd;
	for (uint32_t i = 0; i < planes; i++)
		plane[i] = plane_in_turn(f, die, i);
	for (uint32_t i = 0; i < planes; i++)	/* this may change the turns (victim_done) */
		next[i] = gc_is_awake(&f->plane[plane[i]].gc) ? next_of_plane(f, now_ns, plane[i]) : GC_NOTHING;
	for (kind = first_kind(next, planes); kind != GC_NOTHING; kind = first_kind(next, planes)) {
		w.count = 0;
		for (uint32_t i = 0; i < planes && f->die[die].op == DIE_IDLE; i++)
			if (next[i] == kind)
				next[i] = add_to_group(f, now_ns, plane[i], kind, &w);
		if (w.count)
			gc_issue(f, now_ns, die, &w);
		if (f->die[die].op != DIE_IDLE)
			return true;
	}
	return false;
}

static SSD_ALWAYS bool run_in_turn(struct page_ftl *f, uint64_t now_ns, uint32_t die)
{
	for (uint32_t i = 0; i < f->g->planes_per_die; i++) {
		uint32_t plane = plane_in_turn(f, die, i);

		if (gc_is_awake(&f->plane[plane].gc) && run_alone(f, now_ns, die, plane))
			return true;
	}
	return false;
}

SSD_HOT bool gc_run(struct page_ftl *f, uint64_t now_ns, uint32_t die)
{
	if (f->gc.rests)
		return false;
	return f->gc.together ? run_together(f, now_ns, die) : run_in_turn(f, now_ns, die);
}

/* End the command of the plane's collector, if it had one in the group. Returns whether it was an erase. */
static SSD_ALWAYS bool op_ended(struct page_ftl *f, uint64_t now_ns, uint32_t plane)
{
	enum gc_op op = f->plane[plane].gc.op;

	f->plane[plane].gc.op = GC_NOTHING;
	switch (op) {
	case GC_READ:
	case GC_NOTHING:
		break;
	case GC_PROGRAM:
	case GC_COPYBACK:
	case GC_CARRIER:
		gc_program_ended(f, plane, op);
		break;
	case GC_ERASE:
		erase_ended(f, now_ns, plane);
		break;
	}
	return op == GC_ERASE;
}

static SSD_APART void group_ended(struct page_ftl *f, uint64_t now_ns, uint32_t die)
{
	uint32_t planes = f->g->planes_per_die, erased = 0;

	for (uint32_t i = 0; i < planes; i++)
		if (op_ended(f, now_ns, die * planes + i))
			erased |= 1u << i;
	for (uint32_t i = 0; erased >> i; i++)
		if (erased >> i & 1)
			go_on_or_sleep(f, die * planes + i);
}

void gc_complete(struct page_ftl *f, uint64_t now_ns, const struct die *d)
{
	if (f->gc.together)
		group_ended(f, now_ns, geo_die_of_plane(f->g, d->plane));
	else if (op_ended(f, now_ns, d->plane))
		go_on_or_sleep(f, d->plane);
}
