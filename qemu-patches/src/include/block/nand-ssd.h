/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a front end may ask of a nand-ssd node through bdrv_co_ioctl().
 *
 * The request completes without yielding and takes no device time.
 */
#ifndef BLOCK_NAND_SSD_H
#define BLOCK_NAND_SSD_H

#define NAND_SSD_DRIVER "nand-ssd"

/*
 * Close the current interval of the drive's statistics and begin the next.
 * -EINVAL: no such kind; -ENOSPC: the drive keeps no more marks.
 */
#define NAND_SSD_IOCTL_MARK 0x534c4d4b

#define NAND_SSD_LABEL_BYTES 16

typedef struct NandSsdMarkRequest {
    uint32_t kind;                      /* enum slate_mark_kind */
    char label[NAND_SSD_LABEL_BYTES];   /* NUL-padded, not terminated */
} NandSsdMarkRequest;

#endif
