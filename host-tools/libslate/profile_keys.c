// SPDX-License-Identifier: GPL-2.0-or-later
/* profile_keys.c - see profile_keys.h. README.md explains the keys to users. */
#include "profile_keys.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "closest.h"
#include "controller.h"
#include "gc_policy.h"

static const char *const yes_no[] = { "no", "yes", NULL };
static const char *const off_powerlaw[] = { "off", "powerlaw", NULL };
static const char *const no_yes_auto[] = { "no", "yes", "auto", NULL };
static const char *const gc_modes[] = { "blocking", "sliced", NULL };
static const char *const gc_frontiers[] = { "auto", "own", "shared", NULL };
static const char *const gc_pages[] = { "slow", "fast", "host", NULL };
static const char *const hot_colds[] = { "off", "count", NULL };
static const char *const accountings[] = { "device", "ssdsim", NULL };
static const char *const searches[] = { "no", "yes", "all", NULL };
static const char *const merge_victims[] = { "newest", "oldest", "lru", NULL };
static const char *const suspends[] = { "off", "erase", "program", "all", NULL };
static const char *const reductions[] = { "none", "dedup", "comp", "dedup+comp", "dac", NULL };
static const char *const frontiers[] = { "page", "parity", "rtf", "flex", NULL };
static const char *const orders[] = { "ascending", "none", "fps", "rps", NULL };
static const char *const subpages[] = { "none", "dma", "spread", NULL };

_Static_assert(FTL_GC_BLOCKING == 0 && FTL_GC_SLICED == 1, "gc_modes");
_Static_assert(FTL_GC_AUTO == 0 && FTL_GC_OWN == 1 && FTL_GC_SHARED == 2, "gc_frontiers");
_Static_assert(FTL_GC_SLOW == 0 && FTL_GC_FAST == 1 && FTL_GC_AS_HOST == 2, "gc_pages");
_Static_assert(FTL_SUSPEND_OFF == 0 && FTL_SUSPEND_ERASE == 1 && FTL_SUSPEND_PROGRAM == 2 &&
	       FTL_SUSPEND_ALL == 3, "suspends");
_Static_assert(FTL_HOT_COLD_OFF == 0 && FTL_HOT_COLD_COUNT == 1, "hot_colds");
_Static_assert(FTL_ACCOUNT_DEVICE == 0 && FTL_ACCOUNT_SSDSIM == 1, "accountings");
_Static_assert(FTL_SEARCH_NO == 0 && FTL_SEARCH_YES == 1 && FTL_SEARCH_ALL == 2, "searches");
_Static_assert(FTL_VICTIM_NEWEST == 0 && FTL_VICTIM_OLDEST == 1 && FTL_VICTIM_LRU == 2, "merge_victims");
_Static_assert(FTL_REDUCE_NONE == 0 && FTL_REDUCE_DEDUP == 1 && FTL_REDUCE_COMP == 2 &&
	       FTL_REDUCE_DEDUP_COMP == 3 && FTL_REDUCE_DAC == 4 && FTL_NREDUCTIONS == 5, "reductions");
_Static_assert(FTL_FRONTIERS_PAGE == 0 && FTL_FRONTIERS_PARITY == 1 && FTL_FRONTIERS_RTF == 2 &&
	       FTL_FRONTIERS_FLEX == 3 && FTL_NFRONTIERS == 4, "frontiers");
_Static_assert(NAND_ORDER_ASCENDING == 0 && NAND_ORDER_NONE == 1 && NAND_ORDER_FPS == 2 &&
	       NAND_ORDER_RPS == 3 && NAND_NORDERS == 4, "orders");
_Static_assert(NAND_SUBPAGE_NONE == 0 && NAND_SUBPAGE_DMA == 1 && NAND_SUBPAGE_SPREAD == 2 &&
	       NAND_NSUBPAGES == 3, "subpages");
_Static_assert(sizeof(enum nand_order) == sizeof(unsigned int) &&
	       sizeof(enum nand_subpage) == sizeof(unsigned int) &&
	       sizeof(enum ftl_accounting) == sizeof(unsigned int) &&
	       sizeof(enum ftl_suspend) == sizeof(unsigned int) &&
	       sizeof(enum ftl_reduction) == sizeof(unsigned int) &&
	       sizeof(enum ftl_frontiers) == sizeof(unsigned int) &&
	       sizeof(enum ftl_words) == sizeof(unsigned int) &&
	       sizeof(enum ftl_gc_frontier) == sizeof(unsigned int) &&
	       sizeof(enum ftl_gc_pages) == sizeof(unsigned int) &&
	       sizeof(enum ftl_hot_cold) == sizeof(unsigned int) &&
	       sizeof(enum ftl_gc_mode) == sizeof(unsigned int), "K_CHOICE stores unsigned int");
