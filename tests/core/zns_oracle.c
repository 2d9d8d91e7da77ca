// SPDX-License-Identifier: GPL-2.0-or-later
/* zns_oracle.c - what a drive with zones may hold after a power cut: see zns_rig.h */
#include "zns_rig.h"

#include "sector_tag.h"

uint32_t zr_active(const struct zr *r, uint32_t *any)
{
	uint32_t active = 0;

	*any = 0;
	for (uint32_t i = 0; i < r->shape->zones; i++) {
		enum ftl_zone_state state = r->ops->zone(r->f, i).state;

		active += state == FTL_ZONE_IMPLICIT || state == FTL_ZONE_EXPLICIT || state == FTL_ZONE_CLOSED;
		*any += state != FTL_ZONE_EMPTY;
	}
	return active;
}

static void read_zone(struct zr *r, uint32_t zone)
{
	struct zr_io *q = zr_free_io(r);

	q->io = (struct ftl_io){ .op = FTL_READ, .host = q, .offset = (uint64_t)zone * r->size * 512,
				 .bytes = r->size * 512ull };
	q->busy = true;
	q->reported = false;
	r->ops->submit(r->f, r->now_ns, &q->io);
	r->next_ns = r->ops->step(r->f, r->now_ns);
	while (!q->reported) {
		SSD_ASSERT(r->next_ns != FTL_IDLE);
		r->now_ns = r->next_ns;
		r->next_ns = r->ops->step(r->f, r->now_ns);
	}
	q->busy = false;
	if (q->io.done_ns > r->now_ns)
		r->now_ns = q->io.done_ns;
	r->next_ns = r->ops->step(r->f, r->now_ns);
	memset(&r->seen, 0, sizeof(r->seen));
	if (r->ops->zone(r->f, zone).state == FTL_ZONE_OFFLINE) {
		SSD_ASSERT(q->io.status == SSD_E_ZONE_OFFLINE);
		return;
	}
	SSD_ASSERT(q->io.status == SSD_OK);
	for (uint32_t i = 0; i < r->size; i++) {
		uint32_t tag = sector_tag_get(q->data + i * 512, (uint64_t)zone * r->size + i);

		SSD_ASSERT(!tag || i < r->capacity);
		if (tag) {
			r->seen.tag[i] = tag;
			r->seen.sectors = i + 1;
		}
	}
}

static bool is_same(const struct zr_content *a, const struct zr_content *b)
{
	/*
	 * A full zone's write pointer is unknown, and what was committed may end with sectors that were never
	 * written.
	 */
	return a->finished == b->finished && (a->finished || a->sectors == b->sectors) &&
	       !memcmp(a->tag, b->tag, sizeof(a->tag));
}

/* Does the page have the same sectors in both? */
static bool is_page_same(const struct zr_content *a, const struct zr_content *b, uint32_t first, uint32_t sectors)
{
	return !memcmp(a->tag + first, b->tag + first, sectors * sizeof(*a->tag));
}

/* May a zone with content c end as `seen` says? Write pointers from `first` to `high` are allowed. */
static bool may_end(const struct zr_content *c, const struct zr_content *seen, uint32_t capacity, bool pointer,
		    uint32_t first, uint32_t high)
{
	if (seen->finished)
		return c->finished || c->sectors == capacity;
	return !pointer || (seen->sectors >= first && seen->sectors <= high);
}

/*
 * The same for a zone that had a random write area: is each page as some prefix leaves it? Only prefixes with all
 * promised changes and with the same number of resets count. pointer: is it `seen->sectors`?
 */
static bool is_allowed_by_pages(const struct zr_zone *s, const struct zr_content *seen, uint32_t capacity,
				uint32_t page, bool pointer)
{
	static bool found[ZR_SECTORS];
	struct zr_content c = s->base;
	uint32_t first = c.sectors, high = 0;
	bool fits = !c.finished || seen->finished;

	memset(found, 0, sizeof(found));
	for (uint32_t i = 0;; i++) {
		bool all = true;

		for (uint32_t at = 0; at < capacity; at += page) {
			found[at] |= is_page_same(&c, seen, at, page);
			all &= found[at];
			for (uint32_t k = at; k < at + page; k++)
				high = c.tag[k] && at + page > high ? at + page : high;
		}
		/* A mount may commit areas beyond their maximum. */
		high = c.sectors > high ? c.sectors : high;
		if (i >= s->durable && all && fits && may_end(&c, seen, capacity, pointer, first, high))
			return true;
		if (i == s->changes)
			return false;
		zr_apply(&c, &s->change[i], s->change[i].sectors);
		if (s->change[i].kind == ZR_RESET) {
			memset(found, 0, sizeof(found));
			first = high = 0;
			fits = true;
		}
	}
}

/* Is `seen` what some prefix with all that is promised leaves? */
static bool is_allowed(const struct zr_zone *s, const struct zr_content *seen, uint32_t capacity)
{
	struct zr_content c = s->base;

	for (uint32_t i = 0;; i++) {
		struct zr_content full = c;

		full.finished |= full.sectors == capacity;
		if (i >= s->durable && is_same(&full, seen))
			return true;
		if (i == s->changes)
			return false;
		for (uint32_t part = 1; i >= s->durable && s->change[i].kind == ZR_WRITE && part < s->change[i].sectors;
		     part++) {
			struct zr_content some = c;

			zr_apply(&some, &s->change[i], part);
			if (is_same(&some, seen))
				return true;
		}
		zr_apply(&c, &s->change[i], s->change[i].sectors);
	}
}

