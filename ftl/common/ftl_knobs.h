/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ftl_knobs.h - the settings of FTLs, each declared once: a row makes the field of struct ftl_config
 * (ftl.h) and the row of a table of knob.h. A list of rows has the settings of one table. The engine that
 * reads them makes the table of the list, and each FTL lists its tables in ftl_ops.knobs. A profile that
 * sets a key of another FTL is refused.
 *
 *   NUMBER(name, lowest, highest, default, sentence)
 *   ONLINE(name, anew, lowest, highest, default, sentence)   a number that may change while the drive runs, and
 *                                                            what is computed anew then (enum ftl_recompute)
 *   YES_NO(name, default, sentence)
 *   CHOICE(name, type, VALUES, default, sentence)   of enum ftl_TYPE
 *
 * VALUES is a macro above the row that lists each value and its name. Enum and table are made from it.
 */
#ifndef SLATE_FTL_KNOBS_H
#define SLATE_FTL_KNOBS_H

#include "knob.h"

/* ---- what is computed anew ------------------------------------------------- */

/*
 * What a drive computes anew when a setting changes while it runs. An FTL has a row for each of them that it can
 * compute (ftl_ops.anew). So a setting can change online if its row here names something for which the FTL has a row.
 */
enum ftl_recompute {
	FTL_FIXED,			/* the setting cannot change: it sizes a table, or a mount relies on it */
	FTL_AT_USE,			/* nothing: the FTL reads the setting each time that it needs it */
	FTL_ANEW_GC_START,		/* whether GC begins, and what is derived from gc_start_blocks */
	FTL_ANEW_GC_STOP,		/* likewise, whether it goes on */
	FTL_ANEW_IDLE_GC,		/* what idle GC does */
	FTL_ANEW_FRONT,			/* the copy in struct front_config */
	FTL_ANEW_WEAR,			/* whether wear must be compared */
	FTL_ANEW_ARBITER,		/* the arbiter's numbers (controller.h), with any FTL */
	FTL_NRECOMPUTED
};

/* ---- the settings ---------------------------------------------------------- */

#define FTL_GC_MODES(VALUE) \
	/* GC keeps the die until the plane has gc_stop_blocks free blocks */ \
	VALUE(FTL_GC_BLOCKING, "blocking") \
	/* host I/O goes first, unless GC has credit on the die (die.h) */ \
	VALUE(FTL_GC_SLICED, "sliced")
enum ftl_gc_mode { FTL_GC_MODES(KNOB_VALUE) };

/* Every FTL has these settings. */
#define FTL_COMMON_ROWS(NUMBER, ONLINE, YES_NO, CHOICE) \
	NUMBER(unit_bytes, 512, 16384, "4096", "mapping unit; divides page_bytes") \
	NUMBER(buffer_units, 0, 1 << 22, "1024", \
	  "write buffer; 0: a write completes when programmed (dac: when compressed)") \
	/* save.h */ \
	YES_NO(power_protected, "no", \
	  "capacitors: what the write buffer holds at a loss of power is programmed; no volatile write cache, flush " \
	  "and FUA cost nothing (needs a write buffer)") \
	NUMBER(hold_up_ns, 0, KNOB_NS_MAX, "0", \
	  "power_protected: the capacitors' energy, as the time for which they power the drive; 0: as long as the " \
	  "buffer takes") \
	/* In struct ftl_config, 0 is DIE_READS_IN_ROW. */ \
	ONLINE(reads_in_row, FTL_AT_USE, 1, 65536, "8", "reads of a die that go before a program which waits there") \
	YES_NO(payload, "yes", "keep the data; no: mapping and times only") \
	NUMBER(map_ns, 0, KNOB_NS_MAX, "200", "a look-up") \
	NUMBER(buffer_ns, 0, KNOB_NS_MAX, "2000", \
	  "transfer of host data into or out of the buffer, per I/O (nftl, superblock: out of the read cache)") \
	NUMBER(overhead_ns, 0, KNOB_NS_MAX, "1000", "firmware, per I/O") \
	NUMBER(max_unit_reads, 8, 1 << 22, "4096", "queued flash reads")

