// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * slate_room.c - room for what the host writes: on the disk of the drive file (drive_room.c), or in memory.
 *
 * Linux maps more memory than it has, gives it when it is first written to, and ends a process if there is none left.
 * So a drive whose content is in memory asks, after each 8 MiB that the host has written, how much this process may
 * still take (host_memory.c). If that is less than the drive's margin and what the shell will take (a guest's memory
 * that was never touched), memory is tight: that of erased blocks is given back, and if it does not suffice, writes
 * are refused, as on a full disk, until it does.
 *
 * The margin has what GC and the write buffer may need, and SPARE: between two checks the host writes 8 MiB, for which
 * payload, map, spare areas and the process around them take some pages each.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/mman.h>

#include "host_memory.h"
#include "slate_dev.h"

#define ASK_BYTES (8u << 20)
#define SPARE (96ull << 20)
#define HOST_PAGE 4096u

void slate_watch_memory(struct slate_dev *d, const struct slate_options *o)
{
	d->memory = (struct memory_room){
		.watched = d->profile.array.payload && (!d->path || d->file.ephemeral),
		.margin = drive_room_margin(&d->profile) + SPARE,
		.wanted = o->memory_wanted,
		.opaque = o->opaque,
	};
}

void slate_give_memory(struct slate_dev *d, uint64_t offset, uint64_t bytes)
{
	uintptr_t at = (uintptr_t)slate_image(d) + offset;
	uintptr_t from = (at + HOST_PAGE - 1) / HOST_PAGE * HOST_PAGE, to = (at + bytes) / HOST_PAGE * HOST_PAGE;

	if (d->memory.tight && to > from)
		madvise((void *)from, to - from, MADV_DONTNEED);
}

static bool is_tight(struct memory_room *r)
{
	uint64_t wanted = r->wanted ? r->wanted(r->opaque) : 0;

	r->written = 0;
	r->tight = host_memory_free() < r->margin + wanted;
	return r->tight;
}

/* Is there too little memory for the content of another write, also without that of erased blocks? */
static bool memory_is_tight(struct slate_dev *d)
{
	bool was = d->memory.tight;

	if (!is_tight(&d->memory))
		return false;
	if (was)
		return true;
	nand_array_discard_blank(nand_array_of(d->nand));
	if (!is_tight(&d->memory))
		return false;
	fprintf(stderr, "slate: profile %s: too little memory is free for the drive's content: writes fail until there "
		"is more: raise the memory limit of this process's control group, end other programs, or keep the "
		"content in a drive file\n", d->profile.name);
	return true;
}

static bool has_memory(struct slate_dev *d, const struct ftl_io *io)
{
	struct memory_room *r = &d->memory;

	if (!r->watched || io->op != FTL_WRITE || io == d->own_io)
		return true;
	r->written += io->bytes;
	return (!r->tight && r->written < ASK_BYTES) || !memory_is_tight(d);
}

bool slate_has_room(struct slate_dev *d, const struct ftl_io *io)
{
	if (io->op == FTL_READ)
		return true;
	if (d->file.rooms && !(io->op == FTL_WRITE ? drive_file_has_room(&d->file) : drive_file_is_whole(&d->file)))
		return false;
	return has_memory(d, io);
}
