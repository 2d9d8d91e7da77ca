// SPDX-License-Identifier: GPL-2.0-or-later
/* controller.c - see controller.h */
#include "controller.h"

#include "arbiter.h"
#include "host.h"
#include "memory.h"
#include "rcache.h"

/* the stage of an I/O, which ends at its done_ns */
enum stage {
	STAGE_ANSWER,		/* the FTL has answered the I/O */
	STAGE_COMMAND,		/* a core executes its command, or the command waits until the FTL may take it */
	STAGES
};

struct controller {
	struct ftl base;
	struct ftl_ops ops;		/* operations of the FTL, with the controller's in place of some */
	struct ftl *ftl;
	struct ftl_config c;
	struct ftl_host shell;
	struct rcache cache;
	struct memory memory;
	struct arbiter arbiter;		/* commands that wait for a core; empty with FIFO */
	struct io_list due[STAGES];
	struct owner_book *book;	/* of each core, then of the memory; NULL: namespaces are not told apart */
	struct owner_clock cores;	/* owned_ns, own_ns: work that the cores were given, done or not */
	uint64_t free_ns[CONTROLLER_CORES_MAX];	/* time at which each core becomes free */
	uint64_t ordered_ns;		/* time at which the last write, trim or flush reaches the FTL */
	uint32_t ordered_owner;		/* of that I/O: owner_of() */
	uint64_t now_ns;
	uint32_t ios;
	bool saves;			/* the power has failed (save.h) */
	uint64_t busy_ns;
	struct ftl_op_stats op[FTL_NOPS];
	struct ftl_stats *shown;	/* result of stats() */
};

static struct controller *controller_of(struct ftl *f)
{
	return ssd_container_of(f, struct controller, base);
}

static const struct controller *const_controller_of(const struct ftl *f)
{
	return (const struct controller *)(const void *)f;
}

_Static_assert(offsetof(struct controller, base) == 0, "const_controller_of()");

/* ---- cores ---- */

/* Returns the core that is free first. */
static uint32_t first_core(const struct controller *k)
{
	uint32_t first = 0;

	for (uint32_t i = 1; i < k->c.cores; i++)
		if (k->free_ns[i] < k->free_ns[first])
			first = i;
	return first;
}

/* Returns how long all cores together will have worked for other namespaces by at_ns, which is now or later. */
static uint64_t others_until(const struct controller *k, uint64_t at_ns, uint32_t owner)
{
	uint64_t ns = k->cores.owned_ns - k->cores.own_ns[owner];

	for (uint32_t i = 0; i < k->c.cores; i++)
		ns -= owner_book_others(&k->book[i], at_ns, FTL_IDLE, 1u << owner);
	return ns;
}

/* The I/O begins to wait for a core: note how long the cores have worked for other namespaces. */
static void core_wait_begins(const struct controller *k, uint64_t now_ns, struct ftl_io *io)
{
	if (owner_of(io))
		io->others_mark = others_until(k, now_ns, io->owner);
}

/*
 * A core is about to take the I/O's work of len_ns, which has waited since since_ns: account the wait behind other
 * namespaces. No core was idle meanwhile, so it is the time that all cores spent on those, divided by the number of
 * cores.
 */
static void core_wait_over(struct controller *k, uint64_t now_ns, uint64_t since_ns, uint64_t len_ns, struct ftl_io *io)
{
	uint32_t core = first_core(k);
	uint64_t start_ns = k->free_ns[core] > now_ns ? k->free_ns[core] : now_ns, others_ns;

	if (!owner_of(io))
		return;
	others_ns = (others_until(k, start_ns, io->owner) - io->others_mark) / k->c.cores;
	io->core_others_ns += others_ns < start_ns - since_ns ? others_ns : start_ns - since_ns;
	if (len_ns && !owner_book_add(&k->book[core], now_ns, start_ns, start_ns + len_ns, owner_of(io)))
		return;
	k->cores.owned_ns += len_ns;
	k->cores.own_ns[io->owner] += len_ns;
}

/* Let a core work for len_ns from now_ns on, or as soon as one is free. Returns when it ends. */
static uint64_t work(struct controller *k, uint64_t now_ns, uint64_t len_ns)
{
	uint32_t first = first_core(k);

	if (k->free_ns[first] < now_ns)
		k->free_ns[first] = now_ns;
	k->free_ns[first] += len_ns;
	k->busy_ns += len_ns;
	return k->free_ns[first];
}

