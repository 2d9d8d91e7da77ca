/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gc_wake.h - wakes the collectors of planes in which GC has work */
#ifndef SLATE_PAGE_GC_WAKE_H
#define SLATE_PAGE_GC_WAKE_H

#include "page_state.h"

/* The drive is idle: wake the collectors that have work for such a time, too. */
void gc_wake_idle(struct page_ftl *f);
/* The plane's blocks have changed: wake its collector if it has work now. */
void gc_wake(struct page_ftl *f, uint32_t plane);

#endif
