// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test power cuts: before, inside and after every NAND command of a random workload
 * with GC, and a second one during or after the recovery.
 *
 * At each command the array is copied, the copy loses power, and a fresh FTL
 * mounts it. The oracle: the content is that of some prefix of the submitted
 * unit writes and trims, and the prefix holds all that was completed as flushed. With placement
 * handles this holds of each unit instead of all together (ftl.h). Some writes make units lost
 * (tag LOST). If an FTL loses whole units, writes to these are widened to whole units, since one of a part may
 * leave them lost. With METADATA a sector's metadata name the write that its data are of, always.
 *
 * With several submission queues the history is the order in which the controller hands requests to the FTL, which a
 * host does not know. So a second oracle has only what the host knows: a flush keeps every write that had completed
 * before the flush was submitted; nothing else is ordered, in one queue or between two. A sector must not hold a write
 * that had completed before another was submitted that such a flush keeps.
 *
 *   test_cut            every shape, and shapes with settings drawn from the tables of keys; OPS operations each
 *   test_cut -n OPS [NAME [SEED]]	only shapes with NAME in theirs; "drawn": with drawn settings
 *   test_cut ID         one cut again; ID is what a failing run prints
 *   test_cut -f FTL ...	the same with an FTL that is not ours: on the shapes with a write buffer, units
 *			of a sector and nothing special
 *
 * ID = shape:seed:ops:command:when[:command:when], when = 0 before, 1 inside,
 * 2 after; the second pair counts the commands of the recovery and of the
 * workload that follows it.
 */
#include <setjmp.h>
#include <signal.h>
#include <unistd.h>

#include "cut_drive.h"
#include "keys_config.h"

#define WHENS 3
#define SHAPES (sizeof(shapes) / sizeof(*shapes))
#define DRAWN_FROM 1000u	/* the number of the first shape with drawn settings */

/* Keys that have one value in all drives of this test, and others elsewhere. */
static const char *const elsewhere[] = {
	"payload",		/* test_keys.c: without data there is nothing to compare */
	"power_protected", "hold_up_ns",	/* test_save.c */
	NULL
};

static char id[256];
static uint64_t carried, carried_of_some;	/* commands with units of drained blocks in hand; of two and more */
static uint64_t all_ns;
static struct { bool on; uint64_t command, command2; int when, when2; } only;

static void on_abort(int sig)
{
	(void)sig;
	if (write(2, "replay: test_cut ", 17) == 17 && write(2, id, strlen(id)) > 0)
		(void)!write(2, "\n", 1);
}

/* ---- cutting ------------------------------------------------------------ */

struct cutter {
	struct drive *d;
	uint64_t command;	/* number of commands so far */
	uint64_t stop_at;	/* command at which the second cut comes */
	int stop_when;
	uint64_t cut_ns;
	jmp_buf out;
};

static struct cutter outer, inner;

static void stop_hook(void *opaque, uint64_t now_ns, const struct nand_cmd *c, unsigned int count)
{
	struct cutter *k = opaque;

	if (k->command++ != k->stop_at)
		return;
	k->cut_ns = test_cut_time(now_ns, &c[count - 1], k->stop_when);
	longjmp(k->out, 1);
}

/*
 * Recover `second` (a copy of a cut array) with a second cut at command m of the recovery and the
 * following work. Returns false if that command was not reached.
 */
static bool cut_again(uint64_t m, int when, uint64_t seed)
{
	struct nand_hooks hooks = hooks_of(&first);
	static struct drive *volatile oracle;

	inner = (struct cutter){ .d = &second, .stop_at = m, .stop_when = when };
	oracle = &first;
	hooks.opaque = &inner;
	hooks.done = stop_hook;
	nand_array_set_hooks(second.ta.a, &hooks);
	if (!setjmp(inner.out)) {
		drive_mount(&second);
		read_all(&second);
		memcpy(second.base, second.found, sizeof(second.found));
		second.changes = second.durable = 0;
		second.flushed = second.began = second.events = 0;
		second.tag = first.tag + 1000;
		second.rng = seed | 1;
		oracle = &second;
		work(&second, 30);
		return false;
	}
	test_lose_power(&third.ta, &second.ta, inner.cut_ns, seed);
	drive_mount(&third);
	verify(&third, oracle);
	return true;
}

