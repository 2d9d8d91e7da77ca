// SPDX-License-Identifier: GPL-2.0-or-later
/* port_user.c - port.h in user space: a failed assertion ends the program or a guarded call */
#include <stdio.h>
#include <stdlib.h>

#include "port.h"
#include "port_user.h"

_Thread_local struct ssd_guard *ssd_guard;

_Noreturn void ssd_assert_failed(const char *expr, const char *file, int line)
{
	struct ssd_guard *guard = ssd_guard;

	fprintf(stderr, "slate: %s:%d: assertion failed: %s\n", file, line, expr);
	ssd_guard = NULL;
	if (guard)
		longjmp(guard->back, 1);
	abort();
}
