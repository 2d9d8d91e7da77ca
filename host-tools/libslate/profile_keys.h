/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profile_keys.h - the keys of a profile in one list: the settings declared by the parts of the
 * core (knob.h) and the profile's own. It converts the text of each key to a value and back.
 * profile.c checks how keys depend on each other.
 */
#ifndef SLATE_PROFILE_KEYS_H
#define SLATE_PROFILE_KEYS_H

#include "knob.h"
#include "profile.h"

struct profile_key {
	const char *section;
	const struct knob *knob;
	size_t at;			/* offset in struct profile */
	size_t index;			/* index in the list */
	const struct knob_table *of_some;	/* the key exists only for FTLs with this table; NULL: for all */
};

/* Tables of profile_own.c. */
extern const struct knob_table profile_drive_keys, profile_link_keys, profile_type_keys,
	profile_capacity_keys, profile_reliability_keys, profile_precondition_keys, profile_memory_keys;

/* Returns the number of keys: the rows of all tables, which have no limit. */
size_t profile_key_count(void);
const struct profile_key *profile_key_at(size_t i);
/* Returns the key of this name in the section, or NULL if there is none. */
const struct profile_key *profile_key_find(const char *section, const char *name);
/*
 * Writes a part of a message about a key with a missing or wrong section: "; did you mean
 * ftl.buffer_units?", or "" if no key has a similar name. Keys with exactly this name come first,
 * in all sections that have one. Returns out.
 */
const char *profile_key_meant(const char *name, char *out, size_t room);
/* Set the key. Returns the number of values in text (lists; else 1), or 0 with a description of valid values in why. */
unsigned int profile_key_set(const struct profile_key *k, struct profile *p, const char *text,
			     char *why, size_t room) SSD_MUST_CHECK;
/*
 * Print the value in the form that profile_key_set() accepts; a list shows its first `count`
 * values.
 */
void profile_key_print(const struct profile_key *k, const struct profile *p, unsigned int count,
		       char *out, size_t room);
/*
 * Does the key belong only to FTLs other than ops? ops NULL, and keys of sections other than [ftl]:
 * no.
 */
bool profile_key_is_foreign(const struct profile_key *k, const struct ftl_ops *ops);
/*
 * Writes the names of the FTLs that have this key, with commas: "rtf, dac"; "" if all have it.
 * Returns out.
 */
const char *profile_key_owners(const struct profile_key *k, char *out, size_t room);
/* Writes the range in words: "1 .. 64", "yes or no". */
void profile_key_range(const struct profile_key *k, char *out, size_t room);

static inline bool profile_key_is_list(const struct profile_key *k)
{
	return k->knob->type == KNOB_BY_TYPE || k->knob->type == KNOB_BY_LEVEL;
}

/*
 * A key that is read only in a mode, and the key that switches the mode on (profile_modes.c). Both are section.name.
 * values: the owner's values with which the key is read, with blanks between; !X: all but X.
 */
struct profile_mode {
	const char *key, *owner, *values;
};

/* Returns the i-th row, or NULL behind the last one. A key may have several; it is read if all modes are on. */
const struct profile_mode *profile_mode_at(size_t i);
/* Returns the key section.name, or NULL if there is none. */
const struct profile_key *profile_key_named(const char *name);
/* Is the mode on? An owner that the profile's FTL does not have switches nothing off. */
bool profile_mode_is_on(const struct profile_mode *m, const struct profile *p);
/* Writes the values that switch the mode on, in words: "static or dynamic". */
void profile_mode_print(const struct profile_mode *m, char *out, size_t room);

/* Is the text free of control characters? */
bool profile_plain(const char *text);

#endif
