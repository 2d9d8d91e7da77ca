// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_shadow.c - compares shadow.c with a model that stores every version of a sector, and for
 * each read the versions that had completed when it was submitted. Requests are drawn at random and
 * end in any order. Run by tests/replay/test_content.py; test_shadow SEED replays one seed.
 */
#include <stdio.h>
#include <stdlib.h>

#include "replay.h"

#define SECTORS 5u
#define IN_FLIGHT 24u
#define STEPS 4000u
#define SEEDS 40u

struct version {
	uint64_t sector, hash;
	bool done;
};

struct flight {
	struct request q;
	bool used, write;
	uint32_t version;		/* of a write */
	uint32_t lower[SECTORS];	/* of a read: highest version completed when it was submitted */
};

static uint64_t state;
static struct version version[STEPS + 1];	/* by number, from 1 */
static uint32_t versions, newest[SECTORS], completed[SECTORS];
static struct flight flight[IN_FLIGHT];

static uint32_t draw(uint32_t n)	/* splitmix64 */
{
	uint64_t z = (state += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return (uint32_t)((z ^ (z >> 31)) % n);
}

static bool model_allows(uint64_t sector, uint32_t lower, uint64_t hash)
{
	for (uint32_t v = lower ? lower : 1; v <= versions; v++)
		if (version[v].sector == sector && version[v].hash == hash)
			return true;
	return false;
}

/*
 * Check the contents that every read in flight may return. There are only 7 contents, so that some
 * are equal.
 */
static bool agree(struct shadow *s)
{
	for (unsigned int i = 0; i < IN_FLIGHT; i++)
		for (uint64_t sector = 0; sector < SECTORS && flight[i].used && !flight[i].write; sector++)
			for (uint64_t hash = 0; hash < 8; hash++)
				if (shadow_allows(s, sector, newest[sector], flight[i].lower[sector], hash) !=
				    model_allows(sector, flight[i].lower[sector], hash))
					return false;
	return true;
}

static void submit(struct shadow *s, struct flight *f, uint64_t id)
{
	*f = (struct flight){ .q.id = id, .used = true, .write = draw(2) };
	if (f->write) {
		uint64_t sector = draw(SECTORS), hash = draw(7);

		f->version = ++versions;
		version[versions] = (struct version){ sector, hash, false };
		shadow_write(s, sector, newest[sector], versions, hash);
		newest[sector] = versions;
	} else {
		memcpy(f->lower, completed, sizeof(completed));
		shadow_read_begins(s, &f->q);
	}
}

static void end(struct shadow *s, struct flight *f, uint64_t next_id)
{
	uint64_t sector = version[f->version].sector;

	f->used = false;
	if (!f->write) {
		shadow_read_ends(s, &f->q);
	} else if (f->version > completed[sector] && draw(10)) {	/* else it failed */
		completed[sector] = f->version;
		shadow_completed(s, sector, f->version, next_id);
	}
}

static bool run(uint64_t seed)
{
	struct shadow *s = shadow_open(SECTORS);
	uint64_t id = 0;
	bool good = true;

	SSD_ASSERT(s);
	state = seed;
	versions = 0;
	memset(newest, 0, sizeof(newest));
	memset(completed, 0, sizeof(completed));
	memset(flight, 0, sizeof(flight));
	for (unsigned int step = 0; good && step < STEPS; step++) {
		struct flight *f = &flight[draw(IN_FLIGHT)];

		if (f->used)
			end(s, f, id);
		else
			submit(s, f, id++);
		good = agree(s);
		if (!good)
			printf("not ok seed %llu: step %u; test_shadow %llu\n", (unsigned long long)seed, step,
			       (unsigned long long)seed);
	}
	shadow_close(s);
	return good;
}

int main(int argc, char **argv)
{
	uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1, bad = 0;

	for (uint64_t seed = first; seed < first + (argc > 1 ? 1 : SEEDS); seed++)
		bad += !run(seed);
	if (!bad)
		printf("ok %u steps\n", STEPS * (argc > 1 ? 1 : SEEDS));
	return bad != 0;
}
