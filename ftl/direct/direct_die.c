// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * direct_die.c - the write-through engine: the choice of a die's next command.
 *
 * A read consists of reads of spare areas until the page is found (the scheme says how many), then
 * of the read of the page. A write of a part of a page first finds and reads its base in the same
 * way (with search_whole each write finds its page); a write then chooses a place and programs the
 * page, and repeats both if the program fails. A *run* is an operation between its commands; a die
 * has at most one run of a read and one of a write. The run of a read is not interrupted, nor is
 * that of a base after its search has begun, so that the page that was found is still there when it
 * is read. A write may wait for GC between its commands.
 */
#include "direct.h"
#include "direct_die.h"
#include "direct_ops.h"

static uint64_t gc_clock(const struct direct_die *x, uint64_t now_ns)
{
	return die_gc_clock(&x->turn, direct_is_gc(x->cmd), now_ns);
}

static void lost_set(struct direct *d, uint32_t ppn, bool lost)
{
	if (lost)
		bit_set(d->lost, ppn);
	else
		bit_clear(d->lost, ppn);
}

/* ---- queues ----------------------------------------------------------------- */

static uint32_t plane_of(const struct direct *d, uint32_t op)
{
	return direct_plane_of_lpn(d, d->op[op].lpn);
}

static uint32_t page_of(const struct direct *d, uint32_t op)
{
	return direct_page_of_lpn(d, d->op[op].lpn);
}

void direct_enqueue(struct direct *d, uint64_t now_ns, uint32_t op)
{
	uint32_t die = geo_die_of_plane(d->g, plane_of(d, op));
	struct direct_die *x = &d->die[die];
	bool read = d->op[op].io->op == FTL_READ;
	uint32_t *first = read ? &x->read_first : &x->write_first;
	uint32_t *last = read ? &x->read_last : &x->write_last;

	d->op[op].gc_mark = gc_clock(x, now_ns);
	d->op[op].next = DIRECT_NONE;
	if (*first == DIRECT_NONE)
		*first = op;
	else
		d->op[*last].next = op;
	*last = op;
	direct_die_dispatch(d, now_ns, die);
}

static void run_begin(struct direct *d, struct direct_run *r, uint32_t *first)
{
	*r = (struct direct_run){ .op = *first };
	*first = d->op[r->op].next;
}

static void run_command(struct direct_run *r, const struct nand_cmd *c)
{
	r->cell_ns += c->cell_ns;
	r->bus_ns += c->bus_ns;
	r->wait_gc_ns += c->wait_gc_ns;
}

/* Tell the host that the run's page was done at done_ns, after a wait of gc_ns for GC. */
static void run_report(struct direct *d, const struct direct_run *r, uint64_t done_ns,
		       uint64_t gc_ns, enum ssd_err status)
{
	const struct ftl_breakdown own = { .cell_ns = r->cell_ns, .bus_ns = r->bus_ns };

	host_part_at(&d->host, d->op[r->op].io, done_ns, gc_ns + r->wait_gc_ns, &own, status);
}

/* ---- host reads, and bases of writes ----------------------------------------- */

/*
 * Read the next spare area needed to locate the run's page. Returns false if the page has been
 * found.
 */
static bool search(struct direct *d, uint64_t now_ns, uint32_t die, struct direct_run *r)
{
	struct nand_cmd c = { .op = NAND_READ, .source = NAND_SRC_HOST, .ecc_words = NAND_OOB_ONLY };

	if (!d->scheme->search)
		return false;
	c.ppn.v = d->scheme->search(d, plane_of(d, r->op), page_of(d, r->op), r->searched);
	if (c.ppn.v == DIRECT_NONE)
		return false;
	r->searched++;
	d->host.stats.search_reads++;
	die_command(d->host.n, now_ns, &c, 1);
	run_command(r, &c);
	direct_die_start(d, die, DIRECT_CMD_READ, c.done_ns);
	return true;
}

