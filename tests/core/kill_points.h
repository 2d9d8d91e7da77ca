/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kill_points.h - executes a script on a small array one instruction at a time in a child process,
 * and checks every image that occurs. test_kill_points.c has the scripts; its head describes the
 * checks.
 *
 * A script: config() and make(), history, begin(), then calls (submit(), passed(),
 * add()), each with the world that it should leave; kill_everywhere() runs the script.
 */
#ifndef SLATE_KILL_POINTS_H
#define SLATE_KILL_POINTS_H

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "array_impl.h"
#include "test.h"

#define SKIPPED 77		/* ctest counts this exit status as skipped */
#define PAGES_MAX 256u
#define PBS_MAX 128u
#define MOMENTS_MAX 24u
#define GROUP_MAX 8u
#define PAGE_BYTES 1536u		/* three units (nand-emu/content.c) */
#define OOB_BYTES 16u
#define VERSIONS 62u

/* Each bit of a set is one of the possible contents of a page. */
#define ERASED 1ull
#define LOST 2ull
#define V(v) (4ull << (v))
/* These bits of a set are the possible flags, or disturbances, of a smallest PB. */
#define ONE(x) (1u << (x))

struct world {			/* the states that a death may leave */
	uint64_t page[PAGES_MAX];
	struct {
		uint32_t erases, erases_max, disturbs, flags;
	} pb[PBS_MAX];
	uint64_t age_ns, age_max_ns;
};

enum call { START, SUBMIT, PASSED, CUT, POWER_ON, INIT };

static const char *const call_names[] = { "start", "submit", "passed", "cut", "power_on", "init" };

struct moment {			/* a call, and the possible states after it has returned */
	enum call call;
	uint64_t at_ns, seed;
	struct nand_cmd cmd[GROUP_MAX];
	unsigned int count;
	struct world w;
};

static struct moment script[MOMENTS_MAX];
static unsigned int moments;

static struct nand_array_config c;
static struct nand *live;		/* array on the shared image */
static struct test_array mirror;	/* an array that runs the script first, for its times and results */
static uint8_t *image, *last, *copy;
static void *mem, *child_mem, *copy_mem;
static size_t image_bytes, mem_bytes;
static struct { volatile unsigned int moment; } *progress;	/* shared with the child */

static uint8_t content[VERSIONS][PAGE_BYTES], spare[VERSIONS][OOB_BYTES];
static unsigned int version;		/* last version that was programmed */
static uint64_t now;
static uint32_t old_first, old_span;	/* smallest PBs of an erase that has not settled */
static enum nand_status wanted_fault;
static const char *name;
static bool verbose, reported;
static unsigned long steps, points, all_steps, all_points;

/* ---- arrays ---------------------------------------------------------------- */

static enum nand_status fault(void *opaque, const struct nand_cmd *cmd)
{
	(void)opaque;
	if (cmd->op == NAND_PROGRAM && wanted_fault == NAND_PROG_FAIL)
		return NAND_PROG_FAIL;
	return cmd->op == NAND_ERASE && wanted_fault == NAND_ERASE_FAIL ? NAND_ERASE_FAIL : NAND_OK;
}

/* The owner takes pages back: overwrite them with other bytes. */
static void discard(void *opaque, uint64_t offset, uint64_t bytes)
{
	for (uint64_t at = 0; at < bytes; at += PAGE_BYTES)
		memset((uint8_t *)opaque + offset + at, 0xdb, 8);
}

static void config(uint32_t dies, uint32_t planes, uint32_t bits)
{
	memset(&c, 0, sizeof(c));
	c.geo = (struct nand_geometry){
		.channels = 1, .chips_per_channel = dies, .dies_per_chip = 1, .planes_per_die = planes,
		.blocks_per_plane = 4, .pages_per_block = 8, .page_bytes = PAGE_BYTES,
		.oob_bytes = OOB_BYTES, .oob_kept = OOB_BYTES, .ecc_word_bytes = PAGE_BYTES,
		.erase_group_max = 2, .bits_per_cell = bits, .order = NAND_ORDER_ASCENDING,
	};
	for (unsigned int i = 0; i < NAND_TYPES_MAX; i++) {
		c.timing.read_ns[i] = 50000;
		c.timing.program_ns[i] = 200000;
	}
	for (unsigned int i = 0; i <= NAND_PB_LEVELS_MAX; i++)
		c.timing.erase_ns[i] = 1000000;
	c.timing.cmd_ns = 10;
	c.timing.bus_ps_per_byte = 1000;
	c.timing.suspend_ns = 1000;
	c.timing.resume_ns = 1000;
	c.timing.suspends_max = 2;
	c.physics.seed = 1;
	c.physics.disturb_tolerance = 1;
	c.payload = c.sums = true;
}

