// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * odd_drive.c - the drives of test_odd: geometry, configuration and capacity are
 * drawn until validate() accepts them; then commands fail and power is cut as the flags say.
 * Replay: test_odd -r ID (see test_odd.c).
 */
#include "keys_config.h"
#include "odd.h"

#define MAX_PAGES 4000u
#define MAX_ARRAY_BYTES (8u << 20)
#define MAX_MEMORY (1u << 20)

/* ---- drawing a drive ----------------------------------------------------- */

static void draw_geometry(struct odd *o)
{
	static const uint32_t page_bytes[] = { 512, 1024, 2048, 4096, 16384, 65536 };
	struct nand_geometry *g = &o->ac.geo;

	*g = (struct nand_geometry){ .dies_per_chip = 1, .erase_group_max = 1, .bits_per_cell = 1 };
	g->channels = 1 + roll(o, 3);
	g->chips_per_channel = 1 + roll(o, 2);
	g->planes_per_die = 1 + roll(o, roll(o, 4) ? 2 : 8);
	g->blocks_per_plane = 4 + roll(o, 10);
	g->pages_per_block = 2 + roll(o, 7);
	g->page_bytes = page_bytes[roll(o, roll(o, 10) ? 4 : 6)];
	if (flag(o, 's')) {	/* few spare blocks, and a dead list with 50 places */
		g->channels = 2 + roll(o, 2);
		g->chips_per_channel = 2;
		g->planes_per_die = 1;
		g->blocks_per_plane = 40 + roll(o, 60);
		g->pages_per_block = 6 + roll(o, 6);
		g->page_bytes = page_bytes[roll(o, 2)];
	}
	if (flag(o, 'y')) {	/* several map pages, of 128 or 256 entries */
		g->channels = 1 + roll(o, 2);
		g->chips_per_channel = 1;
		g->planes_per_die = 1 + roll(o, 2);
		g->blocks_per_plane = 40 + roll(o, 60);
		g->pages_per_block = 6 + roll(o, 10);
		g->page_bytes = page_bytes[roll(o, 2)];
	}
	if (flag(o, '1'))
		g->channels = g->chips_per_channel = g->planes_per_die = 1;
	if (flag(o, '2')) {
		g->channels = 1 + roll(o, 2);
		g->chips_per_channel = 1;
		g->planes_per_die = 3 - g->channels;
	}
	g->ecc_word_bytes = g->page_bytes;
}

static void draw_array(struct odd *o)
{
	struct nand_timing *t = &o->ac.timing;

	memset(&o->ac, 0, sizeof(o->ac));
	draw_geometry(o);
	o->ac.physics.disturb_tolerance = 255;
	o->ac.payload = true;
	o->ac.sums = o->seed & 1;	/* not drawn, so that earlier cases stay unchanged */
	t->cmd_ns = roll(o, 2) * 100;
	t->read_ns[0] = 5000;
	t->program_ns[0] = 20000;
	t->erase_ns[0] = roll(o, 2) ? 70000 : 20000;
	t->bus_ps_per_byte = roll(o, 2) * 1000;
}

static void draw_config(struct odd *o)
{
	struct ftl_config *c = &o->fc;
	uint32_t upp = flag(o, 's') || flag(o, 'y') || odd_other ? o->ac.geo.page_bytes / 512 : 1u << roll(o, 5);

	*c = (struct ftl_config){ .payload = true, .gc_policy = &gc_greedy };
	c->unit_bytes = o->ac.geo.page_bytes / upp;
	if (roll(o, 4))
		c->buffer_units = (2 + roll(o, 8)) * upp + roll(o, upp);
	c->gc_urgent_blocks = flag(o, 'u') ? 1 : 1 + roll(o, 2);
	c->gc_start_blocks = c->gc_urgent_blocks + 1 + roll(o, 2);
	c->gc_stop_blocks = c->gc_start_blocks + roll(o, 3);
	c->gc_mode = roll(o, 2) ? FTL_GC_SLICED : FTL_GC_BLOCKING;
	c->gc_slice_pages = 1 + roll(o, 4);
	c->multiplane = roll(o, 2);
	c->gc_multiplane = roll(o, 2);
	c->map_ns = roll(o, 2) * 10;
	c->buffer_ns = roll(o, 2) * 10;
	c->overhead_ns = roll(o, 2) * 10;
	c->max_unit_reads = roll(o, 2) ? 8 : 256;
	/*
	 * This is not drawn, for the same reason. A worn drive refuses requests that cores execute later,
	 * when more have been submitted.
	 */
	if (o->seed % 4 == 1 && !flag(o, 'f') && !flag(o, 'e')) {
		c->cores = 1 + (uint32_t)(o->seed / 4 % 3);
		c->completion_ns = (uint32_t)(o->seed / 12 % 2) * 500;
		c->read_cache_units = o->seed / 24 % 3 ? 2 * upp + (uint32_t)(o->seed / 72 % 50) : 0;
		c->read_ahead_units = o->seed / 24 % 3 == 2 ? upp : 0;
	}
	o->ac.geo.oob_bytes = 2000;
	o->ac.geo.oob_kept = OOB_BYTES(upp);
}

