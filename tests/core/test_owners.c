// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test waiting behind another namespace (owners.h), on the array of timing_drive.h. Schedules are computed by hand and
 * compared exactly.
 */
#include "timing_drive.h"

#define BUFFER 2000u
#define FRONT 1200u		/* look-up and firmware */
#define LATER 10000u

static struct ftl *f;
static void *mem;
static uint64_t now, next;
static struct ftl_io done_io[16];
static uint32_t done_count;

static void on_done(void *opaque, struct ftl_io *io)
{
	(void)opaque;
	done_io[done_count++ % 16] = *io;
}

static void on_copy(void *opaque, struct ftl_io *io, uint64_t where, void *buf, size_t len)
{
	(void)opaque; (void)where;
	if (io->op == FTL_WRITE)
		memset(buf, 1, len);
}

static struct ftl_config settings(uint32_t namespaces, uint32_t buffer)
{
	return (struct ftl_config){
		.capacity_bytes = 14 * 4096, .unit_bytes = ways.unit ? ways.unit : 4096, .buffer_units = buffer,
		.namespaces = namespaces, .gc_start_blocks = 4, .gc_stop_blocks = 4, .gc_urgent_blocks = 1,
		.gc_slice_pages = 1, .gc_mode = FTL_GC_SLICED, .multiplane = true, .payload = true, .map_ns = 200,
		.buffer_ns = BUFFER, .overhead_ns = 1000, .max_unit_reads = 64, .gc_policy = &gc_greedy,
	};
}

static void drive(uint32_t chips, uint32_t planes, const struct ftl_config *c)
{
	const struct ftl_host host = { on_done, on_copy, NULL };
	size_t len;

	ways.owners = c->namespaces > 1;
	make(1, chips, planes);
	len = ftl_footprint(ftl_list[0], c, &t.c.geo);
	mem = calloc(1, len);
	SSD_ASSERT(ftl_init(ftl_list[0], mem, len, c, t.n, &host, &f) == SSD_OK);
	SSD_ASSERT(f->ops->mount(f, 0, &now) == SSD_OK);
	done_count = 0;
	next = FTL_IDLE;
}

static void drive_free(void)
{
	test_array_free(&t);
	free(mem);
	ways = (struct ways){ 0 };
}

static struct ftl_io io_of(enum ftl_op op, uint8_t owner, uint32_t unit)
{
	uint32_t bytes = ways.unit ? ways.unit : 4096;

	return (struct ftl_io){ .op = op, .owner = owner, .offset = (uint64_t)unit * bytes, .bytes = bytes };
}

static void give(struct ftl_io *io)
{
	f->ops->submit(f, now, io);
	next = f->ops->step(f, now);
}

static void settle(void)
{
	while (next != FTL_IDLE) {
		now = next;
		next = f->ops->step(f, now);
		f->ops->check(f);
	}
	if (done_count && done_io[(done_count - 1) % 16].done_ns > now)
		now = done_io[(done_count - 1) % 16].done_ns;
}

static void write_alone(uint8_t owner, uint32_t unit)
{
	struct ftl_io w = io_of(FTL_WRITE, owner, unit);

	give(&w);
	settle();
}

static void expect_waits(const struct ftl_io *io, uint64_t host_ns, uint64_t namespace_ns)
{
	EXPECT_EQ(io->where.host_queue_ns, host_ns);
	EXPECT_EQ(io->where.namespace_queue_ns, namespace_ns);
	EXPECT_EQ(io->where.gc_queue_ns, 0);
}

/* A read comes while a program of the same namespace, or of another one, is under way. */
static void read_behind_a_program(uint8_t of_program, uint8_t of_read, uint64_t host_ns, uint64_t namespace_ns)
{
	const struct ftl_config c = settings(2, 4);
	struct ftl_io w = io_of(FTL_WRITE, of_program, 1), r = io_of(FTL_READ, of_read, 0);

	drive(1, 1, &c);
	write_alone(of_read, 0);
	give(&w);
	now += LATER;
	give(&r);
	settle();
	expect_waits(&r, host_ns, namespace_ns);
	EXPECT_EQ(r.done_ns - r.submit_ns, PROG_ALONE - LATER + READ_ALONE + FRONT);
	drive_free();
}

