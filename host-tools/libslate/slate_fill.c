// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * slate_fill.c - preconditioning: writes that the drive makes itself, before time begins. It also
 * has the functions of zones and of placement handles.
 */
#include "form.h"
#include "slate_dev.h"

#define PROGRESS_CHUNKS 64u	/* chunks of 32 units between two reports */

static uint64_t mix(uint64_t *state)	/* splitmix64 */
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

bool slate_zones(const struct slate_dev *d, struct ftl_zones *out)
{
	if (!d->profile.ops->zones)
		return false;
	*out = d->ftl ? d->ftl->ops->zones(d->ftl) : d->zones_before;
	return true;
}

struct ftl_zone slate_zone(const struct slate_dev *d, uint32_t zone)
{
	if (!d->power.on || !d->ftl)
		return (struct ftl_zone){ 0 };
	return d->ftl->ops->zone(d->ftl, zone);
}

void slate_zone_told(struct slate_dev *d, uint32_t zone)
{
	if (d->ftl)
		d->ftl->ops->zone_told(d->ftl, zone);
}

struct slate_arbitration slate_arbitration(const struct slate_dev *d)
{
	const struct ftl_config *c = &d->profile.ftl;

	return (struct slate_arbitration){ c->arbitration, c->arbitration_burst, c->weight_high, c->weight_medium,
					   c->weight_low };
}

uint32_t slate_namespaces(const struct slate_dev *d)
{
	return d->profile.ftl.namespaces;
}

uint32_t slate_handles(const struct slate_dev *d)
{
	return ftl_handles(&d->profile.ftl);
}

uint32_t slate_groups(const struct slate_dev *d)
{
	return ftl_groups(&d->profile.ftl);
}

bool slate_handles_persist(const struct slate_dev *d)
{
	return d->profile.ftl.placement_isolation == FTL_ISOLATED_PERSISTENTLY;
}

struct ftl_handle slate_handle(const struct slate_dev *d, uint32_t handle)
{
	if (!d->power.on || !d->ftl)
		return (struct ftl_handle){ 0 };
	return d->ftl->ops->handle(d->ftl, handle);
}

/* slate_renew_handle() passes its arguments here, because a failed assertion in renew() ends only the drive. */
struct renewal {
	struct slate_dev *d;
	uint64_t now_ns, left_bytes;
	uint32_t handle;
};

static void renew(void *arg)
{
	struct renewal *r = arg;
	struct slate_dev *d = r->d;

	if (slate_core_time(d, &r->now_ns) && !slate_sanitize_runs(d))
		r->left_bytes = d->ftl->ops->renew_handle(d->ftl, r->now_ns + d->skipped_ns, r->handle);
}

/* Begin another reclaim unit of the handle. Work that is due is done first, so an assertion may fail as in a step. */
uint64_t slate_renew_handle(struct slate_dev *d, uint64_t now_ns, uint32_t handle)
{
	struct renewal r = { .d = d, .now_ns = now_ns, .handle = handle };

	return slate_endures(d, now_ns, renew, &r) ? r.left_bytes : 0;
}

void slate_own_content(struct slate_dev *d, uint64_t offset, uint8_t *buf, size_t len)
{
	uint64_t v = offset + (d->own_version << 48);

	if (d->own_zeroes) {
		memset(buf, 0, len);
		return;
	}
	if (d->own_ends) {
		SSD_ASSERT(len == SLATE_OWN_BYTES);
		d->own_first = d->own_first && d->own_first < buf ? d->own_first : buf;
		d->own_last = d->own_last > buf ? d->own_last : buf;
		form_make_ends(buf, SLATE_OWN_BYTES, mix(&v), FORM_STEP);
		return;
	}
	form_make(buf, (uint32_t)len, mix(&v), FORM_STEP);
}

int slate_own_write(struct slate_dev *d, uint64_t *now_ns, struct ftl_io io)
{
	struct ftl_io mine = io;

	if (io.op == FTL_WRITE && !drive_file_has_room(&d->file))
		return SSD_E_NOSPC;
	/* cppcheck-suppress autoVariables ; it is NULL again before this returns */
	d->own_io = &mine;
	d->own_done = false;
	d->own_version++;
	d->ftl->ops->submit(d->ftl, *now_ns, &mine);
	while (!d->own_done) {
		uint64_t next = d->ftl->ops->step(d->ftl, *now_ns);

		if (d->own_done)
			break;
		SSD_ASSERT(next != FTL_IDLE);
		*now_ns = next;
	}
	if (mine.done_ns > *now_ns)
		*now_ns = mine.done_ns;
	d->own_io = NULL;
	return mine.status;
}

