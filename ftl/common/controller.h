/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * controller.h - the drive's processors, in front of any FTL.
 *
 * An FTL without a controller adds overhead_ns and map_ns to every I/O, at any load, as if the
 * number of cores were unlimited. With cores > 0 these times are work for that many cores, and an
 * I/O waits until a core is free:
 *
 *   command    overhead_ns, and map_ns for each mapping unit of a read or write (one for a
 *              trim or flush), in one piece, from submit() on; at its end the FTL gets the I/O
 *   completion completion_ns, from the moment at which the FTL has completed the I/O
 *
 * Work is done in the order in which it becomes ready; at one moment completions come before
 * commands. It goes to the core that is free first, and of several to the one with the lowest
 * number. It is never interrupted. So if nothing else limits the drive, it completes `cores` I/Os
 * every overhead_ns + units * map_ns + completion_ns. With `arbitration` other than fifo, commands
 * wait until a core is free, and the arbiter then chooses among them (arbiter.h).
 *
 * The FTL gets writes, trims and flushes in the order in which cores take them (with fifo, that of
 * submit()), because its durability depends on it (ftl.h). If the command of such an I/O ends before
 * that of an earlier one, the I/O waits, but its core is free. Reads do not wait.
 *
 * The controller is the FTL's `struct ftl_host`, and the FTL's own map_ns and overhead_ns are 0.
 * While the FTL does not work on an I/O, the I/O is on a list of the controller. Between the command
 * and the FTL a read may find its data in a read cache, or wait for them there (rcache.h).
 *
 * With dram_mb_s, data cross the controller's memory (memory.h): a write's from the moment at which a
 * core takes its command, before the FTL gets it; a read's after the FTL's or the cache's answer.
 *
 * Invariants:
 *   CTL1  `ios` counts the I/Os that were accepted and have not ended: those on a list, those with the
 *         arbiter, and those that the FTL has;
 *   CTL2  each list of due I/Os is sorted by done_ns, and no I/O on it was due before the time of the
 *         last call;
 *   CTL3  the parts of an I/O's time add up to its latency (asserted when it ends).
 *
 * Cost: O(I/Os on a list) for each that is not the last of it, O(cores) for a piece of work.
 */
#ifndef SLATE_CONTROLLER_H
#define SLATE_CONTROLLER_H

#include "ftl.h"

#define CONTROLLER_CORES_MAX 64u

extern const struct knob_table controller_knobs;	/* knob table; offsets count in struct ftl_config */

/* Do what ftl_footprint() and ftl_init() do, with a controller in front if c->cores is not 0. */
size_t controller_footprint(const struct ftl_ops *ops, const struct ftl_config *c,
			    const struct nand_geometry *g);
int controller_init(const struct ftl_ops *ops, void *mem, size_t len, const struct ftl_config *c,
		    struct nand *n, const struct ftl_host *host, struct ftl **out) SSD_MUST_CHECK;
/*
 * Take arbitration_burst and the weights from c; the kind of arbitration is as before, and not FIFO. What is left of a
 * turn or of a class's weight stays: the new numbers hold from the next turn and the next round on.
 */
void controller_rearbitrate(struct ftl *f, const struct ftl_config *c);
/* Returns the setting of the arbiter with this name that may change while the drive runs; NULL: there is none. */
const struct knob *controller_online_knob(const char *name, size_t len);
/* Returns the FTL behind a controller, or f itself if there is none: for checkers. */
const struct ftl *controller_behind(const struct ftl *f);

#endif