/* Draw the knobs of the papers on GC, in any combination. */
static void draw_knobs(struct odd *o)
{
	struct nand_geometry *g = &o->ac.geo;
	struct ftl_config *c = &o->fc;
	uint32_t words = 1u << roll(o, 6), ways = roll(o, 16);

	c->parallel_erase = ways & 1;
	c->second_victim_pages = roll(o, g->pages_per_block + 1);
	g->erase_group_max = 2 + roll(o, 3);
	c->gc_subpage_reads = ways & 2;
	g->subpage = roll(o, 2) ? NAND_SUBPAGE_DMA : NAND_SUBPAGE_SPREAD;
	g->ecc_word_bytes = g->page_bytes / words;
	o->ac.timing.subread_base_ns = 2000;
	o->ac.timing.subread_ns_per_kib = roll(o, 1000);
	c->accounting = ways & 4 ? FTL_ACCOUNT_SSDSIM : FTL_ACCOUNT_DEVICE;
	o->ac.timing.gc_holds_bus = ways & 4;
	c->gc_copyback = ways & 8;
	g->copyback = ways & 8;
}

/* Draw word lines of two pages, and the FTL named by the flags. */
static void draw_word_lines(struct odd *o, const char *ftl)
{
	struct nand_geometry *g = &o->ac.geo;
	struct ftl_config *c = &o->fc;
	size_t i = 0;

	while (strcmp(ftl_list[i]->name, ftl))
		i++;
	o->ops = ftl_list[i];
	g->bits_per_cell = 2;
	g->paired_loss = true;
	g->order = flag(o, 't') || roll(o, 2) ? NAND_ORDER_RPS : NAND_ORDER_FPS;
	g->pages_per_block = flag(o, 't') ? 2 + 2 * roll(o, 6) : 4 + 4 * roll(o, 3);
	g->blocks_per_plane += 4;
	o->ac.timing.read_ns[1] = 6000;
	o->ac.timing.program_ns[1] = 50000;
	c->gc_start_blocks++;
	c->gc_stop_blocks++;
	c->parallel_erase = c->gc_copyback = false;
	c->active_blocks = 1 + roll(o, 4);
	c->fast_above_permille = 500 + roll(o, 500);
	c->slow_below_permille = roll(o, 500);
	c->quota_permille = roll(o, 300);
	c->idle_gc_permille = roll(o, 3) * 300;
	c->idle_gc_ns = roll(o, 2) * 100000;
	g->oob_kept = ftl_oob_bytes(o->ops, c, g);
	if (!flag(o, 'b'))
		return;
	g->channels = g->channels < 2 ? 2 : g->channels;
	c->backup_channel = FTL_BACKUP_NEXT;
}

/* Draw wear levelling, relocation, and reads of parts of pages. */
static void draw_moves(struct odd *o)
{
	struct nand_geometry *g = &o->ac.geo;
	struct ftl_config *c = &o->fc;
	uint32_t ways = 1 + roll(o, 7);

	c->wl_threshold = ways & 1 ? 1 + roll(o, 3) : 0;
	c->relocate = true;
	o->corrections = ways & 2 ? 1u << roll(o, 9) : 0;
	c->host_subpage_reads = ways & 4 ? FTL_WORDS_AUTO : FTL_WORDS_NO;
	if (flag(o, 'k'))
		return;		/* the array reads words already */
	g->subpage = roll(o, 2) ? NAND_SUBPAGE_DMA : NAND_SUBPAGE_SPREAD;
	g->ecc_word_bytes = g->page_bytes >> roll(o, 6);
	o->ac.timing.subread_base_ns = 2000;
}

