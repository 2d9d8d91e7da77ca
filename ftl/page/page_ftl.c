// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * page_ftl.c - the page-mapping FTL: configuration, life cycle, the pump.
 *
 * Time moves in `pump`: it ends the commands that are due, lets waiting I/Os
 * into the buffer, and gives each idle die its next command. A die takes commands in this order:
 *
 *   blocking GC  GC while one of its planes needs it, then reads, then programs;
 *   sliced GC    GC while it has credit (die.h), then reads (after reads_in_row, a program), then
 *                programs.
 *                A program gives GC a credit of gc_slice_pages, a read one of 1 if writes wait for
 *                free blocks. GC also uses the die whenever no I/O waits.
 *
 * A read may also begin on a busy die: it suspends the die's command (`suspend`), or runs beside reads of other
 * planes (`plane_reads`; see read.c for both).
 *
 * Events of one moment are handled in a fixed order (dies by number), so equal inputs give equal
 * runs.
 */
#include "page_ftl.h"

/* ---- the pump ----------------------------------------------------------- */

/* End the program of a map page, or of a page of a checkpoint. */
static void end_map_write(struct page_ftl *f, const struct die *d)
{
	uint32_t b = fxp_quotient(f->shape.by_block_pages, d->page[0]);
	uint64_t mark;

	if (map_written(f, d, &mark))
		carrier_offer(f, b, mark);
	if (d->status[0] != NAND_OK)
		block_failed(f, b);
}

static SSD_ALWAYS void die_complete(struct page_ftl *f, uint64_t now_ns, uint32_t die)
{
	struct die *d = &f->die[die];
	enum die_op op = (enum die_op)d->op;

	if (SSD_UNLIKELY(d->turn.ready_ns > now_ns)) {
		read_may_suspend(f, now_ns, die);
		return;
	}
	d->op = DIE_IDLE;
	f->stall.noted = false;
	word_set(f->turn.idle, die);
	word_set(f->turn.idle_stripe, d->stripe_at);
	switch (op) {
	case DIE_READ:
		if (SSD_UNLIKELY(d->bases != NONE))
			read_bases_arrived(f, d);
		break;
	case DIE_PROGRAM:
		place_complete(f, d);
		durable_process(f, now_ns, d);
		break;
	case DIE_ERASE_FRONTIER:
		frontier_erased(f, d->plane, (enum nand_status)d->status[0]);
		break;
	case DIE_BACKUP:
		backup_ended(f, d);
		break;
	case DIE_GC:
		gc_complete(f, now_ns, d);
		break;
	case DIE_MAP:
		end_map_write(f, d);
		break;
	case DIE_IDLE:
		SSD_ASSERT(!"an idle die ended a command");
	}
}

static SSD_ALWAYS void die_dispatch(struct page_ftl *f, uint64_t now_ns, uint32_t die)
{
	struct die *d = &f->die[die];

	if (d->op != DIE_IDLE)
		return;
	if (f->gc.awake && (f->host.c.gc_mode == FTL_GC_BLOCKING || d->turn.gc_credit) &&
	    ((SSD_UNLIKELY(f->fr.c.backup_ahead) && backup_now(f, now_ns, die)) || gc_run(f, now_ns, die)))
		return;
	if (die_reads_enough(&d->turn, &f->host.c)) {
		if (SSD_UNLIKELY(f->fr.c.backup_ahead) && backup_now(f, now_ns, die))
			return;
		if (map_has_writes(f) && map_write(f, now_ns, die))
			return;
		place_pages(f, now_ns);
		if (d->op != DIE_IDLE)
			return;
	}
	if (d->first != NONE && read_issue(f, now_ns, die))
		return;
	if (map_has_writes(f) && map_write(f, now_ns, die))
		return;
	if (SSD_UNLIKELY(f->fr.covers) && backup_now(f, now_ns, die))
		return;
	place_pages(f, now_ns);
	if (d->op == DIE_IDLE && f->gc.awake)
		gc_run(f, now_ns, die);
}

static void dispatch_idle(struct page_ftl *f, uint64_t now_ns)
{
	f->turn.kick = false;
	for (uint32_t die = word_next(f->turn.idle, f->shape.dies, 0); die < f->shape.dies;
	     die = word_next(f->turn.idle, f->shape.dies, die + 1))
		die_dispatch(f, now_ns, die);
}

/*
 * Fail all waiting I/Os: pages wait, no die is busy and no block can be collected, so the drive is
 * full.
 */
