// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * gc_copy.c - the copies of GC: reads the victim's valid units and programs them. gc.c decides
 * when. Its invariant G1 holds between all functions of this file.
 *
 * The way of a unit. gc_read_page() reads a page of the victim. Its valid units are then *in hand*: their LPNs and
 * addresses are in gc.unit[], their data in gc.data. gc_program_page() programs as many of the first units in hand as
 * fit into the next page of the plane's open block; these units are *in flight*. The map names the new page as soon as
 * the command is issued, so the host reads the copy and no longer the victim. When the program has ended,
 * gc_program_ended() takes the units out of hand. If it has failed, the map gets the old addresses back, which are
 * still valid because the victim has not been erased, and the units stay in hand for another page.
 *
 * There are three other kinds of copies. With copyback the chip moves a whole page, so its units go from the P2L table
 * (p2l.h) into flight and never are in hand. A carrier is a page without units: only its mark is wanted (gc.c, 4b).
 * With one_shot a program takes the pages of a word line. What other features need of a copy, such as metadata or a
 * placement handle, they do themselves (copy_extras).
 */
#include "dies.h"
#include "frontier.h"
#include "gc_copy.h"
#include "level.h"
#include "map.h"
#include "p2l.h"
#include "page_state.h"
#include "slc.h"

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

uint32_t gc_take_drained(struct page_ftl *f, struct gc *g)
{
	uint32_t b = g->drained;

	g->drained = f->bt.blk[b].next;
	if (f->log.carrier == b)
		f->log.carrier = BLK_NONE;
	return b;
}

void gc_abandon(struct page_ftl *f, uint32_t plane)
{
	struct gc *g = &f->plane[plane].gc;

	map_gc_release(f, g);
	f->good_blocks -= g->victim != BLK_NONE;
	while (g->drained != BLK_NONE) {
		gc_take_drained(f, g);
		f->good_blocks--;
	}
	g->units = 0;
	g->victim = BLK_NONE;
	f->host.worn = f->host.worn || f->good_blocks < f->need_blocks;
}