static void read_page(struct direct *d, uint64_t now_ns, uint32_t die, struct direct_run *r,
		      struct nand_cmd *c)
{
	*c = (struct nand_cmd){ .op = NAND_READ, .source = NAND_SRC_HOST,
				.ecc_words = NAND_WHOLE_PAGE };
	c->ppn.v = d->scheme->lookup(d, plane_of(d, r->op), page_of(d, r->op));
	SSD_ASSERT(c->ppn.v != DIRECT_NONE);
	die_command(d->host.n, now_ns, c, 1);
	run_command(r, c);
	direct_die_start(d, die, DIRECT_CMD_READ, c->done_ns);
}

static void read_go(struct direct *d, uint64_t now_ns, uint32_t die)
{
	struct direct_die *x = &d->die[die];
	const struct direct_op *op;
	struct nand_cmd c;
	uint64_t gc_ns;
	bool lost;

	if (x->r.op == DIRECT_NONE)
		run_begin(d, &x->r, &x->read_first);
	op = &d->op[x->r.op];
	if (search(d, now_ns, die, &x->r))
		return;
	gc_ns = gc_clock(x, now_ns) - op->gc_mark;
	read_page(d, now_ns, die, &x->r, &c);
	lost = !survey_readable(c.status) || bit_get(d->lost, c.ppn.v);
	if (!lost && d->host.c.payload)
		host_copy(&d->host, op->io, op->at,
			     (uint8_t *)(uintptr_t)c.page + op->from, op->bytes);
	run_report(d, &x->r, c.done_ns, gc_ns, lost ? SSD_E_UNCORR : SSD_OK);
	direct_op_put(d, x->r.op);
	x->r.op = DIRECT_NONE;
	x->turn.reads_in_row++;
	if (d->host.c.gc_mode == FTL_GC_SLICED && x->w.op != DIRECT_NONE && x->w.waits)
		x->turn.gc_credit = 1;
}

/* ---- host writes --------------------------------------------------------------- */

/*
 * Issue the next command for a write's base, or to find its page. Returns false if no more are
 * needed: the page can then be placed.
 */
static bool issue_base(struct direct *d, uint64_t now_ns, uint32_t die)
{
	struct direct_die *x = &d->die[die];
	const struct direct_op *op = &d->op[x->w.op];
	bool part = op->bytes < d->g->page_bytes;
	bool base = part && d->scheme->lookup(d, plane_of(d, x->w.op), page_of(d, x->w.op)) != DIRECT_NONE;
	struct nand_cmd c;

	if ((base || d->scheme->search_whole) && search(d, now_ns, die, &x->w))
		return true;
	if (base) {
		read_page(d, now_ns, die, &x->w, &c);
		x->w.stage = DIRECT_PLACE;
		x->w.lost = !survey_readable(c.status) || bit_get(d->lost, c.ppn.v);
		d->host.stats.merge_reads++;
		d->host.stats.merge_read_bytes += d->g->page_bytes;
		if (d->host.c.payload && !x->w.lost)
			memcpy(x->wdata, c.page, d->g->page_bytes);
		return true;
	}
	if (part && d->host.c.payload)
		memset(x->wdata, 0, d->g->page_bytes);
	x->w.lost = op->io->lost;
	x->w.stage = DIRECT_PLACE;
	return false;
}

static void write_over(struct direct *d, struct direct_die *x)
{
	uint64_t epoch = d->op[x->w.op].epoch;

	direct_op_put(d, x->w.op);
	x->w.op = DIRECT_NONE;
	direct_write_ended(d, epoch);
}

/* In SSDSim's accounting a write ends when its data are in the chip. A write with FUA waits for the program. */
static void report_transferred(struct direct *d, struct direct_run *r, const struct nand_cmd *c)
{
	uint64_t end_ns = c->done_ns - c->cell_ns;

	r->bus_ns += c->bus_ns;
	r->wait_gc_ns += c->wait_gc_ns;
	run_report(d, r, end_ns, r->gc_ns, SSD_OK);
	d->op[r->op].io = NULL;
}

