// SPDX-License-Identifier: GPL-2.0-or-later
/* cut_drive.c - see cut_drive.h */
#include "cut_drive.h"
#include "keys_config.h"

struct drive first, second, third;
uint64_t cuts, by_ckpt;
const char *other_ftl;
bool protect;
void (*when_read)(const struct drive *d, const struct host_io *h);

/* The result depends on the page, so that a run can be replayed from any of its commands. */
static enum nand_status on_fault(void *opaque, const struct nand_cmd *c)
{
	(void)opaque;
	return c->op == NAND_READ && c->ppn.v % 7 == 3 ? NAND_CORRECTED : NAND_OK;
}

struct nand_hooks hooks_of(const struct drive *d)
{
	return (struct nand_hooks){ .fault = d->shape->ways & CORRECTED ? on_fault : NULL };
}

static uint32_t sectors(const struct drive *d)
{
	return (uint32_t)(d->fc.capacity_bytes / FTL_SECTOR_BYTES);
}

static void on_done(void *opaque, struct ftl_io *io)
{
	struct drive *d = opaque;
	struct host_io *h = io->host;
	bool durable = io->op == FTL_FLUSH || (d->fc.power_protected && io->op != FTL_READ) ||
		       (io->op == FTL_WRITE && io->fua) ||
		       (io->op != FTL_READ && !d->fc.buffer_units &&
			(io->op == FTL_TRIM || d->fc.accounting == FTL_ACCOUNT_DEVICE));

	h->busy = false;
	if (when_read && io->op == FTL_READ && io->status == SSD_OK)
		when_read(d, h);
	SSD_ASSERT(io->status == SSD_OK || (io->op == FTL_READ && io->status == SSD_E_UNCORR && d->ops->writes_lost));
	if (d->shape->ways & QUEUES) {
		d->events++;
		if (io->op == FTL_FLUSH && h->began > d->flushed)
			d->flushed = h->began;
		for (uint32_t i = h->first; io->op != FTL_READ && io->op != FTL_FLUSH && i < h->changes; i++)
			d->history[i].ended = d->events;
	}
	if (durable && h->changes > d->durable)
		d->durable = h->changes;
}

static void on_copy(void *opaque, struct ftl_io *io, uint64_t at, void *buf, size_t len)
{
	struct host_io *h = io->host;
	(void)opaque;
	test_copy(io, h->data + at, buf, len);
}

static const struct ftl_ops *ftl_of(const struct shape *s)
{
	const char *name = other_ftl ? other_ftl : s->ftl;
	size_t i = 0;

	while (name && ftl_list[i] && strcmp(ftl_list[i]->name, name))
		i++;
	if (!ftl_list[i]) {
		printf("no FTL is named %s\n", name);
		exit(2);
	}
	return ftl_list[i];
}

static void add_slc_cache(struct ftl_config *fc, const struct shape *s)
{
	fc->slc_cache = s->ways & SET_ASIDE ? FTL_SLC_STATIC : FTL_SLC_DYNAMIC;
	fc->slc_blocks = 2;
	fc->slc_full = s->ways & FOLDS ? FTL_SLC_FOLD : FTL_SLC_DIRECT;
}

/* Add the times of upper pages, and of SLC mode. */
static void add_times(struct nand_timing *t, const struct shape *s)
{
	for (uint32_t i = 1; i < s->g.bits_per_cell; i++) {
		t->read_ns[i] = 5000;
		t->program_ns[i] = 20000;
	}
	if (s->ways & (SET_ASIDE | SPARE)) {
		t->slc_program_ns = 6000;
		t->slc_read_ns = 3000;
		t->slc_erase_ns = 50000;
	}
}

bool is_for(const struct shape *s, const char *name)
{
	bool plain = !s->ftl && !s->policy && s->buffer_pages && s->unit == FTL_SECTOR_BYTES && !(s->ways & ~CORES);

	return (!name || strstr(s->name, name)) && (!other_ftl || plain);
}

