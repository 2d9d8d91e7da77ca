// SPDX-License-Identifier: GPL-2.0-or-later
/* record_file.c - see record_file.h */
#define _GNU_SOURCE
#include "record_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns true if another open file has the lock. A file system without locks has no locked files. */
static bool is_locked(int fd)
{
	return flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK;
}

static bool names_locked_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool locked = fd >= 0 && is_locked(fd);

	if (fd >= 0)
		close(fd);
	return locked;
}

/* Empty the open file; a character device stays as it is. Returns NULL, or why it cannot be used. */
static const char *take(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return strerror(errno);
	if (S_ISCHR(st.st_mode))
		return NULL;	/* such as /dev/full, with which tests fill the disk */
	if (!S_ISREG(st.st_mode))
		return "is not a plain file: remove it, or name another file";
	if (is_locked(fd))
		return "is a drive file or a recording that is open: name another file";
	return ftruncate(fd, 0) ? strerror(errno) : NULL;
}

int record_file_open(const char *what, const char *path, const char *part, char err[SLATE_ERR_BYTES])
{
	const char *why;
	int fd;

	if (names_locked_file(path)) {
		snprintf(err, SLATE_ERR_BYTES, "%s %s: is a drive file or a recording that is open: name another "
			 "file", what, path);
		return -1;
	}
	fd = open(part, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
	if (fd < 0) {
		snprintf(err, SLATE_ERR_BYTES, "%s %s: %s: name a file in a directory that can be written to", what,
			 part, strerror(errno));
		return -1;
	}
	why = take(fd);
	if (!why)
		return fd;
	snprintf(err, SLATE_ERR_BYTES, "%s %s: %s", what, part, why);
	close(fd);
	return -1;
}
