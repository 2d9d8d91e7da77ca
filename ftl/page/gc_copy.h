/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gc_copy.h - the commands of collectors, and the copies that they make (gc_copy.c) */
#ifndef SLATE_GC_COPY_H
#define SLATE_GC_COPY_H

#include "page_state.h"

/*
 * Commands of collectors of one die that start together. They have one operation, and each plane has one
 * command, two erases, or with one_shot the programs of a word line.
 */
struct gc_group {
	uint32_t count;
	uint32_t plane[NAND_GROUP_MAX];	/* plane of each command; those of a plane are adjacent */
	struct nand_cmd *c;
};

/* Append a command of the plane's collector to the group, and return it. */
struct nand_cmd *gc_add(struct page_ftl *f, struct gc_group *w, uint32_t plane, enum gc_op op);
/* Issue the group on the idle die. */
void gc_issue(struct page_ftl *f, uint64_t now_ns, uint32_t die, struct gc_group *w);
/* Returns the source to which the collector's commands are charged. */
enum nand_source gc_source(const struct gc *g);

/* Returns the number of valid units of the drained blocks. After gc_drop_stale() they are the first ones in hand. */
uint32_t gc_drained_units(const struct page_ftl *f, const struct gc *g);
/* Move g->page to the victim's next page with a valid unit. Returns false if there is none. */
bool gc_next_page(struct page_ftl *f, struct gc *g);
/* Remove the first drained block from the list, and return it. */
uint32_t gc_take_drained(struct page_ftl *f, struct gc *g);
/*
 * Cached map: a page of the victim cannot be read, or names other LPNs than the map. Give up the collection, and leave
 * its blocks as they are, out of use, until the next mount.
 */
void gc_abandon(struct page_ftl *f, uint32_t plane);
/* Add a read of page g->page of the victim. When it is issued, the page's valid units are taken in hand. */
void gc_read_page(struct page_ftl *f, struct gc_group *w, uint32_t plane);
/* Drop units in hand that the host has written or trimmed since they were read. */
void gc_drop_stale(struct page_ftl *f, struct gc *g);
/* Is page g->page of the victim to be moved by a copyback? */
bool gc_moves_whole(const struct page_ftl *f, const struct gc *g);
/*
 * Add the program of the first units in hand, or of a carrier page without units, or the copyback of the
 * victim's next page. With one_shot a program takes a word line.
 */
void gc_program_page(struct page_ftl *f, struct gc_group *w, uint32_t plane, uint32_t slot, enum gc_op op);
/*
 * The program or copyback of the plane's collector has ended: remove its units from those in hand or, if it failed,
 * keep them.
 */
void gc_program_ended(struct page_ftl *f, uint32_t plane, enum gc_op op);

#endif