static void a_read_waits_for_another_namespaces_program(void)
{
	read_behind_a_program(1, 0, 0, PROG_ALONE - LATER);
}

static void a_read_waits_for_its_namespaces_program(void)
{
	read_behind_a_program(1, 1, PROG_ALONE - LATER, 0);
}

static void one_namespace_has_no_such_part(void)
{
	const struct ftl_config none = settings(0, 4), one = settings(1, 4), two = settings(2, 4);
	struct ftl_io w = io_of(FTL_WRITE, 1, 1), r = io_of(FTL_READ, 0, 0);

	drive(1, 1, &one);
	EXPECT_EQ(ftl_footprint(ftl_list[0], &none, &t.c.geo), ftl_footprint(ftl_list[0], &one, &t.c.geo));
	EXPECT(ftl_footprint(ftl_list[0], &one, &t.c.geo) < ftl_footprint(ftl_list[0], &two, &t.c.geo));
	write_alone(0, 0);
	give(&w);
	now += LATER;
	give(&r);
	settle();
	expect_waits(&r, PROG_ALONE - LATER, 0);
	drive_free();
}

/* Reads of namespaces 0, 1 and 0 wait behind a program of namespace 0. */
static void a_wait_is_divided_by_the_commands_before(void)
{
	const struct ftl_config c = settings(2, 4);
	struct ftl_io w = io_of(FTL_WRITE, 0, 3), a = io_of(FTL_READ, 0, 0), b = io_of(FTL_READ, 1, 1),
		      d = io_of(FTL_READ, 0, 2);

	drive(1, 1, &c);
	write_alone(0, 0);
	write_alone(1, 1);
	write_alone(0, 2);
	give(&w);
	now += LATER;
	give(&a);
	give(&b);
	give(&d);
	settle();
	expect_waits(&a, PROG_ALONE - LATER, 0);
	expect_waits(&b, 0, PROG_ALONE - LATER + READ_ALONE);
	expect_waits(&d, PROG_ALONE - LATER + READ_ALONE, READ_ALONE);
	drive_free();
}

/* Two dies read at once: the second waits for the first one's command cycles, and then for its data. */
static void a_read_waits_for_the_channel(void)
{
	const struct ftl_config c = settings(2, 4);
	struct ftl_io a = io_of(FTL_READ, 0, 0), b = io_of(FTL_READ, 1, 1);

	drive(2, 1, &c);
	write_alone(0, 0);
	write_alone(1, 1);
	give(&a);
	give(&b);
	settle();
	expect_waits(&a, 0, 0);
	expect_waits(&b, 0, CMD + XFER - CMD);
	EXPECT_EQ(b.done_ns - b.submit_ns, READ_ALONE + XFER + FRONT);
	drive_free();
}

/* A page has units of namespaces 0 and 1: both are its owners, and only namespace 2 waits behind others. */
static void a_page_of_two_namespaces_is_of_both(void)
{
	struct ftl_config c;
	struct ftl_io w[2], r[3];

	ways.unit = 2048;
	c = settings(3, 8);
	drive(1, 1, &c);
	for (uint8_t n = 0; n < 3; n++) {
		struct ftl_io a = io_of(FTL_WRITE, n, 2u * n), b = io_of(FTL_WRITE, n, 2u * n + 1);

		give(&a);
		give(&b);
		settle();
	}
	w[0] = io_of(FTL_WRITE, 0, 6);
	w[1] = io_of(FTL_WRITE, 1, 7);
	give(&w[0]);
	give(&w[1]);
	now += LATER;
	for (uint8_t n = 0; n < 3; n++) {
		r[n] = io_of(FTL_READ, n, 2u * n);
		give(&r[n]);
	}
	settle();
	expect_waits(&r[0], PROG_ALONE - LATER, 0);
	expect_waits(&r[1], PROG_ALONE - LATER, READ_ALONE);
	expect_waits(&r[2], 0, PROG_ALONE - LATER + 2 * READ_ALONE);
	drive_free();
}

