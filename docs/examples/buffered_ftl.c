// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * buffered_ftl.c - a log behind a write buffer, with units smaller than pages: ftl.type = buffered.
 * It uses ftl/common alone; docs/writing-an-ftl.md explains it. One command executes at a time.
 *
 * B1  Units with numbers below `stable` are on flash, those from there to `number` in the ring.
 * B2  seq[u] is the number of unit u's newest version, 0 if there is none; map[u] is the place of its
 *     newest version on flash. A block's `valid` counts the units that map places there.
 * B3  A block without valid units holds nothing that a mount needs. Only such blocks are erased.
 * B4  Host units enter the ring only if they fit beside gc_urgent_blocks free blocks.
 */
#include "gc_policy.h"
#include "host.h"
#include "oob.h"
#include "survey.h"

#define UNIT FTL_SECTOR_BYTES

enum reader { HOST, GC };

struct buffered {
	struct host host;
	struct nand *n;
	struct nand_geometry g;		/* with all blocks in one plane, so that blk.h keeps one list of each kind */
	struct blk_table bt;
	struct survey survey;
	uint32_t upp, units, pages;	/* units of a page and of the drive; pages of the ring */
	uint32_t *map, next, left;	/* next: end of the log; left: free pages of its block */
	uint32_t victim, at;		/* block that GC collects, or BLK_NONE; its next page */
	uint64_t *seq, number, stable, accepted;	/* accepted: next number for a unit of the host */
	uint64_t copied;		/* next number when GC came to page `at` of the victim */
	uint8_t *page;			/* the ring; then the last page read for the host, and that for GC */
	uint32_t page_bytes, ppn[2];	/* sizes of these pages with spare area; numbers of the last two pages */
	bool unreadable[2], busy, read_last;
	struct nand_cmd cmd;		/* the command under way, if busy */
	struct io_list line, reads;
};

static uint8_t *ring_page(const struct buffered *b, uint64_t seq)
{
	return b->page + seq / b->upp % b->pages * b->page_bytes;
}

/* Give the unit the next number. Returns where its data go. */
static uint8_t *put(struct buffered *b, uint32_t unit)
{
	uint8_t *page = ring_page(b, b->number);
	uint32_t i = (uint32_t)(b->number % b->upp);

	if (!i)
		memset(page + b->g.page_bytes, 0xff, OOB_BYTES(b->upp));	/* each place of the page: OOB_NO_LPN */
	oob_put_unit(page + b->g.page_bytes, i, unit, b->number);
	b->seq[unit] = b->number++;
	return page + i * UNIT;
}

static void point(struct buffered *b, uint32_t unit, uint32_t upn)
{
	if (b->map[unit] != BLK_NONE)
		blk_valid_sub(&b->bt, b->map[unit] / b->bt.units_per_block);
	b->map[unit] = upn;
	blk_valid_add(&b->bt, upn / b->bt.units_per_block);
}

static void issue(struct buffered *b, const struct nand_cmd *c)
{
	b->cmd = *c;
	nand_submit(b->n, b->host.now_ns, &b->cmd, 1);
	SSD_ASSERT(b->cmd.status != NAND_VIOLATION);
	b->busy = true;
}

/* Returns the content of a page, with its spare area; NULL: it has to be read first. */
static uint8_t *fetch(struct buffered *b, enum reader who, uint32_t ppn)
{
	uint8_t *page = b->page + (b->pages + who) * b->page_bytes;

	if (b->busy || b->ppn[who] == ppn)
		return b->busy ? NULL : page;
	issue(b, &(struct nand_cmd){ .op = NAND_READ, .source = who == GC ? NAND_SRC_GC : NAND_SRC_HOST,
				     .ppn = { ppn }, .ecc_words = NAND_WHOLE_PAGE, .oob = page + b->g.page_bytes });
	b->ppn[who] = ppn;
	b->unreadable[who] = !survey_readable(b->cmd.status);
	if (!b->unreadable[who])
		memcpy(page, b->cmd.page, b->g.page_bytes);
	return NULL;
}

