// SPDX-License-Identifier: GPL-2.0-or-later
/* direct_rig.c - see direct_rig.h */
#include <signal.h>
#include <unistd.h>

#include "controller.h"
#include "direct_rig.h"

bool rig_protect;

char rig_id[256];
static const char *program_name;

static void on_abort(int sig)
{
	(void)sig;
	fflush(stdout);
	if (write(2, "replay: ", 8) == 8 && write(2, program_name, strlen(program_name)) > 0 &&
	    write(2, " ", 1) == 1 && write(2, rig_id, strlen(rig_id)) > 0)
		(void)!write(2, "\n", 1);
}

void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static void on_death(void)
{
	on_abort(0);
}

void rig_replay_hint(const char *program)
{
	program_name = program;
	signal(SIGABRT, on_abort);
	if (__sanitizer_set_death_callback)
		__sanitizer_set_death_callback(on_death);
}

/* ---- the drive ------------------------------------------------------------- */

static const struct ftl_ops *ops_of(const char *name)
{
	for (size_t i = 0; ftl_list[i]; i++)
		if (!strcmp(ftl_list[i]->name, name))
			return ftl_list[i];
	printf("no FTL is named %s\n", name);
	exit(1);
}

static struct rig_io *request_of(struct rig *r, struct ftl_io *io)
{
	return io == &r->all.io ? &r->all : io->host;
}

static void on_done(void *opaque, struct ftl_io *io)
{
	struct rig *r = opaque;
	struct rig_io *q = request_of(r, io);

	SSD_ASSERT(!q->reported);
	q->reported = true;
	SSD_ASSERT(io->done_ns >= r->now_ns);
	if (io->status == SSD_OK)
		return;
	if (io->op == FTL_READ) {
		SSD_ASSERT((r->may_lose || r->ops->writes_lost) && io->status == SSD_E_UNCORR);
		r->lost += r->may_lose;
		return;
	}
	SSD_ASSERT(r->may_fail && (io->status == SSD_E_NOSPC || io->status == SSD_E_WORNOUT));
	r->refused++;
}

static void on_copy(void *opaque, struct ftl_io *io, uint64_t at, void *buf, size_t len)
{
	uint8_t *data = request_of(opaque, io)->data;

	test_copy(io, data + at, buf, len);
}

static void configure(struct rig *r, const struct rig_shape *s)
{
	struct nand_timing *t = &r->ac.timing;
	struct ftl_config *c = &r->fc;

	*t = (struct nand_timing){ .cmd_ns = 100, .read_ns = { 5000, 6000, 7000 },
				   .program_ns = { 20000, 25000, 30000 }, .bus_ps_per_byte = 1000 };
	for (uint32_t i = 0; i <= s->g.pb_levels; i++)
		t->erase_ns[i] = 70000 - 5000 * i;
	r->ac.geo = s->g;
	r->ac.payload = true;
	r->ac.physics.disturb_tolerance = s->tolerance;
	*c = (struct ftl_config){
		.unit_bytes = s->unit_bytes ? s->unit_bytes : s->g.page_bytes,
		.gc_start_blocks = s->start, .gc_stop_blocks = s->start,
		.gc_urgent_blocks = s->urgent, .gc_mode = s->mode, .gc_slice_pages = s->slice ? s->slice : 2,
		.payload = true, .map_ns = 10, .overhead_ns = 10, .max_unit_reads = 16,
		.gc_copyback = s->copyback, .parallel_erase = s->parallel_erase, .pen = s->pen,
		.pen_merges_max = s->merges_max ? s->merges_max : 16, .spare_search = s->search,
		.merge_victim = s->victim, .write_buffer_blocks = s->wbuf, .read_priority = !s->in_order,
		.second_victim_pages = s->second, .pair_pages = s->both ? s->both : 131072,
		.superblock_blocks = s->m, .superblock_max_blocks = s->n,
		.superblock_cold = s->cold, .superblock_map_parts = s->parts,
		.stripe_pages = s->stripe, .accounting = s->accounting, .timing = *t,
		.buffer_units = s->buffer, .buffer_ns = s->buffer ? 10 : 0, .reduction = s->reduction,
		.fingerprints_permille = s->prints ? s->prints : 1000,
		.frontiers = s->frontiers, .active_blocks = s->active, .fast_above_permille = 800,
		.slow_below_permille = 100, .quota_permille = s->quota ? s->quota : 50,
		.idle_gc_permille = s->idle_permille, .idle_gc_ns = s->idle_ns,
		.reference_bytes = s->references, .hash_ns = s->hash_ns,
		.compress_ns = s->compress_ns, .decompress_ns = s->decompress_ns,
		.disturb_tolerance = s->believed ? s->believed : s->tolerance,
		.cores = s->cache ? 2 : 0, .read_cache_units = s->cache, .read_ahead_units = s->cache / 2,
	};
	c->power_protected = rig_protect;
}

