/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * survey.h - the first part of every mount: read an array whose content is unknown, and decide
 * which numbers (sequences, serials) may be given from then on.
 *
 * Invariants:
 *   SUR1  a command is issued when its die is idle, and not earlier than the previous command;
 *   SUR2  every page of every good block is visited once in a pass, dies side by side: page p of
 *         the k-th block of each die, then the next page. Pages that no visit can need are left out;
 *   SUR3  no number is given twice (survey_number()).
 */
#ifndef SLATE_SURVEY_H
#define SLATE_SURVEY_H

#include "nand.h"

struct survey {
	struct nand *n;
	const struct nand_geometry *g;
	uint64_t now_ns;	/* when the last command was issued */
	uint64_t ready_ns;	/* when all commands issued so far have ended */
	uint64_t unreadable;	/* pages that could not be read, the sum over the passes that count them */
	bool anything;		/* some page is not erased */
};

static inline bool survey_readable(enum nand_status s)
{
	return s == NAND_OK || s == NAND_CORRECTED;
}

void survey_begin(struct survey *s, struct nand *n, uint64_t now_ns);

/* Execute one command and wait for its end. */
void survey_command(struct survey *s, struct nand_cmd *c);

/*
 * Read the page's spare area into oob. If page is not NULL, also read the ECC words; *page is then
 * the content.
 */
enum nand_status survey_read(struct survey *s, uint32_t ppn, uint32_t words, void *oob, const uint8_t **page);

/* Read the spare area in the first pass of a mount. This sets `anything`, and counts unreadable pages. */
enum nand_status survey_oob(struct survey *s, uint32_t ppn, void *oob);

/*
 * Calls visit() for each page of a pass until it returns an error, and returns that error. If visit()
 * needs neither this page nor a later one of the block, it may return SURVEY_PAST; when it does so for
 * all blocks that are visited side by side, the rest of them is left out.
 */
#define SURVEY_PAST 1
typedef int survey_fn(void *ftl, uint32_t block, uint32_t page);
int survey_pages(const struct survey *s, survey_fn *visit, void *ftl) SSD_MUST_CHECK;

/*
 * *highest is the highest number that was read, or the number given next. The function raises it
 * past all numbers that unreadable pages may have. per_page is the maximum of numbers that a page
 * uses. Returns false if too few of the 2^40 numbers are left; the drive must then be read-only.
 *
 * An unreadable page may be the newest, and a later mount may be able to read it. Above the highest
 * number that was read there are at most per_page numbers for each unreadable page, and for each
 * page erased since then; the constant is for the latter. Each unreadable page counts twice,
 * because a later mount may find the pages written in between unreadable as well, and must then
 * begin beyond their numbers. Numbers of 40 bits are enough for 2^20 such mounts.
 */
bool survey_number(const struct survey *s, uint64_t *highest, uint32_t per_page) SSD_MUST_CHECK;

#endif
