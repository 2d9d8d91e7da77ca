// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * zns_state.c - what the end of a command changes in a zone's state: its blocks are erased, or the log has a
 * record that says what it has become. zns_zone.c continues the zone's line later.
 */
#include "zns_state.h"
#include "zns_buf.h"
#include "zns_issue.h"

/* Are there enough good blocks for all zones that are not offline? */
static bool has_spare(const struct zns *z, uint32_t zone)
{
	for (uint32_t slot = 0; slot < z->shape.slots; slot++)
		if (zns_spare(z, zns_plane_at(z, zone, slot)) + 1 < ZNS_SPARE)
			return false;
	return true;
}

void zns_zone_erased(struct zns *z, uint32_t zone)
{
	struct zns_zone *s = &z->zone[zone];
	uint32_t *link = &z->erasing;

	while (*link != zone)
		link = &z->zone[*link].next;
	*link = s->next;
	s->phase = ZNS_WRITING;
	s->on_flash = false;
	if (s->state == FTL_ZONE_OFFLINE) {	/* its blocks are spare ones now */
		z->count.online[zone % z->shape.groups]--;
		return;
	}
	s->dropped_seq = 0;
	if (has_spare(z, zone))
		return;
	s->phase = ZNS_LEAVING;
	z->count.online[zone % z->shape.groups]--;
	z->chunk[zone / ZNS_CHUNK].due = true;
}

void zns_erase_zone(struct zns *z, uint32_t zone, uint64_t note)
{
	struct zns_zone *s = &z->zone[zone];

	s->phase = ZNS_ERASING;
	s->note = note;
	s->erases = 0;
	for (uint32_t part = 0; part < z->shape.parts; part++)
		for (uint32_t slot = 0; slot < z->shape.slots; slot++)
			s->erases += *zns_block_at(z, zone, part, slot) != ZNS_NONE;
	s->next = z->erasing;
	z->erasing = zone;
	if (s->erases)
		zns_look_zone(z, zone);
	else
		zns_zone_erased(z, zone);
}

void zns_leave(struct zns *z, struct zns_zone *s)
{
	s->phase = ZNS_WRITING;
	zns_set_state(z, s, FTL_ZONE_OFFLINE);
}

void zns_zone_noted(struct zns *z, uint32_t zone, bool offline)
{
	struct zns_zone *s = &z->zone[zone];
	uint32_t buf = s->buf;

	if (!s->noted)
		zns_tell(z, s);
	s->noted = true;
	if (!offline || s->phase != ZNS_LEAVING)
		return;
	if (buf != ZNS_NONE) {		/* of a zone that the host retires */
		zns_buf_take_away(z, s);
		zns_buf_clear(z, buf);
	}
	zns_leave(z, s);
	if (s->line.first->zone != FTL_ZONE_RETIRE)
		return;			/* a reset has erased the blocks */
	s->filled = 0;
	zns_erase_zone(z, zone, UINT64_MAX);
}
