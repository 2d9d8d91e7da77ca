// SPDX-License-Identifier: GPL-2.0-or-later
/* knobs.c - settings of all FTLs, or of several engines: see ftl_knobs.h. */
#include "ftl.h"

const struct knob_table ftl_common_knobs = FTL_KNOBS("ftl", FTL_COMMON_ROWS);
const struct knob_table ftl_gc_knobs = FTL_KNOBS("ftl", FTL_GC_ROWS);
const struct knob_table ftl_gc_stop_knobs = FTL_KNOBS("ftl", FTL_GC_STOP_ROWS);
const struct knob_table ftl_word_knobs = FTL_KNOBS("ftl", FTL_WORD_ROWS);
const struct knob_table ftl_copy_knobs = FTL_KNOBS("ftl", FTL_COPY_ROWS);
const struct knob_table ftl_second_victim_knobs = FTL_KNOBS("ftl", FTL_SECOND_VICTIM_ROWS);
const struct knob_table ftl_idle_gc_knobs = FTL_KNOBS("ftl", FTL_IDLE_GC_ROWS);
const struct knob_table ftl_rtf_knobs = FTL_KNOBS("ftl", FTL_RTF_ROWS);
const struct knob_table ftl_flex_knobs = FTL_KNOBS("ftl", FTL_FLEX_ROWS);
