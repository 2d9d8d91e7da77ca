/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record_content.h - records a drive's requests with the data written, as a content trace
 * (docs/content-trace.md). The file has the name FILE.part until it is complete.
 */
#ifndef SLATE_RECORD_CONTENT_H
#define SLATE_RECORD_CONTENT_H

#include "ftl.h"
#include "slate.h"

struct record_content;

/* Begin a recording with content. Returns NULL with a sentence in err on an error. settings: lines for the head. */
struct record_content *record_content_open(const char *path, const char *settings,
				    char err[SLATE_ERR_BYTES]);
/* Call this before the drive gets the request, because it reads the host's data now. */
void record_content_submit(struct record_content *w, uint64_t now_ns, struct ftl_io *io,
		    const struct ftl_host *host);
/* Copy what was recorded of a write under way. Returns false if it was not recorded. */
bool record_content_copy(const struct record_content *w, const struct ftl_io *io, uint64_t at, void *buf, size_t len);
/* The request is over, or the drive has forgotten it. */
void record_content_end(struct record_content *w, const struct ftl_io *io);
/*
 * End the recording. keep: give the file its name; otherwise remove it. Returns false, after a message, if it could not
 * be written.
 */
bool record_content_close(struct record_content *w, bool keep);

#endif
