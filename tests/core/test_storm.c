// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test random commands, times, power cuts, reopened images and copies against the
 * naive model of nand.h (naive.h), on every device of storm_table.c. Legal and
 * illegal: each rule is broken in every run, which is asserted.
 *
 *   test_storm             every device, STEPS steps each
 *   test_storm -n STEPS [-s SEED]
 *   test_storm -r ID       one storm again, every call printed; ID is what a failing run prints
 *   test_storm -f FILE     an input of the fuzzer
 *   test_storm -m          on failure, look for the shortest storm that fails
 *   test_storm -w DIR      write storms as inputs of the fuzzer: seeds
 *
 * ID = device:seed:steps.
 */
#include <signal.h>
#include <unistd.h>

#include "storm.h"
#include "test.h"

#define STORM_STEPS 1500u	/* steps of one storm; then the device is replaced */

static char id[64];
static uint64_t refused[NAND_NRULES], done[NAND_NOPS], torn[NAND_NOPS], undone[NAND_NOPS];
static uint64_t all_steps, all_cuts, all_reinits, all_copies, all_deaths, all_quiet;
static struct nand_stats all;
static bool trace;

static void on_death(void)
{
	if (write(2, "replay: test_storm -r ", 22) == 22 && write(2, id, strlen(id)) > 0)
		(void)!write(2, "\n", 1);
}

static void on_abort(int sig)
{
	(void)sig;
	on_death();
}

/* Sanitizers end the program without a signal. */
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static void take_account(const struct storm *s)
{
	const struct duel *d = &s->duel;
	uint64_t sum[sizeof(all) / 8], more[sizeof(all) / 8];

	for (int i = 0; i < NAND_NRULES; i++)
		refused[i] += d->refused[i];
	for (int i = 0; i < NAND_NOPS; i++) {
		done[i] += d->done[i];
		torn[i] += d->model.torn[i];
		undone[i] += d->model.undone[i];
	}
	memcpy(sum, &all, sizeof(all));
	memcpy(more, &d->sums, sizeof(all));
	for (size_t i = 0; i < sizeof(all) / 8; i++)
		sum[i] += more[i];
	memcpy(&all, sum, sizeof(all));
	all_steps += d->steps;
	all_cuts += d->cuts;
	all_reinits += d->reinits;
	all_copies += d->copies;
	all_deaths += d->deaths;
	all_quiet += d->quiet_calls;
}

/* Returns the step at which the two differed, or 0. */
static uint32_t storm(uint32_t device, uint64_t seed, uint32_t steps, char why[256])
{
	struct dice dice = { .rng = (seed + 1) * 0x9e3779b97f4a7c15u };
	struct nand_array_config c;
	struct storm s;
	uint32_t at = 0;
	const char *name = storm_config(device, &c), *bad;

	if (nand_array_validate(&c, &bad)) {
		printf("not ok %s: %s\n", name, bad);
		exit(1);
	}
	storm_make(&s, &c, &dice);
	s.duel.trace = trace;
	while (at < steps && !duel_parted(&s.duel)) {
		at++;
		snprintf(id, sizeof(id), "%u:%" PRIu64 ":%u", device, seed, at);
		storm_step(&s);
	}
	if (!duel_parted(&s.duel))
		duel_check_all(&s.duel);
	snprintf(why, 256, "%s", s.duel.model.why);
	storm_free(&s);
	take_account(&s);
	return why[0] ? at : 0;
}

/*
 * Look for a shorter failing storm: many short storms find one sooner than shortening a long one.
 */
static void shorten(uint32_t device, uint32_t steps)
{
	char why[256], best[256] = "";
	uint64_t best_seed = 0;

	for (uint64_t seed = 1000; seed < 4000; seed++) {
		uint32_t at = storm(device, seed, steps, why);

		if (!at)
			continue;
		memcpy(best, why, sizeof(best));
		best_seed = seed;
		steps = at - 1;
	}
	if (best[0])
		printf("# shorter: test_storm -r %u:%" PRIu64 ":%u: %s\n", device, best_seed, steps + 1, best);
}

static void run(uint32_t device, uint64_t seed, uint32_t steps, bool minimise)
{
	struct nand_array_config c;
	const char *name = storm_config(device, &c);
	char why[256];

	for (uint32_t left = steps; left; seed++) {
		uint32_t n = left < STORM_STEPS ? left : STORM_STEPS;
		uint32_t at = storm(device, seed, n, why);

		if (at) {
			failures++;
			printf("%s: step %u: %s\n# replay: test_storm -r %s\n", name, at, why, id);
			if (minimise)
				shorten(device, at);
			return;
		}
		left -= n;
	}
	printf("# %u steps\n", steps);
}

