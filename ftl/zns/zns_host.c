// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * zns_host.c - zones as the host sees them: states, limits and errors.
 *
 *   EMPTY -> IMPLICIT (write, append), EXPLICIT (open), FULL (finish)
 *   IMPLICIT -> EXPLICIT (open), CLOSED (close, or another zone needs its place among the open ones)
 *   IMPLICIT, EXPLICIT, CLOSED -> FULL (the last byte, or finish), EMPTY (reset)
 *   CLOSED -> IMPLICIT, EXPLICIT
 *   FULL -> EMPTY (reset)
 *   any with data -> READONLY (a program failed)
 *   a reset that finds too few good blocks -> OFFLINE
 *   READONLY -> OFFLINE (retire)
 *
 * An empty zone that is opened explicitly and closed stays active, as in NVMe (ZAC would make it empty again). A power
 * cut makes it empty, since flash has nothing of it.
 *
 * All but the last three happen in submit(). Then writes, commits, finishes and resets stand in the zone's line
 * (zns_zone.c).
 */
#include "zns_host.h"
#include "zns_buf.h"
#include "zns_window.h"
#include "zns_zone.h"

/* Returns why the zone takes no write, or SSD_OK. */
static enum ssd_err state_error(const struct zns *z, const struct zns_zone *s)
{
	if (s->state == FTL_ZONE_OFFLINE)
		return SSD_E_ZONE_OFFLINE;
	if (z->host.worn)
		return SSD_E_WORNOUT;
	if (s->state == FTL_ZONE_READONLY)
		return SSD_E_ZONE_READONLY;
	return s->state == FTL_ZONE_FULL ? SSD_E_ZONE_FULL : SSD_OK;
}

static enum ssd_err write_error(struct zns *z, struct zns_zone *s, const struct ftl_io *io)
{
	uint64_t at = io->offset % z->shape.size;
	enum ssd_err err = state_error(z, s);

	if (!err && s->window)
		err = zns_window_write(z, s, io);
	else if (!err && (io->zone == FTL_ZONE_APPEND ? at != 0 : at != s->wp))
		err = io->zone == FTL_ZONE_APPEND ? SSD_E_INVAL : SSD_E_ZONE_WP;
	else if (!err && io->bytes > z->shape.capacity - s->wp)
		err = SSD_E_ZONE_BOUNDARY;
	return err ? err : zns_open_zone(z, s, FTL_ZONE_IMPLICIT);
}

static void submit_write(struct zns *z, uint32_t zone, struct ftl_io *io)
{
	struct zns_zone *s = &z->zone[zone];
	enum ssd_err err = io->bytes ? write_error(z, s, io) : SSD_OK;

	if (err) {
		host_refuse(&z->host, io, err);
		return;
	}
	if (!io->bytes) {
		host_part_now(&z->host, io);
		return;
	}
	z->host.stats.zone_appends += io->zone == FTL_ZONE_APPEND;
	io->placed = zone * z->shape.size + s->wp;
	io->seq = ++z->seq;
	io->window = s->window;
	io->wp = s->window ? zns_window_wp(z, s, io->offset % z->shape.size + io->bytes) : s->wp + io->bytes;
	z->host.stats.zone_implicit_commits += s->window && io->wp > s->wp;
	s->wp = io->wp;
	if (s->wp == z->shape.capacity)
		zns_set_state(z, s, FTL_ZONE_FULL);
	zns_join(z, zone, io);
}

static enum ssd_err close_zone(struct zns *z, struct zns_zone *s)
{
	if (!zns_is_open(s))
		return s->state == FTL_ZONE_CLOSED ? SSD_OK : SSD_E_ZONE_STATE;
	zns_set_state(z, s, FTL_ZONE_CLOSED);
	return SSD_OK;
}

/* Change the zone's state as the host orders. Returns an error if that is not allowed. */
static enum ssd_err manage(struct zns *z, struct zns_zone *s, struct ftl_io *io)
{
	enum ftl_zone_op op = (enum ftl_zone_op)io->zone;
	enum ssd_err err = state_error(z, s);

	if (op == FTL_ZONE_RETIRE)
		return s->state == FTL_ZONE_OFFLINE ? SSD_OK : s->state != FTL_ZONE_READONLY ? SSD_E_ZONE_STATE :
		       z->host.worn ? SSD_E_WORNOUT : SSD_OK;
	if (err == SSD_E_ZONE_FULL && (op == FTL_ZONE_OPEN || op == FTL_ZONE_OPEN_WINDOW || op == FTL_ZONE_CLOSE))
		return SSD_E_ZONE_STATE;
	if (err == SSD_E_ZONE_READONLY && op == FTL_ZONE_RESET)
		return SSD_E_ZONE_STATE;
	if (err && err != SSD_E_ZONE_FULL)
		return err;
	if (op == FTL_ZONE_OPEN)
		return zns_open_zone(z, s, FTL_ZONE_EXPLICIT);
	if (op == FTL_ZONE_OPEN_WINDOW)
		return zns_window_open(z, s);
	if (op == FTL_ZONE_COMMIT)
		return zns_window_commit(z, s, io);
	if (op == FTL_ZONE_CLOSE)
		return close_zone(z, s);
	if (op == FTL_ZONE_RESET) {
		s->wp = 0;
		s->by_drive = false;
	}
	zns_set_state(z, s, op == FTL_ZONE_RESET ? FTL_ZONE_EMPTY : FTL_ZONE_FULL);
	return SSD_OK;
}

static void count(struct ftl_stats *s, enum ftl_zone_op op)
{
	s->zone_opens += op == FTL_ZONE_OPEN || op == FTL_ZONE_OPEN_WINDOW;
	s->zone_closes += op == FTL_ZONE_CLOSE;
	s->zone_finishes += op == FTL_ZONE_FINISH;
	s->zone_resets += op == FTL_ZONE_RESET;
	s->zone_reports += op == FTL_ZONE_REPORT;
	s->zone_retirements += op == FTL_ZONE_RETIRE;
	s->zone_commits += op == FTL_ZONE_COMMIT;
}

void zns_submit_zone(struct zns *z, struct ftl_io *io)
{
	uint32_t zone = zns_zone_of(z, io->offset);
	enum ssd_err err;

	if (zone >= z->shape.zones) {
		host_refuse(&z->host, io, SSD_E_INVAL);
		return;
	}
	if (io->op == FTL_WRITE) {
		submit_write(z, zone, io);
		return;
	}
	err = io->zone == FTL_ZONE_REPORT ? SSD_OK : manage(z, &z->zone[zone], io);
	io->bytes = 0;
	if (err) {
		host_refuse(&z->host, io, err);
		return;
	}
	count(&z->host.stats, (enum ftl_zone_op)io->zone);
	if (io->zone == FTL_ZONE_FINISH || io->zone == FTL_ZONE_RESET || io->zone == FTL_ZONE_RETIRE ||
	    io->zone == FTL_ZONE_COMMIT)
		zns_join(z, zone, io);
	else
		host_part_now(&z->host, io);
}

void zns_submit_flush(struct zns *z, struct ftl_io *io)
{
	io->seq = z->flush_seq = z->seq;
	io_list_add(&z->durable, io);
}
