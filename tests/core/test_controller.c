// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The controller's cores: times computed by hand, maximum rates by arithmetic, and random work
 * against a model that advances by single nanoseconds. Reads of unwritten units take no time of the
 * FTL, so all their time is that of the cores.
 */
#include "gc_policy.h"
#include "controller.h"
#include "slot_host.h"

#define UNIT 4096u
#define LOOKUP 200u
#define COMMAND 1000u
#define COMPLETION 300u
#define BUFFER 2000u
#define FLASH (100 + 50000 + UNIT + 64)	/* read of a page: command cycles, cell phase, transfer at 1 ns a byte */

static void on_copy(void *opaque, struct ftl_io *io, uint64_t at, void *buf, size_t len)
{
	(void)opaque; (void)at;
	if (io->op == FTL_WRITE)
		memset(buf, 0x5a, len);
}

static void make(uint32_t cores, uint32_t completion_ns)
{
	static const struct ftl_host host = { on_done, on_copy, NULL };
	struct nand_array_config c = {
		.geo = { 2, 1, 1, 1, 16, 8, UNIT, 64, 16, UNIT, 0, 1, 1 },
		.timing = { 100, { 50000 }, { 200000 }, { 1000000 }, 1000 }, .payload = true };
	struct ftl_config fc = {
		.capacity_bytes = 100 * UNIT, .unit_bytes = UNIT, .buffer_units = 32,
		.gc_start_blocks = 4, .gc_stop_blocks = 5, .gc_urgent_blocks = 2,
		.gc_mode = FTL_GC_SLICED, .gc_slice_pages = 4, .payload = true, .map_ns = LOOKUP,
		.buffer_ns = BUFFER, .overhead_ns = COMMAND, .max_unit_reads = 64,
		.cores = cores, .completion_ns = completion_ns };
	size_t bytes;

	memset(slot, 0, sizeof(slot));
	test_array_make(&t, &c);
	fc.gc_policy = &gc_greedy;
	bytes = controller_footprint(ftl_list[0], &fc, &c.geo);
	mem = calloc(1, bytes);
	SSD_ASSERT(controller_init(ftl_list[0], mem, bytes, &fc, t.n, &host, &f) == SSD_OK);
	SSD_ASSERT(f->ops->mount(f, 0, &now) == SSD_OK);
}

static struct ftl_io *submit(uint32_t i, enum ftl_op op, uint32_t unit, uint32_t units)
{
	slot[i].io = (struct ftl_io){ .op = op, .offset = (uint64_t)unit * UNIT, .bytes = (uint64_t)units * UNIT };
	return submit_slot(i);
}

static uint64_t latency(const struct ftl_io *io)
{
	return io->done_ns - io->submit_ns;
}

/* ---- by hand ---- */

/*
 * One core, three reads at once: commands end at 1200, 2400, 3600. Then come the completions of the
 * first two, which became ready at 1200 and 2400, and that of the third.
 */
static void one_core_does_one_thing_at_a_time(void)
{
	const struct ftl_stats *s;
	uint64_t sum = 0;

	make(1, COMPLETION);
	for (uint32_t i = 0; i < 3; i++)
		submit(i, FTL_READ, i, 1);
	EXPECT_EQ(f->ops->inflight(f), 3);
	settle_down();
	for (uint32_t i = 0; i < 3; i++) {
		EXPECT_EQ(latency(&slot[i].io), 3 * (COMMAND + LOOKUP) + (i + 1) * COMPLETION);
		EXPECT_EQ(slot[i].io.where.map_ns, LOOKUP);
		EXPECT_EQ(slot[i].io.where.other_ns, COMMAND + COMPLETION);
		EXPECT_EQ(slot[i].io.where.controller_ns,
			  latency(&slot[i].io) - COMMAND - LOOKUP - COMPLETION);
		sum += latency(&slot[i].io);
	}
	s = f->ops->stats(f);
	EXPECT_EQ(s->op[FTL_READ].ios, 3);
	EXPECT_EQ(s->op[FTL_READ].bytes, 3 * UNIT);
	EXPECT_EQ(s->op[FTL_READ].latency_sum_ns, sum);
	EXPECT_EQ(s->op[FTL_READ].latency_min_ns, 3900);
	EXPECT_EQ(s->op[FTL_READ].latency_max_ns, 4500);
	EXPECT_EQ(s->unwritten_units, 3);
	EXPECT_EQ(s->core_busy_ns, 3 * (COMMAND + LOOKUP + COMPLETION));
	f->ops->reset_stats(f);
	s = f->ops->stats(f);
	EXPECT_EQ(s->op[FTL_READ].ios + s->core_busy_ns + s->unwritten_units, 0);
	EXPECT_EQ(s->op[FTL_READ].latency_min_ns, UINT64_MAX);
	done_with_it();
}

