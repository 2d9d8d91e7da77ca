/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profile.h - a drive described in an INI file, and single values overridden.
 *
 * Each part of the drive declares its keys (knob.h); profile_keys.h lists them. Nothing is
 * clamped or ignored: a value out of range, an unknown key or section, a key given twice in the
 * file and a missing key are errors that name the file, the line, the key, the value and what
 * would be right. Of two overrides of one key the last counts.
 */
#ifndef SLATE_PROFILE_H
#define SLATE_PROFILE_H

#include "array.h"
#include "slate.h"

#define PROFILE_NAME_BYTES 64
#define NAMESPACES_MAX 16u

struct profile {
	char name[PROFILE_NAME_BYTES];		/* [drive] name, or else the file's name */
	struct nand_array_config array;
	struct ftl_config ftl;
	const struct ftl_ops *ops;		/* NULL: no FTL runs the drive, see ftl_type */
	const char *ftl_type;			/* a name of ftl_list or of profile_no_ftl */
	uint64_t capacity_mib;			/* 0: computed from op_permille */
	uint64_t op_permille;
	uint64_t factory_bad_permille;
	struct {				/* as written; array.physics has the logarithms */
		double eps, alpha, k, beta, m, n, gamma, p, q;
	} rber;
	struct {				/* PCIe; ftl has the derived rates */
		uint32_t generation;		/* 0: no link */
		uint32_t lanes, data_permille;
	} link;
	uint64_t idle_hours;			/* hours without power before the drive is opened */
	uint64_t fill_permille, age_permille, precondition_seed;
	bool overcommit;
	bool ignore_flush;			/* the drive ends flushes at once, and makes nothing durable for them */
};

/*
 * Values of ftl.type without an FTL: "none", a drive that is only an array, and
 * the names of FTLs that are not written yet. Such a profile is valid, and has
 * derived values, but slate_open() refuses it. NULL-terminated.
 */
extern const char *const profile_no_ftl[];

/*
 * Set what depends on where the image is. In a file it has checksums. In memory, spare areas of a large drive are
 * packed (spare.h), unless reads of the host need them, in any order; those of a small drive are not worth the time.
 */
void profile_set_image(struct profile *p, bool in_file);
/*
 * Load a profile and overrides. Returns 0, or a negative ssd_err with a sentence in err. path NULL: the overrides
 * contain all settings, as profile_print() writes them.
 */
int profile_load(struct profile *p, const char *path, const char *const *overrides,
		 char err[SLATE_ERR_BYTES]) SSD_MUST_CHECK;
/*
 * Print all settings as "section.key=value\n" in the table's order; profile_load() accepts each as
 * an override. Returns the length needed.
 */
size_t profile_print(const struct profile *p, char *out, size_t room);

#endif
