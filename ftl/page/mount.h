/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mount.h - between mount.c and rescue.c */
#ifndef SLATE_MOUNT_H
#define SLATE_MOUNT_H

#include "page_ftl.h"

struct survey {
	struct page_ftl *f;
	uint64_t now_ns, ready_ns;
	uint64_t k;			/* end of the log */
	uint64_t max_order;
	uint64_t mark;
	uint32_t dead_upn;		/* the dead list, or NONE */
	uint64_t dead_seq, dead_order;
	uint32_t dead_pages;		/* past k, not listed yet */
	uint64_t unreadable;		/* pages */
	bool anything;			/* some page is not erased */
	bool purge;			/* blocks with dead pages are not written on */
	bool read_only;			/* nothing is written or erased */
	bool contradiction;		/* OOB that this FTL cannot have written: sound_oob() */
};

static inline bool readable(enum nand_status st)
{
	return st == NAND_OK || st == NAND_CORRECTED;
}

/* mount.c. page: where to leave the content; NULL: the spare area alone. Rebuilt pages read well. */
enum nand_status mount_read(struct survey *s, uint32_t ppn, const uint8_t **page, void *oob);
/* One command, when its die is idle. */
void mount_command(struct survey *s, struct nand_cmd *c);
/* Has GC what it needs of the block if it is written on? */
bool mount_goes_on(const struct survey *s, uint32_t b);
void mount_fill_dead_list(const struct page_ftl *f, uint8_t *unit);
/* Issue what the buffer holds, until it is durable. */
int mount_settle(struct survey *s) SSD_MUST_CHECK;

/* rescue.c, in this order */
void rescue_note_parity(struct survey *s, uint32_t ppn, const uint8_t *oob);
int rescue_rebuild(struct survey *s) SSD_MUST_CHECK;
void rescue_keep_dead(struct survey *s);
bool rescue_holds(const struct page_ftl *f, uint32_t b);
void rescue_frontiers(struct survey *s);
int rescue_rewrite(struct survey *s) SSD_MUST_CHECK;

#endif
