// SPDX-License-Identifier: GPL-2.0-or-later
/* naive_rules.c - R0 .. R11 of nand.h, as they are written there. */
#include "naive.h"

#define BIT(rule) (1u << (rule))

static bool whole_mask(const struct nand_geometry *g, uint32_t ecc_words)
{
	uint32_t w = g->page_bytes / g->ecc_word_bytes;

	return ecc_words == NAND_WHOLE_PAGE || (w < 32 && ecc_words == (1u << w) - 1);
}

uint32_t naive_words(const struct nand_geometry *g, uint32_t ecc_words)
{
	uint32_t n = 0;

	if (whole_mask(g, ecc_words))
		return g->page_bytes / g->ecc_word_bytes;
	for (uint32_t i = 0; i < 32; i++)
		n += ecc_words >> i & 1;
	return n;
}

void naive_pb_range(const struct nand_geometry *g, uint32_t pb, uint32_t *from, uint32_t *to)
{
	uint32_t level = 0, pages;

	while (pb >> (level + 1))
		level++;
	pages = g->pages_per_block >> level;
	*from = (pb - (1u << level)) * pages;
	*to = *from + pages;
}

static bool address_exists(const struct naive *n, const struct nand_cmd *c)
{
	uint64_t pages = geo_pages(&n->c.geo);

	if ((unsigned int)c->op >= NAND_NOPS || c->ppn.v >= pages)
		return false;
	if (c->op == NAND_ERASE)
		return c->ppn.v % n->c.geo.pages_per_block == 0;
	if (c->op != NAND_READ && c->slc && !n->c.timing.slc_program_ns)
		return false;
	if (c->op != NAND_READ && c->slc &&
	    c->ppn.v % n->c.geo.pages_per_block >= n->c.geo.pages_per_block / n->c.geo.bits_per_cell)
		return false;
	return c->op != NAND_COPYBACK || c->from.v < pages;
}

static uint32_t plane_of(const struct naive *n, ppn_t p)
{
	return geo_plane_of(&n->c.geo, geo_block_of(&n->c.geo, p));
}

static uint32_t die_of(const struct naive *n, ppn_t p)
{
	return geo_die_of(&n->c.geo, geo_block_of(&n->c.geo, p));
}

/* ---- the group ---------------------------------------------------------- */

static bool r5(const struct naive *n, const struct nand_cmd *c, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		uint32_t same_plane = 0;

		for (unsigned int k = 0; k < count; k++) {
			if (c[i].op != NAND_ERASE || c[k].op != NAND_ERASE)
				continue;
			if (i != k && c[i].ppn.v == c[k].ppn.v)
				return false;
			same_plane += plane_of(n, c[i].ppn) == plane_of(n, c[k].ppn);
		}
		if (same_plane > n->c.geo.erase_group_max)
			return false;
	}
	return true;
}

static bool r6(const struct naive *n, const struct nand_cmd *c, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		if (c[i].op != c[0].op || die_of(n, c[i].ppn) != die_of(n, c[0].ppn))
			return false;
		if ((c[0].op == NAND_PROGRAM || c[0].op == NAND_COPYBACK) && c[i].slc != c[0].slc)
			return false;
		/* planes may repeat in a parallel erase (R5) and on one-shot word lines (R11) */
		if (c[i].op == NAND_ERASE || (c[i].op == NAND_PROGRAM && n->c.geo.one_shot))
			continue;
		for (unsigned int k = 0; k < i; k++)
			if (plane_of(n, c[i].ppn) == plane_of(n, c[k].ppn))
				return false;
	}
	return true;
}

static bool r11(const struct naive *n, const struct nand_cmd *c, unsigned int count)
{
	uint32_t bits = n->c.geo.bits_per_cell;

	if (!n->c.geo.one_shot || c[0].op != NAND_PROGRAM)
		return true;
	if (count % bits)
		return false;
	for (unsigned int i = 0; i < count; i++) {
		unsigned int first = i - i % bits;

		/* pages_per_block is a multiple of bits, and so is the first ppn of a word line */
		if (c[first].ppn.v % bits || c[i].ppn.v != c[first].ppn.v + i % bits)
			return false;
		for (unsigned int k = 0; k < first; k++)
			if (plane_of(n, c[k].ppn) == plane_of(n, c[i].ppn))
				return false;
	}
	return true;
}

