// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * buffered_ftl.c - an example FTL with a write buffer and units smaller than pages: ftl.type = buffered.
 * It uses ftl/common alone; docs/writing-an-ftl.md explains it. I/Os are served in their order, and one
 * command executes at a time.
 *
 * B1  Units with numbers below `stable` are on flash, those from there to `number` in the ring.
 * B2  seq[u] is the number of unit u's newest version, 0 if there is none; map[u] is the place of its
 *     newest version on flash. valid[b] counts the units that map places in block b.
 * B3  A block without valid units has nothing that a mount needs. It is free, and erased before use.
 *     `free` counts these blocks. A block that is `out` is not free, and GC does not collect it.
 * B4  The host's units enter the ring only if they fit beside gc_urgent_blocks free blocks.
 */
#include "die.h"
#include "host.h"
#include "nand_geom.h"
#include "oob.h"

#define UNIT FTL_SECTOR_BYTES
#define NONE OOB_NO_LPN

struct buffered {
	struct host host;
	struct nand_cmd cmd;		/* the last command; it is under way if `busy` */
	struct io_list line;
	bool busy, *out;		/* out: the log's block, bad blocks, those left alone until the next mount */
	uint32_t blocks, units, upp, upb, ring;	/* units of the drive, a page, a block, the ring */
	uint32_t *map, *valid, free;
	uint32_t next, left;		/* the log's next page; pages left in its block */
	uint32_t victim, at;		/* block that GC collects, or NONE; its next page */
	uint64_t *seq, number, stable, accepted;	/* accepted: next number after the host's last unit */
	uint8_t *data, *oob;		/* of the ring; spare areas of its pages, and of the page read last */
};

/* Give the unit, or with NONE the rest of a page, the next number. Returns where its data go. */
static uint8_t *put(struct buffered *b, uint32_t unit)
{
	uint32_t at = b->number % b->ring;

	oob_put_unit(b->oob + at / b->upp * OOB_BYTES(b->upp), at % b->upp, unit, b->number);
	if (unit != NONE)
		b->seq[unit] = b->number;
	b->number++;
	return b->data + at * UNIT;
}

static void point(struct buffered *b, uint32_t unit, uint32_t upn)
{
	uint32_t old = b->map[unit];

	b->map[unit] = upn;
	b->valid[upn / b->upb]++;
	if (old != NONE)
		b->free += !--b->valid[old / b->upb] && !b->out[old / b->upb];
}

/* Returns a block with the fewest valid units, at least `least` and less than `below`, or NONE. */
static uint32_t fewest(const struct buffered *b, uint32_t least, uint32_t below)
{
	uint32_t best = NONE;

	for (uint32_t i = 0; i < b->blocks; i++)
		if (!b->out[i] && b->valid[i] >= least && b->valid[i] < below) {
			best = i;
			below = b->valid[i];
		}
	return best;
}

/*
 * Issue a command. ring: the place in the ring of the page that a program writes, or of the spare area that a read
 * fills.
 */
static void issue(struct buffered *b, enum nand_op op, enum nand_source source, uint32_t ppn, uint32_t ring)
{
	b->cmd = (struct nand_cmd){ .op = op, .source = source, .ppn = { ppn }, .ecc_words = NAND_WHOLE_PAGE,
				    .pb = NAND_WHOLE_BLOCK, .data = b->data + ring * UNIT,
				    .oob = b->oob + ring / b->upp * OOB_BYTES(b->upp) };
	die_command(b->host.n, b->host.now_ns, &b->cmd, 1);
	b->busy = true;
}

