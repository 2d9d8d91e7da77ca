// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * map.c - the cached map (MAP.md): which map pages are in memory, and when they are read and written.
 *
 * A map page is a NAND page with the entries of `per` consecutive LPNs. Its units are hidden LPNs
 * from map_lpn on, and page_cache.hidden, the directory, locates them. A frame holds a map page in
 * memory; a READY frame that nobody pins is on the list `clean` or `dirty`, by its last use.
 *
 *   empty -> LOADING     fetch(): a uread of the map page is queued on its die (read_map)
 *   empty -> READY       fetch(): the map page was never written
 *   LOADING -> READY     map_loaded(): the read has ended; ureads that waited go on
 *   LOADING -> LOST      map_arrived(): it could not be read; writes are refused from then on
 *   LOST -> empty        map_loaded(), if no buffer page or collector pins the frame; a pinned frame stays LOST
 *   READY -> WRITING     map_write()
 *   WRITING -> READY     map_written(): the directory now has the new page
 *   READY -> empty       frame_get(): the oldest clean frame takes another map page
 *
 * Who needs a map page in memory: a page of the host before it is issued (host_pins), a collector
 * before it programs copies (gc_pins), and a uread, which takes the address along and lets the frame go.
 *
 * Invariants (map_check() in check.c):
 *   M1  frame_of and frame[].page agree;
 *   M2  a frame is on a list exactly if it is READY and not pinned, and then on `write` if it waits
 *       to be written, else on `dirty` or `clean`;
 *   M3  a map page is written only when `stable` has reached last_seq and no copy that it names is under way, so that
 *       what flash says of a unit is true after any power cut, or was replaced in a frame that was in memory;
 *   M4  at most host_max frames are pinned by the host, and at most loads_max are being loaded for
 *       reads; each collector pins at most a page's units. So a frame for each of them is left;
 *   M5  a map page of kind OOB_MAP and mark m is a snapshot: all changes by host pages up to m, and by copies issued
 *       before m, are in it. M3 makes it one when it is programmed. A map page that is neither dirty nor pinned nor
 *       being written is on flash as it is in memory, but for trims that are due, so its copy by GC is a new
 *       snapshot. The copy of any other keeps the mark, or is no snapshot.
 */
#include "map.h"
#include "map_own.h"
#include "page_state.h"

/* ---- lists ------------------------------------------------------------------ */

void frame_unlist(struct page_cache *k, uint32_t i)
{
	struct map_frame *fr = &k->frame[i];
	struct map_list *l = &k->list[fr->list];

	if (fr->list == ON_NONE)
		return;
	*(fr->prev == MAP_NONE ? &l->newest : &k->frame[fr->prev].next) = fr->next;
	*(fr->next == MAP_NONE ? &l->oldest : &k->frame[fr->next].prev) = fr->prev;
	fr->list = ON_NONE;
}

static void enlist(struct page_cache *k, uint32_t i, enum frame_list where)
{
	struct map_frame *fr = &k->frame[i];
	struct map_list *l = &k->list[where];

	fr->list = (uint8_t)where;
	fr->prev = MAP_NONE;
	fr->next = l->newest;
	*(fr->next == MAP_NONE ? &l->oldest : &k->frame[fr->next].prev) = i;
	l->newest = i;
}

/* Put the frame on the list where it belongs (M2), as the one used last. */
void frame_settle(struct page_cache *k, uint32_t i)
{
	const struct map_frame *fr = &k->frame[i];

	k->writes -= fr->list == ON_WRITE;
	frame_unlist(k, i);
	if (fr->state == FRAME_READY && !fr->host_pins && !fr->gc_pins)
		enlist(k, i, fr->dirty ? ON_DIRTY : ON_CLEAN);
}

static void use(struct page_cache *k, uint32_t i)
{
	struct map_frame *fr = &k->frame[i];

	fr->used = ++k->looks;
	if (fr->list == ON_CLEAN || fr->list == ON_DIRTY)
		frame_settle(k, i);
}

