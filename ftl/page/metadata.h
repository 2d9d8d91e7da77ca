/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * metadata.h - the metadata of logical blocks (NVMe), in the spare areas of their data's pages.
 *
 * A unit has `metadata_bytes` bytes of them behind the spare area's own fields (oob.h), unit by unit. An I/O
 * with ftl_io.metadata = k moves k bytes for each sector; those of sector i of a unit are at i * k. They are in
 * the unit's slot while it is buffered, and in memory of its plane's GC while it is copied.
 *
 * Invariants:
 *   X1  data and metadata of a sector are of the same write: they are in the same slot, page and copy;
 *   X2  the metadata of a unit that was never written, was trimmed, or was last written without metadata are
 *       FFh; those of a lost sector have no meaning.
 *
 * A partial write keeps the other sectors' metadata, as it keeps their data. Which bytes these are is known
 * from the write's k (wslot.stride): all blocks of a namespace have the same format. Without metadata it sets
 * those of the whole unit to FFh, also those that its base still brings (wslot.blanked).
 */
#ifndef SLATE_METADATA_H
#define SLATE_METADATA_H

#include "ftl.h"

struct page_ftl;
struct gc;
struct uread;
struct ssd_arena;
struct front_policy;

struct page_metadata {
	uint32_t bytes;		/* of a unit; 0: pages have none, and the pointers below are NULL */
	uint32_t at;		/* where those of the page's first unit begin in the spare area */
	uint8_t *slot;		/* of each slot of the write buffer */
	uint8_t *none;		/* a unit's, all FFh */
	uint8_t *unit;		/* scratch memory of one unit's */
};

const char *metadata_fault(const struct front_policy *policy, const struct ftl_config *c);
/*
 * Lay out the memory for metadata; at->oob_len is set already. gc: where to note the memory for the units in hand of
 * all planes.
 */
void metadata_lay_out(struct page_ftl *at, struct ssd_arena *m, const struct ftl_config *c, uint8_t **gc);
void metadata_begin(struct page_ftl *f);

/* wbuf.c calls this when the I/O's next sectors are in the slot. */
void metadata_written(struct page_ftl *f, struct ftl_io *io, uint32_t slot, uint32_t from, uint32_t bytes);
/* wbuf.c: a partial write's new slot begins with the metadata of the old one, or with FFh if old is NONE. */
void metadata_begin_slot(struct page_ftl *f, uint32_t slot, uint32_t old);
/* read.c: the base of a slot has the sectors in the bitmap `lacks`. unit: its metadata, or NULL if unknown. */
void metadata_base(struct page_ftl *f, uint32_t slot, uint32_t lacks, const uint8_t *unit);
/* read.c: give the host the metadata of the sectors that the uread wants. unit: NULL if it was not written. */
void metadata_give(struct page_ftl *f, const struct uread *u, const uint8_t *unit);
void metadata_give_sector(struct page_ftl *f, const struct uread *u, uint32_t at, const uint8_t *unit);
/* read.c: return the metadata of a unit on flash, overlaid with those of the sectors in the slot. */
const uint8_t *metadata_overlay(struct page_ftl *f, const struct uread *u, uint32_t slot, const uint8_t *unit);
/* Put the metadata of buffer page w (NONE: no page) into the spare area with which it is about to be programmed. */
void metadata_to_page(const struct page_ftl *f, uint32_t w, uint8_t *oob);
/* gc_copy.c: keep the metadata of unit i of a page, which GC now holds as unit `to`. oob: NULL if unknown. */
void metadata_gather(const struct page_ftl *f, struct gc *g, uint32_t to, const uint8_t *oob, uint32_t i);
void metadata_move(const struct page_ftl *f, struct gc *g, uint32_t to, uint32_t from, uint32_t units);
/* The metadata of units [first, first + units) in hand go to a page's spare area. */
void metadata_copy(const struct page_ftl *f, const struct gc *g, uint32_t first, uint32_t units, uint8_t *oob);

#endif
