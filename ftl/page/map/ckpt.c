// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ckpt.c - the checkpoint of a drive with a cached map (MAP.md): when it is taken, what is in it, and how it is
 * written. ckpt_mount.c reads it.
 *
 *   NONE -> FLUSH    begin(): `period` pages were programmed since the last one. The image gets the block table; this
 *                    moment is t0. The frames that are dirty now are `wanted`
 *   FLUSH -> WRITE   save_directory(): every wanted frame has been written since t0. This moment is t1
 *   WRITE -> NONE    ckpt_written(): its last page was programmed, and its blocks replace those of the one before
 *   any -> NONE      ckpt_give_up()
 *
 * Invariants:
 *   Q1  of each map page, the version that the directory at t1 names, and each later one, has all changes that were
 *       issued before t0;
 *   Q2  a page that the image counts as written has ended its program before t0. What is programmed later is in another
 *       page, or in a block with another erase count;
 *   Q3  the last page is issued when all others were programmed and `stable` has passed what was issued at t1. So a
 *       complete checkpoint names no host page that a power cut can take away (in the tests no host page
 *       that was issued before t1 ends after the last page, unless it fails);
 *   Q4  blocks of a checkpoint are VICTIM and on no list, and no collector has them. ckpt_give_up() and ckpt_yield()
 *       close them, without a valid unit, so that GC erases them. A checkpoint that waits for a block holds up nothing.
 *   Q5  at t0 every trim that was issued has removed the entries of its units, also of units that were written again
 *       and are still in the write buffer (page_cache.owed).
 *
 * While it is under way the drive serves I/O as without it. But frames that the host pins again and again cannot be
 * written, so after a quarter of the period no further page of the host is pinned (`hold`) until the wanted ones are
 * written.
 *
 * The tail that a mount reads is what is programmed in a period, and from t0 to the end of the checkpoint. The period
 * is 64 programmed pages for each page of the checkpoint and each frame, so at most a 64th of all programs are a
 * checkpoint's. Pinned frames delay t1 by a quarter of the period at most (`hold`). Then each block of the checkpoint
 * is the next one that any plane has beyond gc_urgent_blocks, before the host's. No argument bounds this wait; with
 * random overwrites of a full drive the newest checkpoint is always younger than two periods (test_ckpt).
 *
 * Its blocks are not collected, and count as bad blocks do: a checkpoint is taken only if the drive could lose as many,
 * so no capacity changes. GC that finds no other block to collect gets the checkpoint's, but only when the host may
 * take none either; above that it is asleep, short of its target. So neither waits for the other (Q4).
 *
 * The image, little-endian:
 *
 *   0  4 CRC of what follows, 4 exported LPNs, 4 map pages, 4 blocks, 4 pages per block, 5 issued at t0, 5 issued at
 *      t1, 5 sequence of the last map page
 *   then for each block: 4 erase count, 4 pages written (bit 31: map pages, bit 30: copies), 5 last order, 5 mark
 *   then 4 for each trim bitmap and the dead list: the unit's address
 *   then for each map page: 4 page number, 5 its sequence
 *   then for each placement handle, as of t0: 5 sequence of its newest page, 5 what that page says (handles.h)
 *
 * A page of it has 4 magic, 4 index, 5 number of the checkpoint, 3 zero, and then its part of the image.
 */
#include "ckpt.h"
#include "dies.h"

#define PERIOD 64u	/* a checkpoint for as many programmed pages, for each of its pages and each frame */
#define LOOKS 64u	/* frames that a call looks at while dies are busy */

/* ---- the image ------------------------------------------------------------------------ */

static uint32_t maps_and_list(const struct page_ftl *f)
{
	return f->shape.map_lpn - f->shape.lpns;
}

uint8_t *ckpt_block(const struct page_ftl *f, uint32_t b)
{
	return f->cache.ckpt.image + CKPT_HEAD + (size_t)b * CKPT_BLOCK;
}

uint8_t *ckpt_hidden(const struct page_ftl *f, uint32_t i)
{
	return ckpt_block(f, (uint32_t)geo_blocks(f->g)) + (size_t)i * 4;
}

uint8_t *ckpt_map_page(const struct page_ftl *f, uint32_t page)
{
	return ckpt_hidden(f, maps_and_list(f)) + (size_t)page * CKPT_MAP_PAGE;
}

