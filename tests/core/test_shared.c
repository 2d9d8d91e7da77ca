// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test waiting behind another namespace for what every type of FTL shares: the controller's cores and memory, the
 * host link (owners.h). Times are computed by hand; reads of unwritten units take no time of the FTL. Cores also have
 * a model in test_controller.c.
 */
#include "controller.h"
#include "gc_policy.h"
#include "owners.h"
#include "slot_host.h"

#define UNIT 4096u
#define LOOKUP 200u
#define COMMAND 1000u
#define WORK (COMMAND + LOOKUP)		/* of a core for a command of one unit */
#define COMPLETION 300u
#define BUFFER 2000u
#define LATENCY 700u			/* of the link */
#define MOVE 2048u			/* of a unit over the link, at 500 ps a byte */
#define CROSS 4096u			/* of a unit through the memory, at 1000 MB/s */
#define FLASH (100 + 50000 + UNIT + 64)	/* read of a page: command cycles, cell phase, transfer at 1 ns a byte */

/* Settings of the next drive; each case sets all that it needs. */
static struct ways {
	uint32_t cores, completion_ns, link_ps, dram_mb_s, cache_units, ahead_units, namespaces;
	enum ftl_arbitration arbitration;
} ways;

static void on_copy(void *opaque, struct ftl_io *io, uint64_t at, void *buf, size_t len)
{
	(void)opaque; (void)at;
	if (io->op == FTL_WRITE)
		memset(buf, 0x5a, len);
}

static struct ftl_config settings(void)
{
	return (struct ftl_config){
		.capacity_bytes = 100 * UNIT, .unit_bytes = UNIT, .buffer_units = 32,
		.namespaces = ways.namespaces ? ways.namespaces : 2,
		.gc_start_blocks = 4, .gc_stop_blocks = 5, .gc_urgent_blocks = 2,
		.gc_mode = FTL_GC_SLICED, .gc_slice_pages = 4, .payload = true, .map_ns = LOOKUP,
		.buffer_ns = BUFFER, .overhead_ns = COMMAND, .max_unit_reads = 64,
		.cores = ways.cores, .completion_ns = ways.completion_ns, .dram_mb_s = ways.dram_mb_s,
		.arbitration = ways.arbitration, .arbitration_burst = 1,
		.read_cache_units = ways.cache_units, .read_ahead_units = ways.ahead_units,
		.link_ps_per_byte = ways.link_ps, .link_latency_ns = ways.link_ps ? LATENCY : 0,
		.gc_policy = &gc_greedy,
	};
}

static void make(uint32_t channels, struct ways w)
{
	static const struct ftl_host host = { on_done, on_copy, NULL };
	struct nand_array_config c = {
		.geo = { channels, 1, 1, 1, 32 / channels, 8, UNIT, 64, 16, UNIT, 0, 1, 1 },
		.timing = { 100, { 50000 }, { 200000 }, { 1000000 }, 1000 }, .payload = true };
	struct ftl_config fc;
	size_t bytes;

	ways = w;
	fc = settings();
	c.owners = fc.namespaces > 1;
	memset(slot, 0, sizeof(slot));
	now = 0;
	test_array_make(&t, &c);
	bytes = controller_footprint(ftl_list[0], &fc, &c.geo);
	mem = calloc(1, bytes);
	SSD_ASSERT(controller_init(ftl_list[0], mem, bytes, &fc, t.n, &host, &f) == SSD_OK);
	SSD_ASSERT(f->ops->mount(f, 0, &now) == SSD_OK);
}

static struct ftl_io *submit(uint32_t i, enum ftl_op op, uint8_t owner, uint32_t unit, uint32_t units)
{
	slot[i].io = (struct ftl_io){ .op = op, .owner = owner, .queue = owner, .offset = (uint64_t)unit * UNIT,
				      .bytes = (uint64_t)units * UNIT };
	return submit_slot(i);
}

static uint64_t latency(const struct ftl_io *io)
{
	return io->done_ns - io->submit_ns;
}

static void expect_cores(const struct ftl_io *io, uint64_t same_ns, uint64_t others_ns)
{
	EXPECT_EQ(io->where.controller_ns, same_ns);
	EXPECT_EQ(io->where.namespace_queue_ns, others_ns);
}

/* ---- cores ---- */

