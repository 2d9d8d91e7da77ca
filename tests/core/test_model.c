// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test random reads, writes, trims and flushes, compared with the simplest model: an array of sector
 * tags. The FTL's own check() runs around every step.
 *
 * The oracle allows what ftl.h allows: a sector read while writes to it are in
 * flight may be any of their versions or the one before. A read that delivers no data for a sector
 * ends with SSD_E_UNCORR, and one of these versions is a write of lost content. Writes of parts of a
 * unit that may be lost are widened to whole units, so that each version is of the request alone.
 *
 *   test_model             every geometry and mode, OPS operations each
 *   test_model ID          one run; ID is what a failing run prints
 *   test_model -n OPS      OPS operations each
 *   test_model -f FTL ...  the same with an FTL that is not ours: with a buffer, units of a sector, nothing moved
 *
 * ID = geometry:mode:seed:ops.
 */
#include <signal.h>
#include <unistd.h>

#include "gc_policy.h"
#include "ftl.h"
#include "oob.h"
#include "page_ftl.h"
#include "test.h"
#include "words_only.h"

#define QUEUE 16
#define MAX_SECTORS 64

struct variant {
	const char *name;
	struct nand_geometry g;
	uint32_t unit;
	uint32_t capacity_units;	/* 0: as many as the FTL accepts */
	uint32_t map_cache_pages;
};

static const struct variant variants[] = {
	/* channels chips dies planes blocks pages page_bytes oob kept ecc pb erase */
	{ "one-die", { 1, 1, 1, 1, 16, 8, 4096, 64, 16, 4096, 0, 1, 1 }, 4096, 70 },
	{ "two-dies", { 1, 2, 1, 1, 14, 8, 4096, 64, 16, 4096, 0, 1, 1 }, 4096, 120 },
	{ "two-channels", { 2, 1, 1, 1, 14, 8, 4096, 64, 16, 4096, 0, 1, 1 }, 4096, 120 },
	{ "packed", { 2, 1, 1, 1, 12, 8, 8192, 64, 43, 8192, 0, 1, 1 }, 2048, 360 },
	{ "planes", { 2, 1, 1, 2, 12, 8, 4096, 64, 25, 4096, 0, 1, 1 }, 2048, 430 },
	{ "wide", { 2, 2, 1, 2, 10, 4, 2048, 64, 43, 2048, 0, 1, 1 }, 512, 540 },
	{ "limit", { 1, 1, 1, 1, 8, 8, 4096, 64, 25, 4096, 0, 1, 1 }, 2048, 0 },
	{ "limit of two", { 2, 1, 1, 1, 7, 6, 2048, 64, 43, 2048, 0, 1, 1 }, 512, 0 },
	{ "cached", { 1, 1, 1, 1, 92, 8, 512, 64, 16, 512, 0, 1, 1 }, 512, 640, 3 },
	{ "cached limit", { 2, 1, 1, 1, 56, 8, 512, 64, 16, 512, 0, 1, 1 }, 512, 0, 4 },
	{ "cached packed", { 1, 1, 1, 2, 60, 12, 1024, 64, 25, 1024, 0, 1, 1 }, 512, 2300, 7 },
};

struct mode {
	const char *name;
	enum ftl_gc_mode gc;
	uint32_t buffer_pages, slice;
	bool multiplane;
	bool moves;	/* wear is levelled, every 16th read requests relocation, reads are of 512-byte words */
};

static const struct mode modes[] = {
	{ "sliced", FTL_GC_SLICED, 4, 2, true },
	{ "blocking", FTL_GC_BLOCKING, 8, 1, true },
	{ "unbuffered", FTL_GC_SLICED, 0, 1, false },
	{ "moves", FTL_GC_SLICED, 4, 1, true, true },
};

struct request {
	struct ftl_io io;
	bool busy;
	uint64_t due_ns;
	uint64_t tag;
	uint8_t data[MAX_SECTORS * FTL_SECTOR_BYTES];
	uint64_t low[MAX_SECTORS];	/* READ: oldest tag allowed */
};

