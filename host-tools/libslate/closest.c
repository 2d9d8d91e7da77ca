// SPDX-License-Identifier: GPL-2.0-or-later
/* closest.c - see closest.h. The distance is Levenshtein's. */
#include "closest.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define NAME_MAX_BYTES 64u	/* longer words have no near names */
#define FAR (NAME_MAX_BYTES + 1)

static unsigned int least(unsigned int a, unsigned int b, unsigned int c)
{
	unsigned int ab = a < b ? a : b;

	return ab < c ? ab : c;
}

static unsigned int distance(const char *a, const char *b)
{
	unsigned int row[NAME_MAX_BYTES + 1], n = (unsigned int)strlen(b);

	for (unsigned int j = 0; j <= n; j++)
		row[j] = j;
	for (unsigned int i = 0; a[i]; i++) {
		unsigned int before = row[0];

		row[0] = i + 1;
		for (unsigned int j = 0; j < n; j++) {
			unsigned int here = row[j + 1];

			row[j + 1] = least(here + 1, row[j] + 1, before + (a[i] != b[j]));
			before = here;
		}
	}
	return row[n];
}

/*
 * Does the name contain the letters of the word in the same order, and do both begin with the same
 * letter? ("opp": "op_permille")
 */
static bool is_short_for(const char *word, const char *name)
{
	if (strlen(word) >= 2 && !strncmp(word, name, strlen(word)))
		return true;
	if (*word != *name || strlen(word) < 3)
		return false;
	for (; *word && *name; name++)
		word += *word == *name;
	return !*word;
}

void closest_see(struct closest *c, const char *name)
{
	size_t len = strlen(c->word);
	unsigned int d;

	if (len > NAME_MAX_BYTES || strlen(name) > NAME_MAX_BYTES)
		return;
	d = distance(c->word, name);
	if (d > 1 + (unsigned int)len / 4 && !is_short_for(c->word, name))
		d = FAR;
	if (d < FAR && (!c->best || d < c->distance)) {
		c->best = name;
		c->distance = d;
	}
}

const char *closest_complaint(const struct option *options, const char *word, char out[192])
{
	char name[NAME_MAX_BYTES];
	struct closest c = { .word = name };

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(word + strspn(word, "-"), "="), word + strspn(word, "-"));
	for (; options->name; options++) {
		if (!strcmp(options->name, name)) {
			snprintf(out, 192, "%.80s: its value is missing, or it takes none: see --help", word);
			return out;
		}
		closest_see(&c, options->name);
	}
	snprintf(out, 192, "%.80s: there is no such option%s%s%s", word, c.best ? "; did you mean --" : "",
		 c.best ? c.best : "", c.best ? "?" : ": see --help");
	return out;
}

static const struct option *find_option(const struct option *options, const char *name)
{
	size_t len = strcspn(name, "=");

	for (; options->name; options++)
		if (strlen(options->name) == len && !strncmp(options->name, name, len))
			return options;
	return NULL;
}

const char *closest_abbreviation(const struct option *options, int argc, char **argv, bool first)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		const struct option *o;

		if (strncmp(argv[i], "--", 2) != 0) {
			if (first && *argv[i] != '-')
				return NULL;
			continue;
		}
		o = find_option(options, argv[i] + 2);
		if (!o)
			return argv[i];
		i += o->has_arg == required_argument && !strchr(argv[i], '=');	/* the next word is its value */
	}
	return NULL;
}

const char *option_name(const struct option *options, int c)
{
	for (; options->name; options++)
		if (options->val == c)
			return options->name;
	return "?";
}
