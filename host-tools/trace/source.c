// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * source.c - see source.h. Raw bytes go through one buffer. They are hashed the first time that they
 * are read, and then copied or unpacked. A packed file that ends inside a member is an error, because
 * a truncated trace looks like a short one.
 *
 * The raw bytes of a table are the lines that a program prints about it; hash and size are the file's own.
 */
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gcrypt.h>
#include <zlib.h>
#include <zstd.h>

#include "table.h"

#define RAW_BYTES ((size_t)256 << 10)
#define SHA256_BYTES 32

enum packing { PLAIN, GZIP, ZSTD };

struct source {
	int fd;				/* -1: the source is memory */
	const unsigned char *memory;
	size_t memory_bytes;
	bool is_stdin;
	struct source *file;		/* of a table; NULL: there is no program */
	struct table_program program;	/* its output is fd */
	char **words;
	unsigned char *raw;
	size_t raw_at, raw_end;		/* raw bytes not used yet */
	bool raw_over;
	uint64_t raw_done, raw_all;
	gcry_md_hd_t md;
	bool hashing, hashed;		/* the first pass is being hashed; all bytes have been hashed */
	char sha256[2 * SHA256_BYTES + 1];
	enum packing packing;
	bool inside;			/* a member has begun and has not ended */
	z_stream z;
	ZSTD_DStream *zstd;
	char why[400];
};

/* ---- raw bytes ------------------------------------------------------------ */

static void finish_hash(struct source *s)
{
	const unsigned char *digest;

	if (!s->hashing)
		return;
	digest = gcry_md_read(s->md, GCRY_MD_SHA256);
	for (size_t i = 0; i < SHA256_BYTES; i++)
		snprintf(s->sha256 + 2 * i, 3, "%02x", digest[i]);
	s->hashing = false;
	s->hashed = true;
}

static long get_raw(struct source *s)
{
	size_t left = s->memory_bytes - (size_t)s->raw_done;

	if (s->fd >= 0)		/* EINTR is returned to the caller, because a signal may end the program */
		return read(s->fd, s->raw, RAW_BYTES);
	left = left < RAW_BYTES ? left : RAW_BYTES;
	if (left)
		memcpy(s->raw, s->memory + s->raw_done, left);
	return (long)left;
}

/* The program has closed its output. Returns false with *why if it failed. */
static bool end_program(struct source *s, const char **why)
{
	s->fd = -1;
	*why = s->why;
	return table_end(&s->program, s->why, sizeof(s->why));
}

/* Fill the empty raw buffer; at the end of the file it stays empty. -1: *why. */
static int fill_raw(struct source *s, const char **why)
{
	long got;

	if (s->raw_at < s->raw_end || s->raw_over)
		return 0;
	got = get_raw(s);
	if (got < 0) {
		snprintf(s->why, sizeof(s->why), "cannot be read: %s", strerror(errno));
		*why = s->why;
		return -1;
	}
	s->raw_at = 0;
	s->raw_end = (size_t)got;
	s->raw_done += (uint64_t)got;
	s->raw_over = !got;
	if (s->raw_over && s->file && !end_program(s, why))
		return -1;
	if (s->hashing)
		gcry_md_write(s->md, s->raw, s->raw_end);
	if (s->raw_over)
		finish_hash(s);
	return 0;
}

/* ---- unpacking ------------------------------------------------------------ */

static void tell_packing(struct source *s)
{
	static const unsigned char gzip[] = { 0x1f, 0x8b }, zstd[] = { 0x28, 0xb5, 0x2f, 0xfd };

	s->packing = PLAIN;
	if (s->raw_end >= sizeof(gzip) && !memcmp(s->raw, gzip, sizeof(gzip)))
		s->packing = GZIP;
	else if (s->raw_end >= sizeof(zstd) && !memcmp(s->raw, zstd, sizeof(zstd)))
		s->packing = ZSTD;
}