/* ---- entries ------------------------------------------------------------------ */

static bool in_memory(const struct map_frame *fr)
{
	return fr->state == FRAME_READY || fr->state == FRAME_WRITING;
}

static uint32_t page_of(const struct page_ftl *f, uint32_t lpn)
{
	return fxp_quotient(f->cache.by_per, lpn);
}

uint32_t *map_cached(const struct page_ftl *f, uint32_t lpn)
{
	const struct page_cache *k = &f->cache;
	uint32_t page, i;

	if (lpn >= f->shape.lpns)
		return &k->hidden[lpn - f->shape.lpns];
	page = page_of(f, lpn);
	i = k->frame_of[page];
	SSD_ASSERT(i != MAP_NONE && in_memory(&k->frame[i]));
	return &k->entry[(size_t)i * k->per + (lpn - page * k->per)];
}

bool map_holds_cached(const struct page_ftl *f, uint32_t lpn)
{
	uint32_t i;

	if (lpn >= f->shape.lpns)
		return true;
	i = f->cache.frame_of[page_of(f, lpn)];
	return i != MAP_NONE && in_memory(&f->cache.frame[i]);
}

/*
 * The LPN's entry has changed in its frame, which is now dirty. seq: the log sequence of the change, or 0 for a copy,
 * which pins the frame until it has ended.
 */
void map_changed(struct page_ftl *f, uint32_t lpn, uint64_t seq)
{
	struct page_cache *k = &f->cache;
	struct map_frame *fr;
	uint32_t i;

	if (lpn >= f->shape.lpns)
		return;
	i = k->frame_of[page_of(f, lpn)];
	fr = &k->frame[i];
	if (seq > fr->last_seq)
		fr->last_seq = seq;
	fr->again = true;
	if (!fr->dirty) {
		fr->dirty = true;
		frame_settle(k, i);
	}
}

void unit_unmap_cached(struct page_ftl *f, uint32_t lpn, uint64_t seq)
{
	uint32_t *at = map_cached(f, lpn), upn = *at;

	if (SSD_UNLIKELY(f->cache.due_count) && seq && lpn < f->shape.lpns)
		bit_clear(f->cache.owed, lpn);
	if (upn == NONE)
		return;
	*at = NONE;
	unit_invalid(f, upn & ~OOB_LOST, seq);
	map_changed(f, lpn, seq);
}

void unit_map_cached(struct page_ftl *f, uint32_t lpn, uint32_t upn, uint32_t b, uint64_t seq)
{
	unit_unmap_cached(f, lpn & ~OOB_LOST, seq);
	*map_cached(f, lpn & ~OOB_LOST) = upn | (lpn & OOB_LOST);
	f->map.mapped++;
	bit_set(f->map.valid, upn);
	blk_valid_add(&f->bt, b);
	map_changed(f, lpn & ~OOB_LOST, seq);
}

/* ---- frames --------------------------------------------------------------------- */

uint32_t map_lpn_of(const struct page_ftl *f, uint32_t page)
{
	return f->shape.map_lpn + page * f->shape.upp;
}

uint32_t map_plane_of(const struct page_ftl *f, uint32_t page)
{
	return page % f->shape.planes;
}

/* M3: may the frame be written now? */
bool frame_may_write(const struct page_ftl *f, const struct map_frame *fr)
{
	return fr->state == FRAME_READY && !fr->host_pins && !fr->gc_pins && fr->last_seq <= f->bt.stable;
}

static void write_later(struct page_ftl *f, uint32_t i)
{
	struct page_cache *k = &f->cache;

	frame_unlist(k, i);
	enlist(k, i, ON_WRITE);
	k->writes++;
	f->turn.kick = true;
}

/*
 * Has the plane too few free blocks for a new map page? It leaves the last one to the copies of a block of map pages.
 */
bool map_needs_room_cached(const struct page_ftl *f, uint32_t plane)
{
	return f->fr.plane[plane].open[front_map_slot(&f->fr)] == BLK_NONE && f->bt.plane[plane].free_count < 2;
}