/*
 * One core, reads of namespaces 0, 1 and 0 at once. Commands end at 1200, 2400 and 3600. The completions, which are
 * ready then, begin at 3600, 3900 and 4200.
 *   0: its completion waits from 1200 on, for the command of 1 (1200 ns) and the second one of its own (1200 ns)
 *   1: its command waits for that of 0 (1200 ns); its completion, from 2400 on, for a command and a completion of 0
 *   2: its command waits for one of its own and one of 1; its completion, from 3600 on, for one of each
 */
static void one_core(uint32_t namespaces)
{
	bool two = namespaces > 1;
	const struct ftl_io *io[3];

	make(2, (struct ways){ .cores = 1, .completion_ns = COMPLETION, .namespaces = namespaces });
	for (uint32_t i = 0; i < 3; i++)
		io[i] = submit(i, FTL_READ, i % 2, i, 1);
	settle_down();
	for (uint32_t i = 0; i < 3; i++)
		EXPECT_EQ(latency(io[i]), 3 * WORK + (i + 1) * COMPLETION);
	expect_cores(io[0], two ? WORK : 2 * WORK, two ? WORK : 0);
	expect_cores(io[1], two ? 0 : 2 * WORK + COMPLETION, two ? 2 * WORK + COMPLETION : 0);
	expect_cores(io[2], two ? WORK + COMPLETION : 2 * (WORK + COMPLETION), two ? WORK + COMPLETION : 0);
	done_with_it();
}

static void a_wait_for_a_core_is_divided(void)
{
	one_core(2);
}

static void one_namespace_has_no_such_part(void)
{
	one_core(1);
}

/*
 * Two cores, reads of namespaces 0, 1 and 1 at once. The third waits 1200 ns, in which one of the two cores works for
 * namespace 0, so half of the wait is behind that. At 1200 one core takes the third read's command and the other the
 * first read's completion. So the second read's completion waits 300 ns, in which, too, one core of two works for
 * namespace 0.
 */
static void a_wait_for_two_cores_is_divided_by_their_time(void)
{
	const struct ftl_io *io[3];

	make(2, (struct ways){ .cores = 2, .completion_ns = COMPLETION });
	for (uint32_t i = 0; i < 3; i++)
		io[i] = submit(i, FTL_READ, i > 0, i, 1);
	settle_down();
	expect_cores(io[0], 0, 0);
	expect_cores(io[1], COMPLETION / 2, COMPLETION / 2);
	expect_cores(io[2], WORK / 2, WORK / 2);
	EXPECT_EQ(latency(io[2]), 2 * WORK + COMPLETION);
	done_with_it();
}

/*
 * A trim has no namespace. So a read between two trims does not wait behind another namespace, and no part of the
 * trims' own waits counts as a wait behind one.
 * Commands end at 1200, 2400 and 3600. The first trim is answered at 3200, the read at 2400, and their completions,
 * which take no time, wait for the core until 3600.
 */
static void trims_have_no_namespace(void)
{
	const struct ftl_io *first, *read, *trim;

	make(2, (struct ways){ .cores = 1 });
	first = submit(0, FTL_TRIM, 0, 0, 8);
	read = submit(1, FTL_READ, 1, 1, 1);
	trim = submit(2, FTL_TRIM, 0, 8, 8);
	settle_down();
	expect_cores(first, 3 * WORK - (WORK + BUFFER), 0);
	expect_cores(read, 2 * WORK, 0);
	expect_cores(trim, 2 * WORK, 0);
	done_with_it();
}

/*
 * Two reads of namespace 0 in its queue, then one of namespace 1 in another queue, which the core takes second. It
 * waits for the first read. The second read of namespace 0 waits for both.
 */
static void queues_take_turns(void)
{
	const struct ftl_io *first, *second, *other;

	make(2, (struct ways){ .cores = 1, .arbitration = FTL_ARBITRATION_ROUND_ROBIN });
	first = submit(0, FTL_READ, 0, 0, 1);
	second = submit(1, FTL_READ, 0, 1, 1);
	other = submit(2, FTL_READ, 1, 2, 1);
	settle_down();
	expect_cores(first, 0, 0);
	expect_cores(other, 0, WORK);
	expect_cores(second, WORK, WORK);
	done_with_it();
}

