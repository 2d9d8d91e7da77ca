// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fpstore.c - see fpstore.h
 *
 * It knows fingerprints, handles and the order of use. It does not know addresses of pages,
 * contents of references, or whether a candidate turned out to be useful.
 *
 * A key is a fingerprint and its place, 0 .. 3. The candidates that have a key form its group, a
 * list in the order of use. Only the head of a group, the candidate used last, is in the hash table
 * of keys. So a bucket has one entry for each key, however many candidates share the key. (DAC
 * never adds a page if one of its keys is in the store, so its groups have one member.
 * Deduplication accepts only four matches, and adds any page that is not identical: thousands of
 * pages may share three sub-pages of zeroes.)
 *
 * A candidate is either in the free list, or in the LRU list, the table of handles and four groups.
 * fpstore_insert() and release() move it.
 *
 * Invariants:
 *   FP1  the LRU list, from the newest, has `count` candidates, and `used` decreases along it;
 *   FP2  a candidate is in the table under its handle, and no other has that handle;
 *   FP3  a group has all candidates with its key, `used` decreases along it;
 *   FP4  the heads of groups, and they alone, are in their key's bucket, once.
 *
 * Cost: each call O(1) expected, a search up to 4 * FPSTORE_SHARED candidates. 88 bytes for a
 * candidate, and 20 to 40 for its buckets. (What a drive would need to keep is 16 and an address.)
 */
#include "fpstore.h"

#define NONE (~(uint32_t)0)

struct candidate {
	struct fingerprint fp;
	uint64_t used;
	uint32_t handle;
	uint32_t handle_next;		/* next candidate in the bucket */
	uint32_t newer, older;		/* LRU links; older also links the free list */
	struct {
		uint32_t newer, older;	/* links within the group */
		uint32_t chain;		/* if it is a group head: next head in the bucket */
	} key[FP_PARTS];
};

struct fpstore {
	struct candidate *cand;
	uint32_t *handles;		/* buckets of the table of handles */
	uint32_t *keys[FP_PARTS];	/* buckets of the table of keys, one table for each place */
	uint32_t bits;			/* bits of a bucket number */
	uint32_t max, count;
	uint32_t free;			/* list of candidates that were freed */
	uint32_t untouched;		/* first candidate that was never used */
	uint32_t newest, oldest;
	uint64_t clock;
};

void fingerprint_of(const void *page, size_t bytes, struct fingerprint *fp)
{
	const uint8_t *part = page;
	uint8_t md5[16];

	SSD_ASSERT(bytes && bytes % FP_PARTS == 0);
	for (uint32_t i = 0; i < FP_PARTS; i++, part += bytes / FP_PARTS) {
		ssd_md5(part, bytes / FP_PARTS, md5);
		fp->part[i] = (uint32_t)md5[0] | (uint32_t)md5[1] << 8 | (uint32_t)md5[2] << 16 |
			      (uint32_t)md5[3] << 24;
	}
}

/* ---- memory --------------------------------------------------------------- */

/* Returns the least b with 2^b >= n. */
static uint32_t bits_for(uint64_t n)
{
	uint32_t bits = 1;

	while ((uint64_t)1 << bits < n)
		bits++;
	return bits;
}

static size_t carve(void *mem, uint32_t limit, struct fpstore **out)
{
	struct ssd_arena a = { .base = mem };
	struct fpstore *s = ssd_carve(&a, 1, sizeof(*s));
	uint32_t max = limit / FP_PARTS, bits = bits_for(max);
	struct candidate *cand = ssd_carve(&a, max, sizeof(*cand));
	size_t buckets = (size_t)(1 + FP_PARTS) << bits;
	uint32_t *handles = ssd_carve(&a, buckets, sizeof(*handles));

	SSD_ASSERT(limit >= FP_PARTS && limit <= FPSTORE_MAX);
	if (!mem)
		return a.used;
	*s = (struct fpstore){ .cand = cand, .handles = handles, .bits = bits, .max = max,
			       .free = NONE, .newest = NONE, .oldest = NONE };
	for (uint32_t place = 0; place < FP_PARTS; place++)
		s->keys[place] = handles + ((size_t)(1 + place) << bits);
	memset(handles, 0xff, buckets * sizeof(*handles));
	*out = s;
	return a.used;
}

size_t fpstore_footprint(uint32_t limit)
{
	return carve(NULL, limit, NULL);
}

