// SPDX-License-Identifier: GPL-2.0-or-later
/* save.c - see save.h */
#include "save.h"

#include "nand_geom.h"

static uint64_t slowest_program_ns(const struct ftl_config *c, const struct nand_geometry *g)
{
	uint32_t slowest = c->timing.slc_program_ns;

	for (uint32_t i = 0; i < g->bits_per_cell; i++)
		if (c->timing.program_ns[i] > slowest)
			slowest = c->timing.program_ns[i];
	return slowest;
}

/* Returns the time in which a die ends the longest command and programs its share of the buffer. */
static uint64_t needed_ns(const struct ftl_config *c, const struct nand_geometry *g)
{
	uint64_t upp = g->page_bytes / c->unit_bytes, shot = geo_shot_pages(g);
	uint64_t programs = (c->buffer_units / upp + shot - 1) / shot;
	uint64_t at_once = c->multiplane ? geo_planes(g) : geo_dies(g);
	uint64_t program_ns = slowest_program_ns(c, g), erase_ns = c->timing.erase_ns[0];

	return (erase_ns > program_ns ? erase_ns : program_ns) + (programs + at_once - 1) / at_once * program_ns;
}

const char *save_fault(const struct ftl_ops *t, const struct ftl_config *c, const struct nand_geometry *g)
{
	if (!c->power_protected)
		return !c->hold_up_ns ? NULL :
		       "hold_up_ns must be 0: the drive has no capacitors; or set power_protected = yes";
	if (!t->save && t->zones)
		return "power_protected must be no with zones: a page of a zone has one place, so what the buffer "
		       "holds could be saved nowhere if its program failed";
	if (!t->save)
		return "power_protected must be no: this FTL has no write buffer, so what it has completed is on flash";
	if (!c->buffer_units && t->durability != FTL_FLUSHED)
		return "power_protected must be no with buffer_units = 0: what is completed is on flash; or set "
		       "buffer_units";
	if (!c->hold_up_ns)
		return NULL;
	if (c->hold_up_ns < needed_ns(c, g))
		return "hold_up_ns is too short for the write buffer: a die takes longer to end its longest command "
		       "and program its share of buffer_units; raise hold_up_ns, lower buffer_units, or set it to 0";
	if (g->paired_loss && !g->one_shot && t->not_safe)
		return "hold_up_ns must be 0 with paired_loss: a program that the capacitors do not finish takes the "
		       "lower pages of its word line along, and this FTL backs up none";
	return NULL;
}

uint32_t ftl_save(struct ftl *f, const struct nand *n, uint32_t hold_up_ns, uint64_t now_ns, uint64_t *end_ns)
{
	uint64_t limit_ns = hold_up_ns ? now_ns + hold_up_ns : FTL_IDLE;
	uint64_t next_ns = f->ops->save(f, now_ns);

	while (next_ns != FTL_IDLE && next_ns <= limit_ns)
		next_ns = f->ops->save(f, next_ns);
	*end_ns = now_ns;
	for (uint32_t die = 0; die < geo_dies(&n->geo); die++) {
		uint64_t ready_ns = n->ops->die_ready_ns(n, die);

		*end_ns = ready_ns > *end_ns ? ready_ns : *end_ns;
	}
	if (*end_ns > limit_ns)
		*end_ns = limit_ns;
	return f->ops->unsaved(f);
}
