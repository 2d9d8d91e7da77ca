// SPDX-License-Identifier: GPL-2.0-or-later
/* dac_rig.c - see dac_rig.h */
#include "dac_rig.h"

struct rig r;
uint8_t in[UNIT], out[UNIT];

const struct rig_shape shape = {
	"dac", "dac", { 1, 1, 1, 1, 12, 8, 1024, 64, 0, 1024, 0, 1, 1 },
	.units = 48, .start = 2, .urgent = 1, .tolerance = 255, .buffer = 8,
	.reduction = FTL_REDUCE_DAC, .references = 4 * UNIT,
	.hash_ns = HASH_NS, .compress_ns = COMPRESS_NS, .decompress_ns = EXPAND_NS,
};

const struct ftl_stats *start(enum ftl_reduction reduction, uint32_t references)
{
	static struct rig_shape s;

	s = shape;
	s.reduction = reduction;
	s.references = references;
	return rig_start(&r, &s);
}

void random_page(uint64_t seed)
{
	seed = seed * 0x9e3779b97f4a7c15u + 1;
	for (uint32_t i = 0; i < UNIT; i++)
		in[i] = (uint8_t)(rnd(&seed) >> 32);
}

void half_page(uint64_t seed)
{
	random_page(seed);
	for (uint32_t i = 0; i < 4; i++)
		memset(in + i * UNIT / 4 + UNIT / 8, 0, UNIT / 8);
}

void quarter_page(uint32_t i)
{
	uint8_t quarter[UNIT / 4];

	random_page(100 + i);
	memcpy(quarter, in, sizeof(quarter));
	random_page(200 + i);
	memcpy(in, quarter, sizeof(quarter));
}
