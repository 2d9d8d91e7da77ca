/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For tests that change the bytes of a drive file: a small drive, its file, and a view of its bytes. A test includes it
 * once, in place of file_host.h.
 */
#ifndef SLATE_DRIVE_BYTES_H
#define SLATE_DRIVE_BYTES_H

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array_impl.h"
#include "drive_file.h"

#define UNIT 4096u
#define UNITS 768u
#include "file_host.h"

/* The start of the profile. Each test adds settings: the FTL (ftl.type) and its buffer (ftl.buffer_units). */
static const char shape[] =
	"[geometry]\nchannels=2\nchips_per_channel=1\ndies_per_chip=1\nplanes_per_die=2\n"
	"blocks_per_plane=24\npages_per_block=16\npage_bytes=4096\noob_bytes=256\n"
	"[timing]\nread_ns=50000\nprogram_ns=200000\nerase_ns=1000000\nbus_ps_per_byte=1000\n"
	"[ftl]\ncapacity_mib=3\ngc_stop_blocks=5\n";

static char path[64], ini[64];		/* names of the drive's file and of its profile */
static uint8_t *map;			/* the bytes of the file; munmap() gives them back */
static size_t map_bytes;
static struct nand_array is;		/* the array in them */

/* Look at the bytes of a drive that was made with these settings besides the profile. */
static void look_with(const char *const *settings)
{
	struct profile p;
	struct stat st;
	int fd = open(path, O_RDWR);

	EXPECT_EQ(profile_load(&p, ini, settings, err), 0);
	EXPECT_EQ(fstat(fd, &st), 0);
	map_bytes = (size_t)st.st_size;
	map = mmap(NULL, map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	p.array.sums = true;
	image_look(&is, &p.array, map + DRIVE_FILE_IMAGE_AT);
}

#endif
