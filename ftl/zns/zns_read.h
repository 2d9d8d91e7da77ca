/* SPDX-License-Identifier: GPL-2.0-or-later */
/* zns_read.h - reads: see zns_read.c */
#ifndef SLATE_ZNS_READ_H
#define SLATE_ZNS_READ_H

#include "zns.h"

void zns_submit_read(struct zns *z, struct ftl_io *io);
bool zns_read_go(struct zns *z, uint32_t die);
bool zns_read_on(struct zns *z);

#endif
