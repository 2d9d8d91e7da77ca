// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The image of a shell that is killed at any instruction is sound.
 *
 *   test_kill_points [-v]
 *
 * A child works through a script on a small array whose image is shared memory.
 * It is executed one instruction at a time, and each instruction that changed
 * the image is a kill point: a copy of the image at that moment must be sound, and opening it must
 * have the same result as a power cut at the last time that the array was told. The script lists
 * the possible results by hand, page by page: a set of contents, the disturbances and flags of each
 * smallest PB, a range for its erases (an erase that was ending may count twice), the device's age.
 * Then the copy must be usable: reopened once more it reads the same, and the next page of each
 * block can be programmed.
 *
 * It also reads the array's own state (array_impl.h), because disturbances, edges and ages are
 * visible through nand.h only later. It needs ptrace and a processor that single-steps; without
 * them it prints a message and is skipped.
 */
#define _GNU_SOURCE
#include "kill_points.h"

/* ---- programs ------------------------------------------------------------------------------ */

/* Give die 0 a history: an erase that ended, whose flights are still in the image. */
static void old_erase(uint32_t block)
{
	put(block * 8);
	wipe(block, NAND_WHOLE_BLOCK);
}

static void programs_of(const uint32_t *ppn, unsigned int count)
{
	struct nand_cmd cmd[GROUP_MAX];
	unsigned int v[GROUP_MAX];
	struct world *w;
	uint64_t end;

	for (unsigned int i = 0; i < count; i++) {
		cmd[i] = program(ppn[i]);
		v[i] = version;
	}
	begin();
	end = submit(cmd, count);	/* no trace until its cell phase begins */
	w = passed(end - 1);
	for (unsigned int i = 0; i < count; i++)
		w->page[ppn[i]] = LOST | V(v[i]);
	w = passed(end);
	for (unsigned int i = 0; i < count; i++)
		w->page[ppn[i]] = V(v[i]);
	read_page(ppn[0]);
	kill_everywhere();
}

static void a_program(void)
{
	for (uint32_t filled = 0; filled < 4; filled++) {	/* content: payload, or one repeated byte */
		static const uint32_t at[] = { 2 };

		config(1, 1, 1);
		make("program");
		put(0);
		put(1);
		version += filled;
		old_erase(3);
		programs_of(at, 1);
	}
}

static void programs_on_two_planes(void)
{
	static const uint32_t at[] = { 1, 33 };

	config(1, 2, 1);
	make("multi-plane program");
	put(0);
	put(32);
	old_erase(3);
	programs_of(at, 2);
}

static void a_word_line_at_once(void)
{
	static const uint32_t at[] = { 3, 4, 5 };

	config(1, 2, 3);
	c.geo.pages_per_block = 9;
	c.geo.one_shot = true;
	make("one-shot");
	for (uint32_t k = 0; k < 2; k++) {
		struct nand_cmd cmd[3];

		for (uint32_t i = 0; i < 3; i++)
			cmd[i] = program(k * 9 + i);
		nand_submit(live, now, cmd, 3);
		EXPECT_EQ(cmd[0].status, NAND_OK);
		now = cmd[0].done_ns + 1;
		nand_array_passed(nand_array_of(live), now);
	}
	wipe(1, NAND_WHOLE_BLOCK);
	programs_of(at, 3);
}

static void a_program_in_fps_order(void)
{
	static const uint32_t at[] = { 3 };

	config(1, 1, 2);
	c.geo.order = NAND_ORDER_FPS;
	make("FPS program");
	put(0);
	put(2);
	put(1);
	put(4);
	old_erase(3);
	programs_of(at, 1);
}

static void a_program_that_fails(void)
{
	struct nand_cmd cmd;
	uint64_t end;

	config(1, 1, 1);
	make("failing program");
	put(0);
	cmd = program(1);
	wanted_fault = NAND_PROG_FAIL;
	begin();
	end = submit(&cmd, 1);
	passed(end - 1)->page[1] = LOST;
	passed(end);
	read_page(0);
	kill_everywhere();
}