struct world {
	struct test_array ta;
	struct words_only only;		/* the view of the array that the FTL gets */
	struct ftl *f;
	void *mem;
	uint32_t sectors;
	uint64_t now_ns, next_ns;
	uint64_t tag;
	uint64_t *newest;		/* tag of the last submitted write or trim */
	uint64_t *settled;		/* tag of the last completed write or trim */
	bool *zero, *lost;		/* by tag: is it a trim, a write of lost content? (ring of all tags) */
	struct request req[QUEUE];
	uint32_t busy;
	uint64_t rng, fault_rng;
	uint64_t reads_checked, lost_seen;
};

static char id[128];
static const struct ftl_ops *ops_of;	/* the FTL under test */

static void on_abort(int sig)
{
	(void)sig;
	if (write(2, "replay: test_model ", 19) == 19 && write(2, id, strlen(id)) > 0)
		(void)!write(2, "\n", 1);
}

static void on_done(void *opaque, struct ftl_io *io)
{
	struct request *r = io->host;
	(void)opaque;
	r->due_ns = io->done_ns;
}

static void on_copy(void *opaque, struct ftl_io *io, uint64_t at, void *buf, size_t len)
{
	struct request *r = io->host;
	(void)opaque;
	test_copy(io, r->data + at, buf, len);
}

static void stamp(uint8_t *sector, uint32_t number, uint64_t tag)
{
	for (uint32_t i = 0; i < FTL_SECTOR_BYTES; i += 16) {
		uint64_t v[2] = { tag, number };

		memcpy(sector + i, v, 16);
	}
}

/* Returns the tag of a sector; 0 for zeroes. All words must agree with the sector's number. */
static uint64_t tag_of(const uint8_t *sector, uint32_t number)
{
	uint64_t v[2];

	for (uint32_t i = 0; i < FTL_SECTOR_BYTES; i += 16) {
		memcpy(v, sector + i, 16);
		SSD_ASSERT(!memcmp(sector, v, 16));
	}
	SSD_ASSERT(v[0] == 0 || v[1] == number);
	return v[0];
}

/* May a read return a version of sector s, low or newer, that is of this kind? */
static bool may_see(const struct world *w, const bool *kind, uint32_t s, uint64_t low)
{
	for (uint64_t t = low; t <= w->newest[s]; t++)
		if (kind[t])
			return true;
	return false;
}

static void check_read(struct world *w, struct request *r)
{
	bool lost = false;

	for (uint32_t i = 0; i < r->io.bytes / FTL_SECTOR_BYTES; i++) {
		uint32_t s = (uint32_t)(r->io.offset / FTL_SECTOR_BYTES) + i;
		uint64_t got;

		w->reads_checked++;
		if (test_unread(r->data + i * FTL_SECTOR_BYTES)) {
			SSD_ASSERT(may_see(w, w->lost, s, r->low[i]));
			w->lost_seen++;
			lost = true;
			continue;
		}
		got = tag_of(r->data + i * FTL_SECTOR_BYTES, s);
		if (got == 0)	/* never written, or a trim that the read may see */
			SSD_ASSERT(r->low[i] == 0 || may_see(w, w->zero, s, r->low[i]));
		else
			SSD_ASSERT(got >= r->low[i] && got <= w->tag && !w->zero[got] && !w->lost[got]);
	}
	SSD_ASSERT(r->io.status == (lost ? SSD_E_UNCORR : SSD_OK));
}

