// SPDX-License-Identifier: GPL-2.0-or-later
/* profile_keys.c - see profile_keys.h. */
#include "profile_keys.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "closest.h"
#include "controller.h"
#include "gc_policy.h"

/* ---- the list ------------------------------------------------------------ */

static struct profile_key *keys;	/* made once, by the first call */
static size_t key_count;
static pthread_once_t keys_listed = PTHREAD_ONCE_INIT;

/* List a table's keys. base: offset in struct profile of the struct that the table describes. */
static void list_table(const struct knob_table *t, size_t base, bool of_some)
{
	struct profile_key *more;
	size_t rows = 0;

	while (t->knobs[rows].name)
		rows++;
	more = realloc(keys, (key_count + rows) * sizeof(*keys));
	SSD_ASSERT(more);
	keys = more;
	for (const struct knob *k = t->knobs; k->name; k++) {
		keys[key_count] = (struct profile_key){
			.section = t->section, .knob = k, .at = base + k->at, .index = key_count,
			.of_some = of_some ? t : NULL,
		};
		key_count++;
	}
}

static bool has_table(const struct ftl_ops *ops, const struct knob_table *t)
{
	const struct knob_table *const *of = ops->knobs;

	while (of && *of && *of != t)
		of++;
	return of && *of;
}

static bool is_listed(const struct knob_table *t)
{
	size_t i = 0;

	while (i < key_count && keys[i].of_some != t)
		i++;
	return i < key_count;
}

static void list_ftls(void)
{
	for (size_t i = 0; ftl_list[i]; i++)
		for (const struct knob_table *const *t = ftl_list[i]->knobs; t && *t; t++)
			if (!is_listed(*t))
				list_table(*t, offsetof(struct profile, ftl), true);
}

static void list_keys(void)
{
	const size_t array = offsetof(struct profile, array), ftl = offsetof(struct profile, ftl);

	list_table(&profile_drive_keys, 0, false);
	list_table(&nand_geometry_knobs, array, false);
	list_table(&nand_timing_knobs, array, false);
	list_table(&nand_energy_knobs, array, false);
	list_table(&profile_link_keys, 0, false);
	list_table(&controller_knobs, ftl, false);
	list_table(&profile_type_keys, 0, false);
	list_table(&ftl_common_knobs, ftl, false);
	list_table(&profile_capacity_keys, 0, false);
	list_ftls();
	list_table(&nand_physics_knobs, array, false);
	list_table(&profile_reliability_keys, 0, false);
	list_table(&profile_precondition_keys, 0, false);
	list_table(&profile_memory_keys, 0, false);
}

size_t profile_key_count(void)
{
	pthread_once(&keys_listed, list_keys);
	return key_count;
}

const struct profile_key *profile_key_at(size_t i)
{
	SSD_ASSERT(i < profile_key_count());
	return &keys[i];
}

const struct profile_key *profile_key_find(const char *section, const char *name)
{
	const size_t count = profile_key_count();
	const char *last = NULL;
	bool here = false;		/* `last`, the section of the previous key, is the one looked for */

	for (size_t i = 0; i < count; i++) {
		if (keys[i].section != last)
			here = !strcmp(keys[i].section, section);
		last = keys[i].section;
		if (here && !strcmp(keys[i].knob->name, name))
			return &keys[i];
	}
	return NULL;
}

const char *profile_key_meant(const char *name, char *out, size_t room)
{
	struct closest near = { .word = name };
	size_t used = 0;

	for (size_t i = 0; i < profile_key_count() && *name; i++)
		closest_see(&near, keys[i].knob->name);
	*out = '\0';
	for (size_t i = 0; i < profile_key_count() && near.best; i++)
		if (!strcmp(keys[i].knob->name, near.best) && used < room)
			used += (size_t)snprintf(out + used, room - used, "%s%s.%s",
						 used ? " or " : "; did you mean ",
						 keys[i].section, near.best);
	if (used && used < room)
		snprintf(out + used, room - used, "?");
	return out;
}

/* ---- the FTLs that have a key -------------------------------------------- */

bool profile_key_is_foreign(const struct profile_key *k, const struct ftl_ops *ops)
{
	return ops && k->of_some && !has_table(ops, k->of_some);
}

const char *profile_key_owners(const struct profile_key *k, char *out, size_t room)
{
	size_t used = 0;

	*out = '\0';
	for (size_t i = 0; ftl_list[i] && k->of_some; i++)
		if (has_table(ftl_list[i], k->of_some) && used < room)
			used += (size_t)snprintf(out + used, room - used, "%s%s", used ? ", " : "",
						 ftl_list[i]->name);
	return out;
}

static unsigned int list_max(const struct profile_key *k)
{
	return k->knob->type == KNOB_BY_TYPE ? NAND_TYPES_MAX : NAND_PB_LEVELS_MAX + 1;
}