static long copy_plain(struct source *s, char *out, size_t room)
{
	size_t len = s->raw_end - s->raw_at;

	len = len < room ? len : room;
	if (len)
		memcpy(out, s->raw + s->raw_at, len);
	s->raw_at += len;
	return (long)len;
}

/* Unpack one step: returns the bytes made, or -1 and *why. */
static long unpack_gzip(struct source *s, char *out, size_t room, const char **why)
{
	int result;

	s->z.next_in = s->raw + s->raw_at;
	s->z.avail_in = (uInt)(s->raw_end - s->raw_at);
	s->z.next_out = (unsigned char *)out;
	s->z.avail_out = (uInt)room;
	result = inflate(&s->z, Z_NO_FLUSH);
	s->raw_at = s->raw_end - s->z.avail_in;
	s->inside = true;
	if (result == Z_STREAM_END) {
		s->inside = false;
		inflateReset(&s->z);
	} else if (result != Z_OK && result != Z_BUF_ERROR) {
		snprintf(s->why, sizeof(s->why), "is damaged gzip data (%s)",
			 s->z.msg ? s->z.msg : "no reason given");
		*why = s->why;
		return -1;
	}
	return (long)(room - s->z.avail_out);
}

static long unpack_zstd(struct source *s, char *out, size_t room, const char **why)
{
	ZSTD_inBuffer in = { s->raw, s->raw_end, s->raw_at };
	ZSTD_outBuffer to = { out, room, 0 };
	size_t result = ZSTD_decompressStream(s->zstd, &to, &in);

	s->raw_at = in.pos;
	s->inside = result;
	if (ZSTD_isError(result)) {
		snprintf(s->why, sizeof(s->why), "is damaged zstd data (%s)", ZSTD_getErrorName(result));
		*why = s->why;
		return -1;
	}
	return (long)to.pos;
}

long source_read(struct source *s, char *out, size_t room, const char **why)
{
	for (;;) {
		long got;

		if (fill_raw(s, why))
			return -1;
		if (s->packing == PLAIN)
			return copy_plain(s, out, room);
		if (s->raw_over && !s->inside)
			return 0;
		got = s->packing == GZIP ? unpack_gzip(s, out, room, why) : unpack_zstd(s, out, room, why);
		if (got)
			return got;
		if (s->raw_over && s->inside) {
			*why = "ends inside its packed data: it is not the whole file";
			return -1;
		}
	}
}

int window_more(struct window *w, const char **why)
{
	long got;

	memmove(w->buf, w->buf + w->at, w->end - w->at);
	w->end -= w->at;
	w->at = 0;
	got = source_read(w->source, w->buf + w->end, WINDOW_BYTES - w->end, why);
	if (got < 0)
		return -1;
	w->end += (size_t)got;
	w->over = !got;
	return 0;
}

/* ---- life cycle ------------------------------------------------------------ */

static void forget_raw(struct source *s)
{
	s->raw_at = s->raw_end = 0;
	s->raw_done = 0;
	s->raw_over = s->inside = false;
}

static int begin(struct source *s, const char **why)
{
	forget_raw(s);
	if (fill_raw(s, why))
		return -1;
	tell_packing(s);
	return 0;
}

static bool start_program(struct source *s)
{
	bool good = table_start(&s->program, s->words, false);

	s->fd = s->program.fd;
	return good;
}

static struct source *make(void)
{
	struct source *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->fd = -1;
	if (!gcry_control(GCRYCTL_INITIALIZATION_FINISHED_P)) {
		gcry_check_version(NULL);
		gcry_control(GCRYCTL_DISABLE_SECMEM, 0);
		gcry_control(GCRYCTL_INITIALIZATION_FINISHED, 0);
	}
	s->raw = malloc(RAW_BYTES);
	s->zstd = ZSTD_createDStream();
	if (!s->raw || !s->zstd || inflateInit2(&s->z, 15 + 16) != Z_OK ||
	    gcry_md_open(&s->md, GCRY_MD_SHA256, 0)) {
		source_close(s);
		return NULL;
	}
	s->hashing = true;
	return s;
}

