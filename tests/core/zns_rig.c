// SPDX-License-Identifier: GPL-2.0-or-later
/* zns_rig.c - see zns_rig.h */
#include "zns_rig.h"

#include "sector_tag.h"

extern const struct ftl_ops zns_ftl_ops;

static uint32_t roll(struct zr *r, uint32_t n)
{
	return (uint32_t)(rnd(&r->rng) % n);
}

/* ---- the drive ---- */

static void on_done(void *opaque, struct ftl_io *io)
{
	struct zr *r = opaque;
	struct zr_io *q = io->host;

	SSD_ASSERT(q->busy && !q->reported && io->done_ns >= r->now_ns);
	q->reported = true;
}

static void on_copy(void *opaque, struct ftl_io *io, uint64_t at, void *buf, size_t len)
{
	struct zr_io *q = io->host;

	(void)opaque;
	test_copy(io, q->data + at, buf, len);
}

static void configure(struct zr *r, const struct zr_shape *s)
{
	const struct nand_geometry *g = &s->g;
	uint64_t pages = (uint64_t)(s->zone_dies ? s->zone_dies : geo_dies(g)) * g->planes_per_die * s->zone_blocks *
			 g->pages_per_block;
	uint64_t size = pages * g->page_bytes;

	r->ac.timing = (struct nand_timing){ .cmd_ns = 100, .read_ns = { 5000, 6000 }, .program_ns = { 20000, 25000 },
					     .erase_ns = { 70000 }, .bus_ps_per_byte = 1000 };
	r->ac.geo = *g;
	r->ac.payload = true;
	r->ac.physics.disturb_tolerance = 255;
	r->capacity = (uint32_t)(size / FTL_SECTOR_BYTES);
	for (uint64_t p = 1; s->power2; p *= 2)
		if (p >= size) {
			size = p;
			break;
		}
	r->size = (uint32_t)(size / FTL_SECTOR_BYTES);
	r->fc = (struct ftl_config){
		.capacity_bytes = s->zones * size, .unit_bytes = 512,
		.buffer_units = (uint32_t)((s->active_max + 1) * pages / s->zone_blocks / g->pages_per_block *
					   g->page_bytes / 512),
		.payload = true, .map_ns = 10, .overhead_ns = 10, .buffer_ns = 10, .max_unit_reads = 8,
		.zone_dies = s->zone_dies, .zone_blocks = s->zone_blocks, .zone_power2 = s->power2,
		.zone_open_max = s->open_max, .zone_active_max = s->active_max, .timing = r->ac.timing,
		.zrwa_pages = s->window, .zrwa_flush_pages = s->step, .zrwa_zones = s->windows,
	};
}

const char *zr_refusal(const struct zr_shape *s)
{
	static struct zr r;
	const char *why = NULL;

	configure(&r, s);
	r.ac.geo.oob_kept = 0;
	if (nand_array_validate(&r.ac, &why) != SSD_OK)
		return why;
	return ftl_validate(&zns_ftl_ops, &r.fc, &s->g, &why) == SSD_OK ? NULL : why;
}

void zr_make(struct zr *r, const struct zr_shape *s)
{
	struct nand_hooks hooks = { .violation = test_violation };

	memset(r, 0, sizeof(*r));
	r->shape = s;
	r->ops = &zns_ftl_ops;
	configure(r, s);
	SSD_ASSERT(s->zones <= ZR_ZONES && r->capacity <= ZR_SECTORS);
	r->ac.geo.oob_kept = ftl_oob_bytes(r->ops, &r->fc, &r->ac.geo);
	test_array_make(&r->ta, &r->ac);
	nand_array_set_hooks(r->ta.a, &hooks);
	r->len = ftl_footprint(r->ops, &r->fc, &r->ac.geo);
	r->mem = malloc(r->len);
	for (uint32_t i = 0; i < ZR_IOS; i++)
		r->io[i].data = malloc((size_t)r->size * FTL_SECTOR_BYTES);
}

