// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * read.c - reads: for the host, and for the rest of a partially written unit.
 *
 * A read is split into units. Units that are complete in the buffer, were never written or were
 * trimmed are answered at once; each other unit becomes a `uread` in the queue of the die that
 * holds it. When the die executes the uread, the map is read again, because GC or a write may have
 * moved the unit. If the unit is on another die by then, the uread is moved to that die.
 *
 * One command (SPREAD's mode selector; J. Park, dissertation, Seoul National University 2019,
 * section 4.3) reads all units of an I/O that are in one page, at any place in it, unless the uread
 * of another I/O is between them in the die's queue. A die is therefore started only when all units
 * of the I/O are queued. The same holds for base reads. With host_subpage_reads the command names
 * the ECC words that are needed: of a unit the part that the host requested, of a base the sectors
 * that its slot lacks when the command is issued. The search for units that join a command takes
 * O(units of the I/O on the die).
 *
 * Suspension (`suspend`). If a read of the host finds its die at a program or an erase, it suspends
 * that command if the array and the knob allow it: not before the cell phase, not while another
 * read suspends it, not more than suspends_max times, and not for a page of the word line or block
 * that is being changed. If it is too early, the die is checked again when the cell phase begins.
 * Afterwards the die continues the command, which ends later. The read is reported when it is
 * issued, as all reads are. Base reads suspend no command, nor does a read of the host behind a
 * base read in the queue.
 *
 * Independent plane reads (timing.plane_reads) take the same step while the die's command is a read of
 * the host: the first read in the queue whose plane is idle begins beside it, and the die is checked
 * again when a plane's read ends. No read begins so if the die, were it idle, would take a program or
 * GC first; so reads starve neither. A read that comes from a look-up begins at the die's next check.
 *
 * The pool of ureads is finite. If it is empty, a large read continues, in order, when ureads are
 * freed. Base reads have their own part of the pool, one uread per slot, so that writes never wait
 * for reads of the host.
 */
#include "atomic.h"
#include "dies.h"
#include "level.h"
#include "lost.h"
#include "map.h"
#include "page_owners.h"
#include "place.h"
#include "read.h"
#include "ureads.h"
#include "wbuf.h"

void read_init(struct page_ftl *f)
{
	f->read.kept = f->buf.pages * f->shape.upp + map_ureads(f);
	f->read.free_count = f->host.c.max_unit_reads + f->read.kept;
	f->read.bare = !f->host.c.payload && !map_needs_spare(f);
	f->read.oob = map_needs_spare(f) || f->metadata.bytes ? f->oob : NULL;
	f->read.free = NONE;
	for (uint32_t i = f->read.free_count; i-- > 0;) {
		f->read.unit[i].next = f->read.free;
		f->read.free = i;
	}
}

static uint32_t uread_get(struct page_ftl *f)
{
	uint32_t r = f->read.free;

	SSD_ASSERT(r != NONE);
	f->read.free = f->read.unit[r].next;
	f->read.free_count--;
	return r;
}

void uread_put(struct page_ftl *f, uint32_t r)
{
	f->read.unit[r].next = f->read.free;
	f->read.free = r;
	f->read.free_count++;
}

/* Append the uread to the die's queue. fresh: it has not waited before. */
static SSD_ALWAYS void uread_queue(struct page_ftl *f, uint64_t now_ns, uint32_t r, uint32_t die, bool fresh)
{
	struct die *d = &f->die[die];

	f->read.unit[r].gc_mark = gc_clock(d, now_ns);
	if (SSD_UNLIKELY(f->extras) && owners_told(f))
		owners_queued(f, r, die, fresh);
	f->read.unit[ssd_pick(d->first == NONE, r, d->last)].next = r;
	f->read.unit[r].next = NONE;
	d->first = (uint32_t)ssd_pick(d->first == NONE, r, d->first);
	d->last = r;
}

/* ---- delivering --------------------------------------------------------- */

/* Give the host a unit and its metadata; NULL: it was not written. */
static void give(struct page_ftl *f, const struct uread *r, const uint8_t *unit, const uint8_t *metadata)
{
	if (!f->host.c.payload)
		return;
	host_copy(&f->host, r->io, r->at, unit ? (void *)(uintptr_t)(unit + r->from) : NULL, r->bytes);
	if (SSD_UNLIKELY(r->io->metadata))
		metadata_give(f, r, metadata);
}