static int open_named(struct source *s, const char *name, char *err, size_t room)
{
	struct stat st;

	s->is_stdin = !strcmp(name, "-");
	s->fd = s->is_stdin ? dup(STDIN_FILENO) : open(name, O_RDONLY | O_CLOEXEC);
	if (s->fd < 0 || fstat(s->fd, &st)) {
		snprintf(err, room, "trace %s: %s: name a file that can be read, '-' or 'gen:...'", name,
			 strerror(errno));
		return -1;
	}
	if (S_ISDIR(st.st_mode)) {
		snprintf(err, room, "trace %s: is a directory: name a file in it", name);
		return -1;
	}
	s->raw_all = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
	return 0;
}

struct source *source_open(const char *name, char *err, size_t room)
{
	struct source *s = make();
	const char *why;

	if (!s) {
		snprintf(err, room, "trace %s: no memory to read it", name);
		return NULL;
	}
	if (open_named(s, name, err, room)) {
		source_close(s);
		return NULL;
	}
	if (begin(s, &why)) {
		snprintf(err, room, "trace %s: %s", name, why);
		source_close(s);
		return NULL;
	}
	return s;
}

bool source_begins(const struct source *s, const char *what)
{
	size_t len = strlen(what);

	return s->raw_end >= len && !memcmp(s->raw, what, len);
}

struct source *source_of_program(struct source *file, char **words)
{
	struct source *s = make();

	if (!s) {
		source_close(file);
		free(words);
		return NULL;
	}
	s->hashing = false;
	s->file = file;
	s->words = words;
	if (start_program(s))
		return s;
	source_close(s);
	return NULL;
}

struct source *source_open_memory(const void *data, size_t len)
{
	struct source *s = make();
	const char *why;

	if (!s)
		return NULL;
	s->memory = data;
	s->memory_bytes = len;
	s->raw_all = len;
	if (begin(s, &why)) {
		source_close(s);
		return NULL;
	}
	return s;
}

int source_rewind(struct source *s, const char **why)
{
	if (s->is_stdin) {
		*why = "is standard input, which can be read only once: name a file";
		return -1;
	}
	if (s->file) {
		table_stop(&s->program);
		forget_raw(s);
		*why = "cannot be read again: python3 cannot be started";
		return start_program(s) ? 0 : -1;
	}
	if (s->hashing) {	/* stop hashing, because source_sha256() was not called */
		gcry_md_reset(s->md);
	}
	if (s->fd >= 0 && lseek(s->fd, 0, SEEK_SET) < 0) {
		*why = "cannot be read again from its beginning: name a plain file";
		return -1;
	}
	inflateReset(&s->z);
	ZSTD_DCtx_reset(s->zstd, ZSTD_reset_session_only);
	return begin(s, why);
}

void source_close(struct source *s)
{
	if (!s)
		return;
	if (s->file)
		table_stop(&s->program);
	else if (s->fd >= 0)
		close(s->fd);
	source_close(s->file);
	free(s->words);
	inflateEnd(&s->z);
	ZSTD_freeDStream(s->zstd);
	gcry_md_close(s->md);
	free(s->raw);
	free(s);
}

void source_progress(const struct source *s, uint64_t *done, uint64_t *all)
{
	*done = s->raw_done;
	*all = s->raw_all;
	if (s->file) {			/* how far the program has read is unknown */
		*all = s->file->raw_all;
		*done = s->raw_over ? *all : 0;
	}
}

bool source_sha256(struct source *s, char *out)
{
	const char *why;

	if (s->file)
		return source_sha256(s->file, out);
	while (!s->is_stdin && s->hashing) {
		s->raw_at = s->raw_end;
		if (fill_raw(s, &why))
			return false;
	}
	if (s->hashed)
		memcpy(out, s->sha256, sizeof(s->sha256));
	return s->hashed;
}
