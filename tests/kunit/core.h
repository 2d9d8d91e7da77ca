/* SPDX-License-Identifier: GPL-2.0-or-later */
/* core.h - interface between core.c (cases) and libc.c (the C library of the tests) */
#ifndef SLATE_KUNIT_CORE_H
#define SLATE_KUNIT_CORE_H

#include <kunit/test.h>

/* This is the case that runs, or NULL while the cases are being listed. Only one runs at a time. */
extern struct kunit *core_case;
void __noreturn core_case_ends(int status);	/* ends the case as failed */
void libc_begin(void);			/* called before a case: clears output and handlers */
void libc_end(void);			/* after a test program: print the rest of its last line */

#endif
