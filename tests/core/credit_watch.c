// SPDX-License-Identifier: GPL-2.0-or-later
#include "credit_watch.h"

#include "dac.h"
#include "direct.h"
#include "page_ftl.h"
#include "test.h"

static const struct ftl_config *config_of(const struct ftl *f)
{
	return &((const struct host *)f)->c;
}

static const struct nand_geometry *geometry_of(const struct ftl *f)
{
	if (!strcmp(f->ops->name, "dac"))
		return ((const struct dac *)f)->g;
	if (!strcmp(f->ops->name, "nftl") || !strcmp(f->ops->name, "superblock"))
		return ((const struct direct *)f)->g;
	return ((const struct page_ftl *)f)->g;
}

static uint32_t credit_of(const struct ftl *f, uint32_t die)
{
	if (!strcmp(f->ops->name, "dac"))
		return ((const struct dac *)f)->die[die].turn.gc_credit;
	if (!strcmp(f->ops->name, "nftl") || !strcmp(f->ops->name, "superblock"))
		return ((const struct direct *)f)->die[die].turn.gc_credit;
	return ((const struct page_ftl *)f)->die[die].turn.gc_credit;
}

void credit_watch_begin(struct credit_watch *w)
{
	memset(w->die, 0, sizeof(w->die));
}

static bool is_gc(enum nand_source source)
{
	return source == NAND_SRC_GC || source == NAND_SRC_WL;
}

void credit_watch(struct credit_watch *w, const struct ftl *f, const struct nand_cmd *c)
{
	const struct ftl_config *fc = config_of(f);
	uint32_t die = geo_die_of(geometry_of(f), geo_block_of(geometry_of(f), c->ppn));
	uint32_t now = credit_of(f, die), was = w->die[die].credit;
	bool paid = is_gc(w->die[die].source) && w->die[die].op != NAND_READ;

	SSD_ASSERT(die < CREDIT_DIES);
	/* A command of the host may have granted credit. If it is 0, the credit may have expired. */
	if (w->die[die].seen && fc->gc_mode == FTL_GC_SLICED && now && is_gc(w->die[die].source) &&
	    is_gc(c->source)) {
		SSD_ASSERT(now == was - paid);
		w->charged += paid;
	}
	w->die[die].seen = true;
	w->die[die].credit = now;
	w->die[die].op = c->op;
	w->die[die].source = c->source;
}
