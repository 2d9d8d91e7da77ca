// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * plain.c - a fast path for the most common calls: the read of a whole page, or the program of a page in ascending
 * order, of one plane or of several planes; and the read of a spare area alone.
 *
 * It handles only arrays for which plain_possible() holds (nothing fails, ages or disturbs, no command
 * is suspended, holds the bus or has a read beside it, no block is in SLC mode, owners are not told
 * apart), and only calls that break no rule, for a die that has no erase to settle. It refuses any
 * other call before it has changed anything, and array.c then executes the call or reports the rule.
 *
 * The two ways to execute a command must have equal results: the storm tests compare both with the
 * model, with hooks and without.
 *
 * Invariants: those of array_impl.h; flights and image_order() (A5) as in array.c.
 */
#include "array_impl.h"

bool plain_possible(const struct nand_array *a)
{
	const struct nand_geometry *g = &a->base.geo;

	return a->powered && g->order == NAND_ORDER_ASCENDING && !g->one_shot && a->pbs == 1 && !a->slcs &&
	       !a->age && !a->c.physics.endurance && !a->hooks.fault && !a->hooks.flips &&
	       !a->hooks.done && !a->c.owners &&
	       !a->c.timing.suspend_ns && !a->c.timing.gc_holds_bus && !a->c.timing.plane_reads;
}

/* Is the die free (R8), and is there nothing to settle except a count of flights? */
static inline bool die_free(const struct img_die *d, uint64_t now_ns)
{
	/* bit operations avoid branches, because the die's last operation is unpredictable */
	return (d->ready_ns <= now_ns) & ((d->count == 0) | (d->op != NAND_ERASE));
}

static inline void move_oob(void *to, const void *from, uint32_t bytes)
{
	if (SSD_LIKELY(bytes == 16))	/* the most common case, one unit a page: no call of memcpy */
		memcpy(to, from, 16);
	else
		memcpy(to, from, bytes);
}

static inline uint64_t *wait_of(struct bus_waits *w, struct nand_user user)
{
	return user.source == NAND_SRC_HOST ? &w->host_ns : &w->gc_ns;
}

static inline uint32_t type_of(const struct nand_array *a, uint32_t ppn)
{
	return a->by_types.d > 1 ? page_type(a, ppn % a->by_block_pages.d) : 0;
}

static inline void put_result(struct nand_array *a, struct nand_cmd *c, uint64_t now_ns,
			      uint64_t cell_ns, uint64_t own_ns, struct bus_waits waits)
{
	c->status = NAND_OK;
	c->page = NULL;
	c->raw_bits = 0;
	c->retries = 0;
	c->resumed_done_ns = 0;
	c->start_ns = now_ns;
	c->cell_ns = cell_ns;
	c->bus_ns = own_ns;
	c->wait_host_ns = waits.host_ns;
	c->wait_gc_ns = waits.gc_ns;
	if (SSD_UNLIKELY(a->energy))
		count_energy(a, c, type_of(a, c->ppn.v));
}

/*
 * Book the transfers of a group one after another; returns the end of the last. Each page waits for
 * all of them. If nothing else is booked, they become one booking, which does not change the times
 * of later transfers.
 */
static inline uint64_t book_group(struct bus *bus, uint64_t now_ns, uint64_t own_ns,
				  unsigned int count, struct nand_user user, struct bus_waits *w)
{
	uint64_t at = now_ns;

	*wait_of(w, user) += (count - 1) * own_ns;
	if (SSD_LIKELY(bus->last_ns <= now_ns))
		return bus_book(bus, now_ns, now_ns, count * own_ns, user, w) + count * own_ns;
	for (unsigned int i = 0; i < count; i++)
		at = bus_book(bus, now_ns, at, own_ns, user, w) + own_ns;
	return at;
}

/* Is the page on another plane than those in the bitmap, to which its plane is added (R6)? */
static inline bool other_plane(const struct nand_array *a, uint32_t block, uint32_t *planes)
{
	uint32_t bit = 1u << (fxp_quotient(a->by_plane_blocks, block) & 31u);
	bool other = !(*planes & bit);

	*planes |= bit;
	return other;
}

/* ---- reads ------------------------------------------------------------------ */

static inline void read_oob(struct nand_array *a, const struct nand_cmd *c)
{
	if (c->oob) {
		const uint8_t *oob = oob_of(a, c->ppn.v);

		move_oob(c->oob, oob, a->base.geo.oob_kept);
		SSD_PREFETCH(oob + 64);
	}
}

static inline void read_content(struct nand_array *a, struct nand_cmd *c)
{
	read_oob(a, c);
	if (a->payload) {
		struct place p = place_of(a, c->ppn.v);

		c->page = page_content(a, &p);
	}
}

static inline uint64_t longest_read_ns(const struct nand_array *a, const struct nand_cmd *c,
				       unsigned int count)
{
	uint64_t longest = 0;

	for (unsigned int i = 0; i < count; i++) {
		uint64_t one = a->c.timing.read_ns[type_of(a, c[i].ppn.v)];

		longest = one > longest ? one : longest;
	}
	return longest;
}