/* Returns the content read from flash, overlaid with the sectors in a buffer slot. */
static const uint8_t *overlay(struct page_ftl *f, uint32_t slot, const uint8_t *flash)
{
	const struct wslot *s = &f->buf.slot[slot];
	uint8_t *unit = f->scratch;

	memcpy(unit, flash, f->host.c.unit_bytes);

	for (uint32_t i = 0; i * FTL_SECTOR_BYTES < f->host.c.unit_bytes; i++)
		if (s->have >> i & 1)
			memcpy(unit + i * FTL_SECTOR_BYTES,
			       slot_data(f, slot) + i * FTL_SECTOR_BYTES, FTL_SECTOR_BYTES);
	return unit;
}

static inline void read_over(struct page_ftl *f, struct ftl_io *io)
{
	if (SSD_UNLIKELY(f->buf.atomic))
		atomic_read_over(f, io);
	host_finish(&f->host, io, io->done_ns, io->status);
}

/* End a part at now_ns without a flash read. */
static void part_at_once(struct page_ftl *f, uint64_t now_ns, struct ftl_io *io, bool buffered,
			 uint64_t gc_ns, uint64_t map_ns, enum ssd_err status)
{
	uint64_t waited = now_ns - io->submit_ns - map_ns;
	struct ftl_breakdown w = {
		.gc_queue_ns = gc_ns < waited ? gc_ns : waited,
		.buffer_ns = buffered ? f->host.c.buffer_ns : 0,
		.map_ns = f->host.c.map_ns + map_ns,
		.other_ns = f->host.c.overhead_ns,
	};

	w.host_queue_ns = waited - w.gc_queue_ns;
	if (host_part_decides(io, now_ns + w.buffer_ns + host_front_ns(&f->host)))
		ftl_breakdown_set(&io->where, &w);
	if (host_part_over(io, status))
		read_over(f, io);
}

/* Is the unit on flash, and no part of it in the buffer? This is the most common case. */
static inline bool only_on_flash(const struct page_ftl *f, uint32_t lpn)
{
	return wbuf_find(f, lpn) == NONE && unit_may_exist(f, lpn) && !is_trimmed(f, lpn);
}

/*
 * Answer the read of a unit that the write buffer has, or that was never written or was trimmed.
 * Returns false if the unit must be read from flash.
 */
static bool serve_without_flash(struct page_ftl *f, uint64_t now_ns, const struct uread *r)
{
	uint32_t slot = wbuf_find(f, r->lpn);

	if (slot != NONE) {
		const struct wslot *s = &f->buf.slot[slot];

		if (s->have != f->shape.sectors_mask)
			return false;
		bool good = true;

		f->host.stats.buffer_hit_units++;
		if (SSD_UNLIKELY(s->lost))
			good = lost_give(f, r, slot, NULL, metadata_of_slot(f, slot), 0);
		else
			give(f, r, slot_data(f, slot), metadata_of_slot(f, slot));
		part_at_once(f, now_ns, r->io, true, r->gc_ns, r->map_ns, good ? SSD_OK : SSD_E_UNCORR);
		return true;
	}
	if (!is_trimmed(f, r->lpn) && unit_may_exist(f, r->lpn))
		return false;
	f->host.stats.unwritten_units++;
	give(f, r, NULL, NULL);
	part_at_once(f, now_ns, r->io, false, r->gc_ns, r->map_ns, SSD_OK);
	return true;
}

/* ---- host reads --------------------------------------------------------- */

static uint32_t spare_for_host(const struct page_ftl *f)
{
	return f->read.free_count > f->read.kept ? f->read.free_count - f->read.kept : 0;
}

static void suspend(struct page_ftl *f, uint64_t now_ns, uint32_t die);

static void go(struct page_ftl *f, uint64_t now_ns, uint32_t die)
{
	if (SSD_UNLIKELY(f->read.suspends) && f->die[die].op != DIE_IDLE)
		suspend(f, now_ns, die);
	while (die != NONE && f->die[die].op == DIE_IDLE && f->die[die].first != NONE &&
	       !gc_holds_die(f, die))
		if (!read_issue(f, now_ns, die))
			return;
}

