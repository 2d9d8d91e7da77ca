// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * place.c - gives host pages their places on flash, and programs them. When programs end, `stable` advances
 * (durable.c).
 *
 * The head of the queue goes to the first idle die in stripe order with room;
 * with multiplane, the pages behind it fill the die's other planes. A plane gets one page, or
 * with one_shot those of a word line (wordline.h). Pages are
 * issued strictly in log order. The map changes when a page is issued; the
 * buffer keeps its data until it is programmed, so a failed program is simply
 * issued again, with the same sequence, to another block.
 *
 * Invariants:
 *   P1  issued - stable < ring size, so that ended[] has a bit for every page past stable, and the
 *       difference fits into the OOB's mark;
 *   P2  stable <= issued < next_seq.
 */
#include "dies.h"
#include "frontier.h"
#include "lost.h"
#include "map.h"
#include "p2l.h"
#include "page_owners.h"
#include "page_state.h"
#include "place.h"
#include "queue.h"
#include "sent.h"
#include "wbuf.h"

/* ---- issuing ------------------------------------------------------------ */

static SSD_ALWAYS bool die_has_room(struct page_ftl *f, uint32_t die)
{
	uint32_t first = die * f->g->planes_per_die;

	for (uint32_t i = 0; i < f->g->planes_per_die; i++)
		if (frontier_has_room(f, first + i, FRONT_HOST))
			return true;
	return false;
}

static void wake_planes(struct page_ftl *f, uint32_t die)
{
	for (uint32_t i = 0; i < f->g->planes_per_die; i++)
		plane_changed(f, die * f->g->planes_per_die + i);
}

static inline bool is_of_another_group(const struct page_ftl *f, uint32_t die)
{
	return handles_has_groups(&f->handles) && !handles_takes(f, die * f->g->planes_per_die);
}

/* Returns the first idle die at or after this place of the stripe that has room, or NONE. */
static uint32_t pick_between(struct page_ftl *f, uint32_t from, uint32_t to)
{
	for (uint32_t at = word_next(f->turn.idle_stripe, to, from); at < to;
	     at = word_next(f->turn.idle_stripe, to, at + 1)) {
		uint32_t die = f->turn.stripe[at];

		if (gc_holds_die(f, die) || is_of_another_group(f, die))
			continue;
		if (!die_has_room(f, die)) {
			wake_planes(f, die);
			continue;
		}
		f->turn.stripe_at = at;
		return die;
	}
	return NONE;
}

/* Returns the die for the head of the queue, or NONE. */
static uint32_t pick_die(struct page_ftl *f)
{
	uint32_t from = f->turn.stripe_at, die;
	uint32_t at = word_next_around(f->turn.idle_stripe, f->shape.dies, from);

	if (at == f->shape.dies)
		return NONE;
	die = f->turn.stripe[at];
	if (SSD_LIKELY(f->fr.plain && !gc_holds_die(f, die) && die_has_room(f, die))) {
		f->turn.stripe_at = at;
		return die;
	}
	die = pick_between(f, from, f->shape.dies);
	return die != NONE ? die : pick_between(f, 0, from);
}

/* Does the page wait for other planes of its handle, although the die has a free block? */
static SSD_APART bool waits_for_turn(const struct page_ftl *f, uint32_t die)
{
	uint32_t first = die * f->g->planes_per_die;

	for (uint32_t plane = first; plane < first + f->g->planes_per_die; plane++)
		if (frontier_may_open(f, plane, FRONT_HOST) &&
		    !handles_in_turn(f, plane, handles_stream(f, plane, FRONT_HOST)))
			return true;
	return false;
}

static bool kept_by_gc(struct page_ftl *f, uint32_t die)
{
	if (f->die[die].op != DIE_IDLE || gc_holds_die(f, die))
		return f->die[die].op == DIE_GC || f->die[die].op == DIE_IDLE;
	return !die_has_room(f, die) && !(f->handles.count && waits_for_turn(f, die));
}

