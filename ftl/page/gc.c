// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * gc.c - garbage collection: one victim per plane at a time, or two together.
 *
 * A plane's collector is woken when fewer than gc_start_blocks are free, when a block must be
 * retired, or by control.c. It works until gc_stop_blocks are free. Then level.c may name a victim;
 * it may also do so before, if a block must move because of errors. `gc_run` issues the
 * collector's next command on the plane's idle die:
 *
 *   1  if there is no victim, ask the policy for one
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
 * Two victims (parallel_erase; Garrett, Yang, Zhang: IPPBE, ISLPED 2018). The second best block is
 * collected together with the best one if it has at most second_victim_pages valid pages: step 3
 * continues with its pages, and step 4 erases both blocks with one command when 4a and 4b hold for
 * both. The first block is therefore free later than it would be alone. So the copies for a second
 * victim must not use the urgent reserve: if there is no room for all copies beside the reserve,
 * the first block is collected alone, and if room runs out during the collection, the other block
 * is released (`release_other`).
 *
 * Copyback (gc_copyback). A page of which every unit is valid is copied inside the chip, unless a
 * drained block waits for its last units: one command in place of steps 3 and 2. The copy needs its own
 * OOB, because a mount distinguishes it from its source by order, mark and kind, and the chip does
 * not return the old OOB. So the FTL keeps a P2L table in memory with the OOB of each unit. ECC
 * does not check the data: raw errors are copied and accumulate, lost data stay lost.
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
 *   G1  while gc.victim is set, that block is in state VICTIM; its valid units are on pages at or
 *       after gc.page, or in gc.unit[]. The same holds for gc.second, with page 0 (if second_waits)
 *       or the end of the block (otherwise) in place of gc.page;
 *   G2  a plane without a victim has a free block, unless blocks were retired;
 *   G3  drained blocks are in state VICTIM; all their valid units are in gc.unit[], before those of
 *       gc.victim. A collector that is asleep has none.
 */
#include "gc.h"

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

	if (f->gc.hold || !gc_wanted_or_moved(f, plane, f->host.c.gc_start_blocks))
		return;
	if (gc_is_awake(g)) {
		f->turn.kick |= g->idle;	/* the collector may have to rest */
		return;
	}
	if (g->victim == BLK_NONE && gc_candidate(f, plane, f->host.c.gc_start_blocks, &why) == BLK_NONE &&
	    !level_waits(f, plane))
		return;
	g->idle = false;
	wake_up(f, g);
}

/* The drive is idle: wake the collectors that have work to do. */
void gc_wake_idle(struct page_ftl *f)
{
	for (uint32_t plane = 0; plane < f->shape.planes; plane++) {
		struct gc *g = &f->plane[plane].gc;
		enum gc_why why;

		if (f->gc.hold || !(gc_wanted_idle(f, plane) || gc_wanted_fold(f, plane)))
			continue;
		if (!gc_is_awake(g) && g->victim == BLK_NONE &&
		    gc_candidate(f, plane, f->host.c.gc_start_blocks, &why) == BLK_NONE)
			continue;
		g->idle |= !gc_is_awake(g);
		wake_up(f, g);
	}
}

/*
 * Put a collector to rest if it works only because the drive was idle, and the drive is no longer
 * idle.
 */
static bool rests(struct page_ftl *f, uint32_t plane)
{
	struct gc *g = &f->plane[plane].gc;

	if (!g->idle)
		return false;
	if (gc_wanted_or_moved(f, plane, f->host.c.gc_start_blocks)) {
		g->idle = false;
		return false;
	}
	return !gc_wanted_idle(f, plane) && !gc_wanted_fold(f, plane);
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

	if (!f->gc.awake || f->host.c.gc_mode != FTL_GC_BLOCKING || f->gc.rests)
		return false;
	for (uint32_t i = 0; i < f->g->planes_per_die; i++)
		if (f->plane[first + i].gc.state == GC_ACTIVE)
			return true;
	return false;
}

static bool relocates(const struct gc *g)
{
	return gc_block(g) != BLK_NONE && g->corrected;
}

/*
 * Sliced mode: set whose turn is next. A program used a page, so GC may move gc_slice_pages. A read
 * used none, so the next read goes first. But while writes wait for free blocks or data wait for
 * relocation, one copy follows each read; otherwise endless reads would keep them waiting.
 */
void gc_after_program(struct page_ftl *f, uint32_t die)
{
	f->die[die].turn.gc_credit = f->host.c.gc_slice_pages;
}

