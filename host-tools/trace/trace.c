// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * trace.c - see trace.h. This file divides the bytes into lines, and counts; detect.c tells the format,
 * and parse*.c interpret the lines.
 *
 * One buffer holds the part of the file that is being divided. A line longer than LINE_MAX_BYTES is
 * bad, and skipped up to its end. Invariant: in.buf[in.at, in.end) are bytes not yet passed to a
 * parser.
 */
#include "trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "content.h"
#include "detect.h"
#include "gen.h"
#include "parse.h"
#include "port.h"
#include "source.h"
#include "table.h"

#define LINE_MAX_BYTES 4096u

const char *const trace_format_names[TRACE_NFORMATS + 1] = {
	"auto", "native", "msr", "ssdsim", "disksim", "alibaba", "tencent", "systor", "k5cloud", "fiu", "spc",
	"cloudphysics", "csv", "blkparse", "fio", "ftrace", "blktrace", "vscsi", "oracleGeneral", "content",
	"parquet", "arrow", "generated", NULL
};
const char trace_format_list[] = "native, msr, ssdsim, disksim, alibaba, tencent, systor, k5cloud, fiu, spc, "
	"cloudphysics, blkparse, fio, ftrace, blktrace, vscsi, oracleGeneral:unit=512[,op=write], content, "
	"parquet, arrow, or csv: (parquet:, arrow:) and columns, such as "
	"csv:time=5us,op=2:r/w,offset=3*512,bytes=4,volume=1";

static parse_line *const parsers[TRACE_NFORMATS] = {
	[TRACE_NATIVE] = parse_native, [TRACE_BLKPARSE] = parse_blkparse, [TRACE_FIO] = parse_fio,
	[TRACE_FTRACE] = parse_ftrace, [TRACE_PARQUET] = parse_native, [TRACE_ARROW] = parse_native,
};

/* Formats of binary records: the bytes that every record has. */
static const struct {
	parse_record *parse;
	size_t head;
} records[TRACE_NFORMATS] = {
	[TRACE_BLKTRACE] = { parse_blktrace, BLKTRACE_HEAD },
	[TRACE_VSCSI] = { parse_vscsi, VSCSI_HEAD },
	[TRACE_ORACLE] = { parse_oracle, ORACLE_HEAD },
};

struct trace {
	char *name;
	struct trace_options o;
	struct gen gen;
	struct content *content;	/* NULL: not a content trace */
	enum trace_format format;
	parse_line *parse;
	struct parse p;
	struct window in;		/* its source is NULL for a generator */
	struct trace_counts counts;
	uint64_t line;			/* number of the line or record in this pass */
	uint64_t first_device;
	bool has_device, many_devices;
	char err[TRACE_ERR_BYTES];
};

/* ---- lines ------------------------------------------------------------------ */

static int give_up(struct trace *t, const char *why)
{
	snprintf(t->err, sizeof(t->err), "trace %s: %s", t->name, why);
	return -1;
}

/* Make room and read more. Returns 0 or -1. */
static int more(struct trace *t)
{
	const char *why = "";

	return window_more(&t->in, &why) ? give_up(t, why) : 0;
}

static void tell_bad(struct trace *t, const char *why)
{
	t->counts.bad++;
	if (t->o.bad)
		t->o.bad(t->o.opaque, t->name, t->line, why);
}

/* Drop the line at `at`, which is too long, up to its newline. */
static int pass_over(struct trace *t)
{
	for (;;) {
		char *newline = memchr(t->in.buf + t->in.at, '\n', t->in.end - t->in.at);

		if (newline) {
			t->in.at = (size_t)(newline - t->in.buf) + 1;
			break;
		}
		t->in.at = t->in.end;
		if (t->in.over)
			break;
		if (more(t))
			return -1;
	}
	tell_bad(t, "is longer than 4096 bytes");
	return 0;
}

