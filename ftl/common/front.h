/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * front.h - write frontiers: which block of a plane takes the next page, which page of
 * it that is, and what must be backed up before the next program.
 *
 * It knows blocks (blk.h), the order of a block's pages, the policy's slots, parity
 * pages and the quota. It does not know mapping, time or commands. The FTL that uses it programs
 * the page that it takes, reports what it programmed (front_cover), writes the parity page that a
 * plane owes before it programs anything else there, and reports the result.
 *
 * Sequence: the k-th page of a block, of W word lines with an LSB and an MSB page each
 *
 *   SEQ_ASCENDING   page k
 *   SEQ_FPS         L0 L1 M0 L2 M1 L3 .. L(W-1) M(W-2) M(W-1): the only order that C1 to C4 of
 *                   nand.h allow
 *   SEQ_TWO_PHASE   L0 .. L(W-1), then M0 .. M(W-1): RPS_full, the 2PO of
 *                   J. Park's dissertation, section 3.3.1
 *
 * Slots: a policy has a number of open blocks in each plane, and chooses the one that takes a page.
 *
 *   page     one for the host, one for GC; with streams one for each stream; with an SLC cache one
 *            more, for the host's pages in SLC mode
 *   parity   the same, and two that only a mount fills (mount.c)
 *   rtf      active_blocks, shared; the host prefers one whose next page is LSB, GC
 *            one whose next is MSB (Grupp et al., in the dissertation's 2.5.1)
 *   flex     the active fast block, and the active slow block: the head of a FIFO of
 *            blocks whose LSB pages are written (section 3.3.2)
 *
 * This is gc_frontier = auto. With `shared`, page and parity have one slot for host and GC. With
 * `own`, rtf and flex have one more slot, for GC's copies; copies made in idle times still go where
 * the policy puts them, because their purpose is to fill MSB pages. flex keeps its own block for
 * copies in that slot in both phases.
 *
 * Backup (section 3.3.3, and [5] of the dissertation): a parity page is the XOR of the
 * LSB pages of a group, content and spare area: two neighbours (parity, rtf), or a
 * block's (flex). When the last LSB page of a group is taken, the plane owes the parity page
 * (`debt`), which goes to the plane's backup block. The parity page is invalid when the last MSB
 * page of the group is taken, or the block is erased or bad. It is not invalid earlier, because a
 * mount may find the block open and written no further. A backup block is in state OPEN and is no
 * frontier. When it is full and has no valid parity page, it goes to the free list and is erased
 * when it is opened (after a failed program it goes to GC). In two-phase order only its LSB pages
 * are used; in fixed order all pages are.
 *
 * With backup_ahead, the backup block lies on another die: that of the plane so many planes ahead,
 * which has the parity pages of no other plane. That die may program the parity page while the
 * plane's last LSB page is being programmed, and may erase a backup block while the program that
 * makes its last parity page invalid is under way. So the plane takes no page until the parity page
 * has been programmed, and a parity page is invalid from the plane's next page on.
 *
 * Block of a two-phase plane: FREE -> fast (front_open) -> slow, in the FIFO, if it is not
 * GC's own (front_take of the last LSB page) -> FULL (front_take of the last MSB page).
 *
 * Invariants (front_check):
 *   F1  open blocks, FIFO and backup blocks are OPEN, and no block is two of them;
 *   F2  live of a backup block is the number of blocks whose parity lies in it;
 *   F3  if an MSB page of a block may be taken next and its group is complete, the block has a
 *       parity page, or its plane owes one;
 *   F4  quota = its start - LSB pages + MSB pages of the open blocks;
 *   F5  in ascending order, an open block has a page left;
 *   F6  the open block of the SLC slot, and no other, is in SLC mode.
 *
 * Cost: memory for one parity page (the parity in hand) for each slot that takes LSB pages; O(1)
 * time a page.
 */
#ifndef SLATE_FRONT_H
#define SLATE_FRONT_H

#include "blk.h"
#include "ftl.h"
#include "oob.h"

#define FRONT_NONE 0xffffffffu
#define FRONT_ACTIVE_MAX 16u
#define FRONT_SPARES 2u			/* slots for blocks that a mount must keep open */
#define FRONT_WHOLE_BLOCK 0xffffffffu
#define FRONT_FAST 0u			/* flex: number of the slot of fast blocks */
#define FRONT_SLOW 1u
#define FRONT_COPIES 2u			/* slot of GC's own block */

enum frontier {			/* who writes: */
	FRONT_HOST, FRONT_GC,
	FRONTIERS,
	FRONT_MAP = FRONTIERS,	/* map pages of the page FTL, which use the first spare slot (front_map_slot()) */
};
enum front_sequence { SEQ_ASCENDING, SEQ_FPS, SEQ_TWO_PHASE };

struct front;

/* A policy chooses a slot by these facts. */
struct front_ask {
	enum frontier who;
	bool idle;			/* a copy that is made only because the drive is idle */
	bool may_open;			/* a free block may be opened */
	bool plenty;			/* more blocks than the reserve are free */
	bool mounting;			/* mount: prefer LSB pages: a torn one destroys no other page */
	uint32_t stream;		/* the page's stream */
	bool mixes;			/* the page may go to a block of another stream */
	bool cache;			/* the SLC slot takes the page */
	bool cache_waits;		/* else the page waits until it does */
	uint32_t busy_permille;		/* utilisation u of the write buffer, permille */
};

struct front_policy {
	const char *name;
	enum front_sequence word_lines;	/* used where the array's order is FPS or RPS */
	uint32_t group;			/* LSB pages covered by one parity page; 0: no backup */
	bool shared;			/* host and GC write to the same blocks */
	bool returns_to_fast;		/* idle GC goes on while an active block's next page is MSB */
	/* Choose the slot for the next page. Returns FRONT_NONE if there is none. */
	uint32_t (*pick)(const struct front *fr, uint32_t plane, const struct front_ask *q);
};

extern const struct front_policy front_page_policy, front_parity_policy, front_rtf_policy,
	front_flex_policy;

struct front_config {
	const struct front_policy *policy;
	uint32_t units_per_page;
	uint32_t active_blocks;		/* rtf: 1 .. FRONT_ACTIVE_MAX */
	uint32_t fast_above_permille;	/* flex: u_high, permille */
	uint32_t slow_below_permille;	/* flex: u_low, permille */
	uint32_t quota_permille;	/* flex: start value of q, as a share of all LSB pages */
	bool own;			/* GC's copies go to separate blocks */
	enum ftl_gc_pages gc_pages;	/* flex: page type for GC's copies */
	uint32_t streams, copy_streams;	/* page FTL: kinds of the host's pages and of copies that are kept
					 * apart, at least 1: hot and cold ones, or placement handles */
	bool slc;			/* page FTL: the host has a frontier in SLC mode, too */
	uint32_t backup_ahead;		/* planes from a plane to the one with its backup block; 0: the same */
	bool chosen;			/* page FTL: not every plane takes each page of the host */
};

struct front_plane {
	uint32_t *open;			/* block of each slot, or BLK_NONE */
	uint32_t slow_last, slow_count;	/* flex: last block and length of the FIFO, linked by blk.next from
					 * open[FRONT_SLOW] */
	uint32_t debt;			/* block whose parity page comes next, or BLK_NONE */
	uint32_t debt_slot;		/* slot whose parity in hand is the content of that page */
	uint32_t backup;		/* block that takes parity pages, or BLK_NONE */
	uint32_t spent;			/* backup_ahead: block whose parity page the plane's last program makes
					 * invalid when it ends, or BLK_NONE */
	bool paying;			/* backup_ahead: a parity page of the plane is being programmed */
	bool last_fast;			/* flex: the last page was LSB, where the two types alternate; of the
					 * drive in plane 0, if they alternate over the drive */
};

struct front {
	struct front_config c;
	const struct nand_geometry *g;
	const struct nand *n;
	struct blk_table *bt;
	enum front_sequence sequence;
	bool plain;			/* pages ascend, each kind has its own slot, and any plane takes any page:
					 * the policy is not asked */
	uint32_t slots;			/* number of slots that the policy uses; spare slots follow */
	uint32_t host_slots;		/* the first of these slots, which take the host's pages */
	uint32_t copies;		/* first slot for GC's copies */
	uint32_t slc;			/* slot in SLC mode, or FRONT_NONE */
	uint32_t block_pages[2];	/* pages of a block; in SLC mode */
	uint32_t word_lines;		/* word lines of a block, W; 0: pages are not written by word lines */
	uint32_t group;			/* group as the policy sets it, at most W */
	uint32_t covers;		/* number of slots with a parity page in hand */
	struct front_plane *plane;
	uint32_t *open;			/* the open[] of all planes */
	uint8_t *parity;		/* parity in hand of each slot: page and spare area */
	uint32_t parity_bytes;
	uint64_t backup_seq;		/* sequence of the last parity page */
	int64_t quota, quota_start;	/* quota q, and its start value */
	struct ftl_stats *stats;	/* fast_pages and slow_pages are counted here */
};

/* This part of a parity page's spare area is not an XOR. */
struct front_parity {
	uint32_t block, erases;		/* block number, and its erase count when its pages were written */
	uint32_t first;			/* first word line of the group */
	uint32_t lost;			/* bitmap of the group's LSB pages that were unreadable at that time */
	uint64_t seq;
};

/* Is a block programmed by word lines, which have an order of LSB and MSB pages? */
bool front_by_word_lines(const struct nand_geometry *g);
/* Returns the LSB pages covered by one parity page on this array; 0: no backup. */
uint32_t front_group(const struct front_policy *policy, const struct nand_geometry *g);
/* Returns the number of a plane's open blocks that the host's pages of one stream go to. */
uint32_t front_host_blocks(const struct front_policy *policy, const struct ftl_config *c);
/* Returns how many parity pages `pages` pages of a plane may require at most, whatever its open blocks already hold. */
uint32_t front_parity_most(const struct front_policy *policy, const struct ftl_config *c,
			   const struct nand_geometry *g, uint64_t pages);
/* Returns the first of the policy's rules that the configuration breaks, as a sentence, or NULL. */
const char *front_fault(const struct front_policy *p, const struct ftl_config *c, const struct nand_geometry *g);
uint32_t front_oob_bytes(const struct front_policy *p, uint32_t units_per_page);
bool front_own(const struct front_policy *p, enum ftl_gc_frontier where);
uint32_t front_slots(const struct front_config *c);	/* Open blocks of a plane, without backup blocks. */
void front_lay_out(struct front *fr, struct ssd_arena *m, const struct front_config *c,
		   const struct nand_geometry *g);	/* fr: scratch memory if m only measures */
void front_init(struct front *fr, const struct nand *n, struct blk_table *bt,
		struct ftl_stats *stats);

uint32_t front_page_of(const struct front *fr, uint32_t k);	/* Returns page k in the order by word lines. */
uint32_t front_fast_taken(const struct front *fr, uint32_t k);	/* Number of LSB pages among the first k pages. */

static inline uint32_t front_page(const struct front *fr, uint32_t k)
{
	return SSD_LIKELY(fr->sequence == SEQ_ASCENDING) ? k : front_page_of(fr, k);
}

/* Returns the slot of map pages: the first spare slot, behind the policy's own. With one stream it equals FRONT_MAP. */
static inline uint32_t front_map_slot(const struct front *fr)
{
	return fr->slots;
}

/* Returns the slot's stream. */
static inline uint32_t front_stream(const struct front *fr, uint32_t slot)
{
	return slot >= fr->copies ? slot - fr->copies : slot;
}

static inline uint32_t front_left(const struct front *fr, uint32_t b)
{
	return b == BLK_NONE ? 0 : fr->block_pages[fr->bt->blk[b].slc] - fr->bt->blk[b].next_page;
}

/* By word lines: is the block's next page an LSB page? */
static inline bool front_next_fast(const struct front *fr, uint32_t b)
{
	return !(front_page_of(fr, fr->bt->blk[b].next_page) & 1);
}

/* Move a block from the free list into an empty slot. The block has been erased. */
uint32_t front_open(struct front *fr, uint32_t plane, uint32_t slot);
void front_put(struct front *fr, uint32_t plane, uint32_t slot, uint32_t b);	/* mount: put this block into the
										 * slot */

/* By word lines: take the next page of a slot's block, and close the block with its last page. */
uint32_t front_take_paired(struct front *fr, uint32_t plane, uint32_t slot, enum frontier who);

/* Do the same as front_take_paired(), but with pages in ascending order. */
static inline uint32_t front_take(struct front *fr, uint32_t plane, uint32_t slot)
{
	uint32_t b = fr->plane[plane].open[slot];
	struct blk *k = &fr->bt->blk[b];
	uint32_t ppn = geo_ppn(fr->g, (pbn_t){ b }, k->next_page++).v;

	if (k->next_page == fr->block_pages[k->slc]) {
		fr->plane[plane].open[slot] = BLK_NONE;
		blk_close(fr->bt, b);
	}
	return ppn;
}

/*
 * Besides the slots' parities there is one parity in hand for a mount, in slot `covers` of any
 * plane.
 */
/* Add the content of the taken page ppn to the parity in hand, if it is an LSB page. */
void front_cover(struct front *fr, uint32_t plane, uint32_t ppn, const void *data, const uint8_t *oob);
/* XOR a page into the parity in hand of a slot. */
void front_xor(struct front *fr, uint32_t plane, uint32_t slot, const void *data, const uint8_t *oob);
void front_forget(struct front *fr, uint32_t plane, uint32_t slot);

/*
 * Remove a block from its slot, because no more pages are written to it. The caller sets its state.
 */
void front_drop(struct front *fr, uint32_t b);

/* ---- backup ---- */

/*
 * front_backup_plane() returns the plane that holds this one's parity pages, the other function the plane whose parity
 * pages this one holds.
 */
static inline uint32_t front_backup_plane(const struct front *fr, uint32_t plane)
{
	uint32_t planes = geo_planes(fr->g), at = plane + fr->c.backup_ahead;

	return at < planes ? at : at - planes;
}

static inline uint32_t front_backed_plane(const struct front *fr, uint32_t plane)
{
	return plane >= fr->c.backup_ahead ? plane - fr->c.backup_ahead :
					     plane + geo_planes(fr->g) - fr->c.backup_ahead;
}

/* Does the plane wait for another die that is to program its parity page? */
static inline bool front_waits(const struct front *fr, uint32_t plane)
{
	const struct front_plane *p = &fr->plane[plane];

	return fr->c.backup_ahead && (p->debt != BLK_NONE || p->paying);
}

void front_open_backup(struct front *fr, uint32_t plane);	/* Open the free list's first block as a backup
								 * block. */
struct front_parity front_owed(const struct front *fr, uint32_t plane);	/* the parity page that is owed */
/*
 * Prepare a group's parity page: set its place and its spare area (block, first and lost from `what`).
 * Returns its content, which is the parity that the slot has accumulated.
 */
const void *front_backup(struct front *fr, uint32_t plane, uint32_t slot,
			 const struct front_parity *what, uint32_t *ppn, uint8_t *oob);
/*
 * The program of block b's parity page has ended. front_backed_up(): it succeeded. front_backup_failed(): it failed,
 * which releases its backup block. front_backup_unused(): it succeeded, but b no longer needs it, because b's last LSB
 * page failed.
 */
void front_backed_up(struct front *fr, uint32_t plane, uint32_t b, uint32_t ppn);
void front_backup_failed(struct front *fr, uint32_t ppn);
void front_backup_unused(struct front *fr, uint32_t ppn);
void front_void(struct front *fr, uint32_t b);	/* Invalidate the parity page of block b. */
struct front_parity front_get_parity(const struct front *fr, const uint8_t *oob);
/*
 * A mount found a parity page: note it if it is the last of the block's present life. Returns false if
 * its spare area has numbers that front_backup() cannot have written.
 */
bool front_note_parity(struct front *fr, uint32_t ppn, const uint8_t *oob) SSD_MUST_CHECK;
/* To rebuild a page of the group: XOR into `oob` what the parity page has of the group's spare areas. */
void front_xor_kept(const struct front *fr, uint8_t *oob, const uint8_t *parity_oob);

/*
 * front_group_of() returns the first word line of the group of this word line, front_group_end() the one behind its
 * last.
 */
uint32_t front_group_of(const struct front *fr, uint32_t word_line);
uint32_t front_group_end(const struct front *fr, uint32_t word_line);

/* rtf: is an MSB page next in some active block? */
bool front_some_slow(const struct front *fr, uint32_t plane);
void front_check(const struct front *fr);

#endif
