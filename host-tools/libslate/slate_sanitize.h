/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slate_sanitize.h - a sanitize operation: the drive erases every block that it can erase, and is empty afterwards.
 *
 * States: idle -> (slate_sanitize) waiting, until the requests in flight have ended, and then until all dies are
 * idle -> erasing, one row of blocks after the other (sanitize.h) -> a mount of the blank array -> idle, with
 * SLATE_SANITIZE_DONE, or with SLATE_SANITIZE_FAILED if an erase failed. Requests that are submitted meanwhile end
 * with SSD_E_BUSY (flushes: at once, without an error); orders to collect or to change a setting are refused. While the
 * drive erases, the FTL is gone with all that it held in memory, as after a power cut.
 *
 * The state and the next row are numbers that the image keeps (SPEC.md, head), so a power cut does not end the
 * operation: slate_power_on() goes on with the row that was interrupted. slate_open() of a drive file runs the rest of
 * an operation before the drive's time begins.
 *
 * Blocks that were bad before stay as they are: the array refuses to erase them.
 */
#ifndef SLATE_SANITIZE_H_
#define SLATE_SANITIZE_H_

#include "slate.h"

enum slate_sanitize_state {
	SLATE_SANITIZE_NEVER, SLATE_SANITIZE_RUNNING, SLATE_SANITIZE_DONE, SLATE_SANITIZE_FAILED,
};

struct slate_sanitize_status {
	enum slate_sanitize_state state;	/* of the last sanitize operation since the drive was made */
	uint32_t tag;			/* the last one given to slate_sanitize() or slate_set_sanitize_tag() */
	uint32_t row, rows;		/* RUNNING: the next row to be erased, and the number of rows */
	bool blank;			/* NEVER or DONE, no write was accepted since, and no page of a good block is
					 * programmed */
	uint64_t erase_ns;		/* duration of the erases of a whole operation */
};

/* Can the drive be sanitized? Not while it is recorded, and not if a host may create namespaces. */
bool slate_sanitizes(const struct slate_dev *d);
/*
 * Begin an operation. Returns SSD_OK; SSD_E_INVAL: the drive cannot; SSD_E_BUSY: one is under way; SSD_E_POWER. The
 * caller then calls slate_step().
 */
int slate_sanitize(struct slate_dev *d, uint64_t now_ns, uint32_t tag) SSD_MUST_CHECK;
void slate_set_sanitize_tag(struct slate_dev *d, uint32_t tag);	/* kept with the state for the shell */
bool slate_is_sanitizing(const struct slate_dev *d);
void slate_sanitize_status(const struct slate_dev *d, struct slate_sanitize_status *out);

#endif