/* Returns true when the I/O can end. */
static bool write(struct buffered *b, struct ftl_io *io)
{
	int64_t room = ((int64_t)b->free - b->host.c.gc_urgent_blocks) * b->upb + b->left * b->upp;

	for (; io->at < io->bytes; io->at += UNIT) {
		uint32_t unit = (uint32_t)((io->offset + io->at) / UNIT);
		int64_t count = (int64_t)(b->number - b->stable);

		if (io->op == FTL_TRIM && !b->seq[unit])
			continue;
		if (count >= b->host.c.buffer_units || count >= room)
			return false;
		if (io->op == FTL_TRIM)
			memset(put(b, unit), 0, UNIT);
		else
			host_copy(&b->host, io, io->at, put(b, unit), UNIT);
		b->accepted = b->number;
	}
	return b->accepted <= b->stable || (io->op != FTL_FLUSH && !io->fua);
}

static bool read(struct buffered *b, struct ftl_io *io)
{
	for (; io->at < io->bytes; io->at += UNIT) {
		uint32_t unit = (uint32_t)((io->offset + io->at) / UNIT);
		uint8_t *data = NULL;			/* zeroes */

		if (b->seq[unit] >= b->stable) {
			data = b->data + b->seq[unit] % b->ring * UNIT;
		} else if (b->seq[unit]) {
			if (!b->busy && (b->cmd.op != NAND_READ || b->cmd.ppn.v != b->map[unit] / b->upp))
				issue(b, NAND_READ, NAND_SRC_HOST, b->map[unit] / b->upp, b->ring);
			if (b->busy)
				return false;
			if (survey_readable(b->cmd.status))
				data = (uint8_t *)(uintptr_t)b->cmd.page + b->map[unit] % b->upp * UNIT;
			else
				io->status = SSD_E_UNCORR;
		}
		host_copy(&b->host, io, io->at, data, UNIT);
	}
	return true;
}

/* Program the ring's first page if it is full or awaited, or erase a block for it. */
static void program(struct buffered *b)
{
	uint64_t count = b->number - b->stable;
	bool awaited = (b->line.first && b->line.first->at == b->line.first->bytes) ||
		       (b->victim != NONE && b->at == b->host.n->geo.pages_per_block);

	if (!count || (count < b->upp && !awaited))
		return;
	if (b->left) {
		while (b->number < b->stable + b->upp)
			(void)put(b, NONE);
		issue(b, NAND_PROGRAM, NAND_SRC_HOST, b->next, b->stable % b->ring);
	} else if (b->free) {
		issue(b, NAND_ERASE, NAND_SRC_GC, fewest(b, 0, 1) * b->host.n->geo.pages_per_block, 0);
	}
}

static void programmed(struct buffered *b)
{
	uint32_t block = b->next / b->host.n->geo.pages_per_block;

	if (b->cmd.status != NAND_OK) {	/* the page is still in the ring, and is programmed in the next block */
		b->host.worn = true;
		b->left = 0;
		return;
	}
	for (uint32_t i = 0; i < b->upp; i++)
		if (oob_get_lpn(b->cmd.oob, i) != OOB_NO_LPN)
			point(b, oob_get_lpn(b->cmd.oob, i), b->next * b->upp + i);
	b->stable += b->upp;
	b->next++;
	b->out[block] = --b->left > 0;
}

static void erased(struct buffered *b)
{
	uint32_t block = b->cmd.ppn.v / b->host.n->geo.pages_per_block;

	b->out[block] = true;
	b->free--;
	if (b->cmd.status == NAND_OK) {
		b->next = b->cmd.ppn.v;
		b->left = b->host.n->geo.pages_per_block;
	} else {
		host_put_bad(&b->host, block);
		b->host.worn = true;
	}
}

/* Put a page's valid units into the ring. They are programmed later than this read ends. */
static void copy(struct buffered *b, uint32_t ppn)
{
	issue(b, NAND_READ, NAND_SRC_GC, ppn, b->ring);
	for (uint32_t i = 0; i < b->upp && survey_readable(b->cmd.status); i++) {
		uint32_t unit = oob_get_lpn(b->cmd.oob, i);

		if (unit == OOB_NO_LPN || b->map[unit] != ppn * b->upp + i || b->seq[unit] >= b->stable)
			continue;	/* stale already, or when a unit in the ring is programmed */
		memcpy(put(b, unit), (const uint8_t *)b->cmd.page + i * UNIT, UNIT);
		b->host.stats.gc_units++;
	}
}

