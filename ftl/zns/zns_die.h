/* SPDX-License-Identifier: GPL-2.0-or-later */
/* zns_die.h - the choice of the next command of a die: see zns_die.c */
#ifndef SLATE_ZNS_DIE_H
#define SLATE_ZNS_DIE_H

#include "zns.h"

void zns_settle(struct zns *z);
void zns_pump(struct zns *z, uint64_t now_ns);

#endif