static uint64_t lookups_ns(const struct controller *k, const struct ftl_io *io)
{
	uint64_t units = 1;

	if ((io->op == FTL_READ || io->op == FTL_WRITE) && io->bytes)
		units = (io->offset + io->bytes - 1) / k->c.unit_bytes - io->offset / k->c.unit_bytes + 1;
	return units * k->c.map_ns;
}

/* ---- lists ---- */

/* Insert an I/O by time, after all I/Os with the same time. */
static void list_sorted(struct io_list *l, struct ftl_io *io)
{
	struct ftl_io *before = l->first;

	if (!before || l->last->done_ns <= io->done_ns) {
		io_list_add(l, io);
		return;
	}
	if (io->done_ns < before->done_ns) {
		io->next = before;
		l->first = io;
		return;
	}
	while (before->next->done_ns <= io->done_ns)
		before = before->next;
	io->next = before->next;
	before->next = io;
}

static uint64_t first_ns(const struct io_list *l)
{
	return l->first ? l->first->done_ns : FTL_IDLE;
}

/* ---- an I/O's way ---- */

static void end(struct controller *k, uint64_t now_ns, struct ftl_io *io)
{
	uint64_t in_ftl_ns = io->done_ns - io->submit_ns, map_ns = lookups_ns(k, io);
	uint64_t known_ns = in_ftl_ns + map_ns + k->c.overhead_ns + k->c.completion_ns;

	io->submit_ns = io->entered_ns;
	if (SSD_UNLIKELY(k->book)) {
		core_wait_begins(k, now_ns, io);
		core_wait_over(k, now_ns, now_ns, k->c.completion_ns, io);
		io->where.namespace_queue_ns += io->core_others_ns;
		known_ns += io->core_others_ns;
	}
	io->done_ns = work(k, now_ns, k->c.completion_ns);
	SSD_ASSERT(io->done_ns - io->submit_ns >= known_ns);
	io->where.map_ns += map_ns;
	io->where.other_ns += k->c.overhead_ns + k->c.completion_ns;
	io->where.controller_ns = io->done_ns - io->submit_ns - known_ns;
	SSD_ASSERT(ftl_breakdown_sum(&io->where) == io->done_ns - io->submit_ns);	/* CTL3 */
	host_count(&k->op[io->op], io);
	if (k->cache.units && (io->op == FTL_WRITE || io->op == FTL_TRIM))
		rcache_write_ends(&k->cache, io);
	k->ios--;
	k->shell.done(k->shell.opaque, io);
}

/*
 * Let the I/O's data cross the memory from at_ns on. Returns when they have crossed. *others_ns becomes their wait
 * behind other namespaces from waits_ns on.
 */
static uint64_t cross(struct controller *k, uint64_t at_ns, uint64_t waits_ns, const struct ftl_io *io,
		      uint64_t *others_ns)
{
	uint64_t end_ns = memory_cross(&k->memory, k->now_ns, at_ns, io->bytes);
	uint64_t start_ns = end_ns - memory_ns(&k->memory, io->bytes);

	*others_ns = 0;
	if (SSD_UNLIKELY(k->book))
		*others_ns = owner_book_take(&k->book[k->c.cores], k->now_ns, waits_ns, start_ns, end_ns, owner_of(io));
	return end_ns;
}

/* The FTL or the cache has answered the I/O: let a read's data cross the memory, then queue its completion. */
static void answer(struct controller *k, struct ftl_io *io)
{
	if (k->memory.mb_s && io->op == FTL_READ && io->bytes && io->status == SSD_OK) {
		uint64_t others_ns, crossed_ns = cross(k, io->done_ns, io->done_ns, io, &others_ns);

		io->where.buffer_ns += crossed_ns - io->done_ns - others_ns;
		io->where.namespace_queue_ns += others_ns;
		io->done_ns = crossed_ns;
	}
	list_sorted(&k->due[STAGE_ANSWER], io);
}

/* ---- the read cache ---- */