/* A read or write needs a look-up for each unit that it touches, other commands one. */
static void each_unit_is_looked_up(void)
{
	struct ftl_io *io;

	make(2, 0);
	io = submit(0, FTL_READ, 3, 5);
	settle_down();
	EXPECT_EQ(latency(io), COMMAND + 5 * LOOKUP);
	EXPECT_EQ(io->where.map_ns, 5 * LOOKUP);
	slot[0].io = (struct ftl_io){ .op = FTL_READ, .offset = UNIT - 512, .bytes = 1024 };
	f->ops->submit(f, now, &slot[0].io);	/* a sector of one unit, and one of the next */
	settle_down();
	EXPECT_EQ(latency(io), COMMAND + 2 * LOOKUP);
	io = submit(0, FTL_TRIM, 0, 50);
	settle_down();
	EXPECT_EQ(latency(io), COMMAND + LOOKUP + BUFFER);
	done_with_it();
}

/*
 * Two cores. The first write's look-ups take 2600 ns. The second write's command ends at 1200 and
 * waits until then for its turn. Its core does not wait, and ends a read's command at 2400.
 */
static void writes_keep_their_order(void)
{
	const struct ftl_io *first, *second, *read;

	make(2, COMPLETION);
	first = submit(0, FTL_WRITE, 0, 8);
	second = submit(1, FTL_WRITE, 8, 1);
	read = submit(2, FTL_READ, 20, 1);
	settle_down();
	EXPECT_EQ(latency(first), COMMAND + 8 * LOOKUP + BUFFER + COMPLETION);
	EXPECT_EQ(first->where.controller_ns, 0);
	EXPECT_EQ(latency(second), COMMAND + 8 * LOOKUP + BUFFER + COMPLETION);
	EXPECT_EQ(second->where.controller_ns, 7 * LOOKUP);
	EXPECT_EQ(latency(read), 2 * (COMMAND + LOOKUP) + COMPLETION);
	EXPECT_EQ(read->where.controller_ns, COMMAND + LOOKUP);
	done_with_it();
}

/* If cores are never short, an I/O of one unit takes the same time as without cores. */
static void idle_cores_change_nothing(void)
{
	for (uint32_t i = 0; i < 2; i++) {
		make(i ? CONTROLLER_CORES_MAX : 0, 0);
		submit(0, FTL_WRITE, 7, 1);
		settle_down();
		submit(1, FTL_FLUSH, 0, 0);
		settle_down();
		submit(2, FTL_READ, 7, 1);
		settle_down();
		EXPECT_EQ(latency(&slot[0].io), COMMAND + LOOKUP + BUFFER);
		EXPECT_EQ(latency(&slot[2].io), COMMAND + LOOKUP + FLASH);
		EXPECT_EQ(slot[2].io.where.controller_ns, 0);
		done_with_it();
	}
}

/* ---- the ceiling ---- */

/*
 * Run reads in a closed loop of the given depth; returns the time from the first one's beginning to
 * the last one's end.
 */
static uint64_t closed_loop(uint32_t reads, uint32_t depth, uint32_t units)
{
	uint64_t begin_ns = now;
	uint32_t submitted = 0;

	for (bool more = true; more; more = pass_time())
		for (uint32_t i = 0; i < depth && submitted < reads; i++)
			if (!slot[i].waits) {
				submit(i, FTL_READ, submitted % 90, units);
				submitted++;
			}
	return now - begin_ns;
}

/*
 * With at least twice as many reads in flight as cores, no core is ever idle. If the cores divide
 * the number of reads, all end after reads * work / cores.
 */
