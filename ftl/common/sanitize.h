/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sanitize.h - erase every block of an array, below any FTL.
 *
 * Row k has block k of every plane. sanitize_row() starts its erases on all dies at once, one group of all planes
 * for each die, so the dies must be idle; it skips bad blocks, which the array refuses to erase (R3). Blocks are
 * erased whole. A row takes planes * cmd_ns + erase_ns (nand.h), planes being those of the channel that has the most
 * to erase, because the commands of a channel's dies follow each other. A block whose erase fails is marked bad.
 *
 * The caller keeps the number of the next row where it survives a power cut, and repeats a row that a cut interrupted.
 * When all rows are erased, a mount finds an empty drive (ftl.h).
 */
#ifndef SLATE_SANITIZE_H
#define SLATE_SANITIZE_H

#include "nand.h"

/* Returns when all dies are idle, at or after now_ns. */
uint64_t sanitize_idle_ns(const struct nand *n, uint64_t now_ns);
/* Returns when the row's last erase ends, and adds the blocks that could not be erased to *failed. */
uint64_t sanitize_row(struct nand *n, uint64_t now_ns, uint32_t row, uint32_t *failed);

#endif
