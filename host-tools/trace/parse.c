// SPDX-License-Identifier: GPL-2.0-or-later
/* parse.c - the formats of fixed columns: msr, ssdsim and disksim. See trace.h for their sources. */
#include "parse.h"

#define SECTOR_BYTES 512u
#define SECTORS_MAX (TRACE_BYTES_MAX / SECTOR_BYTES)

/* ---- MSR Cambridge ---------------------------------------------------------- */

static bool take_comma(const char **s, const char *end)
{
	if (*s == end || **s != ',')
		return false;
	(*s)++;
	return true;
}

static bool take_field(const char **s, const char *end, uint64_t *out)
{
	return take_u64(s, end, out) && take_comma(s, end);
}

/* Take a type by its published name; Read and Write in any case. */
static bool take_type(const char **s, const char *end, enum trace_op *op)
{
	size_t left = (size_t)(end - *s);
	char c = left ? (char)(**s | 0x20) : 0;
	const char *want = c == 'r' ? "read" : "write";
	size_t len = c == 'r' ? 4 : 5;

	if (left < len)
		return false;
	for (size_t i = 0; i < len; i++)
		if (((*s)[i] | 0x20) != want[i])
			return false;
	*op = c == 'r' ? TRACE_READ : TRACE_WRITE;
	*s += len;
	return take_comma(s, end);
}

enum line_kind parse_msr(struct parse *p, const char *s, const char *end, struct trace_row *row,
			 const char **why)
{
	static const char head[] = "Timestamp,";
	uint64_t ticks, response;
	const char *host;

	if ((size_t)(end - s) >= sizeof(head) - 1 && !memcmp(s, head, sizeof(head) - 1) && row->line == 1)
		return LINE_OTHER;
	if (!take_field(&s, end, &ticks) || ticks > UINT64_MAX / 100) {
		*why = "Timestamp (column 1) is no whole number of 100 ns";
		return LINE_BAD;
	}
	host = memchr(s, ',', (size_t)(end - s));
	if (!host) {
		*why = "there are less than 7 columns";
		return LINE_BAD;
	}
	s = host + 1;
	if (!take_field(&s, end, &row->device)) {
		*why = "DiskNumber (column 3) is no whole number";
		return LINE_BAD;
	}
	if (!take_type(&s, end, &row->op)) {
		*why = "Type (column 4) is neither Read nor Write";
		return LINE_BAD;
	}
	if (!take_field(&s, end, &row->offset) || !take_field(&s, end, &row->bytes)) {
		*why = "Offset or Size (columns 5 and 6) is no whole number of bytes";
		return LINE_BAD;
	}
	if (!take_u64(&s, end, &response) || s != end) {
		*why = "ResponseTime (column 7) is no whole number, or more columns follow";
		return LINE_BAD;
	}
	row->at_ns = ticks * 100;
	(void)p;
	return LINE_ROW;
}

/* ---- SSDSim ------------------------------------------------------------------ */

enum line_kind parse_ssdsim(struct parse *p, const char *s, const char *end, struct trace_row *row,
			    const char **why)
{
	uint64_t lba, sectors, op;
	const char *hash;

	(void)p;
	s = skip_blanks(s, end);
	if (!take_column(&s, end, &row->at_ns) || !take_column(&s, end, &row->device) ||
	    !take_column(&s, end, &lba) || !take_column(&s, end, &sectors) || !take_column(&s, end, &op)) {
		*why = "five whole numbers are expected: ARRIVAL_NS DEVICE LBA SECTORS OP";
		return LINE_BAD;
	}
	if (op > 1) {
		*why = "OP (column 5) is neither 0 (write) nor 1 (read)";
		return LINE_BAD;
	}
	if (take_word(&s, end, &hash) && s != end) {
		*why = "there are more than 6 columns";
		return LINE_BAD;
	}
	if (lba > SECTORS_MAX || sectors > SECTORS_MAX) {
		*why = "LBA or SECTORS (columns 3 and 4) is beyond 4 EiB";
		return LINE_BAD;
	}
	row->op = op ? TRACE_READ : TRACE_WRITE;
	row->offset = lba * SECTOR_BYTES;
	row->bytes = sectors * SECTOR_BYTES;
	return LINE_ROW;
}

/* ---- DiskSim ------------------------------------------------------------------ */

enum line_kind parse_disksim(struct parse *p, const char *s, const char *end, struct trace_row *row,
			     const char **why)
{
	uint64_t block, blocks, flags;

	(void)p;
	s = skip_blanks(s, end);
	if (!take_millionths(&s, end, &row->at_ns)) {
		*why = "ARRIVAL_MS (column 1) is no number of milliseconds, such as 2 or 1.25";
		return LINE_BAD;
	}
	if (!take_column(&s, end, &row->device) || !take_column(&s, end, &block) || !take_column(&s, end, &blocks)) {
		*why = "whole numbers are expected behind the time: DEVICE BLOCK BLOCKS";
		return LINE_BAD;
	}
	if (!take_last_hex(s, end, &flags)) {
		*why = "FLAGS (column 5) is no hexadecimal number, or more columns follow";
		return LINE_BAD;
	}
	if (block > SECTORS_MAX || blocks > SECTORS_MAX) {
		*why = "BLOCK or BLOCKS (columns 3 and 4) is beyond 4 EiB";
		return LINE_BAD;
	}
	row->op = flags & 1 ? TRACE_READ : TRACE_WRITE;
	row->offset = block * SECTOR_BYTES;
	row->bytes = blocks * SECTOR_BYTES;
	return LINE_ROW;
}
