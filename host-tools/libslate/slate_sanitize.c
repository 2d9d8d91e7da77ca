// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * slate_sanitize.c - see slate_sanitize.h
 *
 * The image keeps two numbers about the operation. SLATE_NOTE_SANITIZE has the state in bits 0 to 7, bit 8 if an erase
 * failed, bit 9 (SLATE_WRITTEN), and the tag in bits 32 to 63. SLATE_NOTE_SANITIZE_ROW is the next row; a row is
 * counted when it has ended, so after a cut at most one is repeated. d->sanitizing is the phase in memory, by which
 * slate_sanitize_step() acts.
 */
#define _GNU_SOURCE
#include "slate_sanitize.h"

#include <sys/mman.h>

#include "nand_geom.h"
#include "sanitize.h"
#include "slate_dev.h"

#define STATE_MASK 0xffu
#define ERASE_FAILED 0x100u

static enum slate_sanitize_state state_of(const struct slate_dev *d)
{
	uint64_t state = d->note[SLATE_NOTE_SANITIZE] & STATE_MASK;

	return state > SLATE_SANITIZE_FAILED ? SLATE_SANITIZE_NEVER : (enum slate_sanitize_state)state;
}

static void set_state(struct slate_dev *d, enum slate_sanitize_state state)
{
	d->note[SLATE_NOTE_SANITIZE] = (d->note[SLATE_NOTE_SANITIZE] & ~(uint64_t)STATE_MASK) | state;
}

static uint32_t rows(const struct slate_dev *d)
{
	return d->profile.array.geo.blocks_per_plane;
}

static uint32_t next_row(const struct slate_dev *d)
{
	uint64_t row = d->note[SLATE_NOTE_SANITIZE_ROW];

	return row < rows(d) ? (uint32_t)row : rows(d);
}

bool slate_sanitizes(const struct slate_dev *d)
{
	return !d->record && !d->content && !slate_namespaces(d);
}

bool slate_is_sanitizing(const struct slate_dev *d)
{
	return d->sanitizing != SLATE_NOT_SANITIZING;
}

/*
 * Returns how long an operation takes. In each row the command cycles of a channel's planes follow each other, and then
 * the channel's last die erases.
 */
static uint64_t duration_ns(const struct slate_dev *d)
{
	const struct nand_geometry *g = &d->profile.array.geo;
	const struct nand_timing *t = &d->profile.array.timing;
	uint64_t commands = (uint64_t)geo_dies_per_channel(g) * g->planes_per_die;

	return rows(d) * (commands * t->cmd_ns + t->erase_ns[0]);
}

/* Returns the number of programmed pages in bad blocks, which no operation erases. */
static uint64_t pages_of_bad_blocks(const struct slate_dev *d)
{
	const struct nand_geometry *g = &d->profile.array.geo;
	uint64_t pages = 0;

	for (uint32_t b = 0; b < geo_blocks(g); b++)
		for (uint32_t p = 0; d->nand->ops->is_bad(d->nand, (pbn_t){ b }) && p < g->pages_per_block; p++)
			pages += d->nand->ops->peek(d->nand, geo_ppn(g, (pbn_t){ b }, p), NULL, NULL) != NAND_ERASED;
	return pages;
}

void slate_sanitize_status(const struct slate_dev *d, struct slate_sanitize_status *out)
{
	struct nand_stats s;

	d->nand->ops->get_stats(d->nand, &s);
	*out = (struct slate_sanitize_status){
		.state = state_of(d), .tag = (uint32_t)(d->note[SLATE_NOTE_SANITIZE] >> 32), .row = next_row(d),
		.rows = rows(d), .erase_ns = duration_ns(d),
	};
	out->blank = (out->state == SLATE_SANITIZE_NEVER || out->state == SLATE_SANITIZE_DONE) &&
		     !(d->note[SLATE_NOTE_SANITIZE] & SLATE_WRITTEN) && s.programmed_pages == pages_of_bad_blocks(d);
}

