/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dump.h - a loss of power with capacitors: the operations that save the buffer (dump.c) */
#ifndef SLATE_DUMP_H
#define SLATE_DUMP_H

#include "page_state.h"

uint64_t page_ftl_save(struct ftl *base, uint64_t now_ns);
struct ftl_save_most page_ftl_save_most(const struct ftl_ops *t, const struct ftl_config *c,
					const struct nand_geometry *g);
uint32_t page_ftl_unsaved(const struct ftl *base);

#endif
