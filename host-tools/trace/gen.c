// SPDX-License-Identifier: GPL-2.0-or-later
/* gen.c - see gen.h and, for what the keys mean, trace.h. */
#include "gen.h"

#include <stdio.h>
#include <string.h>

#define GOLDEN 0x9e3779b97f4a7c15u	/* 2^64 / the golden ratio, odd: spreads small seeds */
#define BLOCK_BYTES 4096u
#define FIX "see 'slate-replay --help' for generators"

bool trace_parse_size(const char *text, uint64_t *out)
{
	static const char *const units[] = { "", "K", "M", "G", "T" };
	uint64_t v = 0;
	size_t digits = strspn(text, "0123456789"), rest;

	if (!digits || digits > 18)
		return false;
	for (size_t i = 0; i < digits; i++)
		v = v * 10 + (uint64_t)(text[i] - '0');
	text += digits;
	rest = strlen(text);
	for (unsigned int i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		bool letter = rest && i && (text[0] & ~0x20) == units[i][0];

		if (!(letter && (rest == 1 || !strcmp(text + 1, "iB"))) && (i || rest))
			continue;
		*out = v << 10 * i;
		return *out >> 10 * i == v && *out <= TRACE_BYTES_MAX;
	}
	return false;
}

static bool parse_number(const char *text, uint64_t *out)
{
	if (!*text || strspn(text, "0123456789") != strlen(text) || !trace_parse_size(text, out))
		return false;
	return true;
}

static bool parse_content(struct gen *g, const char *kind)
{
	static const char *const kinds[] = {
		[GEN_ZERO] = "zero", [GEN_RANDOM] = "random", [GEN_TEXT] = "text", [GEN_SIMILAR] = "similar",
	};

	for (unsigned int k = GEN_ZERO; k <= GEN_SIMILAR; k++)
		if (!strcmp(kind, kinds[k]))
			g->content = (enum gen_content)k;
	return g->content;
}

/* Parse a number of at most three decimals, in thousandths. */
static bool parse_thousandths(const char *text, uint32_t most, uint32_t *out)
{
	size_t whole = strspn(text, "0123456789"), parts = 0;
	uint64_t v = 0;

	if (!whole || whole > 4)
		return false;
	if (text[whole] == '.')
		parts = strspn(text + whole + 1, "0123456789");
	if (parts > 3 || text[whole + (text[whole] == '.') + parts] || (text[whole] == '.' && !parts))
		return false;
	for (const char *at = text; *at; at++)
		v = *at == '.' ? v : v * 10 + (uint64_t)(*at - '0');
	for (; parts < 3; parts++)
		v *= 10;
	*out = (uint32_t)v;
	return v && v <= most;
}

/* Parse SPACE:REQUESTS, both in per cent. */
static bool parse_hot(struct gen *g, char *text)
{
	char *colon = strchr(text, ':');
	uint64_t space, requests;

	if (!colon)
		return false;
	*colon++ = 0;
	if (!parse_number(text, &space) || !parse_number(colon, &requests) || !space || space > 99 || !requests ||
	    requests > 99)
		return false;
	g->skew.kind = SKEW_HOT;
	g->skew.hot_space = (uint32_t)space;
	g->skew.hot_requests = (uint32_t)requests;
	return true;
}

static bool parse_key(struct gen *g, const char *key, char *value)
{
	uint64_t v = 0;

	if (!strcmp(key, "foot"))
		return trace_parse_size(value, &g->foot_bytes);
	if (!strcmp(key, "from"))
		return trace_parse_size(value, &g->from_bytes);
	if (!strcmp(key, "fill"))
		return trace_parse_size(value, &g->fill_bytes);
	if (!strcmp(key, "n"))
		return parse_number(value, &g->requests) && g->requests;
	if (!strcmp(key, "seed"))
		return parse_number(value, &g->seed) && g->seed;
	if (!strcmp(key, "gap"))
		return parse_number(value, &g->gap_ns) && g->gap_ns <= 1000000000000u;
	if (!strcmp(key, "content"))
		return parse_content(g, value);
	if (!strcmp(key, "hot"))
		return parse_hot(g, value);
	if (!strcmp(key, "theta"))
		return g->skew.theta && parse_thousandths(value, SKEW_THETA_MAX, &g->skew.theta);
	if (!strcmp(key, "read")) {
		if (!parse_number(value, &v) || v > 1000)
			return false;
		g->read_permille = (uint32_t)v;
		return true;
	}
	return false;
}