static void complete_due(struct world *w)
{
	for (uint32_t i = 0; i < QUEUE; i++) {
		struct request *r = &w->req[i];

		if (!r->busy || r->due_ns > w->now_ns)
			continue;
		r->busy = false;
		w->busy--;
		SSD_ASSERT(r->io.status == SSD_OK || r->io.op == FTL_READ);
		if (r->io.op == FTL_READ)
			check_read(w, r);
		if (r->io.op != FTL_WRITE && r->io.op != FTL_TRIM)
			continue;
		for (uint32_t k = 0; k < r->io.bytes / FTL_SECTOR_BYTES; k++) {
			uint64_t *s = &w->settled[r->io.offset / FTL_SECTOR_BYTES + k];

			if (r->tag > *s)
				*s = r->tag;
		}
	}
}

static void advance(struct world *w, uint64_t to_ns)
{
	for (;;) {
		uint64_t t = w->next_ns;

		for (uint32_t i = 0; i < QUEUE; i++)
			if (w->req[i].busy && w->req[i].due_ns < t)
				t = w->req[i].due_ns;
		if (t > to_ns || t == FTL_IDLE)
			break;
		if (t > w->now_ns)
			w->now_ns = t;
		complete_due(w);
		if (w->next_ns <= w->now_ns) {
			w->next_ns = w->f->ops->step(w->f, w->now_ns);
			w->f->ops->check(w->f);
		}
	}
	if (to_ns != FTL_IDLE && to_ns > w->now_ns)
		w->now_ns = to_ns;
}

/* Is the newest version of the unit that sector s is in lost? */
static bool is_lost(const struct world *w, uint32_t s, uint32_t per)
{
	return w->lost[w->newest[s - s % per]];
}

/* Widen a request to whole units. The drive's capacity is a multiple of them. */
static void widen(uint32_t *at, uint32_t *sectors, uint32_t per)
{
	*sectors += *at % per;
	*at -= *at % per;
	*sectors = (*sectors + per - 1) / per * per;
}

/* The model orders a sector's writes by tag, so a trim covers whole units only. */
static void submit(struct world *w, struct request *r, enum ftl_op op, uint32_t unit)
{
	uint32_t sectors = 1 + (uint32_t)(rnd(&w->rng) % MAX_SECTORS);
	uint32_t at = (uint32_t)(rnd(&w->rng) % w->sectors), per = unit / FTL_SECTOR_BYTES;
	bool lost;

	if (rnd(&w->rng) % 3 == 0)
		at = (uint32_t)(rnd(&w->rng) % (w->sectors / 8 + 1));	/* hot */
	if (rnd(&w->rng) % 2)
		sectors = 1 + sectors % 9;
	if (op == FTL_TRIM) {
		at -= at % per;
		sectors = (1 + sectors % 5) * per;
	}
	if (at + sectors > w->sectors)
		sectors = w->sectors - at;
	if (sectors > MAX_SECTORS - 2 * per)
		sectors = MAX_SECTORS - 2 * per;
	lost = op == FTL_WRITE && ops_of->writes_lost && rnd(&w->rng) % 16 == 0;
	if (!ops_of->loses_sectors &&
	    (lost || (op == FTL_WRITE && (is_lost(w, at, per) || is_lost(w, at + sectors - 1, per)))))
		widen(&at, &sectors, per);
	r->io = (struct ftl_io){ .op = op, .host = r, .offset = (uint64_t)at * FTL_SECTOR_BYTES,
				 .bytes = (uint64_t)sectors * FTL_SECTOR_BYTES,
				 .fua = rnd(&w->rng) % 16 == 0, .lost = lost };
	r->busy = true;
	r->due_ns = FTL_IDLE;
	w->busy++;
	if (op == FTL_WRITE || op == FTL_TRIM) {
		r->tag = ++w->tag;
		w->zero[r->tag] = op == FTL_TRIM;
		w->lost[r->tag] = lost;
		for (uint32_t i = 0; i < sectors; i++) {
			w->newest[at + i] = r->tag;
			stamp(r->data + i * FTL_SECTOR_BYTES, at + i, r->tag);
		}
	} else if (op == FTL_READ) {
		memset(r->data, TEST_UNREAD, sectors * FTL_SECTOR_BYTES);
		for (uint32_t i = 0; i < sectors; i++)
			r->low[i] = w->settled[at + i];
	}
	w->f->ops->submit(w->f, w->now_ns, &r->io);
	w->f->ops->check(w->f);
	w->next_ns = w->f->ops->step(w->f, w->now_ns);
}

