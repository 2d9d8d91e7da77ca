// SPDX-License-Identifier: GPL-2.0-or-later
/* knobs.c - settings of all FTLs, or of several engines: see ftl_knobs.h. */
#include "ftl.h"

static const char *const gc_modes[] = { [FTL_GC_BLOCKING] = "blocking", [FTL_GC_SLICED] = "sliced", NULL };
static const char *const accountings[] = { [FTL_ACCOUNT_DEVICE] = "device", [FTL_ACCOUNT_SSDSIM] = "ssdsim", NULL };
static const char *const no_yes_auto[] = {
	[FTL_WORDS_NO] = "no", [FTL_WORDS_YES] = "yes", [FTL_WORDS_AUTO] = "auto", NULL
};

const struct knob_table ftl_common_knobs = FTL_KNOBS("ftl", FTL_COMMON_ROWS);
const struct knob_table ftl_word_knobs = FTL_KNOBS("ftl", FTL_WORD_ROWS);
const struct knob_table ftl_copy_knobs = FTL_KNOBS("ftl", FTL_COPY_ROWS);
const struct knob_table ftl_second_victim_knobs = FTL_KNOBS("ftl", FTL_SECOND_VICTIM_ROWS);
const struct knob_table ftl_idle_gc_knobs = FTL_KNOBS("ftl", FTL_IDLE_GC_ROWS);
const struct knob_table ftl_rtf_knobs = FTL_KNOBS("ftl", FTL_RTF_ROWS);
const struct knob_table ftl_flex_knobs = FTL_KNOBS("ftl", FTL_FLEX_ROWS);