/* Parse SIZE, or SIZE:WEIGHT+SIZE:WEIGHT..., which this overwrites. */
static bool parse_sizes(struct gen *g, char *text)
{
	char *save = NULL;

	for (char *word = strtok_r(text, "+", &save); word; word = strtok_r(NULL, "+", &save)) {
		struct gen_size *size = &g->sizes[g->nsizes];
		char *colon = strchr(word, ':');
		uint64_t weight = 1;

		if (colon)
			*colon++ = 0;
		if (g->nsizes == GEN_SIZES || !trace_parse_size(word, &size->bytes) || !size->bytes)
			return false;
		if (colon && (!parse_number(colon, &weight) || !weight || weight > 1000000))
			return false;
		size->weight = (uint32_t)weight;
		g->weights += size->weight;
		g->nsizes++;
	}
	return g->nsizes;
}

static bool parse_kind(struct gen *g, char *kind)
{
	if (!strncmp(kind, "seq", 3))
		return parse_sizes(g, kind + 3) && g->nsizes == 1;
	if (strncmp(kind, "rand", 4) && strncmp(kind, "zipf", 4))
		return false;
	g->random = true;
	if (*kind == 'z') {
		g->skew.kind = SKEW_ZIPF;
		g->skew.theta = 990;
	}
	return parse_sizes(g, kind + 4);
}

/* Say what keys contradict each other or are missing; NULL: nothing. */
static const char *contradiction(const struct gen *g)
{
	uint64_t most = 0;

	for (unsigned int i = 0; i < g->nsizes; i++) {
		most = g->sizes[i].bytes > most ? g->sizes[i].bytes : most;
		if (g->sizes[i].bytes % 512)
			return "wants requests of whole sectors (512 bytes)";
	}
	if (g->foot_bytes < most)
		return "needs foot=SIZE, of a request at least";
	if (g->random && !g->requests)
		return "needs n=N, the number of requests";
	if (g->fill_bytes % 512 || g->from_bytes % 512)
		return "wants requests of whole sectors (512 bytes)";
	if (g->skew.theta && g->skew.hot_space)
		return "hot= and zipf contradict each other: give rand, or leave hot= out";
	if (g->skew.hot_space && !g->random)
		return "hot= is for rand";
	return NULL;
}

static int check(struct gen *g, const char *spec, char *err, size_t room)
{
	const char *why = contradiction(g);

	if (why) {
		snprintf(err, room, "generator gen:%s: %s; " FIX, spec, why);
		return -1;
	}
	g->least_bytes = g->sizes[0].bytes;
	for (unsigned int i = 1; i < g->nsizes; i++)
		if (g->sizes[i].bytes < g->least_bytes)
			g->least_bytes = g->sizes[i].bytes;
	if (!g->requests)
		g->requests = g->foot_bytes / g->least_bytes;
	skew_begin(&g->skew, g->foot_bytes / g->least_bytes);
	if (g->fill_bytes)
		g->fills = (g->foot_bytes + g->fill_bytes - 1) / g->fill_bytes;
	gen_rewind(g);
	return 0;
}

int gen_open(struct gen *g, const char *spec, char *err, size_t room)
{
	char text[256], *word, *save = NULL;

	*g = (struct gen){ .seed = 1 };
	if (snprintf(text, sizeof(text), "%s", spec) >= (int)sizeof(text)) {
		snprintf(err, room, "generator gen:%.32s...: is too long; " FIX, spec);
		return -1;
	}
	word = strtok_r(text, ",", &save);
	if (!word || !parse_kind(g, word)) {
		snprintf(err, room, "generator gen:%s: must begin with randSIZE, zipfSIZE or seqSIZE (such "
			 "as rand4k, or rand4k:3+64k:1 for three of four of 4 KiB); " FIX, spec);
		return -1;
	}
	while ((word = strtok_r(NULL, ",", &save))) {
		char *value = strchr(word, '=');

		if (value)
			*value++ = 0;
		if (!value || !parse_key(g, word, value)) {
			snprintf(err, room, "generator gen:%s: '%s' is no key of it, or its value is wrong; "
				 FIX, spec, word);
			return -1;
		}
	}
	return check(g, spec, err, room);
}

void gen_rewind(struct gen *g)
{
	g->x = g->seed * GOLDEN;
	g->at = 0;
}

static uint64_t draw(void *opaque)
{
	struct gen *g = opaque;

	g->x ^= g->x << 13;
	g->x ^= g->x >> 7;
	g->x ^= g->x << 17;
	return g->x;
}

static void fill_row(const struct gen *g, struct trace_row *row)
{
	uint64_t left;

	row->op = TRACE_WRITE;
	row->offset = g->at * g->fill_bytes;
	left = g->foot_bytes - row->offset;
	row->bytes = left < g->fill_bytes ? left / 512 * 512 : g->fill_bytes;
}

