/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record.h - every call into a drive, written down as a trace of Slate's own
 * format (docs/replay.md): what was submitted when, when the drive was told the
 * time, and what became known when. Replayed with these times, an equal drive
 * does the same. The file is FILE.part until it is whole.
 */
#ifndef SLATE_RECORD_H
#define SLATE_RECORD_H

#include "ftl.h"
#include "nand.h"
#include "slate.h"

struct record;

/* NULL with a sentence in err. mounted: the drive was there before. */
struct record *record_open(const char *path, const char *settings, bool mounted,
			   char err[SLATE_ERR_BYTES]);
void record_submit(struct record *r, uint64_t now_ns, const struct ftl_io *io);
void record_step(struct record *r, uint64_t now_ns);
/* Called from within the submit or step that was recorded last. */
void record_done(struct record *r, const struct ftl_io *io);
void record_mark(struct record *r, uint64_t now_ns, const struct slate_mark *mark);
/* Adds the array's counts, and gives the file its name; says on stderr if it cannot. */
/* keep: the file gets its name; else there is none. False (explained): it could not be written. */
bool record_close(struct record *r, const struct nand_stats *end, bool keep);

#endif
