/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * naive.h - a second implementation of nand.h, in the simplest form, with which the array is
 * compared.
 *
 * Everything is stored for each page and found by a search of all pages; there are no bit fields,
 * no derived state and no deferred effects. It is slow, and meant to be compared with nand.h by
 * reading. It was written only from nand.h and array.h: a change that makes it follow the array
 * needs a reason in these files.
 *
 * The model is called in two steps, because the array may choose some results. naive_broken(),
 * before a call, returns the rules for which it may be refused. naive_submit(), after a legal call,
 * takes the array's results as a hint and writes the results that it should have returned. The hint
 * counts only where nand.h leaves a choice (worn cells, raw errors) and only if it is among the
 * choices.
 */
#ifndef SLATE_TEST_NAIVE_H
#define SLATE_TEST_NAIVE_H

#include <stdio.h>

#include "array.h"
#include "nand_geom.h"

enum naive_state { NAIVE_BLANK, NAIVE_HELD, NAIVE_LOST };

struct naive_page {
	enum naive_state state;
	uint32_t erases;
	uint32_t disturbs;			/* disturbances of its smallest PB */
	uint32_t erased_from, erased_to;	/* pages [from, to) of the last erase that covered it */
	bool must_erase;			/* it must be erased first (R9) */
	bool any_oob;				/* programmed without OOB: the first bytes read are right */
	uint32_t raw_min;			/* raw errors seen in its worst word since it was programmed */
	bool raw_seen;
};

struct naive_block {
	bool bad;
	bool slc;			/* mode of the first program since the last erase */
	uint32_t erase_commands;
	/* wear: the highest count that succeeded and the lowest that failed */
	uint32_t erase_good, erase_fail, program_good, program_fail;
};

/* A block is kept as it was before a command, because a cut may undo the command. */
struct naive_saved {
	uint32_t block;
	uint32_t erase_commands;
	bool slc;
	struct naive_page *page;
	uint8_t *data, *oob;
};

struct naive_flight {
	enum nand_op op;
	unsigned int count;
	ppn_t ppn[NAND_GROUP_MAX];
	uint32_t pb[NAND_GROUP_MAX];
	bool either[NAND_GROUP_MAX];	/* see tear() */
	bool failed[NAND_GROUP_MAX];
	bool looked_at;			/* a call was refused after the command's end */
	uint64_t cell_start_ns, end_ns;
	uint64_t suspended_ns;		/* end of the suspend_ns of its last suspension */
	uint32_t suspends;
	unsigned int saved_count;
	struct naive_saved saved[NAND_GROUP_MAX];
	uint64_t disturbs, disturb_lost;	/* disturbances counted for it */
};

struct naive_die {
	uint64_t ready_ns;
	uint64_t read_end_ns[NAND_PLANES_MAX];	/* end of each plane's last read */
	struct naive_flight flight;	/* count 0: no command that changes cells */
	uint64_t busy_ns[NAND_NSOURCES];
};

struct naive_booking {
	uint64_t start_ns, end_ns;
	enum nand_source source;
	uint32_t owners;
	uint64_t owner;			/* number of the command since the beginning */
};

struct naive_channel {
	struct naive_booking *book;	/* in the order of booking */
	size_t count, room;
	uint64_t busy_ns[NAND_NSOURCES];
};

struct naive {
	struct nand_array_config c;
	struct nand *array;		/* where nand.h allows several states, the model takes over this array's */
	struct naive_page *page;
	struct naive_block *block;
	struct naive_die *die;
	struct naive_channel *channel;
	uint8_t *data, *oob;
	struct nand_stats stats;	/* counters; naive_stats() adds the levels */
	uint64_t last_submit_ns;		/* time of the last submit, or a later time that the array was told */
	uint64_t commands;
	bool powered;
	bool ageless;			/* raw errors depend on erases alone */
	uint64_t torn[NAND_NOPS], undone[NAND_NOPS];	/* commands that cuts interrupted */
	char why[256];			/* "": no difference found */
};

void naive_make(struct naive *n, const struct nand_array_config *c, struct nand *array);
void naive_free(struct naive *n);

/* Returns a set of rules (bit r) for which the call may be refused. 0: it must be accepted. */
uint32_t naive_broken(const struct naive *n, uint64_t now_ns, const struct nand_cmd *c,
		      unsigned int count);
