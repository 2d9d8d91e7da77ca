// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test the controller's read cache in front of an FTL that uses all the freedom that ftl.h gives: `stub`
 * keeps sectors in memory. Each unit of a write changes at a random time between its submission
 * and its completion, each unit of a read is looked at likewise, and done() is called at any time
 * before the completion. Reads and writes fail now and then. The stub notes when each sector changed.
 *
 *   content     each unit of a read is as it was at some time between its submission and completion;
 *   errors      a read fails only if the FTL failed that read;
 *   accounting  the link is charged for the host's reads alone, and a read is either a hit or
 *               submitted to the FTL;
 *   time        no I/O waits for ever, and step() returns a later time.
 *
 *   test_rcache_any [-n SEEDS | -r SEED]
 */
#include <signal.h>
#include <unistd.h>

#include "controller.h"
#include "host.h"
#include "sector_tag.h"
#include "test.h"

#define UNIT 1024u
#define PER 2u				/* sectors in a unit */
#define UNITS 96u
#define SECTORS (UNITS * PER)
#define PAGE_UNITS 4u
#define IOS 12u
#define JOBS 256u
#define REQUESTS 600u
#define LONG 4000u			/* ns; maximum of an I/O's time in the FTL */
#define KEPT 64u			/* changes of a sector that are remembered */

/* ---- what the sectors hold ---------------------------------------------------------------- */

static struct {
	uint64_t at_ns[KEPT];
	uint32_t tag[KEPT], count;
} past[SECTORS];

static void change(uint32_t sector, uint64_t now_ns, uint32_t tag)
{
	uint32_t i = past[sector].count++ % KEPT;

	past[sector].at_ns[i] = now_ns;
	past[sector].tag[i] = tag;
}

static uint32_t tag_now(uint32_t sector)
{
	return past[sector].tag[(past[sector].count - 1) % KEPT];
}

/* Did all sectors [from, to) hold these tags at one time in [begin_ns, end_ns]? They are of one unit. */
static bool held(uint32_t from, uint32_t to, const uint32_t *tags, uint64_t begin_ns, uint64_t end_ns)
{
	uint32_t at[PER];
	uint64_t when = begin_ns, next;

	for (uint32_t s = from; s < to; s++)
		at[s - from] = past[s].count > KEPT ? past[s].count - KEPT : 0;
	for (;; when = next) {
		bool all = true;

		next = FTL_IDLE;
		for (uint32_t s = from; s < to; s++) {
			uint32_t *i = &at[s - from];
			bool same = false;

			while (*i + 1 < past[s].count && past[s].at_ns[(*i + 1) % KEPT] < when)
				++*i;
			/* a sector may change several times at the same moment */
			for (uint32_t k = *i; k < past[s].count && (k == *i || past[s].at_ns[k % KEPT] <= when); k++)
				same |= past[s].tag[k % KEPT] == tags[s - from];
			all &= same;
			for (uint32_t k = *i; k < past[s].count; k++)
				if (past[s].at_ns[k % KEPT] > when && past[s].at_ns[k % KEPT] < next)
					next = past[s].at_ns[k % KEPT];
		}
		if (all)
			return true;
		if (next > end_ns)
			return false;
	}
}

/* ---- the FTL ------------------------------------------------------------------------------ */

struct job {
	struct ftl_io *io;		/* NULL: told */
	bool busy, fails;
	enum ftl_op op;
	uint32_t first, end, left;	/* sectors; units that have not been handled */
	uint64_t tell_ns, done_ns;
	uint64_t unit_ns[UNITS];	/* FTL_IDLE: handled */
	uint32_t tag[SECTORS];
};

static struct job jobs[JOBS];
static uint64_t dice;
static uint32_t host_reads, ahead_reads, told_early;

struct stub {
	struct host host;
	bool fails;
};

static uint32_t roll(uint32_t n)
{
	return (uint32_t)(rnd(&dice) % n);
}

/*
 * Copy a read's sectors in one piece or several, those without data as zeroes. A read that fails delivers
 * wrong data, and not all.
 */
