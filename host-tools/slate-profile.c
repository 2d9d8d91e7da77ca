// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * slate-profile.c - check a profile and say in JSON what follows from it.
 *
 *     slate-profile FILE [section.key=value ...]	FILE "-": no file; the settings that follow are all
 *     slate-profile --drive FILE PROFILE [section.key=value ...]
 *						the same for the drive in FILE. PROFILE "-" stands for the settings
 *						of the file; a profile that does not match the drive is refused
 *     slate-profile --keys		every key, its range, its default, the FTLs that
 *						alone have it ("": all) and what it is, by tabs
 *     slate-profile --counters		every counter of a drive: its group, its name, its kind and what
 *						it is, by tabs; the order in a group is that in the logs
 *     slate-profile --logs		fields of the drive's logs that the Python tools read: structure, name,
 *						offset and bytes, separated by tabs; a line without a name has
 *						the bytes of the whole structure
 *     slate-profile --memory		the bytes of memory that a program may take here (host_memory.h); nothing
 *						if that is not known
 *
 * Exit status 0, or 2 with a sentence on stderr. 'slate profiles' makes it
 * readable. It maps no memory: a drive of any size can be looked at.
 *
 * Figures are what the array's time model (nand.h) allows, not what an FTL
 * reaches: every die does one thing back to back, with all its planes at once,
 * and nothing waits. Page types take turns, so cell times are means over them.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "controller.h"
#include "drive_file.h"
#include "host_memory.h"
#include "nand_geom.h"
#include "profile_keys.h"
#include "slate_wire.h"

#define GIB (1ull << 30)

static struct profile p;
static const struct nand_geometry *const g = &p.array.geo;
static const struct nand_timing *const t = &p.array.timing;

/* ---- times -------------------------------------------------------------- */

static uint64_t transfer_ns(uint64_t bytes)
{
	return (bytes * t->bus_ps_per_byte + 999) / 1000;
}

static uint64_t on_bus(uint64_t oob_bytes)
{
	return t->oob_off_bus ? 0 : oob_bytes;
}

static uint32_t page_words(void)
{
	return g->page_bytes / g->ecc_word_bytes;
}

static uint64_t read_bytes(uint32_t words)
{
	return (uint64_t)words * g->ecc_word_bytes + on_bus((uint64_t)g->oob_bytes * words / page_words());
}

static uint64_t read_cell_ns(uint32_t words, uint32_t type)
{
	if (g->subpage == NAND_SUBPAGE_SPREAD && words < page_words())
		return t->subread_base_ns +
		       (uint64_t)t->subread_ns_per_kib * words * g->ecc_word_bytes / 1024;
	return t->read_ns[type];
}

/* Returns the cell time of one command: that of a page or, with one_shot, of the word line. */
static uint64_t program_cell_ns(uint32_t type)
{
	return t->program_ns[type] + (uint64_t)type * (g->one_shot ? 0 : t->lower_read_ns);
}

static uint32_t program_kinds(void)
{
	return g->one_shot ? 1 : g->bits_per_cell;
}

static double mean_ns(uint64_t (*cell)(uint32_t), uint32_t kinds)
{
	double sum = 0;

	for (uint32_t i = 0; i < kinds; i++)
		sum += (double)cell(i);
	return sum / kinds;
}

static uint64_t whole_read_ns(uint32_t type)
{
	return read_cell_ns(page_words(), type);
}

/* ---- JSON --------------------------------------------------------------- */

static void print_string(const char *s)
{
	putchar('"');
	for (; *s; s++)
		if (*s == '"' || *s == '\\')
			printf("\\%c", *s);
		else if ((unsigned char)*s < 0x20)
			printf("\\u%04x", (unsigned int)*s);
		else
			putchar(*s);
	putchar('"');
}

