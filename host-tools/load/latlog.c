// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * latlog.c - the latency file. It is written beside its name and renamed at the end, so
 * that a file of that name is whole. A pipe or a device is written directly.
 *
 * head    0  8 "SLATLOAD"     8  4 version, 1      12  4 bytes of a record
 *        16  8 records        24 8 begin, ns since 1970 (host's clock)   32 .. 63 zero
 * record  0  8 submitted, ns since the begin       8  8 offset, bytes
 *        16  4 bytes / 512    20 4 latency, ns (2^32 - 1: that or more)
 *        24  4 lateness, ns (likewise)             28 1 op (0 read, 1 write, 2 trim, 3 flush)
 *        29  1 flags (1: FUA) 30 2 status, signed: 0, -errno, or NVMe's (15 bits)
 */
#define _GNU_SOURCE
#include "load.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define BUFFER_BYTES ((size_t)32 << 10)
#define VERSION 1u

static const char magic[] = "SLATLOAD";

struct latlog {
	const char *path;
	char *target;
	bool rename;
	int fd, error;
	uint64_t records, since_1970_ns;
	size_t used;
	unsigned char buf[BUFFER_BYTES];
};

static void put(unsigned char *at, uint64_t v, unsigned int bytes)
{
	for (unsigned int i = 0; i < bytes; i++)
		at[i] = (unsigned char)(v >> 8 * i);
}

static uint64_t get(const unsigned char *at, unsigned int bytes)
{
	uint64_t v = 0;

	while (bytes--)
		v = v << 8 | at[bytes];
	return v;
}

static void flush(struct latlog *g)
{
	for (size_t at = 0; at < g->used && !g->error;) {
		ssize_t n = write(g->fd, g->buf + at, g->used - at);

		if (n < 0 && errno != EINTR)
			g->error = errno;
		at += n > 0 ? (size_t)n : 0;
	}
	g->used = 0;
}

static void make_head(const struct latlog *g, unsigned char head[LATLOG_HEAD])
{
	memset(head, 0, LATLOG_HEAD);
	memcpy(head, magic, 8);
	put(head + 8, VERSION, 4);
	put(head + 12, LATLOG_RECORD, 4);
	put(head + 16, g->records, 8);
	put(head + 24, g->since_1970_ns, 8);
}

int latlog_open(struct load *l)
{
	struct latlog *g = calloc(1, sizeof(*g));
	struct timespec t;
	struct stat st;

	if (!g)
		return load_fail(LOAD_FAILED, "no memory");
	g->path = l->o.log;
	g->rename = stat(g->path, &st) ? true : S_ISREG(st.st_mode);
	if (asprintf(&g->target, "%s%s", g->path, g->rename ? ".part" : "") < 0)
		g->target = NULL;
	g->fd = g->target ? open(g->target, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : -1;
	if (g->fd < 0) {
		load_fail(LOAD_USAGE, "--log %s: %s: name a file that can be written", g->path, strerror(errno));
		free(g->target);
		free(g);
		return LOAD_USAGE;
	}
	clock_gettime(CLOCK_REALTIME, &t);
	g->since_1970_ns = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
	make_head(g, g->buf);
	g->used = LATLOG_HEAD;
	l->log = g;
	return 0;
}

static uint64_t at_most(uint64_t v)
{
	return v < UINT32_MAX ? v : UINT32_MAX;
}

void latlog_add(struct load *l, const struct slot *s, uint64_t latency_ns)
{
	struct latlog *g = l->log;
	unsigned char *at;

	if (!g)
		return;
	if (g->used + LATLOG_RECORD > BUFFER_BYTES)
		flush(g);
	at = g->buf + g->used;
	put(at, s->submit_ns, 8);
	put(at + 8, s->row.offset, 8);
	put(at + 16, at_most(s->row.bytes / LOAD_SECTOR), 4);
	put(at + 20, at_most(latency_ns), 4);
	put(at + 24, at_most(s->submit_ns - s->row.at_ns), 4);
	at[28] = (unsigned char)s->row.op;
	at[29] = s->row.fua;
	put(at + 30, (uint64_t)(int64_t)s->status, 2);
	g->used += LATLOG_RECORD;
	g->records++;
}

int latlog_close(struct load *l, bool keep)
{
	struct latlog *g = l->log;
	unsigned char head[LATLOG_HEAD];
	int error, result = 0;

	if (!g)
		return 0;
	l->log = NULL;
	flush(g);
	make_head(g, head);
	if (!g->error && g->rename && pwrite(g->fd, head, LATLOG_HEAD, 0) != LATLOG_HEAD)
		g->error = errno;
	if (close(g->fd) && !g->error)
		g->error = errno;
	if (keep && !g->error && g->rename && rename(g->target, g->path))
		g->error = errno;
	error = g->error;
	if ((!keep || error) && g->rename)
		unlink(g->target);
	if (keep && error)
		result = load_fail(LOAD_FAILED, "--log %s: %s: free some space, or name a file on another disk",
				   g->path, strerror(error));
	free(g->target);
	free(g);
	return result;
}

/* ---- reading it back ----------------------------------------------------------- */

static int show_rows(FILE *f, const char *path, uint64_t records)
{
	unsigned char r[LATLOG_RECORD];

	puts("submit_ns,op,offset,bytes,fua,latency_ns,late_ns,status");
	for (uint64_t i = 0; i < records; i++) {
		if (fread(r, sizeof(r), 1, f) != 1)
			return load_fail(LOAD_FAILED, "%s: ends after %" PRIu64 " of %" PRIu64 " records: it was "
					 "cut short", path, i, records);
		printf("%" PRIu64 ",%s,%" PRIu64 ",%" PRIu64 ",%u,%" PRIu64 ",%" PRIu64 ",%d\n", get(r, 8),
		       load_op_name(r[28] & 3), get(r + 8, 8), get(r + 16, 4) * LOAD_SECTOR, r[29] & 1u,
		       get(r + 20, 4), get(r + 24, 4), (int16_t)get(r + 30, 2));
	}
	if (fflush(stdout) || ferror(stdout))
		return load_fail(LOAD_FAILED, "standard output cannot be written to");
	return 0;
}

int latlog_show(const char *path)
{
	unsigned char head[LATLOG_HEAD];
	FILE *f = fopen(path, "re");
	int result;

	if (!f)
		return load_fail(LOAD_USAGE, "--show %s: %s: name a file that --log wrote", path, strerror(errno));
	if (fread(head, sizeof(head), 1, f) != 1 || memcmp(head, magic, 8))
		result = load_fail(LOAD_USAGE, "--show %s: is no latency file: name one that --log wrote", path);
	else if (get(head + 8, 4) != VERSION || get(head + 12, 4) != LATLOG_RECORD)
		result = load_fail(LOAD_USAGE, "--show %s: has version %u, and this program reads %u: use the one "
				   "that wrote it", path, (unsigned int)get(head + 8, 4), VERSION);
	else
		result = show_rows(f, path, get(head + 16, 8));
	fclose(f);
	return result;
}
