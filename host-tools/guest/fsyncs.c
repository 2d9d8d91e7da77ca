// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fsyncs - make small durable changes to files, and check afterwards that they exist.
 *
 *   fsyncs work  DIR SEED WORKERS REPORT   until the power is cut
 *   fsyncs check DIR SEED WORKERS DURABLE  after it; the file DURABLE has the lines "wN n" reported before the cut
 *
 * Each worker has a directory DIR/wN and does operation after operation, all of them a
 * function of the seed, each made durable before the next begins:
 *
 *   write    1 .. 12288 bytes anywhere in a file or behind its end, then fsync or fdatasync
 *   create   an empty file, then fsync of it and of the directory
 *   rename   a file over another or to a new name, then fsync of the directory
 *   unlink   a file, then fsync of the directory
 *
 * and at times dirties a file "noise", which is never synced. When operation n has ended,
 * it writes "wN n T\n" to REPORT; T is the time-stamp counter then, in virtual time the
 * drive's clock in ns.
 *
 * check does the reported operations of each worker in memory, and compares: each file
 * must exist with its content, and no others. The next operation may have been under way,
 * so its files may be as before or after it (for a write: each byte of them, and the size may be between).
 *
 * struct model has 16 names with their contents. do_op() chooses an operation, apply()
 * changes the model, perform() the directory. Exit status 1: a change is missing; 4: an error.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <dirent.h>
#include <unistd.h>

#define NAMES 16
#define FILE_MAX (96 * 1024)
#define WRITE_MAX 12288
#define WORKERS_MAX 64
#define FAILED 4			/* exit status: neither good nor lost data were found */

enum kind { WRITE, CREATE, RENAME, UNLINK };

struct op {
	enum kind kind;
	int name, to;
	uint32_t at, bytes;
	bool data_only;			/* use fdatasync */
	bool noise;
	uint64_t content;
};

struct file {
	bool there;
	uint32_t bytes;
	uint8_t *data;
};

struct model {
	struct file file[NAMES];
	uint64_t rng;
};

static uint8_t scratch[FILE_MAX + 1];

static void die(const char *what)
{
	fprintf(stderr, "fsyncs: %s: %s\n", what, strerror(errno));
	exit(FAILED);
}

