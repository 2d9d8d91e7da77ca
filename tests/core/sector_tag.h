/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sector_tag.h - content of a sector that says which write it is of: 8 bytes, repeated. */
#ifndef SLATE_SECTOR_TAG_H
#define SLATE_SECTOR_TAG_H

#include "ftl.h"

static inline void sector_tag_put(uint8_t *at, uint64_t sector, uint32_t tag)
{
	uint64_t v = (uint64_t)tag << 32 | (uint32_t)sector;

	for (uint32_t i = 0; i < FTL_SECTOR_BYTES; i += 8)
		memcpy(at + i, &v, 8);
}

/* Returns the tag of a sector's content; 0: zeroes. */
static inline uint32_t sector_tag_get(const uint8_t *at, uint64_t sector)
{
	uint64_t v;

	memcpy(&v, at, 8);
	SSD_ASSERT(!memcmp(at, at + 8, FTL_SECTOR_BYTES - 8));
	SSD_ASSERT(!v || (uint32_t)v == (uint32_t)sector);
	return (uint32_t)(v >> 32);
}

#endif
