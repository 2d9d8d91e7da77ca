// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * commands.c - a line for each NAND command that changes cells: programs, copybacks and erases. docs/replay.md lists
 * the columns.
 *
 * Commands are numbered in the order in which dies got them; those of one call (planes, word lines) are one command.
 * Reads that suspend a command move its end, so its line is written when its die gets the next one, or at the end of
 * the file: lines are not in the order of their numbers.
 *
 * The file has the name FILE.part until it is complete.
 */
#define _GNU_SOURCE
#include "replay.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nand_geom.h"
#include "record_file.h"

struct command {		/* a die's last one */
	bool waits;		/* its line has not been written */
	uint64_t number, begin_ns, cells_ns, end_ns;
	enum nand_op op;
	enum nand_source source;
	uint32_t ppn;
	unsigned int count;
};

struct commands {
	const char *path;
	char *part;
	FILE *out;
	struct slate_dev *dev;
	uint64_t number;
	struct command *last;	/* of each die */
};

static void write_line(struct commands *c, uint32_t die)
{
	static const char *const ops[NAND_NOPS] = {
		[NAND_PROGRAM] = "program", [NAND_COPYBACK] = "copyback", [NAND_ERASE] = "erase",
	};
#define SOURCE_NAME(ID, name, ...) #name,
	static const char *const sources[NAND_NSOURCES] = { NAND_SOURCES(SOURCE_NAME) };
#undef SOURCE_NAME
	struct command *one = &c->last[die];

	if (one->waits)
		fprintf(c->out, "%" PRIu64 ",%s,%s,%u,%u,%u,%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", one->number,
			ops[one->op], sources[one->source], die, one->ppn, one->count, one->begin_ns, one->cells_ns,
			one->end_ns);
	one->waits = false;
}

static void on_commands(void *opaque, const struct nand_cmd *cmds, unsigned int count, uint64_t ahead_ns)
{
	const struct nand_cmd *first = &cmds[0];
	struct commands *c = opaque;
	const struct nand_geometry *g = slate_geometry(c->dev);
	uint32_t die;

	if (first->status == NAND_VIOLATION)
		return;
	die = geo_die_of(g, geo_block_of(g, first->ppn));
	if (first->op == NAND_READ) {
		if (first->resumed_done_ns)
			c->last[die].end_ns = first->resumed_done_ns - ahead_ns;
		return;
	}
	write_line(c, die);
	c->last[die] = (struct command){
		.waits = true, .number = c->number++, .op = first->op, .source = (enum nand_source)first->source,
		.ppn = first->ppn.v, .count = count, .begin_ns = first->start_ns - ahead_ns,
		.cells_ns = first->done_ns - first->cell_ns - ahead_ns, .end_ns = first->done_ns - ahead_ns,
	};
}

struct commands *commands_open(const char *path, struct slate_dev *dev)
{
	struct commands *c = calloc(1, sizeof(*c));
	char err[SLATE_ERR_BYTES];
	int fd;

	SSD_ASSERT(c);
	c->path = path;
	c->dev = dev;
	c->last = calloc(slate_dies(dev), sizeof(*c->last));
	if (asprintf(&c->part, "%s.part", path) < 0)
		c->part = NULL;
	SSD_ASSERT(c->last && c->part);
	fd = record_file_open("--commands", path, c->part, err);
	if (fd < 0) {
		replay_fail(REPLAY_USAGE, "%s", err);
		free(c->last);
		free(c->part);
		free(c);
		return NULL;
	}
	c->out = fdopen(fd, "w");
	SSD_ASSERT(c->out);
	fputs("command,op,source,die,page,count,begin_ns,cells_ns,end_ns\n", c->out);
	slate_watch(dev, on_commands, c);
	return c;
}

void commands_end(struct commands *c)
{
	if (c)
		slate_watch(c->dev, NULL, NULL);
}

int commands_close(struct commands *c, bool keep)
{
	int result = 0;
	bool bad;

	commands_end(c);
	for (uint32_t die = 0; die < slate_dies(c->dev); die++)
		write_line(c, die);
	bad = fflush(c->out) || ferror(c->out);
	bad = fclose(c->out) || bad;
	bad = keep && (bad || rename(c->part, c->path));
	if (bad)
		result = replay_fail(REPLAY_FAILED, "--commands %s: %s: free some space, or name a file on another "
				     "disk", c->path, strerror(errno));
	if (bad || !keep)
		unlink(c->part);
	free(c->last);
	free(c->part);
	free(c);
	return result;
}
