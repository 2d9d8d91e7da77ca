/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace.h - block traces of every format that Slate reads, as rows of one form.
 *
 * A trace is a file (plain, gzip or zstd; told by its first bytes), "-" for
 * standard input, a piece of memory, or a generator ("gen:...", see below). It
 * is read once, from front to back, in constant memory.
 *
 * Formats, told from the first 256 KiB (detect.h) unless one is forced:
 *   native    "# slate-trace 1", then lines NS STREAM OP [OFFSET BYTES [WORDS]],
 *             OP one of read, write, trim, flush; see docs/replay.md. Also what a
 *             drive records: step and done
 *   msr, ssdsim, disksim, alibaba, tencent, systor, k5cloud, fiu, spc, cloudphysics
 *             text of fixed columns: columns.c has their table and sources
 *   csv       text of columns that the user names
 *   blkparse  blkparse's default text: MAJ,MIN CPU SEQ S.NS PID ACTION RWBS SECTOR + N;
 *             one ACTION counts (default Q), everything else is passed over
 *   fio       fio's iolog, version 2 (no times but 'wait') or 3 (times in us); rows of actions that fio
 *             does not know are passed over, as fio does
 *   ftrace    text of ftrace and trace-cmd, block_rq_issue or another event
 *   blktrace, vscsi, oracleGeneral
 *             binary records: parse_blk.c and parse_records.c have their fields and sources
 *   content   Slate's, with what is written: see docs/content-trace.md
 *   parquet, arrow
 *             tables, of columns that the user names or of those that 'slate trace convert' writes; a program reads
 *             them (table.h)
 *
 * The name of a generator is "gen:KIND,key=value,...". KIND is rand, zipf or seq with a request size,
 * such as rand4k or seq128k; rand and zipf also with up to 8 sizes and their weights (1 if left out):
 * rand4k:3+64k:1 has three requests of 4 KiB for one of 64 KiB.
 *   foot=SIZE   so many bytes of the drive (must be given), from byte
 *   from=SIZE   on; default 0
 *   n=N         requests (rand, zipf: must be given; seq: default once over foot)
 *   theta=X     zipf: skew, 0.001 .. 5; default 0.99 (skew.h)
 *   hot=A:B     rand: B per cent of the requests go to the first A per cent of foot
 *   seed=N      of the random numbers, 1 ..; default 1
 *   read=PERMILLE  so many of 1000 are reads; default 0
 *   fill=SIZE   first write foot in order in requests of SIZE; default: do not
 *   gap=NS      between arrivals; default 0
 *   content=KIND  content of writes: zero, random, text or similar (gen.h); default: no content
 * SIZE takes K, M, G or KiB, MiB, GiB. Random: Marsaglia's xorshift64 (13, 7, 17),
 * request i at (number mod foot / size) * size; with several sizes, foot has places of the smallest,
 * and a request begins at the multiple of its own size that holds the place.
 *
 * No line is dropped silently: a row that cannot be read is bad; it is reported to options.bad with
 * its line, and counted. Lines that are no requests are counted, too. The caller decides how to
 * treat a row of 0 bytes or one beyond the drive.
 */
#ifndef SLATE_TRACE_H
#define SLATE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "columns.h"
#include "nand_counters.h"

#define TRACE_ERR_BYTES 512
#define TRACE_ANY_DEVICE UINT64_MAX
#define TRACE_SHA256_CHARS 65
#define TRACE_BYTES_MAX ((uint64_t)1 << 62)	/* upper limit of a request's end */

enum trace_format {
	TRACE_AUTO, TRACE_NATIVE, TRACE_MSR, TRACE_SSDSIM, TRACE_DISKSIM, TRACE_ALIBABA, TRACE_TENCENT, TRACE_SYSTOR,
	TRACE_K5CLOUD, TRACE_FIU, TRACE_SPC, TRACE_CLOUDPHYSICS, TRACE_CSV, TRACE_BLKPARSE, TRACE_FIO, TRACE_FTRACE,
	TRACE_BLKTRACE, TRACE_VSCSI, TRACE_ORACLE, TRACE_CONTENT,
	TRACE_PARQUET, TRACE_ARROW, TRACE_GENERATED,
	TRACE_NFORMATS
};
extern const char *const trace_format_names[TRACE_NFORMATS + 1];	/* NULL-terminated */
extern const char trace_format_list[];		/* what --format takes, for messages */

#define TRACE_PRIORITY_MAX 3u

enum trace_op {
	TRACE_READ, TRACE_WRITE, TRACE_TRIM, TRACE_FLUSH,
	TRACE_STEP,		/* native: the shell passed the time at_ns to the drive */
	TRACE_DONE,		/* native: request number `offset` took `bytes` ns, with status */
};

enum trace_crossing {		/* enum ftl_crossing (ftl.h) */
	TRACE_CROSS_ALL, TRACE_CROSS_COMMAND, TRACE_CROSS_NOTHING,
};

