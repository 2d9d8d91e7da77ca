// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_fuzz_drives.c - the drives of the drive fuzzer (fuzz_drives.h): each is one, each FTL has one, and of all keys
 * and policies of the tables none is left out.
 */
#include "fuzz_drives.h"
#include "keys_config.h"
#include "profile_keys.h"

static void every_drive_is_accepted(void)
{
	static struct settings s;
	static struct profile p;
	char err[SLATE_ERR_BYTES];

	for (uint32_t i = 0; i < FUZZ_DRIVES; i++) {
		char name[FUZZ_NAME_BYTES];

		fuzz_drive_name(i, name);
		fuzz_drive_settings(i, &s);
		memset(&p, 0, sizeof(p));
		if (profile_load(&p, fuzz_drive_profile(), s.list, err)) {
			printf("%s: %s\n", name, err);
			failures++;
			continue;
		}
		if (strncmp(name, "drawn", 5) ? s.count > s.drawn : s.count == s.drawn) {
			printf("%s: %u settings were drawn\n", name, s.count - s.drawn);
			failures++;
		}
		keys_note(p.ops, &p.ftl);
	}
}

static void every_ftl_has_a_drive(void)
{
	static struct settings s;

	for (size_t f = 0; ftl_list[f]; f++) {
		char want[SETTING_BYTES];
		uint32_t drives = 0;

		snprintf(want, sizeof(want), "ftl.type=%s", ftl_list[f]->name);
		for (uint32_t i = 0; i < FUZZ_DRIVES; i++) {
			fuzz_drive_settings(i, &s);
			drives += !strcmp(s.text[s.type], want);
		}
		if (!drives) {
			printf("%s has no drive\n", want);
			failures++;
		}
	}
}

int main(void)
{
	RUN(every_ftl_has_a_drive);
	RUN(every_drive_is_accepted);
	RUN_AS("every key and policy is drawn", keys_are_drawn(fuzz_drive_fixed));
	return test_result();
}
