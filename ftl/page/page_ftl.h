/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page_ftl.h - the page-mapping FTL as the files above its pump see it: its operations (struct ftl_ops), and the
 * headers of all files below. Those files do not include this header, but the ones that they use.
 */
#ifndef SLATE_PAGE_FTL_H
#define SLATE_PAGE_FTL_H

#include "atomic.h"
#include "check.h"
#include "control.h"
#include "dies.h"
#include "dump.h"
#include "durable.h"
#include "frontier.h"
#include "gc.h"
#include "gc_wake.h"
#include "level.h"
#include "lost.h"
#include "map.h"
#include "mount.h"
#include "page_owners.h"
#include "page_state.h"
#include "place.h"
#include "queue.h"
#include "read.h"
#include "sent.h"
#include "slc.h"
#include "space.h"
#include "wbuf.h"
#include "wordline.h"

const char *page_ftl_fault(const struct ftl_ops *t, const struct ftl_config *c, const struct nand_geometry *g);
uint32_t page_ftl_oob_bytes(const struct ftl_ops *t, const struct ftl_config *c, const struct nand_geometry *g);
size_t page_ftl_lay_out(const struct ftl_ops *t, void *mem, const struct ftl_config *c,
			const struct nand_geometry *g);
void page_ftl_begin(struct ftl *base);
void page_ftl_plan_idle(struct page_ftl *f);	/* derive gc.idle_blocks and gc.idle_work from idle_gc_permille */
/* These members of struct ftl_ops are the same for all page FTLs. Their policy is a struct front_policy. */
#define PAGE_FTL_OPS_COMMON                                                                 \
	.durability = FTL_PREFIX, .word_lines = true, .plane_reads = true, .writes_lost = true, .loses_sectors = true, \
	.oob_bytes = page_ftl_oob_bytes, .fault = page_ftl_fault, .kept = page_ftl_kept,    \
	.atomic_bytes = page_ftl_atomic_bytes,                                              \
	.lay_out = page_ftl_lay_out, .begin = page_ftl_begin,                               \
	.find = page_ftl_find, .submit = page_ftl_submit,                                   \
	.step = page_ftl_step, .save = page_ftl_save, .save_most = page_ftl_save_most,      \
	.unsaved = page_ftl_unsaved,                                                        \
	.check = page_ftl_check, HOST_OPS_COMMON,                                           \
	.map_bytes = page_ftl_map_bytes, .collect = page_ftl_collect,                       \
	.anew = page_ftl_anew, .block = page_ftl_block,                                     \
	.handle = page_ftl_handle, .renew_handle = page_ftl_renew_handle
void page_ftl_submit(struct ftl *base, uint64_t now_ns, struct ftl_io *io);
uint64_t page_ftl_step(struct ftl *base, uint64_t now_ns);
uint64_t page_ftl_map_bytes(const struct ftl *base);

#endif
