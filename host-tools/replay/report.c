// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * report.c - writes the JSON of a replay; docs/replay.md has the schema. Without --wall it does not
 * depend on the host's clock.
 */
#define _GNU_SOURCE
#include "report.h"
#include "slate_control.h"
#include "slate_power.h"
#include "slate_wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define SCHEMA "slate-replay-1"

#define SOURCE_NAME(ID, name, ...) #name,
static const char *const sources[NAND_NSOURCES] = { NAND_SOURCES(SOURCE_NAME) };
enum { ALWAYS, IF_ANY };
#define SOURCE_SHOWN(ID, name, shown, ...) shown,
static const unsigned char source_shown[NAND_NSOURCES] = { NAND_SOURCES(SOURCE_SHOWN) };
static const char *const nand_ops[NAND_NOPS] = { "read", "program", "erase", "copyback" };
static const char *const loops[] = { "closed", "open", "recorded" };
static const char *const beyonds[] = { "error", "fold", "scale" };
static const uint32_t percentiles[] = {		/* millionths */
	500000, 900000, 950000, 990000, 999000, 999900, 999990, 1000000
};

/* Write a / b, or null if b is 0. */
static void put_ratio(json_t *o, const char *key, double a, double b)
{
	json_object_set_new(o, key, b > 0 ? json_real(a / b) : json_null());
}

/* JSON is UTF-8; from text in another encoding only the ASCII characters are kept. */
static json_t *text_of(const char *text, size_t len)
{
	json_t *s = json_stringn(text, len);
	char *plain;

	if (s)
		return s;
	plain = strndup(text, len);
	SSD_ASSERT(plain);
	for (char *c = plain; *c; c++)
		if (*c & 0x80)
			*c = '?';
	s = json_string(plain);
	free(plain);
	return s;
}

static void put_text(json_t *o, const char *key, const char *text)
{
	json_object_set_new(o, key, text_of(text, strlen(text)));
}

static uint64_t by_source(const uint64_t v[NAND_NSOURCES])
{
	uint64_t sum = 0;

	for (unsigned int s = 0; s < NAND_NSOURCES; s++)
		sum += v[s];
	return sum;
}

static void put_sources(json_t *o, const char *key, const uint64_t v[NAND_NSOURCES])
{
	json_t *to = sub(o, key);

	for (unsigned int s = 0; s < NAND_NSOURCES; s++)
		if (source_shown[s] == ALWAYS || v[s])
			put(to, sources[s], v[s]);
}

/* ---- the traces, the drive and the settings ---------------------------------- */

static void put_settings(const struct replay *r, json_t *root)
{
	json_t *list = json_array();
	const char *line = slate_settings(r->dev);

	while (*line) {
		size_t len = strcspn(line, "\n");

		json_array_append_new(list, text_of(line, len));
		line += len + (line[len] == '\n');
	}
	json_object_set_new(root, "settings", list);
}

static void put_options(const struct replay *r, json_t *root)
{
	json_t *o = sub(root, "replay");

	put_text(o, "loop", loops[r->o.loop]);
	put(o, "qd", r->o.loop == REPLAY_CLOSED ? r->o.qd : 0);
	put(o, "speed_millionths", r->o.speed);
	put(o, "repeat", r->o.repeat);
	put(o, "limit", r->o.limit);
	put(o, "warmup", r->o.warmup);
	put_text(o, "beyond", beyonds[r->o.rows.beyond]);
	put(o, "align_bytes", r->place.grain_bytes);
	json_object_set_new(o, "common_clock", json_boolean(r->o.common_clock));
	json_object_set_new(o, "think", json_boolean(r->o.think));
}

/* Write null for generators and for traces without content. */
static void put_content(const struct stream *s, json_t *to)
{
	char name[TRACE_SHA256_CHARS];
	struct trace_content c;
	json_t *o;

	if (!trace_get_content(s->trace, &c)) {
		json_object_set_new(to, "content", json_null());
		return;
	}
	o = sub(to, "content");
	json_object_set_new(o, "name", trace_content_name(s->trace, name) ? json_string(name) : json_null());
	put(o, "pieces", c.pieces);
	put(o, "zeroes", c.zeroes);
	put(o, "blocks", c.blocks);
}

