/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cut_drive.h - the drive of test_cut and test_save, its random host, and the oracle of what a loss of power may
 * leave (test_cut.c).
 */
#ifndef SLATE_CUT_DRIVE_H
#define SLATE_CUT_DRIVE_H

#include "controller.h"
#include "cut_shapes.h"
#include "oob.h"
#include "page_ftl.h"
#include "test.h"

#define MAX_UNITS 1600
#define MAX_SECTORS MAX_UNITS	/* units of a sector, or fewer larger ones */
#define MAX_IOS 8
#define MAX_HISTORY 20000
#define CKPT_PERIOD 40u			/* pages programmed from one checkpoint to the next */
#define METADATA_BYTES 4	/* of a sector */
#define LOST (~(uint64_t)0)		/* tag of a sector whose unit is lost */

struct change {
	uint32_t sector, count;
	uint64_t tag;		/* 0: trimmed */
	/* with several queues: when it was submitted and completed, counted in events; ended 0: not completed */
	uint32_t began, ended;
};

/* A drive has an FTL on an array, and the host's knowledge of its content. */
struct drive {
	struct test_array ta;
	void *mem;
	size_t len;
	const struct ftl_ops *ops;
	struct ftl *f;
	const struct shape *shape;
	struct ftl_config fc;
	uint64_t now_ns, next_ns, rng;

	struct change *history;
	uint32_t changes, durable;	/* history[0 .. durable) must survive */
	uint64_t *base;			/* content before history[0] */
	bool lost[MAX_SECTORS];		/* by sector: its unit was last made lost */
	uint64_t tag;
	uint32_t events;		/* with queues: submissions and completions so far */
	uint32_t flushed;		/* the latest submission of a flush that has completed */
	uint32_t began;			/* the latest submission of what the FTL got */
	uint64_t overtakes;		/* requests that the FTL got after one that was submitted later */
	struct ftl_ops spy;		/* the FTL's operations, but submit() is handed_over() */

	struct host_io {
		struct ftl_io io;
		bool busy;
		uint64_t tag;
		uint32_t changes;	/* length of the history after it */
		uint32_t first;		/* with queues: its first change, */
		uint32_t began;		/* and event */
		uint8_t data[MAX_SECTORS * (FTL_SECTOR_BYTES + METADATA_BYTES)];
	} io[MAX_IOS];
	uint64_t found[MAX_SECTORS];	/* content found by verify() */
};

extern struct drive first, second, third;
extern uint64_t cuts, by_ckpt;		/* cuts that were survived, mounts by a checkpoint */
extern const char *other_ftl;		/* -f; it trims unit by unit */

extern bool protect;			/* drives have power-loss protection */
/* Called when a read has ended; or NULL. */
extern void (*when_read)(const struct drive *d, const struct host_io *h);

/*
 * Settings are also drawn from the knob tables of the FTLs (keys_config.h), over those of one of the shapes. A number
 * below DRAWN names the keys that are drawn for certain: 0 .. PARTS - 1 a part of page's keys each, each further one
 * the keys that only one other FTL has. So a run of all numbers changes each key, which test_cut checks.
 */
#define PARTS 6u
#define DRAWN 9u
/* Draw a shape's settings. The same number and seed give the same shape. */
void drive_draw(struct shape *to, uint32_t number, uint64_t seed);
void drive_print_drawn(const struct drive *d);

bool is_for(const struct shape *s, const char *name);
struct nand_hooks hooks_of(const struct drive *d);
void drive_make(struct drive *d, const struct shape *s);
void drive_free(struct drive *d);
void drive_mount(struct drive *d);
void submit_random(struct drive *d, struct host_io *h);
/* Returns a request that is not under way, or NULL. */
struct host_io *free_io(struct drive *d);
void work(struct drive *d, uint32_t ops);
void read_all(struct drive *d);
/* Check that the content of `d` is the result of a prefix of h's history that includes its durable part. */
void verify(struct drive *d, const struct drive *h);

#endif
