// SPDX-License-Identifier: GPL-2.0-or-later
/* naive.c - see naive.h: cells, their effects, statistics. */
#include "naive.h"

#include <stdlib.h>

void naive_make(struct naive *n, const struct nand_array_config *c, struct nand *array)
{
	uint64_t pages = geo_pages(&c->geo);

	memset(n, 0, sizeof(*n));
	n->c = *c;
	n->array = array;
	n->powered = true;
	n->page = calloc(pages, sizeof(*n->page));
	n->block = calloc(geo_blocks(&c->geo), sizeof(*n->block));
	n->die = calloc(geo_dies(&c->geo), sizeof(*n->die));
	n->channel = calloc(c->geo.channels, sizeof(*n->channel));
	n->data = calloc(pages, c->geo.page_bytes);
	n->oob = calloc(pages, c->geo.oob_kept + 1);
	for (uint64_t i = 0; i < pages; i++)
		n->page[i].erased_to = c->geo.pages_per_block;
	for (uint64_t i = 0; i < geo_blocks(&c->geo); i++)
		n->block[i].erase_fail = n->block[i].program_fail = UINT32_MAX;
}

static void forget_saved(struct naive_flight *f)
{
	for (unsigned int i = 0; i < f->saved_count; i++)
		free(f->saved[i].page);		/* a single allocation, see save() */
	memset(f, 0, sizeof(*f));
}

void naive_free(struct naive *n)
{
	for (uint32_t i = 0; i < geo_dies(&n->c.geo); i++)
		forget_saved(&n->die[i].flight);
	for (uint32_t i = 0; i < n->c.geo.channels; i++)
		free(n->channel[i].book);
	free(n->page);
	free(n->block);
	free(n->die);
	free(n->channel);
	free(n->data);
	free(n->oob);
}

static uint32_t pages_of_smallest_pb(const struct naive *n)
{
	return n->c.geo.pages_per_block >> n->c.geo.pb_levels;
}

static uint8_t *data_of(const struct naive *n, uint32_t ppn)
{
	return n->data + (size_t)ppn * n->c.geo.page_bytes;
}

static uint8_t *oob_of(const struct naive *n, uint32_t ppn)
{
	return n->oob + (size_t)ppn * n->c.geo.oob_kept;
}

/* ---- what the array shows ------------------------------------------------ */

static enum naive_state shown_state(const struct naive *n, uint32_t ppn)
{
	enum nand_status st = n->array->ops->peek(n->array, (ppn_t){ ppn }, NULL, NULL);

	return st == NAND_ERASED ? NAIVE_BLANK : st == NAND_UNCORR ? NAIVE_LOST : NAIVE_HELD;
}

/* nand.h allows several states for this page (a bitmap): adopt the one that the array chose. */
static void adopt_state(struct naive *n, uint32_t ppn, uint32_t allowed, const char *what)
{
	enum naive_state s = shown_state(n, ppn);

	if (allowed >> s & 1)
		n->page[ppn].state = s;
	else
		naive_differ(n, "page %u after a %s: state %d (0 blank, 1 held, 2 lost) is not allowed",
			     ppn, what, (int)s);
}

static const struct naive_saved *saved_of(const struct naive_flight *f, uint32_t block)
{
	for (unsigned int i = 0; i < f->saved_count; i++)
		if (f->saved[i].block == block)
			return &f->saved[i];
	return NULL;
}

/*
 * Returns the page before the command in flight on its die; NULL if that does not touch its block.
 */
static const struct naive_page *saved_page(const struct naive *n, uint32_t ppn)
{
	const struct nand_geometry *g = &n->c.geo;
	uint32_t block = ppn / g->pages_per_block;
	const struct naive_saved *s = saved_of(&n->die[geo_die_of(g, (pbn_t){ block })].flight, block);

	return s ? &s->page[ppn % g->pages_per_block] : NULL;
}

/*
 * The effects of an erase and of a disturbance appear when the die is next used. Has it not been
 * used so far, and did the page look like s before? A refused call may count as a use (looked_at).
 */