static json_t *input(struct stream *s)
{
	json_t *o = json_object();
	char sha256[TRACE_SHA256_CHARS];
	struct trace_counts c;

	rows_counts(s, &c);
	put_text(o, "name", trace_name(s->trace));
	put_text(o, "format", trace_format_names[trace_format(s->trace)]);
	json_object_set_new(o, "sha256",
			    trace_sha256(s->trace, sha256) ? json_string(sha256) : json_null());
	put(o, "bytes", trace_file_bytes(s->trace));
	put(o, "lines", c.lines);
	put(o, "rows", c.rows);
	put(o, "bad", c.bad);
	put(o, "other", c.other);
	put(o, "passed_over", c.passed);
	put(o, "other_devices", c.other_devices);
	json_object_set_new(o, "several_devices", json_boolean(trace_many_devices(s->trace)));
	put_content(s, o);
	put(o, "requests", s->requests);
	put(o, "backwards", s->backwards);
	put(o, "zero_size", s->placed.zero_size);
	put(o, "aligned", s->placed.aligned);
	put(o, "folded", s->placed.folded);
	put(o, "scaled", s->placed.scaled);
	put(o, "moved", s->placed.moved);
	put(o, "clipped", s->placed.clipped);
	put(o, "split", s->placed.split);
	put(o, "trims_left_out", s->placed.trims_left_out);
	put(o, "extent_bytes", s->extent);
	put(o, "events_left_out", s->steps_left_out);
	put(o, "flushes_left_out", s->flushes_left_out);
	return o;
}

static void put_inputs(struct replay *r, json_t *root)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < r->streams; i++)
		json_array_append_new(list, input(&r->stream[i]));
	json_object_set_new(root, "inputs", list);
}

/* ---- the host's figures ------------------------------------------------------------ */

static json_t *latency(const struct hist *h)
{
	json_t *o = json_object(), *points = json_object(), *buckets = json_array();
	char name[32];

	put(o, "min_ns", h->min_ns);
	put(o, "max_ns", h->max_ns);
	put(o, "sum_ns", h->sum_ns);
	put_ratio(o, "mean_ns", (double)h->sum_ns, (double)h->count);
	for (size_t i = 0; i < sizeof(percentiles) / sizeof(percentiles[0]); i++) {
		snprintf(name, sizeof(name), "%.6g", (double)percentiles[i] / 10000);
		put(points, name, hist_percentile(h, percentiles[i]));
	}
	json_object_set_new(o, "percentiles_ns", points);
	for (uint32_t b = 0; b < HIST_BUCKETS; b++)
		if (h->bucket[b])
			json_array_append_new(buckets, json_pack("[I,I]", (json_int_t)hist_floor(b),
								 (json_int_t)h->bucket[b]));
	json_object_set_new(o, "histogram", buckets);
	return o;
}

/* Write the parts of a latency. The part of the cores is omitted if the drive has none. */
static void put_where(const struct replay *r, json_t *o, const struct ftl_breakdown *w)
{
	json_t *to = sub(o, "where_ns");

	put(to, "cell", w->cell_ns);
	put(to, "bus", w->bus_ns);
	put(to, "host_queue", w->host_queue_ns);
	put(to, "gc_queue", w->gc_queue_ns);
	put(to, "buffer", w->buffer_ns);
	put(to, "map", w->map_ns);
	put(to, "other", w->other_ns);
	put(to, "link", w->link_ns);
	if (slate_cores(r->dev))
		put(to, "controller", w->controller_ns);
}

static void put_host(const struct replay *r, json_t *root)
{
	const struct account *a = &r->account;
	double seconds = (double)(a->last_ns - a->since_ns) / 1e9;
	json_t *host = sub(root, "host");

	for (unsigned int op = 0; op < FTL_NOPS; op++) {
		json_t *o = sub(host, replay_op_name(op));

		put(o, "ios", a->hist[op].count);
		put(o, "bytes", a->bytes[op]);
		put(o, "errors", a->errors[op]);
		put_ratio(o, "iops", (double)a->hist[op].count, seconds);
		put_ratio(o, "bytes_per_s", (double)a->bytes[op], seconds);
		put_where(r, o, &a->where[op]);
		json_object_set_new(o, "latency", a->hist[op].count ? latency(&a->hist[op]) : json_null());
	}
}

/* ---- the drive's work ------------------------------------------------------------ */

/*
 * Write the read amplification of data by cause: the bytes read for the cause / the bytes that the
 * host read.
 */
