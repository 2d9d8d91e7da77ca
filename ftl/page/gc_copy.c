// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * gc_copy.c - the copies of GC: reads the victim's valid units and programs them. gc.c decides
 * when. Its invariant G1 holds between all functions of this file.
 */
#include "gc.h"

static uint32_t unit_addr(const struct page_ftl *f, uint32_t b, uint32_t page)
{
	return geo_ppn(f->g, (pbn_t){ b }, page).v * f->shape.upp;
}

bool gc_next_page(struct page_ftl *f, struct gc *g)
{
	uint32_t first = g->victim * f->bt.units_per_block, end = first + f->bt.units_per_block;
	uint32_t upn = bit_next(f->map.valid, first + g->page * f->shape.upp, end);

	g->page = upn < end ? fxp_quotient(f->shape.by_upp, upn - first) : f->g->pages_per_block;
	return upn < end;
}

uint32_t gc_drained_units(const struct page_ftl *f, const struct gc *g)
{
	uint32_t units = 0;

	for (uint32_t b = g->drained; b != BLK_NONE; b = f->bt.blk[b].next)
		units += f->bt.blk[b].valid;
	return units;
}

void gc_start(struct page_ftl *f, uint32_t plane, enum gc_op op, const struct nand_cmd *c)
{
	uint32_t die = geo_die_of_plane(f->g, plane);

	SSD_ASSERT(c->status != NAND_VIOLATION);
	f->plane[plane].gc.op = op;
	f->plane[plane].gc.status = c->status;
	f->die[die].plane = plane;
	die_start(f, die, DIE_GC, c);
	die_charge(&f->die[die].turn, c->op);
}

/* Find the LPN of a unit whose OOB cannot be read, in O(LPNs); this is rare. */
static uint32_t search_lpn(const struct page_ftl *f, uint32_t upn)
{
	for (uint32_t lpn = 0; lpn < f->shape.all_lpns; lpn++)
		if ((*map_entry(f, lpn) & ~OOB_LOST) == upn)
			return lpn;
	SSD_ASSERT(!"a valid unit that the map does not refer to");
	return NONE;
}

static void gather(struct page_ftl *f, struct gc *g, const uint8_t *oob, bool lost,
		   const uint8_t *page)
{
	uint32_t first = unit_addr(f, g->victim, g->page);

	g->bytes = page || (g->units && g->bytes);
	for (uint32_t i = 0; i < f->shape.upp; i++) {
		struct gc_unit *u = &g->unit[g->units];

		if (!bit_get(f->map.valid, first + i))
			continue;
		u->upn = first + i;
		if (g->of_map && !lost)
			g->map_mark = oob_snapshot_mark(oob);
		if (lost) {	/* the sequence is lost as well; `stable` has passed it and is used instead */
			if (f->host.c.payload)	/* there is no record of lost sectors (lost.c) */
				memset(g->data + (size_t)g->units * f->host.c.unit_bytes, 0, FTL_SECTOR_BYTES);
			u->lpn = search_lpn(f, u->upn) | OOB_LOST;
			u->seq = f->bt.stable;
		} else {
			u->lpn = oob_get_lpn(oob, i);
			u->seq = oob_get_seq(oob, i);
			if (!map_is_cached(f))
				SSD_PREFETCH(&f->map.l2p[u->lpn & ~OOB_LOST]);
		}
		if (page)
			memcpy(g->data + (size_t)g->units * f->host.c.unit_bytes,
			       page + (size_t)i * f->host.c.unit_bytes, f->host.c.unit_bytes);
		if (SSD_UNLIKELY(f->metadata.bytes))
			metadata_gather(f, g, g->units, lost ? NULL : oob, i);
		g->units++;
	}
	g->page++;
}

/* Returns the ECC words with the page's valid units. */
static uint32_t words_wanted(const struct page_ftl *f, uint32_t first_upn)
{
	uint32_t unit = f->host.c.unit_bytes, word = f->g->ecc_word_bytes, words = 0;

	if (!f->gc.by_words)
		return NAND_WHOLE_PAGE;
	for (uint32_t i = 0; i < f->shape.upp; i++)
		if (bit_get(f->map.valid, first_upn + i))
			for (uint32_t w = i * unit / word; w * word < (i + 1) * unit; w++)
				words |= 1u << w;
	return words;
}

enum nand_source gc_source(const struct gc *g)
{
	return g->why == GC_FOR_SPACE ? NAND_SRC_GC : NAND_SRC_WL;
}

/* Cached map: does the spare area have a possible LPN for each valid unit? A damaged drive file may not. */
static bool names_units(const struct page_ftl *f, uint32_t first, const uint8_t *oob)
{
	for (uint32_t i = 0; i < f->shape.upp; i++)
		if (bit_get(f->map.valid, first + i) && (oob_get_lpn(oob, i) & ~OOB_LOST) >= f->shape.all_lpns)
			return false;
	return true;
}

