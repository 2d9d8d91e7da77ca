// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * storm.c - see storm.h. Commands are made legal by the model, and then some of them are changed.
 * The model says which rule a changed command breaks.
 */
#include "storm.h"

#include <string.h>

#define POOL_BYTES (NAND_GROUP_MAX * 65536u)

static uint8_t pool[POOL_BYTES];	/* content for one call's programs */
static uint8_t pool_oob[NAND_GROUP_MAX][DUEL_OOB_MAX];

static uint8_t dice_byte(struct dice *d)
{
	uint8_t byte;

	if (!d->rng) {
		if (!d->left)
			return 0;
		d->left--;
		return *d->bytes++;
	}
	d->rng ^= d->rng >> 12;		/* xorshift64* (Vigna 2016) */
	d->rng ^= d->rng << 25;
	d->rng ^= d->rng >> 27;
	byte = (uint8_t)((d->rng * 0x2545f4914f6cdd1du) >> 56);
	if (d->record)
		fputc(byte, d->record);
	return byte;
}

uint32_t dice_draw(struct dice *d, uint32_t n)
{
	uint32_t v = dice_byte(d);

	if (n > 256)
		v = v << 8 | dice_byte(d);
	if (n > 65536)
		v = v << 8 | dice_byte(d);
	return v % n;
}

static uint32_t draw(struct storm *s, uint32_t n)
{
	return dice_draw(s->dice, n);
}

void storm_make(struct storm *s, const struct nand_array_config *c, struct dice *dice)
{
	duel_make(&s->duel, c);
	s->dice = dice;
	s->stamp = 0;
	s->bad_blocks = 0;
}

void storm_free(struct storm *s)
{
	duel_keep_sums(&s->duel);
	duel_free(&s->duel);
}

/* ---- time ------------------------------------------------------------------ */

/* Returns a time at which a command on some die begins, ends, or is under way. */
static uint64_t moment(struct storm *s)
{
	const struct naive *m = &s->duel.model;
	const struct naive_die *d = &m->die[draw(s, geo_dies(&m->c.geo))];
	const struct naive_flight *f = &d->flight;

	if (!f->count && m->c.timing.plane_reads)
		return d->read_end_ns[draw(s, m->c.geo.planes_per_die)] + draw(s, 2);
	if (!f->count)
		return d->ready_ns + draw(s, 2);
	switch (draw(s, 8)) {
	case 0: return f->cell_start_ns;
	case 1: return f->cell_start_ns + 1;
	case 2: return f->cell_start_ns / 2 + f->end_ns / 2;
	case 3: return f->end_ns - 1;
	case 4: return f->end_ns;
	case 5: return f->end_ns + 1;
	case 6: return naive_reads_end_ns(d);
	default: return f->cell_start_ns + draw(s, 60000);
	}
}

static void advance(struct storm *s, uint64_t to_ns)
{
	if (to_ns > s->duel.now_ns)
		s->duel.now_ns = to_ns;
}

static void pass_time(struct storm *s)
{
	struct duel *d = &s->duel;

	switch (draw(s, 10)) {
	case 0: case 1: case 2: case 3:
		return;
	case 4:
		d->now_ns++;
		return;
	case 5: case 6:
		advance(s, moment(s));
		return;
	case 7:
		d->now_ns += draw(s, 20000);
		duel_passed(d);
		return;
	case 8:
		advance(s, d->model.die[draw(s, geo_dies(&d->c.geo))].ready_ns);
		return;
	default:
		for (uint32_t i = 0; i < geo_dies(&d->c.geo); i++)
			advance(s, d->model.die[i].ready_ns + draw(s, 2));
	}
}

/* ---- legal commands -------------------------------------------------------- */

struct call {
	struct nand_cmd cmd[NAND_GROUP_MAX];
	enum nand_status fault[NAND_GROUP_MAX];
	unsigned int count;
	uint32_t die;
	enum nand_source source;
	bool slc;			/* programs are in SLC mode */
};

static struct nand_cmd *add(struct storm *s, struct call *k, enum nand_op op, uint32_t ppn)
{
	struct nand_cmd *c = &k->cmd[k->count];

	if (k->count == NAND_GROUP_MAX)
		return &k->cmd[NAND_GROUP_MAX - 1];
	if (draw(s, 8) == 0)
		k->source = (enum nand_source)draw(s, NAND_NSOURCES);
	*c = (struct nand_cmd){ .op = op, .source = (uint16_t)k->source, .ppn = { ppn },
				.ecc_words = NAND_WHOLE_PAGE, .pb = NAND_WHOLE_BLOCK };
	k->count++;
	return c;
}

