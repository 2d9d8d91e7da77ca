// SPDX-License-Identifier: GPL-2.0-or-later
/* profile.c - see profile.h. INI syntax is libinih's. */
#include "profile.h"

#include <errno.h>
#include <ini.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "blk.h"
#include "oob.h"

enum type { T_U32, T_U64, T_BOOL, T_GC_MODE, T_GC_POLICY, T_FTL, T_NAME };

struct key {
	const char *section, *name;
	enum type type;
	size_t at;			/* offset in struct profile */
	uint64_t low, high;
	const char *fallback;		/* NULL: must be given */
};

#define AT(field) offsetof(struct profile, field)
#define G(n, lo, hi, d) { "geometry", #n, T_U32, AT(array.geo.n), lo, hi, d }
#define T(n, lo, hi, d) { "timing", #n, T_U32, AT(array.timing.n), lo, hi, d }
#define F(n, lo, hi, d) { "ftl", #n, T_U32, AT(ftl.n), lo, hi, d }

static const struct key keys[] = {
	{ "drive", "name", T_NAME, AT(name), 0, 0, "" },
	G(channels, 1, 64, NULL),
	G(chips_per_channel, 1, 64, NULL),
	G(dies_per_chip, 1, 16, NULL),
	G(planes_per_die, 1, 8, NULL),
	G(blocks_per_plane, 4, 1 << 20, NULL),
	G(pages_per_block, 2, 65536, NULL),
	G(page_bytes, 512, 65536, NULL),
	G(oob_bytes, 16, 65536, NULL),
	T(cmd_ns, 0, 1000000000, "0"),
	T(read_ns, 1, 1000000000, NULL),
	T(program_ns, 1, 1000000000, NULL),
	T(erase_ns, 1, 4000000000, NULL),
	T(bus_ps_per_byte, 0, 1000000000, NULL),
	{ "ftl", "type", T_FTL, AT(ops), 0, 0, "page" },
	F(unit_bytes, 512, 16384, "4096"),
	{ "ftl", "capacity_mib", T_U64, AT(capacity_mib), 0, 1 << 22, "0" },
	{ "ftl", "op_permille", T_U64, AT(op_permille), 0, 10000, "125" },
	F(buffer_units, 0, 1 << 22, "1024"),
	F(gc_start_blocks, 2, 1 << 20, "5"),
	F(gc_stop_blocks, 2, 1 << 20, "6"),
	F(gc_urgent_blocks, 1, 1 << 20, "2"),
	{ "ftl", "gc_mode", T_GC_MODE, AT(ftl.gc_mode), 0, 0, "sliced" },
	F(gc_slice_pages, 1, 65536, "4"),
	{ "ftl", "gc_policy", T_GC_POLICY, AT(ftl.gc_policy), 0, 0, "greedy" },
	{ "ftl", "multiplane", T_BOOL, AT(ftl.multiplane), 0, 1, "yes" },
	{ "ftl", "payload", T_BOOL, AT(ftl.payload), 0, 1, "yes" },
	F(map_ns, 0, 1000000000, "200"),
	F(buffer_ns, 0, 1000000000, "2000"),
	F(overhead_ns, 0, 1000000000, "1000"),
	F(max_unit_reads, 8, 1 << 22, "4096"),
	{ "reliability", "factory_bad_permille", T_U64, AT(factory_bad_permille), 0, 500, "0" },
	{ "reliability", "seed", T_U64, AT(bad_seed), 0, UINT64_MAX, "1" },
	{ "precondition", "fill_permille", T_U64, AT(fill_permille), 0, 1000, "0" },
	{ "precondition", "age_permille", T_U64, AT(age_permille), 0, 100000, "0" },
	{ "precondition", "seed", T_U64, AT(precondition_seed), 0, UINT64_MAX, "1" },
	{ "memory", "overcommit", T_BOOL, AT(overcommit), 0, 1, "no" },
};

