// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * faulty.c - linked into slate-replay with --wrap=slate_submit: a drive with a planted fault.
 * FAULT=KIND:N names the Nth write (from 1):
 *   misplaced  goes to the unit above
 *   trimmed    trims the unit instead
 */
#include <stdlib.h>
#include <string.h>

#include "slate.h"

void __real_slate_submit(struct slate_dev *d, uint64_t now_ns, struct ftl_io *io);
void __wrap_slate_submit(struct slate_dev *d, uint64_t now_ns, struct ftl_io *io);

void __wrap_slate_submit(struct slate_dev *d, uint64_t now_ns, struct ftl_io *io)
{
	static uint64_t writes;
	const char *fault = getenv("FAULT");
	const char *colon = fault ? strchr(fault, ':') : NULL;

	if (colon && io->op == FTL_WRITE && ++writes == strtoull(colon + 1, NULL, 10)) {
		if (strncmp(fault, "misplaced", 9))
			io->op = FTL_TRIM;
		else
			io->offset += slate_unit_bytes(d);
	}
	__real_slate_submit(d, now_ns, io);
}
