// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * buffered_ftl.c - a log behind a write buffer, with units smaller than pages: ftl.type = buffered.
 * On ftl/common alone: host.h accepts and ends I/Os, survey.h reads the array at mount.
 *
 * A write ends when its units are in the buffer, a ring in the order of acceptance. The ring's
 * first units are programmed at the log's end, a page of them at a time. A flush waits until the
 * ring has gone by it. One command executes at a time in the drive: reads first, then GC, then
 * host pages. A unit is a sector, so no write has to read what it does not replace.
 *
 * B1  map[u] = p exactly if back[p] = u; valid[b] counts block b's.
 * B2  newest[u] is the last slot of the ring that has unit u, or NONE.
 * B3  A unit on flash has the number of the write that made it, a page the number of its program: of
 *     two copies with equal numbers that in the later page is the newest.
 * B4  GC always finds a block: the host leaves it gc_urgent_blocks.
 */
#include "host.h"
#include "nand_geom.h"
#include "oob.h"
#include "survey.h"

#define NONE 0xffffffffu
#define UNIT FTL_SECTOR_BYTES

enum command { NOTHING, READ, PROGRAM, GC_READ, GC_PROGRAM, GC_ERASE, PREPARE };
enum state { FREE, DIRTY, OPEN, FULL, FAILING, BAD };	/* DIRTY: free, perhaps half erased */

struct slot {
	uint32_t unit;			/* unit of GC's copy, with OOB_LOST */
	uint32_t from;			/* GC: its previous place */
	uint64_t seq;
};

struct buffered {
	struct host host;
	struct nand *n;
	const struct nand_geometry *g;
	struct survey survey;
	uint32_t upp, units, blocks, needed, good, free;
	uint32_t *map, *back, *newest, *valid, *used;
	uint64_t *seq, *order;		/* mount: of what map[] names */
	uint8_t *state;
	struct slot *slot, *hand;	/* the ring; what GC has read, at most two pages */
	uint8_t *data, *copies, *page, *oob;
	uint32_t first, count, held, open, next, target, victim, at, erasing, flying, reads_in_row;
	uint64_t number, stable, done_ns;
	enum command command;
	bool failed;
	struct io_list line, durable, reads;
};

static struct buffered *buffered_of(struct ftl *f)
{
	return ssd_container_of(f, struct buffered, host.base);
}

static void point(struct buffered *b, uint32_t tag, uint32_t upn)
{
	uint32_t unit = tag & ~OOB_LOST, old = b->map[unit] & ~OOB_LOST, per = b->upp * b->g->pages_per_block;

	if (b->map[unit] != NONE) {
		b->back[old] = NONE;
		b->valid[old / per]--;
	}
	b->map[unit] = upn | (tag & OOB_LOST);
	b->back[upn] = unit;
	b->valid[upn / per]++;
}

/* ---- commands ---- */

static void issue(struct buffered *b, enum command command, struct nand_cmd *c)
{
	nand_submit(b->n, b->host.now_ns, c, 1);
	SSD_ASSERT(c->status != NAND_VIOLATION);
	b->command = command;
	b->done_ns = c->done_ns;
	b->failed = c->status == NAND_PROG_FAIL || c->status == NAND_ERASE_FAIL;
}

static void erase(struct buffered *b, enum command command, uint32_t block)
{
	struct nand_cmd c = { .op = NAND_ERASE, .source = command == PREPARE ? NAND_SRC_META : NAND_SRC_GC,
			      .pb = NAND_WHOLE_BLOCK, .ppn = geo_ppn(b->g, (pbn_t){ block }, 0) };

	b->erasing = block;
	issue(b, command, &c);
}

static void erased(struct buffered *b, bool was_free)
{
	bool bad = b->failed || b->state[b->erasing] == FAILING;

	b->state[b->erasing] = bad ? BAD : FREE;
	b->free += !bad - was_free;
	if (!bad)
		return;
	b->n->ops->mark_bad(b->n, (pbn_t){ b->erasing });
	b->host.stats.retired_blocks++;
	b->host.worn |= --b->good < b->needed;
}

/*
 * Is there a page? A new block is taken only if more than `reserve` are free. Also true if one is
 * being prepared.
 */