static void program(struct direct *d, uint64_t now_ns, uint32_t die, uint32_t ppn, uint8_t tag)
{
	struct direct_die *x = &d->die[die];
	struct direct_op *op = &d->op[x->w.op];
	struct direct_oob oob = { .lpn = op->lpn, .seq = d->seq, .tag = tag, .lost = x->w.lost };
	struct nand_cmd c = { .op = NAND_PROGRAM, .source = NAND_SRC_HOST, .ppn = { ppn },
			      .data = x->wdata, .oob = d->oob };

	SSD_ASSERT(d->seq <= DIRECT_SEQ_MAX);
	d->seq++;
	direct_oob_put(d->oob, &oob);
	if (d->host.c.payload && !x->w.copied)
		host_copy(&d->host, op->io, op->at, x->wdata + op->from, op->bytes);
	x->w.copied = true;
	x->w.stage = DIRECT_FLIGHT;
	x->w.ppn = ppn;
	x->w.gc_ns = gc_clock(x, now_ns) - op->gc_mark;
	die_command(d->host.n, now_ns, &c, 1);
	x->w.failed = c.status == NAND_PROG_FAIL;
	lost_set(d, ppn, x->w.lost);
	d->host.stats.host_units++;
	x->turn.reads_in_row = 0;
	direct_die_start(d, die, DIRECT_CMD_PROGRAM, c.done_ns);
	if (d->host.c.accounting == FTL_ACCOUNT_SSDSIM && !x->w.failed && !op->io->fua)
		report_transferred(d, &x->w, &c);
	else
		run_command(&x->w, &c);
}

static void gc_begin(struct direct *d, uint64_t now_ns, uint32_t plane)
{
	struct direct_plane *p = &d->plane[plane];

	if (p->gc_active)
		return;
	p->gc_active = true;
	p->gc_since_ns = now_ns;
	d->die[geo_die_of_plane(d->g, plane)].gc_active++;
}

static void order_over(struct direct *d, uint32_t plane)
{
	d->plane[plane].order = (struct gc_order){ 0 };
}

static void gc_wanted(struct direct *d, uint64_t now_ns, uint32_t plane)
{
	if (d->host.frozen || (d->host.c.gc_mode != FTL_GC_SLICED && !direct_ordered(d, plane)))
		return;
	if (d->scheme->wants_gc(d, plane))
		gc_begin(d, now_ns, plane);
	else if (!d->plane[plane].gc_active)
		order_over(d, plane);
}

bool direct_order_gc(struct direct *d, uint64_t now_ns, uint32_t plane)
{
	gc_wanted(d, now_ns, plane);
	return d->plane[plane].gc_active;
}

static void program_ended(struct direct *d, uint64_t now_ns, uint32_t die)
{
	struct direct_die *x = &d->die[die];
	uint32_t plane = plane_of(d, x->w.op);

	d->scheme->programmed(d, plane, page_of(d, x->w.op), x->w.ppn, !x->w.failed);
	if (d->host.c.gc_mode == FTL_GC_SLICED)
		x->turn.gc_credit = d->host.c.gc_slice_pages;
	gc_wanted(d, now_ns, plane);
	if (x->w.failed) {
		x->w.stage = DIRECT_PLACE;
		return;
	}
	if (d->op[x->w.op].io)
		run_report(d, &x->w, now_ns, x->w.gc_ns, SSD_OK);
	write_over(d, x);
}

static void write_fails(struct direct *d, uint64_t now_ns, struct direct_die *x)
{
	uint64_t gc_ns = gc_clock(x, now_ns) - d->op[x->w.op].gc_mark;

	run_report(d, &x->w, now_ns, gc_ns, SSD_E_NOSPC);
	write_over(d, x);
}

