/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slate_power.h - cut a drive's power at a nanosecond, and mount it again, while its
 * shell lives on. The array stays in memory or in its file; the FTL's state is lost.
 *
 * States: on -> (slate_power_cut: planned) -> off, in the first slate_submit() or slate_step()
 * whose now_ns has reached the planned time -> slate_power_on() -> on. slate_step() returns that
 * time as its next call. If it is called late, the drive's earlier work is late, but the cut is at
 * the planned time.
 *
 * At the time T the drive first does all work due by T, then the array loses its power: commands
 * that have ended by T are durable, others are torn or leave no trace (nand.h). Requests that
 * done() has reported with done_ns <= T are complete. All others are lost: if done() has not
 * reported a request, it never will; if it has reported a later done_ns, the shell must cancel the
 * completion. The FTL's durability determines whether the data of a lost write exist afterwards.
 *
 * With ftl.power_protected the capacitors program the write buffer from T on (save.h), so the array loses its power
 * later, and no command is torn. A drive that gets its power back before that mounts after it. slate_close() is a loss
 * of power at the time of the last call.
 *
 * If the content of a drive file turns out to contradict itself, the drive loses its power in
 * slate_submit() or slate_step(), and does not get it back.
 *
 * Off: submitted requests are lost, slate_step() returns FTL_IDLE, and no request is in flight.
 *
 * A mount is not interrupted: a cut that is planned within a mount occurs at its end.
 */
#ifndef SLATE_POWER_H
#define SLATE_POWER_H

#include "slate.h"

enum slate_cut_when {
	SLATE_CUT_NEVER,		/* cancels a plan */
	SLATE_CUT_NOW,
	SLATE_CUT_AFTER_COMMANDS,	/* when the value-th NAND command from now on ends */
	SLATE_CUT_AT_NS,		/* when the drive's clock reaches value */
	SLATE_CUT_AFTER_MARK,		/* value nanoseconds after the first mark with the plan's label */
};

enum slate_cut_what {
	SLATE_CUT_POWER,
	SLATE_CUT_CONTROLLER,	/* only the controller loses its memory, and with it the write buffer, even with
				 * capacitors. NAND commands in their cell phase end, so no page is torn. The rest is as
				 * with SLATE_CUT_POWER */
};

struct slate_cut_plan {
	enum slate_cut_when when;
	uint64_t value;
	uint64_t seed; /* seed; with the number of earlier cuts it selects the content of torn cells */
	enum slate_cut_what what;
	char label[SLATE_LABEL_BYTES];	/* of SLATE_CUT_AFTER_MARK */
};

/* The latest planned time, 36 years: a shell may add to it in signed nanoseconds. */
#define SLATE_CUT_NS_MAX (UINT64_C(1) << 60)

/*
 * Plan a cut, which replaces any earlier plan. Returns SSD_E_INVAL, with a message, if the time has
 * passed.
 */
int slate_power_cut(struct slate_dev *d, uint64_t now_ns, const struct slate_cut_plan *plan,
		    char err[SLATE_ERR_BYTES]) SSD_MUST_CHECK;
/*
 * The guest has set a mark (slate_mark(), also one that was refused). Returns true if a planned cut thereby has its
 * time, so that the shell must call slate_step().
 */
bool slate_power_mark(struct slate_dev *d, uint64_t now_ns, const char label[SLATE_LABEL_BYTES]);
bool slate_powered(const struct slate_dev *d);
/*
 * Note that the host has ended its work: until the next write or trim a loss of power does not count as an unsafe
 * shutdown.
 */
void slate_shut_down(struct slate_dev *d);
/*
 * Turn the power on at now_ns, at or after the cut: a new FTL mounts from flash. I/Os that are
 * submitted before the mount has ended begin then. Statistics continue and include the mount's
 * commands.
 *
 * If the FTL cannot mount what flash holds, the drive stays off and without an FTL: statistics, logs
 * and marks continue without the FTL's part. It may be tried again.
 */
int slate_power_on(struct slate_dev *d, uint64_t now_ns, char err[SLATE_ERR_BYTES]) SSD_MUST_CHECK;

/* With ftl.power_protected: what the capacitors did after the last cut (save.h). */
struct slate_save {
	uint64_t ns; /* from the cut until the array lost its power; 0: nothing, or not protected */
	uint64_t ops[NAND_NOPS];	/* NAND commands begun in that time */
	uint32_t left_pages; /* pages of the write buffer that were lost, because the energy was used up or
					 * no block was left */
};

/* Timestamps use the shell's clock. */
struct slate_power {
	bool on;
	bool planned;
	uint32_t cuts;			/* number of cuts since the drive was opened */
	uint64_t planned_ns;		/* planned time; FTL_IDLE: none, or the cut is planned by commands */
	/* The last cut (cuts > 0): */
	uint64_t cut_ns;
	uint32_t lost_ios;		/* accepted but not completed when the power was cut */
	uint32_t torn[NAND_NOPS];	/* commands in their cell phase */
	uint32_t undone[NAND_NOPS];	/* commands given to a die that had not reached their cell phase; reads are
					 * not counted */
	struct slate_save save;
	/* The last mount of a drive that existed: after a cut, or from its file, before time 0. */
	uint32_t mounts;
	uint64_t on_ns, ready_ns;	/* valid if mounts > 0; from a file on_ns is 0, and ready_ns is the duration */
	uint64_t mount_ops[NAND_NOPS];	/* NAND commands of the mount */
	uint64_t mount_reads[NAND_NSOURCES];	/* its reads by source */
};

void slate_get_power(const struct slate_dev *d, struct slate_power *out);

#endif