static bool has_room(struct buffered *b, uint32_t reserve)
{
	if (b->open != NONE)
		return true;
	if (b->free <= reserve)
		return false;
	for (b->open = 0; b->state[b->open] > DIRTY; b->open++)
		;
	b->next = 0;
	if (b->state[b->open] == FREE) {
		b->state[b->open] = OPEN;
		b->free--;
		return true;
	}
	erase(b, PREPARE, b->open);
	b->open = NONE;
	return true;
}

/* Program the first n units of the ring, or of GC's hand. */
static void program(struct buffered *b, enum command command, uint32_t n)
{
	struct oob_head h = { .order = ++b->number, .mark = b->number, .kind = OOB_HOST };
	struct nand_cmd c = { .op = NAND_PROGRAM, .source = command == PROGRAM ? NAND_SRC_HOST : NAND_SRC_GC,
			      .ppn = geo_ppn(b->g, (pbn_t){ b->open }, b->next++), .data = b->page, .oob = b->oob };

	oob_put_head(b->oob, &h);
	for (uint32_t i = 0; i < b->upp; i++) {
		uint32_t at = command == PROGRAM ? (b->first + i) % b->host.c.buffer_units : i;
		const struct slot *s = command == PROGRAM ? &b->slot[at] : &b->hand[at];

		oob_put_unit(b->oob, i, i < n ? s->unit : OOB_NO_LPN, i < n ? s->seq : 0);
		if (i < n)
			memcpy(b->page + i * UNIT, (command == PROGRAM ? b->data : b->copies) + at * UNIT, UNIT);
	}
	b->flying = n;
	b->target = c.ppn.v;
	issue(b, command, &c);
	if (b->next == b->g->pages_per_block) {
		b->state[b->open] = FULL;
		b->open = NONE;
	}
}

/* The program failed: no more pages go to that block, and its content is moved. */
static bool program_failed(struct buffered *b)
{
	uint32_t block = b->target / b->g->pages_per_block;

	if (!b->failed)
		return false;
	b->state[block] = FAILING;
	if (b->open == block)
		b->open = NONE;
	return true;
}

/* ---- writes, flushes ---- */

static void end_io(struct buffered *b, struct ftl_io *io, uint64_t spent_ns, enum ssd_err status)
{
	io->where.map_ns = b->host.c.map_ns;
	io->where.other_ns = b->host.c.overhead_ns;
	io->where.buffer_ns = b->host.now_ns + spent_ns - io->submit_ns;
	host_finish(&b->host, io, b->host.now_ns + spent_ns + host_front_ns(&b->host), status);
}

static void end_durable(struct buffered *b)
{
	while (b->durable.first && (!b->count || b->durable.first->seq <= b->stable))
		end_io(b, io_list_take(&b->durable), 0, SSD_OK);
}

static void accept_units(struct buffered *b, struct ftl_io *io)
{
	for (; io->at < io->bytes && b->count < b->host.c.buffer_units; io->at += UNIT, b->count++) {
		uint32_t at = (b->first + b->count) % b->host.c.buffer_units;
		uint32_t unit = (uint32_t)((io->offset + io->at) / UNIT);

		b->slot[at] = (struct slot){ .unit = unit, .seq = ++b->number };
		host_copy(&b->host, io, io->at, b->data + at * UNIT, UNIT);
		b->newest[unit] = at;
	}
}

/* Move waiting I/Os into the buffer while there is room. */
static void fill(struct buffered *b)
{
	struct ftl_io *io;

	while ((io = b->line.first)) {
		accept_units(b, io);
		if (io->at < io->bytes)
			return;
		(void)io_list_take(&b->line);
		io->seq = b->number;
		if (io->op == FTL_FLUSH || io->fua)
			io_list_add(&b->durable, io);
		else
			end_io(b, io, b->host.c.buffer_ns, SSD_OK);
	}
	end_durable(b);
}

static void programmed(struct buffered *b)
{
	if (program_failed(b))
		return;
	for (uint32_t i = 0; i < b->flying; i++) {
		const struct slot *s = &b->slot[b->first];

		point(b, s->unit, b->target * b->upp + i);
		if (b->newest[s->unit] == b->first)
			b->newest[s->unit] = NONE;
		b->stable = s->seq;
		b->first = (b->first + 1) % b->host.c.buffer_units;
	}
	b->count -= b->flying;
	b->host.stats.host_units += b->flying;
}

/* ---- reads ---- */

