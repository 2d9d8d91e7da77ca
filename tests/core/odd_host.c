// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * odd_host.c - the host of test_odd. Each write and trim has a tag, and every
 * sector written carries its own number and the tag. The rules are:
 *
 *   a read          must return, for each sector, no content older than the last one completed
 *                   before its submission, and none that was never written;
 *   a mount         must find a prefix of the submitted changes that includes all durable ones; with
 *                   placement handles of each unit, and not of all together;
 *   without a cut   it must hold all changes.
 *
 * Replay: test_odd -r ID (see test_odd.c).
 */
#include "odd.h"

void odd_host_make(struct odd *o)
{
	o->sectors = (uint32_t)(o->fc.capacity_bytes / FTL_SECTOR_BYTES);
	o->all = malloc(o->fc.capacity_bytes);
	o->history = malloc(ODD_MAX_CHANGES * sizeof(*o->history));
}

void odd_host_free(struct odd *o)
{
	free(o->all);
	free(o->history);
}

void odd_host_mounted(struct odd *o)
{
	for (uint32_t i = 0; i < ODD_DEPTH; i++)
		o->request[i].busy = false;
	o->busy = 0;
	o->read_only = o->full = false;
}

/* ---- content -------------------------------------------------------------- */

static void stamp(uint8_t *at, uint32_t sector, uint32_t tag)
{
	uint64_t v = (uint64_t)tag << 32 | sector;

	for (uint32_t i = 0; i < FTL_SECTOR_BYTES; i += 8)
		memcpy(at + i, &v, 8);
}

/* Returns the tag of a sector; 0: zeroes. */
static uint32_t tag_of(const struct odd *o, const uint8_t *at, uint32_t sector)
{
	uint64_t v;

	memcpy(&v, at, 8);
	if (memcmp(at, at + 8, FTL_SECTOR_BYTES - 8))
		odd_fail(o, "sector %u is not of one piece", sector);
	if (v && (uint32_t)v != sector)
		odd_fail(o, "sector %u holds what was written to %u", sector, (uint32_t)v);
	return (uint32_t)(v >> 32);
}

static uint32_t new_tag(struct odd *o, bool trim)
{
	SSD_ASSERT(o->tag + 1 < ODD_MAX_TAGS);
	o->is_trim[++o->tag] = trim;
	return o->tag;
}

static struct odd_request *request_of(struct odd *o, struct ftl_io *io)
{
	return io == &o->everything.io ? &o->everything : io->host;
}

void odd_host_copy(struct odd *o, struct ftl_io *io, uint64_t at, void *buf, size_t len)
{
	uint8_t *data = io == &o->everything.io ? o->all : request_of(o, io)->data;

	test_copy(io, data + at, buf, len);
}

/* ---- history -------------------------------------------------------------- */

/* Record changes in pieces that end at multiples of `per`, as the FTL accepts them. */
static void remember(struct odd *o, uint32_t from, uint32_t to, uint32_t per, uint32_t tag)
{
	while (from < to) {
		uint32_t end = (from / per + 1) * per;

		if (end > to)
			end = to;
		SSD_ASSERT(o->changes < ODD_MAX_CHANGES);
		o->history[o->changes++] = (struct odd_change){ from, end - from, tag };
		from = end;
	}
}

/* Set [*from, *to) to the sectors that a write or a trim changes. A trim changes only whole units. */
static void affected(const struct odd *o, const struct ftl_io *io, uint32_t *from, uint32_t *to)
{
	uint32_t per = unit_sectors(o);

	*from = (uint32_t)(io->offset / FTL_SECTOR_BYTES);
	*to = *from + (uint32_t)(io->bytes / FTL_SECTOR_BYTES);
	if (io->op == FTL_TRIM) {
		*from = (*from + per - 1) / per * per;
		*to = *to / per * per;
	}
}

static uint32_t apply(const struct odd *o, uint32_t *state, const struct odd_change *c, uint32_t wrong)
{
	for (uint32_t i = c->sector; i < c->sector + c->count; i++) {
		wrong -= state[i] != o->found[i];
		state[i] = c->tag;
		wrong += state[i] != o->found[i];
	}
	return wrong;
}

