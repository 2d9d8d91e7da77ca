/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control.h - what a shell calls while the drive runs: orders, changed settings, questions (control.c) */
#ifndef SLATE_CONTROL_H
#define SLATE_CONTROL_H

#include "page_state.h"

extern const struct ftl_anew page_ftl_anew[];
uint32_t page_ftl_collect(struct ftl *base, uint64_t now_ns, uint32_t free_blocks);
struct ftl_block page_ftl_block(const struct ftl *base, pbn_t b);
struct ftl_handle page_ftl_handle(const struct ftl *base, uint32_t handle);
uint64_t page_ftl_renew_handle(struct ftl *base, uint64_t now_ns, uint32_t handle);

#endif
