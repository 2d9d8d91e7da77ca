// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * slate-age.c - make a filled and aged drive file. 'slate age' calls it; the
 * options are that command's, checked and in numbers.
 *
 *   slate-age [--force] [--zeroes] PROFILE FILE [section.key=value ...]
 *
 * The drive is made as FILE.part and renamed to FILE when it is complete and on disk.
 * A signal removes FILE.part, and so does a full disk (SIGBUS, since the file is mapped).
 * After a kill -9 it stays until the next call removes it.
 *
 * Exit status: 0; 1 the drive could not be made; 2 bad input; 130 interrupted.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "slate.h"
#include "slate_power.h"

#define FAILED 1
#define USAGE 2
#define INTERRUPTED 130

struct age {
	const char *profile, *file;
	bool force, zeroes, terminal;
	double begin_s, shown_s;
};

static char part[4096];		/* temporary file, for the signal handlers */
static volatile sig_atomic_t stopped;

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

__attribute__((format(printf, 2, 3)))
static int fail(int status, const char *fmt, ...)
{
	va_list ap;

	fputs("slate: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return status;
}

/* ---- signals ---------------------------------------------------------------- */

static void on_signal(int number)
{
	(void)number;
	stopped = 1;
}

/* End with a message: the mapped file grew and the disk is full, so the drive cannot be completed. */
static void on_bus_error(int number)
{
	static const char text[] = "slate: the disk is full: the drive is not made\n"
		"  fix: free some space, name a file on another disk with -o, or use --content zero\n";

	(void)number;
	unlink(part);
	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(FAILED);
	_exit(FAILED);
}

static void catch_signals(void)
{
	const struct sigaction stop = { .sa_handler = on_signal };
	const struct sigaction full = { .sa_handler = on_bus_error };

	sigaction(SIGINT, &stop, NULL);
	sigaction(SIGTERM, &stop, NULL);
	sigaction(SIGHUP, &stop, NULL);
	sigaction(SIGBUS, &full, NULL);
}

/* ---- progress --------------------------------------------------------------- */

static bool on_progress(void *opaque, uint64_t done, uint64_t all)
{
	struct age *a = opaque;
	double t = now_s(), took = t - a->begin_s;

	if (a->terminal && t - a->shown_s > 0.2 && took > 0.5 && done) {
		a->shown_s = t;
		fprintf(stderr, "\r\033[K%3.0f %%, %.0f of %.0f MiB written, %.0f MiB/s, %.0f s left",
			100.0 * (double)done / (double)all, (double)done / 1048576,
			(double)all / 1048576, (double)done / 1048576 / took,
			took * (double)(all - done) / (double)done);
	}
	return !stopped;
}

/* ---- the file --------------------------------------------------------------- */

/* Remove FILE.part of a killed process, if no process has it locked. */
static int remove_old_part(void)
{
	int fd = open(part, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return errno == ENOENT ? 0 : fail(USAGE, "%s: %s\n  fix: delete it, or name another file "
						  "with -o", part, strerror(errno));
	if (flock(fd, LOCK_EX | LOCK_NB)) {
		close(fd);
		return fail(USAGE, "%s: another 'slate age' is making it\n  fix: wait for it, or name "
			    "another file with -o", part);
	}
	unlink(part);
	close(fd);
	return 0;
}

static int check_target(const struct age *a)
{
	char copy[sizeof(part)];
	struct stat st;

	if (snprintf(part, sizeof(part), "%s.part", a->file) >= (int)sizeof(part))
		return fail(USAGE, "%.64s...: the name is too long", a->file);
	if (stat(dirname(strcpy(copy, a->file)), &st) || !S_ISDIR(st.st_mode))
		return fail(USAGE, "%s: there is no such directory\n  fix: make it, or name another file "
			    "with -o", dirname(strcpy(copy, a->file)));
	if (stat(a->file, &st))
		return errno == ENOENT ? 0 : fail(USAGE, "%s: %s\n  fix: name another file with -o",
						  a->file, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return fail(USAGE, "%s: is not a plain file\n  fix: name another with -o", a->file);
	if (!a->force)
		return fail(USAGE, "%s: is there already\n  fix: name another file with -o, or overwrite "
			    "it with --force", a->file);
	return 0;
}

/* Write the file to disk, then rename it to its name. */
static int publish(const struct age *a)
{
	char copy[4096];
	int fd = open(part, O_RDWR | O_CLOEXEC), dir;
	int bad = fd < 0 || fsync(fd);

	if (!bad)
		bad = a->force ? rename(part, a->file) :
				 renameat2(AT_FDCWD, part, AT_FDCWD, a->file, RENAME_NOREPLACE);
	if (!a->force && bad && (errno == EINVAL || errno == ENOSYS))	/* the file system does not support this */
		bad = link(part, a->file) || unlink(part);
	if (bad) {
		fail(FAILED, "%s: %s\n  fix: name a file elsewhere with -o", a->file, strerror(errno));
		unlink(part);
	}
	if (fd >= 0)
		close(fd);
	snprintf(copy, sizeof(copy), "%s", a->file);
	dir = bad ? -1 : open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir >= 0) {
		(void)!fsync(dir);
		close(dir);
	}
	return bad ? FAILED : 0;
}

static void no_io(void *opaque, struct ftl_io *io)
{
	(void)opaque;
	(void)io;
}

static int make(struct age *a, const char *const *overrides)
{
	const struct ftl_host host = { .done = no_io };
	const struct slate_options o = {
		.profile = a->profile, .overrides = overrides, .backing = part,
		.zeroes = a->zeroes, .progress = on_progress, .opaque = a,
	};
	char err[SLATE_ERR_BYTES];
	struct slate_dev *d;
	struct stat st;
	uint64_t capacity;
	int result;

	a->begin_s = now_s();
	result = slate_open(&o, &host, &d, err);
	if (a->terminal)
		fputs("\r\033[K", stderr);
	if (stopped) {
		if (!result)
			slate_close(d);
		unlink(part);
		return fail(INTERRUPTED, "interrupted; nothing is left behind");
	}
	if (result)
		return fail(result == SSD_E_NOSPC ? FAILED : USAGE, "%s", err);
	capacity = slate_capacity(d);
	slate_shut_down(d);
	slate_close(d);
	result = publish(a);
	if (!result && !stat(a->file, &st))
		printf("%s: a drive of %llu MiB, %.1f MiB on disk, made in %.1f s\n", a->file,
		       (unsigned long long)capacity >> 20, (double)st.st_blocks / 2048,
		       now_s() - a->begin_s);
	return result;
}

int main(int argc, char **argv)
{
	struct age a = { .terminal = isatty(STDERR_FILENO) };
	int i = 1, result;

	for (; i < argc && argv[i][0] == '-'; i++) {
		if (!strcmp(argv[i], "--force"))
			a.force = true;
		else if (!strcmp(argv[i], "--zeroes"))
			a.zeroes = true;
		else
			break;
	}
	if (argc - i < 2 || argv[i][0] == '-')
		return fail(USAGE, "usage: slate-age [--force] [--zeroes] PROFILE FILE "
			    "[section.key=value ...]; see 'slate age --help'");
	a.profile = argv[i];
	a.file = argv[i + 1];
	result = check_target(&a);
	if (!result)
		result = remove_old_part();
	if (result)
		return result;
	catch_signals();
	return make(&a, (const char *const *)argv + i + 2);
}