/* Returns the same for one command alone: R1 to R4, R7, R9, R10. */
uint32_t naive_broken_alone(const struct naive *n, const struct nand_cmd *c);
/* Returns the end of the reads that the die has begun; 0: it has begun none since power-on. */
uint64_t naive_reads_end_ns(const struct naive_die *d);
/* May these commands begin on c[0]'s busy die now, as reads that suspend its group or beside other reads? */
bool naive_interposes(const struct naive *n, uint64_t now_ns, const struct nand_cmd *c, unsigned int count);

/*
 * Execute a legal call. c: inputs, and receives the outputs; hint: the array's results; fault: the results of its hook.
 */
void naive_submit(struct naive *n, uint64_t now_ns, struct nand_cmd *c, const struct nand_cmd *hint,
		  const enum nand_status *fault, unsigned int count);

void naive_refused(struct naive *n, uint64_t now_ns);

/* Adopt the array's state if nand.h allows it; otherwise set why. */
void naive_power_cut(struct naive *n, uint64_t at_ns);
void naive_power_on(struct naive *n);
/*
 * n->array is a new array on the same image. ending: a die whose erase was ending when the shell
 * died and may count twice; UINT32_MAX: none.
 */
void naive_reinit(struct naive *n, uint32_t ending);
void naive_reset_stats(struct naive *n);
void naive_stats(const struct naive *n, struct nand_stats *out);
uint32_t naive_erase_count(const struct naive *n, uint32_t block);
/*
 * Until its dies are used again, the array's counts may differ from the model's: the first by so
 * much more, the others by so much less.
 */
void naive_slack(const struct naive *n, uint64_t *programmed_pages, uint64_t *disturbs,
		 uint64_t *disturb_lost);
/* Compare the page with the result of peek(). */
void naive_check_page(struct naive *n, ppn_t p);

#define naive_differ(n, ...) \
	((n)->why[0] ? 0 : snprintf((n)->why, sizeof((n)->why), __VA_ARGS__))

/* ---- shared by the naive_*.c ---- */

/* Set [*from, *to) to the pages of PB pb in its block. */
void naive_pb_range(const struct nand_geometry *g, uint32_t pb, uint32_t *from, uint32_t *to);
/* Returns the page's type and word line; slc: its block is, or is programmed, in SLC mode. */
static inline uint32_t naive_type(const struct nand_geometry *g, bool slc, ppn_t p)
{
	return slc ? 0 : p.v % g->pages_per_block % g->bits_per_cell;
}

static inline uint32_t naive_line(const struct nand_geometry *g, bool slc, ppn_t p)
{
	return slc ? p.v % g->pages_per_block : p.v % g->pages_per_block / g->bits_per_cell;
}

/* Is the page's block in SLC mode? */
static inline bool naive_slc(const struct naive *n, ppn_t p)
{
	return n->block[p.v / n->c.geo.pages_per_block].slc;
}

/* Returns the ECC words that a read names; all: the whole page; 0: the spare area. */
uint32_t naive_words(const struct nand_geometry *g, uint32_t ecc_words);
/* Returns the bytes that a command transfers in either direction. */
uint64_t naive_bytes(const struct nand_array_config *c, const struct nand_cmd *cmd);
/*
 * Book the channel and compute the times of a group; c[].retries are known. Returns when the last
 * command ends; *cell_start_ns is the beginning of the cell phase.
 */
uint64_t naive_time(struct naive *n, uint64_t now_ns, uint64_t suspend_ns, struct nand_cmd *c,
		    unsigned int count, uint64_t *cell_start_ns);
/* Note the ends of reads, whose times are computed, for their planes. */
void naive_note_reads(const struct naive *n, struct naive_die *d, const struct nand_cmd *c, unsigned int count);
/* Compute the times of reads on a busy die: beside reads of other planes, or in a group that they suspend. */
void naive_read_beside(struct naive *n, uint64_t now_ns, struct naive_die *d, struct nand_cmd *c, unsigned int count);
void naive_suspend(struct naive *n, uint64_t now_ns, struct naive_die *d, struct nand_cmd *c, unsigned int count);

#endif
