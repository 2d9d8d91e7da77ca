// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * parse_blk.c - blkparse's default text (blkparse(1), "OUTPUT DESCRIPTION").
 *
 *   8,16   5   2   0.000001850 18615  Q  WFS 1444645666 + 256 [java]
 *
 * RWBS (blktrace.h, fill_rwbs() in the kernel's blktrace.c): an F in front of
 * the operation is a flush before it, an F behind it FUA; D a discard, W a
 * write, R a read, N another operation; S (sync), A (readahead), M (metadata) change
 * nothing here; B, the barrier of kernels before 2.6.37, is a flush before and
 * FUA. A write with a flush before it becomes two rows; one of no data, which
 * blkparse prints without SECTOR + N (what an fsync makes), is a flush.
 *
 * Events of another action, events without data and notes (m) are LINE_OTHER. After the events
 * blkparse prints a summary, which begins with a line of "CPU" or "Total".
 */
#include "parse.h"

struct rwbs {
	enum trace_op op;
	bool flush, data, fua;
};

static bool take_rwbs(const char *word, size_t len, struct rwbs *out)
{
	*out = (struct rwbs){ .op = TRACE_FLUSH };
	for (size_t i = 0; i < len; i++) {
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
		case 'N': case 'S': case 'A': case 'M': case 'E':
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

/* MAJ,MIN */
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
	if (len != 1 || *word != p->action)
		return LINE_OTHER;
	len = take_word(&s, end, &word);
	if (!take_rwbs(word, len, &rwbs)) {
		*why = "RWBS (column 7) has a letter other than FWRDBNSAME";
		return LINE_BAD;
	}
	if (rwbs.flush && rwbs.op == TRACE_WRITE && (s == end || *s == '['))
		rwbs = (struct rwbs){ .op = TRACE_FLUSH, .flush = true };
	if (!rwbs.data && !rwbs.flush)
		return LINE_OTHER;
	if (rwbs.data)
		kind = take_sectors(s, end, row, why);
	if (kind != LINE_ROW)
		return kind;
	row->op = rwbs.op;
	row->fua = rwbs.fua && rwbs.op == TRACE_WRITE;
	if (rwbs.flush && rwbs.data) {
		p->pending = *row;
		p->has_pending = true;
		row->op = TRACE_FLUSH;
		row->fua = false;
		row->offset = row->bytes = 0;
	}
	return LINE_ROW;
}
