// SPDX-License-Identifier: GPL-2.0-or-later
/* json.c - logs as JSON on standard output, with every number of a log under its name in SPEC.md. */
#include "ctl.h"

#include <stdio.h>
#include <string.h>

static json_t *number(uint64_t v)
{
	return json_integer((json_int_t)v);
}

static json_t *ratio(double v)
{
	return v < 0 ? json_null() : json_real(v);
}

static json_t *text(const char *s, size_t len)
{
	json_t *o = json_stringn(s, len);

	return o ? o : json_string("?");	/* the text is not UTF-8 */
}

int json_print(json_t *o)
{
	int bad = json_dumpf(o, stdout, JSON_INDENT(1)) || putchar('\n') == EOF || fflush(stdout);

	json_decref(o);
	return bad ? ctl_fail(CTL_FAILED, "standard output cannot be written to") : 0;
}

static json_t *group(const char *const *names, const uint64_t *values, unsigned int n)
{
	json_t *o = json_object();

	for (unsigned int i = 0; i < n; i++)
		json_object_set_new(o, names[i], number(values[i]));
	return o;
}

/* Convert lines of "name" or "section.key=value". */
static json_t *lines(const char *s, size_t len, bool pairs)
{
	json_t *o = pairs ? json_object() : json_array();

	while (len) {
		const char *end = memchr(s, '\n', len), *equals;
		size_t n = end ? (size_t)(end - s) : len;
		char key[128];

		equals = memchr(s, '=', n);
		if (!pairs && n)
			json_array_append_new(o, text(s, n));
		else if (pairs && equals && (size_t)(equals - s) < sizeof(key)) {
			snprintf(key, sizeof(key), "%.*s", (int)(equals - s), s);
			json_object_set_new(o, key, text(equals + 1, (size_t)(s + n - equals - 1)));
		}
		len -= end ? n + 1 : n;
		s += end ? n + 1 : n;
	}
	return o;
}

int json_info(struct ctl *c, char **words)
{
	struct ctl_log log;
	struct ctl_identity id;
	int result = ctl_identity(c, &log, &id);
	json_t *o;

	(void)words;
	if (result)
		return result;
	o = json_object();
	json_object_set_new(o, "profile", json_string(id.profile));
	json_object_set_new(o, "ftl", json_string(id.ftl));
	json_object_set_new(o, "at_ns", number(log.at_ns));
	const struct { const char *name; uint64_t v; } numbers[] = {
		{ "capacity_bytes", id.capacity_bytes }, { "unit_bytes", id.unit_bytes },
		{ "page_bytes", id.page_bytes }, { "oob_bytes", id.oob_bytes },
		{ "pages_per_block", id.pages_per_block }, { "blocks_per_plane", id.blocks_per_plane },
		{ "planes_per_die", id.planes_per_die }, { "dies_per_chip", id.dies_per_chip },
		{ "chips_per_channel", id.chips_per_channel }, { "channels", id.channels },
		{ "bits_per_cell", id.bits_per_cell }, { "pb_levels", id.pb_levels },
		{ "ecc_word_bytes", id.ecc_word_bytes }, { "endurance", id.endurance },
		{ "buffer_units", id.buffer_units }, { "map_bytes", id.map_bytes },
		{ "unsafe_shutdowns", id.unsafe_shutdowns }, { "saved", id.saved }, { "unsaved", id.unsaved },
	};
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		json_object_set_new(o, numbers[i].name, number(numbers[i].v));
	const struct { const char *name; uint32_t bit; } flags[] = {
		{ "write_cache", SLATE_ID_WRITE_CACHE }, { "trims", SLATE_ID_TRIMS }, { "collects", SLATE_ID_COLLECTS },
		{ "block_states", SLATE_ID_BLOCK_STATES }, { "drive_file", SLATE_ID_DRIVE_FILE },
		{ "was_there", SLATE_ID_WAS_THERE }, { "payload", SLATE_ID_PAYLOAD },
		{ "power_protected", SLATE_ID_PROTECTED },
	};
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		json_object_set_new(o, flags[i].name, json_boolean(id.flags & flags[i].bit));
	json_object_set_new(o, "settings", lines(id.settings, id.settings_bytes, true));
	json_object_set_new(o, "knobs", lines(id.knobs, id.knobs_bytes, false));
	ctl_free(&log);
	return json_print(o);
}

