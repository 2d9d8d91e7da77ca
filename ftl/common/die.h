/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * die.h - whose turn it is on a die: the host's reads, its programs, or GC.
 *
 * A die executes one command at a time; independent plane reads of the page FTL (interpose() in read.c) are
 * to the die's turn one read that becomes longer. Each engine's die has a struct die_turn. It records when
 * the command ends, how long GC has used the die, how many reads have preceded a waiting program,
 * and GC's credit.
 *
 * Reads go before programs, but at most reads_in_row of them in a row while a program waits, so that
 * every write is served.
 *
 * GC's clock is the time that a die has given to GC so far. An operation that waits for the die
 * takes a reading when it is queued and another when it begins; the difference is how long it
 * waited behind GC.
 *
 * Credit (gc_mode = sliced). GC goes before host I/O on a die while it has credit there. The
 * host's program on the die sets the credit to gc_slice_pages; each program, copyback and erase
 * command that GC issues on the die takes one away, once, and its reads take none: a copy is
 * paid for by its program. The remaining credit expires when GC has nothing left to collect.
 */
#ifndef SLATE_DIE_H
#define SLATE_DIE_H

#include "die_due.h"
#include "ftl.h"

#define DIE_READS_IN_ROW 8u

struct die_turn {
	uint64_t ready_ns;	/* time at which the running command ends */
	uint64_t gc_ns;		/* time given to GC so far, including the running command */
	uint32_t gc_credit;
	uint32_t reads_in_row;	/* read commands since the last program */
};

/* Does a program that waits go before the next read? */
static inline bool die_reads_enough(const struct die_turn *t, const struct ftl_config *c)
{
	return t->reads_in_row >= (c->reads_in_row ? c->reads_in_row : DIE_READS_IN_ROW);
}

/* Issue commands of one die, which start together. A broken rule of nand.h is a fault of the FTL. */
static inline void die_command(struct nand *n, uint64_t now_ns, struct nand_cmd *c, unsigned int count)
{
	nand_submit(n, now_ns, c, count);
	for (unsigned int i = 0; i < count; i++)
		SSD_ASSERT(c[i].status != NAND_VIOLATION);
}

/* Make the idle die execute a command, of GC or another, from now_ns until until_ns. */
static inline void die_begin(struct die_due *ends, uint32_t die, struct die_turn *t, bool gc,
			     uint64_t now_ns, uint64_t until_ns)
{
	SSD_ASSERT(until_ns > now_ns);
	t->ready_ns = until_ns;
	if (gc)
		t->gc_ns += until_ns - now_ns;
	die_due_start(ends, die, until_ns);
}

/* Note that the running command was suspended and now ends at until_ns. GC's clock keeps counting if it is GC's. */
static inline void die_suspended(struct die_turn *t, bool gc, uint64_t until_ns)
{
	if (gc)
		t->gc_ns += until_ns - t->ready_ns;
	t->ready_ns = until_ns;
}

/* Returns GC's clock at now_ns. gc: GC has issued the running command. */
static inline uint64_t die_gc_clock(const struct die_turn *t, bool gc, uint64_t now_ns)
{
	return t->gc_ns - (gc && t->ready_ns > now_ns ? t->ready_ns - now_ns : 0);
}

/* Charge GC with a command of this kind, which it has issued on the die. */
static inline void die_charge(struct die_turn *t, enum nand_op op)
{
	if (t->gc_credit && op != NAND_READ)
		t->gc_credit--;
}

/* ---- orders to collect (struct ftl_ops.collect), of a plane or die ---- */

struct gc_order {
	uint32_t free_blocks;	/* GC runs until at least this many blocks are free, */
	bool victim;		/* or until one victim is collected; it also ends if no page can be freed */
};

static inline bool gc_order_stands(const struct gc_order *o, uint32_t free_blocks)
{
	return o->victim || free_blocks < o->free_blocks;
}

/* Make the order for collect(). free_blocks 0: collect one victim. */
static inline struct gc_order gc_order_of(uint32_t free_blocks)
{
	return (struct gc_order){ .free_blocks = free_blocks, .victim = !free_blocks };
}

#endif
