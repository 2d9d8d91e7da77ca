/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mount_state.h - the state of a mount, shared by its files. A file calls only files after it in this order: mount.c
 * (the steps); map_mount.c and rescue.c; ckpt_mount.c and mount_versions.c; mount_pages.c.
 */
#ifndef SLATE_MOUNT_STATE_H
#define SLATE_MOUNT_STATE_H

#include "map_own.h"
#include "page_ftl.h"

struct page_mount;
typedef void page_fn(struct page_mount *s, uint32_t ppn, const uint8_t *oob);

struct page_mount {
	struct page_ftl *f;
	page_fn *visit;			/* called for each page of the current pass */
	uint64_t k;			/* end of the log */
	uint64_t max_order;
	uint64_t mark;
	uint32_t dead_upn;		/* unit address of the dead list, or NONE */
	uint64_t dead_seq, dead_order;
	uint32_t dead_pages;		/* pages after k that are not on the list yet */
	page_fn *note;			/* called for each sound page of the survey; NULL: not called */
	bool (*wants)(const struct page_mount *s, uint32_t b);	/* must the pass read block b? NULL: all */
	/* Cached map: may the pass map a unit of this LPN from a page with this head? NULL: any */
	bool (*takes)(const struct page_mount *s, uint32_t lpn, const struct oob_head *h);
	bool surveys;			/* this pass is the survey (step 1), which counts unreadable pages */
	uint64_t tail;			/* map_mount.c: lowest order that the pass looks for */
	bool purge;			/* blocks with dead pages are not written further */
	bool read_only;			/* the mount writes and erases nothing */
	bool again;			/* cached map: this pass looks for units of the host and counts dead pages */
	bool map_lost;			/* a map page was lost: those that differ in trims alone are stale, too */
	bool trusts;			/* by a checkpoint: pages that it counts are not read (ckpt_mount.c) */
	bool contradiction;		/* some OOB cannot have been written by this FTL: sound_oob() */
};

/* Is the page in the part of its block that the checkpoint counts? */
static inline bool mount_trusts(const struct page_mount *s, uint32_t b, uint32_t page)
{
	return s->trusts && page < s->f->cache.ckpt.trusted[b];
}

#endif
