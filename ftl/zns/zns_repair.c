// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * zns_repair.c - blocks that a mount replaces: one that has pages beyond its zone's end cannot be written on, so its
 * pages before the end are copied to an erased block, and it is erased. What else a mount does is in zns_mount.c and
 * zns_mount_parts.c, which call these functions.
 *
 * Cost: a read and a program for each page that is copied. A copy counts, by its higher serial, once its last page is
 * there, so a cut leaves a block to be erased.
 */
#include "zns_mount.h"
#include "zns_repair.h"

/* Read a spare area again. Returns true if it can be read. */
bool zns_found_oob(struct zns *z, uint32_t ppn, struct zns_oob *o)
{
	if (!survey_readable(survey_read(&z->host.survey, ppn, NAND_OOB_ONLY, z->oob[0], NULL)))
		return false;
	*o = zns_oob_get(z->oob[0]);
	return true;
}

/* Take an erased block of the plane, or ZNS_NONE. */
uint32_t zns_found_fresh(struct zns *z, uint32_t plane)
{
	while (z->pool.plane[plane].free_first != ZNS_NONE) {
		uint32_t b = z->pool.plane[plane].free_first;
		bool needs_erase = z->pool.block[b].needs_erase;

		z->pool.block[b].needs_erase = false;
		(void)pool_take(&z->pool, plane);
		if (!needs_erase)
			return b;
		pool_erase(&z->pool, &z->host, &z->host.survey, b);
		if (z->pool.block[b].state == POOL_BAD)
			continue;
		/* It is the last of the list now: bring it to the front. */
		while (z->pool.plane[plane].free_first != b) {
			uint32_t first = z->pool.plane[plane].free_first;
			bool unclean = z->pool.block[first].needs_erase;

			z->pool.block[first].needs_erase = false;
			pool_put_free(&z->pool, pool_take(&z->pool, plane), unclean);
		}
	}
	return ZNS_NONE;
}

/* Copy a page to the block's copy, which will have as->copied pages. */
static bool copy_page(struct zns *z, uint32_t from, uint32_t to, const struct zns_oob *as)
{
	struct zns_oob o = *as;
	struct nand_cmd c;

	nand_fill_read(&c, NAND_SRC_META, from, NAND_WHOLE_PAGE, z->oob[0]);
	survey_command(&z->host.survey, &c);
	if (survey_readable(c.status)) {
		const struct zns_oob was = zns_oob_get(z->oob[0]);

		o.kind = was.kind;
		o.sectors = was.sectors;
		if (c.page)
			memcpy(z->mount->page, c.page, z->g->page_bytes);
	} else {
		o.kind = ZNS_DATA | ZNS_LOST;
	}
	zns_oob_put(z->oob[0], &o);
	nand_fill_program(&c, NAND_SRC_META, to, z->oob[0]);
	c.data = z->host.c.payload ? z->mount->page : NULL;
	survey_command(&z->host.survey, &c);
	return c.status == NAND_OK;
}

/* Copy the block's first `count` pages. Returns false if no block is left for it. */
static bool copy_block(struct zns *z, uint32_t zone, uint32_t part, uint32_t slot, uint32_t count)
{
	uint32_t *at = zns_block_at(z, zone, part, slot), ppb = z->g->pages_per_block, to, i;
	struct zns_oob o = { .zone = zone, .gen = z->zone[zone].gen, .mark = count };

	for (;;) {
		to = zns_found_fresh(z, zns_plane_at(z, zone, slot));
		if (to == ZNS_NONE)
			return false;
		o.serial = ++z->number;
		for (i = 0; i < count; i++) {
			o.page = (part * ppb + i) * z->shape.slots + slot;
			if (!copy_page(z, *at * ppb + i, to * ppb + i, &o))
				break;
		}
		if (i == count)
			break;
		pool_put_bad(&z->pool, &z->host, to);
	}
	z->host.stats.gc_units += count * (z->g->page_bytes / z->host.c.unit_bytes);
	pool_erase(&z->pool, &z->host, &z->host.survey, *at);
	*at = to;
	return true;
}

/*
 * If the block has pages beyond the zone's end, replace it by a copy without them, so that the zone
 * can be continued.
 */
static bool repair_block(struct zns *z, uint32_t zone, uint32_t part, uint32_t slot, uint32_t end)
{
	uint32_t *at = zns_block_at(z, zone, part, slot), before = part * z->g->pages_per_block;
	uint32_t rows = (end + z->shape.slots - 1 - slot) / z->shape.slots, count = rows > before ? rows - before : 0;

	if (*at == ZNS_NONE || z->mount->block[*at].used <= count)
		return true;
	if (count)
		return copy_block(z, zone, part, slot, count);
	pool_erase(&z->pool, &z->host, &z->host.survey, *at);
	*at = ZNS_NONE;
	return true;
}

/* Returns false if blocks are missing: the zone is read-only. */
bool zns_found_repair(struct zns *z, uint32_t zone)
{
	uint32_t end = (uint32_t)(z->zone[zone].filled / z->g->page_bytes);
	bool good = true;

	for (uint32_t part = 0; part < z->shape.parts; part++)
		for (uint32_t slot = 0; slot < z->shape.slots; slot++)
			good &= repair_block(z, zone, part, slot, end);
	return good;
}
