// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * mount.c - rebuilds the FTL's state from the OOB on flash.
 *
 *   1  survey    read every page's OOB to find the marks, the log sequences that exist, how far
 *                each block is written, and the dead list
 *   2  the end   find K, the end of the log: start at the highest mark, and go on while the next
 *                sequence exists. Host pages past K, and those that an earlier mount declared dead,
 *                do not count
 *   3  map       read every page's OOB again, and map each LPN to the version with the highest
 *                sequence; of equal ones (a GC copy and its source) to the one programmed later
 *   4  trims     unmap each version that is not newer than its region's bitmap and whose bit is set
 *   5  blocks    compute valid counts and states, and choose frontiers
 *   6  the dead  if pages past K exist, add their range to the list in the hidden page before any
 *                other page is written or any block is erased
 *
 * With parity pages (front.h), rescue.c adds work between 1 and 2, in 5 and after 6.
 *
 * The list is one page. When it is more than half full, blocks with dead pages are closed
 * and collected first, so that their ranges can be dropped. If it is full nevertheless, or if
 * because of failed blocks there is no page for it or for a rebuilt page, the mount starts again
 * and writes nothing. The drive is then read-only, rebuilt pages are read from memory, and the next
 * mount finds the same state.
 *
 * New sequences begin above all that were found, and above those that unreadable pages may have
 * (survey_number()), so no number is used twice. The mark of the first new page declares the
 * sequences of the gap as settled.
 *
 * A block with trailing erased pages may be an open frontier or half erased.
 * If the map needs a unit of it, it was a frontier, because an erase starts only when every unit
 * has a later copy elsewhere. Such a block is written further; any other is closed, and blank
 * blocks are erased before use.
 *
 * Cost: two reads of each programmed page's spare area, and one more for each stale version found,
 * on all dies in parallel. It needs no memory beyond the FTL's own.
 */
#include "mount.h"

static page_fn survey_page;

/* Returns the rebuilt content of a page, or NULL. */
static const uint8_t *rebuilt(const struct page_ftl *f, uint32_t ppn)
{
	for (uint32_t i = 0; i < f->lost.count; i++)
		if (f->lost.page[i].ppn == ppn)
			return f->lost.data + (size_t)i * (f->g->page_bytes + f->oob_len);
	return NULL;
}

const uint8_t *mount_rebuilt_unit(const struct page_ftl *f, uint32_t upn)
{
	const uint8_t *page = rebuilt(f, upn / f->shape.upp);

	return page ? page + (size_t)(upn % f->shape.upp) * f->host.c.unit_bytes : NULL;
}

enum nand_status mount_read(struct page_mount *s, uint32_t ppn, const uint8_t **page, void *oob)
{
	struct page_ftl *f = s->f;
	enum nand_status status = survey_read(&f->host.survey, ppn, page ? NAND_WHOLE_PAGE : NAND_OOB_ONLY, oob, page);
	const uint8_t *copy = survey_readable(status) ? NULL : rebuilt(f, ppn);

	if (!copy)
		return status;
	if (page)
		*page = copy;
	memcpy(oob, copy + f->g->page_bytes, f->oob_len);
	return NAND_CORRECTED;
}

/*
 * Call s->visit for a readable page, and record how far the block is written. Its first erased page is
 * the end of the block.
 */
static int visit_page(void *mount, uint32_t b, uint32_t page)
{
	struct page_mount *s = mount;
	struct page_ftl *f = s->f;
	uint32_t ppn;
	enum nand_status st;

	if (page > f->bt.blk[b].next_page || page >= f->fr.block_pages[f->bt.blk[b].slc])
		return SURVEY_PAST;
	if (mount_trusts(s, b, page))
		return mount_trusts(s, b, f->g->pages_per_block - 1) ? SURVEY_PAST : SSD_OK;
	ppn = geo_ppn(f->g, (pbn_t){ b }, front_page(&f->fr, page)).v;
	st = mount_read(s, ppn, NULL, f->oob);
	if (st == NAND_ERASED)
		return SURVEY_PAST;
	f->host.survey.anything = true;
	f->bt.blk[b].next_page = page + 1;
	f->bt.blk[b].torn = !survey_readable(st);
	f->bt.blk[b].hurt |= !survey_readable(st);
	if (survey_readable(st))
		s->visit(s, ppn, f->oob);
	else
		f->host.survey.unreadable += s->visit == survey_page;
	return SSD_OK;
}