uint8_t *ckpt_handles(const struct page_ftl *f)
{
	return ckpt_map_page(f, f->cache.pages);
}

void ckpt_lay_out(struct page_ftl *f, struct ssd_arena *m, const struct nand_geometry *g, uint32_t handles)
{
	struct page_ckpt *c = &f->cache.ckpt;
	uint32_t part = g->page_bytes - CKPT_PAGE_HEAD;

	c->bytes = CKPT_HEAD + (uint32_t)geo_blocks(g) * CKPT_BLOCK + maps_and_list(f) * 4 +
		   f->cache.pages * CKPT_MAP_PAGE + handles * HANDLES_SAVED;
	c->pages = (c->bytes + part - 1) / part;
	c->blocks = (c->pages + g->pages_per_block - 1) / g->pages_per_block;
	c->period = (uint64_t)PERIOD * (c->pages + f->cache.frames);
	c->image = ssd_carve(m, (size_t)c->pages * part, 1);
	c->held = ssd_carve(m, c->blocks, sizeof(*c->held));
	c->next = ssd_carve(m, c->blocks, sizeof(*c->next));
	c->plane = ssd_carve(m, c->blocks, sizeof(*c->plane));
	c->trusted = ssd_carve(m, geo_blocks(g), sizeof(*c->trusted));
}

void ckpt_init(struct page_ftl *f)
{
	struct page_ckpt *c = &f->cache.ckpt;

	for (uint32_t j = 0; j < c->blocks; j++)
		c->held[j] = c->next[j] = BLK_NONE;
}

/* A page of the block is being programmed: let the image count neither it nor the pages behind it. */
static void count_pages(const struct page_ftl *f, uint32_t b, uint32_t pages)
{
	uint8_t *p = ckpt_block(f, b) + 4;
	uint32_t was = oob_unit_lpn(p);

	if ((was & CKPT_PAGES) > pages)
		oob_put4(p, (was & ~CKPT_PAGES) | pages);
}

static void leave_out_copies(const struct page_ftl *f, const struct gc *g)
{
	if (g->op == GC_READ || g->op == GC_NOTHING)
		return;
	for (uint32_t i = 0, b = g->drained; g->op == GC_ERASE && i < g->erased; i++, b = f->bt.blk[b].next)
		count_pages(f, b, 0);
	if (g->op != GC_ERASE)
		count_pages(f, g->target, f->bt.blk[g->target].next_page - 1);
}

static void leave_out_running(const struct page_ftl *f, const struct die *d)
{
	uint32_t planes = f->g->planes_per_die, first = geo_die_of_plane(f->g, d->plane) * planes;

	for (uint32_t i = 0; d->op == DIE_PROGRAM && i < d->count; i++) {
		uint32_t ppn = f->buf.page[d->page[i]].ppn;

		count_pages(f, fxp_quotient(f->shape.by_block_pages, ppn), ppn % f->g->pages_per_block);
	}
	if (d->op == DIE_MAP)
		count_pages(f, fxp_quotient(f->shape.by_block_pages, d->page[0]), d->page[0] % f->g->pages_per_block);
	for (uint32_t plane = first; d->op == DIE_GC && plane < first + planes; plane++)
		leave_out_copies(f, &f->plane[plane].gc);
}

static void save_blocks(const struct page_ftl *f)
{
	for (uint32_t b = 0; b < geo_blocks(f->g); b++) {
		const struct blk *k = &f->bt.blk[b];
		uint8_t *p = ckpt_block(f, b);
		uint32_t pages = k->state == BLK_FREE || k->state == BLK_BAD ? 0 : k->next_page;

		oob_put4(p, f->host.n->ops->erase_count(f->host.n, (pbn_t){ b }));
		oob_put4(p + 4, pages | (k->map ? CKPT_OF_MAP : 0) | (k->copies ? CKPT_OF_COPIES : 0));
		oob_put5(p + 8, k->last_order);
		oob_put5(p + 13, k->mark);
	}
	for (uint32_t d = 0; d < f->shape.dies; d++)
		leave_out_running(f, &f->die[d]);
	handles_save(f, ckpt_handles(f));
}

