/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * save.h - power-loss protection: capacitors program what the write buffer holds when the power fails.
 *
 * With power_protected a write is durable as soon as the buffer has it. So the drive has no volatile write cache,
 * and flush and FUA wait for nothing. At a loss of power
 *
 *   1  the host is gone: what waits for room in the buffer is lost, and so are reads;
 *   2  commands under way end; GC rests;
 *   3  the pages of the buffer are programmed as ever, each at its normal place and under the rules of flash.
 *      If a program fails, the page goes to another block. GC goes on only if there is no room without it;
 *   4  when the buffer is empty, the commands under way end, and the array loses its power.
 *
 * A mount finds what it finds after a flush at the moment of the loss, so it needs nothing new. No command is ever
 * torn, hence no pages of its word line either (paired_loss).
 *
 * The capacitors' energy is a time, hold_up_ns, because the array has exact times. 0: as long as the four steps take.
 * Otherwise the array loses its power when that time is over, whatever is left to do. The time is refused if a die may
 * need longer to end its command, receive its share of the buffer and program it, with parity pages. GC, failing blocks
 * and reads that complete partial writes may take more time, which is measured (slate_power.h) and not checked.
 *
 * The save takes NAND time and no time of the host.
 */
#ifndef SLATE_SAVE_H
#define SLATE_SAVE_H

#include "ftl.h"

/* Returns the first rule for power_protected and hold_up_ns that c breaks, as a sentence, or NULL. c is valid else. */
const char *save_fault(const struct ftl_ops *t, const struct ftl_config *c, const struct nand_geometry *g);

/* Returns, in ns, the least hold_up_ns above 0 that save_fault() accepts together with c's other values. */
uint64_t save_needed_ns(const struct ftl_ops *t, const struct ftl_config *c, const struct nand_geometry *g);

/*
 * The power has failed at now_ns, the time of the last step(); the drive is protected. Do steps 1 to 4 and set *end_ns
 * to the time at which the array loses its power. Returns the pages of the buffer that were not saved.
 */
uint32_t ftl_save(struct ftl *f, const struct nand *n, uint32_t hold_up_ns, uint64_t now_ns, uint64_t *end_ns);

#endif