/* Returns the first block of the die, from b on, that the pass must read, or `end`. */
static uint32_t next_wanted(const struct page_mount *s, uint32_t b, uint32_t end)
{
	while (b < end && (s->f->host.n->ops->is_bad(s->f->host.n, (pbn_t){ b }) || !s->wants(s, b)))
		b++;
	return b;
}

/*
 * Visit only the blocks that the pass wants. The k-th of each die are read side by side, so that as
 * many dies as possible work in parallel.
 */
static int for_each_wanted(struct page_mount *s)
{
	const struct page_ftl *f = s->f;
	uint32_t per_die = f->g->blocks_per_plane * f->g->planes_per_die, *at = f->cache.next_of_die;
	bool some = true;

	for (uint32_t d = 0; d < f->shape.dies; d++)
		at[d] = d * per_die;
	while (some) {
		some = false;
		for (uint32_t d = 0; d < f->shape.dies; d++) {
			at[d] = next_wanted(s, at[d], (d + 1) * per_die);
			some |= at[d] < (d + 1) * per_die;
		}
		for (uint32_t page = 0; some && page < f->g->pages_per_block; page++)
			for (uint32_t d = 0; d < f->shape.dies; d++) {
				int err = at[d] < (d + 1) * per_die ? visit_page(s, at[d], page) : SSD_OK;

				if (err < 0)
					return err;
			}
		for (uint32_t d = 0; d < f->shape.dies; d++)
			at[d] += at[d] < (d + 1) * per_die;
	}
	return SSD_OK;
}

static int for_each_page(struct page_mount *s, page_fn *visit)
{
	s->visit = visit;
	return s->wants ? for_each_wanted(s) : survey_pages(&s->f->host.survey, visit_page, s);
}

/* ---- 1, 2: survey and end ------------------------------------------------ */

static bool is_map_page(const struct page_ftl *f, const uint8_t *oob)
{
	return oob_get_lpn(oob, 0) != OOB_NO_LPN && (oob_get_lpn(oob, 0) & ~OOB_LOST) >= f->shape.map_lpn;
}

/*
 * Can the FTL have written this spare area? ECC covers the spare area, so other values occur only
 * if the drive file was damaged or was written by another program. Every number of a spare area is
 * checked here.
 */
static bool sound_oob(const struct page_ftl *f, const struct oob_head *h, const uint8_t *oob)
{
	if (h->kind == OOB_PARITY)
		return f->fr.group > 0;
	if (h->mark > h->order || (h->kind == OOB_MAP && !is_map_page(f, oob)))
		return false;
	for (uint32_t i = 0; i < f->shape.upp; i++) {
		uint32_t tag = oob_get_lpn(oob, i);

		if (tag == OOB_NO_LPN)
			continue;
		if ((tag & ~OOB_LOST) >= f->shape.most_lpns)
			return false;
		if (((tag & ~OOB_LOST) >= f->shape.map_lpn) != is_map_page(f, oob))
			return false;
		if ((tag & ~OOB_LOST) < f->shape.map_lpn && oob_get_seq(oob, i) > h->order)
			return false;	/* map pages have sequences of their own */
	}
	return true;
}