struct fpstore *fpstore_init(void *mem, uint32_t limit)
{
	struct fpstore *s;

	SSD_ASSERT(mem);
	carve(mem, limit, &s);
	return s;
}

static uint32_t take(struct fpstore *s)
{
	uint32_t c = s->free;

	if (c == NONE)
		return s->untouched++;
	s->free = s->cand[c].older;
	return c;
}

/* ---- handles -------------------------------------------------------------- */

/* Returns the bucket of a number, by multiplicative hashing (Knuth, TAOCP 3, 6.4), which mixes the high bits best. */
static uint32_t bucket_of(const struct fpstore *s, uint32_t number)
{
	return (number * 0x9e3779b1u) >> (32 - s->bits);
}

/* Returns the link to the candidate with this handle, or the last link of the bucket. */
static uint32_t *handle_link(const struct fpstore *s, uint32_t handle)
{
	uint32_t *link = &s->handles[bucket_of(s, handle)];

	while (*link != NONE && s->cand[*link].handle != handle)
		link = &s->cand[*link].handle_next;
	return link;
}

/* ---- keys ----------------------------------------------------------------- */

/* Returns the link to the head of a key's group, or the last link of the bucket. */
static uint32_t *key_link(const struct fpstore *s, uint32_t place, uint32_t part)
{
	uint32_t *link = &s->keys[place][bucket_of(s, part)];

	while (*link != NONE && s->cand[*link].fp.part[place] != part)
		link = &s->cand[*link].key[place].chain;
	return link;
}

/* Make a candidate the head of its group at this place. */
static void join_group(struct fpstore *s, uint32_t c, uint32_t place)
{
	uint32_t *link = key_link(s, place, s->cand[c].fp.part[place]), head = *link;

	s->cand[c].key[place].newer = NONE;
	s->cand[c].key[place].older = head;
	s->cand[c].key[place].chain = NONE;
	if (head != NONE) {
		s->cand[c].key[place].chain = s->cand[head].key[place].chain;
		s->cand[head].key[place].newer = c;
	}
	*link = c;
}

static void leave_group(struct fpstore *s, uint32_t c, uint32_t place)
{
	uint32_t newer = s->cand[c].key[place].newer, older = s->cand[c].key[place].older;

	if (older != NONE)
		s->cand[older].key[place].newer = newer;
	if (newer != NONE) {
		s->cand[newer].key[place].older = older;
		return;
	}
	if (older != NONE)
		s->cand[older].key[place].chain = s->cand[c].key[place].chain;
	*key_link(s, place, s->cand[c].fp.part[place]) =
		older != NONE ? older : s->cand[c].key[place].chain;
}

static void join_groups(struct fpstore *s, uint32_t c)
{
	for (uint32_t place = 0; place < FP_PARTS; place++)
		join_group(s, c, place);
}

static void leave_groups(struct fpstore *s, uint32_t c)
{
	for (uint32_t place = 0; place < FP_PARTS; place++)
		leave_group(s, c, place);
}

/* ---- use ------------------------------------------------------------------ */

static void lru_add(struct fpstore *s, uint32_t c)
{
	s->cand[c].used = ++s->clock;
	s->cand[c].newer = NONE;
	s->cand[c].older = s->newest;
	if (s->newest != NONE)
		s->cand[s->newest].newer = c;
	else
		s->oldest = c;
	s->newest = c;
}

static void lru_remove(struct fpstore *s, uint32_t c)
{
	uint32_t newer = s->cand[c].newer, older = s->cand[c].older;

	*(newer != NONE ? &s->cand[newer].older : &s->newest) = older;
	*(older != NONE ? &s->cand[older].newer : &s->oldest) = newer;
}

/* Free the candidate at *link (of the table of handles). */
static void release(struct fpstore *s, uint32_t *link)
{
	uint32_t c = *link;

	*link = s->cand[c].handle_next;
	leave_groups(s, c);
	lru_remove(s, c);
	s->cand[c].older = s->free;
	s->free = c;
	s->count--;
}

