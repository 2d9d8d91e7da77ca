/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * detect.h - tells the format of a trace from its first lines.
 *
 * Formats with a head of their own are told by it. For the others each parser reads the lines; the one
 * that reads the most is chosen. If several read the most lines, and do not give the same requests (without
 * their times if the caller uses none), it is in doubt. ssdsim and disksim can read the same lines, of five
 * whole numbers, which differ in the unit of time: ns or ms. It is ssdsim if the times, as ms, span more than
 * ten years, or a hundred rows and more are on average more than a minute apart.
 */
#ifndef SLATE_TRACE_DETECT_H
#define SLATE_TRACE_DETECT_H

#include "trace.h"

/*
 * Lines are [s, end); `whole`: nothing follows, so the last line is complete without a newline. Returns
 * TRACE_AUTO if it cannot tell, and then `why` is the reason and the fix.
 */
enum trace_format detect_format(const char *s, const char *end, bool whole, const struct trace_options *o,
				char *why, size_t room);

#endif
