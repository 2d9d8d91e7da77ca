/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ureads.h - the queue of a die's ureads, and what a chain of them needs (ureads.c) */
#ifndef SLATE_PAGE_UREADS_H
#define SLATE_PAGE_UREADS_H

#include "page_state.h"

/*
 * Returns which ECC words of their page the reads of units that are chained from r need: a bitmap as in
 * nand_cmd.ecc_words.
 */
uint32_t uread_words(const struct page_ftl *f, uint32_t r);

static inline bool is_map_read(const struct uread *u)
{
	return !u->io && u->slot == NONE;
}

/* Take the first uread from the queue. */
static inline uint32_t uread_pop(struct page_ftl *f, struct die *d)
{
	uint32_t r = d->first;

	d->first = f->read.unit[r].next;
	return r;
}

/* Take the uread behind `before` from the queue; NONE: the first one. */
static inline uint32_t uread_take(struct page_ftl *f, struct die *d, uint32_t before)
{
	uint32_t r = before == NONE ? d->first : f->read.unit[before].next, next = f->read.unit[r].next;

	if (before == NONE)
		d->first = next;
	else
		f->read.unit[before].next = next;
	if (d->last == r)
		d->last = before;
	return r;
}

/* Put a uread back behind `before`; NONE: at the head of the queue. */
static inline void uread_put_back(struct page_ftl *f, struct die *d, uint32_t before, uint32_t r)
{
	uint32_t next = before == NONE ? d->first : f->read.unit[before].next;

	f->read.unit[r].next = next;
	if (before == NONE)
		d->first = r;
	else
		f->read.unit[before].next = r;
	if (next == NONE)
		d->last = r;
}

#endif