/*
 * The dies on which a uread was queued are on a list, in that order. The last die links to itself.
 */
struct starters {
	uint32_t first, last;
};

static inline void start_later(struct page_ftl *f, struct starters *s, uint32_t die)
{
	if (((f->die[die].op != DIE_IDLE) & !f->read.suspends) | (f->die[die].start_next != NONE))
		return;
	if (s->first == NONE)
		s->first = die;
	else
		f->die[s->last].start_next = die;
	f->die[die].start_next = s->last = die;
}

static inline void start_all(struct page_ftl *f, uint64_t now_ns, const struct starters *s)
{
	uint32_t die = s->first, next;

	for (bool more = die != NONE; more; die = next) {
		next = f->die[die].start_next;
		more = next != die;
		f->die[die].start_next = NONE;
		go(f, now_ns, die);
	}
}

/* Queue a unit for its die. Returns false if the pool is empty. */
static inline bool queue_unit(struct page_ftl *f, uint64_t now_ns, struct ftl_io *io, uint32_t lpn,
			      uint32_t from, uint32_t bytes, struct starters *idle)
{
	enum map_answer answer;
	uint32_t die, r;
	struct uread *u;

	if (!spare_for_host(f))
		return false;
	io->pending++;
	r = uread_get(f);
	u = &f->read.unit[r];
	u->io = io;
	u->slot = NONE;
	u->lpn = lpn;
	u->from = from;
	u->bytes = bytes;
	u->at = io->at;
	u->gc_ns = u->map_ns = 0;
	answer = map_locate(f, now_ns, r);
	if (SSD_UNLIKELY(answer != MAP_FOUND)) {
		if (owners_told(f))
			f->owners.wait[r].ns = 0;
		read_answer(f, now_ns, r, answer);
		return true;
	}
	die = upn_die(f, map_upn_of(f, u) & ~OOB_LOST);
	uread_queue(f, now_ns, r, die, true);
	start_later(f, idle, die);
	return true;
}

/* Queue any unit. Some units can be answered without a flash read. */
static bool serve_unit(struct page_ftl *f, uint64_t now_ns, struct ftl_io *io, uint32_t lpn,
		       uint32_t from, uint32_t bytes, struct starters *idle)
{
	const struct uread want = { .io = io, .slot = NONE, .lpn = lpn, .from = from,
				    .bytes = bytes, .at = io->at, .next = NONE };

	io->pending++;
	if (serve_without_flash(f, now_ns, &want))
		return true;
	io->pending--;
	return queue_unit(f, now_ns, io, lpn, from, bytes, idle);
}

/* Queue units from io->at on. Returns false if the pool is empty, or if the read waits for an atomic write. */
static SSD_HOT bool read_units(struct page_ftl *f, uint64_t now_ns, struct ftl_io *io)
{
	struct starters idle = { NONE, NONE };
	uint64_t byte = io->offset + io->at;
	uint32_t lpn = byte_lpn(f, byte);
	uint32_t from = (uint32_t)(byte - (uint64_t)lpn * f->host.c.unit_bytes);

	if (SSD_UNLIKELY(f->buf.atomic) && !io->at && !atomic_read_begins(f, io))
		return false;
	for (; io->at < io->bytes; lpn++, from = 0) {
		uint64_t rest = io->bytes - io->at;
		uint32_t bytes = f->host.c.unit_bytes - from;

		bytes = bytes < rest ? bytes : (uint32_t)rest;
		if (!(only_on_flash(f, lpn) ? queue_unit(f, now_ns, io, lpn, from, bytes, &idle) :
					      serve_unit(f, now_ns, io, lpn, from, bytes, &idle)))
			break;
		io->at += bytes;
	}
	if (SSD_UNLIKELY(f->buf.atomic) && !io->at)
		atomic_read_over(f, io);
	start_all(f, now_ns, &idle);
	return io->at == io->bytes;
}

