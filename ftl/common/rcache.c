// SPDX-License-Identifier: GPL-2.0-or-later
/* rcache.c - see rcache.h */
#include "rcache.h"

/* ---- entries ---- */

static struct rcache_bucket *bucket_of(const struct rcache *c, uint64_t unit)
{
	return &c->bucket[(uint32_t)(unit ^ unit >> 10) & c->hash_mask];
}

static uint32_t find(const struct rcache *c, uint64_t unit)
{
	uint32_t e = bucket_of(c, unit)->first;

	while (e != RCACHE_NONE && c->entry[e].unit != unit)
		e = c->entry[e].hash_next;
	return e;
}

static void unhash(struct rcache *c, uint32_t e)
{
	uint32_t *at = &bucket_of(c, c->entry[e].unit)->first;

	while (*at != e)
		at = &c->entry[*at].hash_next;
	*at = c->entry[e].hash_next;
}

static void age_remove(struct rcache *c, uint32_t e)
{
	const struct rcache_entry *x = &c->entry[e];

	*(x->newer == RCACHE_NONE ? &c->newest : &c->entry[x->newer].older) = x->older;
	*(x->older == RCACHE_NONE ? &c->oldest : &c->entry[x->older].newer) = x->newer;
}

static void age_add(struct rcache *c, uint32_t e)
{
	c->entry[e].older = c->newest;
	c->entry[e].newer = RCACHE_NONE;
	*(c->newest == RCACHE_NONE ? &c->oldest : &c->entry[c->newest].newer) = e;
	c->newest = e;
}

static void drop(struct rcache *c, uint32_t e)
{
	unhash(c, e);
	if (!c->entry[e].by)
		age_remove(c, e);
	c->entry[e].by = NULL;
	c->entry[e].older = c->free;
	c->free = e;
	c->changed = true;
}

static uint64_t first_unit(const struct rcache *c, const struct ftl_io *io)
{
	return io->offset / c->unit_bytes;
}

/* Returns the unit after the last one that the I/O touches. */
static uint64_t end_unit(const struct rcache *c, const struct ftl_io *io)
{
	return (io->offset + io->bytes + c->unit_bytes - 1) / c->unit_bytes;
}

/* ---- reads and writes ---- */

enum rcache_found rcache_find(const struct rcache *c, const struct ftl_io *io, uint64_t *ready_ns)
{
	enum rcache_found found = RCACHE_HIT;

	*ready_ns = 0;
	for (uint64_t u = first_unit(c, io); u < end_unit(c, io); u++) {
		uint32_t e = find(c, u);

		if (e == RCACHE_NONE || c->entry[e].metadata != io->metadata)
			return RCACHE_MISS;
		if (c->entry[e].by)
			found = RCACHE_WAIT;
		else if (c->entry[e].ready_ns > *ready_ns)
			*ready_ns = c->entry[e].ready_ns;
	}
	return found;
}

static uint8_t *data_of(const struct rcache *c, uint32_t e)
{
	return c->data + (uint64_t)e * c->entry_bytes;
}

void rcache_give(struct rcache *c, struct ftl_io *io, const struct ftl_host *shell)
{
	uint32_t k = io->metadata;

	c->hits++;
	for (uint64_t u = first_unit(c, io); u < end_unit(c, io); u++) {
		uint64_t begin = u * c->unit_bytes, from = begin, to = begin + c->unit_bytes;
		uint32_t e = find(c, u);

		age_remove(c, e);
		age_add(c, e);
		if (!c->payload)
			continue;
		if (from < io->offset)
			from = io->offset;
		if (to > io->offset + io->bytes)
			to = io->offset + io->bytes;
		shell->copy(shell->opaque, io, from - io->offset, data_of(c, e) + (from - begin), to - from);
		if (k)
			shell->copy(shell->opaque, io, io->bytes + (from - io->offset) / FTL_SECTOR_BYTES * k,
				    data_of(c, e) + c->unit_bytes + (from - begin) / FTL_SECTOR_BYTES * k,
				    (to - from) / FTL_SECTOR_BYTES * k);
	}
}

