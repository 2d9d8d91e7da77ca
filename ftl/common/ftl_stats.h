/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ftl_stats.h - what an FTL counts. All counters except the maxima only grow, so that the
 * difference of two copies describes the time between them.
 */
#ifndef SLATE_FTL_STATS_H
#define SLATE_FTL_STATS_H

#include "port.h"

enum ftl_op { FTL_READ, FTL_WRITE, FTL_TRIM, FTL_FLUSH, FTL_NOPS };

/* The parts of an I/O's latency; their sum equals it exactly. */
struct ftl_breakdown {
	uint64_t cell_ns;	/* t_R, t_PROG of its own command */
	uint64_t bus_ns;	/* its own transfers on the channel */
	uint64_t host_queue_ns;	/* waiting for a die or channel held by other host I/O */
	uint64_t gc_queue_ns;	/* waiting for a die, channel or free pages held by GC */
	uint64_t buffer_ns;	/* moving data into or out of the write buffer, and waiting for room in it */
	uint64_t map_ns;	/* mapping look-up */
	uint64_t other_ns;	/* firmware and host interface */
	uint64_t link_ns;	/* transfer over the host link, including the wait for it */
	uint64_t controller_ns;	/* waiting for a core (controller.h) */
};

/*
 * Fields are set one by one. They were stored singly a moment ago, and a processor cannot forward two
 * stores to one load, so that loads of two fields would wait.
 */
static inline void ftl_breakdown_set(struct ftl_breakdown *to, const struct ftl_breakdown *w)
{
	to->cell_ns = w->cell_ns;
	to->bus_ns = w->bus_ns;
	to->host_queue_ns = w->host_queue_ns;
	to->gc_queue_ns = w->gc_queue_ns;
	to->buffer_ns = w->buffer_ns;
	to->map_ns = w->map_ns;
	to->other_ns = w->other_ns;
	to->link_ns = w->link_ns;
	to->controller_ns = w->controller_ns;
}

static inline void ftl_breakdown_add(struct ftl_breakdown *sum, const struct ftl_breakdown *w)
{
	sum->cell_ns += w->cell_ns;
	sum->bus_ns += w->bus_ns;
	sum->host_queue_ns += w->host_queue_ns;
	sum->gc_queue_ns += w->gc_queue_ns;
	sum->buffer_ns += w->buffer_ns;
	sum->map_ns += w->map_ns;
	sum->other_ns += w->other_ns;
	sum->link_ns += w->link_ns;
	sum->controller_ns += w->controller_ns;
}

static inline uint64_t ftl_breakdown_sum(const struct ftl_breakdown *w)
{
	return w->cell_ns + w->bus_ns + w->host_queue_ns + w->gc_queue_ns + w->buffer_ns +
	       w->map_ns + w->other_ns + w->link_ns + w->controller_ns;
}

struct ftl_op_stats {
	uint64_t ios;
	uint64_t bytes;
	uint64_t errors;
	uint64_t lat_sum_ns;
	uint64_t lat_min_ns;	/* ~0 when ios == 0 */
	uint64_t lat_max_ns;
	struct ftl_breakdown where;	/* sums over all I/Os */
};

struct ftl_stats {
	struct ftl_op_stats op[FTL_NOPS];
	uint64_t fua_writes;
	uint64_t unwritten_reads;	/* READ I/Os that touched no flash and no buffer */
	uint64_t unwritten_units;	/* units read that were never written or trimmed */
	uint64_t buffer_hit_units;	/* units read from the write buffer */
	uint64_t coalesced_units;	/* writes absorbed by an undispatched buffer page */
	uint64_t merge_reads;		/* flash reads to complete partial units, */
	uint64_t merge_read_bytes;	/* and the bytes of the ECC words read for this */
	uint64_t trimmed_units;
	uint64_t host_units;		/* mapping units programmed for the host */
	uint64_t meta_units;		/* trim bitmap, recovery records and map pages, in units */
	uint64_t pad_units;		/* units programmed without content */
	uint64_t gc_runs;		/* GC calls: a victim, or two that are erased together */
	uint64_t gc_units;		/* units moved by GC */
	uint64_t gc_ns;			/* from choosing a victim to its erase, summed */
	uint64_t gc_blocks;		/* erased by GC, whole or in part */
	uint64_t wl_runs;		/* blocks collected to level wear, */
	uint64_t relocations;		/* and blocks collected because a read was corrected; both are not counted
					 * in gc_runs */
	uint64_t wl_units;		/* units moved by both */
	uint64_t merges;		/* merges of whole blocks, as a part of gc_runs */
	uint64_t mmerges;		/* M-Merges with partial erases, as a part of gc_runs */
	uint64_t second_victims;	/* IPPBE: victims erased together with a first one */
	uint64_t search_reads;		/* spare areas read to find pages, for host and GC */
	uint64_t backup_pages;		/* parity pages programmed */
	uint64_t fast_pages;		/* LSB pages programmed for host, GC and recovery, where pages have types */
	uint64_t slow_pages;		/* MSB pages, likewise */
	uint64_t retired_blocks;
	uint64_t mounts;
	/* Cached map: look-ups for units of the host, by whether their map page was in memory, */
	uint64_t map_hits, map_misses;
	uint64_t map_reads, map_writes;	/* map pages read and written, without copies */
	uint64_t map_copies;		/* map pages copied by GC */
	/*
	 * DAC: host_units are units that reached flash, even if they became invalid later; gc_units
	 * are entries.
	 */
	uint64_t host_pages, gc_pages;	/* pages programmed */
	uint64_t raw_units, comp_units;	/* units by the result of reduction: stored raw; compressed alone; */
	uint64_t delta_units, link_units;	/* compressed against a reference; stored as a link only */
	uint64_t comp_bytes, delta_bytes;	/* of compressed content */
	uint64_t plain_bytes;		/* delta_units compressed alone (ftl.count_plain) */
	uint64_t reference_hits;	/* references needed and found without a flash read */
	uint64_t reference_reads;	/* references read from flash, for writes and reads */
	uint64_t refused_references;	/* units stored alone, because too many objects were shared already
					 * (ftl/dac/DESIGN.md) */
	uint64_t link_busy_ns[2];	/* [0] towards the host (reads), [1] towards the drive */
	uint64_t core_busy_ns;		/* busy time of the controller's cores, summed; counted when a core takes the
					 * work */
};

#endif
