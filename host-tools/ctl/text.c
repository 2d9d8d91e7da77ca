// SPDX-License-Identifier: GPL-2.0-or-later
/* text.c - logs as tables for people. */
#include "ctl.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int end_of_text(void)
{
	return fflush(stdout) || ferror(stdout) ? ctl_fail(CTL_FAILED, "standard output cannot be written to") : 0;
}

static double mib(uint64_t bytes)
{
	return (double)bytes / (1 << 20);
}

static void print_lines(const char *s, size_t len)
{
	for (const char *end = s + len; s < end;) {
		const char *stop = memchr(s, '\n', (size_t)(end - s));

		stop = stop ? stop : end;
		printf("  %.*s\n", (int)(stop - s), s);
		s = stop + 1;
	}
}

int text_info(struct ctl *c, char **words)
{
	struct ctl_log log;
	struct ctl_identity id;
	int result = ctl_identity(c, &log, &id);

	(void)words;
	if (result)
		return result;
	printf("drive      %s: %s FTL, %.0f MiB, %s%s%s\n", id.profile, id.ftl, mib(id.capacity_bytes),
	       id.flags & SLATE_ID_WRITE_CACHE ? "volatile write cache" :
	       id.flags & SLATE_ID_PROTECTED ? "protected write cache" : "no write cache",
	       id.flags & SLATE_ID_TRIMS ? ", trims" : "", id.flags & SLATE_ID_DRIVE_FILE ? ", in a file" : "");
	printf("array      %u channels x %u chips x %u dies x %u planes x %u blocks x %u pages of %u + %u bytes, "
	       "%u bits a cell\n", id.channels, id.chips_per_channel, id.dies_per_chip, id.planes_per_die,
	       id.blocks_per_plane, id.pages_per_block, id.page_bytes, id.oob_bytes, id.bits_per_cell);
	if (id.flags & SLATE_ID_PROTECTED)
		printf("power      %llu unsafe shutdowns; the capacitors saved the write buffer after %llu, and failed "
		       "after %llu\n", (unsigned long long)id.unsafe_shutdowns, (unsigned long long)id.saved,
		       (unsigned long long)id.unsaved);
	printf("mapping    units of %u bytes; %.1f MiB of tables\n", id.unit_bytes, mib(id.map_bytes));
	printf("\nsettings\n");
	print_lines(id.settings, id.settings_bytes);
	printf("\nof these, 'slatectl set' takes\n");
	print_lines(id.knobs, id.knobs_bytes);
	ctl_free(&log);
	return end_of_text();
}

static void print_ratio(const char *before, double v, const char *after)
{
	if (v < 0)
		printf("%s-%s", before, after);
	else
		printf("%s%.3f%s", before, v, after);
}

static void print_ops(const struct ctl_counters *n)
{
	printf("%-8s %12s %10s %12s %12s %12s %8s\n", "us", "I/Os", "MiB", "mean", "min", "max", "errors");
	for (unsigned int op = 0; op < SLATE_WIRE_OPS; op++) {
		const uint64_t *o = n->op[op];
		uint64_t ios = o[SLATE_OP_ios];

		if (!ios)
			continue;
		printf("%-8s %12" PRIu64 " %10.1f %12.1f %12.1f %12.1f %8" PRIu64 "\n", ctl_op_names[op], ios,
		       mib(o[SLATE_OP_bytes]), (double)o[SLATE_OP_latency_sum_ns] / (double)ios / 1e3,
		       (double)o[SLATE_OP_latency_min_ns] / 1e3, (double)o[SLATE_OP_latency_max_ns] / 1e3,
		       o[SLATE_OP_errors]);
	}
}

static void print_sources(const struct ctl_counters *n)
{
	printf("\n%-8s %12s %12s %10s %10s %14s %14s\n", "NAND", "reads", "programs", "erases", "copybacks",
	       "die busy, ms", "energy, mJ");
	for (unsigned int s = 0; s < SLATE_WIRE_SOURCES; s++) {
		const uint64_t *o = n->source[s];
		uint64_t nj = o[SLATE_SOURCE_read_nj] + o[SLATE_SOURCE_program_nj] + o[SLATE_SOURCE_erase_nj] +
			      o[SLATE_SOURCE_copyback_nj];

		printf("%-8s %12" PRIu64 " %12" PRIu64 " %10" PRIu64 " %10" PRIu64 " %14.3f %14.3f\n",
		       ctl_source_names[s], o[SLATE_SOURCE_reads], o[SLATE_SOURCE_programs],
		       o[SLATE_SOURCE_erases], o[SLATE_SOURCE_copybacks],
		       (double)o[SLATE_SOURCE_die_busy_ns] / 1e6, (double)nj / 1e6);
	}
}

