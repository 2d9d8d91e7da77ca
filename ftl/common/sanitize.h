/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sanitize.h - erase or overwrite every block of an array, below any FTL.
 *
 * Row k has block k of every plane. sanitize_row() starts its erases on all dies at once, one group of all planes
 * for each die, so the dies must be idle; it skips bad blocks, which the array refuses to erase (R3). Blocks are
 * erased whole. A row takes planes * cmd_ns + erase_ns (nand.h), planes being those of the channel that has the most
 * to erase, because the commands of a channel's dies follow each other. A block whose erase fails is marked bad.
 *
 * sanitize_program() programs an erased row, in sanitize_steps() steps that the caller numbers from 0 and makes one
 * after another, because a die executes one group at a time. A step programs one page of each plane, or with one_shot
 * a word line, on all dies at once; with the orders by word lines some steps have no page. On a channel the transfers
 * of all pages follow each other. A block of which a program fails is marked bad, and keeps the pages that were
 * programmed before.
 *
 * The caller keeps the number of the next row where it survives a power cut, and repeats a row that a cut interrupted,
 * from its erases on. When all rows are erased, a mount finds an empty drive (ftl.h).
 */
#ifndef SLATE_SANITIZE_H
#define SLATE_SANITIZE_H

#include "nand.h"

/* Returns when all dies are idle, at or after now_ns. */
uint64_t sanitize_idle_ns(const struct nand *n, uint64_t now_ns);
/* Returns when the row's last erase ends, and adds the blocks that could not be erased to *failed. */
uint64_t sanitize_row(struct nand *n, uint64_t now_ns, uint32_t row, uint32_t *failed);

uint32_t sanitize_steps(const struct nand_geometry *g);
/*
 * Program the step's pages with page_bytes at `data` (NULL: see nand_cmd.data). Returns when the last program ends, or
 * now_ns if the step has no page, and adds the blocks that could not be programmed to *failed.
 */
uint64_t sanitize_program(struct nand *n, uint64_t now_ns, uint32_t row, uint32_t step, const void *data,
			  uint32_t *failed);

#endif
