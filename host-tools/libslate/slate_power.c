// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * slate_power.c - power cuts of a drive after which its shell continues. See slate_power.h.
 *
 * The array cuts its power and the FTL mounts; this file decides when. A plan is a time on the
 * shell's clock (d->cut_ns), or a number of commands (d->commands_left) that the array's hook
 * counts down: the cut is then at the end of the last of them; or it is relative to a mark (d->after_mark_ns).
 * slate_submit() and slate_step() call this file when the time has passed. A drive from a file whose assertion fails
 * has its last cut here, too.
 *
 * After a cut the core's time begins at 0 again, so d->skipped_ns becomes minus the time at which
 * the power was turned on (all sums with it are modulo 2^64). The FTL's memory is used again; its
 * earlier counters are kept in d->gone.
 *
 * Cost: without a plan a comparison in each call; the hook is set only while commands are counted.
 */
#define _GNU_SOURCE
#include "slate_power.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "fxp.h"
#include "save.h"
#include "slate_dev.h"

static void on_command(void *opaque, uint64_t now_ns, const struct nand_cmd *cmds, unsigned int count)
{
	struct slate_dev *d = opaque;

	(void)now_ns;
	if (!d->commands_left)
		return;
	if (count < d->commands_left) {
		d->commands_left -= count;
		return;
	}
	d->cut_ns = cmds[d->commands_left - 1].done_ns - d->skipped_ns;
	d->power.planned_ns = d->cut_ns;
	d->commands_left = 0;
}

static void count_commands(struct slate_dev *d, uint64_t n)
{
	d->commands_left = n;
	slate_set_hooks(d, n ? on_command : NULL);
}

static void forget_plan(struct slate_dev *d)
{
	count_commands(d, 0);
	d->after_mark_ns = UINT64_MAX;
	d->power.planned = false;
	d->power.planned_ns = d->cut_ns = UINT64_MAX;
}

static int refuse(char err[SLATE_ERR_BYTES], const char *why)
{
	snprintf(err, SLATE_ERR_BYTES, "a power cut: %s", why);
	return SSD_E_INVAL;
}

static int check_plan(const struct slate_dev *d, uint64_t now_ns, const struct slate_cut_plan *plan,
		      char err[SLATE_ERR_BYTES])
{
	if (!d->power.on)
		return refuse(err, "the drive has no power already; switch it on first");
	if (d->record)
		return refuse(err, "a recording cannot tell of it; open the drive without one");
	if (plan->when == SLATE_CUT_AFTER_COMMANDS && !plan->value)
		return refuse(err, "after 0 commands; say 1 or more, or now");
	if ((plan->when == SLATE_CUT_AT_NS || plan->when == SLATE_CUT_AFTER_MARK) && plan->value > SLATE_CUT_NS_MAX) {
		snprintf(err, SLATE_ERR_BYTES, "a power cut: %s %llu ns, and the latest moment is %llu ns; name "
			 "an earlier one", plan->when == SLATE_CUT_AT_NS ? "at" : "after",
			 (unsigned long long)plan->value,
			 (unsigned long long)SLATE_CUT_NS_MAX);
		return SSD_E_INVAL;
	}
	if (plan->when == SLATE_CUT_AT_NS && plan->value < now_ns) {
		snprintf(err, SLATE_ERR_BYTES, "a power cut: at %llu ns, and the drive's clock is at %llu "
			 "ns already; name a later moment", (unsigned long long)plan->value,
			 (unsigned long long)now_ns);
		return SSD_E_INVAL;
	}
	return SSD_OK;
}

void slate_power_mounted(struct slate_dev *d)
{
	if (d->cut_ns < d->ready_ns)
		d->power.planned_ns = d->cut_ns = d->ready_ns;
}

int slate_power_cut(struct slate_dev *d, uint64_t now_ns, const struct slate_cut_plan *plan,
		    char err[SLATE_ERR_BYTES])
{
	int result = plan->when == SLATE_CUT_NEVER ? SSD_OK : check_plan(d, now_ns, plan, err);

	if (result)
		return result;
	forget_plan(d);
	if (plan->when == SLATE_CUT_NEVER)
		return SSD_OK;
	d->power.planned = true;
	d->cut_seed = plan->seed;
	d->cut_what = plan->what;
	if (plan->when == SLATE_CUT_AFTER_COMMANDS) {
		count_commands(d, plan->value);
		return SSD_OK;
	}
	if (plan->when == SLATE_CUT_AFTER_MARK) {
		d->after_mark_ns = plan->value;
		memcpy(d->cut_label, plan->label, SLATE_LABEL_BYTES);
		return SSD_OK;
	}
	d->cut_ns = plan->when == SLATE_CUT_NOW ? now_ns : plan->value;
	d->power.planned_ns = d->cut_ns;
	slate_power_mounted(d);
	return SSD_OK;
}

