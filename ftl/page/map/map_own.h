/* SPDX-License-Identifier: GPL-2.0-or-later */
/* map_own.h - the cached map: functions for the files of this folder, and for a mount, which restores its state. */
#ifndef SLATE_MAP_OWN_H
#define SLATE_MAP_OWN_H

#include "map.h"

/* map.c */
void map_changed(struct page_ftl *f, uint32_t lpn, uint64_t seq);	/* the LPN's entry has changed */
void map_empty(struct page_ftl *f);			/* remove all map pages from memory */
bool map_take(struct page_ftl *f, uint32_t page);	/* mount: give the map page a frame without a read */
void map_set_due(struct page_ftl *f, uint32_t page);	/* trims have not been applied to the map page */
void map_write_all(struct page_ftl *f);			/* mount: let all changed frames be written */
bool map_gc_ready(struct page_ftl *f, uint64_t now_ns, struct gc *g);	/* pin the map pages of the units to program */
bool map_write_soon(struct page_ftl *f, uint32_t i);	/* order the write of a dirty frame; false: not now */

/* map.c */
void frame_unlist(struct page_cache *k, uint32_t i);	/* remove the frame from its list */
void frame_settle(struct page_cache *k, uint32_t i);	/* put the frame on the list that its state requires, if any */
/* May the frame's map page be written now (map.c, M3)? */
bool frame_may_write(const struct page_ftl *f, const struct map_frame *fr);
uint32_t map_lpn_of(const struct page_ftl *f, uint32_t page);	/* the LPN of the first unit of the map page itself */
uint32_t map_plane_of(const struct page_ftl *f, uint32_t page);	/* the plane to which the map page is written */
/* Pin and load map pages for the host's pages and for waiting reads, and apply trims that are due, as frames allow. */
void map_pump_frames(struct page_ftl *f, uint64_t now_ns);

/* ckpt.c */
void ckpt_mounted(struct page_ftl *f, bool by_ckpt);
/* A mount has succeeded. by_ckpt: it trusted a checkpoint. */
static inline void map_mounted(struct page_ftl *f, bool by_ckpt)
{
	if (map_is_cached(f))
		ckpt_mounted(f, by_ckpt);
}

void ckpt_lay_out(struct page_ftl *f, struct ssd_arena *m, const struct nand_geometry *g, uint32_t handles);
void ckpt_init(struct page_ftl *f);
void ckpt_pump(struct page_ftl *f);
void ckpt_frame_written(struct page_ftl *f, struct map_frame *fr);
bool ckpt_write(struct page_ftl *f, uint64_t now_ns, uint32_t die);	/* begin a page's program on the idle die */
void ckpt_written(struct page_ftl *f, const struct die *d);
void ckpt_give_up(struct page_ftl *f);			/* the one that is being taken */
bool ckpt_holds(const struct page_ftl *f, uint32_t b);

#endif