static void give(struct stub *f, struct job *j)
{
	uint8_t data[4 * FTL_SECTOR_BYTES];
	uint32_t count;

	for (uint32_t s = j->first; s < j->end; s += count) {
		bool zeroes = !j->tag[s];

		count = 1;
		while (count < 4 && s + count < j->end && roll(3) && !j->tag[s + count] == zeroes)
			count++;
		for (uint32_t i = 0; i < count; i++)
			sector_tag_put(data + i * FTL_SECTOR_BYTES, s + i, j->fails ? ~0u : j->tag[s + i]);
		if (!j->fails || roll(8))
			host_copy(&f->host, j->io, (uint64_t)(s - j->first) * FTL_SECTOR_BYTES,
				  zeroes ? NULL : data, count * (size_t)FTL_SECTOR_BYTES);
	}
}

static void on_fail(struct ftl_io *io);

static void tell(struct stub *f, struct job *j)
{
	struct ftl_io *io = j->io;
	uint64_t done_ns = j->done_ns > f->host.now_ns ? j->done_ns : f->host.now_ns;

	if (j->op == FTL_READ && f->host.c.payload)
		give(f, j);
	told_early += done_ns > f->host.now_ns;
	j->io = NULL;
	j->busy = j->left;
	io->where.other_ns = done_ns - io->submit_ns;
	if (j->fails && !io->ahead)
		on_fail(io);
	host_finish(&f->host, io, done_ns, !j->fails ? SSD_OK : j->op == FTL_READ ? SSD_E_UNCORR : SSD_E_NOSPC);
}

static void handle_unit(struct job *j, uint32_t unit, uint64_t at_ns)
{
	for (uint32_t s = unit * PER; s < (unit + 1) * PER; s++) {
		if (s < j->first || s >= j->end)
			continue;
		if (j->op == FTL_READ)
			j->tag[s] = tag_now(s);
		else
			change(s, at_ns, j->tag[s]);
	}
	j->unit_ns[unit] = FTL_IDLE;
	j->left--;
	j->busy = j->left || j->io;
}

/*
 * Returns the time of the job's next event, and its unit. UNITS: the event is the report of the
 * job's end.
 */
static uint64_t next_of(const struct job *j, uint32_t *unit)
{
	uint64_t at = FTL_IDLE;

	*unit = UNITS;
	for (uint32_t u = j->first / PER; j->left && u * PER < j->end; u++)
		if (j->unit_ns[u] < at) {
			at = j->unit_ns[u];
			*unit = u;
		}
	if (j->io && j->tell_ns < at) {
		at = j->tell_ns;
		*unit = UNITS;
	}
	return at;
}

static uint64_t stub_step(struct ftl *base, uint64_t now_ns)
{
	struct stub *f = (struct stub *)base;

	host_set_time(&f->host, now_ns);
	for (;;) {
		uint64_t first = FTL_IDLE;
		uint32_t unit = 0, u;
		struct job *j = NULL;

		for (uint32_t i = 0; i < JOBS; i++)
			if (jobs[i].busy && next_of(&jobs[i], &u) < first) {
				first = next_of(&jobs[i], &u);
				unit = u;
				j = &jobs[i];
			}
		if (first > now_ns)
			return first;
		if (unit == UNITS)
			tell(f, j);
		else
			handle_unit(j, unit, first);
	}
}

/* Draw the times of a job. A trim changes only whole units. */
static void draw(const struct stub *f, struct job *j)
{
	uint64_t begin = f->host.now_ns;

	j->done_ns = begin + roll(roll(4) ? LONG : 10);
	j->tell_ns = begin + roll((uint32_t)(j->done_ns - begin) + 1);
	if (!roll(3))
		j->tell_ns = j->done_ns;
	if (j->op == FTL_TRIM) {
		j->first = (j->first + PER - 1) / PER * PER;
		j->end = j->end / PER * PER;
	}
	j->fails = f->fails && !roll(j->op == FTL_FLUSH ? ~0u : 12);
	for (uint32_t u = j->first / PER; j->op != FTL_FLUSH && u * PER < j->end; u++, j->left++)
		j->unit_ns[u] = begin + roll((uint32_t)((j->op == FTL_READ ? j->tell_ns : j->done_ns) - begin) + 1);
}

