/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * blk.h - the block table: what the FTL knows of each block, and the lists that
 * answer its questions in constant time.
 *
 *   FREE     on its plane's free list, first in, first out
 *   OPEN     a write frontier (host or GC) of its plane, or a backup block (front.h)
 *   FULL     closed; in SLC mode on its plane's list of such blocks, in the order of closing;
 *            else on its plane's bucket list for its number of valid units or, if that number
 *            has changed since the buckets were last sorted, on its plane's list of changed blocks
 *   RETIRE   as FULL, but a program failed: collected next, then BAD
 *   VICTIM   being collected
 *   BAD      never used again
 *
 * FREE -> OPEN (blk_take_free) -> FULL (blk_close) -> VICTIM (blk_take) ->
 * FREE (blk_put_free); OPEN or FULL -> RETIRE (blk_retire) -> VICTIM -> BAD.
 *
 * Consecutive writes invalidate units of the same few blocks again and again, and moving a block to
 * another bucket at each write would touch neighbours that are in no cache. So a FULL block that
 * changes goes to the end of the list of changed blocks, where the next change mostly finds it.
 * Before a bucket is read, the blocks of this list are put into their buckets, in the order of the
 * list. The order within a bucket is therefore the same as if each change had moved its block at
 * once: the block that got there last comes first.
 *
 * Which lists a table keeps follows from the policy that asks it (enum blk_lists):
 *
 *   BLK_BUCKETS       as above
 *   BLK_AGED_BUCKETS  the same, and the table also stores the last block of each bucket: of the
 *                     blocks with this number of valid units, the one that has been unchanged for
 *                     longest
 *   BLK_QUEUE         FULL blocks stay on the list of changed blocks, in the order in which they
 *                     were closed; a change of the valid count moves no block, and buckets are empty
 *
 * Invariants (blk_check):
 *   K1  free_count and aside together count the free list, and only FREE blocks are on it;
 *   K2  a FULL block is on the bucket list of its valid count or, `changed`, on the list of
 *       changed blocks; no other block is on either. `stays` says that a change of the count does not
 *       move the block: it is set for the last block of that list, and in a queue for all blocks;
 *   K3  no bucket below `low` of a plane has a block;
 *   K4  slc counts the plane's blocks in SLC mode; the FULL ones among them, and no others, are on
 *       the list slc_full, and their valid counts change without a move; slc +
 *       aside is at most aside_max, unless aside is 0.
 */
#ifndef SLATE_BLK_H
#define SLATE_BLK_H

#include "ftl.h"
#include "fxp.h"
#include "nand.h"
#include "nand_geom.h"

#define BLK_NONE 0xffffffffu

enum blk_state { BLK_FREE, BLK_OPEN, BLK_FULL, BLK_RETIRE, BLK_VICTIM, BLK_BAD };

struct blk {			/* size: one cache line, because most accesses are to a random block */
	uint32_t valid;		/* units */
	uint32_t next_page;	/* next page of the write frontier; pages_per_block: the block is full */
	uint32_t prev, next;	/* list links, block numbers */
	uint8_t state;		/* enum blk_state */
	bool needs_erase;	/* FREE block found by a mount: it may be half erased */
	bool copies;		/* holds GC's pages, not the host's */
	bool dead;		/* holds pages that a mount declared dead */
	bool relocate, moved;	/* level.c: the block is to be collected; it holds copies of such blocks */
	uint16_t corrected;	/* level.c: number of reads that returned NAND_CORRECTED */
	uint64_t last_order;	/* highest order programmed here */
	uint64_t mark;		/* highest mark that a finished page here carries */
	uint64_t last_inval;	/* highest sequence that invalidated a unit here */
	uint32_t parity;	/* front.h: page number + 1 of its parity page; 0: none */
	uint16_t lost;		/* LSB pages of the group being written that cannot be read */
	uint16_t live;		/* of a backup block: number of valid parity pages */
	uint64_t parity_seq : 40;	/* mount: sequence of the parity page; with handles, of the first page */
	uint8_t backup : 2;	/* enum blk_backup */
	uint8_t torn : 1;	/* mount found that the last written page cannot be read */
	uint8_t hurt : 1;	/* mount found a page that cannot be read */
	uint8_t changed : 1;	/* K2: the valid count has changed since the block was sorted */
	uint8_t stays : 1;
	uint8_t map : 1;	/* holds map pages */
	bool slc;		/* it is programmed in SLC mode; OPEN, FULL, RETIRE, VICTIM */
	uint8_t stream;		/* number of the placement handle whose pages it holds; 0 without handles */
};

enum blk_backup { BLK_DATA, BLK_BACKUP_OPEN, BLK_BACKUP_FULL, BLK_BACKUP_FAILED };

_Static_assert(sizeof(struct blk) == 64, "struct blk is a cache line");

