// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * verify.c - --check: every sector written contains its identity, and every sector read
 * is checked.
 *
 * Each write or trim gets the next version number, from 1. A sector's content is its own address,
 * the version, the stream, and words derived from these. For each sector the version submitted
 * last, the highest completed version and the last version that was a trim are stored: 12 bytes for
 * a sector of 512.
 *
 * ftl.h lets a read return any state between its submission and its completion.
 * The FTL accepts writes in order, so the state at submission is at least what had
 * completed by then (kept in the request, a word a sector), and the state at
 * completion at most what has been submitted:
 *   VER1  a tagged sector has its own address, and completed-then <= version <= submitted-now
 *   VER2  a sector of zeroes was trimmed by a version >= completed-then, or
 *         completed-then is 0 and the drive began with zeroes there
 *         If the trace has content, the sector's hash must be that of a version within these bounds
 *         (shadow.c)
 *   VER3  any other content is wrong, unless completed-then is 0 and the drive's earlier content is
 *         unknown (an existing drive file): then it is counted as unknown
 */
#define _GNU_SOURCE
#include "replay.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>

#define WORDS (FTL_SECTOR_BYTES / 8u)
#define MAGIC 0x5e7a6c3d00000000u
#define WRONG_SHOWN 5u
#define CHUNK_SECTORS 256u		/* size of a part of the bitmap */

struct sector {
	uint32_t newest, completed, trimmed;
};

struct verify {
	struct replay *r;
	struct sector *sector;
	uint64_t sectors;
	uint32_t version;
	struct shadow *shadow;		/* NULL: contents are tags */
	uint8_t *chunk;			/* a bit for each 128 KiB that was written to */
	bool known_zeroes;
	struct verified seen;
};

struct verify *verify_open(struct replay *r, bool known_zeroes)
{
	struct verify *v = calloc(1, sizeof(*v));

