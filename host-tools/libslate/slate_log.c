// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * slate_log.c - a drive's logs in the format of slate_wire.h. Each log is made at once and shows
 * one moment. It reads the FTL and the array and changes neither. Cost: O(blocks) for
 * SLATE_LOG_BLOCKS and _WEAR, else O(size of the log).
 */
#include <stdlib.h>
#include <string.h>

#include "nand_geom.h"
#include "slate_control.h"
#include "slate_dev.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "logs are copied as they lie in memory");
_Static_assert((int)SLATE_WIRE_SOURCES == NAND_NSOURCES && SLATE_WIRE_RULES == NAND_NRULES &&
	       (int)SLATE_WIRE_OPS == FTL_NOPS, "slate_wire.h");
_Static_assert((int)SLATE_WIRE_READ == FTL_READ && (int)SLATE_WIRE_WRITE == FTL_WRITE &&
	       (int)SLATE_WIRE_TRIM == FTL_TRIM && (int)SLATE_WIRE_FLUSH == FTL_FLUSH, "slate_wire.h");
_Static_assert((int)SLATE_BLOCK_USED == FTL_BLOCK_USED && (int)SLATE_BLOCK_FREE == FTL_BLOCK_FREE &&
	       (int)SLATE_BLOCK_OPEN == FTL_BLOCK_OPEN && (int)SLATE_BLOCK_FULL == FTL_BLOCK_FULL &&
	       (int)SLATE_BLOCK_VICTIM == FTL_BLOCK_VICTIM && (int)SLATE_BLOCK_BAD == FTL_BLOCK_BAD &&
	       (int)SLATE_BLOCK_STATES == FTL_NBLOCK_STATES, "slate_wire.h");
_Static_assert((int)SLATE_FAULT_PROGRAM == FAULT_PROGRAM && (int)SLATE_FAULT_ERASE == FAULT_ERASE &&
	       (int)SLATE_FAULT_FLIP == FAULT_FLIP && SLATE_FAULTS_MAX == FAULT_PLAN_MAX &&
	       SLATE_ANY_DIE == FAULT_ANY_DIE, "slate_wire.h");
_Static_assert(sizeof(struct ftl_breakdown) == SLATE_WIRE_CAUSES * sizeof(uint64_t), "slate_wire.h");

/* Make a log of `bytes` with its head. */
void *slate_new_log(const struct slate_dev *d, uint64_t now_ns, uint32_t id, size_t bytes)
{
	struct slate_log_head *h = calloc(1, bytes);

	SSD_ASSERT(h);
	h->magic = SLATE_WIRE_MAGIC;
	h->version = SLATE_WIRE_VERSION;
	h->id = (uint16_t)id;
	h->bytes = bytes;
	h->at_ns = now_ns;
	h->since_ns = d->since_ns;
	return h;
}

/* Copy a text, padded with NULs. */
static void copy_text(char *to, size_t room, const char *from)
{
	memcpy(to, from, strnlen(from, room - 1));
}

/* ---- identity ------------------------------------------------------------ */

static size_t knobs_print(const struct slate_dev *d, char *out)
{
	const struct knob *k;
	size_t bytes = 0;

	for (uint32_t i = 0; (k = ftl_online_knob(d->profile.ops, i)); i++) {
		size_t len = strlen(k->name);

		if (out) {
			memcpy(out + bytes, "ftl.", 4);
			memcpy(out + bytes + 4, k->name, len);
			out[bytes + 4 + len] = '\n';
		}
		bytes += len + 5;
	}
	return bytes;
}

static uint32_t identity_flags(const struct slate_dev *d)
{
	return (slate_has_write_cache(d) ? SLATE_ID_WRITE_CACHE : 0) |
	       (slate_trims(d) ? SLATE_ID_TRIMS : 0) |
	       (d->profile.ops->collect ? SLATE_ID_COLLECTS : 0) |
	       (d->profile.ops->block ? SLATE_ID_BLOCK_STATES : 0) |
	       (d->path ? SLATE_ID_DRIVE_FILE : 0) | (d->was_there ? SLATE_ID_WAS_THERE : 0) |
	       (d->profile.ftl.payload ? SLATE_ID_PAYLOAD : 0) |
	       (d->profile.ftl.power_protected ? SLATE_ID_PROTECTED : 0);
}

