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

static void align(const struct trace_place *p, struct trace_placed *count, struct trace_row *row)
{
	uint64_t end = row->offset + row->bytes, grain = p->grain_bytes, low, high;

	if (__builtin_expect(!((row->offset | row->bytes) & p->grain_mask), 1))
		return;
	low = row->offset % grain;
	high = end % grain ? grain - end % grain : 0;
	if (!low && !high)
		return;
	row->offset -= low;
	row->bytes += low + high;
	count->aligned++;
}

static uint64_t scale(const struct trace_place *p, uint64_t extent, uint64_t offset)
{
	uint64_t unit = p->unit_bytes, units = (extent + unit - 1) / unit;
	unsigned __int128 scaled = (unsigned __int128)(offset / unit) * (p->capacity / unit);

	return (uint64_t)(scaled / units) * unit + offset % unit;
}

int trace_place(const struct trace_place *p, uint64_t extent, struct trace_placed *count,
		struct trace_row *row, const char **fix)
{
	uint64_t unit = p->unit_bytes;

	if (row->op == TRACE_FLUSH)
		return 1;
	if (!row->bytes) {
		count->zero_size++;
		return 0;
	}
	align(p, count, row);
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
	} else if (row->offset + row->bytes > p->capacity) {
		if (p->beyond == TRACE_BEYOND_ERROR) {
			*fix = "choose --fold (offsets modulo the capacity) or --scale "
			       "(offsets in proportion), or a larger drive";
			return -1;
		}
		count->folded++;
		row->offset %= p->capacity;
	}
	if (row->offset + row->bytes > p->capacity) {
		count->moved++;
		row->offset = p->capacity - row->bytes;
	}
	return 1;
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
