// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * lost.c - units of which some sectors are lost, because the host said so (ftl_io.lost) or their base could not be
 * read.
 *
 * In the buffer a slot with lost sectors has `lost` set, and buf.bad has their bitmap. On flash the unit's LPN has
 * OOB_LOST, and the first sector of its content is a record with the bitmap. If the first sector itself is not
 * lost, its data are in the place of the first lost one. A unit with OOB_LOST without such a record is lost whole.
 *
 * The FTL writes the first sector of every unit with OOB_LOST, so data of the host are never taken for a record.
 * (Builds before 2026-11-26 wrote no record. Such a unit may have the host's data there, and is lost whole unless
 * they happen to form a record.)
 * GC and a chip's copyback move content as it is. Without payload flash has no content, and units are lost whole.
 *
 * A page has the record only while the array takes it: its slots are as before when program_die() returns.
 */
#include "lost.h"
#include "page_state.h"

#define SECTOR FTL_SECTOR_BYTES

static const char magic[8] = { 'S', 'L', 'O', 'S', 'T', '-', 'S', '1' };

static uint32_t first_lost(uint32_t bad)
{
	return (uint32_t)__builtin_ctz(bad);
}

/* ---- slots ---- */

void lost_begin(struct page_ftl *f)
{
	f->buf.losses = f->extras = true;
}

void lost_slot(struct page_ftl *f, uint32_t slot, uint32_t bits)
{
	struct wslot *s = &f->buf.slot[slot];

	lost_begin(f);
	f->buf.bad[slot] = (s->lost ? f->buf.bad[slot] : 0) | (f->host.c.payload ? bits : f->shape.sectors_mask);
	s->lost = true;
}

void lost_written(struct page_ftl *f, const struct ftl_io *io, uint32_t slot, uint32_t bits)
{
	struct wslot *s = &f->buf.slot[slot];

	if (io->lost) {
		lost_slot(f, slot, bits);
	} else if (!s->lost) {
		return;
	} else if (f->host.c.payload || bits == f->shape.sectors_mask) {
		f->buf.bad[slot] &= ~bits;
		s->lost = f->buf.bad[slot];
	}
}

/* ---- content on flash ---- */

/* Returns the lost sectors of a unit with OOB_LOST. unit: its content on flash; NULL: it is unknown. */
uint32_t lost_bits(const struct page_ftl *f, const uint8_t *unit)
{
	uint32_t all = f->shape.sectors_mask, bad;

	if (!unit || memcmp(unit, magic, sizeof(magic)) != 0)
		return all;
	bad = oob_unit_lpn(unit + 8);
	return bad && !(bad & ~all) && oob_unit_lpn(unit + 12) == ~bad ? bad : all;
}

/*
 * Returns where sector i, which is not lost, is in the content of a unit with OOB_LOST and these lost sectors, or (bad
 * = 0) of any other unit.
 */
const uint8_t *lost_sector(const uint8_t *unit, uint32_t bad, uint32_t i)
{
	return unit + (size_t)(!i && bad ? first_lost(bad) : i) * SECTOR;
}

void lost_encode(struct page_ftl *f, uint32_t w)
{
	for (uint32_t i = 0; f->host.c.payload && i < f->buf.page[w].used; i++) {
		uint32_t slot = w * f->shape.upp + i, bad = f->buf.bad[slot];
		uint8_t *unit = slot_data(f, slot);

		if (!f->buf.slot[slot].lost)
			continue;
		if (!(bad & 1))
			memcpy(unit + (size_t)first_lost(bad) * SECTOR, unit, SECTOR);
		memset(unit, 0, SECTOR);
		if (bad == f->shape.sectors_mask)
			continue;
		memcpy(unit, magic, sizeof(magic));
		oob_put4(unit + 8, bad);
		oob_put4(unit + 12, ~bad);
	}
}

void lost_decode(struct page_ftl *f, uint32_t slot)
{
	uint32_t bad = f->buf.bad[slot];
	uint8_t *unit = slot_data(f, slot);

	if (!f->buf.slot[slot].lost)
		return;
	if (!(bad & 1))
		memcpy(unit, unit + (size_t)first_lost(bad) * SECTOR, SECTOR);
	memset(unit + (size_t)first_lost(bad) * SECTOR, 0, SECTOR);
}

void lost_decode_pages(struct page_ftl *f, const uint32_t *page, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t k = 0; page[i] != NONE && k < f->buf.page[page[i]].used; k++)
			lost_decode(f, page[i] * f->shape.upp + k);
}

/* ---- reads ---- */

/*
 * Give the host the sectors that a uread wants: from the slot, if it is not NONE and has them, or from the unit's
 * content on flash. metadata: the unit's, with those of the slot. bad: the sectors lost on flash. Returns false if any
 * is lost.
 */
bool lost_give(struct page_ftl *f, const struct uread *u, uint32_t slot, const uint8_t *unit, const uint8_t *metadata,
	       uint32_t bad)
{
	const struct wslot *s = slot == NONE ? NULL : &f->buf.slot[slot];
	bool all = true;

	for (uint32_t at = 0; at < u->bytes; at += SECTOR) {
		uint32_t i = (u->from + at) / SECTOR;
		bool here = s && s->have >> i & 1;
		const uint8_t *from;

		if (here ? s->lost && f->buf.bad[slot] >> i & 1 : bad >> i & 1) {
			all = false;
			continue;
		}
		if (!f->host.c.payload)
			continue;
		from = here ? slot_data(f, slot) + (size_t)i * SECTOR : lost_sector(unit, bad, i);
		host_copy(&f->host, u->io, u->at + at, (void *)(uintptr_t)from, SECTOR);
		if (SSD_UNLIKELY(u->io->metadata))
			metadata_give_sector(f, u, at, metadata);
	}
	return all;
}