_Static_assert(FTL_WORDS_NO == 0 && FTL_WORDS_YES == 1 && FTL_WORDS_AUTO == 2, "no_yes_auto");

#define NS_MAX 1000000000u
#define ERASE_NS_MAX 4000000000u
#define NJ_MAX 4000000000u
#define TOLERANCE_OFF 255u	/* nand.h: cells are never disturbed */

#define AT(field) offsetof(struct profile, field)
#define G(n, lo, hi, d) { "geometry", #n, K_U32, AT(array.geo.n), lo, hi, d, NULL }
#define G_IS(n, names, d) { "geometry", #n, K_CHOICE, AT(array.geo.n), 0, 0, d, names }
#define G_BOOL(n) { "geometry", #n, K_BOOL, AT(array.geo.n), 0, 1, "no", yes_no }
#define T(n, lo, hi, d) { "timing", #n, K_U32, AT(array.timing.n), lo, hi, d, NULL }
#define E(n, type) { "energy", #n, type, AT(array.energy.n), 0, NJ_MAX, "0", NULL }
#define F(n, lo, hi, d) { "ftl", #n, K_U32, AT(ftl.n), lo, hi, d, NULL }
#define F_BOOL(n, d) { "ftl", #n, K_BOOL, AT(ftl.n), 0, 1, d, yes_no }
#define F_WORDS(n) { "ftl", #n, K_CHOICE, AT(ftl.n), 0, 0, "no", no_yes_auto }
#define R(n, lo, hi, d) { "reliability", #n, K_U32, AT(array.physics.n), lo, hi, d, NULL }
#define RBER(n, type) { "reliability", #n, type, AT(rber.n), 0, 0, "0", NULL }

