// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * odd_keys.c - tests that test_odd draws every key of the FTLs. Over a run of the whole table of test_odd, each key in
 * an FTL's knob tables must have two values, and each GC policy must be used. So a new key or policy cannot be
 * forgotten.
 */
#include "gc_policy.h"
#include "odd.h"

#define KEYS_MAX 128u
#define POLICIES_MAX 32u

struct key {
	const char *name;
	uint64_t value;
	bool varies;
};

/* Keys that other tests draw, because test_odd does not check what they change. */
static const char *const elsewhere[] = {
	"metadata_bytes",	/* test_metadata.c */
	NULL
};

static struct key keys[KEYS_MAX];
static uint32_t count;
static bool chosen[POLICIES_MAX];

static uint64_t value_of(const struct knob *k, const struct ftl_config *c)
{
	const uint8_t *at = (const uint8_t *)c + k->at;

	switch (k->type) {
	case KNOB_U64:
		return *(const uint64_t *)(const void *)at;
	case KNOB_GC_POLICY:
		return (uintptr_t)*(const void *const *)(const void *)at;
	case KNOB_BOOL:
	case KNOB_NOT:
		return *(const bool *)at;
	default:
		return *(const uint32_t *)(const void *)at;
	}
}

static void note(const struct knob *k, const struct ftl_config *c)
{
	uint64_t value = value_of(k, c);
	uint32_t i = 0;

	while (i < count && strcmp(keys[i].name, k->name))
		i++;
	SSD_ASSERT(i < KEYS_MAX);
	if (i == count)
		keys[count++] = (struct key){ .name = k->name, .value = value };
	keys[i].varies |= keys[i].value != value;
}

void odd_note_keys(const struct odd *o)
{
	for (const struct knob_table *const *t = o->ops->knobs; *t; t++)
		for (const struct knob *k = (*t)->knobs; k->name; k++)
			note(k, &o->fc);
	for (uint32_t i = 0; gc_policies[i]; i++)
		chosen[i] |= o->fc.gc_policy == gc_policies[i];
}

void odd_keys_are_drawn(void)
{
	for (uint32_t i = 0; i < count; i++) {
		bool named = false;

		for (uint32_t j = 0; elsewhere[j]; j++)
			named |= !strcmp(elsewhere[j], keys[i].name);
		if (keys[i].varies == named) {
			printf("%s: %s\n", keys[i].name,
			       named ? "is drawn: take it off the list" : "no two values were drawn");
			failures++;
		}
	}
	for (uint32_t i = 0; gc_policies[i]; i++)
		if (!chosen[i]) {
			printf("gc_policy %s was not drawn\n", gc_policies[i]->name);
			failures++;
		}
}
