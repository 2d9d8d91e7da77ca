/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ftl_counters.h - what an FTL counts, each counter declared once. A row is X(name, ..., sentence).
 * The structs of ftl_stats.h, the logs (slate_wire.h), slatectl, QMP with its schema, and replays
 * are made from the rows, and `slate-profile --counters` prints them. The unit of a number is the
 * end of its name. The n-th row of a table is the n-th number of its group in SLATE_LOG_COUNTERS, so
 * a new row comes last.
 */
#ifndef SLATE_FTL_COUNTERS_H
#define SLATE_FTL_COUNTERS_H

/*
 * Of reads, writes, trims and flushes each: X(name, kind, sentence). Intervals are joined by the
 * kind: COUNT (add), MIN or MAX.
 */
#define FTL_OP_COUNTERS(X) \
	X(ios, COUNT, "I/Os that ended.") \
	X(bytes, COUNT, "Their bytes.") \
	X(errors, COUNT, "I/Os that failed.") \
	X(latency_sum_ns, COUNT, "Their latencies, summed.") \
	X(latency_min_ns, MIN, "The shortest latency, 0 without I/Os.") \
	X(latency_max_ns, MAX, "The longest latency.")

/* These are the parts of an I/O's latency; their sum equals it exactly. A row is X(name, sentence). */
#define FTL_CAUSES(X) \
	X(cell_ns, "The part spent in the cells: t_R and t_PROG of the I/O's own commands.") \
	X(bus_ns, "The part spent in transfers of its own on the channel.") \
	X(host_queue_ns, "The part spent waiting for a die or channel held by other host I/O.") \
	X(gc_queue_ns, "The part spent waiting for a die, a channel or free pages held by GC.") \
	X(buffer_ns, "The part spent moving data into or out of the write buffer, and waiting for room in it.") \
	X(map_ns, "The part spent looking up the mapping.") \
	X(other_ns, "The part spent in the firmware and the host interface.") \
	X(link_ns, "The part spent on the host link, the wait for it included.") \
	X(controller_ns, "The part spent waiting for a core of the controller.") \
	X(namespace_queue_ns, "The part spent waiting behind requests of other namespaces.")

