/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rps_drive.h - the FTLs of front.h on arrays of two-page word lines: one die with one plane, and
 * 512-byte pages that are mapping units. LSB programs take 20 us, MSB programs 50 us, reads 5 and 6
 * us, erases 70 us, and the bus takes no time.  Comments write a program as b.T k: block, L or M
 * page of word line k.
 */
#ifndef SLATE_RPS_DRIVE_H
#define SLATE_RPS_DRIVE_H

#include "gc_policy.h"
#include "front.h"
#include "oob.h"
#include "page_ftl.h"
#include "test.h"

#define PAGE 1024u
#define LSB_NS 20000u
#define MSB_NS 50000u
#define READ_NS 5000u
#define ERASE_NS 70000u
#define MAX_LOG 400u

struct entry { uint32_t block, page; enum nand_op op; enum nand_source source; uint64_t at_ns; };

static struct {
	struct test_array ta;
	struct nand_geometry g;
	struct ftl_config fc;
	const struct ftl_ops *ops;
	struct ftl *f;
	void *mem;
	uint64_t now;
	struct entry log[MAX_LOG];	/* programs and erases */
	uint32_t count;
	uint32_t done;
	enum ssd_err status;
	uint8_t fill, got[PAGE];
	uint32_t fail_at;		/* this entry of the log fails; 0: none */
	bool no_erases;			/* all erases fail */
	uint32_t programs_left;		/* number of programs that succeed, all later ones fail; 0: no program fails */
} d;

static inline void on_command(void *o, uint64_t now_ns, const struct nand_cmd *c, unsigned int count)
{
	(void)o;
	for (unsigned int i = 0; i < count; i++) {
		if (c[i].op == NAND_READ)
			continue;
		SSD_ASSERT(d.count < MAX_LOG);
		d.log[d.count++] = (struct entry){ c[i].ppn.v / d.g.pages_per_block,
						   c[i].ppn.v % d.g.pages_per_block, c[i].op,
						   c[i].source, now_ns };
	}
}

static inline enum nand_status on_fault(void *o, const struct nand_cmd *c)
{
	(void)o;
	if (c->op == NAND_ERASE)
		return d.no_erases ? NAND_ERASE_FAIL : NAND_OK;
	if (c->op == NAND_PROGRAM && d.programs_left && !--d.programs_left) {
		d.programs_left = 1;
		return NAND_PROG_FAIL;
	}
	return c->op == NAND_PROGRAM && d.fail_at && d.count + 1 == d.fail_at ? NAND_PROG_FAIL : NAND_OK;
}

static inline void on_done(void *o, struct ftl_io *io)
{
	(void)o;
	d.done++;
	d.status = io->status;
}

static inline void on_copy(void *o, struct ftl_io *io, uint64_t at, void *buf, size_t len)
{
	(void)o; (void)at;
	if (io->op == FTL_WRITE)
		memset(buf, (int)(uintptr_t)io->host, len);
	else if (buf)
		memcpy(d.got, buf, len);
	else
		memset(d.got, 0, len);
}

static inline void remount(void)
{
	static const struct ftl_host host = { on_done, on_copy, NULL };
	size_t len = ftl_footprint(d.ops, &d.fc, &d.g);

	free(d.mem);
	d.mem = calloc(1, len);
	d.count = 0;
	SSD_ASSERT(ftl_init(d.ops, d.mem, len, &d.fc, d.ta.n, &host, &d.f) == SSD_OK);
	SSD_ASSERT(d.f->ops->mount(d.f, 0, &d.now) == SSD_OK);
	d.f->ops->check(d.f);
}

static uint32_t channels = 1;	/* number of channels with one die each */