/* With placement handles each unit must be in a state that it had after the durable changes. */
static void find_prefixes(const struct odd *o)
{
	static bool good[ODD_MAX_SECTORS];
	uint32_t state[ODD_MAX_SECTORS], per = unit_sectors(o);

	memcpy(state, o->base, sizeof(state));
	for (uint32_t k = 0; k < o->durable; k++)
		(void)apply(o, state, &o->history[k], 0);
	for (uint32_t i = 0; i < o->sectors; i += per)
		good[i] = !memcmp(&state[i], &o->found[i], per * sizeof(*state));
	for (uint32_t k = o->durable; k < o->changes; k++) {
		const struct odd_change *c = &o->history[k];

		(void)apply(o, state, c, 0);
		for (uint32_t i = c->sector / per * per; i < c->sector + c->count; i += per)
			good[i] |= !memcmp(&state[i], &o->found[i], per * sizeof(*state));
	}
	for (uint32_t i = 0; i < o->sectors; i += per)
		if (!good[i])
			odd_fail(o, "sector %u: tag %u is in no state of its unit after the first %u of %u changes; "
				 "the last is %u", i, o->found[i], o->durable, o->changes, state[i]);
}

static void find_prefix(const struct odd *o)
{
	uint32_t state[ODD_MAX_SECTORS], wrong = 0, k = 0;

	memcpy(state, o->base, sizeof(state));
	for (uint32_t i = 0; i < o->sectors; i++)
		wrong += state[i] != o->found[i];
	while (k < o->durable || (wrong && k < o->changes))
		wrong = apply(o, state, &o->history[k++], wrong);
	if (!wrong)
		return;
	for (uint32_t i = 0; i < o->sectors; i++)
		if (state[i] != o->found[i])
			printf("sector %u: tag %u; the last of all is %u\n", i, o->found[i], state[i]);
	odd_fail(o, "no prefix of %u changes, %u of them durable, is what is there", o->changes,
		 o->durable);
}

/* Start the history with the content found. */
static void begin_history(struct odd *o)
{
	uint32_t zeroes = new_tag(o, true);

	memcpy(o->base, o->found, sizeof(o->base));
	o->changes = o->durable = 0;
	for (uint32_t i = 0; i < o->sectors; i++)
		o->newest[i] = o->settled[i] = o->found[i] ? o->found[i] : zeroes;
}

/* ---- time ----------------------------------------------------------------- */

/* Advance to the next event, or past it. */
static void pass_time(struct odd *o)
{
	uint64_t at = o->next_ns;

	for (uint32_t i = 0; i < ODD_DEPTH; i++) {
		const struct odd_request *r = &o->request[i];

		if (r->busy && r->reported && r->due_ns < at)
			at = r->due_ns;
	}
	if (at == FTL_IDLE)
		odd_fail(o, "%u requests wait for ever", o->busy);
	if (at > o->now_ns)
		o->now_ns = at;
	if (flag(o, 'l') && !roll(o, 4))
		o->now_ns += roll(o, 100000);
	o->next_ns = o->f->ops->step(o->f, o->now_ns);
}

void odd_verify(struct odd *o)
{
	struct odd_request *r = &o->everything;

	r->io = (struct ftl_io){ .op = FTL_READ, .bytes = o->fc.capacity_bytes };
	r->reported = false;
	o->f->ops->submit(o->f, o->now_ns, &r->io);
	o->next_ns = o->f->ops->step(o->f, o->now_ns);
	while (!r->reported)
		pass_time(o);
	for (uint32_t i = 0; i < o->sectors; i++)
		o->found[i] = tag_of(o, o->all + i * FTL_SECTOR_BYTES, i);
	if (flag(o, 'h'))
		find_prefixes(o);
	else
		find_prefix(o);
	begin_history(o);
}

/* ---- completion ----------------------------------------------------------- */

/* Returns the good blocks, except those with a failed program that are not empty yet. */
static uint64_t usable_blocks(const struct page_ftl *p)
{
	uint64_t n = p->good_blocks;

	for (uint64_t b = 0; b < geo_blocks(p->g); b++)
		n -= p->bt.blk[b].state == BLK_RETIRE;
	for (uint32_t i = 0; i < p->shape.planes; i++)
		n -= gc_block(&p->plane[i].gc) != BLK_NONE && p->plane[i].gc.retire;
	return n;
}