/* Count the command if GC holds units of drained blocks (gc.c). */
static void count_carried(const struct ftl *f)
{
	const struct page_ftl *p = page_ftl_of((struct ftl *)(uintptr_t)f);

	for (uint32_t i = 0; i < p->shape.planes; i++) {
		uint32_t b = p->plane[i].gc.drained;

		if (b == BLK_NONE || !p->plane[i].gc.units)
			continue;
		carried++;
		carried_of_some += p->bt.blk[b].next != BLK_NONE;
	}
}

static void every_cut(void *opaque, uint64_t now_ns, const struct nand_cmd *c, unsigned int count)
{
	struct nand_hooks none = hooks_of(&first);
	uint64_t command = outer.command++;
	(void)opaque;

	if (!other_ftl)
		count_carried(controller_behind(first.f));
	if (only.on && command != only.command)
		return;
	for (int when = 0; when < WHENS; when++) {
		uint64_t at = test_cut_time(now_ns, &c[count - 1], when);
		uint64_t seed = command * 0x9e3779b97f4a7c15u + (uint64_t)when;
		size_t len;

		if (c[0].op == NAND_READ && when)
			continue;	/* the array does not change, so the result is the same */
		if (only.on && when != only.when)
			continue;
		len = strlen(id);
		snprintf(id + len, sizeof(id) - len, ":%" PRIu64 ":%d", command, when);
		nand_array_set_hooks(second.ta.a, &none);
		test_lose_power(&second.ta, &first.ta, at, seed);
		drive_mount(&second);
		verify(&second, &first);
		for (int i = 0; i < 2; i++) {
			/* most commands of a recovery are reads of a small array */
			uint64_t s2 = seed + (uint64_t)i, m = rnd(&s2) % (i ? 500 : 200);
			int when2 = (int)(rnd(&s2) % 3);
			size_t len2 = strlen(id);

			if (only.on && only.command2 != (uint64_t)-1 &&
			    (m != only.command2 || when2 != only.when2))
				continue;
			snprintf(id + len2, sizeof(id) - len2, ":%" PRIu64 ":%d", m, when2);
			nand_array_set_hooks(second.ta.a, &none);
			test_lose_power(&second.ta, &first.ta, at, seed);
			cut_again(m, when2, s2);
			id[len2] = 0;
		}
		id[len] = 0;
	}
}

/* The events of a shape, which must have occurred in so many operations. */
static void check_events(const struct shape *s, const struct ftl_stats *st, bool has_carried, bool has_ckpt)
{
	struct nand_stats ns;

	SSD_ASSERT(other_ftl || !(s->ways & CARRIES) || has_carried);
	SSD_ASSERT(!(s->ways & PAIRS) == !st->second_victims);
	first.ta.n->ops->get_stats(first.ta.n, &ns);
	SSD_ASSERT(!(s->ways & SUSPENDS) == !ns.suspends);
	SSD_ASSERT(other_ftl || !s->map_cache_pages == !has_ckpt);
	SSD_ASSERT(!(s->ways & QUEUES) == !first.overtakes);
	SSD_ASSERT(!(s->ways & LEVEL) == !st->wl_runs);
	SSD_ASSERT(!(s->ways & CORRECTED) == !st->relocations);
	SSD_ASSERT(!(s->ways & (SET_ASIDE | SPARE)) == !st->slc_pages);
	SSD_ASSERT(!(s->ways & (FOLDS | SPARE)) || st->slc_erases);
	SSD_ASSERT(!(s->ways & FOLDS) || st->slc_fold_units);
}