/* Returns 1: a line in [*s, *line_end); 0: end; -1: error. */
static int next_line(struct trace *t, const char **s, const char **line_end)
{
	for (;;) {
		char *newline = memchr(t->in.buf + t->in.at, '\n', t->in.end - t->in.at);
		size_t len = newline ? (size_t)(newline - (t->in.buf + t->in.at)) : t->in.end - t->in.at;

		if (len > LINE_MAX_BYTES) {
			t->counts.lines++;
			t->line++;
			if (pass_over(t))
				return -1;
			continue;
		}
		if (!newline && !t->in.over) {
			if (more(t))
				return -1;
			continue;
		}
		if (!newline && !len)
			return 0;
		*s = t->in.buf + t->in.at;
		*line_end = *s + len;
		t->in.at += len + (newline != NULL);
		if (len && (*line_end)[-1] == '\r')
			(*line_end)--;
		t->counts.lines++;
		t->line++;
		return 1;
	}
}

/* Return the line at s, which next_line() found, so that it is found again. */
static void put_back(struct trace *t, const char *s)
{
	t->in.at = (size_t)(s - t->in.buf);
	t->counts.lines--;
	t->line--;
}

/* ---- rows ------------------------------------------------------------------- */

/* Does the row match the options? */
static bool accept(struct trace *t, const struct trace_row *row)
{
	if (row->op <= TRACE_TRIM &&
	    (row->offset > TRACE_BYTES_MAX || row->bytes > TRACE_BYTES_MAX - row->offset)) {
		tell_bad(t, "ends beyond 4 EiB");
		return false;
	}
	if (row->device != t->o.device && t->o.device != TRACE_ANY_DEVICE) {
		t->counts.other_devices++;
		return false;
	}
	if (!t->has_device) {
		t->has_device = true;
		t->first_device = row->device;
	}
	t->many_devices = t->many_devices || row->device != t->first_device;
	t->counts.rows++;
	return true;
}

static int next_content(struct trace *t, struct trace_row *row)
{
	const char *why = "";

	for (;;) {
		int result = content_next(t->content, row, &why);

		if (result < 0)
			return give_up(t, why);
		if (!result)
			return 0;
		t->counts.lines++;
		if (accept(t, row))
			return 1;
	}
}

/* Fill the window with `len` bytes. Returns how many there are, less only at the end of the file, or -1. */
static long have_bytes(struct trace *t, size_t len)
{
	while (t->in.end - t->in.at < len && !t->in.over)
		if (more(t))
			return -1;
	return (long)(t->in.end - t->in.at < len ? t->in.end - t->in.at : len);
}

/* The file ends inside a record: count that as a bad row. */
static int end_short(struct trace *t)
{
	t->counts.lines++;
	t->line++;
	t->in.at = t->in.end;
	tell_bad(t, "is cut off by the end of the file");
	return 0;
}

/* Returns 1: a record of *len bytes is at in.at; 0: end; -1: error. */
static int find_record(struct trace *t, size_t *len)
{
	const unsigned char *r;
	long got;

	*len = t->format == TRACE_VSCSI ? vscsi_bytes(&t->p) : records[t->format].head;
	got = have_bytes(t, *len);
	if (got <= 0)
		return (int)got;
	if ((size_t)got < *len)
		return end_short(t);
	r = (const unsigned char *)t->in.buf + t->in.at;
	if (t->format != TRACE_BLKTRACE)
		return 1;
	if (!blktrace_begins(&t->p, r)) {
		snprintf(t->err, sizeof(t->err), "trace %s: record %" PRIu64 " does not begin with blktrace's magic "
			 "number: the file is damaged, and its end can not be read", t->name, t->line + 1);
		return -1;
	}
	*len = blktrace_bytes(&t->p, r);
	got = have_bytes(t, *len);
	return got < 0 ? -1 : (size_t)got < *len ? end_short(t) : 1;
}

