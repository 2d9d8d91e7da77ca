/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * storm.h - random work for a duel. All choices come from dice: a seeded generator in test_storm,
 * the input bytes in the fuzzer. Both run the same code, and test_storm can replay an input of the
 * fuzzer.
 */
#ifndef SLATE_TEST_STORM_H
#define SLATE_TEST_STORM_H

#include "duel.h"

struct dice {
	uint64_t rng;			/* 0: use the bytes */
	const uint8_t *bytes;
	size_t left;
	FILE *record;			/* with rng: records bytes that give the same draws */
};

/* Returns a number below n. After the end of the bytes they are zeroes. */
uint32_t dice_draw(struct dice *d, uint32_t n);
static inline bool dice_over(const struct dice *d)
{
	return !d->rng && !d->left;
}

struct storm {
	struct duel duel;
	struct dice *dice;
	uint64_t stamp;			/* makes the content of each page unique */
	uint32_t bad_blocks;
};

uint32_t storm_configs(void);
const char *storm_config(uint32_t i, struct nand_array_config *c);
/* Change a configuration by the dice; the result may be invalid. */
void storm_vary(struct dice *d, struct nand_array_config *c);

/* The dice choose the device as well. Returns false if such a device is invalid. */
bool storm_from_bytes(struct storm *s, struct dice *dice);
void storm_make(struct storm *s, const struct nand_array_config *c, struct dice *dice);
void storm_free(struct storm *s);
void storm_step(struct storm *s);

#endif
