// SPDX-License-Identifier: GPL-2.0-or-later
/* frontier.c - finds the page that a plane programs next, opens blocks, programs parity pages (frontier.h) */
#include "dies.h"
#include "frontier.h"
#include "level.h"
#include "map.h"
#include "page_state.h"
#include "slc.h"

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
static inline bool is_in_turn(const struct page_ftl *f, uint32_t plane, enum frontier which, uint32_t reserve,
			      uint32_t stream)
{
	return !f->handles.count || which != FRONT_HOST || reserve < f->gc.urgent_blocks ||
	       handles_in_turn(f, plane, stream);
}

/* Ask the policy (front.h) for the slot of the plane's next page of this kind. Returns NONE if there is none. */
static SSD_APART uint32_t ask_policy(struct page_ftl *f, uint32_t plane, enum frontier which)
{
	uint32_t free = f->bt.plane[plane].free_count, reserve = frontier_reserve(f, which);
	uint32_t stream = stream_of(f, plane, which);
	bool copy = which == FRONT_GC, apart = f->handles.count;
	struct front_ask q = { .who = which, .may_open = free > reserve && is_in_turn(f, plane, which, reserve, stream),
			       .mounting = f->gc.hold,
			       .plenty = free > f->gc.urgent_blocks || (copy && apart),
			       .stream = stream,
			       .mixes = !apart || copy || reserve < f->gc.urgent_blocks,
			       .idle = copy && f->plane[plane].gc.idle };
	const struct front_plane *p = &f->fr.plane[plane];

	if (handles_has_groups(&f->handles) && which == FRONT_HOST && !handles_takes(f, plane))	/* W8 */
		return NONE;
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

/* The part of frontier_has_room() for a plane without an open block, or an FTL whose policy chooses the slot. */
SSD_APART bool frontier_could_open(struct page_ftl *f, uint32_t plane, enum frontier which)
{
	if (f->fr.plain)
		return frontier_may_open(f, plane, which);
	if (f->bt.plane[plane].free_count < f->gc.urgent_blocks)
		plane_changed(f, plane);	/* P3: check whether GC has work */
	return ask_policy(f, plane, which) != NONE;
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
	map_block_taken(f, *b);
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
	map_block_taken(f, b);
	if (SSD_UNLIKELY(f->handles.count))
		handles_opened(f, b, slot);
	plane_changed(f, plane);
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
		plane_changed(f, at);
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

/* Drop the parity pages of block b, because no page of the block needs them any more. */
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
	else	/* the program of the group's last LSB page failed meanwhile */
		front_backup_unused(&f->fr, d->page[0]);
	plane_changed(f, d->plane);
	if (f->fr.c.backup_ahead) {
		plane_changed(f, front_backup_plane(&f->fr, d->plane));
		f->turn.kick = true;	/* the plane that owed the page has waited, and its die may be idle */
	}
}

/* If a plane owes a parity page whose backup block is on this idle die, write the page now. */
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
		return frontier_may_open(f, plane, which) ? open_frontier(f, now_ns, plane, which, *slot) :
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

/*
 * May a page join a group of programs? By word lines, all pages of a group have one type, because their program times
 * must be equal. All pages are in SLC mode, or none is.
 */
bool frontier_joins(struct page_ftl *f, uint32_t plane, enum frontier which, const struct nand_cmd *c)
{
	uint32_t slot = which, b;

	if (!f->fr.plain) {
		if (f->fr.plane[plane].debt != BLK_NONE)
			return false;
		slot = ask_policy(f, plane, which);
		if (slot == NONE || (slot == f->fr.slc) != c->slc)
			return false;
	}
	b = f->fr.plane[plane].open[slot];
	if (front_left(&f->fr, b))
		return !f->fr.word_lines || front_next_fast(&f->fr, b) == !(c->ppn.v & 1);
	if (which == FRONT_GC)
		level_free_block(f, plane);
	return (c->slc || frontier_may_open(f, plane, which)) && !f->bt.blk[f->bt.plane[plane].free_head].needs_erase &&
	       (!f->fr.word_lines || !(c->ppn.v & 1));
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

/* A program failed in the block. The block is not written further, and GC empties and retires it. */
void block_failed(struct page_ftl *f, uint32_t b)
{
	if (f->bt.blk[b].state == BLK_RETIRE)
		return;
	front_drop(&f->fr, b);
	blk_retire(&f->bt, b);
	plane_changed(f, geo_plane_of(f->g, (pbn_t){ b }));
}

/* Retire a block in state VICTIM that has no valid units. With too few good blocks the drive becomes read-only. */
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
