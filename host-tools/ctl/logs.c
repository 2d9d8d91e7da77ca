// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * logs.c - converts a log's bytes to numbers. A log gives the number of counters of each kind:
 * additional ones of a newer drive are skipped, and ones that an older drive lacks are 0.
 */
#include "ctl.h"

#include <string.h>

#define WORD(name, ...) #name,
const char *const ctl_op_words[] = { FTL_OP_COUNTERS(WORD) FTL_CAUSES(WORD) };
const char *const ctl_ftl_words[] = { FTL_COUNTERS(WORD) };
const char *const ctl_source_words[] = { NAND_COMMAND_COUNTERS(WORD) NAND_SOURCE_COUNTERS(WORD) };
const char *const ctl_nand_words[] = { NAND_COUNTERS(WORD) };
const char *const ctl_op_names[] = { "read", "write", "trim", "flush" };
#define SOURCE_NAME(ID, name, ...) #name,
const char *const ctl_source_names[] = { NAND_SOURCES(SOURCE_NAME) };
const char *const ctl_cause_names[] = { "cell", "bus", "host_queue", "gc_queue", "buffer", "map", "other", "link",
					"controller", "namespace_queue" };
const char *const ctl_state_names[] = { "used", "free", "open", "full", "victim", "bad" };

static int too_short(struct ctl_log *log, uint32_t id)
{
	ctl_free(log);
	return ctl_fail(CTL_FAILED, "log 0x%x is shorter than it says: the drive or its driver is at fault", id);
}

/* Returns a string of the log if it is inside the log, or NULL. */
static bool text_inside(const struct ctl_log *log, uint64_t at, uint64_t bytes)
{
	return at <= log->len && bytes <= log->len - at;
}

int ctl_identity(struct ctl *c, struct ctl_log *log, struct ctl_identity *out)
{
	int result = ctl_fetch(c, SLATE_LOG_IDENTITY, log);
	const unsigned char *at = log->bytes;

	if (result)
		return result;
	if (log->len < sizeof(struct slate_log_identity) ||
	    !text_inside(log, ctl_get(at + 100, 4), ctl_get(at + 104, 4)) ||
	    !text_inside(log, ctl_get(at + 108, 4), ctl_get(at + 112, 4)))
		return too_short(log, SLATE_LOG_IDENTITY);
	memset(out, 0, sizeof(*out));
	out->capacity_bytes = ctl_get(at + 32, 8);
	uint32_t *const words[] = {
		&out->unit_bytes, &out->page_bytes, &out->oob_bytes, &out->pages_per_block,
		&out->blocks_per_plane, &out->planes_per_die, &out->dies_per_chip, &out->chips_per_channel,
		&out->channels, &out->bits_per_cell, &out->pb_levels, &out->ecc_word_bytes, &out->flags,
		&out->endurance, &out->buffer_units,
	};
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		*words[i] = (uint32_t)ctl_get(at + 40 + 4 * i, 4);
	out->settings = (const char *)at + ctl_get(at + 100, 4);
	out->settings_bytes = (uint32_t)ctl_get(at + 104, 4);
	out->knobs = (const char *)at + ctl_get(at + 108, 4);
	out->knobs_bytes = (uint32_t)ctl_get(at + 112, 4);
	out->map_bytes = ctl_get(at + 120, 8);
	memcpy(out->profile, at + 128, 64);
	memcpy(out->ftl, at + 192, 16);
	out->unsafe_shutdowns = ctl_get(at + 208, 8);
	out->saved = ctl_get(at + 216, 8);
	out->unsaved = ctl_get(at + 224, 8);
	out->pages = (uint64_t)out->pages_per_block * out->blocks_per_plane * out->planes_per_die * out->dies_per_chip *
		     out->chips_per_channel * out->channels;
	return 0;
}

/* Take a group of `rows` times `has` numbers at *at, of which this program knows `want` in each row. */
static const unsigned char *take_group(const unsigned char *at, uint32_t rows, uint32_t has, uint64_t *out,
				       uint32_t out_rows, uint32_t want)
{
	for (uint32_t row = 0; row < rows; row++, at += (size_t)has * 8)
		for (uint32_t i = 0; i < has && i < want && row < out_rows; i++)
			out[row * want + i] = ctl_get(at + (size_t)i * 8, 8);
	return at;
}