	SSD_ASSERT(v);
	v->r = r;
	v->known_zeroes = known_zeroes;
	v->sectors = r->capacity / FTL_SECTOR_BYTES;
	v->sector = mmap(NULL, v->sectors * sizeof(*v->sector), PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (r->has_content)
		v->shadow = shadow_open(v->sectors);
	v->chunk = calloc(1, (size_t)(v->sectors / CHUNK_SECTORS / 8 + 1));
	SSD_ASSERT(v->chunk);
	if (v->sector == MAP_FAILED || (r->has_content && !v->shadow)) {
		replay_fail(REPLAY_FAILED, "--check: no memory to remember %" PRIu64 " sectors: free some, "
			    "or take a smaller drive", v->sectors);
		if (v->sector != MAP_FAILED)
			munmap(v->sector, v->sectors * sizeof(*v->sector));
		shadow_close(v->shadow);
		free(v->chunk);
		free(v);
		return NULL;
	}
	return v;
}

void verify_close(struct verify *v)
{
	if (!v)
		return;
	munmap(v->sector, v->sectors * sizeof(*v->sector));
	shadow_close(v->shadow);
	free(v->chunk);
	free(v);
}

/*
 * Determine the sectors that a request changes: a trim changes the whole units inside its range, or
 * none (slate_trims()); a write changes its whole range.
 */
static void range_of(const struct verify *v, const struct request *q, uint64_t *first,
		     uint64_t *end)
{
	uint64_t unit = v->r->unit_bytes, low = q->offset, high = low + q->bytes;

	if (q->op == FTL_TRIM) {
		low = (low + unit - 1) / unit * unit;
		high = high / unit * unit;
		high = high > low && (q->reset || slate_trims(v->r->dev)) ? high : low;
	}
	*first = low / FTL_SECTOR_BYTES;
	*end = high / FTL_SECTOR_BYTES;
}

static void remember_lower(struct verify *v, struct request *q)
{
	size_t sectors = q->bytes / FTL_SECTOR_BYTES, first = q->offset / FTL_SECTOR_BYTES;

	if (q->lower_room < sectors) {
		q->lower = realloc(q->lower, sectors * sizeof(*q->lower));
		SSD_ASSERT(q->lower);
		q->lower_room = sectors;
	}
	for (size_t i = 0; i < sectors; i++)
		q->lower[i] = v->sector[first + i].completed;
}

static void make_content(uint64_t *words, uint64_t sector, uint64_t tag)
{
	uint64_t x = (sector + 1) * 0x9e3779b97f4a7c15u ^ tag * 0xbf58476d1ce4e5b9u;

	words[0] = sector ^ MAGIC;
	words[1] = tag;
	for (uint32_t i = 2; i < WORDS; i++)
		words[i] = x + i * 0x94d049bb133111ebu;
}

/* Make the content that a write or trim gives a sector. */
static void content_of(const struct request *q, uint64_t sector, uint64_t *words)
{
	if (q->op == FTL_TRIM)
		memset(words, 0, FTL_SECTOR_BYTES);
	else if (q->data_bytes)
		memcpy(words, q->data + (sector * FTL_SECTOR_BYTES - q->offset), FTL_SECTOR_BYTES);
	else
		make_content(words, sector, q->version | (uint64_t)q->stream << 32);
}

void verify_submit(struct verify *v, struct request *q)
{
	uint64_t first, end, words[WORDS];

	if (q->op == FTL_READ) {
		remember_lower(v, q);
		if (v->shadow)
			shadow_read_begins(v->shadow, q);
	}
	if (q->op != FTL_WRITE && q->op != FTL_TRIM)
		return;
	SSD_ASSERT(v->version < UINT32_MAX);
	q->version = ++v->version;
	range_of(v, q, &first, &end);
	for (uint64_t c = first / CHUNK_SECTORS; first < end && c <= (end - 1) / CHUNK_SECTORS; c++)
		v->chunk[c / 8] |= (uint8_t)(1u << c % 8);
	for (; first < end; first++) {
		if (v->shadow) {
			content_of(q, first, words);
			shadow_write(v->shadow, first, v->sector[first].newest, q->version,
				     shadow_hash(words));
		}
		v->sector[first].newest = q->version;
		if (q->op == FTL_TRIM)
			v->sector[first].trimmed = q->version;
	}
}

void verify_done(struct verify *v, struct request *q)
{
	uint64_t first, end;

	if (q->op == FTL_READ && v->shadow)
		shadow_read_ends(v->shadow, q);
	if ((q->op != FTL_WRITE && q->op != FTL_TRIM) || q->io.status)
		return;
	range_of(v, q, &first, &end);
	for (; first < end; first++) {
		if (v->sector[first].completed >= q->version)
			continue;
		v->sector[first].completed = q->version;
		if (v->shadow)
			shadow_completed(v->shadow, first, q->version, v->r->submitted);
	}
}

/* ---- content ---------------------------------------------------------------- */

static bool is_zero(const uint64_t *words)
{
	uint64_t any = 0;

	for (uint32_t i = 0; i < WORDS; i++)
		any |= words[i];
	return !any;
}

static void tell_wrong(struct verify *v, const struct request *q, uint64_t sector, uint32_t lower,
		       const uint64_t *words)
{
	char holds[128] = "bytes that were never written";

	if (v->seen.wrong++ >= WRONG_SHOWN)
		return;
	if (is_zero(words))
		snprintf(holds, sizeof(holds), "zeroes");
	else if (v->shadow)
		snprintf(holds, sizeof(holds), "content that no allowed version has");
	else if ((words[0] ^ MAGIC) < v->sectors)
		snprintf(holds, sizeof(holds), "sector %" PRIu64 " in version %u of stream %u",
			 words[0] ^ MAGIC, (uint32_t)words[1], (uint32_t)(words[1] >> 32));
	fprintf(stderr, "slate-replay: --check: request %" PRIu64 " (read of %" PRIu64 " bytes at %" PRIu64
		"): sector %" PRIu64 " holds %s; right would be version %u .. %u\n", q->id, q->bytes,
		q->offset, sector, holds, lower, v->sector[sector].newest);
}

static void check_sector(struct verify *v, const struct request *q, uint64_t sector,
			 const uint64_t *words)
{
	const struct sector *s = &v->sector[sector];
	uint32_t lower = q->lower[sector - q->offset / FTL_SECTOR_BYTES];
	uint32_t version = (uint32_t)words[1];
	uint64_t want[WORDS];

	v->seen.sectors++;
	if (v->shadow && shadow_allows(v->shadow, sector, s->newest, lower, shadow_hash(words)))
		return;			/* VER1 */
	if (is_zero(words)) {
		if ((s->trimmed && s->trimmed >= lower) || (!lower && v->known_zeroes))	/* VER2 */
			return;
	} else if (!v->shadow && (words[0] ^ MAGIC) == sector && version && version >= lower && version <= s->newest) {
		make_content(want, sector, words[1]);
		if (!memcmp(want, words, sizeof(want)))		/* VER1 */
			return;
	}
	if (!lower && !v->known_zeroes)		/* VER3 */
		v->seen.unknown++;
	else
		tell_wrong(v, q, sector, lower, words);
}

void verify_copy(struct verify *v, const struct request *q, uint64_t at, void *buf, size_t len)
{
	static const uint64_t zeroes[WORDS];
	uint64_t first = (q->offset + at) / FTL_SECTOR_BYTES, words[WORDS];

	SSD_ASSERT(at % FTL_SECTOR_BYTES == 0 && len % FTL_SECTOR_BYTES == 0);
	for (uint64_t i = 0; i < len / FTL_SECTOR_BYTES; i++) {
		uint8_t *bytes = buf ? (uint8_t *)buf + i * FTL_SECTOR_BYTES : NULL;

		if (q->op == FTL_WRITE) {
			content_of(q, first + i, words);
			SSD_ASSERT(bytes);	/* only a read can have no data */
			memcpy(bytes, words, sizeof(words));
		} else {
			memcpy(words, bytes ? (const void *)bytes : zeroes, sizeof(words));
			check_sector(v, q, first + i, words);
		}
	}
}

bool verify_next_written(const struct verify *v, uint64_t *at, uint64_t *bytes)
{
	uint64_t c = (*at / FTL_SECTOR_BYTES + CHUNK_SECTORS - 1) / CHUNK_SECTORS, first;

	while (c * CHUNK_SECTORS < v->sectors && !(v->chunk[c / 8] >> c % 8 & 1))
		c++;
	first = c * CHUNK_SECTORS;
	if (first >= v->sectors)
		return false;
	*at = first * FTL_SECTOR_BYTES;
	*bytes = (v->sectors - first < CHUNK_SECTORS ? v->sectors - first : CHUNK_SECTORS) * FTL_SECTOR_BYTES;
	return true;
}

void verify_get(const struct verify *v, struct verified *out)
{
	*out = v->seen;
}
