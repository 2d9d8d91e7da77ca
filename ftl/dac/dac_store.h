/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dac_store.h - the DAC FTL: objects, the map, live entries, free blocks, the reference buffer: see dac_store.c */
#ifndef SLATE_DAC_STORE_H
#define SLATE_DAC_STORE_H

#include "dac.h"

void dac_live_add(struct dac *d, uint32_t ppn, uint32_t bytes);
void dac_live_sub(struct dac *d, uint32_t ppn, uint32_t bytes);
uint32_t dac_obj_new(struct dac *d, uint64_t seq);	/* the new object has refs 1 */
void dac_obj_hold(struct dac *d, uint32_t obj);
void dac_obj_put(struct dac *d, uint32_t obj);
bool dac_may_share(const struct dac *d, uint32_t obj);
void dac_share(struct dac *d, uint32_t obj);
void dac_unshare(struct dac *d, uint32_t obj);
/* Add an object to the candidates for references. */
void dac_candidate(struct dac *d, uint32_t obj, const struct fingerprint *fp);
void dac_no_candidate(struct dac *d, uint32_t obj);	/* Remove the object from the candidates, if it is one. */
/*
 * Map the unit to obj; the caller already holds the reference. link_at is DAC_NONE if the unit is
 * mapped by its own entry.
 */
void dac_map_set(struct dac *d, uint32_t lpn, uint32_t obj, uint32_t link_at, uint64_t seq);
void dac_put_free(struct dac *d, uint32_t block, bool needs_erase);
void dac_put_bad(struct dac *d, uint32_t block);
void dac_count_room(struct dac *d);
const uint8_t *dac_cache_get(struct dac *d, uint32_t obj);	/* Returns NULL if the object is not in the
								 * reference buffer. */
void dac_cache_put(struct dac *d, uint32_t obj, const uint8_t *data);
void dac_cache_drop(struct dac *d, uint32_t obj);

#endif