/* A write whose command ends at 1200 waits until 2600 for an earlier one with eight look-ups. */
static void a_write_waits_for_an_earlier_one(void)
{
	for (uint8_t owner = 0; owner < 2; owner++) {
		const struct ftl_io *first, *second;

		make(2, (struct ways){ .cores = 2 });
		first = submit(0, FTL_WRITE, 0, 0, 8);
		second = submit(1, FTL_WRITE, owner, 8, 1);
		settle_down();
		expect_cores(first, 0, 0);
		expect_cores(second, owner ? 0 : 7 * LOOKUP, owner ? 7 * LOOKUP : 0);
		done_with_it();
	}
}

/* ---- the controller's memory ---- */

/*
 * Two cores, writes of both namespaces at once. Their commands end at 1200. The first one's data cross until 4096, the
 * second one's until 8192, of which the time from 1200 to 4096 is a wait behind the first.
 */
static void writes_cross_the_memory(void)
{
	const struct ftl_io *io[2];

	make(2, (struct ways){ .cores = 2, .dram_mb_s = 1000 });
	for (uint8_t i = 0; i < 2; i++)
		io[i] = submit(i, FTL_WRITE, i, i, 1);
	settle_down();
	expect_cores(io[0], CROSS - WORK, 0);
	expect_cores(io[1], CROSS, CROSS - WORK);
	EXPECT_EQ(latency(io[1]), 2 * CROSS + BUFFER);
	done_with_it();
}

/* Two cores, reads of both namespaces at once: their data are ready at 1200, and cross one after the other. */
static void reads_cross_the_memory(void)
{
	for (uint8_t owner = 0; owner < 2; owner++) {
		const struct ftl_io *first, *second;

		make(2, (struct ways){ .cores = 2, .dram_mb_s = 1000 });
		first = submit(0, FTL_READ, 0, 0, 1);
		second = submit(1, FTL_READ, owner, 1, 1);
		settle_down();
		expect_cores(first, 0, 0);
		EXPECT_EQ(first->where.buffer_ns, CROSS);
		expect_cores(second, 0, owner ? CROSS : 0);
		EXPECT_EQ(second->where.buffer_ns, owner ? CROSS : 2 * CROSS);
		done_with_it();
	}
}

/* ---- the link ---- */

static void expect_link(const struct ftl_io *io, uint64_t same_ns, uint64_t others_ns)
{
	EXPECT_EQ(io->where.link_ns, same_ns + MOVE + LATENCY);
	EXPECT_EQ(io->where.namespace_queue_ns, others_ns);
}

/* I/Os of namespaces 0, 1 and 0, which last alone_ns each without a wait, cross the link one after the other. */
static void three_cross_the_link(enum ftl_op op, uint64_t alone_ns)
{
	const struct ftl_io *io[3];

	for (uint8_t i = 0; i < 3; i++)
		io[i] = submit(i, op, i % 2, i, 1);
	settle_down();
	expect_link(io[0], 0, 0);
	expect_link(io[1], 0, MOVE);
	expect_link(io[2], MOVE, MOVE);
	EXPECT_EQ(latency(io[2]), alone_ns + 2 * MOVE);
	done_with_it();
}

static void writes_cross_the_link(void)
{
	make(2, (struct ways){ .link_ps = 500 });
	three_cross_the_link(FTL_WRITE, WORK + BUFFER + MOVE + LATENCY);
}

/* The reads are of three dies on three channels, and so end at once. */
static void reads_cross_the_link(void)
{
	make(4, (struct ways){ .link_ps = 500 });
	for (uint8_t i = 0; i < 3; i++)
		submit(i, FTL_WRITE, i % 2, i, 1);
	submit(3, FTL_FLUSH, 0, 0, 0);
	settle_down();
	now += 10000000;
	three_cross_the_link(FTL_READ, WORK + FLASH + MOVE + LATENCY);
}

/* ---- the read cache ---- */

/* Two units in the cache are read at once: one answer waits for the link behind the other. */
static void answers_of_the_cache_cross_the_link(void)
{
	const struct ftl_io *io[2];

	make(2, (struct ways){ .cores = 2, .link_ps = 500, .cache_units = 8 });
	for (uint32_t round = 0; round < 2; round++) {
		for (uint8_t i = 0; i < 2; i++)
			io[i] = submit(i, FTL_READ, i, 10u * i, 1);
		settle_down();
		now += 100000;
	}
	EXPECT_EQ(f->ops->stats(f)->read_cache_hits, 2);
	expect_link(io[0], 0, 0);
	expect_link(io[1], 0, MOVE);
	EXPECT_EQ(latency(io[1]), WORK + BUFFER + 2 * MOVE + LATENCY);
	done_with_it();
}

