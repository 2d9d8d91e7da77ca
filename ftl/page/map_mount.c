// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * map_mount.c - the cached map's part of a mount (MAP.md).
 *
 * The spare areas of the data are the truth, as with the whole map in memory; map pages on flash
 * are compared with it. Memory holds the entries of as many map pages as there are frames, so the
 * pages are read once for each such window of LPNs:
 *
 *   map_mount_find()     each window: find its entries (mount.c steps 3 and 4), count them as valid,
 *                        compare them with the map pages. A map page that differs is `stale`; one
 *                        that differs in trimmed units alone is `due`
 *   map_mount_settle()   when the dead list is durable: find the entries of the stale map pages
 *                        once more and leave them in memory, changed. If there are more than
 *                        frames, write them and continue with the next. Then load the due ones
 *
 * After a power cut there are at most as many stale map pages as frames were in use (M3 in map.c);
 * more of them appear if the cache became smaller, or pages were lost, or the drive was used with
 * the whole map in memory. If a due page cannot be read when it is loaded, the mount starts again and
 * takes all due pages for stale ones, which need no read.
 */
#include "mount.h"

static uint32_t first_lpn(const struct page_ftl *f, uint32_t page)
{
	return page * f->cache.per;
}

static uint32_t end_lpn(const struct page_ftl *f, uint32_t page)
{
	uint32_t end = (page + 1) * f->cache.per;

	return end < f->shape.lpns ? end : f->shape.lpns;
}

/* Returns SSD_E_CORRUPT if a block of parity pages also has mapped pages. */
static int count_entries(struct page_ftl *f, uint32_t from, uint32_t to)
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

int map_mount_find(struct page_mount *s)
{
	struct page_ftl *f = s->f;
	int err = SSD_OK;

	f->cache.mounting = true;
	for (uint32_t page = 0; page < f->cache.pages && !err;) {
		uint32_t from = page;

		map_empty(f);
		while (page < f->cache.pages && map_take(f, page))
			page++;
		s->again = from > 0;
		err = mount_map(s);
		if (!err)
			err = count_entries(f, first_lpn(f, from), end_lpn(f, page - 1));
		for (uint32_t p = from; p < page && !err; p++)
			compare(s, p);
	}
	map_empty(f);
	s->again = true;
	return err ? err : count_entries(f, f->shape.lpns, f->shape.all_lpns);
}

/*
 * Call step() until done() holds. While GC is on hold, order the write of all dirty frames, also of those whose
 * program failed. Returns SSD_E_NOSPC if nothing more happens before.
 */
static int step_until(struct page_mount *s, bool (*done)(const struct page_ftl *f))
{
	struct page_ftl *f = s->f;
	uint64_t now = s->survey.ready_ns, next = now;

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
	s->survey.now_ns = s->survey.ready_ns = now;
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
	for (; page < k->pages && map_take(f, page); page = word_next(k->stale, k->pages, page + 1))
		word_clear(k->stale, page);
	to = page;
	err = mount_map(s);
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
