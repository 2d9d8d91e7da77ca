/* SPDX-License-Identifier: GPL-2.0-or-later */
/* content.h - reads content traces (docs/content-trace.md): rows, and the data of writes. */
#ifndef SLATE_TRACE_CONTENT_H
#define SLATE_TRACE_CONTENT_H

#include "source.h"
#include "trace.h"

struct content;

/* Read the head. Returns NULL with a sentence in *why on an error. The caller keeps `in`. */
struct content *content_open(struct window *in, const char **why);
/* Do the same as content_open(), again from the beginning of the trace. */
int content_rewind(struct content *c, const char **why);
void content_close(struct content *c);
/* Read the next row. Returns 1: *row is filled; 0: the end, and all checks passed; -1: error in *why. */
int content_next(struct content *c, struct trace_row *row, const char **why);
/* Read the bytes [at, at + len) of the last write. Returns 0, or -1 with *why. */
int content_read(struct content *c, uint64_t at, void *buf, size_t len, const char **why);
void content_counts(const struct content *c, struct trace_content *out);
const char *content_settings(const struct content *c);
/* Does what trace_content_name() says. */
bool content_name(const struct content *c, char out[TRACE_SHA256_CHARS]);

#endif
