// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * gc_wake.c - wakes a plane's collector when it has something to collect, and with it the others of its die, and puts
 * collectors to sleep. gc_pick.c has the reasons.
 */
#include "gc_pick.h"
#include "gc_wake.h"
#include "page_state.h"
#include "wbuf.h"
#include "wordline.h"

static void wake_up(struct page_ftl *f, struct gc *g)
{
	f->gc.awake += !gc_is_awake(g);
	g->state = GC_ACTIVE;
	f->turn.kick = true;
}

/*
 * Has the plane a flagged block that settles only with the next host page? Copies settle when a later host page is
 * issued (blk.h). Without writes of the host, a flagged block that GC filled would never be collected.
 */
static bool lacks_a_host_page(const struct page_ftl *f, uint32_t plane)
{
	uint32_t first = plane * f->g->blocks_per_plane;

	for (uint32_t b = first; b < first + f->g->blocks_per_plane; b++) {
		const struct blk *k = &f->bt.blk[b];

		if (k->relocate && k->state == BLK_FULL && k->copies && k->last_order == f->bt.issued)
			return true;
	}
	return false;
}

bool gc_waits_for_page(struct page_ftl *f, uint32_t plane)
{
	bool others_wait = f->buf.first != NONE && f->buf.first != f->buf.open && wordline_ready(f);

	if (!f->plane[plane].relocate || f->bt.plane[plane].free_count <= f->gc.urgent_blocks ||
	    f->host.worn || f->full || !lacks_a_host_page(f, plane))
		return false;
	if (f->log.goes_on > f->bt.issued)
		return true;
	if (others_wait || !wbuf_next_page(f))
		return false;
	f->log.goes_on = f->log.next_seq - 1;
	wordline_push(f);
	f->turn.kick = true;
	return true;
}

/* Wake the collector if it has work when free_target blocks are to be free. Returns true if it was asleep and wakes. */
static SSD_ALWAYS bool wake_below(struct page_ftl *f, uint32_t plane, uint32_t free_target)
{
	struct gc *g = &f->plane[plane].gc;
	uint32_t b;

	if (f->gc.hold || !gc_is_wanted(f, plane, free_target, GC_WAKES))
		return false;
	if (gc_is_awake(g)) {
		f->turn.kick |= g->idle;	/* a collector of idle time may have to rest */
		return false;
	}
	if (g->victim == BLK_NONE && !gc_reason(f, plane, free_target, &b) && !gc_waits_for_page(f, plane))
		return false;
	g->idle = false;
	wake_up(f, g);
	return true;
}

/*
 * The plane's collector has been woken. Wake the others of its die whose planes have fewer than gc_stop_blocks free.
 * The host's pages come to all planes of a die alike, but victims have different numbers of valid units. So each plane
 * would reach gc_start_blocks at another time, and its copies would go out alone.
 */
static SSD_APART void wake_beside(struct page_ftl *f, uint32_t plane)
{
	uint32_t planes = f->g->planes_per_die, first = plane - plane % planes;

	for (uint32_t i = 0; i < planes; i++)
		wake_below(f, first + i, f->host.c.gc_stop_blocks);
}

void gc_wake(struct page_ftl *f, uint32_t plane)
{
	if (wake_below(f, plane, f->host.c.gc_start_blocks) && f->gc.together)
		wake_beside(f, plane);
}

/* The drive is idle: wake the collectors that have work to do. */
void gc_wake_idle(struct page_ftl *f)
{
	for (uint32_t plane = 0; plane < f->shape.planes; plane++) {
		struct gc *g = &f->plane[plane].gc;
		uint32_t b;

		if (f->gc.hold || !gc_is_wanted(f, plane, f->host.c.gc_start_blocks, GC_WAKES_IDLE))
			continue;
		if (!gc_is_awake(g) && g->victim == BLK_NONE && !gc_reason(f, plane, f->host.c.gc_start_blocks, &b))
			continue;
		g->idle |= !gc_is_awake(g);
		wake_up(f, g);
	}
}

static bool some_awake(const struct page_ftl *f, uint32_t die)
{
	uint32_t first = die * f->g->planes_per_die;

	for (uint32_t i = 0; i < f->g->planes_per_die; i++)
		if (gc_is_awake(&f->plane[first + i].gc))
			return true;
	return false;
}

void gc_sleep(struct page_ftl *f, uint32_t plane)
{
	uint32_t die = geo_die_of_plane(f->g, plane);

	f->plane[plane].gc.state = GC_ASLEEP;
	if (!some_awake(f, die))
		f->die[die].turn.gc_credit = 0;
	f->gc.awake--;
}
