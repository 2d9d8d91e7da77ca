// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test NFTL's write buffer, which makes it GFTL, on the drive of nftl_drive.h: schedules computed by hand and compared
 * exactly. test_direct has cuts and random work.
 */
#include "nftl_drive.h"

/* Each copy of GC is noted with the page that it read and the page that it programmed. */
static struct {
	uint32_t n, from[16], to[16];
} copies;

static void note_copy(void *opaque, uint64_t now_ns, const struct nand_cmd *c, unsigned int count)
{
	(void)opaque;
	(void)now_ns;
	(void)count;
	if (c->source != NAND_SRC_GC || c->op == NAND_ERASE || copies.n == 16)
		return;
	if (c->op == NAND_READ)
		copies.from[copies.n] = c->ppn.v;
	else
		copies.to[copies.n++] = c->ppn.v;
}

static void expect_copies(uint32_t n, const uint32_t (*expected)[2])
{
	EXPECT_EQ(copies.n, n);
	for (uint32_t i = 0; i < n; i++) {
		EXPECT_EQ(copies.from[i], expected[i][0]);
		EXPECT_EQ(copies.to[i], expected[i][1]);
	}
}

/* Write four logical blocks of four pages; blocks 0 .. 3 are their D-blocks. */
static void make_gftl(uint32_t blocks, uint32_t buffer, uint32_t slice)
{
	struct nand_hooks hooks = { .violation = test_violation, .done = note_copy };
	struct rig_shape s = one_die(blocks, 4, 0, 16);

	s.mode = FTL_GC_SLICED;
	s.wbuf = buffer;
	s.slice = slice;
	make(&s);
	for (uint32_t i = 0; i < 16; i++)
		EXPECT_EQ(put(i), PROG + FRONT);
	copies.n = 0;
	nand_array_set_hooks(r.ta.a, &hooks);
}

/*
 * Write a unit when the write before it has ended, so that GC has no idle time. Returns the
 * latency. GC's turn began FRONT before the write was submitted, when the last program ended.
 */
static uint64_t put_at_once(uint32_t unit)
{
	static uint32_t turn;
	struct rig_io *q = &r.io[turn++ % RIG_IOS];

	q->io = (struct ftl_io){ .op = FTL_WRITE, .host = q, .offset = unit * 1024ull, .bytes = 1024 };
	q->reported = false;
	r.ops->submit(r.f, r.now_ns, &q->io);
	while (!q->reported) {
		r.now_ns = r.ops->step(r.f, r.now_ns);
		r.ops->check(r.f);
	}
	r.now_ns = q->io.done_ns;
	return q->io.done_ns - q->io.submit_ns;
}

static void idle(void)
{
	while ((r.next_ns = r.ops->step(r.f, r.now_ns)) != FTL_IDLE)
		r.now_ns = r.next_ns;
}

/*
 * The U-block is block 4, the new D-block 5, the buffer's block 6, the next U-block 7. Units 0, 1
 * and 2 are written again after they were copied to block 5, so they are moved from the buffer to block 7,
 * and unit 3 is written to block 7 directly. Then block 7 is full, and its merge to block 8 begins.
 */
static void writes_during_a_merge_are_buffered(void)
{
	static const uint32_t expected[][2] = { { 19, 20 }, { 1, 21 }, { 2, 22 }, { 3, 23 },
						{ 24, 28 }, { 25, 29 }, { 26, 31 }, { 28, 32 } };

	make_gftl(10, 2, 2);
	EXPECT_EQ(put_at_once(0), PROG + FRONT);
	for (uint32_t i = 0; i < 3; i++)
		EXPECT_EQ(put_at_once(0), PROG + FRONT);
	EXPECT_EQ(put_at_once(0), 2 * COPY + PROG);
	EXPECT_EQ(put_at_once(1), 2 * COPY + PROG);
	EXPECT_EQ(put_at_once(2), 2 * ERASE(0) + PROG);
	EXPECT_EQ(put_at_once(3), 2 * COPY + PROG);	/* moves of units 0 and 1 */
	EXPECT_EQ(put_at_once(4), 2 * COPY + PROG);	/* the move of unit 2, and a copy of the next merge */
	expect_copies(8, expected);
	EXPECT_EQ(stats->merges, 1);
	rig_free(&r);
}

/*
 * Logical blocks 0 and 1 have U-blocks 4 and 5. While block 0 is merged to 6, units 5, 0 and 6 go to
 * the buffer, block 7. Block 1 was first: its U-block is full, so it is merged, to block 8, with units
 * 5 and 6 from the buffer. Unit 0 moves last, to a new U-block, 9.
 */
