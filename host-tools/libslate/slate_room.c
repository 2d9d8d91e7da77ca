// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * slate_room.c - room for what the host writes: on the disk of the drive file (drive_room.c), or in memory.
 *
 * Linux promises more memory than the machine has, allocates a page at the first write to it, and kills a process when
 * none is left. A drive whose content is in memory is opened if all of the content fits or, with memory.overcommit, if
 * the rest fits. An overcommitted drive that might not fit beside what the shell will still take (a guest's RAM) is
 * watched as it grows:
 *
 *   held      before a page is stored, its smallest PB counts as held. While memory is tight, an erase gives the PB's
 *             memory back; else the PB keeps it for its next pages;
 *   look      after each 4 MiB of growth the next write of the host compares what this process may still take
 *             (host_memory.c) with what the drive may need: the margin, or what it does not hold if that is less, and
 *             what is untouched of the tables, the FTL's memory and the guest's;
 *   tight     if the need is more than what is left, the memory of erased blocks is given back. If that is not enough,
 *             writes of the host are refused, as on a full disk; after each 64 of them the next write looks again.
 *
 * The margin has what GC and the write buffer may need. Huge pages are off for a watched drive's content: the first
 * write to a huge page takes 2 MiB, and giving back a part of one frees nothing.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "host_memory.h"
#include "nand_geom.h"
#include "slate_dev.h"

#define LOOK_BYTES (4u << 20)
#define SPARE (32ull << 20)	/* for the process around the drive */
#define LOOK_EVERY 64u		/* while memory is tight, so many writes are refused before the next look */
#define HOST_PAGE 4096u

int slate_watch_memory(struct slate_dev *d, const struct slate_options *o, uint64_t need_bytes)
{
	const struct nand_array_config *a = &d->profile.array;
	struct memory_room *r = &d->memory;
	uint64_t wanted = o->memory_wanted ? o->memory_wanted(o->opaque, false) : 0, pbs;

	r->margin = drive_room_margin(&d->profile) + LOOK_BYTES + SPARE;
	r->wanted = o->memory_wanted;
	r->opaque = o->opaque;
	r->payload_at = nand_array_table_bytes(a);
	r->pb_bytes = (uint64_t)(a->geo.pages_per_block >> a->geo.pb_levels) * a->geo.page_bytes;
	pbs = (uint64_t)geo_blocks(&a->geo) << a->geo.pb_levels;
	r->holes = pbs * r->pb_bytes;
	if (!a->payload || !d->profile.overcommit || d->file.rooms || (d->path && !d->file.ephemeral) ||
	    need_bytes + wanted <= host_memory_free())
		return SSD_OK;
	r->held = calloc(pbs / 8 + 1, 1);
	return r->held ? SSD_OK : SSD_E_NOMEM;
}

void slate_hold_memory(struct slate_dev *d, uint64_t offset)
{
	struct memory_room *r = &d->memory;
	uint64_t pb = (offset - r->payload_at) / r->pb_bytes;

	if (!r->held || r->held[pb >> 3] >> (pb & 7) & 1)
		return;
	r->held[pb >> 3] |= (uint8_t)(1u << (pb & 7));
	r->holes -= r->pb_bytes;
	r->grown += r->pb_bytes;
}

void slate_give_memory(struct slate_dev *d, uint64_t offset, uint64_t bytes)
{
	struct memory_room *r = &d->memory;
	uintptr_t at = (uintptr_t)slate_image(d) + offset;
	uintptr_t from = (at + HOST_PAGE - 1) / HOST_PAGE * HOST_PAGE, to = (at + bytes) / HOST_PAGE * HOST_PAGE;

	if (!r->tight)
		return;
	if (to > from)
		madvise((void *)from, to - from, MADV_DONTNEED);
	for (uint64_t pb = (offset - r->payload_at) / r->pb_bytes; bytes; pb++, bytes -= r->pb_bytes)
		if (r->held[pb >> 3] >> (pb & 7) & 1) {
			r->held[pb >> 3] &= (uint8_t)~(1u << (pb & 7));
			r->holes += r->pb_bytes;
		}
}

/* Returns what the tables, the FTL and the shell will still take: exactly, or at most. */
static uint64_t others_bytes(const struct slate_dev *d, bool exact)
{
	const struct memory_room *r = &d->memory;
	uint64_t shell = r->wanted ? r->wanted(r->opaque, exact) : 0;

	if (!exact)
		return shell + d->running.bytes + d->ftl_mem.bytes + r->payload_at;
	return shell + host_memory_untouched(d->running.at, d->running.bytes) +
	       host_memory_untouched(d->ftl_mem.at, d->ftl_mem.bytes) +
	       host_memory_untouched(slate_image(d), r->payload_at);
}

static bool look(struct slate_dev *d)
{
	struct memory_room *r = &d->memory;
	uint64_t need = r->holes < r->margin ? r->holes : r->margin, left = host_memory_free();

	r->grown = 0;
	r->tight = need && left < need + others_bytes(d, false) && left < need + others_bytes(d, true);
	return r->tight;
}

/* Is there too little memory for another write, also when that of erased blocks has been given back? */
static bool memory_is_tight(struct slate_dev *d)
{
	bool was = d->memory.tight;

	if (!look(d))
		return false;
	if (was)
		return true;
	nand_array_discard_blank(nand_array_of(d->nand));
	if (!look(d))
		return false;
	if (!d->memory.said)
		fprintf(stderr, "slate: profile %s: too little memory is free for the drive's content: writes fail "
			"until there is more: raise the memory limit of this process's control group, end other "
			"programs, or keep the content in a drive file\n", d->profile.name);
	d->memory.said = true;
	return true;
}

static bool has_memory(struct slate_dev *d)
{
	struct memory_room *r = &d->memory;

	if (r->tight ? d->refused % LOOK_EVERY != 0 : r->grown < LOOK_BYTES)
		return !r->tight;
	return !memory_is_tight(d);
}

bool slate_has_room(struct slate_dev *d, const struct ftl_io *io)
{
	if (io->op == FTL_READ)
		return true;
	if (d->file.rooms && !(io->op == FTL_WRITE ? drive_file_has_room(&d->file) : drive_file_is_whole(&d->file)))
		return false;
	return io->op != FTL_WRITE || !d->memory.held || io == d->own_io || has_memory(d);
}