static bool accepts(struct rig *r, uint32_t units, const char **why)
{
	r->fc.capacity_bytes = (uint64_t)units * r->fc.unit_bytes;
	return ftl_validate(r->ops, &r->fc, &r->ac.geo, why) == SSD_OK;
}

uint32_t rig_largest(const struct rig_shape *s)
{
	static struct rig r;
	uint32_t units = (uint32_t)geo_pages(&s->g) * (s->unit_bytes ? s->g.page_bytes / s->unit_bytes : 1);
	const char *why = "";

	memset(&r, 0, sizeof(r));
	r.ops = ops_of(s->ftl);
	configure(&r, s);
	r.ac.geo.oob_kept = ftl_oob_bytes(r.ops, &r.fc, &s->g);
	if (nand_array_validate(&r.ac, &why) != SSD_OK)
		return 0;
	while (units && !accepts(&r, units, &why))
		units--;
	return units;
}

static void choose_capacity(struct rig *r)
{
	uint32_t units = r->shape->units ? r->shape->units : rig_largest(r->shape);
	const char *why = "";

	if (!accepts(r, units, &why)) {
		printf("%s: %s\n", r->shape->name, why);
		exit(1);
	}
	r->per = r->fc.unit_bytes / FTL_SECTOR_BYTES;
	r->sectors = units * r->per;
	SSD_ASSERT(units <= RIG_UNITS && r->per <= RIG_PER_UNIT);
}

void rig_make(struct rig *r, const struct rig_shape *s)
{
	struct nand_hooks hooks = { .violation = test_violation };

	memset(r, 0, sizeof(*r));
	r->shape = s;
	r->ops = ops_of(s->ftl);
	configure(r, s);
	choose_capacity(r);
	r->ac.geo.oob_kept = ftl_oob_bytes(r->ops, &r->fc, &r->ac.geo);
	test_array_make(&r->ta, &r->ac);
	nand_array_set_hooks(r->ta.a, &hooks);
	r->len = controller_footprint(r->ops, &r->fc, &r->ac.geo);
	r->mem = malloc(r->len);
	for (uint32_t i = 0; i < RIG_IOS; i++)
		r->io[i].data = malloc(r->fc.capacity_bytes);
	r->all.data = malloc(r->fc.capacity_bytes);
}

void rig_free(struct rig *r)
{
	test_array_free(&r->ta);
	free(r->mem);
	for (uint32_t i = 0; i < RIG_IOS; i++)
		free(r->io[i].data);
	free(r->all.data);
}

int rig_mount(struct rig *r)
{
	struct ftl_host host = { on_done, on_copy, r };
	int err;

	memset(r->mem, 0, r->len);
	for (uint32_t i = 0; i < RIG_IOS; i++)
		r->io[i].busy = false;
	r->busy = 0;
	r->now_ns = 0;
	SSD_ASSERT(controller_init(r->ops, r->mem, r->len, &r->fc, r->ta.n, &host, &r->f) == SSD_OK);
	err = r->f->ops->mount(r->f, 0, &r->now_ns);
	if (err)
		return err;
	r->f->ops->check(r->f);
	r->next_ns = r->f->ops->step(r->f, r->now_ns);
	return SSD_OK;
}

int rig_again(struct rig *r)
{
	nand_array_power_cut(r->ta.a, r->now_ns, 1);
	nand_array_power_on(r->ta.a);
	return rig_mount(r);
}

/* ---- content ---------------------------------------------------------------- */

/*
 * Make sector `place` of content `tag` of the pool: a sector of its family's page, with a few bytes
 * changed in one place of the page. Families are random bytes, text, a mixture of both, and zeroes.
 */