json_t *json_of_counters(const struct ctl_identity *id, const struct ctl_counters *n)
{
	json_t *o = json_object(), *ops = json_object(), *sources = json_object(), *rules = json_array();
	struct ctl_derived d;

	ctl_derive(id, n, &d);
	json_object_set_new(o, "at_ns", number(n->at_ns));
	json_object_set_new(o, "since_ns", number(n->since_ns));
	json_object_set_new(o, "waf", ratio(d.waf));
	json_object_set_new(o, "raf", ratio(d.raf));
	json_object_set_new(o, "aep", ratio(d.aep));
	json_object_set_new(o, "vep", ratio(d.vep));
	for (unsigned int op = 0; op < SLATE_WIRE_OPS; op++)
		json_object_set_new(ops, ctl_op_names[op], group(ctl_op_words, n->op[op], SLATE_OP_WORDS));
	json_object_set_new(o, "ops", ops);
	json_object_set_new(o, "ftl", group(ctl_ftl_words, n->ftl, SLATE_FTL_WORDS));
	for (unsigned int s = 0; s < SLATE_WIRE_SOURCES; s++)
		json_object_set_new(sources, ctl_source_names[s],
				    group(ctl_source_words, n->source[s], SLATE_SOURCE_WORDS));
	json_object_set_new(o, "sources", sources);
	for (unsigned int r = 0; r < SLATE_WIRE_RULES; r++)
		json_array_append_new(rules, number(n->rule[r]));
	json_object_set_new(o, "violations", rules);
	json_object_set_new(o, "nand", group(ctl_nand_words, n->nand, SLATE_NAND_WORDS));
	return o;
}

int json_counters(struct ctl *c, char **words)
{
	struct ctl_identity id;
	struct ctl_counters n;
	struct ctl_log log;
	int result = ctl_identity(c, &log, &id);

	(void)words;
	if (result)
		return result;
	ctl_free(&log);
	result = ctl_counters(c, &n);
	return result ? result : json_print(json_of_counters(&id, &n));
}

/* Make an array of objects, one for each entry; words says which number of an entry has which name. */
struct field {
	const char *name;
	unsigned int at, bytes;
};

static json_t *entry_object(const unsigned char *at, const struct field *fields, size_t n)
{
	json_t *o = json_object();

	for (size_t i = 0; i < n; i++)
		json_object_set_new(o, fields[i].name, number(ctl_get(at + fields[i].at, fields[i].bytes)));
	return o;
}

/*
 * A log of entries as JSON: `list` gets an object for each entry and is put into `o` when it is
 * complete.
 */
struct listing {
	struct ctl_log log;
	struct ctl_entries e;
	json_t *o, *list;
};

static int open_listing(struct ctl *c, uint32_t id, uint32_t need, struct listing *l)
{
	int result = ctl_entries(c, id, need, &l->log, &l->e);

	if (result)
		return result;
	l->o = json_object();
	l->list = json_array();
	json_object_set_new(l->o, "at_ns", number(l->log.at_ns));
	return 0;
}

static int print_listing(struct listing *l, const char *name)
{
	json_object_set_new(l->o, name, l->list);
	ctl_free(&l->log);
	return json_print(l->o);
}

