/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * p2l.h - the P2L table of drives with gc_copyback: the spare area of each unit on flash, in memory. A copyback does
 * not return the source's spare area, and its copy needs one of its own.
 */
#ifndef SLATE_PAGE_P2L_H
#define SLATE_PAGE_P2L_H

#include "page_state.h"

/* Returns the entry of a unit address: OOB_UNIT_BYTES. */
static inline uint8_t *p2l_of(const struct page_ftl *f, uint32_t upn)
{
	return f->map.p2l + (size_t)upn * OOB_UNIT_BYTES;
}

/* If there is a table, keep the first `units` units of a page's spare area. */
static inline void p2l_keep(struct page_ftl *f, uint32_t ppn, uint32_t units, const uint8_t *oob)
{
	for (uint32_t i = 0; f->map.p2l && i < units; i++)
		oob_copy_unit(p2l_of(f, ppn * f->shape.upp + i), oob, i);
}

#endif
