// SPDX-License-Identifier: GPL-2.0-or-later
/* fuzz_drives.c - see fuzz_drives.h */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <unistd.h>

#include "controller.h"
#include "fuzz_drives.h"
#include "profile_keys.h"

#define TRIES 16u
#define SHARE 3u			/* a drive draws one of so many keys */
#define MEMORY_MAX (8u << 20)
#define PROFILE "[geometry]\nchannels=2\nchips_per_channel=1\ndies_per_chip=1\nplanes_per_die=2\n" \
	"blocks_per_plane=24\npages_per_block=16\npage_bytes=1024\noob_bytes=256\n" \
	"[timing]\nread_ns=50000\nprogram_ns=200000\nerase_ns=1000000\nbus_ps_per_byte=1000\n" \
	"[ftl]\ncapacity_mib=1\nunit_bytes=1024\n"

/* The map has 16 pages with 128 entries each, and the cache is the smallest that two planes need. */
#define MAP_CACHED "ftl.map_cache_pages=4", "ftl.unit_bytes=512", "geometry.page_bytes=512", \
	"geometry.planes_per_die=1", "geometry.blocks_per_plane=80"


static const struct kind {
	const char *name;
	const char *more[24];		/* overrides of the profile */
} kinds[] = {
	{ "page", { "ftl.type=page", "ftl.buffer_units=16", "ftl.gc_stop_blocks=5" } },
	{ "page-2", { "ftl.type=page", "ftl.buffer_units=0", "geometry.page_bytes=2048",
		      "geometry.blocks_per_plane=16", "geometry.pb_levels=2", "geometry.order=none",
		      "ftl.gc_mode=blocking", "reliability.rber=powerlaw", "reliability.eps=1e-9",
		      "reliability.alpha=1e-12", "reliability.k=1", "reliability.beta=1e-12",
		      "reliability.m=1", "reliability.n=1", "reliability.gamma=1e-12",
		      "reliability.p=1", "reliability.q=1", "reliability.ecc_bits=40", "geometry.copyback=yes",
		      "ftl.gc_copyback=yes", "reliability.disturb_tolerance=3" } },
	{ "page-ippbe", { "ftl.type=page", "ftl.buffer_units=16", "ftl.parallel_erase=yes",
			  "geometry.erase_group_max=2", "ftl.wl_threshold=4" } },
	{ "parity", { "ftl.type=parity", "ftl.buffer_units=16", "geometry.order=fps",
		      "geometry.bits_per_cell=2", "geometry.paired_loss=yes" } },
	{ "rtf", { "ftl.type=rtf", "ftl.buffer_units=16", "geometry.order=fps",
		   "geometry.bits_per_cell=2", "geometry.paired_loss=yes", "ftl.active_blocks=2" } },
	{ "flex", { "ftl.type=flex", "ftl.buffer_units=16", "geometry.order=rps",
		    "geometry.bits_per_cell=2", "geometry.paired_loss=yes" } },
	{ "nftl", { "ftl.type=nftl", "ftl.buffer_units=0", "geometry.order=none",
		    "ftl.gc_start_blocks=2", "ftl.gc_urgent_blocks=1" } },
	{ "nftl-pen", { "ftl.type=nftl", "ftl.buffer_units=0", "geometry.order=none", "ftl.pen=yes",
			"geometry.pb_levels=3", "ftl.pen_merges_max=4", "ftl.gc_mode=blocking",
			"ftl.gc_start_blocks=2", "ftl.gc_urgent_blocks=1",
			"reliability.disturb_tolerance=1" } },
	{ "superblock", { "ftl.type=superblock", "ftl.buffer_units=0", "geometry.order=none",
			  "ftl.superblock_blocks=4", "ftl.superblock_max_blocks=6" } },
	{ "superblock-pages", { "ftl.type=superblock", "ftl.buffer_units=0", "geometry.order=none",
				"geometry.pb_levels=2", "ftl.superblock_blocks=0",
				"ftl.superblock_max_blocks=0" } },
	{ "dac", { "ftl.type=dac", "ftl.buffer_units=16", "ftl.reduction=dac" } },
	{ "dac-flex", { "ftl.type=dac", "ftl.buffer_units=16", "ftl.reduction=dac",
			"ftl.frontiers=flex", "geometry.order=rps", "geometry.bits_per_cell=2",
			"geometry.paired_loss=yes" } },
	{ "zns", { "ftl.type=zns", "ftl.buffer_units=16" } },
	{ "zns-2", { "ftl.type=zns", "ftl.buffer_units=12", "ftl.zone_dies=1", "ftl.zone_blocks=2",
		     "ftl.zone_power2=no", "ftl.zone_open_max=2", "geometry.order=none" } },
	{ "map", { "ftl.type=page", "ftl.buffer_units=16", MAP_CACHED } },
	{ "map-pb", { "ftl.type=page", "ftl.buffer_units=0", "geometry.pb_levels=2", "geometry.order=none",
		      "ftl.gc_mode=blocking", MAP_CACHED } },
	{ "slc", { "ftl.type=page", "ftl.buffer_units=16", "geometry.bits_per_cell=3", "geometry.pages_per_block=24",
		   "timing.slc_read_ns=25000", "timing.slc_program_ns=100000", "timing.slc_erase_ns=500000",
		   "ftl.slc_cache=dynamic", "ftl.slc_blocks=6", "ftl.slc_full=direct",
		   "ftl.idle_gc_permille=1", "ftl.idle_gc_ns=10000000" } },
	{ "slc-static", { "ftl.type=page", "ftl.buffer_units=16", "geometry.bits_per_cell=2",
			  "timing.slc_read_ns=25000", "timing.slc_program_ns=100000",
			  "timing.slc_erase_ns=500000", "ftl.slc_cache=static", "ftl.slc_blocks=3",
			  "ftl.slc_full=fold" } },
	{ "zns-areas", { "ftl.type=zns", "ftl.buffer_units=16", "ftl.zone_active_max=2", "ftl.zrwa_pages=2" } },
	{ "superblock-cold", { "ftl.type=superblock", "ftl.buffer_units=0", "geometry.order=none",
			       "ftl.superblock_blocks=4", "ftl.superblock_max_blocks=6",
			       "ftl.superblock_cold=yes", "ftl.superblock_map_parts=2",
			       "geometry.erase_group_max=2", "ftl.parallel_erase=yes" } },
	{ "page-shot", { "ftl.type=page", "ftl.buffer_units=16", "geometry.bits_per_cell=3",
			 "geometry.pages_per_block=24", "geometry.one_shot=yes", "geometry.paired_loss=yes" } },
	{ "handles", { "ftl.type=page", "ftl.buffer_units=16", "geometry.blocks_per_plane=40",
		       "ftl.placement_handles=3", "ftl.placement_groups=2", "ftl.placement_isolation=persistently" } },
	{ "handles-map", { "ftl.type=page", "ftl.buffer_units=16", "ftl.placement_handles=2",
			   "ftl.placement_groups=2", MAP_CACHED } },
};

