// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * slate_sanitize.c - see slate_sanitize.h
 *
 * The image keeps two numbers about the operation. SLATE_NOTE_SANITIZE has the state in bits 0 to 7, bit 8 if a command
 * failed, bit 9 (SLATE_WRITTEN), and Dword 10 in bits 32 to 63. SLATE_NOTE_SANITIZE_ROW has the next row, counted over
 * all passes, in bits 0 to 31, and the pattern in bits 32 to 63. A row is counted when it has ended, so after a cut at
 * most one is repeated.
 *
 * d->sanitizing is the phase in memory, by which slate_sanitize_step() acts. The actions of a row are its erases, then,
 * to overwrite, the steps of sanitize_program(), and in the last pass the erases again. Each begins when the action
 * before it has ended on all dies.
 *
 * After an operation that failed, a record that is still in the head was not written (SLATE_SANITIZE_KEEPS), or is
 * equal to the one on flash.
 */
#define _GNU_SOURCE
#include "slate_sanitize.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "form.h"
#include "nand_geom.h"
#include "sanitize.h"
#include "slate_dev.h"
#include "slate_events.h"

#define STATE_MASK 0xffu
#define FAILED 0x100u
#define PASSES_MAX 16u

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

static uint32_t dw10(const struct slate_dev *d)
{
	return (uint32_t)(d->note[SLATE_NOTE_SANITIZE] >> 32);
}

static uint32_t pattern(const struct slate_dev *d)
{
	return (uint32_t)(d->note[SLATE_NOTE_SANITIZE_ROW] >> 32);
}

static bool overwrites(const struct slate_dev *d)
{
	return (dw10(d) & SLATE_SANITIZE_ACTION) == SLATE_SANITIZE_OVERWRITE;
}

static uint32_t passes(const struct slate_dev *d)
{
	uint32_t count = (dw10(d) & SLATE_SANITIZE_PASSES) >> 4;

	if (!overwrites(d))
		return 1;
	return count ? count : PASSES_MAX;
}

/* At most 2^20 blocks of a plane, times 16. */
static uint32_t rows_of_all_passes(const struct slate_dev *d)
{
	return rows(d) * passes(d);
}

static uint32_t next_row(const struct slate_dev *d)
{
	uint32_t row = (uint32_t)d->note[SLATE_NOTE_SANITIZE_ROW], end = rows_of_all_passes(d);

	return row < end ? row : end;
}

bool slate_sanitizes(const struct slate_dev *d)
{
	return !d->record && !d->content;
}

bool slate_is_sanitizing(const struct slate_dev *d)
{
	return slate_sanitize_runs(d);
}

/*
 * Returns how long erasing all rows takes. In each row the command cycles of a channel's planes follow each other, and
 * then the channel's last die erases.
 */
static uint64_t erase_ns(const struct slate_dev *d)
{
	const struct nand_geometry *g = &d->profile.array.geo;
	const struct nand_timing *t = &d->profile.array.timing;
	uint64_t commands = (uint64_t)geo_dies_per_channel(g) * g->planes_per_die;

	return rows(d) * (commands * t->cmd_ns + t->erase_ns[0]);
}

/*
 * Returns how long programming all rows takes. In each step the transfers of a channel's pages follow each other, and
 * then the channel's last die programs.
 */
static uint64_t program_ns(const struct slate_dev *d)
{
	const struct nand_geometry *g = &d->profile.array.geo;
	const struct nand_timing *t = &d->profile.array.timing;
	uint64_t bytes = g->page_bytes + (t->oob_off_bus ? 0 : g->oob_bytes);
	uint64_t transfer_ns = t->cmd_ns + (bytes * t->bus_ps_per_byte + 999) / 1000;
	uint64_t pages = (uint64_t)geo_dies_per_channel(g) * g->planes_per_die * g->pages_per_block, cells_ns = 0;

	for (uint32_t type = 0; type < g->bits_per_cell / geo_shot_pages(g); type++)
		cells_ns += t->program_ns[type] + (uint64_t)type * t->lower_read_ns;
	return rows(d) * (pages * transfer_ns + g->pages_per_block / g->bits_per_cell * cells_ns);
}

_Static_assert(SLATE_RECORD_BYTES == SLATE_LENT_BYTES, "the head has room for the record");

void slate_keep_record(struct slate_dev *d, const void *record)
{
	if (record)
		memcpy(slate_events_lend(d), record, SLATE_RECORD_BYTES);
	else
		slate_events_give_back(d);
}