/* Order the write of the frame. Returns false if it cannot be written now, or its plane has no room. */
static bool order_write(struct page_ftl *f, uint32_t i)
{
	uint32_t plane = map_plane_of(f, f->cache.frame[i].page);
	bool room = !map_needs_room_cached(f, plane), may = room && frame_may_write(f, &f->cache.frame[i]);

	if (may) {
		write_later(f, i);
	} else if (!room) {
		f->cache.above->lacks_room(f, plane);
		f->turn.kick = true;
	}
	return may;
}

static bool enough_ordered(const struct page_ftl *f)
{
	return f->cache.writes > (f->cache.frames / 4 < f->shape.planes ? f->cache.frames / 4 : f->shape.planes);
}

bool map_write_soon(struct page_ftl *f, uint32_t i)
{
	if (enough_ordered(f))
		return false;
	if (f->cache.frame[i].list == ON_DIRTY)
		(void)order_write(f, i);
	return true;
}

/* Order the write of the frame that was used the longest ago, if it is older than `than`. */
static void write_oldest(struct page_ftl *f, uint64_t than)
{
	struct page_cache *k = &f->cache;
	uint32_t i = k->list[ON_DIRTY].oldest;

	if (enough_ordered(f))
		return;
	for (; i != MAP_NONE && k->frame[i].used < than; i = k->frame[i].prev)
		if (order_write(f, i))
			return;
}

/* Returns an empty frame, which is on no list; or MAP_NONE, if all are in use or must be written first. */
static uint32_t frame_get(struct page_ftl *f)
{
	struct page_cache *k = &f->cache;
	uint32_t i = k->list[ON_CLEAN].oldest;

	write_oldest(f, i == MAP_NONE ? ~(uint64_t)0 : k->frame[i].used);
	if (i == MAP_NONE)
		return i;
	frame_unlist(k, i);
	if (k->frame[i].page != MAP_NONE)
		k->frame_of[k->frame[i].page] = MAP_NONE;
	return i;
}

static void frame_fill(struct page_ftl *f, uint32_t i, uint32_t page)
{
	struct page_cache *k = &f->cache;

	k->frame[i] = (struct map_frame){ .page = page, .first = NONE, .last = NONE, .used = ++k->looks };
	k->frame_of[page] = i;
	memset(&k->entry[(size_t)i * k->per], 0xff, (size_t)k->per * sizeof(*k->entry));	/* NONE */
}

/* Give the map page a frame and have it read. Returns MAP_NONE if there is no frame. */
static uint32_t fetch(struct page_ftl *f, uint64_t now_ns, uint32_t page)
{
	struct page_cache *k = &f->cache;
	uint32_t i = frame_get(f);

	if (i == MAP_NONE)
		return i;
	frame_fill(f, i, page);
	if (*map_cached(f, map_lpn_of(f, page)) == NONE) {
		frame_settle(k, i);
		return i;
	}
	k->frame[i].state = FRAME_LOADING;
	k->above->read(f, now_ns, map_lpn_of(f, page));
	return i;
}

/* Give the map page a frame as fetch() does, for a read, which may use only its share of the frames (M4). */
static uint32_t fetch_for_read(struct page_ftl *f, uint64_t now_ns, uint32_t page)
{
	struct page_cache *k = &f->cache;
	uint32_t i = k->loads < k->loads_max ? fetch(f, now_ns, page) : MAP_NONE;

	if (i != MAP_NONE && k->frame[i].state == FRAME_LOADING) {
		k->frame[i].for_read = true;
		k->loads++;
	}
	return i;
}

bool map_take(struct page_ftl *f, uint32_t page)
{
	struct page_cache *k = &f->cache;
	uint32_t i = k->list[ON_CLEAN].oldest;

	if (i == MAP_NONE || k->frame[i].page != MAP_NONE)
		return false;
	frame_unlist(k, i);
	frame_fill(f, i, page);
	frame_settle(k, i);
	return true;
}

