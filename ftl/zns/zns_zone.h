/* SPDX-License-Identifier: GPL-2.0-or-later */
/* zns_zone.h - the lines of zones: see zns_zone.c */
#ifndef SLATE_ZNS_ZONE_H
#define SLATE_ZNS_ZONE_H

#include "zns.h"

/* Put the I/O into the zone's line. */
void zns_join(struct zns *z, uint32_t zone, struct ftl_io *io);
void zns_zone_fails(struct zns *z, uint32_t zone);
/* Continue lines and end I/Os that were waiting. last: the die whose command ended, or NULL. */
void zns_go_on(struct zns *z, const struct zns_die *last);

#endif
