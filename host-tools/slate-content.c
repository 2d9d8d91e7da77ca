// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * slate-content.c - statistics of a content trace, as text and as JSON: how much of the written data
 * had been written before, and how far they can be compressed.
 *
 * Blocks are 4 KiB at multiples of 4 KiB, as they are stored. For compression, writes are cut into
 * pages at multiples of --page; each page is compressed by itself with zstd level 1, and a page that
 * would grow is counted uncompressed.
 */
#define _GNU_SOURCE
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <zstd.h>

#include "closest.h"
#include "trace.h"

#define PAGE_MAX 65536u
#define OPS 4u

static const char help[] =
"usage: slate-content [--page SIZE] [--json] TRACE ...\n"
"\n"
"What is in content traces (docs/content-trace.md): requests, bytes written, 4 KiB blocks that\n"
"are zeroes or were written before, and how far the pages compress.\n"
"\n"
"  --page SIZE  compress pages of this size (512 .. 64k, a power of two; default 4k)\n"
"  --json       a JSON list, an object for each trace\n"
"  --settings   the settings of the drive that was recorded, and nothing else\n";

static const char *const op_names[OPS] = { "read", "write", "trim", "flush" };

struct sums {
	uint64_t requests[OPS], bytes[OPS], fua;
	uint64_t pages, packed_bytes;
	uint64_t last_ns;
	struct trace_content content;
	char name[TRACE_SHA256_CHARS];
};

