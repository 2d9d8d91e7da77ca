/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * knob.h - how a part of the drive declares its settings. Each setting is a row of a const table in
 * the file that reads it. A shell derives parsing, ranges, defaults, messages and documents from
 * the rows. The unit of a number is the end of its name (_ns, _pages, _permille ...).
 */
#ifndef SLATE_KNOB_H
#define SLATE_KNOB_H

#include "port.h"

enum knob_type {
	KNOB_U32, KNOB_U64,
	KNOB_BY_TYPE,		/* uint32_t[NAND_TYPES_MAX]: a value for each page type */
	KNOB_BY_LEVEL,		/* uint32_t[NAND_PB_LEVELS_MAX + 1]: a value for each PB level */
	KNOB_BOOL,		/* names[1] is true */
	KNOB_NOT,		/* names[0] is true */
	KNOB_CHOICE,		/* an enum, stored as unsigned int, in the order of names */
	KNOB_GC_POLICY,		/* a pointer to one of the gc_policies (ftl/common/gc_policy.h) */
	KNOB_TOLERANCE,		/* uint32_t, or 'off': KNOB_NEVER */
	/* Types used by shells only: */
	KNOB_COEFFICIENT,	/* double, 0 or 1e-30 .. 1 */
	KNOB_EXPONENT,		/* double, 0 .. 8 */
	KNOB_FTL, KNOB_NAME
};

/*
 * The offset of a KNOB_CHOICE; an enum of another size does not compile. The names have the enum's values
 * as their indices.
 */
#define KNOB_CHOICE_AT(type, field) \
	(offsetof(type, field) + 0 * sizeof(char[sizeof(((type *)0)->field) == sizeof(unsigned int) ? 1 : -1]))

/*
 * A list of values is a macro that applies its argument to each value of an enum and the value's name. KNOB_VALUE
 * makes the enum's values from it, KNOB_NAMES an array of the names.
 */
#define KNOB_VALUE(value, name) value,
#define KNOB_NAME(value, name) [value] = (name),
#define KNOB_NAMES(VALUES) (const char *const[]){ VALUES(KNOB_NAME) NULL }

#define KNOB_NEVER 255u
#define KNOB_NS_MAX 1000000000u

struct knob {
	const char *name;
	enum knob_type type;
	size_t at;			/* offset in the struct to which the setting belongs */
	uint64_t low, high;
	const char *fallback;		/* default as text; NULL: the key is required */
	const char *says;		/* one sentence for users, in Markdown */
	const char *const *names;	/* names of values for BOOL, NOT, CHOICE; NULL-terminated */
	unsigned int anew;		/* FTLs: enum ftl_recompute; 0: the setting cannot change online */
};

struct knob_table {
	const char *section;		/* section of the profile */
	const struct knob *knobs;	/* rows; the last one has no name */
};

extern const char *const knob_no_yes[];

/* These tables declare the settings of the array, in struct nand_array_config. */
extern const struct knob_table nand_geometry_knobs, nand_timing_knobs, nand_energy_knobs, nand_physics_knobs;

#endif
