// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz_xmatch.c - fuzzes XMatchPRO. Of the first byte, six bits choose the size
 * of the dictionary and two what the rest is:
 *   0, 3  a stream: two bytes are the length of its block. It must be refused or expanded; if it is
 *         expanded, the block is compressed again, and must expand to the same block;
 *   1     a block, which must be the same after compressing and expanding, and must not fit into
 *         one byte less;
 *   2     a block and its reference, half each: likewise.
 * All buffers have exactly the needed size. An input on which that fails ends in abort(), so
 * that libFuzzer keeps it; fuzz_xmatch_bin FILE runs it again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "xmatch.h"

#define MUST(x) ((x) ? (void)0 : broken(#x))
#define BLOCK_MAX 16384u

static struct xmatch x;

static void broken(const char *what)
{
	fprintf(stderr, "fuzz_xmatch: broken: %s\n", what);
	abort();
}

/* Allocate a block, also of size 0, so that reading a single byte of it is an error. */
static uint8_t *copy_of(const uint8_t *data, size_t len)
{
	uint8_t *copy = malloc(len);

	if (len)
		memcpy(copy, data, len);
	return copy;
}

static size_t pack(const uint8_t *block, const uint8_t *ref, size_t len, uint8_t *out, size_t room)
{
	return ref ? xmatch_compress_xor(&x, block, ref, len, out, room) :
		     xmatch_compress(&x, block, len, out, room);
}

static int unpack(const uint8_t *stream, size_t n, const uint8_t *ref, uint8_t *out, size_t len)
{
	return ref ? xmatch_expand_xor(&x, stream, n, ref, out, len) :
		     xmatch_expand(&x, stream, n, out, len);
}

static void round_trip(const uint8_t *data, const uint8_t *with, size_t len)
{
	uint8_t *block = copy_of(data, len), *ref = with ? copy_of(with, len) : NULL;
	uint8_t *stream = malloc(xmatch_bound(len)), *back = malloc(len), *tight;
	size_t n = pack(block, ref, len, stream, xmatch_bound(len));

	MUST(n && n <= xmatch_bound(len));
	tight = copy_of(stream, n);
	MUST(!unpack(tight, n, ref, back, len) && !memcmp(back, block, len));
	MUST(unpack(tight, n - 1, ref, back, len) == SSD_E_CORRUPT);
	MUST(pack(block, ref, len, tight, n) == n && !memcmp(tight, stream, n));
	free(tight);
	tight = malloc(n - 1);
	MUST(!pack(block, ref, len, tight, n - 1));
	free(tight);
	free(back);
	free(stream);
	free(ref);
	free(block);
}

static void any_stream(const uint8_t *data, size_t size)
{
	size_t len;
	uint8_t *stream, *out;
	int result;

	if (size < 2)
		return;
	len = XMATCH_TUPLE_BYTES * (1 + (data[0] | (size_t)data[1] << 8) % (BLOCK_MAX / XMATCH_TUPLE_BYTES));
	stream = copy_of(data + 2, size - 2);
	out = malloc(len);
	result = xmatch_expand(&x, stream, size - 2, out, len);
	MUST(result == SSD_OK || result == SSD_E_CORRUPT);
	if (!result)
		round_trip(out, NULL, len);
	free(out);
	free(stream);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t len;

	if (!size)
		return -1;
	xmatch_init(&x, XMATCH_DICT_MIN + (data[0] & 63) % (XMATCH_DICT_MAX - XMATCH_DICT_MIN + 1));
	len = (size - 1) / 4 * 4;
	switch (data[0] >> 6) {
	case 1:
		if (len)
			round_trip(data + 1, NULL, len);
		break;
	case 2:
		len = len / 8 * 4;
		if (len)
			round_trip(data + 1, data + 1 + len, len);
		break;
	default:
		any_stream(data + 1, size - 1);
		break;
	}
	return 0;
}
