// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * schema.c - prints qapi/nand-ssd-counters.json: the QAPI structs of the drive's counters, made of
 * the rows of ftl_counters.h and nand_counters.h. See schema.sh.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "ftl_counters.h"
#include "nand_counters.h"

#define COLUMNS 70u

struct row {
	const char *name, *says;
};

#define SOURCE(ID, name, shown, label, says) { #name, says },
#define ROW(name, says) { #name, says },
#define ROW3(name, kind, says) { #name, says },

static const struct row op[] = { FTL_OP_COUNTERS(ROW3) FTL_CAUSES(ROW) { NULL } };
static const struct row ftl[] = { FTL_COUNTERS(ROW) { NULL } };
static const struct row sources[] = { NAND_SOURCES(SOURCE) { NULL } };
static const struct row source[] = { NAND_COMMAND_COUNTERS(ROW3) NAND_SOURCE_COUNTERS(ROW) { NULL } };
static const struct row nand[] = { NAND_COUNTERS(ROW3) { NULL } };

/* QAPI joins the words of a name by '-'. */
static size_t print_name(const char *name)
{
	for (const char *c = name; *c; c++)
		putchar(*c == '_' ? '-' : *c);
	return strlen(name);
}

/* Print "# @name: says", with the lines after the first one indented. */
static void print_doc(const struct row *r)
{
	const char *word = r->says;
	size_t column;

	printf("#\n# @");
	column = 4 + print_name(r->name);
	putchar(':');
	while (*word) {
		size_t len = strcspn(word, " ");

		if (column + 1 + len > COLUMNS) {
			printf("\n#    ");
			column = 5;
		}
		column += 1 + len;
		printf(" %.*s", (int)len, word);
		word += len + (word[len] == ' ');
	}
	putchar('\n');
}

static void print_struct(const char *name, const char *says, const struct row *rows, const char *type)
{
	printf("\n##\n# @%s:\n#\n# %s\n", name, says);
	for (const struct row *r = rows; r->name; r++)
		print_doc(r);
	printf("#\n# Since: 10.0\n##\n{ 'struct': '%s',\n  'data': {", name);
	for (const struct row *r = rows; r->name; r++) {
		printf("%s'", r == rows ? " " : ",\n            ");
		print_name(r->name);
		printf("': '%s'", type);
	}
	printf(" },\n  'if': 'CONFIG_SLATE' }\n");
}

int main(void)
{
	printf("# -*- Mode: Python -*-\n# vim: filetype=python\n#\n"
	       "# SPDX-License-Identifier: GPL-2.0-or-later\n\n##\n# = Counters of an emulated NAND SSD\n##\n");
	print_struct("NandSsdOpCounters", "What was counted of one kind of request, in device time.", op, "uint64");
	print_struct("NandSsdFtlStats", "What the flash translation layer (FTL) counted.", ftl, "uint64");
	print_struct("NandSsdSourceStats", "Flash commands of one origin.", source, "uint64");
	print_struct("NandSsdSources", "Flash commands by origin.", sources, "NandSsdSourceStats");
	print_struct("NandSsdBusy", "Time that a die or a channel was busy, by origin of what it did.", sources,
		     "uint64");
	print_struct("NandSsdNandCounters", "What the NAND array counted, all origins together.",
		     nand, "uint64");
	return ferror(stdout) || fflush(stdout);
}
