// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * array.c - executes a command: rules, then time, then effects. Also statistics.
 * nand.h and array.h are its contract; array_impl.h has its state and invariants.
 *
 * An erase empties its pages, and a program disturbs its neighbours, only when the die is next used or
 * looked at (`die_settle`): until its end a power cut may still find the old data there. An FTL cannot see
 * the difference, because the die is busy until then (R8).
 */
#include "array_impl.h"

static struct nand_array *array_of(const struct nand *n)
{
	return ssd_container_of(n, struct nand_array, base);
}

struct nand_array *nand_array_of(struct nand *n)
{
	return array_of(n);
}

/* ---- refusal -------------------------------------------------------------- */

/* Do the cells in a file contradict its OOB? See array.h. */
static bool contradicts_oob(const struct nand_array *a, enum nand_rule r, const struct nand_cmd *c)
{
	return a->from_outside && (r == NAND_R1 || r == NAND_R2 || r == NAND_R9) && programs(c);
}

static void refuse(struct nand_array *a, uint64_t now_ns, enum nand_rule r,
		   struct nand_cmd *c, unsigned int count)
{
	bool fails = contradicts_oob(a, r, c);

	a->stats.violations[r]++;
	a->stats.program_fails += fails ? count : 0;
	for (unsigned int i = 0; i < count; i++) {
		c[i].status = fails ? NAND_PROG_FAIL : NAND_VIOLATION;
		c[i].page = NULL;
		c[i].raw_bits = 0;
		c[i].retries = 0;
		c[i].start_ns = now_ns;
		c[i].done_ns = now_ns + 1;
		c[i].cell_ns = 0;
		c[i].bus_ns = 0;
		c[i].wait_host_ns = 1;
		c[i].wait_gc_ns = 0;
		c[i].wait_others_ns = 0;
		c[i].resumed_done_ns = 0;
	}
	if (a->hooks.violation)
		a->hooks.violation(a->hooks.opaque, r, c);
}

/* ---- effects ------------------------------------------------------------ */

static inline void copy_oob(void *to, const void *from, uint32_t bytes)
{
	if (bytes == 16)	/* the most common case, one unit a page: no call of memcpy */
		memcpy(to, from, 16);
	else
		memcpy(to, from, bytes);
}

/*
 * Returns the state of a page when it is read. If its bytes were changed from outside the array,
 * the page counts as lost.
 */
static enum cell state_found(struct nand_array *a, const struct nand_cmd *c)
{
	enum cell k = cell_get(a, c->ppn.v);

	if (!a->sum || !cell_readable(k) || page_matches(a, c->ppn.v, c->ecc_words != NAND_OOB_ONLY))
		return k;
	a->stats.damaged++;
	return CELL_LOST;
}

/* Find read errors before the times of a command are computed, because retries take time. */
static void find_read_errors(struct nand_array *a, const struct place *p, struct nand_cmd *c)
{
	enum cell k = state_found(a, c);

	c->page = NULL;
	c->raw_bits = 0;
	c->retries = 0;
	c->resumed_done_ns = 0;
	c->status = cell_readable(k) ? NAND_OK : k == CELL_LOST ? NAND_UNCORR : NAND_ERASED;
	if (cell_readable(k)) {
		uint32_t flips = a->hooks.flips ? a->hooks.flips(a->hooks.opaque, c->ppn) : 0;

		if (a->age || flips)
			read_errors(a, p, c, flips);
	}
	if (a->hooks.fault) {
		enum nand_status s = a->hooks.fault(a->hooks.opaque, c);

		if (s != NAND_OK && cell_readable(k))
			c->status = s;
	}
}

static void do_read(struct nand_array *a, const struct place *p, struct nand_cmd *c)
{
	const struct nand_geometry *g = &a->base.geo;

	if (a->energy)
		count_energy(a, c, place_type(a, p));
	a->stats.retries += c->retries;
	if (a->age)
		a->age[p->pb].reads++;
	if (c->status == NAND_UNCORR)
		a->stats.uncorrectable++;
	if (c->status == NAND_CORRECTED)
		a->stats.corrected++;
	a->stats.read_bytes += bus_bytes(a, c);
	a->stats.user_read_bytes[c->source] += user_bytes_read(a, c);
	if (c->ecc_words && c->ecc_words != NAND_WHOLE_PAGE &&
	    bits_set(c->ecc_words) < a->ecc_words)
		a->stats.subpage_reads++;
	if (c->status != NAND_OK && c->status != NAND_CORRECTED)
		return;
	if (c->oob) {
		const uint8_t *oob = oob_of(a, c->ppn.v);

		copy_oob(c->oob, oob, g->oob_kept);
		SSD_PREFETCH(oob + 64);
	}
	if (c->ecc_words)
		c->page = page_content(a, p);
}