static void print_settings(void)
{
	size_t len = profile_print(&p, NULL, 0) + 1;
	char *text = malloc(len);
	const char *comma = "";

	if (!text)
		abort();
	profile_print(&p, text, len);
	printf("  \"settings\": {");
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		char *eq = strchr(line, '=');

		SSD_ASSERT(eq);		/* profile_print() prints only key=value */
		*eq = 0;
		printf("%s\n    ", comma);
		print_string(line);
		printf(": ");
		print_string(eq + 1);
		comma = ",";
	}
	printf("\n  },\n");
	free(text);
}

static void print_list(const char *name, uint64_t (*value)(uint32_t), uint32_t count)
{
	printf("\"%s\": [", name);
	for (uint32_t i = 0; i < count; i++)
		printf("%s%llu", i ? ", " : "", (unsigned long long)value(i));
	printf("]");
}

static void print_geometry(void)
{
	printf("  \"dies\": %u,\n  \"planes\": %u,\n  \"blocks\": %llu,\n  \"pages\": %llu,\n",
	       geo_dies(g), geo_planes(g), (unsigned long long)geo_blocks(g),
	       (unsigned long long)geo_pages(g));
	printf("  \"block_bytes\": %llu,\n  \"raw_bytes\": %llu,\n  \"exported_bytes\": %llu,\n",
	       (unsigned long long)g->pages_per_block * g->page_bytes,
	       (unsigned long long)geo_pages(g) * g->page_bytes,
	       (unsigned long long)p.ftl.capacity_bytes);
}

/*
 * Print the time of reads of 1 .. all ECC words if the device has sub-page reads, else of a page.
 */
static void print_reads(void)
{
	uint32_t first = g->subpage == NAND_SUBPAGE_NONE ? page_words() : 1;

	printf("  \"reads\": [");
	for (uint32_t words = first; words <= page_words(); words++) {
		printf("%s\n    {\"bytes\": %llu, \"bus_ns\": %llu, \"cell_ns\": [", words == first ? "" : ",",
		       (unsigned long long)words * g->ecc_word_bytes,
		       (unsigned long long)(t->cmd_ns + transfer_ns(read_bytes(words))));
		for (uint32_t type = 0; type < g->bits_per_cell; type++)
			printf("%s%llu", type ? ", " : "", (unsigned long long)read_cell_ns(words, type));
		printf("]}");
	}
	printf("\n  ],\n");
}

static uint64_t level_ns(uint32_t level)
{
	return t->erase_ns[level];
}

static void print_commands(uint64_t page_bus_ns)
{
	print_reads();
	printf("  \"program\": {\"bus_ns\": %llu, ",
	       (unsigned long long)(page_bus_ns * (g->one_shot ? g->bits_per_cell : 1)));
	print_list("cell_ns", program_cell_ns, program_kinds());
	printf("},\n  \"erase\": {\"bus_ns\": %u, ", t->cmd_ns);
	print_list("cell_ns", level_ns, g->pb_levels + 1);
	printf("},\n");
}

/* ---- what follows ------------------------------------------------------- */

/* Print bytes per second; null for a resource that takes no time. */
static void print_rate(const char *name, double bytes, double ns)
{
	if (ns > 0)
		printf("\"%s\": %.0f", name, bytes * 1e9 / ns);
	else
		printf("\"%s\": null", name);
}

/*
 * Print the pages without room for the host's data, and the effective over-provisioning: by how much the blocks among
 * which GC chooses exceed the units in them. It is null if the FTL's GC does not choose among all blocks, or if the
 * blocks cannot hold the units.
 */
