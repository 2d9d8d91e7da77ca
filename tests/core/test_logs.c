// SPDX-License-Identifier: GPL-2.0-or-later
/* Test a drive's logs: counters, latencies, blocks, wear, identity, errors and health. */
#include "control_host.h"

static const uint64_t *group(const struct slate_log_counters *l, unsigned int n)
{
	const uint64_t *w = (const uint64_t *)(const void *)(l + 1);
	const uint32_t words[] = { l->ops * l->op_words, l->ftl_words, l->sources * l->source_words,
				   l->rules, l->nand_words };

	for (unsigned int i = 1; i < n; i++)
		w += words[i - 1];
	return w;
}

static uint64_t number(const void *log, size_t at, size_t bytes)
{
	uint64_t n = 0;

	memcpy(&n, (const char *)log + at, bytes);
	return n;
}

/* Have the drive write, collect a block, and read a unit that was written and one that was not. Returns its log. */
static void *counters_after_work(size_t *bytes)
{
	make_stale();
	(void)collect(0);
	settle(true);
	EXPECT(reads_right(3));
	EXPECT(reads_right(9));		/* never written */
	return slate_log(dev, now, SLATE_LOG_COUNTERS, bytes);
}

/*
 * Read the log of counters as SPEC.md describes it, with its numbers and without slate_wire.h.
 * tests/launcher/test_controls.py compares the numbers of the header with those of SPEC.md.
 */
static void counters_are_where_the_specification_says(void)
{
	size_t bytes, op, ftl, source, nand;
	void *l;

	if (open_with(NULL, tiny, NULL))
		return;
	l = counters_after_work(&bytes);
	EXPECT(!memcmp(l, "SLOG", 4));
	EXPECT_EQ(number(l, 4, 2), 1);
	EXPECT_EQ(number(l, 6, 2), 0xd1);
	EXPECT_EQ(number(l, 8, 8), bytes);
	EXPECT_EQ(number(l, 16, 8), now);
	EXPECT_EQ(number(l, 24, 8), 0);
	EXPECT_EQ(number(l, 32, 4), 4);
	EXPECT(number(l, 36, 4) >= 16);
	EXPECT(number(l, 40, 4) >= 65);
	EXPECT(number(l, 44, 4) >= 6);
	EXPECT(number(l, 48, 4) >= 11);
	EXPECT_EQ(number(l, 52, 4), 12);
	EXPECT(number(l, 56, 4) >= 20);
	op = 8 * number(l, 36, 4);
	ftl = 64 + 4 * op;
	source = ftl + 8 * number(l, 40, 4);
	nand = source + 8 * number(l, 44, 4) * number(l, 48, 4) + 8 * 12;
	EXPECT_EQ(bytes, nand + 8 * number(l, 56, 4));
	EXPECT_EQ(number(l, 64 + 8 * 5, 8), READ + 1200);		/* latency_max_ns of reads */
	EXPECT_EQ(number(l, 64 + op, 8), 8);				/* ios of writes */
	EXPECT_EQ(number(l, 64 + op + 8 * 6, 8), 8 * 200000);		/* their cell_ns */
	EXPECT_EQ(number(l, ftl + 8 * 12, 8), 1);			/* gc_units */
	EXPECT_EQ(number(l, ftl + 8, 8), 1);				/* unwritten_reads */
	EXPECT_EQ(number(l, source + 8 * number(l, 48, 4) + 8 * 2, 8), 1);	/* erases of GC */
	EXPECT_EQ(number(l, nand + 8 * 14, 8), 5);			/* programmed_pages */
	EXPECT_EQ(number(l, nand + 8 * 17, 8), 4);			/* page_erases */
	free(l);
	slate_close(dev);
}