static const char *name_of(uint32_t device)
{
	struct nand_array_config c;

	return storm_config(device, &c);
}

/* Check that every kind of event occurred, because a storm tests only those that do. */
static void everything_was_reached(void)
{
	for (int i = 0; i < NAND_NRULES; i++)
		if (!refused[i]) {
			printf("rule R%d was never broken\n", i);
			failures++;
		}
	for (int i = 0; i < NAND_NOPS; i++) {
		EXPECT(done[i] > 0);
		if (i != NAND_READ)
			EXPECT(torn[i] > 0 && undone[i] > 0);
	}
	EXPECT(all.uncorrectable && all.corrected && all.retries);
	EXPECT(all.program_fails && all.erase_fails);
	EXPECT(all.partial_erases && all.parallel_erases && all.subpage_reads);
	EXPECT(all.lower_reads && all.suspends && all.paired_lost);
	EXPECT(all.disturbs && all.disturb_lost);
	EXPECT(all_cuts && all_reinits && all_copies && all_deaths && all_quiet);
}

static int replay_input(const char *path)
{
	static uint8_t bytes[1 << 20];
	struct dice dice = { .bytes = bytes };
	FILE *f = fopen(path, "rb");
	struct storm s;

	if (!f) {
		perror(path);
		return 1;
	}
	dice.left = fread(bytes, 1, sizeof(bytes), f);
	fclose(f);
	if (!storm_from_bytes(&s, &dice)) {
		printf("# the input names a device that is not valid\n");
		return 0;
	}
	s.duel.trace = true;
	while (!dice_over(&dice) && !duel_parted(&s.duel))
		storm_step(&s);
	if (!duel_parted(&s.duel))
		duel_check_all(&s.duel);
	printf("%s\n", duel_parted(&s.duel) ? s.duel.model.why : "ok");
	failures += duel_parted(&s.duel);
	storm_free(&s);
	return test_result();
}

/* Write the storms that all devices run first, without variation, as bytes. */
static int write_seeds(const char *dir)
{
	for (uint32_t device = 0; device < storm_configs(); device++) {
		struct dice dice = { .rng = 0x9e3779b97f4a7c15u + device };
		struct nand_array_config c;
		char path[512];
		struct storm s;

		storm_config(device, &c);
		snprintf(path, sizeof(path), "%s/storm-%02u", dir, device);
		dice.record = fopen(path, "wb");
		if (!dice.record) {
			perror(path);
			return 1;
		}
		fputc((int)device, dice.record);
		fputc(0, dice.record);
		storm_make(&s, &c, &dice);
		for (int i = 0; i < 100 && !duel_parted(&s.duel); i++)
			storm_step(&s);
		storm_free(&s);
		fclose(dice.record);
	}
	return 0;
}

int main(int argc, char **argv)
{
	uint32_t steps = 20000, device;
	uint64_t seed = 1;
	bool minimise = false;
	char why[256];
	uint64_t began_ns = test_cpu_ns();
	int o;

	signal(SIGABRT, on_abort);
	if (__sanitizer_set_death_callback)
		__sanitizer_set_death_callback(on_death);
	while ((o = getopt(argc, argv, "n:s:r:f:w:m")) != -1) {
		if (o == 'n')
			steps = (uint32_t)strtoul(optarg, NULL, 10);
		else if (o == 's')
			seed = strtoull(optarg, NULL, 10);
		else if (o == 'm')
			minimise = true;
		else if (o == 'f')
			return replay_input(optarg);
		else if (o == 'w')
			return write_seeds(optarg);
		else if (o == 'r' && sscanf(optarg, "%u:%" SCNu64 ":%u", &device, &seed, &steps) == 3) {
			trace = true;
			setvbuf(stdout, NULL, _IOLBF, 0);
			storm(device, seed, steps, why);
			printf("%s\n", why[0] ? why : "ok");
			return why[0] != 0;
		} else
			return 2;
	}
	for (device = 0; device < storm_configs(); device++)
		RUN_AS(name_of(device), run(device, seed, steps, minimise));
	if (!failures)
		RUN(everything_was_reached);
	printf("# %" PRIu64 " steps, %" PRIu64 " cuts, %" PRIu64 " reopened, %" PRIu64 " copies; %" PRIu64 " steps/s\n",
	       all_steps, all_cuts, all_reinits, all_copies,
	       test_per_second(all_steps, test_cpu_ns() - began_ns));
	return test_result();
}