static void print_kept(void)
{
	struct ftl_kept k = p.ops && p.ops->kept ? p.ops->kept(p.ops, &p.ftl, g) : (struct ftl_kept){ 0 };
	double pages = (double)p.ftl.capacity_bytes / g->page_bytes, raw = (double)geo_pages(g);
	double blocks = raw - (double)k.free_pages - (double)k.open_pages;
	double units = pages + (double)k.own_pages - (double)k.open_pages / 2;

	printf("  \"over_provisioning\": {\"nominal\": %.6f, \"effective\": ", raw / pages - 1);
	if (k.open_pages && blocks > units && units > 0)
		printf("%.6f", blocks / units - 1);
	else
		printf("null");
	printf(", \"free_bytes\": %llu, \"open_bytes\": %llu, \"own_bytes\": %llu},\n",
	       (unsigned long long)k.free_pages * g->page_bytes, (unsigned long long)k.open_pages * g->page_bytes,
	       (unsigned long long)k.own_pages * g->page_bytes);
}

static void print_rates(const char *name, double die_bytes, double die_ns, double page_bus_ns)
{
	printf("    \"%s\": {", name);
	print_rate("die", die_bytes, die_ns);
	printf(", ");
	print_rate("dies", die_bytes * geo_dies(g), die_ns);
	printf(", ");
	print_rate("channel", g->page_bytes, page_bus_ns);
	printf(", ");
	print_rate("channels", (double)g->page_bytes * g->channels, page_bus_ns);
	printf("}");
}

/* Print the energy of programming a GiB once and of the erases for it. */
static void print_energy(void)
{
	const struct nand_energy *e = &p.array.energy;
	double pages = (double)GIB / g->page_bytes, nj = 0;

	for (uint32_t i = 0; i < program_kinds(); i++)
		nj += e->program_nj[i] * pages / g->bits_per_cell;
	nj += pages * (double)(g->page_bytes + on_bus(g->oob_bytes)) * e->bus_pj_per_byte / 1000;
	nj += pages / g->pages_per_block * e->erase_nj[0];
	if (e->program_nj[0])
		printf("  \"energy_j_per_gib_written\": %.6g,\n", nj / 1e9);
	else
		printf("  \"energy_j_per_gib_written\": null,\n");
}

static void print_memory(void)
{
	size_t tables = nand_array_table_bytes(&p.array) + nand_array_form_bytes(&p.array);
	struct nand_array_config with = p.array;
	size_t pages;

	with.payload = true;
	pages = nand_array_image_bytes(&with) - nand_array_table_bytes(&with) - nand_array_form_bytes(&with);
	printf("  \"memory\": {\"array_bytes\": %llu, \"ftl_bytes\": %llu, \"payload_bytes\": %llu}\n",
	       (unsigned long long)(nand_array_footprint(&p.array) + tables),
	       (unsigned long long)(p.ops ? controller_footprint(p.ops, &p.ftl, g) : 0),
	       (unsigned long long)pages);
}

static void print_derived(void)
{
	double bus_ns = (double)(t->cmd_ns + transfer_ns(g->page_bytes + on_bus(g->oob_bytes)));
	uint32_t group = g->planes_per_die * (g->one_shot ? g->bits_per_cell : 1);
	double read_ns = g->planes_per_die * bus_ns + mean_ns(whole_read_ns, g->bits_per_cell);
	double program_ns = group * bus_ns + mean_ns(program_cell_ns, program_kinds());
	double pages = (double)p.ftl.capacity_bytes / g->page_bytes;
	uint64_t erases = (g->blocks_per_plane + g->erase_group_max - 1) / g->erase_group_max;

	print_commands((uint64_t)bus_ns);
	printf("  \"bytes_per_second\": {\n");
	print_rates("read", (double)g->page_bytes * g->planes_per_die, read_ns, bus_ns);
	printf(",\n");
	print_rates("program", (double)g->page_bytes * group, program_ns, bus_ns);
	printf("\n  },\n  \"fill\": {\"dies_ns\": %.0f, \"channels_ns\": %.0f},\n",
	       pages / group / geo_dies(g) * program_ns, pages / g->channels * bus_ns);
	printf("  \"erase_all_ns\": %llu,\n",
	       (unsigned long long)(erases * (g->planes_per_die * (uint64_t)t->cmd_ns + t->erase_ns[0])));
	print_energy();
	print_memory();
}

