// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * parse_records.c - binary records of fixed length, little-endian, as libCacheSim (aa0fc409) reads them.
 *
 * vscsi, what CloudPhysics published (customizedReader/vscsi.h): times in us, lengths in bytes, SCSI operation codes.
 * A block is 512 bytes: columns.c says why. The version is the upper byte of a field in each record.
 *   1:  serial 4, length 4, segments 4, command 2, version 2, block 8, time 8
 *   2:  command 2, version 2, serial 4, length 4, segments 4, block 8, time 8, response time 8
 *
 * oracleGeneral (customizedReader/oracle/oracleGeneralBin.h): time 4, object 8, size 4, next access 8. Times are
 * seconds, sizes bytes. The record has no operation, and its source gives an object's number no unit: the user names
 * both.
 */
#include "parse.h"

#define SCSI_BLOCK 512u

static uint64_t number(const unsigned char *r, unsigned int bytes)
{
	uint64_t v = 0;

	while (bytes--)
		v = v << 8 | r[bytes];
	return v;
}

/* ---- vscsi ---------------------------------------------------------------------- */

size_t vscsi_bytes(const struct parse *p)
{
	return p->vscsi == 1 ? 32 : 40;
}

static unsigned int version_at(const struct parse *p, const unsigned char *r)
{
	return r[p->vscsi == 1 ? 15 : 3];
}

static unsigned int command_at(const struct parse *p, const unsigned char *r)
{
	return (unsigned int)number(r + (p->vscsi == 1 ? 12 : 0), 2);
}

/* Are the first records, at most 64, of the version that is tried, and are there at least two? */
static bool are_all(const struct parse *p, const unsigned char *r, size_t len)
{
	size_t records = len / vscsi_bytes(p);

	records = records < 64 ? records : 64;
	for (size_t i = 0; i < records; i++, r += vscsi_bytes(p))
		if (version_at(p, r) != p->vscsi || command_at(p, r) > 0xff)
			return false;
	return records > 1;
}

bool vscsi_begins(struct parse *p, const unsigned char *r, size_t len)
{
	for (p->vscsi = 2; p->vscsi; p->vscsi--)
		if (are_all(p, r, len))
			return true;
	return false;
}

enum line_kind parse_vscsi(struct parse *p, const unsigned char *r, struct trace_row *row, const char **why)
{
	uint64_t us = number(r + 24, 8), block = number(r + 16, 8);

	if (version_at(p, r) != p->vscsi) {
		*why = "is of another version than the first one";
		return LINE_BAD;
	}
	switch (command_at(p, r)) {
	case 0x28: case 0xa8: case 0x88:	/* READ of 10, 12 and 16 bytes */
		row->op = TRACE_READ;
		break;
	case 0x2a: case 0xaa: case 0x8a:
		row->op = TRACE_WRITE;
		break;
	case 0x35: case 0x91:			/* SYNCHRONIZE CACHE of 10 and 16 bytes */
		row->op = TRACE_FLUSH;
		break;
	default:
		return LINE_PASSED;
	}
	if (us > UINT64_MAX / 1000 || block > TRACE_BYTES_MAX / SCSI_BLOCK) {
		*why = "its time is beyond 584 years, or its block beyond 4 EiB";
		return LINE_BAD;
	}
	row->at_ns = us * 1000;
	if (row->op == TRACE_FLUSH)
		return LINE_ROW;
	row->offset = block * SCSI_BLOCK;
	row->bytes = number(r + (p->vscsi == 1 ? 4 : 8), 4);
	return LINE_ROW;
}

/* ---- oracleGeneral ---------------------------------------------------------------- */

enum line_kind parse_oracle(struct parse *p, const unsigned char *r, struct trace_row *row, const char **why)
{
	row->at_ns = number(r, 4) * 1000000000;
	row->bytes = number(r + 12, 4);
	row->op = (enum trace_op)p->object->op;
	*why = "its object is beyond 4 EiB: is its unit right?";
	if (__builtin_mul_overflow(number(r + 4, 8), p->object->unit, &row->offset) || row->offset > TRACE_BYTES_MAX)
		return LINE_BAD;
	return LINE_ROW;
}