void map_empty(struct page_ftl *f)
{
	struct page_cache *k = &f->cache;

	for (uint32_t i = 0; i < k->frames; i++) {
		if (k->frame[i].page != MAP_NONE)
			k->frame_of[k->frame[i].page] = MAP_NONE;
		k->frame[i].page = MAP_NONE;
		k->frame[i].dirty = false;
		frame_settle(k, i);
	}
}

/* ---- ureads ---------------------------------------------------------------------- */

static void wait_in(struct page_ftl *f, uint32_t r, uint32_t *first, uint32_t *last)
{
	f->read.unit[r].next = NONE;
	if (*first == NONE)
		*first = r;
	else
		f->read.unit[*last].next = r;
	*last = r;
}

bool map_stands(const struct page_ftl *f, const struct uread *u)
{
	const struct uread_map *at = uread_map_of(f, u);
	uint32_t upn = at->upn & ~OOB_LOST;

	return bit_get(f->map.valid, upn) &&
	       f->host.n->ops->erase_count(f->host.n, (pbn_t){ upn_block(f, upn) }) == at->erases;
}

/* Look the address up in the map page, which is in memory. Returns false if the unit has none. */
static bool take_address(struct page_ftl *f, const struct uread *u)
{
	struct uread_map *at = uread_map_of(f, u);
	uint32_t upn = *map_cached(f, u->lpn);

	at->upn = upn;
	if (upn == NONE)
		return false;
	at->erases = f->host.n->ops->erase_count(f->host.n, (pbn_t){ upn_block(f, upn & ~OOB_LOST) });
	return true;
}

enum map_answer map_locate_cached(struct page_ftl *f, uint64_t now_ns, uint32_t r)
{
	struct page_cache *k = &f->cache;
	struct uread *u = &f->read.unit[r];
	uint32_t page = page_of(f, u->lpn), i = k->frame_of[page];
	bool hit = i != MAP_NONE && in_memory(&k->frame[i]);

	SSD_ASSERT(map_is_cached(f));	/* with the whole map an entry is never away */
	*(hit ? &f->host.stats.map_hits : &f->host.stats.map_misses) += 1;
	if (u->lpn - page * k->per == k->per / 2) {
		k->ahead = page + 1;
		f->turn.kick = true;
	}
	if (i == MAP_NONE && k->first == NONE)
		i = fetch_for_read(f, now_ns, page);
	if (i != MAP_NONE && in_memory(&k->frame[i])) {
		use(k, i);
		return take_address(f, u) ? MAP_FOUND : MAP_UNWRITTEN;
	}
	if (i != MAP_NONE && k->frame[i].state == FRAME_LOST)
		return MAP_UNREADABLE;
	u->map_ns = now_ns - u->map_ns;	/* now less earlier waits; go_on() subtracts it from its now */
	if (i == MAP_NONE)
		wait_in(f, r, &k->first, &k->last);
	else
		wait_in(f, r, &k->frame[i].first, &k->frame[i].last);
	return MAP_WAITS;
}

/* Answer the uread, whose map page is in memory or lost. */
static void go_on(struct page_ftl *f, uint64_t now_ns, uint32_t r, const struct map_frame *fr)
{
	struct uread *u = &f->read.unit[r];

	u->map_ns = now_ns - u->map_ns;
	if (fr->state == FRAME_LOST)
		f->cache.above->answer(f, now_ns, r, MAP_UNREADABLE);
	else
		f->cache.above->answer(f, now_ns, r, take_address(f, u) ? MAP_FOUND : MAP_UNWRITTEN);
}

/* Give frames to the ureads that wait for one, first come, first served. */
static void serve_waiting(struct page_ftl *f, uint64_t now_ns)
{
	struct page_cache *k = &f->cache;

	while (k->first != NONE) {
		uint32_t r = k->first, page = page_of(f, f->read.unit[r].lpn), i = k->frame_of[page];

		if (i == MAP_NONE)
			i = fetch_for_read(f, now_ns, page);
		if (i == MAP_NONE)
			return;
		k->first = f->read.unit[r].next;
		if (k->frame[i].state == FRAME_LOADING) {
			wait_in(f, r, &k->frame[i].first, &k->frame[i].last);
		} else {
			use(k, i);
			go_on(f, now_ns, r, &k->frame[i]);
		}
	}
}

