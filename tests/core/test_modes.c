// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_modes.c - a key of a mode that is off is refused, and so is a drive that lies about flushes without effect. A
 * mode that is switched off where the key is given keeps the key for later. Every key of an FTL, the controller and
 * the link is either of a mode or in a list here, so a new one is in neither until somebody looks.
 */
#include "profile_load.h"

#include "controller.h"

#define SMALL "nand-emu/profiles/small.ini"
#define FLEX "nand-emu/profiles/rps-small.ini"
#define DAC "nand-emu/profiles/dac-small.ini"
#define NFTL "nand-emu/profiles/pen-small.ini"
#define SUPERBLOCK "nand-emu/profiles/superblock-small.ini"
#define TLC "nand-emu/profiles/tlc-slc-small.ini"

/* off: the owner's value with which the key is refused; on, more: settings with which it is not; says: what to do. */
static const struct {
	const char *profile, *key, *value, *owner, *off, *on, *more, *says;
} rows[] = {
	{ SMALL, "geometry.paired_loss", "yes", "geometry.bits_per_cell", "1", "2", "ftl.power_protected=yes",
	  "another value" },
	{ SMALL, "timing.subread_base_ns", "5", "geometry.subpage", "none", "spread", NULL, "spread" },
	{ SMALL, "timing.subread_ns_per_kib", "5", "geometry.subpage", "none", "spread", NULL, "spread" },
	{ SMALL, "timing.lower_read_ns", "5", "geometry.bits_per_cell", "1", "2", NULL, "another value" },
	{ SMALL, "timing.resume_ns", "5", "timing.suspend_ns", "0", "9", "timing.suspends_max=1", "another value" },
	{ SMALL, "timing.suspends_max", "5", "timing.suspend_ns", "0", "9", NULL, "another value" },
	{ SMALL, "link.lanes", "8", "link.generation", "0", "3", NULL, "another value" },
	{ SMALL, "link.data_permille", "8", "link.generation", "0", "3", NULL, "another value" },
	{ SMALL, "controller.arbitration_burst", "2", "controller.arbitration", "fifo", "round-robin",
	  "controller.cores=1", "round-robin or weighted" },
	{ SMALL, "controller.weight_high", "2", "controller.arbitration", "fifo", "weighted", "controller.cores=1",
	  "weighted" },
	{ SMALL, "controller.weight_medium", "2", "controller.arbitration", "fifo", "weighted", "controller.cores=1",
	  "weighted" },
	{ SMALL, "controller.weight_low", "2", "controller.arbitration", "fifo", "weighted", "controller.cores=1",
	  "weighted" },
	{ NFTL, "ftl.gc_slice_pages", "5", "ftl.gc_mode", "blocking", "sliced", NULL, "sliced" },
	{ SMALL, "ftl.gc_choices", "5", "ftl.gc_policy", "greedy", "d-choices", NULL, "d-choices" },
	{ SMALL, "ftl.gc_window_blocks", "5", "ftl.gc_policy", "greedy", "windowed-greedy", NULL, "windowed-greedy" },
	{ SMALL, "ftl.second_victim_pages", "5", "ftl.parallel_erase", "no", "yes", "geometry.erase_group_max=2",
	  "yes" },
	{ SUPERBLOCK, "ftl.pair_pages", "5", "ftl.parallel_erase", "no", "yes", "geometry.erase_group_max=2", "yes" },
	{ SMALL, "ftl.idle_gc_ns", "5", "ftl.idle_gc_permille", "0", "1", NULL, "another value" },
	{ TLC, "ftl.slc_blocks", "5", "ftl.slc_cache", "none", "dynamic", NULL, "static or dynamic" },
	{ TLC, "ftl.slc_full", "fold", "ftl.slc_cache", "none", "dynamic", NULL, "static or dynamic" },
	{ SMALL, "ftl.placement_isolation", "persistently", "ftl.placement_handles", "0", "2", NULL, "another value" },
	{ FLEX, "ftl.gc_pages", "fast", "ftl.gc_frontier", "own", "shared", NULL, "auto or shared" },
	{ NFTL, "ftl.pen_merges_max", "5", "ftl.pen", "no", "yes", NULL, "yes" },
	{ DAC, "ftl.active_blocks", "4", "ftl.frontiers", "page", "rtf", "geometry.order=fps", "rtf" },
	{ DAC, "ftl.fast_above_permille", "500", "ftl.frontiers", "page", "flex", "geometry.order=rps", "flex" },
	{ DAC, "ftl.slow_below_permille", "50", "ftl.frontiers", "page", "flex", "geometry.order=rps", "flex" },
	{ DAC, "ftl.quota_permille", "60", "ftl.frontiers", "page", "flex", "geometry.order=rps", "flex" },
	{ DAC, "ftl.fingerprints_permille", "6", "ftl.fingerprints", "8", "0", NULL, "0" },
	{ DAC, "ftl.fingerprints_permille", "6", "ftl.reduction", "comp", "dedup", NULL, "dedup or dedup+comp or dac" },
	{ DAC, "ftl.fingerprints", "8", "ftl.reduction", "none", "dedup+comp", NULL, "dedup or dedup+comp or dac" },
	{ DAC, "ftl.hash_ns", "5", "ftl.reduction", "comp", "dac", NULL, "dedup or dedup+comp or dac" },
	{ DAC, "ftl.compress_ns", "5", "ftl.reduction", "dedup", "comp", NULL, "comp or dedup+comp or dac" },
	{ DAC, "ftl.decompress_ns", "5", "ftl.reduction", "none", "dac", NULL, "comp or dedup+comp or dac" },
	{ DAC, "ftl.count_plain", "yes", "ftl.reduction", "dedup+comp", "dac", NULL, "dac" },
	{ SMALL, "reliability.ecc_bits", "5", "reliability.rber", "off", NULL, NULL, "powerlaw" },
	{ SMALL, "reliability.relocate_bits", "0", "reliability.rber", "off", NULL, NULL, "powerlaw" },
	{ SMALL, "reliability.retries_max", "5", "reliability.rber", "off", NULL, NULL, "powerlaw" },
	{ SMALL, "reliability.retry_permille", "5", "reliability.retries_max", "0", NULL, NULL, "another value" },
	{ SMALL, "reliability.idle_hours", "5", "reliability.rber", "off", NULL, NULL, "powerlaw" },
	{ SMALL, "reliability.disturb_tolerance", "5", "geometry.pb_levels", "0", NULL, NULL, "another value" },
	{ SMALL, "reliability.wear_shape", "5", "reliability.endurance", "0", "100", NULL, "another value" },
};