static void survey_page(struct page_mount *s, uint32_t ppn, const uint8_t *oob)
{
	struct page_ftl *f = s->f;
	struct blk *b = &f->bt.blk[ppn / f->g->pages_per_block];
	struct oob_head h = oob_get_head(oob);
	uint64_t *seen = &f->log.ring[h.order & f->log.ring_mask];

	if (!sound_oob(f, &h, oob)) {
		s->contradiction = true;
		return;
	}
	if (h.kind == OOB_PARITY) {	/* the page is not part of the log */
		rescue_note_parity(s, ppn, oob);
		return;
	}
	if (h.order > s->max_order)
		s->max_order = h.order;
	if (h.mark > s->mark)
		s->mark = h.mark;
	if (h.order > b->last_order)
		b->last_order = h.order;
	if (h.mark > b->mark)
		b->mark = h.mark;
	if (is_map_page(f, oob)) {
		b->map = true;
		if (oob_get_seq(oob, 0) > f->cache.seq)
			f->cache.seq = oob_get_seq(oob, 0);
	} else {
		b->copies |= h.kind == OOB_GC;
	}
	if (f->handles.count)
		handles_found(f, ppn, oob);
	if (map_is_cached(f))
		map_mount_note(s, ppn, oob);
	if (h.kind == OOB_HOST && h.order > *seen)
		*seen = h.order;
	for (uint32_t i = 0; i < f->shape.upp; i++) {
		uint64_t seq = oob_get_seq(oob, i);

		if (oob_get_lpn(oob, i) != f->shape.dead_lpn)
			continue;
		if (s->dead_upn != NONE && (seq < s->dead_seq ||
		    (seq == s->dead_seq && h.order < s->dead_order)))
			continue;
		s->dead_upn = ppn * f->shape.upp + i;
		s->dead_seq = seq;
		s->dead_order = h.order;
	}
}

static int load_dead_list(struct page_mount *s)
{
	struct page_ftl *f = s->f;
	const uint8_t *p, *page;

	f->log.dead_count = 0;
	if (s->dead_upn == NONE)
		return SSD_OK;
	if (!survey_readable(mount_read(s, s->dead_upn / f->shape.upp, &page, f->oob)) || !page)
		return SSD_E_CORRUPT;
	p = page + (size_t)(s->dead_upn % f->shape.upp) * f->host.c.unit_bytes;
	f->log.dead_count = (uint32_t)oob_get5(p);
	if (f->log.dead_count > f->log.dead_max)
		return SSD_E_CORRUPT;
	for (uint32_t i = 0; i < f->log.dead_count; i++) {
		p += DEAD_RANGE_BYTES;
		f->log.dead[i] = (struct dead_range){ oob_get5(p), oob_get5(p + 5), s->trusts };
	}
	if (s->trusts && f->log.dead_count >= f->log.dead_max / 2)	/* only the survey counts their pages */
		return SSD_E_CORRUPT;
	return SSD_OK;
}

static void find_end(struct page_mount *s)
{
	struct page_ftl *f = s->f;

	s->k = s->mark;
	while (f->log.ring[(s->k + 1) & f->log.ring_mask] == s->k + 1)
		s->k++;
}

/* ---- 3: map -------------------------------------------------------------- */

static bool is_dead(struct page_mount *s, uint64_t seq, bool count)
{
	struct page_ftl *f = s->f;

	if (seq > s->k) {
		s->dead_pages += count;
		return true;
	}
	for (uint32_t i = 0; i < f->log.dead_count; i++)
		if (seq > f->log.dead[i].after && seq < f->log.dead[i].before) {
			f->log.dead[i].pages += count;
			return true;
		}
	return false;
}

/* Is the version at upn, in a page with head h, later than the version mapped now? */
static bool supersedes(struct page_mount *s, uint32_t lpn, uint64_t seq, const struct oob_head *h,
		       uint32_t upn)
{
	struct page_ftl *f = s->f;
	uint32_t now = *map_entry(f, lpn) & ~OOB_LOST;
	uint8_t *oob = f->oob + f->oob_len;
	struct oob_head was;
	uint64_t other;

	if (*map_entry(f, lpn) == NONE)
		return true;
	if (now / f->shape.upp == upn / f->shape.upp)
		return true;	/* two versions in one page: the later slot is newer */
	if (!survey_readable(mount_read(s, now / f->shape.upp, NULL, oob)) ||
	    (oob_get_lpn(oob, now % f->shape.upp) & ~OOB_LOST) != lpn)
		return true;
	other = oob_get_seq(oob, now % f->shape.upp);
	was = oob_get_head(oob);
	if (seq != other)
		return seq > other;
	return h->order > was.order || (h->order == was.order && h->kind > was.kind);
}