/* Send copies to another frontier, or to other pages, than by default. */
static void draw_frontier(struct odd *o)
{
	bool shared = flag(o, 'r') || flag(o, 't');

	o->fc.gc_pages = flag(o, 't') ? roll(o, 3) : FTL_GC_SLOW;
	if (o->fc.gc_pages == FTL_GC_SLOW)
		o->fc.gc_frontier = shared ? FTL_GC_OWN : FTL_GC_SHARED;
}

static void draw_policy(struct odd *o)
{
	uint32_t others = 0;		/* number of policies beside greedy, which is the first */

	while (gc_policies[others + 1])
		others++;
	o->fc.gc_policy = gc_policies[1 + roll(o, others)];
	o->fc.gc_choices = 1 + roll(o, 4);
	o->fc.gc_window_blocks = 1 + roll(o, 4);
	if (o->ops == ftl_list[0] && !o->fc.gc_copyback && !flag(o, 'y') && !flag(o, 'h') && roll(o, 2))
		o->fc.hot_cold = o->seed % 3 ? FTL_HOT_COLD_COUNT : FTL_HOT_COLD_RECENCY;
}

/* Draw an SLC cache on cells of several bits. */
static void draw_cache(struct odd *o)
{
	struct nand_geometry *g = &o->ac.geo;
	struct nand_timing *t = &o->ac.timing;
	struct ftl_config *c = &o->fc;

	g->bits_per_cell = 2 + roll(o, 3);
	g->pages_per_block = g->bits_per_cell * (1 + roll(o, 4));
	g->blocks_per_plane += 4;
	if (roll(o, 3) == 0)
		g->order = NAND_ORDER_NONE;
	for (uint32_t i = 1; i < g->bits_per_cell; i++) {
		t->read_ns[i] = 6000;
		t->program_ns[i] = 20000 + 10000 * i;
	}
	t->slc_program_ns = 4000;
	t->slc_read_ns = roll(o, 2) * 3000;
	t->slc_erase_ns = roll(o, 2) * 30000;
	c->timing = *t;
	c->slc_cache = roll(o, 2) ? FTL_SLC_STATIC : FTL_SLC_DYNAMIC;
	c->slc_full = roll(o, 2) ? FTL_SLC_FOLD : FTL_SLC_DIRECT;
	c->slc_blocks = 1 + roll(o, 4);
	c->hot_cold = FTL_HOT_COLD_OFF;
	c->idle_gc_permille = roll(o, 3) * 300;
	c->idle_gc_ns = roll(o, 2) * 100000;
}

/* Draw placement handles, one or two groups of dies that have them, and room for their open pages and blocks. */
static void draw_handles(struct odd *o)
{
	uint32_t upp = o->ac.geo.page_bytes / o->fc.unit_bytes;

	o->fc.placement_handles = 1 + roll(o, 4);
	o->fc.placement_isolation = roll(o, 2) ? FTL_ISOLATED_PERSISTENTLY : FTL_ISOLATED_INITIALLY;
	o->fc.placement_groups = geo_dies(&o->ac.geo) % 2 ? 1 : 1 + roll(o, 2);
	o->fc.buffer_units = (ftl_handles(&o->fc) + 2 + roll(o, 6)) * upp;
	o->ac.geo.blocks_per_plane += 8;
	o->ac.geo.oob_kept = ftl_oob_bytes(o->ops, &o->fc, &o->ac.geo);
}

/* Draw programs of whole word lines, and room for two in the buffer. A block has as many word lines as it had pages. */
static void draw_shot(struct odd *o)
{
	struct nand_geometry *g = &o->ac.geo;
	struct ftl_config *c = &o->fc;
	uint32_t upp = g->page_bytes / c->unit_bytes;

	g->bits_per_cell = 2 + roll(o, 3);
	g->pages_per_block *= g->bits_per_cell;
	g->one_shot = true;
	g->paired_loss = roll(o, 2);
	g->copyback = c->gc_copyback = false;
	for (uint32_t i = 1; i < g->bits_per_cell; i++)
		o->ac.timing.read_ns[i] = 6000;
	if (c->buffer_units)
		c->buffer_units = (2 * g->bits_per_cell + roll(o, 8)) * upp + roll(o, upp);
	c->second_victim_pages = roll(o, g->pages_per_block + 1);
	c->hot_cold = FTL_HOT_COLD_OFF;
}

/*
 * Suspension and plane reads are not drawn, so that earlier cases stay unchanged. Programs take 20 us, so a read meets
 * most of their phases.
 */