/*
 * Read consecutive units of one flash page. Units in the buffer and unwritten units need no
 * command.
 */
static void read_on(struct buffered *b, struct ftl_io *io)
{
	struct nand_cmd c = { .op = NAND_READ, .source = NAND_SRC_HOST, .ecc_words = NAND_WHOLE_PAGE };
	const uint8_t *page = NULL;
	uint64_t done_ns;

	for (; io->at < io->bytes; io->at += UNIT) {
		uint32_t unit = (uint32_t)((io->offset + io->at) / UNIT), upn = b->map[unit] & ~OOB_LOST;
		const uint8_t *from = NULL;

		if (b->newest[unit] != NONE) {
			from = b->data + b->newest[unit] * UNIT;
		} else if (b->map[unit] != NONE) {
			if (page && upn / b->upp != c.ppn.v)
				return;
			if (!page) {
				c.ppn.v = upn / b->upp;
				issue(b, READ, &c);
				io->where.cell_ns += c.cell_ns;
				io->where.bus_ns += c.bus_ns;
				page = c.page ? c.page : b->page;
			}
			if (b->map[unit] & OOB_LOST || !survey_readable(c.status))
				io->status = SSD_E_UNCORR;
			from = page + upn % b->upp * UNIT;
		}
		host_copy(&b->host, io, io->at, (void *)(uintptr_t)from, UNIT);
	}
	if (page)
		return;
	(void)io_list_take(&b->reads);
	done_ns = b->host.now_ns + host_front_ns(&b->host);
	io->where.map_ns = b->host.c.map_ns;
	io->where.other_ns = b->host.c.overhead_ns;
	io->where.host_queue_ns = done_ns - io->submit_ns - ftl_breakdown_sum(&io->where);
	host_finish(&b->host, io, done_ns, io->status);
}

/* ---- GC ---- */

/*
 * Returns a failing block, else the one with the fewest units to move; collecting it must free a
 * page.
 */
static uint32_t choose(const struct buffered *b)
{
	uint32_t best = NONE, least = (b->g->pages_per_block - 1) * b->upp + 1;

	for (uint32_t i = 0; i < b->blocks; i++) {
		if (b->state[i] == FAILING)
			return i;
		if (b->state[i] == FULL && b->valid[i] < least) {
			best = i;
			least = b->valid[i];
		}
	}
	return b->free < b->host.c.gc_start_blocks ? best : NONE;
}

static void gc_read(struct buffered *b)
{
	uint32_t ppn = b->victim * b->g->pages_per_block + b->at++;
	struct nand_cmd c = { .op = NAND_READ, .source = NAND_SRC_GC, .ppn = { ppn },
			      .ecc_words = NAND_WHOLE_PAGE, .oob = b->oob };

	issue(b, GC_READ, &c);
	for (uint32_t i = 0; i < b->upp; i++) {
		uint32_t upn = ppn * b->upp + i, unit = b->back[upn];
		bool ok = survey_readable(c.status) && c.page;

		if (unit == NONE)
			continue;
		b->hand[b->held] = (struct slot){ .from = upn, .seq = ok ? oob_get_seq(b->oob, i) : b->stable,
						  .unit = unit | (ok ? b->map[unit] & OOB_LOST : OOB_LOST) };
		if (ok)
			memcpy(b->copies + b->held * UNIT, (const uint8_t *)c.page + i * UNIT, UNIT);
		b->held++;
	}
}

/* Forget units in hand that have been written since. */
static void drop_stale(struct buffered *b)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < b->held; i++) {
		if ((b->map[b->hand[i].unit & ~OOB_LOST] & ~OOB_LOST) != b->hand[i].from)
			continue;
		b->hand[kept] = b->hand[i];
		memmove(b->copies + kept++ * UNIT, b->copies + i * UNIT, UNIT);
	}
	b->held = kept;
}

static void moved(struct buffered *b)
{
	if (program_failed(b))
		return;
	for (uint32_t i = 0; i < b->flying; i++)
		point(b, b->hand[i].unit, b->target * b->upp + i);
	b->host.stats.gc_units += b->flying;
	drop_stale(b);			/* they have been programmed elsewhere */
}

