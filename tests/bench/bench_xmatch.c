// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * bench_xmatch - XMatchPRO beside LZ4 and Zstandard, page by page: the compressed size, and the
 * speed in CPU time of one thread. A page that does not get smaller counts with its own size, as an
 * FTL stores it. Expanded pages are compared with the originals. The speed of computing
 * fingerprints is measured, too.
 *
 *   bench_xmatch [-m MIB] [FILE or DIRECTORY ...]
 *
 * Each argument is a corpus: the first MIB (16) MiB of whole pages of its files in the order of
 * their names, directories with all their files; short files and ends of files follow each other,
 * as in an archive. Without arguments: programs, libraries and headers of this machine.
 */
#define _XOPEN_SOURCE 700
#include <ftw.h>
#include <lz4.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <zstd.h>

#include "fpstore.h"
#include "xmatch.h"

#define PAGE_MAX 16384u
#define ROOM (2 * PAGE_MAX)
#define NAMES_MAX 200000u

static char *names[NAMES_MAX];
static size_t name_count;
static const char *suffix;	/* suffix of the files to use; NULL: all */
static uint8_t *corpus;
static size_t corpus_bytes, corpus_max = 16u << 20;

static struct xmatch x;
static ZSTD_CCtx *zc;
static ZSTD_DCtx *zd;

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void die(const char *what, const char *name)
{
	fprintf(stderr, "bench_xmatch: %s: %s\n", name, what);
	exit(1);
}

/* ---- the coders ----------------------------------------------------------- */

static size_t xmatch_pack(const void *src, size_t len, void *dst)
{
	return xmatch_compress(&x, src, len, dst, ROOM);
}

static bool xmatch_unpack(const void *src, size_t n, void *dst, size_t len)
{
	return !xmatch_expand(&x, src, n, dst, len);
}

static size_t lz4_pack(const void *src, size_t len, void *dst)
{
	return (size_t)LZ4_compress_default(src, dst, (int)len, ROOM);
}

static bool lz4_unpack(const void *src, size_t n, void *dst, size_t len)
{
	return LZ4_decompress_safe(src, dst, (int)n, (int)len) == (int)len;
}

static size_t zstd1_pack(const void *src, size_t len, void *dst)
{
	return ZSTD_compressCCtx(zc, dst, ROOM, src, len, 1);
}

static size_t zstd3_pack(const void *src, size_t len, void *dst)
{
	return ZSTD_compressCCtx(zc, dst, ROOM, src, len, 3);
}

static bool zstd_unpack(const void *src, size_t n, void *dst, size_t len)
{
	return ZSTD_decompressDCtx(zd, dst, len, src, n) == len;
}

static const struct {
	const char *name;
	uint32_t dict;
	size_t (*pack)(const void *src, size_t len, void *dst);
	bool (*unpack)(const void *src, size_t n, void *dst, size_t len);
} coders[] = {
	{ "xmatch", 64, xmatch_pack, xmatch_unpack },
	{ "xmatch-16", 16, xmatch_pack, xmatch_unpack },
	{ "lz4", 64, lz4_pack, lz4_unpack },
	{ "zstd-1", 64, zstd1_pack, zstd_unpack },
	{ "zstd-3", 64, zstd3_pack, zstd_unpack },
};

/* ---- the corpus ----------------------------------------------------------- */

