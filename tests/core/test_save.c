// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test power-loss protection (save.h): a loss of power before, inside and after every NAND command of a random workload
 * with GC, on all drives of test_cut that have a write buffer.
 *
 * At each of these moments the drive is kept (its memory and its array), loses its power and saves its buffer; in
 * every second save a program fails, in every fourth an erase, if there is one. A fresh FTL mounts what is then on
 * flash, and everything that the host got an answer for must be there, flushed or not: found == acknowledged. Then the
 * drive is put back as it was, and the workload goes on. A second loss of power in the recovery must change nothing.
 *
 * Atomic writes (ftl_ops.atomic_bytes): all sectors of one are found, or none; and so in each read, with or without a
 * loss of power.
 *
 *   test_save [-n OPS [NAME [SEED]]]	OPS operations on each shape with NAME in its name
 *   test_save ID			one save again; ID = shape:seed:ops:command:when is what a failing run prints
 */
#include <setjmp.h>
#include <signal.h>
#include <unistd.h>

#include "cut_drive.h"
#include "save.h"

#define WHENS 3
#define DUE_MAX 4096u

struct moment {
	uint64_t at_ns, command;
	int when;
};

static struct {
	struct moment due[DUE_MAX];
	uint32_t count;
	uint64_t commands;
	uint64_t programs, erases;	/* in the save under way, until one fails; 0: it has failed, or none is to */
	bool saving;
	uint64_t busiest;		/* pages that one save programmed */
	uint64_t failed;		/* programs and erases that failed in a save */
	uint64_t collected;		/* saves with an erase */
	uint64_t seen;			/* writes of several units that were found whole, in saves and reads */
} run_of;

/* Torn pages would take lower pages along, which these FTLs do not back up; no page is torn. */
static const struct shape paired[] = {
	{ "page, fixed order", { 1, 1, 1, 1, 16, 8, 512, 64, 16, 512, 0, 1, 2 }, 512, 56, 4,
	  FTL_GC_SLICED, false, 0, FIXED },
	{ "page, relaxed order, dies", { 2, 1, 1, 1, 14, 8, 1024, 64, 25, 1024, 0, 1, 2 }, 512, 130, 4,
	  FTL_GC_SLICED, false, 0, RELAXED },
	{ "page, fixed order, planes", { 1, 1, 1, 2, 14, 8, 512, 64, 16, 512, 0, 1, 2 }, 512, 100, 4,
	  FTL_GC_BLOCKING, true, 6, FIXED },
};

/* Buffers so large that all writes of test_cut are atomic. */
static const struct shape large[] = {
	{ "atomic", { 2, 1, 1, 1, 18, 4, 1024, 64, 25, 1024, 0, 1, 1 }, 512, 80, 16, FTL_GC_SLICED, false, 0 },
	{ "atomic, units of two sectors", { 2, 1, 1, 1, 18, 4, 2048, 64, 25, 2048, 0, 1, 1 }, 1024, 80, 16,
	  FTL_GC_BLOCKING, false, 0 },
	{ "atomic, units of three sectors", { 2, 1, 1, 1, 18, 4, 3072, 64, 25, 3072, 0, 1, 1 }, 1536, 80, 16,
	  FTL_GC_SLICED, false, 0 },
	{ "atomic, handles", { 2, 1, 1, 1, 18, 4, 1024, 64, 26, 1024, 0, 1, 1 }, 512, 80, 16, FTL_GC_SLICED, false, 0,
	  HANDLES },
	{ "atomic, controller and cache", { 2, 1, 1, 1, 18, 4, 1024, 64, 25, 1024, 0, 1, 1 }, 512, 80, 16,
	  FTL_GC_SLICED, false, 0, CORES | CACHE },
	{ "atomic, few reads, hot", { 2, 1, 1, 1, 18, 4, 1024, 64, 25, 1024, 0, 1, 1 }, 512, 80, 16,
	  FTL_GC_SLICED, false, 8, FEW_READS | SUSPENDS },
	{ "atomic, four units, hot", { 1, 1, 1, 1, 16, 6, 2048, 64, 43, 512, 0, 1, 1 }, 512, 150, 16,
	  FTL_GC_SLICED, false, 12, CARRIES | WORDS | CORRECTED },
	{ "atomic, cached", { 1, 1, 1, 1, 100, 8, 512, 64, 16, 512, 0, 1, 1 }, 512, 640, 16,
	  FTL_GC_SLICED, false, 140, .map_cache_pages = 3 },
	{ "atomic, metadata, slc", { 2, 1, 1, 1, 14, 6, 1024, 64, 25, 1024, 0, 1, 3 }, 512, 70, 16,
	  FTL_GC_SLICED, false, 0, METADATA | SET_ASIDE | FOLDS },
	{ "atomic, parity", { 2, 1, 1, 1, 18, 4, 1024, 64, 0, 1024, 0, 1, 2 }, 512, 70, 16, FTL_GC_SLICED, false, 0,
	  FIXED | IDLE, "parity", 0, 600 },
	{ "atomic, rtf", { 2, 1, 1, 1, 24, 4, 1024, 64, 0, 1024, 0, 1, 2 }, 512, 80, 16, FTL_GC_SLICED, false, 0,
	  FIXED, "rtf" },
	{ "atomic, flex", { 2, 1, 1, 1, 16, 8, 1024, 64, 0, 1024, 0, 1, 2 }, 512, 130, 16, FTL_GC_SLICED, false, 0,
	  RELAXED | IDLE, "flex", 100, 600 },
};

