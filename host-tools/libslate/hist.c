// SPDX-License-Identifier: GPL-2.0-or-later
/* hist.c - see hist.h */
#include "hist.h"

#include <string.h>

void hist_clear(struct hist *h)
{
	memset(h, 0, sizeof(*h));
	h->min_ns = UINT64_MAX;
}

uint64_t hist_floor(uint32_t bucket)
{
	uint32_t shift = bucket >> HIST_HALF_BITS;

	if (shift < 2)
		return bucket;
	shift--;
	return (uint64_t)(bucket - (shift << HIST_HALF_BITS)) << shift;
}

uint64_t hist_ceiling(uint32_t bucket)
{
	return hist_floor(bucket + 1) - 1;
}

uint64_t hist_percentile(const struct hist *h, uint32_t millionths)
{
	uint64_t wanted, seen = 0, value;
	uint32_t b;

	if (!h->count)
		return 0;
	b = hist_bucket(h->min_ns);	/* those below are empty */
	wanted = (uint64_t)(((unsigned __int128)h->count * millionths + 999999) / 1000000);
	wanted = wanted ? wanted : 1;
	while ((seen += h->bucket[b]) < wanted)
		b++;
	value = b == HIST_BUCKETS - 1 ? h->max_ns : hist_ceiling(b);
	return value < h->max_ns ? value : h->max_ns;
}
