/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record_content.h - a drive's requests with what is written, as a content trace
 * (docs/content-trace.md). The file is FILE.part until it is whole.
 */
#ifndef SLATE_RECORD_CONTENT_H
#define SLATE_RECORD_CONTENT_H

#include "ftl.h"
#include "slate.h"

struct record_content;

/* NULL with a sentence in err. settings: lines for its head. */
struct record_content *record_content_open(const char *path, const char *settings,
				    char err[SLATE_ERR_BYTES]);
/* Before the drive gets the request: the data are asked of the host now. */
void record_content_submit(struct record_content *w, uint64_t now_ns, struct ftl_io *io,
		    const struct ftl_host *host);
/* keep: the file gets its name; else there is none. False (explained): it could not be written. */
bool record_content_close(struct record_content *w, bool keep);

#endif