static void *log_identity(const struct slate_dev *d, uint64_t now_ns, size_t *bytes)
{
	const struct nand_geometry *g = &d->profile.array.geo;
	size_t settings = strlen(d->settings), knobs = knobs_print(d, NULL);
	struct slate_log_identity *l;

	*bytes = (sizeof(*l) + settings + knobs + 3) / 4 * 4;
	l = slate_new_log(d, now_ns, SLATE_LOG_IDENTITY, *bytes);
	l->capacity_bytes = slate_capacity(d);
	l->unit_bytes = slate_unit_bytes(d);
	l->page_bytes = g->page_bytes;
	l->oob_bytes = g->oob_bytes;
	l->pages_per_block = g->pages_per_block;
	l->blocks_per_plane = g->blocks_per_plane;
	l->planes_per_die = g->planes_per_die;
	l->dies_per_chip = g->dies_per_chip;
	l->chips_per_channel = g->chips_per_channel;
	l->channels = g->channels;
	l->bits_per_cell = g->bits_per_cell;
	l->pb_levels = g->pb_levels;
	l->ecc_word_bytes = g->ecc_word_bytes;
	l->flags = identity_flags(d);
	l->endurance = d->profile.array.physics.endurance;
	l->buffer_units = d->profile.ftl.buffer_units;
	l->settings_at = sizeof(*l);
	l->settings_bytes = (uint32_t)settings;
	l->knobs_at = (uint32_t)(sizeof(*l) + settings);
	l->knobs_bytes = (uint32_t)knobs;
	l->map_bytes = slate_map_bytes(d);
	l->unsafe_shutdowns = d->note[SLATE_NOTE_UNSAFE];
	l->saved = d->note[SLATE_NOTE_SAVED];
	l->unsaved = d->note[SLATE_NOTE_UNSAVED];
	copy_text(l->profile, sizeof(l->profile), d->profile.name);
	copy_text(l->ftl, sizeof(l->ftl), d->profile.ops->name);
	memcpy((char *)l + l->settings_at, d->settings, settings);
	knobs_print(d, (char *)l + l->knobs_at);
	return l;
}

/* ---- counters ------------------------------------------------------------- */

#define PUT(name, ...) *to++ = s->name;
#define PUT_CAUSE(name, says) *to++ = s->where.name;
#define PUT_COMMANDS(name, field, says) *to++ = s->field[source];
#define PUT_SOURCE(name, says) *to++ = s->name[source];

static uint64_t *put_op(uint64_t *to, const struct ftl_op_stats *s)
{
	uint64_t *op = to;

	FTL_OP_COUNTERS(PUT)
	FTL_CAUSES(PUT_CAUSE)
	if (!s->ios)
		op[SLATE_OP_latency_min_ns] = 0;
	return to;
}

static uint64_t *put_ftl(uint64_t *to, const struct ftl_stats *s)
{
	FTL_COUNTERS(PUT)
	return to;
}

static uint64_t *put_source(uint64_t *to, const struct nand_stats *s, unsigned int source)
{
	NAND_COMMAND_COUNTERS(PUT_COMMANDS)
	NAND_SOURCE_COUNTERS(PUT_SOURCE)
	return to;
}

static uint64_t *put_nand(uint64_t *to, const struct nand_stats *s)
{
	NAND_COUNTERS(PUT)
	return to;
}

static void *log_counters(const struct slate_dev *d, uint64_t now_ns, size_t *bytes)
{
	struct slate_stats *s = malloc(sizeof(*s));
	struct slate_log_counters *l;
	uint64_t *to;

	SSD_ASSERT(s);
	slate_get_stats(d, s);
	*bytes = sizeof(*l) + sizeof(*to) * (FTL_NOPS * SLATE_OP_WORDS + SLATE_FTL_WORDS +
		 NAND_NSOURCES * SLATE_SOURCE_WORDS + NAND_NRULES + SLATE_NAND_WORDS);
	l = slate_new_log(d, now_ns, SLATE_LOG_COUNTERS, *bytes);
	l->ops = FTL_NOPS;
	l->op_words = SLATE_OP_WORDS;
	l->ftl_words = SLATE_FTL_WORDS;
	l->sources = NAND_NSOURCES;
	l->source_words = SLATE_SOURCE_WORDS;
	l->rules = NAND_NRULES;
	l->nand_words = SLATE_NAND_WORDS;
	to = (uint64_t *)(void *)(l + 1);
	for (unsigned int op = 0; op < FTL_NOPS; op++)
		to = put_op(to, &s->ftl.op[op]);
	to = put_ftl(to, &s->ftl);
	for (unsigned int source = 0; source < NAND_NSOURCES; source++)
		to = put_source(to, &s->nand, source);
	for (unsigned int rule = 0; rule < NAND_NRULES; rule++)
		*to++ = s->nand.violations[rule];
	to = put_nand(to, &s->nand);
	SSD_ASSERT((char *)to == (char *)l + *bytes);
	free(s);
	return l;
}

/* ---- blocks ---------------------------------------------------------------- */

