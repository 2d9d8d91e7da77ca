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
#include "gc_wake.h"
#include "map_mount.h"
#include "mount.h"
#include "mount_pages.h"
#include "mount_state.h"
#include "mount_versions.h"
#include "rescue.h"

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
	if (s->note)
		s->note(s, ppn, oob);
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

/* ---- 5: blocks ----------------------------------------------------------- */

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
	uint32_t which = k->map ? front_map_slot(&f->fr) : k->slc ? f->fr.slc : k->copies ? f->fr.copies : FRONT_HOST;
	uint32_t plane = geo_plane_of(f->g, (pbn_t){ b }), open;

	if (f->handles.count)
		which += k->map || (k->copies && !f->handles.apart) ? 0 : k->stream;
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

static int sort_blocks(struct page_mount *s)
{
	struct page_ftl *f = s->f;

	s->purge = many_dead(s);
	for (uint32_t b = 0; b < geo_blocks(f->g); b++) {
		struct blk *k = &f->bt.blk[b];

		/*
		 * rescue_frontiers() counts the parity pages of blocks in blk.live. A mount that only reads does not
		 * call it, so there a block names no parity page.
		 */
		if (s->read_only)
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
	return SSD_OK;
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

static int write_dead_list(struct page_mount *s)
{
	struct page_ftl *f = s->f;
	uint32_t slot;
	int err = s->dead_pages ? list_the_dead(s) : SSD_OK;

	if (err || !s->dead_pages)
		return err;
	slot = wbuf_hidden_slot(f, f->shape.dead_lpn);
	SSD_ASSERT(slot != NONE);
	mount_fill_dead_list(f, slot_data(f, slot));
	return mount_settle(s);
}

/* ---- the steps ------------------------------------------------------------ */

static int find_modes(struct page_mount *s)
{
	struct page_ftl *f = s->f;

	for (uint32_t b = 0; b < geo_blocks(f->g); b++) {
		f->bt.blk[b].slc = f->host.n->ops->is_slc(f->host.n, (pbn_t){ b });
		s->contradiction |= f->bt.blk[b].slc && f->fr.sequence != SEQ_ASCENDING;	/* SLC by word lines */
	}
	return s->contradiction ? SSD_E_CORRUPT : SSD_OK;
}

static int survey(struct page_mount *s)
{
	int err;

	s->surveys = true;
	err = mount_each_page(s, survey_page);
	s->surveys = false;
	return err;
}

static int rebuild(struct page_mount *s)
{
	struct page_ftl *f = s->f;
	int err = f->fr.group ? rescue_rebuild(s) : SSD_OK;

	for (uint32_t i = 0; !err && i < f->lost.count; i++)
		survey_page(s, f->lost.page[i].ppn, rebuilt_page(f, f->lost.page[i].ppn) + f->g->page_bytes);
	return err ? err : s->contradiction ? SSD_E_CORRUPT : SSD_OK;
}

static int find_log_end(struct page_mount *s)
{
	find_end(s);
	return SSD_OK;
}

static int count_valid(struct page_mount *s)
{
	return s->f->host.survey.anything ? map_mount_count(s->f, 0, s->f->shape.all_lpns) : SSD_OK;
}

static int keep_dead(struct page_mount *s)
{
	if (s->f->fr.group)
		rescue_keep_dead(s);
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

static int begin_log(struct page_mount *s)
{
	int err = set_sequences(s);

	s->f->host.now_ns = s->f->host.survey.ready_ns;
	s->f->gc.hold = s->read_only;
	return err;
}

static int continue_blocks(struct page_mount *s)
{
	if (s->f->fr.group)
		rescue_frontiers(s);
	return SSD_OK;
}

static int write_rebuilt(struct page_mount *s)
{
	return s->f->fr.group ? rescue_rewrite(s) : SSD_OK;
}

struct mount_step {
	const char *name;
	int (*run)(struct page_mount *s);
	enum map_kind maps;
	bool writes;			/* it programs pages, so a read-only mount leaves it out */
};

static const struct mount_step steps[] = {
	{ "modes of blocks", find_modes, MAP_ANY, false },
	{ "checkpoint", map_mount_begin, MAP_CACHED, false },
	{ "survey", survey, MAP_ANY, false },
	{ "lost pages", rebuild, MAP_ANY, false },
	{ "dead list", load_dead_list, MAP_ANY, false },
	{ "end of the log", find_log_end, MAP_ANY, false },
	{ "map pages", map_mount_find, MAP_CACHED, false },
	{ "versions", mount_versions, MAP_WHOLE, false },
	{ "trims", mount_trims, MAP_WHOLE, false },
	{ "dead pages that stay", keep_dead, MAP_ANY, false },
	{ "valid units", count_valid, MAP_WHOLE, false },
	{ "blocks", sort_blocks, MAP_ANY, false },
	{ "new log", begin_log, MAP_ANY, false },
	{ "blocks with parity pages", continue_blocks, MAP_ANY, true },
	{ "new dead pages", write_dead_list, MAP_ANY, true },
	{ "rebuilt pages", write_rebuilt, MAP_ANY, true },
	{ "stale map pages", map_mount_settle, MAP_CACHED, true },
};

/* Execute the steps of this map in order, until one fails. Returns its error, or SSD_OK. */
static int run_steps(struct page_mount *s)
{
	int err = SSD_OK;

	for (uint32_t i = 0; i < sizeof(steps) / sizeof(*steps) && !err; i++)
		if ((steps[i].maps & map_kind(s->f)) && (!steps[i].writes || !s->read_only))
			err = steps[i].run(s);
	return err;
}

/* ---- the attempts --------------------------------------------------------- */

/* Initialize the FTL's memory again, as after power-on, for the next attempt. Statistics stay. */
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

/* Is there no attempt yet? */
static bool at_first(const struct page_mount *s, int err)
{
	return !s->f && !err;
}

/* Is there no attempt yet, or did the first one fail after it trusted a checkpoint, which may contradict the flash? */
static bool without_checkpoint(const struct page_mount *s, int err)
{
	return at_first(s, err) || (err && s->trusts);
}

static bool map_page_lost(const struct page_mount *s, int err)
{
	return err == SSD_E_NOSPC && map_is_lost(s->f);
}

static bool no_room(const struct page_mount *s, int err)
{
	(void)s;
	return err == SSD_E_NOSPC;
}

/*
 * The attempts of a mount. They are made in this order, each if it suits the error of the one before, until one
 * succeeds. One undo serves all steps of an attempt (begin_anew): the memory is as after power-on, and pages that the
 * attempt programmed remain beside the others, where the next attempt finds them. A cached map needs pages that can be
 * programmed, so it has no read-only attempt.
 */
static const struct mount_attempt {
	const char *name;
	enum map_kind maps;
	bool (*is_due)(const struct page_mount *s, int err);	/* s, err: the attempt before, and its error */
	struct page_mount as;
} attempts[] = {
	{ "by a checkpoint, if there is one", MAP_CACHED, at_first, { .dead_upn = NONE, .trusts = true } },
	{ "by all spare areas", MAP_ANY, without_checkpoint, { .dead_upn = NONE } },
	{ "without reading lost map pages", MAP_CACHED, map_page_lost, { .dead_upn = NONE, .map_lost = true } },
	{ "read-only", MAP_WHOLE, no_room, { .dead_upn = NONE, .read_only = true } },
};

static int try_all(struct page_mount *s, struct page_ftl *f)
{
	int err = SSD_OK;

	for (uint32_t i = 0; i < sizeof(attempts) / sizeof(*attempts); i++) {
		if (!(attempts[i].maps & map_kind(f)) || !attempts[i].is_due(s, err))
			continue;
		if (s->f)
			begin_anew(f);
		*s = attempts[i].as;
		s->f = f;
		err = run_steps(s);
	}
	return err;
}

int page_ftl_find(struct ftl *base)
{
	struct page_ftl *f = page_ftl_of(base);
	struct page_mount s = { 0 };
	int err = try_all(&s, f);

	if (err)
		return err;
	f->host.now_ns = f->host.survey.ready_ns;
	handles_mounted(f);
	map_mounted(f, s.trusts);
	for (uint32_t p = 0; p < f->shape.planes; p++)
		gc_wake(f, p);
	f->turn.changed = true;
	return SSD_OK;
}
