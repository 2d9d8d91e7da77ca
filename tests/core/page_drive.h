/* SPDX-License-Identifier: GPL-2.0-or-later */
/* page_drive.h - a drive of the page FTL: its mount, its time with check() around each step, its end. */
#ifndef SLATE_PAGE_DRIVE_H
#define SLATE_PAGE_DRIVE_H

#include "ftl.h"
#include "test.h"

static struct test_array t;
static struct ftl *f;
static void *mem;
static uint64_t now;

static inline void mount_page_ftl(const struct ftl_config *c, const struct ftl_host *host)
{
	const char *why;
	size_t bytes;

	free(mem);
	SSD_ASSERT(ftl_validate(ftl_list[0], c, &t.c.geo, &why) == SSD_OK);
	bytes = ftl_footprint(ftl_list[0], c, &t.c.geo);
	mem = calloc(1, bytes);
	SSD_ASSERT(ftl_init(ftl_list[0], mem, bytes, c, t.n, host, &f) == SSD_OK);
	SSD_ASSERT(f->ops->mount(f, 0, &now) == SSD_OK);
	f->ops->check(f);
}

/* Step the drive up to the time ns; with FTL_IDLE, until it has no work left. */
static inline void pass_to(uint64_t ns)
{
	for (uint64_t next = f->ops->step(f, now); next <= ns && next != FTL_IDLE; next = f->ops->step(f, now)) {
		now = next;
		f->ops->check(f);
	}
	if (ns != FTL_IDLE)
		now = ns;
}

static inline void gone(void)
{
	struct nand_stats s;

	t.n->ops->get_stats(t.n, &s);
	for (unsigned int r = 0; r < NAND_NRULES; r++)
		EXPECT_EQ(s.violations[r], 0);
	free(mem);
	mem = NULL;
	test_array_free(&t);
}

#endif
