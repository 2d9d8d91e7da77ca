/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * words.h - options that the programs that replay traces have in common: those that choose a trace's
 * rows and place them on the drive, and parsers for the values of other options.
 *
 * A function returns false if the text is not a valid value: err then names the option (`name`,
 * without dashes) and says what would be right; *out is undefined.
 */
#ifndef SLATE_TRACE_WORDS_H
#define SLATE_TRACE_WORDS_H

#include "place.h"

#include <getopt.h>

#define TRACE_SPEED_ONE 1000000u	/* "1" as a speed: speeds have up to six decimals */

/* Parse a number of at most 18 digits. */
bool trace_take_number(const char *name, const char *text, uint64_t low, uint64_t high, uint64_t *out,
		       char err[TRACE_ERR_BYTES]);
bool trace_take_size(const char *name, const char *text, uint64_t low, uint64_t high, uint64_t *out,
		     char err[TRACE_ERR_BYTES]);
/* Parse a decimal 0.001 .. 1000000, times TRACE_SPEED_ONE. */
bool trace_take_speed(const char *name, const char *text, uint64_t *out, char err[TRACE_ERR_BYTES]);

/* Parses a decimal from 0 to high with at most `places` decimals; stores it times 10^places. */
bool trace_take_share(const char *name, const char *text, unsigned int places, uint64_t high, uint64_t *out,
		      char err[TRACE_ERR_BYTES]);

/* These are the rows of a trace that are replayed, and their place on the drive. */
struct trace_choice {
	struct trace_options options;
	uint64_t max_bad_permille;	/* permitted share of bad rows */
	enum trace_beyond beyond;
	uint64_t scale_bytes;		/* SCALE: extent of the trace; 0: to be determined */
};

/*
 * These options make that choice. They are numbered from TRACE_OPT on; a program's own options have lower
 * numbers.
 */
enum trace_option {
	TRACE_OPT = 512,
	TRACE_OPT_FORMAT = TRACE_OPT, TRACE_OPT_DEVICE, TRACE_OPT_ACTION, TRACE_OPT_MAX_BAD, TRACE_OPT_FOLD,
	TRACE_OPT_SCALE, TRACE_OPT_END
};

#define TRACE_LONG_OPTIONS \
	{ "format", required_argument, NULL, TRACE_OPT_FORMAT }, \
	{ "device", required_argument, NULL, TRACE_OPT_DEVICE }, \
	{ "blk-action", required_argument, NULL, TRACE_OPT_ACTION }, \
	{ "max-bad", required_argument, NULL, TRACE_OPT_MAX_BAD }, \
	{ "fold", no_argument, NULL, TRACE_OPT_FOLD }, \
	{ "scale", optional_argument, NULL, TRACE_OPT_SCALE }

/* Handle an option of a trace. text is NULL for an option without a value. */
bool trace_take_option(struct trace_choice *c, enum trace_option option, const char *text,
		       char err[TRACE_ERR_BYTES]);

#endif