static inline void make(const char *ftl, enum nand_order order, uint32_t blocks, uint32_t pages)
{
	struct nand_array_config c = { .geo = { channels, 1, 1, 1, blocks, pages, PAGE, 64, 0, PAGE, 0, 1, 2, order,
						.paired_loss = true },
		.timing = { 0, { READ_NS, 6000 }, { LSB_NS, MSB_NS }, { ERASE_NS }, 0 },
		.physics.disturb_tolerance = 255, .payload = true };
	struct nand_hooks hooks = { .done = on_command, .fault = on_fault };
	const char *why;
	size_t i = 0;

	memset(&d, 0, sizeof(d));
	while (strcmp(ftl_list[i]->name, ftl))
		i++;
	d.ops = ftl_list[i];
	d.fc = (struct ftl_config){ .capacity_bytes = 24 * PAGE, .unit_bytes = PAGE, .gc_start_blocks = 4,
		.gc_stop_blocks = 4, .gc_urgent_blocks = 2, .gc_mode = FTL_GC_SLICED, .gc_slice_pages = 1,
		.payload = true, .max_unit_reads = 64, .gc_policy = &gc_greedy, .active_blocks = 3,
		.fast_above_permille = 800, .slow_below_permille = 100, .quota_permille = 50 };
	c.geo.oob_kept = ftl_oob_bytes(d.ops, &d.fc, &c.geo);
	if (ftl_validate(d.ops, &d.fc, &c.geo, &why)) {
		printf("%s\n", why);
		abort();
	}
	d.g = c.geo;
	test_array_make(&d.ta, &c);
	nand_array_set_hooks(d.ta.a, &hooks);
	remount();
}

static inline void destroy(void)
{
	test_array_free(&d.ta);
	free(d.mem);
}

/* Step until this many I/Os have completed. */
static inline void until(uint32_t done)
{
	while (d.done < done) {
		uint64_t next = d.f->ops->step(d.f, d.now);

		SSD_ASSERT(next != FTL_IDLE || d.done >= done);
		if (d.done < done)
			d.now = next;
		d.f->ops->check(d.f);
	}
}

static struct ftl_io the_io;

static inline void start(enum ftl_op op, uint32_t lpn, uint8_t value)
{
	the_io = (struct ftl_io){ .op = op, .offset = (uint64_t)lpn * PAGE,
				  .bytes = op == FTL_FLUSH ? 0 : PAGE, .host = (void *)(uintptr_t)value };
	d.f->ops->submit(d.f, d.now, &the_io);
}

static inline void io(enum ftl_op op, uint32_t lpn, uint8_t value)
{
	uint32_t want = d.done + 1;

	start(op, lpn, value);
	until(want);
}

/* Step until the die is idle, including background work after a write. */
static inline void rest(void)
{
	for (uint64_t next = d.f->ops->step(d.f, d.now); next != FTL_IDLE;
	     next = d.f->ops->step(d.f, d.now)) {
		d.now = next;
		d.f->ops->check(d.f);
	}
}

static inline void expect_content(uint32_t lpn, uint8_t value)
{
	io(FTL_READ, lpn, 0);
	EXPECT_EQ(d.status, SSD_OK);
	EXPECT_EQ(d.got[0], value);
	EXPECT_EQ(d.got[PAGE - 1], value);
}

/* Compare the log with "block.Tk", with * for parity pages and e for GC. */
static inline void expect_log(const char *want)
{
	char got[4096] = "";

	for (uint32_t i = 0; i < d.count; i++) {
		const struct entry *e = &d.log[i];
		const char *mark = e->source == NAND_SRC_BACKUP ? "*" : e->source == NAND_SRC_GC ? "g" : "";

		if (e->op == NAND_ERASE)
			snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%ux", i ? " " : "", e->block);
		else
			snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%u%c%u%s", i ? " " : "",
				 e->block, e->page & 1 ? 'M' : 'L', e->page / 2, mark);
	}
	if (strcmp(got, want)) {
		printf("programs: %s\nexpected: %s\n", got, want);
		failures++;
	}
}

static inline void writes(uint32_t from, uint32_t count)
{
	for (uint32_t i = from; i < from + count; i++)
		io(FTL_WRITE, i % 24, (uint8_t)(i + 1));
	rest();
}

#endif
