/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * suite.h - runs a suite of KUnit when a module asks for it. If a module declared its suites, the
 * module loader would run all of them at once; here the module chooses or lists them first.
 */
#ifndef SLATE_KUNIT_SUITE_H
#define SLATE_KUNIT_SUITE_H

#include <kunit/test.h>
#include <linux/version.h>

static inline void suite_run(struct kunit_suite *suite)
{
	struct kunit_suite *const suites[] = { suite };

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 16, 0)
	__kunit_test_suites_init(suites, 1, true);
#else
	__kunit_test_suites_init(suites, 1);
#endif
}

#endif
