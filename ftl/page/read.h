/* SPDX-License-Identifier: GPL-2.0-or-later */
/* read.h - reads units from flash, for the host, for partial writes (bases) and for the map (read.c) */
#ifndef SLATE_PAGE_READ_H
#define SLATE_PAGE_READ_H

#include "map.h"
#include "page_state.h"

void read_init(struct page_ftl *f);
void read_begin(struct page_ftl *f, uint64_t now_ns, struct ftl_io *io);	/* begin a read of the host */
bool read_resume(struct page_ftl *f, uint64_t now_ns);	/* go on with reads that lacked ureads; false: none could */
void read_base(struct page_ftl *f, uint64_t now_ns, uint32_t slot);	/* read the sectors that the slot lacks */
/* The die's time in turn.ends has come before its command ends: suspend the command if a read waits and may do so. */
void read_may_suspend(struct page_ftl *f, uint64_t now_ns, uint32_t die);
/* Issue one read command on an idle die. Returns false if there is nothing left to read. */
bool read_issue(struct page_ftl *f, uint64_t now_ns, uint32_t die);
/* Continue what waited for the die's command, which read bases or a map page and has ended. */
void read_bases_arrived(struct page_ftl *f, struct die *d);

void uread_put(struct page_ftl *f, uint32_t r);	/* return uread r to the pool */
/* The map has looked up uread r: queue it on the unit's die, end it, or leave it waiting, as the answer says. */
void read_answer(struct page_ftl *f, uint64_t now_ns, uint32_t r, enum map_answer answer);
/*
 * Begin to read the page of the map whose first entry is of this LPN. When the die has read it, map_arrived() is called
 * with its content, and then map_loaded().
 */
void read_map(struct page_ftl *f, uint64_t now_ns, uint32_t lpn);

#endif