const struct profile_key profile_keys[] = {
	{ "drive", "name", K_NAME, AT(name), 0, 0, "", NULL },

	G(channels, 1, 64, NULL),
	G(chips_per_channel, 1, 64, NULL),
	G(dies_per_chip, 1, 16, NULL),
	G(planes_per_die, 1, 8, NULL),
	G(blocks_per_plane, 4, 1 << 20, NULL),
	G(pages_per_block, 2, 65536, NULL),
	G(page_bytes, 512, 65536, NULL),
	G(oob_bytes, 16, 65536, NULL),
	G(bits_per_cell, 1, NAND_TYPES_MAX, "1"),
	G_IS(order, orders, "ascending"),
	G(ecc_word_bytes, 0, 65536, "0"),
	G(pb_levels, 0, NAND_PB_LEVELS_MAX, "0"),
	G(erase_group_max, 1, NAND_ERASE_GROUP_MAX, "1"),
	G_IS(subpage, subpages, "none"),
	G_BOOL(one_shot),
	G_BOOL(copyback),
	G_BOOL(paired_loss),

	T(cmd_ns, 0, NS_MAX, "0"),
	{ "timing", "read_ns", K_BY_TYPE, AT(array.timing.read_ns), 1, NS_MAX, NULL, NULL },
	{ "timing", "program_ns", K_BY_TYPE, AT(array.timing.program_ns), 1, NS_MAX, NULL, NULL },
	{ "timing", "erase_ns", K_BY_LEVEL, AT(array.timing.erase_ns), 1, ERASE_NS_MAX, NULL, NULL },
	T(bus_ps_per_byte, 0, 1000000000, NULL),
	{ "timing", "oob_on_bus", K_NOT, AT(array.timing.oob_off_bus), 0, 1, "yes", yes_no },
	T(subread_base_ns, 0, NS_MAX, "0"),
	T(subread_ns_per_kib, 0, NS_MAX, "0"),
	T(lower_read_ns, 0, NS_MAX, "0"),
	T(suspend_ns, 0, NS_MAX, "0"),
	T(resume_ns, 0, NS_MAX, "0"),
	T(suspends_max, 0, 1 << 20, "0"),
	T(retry_ns, 0, NS_MAX, "0"),

	E(read_nj, K_BY_TYPE),
	E(program_nj, K_BY_TYPE),
	E(erase_nj, K_BY_LEVEL),
	E(bus_pj_per_byte, K_U32),

	{ "link", "generation", K_U32, AT(link.generation), 0, 6, "0", NULL },
	{ "link", "lanes", K_U32, AT(link.lanes), 1, 16, "4", NULL },
	{ "link", "data_permille", K_U32, AT(link.data_permille), 1, 1000, "907", NULL },
	{ "link", "latency_ns", K_U32, AT(ftl.link_latency_ns), 0, NS_MAX, "0", NULL },

	{ "controller", "cores", K_U32, AT(ftl.cores), 0, CONTROLLER_CORES_MAX, "0", NULL },
	{ "controller", "completion_ns", K_U32, AT(ftl.completion_ns), 0, NS_MAX, "0", NULL },

	{ "ftl", "type", K_FTL, AT(ops), 0, 0, "page", NULL },
	F(unit_bytes, 512, 16384, "4096"),
	{ "ftl", "capacity_mib", K_U64, AT(capacity_mib), 0, 1 << 22, "0", NULL },
	{ "ftl", "op_permille", K_U64, AT(op_permille), 0, 10000, "125", NULL },
	F(buffer_units, 0, 1 << 22, "1024"),
	F(gc_start_blocks, 2, 1 << 20, "5"),
	F(gc_stop_blocks, 2, 1 << 20, "6"),
	F(gc_urgent_blocks, 1, 1 << 20, "2"),
	{ "ftl", "gc_mode", K_CHOICE, AT(ftl.gc_mode), 0, 0, "sliced", gc_modes },
	F(gc_slice_pages, 1, 65536, "4"),
	{ "ftl", "gc_policy", K_GC_POLICY, AT(ftl.gc_policy), 0, 0, "greedy", NULL },
	F(gc_choices, 1, 1024, "10"),
	F(gc_window_blocks, 1, 1 << 20, "64"),
	F_BOOL(gc_copyback, "no"),
	F_WORDS(gc_subpage_reads),
	F_WORDS(host_subpage_reads),
	F(wl_threshold, 0, 1 << 20, "0"),
	F_BOOL(relocate, "yes"),
	F_BOOL(parallel_erase, "no"),
	F(second_victim_pages, 0, 65536, "65536"),
	F(pair_pages, 0, 131072, "131072"),
	F_BOOL(pen, "no"),
	F(pen_merges_max, 0, 65535, "16"),
	F(superblock_blocks, 0, 64, "4"),
	F(superblock_max_blocks, 0, 128, "8"),
	{ "ftl", "spare_search", K_CHOICE, AT(ftl.spare_search), 0, 0, "yes", searches },
	{ "ftl", "merge_victim", K_CHOICE, AT(ftl.merge_victim), 0, 0, "newest", merge_victims },
	F_BOOL(read_priority, "yes"),
	F(stripe_pages, 1, 65536, "1"),
	F(active_blocks, 1, 16, "8"),
	F(fast_above_permille, 0, 1000, "800"),
	F(slow_below_permille, 0, 1000, "100"),
	F(quota_permille, 0, 1000, "50"),
	{ "ftl", "gc_frontier", K_CHOICE, AT(ftl.gc_frontier), 0, 0, "auto", gc_frontiers },
	{ "ftl", "gc_pages", K_CHOICE, AT(ftl.gc_pages), 0, 0, "slow", gc_pages },
	{ "ftl", "hot_cold", K_CHOICE, AT(ftl.hot_cold), 0, 0, "off", hot_colds },
	F(idle_gc_permille, 0, 1000, "0"),
	F(idle_gc_ns, 0, NS_MAX, "1000000"),
	{ "ftl", "accounting", K_CHOICE, AT(ftl.accounting), 0, 0, "device", accountings },
	{ "ftl", "suspend", K_CHOICE, AT(ftl.suspend), 0, 0, "off", suspends },
	{ "ftl", "reduction", K_CHOICE, AT(ftl.reduction), 0, 0, "dac", reductions },
	{ "ftl", "frontiers", K_CHOICE, AT(ftl.frontiers), 0, 0, "page", frontiers },
	F(fingerprints_permille, 1, 1000, "5"),
	F(fingerprints, 0, 1u << 30, "0"),
	F(reference_bytes, 0, 1u << 31, "33554432"),
	F(hash_ns, 0, NS_MAX, "0"),
	F(compress_ns, 0, NS_MAX, "0"),
	F(decompress_ns, 0, NS_MAX, "0"),
	F_BOOL(count_plain, "no"),
	{ "ftl", "multiplane", K_BOOL, AT(ftl.multiplane), 0, 1, "yes", yes_no },
	{ "ftl", "payload", K_BOOL, AT(ftl.payload), 0, 1, "yes", yes_no },
	F(map_ns, 0, NS_MAX, "200"),
	F(buffer_ns, 0, NS_MAX, "2000"),
	F(overhead_ns, 0, NS_MAX, "1000"),
	F(max_unit_reads, 8, 1 << 22, "4096"),

	{ "reliability", "factory_bad_permille", K_U64, AT(factory_bad_permille), 0, 500, "0", NULL },
	{ "reliability", "seed", K_U64, AT(array.physics.seed), 0, UINT64_MAX, "1", NULL },
	{ "reliability", "disturb_tolerance", K_TOLERANCE, AT(array.physics.disturb_tolerance),
	  0, TOLERANCE_OFF - 1, "off", NULL },
	{ "reliability", "rber", K_BOOL, AT(array.physics.rber_on), 0, 1, "off", off_powerlaw },
	RBER(eps, K_COEFFICIENT),
	RBER(alpha, K_COEFFICIENT),
	RBER(k, K_EXPONENT),
	RBER(beta, K_COEFFICIENT),
	RBER(m, K_EXPONENT),
	RBER(n, K_EXPONENT),
	RBER(gamma, K_COEFFICIENT),
	RBER(p, K_EXPONENT),
	RBER(q, K_EXPONENT),
	{ "reliability", "idle_hours", K_U64, AT(idle_hours), 0, 1000000, "0", NULL },
	R(ecc_bits, 0, 65535, "0"),
	R(relocate_bits, 0, 65535, "0"),
	R(retries_max, 0, 255, "0"),
	R(retry_permille, 0, 1000, "0"),
	R(endurance, 0, 1000000000, "0"),
	R(wear_shape, 1, 64, "8"),

	{ "precondition", "fill_permille", K_U64, AT(fill_permille), 0, 1000, "0", NULL },
	{ "precondition", "age_permille", K_U64, AT(age_permille), 0, 100000, "0", NULL },
	{ "precondition", "seed", K_U64, AT(precondition_seed), 0, UINT64_MAX, "1", NULL },
	{ "memory", "overcommit", K_BOOL, AT(overcommit), 0, 1, "no", yes_no },
};

