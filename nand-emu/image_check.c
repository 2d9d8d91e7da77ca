// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * image_check.c - checks whether an array can have left an image. All numbers of the image's tables
 * are checked here, before they are used, and nowhere else. The message names the table.
 *
 * Each number must be in its range. For each smallest PB that is not torn, too:
 *
 *   I1  pages at or after `next` (of a type: on word lines at or after its counter) are
 *       ERASED;
 *   I2  the page before `next` (before each counter) is not ERASED;
 *   I3  if `next` is set back to the value in the flight of a program, I1 still holds.
 *
 * A command in flight may have had part of its effects when its shell was killed. So I1 and I2 do
 * not apply to pages of programs in flight and PBs that are being erased. A program that lacks part
 * of its effects must not have begun (cell_start_ns), so that init() undoes it (A5).
 *
 * Cost: one pass over the tables of cells and PBs.
 */
#include "array_impl.h"

#define TIME_MAX_NS ((uint64_t)1 << 62)		/* 146 years */
#define ERASES_MAX (1u << 30)

static const char *head_fault(const struct img_head *h)
{
	if (h->used == 2)
		return "its process ended while the disk was full, and pages are missing";
	if (h->used != 1)
		return "the image's head says that it is not in use";
	if (h->now_ns > TIME_MAX_NS || h->age_ns > TIME_MAX_NS)
		return "the image's head has a time of more than 146 years";
	if (h->erase_commands > TIME_MAX_NS || h->cuts > TIME_MAX_NS)
		return "the image's head counts more erases or power cuts than there can be";
	return NULL;
}

static bool is_program(const struct img_die *d)
{
	return d->op == NAND_PROGRAM || d->op == NAND_COPYBACK;
}

/* Returns the flight that programs this page or erases its smallest PB, or NULL. */
static const struct img_flight *flight_at(const struct nand_array *a, const struct place *p)
{
	const struct img_die *d = &a->die[p->die];
	const struct img_flight *f = flights_of(a, p->die);

	for (uint32_t i = 0; i < d->count; i++) {
		uint32_t first = f[i].ppn;

		if (is_program(d) && first == p->ppn)
			return &f[i];
		if (is_program(d))
			continue;
		first += pb_first(a, f[i].pb);
		if (p->ppn >= first && p->ppn - first < pb_span(a, f[i].pb))
			return &f[i];
	}
	return NULL;
}

/* Has a program whose flight is in the image had all of its effects? */
static bool took_effect(const struct nand_array *a, const struct place *p)
{
	uint32_t next = order_next(a, p);

	if (cell_get(a, p->ppn) == CELL_ERASED)
		return false;
	return by_word_line(a) ? next > word_line(a, p) : next > p->pb_page;
}

static const char *program_fault(const struct nand_array *a, const struct img_die *d,
				 const struct img_flight *f, const struct place *p)
{
	uint32_t k = word_line(a, p);

	if (f->prev_next > a->pb_pages || f->pb > 0xffff)
		return "a program in flight has numbers that are too large";
	if (by_word_line(a) ? f->prev_next != k :
	    a->c.geo.order == NAND_ORDER_ASCENDING && f->prev_next > p->pb_page)
		return "a program in flight is not the next of its block";
	if (!took_effect(a, p) && d->ready_ns > a->head->now_ns && d->cell_start_ns < a->head->now_ns)
		return "a program in flight has begun and changed nothing";
	return NULL;
}

static const char *die_fault(const struct nand_array *a, uint32_t die)
{
	const struct img_die *d = &a->die[die];
	const struct img_flight *f = flights_of(a, die);
	const char *why = NULL;

	if (d->op >= NAND_NOPS || d->source >= NAND_NSOURCES)
		return "a die's operation or its source is unknown";
	if (d->count > a->group_max || (d->count && d->op == NAND_READ))
		return "a die has more commands in flight than it can have";
	for (uint32_t i = 0; i < d->count && !why; i++) {
		struct place p = place_of(a, f[i].ppn < a->pages ? f[i].ppn : 0);

		if (f[i].ppn >= a->pages || p.die != die || f[i].failed > 1)
			why = "a command in flight is not of its die";
		else if (is_program(d))
			why = program_fault(a, d, &f[i], &p);
		else if (!f[i].pb || f[i].pb >= 2 * a->pbs || p.page)
			why = "an erase in flight is of no partial block";
	}
	return why;
}

static bool sound_flags(const struct nand_array *a, uint32_t s)
{
	const struct img_pb *b = &a->pb[s];
	uint32_t edges = PB_EDGE_BELOW | PB_EDGE_ABOVE, k = s & (a->pbs - 1);

	return !(b->flags & ~(edges | PB_TORN) || (b->flags & PB_EDGE_BELOW && !k) ||
		 (b->flags & PB_EDGE_ABOVE && k == a->pbs - 1));
}

