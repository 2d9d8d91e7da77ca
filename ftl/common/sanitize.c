// SPDX-License-Identifier: GPL-2.0-or-later
#include "sanitize.h"

#include "nand_geom.h"

#define NO_PAGE UINT32_MAX

uint64_t sanitize_idle_ns(const struct nand *n, uint64_t now_ns)
{
	for (uint32_t die = 0; die < geo_dies(&n->geo); die++) {
		uint64_t idle_ns = n->ops->die_ready_ns(n, die);

		if (idle_ns > now_ns)
			now_ns = idle_ns;
	}
	return now_ns;
}

static pbn_t block_of_row(const struct nand_geometry *g, uint32_t die, uint32_t plane, uint32_t row)
{
	return (pbn_t){ (die * g->planes_per_die + plane) * g->blocks_per_plane + row };
}

/*
 * Put a die's group for a row into c[]: in each good block, a command like `one` for each of `pages` pages from `page`
 * on. Returns the number of commands.
 */
static uint32_t group_of(const struct nand *n, struct nand_cmd *c, struct nand_cmd one, uint32_t die, uint32_t row,
			 uint32_t page, uint32_t pages)
{
	const struct nand_geometry *g = &n->geo;
	uint32_t count = 0;

	for (uint32_t plane = 0; plane < g->planes_per_die; plane++) {
		pbn_t block = block_of_row(g, die, plane, row);

		if (n->ops->is_bad(n, block))
			continue;
		for (uint32_t i = 0; i < pages; i++) {
			one.ppn.v = block.v * g->pages_per_block + page + i;
			c[count++] = one;
		}
	}
	return count;
}

/* Execute one group of a die. Blocks of which a command fails become bad. Returns the end of the group, or end_ns. */
static uint64_t execute(struct nand *n, uint64_t now_ns, struct nand_cmd *c, uint32_t count, uint64_t end_ns,
			uint32_t *failed)
{
	if (count)
		nand_submit(n, now_ns, c, count);
	for (uint32_t i = 0; i < count; i++) {
		pbn_t block = { c[i].ppn.v / n->geo.pages_per_block };

		SSD_ASSERT(c[i].status == NAND_OK || c[i].status == NAND_ERASE_FAIL || c[i].status == NAND_PROG_FAIL);
		if (c[i].status != NAND_OK && !n->ops->is_bad(n, block)) {
			n->ops->mark_bad(n, block);
			*failed += 1;
		}
		if (c[i].done_ns > end_ns)
			end_ns = c[i].done_ns;
	}
	return end_ns;
}

uint64_t sanitize_row(struct nand *n, uint64_t now_ns, uint32_t row, uint32_t *failed)
{
	struct nand_cmd one = { .op = NAND_ERASE, .source = NAND_SRC_META, .pb = NAND_WHOLE_BLOCK };
	struct nand_cmd c[NAND_PLANES_MAX];
	uint64_t end_ns = now_ns;

	for (uint32_t die = 0; die < geo_dies(&n->geo); die++)
		end_ns = execute(n, now_ns, c, group_of(n, c, one, die, row, 0, 1), end_ns, failed);
	return end_ns;
}

static bool by_word_lines(const struct nand_geometry *g)
{
	return g->order == NAND_ORDER_FPS || g->order == NAND_ORDER_RPS;
}

uint32_t sanitize_steps(const struct nand_geometry *g)
{
	uint32_t more = by_word_lines(g) ? (g->bits_per_cell - 1) * g->bits_per_cell : 0;

	return g->pages_per_block / geo_shot_pages(g) + more;
}

/*
 * The page of a step. With the orders by word lines, round r programs type t of word line r - t, lowest type
 * first. So C1 to C4 (R2) hold: all that a page needs is in earlier rounds, or before it in its own.
 */
static uint32_t page_of_step(const struct nand_geometry *g, uint32_t step)
{
	uint32_t round = step / g->bits_per_cell, type = step % g->bits_per_cell;

	if (!by_word_lines(g))
		return step * geo_shot_pages(g);
	if (type > round || round - type >= g->pages_per_block / g->bits_per_cell)
		return NO_PAGE;
	return (round - type) * g->bits_per_cell + type;
}

uint64_t sanitize_program(struct nand *n, uint64_t now_ns, uint32_t row, uint32_t step, const void *data,
			  uint32_t *failed)
{
	struct nand_cmd one = { .op = NAND_PROGRAM, .source = NAND_SRC_META, .data = data };
	struct nand_cmd c[NAND_GROUP_MAX];
	uint64_t end_ns = now_ns;
	uint32_t page = page_of_step(&n->geo, step), pages = geo_shot_pages(&n->geo);

	for (uint32_t die = 0; page != NO_PAGE && die < geo_dies(&n->geo); die++)
		end_ns = execute(n, now_ns, c, group_of(n, c, one, die, row, page, pages), end_ns, failed);
	return end_ns;
}
