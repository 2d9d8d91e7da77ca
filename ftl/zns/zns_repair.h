/* SPDX-License-Identifier: GPL-2.0-or-later */
/* zns_repair.h - replaces blocks of a zone whose end a mount has found (zns_repair.c) */
#ifndef SLATE_ZNS_REPAIR_H
#define SLATE_ZNS_REPAIR_H

#include "zns_mount.h"

/* Read a spare area again. Returns true if it can be read. */
bool zns_found_oob(struct zns *z, uint32_t ppn, struct zns_oob *o);
/* Take an erased block of the plane, or ZNS_NONE. */
uint32_t zns_found_fresh(struct zns *z, uint32_t plane);
/* Replace blocks with pages beyond the zone's end. Returns false if blocks are missing: the zone is read-only. */
bool zns_found_repair(struct zns *z, uint32_t zone);

#endif
