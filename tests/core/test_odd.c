// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test odd drives: random small geometries and configurations, random I/O twelve deep,
 * the power cut anywhere (also while it mounts), programs and erases that fail,
 * and all of it together. Every read is checked, every mount must find a prefix of
 * what was submitted that holds all that is durable (odd_host.c), and the FTL's
 * invariants are checked now and then.
 *
 *   test_odd             every combination of flags, some seeds each
 *   test_odd -n SEEDS    so many seeds each; with few, what a combination is for may
 *                        not happen, and then the run fails
 *   TEST_PERCENT=25 test_odd   a quarter of the seeds, and no such failure
 *   test_odd -r ID       one case again; ID is what a failing run prints
 *   test_odd -f FTL ...  the same with an FTL that is not ours, for the flags that say nothing of an FTL
 *
 * ID = flags:seed:cycles, flags as in odd.h; a cycle ends with a power cut (without
 * the flag c, when everything is done and has been read).
 */
#include <signal.h>
#include <stdarg.h>
#include <unistd.h>

#include "keys_config.h"
#include "odd.h"

#define LIVES_READ_ONLY 3u	/* mounts of a read-only drive, after which the case ends */

#define A(event) (1u << ODD_##event)
#define WEAR (A(PROGRAMS_FAILED) | A(ERASES_FAILED) | A(BLOCKS_RETIRED) | A(WORN_OUT))
#define MOUNT (A(CUTS) | A(MOUNTS_CUT) | A(DEAD_LISTS))
#define KNOBS (A(SECONDS) | A(WORD_READS) | A(COPYBACKS))
#define PAIRED (A(PAIRED) | A(BACKUPS))
#define MOVES (A(LEVELLED) | A(RELOCATED) | A(WORD_READS))
#define CACHE (A(CACHED) | A(PAST_CACHE) | A(FOLDED))
#define CACHED (A(MAP_READS) | A(MAP_COPIES))
#define ALWAYS (A(GC_RUNS) | A(TRIMS))

