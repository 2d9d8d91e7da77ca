// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ckpt_mount.c - a mount by a checkpoint (ckpt.c, MAP.md).
 *
 *   ckpt_find()      reads the first page's spare area of each block, and the pages of the newest complete checkpoint.
 *                    A block that was not erased since t0 has its row of the table, and its pages up to there are
 *                    *trusted*: no pass reads them. All others are the tail, which the survey reads. With placement
 *                    handles, one trusted page of each block is read all the same, since it names the handle
 *   ckpt_confirm()   after the survey and the pass for hidden units: whatever the directory named must be there,
 *                    trusted or found in the tail
 *
 * If there is no checkpoint, or it contradicts the flash, the mount reads every spare area.
 *
 * Three facts make trust sound:
 *
 *   - A map page's version on flash is a snapshot as of t0 at least (Q1), whatever its mark says, and all later changes
 *     are in the tail.
 *   - An entry that names a trusted page is right: at t0, or later, it was the LPN's place, and the block was not
 *     erased since. Only entries that name pages of the tail are looked up. At t0 no trim is due, so of a trusted unit
 *     with a set bit the bitmap's sequence alone tells which is newer.
 *   - Whatever the directory named must be trusted or found in the tail. A version that is in neither was erased, so a
 *     later one exists; if it is not found, the checkpoint contradicts the flash.
 *
 * Trust goes by the block's erase count. A torn erase leaves it as it was, but then no unit of the block is mapped any
 * more, since later versions were durable before the erase began (4a in gc.c). An erased first page excludes the block.
 */
#include "ckpt.h"
#include "ckpt_mount.h"
#include "mount_pages.h"
#include "mount_state.h"

static uint64_t number_of(const struct page_ftl *f, const uint8_t *oob)
{
	return oob_get_head(oob).kind == OOB_MAP && oob_get_lpn(oob, 0) == f->shape.ckpt_lpn ? oob_get_seq(oob, 0) : 0;
}

/* Note whether the block's first page is written, and the number of its checkpoint. */
static int visit_first(void *mount, uint32_t b, uint32_t page)
{
	struct page_mount *s = mount;
	struct page_ftl *f = s->f;
	enum nand_status st;

	if (page)
		return SURVEY_PAST;
	st = mount_read(s, geo_ppn(f->g, (pbn_t){ b }, 0).v, NULL, f->oob);
	f->bt.blk[b].next_page = st != NAND_ERASED;
	f->bt.blk[b].parity_seq = survey_readable(st) ? number_of(f, f->oob) : 0;
	return SSD_OK;
}

/* Returns the highest number of a checkpoint below this one, or 0. */
static uint64_t number_below(const struct page_ftl *f, uint64_t below)
{
	uint64_t best = 0;

	for (uint32_t b = 0; b < geo_blocks(f->g); b++)
		if (f->bt.blk[b].parity_seq < below && f->bt.blk[b].parity_seq > best)
			best = f->bt.blk[b].parity_seq;
	return best;
}

static uint32_t part_of(const struct page_ckpt *c, uint32_t b)
{
	uint32_t j = 0;

	while (j < c->blocks && c->held[j] != b)
		j++;
	return j;
}

/* Read a page of the block into its place in the image. Returns false if it is not there. */
static bool load_page(struct page_mount *s, uint64_t number, uint32_t b, uint32_t page)
{
	struct page_ftl *f = s->f;
	struct page_ckpt *c = &f->cache.ckpt;
	uint32_t part = f->g->page_bytes - CKPT_PAGE_HEAD, per = f->g->pages_per_block, index, j = part_of(c, b);
	struct blk *k = &f->bt.blk[b];
	const uint8_t *bytes = NULL;
	struct oob_head h;

	if (page && j * per + page >= c->pages)
		return true;
	if (!survey_readable(mount_read(s, geo_ppn(f->g, (pbn_t){ b }, page).v, &bytes, f->oob)) || !bytes ||
	    number_of(f, f->oob) != number || oob_unit_lpn(bytes) != CKPT_MAGIC || oob_get5(bytes + 8) != number)
		return false;
	index = oob_unit_lpn(bytes + 4);
	if (index >= c->pages || index % per != page)
		return false;
	if (!page && j == c->blocks && c->held[index / per] == BLK_NONE)
		c->held[index / per] = b;
	else if (!page || index / per != j)
		return false;
	h = oob_get_head(f->oob);
	k->next_page = page + 1;
	k->last_order = h.order > k->last_order ? h.order : k->last_order;
	k->mark = h.mark > k->mark ? h.mark : k->mark;
	memcpy(c->image + (size_t)index * part, bytes + CKPT_PAGE_HEAD, part);
	return true;
}

