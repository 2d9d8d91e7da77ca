// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * slate.c - a whole drive for a shell. See slate.h.
 *
 * The core's time advances while the drive is preconditioned, but the shell's clock does not.
 * `skipped_ns` is the difference; every time that passes through this file is shifted by it.
 *
 * The content of a drive file is not trusted. It was checked, as far as possible, when it was
 * opened. If an assertion of the core fails nevertheless, the drive loses its power permanently, as
 * in slate_power.h, and the program continues.
 */
#define _GNU_SOURCE
#include "slate.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "controller.h"
#include "gc_policy.h"
#include "host_memory.h"
#include "nand_geom.h"
#include "port_user.h"
#include "profile_keys.h"
#include "record.h"
#include "record_content.h"
#include "slate_dev.h"


/* ---- memory ------------------------------------------------------------- */

static int map_region(struct region *r, size_t bytes, bool huge)
{
	r->bytes = bytes;
	r->at = NULL;
	if (!bytes)
		return SSD_OK;
	r->at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (r->at == MAP_FAILED) {
		r->at = NULL;
		return SSD_E_NOMEM;
	}
	/* Only a hint: it halves the time of filling a drive. */
	madvise(r->at, bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	return SSD_OK;
}

static void unmap_region(struct region *r)
{
	if (r->at)
		munmap(r->at, r->bytes);
	r->at = NULL;
}

static int get_memory(struct slate_dev *d, const struct slate_options *o, char err[SLATE_ERR_BYTES])
{
	const struct profile *p = &d->profile;
	size_t running = nand_array_footprint(&p->array);
	size_t image = nand_array_image_bytes(&p->array);
	size_t pool = image - nand_array_table_bytes(&p->array) - nand_array_form_bytes(&p->array);
	size_t ftl = controller_footprint(p->ops, &p->ftl, &p->array.geo);
	uint64_t room = host_memory_free(), need = (uint64_t)running + ftl + image;

	if (slate_watch_memory(d, o, need))
		return SSD_E_NOMEM;
	if (d->path && !d->file.ephemeral)
		need -= image;		/* Linux can write the pages of a file back */
	else if (p->overcommit)
		need -= pool;
	if (need > room) {
		snprintf(err, SLATE_ERR_BYTES,
			 "profile %s: the array needs %llu MiB of memory (%llu MiB of it for data) and "
			 "%llu MiB are free: use fewer blocks, free memory%s", p->name,
			 (unsigned long long)(need >> 20), (unsigned long long)(pool >> 20),
			 (unsigned long long)(room >> 20),
			 p->overcommit ? "" : ", set ftl.payload=no to keep no data, or "
			 "memory.overcommit=yes if most of it will stay unwritten");
		return SSD_E_NOMEM;
	}
	if (map_region(&d->running, running, true) || (!d->path && map_region(&d->image, image, !d->memory.held)) ||
	    map_region(&d->ftl_mem, ftl, true)) {
		snprintf(err, SLATE_ERR_BYTES, "profile %s: cannot map %llu MiB for the array: %s",
			 p->name, (unsigned long long)(((uint64_t)running + image + ftl) >> 20),
			 "raise the address space limit (ulimit -v) or use fewer blocks");
		return SSD_E_NOMEM;
	}
	return SSD_OK;
}

/* ---- between the core and the shell -------------------------------------- */

static uint64_t mix(uint64_t *state)	/* splitmix64 */
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* Fail the I/O if a page could not be stored in the drive file. */
static SSD_APART void check_stored(struct slate_dev *d, struct ftl_io *io)
{
	if (io->op != FTL_READ && io->status == SSD_OK && !drive_file_is_whole(&d->file))
		io->status = SSD_E_NOSPC;
}

static SSD_APART void note_done(struct slate_dev *d, const struct ftl_io *io)
{
	if (d->causes)
		slate_note_causes(d->causes, io);
	if (d->series)
		slate_series_note(d->series, io);
	if (d->record)
		record_done(d->record, io);
}

static SSD_HOT void on_done(void *opaque, struct ftl_io *io)
{
	struct slate_dev *d = opaque;

	if (io == d->own_io) {
		d->own_done = true;
		return;
	}
	io->submit_ns -= d->skipped_ns;
	io->done_ns -= d->skipped_ns;
	if (SSD_UNLIKELY(d->file.aside_count))
		check_stored(d, io);
	if (SSD_UNLIKELY(io->status == SSD_E_UNCORR))
		d->note[SLATE_NOTE_MEDIA_ERRORS]++;
	if (SSD_UNLIKELY(d->sanitizing))
		slate_sanitize_wrote(d, io);
	if (SSD_UNLIKELY(d->content))
		record_content_end(d->content, io);
	if (d->causes || d->series || d->record)
		note_done(d, io);
	d->host.done(d->host.opaque, io);
}

static void on_copy(void *opaque, struct ftl_io *io, uint64_t at, void *buf, size_t len)
{
	struct slate_dev *d = opaque;

	if (io == d->own_io && d->own_record)
		slate_record_content(d, at, buf, len);
	else if (io == d->own_io)
		slate_own_content(d, io->offset + at, buf, len);
	else if (!d->content || d->power.cuts || !record_content_copy(d->content, io, at, buf, len))
		d->host.copy(d->host.opaque, io, at, buf, len);
}

/* ---- life cycle --------------------------------------------------------- */

static void plant_bad_blocks(struct slate_dev *d)
{
	const struct nand_geometry *g = &d->profile.array.geo;
	uint64_t blocks = (uint64_t)g->channels * g->chips_per_channel * g->dies_per_chip *
			  g->planes_per_die * g->blocks_per_plane;
	uint64_t seed = d->profile.array.physics.seed;

	for (uint32_t b = 0; d->profile.factory_bad_permille && b < blocks; b++)
		if (mix(&seed) % 1000 < d->profile.factory_bad_permille)
			d->nand->ops->mark_bad(d->nand, (pbn_t){ b });
}

bool slate_guarded(void (*call)(void *), void *arg)
{
	struct ssd_guard guard, *const outer = ssd_guard;

	if (setjmp(guard.back)) {
		ssd_guard = outer;
		return false;
	}
	ssd_guard = &guard;
	call(arg);
	ssd_guard = outer;
	return true;
}

/* slate_guarded() passes a call's arguments and result in this struct. */
struct call {
	struct slate_dev *d;
	uint64_t now_ns;
	struct ftl_io *io;
	uint64_t ns;
	int result;
};

static void mount(void *arg)
{
	struct call *c = arg;
	struct slate_dev *d = c->d;

	c->result = d->ftl->ops->mount(d->ftl, c->now_ns, &c->ns);
}

int slate_start_ftl(struct slate_dev *d, uint64_t now_ns, uint64_t *ready_ns)
{
	const struct profile *p = &d->profile;
	const struct ftl_host host = { on_done, on_copy, d };
	struct call c = { .d = d, .now_ns = now_ns };
	int result = controller_init(p->ops, d->ftl_mem.at, d->ftl_mem.bytes, &p->ftl, d->nand, &host, &d->ftl);

	if (!result && !d->was_there)
		mount(&c);
	else if (!result && !slate_guarded(mount, &c))
		c.result = SSD_E_CORRUPT;
	if (!result)
		result = c.result;
	*ready_ns = c.ns;
	if (result)
		d->ftl = NULL;
	return result;
}

/* Returns why a mount failed. Without payload flash lacks what the FTL itself stores as data. */
const char *slate_mount_fault(const struct slate_dev *d, int result)
{
	if (result == SSD_E_CORRUPT && !d->profile.ftl.payload)
		return "with ftl.payload=no flash keeps no data, and so neither the drive's trims nor its list of "
		       "pages that power cuts left; make the drive again, or with ftl.payload=yes";
	return ssd_strerror(result);
}

/*
 * Report damage. The host sees damaged pages as errors of its reads and in the counter. Pages that
 * the mount could not read are reported only here.
 */
static void tell_damage(const struct slate_dev *d)
{
	struct nand_stats s;

	d->nand->ops->get_stats(d->nand, &s);
	if (s.damaged)
		fprintf(stderr, "slate: drive file %s: %llu reads of its mount met a page that does not match its "
			"checksum: the file was damaged, and data of these pages is lost, or older; restore the "
			"file from a copy\n", d->path, (unsigned long long)s.damaged);
}

static int start_core(struct slate_dev *d, char err[SLATE_ERR_BYTES])
{
	const struct nand_hooks hooks = slate_hooks(d);
	const struct profile *p = &d->profile;
	int result;

	d->nand = nand_array_take_up(d->running.at, slate_image(d),
				     &p->array, &hooks);
	d->note = nand_array_notes(nand_array_of(d->nand));
	slate_begin_events(d);
	slate_note_power_loss(d);
	if (d->was_there)
		nand_array_from_outside(nand_array_of(d->nand));
	else
		plant_bad_blocks(d);
	result = d->was_there && slate_sanitize_goes_on(d) ? slate_sanitize_to_end(d, &d->skipped_ns) :
							     slate_mount(d, 0, &d->skipped_ns);
	if (!result && d->was_there) {
		slate_note_mount(d, 0, d->skipped_ns);
		tell_damage(d);
	}
	if (result)
		snprintf(err, SLATE_ERR_BYTES, "profile %s: the drive does not mount: %s", p->name,
			 slate_mount_fault(d, result));
	return result;
}

static int need_ftl(const struct profile *p, char err[SLATE_ERR_BYTES])
{
	if (p->ops)
		return SSD_OK;
	snprintf(err, SLATE_ERR_BYTES, "profile %s: ftl.type = %s describes an array without an FTL, and "
		 "there is nothing to run: set ftl.type = %s, if that FTL can drive it", p->name,
		 p->ftl_type, ftl_list[0]->name);
	return SSD_E_INVAL;
}

static int load_profile(struct slate_dev *d, const struct slate_options *o, char *err)
{
	char **kept = NULL, **all;
	size_t n = 0, m = 0;
	int result;

	if (o->profile)
		return profile_load(&d->profile, o->profile, o->overrides, err);
	if (!o->backing && o->overrides && *o->overrides)
		return profile_load(&d->profile, NULL, o->overrides, err);
	if (!o->backing) {
		snprintf(err, SLATE_ERR_BYTES, "neither a profile nor a drive file: give one");
		return SSD_E_INVAL;
	}
	result = drive_file_settings(o->backing, &kept, err);
	if (result)
		return result;
	while (kept[n])
		n++;
	while (o->overrides && o->overrides[m])
		m++;
	all = calloc(n + m + 1, sizeof(*all));
	SSD_ASSERT(all);
	memcpy(all, kept, n * sizeof(*all));
	for (size_t i = 0; i < m; i++)
		all[n + i] = (char *)(uintptr_t)o->overrides[i];
	result = profile_load(&d->profile, NULL, (const char *const *)all, err);
	free(all);
	free(kept);
	return result;
}

static int open_file(struct slate_dev *d, const struct slate_options *o, char *err)
{
	int result;

	if (!o->backing) {
		if (o->ephemeral)
			snprintf(err, SLATE_ERR_BYTES, "ephemeral without a drive file: name one");
		return o->ephemeral ? SSD_E_INVAL : SSD_OK;
	}
	result = drive_file_open(&d->file, o->backing, o->ephemeral, &d->profile, d->settings, err);
	if (result)
		return result;
	d->was_there = !d->file.fresh;
	d->path = strdup(o->backing);
	SSD_ASSERT(d->path);
	return SSD_OK;
}

/* Check that the good blocks hold the capacity, as a factory does. */
static int check_bad_blocks(struct slate_dev *d, char *err)
{
	if (!d->profile.factory_bad_permille || d->was_there ||
	    slate_own_write(d, &d->skipped_ns, (struct ftl_io){ .op = FTL_WRITE }) != SSD_E_WORNOUT)
		return SSD_OK;
	snprintf(err, SLATE_ERR_BYTES, "profile %s: reliability.factory_bad_permille = %llu leaves "
		 "too few good blocks for the exported capacity: lower it, or lower "
		 "ftl.capacity_mib", d->profile.name,
		 (unsigned long long)d->profile.factory_bad_permille);
	return SSD_E_INVAL;
}

static int precondition(struct slate_dev *d, char *err)
{
	const struct profile *p = &d->profile;
	int result;

	if (d->was_there || (!p->fill_permille && !p->age_permille))
		return SSD_OK;
	if (!p->fill_permille) {
		snprintf(err, SLATE_ERR_BYTES, "profile %s: precondition.age_permille = %llu overwrites "
			 "what precondition.fill_permille filled: set that too", p->name,
			 (unsigned long long)p->age_permille);
		return SSD_E_INVAL;
	}
	if (p->age_permille && p->ops->zones) {
		snprintf(err, SLATE_ERR_BYTES, "profile %s: precondition.age_permille = %llu overwrites at random, "
			 "which zones do not allow: leave it out", p->name, (unsigned long long)p->age_permille);
		return SSD_E_INVAL;
	}
	result = slate_precondition(d, (uint32_t)p->fill_permille, (uint32_t)p->age_permille,
				    p->precondition_seed);
	if (result == SSD_E_NOSPC && !drive_file_has_room(&d->file))
		snprintf(err, SLATE_ERR_BYTES, "drive file %s: the disk is full: free some, or use another "
			 "disk", d->path);
	else if (result)
		snprintf(err, SLATE_ERR_BYTES, "profile %s: preconditioning failed: %s", p->name,
			 ssd_strerror(result));
	return result;
}

static int get_settings(struct slate_dev *d, char *err)
{
	size_t len = profile_print(&d->profile, NULL, 0) + 1;

	d->marks = calloc(SLATE_MARKS_MAX, sizeof(*d->marks));
	d->settings = malloc(len);
	d->busy_before = calloc(1, slate_busy_bytes(d));
	if (!d->marks || !d->settings || !d->busy_before) {
		snprintf(err, SLATE_ERR_BYTES, "no memory for a drive's statistics");
		return SSD_E_NOMEM;
	}
	profile_print(&d->profile, d->settings, len);
	return SSD_OK;
}

static int open_records(struct slate_dev *d, const struct slate_options *o, char *err)
{
	if ((o->record || o->record_content) && d->profile.ops->zones) {
		snprintf(err, SLATE_ERR_BYTES, "a recording of ftl.type = %s would lack the operations of zones: "
			 "record another drive", d->profile.ops->name);
		return SSD_E_INVAL;
	}
	if (o->record_content && slate_handles(d)) {
		snprintf(err, SLATE_ERR_BYTES, "a content trace would lack the placement handles of writes "
			 "(ftl.placement_handles = %u): set that to 0, or record the calls alone",
			 d->profile.ftl.placement_handles);
		return SSD_E_INVAL;
	}
	if (o->record) {
		d->record = record_open(o->record, d->settings, d->was_there,
					d->profile.ftl.arbitration, err);
		if (!d->record)
			return SSD_E_INVAL;
	}
	if (!o->record_content)
		return SSD_OK;
	d->content = record_content_open(o->record_content, d->settings, err);
	return d->content ? SSD_OK : SSD_E_INVAL;
}

int slate_open(const struct slate_options *o, const struct ftl_host *host,
	       struct slate_dev **out, char err[SLATE_ERR_BYTES])
{
	struct slate_dev *d = calloc(1, sizeof(*d));
	int result;

	*out = NULL;
	if (!d) {
		snprintf(err, SLATE_ERR_BYTES, "no memory for a drive");
		return SSD_E_NOMEM;
	}
	d->host = *host;
	d->own_zeroes = o->zeroes;
	d->progress = o->progress;
	d->progress_opaque = o->opaque;
	d->file.fd = -1;
	d->power.on = true;
	d->power.planned_ns = d->cut_ns = d->series_ns = d->after_mark_ns = UINT64_MAX;
	result = load_profile(d, o, err);
	profile_set_image(&d->profile, o->backing != NULL);
	if (!result)
		result = need_ftl(&d->profile, err);
	if (!result)
		result = get_settings(d, err);
	if (!result)
		result = open_file(d, o, err);
	if (!result)
		result = get_memory(d, o, err);
	if (!result)
		result = start_core(d, err);
	if (!result) {
		slate_forget_statistics(d);
		result = check_bad_blocks(d, err);
	}
	if (!result) {
		slate_forget_statistics(d);
		result = precondition(d, err);
	}
	if (!result)
		result = open_records(d, o, err);
	if (result) {
		(void)slate_end_record(d, false);
		slate_close(d);
		return result;
	}
	nand_array_age(nand_array_of(d->nand), d->profile.idle_hours * 3600 * 1000000000ull);
	if (d->path && !d->was_there) {
		drive_file_complete(&d->file);
		nand_array_discard_blank(nand_array_of(d->nand));
	}
	*out = d;
	return SSD_OK;
}

bool slate_end_record(struct slate_dev *d, bool keep)
{
	bool good = !d->content || record_content_close(d->content, keep);
	struct slate_stats *now;

	d->content = NULL;
	if (!d->record)
		return good;
	now = malloc(sizeof(*now));
	SSD_ASSERT(now);
	slate_get_stats(d, now);
	for (unsigned int op = 0; op < NAND_NOPS; op++)
		for (unsigned int s = 0; s < NAND_NSOURCES; s++)
			now->nand.ops[op][s] += d->record_before[op][s];
	good = record_close(d->record, &now->nand, keep) && good;
	d->record = NULL;
	free(now);
	return good;
}

void slate_machine_stands(struct slate_dev *d, bool stands)
{
	d->machine_stands = stands;
}

void slate_close(struct slate_dev *d)
{
	if (!d)
		return;
	(void)slate_end_record(d, true);
	slate_save_at_close(d);
	unmap_region(&d->running);
	unmap_region(&d->image);
	unmap_region(&d->ftl_mem);
	drive_file_close(&d->file, d->path);
	free(d->path);
	slate_forget_marks(d);
	free(d->marks);
	free(d->busy_before);
	free(d->settings);
	free(d->causes);
	slate_series_free(d);
	free(d->gone);
	free(d->memory.held);
	free(d);
}

/* ---- queries ------------------------------------------------------------ */

uint64_t slate_refused(const struct slate_dev *d)
{
	return d->refused;
}

uint64_t slate_capacity(const struct slate_dev *d)
{
	return d->profile.ftl.capacity_bytes;
}

uint32_t slate_unit_bytes(const struct slate_dev *d)
{
	return d->profile.ftl.unit_bytes;
}

uint32_t slate_page_bytes(const struct slate_dev *d)
{
	return d->profile.array.geo.page_bytes;
}

uint32_t slate_cores(const struct slate_dev *d)
{
	return d->profile.ftl.cores;
}

bool slate_has_write_cache(const struct slate_dev *d)
{
	return !d->profile.ftl.power_protected &&
	       (d->profile.ftl.buffer_units > 0 || d->profile.ftl.accounting == FTL_ACCOUNT_SSDSIM ||
		d->profile.ops->durability == FTL_FLUSHED);
}

const char *slate_profile_name(const struct slate_dev *d)
{
	return d->profile.name;
}

const char *slate_settings(const struct slate_dev *d)
{
	return d->settings;
}

bool slate_was_there(const struct slate_dev *d)
{
	return d->was_there;
}

const struct nand_geometry *slate_geometry(const struct slate_dev *d)
{
	return &d->profile.array.geo;
}

const char *slate_ftl_name(const struct slate_dev *d)
{
	return d->profile.ops->name;
}

const char *slate_gc_policy(const struct slate_dev *d)
{
	const struct profile *p = &d->profile;

	return profile_key_is_foreign(profile_key_find("ftl", "gc_policy"), p->ops) ? NULL : p->ftl.gc_policy->name;
}

uint64_t slate_map_bytes(const struct slate_dev *d)
{
	return d->ftl && d->ftl->ops->map_bytes ? d->ftl->ops->map_bytes(d->ftl) : 0;
}

void slate_check(const struct slate_dev *d)
{
	if (d->power.on && d->ftl)
		d->ftl->ops->check(d->ftl);
}

bool slate_core_time(struct slate_dev *d, uint64_t *now_ns)
{
	if (SSD_UNLIKELY(!slate_undisturbed(d, *now_ns))) {
		if (*now_ns >= d->cut_ns)
			slate_power_fails(d);
		if (*now_ns < d->ready_ns)
			*now_ns = d->ready_ns;
	}
	return d->power.on;
}

/* End a request before it reaches the FTL. */
static SSD_SELDOM void refuse(struct slate_dev *d, uint64_t now_ns, struct ftl_io *io, enum ssd_err why)
{
	io->submit_ns = io->done_ns = now_ns;
	io->status = why;
	memset(&io->where, 0, sizeof(io->where));
	d->host.done(d->host.opaque, io);
}

/* The disk of the drive file, or memory, has no room for the request: fail it before it reaches the FTL. */
static SSD_APART bool no_room(struct slate_dev *d, uint64_t now_ns, struct ftl_io *io)
{
	if (slate_has_room(d, io))
		return false;
	d->refused++;
	slate_count_refused(d, io->op);
	refuse(d, now_ns, io, SSD_E_NOSPC);
	return true;
}

/* Does the drive take the I/O's lost content (ftl.h), zone operation, metadata or placement handle? */
static SSD_APART bool takes(const struct slate_dev *d, const struct ftl_io *io)
{
	const struct ftl_config *c = &d->profile.ftl;
	uint32_t lost = ftl_lost_bytes(d->profile.ops, c);

	if ((io->lost && (io->op != FTL_WRITE || !lost || (io->offset | io->bytes) % lost)) ||
	    (io->zone && !d->profile.ops->zones) ||
	    (io->metadata && (io->metadata * (c->unit_bytes / FTL_SECTOR_BYTES) > c->metadata_bytes || !c->payload)))
		return false;
	return io->op != FTL_WRITE || !io->handle || io->handle < slate_handles(d);
}

static SSD_APART void record_io(struct slate_dev *d, uint64_t now_ns, struct ftl_io *io)
{
	if (d->record)
		record_submit(d->record, now_ns, io);
	if (d->content && !d->power.cuts && !(d->machine_stands && io->op == FTL_FLUSH))
		record_content_submit(d->content, now_ns, io, &d->host);
}

/*
 * With ignore_flush: clear FUA, and end a flush at once, without the FTL. Only after a shutdown of the drive, or while
 * the machine is stopped, does the FTL get the flush. Returns true if the request has ended.
 */
static SSD_APART bool is_ignored(struct slate_dev *d, uint64_t now_ns, struct ftl_io *io)
{
	io->fua = false;
	if (io->op != FTL_FLUSH || d->machine_stands || !d->note[SLATE_NOTE_IN_USE])
		return false;
	io->submit_ns = io->done_ns = now_ns;
	if (d->record)
		record_done(d->record, io);
	refuse(d, now_ns, io, SSD_OK);
	return true;
}

static SSD_HOT void submit(struct slate_dev *d, uint64_t now_ns, struct ftl_io *io)
{
	if (SSD_UNLIKELY(!slate_core_time(d, &now_ns)))
		return;
	if (SSD_UNLIKELY(d->sanitizing) && slate_sanitize_answers(d, io)) {
		refuse(d, now_ns, io, io->status);
		return;
	}
	if (SSD_UNLIKELY(d->file.rooms || d->memory.held) && no_room(d, now_ns, io))
		return;
	if (SSD_UNLIKELY(io->lost | io->zone | io->handle | io->metadata) && !takes(d, io)) {
		refuse(d, now_ns, io, SSD_E_INVAL);
		return;
	}
	if (SSD_UNLIKELY(now_ns >= d->series_ns))
		slate_series_passed(d, now_ns);
	if (SSD_UNLIKELY(d->record || d->content))
		record_io(d, now_ns, io);
	if (SSD_UNLIKELY(d->profile.ignore_flush) && is_ignored(d, now_ns, io))
		return;
	if (SSD_UNLIKELY(!d->note[SLATE_NOTE_IN_USE]) && (io->op == FTL_WRITE || io->op == FTL_TRIM))
		d->note[SLATE_NOTE_IN_USE] = 1;
	if (SSD_UNLIKELY(!(d->note[SLATE_NOTE_SANITIZE] & SLATE_WRITTEN)) && io->op == FTL_WRITE)
		d->note[SLATE_NOTE_SANITIZE] |= SLATE_WRITTEN;
	nand_array_passed(nand_array_of(d->nand), now_ns + d->skipped_ns);
	d->ftl->ops->submit(d->ftl, now_ns + d->skipped_ns, io);
}

static inline uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static SSD_HOT uint64_t step(struct slate_dev *d, uint64_t now_ns)
{
	uint64_t next;

	if (SSD_UNLIKELY(!slate_core_time(d, &now_ns)))
		return FTL_IDLE;
	if (SSD_UNLIKELY(now_ns >= d->series_ns))
		slate_series_passed(d, now_ns);
	if (SSD_UNLIKELY(d->record))
		record_step(d->record, now_ns);
	nand_array_passed(nand_array_of(d->nand), now_ns + d->skipped_ns);
	if (SSD_UNLIKELY(slate_sanitize_runs(d))) {
		next = slate_sanitize_step(d, now_ns);	/* it may set the time of a cut */
		return earlier(next, d->cut_ns);
	}
	next = d->ftl->ops->step(d->ftl, now_ns + d->skipped_ns);
	if (next != FTL_IDLE)
		next -= d->skipped_ns;
	return earlier(next, d->cut_ns);
}

static void guarded_submit(void *arg)
{
	struct call *c = arg;

	submit(c->d, c->now_ns, c->io);
}

static void guarded_step(void *arg)
{
	struct call *c = arg;

	c->ns = step(c->d, c->now_ns);
}

static SSD_APART void submit_to_file(struct slate_dev *d, uint64_t now_ns, struct ftl_io *io)
{
	struct call c = { .d = d, .now_ns = now_ns, .io = io };

	(void)slate_endures(d, now_ns, guarded_submit, &c);
}

SSD_HOT void slate_submit(struct slate_dev *d, uint64_t now_ns, struct ftl_io *io)
{
	if (SSD_LIKELY(!d->was_there))
		submit(d, now_ns, io);
	else
		submit_to_file(d, now_ns, io);
}

static SSD_APART uint64_t step_of_file(struct slate_dev *d, uint64_t now_ns)
{
	struct call c = { .d = d, .now_ns = now_ns };

	return slate_endures(d, now_ns, guarded_step, &c) ? c.ns : FTL_IDLE;
}

SSD_HOT uint64_t slate_step(struct slate_dev *d, uint64_t now_ns)
{
	return SSD_LIKELY(!d->was_there) ? step(d, now_ns) : step_of_file(d, now_ns);
}

uint32_t slate_inflight(const struct slate_dev *d)
{
	return d->power.on && d->ftl ? d->ftl->ops->inflight(d->ftl) : 0;
}