static void pool_sector(const struct rig *r, uint8_t *at, uint32_t place, uint32_t tag)
{
	uint32_t family = tag % r->shape->pool, variant = tag / r->shape->pool;
	uint64_t seed = (family + 1) * 0x9e3779b97f4a7c15u ^ (place + 1) * 0xbf58476d1ce4e5b9u;
	uint64_t own = variant * 0x9e3779b97f4a7c15u + 1;

	for (uint32_t i = 0; i < FTL_SECTOR_BYTES; i++)
		at[i] = family % 4 == 0 ? (uint8_t)rnd(&seed) : family % 4 == 1 ? (uint8_t)"slate"[i % 5] :
			family % 4 == 2 ? (uint8_t)(i % 16 ? 'a' + i % 3 : rnd(&seed)) : 0;
	if (variant && rnd(&own) % r->per == place)
		for (uint32_t i = 0; i < 4; i++)
			at[rnd(&own) % FTL_SECTOR_BYTES] ^= (uint8_t)(variant * 7 + i + 1);
}

static uint32_t hash_of(const uint8_t *at)
{
	uint64_t h = 0, zero = 0;

	for (uint32_t i = 0; i < FTL_SECTOR_BYTES; i += 8) {
		uint64_t v;

		memcpy(&v, at + i, 8);
		zero |= v;
		h = (h ^ v) * 0x9e3779b97f4a7c15u;
		h ^= h >> 29;
	}
	return zero ? (uint32_t)h | 1 : 0;
}

/*
 * Returns what tag_of() returns for a sector at this place of a unit that was written with this
 * tag.
 */
static uint32_t sector_tag(const struct rig *r, uint32_t place, uint32_t tag)
{
	uint8_t data[FTL_SECTOR_BYTES];

	if (!r->shape->pool || tag == RIG_LOST)
		return tag;
	pool_sector(r, data, place, tag);
	return hash_of(data);
}

static void stamp(const struct rig *r, uint8_t *at, uint32_t sector, uint32_t tag)
{
	if (r->shape->pool) {
		pool_sector(r, at, sector % r->per, tag);
		return;
	}
	for (uint32_t i = 0; i < FTL_SECTOR_BYTES; i += 8) {
		uint64_t v = (uint64_t)tag << 32 | sector;

		memcpy(at + i, &v, 8);
	}
}

static uint32_t tag_of(const struct rig *r, const uint8_t *at, uint32_t sector)
{
	uint64_t v;

	if (test_unread(at))
		return RIG_LOST;
	if (r->shape->pool)
		return hash_of(at);
	memcpy(&v, at, 8);
	SSD_ASSERT(!memcmp(at, at + 8, FTL_SECTOR_BYTES - 8));	/* all words are equal */
	SSD_ASSERT(!v || (uint32_t)v == sector);		/* the sector is at its own place */
	return (uint32_t)(v >> 32);
}

/* Is `saw` a possible content of sectors [from, to) of a unit after low or more changes? */
static bool allowed(const struct rig *r, uint32_t unit, const uint32_t *saw, uint32_t from,
		    uint32_t to, uint32_t low)
{
	const struct rig_unit *u = &r->unit[unit];
	uint32_t state[RIG_PER_UNIT];

	memcpy(state, r->base + unit * r->per, r->per * sizeof(*state));
	for (uint32_t i = 0;; i++) {
		if (i >= low && !memcmp(state + from, saw, (to - from) * sizeof(*state)))
			return true;
		if (i == u->changes)
			return false;
		if (state[0] == RIG_LOST && u->change[i].count < r->per)
			continue;
		for (uint32_t k = 0; k < u->change[i].count; k++)
			state[u->change[i].first + k] = sector_tag(r, u->change[i].first + k, u->change[i].tag);
	}
}

static void complain(const struct rig *r, uint32_t unit, const uint32_t *saw, uint32_t low)
{
	const struct rig_unit *u = &r->unit[unit];

	printf("%s: unit %u of %u holds", r->shape->name, unit, r->sectors / r->per);
	for (uint32_t i = 0; i < r->per; i++)
		printf(" %u", saw[i]);
	printf("; base");
	for (uint32_t i = 0; i < r->per; i++)
		printf(" %u", r->base[unit * r->per + i]);
	printf("; %u changes, %u certain:", u->changes, low);
	for (uint32_t i = 0; i < u->changes; i++)
		printf(" %u+%u=%u(%u)", u->change[i].first, u->change[i].count, u->change[i].tag,
		       sector_tag(r, u->change[i].first, u->change[i].tag));
	printf("\n");
}