static bool sound_counters(const struct nand_array *a, uint32_t s)
{
	const struct img_pb *b = &a->pb[s];

	bool slc = a->block[s / a->pbs] & BLOCK_SLC;
	uint32_t types = slc ? 1 : a->c.geo.bits_per_cell;

	if (!by_word_line(a))
		return b->next <= (slc ? slc_pages(a) : a->pb_pages);
	for (uint32_t t = 0; t < NAND_TYPES_MAX; t++)
		if (b->wl[t] > (t < types ? a->pb_pages / a->c.geo.bits_per_cell : 0))
			return false;
	return true;
}

/* Returns the value of `next` of smallest PB s after a power cut has undone the programs in flight. */
static uint32_t lowest_next(const struct nand_array *a, uint32_t s)
{
	struct place p = place_of(a, s * a->pb_pages);
	const struct img_die *d = &a->die[p.die];
	const struct img_flight *f = flights_of(a, p.die);
	uint32_t lowest = a->pb[s].next;

	for (uint32_t i = 0; is_program(d) && i < d->count; i++)
		if (place_of(a, f[i].ppn).pb == s && f[i].prev_next < lowest)
			lowest = f[i].prev_next;
	return lowest;
}

/*
 * Is the page erased, or may a power cut make it so? I1 and I3 ask this of pages at or after `next`; I2 asks
 * programmed() of the page before it.
 */
static bool erased(const struct nand_array *a, uint32_t ppn)
{
	struct place p;

	if (cell_get(a, ppn) == CELL_ERASED)
		return true;
	p = place_of(a, ppn);
	return flight_at(a, &p) != NULL;
}

static bool programmed(const struct nand_array *a, uint32_t ppn)
{
	struct place p;

	if (cell_get(a, ppn) != CELL_ERASED)
		return true;
	p = place_of(a, ppn);
	return flight_at(a, &p) != NULL;
}

static bool sound_cells(const struct nand_array *a, uint32_t s)
{
	const struct img_pb *b = &a->pb[s];
	uint32_t first = s * a->pb_pages, types = a->c.geo.bits_per_cell;
	bool slc = a->block[s / a->pbs] & BLOCK_SLC;

	if (!by_word_line(a)) {
		for (uint32_t i = lowest_next(a, s); i < a->pb_pages; i++)
			if (!erased(a, first + i))
				return false;
		return !b->next || programmed(a, first + b->next - 1);
	}
	for (uint32_t i = 0; slc && i < a->pb_pages; i++)
		if (i < b->wl[0] ? !programmed(a, first + i) : !erased(a, first + i))
			return false;
	for (uint32_t i = 0, k = 0, t = 0; !slc && i < a->pb_pages; i++) {
		if (k < b->wl[t] ? !programmed(a, first + i) : !erased(a, first + i))
			return false;
		k += t + 1 == types;
		t = t + 1 == types ? 0 : t + 1;
	}
	return true;
}

static const char *pb_fault(const struct nand_array *a, uint32_t s)
{
	uint64_t age = a->head->age_ns + a->head->now_ns;

	if (!sound_flags(a, s))
		return "a partial block has flags that it cannot have";
	if (!sound_counters(a, s))
		return "a partial block has more programmed pages than it has pages";
	if (a->pb[s].erases > ERASES_MAX)
		return "a partial block has been erased more often than it can be";
	if (a->age && a->age[s].programmed_ns > age + 1)
		return "a partial block was programmed in the future";
	if (a->age && a->age[s].reads > TIME_MAX_NS)
		return "a partial block has been read more often than it can be";
	if (!(a->pb[s].flags & PB_TORN) && !sound_cells(a, s))
		return "a partial block's programmed pages are not those that it counts";
	return NULL;
}

static bool may_be_slc(const struct nand_geometry *g)
{
	return g->bits_per_cell > 1 && !g->one_shot && !g->pb_levels;
}

int nand_array_check_image(const struct nand_array_config *c, const void *image, const char **why)
{
	uint32_t blocks = (uint32_t)geo_blocks(&c->geo);
	struct nand_array a;

	image_look(&a, c, image);
	if (!c->physics.rber_on)
		a.age = NULL;
	*why = head_fault(a.head);
	for (uint32_t i = 0; i < geo_dies(&c->geo) && !*why; i++)
		*why = die_fault(&a, i);
	for (uint32_t b = 0; b < blocks && !*why; b++)
		if (a.block[b] & ~(BLOCK_BAD | (may_be_slc(&c->geo) ? BLOCK_SLC : 0)))
			*why = "a block has flags that it cannot have";
	for (uint32_t s = 0; s < blocks * a.pbs && !*why; s++)
		*why = pb_fault(&a, s);
	return *why ? SSD_E_CORRUPT : SSD_OK;
}