static void the_ceiling_is_arithmetic(void)
{
	static const uint32_t cores[] = { 1, 2, 3, 4, 8 };

	for (uint32_t i = 0; i < 5; i++)
		for (uint32_t units = 1; units <= 4; units += 3)
			for (uint32_t deep = 2; deep <= 8; deep *= 2) {
				uint32_t reads = 240 * deep, n = cores[i];

				make(n, COMPLETION);
				EXPECT_EQ(closed_loop(reads, deep * n, units),
					  (uint64_t)reads / n * (COMMAND + units * LOOKUP + COMPLETION));
				EXPECT_EQ(f->ops->stats(f)->core_busy_ns,
					  (uint64_t)reads * (COMMAND + units * LOOKUP + COMPLETION));
				done_with_it();
			}
}

/* ---- against a model ---- */

enum { ABSENT, COMMAND_WAITS, COMMAND_RUNS, COMPLETION_WAITS, COMPLETION_RUNS, OVER };

struct job {
	uint64_t submit_ns, ends_ns;	/* ends_ns: end of the work that runs, or ran last */
	uint32_t units;
	int state;
};

struct model {
	struct job job[SLOTS];	/* in the order of submission */
	uint32_t line[2 * SLOTS], first, last;
	uint32_t cores, busy;
};

static void model_end(struct model *m, uint64_t ns)
{
	for (uint32_t i = 0; i < SLOTS; i++) {
		struct job *j = &m->job[i];
		bool runs = j->state == COMMAND_RUNS || j->state == COMPLETION_RUNS;

		if (!runs || j->ends_ns != ns)
			continue;
		m->busy--;
		if (j->state++ == COMMAND_RUNS)
			m->line[m->last++] = i;
	}
}

static void model_begin(struct model *m, uint64_t ns)
{
	for (uint32_t i = 0; i < SLOTS; i++)
		if (m->job[i].state == ABSENT && m->job[i].submit_ns == ns) {
			m->job[i].state = COMMAND_WAITS;
			m->line[m->last++] = i;
		}
	while (m->busy < m->cores && m->first < m->last) {
		struct job *j = &m->job[m->line[m->first++]];

		j->ends_ns = ns + (j->state == COMMAND_WAITS ? COMMAND + j->units * LOOKUP : COMPLETION);
		j->state++;
		m->busy++;
	}
}

/* Reads of random sizes at random times end as in the model, which has no calendar. */
static void random_reads_end_as_in_the_model(void)
{
	for (uint64_t seed = 1; seed <= 60; seed++) {
		static struct model m;
		uint64_t s = seed * 7919, at, last_ns;
		int before = failures;

		m = (struct model){ .cores = 1 + (uint32_t)(seed % 5) };
		make(m.cores, COMPLETION);
		at = now;
		for (uint32_t i = 0; i < SLOTS; i++) {
			at += rnd(&s) % 3 ? 0 : rnd(&s) % 2000;
			m.job[i] = (struct job){ .submit_ns = at, .units = 1 + (uint32_t)(rnd(&s) % 6) };
		}
		last_ns = at + SLOTS * (COMMAND + 6 * LOOKUP + COMPLETION);
		for (uint64_t ns = m.job[0].submit_ns; ns <= last_ns; ns++) {
			model_end(&m, ns);
			model_begin(&m, ns);
		}
		for (uint32_t i = 0; i < SLOTS; i++) {
			for (uint64_t next = f->ops->step(f, now); next < m.job[i].submit_ns;
			     next = f->ops->step(f, now))
				now = next;
			now = m.job[i].submit_ns;
			submit(i, FTL_READ, i, m.job[i].units);
		}
		settle_down();
		for (uint32_t i = 0; i < SLOTS; i++) {
			EXPECT_EQ(m.job[i].state, OVER);
			EXPECT_EQ(slot[i].io.done_ns, m.job[i].ends_ns);
		}
		done_with_it();
		if (failures > before)
			printf("seed %" PRIu64 "\n", seed);
	}
}

int main(void)
{
	RUN(one_core_does_one_thing_at_a_time);
	RUN(each_unit_is_looked_up);
	RUN(writes_keep_their_order);
	RUN(idle_cores_change_nothing);
	RUN(the_ceiling_is_arithmetic);
	RUN(random_reads_end_as_in_the_model);
	return test_result();
}
