// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dies.c - marks dies as busy when a command begins, and decides whether GC or the host has a die's next command. These
 * functions read the states of the collectors and call no function of GC, so all files that issue commands may use
 * them.
 */
#include "dies.h"
#include "page_owners.h"
#include "page_state.h"

/* Returns the time from which a read may suspend the command: the begin of its cell phase, or FTL_IDLE for never. */
static uint64_t suspend_from(const struct page_ftl *f, const struct nand_cmd *c)
{
	enum ftl_suspend may = f->host.c.suspend;
	bool does = c->op == NAND_ERASE ? may == FTL_SUSPEND_ERASE || may == FTL_SUSPEND_ALL :
		    c->op != NAND_READ && (may == FTL_SUSPEND_PROGRAM || may == FTL_SUSPEND_ALL);

	return does ? c->done_ns - c->cell_ns : FTL_IDLE;
}

void die_start_watched(struct page_ftl *f, uint32_t die, const struct nand_cmd *c)
{
	struct die *d = &f->die[die];

	d->suspend_at_ns = suspend_from(f, c);
	if (owners_told(f))
		owner_clock_turn(&f->owners.die[die], d->turn.ready_ns, f->host.now_ns, c->owners);
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

bool gc_goes_first(const struct page_ftl *f, uint32_t die)
{
	uint32_t first = die * f->g->planes_per_die;

	if (!f->gc.awake || f->gc.rests || (f->host.c.gc_mode != FTL_GC_BLOCKING && !f->die[die].turn.gc_credit))
		return false;
	for (uint32_t i = 0; i < f->g->planes_per_die; i++) {
		const struct gc *g = &f->plane[first + i].gc;

		if (gc_is_awake(g) && !(g->state == GC_WAITING && g->idle))
			return true;
	}
	return false;
}

uint64_t die_next_plane_ns(const struct page_ftl *f, uint64_t now_ns, uint32_t die)
{
	uint32_t first = die * f->g->planes_per_die;
	uint64_t next = f->die[die].turn.ready_ns;

	for (uint32_t i = 0; i < f->g->planes_per_die; i++) {
		uint64_t end = f->plane[first + i].read_end_ns;

		next = end > now_ns && end < next ? end : next;
	}
	return next;
}

static bool relocates(const struct gc *g)
{
	return gc_block(g) != BLK_NONE && g->corrected;
}

/*
 * Sliced mode: set how much GC may do on the die before the host's next command (gc_credit). A program used a
 * page, so GC may move gc_slice_pages. A read used none, so the next read goes first. But while writes wait for free
 * blocks or data wait for relocation, one copy follows each read; otherwise endless reads would keep them waiting.
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
