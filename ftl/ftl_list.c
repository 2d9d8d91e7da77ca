// SPDX-License-Identifier: GPL-2.0-or-later
/* ftl_list.c - every FTL there is, by the name that a profile gives (ftl.type). */
#include "ftl.h"

extern const struct ftl_ops page_ftl_ops, nftl_ops, superblock_ftl_ops, parity_ftl_ops, rtf_ftl_ops,
	flex_ftl_ops;

const struct ftl_ops *const ftl_list[] = { &page_ftl_ops, &nftl_ops, &superblock_ftl_ops,
	&parity_ftl_ops, &rtf_ftl_ops, &flex_ftl_ops, NULL };
