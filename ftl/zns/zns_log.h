/* SPDX-License-Identifier: GPL-2.0-or-later */
/* zns_log.h - the log: see zns_log.c */
#ifndef SLATE_ZNS_LOG_H
#define SLATE_ZNS_LOG_H

#include "zns.h"

bool zns_log_go(struct zns *z, uint32_t die);
void zns_log_ended(struct zns *z, struct zns_die *x, enum zns_cmd cmd);
void zns_log_look(struct zns *z);
void zns_log_reset(struct zns *z, uint32_t zone);
bool zns_log_is_open(const struct zns *z);
void zns_states_of(const struct zns *z, uint32_t chunk, struct zns_oob *o);

#endif