static void add_handles(struct ftl_config *fc, const struct shape *s)
{
	fc->placement_handles = s->ways & HANDLES ? 3 : 0;
	fc->placement_groups = s->ways & GROUPS ? 2 : 1;
	fc->placement_isolation = s->ways & COPIES ? FTL_ISOLATED_PERSISTENTLY : FTL_ISOLATED_INITIALLY;
}

static void add_front(struct ftl_config *fc, const struct shape *s)
{
	add_handles(fc, s);
	fc->metadata_bytes = s->ways & METADATA ? s->unit / FTL_SECTOR_BYTES * METADATA_BYTES : 0;
	fc->cores = s->ways & CORES ? 2 : 0;
	fc->completion_ns = s->ways & CORES ? 700 : 0;
	if (s->ways & QUEUES) {
		fc->cores = 1;
		fc->overhead_ns = 5000;
		fc->arbitration = s->ways & WEIGHTS ? FTL_ARBITRATION_WEIGHTED : FTL_ARBITRATION_ROUND_ROBIN;
		fc->arbitration_burst = 2;
		fc->weight_high = 3;
		fc->weight_medium = 2;
		fc->weight_low = 1;
	}
	fc->read_cache_units = s->ways & CACHE ? 16 : 0;
	fc->read_ahead_units = s->ways & CACHE ? 4 : 0;
}

static void add_pairs(struct nand_array_config *c, const struct shape *s)
{
	if (!(s->ways & (FIXED | RELAXED)))
		return;
	c->geo.order = s->ways & FIXED ? NAND_ORDER_FPS : NAND_ORDER_RPS;
	c->geo.paired_loss = true;
	c->timing.read_ns[1] = 6000;
	c->timing.program_ns[1] = 50000;
}

static void add_suspension(struct nand_timing *t, const struct shape *s)
{
	if (!(s->ways & SUSPENDS))
		return;
	t->suspend_ns = 700;
	t->resume_ns = 300;
	t->suspends_max = 2;
	t->plane_reads = s->g.planes_per_die > 1;
}

static void handed_over(struct ftl *f, uint64_t now_ns, struct ftl_io *io);

/* Returns the configuration of a shape's array; the caller sets geo.oob_kept, which depends on the FTL. */
static struct nand_array_config array_of(const struct shape *s)
{
	struct nand_array_config c = { .geo = s->g, .timing = { 100, { 5000 }, { 20000 }, { 70000 }, 1000,
		.subread_base_ns = 2000, .subread_ns_per_kib = 1000 },
		.physics.disturb_tolerance = 255 };

	add_times(&c.timing, s);
	add_pairs(&c, s);
	c.geo.one_shot = s->ways & SHOT;
	c.geo.paired_loss |= (s->ways & TAKES) > 0;
	c.geo.subpage = s->ways & WORDS ? NAND_SUBPAGE_SPREAD : NAND_SUBPAGE_NONE;
	c.timing.gc_holds_bus = s->ways & SSDSIM;
	add_suspension(&c.timing, s);
	c.geo.copyback = s->ways & COPYBACK;
	c.payload = true;
	return c;
}

