/* SPDX-License-Identifier: GPL-2.0-or-later */
/* atomic.h - atomic writes of a drive with capacitors: which writes and reads must wait for each other (atomic.c) */
#ifndef SLATE_PAGE_ATOMIC_H
#define SLATE_PAGE_ATOMIC_H

#include "page_state.h"

/* Returns the size of the largest atomic write, in bytes: a unit, or with capacitors a power of two above a unit. */
uint32_t page_ftl_atomic_bytes(const struct ftl_config *c, const struct nand_geometry *g);
/*
 * May the write at the head of the line begin? An atomic write of several units waits until the buffer has room for all
 * of it, and until no read has looked up one of two common units and not yet the other. In the second case buf.held is
 * set. Other writes always begin.
 */
bool atomic_may_begin(struct page_ftl *f, const struct ftl_io *io);
/* Call before a read looks up its first unit. Returns false if the read must wait until the held write has begun. */
bool atomic_read_begins(struct page_ftl *f, struct ftl_io *io);
/* Call when a read has looked up all its units, or none: no write waits for it any more. */
void atomic_read_over(struct page_ftl *f, struct ftl_io *io);

#endif
