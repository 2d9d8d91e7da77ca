/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * map_state.h - the state of the map. A cached map (MAP.md) has map pages in flash, the directory that locates them,
 * and the frames that hold some of them in memory.
 */
#ifndef SLATE_MAP_STATE_H
#define SLATE_MAP_STATE_H

#include "fxp.h"
#include "port.h"

struct die;
struct ftl_config;
struct gc;
struct nand_geometry;
struct page_ftl;
struct ssd_arena;
struct uread;

enum map_answer {		/* to a look-up */
	MAP_FOUND,		/* map_upn_of() has the address */
	MAP_UNWRITTEN,		/* the unit has none */
	MAP_UNREADABLE,		/* the map page is lost */
	MAP_WAITS,		/* for the map page; map_above.answer() is called later */
};

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

/* What the map asks of the floors above in the middle of its work. */
struct map_above {
	void (*read)(struct page_ftl *f, uint64_t now_ns, uint32_t lpn);	/* the map page with this first LPN */
	/* The uread has waited, and now has an answer. */
	void (*answer)(struct page_ftl *f, uint64_t now_ns, uint32_t r, enum map_answer answer);
	/* The map cannot write in the plane before it has more free blocks: let GC look whether it can free some. */
	void (*lacks_room)(struct page_ftl *f, uint32_t plane);
	/*
	 * Take a free block that the host could take, and put it into state VICTIM. Returns false if there is none, or
	 * if the block must be erased first, which has begun then.
	 */
	bool (*spare_block)(struct page_ftl *f, uint64_t now_ns, uint32_t plane, uint32_t *b);
};

struct page_cache {			/* all zero with the whole map in memory */
	const struct map_above *above;
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
	uint8_t *owed;			/* a bit for each LPN whose trim was issued while its entry was not in memory,
					 * until the trim or a later write has changed the entry */
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

struct page_map {
	uint32_t *l2p;			/* unit address or NONE; may be combined with OOB_LOST. NULL: the map is
					 * cached (map.h) */
	uint8_t *valid;			/* a bit for each physical unit */
	uint8_t *p2l; /* gc_copyback: the OOB of each physical unit, OOB_UNIT_BYTES; NULL: the OOB
					 * is read */
	uint8_t *trimmed;		/* a bit for each exported LPN, changed in the order of acceptance */
	uint64_t trims;			/* number of bits set in trimmed */
	uint64_t mapped;
};

#endif