/* Account for the raw errors that a copyback moves to its target page with the data. */
static void carry_errors(struct nand_array *a, struct nand_cmd *c)
{
	struct place from = place_of(a, c->from.v);
	struct nand_cmd as_read = { .op = NAND_READ, .ppn = c->from, .ecc_words = NAND_WHOLE_PAGE };

	if (!cell_readable(cell_get(a, c->from.v)))
		return;
	read_errors(a, &from, &as_read, 0);
	a->carried[c->ppn.v] = (uint8_t)(as_read.raw_bits < 255 ? as_read.raw_bits : 255);
}

static void store_oob(struct nand_array *a, const struct place *p, const struct nand_cmd *c)
{
	uint32_t kept = a->base.geo.oob_kept;
	const void *from = c->oob || c->op != NAND_COPYBACK ? c->oob : oob_of(a, c->from.v);
	uint8_t *oob;

	if (SSD_UNLIKELY(!a->oob)) {
		spares_put(&a->spares, p->block, p->page, from);
		return;
	}
	oob = a->oob + (size_t)c->ppn.v * kept;
	SSD_PREFETCH(oob + 64);		/* pages that are likely to be accessed next */
	if (from)
		copy_oob(oob, from, kept);
	else
		memset(oob, 0xff, kept);
}

static void do_program(struct nand_array *a, const struct place *p, struct nand_cmd *c, bool failed)
{
	const struct nand_geometry *g = &a->base.geo;
	uint32_t type = place_type(a, p);

	if (a->energy)
		count_energy(a, c, type);
	if (!g->one_shot)
		a->stats.lower_reads += type;
	if (p->slc)
		a->block[p->block] |= BLOCK_SLC;
	image_order();
	order_advance(a, p);
	if (a->age && !a->age[p->pb].programmed_ns)
		a->age[p->pb].programmed_ns = device_age_ns(a) + 1;
	store_oob(a, p, c);
	if (c->op == NAND_COPYBACK && a->carried)
		carry_errors(a, c);
	if (c->op == NAND_COPYBACK)
		page_copy(a, c->ppn.v, c->from.v, !c->oob);
	else if (a->payload)
		page_store(a, c->ppn.v, c->data);
	else
		page_mark(a, c->ppn.v, CELL_GOOD);
	if (failed) {
		page_lose(a, c->ppn.v);
		a->stats.program_fails++;
	}
}

/* Begin an erase: die_settle() empties the pages at its end. */
static void do_erase(struct nand_array *a, const struct nand_cmd *c, bool failed)
{
	if (a->energy)
		count_energy(a, c, 0);
	a->stats.partial_erases += c->pb != NAND_WHOLE_BLOCK;
	a->stats.erase_fails += failed;
}

void pb_tear(struct nand_array *a, uint32_t block, uint32_t pb)
{
	uint32_t low = block * a->pbs + pb_first(a, pb) / a->pb_pages;

	for (uint32_t s = low; s < low + pb_span(a, pb) / a->pb_pages; s++)
		a->pb[s].flags |= PB_TORN;
}

static void settle_erase(struct nand_array *a, const struct img_flight *f)
{
	uint32_t block = fxp_quotient(a->by_block_pages, f->ppn);

	a->head->erase_commands++;
	a->stats.erase_count_sum++;
	if (f->failed)
		pb_tear(a, block, f->pb);
	else
		pb_erase(a, block, f->pb);
}

void die_settle(struct nand_array *a, uint32_t die)
{
	struct img_die *d = &a->die[die];
	const struct img_flight *f = flights_of(a, die);

	for (uint32_t i = 0; i < d->count && (d->op == NAND_ERASE || a->pbs > 1); i++) {
		if (d->op == NAND_ERASE) {
			settle_erase(a, &f[i]);
		} else {
			struct place p = place_of(a, f[i].ppn);

			disturb_neighbours(a, &p, f[i].pb);
		}
	}
	image_order();
	d->count = 0;
	d->suspends = 0;
	d->reads_until_ns = 0;
}