static const struct combination {
	const char *name, *flags;
	uint32_t seeds, cycles;
	uint32_t must;			/* events that must occur */
} combinations[] = {
	{ "cuts", "c", 40, 40, A(CUTS) | A(DEAD_LISTS) },
	{ "cuts, in mounts too", "cm", 60, 40, MOUNT },
	{ "late steps", "cml", 30, 40, MOUNT },
	{ "exact capacity", "cmx", 40, 40, MOUNT },
	{ "one plane", "cm1", 60, 40, A(CUTS) | A(MOUNTS_CUT) },
	{ "two planes", "cm2", 60, 40, MOUNT },
	{ "urgent reserve of one", "cmu", 40, 40, MOUNT },
	{ "failing programs", "cmf", 60, 40, A(CUTS) | A(MOUNTS_CUT) | A(PROGRAMS_FAILED) },
	{ "failing medium", "cmfe", 60, 40, MOUNT | WEAR },
	{ "failing, exact, reserve of one", "cmfexu", 60, 40, MOUNT | WEAR },
	{ "failing, one plane", "cmfe1", 60, 40, A(CUTS) | A(MOUNTS_CUT) | WEAR },
	{ "failing, two planes", "cmfe2", 60, 40, MOUNT | WEAR },
	{ "failing without cuts", "fe", 20, 4, WEAR },
	{ "failing and late", "fel", 10, 4, WEAR },
	{ "little between cuts", "cms", 6, 600, MOUNT | A(PURGES) },
	{ "knobs", "cmk", 60, 40, MOUNT | KNOBS },
	{ "knobs, one plane", "cmk1", 60, 40, A(CUTS) | A(MOUNTS_CUT) | KNOBS },
	{ "knobs, failing, exact", "cmfexk", 60, 40, MOUNT | WEAR | KNOBS },
	{ "knobs, failing, reserve of one", "cmfeku", 60, 40, MOUNT | WEAR | KNOBS },
	{ "knobs, failing without cuts", "fek", 20, 4, WEAR | KNOBS },
	{ "knobs, little between cuts", "cmks", 6, 600, MOUNT },
	{ "moves", "cmw", 60, 40, MOUNT | MOVES },
	{ "moves, exact, reserve of one", "cmxuw", 40, 40, MOUNT | MOVES },
	{ "moves, failing, one plane", "cmfe1w", 60, 40, A(CUTS) | A(MOUNTS_CUT) | WEAR | MOVES },
	/* NOLINTNEXTLINE(misc-redundant-expression): both read words */
	{ "moves, knobs, failing", "cmfekw", 60, 40, MOUNT | WEAR | KNOBS | MOVES },
	{ "moves, failing without cuts", "felw", 10, 4, WEAR | MOVES },
	{ "moves, little between cuts", "cmsw", 6, 600, MOUNT | A(PURGES) },
	{ "parity", "cmp", 60, 40, MOUNT | PAIRED },
	{ "parity, failing, exact, knobs", "cmfexkp", 60, 40, MOUNT | WEAR | PAIRED },
	{ "parity, one plane", "cmfe1p", 60, 40, PAIRED },
	{ "rtf", "cmr", 60, 40, MOUNT | PAIRED },
	{ "rtf, failing, exact, knobs", "cmfexkr", 60, 40, MOUNT | WEAR | PAIRED },
	{ "rtf, one plane", "cmfe1r", 60, 40, PAIRED },
	{ "flex", "cmt", 60, 40, MOUNT | PAIRED },
	{ "flex, failing, exact, knobs", "cmfexkt", 60, 40, MOUNT | WEAR | PAIRED },
	{ "flex, one plane", "cmfe1t", 60, 40, PAIRED },
	{ "flex, two planes, late", "cml2t", 60, 40, PAIRED },
	{ "flex, little between cuts", "cmst", 6, 600, MOUNT | PAIRED },
	{ "flex, failing without cuts", "fekt", 20, 4, WEAR | A(BACKUPS) },
	{ "shared frontier", "cmg", 40, 40, MOUNT },
	{ "shared frontier, failing, exact, knobs", "cmfexkg", 40, 40, MOUNT | WEAR | KNOBS },
	{ "shared frontier, moves, one plane", "cmfe1uwg", 40, 40, WEAR | A(LEVELLED) | A(RELOCATED) },
	{ "parity, shared frontier", "cmfexpg", 40, 40, MOUNT | WEAR | PAIRED },
	{ "rtf, own frontier", "cmfexrg", 40, 40, MOUNT | WEAR | PAIRED },
	{ "flex, frontiers", "cmtg", 60, 40, MOUNT | PAIRED },
	{ "flex, frontiers, failing, exact", "cmfexutg", 80, 40, MOUNT | WEAR | PAIRED },
	{ "flex, frontiers, one plane", "cmfe1tg", 60, 40, PAIRED },
	{ "flex, moves", "cmfewt", 40, 40, MOUNT | WEAR | PAIRED | A(LEVELLED) | A(RELOCATED) },
	{ "parity, next channel", "cmfepb", 60, 40, MOUNT | WEAR | PAIRED },
	{ "rtf, next channel, exact, frontiers", "cmfexrgb", 40, 40, MOUNT | WEAR | PAIRED },
	{ "flex, next channel, exact, frontiers", "cmfexutgb", 60, 40, MOUNT | WEAR | PAIRED },
	{ "flex, next channel, late", "cmltb", 40, 40, MOUNT | PAIRED },
	{ "policies", "cmv", 60, 40, MOUNT },
	{ "policies, exact, reserve of one", "cmxuv", 40, 40, MOUNT },
	{ "policies, failing, one plane", "cmfe1v", 60, 40, A(CUTS) | A(MOUNTS_CUT) | WEAR },
	{ "policies, moves, knobs, failing", "cmfexkwv", 60, 40, MOUNT | WEAR | MOVES },
	{ "policies, failing without cuts", "felv", 10, 4, WEAR },
	{ "policies, little between cuts", "cmsv", 6, 600, MOUNT | A(PURGES) },
	{ "policies, parity", "cmfexpv", 40, 40, MOUNT | WEAR | PAIRED },
	{ "policies, rtf", "cmfexrv", 40, 40, MOUNT | WEAR | PAIRED },
	{ "policies, flex", "cmfextgv", 60, 40, MOUNT | WEAR | PAIRED },
	{ "policies, shared frontier", "cmxgv", 40, 40, MOUNT },
	{ "cache", "cma", 60, 40, MOUNT | CACHE },
	{ "cache, exact, reserve of one", "cmxua", 60, 40, MOUNT | CACHE },
	{ "cache, failing, one plane", "cmfe1a", 60, 40, WEAR | CACHE },
	{ "cache, failing, two planes", "cmfe2a", 60, 40, MOUNT | WEAR | CACHE },
	{ "cache, moves, knobs, policies, failing, exact", "cmfexkwva", 80, 40, MOUNT | WEAR | CACHE | MOVES },
	{ "cache, late, shared frontier", "cmlga", 40, 40, MOUNT | CACHE },
	{ "cache, failing without cuts", "fea", 20, 4, WEAR | CACHE },
	{ "cache, little between cuts", "cmsa", 6, 600, MOUNT },
	{ "cached map", "cmy", 20, 40, MOUNT | CACHED | A(BY_CKPT) },
	{ "cached map, exact, one plane", "cmx1y", 20, 40, A(CUTS) | A(MOUNTS_CUT) | CACHED },
	{ "cached map, failing, exact", "cmfexy", 20, 40, MOUNT | WEAR | CACHED },
	{ "cached map, policies, moves", "cmfewvy", 20, 40, MOUNT | MOVES | CACHED | A(BY_CKPT) },
	{ "handles", "cmh", 60, 40, MOUNT | A(RECLAIM_UNITS) },
	{ "handles, exact, reserve of one", "cmxuh", 60, 40, MOUNT | A(RECLAIM_UNITS) },
	{ "handles, failing, one plane", "cmfe1h", 60, 40, A(CUTS) | A(MOUNTS_CUT) | WEAR },
	{ "handles, failing, two planes, late", "cmfel2h", 60, 40, MOUNT | WEAR | A(RECLAIM_UNITS) },
	{ "handles, policies, moves, knobs, failing, exact", "cmfexkwvh", 80, 40, MOUNT | WEAR | MOVES },
	{ "handles, failing without cuts", "feh", 20, 4, WEAR | A(STRAYS) },
	{ "handles, little between cuts", "cmsh", 6, 600, MOUNT | A(PURGES) },
	{ "handles, cached map", "cmhy", 20, 40, MOUNT | CACHED | A(BY_CKPT) | A(RECLAIM_UNITS) },
	{ "handles, cached map, exact, failing", "cmfexhy", 20, 40, MOUNT | WEAR | CACHED },
	{ "handles, cached map, policies, moves", "cmewvhy", 20, 40, MOUNT | MOVES | CACHED },
	{ "handles, cached map, failing without cuts", "felhy", 10, 4, WEAR | CACHED },
	{ "cached map, failing without cuts", "fely", 10, 4, WEAR | CACHED },
	{ "one shot", "cmo", 60, 40, MOUNT },
	{ "one shot, exact, reserve of one", "cmxuo", 60, 40, MOUNT },
	{ "one shot, failing, one plane", "cmfe1o", 60, 40, A(CUTS) | A(MOUNTS_CUT) | WEAR },
	{ "one shot, failing, two planes, late", "cmfel2o", 60, 40, MOUNT | WEAR },
	{ "one shot, policies, moves, knobs, failing, exact", "cmfexkwvo", 80, 40, MOUNT | WEAR | MOVES },
	{ "one shot, shared frontier, failing, exact", "cmfexgo", 40, 40, MOUNT | WEAR },
	{ "one shot, failing without cuts", "feo", 20, 4, WEAR },
	{ "one shot, little between cuts", "cmso", 6, 600, MOUNT | A(PURGES) },
	{ "any keys", "cmz", 60, 40, MOUNT },
	{ "any keys, exact, moves, knobs, policies, failing", "cmfexkwvz", 60, 40, MOUNT | WEAR },
	{ "any keys, one plane", "cmfe1kvz", 40, 40, A(CUTS) | A(MOUNTS_CUT) | WEAR },
	{ "any keys, parity", "cmfepz", 40, 40, MOUNT | WEAR | PAIRED },
	{ "any keys, rtf", "cmferz", 40, 40, MOUNT | WEAR | PAIRED },
	{ "any keys, flex", "cmfetz", 40, 40, MOUNT | WEAR | PAIRED },
	{ "any keys, cache", "cmfeaz", 40, 40, MOUNT | WEAR },
	{ "any keys, cached map", "cmfeyz", 20, 40, MOUNT | WEAR },
	{ "any keys, handles", "cmfehz", 40, 40, MOUNT | WEAR },
	{ "any keys, one shot", "cmfeoz", 40, 40, MOUNT | WEAR },
	{ "any keys, failing without cuts", "fekvz", 20, 4, WEAR },
};