static void stub_submit(struct ftl *base, uint64_t now_ns, struct ftl_io *io)
{
	struct stub *f = (struct stub *)base;
	struct job *j = jobs;
	uint8_t data[FTL_SECTOR_BYTES];

	(void)stub_step(base, now_ns);
	host_accept(&f->host, io);
	while (j->busy)
		SSD_ASSERT(++j < jobs + JOBS);
	*j = (struct job){ .io = io, .busy = true, .op = io->op, .first = (uint32_t)(io->offset / FTL_SECTOR_BYTES),
			   .end = (uint32_t)((io->offset + io->bytes) / FTL_SECTOR_BYTES) };
	for (uint32_t s = j->first; io->op == FTL_WRITE && s < j->end; s++) {
		j->tag[s] = s;		/* without content each write is the same */
		if (!f->host.c.payload)
			continue;
		host_copy(&f->host, io, (uint64_t)(s - j->first) * FTL_SECTOR_BYTES, data, sizeof(data));
		j->tag[s] = sector_tag_get(data, s);
	}
	host_reads += io->op == FTL_READ && !io->ahead;
	if (io->ahead) {
		SSD_ASSERT(io->offset % UNIT == 0 && io->bytes % UNIT == 0 && io->bytes);
		SSD_ASSERT(io->bytes <= PAGE_UNITS * UNIT);
		ahead_reads++;
	}
	draw(f, j);
}

static const char *stub_fault(const struct ftl_ops *t, const struct ftl_config *c, const struct nand_geometry *g)
{
	(void)t;
	(void)c;
	(void)g;
	return NULL;
}

static size_t stub_lay_out(const struct ftl_ops *t, void *mem, const struct ftl_config *c,
			   const struct nand_geometry *g)
{
	(void)t;
	(void)mem;
	(void)c;
	(void)g;
	return sizeof(struct stub);
}

static void stub_begin(struct ftl *f)
{
	((struct stub *)f)->fails = roll(2);
}

static int stub_find(struct ftl *base)
{
	(void)base;
	return SSD_OK;
}

static void stub_check(const struct ftl *base)
{
	(void)base;
}

static const struct ftl_ops stub_ops = {
	.name = "stub", .fault = stub_fault, .lay_out = stub_lay_out,
	.begin = stub_begin, .find = stub_find, .submit = stub_submit, .step = stub_step,
	.check = stub_check, HOST_OPS_COMMON,
};

/* ---- the host ----------------------------------------------------------------------------- */

static struct slot {
	struct ftl_io io;
	bool busy, reported, failed;
	uint64_t began_ns;
	uint32_t tag;
	uint8_t data[SECTORS * FTL_SECTOR_BYTES];
} slot[IOS];

static struct ftl *f;
static struct ftl_config fc;
static uint64_t now, next, reads, hits_of_all, link_ns, seed_now;
static uint32_t tags, busy;
static uint64_t cursor[4];		/* sectors at which sequences continue */

static void on_fail(struct ftl_io *io)
{
	ssd_container_of(io, struct slot, io)->failed = true;
}

static void on_done(void *opaque, struct ftl_io *io)
{
	struct slot *s = ssd_container_of(io, struct slot, io);

	(void)opaque;
	SSD_ASSERT(s->busy && !s->reported && !io->ahead && io->done_ns >= now);
	s->reported = true;
}

static void on_copy(void *opaque, struct ftl_io *io, uint64_t at, void *buf, size_t len)
{
	struct slot *s = ssd_container_of(io, struct slot, io);

	(void)opaque;
	SSD_ASSERT(fc.payload && s->busy && !s->reported && at + len <= io->bytes);
	test_copy(io, s->data + at, buf, len);
}