#define NROWS (sizeof(rows) / sizeof(*rows))

/* Load a profile with a key, its owner's value (may be NULL) and another setting (may be NULL). */
static int load_row(size_t i, const char *owner, const char *more)
{
	char key[80], of[80];
	const char *list[4] = { key };
	size_t n = 1;

	snprintf(key, sizeof(key), "%s=%s", rows[i].key, rows[i].value);
	snprintf(of, sizeof(of), "%s=%s", rows[i].owner, owner ? owner : "");
	if (owner)
		list[n++] = of;
	if (more)
		list[n++] = more;
	return profile_load(&p, rows[i].profile, list, err);
}

/* Is the owner's value of the profile, or its default, the one with which the row is off? */
static bool is_off(size_t i)
{
	char value[128];

	EXPECT_EQ(load(rows[i].profile, NULL), 0);
	profile_key_print(profile_key_named(rows[i].owner), &p, 1, value, sizeof(value));
	return !strcmp(value, rows[i].off);
}

static void keys_of_modes_that_are_off(void)
{
	char says[256];

	for (size_t i = 0; i < NROWS; i++) {
		const char *name = strchr(rows[i].key, '.') + 1;
		bool kept = load_row(i, rows[i].off, NULL) == 0;

		if (!kept)
			printf("%s is not kept for later: %s\n", rows[i].key, err);
		EXPECT(kept);
		if (rows[i].on && load_row(i, rows[i].on, rows[i].more)) {
			printf("%s is refused with its mode on: %s\n", rows[i].key, err);
			failures++;
		}
		if (!is_off(i) || !strcmp(rows[i].value, "0"))
			continue;
		snprintf(says, sizeof(says),
			 "override: %s = %s: means nothing with %s = %s; say %s there, or leave %s out", rows[i].key,
			 rows[i].value, rows[i].owner, rows[i].off, rows[i].says, name);
		if (!load_row(i, NULL, NULL) || strcmp(err, says)) {
			printf("%s: '%s'\n   not '%s'\n", rows[i].key, err, says);
			failures++;
		}
	}
}

/* The mode is off in a file, and the key is in the same file, or the command line switches the mode off. */
static void keys_for_later(void)
{
	EXPECT_EQ(load(TLC, "ftl.slc_cache=none"), 0);
	EXPECT_EQ(load(NFTL, "ftl.pen=no"), 0);
	EXPECT_EQ(load(DAC, "ftl.reduction=none"), 0);
	EXPECT_EQ(load(DAC, "ftl.fingerprints=8"), 0);
	EXPECT_EQ(load(FLEX, "ftl.gc_frontier=own"), 0);
	EXPECT_EQ(load(SMALL, "ftl.idle_gc_ns=1000000"), 0);	/* the default */
}