static void counters_are_those_of_the_drive(void)
{
	const struct slate_stats *s;
	struct slate_log_counters *l;
	size_t bytes;

	if (open_with(NULL, tiny, NULL))
		return;
	l = counters_after_work(&bytes);
	s = stats();
	EXPECT_EQ(group(l, 1)[SLATE_OP_WORDS * SLATE_WIRE_WRITE + SLATE_OP_ios], 8);
	EXPECT_EQ(group(l, 1)[SLATE_OP_WORDS * SLATE_WIRE_WRITE + SLATE_OP_cell_ns], 8 * 200000);
	EXPECT_EQ(group(l, 1)[SLATE_OP_latency_max_ns], READ + 1200);
	EXPECT_EQ(group(l, 1)[SLATE_OP_latency_min_ns], 1200);
	EXPECT_EQ(group(l, 1)[SLATE_OP_WORDS * SLATE_WIRE_TRIM + SLATE_OP_latency_min_ns], 0);
	EXPECT_EQ(group(l, 2)[SLATE_FTL_unwritten_reads], 1);
	EXPECT_EQ(group(l, 2)[SLATE_FTL_gc_units], 1);
	EXPECT_EQ(group(l, 2)[SLATE_FTL_link_to_drive_busy_ns], s->ftl.link_to_drive_busy_ns);
	EXPECT_EQ(group(l, 3)[SLATE_SOURCE_reads], 1);
	EXPECT_EQ(group(l, 3)[SLATE_SOURCE_WORDS + SLATE_SOURCE_erases], 1);
	EXPECT_EQ(group(l, 3)[SLATE_SOURCE_WORDS + SLATE_SOURCE_die_busy_ns], READ + PROG + ERASE);
	EXPECT_EQ(group(l, 5)[SLATE_NAND_programmed_pages], 5);
	EXPECT_EQ(group(l, 5)[SLATE_NAND_page_erases], 4);
	EXPECT_EQ(group(l, 5)[SLATE_NAND_page_erases_sq], s->nand.page_erases_sq);
	free(l);
	slate_close(dev);
}

static void a_reset_counts_from_here(void)
{
	struct slate_log_counters *l;
	struct slate_log_latency *lat;
	size_t bytes;
	uint32_t result;
	uint64_t at;

	if (open_with(NULL, tiny, NULL))
		return;
	make_stale();
	at = now;
	EXPECT_EQ(control(SLATE_RESET_COUNTERS, 0, 0, 0, &result), SLATE_DONE);
	EXPECT(reads_right(4));
	l = slate_log(dev, now, SLATE_LOG_COUNTERS, &bytes);
	EXPECT_EQ(l->head.since_ns, at);
	EXPECT_EQ(group(l, 1)[SLATE_OP_ios], 1);
	EXPECT_EQ(group(l, 1)[SLATE_OP_WORDS * SLATE_WIRE_WRITE + SLATE_OP_ios], 0);
	EXPECT_EQ(group(l, 5)[SLATE_NAND_programmed_pages], 8);	/* a level, not a counter */
	free(l);
	lat = slate_log(dev, now, SLATE_LOG_LATENCY, &bytes);
	EXPECT_EQ(lat->entries, 1);
	free(lat);
	slate_close(dev);
}

static void latency_has_its_causes(void)
{
	const uint64_t want[2][SLATE_WIRE_CAUSES] = {
		/* FTL_CAUSES lists the parts of the latency in this order: cell_ns, bus_ns, ... */
		{ 50000, CMD + XFER, 0, 0, 0, 200, 1000, 0, 0, 0 },
		{ 8 * 200000, 8 * (CMD + XFER), 0, 0, 8 * 2000, 8 * 200, 8 * 1000, 0, 0, 0 },
	};
	struct slate_latency_entry *e;
	struct slate_log_latency *l;
	size_t bytes;

	if (open_with(NULL, tiny, NULL))
		return;
	make_stale();
	EXPECT(reads_right(4));
	l = slate_log(dev, now, SLATE_LOG_LATENCY, &bytes);
	EXPECT_EQ(l->entries, 2);
	EXPECT_EQ(bytes, 48 + 2 * 112);
	e = (struct slate_latency_entry *)(void *)(l + 1);
	for (unsigned int i = 0; i < 2; i++) {
		uint64_t sum = 0;

		EXPECT_EQ(e[i].op, i);
		EXPECT_EQ(e[i].ios, i ? 8 : 1);
		for (unsigned int c = 0; c < SLATE_WIRE_CAUSES; c++) {
			EXPECT_EQ(e[i].cause_ns[c], want[i][c]);
			sum += e[i].cause_ns[c];
		}
		EXPECT(e[i].from_ns <= sum / e[i].ios && sum / e[i].ios < e[i].below_ns);
	}
	free(l);
	slate_close(dev);
}