/*
 * A read was in the middle of a map page: if reads go on in order, they need the next map page. Load it, unless its
 * frame would be that of the present one.
 */
static void load_ahead(struct page_ftl *f, uint64_t now_ns)
{
	struct page_cache *k = &f->cache;
	uint32_t page = k->ahead, oldest = k->list[ON_CLEAN].oldest;

	k->ahead = 0;
	if (page && page < k->pages && k->frame_of[page] == MAP_NONE && k->first == NONE && oldest != MAP_NONE &&
	    oldest != k->frame_of[page - 1])
		(void)fetch_for_read(f, now_ns, page);
}

/* ---- trims ----------------------------------------------------------------------- */

void map_set_due(struct page_ftl *f, uint32_t page)
{
	struct page_cache *k = &f->cache;

	k->due_count += !(k->due[page >> 6] >> (page & 63) & 1);
	word_set(k->due, page);
}

static void clear_due(struct page_ftl *f, uint32_t page)
{
	struct page_cache *k = &f->cache;

	k->due_count -= k->due[page >> 6] >> (page & 63) & 1;
	word_clear(k->due, page);
}

/*
 * Apply the trims to the map page, which is in memory. They count as one change of the page that
 * was issued last, because all trims have been issued. A unit that was written again since then is no longer
 * trimmed. But while that write is still in the buffer, the entry names the version that was trimmed, and a checkpoint
 * must not have it (Q5 in ckpt.c), so it is removed, too.
 */
static void apply_due(struct page_ftl *f, uint32_t page)
{
	struct page_cache *k = &f->cache;
	uint32_t lpn = page * k->per, end = lpn + k->per < f->shape.lpns ? lpn + k->per : f->shape.lpns;
	const uint8_t *bits = k->mounting ? f->map.trimmed : k->owed;

	clear_due(f, page);
	for (lpn = bit_next(bits, lpn, end); lpn < end; lpn = bit_next(bits, lpn + 1, end)) {
		if (!k->mounting) {
			bit_clear(k->owed, lpn);
			unit_unmap(f, lpn, f->bt.issued);
			continue;
		}
		if (*map_cached(f, lpn) == NONE)
			continue;
		*map_cached(f, lpn) = NONE;	/* a mount: the unit is not valid, and its address may belong to
						 * another LPN by now */
		map_changed(f, lpn, 0);
	}
}

static bool trims_are_issued(const struct page_ftl *f)
{
	return f->bt.issued >= f->cache.trim_seq;
}

void map_trim(struct page_ftl *f, uint32_t from, uint32_t to, const uint8_t *bits, uint32_t base, uint64_t seq)
{
	uint32_t per = map_is_cached(f) ? f->cache.per : f->shape.lpns;

	while (from < to) {
		uint32_t page = map_is_cached(f) ? page_of(f, from) : 0;
		uint32_t end = (page + 1) * per < to ? (page + 1) * per : to;
		bool here = map_holds(f, from);

		if (!here)
			map_set_due(f, page);
		for (uint32_t lpn = from; lpn < end; lpn++) {
			if (!bit_get(bits, lpn - base))
				continue;
			if (here)
				unit_unmap(f, lpn, seq);
			else
				bit_set(f->cache.owed, lpn);
		}
		from = end;
	}
}

/*
 * Apply trims to one map page that was not in memory when they were issued. Once a map page was
 * lost, nothing is applied: the page may be the lost one, which would be read again and again.
 */
