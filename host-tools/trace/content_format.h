/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * content_format.h - constants of content traces, for their writer (libslate) and their reader.
 * docs/content-trace.md defines the format.
 */
#ifndef SLATE_CONTENT_FORMAT_H
#define SLATE_CONTENT_FORMAT_H

#include <stdint.h>

#define CONTENT_MAGIC "slate-content 1\n"
#define CONTENT_MAGIC_BYTES 16u
#define CONTENT_TEXT_MAX 65535u
#define CONTENT_SECTOR 512u
#define CONTENT_BLOCK 4096u
#define CONTENT_WRITE_MAX ((uint64_t)1 << 30)
#define CONTENT_VARINT_MAX 10u
#define CONTENT_SHA_BYTES 32u
#define CONTENT_COUNTS 5u	/* numbers at the end: records, writes, pieces, blocks, sectors written */
#define CONTENT_END_BYTES (CONTENT_COUNTS * 8u + CONTENT_SHA_BYTES)

enum content_op {
	CONTENT_READ, CONTENT_WRITE, CONTENT_TRIM, CONTENT_FLUSH,
	CONTENT_END = 7,
	CONTENT_FUA = 8,		/* flag combined with WRITE */
};

enum content_piece { CONTENT_ZEROES, CONTENT_NEW, CONTENT_LAST };	/* LAST + n: the block n places before the
									 * last one */

#endif