bool fpstore_insert(struct fpstore *s, uint32_t handle, const struct fingerprint *fp,
		    uint32_t *evicted)
{
	bool full = s->count == s->max;
	uint32_t c, *bucket;

	SSD_ASSERT(*handle_link(s, handle) == NONE);
	if (full) {
		*evicted = s->cand[s->oldest].handle;
		release(s, handle_link(s, *evicted));
	}
	c = take(s);
	bucket = &s->handles[bucket_of(s, handle)];
	s->cand[c].fp = *fp;
	s->cand[c].handle = handle;
	s->cand[c].handle_next = *bucket;
	*bucket = c;
	lru_add(s, c);
	join_groups(s, c);
	s->count++;
	return full;
}

bool fpstore_touch(struct fpstore *s, uint32_t handle)
{
	uint32_t c = *handle_link(s, handle);

	if (c == NONE)
		return false;
	if (c == s->newest)
		return true;
	lru_remove(s, c);
	lru_add(s, c);
	leave_groups(s, c);
	join_groups(s, c);
	return true;
}

bool fpstore_remove(struct fpstore *s, uint32_t handle)
{
	uint32_t *link = handle_link(s, handle);

	if (*link == NONE)
		return false;
	release(s, link);
	return true;
}

uint32_t fpstore_candidates(const struct fpstore *s)
{
	return s->count;
}

static uint32_t matches_of(const struct fingerprint *a, const struct fingerprint *b)
{
	uint32_t matches = 0;

	for (uint32_t place = 0; place < FP_PARTS; place++)
		matches += a->part[place] == b->part[place];
	return matches;
}

uint32_t fpstore_find(const struct fpstore *s, const struct fingerprint *fp, uint32_t *handle)
{
	uint32_t best = NONE, most = 0;

	for (uint32_t place = 0; place < FP_PARTS; place++) {
		uint32_t c = *key_link(s, place, fp->part[place]);

		for (uint32_t i = 0; c != NONE && i < FPSTORE_SHARED; i++, c = s->cand[c].key[place].older) {
			uint32_t matches = matches_of(&s->cand[c].fp, fp);

			if (matches < most || (matches == most && s->cand[c].used <= s->cand[best].used))
				continue;
			best = c;
			most = matches;
			if (most == FP_PARTS)
				break;		/* further candidates of this group are older in all groups */
		}
		if (most == FP_PARTS)
			break;
	}
	if (most)
		*handle = s->cand[best].handle;
	return most;
}

/* ---- invariants ----------------------------------------------------------- */

static void check_group(const struct fpstore *s, uint32_t c, uint32_t place)
{
	uint32_t part = s->cand[c].fp.part[place];
	uint32_t newer = s->cand[c].key[place].newer, older = s->cand[c].key[place].older;

	if (newer == NONE)				/* FP4 */
		SSD_ASSERT(*key_link(s, place, part) == c);
	else
		SSD_ASSERT(s->cand[newer].key[place].older == c);
	if (older != NONE) {				/* FP3 */
		SSD_ASSERT(s->cand[older].key[place].newer == c);
		SSD_ASSERT(s->cand[older].fp.part[place] == part);
		SSD_ASSERT(s->cand[older].used < s->cand[c].used);
	}
}

/* Count the candidates in the table of handles, and the heads in the tables of keys. */
static void count_buckets(const struct fpstore *s, uint64_t *handles, uint64_t *heads)
{
	*handles = *heads = 0;
	for (uint32_t b = 0; b < 1u << s->bits; b++) {
		for (uint32_t c = s->handles[b]; c != NONE; c = s->cand[c].handle_next)
			++*handles;
		for (uint32_t place = 0; place < FP_PARTS; place++)
			for (uint32_t c = s->keys[place][b]; c != NONE; c = s->cand[c].key[place].chain)
				++*heads;
	}
}

void fpstore_check(const struct fpstore *s)
{
	uint64_t handles, heads, count = 0, firsts = 0;

	for (uint32_t c = s->newest; c != NONE; c = s->cand[c].older) {
		uint32_t older = s->cand[c].older;

		if (older == NONE)			/* FP1 */
			SSD_ASSERT(s->oldest == c);
		else
			SSD_ASSERT(s->cand[older].newer == c && s->cand[older].used < s->cand[c].used);
		SSD_ASSERT(*handle_link(s, s->cand[c].handle) == c);	/* FP2 */
		for (uint32_t place = 0; place < FP_PARTS; place++) {
			check_group(s, c, place);
			firsts += s->cand[c].key[place].newer == NONE;
		}
		count++;
	}
	count_buckets(s, &handles, &heads);
	SSD_ASSERT(count == s->count && count <= s->max && handles == count && heads == firsts);
}