/* ---- submit ------------------------------------------------------------- */

static bool slc_page_exists(const struct nand_array *a, uint32_t ppn)
{
	return a->c.timing.slc_program_ns && place_of(a, ppn).page < slc_pages(a);
}

/* R0 */
static inline bool address_exists(const struct nand_array *a, const struct nand_cmd *c)
{
	if ((unsigned int)c->op >= NAND_NOPS || c->source >= NAND_NSOURCES ||
	    c->ppn.v >= a->pages)
		return false;
	if (programs(c) && c->slc && !slc_page_exists(a, c->ppn.v))
		return false;
	if (c->op == NAND_COPYBACK)
		return c->from.v < a->pages;
	return c->op != NAND_ERASE ||
	       c->ppn.v == fxp_quotient(a->by_block_pages, c->ppn.v) * a->by_block_pages.d;
}

/*
 * Can commands of this array never fail? This is so without wear and without a hook that injects
 * faults.
 */
static inline bool never_fails(const struct nand_array *a)
{
	return !a->hooks.fault && !a->c.physics.endurance;
}

static bool fails(struct nand_array *a, const struct place *p, struct nand_cmd *c)
{
	enum nand_status want = c->op == NAND_ERASE ? NAND_ERASE_FAIL : NAND_PROG_FAIL;
	enum nand_status s = NAND_OK;
	uint32_t erases = c->op == NAND_ERASE ? 0 : a->pb[p->pb].erases;

	if (a->hooks.fault)
		s = a->hooks.fault(a->hooks.opaque, c);
	if (c->op == NAND_ERASE && a->c.physics.endurance) {
		uint32_t low = p->block * a->pbs + pb_first(a, c->pb) / a->pb_pages;

		for (uint32_t i = low; i < low + pb_span(a, c->pb) / a->pb_pages; i++)
			if (a->pb[i].erases >= erases)
				erases = a->pb[i].erases;
		erases++;
	}
	if (s == NAND_OK && wear_fails(a, p->block, erases, c->op))
		s = want;
	c->status = s;
	return s == want;
}

static inline uint32_t plan_of(const struct nand_array *a, const struct place *p)
{
	return a->pbs == 1 ? 0 : disturbance_plan(a, p);	/* a block with one PB has no edges inside */
}

/* Store the flights before their effects, so that a power cut can undo the effects (A5). */
static void store_flights(struct nand_array *a, const struct place *at, struct nand_cmd *c,
		     unsigned int count, uint64_t cell_start_ns)
{
	struct img_die *d = &a->die[at[0].die];
	struct img_flight *f = flights_of(a, at[0].die);

	for (unsigned int i = 0; i < count; i++) {
		f[i].ppn = at[i].ppn;
		f[i].pb = c[i].op == NAND_ERASE ? c[i].pb : plan_of(a, &at[i]);
		f[i].prev_next = order_next(a, &at[i]);
		c[i].status = NAND_OK;
		c[i].page = NULL;
		c[i].raw_bits = 0;
		c[i].retries = 0;
		c[i].resumed_done_ns = 0;
		f[i].failed = never_fails(a) ? false : fails(a, &at[i], &c[i]);
	}
	d->op = c[0].op;
	d->source = c[0].source;
	d->cell_start_ns = cell_start_ns;
	d->suspends = 0;
	d->reads_until_ns = 0;
	image_order();
	d->ready_ns = c[0].done_ns;
	image_order();
	d->count = count;
	image_order();
}

static unsigned int distinct_planes(const struct place *at, unsigned int count)
{
	unsigned int planes = 0;

	for (unsigned int i = 0; i < count; i++) {
		unsigned int k = 0;

		while (k < i && at[k].plane != at[i].plane)
			k++;
		planes += k == i;
	}
	return planes;
}

static void change_cells(struct nand_array *a, uint64_t now_ns, const struct place *at,
			 struct nand_cmd *c, unsigned int count)
{
	const struct img_flight *f = flights_of(a, at[0].die);
	uint64_t cell_start_ns = 0;