static SSD_SELDOM void fail_waiting(struct page_ftl *f)
{
	struct io_list *lists[3] = { &f->buf.line, &f->log.durable, &f->log.sent };

	f->full = true;
	f->buf.held = false;
	for (unsigned int i = 0; i < 3; i++)
		while (lists[i]->first)
			host_refuse(&f->host, io_list_take(lists[i]), SSD_E_NOSPC);
}

/*
 * Begin the commands that became possible by a kick: idle dies have work, or ureads had run out and
 * some are free again.
 */
static SSD_APART void begin_kicked(struct page_ftl *f, uint64_t now_ns)
{
	for (;;) {
		f->turn.changed |= f->turn.kick;
		while (f->turn.kick)
			dispatch_idle(f, now_ns);
		if (SSD_UNLIKELY(f->buf.held)) {	/* reads have ended: the held write may begin */
			line_process(f, now_ns);
			f->turn.kick |= !f->buf.held;
		}
		if (f->turn.kick)
			continue;
		if (!f->read.waiting.first || !read_resume(f, now_ns))
			return;	/* a uread may be freed without a command */
		f->turn.kick = true;
	}
}

/*
 * End waits that no command would end, when all commands have begun. A lost map page fails the I/Os that wait. If the
 * host waits for a checkpoint, and no command is under way, the checkpoint is given up.
 */
static SSD_APART void begin_unheld(struct page_ftl *f, uint64_t now_ns)
{
	if (map_is_lost(f) && !f->full)
		fail_waiting(f);
	if (!map_holds_host(f) || f->turn.ends.busy)
		return;
	map_let_go(f);
	map_pump(f, now_ns);
	place_pages(f, now_ns);
	begin_kicked(f, now_ns);
}

/*
 * Begin all commands that can begin at now_ns. After that, none can begin until a command ends or
 * an I/O arrives. A kick may also have changed the reason why the queue's head waits (note_stall).
 */
static inline void begin_all(struct page_ftl *f, uint64_t now_ns)
{
	f->turn.changed = false;
	map_pump(f, now_ns);
	place_pages(f, now_ns);
	if (f->turn.kick || f->read.waiting.first)
		begin_kicked(f, now_ns);
	if (SSD_UNLIKELY(!f->turn.ends.busy) && head_waits(f) && !f->full) {
		if (handles_has_groups(&f->handles)) {	/* a collector may have begun to wait: leave_group() */
			place_pages(f, now_ns);
			begin_kicked(f, now_ns);
		}
		if (!f->turn.ends.busy)
			fail_waiting(f);
	}
	if (SSD_UNLIKELY(map_is_lost(f) || map_holds_host(f)))
		begin_unheld(f, now_ns);
}

/* Accept the I/Os that may have waited for the event. */
static inline void accept_waiting(struct page_ftl *f, uint64_t now_ns)
{
	if (f->buf.line.first && f->buf.free != NONE)	/* the first I/O in line waits for a buffer page */
		line_process(f, now_ns);
	if (f->read.waiting.first)
		read_resume(f, now_ns);
}

/*
 * Several dies end now, and `first` has been ended already: end the others, then give each die its
 * next command.
 */
static SSD_HOT SSD_APART void end_several(struct page_ftl *f, uint64_t now_ns, uint32_t first)
{
	uint32_t due = 0;

	f->turn.due[due++] = first;
	do {
		f->turn.due[due++] = die_due_end(&f->turn.ends);
		die_complete(f, now_ns, f->turn.due[due - 1]);
	} while (next_due_ns(f) <= now_ns);
	accept_waiting(f, now_ns);
	for (uint32_t i = 0; i < due; i++)
		die_dispatch(f, now_ns, f->turn.due[i]);
}

/* End the commands that are due. Usually that is one die's, so one test for more than one avoids mispredictions. */
static SSD_HOT void end_due(struct page_ftl *f, uint64_t now_ns)
{
	uint32_t die = die_due_end(&f->turn.ends);

	die_complete(f, now_ns, die);
	if (next_due_ns(f) <= now_ns) {
		end_several(f, now_ns, die);
	} else {
		accept_waiting(f, now_ns);
		die_dispatch(f, now_ns, die);
	}
}

static SSD_HOT SSD_APART void end_and_begin(struct page_ftl *f, uint64_t now_ns)
{
	if (next_due_ns(f) <= now_ns)
		end_due(f, now_ns);
	begin_all(f, now_ns);
}