/* Returns 1: *row is set, and *kind says what it is; 0: end; -1: error. */
static int next_record(struct trace *t, struct trace_row *row, enum line_kind *kind, const char **why)
{
	size_t len;
	int result = find_record(t, &len);

	if (result <= 0)
		return result;
	t->counts.lines++;
	*row = (struct trace_row){ .line = ++t->line };
	*kind = records[t->format].parse(&t->p, (const unsigned char *)t->in.buf + t->in.at, row, why);
	t->in.at += len;
	return 1;
}

/* Do the same as next_record(), for a trace of lines. */
static int next_of_lines(struct trace *t, struct trace_row *row, enum line_kind *kind, const char **why)
{
	const char *s, *end;
	int result = next_line(t, &s, &end);

	if (result <= 0)
		return result;
	*row = (struct trace_row){ .line = t->line };
	*kind = t->parse(&t->p, s, end, row, why);
	return 1;
}

/* Do what trace_next() does, for a file. */
static SSD_APART int next_of_file(struct trace *t, struct trace_row *row)
{
	const char *why = "";
	enum line_kind kind = LINE_OTHER;
	int result;

	for (;;) {
		if (t->p.has_pending) {
			t->p.has_pending = false;
			*row = t->p.pending;
			if (accept(t, row))
				return 1;
		}
		result = t->parse ? next_of_lines(t, row, &kind, &why) : next_record(t, row, &kind, &why);
		if (result <= 0)
			return result;
		switch (kind) {
		case LINE_ROW:
			if (accept(t, row))
				return 1;
			break;
		case LINE_OTHER:
			t->counts.other++;
			break;
		case LINE_PASSED:
			t->counts.passed++;
			break;
		case LINE_BAD:
			tell_bad(t, why);
			break;
		}
	}
}

int trace_next(struct trace *t, struct trace_row *row)
{
	bool made;

	if (t->content)
		return next_content(t, row);
	if (t->in.source)
		return next_of_file(t, row);
	made = gen_next(&t->gen, row);
	t->counts.rows += made;
	return made;
}

/* ---- which format it is ------------------------------------------------------ */

static bool first_line_is(const struct trace *t, const char *what)
{
	size_t len = strlen(what);

	return t->in.end >= len && !memcmp(t->in.buf, what, len) &&
	       (t->in.end == len || t->in.buf[len] == '\n' || t->in.buf[len] == '\r');
}

/*
 * Has enough been read to tell the format? If the format was given, the first line is enough: a program may write
 * the rest into a pipe while the replay goes on.
 */
static bool has_head(const struct trace *t)
{
	enum trace_format given = t->format != TRACE_AUTO ? t->format : t->o.format;

	if (t->in.over || t->in.end == WINDOW_BYTES)
		return true;
	if (records[given].parse)
		return given != TRACE_VSCSI && t->in.end >= records[given].head;
	return given != TRACE_AUTO && given != TRACE_CONTENT && memchr(t->in.buf, '\n', t->in.end);
}

static bool is_table(enum trace_format format)
{
	return format == TRACE_PARQUET || format == TRACE_ARROW;
}

static const unsigned char *begin_of(const struct trace *t)
{
	return (const unsigned char *)t->in.buf;
}