/* Returns an entry after removing it from its place (RC1), or RCACHE_NONE. */
static uint32_t make_room(struct rcache *c)
{
	uint32_t e;

	if (c->free == RCACHE_NONE && c->oldest != RCACHE_NONE)
		drop(c, c->oldest);
	e = c->free;
	if (e != RCACHE_NONE)
		c->free = c->entry[e].older;
	return e;
}

uint32_t rcache_claim(struct rcache *c, const struct ftl_io *io)
{
	uint64_t end = (io->offset + io->bytes) / c->unit_bytes;
	uint32_t claimed = 0;

	for (uint64_t u = (io->offset + c->unit_bytes - 1) / c->unit_bytes; u < end; u++) {
		struct rcache_bucket *b = bucket_of(c, u);
		uint32_t e = find(c, u);

		if (e != RCACHE_NONE && c->entry[e].metadata != io->metadata) {
			drop(c, e);
			e = RCACHE_NONE;
		}
		if (b->writes || e != RCACHE_NONE)
			continue;
		e = make_room(c);
		if (e == RCACHE_NONE)
			break;
		c->entry[e] = (struct rcache_entry){ .by = io, .unit = (uint32_t)u, .hash_next = b->first,
						     .metadata = io->metadata };
		b->first = e;
		claimed++;
	}
	return claimed;
}

/* Remove the entries of a bucket whose units are in [from, end). */
static void remove_from(struct rcache *c, const struct rcache_bucket *b, uint64_t from, uint64_t end)
{
	uint32_t next;

	for (uint32_t e = b->first; e != RCACHE_NONE; e = next) {
		next = c->entry[e].hash_next;
		if (c->entry[e].unit >= from && c->entry[e].unit < end)
			drop(c, e);
	}
}

/*
 * Count a write to [from, end) in the bucket: change is 1 if it begins, and -1 (as an unsigned
 * number) if it has ended. A write that begins removes the entries of its units.
 */
static void note_write(struct rcache *c, struct rcache_bucket *b, uint64_t from, uint64_t end, uint32_t change)
{
	b->writes += change;
	if (change == 1)
		remove_from(c, b, from, end);
}

static void note_writes(struct rcache *c, const struct ftl_io *io, uint32_t change)
{
	uint64_t from = first_unit(c, io), end = end_unit(c, io);

	if (end - from > c->hash_mask)		/* a large range counts in all buckets */
		for (uint32_t i = 0; i <= c->hash_mask; i++)
			note_write(c, &c->bucket[i], from, end, change);
	else
		for (uint64_t u = from; u < end; u++)
			note_write(c, bucket_of(c, u), from, end, change);
}

void rcache_write_begins(struct rcache *c, const struct ftl_io *io)
{
	note_writes(c, io, 1);
}

void rcache_write_ends(struct rcache *c, const struct ftl_io *io)
{
	note_writes(c, io, ~(uint32_t)0);
}

/* Store the metadata of whole or partial units; buf is not NULL. */
static void take_metadata(struct rcache *c, const struct ftl_io *io, uint64_t at, const uint8_t *buf, size_t len)
{
	uint32_t k = io->metadata;

	for (uint64_t s = (at - io->bytes) / k; len; s++, buf += k, len -= k) {
		uint64_t byte = io->offset + s * FTL_SECTOR_BYTES, in_unit = byte % c->unit_bytes;
		uint32_t e = find(c, byte / c->unit_bytes);

		if (e != RCACHE_NONE && c->entry[e].by == io)
			memcpy(data_of(c, e) + c->unit_bytes + in_unit / FTL_SECTOR_BYTES * k, buf, k);
	}
}