/* [accept] */
/* Returns true when the I/O can end. */
static bool write(struct buffered *b, struct ftl_io *io)
{
	int64_t blocks = (int64_t)b->bt.plane->free_count - b->host.c.gc_urgent_blocks;
	int64_t room = (blocks * b->g.pages_per_block + b->left) * b->upp;

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
/* [end] */

static bool read(struct buffered *b, struct ftl_io *io)
{
	for (; io->at < io->bytes; io->at += UNIT) {
		uint32_t unit = (uint32_t)((io->offset + io->at) / UNIT), upn = b->map[unit];
		uint64_t seq = b->seq[unit];
		uint8_t *page = seq < b->stable ? NULL : ring_page(b, seq) + seq % b->upp * UNIT;

		if (seq && seq < b->stable) {
			page = fetch(b, HOST, upn / b->upp);
			if (!page)
				return false;
			page += upn % b->upp * UNIT;
			if (b->unreadable[HOST])
				io->status = SSD_E_UNCORR;
		}
		host_copy(&b->host, io, io->at, page, UNIT);	/* NULL: zeroes */
	}
	return true;
}

static void serve(struct buffered *b, struct io_list *l, bool (*op)(struct buffered *b, struct ftl_io *io))
{
	while (l->first && op(b, l->first)) {
		struct ftl_io *io = io_list_take(l);

		host_end(&b->host, io, io->op == FTL_READ ? 0 : b->host.c.buffer_ns, io->status);
	}
}

static void program(struct buffered *b)
{
	uint8_t *page = ring_page(b, b->stable);
	uint64_t count = b->number - b->stable;
	bool awaited = (b->line.first && b->line.first->at == b->line.first->bytes) ||
		       (b->victim != BLK_NONE && b->at == b->g.pages_per_block);

	if (b->busy || !count || (count < b->upp && !awaited) || (!b->left && !b->bt.plane->free_count))
		return;
	if (!b->left) {
		b->next = blk_take_free(&b->bt, 0) * b->g.pages_per_block;
		b->left = b->g.pages_per_block;
	}
	if (count < b->upp)
		b->number = b->stable + b->upp;
	issue(b, &(struct nand_cmd){ .op = NAND_PROGRAM, .ppn = { b->next }, .data = page,
				     .oob = page + b->g.page_bytes });
}

static void programmed(struct buffered *b)
{
	uint32_t block = b->next / b->g.pages_per_block;

	if (b->cmd.status != NAND_OK) {	/* the page is still in the ring, and is programmed in the next block */
		blk_retire(&b->bt, block);
		b->host.worn = true;
		b->left = 0;
		return;
	}
	for (uint32_t i = 0; i < b->upp; i++)
		if (oob_get_lpn(b->cmd.oob, i) != OOB_NO_LPN)
			point(b, oob_get_lpn(b->cmd.oob, i), b->next * b->upp + i);
	b->stable += b->upp;
	b->next++;
	if (!--b->left)
		blk_close(&b->bt, block);
}

static void copy(struct buffered *b, const uint8_t *page, uint32_t ppn)
{
	for (uint32_t i = 0; i < b->upp && !b->unreadable[GC]; i++) {
		uint32_t unit = oob_get_lpn(page + b->g.page_bytes, i);

		if (unit == OOB_NO_LPN || b->map[unit] != ppn * b->upp + i || b->seq[unit] >= b->stable)
			continue;	/* stale already, or when a unit in the ring is programmed */
		memcpy(put(b, unit), page + i * UNIT, UNIT);
		b->host.stats.gc_units++;
	}
}

/* Go on with the victim until a command is issued or the ring is full. Returns true if GC cannot read the rest. */
static bool collect(struct buffered *b)
{
	uint32_t first = b->victim * b->g.pages_per_block;

	for (; b->at < b->g.pages_per_block && b->bt.blk[b->victim].valid; b->at++) {
		const uint8_t *page = b->number - b->stable <= b->host.c.buffer_units ?
			fetch(b, GC, first + b->at) : NULL;

		if (!page)
			return false;
		copy(b, page, first + b->at);
		b->copied = b->number;
	}
	if (b->bt.blk[b->victim].valid)
		return b->stable >= b->copied;
	if (!b->busy)
		issue(b, &(struct nand_cmd){ .op = NAND_ERASE, .source = NAND_SRC_GC, .pb = NAND_WHOLE_BLOCK,
					     .ppn = { first } });
	return false;
}

static void gc(struct buffered *b)
{
	if (b->victim == BLK_NONE && b->bt.plane->free_count < b->host.c.gc_start_blocks && !b->host.frozen) {
		b->victim = gc_greedy.pick(&b->bt, 0, b->upp);
		b->at = 0;
		if (b->victim != BLK_NONE)
			blk_take(&b->bt, b->victim);
	}
	if (b->victim == BLK_NONE || !collect(b))
		return;
	blk_close(&b->bt, b->victim);	/* GC does not know which units it cannot read: the next mount tries again */
	blk_retire(&b->bt, b->victim);
	b->victim = BLK_NONE;
	gc(b);
}

static void erased(struct buffered *b)
{
	b->host.stats.gc_runs++;
	if (b->cmd.status == NAND_OK) {
		blk_put_free(&b->bt, b->victim, false);
	} else {
		b->n->ops->mark_bad(b->n, (pbn_t){ b->victim });
		b->bt.blk[b->victim].state = BLK_BAD;
		b->host.stats.retired_blocks++;
		b->host.worn = true;
	}
	b->victim = b->ppn[HOST] = b->ppn[GC] = BLK_NONE;
}

/* Issue a command if there is one to issue. Reads of the host and other commands take turns. */
static void work(struct buffered *b)
{
	serve(b, &b->line, write);
	if (!b->read_last)
		serve(b, &b->reads, read);
	gc(b);
	program(b);
	serve(b, &b->reads, read);
	while (!b->busy && b->line.first) {	/* there is no room, and GC cannot make any */
		b->host.worn = true;
		host_refuse(&b->host, io_list_take(&b->line), SSD_E_NOSPC);
	}
}

static uint64_t step(struct ftl *f, uint64_t now_ns)
{
	struct buffered *b = (struct buffered *)f;

	host_set_time(&b->host, now_ns);
	if (b->busy && b->cmd.done_ns <= now_ns) {
		b->busy = false;
		b->read_last = b->cmd.op == NAND_READ && b->cmd.source == NAND_SRC_HOST;
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
		io_list_add(io->op == FTL_READ ? &b->reads : &b->line, io);
	work(b);
}

static int visit(void *ftl, uint32_t block, uint32_t page)
{
	struct buffered *b = ftl;
	uint32_t ppn = block * b->g.pages_per_block + page;
	uint8_t *oob = b->page;
	enum nand_status status = survey_oob(&b->survey, ppn, oob);

	if (status != NAND_ERASED)
		b->bt.blk[block].next_page = page + 1;
	for (uint32_t i = 0; i < b->upp && survey_readable(status); i++) {
		uint32_t unit = oob_get_lpn(oob, i);
		uint64_t seq = oob_get_seq(oob, i);

		if (unit == OOB_NO_LPN)
			continue;
		if (unit >= b->units)
			return SSD_E_CORRUPT;
		if (seq > b->number)
			b->number = seq;
		if (seq <= b->seq[unit])
			continue;
		b->seq[unit] = seq;
		point(b, unit, ppn * b->upp + i);
	}
	return SSD_OK;
}

static int mount(struct ftl *f, uint64_t now_ns, uint64_t *ready_ns)
{
	struct buffered *b = (struct buffered *)f;
	int err;

	survey_begin(&b->survey, b->n, now_ns);
	err = survey_pages(&b->survey, visit, b);
	b->host.worn = b->host.frozen = !survey_number(&b->survey, &b->number, b->upp);
	b->number = b->stable = (b->number / b->upp + 1) * b->upp;
	for (uint32_t i = 0; i < b->g.blocks_per_plane; i++) {
		struct blk *k = &b->bt.blk[i];

		if (b->n->ops->is_bad(b->n, (pbn_t){ i })) {
			k->state = BLK_BAD;
		} else if (!b->survey.anything) {
			blk_put_free(&b->bt, i, false);
		} else if (k->valid && k->next_page < b->g.pages_per_block && !b->left) {
			k->state = BLK_OPEN;	/* the log's end; not half erased (B3) */
			b->left = b->g.pages_per_block - k->next_page;
			b->next = i * b->g.pages_per_block + k->next_page;
		} else {
			blk_close(&b->bt, i);
		}
	}
	b->host.stats.mounts++;
	*ready_ns = b->host.now_ns = b->survey.ready_ns;
	return err;
}

static void check(const struct ftl *f)
{
	const struct buffered *b = (const struct buffered *)f;
	uint32_t valid = 0;

	blk_check(&b->bt);
	for (uint32_t i = 0; i < b->g.blocks_per_plane; i++)
		valid += b->bt.blk[i].valid;
	for (uint32_t u = 0; u < b->units; u++) {
		uint64_t seq = b->seq[u];
		bool on_flash = seq && seq < b->stable;
		uint32_t i = on_flash ? b->map[u] % b->upp : (uint32_t)(seq % b->upp);
		const void *data, *oob = ring_page(b, seq) + b->g.page_bytes;

		valid -= b->map[u] != BLK_NONE;
		if (on_flash && b->n->ops->peek(b->n, (ppn_t){ b->map[u] / b->upp }, &data, &oob) == NAND_UNCORR)
			continue;
		SSD_ASSERT(!seq || (oob_get_lpn(oob, i) == u && oob_get_seq(oob, i) == seq));	/* B1, B2 */
	}
	SSD_ASSERT(!valid);	/* B2 */
}

static uint32_t oob_bytes(const struct ftl_config *c, const struct nand_geometry *g)
{
	return OOB_BYTES(g->page_bytes / c->unit_bytes);
}

static int validate(const struct ftl_config *c, const struct nand_geometry *g, const char **why)
{
	uint64_t gain = (g->pages_per_block - 1) * (g->page_bytes / UNIT);	/* of so many valid GC gains a page */

	*why = NULL;
	if (c->unit_bytes != UNIT || !c->payload)
		*why = "unit_bytes must be 512, payload yes: this FTL maps and keeps sectors";
	else if (host_fault(c))
		*why = host_fault(c);
	else if (c->buffer_units < g->page_bytes / UNIT || c->gc_urgent_blocks < 2)
		*why = "buffer_units must hold a NAND page, and gc_urgent_blocks must be at least 2";
	else if (g->order == NAND_ORDER_FPS || g->order == NAND_ORDER_RPS || g->one_shot || g->paired_loss)
		*why = "order must be ascending or none, one_shot no, paired_loss no";
	else if (g->oob_bytes < oob_bytes(c, g))
		*why = "oob_bytes is too small: 7 + 9 per sector are needed; raise oob_bytes";
	else if (c->capacity_bytes / UNIT / (gain + 1) + 1 + c->gc_start_blocks > geo_blocks(g))
		*why = "the geometry cannot hold the exported capacity: lower capacity, or add blocks";
	return *why ? SSD_E_INVAL : SSD_OK;
}

static void lay_out(struct buffered *b, struct ssd_arena *m, const struct ftl_config *c, const struct nand_geometry *g)
{
	b->g = *g;
	b->g.channels = b->g.chips_per_channel = b->g.dies_per_chip = b->g.planes_per_die = 1;
	b->g.blocks_per_plane = (uint32_t)geo_blocks(g);
	b->upp = g->page_bytes / UNIT;
	b->units = (uint32_t)(c->capacity_bytes / UNIT);
	b->pages = c->buffer_units / b->upp + 2;
	b->page_bytes = g->page_bytes + OOB_BYTES(b->upp);
	b->map = ssd_carve(m, b->units, sizeof(*b->map));
	b->seq = ssd_carve(m, b->units, sizeof(*b->seq));
	b->page = ssd_carve(m, b->pages + 2, b->page_bytes);
	blk_lay_out(m->base ? &b->bt : NULL, m, &b->g, b->upp, BLK_BUCKETS);
}

static size_t footprint(const struct ftl_config *c, const struct nand_geometry *g)
{
	struct ssd_arena m = { NULL, sizeof(struct buffered) };
	struct buffered b;

	lay_out(&b, &m, c, g);
	return m.used;
}

extern const struct ftl_ops buffered_ftl_ops;

static int init(void *mem, size_t len, const struct ftl_config *c, struct nand *n, const struct ftl_host *shell,
		struct ftl **out)
{
	struct ssd_arena m = { mem, sizeof(struct buffered) };
	int err = host_may_init(&buffered_ftl_ops, len, c, n);
	struct buffered *b = mem;

	if (err)
		return err;
	host_init(&b->host, &buffered_ftl_ops, c, shell);
	lay_out(b, &m, c, &n->geo);
	blk_init(&b->bt);
	memset(b->map, 0xff, b->units * sizeof(*b->map));
	b->victim = b->ppn[HOST] = b->ppn[GC] = BLK_NONE;
	b->n = n;
	*out = &b->host.base;
	return SSD_OK;
}

static uint64_t map_bytes(const struct ftl *f)
{
	return ((const struct buffered *)f)->units * sizeof(uint32_t);
}

const struct ftl_ops buffered_ftl_ops = {
	.name = "buffered", .durability = FTL_PREFIX, .oob_bytes = oob_bytes, .validate = validate,
	.footprint = footprint, .init = init, .mount = mount, .submit = submit, .step = step, .check = check,
	.map_bytes = map_bytes, HOST_OPS_COMMON,
};