#define SHAPES (sizeof(shapes) / sizeof(*shapes))
#define PAIRED (sizeof(paired) / sizeof(*paired))
#define ALL (SHAPES + PAIRED + sizeof(large) / sizeof(*large))

static const struct shape *shape_of(uint32_t i)
{
	return i < SHAPES ? &shapes[i] : i - SHAPES < PAIRED ? &paired[i - SHAPES] : &large[i - SHAPES - PAIRED];
}

static struct drive kept;
static char id[256];
static struct { bool on; uint64_t command; int when; } only;

static void on_abort(int sig)
{
	(void)sig;
	if (write(2, "replay: test_save ", 18) == 18 && write(2, id, strlen(id)) > 0)
		(void)!write(2, "\n", 1);
}

/* ---- moments ---- */

static void note_moment(uint64_t at_ns, uint64_t command, int when)
{
	uint32_t i = run_of.count++;

	SSD_ASSERT(run_of.count <= DUE_MAX);
	for (; i && run_of.due[i - 1].at_ns > at_ns; i--)
		run_of.due[i] = run_of.due[i - 1];
	run_of.due[i] = (struct moment){ at_ns, command, when };
}

static void on_command(void *opaque, uint64_t now_ns, const struct nand_cmd *c, unsigned int count)
{
	uint64_t command = run_of.commands++;

	(void)opaque;
	for (int when = 0; when < WHENS; when++)
		if ((c[0].op != NAND_READ || !when) && (!only.on || (only.command == command && only.when == when)))
			note_moment(test_cut_time(now_ns, &c[count - 1], when), command, when);
}

static uint64_t next_moment(void)
{
	return run_of.count ? run_of.due[0].at_ns : FTL_IDLE;
}

static struct moment take_moment(void)
{
	struct moment m = run_of.due[0];

	memmove(run_of.due, run_of.due + 1, --run_of.count * sizeof(m));
	return m;
}

/* ---- atomic writes ---- */

/* The history has changes [from, to): a write, by the units. Returns the sector behind it. */
static uint32_t write_end(const struct drive *d, uint32_t from, uint32_t *to)
{
	uint32_t end = d->history[from].sector;

	for (*to = from; *to < d->changes && d->history[*to].tag == d->history[from].tag &&
			 d->history[*to].sector == end; (*to)++)
		end += d->history[*to].count;
	return end;
}

static bool changed_later(const struct drive *d, uint32_t from, uint32_t sector)
{
	for (; from < d->changes; from++)
		if (sector - d->history[from].sector < d->history[from].count)
			return true;
	return false;
}

/*
 * content[] has the tags of sectors [low, high). If one has the tag of an atomic write, the write's others among them
 * have it, too, or were changed later.
 */
static void check_whole(const struct drive *d, uint32_t low, uint32_t high, const uint64_t *content, uint32_t atomic)
{
	uint32_t per = d->shape->unit / FTL_SECTOR_BYTES;

	for (uint32_t from = 0, to; from < d->changes; from = to) {
		uint32_t end = write_end(d, from, &to), start = d->history[from].sector;
		uint32_t begin = start > low ? start : low, stop = end < high ? end : high;
		uint64_t tag = d->history[from].tag;
		bool seen = false;

		if (!tag || tag == LOST || (end - start) * FTL_SECTOR_BYTES > atomic ||
		    (atomic == d->shape->unit && start / per != (end - 1) / per))	/* only units are atomic */
			continue;
		for (uint32_t s = begin; s < stop; s++)
			seen |= content[s - low] == tag;
		for (uint32_t s = begin; s < stop && seen; s++)
			SSD_ASSERT(content[s - low] == tag || changed_later(d, to, s));
		run_of.seen += seen && end - start > per;
	}
}

