/* SPDX-License-Identifier: GPL-2.0-or-later */
/* zns_host.h - operations that the host submits, but reads: see zns_host.c */
#ifndef SLATE_ZNS_HOST_H
#define SLATE_ZNS_HOST_H

#include "zns.h"

void zns_submit_zone(struct zns *z, struct ftl_io *io);
void zns_submit_flush(struct zns *z, struct ftl_io *io);

#endif
