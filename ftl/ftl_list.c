// SPDX-License-Identifier: GPL-2.0-or-later
/* ftl_list.c - all FTLs, by the name in a profile (ftl.type). */
#include "ftl.h"

extern const struct ftl_ops page_ftl_ops, nftl_ops, superblock_ftl_ops, parity_ftl_ops, rtf_ftl_ops,
	flex_ftl_ops, dac_ftl_ops, zns_ftl_ops;

const struct ftl_ops *const ftl_list[] = { &page_ftl_ops, &nftl_ops, &superblock_ftl_ops,
	&parity_ftl_ops, &rtf_ftl_ops, &flex_ftl_ops, &dac_ftl_ops, &zns_ftl_ops,
	NULL };