static bool is_tested(const struct profile_mode *m)
{
	size_t i = 0;

	while (i < NROWS && (strcmp(rows[i].key, m->key) || strcmp(rows[i].owner, m->owner)))
		i++;
	return i < NROWS;
}

/* These keys are read in every mode, or a test of test_profile.c shows that they are refused. */
static const char *const always[] = {
	"cores", "completion_ns", "read_cache_units", "read_ahead_units", "read_hit_ns", "arbitration", "dram_mb_s",
	"generation", "latency_ns", "type", "unit_bytes", "buffer_units", "power_protected", "hold_up_ns",
	"reads_in_row", "payload", "map_ns", "buffer_ns", "overhead_ns", "max_unit_reads", "capacity_mib",
	"op_permille", "gc_start_blocks", "gc_urgent_blocks", "gc_mode", "gc_stop_blocks", "gc_subpage_reads",
	"host_subpage_reads", "gc_copyback", "parallel_erase", "accounting", "idle_gc_permille", "gc_policy",
	"wl_threshold", "relocate", "gc_frontier", "suspend", "multiplane", "gc_multiplane", "hot_cold", "slc_cache",
	"placement_handles", "placement_groups", "map_cache_pages", "metadata_bytes", "backup_channel",
	"stripe_pages", "read_priority", "pen", "spare_search", "merge_victim", "write_buffer_blocks",
	"superblock_blocks", "superblock_max_blocks", "superblock_cold", "superblock_map_parts", "reduction",
	"frontiers", "reference_bytes", "zone_dies", "zone_blocks", "zone_power2", "zone_open_max",
	"zone_active_max", "zone_cross_reads", "zrwa_pages", "zrwa_flush_pages", "zrwa_zones",
};

static bool is_always(const char *name)
{
	size_t i = 0;

	while (i < sizeof(always) / sizeof(*always) && strcmp(always[i], name))
		i++;
	return i < sizeof(always) / sizeof(*always);
}

static bool is_of_mode(const struct profile_key *k)
{
	const struct profile_mode *m;

	for (size_t i = 0; (m = profile_mode_at(i)); i++)
		if (profile_key_named(m->key) == k)
			return true;
	return false;
}

static void every_row_is_tested(void)
{
	const struct profile_mode *m;

	for (size_t i = 0; (m = profile_mode_at(i)); i++) {
		EXPECT(profile_key_named(m->key) && profile_key_named(m->owner));
		if (!is_tested(m))
			printf("%s with %s is not tested\n", m->key, m->owner);
		EXPECT(is_tested(m));
	}
	for (size_t i = 0; i < profile_key_count(); i++) {
		const struct profile_key *k = profile_key_at(i);

		if (strcmp(k->section, "ftl") && strcmp(k->section, "controller") && strcmp(k->section, "link"))
			continue;
		if (is_of_mode(k) == is_always(k->knob->name)) {
			printf("%s.%s: in which modes is it read?\n", k->section, k->knob->name);
			failures++;
		}
	}
}

static void expect_lie(const char *profile, const char *more, const char *says)
{
	const char *list[] = { "drive.ignore_flush=yes", more, NULL };
	int result = profile_load(&p, profile, list, err);

	EXPECT_EQ(result, says ? SSD_E_INVAL : 0);
	if (result && says && strcmp(err, says)) {
		printf("'%s'\n   not '%s'\n", err, says);
		failures++;
	}
}

/* drive.ignore_flush = yes is refused if the drive could lose nothing by it. */
static void lies_without_effect(void)
{
#define LIE "override: drive.ignore_flush = yes: must be no with "
	expect_lie(NFTL, NULL, LIE "ftl.type = nftl: what it has completed is on flash");
	expect_lie(SUPERBLOCK, NULL, LIE "ftl.type = superblock: what it has completed is on flash");
	expect_lie(SMALL, "ftl.power_protected=yes", LIE "ftl.power_protected = yes: the drive loses nothing that it "
		   "has completed, flushed or not");
	expect_lie(DAC, "ftl.power_protected=yes", LIE "ftl.power_protected = yes: the drive loses nothing that it "
		   "has completed, flushed or not");
	expect_lie(NFTL, "ftl.accounting=ssdsim", NULL);	/* completed writes may be in the chips' registers */
	expect_lie(SMALL, NULL, NULL);
	expect_lie(DAC, NULL, NULL);
	expect_lie("nand-emu/profiles/zns-small.ini", NULL, NULL);
}

int main(void)
{
	RUN(keys_of_modes_that_are_off);
	RUN(keys_for_later);
	RUN(every_row_is_tested);
	RUN(lies_without_effect);
	return test_result();
}