/*
 * Namespace 0 reads a unit twice while namespace 1 reads another one. The second read has its data when they are in the
 * cache, before those of the first have crossed the link, and then waits for the link behind both.
 */
static void a_unit_is_cached_before_it_crosses_the_link(void)
{
	const struct ftl_io *io[3];

	make(2, (struct ways){ .cores = 3, .link_ps = 500, .cache_units = 8 });
	for (uint8_t i = 0; i < 3; i++)
		io[i] = submit(i, FTL_READ, i == 0, i ? 10 : 0, 1);
	settle_down();
	expect_link(io[1], 0, MOVE);
	expect_link(io[2], MOVE, MOVE - BUFFER);
	EXPECT_EQ(latency(io[2]), latency(io[0]) + 2 * MOVE);
	done_with_it();
}

/*
 * Namespace 1 has read unit 0. It reads unit 1, whereupon the cache reads unit 2 ahead, and at the same time a unit
 * that follows neither. All are on one die, so this one waits for the two reads, both of its namespace.
 */
static void a_read_ahead_is_its_readers(void)
{
	const struct ftl_io *last;

	make(1, (struct ways){ .cores = 2, .cache_units = 8, .ahead_units = 1 });
	for (uint32_t i = 0; i < 12; i++)
		submit(i, FTL_WRITE, 1, i, 1);
	submit(12, FTL_FLUSH, 0, 0, 0);
	settle_down();
	now += 10000000;
	submit(0, FTL_READ, 1, 0, 1);
	settle_down();
	now += 100000;
	submit(1, FTL_READ, 1, 1, 1);
	last = submit(2, FTL_READ, 1, 9, 1);
	settle_down();
	EXPECT_EQ(f->ops->stats(f)->read_ahead_units, 1);
	EXPECT_EQ(last->where.host_queue_ns, 2 * FLASH);
	EXPECT_EQ(last->where.namespace_queue_ns, 0);
	done_with_it();
}

/* ---- books ---- */

static struct owner_book book;

/* Spans of 10 ns in the order of their times and out of it; those that touch and have one owner are one. */
static void a_book_knows_who_holds_when(void)
{
	book.count = 0;
	owner_book_add(&book, 0, 100, 110, 1);
	owner_book_add(&book, 0, 110, 120, 1);
	EXPECT_EQ(book.count, 1);
	owner_book_add(&book, 0, 50, 60, 2);
	owner_book_add(&book, 0, 60, 70, 1);
	EXPECT_EQ(book.count, 3);
	EXPECT_EQ(owner_book_others(&book, 0, 1000, 1), 10);
	EXPECT_EQ(owner_book_others(&book, 0, 1000, 2), 30);
	EXPECT_EQ(owner_book_others(&book, 65, 105, 2), 10);
	EXPECT_EQ(owner_book_others(&book, 65, 105, 4), 10);
	EXPECT_EQ(owner_book_take(&book, 60, 55, 70, 80, 4), 15);
	EXPECT_EQ(book.count, 3);	/* the first had ended */
	EXPECT_EQ(owner_book_take(&book, 60, 60, 90, 95, 0), 0);
	EXPECT_EQ(book.count, 3);
}

/* A full book takes a span that continues the one before it, and leaves all others out until a span has ended. */
static void a_full_book_leaves_spans_out(void)
{
	book.count = 0;
	for (uint32_t i = 0; i < OWNER_SPANS; i++)
		EXPECT(owner_book_add(&book, 0, 100 + 10 * i, 105 + 10 * i, 1 + i % 2));
	EXPECT_EQ(owner_book_others(&book, 0, FTL_IDLE, 1), OWNER_SPANS / 2 * 5);
	EXPECT(!owner_book_add(&book, 0, 40, 50, 4));	/* refused: it is before the first span */
	EXPECT(!owner_book_add(&book, 0, 60, 70, 1));	/* likewise, though it is of owner 1, too */
	EXPECT(!owner_book_add(&book, 0, 105, 110, 2));	/* refused: it continues a span of owner 1 */
	EXPECT(owner_book_add(&book, 0, 105, 110, 1));	/* accepted: it continues the span of its own owner */
	EXPECT_EQ(book.count, OWNER_SPANS);
	EXPECT_EQ(owner_book_others(&book, 0, FTL_IDLE, 1), OWNER_SPANS / 2 * 5);
	EXPECT(owner_book_add(&book, 110, 10 * OWNER_SPANS + 100, 10 * OWNER_SPANS + 101, 2));	/* one has ended */
	EXPECT_EQ(owner_book_others(&book, 0, FTL_IDLE, 1), OWNER_SPANS / 2 * 5 + 1);
}

