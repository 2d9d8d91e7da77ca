/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ftl_knobs.h - the settings of FTLs: rows of knob.h for fields of struct ftl_config, and the
 * tables of settings that several engines read. An engine declares its own settings in its own
 * code, and each FTL lists its tables in ftl_ops.knobs. A profile that sets a key of another FTL is
 * refused.
 */
#ifndef SLATE_FTL_KNOBS_H
#define SLATE_FTL_KNOBS_H

#include "ftl.h"

#define FTL_KNOB(n, lo, hi, d, says) \
	{ #n, KNOB_U32, offsetof(struct ftl_config, n), lo, hi, d, says, NULL }
#define FTL_KNOB_BOOL(n, d, says) \
	{ #n, KNOB_BOOL, offsetof(struct ftl_config, n), 0, 1, d, says, knob_no_yes }
#define FTL_KNOB_IS(n, choices, d, says) \
	{ #n, KNOB_CHOICE, KNOB_CHOICE_AT(struct ftl_config, n), 0, 0, d, says, choices }
#define FTL_KNOB_LAST { NULL }

extern const struct knob_table ftl_word_knobs;		/* reads of single ECC words */
extern const struct knob_table ftl_copy_knobs;		/* settings of GC's commands and of a write's end */
extern const struct knob_table ftl_second_victim_knobs;	/* settings of parallel_erase for FTLs that choose two
							 * victims */
extern const struct knob_table ftl_idle_gc_knobs;
extern const struct knob_table ftl_rtf_knobs, ftl_flex_knobs;	/* settings of the frontiers rtf and flex (front.h) */

#endif
