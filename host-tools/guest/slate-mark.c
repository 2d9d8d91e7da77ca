// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * slate-mark KIND LABEL: tell the drive that something begins or ends now.
 * slate-mark durable WORD...: tell 'slate cuts' what is durable now.
 *
 * A durable line goes to the file or device $SLATE_DURABLE, with the time of the time-stamp counter, which in virtual
 * time is the drive's clock in ns. Without the variable nobody asked for it, and nothing is done.
 *
 * A mark is one vendor admin command (slate-mark.h) to /dev/nvme0. A guest with several
 * drives has slate-marks under this name.
 *
 * A separate program rather than nvme-cli because fio runs it between jobs: it
 * is static, makes a handful of system calls and is over in 0.1 ms of guest
 * time.
 *
 * A drive that does not know the command, or whose marks are full, is no error (the guest runs on
 * stock drives too): one line on the console the first time, exit status 0.
 * Arguments after LABEL are ignored: fio appends "> JOBNAME.prerun.txt", unquoted, to a job's
 * own exec_prerun, so the tail of a name with spaces ends up here if that calls slate-mark.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/nvme_ioctl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "slate-mark.h"

#define NVME_INVALID_OPCODE 1
#define DURABLE_BYTES 1024

/* The file exists once the console line has been printed. */
static const char told_path[] = "/run/slate-mark.told";

static void tell_once(const char *why)
{
	int fd = open(told_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	if (fd < 0)
		return;
	close(fd);
	fd = open("/dev/console", O_WRONLY | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return;
	dprintf(fd, "slate-mark: %s; marks have no effect\n", why);
	close(fd);
}

/* Announce words as durable, in one write, so that lines of several processes do not mix. */
static int announce(char **words, int n)
{
	const char *name = getenv("SLATE_DURABLE");
	char line[DURABLE_BYTES];
	size_t at = 0;
	int fd, written;

	if (!name)
		return 0;
	for (int i = 0; i < n; i++) {
		int len = snprintf(line + at, sizeof(line) - at, "%s ", words[i]);

		if (strchr(words[i], '\n') || (size_t)len + 24 > sizeof(line) - at) {	/* 24: a time and its newline */
			fputs("slate-mark: durable: one line of at most 1000 bytes\n", stderr);
			return 2;
		}
		at += (size_t)len;
	}
	at += (size_t)snprintf(line + at, sizeof(line) - at, "%llu\n", __builtin_ia32_rdtsc());
	fd = open(name, O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC);
	written = fd < 0 ? -1 : (int)write(fd, line, at);
	if (written != (int)at)
		perror(name);
	if (fd >= 0)
		close(fd);
	return written != (int)at;
}

int main(int argc, char **argv)
{
	struct nvme_admin_cmd cmd = { .opcode = MARK_OPCODE, .nsid = 1 };
	char label[LABEL_BYTES] = "";
	int kind, fd, status;

	if (argc > 2 && !strcmp(argv[1], "durable"))
		return announce(argv + 2, argc - 2);
	if (argc < 3 || (kind = parse_kind(argv[1])) < 0) {
		fputs("usage: slate-mark point|begin|end LABEL | slate-mark durable WORD...\n", stderr);
		return 2;
	}
	memcpy(label, argv[2], strnlen(argv[2], LABEL_BYTES));
	cmd.cdw10 = (uint32_t)kind;
	cmd.cdw12 = label_dword(label, 0);
	cmd.cdw13 = label_dword(label, 1);
	cmd.cdw14 = label_dword(label, 2);
	cmd.cdw15 = label_dword(label, 3);

	fd = open("/dev/nvme0", O_RDWR | O_CLOEXEC);
	if (fd < 0) {
		tell_once("no /dev/nvme0");
		return 0;
	}
	status = ioctl(fd, NVME_IOCTL_ADMIN_CMD, &cmd);
	if (status < 0) {
		perror("slate-mark: /dev/nvme0");
		return 1;
	}
	if (status > 0)
		tell_once((status & 0x7ff) == NVME_INVALID_OPCODE ? "the drive does not know vendor command 0xC0" :
								    "the drive has no room for more marks");
	return 0;
}