static void print_violations(const struct ctl_counters *n, const struct ctl_derived *d)
{
	printf("rules      %s", d->violations ? "BROKEN:" : "none was broken");
	for (unsigned int r = 0; r < SLATE_WIRE_RULES; r++)
		if (n->rule[r])
			printf(" R%u %" PRIu64, r, n->rule[r]);
	putchar('\n');
}

int text_counters(struct ctl *c, char **words)
{
	struct ctl_identity id;
	struct ctl_counters n;
	struct ctl_derived d;
	struct ctl_log log;
	const uint64_t *f = n.ftl, *a = n.nand;
	int result = ctl_identity(c, &log, &id);

	(void)words;
	if (result)
		return result;
	ctl_free(&log);
	result = ctl_counters(c, &n);
	if (result)
		return result;
	ctl_derive(&id, &n, &d);
	printf("%s (%s FTL), at %.9f s of drive time, counted since %.9f s\n\n", id.profile, id.ftl,
	       (double)n.at_ns / 1e9, (double)n.since_ns / 1e9);
	print_ops(&n);
	print_sources(&n);
	print_ratio("\nWAF        ", d.waf, d.waf < 0 ? "" : " =");
	if (d.waf >= 0)
		printf(" host %.3f + GC %.3f + wear levelling %.3f + padding %.3f + metadata %.3f", d.waf_host,
		       d.waf_gc, d.waf_wl, d.waf_pad, d.waf_meta);
	print_ratio("\nRAF        ", d.raf, "\n");
	printf("GC         %" PRIu64 " runs, %" PRIu64 " units moved, %" PRIu64 " blocks, %.3f ms\n",
	       f[SLATE_FTL_gc_runs], f[SLATE_FTL_gc_units], f[SLATE_FTL_gc_blocks], (double)f[SLATE_FTL_gc_ns] / 1e6);
	printf("wear       %" PRIu64 " erases; of a page: mean %.4f (AEP), variance %.4f (VEP); of a block, most %"
	       PRIu64 "\n", d.erases, d.aep, d.vep, a[SLATE_NAND_erase_count_max]);
	printf("media      %" PRIu64 " uncorrectable, %" PRIu64 " corrected, %" PRIu64 " retries; %" PRIu64
	       " programs and %" PRIu64 " erases failed, %" PRIu64 " blocks retired\n", a[SLATE_NAND_uncorrectable],
	       a[SLATE_NAND_corrected], a[SLATE_NAND_retries], a[SLATE_NAND_program_fails],
	       a[SLATE_NAND_erase_fails], f[SLATE_FTL_retired_blocks]);
	if (a[SLATE_NAND_damaged])
		printf("drive file %" PRIu64 " reads of pages that do not match their checksums: it is damaged\n",
		       a[SLATE_NAND_damaged]);
	printf("unwritten  %" PRIu64 " reads of %" PRIu64 " units that were never written\n",
	       f[SLATE_FTL_unwritten_reads], f[SLATE_FTL_unwritten_units]);
	print_violations(&n, &d);
	return end_of_text();
}

/* A line adds up the buckets of the log that are shown in it; an octave takes 16 lines. */
struct latency_line {
	uint64_t op, from_ns, ios, cause_ns[SLATE_WIRE_CAUSES];
};

static uint64_t line_floor(uint64_t ns)
{
	unsigned int shift = 0;

	while (ns >> shift >> 5)
		shift++;
	return ns >> shift << shift;
}

static void print_latency(const struct latency_line *l, bool first)
{
	if (!l->ios)
		return;
	printf("%-6s %12.3f %10" PRIu64 " %18s",
	       !first ? "" : l->op < SLATE_WIRE_OPS ? ctl_op_names[l->op] : "?", (double)l->from_ns / 1e3, l->ios, "");
	for (unsigned int k = 0; k < SLATE_WIRE_CAUSES; k++)
		printf(" %10.3f", (double)l->cause_ns[k] / (double)l->ios / 1e3);
	putchar('\n');
}

int text_latency(struct ctl *c, char **words)
{
	struct ctl_log log;
	struct ctl_entries e;
	int result = ctl_entries(c, SLATE_LOG_LATENCY, sizeof(struct slate_latency_entry), &log, &e);
	struct latency_line line = { .op = UINT64_MAX };
	bool first = true;

	(void)words;
	if (result)
		return result;
	printf("%-6s %12s %10s  mean us, of which", "op", "us from", "I/Os");
	for (unsigned int k = 0; k < SLATE_WIRE_CAUSES; k++)
		printf(" %10s", ctl_cause_names[k]);
	putchar('\n');
	for (uint32_t i = 0; i < e.count; i++) {
		const unsigned char *at = e.at + (size_t)i * e.bytes;
		uint64_t op = ctl_get(at, 4), from_ns = line_floor(ctl_get(at + 8, 8));

		if (op != line.op || from_ns != line.from_ns) {
			print_latency(&line, first);
			first = op != line.op;
			line = (struct latency_line){ .op = op, .from_ns = from_ns };
		}
		line.ios += ctl_get(at + 24, 8);
		for (uint32_t k = 0; k < SLATE_WIRE_CAUSES && k < e.word; k++)
			line.cause_ns[k] += ctl_get(at + 32 + 8 * (size_t)k, 8);
	}
	print_latency(&line, first);
	ctl_free(&log);
	return end_of_text();
}