#define NKINDS (sizeof(kinds) / sizeof(*kinds))

/* Abilities that other keys need. Drawn drives have them in turn, as far as they can. */
static const char *const abilities[][4] = {
	{ "controller.cores=2", "controller.read_cache_units=64" },
	{ "timing.suspend_ns=1000", "timing.suspends_max=4" },
	{ "controller.cores=1", "controller.arbitration=weighted" },
	{ "ftl.power_protected=yes", "ftl.hold_up_ns=500000000" },
	{ "ftl.gc_policy=d-choices" },
	{ "ftl.gc_policy=windowed-greedy" },
};

#define NABILITIES (sizeof(abilities) / sizeof(*abilities))

_Static_assert(FUZZ_DRIVES == NKINDS * (1 + NABILITIES), "each kind is drawn with each row of abilities");

/* Keys that keep their value: without data the fuzzer has no content to change. */
const char *const fuzz_drive_fixed[] = { "payload", NULL };

const char *fuzz_drive_profile(void)
{
	static char path[32];

	if (!*path) {
		int fd = memfd_create("profile", 0);

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		SSD_ASSERT(dprintf(fd, "%s", PROFILE) > 0);
	}
	return path;
}

void fuzz_drive_name(uint32_t i, char name[FUZZ_NAME_BYTES])
{
	if (i < NKINDS)
		snprintf(name, FUZZ_NAME_BYTES, "%s", kinds[i].name);
	else
		snprintf(name, FUZZ_NAME_BYTES, "drawn-%u-%s", i, kinds[i % NKINDS].name);
}

/* Returns the memory that the drive takes; SIZE_MAX: the whole is no drive. */
static size_t memory_of(const struct settings *s)
{
	static struct profile p;
	char why[SLATE_ERR_BYTES];

	memset(&p, 0, sizeof(p));
	return profile_load(&p, fuzz_drive_profile(), s->list, why) ? SIZE_MAX :
	       controller_footprint(p.ops, &p.ftl, &p.array.geo);
}

static bool is_fixed(const char *name)
{
	for (const char *const *f = fuzz_drive_fixed; *f; f++)
		if (!strcmp(*f, name))
			return true;
	return false;
}

/*
 * Add a value of key `at` with which the whole is a drive of at most `most` bytes of memory: of a key with named values
 * the one that is next in turn, but not the default.
 */
static void draw_key(struct settings *s, const struct keys *k, uint32_t at, uint32_t turn, size_t most, uint64_t *rng)
{
	const struct knob *row = k->knob[at];
	uint32_t names = names_of(row);

	for (uint32_t i = 0; i < TRIES && !is_fixed(row->name); i++) {
		const char *name = names ? name_of(row, (turn + i) % names) : "";
		char *text = add_setting(s);

		draw_setting(k, at, rng, text);
		if (names)
			snprintf(text, SETTING_BYTES, "%s.%s=%s", k->section[at], row->name, name);
		if (strcmp(name, row->fallback) && memory_of(s) <= most)
			return;
		s->list[--s->count] = NULL;
	}
}

/* Add the settings of a row of abilities, if the drive accepts all of them. */
static void add_abilities(struct settings *s, const char *const *row)
{
	uint32_t before = s->count;

	for (; *row; row++)
		snprintf(add_setting(s), SETTING_BYTES, "%s", *row);
	if (memory_of(s) == SIZE_MAX)
		s->list[s->count = before] = NULL;
}

void fuzz_drive_settings(uint32_t i, struct settings *s)
{
	uint32_t kind = i % NKINDS, round = i / NKINDS;
	uint64_t rng = i * 0x9e3779b97f4a7c15u + 1;
	const struct ftl_ops *const *ops = ftl_list;
	struct keys k;
	size_t most;

	begin_settings(s, kinds[kind].more);
	s->drawn = s->count;
	if (!round)
		return;
	add_abilities(s, abilities[round - 1]);
	most = memory_of(s) > MEMORY_MAX ? memory_of(s) : MEMORY_MAX;
	while (strcmp((*ops)->name, s->text[s->type] + strlen("ftl.type=")))
		ops++;
	keys_of(&k, *ops);
	for (uint32_t at = i % SHARE; at < k.count; at += SHARE)
		draw_key(s, &k, at, i / SHARE, most, &rng);
}