#define KEYS (sizeof(keys) / sizeof(keys[0]))

static const struct gc_policy *const policies[] = { &gc_greedy, NULL };

struct parse {
	struct profile *p;
	const char *where;	/* file or "override" */
	int line;
	bool given[KEYS];
	char *err;
	int result;
};

__attribute__((format(printf, 2, 3)))
static void complain(struct parse *s, const char *fmt, ...)
{
	va_list ap;

	if (s->result)
		return;		/* the first complaint counts */
	s->result = SSD_E_INVAL;
	va_start(ap, fmt);
	vsnprintf(s->err, SLATE_ERR_BYTES, fmt, ap);
	va_end(ap);
}

static bool parse_number(const char *text, uint64_t *out)
{
	char *end;

	if (text[0] < '0' || text[0] > '9')
		return false;
	errno = 0;
	*out = strtoull(text, &end, 10);
	return !errno && !*end;
}

static const char *const yes_no[] = { "no", "yes", NULL };
static const char *const gc_modes[] = { "blocking", "sliced", NULL };

static int choice(const char *const *names, const char *text)
{
	for (int i = 0; names[i]; i++)
		if (!strcmp(names[i], text))
			return i;
	return -1;
}

static void set_number(struct parse *s, const struct key *k, const char *text)
{
	char *field = (char *)s->p + k->at;
	uint64_t v;

	if (!parse_number(text, &v) || v < k->low || v > k->high) {
		complain(s, "%s: %s.%s = '%s': must be a whole number, %llu .. %llu", s->where,
			 k->section, k->name, text, (unsigned long long)k->low,
			 (unsigned long long)k->high);
		return;
	}
	if (k->type == T_U32)
		*(uint32_t *)field = (uint32_t)v;
	else
		*(uint64_t *)field = v;
}

static void set_value(struct parse *s, const struct key *k, const char *text)
{
	char *field = (char *)s->p + k->at;
	int i;

	switch (k->type) {
	case T_U32:
	case T_U64:
		set_number(s, k, text);
		return;
	case T_BOOL:
		i = choice(yes_no, text);
		if (i < 0)
			complain(s, "%s: %s.%s = '%s': must be yes or no", s->where, k->section,
				 k->name, text);
		*(bool *)field = i == 1;
		return;
	case T_GC_MODE:
		i = choice(gc_modes, text);
		if (i < 0)
			complain(s, "%s: %s.%s = '%s': must be blocking or sliced", s->where,
				 k->section, k->name, text);
		*(enum ftl_gc_mode *)field = i == 1 ? FTL_GC_SLICED : FTL_GC_BLOCKING;
		return;
	case T_GC_POLICY:
		for (i = 0; policies[i] && strcmp(policies[i]->name, text); i++)
			;
		if (!policies[i])
			complain(s, "%s: %s.%s = '%s': must be greedy", s->where, k->section,
				 k->name, text);
		*(const struct gc_policy **)field = policies[i];
		return;
	case T_FTL:
		for (i = 0; ftl_list[i] && strcmp(ftl_list[i]->name, text); i++)
			;
		if (!ftl_list[i])
			complain(s, "%s: %s.%s = '%s': must be page", s->where, k->section,
				 k->name, text);
		*(const struct ftl_ops **)field = ftl_list[i];
		return;
	case T_NAME:
		if (strlen(text) >= PROFILE_NAME_BYTES)
			complain(s, "%s: %s.%s: at most %d characters", s->where, k->section,
				 k->name, PROFILE_NAME_BYTES - 1);
		else
			strcpy(field, text);
		return;
	}
}

static const struct key *find_key(const char *section, const char *name)
{
	for (size_t i = 0; i < KEYS; i++)
		if (!strcmp(keys[i].section, section) && !strcmp(keys[i].name, name))
			return &keys[i];
	return NULL;
}

