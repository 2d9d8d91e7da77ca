// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * parse_blk.c - events of Linux's block layer: as blkparse's default text (blkparse(1), "OUTPUT DESCRIPTION"),
 * as text of ftrace and trace-cmd, and as blktrace writes them (struct blk_io_trace in linux/blktrace_api.h).
 *
 *   8,16   5   2   0.000001850 18615  Q  WFS 1444645666 + 256 [java]
 *   fio-71 [002] d..1. 12.000001: block_rq_issue: 8,16 WS 131072 () 1444645666 + 256 [fio]
 *
 * RWBS (blktrace.h, fill_rwbs() in the kernel's blktrace.c): an F in front of
 * the operation is a flush before it, an F behind it FUA; D a discard, W a
 * write, R a read, N another operation; S (sync), A (readahead), M (metadata) change
 * nothing here, nor does U (atomic, Linux 6.11 and later); B, the barrier of kernels before 2.6.37, is a flush
 * before and FUA. A write with a flush before it becomes two rows; one of no data, which
 * blkparse prints without SECTOR + N (what an fsync makes), is a flush.
 *
 * Later kernels have letters for operations that were N before: WZ is a write of zeroes; Z with A, R, RA, F, O or C
 * behind it is an append to a zone, a reset of a zone or of all, finish, open, close (seen on Linux 7.1: WZS, ZRS,
 * ZRAS, ZFS). An append is a write: its sector is the zone's first one until it completes. The others are LINE_OTHER,
 * as N is.
 *
 * Events of another action, events without data and notes (m) are LINE_OTHER. After the events
 * blkparse prints a summary, which begins with a line of "CPU" or "Total".
 *
 * Of ftrace the events block_rq_issue (D, the default), block_rq_insert (I), block_rq_complete (C) and
 * block_bio_queue (Q) have RWBS, sector and count (include/trace/events/block.h of Linux 5.10 to 6.12); the first
 * two also have the bytes of a passthrough command in front. Time is the clock's, in seconds. blktrace's file is
 * of either byte order; it has no RWBS, but a bit for each letter. Commands that are not of the block layer (BLK_TC_PC;
 * in blkparse's text BYTES (COMMAND) in place of SECTOR + COUNT) are LINE_OTHER.
 */
#include "parse.h"

struct rwbs {
	enum trace_op op;
	bool flush, data, fua;
};

static bool take_rwbs(const char *word, size_t len, struct rwbs *out)
{
	size_t i = 0;

	*out = (struct rwbs){ .op = TRACE_FLUSH };
	if (len && word[0] == 'F') {
		out->flush = true;
		i = 1;
	}
	if (len - i >= 2 && word[i] == 'W' && word[i + 1] == 'Z')
		return true;
	if (len - i >= 2 && word[i] == 'Z' && memchr("ARFOC", word[i + 1], 5)) {
		if (word[i + 1] != 'A')
			return true;
		out->op = TRACE_WRITE;
		out->data = true;
		i += 2;
	}
	for (; i < len; i++) {
		switch (word[i]) {
		case 'F':
			if (out->data)
				out->fua = true;
			else
				out->flush = true;
			break;
		case 'W':
			out->op = TRACE_WRITE;
			out->data = true;
			break;
		case 'R':
			out->op = TRACE_READ;
			out->data = true;
			break;
		case 'D':
			out->op = TRACE_TRIM;
			out->data = true;
			break;
		case 'B':
			out->flush = out->fua = true;
			break;
		case 'N': case 'S': case 'A': case 'M': case 'E': case 'U':
			break;
		default:
			return false;
		}
	}
	return len;
}

/* Take S.NS, with up to nine digits after the point. */
static bool take_seconds(const char **s, const char *end, uint64_t *ns)
{
	uint64_t whole, scale = 100000000;

	if (!take_u64(s, end, &whole) || whole > UINT64_MAX / 2000000000)
		return false;
	*ns = whole * 1000000000;
	if (*s < end && **s == '.') {
		for ((*s)++; *s < end && (unsigned char)(**s - '0') < 10; (*s)++) {
			*ns += (unsigned char)(**s - '0') * scale;
			scale /= 10;
		}
	}
	if (*s < end && **s != ' ' && **s != '\t')
		return false;
	*s = skip_blanks(*s, end);
	return true;
}

static bool is_summary(const char *s, const char *end)
{
	size_t len = (size_t)(end - s);

	return (len >= 3 && !memcmp(s, "CPU", 3)) || (len >= 5 && !memcmp(s, "Total", 5));
}

/* Take a device, MAJ,MIN. */
static bool take_device(const char **s, const char *end, uint64_t *device)
{
	uint64_t major, minor;

	if (!take_u64(s, end, &major) || *s == end || *(*s)++ != ',' || !take_column(s, end, &minor) ||
	    major >> 12 || minor >> 20)
		return false;
	*device = major << 20 | minor;
	return true;
}

static enum line_kind take_sectors(const char *s, const char *end, struct trace_row *row,
				   const char **why)
{
	uint64_t sector, count;

	if (!take_column(&s, end, &sector) || s == end || *s != '+') {
		*why = "'SECTOR + COUNT' is expected behind RWBS";
		return LINE_BAD;
	}
	s = skip_blanks(s + 1, end);
	if (!take_column(&s, end, &count) || sector > TRACE_BYTES_MAX / 512 ||
	    count > TRACE_BYTES_MAX / 512) {
		*why = "COUNT (behind the '+') is no number of sectors";
		return LINE_BAD;
	}
	row->offset = sector * 512;
	row->bytes = count * 512;
	return LINE_ROW;
}

/*
 * Give the row its operation. A write or read with a flush before it becomes two rows, the flush and then the rest. An
 * event without bytes is a flush if RWBS has the F of a flush; otherwise it is no request (LINE_OTHER).
 */
static enum line_kind finish_row(struct parse *p, const struct rwbs *rwbs, struct trace_row *row)
{
	bool data = rwbs->data && row->bytes;

	if (!data && !rwbs->flush)
		return LINE_OTHER;
	row->op = data ? rwbs->op : TRACE_FLUSH;
	row->fua = rwbs->fua && row->op == TRACE_WRITE;
	if (data && rwbs->flush) {
		p->pending = *row;
		p->has_pending = true;
		row->op = TRACE_FLUSH;
		row->fua = false;
	}
	if (row->op == TRACE_FLUSH)
		row->offset = row->bytes = 0;
	return LINE_ROW;
}

/*
 * Is the event a command that is not of the block layer (BLK_TC_PC)? In place of SECTOR + COUNT, blkparse then prints
 * BYTES, perhaps (COMMAND), and [PROCESS].
 */
static bool is_passthrough(const char *s, const char *end)
{
	uint64_t bytes;

	return take_column(&s, end, &bytes) && s != end && (*s == '[' || *s == '(');
}

enum line_kind parse_blkparse(struct parse *p, const char *s, const char *end,
			      struct trace_row *row, const char **why)
{
	uint64_t cpu, sequence, pid;
	const char *word;
	struct rwbs rwbs;
	enum line_kind kind = LINE_ROW;
	size_t len;

	s = skip_blanks(s, end);
	if (p->summary || s == end || is_summary(s, end)) {
		p->summary = p->summary || s != end;
		return LINE_OTHER;
	}
	if (!take_device(&s, end, &row->device) || !take_column(&s, end, &cpu) ||
	    !take_column(&s, end, &sequence) || !take_seconds(&s, end, &row->at_ns) ||
	    !take_column(&s, end, &pid)) {
		*why = "an event begins MAJ,MIN CPU SEQUENCE SECONDS PID";
		return LINE_BAD;
	}
	len = take_word(&s, end, &word);
	if (!len || len > 2) {
		*why = "the action (column 6) has one or two letters";
		return LINE_BAD;
	}
	if (len != 1 || *word != (p->action ? p->action : 'Q'))
		return LINE_OTHER;
	len = take_word(&s, end, &word);
	if (!take_rwbs(word, len, &rwbs)) {
		*why = "RWBS (column 7) has a letter other than FWRDBNSAMEUZ";
		return LINE_BAD;
	}
	if (rwbs.flush && rwbs.op == TRACE_WRITE && (s == end || *s == '['))
		rwbs = (struct rwbs){ .op = TRACE_FLUSH, .flush = true };
	if (is_passthrough(s, end))
		return LINE_OTHER;
	if (rwbs.data)
		kind = take_sectors(s, end, row, why);
	return kind == LINE_ROW ? finish_row(p, &rwbs, row) : kind;
}

/* ---- ftrace and trace-cmd ------------------------------------------------------- */

static const char not_an_event[] = "an event begins TASK-PID [CPU] FLAGS SECONDS:";

/* Is it a line that is no event: a comment, trace-cmd's head? */
static bool is_ftrace_head(const char *s, const char *end)
{
	static const char *const heads[] = { "#", "cpus=", "version = ", "CPU " };

	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
		if ((size_t)(end - s) >= strlen(heads[i]) && !memcmp(s, heads[i], strlen(heads[i])))
			return true;
	return s == end;
}

/* Find the text behind the processor, such as [002]. The name of a task may have blanks and brackets. */
static const char *behind_cpu(const char *s, const char *end)
{
	for (; s < end; s++) {
		const char *at = s + 1;
		uint64_t cpu;

		if (*s == '[' && take_u64(&at, end, &cpu) && end - at > 1 && at[0] == ']' && at[1] == ' ')
			return at + 1;
	}
	return NULL;
}

/* Take the time, behind the flags if there are any, and the colon. Return what is wrong, or NULL. */
static const char *take_clock(const char **s, const char *end, uint64_t *ns)
{
	const char *word, *at;
	size_t len = 0;

	for (int i = 0; i < 2; i++) {
		*s = skip_blanks(*s, end);
		len = take_word(s, end, &word);
		at = word;
		if (len > 1 && word[len - 1] == ':' && take_decimal(&at, word + len - 1, 9, ns) && *at == ':')
			return memchr(word, '.', len) ? NULL :
			       "its clock counts no seconds (x86-tsc, counter): record with trace_clock local or mono";
	}
	return not_an_event;
}

/* Returns the name of the ftrace event for one of blkparse's letters. */
static const char *ftrace_event(char action)
{
	switch (action) {
	case 'Q':
		return "block_bio_queue:";
	case 'I':
		return "block_rq_insert:";
	case 'C':
		return "block_rq_complete:";
	default:
		return "block_rq_issue:";
	}
}

/* Pass the bytes and the command of a request, such as "4096 ()", if they are there. */
static const char *pass_command(const char *s, const char *end)
{
	const char *at = s, *close;
	uint64_t bytes;

	if (take_column(&at, end, &bytes) && at < end && *at != '(')
		return s;
	close = at < end && *at == '(' ? memchr(at, ')', (size_t)(end - at)) : NULL;
	return close ? skip_blanks(close + 1, end) : s;
}

enum line_kind parse_ftrace(struct parse *p, const char *s, const char *end, struct trace_row *row,
			    const char **why)
{
	const char *word;
	struct rwbs rwbs;
	enum line_kind kind = LINE_ROW;
	size_t len;

	s = skip_blanks(s, end);
	if (is_ftrace_head(s, end))
		return LINE_OTHER;
	s = behind_cpu(s, end);
	*why = s ? take_clock(&s, end, &row->at_ns) : not_an_event;
	if (*why)
		return LINE_BAD;
	len = take_word(&s, end, &word);
	if (len > 6 && !memcmp(word, "block:", 6)) {	/* perf script */
		word += 6;
		len -= 6;
	}
	if (!word_is(word, len, ftrace_event(p->action)))
		return LINE_OTHER;
	if (!take_device(&s, end, &row->device)) {
		*why = "MAJ,MIN is expected behind the event";
		return LINE_BAD;
	}
	len = take_word(&s, end, &word);
	if (!take_rwbs(word, len, &rwbs)) {
		*why = "RWBS (behind the device) has a letter other than FWRDBNSAMEUZ";
		return LINE_BAD;
	}
	if (rwbs.data)
		kind = take_sectors(pass_command(s, end), end, row, why);
	return kind == LINE_ROW ? finish_row(p, &rwbs, row) : kind;
}

/* ---- blktrace --------------------------------------------------------------------- */

#define BLK_MAGIC 0x65617400u		/* the last byte is the version */
#define BLK_VERSION 7u
#define BLK_CATEGORY 16			/* the action's upper half is a bit for each of these */
#define BLK_CGROUP 0x100u		/* an identifier of a cgroup follows the record */
enum { BLK_WRITE = 1 << 1, BLK_FLUSH = 1 << 2, BLK_PC = 1 << 9, BLK_NOTIFY = 1 << 10, BLK_DISCARD = 1 << 13,
       BLK_FUA = 1 << 15 };
enum { AT_TIME = 8, AT_SECTOR = 16, AT_BYTES = 24, AT_ACTION = 28, AT_DEVICE = 36, AT_EXTRA = 46 };

static uint64_t blk_number(const struct parse *p, const unsigned char *r, unsigned int at, unsigned int bytes)
{
	uint64_t v = 0;

	for (unsigned int i = 0; i < bytes; i++)
		v = v << 8 | r[p->big_endian ? at + i : at + bytes - 1 - i];
	return v;
}

bool blktrace_begins(struct parse *p, const unsigned char *r)
{
	for (int big = 0; big < 2; big++) {
		p->big_endian = big;
		if ((blk_number(p, r, 0, 4) & ~0xffu) == BLK_MAGIC)
			return true;
	}
	return false;
}

size_t blktrace_bytes(const struct parse *p, const unsigned char *r)
{
	return BLKTRACE_HEAD + blk_number(p, r, AT_EXTRA, 2);
}

enum line_kind parse_blktrace(struct parse *p, const unsigned char *r, struct trace_row *row, const char **why)
{
	static const char letters[] = "-QMFGSRDCPUTIXBA";
	uint64_t action = blk_number(p, r, AT_ACTION, 4), category = action >> BLK_CATEGORY;
	uint64_t basic = action & 0xffff & ~BLK_CGROUP, sector = blk_number(p, r, AT_SECTOR, 8);
	struct rwbs rwbs = { .op = TRACE_FLUSH };

	if ((r[p->big_endian ? 3 : 0]) != BLK_VERSION) {
		*why = "is of a version of blktrace other than 7";
		return LINE_BAD;
	}
	if (category & (BLK_NOTIFY | BLK_PC) || basic >= sizeof(letters) - 1 ||
	    letters[basic] != (p->action ? p->action : 'Q'))
		return LINE_OTHER;
	row->bytes = blk_number(p, r, AT_BYTES, 4);
	row->at_ns = blk_number(p, r, AT_TIME, 8);
	row->device = blk_number(p, r, AT_DEVICE, 4);
	rwbs.flush = category & BLK_FLUSH;
	rwbs.fua = category & BLK_FUA;
	rwbs.data = row->bytes;
	if (!rwbs.data && !rwbs.flush)
		return LINE_OTHER;
	if (sector > TRACE_BYTES_MAX / 512) {
		*why = "its sector is beyond 4 EiB";
		return LINE_BAD;
	}
	row->offset = rwbs.data ? sector * 512 : 0;
	if (rwbs.data)
		rwbs.op = category & BLK_DISCARD ? TRACE_TRIM : category & BLK_WRITE ? TRACE_WRITE : TRACE_READ;
	return finish_row(p, &rwbs, row);
}