void zr_free(struct zr *r)
{
	test_array_free(&r->ta);
	free(r->mem);
	for (uint32_t i = 0; i < ZR_IOS; i++)
		free(r->io[i].data);
}

void zr_mount(struct zr *r)
{
	struct ftl_host host = { on_done, on_copy, r };

	memset(r->mem, 0, r->len);
	for (uint32_t i = 0; i < ZR_IOS; i++)
		r->io[i].busy = false;
	r->busy = 0;
	r->now_ns = 0;
	SSD_ASSERT(ftl_init(r->ops, r->mem, r->len, &r->fc, r->ta.n, &host, &r->f) == SSD_OK);
	SSD_ASSERT(r->ops->mount(r->f, 0, &r->now_ns) == SSD_OK);
	r->ops->check(r->f);
	r->next_ns = r->ops->step(r->f, r->now_ns);
	r->zones = r->ops->zones(r->f);
	SSD_ASSERT(r->zones.count == r->shape->zones && r->zones.size_bytes == (uint64_t)r->size * 512);
}

/* ---- contents ---- */

void zr_apply(struct zr_content *c, const struct zr_change *h, uint32_t sectors)
{
	if (h->kind == ZR_RESET)
		memset(c, 0, sizeof(*c));
	c->finished |= h->kind == ZR_FINISH;
	for (uint32_t i = 0; h->kind == ZR_WRITE && i < sectors; i++)
		c->tag[h->at + i] = h->tag;
	if (h->kind == ZR_WRITE || h->kind == ZR_COMMIT)
		c->sectors = sectors == h->sectors ? h->wp : h->at + sectors;
}

static void settle(struct zr_zone *s)
{
	for (uint32_t i = 0; i < s->durable; i++)
		zr_apply(&s->base, &s->change[i], s->change[i].sectors);
	s->changes -= s->durable;
	memmove(s->change, s->change + s->durable, s->changes * sizeof(*s->change));
	s->durable = 0;
}

/* Promise the zone's changes up to this number. */
static void promise(struct zr_zone *s, uint64_t number)
{
	uint64_t first = s->number - s->changes;

	bool refused = false;

	for (uint32_t i = 0; first + i < number; i++) {
		refused = s->change[i].refused || (refused && s->change[i].kind != ZR_RESET);
		if (!refused && i >= s->durable)
			s->durable = i + 1;
	}
	settle(s);
}

/*
 * A flush promises the writes up to this number, and therefore also what was submitted before the
 * last of them.
 */
static void promise_writes(struct zr_zone *s, uint64_t number)
{
	uint64_t first = s->number - s->changes;

	while (number > first && (s->change[number - first - 1].kind > ZR_COMMIT ||
				  s->change[number - first - 1].refused))
		number--;
	promise(s, number);
}

static void add_change(struct zr_zone *s, enum zr_kind kind, uint32_t at, uint32_t sectors, uint32_t tag)
{
	SSD_ASSERT(s->changes < ZR_CHANGES);
	s->change[s->changes++] = (struct zr_change){ kind, at, sectors, tag, s->wp, false };
	s->number++;
}

/* Returns the content after all changes. */
static struct zr_content now(const struct zr_zone *s)
{
	struct zr_content c = s->base;

	for (uint32_t i = 0; i < s->changes; i++)
		zr_apply(&c, &s->change[i], s->change[i].sectors);
	return c;
}

/* ---- the model of zones ---- */

static bool is_open(const struct zr_zone *s)
{
	return s->state == FTL_ZONE_IMPLICIT || s->state == FTL_ZONE_EXPLICIT;
}

static uint32_t count_zones(const struct zr *r, bool open)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->shape->zones; i++)
		n += is_open(&r->zone[i]) || (!open && r->zone[i].state == FTL_ZONE_CLOSED);
	return n;
}

static enum ssd_err model_open(struct zr *r, struct zr_zone *s, enum ftl_zone_state as)
{
	struct zr_zone *oldest = NULL;