static void gc(struct buffered *b)
{
	uint32_t ppb = b->host.n->geo.pages_per_block;

	if (b->victim != NONE && (!b->valid[b->victim] || (b->at == ppb && b->number == b->stable))) {
		b->out[b->victim] = b->valid[b->victim];	/* unreadable; the next mount finds them again */
		b->host.stats.gc_runs++;
		b->victim = NONE;
	}
	if (b->victim == NONE && b->free < b->host.c.gc_start_blocks && !b->host.frozen) {
		b->victim = fewest(b, 1, b->upb - b->upp + 1);
		b->at = 0;
	}
	if (b->victim != NONE && b->at < ppb && b->number - b->stable <= b->host.c.buffer_units)
		copy(b, b->victim * ppb + b->at++);
}

/* Serve the line, and issue a command if there is one to issue. */
static void work(struct buffered *b)
{
	struct ftl_io *io;

	for (;;) {
		while ((io = b->line.first) && (io->op == FTL_READ ? read(b, io) : write(b, io)))
			host_end(&b->host, io_list_take(&b->line), io->op == FTL_READ ? 0 : b->host.c.buffer_ns,
				 io->status);
		if (!b->busy)
			gc(b);
		if (!b->busy)
			program(b);
		if (b->busy || !b->line.first)
			return;
		b->host.worn = true;	/* there is no room, and GC cannot make any */
		host_refuse(&b->host, io_list_take(&b->line), SSD_E_NOSPC);
	}
}

static uint64_t step(struct ftl *f, uint64_t now_ns)
{
	struct buffered *b = (struct buffered *)f;

	host_set_time(&b->host, now_ns);
	if (b->busy && b->cmd.done_ns <= now_ns) {
		b->busy = false;
		if (b->cmd.op == NAND_PROGRAM)
			programmed(b);
		else if (b->cmd.op == NAND_ERASE)
			erased(b);
		work(b);
	}
	return b->busy ? b->cmd.done_ns : FTL_IDLE;
}

static void submit(struct ftl *f, uint64_t now_ns, struct ftl_io *io)
{
	struct buffered *b = (struct buffered *)f;

	(void)step(f, now_ns);
	host_accept(&b->host, io);
	if (b->host.worn && (io->op == FTL_WRITE || io->op == FTL_TRIM))
		host_refuse(&b->host, io, SSD_E_WORNOUT);
	else
		io_list_add(&b->line, io);
	work(b);
}

static int visit(void *ftl, uint32_t block, uint32_t page)
{
	struct buffered *b = ftl;
	uint32_t ppn = block * b->host.n->geo.pages_per_block + page;
	enum nand_status status = survey_oob(&b->host.survey, ppn, b->oob);

	b->next += page && b->next == ppn && status != NAND_ERASED;	/* torn, after the log's end */
	for (uint32_t i = 0; i < b->upp && survey_readable(status); i++) {
		uint32_t unit = oob_get_lpn(b->oob, i);
		uint64_t seq = oob_get_seq(b->oob, i);

		if (unit == OOB_NO_LPN)
			continue;
		if (unit >= b->units)
			return SSD_E_CORRUPT;
		if (seq >= b->number) {
			b->number = seq;
			b->next = ppn + 1;
		}
		if (seq > b->seq[unit]) {
			b->seq[unit] = seq;
			point(b, unit, ppn * b->upp + i);
		}
	}
	return SSD_OK;
}