/* Draw a size, if there are several: one random number. */
static uint64_t next_size(struct gen *g)
{
	unsigned int i = 0;
	uint64_t at;

	if (g->nsizes == 1)
		return g->least_bytes;
	for (at = draw(g) % g->weights; at >= g->sizes[i].weight; i++)
		at -= g->sizes[i].weight;
	return g->sizes[i].bytes;
}

/* Return a multiple of the request's size, so that it ends within the footprint. */
static uint64_t next_offset(struct gen *g, uint64_t i, uint64_t bytes)
{
	uint64_t place = g->random ? skew_next(&g->skew, draw, g) : i % g->skew.places, places;

	if (bytes == g->least_bytes)
		return place * bytes;
	place = place * g->least_bytes / bytes;
	places = g->foot_bytes / bytes;
	return (place < places ? place : places - 1) * bytes;
}

bool gen_next(struct gen *g, struct trace_row *row)
{
	uint64_t i;

	if (g->at == g->fills + g->requests)
		return false;
	*row = (struct trace_row){ .at_ns = g->at * g->gap_ns, .line = g->at + 1 };
	if (g->at < g->fills) {
		fill_row(g, row);
	} else {
		i = g->at - g->fills;
		row->bytes = next_size(g);
		row->offset = next_offset(g, i, row->bytes);
		row->op = g->read_permille && draw(g) % 1000 < g->read_permille ? TRACE_READ : TRACE_WRITE;
	}
	row->offset += g->from_bytes;
	g->offset = row->offset;
	g->at++;
	return true;
}

/* ---- content ----------------------------------------------------------------------- */

static uint64_t mix(uint64_t *state)	/* splitmix64 */
{
	uint64_t z = (*state += GOLDEN);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* Store a word, little-endian, so that the content is the same on every machine. */
static void put_word(unsigned char *to, uint64_t v)
{
	for (unsigned int b = 0; b < 8; b++)
		to[b] = (unsigned char)(v >> 8 * b);
}

static void fill_random(uint64_t state, unsigned char *block)
{
	for (size_t i = 0; i < BLOCK_BYTES; i += 8)
		put_word(block + i, mix(&state));
}

static void fill_text(uint64_t state, unsigned char *block)
{
	static const char words[32][9] = {
		"block ", "page ", "erase ", "program ", "read ", "write ", "trim ", "flush ", "victim ",
		"valid ", "free ", "map ", "unit ", "plane ", "die ", "chip ", "channel ", "host ", "queue ",
		"buffer ", "wear ", "spare ", "word ", "cell ", "bit ", "error ", "time ", "log ", "mark ",
		"\n", "of ", "the ",
	};
	size_t at = 0;

	while (at < BLOCK_BYTES) {
		const char *word = words[mix(&state) % 32];
		size_t len = strlen(word);

		len = len < BLOCK_BYTES - at ? len : BLOCK_BYTES - at;
		memcpy(block + at, word, len);
		at += len;
	}
}

static void fill_similar(uint64_t seed, uint64_t state, unsigned char *block)
{
	fill_random(seed ^ mix(&state) % 64, block);
	for (unsigned int i = 0; i < 4; i++) {
		size_t at = mix(&state) % (BLOCK_BYTES / 8) * 8;

		put_word(block + at, mix(&state));
	}
}

static void fill_block(const struct gen *g, uint64_t number, unsigned char *block)
{
	uint64_t seed = g->seed * GOLDEN, state = seed + g->at * 0xd1342543de82ef95u;

	state = mix(&state) ^ number * 0xbf58476d1ce4e5b9u;
	switch (g->content) {
	case GEN_NO_CONTENT:
	case GEN_ZERO:
		memset(block, 0, BLOCK_BYTES);
		break;
	case GEN_RANDOM:
		fill_random(state, block);
		break;
	case GEN_TEXT:
		fill_text(state, block);
		break;
	case GEN_SIMILAR:
		fill_similar(seed, state, block);
		break;
	}
}

void gen_content(const struct gen *g, uint64_t at, void *buf, size_t len)
{
	unsigned char block[BLOCK_BYTES], *to = buf;

	while (len) {
		uint64_t where = g->offset + at;
		size_t within = where % BLOCK_BYTES, part = BLOCK_BYTES - within;

		part = part < len ? part : len;
		fill_block(g, where / BLOCK_BYTES, block);
		memcpy(to, block + within, part);
		to += part;
		at += part;
		len -= part;
	}
}

uint64_t gen_rows(const struct gen *g)
{
	return g->fills + g->requests;
}
