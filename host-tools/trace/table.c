// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * table.c - see table.h. The program's standard error is a pipe that is read after its end: a pipe's buffer (64 KiB)
 * holds more than a reason, or a traceback of Python, of which the last line is taken.
 */
#define _GNU_SOURCE
#include "table.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define FIXED_WORDS 5u
#define SAID_BYTES 4096u

static const char *const forms[] = {
	[COLUMN_AS_TEXT] = "text", [COLUMN_AS_NUMBER] = "number", [COLUMN_AS_TIME] = "time",
	[COLUMN_AS_STAMP] = "stamp", [COLUMN_AS_ISO] = "iso",
};

char **table_words(const char *kind, const char *file, const struct trace_columns *c, bool writes)
{
	const char *const script = getenv("SLATE_TABLES");
	const unsigned int named = c ? c->columns : 0;
	const size_t pointers = (FIXED_WORDS + named + 1) * sizeof(char *), name_bytes = sizeof(c->from[0].name) + 16;
	char **words = script ? malloc(pointers + named * name_bytes + strlen(script) + strlen(file) + 2) : NULL;
	char *text;

	if (!words)
		return NULL;
	text = (char *)words + pointers;
	words[0] = (char *)(uintptr_t) "python3";
	words[1] = strcpy(text, script);
	words[2] = (char *)(uintptr_t)(writes ? "write" : "read");
	words[3] = (char *)(uintptr_t)kind;
	text += strlen(script) + 1;
	words[4] = strcpy(text, file);
	text += strlen(file) + 1;
	for (unsigned int i = 0; i < named; i++, text += name_bytes) {
		snprintf(text, name_bytes, "%s=%s", forms[c->from[i].form], c->from[i].name);
		words[FIXED_WORDS + i] = text;
	}
	words[FIXED_WORDS + named] = NULL;
	return words;
}

static bool make_pipes(int data[2], int said[2])
{
	if (pipe2(data, O_CLOEXEC))
		return false;
	if (!pipe2(said, O_CLOEXEC))
		return true;
	close(data[0]);
	close(data[1]);
	return false;
}

bool table_start(struct table_program *p, char *const words[], bool writes)
{
	const int its = writes ? STDIN_FILENO : STDOUT_FILENO;	/* also the index of its end of the pipe */
	posix_spawn_file_actions_t actions;
	int data[2], said[2];
	bool good;

	*p = (struct table_program){ .fd = -1, .said = -1 };
	if (!make_pipes(data, said))
		return false;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, data[its], its);
	posix_spawn_file_actions_adddup2(&actions, said[1], STDERR_FILENO);
	good = !posix_spawnp(&p->pid, words[0], &actions, NULL, words, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(data[its]);
	close(said[1]);
	p->fd = data[!its];
	p->said = said[0];
	if (!good) {
		p->pid = 0;
		table_stop(p);
	}
	return good;
}

/* Read what the program said, and keep the last line. */
static void take_last_line(int fd, char *why, size_t room)
{
	char text[SAID_BYTES + 1], *line;
	size_t len = 0;
	ssize_t got;

	while ((got = read(fd, text + len, SAID_BYTES - len)) > 0) {
		len += (size_t)got;
		if (len == SAID_BYTES) {	/* keep the end */
			memmove(text, text + len / 2, len / 2);
			len /= 2;
		}
	}
	while (len && (text[len - 1] == '\n' || text[len - 1] == ' '))
		len--;
	text[len] = 0;
	line = strrchr(text, '\n');
	snprintf(why, room, "%s", line ? line + 1 : text);
}

static void close_both(struct table_program *p)
{
	if (p->fd >= 0)
		close(p->fd);
	if (p->said >= 0)
		close(p->said);
	p->fd = p->said = -1;
}

bool table_end(struct table_program *p, char *why, size_t room)
{
	int status = 0;

	if (!p->pid)
		return true;
	if (p->fd >= 0)
		close(p->fd);
	p->fd = -1;
	take_last_line(p->said, why, room);
	waitpid(p->pid, &status, 0);
	p->pid = 0;
	close_both(p);
	if (status && !*why)
		snprintf(why, room, "python3, which reads and writes tables, ended with status %d, signal %d",
			 WIFEXITED(status) ? WEXITSTATUS(status) : 0, WIFSIGNALED(status) ? WTERMSIG(status) : 0);
	return !status;
}

void table_stop(struct table_program *p)
{
	close_both(p);
	if (!p->pid)
		return;
	kill(p->pid, SIGTERM);
	waitpid(p->pid, NULL, 0);
	p->pid = 0;
}
