/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mount_pages.h - reads the pages of a pass, and programs what a mount adds (mount_pages.c) */
#ifndef SLATE_MOUNT_PAGES_H
#define SLATE_MOUNT_PAGES_H

#include "mount_state.h"

/*
 * Read a page. *page: set to the content; page NULL: read the spare area alone. oob: room for the spare
 * area. A page that rescue.c has rebuilt is read from memory (NAND_CORRECTED).
 */
enum nand_status mount_read(struct page_mount *s, uint32_t ppn, const uint8_t **page, void *oob);
/* Call `visit` for each readable page of a pass (s->wants). Returns 0 or a negative ssd_err. */
int mount_each_page(struct page_mount *s, page_fn *visit) SSD_MUST_CHECK;
/* Is the block written further after the mount? It must have a valid unit and an erased page, and not be purged. */
bool mount_goes_on(const struct page_mount *s, uint32_t b);
/* Write the dead list as the content of a unit. */
void mount_fill_dead_list(const struct page_ftl *f, uint8_t *unit);
/* Issue the pages of the buffer, and wait until they are durable. Returns SSD_E_NOSPC if they cannot be programmed. */
int mount_settle(struct page_mount *s) SSD_MUST_CHECK;

#endif
