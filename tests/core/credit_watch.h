/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * credit_watch.h - checks that GC's credit on each die follows die.h. Call credit_watch() from the
 * array's hook `done`. At each command it compares the die's credit with the credit at the previous
 * command and the kind of that command. It uses the three engines' private structs.
 */
#ifndef SLATE_TEST_CREDIT_WATCH_H
#define SLATE_TEST_CREDIT_WATCH_H

#include "ftl.h"

#define CREDIT_DIES 64u

struct credit_watch {
	struct {
		bool seen;
		uint32_t credit;	/* credit when the last command was issued */
		enum nand_op op;
		enum nand_source source;
	} die[CREDIT_DIES];
	uint64_t charged;		/* number of commands that used credit */
};

/* Begin again, after the FTL was initialised. */
void credit_watch_begin(struct credit_watch *w);
/* Commands were issued on one die, and have not changed the credit yet. */
void credit_watch(struct credit_watch *w, const struct ftl *f, const struct nand_cmd *c);

#endif