/* Returns the settings of the shape. */
static struct ftl_config config_of(const struct shape *s, const struct nand_timing *timing)
{
	uint32_t upp = s->g.page_bytes / s->unit;
	struct ftl_config fc = {
		.capacity_bytes = (uint64_t)s->units * s->unit, .unit_bytes = s->unit,
		.buffer_units = s->buffer_pages * upp, .gc_start_blocks = s->ftl ? 4 : 3,
		.gc_stop_blocks = s->ftl ? 5 : 4, .gc_urgent_blocks = 2, .gc_mode = s->gc, .gc_slice_pages = 1,
		.multiplane = s->multiplane, .gc_multiplane = true, .payload = true, .map_ns = 10,
		.buffer_ns = 10, .overhead_ns = 10, .max_unit_reads = s->ways & FEW_READS ? 8 : 256,
		.gc_policy = s->policy ? s->policy : &gc_greedy, .gc_choices = 2, .gc_window_blocks = 3,
		.parallel_erase = s->ways & PAIRS, .second_victim_pages = s->g.pages_per_block,
		.gc_subpage_reads = s->ways & WORDS ? FTL_WORDS_YES : FTL_WORDS_NO,
		.host_subpage_reads = s->ways & WORDS ? FTL_WORDS_YES : FTL_WORDS_NO,
		.wl_threshold = s->ways & LEVEL ? 1 : 0, .relocate = true, .gc_copyback = s->ways & COPYBACK,
		.accounting = s->ways & SSDSIM ? FTL_ACCOUNT_SSDSIM : FTL_ACCOUNT_DEVICE,
		.active_blocks = 4, .fast_above_permille = 800, .slow_below_permille = 300,
		.quota_permille = s->quota_permille, .idle_gc_permille = s->idle_gc_permille,
		.gc_frontier = s->frontier, .gc_pages = s->copies, .map_cache_pages = s->map_cache_pages,
		.suspend = s->ways & SUSPENDS ? FTL_SUSPEND_ALL : FTL_SUSPEND_OFF, .timing = *timing,
		.backup_channel = s->ways & NEXT ? FTL_BACKUP_NEXT : FTL_BACKUP_SAME,
		.hot_cold = s->ways & APART ? FTL_HOT_COLD_COUNT : s->ways & RECENT ? FTL_HOT_COLD_RECENCY : 0,
	};

	add_front(&fc, s);
	fc.power_protected = protect;
	if (s->ways & (SET_ASIDE | SPARE))
		add_slc_cache(&fc, s);
	return fc;
}

/* ---- drawn settings ------------------------------------------------------ */

/* Keys that are not drawn. */
static const char *const fixed[] = {
	"payload",		/* the host compares what it reads */
	"unit_bytes",		/* it is the shape's, like all numbers that follow from it */
	"metadata_bytes",	/* and metadata */
	"power_protected", "hold_up_ns",	/* test_save.c */
	NULL
};

struct draft {			/* a drive whose settings are being drawn */
	const struct ftl_ops *ops;
	struct ftl_config c;
	struct nand_geometry g;
	size_t most;		/* bytes of memory, because each mount clears them */
};

static bool accepts(void *drive)
{
	struct draft *d = drive;
	const char *why;

	d->g.oob_kept = ftl_oob_bytes(d->ops, &d->c, &d->g);
	return d->g.oob_kept <= d->g.oob_bytes && !ftl_validate(d->ops, &d->c, &d->g, &why) &&
	       controller_footprint(d->ops, &d->c, &d->g) <= d->most;
}

/* The other FTLs of the shapes, beside page. */
static const char *const others[] = { "parity", "rtf", "flex" };

#define NOTHERS (sizeof(others) / sizeof(*others))
_Static_assert(DRAWN == PARTS + NOTHERS, "a number for each part of page's keys, and for each other FTL");

static bool has_key(const struct keys *k, const struct knob *row)
{
	for (uint32_t i = 0; i < k->count; i++)
		if (!strcmp(k->knob[i]->name, row->name))
			return true;
	return false;
}

/* Is the key in the share of this number: a part of page's keys, or those of another FTL that page does not have? */
static bool is_in_share(const struct keys *k, uint32_t i, uint32_t number)
{
	struct keys of_page;

	if (number < PARTS)
		return i % PARTS == number;
	keys_of(&of_page, ftl_list[0]);
	return !has_key(&of_page, k->knob[i]);
}

/* Draw the drive's settings: each key of the share if one of its values suits the drive, and some others. */
static uint32_t draw_settings(struct draft *d, uint64_t seed)
{
	uint64_t rng = seed;
	struct keys_into into = { .c = &d->c, .fixed = fixed, .accepts = accepts, .drive = d, .rng = &rng };
	uint32_t drawn = 0, more = (uint32_t)(rnd(&rng) % 6);

	keys_of(&into.keys, d->ops);
	for (uint32_t i = 0; i < into.keys.count; i++)
		if (is_in_share(&into.keys, i, (uint32_t)(seed % DRAWN)))
			drawn += keys_redraw(&into, i);
	while (more--)
		(void)keys_redraw(&into, (uint32_t)(rnd(&rng) % into.keys.count));
	d->g.oob_kept = ftl_oob_bytes(d->ops, &d->c, &d->g);
	return drawn;
}