static int own_flush(struct slate_dev *d, uint64_t *now_ns)
{
	int result = slate_own_write(d, now_ns, (struct ftl_io){ .op = FTL_FLUSH });
	uint64_t next = d->ftl->ops->step(d->ftl, *now_ns);

	while (next != FTL_IDLE) {	/* until GC has ended */
		*now_ns = next;
		next = d->ftl->ops->step(d->ftl, *now_ns);
	}
	return result;
}

static int tell_progress(const struct slate_dev *d, uint64_t done, uint64_t all)
{
	return !d->progress || d->progress(d->progress_opaque, done, all) ? SSD_OK : SSD_E_POWER;
}

/* Write [at, at + bytes). On a drive with zones, skip the parts beyond the zones' capacity. */
static int fill(struct slate_dev *d, uint64_t *now_ns, uint64_t at, uint64_t bytes)
{
	struct ftl_zones z;
	int result = SSD_OK;

	if (!slate_zones(d, &z))
		return slate_own_write(d, now_ns, (struct ftl_io){ .op = FTL_WRITE, .offset = at, .bytes = bytes });
	while (bytes && !result) {
		const struct ftl_zone zone = slate_zone(d, (uint32_t)(at / z.size_bytes));
		uint64_t end = zone.start + zone.capacity, part = end > at ? end - at : 0;
		uint64_t next = zone.start + z.size_bytes - at;

		part = part < bytes ? part : bytes;
		if (part)
			result = slate_own_write(d, now_ns, (struct ftl_io){
				.op = FTL_WRITE, .offset = at, .bytes = part });
		part = next < bytes ? next : bytes;
		at += part;
		bytes -= part;
	}
	return result;
}

/*
 * Should the drive make only the ends of its content? Other bytes of a unit are not looked at before it is on flash,
 * where the array keeps its form alone; a drive that was there may have others. Making and recognising all bytes took
 * four fifths of a fill's time.
 */
static bool ends_suffice(const struct slate_dev *d)
{
	const struct profile *p = &d->profile;

	return !d->was_there && p->ftl.payload && !d->own_zeroes && p->ops->unseen && !p->ftl.metadata_bytes &&
	       p->ftl.unit_bytes == SLATE_OWN_BYTES && !(p->array.geo.page_bytes % SLATE_OWN_BYTES);
}

static void begin_ends(struct slate_dev *d)
{
	d->own_ends = ends_suffice(d);
	nand_array_ends_suffice(nand_array_of(d->nand), d->own_ends);
}

/* Make the whole content of the units that are still in the write buffer. */
static void complete_ends(struct slate_dev *d)
{
	for (uint8_t *unit = d->own_first; unit && unit <= d->own_last; unit += SLATE_OWN_BYTES) {
		uint64_t first;

		memcpy(&first, unit, 8);
		if (form_ends_are(unit, SLATE_OWN_BYTES, first, FORM_STEP))
			form_make(unit, SLATE_OWN_BYTES, first, FORM_STEP);
	}
	d->own_ends = false;
	d->own_first = d->own_last = NULL;
	nand_array_ends_suffice(nand_array_of(d->nand), false);
}

int slate_precondition(struct slate_dev *d, uint32_t fill_permille, uint32_t age_permille,
		       uint64_t seed)
{
	uint64_t unit = d->profile.ftl.unit_bytes, capacity = d->profile.ftl.capacity_bytes;
	uint64_t chunk = 32ull * unit;
	uint64_t filled = capacity / unit * fill_permille / 1000 * unit;
	uint64_t writes = capacity / unit * age_permille / 1000;
	uint64_t now_ns = d->skipped_ns, all = filled + (filled ? writes * unit : 0);
	int result = SSD_OK;

	SSD_ASSERT(fill_permille <= 1000 && !slate_inflight(d));
	begin_ends(d);
	for (uint64_t at = 0; at < filled && !result; at += chunk) {
		result = fill(d, &now_ns, at, filled - at < chunk ? filled - at : chunk);
		if (!result && at / chunk % PROGRESS_CHUNKS == 0)
			result = tell_progress(d, at, all);
	}
	for (uint64_t i = 0; i < writes && filled && !result; i++) {
		result = slate_own_write(d, &now_ns, (struct ftl_io){
			.op = FTL_WRITE, .bytes = unit, .offset = mix(&seed) % (filled / unit) * unit });
		if (!result && i % (PROGRESS_CHUNKS * 32) == 0)
			result = tell_progress(d, filled + i * unit, all);
	}
	if (!result)
		result = own_flush(d, &now_ns);
	complete_ends(d);
	d->skipped_ns = now_ns;
	slate_forget_statistics(d);
	return result;
}