void read_begin(struct page_ftl *f, uint64_t now_ns, struct ftl_io *io)
{
	uint64_t unwritten = f->host.stats.unwritten_units, units;

	if (f->read.waiting.first || !read_units(f, now_ns, io)) {
		io_list_add(&f->read.waiting, io);
		return;
	}
	units = io->bytes ? byte_lpn(f, io->offset + io->bytes - 1) - byte_lpn(f, io->offset) + 1 : 0;
	f->host.stats.unwritten_reads += !io->ahead && units && f->host.stats.unwritten_units - unwritten == units;
	part_at_once(f, now_ns, io, false, 0, 0, SSD_OK);
}

bool read_resume(struct page_ftl *f, uint64_t now_ns)
{
	bool resumed = false;

	while (f->read.waiting.first && spare_for_host(f)) {
		struct ftl_io *io = f->read.waiting.first;
		uint64_t at = io->at;
		bool all = read_units(f, now_ns, io);

		resumed |= all || io->at != at;
		if (!all)
			break;
		io_list_take(&f->read.waiting);
		part_at_once(f, now_ns, io, false, 0, 0, SSD_OK);
	}
	return resumed;
}

/* ---- base reads --------------------------------------------------------- */

/* Complete a slot whose base was read. unit: its content (lost sectors: `bad`), and metadata; NULL: there is none. */
static void base_arrived(struct page_ftl *f, uint32_t slot, const uint8_t *unit, const uint8_t *metadata, uint32_t bad)
{
	struct wslot *s = &f->buf.slot[slot];
	uint32_t lacks = f->shape.sectors_mask & ~s->have;

	SSD_ASSERT(slot != NONE);
	if (SSD_UNLIKELY(bad & lacks))
		lost_slot(f, slot, bad & lacks);
	for (uint32_t i = 0; unit && i * FTL_SECTOR_BYTES < f->host.c.unit_bytes; i++)
		if (lacks & ~bad & 1u << i)
			memcpy(slot_data(f, slot) + i * FTL_SECTOR_BYTES, lost_sector(unit, bad, i), FTL_SECTOR_BYTES);
	if (SSD_UNLIKELY(f->metadata.bytes))
		metadata_base(f, slot, lacks, metadata);
	s->have = f->shape.sectors_mask;
}

static void base_done(struct page_ftl *f, uint32_t r)
{
	f->buf.page[f->read.unit[r].slot / f->shape.upp].bases--;
	uread_put(f, r);
}

/* The uread has its unit's address: queue it on the die. */
static void uread_located(struct page_ftl *f, uint64_t now_ns, uint32_t r)
{
	uread_queue(f, now_ns, r, upn_die(f, map_upn_of(f, &f->read.unit[r]) & ~OOB_LOST), false);
	f->turn.kick = true;
}

/* The uread's unit was never written: end it. */
static void uread_unwritten(struct page_ftl *f, uint64_t now_ns, uint32_t r)
{
	struct uread *u = &f->read.unit[r];

	if (u->io) {
		f->host.stats.unwritten_units++;
		give(f, u, NULL, NULL);
		part_at_once(f, now_ns, u->io, false, u->gc_ns, u->map_ns, SSD_OK);
		uread_put(f, r);
		return;
	}
	for (uint32_t i = 0; f->host.c.payload && i * FTL_SECTOR_BYTES < f->host.c.unit_bytes; i++)
		if (!(f->buf.slot[u->slot].have >> i & 1))
			memset(slot_data(f, u->slot) + i * FTL_SECTOR_BYTES, 0, FTL_SECTOR_BYTES);
	base_arrived(f, u->slot, NULL, NULL, 0);
	base_done(f, r);
	f->turn.kick = true;
}

/* The map page that has the unit's address is lost: end the uread. */
static void uread_failed(struct page_ftl *f, uint64_t now_ns, uint32_t r)
{
	struct uread *u = &f->read.unit[r];

	if (u->io) {
		part_at_once(f, now_ns, u->io, false, u->gc_ns, u->map_ns, SSD_E_UNCORR);
		uread_put(f, r);
		return;
	}
	base_arrived(f, u->slot, NULL, NULL, f->shape.sectors_mask);
	base_done(f, r);
}

void read_answer(struct page_ftl *f, uint64_t now_ns, uint32_t r, enum map_answer answer)
{
	switch (answer) {
	case MAP_FOUND:
		uread_located(f, now_ns, r);
		break;
	case MAP_UNWRITTEN:
		uread_unwritten(f, now_ns, r);
		break;
	case MAP_UNREADABLE:
		uread_failed(f, now_ns, r);
		break;
	case MAP_WAITS:
		break;
	}
}

