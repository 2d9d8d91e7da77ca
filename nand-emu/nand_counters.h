/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nand_counters.h - the statistics of an array, each declared once. A row is X(name, ..., sentence).
 * struct nand_stats, the logs (slate_wire.h), slatectl, QMP with its schema, and replays are made
 * from the rows, and `slate-profile --counters` prints them. The unit of a number is the end of its
 * name. The n-th row of a table is the n-th number of its group in SLATE_LOG_COUNTERS, so a new row
 * comes last.
 */
#ifndef SLATE_NAND_COUNTERS_H
#define SLATE_NAND_COUNTERS_H

/*
 * A source issues commands. A row is X(ID, name, shown, label, sentence). enum nand_source, group 3 of the counters'
 * log, QMP with its schema, the end of a recording, the keys of JSON and the reports are made from
 * the rows. A replay's JSON has an ALWAYS source in each list by source, an IF_ANY source only where
 * its number is not 0. The label is the name in a sentence. A new row comes last and is IF_ANY, so
 * that results without such commands stay as they are.
 */
#define NAND_SOURCES(X) \
	X(HOST, host, ALWAYS, "host", "Requests of the host.") \
	X(GC, gc, ALWAYS, "GC", "Garbage collection.") \
	X(WL, wl, ALWAYS, "wear levelling", "Wear levelling.") \
	X(META, meta, ALWAYS, "metadata", "The translation layer's own data.") \
	X(BACKUP, backup, ALWAYS, "backup", "Copies kept for recovery.") \
	X(MAP, map, IF_ANY, "map", "Map pages of a map that does not fit in memory.") \
	/* a new row goes here */

/* These are counted by source. A row is X(name, field of struct nand_stats, sentence). */
#define NAND_COMMAND_COUNTERS(X) \
	X(reads, ops[NAND_READ], "Pages read.") \
	X(programs, ops[NAND_PROGRAM], "Pages programmed.") \
	X(erases, ops[NAND_ERASE], "Blocks erased, whole or in part.") \
	X(copybacks, ops[NAND_COPYBACK], "Pages copied inside a chip.") \
	X(read_nj, energy_nj[NAND_READ], "Energy of the reads in nJ, 0 if the profile gives no energies.") \
	X(program_nj, energy_nj[NAND_PROGRAM], "Energy of the programs.") \
	X(erase_nj, energy_nj[NAND_ERASE], "Energy of the erases.") \
	X(copyback_nj, energy_nj[NAND_COPYBACK], "Energy of the copybacks.")

/* These are also counted by source, and come after those in the log. A row is X(name, sentence). */
#define NAND_SOURCE_COUNTERS(X) \
	X(die_busy_ns, "Time for which dies were busy, summed over dies.") \
	X(bus_busy_ns, "Time for which channels were busy, summed over channels.") \
	X(user_read_bytes, "Bytes of ECC words read, without spare bytes.")

/*
 * These are of the whole array. A row is X(name, kind, sentence). A COUNT only grows until it is reset. A LEVEL
 * describes the present state, and a reset does not change it.
 */
#define NAND_COUNTERS(X) \
	X(uncorrectable, COUNT, "Reads that returned NAND_UNCORR: more errors than the ECC corrects.") \
	X(corrected, COUNT, "Reads that returned NAND_CORRECTED: so many errors that the page should move.") \
	X(retries, COUNT, "Read retries.") \
	X(program_fails, COUNT, "Programs that failed.") \
	X(erase_fails, COUNT, "Erases that failed.") \
	X(partial_erases, COUNT, "Erases of less than a block, as a part of all erases.") \
	X(parallel_erases, COUNT, "Blocks beyond the first of their plane in one erase.") \
	X(subpage_reads, COUNT, "Reads of some ECC words of a page, without reads of the spare area alone.") \
	X(read_bytes, COUNT, "Bytes that reads moved over the channels, spare bytes included.") \
	X(lower_reads, COUNT, "Reads of lower pages inside the chip, for programs of upper pages.") \
	X(suspends, COUNT, "Suspensions of a program or an erase for reads.") \
	X(disturbs, COUNT, "Disturbances of smallest partial blocks by partial erases beside them.") \
	X(disturb_lost, COUNT, "Pages that lost their data through disturbances.") \
	X(paired_lost, COUNT, "Pages destroyed by a torn program of their upper page.") \
	X(programmed_pages, LEVEL, "Pages that are programmed at present.") \
	X(erase_count_max, LEVEL, "Erases of the most erased smallest partial block.") \
	X(erase_count_sum, LEVEL, "Erase commands, summed over all blocks.") \
	X(page_erases, LEVEL, "Erases of each page, summed over all pages.") \
	X(page_erases_sq, LEVEL, "Squares of the erases of each page, summed over all pages.") \
	X(damaged, LEVEL, "Reads of pages with a wrong checksum since the drive was opened: its file was damaged.") \
	/* a new row goes here */

#endif
