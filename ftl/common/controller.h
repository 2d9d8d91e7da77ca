/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * controller.h - the drive's processors, in front of any FTL.
 *
 * An FTL by itself adds overhead_ns and map_ns to every I/O, at any load: that is a
 * controller with as many cores as there is work. With cores > 0 the same times are work
 * for that many cores, and an I/O waits for one:
 *
 *   command    overhead_ns, and map_ns for each mapping unit of a read or write (one for a
 *              trim or flush), in one piece, from submit() on; at its end the FTL gets the I/O
 *   completion completion_ns, from the moment at which the FTL has done it
 *
 * Work goes to the core that is free first, of several to the lowest number, in the order in
 * which it becomes ready: completions of a moment before commands. Work is never interrupted.
 * So a drive of which nothing else is busy completes cores I/Os every overhead_ns +
 * units * map_ns + completion_ns.
 *
 * The FTL gets writes, trims and flushes in the order of submit(), on which its durability
 * rests (ftl.h): one whose command ends before that of an earlier one waits for it, but
 * its core does not. Reads do not wait.
 *
 * The FTL sits behind: its `struct ftl_host` is the controller, and its times map_ns and
 * overhead_ns are 0. A list of the controller has the I/O before and after the FTL has it.
 *
 * Invariants:
 *   C1  `ios` counts the I/Os that were accepted and have not ended: those on a list, and
 *       those that the FTL has;
 *   C2  each list is sorted by done_ns, and its first is not due before the last call;
 *   C3  where an I/O's time went adds up to its latency (asserted when it ends).
 *
 * Cost: O(I/Os on a list) for each that is not the last of it, O(cores) for a piece of work.
 */
#ifndef SLATE_CONTROLLER_H
#define SLATE_CONTROLLER_H

#include "ftl.h"

#define CONTROLLER_CORES_MAX 64u

extern const struct knob_table controller_knobs;	/* knob table; offsets count in struct ftl_config */

/* Like ops->footprint() and ops->init(), with a controller in front if c->cores is not 0. */
size_t controller_footprint(const struct ftl_ops *ops, const struct ftl_config *c,
			    const struct nand_geometry *g);
int controller_init(const struct ftl_ops *ops, void *mem, size_t len, const struct ftl_config *c,
		    struct nand *n, const struct ftl_host *host, struct ftl **out) SSD_MUST_CHECK;
/* Returns the FTL behind a controller, or f itself if there is none: for checkers. */
const struct ftl *controller_behind(const struct ftl *f);

#endif