static void add_suspension(struct odd *o)
{
	struct nand_timing *t = &o->ac.timing;

	t->plane_reads = o->seed % 2 && o->ops->plane_reads && o->ac.geo.planes_per_die > 1;
	o->fc.timing = *t;
	if (t->gc_holds_bus || o->seed % 3 == 0)
		return;
	t->suspend_ns = 1000;
	t->resume_ns = o->seed % 5 * 500;
	t->suspends_max = 1 + (uint32_t)(o->seed % 4);
	o->fc.timing = *t;
	o->fc.suspend = o->seed % 7 ? FTL_SUSPEND_ALL : FTL_SUSPEND_ERASE;
}

static bool valid(struct odd *o, uint64_t units)
{
	const char *why;

	o->fc.capacity_bytes = units * o->fc.unit_bytes;
	return !ftl_validate(o->ops, &o->fc, &o->ac.geo, &why);
}

/* Returns the least units of which the map is not smaller than its cache. */
static uint64_t least_units(struct odd *o)
{
	const struct nand_geometry *g = &o->ac.geo;

	if (!flag(o, 'y'))
		return 0;
	o->fc.map_cache_pages = (geo_planes(g) + 1) * (g->page_bytes / o->fc.unit_bytes) + 1;
	return (uint64_t)o->fc.map_cache_pages * g->page_bytes / 4;
}

