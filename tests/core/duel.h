/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * duel.h - runs the array and the naive model side by side: each call goes to both, and all visible
 * state of the array is compared. The first difference is kept in model.why; after it the two are
 * no longer compared.
 */
#ifndef SLATE_TEST_DUEL_H
#define SLATE_TEST_DUEL_H

#include "naive.h"

#define DUEL_OOB_MAX 64u

struct duel {
	struct nand_array_config c;
	struct nand *n;
	struct nand_array *a;
	void *mem, *image;
	struct nand *other;		/* target of copies; it holds an older state */
	void *other_mem, *other_image;
	uint8_t *before;		/* image before a call that must be refused */
	struct naive model;
	uint64_t now_ns, steps;
	bool trace;			/* print every call */

	/* results of the hooks in the current call */
	const enum nand_status *fault;
	unsigned int faults_asked, violations_heard, done_heard;
	enum nand_rule heard;
	bool quiet;			/* the call has no hooks */

	/* the shell dies in the die_in-th hook of the call; copy of the image at that moment */
	uint32_t die_in;
	bool ending;			/* that hook belongs to an erase that had ended */
	uint8_t *died;

	uint64_t refused[NAND_NRULES];	/* refused calls since duel_make() */
	uint64_t done[NAND_NOPS], quiet_calls, cuts, reinits, copies, deaths;
	struct nand_stats sums;		/* counters that resets and reinits would lose */
};

void duel_make(struct duel *d, const struct nand_array_config *c);
void duel_free(struct duel *d);
static inline bool duel_parted(const struct duel *d)
{
	return d->model.why[0] != 0;
}

/* cmds are inputs and not changed. fault: one for each command. The time advances to now_ns. */
void duel_submit(struct duel *d, uint64_t now_ns, const struct nand_cmd *cmds,
		 const enum nand_status *fault, unsigned int count);
/* The same, but the shell dies in the hook-th hook of the call, and the image is opened again. */
void duel_submit_and_die(struct duel *d, uint64_t now_ns, const struct nand_cmd *cmds,
			 const enum nand_status *fault, unsigned int count, uint32_t hook);
void duel_cut(struct duel *d, uint64_t at_ns, uint64_t seed);
void duel_power_on(struct duel *d);
void duel_reinit(struct duel *d);	/* the process has died, and another one opens the image */
void duel_copy(struct duel *d);		/* continue with the copy */
void duel_mark_bad(struct duel *d, uint32_t block);
void duel_reset_stats(struct duel *d);
void duel_age(struct duel *d, uint64_t ns);
void duel_passed(struct duel *d);	/* the time has advanced to now_ns */
void duel_check_all(struct duel *d);
void duel_keep_sums(struct duel *d);	/* add the counters to sums, before they are lost */

#endif
