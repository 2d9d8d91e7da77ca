/* SPDX-License-Identifier: GPL-2.0-or-later */
/* direct_die.h - the commands of a die: what ends, and what begins next (direct.h has the order) */
#ifndef SLATE_DIRECT_DIE_H
#define SLATE_DIRECT_DIE_H

#include "direct.h"

void direct_die_complete(struct direct *d, uint64_t now_ns, uint32_t die);
void direct_die_dispatch(struct direct *d, uint64_t now_ns, uint32_t die);
void direct_enqueue(struct direct *d, uint64_t now_ns, uint32_t op);
/* Begin GC for the plane's order. Returns false if GC cannot free anything. */
bool direct_order_gc(struct direct *d, uint64_t now_ns, uint32_t plane);

#endif