static struct draft draft_of(const struct shape *s)
{
	struct nand_array_config c = array_of(s);
	struct draft d = { .ops = ftl_of(s), .c = config_of(s, &c.timing), .g = c.geo };

	d.g.oob_kept = ftl_oob_bytes(d.ops, &d.c, &d.g);
	d.most = 2 * controller_footprint(d.ops, &d.c, &d.g);
	if (s->draw)
		(void)draw_settings(&d, s->draw);
	return d;
}

void drive_draw(struct shape *to, uint32_t number, uint64_t seed)
{
	static char name[32];
	uint64_t rng = seed * 0x9e3779b97f4a7c15u + number + 1;
	uint32_t best = 0;

	for (uint32_t tries = 0; tries < 60;) {
		struct shape s = shapes[rnd(&rng) % (sizeof(shapes) / sizeof(*shapes))];
		struct draft d;
		uint32_t drawn;

		if (number < PARTS ? s.ftl != NULL : !s.ftl || strcmp(s.ftl, others[number - PARTS]))
			continue;
		d = draft_of(&s);
		s.draw = rnd(&rng) / DRAWN * DRAWN + number;
		drawn = draw_settings(&d, s.draw);
		if (drawn > best || !tries) {
			best = drawn;
			*to = s;
		}
		tries++;
	}
	snprintf(name, sizeof(name), "drawn settings, %u", number);
	to->drawn_on = to->name;
	to->name = name;
}

void drive_make(struct drive *d, const struct shape *s)
{
	struct nand_array_config c = array_of(s);
	struct draft draft = draft_of(s);
	const char *why;

	memset(d, 0, sizeof(*d));
	d->shape = s;
	d->fc = draft.c;
	d->ops = draft.ops;
	d->spy = *d->ops;
	d->spy.submit = handed_over;
	c.geo.oob_kept = draft.g.oob_kept;
	test_array_make(&d->ta, &c);
	if (ftl_validate(d->ops, &d->fc, &c.geo, &why)) {
		printf("%s: %s\n", s->name, why);
		exit(1);
	}
	d->len = controller_footprint(d->ops, &d->fc, &c.geo);
	d->mem = calloc(1, d->len);
	d->history = calloc(MAX_HISTORY, sizeof(*d->history));
	d->base = calloc(MAX_SECTORS, sizeof(*d->base));
}

void drive_print_drawn(const struct drive *d)
{
	struct nand_array_config c = array_of(d->shape);
	struct ftl_config before = config_of(d->shape, &c.timing);

	printf("# on '%s':", d->shape->drawn_on);
	keys_print_changes(d->ops, &before, &d->fc);
	fflush(stdout);
}

void drive_free(struct drive *d)
{
	test_array_free(&d->ta);
	free(d->mem);
	free(d->history);
	free(d->base);
}

/* With a cached map, take checkpoints often enough. A mount that had to begin anew has the usual period again. */
static void hasten_checkpoints(struct drive *d, bool mounted)
{
	struct page_ckpt *c = &((struct page_ftl *)(uintptr_t)controller_behind(d->f))->cache.ckpt;

	if (other_ftl || !d->fc.map_cache_pages)
		return;
	c->period = CKPT_PERIOD;
	by_ckpt += mounted && c->held[0] != BLK_NONE;
}

void drive_mount(struct drive *d)
{
	struct ftl_host host = { on_done, on_copy, d };

	memset(d->mem, 0, d->len);
	memset(d->io, 0, offsetof(struct host_io, data));
	for (int i = 0; i < MAX_IOS; i++)
		d->io[i].busy = false;
	SSD_ASSERT(controller_init(d->ops, d->mem, d->len, &d->fc, d->ta.n, &host, &d->f) == SSD_OK);
	if (d->shape->ways & QUEUES)
		((struct ftl *)(uintptr_t)controller_behind(d->f))->ops = &d->spy;
	hasten_checkpoints(d, false);
	SSD_ASSERT(d->f->ops->mount(d->f, 0, &d->now_ns) == SSD_OK);
	hasten_checkpoints(d, true);
	d->f->ops->check(d->f);
	d->next_ns = d->f->ops->step(d->f, d->now_ns);
}

