// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * slate-handoff FILE: name the moment from which on the guest has work, and write the work, a file, to FILE.
 *
 * QEMU's device guest-handoff has the file (qemu-patches, hw/misc/guest-handoff.c). Before the moment a guest depends
 * neither on its work nor on its seed. After it the kernel's random numbers begin anew, from RDRAND, which has the
 * run's seed, and from the file.
 */
#include <fcntl.h>
#include <linux/random.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/io.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define PORT 0x5e0
#define PORT_SIZE (PORT + 4)	/* read: the file's bytes; write: the moment */
#define PORTS 8

/* Mix the file into the kernel's random numbers, and let them begin anew. */
static int seed_random(const void *data, size_t bytes)
{
	int fd = open("/dev/urandom", O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, data, bytes) != (ssize_t)bytes || ioctl(fd, RNDRESEEDCRNG) < 0) {
		perror("slate-handoff: /dev/urandom");
		return 1;
	}
	close(fd);
	return 0;
}

int main(int argc, char **argv)
{
	uint32_t size;
	char *data;
	int fd;

	if (argc != 2) {
		fputs("usage: slate-handoff FILE\n", stderr);
		return 2;
	}
	if (ioperm(PORT, PORTS, 1) < 0) {
		perror("slate-handoff: ioperm");
		return 1;
	}
	outl(1, PORT_SIZE);
	size = inl(PORT_SIZE);
	data = malloc(size + 3UL);
	fd = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (!data || fd < 0) {
		perror("slate-handoff");
		return 1;
	}
	insl(PORT, data, (size + 3UL) / 4);
	if (write(fd, data, size) != (ssize_t)size) {
		perror(argv[1]);
		return 1;
	}
	return seed_random(data, size);
}