static uint32_t atomic_of(const struct drive *d)
{
	return d->ops->atomic_bytes ? d->ops->atomic_bytes(&d->fc, &d->ta.n->geo) : d->shape->unit;
}

static void check_read(const struct drive *d, const struct host_io *h)
{
	uint64_t tags[MAX_SECTORS];
	uint32_t low = (uint32_t)(h->io.offset / FTL_SECTOR_BYTES), n = (uint32_t)(h->io.bytes / FTL_SECTOR_BYTES);

	if (d != &first)
		return;
	for (uint32_t i = 0; i < n; i++) {
		memcpy(&tags[i], h->data + (size_t)i * FTL_SECTOR_BYTES, 8);
		tags[i] >>= 20;
	}
	check_whole(d, low, low + n, tags, atomic_of(d));
}

/* ---- a save ---- */

static enum nand_status fault_in_save(void *opaque, const struct nand_cmd *c)
{
	const struct nand_hooks usual = hooks_of(&first);

	if (run_of.programs && c->op == NAND_PROGRAM && !--run_of.programs) {
		run_of.failed++;
		return NAND_PROG_FAIL;
	}
	if (run_of.erases && c->op == NAND_ERASE && !--run_of.erases) {
		run_of.failed++;
		return NAND_ERASE_FAIL;
	}
	return usual.fault ? usual.fault(opaque, c) : NAND_OK;
}

static struct {
	uint64_t command, stop_at;
	uint64_t at_ns;
	jmp_buf out;
} again;

static void stop_hook(void *opaque, uint64_t now_ns, const struct nand_cmd *c, unsigned int count)
{
	const struct nand *n = second.ta.n;

	(void)opaque;
	(void)c;
	(void)count;
	if (again.command++ != again.stop_at)
		return;
	again.at_ns = now_ns;
	for (uint32_t die = 0; die < geo_dies(&n->geo); die++)	/* the capacitors let commands end */
		if (n->ops->die_ready_ns(n, die) > again.at_ns)
			again.at_ns = n->ops->die_ready_ns(n, die);
	longjmp(again.out, 1);
}

/* The power fails a second time, at command m of the mount. */
static void fail_in_mount(uint64_t end_ns, uint64_t m, uint64_t seed)
{
	struct nand_hooks hooks = hooks_of(&first);

	test_lose_power(&second.ta, &first.ta, end_ns, seed);
	again.command = 0;
	again.stop_at = m;
	hooks.done = stop_hook;
	nand_array_set_hooks(second.ta.a, &hooks);
	if (setjmp(again.out)) {
		test_lose_power(&third.ta, &second.ta, again.at_ns, seed);
		drive_mount(&third);
		verify(&third, &first);
	} else {
		drive_mount(&second);
	}
	hooks = hooks_of(&first);
	nand_array_set_hooks(second.ta.a, &hooks);
}

static uint64_t commands_of(const struct drive *d, enum nand_op op)
{
	struct nand_stats s;
	uint64_t sum = 0;

	d->ta.n->ops->get_stats(d->ta.n, &s);
	for (uint32_t i = 0; i < NAND_NSOURCES; i++)
		sum += s.ops[op][i];
	return sum;
}