/* End a read that the cache answers. Its content is in memory from ready_ns on. */
static void hit(struct controller *k, uint64_t now_ns, struct ftl_io *io, uint64_t ready_ns)
{
	struct host *h = host_of(k->ftl);
	uint32_t hit_ns = k->c.read_hit_ns ? k->c.read_hit_ns : k->c.buffer_ns;
	uint64_t at_ns = ready_ns > now_ns ? ready_ns : now_ns, sent_ns = at_ns + hit_ns;

	rcache_give(&k->cache, io, &k->shell);
	host_set_time(h, now_ns);
	io->done_ns = host_link_read(h, io, sent_ns) + k->c.link_latency_ns;
	io->status = SSD_OK;
	io->where = (struct ftl_breakdown){ .host_queue_ns = at_ns - io->submit_ns,
					    .buffer_ns = hit_ns, .link_ns = io->done_ns - sent_ns };
	if (SSD_UNLIKELY(h->book))
		host_divide_link(&io->where, io);
	answer(k, io);
}

/* Answer the read, let it wait, or let the FTL read it. */
static void look(struct controller *k, uint64_t now_ns, struct ftl_io *io)
{
	uint64_t ready_ns;

	switch (rcache_find(&k->cache, io, &ready_ns)) {
	case RCACHE_HIT:
		hit(k, now_ns, io, ready_ns);
		return;
	case RCACHE_WAIT:
		io_list_add(&k->cache.waiting, io);
		return;
	case RCACHE_MISS:
		(void)rcache_claim(&k->cache, io);
		k->ftl->ops->submit(k->ftl, now_ns, io);
	}
}

static void read_cached(struct controller *k, uint64_t now_ns, struct ftl_io *io)
{
	struct rcache_stream *s = rcache_follow(&k->cache, io);

	io->submit_ns = now_ns;
	look(k, now_ns, io);
	for (struct ftl_io *more = rcache_ahead(&k->cache, s); more; more = rcache_ahead(&k->cache, s))
		k->ftl->ops->submit(k->ftl, now_ns, more);
}

/* Look up the waiting reads again if the cache has changed. Returns false if it has not. */
static bool look_again(struct controller *k, uint64_t now_ns)
{
	bool again = k->cache.changed && k->cache.waiting.first;
	struct io_list waiting = k->cache.waiting;

	k->cache.changed = false;
	if (!again)
		return false;
	k->cache.waiting.first = NULL;
	while (waiting.first)
		look(k, now_ns, io_list_take(&waiting));
	return true;
}

static void hand_over(struct controller *k, uint64_t now_ns, struct ftl_io *io)
{
	if (k->cache.units && io->op == FTL_READ && io->bytes && io->crossing == FTL_CROSS_ALL) {
		read_cached(k, now_ns, io);
		return;
	}
	if (k->cache.units && io->op != FTL_FLUSH)
		rcache_write_begins(&k->cache, io);
	k->ftl->ops->submit(k->ftl, now_ns, io);
}

/*
 * Account a wait for order. Writes, trims and flushes reach the FTL in the order in which they came; if the I/O waits
 * for an earlier one of another namespace, that wait is one behind others.
 */
static void order_wait(struct controller *k, struct ftl_io *io)
{
	uint32_t owner = owner_of(io);

	if (io->done_ns >= k->ordered_ns)
		k->ordered_owner = owner;
	else if (owner && k->ordered_owner && owner != k->ordered_owner)
		io->core_others_ns += k->ordered_ns - io->done_ns;
}

/* Let a core execute the I/O's command as soon as one is free, and put the I/O on the list of due commands. */
static void execute(struct controller *k, uint64_t now_ns, struct ftl_io *io)
{
	uint64_t len_ns = k->c.overhead_ns + lookups_ns(k, io);

	if (SSD_UNLIKELY(k->book))
		core_wait_over(k, now_ns, io->entered_ns, len_ns, io);
	io->done_ns = work(k, now_ns, len_ns);
	if (k->memory.mb_s && io->op == FTL_WRITE && io->bytes && !io->lost) {
		uint64_t others_ns, crossed_ns = cross(k, now_ns, io->done_ns, io, &others_ns);

		io->core_others_ns += others_ns;
		io->done_ns = io->done_ns > crossed_ns ? io->done_ns : crossed_ns;
	}
	if (io->op != FTL_READ) {
		if (SSD_UNLIKELY(k->book))
			order_wait(k, io);
		if (io->done_ns < k->ordered_ns)
			io->done_ns = k->ordered_ns;
		k->ordered_ns = io->done_ns;
	}
	list_sorted(&k->due[STAGE_COMMAND], io);
}

