/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mount.h - interface between mount.c and rescue.c */
#ifndef SLATE_MOUNT_H
#define SLATE_MOUNT_H

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
	bool (*wants)(const struct page_mount *s, uint32_t b);	/* must the pass read block b? NULL: all */
	uint64_t tail;			/* map_mount.c: lowest order that the pass looks for */
	bool purge;			/* blocks with dead pages are not written further */
	bool read_only;			/* the mount writes and erases nothing */
	bool again;			/* cached map: this pass looks for units of the host and counts dead pages */
	bool map_lost;			/* a map page was lost: those that differ in trims alone are stale, too */
	bool trusts;			/* by a checkpoint: pages that it counts are not read (ckpt_mount.c) */
	bool contradiction;		/* some OOB cannot have been written by this FTL: sound_oob() */
};

/*
 * mount.c. page: buffer for the content, or NULL to read the spare area alone. Rebuilt pages can be
 * read as well.
 */
enum nand_status mount_read(struct page_mount *s, uint32_t ppn, const uint8_t **page, void *oob);
/* If the block is written further, can GC still collect it? */
bool mount_goes_on(const struct page_mount *s, uint32_t b);
void mount_fill_dead_list(const struct page_ftl *f, uint8_t *unit);
/* Issue the pages of the buffer, and wait until they are durable. */
int mount_settle(struct page_mount *s) SSD_MUST_CHECK;

int mount_versions(struct page_mount *s) SSD_MUST_CHECK;	/* step 3 */
int mount_trims(struct page_mount *s) SSD_MUST_CHECK;		/* step 4; cached map: for entries in memory */

/* Is the page in the part of its block that the checkpoint counts? */
static inline bool mount_trusts(const struct page_mount *s, uint32_t b, uint32_t page)
{
	return s->trusts && page < s->f->cache.ckpt.trusted[b];
}

/* ckpt_mount.c */
bool ckpt_find(struct page_mount *s);			/* find a checkpoint and take from it what is unchanged */
bool ckpt_confirm(const struct page_mount *s);		/* is everything there that it named? */

/* map_mount.c */
void map_mount_note(struct page_mount *s, uint32_t ppn, const uint8_t *oob);	/* step 1: a page of the log */
bool map_mount_takes(const struct page_mount *s, uint32_t lpn, const struct oob_head *h);
int map_mount_find(struct page_mount *s) SSD_MUST_CHECK;	/* steps 3 and 4, and the counts of step 5 */
int map_mount_settle(struct page_mount *s) SSD_MUST_CHECK;	/* make the map pages agree with what was found */

/* A mount calls these functions of rescue.c in this order. */
void rescue_note_parity(struct page_mount *s, uint32_t ppn, const uint8_t *oob);
int rescue_rebuild(struct page_mount *s) SSD_MUST_CHECK;
void rescue_keep_dead(struct page_mount *s);
bool rescue_holds(const struct page_ftl *f, uint32_t b);
void rescue_frontiers(struct page_mount *s);
int rescue_rewrite(struct page_mount *s) SSD_MUST_CHECK;

#endif
