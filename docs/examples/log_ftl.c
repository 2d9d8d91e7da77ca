// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * log_ftl.c - the simplest FTL that is safe: ftl.type = log. docs/writing-an-ftl.md walks
 * through it. A scheme of ftl/direct/direct.h: the engine handles I/Os, queues, time and mounts;
 * this file only chooses the place of each page, and GC's victims.
 *
 * Each plane is a log. Its host pages and GC's copies go to one open block, page after
 * page. When fewer than gc_start_blocks are free, GC copies the valid pages of the block with the
 * fewest to the log's end, and erases the block.
 *
 * L1  map[x] = p exactly if back[p] = x: p holds the newest copy of logical page x.
 * L2  valid[b] counts the pages of block b that have a back.
 * L3  Only a plane's open block has pages that may still be programmed.
 * L4  GC always finds a free block, because the host leaves gc_urgent_blocks free.
 * Cost: 12 bytes a logical page, 4 a physical one; the choice of a victim takes O(blocks).
 */
#include "direct.h"
#include "direct_mount.h"
#include "direct_ops.h"

#define NONE DIRECT_NONE

struct log_plane {
	uint32_t open, next;		/* open block (or NONE), its next page */
	uint32_t victim, at;		/* block being collected (or NONE), and the next page to examine */
	bool wiped;			/* the victim has been erased: the collection has ended */
};

struct log {
	uint32_t *map;			/* logical page -> ppn, or NONE; planes one after another */
	uint32_t *back;			/* ppn -> logical page of its plane; NONE: free or stale */
	uint64_t *seq;			/* mount: sequence of the copy in map[] */
	uint32_t *valid, *used;		/* of each block; used: pages that are not erased, found by a mount */
	bool *failing;			/* a program of this block failed: it is to be emptied and not used again */
	struct log_plane *plane;
};

static struct log *log_of(const struct direct *d)
{
	return d->s;
}

static void *lay_out(struct ssd_arena *m, const struct ftl_config *c, const struct nand_geometry *g)
{
	struct log *l = ssd_carve(m, 1, sizeof(*l)), at;
	size_t pages = (size_t)geo_planes(g) * direct_plane_pages(c, g);

	at.map = ssd_carve(m, pages, sizeof(*at.map));
	at.seq = ssd_carve(m, pages, sizeof(*at.seq));
	at.back = ssd_carve(m, geo_pages(g), sizeof(*at.back));
	at.valid = ssd_carve(m, geo_blocks(g), sizeof(*at.valid));
	at.used = ssd_carve(m, geo_blocks(g), sizeof(*at.used));
	at.failing = ssd_carve(m, geo_blocks(g), sizeof(*at.failing));
	at.plane = ssd_carve(m, geo_planes(g), sizeof(*at.plane));
	if (l)
		*l = at;
	return l;
}

static void init(struct direct *d)
{
	struct log *l = log_of(d);

	memset(l->map, 0xff, (size_t)d->planes * d->plane_pages * sizeof(*l->map));
	memset(l->back, 0xff, geo_pages(d->g) * sizeof(*l->back));
	for (uint32_t p = 0; p < d->planes; p++)
		l->plane[p] = (struct log_plane){ .open = NONE, .victim = NONE };
}

/* [map] */
static uint32_t *entry(const struct direct *d, uint32_t plane, uint32_t page)
{
	return &log_of(d)->map[(size_t)plane * d->plane_pages + page];
}

static uint32_t lookup(const struct direct *d, uint32_t plane, uint32_t page)
{
	return *entry(d, plane, page);
}

static void point(struct direct *d, uint32_t plane, uint32_t page, uint32_t ppn)
{
	struct log *l = log_of(d);
	uint32_t *e = entry(d, plane, page);

	if (*e != NONE) {
		l->back[*e] = NONE;
		l->valid[*e / d->g->pages_per_block]--;
	}
	*e = ppn;
	l->back[ppn] = page;
	l->valid[ppn / d->g->pages_per_block]++;
}
/* [end] */

