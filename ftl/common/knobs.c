// SPDX-License-Identifier: GPL-2.0-or-later
/* knobs.c - settings of all FTLs, or of several engines: see ftl_knobs.h. */
#include "ftl_knobs.h"

static const char *const gc_modes[] = { [FTL_GC_BLOCKING] = "blocking", [FTL_GC_SLICED] = "sliced", NULL };
static const char *const accountings[] = { [FTL_ACCOUNT_DEVICE] = "device", [FTL_ACCOUNT_SSDSIM] = "ssdsim", NULL };
static const char *const no_yes_auto[] = {
	[FTL_WORDS_NO] = "no", [FTL_WORDS_YES] = "yes", [FTL_WORDS_AUTO] = "auto", NULL
};

/*
 * gc_stop_blocks is common, because every shipped profile sets it and all FTLs but nftl change it
 * online.
 */
static const struct knob common[] = {
	FTL_KNOB(unit_bytes, 512, 16384, "4096", "mapping unit; divides page_bytes"),
	FTL_KNOB(buffer_units, 0, 1 << 22, "1024", "write buffer; 0: a write completes when programmed"),
	FTL_KNOB(gc_start_blocks, 2, 1 << 20, "5", "GC of a plane begins when fewer blocks are free ..."),
	FTL_KNOB(gc_stop_blocks, 2, 1 << 20, "6", "... and ends at this many"),
	FTL_KNOB(gc_urgent_blocks, 1, 1 << 20, "2", "reserved for GC"),
	FTL_KNOB_IS(gc_mode, gc_modes, "sliced", "GC keeps the die, or alternates with the host"),
	FTL_KNOB(gc_slice_pages, 1, 65536, "4",
	  "sliced: programs, copybacks and erases of GC on a die after a program of the host there; "
	  "reads are not counted"),
	FTL_KNOB(reads_in_row, 1, 65536, "8",
	  "reads of a die that go before a program which waits there"),
	FTL_KNOB_BOOL(payload, "yes", "keep the data; no: mapping and times only"),
	FTL_KNOB(map_ns, 0, KNOB_NS_MAX, "200", "a look-up"),
	FTL_KNOB(buffer_ns, 0, KNOB_NS_MAX, "2000", "transfer of host data into or out of the buffer, per I/O"),
	FTL_KNOB(overhead_ns, 0, KNOB_NS_MAX, "1000", "firmware, per I/O"),
	FTL_KNOB(max_unit_reads, 8, 1 << 22, "4096", "queued flash reads"),
	FTL_KNOB_LAST
};

static const struct knob words[] = {
	FTL_KNOB_IS(gc_subpage_reads, no_yes_auto, "no",
	  "GC, wear levelling and relocation read only the ECC words they move; auto: if "
	  "geometry.subpage is not none"),
	FTL_KNOB_IS(host_subpage_reads, no_yes_auto, "no",
	  "host reads, and reads that complete partial writes, fetch only the needed ECC words; "
	  "auto: likewise"),
	FTL_KNOB_LAST
};

static const struct knob copies[] = {
	FTL_KNOB_BOOL(gc_copyback, "no", "GC copies inside the chip (needs geometry.copyback)"),
	FTL_KNOB_BOOL(parallel_erase, "no",
	  "IPPBE: GC erases two victims of a plane at once (needs geometry.erase_group_max)"),
	FTL_KNOB_IS(accounting, accountings, "device",
	  "ssdsim, to compare with published figures: an unbuffered write completes with its "
	  "transfer and is durable when flushed; GC holds the channel during cell times, too (not "
	  "with suspend_ns)"),
	FTL_KNOB_LAST
};

static const struct knob second_victim[] = {
	FTL_KNOB(second_victim_pages, 0, 65536, "65536",
	  "maximum of valid pages of the second victim; the copies of both must fit beside "
	  "gc_urgent_blocks"),
	FTL_KNOB_LAST
};

static const struct knob idle_gc[] = {
	FTL_KNOB(idle_gc_permille, 0, 1000, "0",
	  "below this share of free blocks in a plane, GC runs when the drive is idle; 0: never"),
	FTL_KNOB(idle_gc_ns, 0, KNOB_NS_MAX, "1000000", "idle: no I/O and no full buffer page for this time"),
	FTL_KNOB_LAST
};

static const struct knob active[] = {
	FTL_KNOB(active_blocks, 1, 16, "8", "open blocks of a plane"),
	FTL_KNOB_LAST
};

static const struct knob phases[] = {
	FTL_KNOB(fast_above_permille, 0, 1000, "800",
	  "above this use of the write buffer, LSB pages while the quota lasts ..."),
	FTL_KNOB(slow_below_permille, 0, 1000, "100", "... below this, MSB pages; in between, alternately"),
	FTL_KNOB(quota_permille, 0, 1000, "50",
	  "a busy host gets LSB pages while less than this share of all LSB pages is written ahead "
	  "of MSB pages; then alternately"),
	FTL_KNOB_LAST
};

const struct knob_table ftl_common_knobs = { "ftl", common };
const struct knob_table ftl_word_knobs = { "ftl", words };
const struct knob_table ftl_copy_knobs = { "ftl", copies };
const struct knob_table ftl_second_victim_knobs = { "ftl", second_victim };
const struct knob_table ftl_idle_gc_knobs = { "ftl", idle_gc };
const struct knob_table ftl_rtf_knobs = { "ftl", active };
const struct knob_table ftl_flex_knobs = { "ftl", phases };