struct seen_buckets {
	uint32_t count;
	uint64_t ios, floor_ns[4];
};

static void see_bucket(void *opaque, uint64_t floor_ns, uint64_t ios)
{
	struct seen_buckets *s = opaque;

	if (s->count < 4)
		s->floor_ns[s->count] = floor_ns;
	s->count++;
	s->ios += ios;
}

static struct seen_buckets buckets_of(uint32_t mark, enum ftl_op op)
{
	struct seen_buckets s = { 0 };

	slate_each_bucket(dev, mark, op, see_bucket, &s);
	return s;
}

/* An octave has 1,024 buckets: a read of 55,460 ns is in one that is 32 ns wide. */
static void histograms_of_marks_add_up(void)
{
	static const char label[SLATE_LABEL_BYTES] = "a job";
	const uint64_t read_ns = READ + 200 + 1000;
	struct seen_buckets all, first, second;

	if (open_with(NULL, tiny, NULL))
		return;
	make_stale();
	EXPECT_EQ(slate_mark(dev, now, SLATE_MARK_BEGIN, label), SSD_OK);
	EXPECT(reads_right(4));
	EXPECT(reads_right(4));
	EXPECT_EQ(slate_mark(dev, now, SLATE_MARK_END, label), SSD_OK);
	EXPECT_EQ(buckets_of(0, FTL_READ).count, 0);
	EXPECT_EQ(buckets_of(0, FTL_WRITE).ios, 8);
	first = buckets_of(1, FTL_READ);
	EXPECT_EQ(first.count, 1);
	EXPECT_EQ(first.ios, 2);
	EXPECT_EQ(first.floor_ns[0], read_ns / 32 * 32);
	EXPECT_EQ(buckets_of(1, FTL_WRITE).count, 0);
	EXPECT(reads_right(4));
	EXPECT_EQ(slate_mark(dev, now, SLATE_MARK_POINT, label), SSD_OK);
	second = buckets_of(2, FTL_READ);
	EXPECT_EQ(second.ios, 1);
	all = buckets_of(SLATE_NO_MARK, FTL_READ);
	EXPECT_EQ(all.count, 1);
	EXPECT_EQ(all.ios, 3);
	slate_reset_stats(dev);
	EXPECT_EQ(buckets_of(SLATE_NO_MARK, FTL_READ).count, 0);
	EXPECT_EQ(buckets_of(SLATE_NO_MARK, FTL_WRITE).count, 0);
	EXPECT(reads_right(4));
	EXPECT_EQ(buckets_of(SLATE_NO_MARK, FTL_READ).ios, 1);
	slate_close(dev);
}

/* 300 clones of a job share a begin and an end, and what is between is counted once; another job is apart. */
static void marks_of_clones_are_one_pair(void)
{
	static const char label[SLATE_LABEL_BYTES] = "clones", other[SLATE_LABEL_BYTES] = "other";
	struct slate_stats s;
	struct slate_mark m;

	if (open_with(NULL, tiny, NULL))
		return;
	make_stale();
	for (uint32_t i = 0; i < 300; i++)
		EXPECT_EQ(slate_mark(dev, now, SLATE_MARK_BEGIN, label), SSD_OK);
	EXPECT(reads_right(4));
	EXPECT_EQ(slate_mark(dev, now, SLATE_MARK_BEGIN, other), SSD_OK);
	for (uint32_t i = 0; i < 299; i++)
		EXPECT_EQ(slate_mark(dev, now, SLATE_MARK_END, label), SSD_OK);
	EXPECT_EQ(slate_mark_count(dev), 2);
	EXPECT(reads_right(4));
	EXPECT_EQ(slate_mark(dev, now, SLATE_MARK_END, label), SSD_OK);
	EXPECT_EQ(slate_mark_count(dev), 3);
	slate_get_mark(dev, 2, &m, &s);
	EXPECT_EQ(m.kind, SLATE_MARK_END);
	EXPECT_EQ(strcmp(m.label, label), 0);
	EXPECT_EQ(s.ftl.op[FTL_READ].ios, 1);
	EXPECT_EQ(slate_mark(dev, now, SLATE_MARK_END, other), SSD_OK);
	EXPECT_EQ(slate_mark(dev, now, SLATE_MARK_BEGIN, label), SSD_OK);	/* again */
	EXPECT_EQ(slate_mark_count(dev), 5);
	slate_close(dev);
}