void gc_read_page(struct page_ftl *f, uint64_t now_ns, uint32_t plane)
{
	struct gc *g = &f->plane[plane].gc;
	uint32_t first = unit_addr(f, g->victim, g->page);
	struct nand_cmd c;
	bool lost;

	nand_fill_read(&c, gc_source(g), fxp_quotient(f->shape.by_upp, first), words_wanted(f, first), f->oob);
	nand_submit(f->host.n, now_ns, &c, 1);
	gc_start(f, plane, GC_READ, &c);
	lost = c.status == NAND_UNCORR || c.status == NAND_ERASED;
	if (map_is_cached(f) && (lost || !names_units(f, first, f->oob)))
		gc_abandon(f, plane);
	else
		gather(f, g, f->oob, lost, c.page);
}

void gc_drop_stale(struct page_ftl *f, struct gc *g)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < g->units; i++) {
		const struct gc_unit *u = &g->unit[i];
		bool mapped = bit_get(f->map.valid, u->upn);

		if (!map_is_cached(f))	/* the unit's OOB has the LPN that maps to it */
			SSD_ASSERT(mapped == ((f->map.l2p[u->lpn & ~OOB_LOST] & ~OOB_LOST) == u->upn));
		if (!mapped)
			continue;
		if (kept != i) {
			g->unit[kept] = *u;
			if (g->bytes)
				memcpy(g->data + (size_t)kept * f->host.c.unit_bytes,
				       g->data + (size_t)i * f->host.c.unit_bytes, f->host.c.unit_bytes);
			if (SSD_UNLIKELY(f->metadata.bytes))
				metadata_move(f, g, kept, i, 1);
		}
		kept++;
	}
	g->units = kept;
}

bool gc_moves_whole(const struct page_ftl *f, const struct gc *g)
{
	uint32_t first = unit_addr(f, g->victim, g->page);

	if (!f->host.c.gc_copyback || g->drained != BLK_NONE || g->why != GC_FOR_SPACE || g->corrected)
		return false;
	for (uint32_t i = 0; i < f->shape.upp; i++)
		if (!bit_get(f->map.valid, first + i))
			return false;
	return true;
}

/* Take the page's units from the P2L table, without their bytes, behind those in hand. */
static void gather_from_p2l(const struct page_ftl *f, const struct gc *g)
{
	uint32_t first = unit_addr(f, g->victim, g->page);
	uint32_t end = (g->victim + 1) * f->bt.units_per_block;
	uint32_t next = bit_next(f->map.valid, first + f->shape.upp, end);

	for (uint32_t i = 0; i < f->shape.upp; i++) {
		const uint8_t *unit = p2l_of(f, first + i);
		uint32_t lpn = oob_unit_lpn(unit);

		g->unit[g->units + i] = (struct gc_unit){ .lpn = lpn, .upn = first + i, .seq = oob_unit_seq(unit) };
		SSD_ASSERT((f->map.l2p[lpn & ~OOB_LOST] & ~OOB_LOST) == first + i);
	}
	SSD_PREFETCH(p2l_of(f, first) + 128);
	if (next < end)
		SSD_PREFETCH(&f->map.l2p[oob_unit_lpn(p2l_of(f, next)) & ~OOB_LOST]);
}

/* Apart from trims that are due, is the map page's content on flash up to date? */
static bool is_current(const struct page_ftl *f, uint32_t page)
{
	uint32_t i = f->cache.frame_of[page];
	const struct map_frame *fr = &f->cache.frame[i == MAP_NONE ? 0 : i];

	return i == MAP_NONE || (!fr->dirty && !fr->host_pins && !fr->gc_pins && fr->state != FRAME_WRITING);
}

/*
 * M5 in map.c. A snapshot that is not up to date keeps its mark if the spare area can express it.
 */
static void set_map_head(const struct page_ftl *f, const struct gc *g, struct oob_head *h)
{
	if (is_current(f, (g->unit[0].lpn - f->shape.map_lpn) / f->shape.upp)) {
		h->kind = OOB_MAP;
	} else if (g->map_mark && h->order - g->map_mark <= OOB_MARK_MAX) {
		h->kind = OOB_MAP;
		h->mark = g->map_mark;
	}
}

static void count_units(struct page_ftl *f, const struct gc *g)
{
	struct ftl_stats *st = &f->host.stats;

	*(g->why == GC_FOR_SPACE ? &st->gc_units : &st->wl_units) += g->flying;
	st->pad_units += f->shape.upp - g->flying;
	st->gc_pad_units += f->shape.upp - g->flying;
	for (uint32_t i = 0; i < g->flying; i++)
		st->slc_fold_units += f->bt.blk[upn_block(f, g->fly[i].from)].slc;
}