static bool may_still_show(const struct naive *n, uint32_t ppn, enum naive_state s)
{
	const struct naive_page *before = saved_page(n, ppn);
	enum naive_state now = n->page[ppn].state;
	const struct naive_flight *f;

	if (!before || before->state != s)
		return false;
	f = &n->die[geo_die_of(&n->c.geo, geo_block_of(&n->c.geo, (ppn_t){ ppn }))].flight;
	for (unsigned int i = 0; f->op != NAND_ERASE && i < f->count; i++)
		if (f->ppn[i].v == ppn)
			return false;
	return f->op == NAND_ERASE ? now == NAIVE_BLANK : now == NAIVE_LOST;
}

static bool ends_later(const struct naive *n, uint32_t ppn)
{
	const struct naive_page *before = saved_page(n, ppn);

	if (!before || before->state == n->page[ppn].state || !may_still_show(n, ppn, before->state))
		return false;
	return !n->die[geo_die_of(&n->c.geo, geo_block_of(&n->c.geo, (ppn_t){ ppn }))].flight.looked_at;
}

void naive_refused(struct naive *n, uint64_t now_ns)
{
	for (uint32_t i = 0; i < geo_dies(&n->c.geo); i++)
		n->die[i].flight.looked_at |= n->die[i].flight.end_ns <= now_ns;
}

void naive_slack(const struct naive *n, uint64_t *programmed_pages, uint64_t *disturbs,
		 uint64_t *disturb_lost)
{
	*programmed_pages = *disturbs = *disturb_lost = 0;
	for (uint32_t i = 0; i < geo_dies(&n->c.geo); i++) {
		const struct naive_flight *f = &n->die[i].flight;

		*disturbs += f->disturbs;
		*disturb_lost += f->disturb_lost;
		for (unsigned int k = 0; f->op == NAND_ERASE && k < f->saved_count; k++)
			for (uint32_t p = 0; p < n->c.geo.pages_per_block; p++) {
				uint32_t ppn = f->saved[k].block * n->c.geo.pages_per_block + p;

				*programmed_pages += n->page[ppn].state == NAIVE_BLANK &&
						     f->saved[k].page[p].state != NAIVE_BLANK;
			}
	}
}

void naive_check_page(struct naive *n, ppn_t p)
{
	const struct nand_geometry *g = &n->c.geo;
	const void *data = NULL, *oob = NULL;
	struct naive_page *page = &n->page[p.v];
	enum nand_status st = n->array->ops->peek(n->array, p, &data, &oob);
	static const char *const name[] = { "blank", "held", "lost" };
	enum naive_state s = st == NAND_ERASED ? NAIVE_BLANK : st == NAND_UNCORR ? NAIVE_LOST : NAIVE_HELD;

	if (s == page->state && ends_later(n, p.v))
		naive_differ(n, "page %u is %s before the command that makes it so has ended", p.v, name[s]);
	if (s != page->state && !may_still_show(n, p.v, s)) {
		naive_differ(n, "page %u (block %u page %u) is %s, expected %s", p.v,
			     p.v / g->pages_per_block, p.v % g->pages_per_block, name[s],
			     name[page->state]);
		return;
	}
	if (s != NAIVE_HELD || (s != page->state && saved_page(n, p.v)->any_oob))
		return;
	if (page->any_oob && oob) {
		memcpy(oob_of(n, p.v), oob, g->oob_kept);
		page->any_oob = false;
	}
	if (!oob || memcmp(oob, oob_of(n, p.v), g->oob_kept))
		naive_differ(n, "page %u: other OOB bytes", p.v);
	if (n->c.payload && (!data || memcmp(data, data_of(n, p.v), g->page_bytes)))
		naive_differ(n, "page %u: %s", p.v, data ? "other content" : "no content");
	if (!n->c.payload && data)
		naive_differ(n, "page %u: content without payload", p.v);
}

/* ---- a block before a command -------------------------------------------- */

