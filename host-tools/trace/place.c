// SPDX-License-Identifier: GPL-2.0-or-later
/* place.c - see place.h. */
#include "place.h"

#include <stdio.h>
#include <string.h>

void trace_place_init(struct trace_place *p, enum trace_beyond beyond, uint64_t capacity,
		      uint64_t unit_bytes, uint64_t grain_bytes)
{
	bool power = !(grain_bytes & (grain_bytes - 1));

	*p = (struct trace_place){
		.beyond = beyond, .capacity = capacity, .unit_bytes = unit_bytes,
		.grain_bytes = grain_bytes, .grain_mask = power ? grain_bytes - 1 : UINT64_MAX,
	};
}

/* Widen a read or a write to whole grains. A trim shrinks instead: what is outside of it keeps its data. */
static void align(const struct trace_place *p, struct trace_placed *count, struct trace_row *row)
{
	uint64_t end = row->offset + row->bytes, grain = p->grain_bytes, low, high;

	if (__builtin_expect(!((row->offset | row->bytes) & p->grain_mask), 1))
		return;
	low = row->offset % grain;
	high = end % grain;
	if (!low && !high)
		return;
	count->aligned++;
	if (row->op == TRACE_TRIM) {
		row->offset += low ? grain - low : 0;
		end -= high;
		row->bytes = end > row->offset ? end - row->offset : 0;
		return;
	}
	row->offset -= low;
	row->bytes = end - row->offset + (high ? grain - high : 0);
}

static uint64_t scale(const struct trace_place *p, uint64_t extent, uint64_t offset)
{
	uint64_t unit = p->unit_bytes, units = (extent + unit - 1) / unit;
	unsigned __int128 scaled = (unsigned __int128)(offset / unit) * (p->capacity / unit);

	return (uint64_t)(scaled / units) * unit + offset % unit;
}

/* Scale an end of a trim, down to a whole unit. */
static uint64_t scale_end(const struct trace_place *p, uint64_t extent, uint64_t end)
{
	uint64_t unit = p->unit_bytes, units = (extent + unit - 1) / unit;
	unsigned __int128 scaled = (unsigned __int128)end * (p->capacity / unit);

	if (end >= extent)
		return p->capacity;
	return (uint64_t)(scaled / units / unit) * unit;
}

static bool is_beyond(const struct trace_place *p, const struct trace_row *row)
{
	return row->bytes > p->capacity || row->offset > p->capacity - row->bytes;
}

static int refuse_beyond(const char **fix)
{
	*fix = "choose --fold (offsets modulo the capacity) or --scale (offsets in proportion), or a larger drive";
	return -1;
}

/* Trim the units between the scaled ends. What is beyond the extent is nowhere on the drive. */
static void scale_trim(const struct trace_place *p, uint64_t extent, struct trace_placed *count,
		       struct trace_row *row)
{
	uint64_t end = row->offset + row->bytes;

	count->scaled++;
	count->clipped += end > (extent + p->unit_bytes - 1) / p->unit_bytes * p->unit_bytes;
	row->offset = scale_end(p, extent, row->offset);
	row->bytes = scale_end(p, extent, end) - row->offset;
}

/* Fold a trim: its part behind a multiple of the capacity is at the drive's beginning, and becomes `rest`. */
static void fold_trim(const struct trace_place *p, struct trace_placed *count, struct trace_row *row)
{
	count->folded++;
	if (row->bytes >= p->capacity) {
		count->clipped += row->bytes > p->capacity;
		row->offset = 0;
		row->bytes = p->capacity;
		return;
	}
	row->offset %= p->capacity;
	if (is_beyond(p, row)) {
		count->split++;
		count->rest = *row;
		count->rest.offset = 0;
		count->rest.bytes = row->offset + row->bytes - p->capacity;
		row->bytes = p->capacity - row->offset;
	}
}

static int place_trim(const struct trace_place *p, uint64_t extent, struct trace_placed *count,
		      struct trace_row *row, const char **fix)
{
	if (p->beyond == TRACE_BEYOND_SCALE) {
		scale_trim(p, extent, count, row);
	} else if (is_beyond(p, row)) {
		if (p->beyond == TRACE_BEYOND_ERROR)
			return refuse_beyond(fix);
		fold_trim(p, count, row);
	}
	if (row->bytes)
		return 1;
	count->trims_left_out++;
	return 0;
}

/* Place a read or a write, which keeps its size. */
static int place_transfer(const struct trace_place *p, uint64_t extent, struct trace_placed *count,
			  struct trace_row *row, const char **fix)
{
	uint64_t unit = p->unit_bytes;

	if (!is_beyond(p, row) && p->beyond != TRACE_BEYOND_SCALE)
		return 1;
	if (row->bytes > p->capacity) {
		*fix = "it is larger than the drive: take a larger one";
		return -1;
	}
	if (p->beyond == TRACE_BEYOND_SCALE) {
		if (row->offset + row->bytes > (extent + unit - 1) / unit * unit) {
			*fix = "it is beyond the extent that --scale names: name a larger one";
			return -1;
		}
		count->scaled++;
		row->offset = scale(p, extent, row->offset);
	} else {
		if (p->beyond == TRACE_BEYOND_ERROR)
			return refuse_beyond(fix);
		count->folded++;
		row->offset %= p->capacity;
	}
	if (is_beyond(p, row)) {
		count->moved++;
		row->offset = p->capacity - row->bytes;
	}
	return 1;
}

int trace_place(const struct trace_place *p, uint64_t extent, struct trace_placed *count,
		struct trace_row *row, const char **fix)
{
	if (row->op == TRACE_FLUSH)
		return 1;
	if (!row->bytes) {
		count->zero_size++;
		return 0;
	}
	align(p, count, row);
	return row->op == TRACE_TRIM ? place_trim(p, extent, count, row, fix) :
	       place_transfer(p, extent, count, row, fix);
}

bool trace_take_rest(struct trace_placed *count, struct trace_row *row)
{
	if (__builtin_expect(!count->rest.bytes, 1))
		return false;
	*row = count->rest;
	count->rest.bytes = 0;
	return true;
}

int trace_find_extent(const struct trace *t, const struct trace_options *o,
		      const volatile int *stop, uint64_t *extent, char err[TRACE_ERR_BYTES])
{
	struct trace_options quiet = *o;
	struct trace *second;
	struct trace_row row;
	uint64_t done, all;
	int result;

	*extent = 1;
	trace_progress(t, &done, &all);
	if (!all || !strcmp(trace_name(t), "-")) {	/* the rows of a pipe can be read only once */
		snprintf(err, TRACE_ERR_BYTES, "trace %s: can be read only once, and --scale looks for its "
			 "extent first: give --scale=SIZE, or name a plain file", trace_name(t));
		return -1;
	}
	quiet.bad = NULL;
	if (trace_open(&second, trace_name(t), &quiet, err))
		return -1;
	while ((result = trace_next(second, &row)) > 0 && !*stop)
		if (row.op <= TRACE_TRIM && row.offset + row.bytes > *extent)
			*extent = row.offset + row.bytes;
	if (result < 0)
		snprintf(err, TRACE_ERR_BYTES, "%s", trace_error(second));
	trace_close(second);
	return result < 0 ? -1 : 0;
}
