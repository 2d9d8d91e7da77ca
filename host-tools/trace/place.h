/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * place.h - maps a trace's addresses to a drive's. Every change is counted.
 *
 * Order: requests of no bytes are left out; reads and writes are widened to whole grains (sectors,
 * logical blocks or mapping units), trims shrink to them; then an address beyond the drive is an error,
 * or is changed:
 *   fold   offset mod capacity
 *   scale  every offset: unit number * units of the drive / units of the trace's extent; the place
 *          inside the unit stays
 * A read or a write keeps its size. If it then crosses the end of the drive, it is moved down so that it
 * ends there.
 *
 * A trim covers the same addresses as in the trace, so it trims what the writes there wrote and nothing
 * else. Folded, it is split at a multiple of the capacity, and at most as large as the drive. Scaled, both
 * of its ends are, down to a whole unit, so the trims of parts add up to the trim of the whole; its length
 * is in proportion, and a trim shorter than a unit may vanish.
 */
#ifndef SLATE_TRACE_PLACE_H
#define SLATE_TRACE_PLACE_H

#include "trace.h"

enum trace_beyond { TRACE_BEYOND_ERROR, TRACE_BEYOND_FOLD, TRACE_BEYOND_SCALE };

struct trace_place {
	enum trace_beyond beyond;
	uint64_t capacity;		/* capacity of the drive in bytes */
	uint64_t unit_bytes;		/* SCALE moves whole units */
	uint64_t grain_bytes;		/* requests are widened to whole grains */
	uint64_t grain_mask;		/* grain_bytes - 1, or all ones if it is not a power of two */
};

/* These counts tell which addresses were changed between the trace and the drive. */
struct trace_placed {
	uint64_t zero_size;		/* requests of size zero, skipped */
	uint64_t folded;		/* requests whose offset was taken modulo the capacity */
	uint64_t moved;			/* requests moved down to end at the drive's end, which they would have
					 * crossed */
	uint64_t scaled;
	uint64_t aligned;		/* requests widened, or trims shrunk, to whole grains */
	uint64_t clipped;		/* trims cut to the drive (folded) or to the extent (scaled) */
	uint64_t split;			/* trims folded into two */
	uint64_t trims_left_out;	/* trims that cover no whole grain, no unit of the drive or nothing of the
					 * extent */
	struct trace_row rest;		/* the second part of a trim that was split; bytes 0: none */
};

void trace_place_init(struct trace_place *p, enum trace_beyond beyond, uint64_t capacity,
		      uint64_t unit_bytes, uint64_t grain_bytes);
/*
 * extent: the end of the trace, for SCALE. 1: placed; 0: skipped (and counted); -1: it does not
 * fit, and *fix is the remedy.
 */
int trace_place(const struct trace_place *p, uint64_t extent, struct trace_placed *count,
		struct trace_row *row, const char **fix);
/* After a row was placed: is there a second part of it? It is in *row, and needs no placing. */
bool trace_take_rest(struct trace_placed *count, struct trace_row *row);
/*
 * Find the end of a trace in a separate pass; it is at least 1. Returns 0, or -1 with a sentence in
 * err. *stop: if set, return early.
 */
int trace_find_extent(const struct trace *t, const struct trace_options *o,
		      const volatile int *stop, uint64_t *extent, char err[TRACE_ERR_BYTES])
		      __attribute__((warn_unused_result));

#endif