static int print_keys(void)
{
	for (size_t i = 0; i < profile_key_count(); i++) {
		const struct profile_key *k = profile_key_at(i);
		char range[SLATE_ERR_BYTES], owners[160];

		profile_key_range(k, range, sizeof(range));
		printf("%s.%s\t%s\t%s\t%s\t%s\n", k->section, k->knob->name, range,
		       k->knob->fallback ? k->knob->fallback : "must be given",
		       profile_key_owners(k, owners, sizeof(owners)), k->knob->says);
	}
	return 0;
}

#define SOURCE(ID, name, shown, label, says) printf("%s\t%s\t%s\t%s\t%s\n", "sources", #name, #shown, label, says);
#define COUNTER(group, name, kind, says) printf("%s\t%s\t%s\t%s\n", group, #name, #kind, says);
#define OP_COUNTER(name, kind, says) COUNTER("op", name, kind, says)
#define OP_CAUSE(name, says) COUNTER("op", name, COUNT, says)
#define FTL_COUNTER(name, says) COUNTER("ftl", name, COUNT, says)
#define COMMAND_COUNTER(name, field, says) COUNTER("source", name, COUNT, says)
#define SOURCE_COUNTER(name, says) COUNTER("source", name, COUNT, says)
#define NAND_COUNTER(name, kind, says) COUNTER("nand", name, kind, says)
#define SERIES_OP_COUNTER(name, kind, says) COUNTER("series-op", name, kind, says)
#define SERIES_CAUSE(name, says) COUNTER("series-op", name, COUNT, says)
#define SERIES_DRIVE_COUNTER(name, kind, value, says) COUNTER("series-drive", name, kind, says)

static int print_counters(void)
{
	FTL_OP_COUNTERS(OP_COUNTER)
	FTL_CAUSES(OP_CAUSE)
	FTL_COUNTERS(FTL_COUNTER)
	NAND_SOURCES(SOURCE)
	NAND_COMMAND_COUNTERS(COMMAND_COUNTER)
	NAND_SOURCE_COUNTERS(SOURCE_COUNTER)
	NAND_COUNTERS(NAND_COUNTER)
	SLATE_SERIES_OP_COUNTERS(SERIES_OP_COUNTER)
	FTL_CAUSES(SERIES_CAUSE)
	SLATE_SERIES_DRIVE_COUNTERS(SERIES_DRIVE_COUNTER)
	return 0;
}