/* Do all work that is due at now_ns, including the work that results from it. */
static inline void pump(struct page_ftl *f, uint64_t now_ns)
{
	host_set_time(&f->host, now_ns);
	if (next_due_ns(f) <= now_ns || f->turn.changed || f->turn.kick)
		end_and_begin(f, now_ns);
}

/* ---- idle GC --------------------------------------------------------------- */

/*
 * Is no I/O under way, and does no buffer page wait for a die? A read that was reported early
 * counts until its command ends. But if it suspended another command, the die counts as executing
 * that one.
 */
static bool is_idle(const struct page_ftl *f)
{
	if (f->host.ios || f->bt.stable != f->bt.issued || head_waits(f))
		return false;
	for (uint32_t die = 0; die < f->shape.dies; die++)
		if (f->die[die].op == DIE_READ)
			return false;
	return true;
}

/* Begin the work for idle times. Returns the time of the next call. */
static SSD_APART uint64_t run_idle_work(struct page_ftl *f, uint64_t now_ns)
{
	uint64_t next;

	if (!is_idle(f))
		f->gc.idle_at_ns = FTL_IDLE;
	else if (f->gc.idle_at_ns == FTL_IDLE)
		f->gc.idle_at_ns = now_ns + f->host.c.idle_gc_ns;
	if (now_ns >= f->gc.idle_at_ns)
		gc_wake_idle(f);
	if (f->turn.kick)
		begin_all(f, now_ns);
	next = next_due_ns(f);
	return f->gc.idle_at_ns > now_ns && f->gc.idle_at_ns < next ? f->gc.idle_at_ns : next;
}

SSD_HOT uint64_t page_ftl_step(struct ftl *base, uint64_t now_ns)
{
	struct page_ftl *f = page_ftl_of(base);

	pump(f, now_ns);
	return SSD_UNLIKELY(f->gc.idle_work) ? run_idle_work(f, now_ns) : next_due_ns(f);
}

SSD_HOT void page_ftl_submit(struct ftl *base, uint64_t now_ns, struct ftl_io *io)
{
	struct page_ftl *f = page_ftl_of(base);

	pump(f, now_ns);
	host_accept(&f->host, io);
	io->gc_mark = stall_clock(f, now_ns);
	map_wait_begins(f, now_ns, io);
	f->gc.idle_at_ns = FTL_IDLE;
	if (io->op == FTL_READ) {
		read_begin(f, now_ns, io);
	} else if (f->full || (f->host.worn && io->op != FTL_FLUSH)) {
		host_refuse(&f->host, io, f->full ? SSD_E_NOSPC : SSD_E_WORNOUT);
		return;
	} else {
		if (SSD_UNLIKELY(io->lost))
			lost_begin(f);
		line_join(f, now_ns, io);
	}
	begin_all(f, now_ns);
}

/* ---- configuration ------------------------------------------------------ */

static uint32_t pow2_at_least(uint64_t v)
{
	uint32_t p = 1;

	while (p < v)
		p *= 2;
	return p;
}

static uint32_t buffer_pages(const struct ftl_config *c, const struct nand_geometry *g)
{
	uint32_t upp = g->page_bytes / c->unit_bytes;

	return c->buffer_units ? c->buffer_units / upp : geo_planes(g) * geo_shot_pages(g) + 2;
}

static uint32_t backup_ahead(const struct front_policy *policy, const struct ftl_config *c,
			     const struct nand_geometry *g)
{
	return policy->group && c->backup_channel == FTL_BACKUP_NEXT ? geo_planes(g) / g->channels : 0;
}

/* Returns why the configuration does not suit a policy of front.h, or NULL. */
static const char *policy_wants(const struct front_policy *policy, const struct ftl_config *c,
				const struct nand_geometry *g)
{
	const char *fault = front_fault(policy, c, g);

	if (fault)
		return fault;
	if (c->idle_gc_permille > 1000)
		return "idle_gc_permille must be at most 1000";
	if (policy == &front_page_policy && c->hot_cold && c->gc_copyback)
		return "gc_copyback must be no with hot_cold: a page that the chip copies has its block before the FTL "
		       "knows what it holds";
	if (c->slc_cache != FTL_SLC_NONE && (policy != &front_page_policy || front_by_word_lines(g)))
		return "slc_cache must be none: the FTL fills blocks in SLC mode in ascending order; set "
		       "type = page and order = ascending or none";
	if (policy == &front_page_policy)
		return NULL;
	if (c->hot_cold)
		return "hot_cold must be off: this FTL chooses open blocks by their LSB and MSB pages; set type = page";
	if (c->backup_channel == FTL_BACKUP_NEXT && g->channels < 2)
		return "backup_channel must be same: the array has one channel; set geometry.channels = 2 or more";
	if (c->gc_copyback)
		return "gc_copyback must be no: parity pages need the content of what is copied";
	if (c->parallel_erase)
		return "parallel_erase must be no: this FTL collects one block of a plane at a time";
	if (c->gc_urgent_blocks + 1 >= c->gc_start_blocks)
		return "gc_start_blocks must be at least gc_urgent_blocks + 2: one more is kept for parity pages";
	return NULL;
}