static void *shared(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	return p;
}

static void make(const char *what)
{
	struct nand_hooks h = { .fault = fault, .discard = discard };

	name = what;
	reported = false;
	version = 0;
	moments = 0;
	now = 0;
	old_span = 0;
	wanted_fault = NAND_OK;
	test_array_make(&mirror, &c);
	image_bytes = nand_array_image_bytes(&c);
	mem_bytes = nand_array_footprint(&c);
	image = shared(image_bytes);
	last = malloc(image_bytes);
	copy = malloc(image_bytes);
	mem = calloc(1, mem_bytes);
	child_mem = calloc(1, mem_bytes);
	copy_mem = calloc(1, mem_bytes);
	live = nand_array_init(mem, image, &c);
	h.opaque = image;
	nand_array_set_hooks(nand_array_of(live), &h);
	h.opaque = mirror.image;
	nand_array_set_hooks(mirror.a, &h);
}

static void unmake(void)
{
	test_array_free(&mirror);
	munmap(image, image_bytes);
	free(last);
	free(copy);
	free(mem);
	free(child_mem);
	free(copy_mem);
}

/* ---- before the script: durable history ---------------------------------------- */

static void run_now(struct nand_cmd *cmd)
{
	old_span = 0;
	nand_submit(live, now, cmd, 1);
	EXPECT_EQ(cmd->status, NAND_OK);
	now = cmd->done_ns + 1000;
	nand_array_passed(nand_array_of(live), now);
}

static struct nand_cmd program(uint32_t ppn)
{
	version++;
	SSD_ASSERT(version < VERSIONS);
	return (struct nand_cmd){ .op = NAND_PROGRAM, .ppn = { ppn }, .data = content[version],
				  .oob = spare[version] };
}

static struct nand_cmd erase(uint32_t block, uint32_t pb)
{
	return (struct nand_cmd){ .op = NAND_ERASE, .pb = pb,
				  .ppn = { block * c.geo.pages_per_block } };
}

static struct nand_cmd look(uint32_t ppn)
{
	return (struct nand_cmd){ .op = NAND_READ, .ppn = { ppn }, .ecc_words = NAND_WHOLE_PAGE };
}

/* Program the page with its next version. */
static unsigned int put(uint32_t ppn)
{
	struct nand_cmd cmd = program(ppn);

	run_now(&cmd);
	return version;
}

static void wipe(uint32_t block, uint32_t pb)
{
	struct nand_cmd cmd = erase(block, pb);

	run_now(&cmd);
	old_span = (1u << c.geo.pb_levels) >> pb_level(pb);
	old_first = (block << c.geo.pb_levels) + (pb - (1u << pb_level(pb))) * old_span;
}

/* ---- worlds ---------------------------------------------------------------------- */

/* Returns the version in `may` that the page holds; 0: another content. */
static uint64_t page_is(struct nand *n, uint32_t ppn, uint64_t may)
{
	const void *data, *oob;
	enum nand_status s = n->ops->peek(n, (ppn_t){ ppn }, &data, &oob);

	if (s == NAND_ERASED)
		return may & ERASED;
	if (s == NAND_UNCORR)
		return may & LOST;
	for (unsigned int v = 1; v <= version; v++)
		if (may & V(v) && !memcmp(data, content[v], PAGE_BYTES) &&
		    !memcmp(oob, spare[v], OOB_BYTES))
			return V(v);
	return 0;
}

static uint32_t pbs_of(const struct nand_array *a)
{
	return a->pages / a->pb_pages;
}