static int find(struct ftl *f)
{
	struct buffered *b = (struct buffered *)f;
	uint32_t ppb = b->host.n->geo.pages_per_block;
	int err;

	memset(b->map, 0xff, b->units * sizeof(*b->map));
	b->victim = b->next = b->cmd.ppn.v = NONE;
	err = survey_pages(&b->host.survey, visit, b);
	b->left = b->next == NONE ? 0 : (ppb - b->next % ppb) % ppb;	/* its erase was complete (B3) */
	b->host.worn = b->host.frozen = !survey_number(&b->host.survey, &b->number, b->upp);
	b->number = b->stable = (b->number / b->upp + 1) * b->upp;
	b->free = 0;
	for (uint32_t i = 0; i < b->blocks; i++) {
		b->out[i] = b->host.n->ops->is_bad(b->host.n, (pbn_t){ i }) || (b->left && i == b->next / ppb);
		b->free += !b->out[i] && !b->valid[i];
	}
	return err;
}

static void check(const struct ftl *f)
{
	const struct buffered *b = (const struct buffered *)f;
	uint32_t valid = 0, free = 0;

	for (uint32_t i = 0; i < b->blocks; i++) {
		valid += b->valid[i];
		free += !b->out[i] && !b->valid[i];
	}
	for (uint32_t u = 0; u < b->units; u++) {
		uint32_t at = b->seq[u] % b->ring;

		valid -= b->map[u] != NONE;
		SSD_ASSERT(b->seq[u] < b->stable ? !b->seq[u] == (b->map[u] == NONE) :	/* B1, B2 */
			   oob_get_lpn(b->oob + at / b->upp * OOB_BYTES(b->upp), at % b->upp) == u);
	}
	SSD_ASSERT(!valid && free == b->free);	/* B2, B3 */
}

static const char *fault(const struct ftl_ops *t, const struct ftl_config *c, const struct nand_geometry *g)
{
	uint64_t gain = (g->pages_per_block - 1) * (g->page_bytes / UNIT);	/* most valid units of a victim */

	(void)t;
	return c->unit_bytes != UNIT || !c->payload ?
		"unit_bytes must be 512, payload yes: this FTL maps and keeps sectors" :
	       host_fault(c) ? host_fault(c) :
	       c->buffer_units < g->page_bytes / UNIT || c->gc_urgent_blocks < 2 ?
		"buffer_units must hold a NAND page, and gc_urgent_blocks must be at least 2" :
	       c->capacity_bytes / UNIT / (gain + 1) + 1 + c->gc_start_blocks > geo_blocks(g) ?
		"the geometry cannot hold the exported capacity: lower capacity, or add blocks" : NULL;
}

static size_t lay_out(const struct ftl_ops *t, void *mem, const struct ftl_config *c,
		      const struct nand_geometry *g)
{
	struct ssd_arena m = { mem, sizeof(struct buffered) };
	struct buffered measured, *b = mem ? mem : &measured;

	(void)t;
	b->blocks = (uint32_t)geo_blocks(g);
	b->units = (uint32_t)(c->capacity_bytes / UNIT);
	b->upp = g->page_bytes / UNIT;
	b->upb = b->upp * g->pages_per_block;
	b->ring = (c->buffer_units / b->upp + 2) * b->upp;	/* GC adds a page, and the last one may be padded */
	b->map = ssd_carve(&m, b->units, sizeof(*b->map));
	b->seq = ssd_carve(&m, b->units, sizeof(*b->seq));
	b->out = ssd_carve(&m, b->blocks, sizeof(*b->out));
	b->valid = ssd_carve(&m, b->blocks, sizeof(*b->valid));
	b->data = ssd_carve(&m, b->ring, UNIT);
	b->oob = ssd_carve(&m, b->ring / b->upp + 1, OOB_BYTES(b->upp));
	return m.used;
}

const struct ftl_ops buffered_ftl_ops = {
	.name = "buffered", .durability = FTL_PREFIX,
	.page_oob_bytes = OOB_HEAD_BYTES, .unit_oob_bytes = OOB_UNIT_BYTES, .fault = fault,
	.lay_out = lay_out, .find = find, .submit = submit, .step = step, .check = check,
	HOST_OPS_COMMON,
};