/* When the marks are full the last one says so, and later ones are refused. */
static void full_marks_tell(void)
{
	char label[SLATE_LABEL_BYTES + 1];
	struct slate_stats s;
	struct slate_mark m;

	if (open_with(NULL, tiny, NULL))
		return;
	for (uint32_t i = 0; i < SLATE_MARKS_MAX + 9; i++) {
		snprintf(label, sizeof(label), "job %011u", i);
		EXPECT_EQ(slate_mark(dev, now, SLATE_MARK_BEGIN, label),
			  i < SLATE_MARKS_MAX - 1 ? SSD_OK : SSD_E_NOSPC);
	}
	EXPECT_EQ(slate_mark_count(dev), SLATE_MARKS_MAX);
	slate_get_mark(dev, SLATE_MARKS_MAX - 1, &m, &s);
	EXPECT_EQ(m.kind, SLATE_MARK_POINT);
	EXPECT_EQ(strcmp(m.label, SLATE_MARKS_FULL), 0);
	slate_close(dev);
}

static void blocks_and_wear(void)
{
	struct slate_plane_entry *e;
	struct slate_wear_entry *b;
	struct slate_log_wear *w;
	uint32_t planes;
	size_t bytes;
	void *log;

	if (open_with(NULL, tiny, NULL))
		return;
	make_stale();
	e = blocks(&log, &planes);
	EXPECT_EQ(planes, 1);
	EXPECT_EQ(e->blocks, 12);
	EXPECT_EQ(e->state[SLATE_BLOCK_FREE], 10);
	EXPECT_EQ(e->state[SLATE_BLOCK_FULL], 2);
	EXPECT_EQ(e->valid_units, 5);
	free(log);
	(void)collect(0);
	settle(true);
	e = blocks(&log, &planes);
	EXPECT_EQ(e->state[SLATE_BLOCK_FREE], 10);
	EXPECT_EQ(e->state[SLATE_BLOCK_FULL], 1);
	EXPECT_EQ(e->state[SLATE_BLOCK_OPEN], 1);
	EXPECT_EQ(e->erases_min, 0);
	EXPECT_EQ(e->erases_max, 1);
	EXPECT_EQ(e->erases_sum, 1);
	free(log);
	w = slate_log(dev, now, SLATE_LOG_WEAR, &bytes);
	EXPECT_EQ(bytes, 48 + 12 * 16);
	EXPECT_EQ(w->blocks, 12);
	b = (struct slate_wear_entry *)(void *)(w + 1);
	EXPECT_EQ(b[0].erases, 1);
	EXPECT_EQ(b[0].state, SLATE_BLOCK_FREE);
	EXPECT_EQ(b[1].valid_units, 4);
	EXPECT_EQ(b[2].state, SLATE_BLOCK_OPEN);
	EXPECT_EQ(b[2].valid_units, 1);
	free(w);
	slate_close(dev);
}

/* Does the log's list of what Set takes, in any order, have this line? */
static bool has_knob(const struct slate_log_identity *l, const char *line)
{
	const char *list = (const char *)l + l->knobs_at;
	size_t length = strlen(line);

	for (size_t at = 0; at + length <= l->knobs_bytes; at++)
		if ((!at || list[at - 1] == '\n') && !memcmp(list + at, line, length))
			return true;
	return false;
}