int slate_sanitize(struct slate_dev *d, uint64_t now_ns, uint32_t tag)
{
	if (!slate_sanitizes(d))
		return SSD_E_INVAL;
	if (!slate_core_time(d, &now_ns))
		return SSD_E_POWER;
	if (slate_is_sanitizing(d))
		return SSD_E_BUSY;
	d->note[SLATE_NOTE_SANITIZE_ROW] = 0;
	d->note[SLATE_NOTE_SANITIZE] = (uint64_t)tag << 32 | SLATE_SANITIZE_RUNNING;
	d->sanitizing = SLATE_SANITIZE_WAITS;
	if (d->profile.ops->zones)
		d->zones_before = d->ftl->ops->zones(d->ftl);
	return SSD_OK;
}

void slate_set_sanitize_tag(struct slate_dev *d, uint32_t tag)
{
	d->note[SLATE_NOTE_SANITIZE] = (d->note[SLATE_NOTE_SANITIZE] & UINT32_MAX) | (uint64_t)tag << 32;
}

bool slate_sanitize_goes_on(struct slate_dev *d)
{
	if (state_of(d) != SLATE_SANITIZE_RUNNING)
		return false;
	d->ftl = NULL;
	d->sanitizing = SLATE_SANITIZE_ERASES;
	d->sanitize_next_ns = 0;
	return true;
}

/* Drop the FTL, but keep its counters. The first erases begin when all dies have ended what they execute. */
static void drop_ftl(struct slate_dev *d, uint64_t core_ns)
{
	int result = slate_keep_counts(d);

	SSD_ASSERT(!result);
	d->ftl = NULL;
	d->sanitizing = SLATE_SANITIZE_ERASES;
	d->sanitize_next_ns = sanitize_idle_ns(d->nand, core_ns);
}

/* All rows are erased: mount what is now an empty drive. */
static int finish(struct slate_dev *d, uint64_t core_ns, uint64_t *ready_ns)
{
	madvise(d->ftl_mem.at, d->ftl_mem.bytes, MADV_DONTNEED);
	d->sanitizing = SLATE_NOT_SANITIZING;
	set_state(d, d->note[SLATE_NOTE_SANITIZE] & ERASE_FAILED ? SLATE_SANITIZE_FAILED : SLATE_SANITIZE_DONE);
	return slate_mount(d, core_ns, ready_ns);
}

static void erase_row(struct slate_dev *d, uint64_t core_ns)
{
	uint32_t failed = 0;

	d->sanitize_next_ns = sanitize_row(d->nand, core_ns, next_row(d), &failed);
	if (failed)
		d->note[SLATE_NOTE_SANITIZE] |= ERASE_FAILED;
	d->sanitize_row_runs = true;
}

/* Do what is due at core_ns. Returns true when all rows are erased. */
static bool erase(struct slate_dev *d, uint64_t core_ns)
{
	if (core_ns < d->sanitize_next_ns)
		return false;
	if (d->sanitize_row_runs)
		d->note[SLATE_NOTE_SANITIZE_ROW] = next_row(d) + 1;
	d->sanitize_row_runs = false;
	if (next_row(d) == rows(d))
		return true;
	erase_row(d, core_ns);
	return false;
}

int slate_sanitize_to_end(struct slate_dev *d, uint64_t *ready_ns)
{
	while (!erase(d, d->sanitize_next_ns))
		;
	nand_array_passed(nand_array_of(d->nand), d->sanitize_next_ns);
	return finish(d, d->sanitize_next_ns, ready_ns);
}

uint64_t slate_sanitize_step(struct slate_dev *d, uint64_t now_ns)
{
	uint64_t core_ns = now_ns + d->skipped_ns, ready_ns = 0;

	if (d->sanitizing == SLATE_SANITIZE_WAITS) {
		uint64_t next_ns = d->ftl->ops->step(d->ftl, core_ns);

		if (d->ftl->ops->inflight(d->ftl))
			return next_ns - d->skipped_ns;
		drop_ftl(d, core_ns);
	}
	if (!erase(d, core_ns))
		return d->sanitize_next_ns - d->skipped_ns;
	if (finish(d, core_ns, &ready_ns)) {
		slate_breaks(d, now_ns);
		return FTL_IDLE;
	}
	d->ready_ns = ready_ns - d->skipped_ns;
	slate_power_mounted(d);
	return d->ready_ns;
}