struct moved {			/* by a read */
	uint64_t bus_ns, bus_bytes, user_bytes;
};

static inline struct moved whole_page(const struct nand_array *a)
{
	return (struct moved){ a->page_bus_ns, a->page_bus_bytes, a->base.geo.page_bytes };
}

/* Read pages of different planes: their cells together, then each transfer, which waits for the ones before it. */
static SSD_ALWAYS void execute_reads(struct nand_array *a, uint64_t now_ns, struct nand_cmd *c,
				     unsigned int count, uint32_t die, struct moved each)
{
	uint64_t cmd_ns = a->c.timing.cmd_ns, at;
	uint64_t cell_ns = longest_read_ns(a, c, count);
	uint32_t channel = fxp_quotient(a->by_channel_pages, c->ppn.v);
	struct bus *bus = &a->bus[channel];
	struct bus_waits w = { 0, 0 };

	at = book_group(bus, now_ns, cmd_ns, count, c->user, &w) + cell_ns;
	for (unsigned int i = 0; i < count; i++) {
		at = bus_book(bus, now_ns, at, each.bus_ns, c[i].user, &w) + each.bus_ns;
		c[i].done_ns = at;
		put_result(a, &c[i], now_ns, cell_ns, cmd_ns + each.bus_ns, w);
		*wait_of(&w, c->user) += each.bus_ns;
	}
	a->bus_busy[channel].ns[c->source] += count * (cmd_ns + each.bus_ns);
	a->stats.ops[NAND_READ][c->source] += count;
	a->die[die].count = 0;
	a->die[die].ready_ns = at;
	a->die_busy[die].ns[c->source] += at - now_ns;
	a->stats.read_bytes += count * each.bus_bytes;
	a->stats.user_read_bytes[c->source] += count * each.user_bytes;
}

static inline bool page_readable(const struct nand_array *a, const struct nand_cmd *c)
{
	if (c->ecc_words != NAND_WHOLE_PAGE || !cell_readable(cell_get(a, c->ppn.v)))
		return false;
	return SSD_LIKELY(!a->sum) || page_matches(a, c->ppn.v, true);
}

/* A mount reads the spare areas of many pages, of which most may be erased. */
static SSD_APART void read_spare(struct nand_array *a, uint64_t now_ns, struct nand_cmd *c, uint32_t die)
{
	enum cell k = cell_get(a, c->ppn.v);

	if (k != CELL_ERASED && (!cell_readable(k) || (a->sum && !page_matches(a, c->ppn.v, false)))) {
		array_submit_any(a, now_ns, c, 1);
		return;
	}
	execute_reads(a, now_ns, c, 1, die, (struct moved){ a->spare_bus_ns, a->spare_bus_bytes, 0 });
	if (k == CELL_ERASED)
		c->status = NAND_ERASED;
	else
		read_oob(a, c);
}

void plain_read(struct nand_array *a, uint64_t now_ns, struct nand_cmd *c)
{
	uint32_t die = fxp_quotient(a->by_die_pages, c->ppn.v);
	bool possible = c->ppn.v < a->pages && c->source < NAND_NSOURCES && die_free(&a->die[die], now_ns);

	if (SSD_LIKELY(possible && page_readable(a, c))) {
		execute_reads(a, now_ns, c, 1, die, whole_page(a));
		read_content(a, c);
	} else if (possible && c->ecc_words == NAND_OOB_ONLY) {
		read_spare(a, now_ns, c, die);
	} else {
		array_submit_any(a, now_ns, c, 1);
	}
}

/* Do the commands read pages of one die (R0), on different planes (R6), for one source? */
static inline bool readable_together(const struct nand_array *a, const struct nand_cmd *c,
				     unsigned int count, uint32_t die)
{
	uint32_t first = die * a->by_die_pages.d, planes = 0;

	if (c->source >= NAND_NSOURCES)
		return false;
	for (unsigned int i = 0; i < count; i++)
		if (c[i].op != NAND_READ || c[i].source != c->source || c[i].ppn.v - first >= a->by_die_pages.d ||
		    !page_readable(a, &c[i]) ||
		    !other_plane(a, fxp_quotient(a->by_block_pages, c[i].ppn.v), &planes))
			return false;
	return true;
}

void plain_read_planes(struct nand_array *a, uint64_t now_ns, struct nand_cmd *c, unsigned int count)
{
	uint32_t die = fxp_quotient(a->by_die_pages, c->ppn.v);

	if (SSD_UNLIKELY(c->ppn.v >= a->pages || !die_free(&a->die[die], now_ns) ||
			 !readable_together(a, c, count, die))) {
		array_submit_any(a, now_ns, c, count);
		return;
	}
	execute_reads(a, now_ns, c, count, die, whole_page(a));
	for (unsigned int i = 0; i < count; i++)
		read_content(a, &c[i]);
}

/* ---- programs --------------------------------------------------------------- */

/*
 * May the page be programmed (R1, R2, R3, R9)? Its block is known. Bits instead of branches, combined
 * to one answer.
 */
