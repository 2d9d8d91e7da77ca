/* SPDX-License-Identifier: GPL-2.0-or-later */
/* space.h - counts the blocks and units that a configuration needs beside the exported ones (space.c) */
#ifndef SLATE_PAGE_SPACE_H
#define SLATE_PAGE_SPACE_H

#include "page_state.h"

uint32_t space_bitmaps(const struct ftl_config *c);	/* returns the units that the trim bitmaps take */
/* Returns the free blocks of a plane that the host may not open, without those for map pages. */
uint32_t space_urgent_blocks(const struct front_policy *policy, const struct ftl_config *c);
uint64_t space_units(const struct ftl_config *c, const struct nand_geometry *g);	/* exported and hidden units */
uint64_t space_block_units(const struct ftl_config *c, const struct nand_geometry *g);	/* of these in a block */
/* Returns the blocks of a plane that hold none of these units: reserves and open blocks. */
uint32_t space_kept_blocks(const struct front_policy *policy, const struct ftl_config *c,
			   const struct nand_geometry *g);
/* Returns the good blocks of the drive below which it is refused or becomes read-only. */
uint64_t space_blocks_needed(const struct front_policy *policy, const struct ftl_config *c,
			     const struct nand_geometry *g);
/* Returns the pages that never have room for the host's data (ftl.h). */
struct ftl_kept page_ftl_kept(const struct ftl_ops *t, const struct ftl_config *c, const struct nand_geometry *g);

#endif
