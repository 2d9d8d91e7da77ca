// SPDX-License-Identifier: GPL-2.0-or-later
/* metadata.c - see metadata.h */
#include "metadata.h"
#include "page_state.h"

#define SECTOR FTL_SECTOR_BYTES

const char *metadata_fault(const struct front_policy *policy, const struct ftl_config *c)
{
	if (!c->metadata_bytes)
		return NULL;
	if (policy != &front_page_policy)
		return "metadata_bytes must be 0: parity pages do not cover metadata; or set type = page";
	if (c->metadata_bytes % (c->unit_bytes / SECTOR))
		return "metadata_bytes must be a multiple of unit_bytes / 512: each sector has the same number of "
		       "bytes";
	return c->gc_copyback ? "metadata_bytes must be 0 with gc_copyback, which copies no spare areas; or set "
				"gc_copyback = no" : NULL;
}

void metadata_lay_out(struct page_ftl *at, struct ssd_arena *m, const struct ftl_config *c, uint8_t **gc)
{
	struct page_metadata *d = &at->metadata;

	*gc = NULL;
	d->bytes = c->metadata_bytes;
	if (!d->bytes)
		return;
	d->at = at->oob_len - at->shape.upp * d->bytes;
	d->slot = ssd_carve(m, (size_t)at->buf.pages * at->shape.upp, d->bytes);
	d->none = ssd_carve(m, 2, d->bytes);
	d->unit = d->none ? d->none + d->bytes : NULL;
	*gc = ssd_carve(m, (size_t)at->shape.planes * (at->line.units + at->shape.upp), d->bytes);
}

void metadata_begin(struct page_ftl *f)
{
	if (!f->metadata.bytes)
		return;
	memset(f->metadata.none, 0xff, f->metadata.bytes);
}

/* ---- the write buffer ---- */

void metadata_written(struct page_ftl *f, struct ftl_io *io, uint32_t slot, uint32_t from, uint32_t bytes)
{
	uint8_t *unit = metadata_of_slot(f, slot);
	uint32_t k = io->metadata;

	if (io->lost) {
		if (bytes == f->host.c.unit_bytes)
			memset(unit, 0xff, f->metadata.bytes);
		return;
	}
	f->buf.slot[slot].stride = (uint8_t)k;
	if (!k) {
		f->buf.slot[slot].blanked = true;
		memset(unit, 0xff, f->metadata.bytes);
		return;
	}
	SSD_ASSERT((uint64_t)k * (f->host.c.unit_bytes / SECTOR) <= f->metadata.bytes);
	if (bytes == f->host.c.unit_bytes)
		memset(unit, 0xff, f->metadata.bytes);
	host_copy(&f->host, io, io->bytes + io->at / SECTOR * k, unit + (size_t)from / SECTOR * k,
		  (size_t)bytes / SECTOR * k);
}

void metadata_begin_slot(struct page_ftl *f, uint32_t slot, uint32_t old)
{
	memcpy(metadata_of_slot(f, slot), old == NONE ? f->metadata.none : metadata_of_slot(f, old), f->metadata.bytes);
	if (old != NONE) {
		f->buf.slot[slot].stride = f->buf.slot[old].stride;
		f->buf.slot[slot].blanked = f->buf.slot[old].blanked;
	}
}

void metadata_base(struct page_ftl *f, uint32_t slot, uint32_t lacks, const uint8_t *unit)
{
	uint32_t k = f->buf.slot[slot].stride;
	uint8_t *to = metadata_of_slot(f, slot);

	if (f->buf.slot[slot].blanked)
		return;
	if (!unit)
		unit = f->metadata.none;
	if (!k)
		memcpy(to, unit, f->metadata.bytes);
	for (uint32_t i = 0; k && lacks >> i; i++)
		if (lacks >> i & 1)
			memcpy(to + (size_t)i * k, unit + (size_t)i * k, k);
}

void metadata_to_page(const struct page_ftl *f, uint32_t w, uint8_t *oob)
{
	metadata_blank(f, oob);
	for (uint32_t i = 0; i < f->buf.page[w].used; i++) {
		uint32_t slot = w * f->shape.upp + i;

		if (f->buf.slot[slot].lpn < f->shape.lpns)
			memcpy(oob + metadata_in_page(f, i), metadata_of_slot(f, slot), f->metadata.bytes);
	}
}

/* ---- reads ---- */

void metadata_give_sector(struct page_ftl *f, const struct uread *u, uint32_t at, const uint8_t *unit)
{
	uint32_t k = u->io->metadata;

	host_copy(&f->host, u->io, u->io->bytes + (u->at + at) / SECTOR * k,
		  (void *)(uintptr_t)(unit + (size_t)(u->from + at) / SECTOR * k), k);
}

void metadata_give(struct page_ftl *f, const struct uread *u, const uint8_t *unit)
{
	uint32_t k = u->io->metadata;

	SSD_ASSERT((uint64_t)k * (f->host.c.unit_bytes / SECTOR) <= f->metadata.bytes);
	if (!unit)
		unit = f->metadata.none;
	host_copy(&f->host, u->io, u->io->bytes + u->at / SECTOR * k,
		  (void *)(uintptr_t)(unit + (size_t)u->from / SECTOR * k), (size_t)u->bytes / SECTOR * k);
}

const uint8_t *metadata_overlay(struct page_ftl *f, const struct uread *u, uint32_t slot, const uint8_t *unit)
{
	const struct wslot *s = &f->buf.slot[slot];
	const uint8_t *here = metadata_of_slot(f, slot);
	uint32_t k = u->io->metadata;

	if (!k || s->blanked)
		return here;
	memcpy(f->metadata.unit, unit, f->metadata.bytes);
	for (uint32_t i = 0; s->have >> i; i++)
		if (s->have >> i & 1)
			memcpy(f->metadata.unit + (size_t)i * k, here + (size_t)i * k, k);
	return f->metadata.unit;
}

/* ---- copies of GC ---- */

static uint8_t *in_hand(const struct page_ftl *f, const struct gc *g, uint32_t i)
{
	return g->metadata + (size_t)i * f->metadata.bytes;
}

void metadata_gather(const struct page_ftl *f, struct gc *g, uint32_t to, const uint8_t *oob, uint32_t i)
{
	const uint8_t *from = oob ? oob + metadata_in_page(f, i) : f->metadata.none;

	memcpy(in_hand(f, g, to), from, f->metadata.bytes);
}

void metadata_move(const struct page_ftl *f, struct gc *g, uint32_t to, uint32_t from, uint32_t units)
{
	memmove(in_hand(f, g, to), in_hand(f, g, from), (size_t)units * f->metadata.bytes);
}

void metadata_copy(const struct page_ftl *f, const struct gc *g, uint32_t first, uint32_t units, uint8_t *oob)
{
	if (SSD_LIKELY(!f->metadata.bytes))
		return;
	metadata_blank(f, oob);
	memcpy(oob + metadata_in_page(f, 0), in_hand(f, g, first), (size_t)units * f->metadata.bytes);
}