/* Issue GC's next command. Returns false if there is nothing to do, or nothing can be done. */
static bool gc(struct buffered *b)
{
	uint32_t first = b->victim * b->g->pages_per_block * b->upp;

	if (b->victim == NONE) {
		b->victim = choose(b);
		if (b->victim == NONE)
			return false;
		b->at = b->held = 0;
		return gc(b);
	}
	drop_stale(b);
	for (bool found = false; b->at < b->g->pages_per_block; b->at++) {
		for (uint32_t i = 0; i < b->upp; i++)
			found |= b->back[first + b->at * b->upp + i] != NONE;
		if (found)
			break;
	}
	if (b->held >= b->upp || (b->held && b->at == b->g->pages_per_block)) {
		if (!has_room(b, 0))
			return false;
		if (b->command == NOTHING)
			program(b, GC_PROGRAM, b->held < b->upp ? b->held : b->upp);
	} else if (b->at < b->g->pages_per_block) {
		gc_read(b);
	} else if (b->valid[b->victim]) {
		b->at = 0;		/* a program failed, or a unit came back: start again */
		return gc(b);
	} else {
		erase(b, GC_ERASE, b->victim);
	}
	return true;
}

/* ---- what is next ---- */

static bool wants_program(const struct buffered *b)
{
	return b->count >= b->upp || (b->count && (b->durable.first || b->line.first));
}

static bool write_on(struct buffered *b)
{
	if (gc(b))
		return true;
	if (!wants_program(b) || !has_room(b, b->host.c.gc_urgent_blocks))
		return false;
	if (b->command == NOTHING)
		program(b, PROGRAM, b->count < b->upp ? b->count : b->upp);
	return true;
}

static void go_on(struct buffered *b)
{
	fill(b);
	while (b->command == NOTHING) {
		if (b->reads.first && b->reads_in_row < 8) {
			b->reads_in_row++;
			read_on(b, b->reads.first);
			continue;
		}
		b->reads_in_row = 0;
		if (write_on(b))
			return;
		if (b->reads.first)
			continue;
		if (!wants_program(b))
			return;
		b->host.worn = true;	/* too many blocks are bad: waiting I/Os fail */
		while (b->line.first)
			host_refuse(&b->host, io_list_take(&b->line), SSD_E_NOSPC);
		while (b->durable.first)
			host_refuse(&b->host, io_list_take(&b->durable), SSD_E_NOSPC);
		if (wants_program(b))
			return;
	}
}

static void end_command(struct buffered *b)
{
	enum command command = b->command;

	b->command = NOTHING;
	switch (command) {
	case PROGRAM:
		programmed(b);
		break;
	case GC_PROGRAM:
		moved(b);
		break;
	case GC_ERASE:
		b->victim = NONE;
		b->host.stats.gc_runs++;
		erased(b, false);
		break;
	case PREPARE:
		erased(b, true);
		break;
	default:
		break;
	}
}

static void pump(struct buffered *b, uint64_t now_ns)
{
	host_set_time(&b->host, now_ns);
	if (b->command == NOTHING || b->done_ns > now_ns)
		return;
	end_command(b);
	go_on(b);
}

static uint64_t step(struct ftl *f, uint64_t now_ns)
{
	struct buffered *b = buffered_of(f);

	pump(b, now_ns);
	return b->command == NOTHING ? FTL_IDLE : b->done_ns;
}

static void submit(struct ftl *f, uint64_t now_ns, struct ftl_io *io)
{
	struct buffered *b = buffered_of(f);

	pump(b, now_ns);
	host_accept(&b->host, io);
	if (io->op == FTL_READ)
		io_list_add(&b->reads, io);
	else if (io->op != FTL_FLUSH && b->host.worn)
		host_refuse(&b->host, io, SSD_E_WORNOUT);
	else if (io->op == FTL_TRIM)
		host_part_now(&b->host, io);
	else
		io_list_add(&b->line, io);
	go_on(b);
}

/* ---- mount ---- */

