// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * slate-marks KIND LABEL: tell every drive that something begins or ends now.
 *
 * In a guest with several drives, PATH has this program under the name slate-mark (drives.sh). It
 * marks the block devices of $SLATE_DEVS one after another, some 10 us apart.
 *
 * A drive without power takes no mark. That is no error, because the others go on. Arguments
 * after LABEL are ignored, as by slate-mark. "durable" concerns no drive: this program
 * executes /usr/bin/slate-mark for it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "slate-mark.h"

#define ONE "/usr/bin/slate-mark"

static int mark(const char *path, struct nvme_admin_cmd *cmd)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);	/* enough for an admin command; nothing is written */
	int status;

	if (fd < 0)
		return 0;
	status = ioctl(fd, NVME_IOCTL_ID);
	if (status > 0) {
		cmd->nsid = (unsigned int)status;
		status = ioctl(fd, NVME_IOCTL_ADMIN_CMD, cmd);
	}
	close(fd);
	if (!status || (status < 0 && (errno == ENODEV || errno == EIO)))
		return 0;
	if (status < 0)
		fprintf(stderr, "slate-marks: %s: %s\n", path, strerror(errno));
	else
		fprintf(stderr, "slate-marks: %s: the drive refuses the mark, status 0x%x\n", path,
			(unsigned int)status);
	return 1;
}

int main(int argc, char **argv)
{
	struct nvme_admin_cmd cmd = { .opcode = MARK_OPCODE };
	char label[LABEL_BYTES] = "", *drives = getenv("SLATE_DEVS");
	int kind, failed = 0;

	if (argc > 2 && !strcmp(argv[1], "durable")) {
		execv(ONE, argv);
		perror(ONE);
		return 1;
	}
	if (argc < 3 || (kind = parse_kind(argv[1])) < 0) {
		fputs("usage: slate-marks point|begin|end LABEL\n", stderr);
		return 2;
	}
	memcpy(label, argv[2], strnlen(argv[2], LABEL_BYTES));
	cmd.cdw10 = (uint32_t)kind;
	cmd.cdw12 = label_dword(label, 0);
	cmd.cdw13 = label_dword(label, 1);
	cmd.cdw14 = label_dword(label, 2);
	cmd.cdw15 = label_dword(label, 3);
	for (char *path = drives ? strtok(drives, " ") : NULL; path; path = strtok(NULL, " "))
		failed |= mark(path, &cmd);
	return failed;
}
