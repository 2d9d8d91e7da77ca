// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * streams FILE STREAM OFFSET BYTES: write BYTES zeroes by io_uring, in writes of 16 KiB, each with the write stream
 * STREAM (Linux 6.16 and later). Prints nothing, or the first error.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WRITE_BYTES 16384
#define DEPTH 1

static char block[WRITE_BYTES] __attribute__((aligned(4096)));

/* The rings of one io_uring, as io_uring_setup(2) describes them. */
struct rings {
	int fd;
	char *submit, *complete;
	struct io_uring_sqe *entry;
	struct io_uring_params params;
};

static void end(const char *what, int error)
{
	printf("%s: %s\n", what, strerror(error));
	exit(1);
}

static void *map(int fd, size_t bytes, off_t offset)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);

	if (at == MAP_FAILED)
		end("mmap", errno);
	return at;
}

static void set_up(struct rings *r)
{
	struct io_uring_params *p = &r->params;

	r->fd = (int)syscall(SYS_io_uring_setup, DEPTH, p);
	if (r->fd < 0)
		end("io_uring_setup", errno);
	r->submit = map(r->fd, p->sq_off.array + p->sq_entries * sizeof(uint32_t), IORING_OFF_SQ_RING);
	r->complete = map(r->fd, p->cq_off.cqes + p->cq_entries * sizeof(struct io_uring_cqe), IORING_OFF_CQ_RING);
	r->entry = map(r->fd, p->sq_entries * sizeof(struct io_uring_sqe), IORING_OFF_SQES);
}

static uint32_t *word(char *ring, uint32_t offset)
{
	return (uint32_t *)(void *)(ring + offset);
}

/* Submit the one entry of the ring, wait until it is completed, and return its result. */
static int submit_one(struct rings *r)
{
	struct io_uring_params *p = &r->params;
	uint32_t *tail = word(r->submit, p->sq_off.tail), *head = word(r->complete, p->cq_off.head);
	struct io_uring_cqe *done = (struct io_uring_cqe *)(void *)(r->complete + p->cq_off.cqes);
	int result;

	*word(r->submit, p->sq_off.array) = 0;
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, r->fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) != 1)
		end("io_uring_enter", errno);
	result = done[*head & *word(r->complete, p->cq_off.ring_mask)].res;
	__atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
	return result;
}

int main(int argc, char **argv)
{
	struct rings rings = { 0 };
	uint64_t offset, stop;
	int file;

	if (argc != 5)
		end("usage: streams FILE STREAM OFFSET BYTES", EINVAL);
	file = open(argv[1], O_WRONLY | O_DIRECT);
	if (file < 0)
		end(argv[1], errno);
	set_up(&rings);
	offset = strtoull(argv[3], NULL, 0);
	for (stop = offset + strtoull(argv[4], NULL, 0); offset < stop; offset += WRITE_BYTES) {
		int result;

		*rings.entry = (struct io_uring_sqe){
			.opcode = IORING_OP_WRITE,
			.fd = file,
			.addr = (uintptr_t)block,
			.len = WRITE_BYTES,
			.off = offset,
			/* the byte that Linux 6.16's header calls write_stream, which older headers lack */
			.file_index = (uint32_t)atoi(argv[2]),
		};
		result = submit_one(&rings);
		if (result != WRITE_BYTES)
			end("write", result < 0 ? -result : EIO);
	}
	return 0;
}
