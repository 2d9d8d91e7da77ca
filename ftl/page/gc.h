/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gc.h - GC as the pump sees it: it begins the next commands of a die's collectors, and handles their ends (gc.c) */
#ifndef SLATE_PAGE_GC_H
#define SLATE_PAGE_GC_H

#include "page_state.h"

/* Issue the next commands of the collectors of an idle die. Returns false if they need none, or can issue none now. */
bool gc_run(struct page_ftl *f, uint64_t now_ns, uint32_t die);
/* The die's GC commands have ended: let its collectors go on. */
void gc_complete(struct page_ftl *f, uint64_t now_ns, const struct die *d);

#endif
