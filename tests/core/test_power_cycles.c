// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test a drive whose power is cut a thousand times in a row, with little written in between: the list of
 * dead pages (ftl/page/mount/mount.c) becomes full long before GC collects their blocks. The drive must
 * mount each time, accept writes, and keep all flushed data.
 *
 *   test_power_cycles [SEED]
 *
 * FTLs that back up LSB pages run on an array where each cut may destroy such a page.
 */
#include <signal.h>

#include "gc_policy.h"
#include "oob.h"
#include "page_ftl.h"
#include "test.h"

#define UNIT 512u
#define UNITS 400u
#define CYCLES 1000u

static uint64_t the_seed = 1, now;
static struct test_array t;
static const struct ftl_ops *ops;
static uint64_t paired;
static struct ftl *f;
static void *mem;
static uint8_t buf[UNIT];
static const struct gc_policy *policy = &gc_greedy;
static bool moves;	/* wear is levelled, and every 16th read requests relocation */
static uint32_t waiting, errors;
static uint32_t flushed[UNITS], submitted[UNITS];

static void on_done(void *opaque, struct ftl_io *io)
{
	(void)opaque;
	waiting--;
	errors += io->status != SSD_OK;
}

static void on_copy(void *opaque, struct ftl_io *io, uint64_t at, void *data, size_t len)
{
	(void)opaque; (void)at;
	if (io->op == FTL_WRITE)
		for (size_t i = 0; i < len; i += 8)
			memcpy((uint8_t *)data + i, (uint64_t[]){ (uint64_t)(uintptr_t)io->host }, 8);
	else if (data)
		memcpy(buf, data, len);
	else
		memset(buf, 0, len);
}

static void step(void)
{
	uint64_t next = f->ops->step(f, now);

	if (next != FTL_IDLE)
		now = next;
	SSD_ASSERT(next != FTL_IDLE || !waiting);	/* no hang */
}

static void finish_all(void)
{
	while (waiting)
		step();
}

static void write_unit(struct ftl_io *io, uint32_t lpn)
{
	*io = (struct ftl_io){ .op = FTL_WRITE, .offset = (uint64_t)lpn * UNIT, .bytes = UNIT,
			       .host = (void *)(uintptr_t)++submitted[lpn] };
	waiting++;
	f->ops->submit(f, now, io);
}

static void mount(void)
{
	static const struct ftl_host host = { on_done, on_copy, NULL };
	struct ftl_config fc = {
		.capacity_bytes = UNITS * UNIT, .unit_bytes = UNIT, .buffer_units = 24,
		.gc_start_blocks = 4, .gc_stop_blocks = 5, .gc_urgent_blocks = 2,
		.gc_mode = FTL_GC_SLICED, .gc_slice_pages = 4, .payload = true, .map_ns = 1,
		.buffer_ns = 1, .overhead_ns = 1, .max_unit_reads = 64,
		.gc_policy = policy, .gc_choices = 2, .gc_window_blocks = 8,
		.wl_threshold = moves, .relocate = moves,
		.active_blocks = 8, .fast_above_permille = 800, .slow_below_permille = 100,
		.quota_permille = 50, .idle_gc_permille = ops == ftl_list[0] ? 0 : 950 };
	size_t len = ftl_footprint(ops, &fc, &t.c.geo);

	free(mem);
	mem = calloc(1, len);
	if (ftl_init(ops, mem, len, &fc, t.n, &host, &f) || f->ops->mount(f, 0, &now)) {
		printf("does not mount; replay: test_power_cycles %" PRIu64 "\n", the_seed);
		exit(1);
	}
	f->ops->check(f);
}

static void check_content(uint32_t cycle)
{
	for (uint32_t lpn = 0; lpn < UNITS; lpn++) {
		struct ftl_io io = { .op = FTL_READ, .offset = (uint64_t)lpn * UNIT, .bytes = UNIT };
		uint64_t v;

		waiting++;
		f->ops->submit(f, now, &io);
		finish_all();
		memcpy(&v, buf, 8);
		if (io.status || v < flushed[lpn] || v > submitted[lpn]) {
			printf("cycle %u: unit %u: version %" PRIu64 " (status %d), flushed %u, submitted %u; "
			       "replay: test_power_cycles %" PRIu64 "\n", cycle, lpn, v, io.status,
			       flushed[lpn], submitted[lpn], the_seed);
			exit(1);
		}
		flushed[lpn] = submitted[lpn] = (uint32_t)v;
	}
}

static void nand_stats(uint64_t *lost)
{
	struct nand_stats s;

	t.n->ops->get_stats(t.n, &s);
	*lost = s.paired_lost;
}

static void on_abort(int sig)
{
	(void)sig;
	printf("aborted; replay: test_power_cycles %" PRIu64 "\n", the_seed);
	fflush(stdout);
}

static enum nand_status on_fault(void *opaque, const struct nand_cmd *c)
{
	uint64_t *s = opaque;

	return c->op == NAND_READ && rnd(s) % 16 == 0 ? NAND_CORRECTED : NAND_OK;
}

/*
 * Check that the cases occurred for which the test exists. most: the most dead pages that the list has had;
 * room: how many it can have.
 */