static void map_page(struct page_mount *s, uint32_t ppn, const uint8_t *oob)
{
	struct page_ftl *f = s->f;
	struct oob_head h = oob_get_head(oob);

	if (h.kind == OOB_PARITY)
		return;
	if (h.kind == OOB_HOST && is_dead(s, h.order, !s->again)) {
		f->bt.blk[ppn / f->g->pages_per_block].dead |= !s->again;
		return;
	}
	for (uint32_t i = 0; i < f->shape.upp; i++) {
		uint32_t tag = oob_get_lpn(oob, i), lpn = tag & ~OOB_LOST;
		uint32_t upn = ppn * f->shape.upp + i;

		if (tag == OOB_NO_LPN || lpn >= f->shape.all_lpns ||
		    (map_is_cached(f) && !map_mount_takes(s, lpn, &h)))
			continue;
		if (!supersedes(s, lpn, oob_get_seq(oob, i), &h, upn))
			continue;
		*map_entry(f, lpn) = upn | (tag & OOB_LOST);
		if (f->map.p2l)
			oob_copy_unit(p2l_of(f, upn), oob, i);
	}
}

/* ---- 4: trims ------------------------------------------------------------ */

static bool is_trusted(const struct page_mount *s, uint32_t upn)
{
	uint32_t ppn = upn / s->f->shape.upp;

	return mount_trusts(s, ppn / s->f->g->pages_per_block, ppn % s->f->g->pages_per_block);
}

static int apply_map(struct page_mount *s, uint32_t map)
{
	struct page_ftl *f = s->f;
	uint32_t upn = *map_entry(f, f->shape.lpns + map), per = lpns_per_map(f), first = map * per;
	uint8_t *bits = f->scratch;	/* a copy, because f->scratch is used by later reads */
	const uint8_t *page;
	uint64_t trim_seq;

	if (upn & OOB_LOST || !survey_readable(mount_read(s, upn / f->shape.upp, &page, f->oob)) || !page)
		return SSD_E_CORRUPT;
	memcpy(bits, page + (size_t)(upn % f->shape.upp) * f->host.c.unit_bytes, f->host.c.unit_bytes);
	trim_seq = oob_get_seq(f->oob, upn % f->shape.upp);
	for (uint32_t lpn = first; lpn < first + per && lpn < f->shape.lpns; lpn++) {
		uint32_t at;

		if (!bit_get(bits, lpn - first) || (map_is_cached(f) && !map_holds(f, lpn)))
			continue;
		at = *map_entry(f, lpn);
		if (at != NONE) {
			uint8_t *oob = f->oob + f->oob_len;

			at &= ~OOB_LOST;
			if (is_trusted(s, at)) {	/* what was trimmed before the checkpoint has no entry */
				if (trim_seq <= f->cache.ckpt.seq0)
					continue;
			} else if (survey_readable(mount_read(s, at / f->shape.upp, NULL, oob)) &&
			    (oob_get_lpn(oob, at % f->shape.upp) & ~OOB_LOST) == lpn &&
			    oob_get_seq(oob, at % f->shape.upp) > trim_seq)
				continue;
			*map_entry(f, lpn) = NONE;
		}
		trim_set(f, lpn);
	}
	return SSD_OK;
}

/* Are entries of the bitmap's LPNs in memory? */
static bool some_held(const struct page_ftl *f, uint32_t map)
{
	uint32_t per = lpns_per_map(f), lpn = map * per, end = lpn + per;

	if (!map_is_cached(f))
		return true;
	for (; lpn < end && lpn < f->shape.lpns; lpn = (fxp_quotient(f->cache.by_per, lpn) + 1) * f->cache.per)
		if (map_holds(f, lpn))
			return true;
	return false;
}

int mount_trims(struct page_mount *s)
{
	for (uint32_t map = 0; map < s->f->shape.maps; map++) {
		bool none = *map_entry(s->f, s->f->shape.lpns + map) == NONE || !some_held(s->f, map);
		int err = none ? SSD_OK : apply_map(s, map);

		if (err)
			return err;
	}
	return SSD_OK;
}

int mount_versions(struct page_mount *s)
{
	return s->f->host.survey.anything ? for_each_page(s, map_page) : SSD_OK;
}

/* ---- 5: blocks ----------------------------------------------------------- */

