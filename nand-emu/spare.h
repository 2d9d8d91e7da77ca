/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spare.h - spare areas in few bits. A page's spare area is packed as it is programmed, and read back byte for byte,
 * whatever its bytes are. Few bits suffice if it is the page FTL's (ftl/common/oob.h): a number of 5 bytes, the order;
 * one of 2, the mark; and for each unit one of 4, the address, and one of 5, the sequence.
 *
 * The pages of a block are one *stream* of bits, in cells of SPARE_CELL_BYTES from a pool. A record is one of
 *
 *   ANY       no sequence is above the order
 *   OWN       each sequence equals the order
 *   RUN       and the addresses follow one another: only the first is stored
 *   LITERAL   a bit 1, then the bytes, if another record cannot be or would take more; a bit 0: the page was skipped
 *
 * and refers to the record before it: order, mark and sequence are stored as differences, by a Rice code whose
 * parameter follows the mean of such differences. Addresses below `addresses` are stored in as many bits as their
 * number needs. Each code has an escape for a number that it does not fit.
 *
 * Invariants:
 *   SP1  a stream has a record for each page below end.page, in ascending order;
 *   SP2  the bits behind `end` in its word of the cell are 0, and what is behind that word is not used;
 *   SP3  the chain of cells from `first` ends with end.cell; cell 0 is never used, and 0 ends a chain;
 *   SP4  `seen` is a place of the stream up to `end`, or blank: then a read begins at `first`.
 *
 * Cost: some 750 instructions to pack a page, 600 to unpack one (docs/results/bench/replayer.md). A read unpacks the
 * pages from the last one read in the block on, or from its first page if it goes back, so blocks should be read in
 * ascending order, as GC and a mount do.
 */
#ifndef SLATE_SPARE_H
#define SLATE_SPARE_H

#include "port.h"

#define SPARE_UNITS_MAX 16u
#define SPARE_HEAD_BYTES 7u
#define SPARE_UNIT_BYTES 9u
#define SPARE_BYTES(units) (SPARE_HEAD_BYTES + SPARE_UNIT_BYTES * (units))
#define SPARE_CELL_BYTES 512u

enum spare_mean { MEAN_ORDER, MEAN_MARK, MEAN_SEQ, NMEANS };

struct spare_at {		/* a place in a stream, and what the next record refers to */
	uint64_t order, seq;	/* of the page before; seq: of its last unit */
	uint32_t mean[NMEANS];	/* of the last differences, in sixteenths */
	uint32_t mark;
	uint32_t cell, bit;
	uint32_t page;		/* whose record is next */
};

struct spare_stream {		/* of a block */
	struct spare_at end;	/* where the next page goes */
	uint32_t first, unused[3];
	struct spare_at seen;	/* where the last read ended */
	uint32_t unused_too[4];
};

_Static_assert(sizeof(struct spare_stream) == 128, "programs use one cache line, reads the other");

struct spare_pool {
	uint32_t free;		/* chain of free cells */
	uint32_t used;		/* cells 1 .. used were taken at some time */
};

struct spares {
	uint32_t units;		/* of a page; 0: spare areas are not packed */
	uint32_t block_pages, cells;
	uint32_t addresses, address_bits, short_codes;
	/* in the image: */
	struct spare_pool *pool;
	struct spare_stream *stream;
	uint32_t *link;		/* the cell behind each cell */
	uint64_t *cell;
	/* the page unpacked last */
	uint32_t held_ppn;	/* UINT32_MAX: none */
	uint8_t held[SPARE_BYTES(SPARE_UNITS_MAX)];
};

/* Returns how many cells suffice for the blocks, whatever bytes their spare areas have. */
uint32_t spares_cells(uint64_t blocks, uint32_t block_pages, uint32_t units);
/* Set the fields that do not point into the image. addresses: most addresses are below this. */
void spares_begin(struct spares *k, uint64_t blocks, uint32_t block_pages, uint32_t units, uint32_t addresses);
/*
 * Store the spare area of a page that is programmed; oob NULL: all its bytes are FFh. The spare areas that the block
 * had for this page and later ones are forgotten.
 */
void spares_put(struct spares *k, uint32_t block, uint32_t page, const void *oob);
/* Returns a page's spare area, valid until the next call. A page without one has FFh. */
const void *spares_get(struct spares *k, uint32_t block, uint32_t page);
/* Forget the spare areas of this page and all later ones of its block. */
void spares_drop(struct spares *k, uint32_t block, uint32_t page);
/* Copy all streams, so that `to` has the same spare areas as `from`. Both were begun with the same numbers. */
void spares_copy(struct spares *to, const struct spares *from, uint64_t blocks);

#endif