struct trace_row {
	uint64_t at_ns;		/* time on the trace's own clock */
	uint64_t device;	/* disk, volume, MAJ << 20 | MIN, number of the file, or stream */
	uint64_t offset, bytes;
	uint64_t line;		/* number of the line or record, from 1 on */
	enum trace_op op;
	bool fua;
	uint8_t handle;		/* WRITE: placement handle; 0 if the row names none */
	uint8_t priority;	/* of its submission queue: enum arbiter_class; 0 if the row names none */
	uint8_t crossing;	/* native: enum trace_crossing */
	bool lost;		/* native: a write of lost content */
	int32_t status;		/* DONE: enum ssd_err */
};

struct trace_object {		/* oracleGeneral: how an object's number is an address */
	uint64_t unit;			/* in bytes */
	uint8_t op;			/* enum trace_op of all rows */
};

struct trace_options {
	enum trace_format format;	/* AUTO: determined from the first lines */
	struct trace_columns columns;	/* CSV, PARQUET, ARROW: what the user named */
	struct trace_object object;	/* ORACLE */
	bool untimed;			/* the caller uses no arrival times (detect.h) */
	uint64_t device;		/* only rows of this device; or TRACE_ANY_DEVICE */
	char action;			/* blkparse, blktrace, ftrace: only events of this action; 0: the usual ones */
	/* The reader calls this function for each bad row, with its line and the reason. */
	void (*bad)(void *opaque, const char *name, uint64_t line, const char *why);
	void *opaque;
};

struct trace_counts {
	uint64_t lines;
	uint64_t rows;			/* rows returned */
	uint64_t bad;
	uint64_t other;			/* comments, headers, events of another action, open and close */
	uint64_t passed;		/* rows of operations that are no requests: fio's unknown actions, rows without
					 * one */
	uint64_t other_devices;		/* rows skipped because of options.device */
};

struct trace;

/* Open a trace. Returns 0, or -1 with a sentence in err that names the file and the fix. */
int trace_open(struct trace **out, const char *name, const struct trace_options *o,
	       char err[TRACE_ERR_BYTES]) __attribute__((warn_unused_result));
int trace_open_memory(struct trace **out, const void *data, size_t len,
		      const struct trace_options *o, char err[TRACE_ERR_BYTES])
		      __attribute__((warn_unused_result));
/*
 * Read the next row. Returns 1: *row is filled; 0: the trace has ended; -1: it cannot be read further, see
 * trace_error().
 */
int trace_next(struct trace *t, struct trace_row *row) __attribute__((warn_unused_result));
const char *trace_error(const struct trace *t);
/* Start again from the first row (not for standard input). Returns 0, or -1 like trace_next(). */
int trace_rewind(struct trace *t) __attribute__((warn_unused_result));
void trace_close(struct trace *t);

const char *trace_name(const struct trace *t);
enum trace_format trace_format(const struct trace *t);
/* Did rows come from more than one device? */
bool trace_many_devices(const struct trace *t);
void trace_get_counts(const struct trace *t, struct trace_counts *out);
/* Returns the "# set section.key=value" lines of a native head, NULL-terminated, or NULL if there are none. */
const char *const *trace_settings(const struct trace *t);
/*
 * For a recording: did the drive exist before the recording? And, after its end, the counts of the
 * array's commands.
 */
#define TRACE_END_OPS 4u
#define TRACE_END_SOURCE(ID, ...) TRACE_END_##ID,
enum trace_end_source { NAND_SOURCES(TRACE_END_SOURCE) TRACE_END_SOURCES };
bool trace_was_mounted(const struct trace *t);
bool trace_end_ops(const struct trace *t, uint64_t out[TRACE_END_OPS][TRACE_END_SOURCES]);

/* Does the trace have the data of writes? Content traces do, and generators with content. */
bool trace_has_content(const struct trace *t);
/* Read the bytes [at, at + len) of the last write. Returns 0, or -1 like trace_next(). */
int trace_read_content(struct trace *t, uint64_t at, void *buf, size_t len)
		       __attribute__((warn_unused_result));
/* Get the statistics of a content trace, up to the last row. Returns false for other traces. */
struct trace_content {
	uint64_t pieces;		/* pieces written, at most 4 KiB each, cut at multiples of 4 KiB */
	uint64_t zeroes;		/* pieces that are all zeroes */
	uint64_t blocks;		/* distinct blocks without the all-zero one */
};
bool trace_get_content(const struct trace *t, struct trace_content *out);
/* Returns the settings of the recorded drive, one a line; NULL for other traces. */
const char *trace_content_settings(const struct trace *t);
/*
 * Store the hash of the content of a content trace in `out`. It is independent of packing. Returns
 * false unless the trace was read to its end.
 */
bool trace_content_name(const struct trace *t, char out[TRACE_SHA256_CHARS]);

/* Returns how much has been read, and the total; all 0: unknown. */
void trace_progress(const struct trace *t, uint64_t *done, uint64_t *all);
/*
 * Returns the SHA-256 of the file as it is on disk, and reads it to its end for this. Returns false
 * for generators, and for standard input that was not read to its end.
 */
bool trace_sha256(struct trace *t, char out[TRACE_SHA256_CHARS]);
uint64_t trace_file_bytes(const struct trace *t);

/* Parse "4k", "3400MiB" or "512"; false if the text is not a size. */
bool trace_parse_size(const char *text, uint64_t *out);

#endif
