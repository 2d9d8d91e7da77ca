// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * power.c - power cuts: what a cut, or a controller that loses its memory, leaves of the commands under way, and how
 * the array begins again when the power is back.
 */
#include "array_impl.h"

/* Returns the next random number of a power cut, which decides the content of torn cells. */
static uint64_t cut_random(uint64_t *state)
{
	*state = fxp_hash(*state, 1);
	return *state;
}

static void tear_erase(struct nand_array *a, const struct img_flight *f, uint64_t *coin)
{
	uint32_t block = fxp_quotient(a->by_block_pages, f->ppn);
	uint32_t first = f->ppn + pb_first(a, f->pb), end = first + pb_span(a, f->pb);
	uint32_t whole = (uint32_t)(cut_random(coin) & 3u);	/* sometimes all pages have the same fate */

	pb_tear(a, block, f->pb);
	for (uint32_t p = first; p < end; p++) {
		uint32_t fate = whole < 3 ? whole : (uint32_t)(cut_random(coin) % 3u);

		if (cell_get(a, p) == CELL_ERASED)
			continue;
		if (fate == 1)
			page_lose(a, p);
		else if (fate == 2)
			pages_wipe(a, p, 1);
	}
}

/* Tear a program: the page is either lost or complete. If it is lost, so are the lower pages in its cells. */
static void tear_program(struct nand_array *a, const struct place *p, uint32_t plan, uint64_t *coin)
{
	uint32_t type = place_type(a, p);

	disturb_neighbours(a, p, plan);
	if (!(cut_random(coin) & 1u))
		return;
	page_lose(a, p->ppn);
	for (uint32_t t = 1; a->base.geo.paired_loss && t <= type; t++) {
		if (!cell_readable(cell_get(a, p->ppn - t)))
			continue;
		page_lose(a, p->ppn - t);
		a->stats.paired_lost++;
	}
}

/* Undo a program that left no trace: the page is erased again, and its PB has the age that it had. */
static void undo_program(struct nand_array *a, const struct place *p, uint32_t prev_next)
{
	static const uint16_t none[NAND_TYPES_MAX];

	pages_wipe(a, p->ppn, 1);
	order_set_next(a, p, prev_next);
	if (!a->pb[p->pb].next)
		a->block[p->block] &= ~BLOCK_SLC;
	if (a->age && !memcmp(a->pb[p->pb].wl, none, sizeof(none)))
		a->age[p->pb].programmed_ns = 0;
}

/*
 * End a die's flights at a cut. Each die has its own random numbers, so that an interrupted
 * recovery repeats the same decisions.
 */
static void cut_flights(struct nand_array *a, uint32_t die, uint64_t at_ns, uint64_t seed)
{
	uint64_t own = fxp_hash(seed, die), *coin = &own;
	const struct img_die *d = &a->die[die];
	const struct img_flight *f = flights_of(a, die);
	bool begun = at_ns > d->cell_start_ns;

	for (uint32_t i = d->count; i-- > 0;) {	/* undo in reverse order */
		struct place p = place_of(a, f[i].ppn);

		if (d->op == NAND_ERASE) {
			if (begun)
				tear_erase(a, &f[i], coin);
		} else if (begun) {
			tear_program(a, &p, f[i].pb, coin);
		} else {
			undo_program(a, &p, f[i].prev_next);
		}
	}
}

void nand_array_in_flight(const struct nand_array *a, uint64_t at_ns, struct nand_in_flight *out)
{
	memset(out, 0, sizeof(*out));
	for (uint32_t i = 0; i < geo_dies(&a->base.geo); i++) {
		const struct img_die *d = &a->die[i];

		if (d->ready_ns > at_ns)
			*(at_ns > d->cell_start_ns ? &out->begun[d->op] : &out->waiting[d->op]) += d->count;
	}
}

void nand_array_power_cut(struct nand_array *a, uint64_t at_ns, uint64_t seed)
{
	uint32_t dies = geo_dies(&a->base.geo);

	SSD_ASSERT(at_ns >= a->head->now_ns);
	a->head->now_ns = at_ns;	/* stored first, so that an interrupted cut continues as the same cut */
	image_order();
	for (uint32_t i = 0; i < dies; i++) {
		if (a->die[i].ready_ns > at_ns)
			cut_flights(a, i, at_ns, seed);
		else
			die_settle(a, i);
		a->die[i].count = 0;
		a->die[i].ready_ns = at_ns;
	}
	a->head->cuts++;
	a->powered = a->plain = false;
}

void nand_array_controller_lost(struct nand_array *a, uint64_t at_ns)
{
	uint64_t end_ns = at_ns;

	SSD_ASSERT(at_ns >= a->head->now_ns);
	a->head->now_ns = at_ns;
	image_order();
	for (uint32_t i = 0; i < geo_dies(&a->base.geo); i++) {
		struct img_die *d = &a->die[i];

		if (d->ready_ns <= at_ns)
			continue;
		if (at_ns > d->cell_start_ns) {
			end_ns = d->ready_ns > end_ns ? d->ready_ns : end_ns;
			continue;
		}
		cut_flights(a, i, at_ns, 0);
		d->count = 0;
		d->ready_ns = at_ns;
	}
	nand_array_power_cut(a, end_ns, 0);
}

void nand_array_power_on(struct nand_array *a)
{
	const struct nand_geometry *g = &a->base.geo;

	/* Flights end here, so the time advances to their end before their effects are made. */
	for (uint32_t i = 0; i < geo_dies(g); i++)
		if (a->die[i].count && a->die[i].ready_ns > a->head->now_ns)
			a->head->now_ns = a->die[i].ready_ns;
	image_order();
	for (uint32_t i = 0; i < geo_dies(g); i++) {
		die_settle(a, i);
		a->die[i].ready_ns = 0;
	}
	for (uint32_t i = 0; a->c.timing.plane_reads && i < geo_planes(g); i++)
		a->plane_read_ns[i] = 0;
	for (uint32_t i = 0; a->c.timing.plane_reads && i < geo_dies(g); i++)
		a->suspended_ns[i] = 0;
	for (uint32_t i = 0; i < g->channels; i++)
		bus_clear(&a->bus[i]);
	a->head->age_ns += a->head->now_ns;
	image_order();			/* if a shell is killed here, this time is counted twice instead of never */
	a->head->now_ns = 0;
	a->powered = true;
	a->plain = plain_possible(a);
}