/* FTLs that collect blocks have these settings: all but zns, whose host resets zones. */
#define FTL_GC_ROWS(NUMBER, ONLINE, YES_NO, CHOICE) \
	ONLINE(gc_start_blocks, FTL_ANEW_GC_START, 2, 1 << 20, "5", "GC of a plane begins when fewer blocks are free") \
	NUMBER(gc_urgent_blocks, 1, 1 << 20, "2", "reserved for GC") \
	CHOICE(gc_mode, gc_mode, FTL_GC_MODES, "sliced", "GC keeps the die, or alternates with the host") \
	/* The credit of die.h. */ \
	ONLINE(gc_slice_pages, FTL_AT_USE, 1, 65536, "4", \
	  "sliced: programs, copybacks and erases of GC on a die after a program of the host there; reads are not " \
	  "counted")

/*
 * For FTLs whose GC, once begun on a plane, goes on until that many blocks are free. nftl merges one pair of blocks at
 * a time, and has no such setting.
 */
#define FTL_GC_STOP_ROWS(NUMBER, ONLINE, YES_NO, CHOICE) \
	ONLINE(gc_stop_blocks, FTL_ANEW_GC_STOP, 2, 1 << 20, "6", \
	       "GC that began at gc_start_blocks ends at this many; with gc_multiplane the last plane of a die ends " \
	       "at gc_start_blocks")

/* Does the FTL read single ECC words, or only whole pages? How much time that saves depends on the array. */
#define FTL_WORDS(VALUE) \
	VALUE(FTL_WORDS_NO, "no") \
	/* single words; refused if the array reads only whole pages */ \
	VALUE(FTL_WORDS_YES, "yes") \
	/* single words if the array can read them */ \
	VALUE(FTL_WORDS_AUTO, "auto")
enum ftl_words { FTL_WORDS(KNOB_VALUE) };

/* Reads of single ECC words. */
#define FTL_WORD_ROWS(NUMBER, ONLINE, YES_NO, CHOICE) \
	CHOICE(gc_subpage_reads, words, FTL_WORDS, "no", \
	  "GC, wear levelling and relocation read only the ECC words they move; auto: if geometry.subpage is not " \
	  "none") \
	CHOICE(host_subpage_reads, words, FTL_WORDS, "no", \
	  "host reads, and reads that complete partial writes, fetch only the needed ECC words; auto: likewise")

/*
 * device: a write ends when it is programmed or buffered; GC holds the channel only for its transfers.
 * ssdsim: SSDSim's accounting, for comparison with published figures that count in this way. An
 * unbuffered write ends when its data are in the chip; GC holds the channel for all of a copy's read
 * and program (nand_timing.gc_holds_bus). A power cut may take completed writes that were not flushed;
 * FUA and flush still wait for the program.
 */
#define FTL_ACCOUNTINGS(VALUE) \
	VALUE(FTL_ACCOUNT_DEVICE, "device") \
	VALUE(FTL_ACCOUNT_SSDSIM, "ssdsim")
enum ftl_accounting { FTL_ACCOUNTINGS(KNOB_VALUE) };

/* GC's commands, and a write's end. */
#define FTL_COPY_ROWS(NUMBER, ONLINE, YES_NO, CHOICE) \
	YES_NO(gc_copyback, "no", "GC copies inside the chip (needs geometry.copyback)") \
	YES_NO(parallel_erase, "no", \
	  "IPPBE: GC erases two victims of a plane at once (needs geometry.erase_group_max)") \
	CHOICE(accounting, accounting, FTL_ACCOUNTINGS, "device", \
	  "ssdsim, to compare with published figures: an unbuffered write completes with its transfer and is " \
	  "durable when flushed; GC holds the channel during cell times, too (not with suspend_ns)")

/* FTLs with parallel_erase that choose two victims have this setting. */
#define FTL_SECOND_VICTIM_ROWS(NUMBER, ONLINE, YES_NO, CHOICE) \
	ONLINE(second_victim_pages, FTL_AT_USE, 0, 65536, "65536", \
	  "maximum of valid pages of the second victim; the copies of both must fit beside gc_urgent_blocks")