struct blk_ends { uint32_t first, last; };	/* of a list of FULL blocks */

struct blk_plane {
	uint32_t free_head, free_tail, free_count;
	uint32_t retire_head;
	struct blk_ends changed;
	uint32_t low;		/* lowest bucket that may be in use (K3) */
	uint32_t aside;		/* free blocks that only blk_take_slc() takes; not in free_count */
	uint32_t slc;		/* blocks in SLC mode */
	struct blk_ends slc_full;	/* FULL ones of them, in the order of closing */
	uint32_t *bucket;	/* list heads, indexed by valid units */
};

enum blk_lists { BLK_BUCKETS, BLK_AGED_BUCKETS, BLK_QUEUE };

struct blk_table {
	const struct nand_geometry *geo;
	uint32_t units_per_block;
	struct fxp_div by_plane_blocks;
	struct blk *blk;
	struct blk_plane *plane;
	uint32_t *oldest;	/* BLK_AGED_BUCKETS: last block of each bucket, by plane; else NULL */
	bool queue;		/* BLK_QUEUE */
	uint32_t aside_max;	/* maximum of a plane's blocks in SLC mode or set aside for it; 0: it takes any free
				 * block */
	uint32_t aside_keep;	/* free blocks that are not set aside */
	uint64_t issued;	/* highest host sequence given to the array */
	uint64_t stable;	/* every host page up to here is programmed */
};

/*
 * Is everything in the block durable, and can a mount tell that a copy made now is the later one? A
 * copy carries the sequence of the last host page issued. It therefore counts as later than that
 * host page, but would be equal to another copy made at the same time.
 */
static inline bool blk_settled(const struct blk_table *t, const struct blk *b)
{
	return b->last_order <= t->stable && (!b->copies || b->last_order < t->issued);
}

size_t blk_lay_out(struct blk_table *t, struct ssd_arena *m, const struct nand_geometry *g,
		   uint32_t units_per_page, enum blk_lists lists);
/*
 * Put all blocks into state VICTIM and on no list. A mount then puts each block into its own state.
 */
void blk_init(struct blk_table *t);

/* Returns the block's state and its valid units (DAC: pages), for logs. */
struct ftl_block blk_info(const struct blk_table *t, uint32_t block);
/* Make a free block OPEN, or return BLK_NONE. If all free blocks are set aside, it takes one of these. */
uint32_t blk_take_free(struct blk_table *t, uint32_t plane);
uint32_t blk_take_slc(struct blk_table *t, uint32_t plane);	/* -> OPEN, for SLC mode */
void blk_set_aside(const struct blk_table *t, uint32_t plane);	/* as many free blocks as aside_max asks for */
void blk_forget_slc(const struct blk_table *t, uint32_t b);	/* the block is erased or bad */
void blk_put_free(struct blk_table *t, uint32_t b, bool needs_erase);
void blk_free_first(struct blk_table *t, uint32_t plane, uint32_t b);	/* FREE: make this the next block taken */
void blk_close(struct blk_table *t, uint32_t b);		/* -> FULL */
void blk_take(struct blk_table *t, uint32_t b);			/* FULL, RETIRE -> VICTIM */
void blk_retire(struct blk_table *t, uint32_t b);		/* OPEN, FULL -> RETIRE */
/* Set the number of valid units of a FULL block, and append the block to the list of changed blocks. */
void blk_change(const struct blk_table *t, uint32_t b, uint32_t valid);
/* Order the blocks that a mount closed, those in SLC mode or the others, by what was written to them last. */
void blk_sort_closed(const struct blk_table *t, bool slc);
void blk_sort_changed(const struct blk_table *t, struct blk_plane *pl);	/* sort them into the buckets */
/*
 * Returns a settled FULL block of the plane without a valid unit, or BLK_NONE. In a queue this takes
 * O(its length).
 */
uint32_t blk_empty(const struct blk_table *t, uint32_t plane);
/* Returns the block in SLC mode that was closed first, of those that are settled, or BLK_NONE. */
uint32_t blk_slc_oldest(const struct blk_table *t, uint32_t plane);
void blk_check(const struct blk_table *t);

static inline void blk_valid_add(struct blk_table *t, uint32_t b)
{
	struct blk *k = &t->blk[b];

	SSD_ASSERT(k->valid < t->units_per_block);
	if (k->state == BLK_FULL && !k->stays)
		blk_change(t, b, k->valid + 1);
	else
		k->valid++;
}

static inline void blk_valid_sub(struct blk_table *t, uint32_t b)
{
	struct blk *k = &t->blk[b];

	SSD_ASSERT(k->valid > 0);
	if (k->state == BLK_FULL && !k->stays)
		blk_change(t, b, k->valid - 1);
	else
		k->valid--;
}

#endif