static int visit(void *ftl, uint32_t block, uint32_t page)
{
	struct buffered *b = ftl;
	uint32_t ppn = block * b->g->pages_per_block + page;
	struct nand_cmd c = { .op = NAND_READ, .source = NAND_SRC_META, .ppn = { ppn },
			      .ecc_words = NAND_OOB_ONLY, .oob = b->oob };
	struct oob_head h;

	survey_command(&b->survey, &c);
	if (c.status == NAND_ERASED)
		return SSD_OK;
	b->survey.anything = true;
	b->used[block] = page + 1;
	b->survey.unreadable += !survey_readable(c.status);
	if (!survey_readable(c.status))
		return SSD_OK;
	h = oob_get_head(b->oob);
	if (h.order > b->number)
		b->number = h.order;
	for (uint32_t i = 0; i < b->upp; i++) {
		uint32_t tag = oob_get_lpn(b->oob, i), unit = tag & ~OOB_LOST;
		uint64_t seq = oob_get_seq(b->oob, i);

		if (tag == OOB_NO_LPN)
			continue;
		if (unit >= b->units || seq > h.order)
			return SSD_E_CORRUPT;
		if (b->map[unit] != NONE && (seq < b->seq[unit] || (seq == b->seq[unit] && h.order < b->order[unit])))
			continue;
		b->map[unit] = (ppn * b->upp + i) | (tag & OOB_LOST);
		b->seq[unit] = seq;
		b->order[unit] = h.order;
	}
	return SSD_OK;
}

/*
 * A block with erased pages at its end is the log's, or its erase was interrupted and it has no
 * valid page.
 */
static void sort_block(struct buffered *b, uint32_t block)
{
	if (b->n->ops->is_bad(b->n, (pbn_t){ block })) {
		b->state[block] = BAD;
		b->good--;
	} else if (!b->valid[block]) {
		b->state[block] = b->survey.anything ? DIRTY : FREE;
		b->free++;
	} else if (b->used[block] < b->g->pages_per_block && b->open == NONE) {
		b->state[block] = OPEN;
		b->open = block;
		b->next = b->used[block];
	} else {
		b->state[block] = FULL;
	}
}

static int mount(struct ftl *f, uint64_t now_ns, uint64_t *ready_ns)
{
	struct buffered *b = buffered_of(f);
	uint32_t per = b->upp * b->g->pages_per_block;
	int err;

	survey_begin(&b->survey, b->n, now_ns);
	err = survey_pages(&b->survey, visit, b);
	if (err)
		return err;
	b->host.worn = b->host.frozen = !survey_number(&b->survey, &b->number, b->upp + 1);
	for (uint32_t u = 0; u < b->units; u++)
		if (b->map[u] != NONE) {
			b->back[b->map[u] & ~OOB_LOST] = u;
			b->valid[(b->map[u] & ~OOB_LOST) / per]++;
		}
	for (uint32_t i = 0; i < b->blocks; i++)
		sort_block(b, i);
	b->host.worn |= b->good < b->needed;
	b->host.stats.mounts++;
	*ready_ns = b->host.now_ns = b->survey.ready_ns;
	return SSD_OK;
}

/* ---- the table ---- */

static void check(const struct ftl *f)
{
	const struct buffered *b = (const struct buffered *)f;
	uint32_t valid = 0, mapped = 0, free = 0;

	for (uint32_t u = 0; u < b->units; u++) {
		mapped += b->map[u] != NONE;
		SSD_ASSERT(b->map[u] == NONE || b->back[b->map[u] & ~OOB_LOST] == u);		/* B1 */
		SSD_ASSERT(b->newest[u] == NONE || b->slot[b->newest[u]].unit == u);		/* B2 */
	}
	for (uint32_t i = 0; i < b->blocks; i++) {
		valid += b->valid[i];
		free += b->state[i] <= DIRTY;
		SSD_ASSERT(!b->valid[i] || (b->state[i] > DIRTY && b->state[i] < BAD));
	}
	SSD_ASSERT(valid == mapped && free == b->free);						/* B1 */
}

static uint32_t blocks_needed(const struct ftl_config *c, const struct nand_geometry *g)
{
	uint32_t upp = g->page_bytes / UNIT, per = (g->pages_per_block - 1) * upp + 1;

	return (uint32_t)(c->capacity_bytes / UNIT / per) + 1 + c->gc_start_blocks;
}

