/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * map.h - state and functions of the cached map (map.c, MAP.md): map pages in flash, the directory that locates
 * them, and the frames that hold some of them in memory.
 */
#ifndef SLATE_PAGE_MAP_H
#define SLATE_PAGE_MAP_H

#include "fxp.h"
#include "port.h"

struct die;
struct ftl_config;
struct gc;
struct nand_geometry;
struct page_ftl;
struct ssd_arena;
struct uread;

enum frame_state {
	FRAME_READY,		/* the content is complete, or the frame is empty */
	FRAME_LOADING,		/* the map page is being read */
	FRAME_WRITING,		/* the content is being programmed; it can be used meanwhile */
	FRAME_LOST,		/* the map page cannot be read */
};

enum frame_list { ON_NONE, ON_CLEAN, ON_DIRTY, ON_WRITE };

struct map_frame {
	uint32_t page;		/* number of the map page, or MAP_NONE */
	uint32_t prev, next;	/* links of its list */
	uint32_t host_pins;	/* units of buffer pages, from before their issue to the end of their program */
	uint32_t gc_pins;	/* collectors that copy units of this map page */
	uint32_t first, last;	/* queue of ureads that wait for the content */
	uint64_t last_seq;	/* log sequence that `stable` must reach before the content may be written */
	uint64_t mark;		/* FRAME_WRITING: mark that the page carries */
	uint64_t used;		/* number of the look-up that used the frame last */
	uint8_t state;		/* enum frame_state */
	uint8_t list;		/* enum frame_list */
	bool dirty;		/* the content differs from flash */
	bool again;		/* FRAME_WRITING: the content has changed since the program was issued */
	bool for_read;		/* FRAME_LOADING: counts in loads */
	bool wanted;		/* dirty when the checkpoint began, and not written since */
	uint64_t seq;		/* sequence of the frame's last program */
};

#define MAP_NONE 0xffffffffu

struct map_list { uint32_t newest, oldest; };	/* frames, by their last use */

struct map_found {		/* what the survey found of a map page */
	uint64_t seq;		/* of its newest version, also after the mount; 0: there is none */
	uint64_t order;		/* all changes before this order are in that version; 0: unknown */
	uint64_t top;		/* latest data page with one of its LPNs, as twice its order, plus 1 for a copy; 0:
				 * none */
};

enum ckpt_state { CKPT_NONE, CKPT_FLUSH, CKPT_WRITE };

struct page_ckpt {			/* ckpt.c */
	enum ckpt_state state;
	uint8_t *image;
	uint32_t bytes;			/* of the image */
	uint32_t pages, blocks;		/* that it fills */
	uint64_t period;		/* pages programmed between the beginnings of two checkpoints, at least */
	uint64_t begun_at;		/* pages programmed when the last one began */
	uint64_t seq0, seq1;		/* sequence of the last page issued at t0 of the last one, and at its t1 */
	uint64_t map_seq0;		/* sequence of the last map page issued at t0 */
	uint64_t number;		/* of the one being written; taken from the sequences of map pages */
	uint32_t wanted;		/* number of wanted frames */
	uint32_t cursor;		/* next frame to look at */
	uint32_t done;			/* pages that were programmed */
	bool hold;			/* no further page of the host is pinned */
	uint32_t *held, *next;		/* blocks of the last complete checkpoint, and of the one being written;
					 * BLK_NONE: there is none */
	uint32_t *plane;		/* plane of each block of `next` */
	uint32_t *trusted;		/* pages of each block that the mount took from the checkpoint */
};

struct page_cache {			/* all zero with the whole map in memory */
	uint32_t frames;		/* number of frames */
	uint32_t pages;			/* number of map pages */
	uint32_t per;			/* entries of a map page */
	struct fxp_div by_per;
	uint32_t reserve;		/* free blocks of a plane that only map pages may use */
	struct map_frame *frame;
	uint32_t *entry;		/* content of the frames, `per` entries each: as in page_map.l2p */
	uint32_t *frame_of;		/* frame of each map page, or MAP_NONE */
	uint32_t *hidden;		/* unit address of each hidden LPN: trim bitmap, dead list, map pages */
	uint8_t *store;			/* array without payload: content of each map page as it was programmed last */
	uint64_t *due;			/* a bit for each map page with trims that have not been applied to it */
	uint64_t *stale;		/* mount: a bit for each map page whose content on flash is not up to date */
	struct map_found *found;	/* mount: of each map page */
	uint64_t *first_order;		/* mount: lowest order in each block */
	uint32_t *next_of_die;		/* mount: block of each die that a pass reads */
	uint64_t *with_hidden;		/* mount: a bit for each block with units of trim bitmaps or of the dead list */
	struct page_ckpt ckpt;
	uint32_t due_count;
	struct map_list list[4];	/* by enum frame_list; ON_NONE is unused */
	uint32_t writes;		/* frames that wait to be written or are being written */
	uint32_t host_frames, host_max;	/* frames with host_pins, and their maximum */
	uint32_t loads, loads_max;	/* frames being loaded for reads, and their maximum */
	uint32_t first, last;		/* queue of ureads that wait for a frame */
	uint32_t ahead;			/* map page to load for a sequence of reads; 0: none */
	uint64_t pin_seq;		/* first page of the buffer whose units are not all pinned */
	uint64_t trim_seq;		/* page of the last accepted trim */
	uint64_t looks;			/* number of look-ups */
	uint64_t seq;			/* sequence of the last map page written */
	uint64_t stall_ns, since_ns;	/* clock of the time in which the head of the queue waited for the map */
	bool stalled;
	bool mounting;			/* entries of trimmed units may be obsolete: their units are not valid */
	bool lost;			/* a map page could not be read: the host writes nothing more */
};

