// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * map_mount.c - the cached map's part of a mount (MAP.md).
 *
 * A map page of kind OOB_MAP and mark m is a snapshot (M5 in map.c): of each of its LPNs the newest version on flash
 * is the one that it names, or lies in a host page above m, or in a copy of order m or above. These pages are
 * the map page's *tail*. Other map pages, and ones that cannot be read, count as mark 0: their tail is the whole drive.
 * So it does not matter which version of a map page survives, nor in which order they were written.
 *
 *   map_mount_begin()    a checkpoint, if there is one. note_page(), which the survey calls: of each map page the
 *                        newest version and the last page of its tail
 *   map_mount_find()     1  the trim bitmaps, and the dead: blocks that may have them are read again
 *                        2  map pages without a tail: load as many as there are frames, apply trims, count the
 *                           entries as valid, compare with flash; then the next ones
 *                        3  map pages with a tail: the same, but read the blocks with it after loading
 *                        A map page that differs from flash is `stale`; in trimmed units alone, `due`
 *   map_mount_settle()   when the dead list is durable: find the entries of the stale map pages
 *                        once more and leave them in memory, changed. If there are more than
 *                        frames, write them and continue with the next. Then load the due ones
 *
 * An entry may name a page that was erased after the snapshot: its unit was trimmed, or its newer version cannot be
 * read. In a damaged drive file it may name anything. still_there() reads the spare area that an entry names, and drops
 * such entries.
 *
 * After a power cut there are at most as many stale map pages as frames were in use (M3 in map.c);
 * more of them appear if the cache became smaller, or pages were lost, or the drive was used with
 * the whole map in memory. If a due page cannot be read when it is loaded, the mount starts again and
 * takes all due pages for stale ones, which need no read.
 */
#include "ckpt_mount.h"
#include "map_mount.h"
#include "mount_pages.h"
#include "mount_state.h"
#include "mount_versions.h"

static uint32_t first_lpn(const struct page_ftl *f, uint32_t page)
{
	return page * f->cache.per;
}

static uint32_t end_lpn(const struct page_ftl *f, uint32_t page)
{
	uint32_t end = (page + 1) * f->cache.per;

	return end < f->shape.lpns ? end : f->shape.lpns;
}

/* ---- the survey ------------------------------------------------------------------------ */

static uint64_t place_of(const struct oob_head *h)
{
	return 2 * h->order + (h->kind == OOB_GC);
}

static bool has_tail(const struct map_found *at)
{
	return at->top > 2 * at->order;
}

static void note_map_page(struct page_mount *s, uint32_t ppn, const uint8_t *oob)
{
	struct page_ftl *f = s->f;
	uint32_t page = ((oob_get_lpn(oob, 0) & ~OOB_LOST) - f->shape.map_lpn) / f->shape.upp;
	uint32_t lpn = f->shape.map_lpn + page * f->shape.upp;
	struct map_found *at;

	if (page >= f->cache.pages)	/* a damaged file: a page of a checkpoint has another number */
		return;
	at = &f->cache.found[page];
	for (uint32_t u = 0; u < f->shape.upp; u++)
		if (oob_get_lpn(oob, u) != lpn + u)
			return;
	if (oob_get_seq(oob, 0) <= at->seq)
		return;
	at->seq = oob_get_seq(oob, 0);
	at->order = oob_snapshot_mark(oob);
	if (s->trusts && at->order < f->cache.ckpt.seq0)	/* Q1 in ckpt.c */
		at->order = f->cache.ckpt.seq0;
	for (uint32_t u = 0; u < f->shape.upp; u++)
		*map_entry(f, lpn + u) = ppn * f->shape.upp + u;
}

static void note_page(struct page_mount *s, uint32_t ppn, const uint8_t *oob)
{
	struct page_ftl *f = s->f;
	struct page_cache *k = &f->cache;
	struct oob_head h = oob_get_head(oob);
	uint32_t b = ppn / f->g->pages_per_block;

	if (h.order < k->first_order[b])
		k->first_order[b] = h.order;
	for (uint32_t i = 0; i < f->shape.upp; i++) {
		uint32_t tag = oob_get_lpn(oob, i), lpn = tag & ~OOB_LOST;
		struct map_found *at = &k->found[fxp_quotient(k->by_per, lpn < f->shape.lpns ? lpn : 0)];

		if (tag == OOB_NO_LPN)
			continue;
		if (lpn >= f->shape.map_lpn) {
			if (lpn != f->shape.ckpt_lpn)
				note_map_page(s, ppn, oob);
			return;
		}
		if (lpn >= f->shape.lpns)
			word_set(k->with_hidden, b);
		else if (place_of(&h) > at->top)
			at->top = place_of(&h);
	}
}

int map_mount_begin(struct page_mount *s)
{
	s->note = note_page;
	s->trusts = s->trusts && ckpt_find(s);
	return SSD_OK;
}

/* ---- which blocks and units a pass looks at ------------------------------------------------ */

