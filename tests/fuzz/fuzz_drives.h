/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_drives.h - the drives whose files fuzz_drive.c changes. The first ones have written settings, of each FTL some.
 * The others are drawn: the settings of one of the first, and values of a share of its FTL's keys and policies, drawn
 * from their tables (keys_draw.h). test_fuzz_drives.c checks that no key and no policy is left out.
 */
#ifndef SLATE_FUZZ_DRIVES_H
#define SLATE_FUZZ_DRIVES_H

#include "keys_draw.h"

#define FUZZ_DRIVES 161u
#define FUZZ_NAME_BYTES 40u

extern const char *const fuzz_drive_fixed[];	/* names of the keys that are not drawn; ends with NULL */

/* Returns the path of the profile that all drives share. */
const char *fuzz_drive_profile(void);
/* Set the name of drive i; those of drawn drives begin with "drawn". */
void fuzz_drive_name(uint32_t i, char name[FUZZ_NAME_BYTES]);
/* Set what drive i has beside the profile. The same number gives the same settings. */
void fuzz_drive_settings(uint32_t i, struct settings *s);

#endif