static void unknown_key(struct parse *s, const char *section, const char *name)
{
	char known[256] = "";
	size_t used = 0;

	for (size_t i = 0; i < KEYS; i++)
		if (!strcmp(keys[i].section, section) && used < sizeof(known) - 32)
			used += (size_t)snprintf(known + used, sizeof(known) - used, " %s",
						 keys[i].name);
	if (*known)
		complain(s, "%s: no such key: %s.%s; [%s] has:%s", s->where, section, name, section,
			 known);
	else
		complain(s, "%s: no such section: [%s] (key %s); there are drive, geometry, timing, "
			 "ftl, reliability, precondition, memory", s->where, section, name);
}

static int on_key(void *opaque, const char *section, const char *name, const char *value)
{
	struct parse *s = opaque;
	const struct key *k = find_key(section, name);

	if (!k) {
		unknown_key(s, section, name);
		return 0;
	}
	if (s->given[k - keys]) {
		complain(s, "%s: %s.%s is given twice; keep one", s->where, section, name);
		return 0;
	}
	s->given[k - keys] = true;
	set_value(s, k, value);
	return s->result == 0;
}

static void read_file(struct parse *s, const char *path)
{
	FILE *in = fopen(path, "r");
	struct stat st;
	int line;

	if (!in) {
		complain(s, "profile %s: %s; give the path of a drive's .ini file", path,
			 strerror(errno));
		return;
	}
	if (!fstat(fileno(in), &st) && S_ISDIR(st.st_mode)) {
		complain(s, "profile %s: is a directory; give the path of a drive's .ini file", path);
		fclose(in);
		return;
	}
	line = ini_parse_file(in, on_key, s);
	fclose(in);
	if (line > 0 && s->result) {	/* add the line to what on_key said */
		char text[SLATE_ERR_BYTES];

		snprintf(text, sizeof(text), "%s",
			 strlen(s->err) > strlen(path) ? s->err + strlen(path) : ": a key is wrong");
		snprintf(s->err, SLATE_ERR_BYTES, "%.200s:%d%.290s", path, line, text);
	} else if (line > 0) {
		complain(s, "%s:%d: not an INI line; expected [section], key = value or ; comment",
			 path, line);
	} else if (line < 0) {
		complain(s, "profile %s: cannot be read; give the path of a drive's .ini file", path);
	}
}

static void read_override(struct parse *s, const char *text)
{
	char section[64], name[64];
	const char *eq = strchr(text, '='), *dot = strchr(text, '.');
	const struct key *k;

	s->where = "override";
	if (!eq || !dot || dot > eq || dot == text || dot - text >= 64 || eq - dot > 64) {
		complain(s, "override '%s': write it as section.key=value, "
			 "for instance ftl.gc_mode=blocking", text);
		return;
	}
	snprintf(section, sizeof(section), "%.*s", (int)(dot - text), text);
	snprintf(name, sizeof(name), "%.*s", (int)(eq - dot - 1), dot + 1);
	k = find_key(section, name);
	if (!k) {
		unknown_key(s, section, name);
		return;
	}
	s->given[k - keys] = true;
	set_value(s, k, eq + 1);
}

static void defaults(struct parse *s, const char *path)
{
	for (size_t i = 0; i < KEYS; i++) {
		if (s->given[i])
			continue;
		if (!keys[i].fallback)
			complain(s, "%s: %s.%s is missing; add it to [%s], %llu .. %llu", path,
				 keys[i].section, keys[i].name, keys[i].section,
				 (unsigned long long)keys[i].low, (unsigned long long)keys[i].high);
		else
			set_value(s, &keys[i], keys[i].fallback);
	}
}

static void name_after_file(struct profile *p, const char *path)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	size_t len = strcspn(base, ".");

	if (!*p->name)
		snprintf(p->name, sizeof(p->name), "%.*s",
			 (int)(len < PROFILE_NAME_BYTES ? len : PROFILE_NAME_BYTES - 1), base);
}

