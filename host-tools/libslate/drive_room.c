// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * drive_room.c - room on the disk for a drive file. A store to a mapped hole for which the disk has
 * no room raises SIGBUS, which would end the shell. Such stores are prevented:
 *
 *   tables    their disk space is allocated when the file is opened;
 *   payload   before a page is stored, disk space for its smallest PB is allocated
 *             (drive_file_reserve). An erase frees it (drive_file_discard);
 *   writes    writes of the host are refused (drive_file_has_room) while the disk has less room
 *             than the drive may need for accepted writes: the write buffer, and the blocks that GC
 *             opens before it frees any. So GC can continue and free room.
 *
 * Other programs may take the last room in between. A page for which there is no room is then kept
 * in the memory of this process (`aside`), and the image's head records that pages are missing (2,
 * image_check.c): if the process is killed now, the next open refuses the file. Writes and flushes
 * fail until drive_file_has_room() has written all these pages to the file.
 *
 * A file that is opened as ephemeral is never written. But on a tmpfs even a read of a hole takes
 * room, so all this applies there as well, except that pages always stay aside.
 *
 * Cost: a system call for the first page of each smallest PB after an erase, and one for every
 * 64th write while there is room.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "drive_file.h"
#include "nand_geom.h"

#define HOST_PAGE 4096u
#define ASK_EVERY 64u		/* number of writes between two checks, while there is room */
#define GC_BLOCKS 4u		/* blocks that GC of a plane may open before it frees one */
#define GC_BYTES (64u << 20)	/* limit for all planes: GC rarely begins in many planes at once */
#define IN_USE 1u
#define PAGES_MISSING 2u	/* SPEC.md, the image's head */

struct aside {
	uint64_t from, bytes;	/* range in the file */
};

static uint64_t *use_of(const struct drive_file *f)
{
	return drive_file_image(f);
}

static uint64_t free_bytes(const struct drive_file *f)
{
	struct statvfs v;

	return fstatvfs(f->fd, &v) ? UINT64_MAX : (uint64_t)v.f_bavail * v.f_frsize;
}

/* Returns by how many bytes the file may still grow, at most the margin. */
static uint64_t wanted_bytes(const struct drive_file *f)
{
	struct stat st;
	uint64_t holes;

	if (fstat(f->fd, &st))
		return f->margin;
	holes = (uint64_t)st.st_blocks * 512 < f->bytes ? f->bytes - (uint64_t)st.st_blocks * 512 : 0;
	return holes < f->margin ? holes : f->margin;
}

static bool short_of_room(const struct drive_file *f)
{
	return free_bytes(f) < wanted_bytes(f);
}

/*
 * Allocate disk space: returns 0 or errno. Returns 0 also if the file system cannot allocate in
 * advance.
 */
static int allocate(const struct drive_file *f, uint64_t from, uint64_t to)
{
	int why;

	do
		why = fallocate(f->fd, 0, (off_t)from, (off_t)(to - from)) ? errno : 0;
	while (why == EINTR);
	return why == EOPNOTSUPP || why == ENOSYS ? 0 : why;
}

uint64_t drive_room_margin(const struct profile *p)
{
	const struct nand_geometry *g = &p->array.geo;
	uint64_t gc = (uint64_t)geo_planes(g) * GC_BLOCKS * g->pages_per_block * g->page_bytes;

	return (gc < GC_BYTES ? gc : GC_BYTES) + (uint64_t)p->ftl.buffer_units * p->ftl.unit_bytes;
}

int drive_file_room_init(struct drive_file *f, const struct profile *p)
{
	const struct nand_geometry *g = &p->array.geo;
	uint64_t block = (uint64_t)g->pages_per_block * g->page_bytes;
	uint64_t pbs = geo_blocks(g) << g->pb_levels;
	struct statfs fs;

	f->rooms = !f->ephemeral || (!fstatfs(f->fd, &fs) && (uint64_t)fs.f_type == TMPFS_MAGIC);
	f->payload_at = DRIVE_FILE_IMAGE_AT + nand_array_table_bytes(&p->array);
	f->forms_at = f->bytes - nand_array_form_bytes(&p->array);
	if (!p->array.payload || !f->rooms) {
		f->rooms = false;
		return f->ephemeral ? 0 : allocate(f, 0, f->payload_at);
	}
	f->pb_bytes = block >> g->pb_levels;
	f->page_bytes = g->page_bytes;
	f->margin = drive_room_margin(p);
	f->backed = calloc(pbs / 8 + 1, 1);
	if (!f->backed)
		return ENOMEM;
	return f->ephemeral ? 0 : allocate(f, 0, f->payload_at);
}

int drive_file_room_forms(const struct drive_file *f)
{
	return f->forms_at < f->bytes ? allocate(f, f->forms_at, f->bytes) : 0;
}

