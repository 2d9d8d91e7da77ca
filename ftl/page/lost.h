/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lost.h - units of which some sectors are lost: notes the sectors, and stores them on flash (lost.c) */
#ifndef SLATE_PAGE_LOST_H
#define SLATE_PAGE_LOST_H

#include "page_state.h"

/* Note that sectors of a slot are lost. Bitmaps of this file have bit i for sector i of a unit. */
void lost_slot(struct page_ftl *f, uint32_t slot, uint32_t bits);	/* these sectors of the slot are lost */
/* Note what an I/O has written: these sectors of the slot are lost if io->lost is set, else they are not any more. */
void lost_written(struct page_ftl *f, const struct ftl_io *io, uint32_t slot, uint32_t bits);
void lost_begin(struct page_ftl *f);	/* call before the first slot gets lost sectors; sets buf.losses and extras */
/* Returns the lost sectors of a unit with OOB_LOST. unit: its content on flash; NULL: unknown, so all are lost. */
uint32_t lost_bits(const struct page_ftl *f, const uint8_t *unit);
/* Returns where sector i, which is not lost, is in a unit's content on flash. bad: the unit's lost sectors, or 0. */
const uint8_t *lost_sector(const uint8_t *unit, uint32_t bad, uint32_t i);
/* Give the slots of buffer page w their form on flash, before the page is programmed. */
void lost_encode(struct page_ftl *f, uint32_t w);
/* Undo lost_encode() for a slot, or for the slots of `count` buffer pages. */
void lost_decode(struct page_ftl *f, uint32_t slot);
void lost_decode_pages(struct page_ftl *f, const uint32_t *page, uint32_t count);
/*
 * Give the host the sectors that a uread wants, from the slot (NONE: not in the buffer) or from the unit's content on
 * flash. bad: the sectors lost on flash. Returns false if a wanted sector is lost.
 */
bool lost_give(struct page_ftl *f, const struct uread *u, uint32_t slot, const uint8_t *unit, const uint8_t *metadata,
	       uint32_t bad);

#endif
