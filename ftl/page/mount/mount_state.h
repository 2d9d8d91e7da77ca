/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mount_state.h - the state of a mount, and the functions that its files offer each other. A file calls only files
 * after it in this order: mount.c (the steps); map_mount.c and rescue.c; ckpt_mount.c and mount_versions.c;
 * mount_pages.c.
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

/*
 * mount_pages.c. Read a page. *page: set to the content; page NULL: read the spare area alone. oob: room for the spare
 * area. A page that rescue.c has rebuilt is read from memory (NAND_CORRECTED).
 */
enum nand_status mount_read(struct page_mount *s, uint32_t ppn, const uint8_t **page, void *oob);
/* Call `visit` for each readable page of a pass (s->wants). Returns 0 or a negative ssd_err. */
int mount_each_page(struct page_mount *s, page_fn *visit) SSD_MUST_CHECK;
/* Is the block written further after the mount? It must have a valid unit and an erased page, and not be purged. */
bool mount_goes_on(const struct page_mount *s, uint32_t b);
/* Write the dead list as the content of a unit. */
void mount_fill_dead_list(const struct page_ftl *f, uint8_t *unit);
/* Issue the pages of the buffer, and wait until they are durable. Returns SSD_E_NOSPC if they cannot be programmed. */
int mount_settle(struct page_mount *s) SSD_MUST_CHECK;

/* mount_versions.c. Steps are those of mount.c. */
int mount_versions(struct page_mount *s) SSD_MUST_CHECK;	/* step 3 */
int mount_trims(struct page_mount *s) SSD_MUST_CHECK;		/* step 4; cached map: for entries in memory */

/* Is the page in the part of its block that the checkpoint counts? */
static inline bool mount_trusts(const struct page_mount *s, uint32_t b, uint32_t page)
{
	return s->trusts && page < s->f->cache.ckpt.trusted[b];
}

/* ckpt_mount.c */
bool ckpt_find(struct page_mount *s);			/* find a checkpoint and take from it what is unchanged */
bool ckpt_confirm(const struct page_mount *s);		/* has the mount found all that the checkpoint names? */

/* map_mount.c: steps of the cached map */
int map_mount_begin(struct page_mount *s) SSD_MUST_CHECK;	/* before the survey; s->trusts: find a checkpoint */
int map_mount_find(struct page_mount *s) SSD_MUST_CHECK;	/* steps 3 to 5: entries, trims and valid counts */
int map_mount_settle(struct page_mount *s) SSD_MUST_CHECK;	/* make the map pages agree with what was found */
/* Count the entries [from, to) as valid (step 5). Returns SSD_E_CORRUPT if a block of parity pages has mapped ones. */
int map_mount_count(struct page_ftl *f, uint32_t from, uint32_t to) SSD_MUST_CHECK;

/* A mount calls these functions of rescue.c in this order. */
void rescue_note_parity(struct page_mount *s, uint32_t ppn, const uint8_t *oob);
int rescue_rebuild(struct page_mount *s) SSD_MUST_CHECK;
void rescue_keep_dead(struct page_mount *s);
bool rescue_holds(const struct page_ftl *f, uint32_t b);
void rescue_frontiers(struct page_mount *s);
int rescue_rewrite(struct page_mount *s) SSD_MUST_CHECK;

#endif
