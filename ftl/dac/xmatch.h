/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * xmatch.h - XMatchPRO: lossless compression of a block of 4-byte tuples, by a
 * dictionary and by run lengths.
 *
 * Nunez and Jones, "Gbit/s lossless data compression hardware", IEEE TVLSI 11(3), 2003,
 * and DATE 2000. xmatch.c has the code words and says where they come from.
 *
 * A stream has no header and no end mark: its owner keeps the sizes of stream and
 * block, and the size of the dictionary. Blocks are independent of each other.
 *
 * With a reference, what is compressed is the XOR of the block and the reference, and
 * expanding gives the block again. A block that equals its reference is all zeroes: 8 bytes
 * for 4 KiB, 28 for 16.
 */
#ifndef SLATE_XMATCH_H
#define SLATE_XMATCH_H

#include "err.h"
#include "port.h"

#define XMATCH_TUPLE_BYTES 4u
#define XMATCH_DICT_MIN 8u
#define XMATCH_DICT_DEFAULT 64u
#define XMATCH_DICT_MAX 64u		/* size of a 64-bit set: one bit for each slot */
#define XMATCH_ORDER 256u

/* Scratch memory of one call; only dict is kept between calls. */
struct xmatch {
	uint32_t dict;				/* maximum number of locations */
	uint32_t count;				/* number of locations in use */
	uint32_t tuple[XMATCH_DICT_MAX];	/* tuple of each slot; the first byte is the highest */
	uint32_t front;				/* index of location 0 in order[] */
	uint8_t order[XMATCH_ORDER];		/* slot of each location */
	uint64_t holds[XMATCH_TUPLE_BYTES][256];	/* slots that have this byte value at this position */
};

/* Set the size of the dictionary, XMATCH_DICT_MIN .. XMATCH_DICT_MAX. */
void xmatch_init(struct xmatch *x, uint32_t dict);

/* Returns an upper bound of the compressed size of len bytes. */
size_t xmatch_bound(size_t len);

/*
 * Compress len bytes of src, a positive multiple of 4, into dst. Returns the bytes of the stream,
 * or 0 if it does not fit in room (the content of dst is then undefined). No buffers overlap.
 */
size_t xmatch_compress(struct xmatch *x, const void *src, size_t len, void *dst, size_t room);
size_t xmatch_compress_xor(struct xmatch *x, const void *src, const void *ref, size_t len, void *dst,
			   size_t room);

/*
 * Expand the stream of len bytes at src into out_len bytes (a positive multiple of 4), the length
 * that was compressed. Returns SSD_E_CORRUPT if the stream does not have exactly this length (the
 * content of dst is then undefined). Accesses no byte outside the buffers. No buffers overlap,
 * except that ref may equal dst.
 */
int xmatch_expand(struct xmatch *x, const void *src, size_t len, void *dst,
		  size_t out_len) SSD_MUST_CHECK;
int xmatch_expand_xor(struct xmatch *x, const void *src, size_t len, const void *ref, void *dst,
		      size_t out_len) SSD_MUST_CHECK;

#endif