/* page, parity, rtf, flex and dac have these settings. */
#define FTL_IDLE_GC_ROWS(NUMBER, ONLINE, YES_NO, CHOICE) \
	ONLINE(idle_gc_permille, FTL_ANEW_IDLE_GC, 0, 1000, "0", \
	  "below this share of free blocks in a plane, GC runs when the drive is idle; 0: never") \
	ONLINE(idle_gc_ns, FTL_ANEW_IDLE_GC, 0, KNOB_NS_MAX, "1000000", \
	  "idle: no I/O and no full buffer page for this time")

/* The frontiers rtf and flex have these settings (front.h). */
#define FTL_RTF_ROWS(NUMBER, ONLINE, YES_NO, CHOICE) \
	NUMBER(active_blocks, 1, 16, "8", "open blocks of a plane")

#define FTL_FLEX_ROWS(NUMBER, ONLINE, YES_NO, CHOICE) \
	ONLINE(fast_above_permille, FTL_ANEW_FRONT, 0, 1000, "800", \
	  "above this use of the write buffer, LSB pages while the quota lasts ...") \
	ONLINE(slow_below_permille, FTL_ANEW_FRONT, 0, 1000, "100", \
	  "... below this, MSB pages; in between, alternately") \
	NUMBER(quota_permille, 0, 1000, "50", \
	  "a busy host gets LSB pages while less than this share of all LSB pages is written ahead of MSB pages; " \
	  "then alternately")

/* Of the commands that wait for the controller's cores, this one comes first (arbiter.h). */
#define FTL_ARBITRATIONS(VALUE) \
	/* the one that was submitted first */ \
	VALUE(FTL_ARBITRATION_FIFO, "fifo") \
	/* submission queues take turns */ \
	VALUE(FTL_ARBITRATION_ROUND_ROBIN, "round-robin") \
	/* weighted round robin with an urgent class */ \
	VALUE(FTL_ARBITRATION_WEIGHTED, "weighted")
enum ftl_arbitration { FTL_ARBITRATIONS(KNOB_VALUE) };

/* The controller (controller.h). */
#define CONTROLLER_ROWS(NUMBER, ONLINE, YES_NO, CHOICE) \
	NUMBER(cores, 0, CONTROLLER_CORES_MAX, "0", \
	  "processors that execute `ftl.overhead_ns` (a command), `ftl.map_ns` (the look-up of a unit) and " \
	  "completion_ns; 0: as many as there is work") \
	NUMBER(completion_ns, 0, KNOB_NS_MAX, "0", \
	  "of a core's time for each request, when its data are there; only with cores") \
	NUMBER(read_cache_units, 0, 1u << 24, "0", \
	  "mapping units kept in the controller's memory after they were read; only with cores") \
	NUMBER(read_ahead_units, 0, 1u << 20, "0", \
	  "mapping units read into that memory ahead of a sequence of reads: 0, or from a page's units to half of " \
	  "read_cache_units") \
	NUMBER(read_hit_ns, 0, KNOB_NS_MAX, "0", \
	  "time to move the data of a read out of the read cache; 0: `ftl.buffer_ns`; only with a read cache") \
	CHOICE(arbitration, arbitration, FTL_ARBITRATIONS, "fifo", \
	  "the command that a free core takes, as in NVMe: the oldest; one of the next submission queue; or urgent " \
	  "queues first, then classes of queues by weight; only with cores") \
	ONLINE(arbitration_burst, FTL_ANEW_ARBITER, 1, 1u << 16, "1", "commands that a queue's turn takes at most") \
	ONLINE(weight_high, FTL_ANEW_ARBITER, 1, 256, "1", \
	  "commands of the class high, before the next class has its turn") \
	ONLINE(weight_medium, FTL_ANEW_ARBITER, 1, 256, "1", "likewise, medium") \
	ONLINE(weight_low, FTL_ANEW_ARBITER, 1, 256, "1", "likewise, low") \
	NUMBER(dram_mb_s, 0, 1u << 20, "0", \
	  "10^6 bytes per second of the controller's memory, which host data, copies and map pages cross once; 0: " \
	  "unlimited; only with cores")

/* GC's copies go where the published FTL puts them, to separate blocks, or to the host's blocks. */
#define FTL_GC_FRONTIERS(VALUE) \
	VALUE(FTL_GC_AUTO, "auto") \
	VALUE(FTL_GC_OWN, "own") \
	VALUE(FTL_GC_SHARED, "shared")
enum ftl_gc_frontier { FTL_GC_FRONTIERS(KNOB_VALUE) };