static void put_raf_by_cause(const struct replay *r, json_t *root, const struct slate_stats *st)
{
	const uint64_t *read = st->nand.user_read_bytes;
	double asked = (double)r->account.bytes[FTL_READ];
	json_t *o = sub(root, "raf_by");

	put_ratio(o, "host", (double)(read[NAND_SRC_HOST] - st->ftl.merge_read_bytes), asked);
	put_ratio(o, "merge", (double)st->ftl.merge_read_bytes, asked);
	for (unsigned int s = NAND_SRC_HOST + 1; s < NAND_NSOURCES; s++)
		if (source_shown[s] == ALWAYS || read[s])
			put_ratio(o, sources[s], (double)read[s], asked);
}

static void put_amplification(const struct replay *r, json_t *root, const struct slate_stats *st)
{
	uint64_t programs = by_source(st->nand.ops[NAND_PROGRAM]) + by_source(st->nand.ops[NAND_COPYBACK]);
	uint64_t page = slate_page_bytes(r->dev);

	put_ratio(root, "waf", (double)programs * (double)page, (double)r->account.bytes[FTL_WRITE]);
	put_ratio(root, "raf", (double)st->nand.read_bytes, (double)r->account.bytes[FTL_READ]);
	put_raf_by_cause(r, root, st);
}

static void put_gc(json_t *root, const struct slate_stats *st)
{
	json_t *o = sub(root, "gc");

	put(o, "calls", st->ftl.gc_runs);
	put(o, "ns", st->ftl.gc_ns);
	put(o, "units_moved", st->ftl.gc_units);
	put(o, "pages_moved",
	    st->nand.ops[NAND_PROGRAM][NAND_SRC_GC] + st->nand.ops[NAND_COPYBACK][NAND_SRC_GC]);
	put(o, "blocks_erased", by_source(st->nand.ops[NAND_ERASE]));
	put(o, "blocks_erased_by_gc", st->ftl.gc_blocks);
	put(o, "merges", st->ftl.merges);
	put(o, "mmerges", st->ftl.mmerges);
	put(o, "second_victims", st->ftl.second_victims);
}

static void put_word_lines(json_t *root, const struct slate_stats *st)
{
	json_t *o = sub(root, "word_lines");

	put(o, "lsb_pages", st->ftl.fast_pages);
	put(o, "msb_pages", st->ftl.slow_pages);
	put(o, "parity_pages", st->ftl.backup_pages);
}

static void put_moves(json_t *root, const struct slate_stats *st)
{
	json_t *o = sub(root, "wear_levelling");

	put(o, "blocks_levelled", st->ftl.wl_runs);
	put(o, "blocks_relocated", st->ftl.relocations);
	put(o, "units_moved", st->ftl.wl_units);
}

static void put_wear(const struct replay *r, json_t *root, const struct slate_stats *st)
{
	const struct nand_geometry *g = slate_geometry(r->dev);
	double pages = (double)g->channels * g->chips_per_channel * g->dies_per_chip * g->planes_per_die *
		       g->blocks_per_plane * g->pages_per_block;
	double aep = (double)st->nand.page_erases / pages;
	json_t *o = sub(root, "wear");

	json_object_set_new(o, "aep", json_real(aep));
	json_object_set_new(o, "vep", json_real((double)st->nand.page_erases_sq / pages - aep * aep));
	put(o, "pages", (uint64_t)pages);
	put(o, "page_erases", st->nand.page_erases);
	put(o, "page_erases_sq", st->nand.page_erases_sq);
	put(o, "erase_count_max", st->nand.erase_count_max);
	put(o, "erase_count_sum", st->nand.erase_count_sum);
	put(o, "retired_blocks", st->ftl.retired_blocks);
}

static void put_energy(json_t *root, const struct slate_stats *st)
{
	json_t *o = sub(root, "energy_nj");
	uint64_t total = 0;

	for (unsigned int op = 0; op < NAND_NOPS; op++) {
		put_sources(o, nand_ops[op], st->nand.energy_nj[op]);
		total += by_source(st->nand.energy_nj[op]);
	}
	put(o, "total", total);
}

/*
 * A counter that was declared after the last one here has no place of its own in the JSON. It is put
 * under its name, if it is not 0, so that drives without it keep their results.
 */