bool slate_power_mark(struct slate_dev *d, uint64_t now_ns, const char label[SLATE_LABEL_BYTES])
{
	if (d->after_mark_ns == UINT64_MAX || strncmp(label, d->cut_label, SLATE_LABEL_BYTES))
		return false;
	d->cut_ns = now_ns + d->after_mark_ns;
	d->power.planned_ns = d->cut_ns;
	d->after_mark_ns = UINT64_MAX;
	slate_power_mounted(d);
	return true;
}

void slate_note_power_loss(struct slate_dev *d)
{
	d->note[SLATE_NOTE_UNSAFE] += d->note[SLATE_NOTE_IN_USE];
	d->note[SLATE_NOTE_IN_USE] = 0;
}

void slate_shut_down(struct slate_dev *d)
{
	d->note[SLATE_NOTE_IN_USE] = 0;
}

/* An assertion has failed: the drive loses its power for good. */
void slate_breaks(struct slate_dev *d, uint64_t now_ns)
{
	fprintf(stderr, "slate: drive file %s: what it holds contradicts itself: the drive is off; restore "
		"it from a copy\n", d->path);
	d->broken = true;
	slate_note_power_loss(d);
	d->power.lost_ios = d->ftl ? d->ftl->ops->inflight(d->ftl) : 0;
	memset(d->power.torn, 0, sizeof(d->power.torn));
	memset(d->power.undone, 0, sizeof(d->power.undone));
	d->power.save = (struct slate_save){ 0 };
	d->power.cut_ns = now_ns;
	d->power.cuts++;
	d->power.on = d->power.planned = false;
	d->power.planned_ns = d->cut_ns = UINT64_MAX;
	d->commands_left = 0;
	d->after_mark_ns = UINT64_MAX;
}

bool slate_endures(struct slate_dev *d, uint64_t now_ns, void (*call)(void *), void *arg)
{
	if (!d->was_there) {
		call(arg);
		return true;
	}
	if (slate_guarded(call, arg))
		return true;
	slate_breaks(d, now_ns);
	return false;
}

/* Add the NAND commands until now, or subtract them. */
static void tally_save(const struct slate_dev *d, struct slate_save *s, bool subtract)
{
	struct nand_stats now;

	d->nand->ops->get_stats(d->nand, &now);
	for (unsigned int op = 0; op < NAND_NOPS; op++)
		for (unsigned int from = 0; from < NAND_NSOURCES; from++)
			s->ops[op] += subtract ? 0 - now.ops[op][from] : now.ops[op][from];
}

/* Let the capacitors do their work from at_ns on, in the core's time. Returns when the array loses its power. */
static uint64_t save(struct slate_dev *d, uint64_t at_ns)
{
	struct slate_save *s = &d->power.save;
	uint64_t end_ns;

	*s = (struct slate_save){ 0 };
	tally_save(d, s, true);
	s->left_pages = ftl_save(d->ftl, d->nand, d->profile.ftl.hold_up_ns, at_ns, &end_ns);
	tally_save(d, s, false);
	s->ns = end_ns - at_ns;
	if (d->note[SLATE_NOTE_IN_USE])
		d->note[s->left_pages ? SLATE_NOTE_UNSAVED : SLATE_NOTE_SAVED]++;
	return end_ns;
}

/* Returns the core's time. The array's own time lacks the end of a mount after its last command. */
static uint64_t core_now_ns(const struct slate_dev *d)
{
	uint64_t mounted_ns = d->ready_ns + d->skipped_ns, now_ns = nand_array_now_ns(nand_array_of(d->nand));

	return now_ns > mounted_ns ? now_ns : mounted_ns;
}

static void save_now(void *arg)
{
	struct slate_dev *d = arg;
	struct nand_array *a = nand_array_of(d->nand);

	nand_array_passed(a, save(d, core_now_ns(d)));
}

void slate_save_at_close(struct slate_dev *d)
{
	const struct slate_save *s = &d->power.save;

	if (!d->power.on || !d->ftl || !d->path || d->file.ephemeral || d->file.fresh ||
	    !d->profile.ftl.power_protected)
		return;
	if (slate_endures(d, core_now_ns(d) - d->skipped_ns, save_now, d) && s->left_pages)
		fprintf(stderr, "slate: drive file %s: the capacitors' energy or the free blocks did not suffice at "
			"the close: %u page%s of the write buffer %s lost\n", d->path, s->left_pages,
			s->left_pages == 1 ? "" : "s", s->left_pages == 1 ? "is" : "are");
}

