/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * survey.h - what all mounts do: read the array of which nothing is known yet, and decide which
 * numbers (sequences, serials) may be given after it.
 *
 * Invariants:
 *   S1  a command is issued when its die is idle, and not before the one that was issued last;
 *   S2  every page of every good block is visited once in a pass, dies side by side: page p of
 *       the k-th block of each die, then the next page;
 *   S3  no number is given twice (survey_number()).
 */
#ifndef SLATE_SURVEY_H
#define SLATE_SURVEY_H

#include "nand.h"

struct survey {
	struct nand *n;
	const struct nand_geometry *g;
	uint64_t now_ns;	/* when the last command was issued */
	uint64_t ready_ns;	/* when all that were issued have ended */
	uint64_t unreadable;	/* pages found unreadable, in one pass or in several */
	bool anything;		/* some page is not erased */
};

static inline bool survey_readable(enum nand_status s)
{
	return s == NAND_OK || s == NAND_CORRECTED;
}

void survey_begin(struct survey *s, struct nand *n, uint64_t now_ns);

/* Execute one command and wait for its end. */
void survey_command(struct survey *s, struct nand_cmd *c);

/* Read the page's spare area into oob, and the ECC words: *page, if page is not NULL, is the content. */
enum nand_status survey_read(struct survey *s, uint32_t ppn, uint32_t words, void *oob, const uint8_t **page);

/* Read the spare area in the first pass: sets `anything` and counts unreadable pages. */
enum nand_status survey_oob(struct survey *s, uint32_t ppn, void *oob);

/* Calls visit() for each page of a pass until it returns an error, and returns that error. */
typedef int survey_fn(void *ftl, uint32_t block, uint32_t page);
int survey_pages(const struct survey *s, survey_fn *visit, void *ftl) SSD_MUST_CHECK;

/*
 * *highest: the highest number that was read, or what is given next; it moves past those that
 * pages which cannot be read may have. per_page: numbers that a page uses at most.
 * False: too few are left of the 2^40, and the drive must be read-only.
 *
 * Pages that cannot be read may be the newest, and a later mount may read them. Above the
 * highest on flash there are at most per_page numbers for each such page, and for each page
 * that was erased since, which the constant is for. The other share of each page is for a mount
 * that again reads nothing newer: it finds what was written in between unreadable, too, and so
 * begins beyond it. Numbers of 40 bits are enough for 2^20 such mounts.
 */
bool survey_number(const struct survey *s, uint64_t *highest, uint32_t per_page) SSD_MUST_CHECK;

#endif