const size_t profile_key_count = sizeof(profile_keys) / sizeof(profile_keys[0]);
_Static_assert(sizeof(profile_keys) / sizeof(profile_keys[0]) <= PROFILE_KEYS_MAX, "raise it");

const struct profile_key *profile_key_find(const char *section, const char *name)
{
	for (size_t i = 0; i < profile_key_count; i++)
		if (!strcmp(profile_keys[i].section, section) && !strcmp(profile_keys[i].name, name))
			return &profile_keys[i];
	return NULL;
}

const char *profile_key_meant(const char *name, char *out, size_t room)
{
	struct closest near = { .word = name };
	size_t used = 0;

	for (size_t i = 0; i < profile_key_count && *name; i++)
		closest_see(&near, profile_keys[i].name);
	*out = '\0';
	for (size_t i = 0; i < profile_key_count && near.best; i++)
		if (!strcmp(profile_keys[i].name, near.best) && used < room)
			used += (size_t)snprintf(out + used, room - used, "%s%s.%s",
						 used ? " or " : "; did you mean ",
						 profile_keys[i].section, near.best);
	if (used && used < room)
		snprintf(out + used, room - used, "?");
	return out;
}

/* ---- whose a key is ------------------------------------------------------ */

static bool is_listed(const char *const *names, const char *name)
{
	while (names && *names && strcmp(*names, name))
		names++;
	return names && *names;
}

static bool is_of_all(const struct profile_key *k)
{
	return strcmp(k->section, "ftl") || is_listed(ftl_keys_of_all, k->name);
}

bool profile_key_is_foreign(const struct profile_key *k, const struct ftl_ops *ops)
{
	return ops && !is_of_all(k) && !is_listed(ops->keys, k->name);
}