/* Is it the image of a drive of this shape? */
static bool fits(const struct page_ftl *f)
{
	const uint8_t *p = f->cache.ckpt.image;
	uint64_t seq0 = oob_get5(p + 20), seq1 = oob_get5(p + 25), map_seq = oob_get5(p + 30);

	return oob_unit_lpn(p) == ssd_crc32c(0, p + 4, f->cache.ckpt.bytes - 4) &&
	       oob_unit_lpn(p + 4) == f->shape.lpns && oob_unit_lpn(p + 8) == f->cache.pages &&
	       oob_unit_lpn(p + 12) == geo_blocks(f->g) && oob_unit_lpn(p + 16) == f->g->pages_per_block &&
	       seq0 <= seq1 && seq1 <= OOB_SEQ_LAST && map_seq <= OOB_SEQ_LAST;
}

static bool load(struct page_mount *s, uint64_t number)
{
	struct page_ftl *f = s->f;
	struct page_ckpt *c = &f->cache.ckpt;
	uint32_t count = 0;

	ckpt_init(f);
	for (uint32_t b = 0; b < geo_blocks(f->g); b++) {
		if (f->bt.blk[b].parity_seq != number)
			continue;
		if (count == c->blocks)
			return false;
		c->next[count++] = b;
	}
	if (count != c->blocks)
		return false;
	for (uint32_t page = 0; page < f->g->pages_per_block; page++)
		for (uint32_t j = 0; j < count; j++)
			if (!load_page(s, number, c->next[j], page))
				return false;
	return fits(f);
}

static bool trusted(const struct page_ftl *f, uint32_t ppn)
{
	uint32_t b = ppn / f->g->pages_per_block;

	return b < geo_blocks(f->g) && ppn % f->g->pages_per_block < f->cache.ckpt.trusted[b];
}

/* Restore the block from its row of the table, unless it was erased after the checkpoint. */
static void restore_block(struct page_mount *s, uint32_t b)
{
	struct page_ftl *f = s->f;
	const uint8_t *p = ckpt_block(f, b);
	uint32_t flags = oob_unit_lpn(p + 4), pages = flags & CKPT_PAGES, *trust = &f->cache.ckpt.trusted[b];
	bool blank = !f->bt.blk[b].next_page || f->host.n->ops->is_bad(f->host.n, (pbn_t){ b });
	struct blk *k = &f->bt.blk[b];

	k->parity_seq = 0;
	if (ckpt_holds(f, b)) {
		k->map = true;
		*trust = k->next_page;
		s->max_order = k->last_order > s->max_order ? k->last_order : s->max_order;
		s->mark = k->mark > s->mark ? k->mark : s->mark;
		return;
	}
	*trust = blank || oob_unit_lpn(p) != f->host.n->ops->erase_count(f->host.n, (pbn_t){ b }) ? 0 : pages;
	if (*trust > f->g->pages_per_block)
		s->contradiction = true;
	k->next_page = *trust;
	k->map = *trust && flags & CKPT_OF_MAP;
	k->copies = *trust && flags & CKPT_OF_COPIES;
	k->last_order = *trust ? oob_get5(p + 8) : 0;
	k->mark = *trust ? oob_get5(p + 13) : 0;
}