/* Find the LPN of a unit whose OOB cannot be read, in O(LPNs); this is rare. */
static uint32_t search_lpn(const struct page_ftl *f, uint32_t upn)
{
	for (uint32_t lpn = 0; lpn < f->shape.all_lpns; lpn++)
		if ((map_get(f, lpn) & ~OOB_LOST) == upn)
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
			map_prefetch(f, u->lpn & ~OOB_LOST);
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

/* Does the spare area have a possible LPN for each valid unit? In a damaged drive file it may not. */
static bool names_units(const struct page_ftl *f, uint32_t first, const uint8_t *oob)
{
	for (uint32_t i = 0; i < f->shape.upp; i++)
		if (bit_get(f->map.valid, first + i) && (oob_get_lpn(oob, i) & ~OOB_LOST) >= f->shape.all_lpns)
			return false;
	return true;
}

/* Returns the memory for the spare area of the group's next page. */
static uint8_t *next_oob(const struct page_ftl *f, const struct gc_group *w)
{
	return f->oob + (size_t)w->count * f->oob_len;
}

void gc_read_page(struct page_ftl *f, struct gc_group *w, uint32_t plane)
{
	const struct gc *g = &f->plane[plane].gc;
	uint32_t first = unit_addr(f, g->victim, g->page);
	uint8_t *oob = next_oob(f, w);

	nand_fill_read(gc_add(f, w, plane, GC_READ), gc_source(g), fxp_quotient(f->shape.by_upp, first),
		       words_wanted(f, first), oob);
}

/* The page has been read: take its valid units in hand. */
static void page_read(struct page_ftl *f, uint32_t plane, const struct nand_cmd *c)
{
	struct gc *g = &f->plane[plane].gc;
	bool lost = c->status == NAND_UNCORR || c->status == NAND_ERASED;

	if (map_needs_spare(f) && (lost || !names_units(f, unit_addr(f, g->victim, g->page), c->oob)))
		gc_abandon(f, plane);
	else
		gather(f, g, c->oob, lost, c->page);
}

struct nand_cmd *gc_add(struct page_ftl *f, struct gc_group *w, uint32_t plane, enum gc_op op)
{
	f->plane[plane].gc.op = op;
	w->plane[w->count] = plane;
	return &w->c[w->count++];
}

static SSD_ALWAYS void command_issued(struct page_ftl *f, uint32_t plane, const struct nand_cmd *c)
{
	SSD_ASSERT(c->status != NAND_VIOLATION);
	f->plane[plane].gc.status = c->status;
	if (c->op == NAND_READ)
		page_read(f, plane, c);
}

/* Command c of a collector follows another one of it: a second erase, or a further page of a word line. */
static void next_issued(struct gc *g, const struct nand_cmd *c)
{
	SSD_ASSERT(c->status != NAND_VIOLATION);
	if (c->op == NAND_ERASE)
		g->second_status = c->status;
	else if (c->status != NAND_OK)
		g->status = c->status;
}

/*
 * Handle a group that has been issued: give each collector its command's status and, after a read, the units that were
 * read. Returns the command that ends last.
 */
static SSD_APART const struct nand_cmd *group_issued(struct page_ftl *f, const struct gc_group *w)
{
	const struct nand_cmd *last = w->c;

	for (uint32_t i = 0; i < w->count; i++) {
		const struct nand_cmd *c = &w->c[i];
		struct gc *g = &f->plane[w->plane[i]].gc;

		if (!i || w->plane[i] != w->plane[i - 1])
			command_issued(f, w->plane[i], c);
		else
			next_issued(g, c);
		if (c->done_ns > last->done_ns)
			last = c;
	}
	return last;
}

void gc_issue(struct page_ftl *f, uint64_t now_ns, uint32_t die, struct gc_group *w)
{
	const struct nand_cmd *last = w->c;

	nand_submit(f->host.n, now_ns, w->c, w->count);
	if (SSD_LIKELY(w->count == 1))
		command_issued(f, w->plane[0], w->c);
	else
		last = group_issued(f, w);
	f->die[die].plane = w->plane[0];
	die_start(f, die, DIE_GC, last);
	die_charge(&f->die[die].turn, last->op);
	if (last->op == NAND_PROGRAM || last->op == NAND_COPYBACK)
		backup_beside(f, now_ns, die);
}

void gc_drop_stale(struct page_ftl *f, struct gc *g)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < g->units; i++) {
		const struct gc_unit *u = &g->unit[i];
		bool mapped = bit_get(f->map.valid, u->upn);

		SSD_ASSERT(map_agrees(f, u->lpn & ~OOB_LOST, u->upn, mapped));	/* the OOB has the LPN */
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
		SSD_ASSERT((map_get(f, lpn & ~OOB_LOST) & ~OOB_LOST) == first + i);
	}
	SSD_PREFETCH(p2l_of(f, first) + 128);
	if (next < end)
		map_prefetch(f, oob_unit_lpn(p2l_of(f, next)) & ~OOB_LOST);
}

/* Returns the number of units in flight that the page gets whose first one has this number. */
static uint32_t units_of_page(const struct page_ftl *f, const struct gc *g, uint32_t first)
{
	uint32_t rest = g->flying > first ? g->flying - first : 0;

	return rest < f->shape.upp ? rest : f->shape.upp;
}

static void count_units(struct page_ftl *f, uint32_t plane)
{
	const struct gc *g = &f->plane[plane].gc;
	struct ftl_stats *st = &f->host.stats;

	*(g->why == GC_FOR_SPACE ? &st->gc_units : &st->wl_units) += g->flying;
	st->pad_units += f->line.units - g->flying;
	st->gc_pad_units += f->line.units - g->flying;
	if (SSD_UNLIKELY(f->bt.plane[plane].slc))
		slc_count_folded(f, g);
}

