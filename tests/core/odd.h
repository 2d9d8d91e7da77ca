/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * odd.h - one case of test_odd: a random small drive, its medium, its power and
 * its host. Replay a case with test_odd -r ID, ID = flags:seed:cycles.
 *
 *   odd_drive.c  draws and mounts the drive; makes commands fail and cuts the power
 *   odd_host.c   draws the I/O; checks the content found by each read and each mount
 *   test_odd.c   has the cases, and checks that the required events occurred
 */
#ifndef SLATE_TEST_ODD_H
#define SLATE_TEST_ODD_H

#include <setjmp.h>
#include <stdio.h>

#include "controller.h"
#include "credit_watch.h"
#include "ftl.h"
#include "gc_policy.h"
#include "oob.h"
#include "page_ftl.h"
#include "test.h"
#include "words_only.h"

#define ODD_DEPTH 12u			/* maximum of requests in flight */
#define ODD_MAX_SECTORS 4096u		/* maximum of a drive's sectors */
#define ODD_MAX_REQUEST 512u		/* maximum of sectors in a request */
#define ODD_MAX_CHANGES 400000u		/* maximum of changes between two mounts */
#define ODD_MAX_TAGS (1u << 18)		/* maximum of writes and trims in a case */

/* An ID has these letters in any order. */
#define ODD_FLAGS "cmfexluskw12prtgvaybhoz"
/*
 *   c  power cuts, at any command       x  exactly the largest capacity
 *   m  cuts while it mounts, too        l  steps come late
 *   f  programs fail                    u  an urgent reserve of one block
 *   e  erases fail                      s  little is written between two cuts
 *   1  one plane in all                 2  two planes in all
 *   k  any of: two victims an erase, GC reads of ECC words, copybacks, SSDSim's
 *      accounting
 *   w  any of: wear levelled, reads that say "relocate", host reads of ECC words
 *   p, r, t  the FTL is parity, rtf or flex, on an array of two-page word lines where torn
 *      MSB pages take LSB pages along
 *   g  any of gc_frontier and gc_pages
 *   b  with p, r or t: parity pages lie in the next channel
 *   a  cells of two to four bits, and an SLC cache of any kind
 *   y  a cached map, with few frames or many
 *   h  placement handles; each write names one at random, so that versions of a unit are in pages of
 *      several
 *   v  any GC policy but greedy; page: perhaps hot pages apart from cold ones
 *   o  cells of two to four bits, programs of whole word lines; perhaps torn pages take lower ones along
 *   z  some keys of the FTL have any values, drawn from its tables (keys_config.h)
 */

/* A run must contain these events to prove something. */
enum odd_event {
	ODD_CUTS, ODD_MOUNTS_CUT, ODD_PROGRAMS_FAILED, ODD_ERASES_FAILED, ODD_BLOCKS_RETIRED,
	ODD_WORN_OUT, ODD_FULL, ODD_GC_RUNS, ODD_TRIMS, ODD_DEAD_LISTS, ODD_PURGES,
	ODD_SECONDS, ODD_WORD_READS, ODD_COPYBACKS, ODD_LEVELLED, ODD_RELOCATED, ODD_PAIRED,
	ODD_BACKUPS, ODD_CHARGES, ODD_CACHED, ODD_PAST_CACHE, ODD_FOLDED, ODD_MAP_READS, ODD_MAP_COPIES,
	ODD_RECLAIM_UNITS, ODD_STRAYS, ODD_BY_CKPT,
	ODD_NEVENTS
};

struct odd_change {
	uint32_t sector, count;
	uint32_t tag;			/* 0: trimmed */
};

struct odd_request {
	struct ftl_io io;
	bool busy;
	bool reported;			/* reported by the FTL with the time due_ns */
	uint64_t due_ns;
	uint32_t tag;
	uint32_t changes;		/* length of the history after it */
	uint32_t low[ODD_MAX_REQUEST];	/* READ: oldest tag allowed for each sector */
	uint8_t data[ODD_MAX_REQUEST * FTL_SECTOR_BYTES];
};

struct odd {
	const char *flags;
	uint64_t seed, rng;
	uint64_t event[ODD_NEVENTS];

	/* the drive */
	struct nand_array_config ac;
	struct ftl_config fc;
	struct ftl_config plain;		/* flag z: before keys were drawn */
	struct test_array ta;
	const struct ftl_ops *ops;
	struct words_only only;		/* the view of the array that the FTL gets */
	struct credit_watch watch;
	struct nand *n;
	struct ftl *f;
	void *mem;
	size_t len;
	uint64_t now_ns, next_ns;

	/* medium and power: */
	uint32_t program_fails, erase_fails;	/* per mille */
	uint32_t corrections;			/* per mille of the reads that are corrected */
	bool failed_last;			/* failures come in groups */
	bool armed, mounting;
	uint32_t count_ops;			/* commands counted toward cut_at: bits 1 << nand_op */
	uint64_t commands, cut_at, cut_ns;
	jmp_buf off;

	/* host: */
	uint32_t sectors;
	uint32_t busy;
	bool read_only;			/* a write was refused, because the drive is worn out */
	bool full;			/* no free page is left */
	struct odd_request request[ODD_DEPTH];
	struct odd_change *history;	/* changes since the last mount */
	uint32_t changes, durable;	/* history[0 .. durable) must survive */
	uint32_t tag;
	uint32_t base[ODD_MAX_SECTORS];	/* tags of the content before history[0] */
	uint32_t found[ODD_MAX_SECTORS];	/* tags found by the last read of everything */
	uint32_t newest[ODD_MAX_SECTORS];	/* last submitted tag of each sector, including trims */
	uint32_t settled[ODD_MAX_SECTORS];	/* highest completed tag of each sector */
	bool is_trim[ODD_MAX_TAGS];	/* the tag is a trim, or zeroes found by a mount */
	struct odd_request everything;	/* only its io is used */
	uint8_t *all;
};

static inline uint32_t roll(struct odd *o, uint32_t n)
{
	return (uint32_t)(rnd(&o->rng) % n);
}

static inline bool flag(const struct odd *o, char letter)
{
	return strchr(o->flags, letter);
}

static inline uint32_t unit_sectors(const struct odd *o)
{
	return o->fc.unit_bytes / FTL_SECTOR_BYTES;
}

/* -f names this FTL for the test, with units of a sector; NULL: the flags choose the FTL. */
extern const struct ftl_ops *odd_other;

/* Print the reason and how to replay it, and end the program. */
_Noreturn void odd_fail(const struct odd *o, const char *format, ...);

/* odd_drive.c */
void odd_make(struct odd *o);
void odd_free(struct odd *o);
void odd_mount(struct odd *o);
void odd_arm_mount(struct odd *o);	/* set a cut within the following mount, or none */
void odd_arm_work(struct odd *o);	/* set one within the work; it calls longjmp(off, 1) at cut_ns */
void odd_lose_power(struct odd *o);

/* odd_host.c */
void odd_host_make(struct odd *o);
void odd_host_free(struct odd *o);
void odd_host_mounted(struct odd *o);	/* no request is under way */
void odd_host_done(struct odd *o, struct ftl_io *io);
void odd_host_copy(struct odd *o, struct ftl_io *io, uint64_t at, void *buf, size_t len);
void odd_work(struct odd *o, uint32_t requests);
void odd_drain(struct odd *o);
void odd_flush(struct odd *o);		/* called after a drain */
/*
 * Read everything: the content must be a prefix of the history that includes all durable changes.
 */
void odd_verify(struct odd *o);

#endif
