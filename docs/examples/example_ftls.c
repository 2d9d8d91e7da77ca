// SPDX-License-Identifier: GPL-2.0-or-later
/* example_ftls.c - in place of ftl/ftl_list.c, for the example's programs alone. */
#include "ftl.h"

extern const struct ftl_ops page_ftl_ops, log_ftl_ops, buffered_ftl_ops;

const struct ftl_ops *const ftl_list[] = { &page_ftl_ops, &log_ftl_ops, &buffered_ftl_ops, NULL };