static int on_file(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	size_t len = strlen(path), end = suffix ? strlen(suffix) : 0;

	(void)st;
	(void)at;
	if (kind != FTW_F || (end && (len < end || strcmp(path + len - end, suffix))))
		return 0;
	if (name_count == NAMES_MAX)
		die("more than 200,000 files", path);
	names[name_count] = strdup(path);
	if (!names[name_count++])
		die("no memory for names", path);
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void add_file(const char *path)
{
	FILE *f = fopen(path, "rb");

	if (!f)
		return;		/* the file is not readable for this user */
	corpus_bytes += fread(corpus + corpus_bytes, 1, corpus_max - corpus_bytes, f);
	fclose(f);
}

static void collect(const char *where, const char *ending)
{
	name_count = corpus_bytes = 0;
	suffix = ending;
	if (nftw(where, on_file, 64, FTW_PHYS))
		die("cannot be read; name a file or a directory", where);
	qsort(names, name_count, sizeof(names[0]), by_name);
	for (size_t i = 0; i < name_count; i++) {
		if (corpus_bytes < corpus_max)
			add_file(names[i]);
		free(names[i]);
	}
	if (corpus_bytes < PAGE_MAX)
		die("less than 16 KiB in it; name more files", where);
}

/* ---- measuring ------------------------------------------------------------ */

static void measure(const char *where, size_t page, size_t coder)
{
	size_t pages = corpus_bytes / page, left = 0;
	uint8_t *out = malloc(pages * ROOM), *back = malloc(page);
	size_t *n = malloc(pages * sizeof(*n));
	double pack_s, unpack_s;

	if (!out || !back || !n)
		die("no memory; ask for fewer MiB (-m)", where);
	memset(out, 0, pages * ROOM);
	xmatch_init(&x, coders[coder].dict);
	pack_s = seconds();
	for (size_t i = 0; i < pages; i++)
		n[i] = coders[coder].pack(corpus + i * page, page, out + i * ROOM);
	pack_s = seconds() - pack_s;
	unpack_s = seconds();
	for (size_t i = 0; i < pages; i++)
		if (!coders[coder].unpack(out + i * ROOM, n[i], back, page))
			die("a page does not expand", coders[coder].name);
	unpack_s = seconds() - unpack_s;
	for (size_t i = 0; i < pages; i++) {
		if (!coders[coder].unpack(out + i * ROOM, n[i], back, page) ||
		    memcmp(back, corpus + i * page, page))
			die("a page expands to another", coders[coder].name);
		left += n[i] < page ? n[i] : page;
	}
	printf("%s %zuK %s %.3f of the bytes, %.0f MB/s packed, %.0f MB/s expanded\n", where, page / 1024,
	       coders[coder].name, (double)left / (double)(pages * page),
	       (double)(pages * page) / 1e6 / pack_s, (double)(pages * page) / 1e6 / unpack_s);
	free(out);
	free(back);
	free(n);
}

static void fingerprints(const char *where, size_t page)
{
	size_t pages = corpus_bytes / page;
	struct fingerprint fp;
	double s = seconds();

	for (size_t i = 0; i < pages; i++)
		fingerprint_of(corpus + i * page, page, &fp);
	printf("%s %zuK fingerprints %.0f MB/s\n", where, page / 1024,
	       (double)(pages * page) / 1e6 / (seconds() - s));
}

static void bench(const char *where, const char *ending)
{
	collect(where, ending);
	for (size_t page = 4096; page <= PAGE_MAX; page *= 4) {
		for (size_t coder = 0; coder < sizeof(coders) / sizeof(coders[0]); coder++)
			measure(where, page, coder);
		fingerprints(where, page);
	}
}

int main(int argc, char **argv)
{
	int first = 1;

	if (argc > 2 && !strcmp(argv[1], "-m")) {
		corpus_max = (size_t)strtoul(argv[2], NULL, 10) << 20;
		first = 3;
		if (!corpus_max || corpus_max > (size_t)1 << 30)
			die("is no number of MiB from 1 to 1024", argv[2]);
	}
	corpus = malloc(corpus_max);
	zc = ZSTD_createCCtx();
	zd = ZSTD_createDCtx();
	if (!corpus || !zc || !zd)
		die("no memory; ask for fewer MiB (-m)", "corpus");
	for (int i = first; i < argc; i++)
		bench(argv[i], NULL);
	if (first < argc)
		return 0;
	bench("/usr/bin", NULL);
	bench("/usr/lib", ".so");
	bench("/usr/include", ".h");
	return 0;
}
