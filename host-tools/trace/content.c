// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * content.c - the reader of content traces; see content.h, and docs/content-trace.md
 * for the bytes.
 *
 * It stores the numbers of the pieces of one write at a time. Stored blocks lie in a
 * file without a name, block n (from 1) at (n - 1) * 4096.
 *
 * States: open (head read) -> over (end read, all counts and the hash right). After an error the
 * reader may only be closed or rewound.
 *
 * CONT1  pieces of the current write are 0 (zeroes) or 1 .. blocks.
 * CONT2  in->buf[hashed, at) has been used and is not hashed yet; all bytes that leave the window have
 *       been hashed, except the hash itself.
 *
 * Cost: a copy, a SHA-256 and a file write for each stored block, a file read for each
 * piece that is asked for; memory for the pieces of the largest write (4 bytes for 4 KiB).
 */
#define _GNU_SOURCE
#include "content.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <gcrypt.h>

#include "content_format.h"

#define CUT "ends before its end: it is not the whole file (was its recording killed?)"

enum count { RECORDS, WRITES, PIECES, BLOCKS, SECTORS };
static const char *const count_names[CONTENT_COUNTS] = {
	"records", "writes", "pieces", "stored blocks", "sectors written"
};

struct content {
	struct window *in;
	size_t hashed;
	gcry_md_hd_t md;
	int fd;				/* file of the stored blocks; -1: not opened yet */
	char *text;
	uint64_t count[CONTENT_COUNTS], zeroes;
	uint64_t at_ns, offset, bytes;	/* the current row; bytes 0: not a write */
	uint32_t *piece;
	size_t room;
	bool over;
	unsigned char sha256[CONTENT_SHA_BYTES];
	char why[200];
};

static int damaged(struct content *c, const char **why, const char *what)
{
	snprintf(c->why, sizeof(c->why), "is damaged: record %" PRIu64 " %s: make the recording again",
		 c->count[RECORDS] + 1, what);
	*why = c->why;
	return -1;
}

/* ---- bytes ------------------------------------------------------------------------ */

static void hash(struct content *c)
{
	gcry_md_write(c->md, c->in->buf + c->hashed, c->in->at - c->hashed);
	c->hashed = c->in->at;
}

static int more(struct content *c, const char **why)
{
	hash(c);
	c->hashed = 0;
	return window_more(c->in, why);
}

/* Take the next len bytes. NULL on an error, with *why. */
static const unsigned char *take(struct content *c, size_t len, const char **why)
{
	struct window *in = c->in;

	while (in->end - in->at < len) {
		if (in->over) {
			*why = CUT;
			return NULL;
		}
		if (more(c, why))
			return NULL;
	}
	in->at += len;
	return (unsigned char *)in->buf + in->at - len;
}

static int take_varint(struct content *c, uint64_t *out, const char **why)
{
	uint64_t v = 0;

	for (unsigned int i = 0; i < CONTENT_VARINT_MAX; i++) {
		const unsigned char *byte = take(c, 1, why);

		if (!byte)
			return -1;
		if (i == CONTENT_VARINT_MAX - 1 && *byte > 1)
			break;
		v |= (uint64_t)(*byte & 127) << 7 * i;
		if (!(*byte & 128)) {
			*out = v;
			return 0;
		}
	}
	return damaged(c, why, "has a number of more than 64 bits");
}

static uint64_t fixed(const unsigned char *at, unsigned int bytes)
{
	uint64_t v = 0;

	for (unsigned int i = 0; i < bytes; i++)
		v |= (uint64_t)at[i] << 8 * i;
	return v;
}

/* ---- stored blocks ------------------------------------------------------------------ */

static int blocks_failed(struct content *c, const char **why)
{
	snprintf(c->why, sizeof(c->why), "its blocks need a file in $TMPDIR, or /var/tmp: %s: free some space "
		 "there, or name another directory with TMPDIR", strerror(errno));
	*why = c->why;
	return -1;
}

static int open_blocks(struct content *c, const char **why)
{
	const char *dir = getenv("TMPDIR");
	char *name;

	if (asprintf(&name, "%s/slate-content-XXXXXX", dir && *dir ? dir : "/var/tmp") < 0)
		return blocks_failed(c, why);
	c->fd = mkostemp(name, O_CLOEXEC);
	if (c->fd >= 0)
		unlink(name);
	free(name);
	return c->fd < 0 ? blocks_failed(c, why) : 0;
}