/*
 * For an FTL that is not ours only this is checked: a program or an erase must have failed, and no
 * read fails.
 */
static void refused_by_other(struct odd *o, const struct odd_request *r)
{
	bool worn = r->io.status == SSD_E_WORNOUT, full = r->io.status == SSD_E_NOSPC;
	bool failed = o->event[ODD_PROGRAMS_FAILED] || o->event[ODD_ERASES_FAILED];

	if (r->io.op == FTL_READ || !(worn || full) || !failed || (worn && r->io.done_ns != r->io.submit_ns))
		odd_fail(o, "request %d: %s", r->io.op, ssd_strerror(r->io.status));
	o->read_only |= worn;
	o->full |= full;
}

/*
 * Check a refused request. If too few blocks of a drive are left, it refuses writes at once and
 * completely. If a failure takes the last free block of a plane, the drive fails the waiting
 * requests. Other errors are not allowed.
 */
static void refused(struct odd *o, const struct odd_request *r)
{
	const struct page_ftl *p = (const struct page_ftl *)controller_behind(o->f);
	bool worn = r->io.status == SSD_E_WORNOUT && p->good_blocks < p->need_blocks &&
		    r->io.done_ns == r->io.submit_ns;
	bool full = r->io.status == SSD_E_NOSPC && p->full &&
		    (usable_blocks(p) < p->need_blocks || usable_blocks(p) < p->good_blocks);

	if (r->io.op == FTL_READ || (!worn && !full))
		odd_fail(o, "request %d: %s; %u of %u dead ranges, %u good blocks, %u usable, %u needed",
			 r->io.op, ssd_strerror(r->io.status), p->log.dead_count, p->log.dead_max,
			 (unsigned int)p->good_blocks, (unsigned int)usable_blocks(p),
			 (unsigned int)p->need_blocks);
	o->read_only |= worn;
	o->full |= full;
}

void odd_host_done(struct odd *o, struct ftl_io *io)
{
	struct odd_request *r = request_of(o, io);
	bool durable = io->op == FTL_FLUSH || (io->op == FTL_WRITE && io->fua) ||
		       (io->op != FTL_READ && !o->fc.buffer_units &&
			(io->op == FTL_TRIM || o->fc.accounting == FTL_ACCOUNT_DEVICE));

	if (r->reported)
		odd_fail(o, "request %d is reported twice", io->op);
	r->reported = true;
	r->due_ns = io->done_ns;
	if (io->status != SSD_OK && odd_other)
		refused_by_other(o, r);
	else if (io->status != SSD_OK)
		refused(o, r);
	else if (durable && r->changes > o->durable && !(odd_other && o->full))
		o->durable = r->changes;	/* full: a flush promises nothing of refused changes */
}

static void check_read(const struct odd *o, const struct odd_request *r)
{
	for (uint32_t i = 0; i < r->io.bytes / FTL_SECTOR_BYTES; i++) {
		uint32_t sector = (uint32_t)(r->io.offset / FTL_SECTOR_BYTES) + i;
		uint32_t tag = tag_of(o, r->data + i * FTL_SECTOR_BYTES, sector), low = r->low[i];
		bool good = tag ? tag >= low && tag <= o->newest[sector] : !low;

		while (!tag && !good && low <= o->newest[sector])
			good = o->is_trim[low++];
		if (!good)
			odd_fail(o, "a read of sector %u saw tag %u, not %u .. %u", sector, tag,
				 r->low[i], o->newest[sector]);
	}
}

static void complete(struct odd *o, struct odd_request *r)
{
	uint32_t from, to;

	r->busy = false;
	o->busy--;
	if (r->io.status != SSD_OK)
		return;
	if (r->io.op == FTL_READ)
		check_read(o, r);
	if (r->io.op != FTL_WRITE && r->io.op != FTL_TRIM)
		return;
	affected(o, &r->io, &from, &to);
	for (; from < to; from++)
		if (r->tag > o->settled[from])
			o->settled[from] = r->tag;
}

static void complete_due(struct odd *o)
{
	for (uint32_t i = 0; i < ODD_DEPTH; i++) {
		struct odd_request *r = &o->request[i];

		if (r->busy && r->reported && r->due_ns <= o->now_ns)
			complete(o, r);
	}
}

