// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * record_content.c - the writer of content traces; see record_content.h, and
 * docs/content-trace.md for the bytes.
 *
 * It knows requests and their bytes, but not the drive's work on them.
 *
 * Bytes go through `in` (hashed when it is full, then packed) and `out` (packed, then
 * written). The dictionary has an entry for each stored block: 16 bytes of its
 * SHA-256 and its number, in a table of open addressing that is at most half full.
 * Two blocks with the same 16 bytes are taken for equal; an accidental match is
 * practically impossible.
 *
 * A host may change its data while a write is under way, as Linux does with pages that it writes back. So the drive
 * gets what was recorded: `taken` has the data of the writes under way.
 *
 * REC1  `failed` is the errno of the first error; nothing is written after it.
 * REC2  in the table, entries are numbers 1 .. blocks, each once.
 *
 * Cost: 24 to 48 bytes of memory and a SHA-256 for each stored block of 4 KiB.
 */
#define _GNU_SOURCE
#include "record_content.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <gcrypt.h>
#include <zstd.h>

#include "content_format.h"
#include "record_file.h"

#define IN_BYTES ((size_t)128 << 10)
#define LEVEL 3
#define TABLE_FIRST 4096u
#define ID_WORDS 2

struct entry {
	uint64_t id[ID_WORDS];
	uint32_t number;		/* number of the block; 0: no block */
};

struct taken {
	const struct ftl_io *io;
	struct taken *next;
	unsigned char data[];
};

struct record_content {
	int fd, failed;
	char *path, *part;
	const char *why;		/* message used instead of strerror(failed) */
	ZSTD_CCtx *zstd;
	gcry_md_hd_t md;
	unsigned char *in, *out;
	size_t in_bytes, out_room;
	uint64_t last_ns;
	uint64_t records, writes, pieces, sectors;
	uint32_t blocks;
	struct entry *table;
	size_t table_size;		/* a power of two */
	struct taken *taken;
};

/* ---- bytes on their way out ---------------------------------------------------- */

static void fail(struct record_content *w, int number)
{
	if (!w->failed)
		w->failed = number ? number : EIO;
}

static void write_out(struct record_content *w, size_t len)
{
	const unsigned char *at = w->out;

	while (len && !w->failed) {
		ssize_t done = write(w->fd, at, len);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0) {
			fail(w, done ? errno : ENOSPC);
			return;
		}
		at += done;
		len -= (size_t)done;
	}
}

/* Compress the bytes in the buffer; `end` closes the frame. */
static void pack(struct record_content *w, ZSTD_EndDirective end)
{
	ZSTD_inBuffer from = { w->in, w->in_bytes, 0 };
	size_t left;

	do {
		ZSTD_outBuffer to = { w->out, w->out_room, 0 };

		left = ZSTD_compressStream2(w->zstd, &to, &from, end);
		if (ZSTD_isError(left)) {
			fail(w, EIO);
			w->why = ZSTD_getErrorName(left);
		}
		write_out(w, to.pos);
	} while (!w->failed && (from.pos < from.size || (end == ZSTD_e_end && left)));
	w->in_bytes = 0;
}

static void put(struct record_content *w, const void *data, size_t len)
{
	const unsigned char *from = data;

	while (len && !w->failed) {
		size_t part = IN_BYTES - w->in_bytes < len ? IN_BYTES - w->in_bytes : len;

		memcpy(w->in + w->in_bytes, from, part);
		w->in_bytes += part;
		from += part;
		len -= part;
		if (w->in_bytes == IN_BYTES) {
			gcry_md_write(w->md, w->in, w->in_bytes);
			pack(w, ZSTD_e_continue);
		}
	}
}

static void put_byte(struct record_content *w, unsigned int v)
{
	unsigned char byte = (unsigned char)v;

	put(w, &byte, 1);
}

static void put_varint(struct record_content *w, uint64_t v)
{
	unsigned char bytes[CONTENT_VARINT_MAX];
	size_t n = 0;

	for (; v >= 128; v >>= 7)
		bytes[n++] = (unsigned char)(v | 128);
	bytes[n++] = (unsigned char)v;
	put(w, bytes, n);
}

static void put_fixed(struct record_content *w, uint64_t v, unsigned int bytes)
{
	for (unsigned int i = 0; i < bytes; i++)
		put_byte(w, (unsigned int)(v >> 8 * i) & 255u);
}