/* ---- the valid values of a key ------------------------------------------ */

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
	unsigned long long low = k->knob->low, high = k->knob->high;

	switch (k->knob->type) {
	case KNOB_U32:
	case KNOB_U64:
		snprintf(out, room, "a whole number, %llu .. %llu", low, high);
		return;
	case KNOB_BY_TYPE:
	case KNOB_BY_LEVEL:
		snprintf(out, room, "a whole number, %llu .. %llu, or up to %u with commas between",
			 low, high, list_max(k));
		return;
	case KNOB_COEFFICIENT:
		snprintf(out, room, "a decimal, 0 or 1e-30 .. 1, such as 1.48e-3");
		return;
	case KNOB_EXPONENT:
		snprintf(out, room, "a decimal, 0 .. 8, such as 0.54");
		return;
	case KNOB_BOOL:
	case KNOB_NOT:
		snprintf(out, room, "%s or %s", k->knob->names[1], k->knob->names[0]);
		return;
	case KNOB_CHOICE:
		names_range(k->knob->names, out, room);
		return;
	case KNOB_TOLERANCE:
		snprintf(out, room, "a whole number, %llu .. %llu, or off", low, high);
		return;
	case KNOB_GC_POLICY:
		*out = 0;
		for (size_t i = 0; gc_policies[i]; i++)
			add_name(out, room, gc_policies[i]->name, i && !gc_policies[i + 1]);
		return;
	case KNOB_FTL:
		ftl_range(out, room);
		return;
	case KNOB_NAME:
		snprintf(out, room, "at most %d characters, without control characters",
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

/* Reads digits at *text and moves *text behind them. */
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
	return take_number(&text, out) && !*text && *out >= k->knob->low && *out <= k->knob->high;
}

static unsigned int set_list(const struct profile_key *k, uint32_t *values, const char *text)
{
	unsigned int count = 0;

	for (;; text++) {
		uint64_t v;

		text += strspn(text, " \t");
		if (count == list_max(k) || !take_number(&text, &v) || v < k->knob->low || v > k->knob->high)
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
	if (k->knob->type == KNOB_EXPONENT)
		return *out <= 8;
	return *out == 0 || (*out >= 1e-30 && *out <= 1);
}

static bool set_choice(const struct profile_key *k, void *field, const char *text)
{
	unsigned int i = 0;

	while (k->knob->names[i] && strcmp(k->knob->names[i], text))
		i++;
	if (!k->knob->names[i])
		return false;
	if (k->knob->type == KNOB_CHOICE)
		*(unsigned int *)field = i;
	else
		*(bool *)field = i == (k->knob->type == KNOB_BOOL);
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

	switch (k->knob->type) {
	case KNOB_U32:
		good = get_number(k, text, &v);
		*(uint32_t *)field = (uint32_t)v;
		break;
	case KNOB_U64:
		good = get_number(k, text, &v);
		*(uint64_t *)field = v;
		break;
	case KNOB_BY_TYPE:
	case KNOB_BY_LEVEL:
		count = set_list(k, field, text);
		good = count;
		break;
	case KNOB_COEFFICIENT:
	case KNOB_EXPONENT:
		good = get_decimal(k, text, field);
		break;
	case KNOB_BOOL:
	case KNOB_NOT:
	case KNOB_CHOICE:
		good = set_choice(k, field, text);
		break;
	case KNOB_TOLERANCE:
		v = KNOB_NEVER;
		good = !strcmp(text, "off") || get_number(k, text, &v);
		*(uint32_t *)field = (uint32_t)v;
		break;
	case KNOB_GC_POLICY:
		good = set_gc_policy(field, text);
		break;
	case KNOB_FTL:
		good = set_ftl(p, text);
		break;
	case KNOB_NAME:
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

	switch (k->knob->type) {
	case KNOB_TOLERANCE:
		if (*(const uint32_t *)field == KNOB_NEVER) {
			snprintf(out, room, "off");
			return;
		}
		/* fall through */
	case KNOB_U32:
		snprintf(out, room, "%u", *(const uint32_t *)field);
		return;
	case KNOB_U64:
		snprintf(out, room, "%llu", (unsigned long long)*(const uint64_t *)field);
		return;
	case KNOB_BY_TYPE:
	case KNOB_BY_LEVEL:
		print_list(field, count, out, room);
		return;
	case KNOB_COEFFICIENT:
	case KNOB_EXPONENT:
		snprintf(out, room, "%.15g", *(const double *)field);
		return;
	case KNOB_BOOL:
	case KNOB_NOT:
		snprintf(out, room, "%s", k->knob->names[*(const bool *)field == (k->knob->type == KNOB_BOOL)]);
		return;
	case KNOB_CHOICE:
		snprintf(out, room, "%s", k->knob->names[*(const unsigned int *)field]);
		return;
	case KNOB_GC_POLICY:
		snprintf(out, room, "%s", (*(const struct gc_policy *const *)field)->name);
		return;
	case KNOB_FTL:
		snprintf(out, room, "%s", p->ftl_type);
		return;
	case KNOB_NAME:
		snprintf(out, room, "%s", (const char *)field);
		return;
	}
}
