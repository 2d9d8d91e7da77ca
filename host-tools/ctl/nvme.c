// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * nvme.c - a link through the kernel's NVMe driver, by libnvme. When the drive refuses a command, a
 * log says why.
 */
#include "ctl.h"

#include <errno.h>
#include <fcntl.h>
#include <libnvme.h>
#include <string.h>
#include <unistd.h>

#define STATUS_MASK 0x7ffu	/* type and code, without the bits Do Not Retry and More */
#define INVALID_OPCODE 0x001u
#define INVALID_LOG_PAGE 0x109u
#define PATH_STATUS 3u		/* type of a status made by the kernel: the command did not reach the drive, because
				 * it was unplugged */
#define TRANSFER_BYTES 131072u
#define CUT_TIMEOUT_MS 1000u

static int open_device(struct ctl *c)
{
	c->fd = open(c->device, O_RDONLY | O_CLOEXEC);
	if (c->fd < 0)
		return ctl_fail(CTL_FAILED, "%s: %s: %s", c->device, strerror(errno), errno == EACCES ?
				"be root" : "name the drive's namespace with --device, such as /dev/nvme0n1");
	if (!nvme_get_nsid(c->fd, &c->nsid))
		return 0;
	return ctl_fail(CTL_FAILED, "%s: is no NVMe namespace (%s): name one with --device, such as /dev/nvme0n1",
			c->device, strerror(errno));
}

static int read_some(struct ctl *c, uint32_t id, uint64_t at, void *buf, size_t len, size_t *got)
{
	struct nvme_get_log_args args = {
		.args_size = sizeof(args), .fd = c->fd, .timeout = NVME_DEFAULT_IOCTL_TIMEOUT,
		.lid = (enum nvme_cmd_get_log_lid)id, .nsid = c->nsid, .lpo = at, .log = buf, .len = (__u32)len,
		.rae = true,
	};

	*got = len;
	return nvme_get_log(&args);
}

/* Read the reason why the drive refused its last command; "" if there is none. */
static void ask_why(struct ctl *c, char text[SLATE_WIRE_TEXT_BYTES + 1])
{
	struct slate_log_error error;
	size_t got;

	memset(&error, 0, sizeof(error));
	text[0] = '\0';
	if (!read_some(c, SLATE_LOG_ERROR, 0, &error, sizeof(error), &got) &&
	    ctl_get((unsigned char *)&error, 4) == SLATE_WIRE_MAGIC)
		memcpy(text, error.text, SLATE_WIRE_TEXT_BYTES);
	text[SLATE_WIRE_TEXT_BYTES] = '\0';
}

/* Report a failure. result is libnvme's: < 0 with errno set, or an NVMe status. */
static int tell(struct ctl *c, int result, bool ordered)
{
	char text[SLATE_WIRE_TEXT_BYTES + 1] = "";
	unsigned int status = (unsigned int)result & STATUS_MASK;

	if (result < 0 && errno == EINTR && ctl_stopped)
		return CTL_INTERRUPTED;
	if (result < 0)
		return ctl_fail(CTL_FAILED, "%s: %s", c->device, errno == EACCES || errno == EPERM ?
				"not allowed: be root" : strerror(errno));
	if (status == INVALID_OPCODE || (!ordered && (status == INVALID_LOG_PAGE || status == SLATE_INVALID_FIELD)))
		return ctl_fail(CTL_FAILED, "%s: is no Slate drive (%s): name one with --device", c->device,
				nvme_status_to_string(result, false));
	if (status >> 8 == PATH_STATUS)
		return ctl_fail(CTL_FAILED, "%s: does not answer any more (%s)", c->device,
				nvme_status_to_string(result, false));
	if (ordered)
		ask_why(c, text);
	return ctl_fail(CTL_FAILED, "%s: %s", c->device, text[0] ? text : nvme_status_to_string(result, false));
}

static int read_log(struct ctl *c, uint32_t id, uint64_t at, void *buf, size_t len, size_t *got)
{
	size_t part = len < TRANSFER_BYTES ? len : TRANSFER_BYTES;
	unsigned char last[4];
	int result;

	if (part >= 4) {
		part &= ~(size_t)3;		/* the command counts in words of 4 bytes */
		result = read_some(c, id, at, buf, part, got);
	} else {
		result = read_some(c, id, at, last, sizeof(last), got);
		memcpy(buf, last, part);
	}
	*got = part;
	return result ? tell(c, result, false) : 0;
}

/* Did the kernel abort the command because the drive did not answer? */
static bool given_up(int result)
{
	return result < 0 ? (errno == EINTR && !ctl_stopped) || errno == ENODEV || errno == EIO :
	       ((unsigned int)result & STATUS_MASK) >> 8 == PATH_STATUS;
}

/*
 * Send a command. After a power cut the drive does not answer the command that caused it; the
 * kernel then waits for CUT_TIMEOUT_MS.
 */
static int control(struct ctl *c, uint32_t command, const uint32_t args[3], uint32_t *answer)
{
	bool last = command == SLATE_POWER_CUT && (args[0] & 0xff) == SLATE_WIRE_CUT_NOW;
	int result = nvme_admin_passthru(c->fd, SLATE_ADM_CONTROL, 0, 0, c->nsid, 0, 0, 0, 0, command, args[0],
					 args[1], args[2], 0, NULL, 0, NULL,
					 last ? CUT_TIMEOUT_MS : NVME_DEFAULT_IOCTL_TIMEOUT, answer);

	return !result || (last && given_up(result)) ? 0 : tell(c, result, true);
}

static int set(struct ctl *c, const char *text)
{
	char data[SLATE_WIRE_TEXT_BYTES] = "";
	size_t bytes = (strlen(text) + 3) / 4 * 4;
	int result;

	if (bytes > sizeof(data))
		return ctl_fail(CTL_USAGE, "set %.40s...: is longer than %zu characters", text, sizeof(data));
	memcpy(data, text, strlen(text));
	result = nvme_admin_passthru(c->fd, SLATE_ADM_SET, 0, 0, c->nsid, 0, 0, (__u32)(bytes / 4), 0, 0, 0, 0, 0,
				     (__u32)bytes, data, 0, NULL, NVME_DEFAULT_IOCTL_TIMEOUT, NULL);
	return result ? tell(c, result, true) : 0;
}

static void close_device(struct ctl *c)
{
	if (c->fd >= 0)
		close(c->fd);
}

const struct ctl_link_ops ctl_nvme = { open_device, read_log, control, set, close_device };