/* Returns SSD_E_CORRUPT if a block of parity pages also has mapped pages. */
static int count_valid(struct page_ftl *f)
{
	for (uint32_t lpn = 0; lpn < f->shape.all_lpns; lpn++) {
		uint32_t upn = f->map.l2p[lpn] & ~OOB_LOST;

		if (f->map.l2p[lpn] == NONE)
			continue;
		bit_set(f->map.valid, upn);
		f->bt.blk[upn_block(f, upn)].valid++;
		if (f->bt.blk[upn_block(f, upn)].backup)
			return SSD_E_CORRUPT;
		f->map.mapped++;
	}
	return SSD_OK;
}

static uint64_t last_order_in(const struct page_ftl *f, uint32_t plane, uint32_t slot)
{
	uint32_t b = f->fr.plane[plane].open[slot];

	return b == BLK_NONE ? 0 : f->bt.blk[b].last_order;
}

/*
 * Make a block its plane's frontier of a kind and stream, if it was written later than the one chosen so far.
 * With hot_cold the last two blocks become frontiers. It is unknown which of them held hot pages,
 * and it does not matter.
 */
static void offer_frontier(struct page_ftl *f, uint32_t b)
{
	struct blk *k = &f->bt.blk[b];
	uint32_t which = k->map ? FRONT_MAP : k->slc ? f->fr.slc : k->copies ? f->fr.copies : FRONT_HOST;
	uint32_t plane = geo_plane_of(f->g, (pbn_t){ b }), open;

	if (f->handles.count)
		which += k->copies && !f->handles.apart ? 0 : k->stream;
	else if (f->fr.c.streams > 1 && !k->slc && last_order_in(f, plane, which + 1) < last_order_in(f, plane, which))
		which++;
	open = f->fr.plane[plane].open[which];
	if (open != BLK_NONE && f->bt.blk[open].last_order >= k->last_order) {
		blk_close(&f->bt, b);
		return;
	}
	if (open != BLK_NONE) {
		front_drop(&f->fr, open);
		blk_close(&f->bt, open);
	}
	front_put(&f->fr, plane, which, b);
}

bool mount_goes_on(const struct page_mount *s, uint32_t b)
{
	const struct blk *k = &s->f->bt.blk[b];

	const struct front *fr = &s->f->fr;

	return k->valid && k->next_page < fr->block_pages[k->slc] && !(s->purge && k->dead) &&
	       (!k->slc || fr->slc != FRONT_NONE);
}

/*
 * Put a written block on its list. With backup, rescue_frontiers() handles blocks that are open or
 * held.
 */
static void sort_written(struct page_mount *s, uint32_t b)
{
	struct page_ftl *f = s->f;

	f->bt.blk[b].copies &= !f->bt.blk[b].map;
	if (s->read_only) {
		blk_close(&f->bt, b);
		return;
	}
	if (f->fr.group && (f->bt.blk[b].backup || rescue_holds(f, b) || mount_goes_on(s, b)))
		return;
	if (mount_goes_on(s, b))
		offer_frontier(f, b);
	else
		blk_close(&f->bt, b);
}

/* Is the dead list so long that blocks must be erased to shorten it? */
static bool many_dead(const struct page_mount *s)
{
	const struct page_ftl *f = s->f;
	uint32_t ranges = s->dead_pages > 0;

	for (uint32_t i = 0; i < f->log.dead_count; i++)
		ranges += f->log.dead[i].pages > 0;
	return ranges > f->log.dead_max / 2;
}

