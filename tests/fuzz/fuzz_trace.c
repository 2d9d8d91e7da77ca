// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz_trace.c - fuzzes the readers of host-tools/trace. The first byte chooses a format (or its
 * detection), the second a device; the rest is the file, compressed or not. For csv its columns come first, as
 * a line. The readers may not crash, and their results must be consistent:
 *   every line is a row, bad, or of no interest (a write with a flush makes two rows);
 *   a row is within the bounds of trace.h; a second pass gives the same rows, and the
 *   same content where a trace has it (the first and last 8 KiB of each write).
 * An input on which that fails ends in abort(), so that libFuzzer keeps it;
 * fuzz_trace_bin FILE runs it again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace.h"

#define MUST(x) ((x) ? (void)0 : broken(#x))

static void broken(const char *what)
{
	fprintf(stderr, "fuzz_trace: broken: %s\n", what);
	abort();
}

static void on_bad(void *opaque, const char *name, uint64_t line, const char *why)
{
	uint64_t *bad = opaque;

	MUST(*name && line && *why);
	++*bad;
}

static uint64_t sum_content(struct trace *t, uint64_t at, uint64_t len)
{
	unsigned char bytes[8192];
	uint64_t sum = 0;

	MUST(!trace_read_content(t, at, bytes, (size_t)len));
	for (uint64_t i = 0; i < len; i++)
		sum = sum * 31 + bytes[i];
	return sum;
}

/* Read the first and the last 8 KiB of a write, and return a sum over their bytes. */
static uint64_t look_inside(struct trace *t, const struct trace_row *row)
{
	uint64_t len = row->bytes < 8192 ? row->bytes : 8192;

	return trace_has_content(t) ? sum_content(t, 0, len) + sum_content(t, row->bytes - len, len) : 0;
}

/* Return a sum over all rows; *result is -1 if the trace could not be read to its end. */
static uint64_t read_all(struct trace *t, uint64_t *rows, int *result)
{
	struct trace_row row;
	uint64_t sum = 0;

	*rows = 0;
	while ((*result = trace_next(t, &row)) > 0) {
		MUST(row.op <= TRACE_DONE && row.line);
		if (row.op <= TRACE_TRIM)
			MUST(row.offset <= TRACE_BYTES_MAX && row.bytes <= TRACE_BYTES_MAX - row.offset);
		if (row.op == TRACE_FLUSH)
			MUST(!row.fua && !row.offset && !row.bytes);
		sum = sum * 31 + row.at_ns + 3 * row.offset + 7 * row.bytes + 11 * (uint64_t)row.op +
		      13 * row.fua + 17 * row.device + 19 * row.line;
		if (row.op == TRACE_WRITE)
			sum += look_inside(t, &row);
		++*rows;
	}
	return sum;
}

static bool makes_two_rows(enum trace_format format)
{
	return format == TRACE_BLKPARSE || format == TRACE_BLKTRACE || format == TRACE_FTRACE;
}

static void check_counts(const struct trace *t, uint64_t rows, uint64_t bad, bool whole)
{
	struct trace_counts c;
	uint64_t seen;

	trace_get_counts(t, &c);
	seen = c.rows + c.bad + c.other + c.passed + c.other_devices;
	MUST(c.rows == rows && c.bad == bad);
	MUST(!whole || (seen >= c.lines && (seen == c.lines || makes_two_rows(trace_format(t)))));
}

/* The first line names the columns of a csv trace. */
static bool take_columns(struct trace_columns *out, const uint8_t **data, size_t *size)
{
	const uint8_t *newline = memchr(*data, '\n', *size);
	char text[256] = "", err[TRACE_ERR_BYTES] = "";
	size_t len = newline ? (size_t)(newline - *data) : 0;
	bool good;

	if (!newline || len >= sizeof(text))
		return false;
	memcpy(text, *data, len);
	good = columns_parse(out, "csv", text, err, sizeof(err));
	MUST(good || *err);
	*data += len + 1;
	*size -= len + 1;
	return good;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct trace_options o = { .device = TRACE_ANY_DEVICE, .bad = on_bad };
	uint64_t bad = 0, rows, again, sum;
	char err[TRACE_ERR_BYTES] = "", sha256[TRACE_SHA256_CHARS];
	struct trace *t;
	int result;

	if (size < 2)
		return -1;
	o.format = (enum trace_format)(data[0] % TRACE_GENERATED);
	o.device = data[1] < 128 ? TRACE_ANY_DEVICE : data[1] - 128u;
	o.opaque = &bad;
	o.object = (struct trace_object){ .unit = 512, .op = TRACE_WRITE };
	data += 2;
	size -= 2;
	if (o.format == TRACE_CSV && !take_columns(&o.columns, &data, &size))
		return 0;
	if (trace_open_memory(&t, data, size, &o, err)) {
		MUST(*err);
		return 0;
	}
	sum = read_all(t, &rows, &result);
	MUST(result == 0 || *trace_error(t));
	check_counts(t, rows, bad, !result);
	if (!result) {
		MUST(trace_sha256(t, sha256) && strlen(sha256) == TRACE_SHA256_CHARS - 1);
		MUST(!trace_rewind(t));
		MUST(read_all(t, &again, &result) == sum && again == rows && !result);
	}
	trace_close(t);
	return 0;
}
