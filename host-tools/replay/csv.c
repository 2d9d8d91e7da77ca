// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * csv.c - a line for each request, in the order of completion. docs/replay.md lists the columns. Lines
 * are formatted by this file's own functions, because printf would take longer than the request. The
 * file has the name FILE.part until it is complete.
 */
#define _GNU_SOURCE
#include "replay.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER_BYTES ((size_t)256 << 10)
#define ROW_BYTES 512u		/* 18 numbers of at most 20 digits, and words */

struct csv {
	const char *path;
	bool cores;			/* the drive has cores: one more column */
	bool to_stdout;
	char *target;			/* file written until the end: path.part, or the target itself if it is a
					 * device */
	bool rename;
	int fd, error;
	size_t used;
	char buf[BUFFER_BYTES];
};

static const char head[] =
	"request,stream,op,submit_ns,offset,bytes,fua,latency_ns,status,"
	"cell_ns,bus_ns,host_queue_ns,gc_queue_ns,buffer_ns,map_ns,other_ns,link_ns";

struct csv *csv_open(const char *path, bool cores)
{
	struct csv *c = calloc(1, sizeof(*c));
	struct stat st;

	SSD_ASSERT(c);
	c->path = path;
	c->cores = cores;
	c->to_stdout = !strcmp(path, "-");
	c->rename = !c->to_stdout && (stat(path, &st) || S_ISREG(st.st_mode));
	if (asprintf(&c->target, c->rename ? "%s.part" : "%s", path) < 0)
		c->target = NULL;
	SSD_ASSERT(c->target);
	c->fd = c->to_stdout ? dup(STDOUT_FILENO) : open(c->target, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (c->fd < 0) {
		replay_fail(REPLAY_USAGE, "--csv %s: %s: name a file in a directory that can be written to",
			    path, strerror(errno));
		free(c->target);
		free(c);
		return NULL;
	}
	c->used = (size_t)snprintf(c->buf, BUFFER_BYTES, "%s%s\n", head, cores ? ",controller_ns" : "");
	return c;
}

static void flush(struct csv *c)
{
	for (size_t at = 0; at < c->used && !c->error;) {
		ssize_t put = write(c->fd, c->buf + at, c->used - at);

		if (put < 0 && errno != EINTR)
			c->error = errno;
		else if (put > 0)
			at += (size_t)put;
	}
	c->used = 0;
}

static void put_number(struct csv *c, uint64_t v)
{
	char digits[20];
	size_t n = 0;

	do
		digits[n++] = (char)('0' + v % 10);
	while (v /= 10);
	while (n)
		c->buf[c->used++] = digits[--n];
	c->buf[c->used++] = ',';
}

void csv_row(struct csv *c, const struct request *q)
{
	const struct ftl_breakdown *w = &q->io.where;
	const uint64_t parts[] = { w->cell_ns, w->bus_ns, w->host_queue_ns, w->gc_queue_ns, w->buffer_ns,
				   w->map_ns, w->other_ns, w->link_ns, w->controller_ns };
	const char *op = replay_op_name(q->op);
	size_t len = strlen(op);

	if (c->used + ROW_BYTES > BUFFER_BYTES)
		flush(c);
	put_number(c, q->id);
	put_number(c, q->stream);
	memcpy(c->buf + c->used, op, len);
	c->used += len;
	c->buf[c->used++] = ',';
	put_number(c, q->io.submit_ns);
	put_number(c, q->offset);
	put_number(c, q->bytes);
	put_number(c, q->io.fua);
	put_number(c, q->io.done_ns - q->io.submit_ns);
	if (q->io.status < 0)
		c->buf[c->used++] = '-';
	put_number(c, (uint64_t)(q->io.status < 0 ? -(int)q->io.status : (int)q->io.status));
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) - !c->cores; i++)
		put_number(c, parts[i]);
	c->buf[c->used - 1] = '\n';
}

int csv_close(struct csv *c, bool keep)
{
	int result = 0;

	flush(c);
	if (close(c->fd) && !c->error)
		c->error = errno;
	if (keep && !c->error && c->rename && rename(c->target, c->path))
		c->error = errno;
	if (keep && c->error)
		result = replay_fail(REPLAY_FAILED, "--csv %s: %s: free some space, or name a file on "
				     "another disk", c->path, strerror(c->error));
	if ((!keep || c->error) && c->rename)
		unlink(c->target);
	free(c->target);
	free(c);
	return result;
}