/* A configuration that breaks a rule is refused with the message, which names the remedy. */
struct page_rule {
	bool broken;
	const char *why;
};

static const char *first_broken(const struct page_rule *rules, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (rules[i].broken)
			return rules[i].why;
	return NULL;
}

/*
 * Returns why units and pages do not suit each other, or NULL. The rules are checked one by one, because later ones
 * divide by unit_bytes.
 */
static const char *units_fault(const struct ftl_config *c, const struct nand_geometry *g)
{
	if (c->unit_bytes < 512 || c->unit_bytes > 16384 || c->unit_bytes % FTL_SECTOR_BYTES ||
	    g->page_bytes % c->unit_bytes)
		return "unit_bytes must be 512 .. 16384 and divide page_bytes";
	if (host_fault(c))
		return host_fault(c);
	if (c->capacity_bytes / c->unit_bytes >= 1u << 30 ||
	    geo_pages(g) * (g->page_bytes / c->unit_bytes) >= 1u << 31)
		return "at most 2^30 exported and 2^31 physical units; use larger units";
	return NULL;
}

static const char *numbers_fault(const struct ftl_config *c, const struct nand_geometry *g)
{
	const struct page_rule rules[] = {
		{ c->gc_start_blocks > c->gc_stop_blocks || c->gc_stop_blocks >= g->blocks_per_plane,
		  "gc_start_blocks <= gc_stop_blocks < blocks_per_plane must hold" },
		{ c->buffer_units && c->buffer_units < 2 * (g->page_bytes / c->unit_bytes),
		  "buffer_units must be 0 or hold at least two NAND pages" },
		{ c->buffer_units > 1u << 22, "buffer_units must be at most 4194304" },
		{ !c->gc_policy, "gc_policy must be set" },
		{ c->gc_policy == &gc_d_choices && !c->gc_choices, "gc_choices must be at least 1" },
		{ c->gc_policy == &gc_windowed && !c->gc_window_blocks, "gc_window_blocks must be at least 1" },
	};

	return first_broken(rules, sizeof(rules) / sizeof(*rules));
}

static const char *abilities_fault(const struct ftl_config *c, const struct nand_geometry *g)
{
	bool whole_pages = g->subpage == NAND_SUBPAGE_NONE;
	const struct page_rule rules[] = {
		{ c->gc_copyback && !g->copyback,
		  "gc_copyback must be no: the array has no copyback; or set copyback = yes" },
		{ c->parallel_erase && g->erase_group_max < 2,
		  "parallel_erase must be no: the array erases one block of a plane at a time; or "
		  "set erase_group_max = 2" },
		{ c->gc_subpage_reads == FTL_WORDS_YES && whole_pages,
		  "gc_subpage_reads must be no: the array reads whole pages; or set subpage = dma or spread" },
		{ c->host_subpage_reads == FTL_WORDS_YES && whole_pages,
		  "host_subpage_reads must be no: the array reads whole pages; or set subpage = dma or spread" },
		{ c->suspend != FTL_SUSPEND_OFF && !c->timing.suspend_ns,
		  "suspend must be off: the array suspends no commands; or set timing.suspend_ns, resume_ns and "
		  "suspends_max" },
		{ c->stripe_pages > 1,
		  "stripe_pages must be 1: the page FTL gives each page to the first idle die" },
		{ c->pen, "pen must be no: the page FTL erases whole blocks; set type = superblock with "
		  "superblock_blocks = 0 for page mapping with partial erases" },
	};

	return first_broken(rules, sizeof(rules) / sizeof(*rules));
}

