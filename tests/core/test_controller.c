// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test the controller's cores: times computed by hand, maximum rates by arithmetic, and random work
 * against a model that advances by single nanoseconds. Reads of unwritten units take no time of the
 * FTL, so all their time is that of the cores.
 */
#include "gc_policy.h"
#include "arbiter.h"
#include "controller.h"
#include "slot_host.h"

#define UNIT 4096u
#define LOOKUP 200u
#define COMMAND 1000u
#define COMPLETION 300u
#define BUFFER 2000u
#define NAMESPACES 3u
#define FLASH (100 + 50000 + UNIT + 64)	/* read of a page: command cycles, cell phase, transfer at 1 ns a byte */

static void on_copy(void *opaque, struct ftl_io *io, uint64_t at, void *buf, size_t len)
{
	(void)opaque; (void)at;
	if (io->op == FTL_WRITE)
		memset(buf, 0x5a, len);
}

static enum ftl_arbitration arbitration;
static uint32_t namespaces = 1;
static uint32_t burst = 1, weights[ARBITER_CLASSES] = { 0, 3, 2, 1 };

static void make_with(uint32_t cores, uint32_t completion_ns, uint32_t map_ns, uint32_t overhead_ns)
{
	static const struct ftl_host host = { on_done, on_copy, NULL };
	struct nand_array_config c = {
		.geo = { 2, 1, 1, 1, 16, 8, UNIT, 64, 16, UNIT, 0, 1, 1 },
		.timing = { 100, { 50000 }, { 200000 }, { 1000000 }, 1000 }, .payload = true };
	struct ftl_config fc = {
		.capacity_bytes = 100 * UNIT, .unit_bytes = UNIT, .buffer_units = 32,
		.gc_start_blocks = 4, .gc_stop_blocks = 5, .gc_urgent_blocks = 2,
		.gc_mode = FTL_GC_SLICED, .gc_slice_pages = 4, .payload = true, .map_ns = map_ns,
		.buffer_ns = BUFFER, .overhead_ns = overhead_ns, .max_unit_reads = 64,
		.cores = cores, .completion_ns = completion_ns, .namespaces = namespaces,
		.arbitration = arbitration, .arbitration_burst = burst, .weight_high = weights[ARBITER_HIGH],
		.weight_medium = weights[ARBITER_MEDIUM], .weight_low = weights[ARBITER_LOW] };
	size_t bytes;

	memset(slot, 0, sizeof(slot));
	test_array_make(&t, &c);
	fc.gc_policy = &gc_greedy;
	bytes = controller_footprint(ftl_list[0], &fc, &c.geo);
	mem = calloc(1, bytes);
	SSD_ASSERT(controller_init(ftl_list[0], mem, bytes, &fc, t.n, &host, &f) == SSD_OK);
	SSD_ASSERT(f->ops->mount(f, 0, &now) == SSD_OK);
}

static void make(uint32_t cores, uint32_t completion_ns)
{
	make_with(cores, completion_ns, LOOKUP, COMMAND);
}

static struct ftl_io *submit(uint32_t i, enum ftl_op op, uint32_t unit, uint32_t units)
{
	slot[i].io = (struct ftl_io){ .op = op, .offset = (uint64_t)unit * UNIT, .bytes = (uint64_t)units * UNIT };
	return submit_slot(i);
}

