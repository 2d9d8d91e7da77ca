// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * rules.c - which rule of nand.h a group of commands breaks, if any. It reads the state and does not
 * change it. The caller checks R0, before there are places to look at; R2 by word lines is in order.c.
 */
#include "array_impl.h"

static enum nand_rule erase_rule(const struct nand_array *a, const struct place *p,
				 const struct nand_cmd *c)
{
	if (a->block[p->block] & BLOCK_BAD)
		return NAND_R3;
	return c->pb >= 1 && c->pb < 2u << a->base.geo.pb_levels ? NAND_NRULES : NAND_R4;
}

static inline bool order_allows(const struct nand_array *a, const struct place *p)
{
	switch (a->base.geo.order) {
	case NAND_ORDER_ASCENDING:
		return p->pb_page >= a->pb[p->pb].next;
	case NAND_ORDER_NONE:
		return true;
	case NAND_ORDER_FPS:
	case NAND_ORDER_RPS:
		return order_allows_word_line(a, p);
	case NAND_NORDERS:
		break;
	}
	return false;
}

/*
 * May a command in mode p->slc program p? Its block must be in that mode or have no programmed
 * pages.
 */
static inline bool mode_allows(const struct nand_array *a, const struct place *p)
{
	bool slc = a->slcs && a->block[p->block] & BLOCK_SLC;

	return slc == p->slc || (!slc && !a->pb[p->pb].next);
}

static inline enum nand_rule program_rule(const struct nand_array *a, const struct place *p)
{
	if (a->block[p->block] & BLOCK_BAD)
		return NAND_R3;
	if (a->pb[p->pb].flags & PB_TORN)
		return NAND_R9;
	if (cell_get(a, p->ppn) != CELL_ERASED)
		return NAND_R1;
	return mode_allows(a, p) && order_allows(a, p) ? NAND_NRULES : NAND_R2;
}

static inline enum nand_rule read_rule(const struct nand_array *a, const struct nand_cmd *c)
{
	if (c->ecc_words == NAND_WHOLE_PAGE || c->ecc_words == NAND_OOB_ONLY ||
	    c->ecc_words == a->all_words)
		return NAND_NRULES;
	if (c->ecc_words & ~a->all_words || a->base.geo.subpage == NAND_SUBPAGE_NONE)
		return NAND_R7;
	return NAND_NRULES;
}

static enum nand_rule copyback_rule(const struct nand_array *a, const struct place *p,
				    const struct nand_cmd *c)
{
	if (!a->base.geo.copyback || place_of(a, c->from.v).plane != p->plane ||
	    cell_get(a, c->from.v) == CELL_ERASED)
		return NAND_R10;
	return program_rule(a, p);
}

/* Returns the rule that one command breaks by itself, or NAND_NRULES. */
static inline enum nand_rule broken_alone(const struct nand_array *a, const struct place *p,
				   const struct nand_cmd *c)
{
	switch (c->op) {
	case NAND_READ:
		return read_rule(a, c);
	case NAND_PROGRAM:
		return program_rule(a, p);
	case NAND_ERASE:
		return erase_rule(a, p, c);
	case NAND_COPYBACK:
		return copyback_rule(a, p, c);
	case NAND_NOPS:
		break;
	}
	return NAND_R0;
}

static enum nand_rule erase_group_rule(const struct nand_array *a, const struct place *at,
				       unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		uint32_t same_plane = 0;

		for (unsigned int k = 0; k < i; k++) {
			if (at[k].block == at[i].block)
				return NAND_R5;
			same_plane += at[k].plane == at[i].plane;
		}
		if (same_plane >= a->base.geo.erase_group_max)
			return NAND_R5;
	}
	return NAND_NRULES;
}

static enum nand_rule planes_rule(const struct place *at, unsigned int count, unsigned int each)
{
	for (unsigned int i = 0; i < count; i += each)
		for (unsigned int k = 0; k < i; k += each)
			if (at[k].plane == at[i].plane)
				return NAND_R6;
	return NAND_NRULES;
}

