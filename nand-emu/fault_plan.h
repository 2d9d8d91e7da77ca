/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fault_plan.h - failures on request: which commands of an array fail, which pages have wrong
 * bits. The hooks of the array's owner (array.h) call it; the plan knows neither the array nor
 * time. It is in the owner's memory, not in the image, so it is lost when the owner ends.
 *
 *   PROGRAM, ERASE  waiting (left: it is the left-th of its kind and die from now on)
 *                   -> done (left 0), when that command fails
 *   FLIP            in force (left 1) -> over (left 0), when its cells are erased. A copyback of
 *                   the page copies the wrong bits.
 *
 * Entries stay where they are until the plan is cleared. These failures are in addition to those by
 * wear and raw errors. Cost: O(entries) for each command.
 */
#ifndef SLATE_FAULT_PLAN_H
#define SLATE_FAULT_PLAN_H

#include "nand.h"

#define FAULT_PLAN_MAX 32u
#define FAULT_ANY_DIE 0xffffffffu

enum fault_kind { FAULT_PROGRAM = 1, FAULT_ERASE = 2, FAULT_FLIP = 3 };

struct fault {
	enum fault_kind kind;
	uint32_t die;		/* PROGRAM, ERASE; or FAULT_ANY_DIE */
	uint64_t left;
	ppn_t ppn;		/* FLIP: page; PROGRAM, ERASE: page that failed */
	uint32_t bits;		/* FLIP: wrong bits in each ECC word */
	uint32_t hits;		/* number of commands affected */
};

struct fault_plan {
	struct fault entry[FAULT_PLAN_MAX];
	uint32_t count;
};

/* Returns what is wrong with f on such an array, or NULL. */
const char *fault_refused(const struct fault *f, const struct nand_geometry *g);
/* Returns false if there is no room. The caller has checked f with fault_refused(). */
bool fault_plan_add(struct fault_plan *p, const struct fault *f) SSD_MUST_CHECK;
void fault_plan_clear(struct fault_plan *p);
/* Implements nand_hooks.fault for a command that takes effect. */
enum nand_status fault_plan_ask(struct fault_plan *p, const struct nand_geometry *g,
				const struct nand_cmd *c);
/* Implements nand_hooks.flips: wrong bits in each ECC word of a page that is being read. */
uint32_t fault_plan_flips(struct fault_plan *p, ppn_t page);

#endif