static int fail(const char *fmt, ...)
{
	va_list ap;

	fputs("slate-content: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return 2;
}

/* Compress the pages of the current write. */
static int compress_pages(struct trace *t, const struct trace_row *row, ZSTD_CCtx *zstd, uint64_t page,
			  struct sums *sums)
{
	static char raw[PAGE_MAX], packed[ZSTD_COMPRESSBOUND(PAGE_MAX)];
	uint64_t at = 0, len;

	for (; at < row->bytes; at += len) {
		size_t size;

		len = page - (row->offset + at) % page;
		len = len < row->bytes - at ? len : row->bytes - at;
		if (trace_read_content(t, at, raw, (size_t)len))
			return fail("%s", trace_error(t));
		size = ZSTD_compressCCtx(zstd, packed, sizeof(packed), raw, (size_t)len, 1);
		sums->packed_bytes += ZSTD_isError(size) || size > len ? len : size;
		sums->pages++;
	}
	return 0;
}

static int read_all(struct trace *t, uint64_t page, struct sums *sums)
{
	ZSTD_CCtx *zstd = ZSTD_createCCtx();
	struct trace_row row;
	int got, result = zstd ? 0 : fail("no memory");

	while (!result && (got = trace_next(t, &row))) {
		if (got < 0) {
			result = fail("%s", trace_error(t));
			break;
		}
		sums->requests[row.op]++;
		sums->bytes[row.op] += row.bytes;
		sums->fua += row.fua;
		sums->last_ns = row.at_ns;
		if (row.op == TRACE_WRITE)
			result = compress_pages(t, &row, zstd, page, sums);
	}
	ZSTD_freeCCtx(zstd);
	(void)trace_get_content(t, &sums->content);
	(void)trace_content_name(t, sums->name);
	return result;
}

/* ---- what comes out ------------------------------------------------------------------ */

static uint64_t duplicates(const struct sums *s)
{
	return s->content.pieces - s->content.zeroes - s->content.blocks;
}

static double share(uint64_t part, uint64_t all)
{
	return all ? (double)part / (double)all : 0;
}

static void print(const struct sums *s, const char *name, uint64_t page)
{
	printf("%s\n", name);
	printf("  name         %s\n", s->name);
	for (unsigned int op = 0; op < OPS; op++)
		printf("  %-5s        %10" PRIu64 " requests %10.1f MiB\n", op_names[op], s->requests[op],
		       (double)s->bytes[op] / 1048576);
	printf("  time         %.6f s to the last request\n", (double)s->last_ns / 1e9);
	printf("  written      %10" PRIu64 " blocks of 4 KiB, of these\n", s->content.pieces);
	printf("  zeroes       %10" PRIu64 " %8.2f %%\n", s->content.zeroes,
	       100 * share(s->content.zeroes, s->content.pieces));
	printf("  duplicates   %10" PRIu64 " %8.2f %%\n", duplicates(s),
	       100 * share(duplicates(s), s->content.pieces));
	printf("  distinct     %10" PRIu64 " %8.2f %%\n", s->content.blocks,
	       100 * share(s->content.blocks, s->content.pieces));
	printf("  compressed   %8.2f %% of what was written (zstd -1, pages of %" PRIu64 " bytes)\n",
	       100 * share(s->packed_bytes, s->bytes[TRACE_WRITE]), page);
}

static json_t *object(const struct sums *s, const char *name, uint64_t page)
{
	json_t *o = json_object(), *requests = json_object(), *bytes = json_object(), *text = json_string(name);

	for (unsigned int op = 0; op < OPS; op++) {
		json_object_set_new(requests, op_names[op], json_integer((json_int_t)s->requests[op]));
		json_object_set_new(bytes, op_names[op], json_integer((json_int_t)s->bytes[op]));
	}
	json_object_set_new(o, "file", text ? text : json_string("?"));
	json_object_set_new(o, "name", json_string(s->name));
	json_object_set_new(o, "requests", requests);
	json_object_set_new(o, "bytes", bytes);
	json_object_set_new(o, "fua_writes", json_integer((json_int_t)s->fua));
	json_object_set_new(o, "last_ns", json_integer((json_int_t)s->last_ns));
	json_object_set_new(o, "blocks", json_integer((json_int_t)s->content.pieces));
	json_object_set_new(o, "zero_blocks", json_integer((json_int_t)s->content.zeroes));
	json_object_set_new(o, "duplicate_blocks", json_integer((json_int_t)duplicates(s)));
	json_object_set_new(o, "distinct_blocks", json_integer((json_int_t)s->content.blocks));
	json_object_set_new(o, "page_bytes", json_integer((json_int_t)page));
	json_object_set_new(o, "pages", json_integer((json_int_t)s->pages));
	json_object_set_new(o, "compressed_bytes", json_integer((json_int_t)s->packed_bytes));
	return o;
}

static int look(const char *name, uint64_t page, bool settings, json_t *list)
{
	const struct trace_options o = { .device = TRACE_ANY_DEVICE };
	struct sums sums = { 0 };
	char err[TRACE_ERR_BYTES];
	struct trace *t;
	int result;

	if (trace_open(&t, name, &o, err))
		return fail("%s", err);
	if (trace_format(t) != TRACE_CONTENT) {
		trace_close(t);
		return fail("trace %s: does not say what is written: name a content trace", name);
	}
	if (settings) {
		fputs(trace_content_settings(t), stdout);
		trace_close(t);
		return 0;
	}
	result = read_all(t, page, &sums);
	if (!result && list)
		json_array_append_new(list, object(&sums, name, page));
	else if (!result)
		print(&sums, name, page);
	trace_close(t);
	return result;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "page", required_argument, NULL, 'p' }, { "json", no_argument, NULL, 'j' },
		{ "settings", no_argument, NULL, 's' }, { "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 }
	};
	bool json = false, settings = false;
	uint64_t page = 4096;
	json_t *list = NULL;
	const char *word;
	char why[192];
	int c, result = 0;

	opterr = 0;
	word = closest_abbreviation(options, argc, argv, false);
	if (word)
		return fail("%s", closest_complaint(options, word, why));
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'h') {
			fputs(help, stdout);
			return 0;
		}
		if (c == '?')
			return fail("%s", closest_complaint(options, argv[optind - 1], why));
		if (c == 'p' && (!trace_parse_size(optarg, &page) || page < 512 || page > PAGE_MAX ||
				 page & (page - 1)))
			return fail("--page %s: is no power of two from 512 to 64k: give one", optarg);
		json = json || c == 'j';
		settings = settings || c == 's';
	}
	if (optind == argc)
		return fail("no TRACE: name one, or see --help");
	list = json ? json_array() : NULL;
	for (; !result && optind < argc; optind++)
		result = look(argv[optind], page, settings, list);
	if (!result && json) {
		result = json_dumpf(list, stdout, JSON_INDENT(1)) ? 1 : 0;
		putchar('\n');
	}
	json_decref(list);
	if (!result && (fflush(stdout) || ferror(stdout)))
		result = fail("standard output cannot be written to: free some space, or send it elsewhere");
	return result;
}
