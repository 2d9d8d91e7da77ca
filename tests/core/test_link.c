// SPDX-License-Identifier: GPL-2.0-or-later
/* Test the host link: its calendar compared with a simple one, and an I/O's times computed by hand. */
#include "ftl.h"
#include "gc_policy.h"
#include "link.h"
#include "test.h"

#define HORIZON 200000u

static uint8_t taken[HORIZON];		/* one entry for each ns of the link */

static uint64_t plain_move(uint64_t earliest, uint64_t len)
{
	for (uint64_t at = earliest;; at++) {
		uint64_t free = 0;

		while (free < len && !taken[at + free])
			free++;
		if (free < len)
			continue;
		memset(taken + at, 1, len);
		return at + len;
	}
}

static void the_first_gap_that_is_long_enough(void)
{
	for (uint64_t seed = 1; seed <= 50; seed++) {
		struct link_way w = { .count = 0 };
		uint64_t s = seed * 7919, now = 0;

		memset(taken, 0, sizeof(taken));
		for (uint32_t i = 0; i < 400; i++) {
			uint64_t earliest = now + rnd(&s) % 300, len = rnd(&s) % 40;
			uint64_t got = link_move(&w, now, earliest, len, 1000);

			EXPECT_EQ(got, len ? plain_move(earliest, len) : earliest);
			EXPECT(w.count < LINK_SPANS);
			for (uint32_t k = 1; k < w.count; k++)
				EXPECT(w.span[k].start_ns > w.span[k - 1].end_ns);	/* LINK1 */
			now += rnd(&s) % 30;
		}
	}
}

/* The calendar gets more gaps than it can hold: transfers do not overlap and do not begin early. */
static void a_full_calendar_goes_to_its_end(void)
{
	struct link_way w = { .count = 0 };

	for (uint32_t i = 0; i < LINK_SPANS; i++)
		EXPECT_EQ(link_move(&w, 0, 10 * i, 4, 1000), 10 * i + 4);
	EXPECT_EQ(link_move(&w, 0, 5, 4, 1000), 10 * (LINK_SPANS - 1) + 8);
	EXPECT_EQ(link_move(&w, 0, 5000, 4, 1000), 5004);
	EXPECT_EQ(link_move(&w, 0, 4000, 4, 1000), 5008);
	EXPECT_EQ(link_move(&w, 6000, 6000, 4, 1000), 6004);
	EXPECT_EQ(w.count, 1);
}

/* ---- through the FTL -------------------------------------------------------- */

static struct test_array t;
static struct ftl *f;
static uint32_t finished;

static void on_done(void *opaque, struct ftl_io *io)
{
	(void)opaque; (void)io;
	finished++;
}

static void on_copy(void *opaque, struct ftl_io *io, uint64_t at, void *buf, size_t len)
{
	(void)opaque; (void)at;
	if (io->op == FTL_WRITE)
		memset(buf, 0x5a, len);
}

static uint64_t make(void)
{
	static const struct ftl_host host = { on_done, on_copy, NULL };
	struct nand_array_config c = {
		.geo = { 2, 1, 1, 1, 16, 8, 4096, 64, 16, 4096, 0, 1, 1 },
		.timing = { 100, { 50000 }, { 200000 }, { 1000000 }, 1000 }, .payload = true };
	struct ftl_config fc = {
		.capacity_bytes = 100 * 4096, .unit_bytes = 4096, .buffer_units = 8,
		.gc_start_blocks = 4, .gc_stop_blocks = 5, .gc_urgent_blocks = 2,
		.gc_mode = FTL_GC_SLICED, .gc_slice_pages = 4, .payload = true, .map_ns = 200,
		.buffer_ns = 2000, .overhead_ns = 1000, .max_unit_reads = 64,
		.link_ps_per_byte = 500, .link_latency_ns = 700 };
	uint64_t ready;
	const char *why = "";
	size_t bytes;

	test_array_make(&t, &c);
	fc.gc_policy = &gc_greedy;
	if (ftl_validate(ftl_list[0], &fc, &c.geo, &why)) {
		printf("%s\n", why);
		exit(1);
	}
	bytes = ftl_footprint(ftl_list[0], &fc, &c.geo);
	if (ftl_init(ftl_list[0], calloc(1, bytes), bytes, &fc, t.n, &host, &f) ||
	    f->ops->mount(f, 0, &ready))
		exit(1);
	return ready;
}

static void settle_down(uint64_t *now)
{
	for (uint64_t next = *now; next != FTL_IDLE; next = f->ops->step(f, *now))
		*now = next;
}

