/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * link.h - the host link: two directions (PCIe is full duplex), each moving one
 * I/O's data at a time.
 *
 * A write's data can cross from its submission on, a read's from the moment when all of them are
 * ready. A transfer takes the first gap that is long enough, so a read that is ready early does not
 * wait for one that will be ready late.
 *
 * Invariants:
 *   LINK1  spans are sorted, not empty, and do not touch;
 *   LINK2  there are at most LINK_SPANS spans; a transfer that would need one more goes behind the
 *          last, and some gaps before it stay unused.
 *
 * Cost: O(spans under way); nothing when the profile has no link.
 */
#ifndef SLATE_LINK_H
#define SLATE_LINK_H

#include "port.h"

#define LINK_SPANS 256u

struct link_span {
	uint64_t start_ns, end_ns;
};

struct link_way {
	struct link_span span[LINK_SPANS];
	uint32_t count;
};

static inline uint64_t link_transfer_ns(uint64_t bytes, uint32_t ps_per_byte)
{
	return (bytes * ps_per_byte + 999) / 1000;
}

/* Take the way for len_ns, as link_move() does for bytes. */
uint64_t link_hold(struct link_way *w, uint64_t now_ns, uint64_t earliest_ns, uint64_t len_ns);
/*
 * Move bytes at ps_per_byte, at or after earliest_ns; spans that ended by now_ns are removed. Returns
 * when the last byte has arrived.
 */
uint64_t link_move(struct link_way *w, uint64_t now_ns, uint64_t earliest_ns, uint64_t bytes,
		   uint32_t ps_per_byte);

#endif