/*
 * If several rules are broken, nand.h does not say which one is named within one step of its order.
 */
static uint32_t broken_group(const struct naive *n, const struct nand_cmd *c, unsigned int count)
{
	uint32_t broken = 0;

	if (!r5(n, c, count))
		broken |= BIT(NAND_R5);
	if (!r6(n, c, count))
		broken |= BIT(NAND_R6);
	if (r11(n, c, count))
		return broken;
	broken |= BIT(NAND_R11);
	for (unsigned int i = 0; i < count; i++)	/* a plane that is named twice breaks R6 as well */
		for (unsigned int k = 0; k < i; k++)
			if (plane_of(n, c[i].ppn) == plane_of(n, c[k].ppn))
				broken |= BIT(NAND_R6);
	return broken;
}

/* ---- R8 ----------------------------------------------------------------- */

static bool works_on(const struct naive *n, const struct naive_flight *f, ppn_t p)
{
	const struct nand_geometry *g = &n->c.geo;

	for (unsigned int i = 0; i < f->count; i++) {
		if (f->op == NAND_ERASE) {
			if (p.v / g->pages_per_block == f->ppn[i].v / g->pages_per_block)
				return true;
		} else if (p.v / g->pages_per_block == f->ppn[i].v / g->pages_per_block &&
			   naive_line(g, naive_slc(n, p), p) == naive_line(g, naive_slc(n, p), f->ppn[i])) {
			return true;
		}
	}
	return false;
}

uint64_t naive_reads_end_ns(const struct naive_die *d)
{
	uint64_t last = 0;

	for (unsigned int i = 0; i < NAND_PLANES_MAX; i++)
		if (d->read_end_ns[i] > last)
			last = d->read_end_ns[i];
	return last;
}

bool naive_interposes(const struct naive *n, uint64_t now_ns, const struct nand_cmd *c, unsigned int count)
{
	const struct naive_die *d = &n->die[die_of(n, c[0].ppn)];
	const struct naive_flight *f = &d->flight;
	bool reads = now_ns < naive_reads_end_ns(d), changes = f->count && now_ns < f->end_ns;

	if (c[0].op != NAND_READ || (reads && !n->c.timing.plane_reads))
		return false;
	for (unsigned int i = 0; i < count; i++)
		if (now_ns < d->read_end_ns[plane_of(n, c[i].ppn) % n->c.geo.planes_per_die])
			return false;
	if (!changes)
		return reads;
	if (!n->c.timing.suspend_ns || now_ns < f->cell_start_ns || f->suspends >= n->c.timing.suspends_max)
		return false;
	for (unsigned int i = 0; i < count; i++)
		if (works_on(n, f, c[i].ppn))
			return false;
	return true;
}

/* ---- each command for itself -------------------------------------------- */

static bool is_held(const struct naive *n, uint32_t first_ppn, uint32_t line, uint32_t type)
{
	return n->page[first_ppn + line * n->c.geo.bits_per_cell + type].state != NAIVE_BLANK;
}

static bool r2_ascending(const struct naive *n, ppn_t p)
{
	const struct nand_geometry *g = &n->c.geo;
	uint32_t pages = g->pages_per_block >> g->pb_levels;
	uint32_t end = p.v - p.v % pages + pages;	/* PBs divide blocks, so flat ppn can be used */

	for (uint32_t q = p.v; q < end; q++)
		if (n->page[q].state != NAIVE_BLANK)
			return false;
	return true;
}

static bool is_blank(const struct naive *n, uint32_t first_ppn)
{
	for (uint32_t i = 0; i < n->c.geo.pages_per_block; i++)
		if (n->page[first_ppn + i].state != NAIVE_BLANK)
			return false;
	return true;
}