	if (is_open(s)) {
		s->state = as == FTL_ZONE_EXPLICIT ? as : s->state;
		return SSD_OK;
	}
	if (s->state == FTL_ZONE_EMPTY && count_zones(r, false) >= r->zones.active_max)
		return SSD_E_ZONE_ACTIVE;
	for (uint32_t i = 0; i < r->shape->zones; i++)
		if (r->zone[i].state == FTL_ZONE_IMPLICIT && (!oldest || r->zone[i].opened < oldest->opened))
			oldest = &r->zone[i];
	if (count_zones(r, true) >= r->zones.open_max) {
		if (!oldest)
			return SSD_E_ZONE_OPEN;
		oldest->state = FTL_ZONE_CLOSED;
	}
	s->state = as;
	s->opened = ++r->opens;
	return SSD_OK;
}

static uint32_t count_windows(const struct zr *r)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->shape->zones; i++)
		n += r->zone[i].window;
	return n;
}

static void set_state(struct zr_zone *s, enum ftl_zone_state state)
{
	s->state = state;
	s->window &= state == FTL_ZONE_IMPLICIT || state == FTL_ZONE_EXPLICIT || state == FTL_ZONE_CLOSED;
}

static enum ssd_err model_open_window(struct zr *r, struct zr_zone *s)
{
	enum ssd_err err;

	if (s->state == FTL_ZONE_FULL)
		return SSD_E_ZONE_STATE;
	if (!s->window && (s->wp % (r->ac.geo.page_bytes / 512) || count_windows(r) >= r->zones.window_max))
		return SSD_E_ZONE_WINDOW;
	err = model_open(r, s, FTL_ZONE_EXPLICIT);
	r->windows += err == SSD_OK;
	if (err == SSD_OK)
		s->window = s->loose = true;
	return err;
}

static enum ssd_err model_commit(struct zr *r, struct zr_zone *s, uint32_t end)
{
	enum ssd_err err;

	if (!s->window)
		return SSD_E_INVAL;
	if (end <= s->wp || end > s->wp + r->zones.window_bytes / 512 || end > r->capacity)
		return SSD_E_ZONE_BOUNDARY;
	if (end < r->capacity && (end - s->wp) % (r->zones.window_step / 512))
		return SSD_E_INVAL;
	err = model_open(r, s, FTL_ZONE_IMPLICIT);
	if (err)
		return err;
	r->commits++;
	s->wp = end;
	if (end == r->capacity)
		set_state(s, FTL_ZONE_FULL);
	return SSD_OK;
}

static enum ssd_err model_window_write(struct zr *r, struct zr_zone *s, uint32_t at, uint32_t sectors, bool append)
{
	uint32_t window = (uint32_t)(r->zones.window_bytes / 512), step = (uint32_t)(r->zones.window_step / 512);
	enum ssd_err err;

	if (append)
		return SSD_E_ZONE_OP;
	if (at < s->wp || at + sectors > s->wp + 2 * window)
		return SSD_E_ZONE_WP;
	if (at + sectors > r->capacity)
		return SSD_E_ZONE_BOUNDARY;
	err = model_open(r, s, FTL_ZONE_IMPLICIT);
	while (!err && at + sectors > s->wp + window)
		s->wp += step;
	return err;
}

static enum ssd_err model_write(struct zr *r, struct zr_zone *s, uint32_t at, uint32_t sectors, bool append)
{
	enum ssd_err err;

	if (s->state == FTL_ZONE_FULL)
		return SSD_E_ZONE_FULL;
	if (s->window)
		return model_window_write(r, s, at, sectors, append);
	if (append ? at : at != s->wp)
		return append ? SSD_E_INVAL : SSD_E_ZONE_WP;
	if (s->wp + sectors > r->capacity)
		return SSD_E_ZONE_BOUNDARY;
	err = model_open(r, s, FTL_ZONE_IMPLICIT);
	if (err)
		return err;
	s->wp += sectors;
	if (s->wp == r->capacity)
		set_state(s, FTL_ZONE_FULL);
	return SSD_OK;
}