/* A host read suspends these commands, if the array supports it (timing.suspend_ns). */
#define FTL_SUSPENDS(VALUE) \
	VALUE(FTL_SUSPEND_OFF, "off") \
	VALUE(FTL_SUSPEND_ERASE, "erase") \
	VALUE(FTL_SUSPEND_PROGRAM, "program") \
	VALUE(FTL_SUSPEND_ALL, "all")
enum ftl_suspend { FTL_SUSPENDS(KNOB_VALUE) };

/* ftl/page: page, parity, rtf and flex have these settings. */
#define PAGE_ROWS(NUMBER, ONLINE, YES_NO, CHOICE) \
	NUMBER(gc_choices, 1, 1024, "10", "d-choices: blocks drawn") \
	NUMBER(gc_window_blocks, 1, 1 << 20, "64", "windowed-greedy: blocks of a plane among which it chooses") \
	ONLINE(wl_threshold, FTL_ANEW_WEAR, 0, 1 << 20, "0", \
	  "static wear levelling: allowed difference in erases between a plane's most worn free block and least " \
	  "worn full block; 0: none") \
	YES_NO(relocate, "yes", \
	  "collect a block after a host read with more than relocate_bits raw errors; a block that relocation " \
	  "filled, after as many such reads as it has pages") \
	CHOICE(gc_frontier, gc_frontier, FTL_GC_FRONTIERS, "auto", \
	  "GC copies to its own blocks or to the host's; auto, as published: own for page and parity, shared for " \
	  "rtf and flex, whose idle GC always uses the host's") \
	CHOICE(suspend, suspend, FTL_SUSPENDS, "off", \
	  "which commands a read of the host suspends; needs `timing.suspend_ns`; how often one command: " \
	  "`timing.suspends_max`") \
	YES_NO(multiplane, "yes", "program the planes of a die together") \
	YES_NO(gc_multiplane, "yes", \
	  "GC of a die's planes reads, programs and erases together; no: one plane after another. Needs multiplane")

/* Are frequently written pages kept apart from the others? */
#define FTL_HOT_COLDS(VALUE) \
	VALUE(FTL_HOT_COLD_OFF, "off") \
	/* by the number of recent writes (ftl/page/heat.h) */ \
	VALUE(FTL_HOT_COLD_COUNT, "count") \
	/* by the time of the last write */ \
	VALUE(FTL_HOT_COLD_RECENCY, "recency")
enum ftl_hot_cold { FTL_HOT_COLDS(KNOB_VALUE) };

/* ftl/page: page alone. */
#define PAGE_HEAT_ROWS(NUMBER, ONLINE, YES_NO, CHOICE) \
	CHOICE(hot_cold, hot_cold, FTL_HOT_COLDS, "off", \
	  "hot LPNs have blocks of their own for pages and copies: count: those written more often than the mean; " \
	  "recency: those last written while the host wrote half as much as the capacity (noted in at most 2^20 " \
	  "regions, a byte each). A plane keeps one more block open (two with gc_frontier own). Not with " \
	  "gc_copyback")

/* Is part of the flash written with one bit per cell first? */
#define FTL_SLC_CACHES(VALUE) \
	VALUE(FTL_SLC_NONE, "none") \
	/* slc_blocks of each plane are set aside for it */ \
	VALUE(FTL_SLC_STATIC, "static") \
	/* it has each plane's free blocks beyond the first gc_stop_blocks, at most slc_blocks */ \
	VALUE(FTL_SLC_DYNAMIC, "dynamic")
enum ftl_slc_cache { FTL_SLC_CACHES(KNOB_VALUE) };

#define FTL_SLC_FULLS(VALUE) \
	/* while the cache is full, the host writes past it */ \
	VALUE(FTL_SLC_DIRECT, "direct") \
	/* the host waits until GC has folded a block, if one can be folded */ \
	VALUE(FTL_SLC_FOLD, "fold")
enum ftl_slc_full { FTL_SLC_FULLS(KNOB_VALUE) };