/* These cases are also run, because they rarely occur with the seeds above. */
static const char *const rare[] = {
	"cmxu:215:40",	/* GC copies before the dead list is durable */
	"cm2:163:60",	/* a copy of a copy with the same order; the block of the first copy is half erased */
	"cm1:21:40",	/* the mark needed by rule 4b is in a closed block */
	"cmfe:65:40",	/* a page is programmed again after later pages */
	"cmk:262:40",	/* rule 4b for the first of two victims */
	"cmxulgv:140:40",	/* after a cut in a collection the policy's next victim does not fit */
	"cmxulgv:75:40",	/* likewise, with three planes of a die and the dead list */
	"cmxgv:184:40",	/* likewise, with a drive of several units a page */
	"cmfeyz:4:40",	/* a checkpoint holds the host and is given up, because the drive is worn */
	"cmewvhyz:139:40",	/* few blocks are free, none can be collected, and a cold one is to be levelled */
	"fely:12:4",	/* the invariants are checked while a copy of a map page is programmed, which fails */
};

static const char *const event_name[ODD_NEVENTS] = {
	"cuts", "mounts cut", "failed programs", "failed erases", "retired blocks",
	"drives worn out", "drives full", "GC calls", "lives with trims", "dead lists", "purges",
	"second victims", "sub-page reads", "copybacks", "levelled blocks", "relocated blocks",
	"paired pages lost", "parity pages", "commands from credit",
	"pages in the SLC cache", "pages past it", "units folded", "map pages read", "map pages copied",
	"reclaim units", "stray pages", "mounts by a checkpoint",
};