/*
 * Save the address and sequence of a map page. Returns false if its units do not fill one page in order, which no code
 * of this FTL does.
 */
static bool save_map_page(const struct page_ftl *f, uint32_t page)
{
	const uint32_t *upn = f->cache.hidden + maps_and_list(f) + page * f->shape.upp;
	uint8_t *p = ckpt_map_page(f, page);

	for (uint32_t u = 1; u < f->shape.upp; u++)
		if (upn[u] != (upn[0] == NONE ? NONE : upn[0] + u))
			return false;
	oob_put4(p, upn[0] == NONE ? NONE : fxp_quotient(f->shape.by_upp, upn[0]));
	oob_put5(p + 4, f->cache.found[page].seq);
	return upn[0] == NONE || upn[0] % f->shape.upp == 0;
}

static bool save_directory(struct page_ftl *f)
{
	struct page_ckpt *c = &f->cache.ckpt;

	for (uint32_t i = 0; i < maps_and_list(f); i++)
		oob_put4(ckpt_hidden(f, i), f->cache.hidden[i]);
	for (uint32_t page = 0; page < f->cache.pages; page++)
		if (!save_map_page(f, page))
			return false;
	c->seq1 = f->bt.issued;
	c->number = ++f->cache.seq;
	oob_put4(c->image + 4, f->shape.lpns);
	oob_put4(c->image + 8, f->cache.pages);
	oob_put4(c->image + 12, (uint32_t)geo_blocks(f->g));
	oob_put4(c->image + 16, f->g->pages_per_block);
	oob_put5(c->image + 20, c->seq0);
	oob_put5(c->image + 25, c->seq1);
	oob_put5(c->image + 30, f->cache.seq);
	oob_put4(c->image, ssd_crc32c(0, c->image + 4, c->bytes - 4));
	return true;
}

/* ---- its blocks ------------------------------------------------------------------------ */

static void close_all(struct page_ftl *f, uint32_t *blocks)
{
	for (uint32_t j = 0; j < f->cache.ckpt.blocks; j++) {
		if (blocks[j] != BLK_NONE)
			blk_close(&f->bt, blocks[j]);
		blocks[j] = BLK_NONE;
	}
}

void ckpt_give_up(struct page_ftl *f)
{
	struct page_ckpt *c = &f->cache.ckpt;

	close_all(f, c->next);
	for (uint32_t i = 0; i < f->cache.frames; i++)
		f->cache.frame[i].wanted = false;
	c->wanted = 0;
	c->hold = false;
	c->state = CKPT_NONE;
	f->turn.kick = true;
}

void map_let_go(struct page_ftl *f)
{
	ckpt_give_up(f);
}

bool ckpt_yield(struct page_ftl *f, uint32_t plane)
{
	struct page_ckpt *c = &f->cache.ckpt;
	bool some = false;

	for (uint32_t j = 0; j < c->blocks; j++) {
		some |= c->held[j] != BLK_NONE && geo_plane_of(f->g, (pbn_t){ c->held[j] }) == plane;
		some |= c->next[j] != BLK_NONE && geo_plane_of(f->g, (pbn_t){ c->next[j] }) == plane;
	}
	if (!some)
		return false;
	ckpt_give_up(f);
	close_all(f, c->held);
	return true;
}

bool ckpt_holds(const struct page_ftl *f, uint32_t b)
{
	const struct page_ckpt *c = &f->cache.ckpt;

	for (uint32_t j = 0; j < c->blocks; j++)
		if (c->held[j] == b || c->next[j] == b)
			return true;
	return false;
}

/* Has the plane a block to spare, as for the host's frontier? */
static bool has_block(const struct page_ftl *f, uint32_t plane)
{
	return f->bt.plane[plane].free_count > f->gc.urgent_blocks;
}

/* Choose a plane for each block; each checkpoint begins with another plane. */
static void choose_planes(struct page_ftl *f)
{
	struct page_ckpt *c = &f->cache.ckpt;

	for (uint32_t j = 0; j < c->blocks; j++)
		c->plane[j] = (uint32_t)((c->number + j) % f->shape.planes);
}