/* ---- requests ------------------------------------------------------------- */

static enum ftl_op draw_op(struct odd *o)
{
	uint32_t dice = roll(o, 100);

	return dice < 60 ? FTL_WRITE : dice < 80 ? FTL_READ : dice < 92 ? FTL_TRIM : FTL_FLUSH;
}

static void draw_range(struct odd *o, enum ftl_op op, uint32_t *at, uint32_t *count)
{
	uint32_t per = unit_sectors(o);
	uint32_t most = o->sectors < ODD_MAX_REQUEST ? o->sectors : ODD_MAX_REQUEST;
	bool large = !roll(o, 3) && !flag(o, 's');

	*count = 1 + roll(o, large ? most : per * 3);
	*at = roll(o, roll(o, 3) ? o->sectors : o->sectors / 8 + 1);
	if (roll(o, 2)) {
		*at -= *at % per;
		*count = (*count + per - 1) / per * per;
	}
	if (op == FTL_TRIM && !roll(o, 12)) {
		*at = 0;
		*count = o->sectors;
	}
	if (*count > most)
		*count = most;
	if (*count > o->sectors - *at)
		*count = o->sectors - *at;
}

static void prepare(struct odd *o, struct odd_request *r)
{
	enum ftl_op op = draw_op(o);
	uint32_t at, count, from, to;

	draw_range(o, op, &at, &count);
	r->io = (struct ftl_io){ .op = op, .host = r, .fua = !roll(o, 10),
				 .offset = (uint64_t)at * FTL_SECTOR_BYTES,
				 .bytes = (uint64_t)count * FTL_SECTOR_BYTES };
	if (flag(o, 'h'))
		r->io.handle = (uint8_t)roll(o, ftl_handles(&o->fc));
	affected(o, &r->io, &from, &to);
	r->tag = 0;
	if (op == FTL_WRITE) {
		r->tag = new_tag(o, false);
		for (uint32_t i = 0; i < count; i++)
			stamp(r->data + i * FTL_SECTOR_BYTES, at + i, r->tag);
		remember(o, from, to, unit_sectors(o), r->tag);
	} else if (op == FTL_TRIM) {
		r->tag = new_tag(o, true);
		remember(o, from, to, odd_other ? 1 : o->fc.unit_bytes * 8 * unit_sectors(o), 0);
	} else if (op == FTL_READ) {
		for (uint32_t i = 0; i < count; i++)
			r->low[i] = o->settled[at + i];
	}
}

static struct odd_request *free_request(struct odd *o)
{
	struct odd_request *r = o->request;

	while (r->busy)
		r++;
	return r;
}

static void submit(struct odd *o, struct odd_request *r)
{
	r->changes = o->changes;
	r->busy = true;
	r->reported = false;
	o->busy++;
	o->f->ops->submit(o->f, o->now_ns, &r->io);
	o->next_ns = o->f->ops->step(o->f, o->now_ns);
}

static void submit_random(struct odd *o)
{
	struct odd_request *r = free_request(o);
	uint32_t before = o->changes, from, to;

	prepare(o, r);
	affected(o, &r->io, &from, &to);
	for (uint32_t s = from; r->tag && s < to; s++)
		o->newest[s] = r->tag;
	submit(o, r);
	if (r->io.status == SSD_E_WORNOUT)
		o->changes = before;	/* the change did not happen */
}

static void check_now_and_then(struct odd *o)
{
	if (!roll(o, 6))
		o->f->ops->check(o->f);
}

void odd_work(struct odd *o, uint32_t requests)
{
	while (requests) {
		complete_due(o);
		if (o->busy < ODD_DEPTH && roll(o, 3)) {
			submit_random(o);
			requests--;
		} else if (o->busy || o->next_ns != FTL_IDLE) {
			pass_time(o);
		}
		check_now_and_then(o);
	}
}

void odd_drain(struct odd *o)
{
	for (complete_due(o); o->busy; complete_due(o))
		pass_time(o);
	o->f->ops->check(o->f);
}

void odd_flush(struct odd *o)
{
	struct odd_request *r = free_request(o);

	r->io = (struct ftl_io){ .op = FTL_FLUSH, .host = r };
	submit(o, r);
	odd_drain(o);
}
