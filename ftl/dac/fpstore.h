/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fpstore.h - the fingerprint store: of each candidate (a page that may serve as a
 * reference) the fingerprints of its four sub-pages, and which candidate is most similar
 * to a page.
 *
 * DAC, section 5.3.1 and 5.4.2 of the dissertation: a fingerprint is the first 4 bytes of a
 * sub-page's MD5; the store keeps a limited number of them, in LRU order.
 *
 * Two pages match in as many sub-pages as have equal fingerprints at the *same place*: XOR gains
 * nothing from sub-pages that are equal at different places.
 *
 * A candidate is identified by its handle, a number that the caller chooses; each handle is at most
 * once in the store. Inserting and touching count as use.
 */
#ifndef SLATE_FPSTORE_H
#define SLATE_FPSTORE_H

#include "port.h"

#define FP_PARTS 4u			/* sub-pages of a page */
#define FPSTORE_MAX (1u << 30)		/* maximum number of fingerprints */
#define FPSTORE_SHARED 64u		/* maximum number of candidates examined in a group */

struct fingerprint {
	uint32_t part[FP_PARTS];
};

/* Compute the fingerprints of a page. bytes: a multiple of FP_PARTS. */
void fingerprint_of(const void *page, size_t bytes, struct fingerprint *fp);

struct fpstore;

/*
 * Returns the bytes of memory that a store of `limit` fingerprints takes, FP_PARTS .. FPSTORE_MAX; a candidate has
 * FP_PARTS.
 */
size_t fpstore_footprint(uint32_t limit);
/* Make a store in mem, fpstore_footprint(limit) bytes that are aligned to 64 and stay the store's. */
struct fpstore *fpstore_init(void *mem, uint32_t limit);

/*
 * Find the candidate with the most matches; of several, the one used last. Returns the number of
 * matches, 1 .. FP_PARTS, with the handle in *handle, or 0. The store does not change. Of
 * candidates that share a fingerprint at one place, only the FPSTORE_SHARED used last are
 * considered.
 */
uint32_t fpstore_find(const struct fpstore *s, const struct fingerprint *fp, uint32_t *handle);

/*
 * Add a candidate that is not in the store. If the store is full, the candidate used longest ago is
 * removed: returns true, with its handle in *evicted.
 */
bool fpstore_insert(struct fpstore *s, uint32_t handle, const struct fingerprint *fp,
		    uint32_t *evicted);
/* Mark a candidate as used. Returns false if it is not (or no longer) in the store. */
bool fpstore_touch(struct fpstore *s, uint32_t handle);
bool fpstore_remove(struct fpstore *s, uint32_t handle);

uint32_t fpstore_candidates(const struct fpstore *s);
/* Assert every numbered invariant (fpstore.c). O(limit). */
void fpstore_check(const struct fpstore *s);

#endif
