// SPDX-License-Identifier: GPL-2.0-or-later
/* fault_plan.c - see fault_plan.h. */
#include "fault_plan.h"

#include "nand_geom.h"

const char *fault_refused(const struct fault *f, const struct nand_geometry *g)
{
	switch (f->kind) {
	case FAULT_PROGRAM:
	case FAULT_ERASE:
		if (!f->left)
			return "n must be at least 1: the next one";
		if (f->die != FAULT_ANY_DIE && f->die >= geo_dies(g))
			return "there is no such die: give one of this drive, or all ones for any";
		return NULL;
	case FAULT_FLIP:
		if (f->ppn.v >= geo_pages(g))
			return "there is no such page: page numbers end with the array";
		if (!f->bits)
			return "how many bits are to flip? Give at least 1";
		return NULL;
	}
	return "there is no such kind of fault: 1 program, 2 erase, 3 flip";
}

bool fault_plan_add(struct fault_plan *p, const struct fault *f)
{
	if (p->count == FAULT_PLAN_MAX)
		return false;
	p->entry[p->count++] = *f;
	return true;
}

void fault_plan_clear(struct fault_plan *p)
{
	p->count = 0;
}

static bool counts(const struct fault *f, const struct nand_geometry *g, const struct nand_cmd *c)
{
	bool program = c->op == NAND_PROGRAM || c->op == NAND_COPYBACK;

	if (!f->left || f->kind == FAULT_FLIP || program != (f->kind == FAULT_PROGRAM))
		return false;
	return f->die == FAULT_ANY_DIE || f->die == geo_die_of(g, geo_block_of(g, c->ppn));
}

static bool fails_now(struct fault_plan *p, const struct nand_geometry *g, const struct nand_cmd *c)
{
	bool fails = false;

	for (uint32_t i = 0; i < p->count; i++) {
		struct fault *f = &p->entry[i];

		if (!counts(f, g, c) || --f->left)
			continue;
		f->ppn = c->ppn;
		f->hits = 1;
		fails = true;
	}
	return fails;
}

/* Does this ERASE empty the page? */
static bool erases(const struct nand_geometry *g, const struct nand_cmd *c, ppn_t page)
{
	uint32_t level = 31u - (uint32_t)__builtin_clz(c->pb);
	uint32_t span = g->pages_per_block >> level;
	uint32_t first = c->ppn.v + (c->pb - (1u << level)) * span;

	return page.v >= first && page.v < first + span;
}

static void carry_flips(struct fault_plan *p, const struct nand_geometry *g, const struct nand_cmd *c)
{
	for (uint32_t i = 0; i < p->count; i++) {
		struct fault *f = &p->entry[i];

		if (f->kind != FAULT_FLIP || !f->left)
			continue;
		if (c->op == NAND_ERASE && erases(g, c, f->ppn))
			f->left = 0;
		else if (c->op == NAND_COPYBACK && c->from.v == f->ppn.v)
			f->ppn = c->ppn;
	}
}

enum nand_status fault_plan_ask(struct fault_plan *p, const struct nand_geometry *g,
				const struct nand_cmd *c)
{
	if (c->op == NAND_READ)
		return NAND_OK;
	if (fails_now(p, g, c))
		return c->op == NAND_ERASE ? NAND_ERASE_FAIL : NAND_PROG_FAIL;
	carry_flips(p, g, c);
	return NAND_OK;
}

uint32_t fault_plan_flips(struct fault_plan *p, ppn_t page)
{
	uint32_t bits = 0;

	for (uint32_t i = 0; i < p->count; i++) {
		struct fault *f = &p->entry[i];

		if (f->kind != FAULT_FLIP || !f->left || f->ppn.v != page.v)
			continue;
		f->hits++;
		bits += f->bits;
	}
	return bits;
}