/* In SLC mode each page has a word line of its own, so only C1 of the order by word lines applies. */
static bool r2_slc(const struct naive *n, ppn_t p)
{
	const struct nand_geometry *g = &n->c.geo;

	if (g->order == NAND_ORDER_NONE)
		return true;
	if (g->order == NAND_ORDER_ASCENDING)
		return r2_ascending(n, p);
	return r2_ascending(n, p) &&
	       (p.v % g->pages_per_block == 0 || n->page[p.v - 1].state != NAIVE_BLANK);
}

static bool r2(const struct naive *n, ppn_t p, bool slc)
{
	const struct nand_geometry *g = &n->c.geo;
	uint32_t page = p.v % g->pages_per_block, first = p.v - page;
	uint32_t k = page / g->bits_per_cell, t = page % g->bits_per_cell;
	uint32_t lines = g->pages_per_block / g->bits_per_cell;

	if (naive_slc(n, p) != slc && !is_blank(n, first))	/* one mode for all */
		return false;
	if (slc)
		return r2_slc(n, p);
	if (g->order == NAND_ORDER_NONE)
		return true;
	if (g->order == NAND_ORDER_ASCENDING)
		return r2_ascending(n, p);
	if (k > 0 && !is_held(n, first, k - 1, t))	/* C1, C2 */
		return false;
	if (t > 0 && !is_held(n, first, k + 1 < lines ? k + 1 : k, t - 1))	/* C3 */
		return false;
	if (g->order == NAND_ORDER_FPS && k >= 2 && t + 1 < g->bits_per_cell)	/* C4 */
		return is_held(n, first, k - 2, t + 1);
	return true;
}

static uint32_t broken_program(const struct naive *n, const struct nand_cmd *c)
{
	uint32_t broken = 0;

	if (n->page[c->ppn.v].state != NAIVE_BLANK)
		broken |= BIT(NAND_R1);
	if (!r2(n, c->ppn, c->slc))
		broken |= BIT(NAND_R2);
	if (n->block[c->ppn.v / n->c.geo.pages_per_block].bad)
		broken |= BIT(NAND_R3);
	if (n->page[c->ppn.v].must_erase)
		broken |= BIT(NAND_R9);
	if (c->op != NAND_COPYBACK)
		return broken;
	if (!n->c.geo.copyback || plane_of(n, c->ppn) != plane_of(n, c->from) ||
	    n->page[c->from.v].state == NAIVE_BLANK)
		broken |= BIT(NAND_R10);
	return broken;
}

static uint32_t broken_read(const struct naive *n, const struct nand_cmd *c)
{
	const struct nand_geometry *g = &n->c.geo;
	uint32_t w = g->page_bytes / g->ecc_word_bytes;

	if (whole_mask(g, c->ecc_words) || c->ecc_words == NAND_OOB_ONLY)
		return 0;
	if (g->subpage == NAND_SUBPAGE_NONE || (w < 32 && c->ecc_words >> w))
		return BIT(NAND_R7);
	return 0;
}

uint32_t naive_broken_alone(const struct naive *n, const struct nand_cmd *c)
{
	uint32_t broken = 0;

	if (c->op == NAND_READ)
		return broken_read(n, c);
	if (c->op != NAND_ERASE)
		return broken_program(n, c);
	if (n->block[c->ppn.v / n->c.geo.pages_per_block].bad)
		broken |= BIT(NAND_R3);
	if (c->pb < 1 || c->pb >= 2u << n->c.geo.pb_levels)
		broken |= BIT(NAND_R4);
	return broken;
}

uint32_t naive_broken(const struct naive *n, uint64_t now_ns, const struct nand_cmd *c,
		      unsigned int count)
{
	uint32_t broken;

	if (!n->powered)
		return BIT(NAND_R8);
	for (unsigned int i = 0; i < count; i++)
		if (!address_exists(n, &c[i]))
			return BIT(NAND_R0);
	broken = broken_group(n, c, count);
	if (broken)
		return broken;
	if (n->die[die_of(n, c[0].ppn)].ready_ns > now_ns && !naive_interposes(n, now_ns, c, count))
		return BIT(NAND_R8);
	for (unsigned int i = 0; i < count; i++) {
		broken = naive_broken_alone(n, &c[i]);
		if (broken)
			return broken;
	}
	return 0;
}
