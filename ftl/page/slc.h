/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slc.h - the SLC cache: may a page of the host go to it, and must GC fold a block (slc.c)? */
#ifndef SLATE_PAGE_SLC_H
#define SLATE_PAGE_SLC_H

#include "page_state.h"

void slc_set_aside(struct page_ftl *f);		/* called by a mount: set free blocks aside for a static cache */
bool slc_has_room(const struct page_ftl *f, uint32_t plane);	/* can the plane's cache take a page of the host? */
/* Is the plane's cache full, and does the host's page wait until GC has folded a block? May wake the collector. */
bool slc_waits(struct page_ftl *f, uint32_t plane);
bool slc_pressed(const struct page_ftl *f, uint32_t plane);	/* must GC fold a block so that the host goes on? */

/* Count the units that the collector has in flight and that come from blocks in SLC mode. */
void slc_count_folded(struct page_ftl *f, const struct gc *g);

/* Does GC of blocks in SLC mode free blocks for every use? It does in a dynamic cache. */
static inline bool slc_shares(const struct page_ftl *f)
{
	return !f->bt.aside_max;
}

#endif
