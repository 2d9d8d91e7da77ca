/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * xmatch.h - XMatchPRO: lossless compression of a block of 4-byte tuples, by a
 * dictionary and by run lengths.
 *
 * Nunez and Jones, "Gbit/s lossless data compression hardware", IEEE TVLSI 11(3), 2003,
 * and DATE 2000. xmatch.c has the code words and says which of them are published.
 *
 * A stream holds no header and no length: whoever stores it keeps the sizes of both, and
 * the size of the dictionary. Each call starts with an empty dictionary, so that blocks are
 * independent of each other.
 *
 * With a reference, what is compressed is the XOR of the block and the reference, and
 * expanding gives the block again. A block equal to its reference is all zeroes: 24 bytes
 * for 4 KiB.
 */
#ifndef SLATE_XMATCH_H
#define SLATE_XMATCH_H

#include "err.h"
#include "port.h"

#define XMATCH_TUPLE_BYTES 4u
#define XMATCH_DICT_MIN 8u
#define XMATCH_DICT_DEFAULT 64u
#define XMATCH_DICT_MAX 1024u

/* Scratch of one call; between calls only dict_max counts. */
struct xmatch {
	uint32_t dict_max;			/* tuples in the dictionary at most */
	uint32_t count;				/* ... and now */
	uint32_t tuple[XMATCH_DICT_MAX];	/* by location: 0 is the latest used */
};

/* dict: a power of 2, XMATCH_DICT_MIN .. XMATCH_DICT_MAX. */
void xmatch_init(struct xmatch *x, uint32_t dict);

/* No stream of a block of len bytes is longer. */
size_t xmatch_bound(size_t len);

/*
 * Compress len bytes of src, a positive multiple of 4, into dst. Returns the bytes of the
 * stream, or 0 if it does not fit in room (dst then holds anything). Nothing overlaps.
 */
size_t xmatch_compress(struct xmatch *x, const void *src, size_t len, void *dst, size_t room);
size_t xmatch_compress_xor(struct xmatch *x, const void *src, const void *ref, size_t len, void *dst,
			   size_t room);

/*
 * Expand the stream of len bytes at src into the out_len bytes (a positive multiple of 4) that
 * were compressed. SSD_E_CORRUPT if it is none that xmatch_compress() could have made of so
 * many bytes (dst then holds anything). Reads and writes nothing outside.
 */
int xmatch_expand(struct xmatch *x, const void *src, size_t len, void *dst,
		  size_t out_len) SSD_MUST_CHECK;
int xmatch_expand_xor(struct xmatch *x, const void *src, size_t len, const void *ref, void *dst,
		      size_t out_len) SSD_MUST_CHECK;

#endif
