// SPDX-License-Identifier: GPL-2.0-or-later
/* port_user.c - port.h in user space: how a failed assertion ends the program */
#include <stdio.h>
#include <stdlib.h>

#include "port.h"

_Noreturn void ssd_assert_failed(const char *expr, const char *file, int line)
{
	fprintf(stderr, "slate: %s:%d: assertion failed: %s\n", file, line, expr);
	abort();
}