#define FIELD(type, name) \
	{ #type, #name, offsetof(struct slate_##type, name), sizeof(((struct slate_##type *)NULL)->name) }
#define WHOLE(type) { #type, "", 0, sizeof(struct slate_##type) }

static const struct {
	const char *type, *name;
	size_t at, bytes;
} fields[] = {
	FIELD(log_head, magic), FIELD(log_head, version), FIELD(log_head, id), FIELD(log_head, bytes),
	FIELD(log_head, at_ns), FIELD(log_head, since_ns),
	FIELD(log_identity, unit_bytes), FIELD(log_identity, ftl),
	FIELD(log_counters, ops), FIELD(log_counters, op_words), FIELD(log_counters, ftl_words), WHOLE(log_counters),
	FIELD(log_wear, blocks), FIELD(log_wear, entry_bytes), FIELD(log_wear, blocks_per_plane), WHOLE(log_wear),
	FIELD(wear_entry, erases), FIELD(wear_entry, valid_units), FIELD(wear_entry, state),
	FIELD(log_series, interval_ns), FIELD(log_series, rows), FIELD(log_series, row_bytes),
	FIELD(log_series, ops), FIELD(log_series, op_words), FIELD(log_series, drive_words),
	FIELD(log_series, dies), FIELD(log_series, channels), FIELD(log_series, processors), WHOLE(log_series),
};

static int print_logs(void)
{
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		printf("%s\t%s\t%zu\t%zu\n", fields[i].type, fields[i].name, fields[i].at, fields[i].bytes);
	return 0;
}

/* Returns the flushed data that a power cut may destroy; "": none. */
static const char *not_safe(void)
{
	const char *why = p.ops && p.ops->not_safe ? p.ops->not_safe(&p.ftl, &p.array.geo) : NULL;

	return why ? why : "";
}

static const char usage[] =
"usage: slate-profile FILE [section.key=value ...]    the drive of a profile, as JSON; FILE -: all settings follow\n"
"       slate-profile --drive DRIVE FILE [...]        of a drive file; FILE -: its settings, and those that follow\n"
"       slate-profile --keys                          every key that a profile may have\n"
"       slate-profile --counters                      every counter of a drive\n"
"       slate-profile --logs                          offsets of fields of its logs\n"
"       slate-profile --memory                        bytes of memory that a program may take here\n"
"For people there is 'slate profiles'.";

/*
 * Load the profile and then the settings. profile "-": the settings of the drive file come first; drive NULL: there are
 * no others. Returns 0, or a negative ssd_err with a sentence in err.
 */
static int load(const char *drive, const char *profile, const char *const *settings, char *err)
{
	char **kept = NULL;
	const char **all;
	size_t kept_count = 0, count = 0;
	int result;

	if (strcmp(profile, "-"))
		return profile_load(&p, profile, settings, err);
	if (!drive)
		return profile_load(&p, NULL, settings, err);
	result = drive_file_settings(drive, &kept, err);
	if (result)
		return result;
	while (kept[kept_count])
		kept_count++;
	while (settings[count])
		count++;
	all = calloc(kept_count + count + 1, sizeof(*all));
	if (!all)
		abort();
	memcpy(all, kept, kept_count * sizeof(*all));
	memcpy(all + kept_count, settings, count * sizeof(*all));
	result = profile_load(&p, NULL, all, err);
	free(all);
	free(kept);
	return result;
}

static int print_free_memory(void)
{
	uint64_t bytes = host_memory_free();

	if (bytes != UINT64_MAX)
		printf("%llu\n", (unsigned long long)bytes);
	return 0;
}

int main(int argc, char **argv)
{
	char err[SLATE_ERR_BYTES];
	const char *drive = NULL;
	int result;

	if (argc == 2 && !strcmp(argv[1], "--keys"))
		return print_keys();
	if (argc == 2 && !strcmp(argv[1], "--counters"))
		return print_counters();
	if (argc == 2 && !strcmp(argv[1], "--memory"))
		return print_free_memory();
	if (argc == 2 && !strcmp(argv[1], "--logs"))
		return print_logs();
	if (argc == 2 && !strcmp(argv[1], "--help"))
		return printf("%s\n", usage) < 0;
	if (argc > 3 && !strcmp(argv[1], "--drive")) {
		drive = argv[2];
		argv += 2;
		argc -= 2;
	}
	if (argc < 2 || (argv[1][0] == '-' && argv[1][1])) {
		fprintf(stderr, "slate-profile: %s%s%s\n", argc < 2 ? "" : argv[1], argc < 2 ? "" : ": ", usage);
		return 2;
	}
	result = load(drive, argv[1], (const char *const *)argv + 2, err);
	profile_set_image(&p, drive != NULL);
	if (!result && drive)
		result = drive_file_check(drive, &p, err);
	if (result) {
		fprintf(stderr, "%s\n", err);
		return 2;
	}
	printf("{\n  \"name\": ");
	print_string(p.name);
	printf(",\n  \"ftl\": ");
	print_string(p.ftl_type);
	printf(",\n  \"runs\": %s,\n  \"not_safe\": ", p.ops ? "true" : "false");
	print_string(not_safe());
	printf(",\n");
	print_settings();
	print_geometry();
	print_kept();
	print_derived();
	printf("}\n");
	return 0;
}