int ctl_counters(struct ctl *c, struct ctl_counters *out)
{
	struct ctl_log log;
	int result = ctl_fetch(c, SLATE_LOG_COUNTERS, &log);
	const unsigned char *at;
	uint64_t has[7], all = 0;

	if (result)
		return result;
	memset(out, 0, sizeof(*out));
	if (log.len < sizeof(struct slate_log_counters))
		return too_short(&log, SLATE_LOG_COUNTERS);
	for (unsigned int i = 0; i < 7; i++)	/* ops, op_words, ftl, sources, source_words, rules, nand */
		has[i] = ctl_get(log.bytes + 32 + 4 * (size_t)i, 4);
	all = has[0] * has[1] + has[2] + has[3] * has[4] + has[5] + has[6];
	if (all > (log.len - sizeof(struct slate_log_counters)) / 8)
		return too_short(&log, SLATE_LOG_COUNTERS);
	at = log.bytes + sizeof(struct slate_log_counters);
	at = take_group(at, (uint32_t)has[0], (uint32_t)has[1], out->op[0], SLATE_WIRE_OPS, SLATE_OP_WORDS);
	at = take_group(at, 1, (uint32_t)has[2], out->ftl, 1, SLATE_FTL_WORDS);
	at = take_group(at, (uint32_t)has[3], (uint32_t)has[4], out->source[0], SLATE_WIRE_SOURCES,
			SLATE_SOURCE_WORDS);
	at = take_group(at, 1, (uint32_t)has[5], out->rule, 1, SLATE_WIRE_RULES);
	take_group(at, 1, (uint32_t)has[6], out->nand, 1, SLATE_NAND_WORDS);
	out->at_ns = log.at_ns;
	out->since_ns = log.since_ns;
	ctl_free(&log);
	return 0;
}

int ctl_entries(struct ctl *c, uint32_t id, uint32_t need, struct ctl_log *log, struct ctl_entries *out)
{
	int result = ctl_fetch(c, id, log);

	if (result)
		return result;
	if (log->len < 48)
		return too_short(log, id);
	*out = (struct ctl_entries){
		.at = log->bytes + 48,
		.count = (uint32_t)ctl_get(log->bytes + 32, 4),
		.bytes = (uint32_t)ctl_get(log->bytes + 36, 4),
		.word = (uint32_t)ctl_get(log->bytes + 40, 4),
	};
	if (out->bytes < need || (uint64_t)out->count * out->bytes > log->len - 48)
		return too_short(log, id);
	return 0;
}

static double share(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : -1;
}

void ctl_derive(const struct ctl_identity *id, const struct ctl_counters *n, struct ctl_derived *out)
{
	uint64_t written = n->op[SLATE_WIRE_WRITE][SLATE_OP_bytes], unit = id->unit_bytes;
	const uint64_t *f = n->ftl;
	/*
	 * A page of the DAC FTL is as large as a unit and holds several reduced ones, so its pages are counted.
	 * The counters do not tell the FTL: after a reset units may end whose page began before it.
	 */
	bool packed = !strcmp(id->ftl, "dac");
	uint64_t host = f[packed ? SLATE_FTL_host_pages : SLATE_FTL_host_units];
	uint64_t gc = f[packed ? SLATE_FTL_gc_pages : SLATE_FTL_gc_units];

	*out = (struct ctl_derived){
		.raf = share(n->nand[SLATE_NAND_read_bytes], n->op[SLATE_WIRE_READ][SLATE_OP_bytes]),
		.waf_host = share(host * unit, written),
		.waf_gc = share(gc * unit, written),
		.waf_wl = share(f[SLATE_FTL_wl_units] * unit, written),
		.waf_pad = share(f[SLATE_FTL_pad_units] * unit, written),
		.waf_meta = share(f[SLATE_FTL_meta_units] * unit, written),
		.aep = share(n->nand[SLATE_NAND_page_erases], id->pages),
	};
	out->waf = written ? out->waf_host + out->waf_gc + out->waf_wl + out->waf_pad + out->waf_meta : -1;
	out->vep = share(n->nand[SLATE_NAND_page_erases_sq], id->pages) - out->aep * out->aep;
	for (unsigned int s = 0; s < SLATE_WIRE_SOURCES; s++)
		out->erases += n->source[s][SLATE_SOURCE_erases];
	for (unsigned int r = 0; r < SLATE_WIRE_RULES; r++)
		out->violations += n->rule[r];
}