static enum ftl_op pick_op(struct world *w)
{
	uint64_t dice = rnd(&w->rng) % 100;

	return dice < 45 ? FTL_WRITE : dice < 85 ? FTL_READ : dice < 95 ? FTL_TRIM : FTL_FLUSH;
}

static enum nand_status on_fault(void *opaque, const struct nand_cmd *c)
{
	struct world *w = opaque;

	return c->op == NAND_READ && rnd(&w->fault_rng) % 16 == 0 ? NAND_CORRECTED : NAND_OK;
}

static void world_make(struct world *w, const struct variant *v, const struct mode *m, uint64_t ops)
{
	struct nand_array_config c = { .geo = v->g, .timing = { 100, { 50000 }, { 200000 }, { 1000000 }, 1000 } };
	uint32_t upp = v->g.page_bytes / v->unit;
	struct ftl_config fc = {
		.capacity_bytes = (uint64_t)v->capacity_units * v->unit, .unit_bytes = v->unit,
		.buffer_units = m->buffer_pages * upp, .gc_start_blocks = 3, .gc_stop_blocks = 4,
		.gc_urgent_blocks = 2, .gc_mode = m->gc, .gc_slice_pages = m->slice,
		.multiplane = m->multiplane, .payload = true, .map_ns = 200, .buffer_ns = 2000,
		.overhead_ns = 1000, .max_unit_reads = 8, .gc_policy = &gc_greedy,
		.map_cache_pages = v->map_cache_pages,
		.wl_threshold = m->moves ? 2 : 0, .relocate = true,
		.gc_subpage_reads = FTL_WORDS_AUTO, .host_subpage_reads = FTL_WORDS_AUTO,
	};
	struct nand_hooks hooks = { .opaque = w, .fault = on_fault };
	struct ftl_host host = { on_done, on_copy, w };
	const char *why;
	size_t len;

	c.geo.oob_kept = OOB_BYTES(upp);
	c.payload = true;
	if (m->moves) {
		c.geo.subpage = NAND_SUBPAGE_SPREAD;
		c.geo.ecc_word_bytes = 512;
		c.timing.subread_base_ns = 10000;
	}
	test_array_make(&w->ta, &c);
	w->fault_rng = 1;
	if (m->moves)
		nand_array_set_hooks(w->ta.a, &hooks);
	if (!v->capacity_units) {	/* a map smaller than its cache is refused, too */
		fc.capacity_bytes = (uint64_t)v->map_cache_pages * v->g.page_bytes / 4 * v->unit;
		do
			fc.capacity_bytes += v->unit;
		while (!ftl_validate(ops_of, &fc, &c.geo, &why));
		fc.capacity_bytes -= v->unit;
	}
	if (ftl_validate(ops_of, &fc, &c.geo, &why)) {
		printf("%s: %s\n", v->name, why);
		exit(1);
	}
	len = ftl_footprint(ops_of, &fc, &c.geo);
	w->mem = calloc(1, len);
	SSD_ASSERT(ftl_init(ops_of, w->mem, len, &fc, words_only_make(&w->only, w->ta.n), &host, &w->f) == SSD_OK);
	if (v->map_cache_pages)
		((struct page_ftl *)(void *)w->f)->cache.ckpt.period = 40;
	SSD_ASSERT(w->f->ops->mount(w->f, 0, &w->now_ns) == SSD_OK);
	w->sectors = (uint32_t)(fc.capacity_bytes / FTL_SECTOR_BYTES);
	w->newest = calloc(w->sectors, sizeof(*w->newest));
	w->settled = calloc(w->sectors, sizeof(*w->settled));
	w->zero = calloc(ops + 2, sizeof(*w->zero));
	w->lost = calloc(ops + 2, sizeof(*w->lost));
	w->next_ns = FTL_IDLE;
}

