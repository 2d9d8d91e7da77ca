/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * memory.h - the bandwidth of the controller's memory. These bytes cross it once: all that a host
 * reads or writes, all that GC, wear levelling or a merge copies, and all that is read of map pages.
 * Bytes that are read ahead cross when they are read, and again when a host's read finds them in the
 * cache.
 *
 * Like a direction of the host link (link.h), the memory carries one transfer at a time, and a transfer
 * takes the first gap that is long enough. A host's read ends when its data have crossed. The FTL gets
 * a write when its data have crossed. The bytes of copies and map pages cross from the end of their
 * read on. The FTL does not wait for them, but later transfers do. So if nothing else limits the drive,
 * the bytes of the host, of copies and of map pages together cross at dram_mb_s.
 *
 * Copies are seen where all FTLs make them, at the array: the FTL gets a struct nand that passes each
 * call on and takes note of reads that are not the host's. A copyback moves no data out of its chip.
 *
 * Rejected: to let an FTL's copies wait, because each engine would need a state between a read and its
 * program; they would wait for the host's transfers, which wait for them.
 */
#ifndef SLATE_MEMORY_H
#define SLATE_MEMORY_H

#include "link.h"
#include "nand.h"

struct memory {
	struct nand nand;		/* what the FTL gets; valid if mb_s is not 0 */
	struct nand *array;
	struct link_way way;
	uint32_t mb_s;			/* 10^6 bytes per second; 0: unlimited */
	uint64_t busy_ns;
};

/* Returns the array that the FTL must use: m's own, which counts copies, or `array` if mb_s is 0. */
struct nand *memory_init(struct memory *m, uint32_t mb_s, struct nand *array);
/* Returns the time that bytes take to cross. */
static inline uint64_t memory_ns(const struct memory *m, uint64_t bytes)
{
	return (bytes * 1000 + m->mb_s - 1) / m->mb_s;
}

/* Let bytes cross at or after earliest_ns. Returns when the last one has crossed. */
uint64_t memory_cross(struct memory *m, uint64_t now_ns, uint64_t earliest_ns, uint64_t bytes);

#endif