#define PUT_LATER_FTL(name, says) \
	if (SLATE_FTL_##name > SLATE_FTL_core_busy_ns && f->name) \
		put(o, #name, f->name);
#define PUT_LATER_SOURCE(name, says) \
	if (SLATE_SOURCE_##name > SLATE_SOURCE_user_read_bytes && by_source(n->name)) \
		put_sources(o, #name, n->name);
#define PUT_LATER_NAND(name, kind, says) \
	if (SLATE_NAND_##name > SLATE_NAND_damaged && n->name) \
		put(o, #name, n->name);

static void put_nand(json_t *root, const struct slate_stats *st)
{
	const struct nand_stats *n = &st->nand;
	json_t *o = sub(root, "nand"), *ops = sub(o, "ops");
	uint64_t violations = 0;

	for (unsigned int rule = 0; rule < NAND_NRULES; rule++)
		violations += n->violations[rule];
	for (unsigned int op = 0; op < NAND_NOPS; op++)
		put_sources(ops, nand_ops[op], n->ops[op]);
	put(o, "read_bytes", n->read_bytes);
	put_sources(o, "user_read_bytes", n->user_read_bytes);
	put(o, "partial_erases", n->partial_erases);
	put(o, "parallel_erases", n->parallel_erases);
	put(o, "subpage_reads", n->subpage_reads);
	put(o, "suspends", n->suspends);
	put(o, "corrected", n->corrected);
	put(o, "retries", n->retries);
	put(o, "uncorrectable", n->uncorrectable);
	put(o, "program_fails", n->program_fails);
	put(o, "erase_fails", n->erase_fails);
	put(o, "disturbs", n->disturbs);
	put(o, "disturb_lost", n->disturb_lost);
	put(o, "programmed_pages", n->programmed_pages);
	put(o, "damaged", n->damaged);
	put(o, "violations", violations);
	NAND_SOURCE_COUNTERS(PUT_LATER_SOURCE)
	NAND_COUNTERS(PUT_LATER_NAND)
}

static void put_ftl(const struct replay *r, json_t *root, const struct slate_stats *st)
{
	const struct ftl_stats *f = &st->ftl;
	json_t *o = sub(root, "ftl_counts");

	put(o, "host_units", f->host_units);
	put(o, "meta_units", f->meta_units);
	put(o, "pad_units", f->pad_units);
	put(o, "coalesced_units", f->coalesced_units);
	put(o, "buffer_hit_units", f->buffer_hit_units);
	put(o, "unwritten_units", f->unwritten_units);
	put(o, "trimmed_units", f->trimmed_units);
	put(o, "merge_reads", f->merge_reads);
	put(o, "merge_read_bytes", f->merge_read_bytes);
	put(o, "fua_writes", f->fua_writes);
	put(o, "search_reads", f->search_reads);
	if (f->link_to_host_busy_ns || f->link_to_drive_busy_ns) {
		put(o, "link_to_host_busy_ns", f->link_to_host_busy_ns);
		put(o, "link_to_drive_busy_ns", f->link_to_drive_busy_ns);
	}
	if (slate_cores(r->dev))
		put(o, "core_busy_ns", f->core_busy_ns);
	FTL_COUNTERS(PUT_LATER_FTL)
}

/* Write how the written units were reduced (DAC). */
static void put_reduction(const struct replay *r, json_t *root, const struct slate_stats *st)
{
	const struct ftl_stats *f = &st->ftl;
	json_t *o;

	if (strcmp(slate_ftl_name(r->dev), "dac")) {
		json_object_set_new(root, "reduction", json_null());
		return;
	}
	o = sub(root, "reduction");
	put(o, "host_pages", f->host_pages);
	put(o, "gc_pages", f->gc_pages);
	put(o, "raw_units", f->raw_units);
	put(o, "comp_units", f->comp_units);
	put(o, "delta_units", f->delta_units);
	put(o, "link_units", f->link_units);
	put(o, "comp_bytes", f->comp_bytes);
	put(o, "delta_bytes", f->delta_bytes);
	put(o, "plain_bytes", f->plain_bytes);
	put(o, "reference_hits", f->reference_hits);
	put(o, "reference_reads", f->reference_reads);
	put(o, "refused_references", f->refused_references);
}

static uint64_t put_busy_list(const struct replay *r, json_t *o, const char *key, uint32_t count,
			      double span,
			      uint64_t (*ns)(const struct slate_dev *, uint32_t, enum nand_source))
{
	json_t *list = json_array();
	uint64_t all = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint64_t v[NAND_NSOURCES];
		json_t *one = json_object();

		for (unsigned int s = 0; s < NAND_NSOURCES; s++)
			v[s] = ns(r->dev, i, (enum nand_source)s);
		put_ratio(one, "busy", (double)by_source(v), span);
		put_sources(one, "ns", v);
		json_array_append_new(list, one);
		all += by_source(v);
	}
	json_object_set_new(o, key, list);
	return all;
}

static void put_busy(const struct replay *r, json_t *root)
{
	double span = (double)(r->account.idle_ns - r->account.since_ns);
	uint32_t dies = slate_dies(r->dev), channels = slate_channels(r->dev);
	json_t *o = sub(root, "busy");
	uint64_t die_ns = put_busy_list(r, o, "dies", dies, span, slate_die_busy_ns);
	uint64_t bus_ns = put_busy_list(r, o, "channels", channels, span, slate_bus_busy_ns);

	put_ratio(o, "all_dies", (double)die_ns, span * dies);
	put_ratio(o, "all_channels", (double)bus_ns, span * channels);
}

/* ---- the rest ------------------------------------------------------------------------ */

static void put_check(const struct replay *r, json_t *root)
{
	struct verified v = { 0 };
	json_t *o;

	if (!r->o.check) {
		json_object_set_new(root, "check", json_null());
		return;
	}
	if (r->verify)
		verify_get(r->verify, &v);
	o = sub(root, "check");
	put(o, "invariant_checks", r->invariant_checks);
	put(o, "sectors", v.sectors);
	put(o, "unknown", v.unknown);
	put(o, "wrong", v.wrong);
}

/* Write the writes and trims that NVMe lets a cut take (unflushed.c). done_ns is null if one had not completed. */
static void put_unflushed(const struct replay *r, json_t *power)
{
	json_t *list = json_array();
	struct one_unflushed one;
	struct slate_sizes sizes;

	slate_get_sizes(r->dev, &sizes);
	put(power, "atomic_bytes", sizes.atomic);
	for (size_t i = 0; unflushed_get(r->unflushed, i, &one); i++) {
		json_t *o = json_pack("{sI,ss,sI,sI,sI}", "request", (json_int_t)one.number, "op",
				      replay_op_name(one.op), "offset", (json_int_t)one.offset, "bytes",
				      (json_int_t)one.bytes, "submit_ns", (json_int_t)one.submit_ns);

		json_object_set_new(o, "done_ns", one.done_ns == REPLAY_NEVER ? json_null() :
				    json_integer((json_int_t)one.done_ns));
		if (r->o.survivors && one.op == FTL_WRITE)
			put(o, "sectors_there", one.there);
		json_array_append_new(list, o);
	}
	json_object_set_new(power, "unflushed", list);
	if (r->o.survivors)
		json_object_set_new(power, "state", json_sprintf("%016llx", (unsigned long long)
								 unflushed_state(r->unflushed)));
}

/* Write what is known of the power cut, in the form of QMP's x-nand-ssd-power-query. */
static void put_cut(const struct replay *r, json_t *root)
{
	struct slate_power p;
	json_t *o;

	if (!r->o.cut) {
		json_object_set_new(root, "power", json_null());
		return;
	}
	o = sub(root, "power");
	slate_get_power(r->dev, &p);
	put(o, "cut-ns", p.cut_ns);
	put(o, "lost-requests", r->lost);
	put(o, "torn-programs", (uint64_t)p.torn[NAND_PROGRAM] + p.torn[NAND_COPYBACK]);
	put(o, "torn-erases", p.torn[NAND_ERASE]);
	put(o, "saved-ns", p.save.ns);
	put(o, "saved-programs", p.save.ops[NAND_PROGRAM] + p.save.ops[NAND_COPYBACK]);
	put(o, "unsaved-pages", p.save.left_pages);
	if (r->unflushed)
		put_unflushed(r, o);
}

/* Write the mount of a drive that existed; a new drive has no such section. */
static void put_mount(const struct replay *r, json_t *root)
{
	struct slate_power p;
	json_t *o;

	slate_get_power(r->dev, &p);
	if (!p.mounts)
		return;
	o = sub(root, "mount");
	put(o, "ns", p.ready_ns - p.on_ns);
	put_sources(o, "reads", p.mount_reads);
	put(o, "programs", p.mount_ops[NAND_PROGRAM]);
	put(o, "erases", p.mount_ops[NAND_ERASE]);
}

static void put_recorded(const struct replay *r, json_t *root)
{
	json_t *o;

	if (r->o.loop != REPLAY_RECORDED) {
		json_object_set_new(root, "recorded", json_null());
		return;
	}
	o = sub(root, "recorded");
	put(o, "compared", r->compared);
	put(o, "differed", r->differed);
	json_object_set_new(o, "commands_equal", json_boolean(r->ops_compared && !r->ops_differ));
}

static void put_wall(const struct replay *r, json_t *root, double wall_s)
{
	struct rusage u;
	json_t *o = sub(root, "wall");

	getrusage(RUSAGE_SELF, &u);
	json_object_set_new(o, "seconds", json_real(wall_s));
	put_ratio(o, "requests_per_s", (double)r->completed, wall_s);
	json_object_set_new(o, "cpu_seconds", json_real(replay_cpu_s() - r->begin_cpu_s));
	put(o, "max_rss_kib", (uint64_t)u.ru_maxrss);
}

static json_t *build(struct replay *r, double wall_s)
{
	const struct account *a = &r->account;
	struct slate_stats *st = malloc(sizeof(*st));
	json_t *root = json_object(), *o;

	SSD_ASSERT(st && root);
	slate_get_stats(r->dev, st);
	put_text(root, "schema", SCHEMA);
	put_text(root, "drive", slate_profile_name(r->dev));
	put_text(root, "ftl", slate_ftl_name(r->dev));
	put(root, "capacity_bytes", r->capacity);
	put_options(r, root);
	put_inputs(r, root);
	o = sub(root, "requests");
	put(o, "submitted", r->submitted);
	put(o, "completed", r->completed);
	put(o, "counted", a->completed);
	put(o, "deepest_queue", r->deepest);
	o = sub(root, "time");
	put(o, "begin_ns", a->since_ns);
	put(o, "end_ns", a->last_ns);
	put(o, "idle_ns", a->idle_ns);
	put_host(r, root);
	put_amplification(r, root, st);
	put_gc(root, st);
	put_word_lines(root, st);
	put_moves(root, st);
	put_wear(r, root, st);
	put_energy(root, st);
	put_nand(root, st);
	put_ftl(r, root, st);
	put_reduction(r, root, st);
	put_busy(r, root);
	json_object_set_new(root, "map_bytes", slate_map_bytes(r->dev) ?
			    json_integer((json_int_t)slate_map_bytes(r->dev)) : json_null());
	put_check(r, root);
	put_recorded(r, root);
	put_cut(r, root);
	put_mount(r, root);
	report_series(r, root);
	report_timeline(r, root);
	put_settings(r, root);
	if (r->o.wall)
		put_wall(r, root, wall_s);
	free(st);
	return root;
}

/* ---- the file ------------------------------------------------------------------------ */

static int dump(json_t *root, FILE *out)
{
	bool bad = json_dumpf(root, out, JSON_INDENT(1) | JSON_REAL_PRECISION(12)) ||
		   fputc('\n', out) == EOF;

	return fflush(out) || ferror(out) || bad;
}

static int write_file(json_t *root, const char *path)
{
	struct stat st;
	bool own = stat(path, &st) || S_ISREG(st.st_mode), bad;
	char *target = NULL;
	int len = asprintf(&target, own ? "%s.part" : "%s", path);
	FILE *out;

	SSD_ASSERT(len > 0);
	out = fopen(target, "we");
	bad = !out || dump(root, out);
	if (out)
		bad = fclose(out) || bad;
	if (own && !bad)
		bad = rename(target, path);
	if (bad) {
		replay_fail(REPLAY_FAILED, "--json %s: %s: free some space, or name a file elsewhere", path,
			    strerror(errno));
		if (own)
			unlink(target);
	}
	free(target);
	return bad ? REPLAY_FAILED : 0;
}

int report_json(struct replay *r, double wall_s)
{
	json_t *root = build(r, wall_s);
	int result;

	if (strcmp(r->o.json, "-"))
		result = write_file(root, r->o.json);
	else if (dump(root, stdout))
		result = replay_fail(REPLAY_FAILED, "--json -: standard output: %s: free some space, or name "
				     "a file", strerror(errno));
	else
		result = 0;
	json_decref(root);
	return result;
}

int report_cut(const struct replay *r, const char *path)
{
	struct slate_stats *st = malloc(sizeof(*st));
	json_t *root = json_object();
	int result;

	SSD_ASSERT(st && root);
	slate_get_stats(r->dev, st);
	put_cut(r, root);
	put_gc(root, st);
	result = write_file(root, path);
	json_decref(root);
	free(st);
	return result;
}
