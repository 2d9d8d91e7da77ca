/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * handles.h - placement handles: data of each go to blocks of their own (DESIGN.md).
 *
 * A handle is a stream of front.h. This file's state adds what the other files of the FTL need for
 * it: the open buffer page of each handle, and how far its reclaim unit is.
 *
 * With handles, a buffer page gets its sequence when it is closed (wbuf.c), and:
 *
 *   W4  of two versions of a unit, in the order of acceptance, the later one has the higher sequence,
 *       or is the later slot of the same page. The same holds for a version and the bitmap that
 *       trims it, and for a bitmap without the unit's bit and the version that ended the trim. So a write
 *       first closes another handle's open page that has its unit, or any page that has its trim bit. A
 *       trim closes all other pages with units of its region (the units of one bitmap), because the
 *       region's bitmap loses the bit of a trimmed unit that is rewritten. If that bitmap were durable before
 *       the rewritten unit, a mount would find neither the trim nor the rewrite, and return the old data
 *   W5  a handle's open page is W_OPEN, is not in the queue, and has room
 *   W6  buf.open is the open page of handle `current`, whose place in open[] is not used
 *
 * A handle's blocks are opened in rounds of one block in each plane, so that the planes fill evenly:
 *
 *   W7  a plane that has opened its block of the round opens another one only if no plane has a page left
 *       in an open block of the handle, and none could open its block of the round; then a round begins.
 *       Pages whose program failed, and pages of a mount, do not wait
 *
 * With placement_groups, a *group* is a set of dies with neighbouring numbers, and has all handles: handle h of group g
 * is number g * streams + h. A block has the stream h; its plane says the group, so the spare area does not name it.
 * Rounds and reclaim units are those of a handle in one group.
 *
 *   W8  GC copies inside a plane, so data stay in the group that took them. A host page goes to its handle's group
 *       unless that group is full (to[]), or has no room and no command under way there makes any (`anywhere`), or a
 *       mount writes the page
 *
 * A group is full if its valid units are at its limit: halfway between its share of the exported units and what it can
 * hold. So a host that writes to each group its share always finds room there. If a host writes more to a group, the
 * further pages go to the group with the most room, before GC in the full group has to copy nearly all that it
 * collects. The valid units are counted when count_every pages have been issued since the last count.
 *
 * A reclaim unit is what the host sees of a round: it ends when the host has written as many bytes as a
 * round of blocks has, whether they are on flash or in the buffer, or when the host ends it. Padded pages
 * take a part of the blocks and not of the unit, and units overwritten in the buffer the reverse, so a
 * unit that the host fills may end within a block. One that the host ends takes its open blocks along: its
 * buffer page is closed, and the last of its pages to be issued (wpage.ends) closes the blocks.
 *
 * Each page of the host says how much of its handle's unit was written up to it, also in another group. A mount
 * takes that from the handle's newest page. So a cut undoes an update after which no page of the handle was issued.
 *
 * The spare area has HANDLES_OOB_BYTES:
 *
 *   0  1  stream of the page's block
 *   1  1  page of the host: number of its handle
 *   2  5  page of the host: sectors of the handle's reclaim unit written with this page and those before it
 *
 * GC may erase the newest page of a handle, after it has copied what is valid. A mount then finds an older page. A
 * checkpoint (map/ckpt.c) has the newest of each handle.
 */
#ifndef SLATE_HANDLES_H
#define SLATE_HANDLES_H

#include "front.h"

#define HANDLES_OOB_BYTES 7u

struct page_ftl;

struct handle {
	uint32_t open;			/* open buffer page, or NONE */
	uint32_t last;			/* buffer page opened last, or NONE; perhaps another's by now */
	uint32_t round;			/* number of the round */
	uint64_t written;		/* bytes of the reclaim unit that the host has written */
	uint64_t page_seq;		/* newest page issued, or found by a mount; 0: none */
	uint64_t page_written;		/* `written` with that page and those before it */
	uint64_t units;			/* reclaim units begun after the first */
	uint64_t first_seq;		/* mount: of the pages in open blocks */
};

struct handles_space {			/* from the functions of space.h */
	uint64_t units;			/* exported and hidden units */
	uint64_t block_units;		/* mapping units that a block holds */
	uint32_t kept_blocks;		/* blocks of a plane that hold no such unit */
};