/* Give commands to the cores that are free. Returns when the next core is free if a command waits for it. */
static uint64_t arbitrate(struct controller *k, uint64_t now_ns)
{
	while (k->arbiter.count && k->free_ns[first_core(k)] <= now_ns)
		execute(k, now_ns, arbiter_take(&k->arbiter, &k->c));
	return k->arbiter.count ? k->free_ns[first_core(k)] : FTL_IDLE;
}

static uint64_t step(struct ftl *base, uint64_t now_ns)
{
	struct controller *k = controller_of(base);
	uint64_t next_ns, core_ns;

	SSD_ASSERT(now_ns >= k->now_ns);
	k->now_ns = now_ns;
	do {
		while (first_ns(&k->due[STAGE_COMMAND]) <= now_ns)
			hand_over(k, now_ns, io_list_take(&k->due[STAGE_COMMAND]));
		do
			next_ns = k->ftl->ops->step(k->ftl, now_ns);
		while (look_again(k, now_ns));
		while (first_ns(&k->due[STAGE_ANSWER]) <= now_ns)
			end(k, now_ns, io_list_take(&k->due[STAGE_ANSWER]));
		core_ns = arbitrate(k, now_ns);
	} while (first_ns(&k->due[STAGE_COMMAND]) <= now_ns);	/* commands that take no time */
	if (core_ns < next_ns)
		next_ns = core_ns;
	for (unsigned int i = 0; i < STAGES; i++)
		if (first_ns(&k->due[i]) < next_ns)
			next_ns = first_ns(&k->due[i]);
	return next_ns;
}

static void submit(struct ftl *base, uint64_t now_ns, struct ftl_io *io)
{
	struct controller *k = controller_of(base);

	(void)step(base, now_ns);
	k->ios++;
	io->entered_ns = now_ns;
	io->ahead = false;
	if (SSD_UNLIKELY(k->book)) {
		io->link_others_ns = io->core_others_ns = 0;
		core_wait_begins(k, now_ns, io);
	}
	if (k->c.arbitration == FTL_ARBITRATION_FIFO) {
		execute(k, now_ns, io);
		return;
	}
	arbiter_add(&k->arbiter, &k->c, io);
	(void)arbitrate(k, now_ns);
}

/* Take an I/O that the FTL has completed: the FTL's done(). */
static void answered(void *opaque, struct ftl_io *io)
{
	struct controller *k = opaque;

	if (k->cache.units && io->op == FTL_READ)
		rcache_ended(&k->cache, io);
	if (!io->ahead)
		answer(k, io);
	else if (k->memory.mb_s)
		(void)memory_cross(&k->memory, k->now_ns, io->done_ns, io->bytes);
}

static void copied(void *opaque, struct ftl_io *io, uint64_t at, void *buf, size_t len)
{
	struct controller *k = opaque;

	if (k->cache.units && io->op == FTL_READ)
		rcache_take(&k->cache, io, at, buf, len);
	if (!io->ahead)
		k->shell.copy(k->shell.opaque, io, at, buf, len);
}

/* ---- the other entries of struct ftl_ops ---- */

static int mount(struct ftl *base, uint64_t now_ns, uint64_t *ready_ns)
{
	struct controller *k = controller_of(base);

	rcache_empty(&k->cache);
	return k->ftl->ops->mount(k->ftl, now_ns, ready_ns);
}

static uint32_t listed(const struct io_list *l, uint64_t now_ns)
{
	uint32_t count = 0;

	for (const struct ftl_io *io = l->first; io; io = io_list_next(l, io), count++) {
		SSD_ASSERT(io->done_ns >= now_ns);	/* CTL2 */
		now_ns = io->done_ns;
	}
	return count;
}

static uint32_t waiting(const struct rcache *c)
{
	uint32_t count = 0;

	for (const struct ftl_io *io = c->waiting.first; io; io = io_list_next(&c->waiting, io))
		count++;
	return count;
}