static uint64_t largest_units(struct odd *o)
{
	uint64_t low = least_units(o), high = geo_pages(&o->ac.geo) * (o->ac.geo.page_bytes / o->fc.unit_bytes);

	while (low < high) {
		uint64_t middle = (low + high + 1) / 2;

		if (valid(o, middle))
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

/* Is there a capacity for the settings, and is the memory not much, since each mount clears it? */
static bool accepts(void *drive)
{
	struct odd *o = drive;
	uint64_t most;

	o->ac.geo.oob_kept = ftl_oob_bytes(o->ops, &o->fc, &o->ac.geo);
	most = largest_units(o);
	return most && valid(o, most) && controller_footprint(o->ops, &o->fc, &o->ac.geo) < MAX_MEMORY;
}

/* Draw values of up to twelve keys. A worn drive has no cores, as in draw_config(). */
static void draw_keys(struct odd *o)
{
	static const char *const fixed[] = {
		"payload", "unit_bytes", "metadata_bytes", "power_protected", "hold_up_ns",	/* as in test_odd.c */
		"placement_handles", "placement_groups", "map_cache_pages",	/* flags h and y */
		"cores", NULL
	};
	struct keys_into into = { .c = &o->fc, .fixed = fixed, .accepts = accepts, .drive = o, .rng = &o->rng };

	o->plain = o->fc;
	keys_of(&into.keys, o->ops);
	for (uint32_t count = 1 + roll(o, 12); count; count--)
		(void)keys_redraw(&into, roll(o, into.keys.count));
	o->ac.geo.oob_kept = ftl_oob_bytes(o->ops, &o->fc, &o->ac.geo);
}

static bool draw_capacity(struct odd *o)
{
	uint64_t most = largest_units(o), least = least_units(o);
	uint64_t fits = (uint64_t)ODD_MAX_SECTORS * FTL_SECTOR_BYTES / o->fc.unit_bytes;
	uint64_t units;

	if (!most || most < least || least > fits)
		return false;
	units = roll(o, 3) == 0 || flag(o, 'x') ? most : 1 + roll(o, (uint32_t)most);
	if (flag(o, 'y') && units < least)
		units = least;
	if (flag(o, 'y') && roll(o, 2))
		o->fc.map_cache_pages += roll(o, (uint32_t)((units < fits ? units : fits) * 4 / o->ac.geo.page_bytes) -
					       o->fc.map_cache_pages + 1);
	if (flag(o, 's'))
		units = 1 + units / 32;
	if (units > fits && flag(o, 'x'))
		return false;
	return valid(o, units < fits ? units : fits);
}

static bool draw(struct odd *o)
{
	const struct nand_geometry *g = &o->ac.geo;
	const char *why;

	draw_array(o);
	if (geo_pages(g) > MAX_PAGES || geo_pages(g) * g->page_bytes > MAX_ARRAY_BYTES)
		return false;
	draw_config(o);
	if (flag(o, 'k'))
		draw_knobs(o);
	if (flag(o, 'w'))
		draw_moves(o);
	o->ops = odd_other ? odd_other : ftl_list[0];
	if (flag(o, 'p') || flag(o, 'r') || flag(o, 't'))
		draw_word_lines(o, flag(o, 'p') ? "parity" : flag(o, 'r') ? "rtf" : "flex");
	if (flag(o, 'g'))
		draw_frontier(o);
	if (flag(o, 'v'))
		draw_policy(o);
	if (flag(o, 'a'))
		draw_cache(o);
	if (flag(o, 'h'))
		draw_handles(o);
	if (flag(o, 'o'))
		draw_shot(o);
	if (flag(o, 'z'))
		draw_keys(o);
	return draw_capacity(o) && !nand_array_validate(&o->ac, &why);
}

/* ---- the medium and the power -------------------------------------------- */

static enum nand_status on_fault(void *opaque, const struct nand_cmd *c)
{
	struct odd *o = opaque;
	bool program = c->op == NAND_PROGRAM || c->op == NAND_COPYBACK;
	uint32_t permille = program ? o->program_fails : o->erase_fails;

	if (c->op == NAND_READ)
		return o->corrections && roll(o, 1000) < o->corrections ? NAND_CORRECTED : NAND_OK;
	if (!permille)
		return NAND_OK;
	o->failed_last = roll(o, 1000) < (o->failed_last ? 100 : permille);
	if (!o->failed_last)
		return NAND_OK;
	o->event[program ? ODD_PROGRAMS_FAILED : ODD_ERASES_FAILED]++;
	return program ? NAND_PROG_FAIL : NAND_ERASE_FAIL;
}

/* Returns a time before, within or after the commands just issued. */
static uint64_t cut_moment(struct odd *o, uint64_t now_ns, uint64_t done_ns)
{
	switch (roll(o, 4)) {
	case 0:
		return now_ns;
	case 1:
		return done_ns;
	default:
		return now_ns + roll(o, (uint32_t)(done_ns - now_ns + 1));
	}
}

static void on_commands(void *opaque, uint64_t now_ns, const struct nand_cmd *c, unsigned int count)
{
	struct odd *o = opaque;

	for (unsigned int i = 0; i < count; i++)
		SSD_ASSERT(c[i].status != NAND_VIOLATION);
	if (!o->mounting && !odd_other)
		credit_watch(&o->watch, controller_behind(o->f), c);
	o->event[ODD_WORD_READS] += c[0].op == NAND_READ && c[0].ecc_words != NAND_WHOLE_PAGE &&
				    c[0].ecc_words != NAND_OOB_ONLY;
	o->event[ODD_COPYBACKS] += c[0].op == NAND_COPYBACK;
	if (!o->armed || !(o->count_ops >> c[0].op & 1) || o->commands++ < o->cut_at)
		return;
	o->cut_ns = cut_moment(o, now_ns, c[count - 1].done_ns);
	longjmp(o->off, 1);
}

static void on_violation(void *opaque, enum nand_rule rule, const struct nand_cmd *c)
{
	(void)c;
	odd_fail(opaque, "rule R%d is broken", rule);
}

#define ERASES (1u << NAND_ERASE)
#define CHANGES (1u << NAND_PROGRAM | 1u << NAND_COPYBACK | ERASES)
#define ALL (1u << NAND_READ | CHANGES)

static void arm(struct odd *o, uint32_t count_ops, uint32_t at)
{
	o->armed = true;
	o->count_ops = count_ops;
	o->commands = 0;
	o->cut_at = at;
}

/* A mount reads each page twice, then perhaps the dead list, then runs GC. */
void odd_arm_mount(struct odd *o)
{
	static const uint32_t ops[] = { ALL, CHANGES, CHANGES, ERASES };
	uint32_t count = ops[roll(o, 4)], pages = (uint32_t)geo_pages(&o->ac.geo);

	arm(o, count, roll(o, count == ALL ? pages * 3 + 20 : 4));
}

void odd_arm_work(struct odd *o)
{
	static const uint32_t ops[] = { ALL, CHANGES, ERASES }, most[] = { 30, 30, 400, 3000 };
	uint32_t count = ops[roll(o, 3)], below = flag(o, 's') ? 15 : most[roll(o, 4)];

	arm(o, count, roll(o, count == ERASES ? below / 4 : below));
}

static void take_account(struct odd *o)
{
	const struct ftl_stats *s;

	if (!o->f)
		return;
	s = o->f->ops->stats(o->f);
	o->event[ODD_GC_RUNS] += s->gc_runs;
	o->event[ODD_BLOCKS_RETIRED] += s->retired_blocks;
	o->event[ODD_TRIMS] += s->trimmed_units > 0;
	o->event[ODD_SECONDS] += s->second_victims;
	o->event[ODD_LEVELLED] += s->wl_runs;
	o->event[ODD_RELOCATED] += s->relocations;
	o->event[ODD_BACKUPS] += s->backup_pages;
	o->event[ODD_CACHED] += s->slc_pages;
	o->event[ODD_PAST_CACHE] += s->slc_direct_pages;
	o->event[ODD_FOLDED] += s->slc_fold_units;
	o->event[ODD_MAP_READS] += s->map_reads;
	o->event[ODD_MAP_COPIES] += s->map_copies;
	o->event[ODD_RECLAIM_UNITS] += s->reclaim_units;
	o->event[ODD_STRAYS] += s->stray_pages;
	o->event[ODD_CHARGES] += o->watch.charged;
	o->watch.charged = 0;
	o->f->ops->reset_stats(o->f);
}

void odd_lose_power(struct odd *o)
{
	struct nand_stats ns;

	take_account(o);
	o->event[ODD_CUTS]++;
	o->event[ODD_MOUNTS_CUT] += o->mounting;
	o->armed = o->mounting = false;
	nand_array_power_cut(o->ta.a, o->cut_ns, rnd(&o->rng));
	nand_array_power_on(o->ta.a);
	o->ta.n->ops->get_stats(o->ta.n, &ns);
	o->event[ODD_PAIRED] += ns.paired_lost;
	o->ta.n->ops->reset_stats(o->ta.n);
}

/* ---- life ---------------------------------------------------------------- */

static void on_done(void *opaque, struct ftl_io *io)
{
	odd_host_done(opaque, io);
}

static void on_copy(void *opaque, struct ftl_io *io, uint64_t at, void *buf, size_t len)
{
	odd_host_copy(opaque, io, at, buf, len);
}

void odd_make(struct odd *o)
{
	struct nand_hooks hooks = { .opaque = o, .fault = on_fault, .done = on_commands,
				    .violation = on_violation };

	o->rng = (o->seed + 1) * 0x9e3779b97f4a7c15u;
	while (!draw(o))
		;
	add_suspension(o);
	if (flag(o, 'f'))
		o->program_fails = 1 + roll(o, 12);
	if (flag(o, 'e'))
		o->erase_fails = 1 + roll(o, 20);
	test_array_make(&o->ta, &o->ac);
	o->n = words_only_make(&o->only, o->ta.n);
	nand_array_set_hooks(o->ta.a, &hooks);
	o->len = controller_footprint(o->ops, &o->fc, &o->ac.geo);
	o->mem = malloc(o->len);
	odd_host_make(o);
}

void odd_free(struct odd *o)
{
	take_account(o);
	odd_host_free(o);
	free(o->mem);
	words_only_free(&o->only);
	test_array_free(&o->ta);
}

void odd_mount(struct odd *o)
{
	struct ftl_host host = { on_done, on_copy, o };
	const struct page_ftl *p;
	uint32_t listed = 0;
	int err;

	memset(o->mem, 0, o->len);
	odd_host_mounted(o);
	SSD_ASSERT(controller_init(o->ops, o->mem, o->len, &o->fc, o->n, &host, &o->f) == SSD_OK);
	p = (const struct page_ftl *)controller_behind(o->f);
	if (flag(o, 'y') && !odd_other)
		((struct page_ftl *)(uintptr_t)p)->cache.ckpt.period = o->seed % 4 * 60 + 20;
	o->mounting = true;
	if (odd_other) {
		if (o->f->ops->mount(o->f, 0, &o->now_ns))
			odd_fail(o, "it does not mount");
		o->f->ops->check(o->f);
		o->next_ns = o->f->ops->step(o->f, o->now_ns);
		return;
	}
	credit_watch_begin(&o->watch);
	err = o->f->ops->mount(o->f, 0, &o->now_ns);
	if (err)
		odd_fail(o, "mount: %s; %u of %u dead ranges, %u good blocks of %u", ssd_strerror(err),
			 p->log.dead_count, p->log.dead_max, (unsigned int)p->good_blocks,
			 (unsigned int)p->need_blocks);
	o->f->ops->check(o->f);
	for (uint32_t i = 0; i < p->shape.planes; i++)
		listed += p->plane[i].purge;
	o->event[ODD_PURGES] += listed > 0;
	o->event[ODD_DEAD_LISTS] += p->log.dead_count > 0;
	o->event[ODD_BY_CKPT] += flag(o, 'y') && p->cache.ckpt.held[0] != BLK_NONE;
	o->next_ns = o->f->ops->step(o->f, o->now_ns);
}
