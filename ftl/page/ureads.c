// SPDX-License-Identifier: GPL-2.0-or-later
/* ureads.c - which ECC words of a page one read command must fetch for a chain of ureads, the units it reads. */
#include "map.h"
#include "ureads.h"

/* Returns the ECC words with bytes [from, from + len) of a page. */
static uint32_t words_between(const struct page_ftl *f, uint32_t from, uint32_t len)
{
	uint32_t word = f->g->ecc_word_bytes, first = from / word, last = (from + len - 1) / word;

	return (uint32_t)(((uint64_t)1 << (last + 1)) - ((uint64_t)1 << first));
}

uint32_t uread_words(const struct page_ftl *f, uint32_t r)
{
	uint32_t words = 0;

	for (; r != NONE; r = f->read.unit[r].next) {
		const struct uread *u = &f->read.unit[r];
		uint32_t unit = (map_upn_of(f, u) & ~OOB_LOST) % f->shape.upp * f->host.c.unit_bytes;

		if (is_map_read(u))
			return NAND_WHOLE_PAGE;
		/* the unit's first sector says which of its sectors are lost (lost.c), so the whole unit is read */
		if (map_upn_of(f, u) & OOB_LOST)
			words |= words_between(f, unit, f->host.c.unit_bytes);
		if (u->io)
			words |= words_between(f, unit + u->from, u->bytes);
		for (uint32_t i = 0; !u->io && i * FTL_SECTOR_BYTES < f->host.c.unit_bytes; i++)
			if (!(f->buf.slot[u->slot].have >> i & 1))
				words |= words_between(f, unit + i * FTL_SECTOR_BYTES, FTL_SECTOR_BYTES);
	}
	return words;
}