void zr_note_left(struct zr *r)
{
	for (uint32_t i = 0; i < r->shape->zones; i++) {
		const struct ftl_zone z = r->ops->zone(r->f, i);

		if (z.changed && (z.state == FTL_ZONE_READONLY || z.state == FTL_ZONE_OFFLINE))
			r->left[i] = z.state;
	}
}

void zr_check_left(const struct zr *r, const struct zr *host)
{
	for (uint32_t i = 0; i < r->shape->zones; i++)
		if (host->left[i] == FTL_ZONE_READONLY)	/* or a retirement was under way */
			SSD_ASSERT(r->ops->zone(r->f, i).state >= FTL_ZONE_READONLY);
		else
			SSD_ASSERT(!host->left[i] || r->ops->zone(r->f, i).state == host->left[i]);
}

/* Is what the drive has of the zone allowed, if it counts as finished or not? */
static bool may_be_seen(const struct zr *r, const struct zr_zone *s, const struct ftl_zone *z, bool finished)
{
	struct zr_content seen = r->seen;

	seen.finished = finished;
	if (!s->loose)
		return is_allowed(s, &seen, r->capacity);
	seen.sectors = (uint32_t)((z->wp - z->start) / 512);
	return is_allowed_by_pages(s, &seen, r->capacity, r->ac.geo.page_bytes / 512,
				   z->state == FTL_ZONE_EMPTY || z->state == FTL_ZONE_CLOSED);
}

static void verify_zone(struct zr *r, const struct zr *host, uint32_t zone, bool full_active)
{
	const struct ftl_zone z = r->ops->zone(r->f, zone);
	const struct zr_zone *s = &host->zone[zone];
	enum ftl_zone_state want;
	bool allowed;

	read_zone(r, zone);
	if (z.state == FTL_ZONE_CLOSED && !z.window) {	/* what was committed may end with sectors never written */
		SSD_ASSERT(z.wp >= z.start + r->seen.sectors * 512ull);
		r->seen.sectors = (uint32_t)((z.wp - z.start) / 512);
	}
	r->seen.finished = z.state == FTL_ZONE_FULL;
	if (z.state == FTL_ZONE_READONLY)	/* its reset found no room: not reported as full */
		r->seen.finished = s->base.finished || r->seen.sectors == r->capacity;
	allowed = may_be_seen(r, s, &z, r->seen.finished) ||
		  (z.state == FTL_ZONE_READONLY && s->loose && may_be_seen(r, s, &z, !r->seen.finished)) ||
		  (full_active && z.state == FTL_ZONE_FULL && may_be_seen(r, s, &z, false));
	if (!allowed)
		printf("zone %u: %u sectors, %s; certain: %u sectors and %u of %u changes\n", zone, r->seen.sectors,
		       r->seen.finished ? "full" : "not full", s->base.sectors, s->durable, s->changes);
	SSD_ASSERT(allowed);
	want = z.state == FTL_ZONE_FULL ? FTL_ZONE_FULL : r->seen.sectors || z.wp > z.start || z.window ?
	       FTL_ZONE_CLOSED : FTL_ZONE_EMPTY;
	SSD_ASSERT(z.state == want || (host->may_fail && (z.state == FTL_ZONE_READONLY ||
							  z.state == FTL_ZONE_OFFLINE)));
	SSD_ASSERT(!z.ended || z.state == FTL_ZONE_FULL);
	SSD_ASSERT(!z.window || (s->loose && z.state == FTL_ZONE_CLOSED));
}

/* A mount that finds more zones to continue than may be active ends some of them. */
void zr_verify(struct zr *r, const struct zr *host)
{
	uint32_t any, active = zr_active(r, &any), windows = 0;

	SSD_ASSERT(active <= r->zones.active_max);
	for (uint32_t i = 0; i < r->shape->zones; i++) {
		verify_zone(r, host, i, active == r->zones.active_max);
		windows += r->ops->zone(r->f, i).window;
	}
	SSD_ASSERT(windows <= r->zones.window_max);
	r->ops->check(r->f);
}

void zr_adopt(struct zr *r, const struct zr *host)
{
	r->tag = host->tag + 100000;
	for (uint32_t i = 0; i < r->shape->zones; i++) {
		const struct ftl_zone z = r->ops->zone(r->f, i);
		struct zr_zone *s = &r->zone[i];

		read_zone(r, i);
		memset(s, 0, sizeof(*s));
		s->base = r->seen;
		s->base.finished = z.state == FTL_ZONE_FULL;
		s->state = z.state;
		s->window = s->loose = z.window;
		s->wp = s->base.sectors = z.state == FTL_ZONE_CLOSED || z.state == FTL_ZONE_EMPTY ?
					  (uint32_t)((z.wp - z.start) / 512) : r->seen.sectors;
		s->loose |= s->wp > r->seen.sectors;	/* it ends with pages of an area that were never written */
		s->failed = z.state >= FTL_ZONE_READONLY;
	}
}