/* Test a copy to a block with data, or to an empty one. */
static void a_copyback(bool from_lost, uint32_t to)
{
	struct nand_cmd cmd = { .op = NAND_COPYBACK, .ppn = { to }, .from = { 1 } };
	unsigned int v;
	struct world *w;
	uint64_t end;

	config(1, 1, 1);
	c.geo.copyback = true;
	c.physics.rber_on = true;
	c.physics.eps_log2 = -9 * 65536;	/* about eight errors in a page */
	c.physics.alpha_log2 = c.physics.beta_log2 = c.physics.gamma_log2 = -1000 * 65536;
	c.physics.ecc_bits = 40;
	c.physics.relocate_bits = 40;
	make(from_lost ? "copyback of a lost page" : "copyback");
	put(0);
	if (from_lost) {
		struct nand_cmd bad = program(1);

		wanted_fault = NAND_PROG_FAIL;
		nand_submit(live, now, &bad, 1);
		now = bad.done_ns;
		wanted_fault = NAND_OK;
	} else {
		put(1);
	}
	v = version;
	for (uint32_t p = 16; p < to; p++)
		put(p);
	old_erase(3);
	begin();
	end = submit(&cmd, 1);
	w = passed(end - 1);
	w->page[to] = from_lost ? LOST : LOST | V(v);
	w = passed(end);
	w->page[to] = from_lost ? LOST : V(v);
	read_page(0);
	kill_everywhere();
}

static void copybacks(void)
{
	for (uint32_t to = 16; to < 18; to++) {
		a_copyback(false, to);
		a_copyback(true, to);
	}
}

/* The second quarter of a block was erased; its first program disturbs both neighbours. */
static void a_disturbance(uint32_t tolerance, uint32_t before)
{
	struct nand_cmd cmd;
	uint64_t lost = before + 1 > tolerance ? LOST : 0, end;
	struct world *w;
	unsigned int v;

	config(1, 1, 1);
	c.geo.pb_levels = 2;
	c.physics.disturb_tolerance = tolerance;
	make("disturbance");
	for (uint32_t i = 0; i < 8; i++)
		put(i);
	for (uint32_t i = 0; i <= before; i++) {
		wipe(0, 5);
		if (i < before)
			put(2);
	}
	cmd = program(2);
	v = version;
	begin();
	end = submit(&cmd, 1);
	w = passed(end - 1);
	w->page[2] = LOST | V(v);
	w->pb[0].disturbs = w->pb[2].disturbs = ONE(before + 1);
	w->pb[1].flags = ONE(0);
	for (uint32_t i = 0; lost && i < 2; i++)
		w->page[i] = w->page[4 + i] = lost;
	passed(end)->page[2] = V(v);
	read_page(7);
	kill_everywhere();
}

static void disturbances(void)
{
	a_disturbance(1, 0);
	a_disturbance(2, 1);
	a_disturbance(0, 0);
	a_disturbance(1, 1);
}

/* ---- erases --------------------------------------------------------------------------------- */

static void torn(struct world *w, uint32_t block, uint32_t pb)
{
	uint32_t pbs = 1u << c.geo.pb_levels, pb_pages = 8 / pbs;
	uint32_t level = pb_level(pb), span = pbs >> level, low = (pb - (1u << level)) * span;

	for (uint32_t k = low; k < low + span; k++) {
		w->pb[pb_of(block, k)].flags <<= PB_TORN;	/* it may be torn */
		for (uint32_t p = 0; p < pb_pages; p++)
			if (w->page[pb_of(block, k) * pb_pages + p] != ERASED)
				w->page[pb_of(block, k) * pb_pages + p] |= LOST | ERASED;
	}
}

