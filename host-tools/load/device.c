// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * device.c - the device under load. A block device is used through the block layer; the character
 * device of an NVMe namespace (/dev/ngXnY) by passthrough. The block device is opened exclusively and
 * kept open, so that a device in use (a mounted file system) is refused and cannot be mounted
 * meanwhile.
 */
#define _GNU_SOURCE
#include "load.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <linux/nvme_ioctl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define NVME_IDENTIFY 0x06
#define IDENTIFY_BYTES 4096

static int cannot_open(const char *path, int error)
{
	const char *fix = error == EBUSY ? "it is in use: unmount it, or name another" :
			  error == EACCES || error == EPERM ? "be root, or give yourself the right" :
			  error == ENOENT ? "name a block device such as /dev/nvme0n1, or /dev/ng0n1 for "
					    "passthrough" : "name another";

	return load_fail(LOAD_USAGE, "%s: %s: %s", path, strerror(error), fix);
}

static int open_block(struct load *l)
{
	struct load_device *d = &l->dev;
	int block_bytes;

	d->fd = open(l->o.device, (l->o.writes ? O_RDWR : O_RDONLY) | O_DIRECT | O_EXCL | O_CLOEXEC);
	if (d->fd < 0)
		return cannot_open(l->o.device, errno);
	if (ioctl(d->fd, BLKGETSIZE64, &d->capacity) || ioctl(d->fd, BLKSSZGET, &block_bytes))
		return load_fail(LOAD_USAGE, "%s: its size cannot be asked: %s", l->o.device, strerror(errno));
	d->block_bytes = (uint32_t)block_bytes;
	return 0;
}

static uint64_t little(const unsigned char *at, unsigned int bytes)
{
	uint64_t v = 0;

	while (bytes--)
		v = v << 8 | at[bytes];
	return v;
}

static int identify(struct load *l, uint32_t nsid, uint32_t what, unsigned char *data)
{
	struct nvme_admin_cmd cmd = {
		.opcode = NVME_IDENTIFY, .nsid = nsid, .cdw10 = what,
		.addr = (uint64_t)(uintptr_t)data, .data_len = IDENTIFY_BYTES,
	};
	int result = ioctl(l->dev.fd, NVME_IOCTL_ADMIN_CMD, &cmd);

	if (!result)
		return 0;
	return load_fail(LOAD_USAGE, "%s: Identify failed: %s", l->o.device,
			 result < 0 ? strerror(errno) : "the drive refused");
}

static uint64_t queue_limit(const char *disk, const char *name)
{
	unsigned long long v = 0;
	char path[160];
	FILE *f;

	snprintf(path, sizeof(path), "/sys/block/%s/queue/%s", disk, name);
	f = fopen(path, "re");
	if (!f)
		return 0;
	if (fscanf(f, "%llu", &v) != 1)
		v = 0;
	fclose(f);
	return v;
}

/*
 * Open the block device of the same drive and keep it open, so that it cannot be mounted meanwhile.
 */
static int hold_disk(struct load *l, const char *disk)
{
	char path[64];

	snprintf(path, sizeof(path), "/dev/%s", disk);
	l->dev.guard_fd = open(path, O_RDONLY | O_EXCL | O_CLOEXEC);
	return l->dev.guard_fd < 0 && errno != ENOENT ? cannot_open(path, errno) : 0;
}

/*
 * Determine the longest command that the drive, the kernel and a buffer in scattered pages allow.
 */
static void find_part_bytes(struct load *l, const char *disk, unsigned int mdts)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), most = (uint64_t)1 << 30, limit;

	if (mdts && mdts < 16)
		most = page << mdts;
	limit = queue_limit(disk, "max_hw_sectors_kb") << 10;
	if (limit && limit < most)
		most = limit;
	limit = queue_limit(disk, "max_segments");
	if (limit > 1 && (limit - 1) * page < most)
		most = (limit - 1) * page;
	l->dev.part_bytes = (uint32_t)(most / page * page);
}

static int open_passthrough(struct load *l)
{
	struct load_device *d = &l->dev;
	const char *name = strrchr(l->o.device, '/');
	unsigned char data[IDENTIFY_BYTES];
	unsigned int format, shift;
	char disk[32];
	int nsid, result;

	name = name ? name + 1 : l->o.device;
	if (strncmp(name, "ng", 2))
		return load_fail(LOAD_USAGE, "%s: a character device, but not one of an NVMe namespace: name one "
				 "such as /dev/ng0n1, or the block device", l->o.device);
	snprintf(disk, sizeof(disk), "nvme%.20s", name + 2);
	d->passthrough = true;
	d->fd = open(l->o.device, O_RDWR | O_CLOEXEC);
	if (d->fd < 0)
		return cannot_open(l->o.device, errno);
	nsid = ioctl(d->fd, NVME_IOCTL_ID);
	if (nsid <= 0)
		return load_fail(LOAD_USAGE, "%s: it does not tell its namespace: %s", l->o.device,
				 strerror(errno));
	d->nsid = (uint32_t)nsid;
	result = identify(l, d->nsid, 0, data);
	if (result)
		return result;
	format = data[26] & 15;
	shift = data[128 + 4 * format + 2];
	if (shift < 9 || shift > 16 || little(data + 128 + 4 * format, 2))
		return load_fail(LOAD_USAGE, "%s: its format (2^%u bytes a block, %u of metadata) is not known here: "
				 "use the block device", l->o.device, shift,
				 (unsigned int)little(data + 128 + 4 * format, 2));
	d->block_bytes = 1u << shift;
	d->capacity = little(data, 8) << shift;
	result = identify(l, 0, 1, data);
	if (result)
		return result;
	find_part_bytes(l, disk, data[77]);
	return hold_disk(l, disk);
}

/* Convert /dev/nvme0n1 to /dev/ng0n1. */
static int name_passthrough(struct load *l)
{
	static char path[256];
	const char *slash = strrchr(l->o.device, '/');
	int before = slash ? (int)(slash + 1 - l->o.device) : 0;

	if (!strncmp(l->o.device + before, "ng", 2))
		return 0;
	if (strncmp(l->o.device + before, "nvme", 4) ||
	    snprintf(path, sizeof(path), "%.*sng%s", before, l->o.device, l->o.device + before + 4) >=
	    (int)sizeof(path))
		return load_fail(LOAD_USAGE, "--passthrough: %s is no NVMe namespace: name one such as "
				 "/dev/nvme0n1, or leave it out", l->o.device);
	l->o.device = path;
	return 0;
}

int device_open(struct load *l)
{
	struct stat st;
	int result;

	if (l->o.passthrough && name_passthrough(l))
		return LOAD_USAGE;
	if (stat(l->o.device, &st))
		return cannot_open(l->o.device, errno);
	if (!S_ISBLK(st.st_mode) && !S_ISCHR(st.st_mode))
		return load_fail(LOAD_USAGE, "%s: is no device: name a block device such as /dev/nvme0n1, or "
				 "/dev/ng0n1 for passthrough", l->o.device);
	result = S_ISBLK(st.st_mode) ? open_block(l) : open_passthrough(l);
	if (!result && !l->dev.capacity)
		result = load_fail(LOAD_USAGE, "%s: it has no bytes: name another", l->o.device);
	return result;
}

void device_close(struct load *l)
{
	if (l->dev.fd >= 0)
		close(l->dev.fd);
	if (l->dev.guard_fd >= 0)
		close(l->dev.guard_fd);
}