static void save(struct naive *n, struct naive_flight *f, uint32_t block)
{
	const struct nand_geometry *g = &n->c.geo;
	struct naive_saved *s = &f->saved[f->saved_count];
	size_t pages = g->pages_per_block;
	uint32_t first = block * g->pages_per_block;

	for (unsigned int i = 0; i < f->saved_count; i++)
		if (f->saved[i].block == block)
			return;
	s->block = block;
	s->erase_commands = n->block[block].erase_commands;
	s->slc = n->block[block].slc;
	s->page = malloc(pages * (sizeof(*s->page) + g->page_bytes + g->oob_kept));
	s->data = (uint8_t *)(s->page + pages);
	s->oob = s->data + pages * g->page_bytes;
	memcpy(s->page, &n->page[first], pages * sizeof(*s->page));
	memcpy(s->data, data_of(n, first), pages * g->page_bytes);
	memcpy(s->oob, oob_of(n, first), pages * g->oob_kept);
	f->saved_count++;
}

static void restore(struct naive *n, const struct naive_flight *f)
{
	const struct nand_geometry *g = &n->c.geo;
	size_t pages = g->pages_per_block;

	for (unsigned int i = 0; i < f->saved_count; i++) {
		const struct naive_saved *s = &f->saved[i];
		uint32_t first = s->block * g->pages_per_block;

		n->block[s->block].erase_commands = s->erase_commands;
		n->block[s->block].slc = s->slc;
		memcpy(&n->page[first], s->page, pages * sizeof(*s->page));
		memcpy(data_of(n, first), s->data, pages * g->page_bytes);
		memcpy(oob_of(n, first), s->oob, pages * g->oob_kept);
	}
}

/* ---- disturbance --------------------------------------------------------- */

static void disturb(struct naive *n, struct naive_flight *f, uint32_t first)
{
	uint32_t tolerance = n->c.physics.disturb_tolerance, pages = pages_of_smallest_pb(n);
	struct naive_page *page = &n->page[first];

	n->stats.disturbs++;
	f->disturbs++;
	for (uint32_t i = 0; i < pages; i++) {
		page[i].disturbs++;
		if (page[i].disturbs <= tolerance || page[i].state != NAIVE_HELD)
			continue;
		page[i].state = NAIVE_LOST;
		n->stats.disturb_lost++;
		f->disturb_lost++;
	}
}

/*
 * Page ppn was programmed: if it is the first page of its smallest PB and next to an edge, disturb
 * the neighbour.
 */
static void disturb_neighbours(struct naive *n, struct naive_flight *f, uint32_t ppn)
{
	uint32_t per_block = n->c.geo.pages_per_block, pages = pages_of_smallest_pb(n);
	uint32_t at = ppn % per_block, first = at - at % pages, block = ppn - at;
	uint32_t from = n->page[ppn].erased_from, to = n->page[ppn].erased_to;

	if (n->c.physics.disturb_tolerance == 255)
		return;
	for (uint32_t i = 0; i < pages; i++)
		if (first + i != at && n->page[block + first + i].state != NAIVE_BLANK)
			return;
	if (first == from && from > 0)
		disturb(n, f, block + from - pages);
	if (first + pages == to && to < per_block)
		disturb(n, f, block + to);
}

/* ---- commands ------------------------------------------------------------ */

/*
 * Returns status, raw errors and retries of a page that holds data; the array's (hint) are accepted
 * if the physics allow them.
 */
static enum nand_status sense(struct naive *n, struct nand_cmd *c, const struct nand_cmd *hint)
{
	const struct nand_physics *ph = &n->c.physics;
	struct naive_page *page = &n->page[c->ppn.v];
	uint32_t raw = hint->raw_bits, retries = hint->retries;
	uint32_t w = n->c.geo.page_bytes / n->c.geo.ecc_word_bytes;
	bool whole = naive_words(&n->c.geo, c->ecc_words) == w;