static void ended(struct world *w, uint32_t block, uint32_t pb)
{
	uint32_t pbs = 1u << c.geo.pb_levels, pb_pages = 8 / pbs;
	uint32_t level = pb_level(pb), span = pbs >> level, low = (pb - (1u << level)) * span;

	for (uint32_t k = low; k < low + span; k++) {
		uint32_t flags = (k == low && k ? PB_EDGE_BELOW : 0) |
				 (k == low + span - 1 && k < pbs - 1 ? PB_EDGE_ABOVE : 0);

		w->pb[pb_of(block, k)].flags = ONE(flags);
		w->pb[pb_of(block, k)].disturbs = ONE(0);
		w->pb[pb_of(block, k)].erases++;
		w->pb[pb_of(block, k)].erases_max += 2;		/* it may be counted twice */
		for (uint32_t p = 0; p < pb_pages; p++)
			w->page[pb_of(block, k) * pb_pages + p] = ERASED;
	}
}

static void fill_blocks(uint32_t count)
{
	for (uint32_t b = 0; b < count; b++)
		for (uint32_t i = 0; i < 8 - b; i++)
			put(b * 8 + i);
}

static void erases_of(const struct nand_cmd *cmd, unsigned int count)
{
	struct world *w;
	uint64_t end;

	begin();
	end = submit(cmd, count);
	w = passed(end - 1);
	for (unsigned int i = 0; i < count; i++)
		torn(w, cmd[i].ppn.v / 8, cmd[i].pb);
	w = passed(end);
	*w = script[moments - 3].w;		/* same state as before the tear */
	w->age_ns = w->age_max_ns = script[moments - 2].w.age_ns + 1;
	for (unsigned int i = 0; i < count; i++)
		ended(w, cmd[i].ppn.v / 8, cmd[i].pb);
	read_page(0);
	kill_everywhere();
}

static void an_erase(void)
{
	struct nand_cmd cmd = erase(1, NAND_WHOLE_BLOCK);

	config(1, 1, 1);
	make("erase");
	fill_blocks(3);
	erases_of(&cmd, 1);
}

static void partial_erases(void)
{
	static const uint32_t pb[] = { 2, 3, 4, 5, 6, 7 };

	for (size_t i = 0; i < sizeof(pb) / sizeof(*pb); i++) {
		struct nand_cmd cmd = erase(1, pb[i]);

		config(1, 1, 1);
		c.geo.pb_levels = 2;
		make("partial erase");
		fill_blocks(3);
		erases_of(&cmd, 1);
	}
}

static void parallel_erases(void)
{
	struct nand_cmd cmd[3];

	config(1, 2, 1);
	make("parallel erase");
	fill_blocks(6);
	cmd[0] = erase(0, NAND_WHOLE_BLOCK);
	cmd[1] = erase(2, NAND_WHOLE_BLOCK);
	cmd[2] = erase(5, NAND_WHOLE_BLOCK);
	erases_of(cmd, 3);
}

/* Reads in between move the end of the erase. */
static void a_suspended_erase(void)
{
	struct nand_cmd cmd = erase(1, NAND_WHOLE_BLOCK), read = look(0);
	struct world before, *w;
	uint64_t end;

	config(1, 1, 1);
	make("suspended erase");
	fill_blocks(3);
	before = *begin();
	end = submit(&cmd, 1);
	torn(passed(end - 1000), 1, NAND_WHOLE_BLOCK);
	end = submit(&read, 1);
	passed(end - 1);
	w = passed(end);
	before.age_ns = before.age_max_ns = w->age_ns;
	*w = before;
	ended(w, 1, NAND_WHOLE_BLOCK);
	read_page(0);
	kill_everywhere();
}

static void an_erase_that_fails(void)
{
	struct nand_cmd cmd = erase(1, NAND_WHOLE_BLOCK);
	struct world *w, before;
	uint64_t end;

	config(1, 1, 1);
	make("failing erase");
	fill_blocks(3);
	wanted_fault = NAND_ERASE_FAIL;
	before = *begin();
	end = submit(&cmd, 1);
	torn(passed(end - 1), 1, NAND_WHOLE_BLOCK);
	w = passed(end);
	before.age_ns = before.age_max_ns = w->age_ns;
	*w = before;
	w->pb[1].flags = ONE(PB_TORN);
	read_page(0);
	kill_everywhere();
}

/* ---- power ------------------------------------------------------------------------------------ */

