/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rescue.h - the part of a mount that rebuilds lost pages from parity pages (rescue.c) */
#ifndef SLATE_RESCUE_H
#define SLATE_RESCUE_H

#include "mount_state.h"

/* A mount calls these functions in this order. */
void rescue_note_parity(struct page_mount *s, uint32_t ppn, const uint8_t *oob);
int rescue_rebuild(struct page_mount *s) SSD_MUST_CHECK;
void rescue_keep_dead(struct page_mount *s);
bool rescue_holds(const struct page_ftl *f, uint32_t b);
void rescue_frontiers(struct page_mount *s);
int rescue_rewrite(struct page_mount *s) SSD_MUST_CHECK;

#endif
