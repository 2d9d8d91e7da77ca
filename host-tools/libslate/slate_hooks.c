// SPDX-License-Identifier: GPL-2.0-or-later
/* slate_hooks.c - what the array of a drive calls: its file or memory, planned faults, watches of commands. */
#include "slate_dev.h"

static void on_discard(void *opaque, uint64_t offset, uint64_t bytes)
{
	struct slate_dev *d = opaque;

	if (d->path)
		drive_file_discard(&d->file, offset, bytes);
	if (d->memory.held)
		slate_give_memory(d, offset, bytes);
}

static void on_reserve(void *opaque, uint64_t offset)
{
	struct slate_dev *d = opaque;

	if (d->file.rooms)
		drive_file_reserve(&d->file, offset);
	else
		slate_hold_memory(d, offset);
}

static void on_commands(void *opaque, uint64_t now_ns, const struct nand_cmd *cmds, unsigned int count)
{
	struct slate_dev *d = opaque;

	if (d->on_commands)
		d->on_commands(d, now_ns, cmds, count);
	if (d->watch)
		d->watch(d->watch_opaque, cmds, count, d->skipped_ns);
}

struct nand_hooks slate_hooks(struct slate_dev *d)
{
	struct nand_hooks hooks = { .opaque = d, .done = d->on_commands || d->watch ? on_commands : NULL,
				    .discard = d->path || d->memory.held ? on_discard : NULL,
				    .reserve = d->file.rooms || d->memory.held ? on_reserve : NULL };

	slate_fault_hooks(d, &hooks);
	return hooks;
}

void slate_set_hooks(struct slate_dev *d, slate_command_hook done)
{
	struct nand_hooks hooks;

	d->on_commands = done;
	hooks = slate_hooks(d);
	nand_array_set_hooks(nand_array_of(d->nand), &hooks);
}

void slate_watch(struct slate_dev *d, slate_watch_fn *fn, void *opaque)
{
	d->watch = fn;
	d->watch_opaque = opaque;
	slate_set_hooks(d, d->on_commands);
}