void read_base(struct page_ftl *f, uint64_t now_ns, uint32_t slot)
{
	uint32_t r = uread_get(f), lpn = f->buf.slot[slot].lpn;

	f->read.unit[r] = (struct uread){ .slot = slot, .lpn = lpn, .bytes = f->host.c.unit_bytes };
	read_answer(f, now_ns, r, map_locate(f, now_ns, r));
}

void read_map(struct page_ftl *f, uint64_t now_ns, uint32_t lpn)
{
	uint32_t r = uread_get(f);

	f->read.unit[r] = (struct uread){ .slot = NONE, .lpn = lpn };
	uread_located(f, now_ns, r);
}

void read_bases_arrived(struct page_ftl *f, struct die *d)
{
	while (d->bases != NONE) {
		uint32_t r = d->bases, lpn = f->read.unit[r].lpn;

		d->bases = f->read.unit[r].next;
		if (!is_map_read(&f->read.unit[r])) {
			base_done(f, r);
			continue;
		}
		uread_put(f, r);
		map_loaded(f, f->host.now_ns, lpn);
	}
}

/* ---- the die's reads ----------------------------------------------------- */

/*
 * A uread whose unit may have been rewritten, trimmed or moved since it was queued: answer it, or queue
 * it on the unit's die, and return NONE; or return the unit's address if it is on this die.
 */
static SSD_APART uint32_t look_closer(struct page_ftl *f, uint64_t now_ns, uint32_t die, uint32_t r, uint32_t upn)
{
	struct uread *u = &f->read.unit[r];

	if (u->io && serve_without_flash(f, now_ns, u)) {
		uread_put(f, r);
		return NONE;
	}
	if (!u->io && !is_map_read(u) && f->read.by_words && f->buf.slot[u->slot].have == f->shape.sectors_mask) {
		base_done(f, r);	/* the unit was overwritten completely meanwhile */
		f->turn.kick = true;
		return NONE;
	}
	if (upn != NONE && upn_die(f, upn & ~OOB_LOST) == die)
		return upn;
	u->gc_ns += gc_clock(&f->die[die], now_ns) - u->gc_mark;
	if (owners_told(f))
		owners_moved(f, r, die);
	read_answer(f, now_ns, r, upn != NONE ? MAP_FOUND : map_locate_cached(f, now_ns, r));
	return NONE;
}

/* Look up uread r again. Returns its unit's address on this die; NONE: it was answered, waits, or is on another die. */
static inline uint32_t still_here(struct page_ftl *f, uint64_t now_ns, uint32_t die, uint32_t r)
{
	const struct uread *u = &f->read.unit[r];
	uint32_t upn = map_upn_of(f, u);

	if (SSD_LIKELY(u->io && only_on_flash(f, u->lpn) && upn != NONE && upn_die(f, upn & ~OOB_LOST) == die))
		return upn;
	return look_closer(f, now_ns, die, r, upn);
}

/*
 * A page whose program failed cannot be read, but is in the map until it is issued again. Returns the slot
 * with the unit, or NONE if the page is not such a page. O(buffer pages), and rare.
 */
static uint32_t issued_from_buffer(const struct page_ftl *f, uint32_t lpn, uint32_t upn)
{
	for (uint32_t w = 0; w < f->buf.pages; w++) {
		const struct wpage *p = &f->buf.page[w];
		uint32_t slot = w * f->shape.upp + upn % f->shape.upp;

		if (p->state != W_FREE && p->seq <= f->bt.issued && p->ppn == upn / f->shape.upp &&
		    upn % f->shape.upp < p->used && f->buf.slot[slot].lpn == lpn)
			return slot;
	}
	return NONE;
}

