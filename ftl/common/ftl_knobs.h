/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ftl_knobs.h - the settings of FTLs: knob.h's rows for fields of struct ftl_config, and the
 * tables of settings that several engines read. An engine declares its own beside its code, and each FTL
 * lists its tables in ftl_ops.knobs; a profile that sets a key of other FTLs is refused.
 */
#ifndef SLATE_FTL_KNOBS_H
#define SLATE_FTL_KNOBS_H

#include "ftl.h"

#define FTL_KNOB(n, lo, hi, d, says) \
	{ #n, KNOB_U32, offsetof(struct ftl_config, n), lo, hi, d, says, NULL }
#define FTL_KNOB_BOOL(n, d, says) \
	{ #n, KNOB_BOOL, offsetof(struct ftl_config, n), 0, 1, d, says, knob_no_yes }
#define FTL_KNOB_IS(n, choices, d, says) \
	{ #n, KNOB_CHOICE, offsetof(struct ftl_config, n), 0, 0, d, says, choices }
#define FTL_KNOB_LAST { NULL }

extern const struct knob_table ftl_word_knobs;		/* reads of single ECC words */
extern const struct knob_table ftl_copy_knobs;		/* how GC's commands and a write's end are made */
extern const struct knob_table ftl_second_victim_knobs;	/* of parallel_erase, where it chooses two */
extern const struct knob_table ftl_idle_gc_knobs;
extern const struct knob_table ftl_rtf_knobs, ftl_flex_knobs;	/* front.h: frontiers of these names */

#endif
