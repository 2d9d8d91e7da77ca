// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cuts.c - makes many cuts in one replay (--cuts): at each time a copy of the process (fork) loses the drive's power,
 * mounts the drive, writes all that it has to a file, and becomes the program of --cuts-run, if there is one. The
 * process waits for it, and goes on without the cut.
 *
 * The drive is ephemeral, so its file is mapped privately, and a copy changes pages of its own alone. A copy never
 * reads from the trace, whose files' positions it shares with the process: it ends at the cut.
 *
 * Cost of a cut: a mount, reads of the drive's capacity, and writes of what differs from the image there.
 */
#define _GNU_SOURCE
#include "replay.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "slate_power.h"

#define PART (UINT64_C(128) << 10) /* bytes of a read */
#define BLOCK UINT64_C(512) /* bytes that are compared at once; they divide every drive's capacity */

struct line {
	uint64_t ns, seed;
	char *image;
};

struct cuts {
	const char *path;
	struct line *line;
	size_t count, room, at;
};

static int bad_line(const struct cuts *c, const char *why)
{
	return replay_fail(REPLAY_USAGE, "--cuts %s, line %zu: %s", c->path, c->count + 1, why);
}

static int take_line(void *opaque, const char *text)
{
	struct cuts *c = opaque;
	struct line one = { 0 }, *more;

	if (*text == '-' || sscanf(text, "%" SCNu64 " %" SCNu64 " %m[^\n]", &one.ns, &one.seed, &one.image) != 3 ||
	    one.ns > SLATE_CUT_NS_MAX) {
		free(one.image);
		return bad_line(c, "is not NS SEED IMAGE");
	}
	if (c->count && one.ns < c->line[c->count - 1].ns) {
		free(one.image);
		return bad_line(c, "the times fall: sort the lines by time");
	}
	if (c->count == c->room) {
		c->room = c->room ? 2 * c->room : 64;
		more = realloc(c->line, c->room * sizeof(*c->line));
		SSD_ASSERT(more);
		c->line = more;
	}
	c->line[c->count++] = one;
	return 0;
}

struct cuts *cuts_open(const char *path)
{
	struct cuts *c = calloc(1, sizeof(*c));

	SSD_ASSERT(c);
	c->path = path;
	if (!lines_read("--cuts", path, take_line, c))
		return c;
	cuts_close(c);
	return NULL;
}

void cuts_close(struct cuts *c)
{
	for (size_t i = 0; c && i < c->count; i++)
		free(c->line[i].image);
	if (c)
		free(c->line);
	free(c);
}

uint64_t cuts_next_ns(const struct cuts *c)
{
	return c && c->at < c->count ? c->line[c->at].ns : REPLAY_NEVER;
}

/* Write the blocks of `data` that differ from those of the file, `old` (NULL: none is there), at this offset. */
static bool write_changes(int fd, const unsigned char *data, const unsigned char *old, uint64_t bytes, uint64_t offset)
{
	for (uint64_t at = 0, end; at < bytes; at = end) {
		bool same = old && !memcmp(data + at, old + at, BLOCK);

		end = at + BLOCK;
		while (end < bytes && (old && !memcmp(data + end, old + end, BLOCK)) == same)
			end += BLOCK;
		errno = ENOSPC;		/* if it writes a part */
		if (!same && pwrite(fd, data + at, end - at, (off_t)(offset + at)) != (ssize_t)(end - at))
			return false;
	}
	return true;
}

/*
 * Write what the drive has to the file. The drive has its power. A file of this size that is there is an earlier cut's
 * image, perhaps changed by its check. Only blocks that differ from it are written, so a check that syncs the file
 * waits for few. The file stays mapped: this process ends, or becomes the check's.
 */
static int write_image(struct replay *r, const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	unsigned char *data = malloc(PART), *old = MAP_FAILED;
	struct trace_row row = { .op = TRACE_READ };
	struct stat s;
	bool good = fd >= 0 && !fstat(fd, &s), sized = good && (uint64_t)s.st_size == r->capacity;

	SSD_ASSERT(data);
	if (sized)
		old = mmap(NULL, r->capacity, PROT_READ, MAP_SHARED, fd, 0);
	for (; good && row.offset < r->capacity; row.offset += row.bytes) {
		row.bytes = r->capacity - row.offset < PART ? r->capacity - row.offset : PART;
		memset(data, 0, PART);
		engine_release(r, engine_one(r, &row, data));
		good = write_changes(fd, data, old == MAP_FAILED ? NULL : old + row.offset, row.bytes, row.offset);
	}
	free(data);
	good = good && (sized || !ftruncate(fd, (off_t)r->capacity));
	if (fd >= 0)
		good = !close(fd) && good;
	return good ? 0 : replay_fail(REPLAY_FAILED, "%s: %s: make room, or name another file in --cuts", path,
				      strerror(errno));
}

/*
 * Replace this process by the program of --cuts-run. Returns only without one (0), or if it cannot be executed (an exit
 * code, after printing the error).
 */
static int run_program(const struct replay *r, const struct line *one)
{
	if (!r->o.cuts_run)
		return 0;
	execl(r->o.cuts_run, r->o.cuts_run, one->image, (char *)NULL);
	return replay_fail(REPLAY_FAILED, "--cuts-run %s: %s: name a program", r->o.cuts_run, strerror(errno));
}

/* The copy: cut, mount, write the file and its report, and run the program. Returns the exit code. */
static int cut_copy(struct replay *r, const struct line *one)
{
	char err[SLATE_ERR_BYTES], *json;
	int result;

	if (asprintf(&json, "%s.json", one->image) < 0)
		return REPLAY_FAILED;
	r->o.cut = true;
	r->o.cut_ns = one->ns;
	r->o.cut_seed = one->seed;
	result = engine_cut(r);
	if (!result)
		result = report_cut(r, json);
	if (!result && slate_power_on(r->dev, r->now_ns, err))
		result = replay_fail(REPLAY_FAILED, "%s", err);
	if (!result)
		result = write_image(r, one->image);
	free(json);
	return result ? result : run_program(r, one);
}

int cuts_make(struct replay *r)
{
	const struct line *one = &r->cuts->line[r->cuts->at++];
	pid_t child;
	int status;

	fflush(NULL); /* else a copy would write it, too */
	child = fork();
	if (!child)
		_exit(cut_copy(r, one));
	while (child > 0 && waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			child = -1;
	if (child < 0)
		return replay_fail(REPLAY_FAILED, "--cuts: no process for a cut: %s", strerror(errno));
	if (WIFEXITED(status))
		return WEXITSTATUS(status); /* it has printed the error */
	return replay_fail(REPLAY_FAILED, "--cuts: the process for the cut at %" PRIu64 " ns died of signal %d",
			   one->ns, WTERMSIG(status));
}