void slate_power_fails(struct slate_dev *d)
{
	struct nand_array *a = nand_array_of(d->nand);
	uint64_t at = d->cut_ns + d->skipped_ns;
	struct nand_in_flight met;

	nand_array_passed(a, at);
	d->power.lost_ios = 0;
	d->power.save = (struct slate_save){ 0 };
	if (d->ftl) {
		(void)d->ftl->ops->step(d->ftl, at);
		d->power.lost_ios = d->ftl->ops->inflight(d->ftl);
		if (d->profile.ftl.power_protected && d->cut_what == SLATE_CUT_POWER)
			at = save(d, at);
	}
	d->sanitizing = SLATE_NOT_SANITIZING;
	d->sanitize_actions = 0;
	nand_array_in_flight(a, at, &met);
	memset(d->power.torn, 0, sizeof(d->power.torn));
	memcpy(d->power.undone, met.waiting, sizeof(met.waiting));
	if (d->cut_what == SLATE_CUT_CONTROLLER) {
		nand_array_controller_lost(a, at);
	} else {
		memcpy(d->power.torn, met.begun, sizeof(met.begun));
		nand_array_power_cut(a, at, fxp_hash(d->cut_seed, d->power.cuts));
	}
	slate_note_power_loss(d);
	d->power.cut_ns = d->cut_ns;
	d->power.cuts++;
	d->power.on = false;
	forget_plan(d);
}

bool slate_powered(const struct slate_dev *d)
{
	return d->power.on;
}

static bool has_gone(struct slate_dev *d)
{
	if (!d->gone) {
		d->gone = malloc(sizeof(*d->gone));
		if (!d->gone)
			return false;
		slate_no_ftl_stats(d->gone);
	}
	return true;
}

void slate_count_refused(struct slate_dev *d, enum ftl_op op)
{
	if (has_gone(d))
		d->gone->op[op].errors++;
}

int slate_keep_counts(struct slate_dev *d)
{
	if (!has_gone(d))
		return SSD_E_NOMEM;
	if (d->ftl)
		slate_add_ftl_stats(d->gone, d->ftl->ops->stats(d->ftl));
	return SSD_OK;
}

/* Add the NAND commands until now, or subtract them. */
static void tally_commands(const struct slate_dev *d, struct slate_power *p, bool subtract)
{
	struct nand_stats now;

	d->nand->ops->get_stats(d->nand, &now);
	for (unsigned int op = 0; op < NAND_NOPS; op++)
		for (unsigned int s = 0; s < NAND_NSOURCES; s++)
			p->mount_ops[op] += subtract ? 0 - now.ops[op][s] : now.ops[op][s];
	for (unsigned int s = 0; s < NAND_NSOURCES; s++)
		p->mount_reads[s] += subtract ? 0 - now.ops[NAND_READ][s] : now.ops[NAND_READ][s];
}

int slate_mount(struct slate_dev *d, uint64_t now_ns, uint64_t *ready_ns)
{
	int result;

	memset(d->power.mount_ops, 0, sizeof(d->power.mount_ops));
	memset(d->power.mount_reads, 0, sizeof(d->power.mount_reads));
	tally_commands(d, &d->power, true);
	result = slate_start_ftl(d, now_ns, ready_ns);
	tally_commands(d, &d->power, false);
	return result;
}

void slate_note_mount(struct slate_dev *d, uint64_t on_ns, uint64_t took_ns)
{
	d->power.mounts++;
	d->power.on_ns = on_ns;
	d->power.ready_ns = on_ns + took_ns;
}

int slate_power_on(struct slate_dev *d, uint64_t now_ns, char err[SLATE_ERR_BYTES])
{
	uint64_t took_ns = 0, saved_ns = d->power.cut_ns + d->power.save.ns;
	int result;

	SSD_ASSERT(!d->power.on && now_ns >= d->power.cut_ns);
	if (now_ns < saved_ns)		/* the drive starts anew when its capacitors have done their work */
		now_ns = saved_ns;
	if (d->broken) {
		snprintf(err, SLATE_ERR_BYTES, "drive file %s: what it holds contradicts itself: the drive "
			 "stays off; restore it from a copy", d->path);
		return SSD_E_CORRUPT;
	}
	result = slate_keep_counts(d);
	if (!result) {
		madvise(d->ftl_mem.at, d->ftl_mem.bytes, MADV_DONTNEED);	/* the memory reads as zeroes again */
		nand_array_power_on(nand_array_of(d->nand));
		if (!slate_sanitize_goes_on(d))
			result = slate_mount(d, 0, &took_ns);
	}
	if (result) {
		snprintf(err, SLATE_ERR_BYTES, "profile %s: the drive does not mount after a power cut: %s",
			 d->profile.name, slate_mount_fault(d, result));
		return result;
	}
	d->skipped_ns = 0 - now_ns;
	d->ready_ns = now_ns + took_ns;
	slate_note_mount(d, now_ns, took_ns);
	d->power.on = true;
	return SSD_OK;
}

void slate_get_power(const struct slate_dev *d, struct slate_power *out)
{
	*out = d->power;
}