enum { UPPER = 7, LOWER = 6, LATE = 67 };

/*
 * Flights on three dies: an upper page of a word line, an erase, a program. On a fourth die is a
 * program before its cell phase.
 */
static struct world *three_flights(const char *what, unsigned int cuts)
{
	static struct world w;
	struct nand_cmd cmd[2];

	config(4, 1, 2);
	c.geo.paired_loss = true;
	make(what);
	for (unsigned int i = 0; i < cuts; i++) {
		nand_array_power_cut(nand_array_of(live), now, i);
		nand_array_power_on(nand_array_of(live));
		now = 0;
	}
	for (uint32_t i = 0; i < UPPER; i++)
		put(i);
	for (uint32_t i = 0; i < 8; i++)
		put(32 + i);
	for (uint32_t i = 0; i < 3; i++)
		put(64 + i);
	put(96);
	nand_array_copy(mirror.a, nand_array_of(live));
	nand_array_power_cut(mirror.a, now, 0);
	world_of(mirror.n, &w);

	cmd[0] = erase(4, NAND_WHOLE_BLOCK);
	nand_submit(live, now, cmd, 1);
	cmd[0] = program(UPPER);
	nand_submit(live, now, cmd, 1);
	w.page[UPPER] = LOST | V(version);
	w.page[LOWER] |= LOST;
	cmd[0] = program(LATE);
	nand_submit(live, now, cmd, 1);
	w.page[LATE] = LOST | V(version);
	w.page[LATE - 1] |= LOST;
	cmd[0] = program(97);
	nand_submit(live, now + 100000, cmd, 1);	/* its transfer is under way at the end */
	now += 100300;
	nand_array_passed(nand_array_of(live), now);
	w.pb[4].flags = ONE(PB_TORN);
	for (uint32_t i = 0; i < 8; i++)
		w.page[32 + i] |= LOST | ERASED;
	w.age_ns += 100300;
	w.age_max_ns += 100300;
	return &w;
}

/* Recover the image without interruption. The recovered state must be one of `may`. */
static void recovered(const struct world *may, struct world *w)
{
	char why[80];
	struct nand *n;

	memcpy(copy, image, image_bytes);
	n = take_up();
	world_of(n, w);
	if (fits(n, NULL, may, why))
		return;
	printf("%s: recovery gives %s\n", name, why);
	failures++;
}

static void a_recovery(void)
{
	for (unsigned int cuts = 0; cuts < 8; cuts++) {
		const struct world *may = three_flights("recovery", cuts);
		struct world w;

		recovered(may, &w);
		*add(START, now) = w;
		*add(INIT, now) = w;		/* an interrupted recovery repeats its decisions */
		script[0].w.age_max_ns += now;	/* time may be counted twice */
		script[1].w.age_max_ns += now;
		kill_everywhere();
	}
}

/*
 * A cut by call has its own seed, so the recovery may tear the rest of an interrupted cut
 * differently. No page may return wrong bytes.
 */
static void a_cut(void)
{
	for (unsigned int cuts = 0; cuts < 8; cuts++) {
		const struct world *may = three_flights("power cut", cuts);
		struct world w;
		char why[80];

		*add(START, now) = *may;
		nand_array_copy(mirror.a, nand_array_of(live));
		script[moments].seed = 0;
		add(CUT, now);
		script[moments - 1].seed = cuts * 77 + 5;
		nand_array_power_cut(mirror.a, now, cuts * 77 + 5);
		EXPECT(fits(mirror.n, NULL, may, why));
		world_of(mirror.n, &w);
		script[moments - 1].w = w;	/* the final state */
		add(POWER_ON, now);
		script[moments - 1].w.age_max_ns += now;
		kill_everywhere();
	}
}

/*
 * The time before the cut was not announced: commands that the cut has not torn yet have not begun,
 * according to the image. (Without pairs, because the case of an upper page that never was
 * programmed and a lower one that it destroyed cannot be excluded.)
 */