static void pursue_trims(struct page_ftl *f, uint64_t now_ns)
{
	struct page_cache *k = &f->cache;
	uint32_t page;

	if (!k->due_count || !trims_are_issued(f) || k->first != NONE || f->gc.hold || k->lost)
		return;
	page = word_next(k->due, k->pages, 0);
	if (map_holds_cached(f, page * k->per))
		apply_due(f, page);
	else if (k->loads < k->loads_max && k->frame_of[page] == MAP_NONE)
		fetch_for_read(f, now_ns, page);
}

/* ---- reads of map pages ------------------------------------------------------------ */

/* Store the content of a map page, whose read was issued, in its frame. */
void map_arrived(struct page_ftl *f, uint32_t lpn, const uint8_t *page, bool lost)
{
	struct page_cache *k = &f->cache;
	uint32_t number = (lpn - f->shape.map_lpn) / f->shape.upp, i = k->frame_of[number];

	SSD_ASSERT(i != MAP_NONE && k->frame[i].state == FRAME_LOADING);
	f->host.stats.map_reads++;
	if (k->store)
		page = k->store + (size_t)number * f->g->page_bytes;
	if (!lost && page) {
		memcpy(&k->entry[(size_t)i * k->per], page, f->g->page_bytes);
		return;
	}
	k->frame[i].state = FRAME_LOST;
	k->lost = true;
}

void map_loaded(struct page_ftl *f, uint64_t now_ns, uint32_t lpn)
{
	struct page_cache *k = &f->cache;
	uint32_t number = (lpn - f->shape.map_lpn) / f->shape.upp, i = k->frame_of[number];
	struct map_frame *fr = &k->frame[i];
	uint32_t r = fr->first, next;

	k->loads -= fr->for_read;
	fr->for_read = false;
	f->turn.kick = true;
	if (fr->state == FRAME_LOADING) {
		fr->state = FRAME_READY;
		if (k->due[number >> 6] >> (number & 63) & 1 && trims_are_issued(f))
			apply_due(f, number);
		frame_settle(k, i);
	}
	for (fr->first = NONE; r != NONE; r = next) {
		next = f->read.unit[r].next;
		go_on(f, now_ns, r, fr);
	}
	if (fr->state == FRAME_LOST && !fr->host_pins && !fr->gc_pins) {	/* the next look-up reads again */
		k->frame_of[number] = MAP_NONE;
		*fr = (struct map_frame){ .page = MAP_NONE, .first = NONE, .last = NONE };
		frame_settle(k, i);
	}
}

/* ---- pins of the host ---------------------------------------------------------------- */

static bool pin_unit(struct page_ftl *f, uint64_t now_ns, uint32_t lpn)
{
	struct page_cache *k = &f->cache;
	uint32_t page, i;
	bool hit;

	if (lpn >= f->shape.lpns)
		return true;
	page = page_of(f, lpn);
	i = k->frame_of[page];
	if ((i == MAP_NONE || !k->frame[i].host_pins) && k->host_frames >= k->host_max)
		return false;
	hit = i != MAP_NONE && in_memory(&k->frame[i]);
	if (i == MAP_NONE)
		i = fetch(f, now_ns, page);
	if (i == MAP_NONE)
		return false;
	*(hit ? &f->host.stats.map_hits : &f->host.stats.map_misses) += 1;
	k->host_frames += !k->frame[i].host_pins++;
	k->frame[i].used = ++k->looks;
	frame_settle(k, i);
	return true;
}

/* Pin the map pages of the units in the buffer, in the order in which they will be issued. */
static void pin_buffer(struct page_ftl *f, uint64_t now_ns)
{
	struct page_cache *k = &f->cache;

	for (; k->pin_seq < f->log.next_seq; k->pin_seq++) {
		uint32_t w = f->buf.by_seq[k->pin_seq & f->buf.by_seq_mask];
		struct wpage *p = &f->buf.page[w];

		if (k->ckpt.hold && !p->pinned && p->used)
			return;
		for (; p->pinned < p->used; p->pinned++)
			if (!pin_unit(f, now_ns, f->buf.slot[w * f->shape.upp + p->pinned].lpn))
				return;
		if (p->state == W_OPEN && p->used < f->shape.upp)
			return;
	}
}