const char *profile_key_owners(const struct profile_key *k, char *out, size_t room)
{
	size_t used = 0;

	*out = '\0';
	for (size_t i = 0; ftl_list[i] && !is_of_all(k); i++)
		if (is_listed(ftl_list[i]->keys, k->name) && used < room)
			used += (size_t)snprintf(out + used, room - used, "%s%s", used ? ", " : "",
						 ftl_list[i]->name);
	return out;
}

static unsigned int list_max(const struct profile_key *k)
{
	return k->type == K_BY_TYPE ? NAND_TYPES_MAX : NAND_PB_LEVELS_MAX + 1;
}

/* ---- what a value may be ------------------------------------------------ */

static void add_name(char *out, size_t room, const char *name, bool last)
{
	size_t used = strlen(out);

	snprintf(out + used, room - used, "%s%s", !used ? "" : last ? " or " : ", ", name);
}

static void names_range(const char *const *names, char *out, size_t room)
{
	for (*out = 0; *names; names++)
		add_name(out, room, *names, !names[1]);
}

static void ftl_range(char *out, size_t room)
{
	*out = 0;
	for (size_t i = 0; ftl_list[i]; i++)
		add_name(out, room, ftl_list[i]->name, false);
	for (size_t i = 0; profile_no_ftl[i]; i++)
		add_name(out, room, profile_no_ftl[i], !profile_no_ftl[i + 1]);
}

void profile_key_range(const struct profile_key *k, char *out, size_t room)
{
	unsigned long long low = k->low, high = k->high;

	switch (k->type) {
	case K_U32:
	case K_U64:
		snprintf(out, room, "a whole number, %llu .. %llu", low, high);
		return;
	case K_BY_TYPE:
	case K_BY_LEVEL:
		snprintf(out, room, "a whole number, %llu .. %llu, or up to %u with commas between",
			 low, high, list_max(k));
		return;
	case K_COEFFICIENT:
		snprintf(out, room, "a decimal, 0 or 1e-30 .. 1, such as 1.48e-3");
		return;
	case K_EXPONENT:
		snprintf(out, room, "a decimal, 0 .. 8, such as 0.54");
		return;
	case K_BOOL:
	case K_NOT:
		snprintf(out, room, "%s or %s", k->names[1], k->names[0]);
		return;
	case K_CHOICE:
		names_range(k->names, out, room);
		return;
	case K_TOLERANCE:
		snprintf(out, room, "a whole number, %llu .. %llu, or off", low, high);
		return;
	case K_GC_POLICY:
		*out = 0;
		for (size_t i = 0; gc_policies[i]; i++)
			add_name(out, room, gc_policies[i]->name, i && !gc_policies[i + 1]);
		return;
	case K_FTL:
		ftl_range(out, room);
		return;
	case K_NAME:
		snprintf(out, room, "at most %d characters, none of them a control character",
			 PROFILE_NAME_BYTES - 1);
		return;
	}
}

bool profile_plain(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 127)
			return false;
	return true;
}

/* ---- text to value ------------------------------------------------------ */

/* Reads digits at *text and moves it behind them. */
static bool take_number(const char **text, uint64_t *out)
{
	char *end;

	if (**text < '0' || **text > '9')
		return false;
	errno = 0;
	*out = strtoull(*text, &end, 10);
	*text = end;
	return !errno;
}

static bool get_number(const struct profile_key *k, const char *text, uint64_t *out)
{
	return take_number(&text, out) && !*text && *out >= k->low && *out <= k->high;
}

static unsigned int set_list(const struct profile_key *k, uint32_t *values, const char *text)
{
	unsigned int count = 0;

	for (;; text++) {
		uint64_t v;

		text += strspn(text, " \t");
		if (count == list_max(k) || !take_number(&text, &v) || v < k->low || v > k->high)
			return 0;
		values[count++] = (uint32_t)v;
		text += strspn(text, " \t");
		if (!*text)
			return count;
		if (*text != ',')
			return 0;
	}
}

static bool get_decimal(const struct profile_key *k, const char *text, double *out)
{
	char *end;

	if (!*text || strspn(text, "0123456789.eE+-") != strlen(text))
		return false;
	*out = strtod(text, &end);
	if (*end || *out < 0)
		return false;
	if (k->type == K_EXPONENT)
		return *out <= 8;
	return *out == 0 || (*out >= 1e-30 && *out <= 1);
}

static bool set_choice(const struct profile_key *k, void *field, const char *text)
{
	unsigned int i = 0;

	while (k->names[i] && strcmp(k->names[i], text))
		i++;
	if (!k->names[i])
		return false;
	if (k->type == K_CHOICE)
		*(unsigned int *)field = i;
	else
		*(bool *)field = i == (k->type == K_BOOL);
	return true;
}