#define PAGE_SLC_ROWS(NUMBER, ONLINE, YES_NO, CHOICE) \
	CHOICE(slc_cache, slc_cache, FTL_SLC_CACHES, "none", \
	  "the host first writes to blocks with one bit per cell: slc_blocks of each plane, set aside; or free " \
	  "blocks beyond gc_stop_blocks, at most slc_blocks. GC folds them into the others, also when the drive is " \
	  "idle if idle_gc_permille is not 0. Needs `timing.slc_program_ns`") \
	NUMBER(slc_blocks, 0, 1 << 20, "0", "blocks of a plane in SLC mode, at most") \
	CHOICE(slc_full, slc_full, FTL_SLC_FULLS, "direct", \
	  "while the cache is full, the host writes past it; or waits until GC has folded a block")

/* Where do copies of data of a placement handle go? */
#define FTL_ISOLATIONS(VALUE) \
	/* to one block, with those of all handles */ \
	VALUE(FTL_ISOLATED_INITIALLY, "initially") \
	/* to a block of the same handle */ \
	VALUE(FTL_ISOLATED_PERSISTENTLY, "persistently")
enum ftl_isolation { FTL_ISOLATIONS(KNOB_VALUE) };

#define PAGE_PLACEMENT_ROWS(NUMBER, ONLINE, YES_NO, CHOICE) \
	NUMBER(placement_handles, 0, FTL_HANDLES_MAX, "0", \
	  "placement handles that a write may name (NVMe's FDP): each has blocks of its own, one of them open in " \
	  "each plane. 0: off. A drive cannot change between 0 and more") \
	NUMBER(placement_groups, 1, FTL_HANDLES_MAX, "1", \
	  "reclaim groups: sets of as many dies each, of whole channels where it divides their number. Each has all " \
	  "placement_handles, and GC keeps data in their group") \
	CHOICE(placement_isolation, isolation, FTL_ISOLATIONS, "initially", \
	  "GC copies data of all handles to the same blocks; or those of each handle to blocks of its own, one of " \
	  "them open in each plane")

#define PAGE_MAP_ROWS(NUMBER, ONLINE, YES_NO, CHOICE) \
	NUMBER(map_cache_pages, 0, 1 << 20, "0", \
	  "map pages in memory, of page_bytes / 4 entries each; others are read from flash when they are needed. " \
	  "0: the whole map is in memory, and flash has none of it. Reads load one page at a time with the least " \
	  "number, which a refusal names, and one more for each two above it: 64 more may multiply random reads")

#define PAGE_METADATA_ROWS(NUMBER, ONLINE, YES_NO, CHOICE) \
	/* The value is a multiple of the unit's sectors. */ \
	NUMBER(metadata_bytes, 0, 4096, "0", \
	  "bytes of each mapping unit for the metadata of logical blocks, in the page's spare area, which must " \
	  "have room for them (geometry.oob_bytes). With units of 4 KiB, blocks of 512 + 8 bytes need 64, of 512 + " \
	  "16 128, of 4096 + 8 8, of 4096 + 16 16. 0: metadata are stored behind the namespace's data")

/* These pages of the shared blocks take GC's copies, except in idle times. */
#define FTL_GC_PAGES(VALUE) \
	/* MSB pages */ \
	VALUE(FTL_GC_SLOW, "slow") \
	/* LSB pages, while more blocks are free than the reserve */ \
	VALUE(FTL_GC_FAST, "fast") \
	/* as for the host's pages: by utilisation and quota */ \
	VALUE(FTL_GC_AS_HOST, "host") \
	/* likewise, and LSB and MSB pages take turns over the whole drive, not on each plane */ \
	VALUE(FTL_GC_AS_HOST_OF_DRIVE, "drive")
enum ftl_gc_pages { FTL_GC_PAGES(KNOB_VALUE) };

/* ftl/page: flex. */
#define PAGE_FLEX_ROWS(NUMBER, ONLINE, YES_NO, CHOICE) \
	CHOICE(gc_pages, gc_pages, FTL_GC_PAGES, "slow", \
	  "in shared blocks, copies take MSB pages; LSB pages; or are placed like the host's. drive: so, and both " \
	  "types take turns over the whole drive, not on each plane. Idle GC takes MSB pages")

/* The backup block is on the channel of the LSB pages that it backs up, or on the next. */
#define FTL_BACKUP_CHANNELS(VALUE) \
	VALUE(FTL_BACKUP_SAME, "same") \
	VALUE(FTL_BACKUP_NEXT, "next")