static inline bool page_allowed(const struct nand_array *a, uint32_t ppn, uint32_t block)
{
	const struct img_pb *pb = &a->pb[block];

	if (a->bads && a->block[block] & BLOCK_BAD)
		return false;
	return !((pb->flags & PB_TORN) | (cell_get(a, ppn) != CELL_ERASED) |
		 (ppn - block * a->by_block_pages.d < pb->next));
}

/*
 * Do the pages of one die exist (R0), lie on different planes (R6) and have one source, and may
 * each be programmed?
 */
static inline bool allowed(const struct nand_array *a, const struct nand_cmd *c, unsigned int count,
			   uint32_t die, uint32_t block[NAND_PLANES_MAX])
{
	uint32_t first = die * a->by_die_pages.d, planes = 0;

	if (c->source >= NAND_NSOURCES)
		return false;
	for (unsigned int i = 0; i < count; i++) {
		uint32_t ppn = c[i].ppn.v;

		if (c[i].op != NAND_PROGRAM || c[i].slc || c[i].source != c->source ||
		    ppn - first >= a->by_die_pages.d)
			return false;
		block[i] = fxp_quotient(a->by_block_pages, ppn);
		if (!other_plane(a, block[i], &planes) || !page_allowed(a, ppn, block[i]))
			return false;
	}
	return true;
}

/* Store the flights before their effects, so that a power cut can undo the effects (A5). */
static inline void store_flights(struct nand_array *a, struct img_die *d, struct img_flight *f,
			    const struct nand_cmd *c, unsigned int count, const uint32_t *block,
			    uint64_t cell_start_ns, uint64_t done_ns)
{
	d->count = 0;
	image_order();
	for (unsigned int i = 0; i < count; i++)
		f[i] = (struct img_flight){ .ppn = c[i].ppn.v, .prev_next = a->pb[block[i]].next };
	d->op = NAND_PROGRAM;
	d->source = c[0].source;
	d->cell_start_ns = cell_start_ns;
	image_order();
	d->ready_ns = done_ns;
	image_order();
	d->count = count;
	image_order();
}

static inline void program_page(struct nand_array *a, const struct nand_cmd *c, uint32_t block)
{
	uint32_t ppn = c->ppn.v, kept = a->base.geo.oob_kept, page = ppn - block * a->by_block_pages.d;
	uint8_t *oob = a->oob ? a->oob + (size_t)ppn * kept : NULL;

	if (SSD_LIKELY(oob))
		SSD_PREFETCH(oob + 64);	/* pages that are likely to be accessed next */
	if (a->by_types.d > 1)
		a->stats.lower_reads += type_of(a, ppn);
	a->pb[block].next = page + 1;
	if (SSD_UNLIKELY(!oob))
		spares_put(&a->spares, block, page, c->oob);
	else if (c->oob)
		move_oob(oob, c->oob, kept);
	else
		memset(oob, 0xff, kept);
	if (a->payload)
		page_store(a, ppn, c->data);
	else
		page_mark(a, ppn, CELL_GOOD);
}

static inline uint64_t longest_program_ns(const struct nand_array *a, const struct nand_cmd *c,
					  unsigned int count)
{
	const struct nand_timing *t = &a->c.timing;
	uint64_t longest = t->program_ns[0];

	if (a->by_types.d == 1)
		return longest;
	longest = 0;
	for (unsigned int i = 0; i < count; i++) {
		uint32_t type = type_of(a, c[i].ppn.v);
		uint64_t one = t->program_ns[type] + (uint64_t)type * t->lower_read_ns;

		longest = one > longest ? one : longest;
	}
	return longest;
}

static inline void program_pages(struct nand_array *a, uint64_t now_ns, struct nand_cmd *c,
				 unsigned int count, uint32_t die, const uint32_t *block)
{
	uint64_t own_ns = a->c.timing.cmd_ns + a->page_bus_ns, at;
	uint64_t cell_ns = longest_program_ns(a, c, count);
	uint32_t channel = fxp_quotient(a->by_channel_pages, c->ppn.v);
	struct bus_waits w = { 0, 0 };

	at = book_group(&a->bus[channel], now_ns, own_ns, count, c->user, &w);
	store_flights(a, &a->die[die], flights_of(a, die), c, count, block, at, at + cell_ns);
	a->die_busy[die].ns[c->source] += at + cell_ns - now_ns;
	a->bus_busy[channel].ns[c->source] += count * own_ns;
	a->stats.ops[NAND_PROGRAM][c->source] += count;
	for (unsigned int i = 0; i < count; i++) {
		c[i].done_ns = at + cell_ns;
		put_result(a, &c[i], now_ns, cell_ns, own_ns, w);
		program_page(a, &c[i], block[i]);
	}
}

void plain_program(struct nand_array *a, uint64_t now_ns, struct nand_cmd *c, unsigned int count)
{
	uint32_t die = fxp_quotient(a->by_die_pages, c->ppn.v), block[NAND_PLANES_MAX];

	if (SSD_LIKELY(count <= NAND_PLANES_MAX && c->ppn.v < a->pages &&
		       die_free(&a->die[die], now_ns) && allowed(a, c, count, die, block)))
		program_pages(a, now_ns, c, count, die, block);
	else
		array_submit_any(a, now_ns, c, count);
}