static bool set_gc_policy(const struct gc_policy **field, const char *text)
{
	size_t i = 0;

	while (gc_policies[i] && strcmp(gc_policies[i]->name, text))
		i++;
	*field = gc_policies[i];
	return gc_policies[i];
}

static bool set_ftl(struct profile *p, const char *text)
{
	p->ops = NULL;
	for (size_t i = 0; ftl_list[i] && !p->ops; i++)
		if (!strcmp(ftl_list[i]->name, text))
			p->ops = ftl_list[i];
	p->ftl_type = p->ops ? p->ops->name : NULL;
	for (size_t i = 0; profile_no_ftl[i] && !p->ftl_type; i++)
		if (!strcmp(profile_no_ftl[i], text))
			p->ftl_type = profile_no_ftl[i];
	return p->ftl_type;
}

unsigned int profile_key_set(const struct profile_key *k, struct profile *p, const char *text,
			     char *why, size_t room)
{
	void *field = (char *)p + k->at;
	unsigned int count = 1;
	uint64_t v = 0;
	bool good = false;

	switch (k->type) {
	case K_U32:
		good = get_number(k, text, &v);
		*(uint32_t *)field = (uint32_t)v;
		break;
	case K_U64:
		good = get_number(k, text, &v);
		*(uint64_t *)field = v;
		break;
	case K_BY_TYPE:
	case K_BY_LEVEL:
		count = set_list(k, field, text);
		good = count;
		break;
	case K_COEFFICIENT:
	case K_EXPONENT:
		good = get_decimal(k, text, field);
		break;
	case K_BOOL:
	case K_NOT:
	case K_CHOICE:
		good = set_choice(k, field, text);
		break;
	case K_TOLERANCE:
		v = TOLERANCE_OFF;
		good = !strcmp(text, "off") || get_number(k, text, &v);
		*(uint32_t *)field = (uint32_t)v;
		break;
	case K_GC_POLICY:
		good = set_gc_policy(field, text);
		break;
	case K_FTL:
		good = set_ftl(p, text);
		break;
	case K_NAME:
		good = strlen(text) < PROFILE_NAME_BYTES && profile_plain(text);
		if (good)
			strcpy(field, text);
		break;
	}
	if (good)
		return count;
	profile_key_range(k, why, room);
	return 0;
}

/* ---- value to text ------------------------------------------------------ */

static void print_list(const uint32_t *values, unsigned int count, char *out, size_t room)
{
	bool equal = true;

	for (unsigned int i = 1; i < count; i++)
		equal = equal && values[i] == values[0];
	if (equal)
		count = 1;
	*out = 0;
	for (unsigned int i = 0; i < count; i++)
		snprintf(out + strlen(out), room - strlen(out), "%s%u", i ? ", " : "", values[i]);
}

void profile_key_print(const struct profile_key *k, const struct profile *p, unsigned int count,
		       char *out, size_t room)
{
	const void *field = (const char *)p + k->at;

	switch (k->type) {
	case K_TOLERANCE:
		if (*(const uint32_t *)field == TOLERANCE_OFF) {
			snprintf(out, room, "off");
			return;
		}
		/* fall through */
	case K_U32:
		snprintf(out, room, "%u", *(const uint32_t *)field);
		return;
	case K_U64:
		snprintf(out, room, "%llu", (unsigned long long)*(const uint64_t *)field);
		return;
	case K_BY_TYPE:
	case K_BY_LEVEL:
		print_list(field, count, out, room);
		return;
	case K_COEFFICIENT:
	case K_EXPONENT:
		snprintf(out, room, "%.15g", *(const double *)field);
		return;
	case K_BOOL:
	case K_NOT:
		snprintf(out, room, "%s", k->names[*(const bool *)field == (k->type == K_BOOL)]);
		return;
	case K_CHOICE:
		snprintf(out, room, "%s", k->names[*(const unsigned int *)field]);
		return;
	case K_GC_POLICY:
		snprintf(out, room, "%s", (*(const struct gc_policy *const *)field)->name);
		return;
	case K_FTL:
		snprintf(out, room, "%s", p->ftl_type);
		return;
	case K_NAME:
		snprintf(out, room, "%s", (const char *)field);
		return;
	}
}