	if (!ph->rber_on)
		return NAND_OK;
	c->raw_bits = raw;
	c->retries = retries;
	if (retries > ph->retries_max || (raw <= ph->ecc_bits && retries))
		naive_differ(n, "page %u: %u retries for %u raw errors", c->ppn.v, retries, raw);
	if (raw > ph->ecc_bits && !retries && ph->retries_max)
		naive_differ(n, "page %u: no retry for %u raw errors", c->ppn.v, raw);
	if (whole && raw < page->raw_min)
		naive_differ(n, "page %u: %u raw errors, there were %u", c->ppn.v, raw, page->raw_min);
	if (whole && n->ageless && page->raw_seen && raw != page->raw_min)
		naive_differ(n, "page %u: %u raw errors, at the same age %u", c->ppn.v, raw,
			     page->raw_min);
	if (raw > page->raw_min)
		page->raw_min = raw;
	page->raw_seen |= whole;
	if (raw > ph->ecc_bits && retries == ph->retries_max && hint->status == NAND_UNCORR)
		return NAND_UNCORR;
	return raw > ph->relocate_bits ? NAND_CORRECTED : NAND_OK;
}

static void do_read(struct naive *n, struct nand_cmd *c, const struct nand_cmd *hint,
		    enum nand_status fault)
{
	const struct nand_geometry *g = &n->c.geo;
	uint32_t words = naive_words(g, c->ecc_words), w = g->page_bytes / g->ecc_word_bytes;
	struct naive_page *page = &n->page[c->ppn.v];
	/* a program suspended for this read disturbs the page at its end, not yet */
	bool held = page->state == NAIVE_HELD || may_still_show(n, c->ppn.v, NAIVE_HELD);

	c->raw_bits = c->retries = 0;
	c->page = NULL;
	if (page->state == NAIVE_BLANK) {
		/* a failed read of a blank page: nand.h allows both results */
		c->status = fault == NAND_UNCORR && hint->status == NAND_UNCORR ? NAND_UNCORR : NAND_ERASED;
	} else if (!held) {
		c->status = NAND_UNCORR;
	} else {
		c->status = sense(n, c, hint);
		if (fault == NAND_UNCORR || (fault == NAND_CORRECTED && c->status == NAND_OK))
			c->status = fault;
	}
	if (!held && n->c.physics.rber_on) {
		c->retries = hint->retries <= n->c.physics.retries_max ? hint->retries : 0;
		c->raw_bits = hint->raw_bits;
	}
	n->stats.subpage_reads += words >= 1 && words < w;
	n->stats.read_bytes += naive_bytes(&n->c, c);
	n->stats.user_read_bytes[c->source] += words * (uint64_t)n->c.geo.ecc_word_bytes;
	n->stats.uncorrectable += c->status == NAND_UNCORR;
	n->stats.corrected += c->status == NAND_CORRECTED;
	n->stats.retries += c->retries;
	if (c->status != NAND_OK && c->status != NAND_CORRECTED)
		return;
	if (c->oob)
		memcpy(c->oob, oob_of(n, c->ppn.v), g->oob_kept);
	if (n->c.payload)
		c->page = data_of(n, c->ppn.v);
}

/*
 * Accept the array's decision that a block is worn out, if it is consistent: above an erase count at which one command
 * failed, none may succeed.
 */
static enum nand_status worn(struct naive *n, uint32_t count, const struct nand_cmd *hint,
			     enum nand_status fail, uint32_t *good, uint32_t *bad)
{
	if (!n->c.physics.endurance)
		return NAND_OK;
	if (hint->status == fail) {
		if (count < *bad)
			*bad = count;
	} else if (count > *good) {
		*good = count;
	}
	if (*good >= *bad)
		naive_differ(n, "wear: %u erases were well, %u too many", *good, *bad);
	return hint->status == fail ? fail : NAND_OK;
}