/* Give each unit of a page one of the forms that content.c tells apart. */
static void give_forms(struct storm *s, uint8_t *data, uint32_t bytes)
{
	uint32_t unit = bytes & -bytes;	/* the array's units, which are below 4096 bytes here */

	for (uint32_t at = 0; at < bytes; at += unit) {
		uint64_t step = draw(s, 4) ? 0x9e3779b97f4a7c15u : 1, v = s->stamp * 3 + at / unit % 2;

		for (uint32_t k = 0; k < unit; k += 8, v += step)
			memcpy(data + at + k, &v, 8);
		if (draw(s, 4) == 0)
			memset(data + at, (int)s->stamp, unit);
		if (draw(s, 8) == 0)
			data[at + draw(s, unit)] ^= 1;
	}
}

/* Choose the content of a program: its own, one repeated byte, units of several forms, or none. */
static void give_content(struct storm *s, struct nand_cmd *c, unsigned int i)
{
	uint32_t bytes = s->duel.c.geo.page_bytes, what = draw(s, 16);
	uint8_t *data = pool + (size_t)i * bytes;

	c->data = c->oob = NULL;
	s->stamp++;
	if (what > 9)
		give_forms(s, data, bytes);
	else if (what > 4)
		for (uint32_t k = 0; k < bytes; k += 8) {
			uint64_t v = s->stamp * 0x9e3779b97f4a7c15u + k;

			memcpy(data + k, &v, 8);
		}
	else
		memset(data, what == 1 ? 0 : what == 2 ? 0xff : (int)s->stamp, bytes);
	if (what == 4)		/* one byte differs from a repeated one */
		data[draw(s, bytes)] ^= 1;
	if (what && c->op == NAND_PROGRAM)
		c->data = data;
	if (draw(s, 12) == 0 || (c->op == NAND_COPYBACK && draw(s, 2)))
		return;
	for (uint32_t k = 0; k < DUEL_OOB_MAX; k++)
		pool_oob[i][k] = (uint8_t)(s->stamp * 31 + k);
	c->oob = pool_oob[i];
}

static uint32_t random_block(struct storm *s, uint32_t plane)
{
	uint32_t blocks = s->duel.c.geo.blocks_per_plane;

	return plane * blocks + draw(s, blocks);
}

/* Returns a page of the plane that may be programmed now, or UINT32_MAX. */
static uint32_t programmable(struct storm *s, uint32_t plane, bool slc)
{
	const struct nand_geometry *g = &s->duel.c.geo;
	uint32_t pages = slc ? g->pages_per_block / g->bits_per_cell : g->pages_per_block;
	uint32_t step = g->one_shot ? g->bits_per_cell : 1;

	for (int tries = 0; tries < 3; tries++) {
		uint32_t first = random_block(s, plane) * g->pages_per_block;
		uint32_t at = draw(s, 4) ? 0 : draw(s, g->pages_per_block / step) * step;

		for (uint32_t p = at; p < pages; p += step) {
			uint32_t broken = 0;

			for (uint32_t i = 0; i < step; i++) {
				struct nand_cmd c = { .op = NAND_PROGRAM, .ppn = { first + p + i }, .slc = slc };

				broken |= naive_broken_alone(&s->duel.model, &c);
			}
			if (!broken)
				return first + p;
		}
	}
	return UINT32_MAX;
}

/* Returns a page of the plane with data, or any page. */
static uint32_t readable(struct storm *s, uint32_t plane)
{
	const struct nand_geometry *g = &s->duel.c.geo;
	uint32_t pages = g->blocks_per_plane * g->pages_per_block;
	uint32_t at = draw(s, pages);

	for (uint32_t i = 0; i < pages && draw(s, 16); i++) {
		uint32_t p = plane * pages + (at + i) % pages;

		if (s->duel.model.page[p].state != NAIVE_BLANK)
			return p;
	}
	return plane * pages + at;
}

static uint32_t some_words(struct storm *s)
{
	const struct nand_geometry *g = &s->duel.c.geo;
	uint32_t w = g->page_bytes / g->ecc_word_bytes;
	uint32_t all = w == 32 ? NAND_WHOLE_PAGE : (1u << w) - 1;

	switch (draw(s, 9)) {
	case 0: case 1:
		return NAND_OOB_ONLY;
	case 2:
		return all;
	case 8:		/* all words but one */
		if (g->subpage != NAND_SUBPAGE_NONE)
			return all & ~(1u << draw(s, w));
		return NAND_WHOLE_PAGE;
	case 3: case 4: case 5:
		if (g->subpage == NAND_SUBPAGE_NONE)
			return NAND_WHOLE_PAGE;
		return w > 16 ? (draw(s, 65536) << 16 | draw(s, 65536)) & all : draw(s, all + 1);
	default:
		return NAND_WHOLE_PAGE;
	}
}