/* What follows from the keys together. */
static void derive(struct parse *s, const char *path)
{
	struct profile *p = s->p;
	struct nand_geometry *g = &p->array.geo;
	uint64_t raw, pages = 1;
	const char *why;
	const uint32_t parts[] = { g->channels, g->chips_per_channel, g->dies_per_chip,
				   g->planes_per_die, g->blocks_per_plane, g->pages_per_block };

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		pages *= parts[i];
		if (pages >= 1ull << 31) {
			complain(s, "%s: [geometry]: the array may have at most 2^31 pages; use fewer "
				 "or larger pages", path);
			return;
		}
	}
	raw = pages * g->page_bytes;
	g->ecc_word_bytes = g->page_bytes;
	g->erase_group_max = 1;
	g->bits_per_cell = 1;
	p->array.physics.disturb_tolerance = 255;
	if (p->capacity_mib) {
		p->ftl.capacity_bytes = p->capacity_mib << 20;
	} else {
		p->ftl.capacity_bytes = raw * 1000 / (1000 + p->op_permille);
		p->ftl.capacity_bytes -= p->ftl.capacity_bytes % p->ftl.unit_bytes;
	}
	if (p->ops->validate(&p->ftl, g, &why)) {
		complain(s, "%s: [ftl] %s (exported %llu MiB of %llu MiB raw)", path, why,
			 (unsigned long long)(p->ftl.capacity_bytes >> 20),
			 (unsigned long long)(raw >> 20));
		return;
	}
	g->oob_kept = OOB_BYTES(g->page_bytes / p->ftl.unit_bytes);
	p->array.payload = p->ftl.payload;
	if (nand_array_validate(&p->array, &why))
		complain(s, "%s: [geometry] %s", path, why);
}

int profile_load(struct profile *p, const char *path, const char *const *overrides,
		 char err[SLATE_ERR_BYTES])
{
	struct parse s = { .p = p, .where = path, .err = err };

	memset(p, 0, sizeof(*p));
	*err = 0;
	if (path)
		read_file(&s, path);
	else
		path = s.where = "drive file";
	for (size_t i = 0; overrides && overrides[i] && !s.result; i++)
		read_override(&s, overrides[i]);
	if (!s.result)
		defaults(&s, path);
	if (!s.result) {
		name_after_file(p, path);
		derive(&s, path);
	}
	return s.result;
}

static void print_value(const struct profile *p, const struct key *k, char *out, size_t room)
{
	const char *field = (const char *)p + k->at;

	switch (k->type) {
	case T_U32:
		snprintf(out, room, "%u", *(const uint32_t *)field);
		return;
	case T_U64:
		snprintf(out, room, "%llu", (unsigned long long)*(const uint64_t *)field);
		return;
	case T_BOOL:
		snprintf(out, room, "%s", yes_no[*(const bool *)field]);
		return;
	case T_GC_MODE:
		snprintf(out, room, "%s", gc_modes[*(const enum ftl_gc_mode *)field == FTL_GC_SLICED]);
		return;
	case T_GC_POLICY:
		snprintf(out, room, "%s", (*(const struct gc_policy *const *)field)->name);
		return;
	case T_FTL:
		snprintf(out, room, "%s", (*(const struct ftl_ops *const *)field)->name);
		return;
	case T_NAME:
		snprintf(out, room, "%s", field);
		return;
	}
}

size_t profile_print(const struct profile *p, char *out, size_t room)
{
	size_t used = 0;

	for (size_t i = 0; i < KEYS; i++) {
		char value[96];

		print_value(p, &keys[i], value, sizeof(value));
		used += (size_t)snprintf(out && used < room ? out + used : NULL,
					 out && used < room ? room - used : 0, "%s.%s=%s\n",
					 keys[i].section, keys[i].name, value);
	}
	return used;
}