static void sort_blocks(struct page_mount *s)
{
	struct page_ftl *f = s->f;

	s->purge = many_dead(s);
	for (uint32_t b = 0; b < geo_blocks(f->g); b++) {
		struct blk *k = &f->bt.blk[b];

		if (s->read_only)	/* rescue_frontiers(), which counts parity pages in blk.live, is not called */
			k->parity = 0;
		if (f->host.n->ops->is_bad(f->host.n, (pbn_t){ b })) {
			k->state = BLK_BAD;
			k->slc = false;
			continue;
		}
		f->good_blocks++;
		f->bt.plane[geo_plane_of(f->g, (pbn_t){ b })].slc += k->slc;
		if (!k->next_page)
			blk_put_free(&f->bt, b, f->host.survey.anything);
		else if (!s->trusts || !ckpt_holds(f, b))
			sort_written(s, b);
		k->dead = k->dead && s->purge;
		f->plane[geo_plane_of(f->g, (pbn_t){ b })].purge += k->dead;
		if (k->mark && (f->log.carrier == BLK_NONE || k->mark > f->bt.blk[f->log.carrier].mark))
			f->log.carrier = b;
	}
	if (f->host.c.gc_policy->lists != BLK_BUCKETS)	/* greedy may take any of several equal blocks */
		blk_sort_closed(&f->bt, false);
	blk_sort_closed(&f->bt, true);
	if (!s->read_only)
		slc_set_aside(f);
	f->host.worn = f->good_blocks < f->need_blocks || s->read_only;
}

/* ---- 6: the dead list ---------------------------------------------------- */

static int list_the_dead(struct page_mount *s)
{
	struct page_ftl *f = s->f;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < f->log.dead_count; i++)
		if (f->log.dead[i].pages)
			f->log.dead[kept++] = f->log.dead[i];
	f->log.dead_count = kept;
	if (kept == f->log.dead_max)
		return SSD_E_NOSPC;
	f->log.dead[f->log.dead_count++] = (struct dead_range){ s->k, f->log.next_seq, s->dead_pages };
	return SSD_OK;
}

void mount_fill_dead_list(const struct page_ftl *f, uint8_t *p)
{
	memset(p, 0, f->host.c.unit_bytes);
	oob_put5(p, f->log.dead_count);
	for (uint32_t i = 0; i < f->log.dead_count; i++) {
		p += DEAD_RANGE_BYTES;
		oob_put5(p, f->log.dead[i].after);
		oob_put5(p + 5, f->log.dead[i].before);
	}
}

int mount_settle(struct page_mount *s)
{
	struct page_ftl *f = s->f;
	uint64_t now = f->host.survey.ready_ns;

	wbuf_seal(f);
	f->gc.hold = true;	/* no block is erased before the dead list is durable */
	f->turn.changed = true;
	while (f->bt.stable + 1 < f->log.next_seq || f->turn.ends.busy) {
		uint64_t next = f->host.base.ops->step(&f->host.base, now);

		if (f->full || next == FTL_IDLE)
			break;
		now = next;
	}
	f->host.survey.now_ns = f->host.survey.ready_ns = now;
	if (f->bt.stable + 1 < f->log.next_seq)
		return SSD_E_NOSPC;
	f->gc.hold = false;
	return SSD_OK;
}

static int write_dead_list(struct page_mount *s)
{
	struct page_ftl *f = s->f;
	uint32_t slot;
	int err = list_the_dead(s);

	if (err)
		return err;
	slot = wbuf_hidden_slot(f, f->shape.dead_lpn);
	SSD_ASSERT(slot != NONE);
	mount_fill_dead_list(f, slot_data(f, slot));
	return mount_settle(s);
}

/* ---- the whole ------------------------------------------------------------ */

/* Steps 1 to 5: find what flash holds. */
static int find(struct page_mount *s)
{
	struct page_ftl *f = s->f;
	int err;

	if (!map_is_cached(f))
		memset(f->map.l2p, 0xff, f->shape.all_lpns * sizeof(*f->map.l2p));	/* NONE */
	for (uint32_t b = 0; b < geo_blocks(f->g); b++) {
		f->bt.blk[b].slc = f->host.n->ops->is_slc(f->host.n, (pbn_t){ b });
		s->contradiction |= f->bt.blk[b].slc && f->fr.sequence != SEQ_ASCENDING;	/* SLC by word lines */
	}
	if (s->contradiction)
		return SSD_E_CORRUPT;
	s->trusts = s->trusts && ckpt_find(s);
	err = for_each_page(s, survey_page);
	if (!err && f->fr.group)
		err = rescue_rebuild(s);
	for (uint32_t i = 0; i < f->lost.count; i++)
		survey_page(s, f->lost.page[i].ppn, rebuilt(f, f->lost.page[i].ppn) + f->g->page_bytes);
	if (!err)
		err = s->contradiction ? SSD_E_CORRUPT : load_dead_list(s);
	if (err)
		return err;
	find_end(s);
	err = map_is_cached(f) ? map_mount_find(s) : mount_versions(s);
	if (!err && !map_is_cached(f))
		err = mount_trims(s);
	if (err)
		return err;
	if (f->fr.group)
		rescue_keep_dead(s);
	err = map_is_cached(f) || !f->host.survey.anything ? SSD_OK : count_valid(f);
	if (err)
		return err;
	sort_blocks(s);
	return SSD_OK;
}