/* Describe exactly the present state of n. */
static void world_of(struct nand *n, struct world *w)
{
	const struct nand_array *a = nand_array_of(n);

	SSD_ASSERT(a->pages <= PAGES_MAX && pbs_of(a) <= PBS_MAX);
	memset(w, 0, sizeof(*w));
	for (uint32_t p = 0; p < a->pages; p++)
		w->page[p] = page_is(n, p, ~0ull);
	for (uint32_t s = 0; s < pbs_of(a); s++) {
		w->pb[s].erases = w->pb[s].erases_max = a->pb[s].erases;
		w->pb[s].disturbs = ONE(a->pb[s].disturbs);
		w->pb[s].flags = ONE(a->pb[s].flags);
	}
	w->age_ns = w->age_max_ns = a->head->age_ns + a->head->now_ns;
}

static bool outside(char *why, const char *what, uint64_t where)
{
	sprintf(why, "%s %" PRIu64, what, where);
	return false;
}

/* Does w allow the state of this die? */
static bool die_fits(struct nand *n, uint32_t die, const struct world *w, char *why)
{
	const struct nand_array *a = nand_array_of(n);
	uint32_t pages = a->pages / geo_dies(&c.geo), pbs = pbs_of(a) / geo_dies(&c.geo);

	for (uint32_t p = die * pages; p < (die + 1) * pages; p++)
		if (!page_is(n, p, w->page[p]))
			return outside(why, "page", p);
	for (uint32_t s = die * pbs; s < (die + 1) * pbs; s++) {
		const struct img_pb *b = &a->pb[s];

		if (b->erases < w->pb[s].erases || b->erases > w->pb[s].erases_max)
			return outside(why, "erases of PB", s);
		if (!(w->pb[s].disturbs & ONE(b->disturbs)))
			return outside(why, "disturbances of PB", s);
		if (!(w->pb[s].flags & ONE(b->flags)))
			return outside(why, "flags of PB", s);
	}
	return true;
}

static bool age_fits(const struct nand_array *a, const struct world *w)
{
	return device_age_ns(a) >= w->age_ns && device_age_ns(a) <= w->age_max_ns;
}

/* Is each die in the state before the interrupted call (NULL: no call), or in that after it? */
static bool fits(struct nand *n, const struct world *before, const struct world *after, char *why)
{
	const struct nand_array *a = nand_array_of(n);

	for (uint32_t d = 0; d < geo_dies(&c.geo); d++)
		if (!(before && die_fits(n, d, before, why)) && !die_fits(n, d, after, why))
			return false;
	if (!(before && age_fits(a, before)) && !age_fits(a, after))
		return outside(why, "age", device_age_ns(a));
	return true;
}

/* Check what must be true of every array that was just opened. */
static bool consistent(struct nand *n, char *why)
{
	static const uint16_t none[NAND_TYPES_MAX];
	const struct nand_array *a = nand_array_of(n);
	uint64_t held = 0;

	for (uint32_t p = 0; p < a->pages; p++) {
		held += cell_get(a, p) != CELL_ERASED;
		if (a->carried && a->carried[p] && cell_get(a, p) == CELL_ERASED)
			return outside(why, "errors left in erased page", p);
	}
	if (a->stats.programmed_pages != held)
		return outside(why, "programmed_pages", a->stats.programmed_pages);
	for (uint32_t s = 0; a->age && s < pbs_of(a); s++)
		if (!(a->pb[s].flags & PB_TORN) &&
		    !memcmp(a->pb[s].wl, none, sizeof(none)) != !a->age[s].programmed_ns)
			return outside(why, "age of PB", s);
	return true;
}

/* ---- the image can be used further -------------------------------------------------- */

/* Returns the page of a smallest PB that a program may name next; pb_pages: there is none. */
static uint32_t next_page(const struct nand_array *a, uint32_t s)
{
	static const uint8_t fps[] = { 0, 2, 1, 4, 3, 6, 5, 7 };	/* 4 word lines of 2 bits */
	uint32_t first = s * a->pb_pages, next = 0;

	if (c.geo.order == NAND_ORDER_FPS) {
		for (uint32_t i = 0; i < sizeof(fps); i++)
			if (cell_get(a, first + fps[i]) == CELL_ERASED)
				return fps[i];
		return a->pb_pages;
	}
	for (uint32_t i = 0; i < a->pb_pages; i++)
		if (cell_get(a, first + i) != CELL_ERASED)
			next = i + 1;
	return next;
}