static void check_read(struct rig *r, const struct rig_io *q)
{
	uint32_t at = (uint32_t)(q->io.offset / FTL_SECTOR_BYTES);
	uint32_t end = at + (uint32_t)(q->io.bytes / FTL_SECTOR_BYTES), begin = at;
	bool lost = false;

	while (at < end) {
		uint32_t unit = at / r->per, from = at % r->per, saw[RIG_PER_UNIT];
		uint32_t to = end - at < r->per - from ? from + end - at : r->per;

		for (uint32_t i = from; i < to; i++, at++)
			saw[i - from] = tag_of(r, q->data + (at - begin) * FTL_SECTOR_BYTES, at);
		lost |= saw[0] == RIG_LOST;
		if (!allowed(r, unit, saw, from, to, q->mark[unit])) {
			complain(r, unit, saw, q->mark[unit]);
			SSD_ASSERT(!"a read saw what was never there");
		}
		r->reads_checked++;
	}
	SSD_ASSERT(lost == (q->io.status == SSD_E_UNCORR));
}

/* ---- requests ---------------------------------------------------------------- */

/* A trim changes something only if the FTL promises FTL_PREFIX. */
static bool changes_units(const struct rig *r, enum ftl_op op)
{
	return op == FTL_WRITE || (op == FTL_TRIM && r->ops->durability == FTL_PREFIX);
}

static bool touches(const struct rig *r, const struct rig_io *q, uint32_t unit)
{
	uint64_t begin = (uint64_t)unit * r->fc.unit_bytes;

	return q->io.bytes && begin < q->io.offset + q->io.bytes &&
	       begin + r->fc.unit_bytes > q->io.offset;
}

static void complete(struct rig *r, struct rig_io *q)
{
	uint32_t per = r->per, at = (uint32_t)(q->io.offset / FTL_SECTOR_BYTES);
	uint32_t end = at + (uint32_t)(q->io.bytes / FTL_SECTOR_BYTES);

	q->busy = false;
	r->busy--;
	if (q->io.status != SSD_OK && (q->io.op != FTL_READ || r->may_lose))
		return;
	if (q->io.op == FTL_READ)
		check_read(r, q);
	if (q->io.op == FTL_FLUSH || (q->io.op == FTL_WRITE && q->io.fua))
		for (uint32_t u = 0; u * per < r->sectors; u++)
			if (q->mark[u] > r->unit[u].flushed && (q->io.op == FTL_FLUSH || touches(r, q, u)))
				r->unit[u].flushed = q->mark[u];
	if (!changes_units(r, q->io.op) || r->fc.accounting == FTL_ACCOUNT_SSDSIM)
		return;
	for (uint32_t unit = at / per; unit * per < end; unit++)
		if (q->mark[unit] > r->unit[unit].settled)
			r->unit[unit].settled = q->mark[unit];
}

static void complete_due(struct rig *r)
{
	for (uint32_t i = 0; i < RIG_IOS; i++) {
		struct rig_io *q = &r->io[i];

		if (q->busy && q->reported && q->io.done_ns <= r->now_ns)
			complete(r, q);
	}
}

void rig_pass(struct rig *r, uint64_t at_ns)
{
	if (at_ns > r->now_ns)
		r->now_ns = at_ns;
	complete_due(r);
	r->next_ns = r->f->ops->step(r->f, r->now_ns);
	r->f->ops->check(r->f);
	complete_due(r);
}

static void step(struct rig *r)
{
	uint64_t at = r->next_ns;

	for (uint32_t i = 0; i < RIG_IOS; i++)
		if (r->io[i].busy && r->io[i].reported && r->io[i].io.done_ns < at)
			at = r->io[i].io.done_ns;
	SSD_ASSERT(at != FTL_IDLE);
	if (!r->moment || !r->moment(r, at))
		rig_pass(r, at);
}