/* These counters are of the FTL, and only grow until they are reset. A row is X(name, sentence). */
#define FTL_COUNTERS(X) \
	X(fua_writes, "Writes that had to be durable before they completed.") \
	X(unwritten_reads, "Read I/Os that touched no flash and no buffer.") \
	X(unwritten_units, "Units read that were never written, or trimmed.") \
	X(buffer_hit_units, "Units read from the write buffer.") \
	X(coalesced_units, "Units overwritten while they were in the write buffer.") \
	X(merge_reads, "Flash reads that completed partly written units.") \
	X(merge_read_bytes, "Bytes of the ECC words that these reads read.") \
	X(trimmed_units, "Units trimmed.") \
	/* DAC counts a unit also if its page is programmed after the unit became invalid. */ \
	X(host_units, "Units programmed for the host.") \
	X(meta_units, "Units programmed for the FTL itself: trim bitmap, recovery records and map pages.") \
	X(pad_units, "Units programmed without content.") \
	X(gc_runs, "GC runs: a victim was collected, or two that are erased together.") \
	X(gc_units, "Units moved by GC (DAC: entries).") \
	X(gc_ns, "Time from the choice of a victim to its erase, summed.") \
	X(gc_blocks, "Blocks erased by GC, whole or in part.") \
	X(wl_runs, "Blocks collected to level wear, not counted in gc-runs.") \
	X(relocations, "Blocks collected because a read was corrected, not counted in gc-runs.") \
	X(wl_units, "Units moved to level wear and to relocate.") \
	X(merges, "Merges of whole blocks, as a part of gc-runs.") \
	X(mmerges, "M-Merges with partial erases, as a part of gc-runs.") \
	X(second_victims, "Victims erased together with a first one.") \
	X(search_reads, "Spare areas read to find pages, for the host and GC.") \
	X(backup_pages, "Parity pages programmed.") \
	X(fast_pages, "LSB pages programmed for host, GC and recovery, where pages have types.") \
	X(slow_pages, "MSB pages programmed for host, GC and recovery, where pages have types.") \
	X(retired_blocks, "Blocks taken out of use.") \
	X(mounts, "Mounts of the flash.") \
	X(host_pages, "DAC: pages programmed for the host.") \
	X(gc_pages, "DAC: pages programmed by GC.") \
	X(raw_units, "DAC: units stored as they are.") \
	X(comp_units, "DAC: units compressed alone.") \
	X(delta_units, "DAC: units compressed against a reference.") \
	X(link_units, "DAC: units stored as a link to an equal unit.") \
	X(comp_bytes, "DAC: bytes of the units compressed alone.") \
	X(delta_bytes, "DAC: bytes of the units compressed against a reference.") \
	X(plain_bytes, "DAC: bytes that the delta units take if compressed alone (ftl.count_plain).") \
	X(reference_hits, "DAC: references needed and found without a flash read.") \
	X(reference_reads, "DAC: references read from flash, for writes and reads.") \
	/* the limit of shared objects is in ftl/dac/DESIGN.md, Space */ \
	X(refused_references, "DAC: units stored alone because too many objects were shared already.") \
	X(link_to_host_busy_ns, "Time for which the host link moved data to the host.") \
	X(link_to_drive_busy_ns, "Time for which the host link moved data to the drive.") \
	/* counted when a core takes the work */ \
	X(core_busy_ns, "Busy time of the controller's cores, summed.") \
	X(slc_pages, "SLC cache: pages programmed for the host in SLC mode.") \
	X(slc_direct_pages, "SLC cache: pages programmed for the host past the cache, which was full.") \
	X(slc_fold_units, "SLC cache: units that GC moved out of it, as a part of gc-units and wl-units.") \
	X(slc_erases, "SLC cache: erases of blocks in SLC mode.") \
	X(map_hits, "Cached map: look-ups for units of the host whose map page was in memory.") \
	X(map_misses, "Cached map: look-ups for units of the host whose map page was not in memory.") \
	X(map_reads, "Cached map: map pages read.") \
	X(map_writes, "Cached map: map pages written, without copies by GC.") \
	X(map_copies, "Cached map: map pages copied by GC.") \
	X(read_cache_hits, "Reads that the controller's read cache answered.") \
	X(read_ahead_units, "Units read ahead into the read cache.") \
	X(zone_appends, "Zones: appends accepted, as a part of the writes.") \
	X(zone_opens, "Zones: explicit opens that succeeded, as a part of the trims, like all below.") \
	X(zone_closes, "Zones: closes that succeeded.") \
	X(zone_finishes, "Zones: finishes accepted.") \
	X(zone_resets, "Zones: resets accepted, those of empty zones too.") \
	X(zone_reports, "Zones: reports.") \
	X(stray_pages, "Placement handles: pages put into a block of another handle or group for want of room.") \
	X(reclaim_units, "Placement handles: reclaim units that handles went on to.") \
	X(dram_busy_ns, "Time for which data crossed the controller's memory.") \
	X(zone_retirements, "Zones: orders to take a read-only zone offline that were accepted.") \
	X(zone_commits, "Zones: commits (ZRWA flushes) that the host ordered.") \
	X(zone_implicit_commits, "Zones: writes beyond a random write area, which commit a part of it.") \
	X(gc_pad_units, "Units of pad-units in pages of GC, or of wear levelling and relocation.") \
	X(flush_pad_units, "Units of pad-units that a flush, a FUA write or an unbuffered write caused.") \
	X(flush_pages, "DAC: pages that a flush or a FUA write closed before they were full.") \
	X(flush_empty_bytes, "DAC: bytes left empty in these pages.") \
	/* a new row goes here */

#endif