static enum nand_status program_at(struct nand *n, uint64_t *at_ns, uint32_t ppn)
{
	struct nand_cmd cmd[NAND_TYPES_MAX];
	unsigned int count = c.geo.one_shot ? c.geo.bits_per_cell : 1;

	for (unsigned int i = 0; i < count; i++)
		cmd[i] = (struct nand_cmd){ .op = NAND_PROGRAM, .ppn = { ppn + i }, .data = content[0],
					    .oob = spare[0] };
	nand_submit(n, *at_ns, cmd, count);
	*at_ns = cmd[0].done_ns;
	return cmd[0].status;
}

static bool goes_on(struct nand *n, char *why)
{
	const struct nand_array *a = nand_array_of(n);
	uint64_t at_ns = 0;

	for (uint32_t s = 0; s < pbs_of(a); s++) {
		uint32_t next = next_page(a, s);
		bool torn = a->pb[s].flags & PB_TORN;

		if (next < a->pb_pages && (torn || cell_get(a, s * a->pb_pages + next) == CELL_ERASED) &&
		    program_at(n, &at_ns, s * a->pb_pages + next) != (torn ? NAND_VIOLATION : NAND_OK))
			return outside(why, torn ? "R9 forgotten in PB" : "no next program in PB", s);
	}
	for (uint32_t b = 0; b < a->pages / c.geo.pages_per_block; b++) {
		struct nand_cmd e = erase(b, NAND_WHOLE_BLOCK);

		nand_submit(n, at_ns, &e, 1);
		at_ns = e.done_ns;
		if (e.status != NAND_OK ||
		    program_at(n, &at_ns, b * c.geo.pages_per_block) != NAND_OK)
			return outside(why, "no new life for block", b);
	}
	return true;
}

/* ---- a kill point --------------------------------------------------------------------- */

static struct nand *take_up(void)
{
	memset(copy_mem, 0, mem_bytes);
	return nand_array_init(copy_mem, copy, &c);
}

/* The child was killed within moment i or, with done, right after it. */
static void killed(unsigned int i, bool done)
{
	static struct world once;
	char why[80] = "";
	const char *refused;
	struct nand *n;
	bool good;

	memcpy(copy, last, image_bytes);
	good = nand_array_check_image(&c, copy, &refused) == SSD_OK;
	if (!good) {
		strncpy(why, refused, sizeof(why) - 1);
	} else {
		n = take_up();
		good = fits(n, done ? NULL : &script[i - 1].w, &script[i].w, why) &&
		       consistent(n, why);
		if (good) {
			world_of(n, &once);
			n = take_up();
			good = fits(n, NULL, &once, why) && goes_on(n, why);
		}
	}
	if (good)
		return;
	failures++;
	if (!reported || verbose)
		printf("%s: killed %s call %u (%s), kill point %lu: %s\n", name, done ? "after" : "in", i,
		       call_names[script[i].call], points, why);
	reported = true;
}

static void perform(struct moment *m)
{
	struct nand_array *a = nand_array_of(live);

	if (m->call == SUBMIT)
		nand_submit(live, m->at_ns, m->cmd, m->count);
	else if (m->call == PASSED)
		nand_array_passed(a, m->at_ns);
	else if (m->call == CUT)
		nand_array_power_cut(a, m->at_ns, m->seed);
	else if (m->call == POWER_ON)
		nand_array_power_on(a);
	else if (m->call == INIT)
		live = nand_array_init(child_mem, image, &c);
}

static void child(void)
{
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
		_exit(SKIPPED);
	raise(SIGSTOP);
	for (unsigned int i = 1; i < moments; i++) {
		progress->moment = i;
		perform(&script[i]);
	}
	progress->moment = moments;
	_exit(0);
}

_Noreturn static void skip(const char *why)
{
	printf("skipped: %s\n", why);
	exit(SKIPPED);
}