static void remember(struct rig *r, struct rig_io *q, uint32_t at, uint32_t count)
{
	while (count) {
		uint32_t unit = at / r->per, first = at % r->per;
		uint32_t n = r->per - first < count ? r->per - first : count;
		struct rig_unit *u = &r->unit[unit];

		SSD_ASSERT(u->changes < RIG_HISTORY);
		u->change[u->changes++] = (struct rig_change){ (uint8_t)first, (uint8_t)n, q->tag };
		q->mark[unit] = u->changes;
		at += n;
		count -= n;
	}
}

static void submit(struct rig *r, struct rig_io *q, enum ftl_op op, uint32_t at, uint32_t count, bool lost)
{
	q->io = (struct ftl_io){ .op = op, .host = q, .fua = rnd(&r->rng) % 8 == 0, .lost = lost,
				 .offset = (uint64_t)at * FTL_SECTOR_BYTES,
				 .bytes = (uint64_t)count * FTL_SECTOR_BYTES };
	q->busy = true;
	q->reported = false;
	r->busy++;
	if (op == FTL_WRITE) {
		q->tag = ++r->tag;
		if (r->shape->pool)
			q->tag = (uint32_t)(rnd(&r->rng) % (r->shape->pool * (rnd(&r->rng) % 4 ? 3 : 60)));
		if (lost)
			q->tag = RIG_LOST;
		for (uint32_t i = 0; i < count && !lost; i++)
			stamp(r, q->data + i * FTL_SECTOR_BYTES, at + i, q->tag);
		remember(r, q, at, count);
	} else if (changes_units(r, op)) {
		q->tag = 0;			/* zeroes; this FTL maps sectors, so every sector is a whole unit */
		SSD_ASSERT(r->per == 1);
		remember(r, q, at, count);
	} else if (op == FTL_READ) {
		memset(q->data, TEST_UNREAD, q->io.bytes);
		for (uint32_t u = at / r->per; u * r->per < at + count; u++)
			q->mark[u] = r->unit[u].settled;
	} else if (op == FTL_FLUSH) {
		for (uint32_t u = 0; u * r->per < r->sectors; u++)
			q->mark[u] = r->may_fail ? r->unit[u].settled : r->unit[u].changes;
	}
	r->f->ops->submit(r->f, r->now_ns, &q->io);
	r->f->ops->check(r->f);
	r->next_ns = r->f->ops->step(r->f, r->now_ns);
	while (r->moment && r->moment(r, r->now_ns))
		;
}

static void submit_random(struct rig *r, struct rig_io *q)
{
	uint64_t dice = rnd(&r->rng) % 100;
	enum ftl_op op = dice < 70 ? FTL_WRITE : dice < 90 ? FTL_READ : dice < 95 ? FTL_TRIM : FTL_FLUSH;
	uint32_t units = r->sectors / r->per, unit = (uint32_t)(rnd(&r->rng) % units), at, count;
	bool lost = op == FTL_WRITE && r->ops->writes_lost && !r->may_lose && rnd(&r->rng) % 16 == 0;

	if (r->shape->hot && rnd(&r->rng) % 3)
		unit %= r->shape->hot;
	at = unit * r->per;
	count = r->per;
	if (lost) {
		count *= 1 + (uint32_t)(rnd(&r->rng) % 3);
	} else if (rnd(&r->rng) % 2) {	/* parts of units, or several units */
		at += (uint32_t)(rnd(&r->rng) % r->per);
		count = 1 + (uint32_t)(rnd(&r->rng) % (3 * r->per));
	}
	if (op == FTL_TRIM && rnd(&r->rng) % 2)
		count = r->sectors;
	if (count > r->sectors - at)
		count = r->sectors - at;
	submit(r, q, op, at, count, lost);
}

static bool history_full(const struct rig *r)
{
	for (uint32_t u = 0; u * r->per < r->sectors; u++)
		if (r->unit[u].changes + RIG_IOS >= RIG_HISTORY)
			return true;
	return false;
}

const struct ftl_stats *rig_start(struct rig *r, const struct rig_shape *s)
{
	rig_make(r, s);
	r->rng = 1;
	SSD_ASSERT(rig_mount(r) == SSD_OK);
	return r->f->ops->stats(r->f);
}

