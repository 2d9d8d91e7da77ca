// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * unflushed.c - lists the writes and trims that a loss of power may take, by what NVMe promises and not by what the FTL
 * does.
 *
 * A list has the writes and trims in the order of submission. A write is appended when it is submitted, with a hash of
 * each sector. It is removed when it is durable: when it completes with FUA, or when a flush completes that was
 * submitted at or after the write's completion. After the cut, unflushed_look() mounts the drive, reads the sectors of
 * the writes, and counts those with the write's content. A sector that a later write in the list has changed does not
 * count for the earlier one.
 *
 * Cost: 8 bytes for each sector written since the last flush.
 */
#include "replay.h"

#include <stdlib.h>
#include <string.h>

#include "slate_power.h"

struct entry {
	struct one_unflushed is;
	uint64_t id;			/* id of the request (struct request) */
	bool fua;
	size_t sectors;			/* number of sectors, each with a hash; 0: a trim */
};

struct unflushed {
	struct entry *entry;
	size_t count, room;
	uint64_t *hash;			/* of the sectors of all entries, in the entries' order */
	size_t hashes, hash_room;
	uint64_t state;
};

struct unflushed *unflushed_open(void)
{
	struct unflushed *u = calloc(1, sizeof(*u));

	SSD_ASSERT(u);
	return u;
}

void unflushed_close(struct unflushed *u)
{
	if (u) {
		free(u->entry);
		free(u->hash);
	}
	free(u);
}

/* Returns the array, moved if need be, with room for `wanted` elements of `bytes` bytes. *room: how many fit. */
static void *with_room(void *array, size_t bytes, size_t wanted, size_t *room)
{
	if (wanted <= *room)
		return array;
	*room = wanted < 32 ? 64 : 2 * wanted;
	array = realloc(array, *room * bytes);
	SSD_ASSERT(array);
	return array;
}

/* Append a hash of each sector of a write. Returns the number of sectors. */
static size_t add_hashes(struct unflushed *u, const struct request *q)
{
	static const unsigned char zeroes[FTL_SECTOR_BYTES];
	size_t sectors = q->bytes / FTL_SECTOR_BYTES;

	u->hash = with_room(u->hash, sizeof(*u->hash), u->hashes + sectors, &u->hash_room);
	for (size_t i = 0; i < sectors; i++)
		u->hash[u->hashes++] = shadow_hash(q->data_bytes ? q->data + i * FTL_SECTOR_BYTES : zeroes);
	return sectors;
}

void unflushed_submit(struct unflushed *u, uint64_t now_ns, uint64_t number, const struct request *q)
{
	if ((q->op != FTL_WRITE && q->op != FTL_TRIM) || !q->bytes)
		return;
	u->entry = with_room(u->entry, sizeof(*u->entry), u->count + 1, &u->room);
	u->entry[u->count++] = (struct entry){
		.is = { .number = number, .op = q->op, .offset = q->offset, .bytes = q->bytes, .submit_ns = now_ns,
			.done_ns = REPLAY_NEVER },
		.id = q->id, .fua = q->io.fua, .sectors = q->op == FTL_WRITE ? add_hashes(u, q) : 0,
	};
}

/* Remove the entries for which durable(entry, q) is true, and their hashes. */
static void drop(struct unflushed *u, bool (*durable)(const struct entry *e, const struct request *q),
		 const struct request *q)
{
	size_t kept = 0, to = 0;
	uint64_t *from = u->hash;

	for (size_t i = 0; i < u->count; i++) {
		struct entry e = u->entry[i];

		if (!durable(&e, q)) {
			if (e.sectors)
				memmove(u->hash + to, from, e.sectors * sizeof(*from));
			to += e.sectors;
			u->entry[kept++] = e;
		}
		from += e.sectors;
	}
	u->count = kept;
	u->hashes = to;
}

/*
 * Had the entry's request completed when the flush was submitted? The ids are compared too, because a request that was
 * submitted after the flush may complete in the nanosecond of the flush's submission.
 */
static bool done_before(const struct entry *e, const struct request *flush)
{
	return e->id < flush->id && e->is.done_ns <= flush->io.submit_ns;	/* REPLAY_NEVER: not completed */
}

static bool is_request(const struct entry *e, const struct request *q)
{
	return e->id == q->id;
}

void unflushed_done(struct unflushed *u, const struct request *q, bool cached)
{
	if (q->io.status)
		return;
	if (q->op == FTL_FLUSH) {
		drop(u, done_before, q);
		return;
	}
	for (size_t i = 0; i < u->count; i++) {
		struct entry *e = &u->entry[i];

		if (e->id != q->id)
			continue;
		e->is.done_ns = q->io.done_ns;
		if (!cached || e->fua)
			drop(u, is_request, q);
		return;
	}
}

int unflushed_look(struct replay *r)
{
	struct unflushed *u = r->unflushed;
	const uint64_t *written = u->hash;
	char err[SLATE_ERR_BYTES];
	struct slate_power p;

	slate_get_power(r->dev, &p);
	r->now_ns = p.cut_ns > r->now_ns ? p.cut_ns : r->now_ns;
	if (slate_power_on(r->dev, r->now_ns, err))
		return replay_fail(REPLAY_FAILED, "%s", err);
	for (size_t i = 0; i < u->count; i++) {
		struct entry *e = &u->entry[i];
		const struct trace_row row = { .op = TRACE_READ, .offset = e->is.offset, .bytes = e->is.bytes };
		unsigned char *data;

		if (!e->sectors)
			continue;
		data = malloc(e->is.bytes);
		SSD_ASSERT(data);
		memset(data, 0, e->is.bytes);
		engine_release(r, engine_one(r, &row, data));
		for (size_t s = 0; s < e->sectors; s++) {
			uint64_t hash = shadow_hash(data + s * FTL_SECTOR_BYTES);

			e->is.there += hash == *written++;
			u->state = (u->state ^ hash) * 0x9e3779b97f4a7c15u;
			u->state ^= u->state >> 29;
		}
		free(data);
	}
	return 0;
}

bool unflushed_get(const struct unflushed *u, size_t i, struct one_unflushed *out)
{
	if (i >= u->count)
		return false;
	*out = u->entry[i].is;
	return true;
}

uint64_t unflushed_state(const struct unflushed *u)
{
	return u->state;
}
