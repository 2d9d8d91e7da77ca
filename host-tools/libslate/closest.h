/* SPDX-License-Identifier: GPL-2.0-or-later */
/* closest.h - for messages: the name that a user probably meant by an unknown word, and options' names. */
#ifndef SLATE_CLOSEST_H
#define SLATE_CLOSEST_H

#include <getopt.h>
#include <stdbool.h>

struct closest {
	const char *word, *best;	/* best: NULL if no name is near */
	unsigned int distance;
};

/*
 * Compare with one more name. A name is near if at most one letter and a quarter of the word
 * differ, or if the word leaves letters of it out.
 */
void closest_see(struct closest *c, const char *name);
/* Write a sentence about the option that getopt_long() just refused with '?': `word` is argv[optind - 1]. */
const char *closest_complaint(const struct option *options, const char *word, char out[192]);
/*
 * Returns a word of argv that abbreviates an option's name, which getopt_long() would accept; NULL: there is none.
 * `first`: options end at the first word that is no option.
 */
const char *closest_abbreviation(const struct option *options, int argc, char **argv, bool first);
/* Returns the name of the option for which getopt_long() returns c, or "?". */
const char *option_name(const struct option *options, int c);

#endif
