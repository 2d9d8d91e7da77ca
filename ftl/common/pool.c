// SPDX-License-Identifier: GPL-2.0-or-later
/* pool.c - see pool.h */
#include "pool.h"

void pool_lay_out(struct pool *p, struct ssd_arena *m, const struct nand_geometry *g)
{
	p->block = ssd_carve(m, geo_blocks(g), sizeof(*p->block));
	p->plane = ssd_carve(m, geo_planes(g), sizeof(*p->plane));
}

void pool_init(struct pool *p, struct nand *n)
{
	p->n = n;
	for (uint32_t i = 0; i < geo_planes(&n->geo); i++)
		p->plane[i] = (struct pool_plane){ .free_first = POOL_NONE, .good = n->geo.blocks_per_plane };
}

void pool_find_bad(struct pool *p)
{
	for (uint32_t b = 0; b < geo_blocks(&p->n->geo); b++) {
		if (!p->n->ops->is_bad(p->n, (pbn_t){ b }))
			continue;
		p->block[b].state = POOL_BAD;
		pool_plane_of(p, b)->good--;
	}
}

uint32_t pool_take(struct pool *p, uint32_t plane)
{
	struct pool_plane *x = &p->plane[plane];
	uint32_t b = x->free_first;

	SSD_ASSERT(x->free_count && !p->block[b].needs_erase);
	x->free_first = p->block[b].next;
	x->free_count--;
	p->block[b].state = POOL_USED;
	return b;
}

void pool_put_free(struct pool *p, uint32_t block, bool needs_erase)
{
	struct pool_plane *x = pool_plane_of(p, block);

	SSD_ASSERT(p->block[block].state == POOL_USED);
	p->block[block] = (struct pool_block){ .next = POOL_NONE, .state = POOL_FREE, .needs_erase = needs_erase };
	if (x->free_count++)
		p->block[x->free_last].next = block;
	else
		x->free_first = block;
	x->free_last = block;
}

void pool_put_bad(struct pool *p, struct host *h, uint32_t block)
{
	SSD_ASSERT(p->block[block].state == POOL_USED);
	host_put_bad(h, block);
	p->block[block] = (struct pool_block){ .next = POOL_NONE, .state = POOL_BAD };
	pool_plane_of(p, block)->good--;
}

void pool_erase(struct pool *p, struct host *h, struct survey *s, uint32_t block)
{
	struct nand_cmd c = { .op = NAND_ERASE, .source = NAND_SRC_META, .pb = NAND_WHOLE_BLOCK,
			      .ppn = geo_ppn(s->g, (pbn_t){ block }, 0) };

	survey_command(s, &c);
	if (c.status == NAND_ERASE_FAIL)
		pool_put_bad(p, h, block);
	else
		pool_put_free(p, block, false);
}

struct ftl_block pool_info(const struct pool *p, uint32_t block, uint32_t valid)
{
	static const enum ftl_block_state shown[] = {
		[POOL_USED] = FTL_BLOCK_USED, [POOL_FREE] = FTL_BLOCK_FREE, [POOL_BAD] = FTL_BLOCK_BAD,
	};
	uint8_t state = p->block[block].state;

	return (struct ftl_block){ shown[state], state == POOL_USED ? valid : 0 };
}

void pool_check(const struct pool *p)
{
	const struct nand_geometry *g = &p->n->geo;
	uint32_t free_blocks = 0, good = 0;

	for (uint32_t b = 0; b < geo_blocks(g); b++) {
		free_blocks += p->block[b].state == POOL_FREE;
		good += p->block[b].state != POOL_BAD;
		SSD_ASSERT((p->block[b].state == POOL_BAD) == p->n->ops->is_bad(p->n, (pbn_t){ b }));	/* POOL2 */
	}
	for (uint32_t i = 0; i < geo_planes(g); i++) {
		uint32_t count = p->plane[i].free_count;

		for (uint32_t b = p->plane[i].free_first; count; b = p->block[b].next) {
			SSD_ASSERT(p->block[b].state == POOL_FREE);				/* POOL1 */
			SSD_ASSERT(geo_plane_of(g, (pbn_t){ b }) == i);				/* POOL1 */
			SSD_ASSERT(--count || b == p->plane[i].free_last);
		}
		free_blocks -= p->plane[i].free_count;
		good -= p->plane[i].good;
	}
	SSD_ASSERT(!free_blocks && !good);							/* POOL1, POOL2 */
}