int text_blocks(struct ctl *c, char **words)
{
	struct ctl_log log;
	struct ctl_entries e;
	int result = ctl_entries(c, SLATE_LOG_BLOCKS, sizeof(struct slate_plane_entry), &log, &e);

	(void)words;
	if (result)
		return result;
	printf("%-14s %7s", "ch.chip.die.pl", "blocks");
	for (unsigned int s = 0; s < SLATE_BLOCK_STATES; s++)
		printf(" %7s", ctl_state_names[s]);
	printf(" %8s %8s %8s %12s\n", "er. min", "mean", "max", "valid units");
	for (uint32_t i = 0; i < e.count; i++) {
		const unsigned char *at = e.at + (size_t)i * e.bytes;
		uint64_t blocks = ctl_get(at + 16, 4), good = blocks - ctl_get(at + 20 + 4 * SLATE_BLOCK_BAD, 4);
		char name[48];

		snprintf(name, sizeof(name), "%u.%u.%u.%u", (unsigned int)ctl_get(at, 4),
			 (unsigned int)ctl_get(at + 4, 4), (unsigned int)ctl_get(at + 8, 4),
			 (unsigned int)ctl_get(at + 12, 4));
		printf("%-14s %7" PRIu64, name, blocks);
		for (unsigned int s = 0; s < SLATE_BLOCK_STATES; s++)
			printf(" %7" PRIu64, ctl_get(at + 20 + 4 * (size_t)s, 4));
		printf(" %8" PRIu64 " %8.2f %8" PRIu64 " %12" PRIu64 "\n", ctl_get(at + 44, 4),
		       good ? (double)ctl_get(at + 56, 8) / (double)good : 0, ctl_get(at + 48, 4), ctl_get(at + 64, 8));
	}
	ctl_free(&log);
	return end_of_text();
}

int text_wear(struct ctl *c, char **words)
{
	struct ctl_log log;
	struct ctl_entries e;
	int result = ctl_entries(c, SLATE_LOG_WEAR, sizeof(struct slate_wear_entry), &log, &e);

	(void)words;
	if (result)
		return result;
	printf("%8s %8s %8s %12s %s\n", "plane", "block", "erases", "valid units", "state");
	for (uint32_t i = 0; i < e.count; i++) {
		const unsigned char *at = e.at + (size_t)i * e.bytes;
		uint64_t valid = ctl_get(at + 4, 4), state = at[8];
		char units[16] = "-";

		if (valid != SLATE_NOT_TOLD)
			snprintf(units, sizeof(units), "%" PRIu64, valid);
		printf("%8u %8u %8" PRIu64 " %12s %s\n", e.word ? i / e.word : 0, e.word ? i % e.word : i,
		       ctl_get(at, 4), units, state < SLATE_BLOCK_STATES ? ctl_state_names[state] : "?");
	}
	ctl_free(&log);
	return end_of_text();
}

static void print_fault(uint32_t number, const unsigned char *at)
{
	uint64_t kind = ctl_get(at, 4), left = ctl_get(at + 8, 8), hits = ctl_get(at + 24, 4);

	printf("%3u ", number);
	if (kind == SLATE_FAULT_FLIP) {
		printf("page %" PRIu64 ": %" PRIu64 " bits of each ECC word are wrong%s, %" PRIu64 " reads saw it\n",
		       ctl_get(at + 16, 4), ctl_get(at + 20, 4), left ? "" : " (no more: erased)", hits);
		return;
	}
	printf("%s ", kind == SLATE_FAULT_PROGRAM ? "program" : kind == SLATE_FAULT_ERASE ? "erase" : "?");
	if (ctl_get(at + 4, 4) != SLATE_ANY_DIE)
		printf("on die %" PRIu64 " ", ctl_get(at + 4, 4));
	if (left)
		printf("number %" PRIu64 " from now will fail\n", left);
	else
		printf("has failed at page %" PRIu64 "\n", ctl_get(at + 16, 4));
}

int text_faults(struct ctl *c, char **words)
{
	struct ctl_log log;
	struct ctl_entries e;
	int result = ctl_entries(c, SLATE_LOG_FAULTS, sizeof(struct slate_fault_entry), &log, &e);

	(void)words;
	if (result)
		return result;
	printf("%u faults planned, room for %u more\n", e.count, e.word);
	for (uint32_t i = 0; i < e.count; i++)
		print_fault(i, e.at + (size_t)i * e.bytes);
	ctl_free(&log);
	return end_of_text();
}
