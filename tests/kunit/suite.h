/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * suite.h - declares a suite in a kernel that was configured without KUnit. Its module loader does
 * not run suites, so a module runs its own suites when it is loaded.
 */
#ifndef SLATE_KUNIT_SUITE_H
#define SLATE_KUNIT_SUITE_H

#include <kunit/test.h>

static inline void suite_run(struct kunit_suite *suite)
{
	struct kunit_suite *const suites[] = { suite };

	__kunit_test_suites_init(suites, 1);
}

#endif
