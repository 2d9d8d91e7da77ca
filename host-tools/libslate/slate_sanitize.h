/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slate_sanitize.h - a sanitize operation: the drive erases or overwrites every block that it can erase, and is empty
 * afterwards.
 *
 * States: idle -> (slate_sanitize) waiting, until the requests in flight have ended, and then until all dies are
 * idle -> erasing, one row of blocks after the other (sanitize.h) -> a mount of the blank array -> idle, with
 * SLATE_SANITIZE_DONE, or with SLATE_SANITIZE_FAILED if an erase or a program failed. Requests that are submitted
 * meanwhile end with SSD_E_BUSY (flushes: at once, without an error); orders to collect or to change a setting are
 * refused. While the drive erases, the FTL is gone with all that it held in memory, as after a power cut.
 *
 * To overwrite, the drive makes 1 to 16 passes over all rows. In each it erases a row and programs all of the row's
 * pages with the pattern, or with its complement: with SLATE_SANITIZE_INVERT passes take turns, so that the last one
 * has the pattern. In the last pass the row is erased again, because flash must be blank before it is programmed.
 *
 * The state and the next row are numbers that the image keeps (SPEC.md, head), so a power cut does not end the
 * operation: slate_power_on() goes on with the row that was interrupted. slate_open() of a drive file runs the rest of
 * an operation before the drive's time begins.
 *
 * A host that keeps a table of namespaces in the last mapping unit hands it over before the operation begins
 * (slate_keep_record()). Until the operation ends, the drive has it in the image's head, and answers reads of that unit
 * with it. When the blank drive is mounted, the drive writes it there, before it takes requests. If that is not
 * possible, the operation fails, and the drive goes on answering with the head's, past power cuts, until the host has
 * written another one.
 *
 * Blocks that were bad before stay as they are: the array refuses to erase them.
 */
#ifndef SLATE_SANITIZE_H_
#define SLATE_SANITIZE_H_

#include "slate.h"

/* Dword 10 of NVMe's command Sanitize, as far as the drive obeys it; an action other than OVERWRITE erases blocks. */
#define SLATE_SANITIZE_ACTION 7u
#define SLATE_SANITIZE_OVERWRITE 3u
#define SLATE_SANITIZE_PASSES 0xf0u	/* 0: 16 passes */
#define SLATE_SANITIZE_INVERT 0x100u

enum slate_sanitize_state {
	SLATE_SANITIZE_NEVER, SLATE_SANITIZE_RUNNING, SLATE_SANITIZE_DONE, SLATE_SANITIZE_FAILED,
};

struct slate_sanitize_status {
	enum slate_sanitize_state state;	/* of the last sanitize operation since the drive was made */
	uint32_t dw10;			/* the last one given to slate_sanitize() or slate_set_sanitize_dw10() */
	uint32_t row, rows;		/* RUNNING: the next row to be erased, and the number of rows, of all passes */
	uint32_t passes;		/* number of passes that have ended; 0 unless it overwrites */
	bool blank;			/* NEVER or DONE, no write was accepted since, and no page of a good block is
					 * programmed */
	uint64_t erase_ns;		/* duration of the erases of a whole operation */
	uint64_t overwrite_ns;		/* duration of 16 passes */
};

/* Can the drive be sanitized? Not while it is recorded. */
bool slate_sanitizes(const struct slate_dev *d);
/*
 * Begin an operation. pattern: for OVERWRITE, repeated over each page, lowest byte first. Returns SSD_OK; SSD_E_INVAL:
 * the drive cannot; SSD_E_BUSY: one is under way; SSD_E_POWER. The caller then calls slate_step().
 */
int slate_sanitize(struct slate_dev *d, uint64_t now_ns, uint32_t dw10, uint32_t pattern) SSD_MUST_CHECK;
/*
 * If the drive has namespaces (slate_namespaces()): the last mapping unit is to have these SLATE_RECORD_BYTES bytes,
 * and zeroes behind them, when the operation that begins next has ended; NULL: the unit is to be blank.
 */
#define SLATE_RECORD_BYTES 512u
void slate_keep_record(struct slate_dev *d, const void *record);
/* Change what the status has as dw10, while no operation is under way. */
void slate_set_sanitize_dw10(struct slate_dev *d, uint32_t dw10);
/* The host may have user data elsewhere than in the drive: it is not blank until the next operation. */
void slate_mark_written(struct slate_dev *d);
bool slate_is_sanitizing(const struct slate_dev *d);
void slate_sanitize_status(const struct slate_dev *d, struct slate_sanitize_status *out);

#endif
