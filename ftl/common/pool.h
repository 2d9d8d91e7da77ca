/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pool.h - which blocks are free, for an FTL that does not choose victims by the lists of blk.h.
 *
 *   FREE  on its plane's list, first in, first out
 *   USED  in use by the engine; before a mount all good blocks are USED
 *   BAD   never used again
 *
 * FREE -> USED pool_take(); USED -> FREE pool_put_free(); USED -> BAD pool_put_bad(), or
 * pool_find_bad() if the array knows that it is bad. The engine erases a free block that
 * needs_erase before it is taken, since it may be half erased.
 *
 * Invariants (pool_check):
 *   POOL1  a plane's list has its FREE blocks, and free_count counts them;
 *   POOL2  a plane's `good` counts its blocks that are not BAD, and the array marks only BAD blocks bad.
 */
#ifndef SLATE_POOL_H
#define SLATE_POOL_H

#include "host.h"
#include "nand.h"
#include "nand_geom.h"
#include "survey.h"

#define POOL_NONE 0xffffffffu

enum pool_state { POOL_USED, POOL_FREE, POOL_BAD };

struct pool_block {
	uint32_t next;		/* free list */
	uint8_t state;
	bool needs_erase;	/* if FREE: erase it before use, because a power cut may have interrupted its erase */
	bool failing;		/* if USED: a program of it failed, so zns retires the block and does not free it */
};

struct pool_plane {
	uint32_t free_first, free_last, free_count;
	uint32_t good;
};

struct pool {
	struct nand *n;
	struct pool_block *block;
	struct pool_plane *plane;
};

void pool_lay_out(struct pool *p, struct ssd_arena *m, const struct nand_geometry *g);
void pool_init(struct pool *p, struct nand *n);
void pool_find_bad(struct pool *p);	/* for a mount */
/* Take the plane's first free block, which needs no erase. */
uint32_t pool_take(struct pool *p, uint32_t plane);
void pool_put_free(struct pool *p, uint32_t block, bool needs_erase);
void pool_put_bad(struct pool *p, struct host *h, uint32_t block);
/* For a mount: erase a USED block now. It becomes FREE, or BAD if the erase fails. */
void pool_erase(struct pool *p, struct host *h, struct survey *s, uint32_t block);
/* Returns the block's state, for logs. valid: number of valid units, if the block is USED. */
struct ftl_block pool_info(const struct pool *p, uint32_t block, uint32_t valid);
void pool_check(const struct pool *p);

static inline struct pool_plane *pool_plane_of(const struct pool *p, uint32_t block)
{
	return &p->plane[geo_plane_of(&p->n->geo, (pbn_t){ block })];
}

#endif