static void save_here(const struct moment *m)
{
	struct nand_hooks hooks = hooks_of(&first), before = *nand_array_hooks(first.ta.a);
	uint64_t seed = (m->command * WHENS + (uint64_t)m->when) * 0x9e3779b97f4a7c15u | 1, end_ns;
	uint64_t programs = commands_of(&first, NAND_PROGRAM), erases = commands_of(&first, NAND_ERASE);
	uint32_t left;
	struct nand_in_flight torn;
	size_t len = strlen(id);

	snprintf(id + len, sizeof(id) - len, ":%" PRIu64 ":%d", m->command, m->when);
	memcpy(kept.mem, first.mem, first.len);
	nand_array_copy(kept.ta.a, first.ta.a);
	run_of.programs = m->command % 2 ? 0 : 1 + rnd(&seed) % 3;
	run_of.erases = m->command % 4 == 1;
	hooks.fault = fault_in_save;
	nand_array_set_hooks(first.ta.a, &hooks);
	left = ftl_save(first.f, first.ta.n, 0, first.now_ns, &end_ns);
	SSD_ASSERT(!left);
	first.f->ops->check(first.f);
	nand_array_in_flight(first.ta.a, end_ns, &torn);
	for (unsigned int op = 0; op < NAND_NOPS; op++)
		SSD_ASSERT(!torn.begun[op] && !torn.waiting[op]);
	programs = commands_of(&first, NAND_PROGRAM) - programs;
	if (programs > run_of.busiest)
		run_of.busiest = programs;
	run_of.collected += commands_of(&first, NAND_ERASE) > erases;
	hooks = hooks_of(&first);
	nand_array_set_hooks(second.ta.a, &hooks);
	test_lose_power(&second.ta, &first.ta, end_ns, seed);
	drive_mount(&second);
	verify(&second, &first);
	check_whole(&first, 0, (uint32_t)(first.fc.capacity_bytes / FTL_SECTOR_BYTES), second.found,
		    atomic_of(&first));
	fail_in_mount(end_ns, rnd(&seed) % 100, seed);
	memcpy(first.mem, kept.mem, first.len);
	nand_array_copy(first.ta.a, kept.ta.a);
	nand_array_set_hooks(first.ta.a, &before);
	id[len] = 0;
}

static void save_due(void)
{
	while (next_moment() <= first.now_ns) {
		struct moment m = take_moment();

		save_here(&m);
	}
}

static void work_and_save(uint32_t ops)
{
	while (ops) {
		struct host_io *h = free_io(&first);

		if (h && rnd(&first.rng) % 3) {
			submit_random(&first, h);
			ops--;
		} else if (first.next_ns != FTL_IDLE || run_of.count) {
			first.now_ns = first.next_ns < next_moment() ? first.next_ns : next_moment();
			first.next_ns = first.f->ops->step(first.f, first.now_ns);
		}
		save_due();
	}
}

static void run(uint32_t shape, uint64_t seed, uint32_t ops)
{
	struct nand_hooks hooks;
	uint64_t before = cuts;

	snprintf(id, sizeof(id), "%u:%" PRIu64 ":%u", shape, seed, ops);
	drive_make(&first, shape_of(shape));
	drive_make(&second, shape_of(shape));
	drive_make(&third, shape_of(shape));
	drive_make(&kept, shape_of(shape));
	memset(&run_of, 0, sizeof(run_of));
	first.rng = seed * 0x9e3779b97f4a7c15u + 1;
	drive_mount(&first);
	hooks = hooks_of(&first);
	hooks.done = on_command;
	nand_array_set_hooks(first.ta.a, &hooks);
	work_and_save(ops);
	printf("# %" PRIu64 " commands, %" PRIu64 " losses of power survived, %" PRIu64 " failed programs and erases, "
	       "%" PRIu64 " saves with an erase, at most %" PRIu64 " programs in one; atomic: %u bytes, "
	       "%" PRIu64 " found\n", run_of.commands, cuts - before, run_of.failed, run_of.collected, run_of.busiest,
	       atomic_of(&first), run_of.seen);
	drive_free(&first);
	drive_free(&second);
	drive_free(&third);
	drive_free(&kept);
}

int main(int argc, char **argv)
{
	uint32_t ops = 60, shape;
	uint64_t seed;

	signal(SIGABRT, on_abort);
	protect = true;
	when_read = check_read;
	if (argc == 2 && sscanf(argv[1], "%u:%" SCNu64 ":%u:%" SCNu64 ":%d", &shape, &seed, &ops, &only.command,
				&only.when) == 5) {
		only.on = true;
		run(shape, seed, ops);
		return 0;
	}
	if (argc >= 3 && !strcmp(argv[1], "-n"))
		ops = test_times((uint32_t)strtoul(argv[2], NULL, 10));
	for (shape = 0; shape < ALL; shape++)
		if (shape_of(shape)->buffer_pages && (argc < 4 || strstr(shape_of(shape)->name, argv[3])))
			RUN_AS(shape_of(shape)->name, run(shape, argc < 5 ? 1 : strtoull(argv[4], NULL, 10), ops));
	printf("# all shapes: %" PRIu64 " losses of power\n", cuts);
	return test_result();
}