	time_group(a, now_ns, at, c, count, &cell_start_ns);
	store_flights(a, at, c, count, cell_start_ns);
	a->die_busy[at[0].die].ns[c[0].source] += c[0].done_ns - now_ns;
	for (unsigned int i = 0; i < count; i++) {
		a->stats.ops[c[i].op][c[i].source]++;
		if (c[i].op == NAND_ERASE)
			do_erase(a, &c[i], f[i].failed);
		else
			do_program(a, &at[i], &c[i], f[i].failed);
	}
	if (c[0].op == NAND_ERASE)
		a->stats.parallel_erases += count - distinct_planes(at, count);
}

static void read_cells(struct nand_array *a, uint64_t now_ns, const struct place *at,
		       struct nand_cmd *c, unsigned int count)
{
	struct img_die *d = &a->die[at[0].die];
	uint64_t end_ns = 0, since_ns = now_ns, took_ns;
	bool beside = die_reads(d, now_ns);

	if (beside)			/* the die is busy anyway until the other reads end */
		since_ns = d->count ? d->reads_until_ns : d->ready_ns;
	for (unsigned int i = 0; i < count; i++)
		find_read_errors(a, &at[i], &c[i]);
	time_group(a, now_ns, at, c, count, NULL);
	for (unsigned int i = 0; i < count; i++) {
		a->stats.ops[NAND_READ][c[i].source]++;
		do_read(a, &at[i], &c[i]);
		if (c[i].done_ns > end_ns)
			end_ns = c[i].done_ns;
		if (a->c.timing.plane_reads)
			a->plane_read_ns[at[i].plane] = c[i].done_ns;
	}
	if (end_ns < since_ns)
		end_ns = since_ns;
	took_ns = end_ns - since_ns;
	if (d->count) {			/* there is a group to suspend */
		if (!beside) {
			took_ns += a->c.timing.resume_ns;
			if (a->c.timing.plane_reads)
				a->suspended_ns[at[0].die] = now_ns + a->c.timing.suspend_ns;
		}
		d->ready_ns += took_ns;
		d->reads_until_ns = end_ns;
		d->suspends++;
		a->stats.suspends++;
		for (unsigned int i = 0; i < count; i++)
			c[i].resumed_done_ns = d->ready_ns;
	} else {
		d->ready_ns = end_ns;
	}
	a->die_busy[at[0].die].ns[c[0].source] += took_ns;
}

/* Execute a call that plain.c does not handle. */
SSD_APART void array_submit_any(struct nand_array *a, uint64_t now_ns, struct nand_cmd *c,
				unsigned int count)
{
	struct place at[NAND_GROUP_MAX];
	enum nand_rule r = a->powered ? NAND_NRULES : NAND_R8;

	for (unsigned int i = 0; i < count && r == NAND_NRULES; i++)
		if (!address_exists(a, &c[i]))
			r = NAND_R0;
	if (r == NAND_NRULES) {
		uint32_t die = fxp_quotient(a->by_die_pages, c->ppn.v);

		if (a->die[die].count && a->die[die].ready_ns <= now_ns)
			die_settle(a, die);		/* make the effects of ended commands final */
		for (unsigned int i = 0; i < count; i++) {	/* now, because an erase ends a block's SLC mode */
			at[i] = place_of(a, c[i].ppn.v);
			if (programs(&c[i]))
				at[i].slc = c[i].slc;
		}
		/* cppcheck-suppress uninitvar ; count is at least 1 (array_submit) */
		r = rule_broken(a, now_ns, at, c, count);
	}
	if (SSD_UNLIKELY(r != NAND_NRULES)) {
		refuse(a, now_ns, r, c, count);
		return;
	}
	if (c[0].op == NAND_READ)
		read_cells(a, now_ns, at, c, count);
	else
		change_cells(a, now_ns, at, c, count);
	if (a->hooks.done)
		a->hooks.done(a->hooks.opaque, now_ns, c, count);
}