static uint64_t rnd(uint64_t *s)		/* splitmix64 */
{
	uint64_t z = (*s += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static void start(struct model *m, uint64_t seed, int worker)
{
	memset(m, 0, sizeof(*m));
	m->rng = seed * 1000003u + (uint64_t)worker;
}

static int pick(struct model *m, bool there)
{
	int at = (int)(rnd(&m->rng) % NAMES);

	for (int i = 0; i < NAMES; i++)
		if (m->file[(at + i) % NAMES].there == there)
			return (at + i) % NAMES;
	return -1;
}

static struct op next_op(struct model *m)
{
	uint64_t dice = rnd(&m->rng) % 100;
	struct op op = { .noise = rnd(&m->rng) % 4 == 0, .content = rnd(&m->rng), .to = -1 };

	op.name = pick(m, true);
	if (op.name < 0 || (dice < 8 && pick(m, false) >= 0)) {
		op.kind = CREATE;
		op.name = pick(m, false);
	} else if (dice < 16) {
		op.kind = RENAME;
		op.to = (int)(rnd(&m->rng) % NAMES);
		if (op.to == op.name)
			op.to = (op.to + 1) % NAMES;
	} else if (dice < 20) {
		op.kind = UNLINK;
	} else {
		uint32_t room = m->file[op.name].bytes;

		op.kind = WRITE;
		op.bytes = 1 + (uint32_t)(rnd(&m->rng) % WRITE_MAX);
		op.at = rnd(&m->rng) % 2 ? room : (uint32_t)(rnd(&m->rng) % (room + 1));
		if (op.at + op.bytes > FILE_MAX)
			op.at = (uint32_t)(rnd(&m->rng) % (FILE_MAX - op.bytes + 1));
		op.data_only = rnd(&m->rng) % 2;
	}
	return op;
}

static void fill(const struct op *op, uint8_t *to)
{
	uint64_t s = op->content;

	for (uint32_t i = 0; i < op->bytes; i += 8) {
		uint64_t word = rnd(&s);

		memcpy(to + i, &word, op->bytes - i < 8 ? op->bytes - i : 8);
	}
}

/*
 * Apply an operation to the model. A hole before a write reads as zeroes: data was calloc()ed, and
 * is cleared with its file.
 */
static void apply(struct model *m, const struct op *op)
{
	struct file *f = &m->file[op->name], moved;

	switch (op->kind) {
	case CREATE:
		f->there = true;
		f->bytes = 0;
		if (!f->data)
			f->data = malloc(FILE_MAX);
		if (!f->data)
			die("memory");
		memset(f->data, 0, FILE_MAX);
		break;
	case UNLINK:
		f->there = false;
		break;
	case RENAME:
		moved = m->file[op->to];
		m->file[op->to] = *f;
		*f = moved;
		f->there = false;
		break;
	case WRITE:
		fill(op, f->data + op->at);
		if (op->at + op->bytes > f->bytes)
			f->bytes = op->at + op->bytes;
		break;
	}
}

/* ---- work ------------------------------------------------------------------ */

static void name_of(int i, char *to)
{
	sprintf(to, "f%d", i);
}

static void sync_directory(void)
{
	int fd = open(".", O_RDONLY | O_DIRECTORY);

	if (fd < 0 || fsync(fd) || close(fd))
		die("fsync of the directory");
}

static void write_file(const char *name, const struct op *op)
{
	static uint8_t data[WRITE_MAX];
	int fd = open(name, O_WRONLY);

	fill(op, data);
	if (fd < 0 || pwrite(fd, data, op->bytes, op->at) != (ssize_t)op->bytes)
		die("write");
	if ((op->data_only ? fdatasync(fd) : fsync(fd)) || close(fd))
		die("fsync");
}

static void make_noise(const struct op *op)
{
	static uint8_t data[WRITE_MAX];
	int fd = open("noise", O_WRONLY | O_CREAT, 0644);

	memset(data, (int)(op->content & 0xff), sizeof(data));
	if (fd < 0 || pwrite(fd, data, sizeof(data), (off_t)(op->content % 64) * WRITE_MAX) < 0 || close(fd))
		die("noise");
}

static void perform(const struct op *op)
{
	char name[16], to[16];
	int fd;

	name_of(op->name, name);
	if (op->noise)
		make_noise(op);
	switch (op->kind) {
	case CREATE:
		fd = open(name, O_WRONLY | O_CREAT | O_EXCL, 0644);
		if (fd < 0 || fsync(fd) || close(fd))
			die("create");
		sync_directory();
		break;
	case UNLINK:
		if (unlink(name))
			die("unlink");
		sync_directory();
		break;
	case RENAME:
		name_of(op->to, to);
		if (rename(name, to))
			die("rename");
		sync_directory();
		break;
	case WRITE:
		write_file(name, op);
		break;
	}
}

static void work(const char *dir, uint64_t seed, int worker, const char *report)
{
	int out = open(report, O_WRONLY | O_NOCTTY);
	struct model m;
	char line[64];

	if (out < 0)
		die(report);
	sprintf(line, "w%d", worker);
	if (chdir(dir) || (mkdir(line, 0755) && errno != EEXIST) || chdir(line))
		die(line);
	sync_directory();
	start(&m, seed, worker);
	for (unsigned int n = 1;; n++) {
		struct op op = next_op(&m);
		int len;

		perform(&op);
		apply(&m, &op);
		len = sprintf(line, "w%d %u %llu\n", worker, n, __builtin_ia32_rdtsc());
		if (write(out, line, (size_t)len) != len)
			die("report");
	}
}

/* ---- check ----------------------------------------------------------------- */

static int bad;

static void complain(int worker, const char *name, const char *what)
{
	printf("worker %d: %s: %s\n", worker, name, what);
	bad = 1;
}

/* Read the file. Returns its bytes, or -1 if it does not exist. */
static ssize_t load(const char *name)
{
	int fd = open(name, O_RDONLY);
	ssize_t got;

	if (fd < 0)
		return -1;
	got = read(fd, scratch, sizeof(scratch));
	if (got < 0)
		die(name);
	close(fd);
	return got;
}

static bool equal(const struct file *f, ssize_t got)
{
	return f->there ? got == (ssize_t)f->bytes && !memcmp(scratch, f->data, f->bytes) : got < 0;
}

/*
 * Is the file in a state that an unfinished write allows? Each byte is old or new. The size is the old or the new
 * one, or between: a file system may write a long write in parts, and ext4 then sets the size after each (Linux 6.1).
 */
static bool between(const struct file *before, const struct file *after, ssize_t got)
{
	if (got < (ssize_t)before->bytes || got > (ssize_t)after->bytes)
		return false;
	for (ssize_t i = 0; i < got; i++) {
		uint8_t was = i < (ssize_t)before->bytes ? before->data[i] : 0;

		if (scratch[i] != after->data[i] && scratch[i] != was)
			return false;
	}
	return true;
}

static void check_name(int worker, const struct model *before, const struct model *after, const struct op *op,
		       int i)
{
	char name[16];
	ssize_t got;

	name_of(i, name);
	got = load(name);
	if (equal(&before->file[i], got))
		return;
	if ((i == op->name || i == op->to) &&
	    (equal(&after->file[i], got) ||
	     (op->kind == WRITE && between(&before->file[i], &after->file[i], got))))
		return;
	if (got < 0)
		complain(worker, name, "is not there, and was synced");
	else if (!before->file[i].there)
		complain(worker, name, "is there, and was removed");
	else if (got != (ssize_t)before->file[i].bytes)
		complain(worker, name, "has another size than when it was synced");
	else
		complain(worker, name, "has another content than when it was synced");
}

/* Check a file that was being renamed: it exists under exactly one of its two names. */
static void check_rename(int worker, const struct model *before, const struct op *op)
{
	char from[16], to[16];

	name_of(op->name, from);
	name_of(op->to, to);
	if (load(from) < 0 && !equal(&before->file[op->name], load(to)))
		complain(worker, from, "is at neither of its names");
}

static void check_others(int worker)
{
	DIR *d = opendir(".");
	struct dirent *e;

	if (!d)
		die("directory");
	while ((e = readdir(d))) {
		if (*e->d_name != '.' && strcmp(e->d_name, "noise") &&
		    (*e->d_name != 'f' || atoi(e->d_name + 1) >= NAMES))
			complain(worker, e->d_name, "was not made by this test");
		if (!strcmp(e->d_name, "noise") && load("noise") < 0)
			complain(worker, e->d_name, "cannot be read");
	}
	closedir(d);
}

static void copy(struct model *to, const struct model *from)
{
	*to = *from;
	for (int i = 0; i < NAMES; i++) {
		if (!from->file[i].data)
			continue;
		to->file[i].data = malloc(FILE_MAX);
		if (!to->file[i].data)
			die("memory");
		memcpy(to->file[i].data, from->file[i].data, FILE_MAX);
	}
}

static void drop(struct model *m)
{
	for (int i = 0; i < NAMES; i++)
		free(m->file[i].data);
}

static void check(const char *dir, uint64_t seed, int worker, unsigned long done)
{
	struct model before, after;
	struct op op;
	char path[512];

	start(&before, seed, worker);
	for (unsigned long n = 0; n < done; n++) {
		op = next_op(&before);
		apply(&before, &op);
	}
	snprintf(path, sizeof(path), "%s/w%d", dir, worker);
	if (chdir(path)) {
		if (done)
			complain(worker, path, "is not there");
		drop(&before);
		return;
	}
	copy(&after, &before);
	op = next_op(&after);
	apply(&after, &op);
	for (int i = 0; i < NAMES; i++)
		check_name(worker, &before, &after, &op, i);
	if (op.kind == RENAME)
		check_rename(worker, &before, &op);
	check_others(worker);
	drop(&before);
	drop(&after);
	if (chdir("/"))
		die("/");
}

/* Read how many operations each worker had reported. */
static void read_done(const char *path, unsigned long done[WORKERS_MAX], int workers)
{
	FILE *file = fopen(path, "r");
	unsigned long n;
	int worker;

	if (!file)
		die(path);
	while (fscanf(file, "w%d %lu\n", &worker, &n) == 2)
		if (worker >= 0 && worker < workers)
			done[worker] = n;
	fclose(file);
}

int main(int argc, char **argv)
{
	unsigned long done[WORKERS_MAX] = { 0 };
	int workers = argc > 4 ? atoi(argv[4]) : 0;
	uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc == 6 && !strcmp(argv[1], "work")) {
		for (int i = 0; i < workers; i++) {
			pid_t child = fork();

			if (child < 0)
				die("fork");
			if (!child)
				work(argv[2], seed, i, argv[5]);
		}
		while (wait(NULL) > 0)
			;
		return FAILED;		/* a worker ends only by an error */
	}
	if (argc == 6 && !strcmp(argv[1], "check") && workers <= WORKERS_MAX) {
		read_done(argv[5], done, workers);
		for (int i = 0; i < workers; i++)
			check(argv[2], seed, i, done[i]);
		puts(bad ? "LOST" : "ALL THERE");
		return bad;
	}
	fprintf(stderr, "usage: fsyncs work DIR SEED WORKERS REPORT | fsyncs check DIR SEED WORKERS DURABLE\n");
	return FAILED;
}