struct page_handles {
	uint32_t count;			/* handles of all groups; 0: no placement, nothing else here is used */
	uint32_t streams;		/* handles of a group */
	uint32_t groups;
	uint32_t planes;		/* of a group */
	uint32_t *to;			/* if there are several groups: to[g] takes the pages meant for group g */
	uint64_t counted;		/* last sequence issued before the last count of valid units */
	uint64_t count_every;		/* pages */
	struct handles_space space;
	uint64_t anywhere;		/* sequence of the page that any group may take; 0: no such page */
	bool apart;			/* GC's copies of each handle go to blocks of their own */
	uint32_t current;
	uint64_t unit_bytes;		/* of a reclaim unit */
	struct handle *handle;
	uint64_t *written;		/* of each buffer page: `written` of its handle when it was closed */
	uint32_t *round;		/* of each plane and stream: the round whose block has been opened last */
};

/* Return how many kinds of host pages and of copies have open blocks of their own (struct front_config). */
uint32_t handles_streams(const struct ftl_config *c);
uint32_t handles_copy_streams(const struct ftl_config *c);
/* Returns why the policy, configuration and geometry do not suit handles, or NULL. */
const char *handles_fault(const struct front_policy *policy, const struct ftl_config *c, const struct nand_geometry *g);

static inline bool handles_has_groups(const struct page_handles *h)
{
	return SSD_UNLIKELY(h->groups > 1);
}

/* Set the spare area of a map page. Map pages belong to no handle, and say 0. */
static inline void handles_took_hidden(uint32_t units_per_page, uint8_t *oob)
{
	memset(oob + OOB_BYTES(units_per_page), 0, HANDLES_OOB_BYTES);
}

void handles_lay_out(struct page_ftl *f, struct ssd_arena *m, const struct ftl_config *c);
void handles_init(struct page_ftl *f, const struct handles_space *space);
void handles_mounted(struct page_ftl *f);	/* the open blocks are known */

/* wbuf.c calls these with handles. Make buf.open the open page of `handle`. */
void handles_select(struct page_ftl *f, uint32_t handle);
void handles_began(struct page_ftl *f, uint32_t w);	/* w is the open page of the current handle */
void handles_wrote(struct page_ftl *f, const struct ftl_io *io, uint32_t bytes);	/* they were accepted */
void handles_close_others(struct page_ftl *f);
/* W4: call these before a write of the unit (old: its newest slot, or NONE), and of its region's bitmap. */
void handles_close_older(struct page_ftl *f, uint32_t lpn, uint32_t old);
void handles_close_region(struct page_ftl *f, uint32_t map);

/* place.c, gc.c */
uint32_t handles_stream(const struct page_ftl *f, uint32_t plane, enum frontier which);
/* W7: can the plane take the next page, of this stream: has it an open block for it, or may it open a free one? */
bool handles_in_turn(const struct page_ftl *f, uint32_t plane, uint32_t stream);
void handles_end_unit(struct page_ftl *f, uint32_t handle);	/* its open blocks take no more pages */
void handles_opened(struct page_ftl *f, uint32_t b, uint32_t slot);
/* May the plane take the head of the queue (W8)? Asked if there are several groups. */
bool handles_takes(const struct page_ftl *f, uint32_t plane);
/* With handles: the plane's collector copies to block b. Set the copy's spare area. */
void handles_copied(struct page_ftl *f, uint32_t plane, uint32_t b, uint8_t *oob);
/* The buffer page w goes to block b, and has been mapped: set its spare area, and count a stray page. */
void handles_placed(struct page_ftl *f, uint32_t b, uint32_t w, uint8_t *oob);
void handles_found(struct page_ftl *f, uint32_t ppn, const uint8_t *oob);	/* mount: a page was found */
void handles_renew(struct page_ftl *f, uint32_t handle);	/* the host ends the handle's reclaim unit early */
/* map/ckpt.c: HANDLES_SAVED bytes say of each handle what its newest page does. */
#define HANDLES_SAVED 10u
void handles_save(const struct page_ftl *f, uint8_t *to);
void handles_restore(struct page_ftl *f, const uint8_t *from);
void handles_check(const struct page_ftl *f);

#endif
