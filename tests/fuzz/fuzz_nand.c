// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz_nand.c - storms (tests/core/storm.h) whose dice are the fuzzer's bytes: the first ones
 * choose and change a device, the rest are commands, times and cuts. If array and model differ, it
 * calls abort(), so that libFuzzer keeps the input. `test_storm -f INPUT` then prints every call of
 * it without clang.
 */
#include <stdio.h>
#include <stdlib.h>

#include "storm.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dice dice = { .bytes = data, .left = size };
	struct storm s;

	if (!storm_from_bytes(&s, &dice))
		return -1;		/* invalid device: do not keep the input */
	while (!dice_over(&dice) && !duel_parted(&s.duel))
		storm_step(&s);
	if (!duel_parted(&s.duel))
		duel_check_all(&s.duel);
	if (duel_parted(&s.duel)) {
		fprintf(stderr, "%s\n", s.duel.model.why);
		abort();
	}
	storm_free(&s);
	return 0;
}
