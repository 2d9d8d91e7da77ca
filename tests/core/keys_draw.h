/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * keys_draw.h - draws values of an FTL's keys from its knob tables: no key has a name here. A drive begins with the
 * settings of a base, which has the abilities that keys need, and some keys get a drawn value.
 */
#ifndef SLATE_TEST_KEYS_DRAW_H
#define SLATE_TEST_KEYS_DRAW_H

#include "controller.h"
#include "gc_policy.h"
#include "knob.h"
#include "test.h"

#define SETTINGS_MAX 64u
#define SETTING_BYTES 64u
#define KEYS_MAX 128u

struct settings {
	const char *list[SETTINGS_MAX];	/* NULL-terminated, as slate_open() takes it */
	char text[SETTINGS_MAX][SETTING_BYTES];
	uint32_t count, drawn;		/* the settings from `drawn` on are drawn */
	uint32_t type;			/* the setting of ftl.type */
};

/* The keys of an FTL: those of all FTLs, its own, and the controller's. */
struct keys {
	const struct ftl_ops *ops;
	const struct knob *knob[KEYS_MAX];
	const char *section[KEYS_MAX];
	uint32_t count;
};

static inline void keys_add(struct keys *k, const struct knob_table *t)
{
	for (const struct knob *row = t->knobs; row->name; row++) {
		SSD_ASSERT(k->count < KEYS_MAX);
		k->knob[k->count] = row;
		k->section[k->count++] = t->section;
	}
}

static inline void keys_of(struct keys *k, const struct ftl_ops *ops)
{
	*k = (struct keys){ .ops = ops };
	keys_add(k, &ftl_common_knobs);
	for (const struct knob_table *const *t = ops->knobs; t && *t; t++)
		keys_add(k, *t);
	keys_add(k, &controller_knobs);
}

/* Returns the number of values that have names, or 0 for a number. */
static inline uint32_t names_of(const struct knob *k)
{
	uint32_t n = 0;

	if (k->type == KNOB_GC_POLICY)
		while (gc_policies[n])
			n++;
	else if (k->type == KNOB_CHOICE || k->type == KNOB_BOOL || k->type == KNOB_NOT)
		while (k->names[n])
			n++;
	return n;
}

static inline const char *name_of(const struct knob *k, uint32_t i)
{
	return k->type == KNOB_GC_POLICY ? gc_policies[i]->name : k->names[i];
}

/* Numbers are near the lowest, the default or a power of two, or any. */
static inline uint64_t draw_number(const struct knob *k, uint64_t *rng)
{
	uint64_t near = strtoull(k->fallback, NULL, 10), v;

	switch (rnd(rng) % 4) {
	case 0:
		v = k->low + rnd(rng) % 4;
		break;
	case 1:
		v = near + rnd(rng) % 8;
		break;
	case 2:
		v = (uint64_t)1 << rnd(rng) % (strstr(k->name, "_ns") ? 30 : 20);
		break;
	default:
		v = k->low + rnd(rng) % (k->high < 2000 ? k->high - k->low + 1 : 200);
	}
	return v < k->low ? k->low : v > k->high ? k->high : v;
}

/* Write "section.key=value" with a drawn value. */
static inline void draw_setting(const struct keys *k, uint32_t i, uint64_t *rng, char out[SETTING_BYTES])
{
	const struct knob *row = k->knob[i];
	uint32_t names = names_of(row);

	if (names)
		snprintf(out, SETTING_BYTES, "%s.%s=%s", k->section[i], row->name,
			 name_of(row, (uint32_t)(rnd(rng) % names)));
	else
		snprintf(out, SETTING_BYTES, "%s.%s=%" PRIu64, k->section[i], row->name, draw_number(row, rng));
}

static inline char *add_setting(struct settings *s)
{
	SSD_ASSERT(s->count + 1 < SETTINGS_MAX);
	s->list[s->count] = s->text[s->count];
	s->list[s->count + 1] = NULL;
	return s->text[s->count++];
}

static inline void begin_settings(struct settings *s, const char *const *base)
{
	s->count = 0;
	for (; *base; base++) {
		if (!strncmp(*base, "ftl.type=", 9))
			s->type = s->count;
		snprintf(add_setting(s), SETTING_BYTES, "%s", *base);
	}
}

#endif