static inline void set_where(const struct page_ftl *f, const struct die *d, const struct uread *u,
			     const struct nand_cmd *c)
{
	struct ftl_breakdown *w = &u->io->where;
	uint64_t queued = c->start_ns - u->io->submit_ns - u->map_ns;
	uint64_t gc = u->gc_ns + gc_clock(d, c->start_ns) - u->gc_mark;

	gc = (gc < queued ? gc : queued) + c->wait_gc_ns;
	*w = (struct ftl_breakdown){
		.cell_ns = c->cell_ns,
		.bus_ns = c->bus_ns,
		.host_queue_ns = queued + c->wait_gc_ns - gc + c->wait_host_ns,
		.gc_queue_ns = gc,
		.map_ns = f->host.c.map_ns + u->map_ns,
		.other_ns = f->host.c.overhead_ns,
	};
	if (SSD_UNLIKELY(f->extras) && owners_told(f))
		owners_read(f, (uint32_t)(d - f->die), u, c);
}

/* Does the spare area that the command has read name another LPN (map_needs_spare)? */
static bool names_another(const struct page_ftl *f, const struct uread *u, uint32_t upn)
{
	return map_needs_spare(f) && (oob_get_lpn(f->oob, (upn & ~OOB_LOST) % f->shape.upp) & ~OOB_LOST) != u->lpn;
}

/*
 * Copy the unit that a command has read to where it is wanted: the buffer of a host's I/O, a slot of
 * the write buffer or a page of the map. Returns false if what is wanted of it is lost.
 */
static SSD_APART bool move_content(struct page_ftl *f, const struct uread *u, uint32_t upn, const struct nand_cmd *c)
{
	const uint8_t *page = c->page;
	size_t at = (upn & ~OOB_LOST) % f->shape.upp;
	const uint8_t *unit = page ? page + at * f->host.c.unit_bytes : NULL;
	const uint8_t *metadata = f->metadata.bytes ? f->oob + metadata_in_page(f, (uint32_t)at) : NULL;
	bool unread = c->status == NAND_UNCORR || c->status == NAND_ERASED || names_another(f, u, upn);
	bool lost = unread || (upn & OOB_LOST);
	uint32_t slot, bad;

	if (is_map_read(u)) {
		map_arrived(f, u->lpn, page, lost);
		return !lost;
	}
	if (SSD_UNLIKELY(unread)) {
		const uint8_t *kept;

		slot = upn & OOB_LOST ? NONE : issued_from_buffer(f, u->lpn, upn);
		kept = slot == NONE ? rebuilt_page(f, c->ppn.v) : slot_data(f, slot);
		if (slot == NONE && kept)
			kept += at * f->host.c.unit_bytes;
		if (slot != NONE && metadata)
			metadata = metadata_of_slot(f, slot);
		unread = !kept;
		unit = kept ? kept : unit;
		lost = unread || (upn & OOB_LOST);
	}
	bad = !lost ? 0 : unread ? f->shape.sectors_mask : lost_bits(f, unit);
	if (!u->io) {
		base_arrived(f, u->slot, unit, metadata, bad);
	} else if (f->host.c.payload) {
		slot = wbuf_find(f, u->lpn);
		if (slot != NONE && metadata)
			metadata = metadata_overlay(f, u, slot, metadata);
		if (bad || (slot != NONE && f->buf.slot[slot].lost))
			return lost_give(f, u, slot, unit, metadata, bad);
		if (slot != NONE && unit)
			unit = overlay(f, slot, unit);
		give(f, u, unit, metadata);
	}
	return !lost;
}

/* End a uread of the host. */
static inline void deliver(struct page_ftl *f, const struct die *d, const struct uread *u, bool lost,
			   const struct nand_cmd *c)
{
	if (host_part_decides(u->io, c->done_ns + host_front_ns(&f->host)))
		set_where(f, d, u, c);
	if (host_part_over(u->io, lost ? SSD_E_UNCORR : SSD_OK))
		read_over(f, u->io);
}

/* Must the uread be read from that page, according to the present map? */
static bool lies_in(const struct page_ftl *f, const struct uread *u, uint32_t page)
{
	uint32_t at = map_upn_of(f, u);

	if (at == NONE || fxp_quotient(f->shape.by_upp, at & ~OOB_LOST) != page)
		return false;
	return !u->io || (!is_trimmed(f, u->lpn) && wbuf_find(f, u->lpn) == NONE);
}

