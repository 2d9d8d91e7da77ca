// SPDX-License-Identifier: GPL-2.0-or-later
/* wire.c - fills each log of slate_wire.h and prints it, with its counters' names, as JSON: see test_wire.py. */
#include <stdio.h>
#include "slate_wire.h"

#define NAME(name, ...) #name,
static const char *const op_names[] = { FTL_OP_COUNTERS(NAME) FTL_CAUSES(NAME) };
static const char *const ftl_names[] = { FTL_COUNTERS(NAME) };
static const char *const row_names[] = { SLATE_SERIES_OP_COUNTERS(NAME) FTL_CAUSES(NAME) };
static const char *const drive_names[] = { SLATE_SERIES_DRIVE_COUNTERS(NAME) };
static uint64_t words[1000];

static void names(const char *title, const char *const *list, unsigned int n)
{
	printf("\"%s\": [", title);
	for (unsigned int i = 0; i < n; i++)
		printf("%s\"%s\"", i ? ", " : "", list[i]);
	printf("],\n");
}

static void bytes(const void *from, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		printf("%02x", ((const unsigned char *)from)[i]);
}

static struct slate_log_head head(unsigned int id, unsigned int size)
{
	return (struct slate_log_head){ SLATE_WIRE_MAGIC, SLATE_WIRE_VERSION, (uint16_t)id, size, 4242, 17 };
}

static void log_of(const char *title, const void *log, unsigned int size, const void *rest, unsigned int more)
{
	printf("\"%s\": \"", title);
	bytes(log, size);
	bytes(rest, more);
	printf("\",\n");
}

int main(void)
{
	const unsigned int per_op = SLATE_OP_WORDS, count = SLATE_WIRE_OPS * per_op + SLATE_FTL_WORDS;
	const unsigned int row = SLATE_WIRE_OPS * SLATE_SERIES_OP_WORDS + SLATE_SERIES_DRIVE_WORDS + 3;
	struct slate_log_counters c = { .ops = SLATE_WIRE_OPS, .op_words = per_op, .ftl_words = SLATE_FTL_WORDS };
	struct slate_log_series s = { .interval_ns = 99, .rows = 1, .row_bytes = row * 8, .ops = SLATE_WIRE_OPS,
		.op_words = SLATE_SERIES_OP_WORDS, .drive_words = SLATE_SERIES_DRIVE_WORDS, .dies = 1, .channels = 1,
		.processors = 1 };
	struct slate_log_identity id = { .unit_bytes = 16384, .page_bytes = 2048, .profile = "small", .ftl = "dac" };
	struct slate_wear_entry e[2] = { { 5, 7, SLATE_BLOCK_FULL, { 0 } }, { 6, 8, SLATE_BLOCK_BAD, { 0 } } };
	struct slate_log_wear w = { .blocks = 2, .entry_bytes = sizeof(e[0]), .blocks_per_plane = 2 };

	for (unsigned int i = 0; i < 1000; i++)
		words[i] = i * i + 1;	/* sums of different words differ */
	c.head = head(SLATE_LOG_COUNTERS, sizeof(c) + count * 8);
	s.head = head(SLATE_LOG_SERIES, sizeof(s) + row * 8);
	w.head = head(SLATE_LOG_WEAR, sizeof(w) + sizeof(e));
	printf("{\n");
	names("op", op_names, SLATE_OP_WORDS);
	names("ftl", ftl_names, SLATE_FTL_WORDS);
	names("row", row_names, SLATE_SERIES_OP_WORDS);
	names("drive", drive_names, SLATE_SERIES_DRIVE_WORDS);
	id.head = head(SLATE_LOG_IDENTITY, sizeof(id));
	log_of("identity", &id, sizeof(id), words, 0);
	log_of("counters", &c, sizeof(c), words, count * 8);
	log_of("series", &s, sizeof(s), words, row * 8);
	log_of("wear", &w, sizeof(w), e, sizeof(e));
	printf("\"ids\": [%d, %d, %d, %d], \"rows_max\": %u\n}\n", SLATE_LOG_IDENTITY, SLATE_LOG_COUNTERS,
	       SLATE_LOG_SERIES, SLATE_LOG_WEAR, SLATE_SERIES_ROWS_MAX);
	return 0;
}