/* Is the block of part j on this die? If there is none yet, and its plane has none, a plane of this die will do. */
static bool is_on_die(const struct page_ftl *f, uint32_t j, uint32_t die)
{
	const struct page_ckpt *c = &f->cache.ckpt;
	uint32_t first = die * f->g->planes_per_die;

	for (uint32_t i = 0; c->next[j] == BLK_NONE && !has_block(f, c->plane[j]) && i < f->g->planes_per_die; i++)
		if (has_block(f, first + i))
			c->plane[j] = first + i;
	return geo_die_of_plane(f->g, c->plane[j]) == die;
}

/* ---- taking it ------------------------------------------------------------------------ */

/* Returns the number of pages programmed, as the counters have it. */
static uint64_t programmed(const struct page_ftl *f)
{
	const struct ftl_stats *s = &f->host.stats;

	return (s->host_units + s->gc_units + s->wl_units + s->meta_units + s->pad_units) / f->shape.upp;
}

void ckpt_mounted(struct page_ftl *f, bool by_ckpt)
{
	struct page_ckpt *c = &f->cache.ckpt;
	uint64_t log = f->bt.issued < c->period ? f->bt.issued : c->period;

	c->begun_at = programmed(f) - (by_ckpt ? 0 : log);	/* after a survey the next one is due at once */
}

/*
 * Is a checkpoint due, and is there room for it? The blocks of a checkpoint take no data, and while one is written, the
 * one before it still has its blocks. Without payload the array could not store it.
 */
static bool is_due(const struct page_ftl *f)
{
	const struct page_ckpt *c = &f->cache.ckpt;

	return f->host.c.payload && programmed(f) - c->begun_at >= c->period && !f->cache.mounting && !f->cache.lost &&
	       !f->cache.due_count && !f->gc.hold && !f->full && f->good_blocks >= f->need_blocks + 2 * c->blocks;
}

static void begin(struct page_ftl *f)
{
	struct page_ckpt *c = &f->cache.ckpt;

	save_blocks(f);
	c->seq0 = f->bt.issued;
	c->begun_at = programmed(f);
	c->map_seq0 = f->cache.seq;
	c->cursor = 0;
	c->state = CKPT_FLUSH;
	for (uint32_t i = 0; i < f->cache.frames; i++) {
		f->cache.frame[i].wanted = f->cache.frame[i].dirty;
		c->wanted += f->cache.frame[i].dirty;
	}
}

/* Have wanted frames written; when there are none left, go on to WRITE. */
static void flush(struct page_ftl *f)
{
	struct page_ckpt *c = &f->cache.ckpt;
	uint32_t looks = f->turn.ends.busy && LOOKS < f->cache.frames ? LOOKS : f->cache.frames;

	c->hold = c->wanted && programmed(f) - c->begun_at > c->period / 4;
	for (; c->wanted && looks; looks--) {	/* map_write_soon() may wake GC */
		if (f->cache.frame[c->cursor].wanted && !map_write_soon(f, c->cursor))
			return;
		c->cursor = c->cursor + 1 < f->cache.frames ? c->cursor + 1 : 0;
	}
	if (c->state != CKPT_FLUSH || c->wanted)	/* GC may have made it give up */
		return;
	if (!save_directory(f)) {
		ckpt_give_up(f);
		return;
	}
	choose_planes(f);
	c->done = 0;
	c->state = CKPT_WRITE;
	f->turn.kick = true;
}

/* May the last page of the checkpoint be issued (Q3)? */
static bool may_end(const struct page_ftl *f)
{
	return f->cache.ckpt.done + 1 == f->cache.ckpt.pages && f->bt.stable >= f->cache.ckpt.seq1;
}

void ckpt_pump(struct page_ftl *f)
{
	struct page_ckpt *c = &f->cache.ckpt;

	if (c->state != CKPT_NONE && (f->cache.lost || f->host.worn))
		ckpt_give_up(f);
	if (c->state == CKPT_NONE && is_due(f))
		begin(f);
	if (c->state == CKPT_FLUSH)
		flush(f);
	else if (c->state == CKPT_WRITE && may_end(f))
		f->turn.kick = true;
}

void ckpt_frame_written(struct page_ftl *f, struct map_frame *fr)
{
	struct page_ckpt *c = &f->cache.ckpt;

	if (!fr->wanted || (fr->seq <= c->map_seq0 && fr->again))
		return;
	fr->wanted = false;
	c->wanted--;
}

