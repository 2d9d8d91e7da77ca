// SPDX-License-Identifier: GPL-2.0-or-later
/* order.c - commands that change the drive: converts words to the numbers of SPEC.md's Control. */
#include "ctl.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int too_many(const char *command, const char *word)
{
	return ctl_fail(CTL_USAGE, "%s: unexpected argument '%s': leave it out", command, word);
}

/*
 * Take the value of "--name VALUE" at *words and advance *words; NULL if the option is not there.
 */
static const char *take_option(char ***words, const char *name)
{
	const char *value;

	if (!**words || strcmp(**words, name))
		return NULL;
	value = (*words)[1] ? (*words)[1] : "";
	*words += (*words)[1] ? 2 : 1;
	return value;
}

int order_reset(struct ctl *c, char **words)
{
	const uint32_t none[3] = { 0 };

	return words[0] ? too_many("reset", words[0]) : c->ops->control(c, SLATE_RESET_COUNTERS, none, NULL);
}

static int say(struct ctl *c, const char *name, uint32_t value, const char *text)
{
	if (c->json)
		return json_print(json_pack("{s:I}", name, (json_int_t)value));
	printf("%s: %u\n", text, value);
	return fflush(stdout) ? ctl_fail(CTL_FAILED, "standard output cannot be written to") : 0;
}

int order_gc(struct ctl *c, char **words)
{
	uint32_t args[3] = { 0 }, planes = 0;
	uint64_t n = 0;
	int result = words[0] ? ctl_number("gc", words[0], 1, UINT32_MAX, &n) : 0;

	if (!result && words[0] && words[1])
		result = too_many("gc", words[1]);
	if (result)
		return result;
	args[0] = (uint32_t)n;
	result = c->ops->control(c, SLATE_FORCE_GC, args, &planes);
	return result ? result : say(c, "planes", planes, "planes (DAC: dies) with something to collect");
}

int order_set(struct ctl *c, char **words)
{
	if (!words[0])
		return ctl_fail(CTL_USAGE, "set: expected a setting, such as set ftl.gc_slice_pages=8; 'slatectl info' "
				"lists the names");
	if (words[1])
		return too_many("set", words[1]);
	return c->ops->set(c, words[0]);
}

static int fault_nth(uint32_t kind, const char *name, char **words, uint32_t args[3])
{
	uint64_t n = 0, die = SLATE_ANY_DIE;
	int result = ctl_number(name, words[0], 1, UINT32_MAX, &n);
	const char *value;

	if (result)
		return result;
	words++;
	value = take_option(&words, "--die");
	if (value)
		result = ctl_number("--die", value, 0, UINT32_MAX - 1, &die);
	if (!result && words[0])
		result = too_many(name, words[0]);
	args[0] = kind;
	args[1] = (uint32_t)n;
	args[2] = (uint32_t)die;
	return result;
}

static int fault_flip(char **words, uint32_t args[3])
{
	uint64_t page = 0, bits = 0;
	int result = ctl_number("fault flip: the page", words[0], 0, UINT32_MAX, &page);

	if (!result)
		result = ctl_number("fault flip: the bits", words[1], 1, 65535, &bits);
	if (!result && words[2])
		result = too_many("fault flip", words[2]);
	args[0] = SLATE_FAULT_FLIP | (uint32_t)bits << 16;
	args[1] = (uint32_t)page;
	args[2] = 0;
	return result;
}

int order_fault(struct ctl *c, char **words)
{
	const char *kind = words[0] ? words[0] : "";
	uint32_t args[3] = { 0 }, number = 0;
	int result;

	if (!strcmp(kind, "clear"))
		return words[1] ? too_many("fault clear", words[1]) : c->ops->control(c, SLATE_FAULT_CLEAR, args, NULL);
	if (!strcmp(kind, "program"))
		result = fault_nth(SLATE_FAULT_PROGRAM, "fault program", words + 1, args);
	else if (!strcmp(kind, "erase"))
		result = fault_nth(SLATE_FAULT_ERASE, "fault erase", words + 1, args);
	else if (!strcmp(kind, "flip"))
		result = fault_flip(words + 1, args);
	else
		result = ctl_fail(CTL_USAGE, "fault %s: expected program N, erase N, flip PAGE BITS or clear", kind);
	if (!result)
		result = c->ops->control(c, SLATE_FAULT_ADD, args, &number);
	return result ? result : say(c, "fault", number, "planned as number");
}

static int cut_when(char ***words, uint32_t *when, uint64_t *n)
{
	static const char *const names[] = { "now", "after", "at" };
	const char *word = **words ? **words : "";

	*n = 0;
	for (*when = 0; *when < 3 && strcmp(word, names[*when]); (*when)++)
		;
	if (*when == 3)
		return ctl_fail(CTL_USAGE, "cut %s: expected now, after N, at NS or cancel", word);
	++*words;
	if (*when == SLATE_WIRE_CUT_NOW)
		return 0;
	if (ctl_number(*when == SLATE_WIRE_CUT_AFTER ? "cut after" : "cut at", **words, 1, INT64_MAX, n))
		return CTL_USAGE;
	++*words;
	return 0;
}

int order_cut(struct ctl *c, char **words)
{
	static const char *const thens[] = { "vanish", "reset", "shutdown" };
	uint32_t args[3] = { 0 }, when, then = SLATE_WIRE_VANISH;
	const char *value;
	uint64_t n;

	if (words[0] && !strcmp(words[0], "cancel"))
		return words[1] ? too_many("cut cancel", words[1]) :
		       c->ops->control(c, SLATE_POWER_CUT_CANCEL, args, NULL);
	if (cut_when(&words, &when, &n))
		return CTL_USAGE;
	value = take_option(&words, "--then");
	if (value) {
		for (then = 0; then < 3 && strcmp(value, thens[then]); then++)
			;
		if (then == 3)
			return ctl_fail(CTL_USAGE, "--then %s: expected vanish, reset or shutdown", value);
	}
	if (words[0])
		return too_many("cut", words[0]);
	args[0] = when | then << 8;
	args[1] = (uint32_t)n;
	args[2] = (uint32_t)(n >> 32);
	return c->ops->control(c, SLATE_POWER_CUT, args, NULL);
}