static void check_read(const struct slot *s)
{
	uint32_t first = (uint32_t)(s->io.offset / FTL_SECTOR_BYTES);
	uint32_t end = first + (uint32_t)(s->io.bytes / FTL_SECTOR_BYTES), to;

	for (uint32_t from = first; from < end; from = to) {
		uint32_t tag[PER];

		to = (from / PER + 1) * PER;
		if (to > end)
			to = end;
		for (uint32_t i = from; i < to; i++)
			tag[i - from] = sector_tag_get(s->data + (size_t)(i - first) * FTL_SECTOR_BYTES, i);
		if (held(from, to, tag, s->began_ns, s->io.done_ns))
			continue;
		printf("a read of sector %u saw tag %u; the sector's last tag is %u\n", from, *tag, tag_now(from));
		abort();
	}
}

static void complete(struct slot *s)
{
	s->busy = false;
	busy--;
	SSD_ASSERT((s->io.status != SSD_OK) == s->failed);
	SSD_ASSERT(ftl_breakdown_sum(&s->io.where) == s->io.done_ns - s->began_ns && s->io.submit_ns == s->began_ns);
	if (s->io.op != FTL_READ)
		return;
	reads++;
	if (s->io.status != SSD_OK)
		return;
	link_ns += link_transfer_ns(s->io.bytes, fc.link_ps_per_byte);
	if (fc.payload)
		check_read(s);
}

static void take_step(void)
{
	next = f->ops->step(f, now);
	SSD_ASSERT(next > now);
	f->ops->check(f);
}

static void pass_time(void)
{
	uint64_t at = next;

	for (uint32_t i = 0; i < IOS; i++)
		if (slot[i].busy && slot[i].reported && slot[i].io.done_ns < at)
			at = slot[i].io.done_ns;
	SSD_ASSERT(at != FTL_IDLE);		/* no I/O waits for ever */
	if (at > now)
		now = at;
	if (!roll(8))
		now += roll(LONG / 2);		/* a late call */
	take_step();
	for (uint32_t i = 0; i < IOS; i++)
		if (slot[i].busy && slot[i].reported && slot[i].io.done_ns <= now)
			complete(&slot[i]);
}

static void draw_range(enum ftl_op op, uint64_t *at, uint64_t *count)
{
	uint32_t which = roll(4);

	*at = roll(roll(2) ? SECTORS : 24);
	*count = roll(roll(4) ? 4 : 40);
	if (roll(2)) {
		*at -= *at % PER;
		*count += *count % PER;
	}
	if (op == FTL_READ && roll(3))
		*at = cursor[which];
	if (!roll(40)) {
		*at = 0;
		*count = SECTORS;
	}
	if (*count > SECTORS - *at)
		*count = SECTORS - *at;
	if (op == FTL_READ)
		cursor[which] = (*at + *count) % SECTORS;
}

static void submit_random(struct slot *s)
{
	uint32_t d = roll(100);
	enum ftl_op op = d < 65 ? FTL_READ : d < 90 ? FTL_WRITE : d < 96 ? FTL_TRIM : FTL_FLUSH;
	uint64_t at, count;

	draw_range(op, &at, &count);
	memset(&s->io, 0xa5, sizeof(s->io));	/* a shell does not clear fields that belong to the FTL */
	s->io.op = op;
	s->io.fua = !roll(8);
	s->io.zone = FTL_ZONE_NONE;
	s->io.crossing = FTL_CROSS_ALL;
	s->io.lost = false;
	s->io.metadata = 0;
	s->io.offset = at * FTL_SECTOR_BYTES;
	s->io.bytes = count * FTL_SECTOR_BYTES;
	s->tag = ++tags;
	s->busy = true;
	s->reported = s->failed = false;
	s->began_ns = now;
	busy++;
	for (uint32_t i = 0; op == FTL_WRITE && i < count; i++)
		sector_tag_put(s->data + (size_t)i * FTL_SECTOR_BYTES, (uint32_t)at + i, s->tag);
	f->ops->submit(f, now, &s->io);
	take_step();
}

static void work(uint32_t requests)
{
	while (requests) {
		struct slot *s = slot;

		while (s < slot + IOS && s->busy)
			s++;
		if (s < slot + IOS && roll(3)) {
			submit_random(s);
			requests--;
		} else if (busy || next != FTL_IDLE) {
			pass_time();
		}
	}
}