static void program(struct page_ftl *f, uint64_t now_ns, uint32_t die, uint32_t b, uint32_t index)
{
	const struct page_ckpt *c = &f->cache.ckpt;
	struct oob_head h = { .order = f->bt.issued, .mark = f->bt.stable, .kind = OOB_MAP };
	uint32_t part = f->g->page_bytes - CKPT_PAGE_HEAD;
	struct blk *k = &f->bt.blk[b];
	struct die *d = &f->die[die];
	struct nand_cmd cmd;

	nand_fill_program(&cmd, NAND_SRC_MAP, geo_ppn(f->g, (pbn_t){ b }, k->next_page++).v, f->oob);
	k->last_order = f->bt.issued;
	oob_put_head(f->oob, &h);
	for (uint32_t u = 0; u < f->shape.upp; u++)
		oob_put_unit(f->oob, u, u ? OOB_NO_LPN : f->shape.ckpt_lpn, c->number);
	if (f->handles.count)
		handles_took_hidden(f->shape.upp, f->oob);
	metadata_blank(f, f->oob);
	memset(f->scratch, 0, CKPT_PAGE_HEAD);
	oob_put4(f->scratch, CKPT_MAGIC);
	oob_put4(f->scratch + 4, index);
	oob_put5(f->scratch + 8, c->number);
	memcpy(f->scratch + CKPT_PAGE_HEAD, c->image + (size_t)index * part, part);
	cmd.data = f->scratch;
	die_command(f->host.n, now_ns, &cmd, 1);
	d->turn.reads_in_row = 0;
	d->plane = geo_plane_of(f->g, (pbn_t){ b });
	d->status[0] = (uint8_t)cmd.status;
	d->page[0] = cmd.ppn.v;
	d->page[1] = MAP_NONE;
	f->host.stats.map_writes++;
	f->host.stats.meta_units += f->shape.upp;
	die_start(f, die, DIE_MAP, &cmd);
}

/* Take a block for part j, unless it has one. Returns false if the part has no block that can be used now. */
static bool have_block(struct page_ftl *f, uint64_t now_ns, uint32_t j)
{
	struct page_ckpt *c = &f->cache.ckpt;

	if (c->next[j] != BLK_NONE)
		return true;
	if (!f->cache.above->spare_block(f, now_ns, c->plane[j], &c->next[j]))
		return false;
	f->bt.blk[c->next[j]].map = true;
	f->cache.above->lacks_room(f, c->plane[j]);	/* it may need the block at once (ckpt_yield) */
	return c->next[j] != BLK_NONE;
}

bool ckpt_write(struct page_ftl *f, uint64_t now_ns, uint32_t die)
{
	struct page_ckpt *c = &f->cache.ckpt;
	uint32_t per = f->g->pages_per_block;

	for (uint32_t j = 0; j < c->blocks && c->state == CKPT_WRITE; j++) {
		uint32_t index;

		if (!is_on_die(f, j, die))
			continue;
		if (!have_block(f, now_ns, j)) {
			if (f->die[die].op != DIE_IDLE)
				return true;
			continue;
		}
		index = j * per + f->bt.blk[c->next[j]].next_page;
		if (index == (j + 1) * per || index >= c->pages || (index + 1 == c->pages && !may_end(f)))
			continue;
		program(f, now_ns, die, c->next[j], index);
		return true;
	}
	return false;
}

void ckpt_written(struct page_ftl *f, const struct die *d)
{
	struct page_ckpt *c = &f->cache.ckpt;
	uint32_t b = fxp_quotient(f->shape.by_block_pages, d->page[0]);

	f->turn.kick = true;
	if (d->status[0] != NAND_OK) {
		if (f->bt.blk[b].state == BLK_VICTIM)
			ckpt_give_up(f);
		return;
	}
	if (f->bt.blk[b].state != BLK_VICTIM || ++c->done < c->pages)	/* FULL: it was given up */
		return;
	close_all(f, c->held);
	memcpy(c->held, c->next, c->blocks * sizeof(*c->held));
	for (uint32_t j = 0; j < c->blocks; j++)
		c->next[j] = BLK_NONE;
	c->state = CKPT_NONE;
}