void rcache_take(struct rcache *c, const struct ftl_io *io, uint64_t at, const void *buf, size_t len)
{
	if (SSD_UNLIKELY(at >= io->bytes)) {
		take_metadata(c, io, at, buf, len);
		return;
	}
	while (len) {
		uint64_t byte = io->offset + at;
		uint32_t in_unit = (uint32_t)(byte % c->unit_bytes), e = find(c, byte / c->unit_bytes);
		size_t piece = c->unit_bytes - in_unit < len ? c->unit_bytes - in_unit : len;

		if (e != RCACHE_NONE && c->entry[e].by == io) {
			uint8_t *to = data_of(c, e) + in_unit;

			if (buf)
				memcpy(to, buf, piece);
			else
				memset(to, 0, piece);
			c->entry[e].have += (uint32_t)piece;
		}
		at += piece;
		len -= piece;
		buf = buf ? (const uint8_t *)buf + piece : NULL;
	}
}

void rcache_ended(struct rcache *c, struct ftl_io *io)
{
	for (uint64_t u = first_unit(c, io); u < end_unit(c, io); u++) {
		uint32_t e = find(c, u);

		if (e == RCACHE_NONE || c->entry[e].by != io)
			continue;
		c->changed = true;
		if (io->status != SSD_OK || (c->payload && c->entry[e].have < c->unit_bytes)) {
			drop(c, e);
			continue;
		}
		c->entry[e].by = NULL;
		c->entry[e].ready_ns = io->done_ns - io->where.link_ns - io->link_others_ns;
		age_add(c, e);
	}
	if (!io->ahead)
		return;
	io->next = c->ahead_free;
	c->ahead_free = io;
	c->in_flight--;
}

/* ---- read-ahead ---- */

struct rcache_stream *rcache_follow(struct rcache *c, const struct ftl_io *io)
{
	struct rcache_stream *s = c->stream;

	for (uint32_t i = 1; i < RCACHE_STREAMS && s->next != io->offset; i++)
		if (c->stream[i].next == io->offset || c->stream[i].used < s->used)
			s = &c->stream[i];
	if (s->next == io->offset && s->used)
		s->twice = true;
	else
		*s = (struct rcache_stream){ 0 };
	s->next = io->offset + io->bytes;
	s->used = ++c->reads;
	s->metadata = io->metadata;
	s->owner = io->owner;
	if (s->ahead < s->next / c->unit_bytes)
		s->ahead = s->next / c->unit_bytes;
	return s;
}

struct ftl_io *rcache_ahead(struct rcache *c, struct rcache_stream *s)
{
	uint64_t until = s->next / c->unit_bytes + c->ahead_units;
	struct ftl_io *io = c->ahead_free;

	if (!s->twice)
		return NULL;
	if (until > c->drive_units)
		until = c->drive_units;
	while (io && s->ahead < until) {
		uint64_t from = s->ahead, to = from - from % c->page_units + c->page_units;
		uint32_t claimed;

		if (to > c->drive_units)
			to = c->drive_units;
		if (to > until)
			return NULL;
		while (from < to && find(c, from) != RCACHE_NONE)
			from++;
		s->ahead = to;
		if (from == to)
			continue;
		*io = (struct ftl_io){ .op = FTL_READ, .ahead = true, .metadata = s->metadata, .owner = s->owner,
				       .offset = from * c->unit_bytes,
				       .bytes = (to - from) * c->unit_bytes, .next = io->next };
		claimed = rcache_claim(c, io);
		if (!claimed) {		/* no room, or writes: try again at the sequence's next read */
			s->ahead = from;
			return NULL;
		}
		c->ahead_free = io->next;
		c->in_flight++;
		c->ahead_read += claimed;
		return io;
	}
	return NULL;
}

/* ---- life cycle ---- */