static int validate(const struct ftl_config *c, const struct nand_geometry *g, const char **why)
{
	*why = NULL;
	if (c->unit_bytes != UNIT)
		*why = "unit_bytes must be 512: this FTL maps sectors";
	else if (!c->capacity_bytes || c->capacity_bytes % UNIT)
		*why = "capacity_bytes must be a multiple of 512, and not 0";
	else if (c->buffer_units < g->page_bytes / UNIT)
		*why = "buffer_units must hold a NAND page at least";
	else if (c->gc_urgent_blocks < 2 || c->gc_urgent_blocks >= c->gc_start_blocks)
		*why = "gc_urgent_blocks must be 2 .. gc_start_blocks - 1";
	else if (g->order != NAND_ORDER_ASCENDING || g->one_shot || !c->payload)
		*why = "order must be ascending, one_shot no, payload yes";
	else if (g->oob_bytes < OOB_BYTES(g->page_bytes / UNIT))
		*why = "oob_bytes is too small: 7 and 9 for each sector of a page are needed";
	else if (blocks_needed(c, g) > geo_blocks(g) || geo_pages(g) * (g->page_bytes / UNIT) >= OOB_LOST)
		*why = "the geometry cannot hold the exported capacity: lower capacity, or add blocks";
	return *why ? SSD_E_INVAL : SSD_OK;
}

static uint32_t oob_bytes(const struct ftl_config *c, const struct nand_geometry *g)
{
	return OOB_BYTES(g->page_bytes / c->unit_bytes);
}

static size_t lay_out(struct buffered *b, struct ssd_arena *m, const struct ftl_config *c,
		      const struct nand_geometry *g)
{
	struct buffered at = { .upp = g->page_bytes / UNIT, .units = (uint32_t)(c->capacity_bytes / UNIT),
			       .blocks = (uint32_t)geo_blocks(g) };

	at.map = ssd_carve(m, at.units, sizeof(*at.map));
	at.newest = ssd_carve(m, at.units, sizeof(*at.newest));
	at.seq = ssd_carve(m, at.units, sizeof(*at.seq));
	at.order = ssd_carve(m, at.units, sizeof(*at.order));
	at.back = ssd_carve(m, geo_pages(g) * at.upp, sizeof(*at.back));
	at.valid = ssd_carve(m, at.blocks, sizeof(*at.valid));
	at.used = ssd_carve(m, at.blocks, sizeof(*at.used));
	at.state = ssd_carve(m, at.blocks, sizeof(*at.state));
	at.slot = ssd_carve(m, c->buffer_units, sizeof(*at.slot));
	at.data = ssd_carve(m, c->buffer_units, UNIT);
	at.hand = ssd_carve(m, (size_t)2 * at.upp, sizeof(*at.hand));
	at.copies = ssd_carve(m, 2, g->page_bytes);
	at.page = ssd_carve(m, 1, g->page_bytes);
	at.oob = ssd_carve(m, 1, OOB_BYTES(at.upp));
	if (b)
		*b = at;
	return m->used;
}

static size_t footprint(const struct ftl_config *c, const struct nand_geometry *g)
{
	struct ssd_arena m = { NULL, sizeof(struct buffered) };

	return lay_out(NULL, &m, c, g);
}

extern const struct ftl_ops buffered_ftl_ops;

static int init(void *mem, size_t len, const struct ftl_config *c, struct nand *n,
		const struct ftl_host *host, struct ftl **out)
{
	struct ssd_arena m = { mem, sizeof(struct buffered) };
	struct buffered *b = mem;
	const char *why;

	if (validate(c, &n->geo, &why) != SSD_OK)
		return SSD_E_INVAL;
	if (len < footprint(c, &n->geo))
		return SSD_E_NOMEM;
	lay_out(b, &m, c, &n->geo);
	host_init(&b->host, &buffered_ftl_ops, c, host);
	b->n = n;
	b->g = &n->geo;
	b->needed = blocks_needed(c, b->g);
	b->good = b->blocks;
	b->open = b->victim = NONE;
	memset(b->map, 0xff, b->units * sizeof(*b->map));
	memset(b->newest, 0xff, b->units * sizeof(*b->newest));
	memset(b->back, 0xff, geo_pages(b->g) * b->upp * sizeof(*b->back));
	*out = &b->host.base;
	return SSD_OK;
}

static uint64_t map_bytes(const struct ftl *f)
{
	return (uint64_t)((const struct buffered *)f)->units * sizeof(uint32_t);
}

const struct ftl_ops buffered_ftl_ops = {
	.name = "buffered", .durability = FTL_FLUSHED, .oob_bytes = oob_bytes, .validate = validate,
	.footprint = footprint, .init = init, .mount = mount, .submit = submit, .step = step, .check = check,
	.stats = host_stats, .reset_stats = host_reset_stats, .map_bytes = map_bytes, .inflight = host_inflight,
};