static enum ssd_err model_manage(struct zr *r, struct zr_zone *s, enum ftl_zone_op op, uint32_t sectors)
{
	switch (op) {
	case FTL_ZONE_OPEN_WINDOW:
		return model_open_window(r, s);
	case FTL_ZONE_COMMIT:
		return model_commit(r, s, sectors);
	case FTL_ZONE_OPEN:
		return s->state == FTL_ZONE_FULL ? SSD_E_ZONE_STATE : model_open(r, s, FTL_ZONE_EXPLICIT);
	case FTL_ZONE_CLOSE:
		if (!is_open(s) && s->state != FTL_ZONE_CLOSED)
			return SSD_E_ZONE_STATE;
		s->state = FTL_ZONE_CLOSED;
		return SSD_OK;
	case FTL_ZONE_FINISH:
		set_state(s, FTL_ZONE_FULL);
		return SSD_OK;
	case FTL_ZONE_REPORT:
		return SSD_OK;
	case FTL_ZONE_RETIRE:
		return s->state == FTL_ZONE_READONLY || s->state == FTL_ZONE_OFFLINE ? SSD_OK : SSD_E_ZONE_STATE;
	default:
		set_state(s, FTL_ZONE_EMPTY);
		s->wp = 0;
		return SSD_OK;
	}
}

/* Is it an operation that is expected to leave the zone without content? */
static bool takes_content(const struct zr_io *q)
{
	return q->io.zone == FTL_ZONE_RESET || (q->io.zone == FTL_ZONE_RETIRE && q->want == SSD_OK);
}

/* Compare reports with the model. Zones that may have failed may differ. */
static void compare_reports(struct zr *r)
{
	for (uint32_t i = 0; i < r->shape->zones; i++) {
		const struct ftl_zone z = r->ops->zone(r->f, i);
		struct zr_zone *s = &r->zone[i];

		if (r->may_fail && (z.state == FTL_ZONE_READONLY || z.state == FTL_ZONE_OFFLINE)) {
			s->failed = true;
		}
		if (s->failed) {	/* refused operations do not change the state */
			s->state = z.state;
			s->window = z.window;
			continue;
		}
		/* A read-only zone may count as active: then what the model expects to close a zone is refused. */
		if (r->may_fail && z.state == FTL_ZONE_IMPLICIT && s->state == FTL_ZONE_CLOSED)
			s->state = z.state;
		SSD_ASSERT(z.start == (uint64_t)i * r->size * 512 && z.capacity == (uint64_t)r->capacity * 512);
		SSD_ASSERT(z.state == s->state && z.window == s->window);
		SSD_ASSERT(s->state == FTL_ZONE_FULL || z.wp == z.start + (uint64_t)s->wp * 512);
	}
}

/* ---- requests ---- */

static void check_read(struct zr *r, struct zr_io *q)
{
	const struct zr_content c = now(&r->zone[q->zone]);
	uint64_t first = q->io.offset / 512;

	for (uint64_t i = 0; i < q->io.bytes / 512; i++) {
		uint64_t at = first + i - (uint64_t)q->zone * r->size;

		SSD_ASSERT(sector_tag_get(q->data + i * 512, first + i) == (at < r->capacity ? c.tag[at] : 0));
	}
	r->reads_checked++;
}

static bool may_be(const struct zr *r, const struct zr_io *q)
{
	enum ssd_err got = q->io.status;

	if (got == q->want)
		return true;
	if (r->may_fail && q->io.op == FTL_READ && got == SSD_E_UNCORR)	/* what only the buffer had */
		return r->zone[q->zone].failed;
	if (r->may_fail && q->io.zone == FTL_ZONE_RESET && got == SSD_E_ZONE_STATE)	/* it is read-only */
		return true;
	return r->may_fail && (got == SSD_E_ZONE_READONLY || got == SSD_E_ZONE_OFFLINE || got == SSD_E_WORNOUT ||
			       got == SSD_E_ZONE_ACTIVE);
}

/* Is the zone read-only, or did a reset come before its program failed? */
static bool may_have_lost(const struct zr *r, uint32_t zone)
{
	const struct zr_zone *s = &r->zone[zone];
	bool reset = false;

	for (uint32_t i = 0; i < s->changes; i++)
		reset |= s->change[i].kind == ZR_RESET;
	return reset || r->ops->zone(r->f, zone).state == FTL_ZONE_READONLY;
}

