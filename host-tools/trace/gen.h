/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gen.h - traces that need no file: the "gen:..." names of trace.h. */
#ifndef SLATE_TRACE_GEN_H
#define SLATE_TRACE_GEN_H

#include "trace.h"

struct gen {
	bool random;
	uint64_t foot_bytes, request_bytes, requests, fill_bytes, gap_ns, seed;
	uint32_t read_permille;
	uint64_t x;			/* state of the random numbers */
	uint64_t at;			/* rows made */
	uint64_t fills;			/* of these, of the fill */
};

/* spec: what stands behind "gen:". 0, or -1 with a sentence in err. */
int gen_open(struct gen *g, const char *spec, char *err, size_t room);
void gen_rewind(struct gen *g);
bool gen_next(struct gen *g, struct trace_row *row);
uint64_t gen_rows(const struct gen *g);

#endif
