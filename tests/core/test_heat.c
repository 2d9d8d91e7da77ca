// SPDX-License-Identifier: GPL-2.0-or-later
/* Test hot regions, by count and by recency: which write makes a region hot or cold, by hand. */
#include "heat.h"
#include "test.h"

#define MOST_REGIONS 70u

static uint8_t bytes[MOST_REGIONS];
static struct page_heat h;

static void make(uint32_t regions, bool recency)
{
	memset(bytes, 0, sizeof(bytes));
	h = (struct page_heat){ .byte = bytes };
	heat_size(&h, regions);
	heat_begin(&h, recency);
	EXPECT_EQ(h.regions, regions);
}

static void write_units(uint32_t lpn, uint32_t units)
{
	for (uint32_t i = 0; i < units; i++)
		heat_written(&h, lpn);
}

/* There are four regions. The hand halves the count of region 0 after four units, of region 1 after eight. */
static void by_count(void)
{
	make(4, false);
	write_units(0, 4);
	EXPECT_EQ(bytes[0], 2);
	write_units(0, 3);
	EXPECT_EQ(bytes[0], 5);
	write_units(1, 1);		/* its count becomes 1, and then 0 */
	EXPECT_EQ(h.sum, 5);
	EXPECT(heat_is_hot(&h, 0));
	EXPECT(!heat_is_hot(&h, 1));
	write_units(1, 1);
	EXPECT(!heat_is_hot(&h, 1));	/* 1 is too few */
	write_units(1, 1);
	EXPECT_EQ(h.sum, 7);
	EXPECT(heat_is_hot(&h, 1));	/* 2, of a mean of 7 / 4 */
}

/*
 * Each of 64 regions has an LPN: the clock advances with the first unit, and then with each fourth. Region 5 is written
 * first; its age is 8 ticks from unit 33 on. With two LPNs each a tick has eight units, so this is unit 65.
 */
static void by_recency(void)
{
	for (uint32_t shift = 0; shift < 2; shift++) {
		make(64, true);
		h.shift = shift;
		for (uint32_t lpn = 0; lpn < 64u << shift; lpn++)
			EXPECT(!heat_is_hot(&h, lpn));
		write_units(5u << shift, 1);
		EXPECT(heat_is_hot(&h, 5u << shift));
		for (uint32_t unit = 2; unit <= 1 + (32u << shift); unit++) {
			EXPECT(heat_is_hot(&h, 5u << shift));
			write_units(6u << shift, 1);
		}
		EXPECT(!heat_is_hot(&h, 5u << shift));
		EXPECT(heat_is_hot(&h, 6u << shift));
		write_units(5u << shift, 1);
		EXPECT(heat_is_hot(&h, 5u << shift));
	}
}

/* A region that is not written again stays cold, although the clock of 8 bits returns to its time. */
static void the_clock_overflows(void)
{
	for (uint32_t regions = 1; regions <= MOST_REGIONS; regions++) {
		uint32_t tick = regions < 16 ? 1 : regions / 16, oldest = 0;

		make(regions, true);
		write_units(regions - 1, 9 * tick);
		for (uint32_t unit = 0; unit < 600 * tick && regions > 1; unit++) {
			write_units(0, 1);
			EXPECT(unit < 8 * tick || !heat_is_hot(&h, regions - 1));
			for (uint32_t r = 0; r < regions; r++)
				oldest = heat_age(&h, r) > oldest ? heat_age(&h, r) : oldest;
		}
		EXPECT(oldest <= HEAT_AGE_MAX);
	}
}

/* There are at most 2^20 regions. With one LPN more, two neighbouring LPNs are a region. */
static void regions_of_several_lpns(void)
{
	h = (struct page_heat){ 0 };
	heat_size(&h, (1u << 20) + 1);
	EXPECT_EQ(h.shift, 1);
	EXPECT_EQ(h.regions, (1u << 19) + 1);
}

int main(void)
{
	RUN(by_count);
	RUN(by_recency);
	RUN(the_clock_overflows);
	RUN(regions_of_several_lpns);
	return test_result();
}
