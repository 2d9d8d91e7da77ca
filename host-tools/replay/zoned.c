// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * zoned.c - a trace on a drive with zones. A write must begin at its zone's write pointer, which the
 * replay follows itself: with cores the drive sees a request later than it is submitted. A write at the
 * beginning of a zone that has data first resets the zone, because a host that writes its device again from
 * the start does so. Every other write is refused: it would need a file system or an FTL in the host.
 */
#include "replay.h"

#include <inttypes.h>
#include <stdlib.h>

struct zoned {
	struct ftl_zones zones;
	struct ftl_zone *zone;
};

void zoned_open(struct replay *r)
{
	struct ftl_zones zones;

	if (!slate_zones(r->dev, &zones))
		return;
	r->zoned = malloc(sizeof(*r->zoned));
	SSD_ASSERT(r->zoned);
	r->zoned->zones = zones;
	r->zoned->zone = calloc(zones.count, sizeof(*r->zoned->zone));
	SSD_ASSERT(r->zoned->zone);
	for (uint32_t i = 0; i < zones.count; i++)
		r->zoned->zone[i] = slate_zone(r->dev, i);
}

void zoned_close(struct zoned *z)
{
	if (z)
		free(z->zone);
	free(z);
}

static int refuse(const struct stream *s, uint64_t zone, uint64_t wp)
{
	return -replay_fail(REPLAY_USAGE, "trace %s, line %" PRIu64 ": the write of %" PRIu64 " bytes at %" PRIu64
			    " is not at the write pointer of zone %" PRIu64 ", byte %" PRIu64 ": a drive with zones "
			    "takes writes in order, and a write at a zone's first byte resets it; replay sequential "
			    "writes (gen:seq...), or take another ftl.type", trace_name(s->trace), s->row.line,
			    s->row.bytes, s->row.offset, zone, wp);
}

static int refuse_size(const struct stream *s, uint64_t zone, uint64_t end)
{
	return -replay_fail(REPLAY_USAGE, "trace %s, line %" PRIu64 ": the write of %" PRIu64 " bytes at %" PRIu64
			    " %s the end of zone %" PRIu64 ", byte %" PRIu64 ": take requests that divide a "
			    "zone's capacity, and ftl.zone_power2=no, which makes zones follow each other without gaps",
			    trace_name(s->trace), s->row.line, s->row.bytes, s->row.offset,
			    s->row.offset < end ? "crosses" : "is beyond", zone, end);
}

int zoned_write(struct replay *r, const struct stream *s, struct trace_row *reset)
{
	struct zoned *z = r->zoned;
	uint64_t number = s->row.offset / z->zones.size_bytes;
	struct ftl_zone *zone = &z->zone[number];
	uint64_t end = zone->start + zone->capacity;
	bool full = zone->state == FTL_ZONE_FULL || zone->wp == end, again;

	if (s->row.offset + s->row.bytes > end)
		return refuse_size(s, number, end);
	again = s->row.offset == zone->start && (full || zone->wp != zone->start);
	if (!again && (full || s->row.offset != zone->wp))
		return refuse(s, number, zone->wp);
	zone->wp = s->row.offset + s->row.bytes;
	zone->state = FTL_ZONE_IMPLICIT;
	if (again)
		*reset = (struct trace_row){ .op = TRACE_TRIM, .offset = zone->start, .bytes = z->zones.size_bytes };
	return again;
}
