/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dies.h - marks dies as busy, and decides whether GC or the host has a die's next command */
#ifndef SLATE_PAGE_DIES_H
#define SLATE_PAGE_DIES_H

#include "page_state.h"

/*
 * The part of die_start() for drives with suspension or several namespaces (turn.watched): notes from when a read may
 * suspend the command, and for which namespaces the die works.
 */
void die_start_watched(struct page_ftl *f, uint32_t die, const struct nand_cmd *c);

/* Mark an idle die as executing `op`. c: the command, or the last one of a group. */
static inline void die_start(struct page_ftl *f, uint32_t die, enum die_op op, const struct nand_cmd *c)
{
	struct die *d = &f->die[die];

	SSD_ASSERT(d->op == DIE_IDLE);
	d->op = (uint8_t)op;
	d->suspend_at_ns = FTL_IDLE;
	if (SSD_UNLIKELY(f->turn.watched))
		die_start_watched(f, die, c);
	die_begin(&f->turn.ends, die, &d->turn, op == DIE_GC, f->host.now_ns, c->done_ns);
	f->stall.noted = false;
	word_clear(f->turn.idle, die);
	word_clear(f->turn.idle_stripe, d->stripe_at);
}

/* Does the host wait for the die, because GC is blocking and a collector of the die has commands to issue? */
bool gc_holds_die(const struct page_ftl *f, uint32_t die);
/*
 * Returns the time at which one of the die's planes ends a read next, or the end of the die's command if that is
 * earlier.
 */
uint64_t die_next_plane_ns(const struct page_ftl *f, uint64_t now_ns, uint32_t die);
/* Would GC have the idle die's next command before reads of the host: in blocking mode, or by its credit? */
bool gc_goes_first(const struct page_ftl *f, uint32_t die);
/* Sliced mode: call when a read, or a program of host pages, is issued on the die. Sets how much GC may do next. */
void gc_after_read(struct page_ftl *f, uint32_t die);
void gc_after_program(struct page_ftl *f, uint32_t die);

/*
 * Call when the plane may have something to collect: this wakes its collector if a reason applies. The callers are
 * below GC and may not name its functions (DESIGN.md, Rooms), so the call goes through a pointer to gc_wake().
 */
static inline void plane_changed(struct page_ftl *f, uint32_t plane)
{
	f->gc.wake(f, plane);
}

#endif
