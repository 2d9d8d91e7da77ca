// SPDX-License-Identifier: GPL-2.0-or-later
/* save.c - see save.h */
#include "save.h"

#include "front.h"
#include "nand_geom.h"

static uint64_t slowest_program_ns(const struct ftl_config *c, const struct nand_geometry *g)
{
	uint32_t slowest = c->timing.slc_program_ns;

	for (uint32_t i = 0; i < g->bits_per_cell; i++)
		if (c->timing.program_ns[i] > slowest)
			slowest = c->timing.program_ns[i];
	return slowest;
}

static uint64_t div_up(uint64_t a, uint64_t b)
{
	return (a + b - 1) / b;
}

static uint64_t greater(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/*
 * Returns the time in which each die ends the longest command, and then programs its share of what save() programs.
 *
 * The dies get equal shares and program them in rounds of one program each; with reclaim groups the dies of one group,
 * which may have all pages. In a round the channel moves the pages of its dies, one after the other. If the dies are
 * slower than the channel, the last die begins when the others have their first pages. If the channel is slower, only
 * the last round's program comes after the channel's last transfer. A parity page is a program of its own. A frontier
 * may have to erase each block that it opens, and one for parity pages.
 */
uint64_t save_needed_ns(const struct ftl_ops *t, const struct ftl_config *c, const struct nand_geometry *g)
{
	struct ftl_save_most most = t->save_most(t, c, g);
	uint64_t of_channel = geo_dies_per_channel(g), dies = greater(geo_dies(g) / ftl_groups(c), 1);
	uint64_t shot = geo_shot_pages(g), at_once = most.planes * dies;
	uint64_t rounds = div_up(div_up(most.pages, shot), at_once);
	uint64_t bus_bytes = (uint64_t)g->page_bytes + (c->timing.oob_off_bus ? 0 : g->oob_bytes);
	uint64_t page_ns = c->timing.cmd_ns + div_up(bus_bytes * c->timing.bus_ps_per_byte, 1000);
	uint64_t die_ns = most.planes * shot * page_ns;
	uint64_t channel_ns = (of_channel < dies ? of_channel : dies) * die_ns;
	uint64_t program_ns = slowest_program_ns(c, g), erase_ns = c->timing.erase_ns[0];
	uint64_t share = div_up(rounds * most.planes, most.fronts);
	uint64_t parity = front_parity_most(most.policy, c, g, share);
	uint64_t opened = share < most.blocks ? share :
			  most.blocks + (share - most.blocks) * shot / g->pages_per_block;
	uint64_t dies_ns = rounds * (die_ns + program_ns) + channel_ns - die_ns;
	uint64_t needed = greater(erase_ns, program_ns) + greater(dies_ns, rounds * channel_ns + program_ns);

	return needed + most.fronts * (parity * (page_ns + program_ns) + (opened + !!parity) * erase_ns);
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
	if (c->hold_up_ns < save_needed_ns(t, c, g))
		return "hold_up_ns is too short for the write buffer: a die may take longer to end its longest command "
		       "and to get and program its share of the buffer; lower buffer_units, or set "
		       "hold_up_ns to 0";
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
