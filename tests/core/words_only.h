/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * words_only.h - an array that returns the ECC words that an FTL asked for, and garbage in the
 * others. The real one returns the whole page for convenience (nand.h), which would hide a wrong
 * bitmap.
 */
#ifndef SLATE_TEST_WORDS_ONLY_H
#define SLATE_TEST_WORDS_ONLY_H

#include <stdlib.h>

#include "nand_geom.h"

struct words_only {
	struct nand base;
	struct nand *in;
	uint8_t *page;		/* a page for each plane, valid until its die's next command */
};

static inline struct words_only *words_only_of(const struct nand *n)
{
	return ssd_container_of((struct nand *)(uintptr_t)n, struct words_only, base);
}

static inline void words_only_submit(struct nand *n, uint64_t now_ns, struct nand_cmd *c,
				     unsigned int count)
{
	struct words_only *w = words_only_of(n);
	const struct nand_geometry *g = &n->geo;

	w->in->ops->submit(w->in, now_ns, c, count);
	for (unsigned int i = 0; i < count; i++) {
		uint8_t *page;

		if (c[i].op != NAND_READ || !c[i].page || c[i].ecc_words == NAND_WHOLE_PAGE)
			continue;
		page = w->page + (size_t)geo_plane_of(g, geo_block_of(g, c[i].ppn)) * g->page_bytes;
		memset(page, 0xdb, g->page_bytes);
		for (uint32_t k = 0; k < g->page_bytes / g->ecc_word_bytes; k++)
			if (c[i].ecc_words >> k & 1)
				memcpy(page + k * g->ecc_word_bytes,
				       (const uint8_t *)c[i].page + k * g->ecc_word_bytes, g->ecc_word_bytes);
		c[i].page = page;
	}
}

static inline uint64_t words_only_ready(const struct nand *n, uint32_t die)
{
	return words_only_of(n)->in->ops->die_ready_ns(words_only_of(n)->in, die);
}

static inline bool words_only_may_interpose(const struct nand *n, uint64_t now_ns, ppn_t p)
{
	return words_only_of(n)->in->ops->may_interpose(words_only_of(n)->in, now_ns, p);
}

static inline bool words_only_is_bad(const struct nand *n, pbn_t b)
{
	return words_only_of(n)->in->ops->is_bad(words_only_of(n)->in, b);
}

static inline bool words_only_is_slc(const struct nand *n, pbn_t b)
{
	return words_only_of(n)->in->ops->is_slc(words_only_of(n)->in, b);
}

static inline void words_only_mark_bad(struct nand *n, pbn_t b)
{
	words_only_of(n)->in->ops->mark_bad(words_only_of(n)->in, b);
}

static inline uint32_t words_only_erases(const struct nand *n, pbn_t b)
{
	return words_only_of(n)->in->ops->erase_count(words_only_of(n)->in, b);
}

static inline void words_only_get_stats(const struct nand *n, struct nand_stats *out)
{
	words_only_of(n)->in->ops->get_stats(words_only_of(n)->in, out);
}

static inline void words_only_reset_stats(struct nand *n)
{
	words_only_of(n)->in->ops->reset_stats(words_only_of(n)->in);
}

static inline enum nand_status words_only_peek(const struct nand *n, ppn_t p, const void **data,
					       const void **oob)
{
	return words_only_of(n)->in->ops->peek(words_only_of(n)->in, p, data, oob);
}

static inline struct nand *words_only_make(struct words_only *w, struct nand *in)
{
	static const struct nand_ops ops = {
		words_only_submit, words_only_ready, words_only_may_interpose, words_only_is_bad,
		words_only_is_slc, words_only_mark_bad,
		words_only_erases, words_only_get_stats, words_only_reset_stats, words_only_peek };

	w->base.ops = &ops;
	w->base.geo = in->geo;
	w->in = in;
	w->page = calloc(geo_planes(&in->geo), in->geo.page_bytes);
	return &w->base;
}

static inline void words_only_free(struct words_only *w)
{
	free(w->page);
}

#endif
