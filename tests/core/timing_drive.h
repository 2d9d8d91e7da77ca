/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * timing_drive.h - an array with times that are easy to add. A page has 4096 + 64 bytes at 1 ns per
 * byte: a transfer takes 4160 ns. Commands take 100 ns on the bus, and in the cells a read takes 50
 * us, a program 200 us, an erase 1 ms.
 */
#ifndef SLATE_TIMING_DRIVE_H
#define SLATE_TIMING_DRIVE_H

#include "gc_policy.h"
#include "ftl.h"
#include "oob.h"
#include "test.h"

#define CMD 100u
#define XFER 4160u
#define READ 50000u
#define PROG 200000u
#define ERASE 1000000u
#define READ_ALONE (CMD + READ + XFER)
#define PROG_ALONE (CMD + XFER + PROG)
#define ERASE_ALONE (CMD + ERASE)

static struct test_array t;

/* The options with which the next drive is opened. Freeing a drive sets them back to the defaults. */
static struct ways {
	bool held;			/* GC holds the bus */
	bool copyback;
	bool gc_copyback;		/* GC uses copyback */
	enum nand_subpage subpage;	/* with words of 1 KiB; GC reads the words that it moves */
	uint32_t unit;			/* size of a unit; 0: a page */
	bool pairs;
	uint32_t second_pages;
	bool owners;			/* owners are told apart */
	uint32_t urgent;		/* blocks kept for GC; 0: one */
	uint32_t planes;		/* of a die; 0: one */
	bool together;			/* GC of these planes works together */
	uint32_t stop;			/* free blocks at which GC ends; 0: those at which it begins */
	enum ftl_accounting accounting;
} ways;

static inline struct nand_array_config config(uint32_t channels, uint32_t chips, uint32_t planes)
{
	return (struct nand_array_config){
		.geo = { channels, chips, 1, planes, 8, 4, 4096, 64, 16, 4096, 0, 1, 1 },
		.timing = { CMD, { READ }, { PROG }, { ERASE }, 1000 },
		.payload = true,
	};
}

static inline void make(uint32_t channels, uint32_t chips, uint32_t planes)
{
	struct nand_array_config c = config(channels, chips, planes);

	c.timing.gc_holds_bus = ways.held;
	c.owners = ways.owners;
	c.timing.subread_base_ns = 10000;
	c.timing.subread_ns_per_kib = 5000;
	c.geo.copyback = ways.copyback || ways.gc_copyback;
	c.geo.subpage = ways.subpage;
	c.geo.ecc_word_bytes = ways.subpage ? 1024 : 4096;
	c.geo.erase_group_max = 1 + ways.pairs;
	c.geo.oob_kept = OOB_BYTES(ways.unit ? 4096 / ways.unit : 1);
	test_array_make(&t, &c);
}

#endif
