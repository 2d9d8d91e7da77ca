/* SPDX-License-Identifier: GPL-2.0-or-later */
/* page_owners.h - measures how long I/Os wait behind the work of other namespaces, "owners" (page_owners.c) */
#ifndef SLATE_PAGE_PAGE_OWNERS_H
#define SLATE_PAGE_PAGE_OWNERS_H

#include "page_state.h"

/* With several namespaces, carve the memory. reads: number of ureads. */
void owners_lay_out(struct page_ftl *f, struct ssd_arena *m, const struct ftl_config *c, uint32_t reads);
/*
 * Set the owners of a die's read command: that of uread r. This and the functions below are called only if
 * owners_told(). Bitmaps have a bit for each namespace.
 */
uint32_t owners_of_read(const struct page_ftl *f, uint32_t r);	/* returns a bitmap; 0: the uread has no owner */
/* Set the owners of a die's program commands: those of the slots in all its pages. */
void owners_of_program(const struct page_ftl *f, const struct die *d, struct nand_cmd *c, uint32_t count);
/* Uread r joins the die's queue. fresh: it has not waited on another die before. */
void owners_queued(struct page_ftl *f, uint32_t r, uint32_t die, bool fresh);
void owners_moved(struct page_ftl *f, uint32_t r, uint32_t die);	/* uread r leaves the die's queue for another */
/* A read of the host begins on the die: split its wait behind other namespaces off host_queue_ns. c: its command. */
void owners_read(const struct page_ftl *f, uint32_t die, const struct uread *u, const struct nand_cmd *c);
/* Let the log's clock have a new holder: the oldest page that is not on flash is another one, or has other owners. */
void owners_oldest(struct page_ftl *f);
void owners_wrote(struct page_ftl *f, const struct ftl_io *io, uint32_t slot);	/* the I/O has written to the slot */
/*
 * Begin and end the account of an I/O's wait, which lasts from when it joins the line until it ends. *rest: the part of
 * its time that has no account yet. Of a write, owners_wait_over() moves the wait behind other namespaces from *rest to
 * namespace_queue_ns.
 */
void owners_wait_begins(const struct page_ftl *f, struct ftl_io *io);
void owners_wait_over(const struct page_ftl *f, struct ftl_io *io, uint64_t *rest);

/* Does the drive have several namespaces, whose waits are measured? */
static inline bool owners_told(const struct page_ftl *f)
{
	return SSD_UNLIKELY(f->owners.die != NULL);
}

#endif