static const char *slc_fault(const struct ftl_config *c, const struct nand_geometry *g)
{
	const struct page_rule rules[] = {
		{ g->bits_per_cell < 2,
		  "slc_cache must be none: the cells have one bit each anyway; or set bits_per_cell = 2 .. 4" },
		{ !c->timing.slc_program_ns,
		  "slc_cache must be none: the array has no SLC mode; or set timing.slc_program_ns" },
		{ c->hot_cold, "slc_cache must be none with hot_cold: the cache takes all pages of the host alike" },
		{ !c->slc_blocks, "slc_blocks must be at least 1 with slc_cache" },
		{ (uint64_t)c->slc_blocks + c->gc_stop_blocks > g->blocks_per_plane,
		  "slc_blocks is too much: of a plane's blocks gc_stop_blocks stay free; lower slc_blocks" },
	};

	return c->slc_cache == FTL_SLC_NONE ? NULL : first_broken(rules, sizeof(rules) / sizeof(*rules));
}

static const char *cache_fault(const struct front_policy *policy, const struct ftl_config *c,
			       const struct nand_geometry *g)
{
	const struct page_rule rules[] = {
		{ policy != &front_page_policy || front_by_word_lines(g),
		  "map_cache_pages must be 0: map pages have open blocks of their own only where pages are "
		  "programmed in ascending order; set order = ascending and type = page" },
		{ c->gc_frontier == FTL_GC_SHARED || c->hot_cold,
		  "map_cache_pages must be 0 with gc_frontier = shared or hot_cold; or set gc_frontier = own "
		  "and hot_cold = off" },
		{ c->slc_cache != FTL_SLC_NONE, "map_cache_pages must be 0 with slc_cache; or set slc_cache = none" },
		{ c->gc_copyback, "map_cache_pages must be 0 with gc_copyback: the FTL would keep a P2L in memory "
		  "that is larger than the map; or set gc_copyback = no" },
		{ c->parallel_erase, "map_cache_pages must be 0 with parallel_erase: copies of map pages and of "
		  "data do not share blocks; or set parallel_erase = no" },
		{ c->map_cache_pages < map_frames_min(g, g->page_bytes / c->unit_bytes),
		  "map_cache_pages is too small: it must be 0, or at least (planes + 1) * units per page + 1" },
		{ c->map_cache_pages > map_pages_of(c, g),
		  "map_cache_pages is larger than the map, which has 4 bytes for each unit of the capacity: "
		  "set 0 to keep all of it in memory" },
	};

	return c->map_cache_pages ? first_broken(rules, sizeof(rules) / sizeof(*rules)) : NULL;
}

/*
 * Returns the size of a page's spare area: the fields of oob.h; with placement handles those of handles.h; the metadata
 * of its units.
 */
uint32_t page_ftl_oob_bytes(const struct ftl_ops *t, const struct ftl_config *c, const struct nand_geometry *g)
{
	uint32_t upp = g->page_bytes / c->unit_bytes;

	return front_oob_bytes(t->policy, upp) + (c->placement_handles ? HANDLES_OOB_BYTES : 0) +
	       upp * c->metadata_bytes;
}

static const char *room_fault(const struct front_policy *policy, const struct ftl_config *c,
			      const struct nand_geometry *g)
{
	const char *wants = handles_fault(policy, c, g);

	if (!wants)
		wants = metadata_fault(policy, c);
	if (!wants)
		wants = policy_wants(policy, c, g);
	if (!wants)
		wants = cache_fault(policy, c, g);
	if (!wants && c->slc_cache == FTL_SLC_STATIC && space_blocks_needed(policy, c, g) > geo_blocks(g) &&
	    space_blocks_needed(policy, c, g) <= geo_blocks(g) + (uint64_t)geo_planes(g) * c->slc_blocks)
		return "slc_blocks is too much: the exported capacity, GC's reserve and that many blocks of each plane "
		       "are more than the array has; lower slc_blocks or capacity, or add blocks";
	if (!wants && c->placement_handles && space_blocks_needed(policy, c, g) > geo_blocks(g))
		return "placement_handles is too much: a plane keeps a block open for each, and these, the exported "
		       "capacity and GC's reserve are more than the array has; lower placement_handles or capacity, or "
		       "add blocks";
	if (!wants && space_blocks_needed(policy, c, g) > geo_blocks(g))
		return "the geometry cannot hold the exported capacity: lower capacity (or raise "
		       "op_permille), add blocks, or lower gc_urgent_blocks";
	return wants;
}

const char *page_ftl_fault(const struct ftl_ops *t, const struct ftl_config *c, const struct nand_geometry *g)
{
	const char *why = units_fault(c, g);

	if (!why)
		why = numbers_fault(c, g);
	if (!why)
		why = abilities_fault(c, g);
	if (!why)
		why = slc_fault(c, g);
	if (!why)
		why = wordline_fault(c, g);
	return why ? why : room_fault(t->policy, c, g);
}