static void fill_page(struct naive *n, const struct nand_cmd *c)
{
	const struct nand_geometry *g = &n->c.geo;
	struct naive_page *page = &n->page[c->ppn.v];

	page->state = NAIVE_HELD;
	page->raw_min = 0;
	page->raw_seen = page->any_oob = false;
	if (c->op == NAND_COPYBACK) {
		memcpy(data_of(n, c->ppn.v), data_of(n, c->from.v), g->page_bytes);
		memcpy(oob_of(n, c->ppn.v), oob_of(n, c->from.v), g->oob_kept);
		page->state = n->page[c->from.v].state;
		page->any_oob = n->page[c->from.v].any_oob;
		/* errors move with the copy; the inherited count is one byte */
		page->raw_min = n->page[c->from.v].raw_min < 255 ? n->page[c->from.v].raw_min : 255;
	} else if (c->data) {
		memcpy(data_of(n, c->ppn.v), c->data, g->page_bytes);
	} else {
		memset(data_of(n, c->ppn.v), 0, g->page_bytes);
	}
	if (c->oob) {
		memcpy(oob_of(n, c->ppn.v), c->oob, g->oob_kept);
		page->any_oob = false;
	} else if (c->op == NAND_PROGRAM) {
		page->any_oob = true;
	}
}

static void do_program(struct naive *n, struct naive_flight *f, struct nand_cmd *c,
		       const struct nand_cmd *hint, enum nand_status fault)
{
	const struct nand_geometry *g = &n->c.geo;
	struct naive_block *b = &n->block[c->ppn.v / g->pages_per_block];
	uint32_t type = naive_type(g, c->slc, c->ppn);

	save(n, f, c->ppn.v / g->pages_per_block);
	b->slc = c->slc;
	fill_page(n, c);	/* first, because a copyback reads before it disturbs */
	disturb_neighbours(n, f, c->ppn.v);
	c->status = fault;
	if (c->status == NAND_OK)
		c->status = worn(n, n->page[c->ppn.v].erases, hint, NAND_PROG_FAIL,
				 &b->program_good, &b->program_fail);
	if (c->status == NAND_PROG_FAIL) {
		adopt_state(n, c->ppn.v, 1u << NAIVE_LOST | 1u << n->page[c->ppn.v].state, "failed program");
		n->stats.program_fails++;
	}
	if (!g->one_shot)
		n->stats.lower_reads += type;
	c->page = NULL;
}

static void erase_pages(struct naive *n, uint32_t first, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++) {
		struct naive_page *page = &n->page[first + i];

		page->state = NAIVE_BLANK;
		page->erases++;
		page->disturbs = 0;
		page->erased_from = from;
		page->erased_to = to;
		page->must_erase = page->raw_seen = page->any_oob = false;
		page->raw_min = 0;
	}
}

/*
 * An erase that failed: each page has old data, lost data or is blank, as in the array. It does not
 * count as an erase and removes no disturbance.
 */
static void half_erase(struct naive *n, const struct naive_saved *s, ppn_t first, uint32_t pb,
		       const char *what)
{
	const struct nand_geometry *g = &n->c.geo;
	uint32_t from, to;

	n->block[s->block].slc = s->slc;
	naive_pb_range(g, pb, &from, &to);
	for (uint32_t i = from; i < to; i++) {
		struct naive_page *page = &n->page[first.v + i];

		adopt_state(n, first.v + i, 1u << NAIVE_BLANK | 1u << NAIVE_LOST | 1u << s->page[i].state,
			    what);
		page->must_erase = true;
		page->erases = s->page[i].erases;
		page->disturbs = s->page[i].disturbs;
		if (page->state != NAIVE_HELD)
			continue;
		page->any_oob = s->page[i].any_oob;
		memcpy(data_of(n, first.v + i), s->data + (size_t)i * g->page_bytes, g->page_bytes);
		memcpy(oob_of(n, first.v + i), s->oob + (size_t)i * g->oob_kept, g->oob_kept);
	}
}

static void do_erase(struct naive *n, struct naive_flight *f, struct nand_cmd *c,
		     const struct nand_cmd *hint, enum nand_status fault)
{
	const struct nand_geometry *g = &n->c.geo;
	uint32_t block = c->ppn.v / g->pages_per_block, from, to, most = 0;
	struct naive_block *b = &n->block[block];

	save(n, f, block);
	naive_pb_range(g, c->pb, &from, &to);
	erase_pages(n, c->ppn.v, from, to);
	for (uint32_t i = from; i < to; i++)
		if (n->page[c->ppn.v + i].erases > most)
			most = n->page[c->ppn.v + i].erases;
	b->erase_commands++;
	b->slc = false;
	c->status = fault;
	if (c->status == NAND_OK)
		c->status = worn(n, most, hint, NAND_ERASE_FAIL, &b->erase_good, &b->erase_fail);
	if (c->status == NAND_ERASE_FAIL) {
		half_erase(n, saved_of(f, block), c->ppn, c->pb, "failed erase");
		n->stats.erase_fails++;
	}
	n->stats.partial_erases += c->pb != NAND_WHOLE_BLOCK;
	c->page = NULL;
}