/* Keys that other tests draw, because this one does not check what they change. */
static const char *const elsewhere[] = {
	"metadata_bytes",	/* test_metadata.c */
	"payload",		/* test_keys.c: without data there is nothing to compare */
	"power_protected", "hold_up_ns",	/* test_save.c */
	NULL
};

static char id[64];
static struct odd the_odd;
const struct ftl_ops *odd_other;

/*
 * Can the events of the combination occur with any FTL, and are its flags possible if two blocks
 * are reserved?
 */
static bool is_for_others(const struct combination *c)
{
	return !strpbrk(c->flags, "ukwprtgvahoz");
}

#define ANY_FTLS (A(CUTS) | A(MOUNTS_CUT) | A(PROGRAMS_FAILED) | A(ERASES_FAILED) | A(WORN_OUT) | A(GC_RUNS))

static void on_death(void)
{
	fflush(stdout);
	if (write(2, "replay: test_odd ", 17) == 17 && write(2, id, strlen(id)) > 0)
		(void)!write(2, "\n", 1);
}

static void on_abort(int sig)
{
	(void)sig;
	on_death();
}

/* Sanitizers end the program without a signal. */
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

_Noreturn void odd_fail(const struct odd *o, const char *format, ...)
{
	const struct nand_geometry *g = &o->ac.geo;
	va_list list;

	va_start(list, format);
	vprintf(format, list);
	va_end(list);
	printf("\n%ux%u dies, %u planes, %u blocks of %u pages of %u bytes; %u-byte units, %u of them; "
	       "buffer %u, urgent %u, start %u, stop %u, %s GC\n", g->channels, g->chips_per_channel,
	       g->planes_per_die, g->blocks_per_plane, g->pages_per_block, g->page_bytes,
	       o->fc.unit_bytes, (unsigned int)(o->fc.capacity_bytes / o->fc.unit_bytes),
	       o->fc.buffer_units, o->fc.gc_urgent_blocks, o->fc.gc_start_blocks,
	       o->fc.gc_stop_blocks, o->fc.gc_mode == FTL_GC_SLICED ? "sliced" : "blocking");
	if (flag(o, 'z'))
		keys_print_changes(o->ops, &o->plain, &o->fc);
	on_death();
	_exit(1);
}