static void ended(struct zr *r, struct zr_io *q)
{
	struct zr_zone *s = &r->zone[q->zone];

	q->busy = false;
	r->busy--;
	if (!may_be(r, q))
		printf("operation %d/%d of zone %u: status %d, expected %d\n", (int)q->io.op, q->io.zone, q->zone,
		       (int)q->io.status, (int)q->want);
	SSD_ASSERT(may_be(r, q));
	if (q->io.op == FTL_FLUSH) {
		for (uint32_t i = 0; i < r->shape->zones; i++)
			if (q->io.status != SSD_OK)
				r->zone[i].told |= may_have_lost(r, i);
			else if (!r->zone[i].told)
				promise_writes(&r->zone[i], q->mark[i]);
		r->failed += q->io.status != SSD_OK;
		return;
	}
	s->pending--;
	if (q->io.status != SSD_OK) {
		r->refused += q->want != SSD_OK;
		r->failed += q->want == SSD_OK;
		if (q->want == SSD_OK && q->io.op != FTL_READ) {
			s->failed = true;
			if ((q->io.op == FTL_WRITE || (q->io.zone >= FTL_ZONE_FINISH &&
						       q->io.zone != FTL_ZONE_OPEN_WINDOW)) &&
			    q->after > s->number - s->changes)
				s->change[q->after - (s->number - s->changes) - 1].refused = true;
		}
		return;
	}
	if (q->io.op == FTL_READ && q->still && s->number == q->after && !s->failed)
		check_read(r, q);
	if (q->io.zone == FTL_ZONE_RESET)
		s->told = false;
	if (q->io.zone == FTL_ZONE_RETIRE)
		r->left[q->zone] = FTL_ZONE_OFFLINE;
	if ((q->io.op == FTL_WRITE && q->io.fua) || q->io.zone == FTL_ZONE_FINISH || takes_content(q))
		promise(s, q->after);
}

static void deliver(struct zr *r)
{
	for (uint32_t i = 0; i < ZR_IOS; i++)
		if (r->io[i].busy && r->io[i].reported && r->io[i].io.done_ns <= r->now_ns)
			ended(r, &r->io[i]);
}

/* Let time pass to the next event; false: there is none. */
static bool pass(struct zr *r)
{
	uint64_t next = r->next_ns;

	for (uint32_t i = 0; i < ZR_IOS; i++)
		if (r->io[i].busy && r->io[i].reported && r->io[i].io.done_ns < next)
			next = r->io[i].io.done_ns;
	if (next == FTL_IDLE)
		return false;
	r->now_ns = next;
	r->next_ns = r->ops->step(r->f, r->now_ns);
	r->ops->check(r->f);
	if (r->may_fail)
		compare_reports(r);
	deliver(r);
	return true;
}

void zr_drain(struct zr *r)
{
	while (r->busy)
		SSD_ASSERT(pass(r));
	while (pass(r))
		;
}

/* Predict the answer of an operation and note what it changes. */
static void predict(struct zr *r, struct zr_io *q)
{
	struct zr_zone *s = &r->zone[q->zone];
	uint64_t start = (uint64_t)q->zone * r->size;
	uint32_t sectors = (uint32_t)(q->io.bytes / 512), at = (uint32_t)(q->io.offset / 512 - start);

	q->want = SSD_OK;
	q->still = !s->pending;
	if (q->io.op == FTL_WRITE) {
		at = q->io.zone == FTL_ZONE_APPEND ? s->wp : at;
		q->want = model_write(r, s, (uint32_t)(q->io.offset / 512 - start), sectors,
				      q->io.zone == FTL_ZONE_APPEND);
		q->tag = ++r->tag;
		for (uint32_t i = 0; i < sectors; i++)
			sector_tag_put(q->data + i * 512, start + at + i, q->tag);
		if (q->want == SSD_OK)
			add_change(s, ZR_WRITE, at, sectors, q->tag);
	} else if (q->io.zone) {
		q->want = model_manage(r, s, q->io.zone, sectors);
		r->resets += q->io.zone == FTL_ZONE_RESET;
		r->finishes += q->io.zone == FTL_ZONE_FINISH;
		r->retirements += q->io.zone == FTL_ZONE_RETIRE;
		if (takes_content(q) || q->io.zone == FTL_ZONE_FINISH)
			add_change(s, takes_content(q) ? ZR_RESET : ZR_FINISH, 0, 0, 0);
		if (q->io.zone == FTL_ZONE_COMMIT && q->want == SSD_OK)
			add_change(s, ZR_COMMIT, 0, 0, 0);
	}
	q->after = s->number;
	for (uint32_t i = 0; i < r->shape->zones; i++)
		q->mark[i] = r->zone[i].number;
}