static uint64_t energy_nj(const struct naive *n, const struct nand_cmd *c)
{
	const struct nand_energy *e = &n->c.energy;
	const struct nand_geometry *g = &n->c.geo;
	uint32_t level = 0;
	uint64_t nj = naive_bytes(&n->c, c) * e->bus_pj_per_byte / 1000;
	uint32_t program = e->program_nj[naive_type(g, naive_slc(n, c->ppn), c->ppn)];	/* also with one_shot */

	switch (c->op) {
	case NAND_READ:
		return nj + (1 + c->retries) * (uint64_t)e->read_nj[naive_type(g, naive_slc(n, c->ppn), c->ppn)];
	case NAND_PROGRAM:
		return nj + program;
	case NAND_COPYBACK:
		return nj + e->read_nj[naive_type(g, naive_slc(n, c->from), c->from)] + program;
	default:
		while (c->pb >> (level + 1))
			level++;
		return nj + e->erase_nj[level];
	}
}

/* ---- a call -------------------------------------------------------------- */

static void count_parallel_erases(struct naive *n, const struct nand_cmd *c, unsigned int count)
{
	const struct nand_geometry *g = &n->c.geo;

	for (unsigned int i = 0; i < count; i++)
		for (unsigned int k = 0; k < i; k++)
			if (geo_plane_of(g, geo_block_of(g, c[k].ppn)) ==
			    geo_plane_of(g, geo_block_of(g, c[i].ppn))) {
				n->stats.parallel_erases++;
				break;
			}
}

static void start(struct naive *n, uint64_t now_ns, struct naive_die *d, struct nand_cmd *c,
		  unsigned int count)
{
	struct naive_flight *f = &d->flight;

	d->ready_ns = naive_time(n, now_ns, 0, c, count, &f->cell_start_ns);
	d->busy_ns[c[0].source] += d->ready_ns - now_ns;
	n->stats.die_busy_ns[c[0].source] += d->ready_ns - now_ns;
	for (unsigned int i = 0; i < count; i++)
		c[i].resumed_done_ns = 0;
	if (c[0].op == NAND_READ) {
		naive_note_reads(n, d, c, count);
		return;
	}
	f->op = c[0].op;
	f->count = count;
	f->end_ns = d->ready_ns;
	for (unsigned int i = 0; i < count; i++) {
		f->ppn[i] = c[i].ppn;
		f->pb[i] = c[i].pb;
		f->failed[i] = c[i].status != NAND_OK;
	}
}

void naive_submit(struct naive *n, uint64_t now_ns, struct nand_cmd *c, const struct nand_cmd *hint,
		  const enum nand_status *fault, unsigned int count)
{
	struct naive_die *d = &n->die[geo_die_of(&n->c.geo, geo_block_of(&n->c.geo, c[0].ppn))];
	bool busy = d->ready_ns > now_ns;

	if (!busy)
		forget_saved(&d->flight);
	for (unsigned int i = 0; i < count; i++) {
		if (c[i].op == NAND_READ)
			do_read(n, &c[i], &hint[i], fault[i]);
		else if (c[i].op == NAND_ERASE)
			do_erase(n, &d->flight, &c[i], &hint[i], fault[i]);
		else
			do_program(n, &d->flight, &c[i], &hint[i], fault[i]);
		n->stats.ops[c[i].op][c[i].source]++;
		n->stats.energy_nj[c[i].op][c[i].source] += energy_nj(n, &c[i]);
	}
	if (c[0].op == NAND_ERASE)
		count_parallel_erases(n, c, count);
	if (busy && d->flight.count)
		naive_suspend(n, now_ns, d, c, count);
	else if (busy)
		naive_read_beside(n, now_ns, d, c, count);
	else
		start(n, now_ns, d, c, count);
	n->commands += count;
}