/* ---- one case ------------------------------------------------------------- */

/* Run I/O without a cut: all data must be there at its end. */
static void work_in_peace(struct odd *o)
{
	for (int i = 0; i < 2; i++) {
		odd_work(o, 1000);
		odd_drain(o);
		odd_flush(o);
		if (!o->full)
			odd_verify(o);
	}
}

static void work_until_cut(struct odd *o, uint32_t requests)
{
	odd_arm_work(o);
	odd_work(o, requests);
	if (!roll(o, 3))
		odd_drain(o);
	o->armed = false;
}

/* Run from one power cut to the next. */
static void live(struct odd *o, uint32_t requests)
{
	if (setjmp(o->off))
		return;
	if (flag(o, 'm') && !roll(o, flag(o, 's') ? 2 : 3))
		odd_arm_mount(o);
	odd_mount(o);
	odd_verify(o);
	o->mounting = o->armed = false;
	if (flag(o, 'c'))
		work_until_cut(o, requests);
	else
		work_in_peace(o);
	o->cut_ns = o->now_ns + (roll(o, 3) ? roll(o, 30000) : 0);
}

static uint32_t draw_requests(struct odd *o)
{
	if (flag(o, 's'))
		return 6 + roll(o, 8);
	return 1 + roll(o, roll(o, 2) ? 20 : 300);
}

static void run_case(struct odd *o, const char *flags, uint64_t seed, uint32_t cycles)
{
	uint32_t lives = 0, requests;

	snprintf(id, sizeof(id), "%s%s%s-r %s:%" PRIu64 ":%u", odd_other ? "-f " : "",
		 odd_other ? odd_other->name : "", odd_other ? " " : "", flags, seed, cycles);
	memset(o, 0, sizeof(*o));
	o->flags = flags;
	o->seed = seed;
	odd_make(o);
	if (!odd_other)
		keys_note(o->ops, &o->fc);
	requests = draw_requests(o);
	for (uint32_t i = 0; i <= cycles && lives < LIVES_READ_ONLY; i++) {
		live(o, i < cycles ? requests : 0);
		o->event[ODD_WORN_OUT] += o->read_only && !lives;
		o->event[ODD_FULL] += o->full;
		lives += o->read_only || o->full;
		odd_lose_power(o);
	}
	odd_free(o);
}

/* ---- the table ------------------------------------------------------------ */

