/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slot_host.h - a host with numbered I/Os, in front of a drive that its program makes. Time passes
 * from one event to the next: what the drive has to do, or the end of an I/O.
 */
#ifndef SLATE_SLOT_HOST_H
#define SLATE_SLOT_HOST_H

#include "ftl.h"
#include "test.h"

#define SLOTS 64u

static struct test_array t;
static struct ftl *f;
static void *mem;			/* of the FTL */
static uint64_t now;

static struct slot {
	struct ftl_io io;
	bool reported, waits;		/* reported by the FTL; waiting for its completion time */
} slot[SLOTS];

static inline void on_done(void *opaque, struct ftl_io *io)
{
	(void)opaque;
	ssd_container_of(io, struct slot, io)->reported = true;
}

/* Submit the I/O that the caller has put into slot[i]. */
static inline struct ftl_io *submit_slot(uint32_t i)
{
	slot[i].reported = false;
	slot[i].waits = true;
	f->ops->submit(f, now, &slot[i].io);
	f->ops->check(f);
	return &slot[i].io;
}

/* Advance to the next event of the drive or end of an I/O. Returns false if there is none. */
static inline bool pass_time(void)
{
	uint64_t next = f->ops->step(f, now);

	f->ops->check(f);
	for (uint32_t i = 0; i < SLOTS; i++)
		if (slot[i].waits && slot[i].reported && slot[i].io.done_ns < next)
			next = slot[i].io.done_ns;
	if (next == FTL_IDLE)
		return false;
	now = next > now ? next : now;
	for (uint32_t i = 0; i < SLOTS; i++)
		if (slot[i].reported && slot[i].io.done_ns <= now)
			slot[i].waits = false;
	return true;
}

static inline void settle_down(void)
{
	while (pass_time())
		;
}

static inline void done_with_it(void)
{
	settle_down();
	f->ops->check(f);
	EXPECT_EQ(f->ops->inflight(f), 0);
	free(mem);
	test_array_free(&t);
}

#endif