/* ---- statistics ---------------------------------------------------------- */

uint32_t naive_erase_count(const struct naive *n, uint32_t block)
{
	uint32_t pages = n->c.geo.pages_per_block, most = 0;

	for (uint32_t i = 0; i < pages; i++)
		if (n->page[block * pages + i].erases > most)
			most = n->page[block * pages + i].erases;
	return most;
}

void naive_reset_stats(struct naive *n)
{
	memset(&n->stats, 0, sizeof(n->stats));
	for (uint32_t i = 0; i < geo_dies(&n->c.geo); i++)
		memset(n->die[i].busy_ns, 0, sizeof(n->die[i].busy_ns));
	for (uint32_t i = 0; i < n->c.geo.channels; i++)
		memset(n->channel[i].busy_ns, 0, sizeof(n->channel[i].busy_ns));
}

void naive_stats(const struct naive *n, struct nand_stats *out)
{
	*out = n->stats;
	for (uint64_t i = 0; i < geo_pages(&n->c.geo); i++) {
		const struct naive_page *page = &n->page[i];

		out->programmed_pages += page->state != NAIVE_BLANK;
		out->page_erases += page->erases;
		out->page_erases_sq += (uint64_t)page->erases * page->erases;
		if (page->erases > out->erase_count_max)
			out->erase_count_max = page->erases;
	}
	for (uint64_t i = 0; i < geo_blocks(&n->c.geo); i++)
		out->erase_count_sum += n->block[i].erase_commands;
}

/* ---- power --------------------------------------------------------------- */

/*
 * A torn upper page destroys the lower pages of its word line. If its own program survived the cut,
 * nand.h allows both results, and the array's is adopted.
 */
static void lose_pairs(struct naive *n, ppn_t p, bool either)
{
	uint32_t type = naive_type(&n->c.geo, naive_slc(n, p), p);

	for (uint32_t i = 1; n->c.geo.paired_loss && i <= type; i++) {
		struct naive_page *lower = &n->page[p.v - i];
		uint32_t allowed = 1u << NAIVE_LOST;

		if (lower->state != NAIVE_HELD)
			continue;
		if (either || n->page[p.v].state != NAIVE_LOST)
			allowed |= 1u << NAIVE_HELD;
		adopt_state(n, p.v - i, allowed, "torn upper page");
		n->stats.paired_lost += lower->state == NAIVE_LOST;
	}
}

static uint64_t tear(struct naive *n, struct naive_flight *f)
{
	uint64_t paired_either = 0;

	for (unsigned int i = 0; i < f->count; i++) {
		uint32_t ppn = f->ppn[i].v, type;
		bool lost = n->page[ppn].state == NAIVE_LOST;

		/*
		 * the program failed or copied lost data, so the page's state does not show whether
		 * the cut tore it
		 */
		f->either[i] = f->op != NAND_ERASE && lost;
		n->torn[f->op]++;
		if (f->op == NAND_ERASE) {
			const struct naive_saved *s = saved_of(f, ppn / n->c.geo.pages_per_block);

			half_erase(n, s, f->ppn[i], f->pb[i], "torn erase");
			n->block[s->block].erase_commands = s->erase_commands;
		} else {
			adopt_state(n, ppn, 1u << NAIVE_LOST | 1u << n->page[ppn].state, "torn program");
		}
		/* both pages of a pair were torn, and either may have destroyed the lower one */
		type = naive_type(&n->c.geo, naive_slc(n, f->ppn[i]), f->ppn[i]);
		for (uint32_t t = 1; f->op == NAND_PROGRAM && t <= type; t++)
			paired_either += n->c.geo.one_shot && n->page[ppn - t].state == NAIVE_LOST;
	}
	for (unsigned int i = 0; f->op != NAND_ERASE && i < f->count; i++)
		lose_pairs(n, f->ppn[i], f->either[i]);
	return paired_either;
}

