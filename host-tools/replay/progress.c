// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * progress.c - shows on a terminal how far a replay is: a line that is written again five times a second.
 */
#include "replay.h"

/* Returns the share of the work that is done, from 0 to 100,000; 0, too, if a trace's length is unknown. */
static uint64_t share_done(const struct replay *r)
{
	uint64_t sum = 0;

	SSD_ASSERT(r->streams);
	if (r->o.limit)
		return r->submitted * 100000 / r->o.limit;
	for (unsigned int i = 0; i < r->streams; i++) {
		const struct stream *s = &r->stream[i];
		uint64_t done, all, pass = r->o.repeat - 1 - s->passes_left;

		rows_progress(s, &done, &all);
		if (!all)
			return 0;
		sum += (pass * 100000 + done * 100000 / all) / r->o.repeat;
	}
	return sum / r->streams;
}

void progress_show(struct replay *r)
{
	double t, took;
	uint64_t share;

	if (++r->looked % 4096)
		return;
	t = replay_clock_s();
	took = t - r->begin_s;
	if (t - r->shown_s < 0.2 || took < 0.5)
		return;
	r->shown_s = t;
	share = share_done(r);
	fprintf(stderr, "\r\033[K%.0f k requests, %.0f k/s", (double)r->completed / 1000,
		(double)r->completed / 1000 / took);
	if (share)
		fprintf(stderr, ", %.1f %%, %.0f s left", (double)share / 1000,
			took * (100000.0 - (double)share) / (double)share);
}