static struct slate_wear_entry wear_of(const struct slate_dev *d, uint32_t b)
{
	struct slate_wear_entry e = { .erases = d->nand->ops->erase_count(d->nand, (pbn_t){ b }),
				      .valid_units = SLATE_NOT_TOLD };

	if (d->ftl && d->ftl->ops->block) {
		struct ftl_block k = d->ftl->ops->block(d->ftl, (pbn_t){ b });

		e.state = (uint8_t)k.state;
		e.valid_units = k.valid_units;
	}
	if (d->nand->ops->is_bad(d->nand, (pbn_t){ b }))
		e.state = SLATE_BLOCK_BAD;
	return e;
}

static void sum_plane(const struct slate_dev *d, uint32_t plane, struct slate_plane_entry *e)
{
	const struct nand_geometry *g = &d->profile.array.geo;
	uint32_t die = geo_die_of_plane(g, plane), chip = die / g->dies_per_chip;

	e->channel = geo_channel_of_die(g, die);
	e->chip = chip % g->chips_per_channel;
	e->die = die % g->dies_per_chip;
	e->plane = plane % g->planes_per_die;
	e->blocks = g->blocks_per_plane;
	e->erases_min = UINT32_MAX;
	for (uint32_t i = 0; i < g->blocks_per_plane; i++) {
		struct slate_wear_entry w = wear_of(d, plane * g->blocks_per_plane + i);

		e->state[w.state]++;
		if (w.valid_units != SLATE_NOT_TOLD)
			e->valid_units += w.valid_units;
		if (w.state == SLATE_BLOCK_BAD)
			continue;
		e->erases_sum += w.erases;
		if (w.erases < e->erases_min)
			e->erases_min = w.erases;
		if (w.erases > e->erases_max)
			e->erases_max = w.erases;
	}
	if (e->erases_min == UINT32_MAX)
		e->erases_min = 0;
}

static void *log_blocks(const struct slate_dev *d, uint64_t now_ns, size_t *bytes)
{
	const struct nand_geometry *g = &d->profile.array.geo;
	uint32_t planes = geo_planes(g);
	struct slate_plane_entry *e;
	struct slate_log_blocks *l;

	*bytes = sizeof(*l) + planes * sizeof(*e);
	l = slate_new_log(d, now_ns, SLATE_LOG_BLOCKS, *bytes);
	l->planes = planes;
	l->entry_bytes = sizeof(*e);
	l->units_per_block = g->page_bytes / slate_unit_bytes(d) * g->pages_per_block;
	e = (struct slate_plane_entry *)(void *)(l + 1);
	for (uint32_t p = 0; p < planes; p++)
		sum_plane(d, p, &e[p]);
	return l;
}

static void *log_wear(const struct slate_dev *d, uint64_t now_ns, size_t *bytes)
{
	const struct nand_geometry *g = &d->profile.array.geo;
	uint64_t blocks = geo_blocks(g);
	struct slate_wear_entry *e;
	struct slate_log_wear *l;

	*bytes = sizeof(*l) + blocks * sizeof(*e);
	l = slate_new_log(d, now_ns, SLATE_LOG_WEAR, *bytes);
	l->blocks = (uint32_t)blocks;
	l->entry_bytes = sizeof(*e);
	l->blocks_per_plane = g->blocks_per_plane;
	e = (struct slate_wear_entry *)(void *)(l + 1);
	for (uint32_t b = 0; b < blocks; b++)
		e[b] = wear_of(d, b);
	return l;
}

/* ---- faults, errors --------------------------------------------------------- */

static void *log_faults(const struct slate_dev *d, uint64_t now_ns, size_t *bytes)
{
	const struct fault_plan *p = &d->faults;
	struct slate_fault_entry *e;
	struct slate_log_faults *l;

	*bytes = sizeof(*l) + p->count * sizeof(*e);
	l = slate_new_log(d, now_ns, SLATE_LOG_FAULTS, *bytes);
	l->entries = p->count;
	l->entry_bytes = sizeof(*e);
	l->room = FAULT_PLAN_MAX - p->count;
	e = (struct slate_fault_entry *)(void *)(l + 1);
	for (uint32_t i = 0; i < p->count; i++) {
		const struct fault *f = &p->entry[i];

		e[i] = (struct slate_fault_entry){ .kind = f->kind, .die = f->die, .left = f->left,
						   .ppn = f->ppn.v, .bits = f->bits, .hits = f->hits };
	}
	return l;
}