/* May the block have trim bitmaps, the dead list, or pages that are dead? */
static bool wants_hidden(const struct page_mount *s, uint32_t b)
{
	const struct page_ftl *f = s->f;
	uint64_t first = f->cache.first_order[b], last = f->bt.blk[b].last_order;

	if (s->trusts && f->bt.blk[b].next_page <= f->cache.ckpt.trusted[b])
		return false;
	if (f->cache.with_hidden[b >> 6] >> (b & 63) & 1 || last > s->k)
		return true;
	for (uint32_t i = 0; i < f->log.dead_count; i++)
		if (last > f->log.dead[i].after && first < f->log.dead[i].before)
			return true;
	return false;
}

static bool wants_tail(const struct page_mount *s, uint32_t b)
{
	return s->f->bt.blk[b].last_order >= s->tail &&
	       (!s->trusts || s->f->bt.blk[b].next_page > s->f->cache.ckpt.trusted[b]);
}

/* Does the pass look for this LPN, in a page with head h? */
static bool takes(const struct page_mount *s, uint32_t lpn, const struct oob_head *h)
{
	const struct page_ftl *f = s->f;

	if (!s->again)
		return lpn >= f->shape.lpns && lpn < f->shape.map_lpn;
	return lpn < f->shape.lpns && map_holds(f, lpn) &&
	       place_of(h) > 2 * f->cache.found[fxp_quotient(f->cache.by_per, lpn)].order;
}

/* ---- loading and comparing ------------------------------------------------------------------ */

int map_mount_count(struct page_ftl *f, uint32_t from, uint32_t to)
{
	for (uint32_t lpn = from; lpn < to; lpn++) {
		uint32_t upn = *map_entry(f, lpn) & ~OOB_LOST;

		if (*map_entry(f, lpn) == NONE)
			continue;
		if (bit_get(f->map.valid, upn) || f->bt.blk[upn_block(f, upn)].backup)
			return SSD_E_CORRUPT;
		bit_set(f->map.valid, upn);
		f->bt.blk[upn_block(f, upn)].valid++;
		f->map.mapped++;
	}
	return SSD_OK;
}

/* Returns the content of the map page on flash, or NULL if there is none. */
static const uint32_t *on_flash(struct page_mount *s, uint32_t page)
{
	struct page_ftl *f = s->f;
	uint32_t lpn = f->shape.map_lpn + page * f->shape.upp, upn = *map_entry(f, lpn);
	const uint8_t *bytes = NULL;

	for (uint32_t u = 0; u < f->shape.upp; u++)
		if (upn == NONE || upn % f->shape.upp || *map_entry(f, lpn + u) != upn + u)
			return NULL;
	if (!survey_readable(mount_read(s, upn / f->shape.upp, &bytes, f->oob)))
		return NULL;
	return (const uint32_t *)(const void *)bytes;
}

/*
 * Is the unit that a snapshot names still on flash, and is it still the LPN's? `held` is the page
 * whose spare area is in f->oob, or NONE, because neighbours often lie in one page.
 */
static bool still_there(struct page_mount *s, uint32_t lpn, uint32_t upn, uint32_t *held)
{
	struct page_ftl *f = s->f;
	uint32_t b = upn_block(f, upn), ppn = upn / f->shape.upp;

	if (b >= geo_blocks(f->g)) {
		s->contradiction = true;
		return false;
	}
	if (mount_trusts(s, b, ppn % f->g->pages_per_block))
		return true;
	if (ppn % f->g->pages_per_block >= f->bt.blk[b].next_page)
		return false;
	if (ppn != *held)
		*held = survey_readable(mount_read(s, ppn, NULL, f->oob)) ? ppn : NONE;
	return ppn == *held && (oob_get_lpn(f->oob, upn % f->shape.upp) & ~OOB_LOST) == lpn;
}

/* Load the map page into its frame, which has no entries. */
static void load(struct page_mount *s, uint32_t page)
{
	struct page_ftl *f = s->f;
	struct map_found *at = &f->cache.found[page];
	uint32_t first = first_lpn(f, page), *entry = map_entry(f, first), held = NONE;
	const uint32_t *flash = at->order ? on_flash(s, page) : NULL;

	if (!flash) {	/* by a checkpoint the page's older entries could not be found: they are not in the tail */
		s->contradiction |= s->trusts && *map_entry(f, f->shape.map_lpn + page * f->shape.upp) != NONE;
		at->order = 0;
		return;
	}
	memcpy(entry, flash, (end_lpn(f, page) - first) * sizeof(*entry));
	for (uint32_t lpn = first; lpn < end_lpn(f, page); lpn++, entry++)
		if (*entry != NONE && !still_there(s, lpn, *entry & ~OOB_LOST, &held))
			*entry = NONE;
}