static void run(uint32_t vi, uint32_t mi, uint64_t seed, uint64_t ops)
{
	struct world *w = calloc(1, sizeof(*w));
	struct nand_stats ns;

	snprintf(id, sizeof(id), "-f %s %u:%u:%" PRIu64 ":%" PRIu64, ops_of->name, vi, mi, seed, ops);
	world_make(w, &variants[vi], &modes[mi], ops);
	w->rng = seed * 0x9e3779b97f4a7c15u + 1;
	for (uint64_t i = 0; i < ops; i++) {
		struct request *r;

		while (w->busy == QUEUE)
			advance(w, w->now_ns + 20000);
		for (r = w->req; r->busy; r++)
			;
		submit(w, r, pick_op(w), variants[vi].unit);
		if (rnd(&w->rng) % 4 == 0)
			advance(w, w->now_ns + rnd(&w->rng) % 400000);
	}
	advance(w, FTL_IDLE);
	SSD_ASSERT(!w->busy && !w->f->ops->inflight(w->f));
	w->ta.n->ops->get_stats(w->ta.n, &ns);
	for (unsigned int i = 0; i < NAND_NRULES; i++)
		SSD_ASSERT(ns.violations[i] == 0);
	if (modes[mi].moves && ops >= 3000)
		SSD_ASSERT(w->f->ops->stats(w->f)->wl_runs && w->f->ops->stats(w->f)->relocations);
	if (ops >= 3000)
		SSD_ASSERT(!ops_of->writes_lost == !w->lost_seen);
	printf("# %" PRIu64 " ops, %" PRIu64 " sectors read right, %" PRIu64 " of them lost, %" PRIu64 " erases, %"
	       PRIu64 " units moved\n", ops, w->reads_checked, w->lost_seen,
	       ns.ops[NAND_ERASE][NAND_SRC_GC], w->f->ops->stats(w->f)->gc_units);
	words_only_free(&w->only);
	test_array_free(&w->ta);
	free(w->mem);
	free(w->newest);
	free(w->settled);
	free(w->zero);
	free(w->lost);
	free(w);
}

static const char *name_of(uint32_t vi, uint32_t mi)
{
	static char name[64];

	snprintf(name, sizeof(name), "%s/%s", variants[vi].name, modes[mi].name);
	return name;
}

static bool is_for(const struct variant *v, const struct mode *m)
{
	return ops_of == ftl_list[0] ||
	       (v->unit == FTL_SECTOR_BYTES && m->buffer_pages && !m->moves && !v->map_cache_pages);
}

int main(int argc, char **argv)
{
	uint64_t ops = 100000, seed;
	uint32_t v, m;

	signal(SIGABRT, on_abort);
	ops_of = ftl_list[0];
	if (argc >= 3 && !strcmp(argv[1], "-f")) {
		size_t i = 0;

		while (ftl_list[i] && strcmp(ftl_list[i]->name, argv[2]))
			i++;
		if (!ftl_list[i]) {
			printf("no FTL is named %s\n", argv[2]);
			return 2;
		}
		ops_of = ftl_list[i];
		argc -= 2;
		argv += 2;
	}
	if (argc == 2 && sscanf(argv[1], "%u:%u:%" SCNu64 ":%" SCNu64, &v, &m, &seed, &ops) == 4) {
		run(v, m, seed, ops);
		return 0;
	}
	if (argc == 3 && !strcmp(argv[1], "-n"))
		ops = test_times((uint32_t)strtoul(argv[2], NULL, 10));
	for (v = 0; v < sizeof(variants) / sizeof(variants[0]); v++)
		for (m = 0; m < sizeof(modes) / sizeof(modes[0]); m++)
			if (is_for(&variants[v], &modes[m]))
				RUN_AS(name_of(v, m), run(v, m, 1, ops));
	return test_result();
}