enum ftl_backup_channel { FTL_BACKUP_CHANNELS(KNOB_VALUE) };

/* ftl/page: parity, rtf and flex have this setting. */
#define PAGE_BACKUP_ROWS(NUMBER, ONLINE, YES_NO, CHOICE) \
	CHOICE(backup_channel, backup_channel, FTL_BACKUP_CHANNELS, "same", \
	  "parity pages go to the plane of the pages that they cover; or to the same plane of the next channel, " \
	  "which programs them meanwhile. A drive keeps its setting")

/* ftl/direct: nftl and superblock have these settings. */
#define DIRECT_ROWS(NUMBER, ONLINE, YES_NO, CHOICE) \
	NUMBER(stripe_pages, 1, 65536, "1", \
	  "consecutive pages per plane before the next plane; divides pages_per_block") \
	YES_NO(read_priority, "yes", "reads overtake the writes that wait for their die")

#define DIRECT_PEN_ROWS(NUMBER, ONLINE, YES_NO, CHOICE) \
	YES_NO(pen, "no", "PEN: M-Merge by partial erases (needs geometry.pb_levels)") \
	NUMBER(pen_merges_max, 0, 65535, "16", "W: M-Merges of a block between two merges")

/*
 * NFTL reads these spare areas to locate a page. no: no spare areas. yes: for a read in a U-block, those
 * from the newest position to the page; for a merge, those of the U-block's used positions. all: for a
 * read, as with yes; for a merge, those of all pages of both blocks.
 */
#define FTL_SEARCHES(VALUE) \
	VALUE(FTL_SEARCH_NO, "no") \
	VALUE(FTL_SEARCH_YES, "yes") \
	VALUE(FTL_SEARCH_ALL, "all")
enum ftl_search { FTL_SEARCHES(KNOB_VALUE) };

/*
 * NFTL merges this pair if a write needs a block. newest, oldest: the one with most invalid pages; of
 * equal pairs, that which reached this number last, or first. lru: the pair whose last overwrite is
 * longest ago.
 */
#define FTL_MERGE_VICTIMS(VALUE) \
	VALUE(FTL_VICTIM_NEWEST, "newest") \
	VALUE(FTL_VICTIM_OLDEST, "oldest") \
	VALUE(FTL_VICTIM_LRU, "lru")
enum ftl_merge_victim { FTL_MERGE_VICTIMS(KNOB_VALUE) };

/* ftl/direct: nftl. */
#define NFTL_ROWS(NUMBER, ONLINE, YES_NO, CHOICE) \
	CHOICE(spare_search, search, FTL_SEARCHES, "yes", \
	  "searching U-blocks costs reads of spare areas; all: a merge reads those of all pages of both blocks, " \
	  "not only of the U-block's used ones") \
	CHOICE(merge_victim, merge_victim, FTL_MERGE_VICTIMS, "newest", \
	  "the pair to merge when a write needs a block: of those with most invalid pages the one that reached " \
	  "this number last, or first; or, of all, the one overwritten longest ago") \
	NUMBER(write_buffer_blocks, 0, 65535, "0", \
	  "GFTL: blocks of a plane for writes that would wait for a merge (needs gc_mode = sliced); 0: they wait. " \
	  "A drive cannot change it")

/* ftl/direct: superblock. */
#define SUPERBLOCK_ROWS(NUMBER, ONLINE, YES_NO, CHOICE) \
	ONLINE(pair_pages, FTL_AT_USE, 0, 131072, "131072", "maximum of valid pages of both victims together") \
	NUMBER(superblock_blocks, 0, 64, "4", "M: logical blocks of a superblock; 0: page mapping of a plane") \
	NUMBER(superblock_max_blocks, 0, 128, "8", "N: maximum of its physical blocks") \
	YES_NO(superblock_cold, "no", \
	  "GC's copies have blocks of their own in a superblock, for cold data; needs superblock_blocks of 1 or more") \
	NUMBER(superblock_map_parts, 0, 65536, "0", \
	  "logical blocks of a plane whose map is in memory; others' is read from a spare area when it is needed; 0: " \
	  "all")

