// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * mount_versions.c - steps 3 and 4 of a mount (mount.c): maps each LPN to its newest version, then applies the trims.
 */
#include "mount_pages.h"
#include "mount_state.h"
#include "mount_versions.h"
#include "p2l.h"

/* ---- 3: map -------------------------------------------------------------- */

static bool is_dead(struct page_mount *s, uint64_t seq, bool count)
{
	struct page_ftl *f = s->f;

	if (seq > s->k) {
		s->dead_pages += count;
		return true;
	}
	for (uint32_t i = 0; i < f->log.dead_count; i++)
		if (seq > f->log.dead[i].after && seq < f->log.dead[i].before) {
			f->log.dead[i].pages += count;
			return true;
		}
	return false;
}

/* Is the version at upn, in a page with head h, later than the version mapped now? */
static bool supersedes(struct page_mount *s, uint32_t lpn, uint64_t seq, const struct oob_head *h,
		       uint32_t upn)
{
	struct page_ftl *f = s->f;
	uint32_t now = *map_entry(f, lpn) & ~OOB_LOST;
	uint8_t *oob = f->oob + f->oob_len;
	struct oob_head was;
	uint64_t other;

	if (*map_entry(f, lpn) == NONE)
		return true;
	if (now / f->shape.upp == upn / f->shape.upp)
		return true;	/* both are in one page, whose slots are filled and read in order: this one is newer */
	if (!survey_readable(mount_read(s, now / f->shape.upp, NULL, oob)) ||
	    (oob_get_lpn(oob, now % f->shape.upp) & ~OOB_LOST) != lpn)
		return true;
	other = oob_get_seq(oob, now % f->shape.upp);
	was = oob_get_head(oob);
	if (seq != other)
		return seq > other;
	return h->order > was.order || (h->order == was.order && h->kind > was.kind);
}

static void map_page(struct page_mount *s, uint32_t ppn, const uint8_t *oob)
{
	struct page_ftl *f = s->f;
	struct oob_head h = oob_get_head(oob);

	if (h.kind == OOB_PARITY)
		return;
	if (h.kind == OOB_HOST && is_dead(s, h.order, !s->again)) {
		f->bt.blk[ppn / f->g->pages_per_block].dead |= !s->again;
		return;
	}
	for (uint32_t i = 0; i < f->shape.upp; i++) {
		uint32_t tag = oob_get_lpn(oob, i), lpn = tag & ~OOB_LOST;
		uint32_t upn = ppn * f->shape.upp + i;

		if (tag == OOB_NO_LPN || lpn >= f->shape.all_lpns || (s->takes && !s->takes(s, lpn, &h)))
			continue;
		if (!supersedes(s, lpn, oob_get_seq(oob, i), &h, upn))
			continue;
		*map_entry(f, lpn) = upn | (tag & OOB_LOST);
		if (f->map.p2l)
			oob_copy_unit(p2l_of(f, upn), oob, i);
	}
}

/* ---- 4: trims ------------------------------------------------------------ */

static bool is_trusted(const struct page_mount *s, uint32_t upn)
{
	uint32_t ppn = upn / s->f->shape.upp;

	return mount_trusts(s, ppn / s->f->g->pages_per_block, ppn % s->f->g->pages_per_block);
}

static int apply_map(struct page_mount *s, uint32_t map)
{
	struct page_ftl *f = s->f;
	uint32_t upn = *map_entry(f, f->shape.lpns + map), per = lpns_per_map(f), first = map * per;
	uint8_t *bits = f->scratch;	/* a copy, because f->scratch is used by later reads */
	const uint8_t *page;
	uint64_t trim_seq;

	if (upn & OOB_LOST || !survey_readable(mount_read(s, upn / f->shape.upp, &page, f->oob)) || !page)
		return SSD_E_CORRUPT;
	memcpy(bits, page + (size_t)(upn % f->shape.upp) * f->host.c.unit_bytes, f->host.c.unit_bytes);
	trim_seq = oob_get_seq(f->oob, upn % f->shape.upp);
	for (uint32_t lpn = first; lpn < first + per && lpn < f->shape.lpns; lpn++) {
		uint32_t at;

		if (!bit_get(bits, lpn - first) || !map_holds(f, lpn))
			continue;
		at = *map_entry(f, lpn);
		if (at != NONE) {
			uint8_t *oob = f->oob + f->oob_len;

			at &= ~OOB_LOST;
			if (is_trusted(s, at)) {	/* units trimmed before the checkpoint have no entry */
				if (trim_seq <= f->cache.ckpt.seq0)
					continue;
			} else if (survey_readable(mount_read(s, at / f->shape.upp, NULL, oob)) &&
			    (oob_get_lpn(oob, at % f->shape.upp) & ~OOB_LOST) == lpn &&
			    oob_get_seq(oob, at % f->shape.upp) > trim_seq)
				continue;
			*map_entry(f, lpn) = NONE;
		}
		trim_set(f, lpn);
	}
	return SSD_OK;
}

/* Are entries of the bitmap's LPNs in memory? */
static bool some_held(const struct page_ftl *f, uint32_t map)
{
	uint32_t per = lpns_per_map(f), lpn = map * per, end = lpn + per;

	for (; lpn < end && lpn < f->shape.lpns; lpn = (fxp_quotient(f->cache.by_per, lpn) + 1) * f->cache.per)
		if (map_holds(f, lpn))
			return true;
	return false;
}

int mount_trims(struct page_mount *s)
{
	for (uint32_t map = 0; map < s->f->shape.maps; map++) {
		bool none = *map_entry(s->f, s->f->shape.lpns + map) == NONE || !some_held(s->f, map);
		int err = none ? SSD_OK : apply_map(s, map);

		if (err)
			return err;
	}
	return SSD_OK;
}

int mount_versions(struct page_mount *s)
{
	return s->f->host.survey.anything ? mount_each_page(s, map_page) : SSD_OK;
}