void gc_after_read(struct page_ftl *f, uint32_t die)
{
	uint32_t first = die * f->g->planes_per_die;

	if (!f->gc.awake)
		return;
	for (uint32_t i = 0; i < f->g->planes_per_die; i++)
		if (gc_is_awake(&f->plane[first + i].gc) &&
		    (f->bt.plane[first + i].free_count <= f->gc.urgent_blocks ||
		     f->plane[first + i].relocate || relocates(&f->plane[first + i].gc)))
			f->die[die].turn.gc_credit = 1;
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
	g->of_map = map_is_cached(f) && f->bt.blk[b].map;
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
	b = f->host.c.gc_policy->pick(&f->bt, plane, f->shape.upp);
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
	enum gc_why why;
	uint32_t b = gc_candidate(f, plane, f->host.c.gc_stop_blocks, &why);

	if (b == BLK_NONE) {
		if (!level_waits(f, plane))
			go_to_sleep(f, plane);	/* it is woken when the host lacks room */
		return false;
	}
	take_victim(f, now_ns, plane, b, why);
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

/* All pages of the victims have been read. */
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

/* Rule 4b: does a block that is not erased carry a later mark than the blocks to erase, b and perhaps c? */
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

/* Remove the first drained block from the list: it is erased, or is to be retired. */
static uint32_t take_drained(struct page_ftl *f, struct gc *g)
{
	uint32_t b = g->drained;

	g->drained = f->bt.blk[b].next;
	if (f->log.carrier == b)
		f->log.carrier = BLK_NONE;
	return b;
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

static void erase_drained(struct page_ftl *f, uint64_t now_ns, uint32_t plane)
{
	struct gc *g = &f->plane[plane].gc;
	struct nand_cmd c[2] = { erase_of(f, g, g->drained) };
	uint32_t beside = erased_beside(f, g);

	g->erased = 1;
	if (beside != BLK_NONE)
		c[g->erased++] = erase_of(f, g, beside);
	nand_submit(f->host.n, now_ns, c, g->erased);
	gc_start(f, plane, GC_ERASE, c);
	g->second_status = c[g->erased - 1].status;
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
	erased(f, plane, take_drained(f, g), g->status);
	if (g->erased > 1) {
		f->host.stats.second_victims++;
		erased(f, plane, take_drained(f, g), g->second_status);
	}
	if (g->drained != BLK_NONE)
		return;
	if (!gc_wanted_space(f, plane)) {
		put_back_filler(f, g);
	} else if (g->victim != BLK_NONE) {
		f->plane[plane].order.victim = false;
		take_second(f, plane);
	}
}

/* ---- the collector's turn ------------------------------------------------ */

enum turn {
	TURN_USED,	/* the die executes a command */
	TURN_PASSED,	/* no command can be issued now */
	TURN_AGAIN,	/* the victim has changed: call again */
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
		put_back(f, g, take_drained(f, g));
}

/*
 * There is no page for a copy, because blocks failed. Put the victim back and take one that only
 * needs an erase, if there is one.
 */
static bool change_victim(struct page_ftl *f, uint64_t now_ns, uint32_t plane)
{
	struct gc *g = &f->plane[plane].gc;
	uint32_t empty = blk_empty(&f->bt, plane);

	if (empty == BLK_NONE && map_is_cached(f) && ckpt_yield(f, plane))
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

static SSD_HOT enum turn program_or_erase_frontier(struct page_ftl *f, uint64_t now_ns, uint32_t plane,
					   enum gc_op op)
{
	struct gc *g = &f->plane[plane].gc;
	enum frontier which = g->of_map ? FRONT_MAP : FRONT_GC;
	uint32_t slot;

	if (map_is_cached(f) && op == GC_PROGRAM && !map_gc_ready(f, now_ns, g))
		return change_to_map_victim(f, now_ns, plane) ? TURN_AGAIN : TURN_PASSED;
	if (map_is_cached(f) && op == GC_PROGRAM && !map_gc_agrees(f, g)) {
		gc_abandon(f, plane);
		return TURN_AGAIN;
	}
	if (front_waits(&f->fr, plane))
		return TURN_PASSED;
	switch (frontier_room(f, now_ns, plane, which, &slot)) {
	case ROOM_READY:
		gc_program_page(f, now_ns, plane, slot, op);
		return TURN_USED;
	case ROOM_BUSY:
		return TURN_USED;
	case ROOM_NONE:
		break;
	}
	if (g->drained != BLK_NONE && g->victim != BLK_NONE) {
		put_back_filler(f, g);
		g->alone = true;
		return TURN_AGAIN;
	}
	if (release_other(f, g) || change_victim(f, now_ns, plane) ||
	    (map_is_cached(f) && change_to_map_victim(f, now_ns, plane)))
		return TURN_AGAIN;
	return TURN_PASSED;	/* blocks failed, so that G2 does not hold; a free block may come later */
}

/* All valid units of the drained blocks have been copied: erase or retire them. */
static enum turn erase_or_retire(struct page_ftl *f, uint64_t now_ns, uint32_t plane)
{
	struct gc *g = &f->plane[plane].gc;
	uint32_t b = g->drained, beside = erased_beside(f, g);

	if (!settled_for_good(f, b) || (beside != BLK_NONE && !settled_for_good(f, beside)))	/* 4a */
		return TURN_PASSED;
	if (!carried_elsewhere(f, b, beside))							/* 4b */
		return program_or_erase_frontier(f, now_ns, plane, g->units ? GC_PROGRAM : GC_CARRIER);
	if (g->retire) {
		victim_done(f, now_ns, plane);
		block_lost(f, take_drained(f, g));
		return TURN_AGAIN;
	}
	erase_drained(f, now_ns, plane);
	return TURN_USED;
}

void gc_abandon(struct page_ftl *f, uint32_t plane)
{
	struct gc *g = &f->plane[plane].gc;

	map_gc_release(f, g);
	f->good_blocks -= g->victim != BLK_NONE;
	while (g->drained != BLK_NONE) {
		take_drained(f, g);
		f->good_blocks--;
	}
	g->units = 0;
	g->victim = BLK_NONE;
	f->host.worn = f->host.worn || f->good_blocks < f->need_blocks;
}

static enum turn turn(struct page_ftl *f, uint64_t now_ns, uint32_t plane)
{
	struct gc *g = &f->plane[plane].gc;
	bool more;

	if (rests(f, plane))
		return TURN_PASSED;
	gc_drop_stale(f, g);
	if (g->drained != BLK_NONE && !gc_drained_units(f, g))
		return erase_or_retire(f, now_ns, plane);
	if (g->victim == BLK_NONE && !(g->drained == BLK_NONE ? choose(f, now_ns, plane) : choose_filler(f, plane)))
		return g->units ? program_or_erase_frontier(f, now_ns, plane, GC_PROGRAM) : TURN_PASSED;
	if (g->units >= f->shape.upp && g->second == BLK_NONE)
		return program_or_erase_frontier(f, now_ns, plane, GC_PROGRAM);
	more = gc_next_page(f, g) || (turn_to_second(g) && gc_next_page(f, g));
	if (more && g->second != BLK_NONE &&
	    !gc_room_for(f, plane, f->bt.blk[g->victim].valid + f->bt.blk[g->second].valid)) {
		release_other(f, g);
		more = gc_next_page(f, g);
	}
	if (g->units >= f->shape.upp)
		return program_or_erase_frontier(f, now_ns, plane, GC_PROGRAM);
	if (!more) {
		drain(f, g);
		return TURN_AGAIN;
	}
	if (gc_moves_whole(f, g))
		return program_or_erase_frontier(f, now_ns, plane, GC_COPYBACK);
	gc_read_page(f, now_ns, plane);
	return TURN_USED;
}

/* Issue one command on the plane's idle die. Returns false if none was possible. */
bool gc_run(struct page_ftl *f, uint64_t now_ns, uint32_t plane)
{
	struct gc *g = &f->plane[plane].gc;
	bool waited = g->state == GC_WAITING;
	enum turn now;

	g->state = GC_ACTIVE;
	do
		now = turn(f, now_ns, plane);
	while (now == TURN_AGAIN);
	if (now == TURN_PASSED && gc_is_awake(g))
		g->state = GC_WAITING;
	if (now == TURN_PASSED && !waited && f->host.c.slc_full == FTL_SLC_FOLD)
		f->turn.kick = true;	/* slc_waits() asks again */
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
		gc_program_ended(f, plane, op);
		break;
	case GC_ERASE:
		erase_ended(f, now_ns, plane);
		if (f->plane[plane].gc.drained == BLK_NONE &&
		    !gc_wanted_or_moved(f, plane, f->host.c.gc_stop_blocks) && !gc_wanted_idle(f, plane) &&
		    !gc_wanted_fold(f, plane))
			go_to_sleep(f, plane);
		break;
	case GC_NOTHING:
		SSD_ASSERT(!"GC ended nothing");
	}
}
