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

/* May the setting change online, because the FTL can compute anew what it determines? */
static bool is_online(const struct ftl_ops *t, const struct knob *k)
{
	const struct ftl_anew *a = t->anew;

	while (a && a->what != FTL_FIXED && a->what != k->anew)
		a++;
	return a && a->what != FTL_FIXED;
}

/* Returns the i-th such row of the table, or NULL with the rows counted off i. */
static const struct knob *nth_online(const struct ftl_ops *t, const struct knob_table *of, uint32_t *i)
{
	for (const struct knob *k = of->knobs; k->name; k++)
		if (k->anew != FTL_FIXED && is_online(t, k) && !(*i)--)
			return k;
	return NULL;
}

const struct knob *ftl_online_knob(const struct ftl_ops *t, uint32_t i)
{
	const struct knob *k = nth_online(t, &ftl_common_knobs, &i);

	for (const struct knob_table *const *of = t->knobs; !k && of && *of; of++)
		k = nth_online(t, *of, &i);
	return k;
}