static void set_sizes(struct page_ftl *at, const struct ftl_config *c, const struct nand_geometry *g)
{
	at->shape.upp = g->page_bytes / c->unit_bytes;
	at->line.pages = geo_shot_pages(g);
	at->line.units = at->line.pages * at->shape.upp;
	at->shape.lpns = (uint32_t)(c->capacity_bytes / c->unit_bytes);
	at->shape.maps = space_bitmaps(c);
	at->shape.dead_lpn = at->shape.lpns + at->shape.maps;
	at->shape.map_lpn = at->shape.dead_lpn + 1;
	at->shape.ckpt_lpn = at->shape.map_lpn + map_pages_of(c, g) * at->shape.upp;
	at->shape.most_lpns = at->shape.ckpt_lpn + 1;
	at->shape.all_lpns = c->map_cache_pages ? at->shape.ckpt_lpn : at->shape.map_lpn;
	at->shape.dies = geo_dies(g);
	at->shape.planes = geo_planes(g);
	at->buf.pages = buffer_pages(c, g);
	at->buf.hash_mask = pow2_at_least((uint64_t)at->buf.pages * at->shape.upp * HASH_ROOM) - 1;
	at->buf.by_seq_mask = pow2_at_least(at->buf.pages) - 1;
	/*
	 * The size depends on the geometry alone, because a mount relies on the size used in the
	 * last run.
	 */
	at->log.ring_mask = pow2_at_least(64ull * at->shape.planes) - 1;
	heat_size(&at->heat, at->shape.all_lpns);
	at->log.dead_max = c->unit_bytes / DEAD_RANGE_BYTES - 1;
}

static void lay_out_buf(struct page_buf *b, struct ssd_arena *m, uint32_t upp, uint32_t page_bytes)
{
	size_t slots = (size_t)b->pages * upp;

	b->slot = ssd_carve(m, slots, sizeof(*b->slot));
	b->trim = ssd_carve(m, slots, sizeof(*b->trim));
	b->page = ssd_carve(m, b->pages, sizeof(*b->page));
	b->data = ssd_carve(m, b->pages, page_bytes);
	b->bad = ssd_carve(m, slots, sizeof(*b->bad));
	b->hash = ssd_carve(m, (size_t)b->hash_mask + 1, sizeof(*b->hash));
	b->by_seq = ssd_carve(m, (size_t)b->by_seq_mask + 1, sizeof(*b->by_seq));
}

static void lay_out_turn(struct page_turn *t, struct ssd_arena *m, uint32_t dies)
{
	t->stripe = ssd_carve(m, dies, sizeof(*t->stripe));
	t->idle = ssd_carve(m, word_count(dies), sizeof(*t->idle));
	t->idle_stripe = ssd_carve(m, word_count(dies), sizeof(*t->idle_stripe));
	die_due_lay_out(&t->ends, m, dies);
	t->due = ssd_carve(m, dies, sizeof(*t->due));
}

static void set_gc_tables(struct page_ftl *f, struct gc_unit *unit, uint32_t *pins, uint8_t *data, uint8_t *metadata)
{
	uint32_t pages = f->line.pages + 1, units = pages * f->shape.upp;

	for (uint32_t p = 0; p < f->shape.planes; p++) {
		f->plane[p].gc.unit = unit + (size_t)p * units;
		f->plane[p].gc.pin = pins + (size_t)p * f->shape.upp;
		f->plane[p].gc.data = data + (size_t)p * pages * f->g->page_bytes;
		f->plane[p].gc.metadata = metadata ? metadata + (size_t)p * units * f->metadata.bytes : NULL;
	}
}

static struct front_config front_config_of(const struct front_policy *policy, const struct ftl_config *c,
					   const struct nand_geometry *g)
{
	return (struct front_config){
		policy, g->page_bytes / c->unit_bytes, c->active_blocks, c->fast_above_permille,
		c->slow_below_permille, c->quota_permille, front_own(policy, c->gc_frontier), c->gc_pages,
		handles_streams(c), handles_copy_streams(c), c->slc_cache != FTL_SLC_NONE, backup_ahead(policy, c, g),
		ftl_groups(c) > 1,
	};
}

/* Returns the maximum of commands that start together: programs of word lines, or two erases in each plane. */
static uint32_t commands_of_die(const struct nand_geometry *g)
{
	uint32_t programs = g->planes_per_die * geo_shot_pages(g);

	return programs > MAX_PLANES ? programs : MAX_PLANES;
}