void slate_record_content(const struct slate_dev *d, uint64_t at, void *buf, size_t len)
{
	size_t left = at < SLATE_RECORD_BYTES ? SLATE_RECORD_BYTES - at : 0;

	memset(buf, 0, len);
	if (left)
		memcpy(buf, d->own_record + at, left < len ? left : len);
}

static bool is_of_record(const struct slate_dev *d, const struct ftl_io *io)
{
	const struct ftl_config *c = &d->profile.ftl;

	return slate_namespaces(d) && io->bytes == c->unit_bytes && io->offset == c->capacity_bytes - c->unit_bytes;
}

static void read_record(struct slate_dev *d, struct ftl_io *io)
{
	const void *record = slate_events_lent(d);

	d->host.copy(d->host.opaque, io, 0, (void *)(uintptr_t)record, SLATE_RECORD_BYTES);
	if (io->bytes > SLATE_RECORD_BYTES)
		d->host.copy(d->host.opaque, io, SLATE_RECORD_BYTES, NULL, io->bytes - SLATE_RECORD_BYTES);
}

bool slate_sanitize_answers(struct slate_dev *d, struct ftl_io *io)
{
	bool of_record = is_of_record(d, io) && d->profile.ftl.payload;

	io->status = SSD_OK;
	if (io->op == FTL_READ && of_record)
		read_record(d, io);
	else if (slate_sanitize_runs(d) && io->op != FTL_FLUSH)	/* nothing is left to be flushed */
		io->status = SSD_E_BUSY;
	else if (!slate_sanitize_runs(d) && io->op == FTL_WRITE && of_record)
		io->fua = true;		/* before the head gives up its record */
	return slate_sanitize_runs(d) || (io->op == FTL_READ && of_record);
}