void gc_program_page(struct page_ftl *f, uint64_t now_ns, uint32_t plane, uint32_t slot, enum gc_op op)
{
	struct gc *g = &f->plane[plane].gc;
	struct oob_head h = { .order = f->bt.issued, .mark = f->bt.stable, .kind = OOB_GC };
	struct gc_unit *in = g->unit;
	bool hidden = false;
	struct nand_cmd c;
	struct blk *b;

	nand_fill_program(&c, gc_source(g), 0, f->oob);
	if (op == GC_COPYBACK) {
		gather_from_p2l(f, g);
		in += g->units;
		c.op = NAND_COPYBACK;
		c.from = geo_ppn(f->g, (pbn_t){ g->victim }, g->page);
	}
	c.ppn.v = frontier_take(f, plane, slot, g->of_map ? FRONT_MAP : FRONT_GC);
	if (g->of_map) {	/* a copy counts as a new version, so that it is later than its source */
		f->cache.seq++;
		f->host.stats.map_copies += g->units > 0;
		if (g->units)
			set_map_head(f, g, &h);
	}
	g->target = fxp_quotient(f->shape.by_block_pages, c.ppn.v);
	b = &f->bt.blk[g->target];
	b->last_order = f->bt.issued;
	b->moved |= g->corrected;
	oob_put_head(f->oob, &h);
	if (SSD_UNLIKELY(f->handles.count))
		handles_took(f, g->target, handles_stream(f, plane, FRONT_GC), f->oob);
	g->flying = g->units < f->shape.upp && op != GC_COPYBACK ? g->units : f->shape.upp;
	g->fly = in;
	g->mark = h.mark;
	for (uint32_t i = g->flying; i < f->shape.upp; i++)
		oob_put_unit(f->oob, i, OOB_NO_LPN, 0);
	for (uint32_t i = 0; i < g->flying; i++) {
		struct gc_unit *u = &in[i];

		u->from = u->upn;
		u->upn = c.ppn.v * f->shape.upp + i;
		unit_map(f, u->lpn, u->upn, 0);
		if (g->of_map)
			u->seq = f->cache.seq;
		oob_put_unit(f->oob, i, u->lpn, u->seq);
		if (f->map.p2l)
			oob_copy_unit(p2l_of(f, u->upn), f->oob, i);
		hidden |= (u->lpn & ~OOB_LOST) >= f->shape.lpns;
	}
	if (g->of_map && g->flying)
		f->cache.found[(g->unit[0].lpn - f->shape.map_lpn) / f->shape.upp].seq = f->cache.seq;
	metadata_copy(f, g, f->oob);
	count_units(f, g);
	c.data = op != GC_COPYBACK && (f->host.c.payload || hidden) ? g->data : NULL;
	if (!f->fr.plain)
		front_cover(&f->fr, plane, c.ppn.v, c.data, f->oob);
	nand_submit(f->host.n, now_ns, &c, 1);
	gc_start(f, plane, op, &c);
	backup_beside(f, now_ns, geo_die_of_plane(f->g, plane));
}

/* The program failed: the units stay in hand, and the map points to the victim again. */
static void take_back(struct page_ftl *f, struct gc *g)
{
	for (uint32_t i = 0; i < g->flying; i++) {
		struct gc_unit *u = &g->fly[i];

		if ((*map_entry(f, u->lpn & ~OOB_LOST) & ~OOB_LOST) == u->upn)
			unit_map(f, u->lpn, u->from, 0);
		u->upn = u->from;
	}
	g->flying = 0;
}

void gc_program_ended(struct page_ftl *f, uint32_t plane, enum gc_op op)
{
	struct gc *g = &f->plane[plane].gc;
	uint32_t rest = g->units - g->flying, b = g->target;

	if (g->status != NAND_OK) {
		block_failed(f, b);
		take_back(f, g);
		map_gc_release(f, g);
		return;
	}
	carrier_offer(f, b, g->mark);
	g->alone = false;
	if (op == GC_COPYBACK) {
		g->page++;
		g->flying = 0;
		return;
	}
	memmove(g->unit, g->unit + g->flying, rest * sizeof(*g->unit));
	if (g->bytes)
		memmove(g->data, g->data + (size_t)g->flying * f->host.c.unit_bytes,
			(size_t)rest * f->host.c.unit_bytes);
	if (SSD_UNLIKELY(f->metadata.bytes))
		metadata_move(f, g, 0, g->flying, rest);
	g->units = rest;
	g->flying = 0;
	map_gc_release(f, g);
}