/* These methods of reduction are tried on a unit. */
#define FTL_REDUCTIONS(VALUE) \
	VALUE(FTL_REDUCE_NONE, "none") \
	VALUE(FTL_REDUCE_DEDUP, "dedup") \
	VALUE(FTL_REDUCE_COMP, "comp") \
	VALUE(FTL_REDUCE_DEDUP_COMP, "dedup+comp") \
	VALUE(FTL_REDUCE_DAC, "dac")
enum ftl_reduction { FTL_REDUCTIONS(KNOB_VALUE) FTL_NREDUCTIONS };

/* Order of a block's pages and their backup: front.h. */
#define FTL_FRONTIERS(VALUE) \
	VALUE(FTL_FRONTIERS_PAGE, "page") \
	VALUE(FTL_FRONTIERS_PARITY, "parity") \
	VALUE(FTL_FRONTIERS_RTF, "rtf") \
	VALUE(FTL_FRONTIERS_FLEX, "flex")
enum ftl_frontiers { FTL_FRONTIERS(KNOB_VALUE) FTL_NFRONTIERS };

/* ftl/dac. */
#define DAC_ROWS(NUMBER, ONLINE, YES_NO, CHOICE) \
	CHOICE(reduction, reduction, FTL_REDUCTIONS, "dac", \
	  "what is tried on a unit: a link to an equal one; compression; compression against a similar one") \
	CHOICE(frontiers, frontiers, FTL_FRONTIERS, "page", \
	  "page placement and backup of the named FTL, with its keys; all but page need order fps or rps (flex: " \
	  "rps) and survive paired_loss") \
	NUMBER(fingerprints_permille, 1, 1000, "5", \
	  "fingerprints kept (LRU), as a share of those of the whole capacity; 1000: all") \
	NUMBER(fingerprints, 0, 1u << 30, "0", \
	  "if not 0, this number instead, at least 4 (a unit has four): a share of what a trace writes, when that " \
	  "is less than the capacity") \
	NUMBER(reference_bytes, 0, 1u << 31, "33554432", "reference buffer, decompressed") \
	ONLINE(hash_ns, FTL_AT_USE, 0, KNOB_NS_MAX, "0", "the engine's time to compute a unit's fingerprints") \
	ONLINE(compress_ns, FTL_AT_USE, 0, KNOB_NS_MAX, "0", "each attempt to compress a unit") \
	ONLINE(decompress_ns, FTL_AT_USE, 0, KNOB_NS_MAX, "0", "each decompression of a unit or reference") \
	YES_NO(count_plain, "no", "also count the size of delta units without a reference (costs host time only)")

/* ftl/zns. */
#define ZNS_ROWS(NUMBER, ONLINE, YES_NO, CHOICE) \
	NUMBER(zone_dies, 0, 65536, "0", "dies of a zone; divides the number of dies; 0: all") \
	NUMBER(zone_blocks, 1, 1 << 20, "1", "blocks of a zone in each plane of its dies") \
	YES_NO(zone_power2, "yes", \
	  "a zone's size is the next power of two, as Linux wants it, and its capacity what the blocks hold; no: " \
	  "the size is the capacity") \
	NUMBER(zone_open_max, 0, 65536, "0", "maximum of open zones; 0: as of active ones") \
	NUMBER(zone_active_max, 0, 65536, "0", \
	  "maximum of active zones (open or closed); each, and one more, needs a page of the write buffer for each " \
	  "plane of a zone; with one for each 32 zones they must be fewer than pages_per_block; 0: as many as " \
	  "buffer_units hold") \
	YES_NO(zone_cross_reads, "no", "reads may cross boundaries of zones, as NVMe lets drives choose") \
	NUMBER(zrwa_pages, 0, 65536, "0", \
	  "size of a zone's random write area (ZRWA): at most a page for each plane of a zone; this for each " \
	  "active zone, with a page for each plane of a zone and one for each 32 zones, is at most " \
	  "pages_per_block; 0: there are none") \
	NUMBER(zrwa_flush_pages, 1, 65536, "1", \
	  "what is committed of the area (ZRWA flush granularity); divides zrwa_pages") \
	NUMBER(zrwa_zones, 0, 65536, "0", \
	  "zones that may have a random write area (ZRWA resources), at most as many as may be active; 0: as many")