static void run_combination(const struct combination *c, uint32_t seeds, uint64_t *sum)
{
	uint64_t event[ODD_NEVENTS] = { 0 };
	uint32_t must = (c->must | ALWAYS) & (odd_other ? ANY_FTLS : ~0u);
	uint64_t began_ns = test_cpu_ns();
	uint32_t drives = 0;

	if (seeds < c->seeds && test_times(100) < 100)
		must = 0;
	/* With little work between cuts an FTL that reuses empty blocks may need no GC. */
	if (odd_other && strchr(c->flags, 's'))
		must &= ~A(GC_RUNS);
	for (uint64_t seed = 1; seed <= seeds; seed++) {
		drives++;
		run_case(&the_odd, c->flags, seed, c->cycles);
		for (int i = 0; i < ODD_NEVENTS; i++)
			event[i] += the_odd.event[i];
	}
	for (int i = 0; i < ODD_NEVENTS; i++) {
		if (must >> i & 1 && !event[i]) {
			printf("%s: no %s\n", c->name, event_name[i]);
			failures++;
		}
		sum[i] += event[i];
	}
	printf("# (%s): %u drives", c->flags, drives);
	for (int i = 0; i < ODD_NEVENTS; i++)
		if (event[i])
			printf(", %" PRIu64 " %s", event[i], event_name[i]);
	printf(" (%" PRIu64 " ms)\n", (test_cpu_ns() - began_ns) / 1000000);
}

static bool run_id(const char *text)
{
	static char flags[16];
	uint64_t seed;
	uint32_t cycles;
	int end = 0;

	if (sscanf(text, "%15[" ODD_FLAGS "]:%" SCNu64 ":%u%n", flags, &seed, &cycles, &end) != 3 ||
	    text[end])
		return false;
	run_case(&the_odd, flags, seed, cycles);
	return true;
}

static void run_table(uint32_t seeds)
{
	uint64_t sum[ODD_NEVENTS] = { 0 };
	uint64_t began_ns = test_cpu_ns();

	for (size_t i = 0; i < sizeof(combinations) / sizeof(combinations[0]); i++)
		if (!odd_other || is_for_others(&combinations[i]))
			RUN_AS(combinations[i].name,
		       run_combination(&combinations[i], seeds ? seeds : test_times(combinations[i].seeds), sum));
	for (size_t i = 0; i < sizeof(rare) / sizeof(rare[0]) && !odd_other; i++) {
		RUN_AS(rare[i], EXPECT(run_id(rare[i])));
		sum[ODD_CUTS] += the_odd.event[ODD_CUTS];
	}
	if (!odd_other && !seeds)
		RUN_AS("every key and policy is drawn", keys_are_drawn(elsewhere));
	printf("# all combinations and %zu rare cases: %" PRIu64 " cuts, %" PRIu64 " cuts/s of CPU time\n",
	       odd_other ? 0 : sizeof(rare) / sizeof(rare[0]), sum[ODD_CUTS],
	       test_per_second(sum[ODD_CUTS], test_cpu_ns() - began_ns));
}

static int replay(const char *text)
{
	if (!run_id(text)) {
		fprintf(stderr, "%s: not flags:seed:cycles\n", text);
		return 2;
	}
	for (int i = 0; i < ODD_NEVENTS; i++)
		printf("%s%" PRIu64 " %s", i ? ", " : "ok ", the_odd.event[i], event_name[i]);
	printf("\n");
	return 0;
}

int main(int argc, char **argv)
{
	bool other = argc >= 3 && !strcmp(argv[1], "-f"), again, some;

	for (size_t i = 0; other && ftl_list[i]; i++)
		if (!strcmp(ftl_list[i]->name, argv[2]))
			odd_other = ftl_list[i];
	argc -= other ? 2 : 0;
	argv += other ? 2 : 0;
	again = argc == 3 && !strcmp(argv[1], "-r");
	some = argc == 3 && !strcmp(argv[1], "-n");

	if ((argc != 1 && !again && !some) || other != !!odd_other) {
		fprintf(stderr, "usage: test_odd [-f FTL] [-n SEEDS | -r ID]\n");
		return 2;
	}
	signal(SIGABRT, on_abort);
	if (__sanitizer_set_death_callback)
		__sanitizer_set_death_callback(on_death);
	if (again)
		return replay(argv[2]);
	run_table(some ? (uint32_t)strtoul(argv[2], NULL, 10) : 0);
	return test_result();
}