static int store(struct content *c, const char **why)
{
	const unsigned char *block = take(c, CONTENT_BLOCK, why);
	size_t done = 0;

	if (!block || (c->fd < 0 && open_blocks(c, why)))
		return -1;
	while (done < CONTENT_BLOCK) {
		ssize_t n = pwrite(c->fd, block + done, CONTENT_BLOCK - done,
				   (off_t)(c->count[BLOCKS] * CONTENT_BLOCK + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return blocks_failed(c, why);
		done += (size_t)n;
	}
	c->count[BLOCKS]++;
	return 0;
}

static int load(struct content *c, uint32_t number, size_t at, void *buf, size_t len,
		const char **why)
{
	size_t done = 0;

	if (!number) {
		memset(buf, 0, len);
		return 0;
	}
	while (done < len) {
		ssize_t n = pread(c->fd, (char *)buf + done, len - done,
				  (off_t)((uint64_t)(number - 1) * CONTENT_BLOCK + at + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return blocks_failed(c, why);
		done += (size_t)n;
	}
	return 0;
}

int content_read(struct content *c, uint64_t at, void *buf, size_t len, const char **why)
{
	char *to = buf;

	while (len) {
		uint64_t where = c->offset + at, piece = where / CONTENT_BLOCK - c->offset / CONTENT_BLOCK;
		size_t within = (size_t)(piece ? where % CONTENT_BLOCK : at);
		size_t part = CONTENT_BLOCK - (size_t)(where % CONTENT_BLOCK);

		part = part < len ? part : len;
		if (load(c, c->piece[piece], within, to, part, why))
			return -1;
		to += part;
		at += part;
		len -= part;
	}
	return 0;
}

/* ---- records ------------------------------------------------------------------------- */

static int take_piece(struct content *c, uint32_t *out, const char **why)
{
	uint64_t v;

	if (take_varint(c, &v, why))
		return -1;
	c->count[PIECES]++;
	if (v == CONTENT_ZEROES) {
		c->zeroes++;
		*out = 0;
		return 0;
	}
	if (v == CONTENT_NEW) {
		if (c->count[BLOCKS] == UINT32_MAX)
			return damaged(c, why, "stores more than 2^32 blocks");
		if (store(c, why))
			return -1;
		*out = (uint32_t)c->count[BLOCKS];
		return 0;
	}
	if (v - CONTENT_LAST >= c->count[BLOCKS])
		return damaged(c, why, "names a block that is not there");
	*out = (uint32_t)(c->count[BLOCKS] - (v - CONTENT_LAST));
	return 0;
}

static int take_pieces(struct content *c, const char **why)
{
	size_t n = (size_t)((c->offset + c->bytes - 1) / CONTENT_BLOCK - c->offset / CONTENT_BLOCK) + 1;

	if (n > c->room) {
		uint32_t *piece = realloc(c->piece, n * sizeof(*piece));

		if (!piece) {
			*why = "no memory for the pieces of a write";
			return -1;
		}
		c->piece = piece;
		c->room = n;
	}
	for (size_t i = 0; i < n; i++)
		if (take_piece(c, &c->piece[i], why))
			return -1;
	c->count[WRITES]++;
	c->count[SECTORS] += c->bytes / CONTENT_SECTOR;
	return 0;
}

static int take_range(struct content *c, struct trace_row *row, const char **why)
{
	uint64_t first, sectors, all = TRACE_BYTES_MAX / CONTENT_SECTOR;

	if (take_varint(c, &first, why) || take_varint(c, &sectors, why))
		return -1;
	if (!sectors || first > all || sectors > all - first)
		return damaged(c, why, "is of no bytes, or ends beyond 4 EiB");
	if (row->op == TRACE_WRITE && sectors > CONTENT_WRITE_MAX / CONTENT_SECTOR)
		return damaged(c, why, "writes more than 1 GiB");
	row->offset = first * CONTENT_SECTOR;
	row->bytes = sectors * CONTENT_SECTOR;
	return 0;
}

/* Check the counts and the hash at the end, and that the trace ends there. */
static int take_end(struct content *c, const char **why)
{
	const unsigned char *at = take(c, CONTENT_COUNTS * 8, why);

	if (!at)
		return -1;
	for (unsigned int i = 0; i < CONTENT_COUNTS; i++)
		if (fixed(at + 8 * i, 8) != c->count[i]) {
			snprintf(c->why, sizeof(c->why), "is damaged: its end counts %" PRIu64 " %s, and there "
				 "are %" PRIu64 ": make the recording again", fixed(at + 8 * i, 8),
				 count_names[i], c->count[i]);
			*why = c->why;
			return -1;
		}
	hash(c);
	memcpy(c->sha256, gcry_md_read(c->md, GCRY_MD_SHA256), sizeof(c->sha256));
	at = take(c, sizeof(c->sha256), why);
	if (!at)
		return -1;
	if (memcmp(at, c->sha256, sizeof(c->sha256))) {
		*why = "is damaged: its bytes do not have the hash that its end names: make the recording again";
		return -1;
	}
	while (c->in->at == c->in->end && !c->in->over)
		if (more(c, why))
			return -1;
	if (c->in->at != c->in->end) {
		*why = "goes on behind its end: cut it off there, or make the recording again";
		return -1;
	}
	c->over = true;
	return 0;
}

int content_next(struct content *c, struct trace_row *row, const char **why)
{
	const unsigned char *byte;
	uint64_t wait_ns;

	c->bytes = 0;
	if (c->over)
		return 0;
	byte = take(c, 1, why);
	if (!byte)
		return -1;
	if (*byte == CONTENT_END)
		return take_end(c, why);
	if (*byte > CONTENT_FLUSH && *byte != (CONTENT_WRITE | CONTENT_FUA))
		return damaged(c, why, "is of no known kind");
	*row = (struct trace_row){ .op = (enum trace_op)(*byte & CONTENT_END), .line = c->count[RECORDS] + 1,
				   .fua = *byte & CONTENT_FUA };
	if (take_varint(c, &wait_ns, why))
		return -1;
	if (wait_ns > UINT64_MAX - c->at_ns)
		return damaged(c, why, "comes after more than 2^64 ns");
	c->at_ns += wait_ns;
	row->at_ns = c->at_ns;
	if (row->op != TRACE_FLUSH && take_range(c, row, why))
		return -1;
	if (row->op == TRACE_WRITE) {
		c->offset = row->offset;
		c->bytes = row->bytes;
		if (take_pieces(c, why))
			return -1;
	}
	c->count[RECORDS]++;
	return 1;
}

/* ---- life cycle ------------------------------------------------------------------------ */

_Static_assert((int)TRACE_READ == CONTENT_READ && (int)TRACE_WRITE == CONTENT_WRITE &&
	       (int)TRACE_TRIM == CONTENT_TRIM && (int)TRACE_FLUSH == CONTENT_FLUSH, "trace.h");

int content_rewind(struct content *c, const char **why)
{
	const unsigned char *at;
	size_t len;

	c->hashed = c->in->at;
	gcry_md_reset(c->md);
	memset(c->count, 0, sizeof(c->count));
	c->zeroes = c->at_ns = c->bytes = 0;
	c->over = false;
	at = take(c, CONTENT_MAGIC_BYTES, why);
	if (!at && strcmp(*why, CUT))
		return -1;
	if (!at || memcmp(at, CONTENT_MAGIC, CONTENT_MAGIC_BYTES)) {
		*why = "does not begin with 'slate-content 1': it is of another version, or not Slate's";
		return -1;
	}
	at = take(c, 4, why);
	if (!at)
		return -1;
	len = (size_t)fixed(at, 4);
	if (len > CONTENT_TEXT_MAX) {
		*why = "is damaged: its head is longer than 65535 bytes: make the recording again";
		return -1;
	}
	at = take(c, len, why);
	if (!at)
		return -1;
	free(c->text);
	c->text = strndup((const char *)at, len);
	gcry_md_reset(c->md);		/* the head is not part of the hash */
	c->hashed = c->in->at;
	*why = "no memory for its head";
	return c->text ? 0 : -1;
}

struct content *content_open(struct window *in, const char **why)
{
	struct content *c = calloc(1, sizeof(*c));

	*why = "no memory to read it";
	if (!c)
		return NULL;
	c->in = in;
	c->fd = -1;
	if (gcry_md_open(&c->md, GCRY_MD_SHA256, 0)) {
		c->md = NULL;
		content_close(c);
		return NULL;
	}
	if (!content_rewind(c, why))
		return c;
	content_close(c);
	return NULL;
}

void content_close(struct content *c)
{
	if (!c)
		return;
	if (c->fd >= 0)
		close(c->fd);
	gcry_md_close(c->md);
	free(c->piece);
	free(c->text);
	free(c);
}

void content_counts(const struct content *c, struct trace_content *out)
{
	*out = (struct trace_content){ .pieces = c->count[PIECES], .zeroes = c->zeroes,
				       .blocks = c->count[BLOCKS] };
}

const char *content_settings(const struct content *c)
{
	return c->text;
}

bool content_name(const struct content *c, char out[TRACE_SHA256_CHARS])
{
	for (size_t i = 0; i < sizeof(c->sha256); i++)
		snprintf(out + 2 * i, 3, "%02x", c->sha256[i]);
	return c->over;
}