/* Returns the first die in stripe order that the head of the queue may go to. */
static uint32_t first_in_turn(const struct page_ftl *f)
{
	uint32_t at = f->turn.stripe_at;

	while (is_of_another_group(f, f->turn.stripe[at]))
		at = at + 1 < f->shape.dies ? at + 1 : 0;
	return f->turn.stripe[at];
}

static void note_stall(struct page_ftl *f, uint64_t now_ns, bool stalled)
{
	f->stall.gc_ns = stall_clock(f, now_ns);
	f->stall.since_ns = now_ns;
	f->stall.noted = stalled;
	f->stall.by_gc = stalled && kept_by_gc(f, first_in_turn(f));
}

static void apply_trims(struct page_ftl *f, uint32_t slot, uint64_t seq)
{
	const struct wtrim *t = &f->buf.trim[slot];
	uint32_t base = (f->buf.slot[slot].lpn - f->shape.lpns) * lpns_per_map(f);
	const uint8_t *bits = slot_data(f, slot);

	if (t->from != NONE)
		map_trim(f, t->from, t->to, bits, base, seq);
}

/* Apply bitmap units after all units of their page have been mapped. */
static SSD_APART void apply_trims_of(struct page_ftl *f, uint32_t w)
{
	const struct wpage *p = &f->buf.page[w];

	for (uint32_t i = 0; i < p->used; i++)
		if (f->buf.slot[w * f->shape.upp + i].lpn >= f->shape.lpns)
			apply_trims(f, w * f->shape.upp + i, p->seq);
}

static SSD_APART void note_heat(struct page_ftl *f, uint32_t w)
{
	for (uint32_t i = 0; i < f->buf.page[w].used; i++)
		heat_written(&f->heat, f->buf.slot[w * f->shape.upp + i].lpn);
}

/* Do what a page that goes to ppn needs beside its units (extras_on). */
static SSD_APART void page_extras(struct page_ftl *f, uint32_t w, uint32_t ppn, uint8_t *oob, bool again)
{
	struct wpage *p = &f->buf.page[w];

	p2l_keep(f, ppn, p->used, oob);
	if (f->buf.losses)
		lost_encode(f, w);
	if (f->heat.byte && !again)
		note_heat(f, w);
	if (f->handles.count)
		handles_placed(f, fxp_quotient(f->shape.by_block_pages, ppn), w, oob);
	if (SSD_UNLIKELY(p->ends) && !again)
		handles_end_unit(f, p->handle);
	if (f->metadata.bytes)
		metadata_to_page(f, w, oob);
}

/* Fill the rest of the page with empty units. */
static SSD_APART void pad(struct page_ftl *f, const struct wpage *p, uint8_t *oob)
{
	for (uint32_t i = p->used; i < f->shape.upp; i++)
		oob_put_unit(oob, i, OOB_NO_LPN, p->seq);
	f->host.stats.pad_units += f->shape.upp - p->used;
}

/*
 * The page is about to be programmed at ppn: set its OOB, the map and the counters. Returns true if
 * it has hidden units.
 */