size_t page_ftl_lay_out(const struct ftl_ops *t, void *mem, const struct ftl_config *c,
			const struct nand_geometry *g)
{
	const struct front_policy *policy = t->policy;
	struct ssd_arena arena = { mem, sizeof(struct page_ftl) }, *m = &arena;
	struct page_ftl *f = mem, at = { 0 };
	const struct front_config fc = front_config_of(policy, c, g);
	struct gc_unit *gu;
	uint32_t *pins, reads;
	uint8_t *gd, *gm;

	set_sizes(&at, c, g);
	map_lay_out(&at, m, c, g);
	reads = c->max_unit_reads + at.buf.pages * at.shape.upp + map_ureads(&at);
	lay_out_buf(&at.buf, m, at.shape.upp, g->page_bytes);
	at.log.ended = ssd_carve(m, word_count(at.log.ring_mask + 1), sizeof(*at.log.ended));
	at.log.ring = ssd_carve(m, (size_t)at.log.ring_mask + 1, sizeof(*at.log.ring));
	at.die = ssd_carve(m, at.shape.dies, sizeof(*at.die));
	at.plane = ssd_carve(m, at.shape.planes, sizeof(*at.plane));
	lay_out_turn(&at.turn, m, at.shape.dies);
	at.read.unit = ssd_carve(m, reads, sizeof(*at.read.unit));
	if (c->map_cache_pages)
		at.read.map = ssd_carve(m, reads, sizeof(*at.read.map));
	owners_lay_out(&at, m, c, reads);
	at.heat.byte = ssd_carve(m, c->hot_cold ? at.heat.regions : 0, 1);
	at.scratch = ssd_carve(m, 1, g->page_bytes);
	at.oob_len = page_ftl_oob_bytes(t, c, g);
	at.oob = ssd_carve(m, commands_of_die(g), at.oob_len);
	at.cmd = ssd_carve(m, commands_of_die(g), sizeof(*at.cmd));
	front_lay_out(&at.fr, m, &fc, g);
	handles_lay_out(&at, m, c);
	at.lost.max = policy->group ? at.shape.planes * (at.fr.slots + FRONT_SPARES + 1) : 0;
	at.lost.page = ssd_carve(m, at.lost.max, sizeof(*at.lost.page));
	at.lost.data = ssd_carve(m, at.lost.max, g->page_bytes + at.oob_len);
	at.log.dead = ssd_carve(m, at.log.dead_max + 1, sizeof(*at.log.dead));
	gu = ssd_carve(m, (size_t)at.shape.planes * (at.line.units + at.shape.upp), sizeof(*gu));
	gd = ssd_carve(m, (size_t)at.shape.planes * (at.line.pages + 1), g->page_bytes);
	pins = ssd_carve(m, c->map_cache_pages ? (size_t)at.shape.planes * at.shape.upp : 0, sizeof(*pins));
	metadata_lay_out(&at, m, c, &gm);
	blk_lay_out(f ? &at.bt : NULL, m, g, at.shape.upp, c->gc_policy->lists);
	heat_begin(&at.heat, c->hot_cold == FTL_HOT_COLD_RECENCY);
	if (!c->hot_cold)
		at.heat.byte = NULL;
	if (f) {
		*f = at;
		f->g = g;
		f->bt.geo = g;
		set_gc_tables(f, gu, pins, gd, gm);
	}
	return m->used;
}

/* Order the dies by channel first, so that neighbours in the log use different buses. */
static void make_stripe(struct page_ftl *f)
{
	uint32_t per = geo_dies_per_channel(f->g);

	for (uint32_t k = 0; k < f->shape.dies; k++) {
		f->turn.stripe[k] = k % f->g->channels * per + k / f->g->channels;
		f->die[f->turn.stripe[k]].stripe_at = k;
		word_set(f->turn.idle, k);
		word_set(f->turn.idle_stripe, k);
	}
}

/*
 * Is a feature on that makes writes, reads or programs of the host take more than the common steps? Hot code tests
 * all of them at once. For lost sectors lost_begin() sets `extras`.
 */
static bool extras_on(const struct page_ftl *f)
{
	return !f->fr.plain || f->map.p2l || f->heat.byte || f->handles.count || f->metadata.bytes ||
	       f->host.c.namespaces > 1 || f->host.c.accounting == FTL_ACCOUNT_SSDSIM || f->fr.c.backup_ahead;
}