/* ---- workload ----------------------------------------------------------- */

static void remember(struct drive *d, uint32_t sector, uint32_t count, uint64_t tag)
{
	SSD_ASSERT(d->changes < MAX_HISTORY);
	memset(d->lost + sector, tag == LOST, count * sizeof(*d->lost));
	d->history[d->changes++] = (struct change){ .sector = sector, .count = count, .tag = tag };
}

/* Record a request's changes unit by unit, as the FTL accepts them. */
static void remember_write(struct drive *d, uint32_t at, uint32_t count, uint64_t tag)
{
	uint32_t per = d->shape->unit / FTL_SECTOR_BYTES;

	while (count) {
		uint32_t n = per - at % per < count ? per - at % per : count;

		remember(d, at, n, tag);
		at += n;
		count -= n;
	}
}

static void remember_io(struct drive *d, const struct host_io *h)
{
	uint32_t at = (uint32_t)(h->io.offset / FTL_SECTOR_BYTES), count = (uint32_t)(h->io.bytes / FTL_SECTOR_BYTES);

	if (h->io.op == FTL_WRITE)
		remember_write(d, at, count, h->io.lost ? LOST : h->tag);
	else if (h->io.op == FTL_TRIM && other_ftl)
		remember_write(d, at, count, 0);
	else if (h->io.op == FTL_TRIM)
		remember(d, at, count, 0);
}

/*
 * Called when the controller passes a request to the FTL. With several queues this order, and not that of
 * submission, is the one of which a power cut leaves a prefix.
 */
static void handed_over(struct ftl *f, uint64_t now_ns, struct ftl_io *io)
{
	struct drive *d = &first;
	struct host_io *h = io->host;

	while (controller_behind(d->f) != f)
		d = d == &first ? &second : &third;
	if (!h) {	/* the controller reads ahead */
		d->ops->submit(f, now_ns, io);
		return;
	}
	h->first = d->changes;
	remember_io(d, h);
	h->changes = d->changes;
	for (uint32_t i = h->first; i < h->changes; i++)
		d->history[i].began = h->began;
	d->overtakes += h->began < d->began;
	if (h->began > d->began)
		d->began = h->began;
	d->ops->submit(f, now_ns, io);
}

static void choose_queue(struct drive *d, struct host_io *h)
{
	h->io.queue = (uint8_t)(rnd(&d->rng) % 4);
	h->io.priority = h->io.queue;
	h->began = ++d->events;
}

/* Returns where the metadata of sector i of the I/O are, behind its data. */
static uint8_t *metadata_at(struct host_io *h, uint32_t i)
{
	return h->data + h->io.bytes + (size_t)i * METADATA_BYTES;
}

/* Returns the metadata that the write with this tag gave the sector; tag 0: it was trimmed or never written. */
static uint32_t metadata_of(uint64_t tag, uint32_t sector)
{
	return tag ? (uint32_t)tag << 11 | sector : UINT32_MAX;
}

/* Tag the sectors [at, at + count). */
static void set_content(struct host_io *h, uint32_t at, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		uint64_t v = h->tag << 20 | (at + i);
		uint32_t m = metadata_of(h->tag, at + i);

		for (uint32_t k = 0; k < FTL_SECTOR_BYTES; k += 8)
			memcpy(h->data + i * FTL_SECTOR_BYTES + k, &v, 8);
		memcpy(metadata_at(h, i), &m, METADATA_BYTES);
	}
}

