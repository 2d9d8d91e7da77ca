/* SPDX-License-Identifier: GPL-2.0-or-later */
/* zns_buf.h - the write buffer: see zns_buf.c */
#ifndef SLATE_ZNS_BUF_H
#define SLATE_ZNS_BUF_H

#include "zns.h"

/* Set the zone's state, and the counts of open and active zones. Only an open or closed zone keeps its `window`. */
void zns_set_state(struct zns *z, struct zns_zone *s, enum ftl_zone_state state);
/*
 * Open an empty, closed or open zone as FTL_ZONE_IMPLICIT or FTL_ZONE_EXPLICIT. If open_max zones are open, this closes
 * the implicitly opened one that was opened first. Returns SSD_E_ZONE_ACTIVE or SSD_E_ZONE_OPEN if there is no room.
 */
enum ssd_err zns_open_zone(struct zns *z, struct zns_zone *s, enum ftl_zone_state as);
/* Give the zone a buffer. Returns it; ZNS_NONE: none is free, and the zone waits for one. */
uint32_t zns_buf_take(struct zns *z, uint32_t zone);
bool zns_is_drained(const struct zns *z, const struct zns_zone *s);	/* is no cell of its buffer in use? */
/* The page of a cell is on flash: empty the cell. */
void zns_cell_done(struct zns *z, uint32_t buf, uint32_t slot);
void zns_cell_ready(struct zns *z, uint32_t zone, struct zns_cell *c);	/* the cell's page can be programmed */
/* Copy the write's next bytes into the cell, from this byte of the page to its end at most. Returns how many. */
uint32_t zns_cell_write(struct zns *z, struct zns_zone *s, struct zns_cell *c, struct ftl_io *io, uint32_t from);
void zns_buf_drop(struct zns *z, struct zns_zone *s);	/* free the zone's buffer, whose content is not needed */
/* Returns the lowest sequence of data in the zone's buffer, which are not on flash; 0: there are none. */
uint64_t zns_buf_first(const struct zns *z, const struct zns_zone *s);
/* Is no cell of the buffer being programmed, in its zone or in the log? */
bool zns_buf_is_still(const struct zns *z, const struct zns_buf *b);
void zns_buf_take_away(struct zns *z, struct zns_zone *s);	/* from a failed zone: data only in it are lost */
void zns_buf_clear(struct zns *z, uint32_t buf);	/* make it free: of no zone, with empty cells */
uint32_t zns_buf_find(const struct zns *z);	/* returns a buffer that a zone may have, or ZNS_NONE */

#endif
