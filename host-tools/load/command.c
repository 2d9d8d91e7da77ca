// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * command.c - one request as entries of the ring.
 *
 * A block device takes reads and writes of any length with a fixed buffer, flushes as
 * fdatasync, and trims as a punched hole. Forced unit access is RWF_DSYNC. On a passthrough
 * device (/dev/ngXnY) each entry is one NVMe command. A request that is longer than a command
 * may be is divided into several, and ends with the last of them. A command uses the fixed
 * buffer if it fills it: Linux 6.1 answers shorter ones with "Invalid argument".
 */
#include "load.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <linux/nvme_ioctl.h>
#include <string.h>

#define NVME_FLUSH 0x00
#define NVME_WRITE 0x01
#define NVME_READ 0x02
#define NVME_DSM 0x09
#define NVME_FUA (1u << 30)		/* CDW12 of reads and writes */
#define NVME_DEALLOCATE (1u << 2)	/* CDW11 of Dataset Management */
#define NVME_BLOCKS_MAX 65536u		/* maximum of blocks in a command: NLB counts from 0 in 16 bits */

struct dsm_range {
	uint32_t attributes, blocks;
	uint64_t lba;
};

static uint64_t part_bytes(const struct load *l, const struct trace_row *row)
{
	uint64_t most;

	if (!l->dev.passthrough || row->op == TRACE_FLUSH)
		return row->bytes;
	if (row->op == TRACE_TRIM)
		return (uint64_t)UINT32_MAX * l->dev.block_bytes;
	most = (uint64_t)NVME_BLOCKS_MAX * l->dev.block_bytes;
	return l->dev.part_bytes && l->dev.part_bytes < most ? l->dev.part_bytes : most;
}

uint32_t command_parts(const struct load *l, const struct trace_row *row)
{
	uint64_t part = part_bytes(l, row);

	return row->op == TRACE_FLUSH || !part ? 1 : (uint32_t)((row->bytes + part - 1) / part);
}

static void prepare_block(struct load *l, struct slot *s, struct io_uring_sqe *sqe)
{
	const struct trace_row *row = &s->row;

	l->account.fixed += row->op <= TRACE_WRITE;
	switch (row->op) {
	case TRACE_READ:
		io_uring_prep_read_fixed(sqe, 0, s->buffer, (unsigned int)row->bytes, row->offset,
					 (int)s->index);
		break;
	case TRACE_WRITE:
		io_uring_prep_write_fixed(sqe, 0, s->buffer, (unsigned int)row->bytes, row->offset,
					  (int)s->index);
		if (row->fua)
			sqe->rw_flags = RWF_DSYNC;
		break;
	case TRACE_TRIM:
		io_uring_prep_fallocate(sqe, 0, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
					(off_t)row->offset, (off_t)row->bytes);
		break;
	default:
		io_uring_prep_fsync(sqe, 0, IORING_FSYNC_DATASYNC);
	}
}

static void prepare_nvme(struct load *l, struct slot *s, struct io_uring_sqe *sqe, uint64_t at,
			 uint64_t bytes)
{
	struct nvme_uring_cmd *cmd = (struct nvme_uring_cmd *)sqe->cmd;
	uint64_t lba = (s->row.offset + at) / l->dev.block_bytes;
	uint32_t blocks = (uint32_t)(bytes / l->dev.block_bytes);
	struct dsm_range *range;

	/* an entry of double size: its second half is the command */
	memset(sqe, 0, 2 * sizeof(*sqe));
	sqe->opcode = IORING_OP_URING_CMD;
	sqe->cmd_op = NVME_URING_CMD_IO;
	cmd->nsid = l->dev.nsid;
	switch (s->row.op) {
	case TRACE_READ:
	case TRACE_WRITE:
		cmd->opcode = s->row.op == TRACE_READ ? NVME_READ : NVME_WRITE;
		cmd->cdw10 = (uint32_t)lba;
		cmd->cdw11 = (uint32_t)(lba >> 32);
		cmd->cdw12 = (blocks - 1) | (s->row.fua ? NVME_FUA : 0);
		cmd->addr = (uint64_t)(uintptr_t)(s->buffer + at);
		cmd->data_len = (uint32_t)bytes;
		break;
	case TRACE_TRIM:
		range = (struct dsm_range *)(s->buffer + at / part_bytes(l, &s->row) * sizeof(*range));
		*range = (struct dsm_range){ .blocks = blocks, .lba = lba };
		cmd->opcode = NVME_DSM;
		cmd->cdw10 = 0;		/* number of ranges less one */
		cmd->cdw11 = NVME_DEALLOCATE;
		cmd->addr = (uint64_t)(uintptr_t)range;
		cmd->data_len = sizeof(*range);
		break;
	default:
		cmd->opcode = NVME_FLUSH;
	}
	if (s->row.op <= TRACE_WRITE && bytes == l->buffer_bytes) {
		l->account.fixed++;
		sqe->uring_cmd_flags = IORING_URING_CMD_FIXED;
		sqe->buf_index = (uint16_t)s->index;
	}
}

void command_prepare(struct load *l, struct slot *s)
{
	uint64_t part = part_bytes(l, &s->row), at = 0;

	s->parts = command_parts(l, &s->row);
	for (uint32_t i = 0; i < s->parts; i++, at += part) {
		struct io_uring_sqe *sqe = io_uring_get_sqe(&l->ring);
		uint64_t left = s->row.bytes - at;

		assert(sqe);		/* the ring has an entry for each part of each slot */
		if (l->dev.passthrough)
			prepare_nvme(l, s, sqe, at, left < part ? left : part);
		else
			prepare_block(l, s, sqe);
		io_uring_sqe_set_flags(sqe, IOSQE_FIXED_FILE);
		io_uring_sqe_set_data(sqe, s);
	}
}

int command_status(const struct load *l, const struct slot *s, const struct io_uring_cqe *cqe)
{
	if (cqe->res < 0)
		return cqe->res;
	if (l->dev.passthrough)		/* > 0: NVMe status of the drive */
		return cqe->res;
	if (s->row.op <= TRACE_WRITE && (uint64_t)cqe->res != s->row.bytes)
		return -EIO;		/* short transfer: end of the device, or a failed part */
	return 0;
}

const char *command_error(int status, char *buf, size_t room)
{
	if (status < 0)
		return strerror(-status);
	snprintf(buf, room, "NVMe status 0x%x (type %d, code 0x%x)", (unsigned int)status, status >> 8 & 7,
		 (unsigned int)status & 0xff);
	return buf;
}