/* Returns what a file is and the fix if its first bytes are those of a packed file, archive or UTF-16; else NULL. */
static const char *tell_other_kind(const char *s, size_t len)
{
	static const struct { size_t at, len; const char *magic, *told; } kinds[] = {
		{ 0, 6, "\xfd" "7zXZ\0", "is packed by xz: unpack it first, as in xz -dc FILE | slate replay ... -" },
		{ 4, 6, "1AY&SY", "is packed by bzip2: unpack it first, as in bzip2 -dc FILE | slate replay ... -" },
		{ 0, 4, "\x04\x22\x4d\x18",
		  "is packed by lz4: unpack it first, as in lz4 -dc FILE | slate replay ... -" },
		{ 0, 4, "PK\3\4", "is a zip archive: unpack it, and name a file of it" },
		{ 0, 6, "7z\xbc\xaf\x27\x1c", "is a 7z archive: unpack it, and name a file of it" },
		{ 257, 5, "ustar", "is a tar archive: unpack it, and name a file of it" },
		{ 0, 2, "\xff\xfe", "is UTF-16: write it in UTF-8, as by iconv -f UTF-16 -t UTF-8" },
		{ 0, 2, "\xfe\xff", "is UTF-16: write it in UTF-8, as by iconv -f UTF-16 -t UTF-8" },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (len >= kinds[i].at + kinds[i].len && !memcmp(s + kinds[i].at, kinds[i].magic, kinds[i].len))
			return kinds[i].told;
	return NULL;
}

/* Of a trace that is text, skip UTF-8's byte order mark; refuse packed files, archives and UTF-16 as such. */
static int take_text(struct trace *t)
{
	struct parse p = { 0 };
	const char *kind;

	if (records[t->o.format].parse || (t->o.format == TRACE_AUTO && vscsi_begins(&p, begin_of(t), t->in.end)))
		return 0;
	if (t->in.end >= 3 && !memcmp(t->in.buf, "\xef\xbb\xbf", 3))
		memmove(t->in.buf, t->in.buf + 3, t->in.end -= 3);
	kind = tell_other_kind(t->in.buf, t->in.end);
	return kind ? give_up(t, kind) : 0;
}

/* Find the format, and its version, from the first lines, without consuming them. */
static int find_format(struct trace *t)
{
	char why[TRACE_ERR_BYTES] = "";

	while (!has_head(t))
		if (more(t))
			return -1;
	if (take_text(t))
		return -1;
	if (t->format == TRACE_AUTO)	/* the same format in each pass */
		t->format = t->o.format ? t->o.format :
			    detect_format(t->in.buf, t->in.buf + t->in.end, t->in.over, &t->o, why, sizeof(why));
	if (t->format == TRACE_AUTO)
		return give_up(t, why);
	if (t->format == TRACE_NATIVE && !first_line_is(t, "# slate-trace 1"))
		return give_up(t, "does not begin with '# slate-trace 1': it is of another version, or not Slate's");
	t->p.version = first_line_is(t, "fio version 2 iolog") ? 2 : 3;
	if (t->format == TRACE_FIO && t->p.version == 3 && !first_line_is(t, "fio version 3 iolog"))
		return give_up(t, "does not begin with 'fio version 2 iolog' or 'fio version 3 iolog': write it with "
			       "a newer fio");
	if (t->format == TRACE_BLKTRACE && (t->in.end < BLKTRACE_HEAD || !blktrace_begins(&t->p, begin_of(t))))
		return give_up(t, "does not begin with blktrace's magic number: is it blkparse's text?");
	if (t->format == TRACE_VSCSI && !vscsi_begins(&t->p, begin_of(t), t->in.end))
		return give_up(t, "does not begin with two vscsi records of version 1 or 2: is it of another format?");
	t->p.object = &t->o.object;
	t->p.columns = t->format == TRACE_CSV || (is_table(t->format) && t->o.columns.columns) ? &t->o.columns :
		       columns_of(t->format);
	t->parse = t->p.columns ? parse_columns : parsers[t->format];
	return 0;
}

static int content_head(struct trace *t)
{
	const char *why = "";

	if (t->content)
		return content_rewind(t->content, &why) ? give_up(t, why) : 0;
	t->content = content_open(&t->in, &why);
	return t->content ? 0 : give_up(t, why);
}

/* Read a native head: everything before the first row. */
static int read_head(struct trace *t)
{
	const char *s, *end, *why = "";
	struct trace_row row = { 0 };
	int result;

	if (t->format == TRACE_CONTENT)
		return content_head(t);
	if (t->format != TRACE_NATIVE)
		return 0;
	for (;;) {
		if (t->in.at == t->in.end && !t->in.over) {
			if (more(t))
				return -1;
			continue;
		}
		if (t->in.at == t->in.end || t->in.buf[t->in.at] != '#')
			return 0;
		result = next_line(t, &s, &end);
		if (result <= 0)
			return result;
		if (s == end || *s != '#') {	/* unless a line that was too long is being skipped */
			put_back(t, s);
			return 0;
		}
		if (parse_native(&t->p, s, end, &row, &why) == LINE_BAD)
			tell_bad(t, why);
		else
			t->counts.other++;
	}
}

/* ---- life cycle --------------------------------------------------------------- */

static void forget_parse(struct trace *t)
{
	for (uint32_t i = 0; i < t->p.files; i++)
		free(t->p.file[i]);
	for (uint32_t i = 0; i < t->p.settings; i++)
		free(t->p.setting[i]);
	t->p = (struct parse){ .action = t->o.action };
}

static struct trace *make(const char *name, const struct trace_options *o)
{
	struct trace *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->o = *o;
	t->name = strdup(name);
	t->in.buf = malloc(WINDOW_BYTES);
	forget_parse(t);
	if (t->name && t->in.buf)
		return t;
	trace_close(t);
	return NULL;
}

/* Begin a trace with a source. The trace owns the source from now on. */
static int begin(struct trace *t, struct trace **out, char *err)
{
	if (find_format(t) || read_head(t)) {
		snprintf(err, TRACE_ERR_BYTES, "%s", t->err);
		trace_close(t);
		return -1;
	}
	*out = t;
	return 0;
}

/* Take the lines of a table's rows in place of the file's bytes. */
static int read_table(struct trace *t, enum trace_format is, char *err)
{
	const char *kind = trace_format_names[is];
	char **words;

	if (!strcmp(t->name, "-")) {
		snprintf(err, TRACE_ERR_BYTES, "trace -: is %s, which is not read from its beginning to its end: name "
			 "a file", kind);
		return -1;
	}
	words = table_words(kind, t->name, &t->o.columns, false);
	if (!words) {
		snprintf(err, TRACE_ERR_BYTES, "trace %s: is %s, which this program reads only if it is started by "
			 "'slate': write 'slate replay' or 'slate trace', or convert the trace by 'slate trace "
			 "convert'", t->name, kind);
		return -1;
	}
	t->format = is;
	t->in.source = source_of_program(t->in.source, words);
	if (t->in.source)
		return 0;
	snprintf(err, TRACE_ERR_BYTES, "trace %s: python3, which reads %s, cannot be started: install it", t->name,
		 kind);
	return -1;
}

/* Is the file a table? Then what was asked for must be one of that kind. */
static int take_table(struct trace *t, char *err)
{
	enum trace_format given = t->o.format, is = source_begins(t->in.source, "PAR1") ? TRACE_PARQUET :
			       source_begins(t->in.source, "ARROW1") ? TRACE_ARROW : TRACE_AUTO;

	if (is == TRACE_AUTO && !is_table(given))
		return 0;
	if (is == TRACE_AUTO || (given != TRACE_AUTO && given != is)) {
		snprintf(err, TRACE_ERR_BYTES, "trace %s: is %s, and --format says %s: name the right one", t->name,
			 is == TRACE_PARQUET ? "Parquet" : is == TRACE_ARROW ? "an Arrow file" :
			 "neither Parquet nor an Arrow file (these are not packed by gzip or zstd)",
			 trace_format_names[given]);
		return -1;
	}
	return read_table(t, is, err);
}

int trace_open(struct trace **out, const char *name, const struct trace_options *o,
	       char err[TRACE_ERR_BYTES])
{
	struct trace *t = make(name, o);

	*out = NULL;
	if (!t) {
		snprintf(err, TRACE_ERR_BYTES, "trace %s: no memory to read it", name);
		return -1;
	}
	if (!strncmp(name, "gen:", 4)) {
		t->format = TRACE_GENERATED;
		if (gen_open(&t->gen, name + 4, err, TRACE_ERR_BYTES)) {
			trace_close(t);
			return -1;
		}
		*out = t;
		return 0;
	}
	t->in.source = source_open(name, err, TRACE_ERR_BYTES);
	if (!t->in.source || take_table(t, err)) {
		trace_close(t);
		return -1;
	}
	return begin(t, out, err);
}

int trace_open_memory(struct trace **out, const void *data, size_t len,
		      const struct trace_options *o, char err[TRACE_ERR_BYTES])
{
	struct trace *t = make("(memory)", o);

	*out = NULL;
	if (t)
		t->in.source = source_open_memory(data, len);
	if (!t || !t->in.source || is_table(o->format)) {
		snprintf(err, TRACE_ERR_BYTES, "%s",
			 t && t->in.source ? "a table must be a file" : "no memory to read a trace");
		trace_close(t);
		return -1;
	}
	return begin(t, out, err);
}

int trace_rewind(struct trace *t)
{
	const char *why = "";

	if (!t->in.source) {
		gen_rewind(&t->gen);
		return 0;
	}
	if (source_rewind(t->in.source, &why)) {
		snprintf(t->err, sizeof(t->err), "trace %s: %s", t->name, why);
		return -1;
	}
	forget_parse(t);
	t->in.at = t->in.end = 0;
	t->in.over = false;
	t->line = 0;
	return find_format(t) || read_head(t) ? -1 : 0;
}

void trace_close(struct trace *t)
{
	if (!t)
		return;
	forget_parse(t);
	content_close(t->content);
	source_close(t->in.source);
	free(t->in.buf);
	free(t->name);
	free(t);
}

/* ---- questions ---------------------------------------------------------------- */

const char *trace_error(const struct trace *t)
{
	return t->err;
}

const char *trace_name(const struct trace *t)
{
	return t->name;
}

enum trace_format trace_format(const struct trace *t)
{
	return t->format;
}

bool trace_many_devices(const struct trace *t)
{
	return t->many_devices;
}

void trace_get_counts(const struct trace *t, struct trace_counts *out)
{
	*out = t->counts;
}

const char *const *trace_settings(const struct trace *t)
{
	return t->p.settings ? (const char *const *)t->p.setting : NULL;
}

bool trace_was_mounted(const struct trace *t)
{
	return t->p.mounted;
}

bool trace_end_ops(const struct trace *t, uint64_t out[TRACE_END_OPS][TRACE_END_SOURCES])
{
	memcpy(out, t->p.end_ops, sizeof(t->p.end_ops));
	return t->p.has_end;
}

bool trace_has_content(const struct trace *t)
{
	return t->content || t->gen.content;
}

int trace_read_content(struct trace *t, uint64_t at, void *buf, size_t len)
{
	const char *why = "";

	if (!t->content) {
		gen_content(&t->gen, at, buf, len);
		return 0;
	}
	return content_read(t->content, at, buf, len, &why) ? give_up(t, why) : 0;
}

bool trace_get_content(const struct trace *t, struct trace_content *out)
{
	*out = (struct trace_content){ 0 };
	if (t->content)
		content_counts(t->content, out);
	return t->content;
}

const char *trace_content_settings(const struct trace *t)
{
	return t->content ? content_settings(t->content) : NULL;
}

bool trace_content_name(const struct trace *t, char out[TRACE_SHA256_CHARS])
{
	return t->content && content_name(t->content, out);
}

void trace_progress(const struct trace *t, uint64_t *done, uint64_t *all)
{
	if (t->in.source) {
		source_progress(t->in.source, done, all);
	} else {
		*done = t->gen.at;
		*all = gen_rows(&t->gen);
	}
}

bool trace_sha256(struct trace *t, char out[TRACE_SHA256_CHARS])
{
	return t->in.source && source_sha256(t->in.source, out);
}

uint64_t trace_file_bytes(const struct trace *t)
{
	uint64_t done = 0, all = 0;

	if (t->in.source)
		source_progress(t->in.source, &done, &all);
	return all ? all : done;
}