/* Take the log's next page, and a new block only if more than `reserve` are free. */
static enum direct_room append(struct direct *d, uint32_t plane, uint32_t reserve, uint32_t *ppn)
{
	struct log_plane *p = &log_of(d)->plane[plane];
	enum direct_room room;

	if (p->open == NONE) {
		room = direct_take(d, plane, reserve, &p->open);
		if (room != DIRECT_ROOM)
			return room;
		p->next = 0;
	}
	*ppn = direct_ppn(d, p->open, p->next);
	if (++p->next == d->g->pages_per_block)
		p->open = NONE;
	return DIRECT_ROOM;
}

static enum direct_room place(struct direct *d, uint32_t plane, uint32_t page, uint32_t *ppn,
			      uint8_t *tag)
{
	enum direct_room room = append(d, plane, d->host.c.gc_urgent_blocks, ppn);

	(void)page;
	*tag = 0;
	return room == DIRECT_FULL ? DIRECT_GC : room;
}

static void ended(struct direct *d, uint32_t plane, uint32_t page, uint32_t ppn, bool ok)
{
	struct log *l = log_of(d);
	uint32_t block = ppn / d->g->pages_per_block;

	if (ok) {
		point(d, plane, page, ppn);
		return;
	}
	l->failing[block] = true;
	if (l->plane[plane].open == block)
		l->plane[plane].open = NONE;
}

static uint32_t worth(const struct direct *d, uint32_t block)
{
	const struct log *l = log_of(d);

	if (d->pool.block[block].state != POOL_USED)
		return 0;
	return l->failing[block] ? NONE : d->g->pages_per_block - l->valid[block];
}

static uint32_t choose(const struct direct *d, uint32_t plane)
{
	uint32_t first = direct_first_block(d, plane), best = NONE, most = 0;

	for (uint32_t b = first; b < first + d->g->blocks_per_plane; b++)
		if (b != log_of(d)->plane[plane].open && worth(d, b) > most) {
			most = worth(d, b);
			best = b;
		}
	return best;
}

static bool wants_gc(const struct direct *d, uint32_t plane)
{
	return log_of(d)->plane[plane].victim != NONE ||
	       d->pool.plane[plane].free_count < d->host.c.gc_start_blocks;
}

static enum direct_next copy_next(struct direct *d, uint32_t plane, struct direct_step *step)
{
	struct log_plane *p = &log_of(d)->plane[plane];

	step->op = DIRECT_COPY;
	step->from = direct_ppn(d, p->victim, p->at);
	step->page = log_of(d)->back[step->from];
	switch (append(d, plane, 0, &step->to)) {
	case DIRECT_ROOM:
		return DIRECT_STEP;
	case DIRECT_ERASE:
		return DIRECT_PREPARE;
	default:
		p->victim = NONE;	/* blocks failed until none was left */
		return DIRECT_STUCK;
	}
}

static enum direct_next gc_next(struct direct *d, uint32_t plane, struct direct_step *step)
{
	struct log *l = log_of(d);
	struct log_plane *p = &l->plane[plane];

	if (p->wiped) {
		p->wiped = false;
		return DIRECT_DONE;
	}
	if (p->victim == NONE) {
		p->victim = choose(d, plane);
		p->at = 0;
	}
	if (p->victim == NONE)
		return DIRECT_STUCK;	/* every page is valid */
	for (; p->at < d->g->pages_per_block; p->at++)
		if (l->back[direct_ppn(d, p->victim, p->at)] != NONE)
			return copy_next(d, plane, step);
	step->op = DIRECT_WIPE;
	step->count = 1;
	step->block[0] = p->victim;
	step->pb[0] = NAND_WHOLE_BLOCK;
	return DIRECT_STEP;
}

static void gc_done(struct direct *d, uint32_t plane, const struct direct_step *step)
{
	struct log_plane *p = &log_of(d)->plane[plane];

	if (step->op == DIRECT_COPY) {
		ended(d, plane, step->page, step->to, !step->failed);
		return;
	}
	if (step->erase_failed[0] || log_of(d)->failing[p->victim])
		direct_put_bad(d, p->victim);
	else
		pool_put_free(&d->pool, p->victim, false);
	p->victim = NONE;
	p->wiped = true;
}

