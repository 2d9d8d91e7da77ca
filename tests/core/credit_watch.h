/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * credit_watch.h - is GC's credit on each die what die.h says? Call credit_watch() from the
 * array's hook `done`: at each command it compares the die's credit with the one at the command
 * before and with what that command was. It knows the three engines' private structs.
 */
#ifndef SLATE_TEST_CREDIT_WATCH_H
#define SLATE_TEST_CREDIT_WATCH_H

#include "ftl.h"

#define CREDIT_DIES 64u

struct credit_watch {
	struct {
		bool seen;
		uint32_t credit;	/* when the last command was issued */
		enum nand_op op;
		enum nand_source source;
	} die[CREDIT_DIES];
	uint64_t charged;		/* commands that took credit away */
};

/* The FTL was made anew. */
void credit_watch_begin(struct credit_watch *w);
/* Commands were issued on one die, and what they change of the credit is not changed yet. */
void credit_watch(struct credit_watch *w, const struct ftl *f, const struct nand_cmd *c);

#endif
