/* SPDX-License-Identifier: GPL-2.0-or-later */
/* zns_window.h - random write areas: see zns_window.c */
#ifndef SLATE_ZNS_WINDOW_H
#define SLATE_ZNS_WINDOW_H

#include "zns.h"

/*
 * Check an operation on a zone that has a random write area, or is to get one. These functions return its error, or
 * SSD_OK.
 */
enum ssd_err zns_window_open(struct zns *z, struct zns_zone *s);
enum ssd_err zns_window_commit(struct zns *z, struct zns_zone *s, struct ftl_io *io);
enum ssd_err zns_window_write(const struct zns *z, const struct zns_zone *s, const struct ftl_io *io);
/* Returns the write pointer after a write of the host that ends at `end`. */
uint64_t zns_window_wp(const struct zns *z, const struct zns_zone *s, uint64_t end);
/* Move the part of the line's first write for which there is room into the buffer, or commit that part. */
bool zns_window_move(struct zns *z, uint32_t zone, struct ftl_io *io);
/* Commit all that was written. Returns false if a cell is not free. */
bool zns_window_end(struct zns *z, uint32_t zone);
/* Give up the cells of pages that are on flash with all pages before them. */
void zns_window_release(struct zns *z, uint32_t buf);

#endif