struct zr_io *zr_free_io(struct zr *r)
{
	for (;;) {
		for (uint32_t i = 0; i < ZR_IOS; i++)
			if (!r->io[i].busy)
				return &r->io[i];
		SSD_ASSERT(pass(r));
	}
}

static void start(struct zr *r, struct zr_io *q)
{
	q->io.host = q;
	q->busy = true;
	q->reported = false;
	r->busy++;
	if (r->may_fail)
		compare_reports(r);
	q->zone = q->io.op == FTL_FLUSH ? 0 : (uint32_t)(q->io.offset / 512 / r->size);
	if (q->io.zone == FTL_ZONE_RESET)
		r->zone[q->zone].failed = false;
	predict(r, q);
	r->zone[q->zone].pending += q->io.op != FTL_FLUSH;
	r->ops->submit(r->f, r->now_ns, &q->io);
	if (q->io.zone == FTL_ZONE_APPEND && q->want == SSD_OK && !r->may_fail)
		SSD_ASSERT(q->io.placed == ((uint64_t)q->zone * r->size + r->zone[q->zone].wp) * 512 - q->io.bytes);
	r->ops->check(r->f);
	r->next_ns = r->ops->step(r->f, r->now_ns);
	deliver(r);
	compare_reports(r);
}

void zr_submit(struct zr *r, enum ftl_op op, enum ftl_zone_op zone, uint64_t sector, uint32_t sectors, bool fua)
{
	struct zr_io *q = zr_free_io(r);

	q->io = (struct ftl_io){ .op = op, .zone = (uint8_t)zone, .offset = sector * 512, .bytes = sectors * 512ull,
				 .fua = fua };
	start(r, q);
}

uint64_t zr_alone(struct zr *r, enum ftl_op op, enum ftl_zone_op zone, uint64_t sector, uint32_t sectors,
		  bool fua, enum ssd_err *status, uint64_t *placed)
{
	struct zr_io *q = zr_free_io(r);

	q->io = (struct ftl_io){ .op = op, .zone = (uint8_t)zone, .offset = sector * 512, .bytes = sectors * 512ull,
				 .fua = fua };
	start(r, q);
	while (q->busy)
		SSD_ASSERT(pass(r));
	if (status)
		*status = q->io.status;
	if (placed)
		*placed = q->io.placed / 512;
	return q->io.done_ns - q->io.submit_ns;
}

/* ---- random work ---- */

/* Choose a write in and behind a zone's random write area, a commit of a part of it, or a flush; or open one. */
static void choose_window(struct zr *r, struct zr_io *q, const struct zr_zone *s, uint64_t start_at)
{
	uint32_t page = r->ac.geo.page_bytes / 512, window = (uint32_t)(r->zones.window_bytes / 512);
	uint32_t beyond = roll(r, 4) ? window : 2 * window + 2, at = roll(r, beyond);
	uint32_t pages = (uint32_t)(r->zones.window_step / r->ac.geo.page_bytes) * (1 + roll(r, 2));

	if (!s->window || !roll(r, 5)) {
		q->io = (struct ftl_io){ .op = FTL_FLUSH };
		if (!s->window)
			q->io = (struct ftl_io){ .op = FTL_TRIM, .zone = FTL_ZONE_OPEN_WINDOW,
						 .offset = start_at * 512 };
		return;
	}
	q->io.offset = (start_at + s->wp + at) * 512;
	q->io.bytes = (1 + roll(r, roll(r, 2) ? 2 : window)) * 512ull;
	if (roll(r, 4))
		return;
	q->io = (struct ftl_io){ .op = FTL_TRIM, .zone = FTL_ZONE_COMMIT, .offset = start_at * 512,
				 .bytes = (s->wp + (roll(r, 8) ? pages * page : roll(r, beyond))) * 512ull };
	if (roll(r, 2) && q->io.bytes / 512 > r->capacity)
		q->io.bytes = r->capacity * 512ull;
}