bool map_ready_cached(const struct page_ftl *f, uint32_t w)
{
	const struct wpage *p = &f->buf.page[w];

	if (p->pinned < p->used)
		return false;
	for (uint32_t i = 0; i < p->used; i++)
		if (!map_holds_cached(f, f->buf.slot[w * f->shape.upp + i].lpn))
			return false;
	return true;
}

void map_unpin_cached(struct page_ftl *f, uint32_t w)
{
	struct page_cache *k = &f->cache;

	for (uint32_t i = 0; i < f->buf.page[w].used; i++) {
		uint32_t lpn = f->buf.slot[w * f->shape.upp + i].lpn, fr;

		if (lpn >= f->shape.lpns)
			continue;
		fr = k->frame_of[page_of(f, lpn)];
		SSD_ASSERT(k->frame[fr].host_pins);
		k->host_frames -= !--k->frame[fr].host_pins;
		frame_settle(k, fr);
	}
}

uint64_t map_clock(const struct page_ftl *f, uint64_t now_ns)
{
	return f->cache.stall_ns + (f->cache.stalled ? now_ns - f->cache.since_ns : 0);
}

static void note_stall(struct page_ftl *f, uint64_t now_ns)
{
	struct page_cache *k = &f->cache;
	uint32_t w = f->buf.first;
	bool stalled = w != NONE && !f->buf.page[w].bases && !map_ready_cached(f, w) &&
		       (f->buf.page[w].state == W_QUEUED || f->buf.page[w].used == f->shape.upp);

	k->stall_ns = map_clock(f, now_ns);
	k->since_ns = now_ns;
	k->stalled = stalled;
}

void map_pump_frames(struct page_ftl *f, uint64_t now_ns)
{
	pin_buffer(f, now_ns);
	serve_waiting(f, now_ns);
	load_ahead(f, now_ns);
	pursue_trims(f, now_ns);
	note_stall(f, now_ns);
}

/* ---- collectors ------------------------------------------------------------------------ */

void map_gc_release(struct page_ftl *f, struct gc *g)
{
	struct page_cache *k = &f->cache;

	while (g->pins) {
		uint32_t i = g->pin[--g->pins];

		k->frame[i].gc_pins--;
		frame_settle(k, i);
	}
}

static bool pinned_by(const struct gc *g, uint32_t i)
{
	for (uint32_t p = 0; p < g->pins; p++)
		if (g->pin[p] == i)
			return true;
	return false;
}

bool map_gc_ready(struct page_ftl *f, uint64_t now_ns, struct gc *g)
{
	struct page_cache *k = &f->cache;
	uint32_t count = g->units < f->shape.upp ? g->units : f->shape.upp;
	bool ready = true;

	if (g->pins == f->shape.upp)	/* some may belong to units that were dropped since */
		map_gc_release(f, g);
	for (uint32_t u = 0; u < count && !g->of_map; u++) {
		uint32_t lpn = g->unit[u].lpn & ~OOB_LOST, i;

		if (lpn >= f->shape.lpns)
			continue;
		i = k->frame_of[page_of(f, lpn)];
		if (i == MAP_NONE)
			i = fetch(f, now_ns, page_of(f, lpn));
		if (i == MAP_NONE)
			return false;
		if (!pinned_by(g, i)) {
			if (g->pins == f->shape.upp) {
				map_gc_release(f, g);
				f->turn.kick = true;
				return false;
			}
			g->pin[g->pins++] = i;
			k->frame[i].gc_pins++;
			k->frame[i].used = ++k->looks;
			frame_settle(k, i);
		}
		ready &= in_memory(&k->frame[i]);
	}
	return ready;
}

void map_write_all(struct page_ftl *f)
{
	struct page_cache *k = &f->cache;

	for (uint32_t i = 0; i < k->frames; i++)
		if (k->frame[i].list == ON_DIRTY && frame_may_write(f, &k->frame[i]))
			write_later(f, i);
}