void rcache_lay_out(struct rcache *c, struct ssd_arena *m, const struct ftl_config *f, uint32_t page_bytes)
{
	uint32_t heads = 1, page_units = page_bytes / f->unit_bytes ? page_bytes / f->unit_bytes : 1;
	uint32_t pieces = f->read_ahead_units ? RCACHE_STREAMS * (f->read_ahead_units / page_units + 1) : 0;
	uint32_t aheads = pieces < f->read_cache_units ? pieces : f->read_cache_units;	/* each fills an entry */
	struct rcache laid = {
		.units = f->read_cache_units, .ahead_units = f->read_ahead_units, .unit_bytes = f->unit_bytes,
		.entry_bytes = f->unit_bytes + f->metadata_bytes, .page_units = page_units,
		.drive_units = (uint32_t)(f->capacity_bytes / f->unit_bytes),
		.aheads = aheads, .payload = f->payload,
	};

	while (heads < laid.units)
		heads *= 2;
	laid.hash_mask = heads - 1;
	if (laid.units) {
		laid.entry = ssd_carve(m, laid.units, sizeof(*laid.entry));
		laid.bucket = ssd_carve(m, heads, sizeof(*laid.bucket));
		laid.ahead = ssd_carve(m, aheads, sizeof(*laid.ahead));
		laid.data = f->payload ? ssd_carve(m, laid.units, laid.entry_bytes) : NULL;
	}
	if (!c)
		return;
	*c = laid;
	rcache_empty(c);
}

void rcache_empty(struct rcache *c)
{
	c->free = c->oldest = c->newest = RCACHE_NONE;
	c->ahead_free = NULL;
	c->in_flight = 0;
	c->waiting.first = NULL;
	memset(c->stream, 0, sizeof(c->stream));
	if (!c->units)
		return;
	SSD_ASSERT(c->bucket && c->entry);
	for (uint32_t i = 0; i <= c->hash_mask; i++)
		c->bucket[i] = (struct rcache_bucket){ .first = RCACHE_NONE };
	for (uint32_t e = c->units; e-- > 0;) {
		c->entry[e] = (struct rcache_entry){ .older = c->free };
		c->free = e;
	}
	for (uint32_t i = c->aheads; i-- > 0;) {
		c->ahead[i].next = c->ahead_free;
		c->ahead_free = &c->ahead[i];
	}
}

static bool waits_rightly(const struct rcache *c, const struct ftl_io *io)
{
	uint64_t ready_ns;

	return c->changed || rcache_find(c, io, &ready_ns) == RCACHE_WAIT;
}

void rcache_check(const struct rcache *c)
{
	uint32_t spare = 0, aged = 0, hashed = 0, awaited = 0, pooled = 0, newer = RCACHE_NONE;

	if (!c->units)
		return;
	for (uint32_t e = c->free; e != RCACHE_NONE; e = c->entry[e].older)
		spare++;
	for (uint32_t e = c->newest; e != RCACHE_NONE; newer = e, e = c->entry[e].older, aged++)
		SSD_ASSERT(!c->entry[e].by && c->entry[e].newer == newer);	/* RC1 */
	SSD_ASSERT(c->oldest == newer);
	for (uint32_t e = 0; e < c->units; e++)
		awaited += c->entry[e].by != NULL;
	for (uint32_t i = 0; i <= c->hash_mask; i++)
		for (uint32_t e = c->bucket[i].first; e != RCACHE_NONE; e = c->entry[e].hash_next, hashed++)
			SSD_ASSERT(find(c, c->entry[e].unit) == e);		/* RC2 */
	SSD_ASSERT(spare + aged + awaited == c->units);				/* RC1 */
	SSD_ASSERT(hashed == aged + awaited);					/* RC2 */
	for (const struct ftl_io *io = c->ahead_free; io; io = io->next)
		pooled++;
	SSD_ASSERT(pooled + c->in_flight == c->aheads);				/* RC4 */
	for (const struct ftl_io *io = c->waiting.first; io; io = io_list_next(&c->waiting, io))
		SSD_ASSERT(waits_rightly(c, io));				/* RC3 */
}