static SSD_ALWAYS bool page_goes(struct page_ftl *f, uint32_t w, uint32_t ppn, uint8_t *oob)
{
	struct wpage *p = &f->buf.page[w];
	uint64_t seq = p->seq;
	bool again = seq <= f->bt.issued;	/* its earlier program failed */
	struct oob_head h = { .order = seq, .mark = f->bt.stable, .kind = OOB_HOST };
	uint32_t block = fxp_quotient(f->shape.by_block_pages, ppn);
	struct blk *b = &f->bt.blk[block];
	const struct wslot *s = &f->buf.slot[w * f->shape.upp];
	uint32_t hidden = 0, used = p->used;

	map_prefetch_ahead(f, seq);
	oob_put_head(oob, &h);
	for (uint32_t i = 0; i < used; i++, s++) {
		uint32_t lpn = s->lpn, tag = lpn | (s->lost ? OOB_LOST : 0), upn = ppn * f->shape.upp + i;

		hidden += lpn >= f->shape.lpns;
		oob_put_unit(oob, i, tag, seq);
		if (!again || (map_get(f, lpn) & ~OOB_LOST) == p->ppn * f->shape.upp + i)
			unit_map_in(f, tag, upn, block, seq);
	}
	f->host.stats.host_units += used - hidden;
	if (SSD_UNLIKELY(f->extras))
		page_extras(f, w, ppn, oob, again);
	if (SSD_UNLIKELY(used < f->shape.upp))
		pad(f, p, oob);
	if (SSD_UNLIKELY(hidden)) {
		f->host.stats.meta_units += hidden;
		if (!again)
			apply_trims_of(f, w);
	}
	if (seq > b->last_order)
		b->last_order = seq;
	if (!again)
		f->bt.issued = seq;
	p->ppn = ppn;
	p->mark = h.mark;
	p->state = W_FLIGHT;
	return hidden;
}

/* ---- issuing, a die at a time --------------------------------------------- */

#define PAD 0x80u	/* bit of die.status: the command programs a pad */

/* The page c has its data: set and count the mode of its block, and add it to its parity page. */
static SSD_APART void join_block(struct page_ftl *f, uint32_t plane, uint32_t slot, struct nand_cmd *c, uint8_t *oob)
{
	if (f->fr.slc != FRONT_NONE) {
		c->slc = slot == f->fr.slc;
		++*(c->slc ? &f->host.stats.slc_pages : &f->host.stats.slc_direct_pages);
	}
	frontier_cover(f, plane, c, oob);
}

/*
 * Do what a program that the die has begun needs besides (extras_on). first_seq: the first sequence that had not been
 * issued before.
 */
static SSD_APART void program_extras(struct page_ftl *f, uint64_t now_ns, uint32_t die, const struct nand_cmd *c,
				     uint64_t first_seq)
{
	struct die *d = &f->die[die];

	if (f->buf.losses)
		lost_decode_pages(f, d->page, d->count);
	for (uint32_t i = 0; i < d->count && f->host.c.accounting == FTL_ACCOUNT_SSDSIM; i++)
		if (d->page[i] != NONE && f->buf.page[d->page[i]].seq >= first_seq)
			sent_page(f, now_ns, f->buf.page[d->page[i]].seq, &c[i]);
	backup_beside(f, now_ns, die);
}

/* Make c the program of the head of the queue, in the next page of the slot. Returns the page of the buffer. */
static SSD_ALWAYS uint32_t put_head(struct page_ftl *f, uint32_t plane, uint32_t slot, struct nand_cmd *c,
				    uint8_t *oob)
{
	uint32_t w = f->buf.first;

	queue_take(f);
	nand_fill_program(c, NAND_SRC_HOST, frontier_take(f, plane, slot, FRONT_HOST), oob);
	if (page_goes(f, w, c->ppn.v, oob) || f->host.c.payload)
		c->data = slot_data(f, w * f->shape.upp);
	if (SSD_UNLIKELY(f->extras))
		join_block(f, plane, slot, c, oob);
	return w;
}

/* The first page of a word line is the last of so many commands. Add the others. Returns the number of commands. */
static SSD_APART uint32_t fill_line(struct page_ftl *f, struct die *d, uint32_t plane, uint32_t slot, uint32_t count)
{
	bool flushes = f->buf.page[d->page[count - 1]].seq <= f->line.flushed;

	for (uint32_t i = 1; i < f->line.pages; i++, count++) {
		struct nand_cmd *c = &f->cmd[count];
		uint8_t *oob = f->oob + (size_t)count * f->oob_len;

		if (head_goes(f)) {
			d->page[count] = put_head(f, plane, slot, c, oob);
			continue;
		}
		wordline_pad(f, c, frontier_take(f, plane, slot, FRONT_HOST), oob);
		if (flushes)
			f->host.stats.flush_pad_units += f->shape.upp;
		d->page[count] = NONE;
	}
	return count;
}

