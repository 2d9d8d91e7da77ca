// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * mount_pages.c - reads and writes pages for all parts of a mount: one page, the pages of a pass, and the pages of the
 * write buffer. It does not know what the pages mean.
 */
#include "mount_pages.h"
#include "mount_state.h"

enum nand_status mount_read(struct page_mount *s, uint32_t ppn, const uint8_t **page, void *oob)
{
	struct page_ftl *f = s->f;
	enum nand_status status = survey_read(&f->host.survey, ppn, page ? NAND_WHOLE_PAGE : NAND_OOB_ONLY, oob, page);
	const uint8_t *copy = survey_readable(status) ? NULL : rebuilt_page(f, ppn);

	if (!copy)
		return status;
	if (page)
		*page = copy;
	memcpy(oob, copy + f->g->page_bytes, f->oob_len);
	return NAND_CORRECTED;
}

/*
 * Call s->visit for a readable page, and record how far the block is written. Its first erased page is
 * the end of the block.
 */
static int visit_page(void *mount, uint32_t b, uint32_t page)
{
	struct page_mount *s = mount;
	struct page_ftl *f = s->f;
	uint32_t ppn;
	enum nand_status st;

	if (page > f->bt.blk[b].next_page || page >= f->fr.block_pages[f->bt.blk[b].slc])
		return SURVEY_PAST;
	if (mount_trusts(s, b, page))
		return mount_trusts(s, b, f->g->pages_per_block - 1) ? SURVEY_PAST : SSD_OK;
	ppn = geo_ppn(f->g, (pbn_t){ b }, front_page(&f->fr, page)).v;
	st = mount_read(s, ppn, NULL, f->oob);
	if (st == NAND_ERASED)
		return SURVEY_PAST;
	f->host.survey.anything = true;
	f->bt.blk[b].next_page = page + 1;
	f->bt.blk[b].torn = !survey_readable(st);
	f->bt.blk[b].hurt |= !survey_readable(st);
	if (survey_readable(st))
		s->visit(s, ppn, f->oob);
	else
		f->host.survey.unreadable += s->surveys;
	return SSD_OK;
}

/* Returns the first block of the die, from b on, that the pass must read, or `end`. */
static uint32_t next_wanted(const struct page_mount *s, uint32_t b, uint32_t end)
{
	while (b < end && (s->f->host.n->ops->is_bad(s->f->host.n, (pbn_t){ b }) || !s->wants(s, b)))
		b++;
	return b;
}

/*
 * Visit only the blocks that the pass wants. The k-th wanted blocks of all dies are read side by side, so
 * that as many dies as possible work in parallel.
 */
static int for_each_wanted(struct page_mount *s)
{
	const struct page_ftl *f = s->f;
	uint32_t per_die = f->g->blocks_per_plane * f->g->planes_per_die, *at = f->cache.next_of_die;
	bool some = true;

	for (uint32_t d = 0; d < f->shape.dies; d++)
		at[d] = d * per_die;
	while (some) {
		some = false;
		for (uint32_t d = 0; d < f->shape.dies; d++) {
			at[d] = next_wanted(s, at[d], (d + 1) * per_die);
			some |= at[d] < (d + 1) * per_die;
		}
		for (uint32_t page = 0; some && page < f->g->pages_per_block; page++)
			for (uint32_t d = 0; d < f->shape.dies; d++) {
				int err = at[d] < (d + 1) * per_die ? visit_page(s, at[d], page) : SSD_OK;

				if (err < 0)
					return err;
			}
		for (uint32_t d = 0; d < f->shape.dies; d++)
			at[d] += at[d] < (d + 1) * per_die;
	}
	return SSD_OK;
}

int mount_each_page(struct page_mount *s, page_fn *visit)
{
	s->visit = visit;
	return s->wants ? for_each_wanted(s) : survey_pages(&s->f->host.survey, visit_page, s);
}

bool mount_goes_on(const struct page_mount *s, uint32_t b)
{
	const struct blk *k = &s->f->bt.blk[b];

	const struct front *fr = &s->f->fr;

	return k->valid && k->next_page < fr->block_pages[k->slc] && !(s->purge && k->dead) &&
	       (!k->slc || fr->slc != FRONT_NONE) && k->next_page % s->f->line.pages == 0;
}

void mount_fill_dead_list(const struct page_ftl *f, uint8_t *p)
{
	memset(p, 0, f->host.c.unit_bytes);
	oob_put5(p, f->log.dead_count);
	for (uint32_t i = 0; i < f->log.dead_count; i++) {
		p += DEAD_RANGE_BYTES;
		oob_put5(p, f->log.dead[i].after);
		oob_put5(p + 5, f->log.dead[i].before);
	}
}

int mount_settle(struct page_mount *s)
{
	struct page_ftl *f = s->f;
	uint64_t now = f->host.survey.ready_ns;

	wbuf_seal(f);
	wordline_push(f);
	f->gc.hold = true;	/* no block is erased before the dead list is durable */
	f->turn.changed = true;
	while (f->bt.stable + 1 < f->log.next_seq || f->turn.ends.busy) {
		uint64_t next = f->host.base.ops->step(&f->host.base, now);

		if (f->full || next == FTL_IDLE)
			break;
		now = next;
	}
	f->host.survey.now_ns = f->host.survey.ready_ns = now;
	if (f->bt.stable + 1 < f->log.next_seq)
		return SSD_E_NOSPC;
	f->gc.hold = false;
	return SSD_OK;
}
