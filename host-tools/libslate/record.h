/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record.h - records every call to a drive as a trace in Slate's own format (docs/replay.md): what
 * was submitted and when, when the drive was told the time, and when each result became known. If
 * an equal drive is given these calls at these times, it does the same. The file has the name
 * FILE.part until it is complete.
 */
#ifndef SLATE_RECORD_H
#define SLATE_RECORD_H

#include "ftl.h"
#include "nand.h"
#include "slate.h"

struct record;

/*
 * Begin a recording. Returns NULL with a sentence in err on an error. mounted: the drive existed before. With FIFO
 * arbitration the column STREAM is 0, else the request's submission queue; priorities are recorded with weighted
 * arbitration.
 */
struct record *record_open(const char *path, const char *settings, bool mounted, enum ftl_arbitration arbitration,
			   char err[SLATE_ERR_BYTES]);
void record_submit(struct record *r, uint64_t now_ns, const struct ftl_io *io);
void record_step(struct record *r, uint64_t now_ns);
/* Record a completion. The drive calls this during the submit or step that was recorded last. */
void record_done(struct record *r, const struct ftl_io *io);
void record_mark(struct record *r, uint64_t now_ns, const struct slate_mark *mark);
/*
 * Write the array's counts and end the recording. keep: give the file its name; otherwise remove
 * it. Returns false, after a message on stderr, if the file could not be written.
 */
bool record_close(struct record *r, const struct nand_stats *end, bool keep);

#endif