static void add_reads(struct storm *s, struct call *k, uint32_t plane)
{
	struct nand_cmd *c = add(s, k, NAND_READ, readable(s, plane));

	c->ecc_words = some_words(s);
	c->oob = draw(s, 4) ? pool_oob[0] : NULL;	/* the duel reads into another buffer */
}

static void add_erases(struct storm *s, struct call *k, uint32_t plane)
{
	const struct nand_geometry *g = &s->duel.c.geo;
	uint32_t blocks = 1 + (draw(s, 3) ? 0 : draw(s, g->erase_group_max));
	uint32_t first = draw(s, g->blocks_per_plane);

	for (uint32_t i = 0; i < blocks && i < g->blocks_per_plane; i++) {
		uint32_t b = plane * g->blocks_per_plane + (first + i) % g->blocks_per_plane;
		struct nand_cmd *c;

		if (s->duel.model.block[b].bad)
			continue;
		c = add(s, k, NAND_ERASE, b * g->pages_per_block);
		if (g->pb_levels && draw(s, 4))
			c->pb = 1 + draw(s, (2u << g->pb_levels) - 1);
	}
}

static void add_programs(struct storm *s, struct call *k, enum nand_op op, uint32_t plane)
{
	const struct nand_geometry *g = &s->duel.c.geo;
	uint32_t p = programmable(s, plane, k->slc);
	uint32_t n = g->one_shot && op == NAND_PROGRAM ? g->bits_per_cell : 1;

	if (p == UINT32_MAX)
		return;
	for (uint32_t i = 0; i < n; i++) {
		struct nand_cmd *c = add(s, k, op, p + i);

		c->from.v = op == NAND_COPYBACK ? readable(s, plane) : 0;
		c->slc = k->slc;
		give_content(s, c, k->count - 1);
	}
}

static void add_for_plane(struct storm *s, struct call *k, enum nand_op op, uint32_t plane)
{
	if (op == NAND_READ)
		add_reads(s, k, plane);
	else if (op == NAND_ERASE)
		add_erases(s, k, plane);
	else
		add_programs(s, k, op, plane);
}

static enum nand_op random_op(struct storm *s)
{
	uint32_t what = draw(s, 100);

	if (what < 48)
		return NAND_PROGRAM;
	if (what < 62)
		return NAND_ERASE;
	if (what < 75 && s->duel.c.geo.copyback)
		return NAND_COPYBACK;
	return NAND_READ;
}

/*
 * Returns a die for the next command, mostly an idle one. Sometimes it is a die with a command that a read may suspend,
 * or one that reads other planes; then *op becomes a read.
 */
static uint32_t choose_die(struct storm *s, enum nand_op *op)
{
	const struct naive *m = &s->duel.model;
	uint32_t dies = geo_dies(&m->c.geo), die = draw(s, dies);
	bool suspend = m->c.timing.suspend_ns && draw(s, 2), beside = m->c.timing.plane_reads && draw(s, 2);

	for (uint32_t i = 0; i < dies; i++) {
		uint32_t d = (die + i) % dies;
		const struct naive_flight *f = &m->die[d].flight;

		if (suspend && f->count && f->end_ns > s->duel.now_ns &&
		    f->cell_start_ns <= s->duel.now_ns && draw(s, 4)) {
			*op = NAND_READ;
			return d;
		}
		if (beside && naive_reads_end_ns(&m->die[d]) > s->duel.now_ns && draw(s, 4)) {
			*op = NAND_READ;
			return d;
		}
		if (!suspend && !beside && m->die[d].ready_ns <= s->duel.now_ns)
			return d;
	}
	if (draw(s, 8))
		advance(s, m->die[die].ready_ns);
	return die;
}

static void build(struct storm *s, struct call *k)
{
	const struct nand_geometry *g = &s->duel.c.geo;
	enum nand_op op = random_op(s);
	uint32_t first = draw(s, g->planes_per_die), planes = 1;

	memset(k, 0, sizeof(*k));
	k->die = choose_die(s, &op);
	k->source = draw(s, 3) ? NAND_SRC_HOST : (enum nand_source)draw(s, NAND_NSOURCES);
	k->slc = s->duel.c.timing.slc_program_ns && draw(s, 2);
	if (draw(s, 2))
		planes += draw(s, g->planes_per_die);
	for (uint32_t i = 0; i < planes; i++)
		add_for_plane(s, k, op, k->die * g->planes_per_die + (first + i) % g->planes_per_die);
	if (!k->count)	/* the plane is full: erase or read */
		add_for_plane(s, k, draw(s, 4) ? NAND_ERASE : NAND_READ, k->die * g->planes_per_die + first);
	if (!k->count)
		add_for_plane(s, k, NAND_READ, k->die * g->planes_per_die + first);
	/* not by draw(), so that a seed gives the same commands with owners as without */
	for (unsigned int i = 0; s->duel.c.owners && i < k->count; i++)
		k->cmd[i].owners = (uint16_t)(s->duel.now_ns * 0x9e3779b97f4a7c15u >> 60);
}