/* Submit a read of one unit as a command of the submission queue `queue`. */
static void submit_in(uint32_t i, uint32_t queue, uint32_t priority)
{
	slot[i].io = (struct ftl_io){ .op = FTL_READ, .offset = (uint64_t)i * UNIT, .bytes = UNIT,
				      .queue = (uint8_t)queue, .priority = (uint8_t)priority };
	submit_slot(i);
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
 * There are two cores. The first write's look-ups take 2600 ns. The second write's command ends at 1200 and
 * waits until then for its turn. Its core does not wait, and ends a read's command at 2400.
 */
static void writes_in_order(enum ftl_arbitration how)
{
	const struct ftl_io *first, *second, *read;

	arbitration = how;
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
	arbitration = FTL_ARBITRATION_FIFO;
}

static void writes_keep_their_order(void)
{
	writes_in_order(FTL_ARBITRATION_FIFO);
	writes_in_order(FTL_ARBITRATION_ROUND_ROBIN);	/* all are in one queue */
}

/* A command that takes no time reaches the FTL in the step in which its core became free. */
static void a_step_returns_a_later_time(void)
{
	arbitration = FTL_ARBITRATION_ROUND_ROBIN;
	make_with(1, COMPLETION, 0, 0);
	for (uint32_t i = 0; i < 4; i++)
		submit_in(i, i, 0);
	for (uint64_t next = f->ops->step(f, now); next != FTL_IDLE; next = f->ops->step(f, now)) {
		EXPECT(next > now);
		now = next > now ? next : now + 1;
	}
	EXPECT_EQ(latency(&slot[3].io), 4 * COMPLETION);
	done_with_it();
	arbitration = FTL_ARBITRATION_FIFO;
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

/* ---- arbitration ---- */

/*
 * One core and completions without work, so the commands end 1200 ns after each other. submit() is
 * called for the queues of `queues`, in this order and at once; a digit of `order` says which queue
 * has the next command to end.
 */
static void expect_order(const char *queues, const char *order, const uint8_t *priorities)
{
	uint32_t count = (uint32_t)strlen(queues), taken = 0;
	bool over[SLOTS] = { false };

	make(1, 0);
	for (uint32_t i = 0; i < count; i++)
		submit_in(i, (uint32_t)(queues[i] - '0'), priorities[queues[i] - '0']);
	f->ops->check(f);
	settle_down();
	for (const char *at = order; *at; at++) {
		for (uint32_t i = 0; i < count; i++)	/* a queue is served in its order */
			if (queues[i] == *at && !over[i]) {
				over[i] = true;
				EXPECT_EQ(latency(&slot[i].io), (uint64_t)++taken * (COMMAND + LOOKUP));
				break;
			}
	}
	EXPECT_EQ(taken, count);
	done_with_it();
}

static void queues_take_turns(void)
{
	static const uint8_t same[10] = { 0 };

	arbitration = FTL_ARBITRATION_ROUND_ROBIN;
	expect_order("00001", "01000", same);	/* the first command found the core free */
	expect_order("0000112223", "0123012020", same);
	burst = 2;
	expect_order("00001", "00100", same);
	expect_order("0000112223", "0011223002", same);
	burst = 1;
	arbitration = FTL_ARBITRATION_FIFO;
}

/*
 * Queue 0 is low, 1 medium, 2 high, 3 and 4 urgent; weights 3, 2, 1. The first command comes when all
 * else is empty, and uses up the credit of low. Then the urgent ones take turns, then high has 3 and
 * medium 2; the credit is given again, and high has the last one.
 */
static void classes_have_weights(void)
{
	static const uint8_t priorities[] = {
		ARBITER_LOW, ARBITER_MEDIUM, ARBITER_HIGH, ARBITER_URGENT, ARBITER_URGENT
	};

	arbitration = FTL_ARBITRATION_WEIGHTED;
	expect_order("00001111222233344", "0" "34343" "222" "11" "2" "11" "0" "0" "0", priorities);
	arbitration = FTL_ARBITRATION_FIFO;
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
	uint64_t others_ns[2];	/* of all cores, while its command and its completion waited */
	uint32_t units, queue, priority, owner;
	int state;
};

struct model {
	struct job job[SLOTS];	/* in the order of submission */
	uint32_t line[2 * SLOTS], first, last;	/* completions that wait for a core; with fifo, commands, too */
	uint32_t cores, busy;
	uint32_t turn[ARBITER_CLASSES], taken[ARBITER_CLASSES];	/* the queue whose turn it is, what it has taken */
	uint32_t class_now, used[ARBITER_CLASSES];
	uint64_t since_ns;	/* time of the last change of a state */
};

/* Until ns no state changes: add the time that waiting jobs wait behind running ones of other namespaces. */
static void model_wait(struct model *m, uint64_t ns)
{
	uint32_t running = 0, of[NAMESPACES] = { 0 };

	for (uint32_t i = 0; i < SLOTS; i++)
		if (m->job[i].state == COMMAND_RUNS || m->job[i].state == COMPLETION_RUNS) {
			running++;
			of[m->job[i].owner]++;
		}
	for (uint32_t i = 0; i < SLOTS; i++) {
		struct job *j = &m->job[i];

		if (j->state == COMMAND_WAITS || j->state == COMPLETION_WAITS)
			j->others_ns[j->state == COMPLETION_WAITS] +=
				(running - of[j->owner]) * (ns - m->since_ns);
	}
	m->since_ns = ns;
}

static void model_end(struct model *m, uint64_t ns)
{
	for (uint32_t i = 0; i < SLOTS; i++) {
		struct job *j = &m->job[i];
		bool runs = j->state == COMMAND_RUNS || j->state == COMPLETION_RUNS;

		if (!runs || j->ends_ns != ns)
			continue;
		if (m->since_ns < ns)
			model_wait(m, ns);
		m->busy--;
		if (j->state++ == COMMAND_RUNS)
			m->line[m->last++] = i;
	}
}

/* Returns the first waiting command of a class, or of one of its queues (queue < FTL_QUEUES); SLOTS: there is none. */
static uint32_t model_waits(const struct model *m, uint32_t of, uint32_t queue)
{
	for (uint32_t i = 0; i < SLOTS; i++)
		if (m->job[i].state == COMMAND_WAITS && (queue == FTL_QUEUES || m->job[i].queue == queue) &&
		    (of == ARBITER_CLASSES || m->job[i].priority == of))
			return i;
	return SLOTS;
}

static uint32_t model_of_class(struct model *m, uint32_t of)
{
	if (m->taken[of] == burst || model_waits(m, of, m->turn[of]) == SLOTS) {
		do
			m->turn[of] = (m->turn[of] + 1) % FTL_QUEUES;
		while (model_waits(m, of, m->turn[of]) == SLOTS);
		m->taken[of] = 0;
	}
	m->taken[of]++;
	return model_waits(m, of, m->turn[of]);
}

static uint32_t model_take(struct model *m)
{
	static const uint32_t after[] = { 0, ARBITER_MEDIUM, ARBITER_LOW, ARBITER_HIGH };

	if (m->first < m->last)
		return m->line[m->first++];
	if (model_waits(m, ARBITER_CLASSES, FTL_QUEUES) == SLOTS || arbitration == FTL_ARBITRATION_FIFO)
		return SLOTS;
	if (model_waits(m, ARBITER_URGENT, FTL_QUEUES) < SLOTS)
		return model_of_class(m, ARBITER_URGENT);
	if (arbitration == FTL_ARBITRATION_ROUND_ROBIN)
		return model_of_class(m, ARBITER_HIGH);
	for (;;) {
		for (uint32_t i = 1; i < ARBITER_CLASSES; i++) {
			uint32_t of = m->class_now;

			if (model_waits(m, of, FTL_QUEUES) < SLOTS && m->used[of] < weights[of]) {
				m->used[of]++;
				return model_of_class(m, of);
			}
			m->class_now = after[of];
		}
		m->used[ARBITER_HIGH] = m->used[ARBITER_MEDIUM] = m->used[ARBITER_LOW] = 0;
		m->class_now = ARBITER_HIGH;
	}
}

static void model_begin(struct model *m, uint64_t ns)
{
	uint32_t i;

	while (m->busy < m->cores && (i = model_take(m)) < SLOTS) {
		struct job *j = &m->job[i];

		j->ends_ns = ns + (j->state == COMMAND_WAITS ? COMMAND + j->units * LOOKUP : COMPLETION);
		j->state++;
		m->busy++;
	}
}

/* Returns when the next job enters or the next work ends after ns; only then does anything change. */
static uint64_t model_next(const struct model *m, uint64_t ns)
{
	uint64_t next = UINT64_MAX;

	for (uint32_t i = 0; i < SLOTS; i++) {
		const struct job *j = &m->job[i];
		bool runs = j->state == COMMAND_RUNS || j->state == COMPLETION_RUNS;
		uint64_t at = j->state == ABSENT ? j->submit_ns : runs ? j->ends_ns : UINT64_MAX;

		if (at > ns && at < next)
			next = at;
	}
	return next;
}

static void model_run(struct model *m)
{
	for (uint64_t ns = m->job[0].submit_ns; ns < UINT64_MAX; ns = model_next(m, ns)) {
		model_end(m, ns);
		model_begin(m, ns);
		for (uint32_t i = 0; i < SLOTS; i++)
			if (m->job[i].state == ABSENT && m->job[i].submit_ns == ns) {
				if (m->since_ns < ns)
					model_wait(m, ns);
				m->job[i].state = COMMAND_WAITS;
				if (arbitration == FTL_ARBITRATION_FIFO)
					m->line[m->last++] = i;
				model_begin(m, ns);
			}
	}
}

static void random_reads(uint64_t seed)
{
	static struct model m;
	uint64_t s = seed * 7919, at;
	uint32_t queues = 1 + (uint32_t)(seed / 3 % 7);

	arbitration = (enum ftl_arbitration)(seed % 3);
	burst = 1 + (uint32_t)(seed / 5 % 4);
	m = (struct model){ .cores = 1 + (uint32_t)(seed % 5), .class_now = ARBITER_HIGH,
			    .taken = { burst, burst, burst, burst } };	/* the first turn is not queue 0's */
	namespaces = NAMESPACES;
	make(m.cores, COMPLETION);
	namespaces = 1;
	m.since_ns = at = now;
	for (uint32_t i = 0; i < SLOTS; i++) {
		uint32_t queue = (uint32_t)(rnd(&s) % queues) * 9;

		at += rnd(&s) % 3 ? 0 : rnd(&s) % 2000;
		m.job[i] = (struct job){ .submit_ns = at, .units = 1 + (uint32_t)(rnd(&s) % 6), .queue = queue };
		m.job[i].priority = arbitration == FTL_ARBITRATION_WEIGHTED ? queue % ARBITER_CLASSES : ARBITER_HIGH;
		m.job[i].owner = (uint32_t)(seed + i * i / 3) % NAMESPACES;
	}
	model_run(&m);
	for (uint32_t i = 0; i < SLOTS; i++) {
		for (uint64_t next = f->ops->step(f, now); next < m.job[i].submit_ns; next = f->ops->step(f, now))
			now = next;
		now = m.job[i].submit_ns;
		slot[i].io = (struct ftl_io){ .op = FTL_READ, .offset = (uint64_t)i * UNIT,
					      .bytes = (uint64_t)m.job[i].units * UNIT,
					      .queue = (uint8_t)m.job[i].queue,
					      .priority = (uint8_t)m.job[i].priority,
					      .owner = (uint8_t)m.job[i].owner };
		submit_slot(i);
		f->ops->check(f);
	}
	settle_down();
	for (uint32_t i = 0; i < SLOTS; i++) {
		EXPECT_EQ(m.job[i].state, OVER);
		EXPECT_EQ(slot[i].io.done_ns, m.job[i].ends_ns);
		EXPECT_EQ(slot[i].io.where.namespace_queue_ns,
			  m.job[i].others_ns[0] / m.cores + m.job[i].others_ns[1] / m.cores);
	}
	done_with_it();
}

/*
 * Reads of random sizes, namespaces, times and queues end as in the model, which has no calendar, and wait as long
 * behind other namespaces.
 */
static void random_reads_end_as_in_the_model(void)
{
	for (uint64_t seed = 1; seed <= 180; seed++) {
		int before = failures;

		random_reads(seed);
		if (failures > before)
			printf("seed %" PRIu64 "\n", seed);
	}
	arbitration = FTL_ARBITRATION_FIFO;
	burst = 1;
}

int main(void)
{
	RUN(one_core_does_one_thing_at_a_time);
	RUN(each_unit_is_looked_up);
	RUN(writes_keep_their_order);
	RUN(a_step_returns_a_later_time);
	RUN(idle_cores_change_nothing);
	RUN(queues_take_turns);
	RUN(classes_have_weights);
	RUN(the_ceiling_is_arithmetic);
	RUN(random_reads_end_as_in_the_model);
	return test_result();
}