static bool spare_block(struct page_ftl *f, uint64_t now_ns, uint32_t plane, uint32_t *b)
{
	return frontier_spare_block(f, now_ns, plane, b) == ROOM_READY;
}

static const struct map_above above_map = { read_map, read_answer, gc_wake, spare_block };

void page_ftl_plan_idle(struct page_ftl *f)
{
	uint32_t permille = f->host.c.idle_gc_permille;

	f->gc.idle_blocks = (uint32_t)((uint64_t)f->g->blocks_per_plane * permille / 1000);
	f->gc.idle_work = f->gc.idle_blocks || (f->host.c.slc_cache != FTL_SLC_NONE && permille);	/* it folds */
}

void page_ftl_begin(struct ftl *base)
{
	struct page_ftl *f = page_ftl_of(base);
	struct nand *n = f->host.n;
	const struct front_policy *policy = base->ops->policy;
	const struct ftl_config *c = &f->host.c;
	const struct handles_space space = { space_units(c, &n->geo), space_block_units(c, &n->geo),
					     space_kept_blocks(policy, c, &n->geo) };

	SSD_ASSERT(n->geo.oob_kept == f->oob_len);
	f->g = f->bt.geo = &n->geo;
	f->shape.sectors_mask = c->unit_bytes == 32 * FTL_SECTOR_BYTES ?
		~0u : (1u << (c->unit_bytes / FTL_SECTOR_BYTES)) - 1;
	f->gc.by_words = ftl_by_words(c->gc_subpage_reads, &n->geo);
	f->gc.together = c->multiplane && c->gc_multiplane && n->geo.planes_per_die > 1;
	f->read.beside = c->timing.plane_reads;
	f->read.suspends = c->suspend != FTL_SUSPEND_OFF || f->read.beside;
	f->buf.atomic = page_ftl_atomic_bytes(c, &n->geo) > c->unit_bytes ? page_ftl_atomic_bytes(c, &n->geo) : 0;
	f->turn.watched = c->suspend != FTL_SUSPEND_OFF || c->namespaces > 1;
	metadata_begin(f);
	f->read.by_words = ftl_by_words(c->host_subpage_reads, &n->geo);
	f->log.ahead_max = f->log.ring_mask < OOB_MARK_MAX ? f->log.ring_mask : OOB_MARK_MAX;
	f->shape.unit_shift = c->unit_bytes & (c->unit_bytes - 1) ? 0 :
		(uint32_t)__builtin_ctz(c->unit_bytes);
	f->shape.by_upp = fxp_div_by(f->shape.upp);
	f->shape.by_block_units = fxp_div_by(f->bt.units_per_block);
	f->shape.by_block_pages = fxp_div_by(n->geo.pages_per_block);
	f->shape.by_die_units = fxp_div_by(f->bt.units_per_block * n->geo.blocks_per_plane *
				     n->geo.planes_per_die);
	f->gc.urgent_blocks = space_urgent_blocks(policy, c) + map_reserve_blocks(f);
	f->need_blocks = space_blocks_needed(policy, c, &n->geo);
	handles_init(f, &space);
	make_stripe(f);
	f->gc.wake = gc_wake;
	die_due_init(&f->turn.ends);
	wbuf_init(f);
	read_init(f);
	blk_init(&f->bt);
	map_init(f, &above_map);
	for (uint32_t d = 0; d < f->shape.dies; d++)
		f->die[d].first = f->die[d].last = f->die[d].bases = f->die[d].start_next = NONE;
	front_init(&f->fr, n, &f->bt, &f->host.stats);
	for (uint32_t p = 0; p < f->shape.planes; p++) {
		f->plane[p].gc.victim = f->plane[p].gc.second = BLK_NONE;
		f->plane[p].gc.drained = f->plane[p].gc.next = BLK_NONE;
		f->plane[p].gc.op = GC_NOTHING;
		f->plane[p].level = c->wl_threshold;
	}
	page_ftl_plan_idle(f);
	f->gc.idle_at_ns = FTL_IDLE;
	f->log.carrier = BLK_NONE;
	f->turn.changed = true;
	f->extras = extras_on(f);
}

/* ---- ops ---------------------------------------------------------------- */

/* Returns the bytes of the map, valid bits and trim bits. */
uint64_t page_ftl_map_bytes(const struct ftl *base)
{
	const struct page_ftl *f = (const struct page_ftl *)base;

	return map_memory_bytes(f) + (geo_pages(f->g) * f->shape.upp + 7) / 8 + ((uint64_t)f->shape.lpns + 7) / 8;
}
