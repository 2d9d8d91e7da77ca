/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * storm.h - random work for a duel. All choices are drawn from dice: a seeded
 * generator in test_storm, the bytes of an input in the fuzzer. So both run the
 * same code, and an input of the fuzzer replays in test_storm.
 */
#ifndef SLATE_TEST_STORM_H
#define SLATE_TEST_STORM_H

#include "duel.h"

struct dice {
	uint64_t rng;			/* 0: bytes */
	const uint8_t *bytes;
	size_t left;
	FILE *record;			/* of rng: the bytes that would have drawn the same */
};

/* A number below n. Bytes that have run out are zeroes. */
uint32_t dice_draw(struct dice *d, uint32_t n);
static inline bool dice_over(const struct dice *d)
{
	return !d->rng && !d->left;
}

struct storm {
	struct duel duel;
	struct dice *dice;
	uint64_t stamp;			/* makes each page's content its own */
	uint32_t bad_blocks;
};

uint32_t storm_configs(void);
const char *storm_config(uint32_t i, struct nand_array_config *c);
/* Change what the dice say of a configuration; the result may be invalid. */
void storm_vary(struct dice *d, struct nand_array_config *c);

/* The device too comes from the dice. False: such a one there can not be. */
bool storm_from_bytes(struct storm *s, struct dice *dice);
void storm_make(struct storm *s, const struct nand_array_config *c, struct dice *dice);
void storm_free(struct storm *s);
void storm_step(struct storm *s);

#endif
