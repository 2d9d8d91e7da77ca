// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * profile_modes.c - the keys of a profile that are read only in a mode which another key, their owner, switches on. A
 * key of a mode that is off would be accepted without effect, so profile.c refuses it (refuse_unread()).
 *
 * Not listed are keys that describe what the array's chips can do (erase groups, suspension, and the like): they are
 * true whether an FTL makes use of it or not. Keys that the core itself refuses in these modes are not listed either.
 */
#include "profile_keys.h"

#include <stdio.h>
#include <string.h>

static const struct profile_mode modes[] = {
	{ "geometry.paired_loss", "geometry.bits_per_cell", "!1" },
	{ "timing.subread_base_ns", "geometry.subpage", "spread" },
	{ "timing.subread_ns_per_kib", "geometry.subpage", "spread" },
	{ "timing.lower_read_ns", "geometry.bits_per_cell", "!1" },
	{ "timing.resume_ns", "timing.suspend_ns", "!0" },
	{ "timing.suspends_max", "timing.suspend_ns", "!0" },
	{ "link.lanes", "link.generation", "!0" },
	{ "link.data_permille", "link.generation", "!0" },
	{ "controller.arbitration_burst", "controller.arbitration", "round-robin weighted" },
	{ "controller.weight_high", "controller.arbitration", "weighted" },
	{ "controller.weight_medium", "controller.arbitration", "weighted" },
	{ "controller.weight_low", "controller.arbitration", "weighted" },
	{ "ftl.gc_slice_pages", "ftl.gc_mode", "sliced" },
	{ "ftl.gc_choices", "ftl.gc_policy", "d-choices" },
	{ "ftl.gc_window_blocks", "ftl.gc_policy", "windowed-greedy" },
	{ "ftl.second_victim_pages", "ftl.parallel_erase", "yes" },
	{ "ftl.pair_pages", "ftl.parallel_erase", "yes" },
	{ "ftl.idle_gc_ns", "ftl.idle_gc_permille", "!0" },
	{ "ftl.slc_blocks", "ftl.slc_cache", "static dynamic" },
	{ "ftl.slc_full", "ftl.slc_cache", "static dynamic" },
	{ "ftl.placement_isolation", "ftl.placement_handles", "!0" },
	{ "ftl.gc_pages", "ftl.gc_frontier", "auto shared" },
	{ "ftl.pen_merges_max", "ftl.pen", "yes" },
	{ "ftl.active_blocks", "ftl.frontiers", "rtf" },
	{ "ftl.fast_above_permille", "ftl.frontiers", "flex" },
	{ "ftl.slow_below_permille", "ftl.frontiers", "flex" },
	{ "ftl.quota_permille", "ftl.frontiers", "flex" },
	{ "ftl.fingerprints_permille", "ftl.fingerprints", "0" },
	{ "ftl.fingerprints_permille", "ftl.reduction", "dedup dedup+comp dac" },
	{ "ftl.fingerprints", "ftl.reduction", "dedup dedup+comp dac" },
	{ "ftl.hash_ns", "ftl.reduction", "dedup dedup+comp dac" },
	{ "ftl.compress_ns", "ftl.reduction", "comp dedup+comp dac" },
	{ "ftl.decompress_ns", "ftl.reduction", "comp dedup+comp dac" },
	{ "ftl.count_plain", "ftl.reduction", "dac" },
	{ "reliability.ecc_bits", "reliability.rber", "powerlaw" },
	{ "reliability.relocate_bits", "reliability.rber", "powerlaw" },
	{ "reliability.retries_max", "reliability.rber", "powerlaw" },
	{ "reliability.retry_permille", "reliability.retries_max", "!0" },
	{ "reliability.idle_hours", "reliability.rber", "powerlaw" },
	{ "reliability.disturb_tolerance", "geometry.pb_levels", "!0" },
	{ "reliability.wear_shape", "reliability.endurance", "!0" },
};

const struct profile_mode *profile_mode_at(size_t i)
{
	return i < sizeof(modes) / sizeof(modes[0]) ? &modes[i] : NULL;
}

const struct profile_key *profile_key_named(const char *name)
{
	char section[64];
	const char *dot = strchr(name, '.');

	SSD_ASSERT(dot && dot - name < (ptrdiff_t)sizeof(section));
	memcpy(section, name, (size_t)(dot - name));
	section[dot - name] = '\0';
	return profile_key_find(section, dot + 1);
}

bool profile_mode_is_on(const struct profile_mode *m, const struct profile *p)
{
	const struct profile_key *owner = profile_key_named(m->owner);
	char value[64];
	size_t len;

	if (profile_key_is_foreign(owner, p->ops))
		return true;
	profile_key_print(owner, p, 1, value, sizeof(value));
	if (m->values[0] == '!')
		return strcmp(m->values + 1, value) != 0;
	len = strlen(value);
	for (const char *at = m->values; at; at = strchr(at, ' ')) {
		at += *at == ' ';
		if (!strncmp(at, value, len) && (at[len] == ' ' || !at[len]))
			return true;
	}
	return false;
}

void profile_mode_print(const struct profile_mode *m, char *out, size_t room)
{
	size_t used = 0;

	if (m->values[0] == '!') {
		snprintf(out, room, "another value");
		return;
	}
	for (const char *at = m->values; *at && used + 1 < room; at++)
		used += (size_t)snprintf(out + used, room - used, *at == ' ' ? " or " : "%c", *at);
}
