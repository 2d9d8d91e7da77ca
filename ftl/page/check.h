/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check.h - asserts the invariants of the page-mapping FTL (check.c) */
#ifndef SLATE_CHECK_H
#define SLATE_CHECK_H

#include "page_state.h"

void page_ftl_check(const struct ftl *base);

#endif
