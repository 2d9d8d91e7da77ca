// SPDX-License-Identifier: GPL-2.0-or-later
#include "sanitize.h"

#include "nand_geom.h"

uint64_t sanitize_idle_ns(const struct nand *n, uint64_t now_ns)
{
	for (uint32_t die = 0; die < geo_dies(&n->geo); die++) {
		uint64_t idle_ns = n->ops->die_ready_ns(n, die);

		if (idle_ns > now_ns)
			now_ns = idle_ns;
	}
	return now_ns;
}

static uint32_t add_erases(const struct nand *n, struct nand_cmd *c, uint32_t die, uint32_t row)
{
	const struct nand_geometry *g = &n->geo;
	uint32_t count = 0;

	for (uint32_t plane = 0; plane < g->planes_per_die; plane++) {
		uint32_t block = (die * g->planes_per_die + plane) * g->blocks_per_plane + row;

		if (n->ops->is_bad(n, (pbn_t){ block }))
			continue;
		c[count++] = (struct nand_cmd){ .op = NAND_ERASE, .source = NAND_SRC_META, .pb = NAND_WHOLE_BLOCK,
						.ppn = { block * g->pages_per_block } };
	}
	return count;
}

uint64_t sanitize_row(struct nand *n, uint64_t now_ns, uint32_t row, uint32_t *failed)
{
	struct nand_cmd c[NAND_PLANES_MAX];
	uint64_t end_ns = now_ns;

	for (uint32_t die = 0; die < geo_dies(&n->geo); die++) {
		uint32_t count = add_erases(n, c, die, row);

		if (count)
			nand_submit(n, now_ns, c, count);
		for (uint32_t i = 0; i < count; i++) {
			SSD_ASSERT(c[i].status == NAND_OK || c[i].status == NAND_ERASE_FAIL);
			if (c[i].status == NAND_ERASE_FAIL) {
				n->ops->mark_bad(n, (pbn_t){ c[i].ppn.v / n->geo.pages_per_block });
				*failed += 1;
			}
			if (c[i].done_ns > end_ns)
				end_ns = c[i].done_ns;
		}
	}
	return end_ns;
}