static void run(uint32_t shape, uint64_t seed, uint32_t ops)
{
	struct shape s;
	struct nand_hooks hooks;
	const struct ftl_stats *st;
	uint64_t before = cuts, ckpt_before = by_ckpt, carried_before = carried, began_ns, took_ns;

	snprintf(id, sizeof(id), "%s%s%s%u:%" PRIu64 ":%u", other_ftl ? "-f " : "", other_ftl ? other_ftl : "",
		 other_ftl ? " " : "", shape, seed, ops);
	if (shape < DRAWN_FROM)
		s = shapes[shape];
	else
		drive_draw(&s, (shape - DRAWN_FROM) % DRAWN, seed);
	drive_make(&first, &s);
	drive_make(&second, &s);
	drive_make(&third, &s);
	if (s.draw)
		drive_print_drawn(&first);
	if (!other_ftl)
		keys_note(first.ops, &first.fc);
	outer = (struct cutter){ .d = &first };
	first.rng = seed * 0x9e3779b97f4a7c15u + 1;
	began_ns = test_cpu_ns();
	drive_mount(&first);
	hooks = hooks_of(&first);
	hooks.done = every_cut;
	nand_array_set_hooks(first.ta.a, &hooks);
	work(&first, ops);
	took_ns = test_cpu_ns() - began_ns;
	all_ns += took_ns;
	st = first.f->ops->stats(first.f);
	printf("# %" PRIu64 " commands, %" PRIu64 " cuts survived, %" PRIu64 " GC calls, "
	       "%" PRIu64 " of them for two blocks, %" PRIu64 " blocks levelled, %" PRIu64 " relocated"
	       ", %" PRIu64 " mounts by a checkpoint, %" PRIu64 " commands with carried units, %" PRIu64
	       " units padded (%" PRIu64 " cuts/s)\n", outer.command, cuts - before, st->gc_runs, st->second_victims,
	       st->wl_runs, st->relocations, by_ckpt - ckpt_before, carried - carried_before, st->gc_pad_units,
	       test_per_second(cuts - before, took_ns));
	if (ops >= 300 && !s.draw)
		check_events(&s, st, carried > carried_before, by_ckpt > ckpt_before);
	drive_free(&first);
	drive_free(&second);
	drive_free(&third);
}

int main(int argc, char **argv)
{
	uint32_t ops = 1000, shape;
	uint64_t seed;
	char name[32];
	int n;

	signal(SIGABRT, on_abort);
	only.command2 = (uint64_t)-1;
	if (argc >= 3 && !strcmp(argv[1], "-f")) {
		other_ftl = argv[2];
		argc -= 2;
		argv += 2;
	}
	n = argc == 2 ? sscanf(argv[1], "%u:%" SCNu64 ":%u:%" SCNu64 ":%d:%" SCNu64 ":%d", &shape, &seed,
			       &ops, &only.command, &only.when, &only.command2, &only.when2) : 0;
	if (n >= 5) {
		only.on = true;
		run(shape, seed, ops);
		return 0;
	}
	if (argc >= 3 && !strcmp(argv[1], "-n"))
		ops = test_times((uint32_t)strtoul(argv[2], NULL, 10));
	seed = argc < 5 ? 1 : strtoull(argv[4], NULL, 10);
	for (shape = 0; shape < SHAPES; shape++)
		if (is_for(&shapes[shape], argc < 4 ? NULL : argv[3]))
			RUN_AS(shapes[shape].name, run(shape, seed, ops));
	for (uint32_t i = 0; i < DRAWN && !other_ftl && (argc < 4 || strstr("drawn settings", argv[3])); i++) {
		snprintf(name, sizeof(name), "drawn settings, %u", i);
		RUN_AS(name, run(DRAWN_FROM + i, seed, ops - ops / 3));
	}
	if (argc < 4 && !other_ftl)
		RUN_AS("every key and policy is drawn", keys_are_drawn(elsewhere));
	printf("# all shapes: %" PRIu64 " cuts, %" PRIu64 " cuts/s of CPU time; %" PRIu64
	       " commands with carried units, %" PRIu64 " of several blocks\n", cuts,
	       test_per_second(cuts, all_ns), carried, carried_of_some);
	return test_result();
}