void slate_sanitize_wrote(struct slate_dev *d, const struct ftl_io *io)
{
	if (d->sanitizing != SLATE_SANITIZE_KEEPS || io->op != FTL_WRITE || io->status || !is_of_record(d, io))
		return;
	slate_events_give_back(d);
	d->sanitizing = SLATE_NOT_SANITIZING;
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

/* After an operation, the table of namespaces may be on flash. */
static bool is_blank(const struct slate_dev *d)
{
	struct nand_stats s;

	if (d->note[SLATE_NOTE_SANITIZE] & SLATE_WRITTEN ||
	    (state_of(d) != SLATE_SANITIZE_NEVER && state_of(d) != SLATE_SANITIZE_DONE))
		return false;
	d->nand->ops->get_stats(d->nand, &s);
	return (state_of(d) == SLATE_SANITIZE_DONE && slate_namespaces(d)) ||
	       s.programmed_pages == pages_of_bad_blocks(d);
}

void slate_sanitize_status(const struct slate_dev *d, struct slate_sanitize_status *out)
{
	*out = (struct slate_sanitize_status){
		.state = state_of(d), .dw10 = dw10(d), .row = next_row(d), .rows = rows_of_all_passes(d),
		.passes = overwrites(d) ? next_row(d) / rows(d) : 0, .erase_ns = erase_ns(d),
		.overwrite_ns = PASSES_MAX * (erase_ns(d) + program_ns(d)) + erase_ns(d),
	};
	out->blank = is_blank(d);
}

int slate_sanitize(struct slate_dev *d, uint64_t now_ns, uint32_t order, uint32_t with)
{
	if (!slate_sanitizes(d))
		return SSD_E_INVAL;
	if (!slate_core_time(d, &now_ns))
		return SSD_E_POWER;
	if (slate_is_sanitizing(d))
		return SSD_E_BUSY;
	d->note[SLATE_NOTE_SANITIZE_ROW] = (uint64_t)with << 32;
	d->note[SLATE_NOTE_SANITIZE] = (uint64_t)order << 32 | SLATE_SANITIZE_RUNNING;
	d->sanitizing = SLATE_SANITIZE_WAITS;
	if (d->profile.ops->zones)
		d->zones_before = d->ftl->ops->zones(d->ftl);
	return SSD_OK;
}

void slate_mark_written(struct slate_dev *d)
{
	d->note[SLATE_NOTE_SANITIZE] |= SLATE_WRITTEN;
}

void slate_set_sanitize_dw10(struct slate_dev *d, uint32_t order)
{
	d->note[SLATE_NOTE_SANITIZE] = (d->note[SLATE_NOTE_SANITIZE] & UINT32_MAX) | (uint64_t)order << 32;
}

bool slate_sanitize_goes_on(struct slate_dev *d)
{
	if (state_of(d) == SLATE_SANITIZE_FAILED && slate_events_lent(d)) {
		d->sanitizing = SLATE_SANITIZE_KEEPS;
		return false;
	}
	if (state_of(d) != SLATE_SANITIZE_RUNNING) {
		slate_events_give_back(d);	/* the process ended just before this */
		return false;
	}
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

/* Write the namespaces' table, if there is one. If that fails, returns false, and the operation has failed. */
static bool write_record(struct slate_dev *d, uint64_t *ready_ns)
{
	const struct ftl_config *c = &d->profile.ftl;
	const struct ftl_io io = { .op = FTL_WRITE, .fua = true, .offset = c->capacity_bytes - c->unit_bytes,
				   .bytes = c->unit_bytes };

	int result = SSD_OK;

	d->own_record = slate_events_lent(d);
	if (d->own_record)
		result = slate_own_write(d, ready_ns, io);
	d->own_record = NULL;
	if (result)
		d->note[SLATE_NOTE_SANITIZE] |= FAILED;
	return !result;
}

/*
 * All rows are erased: mount what is now an empty drive. The state changes last, so if the process ends before, all
 * this is done again.
 */
static int finish(struct slate_dev *d, uint64_t core_ns, uint64_t *ready_ns)
{
	bool written;
	int result;

	madvise(d->ftl_mem.at, d->ftl_mem.bytes, MADV_DONTNEED);
	d->sanitizing = SLATE_NOT_SANITIZING;
	result = slate_mount(d, core_ns, ready_ns);
	if (result)
		return result;
	written = write_record(d, ready_ns);
	set_state(d, d->note[SLATE_NOTE_SANITIZE] & FAILED ? SLATE_SANITIZE_FAILED : SLATE_SANITIZE_DONE);
	if (written)
		slate_events_give_back(d);
	else
		d->sanitizing = SLATE_SANITIZE_KEEPS;
	return SSD_OK;
}

/* Program one step of the next row with the pattern of its pass. */
static uint64_t program(struct slate_dev *d, uint64_t core_ns, uint32_t step, uint32_t *failed)
{
	uint32_t later_passes = passes(d) - 1 - next_row(d) / rows(d), bytes = d->profile.array.geo.page_bytes;
	uint32_t half = dw10(d) & SLATE_SANITIZE_INVERT && later_passes % 2 ? ~pattern(d) : pattern(d);
	void *page = d->profile.ftl.payload ? malloc(bytes) : NULL;
	uint64_t end_ns;

	SSD_ASSERT(page || !d->profile.ftl.payload);
	if (page)
		form_make(page, bytes, (uint64_t)half << 32 | half, 0);
	end_ns = sanitize_program(d->nand, core_ns, next_row(d) % rows(d), step, page, failed);
	free(page);
	return end_ns;
}

static uint32_t steps(const struct slate_dev *d)
{
	return overwrites(d) ? sanitize_steps(&d->profile.array.geo) : 0;
}

static bool row_has_ended(const struct slate_dev *d)
{
	bool last_pass = next_row(d) / rows(d) == passes(d) - 1;

	return d->sanitize_actions == 1 + steps(d) + (overwrites(d) && last_pass);
}

/* Submit the next action of the next row. */
static void act(struct slate_dev *d, uint64_t core_ns)
{
	uint32_t action = d->sanitize_actions++, failed = 0;

	if (action && action <= steps(d))
		d->sanitize_next_ns = program(d, core_ns, action - 1, &failed);
	else
		d->sanitize_next_ns = sanitize_row(d->nand, core_ns, next_row(d) % rows(d), &failed);
	if (failed)
		d->note[SLATE_NOTE_SANITIZE] |= FAILED;
}

/* Do what is due at core_ns. Returns true when all rows are erased. */
static bool erase(struct slate_dev *d, uint64_t core_ns)
{
	while (core_ns >= d->sanitize_next_ns) {
		if (row_has_ended(d)) {
			d->note[SLATE_NOTE_SANITIZE_ROW]++;
			d->sanitize_actions = 0;
		}
		if (next_row(d) == rows_of_all_passes(d))
			return true;
		act(d, core_ns);
	}
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