/* nand.h leaves this counter open after a cut: adopt the array's if it is in range. */
static void adopt_counter(struct naive *n, uint64_t *counter, uint64_t shown, uint64_t low,
			  uint64_t high, const char *name)
{
	if (shown < low || shown > high)
		naive_differ(n, "%s after a cut: %llu, allowed %llu .. %llu", name,
			     (unsigned long long)shown, (unsigned long long)low,
			     (unsigned long long)high);
	*counter = shown;
}

/* fresh: a new array opened the image, so it may or may not have counted the flights */
static void cut(struct naive *n, uint64_t at_ns, bool fresh)
{
	uint64_t disturbs = 0, disturb_lost = 0, paired = 0;
	struct nand_stats *st = &n->stats, shown;

	for (uint32_t i = 0; i < geo_dies(&n->c.geo); i++) {
		struct naive_flight *f = &n->die[i].flight;

		if (f->count && f->end_ns > at_ns) {
			if (at_ns <= f->cell_start_ns) {
				n->undone[f->op] += f->count;
				restore(n, f);
				disturbs += f->disturbs;
				disturb_lost += f->disturb_lost;
			} else {
				paired += tear(n, f);
			}
		}
		forget_saved(f);
		n->die[i].ready_ns = 0;
		memset(n->die[i].read_end_ns, 0, sizeof(n->die[i].read_end_ns));
	}
	n->powered = false;
	/* the array may have counted the disturbances of programs that left no trace */
	n->array->ops->get_stats(n->array, &shown);
	adopt_counter(n, &st->disturbs, shown.disturbs,
		      fresh ? 0 : st->disturbs - disturbs, st->disturbs, "disturbs");
	adopt_counter(n, &st->disturb_lost, shown.disturb_lost,
		      fresh ? 0 : st->disturb_lost - disturb_lost, st->disturb_lost, "disturb_lost");
	adopt_counter(n, &st->paired_lost, shown.paired_lost, fresh ? 0 : st->paired_lost,
		      st->paired_lost + paired, "paired_lost");
}

void naive_power_cut(struct naive *n, uint64_t at_ns)
{
	cut(n, at_ns, false);
}

void naive_power_on(struct naive *n)
{
	for (uint32_t i = 0; i < geo_dies(&n->c.geo); i++) {
		forget_saved(&n->die[i].flight);
		n->die[i].ready_ns = 0;
		memset(n->die[i].read_end_ns, 0, sizeof(n->die[i].read_end_ns));
	}
	for (uint32_t i = 0; i < n->c.geo.channels; i++)
		n->channel[i].count = 0;
	n->last_submit_ns = 0;
	n->powered = true;
}

/*
 * An erase of several blocks was interrupted. The array may have counted the erases of the first blocks
 * twice; its statistics show of how many. Count those again here.
 */
static void count_twice(struct naive *n, const struct naive_flight *f)
{
	uint32_t per_block = n->c.geo.pages_per_block, from, to;
	struct nand_stats shown, st;

	n->array->ops->get_stats(n->array, &shown);
	for (unsigned int i = 0; i < f->count; i++) {
		naive_stats(n, &st);
		if (st.erase_count_sum >= shown.erase_count_sum)
			return;
		n->block[f->ppn[i].v / per_block].erase_commands++;
		naive_pb_range(&n->c.geo, f->pb[i], &from, &to);
		for (uint32_t p = from; p < to && !f->failed[i]; p++)
			n->page[f->ppn[i].v + p].erases++;
	}
}

void naive_reinit(struct naive *n, uint32_t ending)
{
	struct naive_flight last = { 0 };
	uint64_t programmed, disturbs, disturb_lost;

	naive_slack(n, &programmed, &disturbs, &disturb_lost);
	naive_reset_stats(n);
	n->stats.disturbs = disturbs;
	n->stats.disturb_lost = disturb_lost;
	if (ending != UINT32_MAX && n->die[ending].flight.op == NAND_ERASE)
		last = n->die[ending].flight;
	cut(n, n->last_submit_ns, true);
	count_twice(n, &last);
	naive_power_on(n);
}