static void expect_seen(uint32_t most, uint32_t room, uint64_t relocated, uint64_t levelled)
{
	nand_stats(&paired);
	if (ops != ftl_list[0])
		EXPECT(paired > test_times(CYCLES) / 10);
	else if (test_times(CYCLES) == CYCLES)
		/* the case occurred; blocks that move remove their dead pages from the list */
		EXPECT(most > (moves ? 0 : room / 2));
	if (test_times(CYCLES) == CYCLES) {	/* with fewer cycles it may not have been needed */
		EXPECT_EQ(!relocated, !moves);
		EXPECT_EQ(!levelled, !moves);
	}
}

static void power_cuts(const char *ftl, struct nand_geometry g)
{
	struct nand_array_config c = { .geo = g, .payload = true,
		.timing = { 100, { 50000, 60000 }, { 200000, 500000 }, { 1000000 }, 1000 } };
	static struct ftl_io io[64], flush;
	uint64_t s = the_seed * 0x9e3779b97f4a7c15u | 1;
	uint64_t read_seed = the_seed | 1, relocated = 0, levelled = 0;
	struct nand_hooks hooks = { .opaque = &read_seed, .fault = on_fault };
	uint32_t most = 0, room = 0;

	for (size_t i = 0; ftl_list[i]; i++)
		if (!strcmp(ftl_list[i]->name, ftl))
			ops = ftl_list[i];
	memset(flushed, 0, sizeof(flushed));
	memset(submitted, 0, sizeof(submitted));
	waiting = 0;
	now = 0;
	mem = NULL;
	test_array_make(&t, &c);
	if (moves)
		nand_array_set_hooks(t.a, &hooks);
	mount();
	for (uint32_t cycle = 0; cycle < test_times(CYCLES); cycle++) {
		const struct page_ftl *p = (const struct page_ftl *)f;
		uint32_t steps = 1 + (uint32_t)(rnd(&s) % 6);

		most = p->log.dead_count > most ? p->log.dead_count : most;
		room = p->log.dead_max;
		errors = 0;
		write_unit(&io[0], (uint32_t)(rnd(&s) % UNITS));
		flush = (struct ftl_io){ .op = FTL_FLUSH };
		waiting++;
		f->ops->submit(f, now, &flush);
		finish_all();
		EXPECT_EQ(errors, 0);
		for (uint32_t lpn = 0; lpn < UNITS; lpn++)
			flushed[lpn] = submitted[lpn];
		for (uint32_t i = 0; i < 24; i++)
			write_unit(&io[i], (uint32_t)(rnd(&s) % UNITS));
		while (steps--)
			step();
		f->ops->step(f, now);
		now += rnd(&s) % 150000;	/* several programs are under way */
		relocated += f->ops->stats(f)->relocations;
		levelled += f->ops->stats(f)->wl_runs;
		nand_array_power_cut(t.a, now, rnd(&s));
		nand_array_power_on(t.a);
		waiting = 0;
		mount();
		check_content(cycle);	/* the present content is the new reference */
	}
	expect_seen(most, room, relocated, levelled);
	free(mem);
	mem = NULL;
	test_array_free(&t);
}

static void many_power_cuts(void)
{
	power_cuts("page", (struct nand_geometry){ 4, 1, 1, 1, 64, 64, 2048, 64, OOB_BYTES(4), 2048, 0, 1, 1 });
}

static void many_power_cuts_while_blocks_move(void)
{
	moves = true;
	many_power_cuts();
	moves = false;
}

static void many_power_cuts_of_each_policy(void)
{
	for (uint32_t i = 1; gc_policies[i]; i++) {
		policy = gc_policies[i];
		many_power_cuts();
	}
	policy = gc_policies[0];
}

/* The drive has few blocks: it would soon be full if the blocks left by each cut were not used again. */
static struct nand_geometry word_lines(enum nand_order order)
{
	return (struct nand_geometry){ 4, 1, 1, 1, 20, 16, 2048, 128, 64, 2048, 0, 1, 2, order,
				       .paired_loss = true };
}

static void many_power_cuts_parity(void)
{
	power_cuts("parity", word_lines(NAND_ORDER_FPS));
}

static void many_power_cuts_rtf(void)
{
	power_cuts("rtf", word_lines(NAND_ORDER_FPS));
}

static void many_power_cuts_flex(void)
{
	power_cuts("flex", word_lines(NAND_ORDER_RPS));
}

/* With these seeds a cut tears the erase of a block of parity pages that counts again at the next mount. */
static void many_power_cuts_torn_backup_blocks(void)
{
	static const struct { void (*cuts)(void); uint64_t seed; } cases[] = {
		{ many_power_cuts_flex, 2 }, { many_power_cuts_flex, 8 }, { many_power_cuts_parity, 10 } };
	uint64_t seed = the_seed;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		the_seed = cases[i].seed;
		cases[i].cuts();
	}
	the_seed = seed;
}

int main(int argc, char **argv)
{
	signal(SIGABRT, on_abort);
	if (argc == 2)
		the_seed = strtoull(argv[1], NULL, 10);
	RUN(many_power_cuts);
	RUN(many_power_cuts_while_blocks_move);
	RUN(many_power_cuts_of_each_policy);
	RUN(many_power_cuts_parity);
	RUN(many_power_cuts_rtf);
	RUN(many_power_cuts_flex);
	RUN(many_power_cuts_torn_backup_blocks);
	return test_result();
}