/* The rows of all tables are the fields of struct ftl_config. */
#define FTL_ROWS(NUMBER, ONLINE, YES_NO, CHOICE) \
	FTL_COMMON_ROWS(NUMBER, ONLINE, YES_NO, CHOICE) \
	FTL_GC_ROWS(NUMBER, ONLINE, YES_NO, CHOICE) \
	FTL_GC_STOP_ROWS(NUMBER, ONLINE, YES_NO, CHOICE) \
	FTL_WORD_ROWS(NUMBER, ONLINE, YES_NO, CHOICE) \
	FTL_COPY_ROWS(NUMBER, ONLINE, YES_NO, CHOICE) \
	FTL_SECOND_VICTIM_ROWS(NUMBER, ONLINE, YES_NO, CHOICE) \
	FTL_IDLE_GC_ROWS(NUMBER, ONLINE, YES_NO, CHOICE) \
	FTL_RTF_ROWS(NUMBER, ONLINE, YES_NO, CHOICE) \
	FTL_FLEX_ROWS(NUMBER, ONLINE, YES_NO, CHOICE) \
	CONTROLLER_ROWS(NUMBER, ONLINE, YES_NO, CHOICE) \
	PAGE_ROWS(NUMBER, ONLINE, YES_NO, CHOICE) \
	PAGE_HEAT_ROWS(NUMBER, ONLINE, YES_NO, CHOICE) \
	PAGE_SLC_ROWS(NUMBER, ONLINE, YES_NO, CHOICE) \
	PAGE_PLACEMENT_ROWS(NUMBER, ONLINE, YES_NO, CHOICE) \
	PAGE_MAP_ROWS(NUMBER, ONLINE, YES_NO, CHOICE) \
	PAGE_METADATA_ROWS(NUMBER, ONLINE, YES_NO, CHOICE) \
	PAGE_FLEX_ROWS(NUMBER, ONLINE, YES_NO, CHOICE) \
	PAGE_BACKUP_ROWS(NUMBER, ONLINE, YES_NO, CHOICE) \
	DIRECT_ROWS(NUMBER, ONLINE, YES_NO, CHOICE) \
	DIRECT_PEN_ROWS(NUMBER, ONLINE, YES_NO, CHOICE) \
	NFTL_ROWS(NUMBER, ONLINE, YES_NO, CHOICE) \
	SUPERBLOCK_ROWS(NUMBER, ONLINE, YES_NO, CHOICE) \
	DAC_ROWS(NUMBER, ONLINE, YES_NO, CHOICE) \
	ZNS_ROWS(NUMBER, ONLINE, YES_NO, CHOICE)

/* ---- tables ---------------------------------------------------------------- */

#define FTL_KNOB_NUMBER(n, lo, hi, d, says) \
	{ #n, KNOB_U32, offsetof(struct ftl_config, n), lo, hi, d, says, NULL },
#define FTL_KNOB_ONLINE(n, anew, lo, hi, d, says) \
	{ #n, KNOB_U32, offsetof(struct ftl_config, n), lo, hi, d, says, NULL, anew },
#define FTL_KNOB_YES_NO(n, d, says) \
	{ #n, KNOB_BOOL, offsetof(struct ftl_config, n), 0, 1, d, says, knob_no_yes },
#define FTL_KNOB_CHOICE(n, type, VALUES, d, says) \
	{ #n, KNOB_CHOICE, KNOB_CHOICE_AT(struct ftl_config, n), 0, 0, d, says, KNOB_NAMES(VALUES) },
#define FTL_KNOB_ROWS(ROWS) ROWS(FTL_KNOB_NUMBER, FTL_KNOB_ONLINE, FTL_KNOB_YES_NO, FTL_KNOB_CHOICE)
/* Initialises a struct knob_table with the rows of a list. */
#define FTL_KNOBS(of_section, ROWS) { of_section, (const struct knob[]){ FTL_KNOB_ROWS(ROWS) { NULL } } }

extern const struct knob_table ftl_common_knobs;	/* settings that every FTL reads */
extern const struct knob_table ftl_gc_knobs, ftl_gc_stop_knobs;
extern const struct knob_table ftl_word_knobs, ftl_copy_knobs, ftl_second_victim_knobs, ftl_idle_gc_knobs;
extern const struct knob_table ftl_rtf_knobs, ftl_flex_knobs;

#endif