/* Placement handles: find the handle whose pages the block has. The block's row in the checkpoint does not name it. */
static void find_handle(struct page_mount *s, uint32_t b)
{
	struct page_ftl *f = s->f;

	for (uint32_t page = 0; page < f->cache.ckpt.trusted[b]; page++) {
		uint32_t ppn = geo_ppn(f->g, (pbn_t){ b }, page).v;

		if (!survey_readable(mount_read(s, ppn, NULL, f->oob)))
			continue;
		handles_found(f, ppn, f->oob);
		return;
	}
}

static void restore_directory(struct page_mount *s)
{
	struct page_ftl *f = s->f;

	for (uint32_t i = 0; i < f->shape.map_lpn - f->shape.lpns; i++) {
		uint32_t upn = oob_unit_lpn(ckpt_hidden(f, i));

		if (upn != NONE && trusted(f, (upn & ~OOB_LOST) / f->shape.upp))
			f->cache.hidden[i] = upn;
	}
	for (uint32_t page = 0; page < f->cache.pages; page++) {
		uint32_t ppn = oob_unit_lpn(ckpt_map_page(f, page));
		uint32_t lpn = f->shape.map_lpn + page * f->shape.upp;

		if (ppn == NONE || !trusted(f, ppn))
			continue;
		for (uint32_t u = 0; u < f->shape.upp; u++)
			*map_entry(f, lpn + u) = ppn * f->shape.upp + u;
		f->cache.found[page].seq = oob_get5(ckpt_map_page(f, page) + 4);
		f->cache.found[page].order = f->cache.ckpt.seq0;
	}
}

/* Find the dead list that the checkpoint names; the survey compares those that it finds with this one. */
static void find_dead_list(struct page_mount *s)
{
	struct page_ftl *f = s->f;
	uint32_t upn = *map_entry(f, f->shape.dead_lpn);

	if (upn == NONE || !survey_readable(mount_read(s, (upn & ~OOB_LOST) / f->shape.upp, NULL, f->oob)))
		return;
	s->dead_upn = upn & ~OOB_LOST;
	s->dead_seq = oob_get_seq(f->oob, s->dead_upn % f->shape.upp);
	s->dead_order = oob_get_head(f->oob).order;
}

bool ckpt_find(struct page_mount *s)
{
	struct page_ftl *f = s->f;
	struct page_ckpt *c = &f->cache.ckpt;
	uint64_t number;
	int err = survey_pages(&f->host.survey, visit_first, s);

	SSD_ASSERT(!err);
	number = number_below(f, OOB_SEQ_MAX);
	while (number && !load(s, number))
		number = number_below(f, number);
	memset(c->next, 0xff, c->blocks * sizeof(*c->next));	/* BLK_NONE */
	for (uint32_t b = 0; !number && b < geo_blocks(f->g); b++) {
		f->bt.blk[b].parity_seq = f->bt.blk[b].last_order = f->bt.blk[b].mark = 0;
		f->bt.blk[b].next_page = 0;
	}
	if (!number) {
		ckpt_init(f);
		return false;
	}
	c->seq0 = oob_get5(c->image + 20);
	c->seq1 = oob_get5(c->image + 25);
	f->cache.seq = oob_get5(c->image + 30);
	s->mark = s->max_order = c->seq1;
	f->host.survey.anything = true;
	for (uint32_t b = 0; b < geo_blocks(f->g); b++)
		restore_block(s, b);
	for (uint32_t b = 0; f->handles.count && b < geo_blocks(f->g); b++)
		find_handle(s, b);
	handles_restore(f, ckpt_handles(f));
	restore_directory(s);
	find_dead_list(s);
	return true;
}

bool ckpt_confirm(const struct page_mount *s)
{
	const struct page_ftl *f = s->f;
	bool all = true;

	for (uint32_t i = 0; i < f->shape.map_lpn - f->shape.lpns; i++)
		all &= oob_unit_lpn(ckpt_hidden(f, i)) == NONE || f->cache.hidden[i] != NONE;
	for (uint32_t page = 0; page < f->cache.pages; page++)
		all &= oob_unit_lpn(ckpt_map_page(f, page)) == NONE ||
		       *map_entry(f, f->shape.map_lpn + page * f->shape.upp) != NONE;
	return all;
}