/* ---- spoiling -------------------------------------------------------------- */

/* Returns a page accepted by is_it, searched from a random page on; otherwise a random page. */
static uint32_t find_page(struct storm *s, bool (*is_it)(const struct naive *m, uint32_t p))
{
	uint32_t pages = (uint32_t)geo_pages(&s->duel.c.geo), at = draw(s, pages);

	for (uint32_t i = 0; i < pages; i++)
		if (is_it(&s->duel.model, (at + i) % pages))
			return (at + i) % pages;
	return at;
}

static bool is_held(const struct naive *m, uint32_t p)
{
	return m->page[p].state != NAIVE_BLANK;
}

static bool is_bad(const struct naive *m, uint32_t p)
{
	return m->block[p / m->c.geo.pages_per_block].bad;
}

static bool must_erase(const struct naive *m, uint32_t p)
{
	return m->page[p].must_erase && m->page[p].state == NAIVE_BLANK;
}

static void spoil_addresses(struct storm *s, struct call *k, struct nand_cmd *c)
{
	const struct nand_geometry *g = &s->duel.c.geo;
	uint32_t pages = (uint32_t)geo_pages(g);

	switch (draw(s, 5)) {
	case 0:
		c->ppn.v = draw(s, 2) ? pages : 0u - 1 - draw(s, 1000);
		break;
	case 1:
		c->op = (enum nand_op)(NAND_NOPS + draw(s, 3));
		break;
	case 2:
		c->op = NAND_ERASE;
		c->ppn.v = c->ppn.v / g->pages_per_block * g->pages_per_block + 1 +
			   draw(s, g->pages_per_block - 1);
		break;
	case 3:
		c->op = NAND_COPYBACK;
		c->from.v = pages + draw(s, 3);
		break;
	default:
		c->ppn.v = draw(s, pages);
		k->die = geo_die_of(g, geo_block_of(g, c->ppn));
	}
}

static void add_next_line(struct storm *s, struct call *k)
{
	const struct nand_geometry *g = &s->duel.c.geo;

	for (uint32_t i = 0; i < g->bits_per_cell && k->count < NAND_GROUP_MAX; i++) {
		struct nand_cmd c = k->cmd[i < k->count ? i : 0];

		c.ppn.v = (c.ppn.v + g->bits_per_cell) % (uint32_t)geo_pages(g);
		k->cmd[k->count++] = c;
	}
}

static void spoil_group(struct storm *s, struct call *k, struct nand_cmd *c)
{
	const struct nand_geometry *g = &s->duel.c.geo;
	struct nand_cmd last = k->cmd[k->count - 1];
	uint32_t pages = (uint32_t)geo_pages(g);

	switch (draw(s, 6)) {
	case 0:		/* name a plane twice: repeat its command, or add the next word line */
		if (g->one_shot && draw(s, 2))
			add_next_line(s, k);
		else if (k->count < NAND_GROUP_MAX)
			k->cmd[k->count++] = last;
		break;
	case 1:		/* another die in some cases */
		if (k->count < NAND_GROUP_MAX) {
			last.ppn.v = draw(s, pages);
			if (last.op == NAND_ERASE)
				last.ppn.v -= last.ppn.v % g->pages_per_block;
			k->cmd[k->count++] = last;
		}
		break;
	case 2:		/* another operation */
		c->op = (enum nand_op)draw(s, NAND_NOPS);
		break;
	case 3:		/* half a word line */
		k->count -= k->count > 1;
		break;
	case 4:		/* more blocks of a plane than an erase accepts */
		for (uint32_t i = 0; i < g->erase_group_max && k->count < NAND_GROUP_MAX; i++) {
			last.op = NAND_ERASE;
			last.ppn.v = (last.ppn.v / g->pages_per_block + 1) * g->pages_per_block;
			if (last.ppn.v >= pages)
				last.ppn.v = 0;
			k->cmd[k->count++] = last;
		}
		break;
	default:	/* word lines out of order */
		last = k->cmd[0];
		k->cmd[0] = k->cmd[k->count - 1];
		k->cmd[k->count - 1] = last;
	}
}

