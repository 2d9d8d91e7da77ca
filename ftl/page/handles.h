/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * handles.h - placement handles: data of each go to blocks of their own (DESIGN.md).
 *
 * A handle is a stream of front.h. This file's state adds what the other files of the FTL need for
 * it: the open buffer page of each handle, and how far its reclaim unit is.
 *
 * With handles, a buffer page gets its sequence when it is closed (wbuf.c), and:
 *
 *   W4  of two versions of a unit, in the order of acceptance, the later one has the higher sequence,
 *       or is the later slot of the same page. The same holds for a version and the bitmap that
 *       trims it, and for a bitmap without the unit's bit and the version that ended the trim
 *   W5  a handle's open page is W_OPEN, is not in the queue, and has room
 *   W6  buf.open is the open page of handle `current`, whose place in open[] is not used
 *
 * A reclaim unit of a handle is as many blocks as there are planes, in the order in which the handle
 * opens them.
 */
#ifndef SLATE_HANDLES_H
#define SLATE_HANDLES_H

#include "front.h"

struct page_ftl;

struct page_handles {
	uint32_t count;				/* number of handles; 0: placement is off, other members are unused */
	bool apart;				/* copies of each handle have blocks of their own, too */
	uint32_t current;
	uint32_t open[FTL_HANDLES_MAX];		/* open buffer page, or NONE */
	uint32_t blocks[FTL_HANDLES_MAX];	/* blocks of the present reclaim unit that have been opened */
	uint64_t units[FTL_HANDLES_MAX];	/* reclaim units begun after the first */
};

/* Return how many kinds of host pages and of copies have open blocks of their own (struct front_config). */
uint32_t handles_streams(const struct ftl_config *c);
uint32_t handles_copy_streams(const struct ftl_config *c);
/* Returns why the policy, configuration and geometry do not suit handles, or NULL. */
const char *handles_fault(const struct front_policy *policy, const struct ftl_config *c, const struct nand_geometry *g);
void handles_init(struct page_ftl *f);
void handles_mounted(struct page_ftl *f);	/* the open blocks are known */

/* wbuf.c calls these with handles. Make buf.open the open page of `handle`. */
void handles_select(struct page_ftl *f, uint32_t handle);
void handles_close_others(struct page_ftl *f);
/* W4: call these before a write of the unit (old: its newest slot, or NONE), and of its region's bitmap. */
void handles_close_older(struct page_ftl *f, uint32_t lpn, uint32_t old);
void handles_close_region(struct page_ftl *f, uint32_t map);

/* place.c, gc.c */
uint32_t handles_stream(const struct page_ftl *f, uint32_t plane, enum frontier which);
void handles_opened(struct page_ftl *f, uint32_t b, uint32_t slot);
/* A page of the stream goes to the slot: set its spare area. */
void handles_took(struct page_ftl *f, uint32_t b, uint32_t stream, uint8_t *oob);
uint32_t handles_found(const struct page_ftl *f, const uint8_t *oob);	/* mount: the stream of a page's block */
void handles_check(const struct page_ftl *f);

struct ftl_handle page_ftl_handle(const struct ftl *base, uint32_t handle);
uint64_t page_ftl_renew_handle(struct ftl *base, uint64_t now_ns, uint32_t handle);

#endif