static void *log_error(const struct slate_dev *d, uint64_t now_ns, size_t *bytes)
{
	struct slate_log_error *l;

	*bytes = sizeof(*l);
	l = slate_new_log(d, now_ns, SLATE_LOG_ERROR, *bytes);
	l->opcode = d->refusal.opcode;
	l->command = d->refusal.command;
	l->status = d->refusal.status;
	l->refused = d->refusal.count;
	copy_text(l->text, sizeof(l->text), d->refusal.text);
	return l;
}

void *slate_log(const struct slate_dev *d, uint64_t now_ns, uint32_t id, size_t *bytes)
{
	static void *(*const make[])(const struct slate_dev *, uint64_t, size_t *) = {
		/* NOLINTNEXTLINE(misc-redundant-expression): written like the rows below */
		[SLATE_LOG_IDENTITY - SLATE_LOG_IDENTITY] = log_identity,
		[SLATE_LOG_COUNTERS - SLATE_LOG_IDENTITY] = log_counters,
		[SLATE_LOG_LATENCY - SLATE_LOG_IDENTITY] = slate_log_latency,
		[SLATE_LOG_BLOCKS - SLATE_LOG_IDENTITY] = log_blocks,
		[SLATE_LOG_WEAR - SLATE_LOG_IDENTITY] = log_wear,
		[SLATE_LOG_FAULTS - SLATE_LOG_IDENTITY] = log_faults,
		[SLATE_LOG_ERROR - SLATE_LOG_IDENTITY] = log_error,
		[SLATE_LOG_SERIES - SLATE_LOG_IDENTITY] = slate_log_series,
	};

	if (id < SLATE_LOG_IDENTITY || id >= SLATE_LOG_END)
		return NULL;
	return make[id - SLATE_LOG_IDENTITY](d, now_ns, bytes);
}

/* ---- for the host interface ---------------------------------------------------- */

/* Returns the number of blocks beyond those needed for the capacity. */
static uint64_t spare_blocks(const struct slate_dev *d, uint64_t blocks)
{
	const struct nand_geometry *g = &d->profile.array.geo;
	uint64_t block_bytes = (uint64_t)g->page_bytes * g->pages_per_block;
	uint64_t filled = (slate_capacity(d) + block_bytes - 1) / block_bytes;

	return blocks > filled ? blocks - filled : 0;
}

void slate_get_health(const struct slate_dev *d, struct slate_health *out)
{
	const struct nand_geometry *g = &d->profile.array.geo;
	uint32_t endurance = d->profile.array.physics.endurance;
	uint64_t blocks = geo_blocks(g), spare = spare_blocks(d, blocks), good = 0;
	struct nand_stats s;

	d->nand->ops->get_stats(d->nand, &s);
	*out = (struct slate_health){ .media_errors = d->note[SLATE_NOTE_MEDIA_ERRORS],
				      .unsafe_shutdowns = d->note[SLATE_NOTE_UNSAFE],
				      .saved = d->note[SLATE_NOTE_SAVED], .unsaved = d->note[SLATE_NOTE_UNSAVED],
				      .power_cycles = nand_array_cuts(nand_array_of(d->nand)) + 1 };
	if (endurance) {
		uint64_t used = s.page_erases * 100 / geo_pages(g) / endurance;

		out->used_percent = used < 255 ? (uint32_t)used : 255;
	}
	for (uint32_t b = 0; b < blocks; b++)
		good += !d->nand->ops->is_bad(d->nand, (pbn_t){ b });
	out->read_only = d->ftl && d->ftl->ops->read_only && d->ftl->ops->read_only(d->ftl);
	out->spare_percent = spare ? (uint32_t)(spare_blocks(d, good) * 100 / spare) : 100;
}

void slate_get_sizes(const struct slate_dev *d, struct slate_sizes *out)
{
	const struct nand_geometry *g = &d->profile.array.geo;
	bool planes = d->profile.ftl.multiplane;
	uint64_t copy;

	out->write_granularity = out->trim_granularity = out->atomic = slate_unit_bytes(d);
	if (d->profile.ops->atomic_bytes)
		out->atomic = d->profile.ops->atomic_bytes(&d->profile.ftl, g);
	out->write_optimal = g->page_bytes * (planes ? g->planes_per_die : 1);
	out->metadata = d->profile.ftl.payload ?
		d->profile.ftl.metadata_bytes * FTL_SECTOR_BYTES / slate_unit_bytes(d) : 0;
	out->lost = ftl_lost_bytes(d->profile.ops, &d->profile.ftl);
	copy = (uint64_t)d->profile.ftl.buffer_units * slate_unit_bytes(d);
	if (!copy)
		copy = geo_planes(g) * (uint64_t)g->page_bytes;
	out->copy = copy < SLATE_COPY_MAX ? (uint32_t)copy : SLATE_COPY_MAX;
}