/* Erase the plane's first free block, which may be half erased. */
static void prepare(struct direct *d, uint64_t now_ns, uint32_t plane)
{
	uint32_t die = geo_die_of_plane(d->g, plane);
	struct nand_cmd c = { .op = NAND_ERASE, .source = NAND_SRC_META, .pb = NAND_WHOLE_BLOCK };

	c.ppn.v = direct_ppn(d, d->pool.plane[plane].free_first, 0);
	die_command(d->host.n, now_ns, &c, 1);
	d->die[die].prepare = plane;
	d->die[die].prepare_failed = c.status == NAND_ERASE_FAIL;
	direct_die_start(d, die, DIRECT_CMD_PREPARE, c.done_ns);
}

static void prepared(struct direct *d, const struct direct_die *x)
{
	uint32_t b = d->pool.plane[x->prepare].free_first;

	d->pool.block[b].needs_erase = false;
	if (x->prepare_failed) {
		(void)direct_take(d, x->prepare, 0, &b);
		direct_put_bad(d, b);
	}
}

static void place_go(struct direct *d, uint64_t now_ns, uint32_t die)
{
	struct direct_die *x = &d->die[die];
	uint32_t plane = plane_of(d, x->w.op), ppn = DIRECT_NONE;
	uint8_t tag = 0;

	switch (d->scheme->place(d, plane, page_of(d, x->w.op), &ppn, &tag)) {
	case DIRECT_ROOM:
		program(d, now_ns, die, ppn, tag);
		return;
	case DIRECT_ERASE:
		prepare(d, now_ns, plane);
		return;
	case DIRECT_GC:
		if (!d->plane[plane].stuck) {
			x->w.waits = true;
			gc_begin(d, now_ns, plane);
			return;
		}
		d->plane[plane].stuck = false;
		break;
	case DIRECT_FULL:
		break;
	}
	write_fails(d, now_ns, x);
}

static void write_go(struct direct *d, uint64_t now_ns, uint32_t die)
{
	struct direct_die *x = &d->die[die];

	if (x->w.op == DIRECT_NONE)
		run_begin(d, &x->w, &x->write_first);
	if (x->w.stage == DIRECT_FIND && issue_base(d, now_ns, die))
		return;
	place_go(d, now_ns, die);
}

/* ---- GC -------------------------------------------------------------------------- */

static void gc_oob(struct direct *d, const struct direct_step *s, bool lost)
{
	struct direct_oob oob = { .lpn = direct_lpn(d, s->plane, s->page), .seq = d->seq,
				  .tag = s->tag, .lost = lost };

	SSD_ASSERT(d->seq <= DIRECT_SEQ_MAX);
	d->seq++;
	direct_oob_put(d->oob, &oob);
}

static void gc_start(struct direct *d, uint32_t die, enum direct_cmd cmd, enum nand_op op, uint64_t until_ns)
{
	direct_die_start(d, die, cmd, until_ns);
	die_charge(&d->die[die].turn, op);
}

static void gc_read(struct direct *d, uint64_t now_ns, uint32_t die)
{
	struct direct_die *x = &d->die[die];
	bool whole = x->step.op == DIRECT_COPY;
	struct nand_cmd c = { .op = NAND_READ, .source = NAND_SRC_GC, .ppn = { x->step.from },
			      .ecc_words = whole ? NAND_WHOLE_PAGE : NAND_OOB_ONLY };

	die_command(d->host.n, now_ns, &c, 1);
	if (!whole) {
		d->host.stats.search_reads++;
		gc_start(d, die, DIRECT_CMD_GC, c.op, c.done_ns);
		return;
	}
	x->step_lost = !survey_readable(c.status) || bit_get(d->lost, x->step.from);
	if (d->host.c.payload && !x->step_lost)
		memcpy(x->gdata, c.page, d->g->page_bytes);
	gc_start(d, die, DIRECT_CMD_GC_READ, c.op, c.done_ns);
}