/* Chain to r, which was behind `before` (NONE: first), the ureads behind it of the same I/O and the same page. */
static inline void take_along(struct page_ftl *f, struct die *d, uint32_t before, uint32_t r, uint32_t page)
{
	uint32_t q = before == NONE ? d->first : f->read.unit[before].next, last = r;

	f->read.unit[r].next = NONE;
	while (q != NONE && f->read.unit[q].io == f->read.unit[r].io) {
		uint32_t next = f->read.unit[q].next;

		if (!lies_in(f, &f->read.unit[q], page)) {
			before = q;
		} else {
			if (before == NONE)
				d->first = next;
			else
				f->read.unit[before].next = next;
			if (d->last == q)
				d->last = before;
			f->read.unit[q].next = NONE;
			f->read.unit[last].next = q;
			last = q;
		}
		q = next;
	}
}

/* Account a command that reads a map page or bases. */
static SSD_APART void issue_own(struct page_ftl *f, const struct uread *u, struct nand_cmd *c)
{
	uint32_t words = c->ecc_words;

	if (is_map_read(u)) {
		c->source = NAND_SRC_MAP;
		return;
	}
	f->host.stats.merge_reads++;
	f->host.stats.merge_read_bytes += words == NAND_WHOLE_PAGE ? f->g->page_bytes :
		(uint64_t)(uint32_t)__builtin_popcount(words) * f->g->ecc_word_bytes;
}

/* Issue a read of the unit at upn for the uread, which was behind `before`, and the ureads chained to it. */
static SSD_ALWAYS void issue(struct page_ftl *f, uint64_t now_ns, struct die *d, uint32_t before, uint32_t r,
			     uint32_t upn, struct nand_cmd *c)
{
	nand_fill_read(c, NAND_SRC_HOST, fxp_quotient(f->shape.by_upp, upn & ~OOB_LOST), NAND_WHOLE_PAGE, f->read.oob);
	if (f->shape.upp > 1 || !f->read.unit[r].io)	/* otherwise the page has no other unit of the I/O */
		take_along(f, d, before, r, c->ppn.v);
	else
		f->read.unit[r].next = NONE;
	if (f->read.by_words)
		c->ecc_words = uread_words(f, r);
	if (SSD_UNLIKELY(!f->read.unit[r].io))
		issue_own(f, &f->read.unit[r], c);
	if (SSD_UNLIKELY(f->extras) && owners_told(f))
		c->owners = (uint16_t)owners_of_read(f, r);
	nand_submit(f->host.n, now_ns, c, 1);
	if (SSD_UNLIKELY(f->read.beside))
		f->plane[geo_plane_of(f->g, geo_block_of(f->g, c->ppn))].read_end_ns = c->done_ns;
}

/* Deliver the data that were read. Slots wait for their bases until the command ends. */
static SSD_ALWAYS void deliver_all(struct page_ftl *f, struct die *d, uint32_t r, const struct nand_cmd *c)
{
	bool bare = c->status == NAND_OK && f->read.bare;

	SSD_ASSERT(c->status != NAND_VIOLATION);
	if (SSD_UNLIKELY(c->status == NAND_CORRECTED))
		level_corrected(f, fxp_quotient(f->shape.by_block_pages, c->ppn.v));
	while (r != NONE) {
		struct uread *u = &f->read.unit[r];
		uint32_t next = u->next, upn = map_upn_of(f, u);
		bool moved = (bare && u->io && !(upn & OOB_LOST)) || move_content(f, u, upn, c);

		if (u->io) {
			deliver(f, d, u, !moved, c);
			uread_put(f, r);
		} else {
			u->next = d->bases;
			d->bases = r;
		}
		r = next;
	}
}

/* Issue one read command on an idle die. Returns false if there is nothing left to read. */
SSD_HOT bool read_issue(struct page_ftl *f, uint64_t now_ns, uint32_t die)
{
	struct die *d = &f->die[die];
	uint32_t r = NONE, upn = NONE;
	struct nand_cmd c;

	while (upn == NONE && d->first != NONE) {
		r = uread_pop(f, d);
		upn = still_here(f, now_ns, die, r);
	}
	if (upn == NONE)
		return false;
	issue(f, now_ns, d, NONE, r, upn, &c);
	die_start(f, die, DIE_READ, &c);
	d->bases = NONE;
	gc_after_read(f, die);
	d->turn.reads_in_row++;
	/* bases and map pages count as read when the die is idle, which another read would delay */
	if (SSD_UNLIKELY(f->read.beside) && f->read.unit[r].io)
		d->suspend_at_ns = now_ns;
	deliver_all(f, d, r, &c);
	if (SSD_UNLIKELY(f->read.beside))
		suspend(f, now_ns, die);
	return true;
}

