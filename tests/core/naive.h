/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * naive.h - nand.h once more, in the plainest form: a second opinion on the array.
 *
 * Everything is stored for each page and looked up by walking over all of it: no
 * bit fields, no derived state, nothing lazy. It is slow and meant to be read
 * beside nand.h. Written from nand.h and array.h alone; whoever changes it to
 * follow the array has to find the reason there.
 *
 * The model is asked in two steps, since some answers are the array's to choose:
 * naive_broken() before a call says which rules it may be refused for, and
 * naive_submit() after a legal one takes what the array answered as a hint and
 * writes what it should have answered. The hint counts only where nand.h leaves a
 * choice (worn cells, raw errors) and only if it is among the choices.
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
	uint32_t disturbs;			/* of its smallest PB */
	uint32_t erased_from, erased_to;	/* pages [from, to) that its last erase named */
	bool must_erase;			/* R9 */
	bool any_oob;				/* programmed without OOB: bytes are the array's choice, once */
	uint32_t raw_min;			/* raw errors seen in its worst word since programmed */
	bool raw_seen;
};

struct naive_block {
	bool bad;
	uint32_t erase_commands;
	/* wear: the highest count that went well and the lowest that did not */
	uint32_t erase_good, erase_fail, program_good, program_fail;
};

/* A block as it was before a command: a cut may find that it never happened. */
struct naive_saved {
	uint32_t block;
	uint32_t erase_commands;
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
	bool looked_at;			/* a refused call came after its end */
	uint64_t cell_start_ns, end_ns;
	uint64_t reads_end_ns;		/* of the reads that it was suspended for last */
	uint32_t suspends;
	unsigned int saved_count;
	struct naive_saved saved[NAND_GROUP_MAX];
	uint64_t disturbs, disturb_lost;	/* counted for it */
};

struct naive_die {
	uint64_t ready_ns;
	struct naive_flight flight;	/* count 0: nothing that changes cells */
	uint64_t busy_ns[NAND_NSOURCES];
};

struct naive_booking {
	uint64_t start_ns, end_ns;
	enum nand_source source;
	uint64_t owner;			/* command, counted since the beginning */
};

struct naive_channel {
	struct naive_booking *book;	/* in the order of booking */
	size_t count, room;
	uint64_t busy_ns[NAND_NSOURCES];
};

struct naive {
	struct nand_array_config c;
	struct nand *array;		/* peeked at where nand.h leaves a choice */
	struct naive_page *page;
	struct naive_block *block;
	struct naive_die *die;
	struct naive_channel *channel;
	uint8_t *data, *oob;
	struct nand_stats stats;	/* counters; naive_stats() adds the levels */
	uint64_t last_submit_ns;		/* or a later time that the array was told */
	uint64_t commands;
	bool powered;
	bool ageless;			/* raw errors depend on erases alone */
	uint64_t torn[NAND_NOPS], undone[NAND_NOPS];	/* by cuts: commands */
	char why[256];			/* "": no disagreement */
};

void naive_make(struct naive *n, const struct nand_array_config *c, struct nand *array);
void naive_free(struct naive *n);

/* Bit r: the call may be refused for rule r. 0: it must be accepted. */
uint32_t naive_broken(const struct naive *n, uint64_t now_ns, const struct nand_cmd *c,
		      unsigned int count);
/* The same of one command for itself: R1 to R4, R7, R9, R10. */
uint32_t naive_broken_alone(const struct naive *n, const struct nand_cmd *c);
/* May reads go to the busy die of c[0] now? */
bool naive_suspends(const struct naive *n, uint64_t now_ns, const struct nand_cmd *c,
		    unsigned int count);

/* c: the inputs, gets the outputs; hint: what the array answered; fault: what its hook said. */
void naive_submit(struct naive *n, uint64_t now_ns, struct nand_cmd *c, const struct nand_cmd *hint,
		  const enum nand_status *fault, unsigned int count);

void naive_refused(struct naive *n, uint64_t now_ns);

/* Adopt what the array shows if nand.h allows it, else say so in why. */
void naive_power_cut(struct naive *n, uint64_t at_ns);
void naive_power_on(struct naive *n);
/*
 * n->array is a new one over the same image. ending: a die whose erase was just
 * ending when the shell died, and may count twice; UINT32_MAX: none.
 */
void naive_reinit(struct naive *n, uint32_t ending);
void naive_reset_stats(struct naive *n);
void naive_stats(const struct naive *n, struct nand_stats *out);
uint32_t naive_erase_count(const struct naive *n, uint32_t block);
/* How much more the one, and less the others may be until dies are used again. */
void naive_slack(const struct naive *n, uint64_t *programmed_pages, uint64_t *disturbs,
		 uint64_t *disturb_lost);
/* Does peek() show what this page holds? */
void naive_check_page(struct naive *n, ppn_t p);

#define naive_differ(n, ...) \
	((n)->why[0] ? 0 : snprintf((n)->why, sizeof((n)->why), __VA_ARGS__))

/* ---- shared by the naive_*.c ---- */

/* Pages [*from, *to) of the block that PB pb has. */
void naive_pb_range(const struct nand_geometry *g, uint32_t pb, uint32_t *from, uint32_t *to);
/* ECC words that a read names; all: the whole page; 0: the spare area. */
uint32_t naive_words(const struct nand_geometry *g, uint32_t ecc_words);
/* Transferred bytes of a command, either way. */
uint64_t naive_bytes(const struct nand_array_config *c, const struct nand_cmd *cmd);
/*
 * Book the channel and fill in the times of a group; c[].retries are known.
 * Returns when the last of it ends, and in *cell_start_ns when the cells begin.
 */
uint64_t naive_time(struct naive *n, uint64_t now_ns, uint64_t suspend_ns, struct nand_cmd *c,
		    unsigned int count, uint64_t *cell_start_ns);

#endif