static SSD_HOT void array_submit(struct nand *n, uint64_t now_ns, struct nand_cmd *c, unsigned int count)
{
	struct nand_array *a = array_of(n);

	SSD_ASSERT(count >= 1 && count <= NAND_GROUP_MAX);
	SSD_ASSERT(now_ns >= a->head->now_ns);	/* A4 */
	a->head->now_ns = now_ns;
	if (SSD_LIKELY(a->plain) && c->op == NAND_READ && count == 1)
		plain_read(a, now_ns, c);
	else if (SSD_LIKELY(a->plain) && c->op == NAND_READ)
		plain_read_planes(a, now_ns, c, count);
	else if (SSD_LIKELY(a->plain) && c->op == NAND_PROGRAM)
		plain_program(a, now_ns, c, count);
	else
		array_submit_any(a, now_ns, c, count);
}

void nand_array_passed(struct nand_array *a, uint64_t now_ns)
{
	SSD_ASSERT(now_ns >= a->head->now_ns);	/* A4 */
	a->head->now_ns = now_ns;
}

void nand_array_age(struct nand_array *a, uint64_t ns)
{
	a->head->age_ns += ns;
}

/* ---- the rest of nand_ops ----------------------------------------------- */

static bool array_may_interpose(const struct nand *n, uint64_t now_ns, ppn_t p)
{
	const struct nand_array *a = array_of(n);
	const struct place at = place_of(a, p.v);
	const struct nand_cmd read = { .op = NAND_READ, .ppn = p, .ecc_words = NAND_WHOLE_PAGE };

	return a->powered && a->die[at.die].ready_ns > now_ns && may_interpose(a, now_ns, &at, &read, 1);
}

static uint64_t array_die_ready_ns(const struct nand *n, uint32_t die)
{
	return array_of(n)->die[die].ready_ns;
}

static bool array_is_bad(const struct nand *n, pbn_t b)
{
	return array_of(n)->block[b.v] & BLOCK_BAD;
}

static bool array_is_slc(const struct nand *n, pbn_t b)
{
	const struct nand_array *a = array_of(n);
	uint32_t ppn = b.v * a->by_block_pages.d, die = place_of(a, ppn).die;
	const struct img_flight *f = flights_of(a, die);

	for (uint32_t i = 0; a->die[die].op == NAND_ERASE && i < a->die[die].count; i++)
		if (f[i].ppn == ppn && !f[i].failed)
			return false;
	return a->block[b.v] & BLOCK_SLC;
}

static void array_mark_bad(struct nand *n, pbn_t b)
{
	array_of(n)->block[b.v] |= BLOCK_BAD;
	array_of(n)->bads = true;
}

/* Is f an erase of the smallest PB s that has not settled and so must still be counted? */
static bool is_pending_erase(const struct nand_array *a, const struct img_flight *f, uint32_t s)
{
	uint32_t low = fxp_quotient(a->by_block_pages, f->ppn) * a->pbs +
		       pb_first(a, f->pb) / a->pb_pages;

	return !f->failed && s >= low && s < low + pb_span(a, f->pb) / a->pb_pages;
}

static uint32_t array_erase_count(const struct nand *n, pbn_t b)
{
	const struct nand_array *a = array_of(n);
	uint32_t die = place_of(a, b.v * a->by_block_pages.d).die, most = 0;
	const struct img_flight *f = flights_of(a, die);

	for (uint32_t s = b.v * a->pbs; s < (b.v + 1) * a->pbs; s++) {
		uint32_t erases = a->pb[s].erases;

		for (uint32_t i = 0; a->die[die].op == NAND_ERASE && i < a->die[die].count; i++)
			erases += is_pending_erase(a, &f[i], s);
		if (erases > most)
			most = erases;
	}
	return most;
}

/* Count the levels as they will be after the erases under way. */
static void count_pending(const struct nand_array *a, const struct img_flight *f,
			  struct nand_stats *out)
{
	uint32_t low = fxp_quotient(a->by_block_pages, f->ppn) * a->pbs +
		       pb_first(a, f->pb) / a->pb_pages;

	out->erase_count_sum++;
	for (uint32_t s = low; is_pending_erase(a, f, s); s++) {
		uint64_t e = a->pb[s].erases;

		out->page_erases += a->pb_pages;
		out->page_erases_sq += (2 * e + 1) * a->pb_pages;
		if (e + 1 > out->erase_count_max)
			out->erase_count_max = e + 1;
	}
}

