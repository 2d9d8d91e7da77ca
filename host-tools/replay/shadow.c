// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * shadow.c - the possible contents of sectors when a trace says what is written: a 64-bit hash for
 * each version that a read may still return.
 *
 * An array has the hash of each sector's newest version. An older version is a `struct old` in its
 * sector's chain, newest first; when a newer version has completed it is also in the queue of versions
 * to remove:
 *
 *   newest -> (a write over it is submitted) chain -> (a newer one completes) chain and
 *   queue -> (all reads submitted before that have ended) removed
 *
 * SHA1  a version is in the array or its chain until a newer one has completed and every read that was
 * submitted before that has ended.
 * SHA2  the queue's `gone_id` never decrease; `oldest` is the first read in flight.
 *
 * Cost: 12 bytes for each sector that was written, and 40 for each version that is not the newest.
 * There are at most as many of these as the requests in flight write.
 */
#define _GNU_SOURCE
#include "replay.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define FIRST_ROOM 1024u

struct old {
	uint64_t hash, sector;
	uint64_t gone_id;		/* the version is in the queue: reads before this one may return it */
	uint32_t version;
	uint32_t chain;			/* next older version; 0: none. In the free list: the next free entry */
	uint32_t queue;			/* next in the queue; 0: none */
	bool queued;
};

struct shadow {
	uint64_t sectors;
	uint64_t *hash;			/* hash of each sector's newest version */
	uint32_t *chain;		/* first old version of each sector; 0: none */
	struct old *old;		/* [0] is not used */
	uint32_t room, free, first, last;
	struct request *oldest, *newest;	/* list of the reads in flight */
};

static void *map(size_t bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			-1, 0);

	return at == MAP_FAILED ? NULL : at;
}

struct shadow *shadow_open(uint64_t sectors)
{
	struct shadow *s = calloc(1, sizeof(*s));

	SSD_ASSERT(s);
	s->sectors = sectors;
	s->hash = map(sectors * sizeof(*s->hash));
	s->chain = map(sectors * sizeof(*s->chain));
	if (s->hash && s->chain)
		return s;
	shadow_close(s);
	return NULL;
}

void shadow_close(struct shadow *s)
{
	if (!s)
		return;
	if (s->hash)
		munmap(s->hash, s->sectors * sizeof(*s->hash));
	if (s->chain)
		munmap(s->chain, s->sectors * sizeof(*s->chain));
	free(s->old);
	free(s);
}

/*
 * Returns the hash of a sector. A faulty sector passes with probability 2^-64. The hash does not protect against a
 * deliberate forgery.
 */
uint64_t shadow_hash(const void *sector)
{
	uint64_t h = 0x9e3779b97f4a7c15u, word;

	for (unsigned int i = 0; i < FTL_SECTOR_BYTES; i += 8) {
		memcpy(&word, (const char *)sector + i, sizeof(word));
		h = (h ^ word) * 0xbf58476d1ce4e5b9u;
		h ^= h >> 32;
	}
	return h;
}

/* ---- versions that are not the newest ------------------------------------------------ */

static uint32_t take_old(struct shadow *s)
{
	uint32_t i = s->free;

	if (!i) {
		uint32_t room = s->room ? 2 * s->room : FIRST_ROOM;

		s->old = realloc(s->old, room * sizeof(*s->old));
		SSD_ASSERT(s->old && room > s->room);
		for (i = room; i-- > (s->room ? s->room : 1);) {
			s->old[i].chain = s->free;
			s->free = i;
		}
		s->room = room;
		i = s->free;
	}
	s->free = s->old[i].chain;
	return i;
}

static void drop_old(struct shadow *s, uint32_t i)
{
	uint32_t *at = &s->chain[s->old[i].sector];

	while (*at != i) {
		SSD_ASSERT(*at);
		at = &s->old[*at].chain;
	}
	*at = s->old[i].chain;
	s->old[i].chain = s->free;
	s->free = i;
}

/* Remove the versions that no read in flight may return. */
static void remove_unreadable(struct shadow *s)
{
	while (s->first && (!s->oldest || s->oldest->id >= s->old[s->first].gone_id)) {
		uint32_t i = s->first;

		s->first = s->old[i].queue;
		drop_old(s, i);
	}
}

void shadow_write(struct shadow *s, uint64_t sector, uint32_t newest, uint32_t version, uint64_t hash)
{
	SSD_ASSERT(version > newest);
	if (newest) {
		uint32_t i = take_old(s);

		s->old[i] = (struct old){ .hash = s->hash[sector], .sector = sector, .version = newest,
					  .chain = s->chain[sector] };
		s->chain[sector] = i;
	}
	s->hash[sector] = hash;
}

void shadow_completed(struct shadow *s, uint64_t sector, uint32_t completed, uint64_t next_id)
{
	for (uint32_t i = s->chain[sector]; i; i = s->old[i].chain) {
		struct old *o = &s->old[i];

		if (o->version >= completed || o->queued)
			continue;
		o->queued = true;
		o->gone_id = next_id;
		if (s->first)
			s->old[s->last].queue = i;
		else
			s->first = i;
		s->last = i;
	}
	remove_unreadable(s);
}

bool shadow_allows(const struct shadow *s, uint64_t sector, uint32_t newest, uint32_t lower,
		   uint64_t hash)
{
	if (newest && newest >= lower && s->hash[sector] == hash)
		return true;
	for (uint32_t i = s->chain[sector]; i; i = s->old[i].chain)
		if (s->old[i].version >= lower && s->old[i].hash == hash)
			return true;
	return false;
}

/* ---- reads in flight ------------------------------------------------------------------- */

void shadow_read_begins(struct shadow *s, struct request *q)
{
	q->older = s->newest;
	q->newer = NULL;
	if (s->newest)
		s->newest->newer = q;
	else
		s->oldest = q;
	s->newest = q;
}

void shadow_read_ends(struct shadow *s, struct request *q)
{
	if (q->older)
		q->older->newer = q->newer;
	else
		s->oldest = q->newer;
	if (q->newer)
		q->newer->older = q->older;
	else
		s->newest = q->older;
	remove_unreadable(s);
}
