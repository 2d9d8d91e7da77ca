// SPDX-License-Identifier: GPL-2.0-or-later
/* example_ftls.c - replaces ftl/ftl_list.c in the example's programs. */
#include "ftl.h"

extern const struct ftl_ops page_ftl_ops, log_ftl_ops, buffered_ftl_ops;

const struct ftl_ops *const ftl_list[] = { &page_ftl_ops, &log_ftl_ops, &buffered_ftl_ops, NULL };