/* ---- the dictionary --------------------------------------------------------------- */

static struct entry *find(struct entry *table, size_t size, const uint64_t id[ID_WORDS])
{
	size_t at = id[0] & (size - 1);

	while (table[at].number && memcmp(table[at].id, id, sizeof(table[at].id)))
		at = (at + 1) & (size - 1);
	return &table[at];
}

static void grow(struct record_content *w)
{
	size_t size = w->table_size ? 2 * w->table_size : TABLE_FIRST;
	struct entry *table = calloc(size, sizeof(*table));

	SSD_ASSERT(table);
	for (size_t i = 0; i < w->table_size; i++)
		if (w->table[i].number)
			*find(table, size, w->table[i].id) = w->table[i];
	free(w->table);
	w->table = table;
	w->table_size = size;
}

static void put_block(struct record_content *w, const unsigned char *block)
{
	unsigned char sha[CONTENT_SHA_BYTES];
	uint64_t id[ID_WORDS];
	struct entry *e;

	gcry_md_hash_buffer(GCRY_MD_SHA256, sha, block, CONTENT_BLOCK);
	memcpy(id, sha, sizeof(id));
	if (2 * ((size_t)w->blocks + 1) > w->table_size)
		grow(w);
	e = find(w->table, w->table_size, id);
	if (e->number) {
		put_varint(w, CONTENT_LAST + (w->blocks - e->number));
		return;
	}
	SSD_ASSERT(w->blocks < UINT32_MAX);
	memcpy(e->id, id, sizeof(id));
	e->number = ++w->blocks;
	put_varint(w, CONTENT_NEW);
	put(w, block, CONTENT_BLOCK);
}

/* ---- requests ------------------------------------------------------------------------ */

static const struct taken *take(struct record_content *w, struct ftl_io *io, const struct ftl_host *host)
{
	struct taken *t = malloc(sizeof(*t) + io->bytes);

	SSD_ASSERT(t);
	t->io = io;
	t->next = w->taken;
	host->copy(host->opaque, io, 0, t->data, io->bytes);
	w->taken = t;
	return t;
}

static void put_pieces(struct record_content *w, const struct ftl_io *io, const unsigned char *data)
{
	static const unsigned char zeroes[CONTENT_BLOCK];
	unsigned char block[CONTENT_BLOCK];
	uint64_t at = 0, len;

	for (; at < io->bytes && !w->failed; at += len, w->pieces++) {
		len = CONTENT_BLOCK - (io->offset + at) % CONTENT_BLOCK;
		len = len < io->bytes - at ? len : io->bytes - at;
		memcpy(block, data + at, len);
		memset(block + len, 0, CONTENT_BLOCK - len);
		if (memcmp(block, zeroes, CONTENT_BLOCK))
			put_block(w, block);
		else
			put_varint(w, CONTENT_ZEROES);
	}
}

void record_content_submit(struct record_content *w, uint64_t now_ns, struct ftl_io *io,
		    const struct ftl_host *host)
{
	static const unsigned char ops[FTL_NOPS] = {
		[FTL_READ] = CONTENT_READ, [FTL_WRITE] = CONTENT_WRITE,
		[FTL_TRIM] = CONTENT_TRIM, [FTL_FLUSH] = CONTENT_FLUSH,
	};

	record_content_end(w, io);
	if (w->failed || (!io->bytes && io->op != FTL_FLUSH))
		return;
	if (io->op == FTL_WRITE && io->bytes > CONTENT_WRITE_MAX) {
		w->why = "a write is larger than 1 GiB";
		fail(w, EFBIG);
		return;
	}
	if (io->lost || io->crossing) {
		w->why = "a Verify, a Copy or a Write Uncorrectable, which a content trace has no record for";
		fail(w, ENOTSUP);
		return;
	}
	put_byte(w, ops[io->op] | (io->op == FTL_WRITE && io->fua ? CONTENT_FUA : 0u));
	put_varint(w, now_ns - w->last_ns);
	w->last_ns = now_ns;
	w->records++;
	if (io->op == FTL_FLUSH)
		return;
	put_varint(w, io->offset / CONTENT_SECTOR);
	put_varint(w, io->bytes / CONTENT_SECTOR);
	if (io->op != FTL_WRITE)
		return;
	w->writes++;
	w->sectors += io->bytes / CONTENT_SECTOR;
	put_pieces(w, io, take(w, io, host)->data);
}

