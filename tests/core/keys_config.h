/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * keys_config.h - the keys of an FTL in a struct ftl_config, drawn from the knob tables and counted, for tests
 * that make their drives without a profile (with one: keys_draw.h). No key has a name here, so a new one is
 * drawn and counted without a change of these tests.
 */
#ifndef SLATE_KEYS_CONFIG_H
#define SLATE_KEYS_CONFIG_H

#include "keys_draw.h"

/* What draws into a configuration needs. */
struct keys_into {
	struct keys keys;
	struct ftl_config *c;
	const char *const *fixed;	/* names of the keys that keep their value, ending with NULL */
	bool (*accepts)(void *drive);	/* is the drive with this configuration valid? */
	void *drive;
	uint64_t *rng;
};

/*
 * Give key i another value. Returns false, with the value that it had, if the key is fixed, or no drawn value differs
 * and is accepted.
 */
bool keys_redraw(const struct keys_into *into, uint32_t i);

/* Print the keys with another value in `after`, and a newline. */
void keys_print_changes(const struct ftl_ops *ops, const struct ftl_config *before, const struct ftl_config *after);

/* Note the values of the FTL's keys in a drive that was made. */
void keys_note(const struct ftl_ops *ops, const struct ftl_config *c);
/*
 * Test that each key noted had two values, but for those `elsewhere`, which other tests draw, and that each GC policy
 * was used.
 */
void keys_are_drawn(const char *const *elsewhere);

#endif
