/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * oob.h - what the page FTL writes into a page's spare area.
 *
 * Little-endian, 7 + 9 * units bytes, no padding; then HANDLES_OOB_BYTES if there are placement handles
 * (ftl/page/handles.h), and metadata_bytes for each unit (ftl/page/metadata.h). ECC covers the spare area, so
 * it needs no checksum.
 *
 *   0  5  order     the log sequence of a host page; a GC page has that of the
 *                   last host page issued before it
 *   5  2  bits 0..13  distance from order down to the mark: every host page
 *                   with a sequence at or below the mark was programmed when
 *                   this page was issued
 *         bits 14..15 enum oob_kind
 *   7  9  per unit: 4 lpn (bit 31: the content is lost; all ones: empty),
 *                   5 sequence of the host page that first held this version
 */
#ifndef SLATE_OOB_H
#define SLATE_OOB_H

#include "port.h"

#define OOB_HEAD_BYTES 7u
#define OOB_UNIT_BYTES 9u
#define OOB_BYTES(units) (OOB_HEAD_BYTES + OOB_UNIT_BYTES * (units))
#define OOB_MARK_MAX 0x3fffu
#define OOB_SEQ_MAX (((uint64_t)1 << 40) - 1)
#define OOB_SEQ_LAST (OOB_SEQ_MAX - ((uint64_t)1 << 32))	/* if a mount finds a higher sequence, the drive is
								 * read-only */
#define OOB_NO_LPN 0xffffffffu
#define OOB_LOST 0x80000000u

enum oob_kind {
	OOB_HOST,
	OOB_GC,			/* a copy; or a map page in which some changes up to its mark may be missing */
	OOB_PARITY,		/* belongs to front.h and is not part of the log */
	OOB_MAP,		/* a map page with all changes up to its mark (ftl/page/MAP.md) */
};

struct oob_head {
	uint64_t order;
	uint64_t mark;
	enum oob_kind kind;
};

/* Store a number of 4 bytes. Numbers are little-endian, as all supported hosts are, so memcpy() needs no conversion. */
static inline void oob_put4(uint8_t *p, uint32_t v)
{
	memcpy(p, &v, 4);
}

static inline void oob_put5(uint8_t *p, uint64_t v)
{
	oob_put4(p, (uint32_t)v);
	p[4] = (uint8_t)(v >> 32);
}

static inline uint64_t oob_get5(const uint8_t *p)
{
	return (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 |
	       (uint64_t)p[3] << 24 | (uint64_t)p[4] << 32;
}

static inline void oob_put_head(uint8_t *oob, const struct oob_head *h)
{
	uint64_t below = h->order - h->mark;

	SSD_ASSERT(h->order <= OOB_SEQ_MAX && below <= OOB_MARK_MAX);
	oob_put5(oob, h->order);
	oob[5] = (uint8_t)below;
	oob[6] = (uint8_t)(below >> 8 | (unsigned int)h->kind << 6);
}

static inline struct oob_head oob_get_head(const uint8_t *oob)
{
	struct oob_head h;

	h.order = oob_get5(oob);
	h.mark = h.order - (oob[5] | (uint64_t)(oob[6] & 0x3fu) << 8);
	h.kind = (enum oob_kind)(oob[6] >> 6);
	return h;
}

/* Returns the mark up to which a map page has all changes, or 0. */
static inline uint64_t oob_snapshot_mark(const uint8_t *oob)
{
	struct oob_head h = oob_get_head(oob);

	return h.kind == OOB_MAP ? h.mark : 0;
}

static inline void oob_put_unit(uint8_t *oob, uint32_t i, uint32_t lpn, uint64_t seq)
{
	uint8_t *p = oob + OOB_HEAD_BYTES + i * OOB_UNIT_BYTES;

	oob_put4(p, lpn);
	oob_put5(p + 4, seq);
}

/* Copy the bytes of one unit only. */
static inline void oob_copy_unit(uint8_t *to, const uint8_t *oob, uint32_t i)
{
	memcpy(to, oob + OOB_HEAD_BYTES + i * OOB_UNIT_BYTES, OOB_UNIT_BYTES);
}

static inline uint32_t oob_unit_lpn(const uint8_t *unit)
{
	return (uint32_t)unit[0] | (uint32_t)unit[1] << 8 | (uint32_t)unit[2] << 16 |
	       (uint32_t)unit[3] << 24;
}

static inline uint64_t oob_unit_seq(const uint8_t *unit)
{
	return oob_get5(unit + 4);
}

static inline uint32_t oob_get_lpn(const uint8_t *oob, uint32_t i)
{
	return oob_unit_lpn(oob + OOB_HEAD_BYTES + i * OOB_UNIT_BYTES);
}

static inline uint64_t oob_get_seq(const uint8_t *oob, uint32_t i)
{
	return oob_unit_seq(oob + OOB_HEAD_BYTES + i * OOB_UNIT_BYTES);
}

#endif