bool record_content_copy(const struct record_content *w, const struct ftl_io *io, uint64_t at, void *buf, size_t len)
{
	for (const struct taken *t = w->taken; t; t = t->next)
		if (t->io == io) {
			memcpy(buf, t->data + at, len);
			return true;
		}
	return false;
}

void record_content_end(struct record_content *w, const struct ftl_io *io)
{
	for (struct taken **at = &w->taken, *t = *at; t; at = &t->next, t = *at)
		if (t->io == io) {
			*at = t->next;
			free(t);
			return;
		}
}

/* ---- life cycle ------------------------------------------------------------------------ */

static void put_head(struct record_content *w, const char *settings)
{
	size_t len = strlen(settings);

	len = len < CONTENT_TEXT_MAX ? len : CONTENT_TEXT_MAX;
	put(w, CONTENT_MAGIC, CONTENT_MAGIC_BYTES);
	put_fixed(w, len, 4);
	put(w, settings, len);
	pack(w, ZSTD_e_continue);	/* the head is not hashed: the hash is that of the requests */
}

static void put_end(struct record_content *w)
{
	const uint64_t counts[CONTENT_COUNTS] = { w->records, w->writes, w->pieces, w->blocks, w->sectors };

	put_byte(w, CONTENT_END);
	for (unsigned int i = 0; i < CONTENT_COUNTS; i++)
		put_fixed(w, counts[i], 8);
	gcry_md_write(w->md, w->in, w->in_bytes);
	pack(w, ZSTD_e_continue);
	memcpy(w->in, gcry_md_read(w->md, GCRY_MD_SHA256), CONTENT_SHA_BYTES);
	w->in_bytes = CONTENT_SHA_BYTES;
	pack(w, ZSTD_e_end);
}

static void forget(struct record_content *w)
{
	while (w->taken)
		record_content_end(w, w->taken->io);
	if (w->fd >= 0)
		close(w->fd);
	ZSTD_freeCCtx(w->zstd);
	gcry_md_close(w->md);
	free(w->in);
	free(w->out);
	free(w->table);
	free(w->path);
	free(w->part);
	free(w);
}

static struct record_content *make(const char *path)
{
	struct record_content *w = calloc(1, sizeof(*w));

	SSD_ASSERT(w);
	if (!gcry_control(GCRYCTL_INITIALIZATION_FINISHED_P)) {
		gcry_check_version(NULL);
		gcry_control(GCRYCTL_DISABLE_SECMEM, 0);
		gcry_control(GCRYCTL_INITIALIZATION_FINISHED, 0);
	}
	w->fd = -1;
	w->out_room = ZSTD_CStreamOutSize();
	w->in = malloc(IN_BYTES);
	w->out = malloc(w->out_room);
	w->zstd = ZSTD_createCCtx();
	w->path = strdup(path);
	if (asprintf(&w->part, "%s.part", path) < 0)
		w->part = NULL;
	if (gcry_md_open(&w->md, GCRY_MD_SHA256, 0))
		w->md = NULL;
	SSD_ASSERT(w->in && w->out && w->zstd && w->path && w->part && w->md);
	ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel, LEVEL);
	ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_checksumFlag, 1);
	return w;
}

struct record_content *record_content_open(const char *path, const char *settings,
				    char err[SLATE_ERR_BYTES])
{
	struct record_content *w = make(path);

	w->fd = record_file_open("content trace", w->path, w->part, err);
	if (w->fd < 0) {
		forget(w);
		return NULL;
	}
	put_head(w, settings);
	return w;
}

bool record_content_close(struct record_content *w, bool keep)
{
	bool good;

	if (keep)
		put_end(w);
	if (close(w->fd))
		fail(w, errno);
	w->fd = -1;
	if (keep && !w->failed && rename(w->part, w->path))
		fail(w, errno);
	good = !keep || !w->failed;
	if (!good)
		fprintf(stderr, "slate: content trace %s: %s: there is none; free some space, or name another "
			"file\n", w->path, w->why ? w->why : strerror(w->failed));
	if (!good || !keep)
		unlink(w->part);
	forget(w);
	return good;
}
