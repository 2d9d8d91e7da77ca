/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profile_keys.h - the keys of a profile: the settings that the parts of the core declare
 * (knob.h) and the profile's own, in one list, and how the text of each becomes a value and back.
 * What keys mean together, profile.c knows.
 */
#ifndef SLATE_PROFILE_KEYS_H
#define SLATE_PROFILE_KEYS_H

#include "knob.h"
#include "profile.h"

#define PROFILE_KEYS_MAX 128u

struct profile_key {
	const char *section;
	const struct knob *knob;
	size_t at;			/* offset in struct profile */
	size_t index;			/* its place in the list */
	const struct knob_table *of_some;	/* a key of the FTLs with this table alone; NULL: of all */
};

/* Tables of profile_own.c. */
extern const struct knob_table profile_drive_keys, profile_link_keys, profile_type_keys,
	profile_capacity_keys, profile_reliability_keys, profile_precondition_keys, profile_memory_keys;

size_t profile_key_count(void);
const struct profile_key *profile_key_at(size_t i);
/* NULL if there is none. */
const struct profile_key *profile_key_find(const char *section, const char *name);
/*
 * For a message about a key that no section, or the wrong one, was given with: writes
 * "; did you mean ftl.buffer_units?", or "" if no key has a name near this one. Keys of this
 * very name come first, in all sections that have one. Returns out.
 */
const char *profile_key_meant(const char *name, char *out, size_t room);
/*
 * Returns the number of values in text (lists; else 1), or 0 with what the
 * value must be in why.
 */
unsigned int profile_key_set(const struct profile_key *k, struct profile *p, const char *text,
			     char *why, size_t room) SSD_MUST_CHECK;
/* As profile_key_set() takes it; a list shows its first `count` values. */
void profile_key_print(const struct profile_key *k, const struct profile *p, unsigned int count,
		       char *out, size_t room);
/*
 * Has the FTL ops no use for this key, which is another FTL's? ops NULL, and keys of other
 * sections than [ftl]: no.
 */
bool profile_key_is_foreign(const struct profile_key *k, const struct ftl_ops *ops);
/* The names of the FTLs that have this key, with commas: "rtf, dac"; "" if it is a key of all. Returns out. */
const char *profile_key_owners(const struct profile_key *k, char *out, size_t room);
/* The range in words: "1 .. 64", "yes or no". */
void profile_key_range(const struct profile_key *k, char *out, size_t room);

static inline bool profile_key_is_list(const struct profile_key *k)
{
	return k->knob->type == KNOB_BY_TYPE || k->knob->type == KNOB_BY_LEVEL;
}

/* Without control characters. */
bool profile_plain(const char *text);

#endif