/* One command programs a page of namespace 0 and one of namespace 1: the die has both as owners. */
static void a_group_of_planes_is_of_all_its_pages(void)
{
	const struct ftl_config c = settings(3, 8);
	struct ftl_io w[3] = { io_of(FTL_WRITE, 2, 3), io_of(FTL_WRITE, 0, 4), io_of(FTL_WRITE, 1, 5) };
	struct ftl_io r[2];
	uint64_t group_ns = 2 * (CMD + XFER) + PROG;

	drive(1, 2, &c);
	write_alone(1, 1);
	write_alone(2, 2);
	for (unsigned int i = 0; i < 3; i++)	/* the first is programmed alone, then the others together */
		give(&w[i]);
	now = next;
	next = f->ops->step(f, now);
	now += LATER;
	for (uint8_t n = 0; n < 2; n++) {
		r[n] = io_of(FTL_READ, (uint8_t)(n + 1), n + 1u);
		give(&r[n]);
	}
	settle();
	expect_waits(&r[0], group_ns - LATER, 0);
	expect_waits(&r[1], 0, group_ns - LATER + READ_ALONE);
	drive_free();
}

/* The buffer has two pages: the third write waits for the first page's program. */
static void write_to_a_full_buffer(uint8_t first, uint8_t second, uint64_t buffer_ns, uint64_t namespace_ns)
{
	const struct ftl_config c = settings(2, 2);
	struct ftl_io a = io_of(FTL_WRITE, first, 0), b = io_of(FTL_WRITE, second, 1), d = io_of(FTL_WRITE, 1, 2);

	drive(1, 1, &c);
	give(&a);
	give(&b);
	now += LATER;
	give(&d);
	settle();
	EXPECT_EQ(d.where.buffer_ns, buffer_ns + BUFFER);
	EXPECT_EQ(d.where.namespace_queue_ns, namespace_ns);
	EXPECT_EQ(d.where.gc_queue_ns + d.where.host_queue_ns, 0);
	drive_free();
}

static void a_write_waits_for_room(void)
{
	write_to_a_full_buffer(0, 1, 0, PROG_ALONE - LATER);
	write_to_a_full_buffer(0, 0, 0, PROG_ALONE - LATER);
	write_to_a_full_buffer(1, 0, PROG_ALONE - LATER, 0);
}

/* Without a buffer a write ends with its program, which waits for those before it. */
static void a_write_waits_for_the_programs_before_its_own(void)
{
	const struct ftl_config c = settings(2, 0);
	struct ftl_io a = io_of(FTL_WRITE, 0, 0), b = io_of(FTL_WRITE, 1, 1), d = io_of(FTL_WRITE, 0, 2);

	drive(1, 1, &c);
	give(&a);
	now += LATER;
	give(&b);
	give(&d);
	settle();
	expect_waits(&a, 0, 0);
	expect_waits(&b, 0, PROG_ALONE - LATER);
	expect_waits(&d, PROG_ALONE - LATER, PROG_ALONE);
	EXPECT_EQ(d.where.cell_ns + d.where.bus_ns, PROG_ALONE);
	EXPECT_EQ(d.where.buffer_ns, BUFFER);
	drive_free();
}

/* A namespace writes to the buffered page of another. The page then has data of both, so it is its own wait. */
static void a_write_joins_the_oldest_page(void)
{
	struct ftl_config c;
	struct ftl_io a, b;

	ways.unit = 2048;
	c = settings(2, 8);
	drive(1, 1, &c);
	a = io_of(FTL_WRITE, 0, 0);
	give(&a);
	now += LATER;
	b = io_of(FTL_WRITE, 1, 1);
	b.fua = true;
	give(&b);
	settle();
	expect_waits(&b, 0, 0);
	EXPECT_EQ(b.where.cell_ns + b.where.bus_ns, PROG_ALONE);
	drive_free();
}

int main(void)
{
	RUN(a_read_waits_for_another_namespaces_program);
	RUN(a_read_waits_for_its_namespaces_program);
	RUN(one_namespace_has_no_such_part);
	RUN(a_wait_is_divided_by_the_commands_before);
	RUN(a_read_waits_for_the_channel);
	RUN(a_page_of_two_namespaces_is_of_both);
	RUN(a_group_of_planes_is_of_all_its_pages);
	RUN(a_write_waits_for_room);
	RUN(a_write_waits_for_the_programs_before_its_own);
	RUN(a_write_joins_the_oldest_page);
	return test_result();
}