static void buffered_blocks_are_served_in_order(void)
{
	static const uint32_t expected[][2] = { { 19, 24 }, { 1, 25 }, { 2, 26 }, { 3, 27 },
						{ 23, 32 }, { 28, 33 }, { 30, 34 }, { 7, 35 }, { 29, 36 } };

	make_gftl(12, 2, 1);
	for (uint32_t i = 0; i < 3; i++) {
		put_at_once(0);
		put_at_once(4);
	}
	EXPECT_EQ(put_at_once(0), PROG + FRONT);
	EXPECT_EQ(put_at_once(4), COPY + PROG);
	EXPECT_EQ(put_at_once(5), COPY + PROG);
	EXPECT_EQ(put_at_once(0), COPY + PROG);
	EXPECT_EQ(put_at_once(6), COPY + PROG);
	idle();
	expect_copies(9, expected);
	EXPECT_EQ(stats->merges, 2);
	rig_free(&r);
}

/* One block of four pages takes four writes; the fifth waits until it is erased. */
static void a_full_buffer_makes_writes_wait(void)
{
	make_gftl(10, 1, 1);
	for (uint32_t i = 0; i < 4; i++)
		EXPECT_EQ(put_at_once(0), PROG + FRONT);
	for (uint32_t i = 0; i < 4; i++)
		EXPECT_EQ(put_at_once(0), COPY + PROG);
	EXPECT_EQ(put_at_once(0), 2 * ERASE(0) + COPY + ERASE(0) + PROG);
	rig_free(&r);
}

/* Returns the longest latency of 4000 writes to random units; each is submitted when the one before has ended. */
static uint64_t longest(uint32_t buffer)
{
	uint64_t most = 0, rng = 1;

	make_gftl(24, buffer, 2);
	for (uint32_t i = 0; i < 4000; i++) {
		uint64_t ns = put_at_once((uint32_t)(rnd(&rng) % 16));

		most = ns > most ? ns : most;
	}
	rig_free(&r);
	return most;
}

/*
 * No write waits for more than a slice, here of two erases. Without a buffer a write waits for up to two
 * merges of four copies and two erases: one of another block, then that of its own.
 */
static void the_longest_write_waits_for_a_slice(void)
{
	EXPECT_EQ(longest(0), 2 * (4 * COPY + 2 * ERASE(0)) + PROG);
	EXPECT_EQ(longest(8), 2 * ERASE(0) + PROG);
}

/*
 * Units 0 and 1 are in the buffer when the power fails, in the erase of the old D-block. After the mount
 * unit 4 goes to the same block of the buffer, behind them, and all three are moved.
 */
static void a_mount_finds_the_buffer(void)
{
	make_gftl(11, 2, 2);
	for (uint32_t i = 0; i < 5; i++)
		put_at_once(0);
	put_at_once(1);
	EXPECT_EQ(rig_again(&r), SSD_OK);
	EXPECT_EQ(stats->gc_units, 0);
	EXPECT_EQ(put(4), PROG + FRONT);
	EXPECT_EQ(stats->gc_units, 3);
	EXPECT_EQ(stats->merges, 0);
	for (uint32_t i = 0; i < 16; i++)
		EXPECT_EQ(get(i), SSD_OK);
	rig_free(&r);
}

/*
 * Two planes of a die share its turns. Unit 6 is buffered in plane 0 while the old blocks of its merge are
 * erased. Then plane 1 has the turn, and unit 6 is written again, to its place in the new D-block. When
 * plane 0's turn comes, its buffer has nothing left to move.
 */
static void a_buffer_may_be_empty_when_its_turn_comes(void)
{
	struct rig_shape s = one_die(10, 4, 0, 8);
	static const uint32_t first[] = { 0, 2, 4, 1, 3, 5, 7, 0, 0, 0, 1, 1, 1 }, then[] = { 0, 1, 1, 1, 6, 1, 6 };

	s.g.planes_per_die = 2;
	s.mode = FTL_GC_SLICED;
	s.slice = 1;
	s.wbuf = 2;
	make(&s);
	for (uint32_t i = 0; i < sizeof(first) / sizeof(*first); i++)
		put(first[i]);
	for (uint32_t i = 0; i < sizeof(then) / sizeof(*then); i++)
		put_at_once(then[i]);
	idle();
	r.ops->check(r.f);
	for (uint32_t i = 0; i < 8; i++)
		EXPECT_EQ(get(i), SSD_OK);
	rig_free(&r);
}

int main(void)
{
	RUN(writes_during_a_merge_are_buffered);
	RUN(buffered_blocks_are_served_in_order);
	RUN(a_full_buffer_makes_writes_wait);
	RUN(the_longest_write_waits_for_a_slice);
	RUN(a_mount_finds_the_buffer);
	RUN(a_buffer_may_be_empty_when_its_turn_comes);
	return test_result();
}