static void gc_program(struct direct *d, uint64_t now_ns, uint32_t die, struct nand_cmd *c)
{
	struct direct_die *x = &d->die[die];

	gc_oob(d, &x->step, x->step_lost);
	c->source = NAND_SRC_GC;
	c->ppn.v = x->step.to;
	c->oob = d->oob;
	die_command(d->host.n, now_ns, c, 1);
	x->step.failed = c->status == NAND_PROG_FAIL;
	lost_set(d, x->step.to, x->step_lost);
	d->host.stats.gc_units++;
	gc_start(d, die, DIRECT_CMD_GC, c->op, c->done_ns);
}

static void gc_copy_read(struct direct *d, uint64_t now_ns, uint32_t die)
{
	struct nand_cmd c = { .op = NAND_PROGRAM, .data = d->die[die].gdata };

	gc_program(d, now_ns, die, &c);
}

static void gc_copyback(struct direct *d, uint64_t now_ns, uint32_t die)
{
	struct nand_cmd c = { .op = NAND_COPYBACK, .from = { d->die[die].step.from } };

	d->die[die].step_lost = bit_get(d->lost, c.from.v);
	gc_program(d, now_ns, die, &c);
}

static void gc_wipe(struct direct *d, uint64_t now_ns, uint32_t die)
{
	struct direct_step *s = &d->die[die].step;
	struct nand_cmd c[NAND_ERASE_GROUP_MAX];
	uint64_t done_ns = 0;

	SSD_ASSERT(s->count && s->count <= d->g->erase_group_max);
	for (uint32_t i = 0; i < s->count; i++)
		c[i] = (struct nand_cmd){ .op = NAND_ERASE, .source = NAND_SRC_GC, .pb = s->pb[i],
					  .ppn = { direct_ppn(d, s->block[i], 0) } };
	die_command(d->host.n, now_ns, c, s->count);
	for (uint32_t i = 0; i < s->count; i++) {
		s->erase_failed[i] = c[i].status == NAND_ERASE_FAIL;
		if (c[i].done_ns > done_ns)
			done_ns = c[i].done_ns;
	}
	d->host.stats.gc_blocks += s->count;
	gc_start(d, die, DIRECT_CMD_GC, NAND_ERASE, done_ns);
}

static void gc_step(struct direct *d, uint64_t now_ns, uint32_t die)
{
	switch (d->die[die].step.op) {
	case DIRECT_COPY:
		if (d->host.c.gc_copyback) {
			gc_copyback(d, now_ns, die);
			return;
		}
		gc_read(d, now_ns, die);
		return;
	case DIRECT_SEARCH:
		gc_read(d, now_ns, die);
		return;
	case DIRECT_WIPE:
		gc_wipe(d, now_ns, die);
		return;
	}
	SSD_ASSERT(!"unknown step of GC");
}

static void gc_over(struct direct *d, uint64_t now_ns, uint32_t plane)
{
	struct direct_plane *p = &d->plane[plane];
	struct direct_die *x = &d->die[geo_die_of_plane(d->g, plane)];

	p->gc_active = false;
	d->host.stats.gc_ns += now_ns - p->gc_since_ns;
	x->gc_active--;
	x->gc_plane = (plane + 1) % d->g->planes_per_die;
	x->w.waits = false;
}

