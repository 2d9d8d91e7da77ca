// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * record.c - see record.h.  Requests are numbered from 0 in the order of submission. Open requests
 * are in a list without order, which is as long as the host's queue is deep. stdio remembers a
 * write error, and it is reported once, at the end.
 */
#define _GNU_SOURCE
#include "record.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record_file.h"

struct open_io {
	const struct ftl_io *io;
	uint64_t number;
};

struct record {
	FILE *out;
	char *path, *part;
	uint64_t now_ns;		/* time of the last recorded call */
	uint64_t requests;
	enum ftl_arbitration arbitration;	/* not fifo: STREAM is the queue; weighted: and its priority */
	struct open_io *open;
	size_t open_count, open_room;
};

static const char *const op_names[FTL_NOPS] = {
	[FTL_READ] = "read", [FTL_WRITE] = "write", [FTL_TRIM] = "trim", [FTL_FLUSH] = "flush",
};

static const char *const crossings[] = {
	[FTL_CROSS_COMMAND] = " cross=command", [FTL_CROSS_NOTHING] = " cross=nothing",
};

static void write_head(struct record *r, const char *settings, bool mounted)
{
	fprintf(r->out, "# slate-trace 1\n# state %s\n", mounted ? "mounted" : "fresh");
	while (*settings) {
		size_t len = strcspn(settings, "\n");

		fprintf(r->out, "# set %.*s\n", (int)len, settings);
		settings += len + (settings[len] == '\n');
	}
}

static void forget(struct record *r)
{
	free(r->open);
	free(r->path);
	free(r->part);
	free(r);
}

struct record *record_open(const char *path, const char *settings, bool mounted, enum ftl_arbitration arbitration,
			   char err[SLATE_ERR_BYTES])
{
	struct record *r = calloc(1, sizeof(*r));
	int fd;

	SSD_ASSERT(r);
	r->arbitration = arbitration;
	r->path = strdup(path);
	if (asprintf(&r->part, "%s.part", path) < 0)
		r->part = NULL;
	SSD_ASSERT(r->path && r->part);
	fd = record_file_open("recording", r->path, r->part, err);
	if (fd < 0) {
		forget(r);
		return NULL;
	}
	r->out = fdopen(fd, "w");
	SSD_ASSERT(r->out);
	write_head(r, settings, mounted);
	return r;
}

void record_submit(struct record *r, uint64_t now_ns, const struct ftl_io *io)
{
	unsigned int stream = r->arbitration != FTL_ARBITRATION_FIFO ? io->queue : 0;

	r->now_ns = now_ns;
	if (r->open_count == r->open_room) {
		r->open_room = r->open_room ? 2 * r->open_room : 64;
		r->open = realloc(r->open, r->open_room * sizeof(*r->open));
		SSD_ASSERT(r->open);
	}
	r->open[r->open_count++] = (struct open_io){ io, r->requests++ };
	if (io->op == FTL_FLUSH)
		fprintf(r->out, "%" PRIu64 " %u flush", now_ns, stream);
	else
		fprintf(r->out, "%" PRIu64 " %u %s %" PRIu64 " %" PRIu64 "%s", now_ns, stream,
			op_names[io->op], io->offset, io->bytes, io->fua ? " fua" : "");
	if (io->op == FTL_WRITE && io->handle)
		fprintf(r->out, " handle=%u", io->handle);
	if ((io->op == FTL_READ || io->op == FTL_WRITE) && io->crossing)
		fputs(crossings[io->crossing], r->out);
	if (io->lost)
		fputs(" lost", r->out);
	if (r->arbitration == FTL_ARBITRATION_WEIGHTED && io->priority)
		fprintf(r->out, " priority=%u", io->priority);
	fputc('\n', r->out);
}

void record_step(struct record *r, uint64_t now_ns)
{
	r->now_ns = now_ns;
	fprintf(r->out, "%" PRIu64 " 0 step\n", now_ns);
}

void record_done(struct record *r, const struct ftl_io *io)
{
	size_t i = 0;

	while (i < r->open_count && r->open[i].io != io)
		i++;
	SSD_ASSERT(i < r->open_count);
	fprintf(r->out, "%" PRIu64 " 0 done %" PRIu64 " %" PRIu64 " %d\n", r->now_ns, r->open[i].number,
		io->done_ns - io->submit_ns, (int)io->status);
	r->open[i] = r->open[--r->open_count];
}

void record_mark(struct record *r, uint64_t now_ns, const struct slate_mark *mark)
{
	static const char *const kinds[] = { "point", "begin", "end" };

	fprintf(r->out, "# mark %" PRIu64 " %s ", now_ns, kinds[mark->kind]);
	for (const char *c = mark->label; *c; c++)
		fputc((unsigned char)*c <= ' ' || (unsigned char)*c >= 127 ? '_' : *c, r->out);
	fputc('\n', r->out);
}

bool record_close(struct record *r, const struct nand_stats *end, bool keep)
{
	bool bad;

	for (unsigned int op = 0; op < NAND_NOPS; op++)
		for (unsigned int s = 0; s < NAND_NSOURCES; s++)
			fprintf(r->out, "# end ops %u %u %" PRIu64 "\n", op, s, end->ops[op][s]);
	bad = fflush(r->out) || ferror(r->out);
	bad = fclose(r->out) || bad;
	bad = keep && (bad || rename(r->part, r->path));
	if (bad)
		fprintf(stderr, "slate: recording %s: %s: there is none; free some space, or name another "
			"file\n", r->path, strerror(errno));
	if (bad || !keep)
		unlink(r->part);
	forget(r);
	return !bad;
}
