/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gc_wake.h - wakes the collectors of planes in which GC has work, and puts collectors to sleep (gc_wake.c) */
#ifndef SLATE_PAGE_GC_WAKE_H
#define SLATE_PAGE_GC_WAKE_H

#include "page_state.h"

/* The drive is idle: wake the collectors that have work for such a time, too. */
void gc_wake_idle(struct page_ftl *f);
/* The plane's blocks have changed: wake its collector if it has work now. */
void gc_wake(struct page_ftl *f, uint32_t plane);

/*
 * A flagged block (level.c) that GC filled with copies settles only when a later host page is issued. If the plane has
 * such a block and no page waits to be issued, close the open buffer page for that, or an empty one. Returns true while
 * that page has not been issued: the collector stays awake for the block.
 */
bool gc_waits_for_page(struct page_ftl *f, uint32_t plane);
/* Put the plane's collector to sleep. */
void gc_sleep(struct page_ftl *f, uint32_t plane);

#endif