/* Execute one instruction. Returns false if the child has ended. */
static bool step(pid_t pid)
{
	int st;

	if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL)) {
		int e = errno;

		kill(pid, SIGKILL);
		waitpid(pid, &st, 0);
		errno = e;
		if (!all_steps && !steps)
			skip("this machine does not single-step a traced child");
		perror("PTRACE_SINGLESTEP");
		exit(1);
	}
	waitpid(pid, &st, 0);
	steps++;
	if (WIFSTOPPED(st) && WSTOPSIG(st) == SIGTRAP)
		return true;
	if (WIFSTOPPED(st)) {
		kill(pid, SIGKILL);
		waitpid(pid, &st, 0);
	}
	if (!WIFEXITED(st) || WEXITSTATUS(st)) {
		printf("%s: the child died (%d) in call %u\n", name, st, progress->moment);
		failures++;
	}
	return false;
}

static void kill_everywhere(void)
{
	unsigned int at = 0;
	pid_t pid;
	int st;

	steps = points = 0;
	progress->moment = 0;
	memcpy(last, image, image_bytes);
	fflush(stdout);
	pid = fork();
	if (!pid)
		child();
	waitpid(pid, &st, 0);
	if (!WIFSTOPPED(st))
		skip("ptrace is not permitted here");
	killed(0, true);
	while (step(pid)) {
		unsigned int is = progress->moment;

		if (is != at && at)
			killed(at, true);
		at = is;
		if (!at || at == moments || !memcmp(last, image, image_bytes))
			continue;
		memcpy(last, image, image_bytes);
		points++;
		killed(at, false);
	}
	if (verbose)
		printf("%s: %lu instructions, %lu kill points\n", name, steps, points);
	if (!points) {
		printf("%s: nothing happened\n", name);
		failures++;
	}
	all_steps += steps;
	all_points += points;
	unmake();
}

/* ---- writing a script -------------------------------------------------------------------- */

static struct world *add(enum call call, uint64_t at_ns)
{
	struct moment *m = &script[moments];

	SSD_ASSERT(moments < MOMENTS_MAX);
	memset(m, 0, sizeof(*m));
	m->call = call;
	m->at_ns = at_ns;
	if (moments)
		m->w = script[moments - 1].w;
	if (at_ns > now) {
		m->w.age_ns += at_ns - now;
		m->w.age_max_ns += at_ns - now;
		now = at_ns;
	}
	moments++;
	return &m->w;
}

/* Begin a moment. Everything done before it is durable. */
static struct world *begin(void)
{
	struct world *w;

	nand_array_copy(mirror.a, nand_array_of(live));
	nand_array_power_cut(mirror.a, now, 0);
	w = add(START, now);
	world_of(mirror.n, w);
	nand_array_copy(mirror.a, nand_array_of(live));
	for (uint32_t i = 0; i < old_span; i++)
		w->pb[old_first + i].erases_max++;	/* a killed shell may count it twice */
	return w;
}

/* Submit a command; returns when it ends. */
static uint64_t submit(const struct nand_cmd *cmd, unsigned int count)
{
	struct nand_cmd run[GROUP_MAX];
	struct moment *m = &script[moments];

	SSD_ASSERT(count <= GROUP_MAX);
	add(SUBMIT, now);
	memcpy(m->cmd, cmd, count * sizeof(*cmd));
	m->count = count;
	memcpy(run, cmd, count * sizeof(*cmd));
	nand_submit(mirror.n, now, run, count);
	EXPECT(run[0].status != NAND_VIOLATION);
	return run[0].resumed_done_ns ? run[0].resumed_done_ns : run[0].done_ns;
}

static struct world *passed(uint64_t at_ns)
{
	struct world *w = add(PASSED, at_ns);

	nand_array_passed(mirror.a, at_ns);
	return w;
}

/* Read a page, which settles the last command of its die. */
static struct world *read_page(uint32_t ppn)
{
	struct nand_cmd cmd = look(ppn);

	submit(&cmd, 1);
	return &script[moments - 1].w;
}

static uint32_t pb_of(uint32_t block, uint32_t k)
{
	return (block << c.geo.pb_levels) + k;
}

#endif