/* Mark the status of pads, which are no pages of the buffer. */
static SSD_APART void mark_pads(struct die *d)
{
	for (uint32_t i = 0; i < d->count; i++)
		if (d->page[i] == NONE)
			d->status[i] |= PAD;
}

/* Program pages from the head of the queue, which is ready, in all planes of an idle die. */
static SSD_HOT void program_die(struct page_ftl *f, uint64_t now_ns, uint32_t die)
{
	struct die *d = &f->die[die];
	uint32_t planes = f->g->planes_per_die, most = f->host.c.multiplane ? planes : 1;
	uint32_t first = die * planes, count = 0, lines = 0;
	struct nand_cmd *c = f->cmd;
	const struct nand_cmd *last;
	uint64_t first_seq = f->bt.issued + 1;
	uint8_t *oob = f->oob;

	for (uint32_t i = 0; i < planes && lines < most && (!i || next_ready(f)); i++) {
		uint32_t turn = d->plane_turn + i;
		uint32_t plane = first + (turn < planes ? turn : turn - planes);
		uint32_t slot;
		enum room room;

		if (count && !frontier_joins(f, plane, FRONT_HOST, &c[0]))
			continue;
		room = frontier_room(f, now_ns, plane, FRONT_HOST, &slot);
		if (room == ROOM_BUSY)
			return;
		if (room == ROOM_NONE)
			continue;
		d->page[count] = put_head(f, plane, slot, &c[count], oob);
		count++;
		lines++;
		oob += f->oob_len;
		if (SSD_UNLIKELY(f->line.pages > 1)) {
			count = fill_line(f, d, plane, slot, count);
			oob = f->oob + (size_t)count * f->oob_len;
		}
	}
	SSD_ASSERT(count);
	d->plane_turn += lines;
	if (d->plane_turn >= planes)
		d->plane_turn -= planes;
	d->turn.reads_in_row = 0;
	gc_after_program(f, die);
	if (SSD_UNLIKELY(f->extras) && owners_told(f))
		owners_of_program(f, d, c, count);
	nand_submit(f->host.n, now_ns, c, count);
	d->count = count;
	for (uint32_t i = 0; i < count; i++) {
		SSD_ASSERT(c[i].status != NAND_VIOLATION);
		d->status[i] = (uint8_t)c[i].status;
	}
	if (SSD_UNLIKELY(f->line.pages > 1))
		mark_pads(d);
	last = &c[count - 1];
	d->cell_ns = last->cell_ns;
	d->bus_ns = last->bus_ns;
	die_start(f, die, DIE_PROGRAM, last);
	if (SSD_UNLIKELY(f->extras))
		program_extras(f, now_ns, die, c, first_seq);
}

/* Is a command under way in the die that may free a block, or let one be collected when it ends? */
static bool die_makes_room(const struct page_ftl *f, uint32_t die)
{
	return f->die[die].op != DIE_IDLE && f->die[die].op != DIE_READ;
}

/*
 * Does the plane's GC make room for the head of the queue? Not after a loss of power, when GC rests, nor if the head is
 * a page that is issued again, because GC may wait for that page (rule 4a). If GC waits although all issued pages are
 * stable and no map page is on its way, failures have left no free block for its copies.
 */
static bool gc_makes_room(const struct page_ftl *f, uint32_t plane)
{
	const struct gc *g = &f->plane[plane].gc;
	bool goes_on = g->state == GC_ACTIVE || f->bt.stable != f->bt.issued ||
		       (f->host.c.map_cache_pages && f->turn.ends.busy);

	return gc_is_awake(g) && goes_on && f->buf.page[f->buf.first].seq > f->bt.issued && !f->gc.rests;
}

/*
 * No die takes the head of the queue. If no plane of its group has room, and no command under way there makes any, let
 * the head go to any group. Returns true if this call has allowed that.
 */