/* Map the units in flight from number `first` on to the page at ppn. Returns whether one of them is hidden. */
static SSD_ALWAYS bool map_units(struct page_ftl *f, const struct gc *g, uint32_t first, uint32_t units, uint32_t ppn,
				 uint64_t map_seq, uint8_t *oob)
{
	bool hidden = false;

	for (uint32_t i = 0; i < units; i++) {
		struct gc_unit *u = &g->fly[first + i];

		u->from = u->upn;
		u->upn = ppn * f->shape.upp + i;
		unit_map(f, u->lpn, u->upn, 0);
		if (g->of_map)
			u->seq = map_seq;
		oob_put_unit(oob, i, u->lpn, u->seq);
		hidden |= (u->lpn & ~OOB_LOST) >= f->shape.lpns;
	}
	for (uint32_t i = units; i < f->shape.upp; i++)
		oob_put_unit(oob, i, OOB_NO_LPN, 0);
	return hidden;
}

/*
 * Do what the drive's other features need of a copy (extras_on); each function is of the file that has the feature. The
 * parity page covers the whole spare area, so it comes last.
 */
static SSD_APART void copy_extras(struct page_ftl *f, uint32_t plane, const struct nand_cmd *c, uint32_t first,
				  uint32_t units, uint8_t *oob)
{
	const struct gc *g = &f->plane[plane].gc;

	p2l_keep(f, c->ppn.v, units, oob);
	handles_copied(f, plane, g->target, oob);
	metadata_copy(f, g, first, units, oob);
	frontier_cover(f, plane, c, oob);
}

/* Add the program, or copyback, of a page with the units in flight from number `first` on, as many as fit into it. */
static SSD_ALWAYS void put_page(struct page_ftl *f, struct gc_group *w, uint32_t plane, uint32_t slot, enum gc_op op,
				uint32_t first)
{
	struct gc *g = &f->plane[plane].gc;
	struct oob_head h = { .order = f->bt.issued, .mark = f->bt.stable, .kind = OOB_GC };
	uint8_t *oob = next_oob(f, w);
	struct nand_cmd *c = gc_add(f, w, plane, op);
	uint32_t units = units_of_page(f, g, first);
	uint64_t map_seq = 0;
	bool hidden;

	nand_fill_program(c, gc_source(g), frontier_take(f, plane, slot, g->of_map ? FRONT_MAP : FRONT_GC), oob);
	if (op == GC_COPYBACK) {
		c->op = NAND_COPYBACK;
		c->from = geo_ppn(f->g, (pbn_t){ g->victim }, g->page);
	}
	if (g->of_map)
		map_seq = map_copied(f, g, &h);
	g->target = fxp_quotient(f->shape.by_block_pages, c->ppn.v);
	f->bt.blk[g->target].last_order = f->bt.issued;
	level_copied(f, g);
	g->mark = h.mark;
	oob_put_head(oob, &h);
	hidden = map_units(f, g, first, units, c->ppn.v, map_seq, oob);
	c->data = NULL;
	if (op != GC_COPYBACK && (f->host.c.payload || hidden))
		c->data = g->data + (size_t)first * f->host.c.unit_bytes;
	if (SSD_UNLIKELY(f->extras))
		copy_extras(f, plane, c, first, units, oob);
}

void gc_program_page(struct page_ftl *f, struct gc_group *w, uint32_t plane, uint32_t slot, enum gc_op op)
{
	struct gc *g = &f->plane[plane].gc;

	g->flying = g->units < f->line.units && op != GC_COPYBACK ? g->units : f->line.units;
	g->fly = g->unit;
	if (op == GC_COPYBACK) {
		gather_from_p2l(f, g);
		g->fly += g->units;
	}
	for (uint32_t i = 0; i < f->line.units; i += f->shape.upp)
		put_page(f, w, plane, slot, op, i);
	count_units(f, plane);
}

/* The program failed: the units stay in hand, and the map points to the victim again. */
static void take_back(struct page_ftl *f, struct gc *g)
{
	for (uint32_t i = 0; i < g->flying; i++) {
		struct gc_unit *u = &g->fly[i];

		if ((map_get(f, u->lpn & ~OOB_LOST) & ~OOB_LOST) == u->upn)
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