/* ---- suspension, and reads beside reads ----------------------------------- */

/*
 * Take the first uread of the host that may begin now although the die is busy, and set *upn to its unit, *behind to
 * the uread before it or NONE. Returns NONE if none is before the first base read; only the head without plane_reads.
 */
static uint32_t take_interposer(struct page_ftl *f, uint64_t now_ns, uint32_t die, uint32_t *upn, uint32_t *behind)
{
	struct die *d = &f->die[die];
	uint32_t before = NONE, r = d->first;

	while (r != NONE && f->read.unit[r].io) {
		uread_take(f, d, before);
		*upn = still_here(f, now_ns, die, r);
		if (*upn == NONE) {	/* answered or on another die; this queue may have changed: begin at its head */
			before = NONE;
			r = d->first;
			continue;
		}
		if (f->host.n->ops->may_interpose(f->host.n, now_ns,
						  (ppn_t){ fxp_quotient(f->shape.by_upp, *upn & ~OOB_LOST) })) {
			*behind = before;
			return r;
		}
		uread_put_back(f, d, before, r);
		if (!f->read.beside)
			break;
		before = r;
		r = f->read.unit[r].next;
	}
	return NONE;
}

/* Would the die, if it were idle, take a program or GC before the next read (page_ftl.c)? */
static bool others_first(const struct page_ftl *f, uint32_t die)
{
	return gc_goes_first(f, die) ||
	       (die_reads_enough(&f->die[die].turn, &f->host.c) && (head_waits(f) || map_has_writes(f)));
}

/* Begin a read on a busy die: it suspends the die's command (of the host or GC), or runs beside other planes' reads. */
static void interpose(struct page_ftl *f, uint64_t now_ns, uint32_t die, uint32_t before, uint32_t r, uint32_t upn)
{
	struct die *d = &f->die[die];
	struct nand_cmd c;
	uint64_t end;

	issue(f, now_ns, d, before, r, upn, &c);
	end = c.done_ns > d->turn.ready_ns ? c.done_ns : d->turn.ready_ns;
	die_suspended(&d->turn, d->op == DIE_GC, c.resumed_done_ns ? c.resumed_done_ns : end);
	if (!f->read.beside)
		d->suspend_at_ns = c.done_ns;
	if (d->op == DIE_READ) {
		if (owners_told(f))
			owner_clock_turn(&f->owners.die[die], now_ns, now_ns, f->owners.die[die].owners | c.owners);
		gc_after_read(f, die);
		d->turn.reads_in_row++;
	}
	deliver_all(f, d, r, &c);
}

/*
 * Begin the waiting reads that may begin now although the die is busy: one suspends its command, with plane_reads each
 * idle plane takes one. If others may begin only later, set the die's time in turn.ends to that time, so that it is
 * checked again then.
 */
static SSD_APART void suspend(struct page_ftl *f, uint64_t now_ns, uint32_t die)
{
	struct die *d = &f->die[die];
	uint64_t again;
	bool stopped = false;

	if (now_ns >= d->turn.ready_ns || d->suspend_at_ns >= d->turn.ready_ns)
		return;
	while (now_ns >= d->suspend_at_ns && !stopped) {
		uint32_t upn = NONE, before = NONE, r;

		stopped = d->op == DIE_READ && others_first(f, die);
		r = stopped ? NONE : take_interposer(f, now_ns, die, &upn, &before);
		if (r == NONE && !f->read.beside)
			return;
		if (r == NONE)
			break;
		interpose(f, now_ns, die, before, r, upn);
	}
	again = d->suspend_at_ns > now_ns ? d->suspend_at_ns : die_next_plane_ns(f, now_ns, die);
	die_due_move(&f->turn.ends, die, d->first == NONE || stopped ? d->turn.ready_ns : again);
}

void read_may_suspend(struct page_ftl *f, uint64_t now_ns, uint32_t die)
{
	die_due_start(&f->turn.ends, die, f->die[die].turn.ready_ns);
	suspend(f, now_ns, die);
}