void submit_random(struct drive *d, struct host_io *h)
{
	uint32_t per = d->shape->unit / FTL_SECTOR_BYTES, all = sectors(d);
	uint64_t dice = rnd(&d->rng) % 100;
	uint32_t at = (uint32_t)(rnd(&d->rng) % all), count = 1 + (uint32_t)(rnd(&d->rng) % 6);
	enum ftl_op op = dice < 75 ? FTL_WRITE : dice < 85 ? FTL_TRIM : dice < 92 ? FTL_FLUSH : FTL_READ;
	bool lost;

	if (d->shape->hot && rnd(&d->rng) % 3) {
		at %= d->shape->hot;
		count = 1;
	} else if (rnd(&d->rng) % 3 == 0) {
		at %= all / 6 + 1;
	}
	if (op == FTL_TRIM) {
		at -= at % per;
		count *= per;
	}
	if (at + count > all)
		count = all - at;
	lost = op == FTL_WRITE && d->ops->writes_lost && !(d->shape->ways & QUEUES) && rnd(&d->rng) % 16 == 0;
	if (!d->ops->loses_sectors && (lost || (op == FTL_WRITE && (d->lost[at] || d->lost[at + count - 1])))) {
		count = (count + at % per + per - 1) / per * per;
		at -= at % per;
	}
	h->io = (struct ftl_io){ .op = op, .host = h, .offset = (uint64_t)at * FTL_SECTOR_BYTES,
				 .bytes = (uint64_t)count * FTL_SECTOR_BYTES,
				 .fua = rnd(&d->rng) % 8 == 0, .lost = lost };
	if (d->fc.metadata_bytes && !lost && (op == FTL_WRITE || op == FTL_READ))
		h->io.metadata = METADATA_BYTES;
	if (d->fc.placement_handles)
		h->io.handle = (uint8_t)(rnd(&d->rng) % ftl_handles(&d->fc));
	if (op == FTL_WRITE) {
		h->tag = ++d->tag;
		set_content(h, at, count);
	}
	if (d->shape->ways & QUEUES)
		choose_queue(d, h);
	else
		remember_io(d, h);
	h->changes = d->changes;
	h->busy = true;
	d->f->ops->submit(d->f, d->now_ns, &h->io);
	d->next_ns = d->f->ops->step(d->f, d->now_ns);
}

struct host_io *free_io(struct drive *d)
{
	for (int i = 0; i < MAX_IOS; i++)
		if (!d->io[i].busy)
			return &d->io[i];
	return NULL;
}

void work(struct drive *d, uint32_t ops)
{
	while (ops) {
		struct host_io *h = free_io(d);

		if (h && rnd(&d->rng) % 3) {
			submit_random(d, h);
			ops--;
			continue;
		}
		if (d->next_ns == FTL_IDLE)
			continue;
		d->now_ns = d->next_ns;
		d->next_ns = d->f->ops->step(d->f, d->now_ns);
	}
}

/* ---- oracle ------------------------------------------------------------- */

void read_all(struct drive *d)
{
	struct host_io *h = &d->io[0];
	bool lost = false;

	h->io = (struct ftl_io){ .op = FTL_READ, .host = h, .bytes = d->fc.capacity_bytes,
				 .metadata = d->fc.metadata_bytes ? METADATA_BYTES : 0 };
	memset(h->data, TEST_UNREAD, d->fc.capacity_bytes);
	h->busy = true;
	d->f->ops->submit(d->f, d->now_ns, &h->io);
	while (h->busy) {
		uint64_t next = d->f->ops->step(d->f, d->now_ns);

		if (h->busy) {
			SSD_ASSERT(next != FTL_IDLE);
			d->now_ns = next;
		}
	}
	d->next_ns = d->f->ops->step(d->f, d->now_ns);
	for (uint32_t i = 0; i < sectors(d); i++) {
		const uint8_t *s = h->data + i * FTL_SECTOR_BYTES;
		uint64_t v;

		d->lost[i] = test_unread(s);
		lost |= d->lost[i];
		memcpy(&v, s, 8);
		SSD_ASSERT(!memcmp(s, s + 8, FTL_SECTOR_BYTES - 8));	/* all words of the sector are equal */
		SSD_ASSERT(!v || d->lost[i] || (v & 0xfffff) == i);	/* it is at its own place */
		d->found[i] = d->lost[i] ? LOST : v >> 20;
		if (h->io.metadata && !d->lost[i]) {
			uint32_t m;

			memcpy(&m, metadata_at(h, i), METADATA_BYTES);
			SSD_ASSERT(m == metadata_of(d->found[i], i));
		}
	}
	SSD_ASSERT(h->io.status == (lost ? SSD_E_UNCORR : SSD_OK));
}

