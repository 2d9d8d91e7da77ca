/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nand_geom.h - values derived from a geometry. They are computed when needed and stored nowhere. */
#ifndef SLATE_NAND_GEOM_H
#define SLATE_NAND_GEOM_H

#include "nand.h"

static inline uint32_t geo_dies_per_channel(const struct nand_geometry *g)
{
	return g->chips_per_channel * g->dies_per_chip;
}

static inline uint32_t geo_dies(const struct nand_geometry *g)
{
	return g->channels * geo_dies_per_channel(g);
}

static inline uint32_t geo_planes(const struct nand_geometry *g)
{
	return geo_dies(g) * g->planes_per_die;
}

static inline uint64_t geo_blocks(const struct nand_geometry *g)
{
	return (uint64_t)geo_planes(g) * g->blocks_per_plane;
}

static inline uint64_t geo_pages(const struct nand_geometry *g)
{
	return geo_blocks(g) * g->pages_per_block;
}

static inline pbn_t geo_block_of(const struct nand_geometry *g, ppn_t p)
{
	return (pbn_t){ p.v / g->pages_per_block };
}

static inline uint32_t geo_page_of(const struct nand_geometry *g, ppn_t p)
{
	return p.v % g->pages_per_block;
}

static inline ppn_t geo_ppn(const struct nand_geometry *g, pbn_t b, uint32_t page)
{
	return (ppn_t){ b.v * g->pages_per_block + page };
}

/* Returns the pages of a plane that one program names: a page, or with one_shot those of a word line. */
static inline uint32_t geo_shot_pages(const struct nand_geometry *g)
{
	return g->one_shot ? g->bits_per_cell : 1;
}

/* Returns the block's plane. Planes are numbered over the whole device. */
static inline uint32_t geo_plane_of(const struct nand_geometry *g, pbn_t b)
{
	return b.v / g->blocks_per_plane;
}

static inline uint32_t geo_die_of_plane(const struct nand_geometry *g, uint32_t plane)
{
	return plane / g->planes_per_die;
}

static inline uint32_t geo_die_of(const struct nand_geometry *g, pbn_t b)
{
	return geo_die_of_plane(g, geo_plane_of(g, b));
}

static inline uint32_t geo_channel_of_die(const struct nand_geometry *g, uint32_t die)
{
	return die / geo_dies_per_channel(g);
}

#endif
