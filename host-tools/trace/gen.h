/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gen.h - traces that need no file: the "gen:..." names of trace.h.
 *
 * The content of a write is computed from the seed, the request's number and the address, for each
 * 4 KiB:
 *   zero     zeroes
 *   random   bytes that do not compress; all blocks differ
 *   text     words of a small vocabulary: compresses well, all blocks differ
 *   similar  one of 64 random blocks with 4 of its words of 8 bytes replaced: compresses only
 *            against a block made from the same one
 */
#ifndef SLATE_TRACE_GEN_H
#define SLATE_TRACE_GEN_H

#include "skew.h"
#include "trace.h"

enum gen_content { GEN_NO_CONTENT, GEN_ZERO, GEN_RANDOM, GEN_TEXT, GEN_SIMILAR };

#define GEN_SIZES 8u

struct gen_size {		/* of requests: weight of so many have it */
	uint64_t bytes;
	uint32_t weight;
};

struct gen {
	bool random;
	struct skew skew;
	enum gen_content content;
	uint64_t from_bytes, foot_bytes, requests, fill_bytes, gap_ns, seed;
	uint32_t read_permille;
	struct gen_size sizes[GEN_SIZES];
	uint32_t nsizes, weights;	/* weights: their sum */
	uint64_t least_bytes;		/* the smallest size; skew draws the number of such a place */
	uint64_t x;			/* state of the random numbers */
	uint64_t at;			/* number of rows made */
	uint64_t offset;		/* offset of the last row */
	uint64_t fills;			/* number of these rows that belong to the fill */
};

/* Open a generator. spec: the text after "gen:". Returns 0, or -1 with a sentence in err. */
int gen_open(struct gen *g, const char *spec, char *err, size_t room);
void gen_rewind(struct gen *g);
bool gen_next(struct gen *g, struct trace_row *row);
/* Make the bytes [at, at + len) of the last write. */
void gen_content(const struct gen *g, uint64_t at, void *buf, size_t len);
uint64_t gen_rows(const struct gen *g);

#endif
