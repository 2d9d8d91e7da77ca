/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * table.h - starts the program that reads and writes Parquet and Arrow files (slate_lib/tables.py), which are too
 * much for this library. A table that is read becomes lines in a pipe, and the parsers read these.
 *
 * The environment variable SLATE_TABLES has the path of that program; 'slate' sets it for the programs that it runs.
 */
#ifndef SLATE_TRACE_TABLE_H
#define SLATE_TRACE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "columns.h"

struct table_program {
	pid_t pid;		/* 0: it has ended */
	int fd;			/* its lines: we read them, or write them */
	int said;		/* its standard error: one line with the reason if it fails */
};

/*
 * Return the words of the program that reads columns c of a file (NULL or without columns: a table in the native
 * form), or that writes the file (`writes`); NULL: no memory, or SLATE_TABLES is not set. free() frees all.
 */
char **table_words(const char *kind, const char *file, const struct trace_columns *c, bool writes);
/* Returns false if it cannot be started. */
bool table_start(struct table_program *p, char *const words[], bool writes);
/* Close `fd` and wait for the program's end. Returns false with the reason in `why` if it failed. */
bool table_end(struct table_program *p, char *why, size_t room);
/* End the program, if it runs, whatever it is doing. */
void table_stop(struct table_program *p);

#endif