static void a_cut_out_of_the_blue(void)
{
	for (unsigned int cuts = 0; cuts < 8; cuts++) {
		struct nand_cmd cmd[2];
		struct world *w;

		config(3, 2, 1);
		make("sudden power cut");
		for (uint32_t i = 0; i < 8; i++)
			put(64 + i);
		put(0);
		put(128);
		begin();
		cmd[0] = program(1);
		submit(cmd, 1);
		cmd[0] = erase(8, NAND_WHOLE_BLOCK);
		submit(cmd, 1);
		cmd[0] = program(129);
		cmd[1] = program(160);
		submit(cmd, 2);
		w = add(CUT, now + 100000);
		script[moments - 1].seed = cuts * 77 + 5;
		w->page[1] = LOST | V(version - 2);
		torn(w, 8, NAND_WHOLE_BLOCK);
		w->page[129] = LOST | V(version - 1);
		w->page[160] = LOST | V(version);
		kill_everywhere();
	}
}

/* Power on a running array: commands under way end, or are torn. */
static void a_power_on(void)
{
	struct nand_cmd cmd = erase(1, NAND_WHOLE_BLOCK);
	struct world before, *w;

	config(3, 1, 1);
	make("power on, running");
	fill_blocks(3);
	put(64);
	before = *begin();
	submit(&cmd, 1);
	cmd = program(65);
	submit(&cmd, 1);
	w = passed(now + 100000);
	torn(w, 1, NAND_WHOLE_BLOCK);
	w->pb[1].erases_max++;		/* it ended, and was then torn */
	w->page[65] = LOST | V(version);
	before.age_ns = w->age_ns;
	/* the time advances to the end of commands under way, and may be counted twice */
	before.age_max_ns = w->age_max_ns + now + 2ull * (c.timing.erase_ns[0] + c.timing.cmd_ns);
	w = add(POWER_ON, now);
	*w = before;
	ended(w, 1, NAND_WHOLE_BLOCK);
	w->page[65] = V(version);
	kill_everywhere();
}

/* ---- */

/* Versions are bytes of their own, one repeated byte, three progressions, or a unit of each of these. */
static void fill_contents(void)
{
	for (unsigned int v = 0; v < VERSIONS; v++) {
		for (unsigned int i = 0; i < PAGE_BYTES; i++)
			content[v][i] = (uint8_t)(v % 4 == 3 ? v : i * 7 + v * 31 + (i >> 4));
		for (unsigned int i = 0; v % 4 == 1 && i < PAGE_BYTES; i += 8) {
			uint64_t word = ((uint64_t)v << 32) + i / 8 * 0x9e3779b97f4a7c15u;

			memcpy(content[v] + i, &word, 8);
		}
		if (v % 4 == 2) {
			memcpy(content[v], content[v - 1], PAGE_BYTES / 3);
			memset(content[v] + PAGE_BYTES / 3, (int)v, PAGE_BYTES / 3);
		}
		for (unsigned int i = 0; i < OOB_BYTES; i++)
			spare[v][i] = (uint8_t)(v * 16 + i);
	}
}

/* Parent and child take turns. On one core they need not wake another core. */
static void one_core(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu() < 0 ? 0 : sched_getcpu(), &set);
	sched_setaffinity(0, sizeof(set), &set);	/* only an optimisation, which may fail */
}

int main(int argc, char **argv)
{
	verbose = argc > 1 && !strcmp(argv[1], "-v");
	progress = shared(sizeof(*progress));
	fill_contents();
	one_core();
	RUN(a_program);
	RUN(programs_on_two_planes);
	RUN(a_word_line_at_once);
	RUN(a_program_in_fps_order);
	RUN(a_program_that_fails);
	RUN(copybacks);
	RUN(disturbances);
	RUN(an_erase);
	RUN(partial_erases);
	RUN(parallel_erases);
	RUN(a_suspended_erase);
	RUN(an_erase_that_fails);
	RUN(a_recovery);
	RUN(a_cut);
	RUN(a_cut_out_of_the_blue);
	RUN(a_power_on);
	printf("%lu kill points in %lu instructions\n", all_points, all_steps);
	return test_result();
}