static void compare(struct page_mount *s, uint32_t page)
{
	struct page_ftl *f = s->f;
	const uint32_t *flash = on_flash(s, page);
	uint32_t first = first_lpn(f, page);
	bool stale = false, due = false;

	for (uint32_t lpn = first; lpn < end_lpn(f, page); lpn++) {
		uint32_t truth = *map_entry(f, lpn), there = flash ? flash[lpn - first] : NONE;
		bool gone = truth == NONE && is_trimmed(f, lpn) && !s->map_lost;

		due |= there != truth && gone;
		stale |= there != truth && !gone;
	}
	stale |= !flash && *map_entry(f, f->shape.map_lpn + page * f->shape.upp) != NONE;
	if (stale)
		word_set(f->cache.stale, page);
	else if (due)
		map_set_due(f, page);
}

/* Load the map page, and let the pass read its tail, too. */
static void load_with_tail(struct page_mount *s, uint32_t page)
{
	load(s, page);
	if (s->f->cache.found[page].order < s->tail)
		s->tail = s->f->cache.found[page].order;
}

/* Execute step 2 (no tails) or 3. If step 2 could not read a map page, step 3 reads its tail. */
static int find_entries(struct page_mount *s, bool tails)
{
	struct page_ftl *f = s->f;
	struct page_cache *k = &f->cache;
	int err = SSD_OK;

	for (uint32_t page = 0; page < k->pages && !err;) {
		uint32_t from = page;

		map_empty(f);
		s->tail = OOB_SEQ_MAX;
		for (; page < k->pages && (has_tail(&k->found[page]) != tails || map_take(f, page)); page++)
			if (map_holds(f, first_lpn(f, page)))
				load_with_tail(s, page);
		if (tails && s->tail < OOB_SEQ_MAX)
			err = mount_versions(s);
		if (!err)
			err = mount_trims(s);
		for (uint32_t p = from; p < page && !err; p++) {
			if (!map_holds(f, first_lpn(f, p)) || has_tail(&k->found[p]) != tails)
				continue;
			err = map_mount_count(f, first_lpn(f, p), end_lpn(f, p));
			compare(s, p);
		}
	}
	map_empty(f);
	return err;
}

int map_mount_find(struct page_mount *s)
{
	struct page_ftl *f = s->f;
	int err;

	f->cache.mounting = true;
	map_empty(f);
	s->wants = wants_hidden;
	s->takes = takes;
	err = mount_versions(s);
	s->again = true;
	s->wants = wants_tail;
	if (!err && s->trusts && !ckpt_confirm(s))
		err = SSD_E_CORRUPT;
	if (!err)
		err = map_mount_count(f, f->shape.lpns, f->shape.all_lpns);
	if (!err)
		err = find_entries(s, false);
	if (!err)
		err = find_entries(s, true);
	return s->contradiction ? SSD_E_CORRUPT : err;
}

/*
 * Call step() until done() holds. While GC is on hold, order the write of all dirty frames, also of those whose
 * program failed. Returns SSD_E_NOSPC if nothing more happens before.
 */
static int step_until(struct page_mount *s, bool (*done)(const struct page_ftl *f))
{
	struct page_ftl *f = s->f;
	uint64_t now = f->host.survey.ready_ns, next = now;

	while (!done(f)) {
		uint32_t due = f->cache.due_count;
		bool idle = next == FTL_IDLE;

		if (f->gc.hold)
			map_write_all(f);
		f->turn.changed = true;
		next = f->host.base.ops->step(&f->host.base, now);
		if (idle && next == FTL_IDLE && f->cache.due_count == due && !done(f))
			return SSD_E_NOSPC;
		now = next == FTL_IDLE ? now : next;
	}
	f->host.survey.now_ns = f->host.survey.ready_ns = now;
	return SSD_OK;
}

static bool all_written(const struct page_ftl *f)
{
	return f->cache.list[ON_DIRTY].oldest == MAP_NONE && !f->cache.writes && !f->turn.ends.busy;
}

static bool none_due(const struct page_ftl *f)
{
	return !f->cache.due_count && !f->turn.ends.busy;
}

/* Find the entries of stale map pages, as many as there are frames. */
static int find_stale(struct page_mount *s)
{
	struct page_ftl *f = s->f;
	struct page_cache *k = &f->cache;
	uint32_t page = word_next(k->stale, k->pages, 0), from = page, to;
	int err;

	map_empty(f);
	s->tail = OOB_SEQ_MAX;
	for (; page < k->pages && map_take(f, page); page = word_next(k->stale, k->pages, page + 1)) {
		word_clear(k->stale, page);
		load_with_tail(s, page);
	}
	to = page;
	err = mount_versions(s);
	if (!err)
		err = mount_trims(s);
	for (page = from; page < to; page++)
		if (map_holds(f, first_lpn(f, page)))
			map_changed(f, first_lpn(f, page), 0);
	return err;
}

int map_mount_settle(struct page_mount *s)
{
	struct page_ftl *f = s->f;
	struct page_cache *k = &f->cache;
	int err = SSD_OK;

	f->gc.hold = true;	/* what is not in memory may be stale, so GC cannot work */
	while (!err && word_next(k->stale, k->pages, 0) < k->pages) {
		err = step_until(s, all_written);
		if (!err)
			err = find_stale(s);
	}
	f->gc.hold = false;
	if (!err)
		err = step_until(s, none_due);
	k->mounting = false;
	return err;
}