uint64_t rig_alone(struct rig *r, enum ftl_op op, uint32_t unit, uint32_t units)
{
	static uint8_t data[64 * 1024];
	struct rig_io *q = &r->all;
	uint8_t *kept = q->data;
	uint64_t ns;

	q->io = (struct ftl_io){ .op = op, .offset = unit * 1024ull, .bytes = units * 1024ull };
	q->reported = false;
	q->data = data;
	r->f->ops->submit(r->f, r->now_ns, &q->io);
	r->f->ops->check(r->f);
	for (r->next_ns = r->f->ops->step(r->f, r->now_ns); r->next_ns != FTL_IDLE;
	     r->next_ns = r->f->ops->step(r->f, r->now_ns)) {
		r->now_ns = r->next_ns;
		r->f->ops->check(r->f);
	}
	q->data = kept;
	ns = q->io.done_ns - q->io.submit_ns;
	EXPECT(q->reported);
	EXPECT_EQ(ftl_breakdown_sum(&q->io.where), ns);
	if (q->io.done_ns > r->now_ns)
		r->now_ns = q->io.done_ns;
	return ns;
}

void rig_work(struct rig *r, uint32_t requests)
{
	while (requests) {
		struct rig_io *q = r->io;

		complete_due(r);
		while (q < r->io + RIG_IOS && q->busy)
			q++;
		if (history_full(r)) {
			rig_drain(r);
			rig_powered(r);
			rig_read_all(r);
			rig_verify(r, r);
			rig_begin_history(r);
		} else if (q < r->io + RIG_IOS && rnd(&r->rng) % 3) {
			submit_random(r, q);
			requests--;
		} else if (r->busy || r->next_ns != FTL_IDLE) {
			step(r);
		}
	}
}

void rig_drain(struct rig *r)
{
	for (complete_due(r); r->busy; complete_due(r))
		step(r);
}

enum ssd_err rig_write(struct rig *r, uint32_t sector, uint32_t count)
{
	struct rig_io *q = r->io;

	while (q->busy)
		q++;
	submit(r, q, FTL_WRITE, sector, count, false);
	rig_drain(r);
	return q->io.status;
}

/* ---- everything ---------------------------------------------------------------- */

void rig_read_all(struct rig *r)
{
	struct rig_io *q = &r->all;

	for (uint32_t unit = 0; unit * r->per < r->sectors; unit++) {
		q->io = (struct ftl_io){ .op = FTL_READ, .offset = (uint64_t)unit * r->fc.unit_bytes,
					 .bytes = r->fc.unit_bytes };
		q->reported = false;
		r->f->ops->submit(r->f, r->now_ns, &q->io);
		for (r->next_ns = r->f->ops->step(r->f, r->now_ns); !q->reported;
		     r->next_ns = r->f->ops->step(r->f, r->now_ns)) {
			SSD_ASSERT(r->next_ns != FTL_IDLE);
			r->now_ns = r->next_ns;
		}
		for (uint32_t i = 0; i < r->per; i++)
			r->found[unit * r->per + i] = q->io.status != SSD_OK ? RIG_LOST :
				tag_of(r, q->data + i * FTL_SECTOR_BYTES, unit * r->per + i);
	}
}

void rig_verify(struct rig *r, const struct rig *host)
{
	for (uint32_t unit = 0; unit * r->per < r->sectors; unit++) {
		const uint32_t *saw = r->found + unit * r->per;

		bool flushed = r->ops->durability != FTL_WRITE_THROUGH && !host->fc.power_protected;
		uint32_t low = flushed ? host->unit[unit].flushed : host->unit[unit].settled;

		if (!(r->may_lose && *saw == RIG_LOST) && !allowed(host, unit, saw, 0, r->per, low)) {
			complain(host, unit, saw, low);
			SSD_ASSERT(!"not what a drive of its kind may hold");
		}
	}
	r->f->ops->check(r->f);
}

void rig_powered(struct rig *r)
{
	for (uint32_t u = 0; u < RIG_UNITS; u++)
		r->unit[u].flushed = r->unit[u].settled;
}

void rig_begin_history(struct rig *r)
{
	SSD_ASSERT(!r->busy);
	memcpy(r->base, r->found, sizeof(r->base));
	for (uint32_t u = 0; u < RIG_UNITS; u++)
		r->unit[u].changes = r->unit[u].settled = r->unit[u].flushed = 0;
}
