/* SPDX-License-Identifier: GPL-2.0-or-later */
/* direct_ops.h - page operations, blocks and busy dies, as the engine's other files and schemes use them */
#ifndef SLATE_DIRECT_OPS_H
#define SLATE_DIRECT_OPS_H

#include "direct.h"

/*
 * Take the plane's first free block if more than `reserve` are free: DIRECT_ROOM with
 * *block (erased, USED), DIRECT_ERASE (ask again when it is erased), or DIRECT_FULL.
 */
enum direct_room direct_take(struct direct *d, uint32_t plane, uint32_t reserve, uint32_t *block);
/* Take a bad block out of use (pool_put_bad()). If its plane has too few blocks left, the drive becomes read-only. */
void direct_put_bad(struct direct *d, uint32_t block);

/* Take a page operation from the pool, which must not be empty (op_free); return it to the pool. */
uint32_t direct_op_get(struct direct *d);
void direct_op_put(struct direct *d, uint32_t op);
/*
 * Returns the counter of an epoch's unfinished writes: that of the current epoch, or that of the
 * flush that ended the epoch.
 */
uint64_t *direct_writes_of(struct direct *d, uint64_t epoch);
/* Count the end of a write or of one of its pages. */
void direct_write_ended(struct direct *d, uint64_t epoch);
/* Mark a die busy with cmd until until_ns. */
void direct_die_start(struct direct *d, uint32_t die, enum direct_cmd cmd, uint64_t until_ns);

#endif