/*
 * Reads of two namespaces fill the memory's book, then writes use a gap between their transfers. Until 2026-11-27
 * spans of a full book were joined over such gaps, and the second write was an assertion.
 */
static void transfers_in_gaps_of_a_full_book(void)
{
	static struct slot many[404];
	uint64_t begin;
	uint32_t n = 0;

	make(2, (struct ways){ .cores = 8, .link_ps = 500, .dram_mb_s = 3000 });
	begin = now;
	for (uint32_t wave = 0; wave < 3; wave++) {
		static const uint32_t ends[] = { 1, 401, 404 }, at_ns[] = { 0, 30000, 170000 };

		for (uint64_t next = f->ops->step(f, now); next != FTL_IDLE && next <= begin + at_ns[wave];
		     next = f->ops->step(f, now))
			now = next;
		now = begin + at_ns[wave];
		for (; n < ends[wave]; n++) {
			many[n].io = (struct ftl_io){ .op = wave == 2 ? FTL_WRITE : FTL_READ, .owner = n % 2,
						      .offset = n % 90 * UNIT,
						      .bytes = (n == 0 ? 100 : n % 2 || wave == 2 ? 1 : 4) * UNIT };
			f->ops->submit(f, now, &many[n].io);
		}
	}
	for (uint64_t next = now; next != FTL_IDLE; next = f->ops->step(f, now))
		now = next;
	for (n = 0; n < 404; n++)
		EXPECT_EQ(many[n].io.status, SSD_OK);
	done_with_it();
}

/*
 * One core takes reads of two namespaces by turns. More reads wait than a book has spans, so the book forgets some.
 * The whole waits must not depend on that, and the part behind the other namespace must not be too long (owners.h, OW2,
 * OW3).
 */
static void more_waiting_commands_than_a_book_has_spans(void)
{
	static struct slot many[2 * OWNER_SPANS];

	make(2, (struct ways){ .cores = 1 });
	for (uint32_t i = 0; i < 2 * OWNER_SPANS; i++) {
		many[i].io = (struct ftl_io){ .op = FTL_READ, .owner = i % 2, .offset = i % 90 * UNIT, .bytes = UNIT };
		f->ops->submit(f, now, &many[i].io);
	}
	for (uint64_t next = now; next != FTL_IDLE; next = f->ops->step(f, now))
		now = next;
	for (uint32_t i = 0; i < 2 * OWNER_SPANS; i++) {
		const struct ftl_io *io = &many[i].io;

		EXPECT_EQ(io->where.controller_ns + io->where.namespace_queue_ns,
			  (i + (2 * OWNER_SPANS - 1 - i)) * (uint64_t)WORK);
		EXPECT(io->where.namespace_queue_ns <= ((i + 1) / 2 + (2 * OWNER_SPANS - i) / 2) * (uint64_t)WORK);
	}
	done_with_it();
}

int main(void)
{
	RUN(a_wait_for_a_core_is_divided);
	RUN(one_namespace_has_no_such_part);
	RUN(a_wait_for_two_cores_is_divided_by_their_time);
	RUN(trims_have_no_namespace);
	RUN(queues_take_turns);
	RUN(a_write_waits_for_an_earlier_one);
	RUN(writes_cross_the_memory);
	RUN(reads_cross_the_memory);
	RUN(writes_cross_the_link);
	RUN(reads_cross_the_link);
	RUN(answers_of_the_cache_cross_the_link);
	RUN(a_unit_is_cached_before_it_crosses_the_link);
	RUN(a_read_ahead_is_its_readers);
	RUN(a_book_knows_who_holds_when);
	RUN(a_full_book_leaves_spans_out);
	RUN(transfers_in_gaps_of_a_full_book);
	RUN(more_waiting_commands_than_a_book_has_spans);
	return test_result();
}