/* Returns SSD_E_NOSPC if too few numbers are left. */
static int set_sequences(struct page_mount *s)
{
	struct page_ftl *f = s->f;
	uint64_t highest = s->max_order > s->k ? s->max_order : s->k;
	bool enough;

	for (uint32_t i = 0; i < f->log.dead_count; i++)
		if (f->log.dead[i].before > highest + 1)
			highest = f->log.dead[i].before - 1;
	enough = survey_number(&f->host.survey, &highest, 1);
	f->bt.issued = f->bt.stable = highest;
	f->log.next_seq = highest + 1;
	f->cache.pin_seq = highest + 1;
	f->cache.seq += f->host.survey.unreadable;
	return enough || s->read_only ? SSD_OK : SSD_E_NOSPC;
}

/* Step 6, and the writing of rebuilt pages. Returns SSD_E_NOSPC if there is no room for them. */
static int write_findings(struct page_mount *s)
{
	struct page_ftl *f = s->f;
	int err = SSD_OK;

	if (f->fr.group)
		rescue_frontiers(s);
	if (s->dead_pages)
		err = write_dead_list(s);
	if (!err && f->fr.group)
		err = rescue_rewrite(s);
	if (!err && map_is_cached(f))
		err = map_mount_settle(s);
	return err;
}

static int mount(struct page_mount *s)
{
	struct page_ftl *f = s->f;
	int err = find(s);

	if (!err)
		err = set_sequences(s);
	if (err)
		return err;
	f->host.now_ns = f->host.survey.ready_ns;
	f->gc.hold = s->read_only;
	return s->read_only ? SSD_OK : write_findings(s);
}

/* Restore the state before the mount; statistics stay. */
static void begin_anew(struct page_ftl *f)
{
	const struct ftl_ops *ops = f->host.base.ops;
	struct ftl_config c = f->host.c;
	struct ftl_host shell = f->host.shell;
	struct ftl_stats stats = f->host.stats;
	struct nand *n = f->host.n;
	uint64_t now_ns = f->host.survey.ready_ns;
	size_t len = ftl_footprint(ops, &c, &n->geo);
	struct ftl *same;
	int err;

	memset(f, 0, len);
	err = ftl_init(ops, f, len, &c, n, &shell, &same);
	SSD_ASSERT(!err && same == &f->host.base);
	f->host.stats = stats;
	survey_begin(&f->host.survey, n, now_ns);
}

int page_ftl_find(struct ftl *base)
{
	struct page_ftl *f = page_ftl_of(base);
	struct page_mount s = { .f = f, .dead_upn = NONE, .trusts = map_is_cached(f) };
	int err = mount(&s);

	if (err && s.trusts) {		/* a checkpoint that contradicts the flash */
		begin_anew(f);
		s = (struct page_mount){ .f = f, .dead_upn = NONE };
		err = mount(&s);
	}
	if (err == SSD_E_NOSPC && (!map_is_cached(f) || f->cache.lost)) {
		bool cached = map_is_cached(f);

		begin_anew(f);
		s = (struct page_mount){ .f = f, .dead_upn = NONE, .read_only = !cached, .map_lost = cached };
		err = mount(&s);
	}
	if (err)
		return err;
	f->host.now_ns = f->host.survey.ready_ns;
	handles_mounted(f);
	if (map_is_cached(f))
		ckpt_mounted(f, s.trusts);
	for (uint32_t p = 0; p < f->shape.planes; p++)
		gc_wake(f, p);
	f->turn.changed = true;
	return SSD_OK;
}
