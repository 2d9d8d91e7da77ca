/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profile_keys.h - the keys of a profile: one table that says for each its
 * section, type, range and default, and how its text becomes a value and back.
 * What keys mean together, profile.c knows.
 */
#ifndef SLATE_PROFILE_KEYS_H
#define SLATE_PROFILE_KEYS_H

#include "profile.h"

#define PROFILE_KEYS_MAX 128u

enum key_type {
	K_U32, K_U64,
	K_BY_TYPE,		/* uint32_t[NAND_TYPES_MAX]: a value a page type */
	K_BY_LEVEL,		/* uint32_t[NAND_PB_LEVELS_MAX + 1]: a value a PB level */
	K_COEFFICIENT,		/* double, 0 or 1e-30 .. 1 */
	K_EXPONENT,		/* double, 0 .. 8 */
	K_BOOL,			/* names[1] is true */
	K_NOT,			/* names[0] is true */
	K_CHOICE,		/* an enum in the order of names */
	K_TOLERANCE,		/* uint32_t, or 'off' for NAND's 'never' */
	K_GC_POLICY, K_FTL, K_NAME
};

struct profile_key {
	const char *section, *name;
	enum key_type type;
	size_t at;			/* offset in struct profile */
	uint64_t low, high;
	const char *fallback;		/* NULL: must be given */
	const char *const *names;	/* K_BOOL, K_NOT, K_CHOICE; NULL-terminated */
};

extern const struct profile_key profile_keys[];
extern const size_t profile_key_count;

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
	return k->type == K_BY_TYPE || k->type == K_BY_LEVEL;
}

/* Without control characters. */
bool profile_plain(const char *text);

#endif