static void spoil_cells(struct storm *s, struct nand_cmd *c)
{
	const struct nand_geometry *g = &s->duel.c.geo;
	uint32_t pages = (uint32_t)geo_pages(g);

	if (s->duel.c.timing.slc_program_ns && draw(s, 4) == 0)
		c->slc = !c->slc;
	switch (draw(s, 9)) {
	case 0:
		c->ppn.v = find_page(s, is_held);
		break;
	case 1:		/* another page of the block */
		c->ppn.v += draw(s, g->pages_per_block) - c->ppn.v % g->pages_per_block;
		break;
	case 2:
		c->ppn.v = find_page(s, is_bad);
		break;
	case 3:
		c->op = NAND_ERASE;
		c->ppn.v -= c->ppn.v % g->pages_per_block;
		c->pb = draw(s, 2) ? 0 : (2u << g->pb_levels) + draw(s, 3) * 100000;
		break;
	case 4:
		c->op = NAND_READ;
		c->ecc_words = 1 + draw(s, 65535) * (1 + draw(s, 65536));
		break;
	case 5:
		c->ppn.v = find_page(s, must_erase);
		break;
	case 6:		/* between planes, or from an empty page */
		c->op = NAND_COPYBACK;
		c->from.v = draw(s, pages);
		c->data = NULL;
		break;
	default:
		c->ppn.v = (c->ppn.v + 1) % pages;
	}
	if (c->op == NAND_ERASE)
		c->ppn.v -= c->ppn.v % g->pages_per_block;
}

static void spoil(struct storm *s, struct call *k)
{
	struct nand_cmd *c = &k->cmd[draw(s, k->count)];

	switch (draw(s, 8)) {
	case 0:
		spoil_addresses(s, k, c);
		break;
	case 1: case 2: case 3:
		spoil_group(s, k, c);
		break;
	case 4:		/* no change: use a busy die if there is one */
		break;
	default:
		spoil_cells(s, c);
	}
}

static enum nand_status random_fault(struct storm *s, enum nand_op op)
{
	if (draw(s, 24))
		return NAND_OK;
	if (op == NAND_ERASE)
		return NAND_ERASE_FAIL;
	if (op != NAND_READ)
		return NAND_PROG_FAIL;
	return draw(s, 2) ? NAND_UNCORR : NAND_CORRECTED;
}

static void command(struct storm *s)
{
	struct call k;

	pass_time(s);
	build(s, &k);
	if (draw(s, 4) == 0)
		spoil(s, &k);
	for (unsigned int i = 0; i < k.count; i++)
		k.fault[i] = random_fault(s, k.cmd[i].op);
	if (draw(s, 64))
		duel_submit(&s->duel, s->duel.now_ns, k.cmd, k.fault, k.count);
	else
		duel_submit_and_die(&s->duel, s->duel.now_ns, k.cmd, k.fault, k.count, 1 + draw(s, 4));
}

/* ---- power and the rest ---------------------------------------------------- */

static void cut(struct storm *s)
{
	struct duel *d = &s->duel;
	uint64_t at = moment(s), seed = draw(s, 65536);

	duel_cut(d, at > d->now_ns ? at : d->now_ns, seed);
	while (!dice_over(s->dice) && draw(s, 3) == 0 && !duel_parted(d))
		command(s);	/* while the power is off */
	if (duel_parted(d))
		return;
	if (draw(s, 4))
		duel_power_on(d);
	else
		duel_reinit(d);
}

static void mark_bad(struct storm *s)
{
	uint32_t blocks = (uint32_t)geo_blocks(&s->duel.c.geo);

	if (s->bad_blocks >= blocks / 4)
		return;
	s->bad_blocks++;
	duel_mark_bad(&s->duel, draw(s, blocks));
}

static void age(struct storm *s)
{
	struct duel *d = &s->duel;

	for (uint32_t i = 0; i < geo_dies(&d->c.geo); i++)	/* its dies are idle */
		advance(s, d->model.die[i].ready_ns);
	duel_age(d, draw(s, 48) * 3600000000000ull);
}

void storm_step(struct storm *s)
{
	uint32_t what = draw(s, 256);

	if (what < 236)
		command(s);
	else if (what < 244)
		cut(s);
	else if (what < 247)
		duel_reinit(&s->duel);
	else if (what < 250)
		duel_copy(&s->duel);
	else if (what == 250)
		mark_bad(s);
	else if (what == 251)
		duel_reset_stats(&s->duel);
	else if (what == 252)
		duel_power_on(&s->duel);	/* power on without a cut before */
	else
		age(s);
}
