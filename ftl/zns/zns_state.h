/* SPDX-License-Identifier: GPL-2.0-or-later */
/* zns_state.h - what the end of a command changes in a zone's state: see zns_state.c */
#ifndef SLATE_ZNS_STATE_H
#define SLATE_ZNS_STATE_H

#include "zns.h"

/* The last block of a zone that is being reset has been erased: the zone is empty. */
void zns_zone_erased(struct zns *z, uint32_t zone);
/* A record on flash now says that the zone is read-only, or offline: change its state. */
void zns_zone_noted(struct zns *z, uint32_t zone, bool offline);
/* Take a zone offline, which a record on flash says already. */
void zns_leave(struct zns *z, struct zns_zone *s);
/* Erase the zone's blocks. note: serial of the record that says so. */
void zns_erase_zone(struct zns *z, uint32_t zone, uint64_t note);

#endif