/* ---- a case ------------------------------------------------------------------------------- */

static void configure(void)
{
	fc = (struct ftl_config){
		.capacity_bytes = UNITS * UNIT, .unit_bytes = UNIT, .payload = roll(8) != 0, .buffer_ns = roll(300),
		.map_ns = roll(2) * 50, .overhead_ns = roll(400), .link_ps_per_byte = roll(2) * roll(2000),
		.link_latency_ns = roll(2) * 100, .cores = 1 + roll(3), .completion_ns = roll(2) * 70,
		.read_cache_units = 1 + roll(roll(3) ? 120 : 10) };
	if (fc.read_cache_units >= 2 * PAGE_UNITS && roll(4))
		fc.read_ahead_units = PAGE_UNITS + roll(fc.read_cache_units / 2 - PAGE_UNITS + 1);
}

/* Start the drive on the content that is there. */
static void power_on(void *mem, size_t len, struct nand *n)
{
	static const struct ftl_host host = { on_done, on_copy, NULL };
	uint64_t ready;

	memset(mem, 0, len);
	memset(jobs, 0, sizeof(jobs));
	for (uint32_t i = 0; i < IOS; i++)
		slot[i].busy = false;
	busy = 0;
	reads = link_ns = host_reads = 0;
	SSD_ASSERT(controller_init(&stub_ops, mem, len, &fc, n, &host, &f) == SSD_OK);
	SSD_ASSERT(f->ops->mount(f, now, &ready) == SSD_OK);
	next = FTL_IDLE;
}

static void run(uint64_t seed)
{
	struct nand n = { .geo = { .page_bytes = PAGE_UNITS * UNIT } };
	size_t len;
	void *mem;

	seed_now = seed;
	dice = seed * 0x9e3779b97f4a7c15u + 1;
	now = tags = 0;
	memset(past, 0, sizeof(past));
	for (uint32_t s = 0; s < SECTORS; s++)
		change(s, 0, 0);
	configure();
	len = controller_footprint(&stub_ops, &fc, &n.geo);
	mem = malloc(len);
	for (uint32_t lives = 1 + roll(3); lives; lives--) {
		const struct ftl_stats *st;

		power_on(mem, len, &n);
		work(REQUESTS / 3);
		if (lives > 1 && roll(2))
			continue;			/* the power is lost */
		while (busy)
			pass_time();
		st = f->ops->stats(f);
		EXPECT_EQ(f->ops->inflight(f), 0);
		EXPECT_EQ(st->op[FTL_READ].ios, reads);
		EXPECT_EQ(st->read_cache_hits + host_reads, reads);
		EXPECT_EQ(st->link_to_host_busy_ns, link_ns);
		hits_of_all += st->read_cache_hits;
	}
	free(mem);
}

static void on_abort(int sig)
{
	char text[64];
	int len = snprintf(text, sizeof(text), "replay: test_rcache_any -r %" PRIu64 "\n", seed_now);

	(void)sig;
	fflush(stdout);
	(void)!write(2, text, (size_t)len);
}

static void run_all(uint64_t seeds)
{
	hits_of_all = ahead_reads = told_early = 0;
	for (uint64_t seed = 1; seed <= seeds; seed++)
		run(seed);
	EXPECT(hits_of_all > seeds);
	EXPECT(ahead_reads > seeds);
	EXPECT(told_early > seeds);
	printf("# %" PRIu64 " drives, %" PRIu64 " hits, %u reads ahead, %u I/Os reported before they ended\n", seeds,
	       hits_of_all, ahead_reads, told_early);
}

int main(int argc, char **argv)
{
	bool again = argc == 3 && !strcmp(argv[1], "-r"), some = argc == 3 && !strcmp(argv[1], "-n");

	signal(SIGABRT, on_abort);
	if (again)
		run(strtoull(argv[2], NULL, 10));
	else if (argc == 1 || some)
		RUN_AS("any_ftl", run_all(some ? strtoull(argv[2], NULL, 10) : 300));
	else
		return 2;
	return test_result();
}