static uint32_t apply(uint64_t *state, const uint64_t *found, const struct change *c, uint32_t wrong)
{
	for (uint32_t i = c->sector; i < c->sector + c->count; i++) {
		wrong -= state[i] != found[i];
		state[i] = c->tag;
		wrong += state[i] != found[i];
	}
	return wrong;
}

/* Check that each unit of `d` has a content that it had at or after the end of the durable part of h's history. */
static void verify_units(struct drive *d, const struct drive *h)
{
	uint32_t per = d->shape->unit / FTL_SECTOR_BYTES;
	uint64_t state[MAX_SECTORS];
	bool good[MAX_SECTORS];

	memcpy(state, h->base, sizeof(state));
	for (uint32_t k = 0; k < h->durable; k++)
		(void)apply(state, d->found, &h->history[k], 0);
	for (uint32_t i = 0; i < sectors(d); i += per)
		good[i] = !memcmp(&state[i], &d->found[i], per * sizeof(*state));
	for (uint32_t k = h->durable; k < h->changes; k++) {
		const struct change *c = &h->history[k];

		(void)apply(state, d->found, c, 0);
		for (uint32_t i = c->sector / per * per; i < c->sector + c->count; i += per)
			good[i] |= !memcmp(&state[i], &d->found[i], per * sizeof(*state));
	}
	for (uint32_t i = 0; i < sectors(d); i += per) {
		if (!good[i])
			fprintf(stderr, "sector %u: no state of its unit after %u of %u changes is what is there\n",
				i, h->durable, h->changes);
		SSD_ASSERT(good[i]);
	}
	d->f->ops->check(d->f);
	cuts++;
}

/* Check again: every sector holds what the host flushed last, or something that it wrote later. */
static void verify_flushed(const struct drive *d, const struct drive *h)
{
	uint32_t kept[MAX_SECTORS] = { 0 };	/* the latest submission of a write or trim that a flush keeps */
	uint32_t ended[MAX_SECTORS] = { 0 };	/* the event that completed the write whose content was found */

	for (uint32_t k = 0; k < h->changes; k++) {
		const struct change *c = &h->history[k];

		for (uint32_t i = c->sector; i < c->sector + c->count; i++) {
			if (c->ended && (c->ended < h->flushed || h->fc.power_protected) && c->began > kept[i])
				kept[i] = c->began;
			if (c->tag == d->found[i])	/* of several trims the latest */
				ended[i] = c->ended ? c->ended : UINT32_MAX;
		}
	}
	for (uint32_t i = 0; i < sectors(d); i++) {
		if (ended[i] < kept[i])
			fprintf(stderr, "sector %u holds what was completed at event %u, before a write of event %u "
				"that the flush of event %u keeps\n", i, ended[i], kept[i], h->flushed);
		SSD_ASSERT(ended[i] >= kept[i]);
	}
}

/* Check that the content of `d` is the result of a prefix of h's history that includes its durable part. */
void verify(struct drive *d, const struct drive *h)
{
	uint64_t state[MAX_SECTORS];
	uint32_t wrong = 0, k = 0;
	bool found;

	read_all(d);
	if (d->shape->ways & QUEUES)
		verify_flushed(d, h);
	if (d->fc.placement_handles) {
		verify_units(d, h);
		return;
	}
	memcpy(state, h->base, sizeof(state));
	for (uint32_t i = 0; i < sectors(d); i++)
		wrong += state[i] != d->found[i];
	for (; k < h->durable; k++)
		wrong = apply(state, d->found, &h->history[k], wrong);
	found = !wrong;
	for (; k < h->changes && !found; k++) {
		wrong = apply(state, d->found, &h->history[k], wrong);
		found = !wrong;
	}
	if (!found)
		fprintf(stderr, "no prefix of %u changes, %u of them durable, matches\n",
			h->changes, h->durable);
	SSD_ASSERT(found);
	d->f->ops->check(d->f);
	cuts++;
}
