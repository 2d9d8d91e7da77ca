// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * control.c - orders to a page-mapping drive, and queries, while it runs.
 *
 * An order to collect is one more reason for each plane's GC to run. gc.c treats it like the other
 * reasons: the reserve, the turns and the pauses of its mode apply. The order ends when the
 * requested blocks are free, or when the policy finds no victim. It always ends, because each
 * victim frees at least one page.
 */
#include "control.h"
#include "page_ftl.h"

/* ---- settings that change ---------------------------------------------------- */

static void ask_gc(struct ftl *base)
{
	struct page_ftl *f = page_ftl_of(base);

	for (uint32_t plane = 0; plane < f->shape.planes; plane++)
		gc_wake(f, plane);
}

static void plan_idle(struct ftl *base)
{
	page_ftl_plan_idle(page_ftl_of(base));
	ask_gc(base);
}

static void copy_to_front(struct ftl *base)
{
	struct page_ftl *f = page_ftl_of(base);

	f->fr.c.fast_above_permille = f->host.c.fast_above_permille;
	f->fr.c.slow_below_permille = f->host.c.slow_below_permille;
}

static void compare_wear(struct ftl *base)
{
	struct page_ftl *f = page_ftl_of(base);

	for (uint32_t plane = 0; plane < f->shape.planes; plane++)
		f->plane[plane].level = f->host.c.wl_threshold;
	ask_gc(base);
}

const struct ftl_anew page_ftl_anew[] = {
	{ FTL_AT_USE, NULL },
	{ FTL_ANEW_GC_START, ask_gc },
	{ FTL_ANEW_GC_STOP, ask_gc },
	{ FTL_ANEW_IDLE_GC, plan_idle },
	{ FTL_ANEW_FRONT, copy_to_front },
	{ FTL_ANEW_WEAR, compare_wear },
	{ FTL_FIXED, NULL }
};

/* ---- orders and queries -------------------------------------------------------- */

uint32_t page_ftl_collect(struct ftl *base, uint64_t now_ns, uint32_t free_blocks)
{
	struct page_ftl *f = page_ftl_of(base);
	uint32_t working = 0;

	(void)page_ftl_step(base, now_ns);
	for (uint32_t plane = 0; plane < f->shape.planes; plane++) {
		struct plane *p = &f->plane[plane];

		p->order = gc_order_of(free_blocks);
		gc_wake(f, plane);
		working += gc_is_awake(&p->gc);
		if (!gc_is_awake(&p->gc))
			p->order = (struct gc_order){ 0 };
	}
	return working;
}

struct ftl_block page_ftl_block(const struct ftl *base, pbn_t b)
{
	return blk_info(&((const struct page_ftl *)base)->bt, b.v);
}

struct ftl_handle page_ftl_handle(const struct ftl *base, uint32_t handle)
{
	const struct page_ftl *f = (const struct page_ftl *)base;
	const struct page_handles *h = &f->handles;

	SSD_ASSERT(handle < h->count);
	return (struct ftl_handle){
		.unit_bytes = h->unit_bytes,
		.left_bytes = h->unit_bytes - h->handle[handle].written,
		.units = h->handle[handle].units,
	};
}

uint64_t page_ftl_renew_handle(struct ftl *base, uint64_t now_ns, uint32_t handle)
{
	struct page_ftl *f = page_ftl_of(base);
	uint64_t left;

	(void)page_ftl_step(base, now_ns);
	left = page_ftl_handle(base, handle).left_bytes;
	handles_renew(f, handle);
	f->turn.changed = true;
	return left;
}