static void array_get_stats(const struct nand *n, struct nand_stats *out)
{
	const struct nand_array *a = array_of(n);
	const struct nand_geometry *g = &n->geo;

	*out = a->stats;
	for (uint32_t i = 0; i < geo_dies(g); i++) {
		const struct img_die *d = &a->die[i];

		for (uint32_t k = 0; d->op == NAND_ERASE && k < d->count; k++)
			count_pending(a, flights_of(a, i) + k, out);
		for (unsigned int s = 0; s < NAND_NSOURCES; s++)
			out->die_busy_ns[s] += a->die_busy[i].ns[s];
	}
	for (uint32_t i = 0; i < g->channels; i++)
		for (unsigned int s = 0; s < NAND_NSOURCES; s++)
			out->bus_busy_ns[s] += a->bus_busy[i].ns[s];
}

static void array_reset_stats(struct nand *n)
{
	struct nand_array *a = array_of(n);
	struct nand_stats kept = a->stats;

	memset(&a->stats, 0, sizeof(a->stats));
	memset(a->die_busy, 0, geo_dies(&n->geo) * sizeof(*a->die_busy));
	memset(a->bus_busy, 0, n->geo.channels * sizeof(*a->bus_busy));
	nand_copy_levels(&a->stats, &kept);
}

static enum nand_status array_peek(const struct nand *n, ppn_t p, const void **data,
				   const void **oob)
{
	struct nand_array *a = array_of(n);
	enum cell k = cell_get(a, p.v);

	if (data)
		*data = NULL;
	if (oob)
		*oob = NULL;
	if (k == CELL_ERASED)
		return NAND_ERASED;
	if (data && k == CELL_LOST && a->payload)
		*data = page_payload(a, p.v);
	if (k == CELL_LOST || (a->sum && !page_matches(a, p.v, data != NULL)))
		return NAND_UNCORR;
	if (oob)
		*oob = oob_of(a, p.v);
	if (data) {
		struct place at = place_of(a, p.v);

		/* peek's own register: a plane's may hold a page that the FTL still uses */
		at.plane = geo_planes(&n->geo);
		*data = page_content(a, &at);
	}
	return NAND_OK;
}

uint64_t nand_array_die_busy_ns(const struct nand_array *a, uint32_t die, enum nand_source s)
{
	return a->die_busy[die].ns[s];
}

uint64_t nand_array_bus_busy_ns(const struct nand_array *a, uint32_t channel, enum nand_source s)
{
	return a->bus_busy[channel].ns[s];
}

static const struct nand_ops array_ops = {
	.submit = array_submit,
	.die_ready_ns = array_die_ready_ns,
	.may_interpose = array_may_interpose,
	.is_bad = array_is_bad,
	.is_slc = array_is_slc,
	.mark_bad = array_mark_bad,
	.erase_count = array_erase_count,
	.get_stats = array_get_stats,
	.reset_stats = array_reset_stats,
	.peek = array_peek,
};

struct nand *nand_array_init(void *mem, void *image, const struct nand_array_config *c)
{
	const struct nand_hooks none = { .opaque = NULL };

	return nand_array_take_up(mem, image, c, &none);
}

struct nand *nand_array_take_up(void *mem, void *image, const struct nand_array_config *c,
				const struct nand_hooks *h)
{
	struct nand_array *a = mem;
	const char *why;

	SSD_ASSERT(nand_array_validate(c, &why) == SSD_OK);
	a->base.ops = &array_ops;
	a->base.geo = c->geo;
	a->c = *c;
	a->hooks = *h;
	image_attach(a, mem, image);
	a->bads = false;
	if (a->head->used) {
		image_count(a);
		nand_array_power_cut(a, a->head->now_ns, a->head->cuts);
	}
	nand_array_power_on(a);
	if (!a->head->used)		/* a hook may have stored 2 (pages missing): SPEC.md */
		a->head->used = 1;
	return &a->base;
}

void nand_array_from_outside(struct nand_array *a)
{
	a->from_outside = true;
}

void nand_array_set_hooks(struct nand_array *a, const struct nand_hooks *h)
{
	a->hooks = *h;
	a->plain = plain_possible(a);
}

const struct nand_hooks *nand_array_hooks(const struct nand_array *a)
{
	return &a->hooks;
}

uint64_t nand_array_cuts(const struct nand_array *a)
{
	return a->head->cuts;
}

uint64_t *nand_array_notes(struct nand_array *a)
{
	return a->head->note;
}
