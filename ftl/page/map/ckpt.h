/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ckpt.h - the checkpoint's form and the functions of ckpt.c and ckpt_mount.c */
#ifndef SLATE_CKPT_H
#define SLATE_CKPT_H

#include "map_own.h"
#include "page_state.h"

#define CKPT_MAGIC 0x54504b43u	/* "CKPT" */
#define CKPT_PAGE_HEAD 16u
#define CKPT_HEAD 35u
#define CKPT_BLOCK 18u
#define CKPT_MAP_PAGE 9u
#define CKPT_OF_MAP 0x80000000u
#define CKPT_OF_COPIES 0x40000000u
#define CKPT_PAGES 0x3fffffffu

/* Each returns the place in the image of a checkpoint where it has ... */
uint8_t *ckpt_block(const struct page_ftl *f, uint32_t b);	/* the state of block b */
uint8_t *ckpt_hidden(const struct page_ftl *f, uint32_t i);	/* the address of trim bitmap i or the dead list */
uint8_t *ckpt_map_page(const struct page_ftl *f, uint32_t page);	/* the address of a map page */
uint8_t *ckpt_handles(const struct page_ftl *f);	/* the placement handles */

#endif