int json_latency(struct ctl *c, char **words)
{
	static const struct field fields[] = { { "from_ns", 8, 8 }, { "ios", 24, 8 } };
	struct listing l;
	int result = open_listing(c, SLATE_LOG_LATENCY, sizeof(struct slate_latency_entry), &l);

	(void)words;
	if (result)
		return result;
	json_object_set_new(l.o, "since_ns", number(l.log.since_ns));
	for (uint32_t i = 0; i < l.e.count; i++) {
		const unsigned char *at = l.e.at + (size_t)i * l.e.bytes;
		uint64_t op = ctl_get(at, 4), below = ctl_get(at + 16, 8);
		json_t *entry = entry_object(at, fields, 2), *causes = json_object();

		json_object_set_new(entry, "op", json_string(op < SLATE_WIRE_OPS ? ctl_op_names[op] : "?"));
		json_object_set_new(entry, "below_ns", below == UINT64_MAX ? json_null() : number(below));
		for (uint32_t k = 0; k < SLATE_WIRE_CAUSES && k < l.e.word; k++)
			json_object_set_new(causes, ctl_cause_names[k], number(ctl_get(at + 32 + 8 * (size_t)k, 8)));
		json_object_set_new(entry, "cause_ns", causes);
		json_array_append_new(l.list, entry);
	}
	return print_listing(&l, "buckets");
}

int json_blocks(struct ctl *c, char **words)
{
	static const struct field fields[] = {
		{ "channel", 0, 4 }, { "chip", 4, 4 }, { "die", 8, 4 }, { "plane", 12, 4 }, { "blocks", 16, 4 },
		{ "used", 20, 4 }, { "free", 24, 4 }, { "open", 28, 4 }, { "full", 32, 4 }, { "victim", 36, 4 },
		{ "bad", 40, 4 }, { "erases_min", 44, 4 }, { "erases_max", 48, 4 }, { "erases_sum", 56, 8 },
		{ "valid_units", 64, 8 },
	};
	struct listing l;
	int result = open_listing(c, SLATE_LOG_BLOCKS, sizeof(struct slate_plane_entry), &l);

	(void)words;
	if (result)
		return result;
	json_object_set_new(l.o, "units_per_block", number(l.e.word));
	for (uint32_t i = 0; i < l.e.count; i++)
		json_array_append_new(l.list, entry_object(l.e.at + (size_t)i * l.e.bytes, fields,
							 sizeof(fields) / sizeof(fields[0])));
	return print_listing(&l, "planes");
}

int json_wear(struct ctl *c, char **words)
{
	struct listing l;
	int result = open_listing(c, SLATE_LOG_WEAR, sizeof(struct slate_wear_entry), &l);

	(void)words;
	if (result)
		return result;
	json_object_set_new(l.o, "blocks_per_plane", number(l.e.word));
	for (uint32_t i = 0; i < l.e.count; i++) {
		const unsigned char *at = l.e.at + (size_t)i * l.e.bytes;
		uint64_t valid = ctl_get(at + 4, 4), state = at[8];
		json_t *block = json_object();

		json_object_set_new(block, "erases", number(ctl_get(at, 4)));
		json_object_set_new(block, "valid_units", valid == SLATE_NOT_TOLD ? json_null() : number(valid));
		json_object_set_new(block, "state",
				    json_string(state < SLATE_BLOCK_STATES ? ctl_state_names[state] : "?"));
		json_array_append_new(l.list, block);
	}
	return print_listing(&l, "blocks");
}

int json_faults(struct ctl *c, char **words)
{
	static const char *const kinds[] = { "?", "program", "erase", "flip" };
	static const struct field fields[] = {
		{ "left", 8, 8 }, { "ppn", 16, 4 }, { "bits", 20, 4 }, { "hits", 24, 4 },
	};
	struct listing l;
	int result = open_listing(c, SLATE_LOG_FAULTS, sizeof(struct slate_fault_entry), &l);

	(void)words;
	if (result)
		return result;
	json_object_set_new(l.o, "room", number(l.e.word));
	for (uint32_t i = 0; i < l.e.count; i++) {
		const unsigned char *at = l.e.at + (size_t)i * l.e.bytes;
		uint64_t kind = ctl_get(at, 4), die = ctl_get(at + 4, 4);
		json_t *entry = entry_object(at, fields, sizeof(fields) / sizeof(fields[0]));

		json_object_set_new(entry, "kind", json_string(kinds[kind <= SLATE_FAULT_FLIP ? kind : 0]));
		json_object_set_new(entry, "die", die == SLATE_ANY_DIE ? json_null() : number(die));
		json_array_append_new(l.list, entry);
	}
	return print_listing(&l, "faults");
}