/* Sometimes reset a zone whose program may have failed. If it did, the zone is read-only; else it can be used again. */
static void choose(struct zr *r, struct zr_io *q)
{
	uint32_t zone = roll(r, 3) ? roll(r, 1 + r->shape->zones / 3) : roll(r, r->shape->zones), dice = roll(r, 100);
	const struct zr_zone *s = &r->zone[zone];
	uint64_t start_at = (uint64_t)zone * r->size;
	uint32_t left = r->capacity - s->wp, most = left < 40 ? left : roll(r, 4) ? 8 : 40;

	q->io = (struct ftl_io){ .op = FTL_WRITE, .offset = (start_at + s->wp) * 512,
				 .bytes = (1 + roll(r, most ? most : 1)) * 512ull, .fua = roll(r, 5) == 0 };
	if (r->zones.window_max && roll(r, 2)) {
		choose_window(r, q, s, start_at);
		return;
	}
	if (dice < 55)
		return;
	if (dice < 67) {
		q->io.zone = FTL_ZONE_APPEND;
		q->io.offset = start_at * 512;
	} else if (dice < 70) {
		q->io.offset = (start_at + roll(r, r->capacity)) * 512;
	} else if (dice < 75) {
		q->io = (struct ftl_io){ .op = FTL_FLUSH };
	} else if (dice < 86) {
		uint32_t at = roll(r, r->size), sectors = 1 + roll(r, r->size - at);

		q->io = (struct ftl_io){ .op = FTL_READ, .offset = (start_at + at) * 512, .bytes = sectors * 512ull };
	} else {
		static const enum ftl_zone_op ops[] = { FTL_ZONE_OPEN, FTL_ZONE_CLOSE, FTL_ZONE_FINISH, FTL_ZONE_RESET,
							FTL_ZONE_RESET };

		q->io = (struct ftl_io){ .op = FTL_TRIM, .zone = (uint8_t)ops[roll(r, 5)], .offset = start_at * 512 };
		if (s->state == FTL_ZONE_FULL && roll(r, 2))
			q->io.zone = FTL_ZONE_RESET;
	}
}

/* Keep a request within the drive, because the caller of an FTL must do so. */
static void keep_inside(const struct zr *r, struct zr_io *q)
{
	if (q->io.offset + q->io.bytes > r->fc.capacity_bytes) {
		q->io.bytes = 512;
		if (q->io.offset >= r->fc.capacity_bytes)
			q->io.offset = r->fc.capacity_bytes - 512;
	}
}

void zr_work(struct zr *r, uint32_t requests)
{
	for (uint32_t i = 0; i < requests; i++) {
		struct zr_io *q = zr_free_io(r);

		choose(r, q);
		keep_inside(r, q);
		/* The model does not follow a zone that failed, until it is reset. */
		if (r->may_fail && q->io.op != FTL_FLUSH && q->io.op != FTL_READ) {
			struct zr_zone *s = &r->zone[q->io.offset / 512 / r->size];

			if (s->failed && s->pending)
				continue;
			if (s->failed && q->io.zone != FTL_ZONE_RESET)
				continue;
			if (s->state == FTL_ZONE_READONLY && q->io.zone && s->number % 2)	/* a reset fails */
				q->io.zone = FTL_ZONE_RETIRE;
		}
		start(r, q);
		while (roll(r, 3) && pass(r))
			;
	}
}