static void identity_and_errors(void)
{
	struct slate_log_identity *l;
	struct slate_log_error *x;
	size_t bytes;

	if (open_with(NULL, tiny, NULL))
		return;
	l = slate_log(dev, now, SLATE_LOG_IDENTITY, &bytes);
	EXPECT_EQ(l->capacity_bytes, 65536);
	EXPECT_EQ(l->pages_per_block, 4);
	EXPECT(!strcmp(l->profile, "tiny") && !strcmp(l->ftl, "page"));
	EXPECT_EQ(l->flags, SLATE_ID_TRIMS | SLATE_ID_COLLECTS | SLATE_ID_BLOCK_STATES | SLATE_ID_PAYLOAD);
	EXPECT_EQ(l->settings_bytes, strlen(slate_settings(dev)));
	EXPECT(!memcmp((char *)l + l->settings_at, slate_settings(dev), l->settings_bytes));
	EXPECT(has_knob(l, "ftl.gc_start_blocks\n") && has_knob(l, "ftl.gc_stop_blocks\n"));
	EXPECT(has_knob(l, "ftl.reads_in_row\n") && !has_knob(l, "ftl.op_permille\n"));
	EXPECT_EQ(((char *)l)[l->knobs_at + l->knobs_bytes - 1], '\n');
	EXPECT_EQ(l->head.bytes, bytes);
	free(l);
	x = slate_log(dev, now, SLATE_LOG_ERROR, &bytes);
	EXPECT_EQ(bytes, 560);
	EXPECT_EQ(x->opcode, 0);
	free(x);
	EXPECT_EQ(slate_set(dev, now, "ftl.x=1"), SLATE_REFUSED);
	x = slate_log(dev, now, SLATE_LOG_ERROR, &bytes);
	EXPECT_EQ(x->opcode, SLATE_ADM_SET);
	EXPECT_EQ(x->status, SLATE_REFUSED);
	EXPECT_EQ(x->refused, 1);
	EXPECT(!strcmp(x->text, slate_why(dev)));
	free(x);
	EXPECT(!slate_log(dev, now, SLATE_LOG_IDENTITY - 1, &bytes));
	EXPECT(!slate_log(dev, now, SLATE_LOG_END, &bytes));
	slate_close(dev);
}

/* The capacity needs 4 of 12 blocks; the endurance is 2: after 8 erases of 12 blocks 33 % are used. */
static void health(void)
{
	static const char *const wear[] = { "reliability.endurance=2", "reliability.wear_shape=64", NULL };
	struct slate_health h;
	struct slate_sizes z;
	uint32_t at;

	if (open_with(NULL, tiny, wear))
		return;
	slate_get_sizes(dev, &z);
	EXPECT_EQ(z.atomic, 4096);
	EXPECT_EQ(z.write_granularity, 4096);
	EXPECT_EQ(z.write_optimal, 4096);
	slate_get_health(dev, &h);
	EXPECT_EQ(h.used_percent, 0);
	EXPECT_EQ(h.spare_percent, 100);
	EXPECT_EQ(h.power_cycles, 1);
	make_stale();
	EXPECT_EQ(control(SLATE_FAULT_ADD, SLATE_FAULT_FLIP | 1 << 16, 3, 0, &at), SLATE_DONE);
	EXPECT_EQ(run_io(FTL_READ, 3), SSD_E_UNCORR);
	EXPECT_EQ(control(SLATE_FAULT_CLEAR, 0, 0, 0, &at), SLATE_DONE);
	EXPECT_EQ(control(SLATE_FAULT_ADD, SLATE_FAULT_ERASE, 1, 0, &at), SLATE_DONE);
	(void)collect(0);
	settle(true);
	slate_get_health(dev, &h);
	EXPECT_EQ(h.media_errors, 1);
	EXPECT_EQ(h.spare_percent, 7 * 100 / 8);
	EXPECT(!h.read_only);
	EXPECT_EQ(h.used_percent, 0);
	slate_close(dev);
}

int main(void)
{
	RUN(counters_are_where_the_specification_says);
	RUN(counters_are_those_of_the_drive);
	RUN(a_reset_counts_from_here);
	RUN(latency_has_its_causes);
	RUN(histograms_of_marks_add_up);
	RUN(marks_of_clones_are_one_pair);
	RUN(full_marks_tell);
	RUN(blocks_and_wear);
	RUN(identity_and_errors);
	RUN(health);
	return test_result();
}