/* ---- pages aside ------------------------------------------------------------- */

static bool map_again(const struct drive_file *f, const struct aside *a)
{
	return mmap((char *)f->map + a->from, a->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
		    f->fd, (off_t)a->from) != MAP_FAILED;
}

/* Replace [from, to) of the mapped file by memory with the same content, because the disk is full. */
static void put_aside(struct drive_file *f, uint64_t from, uint64_t to)
{
	struct aside *list = realloc(f->aside, (f->aside_count + 1) * sizeof(*list));
	uint8_t *held = calloc(1, to - from);

	SSD_ASSERT(list && held);
	(void)!pread(f->fd, held, to - from, (off_t)from);
	if (!f->ephemeral)
		*use_of(f) = PAGES_MISSING;
	__asm__ volatile("" ::: "memory");	/* set the mark first, because the process may end here */
	SSD_ASSERT(mmap((char *)f->map + from, to - from, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED);
	memcpy((char *)f->map + from, held, to - from);
	free(held);
	f->aside = list;
	f->aside[f->aside_count++] = (struct aside){ from, to - from };
	f->tight = true;
}

static bool is_aside(const struct drive_file *f, uint64_t from)
{
	for (size_t i = 0; i < f->aside_count; i++)
		if (from >= f->aside[i].from && from - f->aside[i].from < f->aside[i].bytes)
			return true;
	return false;
}

/* Write pages that are in memory to the file, as far as there is room. */
static void bring_back(struct drive_file *f)
{
	while (f->aside_count && !f->ephemeral) {
		const struct aside *a = &f->aside[f->aside_count - 1];

		if (allocate(f, a->from, a->from + a->bytes) ||
		    pwrite(f->fd, (char *)f->map + a->from, a->bytes, (off_t)a->from) != (ssize_t)a->bytes ||
		    !map_again(f, a))
			return;
		f->aside_count--;
	}
	if (!f->ephemeral) {
		__asm__ volatile("" ::: "memory");
		*use_of(f) = IN_USE;
	}
}

/* ---- called when the drive stores a page, and when the host writes --------------- */

static void reserve_page(struct drive_file *f, uint64_t offset, uint64_t bytes)
{
	uint64_t from = offset / HOST_PAGE * HOST_PAGE;
	uint64_t to = (offset + bytes + HOST_PAGE - 1) / HOST_PAGE * HOST_PAGE;

	for (; from < to; from += HOST_PAGE)
		if (!is_aside(f, from))
			put_aside(f, from, from + HOST_PAGE < f->bytes ? from + HOST_PAGE : f->bytes);
}

void drive_file_reserve(struct drive_file *f, uint64_t offset)
{
	uint64_t at = DRIVE_FILE_IMAGE_AT + offset, pb = (at - f->payload_at) / f->pb_bytes;
	uint64_t from = (f->payload_at + pb * f->pb_bytes) / HOST_PAGE * HOST_PAGE;
	uint64_t to = f->payload_at + (pb + 1) * f->pb_bytes;
	int why = ENOSPC;

	if (!f->rooms || f->backed[pb >> 3] >> (pb & 7) & 1)
		return;
	if (!f->ephemeral)
		why = allocate(f, from, to);
	else if (!short_of_room(f))
		return;
	if (why) {
		reserve_page(f, at, f->page_bytes);
		return;
	}
	f->backed[pb >> 3] |= (uint8_t)(1u << (pb & 7));
	f->tight = f->aside_count || short_of_room(f);
}

void drive_file_unreserve(struct drive_file *f, uint64_t offset, uint64_t bytes)
{
	uint64_t first = DRIVE_FILE_IMAGE_AT + offset - f->payload_at;

	if (!f->rooms)
		return;
	for (uint64_t pb = first / f->pb_bytes; pb * f->pb_bytes < first + bytes; pb++)
		f->backed[pb >> 3] &= (uint8_t)~(1u << (pb & 7));
}

bool drive_file_has_room(struct drive_file *f)
{
	if (!f->rooms || (!f->tight && f->asked++ % ASK_EVERY))
		return true;
	if (f->aside_count)
		bring_back(f);
	f->tight = (f->aside_count && !f->ephemeral) || short_of_room(f);
	return !f->tight;
}

bool drive_file_is_whole(struct drive_file *f)
{
	if (f->aside_count && !f->ephemeral)
		bring_back(f);
	return !f->aside_count || f->ephemeral;
}

void drive_file_room_close(struct drive_file *f, const char *path)
{
	if (f->map && !drive_file_is_whole(f))
		fprintf(stderr, "slate: drive file %s: the disk is full, and pages of the drive are missing "
			"in the file: it will not be opened again; restore it from a copy\n", path);
	free(f->aside);
	free(f->backed);
	f->aside = NULL;
	f->backed = NULL;
	f->aside_count = 0;
}