static void gc_advance(struct direct *d, uint64_t now_ns, uint32_t die)
{
	struct direct_die *x = &d->die[die];
	uint32_t planes = d->g->planes_per_die, i = 0, plane;

	do
		plane = die * planes + (x->gc_plane + i++) % planes;
	while (!d->plane[plane].gc_active);
	x->step = (struct direct_step){ .plane = plane };
	switch (d->scheme->gc_next(d, plane, &x->step)) {
	case DIRECT_STEP:
		gc_step(d, now_ns, die);
		return;
	case DIRECT_PREPARE:
		prepare(d, now_ns, plane);
		return;
	case DIRECT_DONE:
		d->host.stats.gc_runs++;
		d->plane[plane].order.victim = false;
		gc_over(d, now_ns, plane);
		gc_wanted(d, now_ns, plane);
		return;
	case DIRECT_NOTHING:
		d->plane[plane].gc_since_ns = now_ns;
		order_over(d, plane);
		gc_over(d, now_ns, plane);
		return;
	case DIRECT_STUCK:
		d->plane[plane].stuck = x->w.waits && plane_of(d, x->w.op) == plane;
		order_over(d, plane);
		gc_over(d, now_ns, plane);
		return;
	}
	SSD_ASSERT(!"GC goes nowhere");
}

static void gc_go(struct direct *d, uint64_t now_ns, uint32_t die)
{
	struct direct_die *x = &d->die[die];

	gc_advance(d, now_ns, die);
	if (!x->gc_active)
		x->turn.gc_credit = 0;
}

/* ---- the die's turn ----------------------------------------------------------------- */

void direct_die_complete(struct direct *d, uint64_t now_ns, uint32_t die)
{
	struct direct_die *x = &d->die[die];
	enum direct_cmd cmd = x->cmd;

	x->cmd = DIRECT_IDLE;
	switch (cmd) {
	case DIRECT_CMD_READ:
		return;
	case DIRECT_CMD_PROGRAM:
		program_ended(d, now_ns, die);
		return;
	case DIRECT_CMD_PREPARE:
		prepared(d, x);
		return;
	case DIRECT_CMD_GC_READ:
		x->half_copied = true;
		return;
	case DIRECT_CMD_GC:
		d->scheme->gc_done(d, x->step.plane, &x->step);
		return;
	case DIRECT_IDLE:
		break;
	}
	SSD_ASSERT(!"an idle die ended a command");
}

/*
 * May the die's first read go? Without priority it waits for the writes that were submitted before
 * it.
 */
static bool read_may_go(const struct direct *d, const struct direct_die *x, bool write)
{
	uint32_t first = x->w.op != DIRECT_NONE ? x->w.op : x->write_first;

	if (x->read_first == DIRECT_NONE)
		return false;
	if (!write)
		return true;
	if (die_reads_enough(&x->turn, &d->host.c))
		return false;
	return d->host.c.read_priority || d->op[x->read_first].number < d->op[first].number;
}

/* Execute an idle die's next step, which may need no command. Returns false if there is none. */
static bool take_turn(struct direct *d, uint64_t now_ns, uint32_t die)
{
	struct direct_die *x = &d->die[die];
	bool write = x->w.op != DIRECT_NONE ? !x->w.waits : x->write_first != DIRECT_NONE;
	bool gc_first = d->host.c.gc_mode == FTL_GC_BLOCKING || x->turn.gc_credit;

	if (x->half_copied) {
		x->half_copied = false;
		gc_copy_read(d, now_ns, die);
	} else if (x->r.op != DIRECT_NONE) {
		read_go(d, now_ns, die);
	} else if (x->w.op != DIRECT_NONE && x->w.stage == DIRECT_FIND && x->w.searched) {
		write_go(d, now_ns, die);
	} else if (x->gc_active && gc_first) {
		gc_go(d, now_ns, die);
	} else if (read_may_go(d, x, write)) {
		read_go(d, now_ns, die);
	} else if (write) {
		write_go(d, now_ns, die);
	} else if (x->gc_active) {
		gc_go(d, now_ns, die);
	} else {
		return false;
	}
	return true;
}

void direct_die_dispatch(struct direct *d, uint64_t now_ns, uint32_t die)
{
	while (d->die[die].cmd == DIRECT_IDLE && take_turn(d, now_ns, die))
		;
}
