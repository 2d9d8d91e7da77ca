/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * source.h - the bytes of a trace: from a file, standard input or memory, and
 * unpacked if they are gzip or zstd (any number of members or frames).
 */
#ifndef SLATE_TRACE_SOURCE_H
#define SLATE_TRACE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct source;

/* Open a file. Returns NULL with a sentence in err on an error. name "-": standard input. */
struct source *source_open(const char *name, char *err, size_t room);
struct source *source_open_memory(const void *data, size_t len);
/* Does the file begin with these bytes, as it is on disk? */
bool source_begins(const struct source *s, const char *what);
/*
 * Make a source of the lines that a program prints about `file`, which the new source owns, as it owns the program's
 * words (table.h). Returns NULL, and frees both, if the program cannot be started.
 */
struct source *source_of_program(struct source *file, char **words);
/* Read bytes, unpacked. Returns their number, 0 at the end, or -1 with a sentence in *why. */
long source_read(struct source *s, char *out, size_t room, const char **why);
/* Start again from the first byte. Returns 0, or -1 with a sentence in *why. */
int source_rewind(struct source *s, const char **why);
void source_close(struct source *s);
/*
 * A part of the source in memory: buf[at, end) are bytes not used yet. window_more() moves them to
 * the front and reads more. It returns 0, or -1 with a sentence in *why.
 */
#define WINDOW_BYTES ((size_t)256 << 10)
struct window {
	struct source *source;
	char *buf;
	size_t at, end;
	bool over;			/* the source has no more bytes */
};
int window_more(struct window *w, const char **why);

/*
 * Returns how much of the file has been read, in bytes of the file, which may be packed; *all 0:
 * unknown.
 */
void source_progress(const struct source *s, uint64_t *done, uint64_t *all);
/* Does what trace_sha256() says. */
bool source_sha256(struct source *s, char *out);

#endif