/* Two simultaneous writes use the link one after the other, as do two reads. */
static void an_io_crosses_the_link(void)
{
	struct ftl_io w[2] = { { .op = FTL_WRITE, .offset = 0, .bytes = 4096 },
			       { .op = FTL_WRITE, .offset = 4096, .bytes = 4096 } };
	struct ftl_io r[2] = { { .op = FTL_READ, .offset = 0, .bytes = 4096 },
			       { .op = FTL_READ, .offset = 4096, .bytes = 4096 } };
	struct ftl_io flush = { .op = FTL_FLUSH };
	const uint64_t front = 200 + 1000, move = 2048, flash = 100 + 50000 + 4096 + 64;
	const struct ftl_stats *s;
	uint64_t now = make();

	f->ops->submit(f, now, &w[0]);
	f->ops->submit(f, now, &w[1]);
	EXPECT_EQ(w[0].done_ns - now, 2000 + front + move + 700);
	EXPECT_EQ(w[1].done_ns - now, 2000 + front + 2 * move + 700);
	EXPECT_EQ(w[1].where.link_ns, 2 * move + 700);
	f->ops->submit(f, now, &flush);
	settle_down(&now);
	EXPECT_EQ(flush.where.link_ns, 700);
	now += 10000000;
	f->ops->submit(f, now, &r[0]);
	f->ops->submit(f, now, &r[1]);
	settle_down(&now);
	EXPECT_EQ(finished, 5);
	EXPECT_EQ(r[0].done_ns - r[0].submit_ns, front + flash + move + 700);
	EXPECT_EQ(r[1].done_ns - r[1].submit_ns, front + flash + 2 * move + 700);	/* two channels */
	s = f->ops->stats(f);
	EXPECT_EQ(s->link_to_host_busy_ns, 2 * move);
	EXPECT_EQ(s->link_to_drive_busy_ns, 2 * move);
	EXPECT_EQ(s->op[FTL_READ].where.link_ns, 3 * move + 2 * 700);
	free(f);
	test_array_free(&t);
}

/* Run an I/O alone; returns its latency. */
static uint64_t alone(uint64_t *now, struct ftl_io *io)
{
	*now += 10000000;
	f->ops->submit(f, *now, io);
	settle_down(now);
	return io->done_ns - io->submit_ns;
}

static uint64_t alone_of(uint64_t *now, enum ftl_op op, uint64_t unit, enum ftl_crossing crossing)
{
	struct ftl_io io = { .op = op, .offset = unit * 4096, .bytes = 4096, .crossing = (uint8_t)crossing };
	uint64_t ns = alone(now, &io);

	EXPECT_EQ(io.status, SSD_OK);
	return ns;
}

static enum ssd_err status_of(uint64_t *now, struct ftl_io io)
{
	(void)alone(now, &io);
	return io.status;
}

/* The data of Verify, of the parts of a Copy, and of Write Uncorrectable do not use the link. */
static void data_that_stay_in_the_drive(void)
{
	const uint64_t front = 200 + 1000, move = 2048, flash = 100 + 50000 + 4096 + 64, buffer = 2000, latency = 700;
	struct ftl_io lost = { .op = FTL_WRITE, .bytes = 4096, .crossing = FTL_CROSS_COMMAND, .lost = true };
	const struct ftl_io flush = { .op = FTL_FLUSH }, read = { .op = FTL_READ, .bytes = 4096 };
	const struct ftl_io part = { .op = FTL_WRITE, .bytes = 512 }, whole = { .op = FTL_WRITE, .bytes = 4096 };
	uint64_t now = make();

	EXPECT_EQ(alone_of(&now, FTL_WRITE, 0, FTL_CROSS_ALL), buffer + front + move + latency);
	EXPECT_EQ(status_of(&now, flush), SSD_OK);
	EXPECT_EQ(alone_of(&now, FTL_READ, 0, FTL_CROSS_ALL), front + flash + move + latency);
	EXPECT_EQ(alone_of(&now, FTL_READ, 0, FTL_CROSS_COMMAND), front + flash + latency);
	EXPECT_EQ(alone_of(&now, FTL_READ, 0, FTL_CROSS_NOTHING), front + flash);
	EXPECT_EQ(alone_of(&now, FTL_WRITE, 1, FTL_CROSS_NOTHING), buffer + front);
	EXPECT_EQ(alone_of(&now, FTL_WRITE, 2, FTL_CROSS_COMMAND), buffer + front + latency);
	EXPECT_EQ(alone(&now, &lost), buffer + front + latency);
	EXPECT_EQ(lost.status, SSD_OK);
	EXPECT_EQ(status_of(&now, read), SSD_E_UNCORR);		/* in the buffer */
	EXPECT_EQ(status_of(&now, flush), SSD_OK);
	lost.op = FTL_READ;
	lost.lost = false;
	EXPECT_EQ(alone(&now, &lost), front + flash + latency);	/* Verify reads the page */
	EXPECT_EQ(lost.status, SSD_E_UNCORR);
	EXPECT_EQ(status_of(&now, part), SSD_OK);		/* the rest of the unit is lost */
	EXPECT_EQ(status_of(&now, read), SSD_E_UNCORR);
	EXPECT_EQ(status_of(&now, whole), SSD_OK);
	EXPECT_EQ(status_of(&now, read), SSD_OK);
	EXPECT_EQ(f->ops->stats(f)->link_to_drive_busy_ns, 2 * move + move / 8);
	EXPECT_EQ(f->ops->stats(f)->link_to_host_busy_ns, 2 * move);
	EXPECT_EQ(f->ops->stats(f)->op[FTL_WRITE].bytes, 5 * 4096 + 512);
	free(f);
	test_array_free(&t);
}

int main(void)
{
	RUN(the_first_gap_that_is_long_enough);
	RUN(a_full_calendar_goes_to_its_end);
	RUN(an_io_crosses_the_link);
	RUN(data_that_stay_in_the_drive);
	return test_result();
}