static void check(const struct ftl *base)
{
	const struct controller *k = const_controller_of(base);
	uint32_t ios = k->ftl->ops->inflight(k->ftl) - k->cache.in_flight + waiting(&k->cache);

	rcache_check(&k->cache);
	arbiter_check(&k->arbiter);
	ios += k->arbiter.count;
	for (unsigned int i = 0; i < STAGES; i++)
		ios += listed(&k->due[i], k->now_ns);
	SSD_ASSERT(ios == k->ios);	/* CTL1 */
	k->ftl->ops->check(k->ftl);
}

static const struct ftl_stats *stats(const struct ftl *base)
{
	const struct controller *k = const_controller_of(base);

	*k->shown = *k->ftl->ops->stats(k->ftl);
	memcpy(k->shown->op, k->op, sizeof(k->op));
	k->shown->core_busy_ns = k->busy_ns;
	k->shown->dram_busy_ns = k->memory.busy_ns;
	k->shown->read_cache_hits = k->cache.hits;
	k->shown->read_ahead_units = k->cache.ahead_read;
	return k->shown;
}

static void reset_stats(struct ftl *base)
{
	struct controller *k = controller_of(base);

	k->ftl->ops->reset_stats(k->ftl);
	host_no_ops(k->op);
	k->busy_ns = k->memory.busy_ns = k->cache.hits = k->cache.ahead_read = 0;
}

static uint64_t map_bytes(const struct ftl *base)
{
	const struct controller *k = const_controller_of(base);

	return k->ftl->ops->map_bytes(k->ftl);
}

static bool read_only(const struct ftl *base)
{
	const struct controller *k = const_controller_of(base);

	return k->ftl->ops->read_only(k->ftl);
}

/* The power has failed: forget the controller's commands and answers, and mute the FTL's own host. */
static uint64_t save(struct ftl *base, uint64_t now_ns)
{
	struct controller *k = controller_of(base);

	if (!k->saves) {
		k->saves = true;
		k->ios = 0;
		memset(k->due, 0, sizeof(k->due));
		memset(&k->arbiter, 0, sizeof(k->arbiter));
		rcache_empty(&k->cache);
	}
	k->now_ns = now_ns;
	return k->ftl->ops->save(k->ftl, now_ns);
}

static uint32_t unsaved(const struct ftl *base)
{
	const struct controller *k = const_controller_of(base);

	return k->ftl->ops->unsaved(k->ftl);
}

static uint32_t inflight(const struct ftl *base)
{
	return const_controller_of(base)->ios;
}

static uint32_t collect(struct ftl *base, uint64_t now_ns, uint32_t free_blocks)
{
	struct controller *k = controller_of(base);

	(void)step(base, now_ns);
	return k->ftl->ops->collect(k->ftl, now_ns, free_blocks);
}

/*
 * Make the FTL's configuration. Look-ups and firmware take no time there, because the controller's
 * cores account for it.
 */
static struct ftl_config behind(const struct ftl_config *c)
{
	struct ftl_config its = *c;

	its.map_ns = its.overhead_ns = its.cores = 0;
	return its;
}

static void reconfigure(struct ftl *base, uint64_t now_ns, const struct ftl_config *c)
{
	struct controller *k = controller_of(base);
	const struct ftl_config its = behind(c);

	(void)step(base, now_ns);
	k->c = *c;
	k->ftl->ops->reconfigure(k->ftl, now_ns, &its);
}

static struct ftl_block block(const struct ftl *base, pbn_t b)
{
	const struct controller *k = const_controller_of(base);

	return k->ftl->ops->block(k->ftl, b);
}

static struct ftl_zones zones(const struct ftl *base)
{
	const struct controller *k = const_controller_of(base);

	return k->ftl->ops->zones(k->ftl);
}

static struct ftl_zone zone(const struct ftl *base, uint32_t number)
{
	const struct controller *k = const_controller_of(base);

	return k->ftl->ops->zone(k->ftl, number);
}

static void zone_told(struct ftl *base, uint32_t number)
{
	struct ftl *f = controller_of(base)->ftl;

	f->ops->zone_told(f, number);
}

static struct ftl_handle handle(const struct ftl *base, uint32_t number)
{
	const struct controller *k = (const struct controller *)base;

	return k->ftl->ops->handle(k->ftl, number);
}

static uint64_t renew_handle(struct ftl *base, uint64_t now_ns, uint32_t number)
{
	struct controller *k = controller_of(base);

	return k->ftl->ops->renew_handle(k->ftl, now_ns, number);
}

