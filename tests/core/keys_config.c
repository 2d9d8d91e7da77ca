// SPDX-License-Identifier: GPL-2.0-or-later
/* keys_config.c - see keys_config.h */
#include "keys_config.h"

#define POLICIES_MAX 32u
#define TRIES 8u

static uint64_t get(const struct knob *k, const struct ftl_config *c)
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

static void set(const struct knob *k, struct ftl_config *c, uint64_t value)
{
	uint8_t *at = (uint8_t *)c + k->at;

	switch (k->type) {
	case KNOB_U64:
		*(uint64_t *)(void *)at = value;
		break;
	case KNOB_GC_POLICY:
		*(const void **)(void *)at = (const void *)(uintptr_t)value;
		break;
	case KNOB_BOOL:
	case KNOB_NOT:
		*(bool *)at = value;
		break;
	default:
		*(uint32_t *)(void *)at = (uint32_t)value;
	}
}

static uint64_t draw(const struct knob *k, uint64_t *rng)
{
	uint32_t names = names_of(k);

	if (k->type == KNOB_GC_POLICY)
		return (uintptr_t)gc_policies[rnd(rng) % names];
	return names ? rnd(rng) % names : draw_number(k, rng);
}

static bool is_in(const char *const *names, const char *name)
{
	for (; names && *names; names++)
		if (!strcmp(*names, name))
			return true;
	return false;
}

bool keys_redraw(const struct keys_into *into, uint32_t i)
{
	const struct knob *k = into->keys.knob[i];
	uint64_t before = get(k, into->c);

	for (uint32_t tries = is_in(into->fixed, k->name) ? TRIES : 0; tries < TRIES; tries++) {
		set(k, into->c, draw(k, into->rng));
		if (get(k, into->c) != before && into->accepts(into->drive))
			return true;
	}
	set(k, into->c, before);
	return false;
}

void keys_print_changes(const struct ftl_ops *ops, const struct ftl_config *before, const struct ftl_config *after)
{
	struct keys keys;

	keys_of(&keys, ops);
	for (uint32_t i = 0; i < keys.count; i++) {
		const struct knob *k = keys.knob[i];

		if (get(k, before) == get(k, after))
			continue;
		if (k->type == KNOB_GC_POLICY)
			printf(" %s=%s", k->name, after->gc_policy->name);
		else if (names_of(k))
			printf(" %s=%s", k->name, name_of(k, (uint32_t)get(k, after)));
		else
			printf(" %s=%" PRIu64, k->name, get(k, after));
	}
	printf("\n");
}

/* ---- the keys that were drawn ----------------------------------------------------- */

static struct key {
	const char *name;
	uint64_t value;
	bool varies;
} noted[KEYS_MAX];
static uint32_t count;
static bool chosen[POLICIES_MAX];

void keys_note(const struct ftl_ops *ops, const struct ftl_config *c)
{
	struct keys keys;

	keys_of(&keys, ops);
	for (uint32_t n = 0; n < keys.count; n++) {
		const struct knob *k = keys.knob[n];
		uint32_t i = 0;

		while (i < count && strcmp(noted[i].name, k->name))
			i++;
		SSD_ASSERT(i < KEYS_MAX);
		if (i == count)
			noted[count++] = (struct key){ .name = k->name, .value = get(k, c) };
		noted[i].varies |= noted[i].value != get(k, c);
	}
	for (uint32_t i = 0; gc_policies[i]; i++) {
		SSD_ASSERT(i < POLICIES_MAX);
		chosen[i] |= c->gc_policy == gc_policies[i];
	}
}

void keys_are_drawn(const char *const *elsewhere)
{
	for (uint32_t i = 0; i < count; i++)
		if (noted[i].varies == is_in(elsewhere, noted[i].name)) {
			printf("%s: %s\n", noted[i].name,
			       noted[i].varies ? "is drawn: take it off the list" : "no two values were drawn");
			failures++;
		}
	for (uint32_t i = 0; gc_policies[i]; i++)
		if (!chosen[i]) {
			printf("gc_policy %s was not drawn\n", gc_policies[i]->name);
			failures++;
		}
}