static SSD_APART bool leave_group(struct page_ftl *f)
{
	uint64_t seq = f->buf.page[f->buf.first].seq;

	if (f->handles.anywhere == seq || f->gc.hold)
		return false;
	for (uint32_t plane = 0; plane < f->shape.planes; plane++) {
		if (!handles_takes(f, plane))
			continue;
		if (!gc_is_awake(&f->plane[plane].gc))	/* of one that is awake it may kick without end */
			plane_changed(f, plane);
		if (die_makes_room(f, geo_die_of_plane(f->g, plane)) || gc_makes_room(f, plane) ||
		    frontier_has_room(f, plane, FRONT_HOST))
			return false;
	}
	f->handles.anywhere = seq;
	return true;
}

SSD_HOT void place_pages_now(struct page_ftl *f, uint64_t now_ns)
{
	while (next_ready(f)) {
		bool busy = f->turn.ends.busy == f->shape.dies;
		uint32_t die = busy ? NONE : pick_die(f);

		if (die == NONE && handles_has_groups(&f->handles) && leave_group(f))
			continue;
		if (die == NONE) {
			note_stall(f, now_ns, true);
			break;
		}
		program_die(f, now_ns, die);
		f->turn.stripe_at = f->turn.stripe_at + 1 < f->shape.dies ? f->turn.stripe_at + 1 : 0;
	}
	if (f->stall.by_gc && !next_ready(f))
		note_stall(f, now_ns, false);
}

/* ---- the end of a program ----------------------------------------------- */

/* Command i of the die's programs was a pad. Its block is that of the first page of the word line. */
static SSD_APART void pad_done(struct page_ftl *f, const struct die *d, uint32_t i)
{
	uint32_t first = d->page[i - i % f->line.pages];

	if (d->status[i] != PAD)
		block_failed(f, fxp_quotient(f->shape.by_block_pages, f->buf.page[first].ppn));
}

/*
 * Advance `stable` over the pages after it that have ended. It handles a word of bits at a time,
 * because the number of pages that one program releases is unpredictable.
 */
static inline void settle_prefix(struct page_ftl *f)
{
	uint32_t bit;

	do {
		uint64_t *word, ones;

		bit = (uint32_t)(f->bt.stable + 1) & f->log.ring_mask;
		word = &f->log.ended[bit >> 6];
		bit &= 63;
		ones = *word >> bit;
		f->bt.stable += (uint32_t)__builtin_ctzll(~ones | (uint64_t)1 << 63) + !~ones;
		*word ^= (ones & ~(ones + 1)) << bit;	/* the bits below may belong to the ring's end */
		bit = (uint32_t)(f->bt.stable + 1) & 63;
	} while (SSD_UNLIKELY(!bit && f->log.ended[((f->bt.stable + 1) & f->log.ring_mask) >> 6] & 1));
}

static void page_done(struct page_ftl *f, uint32_t w)
{
	struct wpage *p = &f->buf.page[w];

	carrier_offer(f, fxp_quotient(f->shape.by_block_pages, p->ppn), p->mark);
	word_set(f->log.ended, (uint32_t)p->seq & f->log.ring_mask);
	map_unpin(f, w);
	wbuf_release(f, w);
}

SSD_HOT void place_complete(struct page_ftl *f, struct die *d)
{
	for (uint32_t i = d->count; i-- > 0;) {	/* backwards: failed pages keep their order in the queue */
		uint32_t w = d->page[i];

		if (SSD_LIKELY(d->status[i] == NAND_OK)) {
			page_done(f, w);
			continue;
		}
		if (w == NONE) {
			pad_done(f, d, i);
			continue;
		}
		block_failed(f, fxp_quotient(f->shape.by_block_pages, f->buf.page[w].ppn));
		queue_again(f, w);
	}
	settle_prefix(f);
	if (owners_told(f))
		owners_oldest(f);
}