/* These functions are in map.c. All but map_init() are called only if the map is cached. */
uint32_t map_pages_of(const struct ftl_config *c, const struct nand_geometry *g);
uint32_t map_frames_min(const struct nand_geometry *g, uint32_t upp);
uint32_t map_reserve(const struct ftl_config *c, const struct nand_geometry *g);
void map_lay_out(struct page_ftl *f, struct ssd_arena *m, const struct ftl_config *c, const struct nand_geometry *g);
void map_init(struct page_ftl *f);
void map_empty(struct page_ftl *f);			/* remove all map pages from memory */
bool map_take(struct page_ftl *f, uint32_t page);	/* mount: give the map page a frame without a read */
void map_pump(struct page_ftl *f, uint64_t now_ns);	/* begin what has become possible */
bool map_ready(const struct page_ftl *f, uint32_t wpage);	/* are the map pages of its units in memory? */
void map_unpin(struct page_ftl *f, uint32_t wpage);	/* the page has been programmed */
uint64_t map_clock(const struct page_ftl *f, uint64_t now_ns);
bool map_locate(struct page_ftl *f, uint64_t now_ns, uint32_t r);	/* false: the uread waits for its map page */
bool map_stands(const struct page_ftl *f, const struct uread *u);	/* is the unit where it was found? */
void map_set_due(struct page_ftl *f, uint32_t page);	/* trims have not been applied to the map page */
void map_trim(struct page_ftl *f, uint32_t from, uint32_t to, const uint8_t *bits, uint32_t base, uint64_t seq);
void map_arrived(struct page_ftl *f, uint32_t lpn, const uint8_t *page, bool lost);
void map_loaded(struct page_ftl *f, uint64_t now_ns, uint32_t lpn);
bool map_write(struct page_ftl *f, uint64_t now_ns, uint32_t die);	/* begin a map page's program on the idle die */
void map_write_all(struct page_ftl *f);			/* mount: let all changed frames be written */
bool map_write_soon(struct page_ftl *f, uint32_t i);	/* order the write of a dirty frame; false: not now */
void map_written(struct page_ftl *f, const struct die *d);
bool map_gc_ready(struct page_ftl *f, uint64_t now_ns, struct gc *g);	/* pin the map pages of the units to program */
void map_gc_release(struct page_ftl *f, struct gc *g);
/* Do the map pages of the units to program, which are pinned, name these units? Not so in a damaged drive file. */
bool map_gc_agrees(const struct page_ftl *f, const struct gc *g);
/* Returns a block to collect if map pages have no room, or BLK_NONE. */
uint32_t map_victim(struct page_ftl *f, uint32_t plane);
bool map_needs_room(const struct page_ftl *f, uint32_t plane);

/* ckpt.c */
void ckpt_lay_out(struct page_ftl *f, struct ssd_arena *m, const struct nand_geometry *g);
void ckpt_init(struct page_ftl *f);
void ckpt_mounted(struct page_ftl *f, bool by_ckpt);
void ckpt_pump(struct page_ftl *f);
void ckpt_frame_written(struct page_ftl *f, struct map_frame *fr);
bool ckpt_write(struct page_ftl *f, uint64_t now_ns, uint32_t die);	/* begin a page's program on the idle die */
void ckpt_written(struct page_ftl *f, const struct die *d);
void ckpt_give_up(struct page_ftl *f);			/* the one that is being taken */
bool ckpt_yield(struct page_ftl *f, uint32_t plane);	/* give all up if a block of this plane is part of it */
bool ckpt_holds(const struct page_ftl *f, uint32_t b);

#endif
