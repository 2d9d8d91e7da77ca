/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * zns_rig.h - a drive with zones, a host that works on it at random, and a model of the zones. The
 * model predicts the answer of every operation. After a power cut a zone may hold what some prefix
 * of its operations leaves, if the prefix has all that was promised; and the first sectors of the
 * next write may follow. If the zone had a random write area, this holds for each of its pages alone.
 */
#ifndef SLATE_ZNS_RIG_H
#define SLATE_ZNS_RIG_H

#include <setjmp.h>

#include "ftl.h"
#include "test.h"

#define ZR_ZONES 40u
#define ZR_SECTORS 1024u		/* maximum of a zone's sectors */
#define ZR_IOS 5u
#define ZR_CHANGES 256u

struct zr_shape {
	struct nand_geometry g;		/* oob_kept is set by the rig */
	uint32_t zones, zone_dies, zone_blocks, open_max, active_max;
	uint32_t window, step, windows;	/* pages of a random write area and of a commit; how many, 0: active_max */
	bool power2;
};

enum zr_kind { ZR_WRITE, ZR_COMMIT, ZR_FINISH, ZR_RESET };

struct zr_change {
	enum zr_kind kind;
	uint32_t at, sectors, tag;	/* WRITE: in the zone */
	uint32_t wp;			/* WRITE, COMMIT: the write pointer after it */
	bool refused;			/* it and later ones are not promised before a reset */
};

/* What a zone holds. */
struct zr_content {
	uint32_t tag[ZR_SECTORS];
	uint32_t sectors;		/* up to the write pointer */
	bool finished;
};

struct zr_zone {
	struct zr_content base;		/* certain */
	struct zr_change change[ZR_CHANGES];
	uint32_t changes, durable;	/* durable: of the changes */
	uint64_t number;		/* of all changes that were ever made certain or submitted */
	enum ftl_zone_state state;
	uint32_t wp;			/* sectors */
	uint64_t opened;
	uint32_t pending;		/* operations that have not ended */
	bool failed;			/* programs of it may have failed: it may be read-only */
	bool window;			/* the zone has a random write area (ZRWA) */
	bool loose;			/* it had one: after a cut each page may be of another moment */
	bool told;			/* a flush has failed, perhaps for it: later ones promise nothing of it */
};

struct zr_io {
	struct ftl_io io;
	bool busy, reported;
	enum ssd_err want;		/* expected status */
	uint32_t zone;
	uint64_t after;			/* number of the zone's changes with this one; FLUSH: see mark[] */
	uint64_t mark[ZR_ZONES];
	uint32_t tag;
	bool still;			/* READ: the zone had nothing pending */
	uint8_t *data;
};

struct zr {
	const struct zr_shape *shape;
	const struct ftl_ops *ops;
	struct nand_array_config ac;
	struct ftl_config fc;
	struct test_array ta;
	struct ftl *f;
	void *mem;
	size_t len;
	uint64_t now_ns, next_ns, rng;
	uint32_t capacity, size;	/* of a zone, sectors */
	struct ftl_zones zones;
	uint32_t tag;
	uint64_t opens;
	bool may_fail;			/* programs and erases fail */
	enum ftl_zone_state left[ZR_ZONES];	/* READONLY, OFFLINE: reported by the drive, and permanent */
	struct zr_zone zone[ZR_ZONES];
	struct zr_io io[ZR_IOS];
	uint32_t busy;
	struct zr_content seen;
	uint64_t reads_checked, resets, finishes, retirements, refused, failed, windows, commits;
};

/* Returns NULL, or why the FTL refuses the shape. */
const char *zr_refusal(const struct zr_shape *s);
void zr_make(struct zr *r, const struct zr_shape *s);
void zr_free(struct zr *r);
/* Mount a fresh FTL on the array. */
void zr_mount(struct zr *r);
/* Check that every zone is what the model of `host` allows after a power cut. */
void zr_verify(struct zr *r, const struct zr *host);
/* Take what the drive holds as certain, after zr_verify(). */
void zr_adopt(struct zr *r, const struct zr *host);
/* Note which zones the drive says it has changed to read-only or offline. */
void zr_note_left(struct zr *r);
/* Check that these zones still have these states after a power cut. */
void zr_check_left(const struct zr *r, const struct zr *host);
void zr_work(struct zr *r, uint32_t requests);
void zr_drain(struct zr *r);
/* Submit one operation and do not wait for it. */
void zr_submit(struct zr *r, enum ftl_op op, enum ftl_zone_op zone, uint64_t sector, uint32_t sectors, bool fua);
/* Returns the zones that are open or closed, as the drive reports them; *any: those that are not empty. */
uint32_t zr_active(const struct zr *r, uint32_t *any);
/* Apply a change; of a write only the first `sectors`. */
void zr_apply(struct zr_content *c, const struct zr_change *h, uint32_t sectors);
struct zr_io *zr_free_io(struct zr *r);
/* Run one operation alone; returns its latency. status and placed may be NULL. */
uint64_t zr_alone(struct zr *r, enum ftl_op op, enum ftl_zone_op zone, uint64_t sector, uint32_t sectors,
		  bool fua, enum ssd_err *status, uint64_t *placed);

#endif