static void mount_page(struct direct *d, uint32_t block, uint32_t in_block,
		       const struct direct_oob *oob)
{
	struct log *l = log_of(d);
	uint32_t plane = geo_plane_of(d->g, (pbn_t){ block });
	uint64_t *newest;

	l->used[block] = in_block + 1;
	if (!oob)
		return;			/* torn: the previous copy of the page stays valid */
	newest = &l->seq[entry(d, plane, direct_page_of_lpn(d, oob->lpn)) - l->map];
	if (oob->seq <= *newest)
		return;
	*newest = oob->seq;
	point(d, plane, direct_page_of_lpn(d, oob->lpn), direct_ppn(d, block, in_block));
}

static int mount_plane(struct direct *d, uint32_t plane)
{
	struct log *l = log_of(d);
	struct log_plane *p = &l->plane[plane];
	uint32_t first = direct_first_block(d, plane);

	for (uint32_t b = first; b < first + d->g->blocks_per_plane; b++) {
		if (d->pool.block[b].state == POOL_BAD)
			continue;
		if (!l->valid[b]) {
			direct_mount_free(d, b);
		} else if (l->used[b] < d->g->pages_per_block && p->open == NONE) {
			p->open = b;	/* its erase was complete: GC erases no valid page */
			p->next = l->used[b];
		}
	}
	return SSD_OK;
}

static void check(const struct direct *d)
{
	const struct log *l = log_of(d);

	for (uint32_t plane = 0; plane < d->planes; plane++)
		for (uint32_t x = 0; x < d->plane_pages; x++) {
			uint32_t ppn = lookup(d, plane, x);

			SSD_ASSERT(ppn == NONE || l->back[ppn] == x);			/* L1 */
		}
	for (uint32_t b = 0; b < geo_blocks(d->g); b++) {
		uint32_t plane = geo_plane_of(d->g, (pbn_t){ b }), valid = 0;

		for (uint32_t i = 0; i < d->g->pages_per_block; i++) {
			uint32_t ppn = direct_ppn(d, b, i);

			if (l->back[ppn] == NONE)
				continue;
			SSD_ASSERT(lookup(d, plane, l->back[ppn]) == ppn);		/* L1 */
			SSD_ASSERT(l->plane[plane].open != b || i < l->plane[plane].next);	/* L3 */
			valid++;
		}
		SSD_ASSERT(valid == l->valid[b]);					/* L2 */
	}
}

/* Returns the bytes that the tables take in a drive's memory. */
static uint64_t map_bytes(const struct direct *d)
{
	return ((uint64_t)d->planes * d->plane_pages + geo_pages(d->g)) * sizeof(uint32_t);
}

static uint32_t valid_pages(const struct direct *d, uint32_t block)
{
	return log_of(d)->valid[block];
}

/*
 * Returns the good blocks that a plane needs. If the data fill whole blocks, gc_start_blocks are free and one is open,
 * one more block has stale pages.
 */
static uint32_t blocks_needed(const struct ftl_config *c, const struct nand_geometry *g)
{
	return (direct_plane_pages(c, g) + g->pages_per_block - 1) / g->pages_per_block +
	       c->gc_start_blocks + 2;
}

static const char *fault(const struct ftl_config *c, const struct nand_geometry *g)
{
	(void)g;
	return c->gc_urgent_blocks < 2 ?
	       "gc_urgent_blocks must be at least 2: one for GC's copies, one for power cuts" : NULL;
}

static const struct direct_scheme scheme = {
	.fault = fault, .lay_out = lay_out, .init = init,
	.lookup = lookup, .place = place, .programmed = ended,
	.wants_gc = wants_gc, .gc_next = gc_next, .gc_done = gc_done,
	.mount_page = mount_page, .mount_plane = mount_plane,
	.check = check, .map_bytes = map_bytes, .valid = valid_pages,
	.blocks_needed = blocks_needed,
};

static const struct knob_table *const knobs[] = { DIRECT_KNOBS, NULL };

const struct ftl_ops log_ftl_ops = {
	.name = "log", .policy = &scheme, .knobs = knobs,
	DIRECT_OPS_COMMON,
};