/* Set to NULL those functions of the controller's table that the FTL does not have. */
static void take_entries(struct controller *k, const struct ftl_ops *of)
{
	k->ops = *of;
	k->ops.mount = mount;
	k->ops.submit = submit;
	k->ops.step = step;
	k->ops.save = of->save ? save : NULL;
	k->ops.unsaved = of->unsaved ? unsaved : NULL;
	k->ops.check = check;
	k->ops.stats = stats;
	k->ops.reset_stats = reset_stats;
	k->ops.map_bytes = of->map_bytes ? map_bytes : NULL;
	k->ops.inflight = inflight;
	k->ops.read_only = of->read_only ? read_only : NULL;
	k->ops.collect = of->collect ? collect : NULL;
	k->ops.reconfigure = reconfigure;
	k->ops.block = of->block ? block : NULL;
	k->ops.zones = of->zones ? zones : NULL;
	k->ops.zone = of->zone ? zone : NULL;
	k->ops.zone_told = of->zone_told ? zone_told : NULL;
	k->ops.handle = of->handle ? handle : NULL;
	k->ops.renew_handle = of->renew_handle ? renew_handle : NULL;
	k->base.ops = &k->ops;
}

/* ---- life cycle ---- */

static struct ssd_arena lay_out(struct controller *k, const struct ftl_config *c, const struct nand_geometry *g)
{
	struct ssd_arena m = { (char *)k, sizeof(*k) };
	struct ftl_stats *shown = ssd_carve(&m, 1, sizeof(*shown));
	struct owner_book *book = c->namespaces > 1 ? ssd_carve(&m, c->cores + 1, sizeof(*book)) : NULL;

	rcache_lay_out(k ? &k->cache : NULL, &m, c, g->page_bytes);
	if (k) {
		k->shown = shown;
		k->book = book;
	}
	m.used = (m.used + 63) & ~(size_t)63;
	return m;
}

size_t controller_footprint(const struct ftl_ops *ops, const struct ftl_config *c,
			    const struct nand_geometry *g)
{
	const struct ftl_config its = behind(c);

	return (c->cores ? lay_out(NULL, c, g).used : 0) + ftl_footprint(ops, &its, g);
}

int controller_init(const struct ftl_ops *ops, void *mem, size_t len, const struct ftl_config *c,
		    struct nand *n, const struct ftl_host *host, struct ftl **out)
{
	const struct ftl_config its = behind(c);
	struct controller *k = mem;
	const struct ftl_host me = { answered, copied, k };
	size_t own;
	int result;

	if (!c->cores)
		return ftl_init(ops, mem, len, c, n, host, out);
	SSD_ASSERT(c->cores <= CONTROLLER_CORES_MAX);
	own = lay_out(NULL, c, &n->geo).used;
	if (len < own)
		return SSD_E_NOMEM;
	n = memory_init(&k->memory, c->dram_mb_s, n);
	result = ftl_init(ops, (uint8_t *)mem + own, len - own, &its, n, &me, &k->ftl);
	if (result)
		return result;
	(void)lay_out(k, c, &n->geo);
	k->c = *c;
	k->shell = *host;
	host_no_ops(k->op);
	take_entries(k, ops);
	*out = &k->base;
	return SSD_OK;
}

void controller_rearbitrate(struct ftl *f, const struct ftl_config *c)
{
	struct controller *k = controller_of(f);

	SSD_ASSERT(f->ops->submit == submit && k->c.arbitration == c->arbitration &&
		   c->arbitration != FTL_ARBITRATION_FIFO);
	k->c.arbitration_burst = c->arbitration_burst;
	k->c.weight_high = c->weight_high;
	k->c.weight_medium = c->weight_medium;
	k->c.weight_low = c->weight_low;
}

const struct ftl *controller_behind(const struct ftl *f)
{
	return f->ops->submit == submit ? const_controller_of(f)->ftl : f;
}

/* ---- settings ------------------------------------------------------------ */

const struct knob_table controller_knobs = FTL_KNOBS("controller", CONTROLLER_ROWS);

const struct knob *controller_online_knob(const char *name, size_t len)
{
	const struct knob *k = controller_knobs.knobs;

	while (k->name && !(k->anew == FTL_ANEW_ARBITER && strlen(k->name) == len && !memcmp(k->name, name, len)))
		k++;
	return k->name ? k : NULL;
}
