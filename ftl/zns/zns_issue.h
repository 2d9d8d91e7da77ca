/* SPDX-License-Identifier: GPL-2.0-or-later */
/* zns_issue.h - commands of an idle die: see zns_issue.c */
#ifndef SLATE_ZNS_ISSUE_H
#define SLATE_ZNS_ISSUE_H

#include "zns.h"

/* Set `look` of the zone's dies: there may be something for them to do. */
void zns_look_zone(struct zns *z, uint32_t zone);
/* Issue `count` commands of one group on an idle die. */
void zns_issue(struct zns *z, uint32_t die, enum zns_cmd cmd, struct nand_cmd *c, unsigned int count);
/* Returns true if the plane's first free block needs an erase, which has begun. */
bool zns_prepare(struct zns *z, uint32_t plane);
/* A block's erase has ended. If it failed, or an earlier program of the block, the block becomes bad; else free. */
void zns_put_erased(struct zns *z, uint32_t block, bool failed);
/*
 * Erase block[p] in each plane p of the die's bitmap `planes`, as one group. The die's bitmap `failed` gets the planes
 * whose erases fail.
 */
void zns_issue_erases(struct zns *z, uint32_t die, enum zns_cmd cmd, const uint32_t *block);
/* Erase the first free block of these planes of a die; it may be half erased. */
void zns_prepare_planes(struct zns *z, uint32_t die, uint32_t planes);

#endif
