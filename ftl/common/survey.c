// SPDX-License-Identifier: GPL-2.0-or-later
#include "survey.h"

#include "die.h"
#include "nand_geom.h"
#include "oob.h"

void survey_begin(struct survey *s, struct nand *n, uint64_t now_ns)
{
	*s = (struct survey){ .n = n, .g = &n->geo, .now_ns = now_ns, .ready_ns = now_ns };
}

void survey_command(struct survey *s, struct nand_cmd *c)
{
	uint32_t die = geo_die_of(s->g, geo_block_of(s->g, c->ppn));
	uint64_t idle_ns = s->n->ops->die_ready_ns(s->n, die);

	if (idle_ns > s->now_ns)
		s->now_ns = idle_ns;
	die_command(s->n, s->now_ns, c, 1);
	if (c->done_ns > s->ready_ns)
		s->ready_ns = c->done_ns;
}

enum nand_status survey_read(struct survey *s, uint32_t ppn, uint32_t words, void *oob, const uint8_t **page)
{
	struct nand_cmd c = { .op = NAND_READ, .source = NAND_SRC_META, .ppn = { ppn }, .ecc_words = words,
			      .oob = oob };

	survey_command(s, &c);
	if (page)
		*page = c.page;
	return c.status;
}

enum nand_status survey_oob(struct survey *s, uint32_t ppn, void *oob)
{
	enum nand_status status = survey_read(s, ppn, NAND_OOB_ONLY, oob, NULL);

	if (status == NAND_ERASED)
		return status;
	s->anything = true;
	s->unreadable += !survey_readable(status);
	return status;
}

/* Visit a page of the k-th block of each die. */
static int survey_row(const struct survey *s, survey_fn *visit, void *ftl, uint32_t k, uint32_t page)
{
	uint32_t per_die = s->g->blocks_per_plane * s->g->planes_per_die, dies = geo_dies(s->g);
	int result = SURVEY_PAST;

	for (uint32_t block = k; block < dies * per_die; block += per_die) {
		int one = s->n->ops->is_bad(s->n, (pbn_t){ block }) ? SURVEY_PAST : visit(ftl, block, page);

		if (one < 0)
			return one;
		if (one == SSD_OK)
			result = SSD_OK;
	}
	return result;
}

int survey_pages(const struct survey *s, survey_fn *visit, void *ftl)
{
	for (uint32_t k = 0; k < s->g->blocks_per_plane * s->g->planes_per_die; k++) {
		int result = SSD_OK;

		for (uint32_t page = 0; page < s->g->pages_per_block && result == SSD_OK; page++)
			result = survey_row(s, visit, ftl, k, page);
		if (result < 0)
			return result;
	}
	return SSD_OK;
}

bool survey_number(const struct survey *s, uint64_t *highest, uint32_t per_page)
{
	if (s->unreadable)
		*highest += ((uint64_t)1 << 20) + 2 * s->unreadable * per_page;
	return *highest <= OOB_SEQ_LAST;
}