/*
 * R11 of one-shot programs: are each `bits` commands the pages of one word line? Returns the rule that is broken, or
 * NAND_NRULES.
 */
static enum nand_rule one_shot_rule(const struct nand_array *a, const struct place *at,
				    unsigned int count)
{
	uint32_t bits = a->base.geo.bits_per_cell;

	if (count % bits)
		return NAND_R11;
	for (unsigned int i = 0; i < count; i++) {
		const struct place *first = &at[i - i % bits];

		if (page_type(a, first->page) || at[i].ppn != first->ppn + i % bits)
			return NAND_R11;
	}
	return planes_rule(at, count, bits);
}

static enum nand_rule broken_together(const struct nand_array *a, const struct place *at,
				      const struct nand_cmd *c, unsigned int count)
{
	for (unsigned int i = 1; i < count; i++)
		if (c[i].op != c[0].op || at[i].die != at[0].die ||
		    (programs(&c[0]) && at[i].slc != at[0].slc))
			return NAND_R6;
	if (c[0].op == NAND_ERASE)
		return erase_group_rule(a, at, count);
	if (c[0].op == NAND_PROGRAM && a->base.geo.one_shot)
		return one_shot_rule(a, at, count);
	return planes_rule(at, count, 1);
}

/* Are the page at p and page ppn of its block in the same cells? */
static inline bool same_cells(const struct nand_array *a, const struct place *p, uint32_t ppn)
{
	const struct place other = place_of(a, ppn);

	return word_line(a, p) == word_line(a, &other);
}

/* Does the die's group that changes cells, if there is one, work on what these commands read? */
static bool works_on(const struct nand_array *a, const struct place *at, unsigned int count)
{
	const struct img_die *d = &a->die[at[0].die];
	const struct img_flight *f = flights_of(a, at[0].die);

	for (uint32_t i = 0; i < d->count; i++) {
		uint32_t block = fxp_quotient(a->by_block_pages, f[i].ppn);

		for (unsigned int k = 0; k < count; k++)
			if (at[k].block == block && (d->op == NAND_ERASE || same_cells(a, &at[k], f[i].ppn)))
				return true;
	}
	return false;
}

/* Does the die, with plane_reads, read none of these planes now, so that a read of them may begin beside its others? */
static bool planes_free(const struct nand_array *a, uint64_t now_ns, const struct place *at, unsigned int count)
{
	if (!a->c.timing.plane_reads)
		return false;
	for (unsigned int k = 0; k < count; k++)
		if (a->plane_read_ns[at[k].plane] > now_ns)
			return false;
	return true;
}

bool may_interpose(const struct nand_array *a, uint64_t now_ns, const struct place *at,
		   const struct nand_cmd *c, unsigned int count)
{
	const struct img_die *d = &a->die[at[0].die];

	if (c[0].op != NAND_READ || (die_reads(d, now_ns) && !planes_free(a, now_ns, at, count)))
		return false;
	if (!d->count)
		return true;
	return a->c.timing.suspend_ns && d->suspends < a->c.timing.suspends_max && now_ns >= d->cell_start_ns &&
	       !works_on(a, at, count);
}

enum nand_rule rule_broken(const struct nand_array *a, uint64_t now_ns, const struct place *at,
			   const struct nand_cmd *c, unsigned int count)
{
	enum nand_rule r = NAND_NRULES;

	if (count > 1 || (a->base.geo.one_shot && c[0].op == NAND_PROGRAM))
		r = broken_together(a, at, c, count);
	if (r != NAND_NRULES)
		return r;
	if (a->die[at[0].die].ready_ns > now_ns && !may_interpose(a, now_ns, at, c, count))
		return NAND_R8;
	for (unsigned int i = 0; i < count; i++) {
		r = broken_alone(a, &at[i], &c[i]);
		if (r != NAND_NRULES)
			return r;
	}
	return NAND_NRULES;
}
